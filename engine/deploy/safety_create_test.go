package deploy_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/awssim"
)

// S1: a record whose key and body disagree on where it is stops every changing verb, and a plan says so.
func TestARecordOfAnotherPlaceStopsChangingVerbs(t *testing.T) {
	w := newWorld(t)
	w.deploy(stack(logs))
	p := w.planDestroy()
	before := len(w.sim.Log())
	e := w.env()
	e.Store = badStore{e.Store}
	if _, err := deploy.Run(t.Context(), e, deploy.Request{Plan: p, Approvals: approveAll(p)}); !errors.Is(err, plan.ErrBadRecords) {
		t.Errorf("destroy: %v, want that records cannot be used", err)
	}
	if _, err := deploy.Recover(t.Context(), e, deploy.RecoverRequest{Stack: w.stack, Auto: true}); !errors.Is(err, plan.ErrBadRecords) {
		t.Errorf("recover: %v, want that records cannot be used", err)
	}
	if sent := w.changing(before); len(sent) > 0 {
		t.Errorf("sent %v", sent)
	}
	env := w.planEnv()
	env.Store = e.Store
	if p, err := plan.MakeDestroy(t.Context(), env, w.stack); err != nil || len(p.Notes) == 0 {
		t.Errorf("plan %+v, %v; want a note of the record", p, err)
	}
	if w.state().Hold != nil {
		t.Error("the refused verbs left a hold")
	}
}

// badStore has a record that cannot be used in every stack.
type badStore struct{ record.Store }

type badView struct{ record.View }

func (s badStore) Read(ctx context.Context, f func(record.View) error) error {
	return s.Store.Read(ctx, func(v record.View) error { return f(badView{v}) })
}

func (v badView) Records(s record.StackID) ([]record.Record, []record.BadRecord, error) {
	list, bad, err := v.View.Records(s)
	return list, append(bad, record.BadRecord{Key: "Role/1", Reason: "its key says eu-west-1 and its body us-east-1"}), err
}

// S2: "not found" from another account or endpoint is no absence. Nothing is made, deleted or given up on it.
func TestAnotherAccountNeverReadsAsGone(t *testing.T) {
	w := newWorld(t)
	w.deploy(apart)
	w.elapse()
	for _, g := range w.sim.State().LogGroups { // what the wrong account would show: nothing
		w.stranger("DeleteLogGroup", map[string]any{"logGroupName": g.Name})
	}
	elsewhere := w.stack.Scope
	elsewhere.Account = "999999999999"
	w.hook().verify = func() (resource.Scope, error) { return elsewhere, nil }
	before, records := len(w.sim.Log()), len(w.records())
	if it := w.plan(w.graph(apart)).Item("Logs", 0); it.Action != plan.Blocked || it.Reason != plan.Denied {
		t.Errorf("planned %s: %s", it.Action, it.Detail)
	}
	w.deploy(apart)
	w.destroy()
	if sent := w.changing(before); len(sent) > 0 {
		t.Errorf("sent %v", sent)
	}
	if got := len(w.records()); got != records-1 { // the file is local, and needs no account
		t.Errorf("%d records are left of %d", got, records)
	}
}

// S2: an unfinished create is not judged from another account either.
func TestAnUnfinishedCreateIsNotJudgedFromAnotherAccount(t *testing.T) {
	w := newWorld(t)
	w.sim.AddFault(awssim.Fault{Operation: "CreateRole", Kind: awssim.NotExecutedUnanswered, Times: -1})
	w.deploy(stack(role))
	w.sim.ClearFaults()
	w.hook().verify = func() (resource.Scope, error) { return resource.Scope{Partition: "aws", Account: "999999999999"}, nil }
	before := len(w.sim.Log())
	w.recover(deploy.RecoverRequest{Auto: true})
	w.deploy(stack(role))
	if sent := w.changing(before); len(sent) > 0 || len(w.records()) != 1 {
		t.Errorf("sent %v, records %v", sent, w.records())
	}
}

