package plan

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/template"
	"reclaim/engine/value"
)

// memory is a store of records, for reading.
type memory struct {
	record.Store
	view memoryView
}

func (m memory) Read(_ context.Context, f func(record.View) error) error { return f(m.view) }

type memoryView struct {
	record.View
	records []record.Record
	tombs   []record.Tombstone
	hold    *record.Hold
	others  []record.Record // of other stacks
}

func (memoryView) StoreID() string     { return store }
func (memoryView) Ancestors() []string { return []string{ancestor} }
func (v memoryView) Records(record.StackID) ([]record.Record, []record.BadRecord, error) {
	return slices.Clone(v.records), nil, nil
}
func (v memoryView) Tombstones(record.StackID) ([]record.Tombstone, error) { return v.tombs, nil }
func (v memoryView) Hold(record.StackID) (record.Hold, bool, error) {
	if v.hold == nil {
		return record.Hold{}, false, nil
	}
	return *v.hold, true, nil
}
func (v memoryView) Claimant(claim string) (record.Record, bool, error) {
	for _, r := range slices.Concat(v.records, v.others) {
		if r.Claim == claim {
			return r, true, nil
		}
	}
	return record.Record{}, false, nil
}

// world is what a plan is made in: what there is, by type and physical ID, and what is recorded.
type world struct {
	t      *testing.T
	there  map[string]*resource.Observation
	found  []resource.Candidate // of Assigned types
	looks  []string
	view   memoryView
	verify func() (resource.Scope, error)
}

func (w *world) env() Env {
	providers := map[string]resource.Provider{}
	for _, s := range []*resource.Schema{named, holding, upsert, assigned} {
		p := ProviderFns{schema: s, read: func(k resource.Key) (*resource.Observation, error) {
			w.looks = append(w.looks, s.Physical(k))
			if o := w.there[s.Type+" "+s.Physical(k)]; o != nil {
				return o, nil
			}
			return nil, &resource.Error{Kind: resource.NotFound, Op: "GetThing", ServedAt: now}
		}}
		providers[s.Type] = FinderFns{p, func(resource.Query) ([]resource.Candidate, error) { return w.found, nil }}
	}
	return Env{Store: memory{view: w.view}, Cloud: CloudFns{providers, w.verify}, Sealer: sealer(), Now: func() time.Time { return now }, Parallel: 1}
}

func (w *world) make(text string, o Options) (*Plan, error) {
	w.t.Helper()
	t, err := template.Parse("/srv/orders.yaml", []byte(text))
	if err != nil {
		w.t.Fatal(err)
	}
	g, err := t.Bind(template.Binding{Stack: stack.Name, Scope: stack.Scope, Base: "/srv", Schemas: func(typ string) (*resource.Schema, bool) {
		for _, s := range []*resource.Schema{named, holding, upsert, assigned} {
			if s.Type == typ {
				return s, true
			}
		}
		return nil, false
	}})
	if err != nil {
		w.t.Fatal(err)
	}
	return Make(w.t.Context(), w.env(), g, stack, o)
}

