package recovery

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/record"
	"reclaim/engine/resource"
)

// orphanView is a stack with a hold and runs.
type orphanView struct {
	memoryView
	hold *record.Hold
	runs []record.Execution
}

func (v orphanView) Hold(record.StackID) (record.Hold, bool, error) {
	if v.hold == nil {
		return record.Hold{}, false, nil
	}
	return *v.hold, true, nil
}
func (v orphanView) Executions(record.StackID) ([]record.Execution, error) { return v.runs, nil }

func of(id string, gen int, s record.Status) record.Record {
	return record.Record{Stack: stack, ID: id, Gen: gen, Type: "T", Status: s, UpdatedAt: t0}
}

// An orphan is what nobody looks after: never what a run is about, nor what nothing is known against.
func TestWhatIsAnOrphan(t *testing.T) {
	dead, alive := &record.Hold{Stack: stack, Execution: "e-1", Owner: record.Owner{Host: "dead"}}, &record.Hold{Stack: stack, Execution: "e-1", Owner: record.Owner{Host: "alive"}}
	far := &record.Hold{Stack: stack, Execution: "e-1", Owner: record.Owner{Host: "far"}}
	all := []record.Record{of("Api", 1, record.Creating), of("Fn", 1, record.Retired), of("Fn", 2, record.Made), of("Logs", 1, record.Made),
		of("Role", 1, record.Adopting), of("Table", 1, record.Deleting), of("Tick", 1, record.Updating)}
	unfinished := []string{"Api 1 unfinished", "Fn 1 replaced", "Role 1 unfinished", "Table 1 deleting"}
	names := &Named{IDs: map[string]bool{"Api": true, "Fn": true, "Tick": true}, Source: "site.yaml"}
	for why, c := range map[string]struct {
		hold  *record.Hold
		runs  []record.Execution
		named *Named
		want  []string
	}{
		"no run, and nothing known of the stack's file": {want: unfinished},
		"a crash left a hold":                           {hold: dead, want: unfinished},
		"a run elsewhere may be dead":                   {hold: far, want: unfinished},
		"a run is under way":                            {hold: alive, named: names},
		"the file names some":                           {named: names, want: []string{"Api 1 unfinished", "Fn 1 replaced", "Logs 1 unnamed", "Role 1 unfinished", "Table 1 deleting"}},
		"the last run destroyed the stack": {runs: []record.Execution{{ID: "e-1", Verb: "deploy"}, {ID: "e-2", Verb: "destroy"}},
			want: []string{"Api 1 unfinished", "Fn 1 replaced", "Fn 2 left", "Logs 1 left", "Role 1 unfinished", "Table 1 deleting", "Tick 1 left"}},
		"a destroy was limited":      {runs: []record.Execution{{ID: "e-2", Verb: "destroy", Only: []string{"Logs"}}}, want: unfinished},
		"a deploy came after":        {runs: []record.Execution{{ID: "e-2", Verb: "destroy"}, {ID: "e-3", Verb: "deploy"}}, want: unfinished},
		"a destroy that crashed has": {hold: dead, runs: []record.Execution{{ID: "e-2", Verb: "destroy"}}, want: unfinished},
	} {
		v := orphanView{memoryView{records: all}, c.hold, c.runs}
		list, err := Orphans(v, stack, c.named, func(o record.Owner) resource.Tri {
			return map[string]resource.Tri{"dead": resource.No, "alive": resource.Yes, "far": resource.Perhaps}[o.Host]
		})
		var got []string
		for _, o := range list {
			got = append(got, fmt.Sprintf("%s %d %s", o.ID, o.Gen, o.Kind))
			if o.Why == "" || o.Since.IsZero() || o.Record == nil {
				t.Errorf("%s: %+v leaves something open", why, o)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" || err != nil {
			t.Errorf("%s: %v %s", why, err, d)
		}
	}
}

// S18: a tombstone is listed even during a run, with who gave it up.
func TestATombstoneIsAnOrphan(t *testing.T) {
	v := orphanView{memoryView: memoryView{tombstones: []record.Tombstone{{Stack: stack, ID: "Api", Type: "T", Gen: 1, Why: "abandoned", Note: "ticket 7", Who: "ann", At: t0}}},
		hold: &record.Hold{Stack: stack}}
	list, err := Orphans(v, stack, nil, func(record.Owner) resource.Tri { return resource.Yes })
	if err != nil || len(list) != 1 || list[0].Kind != OrphanTombstone || list[0].Why != "abandoned: ticket 7, by ann" || list[0].Tombstone == nil {
		t.Errorf("%+v, %v", list, err)
	}
}

// The look for an orphan: proof is a nonce or a unique ID; absence counts in the verified scope, outside the window (S2, S12, S21).
func TestWhatALookForAnOrphanSays(t *testing.T) {
	elsewhere := func() (resource.Scope, error) { s := scope; s.Account = "999999999999"; return s, nil }
	tomb := func(changes ...func(*record.Tombstone)) *record.Tombstone {
		t := &record.Tombstone{Stack: stack, ID: "Orders", Gen: 1, Nonces: []string{"former", nonce}, At: t0}
		for _, f := range changes {
			f(t)
		}
		return t
	}
	byKey := func(k resource.Key, id string) func(*record.Tombstone) {
		return func(t *record.Tombstone) { t.Key, t.Identity = k, resource.Identity{UniqueID: id} }
	}
	name, assigned := resource.Key{"Name": "orders"}, classes["Assigned taggable"]
	named := classes["Named taggable"]
	for why, c := range map[string]struct {
		class  string
		there  []resource.Candidate
		tomb   *record.Tombstone
		rig    func(*rig)
		want   Sight
		object string
	}{
		"its nonce, under an ID nobody knew":      {"Assigned taggable", []resource.Candidate{candidate(assigned, "a1", ourNonce)}, tomb(), nil, SightFound, "a1"},
		"another's nonce":                         {"Assigned taggable", []resource.Candidate{candidate(assigned, "a1", tags(resource.TagNonce, "other"))}, tomb(), nil, SightAbsent, ""},
		"a copy of it, tags and all":              {"Assigned taggable", []resource.Candidate{candidate(assigned, "a1", ourNonce), candidate(assigned, "a2", ourNonce)}, tomb(), nil, SightSeveral, ""},
		"nothing, and nothing to look by":         {"Assigned taggable", nil, tomb(func(t *record.Tombstone) { t.Nonces = nil }), nil, SightUnknown, ""},
		"untaggable without a key":                {"Assigned untaggable", nil, tomb(), nil, SightUnknown, ""},
		"at its name, with its nonce":             {"Named taggable", []resource.Candidate{candidate(named, "X1", ourNonce)}, tomb(byKey(name, "")), nil, SightFound, "orders"},
		"at its name, with its unique ID":         {"Named taggable", []resource.Candidate{candidate(named, "X1")}, tomb(byKey(name, "X1")), nil, SightFound, "orders"},
		"at its name, a successor":                {"Named taggable", []resource.Candidate{candidate(named, "X2")}, tomb(byKey(name, "X1")), nil, SightAnother, ""},
		"at its name, and nobody can tell":        {"Named taggable", []resource.Candidate{candidate(named, "", ownerless)}, tomb(byKey(name, "")), nil, SightAnother, ""},
		"nothing at its name":                     {"Named taggable", nil, tomb(byKey(name, "X1")), nil, SightAbsent, ""},
		"nothing, inside the window":              {"Named taggable", nil, tomb(byKey(name, "X1"), func(t *record.Tombstone) { t.At = hourLater.Add(-time.Second) }), nil, SightEarly, ""},
		"the look was denied":                     {"Named taggable", nil, tomb(byKey(name, "X1")), func(r *rig) { r.err = &resource.Error{Kind: resource.AccessDenied} }, SightUnknown, ""},
		"the credentials lead to another account": {"Named taggable", nil, tomb(byKey(name, "X1")), func(r *rig) { r.verify = elsewhere }, SightUnknown, ""},
		"a type that this version does not know":  {"Named taggable", nil, tomb(func(t *record.Tombstone) { t.Type = "T::Newer" }), nil, SightUnknown, ""},
		"a record of the same resource has it again": {"Named taggable", []resource.Candidate{candidate(named, "X1", ourNonce)}, tomb(byKey(name, "")), func(r *rig) {
			r.view.records = []record.Record{{Stack: stack, ID: "Orders", Gen: 2, Claim: r.schema.Claim(scope, name)}}
		}, SightClaimed, ""},
	} {
		r := &rig{schema: classes[c.class], there: c.there}
		if c.tomb.Type == "" {
			c.tomb.Type = r.schema.Type
		}
		if c.rig != nil {
			c.rig(r)
		}
		s, err := r.gatherer(t).Sight(t.Context(), &Orphan{Stack: stack, ID: "Orders", Gen: 1, Type: c.tomb.Type, Tombstone: c.tomb})
		if err != nil || s.State != c.want || s.Summary == "" || (s.Object != nil) != (c.want == SightFound) || c.object != "" && s.Physical != c.object {
			t.Errorf("%s: %v, got %+v; want %s %s", why, err, s, c.want, c.object)
		}
	}
}

// An unfinished create is judged by the table, whatever the list says of it.
func TestALookForAnUnfinishedCreateGivesTheVerdict(t *testing.T) {
	s := classes["Named taggable"]
	for why, c := range map[string]struct {
		there []resource.Candidate
		want  Sight
	}{
		"ours":     {[]resource.Candidate{candidate(s, "X1", ourTags, ourNonce)}, SightFound},
		"foreign":  {[]resource.Candidate{candidate(s, "X1", otherStore)}, SightAnother},
		"not made": {nil, SightAbsent},
	} {
		r, rec := newRig(t, "Named taggable", c.there...)
		got, err := r.gatherer(t).Sight(t.Context(), &Orphan{Stack: stack, ID: rec.ID, Gen: rec.Gen, Type: rec.Type, Record: &rec})
		if err != nil || got.State != c.want || got.Verdict == "" || len(got.Looks) == 0 {
			t.Errorf("%s: %v, %+v", why, err, got)
		}
	}
}
