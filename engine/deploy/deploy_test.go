package deploy_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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
	"reclaim/store"
)

var whole = stack(role, api, logs, file)

// A greenfield deploy makes each resource once, records it, and the next plan and deploy change nothing.
func TestDeployThenNoop(t *testing.T) {
	w := newWorld(t)
	o := w.deploy(whole)
	if o.Exit != 0 {
		t.Fatalf("exit %d: %s %+v", o.Exit, o.Summary, o.Items)
	}
	state := w.sim.State()
	if len(state.Roles) != 1 || len(state.LogGroups) != 1 || len(state.Apis) != 1 {
		t.Fatalf("cloud holds %d roles, %d log groups, %d APIs; want one of each", len(state.Roles), len(state.LogGroups), len(state.Apis))
	}
	for id, r := range w.records() {
		if r.Status != record.Made || r.Pending != nil || r.InFlight != nil {
			t.Errorf("record of %s is %s, pending %v, in flight %v", id, r.Status, r.Pending, r.InFlight)
		}
	}
	text, err := os.ReadFile(filepath.Join(w.dir, "out", "where.env"))
	must(t, err)
	if got := string(text); !strings.Contains(got, "https://") || !strings.Contains(got, "arn:aws:iam::123456789012:role/orders-Role-") {
		t.Errorf("the file holds %q; want the API's endpoint and the role's ARN", got)
	}
	w.wantNoop(whole)
	before := len(w.sim.Log())
	if o := w.deploy(whole); o.Exit != 0 || len(w.changing(before)) != 0 {
		t.Errorf("a second deploy sent %v, exit %d", w.changing(before), o.Exit)
	}
}

// S10: after an attempt of unknown outcome nothing is sent until a lookup has spoken; S19: what carries our nonce is
// reclaimed by the run itself. Nothing is made twice.
func TestAnUnansweredCreateIsFoundAgain(t *testing.T) {
	for _, c := range []struct{ id, op, why string }{
		{"Role", "CreateRole", "a role carries the nonce"},
		{"Api", "CreateApi", "an API is found by its nonce over all pages"},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := newWorld(t)
			w.sim.AddFault(awssim.Fault{Operation: c.op, Kind: awssim.ExecutedUnanswered})
			o := w.deploy(whole)
			if o.Exit != 0 || w.executed(c.op) != 1 {
				t.Fatalf("exit %d, %s executed %d times: %+v", o.Exit, c.op, w.executed(c.op), o.Items)
			}
			if r := w.records()[c.id]; r.Nonce == "" || r.Nonce != r.Intent.Nonce {
				t.Errorf("the record does not say that the object carries its nonce: %q", r.Nonce)
			}
			w.wantNoop(whole)
		})
	}
}

// Row 12: absent after its window, and a second create would be refused: sent again by itself, under the same intent.
func TestANamedCreateThatNeverArrivedIsSentAgain(t *testing.T) {
	w := newWorld(t)
	w.sim.AddFault(awssim.Fault{Operation: "CreateRole", Kind: awssim.NotExecutedUnanswered})
	o := w.deploy(whole)
	if o.Exit != 0 || w.executed("CreateRole") != 1 {
		t.Fatalf("exit %d, executed %d: %+v", o.Exit, w.executed("CreateRole"), o.Items)
	}
	if r := w.records()["Role"]; len(r.Intent.Attempts) != 2 || r.Intent.Attempts[0].Outcome != record.Unsure {
		t.Errorf("attempts %+v; want the uncertain one and the one that was acknowledged", r.Intent.Attempts)
	}
	w.wantNoop(whole)
}

