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
	"reclaim/engine/resource"
	"reclaim/providers/awssim"
)

// pathed gives the role another path, which replaces it.
func pathed(text string) string {
	return strings.Replace(text, "    Properties:\n      AssumeRole", "    Properties:\n      Path: /orders/\n      AssumeRole", 1)
}

// withPolicy gives the resource that text begins with a policy.
func withPolicy(text, name, policy string) string {
	return strings.Replace(text, "    Properties", "    "+name+": "+policy+"\n    Properties", 1)
}

// S20: an object without identity is told by what we recorded. Once somebody edited it, it is not deleted.
func TestAnEditedFileIsNotDeleted(t *testing.T) {
	w := newWorld(t)
	w.deploy(stack(plainFile))
	path := filepath.Join(w.dir, "out", "plain.env")
	must(t, os.WriteFile(path, []byte("somebody's work"), 0o644))
	if it := w.planDestroy().Item("File", 0); it.Action != plan.Blocked {
		t.Errorf("planned %s: %s", it.Action, it.Detail)
	}
	w.destroy()
	if b, err := os.ReadFile(path); err != nil || string(b) != "somebody's work" {
		t.Errorf("the file is %q, %v", b, err)
	}
	if len(w.records()) != 1 {
		t.Error("the record went while the file stays")
	}
}

// S20: a file that is edited between our look and the delete is not deleted either: the provider looks again.
func TestAFileEditedInTheLastMomentIsNotDeleted(t *testing.T) {
	w := newWorld(t)
	w.deploy(stack(plainFile))
	path := filepath.Join(w.dir, "out", "plain.env")
	w.hook().changing = func(_, call string) error {
		if call == "delete" {
			must(t, os.WriteFile(path, []byte("somebody's work"), 0o644))
		}
		return nil
	}
	w.destroy()
	if b, err := os.ReadFile(path); err != nil || string(b) != "somebody's work" {
		t.Errorf("the file is %q, %v", b, err)
	}
}

// S20: an object of ours from which somebody took the tags, and which has no recorded identity, is left alone: nothing
// shows that it is ours, and a tombstone keeps it searchable.
func TestAnObjectWhoseTagsWentIsLeftAloneAndRemembered(t *testing.T) {
	bare := strings.Replace(logs, ", RetentionInDays: 14", "", 1)
	w := newWorld(t)
	w.deploy(stack(bare))
	w.tamper(func(r *record.Record) { r.Identity = resource.Identity{} })
	arn := "arn:aws:logs:eu-west-1:123456789012:log-group:/orders/app"
	must(t, w.sim.Do(awssim.Action{Service: "logs", Op: "UntagResource", Region: "eu-west-1", Params: map[string]any{"resourceArn": arn, "tagKeys": []any{"reclaim:nonce", "reclaim:store", "reclaim:stack", "reclaim:resource"}}}))
	before := len(w.sim.Log())
	w.destroy()
	if sent := w.changing(before); len(sent) > 0 || len(w.sim.State().LogGroups) != 1 {
		t.Errorf("sent %v", sent)
	}
	if s := w.state(); len(s.Records) == 0 && len(s.Tombs) == 0 {
		t.Error("nothing remembers the group")
	}
}

// S21: "not found" right after the last write is not believed; a record goes only outside its window.
func TestNotFoundInsideTheWindowEndsNoDelete(t *testing.T) {
	w := newWorld(t)
	w.deploy(stack(logs))
	w.sim.AddFault(awssim.Fault{Operation: "DescribeLogGroups", Kind: awssim.Lag, Delay: time.Hour, Times: 1})
	if it := w.planDestroy().Item("Logs", 0); it.Action != plan.Wait {
		t.Errorf("planned %s inside the window: %s", it.Action, it.Detail)
	}
	w.sim.AddFault(awssim.Fault{Operation: "DescribeLogGroups", Kind: awssim.Lag, Delay: time.Hour, Times: 1})
	w.destroy()
	if groups, records := len(w.sim.State().LogGroups), len(w.records()); groups == 1 && records == 0 {
		t.Error("the record went while the group lives")
	}
}

