package recovery

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// ProviderFns is a provider that only reads; what it is not given it must not be asked.
type ProviderFns struct {
	resource.Provider
	schema *resource.Schema
	read   func(resource.Key) (*resource.Observation, error)
}

func (p ProviderFns) Schema() *resource.Schema { return p.schema }
func (p ProviderFns) Read(_ context.Context, k resource.Key) (*resource.Observation, error) {
	return p.read(k)
}

// FinderFns can search as well.
type FinderFns struct {
	ProviderFns
	find func(resource.Query) ([]resource.Candidate, error)
}

func (p FinderFns) Find(_ context.Context, q resource.Query) ([]resource.Candidate, error) {
	return p.find(q)
}

// CloudFns has one provider.
type CloudFns struct {
	provider resource.Provider
	verify   func() (resource.Scope, error)
}

func (c CloudFns) Provider(typ string) (resource.Provider, bool) {
	return c.provider, typ == c.provider.Schema().Type
}
func (c CloudFns) Verify(context.Context) (resource.Scope, error) {
	if c.verify == nil {
		return scope, nil
	}
	return c.verify()
}
func (c CloudFns) Machine() string { return "machine-1" }

// memory is a store that can only be read.
type memory struct {
	record.Store
	view memoryView
	err  error
}

func (m memory) Read(_ context.Context, f func(record.View) error) error {
	if m.err != nil {
		return m.err
	}
	return f(m.view)
}

type memoryView struct {
	record.View
	records    []record.Record
	tombstones []record.Tombstone
	evidence   []record.Evidence
	steps      []record.Step
}

func (memoryView) StoreID() string                   { return store }
func (memoryView) Ancestors() []string               { return nil }
func (memoryView) Stacks() ([]record.StackID, error) { return []record.StackID{stack}, nil }
func (v memoryView) Records(record.StackID) ([]record.Record, []record.BadRecord, error) {
	return slices.Clone(v.records), nil, nil
}
func (v memoryView) Record(_ record.StackID, id string, gen int) (record.Record, bool, error) {
	for _, r := range v.records {
		if r.ID == id && r.Gen == gen {
			return r, true, nil
		}
	}
	return record.Record{}, false, nil
}
func (v memoryView) Claimant(claim string) (record.Record, bool, error) {
	for _, r := range v.records {
		if r.Claim != "" && r.Claim == claim {
			return r, true, nil
		}
	}
	return record.Record{}, false, nil
}
func (v memoryView) Tombstones(record.StackID) ([]record.Tombstone, error) {
	return slices.Clone(v.tombstones), nil
}
func (v memoryView) Evidence(record.StackID) ([]record.Evidence, error) {
	return slices.Clone(v.evidence), nil
}
func (v memoryView) Steps(record.StackID, uint64, int) ([]record.Step, error) { return v.steps, nil }

// rig is a Gatherer with what it reads.
type rig struct {
	schema *resource.Schema
	view   memoryView
	there  []resource.Candidate // readable at their keys
	finds  []resource.Query
	reads  []resource.Key
	err    error // of reads and searches
	verify func() (resource.Scope, error)
	store  error
}

func (r *rig) gatherer(t *testing.T) *Gatherer {
	p := ProviderFns{schema: r.schema, read: func(k resource.Key) (*resource.Observation, error) {
		r.reads = append(r.reads, k)
		if r.err != nil {
			return nil, r.err
		}
		for _, c := range r.there {
			if c.Key.Equal(k) {
				return &c.Observation, nil
			}
		}
		return nil, &resource.Error{Kind: resource.NotFound, Op: "GetThing", ServedAt: hourLater}
	}}
	var provider resource.Provider = p
	if !r.schema.KeyByParams() {
		provider = FinderFns{ProviderFns: p, find: func(q resource.Query) ([]resource.Candidate, error) {
			r.finds = append(r.finds, q)
			var out []resource.Candidate
			for _, c := range r.there {
				c.ByNonce, c.ByName = q.Nonce != "" && c.Owner[resource.TagNonce] == q.Nonce, q.Like != nil
				if c.ByNonce || c.ByName {
					out = append(out, c)
				}
			}
			return out, r.err
		}}
	}
	return &Gatherer{Store: memory{view: r.view, err: r.store}, Cloud: CloudFns{provider: provider, verify: r.verify}, Sealer: sealer(t),
		Now: func() time.Time { return hourLater }}
}

