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

// Create implements resource.Provider: one CreateIntegration that carries everything.
func (p *integration) Create(ctx context.Context, c resource.Create) (resource.Created, error) {
	if err := wire.Whole("CreateIntegration", c.Params); err != nil {
		return resource.Created{}, err
	}
	out, reply, err := call(ctx, p.base, p.client.CreateIntegration, createIntegration(c.Params), once)
	if err != nil {
		return resource.Created{}, wire.Conceal(refused(err, reply, nil), c.Params)
	}
	return madeChild("CreateIntegration", c, "IntegrationId", out.IntegrationId, reply)
}

func createIntegration(m value.Map) *apigatewayv2.CreateIntegrationInput {
	return &apigatewayv2.CreateIntegrationInput{
		ApiId:                       wire.Text(m["ApiId"]),
		IntegrationType:             types.IntegrationType(wire.Name(m["IntegrationType"])),
		ConnectionId:                wire.Text(m["ConnectionId"]),
		ConnectionType:              types.ConnectionType(wire.Name(m["ConnectionType"])),
		ContentHandlingStrategy:     types.ContentHandlingStrategy(wire.Name(m["ContentHandlingStrategy"])),
		CredentialsArn:              wire.Text(m["CredentialsArn"]),
		Description:                 wire.Text(m["Description"]),
		IntegrationMethod:           wire.Text(m["IntegrationMethod"]),
		IntegrationSubtype:          wire.Text(m["IntegrationSubtype"]),
		IntegrationUri:              wire.Text(m["IntegrationUri"]),
		PassthroughBehavior:         types.PassthroughBehavior(wire.Name(m["PassthroughBehavior"])),
		PayloadFormatVersion:        wire.Text(m["PayloadFormatVersion"]),
		RequestParameters:           texts(m["RequestParameters"]),
		RequestTemplates:            texts(m["RequestTemplates"]),
		ResponseParameters:          responses(m["ResponseParameters"]),
		TemplateSelectionExpression: wire.Text(m["TemplateSelectionExpression"]),
		TimeoutInMillis:             wire.Int32(m["TimeoutInMillis"]),
		TlsConfig:                   tlsConfig(m["TlsConfig"]),
	}
}

// responses turns CloudFormation's lists into {status: {destination: source}}; nil when there are none.
func responses(v value.Value) map[string]map[string]string {
	if wire.Empty(v) {
		return nil
	}
	out := map[string]map[string]string{}
	for status, params := range v.Fields() {
		out[status] = map[string]string{}
		for _, e := range params.Get("ResponseParameters").Items() {
			out[status][wire.Name(e.Get("Destination"))] = wire.Name(e.Get("Source"))
		}
	}
	return out
}

// tlsConfig returns nil for none.
func tlsConfig(v value.Value) *types.TlsConfigInput {
	if wire.Empty(v) {
		return nil
	}
	return &types.TlsConfigInput{ServerNameToVerify: wire.Text(v.Get("ServerNameToVerify"))}
}

// Sync implements resource.Provider: one UpdateIntegration.
func (p *integration) Sync(c resource.Change) ([]resource.Call, error) {
	if err := wire.Whole("sync integration", wire.Pick(c.Desired, c.Write)); err != nil {
		return nil, err
	}
	in, params := updateIntegration(c)
	if len(params) == 0 {
		return nil, nil
	}
	return []resource.Call{{Name: "UpdateIntegration", Detail: strings.Join(params, ", "), Params: params, Run: func(ctx context.Context) error {
		if slices.Contains(params, "TimeoutInMillis") && in.TimeoutInMillis == nil {
			timeout, err := p.defaultTimeout(ctx, c.Key["ApiId"])
			if err != nil {
				return err
			}
			in.TimeoutInMillis = &timeout
		}
		_, _, err := call(ctx, p.base, p.client.UpdateIntegration, in)
		return wire.Conceal(err, c.Desired)
	}}}, nil
}

// defaultTimeout is what the service fills in, in milliseconds: it depends on the API's protocol, and no update can say
// "the default".
func (p *integration) defaultTimeout(ctx context.Context, apiID string) (int32, error) {
	out, _, err := call(ctx, p.base, p.client.GetApi, &apigatewayv2.GetApiInput{ApiId: &apiID})
	switch {
	case err != nil:
		return 0, err
	case out.ProtocolType == types.ProtocolTypeHttp:
		return httpTimeout, nil
	case out.ProtocolType == types.ProtocolTypeWebsocket:
		return webSocketTimeout, nil
	}
	return 0, session.Invalid("GetApi", "the answer does not say which protocol the API speaks")
}

