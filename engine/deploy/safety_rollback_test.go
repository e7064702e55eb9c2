package deploy_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/providers/awssim"
)

func (w *world) planRollback(execution string) *plan.Plan {
	w.t.Helper()
	p, err := plan.MakeRollback(w.t.Context(), w.planEnv(), w.stack, execution)
	must(w.t, err)
	return p
}

// rollback rolls an execution back with every approval that the plan asks for.
func (w *world) rollback(execution string) deploy.Outcome {
	w.t.Helper()
	p := w.planRollback(execution)
	return w.run(deploy.Request{Plan: p, Approvals: approveAll(p)})
}

// names are the names of everything in the cloud, and of the files there are.
func (w *world) names() []string {
	w.t.Helper()
	var out []string
	for _, o := range w.things() {
		out = append(out, o.kind)
	}
	files, _ := os.ReadDir(filepath.Join(w.dir, "out"))
	for _, f := range files {
		out = append(out, f.Name())
	}
	slices.Sort(out)
	return out
}

func (w *world) wantNames(want ...string) {
	w.t.Helper()
	if got := w.names(); !slices.Equal(got, want) {
		w.t.Errorf("there are %q, want %q", got, want)
	}
}

// withoutDeletes deploys text while no delete succeeds, so that replaced generations stay.
func (w *world) withoutDeletes(text string) deploy.Outcome {
	w.t.Helper()
	h := w.hook()
	h.changing = func(_, call string) error {
		if call == "delete" {
			return errors.New("not now")
		}
		return nil
	}
	o := w.deploy(text)
	h.changing = nil
	return o
}

// S24: a rollback removes what the execution made, what depends on something before it, and nothing that was there before.
func TestARollbackRemovesWhatTheExecutionMade(t *testing.T) {
	w := newWorld(t)
	w.stranger("CreateLogGroup", map[string]any{"logGroupName": "/theirs", "tags": map[string]any{"owner": "them"}})
	w.deploy(stack(role))
	o := w.deploy(whole)
	before := len(w.sim.Log())
	w.wantNames("Api", "Logs", "Logs", "Role", "where.env")
	back := w.rollback(o.Execution)
	if back.Exit != 0 || len(w.records()) != 1 || w.records()["Role"].Status != record.Made {
		t.Fatalf("exit %d %+v, records %v", back.Exit, back.Items, w.records())
	}
	w.wantNames("Logs", "Role")
	for _, sent := range w.changing(before) {
		if !strings.HasPrefix(sent, "DeleteApi") && sent != "DeleteLogGroup /orders/app" {
			t.Errorf("sent %s", sent)
		}
	}
	w.wantNoop(stack(role))
	if back := w.rollback(o.Execution); back.Exit != 0 || len(back.Items) != 0 {
		t.Errorf("again: exit %d %+v", back.Exit, back.Items)
	}
}

// S24: newest first, where nothing depends on anything.
func TestARollbackGoesFromTheNewest(t *testing.T) {
	w := newWorld(t)
	g := w.graph(stack(logs, plainFile, role))
	p := w.plan(g)
	o := w.run(deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p), Parallel: 1})
	var made, removed []string
	for _, it := range o.Items {
		made = append(made, it.ID)
	}
	for _, it := range w.planRollback(o.Execution).Items {
		removed = append(removed, it.ID)
	}
	slices.Reverse(removed)
	if len(made) != 3 || !slices.Equal(made, removed) {
		t.Errorf("made %q, removed in the reverse order of %q", made, removed)
	}
}

