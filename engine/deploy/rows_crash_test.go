package deploy_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"reclaim/engine/deploy"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/providers/awssim"
)

// wholeApp is every type of an HTTP API in front of a function, wired as people run it.
var wholeApp = stack(role, attachment, logs, table, api, `  Code:
    Type: AWS::Lambda::Function
    Properties:
      FunctionName: orders
      Role: !GetAtt Role.Arn
      Runtime: nodejs22.x
      Handler: index.handler
      ReservedConcurrentExecutions: 5
      Environment: {Variables: {TABLE: !Ref Table}}
      Code: {ZipFile: "exports.handler = async () => null"}
  Endpoint:
    Type: AWS::ApiGatewayV2::Integration
    Properties: {ApiId: !Ref Api, IntegrationType: AWS_PROXY, IntegrationUri: !GetAtt Code.Arn, PayloadFormatVersion: "1.0"}
  Route:
    Type: AWS::ApiGatewayV2::Route
    Properties: {ApiId: !Ref Api, RouteKey: $default, Target: !Sub "integrations/${Endpoint}"}
  Stage:
    Type: AWS::ApiGatewayV2::Stage
    Properties: {ApiId: !Ref Api, StageName: live, Description: orders}
  Permission:
    Type: AWS::Lambda::Permission
    Properties: {FunctionName: !Ref Code, Action: lambda:InvokeFunction, Principal: apigateway.amazonaws.com, SourceArn: !Sub "arn:aws:execute-api:eu-west-1:123456789012:${Api}/*"}
  Rule:
    Type: AWS::Events::Rule
    Properties:
      Name: nightly
      ScheduleExpression: rate(1 day)
      Targets: [{Id: code, Arn: !GetAtt Code.Arn}, {Id: again, Arn: !GetAtt Code.Arn}]
`)

// moves are what one template becomes; each says what it makes the engine do.
var moves = map[string]struct {
	from bool // the whole app is there already
	to   func(string) string
}{
	"made from nothing": {false, func(s string) string { return s }},
	"the API is replaced, with all its children": {true, func(s string) string {
		return strings.Replace(s, "ProtocolType: HTTP", `ProtocolType: WEBSOCKET, RouteSelectionExpression: "$request.body.a"`, 1)
	}},
	"role and function are replaced, with what hangs on them": {true, func(s string) string {
		return strings.NewReplacer("FunctionName: orders", "FunctionName: orders-2", "Properties:\n      Assume", "Properties:\n      Path: /two/\n      Assume").Replace(s)
	}},
	"rule and table are replaced": {true, func(s string) string {
		return strings.NewReplacer("Name: nightly", "Name: hourly", "AttributeName: id,", "AttributeName: key,").Replace(s)
	}},
	"changed in place": {true, func(s string) string {
		return strings.NewReplacer("=> null", "=> 1", "$default", "GET /hello", ", {Id: again, Arn: !GetAtt Code.Arn}", "", "Description: orders", "Description: new",
			"PAY_PER_REQUEST", "PROVISIONED\n      ProvisionedThroughput: {ReadCapacityUnits: 1, WriteCapacityUnits: 1}").Replace(s)
	}},
	"destroyed": {true, func(string) string { return "" }},
}

// settle lets an operator who approves S19's set and every plan bring the stack to an end after a crash.
func (w *world) settle(text string) deploy.Outcome {
	var o deploy.Outcome
	for range 12 {
		w.elapse()
		r := deploy.RecoverRequest{Auto: true}
		if w.state().Hold != nil {
			r.TakeHold = w.heldBy()
		}
		for _, f := range w.findings() {
			if f.Row == "14" { // the operator of these tests knows that what never answered was not carried out
				r.Decide = append(r.Decide, decide(f, record.Retry, ""))
			}
		}
		w.recover(r)
		w.elapse()
		if o = w.to(w.env(), text); o.Exit == 0 {
			return o
		}
	}
	return o
}

// to deploys text, or destroys where it is "".
func (w *world) to(e deploy.Env, text string) deploy.Outcome {
	pe := plan.Env{Store: e.Store, Cloud: e.Cloud, Sealer: e.Sealer, Now: w.clock.Now}
	r := deploy.Request{Parallel: 1}
	var err error
	if text == "" {
		r.Plan, err = plan.MakeDestroy(w.t.Context(), pe, w.stack)
	} else {
		r.Graph = w.graph(text)
		r.Plan, err = plan.Make(w.t.Context(), pe, r.Graph, w.stack, plan.Options{})
	}
	if err != nil {
		return deploy.Outcome{Exit: deploy.ExitError, Summary: err.Error()}
	}
	r.Approvals = approveAll(r.Plan)
	for i, a := range r.Approvals { // what may turn out to be a replacement is approved as one
		if it := r.Plan.Item(a.ID, a.Gen); len(it.MaybeReplace) > 0 {
			r.Approvals[i].Grants = append(slices.Clone(a.Grants), plan.GrantReplace, plan.GrantDeleteFirst)
		}
	}
	o, err := deploy.Run(w.t.Context(), e, r)
	if err != nil {
		return deploy.Outcome{Exit: deploy.ExitError, Summary: err.Error()}
	}
	return o
}

