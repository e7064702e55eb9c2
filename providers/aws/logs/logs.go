// Package logs provides AWS::Logs::LogGroup.
//
// Its one rule: a log group holds what cannot be made again. It is deleted only with consent, and a retention that is
// not there is never written as a number.
package logs

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"

	"reclaim/engine/resource"
	"reclaim/providers/aws/session"
)

// classDelivery is the class whose retention the service keeps to itself.
const classDelivery = "DELIVERY"

// codes are the service's own error codes.
var codes = map[string]resource.Kind{
	"ResourceAlreadyExistsException": resource.AlreadyExists,
	"ResourceNotFoundException":      resource.NotFound,
	"OperationAbortedException":      resource.Busy,
}

// Providers returns the providers of this package's types.
func Providers(s *session.Session) []resource.Provider {
	c := cloudwatchlogs.NewFromConfig(s.AWS())
	return []resource.Provider{&group{schema: groupSchema(), api: c, svc: s.Service("CloudWatch Logs", c.Options().BaseEndpoint, codes)}}
}

// group implements resource.Provider and resource.Finder.
type group struct {
	schema *resource.Schema
	api    *cloudwatchlogs.Client
	svc    *session.Service
}

// Schema implements resource.Provider.
func (p *group) Schema() *resource.Schema { return p.schema }

// call sends one operation of the service.
func call[In, Out any](ctx context.Context, p *group, do func(context.Context, *In, ...func(*cloudwatchlogs.Options)) (*Out, error), in *In, opts ...func(*cloudwatchlogs.Options)) (*Out, session.Reply, error) {
	return session.Call(ctx, p.svc, do, in, opts...)
}

// once turns the SDK's retries off: for calls that must be sent at most once (SAFETY S10, S20).
func once(o *cloudwatchlogs.Options) { o.Retryer = aws.NopRetryer{} }
