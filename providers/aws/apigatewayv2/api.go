// Package apigatewayv2 provides AWS::ApiGatewayV2::Api.
//
// Its one rule: a name proves nothing. An API is known by the ID that the service gave it, and found again only by
// our tags.
package apigatewayv2

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"

	"reclaim/engine/resource"
	"reclaim/providers/aws/session"
)

// codes are the service's own error codes. It never answers that an API exists: a conflict is another change.
var codes = map[string]resource.Kind{
	"NotFoundException": resource.NotFound,
	"ConflictException": resource.Busy,
}

// Providers returns the providers of this package's types.
func Providers(s *session.Session) []resource.Provider {
	c := apigatewayv2.NewFromConfig(s.AWS())
	return []resource.Provider{&api{schema: apiSchema(), client: c, session: s, svc: s.Service("ApiGatewayV2", c.Options().BaseEndpoint, codes)}}
}

// api implements resource.Provider and resource.Finder.
type api struct {
	schema  *resource.Schema
	client  *apigatewayv2.Client
	session *session.Session
	svc     *session.Service
}

// Schema implements resource.Provider.
func (p *api) Schema() *resource.Schema { return p.schema }

// call sends one operation of the service.
func call[In, Out any](ctx context.Context, p *api, do func(context.Context, *In, ...func(*apigatewayv2.Options)) (*Out, error), in *In, opts ...func(*apigatewayv2.Options)) (*Out, session.Reply, error) {
	return session.Call(ctx, p.svc, do, in, opts...)
}

// once turns the SDK's retries off: for calls that must be sent at most once (SAFETY S10, S20).
func once(o *apigatewayv2.Options) { o.Retryer = aws.NopRetryer{} }

// arn returns the ARN that the tagging operations take. It holds no account.
func (p *api) arn(ctx context.Context, id string) (string, error) {
	scope, err := p.session.Verify(ctx)
	if err != nil {
		return "", err
	}
	return "arn:" + scope.Partition + ":apigateway:" + scope.Region + "::/apis/" + id, nil
}