// S21: a creating record that is given up because nothing was found leaves a tombstone: its request may still be executed.
func TestAGivenUpCreateLeavesATombstone(t *testing.T) {
	w := newWorld(t)
	w.sim.AddFault(awssim.Fault{Operation: "CreateRole", Kind: awssim.NotExecutedUnanswered})
	h := w.hook()
	ctx, cancel := context.WithCancel(t.Context())
	h.answered = func(_, _ string, err error) error { cancel(); return err }
	g := w.graph(stack(role))
	p := w.plan(g)
	_, err := deploy.Run(ctx, w.env(), deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p)})
	must(t, err)
	h.answered = nil
	nonce := w.records()["Role"].Intent.Nonce
	w.elapse()
	o := w.destroy()
	if o.Exit != 0 || len(w.records()) != 0 {
		t.Fatalf("destroy: exit %d %+v", o.Exit, o.Items)
	}
	tombs := w.state().Tombs
	if len(tombs) != 1 || !slices.Contains(tombs[0].Nonces, nonce) {
		t.Fatalf("tombstones %+v, want one with nonce %s", tombs, nonce)
	}
}

// S18, S21: a record that was retried under a new intent may have made two objects. When one is deleted, the nonce of the
// other stays searchable.
func TestTheNonceOfAnUnansweredAttemptOutlivesTheRecord(t *testing.T) {
	w := newWorld(t)
	w.sim.AddFault(awssim.Fault{Operation: "CreateApi", Kind: awssim.NotExecutedUnanswered})
	w.deploy(stack(api))
	former := w.records()["Api"].Intent.Nonce
	if o := w.recover(deploy.RecoverRequest{Decide: []record.Decision{decide(w.findings()["Api"], record.Retry, "")}}); o.Exit != 0 {
		t.Fatalf("retry: exit %d %+v", o.Exit, o.Items)
	}
	if o := w.destroy(); o.Exit != 0 {
		t.Fatalf("destroy: exit %d %+v", o.Exit, o.Items)
	}
	if tombs := w.state().Tombs; len(tombs) != 1 || !slices.Contains(tombs[0].Nonces, former) {
		t.Errorf("tombstones %+v, want one with nonce %s", tombs, former)
	}
}

// S22: --only replaces a resource without its dependents. They have not moved, so the old object stays; the next whole
// deploy moves them and removes it, with its own approval.
func TestOnlyLeavesTheOldObjectToWhoStillDependsOnIt(t *testing.T) {
	w := newWorld(t)
	w.deploy(whole)
	old := w.records()["Role"].Physical
	moved := pathed(whole)
	g := w.graph(moved)
	p := w.plan(g)
	w.run(deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p), Only: []string{"Role"}})
	if roles := w.sim.State().Roles; len(roles) != 2 {
		t.Fatalf("%d roles; the file still names %s", len(roles), old)
	}
	p = w.plan(g)
	o := w.run(deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p), Only: []string{"Role"}})
	if slices.ContainsFunc(w.changing(0), func(c string) bool { return c == "DeleteRole "+old }) {
		t.Fatalf("--only Role again deleted what File still depends on: %+v", o.Items)
	}
	if o := w.deploy(moved); o.Exit != 0 || len(w.sim.State().Roles) != 1 {
		t.Errorf("exit %d %+v, %d roles", o.Exit, o.Items, len(w.sim.State().Roles))
	}
	w.wantNoop(moved)
}

