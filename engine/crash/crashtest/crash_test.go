//go:build crash

// Package crashtest kills the real program, recovers as an operator would, and then asks the cloud, not the program, what
// became of everything: at every crash point that a recorded run passes, against the simulated cloud, and at moments spread
// over a measured run, against moto.
//
// Its one rule: a kill counts only if it killed a run that had begun. A recorded point that is not reached is a failure, and
// so is a run that ends before it; a moment that comes too late is drawn again.
package crashtest

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reclaim/engine/crash"
	"reclaim/engine/record"
	"reclaim/providers/awssim"
)

// worlds is how many worlds of a scenario share its points. Recovering is mostly waiting for deadlines and windows, so more
// tests run at a time than there are processors, unless -parallel says otherwise.
const worlds = 2

func TestMain(m *testing.M) {
	err := flag.Set("test.parallel", "6")
	if err == nil {
		buildDir, err = os.MkdirTemp("", "reclaim-crash")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(buildDir)
	os.Exit(code)
}

// scenario is a verb to be killed, what comes before it, and what an operator runs to bring it to an end.
type scenario struct {
	name   string
	before []string // templates deployed first, by name
	stuck  string   // template deployed after them, whose Settings cannot move because a stranger's file is in the way
	verb   string   // template to deploy, "destroy", or "rollback" of the last deploy
	// faults make the killed run meet something that leaves an uncertain create, which a recover is then killed on.
	faults []awssim.Fault
	kill   string // "deploy", "destroy", "rollback" or "recover": which command dies
}

var scenarios = []scenario{
	{name: "deploy", verb: "first", kill: "deploy"},
	{name: "update", before: []string{"first"}, verb: "updated", kill: "deploy"},
	{name: "replace", before: []string{"first"}, verb: "replaced", kill: "deploy"},
	{name: "destroy", before: []string{"first"}, verb: "destroy", kill: "destroy"},
	{name: "rollback", before: []string{"first"}, verb: "rollback", kill: "rollback"},
	{name: "rollback of a replacement", before: []string{"first"}, stuck: "moved", verb: "rollback", kill: "rollback"},
	{name: "recover", verb: "first", kill: "recover", faults: []awssim.Fault{
		{Operation: "CreateRole", Kind: awssim.ExecutedUnanswered},
		{Operation: "CreateApi", Kind: awssim.ExecutedUnanswered},
		{Operation: "CreateLogGroup", Kind: awssim.NotExecutedUnanswered},
	}},
}

// prepare brings a world to where the killed command begins.
func (w *simWorld) prepare(sc scenario) {
	w.t.Helper()
	for _, name := range sc.before {
		if a := w.reclaim(nil, w.verb(name)...); a.Exit != 0 {
			w.t.Fatalf("deploy of %q ended with %d:\n%s", name, a.Exit, a.text)
		}
	}
	if sc.stuck != "" {
		w.stick(sc.stuck)
	}
	if sc.kill == "recover" {
		w.strand(sc)
	}
}

// strand leaves creates uncertain: each answer is lost, and nothing is looked up again.
func (w *simWorld) strand(sc scenario) {
	w.t.Helper()
	for _, f := range sc.faults {
		w.sim.AddFault(f)
	}
	if a := w.reclaim(nil, append(w.verb(sc.verb), "--strict")...); a.Exit != 3 {
		w.t.Fatalf("a strict deploy with lost answers ended with %d, want 3:\n%s", a.Exit, a.text)
	}
}

// command is the command line that is killed.
func (w *simWorld) command(sc scenario) []string {
	if sc.kill == "recover" {
		w.use(sc.verb)
		return w.recoverArgs(w.hold())
	}
	return w.verb(sc.verb)
}

// record runs the command uncrashed and returns the points that it passed.
func (w *simWorld) record(sc scenario) []string {
	w.t.Helper()
	file := w.path("points")
	a := w.reclaim([]string{"RECLAIM_CRASH_RECORD=" + file}, w.command(sc)...)
	if a.Exit != 0 && !(sc.kill == "recover" && a.Exit == 3) {
		w.t.Fatalf("the uncrashed run ended with %d:\n%s", a.Exit, a.text)
	}
	b, err := os.ReadFile(file)
	must(w.t, err)
	return strings.Fields(string(b))
}

// tally is what the harness did, printed at the end and checked for completeness.
type tally struct {
	mu    sync.Mutex
	kills map[string]int      // by scenario
	kinds map[crash.Point]int // by kind of point
}

var total = tally{kills: map[string]int{}, kinds: map[crash.Point]int{}}

func (c *tally) add(scenario, point string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kills[scenario]++
	kind, _, _ := strings.Cut(point, "@")
	c.kinds[crash.Point(kind)]++
}

// TestEveryPoint kills each scenario's command at every recorded point.
func TestEveryPoint(t *testing.T) {
	began := time.Now()
	t.Run("scenarios", func(t *testing.T) {
		for _, sc := range scenarios {
			t.Run(sc.name, func(t *testing.T) {
				t.Parallel()
				killEverywhere(t, sc)
			})
		}
	})
	for _, k := range crash.Points() {
		if total.kinds[k] == 0 && !t.Failed() {
			t.Errorf("no kill at any point of kind %q: it is never passed", k)
		}
	}
	t.Logf("kills by scenario %v, by kind of point %v, in %s", total.kills, total.kinds, time.Since(began).Round(time.Second))
}

// killEverywhere records a scenario's points in one world and deals them out to several alike.
func killEverywhere(t *testing.T, sc scenario) {
	w := newSimWorld(t)
	w.prepare(sc)
	points := w.record(sc)
	if len(points) < 10 {
		t.Fatalf("only %d points were recorded: %v", len(points), points)
	}
	n := 0
	for part := range slices.Chunk(points, (len(points)+worlds-1)/worlds) {
		n++
		t.Run(fmt.Sprintf("world %d", n), func(t *testing.T) {
			t.Parallel()
			killAtEach(t, sc, part)
		})
	}
}

func killAtEach(t *testing.T, sc scenario, points []string) {
	w := newSimWorld(t)
	w.prepare(sc)
	start := t.TempDir()
	w.save(start)
	for _, p := range points {
		ok := t.Run(p, func(t *testing.T) {
			w.t = t
			defer func() { w.t = nil }()
			w.restore(start)
			a := w.reclaim([]string{"RECLAIM_CRASH_AT=" + p}, w.command(sc)...)
			if !a.killed {
				t.Fatalf("the run was not killed at %s:\n%s", p, a.text)
			}
			total.add(sc.name, p)
			w.wantIntentBeforeCall(p)
			w.recover()
			if sc.verb == "rollback" {
				w.finishRollback(sc)
			} else {
				w.finish(sc.verb)
			}
		})
		if !ok {
			return // the first failing point of a world says enough
		}
	}
}

// wantIntentBeforeCall: whenever the program is killed right before a create leaves it, its intent is on disk (S6).
func (w *simWorld) wantIntentBeforeCall(point string) {
	w.t.Helper()
	kind, rest, _ := strings.Cut(point, "@")
	id, n, _ := strings.Cut(rest, "#")
	if crash.Point(kind) != crash.BeforeSend || n != "1" {
		return
	}
	if !slices.ContainsFunc(w.records(), func(r record.Record) bool {
		return r.ID == id && (r.Intent != nil && len(r.Intent.Attempts) > 0 || r.InFlight != nil)
	}) {
		w.t.Fatalf("killed at %s, and no attempt of %s is on disk", point, id)
	}
}
