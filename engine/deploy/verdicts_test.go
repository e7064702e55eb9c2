package deploy_test

import (
	"strings"
	"testing"

	"reclaim/engine/diff"
	"reclaim/engine/plan"
	"reclaim/engine/value"
	"reclaim/providers/awssim"
)

const fn = `  Fn:
    Type: AWS::Lambda::Function
    Properties:
      FunctionName: app
      Runtime: nodejs22.x
      Handler: index.handler
      Timeout: 10
      Role: !GetAtt Role.Arn
      Code: {ZipFile: "exports.handler = async () => 1"}
      Environment: {Variables: {COLOUR: red}}
      Tags: [{Key: team, Value: orders}]
`

const socket = `  Socket:
    Type: AWS::ApiGatewayV2::Api
    Properties: {Name: socket, ProtocolType: WEBSOCKET, RouteSelectionExpression: $request.body.a, DisableSchemaValidation: true}
`

// S27 to S32: every verdict that a field can have is met in a real read of a real type, with the reason that goes with it.
func TestEveryFieldVerdictIsMetInARealRead(t *testing.T) {
	everything := stack(role, fn, socket, logs)
	for why, c := range map[string]struct {
		change  func(string) string // of the template
		do      func(*world)        // what somebody does, or what goes wrong
		item    string              // whose field
		path    value.Path          // which
		verdict diff.Verdict        // what is to be said
		reason  string              // and why
		action  plan.Action         // what follows for the resource
	}{
		"match: a list of one is its item": {change: swap(`Action: "dynamodb:GetItem"`, `Action: ["dynamodb:GetItem"]`, "      Policies:\n", "      MaxSessionDuration: 7200\n      Policies:\n"),
			item: "Role", path: "Policies", verdict: diff.Match, action: plan.Update},
		"differs: somebody changed it": {do: func(w *world) {
			w.stranger("PutRetentionPolicy", map[string]any{"logGroupName": "/orders/app", "retentionInDays": 30})
		}, item: "Logs", path: "RetentionInDays", verdict: diff.Differs, action: plan.Update},
		"unknown: it waits for what is not made yet": {change: swap("Description: none", "x", "Role: !GetAtt Role.Arn", "Role: !GetAtt Second.Arn", "Resources:\n", "Resources:\n"+strings.Replace(role, "  Role:", "  Second:", 1)),
			item: "Fn", path: "Role", verdict: diff.Unknown, action: plan.Update},
		"unverified: the service never returns it":   {change: swap("Timeout: 10", "Timeout: 20"), item: "Fn", path: "Code", verdict: diff.Unverified, reason: "hash of an archive", action: plan.Update},
		"unverified: the service does not return it": {change: swap("Name: socket", "Name: plug"), item: "Socket", path: "DisableSchemaValidation", verdict: diff.Unverified, reason: "not returned", action: plan.Update},
		"unverified: the cloud filled it in":         {change: swap("Timeout: 10", "Timeout: 20"), item: "Fn", path: "MemorySize", verdict: diff.Unverified, reason: "filled in", action: plan.Update},
		"changed: it cannot be read, and config says something else": {change: swap("DisableSchemaValidation: true", "DisableSchemaValidation: false"),
			item: "Socket", path: "DisableSchemaValidation", verdict: diff.Changed, action: plan.Update},
		"removed: config no longer sets what is there": {change: swap("      Environment: {Variables: {COLOUR: red}}\n", ""), item: "Fn", path: "Environment", verdict: diff.Removed, action: plan.Update},
		"blocked: its own call was denied": {do: func(w *world) {
			w.sim.AddFault(awssim.Fault{Operation: "ListRolePolicies", Kind: awssim.Denied, Times: -1})
		}, change: swap(`Action: "dynamodb:GetItem"`, `Action: "dynamodb:PutItem"`), item: "Role", path: "Policies", verdict: diff.Blocked, reason: "denied", action: plan.Noop},
		"invalid: it came back in a form that cannot be read": {do: func(w *world) {
			w.sim.AddFault(awssim.Fault{Operation: "GetRolePolicy", Kind: awssim.Malformed, Times: -1})
		}, item: "Role", path: "Policies", verdict: diff.Invalid, action: plan.Blocked},
	} {
		t.Run(why, func(t *testing.T) {
			w := newWorld(t)
			if o := w.deploy(everything); o.Exit != 0 {
				t.Fatalf("deploy: %s", told(o))
			}
			w.elapse()
			text := everything
			if c.change != nil {
				text = c.change(text)
			}
			if c.do != nil {
				c.do(w)
			}
			it := w.plan(w.graph(text)).Item(c.item, 0)
			if it.Action != c.action {
				t.Errorf("the plan wants to %s: %s", it.Action, it.Detail)
			}
			said := false
			for _, f := range it.Fields {
				said = said || f.Path.Top() == c.path.Top() && f.Verdict == c.verdict && strings.Contains(f.Reason, c.reason)
			}
			if !said {
				t.Errorf("%s: want verdict %q because of %q, got %+v", c.path, c.verdict, c.reason, it.Fields)
			}
		})
	}
}

// swap replaces texts of a template, by pairs.
func swap(pairs ...string) func(string) string {
	return func(text string) string { return strings.NewReplacer(pairs...).Replace(text) }
}
