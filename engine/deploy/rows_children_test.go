package deploy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/providers/awssim"
)

// Rows 5 and 6: what has neither a name nor tags is presumed ours only when it is the one that is equal, and only once the
// window has passed. Where there are two, an operator chooses by physical ID, and the other is not touched.
func TestALostIntegrationIsPresumedOrChosen(t *testing.T) {
	text := stack(api, endpoint)
	t.Run("one equal candidate is presumed ours, after the window", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(api))
		w.killed(text, sending("Endpoint"))
		w.wantRow("Endpoint", "5") // taking the hold has waited longer than the window
		before := len(w.sim.Log())
		wantDone(t, w.deploy(text))
		if sent := w.changing(before); len(sent) != 0 || len(w.integrations()) != 1 {
			t.Errorf("sent %v, %d integrations are there", sent, len(w.integrations()))
		}
		if r := w.records()["Endpoint"]; r.Origin != record.Presumed || r.Status != record.Made {
			t.Errorf("its origin is %s and its status %s", r.Origin, r.Status)
		}
		w.wantNoop(text)
		if it := w.planDestroy().Item("Endpoint", 0); !slices.Contains(it.Needs, plan.GrantPresumed) {
			t.Errorf("destroying what is presumed ours asks for %v", it.Needs)
		}
	})
	t.Run("an answer that was lost in the run is nothing to go by inside the window, and is for recover --yes after it", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(api))
		w.sim.AddFault(awssim.Fault{Operation: "CreateIntegration", Kind: awssim.ExecutedUnanswered})
		g := w.graph(text)
		p := w.plan(g)
		if o := w.run(deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p), Strict: true}); o.Exit != deploy.ExitUncertain {
			t.Errorf("exit %d: %s", o.Exit, told(o))
		}
		w.wantRow("Endpoint", "5w")
		w.elapse()
		wantDone(t, w.recover(deploy.RecoverRequest{Auto: true}))
		wantDone(t, w.deploy(text))
		if len(w.integrations()) != 1 || w.executed("CreateIntegration") != 1 {
			t.Errorf("%d integrations, %d creates", len(w.integrations()), w.executed("CreateIntegration"))
		}
		w.wantNoop(text)
	})
	t.Run("a run that may waits for the window itself", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(api))
		w.sim.AddFault(awssim.Fault{Operation: "CreateIntegration", Kind: awssim.ExecutedUnanswered})
		began := w.clock.Now()
		wantDone(t, w.deploy(text))
		if waited := w.clock.Now().Sub(began); waited < 10*time.Second {
			t.Errorf("it waited %s, and the window is 10 s", waited)
		}
		if r := w.records()["Endpoint"]; r.Origin != record.Presumed || w.executed("CreateIntegration") != 1 {
			t.Errorf("its origin is %s, after %d creates", r.Origin, w.executed("CreateIntegration"))
		}
	})
	t.Run("two equal candidates are ambiguous, and one is chosen by its ID", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(api))
		w.killed(text, sending("Endpoint"))
		w.alike()
		w.elapse()
		w.wantRow("Endpoint", "6")
		before := len(w.sim.Log())
		if o := w.deploy(text); o.Exit != deploy.ExitUncertain {
			t.Errorf("exit %d: %s", o.Exit, told(o))
		}
		chosen := w.findings()["Endpoint"].Candidates[1].Physical
		wantDone(t, w.decideAs("Endpoint", record.Reclaim, chosen))
		if r := w.records()["Endpoint"]; r.Physical != chosen || r.Origin != record.Presumed {
			t.Errorf("the record has %s by %s, want %s presumed", r.Physical, r.Origin, chosen)
		}
		wantDone(t, w.deploy(text))
		if sent := w.changing(before); len(sent) != 0 || len(w.integrations()) != 2 {
			t.Errorf("sent %v, %d integrations are there", sent, len(w.integrations()))
		}
		w.wantNoop(text)
	})
	t.Run("an equal sibling that was there before is no candidate", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(api))
		w.alike()
		w.killed(text, sending("Endpoint"))
		theirs := w.integrations()[0].ID
		w.elapse()
		w.wantRow("Endpoint", "5")
		wantDone(t, w.deploy(text))
		if r := w.records()["Endpoint"]; strings.Contains(r.Physical, theirs) || len(w.integrations()) != 2 {
			t.Errorf("the record has %s, which a stranger made; %d are there", r.Physical, len(w.integrations()))
		}
		w.wantNoop(text)
		w.destroyChild(t, "Endpoint", stack(api))
		if left := w.integrations(); len(left) != 1 || left[0].ID != theirs {
			t.Errorf("%d integrations are left", len(left))
		}
	})
	t.Run("only a sibling that was there before: nothing was made by us, and nobody knows what may come", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(api))
		w.alike()
		w.sim.AddFault(awssim.Fault{Operation: "CreateIntegration", Kind: awssim.NotExecutedUnanswered})
		w.killed(text, sending("Endpoint"))
		w.elapse()
		w.wantRow("Endpoint", "14")
		before := len(w.sim.Log())
		if o := w.deploy(text); o.Exit != deploy.ExitUncertain || len(w.changing(before)) != 0 {
			t.Errorf("exit %d, sent %v", o.Exit, w.changing(before))
		}
		wantDone(t, w.decideAs("Endpoint", record.Retry, ""))
		wantDone(t, w.deploy(text))
		if len(w.integrations()) != 2 {
			t.Errorf("%d integrations are there", len(w.integrations()))
		}
		w.wantNoop(text)
	})
}

