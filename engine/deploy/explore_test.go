package deploy_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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

// thing is one object in the cloud.
type thing struct {
	name, kind, unique, json string
	tags                     map[string]string
	stranger                 bool
}

// things are all objects in the cloud.
func (w *world) things() []thing {
	var out []thing
	add := func(kind, name, unique string, madeBy int, tags map[string]string, v any) {
		b, err := json.Marshal(v)
		must(w.t, err)
		out = append(out, thing{name, kind, unique, string(b), tags, madeBy == 0})
	}
	s := w.sim.State()
	for _, r := range s.Roles {
		add("Role", r.Name, r.ID, r.MadeBy, r.Tags, r)
	}
	for _, a := range s.Apis {
		add("Api", a.ID, a.ID, a.MadeBy, a.Tags, a)
	}
	for _, g := range s.LogGroups {
		add("Logs", g.Name, g.CreatedAt.UTC().String(), g.MadeBy, g.Tags, g)
	}
	return out
}

// foreign is what strangers made, as it is, and what they put on ours.
func (x *explorer) foreign() map[string]string {
	out := map[string]string{}
	for _, o := range x.things() {
		if o.stranger {
			out[o.kind+" "+o.unique] = o.json
		}
	}
	for _, r := range x.sim.State().Roles {
		if doc := r.Inline["theirs"]; doc != "" {
			out["policy on "+r.Name] = doc
		}
	}
	for path := range x.strangers {
		b, _ := os.ReadFile(path)
		out[path] = string(b)
	}
	return out
}

// check holds the promises after a run of ours.
func (x *explorer) check(before map[string]string) {
	after := x.foreign()
	for k, was := range before {
		if now := after[k]; now != was {
			x.rt.Errorf("a stranger's %s was\n%s\nand is\n%s", k, was, now)
		}
	}
	for path := range x.edited {
		if b, err := os.ReadFile(path); err == nil {
			if !strings.HasSuffix(string(b), "!") { // a deploy whose plan showed it has restored it
				delete(x.edited, path)
			}
			continue
		}
		x.rt.Errorf("%s was deleted, though a stranger had edited it", path)
		delete(x.edited, path)
	}
	x.known()
	if x.rt.Failed() {
		x.rt.Fatal("broken after:\n" + strings.Join(x.log, "\n"))
	}
}

// known: every live object that we made is in a record or a tombstone, and none twice under one nonce.
func (x *explorer) known() {
	s := x.state()
	nonces, keys := map[string]string{}, map[string]string{}
	for _, r := range s.Records {
		at := fmt.Sprintf("%s/%d", r.ID, r.Gen)
		nonces[r.Nonce], keys[r.ID+" "+r.Physical] = at, at
		if r.Intent != nil {
			nonces[r.Intent.Nonce] = at
		}
		for _, f := range r.Former {
			nonces[f.Nonce] = at
		}
	}
	for _, tomb := range s.Tombs {
		at := fmt.Sprintf("tombstone %s/%d", tomb.ID, tomb.Gen)
		for _, n := range tomb.Nonces {
			nonces[n] = at
		}
		keys[tomb.ID+" "+anyPart(tomb.Key)] = at
	}
	delete(nonces, "")
	seen := map[string]string{}
	for _, o := range x.things() {
		nonce := o.tags[resource.TagNonce]
		if o.stranger {
			continue
		}
		if nonces[nonce] == "" && keys[o.kind+" "+o.name] == "" {
			x.rt.Errorf("%s %s (nonce %q) is in no record and no tombstone", o.kind, o.name, nonce)
		}
		if other := seen[nonce]; nonce != "" && other != "" {
			x.rt.Errorf("%s and %s carry one nonce", o.name, other)
		}
		seen[nonce] = o.name
	}
}

// anyPart is the name in a key of a cloud type, each of which has one part.
func anyPart(k resource.Key) string {
	for _, v := range k {
		return v
	}
	return ""
}

// converge ends all trouble and brings everything to its end, as an operator with the cloud's truth would.
func (x *explorer) converge() {
	x.note("converge")
	x.sim.ClearFaults()
	x.dying = nil
	for _, r := range x.res {
		r.policy = ""
	}
	time.Sleep(5 * time.Millisecond) // what is executed late is executed by then
	for round := range 12 {
		x.tidy()
		x.elapse()
		if x.state().Hold != nil || len(x.findings()) > 0 {
			x.ours(x.resolve)
		}
		x.ours(func(e deploy.Env) { x.deployAll(e, nil) })
		if x.settled() {
			break
		}
		if round == 11 {
			x.rt.Fatal("it does not converge:\n" + strings.Join(x.log, "\n"))
		}
	}
	x.once()
}

// tidy lets strangers take away what is in our way.
func (x *explorer) tidy() {
	do := func(op string, params map[string]any) {
		must(x.rt, x.sim.Do(awssim.Action{Op: op, Region: "eu-west-1", Params: params}))
	}
	s := x.sim.State()
	for _, g := range s.LogGroups {
		if g.MadeBy == 0 {
			do("DeleteLogGroup", map[string]any{"logGroupName": g.Name})
		}
	}
	for _, a := range s.Apis {
		if a.MadeBy == 0 {
			do("DeleteApi", map[string]any{"apiId": a.ID})
		}
	}
	for _, r := range s.Roles {
		if r.Inline["theirs"] != "" {
			do("DeleteRolePolicy", map[string]any{"RoleName": r.Name, "PolicyName": "theirs"})
		}
	}
	for path := range x.strangers {
		must(x.rt, os.Remove(path))
		delete(x.strangers, path)
	}
	for path := range x.edited { // the operator is content with a deploy that restores it, or takes it away himself
		must(x.rt, os.Remove(path))
		delete(x.edited, path)
	}
}

