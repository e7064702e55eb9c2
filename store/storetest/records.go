package storetest

import (
	"errors"
	"strings"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/record"
	"reclaim/engine/value"
)

// records are claims about records and what commits with them (SAFETY S6, S8).
var records = map[string]func(*fixture){
	"a record comes back as it was written, with its step": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		r := role(orders, "A", 1, "iam/A")
		f.must(f.put(fence, &r))
		if d := cmp.Diff([]record.Record{r}, f.records(orders)); d != "" {
			f.Error(d)
		}
		want := []record.Step{{Seq: r.Seq, At: now, Execution: "x1", Epoch: fence.Epoch, Stack: orders, ID: "A", Gen: 1,
			Name: "state:persist:A"}}
		if d := cmp.Diff(want, f.steps(orders, 0, 0)); d != "" {
			f.Error(d)
		}
		if r.Rev != 1 || r.Seq == 0 {
			f.Errorf("the caller's record is at revision %d, sequence %d", r.Rev, r.Seq)
		}
	},
	"a record in any status with nothing filled in loads": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		all := []record.Status{record.Creating, record.Adopting, record.Acknowledged, record.Made, record.Updating,
			record.Deleting, record.Retired}
		for i, status := range all {
			r := record.Record{Stack: orders, ID: "A", Type: "T", Gen: i + 1, Status: status}
			f.must(f.put(fence, &r))
		}
		for i, r := range f.records(orders) {
			if r.Status != all[i] {
				f.Errorf("generation %d is %s, want %s", i+1, r.Status, all[i])
			}
		}
		if n := len(f.records(orders)); n != len(all) {
			f.Errorf("%d records loaded, want %d", n, len(all))
		}
	},
	"records are ordered by ID and generation": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		for _, r := range []record.Record{role(orders, "B", 1, ""), role(orders, "A", 10, ""), role(orders, "A", 9, ""),
			role(orders, "A-1", 1, ""), role(orders, "AA", 1, "")} {
			f.must(f.put(fence, &r))
		}
		var got []record.Ref
		for _, r := range f.records(orders) {
			got = append(got, r.Ref())
		}
		if d := cmp.Diff([]record.Ref{{ID: "A", Gen: 9}, {ID: "A", Gen: 10}, {ID: "A-1", Gen: 1}, {ID: "AA", Gen: 1},
			{ID: "B", Gen: 1}}, got); d != "" {
			f.Error(d)
		}
	},
	"a record that changed since it was read is not overwritten": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		r := role(orders, "A", 1, "")
		f.must(f.put(fence, &r))
		seen, late := r, role(orders, "A", 1, "")
		r.Status = record.Made
		f.must(f.put(fence, &r))
		f.refused(f.put(fence, &seen), record.ErrConflict)
		f.refused(f.put(fence, &late), record.ErrConflict)
		if got := f.records(orders); len(got) != 1 || got[0].Status != record.Made || got[0].Rev != 2 {
			f.Errorf("got %+v", got)
		}
	},
	"a record that was dropped is not written again from an old copy": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		r := role(orders, "A", 1, "")
		f.must(f.put(fence, &r))
		f.must(f.drop(fence, &r, nil))
		f.refused(f.put(fence, &r), record.ErrConflict)
		f.refused(f.drop(fence, &r, nil), record.ErrConflict)
	},
	"a transaction that fails leaves nothing, in the caller's record neither": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		stop := errors.New("stop")
		r := role(orders, "A", 1, "iam/A")
		err := f.s.Write(ctx, fence, func(t record.Tx) error {
			for range 2 {
				if err := t.PutRecord(&r, record.Step{Name: "s"}); err != nil {
					return err
				}
			}
			return stop
		})
		f.refused(err, stop)
		if d := cmp.Diff(role(orders, "A", 1, "iam/A"), r); d != "" {
			f.Error(d)
		}
		if got, steps := f.records(orders), f.steps(orders, 0, 0); got != nil || steps != nil {
			f.Errorf("got %v and %v", got, steps)
		}
		f.must(f.put(fence, &r)) // the claim was not left behind
	},
	"a transaction sees its own writes": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		r := role(orders, "A", 1, "iam/A")
		f.must(f.s.Write(ctx, fence, func(t record.Tx) error {
			if err := t.PutRecord(&r, record.Step{Name: "s"}); err != nil {
				return err
			}
			got, found, err := t.Record(orders, "A", 1)
			if d := cmp.Diff(r, got); !found || d != "" {
				f.Errorf("found %v: %s", found, d)
			}
			return err
		}))
	},
	"dropping leaves a tombstone at the step's number, or none": func(f *fixture) { // S18
		fence := f.acquire(orders, "x1")
		a, b := role(orders, "A", 1, ""), role(orders, "B", 1, "")
		f.must(f.put(fence, &a))
		f.must(f.put(fence, &b))
		f.must(f.drop(fence, &a, &record.Tombstone{Stack: orders, ID: "A", Type: a.Type, Gen: 1, Nonces: []string{"n-A"},
			Why: "abandoned", Note: "gone for good", Who: "ann", At: now}))
		f.must(f.drop(fence, &b, nil))
		steps := f.steps(orders, 0, 0)
		f.view(func(v record.View) error {
			got, err := v.Tombstones(orders)
			want := []record.Tombstone{{Stack: orders, ID: "A", Type: a.Type, Gen: 1, Nonces: []string{"n-A"},
				Why: "abandoned", Note: "gone for good", Who: "ann", At: now, Seq: steps[2].Seq}}
			if d := cmp.Diff(want, got); d != "" {
				f.Error(d)
			}
			return err
		})
		if got := f.records(orders); got != nil {
			f.Errorf("got %v", got)
		}
	},
	"a record beyond 1 MiB is refused and the store goes on": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		big := role(orders, "A", 1, "")
		big.Note = strings.Repeat("x", 1<<20)
		if err := f.put(fence, &big); err == nil {
			f.Error("it was written")
		}
		small := role(orders, "A", 1, "")
		f.must(f.put(fence, &small))
	},
	"the text of a sensitive value is not kept even when it was not sealed": func(f *fixture) { // S32
		fence := f.acquire(orders, "x1")
		r := role(orders, "A", 1, "")
		r.Pending = value.Map{"Password": value.Of("hunter2hunter2").AsSensitive()}
		f.must(f.put(fence, &r))
		if got := f.records(orders)[0].Pending["Password"]; got.Reveal() != "" || !got.Sensitive() {
			f.Errorf("it came back as %q, sensitive %v", got.Reveal(), got.Sensitive())
		}
	},
	"what a view returned stays good after it": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		r := role(orders, "A", 1, "")
		f.must(f.put(fence, &r))
		f.must(f.s.SavePlan(ctx, orders, "p", []byte("plan")))
		var got record.Record
		var plan []byte
		f.must(f.s.Read(ctx, func(v record.View) (err error) {
			if plan, _, err = v.Plan("p"); err == nil {
				got, _, err = v.Record(orders, "A", 1)
			}
			return err
		}))
		for i := range 50 { // write over the pages it came from
			n := role(orders, "A", 2+i, "")
			f.must(f.put(fence, &n))
		}
		if d := cmp.Diff(r, got); d != "" || string(plan) != "plan" {
			f.Errorf("plan %q; %s", plan, d)
		}
	},
}

