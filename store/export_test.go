package store_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/store"
)

// lived is a store in which everything has happened: two stacks, a tombstone, a hold that a crash left, evidence, a
// decision, an ancestor, and a sensitive value.
func lived(t *testing.T) *store.Store {
	t.Helper()
	s := made(t)
	f := held(t, s)
	for i := range 3 {
		create(t, s, f, i)
	}
	sealer, err := s.Sealer()
	if err != nil {
		t.Fatal(err)
	}
	other := record.StackID{Name: "orders", Scope: resource.Scope{Partition: "aws", Account: "123456789012", Region: "eu-west-1"}}
	h, err := s.Acquire(ctx, record.Hold{Stack: other, Execution: "e-9c41", Verb: "deploy", Owner: store.Owner(), Since: time.Now().UTC()})
	if err != nil {
		t.Fatal(err)
	}
	r := record.Record{Stack: other, ID: "Role", Type: "AWS::IAM::Role", Gen: 2, Status: record.Creating, Intent: &record.Intent{Nonce: "5f0e"},
		Pending: sealer.SealMap(value.Map{"Secret": value.Of("hunter2").AsSensitive()})}
	gone := benchRecord(stack, 9)
	must(t,
		s.Write(ctx, record.Fence{Stack: other, Execution: "e-9c41", Epoch: h.Epoch}, func(tx record.Tx) error {
			return tx.PutRecord(&r, record.Step{Name: record.StepCreating("Role", 2)})
		}),
		putFile(s, f, 9),
		s.Write(ctx, f, func(tx record.Tx) error {
			gone.Rev = 1
			return tx.DropRecord(&gone, &record.Tombstone{Stack: stack, ID: gone.ID, Type: gone.Type, Gen: 1, Nonces: []string{"n"}, Why: "abandoned"}, record.Step{Name: "drop"})
		}),
		s.AddEvidence(ctx, record.Evidence{Stack: other, ID: "Role", Gen: 2, Nonce: "5f0e"}),
		s.SaveDecision(ctx, record.Decision{Stack: other, ID: "Role", Gen: 2, Choice: record.Reclaim, Who: "ops", At: time.Now().UTC()}),
		s.SavePlan(ctx, stack, "p", []byte("plan")),
		s.Release(ctx, f, record.Execution{ID: "x1", Stack: stack, Verb: "deploy", Result: "3 done"}))
	return s
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func exported(t *testing.T, s *store.Store) []byte {
	t.Helper()
	e, bad, err := s.Export(ctx)
	if err != nil || bad > 0 {
		t.Fatal(bad, err)
	}
	b, err := e.Encode()
	must(t, err)
	return b
}

func decoded(t *testing.T, b []byte) *record.Export {
	t.Helper()
	e, err := record.DecodeExport(b)
	must(t, err)
	return e
}

// S4, S35: what is imported is what was exported, but for the ID: that is new, and the old one is an ancestor. Nothing in
// the document is a secret.
func TestAnImportedStoreHoldsWhatWasExported(t *testing.T) {
	from := lived(t)
	doc := exported(t, from)
	if !bytes.Equal(doc, exported(t, from)) {
		t.Error("two exports of one state differ")
	}
	if bytes.Contains(doc, []byte("hunter2")) || !bytes.Contains(doc, []byte("hash.key")) {
		t.Error("the document holds a secret, or does not say what it leaves out")
	}
	to := made(t)
	before := to.ID()
	must(t, to.Import(ctx, decoded(t, doc)))
	if to.ID() == from.ID() || to.ID() == before {
		t.Errorf("the store's ID is %s; the exported one is %s, its own was %s", to.ID(), from.ID(), before)
	}
	must(t, to.Close())
	to = opened(t, to.Dir(), store.Options{})
	if found := flaws(t, to.Dir()); len(found) != 1 || found[0].Kind != record.FlawType { // the role's, which flaws does not know
		t.Errorf("check finds %+v", found)
	}
	want, got := decoded(t, doc), decoded(t, exported(t, to))
	if d := cmp.Diff([]string{from.ID()}, got.Ancestors); d != "" || got.Store != to.ID() {
		t.Errorf("ancestors %s, store %s", d, got.Store)
	}
	got.Store, got.Ancestors = want.Store, want.Ancestors
	a, errA := want.Encode()
	b, errB := got.Encode()
	must(t, errA, errB)
	if d := cmp.Diff(string(a), string(b)); d != "" {
		t.Error(d)
	}
	// The numbers go on where they were, so that no epoch and no step is given twice.
	h, err := to.Acquire(ctx, record.Hold{Stack: stack, Execution: "x2", Owner: store.Owner()})
	if err != nil || h.Epoch != 2 {
		t.Errorf("epoch %d, %v; want 2", h.Epoch, err)
	}
}

// S35: an import changes no store that holds a stack, and a failed one leaves nothing.
func TestAnImportThatCannotBeIsNotBegun(t *testing.T) {
	doc := exported(t, lived(t))
	full := lived(t)
	before := exported(t, full)
	if err := full.Import(ctx, decoded(t, doc)); !errors.Is(err, store.ErrNotEmpty) || !strings.Contains(err.Error(), "site@local") {
		t.Errorf("got %v, want ErrNotEmpty that names a stack", err)
	}
	if !bytes.Equal(before, exported(t, full)) {
		t.Error("the store that refused has changed")
	}
	twice := decoded(t, doc)
	stacks := twice.Stacks[1]
	stacks.Tombstones = append(stacks.Tombstones, stacks.Tombstones...)
	twice.Stacks[1] = stacks
	empty := made(t)
	id := empty.ID()
	if err := empty.Import(ctx, twice); err == nil || !strings.Contains(err.Error(), "there twice") || empty.ID() != id {
		t.Errorf("got %v, ID %s", err, empty.ID())
	}
	if e := decoded(t, exported(t, empty)); len(e.Stacks) > 0 || len(e.Ancestors) > 0 {
		t.Errorf("half of it is there: %+v", e)
	}
	must(t, empty.Import(ctx, decoded(t, doc)))
}

func TestWhatCannotBeExportedIsNamed(t *testing.T) {
	dir, _ := filled(t)
	tamper(t, dir, put("records", prefix+"Bad/00000001", "{"))
	e, bad, err := opened(t, dir, store.Options{ReadOnly: true}).Export(ctx)
	if err != nil || bad != 1 || !strings.Contains(strings.Join(e.LeftOut, "\n"), "Bad/00000001") {
		t.Errorf("%d, %v, %q", bad, err, e.LeftOut)
	}
}

// A backup is the store at one moment; it is private, replaces nothing, and blocks no writer.
func TestABackupIsTheStoreAtOneMoment(t *testing.T) {
	s := lived(t)
	f := held(t, s)
	want := exported(t, s)
	path, err := s.Backup(ctx, filepath.Join(t.TempDir(), "copy.db"), "")
	must(t, err)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := s.Backup(ctx, path, ""); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a backup was written over: %v", err)
	}
	beside, err := s.Backup(ctx, "", "before-forget")
	must(t, err)
	if filepath.Dir(beside) != s.Dir() || !strings.Contains(filepath.Base(beside), "before-forget-") {
		t.Errorf("it is at %s", beside)
	}
	must(t, putFile(s, f, 77), s.Close()) // after the backup: not in it
	must(t, os.Rename(path, dbFile(s.Dir())))
	back := opened(t, s.Dir(), store.Options{})
	if d := cmp.Diff(string(want), string(exported(t, back))); d != "" || back.ID() != s.ID() {
		t.Error(d)
	}
	if err := putFile(back, f, 78); err != nil {
		t.Errorf("the backup cannot be written to: %v", err)
	}
	if found := flaws(t, s.Dir()); slicesOf(found, record.FlawLeftover) > 0 {
		t.Errorf("it left %+v", found)
	}
}