// census counts what is there of us, and shows what strangers made as it is.
func (w *world) census() (ours map[string]int, theirs string) {
	s := w.sim.State()
	ours = map[string]int{}
	var foreign []any
	add := func(kind string, madeBy int, object any) {
		if madeBy == 0 {
			foreign = append(foreign, object)
			return
		}
		ours[kind]++
	}
	for _, o := range s.Roles {
		add("role", o.MadeBy, o)
		if o.MadeBy > 0 {
			ours["attached"] += len(o.Attached)
		}
	}
	for _, o := range s.LogGroups {
		add("log group", o.MadeBy, o)
	}
	for _, o := range s.Tables {
		add("table", o.MadeBy, o)
	}
	for _, o := range s.Functions {
		add("function", o.MadeBy, o)
		ours["statement"] += len(o.Policy)
	}
	for _, o := range s.Rules {
		add("rule", o.MadeBy, o)
		if o.MadeBy > 0 {
			ours["target"] += len(o.Targets)
		}
	}
	for _, o := range s.Apis {
		add("api", o.MadeBy, o)
		if o.MadeBy > 0 {
			ours["integration"] += len(o.Integrations)
			ours["route"] += len(o.Routes)
			ours["stage"] += len(o.Stages)
		}
	}
	raw, err := json.Marshal(foreign)
	must(w.t, err)
	return ours, string(raw)
}

// strangers makes objects that are equal to ours in all but the name, or, where a name proves nothing, in the name too.
func (w *world) strangers() {
	w.stranger("CreateApi", map[string]any{"name": "orders", "protocolType": "HTTP"})
	w.stranger("CreateIntegration", alikeParams(w.sim.State().Apis[0].ID))
	w.stranger("PutRule", map[string]any{"Name": "theirs", "ScheduleExpression": "rate(1 day)"})
	w.stranger("CreateLogGroup", map[string]any{"logGroupName": "/orders/app/theirs"})
}

// Wherever a run over the whole app dies, recovery and the next deploys bring it to exactly what the template says then: what
// the run was after, what was there before, or nothing. Nothing is lost, nothing is there twice, and nothing of a stranger
// is touched.
func TestTheWholeAppSurvivesADeathAnywhere(t *testing.T) {
	for name, m := range moves {
		t.Run(name, func(t *testing.T) {
			text := m.to(wholeApp)
			prepare := func(t *testing.T) *world {
				w := newWorld(t)
				w.strangers()
				if m.from {
					wantDone(t, w.to(w.env(), wholeApp))
					w.elapse()
				}
				return w
			}
			want := map[string]string{}
			for _, end := range []string{text, wholeApp, ""} {
				w := prepare(t)
				wantDone(t, w.to(w.env(), end))
				ours, _ := w.census()
				want[end] = fmt.Sprint(ours)
			}
			for n, alive := 1, false; !alive; n += *stride {
				end := []string{text, wholeApp, ""}[(*after + n / *stride)%3]
				t.Run(fmt.Sprint(n), func(t *testing.T) {
					w := prepare(t)
					_, theirs := w.census()
					e := w.env()
					dying := &mortal{left: n}
					e.Store, e.Cloud = mortalStore{e.Store, dying}, dying.cloud(e.Cloud)
					w.to(e, text)
					alive = dying.left >= 0
					o := w.settle(end)
					if o.Exit == deploy.ExitBlocked && end == wholeApp { // the name it had is its replaced generation's until that is gone
						w.settle(text)
						o = w.settle(end)
					}
					if o.Exit != 0 {
						t.Fatalf("exit %d: %s %s", o.Exit, o.Summary, told(o))
					}
					w.elapse()
					ours, foreign := w.census()
					if got := fmt.Sprint(ours); got != want[end] {
						t.Errorf("there is %s, want %s", got, want[end])
					}
					if foreign != theirs {
						t.Errorf("what strangers made was %s, and is %s", theirs, foreign)
					}
					if end != "" {
						w.wantNoop(end)
					}
				})
			}
		})
	}
}

// Each changing call of a run over the whole app goes wrong once, all in the same way. What was carried out is not carried
// out again, and what was not is.
func TestTheWholeAppWithEveryAnswerLost(t *testing.T) {
	for name, m := range moves {
		kinds := []awssim.FaultKind{awssim.ExecutedUnanswered, awssim.NotExecutedUnanswered}
		if !m.from {
			kinds = append(kinds, awssim.ErrorAfterExecute, awssim.Malformed)
		}
		for _, kind := range kinds {
			t.Run(name+", "+string(kind), func(t *testing.T) {
				text := m.to(wholeApp)
				prepare := func() (*world, int) {
					w := newWorld(t)
					w.strangers()
					if m.from {
						wantDone(t, w.to(w.env(), wholeApp))
						w.elapse()
					}
					return w, len(w.sim.Log())
				}
				w, began := prepare()
				wantDone(t, w.to(w.env(), text))
				want, _ := w.census()
				ops := map[string]bool{}
				for _, r := range w.sim.Log()[began:] {
					ops[r.Operation] = ops[r.Operation] || r.Changing
				}
				w, _ = prepare()
				_, theirs := w.census()
				for op, changing := range ops {
					if changing {
						w.sim.AddFault(awssim.Fault{Operation: op, Kind: kind})
					}
				}
				w.to(w.env(), text)
				if o := w.settle(text); o.Exit != 0 {
					t.Fatalf("exit %d: %s %s", o.Exit, o.Summary, told(o))
				}
				w.elapse()
				if got, foreign := w.census(); fmt.Sprint(got) != fmt.Sprint(want) || foreign != theirs {
					t.Errorf("there is %v, want %v; what strangers made was %s, and is %s", got, want, theirs, foreign)
				}
				if text != "" {
					w.wantNoop(text)
				}
			})
		}
	}
}

// stride is how many acts lie between the deaths that are tried, and after which of the ends comes first.
var (
	stride = flag.Int("stride", 17, "acts between the deaths that are tried; 1 tries every one")
	after  = flag.Int("after", 0, "what the template says after the first death: 0, 1 or 2")
)