// destroyChild deploys text without id, with every approval.
func (w *world) destroyChild(t *testing.T, id, text string) {
	t.Helper()
	o := w.deploy(text)
	if result(o, id) != event.Done {
		t.Errorf("%s: %s", id, told(o))
	}
}

// S13: equal untaggable siblings are made one at a time, with a look between them, so that what the second finds there is
// the first one's, and neither steals the other's object.
func TestEqualSiblingsAreMadeOneAtATime(t *testing.T) {
	text := stack(api, endpoint, twin)
	between := func(w *world) (ops []string) {
		for _, r := range w.sim.Log() {
			if r.Operation == "CreateIntegration" || r.Operation == "GetIntegrations" {
				ops = append(ops, r.Operation)
			}
		}
		first := slices.Index(ops, "CreateIntegration")
		return ops[first:]
	}
	do := func(w *world, strict bool) deploy.Outcome {
		g := w.graph(text)
		p := w.plan(g)
		return w.run(deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p), Parallel: 16, Strict: strict})
	}
	run := func(w *world) deploy.Outcome { return do(w, false) }
	t.Run("all well", func(t *testing.T) {
		w := newWorld(t)
		wantDone(t, run(w))
		if ops := between(w); !slices.Equal(ops, []string{"CreateIntegration", "GetIntegrations", "CreateIntegration"}) {
			t.Errorf("sent %v", ops)
		}
		r := w.records()
		if len(w.integrations()) != 2 || r["Endpoint"].Physical == r["Twin"].Physical {
			t.Errorf("%d integrations; Endpoint has %s, Twin %s", len(w.integrations()), r["Endpoint"].Physical, r["Twin"].Physical)
		}
		w.wantNoop(text)
	})
	t.Run("the answer of the first is lost", func(t *testing.T) {
		w := newWorld(t)
		w.sim.AddFault(awssim.Fault{Operation: "CreateIntegration", Kind: awssim.ExecutedUnanswered})
		run(w)
		w.elapse()
		run(w)
		run(w)
		r := w.records()
		if len(w.integrations()) != 2 || r["Endpoint"].Physical == r["Twin"].Physical || w.executed("CreateIntegration") != 2 {
			t.Errorf("%d integrations; Endpoint has %q, Twin %q", len(w.integrations()), r["Endpoint"].Physical, r["Twin"].Physical)
		}
		w.wantNoop(text)
	})
	t.Run("the answers of both are lost", func(t *testing.T) {
		w := newWorld(t)
		w.sim.AddFault(awssim.Fault{Operation: "CreateIntegration", Kind: awssim.ExecutedUnanswered, Times: -1})
		do(w, true) // nobody waits, so that both are left
		w.sim.ClearFaults()
		w.elapse()
		before := len(w.sim.Log())
		run(w)
		w.wantRow("Endpoint", "6")
		w.wantRow("Twin", "6")
		if sent := w.changing(before); len(sent) != 0 || len(w.integrations()) != 2 {
			t.Errorf("sent %v, %d are there", sent, len(w.integrations()))
		}
		first, second, theirs := "Endpoint", "Twin", unstruck(w.findings()["Twin"])
		if len(theirs) == 2 { // nothing was there when it was sent, so it went out first
			first, second, theirs = second, first, unstruck(w.findings()["Endpoint"])
		}
		w.decideAs(second, record.Reclaim, theirs[0])
		w.wantRow(first, "5")
		wantDone(t, run(w))
		if got := w.records()[first].Physical; got == "" || got == theirs[0] || len(w.integrations()) != 2 {
			t.Errorf("%s has %q, %s %q", first, got, second, theirs[0])
		}
		w.wantNoop(text)
	})
}

