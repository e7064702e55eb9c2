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

// strikes are the strikes of a finding's candidates, by physical ID.
func strikes(f recovery.Finding) map[string]string {
	out := map[string]string{}
	for _, c := range f.Candidates {
		out[c.Physical] = c.Strike
	}
	return out
}

// entered judges a record with an ID that an operator typed.
func (w *world) entered(id, physical string) recovery.Finding {
	w.t.Helper()
	e := w.env()
	g := recovery.Gatherer{Store: e.Store, Cloud: e.Cloud, Sealer: e.Sealer, Now: w.clock.Now}
	ev, err := g.Enter(w.t.Context(), w.records()[id], physical)
	must(w.t, err)
	return recovery.Judge(ev)
}

// wantNothing checks that no run does anything by itself.
func (w *world) wantNothing(text string) {
	w.t.Helper()
	before := len(w.sim.Log())
	w.deploy(text)
	w.recover(deploy.RecoverRequest{Auto: true})
	w.deploy(text)
	if sent := w.changing(before); len(sent) != 0 {
		w.t.Errorf("sent %v", sent)
	}
}

// Strike a: what another live record claims is never a candidate, nor adopted when its ID is typed.
func TestWhatAnotherRecordClaimsIsStruck(t *testing.T) {
	text := stack(api, endpoint, twin)
	w := newWorld(t)
	wantDone(t, w.deploy(stack(api, endpoint)))
	has := w.records()["Endpoint"].Physical
	w.sim.AddFault(awssim.Fault{Operation: "CreateIntegration", Kind: awssim.NotExecutedUnanswered})
	w.killed(text, sending("Twin"))
	w.elapse()
	w.wantRow("Twin", "14")
	if got := strikes(w.findings()["Twin"]); got[has] != "a" {
		t.Errorf("the strikes are %v", got)
	}
	f := w.entered("Twin", has)
	if _, adopt := f.Option(record.Adopt, has); f.Row != "a" || f.Verdict != recovery.VerdictForeign || adopt {
		t.Errorf("typed, it is judged by row %s (%s), adopt offered: %t", f.Row, f.Verdict, adopt)
	}
	w.wantNothing(text)
	wantDone(t, w.decideAs("Twin", record.Retry, ""))
	wantDone(t, w.deploy(text))
	if r := w.records(); len(w.integrations()) != 2 || r["Twin"].Physical == has || r["Endpoint"].Physical != has {
		t.Errorf("%d integrations; Twin has %s, Endpoint %s", len(w.integrations()), r["Twin"].Physical, r["Endpoint"].Physical)
	}
	w.wantNoop(text)
}

// Strike b: marks of CloudFormation or of another store make it theirs; only a typed adoption takes it.
func TestAnotherToolsMarksAreStruck(t *testing.T) {
	for name, c := range map[string]struct {
		text, id, op, typed string
		params              map[string]any
		tags                map[string]string
		owner               string
	}{
		"a rule of CloudFormation": {stack(rule), "Rule", "PutRule", "default|nightly", map[string]any{"Name": "nightly", "ScheduleExpression": "rate(1 day)"},
			map[string]string{"aws:cloudformation:stack-id": "arn:aws:cloudformation:eu-west-1:123456789012:stack/theirs/1"}, "cloudformation"},
		"a table of another store": {stack(table), "Table", "CreateTable", "orders", map[string]any{"TableName": "orders", "BillingMode": "PAY_PER_REQUEST",
			"AttributeDefinitions": []any{map[string]any{"AttributeName": "id", "AttributeType": "S"}}, "KeySchema": []any{map[string]any{"AttributeName": "id", "KeyType": "HASH"}}},
			map[string]string{"reclaim:store": "s-other", "reclaim:stack": "orders", "reclaim:resource": "Table", "reclaim:nonce": "n-other"}, "s-other"},
		"a log group of another store that says it is our resource": {stack(logs), "Logs", "CreateLogGroup", "/orders/app", map[string]any{"logGroupName": "/orders/app"},
			map[string]string{"reclaim:store": "s-other", "reclaim:stack": "STACK", "reclaim:resource": "Logs"}, "s-other"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.sim.AddFault(awssim.Fault{Operation: c.op, Kind: awssim.NotExecutedUnanswered})
			w.killed(c.text, sending(c.id))
			for k, v := range c.tags {
				c.tags[k] = strings.Replace(v, "STACK", w.stack.String(), 1)
			}
			must(t, w.sim.Do(awssim.Action{Op: c.op, Params: c.params, Tags: c.tags}))
			w.elapse()
			w.wantRow(c.id, "b")
			f := w.findings()[c.id]
			o, ok := f.Option(record.Adopt, c.typed)
			if f.Verdict != recovery.VerdictForeign || f.Auto || !ok || !strings.Contains(o.Typed, c.owner) {
				t.Errorf("%s, by itself: %t, adopting it asks to type %q", f.Verdict, f.Auto, o.Typed)
			}
			w.wantNothing(c.text)
			w.decideAs(c.id, record.Adopt, c.typed)
			wantDone(t, w.deploy(c.text))
			w.wantNoop(c.text)
		})
	}
}