// Row 14: an Assigned create that may have been executed stays uncertain until an operator speaks. The run sends nothing
// more for it, exits 3, and leaves alone what depends on it; the rest goes ahead.
func TestAnAssignedCreateThatMayHaveArrivedWaitsForAnOperator(t *testing.T) {
	w := newWorld(t)
	w.sim.AddFault(awssim.Fault{Operation: "CreateApi", Kind: awssim.NotExecutedUnanswered})
	o := w.deploy(whole)
	if o.Exit != deploy.ExitUncertain {
		t.Fatalf("exit %d: %+v", o.Exit, o.Items)
	}
	want := map[string]event.Result{"Role": event.Done, "Logs": event.Done, "Api": event.Unsure, "File": event.Skipped}
	for id, r := range want {
		if result(o, id) != r {
			t.Errorf("%s ended %q (%s), want %q", id, result(o, id), reason(o, id), r)
		}
	}
	before := len(w.sim.Log())
	if o := w.recover(deploy.RecoverRequest{Auto: true}); o.Exit != deploy.ExitUncertain || len(w.changing(before)) > 0 {
		t.Fatalf("recover --yes: exit %d, sent %v; want 3 and nothing", o.Exit, w.changing(before))
	}
	f := w.findings()["Api"]
	if f.Row != "14" || f.Auto {
		t.Fatalf("row %s, auto %v", f.Row, f.Auto)
	}
	old := w.records()["Api"].Intent.Nonce
	if o := w.recover(deploy.RecoverRequest{Decide: []record.Decision{decide(f, record.Retry, "")}}); o.Exit != 0 {
		t.Fatalf("retry as decided: exit %d %+v", o.Exit, o.Items)
	}
	rec := w.records()["Api"]
	if rec.Intent.Nonce == old || len(rec.Former) != 1 || rec.Former[0].Nonce != old { // S15
		t.Errorf("a retry in row 14 is a new intent with a new nonce, the old one stays searchable: %q, former %+v", rec.Intent.Nonce, rec.Former)
	}
	if o := w.deploy(whole); o.Exit != 0 || w.executed("CreateApi") != 1 {
		t.Errorf("exit %d, CreateApi executed %d times", o.Exit, w.executed("CreateApi"))
	}
	w.wantNoop(whole)
}

// What a stranger made between our look and our create is never touched by anything but an operator's typed word.
func TestAStrangersLogGroupIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.sim.AddFault(awssim.Fault{Operation: "CreateLogGroup", Then: []awssim.Action{
		{Op: "CreateLogGroup", Region: "eu-west-1", Params: map[string]any{"logGroupName": "/orders/app", "tags": map[string]any{"owner": "them"}}}}})
	o := w.deploy(whole)
	if o.Exit != deploy.ExitUncertain || result(o, "Logs") != event.Unsure {
		t.Fatalf("exit %d: %s", o.Exit, reason(o, "Logs"))
	}
	before := len(w.sim.Log())
	w.recover(deploy.RecoverRequest{Auto: true})
	if sent := w.changing(before); len(sent) > 0 {
		t.Fatalf("recover --yes sent %v to a stranger's log group", sent)
	}
	f := w.findings()["Logs"]
	if f.Auto || f.Verdict != recovery.VerdictUnproven && f.Verdict != recovery.VerdictForeign {
		t.Fatalf("verdict %q, row %s, auto %v", f.Verdict, f.Row, f.Auto)
	}
	if o := w.recover(deploy.RecoverRequest{Decide: []record.Decision{decide(f, record.Abandon, "")}}); o.Exit != 0 {
		t.Fatalf("abandon: exit %d %+v", o.Exit, o.Items)
	}
	if _, still := w.records()["Logs"]; still {
		t.Error("the abandoned record is still there")
	}
	s, err := plan.ReadState(t.Context(), w.store, w.stack)
	must(t, err)
	if len(s.Tombs) != 1 || s.Tombs[0].Who != "ops" || len(s.Tombs[0].Nonces) != 1 { // S18
		t.Errorf("tombstones %+v; want one with the nonce and who gave it up", s.Tombs)
	}
	if sent := w.changing(before); len(sent) > 0 {
		t.Errorf("abandoning sent %v", sent)
	}
	it := w.plan(w.graph(whole)).Item("Logs", 0)
	if it.Action != plan.Blocked || it.Reason != plan.Foreign || !strings.Contains(it.Detail, "--adopt Logs=/orders/app") {
		t.Errorf("next plan: %s %s %q; want blocked as foreign, with the way to opt in", it.Action, it.Reason, it.Detail)
	}
}

