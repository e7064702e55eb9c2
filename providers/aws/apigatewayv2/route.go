package apigatewayv2

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
	"reclaim/providers/aws/wire"
)

// route implements resource.Provider and resource.Finder.
type route struct{ base }

// Read implements resource.Provider.
func (p *route) Read(ctx context.Context, key resource.Key) (*resource.Observation, error) {
	in := &apigatewayv2.GetRouteInput{ApiId: aws.String(key["ApiId"]), RouteId: aws.String(key["RouteId"])}
	out, reply, err := call(ctx, p.base, p.client.GetRoute, in)
	if err != nil {
		return nil, err
	}
	if aws.ToString(out.RouteId) != key["RouteId"] {
		return nil, session.Invalid("GetRoute", "the answer is not the route that was asked for")
	}
	return observeRoute(key["ApiId"], types.Route{
		ApiKeyRequired: out.ApiKeyRequired, AuthorizationScopes: out.AuthorizationScopes, AuthorizationType: out.AuthorizationType,
		AuthorizerId: out.AuthorizerId, ModelSelectionExpression: out.ModelSelectionExpression, OperationName: out.OperationName,
		RequestModels: out.RequestModels, RequestParameters: out.RequestParameters, RouteId: out.RouteId, RouteKey: out.RouteKey,
		RouteResponseSelectionExpression: out.RouteResponseSelectionExpression, Target: out.Target,
	}, reply.ServedAt, "GetRoute"), nil
}

// observeRoute turns a route as read into config shape.
func observeRoute(apiID string, r types.Route, served time.Time, source string) *resource.Observation {
	o := observeChild(apiID, "RouteId", r.RouteId, served, source)
	observeTexts(o.Params, map[string]*string{
		"RouteKey": r.RouteKey, "AuthorizationType": enum(r.AuthorizationType), "AuthorizerId": r.AuthorizerId,
		"ModelSelectionExpression": r.ModelSelectionExpression, "OperationName": r.OperationName,
		"RouteResponseSelectionExpression": r.RouteResponseSelectionExpression, "Target": r.Target,
	})
	observeBools(o.Params, map[string]*bool{"ApiKeyRequired": r.ApiKeyRequired})
	observeMaps(o.Params, map[string]map[string]string{"RequestModels": r.RequestModels})
	if r.AuthorizationScopes != nil {
		o.Params["AuthorizationScopes"] = value.Of(r.AuthorizationScopes)
	}
	if r.RequestParameters != nil {
		params := value.Map{}
		for name, c := range r.RequestParameters {
			required := value.Map{}
			observeBools(required, map[string]*bool{"Required": c.Required})
			params[name] = value.OfMap(required)
		}
		o.Params["RequestParameters"] = value.OfMap(params)
	}
	return o
}

// eachRoute calls each with every route of an API, over all pages.
func (b base) eachRoute(ctx context.Context, apiID string, each func(types.Route, time.Time)) error {
	get := func(token *string) ([]types.Route, *string, session.Reply, error) {
		out, reply, err := call(ctx, b, b.client.GetRoutes, &apigatewayv2.GetRoutesInput{ApiId: &apiID, NextToken: token})
		if err != nil {
			return nil, nil, reply, err
		}
		return out.Items, out.NextToken, reply, nil
	}
	return pages("GetRoutes", get, func(r types.Route) *string { return r.RouteId }, each)
}

// Find implements resource.Finder: the route of the API that has the route key. An API that is not there has none.
func (p *route) Find(ctx context.Context, q resource.Query) ([]resource.Candidate, error) {
	apiID, routeKey := q.Key["ApiId"], q.Key["RouteKey"]
	if apiID == "" || routeKey == "" {
		return nil, nil
	}
	var found []resource.Candidate
	err := p.eachRoute(ctx, apiID, func(r types.Route, served time.Time) {
		if aws.ToString(r.RouteKey) == routeKey {
			found = append(found, resource.Candidate{Observation: *observeRoute(apiID, r, served, "GetRoutes"), ByKey: true})
		}
	})
	if err := session.SkipGone(err); err != nil {
		return nil, err
	}
	return found, nil
}

// Create implements resource.Provider: one CreateRoute that carries everything.
func (p *route) Create(ctx context.Context, c resource.Create) (resource.Created, error) {
	if err := wire.Whole("CreateRoute", c.Params); err != nil {
		return resource.Created{}, err
	}
	m := c.Params
	out, reply, err := call(ctx, p.base, p.client.CreateRoute, &apigatewayv2.CreateRouteInput{
		ApiId:                            wire.Text(m["ApiId"]),
		RouteKey:                         wire.Text(m["RouteKey"]),
		ApiKeyRequired:                   wire.Bool(m["ApiKeyRequired"]),
		AuthorizationScopes:              wire.Strings(m["AuthorizationScopes"]),
		AuthorizationType:                types.AuthorizationType(wire.Name(m["AuthorizationType"])),
		AuthorizerId:                     wire.Text(m["AuthorizerId"]),
		ModelSelectionExpression:         wire.Text(m["ModelSelectionExpression"]),
		OperationName:                    wire.Text(m["OperationName"]),
		RequestModels:                    texts(m["RequestModels"]),
		RequestParameters:                constraints(m["RequestParameters"]),
		RouteResponseSelectionExpression: wire.Text(m["RouteResponseSelectionExpression"]),
		Target:                           wire.Text(m["Target"]),
	}, once)
	if err != nil {
		err = refused(err, reply, func() (bool, error) {
			found, err := p.Find(ctx, resource.Query{Key: p.schema.Place(m)})
			return len(found) > 0, err
		}, conflict)
		return resource.Created{}, wire.Conceal(p.dangling(ctx, err, m), m)
	}
	return madeChild("CreateRoute", c, "RouteId", out.RouteId, reply)
}

