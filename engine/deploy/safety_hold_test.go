package deploy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/providers/awssim"
)

// S19: --strict carries nothing of an earlier crash out by itself.
func TestStrictCarriesNothingOut(t *testing.T) {
	for _, kind := range []awssim.FaultKind{awssim.ExecutedUnanswered, awssim.NotExecutedUnanswered} {
		t.Run(string(kind), func(t *testing.T) {
			w := newWorld(t)
			w.dieAfter(stack(role), 2, awssim.Fault{Operation: "CreateRole", Kind: kind})
			must(t, w.store.ClearHold(t.Context(), w.stack, w.state().Hold.Execution))
			w.elapse()
			before := len(w.sim.Log())
			g := w.graph(stack(role))
			p := w.plan(g)
			o := w.run(deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p), Strict: true})
			if sent := w.changing(before); o.Exit != deploy.ExitUncertain || len(sent) > 0 {
				t.Errorf("exit %d, sent %v", o.Exit, sent)
			}
		})
	}
}

// dieAfter deploys text in a process that dies after n acts (commits, changing calls, their answers).
func (w *world) dieAfter(text string, n int, faults ...awssim.Fault) {
	w.t.Helper()
	for _, f := range faults {
		w.sim.AddFault(f)
	}
	m := &mortal{left: n}
	e := w.env()
	g := w.graph(text)
	p := w.plan(g)
	e.Store, e.Cloud = mortalStore{e.Store, m}, m.cloud(e.Cloud)
	_, err := deploy.Run(w.t.Context(), e, deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p), Parallel: 1})
	must(w.t, err)
	if w.state().Hold == nil {
		w.t.Fatal("the dead process left no hold")
	}
}

// S16: reclaiming decides nothing but whose it is. What config no longer wants is replaced by a plan, with its own word.
func TestReclaimThenReplaceAreTwoApprovals(t *testing.T) {
	w := newWorld(t)
	w.dieAfter(stack(role), 4)
	hold := w.state().Hold.Execution
	before := len(w.sim.Log())
	o := w.recover(deploy.RecoverRequest{TakeHold: hold, Auto: true})
	if o.Exit != 0 || w.records()["Role"].Status == record.Creating {
		t.Fatalf("exit %d %+v", o.Exit, o.Items)
	}
	p := w.plan(w.graph(pathed(stack(role))))
	if it := p.Item("Role", 0); it.Action != plan.Replace || it.Needs[0] != plan.GrantReplace {
		t.Errorf("planned %s %v", it.Action, it.Needs)
	}
	for _, sent := range w.changing(before) {
		if strings.HasPrefix(sent, "CreateRole") || strings.HasPrefix(sent, "DeleteRole ") {
			t.Errorf("recovering sent %s", sent)
		}
	}
}

// S33: whoever takes a hold waits out the deadline of a call that the dead holder may still have under way, before it
// changes that resource; and the epoch is higher.
func TestATakenHoldWaitsOutWhatIsUnderWay(t *testing.T) {
	w := newWorld(t)
	w.dieAfter(stack(role), 1) // the intent is committed; the create is not sent
	old := w.state().Hold
	sentAt := w.records()["Role"].Intent.Attempts[0].SentAt
	var first time.Time
	w.hook().changing = func(string, string) error {
		if first.IsZero() {
			first = w.clock.Now()
			if now := w.state().Hold.Epoch; now <= old.Epoch {
				t.Errorf("epoch %d after %d", now, old.Epoch)
			}
		}
		return nil
	}
	if o := w.recover(deploy.RecoverRequest{TakeHold: old.Execution, Auto: true}); o.Exit != 0 {
		t.Fatalf("exit %d %+v", o.Exit, o.Items)
	}
	if first.Before(sentAt.Add(30 * time.Second)) { // the role's call deadline
		t.Errorf("the first call was sent %s after the dead holder's", first.Sub(sentAt))
	}
}

