// Package apigatewayv2 provides AWS::ApiGatewayV2::Api and what an API is made of: Integration, Route, Stage, Authorizer.
//
// Its one rule: a name proves nothing. An API is known by the ID that the service gave it, and what is in it by that ID
// and its own; what was made without an answer is found by our tags, by what the service keeps unique, or among the
// children of an API of ours.
package apigatewayv2

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
	"reclaim/providers/aws/wire"
)

// codes are the service's own error codes. A conflict is a concurrent change, unless a look says that it is an object
// that exists or is in use: the service has one code for all three.
var codes = map[string]resource.Kind{
	"NotFoundException": resource.NotFound,
	"ConflictException": resource.Busy,
}

const (
	conflict   = "ConflictException"
	badRequest = "BadRequestException"
)

// Schemas returns the types of this package.
func Schemas() []*resource.Schema {
	return []*resource.Schema{apiSchema(), authorizerSchema(), integrationSchema(), routeSchema(), stageSchema()}
}

// Providers returns the providers of this package's types.
func Providers(s *session.Session) []resource.Provider {
	c := apigatewayv2.NewFromConfig(s.AWS())
	b := base{client: c, session: s, svc: s.Service("ApiGatewayV2", c.Options().BaseEndpoint, codes)}
	return []resource.Provider{&api{b.of(apiSchema())}, &authorizer{b.of(authorizerSchema())}, &integration{b.of(integrationSchema())},
		&route{b.of(routeSchema())}, &stage{b.of(stageSchema())}}
}

// base is what the types share: their schema and how the service is called.
type base struct {
	schema  *resource.Schema
	client  *apigatewayv2.Client
	session *session.Session
	svc     *session.Service
}

func (b base) of(s *resource.Schema) base { b.schema = s; return b }

// Schema implements resource.Provider.
func (b base) Schema() *resource.Schema { return b.schema }

// Unmake implements resource.Provider: nothing has to go first.
func (b base) Unmake(resource.Delete, *resource.Observation) ([]resource.Call, error) {
	return nil, nil
}

// call sends one operation of the service.
func call[In, Out any](ctx context.Context, b base, do func(context.Context, *In, ...func(*apigatewayv2.Options)) (*Out, error), in *In, opts ...func(*apigatewayv2.Options)) (*Out, session.Reply, error) {
	return session.Call(ctx, b.svc, do, in, opts...)
}

// run is the body of a changing call whose answer says nothing more than that it was done. secrets are the params whose
// sensitive texts no error repeats.
func run[In, Out any](b base, do func(context.Context, *In, ...func(*apigatewayv2.Options)) (*Out, error), in *In, secrets value.Map) func(context.Context) error {
	return func(ctx context.Context) error {
		_, _, err := call(ctx, b, do, in)
		return wire.Conceal(err, secrets)
	}
}

// once turns the SDK's retries off: for calls that must be sent at most once (SAFETY S10, S20).
func once(o *apigatewayv2.Options) { o.Retryer = aws.NopRetryer{} }

// pages reads a list to its end. A page that holds no list, or an item without its ID, is no answer.
func pages[Item any](operation string, get func(token *string) ([]Item, *string, session.Reply, error), id func(Item) *string, each func(Item, time.Time)) error {
	return session.Pages(operation, func(token *string) (*string, error) {
		items, next, reply, err := get(token)
		if err != nil {
			return nil, err
		}
		if items == nil {
			return nil, session.Invalid(operation, "the answer holds no list")
		}
		for _, item := range items {
			if aws.ToString(id(item)) == "" {
				return nil, session.Invalid(operation, "an item has no ID")
			}
			each(item, reply.ServedAt)
		}
		return next, nil
	})
}

// observation is an object as read at a key, before its params are in: they and the identity are what differs.
func observation(key resource.Key, served time.Time, source string) *resource.Observation {
	return &resource.Observation{Key: key, Params: value.Map{}, Output: value.Map{}, ServedAt: served, Gaps: map[value.Path]resource.Gap{},
		Ready: true, Sources: map[string]string{"object": source}}
}

// observeChild is the observation of an object whose ID the service gave, in an API. The API stands in no answer: it is
// where the answer came from.
func observeChild(apiID, idName string, id *string, served time.Time, source string) *resource.Observation {
	o := observation(childKey(apiID, idName, id), served, source)
	o.Params["ApiId"] = value.Of(apiID)
	o.Output[idName] = value.Of(aws.ToString(id))
	o.Identity = resource.Identity{UniqueID: aws.ToString(id)}
	return o
}

func childKey(apiID, idName string, id *string) resource.Key {
	return resource.Key{"ApiId": apiID, idName: aws.ToString(id)}
}

// madeChild is the acknowledgement of a create. A success without an ID is none.
func madeChild(operation string, c resource.Create, idName string, id *string, reply session.Reply) (resource.Created, error) {
	if aws.ToString(id) == "" {
		return resource.Created{}, session.Unacknowledged(operation, reply, "it succeeded, but did not say what it made")
	}
	return resource.Created{Key: childKey(c.Params.Text("ApiId"), idName, id), Identity: resource.Identity{UniqueID: *id},
		Output: value.Map{idName: value.Of(*id)}, ServedAt: reply.ServedAt}, nil
}

// refused types the refusal of a create. What it is put in, or points at, is not there, or not everywhere yet: NotReady.
// Over a quota the service answers 429 with the code of a conflict, which no waiting helps. One of those codes may mean
// that what was to be made exists, which exists tells by a look; when that fails the refusal stands as it is.
func refused(err error, reply session.Reply, exists func() (bool, error), codes ...string) error {
	e, ok := errors.AsType[*resource.Error](err)
	if !ok || e.Executed != resource.No {
		return err
	}
	c := *e
	switch {
	case e.Kind == resource.NotFound:
		c.Kind = resource.NotReady
	case e.Code == conflict && reply.Status == http.StatusTooManyRequests:
		c.Kind = resource.Rejected
	case slices.Contains(codes, e.Code):
		if found, err := exists(); err == nil && found {
			c.Kind = resource.AlreadyExists
		}
	}
	return &c
}

// absent reports whether a read said that there is no such object.
func absent(err error) bool { return resource.Is(err, resource.NotFound) }
