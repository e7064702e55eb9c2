//go:build crash

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

	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
)

const stack = "orders"

// cloud is the service that a world deploys to, asked past the program. Every question that cannot be answered fails the test.
type cloud interface {
	url() string
	scope() string // as --scope takes it
	// ours lists the kinds of the objects that are not a stranger's, sorted; whole those of the stack when all of it is there.
	ours(t *testing.T) []string
	whole() []string
	// made returns what there is of a resource whose ID the service assigns: the APIs that carry its ownership tag, the
	// integrations of our APIs.
	made(t *testing.T, id string) []string
	// assigned counts the objects with an assigned ID that the cloud was made to create so far.
	assigned(t *testing.T) int
	// wantStrangersUntouched fails the test where an object of someone else is not as it was.
	wantStrangersUntouched(t *testing.T)
}

// world is one place to deploy to: a folder, its store, and a cloud with strangers in it. Its methods do what an operator
// does, with the program and by asking the cloud.
type world struct {
	t        *testing.T
	cloud    cloud
	dir      string
	scale    string // of windows, deadlines and delays
	parallel string
	texts    map[string]string
}

// newWorld lays out the folder; the cloud is the caller's to set.
func newWorld(t *testing.T, scale, parallel string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), scale: scale, parallel: parallel, texts: templates(t)}
	must(t, os.Mkdir(w.path("stack"), 0o755))
	must(t, os.CopyFS(w.path("stack/src"), os.DirFS("../../../testdata/stacks/src")))
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// buildDir is where the program is built; TestMain makes it and takes it away.
var buildDir string

// binary is the program with its crash points, built once.
var binary = sync.OnceValues(func() (string, error) {
	bin := filepath.Join(buildDir, "reclaim")
	out, err := exec.Command("go", "build", "-tags", "crash", "-o", bin, "reclaim").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w: %s", err, out)
	}
	return bin, nil
})

// templates are the orders stack and changes of it, each of which must really change the text.
func templates(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile("../../../testdata/stacks/orders.yaml")
	must(t, err)
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
			"logs:CreateLogStream, logs:PutLogEvents", "logs:PutLogEvents", "Description: Takes orders and tells their state\n      Runtime",
			"Description: Takes orders\n      Runtime", "Timeout: 10", "Timeout: 20", "AllowMethods: [GET, POST]", "AllowMethods: [GET]",
			"TimeoutInMillis: 15000", "TimeoutInMillis: 16000", "RouteKey: GET /orders", "RouteKey: GET /orders/{id}", "Audience: [orders]",
			"Audience: [shop]", "ThrottlingBurstLimit: 100", "ThrottlingBurstLimit: 200", "rate(1 hour)", "rate(2 hours)",
			"close-unpaid", "close-old", "ORDERS_URL=", "URL="),
		"replaced": change(first, "Description: Runs the code", "Path: /orders/\n      Description: Runs the code",
			"LogGroupName: !Sub /orders/${Stage}", "LogGroupName: !Sub /orders/${Stage}\n      LogGroupClass: INFREQUENT_ACCESS",
			"${OrdersApi}/*", "${OrdersApi}/$default/*", "/orders.env", "/settings.env"),
		// moto neither serves authorizers whole nor keeps where a function logs (docs/aws-fidelity.md).
		"for moto": change(first, authorizerOf(t, first), "", "      AuthorizationType: JWT\n      AuthorizerId: !Ref OrdersAuthorizer\n", "",
			"      LoggingConfig: {LogFormat: JSON, LogGroup: !Ref OrdersLogs}\n", ""),
		"moved": change(first, "Description: Runs the code", "Path: /orders/\n      Description: Runs the code"),
	}
}

// authorizerOf is the part of a template that makes the authorizer.
func authorizerOf(t *testing.T, text string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, "  OrdersAuthorizer:\n")
	part, _, ended := strings.Cut(rest, "\n\n")
	if !found || !ended {
		t.Fatal("testdata/stacks/orders.yaml no longer has its authorizer")
	}
	return "  OrdersAuthorizer:\n" + part + "\n\n"
}

// answer is what --json prints.
type answer struct {
	Exit     int             `json:"exit"`
	Result   json.RawMessage `json:"result"`
	Problems json.RawMessage `json:"problems"`
	killed   bool
	text     string
}

// run is one run of the program.
type run struct {
	w     *world
	cmd   *exec.Cmd
	out   bytes.Buffer
	notes bytes.Buffer
}

