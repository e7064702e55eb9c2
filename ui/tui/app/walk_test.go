package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
)

// One walk from review to done: what is approved, and only that, is what Deploy gets.
func TestReviewApproveDeployWatch(t *testing.T) {
	b := newBackend()
	o := operate(t, b, Options{Start: StartPlan, Stack: orders, Theme: "none"})
	o.sees("3 blocked", "8 same", "INVALID", "hold none")
	o.press("A")
	o.sees("there is nothing to approve")
	o.press("D")
	o.sees("Nothing is approved")
	o.press("down", "down", "down", "A", "down", "A")
	o.sees("approved 2 of the 3 that can run: OrdersRole, OrdersFn")
	if got, want := o.r.top().Command(), "reclaim deploy --yes --scope 123456789012/eu-west-1 --only OrdersRole --only OrdersFn --plan "+b.plan.Fingerprint[:12]; got != want {
		t.Errorf("same as: %s, want %s", got, want)
	}
	o.press("D")
	o.sees("Deploy orders-prod@123456789012/eu-west-1?", "sends PutRolePolicy", "[> Cancel <]", "1 not approved and 3 blocked stay")
	o.press("D", "enter") // the key that opened it confirms nothing, and enter is on Cancel
	if b.changed() != 0 {
		t.Fatal("deployed from Cancel")
	}
	o.press("D", "tab")
	o.sees("[> Deploy <]")
	o.press("enter")
	want := [][]deploy.Approval{{{ID: "OrdersRole", Gen: 1, Grants: []plan.Grant{plan.GrantChange}}, {ID: "OrdersFn", Gen: 1, Grants: []plan.Grant{plan.GrantChange}}}}
	if d := cmp.Diff(want, b.deploys); d != "" {
		t.Fatal(d)
	}
	o.sees("ended, exit 3", "2 done", "1 uncertain", "next: reclaim recover orders-prod", "PutRule was sent and not answered")
	o.sees("+ done")
	o.press("x")
	o.seesNot("+ done")
	o.press("esc")
	o.sees("this plan was run")
	o.press("A", "D")
	o.sees("This plan was run. l looks again")
	if len(b.deploys) != 1 {
		t.Fatal("a plan was deployed twice")
	}
}

// A run that is live shows what goes on, moves its clock, cannot be left, and drains at the first ctrl+c.
func TestLiveRunIsWatchedAndDrained(t *testing.T) {
	b := newBackend()
	stopped := make(chan struct{}, 2)
	b.run = func(ctx context.Context, sink event.Sink) (deploy.Outcome, error) {
		emit := half(sink)
		<-ctx.Done()
		stopped <- struct{}{}
		emit(9*time.Second, event.Draining{Why: "interrupted"})
		emit(9*time.Second, event.Settled{ID: "OrdersFn", Gen: 1, Result: event.Done})
		return deploy.Outcome{Exit: 130, Summary: "drained"}, nil
	}
	o := operate(t, b, Options{Start: StartPlan, Stack: orders, Theme: "none"})
	o.press("down", "down", "down", "A", "D", "tab")
	o.live, b.clock = true, now.Add(7*time.Second)
	o.press("enter")
	o.await("not visible yet")
	o.sees("1 of 3 settled", "settle", "0:06  LastUpdateStatus", "0:08 left", "live")
	o.press("esc")
	o.sees("A run is live")
	b.clock = now.Add(9 * time.Second)
	o.send(ageMsg{})
	o.press("ctrl+c")
	o.sees("DRAINING (interrupted): nothing new starts; 2 under way", "ctrl+c again stops now", "draining")
	<-stopped
	o.await("ended, exit 130")
	o.sees("drained")

	o.b.plan = harshPlan() // a second run is drained first, too
	o.live = false
	o.press("esc", "l", "end", "A", "D", "tab")
	o.live = true
	o.press("enter")
	o.await("not visible yet")
	o.press("ctrl+c")
	if o.quit {
		t.Fatal("the second run was stopped at the first ctrl+c")
	}
	o.await("ended, exit 130")
	o.press("ctrl+c")
	if !o.quit || o.r.stopped != nil {
		t.Fatal("after the end ctrl+c quits, and nothing was stopped by force")
	}
}

