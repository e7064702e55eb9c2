package deploy_test

import (
	"slices"
	"strings"
	"testing"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/providers/awssim"
)

// websocket is an API that can only come of a replacement.
var websocket = strings.Replace(api, "ProtocolType: HTTP", `ProtocolType: WEBSOCKET, RouteSelectionExpression: "$request.body.a"`, 1)

// The API of an uncertain child is replaced: what the child may have made in the old one goes with it, and there is one child
// in the new one.
func TestAnAPIIsReplacedWhileItsChildIsUncertain(t *testing.T) {
	for name, c := range map[string]struct {
		child    string
		executed bool
	}{
		"an integration that was made":     {endpoint, true},
		"an integration that was not made": {endpoint, false},
		"a route that was made":            {strings.Replace(route, "POST /orders", "$default", 1), true},
		"a route that was not made":        {strings.Replace(route, "POST /orders", "$default", 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			id, _, _ := strings.Cut(strings.TrimSpace(c.child), ":")
			wantDone(t, w.deploy(stack(api)))
			if !c.executed {
				w.sim.AddFault(awssim.Fault{Operation: "CreateIntegration", Kind: awssim.NotExecutedUnanswered})
				w.sim.AddFault(awssim.Fault{Operation: "CreateRoute", Kind: awssim.NotExecutedUnanswered})
			}
			w.killed(stack(api, c.child), sending(id))
			w.sim.ClearFaults()
			if o := w.settle(stack(websocket, c.child)); o.Exit != 0 {
				t.Fatalf("exit %d: %s", o.Exit, told(o))
			}
			if apis := w.sim.State().Apis; len(apis) != 1 || apis[0].Protocol != "WEBSOCKET" || len(apis[0].Integrations)+len(apis[0].Routes) != 1 {
				t.Errorf("%d APIs are there, the first %s with %d integrations and %d routes", len(apis), apis[0].Protocol, len(apis[0].Integrations), len(apis[0].Routes))
			}
			w.wantNoop(stack(websocket, c.child))
		})
	}
}

// The API of an uncertain child is deleted by somebody: nobody can find the child any more, and the stack comes to an end
// all the same.
func TestAnAPIIsGoneWhileItsChildIsUncertain(t *testing.T) {
	text := stack(api, endpoint)
	w := newWorld(t)
	wantDone(t, w.deploy(stack(api)))
	w.killed(text, sending("Endpoint"))
	w.stranger("DeleteApi", map[string]any{"apiId": w.sim.State().Apis[0].ID})
	w.elapse()
	w.wantRow("Endpoint", "14")
	w.deploy(text)
	wantDone(t, w.decideAs("Endpoint", record.Abandon, ""))
	wantDone(t, w.deploy(text))
	if len(w.integrations()) != 1 {
		t.Errorf("%d integrations are there", len(w.integrations()))
	}
	w.wantNoop(text)
}

// S25: the items of a table go with a consent that names the table, and with no other approval; neither by destroy, nor by a
// replacement, nor with the word of an operator who deletes what an unfinished create made.
func TestATablesItemsNeedTheirOwnConsent(t *testing.T) {
	kept := func(t *testing.T, w *world) {
		t.Helper()
		if len(w.sim.State().Tables) != 1 || w.executed("DeleteTable") != 0 {
			t.Errorf("%d tables are left, %d deletes", len(w.sim.State().Tables), w.executed("DeleteTable"))
		}
	}
	without := func(p *plan.Plan) []deploy.Approval {
		out := approveAll(p)
		for i := range out {
			out[i].Grants = slices.DeleteFunc(slices.Clone(out[i].Grants), func(g plan.Grant) bool { return g == plan.GrantDataLoss })
		}
		return out
	}
	t.Run("destroy", func(t *testing.T) {
		w := newWorld(t)
		wantDone(t, w.deploy(stack(table)))
		p := w.planDestroy()
		if o := w.run(deploy.Request{Plan: p, Approvals: without(p)}); o.Exit != deploy.ExitBlocked {
			t.Errorf("exit %d: %s", o.Exit, told(o))
		}
		kept(t, w)
	})
	t.Run("replace", func(t *testing.T) {
		w := newWorld(t)
		wantDone(t, w.deploy(stack(table)))
		g := w.graph(stack(strings.ReplaceAll(table, "AttributeName: id", "AttributeName: key")))
		p := w.plan(g)
		if it := p.Item("Table", 0); it.Action != plan.Replace || !slices.Contains(it.Needs, plan.GrantDataLoss) {
			t.Errorf("planned %s, which needs %v", it.Action, it.Needs)
		}
		if o := w.run(deploy.Request{Plan: p, Graph: g, Approvals: without(p)}); o.Exit != deploy.ExitBlocked {
			t.Errorf("exit %d: %s", o.Exit, told(o))
		}
		kept(t, w)
	})
	t.Run("rename", func(t *testing.T) {
		w := newWorld(t)
		wantDone(t, w.deploy(stack(table)))
		g := w.graph(stack(strings.Replace(table, "TableName: orders", "TableName: orders-2", 1)))
		p := w.plan(g)
		w.run(deploy.Request{Plan: p, Graph: g, Approvals: without(p)})
		if !slices.ContainsFunc(w.sim.State().Tables, func(t *awssim.Table) bool { return t.Name == "orders" }) {
			t.Error("the old table is gone")
		}
	})
	t.Run("decided", func(t *testing.T) {
		w := newWorld(t)
		w.killed(stack(table), sending("Table"))
		w.elapse()
		if o := w.decideAs("Table", record.DeleteIt, "orders"); o.Exit == 0 {
			t.Errorf("exit %d", o.Exit)
		}
		kept(t, w)
	})
	t.Run("another table has the name by now", func(t *testing.T) {
		w := newWorld(t)
		wantDone(t, w.deploy(stack(table)))
		w.elapse()
		w.stranger("DeleteTable", map[string]any{"TableName": "orders"})
		w.elapse()
		w.stranger("CreateTable", map[string]any{"TableName": "orders", "BillingMode": "PAY_PER_REQUEST",
			"AttributeDefinitions": []any{map[string]any{"AttributeName": "id", "AttributeType": "S"}}, "KeySchema": []any{map[string]any{"AttributeName": "id", "KeyType": "HASH"}}})
		w.elapse()
		w.deploy(stack(table))
		w.destroy()
		kept(t, w)
	})
}