// start starts the program. env adds to its environment.
func (w *world) start(env []string, args ...string) *run {
	w.t.Helper()
	bin, err := binary()
	must(w.t, err)
	r := &run{w: w, cmd: exec.Command(bin, append(args, "--json")...)}
	r.cmd.Dir = w.path("stack")
	r.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "RECLAIM_STORE=" + w.path("store"), "RECLAIM_TIME_SCALE=" + w.scale,
		"AWS_ENDPOINT_URL=" + w.cloud.url(), "AWS_REGION=" + region, "AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=secret",
		"AWS_EC2_METADATA_DISABLED=true"}, env...)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.notes
	must(w.t, r.cmd.Start())
	return r
}

// wait waits for the run's end and reads its answer; a run that was killed has none.
func (r *run) wait() answer {
	r.w.t.Helper()
	err := r.cmd.Wait()
	a := answer{text: fmt.Sprintf("%s\n%s%s", strings.Join(r.cmd.Args, " "), r.out.String(), r.notes.String())}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Sys().(syscall.WaitStatus).Signaled() {
		a.killed = exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
		return a
	}
	if jerr := json.Unmarshal(r.out.Bytes(), &a); jerr != nil {
		r.w.t.Fatalf("%v; answer: %v", a.text, jerr)
	}
	return a
}

// reclaim runs the program to its end.
func (w *world) reclaim(env []string, args ...string) answer {
	w.t.Helper()
	return w.start(env, args...).wait()
}

func (w *world) use(name string) {
	w.t.Helper()
	must(w.t, os.WriteFile(w.path("stack/orders.yaml"), []byte(w.texts[name]), 0o644))
}

// consent are the flags that every changing verb gets.
func (w *world) consent() []string {
	return []string{"--yes", "--scope", w.cloud.scope(), "--parallel", w.parallel}
}

// verb is the command line of a verb: a template to deploy, by name, "destroy", or "rollback" of the last deploy, with every
// approval that it needs.
func (w *world) verb(name string) []string {
	w.t.Helper()
	if name == "rollback" {
		return w.rollbackArgs(w.lastDeploy())
	}
	args := append(w.consent(), "--allow-delete", "*")
	for _, r := range w.records() { // an approval of what a plan does not have is an error
		if r.ID == "OrdersLogs" || r.ID == "OrdersTable" {
			args = append(args, "--allow-data-loss", r.ID)
		}
		if r.Origin == record.Presumed { // a file that was killed between its link and its acknowledgement
			args = append(args, "--allow-presumed", r.ID)
		}
	}
	if name == "destroy" {
		return append([]string{"destroy", stack}, args...)
	}
	w.use(name)
	if name == "moved" {
		args = append(args, "--allow-replace", "OrdersRole", "--allow-replace", "OrdersTracing")
	}
	if name == "replaced" {
		args = append(args, "--allow-replace", "OrdersRole", "--allow-replace", "OrdersLogs=delete-first", "--allow-replace", "Settings",
			"--allow-replace", "OrdersTracing", "--allow-replace", "ApiMayCall")
	}
	return append([]string{"deploy", "orders.yaml"}, args...)
}

// status is what the program says is recorded and who holds the stack: nothing where nothing was committed.
func (w *world) status() (records []record.Record, hold *record.Hold) {
	w.t.Helper()
	var st struct {
		Records []record.Record `json:"records"`
		Hold    *record.Hold    `json:"hold"`
	}
	if a := w.reclaim(nil, "status", stack); a.Exit == 0 && len(a.Result) > 0 {
		must(w.t, json.Unmarshal(a.Result, &st))
	}
	return st.Records, st.Hold
}

func (w *world) records() []record.Record {
	w.t.Helper()
	records, _ := w.status()
	return records
}

func (w *world) hold() *record.Hold {
	w.t.Helper()
	_, hold := w.status()
	return hold
}

func (w *world) findings() []recovery.Finding {
	w.t.Helper()
	var e struct {
		Findings []recovery.Finding `json:"findings"`
	}
	if a := w.reclaim(nil, "recover", stack); len(a.Result) > 0 {
		must(w.t, json.Unmarshal(a.Result, &e))
	}
	return e.Findings
}

// recoverArgs are the arguments of recover, taking the hold that a crash left.
func (w *world) recoverArgs(hold *record.Hold) []string {
	args := append([]string{"recover", stack}, w.consent()...)
	if hold != nil {
		args = append(args, "--take-hold", hold.Execution)
	}
	return args
}

