package e2e

import (
	"strings"
	"syscall"
	"testing"
)

// waiting starts a deploy of the checkout stack, one resource at a time, and returns while it waits for the answer to
// CreateRole, which comes with release.
func (w *world) waiting(args ...string) (p *process, release func()) {
	w.t.Helper()
	w.example("checkout.yaml")
	release = w.hold("CreateRole")
	p = w.start(append([]string{"deploy", "checkout.yaml", "--yes", "--scope", scope, "--parallel", "1"}, args...)...)
	w.until("CreateRole is under way", func() bool { return w.sent("CreateRole") == 1 })
	return p, release
}

func TestAnInterruptDrainsARun(t *testing.T) {
	t.Parallel()
	for sig, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 143} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p, release := w.waiting("--json")
			begun := map[string]int{"CreateApi": w.sent("CreateApi"), "CreateLogGroup": w.sent("CreateLogGroup")}
			p.signal(sig)
			w.until("the signal is answered", func() bool { return strings.Contains(p.stderr.String(), "nothing new is started") })
			release()
			r := p.result()
			if r.code != want {
				t.Errorf("exit %d, want %d\n%s", r.code, want, r.stderr)
			}
			var o struct{ Items []struct{ ID, Result string } }
			r.decode(t, &o)
			results := map[string]string{}
			for _, it := range o.Items {
				results[it.ID] = it.Result
			}
			if results["CheckoutRole"] != "done" || results["Settings"] != "skipped" {
				t.Errorf("results are %v, want the role done, which was under way, and the settings skipped", results)
			}
			for op, n := range begun {
				if w.sent(op) != n {
					t.Errorf("%s was begun after the signal", op)
				}
			}
			after := w.status()
			if after.Hold != nil || len(after.Uncertain) > 0 || after.Counts["created"] == 0 {
				t.Errorf("after the drain status says %+v, want the role created, nothing uncertain and no hold", after)
			}
			wants(t, "the last run", after.Last.Result, "interrupted")
			w.exits(0, "deploy", "checkout.yaml", "--yes", "--scope", scope)
			if w.sent("CreateRole") != 1 {
				t.Errorf("CreateRole was sent %d times, want once", w.sent("CreateRole"))
			}
		})
	}
}

func TestASecondInterruptStopsNowAndNamesWhatIsUncertain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, _ := w.waiting()
	p.signal(syscall.SIGINT)
	w.until("the signal is answered", func() bool { return strings.Contains(p.stderr.String(), "nothing new is started") })
	p.signal(syscall.SIGINT)
	r := p.result()
	if r.code != 3 { // before 130: what is uncertain counts first
		t.Errorf("exit %d, want 3\n%s", r.code, r.stderr)
	}
	wants(t, "stdout", r.stdout, "CheckoutRole", "next:", "reclaim recover checkout")
	left := w.status()
	if len(left.Uncertain) != 1 || left.Uncertain[0] != "CheckoutRole" {
		t.Errorf("uncertain is %v, want the role", left.Uncertain)
	}
	line := []string{"recover", "checkout", "--yes", "--scope", scope}
	if left.Hold != nil {
		line = append(line, "--take-hold", left.Hold.Execution)
	}
	w.exits(0, line...)
	if n := len(w.cloud.State().Roles); n != 1 || w.sent("CreateRole") != 1 {
		t.Errorf("%d roles and %d CreateRole, want one of each", n, w.sent("CreateRole"))
	}
	if after := w.status(); after.Hold != nil || len(after.Uncertain) > 0 {
		t.Errorf("after recover: %+v", after)
	}
}