// A destroy goes from what depends to what is depended on, and takes what is ours of a rule off before the rule.
func TestADestroyGoesFromTheLeaves(t *testing.T) {
	w := newWorld(t)
	wantDone(t, w.to(w.env(), wholeApp))
	w.elapse()
	before := len(w.sim.Log())
	p := w.planDestroy()
	wantDone(t, w.run(deploy.Request{Plan: p, Approvals: approveAll(p), Parallel: 16}))
	at := map[string]int{}
	for i, r := range w.sim.Log()[before:] {
		if r.Changing {
			at[r.Operation] = i + 1
		}
	}
	for _, pair := range [][2]string{{"DeleteRoute", "DeleteIntegration"}, {"DeleteIntegration", "DeleteApi"}, {"DeleteStage", "DeleteApi"}, {"RemovePermission", "DeleteFunction"},
		{"RemoveTargets", "DeleteRule"}, {"DeleteRule", "DeleteFunction"}, {"DeleteFunction", "DeleteRole"}, {"DetachRolePolicy", "DeleteRole"}, {"DeleteFunction", "DeleteTable"}} {
		if at[pair[0]] == 0 || at[pair[1]] == 0 || at[pair[0]] > at[pair[1]] {
			t.Errorf("%s came at %d and %s at %d", pair[0], at[pair[0]], pair[1], at[pair[1]])
		}
	}
	if ours, _ := w.census(); ours["api"]+ours["role"]+ours["table"]+ours["function"]+ours["rule"]+ours["log group"] != 0 {
		t.Errorf("left: %v", ours)
	}
}

// S3: one key that is written in two ways is one key.
func TestOneKeyInTwoSpellingsIsOneKey(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		create string
	}{
		"a rule on the default bus, named and not": {stack(rule, strings.NewReplacer("Rule:\n", "Again:\n", "Name: nightly", "Name: nightly, EventBusName: default").Replace(rule)), "PutRule"},
		"a rule on the default bus, by ARN": {stack(rule, strings.NewReplacer("Rule:\n", "Again:\n", "Name: nightly",
			"Name: nightly, EventBusName: \"arn:aws:events:eu-west-1:123456789012:event-bus/default\"").Replace(rule)), "PutRule"},
		"an attachment, its role in another case": {stack(strings.Replace(role, "Properties:\n", "Properties:\n      RoleName: orders-role\n", 1), attachment,
			strings.NewReplacer("Attachment:\n", "Again:\n", "!Ref Role", "ORDERS-ROLE").Replace(attachment)), "AttachRolePolicy"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			o := w.deploy(c.text)
			if o.Exit == 0 || w.executed(c.create) != 0 || result(o, "Again") != event.Blocked {
				t.Errorf("exit %d, %d made: %s", o.Exit, w.executed(c.create), told(o))
			}
		})
	}
}

// S26: a target that somebody else put on our rule keeps the rule: it is not removed with it, and nothing is half deleted.
func TestAStrangersTargetKeepsTheRule(t *testing.T) {
	text := stack(strings.Replace(rule, "Description: ours", `Description: ours, Targets: [{Id: ours, Arn: "arn:aws:sqs:eu-west-1:123456789012:ours"}]`, 1))
	w := newWorld(t)
	wantDone(t, w.deploy(text))
	w.elapse()
	w.stranger("PutTargets", map[string]any{"Rule": "nightly", "Targets": []any{map[string]any{"Id": "theirs", "Arn": "arn:aws:sqs:eu-west-1:123456789012:theirs"}}})
	w.wantNoop(text)
	wantDone(t, w.deploy(strings.Replace(text, "Id: ours", "Id: new", 1)))
	ids := func() (out []string) {
		for _, r := range w.sim.State().Rules {
			for _, target := range r.Targets {
				out = append(out, target.ID)
			}
		}
		slices.Sort(out)
		return out
	}
	if got := ids(); !slices.Equal(got, []string{"new", "theirs"}) {
		t.Errorf("the targets are %v", got)
	}
	w.elapse()
	if o := w.destroy(); o.Exit == 0 || !strings.Contains(told(o), "theirs") {
		t.Errorf("exit %d: %s", o.Exit, told(o))
	}
	if got := ids(); !slices.Contains(got, "theirs") || len(w.sim.State().Rules) != 1 {
		t.Errorf("the targets are %v", got)
	}
	w.stranger("RemoveTargets", map[string]any{"Rule": "nightly", "Ids": []any{"theirs"}})
	w.elapse()
	wantDone(t, w.destroy())
	if len(w.sim.State().Rules) != 0 {
		t.Error("the rule is still there")
	}
}