// Strike c: what is older than the intent is no work of it, though the look before did not see it.
func TestWhatIsOlderIsStruck(t *testing.T) {
	w := newWorld(t)
	w.stranger("CreateLogGroup", map[string]any{"logGroupName": "/orders/app"})
	w.elapse()
	w.sim.AddFault(awssim.Fault{Operation: "DescribeLogGroups", Kind: awssim.Lag, Delay: time.Hour, Times: 2}) // the plan's look, and the run's
	o := w.deploy(stack(logs))
	if o.Exit != deploy.ExitUncertain || w.executed("CreateLogGroup") != 0 {
		t.Errorf("exit %d: %s", o.Exit, told(o))
	}
	w.elapse()
	w.wantRow("Logs", "c")
	w.wantNothing(stack(logs))
	wantDone(t, w.decideAs("Logs", record.Abandon, ""))
	if it := w.plan(w.graph(stack(logs))).Item("Logs", 0); it.Action != plan.Blocked || it.Reason != plan.Foreign {
		t.Errorf("given up, it is planned as %s %s", it.Action, it.Reason)
	}
}

// Strike d: the generation that is being replaced carries our tags and is not what the next one made.
func TestTheReplacedGenerationIsStruck(t *testing.T) {
	next := stack(strings.Replace(api, "ProtocolType: HTTP", `ProtocolType: WEBSOCKET, RouteSelectionExpression: "$request.body.a"`, 1))
	for name, executed := range map[string]bool{"the next was made": true, "the next was not made": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			wantDone(t, w.deploy(stack(api)))
			old := w.records()["Api"].Physical
			if !executed {
				w.sim.AddFault(awssim.Fault{Operation: "CreateApi", Kind: awssim.NotExecutedUnanswered})
			}
			w.killed(next, sending("Api"))
			w.elapse()
			row := map[bool]string{true: "2", false: "14"}[executed]
			w.wantRow("Api", row)
			if got := strikes(w.findings()["Api"]); got[old] != "d" {
				t.Errorf("the strikes are %v", got)
			}
			if !executed {
				w.wantNothing(next)
				wantDone(t, w.decideAs("Api", record.Retry, ""))
			}
			wantDone(t, w.deploy(next))
			w.elapse()
			wantDone(t, w.deploy(next))
			if apis := w.sim.State().Apis; len(apis) != 1 || apis[0].Protocol != "WEBSOCKET" {
				t.Errorf("%d APIs are there", len(apis))
			}
			w.wantNoop(next)
		})
	}
}

