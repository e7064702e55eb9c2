package plan

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"
	"time"

	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// ProviderFns is a provider of functions. Its Sync sends Size and Label in one call, everything else in one of its own.
type ProviderFns struct {
	schema *resource.Schema
	read   func(resource.Key) (*resource.Observation, error)
	sync   func(resource.Change) ([]resource.Call, error)
	unmake func() ([]resource.Call, error)
}

func (p ProviderFns) Schema() *resource.Schema { return p.schema }
func (p ProviderFns) Read(_ context.Context, k resource.Key) (*resource.Observation, error) {
	return p.read(k)
}
func (p ProviderFns) Create(context.Context, resource.Create) (resource.Created, error) {
	panic("a plan creates nothing")
}
func (p ProviderFns) Delete(context.Context, resource.Delete) error {
	panic("a plan deletes nothing")
}

func (p ProviderFns) Sync(c resource.Change) ([]resource.Call, error) {
	if p.sync != nil {
		return p.sync(c)
	}
	var calls []resource.Call
	both := false
	for _, w := range c.Write {
		if w != "Size" && w != "Label" {
			calls = append(calls, resource.Call{Name: "Put" + w, Params: []string{w}})
			continue
		}
		if !both {
			calls = append(calls, resource.Call{Name: "Update", Detail: "size and label", Params: []string{"Size", "Label"}})
		}
		both = true
	}
	return calls, nil
}

func (p ProviderFns) Unmake(resource.Delete, *resource.Observation) ([]resource.Call, error) {
	if p.unmake != nil {
		return p.unmake()
	}
	return nil, nil
}

// FinderFns can be searched too.
type FinderFns struct {
	ProviderFns
	find func(resource.Query) ([]resource.Candidate, error)
}

func (p FinderFns) Find(_ context.Context, q resource.Query) ([]resource.Candidate, error) {
	return p.find(q)
}

// CloudFns is a cloud of functions.
type CloudFns struct {
	providers map[string]resource.Provider
	verify    func() (resource.Scope, error)
}

func (c CloudFns) Provider(typ string) (resource.Provider, bool) {
	p, ok := c.providers[typ]
	return p, ok
}
func (c CloudFns) Machine() string { return "m1" }
func (c CloudFns) Verify(context.Context) (resource.Scope, error) {
	if c.verify != nil {
		return c.verify()
	}
	return stack.Scope, nil
}

var (
	now   = time.Date(2026, 3, 1, 15, 0, 0, 0, time.UTC)
	stack = record.StackID{Name: "orders", Scope: resource.Scope{Partition: "aws", Account: "123456789012", Region: "eu-west-1"}}
)

const (
	store    = "store-1"
	ancestor = "store-0"
	nonce    = "5f0e11c2"
	window   = 30 * time.Second
)

// The kinds of types that are decided about differently.
var (
	named    = class("Test::Named", resource.Named, resource.TagList, "Name")
	holding  = class("Test::Holding", resource.Named, resource.NoTags, "Name", func(s *resource.Schema) { s.DataBearing, s.Data = true, "log events" })
	upsert   = class("Test::Upsert", resource.Upsert, resource.TagList, "Name")
	assigned = class("Test::Assigned", resource.Assigned, resource.TagList, "Id")
)

func class(typ string, c resource.Class, tags resource.TagStyle, key string, changes ...func(*resource.Schema)) *resource.Schema {
	mode := resource.Mutable
	if key == "Name" {
		mode = resource.KeyParam
	}
	s := &resource.Schema{Type: typ, Identity: c, Space: resource.PerRegion, Tags: tags, Key: []string{key}, Ref: key, Window: window,
		Name: &resource.NameRule{Param: "Name", Max: 40},
		Params: []resource.Field{
			{Name: "Name", Type: resource.TString, Mode: mode},
			{Name: "Shape", Type: resource.TString, Mode: resource.Immutable, Enum: []string{"round", "square"}},
			{Name: "Size", Type: resource.TInt, Mode: resource.Mutable},
			{Name: "Label", Type: resource.TString, Mode: resource.Mutable},
			{Name: "Note", Type: resource.TString, Mode: resource.Mutable},
			{Name: "Seed", Type: resource.TString, Mode: resource.Immutable, WriteOnly: true},
		},
		Outputs: []resource.Output{{Name: "Id"}, {Name: "Arn"}, {Name: "Hash", Volatile: true}}}
	for _, f := range changes {
		f(s)
	}
	return s
}

func params() value.Map {
	return value.Map{"Name": value.Of("orders"), "Shape": value.Of("round"), "Size": value.Of(3)}
}

func sealer() value.Sealer {
	s, err := value.NewSealer([]byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		panic(err)
	}
	return s
}

// wanted is a resource of a template that nothing is recorded of, and that is not there.
func wanted(s *resource.Schema, changes ...func(*Subject)) Subject {
	sub := Subject{ID: "Orders", Provider: ProviderFns{schema: s}, Stores: []string{store, ancestor}, Sealer: sealer(), Now: now, Stack: stack,
		Wanted: true, Desired: params(), Look: Look{Machine: "m1", At: now}}
	for _, f := range changes {
		f(&sub)
	}
	return sub
}