func newRig(t *testing.T, class string, there ...resource.Candidate) (*rig, record.Record) {
	s := classes[class]
	rec := evidence(t, s).Record
	return &rig{schema: s, there: there, view: memoryView{records: []record.Record{rec}}}, rec
}

func judged(t *testing.T, r *rig, rec record.Record) Finding {
	t.Helper()
	e, err := r.gatherer(t).Gather(t.Context(), rec, true)
	if err != nil {
		t.Fatal(err)
	}
	return Judge(e)
}

func TestGatherReadsAtTheKey(t *testing.T) {
	r, rec := newRig(t, "Named taggable", candidate(classes["Named taggable"], "X1", ourTags, ourNonce))
	f := judged(t, r, rec)
	if f.Row != "2" || len(r.finds) != 0 {
		t.Errorf("row %s, searches %v", f.Row, r.finds)
	}
	want := []record.Look{{Call: "GetThing", At: hourLater, Result: "orders is there"}}
	if d := cmp.Diff(want, f.Looks); d != "" {
		t.Errorf("looks: %s", d)
	}
}

// crash-021: a name we chose can be read, so nobody has to be asked when nothing is there.
func TestAbsentByName(t *testing.T) {
	r, rec := newRig(t, "Upsert taggable")
	if f := judged(t, r, rec); f.Row != "12" || !f.Auto || f.Default != record.Retry {
		t.Errorf("row %s, default %s", f.Row, f.Default)
	}
}

// crash-001: the create's answer was lost; the ownership tag finds the one candidate, a name alone would not.
func TestAssignedIsFoundByNonce(t *testing.T) {
	s := classes["Assigned taggable"]
	r, rec := newRig(t, "Assigned taggable", candidate(s, "a1b2c3", ourTags, ourNonce), candidate(s, "d4e5f6"))
	f := judged(t, r, rec)
	if f.Row != "2" || len(f.Candidates) != 1 || f.Candidates[0].Physical != "a1b2c3" || len(f.Namesakes) != 1 {
		t.Errorf("row %s, candidates %+v, namesakes %+v", f.Row, f.Candidates, f.Namesakes)
	}
	if _, retry := f.Option(record.Retry, ""); retry {
		t.Error("a second create is offered")
	}
}

// S15, S18: what earlier intents and tombstones of the resource sent stays searchable.
func TestEveryNonceIsSearched(t *testing.T) {
	r, rec := newRig(t, "Assigned taggable")
	rec.Former = []record.Intent{{Nonce: "former"}}
	r.view.tombstones = []record.Tombstone{{ID: "Orders", Type: rec.Type, Nonces: []string{"buried"}}, {ID: "Else", Type: rec.Type, Nonces: []string{"not mine"}}}
	judged(t, r, rec)
	var nonces []string
	for _, q := range r.finds {
		nonces = append(nonces, q.Nonce)
	}
	if d := cmp.Diff([]string{nonce, "former", "buried"}, nonces); d != "" {
		t.Error(d)
	}
	if q := r.finds[0]; q.Stack != stack.String() || q.Resource != "Orders" || !value.Equal(value.OfMap(q.Like), value.OfMap(params())) {
		t.Errorf("first query %+v", q)
	}
}

// crash-010, crash-009: a denied read is no absence.
func TestDeniedLook(t *testing.T) {
	for class := range classes {
		r, rec := newRig(t, class)
		r.err = &resource.Error{Kind: resource.AccessDenied, Op: "GetThing"}
		f := judged(t, r, rec)
		if f.Row != "0" || f.Auto || len(f.Looks) == 0 || f.Looks[0].Result != "access denied" {
			t.Errorf("%s: row %s, looks %v", class, f.Row, f.Looks)
		}
	}
}