// Row 0: a look that was denied, failed or cannot be read says nothing. Nothing is sent, and the next look goes on from there.
func TestALookThatFailedSaysNothing(t *testing.T) {
	for _, c := range []struct{ id, look, text string }{
		{"Role", "GetRole", stack(role)},
		{"Table", "DescribeTable", stack(table)},
		{"Rule", "DescribeRule", stack(rule)},
		{"Rule", "ListTagsForResource", stack(rule)},
		{"Endpoint", "GetIntegrations", stack(api, endpoint)},
		{"Route", "GetRoutes", stack(api, route)},
		{"Permission", "GetPolicy", stack(role, code, permission)},
		{"Attachment", "ListAttachedRolePolicies", stack(role, attachment)},
		{"Code", "GetFunction", stack(role, code)},
	} {
		t.Run(c.id+" "+c.look, func(t *testing.T) {
			w := newWorld(t)
			w.killed(c.text, sending(c.id))
			kinds := []awssim.FaultKind{awssim.Denied, awssim.Malformed, awssim.Refused}
			if c.id == "Endpoint" { // the client comes back to a throttled look by itself, which takes its time
				kinds = append(kinds, awssim.Throttled)
			}
			for _, kind := range kinds {
				w.sim.AddFault(awssim.Fault{Operation: c.look, Kind: kind, Times: -1, Code: map[awssim.FaultKind]string{awssim.Refused: "SomethingNew"}[kind]})
				w.wantRow(c.id, "0")
				before := len(w.sim.Log())
				o := w.deploy(c.text)
				if sent := w.changing(before); o.Exit == 0 || len(sent) != 0 && slices.ContainsFunc(sent, func(s string) bool { return !strings.HasPrefix(s, "PutRole") }) {
					t.Errorf("%s: exit %d, sent %v", kind, o.Exit, sent)
				}
				w.sim.ClearFaults()
			}
			w.elapse()
			wantDone(t, w.deploy(c.text))
			w.elapse()
			w.wantNoop(c.text)
		})
	}
}

// Row 10: inside the window absence is "not visible yet". It is waited for, and what appears is ours.
func TestWhatLagsIsWaitedFor(t *testing.T) {
	for _, c := range []struct{ id, create, text string }{
		{"Role", "CreateRole", stack(role)},
		{"Table", "CreateTable", stack(table)},
		{"Rule", "PutRule", stack(rule)},
		{"Code", "CreateFunction", stack(role, code)},
		{"Permission", "AddPermission", stack(role, code, permission)},
		{"Route", "CreateRoute", stack(api, route)},
		{"Endpoint", "CreateIntegration", stack(api, endpoint)},
	} {
		t.Run(c.id, func(t *testing.T) {
			w := newWorld(t)
			w.sim.AddFault(awssim.Fault{Operation: c.create, Kind: awssim.Lag, Delay: 5 * time.Second})
			w.sim.AddFault(awssim.Fault{Operation: c.create, Kind: awssim.ExecutedUnanswered})
			g := w.graph(c.text)
			p := w.plan(g)
			o := w.run(deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p), Strict: true})
			if o.Exit != deploy.ExitUncertain || result(o, c.id) != event.Unsure {
				t.Errorf("exit %d: %s", o.Exit, told(o))
			}
			w.wantRow(c.id, "10")
			if o := w.deploy(c.text); o.Exit != 0 { // an untaggable one is equal before its window has passed
				w.elapse()
				wantDone(t, w.deploy(c.text))
			}
			if n := w.executed(c.create); n != 1 {
				t.Errorf("%d creates", n)
			}
			w.wantNoop(c.text)
		})
	}
}