// S33: a stack that is held refuses every changing verb, and names who holds it.
func TestAHeldStackRefuses(t *testing.T) {
	w := newWorld(t)
	w.dieAfter(stack(role), 3)
	g := w.graph(stack(role))
	p := w.plan(g)
	_, err := deploy.Run(t.Context(), w.env(), deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p)})
	if held, ok := errors.AsType[*record.HeldError](err); !ok || held.Hold.Execution != w.state().Hold.Execution {
		t.Errorf("deploy: %v", err)
	}
	if _, err := deploy.Recover(t.Context(), w.env(), deploy.RecoverRequest{Stack: w.stack, TakeHold: "e-other", Auto: true}); err == nil {
		t.Error("a hold was taken under another name")
	}
}

// S36: once the store cannot be written, no further change is sent, what was acknowledged and could not be recorded is in
// the emergency file, and the exit code says so.
func TestAStoreThatFailsMidRunStopsEverything(t *testing.T) {
	w := newWorld(t)
	full := errors.New("no space left on device")
	s := &failingStore{Store: w.store}
	w.hook().answered = func(_, call string, err error) error {
		if call == "create" {
			s.fails(fmt.Errorf("%w: %w", record.ErrWrite, full))
		}
		return err
	}
	e := w.env()
	e.Store = s
	g := w.graph(stack(role, strings.Replace(logs, "  Logs:", "  Logs:\n    DependsOn: Role", 1)))
	p := w.plan(g)
	o, err := deploy.Run(t.Context(), e, deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p)})
	must(t, err)
	if o.Exit != deploy.ExitStore || w.executed("CreateLogGroup") != 0 || w.executed("PutRolePolicy") != 0 {
		t.Errorf("exit %d after %v", o.Exit, w.changing(0))
	}
	b, err := os.ReadFile(o.Emergency)
	must(t, err)
	if r := w.sim.State().Roles[0]; !strings.Contains(string(b), r.ID) || !strings.Contains(string(b), r.Tags["reclaim:nonce"]) {
		t.Errorf("the emergency file holds %s", b)
	}
	if w.state().Hold == nil {
		t.Error("the hold was given back over an acknowledgement that nobody recorded")
	}
}

// S37: planning writes nothing to the store.
func TestPlanningLeavesTheStoreAsItIs(t *testing.T) {
	w := newWorld(t)
	w.deploy(whole)
	read := func() []byte {
		b, err := os.ReadFile(filepath.Join(w.dir, ".reclaim", "store.db"))
		must(t, err)
		return b
	}
	before := read()
	w.plan(w.graph(pathed(whole)))
	w.planDestroy()
	w.findings()
	if !bytes.Equal(before, read()) {
		t.Error("store.db changed")
	}
}

// S38: a resource that exists without a record while what it depends on does not is blocked with its dependents, before
// any change.
func TestFoundWithoutARecordWhileItsDependencyIsAbsent(t *testing.T) {
	w := newWorld(t)
	tags := map[string]any{"reclaim:store": w.store.ID(), "reclaim:stack": w.stack.String(), "reclaim:resource": "Logs"}
	w.stranger("CreateLogGroup", map[string]any{"logGroupName": "/orders/app", "tags": tags})
	after := "\n    DependsOn: "
	text := stack(api, strings.Replace(logs, "  Logs:", "  Logs:"+after+"Api", 1), strings.Replace(plainFile, "  File:", "  File:"+after+"Logs", 1))
	p := w.plan(w.graph(text))
	if logs, file := p.Item("Logs", 0), p.Item("File", 0); logs.Reason != plan.DependencyAbsent || file.Reason != plan.DependencyBlocked {
		t.Errorf("Logs %s %s, File %s %s", logs.Action, logs.Reason, file.Action, file.Reason)
	}
	o := w.deploy(text)
	if result(o, "Logs") != event.Blocked || result(o, "File") != event.Skipped {
		t.Errorf("%+v", o.Items)
	}
	w.elapse() // and a recorded dependency that is gone is planned as a create
	w.stranger("DeleteApi", map[string]any{"apiId": w.records()["Api"].Physical})
	if it := w.plan(w.graph(text)).Item("Api", 0); it.Action != plan.Create {
		t.Errorf("Api is planned to %s", it.Action)
	}
}