// S22: what depends on a replaced resource failed to move, so the old object stays.
func TestTheOldObjectStaysWhenADependentFailed(t *testing.T) {
	w := newWorld(t)
	w.deploy(whole)
	h := w.hook()
	h.changing = only(func(string, string) error { return errors.New("no space left") }, "Std::FS::File")
	o := w.deploy(pathed(whole))
	if o.Exit == 0 || len(w.sim.State().Roles) != 2 {
		t.Fatalf("exit %d, %d roles: %+v", o.Exit, len(w.sim.State().Roles), o.Items)
	}
	h.changing = nil
	if o := w.deploy(pathed(whole)); o.Exit != 0 || len(w.sim.State().Roles) != 1 {
		t.Errorf("exit %d, %d roles: %+v", o.Exit, len(w.sim.State().Roles), o.Items)
	}
	w.wantNoop(pathed(whole))
}

// S22, S23: a generation that an earlier run left retired is an item of its own. A further replacement of the
// current one, whatever was approved for it, does not delete it.
func TestALeftoverGenerationNeedsItsOwnApproval(t *testing.T) {
	two := strings.Replace(logs, "LogGroupName: /orders/app", `LogGroupName: !Sub "/orders/${Role}"`, 1)
	w := newWorld(t)
	if o := w.deploy(stack(role, two)); o.Exit != 0 {
		t.Fatalf("exit %d %+v", o.Exit, o.Items)
	}
	h := w.hook()
	h.changing = func(_, call string) error {
		if call == "delete" {
			return errors.New("not now")
		}
		return nil
	}
	w.deploy(pathed(stack(role, two)))
	h.changing = nil
	left := map[string]bool{}
	for _, r := range w.state().Records {
		if r.Status == record.Retired || r.Status == record.Deleting {
			left[r.Physical] = true
		}
	}
	if len(left) == 0 {
		t.Fatal("nothing was left over")
	}
	g := w.graph(strings.Replace(pathed(stack(role, two)), "Path: /orders/", "Path: /again/", 1))
	p := w.plan(g)
	var grants []deploy.Approval
	for _, it := range p.Items {
		if !it.Removal && it.CanRun() {
			grants = append(grants, deploy.Approval{ID: it.ID, Gen: it.Gen, Grants: it.Needs})
		}
	}
	before := len(w.sim.Log())
	w.run(deploy.Request{Plan: p, Graph: g, Approvals: grants})
	for _, sent := range w.changing(before) {
		if op, target, _ := strings.Cut(sent, " "); strings.HasPrefix(op, "Delete") && left[target] {
			t.Errorf("sent %s, which nobody approved", sent)
		}
	}
}

// S23: UpdateReplacePolicy Retain keeps the old object, also when the same deploy takes the policy away: the plan that was
// approved says so.
func TestTheOldObjectIsKeptWhenEitherPolicySaysSo(t *testing.T) {
	for name, c := range map[string]struct{ first, next string }{
		"both":          {"Retain", "Retain"},
		"only recorded": {"Retain", "Delete"},
		"only template": {"Delete", "Retain"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.deploy(stack(withPolicy(role, "UpdateReplacePolicy", c.first)))
			next := stack(withPolicy(pathed(role), "UpdateReplacePolicy", c.next))
			g := w.graph(next)
			p := w.plan(g)
			if it := p.Item("Role", 0); !strings.Contains(it.OldFate, "kept") {
				t.Fatalf("the plan says %q", it.OldFate)
			}
			before := len(w.sim.Log())
			if o := w.run(deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p)}); o.Exit != 0 {
				t.Fatalf("exit %d %+v", o.Exit, o.Items)
			}
			for _, sent := range w.changing(before) {
				if strings.HasPrefix(sent, "Delete") {
					t.Errorf("sent %s", sent)
				}
			}
			if s := w.state(); len(w.sim.State().Roles) != 2 || len(s.Records) != 1 || len(s.Tombs) != 1 {
				t.Errorf("%d roles, records %v, tombstones %v", len(w.sim.State().Roles), s.Records, s.Tombs)
			}
			w.wantNoop(next)
		})
	}
}

