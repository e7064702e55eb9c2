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
	"reclaim/providers/awssim"
)

// theirRule is what a stranger puts under the name of rule.
var theirRule = map[string]any{"name": "nightly", "scheduleExpression": "rate(5 minutes)", "description": "theirs",
	"tags": []any{map[string]any{"Key": "owner", "Value": "them"}}}

// S9: a put that succeeds proves nothing. Of a rule the nonce does, in the same run; without it the record stays
// acknowledged, is blocked, and says that something was overwritten.
func TestAPutIsOursOnlyOnceARulesReadShowsIt(t *testing.T) {
	text := stack(rule)
	for name, strict := range map[string]bool{"as always": false, "strict": true} {
		t.Run("a rule that nobody had is ours at once, "+name, func(t *testing.T) {
			w := newWorld(t)
			began := w.clock.Now()
			g := w.graph(text)
			p := w.plan(g)
			wantDone(t, w.run(deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p), Strict: strict}))
			if waited := w.clock.Now().Sub(began); waited > 5*time.Second {
				t.Errorf("it took %s, as if a window had been waited out", waited)
			}
			if r := w.records()["Rule"]; r.Status != record.Made || r.Origin != record.ByCreate || r.Intent != nil && len(r.Intent.Attempts) > 0 && r.AckedAt.IsZero() {
				t.Errorf("the record is %s by %s", r.Status, r.Origin)
			}
			if n := w.executed("PutRule"); n != 1 {
				t.Errorf("%d puts", n)
			}
			w.wantNoop(text)
		})
	}
	t.Run("S5: one that existed before is foreign, and not overwritten", func(t *testing.T) {
		w := newWorld(t)
		w.stranger("PutRule", theirRule)
		if it := w.plan(w.graph(text)).Item("Rule", 0); it.Action != plan.Blocked || it.Reason != plan.Foreign {
			t.Errorf("planned %s %s: %s", it.Action, it.Reason, it.Detail)
		}
		if o := w.deploy(text); o.Exit != deploy.ExitBlocked || w.executed("PutRule") != 0 || w.sim.State().Rules[0].Description != "theirs" {
			t.Errorf("exit %d, the rule is %+v", o.Exit, w.sim.State().Rules[0])
		}
		wantDone(t, w.adopting(text, "Rule"))
		if got := w.sim.State().Rules[0]; got.Description != "ours" || got.Tags["owner"] != "them" || got.Tags["reclaim:nonce"] != "" {
			t.Errorf("adopted, the rule is %+v", got)
		}
		w.wantNoop(text)
	})
	t.Run("one that a stranger made between look and put was overwritten: blocked, and told", func(t *testing.T) {
		w := newWorld(t)
		w.sim.AddFault(awssim.Fault{Operation: "PutRule", Then: []awssim.Action{{Op: "PutRule", Params: theirRule}}})
		o := w.deploy(text)
		if o.Exit != deploy.ExitUncertain || !strings.Contains(reason(o, "Rule"), "overwrote") || !strings.Contains(o.Summary+reason(o, "Rule"), "overwrote an existing object") {
			t.Errorf("exit %d: %s", o.Exit, told(o))
		}
		w.wantRow("Rule", "7")
		if r := w.records()["Rule"]; r.Status != record.Acknowledged {
			t.Errorf("the record is %s", r.Status)
		}
		w.elapse()
		before := len(w.sim.Log())
		for range 2 {
			w.deploy(text)
			w.recover(deploy.RecoverRequest{Auto: true})
			w.destroy()
		}
		if sent := w.changing(before); len(sent) != 0 || len(w.sim.State().Rules) != 1 {
			t.Errorf("sent %v", sent)
		}
		w.decideAs("Rule", record.Adopt, "default|nightly")
		wantDone(t, w.deploy(text))
		if r := w.records()["Rule"]; r.Origin != record.ByAdopt {
			t.Errorf("the record is by %s", r.Origin)
		}
		w.wantNoop(text)
	})
	t.Run("killed before the answer, it is ours by its nonce", func(t *testing.T) {
		w := newWorld(t)
		w.killed(text, sending("Rule"))
		w.wantRow("Rule", "2")
		wantDone(t, w.deploy(text))
		if w.executed("PutRule") != 1 {
			t.Errorf("%d puts", w.executed("PutRule"))
		}
		w.wantNoop(text)
	})
	t.Run("killed before the put, it is put again", func(t *testing.T) {
		w := newWorld(t)
		w.sim.AddFault(awssim.Fault{Operation: "PutRule", Kind: awssim.NotExecutedUnanswered})
		w.killed(text, sending("Rule"))
		w.wantRow("Rule", "12")
		wantDone(t, w.deploy(text))
		if w.executed("PutRule") != 1 {
			t.Errorf("%d puts", w.executed("PutRule"))
		}
		w.wantNoop(text)
	})
	t.Run("killed before the put, and a stranger's is there then", func(t *testing.T) {
		w := newWorld(t)
		w.sim.AddFault(awssim.Fault{Operation: "PutRule", Kind: awssim.NotExecutedUnanswered})
		w.killed(text, sending("Rule"))
		w.stranger("PutRule", theirRule)
		w.wantRow("Rule", "7")
		before := len(w.sim.Log())
		w.deploy(text)
		w.recover(deploy.RecoverRequest{Auto: true})
		if sent := w.changing(before); len(sent) != 0 {
			t.Errorf("sent %v", sent)
		}
	})
}