func (w *world) plan(text string) *Plan {
	w.t.Helper()
	p, err := w.make(text, Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// summary is what a plan says of each item, in its order.
func summary(p *Plan) []string {
	var out []string
	for _, it := range p.Items {
		line := fmt.Sprintf("%s %d %s", it.ID, it.Gen, it.Action)
		if it.Reason != "" {
			line += ": " + string(it.Reason)
		}
		out = append(out, line)
	}
	return out
}

// resources is a template of one line each: ID, type, properties, and more.
func resources(lines ...string) string { return "Resources:\n  " + strings.Join(lines, "\n  ") + "\n" }

func thing(id, typ, properties string, more ...string) string {
	return fmt.Sprintf("%s: {Type: %s, Properties: {%s}%s}", id, typ, properties, strings.Join(append([]string{""}, more...), ", "))
}

func made(id string, s *resource.Schema, name string, dependsOn ...record.Ref) record.Record {
	key := resource.Key{"Name": name}
	return record.Record{Stack: stack, ID: id, Type: s.Type, Gen: 1, Rev: 1, Status: record.Made, Key: key, Physical: name, Claim: s.Claim(stack.Scope, key),
		Identity: resource.Identity{UniqueID: "U1"}, Nonce: nonce, Params: value.Map{"Name": value.Of(name)}, Output: observation().Output, DependsOn: dependsOn, TouchedAt: now.Add(-time.Hour)}
}

func object(name string) *resource.Observation {
	o := observation()
	o.Key, o.Params = resource.Key{"Name": name}, value.Map{"Name": value.Of(name)}
	return o
}

func TestAPlanIsInTheOrderOfDependencies(t *testing.T) {
	w := &world{t: t}
	p := w.plan(resources(thing("A", "Test::Named", "Name: a, Note: !Ref B"), thing("B", "Test::Named", "Name: b")))
	if d := cmp.Diff([]string{"B 1 create", "A 1 create"}, summary(p)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if note := p.Item("A", 0).Desired["Note"]; note.Reveal() != "b" {
		t.Errorf("a name is known before it is made; got %v", note)
	}
}

// S3: two resources of one key are both blocked, and what depends on them is, however it came to be known.
func TestOneNameForTwoIsBlocked(t *testing.T) {
	for why, c := range map[string]struct {
		w    world
		text string
		want []string
	}{
		"both would be made": {text: resources(thing("A", "Test::Named", "Name: x"), thing("B", "Test::Named", "Name: x"),
			thing("C", "Test::Named", "Name: c, Note: !GetAtt A.Arn"), thing("D", "Test::Named", "Name: d")),
			want: []string{"A 1 blocked: claimed twice", "B 1 blocked: claimed twice", "C 1 blocked: dependency blocked", "D 1 create"}},
		"three would be": {text: resources(thing("A", "Test::Named", "Name: x"), thing("B", "Test::Named", "Name: x"), thing("C", "Test::Named", "Name: x")),
			want: []string{"A 1 blocked: claimed twice", "B 1 blocked: claimed twice", "C 1 blocked: claimed twice"}},
		"of two types it is two names": {text: resources(thing("A", "Test::Named", "Name: x"), thing("B", "Test::Holding", "Name: x")),
			want: []string{"A 1 create", "B 1 create"}},
		"what has it already goes on": {w: world{there: map[string]*resource.Observation{"Test::Named x": object("x")},
			view: memoryView{records: []record.Record{made("B", named, "x")}}},
			text: resources(thing("A", "Test::Named", "Name: x"), thing("B", "Test::Named", "Name: x")),
			want: []string{"A 1 blocked: claimed twice", "B 1 noop"}},
		"another stack's record has it, though nothing is there": {w: world{view: memoryView{others: []record.Record{made("Else", named, "x")}}},
			text: resources(thing("A", "Test::Named", "Name: x"), thing("C", "Test::Named", "Name: c", "DependsOn: A")),
			want: []string{"A 1 blocked: claimed twice", "C 1 blocked: dependency blocked"}},
	} {
		t.Run(why, func(t *testing.T) {
			c.w.t = t
			p := c.w.plan(c.text)
			if d := cmp.Diff(c.want, summary(p)); d != "" {
				t.Errorf("(-want +got):\n%s\n%+v", d, p.Items)
			}
		})
	}
}

// S38, and what depends on what is blocked.
func TestWhatIsFoundWhileItsDependencyIsAbsentIsBlocked(t *testing.T) {
	text := resources(thing("A", "Test::Named", "Name: a"), thing("B", "Test::Named", "Name: b", "DependsOn: A"), thing("C", "Test::Named", "Name: c", "DependsOn: B"))
	found := map[string]*resource.Observation{"Test::Named b": object("b")}
	w := &world{t: t, there: found}
	if d := cmp.Diff([]string{"A 1 create", "B 1 blocked: dependency absent", "C 1 blocked: dependency blocked"}, summary(w.plan(text))); d != "" {
		t.Errorf("never recorded (-want +got):\n%s", d)
	}
	w = &world{t: t, there: found, view: memoryView{records: []record.Record{made("A", named, "a"), made("B", named, "b", record.Ref{ID: "A", Gen: 2})}}}
	if d := cmp.Diff([]string{"A 2 create", "B 1 noop", "C 1 create"}, summary(w.plan(text))); d != "" {
		t.Errorf("recorded, and gone (-want +got):\n%s", d)
	}
}

// S2: nothing is absent where the credentials lead elsewhere.
func TestALookElsewhereSaysNothing(t *testing.T) {
	elsewhere := stack.Scope
	elsewhere.Account = "999999999999"
	w := &world{t: t, verify: func() (resource.Scope, error) { return elsewhere, nil }}
	p := w.plan(resources(thing("A", "Test::Named", "Name: a"), thing("B", "Test::Assigned", "Name: b")))
	for _, it := range p.Items {
		if it.Reason != Denied || !strings.Contains(it.Detail, "999999999999/eu-west-1, not to 123456789012/eu-west-1") {
			t.Errorf("%s is %s %s: %s", it.ID, it.Action, it.Reason, it.Detail)
		}
	}
	if len(w.looks) > 0 {
		t.Errorf("it looked at %v all the same", w.looks)
	}
	moved := 0 // the account changes between the look and its answer
	w.verify = func() (resource.Scope, error) {
		if moved++; moved > 1 {
			return elsewhere, nil
		}
		return stack.Scope, nil
	}
	if it := w.plan(resources(thing("A", "Test::Named", "Name: a"))).Item("A", 0); it.Reason != Denied {
		t.Errorf("absence counted after the account changed: %+v", it)
	}
}

// S5: what carries our tags is ours; what is merely there is written down for the intent.
func TestAssignedTypesAreLookedForByTheirTags(t *testing.T) {
	candidate := func(id string, ours bool) resource.Candidate {
		o := observation()
		o.Key, o.Identity = resource.Key{"Id": id}, resource.Identity{UniqueID: id}
		return resource.Candidate{Observation: *o, ByTags: ours, ByName: !ours}
	}
	w := &world{t: t, found: []resource.Candidate{candidate("U1", false), candidate("U2", true)}}
	env := w.env()
	p, _ := env.Cloud.Provider("Test::Assigned")
	l := Search(t.Context(), env.Cloud, p, stack.Scope, resource.Query{})
	if len(l.Ours) != 1 || l.Ours[0].Identity.UniqueID != "U2" || !slices.Equal(l.Existing, []string{"U1", "U2"}) || l.Obs != nil || !l.At.Equal(now) {
		t.Errorf("%+v", l)
	}
	if it := w.plan(resources(thing("Orders", "Test::Assigned", "Name: orders, Shape: round, Size: 3"))).Item("Orders", 0); it.Action != Reclaim || it.Physical != "U2" {
		t.Errorf("%+v", it)
	}
	cannot := ProviderFns{schema: named}
	if l := Search(t.Context(), env.Cloud, cannot, stack.Scope, resource.Query{}); l.Err != nil || len(l.Existing) > 0 {
		t.Errorf("a type that cannot be searched: %+v", l)
	}
}

func TestOnlyWhatTheTemplateNamesIsTakenOver(t *testing.T) {
	_, err := (&world{t: t}).make(resources(thing("A", "Test::Named", "Name: a")), Options{Adopt: map[string]string{"B": ""}})
	if err == nil || !strings.Contains(err.Error(), "--adopt B: the template has no such resource") {
		t.Errorf("got %v", err)
	}
}

func TestRemovalsComeAfterTheirDependents(t *testing.T) {
	w := &world{t: t, there: map[string]*resource.Observation{"Test::Named a": object("a"), "Test::Named b": object("b"), "Test::Named c": object("c")},
		view: memoryView{records: []record.Record{made("A", named, "a"), made("B", named, "b", record.Ref{ID: "A", Gen: 1}), made("C", named, "c", record.Ref{ID: "B", Gen: 1})}}}
	p, err := MakeDestroy(t.Context(), w.env(), stack)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"C 1 delete", "B 1 delete", "A 1 delete"}, summary(p)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	w.there["Test::Named b"] = nil
	w.view.records[1].DeletionPolicy = record.PolicySnapshot
	if p, err = MakeDestroy(t.Context(), w.env(), stack); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"C 1 delete", "B 1 blocked: unsupported", "A 1 blocked: dependency blocked"}, summary(p)); d != "" {
		t.Errorf("with one blocked (-want +got):\n%s", d)
	}
}

