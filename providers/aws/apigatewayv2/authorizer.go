package apigatewayv2

import (
	"context"
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

// authorizer implements resource.Provider and resource.Finder.
type authorizer struct{ base }

// Read implements resource.Provider.
func (p *authorizer) Read(ctx context.Context, key resource.Key) (*resource.Observation, error) {
	in := &apigatewayv2.GetAuthorizerInput{ApiId: aws.String(key["ApiId"]), AuthorizerId: aws.String(key["AuthorizerId"])}
	out, reply, err := call(ctx, p.base, p.client.GetAuthorizer, in)
	if err != nil {
		return nil, err
	}
	if aws.ToString(out.AuthorizerId) != key["AuthorizerId"] {
		return nil, session.Invalid("GetAuthorizer", "the answer is not the authorizer that was asked for")
	}
	return observeAuthorizer(key["ApiId"], types.Authorizer{
		AuthorizerCredentialsArn: out.AuthorizerCredentialsArn, AuthorizerId: out.AuthorizerId, AuthorizerPayloadFormatVersion: out.AuthorizerPayloadFormatVersion,
		AuthorizerResultTtlInSeconds: out.AuthorizerResultTtlInSeconds, AuthorizerType: out.AuthorizerType, AuthorizerUri: out.AuthorizerUri,
		EnableSimpleResponses: out.EnableSimpleResponses, IdentitySource: out.IdentitySource, IdentityValidationExpression: out.IdentityValidationExpression,
		JwtConfiguration: out.JwtConfiguration, Name: out.Name,
	}, reply.ServedAt, "GetAuthorizer"), nil
}

// observeAuthorizer turns an authorizer as read into config shape.
func observeAuthorizer(apiID string, a types.Authorizer, served time.Time, source string) *resource.Observation {
	o := observeChild(apiID, "AuthorizerId", a.AuthorizerId, served, source)
	observeTexts(o.Params, map[string]*string{
		"Name": a.Name, "AuthorizerType": enum(a.AuthorizerType), "AuthorizerUri": a.AuthorizerUri, "AuthorizerCredentialsArn": a.AuthorizerCredentialsArn,
		"AuthorizerPayloadFormatVersion": a.AuthorizerPayloadFormatVersion, "IdentityValidationExpression": a.IdentityValidationExpression,
	})
	observeBools(o.Params, map[string]*bool{"EnableSimpleResponses": a.EnableSimpleResponses})
	if a.AuthorizerResultTtlInSeconds != nil {
		o.Params["AuthorizerResultTtlInSeconds"] = value.Of(int(*a.AuthorizerResultTtlInSeconds))
	}
	if a.IdentitySource != nil {
		o.Params["IdentitySource"] = value.Of(a.IdentitySource)
	}
	if a.IdentityValidationExpression == nil {
		o.Gaps["IdentityValidationExpression"] = resource.Gap{Kind: resource.GapNotReturned}
	}
	if j := a.JwtConfiguration; j != nil {
		config := value.Map{}
		observeTexts(config, map[string]*string{"Issuer": j.Issuer})
		if j.Audience != nil {
			config["Audience"] = value.Of(j.Audience)
		}
		o.Params["JwtConfiguration"] = value.OfMap(config)
	}
	return o
}

// Find implements resource.Finder: the authorizer of the API that has the name. An API that is not there has none.
func (p *authorizer) Find(ctx context.Context, q resource.Query) ([]resource.Candidate, error) {
	apiID, name := q.Key["ApiId"], q.Key["Name"]
	if apiID == "" || name == "" {
		return nil, nil
	}
	var found []resource.Candidate
	get := func(token *string) ([]types.Authorizer, *string, session.Reply, error) {
		out, reply, err := call(ctx, p.base, p.client.GetAuthorizers, &apigatewayv2.GetAuthorizersInput{ApiId: &apiID, NextToken: token})
		if err != nil {
			return nil, nil, reply, err
		}
		return out.Items, out.NextToken, reply, nil
	}
	err := pages("GetAuthorizers", get, func(a types.Authorizer) *string { return a.AuthorizerId }, func(a types.Authorizer, served time.Time) {
		if aws.ToString(a.Name) == name {
			found = append(found, resource.Candidate{Observation: *observeAuthorizer(apiID, a, served, "GetAuthorizers"), ByKey: true})
		}
	})
	if err := session.SkipGone(err); err != nil {
		return nil, err
	}
	return found, nil
}

// Create implements resource.Provider: one CreateAuthorizer that carries everything. That the name is taken comes with the
// code of any bad request, so a look tells.
func (p *authorizer) Create(ctx context.Context, c resource.Create) (resource.Created, error) {
	if err := wire.Whole("CreateAuthorizer", c.Params); err != nil {
		return resource.Created{}, err
	}
	m := c.Params
	out, reply, err := call(ctx, p.base, p.client.CreateAuthorizer, &apigatewayv2.CreateAuthorizerInput{
		ApiId:                          wire.Text(m["ApiId"]),
		Name:                           wire.Text(m["Name"]),
		AuthorizerType:                 types.AuthorizerType(wire.Name(m["AuthorizerType"])),
		AuthorizerUri:                  wire.Text(m["AuthorizerUri"]),
		AuthorizerCredentialsArn:       wire.Text(m["AuthorizerCredentialsArn"]),
		AuthorizerPayloadFormatVersion: wire.Text(m["AuthorizerPayloadFormatVersion"]),
		AuthorizerResultTtlInSeconds:   wire.Int32(m["AuthorizerResultTtlInSeconds"]),
		EnableSimpleResponses:          wire.Bool(m["EnableSimpleResponses"]),
		IdentitySource:                 sources(m["IdentitySource"]),
		IdentityValidationExpression:   wire.Text(m["IdentityValidationExpression"]),
		JwtConfiguration:               jwt(m["JwtConfiguration"]),
	}, once)
	if err != nil {
		err = refused(err, reply, func() (bool, error) {
			found, err := p.Find(ctx, resource.Query{Key: p.schema.Place(m)})
			return len(found) > 0, err
		}, conflict, badRequest)
		return resource.Created{}, wire.Conceal(err, m)
	}
	return madeChild("CreateAuthorizer", c, "AuthorizerId", out.AuthorizerId, reply)
}

// sources is never nil: the service wants the member, if only an empty one.
func sources(v value.Value) []string {
	if list := wire.Strings(v); list != nil {
		return list
	}
	return []string{}
}

// jwt returns nil for none.
func jwt(v value.Value) *types.JWTConfiguration {
	if wire.Empty(v) {
		return nil
	}
	return &types.JWTConfiguration{Audience: wire.Strings(v.Get("Audience")), Issuer: wire.Text(v.Get("Issuer"))}
}

// Sync implements resource.Provider: one UpdateAuthorizer.
func (p *authorizer) Sync(c resource.Change) ([]resource.Call, error) {
	if err := wire.Whole("sync authorizer", wire.Pick(c.Desired, c.Write)); err != nil {
		return nil, err
	}
	in, params := updateAuthorizer(c)
	if len(params) == 0 {
		return nil, nil
	}
	return []resource.Call{{Name: "UpdateAuthorizer", Detail: strings.Join(params, ", "), Params: params, Run: run(p.base, p.client.UpdateAuthorizer, in, c.Desired)}}, nil
}

// updateAuthorizer returns the one UpdateAuthorizer that writes what is to be written, and the params that travel in it.
// What config no longer sets goes back to what the service fills in; what it cannot be without stays.
func updateAuthorizer(c resource.Change) (*apigatewayv2.UpdateAuthorizerInput, []string) {
	in := &apigatewayv2.UpdateAuthorizerInput{ApiId: aws.String(c.Key["ApiId"]), AuthorizerId: aws.String(c.Key["AuthorizerId"])}
	setters := []setter{
		{"Name", func(v value.Value) { in.Name = wire.Text(v) }},
		{"AuthorizerType", func(v value.Value) { in.AuthorizerType = types.AuthorizerType(wire.Name(v)) }},
		{"IdentitySource", func(v value.Value) { in.IdentitySource = sources(v) }},
		{"AuthorizerCredentialsArn", func(v value.Value) { in.AuthorizerCredentialsArn = or(v, "") }},
		{"AuthorizerResultTtlInSeconds", func(v value.Value) {
			if in.AuthorizerResultTtlInSeconds = wire.Int32(v); in.AuthorizerResultTtlInSeconds == nil {
				in.AuthorizerResultTtlInSeconds = aws.Int32(ttlOf(c.Desired["IdentitySource"]))
			}
		}},
		{"EnableSimpleResponses", func(v value.Value) { in.EnableSimpleResponses = orFalse(v) }},
		{"IdentityValidationExpression", func(v value.Value) { in.IdentityValidationExpression = or(v, "") }},
	}
	keep := []setter{
		{"JwtConfiguration", func(v value.Value) { in.JwtConfiguration = jwt(v) }},
		{"AuthorizerUri", func(v value.Value) { in.AuthorizerUri = wire.Text(v) }},
		{"AuthorizerPayloadFormatVersion", func(v value.Value) { in.AuthorizerPayloadFormatVersion = wire.Text(v) }},
	}
	return in, written(c, append(setters, whereSet(c, keep)...))
}

// ttlOf is how long the service keeps answers, in seconds, where config does not say.
func ttlOf(identitySource value.Value) int32 {
	if wire.Empty(identitySource) {
		return 0
	}
	return defaultTTL
}

// Delete implements resource.Provider.
func (p *authorizer) Delete(ctx context.Context, d resource.Delete) error {
	o, err := p.Read(ctx, d.Key)
	if err != nil {
		return err
	}
	if err := session.Confirm("DeleteAuthorizer", d, o); err != nil {
		return err
	}
	in := &apigatewayv2.DeleteAuthorizerInput{ApiId: aws.String(d.Key["ApiId"]), AuthorizerId: aws.String(d.Key["AuthorizerId"])}
	_, _, err = call(ctx, p.base, p.client.DeleteAuthorizer, in, once)
	return p.inUse(ctx, err, d.Key["ApiId"], func(r types.Route) bool { return aws.ToString(r.AuthorizerId) == d.Key["AuthorizerId"] })
}