// resolve decides by the cloud's truth.
func (x *explorer) resolve(e deploy.Env) {
	var ds []record.Decision
	for _, f := range x.sorted() {
		for _, c := range []record.Choice{record.Reclaim, record.Retry, record.DeleteIt, record.Abandon} {
			o, ok := f.Option(c, "")
			if f.Auto || !ok {
				continue
			}
			x.note("  %s row %s %s: %s %s", f.ID, f.Row, f.Verdict, c, o.Physical)
			ds = append(ds, decide(f, c, o.Physical))
			break
		}
	}
	x.recovering(e, deploy.RecoverRequest{Auto: true, Decide: ds, AllowDataLoss: allIDs})
}

// settled reports whether the next plan is all noop.
func (x *explorer) settled() bool {
	p := x.plan(x.graph(x.text()))
	for _, it := range p.Items {
		if it.Action != plan.Noop {
			x.note("  next: %s %d %s: %s", it.ID, it.Gen, it.Action, it.Detail)
			x.unblock(it)
			return false
		}
	}
	return x.state().Hold == nil
}

// unblock does what an operator has to do himself: rename what a policy keeps under its name, say which of several kept
// objects is meant, and take away a file that was given up or kept, whose owner nothing tells.
func (x *explorer) unblock(it plan.Item) {
	switch {
	case it.Action == plan.Blocked && (strings.Contains(it.Detail, "rename it") || strings.Contains(it.Detail, "choose another name")):
		x.res[it.ID].place += 2
	case it.Action == plan.Blocked && it.Reason == plan.Uncertain && strings.Contains(it.Detail, "carry this resource's tags"):
		for _, a := range x.sim.State().Apis {
			if a.Tags[resource.TagResource] == it.ID {
				x.adopt = map[string]string{it.ID: a.ID}
			}
		}
	case it.Action == plan.Blocked && it.Reason == plan.Foreign && strings.HasPrefix(it.Type, "Std::FS::"):
		must(x.rt, os.Remove(it.Physical))
	case it.Action == plan.Blocked && it.Reason == plan.Foreign: // strangers' objects are gone by now: it is ours, without its tags
		x.adopt = map[string]string{it.ID: it.Physical}
	}
}

// once: the cloud holds what the template names, each once, and nothing else of ours that no tombstone or former intent
// accounts for.
func (x *explorer) once() {
	s := x.state()
	spare := map[string]bool{}
	for _, tomb := range s.Tombs {
		for _, n := range tomb.Nonces {
			spare[n] = true
		}
		spare[tomb.ID+" "+anyPart(tomb.Key)] = true
	}
	current := map[string]record.Record{}
	for _, r := range s.Records {
		current[r.ID] = r
		for _, f := range r.Former {
			spare[f.Nonce] = true
		}
	}
	count := map[string]int{}
	for _, o := range x.things() {
		r, ok := current[o.kind]
		switch {
		case ok && r.Physical == o.name:
			count[o.kind]++
		case !spare[o.tags[resource.TagNonce]] && !spare[o.kind+" "+o.name]:
			x.rt.Errorf("%s %s is left over, and nothing accounts for it", o.kind, o.name)
		}
	}
	for _, path := range []string{current["File"].Key["Path"], current["Zip"].Key["Path"]} {
		if _, err := os.Lstat(path); err == nil {
			count[map[bool]string{true: "File", false: "Zip"}[path == current["File"].Key["Path"]]]++
		}
	}
	for id, r := range x.res {
		if want := map[bool]int{true: 1}[r.in]; count[id] != want {
			x.rt.Errorf("%d objects of %s, want %d", count[id], id, want)
		}
	}
	if x.rt.Failed() {
		x.rt.Fatal("broken after:\n" + strings.Join(x.log, "\n"))
	}
}

// mortal is a process that dies at its n-th act: a commit or a changing call, before or after it. A dead process
// changes nothing any more, neither in the store nor in the cloud.
type mortal struct {
	mu   sync.Mutex
	left int
}

var errDead = errors.New("the process is dead")

// act counts one act, and reports whether the process is dead.
func (m *mortal) act() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left--; m.left < 0 {
		return errDead
	}
	return nil
}

func (m *mortal) cloud(c resource.Cloud) resource.Cloud {
	return &hookedCloud{Cloud: c,
		changing: func(string, string) error { return m.act() },
		answered: func(_, _ string, err error) error { return cmp.Or(m.act(), err) }}
}

type mortalStore struct {
	record.Store
	m *mortal
}

func (s mortalStore) Write(ctx context.Context, f record.Fence, fn func(record.Tx) error) error {
	if err := s.m.act(); err != nil {
		return err
	}
	if err := s.Store.Write(ctx, f, fn); err != nil {
		return err
	}
	return s.m.act()
}

func (s mortalStore) Read(ctx context.Context, f func(record.View) error) error {
	s.m.mu.Lock()
	dead := s.m.left < 0
	s.m.mu.Unlock()
	if dead {
		return errDead
	}
	return s.Store.Read(ctx, f)
}

func (s mortalStore) Release(ctx context.Context, f record.Fence, e record.Execution) error {
	if err := s.m.act(); err != nil {
		return err
	}
	return s.Store.Release(ctx, f, e)
}

func (s mortalStore) AddEvidence(context.Context, record.Evidence) error {
	return s.m.act()
}

func (s mortalStore) Emergency([]record.Evidence) (string, error) { return "", errDead }