// S24: what a resource that stays refers to is not removed, and the plan says who does; nothing that was changed in place gets
// its former values back, and the plan says that too.
func TestARollbackKeepsWhatSomethingOutsideRefersTo(t *testing.T) {
	w := newWorld(t)
	w.deploy(stack(strings.Replace(file, `!Sub "url=${Api.ApiEndpoint} role=${Role.Arn}"`, "none", 1)))
	o := w.deploy(stack(role, api, logs, file))
	if o.Exit != 0 {
		t.Fatalf("exit %d %+v", o.Exit, o.Items)
	}
	p := w.planRollback(o.Execution)
	for _, id := range []string{"Role", "Api"} {
		if it := p.Item(id, 0); it.Action != plan.Blocked || it.Reason != plan.StillUsed || !strings.Contains(it.Detail, "File") {
			t.Errorf("%s is planned to %s: %s", id, it.Action, it.Detail)
		}
	}
	if !slices.ContainsFunc(p.Notes, func(n string) bool {
		return strings.HasPrefix(n, "File: changed in place") && strings.Contains(n, "restores no former values")
	}) {
		t.Errorf("the notes say nothing of File: %q", p.Notes)
	}
	w.rollback(o.Execution)
	w.wantNames("Api", "Role", "where.env")
	b, err := os.ReadFile(filepath.Join(w.dir, "out", "where.env"))
	if err != nil || !strings.HasPrefix(string(b), "url=") {
		t.Errorf("the file is %q, %v", b, err)
	}
}

// S23: the generation that was replaced is current again before anything of the new one is removed.
func TestRollingAReplacementBackMakesTheOldGenerationCurrentFirst(t *testing.T) {
	w := newWorld(t)
	w.deploy(stack(api))
	old := w.records()["Api"]
	next := stack(strings.Replace(api, "ProtocolType: HTTP", `ProtocolType: WEBSOCKET, RouteSelectionExpression: "$request.body.a"`, 1))
	w.sim.AddFault(awssim.Fault{Operation: "DeleteApi", Kind: awssim.Denied, Times: 9})
	h := w.hook()
	h.changing = func(_, call string) error { // before its status would say that its deletion was begun
		if call == "create" {
			w.sim.AddFault(awssim.Fault{Operation: "GetApi", Kind: awssim.Denied})
		}
		return nil
	}
	o := w.deploy(next)
	h.changing = nil
	w.sim.ClearFaults()
	if n := len(w.things()); n != 2 || o.Exit == 0 {
		t.Fatalf("exit %d, %d APIs %+v", o.Exit, n, o.Items)
	}
	deletes := 0
	h.changing = func(_, call string) error {
		if call != "delete" {
			return nil
		}
		deletes++
		s := w.state()
		ix := s.Index()
		if c := ix.Current("Api"); c == nil || c.Gen != 1 || c.Status != record.Made {
			t.Errorf("at the delete the current generation is %+v", c)
		}
		return nil
	}
	back := w.rollback(o.Execution)
	h.changing = nil
	if back.Exit != 0 || deletes != 1 {
		t.Fatalf("exit %d, %d deletes: %+v", back.Exit, deletes, back.Items)
	}
	if left := w.things(); len(left) != 1 || left[0].unique != old.Identity.UniqueID {
		t.Errorf("left are %v, want %s", left, old.Identity.UniqueID)
	}
	w.wantNoop(stack(api))
}