// S4: an adoption writes ownership tags and no create nonce, and the ordinary diff does the rest.
func TestAdoptionTagsAndThenSyncs(t *testing.T) {
	w := newWorld(t)
	must(t, w.sim.Do(awssim.Action{Op: "CreateLogGroup", Region: "eu-west-1", Params: map[string]any{"logGroupName": "/orders/app", "tags": map[string]any{"owner": "them"}}}))
	g := w.graph(stack(logs))
	adopt := map[string]string{"Logs": "/orders/app"}
	p, err := plan.Make(t.Context(), w.planEnv(), g, w.stack, plan.Options{Adopt: adopt})
	must(t, err)
	if it := p.Item("Logs", 0); it.Action != plan.Adopt || !slices.Contains(it.Needs, plan.GrantAdopt) {
		t.Fatalf("planned %s %v: %s", it.Action, it.Needs, it.Detail)
	}
	if o := w.run(deploy.Request{Plan: p, Graph: g, Adopt: adopt, Approvals: approveAll(p)}); o.Exit != 0 {
		t.Fatalf("exit %d %+v", o.Exit, o.Items)
	}
	group := w.sim.State().LogGroups[0]
	if group.Tags["reclaim:store"] != w.store.ID() || group.Tags["reclaim:nonce"] != "" || group.Tags["owner"] != "them" {
		t.Errorf("tags %v; want ours without a nonce, and the stranger's kept", group.Tags)
	}
	if r := w.records()["Logs"]; r.Origin != record.ByAdopt || r.Status != record.Made {
		t.Errorf("record %s, origin %s", r.Status, r.Origin)
	}
}

// A create that is refused is definitely not executed: the resource fails, what depends on it waits, and the record says
// that nothing was made (row 8), so that the next deploy sends it again.
func TestARefusedCreateIsSentAgainByTheNextDeploy(t *testing.T) {
	w := newWorld(t)
	w.sim.AddFault(awssim.Fault{Operation: "CreateRole", Kind: awssim.Denied})
	o := w.deploy(whole)
	if o.Exit != deploy.ExitError || result(o, "Role") != event.Failed || result(o, "File") != event.Skipped {
		t.Fatalf("exit %d %+v", o.Exit, o.Items)
	}
	if o := w.deploy(whole); o.Exit != 0 || w.executed("CreateRole") != 1 {
		t.Errorf("exit %d %+v, CreateRole executed %d times", o.Exit, o.Items, w.executed("CreateRole"))
	}
	w.wantNoop(whole)
}

// Throttling is the service's word for "come again": the run does, as further attempts of the same intent.
func TestAThrottledCreateComesAgain(t *testing.T) {
	w := newWorld(t)
	w.sim.AddFault(awssim.Fault{Operation: "CreateApi", Kind: awssim.Throttled, Times: 2})
	if o := w.deploy(whole); o.Exit != 0 || w.executed("CreateApi") != 1 {
		t.Fatalf("exit %d %+v", o.Exit, o.Items)
	}
	if a := w.records()["Api"].Intent.Attempts; len(a) != 3 || a[0].Outcome != record.Refused {
		t.Errorf("attempts %+v", a)
	}
}

// crash-009: an acknowledged object is recorded before any further call, so a denied read after it loses nothing.
func TestADeniedReadAfterTheCreateLosesNothing(t *testing.T) {
	w := newWorld(t)
	w.sim.AddFault(awssim.Fault{Operation: "ListRolePolicies", Kind: awssim.Denied, Times: -1})
	o := w.deploy(stack(role))
	rec := w.records()["Role"]
	if rec.Identity.UniqueID == "" || rec.Uncertain() {
		t.Fatalf("record %+v after %+v", rec, o.Items)
	}
	w.sim.ClearFaults()
	if o := w.deploy(stack(role)); o.Exit != 0 || w.executed("CreateRole") != 1 {
		t.Errorf("exit %d %+v", o.Exit, o.Items)
	}
	w.wantNoop(stack(role))
}

// CreateLogGroup answers without the group's ARN: a dependent gets it from a read that follows (S27).
func TestADependentGetsWhatTheCreateDidNotAnswer(t *testing.T) {
	w := newWorld(t)
	text := stack("  Logs:\n    Type: AWS::Logs::LogGroup\n    Properties: {LogGroupName: /bare}\n",
		"  File:\n    Type: Std::FS::File\n    Properties: {Path: ./out/arn, Content: !GetAtt Logs.Arn}\n")
	if o := w.deploy(text); o.Exit != 0 {
		t.Fatalf("exit %d %+v", o.Exit, o.Items)
	}
	got, err := os.ReadFile(filepath.Join(w.dir, "out", "arn"))
	must(t, err)
	if want := "arn:aws:logs:eu-west-1:123456789012:log-group:/bare:*"; string(got) != want {
		t.Errorf("the file holds %q, want %q", got, want)
	}
	w.wantNoop(text)
}

