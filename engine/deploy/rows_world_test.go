package deploy_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/providers/awssim"
)

// endpoint is an integration of api: it has neither a name nor tags, and nothing but its params tells it.
const endpoint = `  Endpoint:
    Type: AWS::ApiGatewayV2::Integration
    Properties: {ApiId: !Ref Api, IntegrationType: HTTP_PROXY, IntegrationUri: "https://example.com/orders", IntegrationMethod: POST, PayloadFormatVersion: "1.0"}
`

// twin is another resource with the same params.
var twin = strings.Replace(endpoint, "Endpoint:", "Twin:", 1)

const route = `  Route:
    Type: AWS::ApiGatewayV2::Route
    Properties: {ApiId: !Ref Api, RouteKey: POST /orders, OperationName: order}
`

const rule = `  Rule:
    Type: AWS::Events::Rule
    Properties: {Name: nightly, ScheduleExpression: rate(1 day), Description: ours}
`

const table = `  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: orders
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
      KeySchema: [{AttributeName: id, KeyType: HASH}]
`

const code = `  Code:
    Type: AWS::Lambda::Function
    Properties:
      FunctionName: orders
      Role: !GetAtt Role.Arn
      Runtime: nodejs22.x
      Handler: index.handler
      Code: {ZipFile: "exports.handler = async () => null"}
`

const permission = `  Permission:
    Type: AWS::Lambda::Permission
    Properties: {FunctionName: !Ref Code, Action: lambda:InvokeFunction, Principal: events.amazonaws.com}
`

const readOnly = "arn:aws:iam::aws:policy/ReadOnlyAccess"

const attachment = `  Attachment:
    Type: Reclaim::IAM::RolePolicyAttachment
    Properties: {RoleName: !Ref Role, PolicyArn: "` + readOnly + `"}
`

// doomed is a store whose process dies: from the first commit after which dead holds of some record, it takes nothing.
type doomed struct {
	record.Store
	dead func(record.Record) bool
	die  func()
	mu   sync.Mutex
	died bool
}

func (m *doomed) Write(ctx context.Context, f record.Fence, fn func(record.Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.died {
		return errors.New("killed")
	}
	err := m.Store.Write(ctx, f, fn)
	_ = m.Store.Read(ctx, func(v record.View) error {
		list, _, err := v.Records(f.Stack)
		m.died = slices.ContainsFunc(list, m.dead)
		return err
	})
	if m.died {
		m.die()
	}
	return err
}

// sending is the moment in which a create of id goes out and nothing of its answer is recorded.
func sending(id string) func(record.Record) bool {
	return func(r record.Record) bool {
		last := r.Intent.Last()
		return r.ID == id && r.Status == record.Creating && last != nil && last.Outcome == record.Going
	}
}

// killed deploys text with a process that dies at dead. The call that is under way then reaches the cloud, and its answer
// nobody. The hold of the dead execution is taken, without deciding anything.
func (w *world) killed(text string, dead func(record.Record) bool) {
	w.t.Helper()
	real := w.cloud
	h := w.hook()
	m := &doomed{Store: w.store, dead: dead}
	ctx, cancel := context.WithCancel(w.t.Context())
	m.die = func() {
		h.answered = func(string, string, error) error { cancel(); return lost }
		if !underWay(w.records(), dead) {
			cancel()
		}
	}
	e := w.env()
	e.Store = m
	g := w.graph(text)
	p := w.plan(g)
	_, err := deploy.Run(ctx, e, deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p), Parallel: 1})
	_ = err // a run that dies ends somehow; what counts is what is left
	cancel()
	w.cloud = real
	if !m.died {
		w.t.Fatal("the process did not die")
	}
	if w.state().Hold != nil {
		w.recover(deploy.RecoverRequest{TakeHold: w.heldBy()})
	}
}

// underWay reports whether the record at which a process died has a call under way.
func underWay(records map[string]record.Record, dead func(record.Record) bool) bool {
	for _, r := range records {
		if last := r.Intent.Last(); dead(r) && last != nil && last.Outcome == record.Going {
			return true
		}
	}
	return false
}

// wantRow checks the verdict on one resource.
func (w *world) wantRow(id, row string) {
	w.t.Helper()
	if f := w.findings()[id]; f.Row != row {
		w.t.Errorf("%s is judged by row %q, want %q: %s", id, f.Row, row, f.Summary)
	}
}

// decideAs carries one decision out as an operator who has just looked.
func (w *world) decideAs(id string, c record.Choice, physical string) deploy.Outcome {
	w.t.Helper()
	return w.recover(deploy.RecoverRequest{Decide: []record.Decision{decide(w.findings()[id], c, physical)}})
}

// wantDone checks that a run ended well.
func wantDone(t *testing.T, o deploy.Outcome) {
	t.Helper()
	if o.Exit != 0 {
		t.Errorf("exit %d: %s", o.Exit, told(o))
	}
}

// told is what a run said of each resource that it did not finish.
func told(o deploy.Outcome) string {
	var out []string
	for _, it := range o.Items {
		if it.Result != event.Done && it.Result != event.Unchanged {
			out = append(out, it.ID+" "+string(it.Result)+": "+it.Reason)
		}
	}
	return strings.Join(out, "; ")
}

// adopting plans text with the opt-in to take over what is at the key of id, and runs it with every approval.
func (w *world) adopting(text, id string) deploy.Outcome {
	w.t.Helper()
	g := w.graph(text)
	opt := map[string]string{id: ""}
	p, err := plan.Make(w.t.Context(), w.planEnv(), g, w.stack, plan.Options{Adopt: opt})
	must(w.t, err)
	return w.run(deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p), Adopt: opt})
}

// integrations are those of the only API.
func (w *world) integrations() []*awssim.Integration {
	w.t.Helper()
	apis := w.sim.State().Apis
	if len(apis) != 1 {
		w.t.Fatal("there are", len(apis), "APIs")
	}
	return apis[0].Integrations
}

func (w *world) routes() []*awssim.Route { return w.sim.State().Apis[0].Routes }

// alike makes a stranger's integration that is equal to endpoint.
func (w *world) alike() {
	w.t.Helper()
	w.stranger("CreateIntegration", alikeParams(w.sim.State().Apis[0].ID))
}

func alikeParams(apiID string) map[string]any {
	return map[string]any{"apiId": apiID, "integrationType": "HTTP_PROXY", "integrationUri": "https://example.com/orders",
		"integrationMethod": "POST", "payloadFormatVersion": "1.0"}
}