// S2
func TestAnotherPlace(t *testing.T) {
	elsewhere := resource.Scope{Partition: "aws", Account: "123456789012", Region: "us-east-1"}
	calls := 0
	for name, verify := range map[string]func() (resource.Scope, error){
		"from the start": func() (resource.Scope, error) { return elsewhere, nil },
		"since the refresh": func() (resource.Scope, error) {
			calls++
			return map[bool]resource.Scope{true: scope, false: elsewhere}[calls == 1], nil
		},
		"unknown": func() (resource.Scope, error) { return resource.Scope{}, &resource.Error{Kind: resource.Expired} },
	} {
		t.Run(name, func(t *testing.T) {
			r, rec := newRig(t, "Named taggable")
			r.verify = verify
			if f := judged(t, r, rec); f.Row != "0" {
				t.Errorf("row %s: absence counted", f.Row)
			}
		})
	}
}

func TestAnotherMachine(t *testing.T) {
	s := *classes["Named untaggable"]
	s.Local, s.Key = true, []string{"Machine", "Name"}
	rec := evidence(t, &s).Record
	rec.Intent.Key = resource.Key{"Machine": "machine-2", "Name": "orders"}
	r := &rig{schema: &s, verify: func() (resource.Scope, error) { return resource.Scope{}, errors.New("a local type needs no cloud") }}
	if f := judged(t, r, rec); f.Row != "0" || len(r.reads) != 0 {
		t.Errorf("row %s, reads %v", f.Row, r.reads)
	}
	rec.Intent.Key["Machine"] = "machine-1"
	if f := judged(t, r, rec); f.Row != "12" {
		t.Errorf("on its own machine: row %s", f.Row)
	}
}

// exists-003: another live record's object is never taken.
func TestClaimedByAnother(t *testing.T) {
	s := classes["Named taggable"]
	r, rec := newRig(t, "Named taggable", candidate(s, "X1"))
	r.view.records = append(r.view.records, record.Record{Stack: record.StackID{Name: "y", Scope: scope}, ID: "Theirs", Gen: 1, Status: record.Made,
		Claim: s.Claim(scope, resource.Key{"Name": "orders"})})
	if f := judged(t, r, rec); f.Row != "a" {
		t.Errorf("row %s", f.Row)
	}
	r.view.records[1].Stack, r.view.records[1].ID = stack, "Orders" // the record itself is no stranger
	if f := judged(t, r, rec); f.Row != "7" {
		t.Errorf("claimed by itself: row %s", f.Row)
	}
}

// S13
func TestTwinsFitOneObject(t *testing.T) {
	r, rec := newRig(t, "Assigned untaggable", candidate(classes["Assigned untaggable"], "X1"))
	r.view.records[0].Intent.Params = params().With("Parent", value.Of("api-1"))
	twin := r.view.records[0]
	rec = r.view.records[0]
	r.there[0].Params = rec.Intent.Params
	twin.ID = "Twin"
	r.view.records = append(r.view.records, twin)
	if f := judged(t, r, rec); f.Row != "6" {
		t.Errorf("row %s", f.Row)
	}
	i := *twin.Intent
	i.Params = i.Params.With("Parent", value.Of("api-2"))
	r.view.records[1].Intent = &i
	if f := judged(t, r, rec); f.Row != "5" {
		t.Errorf("under another parent: row %s", f.Row)
	}
}

func TestRetiredGenerationIsKnown(t *testing.T) {
	r, rec := newRig(t, "Named taggable", candidate(classes["Named taggable"], "X1", ourTags))
	r.view.records = append(r.view.records, record.Record{Stack: stack, ID: "Orders", Gen: 1, Status: record.Retired,
		Identity: resource.Identity{UniqueID: "X1"}, DeleteSent: hourLater})
	if f := judged(t, r, rec); f.Row != "d" || !f.Auto {
		t.Errorf("row %s", f.Row)
	}
}