// A one-field change is one call and nothing else.
func TestAnUpdateSendsOnlyWhatDiffers(t *testing.T) {
	w := newWorld(t)
	w.deploy(whole)
	changed := strings.Replace(whole, "RetentionInDays: 14", "RetentionInDays: 30", 1)
	before := len(w.sim.Log())
	if o := w.deploy(changed); o.Exit != 0 {
		t.Fatalf("exit %d %+v", o.Exit, o.Items)
	}
	if sent := w.changing(before); len(sent) != 1 || !strings.HasPrefix(sent[0], "PutRetentionPolicy") {
		t.Errorf("sent %v, want one PutRetentionPolicy", sent)
	}
	w.wantNoop(changed)
}

// S22: create-first replaces under a new generated name, moves what depends on it, and only then deletes the old one.
func TestReplaceCreateFirst(t *testing.T) {
	w := newWorld(t)
	w.deploy(whole)
	old := w.records()["Role"].Physical
	moved := strings.Replace(whole, "    Properties:\n      AssumeRole", "    Properties:\n      Path: /orders/\n      AssumeRole", 1)
	g := w.graph(moved)
	p := w.plan(g)
	it := p.Item("Role", 0)
	if it.Action != plan.Replace || it.Order != plan.CreateFirst || len(it.Cause) == 0 {
		t.Fatalf("planned %s %s: %s", it.Action, it.Order, it.Detail)
	}
	before := len(w.sim.Log())
	if o := w.run(deploy.Request{Plan: p, Graph: g, Approvals: yes(p)}); o.Exit != deploy.ExitBlocked || len(w.changing(before)) > 0 {
		t.Fatalf("--yes alone: exit %d, sent %v; a replacement needs its own word", o.Exit, w.changing(before))
	}
	p = w.plan(g)
	o := w.run(deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p)})
	if o.Exit != 0 {
		t.Fatalf("exit %d %+v", o.Exit, o.Items)
	}
	roles := w.sim.State().Roles
	if len(roles) != 1 || roles[0].Name == old {
		t.Fatalf("roles %+v, old was %s", roles, old)
	}
	sent := w.changing(before)
	if i, j := slices.Index(sent, "CreateRole "+roles[0].Name), slices.Index(sent, "DeleteRole "+old); i < 0 || j < i {
		t.Errorf("order of calls %v", sent)
	}
	w.wantNoop(moved)
}

// S22, S25: what must keep its name is deleted first, each with its own approval, and data is asked for apart.
func TestReplaceDeleteFirstNeedsEveryWord(t *testing.T) {
	w := newWorld(t)
	w.deploy(whole)
	moved := strings.Replace(whole, "RetentionInDays: 14", "RetentionInDays: 14, LogGroupClass: INFREQUENT_ACCESS", 1)
	g := w.graph(moved)
	needs := w.plan(g).Item("Logs", 0).Needs
	if want := []plan.Grant{plan.GrantReplace, plan.GrantDeleteFirst, plan.GrantDataLoss}; !slices.Equal(needs, want) {
		t.Fatalf("needs %v, want %v", needs, want)
	}
	for i := range needs {
		p := w.plan(g)
		before := len(w.sim.Log())
		missing := slices.Delete(slices.Clone(needs), i, i+1)
		o := w.run(deploy.Request{Plan: p, Graph: g, Approvals: []deploy.Approval{{ID: "Logs", Grants: missing}}})
		if o.Exit != deploy.ExitBlocked || len(w.changing(before)) > 0 {
			t.Errorf("without %s: exit %d, sent %v", needs[i], o.Exit, w.changing(before))
		}
	}
	if o := w.deploy(moved); o.Exit != 0 {
		t.Fatalf("exit %d %+v", o.Exit, o.Items)
	}
	if groups := w.sim.State().LogGroups; len(groups) != 1 || groups[0].Class != "INFREQUENT_ACCESS" {
		t.Errorf("groups %+v", groups)
	}
	w.wantNoop(moved)
}