// S23: a policy that this version cannot carry out blocks what it is about.
func TestASnapshotPolicyInARecordBlocks(t *testing.T) {
	w := newWorld(t)
	w.deploy(whole)
	w.tamper(func(r *record.Record) {
		r.DeletionPolicy, r.UpdateReplacePolicy = record.PolicySnapshot, record.PolicySnapshot
	})
	for _, it := range w.planDestroy().Items {
		if it.Action != plan.Blocked {
			t.Errorf("%s is planned to %s", it.ID, it.Action)
		}
	}
	if it := w.plan(w.graph(pathed(whole))).Item("Role", 0); it.Action != plan.Blocked {
		t.Errorf("its replacement is planned as %s", it.Action)
	}
	before := len(w.sim.Log())
	w.destroy()
	if sent := w.changing(before); len(sent) > 0 {
		t.Errorf("sent %v", sent)
	}
}

// S23: an unfinished create whose object is there is kept by DeletionPolicy Retain like any other.
func TestRetainHoldsForAnUnfinishedCreate(t *testing.T) {
	w := newWorld(t)
	h := w.hook()
	ctx, cancel := context.WithCancel(t.Context())
	h.answered = func(string, string, error) error { cancel(); return errors.New("connection reset") }
	g := w.graph(stack(withPolicy(role, "DeletionPolicy", "Retain")))
	p := w.plan(g)
	_, err := deploy.Run(ctx, w.env(), deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p)})
	must(t, err)
	h.answered = nil
	w.elapse()
	d := w.planDestroy()
	if it := d.Item("Role", 0); it.Action != plan.Retain {
		t.Errorf("planned %s: %s", it.Action, it.Detail)
	}
	o := w.run(deploy.Request{Plan: d, Approvals: approveAll(d)})
	if s := w.state(); o.Exit != 0 || len(w.sim.State().Roles) != 1 || len(s.Records) != 0 || len(s.Tombs) != 1 {
		t.Errorf("exit %d, %d roles, records %v, tombstones %v", o.Exit, len(w.sim.State().Roles), s.Records, s.Tombs)
	}
}

// S24: what was adopted is ours to change and, by the stack's own removal with its approval, to delete; --yes never does.
func TestAnAdoptedObjectIsNotDeletedByYes(t *testing.T) {
	w := newWorld(t)
	w.stranger("CreateLogGroup", map[string]any{"logGroupName": "/orders/app", "tags": map[string]any{"owner": "them"}})
	g := w.graph(stack(logs))
	adopt := map[string]string{"Logs": "/orders/app"}
	p, err := plan.Make(t.Context(), w.planEnv(), g, w.stack, plan.Options{Adopt: adopt})
	must(t, err)
	w.run(deploy.Request{Plan: p, Graph: g, Adopt: adopt, Approvals: approveAll(p)})
	d := w.planDestroy()
	w.run(deploy.Request{Plan: d, Approvals: yes(d)})
	if len(w.sim.State().LogGroups) != 1 || len(w.records()) != 1 {
		t.Error("--yes deleted an adopted group")
	}
}

// S25: an operator's decision to delete what a create made destroys data only with a consent of its own.
func TestADecisionToDeleteNeedsConsentForData(t *testing.T) {
	w := newWorld(t)
	w.sim.AddFault(awssim.Fault{Operation: "CreateLogGroup", Kind: awssim.ExecutedUnanswered})
	g := w.graph(stack(logs))
	p := w.plan(g)
	w.run(deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p), Strict: true})
	if w.records()["Logs"].Status != record.Creating {
		t.Fatalf("--strict reclaimed by itself: %+v", w.records()["Logs"]) // S19
	}
	deleteIt := func(consent ...string) deploy.Outcome {
		return w.recover(deploy.RecoverRequest{Decide: []record.Decision{decide(w.findings()["Logs"], record.DeleteIt, "")}, AllowDataLoss: consent})
	}
	if o := deleteIt(); len(w.sim.State().LogGroups) != 1 || len(w.records()) != 1 {
		t.Fatalf("without consent: %+v", o.Items)
	}
	if o := deleteIt("Logs"); o.Exit != 0 || len(w.sim.State().LogGroups) != 0 || len(w.records()) != 0 {
		t.Errorf("with consent: exit %d %+v", o.Exit, o.Items)
	}
}