// S23: where the old generation is gone, or what stays refers to the new one, a rollback of the replacement refuses.
func TestRollingAReplacementBackRefuses(t *testing.T) {
	t.Run("the old one was deleted", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(role))
		o := w.deploy(stack(pathed(role)))
		before := len(w.sim.Log())
		p := w.planRollback(o.Execution)
		if it := p.Item("Role", 0); it.Action != plan.Blocked || !strings.Contains(it.Detail, "which is gone") {
			t.Errorf("planned %s: %s", it.Action, it.Detail)
		}
		if back := w.rollback(o.Execution); back.Exit != deploy.ExitBlocked || len(w.changing(before)) != 0 || len(w.sim.State().Roles) != 1 {
			t.Errorf("exit %d, sent %v", back.Exit, w.changing(before))
		}
	})
	t.Run("the old one was deleted first", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(logs))
		o := w.deploy(stack(strings.Replace(logs, "RetentionInDays", "LogGroupClass: INFREQUENT_ACCESS, RetentionInDays", 1)))
		if it := w.planRollback(o.Execution).Item("Logs", 0); o.Exit != 0 || it.Action != plan.Blocked || !strings.Contains(it.Detail, "which is gone") {
			t.Errorf("exit %d, planned %+v", o.Exit, it)
		}
	})
	t.Run("a stranger deleted the old one", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(logs))
		w.sim.AddFault(awssim.Fault{Operation: "DeleteLogGroup", Kind: awssim.Denied})
		o := w.deploy(stack(strings.Replace(logs, "/orders/app", "/orders/new", 1)))
		w.sim.ClearFaults()
		w.tamper(func(r *record.Record) {
			if r.Gen == 1 {
				r.Status, r.InFlight = record.Retired, nil
			}
		})
		w.stranger("DeleteLogGroup", map[string]any{"logGroupName": "/orders/app"})
		w.elapse()
		if it := w.planRollback(o.Execution).Item("Logs", 0); it.Gen != 2 || it.Action != plan.Blocked || !strings.Contains(it.Detail, "object is gone") {
			t.Errorf("planned %+v", it)
		}
	})
	t.Run("what stays refers to the new one", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(whole)
		w.sim.AddFault(awssim.Fault{Operation: "DeleteRolePolicy", Kind: awssim.Denied, Times: 9})
		o := w.deploy(pathed(whole))
		w.sim.ClearFaults()
		if it := w.planRollback(o.Execution).Item("Role", 0); it.Gen != 2 || it.Action != plan.Blocked || it.Reason != plan.StillUsed {
			t.Errorf("planned %+v", it)
		}
		w.rollback(o.Execution)
		if n := len(w.sim.State().Roles); n != 2 {
			t.Errorf("%d roles", n)
		}
	})
}

// S24: what is only presumed ours, and S4: what was adopted, is never removed by a rollback, whatever is approved.
func TestARollbackRemovesNothingPresumedOrAdopted(t *testing.T) {
	w := newWorld(t)
	w.stranger("CreateLogGroup", map[string]any{"logGroupName": "/orders/app", "tags": map[string]any{"owner": "them"}})
	h := w.hook()
	h.answered = func(typ, call string, err error) error {
		if typ == "Std::FS::File" && call == "create" {
			return errors.New("cut off")
		}
		return err
	}
	g := w.graph(stack(plainFile, logs, api))
	adopt := map[string]string{"Logs": "/orders/app"}
	p, err := plan.Make(t.Context(), w.planEnv(), g, w.stack, plan.Options{Adopt: adopt})
	must(t, err)
	o := w.run(deploy.Request{Plan: p, Graph: g, Adopt: adopt, Approvals: approveAll(p)})
	h.answered = nil
	if r := w.records(); r["File"].Origin != record.Presumed || r["Logs"].Origin != record.ByAdopt {
		t.Fatalf("%+v", o.Items)
	}
	all := []plan.Grant{plan.GrantChange, plan.GrantDelete, plan.GrantDataLoss, plan.GrantPresumed}
	back := w.planRollback(o.Execution)
	r := deploy.Request{Plan: back}
	for _, it := range back.Items {
		r.Approvals = append(r.Approvals, deploy.Approval{ID: it.ID, Gen: it.Gen, Grants: all})
	}
	if o := w.run(r); o.Exit != deploy.ExitBlocked || result(o, "File") != event.Blocked || result(o, "Api") != event.Done || result(o, "Logs") != "" {
		t.Errorf("exit %d %+v", o.Exit, o.Items)
	}
	w.wantNames("Logs", "plain.env")
}

// S24: an unfinished create that a lookup finds by its nonce is what the execution made; one that nothing is found of leaves
// a tombstone.
func TestARollbackOfUnfinishedCreates(t *testing.T) {
	w := newWorld(t)
	w.sim.AddFault(awssim.Fault{Operation: "CreateApi", Kind: awssim.ExecutedUnanswered})
	w.sim.AddFault(awssim.Fault{Operation: "CreateRole", Kind: awssim.NotExecutedUnanswered})
	g := w.graph(stack(api, role))
	p := w.plan(g)
	o := w.run(deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p), Strict: true})
	w.elapse()
	if f := w.findings(); f["Api"].Verdict != recovery.VerdictOurs || f["Role"].Verdict != recovery.VerdictNotCreated {
		t.Fatalf("%+v", f)
	}
	back := w.rollback(o.Execution)
	if tombs := w.state().Tombs; back.Exit != 0 || len(w.things()) != 0 || len(w.records()) != 0 || len(tombs) == 0 {
		t.Errorf("exit %d %+v, %v, tombstones %v", back.Exit, back.Items, w.things(), tombs)
	}
}