// updateIntegration returns the one UpdateIntegration that writes what is to be written, and the params that travel in it.
// What config no longer sets goes back to what the service fills in. The service merges maps, and has no way to take away
// what is not written here: that stays as it is.
func updateIntegration(c resource.Change) (*apigatewayv2.UpdateIntegrationInput, []string) {
	in := &apigatewayv2.UpdateIntegrationInput{ApiId: aws.String(c.Key["ApiId"]), IntegrationId: aws.String(c.Key["IntegrationId"])}
	setters := []setter{
		{"IntegrationType", func(v value.Value) { in.IntegrationType = types.IntegrationType(wire.Name(v)) }},
		{"Description", func(v value.Value) { in.Description = or(v, "") }},
		{"ConnectionType", func(v value.Value) { in.ConnectionType = types.ConnectionType(*or(v, defaultConnection)) }},
		{"ConnectionId", func(v value.Value) { in.ConnectionId = or(v, "") }},
		{"CredentialsArn", func(v value.Value) { in.CredentialsArn = or(v, "") }},
		{"TimeoutInMillis", func(v value.Value) { in.TimeoutInMillis = wire.Int32(v) }},
		{"TlsConfig", func(v value.Value) {
			if in.TlsConfig = tlsConfig(v); in.TlsConfig == nil {
				in.TlsConfig = &types.TlsConfigInput{}
			}
		}},
		{"RequestParameters", func(v value.Value) { in.RequestParameters = changedTexts(v, c.Recorded["RequestParameters"]) }},
		{"RequestTemplates", func(v value.Value) { in.RequestTemplates = changedTexts(v, c.Recorded["RequestTemplates"]) }},
		{"ResponseParameters", func(v value.Value) { in.ResponseParameters = changedResponses(v, c.Recorded["ResponseParameters"]) }},
		{"TemplateSelectionExpression", func(v value.Value) { in.TemplateSelectionExpression = or(v, "") }},
		{"PassthroughBehavior", func(v value.Value) { in.PassthroughBehavior = types.PassthroughBehavior(*or(v, defaultPassthrough)) }},
	}
	keep := []setter{
		{"IntegrationSubtype", func(v value.Value) { in.IntegrationSubtype = wire.Text(v) }},
		{"IntegrationUri", func(v value.Value) { in.IntegrationUri = wire.Text(v) }},
		{"IntegrationMethod", func(v value.Value) { in.IntegrationMethod = wire.Text(v) }},
		{"PayloadFormatVersion", func(v value.Value) { in.PayloadFormatVersion = wire.Text(v) }},
		{"ContentHandlingStrategy", func(v value.Value) {
			in.ContentHandlingStrategy = types.ContentHandlingStrategy(wire.Name(v))
		}},
	}
	return in, written(c, append(setters, whereSet(c, keep)...))
}

// whereSet returns the setters of params that config sets.
func whereSet(c resource.Change, all []setter) []setter {
	return slices.DeleteFunc(all, func(s setter) bool { return !wire.Set(c.Desired[s.param]) })
}

// changedResponses is responses for an update, which replaces one status as a whole and keeps those that are not there: a
// status that goes is sent without a parameter.
func changedResponses(desired, recorded value.Value) map[string]map[string]string {
	out := responses(desired)
	if out == nil {
		out = map[string]map[string]string{}
	}
	for _, status := range removed(desired, recorded) {
		out[status] = map[string]string{}
	}
	return out
}

// Delete implements resource.Provider.
func (p *integration) Delete(ctx context.Context, d resource.Delete) error {
	o, err := p.Read(ctx, d.Key)
	if err != nil {
		return err
	}
	if err := session.Confirm("DeleteIntegration", d, o); err != nil {
		return err
	}
	in := &apigatewayv2.DeleteIntegrationInput{ApiId: aws.String(d.Key["ApiId"]), IntegrationId: aws.String(d.Key["IntegrationId"])}
	_, _, err = call(ctx, p.base, p.client.DeleteIntegration, in, once)
	return p.inUse(ctx, err, d.Key["ApiId"], func(r types.Route) bool { return aws.ToString(r.Target) == "integrations/"+d.Key["IntegrationId"] })
}

// inUse tells a delete that was refused because routes use the object from one that met a concurrent change: the service
// has one code for both. The routes are named.
func (b base) inUse(ctx context.Context, err error, apiID string, uses func(types.Route) bool) error {
	e, ok := errors.AsType[*resource.Error](err)
	if !ok || e.Code != conflict {
		return err
	}
	var users []string
	look := b.eachRoute(ctx, apiID, func(r types.Route, _ time.Time) {
		if uses(r) {
			users = append(users, "route "+aws.ToString(r.RouteKey))
		}
	})
	if look != nil || len(users) == 0 {
		return err
	}
	c := *e
	c.Kind, c.Blockers = resource.InUse, users
	return &c
}