func TestSecondInterruptStopsNowAndNamesWhatIsUnderWay(t *testing.T) {
	b := newBackend()
	release := make(chan struct{})
	defer close(release)
	b.run = func(_ context.Context, sink event.Sink) (deploy.Outcome, error) {
		half(sink)
		<-release
		return deploy.Outcome{}, nil
	}
	o := operate(t, b, Options{Start: StartPlan, Stack: orders, Theme: "none"})
	o.press("down", "down", "down", "A", "D", "tab")
	o.live = true
	o.press("enter")
	o.await("not visible yet")
	o.press("ctrl+c")
	if o.quit {
		t.Fatal("the first ctrl+c must drain")
	}
	o.press("ctrl+c")
	if !o.quit {
		t.Fatal("the second ctrl+c must stop")
	}
	if got, want := o.r.stopped.Error(), "under way: OrdersFn (settle), OrdersTick (wait); reclaim status"; !strings.Contains(got, want) {
		t.Fatalf("got %q, want %q in it", got, want)
	}
}

// S25, S28: every kind of loss has its own word; a pasted one counts for nothing, and bulk leaves all of them out.
func TestLossIsTypedAndDataIsAskedApart(t *testing.T) {
	b := newBackend()
	b.plan = harshPlan()
	o := operate(t, b, Options{Start: StartPlan, Stack: orders, Theme: "none"})
	o.sees("& adopt", "% replace", "- delete", "~ update")

	o.press("B")
	o.sees("Approve 1 item", "Type 1 and press enter")
	o.write("2")
	o.press("enter")
	o.sees("not the same")
	o.press("backspace")
	o.write("1")
	o.press("enter")
	o.sees("approved 1 of the 4 that can run: Role")

	o.press("down", "A") // the replace
	o.sees("delete first: the name must stay", "Type Table")
	o.send(tea.PasteMsg{Content: "Table"})
	o.press("enter")
	o.sees("not the same")
	o.write("Table")
	o.press("enter")
	o.sees("Destroy data of Table", "4120 items", "Type orders and press enter")
	o.press("esc")
	o.sees("approved 1 of the 4")
	o.press("A")
	o.write("Table")
	o.press("enter")
	o.write("orders")
	o.press("enter")
	o.sees("approved 2 of the 4 that can run: Table, Role")

	o.press("D", "tab", "enter")
	want := [][]deploy.Approval{{{ID: "Table", Gen: 2, Grants: []plan.Grant{plan.GrantReplace, plan.GrantDeleteFirst, plan.GrantDataLoss}},
		{ID: "Role", Gen: 1, Grants: []plan.Grant{plan.GrantChange}}}}
	if d := cmp.Diff(want, b.deploys); d != "" {
		t.Fatal(d)
	}
	if got := o.r.top().Command(); !strings.Contains(got, "--allow-replace Table=delete-first --allow-data-loss Table") {
		t.Fatalf("the command lacks the words for the loss: %s", got)
	}
}

// Approvals bind to the plan on the screen.
func TestAnotherPlanVoidsApprovals(t *testing.T) {
	b := newBackend()
	o := operate(t, b, Options{Start: StartPlan, Stack: orders, Theme: "none"})
	o.press("down", "down", "down", "A")
	moved := ordersPlan()
	moved.Fingerprint = "ffff0000"
	b.replan = func() (*plan.Plan, error) { return moved, nil }
	o.press("l")
	o.sees("1 approval dropped", "approved 0 of the 3", "ffff0000")
}

func TestHeldStackIsNotDeployed(t *testing.T) {
	b := newBackend()
	b.held = true
	o := operate(t, b, Options{Start: StartPlan, Stack: orders, Theme: "none"})
	o.press("down", "down", "down", "A", "D")
	o.sees("Held by execution e-9c41. R steps through")
	o.press("R")
	o.sees("recover ›", "OrdersRole", "pid 48213 is dead")
}

