package apigatewayv2

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
	"reclaim/providers/aws/wire"
)

// Create implements resource.Provider: one CreateApi that carries everything.
func (p *api) Create(ctx context.Context, c resource.Create) (resource.Created, error) {
	if err := wire.Whole("CreateApi", c.Params); err != nil {
		return resource.Created{}, err
	}
	out, reply, err := call(ctx, p.base, p.client.CreateApi, createInput(c), once)
	if err != nil {
		return resource.Created{}, wire.Conceal(err, c.Params)
	}
	id := aws.ToString(out.ApiId)
	if id == "" {
		return resource.Created{}, session.Unacknowledged("CreateApi", reply, "it succeeded, but did not say what it made")
	}
	made := resource.Created{Key: resource.Key{"ApiId": id}, Identity: resource.Identity{UniqueID: id},
		Output: value.Map{"ApiId": value.Of(id)}, ServedAt: reply.ServedAt}
	if out.CreatedDate != nil {
		made.Identity.CreatedAt = out.CreatedDate.UTC()
	}
	if out.ApiEndpoint != nil {
		made.Output["ApiEndpoint"] = value.Of(*out.ApiEndpoint)
	}
	return made, nil
}

func createInput(c resource.Create) *apigatewayv2.CreateApiInput {
	m := c.Params
	return &apigatewayv2.CreateApiInput{
		Name:                      wire.Text(m["Name"]),
		ProtocolType:              types.ProtocolType(wire.Name(m["ProtocolType"])),
		Description:               wire.Text(m["Description"]),
		Version:                   wire.Text(m["Version"]),
		CorsConfiguration:         cors(m["CorsConfiguration"]),
		DisableExecuteApiEndpoint: wire.Bool(m["DisableExecuteApiEndpoint"]),
		DisableSchemaValidation:   wire.Bool(m["DisableSchemaValidation"]),
		RouteSelectionExpression:  wire.Text(m["RouteSelectionExpression"]),
		ApiKeySelectionExpression: wire.Text(m["ApiKeySelectionExpression"]),
		IpAddressType:             types.IpAddressType(wire.Name(m["IpAddressType"])),
		Tags:                      wire.Join(wire.Tags(m["Tags"]), c.Tags),
	}
}

// cors returns nil for none, and an empty configuration for {}: the service treats them differently.
func cors(v value.Value) *types.Cors {
	if !wire.Set(v) {
		return nil
	}
	return &types.Cors{
		AllowCredentials: wire.Bool(v.Get("AllowCredentials")),
		AllowHeaders:     wire.Strings(v.Get("AllowHeaders")),
		AllowMethods:     wire.Strings(v.Get("AllowMethods")),
		AllowOrigins:     wire.Strings(v.Get("AllowOrigins")),
		ExposeHeaders:    wire.Strings(v.Get("ExposeHeaders")),
		MaxAge:           wire.Int32(v.Get("MaxAge")),
	}
}

// Sync implements resource.Provider. Ownership tags come first, so that an adoption is marked before it changes
// anything else.
func (p *api) Sync(c resource.Change) ([]resource.Call, error) {
	if err := wire.Whole("sync API", wire.Pick(c.Desired, c.Write)); err != nil {
		return nil, err
	}
	calls := p.ownTags(c, apiPath(c.Key))
	if slices.Contains(c.Write, "CorsConfiguration") && !wire.Set(c.Desired["CorsConfiguration"]) {
		in := &apigatewayv2.DeleteCorsConfigurationInput{ApiId: aws.String(c.Key["ApiId"])}
		calls = append(calls, resource.Call{Name: "DeleteCorsConfiguration", Detail: "CORS: none", Params: []string{"CorsConfiguration"},
			Run: run(p.base, p.client.DeleteCorsConfiguration, in, nil)})
	}
	if in, params := updateInput(c); len(params) > 0 {
		calls = append(calls, resource.Call{Name: "UpdateApi", Detail: strings.Join(params, ", "), Params: params, Run: run(p.base, p.client.UpdateApi, in, c.Desired)})
	}
	return append(calls, p.syncTags(c, apiPath(c.Key))...), nil
}

func apiPath(k resource.Key) string { return "/apis/" + k["ApiId"] }

// updateInput returns the one UpdateApi that writes what is to be written, and the params that travel in it. What
// config no longer sets goes back to what the service fills in; nothing else is mentioned.
func updateInput(c resource.Change) (*apigatewayv2.UpdateApiInput, []string) {
	in := &apigatewayv2.UpdateApiInput{ApiId: aws.String(c.Key["ApiId"])}
	setters := []setter{
		{"Name", func(v value.Value) { in.Name = wire.Text(v) }},
		{"Description", func(v value.Value) { in.Description = or(v, "") }},
		{"Version", func(v value.Value) { in.Version = or(v, "") }},
		{"DisableExecuteApiEndpoint", func(v value.Value) { in.DisableExecuteApiEndpoint = orFalse(v) }},
		{"DisableSchemaValidation", func(v value.Value) { in.DisableSchemaValidation = orFalse(v) }},
		{"RouteSelectionExpression", func(v value.Value) { in.RouteSelectionExpression = or(v, defaultRouteSelection) }},
		{"ApiKeySelectionExpression", func(v value.Value) { in.ApiKeySelectionExpression = or(v, defaultAPIKeySelection) }},
		{"IpAddressType", func(v value.Value) { in.IpAddressType = types.IpAddressType(*or(v, defaultIPAddressType)) }},
	}
	if wire.Set(c.Desired["CorsConfiguration"]) {
		setters = append(setters, setter{"CorsConfiguration", func(v value.Value) { in.CorsConfiguration = cors(v) }})
	}
	return in, written(c, setters)
}

// Delete implements resource.Provider.
func (p *api) Delete(ctx context.Context, d resource.Delete) error {
	o, err := p.Read(ctx, d.Key)
	if err != nil {
		return err
	}
	if err := session.Confirm("DeleteApi", d, o); err != nil {
		return err
	}
	_, _, err = call(ctx, p.base, p.client.DeleteApi, &apigatewayv2.DeleteApiInput{ApiId: aws.String(d.Key["ApiId"])}, once)
	return err
}
