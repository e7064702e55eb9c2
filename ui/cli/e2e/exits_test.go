package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reclaim/engine/deploy"
)

// Every exit code that the program's help names is reached by a script: what is added to it must be reached too.
func TestEveryExitCodeIsReached(t *testing.T) {
	scripts, err := filepath.Glob("../../../testdata/scripts/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	var all strings.Builder
	for _, f := range scripts {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	help, err := exec.Command(program, "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(help), "Exit codes:")
	list, _, end := strings.Cut(list, "Several at once")
	if !found || !end {
		t.Fatalf("--help lists no exit codes:\n%s", help)
	}
	var named []string
	for _, code := range regexp.MustCompile(`\b[0-9]+\b`).FindAllString(list, -1) {
		named = append(named, code)
		if reached := regexp.MustCompile(`(?m)^(exits|interrupts|loses-store) ` + code + ` `); code != "0" && !reached.MatchString(all.String()) {
			t.Errorf("exit code %s: no script reaches it", code)
		}
	}
	for _, code := range []int{deploy.ExitDone, deploy.ExitError, deploy.ExitChanges, deploy.ExitUncertain, deploy.ExitBlocked, deploy.ExitHeld,
		deploy.ExitStore, deploy.ExitInterrupted, 143} {
		if !slices.Contains(named, strconv.Itoa(code)) {
			t.Errorf("--help does not name exit code %d:\n%s", code, help)
		}
	}
}

// The verdict in the text, the JSON, and the exit code of the process say the same.
func TestTextAndJSONEndWithTheSameCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.crash()
	hold := w.status().Hold.Execution
	for _, args := range [][]string{
		{"status"}, {"state", "list"}, {"hold", "show"}, {"plan", "checkout.yaml"}, {"plan", "checkout.yaml", "--detailed-exitcode"},
		{"show"}, {"recover", "checkout"}, {"deploy", "checkout.yaml", "--yes", "--scope", scope}, {"destroy", "checkout", "--yes", "--scope", scope},
		{"recover", "checkout", "--take-hold", hold, "--decide", "CheckoutApi=retry", "--scope", scope}, {"status", "nonsense"}, {"version"}, {"types"},
		{"drift", "checkout"}, {"drift", "checkout", "--detailed-exitcode"}, {"history", "checkout"}, {"history", "checkout", hold}, {"history", "nonsense"},
		{"output", "checkout"}, {"rollback", hold}, {"rollback", "e-none"},
		{"validate", "checkout.yaml"}, {"validate", "absent.yaml"}, {"hold", "clear", "e-none"},
	} {
		text, json := w.run(args...), w.run(append(args, "--json")...)
		json.decode(t, nil)
		if text.code != json.code {
			t.Errorf("%v exits %d as text and %d as JSON\n%s%s", args, text.code, json.code, text.stdout, text.stderr)
		}
		if text.code != 0 && text.stdout == "" && text.stderr == "" {
			t.Errorf("%v exits %d and says nothing", args, text.code)
		}
	}
}
