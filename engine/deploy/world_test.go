package deploy_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
	"reclaim/engine/template"
	"reclaim/providers"
	"reclaim/providers/awssim"
	"reclaim/store"
)

// world is a real store, real providers over HTTP, and the simulated cloud. Its clock jumps instead of sleeping.
type world struct {
	t     tester
	sim   *awssim.Server
	store *store.Store
	cloud resource.Cloud
	clock *jumpClock
	stack record.StackID
	dir   string

	mu     sync.Mutex
	events []event.Envelope
}

// tester is what a world needs of the test it belongs to: a *testing.T, or a *rapid.T.
type tester interface {
	Helper()
	Fatal(...any)
	Errorf(string, ...any)
	Cleanup(func())
	Context() context.Context
}

// jumpClock is the real clock, moved forward by every sleep.
type jumpClock struct {
	mu   sync.Mutex
	skew time.Duration
}

func (c *jumpClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.skew)
}

func (c *jumpClock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	if d > 0 {
		c.skew += d
	}
	c.mu.Unlock()
	return ctx.Err()
}

// awsTypes opens a cloud with an AWS session whatever the template holds.
var awsTypes = []string{"AWS::IAM::Role"}

func newWorld(t *testing.T, with ...func(*awssim.Config)) *world { return openWorld(t, t, with...) }

// openWorld makes a world for t inside of test, which owns the environment and the folder.
func openWorld(t tester, test *testing.T, with ...func(*awssim.Config)) *world {
	t.Helper()
	w := &world{t: t, clock: &jumpClock{}, dir: test.TempDir()}
	var err error
	c := awssim.Config{Account: "123456789012", Region: "eu-west-1", ID: "test", Now: w.clock.Now}
	for _, f := range with {
		f(&c)
	}
	w.sim, err = awssim.New(c)
	must(t, err)
	url, err := w.sim.Listen("127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { w.sim.Close() })
	test.Setenv("AWS_ENDPOINT_URL", url)
	test.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	test.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	test.Setenv("AWS_REGION", "eu-west-1")
	test.Setenv("AWS_CONFIG_FILE", filepath.Join(w.dir, "none"))
	test.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(w.dir, "none"))
	w.store, err = store.Open(filepath.Join(w.dir, ".reclaim"), store.Options{Create: true})
	must(t, err)
	t.Cleanup(func() { w.store.Close() })
	w.cloud, err = providers.Open(t.Context(), providers.Config{Region: "eu-west-1", Machine: store.MachineID()}, awsTypes)
	must(t, err)
	scope, err := w.cloud.Verify(t.Context())
	must(t, err)
	w.stack = record.StackID{Name: "orders", Scope: scope}
	return w
}

func must(t tester, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) env() deploy.Env {
	sealer, err := w.store.Sealer()
	must(w.t, err)
	return deploy.Env{Store: w.store, Cloud: w.cloud, Clock: w.clock, Sealer: sealer, Owner: store.Owner(), Alive: store.Alive,
		Sink: event.SinkFunc(func(e event.Envelope) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, e)
		})}
}

func (w *world) planEnv() plan.Env {
	e := w.env()
	return plan.Env{Store: e.Store, Cloud: e.Cloud, Sealer: e.Sealer, Now: w.clock.Now}
}

// graph binds template text.
func (w *world) graph(text string) *template.Graph {
	w.t.Helper()
	file := filepath.Join(w.dir, "stack.yaml")
	must(w.t, os.WriteFile(file, []byte(text), 0o644))
	t, err := template.ParseFile(file)
	must(w.t, err)
	g, err := t.Bind(template.Binding{Stack: w.stack.Name, Scope: w.stack.Scope, Base: w.dir, Schemas: providers.Schema})
	must(w.t, err)
	return g
}

func (w *world) plan(g *template.Graph) *plan.Plan {
	w.t.Helper()
	p, err := plan.Make(w.t.Context(), w.planEnv(), g, w.stack, plan.Options{})
	must(w.t, err)
	return p
}

// approveAll gives every item the grants it needs.
func approveAll(p *plan.Plan) []deploy.Approval {
	var out []deploy.Approval
	for _, it := range p.Items {
		if it.CanRun() {
			out = append(out, deploy.Approval{ID: it.ID, Gen: it.Gen, Grants: it.Needs})
		}
	}
	return out
}

