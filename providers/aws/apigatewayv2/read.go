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

// Read implements resource.Provider.
func (p *api) Read(ctx context.Context, key resource.Key) (*resource.Observation, error) {
	out, reply, err := call(ctx, p, p.client.GetApi, &apigatewayv2.GetApiInput{ApiId: aws.String(key["ApiId"])})
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
	o := &resource.Observation{
		Key:      resource.Key{"ApiId": aws.ToString(a.ApiId)},
		Params:   value.Map{"Tags": value.Of(own)},
		Output:   value.Map{"ApiId": value.Of(aws.ToString(a.ApiId))},
		Identity: resource.Identity{UniqueID: aws.ToString(a.ApiId)},
		Owner:    marks,
		ServedAt: served,
		Gaps:     map[value.Path]resource.Gap{},
		Ready:    true,
		Sources:  map[string]string{"object": source, "tags": source},
	}
	if a.CreatedDate != nil {
		o.CreatedAt = a.CreatedDate.UTC()
		o.Identity.CreatedAt = o.CreatedAt
	}
	if a.ApiEndpoint != nil {
		o.Output["ApiEndpoint"] = value.Of(*a.ApiEndpoint)
	}
	for name, text := range map[string]*string{
		"Name": a.Name, "Description": a.Description, "Version": a.Version,
		"RouteSelectionExpression": a.RouteSelectionExpression, "ApiKeySelectionExpression": a.ApiKeySelectionExpression,
		"ProtocolType": enum(a.ProtocolType), "IpAddressType": enum(a.IpAddressType),
	} {
		if text != nil {
			o.Params[name] = value.Of(*text)
		}
	}
	if a.DisableExecuteApiEndpoint != nil {
		o.Params["DisableExecuteApiEndpoint"] = value.Of(*a.DisableExecuteApiEndpoint)
	}
	if a.DisableSchemaValidation != nil {
		o.Params["DisableSchemaValidation"] = value.Of(*a.DisableSchemaValidation)
	} else {
		o.Gaps["DisableSchemaValidation"] = resource.Gap{Kind: resource.GapNotReturned}
	}
	if a.CorsConfiguration != nil {
		o.Params["CorsConfiguration"] = observeCORS(a.CorsConfiguration)
	}
	return o
}

func enum[E ~string](e E) *string {
	if e == "" {
		return nil
	}
	s := string(e)
	return &s
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

// Find implements resource.Finder, over all pages: by our tags, and by name for the list of namesakes.
func (p *api) Find(ctx context.Context, q resource.Query) ([]resource.Candidate, error) {
	name := q.Like.Text("Name")
	var found []resource.Candidate
	err := session.Pages("GetApis", func(token *string) (*string, error) {
		out, reply, err := call(ctx, p, p.client.GetApis, &apigatewayv2.GetApisInput{NextToken: token})
		if err != nil {
			return nil, err
		}
		if out.Items == nil {
			return nil, session.Invalid("GetApis", "the answer holds no list")
		}
		for _, item := range out.Items {
			if aws.ToString(item.ApiId) == "" {
				return nil, session.Invalid("GetApis", "an API has no ID")
			}
			c := resource.Candidate{Observation: *observe(item, reply.ServedAt, "GetApis")}
			c.ByNonce, c.ByTags = session.Match(q, c.Owner)
			c.ByName = name != "" && aws.ToString(item.Name) == name
			if c.ByNonce || c.ByTags || c.ByName {
				found = append(found, c)
			}
		}
		return out.NextToken, nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}
