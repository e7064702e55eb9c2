package deploy_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"reclaim/engine/deploy"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
	"reclaim/store"
)

func (w *world) forget(r deploy.ForgetRequest) deploy.Outcome {
	w.t.Helper()
	r.Stack, r.Who, r.Why = w.stack, "ops@ci-7", "made by hand since"
	o, err := deploy.Forget(w.t.Context(), w.env(), r)
	must(w.t, err)
	return o
}

// lastStep is the newest step of the stack's journal.
func (w *world) lastStep() record.Step {
	w.t.Helper()
	var last record.Step
	must(w.t, w.store.Read(w.t.Context(), func(v record.View) error {
		steps, err := v.Steps(w.stack, 0, 0)
		if len(steps) > 0 {
			last = steps[len(steps)-1]
		}
		return err
	}))
	return last
}

// S18: no record can be stuck for ever. One that no other verb can resolve is forgotten, whatever it has lost; the cloud is not even
// asked, and history keeps who, why, and what the object was known by.
func TestAnyRecordCanBeForgotten(t *testing.T) {
	for name, blank := range blanks {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.deploy(stack(role))
			nonce := w.records()["Role"].Nonce
			w.tamper(func(r *record.Record) { r.Status = record.Updating; blank(r) })
			before := len(w.sim.Log())
			o := w.forget(deploy.ForgetRequest{ID: "Role", Gen: 1, Rev: w.records()["Role"].Rev})
			if o.Exit != 0 || len(w.records()) > 0 || len(w.state().Tombs) > 0 || w.state().Hold != nil {
				t.Errorf("exit %d %+v, records %v", o.Exit, o.Items, w.records())
			}
			if len(w.sim.Log()) != before || len(w.sim.State().Roles) != 1 {
				t.Error("the cloud was asked, or changed")
			}
			step := w.lastStep()
			if step.Name != "state:forget:Role:1" || !strings.Contains(step.Detail, "by ops@ci-7: made by hand since") {
				t.Errorf("history says %+v", step)
			}
			if name == "key" && !strings.Contains(step.Detail, nonce) {
				t.Errorf("history does not keep the nonce %s: %s", nonce, step.Detail)
			}
		})
	}
}

// S18, S1: a record that cannot even be used blocks every changing verb, but not this one.
func TestAnUnusableRecordCanBeForgotten(t *testing.T) {
	w := newWorld(t)
	w.deploy(stack(role))
	must(t, w.store.Close())
	dir := filepath.Join(w.dir, ".reclaim")
	db, err := bolt.Open(filepath.Join(dir, "store.db"), 0o600, nil)
	must(t, err)
	must(t, errors.Join(db.Update(func(tx *bolt.Tx) error {
		k, v := tx.Bucket([]byte("records")).Cursor().First()
		return tx.Bucket([]byte("records")).Put(k, []byte(strings.Replace(string(v), "eu-west-1", "eu-west-2", 1)))
	}), db.Close()))
	w.store, err = store.Open(dir, store.Options{})
	must(t, err)
	t.Cleanup(func() { w.store.Close() })
	g := w.graph(stack(role))
	if _, err := deploy.Run(t.Context(), w.env(), deploy.Request{Plan: w.plan(g), Graph: g}); !errors.Is(err, plan.ErrBadRecords) {
		t.Fatalf("deploy: %v", err)
	}
	bad := w.state().Bad[0]
	if bad.ID != "Role" || bad.Gen != 1 {
		t.Fatalf("the key says %+v", bad)
	}
	if o := w.forget(deploy.ForgetRequest{ID: bad.ID, Gen: bad.Gen, Unusable: bad.Key}); o.Exit != 0 || len(w.state().Bad) > 0 {
		t.Errorf("exit %d, left %+v", o.Exit, w.state().Bad)
	}
	found, err := w.store.Check(t.Context(), nil)
	if err != nil || len(found) > 0 {
		t.Errorf("check finds %+v, %v", found, err) // its claim went with it
	}
}

// A record or tombstone that moved since it was shown is not forgotten (S17's habit), and nobody forgets under another's hold (S33).
func TestOnlyWhatWasSeenIsForgotten(t *testing.T) {
	w := newWorld(t)
	w.deploy(stack(role))
	if o := w.forget(deploy.ForgetRequest{ID: "Role", Gen: 1, Rev: 1}); o.Exit != deploy.ExitBlocked || len(w.records()) != 1 {
		t.Errorf("an older revision: exit %d %+v", o.Exit, o.Items)
	}
	gone := record.Tombstone{Stack: w.stack, ID: "Api", Gen: 1, Seq: 3}
	if o := w.forget(deploy.ForgetRequest{ID: "Api", Gen: 1, Tombstones: []record.Tombstone{gone}}); o.Exit != deploy.ExitBlocked {
		t.Errorf("a tombstone that is not there: exit %d", o.Exit)
	}
	w.dieAfter(stack(role, logs), 1)
	_, err := deploy.Forget(t.Context(), w.env(), deploy.ForgetRequest{Stack: w.stack, ID: "Role", Gen: 1, Rev: w.records()["Role"].Rev})
	if _, held := errors.AsType[*record.HeldError](err); !held {
		t.Errorf("under another's hold: %v", err)
	}
}