// Three verdicts, each decided by key, then carried out in one confirmed run that takes the hold.
func TestRecoverThreeVerdicts(t *testing.T) {
	b := newBackend()
	b.held = true
	o := operate(t, b, Options{Start: StartStacks, Theme: "none"})
	o.press("R")
	o.sees("record 1 of 3", "not looked at yet", "l looks at the cloud")
	o.press("C")
	o.sees("was not looked at yet")
	o.press("l")
	o.sees("looked 4s ago", "VERDICT  ours", "against  -", "missing  -", "decided 0 of 3")
	o.press("C")
	o.sees("record 2 of 3", "VERDICT  ambiguous", "decided 1 of 3")
	o.press("d")
	o.sees("CANDIDATE 1", "a1b2c3")
	o.press("d", "down", "C")
	o.sees("record 3 of 3", "VERDICT  foreign", "decided 2 of 3")
	o.press("C")
	o.sees("Type made by payments")
	o.press("enter")
	o.sees("not the same")
	o.press("esc", "down", "C")
	o.sees("decided 3 of 3", "Carry out in orders-prod", "[> Cancel <]") // the last choice leads to the summary
	if b.changed() != 0 {
		t.Fatal("something was kept before the summary was confirmed")
	}
	o.press("s")
	o.sees("takes the hold of e-9c41", "reclaim", "d4e5f6", "abandon", "[> Cancel <]")
	o.press("enter")
	if b.changed() != 0 {
		t.Fatal("carried out from Cancel")
	}
	o.press("s", "tab", "enter")
	if len(b.recovers) != 1 {
		t.Fatalf("Recover was called %d times", len(b.recovers))
	}
	r := b.recovers[0]
	if r.TakeHold != "e-9c41" || r.Auto {
		t.Errorf("hold %q auto %v: want the dead run's hold, and nothing beyond the choices", r.TakeHold, r.Auto)
	}
	type bound struct {
		ID, Facts string
		Rev       uint64
		Choice    record.Choice
		Physical  string
	}
	var got []bound
	for _, d := range r.Decide {
		got = append(got, bound{d.ID, d.Facts, d.Rev, d.Choice, d.Physical})
	}
	want := []bound{{"OrdersRole", "facts-role", 7, record.Reclaim, ""}, {"OrdersApi", "facts-api", 3, record.Reclaim, "d4e5f6"}, {"OrdersLogs", "facts-logs", 4, record.Abandon, ""}}
	if d := cmp.Diff(want, got); d != "" { // S17
		t.Error(d)
	}
	if d := cmp.Diff(r.Decide, b.decisions); d != "" {
		t.Errorf("what was kept is not what was carried out: %s", d)
	}
	o.size(200, 50)
	o.sees("same as: reclaim recover orders-prod --take-hold e-9c41 --decide OrdersRole=reclaim --decide OrdersApi=reclaim:d4e5f6 --decide OrdersLogs=abandon", "ended, exit 3")
	b.findings = func(bool) []recovery.Finding { return nil }
	b.held = false
	o.press("esc")
	o.sees("Nothing is uncertain in this stack", "hold: none")
}

// A recovery is not the end: the deploy that finishes is one key away, and starts from a look, not from the old plan.
func TestRecoveryLeadsToTheDeployThatFinishes(t *testing.T) {
	b := newBackend()
	b.held = true
	looks := 0
	b.replan = func() (*plan.Plan, error) {
		looks++
		p := ordersPlan()
		p.Fingerprint = "ffff0000ffff0000"
		return p, nil
	}
	o := operate(t, b, Options{Start: StartRecovery, Stack: orders, Theme: "none"})
	o.press("l", "C", "C", "down", "C", "tab", "enter")
	o.sees("The run has ended", "plan what is left", "D deploy…")
	b.held = false
	o.press("D")
	o.sees("plan › orders-prod", "ffff0000", "approved 0 of the 3")
	if looks != 1 || len(b.deploys) != 0 {
		t.Fatalf("looked %d times, deployed %d times: want one look and nothing sent", looks, len(b.deploys))
	}
	o.press("esc")
	o.sees("The run has ended")
}

// S17: a choice is void once revision or facts moved.
func TestChoiceIsDroppedWhenFactsMove(t *testing.T) {
	b := newBackend()
	o := operate(t, b, Options{Start: StartRecovery, Stack: orders, Theme: "none"})
	o.press("l", "C", "C")
	o.sees("decided 2 of 3")
	b.findings = func(look bool) []recovery.Finding {
		list := ordersFindings(look)
		list[0].Facts = "facts-moved"
		return list
	}
	o.press("l")
	o.sees("choice dropped: OrdersRole", "decided 1 of 3")
	o.press("s", "tab", "enter")
	if len(b.recovers) != 1 || len(b.recovers[0].Decide) != 1 || b.recovers[0].Decide[0].ID != "OrdersApi" {
		t.Fatalf("carried out: %+v", b.recovers)
	}
}

// S15: a typed ID is judged before it can be chosen.
func TestEnteredIDIsJudgedFirst(t *testing.T) {
	b := newBackend()
	asked := ""
	b.enter = func(physical string) (recovery.Finding, error) {
		asked = physical
		f := ordersFindings(true)[1]
		f.Verdict, f.Summary, f.Facts = recovery.VerdictUnproven, "Nothing on zz99 says that it is ours.", "facts-zz99"
		f.Candidates = f.Candidates[:1]
		f.Offered = []recovery.Option{{Choice: record.Adopt, Physical: physical, Call: "TagResource", Loss: "nothing", Follows: "it is managed from now on", Typed: "zz99"}}
		return f, nil
	}
	o := operate(t, b, Options{Start: StartRecovery, Stack: orders, Theme: "none"})
	o.press("l", "E")
	o.sees("no ID has to be entered")
	o.press("n", "E")
	o.send(tea.PasteMsg{Content: "pasted"})
	o.write("zz99")
	o.press("enter")
	if asked != "zz99" {
		t.Fatalf("looked up %q", asked)
	}
	o.sees("VERDICT  unproven", "Looked up and judged: unproven", "decided 0 of 3")
	o.press("C")
	o.sees("Type zz99 and press enter")
	if b.changed() != 0 {
		t.Fatal("an ID was accepted unread")
	}
}

