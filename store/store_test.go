package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/store"
	"reclaim/store/storetest"
)

var (
	ctx   = context.Background()
	stack = record.StackID{Name: "site", Scope: resource.Scope{Partition: resource.LocalPartition, Account: "0123456789abcdef"}}
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) record.Store { return made(t) }, func(t *testing.T, s record.Store) record.Store {
		return opened(t, s.(*store.Store).Dir(), store.Options{})
	})
}

// made makes a store in a folder of its own.
func made(t *testing.T) *store.Store {
	t.Helper()
	return opened(t, filepath.Join(t.TempDir(), ".reclaim"), store.Options{Create: true})
}

func opened(t *testing.T, dir string, o store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// held acquires stack.
func held(t *testing.T, s record.Store) record.Fence {
	t.Helper()
	h, err := s.Acquire(ctx, record.Hold{Stack: stack, Execution: "x1", Verb: "deploy", Owner: store.Owner()})
	if err != nil {
		t.Fatal(err)
	}
	return record.Fence{Stack: stack, Execution: "x1", Epoch: h.Epoch}
}

// putFile writes one record of the bench's kind.
func putFile(s record.Store, f record.Fence, i int) error {
	return s.Write(ctx, f, func(tx record.Tx) error {
		r := benchRecord(f.Stack, i)
		return tx.PutRecord(&r, record.Step{Name: record.StepCreating(r.ID, 1)})
	})
}

func TestOnlyCreateMakesAStore(t *testing.T) { // S35
	dir := filepath.Join(t.TempDir(), ".reclaim")
	for _, o := range []store.Options{{}, {ReadOnly: true}, {ReadOnly: true, Create: true}} {
		if _, err := store.Open(dir, o); !errors.Is(err, record.ErrNoStore) {
			t.Errorf("%+v: got %v, want ErrNoStore", o, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Fatalf("%+v made %s", o, dir)
		}
	}
	var said []string
	s := opened(t, dir, store.Options{Create: true, Log: func(format string, _ ...any) { said = append(said, format) }})
	if !s.Made() || len(said) != 1 || said[0] != "made store %s" || s.ID() == "" {
		t.Errorf("made %v, said %q, ID %q", s.Made(), said, s.ID())
	}
	for name, want := range map[string]os.FileMode{"": 0o700, "store.db": 0o600, "hash.key": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%q has mode %o, want %o", name, got, want)
		}
	}
	again := opened(t, dir, store.Options{Create: true})
	if again.Made() || again.ID() != s.ID() {
		t.Errorf("the second Open made %v, ID %s", again.Made(), again.ID())
	}
}

func TestAStoreThatVanishesIsNotMadeAgain(t *testing.T) { // S35
	s := made(t)
	f := held(t, s)
	path := filepath.Join(s.Dir(), "store.db")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	err := putFile(s, f, 1)
	if !errors.Is(err, record.ErrWrite) || !errors.Is(err, record.ErrNoStore) {
		t.Errorf("got %v, want ErrWrite and ErrNoStore", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it is there again")
	}
}

func TestAnotherStoreInItsPlaceIsNotWritten(t *testing.T) { // S33: the store's ID is part of every check
	s, other := made(t), made(t)
	f := held(t, s)
	if err := os.Rename(filepath.Join(other.Dir(), "store.db"), filepath.Join(s.Dir(), "store.db")); err != nil {
		t.Fatal(err)
	}
	if err := putFile(s, f, 1); !errors.Is(err, record.ErrStale) {
		t.Errorf("write: got %v, want ErrStale", err)
	}
	if err := s.SavePlan(ctx, stack, "p", nil); !errors.Is(err, record.ErrStale) {
		t.Errorf("plan: got %v, want ErrStale", err)
	}
	if err := s.Read(ctx, func(record.View) error { return nil }); !errors.Is(err, record.ErrStale) {
		t.Errorf("read: got %v, want ErrStale", err)
	}
}

func TestAReadOnlyStoreRefusesEveryWrite(t *testing.T) {
	s := made(t)
	f := held(t, s)
	r := opened(t, s.Dir(), store.Options{ReadOnly: true})
	_, acquired := r.Acquire(ctx, record.Hold{Stack: stack, Execution: "x2"})
	for name, err := range map[string]error{"write": putFile(r, f, 1), "acquire": acquired,
		"plan": r.SavePlan(ctx, stack, "p", nil), "clear": r.ClearHold(ctx, stack, "x1")} {
		if !errors.Is(err, record.ErrWrite) {
			t.Errorf("%s: got %v, want ErrWrite", name, err)
		}
	}
}

func TestDiscoverFindsTheNearestUpwards(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(deep, ".reclaim")
	if dir, found := store.Discover(deep); found || dir != want {
		t.Errorf("with none: got %s, %v", dir, found)
	}
	for _, at := range []string{root, filepath.Join(root, "a")} {
		if err := os.Mkdir(filepath.Join(at, ".reclaim"), 0o700); err != nil {
			t.Fatal(err)
		}
		if dir, found := store.Discover(deep); !found || dir != filepath.Join(at, ".reclaim") {
			t.Errorf("got %s, %v, want the one in %s", dir, found, at)
		}
	}
}

func TestTheSealerOutlivesTheProcessAndIsMissedWhenGone(t *testing.T) { // S32
	s := made(t)
	one, err := s.Sealer()
	if err != nil || !one.HasKey() {
		t.Fatalf("key %v, error %v", one.HasKey(), err)
	}
	secret := value.Of("hunter2hunter2").AsSensitive()
	two, err := opened(t, s.Dir(), store.Options{}).Sealer()
	if err != nil {
		t.Fatal(err)
	}
	if equal, ok := two.Matches(one.Seal(secret), secret); !equal || !ok {
		t.Errorf("equal %v, comparable %v", equal, ok)
	}
	key := filepath.Join(s.Dir(), "hash.key")
	if err := os.WriteFile(key, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sealer(); err == nil {
		t.Error("half a key was taken")
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	said := 0
	none, err := opened(t, s.Dir(), store.Options{Create: true, Log: func(string, ...any) { said++ }}).Sealer()
	if err != nil || none.HasKey() || said != 1 {
		t.Errorf("key %v, error %v, said %d", none.HasKey(), err, said)
	}
}

func TestClosedStoresRefuse(t *testing.T) {
	s := made(t)
	f := held(t, s)
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if err := putFile(s, f, 1); !errors.Is(err, store.ErrClosed) {
		t.Errorf("write: %v", err)
	}
	if err := s.Read(ctx, func(record.View) error { return nil }); !errors.Is(err, store.ErrClosed) {
		t.Errorf("read: %v", err)
	}
}