// S17: a plan comes back from its file with the same fingerprint, is named by its content, and one byte of it changed is
// refused.
func TestAPlanIsNamedByItsContent(t *testing.T) {
	w := newWorld(t)
	w.deploy(whole)
	g := w.graph(pathed(whole))
	p, same := w.plan(g), w.plan(g)
	b, err := plan.Encode(p)
	must(t, err)
	back, err := plan.Decode(b)
	must(t, err)
	again, err := plan.Encode(back)
	must(t, err)
	if !bytes.Equal(b, again) {
		t.Errorf("encoded again it is\n%s\nand was\n%s", again, b)
	}
	if p.Item("Logs", 0).Facts != same.Item("Logs", 0).Facts {
		t.Error("the same look gives other facts")
	}
	if _, err := plan.Decode(bytes.Replace(b, []byte(`"replace"`), []byte(`"update"`), 1)); err == nil {
		t.Error("a changed plan is accepted")
	}
}

// DESIGN §7: the events of a run are numbered from 1 without a gap, begin with began and end with ended; S32: at any
// parallelism.
func TestEventsAreNumberedWithoutGaps(t *testing.T) {
	w := newWorld(t)
	w.deploy(whole)
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, e := range w.events {
		if e.N != uint64(i+1) {
			t.Fatalf("event %d has number %d", i, e.N)
		}
	}
	if _, ok := w.events[0].Event.(event.Began); !ok {
		t.Errorf("the first is %T", w.events[0].Event)
	}
	if _, ok := w.events[len(w.events)-1].Event.(event.Ended); !ok {
		t.Errorf("the last is %T", w.events[len(w.events)-1].Event)
	}
}

// S10: "stop now" while a create is under way ends the run, says that it is uncertain, sends nothing more, and gives the
// hold back. Nothing goes on in the background.
func TestStopNowSaysWhatIsUncertain(t *testing.T) {
	w := newWorld(t)
	w.sim.AddFault(awssim.Fault{Operation: "CreateRole", Kind: awssim.AnsweredLate, Delay: time.Minute})
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		for w.executed("CreateRole") == 0 && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		stop()
	}()
	g := w.graph(whole)
	p := w.plan(g)
	runtime.GC()
	before := runtime.NumGoroutine()
	o, err := deploy.Run(ctx, w.env(), deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p), Parallel: 1})
	must(t, err)
	if o.Exit != deploy.ExitUncertain || result(o, "Role") != event.Unsure || w.state().Hold != nil {
		t.Errorf("exit %d, %+v, hold %+v", o.Exit, o.Items, w.state().Hold)
	}
	if got := w.records()["Role"].Intent.Last().Outcome; got != record.Unsure {
		t.Errorf("the attempt is recorded as %s", got)
	}
	for range 100 { // connections close in their own time
		if runtime.NumGoroutine() <= before+4 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if now := runtime.NumGoroutine(); now > before+4 {
		t.Errorf("%d goroutines, %d before", now, before)
	}
	w.sim.ClearFaults()
	if o := w.deploy(whole); o.Exit != 0 || len(w.sim.State().Roles) != 1 {
		t.Errorf("the next deploy: exit %d, %d roles: %+v", o.Exit, len(w.sim.State().Roles), o.Items)
	}
}

// S6, S8: what will not fit into a record is refused before anything is sent, and nothing else of the run suffers: a
// create whose acknowledgement could not be recorded would be lost.
func TestAResourceTooLargeToRecordIsRefusedBeforeItIsMade(t *testing.T) {
	w := newWorld(t)
	small := strings.Replace(strings.Replace(plainFile, "File:", "Other:", 1), "plain", "other", 1)
	big := strings.Replace(plainFile, `"a=b"`, `"`+strings.Repeat(`\x01`, 170<<10)+`"`, 1) // each is six bytes in a record
	for _, before := range []string{"", plainFile} {
		if before != "" {
			w.deploy(stack(before, small))
		}
		o := w.deploy(stack(big, small))
		b, _ := os.ReadFile(filepath.Join(w.dir, "out", "plain.env"))
		if len(b) > 3 || result(o, "File") != event.Failed || o.Exit != deploy.ExitError {
			t.Errorf("exit %d, File ended %s: %s; it holds %d bytes", o.Exit, result(o, "File"), reason(o, "File"), len(b))
		}
		if o.Emergency != "" || w.state().Hold != nil {
			t.Errorf("emergency file %q, hold %+v", o.Emergency, w.state().Hold)
		}
	}
}