// S9: an attachment has nothing that could carry a mark. The params that were sent, seen where nothing was at the look
// before, are the proof, and only within the run that saw both.
func TestAnAttachmentIsOursWhereNothingWasBefore(t *testing.T) {
	text := stack(role, attachment)
	attached := func(w *world) []string { return w.sim.State().Roles[0].Attached }
	t.Run("in one run it is created, and by us", func(t *testing.T) {
		w := newWorld(t)
		wantDone(t, w.deploy(text))
		if r := w.records()["Attachment"]; r.Status != record.Made || r.Origin != record.ByCreate || !slices.Equal(attached(w), []string{readOnly}) {
			t.Errorf("the record is %s by %s; attached: %v", r.Status, r.Origin, attached(w))
		}
		w.wantNoop(text)
		wantDone(t, w.destroy())
		if len(w.sim.State().Roles) != 0 || w.executed("DetachRolePolicy") != 1 {
			t.Errorf("%d roles are left, %d detached", len(w.sim.State().Roles), w.executed("DetachRolePolicy"))
		}
	})
	t.Run("killed between acknowledgement and read, it is presumed ours", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(role))
		w.killed(text, func(r record.Record) bool { return r.ID == "Attachment" && r.Status == record.Acknowledged })
		if r := w.records()["Attachment"]; r.Status != record.Acknowledged {
			t.Fatalf("left at %s", r.Status)
		}
		w.elapse()
		w.wantRow("Attachment", "5")
		before := len(w.sim.Log())
		wantDone(t, w.deploy(text))
		if r := w.records()["Attachment"]; r.Origin != record.Presumed || len(w.changing(before)) != 0 {
			t.Errorf("by %s, sent %v", r.Origin, w.changing(before))
		}
		w.wantNoop(text)
	})
	t.Run("one that was there before is foreign", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(role))
		w.stranger("AttachRolePolicy", map[string]any{"RoleName": w.sim.State().Roles[0].Name, "PolicyArn": readOnly})
		if o := w.deploy(text); o.Exit != deploy.ExitBlocked || w.executed("AttachRolePolicy") != 0 {
			t.Errorf("exit %d: %s", o.Exit, told(o))
		}
		wantDone(t, w.adopting(text, "Attachment"))
		w.wantNoop(text)
		wantDone(t, w.deploy(text))
	})
	t.Run("its role is replaced while the answer is lost: the policy is on the new role once, and on no other", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(role))
		old := w.sim.State().Roles[0].Name
		w.killed(text, sending("Attachment"))
		moved := strings.Replace(text, "Properties:\n      Assume", "Properties:\n      Path: /moved/\n      Assume", 1)
		if o := w.deploy(moved); o.Exit != deploy.ExitUncertain || len(w.sim.State().Roles) != 2 {
			t.Errorf("exit %d: %s", o.Exit, told(o))
		}
		w.elapse()
		wantDone(t, w.recover(deploy.RecoverRequest{Auto: true}))
		o := w.deploy(moved)
		for _, r := range w.sim.State().Roles {
			if want := r.Name != old; slices.Contains(r.Attached, readOnly) != want {
				t.Errorf("role %s has %v after %s (old %s)", r.Name, r.Attached, told(o), old)
			}
		}
	})
	t.Run("an attachment of ours that is recorded twice", func(t *testing.T) {
		w := newWorld(t)
		wantDone(t, w.deploy(text))
		o := w.deploy(stack(role, attachment, strings.Replace(attachment, "Attachment:", "Again:", 1)))
		if result(o, "Again") != event.Blocked || result(o, "Attachment") != event.Unchanged {
			t.Errorf("%s", told(o))
		}
	})
}