// forgotten are claims about what is let go for good (SAFETY S18).
var forgotten = map[string]func(*fixture){
	"a tombstone is dropped once, with its step, and no other": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		for _, id := range []string{"A", "B"} {
			r := role(orders, id, 1, "")
			f.must(f.put(fence, &r))
			f.must(f.drop(fence, &r, &record.Tombstone{Stack: orders, ID: id, Gen: 1, Why: "abandoned"}))
		}
		var tombs []record.Tombstone
		read := func(v record.View) (err error) { tombs, err = v.Tombstones(orders); return err }
		f.view(read)
		forget := func(t record.Tombstone) error {
			return f.s.Write(ctx, fence, func(tx record.Tx) error {
				return tx.DropTombstone(t, record.Step{Name: record.StepForget(t.ID, t.Gen), At: now})
			})
		}
		first := tombs[0]
		f.must(forget(first))
		f.refused(forget(first), record.ErrConflict)
		f.view(read)
		if len(tombs) != 1 || tombs[0].ID != "B" {
			f.Errorf("left: %+v", tombs)
		}
		steps := f.steps(orders, 0, 0)
		if last := steps[len(steps)-1]; last.Name != "state:forget:A:1" || last.ID != "A" || last.Gen != 1 {
			f.Errorf("the last step is %+v", last)
		}
		foreign := tombs[0]
		foreign.Stack = abroad
		if forget(foreign) == nil {
			f.Error("a tombstone of another stack was dropped")
		}
	},
	"what can be used is not dropped as unusable": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		r := role(orders, "A", 1, "k")
		f.must(f.put(fence, &r))
		for _, key := range []string{"A", "", "orders/aws/111111111111/eu-west-1//A/00000001"} {
			err := f.s.Write(ctx, fence, func(t record.Tx) error { return t.DropUnusable(key, record.Step{Name: "s"}) })
			if err == nil {
				f.Errorf("%q was dropped", key)
			}
		}
		if len(f.records(orders)) != 1 {
			f.Error("the record is gone")
		}
	},
}