// unstruck are the candidates of a finding that may be the one, by physical ID.
func unstruck(f recovery.Finding) (out []string) {
	for _, c := range f.Candidates {
		if c.Strike == "" {
			out = append(out, c.Physical)
		}
	}
	return out
}

// A route is told by what it is the only one of: its key.
func TestARouteIsToldByItsNaturalKey(t *testing.T) {
	text := stack(api, route)
	theirs := func(w *world) {
		w.stranger("CreateRoute", map[string]any{"apiId": w.sim.State().Apis[0].ID, "routeKey": "POST /orders", "operationName": "theirs"})
	}
	t.Run("a stranger's is foreign, and can be adopted", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(api))
		theirs(w)
		if it := w.plan(w.graph(text)).Item("Route", 0); it.Action != plan.Blocked || it.Reason != plan.Foreign {
			t.Errorf("planned %s %s: %s", it.Action, it.Reason, it.Detail)
		}
		before := len(w.sim.Log())
		if o := w.deploy(text); o.Exit != deploy.ExitBlocked || len(w.changing(before)) != 0 {
			t.Errorf("exit %d, sent %v", o.Exit, w.changing(before))
		}
		wantDone(t, w.adopting(text, "Route"))
		if got := w.routes(); len(got) != 1 || got[0].OperationName != "order" || w.records()["Route"].Origin != record.ByAdopt {
			t.Errorf("there are %d routes, the record is by %s", len(got), w.records()["Route"].Origin)
		}
		w.wantNoop(text)
	})
	t.Run("a lost answer is presumed ours by key and params", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(api))
		w.killed(text, sending("Route"))
		w.elapse()
		w.wantRow("Route", "5")
		wantDone(t, w.deploy(text))
		if w.executed("CreateRoute") != 1 || len(w.routes()) != 1 {
			t.Errorf("%d creates, %d routes", w.executed("CreateRoute"), len(w.routes()))
		}
		w.wantNoop(text)
	})
	t.Run("S3: two resources with one natural key are refused", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(api))
		both := stack(api, route, strings.Replace(route, "Route:", "Again:", 1))
		if o := w.deploy(both); o.Exit != deploy.ExitBlocked || len(w.routes()) != 0 {
			t.Errorf("exit %d: %s; %d routes", o.Exit, told(o), len(w.routes()))
		}
		wantDone(t, w.deploy(text))
		if it := w.plan(w.graph(both)).Item("Again", 0); it.Reason != plan.ClaimedTwice || !strings.Contains(it.Detail, w.records()["Route"].Physical) {
			t.Errorf("planned %s %s: %s", it.Action, it.Reason, it.Detail)
		}
		if o := w.deploy(both); result(o, "Again") != event.Blocked || result(o, "Route") != event.Unchanged || len(w.routes()) != 1 {
			t.Errorf("%s; %d routes", told(o), len(w.routes()))
		}
	})
	t.Run("S3: two of them in an API that is made in the same run: one is made, and the other refused", func(t *testing.T) {
		w := newWorld(t)
		o := w.deploy(stack(api, route, strings.Replace(route, "Route:", "Again:", 1)))
		if o.Exit == 0 || w.executed("CreateRoute") != 1 || len(w.records()) != 2 {
			t.Errorf("exit %d, %d routes made, records %v", o.Exit, w.executed("CreateRoute"), w.records())
		}
	})
	t.Run("a key that changes in place keeps the ID", func(t *testing.T) {
		w := newWorld(t)
		wantDone(t, w.deploy(text))
		id := w.routes()[0].ID
		moved := strings.Replace(text, "POST /orders", "PUT /orders", 1)
		wantDone(t, w.deploy(moved))
		if got := w.routes(); len(got) != 1 || got[0].ID != id || got[0].RouteKey != "PUT /orders" {
			t.Errorf("%d routes, the first is %+v", len(got), got[0])
		}
		w.wantNoop(moved)
	})
	t.Run("a stranger's that came between plan and create is not ours", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(api))
		w.sim.AddFault(awssim.Fault{Operation: "CreateRoute", Then: []awssim.Action{{Op: "CreateRoute",
			Params: map[string]any{"apiId": w.sim.State().Apis[0].ID, "routeKey": "POST /orders", "operationName": "theirs"}}}})
		o := w.deploy(text)
		if o.Exit == 0 || len(w.routes()) != 1 || w.routes()[0].OperationName != "theirs" {
			t.Errorf("exit %d, the route is %+v", o.Exit, w.routes()[0])
		}
		must(t, w.clock.Sleep(t.Context(), time.Hour))
		w.wantRow("Route", "7")
	})
}