// recorded is a resource that was created an hour ago, and is there, as recorded.
func recorded(s *resource.Schema, changes ...func(*Subject)) Subject {
	key := resource.Key{"Name": "orders"}
	if s == assigned {
		key = resource.Key{"Id": "U1"}
	}
	r := &record.Record{Stack: stack, ID: "Orders", Type: s.Type, Gen: 2, Rev: 7, Status: record.Made, Origin: record.ByCreate,
		Key: key, Physical: s.Physical(key), Claim: s.Claim(stack.Scope, key), Identity: resource.Identity{UniqueID: "U1"}, Nonce: nonce,
		Params: params(), Output: observation().Output, TouchedAt: now.Add(-time.Hour)}
	return wanted(s, append([]func(*Subject){func(sub *Subject) {
		sub.Record, sub.LastGen = r, 2
		there()(sub)
		sub.Look.Obs.Key = key
	}}, changes...)...)
}

// removed is the same, with no template that names it.
func removed(s *resource.Schema, changes ...func(*Subject)) Subject {
	return recorded(s, append([]func(*Subject){func(sub *Subject) { sub.Wanted, sub.Desired = false, nil }}, changes...)...)
}

// observation is what a read returns; it carries our tags.
func observation() *resource.Observation {
	return &resource.Observation{Key: resource.Key{"Name": "orders"}, Params: params(), Identity: resource.Identity{UniqueID: "U1"}, Ready: true,
		ServedAt: now, Output: value.Map{"Id": value.Of("U1"), "Arn": value.Of("arn:u1"), "Hash": value.Of("h1")},
		Owner: resource.Tags{resource.TagStore: store, resource.TagStack: stack.String(), resource.TagResource: "Orders", resource.TagNonce: nonce}}
}

// Changes to a Subject.
func there(changes ...func(*resource.Observation)) func(*Subject) {
	return func(s *Subject) {
		s.Look.Obs = observation()
		if s.Record != nil {
			s.Look.Obs.Key = s.Record.Key
		}
		for _, f := range changes {
			f(s.Look.Obs)
		}
	}
}

func gone(s *Subject)     { s.Look.Obs = nil }
func recently(s *Subject) { s.Record.TouchedAt = now.Add(-time.Second) }

func desired(k string, v any) func(*Subject) {
	return func(s *Subject) { s.Desired = s.Desired.With(k, value.Of(v)) }
}

func undesired(k string) func(*Subject) {
	return func(s *Subject) { s.Desired = s.Desired.Without(k) }
}

func read(k string, v any) func(*resource.Observation) {
	return func(o *resource.Observation) { o.Params = o.Params.With(k, value.Of(v)) }
}

func unread(k string, g resource.GapKind) func(*resource.Observation) {
	return func(o *resource.Observation) {
		o.Params, o.Gaps = o.Params.Without(k), map[value.Path]resource.Gap{value.Path(k): {Kind: g}}
	}
}

func owner(kv ...string) func(*resource.Observation) {
	return func(o *resource.Observation) {
		o.Owner = resource.Tags{}
		for i := 0; i < len(kv); i += 2 {
			o.Owner[kv[i]] = kv[i+1]
		}
	}
}

func identity(id string) func(*resource.Observation) {
	return func(o *resource.Observation) { o.Identity = resource.Identity{UniqueID: id} }
}

func rec(f func(*record.Record)) func(*Subject) { return func(s *Subject) { f(s.Record) } }

func status(st record.Status) func(*Subject) { return rec(func(r *record.Record) { r.Status = st }) }

// policies of the template and of the record.
func policies(del, replace string) func(*Subject) {
	return func(s *Subject) {
		s.Policies = [2]string{del, replace}
		if s.Record != nil {
			s.Record.DeletionPolicy, s.Record.UpdateReplacePolicy = del, replace
		}
	}
}

func adopt(physical string) func(*Subject) { return func(s *Subject) { s.Adopt = &physical } }

func failing(k resource.Kind) func(*Subject) {
	return func(s *Subject) { s.Look.Obs, s.Look.Err = nil, &resource.Error{Kind: k, Op: "GetThing"} }
}

// judged is a create that was never acknowledged, with the verdict on it. Candidates are what was found.
func judged(v recovery.Verdict, candidates ...*resource.Observation) func(*Subject) {
	return func(s *Subject) {
		s.Look.Obs = nil
		s.Record.Status, s.Record.Identity, s.Record.Nonce = record.Creating, resource.Identity{}, ""
		s.Record.Intent = &record.Intent{Nonce: nonce, Key: s.Record.Key, Params: params()}
		f := &recovery.Finding{Verdict: v, Summary: "Summary of it.", Facts: "facts", Auto: true}
		for i, o := range candidates {
			f.Candidates = append(f.Candidates, recovery.Candidate{N: i + 1, Physical: "orders", Observation: o})
		}
		s.Finding = f
	}
}

// constants lists the values of a file's string constants of a type.
func constants(t *testing.T, file, typ string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == typ {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, text)
		}
		return true
	})
	if len(out) == 0 {
		t.Fatalf("no constants of type %s in %s", typ, file)
	}
	return out
}
