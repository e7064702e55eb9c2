package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"reclaim/providers/awssim"
)

// scope is where the simulated cloud is.
const scope = "123456789012/eu-west-1"

// patience is how long a test waits for what must come; it ends a hang, and asserts no speed.
const patience = 90 * time.Second

// world is a folder, a simulated cloud, and the environment that leads the program to both.
type world struct {
	t     *testing.T
	dir   string
	cloud *awssim.Server
	env   []string
	gate  atomic.Pointer[gate]
}

// gate holds answers back until it is opened; the cloud has executed the calls then.
type gate struct {
	operation string
	open      chan struct{}
}

// hold makes the cloud execute an operation and not answer it until release is called.
func (w *world) hold(operation string) (release func()) {
	g := &gate{operation, make(chan struct{})}
	w.gate.Store(g)
	return sync.OnceFunc(func() { close(g.open) })
}

// serve is the cloud, behind the gate. The gate knows the operations of IAM, which name themselves in the body.
func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	g := w.gate.Load()
	if g == nil || !bytes.Contains(body, []byte("Action="+g.operation+"&")) {
		w.cloud.ServeHTTP(rw, r)
		return
	}
	answer := httptest.NewRecorder()
	w.cloud.ServeHTTP(answer, r)
	select {
	case <-g.open:
	case <-r.Context().Done():
		return
	}
	for k, v := range answer.Header() {
		rw.Header()[k] = v
	}
	rw.WriteHeader(answer.Code)
	rw.Write(answer.Body.Bytes())
}

func newWorld(t *testing.T) *world {
	t.Helper()
	cloud, err := awssim.New(awssim.Config{ID: "sim-e2e"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cloud.Close() })
	w := &world{t: t, dir: t.TempDir(), cloud: cloud}
	front := httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(front.Close)
	t.Cleanup(front.CloseClientConnections) // first: an answer that is held back is given up with its connection
	tmp := filepath.Join(w.dir, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	w.env = append(cleanEnv(w.dir), "TMPDIR="+tmp, "AWS_ENDPOINT_URL="+front.URL, "AWS_ACCESS_KEY_ID=simulated",
		"AWS_SECRET_ACCESS_KEY=simulated", "AWS_REGION=eu-west-1", "AWS_EC2_METADATA_DISABLED=true")
	return w
}

// cleanEnv is the environment of a user of this machine who has a home and nothing set up: no account, no store, no wishes.
func cleanEnv(home string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "AWS_") || strings.HasPrefix(name, "RECLAIM_") || strings.HasPrefix(name, "TMUX") ||
			slices.Contains([]string{"CI", "NO_COLOR", "HOME", "TERM", "TMPDIR"}, name)
	})
	return append(env, "HOME="+home, "TERM=xterm-256color")
}

// file writes a file into the world's folder.
func (w *world) file(name, content string) string {
	w.t.Helper()
	return write(w.t, w.dir, name, content)
}

// example copies one of the example stacks into the world's folder.
func (w *world) example(name string) {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join("../../../testdata/stacks", name))
	if err != nil {
		w.t.Fatal(err)
	}
	w.file(name, string(b))
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// late makes the cloud execute an operation at once and answer it only after so long.
func (w *world) late(operation string, after time.Duration) {
	w.cloud.AddFault(awssim.Fault{Operation: operation, Kind: awssim.AnsweredLate, Delay: after})
}

// sent counts the requests of an operation in the cloud's own log.
func (w *world) sent(operation string) int {
	n := 0
	for _, r := range w.cloud.Log() {
		if r.Operation == operation {
			n++
		}
	}
	return n
}

// changes counts the requests that may have changed anything.
func (w *world) changes() int {
	n := 0
	for _, r := range w.cloud.Log() {
		if r.Changing {
			n++
		}
	}
	return n
}

// process is a running program.
type process struct {
	w      *world
	cmd    *exec.Cmd
	stdout output
	stderr output
	ended  chan struct{}
}

