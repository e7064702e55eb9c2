package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// S36: when the store cannot be written in the middle of a run, nothing more is changed, what is known goes into an
// emergency file that is named last, and the code is 6. Later the file is evidence.
func TestAStoreThatCannotBeWrittenStopsTheRun(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"text", "json"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var more []string
			if form == "json" {
				more = []string{"--json"}
			}
			p, release := w.waiting(more...)
			db, kept := w.path(".reclaim/store.db"), w.path(".reclaim/kept.db")
			w.swap(db, kept)
			release()
			r := p.result()
			if r.code != 6 {
				t.Fatalf("exit %d, want 6\nstdout: %s\nstderr: %s", r.code, r.stdout, r.stderr)
			}
			if w.sent("CreateRole") != 1 || w.sent("PutRolePolicy") != 0 || w.sent("CreateApi") > w.before("CreateApi", "CreateRole") {
				t.Errorf("changing calls were sent after the store was lost: %d in all", w.changes())
			}
			path := w.emergency(r, form)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			role := w.cloud.State().Roles[0]
			wants(t, "the emergency file", string(b), role.Name, role.ID, role.Tags["reclaim:nonce"], role.Tags["reclaim:store"])
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the emergency file's mode is %v, %v; want 0600", info.Mode(), err)
			}

			if err := os.Remove(db); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(kept, db); err != nil {
				t.Fatal(err)
			}
			said := w.exits(0, "status")
			wants(t, "the next command's stderr", said.stderr, filepath.Base(path))
			left := w.status()
			if left.Hold == nil || left.Hold.Alive != "no" || len(left.Uncertain) != 1 {
				t.Fatalf("the store holds %+v, want the hold of the dead run and one uncertain create", left)
			}
			judged := w.exits(3, "recover", "checkout")
			wants(t, "the evidence", judged.stdout, "VERDICT  ours", "--take-hold "+left.Hold.Execution)
			w.exits(0, "recover", "checkout", "--take-hold", left.Hold.Execution, "--yes", "--scope", scope)
			if exists(path) || !exists(path+".imported") {
				t.Errorf("the emergency file waits still: %v; imported: %v", exists(path), exists(path+".imported"))
			}
			if after := w.status(); after.Hold != nil || len(after.Uncertain) > 0 || w.sent("CreateRole") != 1 {
				t.Errorf("after recover: %+v, CreateRole sent %d times", after, w.sent("CreateRole"))
			}
			if said := w.exits(0, "status"); strings.Contains(said.stderr, "emergency") {
				t.Errorf("an imported file is announced again: %s", said.stderr)
			}
		})
	}
}

// swap puts a folder in the place of the store's file, as a failing disk or a careless hand might.
func (w *world) swap(db, kept string) {
	w.t.Helper()
	if err := os.Rename(db, kept); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Mkdir(db, 0o700); err != nil {
		w.t.Fatal(err)
	}
}

// before counts the requests of an operation that came before the first of another.
func (w *world) before(operation, first string) int {
	n := 0
	for _, r := range w.cloud.Log() {
		switch r.Operation {
		case first:
			return n
		case operation:
			n++
		}
	}
	return n
}

// emergency finds the path of the emergency file, which is the last thing said.
func (w *world) emergency(r result, form string) string {
	w.t.Helper()
	if form == "json" {
		var o struct{ Emergency string }
		r.decode(w.t, &o)
		return o.Emergency
	}
	said := strings.Split(strings.TrimRight(r.stdout, "\n"), "\n")
	return strings.TrimSpace(said[len(said)-1])
}