// S26: what somebody else put on a role stays, through updates and a destroy that it blocks.
func TestAStrangersPolicyOnOurRoleStays(t *testing.T) {
	w := newWorld(t)
	w.deploy(stack(role))
	name := w.records()["Role"].Physical
	w.stranger("PutRolePolicy", map[string]any{"RoleName": name, "PolicyName": "theirs", "PolicyDocument": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}`})
	w.deploy(stack(strings.Replace(role, "dynamodb:GetItem", "dynamodb:PutItem", 1)))
	w.destroy()
	roles := w.sim.State().Roles
	if len(roles) != 1 || roles[0].Inline["theirs"] == "" || len(w.records()) != 1 {
		t.Errorf("roles %+v, records %v", roles, w.records())
	}
}

// S26, S31: members that unfinished writes sent are ours, those of the write before the last too: they are taken away
// when config no longer names them.
func TestMembersOfEveryUnfinishedWriteAreOurs(t *testing.T) {
	w := newWorld(t)
	w.deploy(stack(role))
	more := func(name string) string {
		return stack(role + `        - PolicyName: ` + name + `
          PolicyDocument: {Version: "2012-10-17", Statement: [{Effect: Allow, Action: "s3:GetObject", Resource: "*"}]}
`)
	}
	w.sim.AddFault(awssim.Fault{Operation: "PutRolePolicy", Kind: awssim.ExecutedUnanswered, Times: -1})
	w.deploy(more("first")) // executed, and nobody told us
	w.sim.ClearFaults()
	if inline := w.sim.State().Roles[0].Inline; inline["first"] == "" {
		t.Fatal("the first write was not executed")
	}
	w.sim.AddFault(awssim.Fault{Operation: "DeleteRolePolicy", Kind: awssim.Denied})
	w.deploy(more("second")) // first is to go, and could not
	w.sim.ClearFaults()
	if o := w.deploy(more("second")); o.Exit != 0 {
		t.Fatalf("exit %d %+v", o.Exit, o.Items)
	}
	if inline := w.sim.State().Roles[0].Inline; inline["first"] != "" || inline["second"] == "" || inline["table"] == "" {
		t.Errorf("inline policies %v; want table and second", inline)
	}
}

// Removal from the template: dependents go first, and what is blocked keeps what it depends on.
func TestRemovalKeepsWhatIsStillDependedOn(t *testing.T) { // S22
	w := newWorld(t)
	w.deploy(whole)
	must(t, os.WriteFile(filepath.Join(w.dir, "out", "where.env"), []byte("edited"), 0o644))
	o := w.destroy() // the edited file is blocked, and it depends on role and API
	if result(o, "File") != event.Blocked || len(w.sim.State().Roles) != 1 || len(w.sim.State().Apis) != 1 {
		t.Errorf("%+v", o.Items)
	}
	if len(w.sim.State().LogGroups) != 0 {
		t.Error("the log group, on which nothing depends, stayed")
	}
}

// S23: when the replacement of a resource is given up, the generation that it was to replace is current again: nothing of
// it is made anew, reclaimed or in the way of itself. Found by TestExplore.
func TestAfterAnAbandonedReplacementTheOldGenerationIsCurrentAgain(t *testing.T) {
	for name, c := range map[string]struct{ first, next, op string }{
		"an API":                 {api, strings.Replace(api, "ProtocolType: HTTP", `ProtocolType: WEBSOCKET, RouteSelectionExpression: "$request.body.a"`, 1), "CreateApi"},
		"a role with a name":     {named(role, "one"), named(role, "two"), "CreateRole"},
		"a log group, by rename": {logs, strings.Replace(logs, "/orders/app", "/orders/new", 1), "CreateLogGroup"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.first, c.next = withPolicy(c.first, "DeletionPolicy", "Retain"), withPolicy(c.next, "DeletionPolicy", "Retain")
			w.deploy(stack(c.first))
			ctx, cancel := context.WithCancel(t.Context())
			h := w.hook()
			h.answered = func(_, call string, err error) error {
				if call == "create" {
					cancel()
				}
				return err
			}
			w.sim.AddFault(awssim.Fault{Operation: c.op, Kind: awssim.NotExecutedUnanswered})
			g := w.graph(stack(c.next))
			p := w.plan(g)
			_, err := deploy.Run(ctx, w.env(), deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p)})
			must(t, err)
			h.answered = nil
			w.elapse()
			for _, f := range w.findings() {
				if o := w.recover(deploy.RecoverRequest{Decide: []record.Decision{decide(f, record.Abandon, "")}}); o.Exit != 0 {
					t.Fatalf("abandon: exit %d %+v", o.Exit, o.Items)
				}
			}
			if it := w.planDestroy().Item(p.Items[0].ID, 1); it.Action != plan.Retain {
				t.Errorf("destroying it is planned as %s; its DeletionPolicy is Retain", it.Action)
			}
			before := len(w.sim.Log())
			if o := w.deploy(stack(c.first)); o.Exit != 0 || len(w.changing(before)) != 0 {
				t.Fatalf("back to what was there: exit %d, sent %v: %+v", o.Exit, w.changing(before), o.Items)
			}
			w.wantNoop(stack(c.first))
			if o := w.deploy(stack(c.next)); o.Exit != 0 || len(w.things()) != 1 {
				t.Errorf("again: exit %d, %v: %+v", o.Exit, w.things(), o.Items)
			}
			w.wantNoop(stack(c.next))
		})
	}
}

func named(role, name string) string {
	return strings.Replace(role, "    Properties:\n", "    Properties:\n      RoleName: "+name+"\n", 1)
}

// S20: deleting what an unfinished update left takes away the members that were recorded and those that were being sent,
// since either may be there. Found by TestExplore.
func TestDeletingAfterAnUnfinishedUpdateTakesAllMembersOfOursAway(t *testing.T) {
	w := newWorld(t)
	w.deploy(stack(role))
	w.sim.AddFault(awssim.Fault{Operation: "PutRolePolicy", Kind: awssim.NotExecutedUnanswered, Times: -1})
	w.deploy(stack(strings.Replace(role, "PolicyName: table", "PolicyName: other", 1)))
	w.sim.ClearFaults()
	w.elapse()
	if o := w.destroy(); o.Exit != 0 || len(w.sim.State().Roles) != 0 {
		t.Errorf("exit %d %+v", o.Exit, o.Items)
	}
}

// S20: a file that an unanswered create is presumed to have made is told by what was sent. Found by TestExplore.
func TestADecisionToDeleteAPresumedFile(t *testing.T) {
	w := newWorld(t)
	w.hook().answered = func(_, call string, err error) error {
		if call == "create" {
			return errors.New("cut off")
		}
		return err
	}
	g := w.graph(stack(plainFile))
	p := w.plan(g)
	w.run(deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p), Strict: true})
	f := w.findings()["File"]
	if f.Row != "5" {
		t.Fatalf("row %s: %s", f.Row, f.Summary)
	}
	o := w.recover(deploy.RecoverRequest{Decide: []record.Decision{decide(f, record.DeleteIt, f.Physical)}})
	if _, err := os.Lstat(f.Physical); !errors.Is(err, os.ErrNotExist) || o.Exit != 0 || len(w.records()) != 0 {
		t.Errorf("exit %d, %v: %+v", o.Exit, err, o.Items)
	}
}
