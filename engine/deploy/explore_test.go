package deploy_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"reclaim/engine/deploy"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
	"reclaim/providers/awssim"
)

// The four promises, under random stacks, faults, crashes, strangers and decisions: what no single rule's test thought of.
// A failure prints its seed; go test -run TestExplore -rapid.seed=N tries it again, -rapid.checks=N tries more.
func TestExplore(t *testing.T) {
	for name, value := range map[string]string{"rapid.checks": "60", "rapid.nofailfile": "true"} {
		if was := flag.Lookup(name).Value.String(); !flagGiven(name) {
			must(t, flag.Set(name, value))
			defer flag.Set(name, was)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		x := &explorer{world: openWorld(rt, t), rt: rt, strangers: map[string]string{}, edited: map[string]bool{}}
		x.hook().now = x.clock.Now
		x.begin()
		for range rapid.IntRange(4, 16).Draw(rt, "steps") {
			x.step()
		}
		x.converge()
	})
}

// flagGiven reports whether the command line sets a flag.
func flagGiven(name string) bool {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}

// explorer is a world with a stack whose text changes, and the memory of who made what.
type explorer struct {
	*world
	rt        *rapid.T
	res       map[string]*drawn
	strangers map[string]string // what strangers made, as they left it: kind and name → JSON
	edited    map[string]bool   // files of ours that a stranger wrote to
	dying     *mortal           // the next run dies
	adopt     map[string]string // which of several objects with our tags the operator means
	log       []string
}

// drawn is one resource of the stack; v are its fields' variants.
type drawn struct {
	id     string
	in     bool // in the template
	field  int  // a mutable field
	place  int  // an immutable field or the key
	policy string
}

var allIDs = []string{"Role", "Api", "Logs", "File", "Zip"}

func (x *explorer) begin() {
	must(x.rt, os.MkdirAll(filepath.Join(x.dir, "src"), 0o755))
	must(x.rt, os.WriteFile(filepath.Join(x.dir, "src", "a.txt"), []byte("a"), 0o644))
	x.res = map[string]*drawn{}
	ids := rapid.SliceOfNDistinct(rapid.SampledFrom(allIDs), 1, 3, rapid.ID).Draw(x.rt, "resources")
	for _, id := range allIDs {
		x.res[id] = &drawn{id: id, in: slices.Contains(ids, id)}
	}
}

// text is the template.
func (x *explorer) text() string {
	var parts []string
	add := func(format string, a ...any) {
		text := fmt.Sprintf(format, a...)
		if id, _, _ := strings.Cut(strings.TrimSpace(text), ":"); x.res[id].policy != "" {
			text = strings.Replace(text, "    Properties", fmt.Sprintf("    DeletionPolicy: %[1]s\n    UpdateReplacePolicy: %[1]s\n    Properties", x.res[id].policy), 1)
		}
		parts = append(parts, text)
	}
	if r := x.res["Role"]; r.in {
		add("  Role:\n    Type: AWS::IAM::Role\n    Properties:\n      Path: /p%d/\n      AssumeRolePolicyDocument: {Version: \"2012-10-17\", Statement: [{Effect: Allow, Principal: {Service: lambda.amazonaws.com}, Action: sts:AssumeRole}]}\n"+
			"      Policies:\n        - PolicyName: p%d\n          PolicyDocument: {Version: \"2012-10-17\", Statement: [{Effect: Allow, Action: \"s3:*\", Resource: \"*\"}]}\n", r.place, r.field)
	}
	if r := x.res["Api"]; r.in {
		add("  Api:\n    Type: AWS::ApiGatewayV2::Api\n    Properties: {Name: orders, ProtocolType: %s, RouteSelectionExpression: \"%s\", Description: d%d}\n", []string{"WEBSOCKET", "HTTP"}[r.place%2], []string{"$request.body.action", "$request.method $request.path"}[r.place%2], r.field)
	}
	if r := x.res["Logs"]; r.in {
		add("  Logs:\n    Type: AWS::Logs::LogGroup\n    Properties: {LogGroupName: /orders/%d, RetentionInDays: %d, LogGroupClass: %s}\n", r.place/2, []int{7, 14, 30}[r.field%3], []string{"STANDARD", "INFREQUENT_ACCESS"}[r.place%2])
	}
	if r := x.res["Zip"]; r.in {
		add("  Zip:\n    Type: Std::FS::Zip\n    Properties: {Path: ./out/%d.zip, Source: ./src}\n", r.place)
	}
	if r := x.res["File"]; r.in {
		content := fmt.Sprintf("v%d", r.field)
		for id, attr := range map[string]string{"Role": "Arn", "Api": "ApiEndpoint", "Zip": "Sha256"} {
			if x.res[id].in {
				content += " ${" + id + "." + attr + "}"
			}
		}
		words := strings.Fields(content)
		slices.Sort(words)
		add("  File:\n    Type: Std::FS::File\n    Properties: {Path: ./out/%d.env, Content: !Sub \"%s\"}\n", r.place, strings.Join(words, " "))
	}
	return stack(parts...)
}

