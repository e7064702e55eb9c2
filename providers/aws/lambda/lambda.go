// Package lambda provides AWS::Lambda::Function and AWS::Lambda::Permission.
//
// Its one rule: a conflict proves nothing by itself. Lambda has one code for "exists" and for "busy", so a refused create is
// followed by a look, and only what that look finds exists.
package lambda

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/smithy-go"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
)

// codes are the service's own error codes. A conflict is busy until a look says that the object exists.
var codes = map[string]resource.Kind{
	"ResourceConflictException":   resource.Busy,
	"ResourceInUseException":      resource.Busy,
	"PreconditionFailedException": resource.Busy,
	"ResourceNotFoundException":   resource.NotFound,
}

// service is what both types call through.
type service struct {
	api     *lambda.Client
	session *session.Session
	svc     *session.Service
}

// Schemas returns the types of this package.
func Schemas() []*resource.Schema {
	return []*resource.Schema{functionSchema(), permissionSchema()}
}

// Providers returns the providers of this package's types.
func Providers(s *session.Session) []resource.Provider {
	c := lambda.NewFromConfig(s.AWS())
	shared := service{api: c, session: s, svc: s.Service("Lambda", c.Options().BaseEndpoint, codes)}
	return []resource.Provider{&function{service: shared, schema: functionSchema()}, &permission{service: shared, schema: permissionSchema()}}
}

// call sends one operation of the service.
func call[In, Out any](ctx context.Context, p service, do func(context.Context, *In, ...func(*lambda.Options)) (*Out, error), in *In, opts ...func(*lambda.Options)) (*Out, session.Reply, error) {
	return session.Call(ctx, p.svc, do, in, opts...)
}

// once turns the SDK's retries off: for calls that must be sent at most once (SAFETY S10, S20).
func once(o *lambda.Options) { o.Retryer = aws.NopRetryer{} }

// roleNotReady types the refusal of a role that cannot be assumed, or may not do yet what the function needs. Its code is
// InvalidParameterValueException, as for every other bad value, and nothing but the message tells them apart; all that
// is asked of it is whether it speaks of a role. A role that is simply wrong comes out the same: then the engine, which
// comes again only while a dependency is new, reports it.
func roleNotReady(err error) error {
	e, ok := errors.AsType[*resource.Error](err)
	if !ok || e.Code != "InvalidParameterValueException" {
		return err
	}
	if api, ok := errors.AsType[smithy.APIError](e.Err); ok && strings.Contains(strings.ToLower(api.ErrorMessage()), "role") {
		e.Kind = resource.NotReady
	}
	return err
}

// conflicting types a refused create: there already when look finds it, else what it was. A look that fails leaves it at
// "exists", which is never sent again by itself.
func conflicting(err error, look func() error) error {
	e, ok := errors.AsType[*resource.Error](err)
	if !ok || e.Code != "ResourceConflictException" {
		return err
	}
	if !session.Gone(look()) {
		e.Kind = resource.AlreadyExists
	}
	return err
}

// dependency types a refusal of a create because something else is not there, or not yet everywhere.
func dependency(err error) error {
	e, ok := errors.AsType[*resource.Error](err)
	if ok && (e.Kind == resource.NotFound || e.Code == "CodeSigningConfigNotFoundException") {
		e.Kind = resource.NotReady
	}
	return err
}

// confirm is session.Confirm for objects that may have no identity: what was adopted carries no nonce of ours, and is told
// by its recorded params (SAFETY S20). Lists and documents have several spellings, which the engine knows and compared; here
// every recorded text and number must be there.
func confirm(operation string, d resource.Delete, o *resource.Observation) error {
	if d.Nonce != "" || !d.Expect.IsZero() || len(d.Recorded) == 0 {
		return session.Confirm(operation, d, o)
	}
	compared := 0
	for _, name := range d.Recorded.Keys() {
		was, is := d.Recorded[name], o.Params[name]
		if was.Kind() == value.Hash || !scalar(was) {
			continue
		}
		if is.IsSet() && is.Reveal() != was.Reveal() {
			return &resource.Error{Kind: resource.IdentityMismatch, Op: operation, Executed: resource.No,
				Err: errors.New("it is not as recorded: " + name + " differs; nothing was deleted")}
		}
		compared++
	}
	if compared == 0 {
		return session.Confirm(operation, d, o)
	}
	return nil
}

func scalar(v value.Value) bool {
	return v.Kind() == value.String || v.Kind() == value.Number || v.Kind() == value.Bool
}

func refused(operation, why string) error {
	return &resource.Error{Kind: resource.Rejected, Op: operation, Executed: resource.No, Err: errors.New(why)}
}
