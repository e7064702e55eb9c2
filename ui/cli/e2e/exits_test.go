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
)

// Every exit code is reached by a script or a test of this folder: what is added to the list must be reached too.
func TestEveryExitCodeIsReached(t *testing.T) {
	scripts, err := filepath.Glob("../../../testdata/scripts/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	tests, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range slices.Concat(scripts, tests) {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	for code, found := range map[int]string{
		0: `(?m)^exec reclaim `, 1: `(?m)^exits 1 `, 2: `(?m)^exits 2 `, 3: `(?m)^exits 3 `, 4: `(?m)^exits 4 `, 5: `(?m)^exits 5 `,
		6: `r\.code != 6`, 130: `SIGINT: 130`, 143: `SIGTERM: 143`,
	} {
		if !regexp.MustCompile(found).MatchString(all.String()) {
			t.Errorf("exit code %d: nothing matches %s", code, found)
		}
	}
	help, err := exec.Command(program, "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []int{0, 1, 2, 3, 4, 5, 6, 130, 143} {
		if !regexp.MustCompile(`\b` + strconv.Itoa(code) + `\b`).Match(help) {
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
