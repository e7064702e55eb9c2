//go:build crash

// Package crashtest kills the real program at every crash point that a recorded run passes, against the simulated cloud,
// recovers as an operator would, and then asks the cloud, not the program, what became of everything.
//
// Its one rule: the points are recorded from an uncrashed run and each must really kill; a point that is not reached is a
// failure, and so is a run that ends before it.
package crashtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"reclaim/engine/crash"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/providers/awssim"
)

const (
	account  = "123456789012"
	region   = "eu-west-1"
	simID    = "crash"
	scope    = account + "/" + region + "+sim-" + simID
	stack    = "orders"
	scale    = "0.02" // of windows, deadlines and delays
	parallel = "1"    // the order of points is that of the recorded run
)

// scenario is a verb to be killed, what comes before it, and what an operator runs to bring it to an end.
type scenario struct {
	name   string
	before []string // templates deployed first, by name
	verb   string   // template to deploy, or "destroy"
	// faults make the killed run meet something that leaves an uncertain create, which a recover is then killed on.
	faults []awssim.Fault
	kill   string // "deploy", "destroy" or "recover": which command dies
}

var scenarios = []scenario{
	{name: "deploy", verb: "first", kill: "deploy"},
	{name: "update", before: []string{"first"}, verb: "updated", kill: "deploy"},
	{name: "replace", before: []string{"first"}, verb: "replaced", kill: "deploy"},
	{name: "destroy", before: []string{"first"}, verb: "destroy", kill: "destroy"},
	{name: "recover", verb: "first", kill: "recover", faults: []awssim.Fault{
		{Operation: "CreateRole", Kind: awssim.ExecutedUnanswered},
		{Operation: "CreateApi", Kind: awssim.ExecutedUnanswered},
		{Operation: "CreateLogGroup", Kind: awssim.NotExecutedUnanswered},
	}},
}

// allow gives every approval that any of the verbs needs.
var allow = []string{"--yes", "--scope", scope, "--parallel", parallel, "--allow-delete", "*"}

var allowReplace = []string{"--allow-replace", "OrdersRole", "--allow-replace", "OrdersLogs=delete-first", "--allow-replace", "Settings"}

// templates are the orders stack and changes of it, each of which must really change the text.
func templates(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile("../../../testdata/stacks/orders.yaml")
	if err != nil {
		t.Fatal(err)
	}
	first := string(b)
	change := func(text string, pairs ...string) string {
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(text, pairs[i]) {
				t.Fatalf("testdata/stacks/orders.yaml no longer holds %q, which this test changes", pairs[i])
			}
			text = strings.Replace(text, pairs[i], pairs[i+1], 1)
		}
		return text
	}
	return map[string]string{
		"first": first,
		"updated": change(first, "dev: {Days: 14}", "dev: {Days: 30}", "MaxSessionDuration: 3600", "MaxSessionDuration: 7200",
			"logs:CreateLogStream, logs:PutLogEvents", "logs:PutLogEvents", "policy/AmazonDynamoDBReadOnlyAccess", "policy/ReadOnlyAccess",
			"Takes orders and tells their state", "Takes orders", "AllowMethods: [GET, POST]", "AllowMethods: [GET]",
			"ORDERS_URL=", "URL="),
		"replaced": change(first, "Description: Runs the code", "Path: /orders/\n      Description: Runs the code",
			"LogGroupName: !Sub /orders/${Stage}", "LogGroupName: !Sub /orders/${Stage}\n      LogGroupClass: INFREQUENT_ACCESS",
			"/orders.env", "/settings.env"),
	}
}

// binary builds the program with its crash points, once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "reclaim-crash")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "reclaim")
	out, err := exec.Command("go", "build", "-tags", "crash", "-o", bin, "reclaim").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w: %s", err, out)
	}
	return bin, nil
})

// world is one place to deploy to: a folder, its store, and a simulated cloud with strangers in it.
type world struct {
	t     *testing.T
	bin   string
	dir   string
	sim   *awssim.Server
	url   string
	texts map[string]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	bin, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, bin: bin, dir: t.TempDir(), texts: templates(t)}
	must(t, os.Mkdir(w.path("stack"), 0o755))
	must(t, os.CopyFS(w.path("stack/src"), os.DirFS("../../../testdata/stacks/src")))
	w.openCloud()
	for _, a := range strangers {
		must(t, w.sim.Do(a))
	}
	return w
}