// S3: two resources of one template, of two stacks, or an old and a new logical ID with one physical key never both get
// it. What has it already is not disturbed.
func TestOneKeyHasOneRecord(t *testing.T) {
	t.Run("two in a template: neither is made", func(t *testing.T) {
		w := newWorld(t)
		o := w.deploy(stack(logs, strings.Replace(logs, "Logs:", "Twin:", 1)))
		if o.Exit != deploy.ExitBlocked || w.executed("CreateLogGroup") != 0 {
			t.Errorf("exit %d, %d made", o.Exit, w.executed("CreateLogGroup"))
		}
	})
	t.Run("one is there: only the other is blocked", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(logs))
		p := w.plan(w.graph(stack(logs, strings.Replace(logs, "Logs:", "Twin:", 1))))
		if p.Item("Logs", 0).Action != plan.Noop || p.Item("Twin", 0).Reason != plan.ClaimedTwice {
			t.Errorf("Logs %s, Twin %s %s", p.Item("Logs", 0).Action, p.Item("Twin", 0).Action, p.Item("Twin", 0).Reason)
		}
	})
	t.Run("another stack has it", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(logs))
		w.stack.Name = "other"
		before := len(w.sim.Log())
		o := w.deploy(stack(logs))
		if o.Exit != deploy.ExitBlocked || len(w.changing(before)) != 0 || len(w.records()) != 0 {
			t.Errorf("exit %d, sent %v, records %v", o.Exit, w.changing(before), w.records())
		}
	})
	t.Run("another stack took it between plan and deploy", func(t *testing.T) {
		w := newWorld(t)
		g := w.graph(stack(logs))
		p := w.plan(g)
		mine := w.stack
		w.stack.Name = "other"
		w.deploy(stack(logs))
		w.stack = mine
		before := len(w.sim.Log())
		o := w.run(deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p)})
		if o.Exit != deploy.ExitBlocked || len(w.changing(before)) != 0 || len(w.records()) != 0 {
			t.Errorf("exit %d, sent %v, records %v", o.Exit, w.changing(before), w.records())
		}
	})
}

// S4, S5: an object with our tags and no record is offered for reclaiming, and --yes does not do it; one with another
// store's tags is foreign.
func TestFoundWithoutARecord(t *testing.T) {
	for name, c := range map[string]struct {
		store  string
		action plan.Action
	}{
		"our tags: reclaim, to be approved":         {"", plan.Reclaim},
		"another store's tags: foreign":             {"s-other", plan.Blocked},
		"no tags of ours, equal in every other way": {"none", plan.Blocked},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tags := map[string]any{"reclaim:store": w.store.ID(), "reclaim:stack": w.stack.String(), "reclaim:resource": "Logs"}
			switch c.store {
			case "none":
				tags = map[string]any{"team": "orders"}
			case "s-other":
				tags["reclaim:store"] = "s-other"
			}
			w.stranger("CreateLogGroup", map[string]any{"logGroupName": "/orders/app", "tags": tags})
			g := w.graph(stack(logs))
			p := w.plan(g)
			if it := p.Item("Logs", 0); it.Action != c.action {
				t.Fatalf("planned %s: %s", it.Action, it.Detail)
			}
			before := len(w.sim.Log())
			if o := w.run(deploy.Request{Plan: p, Graph: g, Approvals: yes(p)}); o.Exit != deploy.ExitBlocked || len(w.changing(before)) != 0 {
				t.Errorf("--yes: exit %d, sent %v", o.Exit, w.changing(before))
			}
			if o := w.deploy(stack(logs)); (o.Exit == 0) != (c.action == plan.Reclaim) || w.executed("CreateLogGroup") != 0 {
				t.Errorf("exit %d, %d made", o.Exit, w.executed("CreateLogGroup"))
			}
		})
	}
}