// Destroy works from records alone, with the stack file gone (S6), and needs a word for deleting and one for data (S25).
func TestDestroy(t *testing.T) {
	w := newWorld(t)
	w.deploy(whole)
	must(t, os.Remove(filepath.Join(w.dir, "stack.yaml")))
	p, err := plan.MakeDestroy(t.Context(), w.planEnv(), w.stack)
	must(t, err)
	before := len(w.sim.Log())
	if o := w.run(deploy.Request{Plan: p, Approvals: yes(p)}); o.Exit != deploy.ExitBlocked || len(w.changing(before)) > 0 {
		t.Fatalf("--yes alone: exit %d, sent %v", o.Exit, w.changing(before))
	}
	if o := w.destroy(); o.Exit != 0 {
		t.Fatalf("exit %d %+v", o.Exit, o.Items)
	}
	s := w.sim.State()
	if len(s.Roles)+len(s.LogGroups)+len(s.Apis) != 0 || len(w.records()) != 0 {
		t.Errorf("left: %+v, records %v", s, w.records())
	}
	if _, err := os.Stat(filepath.Join(w.dir, "out", "where.env")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

// S20: what took our object's key is never deleted; that it is another one shows that ours is gone.
func TestDestroyLeavesAnotherObjectUnderOurKeyAlone(t *testing.T) {
	w := newWorld(t)
	w.deploy(stack(logs))
	must(t, w.sim.Do(awssim.Action{Op: "DeleteLogGroup", Region: "eu-west-1", Params: map[string]any{"logGroupName": "/orders/app"}}))
	w.clock.Sleep(t.Context(), time.Second)
	must(t, w.sim.Do(awssim.Action{Op: "CreateLogGroup", Region: "eu-west-1", Params: map[string]any{"logGroupName": "/orders/app"}}))
	before := len(w.sim.Log())
	o := w.destroy()
	if o.Exit != 0 || len(w.changing(before)) != 0 || len(w.sim.State().LogGroups) != 1 {
		t.Fatalf("exit %d %+v, sent %v", o.Exit, o.Items, w.changing(before))
	}
	if len(w.records()) != 0 {
		t.Errorf("records %v; ours is gone", w.records())
	}
}

// The policies: Retain lets the record go and leaves the object.
func TestRetainKeepsTheObject(t *testing.T) {
	w := newWorld(t)
	kept := stack(strings.Replace(logs, "    Properties", "    DeletionPolicy: Retain\n    Properties", 1))
	w.deploy(kept)
	before := len(w.sim.Log())
	o := w.destroy()
	if o.Exit != 0 || result(o, "Logs") != event.Kept || len(w.changing(before)) != 0 || len(w.sim.State().LogGroups) != 1 {
		t.Fatalf("exit %d, %+v, sent %v", o.Exit, o.Items, w.changing(before))
	}
}

// crash-020: what was recorded and is gone is made again, once its window has passed; a denied look is not absence (S2).
func TestGoneSinceIsMadeAgainAndDeniedIsNotGone(t *testing.T) {
	w := newWorld(t)
	w.deploy(whole)
	w.clock.Sleep(t.Context(), time.Hour)
	w.sim.AddFault(awssim.Fault{Operation: "GetRole", Kind: awssim.Denied, Times: -1})
	if it := w.plan(w.graph(whole)).Item("Role", 0); it.Action != plan.Blocked || it.Reason != plan.Denied {
		t.Errorf("a denied look plans %s (%s)", it.Action, it.Detail)
	}
	w.sim.ClearFaults()
	name := w.records()["Role"].Physical
	must(t, w.sim.Do(awssim.Action{Op: "DeleteRolePolicy", Params: map[string]any{"RoleName": name, "PolicyName": "table"}}))
	must(t, w.sim.Do(awssim.Action{Op: "DeleteRole", Params: map[string]any{"RoleName": name}}))
	if it := w.plan(w.graph(whole)).Item("Role", 0); it.Action != plan.Create || it.Gen != 2 {
		t.Fatalf("planned %s generation %d: %s", it.Action, it.Gen, it.Detail)
	}
	if o := w.deploy(whole); o.Exit != 0 || len(w.sim.State().Roles) != 1 {
		t.Errorf("exit %d %+v", o.Exit, o.Items)
	}
	w.wantNoop(whole)
}

// What moved between plan and deploy stops as stale; nothing is sent for it.
func TestWhatMovedSinceThePlanIsStale(t *testing.T) {
	w := newWorld(t)
	w.deploy(whole)
	changed := strings.Replace(whole, "RetentionInDays: 14", "RetentionInDays: 30", 1)
	g := w.graph(changed)
	p := w.plan(g)
	must(t, w.sim.Do(awssim.Action{Op: "PutRetentionPolicy", Region: "eu-west-1", Params: map[string]any{"logGroupName": "/orders/app", "retentionInDays": 7}}))
	before := len(w.sim.Log())
	o := w.run(deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p)})
	if o.Exit != deploy.ExitBlocked || result(o, "Logs") != event.Stale || len(w.changing(before)) != 0 {
		t.Errorf("exit %d %+v, sent %v", o.Exit, o.Items, w.changing(before))
	}
}

