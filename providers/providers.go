// Package providers is the registry: every type there is, and the providers of those that a run needs.
//
// Its one rule: nothing is opened that is not asked for. Schemas cost nothing, a stack of local types needs no cloud,
// and a service's client is made when one of its types is first used.
package providers

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"reclaim/engine/resource"
	"reclaim/providers/aws/apigatewayv2"
	"reclaim/providers/aws/dynamodb"
	"reclaim/providers/aws/events"
	"reclaim/providers/aws/iam"
	"reclaim/providers/aws/lambda"
	"reclaim/providers/aws/logs"
	"reclaim/providers/aws/session"
	"reclaim/providers/std/fs"
)

// cloud makes the providers of one AWS service.
type cloud struct {
	schemas   func() []*resource.Schema
	providers func(*session.Session) []resource.Provider
}

var clouds = []cloud{
	{apigatewayv2.Schemas, apigatewayv2.Providers},
	{dynamodb.Schemas, dynamodb.Providers},
	{events.Schemas, events.Providers},
	{iam.Schemas, iam.Providers},
	{lambda.Schemas, lambda.Providers},
	{logs.Schemas, logs.Providers},
}

// Schemas returns the schema of every supported type, sorted by type. Do not change them.
var Schemas = sync.OnceValue(func() []*resource.Schema {
	all := fs.Schemas()
	for _, c := range clouds {
		all = append(all, c.schemas()...)
	}
	slices.SortFunc(all, func(a, b *resource.Schema) int { return strings.Compare(a.Type, b.Type) })
	return all
})

// Schema returns the schema of a type; false when the type is not supported.
func Schema(typ string) (*resource.Schema, bool) {
	for _, s := range Schemas() {
		if s.Type == typ {
			return s, true
		}
	}
	return nil, false
}

// Config says where providers are opened.
type Config struct {
	Region  string // --region; empty leaves it to the SDK's chain
	Profile string // --profile; empty leaves it to the SDK's chain
	Machine string // ID of this machine, part of the keys of local types
	// MinWindow raises the consistency window of cloud types that have a shorter one (--window); it lowers none.
	MinWindow time.Duration
}

// Cloud implements resource.Cloud. It is safe for use by several goroutines.
type Cloud struct {
	machine   string
	minWindow time.Duration
	aws       *session.Session // nil when every type is local

	mu        sync.Mutex
	providers map[string]resource.Provider
}

// Open returns the providers for a run that uses these types. AWS's configuration is read only when one of them needs
// it, and no service is called. Types that are not supported are left out: Provider says so.
func Open(ctx context.Context, c Config, types []string) (*Cloud, error) {
	out := &Cloud{machine: c.Machine, minWindow: c.MinWindow, providers: map[string]resource.Provider{}}
	out.add(fs.Providers(c.Machine))
	if !slices.ContainsFunc(types, inAWS) {
		return out, nil
	}
	s, err := session.Open(ctx, session.Config{Region: c.Region, Profile: c.Profile})
	if err != nil {
		return nil, err
	}
	out.aws = s
	return out, nil
}

func inAWS(typ string) bool {
	s, ok := Schema(typ)
	return ok && !s.Local
}

func (c *Cloud) add(all []resource.Provider) {
	for _, p := range all {
		c.providers[p.Schema().Type] = raise(p, c.minWindow)
	}
}

// Provider implements resource.Cloud.
func (c *Cloud) Provider(typ string) (resource.Provider, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.providers[typ]; ok {
		return p, true
	}
	if c.aws == nil {
		return nil, false
	}
	for _, service := range clouds {
		if slices.ContainsFunc(service.schemas(), func(s *resource.Schema) bool { return s.Type == typ }) {
			c.add(service.providers(c.aws))
			return c.providers[typ], true
		}
	}
	return nil, false
}

// Verify implements resource.Cloud. Without a cloud the scope is this machine.
func (c *Cloud) Verify(ctx context.Context) (resource.Scope, error) {
	if c.aws == nil {
		return resource.Scope{Partition: resource.LocalPartition, Account: c.machine}, nil
	}
	return c.aws.Verify(ctx)
}

// Machine implements resource.Cloud.
func (c *Cloud) Machine() string { return c.machine }

var _ resource.Expirer = (*Cloud)(nil)

// Expires implements resource.Expirer.
func (c *Cloud) Expires(ctx context.Context) (time.Time, bool) {
	if c.aws == nil {
		return time.Time{}, false
	}
	return c.aws.Expires(ctx)
}

// Renew implements resource.Expirer.
func (c *Cloud) Renew() string {
	if c.aws == nil {
		return ""
	}
	return c.aws.Renew()
}