// Rows 12 and 14: an orphaned create whose object never existed goes with a destroy where a second create would be refused.
// Where the service gives the ID it stays, until somebody gives it up; what then comes is still found.
func TestAnOrphanThatNeverExisted(t *testing.T) {
	for _, c := range []struct{ id, create, text, row string }{
		{"Logs", "CreateLogGroup", stack(logs), "12"},
		{"Table", "CreateTable", stack(table), "12"},
		{"Rule", "PutRule", stack(rule), "12"},
		{"Api", "CreateApi", stack(api), "14"},
		{"Endpoint", "CreateIntegration", stack(api, endpoint), "14"},
	} {
		t.Run(c.id, func(t *testing.T) {
			w := newWorld(t)
			w.sim.AddFault(awssim.Fault{Operation: c.create, Kind: awssim.NotExecutedUnanswered})
			w.killed(c.text, sending(c.id))
			w.elapse()
			w.wantRow(c.id, c.row)
			before := len(w.sim.Log())
			o := w.destroy()
			if c.row == "14" {
				if o.Exit != deploy.ExitUncertain || w.records()[c.id].ID == "" {
					t.Errorf("exit %d: %s", o.Exit, told(o))
				}
				w.decideAs(c.id, record.Abandon, "")
				o = w.destroy()
			}
			wantDone(t, o)
			s := w.state()
			if len(s.Records) != 0 || !slices.ContainsFunc(s.Tombs, func(t record.Tombstone) bool { return t.ID == c.id && len(t.Nonces) > 0 }) {
				t.Errorf("records %v, tombstones %v", s.Records, s.Tombs)
			}
			for _, sent := range w.changing(before) {
				if !strings.HasPrefix(sent, "DeleteApi") || c.id == "Api" {
					t.Errorf("sent %s", sent)
				}
			}
		})
	}
}

// Row 9: the service compares names without their case, and our read finds nothing under ours. The list finds it, and
// nobody takes it without a word.
func TestARoleOfAnotherCaseIsFoundByTheList(t *testing.T) {
	text := stack(strings.Replace(role, "Properties:\n", "Properties:\n      RoleName: orders-role\n", 1))
	w := newWorld(t)
	w.sim.AddFault(awssim.Fault{Operation: "CreateRole", Then: []awssim.Action{{Op: "CreateRole", Params: map[string]any{"RoleName": "ORDERS-role",
		"AssumeRolePolicyDocument": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`}}}})
	o := w.deploy(text)
	if o.Exit != deploy.ExitUncertain || w.executed("CreateRole") != 0 {
		t.Errorf("exit %d: %s", o.Exit, told(o))
	}
	w.elapse()
	w.wantRow("Role", "7")
	w.wantNothing(text)
	w.decideAs("Role", record.Adopt, "ORDERS-role")
	wantDone(t, w.deploy(text))
	w.wantNoop(text)
	if roles := w.sim.State().Roles; len(roles) != 1 || roles[0].Name != "ORDERS-role" || roles[0].Tags["reclaim:nonce"] != "" {
		t.Errorf("there are %d roles", len(roles))
	}
}

// Row 9: the service says that it exists, and nothing is found under any spelling. Nothing is sent by itself; a retry looks
// a second time first, and is another intent.
func TestWhatExistsAndCannotBeRead(t *testing.T) {
	for _, c := range []struct{ id, create, code, text string }{
		{"Role", "CreateRole", "EntityAlreadyExists", stack(role)},
		{"Logs", "CreateLogGroup", "ResourceAlreadyExistsException", stack(logs)},
	} {
		t.Run(c.id, func(t *testing.T) {
			w := newWorld(t)
			w.sim.AddFault(awssim.Fault{Operation: c.create, Kind: awssim.Refused, Code: c.code})
			if o := w.deploy(c.text); o.Exit != deploy.ExitUncertain {
				t.Errorf("exit %d: %s", o.Exit, told(o))
			}
			w.elapse()
			w.wantRow(c.id, "9")
			w.wantNothing(c.text)
			wantDone(t, w.decideAs(c.id, record.Retry, ""))
			wantDone(t, w.deploy(c.text))
			if n := w.executed(c.create); n != 1 {
				t.Errorf("%d creates", n)
			}
			if len(w.records()[c.id].Former) != 1 {
				t.Error("the first intent is not kept")
			}
			w.wantNoop(c.text)
		})
	}
}