// S5: every new intent looks at the place it will take, also where a record says that the object was elsewhere.
func TestANewPlaceIsLookedAtFirst(t *testing.T) {
	moved := strings.Replace(logs, "/orders/app", "/orders/moved", 1)
	t.Run("recorded, gone since, and renamed to where a stranger is", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(logs))
		w.elapse()
		w.stranger("DeleteLogGroup", map[string]any{"logGroupName": "/orders/app"})
		w.stranger("CreateLogGroup", map[string]any{"logGroupName": "/orders/moved"})
		before := len(w.sim.Log())
		o := w.deploy(stack(moved))
		if sent := w.changing(before); len(sent) != 0 || result(o, "Logs") != event.Blocked {
			t.Errorf("sent %v; %s: %s", sent, result(o, "Logs"), reason(o, "Logs"))
		}
	})
	t.Run("replaced by a rename to where a stranger is: the plan says so", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(logs))
		w.stranger("CreateLogGroup", map[string]any{"logGroupName": "/orders/moved"})
		if it := w.plan(w.graph(stack(moved))).Item("Logs", 0); it.Action != plan.Blocked || it.Reason != plan.Foreign {
			t.Errorf("planned %s: %s", it.Action, it.Detail)
		}
		before := len(w.sim.Log())
		if w.deploy(stack(moved)); len(w.changing(before)) != 0 {
			t.Errorf("sent %v", w.changing(before))
		}
	})
	t.Run("deleted first, and a stranger took the name at once", func(t *testing.T) {
		w := newWorld(t)
		w.deploy(stack(logs))
		w.sim.AddFault(awssim.Fault{Operation: "DeleteLogGroup", Kind: awssim.ExecutedUnanswered})
		h := w.hook()
		asked := 0
		h.changing = func(_, call string) error {
			if call == "create" {
				asked++
			}
			return nil
		}
		class := strings.Replace(logs, "RetentionInDays: 14", "LogGroupClass: INFREQUENT_ACCESS", 1)
		if o := w.deploy(stack(class)); o.Exit == 0 {
			t.Fatalf("an unanswered delete ended well: %+v", o.Items)
		}
		w.stranger("CreateLogGroup", map[string]any{"logGroupName": "/orders/app", "tags": map[string]any{"owner": "them"}})
		w.sim.ClearFaults()
		before := len(w.sim.Log())
		w.deploy(stack(class))
		if sent := w.changing(before); len(sent) != 0 || asked != 0 {
			t.Errorf("sent %v, asked for %d creates", sent, asked)
		}
	})
}

// S6: when the create is sent, the record and its first attempt are durable, with all that recovery needs.
func TestTheIntentIsWrittenBeforeTheCall(t *testing.T) {
	w := newWorld(t)
	h := w.hook()
	h.changing = func(_, call string) error {
		if call != "create" {
			return nil
		}
		r, ok := w.records()["Logs"]
		if !ok {
			t.Error("the create is sent and there is no record")
			return nil
		}
		in := r.Intent
		if r.Status != record.Creating || r.Type == "" || r.Gen != 1 || r.Key["LogGroupName"] == "" || r.Origin != record.ByCreate || r.DeletionPolicy != "Delete" ||
			r.UpdateReplacePolicy != "Delete" || len(r.DependsOn) != 1 || in == nil || in.Nonce == "" || in.Params.Text("LogGroupName") == "" || !in.Preflight.Absent ||
			in.Preflight.At.IsZero() || len(in.Attempts) != 1 || in.Attempts[0].Outcome != record.Going {
			t.Errorf("the record is %+v with the intent %+v", r, in)
		}
		return nil
	}
	one := strings.Replace(logs, "  Logs:", "  Logs:\n    DependsOn: File\n    DeletionPolicy: Delete\n    UpdateReplacePolicy: Delete", 1)
	h.changing = only(h.changing, "AWS::Logs::LogGroup")
	if o := w.deploy(stack(plainFile, one)); o.Exit != 0 {
		t.Errorf("exit %d %+v", o.Exit, o.Items)
	}
}

func only(f func(typ, call string) error, typ string) func(typ, call string) error {
	return func(got, call string) error {
		if got != typ {
			return nil
		}
		return f(got, call)
	}
}