// step does one thing.
func (x *explorer) step() {
	present := []string{}
	for _, id := range allIDs {
		if x.res[id].in {
			present = append(present, id)
		}
	}
	what := rapid.SampledFrom([]string{"replace", "deploy", "change", "decide", "stranger", "recover", "deploy", "toggle", "policy", "some",
		"destroy", "deploy", "elapse", "heal", "rollback"}).Draw(x.rt, "what")
	x.note("%s", what)
	if slices.Contains([]string{"deploy", "some", "destroy", "recover", "decide", "rollback"}, what) {
		x.trouble()
	}
	switch what {
	case "deploy":
		x.ours(func(e deploy.Env) { x.deployAll(e, nil) })
	case "some":
		few := func(it plan.Item) bool { return rapid.Bool().Draw(x.rt, "approve "+it.ID) }
		x.ours(func(e deploy.Env) { x.deployAll(e, few) })
	case "policy":
		if len(present) > 0 {
			x.res[rapid.SampledFrom(present).Draw(x.rt, "id")].policy = rapid.SampledFrom([]string{"Retain", ""}).Draw(x.rt, "policy")
		}
	case "change":
		if len(present) > 0 {
			x.res[rapid.SampledFrom(present).Draw(x.rt, "id")].field++
		}
	case "replace":
		if len(present) > 0 {
			x.res[rapid.SampledFrom(present).Draw(x.rt, "id")].place++
		}
	case "toggle":
		r := x.res[rapid.SampledFrom(allIDs).Draw(x.rt, "id")]
		if r.in = !r.in; r.in || len(present) > 1 {
			break
		}
		r.in = true
	case "destroy":
		x.ours(x.destroyAll)
	case "rollback":
		x.ours(x.rollbackOne)
	case "recover":
		x.ours(func(e deploy.Env) { x.recovering(e, deploy.RecoverRequest{Auto: true}) })
	case "decide":
		x.ours(x.decideOne)
	case "stranger":
		x.strange()
	case "elapse":
		x.elapse()
	case "heal":
		x.sim.ClearFaults()
	}
}

// trouble is what happens to the next run.
func (x *explorer) trouble() {
	switch rapid.SampledFrom([]string{"crash", "fault", "none", "both"}).Draw(x.rt, "trouble") {
	case "crash":
		x.crash()
	case "fault":
		x.fault()
	case "both":
		x.fault()
		x.crash()
	}
}

func (x *explorer) crash() {
	left := rapid.IntRange(1, 14).Draw(x.rt, "dies after")
	x.note("  dies after %d", left)
	x.dying = &mortal{left: left}
}

func (x *explorer) note(format string, a ...any) {
	x.log = append(x.log, fmt.Sprintf(format, a...))
	x.rt.Logf(format, a...)
}

// ours runs one of our verbs, which may die, and checks what it did.
func (x *explorer) ours(verb func(deploy.Env)) {
	before := x.foreign()
	e := x.env()
	if m := x.dying; m != nil {
		x.dying = nil
		e.Store, e.Cloud = mortalStore{e.Store, m}, m.cloud(e.Cloud)
	}
	verb(e)
	x.check(before)
}

func (x *explorer) planning(e deploy.Env) plan.Env {
	return plan.Env{Store: e.Store, Cloud: e.Cloud, Sealer: e.Sealer, Now: x.clock.Now}
}

// deployAll plans and deploys what approved lets through; nil: everything.
func (x *explorer) deployAll(e deploy.Env, approved func(plan.Item) bool) {
	g := x.graph(x.text())
	p, err := plan.Make(x.rt.Context(), x.planning(e), g, x.stack, plan.Options{Adopt: x.adopt})
	if err != nil {
		x.mayFail(err)
		return
	}
	x.roundTrip(p)
	grants := approveAll(p)
	r := deploy.Request{Plan: p, Graph: g, Adopt: x.adopt, Parallel: 1}
	if approved != nil {
		grants = slices.DeleteFunc(grants, func(a deploy.Approval) bool { return !approved(*p.Item(a.ID, a.Gen)) })
		r.Strict = rapid.Bool().Draw(x.rt, "strict")
		if id := p.Items[0].ID; rapid.Bool().Draw(x.rt, "only") {
			r.Only = []string{id}
		}
	}
	r.Approvals = grants
	x.outcome(deploy.Run(x.rt.Context(), e, r))
}

