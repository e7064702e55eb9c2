// Package iam provides AWS::IAM::Role and Reclaim::IAM::RolePolicyAttachment.
//
// Its one rule: a role is shared. Policies and tags that nobody recorded as ours are reported and never removed.
package iam

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"reclaim/engine/resource"
	"reclaim/providers/aws/session"
)

// codes are the service's own error codes.
var codes = map[string]resource.Kind{
	"EntityAlreadyExists":           resource.AlreadyExists,
	"NoSuchEntity":                  resource.NotFound,
	"ConcurrentModification":        resource.Busy,
	"EntityTemporarilyUnmodifiable": resource.Busy,
	"DeleteConflict":                resource.InUse,
	"ServiceFailure":                resource.Uncertain,
}

// Providers returns the providers of this package's types.
func Providers(s *session.Session) []resource.Provider {
	c := iam.NewFromConfig(s.AWS())
	roles := &role{schema: roleSchema(), api: c, svc: s.Service("IAM", c.Options().BaseEndpoint, codes)}
	return []resource.Provider{roles, &attachment{schema: attachmentSchema(), role: roles}}
}

// role implements resource.Provider and resource.Finder.
type role struct {
	schema *resource.Schema
	api    *iam.Client
	svc    *session.Service
}

// Schema implements resource.Provider.
func (p *role) Schema() *resource.Schema { return p.schema }

// call sends one operation of the service.
func call[In, Out any](ctx context.Context, p *role, do func(context.Context, *In, ...func(*iam.Options)) (*Out, error), in *In, opts ...func(*iam.Options)) (*Out, session.Reply, error) {
	return session.Call(ctx, p.svc, do, in, opts...)
}

// once turns the SDK's retries off: for calls that must be sent at most once (SAFETY S10, S20).
func once(o *iam.Options) { o.Retryer = aws.NopRetryer{} }