// strangers are objects of someone else, beside ours; nothing of them may ever change.
var strangers = []awssim.Action{
	{Op: "CreateRole", Params: map[string]any{"RoleName": "someone-else", "AssumeRolePolicyDocument": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`}},
	{Op: "CreateLogGroup", Region: region, Params: map[string]any{"logGroupName": "/someone/else"}},
	{Op: "CreateApi", Region: region, Params: map[string]any{"name": "orders-dev", "protocolType": "HTTP"}},
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) openCloud() {
	w.t.Helper()
	var err error
	w.sim, err = awssim.New(awssim.Config{Account: account, Region: region, ID: simID, StateFile: w.path("cloud.json"), Scale: 0.02})
	must(w.t, err)
	w.url, err = w.sim.Listen("127.0.0.1:0")
	must(w.t, err)
}

// save and restore keep the whole world, cloud included, at the same paths: local keys are absolute.
func (w *world) save(to string) {
	w.t.Helper()
	must(w.t, w.sim.Close())
	w.copy(w.dir, to)
	w.openCloud()
}

func (w *world) restore(from string) {
	w.t.Helper()
	must(w.t, w.sim.Close())
	must(w.t, os.RemoveAll(w.dir))
	w.copy(from, w.dir)
	w.openCloud()
}

// copy copies what is in a folder with its modes, which are params of files.
func (w *world) copy(from, to string) {
	w.t.Helper()
	must(w.t, os.MkdirAll(to, 0o755))
	if out, err := exec.Command("cp", "-a", from+"/.", to).CombinedOutput(); err != nil {
		w.t.Fatalf("cp: %v: %s", err, out)
	}
}

// answer is what --json prints.
type answer struct {
	Exit     int             `json:"exit"`
	Result   json.RawMessage `json:"result"`
	Problems json.RawMessage `json:"problems"`
	killed   bool
	text     string
}

// reclaim runs the program. env adds to its environment.
func (w *world) reclaim(env []string, args ...string) answer {
	w.t.Helper()
	cmd := exec.Command(w.bin, append(args, "--json")...)
	cmd.Dir = w.path("stack")
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "RECLAIM_STORE=" + w.path("store"), "RECLAIM_TIME_SCALE=" + scale,
		"AWS_ENDPOINT_URL=" + w.url, "AWS_REGION=" + region, "AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=secret",
		"AWS_EC2_METADATA_DISABLED=true"}, env...)
	var out, notes bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &notes
	err := cmd.Run()
	a := answer{text: fmt.Sprintf("reclaim %s\n%s%s", strings.Join(args, " "), out.String(), notes.String())}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Sys().(syscall.WaitStatus).Signaled() {
		a.killed = exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
		return a
	}
	if jerr := json.Unmarshal(out.Bytes(), &a); jerr != nil {
		w.t.Fatalf("%v; answer: %v", a.text, jerr)
	}
	return a
}

func (w *world) use(name string) {
	w.t.Helper()
	must(w.t, os.WriteFile(w.path("stack/orders.yaml"), []byte(w.texts[name]), 0o644))
}

// verb is the command line of a scenario's verb.
func (w *world) verb(name string) []string {
	if name == "destroy" {
		return append([]string{"destroy", stack}, w.allowed()...)
	}
	w.use(name)
	args := append([]string{"deploy", "orders.yaml"}, w.allowed()...)
	if name == "replaced" {
		args = append(args, allowReplace...)
	}
	return args
}

// allowed adds consent for the log group's events where there is one: an approval of what a plan does not have is an error.
func (w *world) allowed() []string {
	if slices.ContainsFunc(w.records(), func(r record.Record) bool { return r.ID == "OrdersLogs" }) {
		return append(slices.Clone(allow), "--allow-data-loss", "OrdersLogs")
	}
	return allow
}

// records returns what status says is recorded.
func (w *world) records() []record.Record {
	w.t.Helper()
	var st struct {
		Records []record.Record `json:"records"`
	}
	if a := w.reclaim(nil, "status", stack); a.Exit == 0 {
		must(w.t, json.Unmarshal(a.Result, &st))
	}
	return st.Records
}

// hold returns the hold on the stack, nil when there is none.
func (w *world) hold() *record.Hold {
	w.t.Helper()
	var st struct {
		Hold *record.Hold `json:"hold"`
	}
	a := w.reclaim(nil, "status", stack)
	if a.Exit != 0 || len(a.Result) == 0 || string(a.Result) == "null" {
		return nil // the stack is not known: nothing was committed
	}
	must(w.t, json.Unmarshal(a.Result, &st))
	return st.Hold
}

// takeArgs are the arguments of recover for the hold that a crash left.
func (w *world) takeArgs() []string {
	args := []string{"recover", stack, "--yes", "--scope", scope, "--parallel", parallel}
	if h := w.hold(); h != nil {
		args = append(args, "--take-hold", h.Execution)
	}
	return args
}

// recover does what an operator does after a crash: S19's set first, and where the table says that an operator must
// speak, what the cloud's own state says is right. The first look must send nothing for such a resource.
func (w *world) recover() {
	w.t.Helper()
	if w.hold() == nil && len(w.findings()) == 0 {
		return
	}
	sent := len(w.sim.Log())
	a := w.reclaim(nil, w.takeArgs()...)
	if a.Exit == 0 {
		return
	}
	if a.Exit != 3 {
		w.t.Fatalf("recover ended with %d:\n%s", a.Exit, a.text)
	}
	args := []string{"recover", stack, "--yes", "--scope", scope, "--parallel", parallel}
	said := len(args)
	for _, f := range w.findings() {
		if f.Auto && f.ID == "Secret" {
			continue // its retry needs a sensitive value that only the stack file has: the deploy that follows does it
		}
		for _, r := range w.sim.Log()[sent:] {
			if r.Changing && r.Operation == "CreateApi" && f.Type == "AWS::ApiGatewayV2::Api" {
				w.t.Fatalf("a create of %s was sent although its first may have been executed", f.ID)
			}
		}
		args = append(args, "--decide", f.ID+"="+w.right(f))
	}
	if len(args) == said {
		return
	}
	if a := w.reclaim(nil, args...); a.Exit != 0 {
		w.t.Fatalf("recover with decisions ended with %d:\n%s", a.Exit, a.text)
	}
}

func (w *world) findings() []recovery.Finding {
	w.t.Helper()
	var e struct {
		Findings []recovery.Finding `json:"findings"`
	}
	a := w.reclaim(nil, "recover", stack)
	if len(a.Result) > 0 && string(a.Result) != "null" {
		must(w.t, json.Unmarshal(a.Result, &e))
	}
	return e.Findings
}

// right is the decision that the cloud's own state shows to be right: a create that made nothing is sent again.
func (w *world) right(f recovery.Finding) string {
	w.t.Helper()
	if f.Row != "14" {
		w.t.Fatalf("%s is left to an operator by row %s (%s): %s", f.ID, f.Row, f.Verdict, f.Summary)
	}
	for _, a := range w.sim.State().Apis {
		if a.Tags["reclaim:resource"] == f.ID {
			w.t.Fatalf("the cloud holds %s for %s and recover did not find it", a.ID, f.ID)
		}
	}
	return string(record.Retry)
}

// finish runs the verb again to its end, as an operator would, and holds the world against what must be.
func (w *world) finish(name string) {
	w.t.Helper()
	if name == "destroy" && len(w.ours()) == 0 && len(w.records()) == 0 {
		w.wantDestroyed()
		return
	}
	if a := w.reclaim(nil, w.verb(name)...); a.Exit != 0 {
		w.t.Fatalf("going on ended with %d:\n%s", a.Exit, a.text)
	}
	if name == "destroy" {
		w.wantDestroyed()
		return
	}
	if a := w.reclaim(nil, "plan", "orders.yaml", "--detailed-exitcode"); a.Exit != 0 {
		w.t.Fatalf("the next plan is no noop: exit %d\n%s", a.Exit, a.text)
	}
	w.wantOnce()
}

// ours lists what the cloud holds that is not a stranger's, by kind.
func (w *world) ours() []string {
	var out []string
	s := w.sim.State()
	for _, r := range s.Roles {
		if r.Name != "someone-else" {
			out = append(out, "role")
		}
	}
	for _, g := range s.LogGroups {
		if g.Name != "/someone/else" {
			out = append(out, "log group")
		}
	}
	for _, a := range s.Apis {
		if len(a.Tags) > 0 {
			out = append(out, "api")
		}
	}
	slices.Sort(out)
	return out
}

// wantOnce asks the cloud: each resource exactly once, nothing of a stranger's touched.
func (w *world) wantOnce() {
	w.t.Helper()
	if got, want := w.ours(), []string{"api", "log group", "role"}; !slices.Equal(got, want) {
		w.t.Fatalf("the cloud holds %v, want %v", got, want)
	}
	for _, f := range []string{"webhook.key", "orders.zip"} {
		if _, err := os.Stat(w.path("stack/out/" + f)); err != nil {
			w.t.Fatal(err)
		}
	}
	w.wantStrangersUntouched()
}

func (w *world) wantDestroyed() {
	w.t.Helper()
	if got := w.ours(); len(got) != 0 {
		w.t.Fatalf("the cloud still holds %v", got)
	}
	left, _ := os.ReadDir(w.path("stack/out"))
	if len(left) != 0 {
		w.t.Fatalf("files are left: %v", left)
	}
	w.wantStrangersUntouched()
}

func (w *world) wantStrangersUntouched() {
	w.t.Helper()
	s := w.sim.State()
	foreign := 0
	for _, a := range s.Apis {
		if len(a.Tags) == 0 {
			foreign++
		}
	}
	if foreign != 1 || len(s.Roles) == 0 || len(s.LogGroups) == 0 {
		w.t.Fatalf("a stranger's object is gone: %+v", s)
	}
	for _, r := range w.sim.Log() {
		if r.Changing && (r.Target == "someone-else" || r.Target == "/someone/else") {
			w.t.Fatalf("a changing call went to a stranger's object: %+v", r)
		}
	}
}

// prepare brings a world to where the killed command begins.
func (w *world) prepare(sc scenario) {
	w.t.Helper()
	for _, name := range sc.before {
		if a := w.reclaim(nil, w.verb(name)...); a.Exit != 0 {
			w.t.Fatalf("deploy of %q ended with %d:\n%s", name, a.Exit, a.text)
		}
	}
	if sc.kill == "recover" {
		w.strand(sc)
	}
}

// strand leaves creates uncertain: each answer is lost, and the run is killed as soon as the last one was.
func (w *world) strand(sc scenario) {
	w.t.Helper()
	for _, f := range sc.faults {
		w.sim.AddFault(f)
	}
	if a := w.reclaim(nil, append(w.verb(sc.verb), "--strict")...); a.Exit != 3 {
		w.t.Fatalf("a strict deploy with lost answers ended with %d, want 3:\n%s", a.Exit, a.text)
	}
}

// command is the command line that is killed.
func (w *world) command(sc scenario) []string {
	if sc.kill == "recover" {
		w.use(sc.verb)
		return w.takeArgs()
	}
	return w.verb(sc.verb)
}

// record runs the command uncrashed and returns the points that it passed.
func (w *world) record(sc scenario) []string {
	w.t.Helper()
	file := w.path("points")
	a := w.reclaim([]string{"RECLAIM_CRASH_RECORD=" + file}, w.command(sc)...)
	if a.Exit != 0 && !(sc.kill == "recover" && a.Exit == 3) {
		w.t.Fatalf("the uncrashed run ended with %d:\n%s", a.Exit, a.text)
	}
	b, err := os.ReadFile(file)
	must(w.t, err)
	return strings.Fields(string(b))
}

// tally is what the harness did, printed at the end and checked for completeness.
type tally struct {
	mu    sync.Mutex
	kills map[string]int      // by scenario
	kinds map[crash.Point]int // by kind of point
}

var total = tally{kills: map[string]int{}, kinds: map[crash.Point]int{}}

func (c *tally) add(scenario, point string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kills[scenario]++
	kind, _, _ := strings.Cut(point, "@")
	c.kinds[crash.Point(kind)]++
}

// TestEveryPoint kills each scenario's command at every recorded point.
func TestEveryPoint(t *testing.T) {
	began := time.Now()
	t.Run("scenarios", func(t *testing.T) {
		for _, sc := range scenarios {
			t.Run(sc.name, func(t *testing.T) {
				t.Parallel()
				killEverywhere(t, sc)
			})
		}
	})
	for _, k := range crash.Points() {
		if total.kinds[k] == 0 && !t.Failed() {
			t.Errorf("no kill at any point of kind %q: it is never passed", k)
		}
	}
	t.Logf("kills by scenario %v, by kind of point %v, in %s", total.kills, total.kinds, time.Since(began).Round(time.Second))
}

func killEverywhere(t *testing.T, sc scenario) {
	w := newWorld(t)
	w.prepare(sc)
	start := t.TempDir()
	w.save(start)
	points := w.record(sc)
	if len(points) < 10 {
		t.Fatalf("only %d points were recorded: %v", len(points), points)
	}
	for _, p := range points {
		ok := t.Run(p, func(t *testing.T) {
			w.t = t
			defer func() { w.t = t }()
			w.restore(start)
			a := w.reclaim([]string{"RECLAIM_CRASH_AT=" + p}, w.command(sc)...)
			if !a.killed {
				t.Fatalf("the run was not killed at %s:\n%s", p, a.text)
			}
			total.add(sc.name, p)
			w.wantIntentBeforeCall(p)
			w.recover()
			w.finish(sc.verb)
		})
		if !ok {
			return // the first failing point of a scenario says enough
		}
	}
	w.t = t
}

// wantIntentBeforeCall: whenever the program is killed right before a create leaves it, its intent is on disk (S6).
func (w *world) wantIntentBeforeCall(point string) {
	w.t.Helper()
	kind, rest, _ := strings.Cut(point, "@")
	id, n, _ := strings.Cut(rest, "#")
	if crash.Point(kind) != crash.BeforeSend || n != "1" {
		return
	}
	for _, r := range w.records() {
		if r.ID == id && (r.Intent != nil && len(r.Intent.Attempts) > 0 || r.InFlight != nil) {
			return
		}
	}
	w.t.Fatalf("killed at %s, and no attempt of %s is on disk", point, id)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