// S7: a type or a key that changed while a create is unresolved resolves the old record first. Nothing is sent for the
// new one.
func TestAChangedTypeOrKeyResolvesTheOldCreateFirst(t *testing.T) {
	for name, next := range map[string]string{
		"key":  strings.Replace(logs, "/orders/app", "/orders/other", 1),
		"type": strings.Replace(plainFile, "File:", "Logs:", 1),
	} {
		for fault, kind := range map[string]awssim.FaultKind{"made nothing": awssim.NotExecutedUnanswered, "made it": awssim.ExecutedUnanswered} {
			t.Run(name+", the create "+fault, func(t *testing.T) {
				w := newWorld(t)
				w.sim.AddFault(awssim.Fault{Operation: "CreateLogGroup", Kind: kind, Times: -1})
				ctx, cancel := context.WithCancel(t.Context())
				h := w.hook()
				h.answered = func(_, _ string, err error) error { cancel(); return err }
				g := w.graph(stack(logs))
				p := w.plan(g)
				if _, err := deploy.Run(ctx, w.env(), deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p)}); err != nil {
					t.Fatal(err)
				}
				h.answered = nil
				w.sim.ClearFaults()
				w.elapse()
				before := len(w.sim.Log())
				o := w.deploy(stack(next))
				for _, sent := range w.changing(before) {
					if strings.HasPrefix(sent, "Create") || strings.HasPrefix(sent, "Delete") {
						t.Errorf("sent %s", sent)
					}
				}
				r := w.records()["Logs"]
				if o.Exit == 0 || r.Type != "AWS::Logs::LogGroup" || r.Physical != "/orders/app" || !strings.Contains(r.Claim, "/orders/app") {
					t.Errorf("exit %d; the record is of %s, physical %q, claim %q", o.Exit, r.Type, r.Physical, r.Claim)
				}
				if _, err := os.Stat(filepath.Join(w.dir, "out", "plain.env")); err == nil {
					t.Error("the file was made in its place")
				}
			})
		}
	}
}

// S8: a success that cannot be read names no object: it is uncertain, and found again by its nonce.
func TestASuccessWithoutAnIDIsUncertain(t *testing.T) {
	for _, c := range []struct{ op, id, text string }{{"CreateApi", "Api", api}, {"CreateRole", "Role", role}, {"CreateLogGroup", "Logs", logs}} {
		t.Run(c.op, func(t *testing.T) {
			w := newWorld(t)
			w.sim.AddFault(awssim.Fault{Operation: c.op, Kind: awssim.Malformed})
			if o := w.deploy(stack(c.text)); o.Exit != 0 || w.executed(c.op) != 1 {
				t.Fatalf("exit %d, executed %d: %+v", o.Exit, w.executed(c.op), o.Items)
			}
			w.wantNoop(stack(c.text))
		})
	}
}

// S10: an error after the service executed it is uncertain: it is looked for, not sent again.
func TestAnErrorAfterTheExecutionMakesNoSecond(t *testing.T) {
	for _, c := range []struct{ op, text string }{{"CreateApi", api}, {"CreateRole", role}, {"CreateLogGroup", logs}} {
		t.Run(c.op, func(t *testing.T) {
			w := newWorld(t)
			w.sim.AddFault(awssim.Fault{Operation: c.op, Kind: awssim.ErrorAfterExecute})
			if o := w.deploy(stack(c.text)); o.Exit != 0 || w.executed(c.op) != 1 {
				t.Fatalf("exit %d, executed %d: %+v", o.Exit, w.executed(c.op), o.Items)
			}
		})
	}
}

// S12: what was acknowledged and is not visible yet, by this execution or an earlier one, is waited for, and never made
// again.
func TestNotVisibleYetIsNotGone(t *testing.T) {
	for _, c := range []struct{ create, read, text string }{{"CreateApi", "GetApi", api}, {"CreateRole", "GetRole", role}, {"CreateLogGroup", "DescribeLogGroups", logs}} {
		t.Run(c.create, func(t *testing.T) {
			w := newWorld(t)
			w.sim.AddFault(awssim.Fault{Operation: c.create, Kind: awssim.Lag, Delay: 4 * time.Second})
			if o := w.deploy(stack(c.text)); o.Exit != 0 || w.executed(c.create) != 1 {
				t.Fatalf("exit %d, executed %d: %+v", o.Exit, w.executed(c.create), o.Items)
			}
			w.sim.AddFault(awssim.Fault{Operation: c.read, Kind: awssim.Lag, Delay: time.Hour, Times: 1})
			for _, it := range w.plan(w.graph(stack(c.text))).Items {
				if it.Action != plan.Wait {
					t.Errorf("planned %s inside the window: %s", it.Action, it.Detail)
				}
			}
			if o := w.deploy(stack(c.text)); o.Exit != 0 || w.executed(c.create) != 1 {
				t.Errorf("exit %d, executed %d: %+v", o.Exit, w.executed(c.create), o.Items)
			}
		})
	}
}

