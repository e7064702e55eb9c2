package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/providers/awssim"
	"reclaim/store"
)

// TestScripts runs testdata/scripts: every verb's success and its errors, with exit codes and the shape of --json.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "../../../testdata/scripts",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("MACHINE", store.MachineID())
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "json": jsonHolds, "same": storeSame, "hold": makeHold, "sim": startSim, "fault": addFault, "sent": wasSent,
			"mode": hasMode, "execution": setExecution, "slow": slowCall, "interrupts": interrupts, "loses-store": losesStore,
			"keyless": makeKeyless, "unusable": makeUnusable, "torn": makeTornHold,
		},
	})
}

// exits CODE COMMAND ARGS… runs a command and wants its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if neg == (got == want) {
		ts.Fatalf("exit code is %d, want %d\nstdout: %s\nstderr: %s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// json FILE PATH=VALUE … wants exactly one JSON value in the file, and in it a value at each path (a.b.0.c), which are
// compared as text; PATH=* wants it to be there, PATH@ is the length of a list.
func jsonHolds(ts *testscript.TestScript, neg bool, args []string) {
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	var doc any
	ts.Check(dec.Decode(&doc))
	if _, err := dec.Token(); err != io.EOF {
		ts.Fatalf("%s holds more than one JSON value", args[0])
	}
	for _, a := range args[1:] {
		path, want, _ := strings.Cut(a, "=")
		got, ok := at(doc, path)
		if hit := ok && (want == "*" || got == want); hit == neg {
			ts.Fatalf("%s is %s, want %s, in\n%s", path, got, want, ts.ReadFile(args[0]))
		}
	}
}

func at(doc any, path string) (string, bool) {
	path, length := strings.CutSuffix(path, "@")
	for step := range strings.SplitSeq(path, ".") {
		switch d := doc.(type) {
		case map[string]any:
			var ok bool
			if doc, ok = d[step]; !ok {
				return "absent", false
			}
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(d) {
				return "absent", false
			}
			doc = d[i]
		default:
			return "absent", false
		}
	}
	if list, ok := doc.([]any); ok && length {
		return strconv.Itoa(len(list)), true
	}
	if text, ok := doc.(string); ok {
		return text, true
	}
	b, _ := json.Marshal(doc)
	return string(b), true
}

// same DIR COMMAND ARGS… wants the command to leave every byte under DIR as it is, whatever its exit code.
func storeSame(ts *testscript.TestScript, neg bool, args []string) {
	before := sumOf(ts, args[0])
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		ts.Logf("%v", err)
	}
	if same := before == sumOf(ts, args[0]); same == neg {
		ts.Fatalf("%s left unchanged by %v: %v", args[0], args[1:], same)
	}
}

func sumOf(ts *testscript.TestScript, dir string) string {
	h := sha256.New()
	files := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		fmt.Fprintf(h, "%s %d\n%s", path, len(b), b)
		files++
		return err
	}))
	if files == 0 {
		ts.Fatalf("%s holds no file to compare", dir)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// hold NAME dead|running|elsewhere [STORE] makes a hold of execution e-NAME on the local stack NAME, as a crash leaves it.
func makeHold(ts *testscript.TestScript, _ bool, args []string) {
	s, err := store.Open(ts.MkAbs(slices.Concat(args[2:], []string{".reclaim"})[0]), store.Options{})
	ts.Check(err)
	defer s.Close()
	o := store.Owner()
	switch args[1] {
	case "dead":
		o.StartTick = "1"
	case "elsewhere":
		o.Host = "ci-7"
	}
	o.User = "ops"
	id := record.StackID{Name: args[0], Scope: resource.Scope{Partition: resource.LocalPartition, Account: store.MachineID()}}
	_, err = s.Acquire(context.Background(), record.Hold{Stack: id, Execution: "e-" + args[0], Verb: "deploy", Owner: o, Since: time.Now()})
	ts.Check(err)
}

// sim starts a simulated cloud and points the script at it; it ends with the script.
func startSim(ts *testscript.TestScript, _ bool, _ []string) {
	cloud, err := awssim.New(awssim.Config{ID: "sim-script"})
	ts.Check(err)
	url, err := cloud.Listen("127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { cloud.Close() })
	for k, v := range map[string]string{"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "simulated", "AWS_SECRET_ACCESS_KEY": "simulated",
		"AWS_REGION": "eu-west-1", "AWS_EC2_METADATA_DISABLED": "true"} {
		ts.Setenv(k, v)
	}
}

// fault JSON arms a fault of the simulated cloud.
func addFault(ts *testscript.TestScript, _ bool, args []string) {
	resp, err := http.Post(ts.Getenv("AWS_ENDPOINT_URL")+"/_sim/faults", "application/json", bytes.NewReader([]byte(args[0])))
	ts.Check(err)
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		b, _ := io.ReadAll(resp.Body)
		ts.Fatalf("fault: %s: %s", resp.Status, b)
	}
}

// sent N OPERATION wants the cloud's own log to hold exactly that many requests of an operation.
func wasSent(ts *testscript.TestScript, neg bool, args []string) {
	n := requests(ts, args[1])
	if want, _ := strconv.Atoi(args[0]); (n == want) == neg {
		ts.Fatalf("%s was sent %d times, want %s", args[1], n, args[0])
	}
}

// execution NAME [PATH] sets a variable to the execution that the JSON on stdout names, at result.execution or at PATH.
func setExecution(ts *testscript.TestScript, _ bool, args []string) {
	path := "result.execution"
	if len(args) > 1 {
		path = args[1]
	}
	var doc any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &doc))
	id, ok := at(doc, path)
	if !ok || !strings.HasPrefix(id, "e-") {
		ts.Fatalf("%s is %q, want an execution, in\n%s", path, id, ts.ReadFile("stdout"))
	}
	ts.Setenv(args[0], id)
}

// mode PERM FILE wants a file's permissions.
func hasMode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}