func (x *explorer) destroyAll(e deploy.Env) {
	p, err := plan.MakeDestroy(x.rt.Context(), x.planning(e), x.stack)
	if err != nil {
		x.mayFail(err)
		return
	}
	x.outcome(deploy.Run(x.rt.Context(), e, deploy.Request{Plan: p, Approvals: approveAll(p), Parallel: 1}))
}

// rollbackOne rolls one of the executions back. Nothing goes that the execution did not make.
func (x *explorer) rollbackOne(e deploy.Env) {
	var ids []string
	for _, ex := range x.executions() {
		if ex.Verb == "deploy" || ex.Verb == "recover" {
			ids = append(ids, ex.ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	execution := rapid.SampledFrom(ids).Draw(x.rt, "execution")
	others := map[string]string{}
	for _, r := range x.state().Records {
		if r.CreatedBy != execution && r.Nonce != "" && (r.Intent == nil || r.Intent.Maker() != execution) {
			others[r.Nonce] = r.ID
		}
	}
	there := func() map[string]bool {
		out := map[string]bool{}
		for _, o := range x.things() {
			out[o.tags[resource.TagNonce]] = true
		}
		return out
	}
	time.Sleep(5 * time.Millisecond) // what an earlier run sent and is executed late is no act of the rollback
	before := there()
	p, err := plan.MakeRollback(x.rt.Context(), x.planning(e), x.stack, execution)
	if err != nil {
		x.mayFail(err)
		return
	}
	x.roundTrip(p)
	x.outcome(deploy.Run(x.rt.Context(), e, deploy.Request{Plan: p, Approvals: approveAll(p), Parallel: 1}))
	after := there()
	for nonce, id := range others {
		if before[nonce] && !after[nonce] {
			x.rt.Errorf("a rollback of %s removed %s, which it did not make", execution, id)
		}
	}
}

func (x *explorer) roundTrip(p *plan.Plan) {
	b, err := plan.Encode(p)
	must(x.rt, err)
	if _, err := plan.Decode(b); err != nil {
		x.rt.Errorf("the plan does not come back: %v", err)
	}
}

// recovering takes the hold of a dead run, if there is one.
func (x *explorer) recovering(e deploy.Env, r deploy.RecoverRequest) {
	s := x.state()
	if s.Hold != nil {
		r.TakeHold = s.Hold.Execution
	}
	r.Stack, r.Parallel = x.stack, 1
	x.outcome(deploy.Recover(x.rt.Context(), e, r))
}

func (x *explorer) outcome(o deploy.Outcome, err error) {
	if err != nil {
		x.mayFail(err)
		return
	}
	for _, it := range o.Items {
		x.note("  %s %d %s: %s %s", it.ID, it.Gen, it.Action, it.Result, it.Reason)
	}
}

func (x *explorer) mayFail(err error) {
	x.note("  refused: %v", err)
	if _, held := errors.AsType[*record.HeldError](err); !held && !errors.Is(err, errDead) {
		x.rt.Errorf("unexpected: %v", err)
	}
}

// decideOne draws an offered option for each finding.
func (x *explorer) decideOne(e deploy.Env) {
	var ds []record.Decision
	for _, f := range x.sorted() {
		options := slices.DeleteFunc(slices.Clone(f.Offered), func(o recovery.Option) bool {
			return o.Choice == record.LookAgain || o.Choice == record.EnterID || o.Choice == record.Later || o.Choice == record.Adopt
		})
		if len(options) == 0 {
			continue
		}
		o := rapid.SampledFrom(options).Draw(x.rt, "option of "+f.ID)
		x.note("  %s row %s %s: %s %s", f.ID, f.Row, f.Verdict, o.Choice, o.Physical)
		ds = append(ds, decide(f, o.Choice, o.Physical))
	}
	x.recovering(e, deploy.RecoverRequest{Decide: ds, Auto: rapid.Bool().Draw(x.rt, "auto"), AllowDataLoss: allIDs})
}

func (x *explorer) sorted() []recovery.Finding {
	var out []recovery.Finding
	for _, f := range x.findings() {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b recovery.Finding) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// fault breaks some operation.
func (x *explorer) fault() {
	var ops []string
	for id, list := range map[string][]string{
		"Role": {"CreateRole", "DeleteRole", "PutRolePolicy", "DeleteRolePolicy", "GetRole", "ListRoleTags", "ListRolePolicies"},
		"Api":  {"CreateApi", "DeleteApi", "UpdateApi", "GetApi", "GetApis"},
		"Logs": {"CreateLogGroup", "DeleteLogGroup", "PutRetentionPolicy", "DescribeLogGroups", "ListTagsForResource"},
	} {
		if x.res[id].in {
			ops = append(ops, list...)
		}
	}
	if len(ops) == 0 {
		return
	}
	slices.Sort(ops)
	kinds := []awssim.FaultKind{awssim.ExecutedUnanswered, awssim.NotExecutedUnanswered, awssim.ExecutedLate, awssim.ErrorAfterExecute, awssim.Denied, awssim.Malformed, awssim.Lag}
	f := awssim.Fault{Operation: rapid.SampledFrom(ops).Draw(x.rt, "operation"), Kind: rapid.SampledFrom(kinds).Draw(x.rt, "kind"), Times: rapid.IntRange(1, 2).Draw(x.rt, "times"), Skip: rapid.IntRange(0, 2).Draw(x.rt, "skip") / 2}
	switch f.Kind {
	case awssim.ExecutedLate:
		f.Delay = 3 * time.Millisecond
	case awssim.Lag:
		f.Delay = 4 * time.Second
	}
	x.note("  %s %s skip %d times %d", f.Operation, f.Kind, f.Skip, f.Times)
	x.sim.AddFault(f)
}

// strange lets a stranger act: at our keys, at our objects, at our tags.
func (x *explorer) strange() {
	state := x.sim.State()
	act := func(op string, params map[string]any) {
		err := x.sim.Do(awssim.Action{Service: map[bool]string{true: "logs"}[op == "UntagResource"], Op: op, Region: "eu-west-1", Params: params})
		x.note("  %s %v: %v", op, params, err)
	}
	switch rapid.SampledFrom([]string{"group", "api", "file", "edit", "policy", "retention", "delete group", "delete api", "untag group", "copy tags"}).Draw(x.rt, "stranger's act") {
	case "group":
		act("CreateLogGroup", map[string]any{"logGroupName": fmt.Sprintf("/orders/%d", rapid.IntRange(0, 2).Draw(x.rt, "name")), "tags": map[string]any{"owner": "them"}})
	case "api":
		act("CreateApi", map[string]any{"name": "orders", "protocolType": "HTTP"})
	case "copy tags":
		if len(state.Apis) > 0 {
			tags := map[string]any{"reclaim:stack": x.stack.String(), "reclaim:resource": "Api", "reclaim:store": "s-somebody"}
			act("CreateApi", map[string]any{"name": "orders", "protocolType": "HTTP", "tags": tags})
		}
	case "file":
		path := filepath.Join(x.dir, "out", fmt.Sprintf("%d.env", rapid.IntRange(0, 2).Draw(x.rt, "name")))
		if _, err := os.Lstat(path); err != nil {
			must(x.rt, os.MkdirAll(filepath.Dir(path), 0o755))
			must(x.rt, os.WriteFile(path, []byte("theirs"), 0o644))
			x.strangers[path] = "theirs"
			x.note("  wrote %s", filepath.Base(path))
		}
	case "edit":
		for _, r := range x.state().Records {
			path := r.Key["Path"]
			if b, err := os.ReadFile(path); r.ID == "File" && err == nil && x.strangers[path] == "" {
				must(x.rt, os.WriteFile(path, append(b, '!'), 0o644))
				x.edited[path] = true
				x.note("  edited %s", filepath.Base(path))
			}
		}
	case "policy":
		if len(state.Roles) > 0 {
			act("PutRolePolicy", map[string]any{"RoleName": state.Roles[0].Name, "PolicyName": "theirs", "PolicyDocument": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}`})
		}
	case "retention":
		if len(state.LogGroups) > 0 {
			act("PutRetentionPolicy", map[string]any{"logGroupName": state.LogGroups[0].Name, "retentionInDays": 90})
		}
	case "delete group":
		if len(state.LogGroups) > 0 {
			act("DeleteLogGroup", map[string]any{"logGroupName": state.LogGroups[0].Name})
		}
	case "delete api":
		if len(state.Apis) > 0 {
			act("DeleteApi", map[string]any{"apiId": state.Apis[0].ID})
		}
	case "untag group":
		if len(state.LogGroups) > 0 {
			g := state.LogGroups[0]
			act("UntagResource", map[string]any{"resourceArn": "arn:aws:logs:eu-west-1:123456789012:log-group:" + g.Name, "tagKeys": []any{"reclaim:nonce"}})
		}
	}
}