// recover does what an operator does after a crash: S19's set first, and where the table says that an operator must
// speak, what the cloud's own state says is right. The first look must send nothing for such a resource.
func (w *world) recover() {
	w.t.Helper()
	hold := w.hold()
	if hold == nil && len(w.findings()) == 0 {
		return
	}
	before := w.cloud.assigned(w.t)
	a := w.reclaim(nil, w.recoverArgs(hold)...)
	if a.Exit == 0 || a.Exit == 4 && a.wantsSecrets() {
		return
	}
	if a.Exit != 3 {
		w.t.Fatalf("recover ended with %d:\n%s", a.Exit, a.text)
	}
	var decide []string
	for _, f := range w.findings() {
		if f.Auto && (f.ID == "Secret" || f.ID == "OrdersFn") {
			continue // as wantsSecrets says
		}
		if f.Class == resource.Assigned && w.cloud.assigned(w.t) != before {
			w.t.Fatalf("a create of %s was sent although its first may have been executed", f.ID)
		}
		decide = append(decide, "--decide", f.ID+"="+w.right(f, a))
	}
	if len(decide) == 0 {
		return
	}
	if a := w.reclaim(nil, append(w.recoverArgs(nil), decide...)...); a.Exit != 0 {
		w.t.Fatalf("recover with decisions ended with %d:\n%s", a.Exit, a.text)
	}
}

// wantsSecrets reports whether all that a recover left is retries that need a sensitive value, which only the stack file
// has: the deploy that follows does them.
func (a answer) wantsSecrets() bool {
	var res struct {
		Items []struct{ Result, Reason string } `json:"items"`
	}
	if json.Unmarshal(a.Result, &res) != nil {
		return false
	}
	return !slices.ContainsFunc(res.Items, func(it struct{ Result, Reason string }) bool {
		return it.Result != "done" && !(it.Result == "blocked" && strings.Contains(it.Reason, "sensitive values"))
	})
}

// right is the decision that the cloud's own state shows to be right: a create that made nothing is sent again.
func (w *world) right(f recovery.Finding, after answer) string {
	w.t.Helper()
	if f.Row != "14" {
		w.t.Fatalf("%s is left to an operator by row %s (%s): %s\n%s", f.ID, f.Row, f.Verdict, f.Summary, after.text)
	}
	if there := w.cloud.made(w.t, f.ID); len(there) > 0 {
		w.t.Fatalf("the cloud holds %v for %s and recover did not find it", there, f.ID)
	}
	return string(record.Retry)
}

// waited reports whether a run stopped only at what its plan had to wait for: after the wait something is to be done that
// the plan could not show, and a run does nothing that no plan showed.
func (a answer) waited() bool {
	var res struct {
		Items []struct{ Action, Result string } `json:"items"`
	}
	if json.Unmarshal(a.Result, &res) != nil {
		return false
	}
	waited := false
	for _, it := range res.Items {
		switch {
		case it.Action == "wait" && (it.Result == "blocked" || it.Result == "stale"):
			waited = true
		case it.Result == "blocked" || it.Result == "stale" || it.Result == "failed":
			return false
		}
	}
	return waited
}

// finish runs the verb again to its end, as an operator would, and holds the world against what must be.
func (w *world) finish(name string) {
	w.t.Helper()
	if name == "destroy" && len(w.cloud.ours(w.t)) == 0 && len(w.records()) == 0 {
		w.wantDestroyed()
		return
	}
	a := w.reclaim(nil, w.verb(name)...)
	if a.Exit == 4 && a.waited() {
		a = w.reclaim(nil, w.verb(name)...) // what the plan could only wait for is planned now
	}
	if a.Exit != 0 {
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

// whole is what a cloud holds of the stack, by kind.
var whole = []string{"api", "attachment", "authorizer", "function", "integration", "log group", "permission", "permission", "role", "route", "route",
	"rule", "stage", "table"}

// wantOnce asks the cloud: each resource exactly once, nothing of a stranger's touched.
func (w *world) wantOnce() {
	w.t.Helper()
	if got, want := w.cloud.ours(w.t), w.cloud.whole(); !slices.Equal(got, want) {
		w.t.Fatalf("the cloud holds %v, want %v", got, want)
	}
	for _, f := range []string{"webhook.key", "orders.zip"} {
		if _, err := os.Stat(w.path("stack/out/" + f)); err != nil {
			w.t.Fatal(err)
		}
	}
	w.cloud.wantStrangersUntouched(w.t)
}

func (w *world) wantDestroyed() {
	w.t.Helper()
	if got := w.cloud.ours(w.t); len(got) != 0 {
		w.t.Fatalf("the cloud still holds %v", got)
	}
	left, _ := os.ReadDir(w.path("stack/out"))
	if len(left) != 0 {
		w.t.Fatalf("files are left: %v", left)
	}
	w.cloud.wantStrangersUntouched(w.t)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