// S14: "not ready" is retried only while the dependency is fresh; otherwise it is a failure at once.
func TestNotReadyIsRetriedOnlyForAFreshParent(t *testing.T) {
	for name, age := range map[string]time.Duration{"fresh": 0, "old": time.Hour} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if o := w.deploy(stack(role)); o.Exit != 0 {
				t.Fatalf("exit %d", o.Exit)
			}
			must(t, w.clock.Sleep(t.Context(), age))
			h := w.hook()
			sent := 0
			h.changing = only(func(string, string) error {
				if sent++; sent < 3 {
					return &resource.Error{Kind: resource.NotReady, Op: "CreateLogGroup", Executed: resource.No, Err: errors.New("the role is not there yet")}
				}
				return nil
			}, "AWS::Logs::LogGroup")
			o := w.deploy(stack(role, strings.Replace(logs, "  Logs:", "  Logs:\n    DependsOn: Role", 1)))
			if fresh := age == 0; (o.Exit == 0) != fresh || fresh && sent < 3 || !fresh && sent != 1 {
				t.Errorf("exit %d after %d sendings: %s", o.Exit, sent, reason(o, "Logs"))
			}
		})
	}
}

// S27: desired, recorded and observed are never merged: what state says is no drift where the read says otherwise, and
// what the read says is drift though state agrees with config.
func TestStateIsNoObservation(t *testing.T) {
	w := newWorld(t)
	w.deploy(stack(logs))
	w.tamper(func(r *record.Record) { r.Params = r.Params.With("RetentionInDays", value.Of(99)) })
	w.wantNoop(stack(logs))
	w.tamper(func(r *record.Record) { r.Params = r.Params.With("RetentionInDays", value.Of(14)) })
	w.stranger("PutRetentionPolicy", map[string]any{"logGroupName": "/orders/app", "retentionInDays": 7})
	if it := w.plan(w.graph(stack(logs))).Item("Logs", 0); it.Action != plan.Update {
		t.Errorf("planned %s: %s", it.Action, it.Detail)
	}
}

// S15: a retry stops for an object with our tags that appeared since the verdict, and for no other: a generation of ours
// that the look before the intent did not see yet was judged by the verdict. Found by TestExplore.
func TestARetryStopsOnlyForWhatAppeared(t *testing.T) {
	uncertain := func(t *testing.T) *world {
		w := newWorld(t)
		w.deploy(stack(api))
		w.sim.AddFault(awssim.Fault{Operation: "GetApis", Kind: awssim.Lag, Delay: time.Hour}) // the look before the intent
		w.sim.AddFault(awssim.Fault{Operation: "CreateApi", Kind: awssim.NotExecutedUnanswered})
		w.deploy(stack(strings.Replace(api, "ProtocolType: HTTP", `ProtocolType: WEBSOCKET, RouteSelectionExpression: "$request.body.a"`, 1)))
		return w
	}
	t.Run("what it replaces was not visible", func(t *testing.T) {
		w := uncertain(t)
		w.elapse() // a service's Date has whole seconds: the run may have ended a moment before the window
		if o := w.recover(deploy.RecoverRequest{Decide: []record.Decision{decide(w.findings()["Api"], record.Retry, "")}}); o.Exit != 0 || w.executed("CreateApi") != 2 {
			t.Errorf("exit %d, %d made: %+v", o.Exit, w.executed("CreateApi"), o.Items)
		}
	})
	t.Run("what was sent appears in the last moment", func(t *testing.T) {
		w := uncertain(t)
		f := w.findings()["Api"]
		tags := map[string]any{"reclaim:store": w.store.ID(), "reclaim:stack": w.stack.String(), "reclaim:resource": "Api", "reclaim:nonce": w.state().Records[1].Intent.Nonce}
		before, appeared := len(w.sim.Log()), false
		w.hook().verify = func() (resource.Scope, error) { // asked after the search for the verdict, and before the next one
			if searched := len(w.sim.Log()) > before; searched && !appeared {
				appeared = true
				w.stranger("CreateApi", map[string]any{"name": "orders", "protocolType": "WEBSOCKET", "routeSelectionExpression": "$request.body.a", "tags": tags})
			}
			return w.stack.Scope, nil
		}
		w.recover(deploy.RecoverRequest{Decide: []record.Decision{decide(f, record.Retry, "")}})
		if sent := w.changing(before); len(sent) != 0 {
			t.Errorf("sent %v", sent)
		}
		if f := w.findings()["Api"]; f.Row != "2" {
			t.Errorf("row %s: %s", f.Row, f.Summary)
		}
	})
}
