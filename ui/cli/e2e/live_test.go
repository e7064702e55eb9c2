package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// running opens the interface on a deploy that waits for the answer to CreateRole.
func (w *world) running() (s *screen, release func()) {
	w.t.Helper()
	s = w.terminal(80, 24)
	w.example("checkout.yaml")
	w.exits(0, "plan", "checkout.yaml")
	release = w.hold("CreateRole")
	s.command("reclaim")
	s.shows("checkout@" + scope)
	s.press("Enter")
	s.shows("approved 0 of the 4")
	s.press("B")
	s.shows("Type 4 ")
	s.types("4")
	s.press("Enter")
	s.shows("approved 4 of the 4")
	s.press("D")
	s.shows("[> Cancel <]")
	s.press("Tab")
	s.shows("[> Deploy <]")
	s.press("Enter")
	w.until("CreateRole is under way", func() bool { return w.sent("CreateRole") == 1 })
	return s, release
}

func TestALiveRunIsDrawnAfterTheTerminalChangesItsSize(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, release := w.running()
	for _, size := range [][2]int{{200, 50}, {41, 13}, {30, 5}, {120, 40}, {80, 24}} {
		s.must("resize-window", "-x", fmt.Sprint(size[0]), "-y", fmt.Sprint(size[1]))
		want := "CheckoutRole"
		if size[0] < 40 {
			want = "needs 40×12 cells"
		}
		s.shows(want)
	}
	release()
	s.shows("The run has ended", "exit 0")
	s.press("q", "q", "q")
	s.restored(0)
}

func TestCtrlCDuringALiveRunDrainsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, release := w.running()
	s.shows("CheckoutRole")
	s.press("C-c")
	s.shows("DRAINING")
	release()
	s.shows("The run has ended", "exit 130")
	if after := w.status(); after.Hold != nil || len(after.Uncertain) > 0 || !strings.Contains(after.Last.Result, "interrupted") {
		t.Errorf("after the drain: %+v", after)
	}
	s.press("C-c")
	s.restored(0)
}

func TestCtrlCTwiceStopsNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, _ := w.running()
	s.press("C-c")
	s.shows("DRAINING")
	s.press("C-c")
	s.shows("under way: CheckoutRole", prompt)
	s.restored(130)
	if left := w.status(); len(left.Uncertain) != 1 || left.Hold == nil || left.Hold.Alive != "no" {
		t.Errorf("it left %+v, want the role uncertain under the hold of a dead process", left)
	}
}

func TestSIGTERMEndsTheInterfaceAndRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.crash()
	s := w.terminal(80, 24)
	s.command("reclaim")
	s.shows("3 uncertain")
	s.terminate()
	s.restored(143)
}

func TestSIGTERMDuringALiveRunDrainsItFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, release := w.running()
	s.shows("CheckoutRole")
	s.terminate()
	s.shows("DRAINING")
	release()
	s.shows(prompt)
	s.restored(143)
	if after := w.status(); after.Hold != nil || len(after.Uncertain) > 0 {
		t.Errorf("after the drain: %+v", after)
	}
}

// terminate sends SIGTERM to the interface, whose process runs in the terminal's foreground.
func (s *screen) terminate() {
	s.w.t.Helper()
	pid := strings.TrimSpace(s.must("display-message", "-p", "#{pane_pid}"))
	r := s.w.startAs("sh", "-c", "for p in $(ps -o pid= --ppid "+pid+"); do kill -TERM $p; done").result()
	if r.code != 0 {
		s.w.t.Fatalf("exit %d: %s", r.code, r.stderr)
	}
}

func TestTheInterfaceIsSuspendedAndGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.crash()
	s := w.terminal(80, 24)
	s.command("reclaim")
	s.shows("3 uncertain")
	s.press("C-z")
	s.shows("Stopped")
	if on := strings.TrimSpace(s.must("display-message", "-p", "#{alternate_on}")); on != "0" {
		t.Errorf("the alternate screen is still on while the interface is suspended")
	}
	s.command("fg")
	s.shows("3 uncertain", "same as: reclaim status")
	s.press("q")
	s.restored(0)
}

func TestALiveRunIsNotSuspended(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, release := w.running()
	s.press("C-z")
	s.shows("A run is live")
	release()
	s.shows("The run has ended", "exit 0")
}