// S33: a run whose hold was taken sends nothing more; S34: what it learned meanwhile is kept as evidence.
func TestAStaleHolderStopsAndItsAcknowledgementIsKept(t *testing.T) {
	w := newWorld(t)
	w.sim.AddFault(awssim.Fault{Operation: "CreateRole", Kind: awssim.AnsweredLate, Delay: 300 * time.Millisecond})
	taken := make(chan error, 1)
	go func() {
		for w.executed("CreateRole") == 0 {
			time.Sleep(time.Millisecond)
		}
		var held record.Hold
		err := w.store.Read(context.Background(), func(v record.View) error {
			var err error
			held, _, err = v.Hold(w.stack)
			return err
		})
		if err == nil {
			_, err = w.store.Take(context.Background(), held.Execution, record.Hold{Stack: w.stack, Execution: "e-new", Verb: "recover", Owner: store.Owner()})
		}
		taken <- err
	}()
	o := w.deploy(stack(role, strings.Replace(logs, "  Logs:", "  Logs:\n    DependsOn: Role", 1)))
	must(t, <-taken)
	if !slices.Contains(o.Exits, deploy.ExitHeld) || w.executed("CreateLogGroup") != 0 {
		t.Fatalf("exits %v, CreateLogGroup executed %d times", o.Exits, w.executed("CreateLogGroup"))
	}
	err := w.store.Read(t.Context(), func(v record.View) error {
		list, err := v.Evidence(w.stack)
		if err == nil && (len(list) != 1 || list[0].ID != "Role" || list[0].Identity.UniqueID == "") {
			t.Errorf("evidence %+v; want the role's acknowledgement", list)
		}
		return err
	})
	must(t, err)
}

// S17: a decision is void once the facts it was made on have moved.
func TestADecisionIsVoidWhenItsFactsMoved(t *testing.T) {
	w := newWorld(t)
	w.sim.AddFault(awssim.Fault{Operation: "CreateApi", Kind: awssim.NotExecutedUnanswered})
	w.deploy(stack(api))
	f := w.findings()["Api"]
	nonce := w.records()["Api"].Intent.Nonce
	must(t, w.sim.Do(awssim.Action{Op: "CreateApi", Region: "eu-west-1", Params: map[string]any{"name": "orders", "protocolType": "HTTP", "tags": map[string]any{"reclaim:nonce": nonce}}}))
	before := len(w.sim.Log())
	o := w.recover(deploy.RecoverRequest{Decide: []record.Decision{decide(f, record.Retry, "")}})
	if result(o, "Api") != event.Stale || len(w.changing(before)) != 0 {
		t.Errorf("%+v, sent %v; want the decision void and nothing sent", o.Items, w.changing(before))
	}
}

// S32: a NoEcho parameter's text reaches the object and nothing that is stored or said.
func TestASecretStaysOutOfStateAndEvents(t *testing.T) {
	w := newWorld(t)
	const secret = "s3cr3t-0f-the-0rders"
	text := "Parameters: {Key: {Type: String, NoEcho: true, Default: " + secret + "}}\n" + stack("  File:\n    Type: Std::FS::File\n    Properties: {Path: ./out/key, Content: !Ref Key}\n")
	if o := w.deploy(text); o.Exit != 0 {
		t.Fatalf("exit %d %+v", o.Exit, o.Items)
	}
	got, err := os.ReadFile(filepath.Join(w.dir, "out", "key"))
	must(t, err)
	if string(got) != secret {
		t.Fatalf("the file holds %q", got)
	}
	w.wantNoop(text)
	must(t, filepath.WalkDir(filepath.Join(w.dir, ".reclaim"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), secret) {
			t.Errorf("%s holds the secret", path)
		}
		return err
	}))
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if b, _ := e.MarshalJSON(); strings.Contains(string(b), secret) {
			t.Errorf("event %s", b)
		}
	}
}