// S34: an acknowledgement that came in outside a hold leads to the object; what it is, its tags say.
func TestStrayAcknowledgement(t *testing.T) {
	s := classes["Assigned taggable"]
	r, rec := newRig(t, "Assigned taggable", candidate(s, "X7", ourTags, ourNonce))
	r.view.evidence = []record.Evidence{{ID: "Orders", Gen: 2, Key: resource.Key{"Id": "X7"}, Identity: resource.Identity{UniqueID: "X7"},
		Execution: "e-1", Source: "stale holder"}}
	find := r.gatherer(t)
	cloud := find.Cloud.(CloudFns)
	finder := cloud.provider.(FinderFns)
	finder.find = func(resource.Query) ([]resource.Candidate, error) { return nil, nil } // the index lags
	find.Cloud = CloudFns{provider: finder}
	e, err := find.Gather(t.Context(), rec, true)
	if err != nil {
		t.Fatal(err)
	}
	f := Judge(e)
	if f.Row != "2" || !slices.ContainsFunc(f.Lines, func(l Line) bool { return l.Source == "stale holder" && l.Side == For }) {
		t.Errorf("row %s, lines %+v", f.Row, f.Lines)
	}
}

// S15
func TestEnteredIDIsJudged(t *testing.T) {
	s := classes["Assigned taggable"]
	r, rec := newRig(t, "Assigned taggable", candidate(s, "X1"), candidate(s, "X2", otherStore))
	for id, want := range map[string]string{"X1": "7", "X2": "b", "X3": "14"} {
		e, err := r.gatherer(t).Enter(t.Context(), rec, id)
		if err != nil {
			t.Fatal(err)
		}
		if f := Judge(e); f.Row != want {
			t.Errorf("%s: row %s, want %s", id, f.Row, want)
		}
	}
	if _, err := r.gatherer(t).Enter(t.Context(), rec, "a|b"); err == nil {
		t.Error("a text that is no ID was looked up")
	}
}

// S37, DESIGN §9: from the store alone, nothing is asked.
func TestWithoutALook(t *testing.T) {
	r, rec := newRig(t, "Named taggable", candidate(classes["Named taggable"], "X1", ourNonce))
	r.verify = func() (resource.Scope, error) { t.Error("the cloud was asked"); return scope, nil }
	e, err := r.gatherer(t).Gather(t.Context(), rec, false)
	if err != nil {
		t.Fatal(err)
	}
	if f := Judge(e); f.Row != "0" || len(r.reads) != 0 || f.Class != resource.Named {
		t.Errorf("row %s, reads %v, class %q", f.Row, r.reads, f.Class)
	}
	g := r.gatherer(t)
	g.Cloud = nil
	if e, err = g.Gather(t.Context(), rec, true); err != nil || Judge(e).Row != "0" {
		t.Errorf("without a cloud: %v", err)
	}
}

// crash-023: order is the journal's, not the clock's.
func TestSurveyInJournalOrder(t *testing.T) {
	r, rec := newRig(t, "Upsert taggable")
	second, done, acked := rec, rec, rec
	second.ID, second.Seq = "Second", 90
	done.ID, done.Status = "Done", record.Made
	acked.ID, acked.Status, acked.Seq = "Acked", record.Acknowledged, 200
	r.view.records = []record.Record{rec, second, done, acked}
	r.view.steps = []record.Step{{Seq: 12, ID: "Second", Gen: 2, Name: record.StepCreating("Second", 2)}}
	list, err := r.gatherer(t).Survey(t.Context(), stack, true)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, f := range list {
		ids = append(ids, f.ID)
	}
	if d := cmp.Diff([]string{"Second", "Orders", "Acked"}, ids); d != "" {
		t.Error(d)
	}
	if m := list[0].Timeline[0]; m.Seq != 12 {
		t.Errorf("the journal's number of the intent: %+v", m)
	}
}

func TestStoreThatCannotBeRead(t *testing.T) {
	r, rec := newRig(t, "Named taggable")
	r.store = record.ErrLocked
	if _, err := r.gatherer(t).Gather(t.Context(), rec, true); !errors.Is(err, record.ErrLocked) {
		t.Errorf("gather: %v", err)
	}
	if _, err := r.gatherer(t).Survey(t.Context(), stack, true); !errors.Is(err, record.ErrLocked) {
		t.Errorf("survey: %v", err)
	}
}
