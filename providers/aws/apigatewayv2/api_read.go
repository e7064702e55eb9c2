package apigatewayv2

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
)

// api implements resource.Provider and resource.Finder.
type api struct{ base }

// Read implements resource.Provider.
func (p *api) Read(ctx context.Context, key resource.Key) (*resource.Observation, error) {
	out, reply, err := call(ctx, p.base, p.client.GetApi, &apigatewayv2.GetApiInput{ApiId: aws.String(key["ApiId"])})
	if err != nil {
		return nil, err
	}
	if aws.ToString(out.ApiId) != key["ApiId"] {
		return nil, session.Invalid("GetApi", "the answer is not the API that was asked for")
	}
	return observe(types.Api{
		ApiEndpoint: out.ApiEndpoint, ApiId: out.ApiId, ApiKeySelectionExpression: out.ApiKeySelectionExpression,
		CorsConfiguration: out.CorsConfiguration, CreatedDate: out.CreatedDate, Description: out.Description,
		DisableExecuteApiEndpoint: out.DisableExecuteApiEndpoint, DisableSchemaValidation: out.DisableSchemaValidation,
		IpAddressType: out.IpAddressType, Name: out.Name, ProtocolType: out.ProtocolType,
		RouteSelectionExpression: out.RouteSelectionExpression, Tags: out.Tags, Version: out.Version,
	}, reply.ServedAt, "GetApi"), nil
}

// observe turns an API as read into config shape. Its tags come in the same answer: none there means none.
func observe(a types.Api, served time.Time, source string) *resource.Observation {
	own, marks := resource.SplitTags(a.Tags)
	o := observation(resource.Key{"ApiId": aws.ToString(a.ApiId)}, served, source)
	o.Params["Tags"], o.Owner, o.Sources["tags"] = value.Of(own), marks, source
	o.Output["ApiId"] = value.Of(aws.ToString(a.ApiId))
	o.Identity = resource.Identity{UniqueID: aws.ToString(a.ApiId)}
	if a.CreatedDate != nil {
		o.CreatedAt = a.CreatedDate.UTC()
		o.Identity.CreatedAt = o.CreatedAt
	}
	if a.ApiEndpoint != nil {
		o.Output["ApiEndpoint"] = value.Of(*a.ApiEndpoint)
	}
	observeTexts(o.Params, map[string]*string{
		"Name": a.Name, "Description": a.Description, "Version": a.Version,
		"RouteSelectionExpression": a.RouteSelectionExpression, "ApiKeySelectionExpression": a.ApiKeySelectionExpression,
		"ProtocolType": enum(a.ProtocolType), "IpAddressType": enum(a.IpAddressType),
	})
	observeBools(o.Params, map[string]*bool{"DisableExecuteApiEndpoint": a.DisableExecuteApiEndpoint, "DisableSchemaValidation": a.DisableSchemaValidation})
	if a.DisableSchemaValidation == nil {
		o.Gaps["DisableSchemaValidation"] = resource.Gap{Kind: resource.GapNotReturned}
	}
	if a.CorsConfiguration != nil {
		o.Params["CorsConfiguration"] = observeCORS(a.CorsConfiguration)
	}
	return o
}

func observeCORS(c *types.Cors) value.Value {
	m := value.Map{}
	for name, list := range map[string][]string{
		"AllowHeaders": c.AllowHeaders, "AllowMethods": c.AllowMethods, "AllowOrigins": c.AllowOrigins, "ExposeHeaders": c.ExposeHeaders,
	} {
		if list != nil {
			m[name] = value.Of(list)
		}
	}
	if c.AllowCredentials != nil {
		m["AllowCredentials"] = value.Of(*c.AllowCredentials)
	}
	if c.MaxAge != nil {
		m["MaxAge"] = value.Of(*c.MaxAge)
	}
	return value.OfMap(m)
}

// apis returns the IDs of all APIs.
func (b base) apis(ctx context.Context) ([]string, error) {
	var ids []string
	err := b.eachAPI(ctx, func(a types.Api, _ time.Time) { ids = append(ids, aws.ToString(a.ApiId)) })
	return ids, err
}

func (b base) eachAPI(ctx context.Context, each func(types.Api, time.Time)) error {
	get := func(token *string) ([]types.Api, *string, session.Reply, error) {
		out, reply, err := call(ctx, b, b.client.GetApis, &apigatewayv2.GetApisInput{NextToken: token})
		if err != nil {
			return nil, nil, reply, err
		}
		return out.Items, out.NextToken, reply, nil
	}
	return pages("GetApis", get, func(a types.Api) *string { return a.ApiId }, each)
}

// Find implements resource.Finder, over all pages: by our tags, and by name for the list of namesakes.
func (p *api) Find(ctx context.Context, q resource.Query) ([]resource.Candidate, error) {
	name := q.Like.Text("Name")
	var found []resource.Candidate
	err := p.eachAPI(ctx, func(a types.Api, served time.Time) {
		c := resource.Candidate{Observation: *observe(a, served, "GetApis")}
		c.ByNonce, c.ByTags = session.Match(q, c.Owner)
		c.ByName = name != "" && aws.ToString(a.Name) == name
		if c.ByNonce || c.ByTags || c.ByName {
			found = append(found, c)
		}
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}
