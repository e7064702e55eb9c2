// Package dynamodb provides AWS::DynamoDB::Table.
//
// Its one rule: a table is never hurried. The service works on after each answer and takes one change at a time, so
// every change waits, inside its own call, until the table that was looked at is idle, and is then sent once.
package dynamodb

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"reclaim/engine/resource"
	"reclaim/providers/aws/session"
)

// codes are the service's own error codes. ResourceInUseException also says that a table exists: Create looks.
var codes = map[string]resource.Kind{
	"ResourceInUseException":                 resource.Busy,
	"LimitExceededException":                 resource.Busy,
	"ContinuousBackupsUnavailableException":  resource.Busy,
	"ResourceNotFoundException":              resource.NotFound,
	"TableNotFoundException":                 resource.NotFound,
	codeNoPolicy:                             resource.NotFound,
	"ProvisionedThroughputExceededException": resource.Throttled,
}

// codeNoPolicy is the answer for a table that has no resource policy.
const codeNoPolicy = "PolicyNotFoundException"

// Providers returns the providers of this package's types.
func Providers(s *session.Session) []resource.Provider {
	c := dynamodb.NewFromConfig(s.AWS())
	return []resource.Provider{&table{schema: tableSchema(), api: c, svc: s.Service("DynamoDB", c.Options().BaseEndpoint, codes)}}
}

// table implements resource.Provider and resource.Finder.
type table struct {
	schema *resource.Schema
	api    *dynamodb.Client
	svc    *session.Service
}

// Schema implements resource.Provider.
func (p *table) Schema() *resource.Schema { return p.schema }

// call sends one operation of the service.
func call[In, Out any](ctx context.Context, p *table, do func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error), in *In, opts ...func(*dynamodb.Options)) (*Out, session.Reply, error) {
	return session.Call(ctx, p.svc, do, in, opts...)
}

// once turns the SDK's retries off: for calls that must be sent at most once (SAFETY S10, S20).
func once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// look reads the table itself.
func (p *table) look(ctx context.Context, name string) (*types.TableDescription, time.Time, error) {
	out, reply, err := call(ctx, p, p.api.DescribeTable, &dynamodb.DescribeTableInput{TableName: &name})
	switch {
	case err != nil:
		return nil, reply.ServedAt, err
	case out.Table == nil || aws.ToString(out.Table.TableName) != name:
		return nil, reply.ServedAt, session.Invalid("DescribeTable", "the answer is not the table that was asked for")
	case out.Table.CreationDateTime == nil || out.Table.TableStatus == "" || aws.ToString(out.Table.TableArn) == "":
		return nil, reply.ServedAt, session.Invalid("DescribeTable", "the table has no creation time, status or ARN")
	}
	return out.Table, reply.ServedAt, nil
}

// identity tells a table from another of its name.
func identity(t *types.TableDescription) resource.Identity {
	return resource.Identity{UniqueID: aws.ToString(t.TableId), CreatedAt: t.CreationDateTime.UTC()}
}

// working says what the service is still doing with a table; "" when it is idle.
func working(t *types.TableDescription) string {
	if t.TableStatus != types.TableStatusActive {
		return "the table is " + string(t.TableStatus)
	}
	for _, g := range t.GlobalSecondaryIndexes {
		if g.IndexStatus != types.IndexStatusActive && g.IndexStatus != "" {
			return "index " + aws.ToString(g.IndexName) + " is " + string(g.IndexStatus)
		}
	}
	if s := t.SSEDescription; s != nil && s.Status == types.SSEStatusUpdating {
		return "its encryption is " + string(s.Status)
	}
	return ""
}

// idle waits until the service is done with the table that expect names, and returns it. It uses at most two thirds of
// ctx's time, so that what follows can be sent and answered; then it is Busy, and nothing was sent.
func (p *table) idle(ctx context.Context, operation, name string, expect resource.Identity) (*types.TableDescription, error) {
	return await(ctx, operation, func() (*types.TableDescription, string, error) {
		t, _, err := p.look(ctx, name)
		if err != nil {
			return nil, "", err
		}
		if same, known := identity(t).Same(expect); known && !same {
			return nil, "", &resource.Error{Kind: resource.IdentityMismatch, Op: operation, Executed: resource.No,
				Err: errors.New("another table has this name now; nothing was sent")}
		}
		return t, working(t), nil
	})
}

// await looks again and again, until look says that nothing is in the way any more.
func await[T any](ctx context.Context, operation string, look func() (got T, busy string, err error)) (T, error) {
	var none T
	var limit time.Time
	if till, ok := ctx.Deadline(); ok {
		limit = till.Add(-time.Until(till) / 3)
	}
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 3*time.Second) {
		got, busy, err := look()
		switch {
		case err != nil:
			return none, unsent(err)
		case busy == "":
			return got, nil
		case !limit.IsZero() && time.Now().Add(pause).After(limit) || !sleep(ctx, pause):
			return none, &resource.Error{Kind: resource.Busy, Op: operation, Executed: resource.No,
				Err: errors.New(busy + ", and was for as long as this call may wait; nothing was sent, and the next deploy goes on")}
		}
	}
}

// sleep reports whether ctx was still there at the end of the pause.
func sleep(ctx context.Context, pause time.Duration) bool {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// unsent says of a failed look before a change that the change was not sent.
func unsent(err error) error {
	if e, ok := errors.AsType[*resource.Error](err); ok {
		c := *e
		c.Executed = resource.No
		return &c
	}
	return err
}