// S25: the approval of deletes is none of data.
func TestARollbackAsksForDataApart(t *testing.T) {
	w := newWorld(t)
	o := w.deploy(stack(logs, api))
	p := w.planRollback(o.Execution)
	r := deploy.Request{Plan: p}
	for _, it := range p.Items {
		r.Approvals = append(r.Approvals, deploy.Approval{ID: it.ID, Gen: it.Gen, Grants: []plan.Grant{plan.GrantChange, plan.GrantDelete}})
	}
	if o := w.run(r); o.Exit != deploy.ExitBlocked || !strings.Contains(reason(o, "Logs"), "--allow-data-loss Logs") {
		t.Errorf("exit %d %+v", o.Exit, o.Items)
	}
	w.wantNames("Logs")
	if it := w.planRollback(o.Execution).Item("Logs", 0); it.Loss == "" {
		t.Errorf("the plan names no loss: %+v", it)
	}
	yesOnly := w.planRollback(o.Execution)
	if o := w.run(deploy.Request{Plan: yesOnly, Approvals: yes(yesOnly)}); o.Exit != deploy.ExitBlocked || len(w.things()) != 1 {
		t.Errorf("--yes: exit %d, %v", o.Exit, w.things())
	}
}

// S23, S24: RetainExceptOnCreate is for others than the rollback of the create; Retain is for all, and leaves a tombstone.
func TestPoliciesInARollback(t *testing.T) {
	w := newWorld(t)
	o := w.deploy(stack(withPolicy(api, "DeletionPolicy", "RetainExceptOnCreate"), withPolicy(role, "DeletionPolicy", "Retain")))
	back := w.rollback(o.Execution)
	if tombs := w.state().Tombs; back.Exit != 0 || len(tombs) != 1 || tombs[0].ID != "Role" || len(w.records()) != 0 {
		t.Errorf("exit %d %+v, tombstones %v", back.Exit, back.Items, w.state().Tombs)
	}
	w.wantNames("Role")
}

// S24: a destroy is not rolled back, nor is a rollback.
func TestWhatCannotBeRolledBack(t *testing.T) {
	w := newWorld(t)
	o := w.deploy(stack(api))
	back := w.rollback(o.Execution)
	w.deploy(stack(api))
	gone := w.destroy()
	for execution, want := range map[string]string{gone.Execution: "is a destroy", back.Execution: "is itself a rollback", "e-none": "no execution e-none"} {
		if _, err := plan.MakeRollback(t.Context(), w.planEnv(), w.stack, execution); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Next: reclaim ") {
			t.Errorf("%s: %v, want %q", execution, err, want)
		}
	}
}