func TestEachRemovalWaitsForItsDependents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "n")
		items := make([]Item, n)
		for i := range items {
			items[i] = Item{ID: fmt.Sprint(rapid.IntRange(0, n).Draw(t, "id")), Gen: i + 1}
		}
		for i := range items { // what it waits for: later ones by ID, so that nothing waits for itself
			for _, other := range items {
				if other.ID > items[i].ID && rapid.Bool().Draw(t, "waits") {
					items[i].DependsOn = append(items[i].DependsOn, other.ID)
				}
			}
		}
		out := afterDependents(items)
		at, seen := map[string]int{}, map[int]bool{}
		for i, it := range out {
			at[it.ID], seen[it.Gen] = i, true // the last of an ID
		}
		if len(out) != n || len(seen) != n {
			t.Fatalf("%d items became %d", n, len(out))
		}
		for i, it := range out {
			for _, d := range it.DependsOn {
				if at[d] > i {
					t.Fatalf("%s is removed before %s, which depends on it: %v", it.ID, d, out)
				}
			}
		}
		if !slices.ContainsFunc(items, func(it Item) bool { return len(it.DependsOn) > 0 }) {
			for i, it := range out {
				if it.Gen != n-i {
					t.Fatalf("where nothing waits, the newest goes first; got %v", out)
				}
			}
		}
	})
}

