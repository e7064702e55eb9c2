package e2e

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
)

func TestASecondRunIsRefusedWhileTheFirstLives(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, release := w.waiting()
	held := w.status().Hold
	if held == nil || held.Alive != "yes" || held.Owner.PID != p.cmd.Process.Pid {
		t.Fatalf("the hold is %+v, want one of the living process %d", held, p.cmd.Process.Pid)
	}
	take := "reclaim recover checkout --take-hold " + held.Execution
	for _, args := range [][]string{
		{"deploy", "checkout.yaml", "--yes", "--scope", scope}, {"destroy", "checkout", "--yes", "--scope", scope},
		{"recover", "checkout", "--yes", "--scope", scope}, {"recover", "checkout", "--yes", "--scope", scope, "--take-hold", held.Execution},
	} {
		r := w.exits(5, args...)
		wants(t, fmt.Sprint(args), r.stdout+r.stderr, "running", fmt.Sprint("pid ", held.Owner.PID), take)
	}
	r := w.exits(5, "hold", "clear", held.Execution)
	wants(t, "hold clear", r.stderr, "is running", "--force")
	release()
	if code := p.wait(); code != 0 {
		t.Errorf("the first run exits %d, want 0\n%s", code, p.stderr.String())
	}
	if w.sent("CreateRole") != 1 {
		t.Errorf("CreateRole was sent %d times", w.sent("CreateRole"))
	}
}

// stalled is a deploy that was stopped while the answer to its CreateRole was under way, and whose hold was cleared.
func (w *world) stalled() (p *process, release func()) {
	w.t.Helper()
	p, release = w.waiting("--json")
	execution := w.status().Hold.Execution
	p.signal(syscall.SIGSTOP)
	w.exits(5, "recover", "checkout", "--take-hold", execution, "--yes", "--scope", scope) // it lives, as far as anybody can tell
	w.exits(0, "hold", "clear", execution, "--force")
	return p, release
}

// goesOn lets the stalled process go on, and wants it to change nothing and to say that its hold is gone.
func (p *process) goesOn(code int) {
	p.w.t.Helper()
	changes := p.w.changes()
	p.signal(syscall.SIGCONT)
	r := p.result()
	var o struct{ Exits []int }
	r.decode(p.w.t, &o)
	if r.code != code || !slices.Contains(o.Exits, 5) {
		p.w.t.Errorf("the stalled process exits %d and lists %v, want %d and 5 among them\n%s", r.code, o.Exits, code, r.stderr)
	}
	if p.w.changes() != changes {
		p.w.t.Errorf("it sent %d changing calls after its hold was gone", p.w.changes()-changes)
	}
}

// S33, S34: a process whose hold is gone changes nothing more, and what it learns is evidence for those who go on.
func TestAStalledProcessHandsItsAnswerOverAsEvidence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, release := w.stalled()
	release()
	p.goesOn(3) // the role is uncertain by its record, and 3 comes before 5
	if left := w.status(); len(left.Uncertain) != 1 || left.Hold != nil {
		t.Fatalf("it left %+v, want the role uncertain, as its record says, and no hold", left)
	}
	r := w.exits(3, "recover", "checkout")
	wants(t, "the evidence", r.stdout, "VERDICT  ours", "reported "+w.cloud.State().Roles[0].ID, "stale holder")
}

func TestAStalledProcessChangesNothingAfterAnotherTookOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, _ := w.stalled()
	w.exits(0, "recover", "checkout", "--yes", "--scope", scope)
	taken := w.status()
	if len(taken.Uncertain) > 0 || taken.Hold != nil {
		t.Fatalf("recover left %+v", taken)
	}
	p.goesOn(3) // it slept past the deadline of its call and never learns the answer
	if after := w.status(); after.Hold != nil || len(after.Uncertain) > 0 || after.Counts["created"] != taken.Counts["created"] {
		t.Errorf("it changed the store: %+v, before %+v", after, taken)
	}
}
