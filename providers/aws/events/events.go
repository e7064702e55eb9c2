// Package events provides AWS::Events::Rule.
//
// Its one rule: success proves little here. A put overwrites what was there and keeps that object's tags, an answer of 200
// may hold failed entries, and deleting nothing succeeds: so each is read as what it says, and no more.
package events

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	"reclaim/engine/resource"
	"reclaim/providers/aws/session"
)

// codes are the service's own error codes. What is managed by another service stays refused, however often it is sent.
var codes = map[string]resource.Kind{
	"ResourceNotFoundException":       resource.NotFound,
	"ConcurrentModificationException": resource.Busy,
	"ManagedRuleException":            resource.Rejected,
}

// Providers returns the providers of this package's types.
func Providers(s *session.Session) []resource.Provider {
	c := eventbridge.NewFromConfig(s.AWS())
	return []resource.Provider{&rule{schema: ruleSchema(), api: c, svc: s.Service("EventBridge", c.Options().BaseEndpoint, codes), scope: s.Verify}}
}

// rule implements resource.Provider, resource.Finder and resource.Expander.
type rule struct {
	schema *resource.Schema
	api    *eventbridge.Client
	svc    *session.Service
	scope  func(context.Context) (resource.Scope, error) // where calls go to, verified
}

// Schema implements resource.Provider.
func (p *rule) Schema() *resource.Schema { return p.schema }

// call sends one operation of the service.
func call[In, Out any](ctx context.Context, p *rule, do func(context.Context, *In, ...func(*eventbridge.Options)) (*Out, error), in *In, opts ...func(*eventbridge.Options)) (*Out, session.Reply, error) {
	return session.Call(ctx, p.svc, do, in, opts...)
}

// once turns the SDK's retries off: for calls that must be sent at most once (SAFETY S10, S20).
func once(o *eventbridge.Options) { o.Retryer = aws.NopRetryer{} }