func TestTheIndexKnowsTheCurrentGenerationAndTheHighest(t *testing.T) {
	s := State{Records: []record.Record{
		{ID: "A", Gen: 1, Status: record.Retired}, {ID: "A", Gen: 2, Status: record.Made}, {ID: "A", Gen: 3, Status: record.Creating},
		{ID: "B", Gen: 3, Status: record.Retired}, {ID: "B", Gen: 4, Status: record.Retired},
	}, Tombs: []record.Tombstone{{ID: "B", Gen: 6}, {ID: "C", Gen: 2}}}
	ix := s.Index()
	if c := ix.Current("A"); c == nil || c.Gen != 3 || ix.Last("A") != 3 {
		t.Errorf("A: %+v, last %d", c, ix.Last("A"))
	}
	if c := ix.Current("B"); c == nil || c.Gen != 4 || ix.Last("B") != 6 { // S23: its replacement was given up
		t.Errorf("B: %+v, last %d", c, ix.Last("B"))
	}
	for id, want := range map[string]int{"C": 2, "D": 0} {
		if ix.Current(id) != nil || ix.Last(id) != want {
			t.Errorf("%s: %+v, last %d; want none, %d", id, ix.Current(id), ix.Last(id), want)
		}
	}
}

func TestCountsAndItems(t *testing.T) {
	p := &Plan{Items: []Item{{ID: "A", Gen: 2, Action: Replace}, {ID: "A", Gen: 1, Action: Delete}, {ID: "B", Gen: 1, Action: Noop}}}
	if d := cmp.Diff(map[Action]int{Replace: 1, Delete: 1, Noop: 1}, p.Counts()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if p.Item("A", 0).Gen != 2 || p.Item("A", 1).Action != Delete || p.Item("A", 3) != nil || p.Item("C", 0) != nil {
		t.Error("items are found by ID and generation, 0 meaning the highest")
	}
	if n := len(slices.Sorted(maps.Keys(p.Counts()))); n != 3 {
		t.Errorf("%d actions", n)
	}
}
