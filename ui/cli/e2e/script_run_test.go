package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"reclaim/providers/awssim"
)

// slow OPERATION makes the cloud execute the next one at once and answer it two seconds later.
func slowCall(ts *testscript.TestScript, _ bool, args []string) {
	addFault(ts, false, []string{fmt.Sprintf(`{"operation": %q, "kind": "answered-late", "delay": "2s", "times": 1}`, args[0])})
}

// interrupts CODE SIGNAL OPERATION COMMAND ARGS… runs a command, sends it a signal once the cloud was sent one more such
// operation, and wants its exit code.
func interrupts(ts *testscript.TestScript, _ bool, args []string) {
	sig, ok := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM}[args[1]]
	if !ok {
		ts.Fatalf("no signal %s", args[1])
	}
	during(ts, args[0], args[2], args[3:], func(c *exec.Cmd) { ts.Check(c.Process.Signal(sig)) })
}

// loses-store CODE OPERATION COMMAND ARGS… runs a command and takes the store's file away while such an operation is under
// way; it is back afterwards.
func losesStore(ts *testscript.TestScript, _ bool, args []string) {
	db, kept := ts.MkAbs(".reclaim/store.db"), ts.MkAbs(".reclaim/kept.db")
	during(ts, args[0], args[1], args[2:], func(*exec.Cmd) {
		ts.Check(os.Rename(db, kept))
		ts.Check(os.Mkdir(db, 0o700))
	})
	ts.Check(os.Remove(db))
	ts.Check(os.Rename(kept, db))
}

// during runs a command and does something while an operation is under way. Its output is what stdout and stderr see next.
func during(ts *testscript.TestScript, code, operation string, command []string, do func(*exec.Cmd)) {
	before := requests(ts, operation)
	var stdout, stderr bytes.Buffer
	c := exec.Command(command[0], command[1:]...)
	c.Dir, c.Stdout, c.Stderr = ts.MkAbs("."), &stdout, &stderr
	c.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"))
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_EC2_METADATA_DISABLED"} {
		c.Env = append(c.Env, name+"="+ts.Getenv(name))
	}
	ts.Check(c.Start())
	for end := time.Now().Add(patience); requests(ts, operation) == before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			c.Process.Kill()
			ts.Fatalf("%s was not sent", operation)
		}
	}
	do(c)
	err := c.Wait()
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	for name, text := range map[string]string{"out": stdout.String(), "err": stderr.String()} {
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
	ts.Check(ts.Exec("sh", "-c", "cat out; cat err >&2; rm out err")) // so that stdout and stderr are the command's
	if want, _ := strconv.Atoi(code); got != want {
		ts.Fatalf("exit code is %d, want %s\nstdout: %s\nstderr: %s", got, code, &stdout, &stderr)
	}
}

// requests counts the requests of an operation in the cloud's own log.
func requests(ts *testscript.TestScript, operation string) int {
	resp, err := http.Get(strings.TrimSuffix(ts.Getenv("AWS_ENDPOINT_URL"), "/") + "/_sim/log")
	ts.Check(err)
	defer resp.Body.Close()
	var log []awssim.Request
	ts.Check(json.NewDecoder(resp.Body).Decode(&log))
	n := 0
	for _, r := range log {
		if r.Operation == operation {
			n++
		}
	}
	return n
}