// dangling types the refusal of a route whose integration or authorizer the service does not have, or not everywhere yet.
// It gives that the code of any bad request, so a look tells.
func (p *route) dangling(ctx context.Context, err error, m value.Map) error {
	e, ok := errors.AsType[*resource.Error](err)
	if !ok || e.Code != badRequest || e.Executed != resource.No {
		return err
	}
	missing := false
	if id, ok := strings.CutPrefix(wire.Name(m["Target"]), "integrations/"); ok {
		_, _, err := call(ctx, p.base, p.client.GetIntegration, &apigatewayv2.GetIntegrationInput{ApiId: wire.Text(m["ApiId"]), IntegrationId: &id})
		missing = absent(err)
	}
	if id := wire.Name(m["AuthorizerId"]); id != "" && !missing {
		_, _, err := call(ctx, p.base, p.client.GetAuthorizer, &apigatewayv2.GetAuthorizerInput{ApiId: wire.Text(m["ApiId"]), AuthorizerId: &id})
		missing = absent(err)
	}
	if !missing {
		return err
	}
	c := *e
	c.Kind = resource.NotReady
	return &c
}

func constraints(v value.Value) map[string]types.ParameterConstraints {
	if v.Kind() != value.Object {
		return nil
	}
	out := map[string]types.ParameterConstraints{}
	for name, e := range v.Fields() {
		out[name] = types.ParameterConstraints{Required: wire.Bool(e.Get("Required"))}
	}
	return out
}

// Sync implements resource.Provider. A request parameter that goes has a call of its own; all else travels in one.
func (p *route) Sync(c resource.Change) ([]resource.Call, error) {
	if err := wire.Whole("sync route", wire.Pick(c.Desired, c.Write)); err != nil {
		return nil, err
	}
	var calls []resource.Call
	if slices.Contains(c.Write, "RequestParameters") {
		for _, name := range removed(c.Desired["RequestParameters"], c.Recorded["RequestParameters"]) {
			in := &apigatewayv2.DeleteRouteRequestParameterInput{ApiId: aws.String(c.Key["ApiId"]), RouteId: aws.String(c.Key["RouteId"]), RequestParameterKey: &name}
			done := run(p.base, p.client.DeleteRouteRequestParameter, in, nil)
			calls = append(calls, resource.Call{Name: "DeleteRouteRequestParameter", Detail: "request parameter " + name, Params: []string{"RequestParameters"},
				Run: func(ctx context.Context) error { return session.SkipGone(done(ctx)) }})
		}
	}
	in, params := updateRoute(c)
	if len(params) == 0 {
		return calls, nil
	}
	return append(calls, resource.Call{Name: "UpdateRoute", Detail: strings.Join(params, ", "), Params: params, Run: run(p.base, p.client.UpdateRoute, in, c.Desired)}), nil
}

// updateRoute returns the one UpdateRoute that writes what is to be written, and the params that travel in it. What config
// no longer sets goes back to what the service fills in. The service takes an authorizer only together with the type of
// authorization, and drops it when the type needs none.
func updateRoute(c resource.Change) (*apigatewayv2.UpdateRouteInput, []string) {
	in := &apigatewayv2.UpdateRouteInput{ApiId: aws.String(c.Key["ApiId"]), RouteId: aws.String(c.Key["RouteId"])}
	if slices.Contains(c.Write, "AuthorizerId") || slices.Contains(c.Write, "AuthorizationType") {
		c.Write = append(slices.Clone(c.Write), "AuthorizationType", "AuthorizerId")
	}
	setters := []setter{
		{"RouteKey", func(v value.Value) { in.RouteKey = wire.Text(v) }},
		{"ApiKeyRequired", func(v value.Value) { in.ApiKeyRequired = orFalse(v) }},
		{"AuthorizationScopes", func(v value.Value) {
			if in.AuthorizationScopes = wire.Strings(v); in.AuthorizationScopes == nil {
				in.AuthorizationScopes = []string{}
			}
		}},
		{"AuthorizationType", func(v value.Value) { in.AuthorizationType = types.AuthorizationType(*or(v, defaultAuthorization)) }},
		{"AuthorizerId", func(v value.Value) { in.AuthorizerId = wire.Text(v) }},
		{"ModelSelectionExpression", func(v value.Value) { in.ModelSelectionExpression = or(v, "") }},
		{"OperationName", func(v value.Value) { in.OperationName = or(v, "") }},
		{"RequestModels", func(v value.Value) { in.RequestModels = changedTexts(v, c.Recorded["RequestModels"]) }},
		{"RouteResponseSelectionExpression", func(v value.Value) { in.RouteResponseSelectionExpression = or(v, "") }},
		{"Target", func(v value.Value) { in.Target = or(v, "") }},
	}
	if !wire.Empty(c.Desired["RequestParameters"]) {
		setters = append(setters, setter{"RequestParameters", func(v value.Value) { in.RequestParameters = constraints(v) }})
	}
	return in, written(c, setters)
}

// Delete implements resource.Provider.
func (p *route) Delete(ctx context.Context, d resource.Delete) error {
	o, err := p.Read(ctx, d.Key)
	if err != nil {
		return err
	}
	if err := session.Confirm("DeleteRoute", d, o); err != nil {
		return err
	}
	_, _, err = call(ctx, p.base, p.client.DeleteRoute, &apigatewayv2.DeleteRouteInput{ApiId: aws.String(d.Key["ApiId"]), RouteId: aws.String(d.Key["RouteId"])}, once)
	return err
}