func slicesOf(found []record.Flaw, kind record.FlawKind) (n int) {
	for _, f := range found {
		if f.Kind == kind {
			n++
		}
	}
	return n
}

// A backup that is made while another process writes without a pause is whole, and delays no commit for long.
func TestABackupDuringARunIsWhole(t *testing.T) {
	s := made(t)
	f := held(t, s)
	ctx, stop := context.WithCancel(ctx)
	done := make(chan time.Duration)
	go func() {
		var longest time.Duration
		for i := 0; ctx.Err() == nil; i++ {
			began := time.Now()
			if err := putFile(s, f, i); err != nil {
				t.Error(err)
			}
			longest = max(longest, time.Since(began))
		}
		done <- longest
	}()
	reader := opened(t, s.Dir(), store.Options{ReadOnly: true})
	for range 5 {
		path, err := reader.Backup(t.Context(), filepath.Join(t.TempDir(), "store.db"), "")
		must(t, err)
		found, err := opened(t, filepath.Dir(path), store.Options{ReadOnly: true}).Check(t.Context(), nil)
		if err != nil || slicesOf(found, record.FlawJournal)+slicesOf(found, record.FlawClaim) > 0 {
			t.Errorf("%v, %+v", err, found)
		}
	}
	stop()
	if longest := <-done; longest > 2*time.Second {
		t.Errorf("a commit took %s", longest)
	}
}