// output collects what a process writes while it runs.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// start starts the program without a terminal.
func (w *world) start(args ...string) *process { return w.startAs(program, args...) }

func (w *world) startAs(name string, args ...string) *process {
	w.t.Helper()
	p := &process{w: w, cmd: exec.Command(name, args...), ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = w.dir, w.env
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		p.cmd.Wait()
		close(p.ended)
	}()
	w.t.Cleanup(func() { p.cmd.Process.Kill(); <-p.ended })
	return p
}

// signal sends the process a signal.
func (p *process) signal(s syscall.Signal) {
	p.w.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.w.t.Fatalf("send %s: %v\n%s", s, err, p.stderr.String())
	}
}

// wait returns the exit code; 128 and the signal's number for a process that a signal ended, as a shell says it.
func (p *process) wait() int {
	p.w.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.w.t.Fatalf("%v does not end\nstdout: %s\nstderr: %s", p.cmd.Args, p.stdout.String(), p.stderr.String())
	}
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

// result is what a program left that has ended.
type result struct {
	code           int
	stdout, stderr string
}

func (p *process) result() result {
	p.w.t.Helper()
	code := p.wait()
	return result{code, p.stdout.String(), p.stderr.String()}
}

// run runs the program to its end.
func (w *world) run(args ...string) result {
	w.t.Helper()
	return w.start(args...).result()
}

// ok runs the program and wants it to exit with a code.
func (w *world) exits(code int, args ...string) result {
	w.t.Helper()
	r := w.run(args...)
	if r.code != code {
		w.t.Fatalf("%v: exit %d, want %d\nstdout: %s\nstderr: %s", args, r.code, code, r.stdout, r.stderr)
	}
	return r
}

// answer is the one JSON value that a command prints.
type answer struct {
	Command  string
	Exit     int
	Stack    string
	Problems []struct {
		Exit    int
		ID      string
		Message string
	}
}

// decode reads the one JSON value on stdout, its result into result.
func (r result) decode(t *testing.T, into any) answer {
	t.Helper()
	var a struct {
		answer
		Result json.RawMessage
	}
	dec := json.NewDecoder(strings.NewReader(r.stdout))
	if err := dec.Decode(&a); err != nil {
		t.Fatalf("decode the answer: %v\nstdout: %s\nstderr: %s", err, r.stdout, r.stderr)
	}
	if dec.More() {
		t.Errorf("stdout holds more than one value:\n%s", r.stdout)
	}
	if a.Exit != r.code {
		t.Errorf("the answer says exit %d, the process exits %d", a.Exit, r.code)
	}
	if into != nil {
		if err := json.Unmarshal(a.Result, into); err != nil {
			t.Fatalf("decode the result: %v\n%s", err, a.Result)
		}
	}
	return a.answer
}

// status is what `reclaim status --json` says of the one stack there is.
type status struct {
	Stack string
	Hold  *struct {
		Execution string
		Alive     string
		Owner     struct{ PID int }
	}
	Last *struct {
		ID, Verb, Result string
	}
	Counts    map[string]int
	Uncertain []string
	Tombs     int `json:"tombstones"`
	Next      []string
}

func (w *world) status() status {
	w.t.Helper()
	var list []status
	w.exits(0, "status", "--json").decode(w.t, &list)
	if len(list) != 1 {
		w.t.Fatalf("status knows %d stacks, want 1", len(list))
	}
	return list[0]
}

// until waits for a condition. What it waits for is in the message when it does not come.
func (w *world) until(what string, come func() bool) {
	w.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if come() {
			return
		}
	}
	w.t.Fatalf("still not so: %s", what)
}

// wants fails unless text holds every part.
func wants(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s does not say %q:\n%s", what, p, text)
		}
	}
}

// kill ends the process as a crash does.
func (p *process) kill() {
	p.w.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.w.t.Fatal(err)
	}
	<-p.ended
}