// S23, S24: a rollback dies at each of its acts, and goes on from records alone.
func TestARollbackGoesOnFromWhereverItDied(t *testing.T) {
	for n := 0; ; n++ {
		w := newWorld(t)
		w.deploy(stack(api))
		old := w.records()["Api"].Identity
		w.withoutDeletes(stack(strings.Replace(api, "ProtocolType: HTTP", `ProtocolType: WEBSOCKET, RouteSelectionExpression: "$request.body.a"`, 1), role, plainFile))
		w.tamper(func(r *record.Record) {
			if r.ID == "Api" && r.Gen == 1 {
				r.Status, r.InFlight = record.Retired, nil
			}
		})
		execution := ""
		for _, e := range w.executions() {
			if e.Verb == "deploy" {
				execution = e.ID
			}
		}
		e, m := w.env(), &mortal{left: n}
		e.Store, e.Cloud = mortalStore{e.Store, m}, m.cloud(e.Cloud)
		p := w.planRollback(execution)
		_, err := deploy.Run(t.Context(), e, deploy.Request{Plan: p, Approvals: approveAll(p), Parallel: 1})
		if err != nil && !errors.Is(err, errDead) {
			t.Fatal(err)
		}
		h := w.state().Hold
		if h == nil {
			if n < 10 {
				t.Errorf("it took only %d acts", n)
			}
			return // it outlived them all
		}
		if h.Of != execution {
			t.Errorf("the hold does not say what is rolled back: %+v", h)
		}
		w.elapse()
		if o := w.recover(deploy.RecoverRequest{Auto: true, TakeHold: h.Execution}); !slices.Contains(o.Next, "reclaim rollback "+execution) {
			t.Errorf("recover does not say how the rollback goes on: %q", o.Next)
		}
		if o := w.rollback(execution); o.Exit != 0 {
			t.Fatalf("after %d acts: exit %d %+v", n, o.Exit, o.Items)
		}
		w.wantNames("Api")
		if left := w.things(); len(left) != 1 || left[0].unique != old.UniqueID {
			t.Fatalf("after %d acts left are %v, want %s", n, left, old.UniqueID)
		}
		w.wantNoop(stack(api))
	}
}

func (w *world) executions() []record.Execution {
	w.t.Helper()
	var out []record.Execution
	must(w.t, w.store.Read(w.t.Context(), func(v record.View) (err error) { out, err = v.Executions(w.stack); return err }))
	return out
}

// S24, S25: --on-failure rollback removes what the failed run made, under a hold of its own, and no data without consent.
func TestAFailedRunIsRolledBackWhenAsked(t *testing.T) {
	for name, c := range map[string]struct {
		how  *deploy.OnFailure
		left []string
	}{
		"stop":                    {nil, []string{"Api", "Logs", "plain.env"}},
		"rollback":                {&deploy.OnFailure{}, []string{"Logs", "plain.env"}},
		"rollback, with its data": {&deploy.OnFailure{AllowDataLoss: []string{"Logs"}}, []string{"plain.env"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.deploy(stack(plainFile))
			g := w.graph(stack(plainFile, api, logs, strings.Replace(role, "    Properties:", "    DependsOn: [Api, Logs]\n    Properties:", 1)))
			p := w.plan(g)
			w.sim.AddFault(awssim.Fault{Operation: "CreateRole", Kind: awssim.Denied})
			o := w.run(deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p), OnFailure: c.how})
			w.wantNames(c.left...)
			if (o.Rollback != nil) != (c.how != nil) || !slices.Contains(o.Exits, deploy.ExitError) || w.state().Hold != nil {
				t.Fatalf("%+v, rollback %+v", o, o.Rollback)
			}
			rollbackLine := slices.Contains(o.Next, "reclaim rollback "+o.Execution)
			if done := o.Rollback != nil && o.Rollback.Exit == 0; rollbackLine == done {
				t.Errorf("next are %q, and what was made is rolled back: %v", o.Next, done)
			}
			if o.Rollback != nil {
				if all := w.executions(); all[len(all)-1].Of != o.Execution || all[len(all)-1].Verb != "rollback" {
					t.Errorf("the last execution is %+v", all[len(all)-1])
				}
			}
		})
	}
}

// A run that was interrupted is not rolled back, and says so.
func TestAnInterruptedRunIsNotRolledBack(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	w.hook().changing = only(func(string, string) error { cancel(); return errors.New("stopped") }, "AWS::IAM::Role")
	g := w.graph(stack(api, strings.Replace(role, "    Properties:", "    DependsOn: Api\n    Properties:", 1)))
	p := w.plan(g)
	o, err := deploy.Run(ctx, w.env(), deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p), OnFailure: &deploy.OnFailure{}})
	must(t, err)
	if o.Rollback != nil {
		t.Errorf("%+v", o.Rollback)
	}
	w.wantNames("Api")
}
