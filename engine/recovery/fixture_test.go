package recovery

import (
	"testing"
	"time"

	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// The clock of every test: the intent is written at t0, sent a moment later, and looked at an hour later, when every
// window has passed.
var (
	t0        = time.Date(2026, 3, 1, 14, 1, 7, 0, time.UTC)
	hourLater = t0.Add(time.Hour)
	scope     = resource.Scope{Partition: "aws", Account: "123456789012", Region: "eu-west-1"}
	stack     = record.StackID{Name: "orders-prod", Scope: scope}
)

const (
	nonce  = "5f0e11c2b8d9a1"
	store  = "store-1"
	window = 30 * time.Second
)

// classes are the identity classes that the table distinguishes.
var classes = map[string]*resource.Schema{
	"Named taggable":      class(resource.Named, resource.TagList, "Name"),
	"Named untaggable":    class(resource.Named, resource.NoTags, "Name"),
	"natural key":         class(resource.Named, resource.TagList, "Id"),
	"Upsert taggable":     class(resource.Upsert, resource.TagList, "Name"),
	"Upsert untaggable":   class(resource.Upsert, resource.NoTags, "Name"),
	"Token":               class(resource.Token, resource.TagList, "Id"),
	"Assigned taggable":   class(resource.Assigned, resource.TagList, "Id"),
	"Assigned untaggable": class(resource.Assigned, resource.NoTags, "Id"),
}

func class(c resource.Class, tags resource.TagStyle, key string) *resource.Schema {
	return &resource.Schema{Type: "Test::" + string(c), Identity: c, Tags: tags, Key: []string{key}, Window: window, TokenLife: 36 * time.Hour,
		Params: []resource.Field{{Name: "Name", Type: resource.TString, Mode: resource.KeyParam},
			{Name: "Size", Type: resource.TInt}, {Name: "Shape", Type: resource.TString, Mode: resource.Immutable},
			{Name: "Parent", Type: resource.TString}},
		Outputs: []resource.Output{{Name: "Id"}}, Parent: []string{"Parent"}}
}

func sealer(t testing.TB) value.Sealer {
	t.Helper()
	s, err := value.NewSealer([]byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func params() value.Map {
	return value.Map{"Name": value.Of("orders"), "Size": value.Of(3), "Shape": value.Of("round")}
}

// evidence is an unfinished create of the class whose one attempt got no answer, looked at an hour later: nothing is
// there. Changes make it another.
func evidence(t testing.TB, s *resource.Schema, changes ...func(*Evidence)) Evidence {
	t.Helper()
	intent := &record.Intent{Nonce: nonce, Execution: "e-1", At: t0, Params: params(),
		Preflight: record.Preflight{At: t0.Add(-time.Second), Absent: true, Source: "GetThing"},
		Attempts:  []record.Attempt{{N: 1, SentAt: t0, Outcome: record.Going}}}
	if s.KeyByParams() {
		intent.Key = resource.Key{"Name": "orders"}
	}
	if s.Identity == resource.Token {
		intent.Token = "token-1"
	}
	e := Evidence{Schema: s, StoreID: store, Ancestors: []string{"store-0"}, Now: hourLater, Sealer: sealer(t), Looked: true,
		Record: record.Record{Stack: stack, ID: "Orders", Type: s.Type, Gen: 2, Rev: 7, Seq: 118, Status: record.Creating, Intent: intent},
		Looks:  []record.Look{{Call: "GetThing", At: hourLater, Result: "orders is absent"}}}
	for _, c := range changes {
		c(&e)
	}
	return e
}

// candidate is what a read of the class returned; made half a minute after the intent, equal to what was sent.
func candidate(s *resource.Schema, id string, changes ...func(*resource.Candidate)) resource.Candidate {
	c := resource.Candidate{Observation: resource.Observation{Params: params(), Identity: resource.Identity{UniqueID: id},
		CreatedAt: t0.Add(30 * time.Second), ServedAt: hourLater, Owner: resource.Tags{}, Ready: true,
		Sources: map[string]string{"object": "GetThing", "tags": "ListThingTags"}}}
	c.Key = resource.Key{"Name": "orders"}
	if !s.KeyByParams() {
		c.Key = resource.Key{"Id": id}
	}
	for _, f := range changes {
		f(&c)
	}
	return c
}

// Changes to a candidate.
func tags(kv ...string) func(*resource.Candidate) {
	return func(c *resource.Candidate) {
		for i := 0; i < len(kv); i += 2 {
			c.Owner[kv[i]] = kv[i+1]
		}
	}
}

var (
	ourTags    = tags(resource.TagStore, store, resource.TagStack, stack.String(), resource.TagResource, "Orders")
	ourNonce   = tags(resource.TagNonce, nonce)
	otherStore = tags(resource.TagStore, "store-9", resource.TagStack, "theirs", resource.TagResource, "Theirs")
	cfn        = tags("aws:cloudformation:stack-name", "other")
	older      = func(c *resource.Candidate) { c.CreatedAt = t0.Add(-time.Hour) }
	resized    = func(c *resource.Candidate) { c.Params = c.Params.With("Size", value.Of(9)) }
	reshaped   = func(c *resource.Candidate) { c.Params = c.Params.With("Shape", value.Of("square")) }
	ownerless  = func(c *resource.Candidate) { c.Owner = nil }
)

// Changes to evidence.
func one(changes ...func(*resource.Candidate)) func(*Evidence) {
	return func(e *Evidence) { e.Candidates = append(e.Candidates, candidate(e.Schema, "X1", changes...)) }
}

func two(changes ...func(*resource.Candidate)) func(*Evidence) {
	return func(e *Evidence) {
		e.Candidates = append(e.Candidates, candidate(e.Schema, "X2", changes...))
		e.Candidates[len(e.Candidates)-1].Key["Name"] = "orders-2"
		if !e.Schema.KeyByParams() {
			delete(e.Candidates[len(e.Candidates)-1].Key, "Name")
		}
	}
}

func outcomes(list ...record.Outcome) func(*Evidence) {
	return func(e *Evidence) {
		e.Record.Intent.Attempts = nil
		for i, o := range list {
			e.Record.Intent.Attempts = append(e.Record.Intent.Attempts, record.Attempt{N: i + 1, SentAt: t0, Outcome: o, Code: "ThingExists"})
		}
	}
}

func at(now time.Time) func(*Evidence) {
	return func(e *Evidence) { e.Now, e.Looks[0].At = now, now }
}

func claimed(e *Evidence) {
	for _, c := range e.Candidates {
		if e.Claims == nil {
			e.Claims = map[string]record.Record{}
		}
		e.Claims[e.Schema.Physical(c.Key)] = record.Record{Stack: stack, ID: "Other", Gen: 1, Status: record.Made, Claim: "claim"}
	}
}

func retired(policy string, deleteSent time.Time) func(*Evidence) {
	return func(e *Evidence) {
		e.Retired = []record.Record{{ID: "Orders", Gen: 1, Status: record.Retired, Identity: resource.Identity{UniqueID: "X1"},
			UpdateReplacePolicy: policy, DeleteSent: deleteSent}}
	}
}

func acknowledged(e *Evidence) {
	e.Record.Status, e.Record.AckedAt = record.Acknowledged, t0
	e.Record.Key, e.Record.Physical = resource.Key{"Name": "orders", "Id": "X1"}, "orders"
	outcomes(record.Confirmed)(e)
}

func adopting(id string) func(*Evidence) {
	return func(e *Evidence) {
		e.Record.Status, e.Record.Intent, e.Record.Identity = record.Adopting, nil, resource.Identity{UniqueID: id}
	}
}

func seen(ids ...string) func(*Evidence) {
	return func(e *Evidence) {
		e.Record.Intent.Preflight = record.Preflight{At: t0.Add(-time.Second), Existing: ids, Source: "ListThings"}
		if len(ids) == 1 && e.Schema.KeyByParams() {
			e.Record.Intent.Preflight = record.Preflight{At: t0.Add(-time.Second), Identity: &resource.Identity{UniqueID: ids[0]}}
		}
	}
}

func rival(e *Evidence) {
	e.Rivals = []record.Record{{Stack: stack, ID: "Twin", Type: e.Schema.Type, Status: record.Creating, Intent: &record.Intent{Params: params()}}}
}

func denied(e *Evidence) {
	e.LookErr = &resource.Error{Kind: resource.AccessDenied, Op: "GetThing", Code: "AccessDenied"}
}