// yes gives what --yes gives.
func yes(p *plan.Plan) []deploy.Approval {
	var out []deploy.Approval
	for _, it := range p.Items {
		if slices.Equal(it.Needs, []plan.Grant{plan.GrantChange}) {
			out = append(out, deploy.Approval{ID: it.ID, Gen: it.Gen, Grants: it.Needs})
		}
	}
	return out
}

// deploy plans text and runs the plan with every approval it asks for.
func (w *world) deploy(text string) deploy.Outcome {
	w.t.Helper()
	g := w.graph(text)
	p := w.plan(g)
	return w.run(deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p)})
}

func (w *world) run(r deploy.Request) deploy.Outcome {
	w.t.Helper()
	o, err := deploy.Run(w.t.Context(), w.env(), r)
	must(w.t, err)
	return o
}

func (w *world) destroy() deploy.Outcome {
	w.t.Helper()
	p, err := plan.MakeDestroy(w.t.Context(), w.planEnv(), w.stack)
	must(w.t, err)
	return w.run(deploy.Request{Plan: p, Approvals: approveAll(p)})
}

func (w *world) recover(r deploy.RecoverRequest) deploy.Outcome {
	w.t.Helper()
	r.Stack = w.stack
	o, err := deploy.Recover(w.t.Context(), w.env(), r)
	must(w.t, err)
	return o
}

// findings looks and judges, as the recovery screen does.
func (w *world) findings() map[string]recovery.Finding {
	w.t.Helper()
	e := w.env()
	g := recovery.Gatherer{Store: e.Store, Cloud: e.Cloud, Sealer: e.Sealer, Now: w.clock.Now}
	list, err := g.Survey(w.t.Context(), w.stack, true)
	must(w.t, err)
	out := map[string]recovery.Finding{}
	for _, f := range list {
		out[f.ID] = f
	}
	return out
}

func decide(f recovery.Finding, c record.Choice, physical string) record.Decision {
	return record.Decision{Stack: f.Stack, ID: f.ID, Gen: f.Gen, Rev: f.Rev, Facts: f.Facts, Verdict: string(f.Verdict), Choice: c, Physical: physical, Who: "ops"}
}

func (w *world) records() map[string]record.Record {
	w.t.Helper()
	s, err := plan.ReadState(w.t.Context(), w.store, w.stack)
	must(w.t, err)
	out := map[string]record.Record{}
	for _, r := range s.Records {
		out[r.ID] = r
	}
	return out
}

// executed counts the requests of an operation that the cloud carried out.
func (w *world) executed(op string) int {
	n := 0
	for _, r := range w.sim.Log() {
		if r.Operation == op && r.Executed {
			n++
		}
	}
	return n
}

// changing lists the changing operations that the cloud was sent since the log had n entries.
func (w *world) changing(since int) []string {
	var out []string
	for _, r := range w.sim.Log()[since:] {
		if r.Changing {
			out = append(out, r.Operation+" "+r.Target)
		}
	}
	return out
}

func (w *world) wantNoop(text string) {
	w.t.Helper()
	for _, it := range w.plan(w.graph(text)).Items {
		if it.Action != plan.Noop {
			w.t.Errorf("the next plan wants to %s %s: %s %+v", it.Action, it.ID, it.Detail, it.Fields)
		}
	}
}

func result(o deploy.Outcome, id string) event.Result {
	for _, it := range o.Items {
		if it.ID == id {
			return it.Result
		}
	}
	return ""
}

func reason(o deploy.Outcome, id string) string {
	for _, it := range o.Items {
		if it.ID == id {
			return it.Reason
		}
	}
	return ""
}

// stack indents resources under Resources.
func stack(resources ...string) string { return "Resources:\n" + strings.Join(resources, "") }

const role = `  Role:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument: {Version: "2012-10-17", Statement: [{Effect: Allow, Principal: {Service: lambda.amazonaws.com}, Action: sts:AssumeRole}]}
      Policies:
        - PolicyName: table
          PolicyDocument: {Version: "2012-10-17", Statement: [{Effect: Allow, Action: "dynamodb:GetItem", Resource: "*"}]}
`

const api = `  Api:
    Type: AWS::ApiGatewayV2::Api
    Properties: {Name: orders, ProtocolType: HTTP, Tags: {team: orders}}
`

const logs = `  Logs:
    Type: AWS::Logs::LogGroup
    Properties: {LogGroupName: /orders/app, RetentionInDays: 14}
`

const file = `  File:
    Type: Std::FS::File
    Properties:
      Path: ./out/where.env
      Content: !Sub "url=${Api.ApiEndpoint} role=${Role.Arn}"
`
