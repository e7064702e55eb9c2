package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/record"
	"reclaim/store"
)

func evidence(ids ...string) (out []record.Evidence) {
	for _, id := range ids {
		out = append(out, record.Evidence{Stack: stack, ID: id, Gen: 1, Nonce: "n-" + id, Execution: "x0", Source: "?"})
	}
	return out
}

// kept returns the IDs of the stack's evidence.
func kept(t *testing.T, s record.Store) (ids []string) {
	t.Helper()
	err := s.Read(ctx, func(v record.View) error {
		list, err := v.Evidence(stack)
		for _, e := range list {
			if e.Source != "emergency file" {
				t.Errorf("source %q", e.Source)
			}
			ids = append(ids, e.ID)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func TestAnEmergencyFileIsAnnouncedAndImportedOnceAsEvidence(t *testing.T) { // S36
	s := made(t)
	path, err := s.Emergency(evidence("A", "B"))
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(path) != s.Dir() {
		t.Errorf("it is in %s", path)
	}
	copied, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	next := opened(t, s.Dir(), store.Options{Log: func(f string, a ...any) { said = append(said, fmt.Sprintf(f, a...)) }})
	if len(said) != 1 || !strings.Contains(said[0], path) {
		t.Errorf("open said %q", said)
	}
	f := held(t, next)
	if d := cmp.Diff([]string{"A", "B"}, kept(t, next)); d != "" {
		t.Error(d)
	}
	if n := countRecords(t, next, stack); n != 0 {
		t.Errorf("it became %d records", n)
	}
	if _, err := os.Stat(path + ".imported"); err != nil {
		t.Error(err)
	}
	// A crash between the commit and the rename leaves the file where it was.
	if err := os.WriteFile(path, copied, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := next.Take(ctx, f.Execution, record.Hold{Stack: stack, Execution: "x2"}); err != nil {
		t.Fatal(err)
	}
	if got := kept(t, next); len(got) != 2 {
		t.Errorf("it was imported again: %q", got)
	}
}

func TestEmergencyFilesThatCannotBeUsedStayAndAreNamed(t *testing.T) {
	s, other := made(t), made(t)
	foreign, err := other.Emergency(evidence("A"))
	if err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(s.Dir(), filepath.Base(foreign))
	broken := filepath.Join(s.Dir(), "emergency-1.json")
	linked := filepath.Join(s.Dir(), "emergency-2.json")
	if err := errors.Join(os.Rename(foreign, moved), os.WriteFile(broken, []byte("{"), 0o600), os.Symlink(moved, linked)); err != nil {
		t.Fatal(err)
	}
	err = s.ImportEmergency(ctx)
	for _, path := range []string{moved, broken, linked} {
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%v does not name %s", err, path)
		}
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
	if got := kept(t, s); got != nil {
		t.Errorf("imported %q", got)
	}
}

func TestAnEmergencyFileGoesElsewhereWhenTheFolderIsGone(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	s := made(t)
	away := s.Dir() + ".away"
	if err := os.Rename(s.Dir(), away); err != nil {
		t.Fatal(err)
	}
	path, err := s.Emergency(evidence("A"))
	if err != nil || filepath.Dir(path) != tmp {
		t.Fatalf("%s, %v", path, err)
	}
	if err := os.Rename(away, s.Dir()); err != nil {
		t.Fatal(err)
	}
	if err := s.ImportEmergency(ctx); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"A"}, kept(t, s)); d != "" {
		t.Error(d)
	}
}

func TestFollowGivesWholeLinesFromTheBeginning(t *testing.T) {
	s := made(t)
	running, stop := context.WithCancel(ctx)
	defer stop()
	lines := make(chan string, 10)
	ended := make(chan error)
	go func() { ended <- store.Follow(running, s.Dir(), "x1", func(b []byte) { lines <- string(b) }) }()
	w, err := s.SpoolWriter("x1") // Follow has begun before, or begins after: both work
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	long := strings.Repeat("x", 200_000)
	for _, text := range []string{"one\n", "tw", "o\nthr", "ee\n" + long + "\n", "unfinished"} {
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"one", "two", "three", long} {
		if got := <-lines; got != want {
			t.Errorf("got %d bytes %.20q, want %.20q", len(got), got, want)
		}
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	if len(lines) > 0 {
		t.Errorf("an unfinished line was given: %q", <-lines)
	}
	info, err := os.Stat(filepath.Join(s.Dir(), "events", "x1.ndjson"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, mode %v", err, info.Mode())
	}
}

func TestASpoolStaysInItsFolder(t *testing.T) {
	s := made(t)
	for _, name := range []string{"", ".", "..", "../store", "a/b", ".hidden"} {
		if w, err := s.SpoolWriter(name); err == nil {
			w.Close()
			t.Errorf("%q was opened", name)
		}
		if err := store.Follow(ctx, s.Dir(), name, func([]byte) {}); err == nil {
			t.Errorf("%q was followed", name)
		}
	}
}
