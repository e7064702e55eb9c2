package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestARunIsFollowedFromAnotherProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, release := w.waiting()
	said := w.exits(0, "status", "checkout")
	wants(t, "status", said.stdout, "progress", "of 4 settled", "under way", "CheckoutRole: create since", "next       reclaim status checkout --follow")
	var st struct {
		Progress struct {
			Total    int
			UnderWay []struct{ ID, Phase string }
			Ended    bool
		}
	}
	w.exits(0, "status", "checkout", "--json").decode(t, &st)
	if pr := st.Progress; pr.Total != 4 || len(pr.UnderWay) == 0 || pr.Ended {
		t.Errorf("status --json says %+v", pr)
	}
	f := w.start("status", "checkout", "--follow")
	w.until("the follower shows the run", func() bool { return strings.Contains(f.stdout.String(), "4 resources, execution e-") })
	if strings.Contains(f.stdout.String(), "CheckoutRole") {
		t.Errorf("the role was shown as done:\n%s", f.stdout.String())
	}
	before := time.Now()
	release()
	w.until("the follower shows the role", func() bool { return strings.Contains(f.stdout.String(), "CheckoutRole") })
	if late := time.Since(before); late > 5*time.Second { // within a second where the machine is not busy: see BenchmarkWatched
		t.Errorf("the role was shown after %s", late)
	}
	if code := p.wait(); code != 0 {
		t.Fatalf("deploy: exit %d\n%s", code, p.stderr.String())
	}
	if r := f.result(); r.code != 0 || !strings.Contains(r.stdout, "4 done (exit 0)") {
		t.Errorf("the follower exits %d:\n%s%s", r.code, r.stdout, r.stderr)
	}
	wants(t, "status afterwards", w.exits(0, "status", "checkout", "--follow").stdout, "is not held: nothing runs")
}

func TestFollowingARunThatIsKilledSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, _ := w.waiting()
	f := w.start("status", "checkout", "--follow")
	w.until("the follower shows the run", func() bool { return strings.Contains(f.stdout.String(), "execution e-") })
	p.kill()
	r := f.result()
	if r.code != 0 {
		t.Errorf("exit %d", r.code)
	}
	wants(t, "the follower", r.stdout, "is dead, and left its hold", "--take-hold e-")
	wants(t, "status", w.exits(0, "status").stdout, "under way  CheckoutRole: create since")
}

// A log without a terminal has a bounded number of lines, however many resources there are.
func TestAThousandResourcesAreNoThousandLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var stack strings.Builder
	stack.WriteString("Parameters: {Mode: {Type: String, Default: '0644'}}\nResources:\n")
	for i := range 1000 {
		fmt.Fprintf(&stack, "  F%04d: {Type: Std::FS::File, Properties: {Path: ./out/%d, Content: x, Mode: !Ref Mode}}\n", i, i)
	}
	w.file("many.yaml", stack.String())
	for _, args := range [][]string{{"deploy", "many.yaml", "--yes"}, {"deploy", "many.yaml", "--yes", "--parameters", "Mode=0600"}} {
		r := w.exits(0, args...)
		if n := strings.Count(r.stdout+r.stderr, "\n"); n > 800 || !strings.Contains(r.stdout, "1000 done") {
			t.Errorf("%v prints %d lines", args, n)
		}
	}
	r := w.exits(4, "deploy", "many.yaml", "--stack", "other", "--yes")
	if n := strings.Count(r.stdout+r.stderr, "\n"); n > 800 {
		t.Errorf("1,000 foreign files are %d lines", n)
	}
}