func (f *fixture) drop(fence record.Fence, r *record.Record, left *record.Tombstone) error {
	return f.s.Write(ctx, fence, func(t record.Tx) error {
		return t.DropRecord(r, left, record.Step{Name: record.StepPersist(r.ID), At: now})
	})
}

// claims are claims about physical keys: one object, one record (SAFETY S3).
var claims = map[string]func(*fixture){
	"a key that another record has is refused, and the other named": func(f *fixture) {
		f.claimed(role(orders, "A", 1, "k"), role(orders, "B", 1, "k"))
	},
	"a record of another stack has its key too": func(f *fixture) {
		f.claimed(role(abroad, "A", 1, "k"), role(orders, "A", 1, "k"))
	},
	"a retired generation keeps its key": func(f *fixture) {
		old := role(orders, "A", 1, "k")
		old.Status = record.Retired
		f.claimed(old, role(orders, "A", 2, "k"))
	},
	"a generation that is being deleted keeps its key": func(f *fixture) {
		old := role(orders, "A", 1, "k")
		old.Status = record.Deleting
		f.claimed(old, role(orders, "A", 2, "k"))
	},
	"a record may be written again with its own key": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		r := role(orders, "A", 1, "k")
		f.must(f.put(fence, &r))
		r.Status = record.Made
		f.must(f.put(fence, &r))
	},
	"a tombstone has no key": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		a, b := role(orders, "A", 1, "k"), role(orders, "B", 1, "k")
		f.must(f.put(fence, &a))
		f.must(f.drop(fence, &a, &record.Tombstone{Stack: orders, ID: "A", Gen: 1, Key: a.Key, Why: "abandoned"}))
		f.must(f.put(fence, &b))
	},
	"the next generation takes the key over in the transaction that drops the old one": func(f *fixture) { // S22
		fence := f.acquire(orders, "x1")
		old, next := role(orders, "A", 1, "k"), role(orders, "A", 2, "k")
		f.must(f.put(fence, &old))
		f.must(f.s.Write(ctx, fence, func(t record.Tx) error {
			if err := t.DropRecord(&old, nil, record.Step{Name: "s"}); err != nil {
				return err
			}
			return t.PutRecord(&next, record.Step{Name: record.StepCreating("A", 2)})
		}))
		f.claimant("k", "A", 2)
	},
	"a record that gets another key lets the first go": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		a, b := role(orders, "A", 1, "k"), role(orders, "B", 1, "k")
		f.must(f.put(fence, &a))
		a.Claim = "l"
		f.must(f.put(fence, &a))
		f.must(f.put(fence, &b))
		f.claimant("k", "B", 1)
		f.claimant("l", "A", 1)
	},
	"no key claims nothing": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		a, b := role(orders, "A", 1, ""), role(orders, "B", 1, "")
		f.must(f.put(fence, &a))
		f.must(f.put(fence, &b))
		f.view(func(v record.View) error {
			_, found, err := v.Claimant("k")
			if found {
				f.Error("somebody claims k")
			}
			return err
		})
	},
}

// claimed holds that next is refused because first has its key.
func (f *fixture) claimed(first, next record.Record) {
	f.Helper()
	f.must(f.put(f.acquire(first.Stack, "x1"), &first))
	fence := record.Fence{Stack: next.Stack, Execution: "x1", Epoch: 1}
	if next.Stack != first.Stack {
		fence = f.acquire(next.Stack, "x2")
	}
	var got *record.ClaimedError
	if err := f.put(fence, &next); !errors.As(err, &got) {
		f.Fatalf("got %v, want a ClaimedError", err)
	}
	if d := cmp.Diff(&record.ClaimedError{Claim: first.Claim, By: first.Stack, ID: first.ID, Gen: first.Gen}, got); d != "" {
		f.Error(d)
	}
	f.claimant(first.Claim, first.ID, first.Gen)
}

func (f *fixture) claimant(claim, id string, gen int) {
	f.Helper()
	f.view(func(v record.View) error {
		r, found, err := v.Claimant(claim)
		if !found || r.ID != id || r.Gen != gen {
			f.Errorf("%q is claimed by %s generation %d (%v), want %s generation %d", claim, r.ID, r.Gen, found, id, gen)
		}
		return err
	})
}