// abandoned deploys an API, loses its answer, and gives the record up: the API lives on behind a tombstone.
func (w *world) abandoned() record.Tombstone {
	w.t.Helper()
	w.deploy(stack(api))
	w.tamper(func(r *record.Record) { r.Status = record.Creating })
	f := w.findings()["Api"]
	w.recover(deploy.RecoverRequest{Decide: []record.Decision{decide(f, record.Abandon, "")}})
	tombs := w.state().Tombs
	if len(tombs) != 1 || len(w.records()) != 0 {
		w.t.Fatal("abandoning left", w.records(), tombs)
	}
	return tombs[0]
}

func (w *world) sight(tomb record.Tombstone) recovery.Sighting {
	w.t.Helper()
	e := w.env()
	g := recovery.Gatherer{Store: e.Store, Cloud: e.Cloud, Sealer: e.Sealer, Now: w.clock.Now}
	s, err := g.Sight(w.t.Context(), &recovery.Orphan{Stack: tomb.Stack, ID: tomb.ID, Gen: tomb.Gen, Type: tomb.Type, Tombstone: &tomb})
	must(w.t, err)
	return s
}

// S18: what was abandoned is found by its nonce, becomes a record again, and can then be removed by the rules of any delete.
func TestATombstoneBecomesARecordAgain(t *testing.T) {
	w := newWorld(t)
	tomb := w.abandoned()
	if s := w.sight(tomb); s.State != recovery.SightFound {
		t.Fatalf("seen: %+v", s)
	}
	before := len(w.sim.Log())
	o, err := deploy.Restore(t.Context(), w.env(), deploy.RestoreRequest{Tombstone: tomb, Who: "ops"})
	must(t, err)
	if sent := w.changing(before); o.Exit != 0 || len(sent) > 0 || len(w.state().Tombs) > 0 {
		t.Fatalf("exit %d %+v, sent %v", o.Exit, o.Items, sent)
	}
	r := w.records()["Api"]
	if r.Status != record.Made || r.Physical == "" || r.Nonce != tomb.Nonces[0] || r.Claim == "" {
		b, _ := json.Marshal(r)
		t.Errorf("record %s", b)
	}
	if step := w.lastStep(); step.Name != "state:restore:Api:1" {
		t.Errorf("step %+v", step)
	}
	p, err := plan.MakeRemoval(t.Context(), w.planEnv(), w.stack, r.Ref())
	must(t, err)
	if it := p.Item("Api", 1); len(p.Items) != 1 || it.Action != plan.Delete || it.Needs[0] != plan.GrantDelete {
		t.Fatalf("planned %+v", p.Items)
	}
	if o := w.run(deploy.Request{Plan: p, Approvals: approveAll(p)}); o.Exit != 0 || len(w.sim.State().Apis) != 0 || len(w.records()) != 0 {
		t.Errorf("exit %d %+v", o.Exit, o.Items)
	}
}

// S2, S21: a tombstone's object is absent only in the verified scope and outside the window, and is found however many
// there are.
func TestWhatATombstoneLooksFor(t *testing.T) {
	w := newWorld(t)
	tomb := w.abandoned()
	api := w.sim.State().Apis[0]
	w.stranger("CreateApi", map[string]any{"name": "orders", "protocolType": "HTTP"})
	if s := w.sight(tomb); s.State != recovery.SightFound || s.Physical != api.ID {
		t.Errorf("a stranger of the same name: %+v", s)
	}
	w.stranger("DeleteApi", map[string]any{"apiId": api.ID})
	if s := w.sight(tomb); s.State != recovery.SightEarly || s.Until.IsZero() {
		t.Errorf("absent inside the window: %+v", s)
	}
	w.elapse()
	if s := w.sight(tomb); s.State != recovery.SightAbsent {
		t.Errorf("absent: %+v", s)
	}
	o, err := deploy.Restore(t.Context(), w.env(), deploy.RestoreRequest{Tombstone: tomb})
	if must(t, err); o.Exit != deploy.ExitBlocked || len(w.state().Tombs) != 1 {
		t.Errorf("restored what is not there: exit %d", o.Exit)
	}
	h := w.hook()
	h.verify = func() (resource.Scope, error) { s := w.stack.Scope; s.Account = "999999999999"; return s, nil }
	if s := w.sight(tomb); s.State != recovery.SightUnknown {
		t.Errorf("in another account: %+v", s)
	}
}

// S22: what something still depends on is not removed as an orphan.
func TestAnOrphanThatIsUsedStays(t *testing.T) {
	w := newWorld(t)
	w.deploy(stack(role, api, file))
	w.elapse()
	p, err := plan.MakeRemoval(t.Context(), w.planEnv(), w.stack, record.Ref{ID: "Api", Gen: 1})
	must(t, err)
	if o := w.run(deploy.Request{Plan: p, Approvals: approveAll(p)}); o.Exit == 0 || len(w.sim.State().Apis) != 1 {
		t.Errorf("exit %d %+v", o.Exit, o.Items)
	}
}