// S33: a hold is never taken from a run that is alive, and from an unknown one only with its name typed.
func TestHoldOfALivingRunIsLeftAlone(t *testing.T) {
	for alive, want := range map[string]string{"running": "is still running", "unknown: another machine": "Type e-9c41"} {
		b := newBackend()
		b.held, b.alive = true, alive
		o := operate(t, b, Options{Start: StartRecovery, Stack: orders, Theme: "none"})
		o.press("l", "C", "s")
		o.sees(want)
		o.press("tab", "enter")
		if b.changed() != 0 {
			t.Errorf("%s: the hold was taken", alive)
		}
	}
}

func TestFilterIsShownAndDropped(t *testing.T) {
	o := operate(t, newBackend(), Options{Start: StartPlan, Stack: orders, Theme: "none"})
	o.press("f")
	o.write("role")
	o.sees("filter: role", "OrdersRole")
	o.seesNot("OrdersTick")
	o.press("enter")
	o.sees("filter: role (esc drops it)")
	o.press("A")
	o.sees("approved 1 of the 3")
	o.press("esc")
	o.sees("no filter", "OrdersTick")
	o.press("esc")
	o.sees("Leave and drop 1 approval?", "[> Cancel <]")
	o.press("tab", "enter")
	if !o.quit {
		t.Fatal("leaving the first screen quits")
	}
}

// At the smallest size the verdict and the choice under the cursor are still on the screen.
func TestSmallestScreenShowsVerdictAndChoice(t *testing.T) {
	o := operate(t, newBackend(), Options{Start: StartRecovery, Stack: orders, Theme: "none"})
	o.size(40, 12)
	o.press("l", "C", "C")
	o.sees("VERDICT  foreign", ">  adopt", "decided 2 of 3")
	o.press("down", "down", "down")
	o.sees(">  later")
}

// A signal drains a live run and ends the UI once it has ended; without a run it ends the UI.
func TestSignalDrainsThenEnds(t *testing.T) {
	o := liveScene(t)
	o.send(stopMsg{})
	if o.quit {
		t.Fatal("the run was not waited for")
	}
	o.await("ended, exit 0")
	if !o.quit || o.r.stopped != nil {
		t.Fatal("the UI must end by itself once the run has drained")
	}
	idle := operate(t, newBackend(), Options{Start: StartPlan, Stack: orders, Theme: "none"})
	idle.send(stopMsg{})
	if !idle.quit {
		t.Fatal("without a run the UI must end at once")
	}
}

func TestFailedLookKeepsWhatWasKnown(t *testing.T) {
	b := newBackend()
	o := operate(t, b, Options{Start: StartPlan, Stack: orders, Theme: "none"})
	b.replan = func() (*plan.Plan, error) { return nil, errors.New("credentials expired. Next: aws sso login") }
	o.press("l")
	o.sees("the look failed, this is the plan kept before: credentials expired. Next: aws", "sso login", "3 blocked", "OrdersRole")
	o = operate(t, b, Options{Start: StartRecovery, Stack: orders, Theme: "none"})
	b.looks = func() error { return errors.New("no network") }
	o.press("l")
	o.sees("the look failed: no network", "VERDICT", "not looked at yet")
}

func TestEmptyPlacesSayWhatToDoNext(t *testing.T) {
	b := newBackend()
	b.plan = nil
	o := operate(t, b, Options{Start: StartPlan, Stack: orders, Theme: "none"})
	o.sees("No plan is kept of this stack", "Next: l looks at the cloud")
	b.findings = func(bool) []recovery.Finding { return nil }
	b.held = true
	o = operate(t, b, Options{Start: StartRecovery, Stack: orders, Theme: "none"})
	o.sees("Nothing is uncertain", "s takes the hold")
	o.press("s", "tab", "enter")
	if len(b.recovers) != 1 || b.recovers[0].TakeHold != "e-9c41" || len(b.recovers[0].Decide) != 0 {
		t.Fatalf("got %+v", b.recovers)
	}
	done := &plan.Plan{Fingerprint: "aa", Stack: orders, Items: slices.Clone(ordersPlan().Items[6:])}
	b.plan, b.held = done, false
	o = operate(t, b, Options{Start: StartPlan, Stack: orders, Theme: "none"})
	o.sees("nothing to do: what the cloud holds is what the template says")
}
