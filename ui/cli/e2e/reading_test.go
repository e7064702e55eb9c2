package e2e

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// reads are the commands that write nothing but plans, and how each is called (SAFETY S37).
var reads = map[string][][]string{
	"validate": {{"checkout.yaml"}}, "types": {{}, {"LogGroup"}}, "version": {{}}, "completion bash": {{}}, "completion zsh": {{}},
	"completion fish": {{}}, "completion powershell": {{}}, "help": {{"deploy"}}, "man": {{}, {"hold", "show"}},
	"status": {{}, {"checkout"}}, "show": {{}}, "hold show": {{}, {"checkout"}}, "state list": {{}, {"checkout"}}, "state show": {{"CheckoutRole"}},
	"history": {{"checkout"}}, "output": {{"checkout"}}, "drift": {{"checkout"}},
	"state check": {{}}, "state export": {{}},
	"recover": {{"checkout"}}, // with neither a terminal nor decisions it reads
}

// unsettled are those that say by their code that creates are uncertain, or that no deploy has ended.
var unsettled = []string{"recover", "drift", "output"}

// changing are the others; a backup changes no state, and makes a file beside it.
var changing = []string{"plan", "deploy", "destroy", "rollback", "hold clear", "sim", "demo", "orphans resolve", "state backup", "state forget", "state import"}

// Every command of the program is one or the other; a new one must be put in a list.
func TestReadingVerbsLeaveTheStoreAsItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.crash()
	w.exits(3, "plan", "checkout.yaml") // so that there is a plan to show
	for _, command := range w.commands("") {
		calls, reading := reads[command]
		if reading == slices.Contains(changing, command) {
			t.Errorf("command %q is in both lists or in none: does it read or change?", command)
		}
		for _, args := range calls {
			for _, form := range [][]string{nil, {"--json"}, {"--plain", "--no-color"}} {
				before := sums(t, w.path(".reclaim"))
				all := slices.Concat(strings.Fields(command), args, form)
				if r := w.run(all...); r.code != 0 && !slices.Contains(unsettled, command) {
					t.Errorf("%v: exit %d\n%s", all, r.code, r.stderr)
				}
				if after := sums(t, w.path(".reclaim")); after != before {
					t.Errorf("%v changed the store:\n%s\nwas\n%s", all, after, before)
				}
			}
		}
	}
	if before := sums(t, w.path(".reclaim")); before != "" {
		w.exits(3, "plan", "checkout.yaml", "--parameters", "OutDir=elsewhere")
		if sums(t, w.path(".reclaim")) == before {
			t.Error("a plan was made and the sums are the same: they see nothing")
		}
	}
}

var commandLine = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) {2,}`)

// commands lists the commands below a command that can be run, from the program's own help.
func (w *world) commands(above string) []string {
	w.t.Helper()
	help := w.exits(0, append(strings.Fields(above), "--help")...).stdout
	_, list, ok := strings.Cut(help, "Available Commands:\n")
	if !ok {
		return []string{above}
	}
	list, _, _ = strings.Cut(list, "\n\n")
	var out []string
	for _, m := range commandLine.FindAllStringSubmatch(list, -1) {
		out = append(out, w.commands(strings.TrimSpace(above+" "+m[1]))...)
	}
	if len(out) == 0 {
		w.t.Fatalf("no commands in the help of %q:\n%s", above, help)
	}
	return out
}

// sums are the hashes of every file in a folder, but for lock files, which are empty.
func sums(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out = append(out, fmt.Sprintf("%x %s", sha256.Sum256(b), filepath.Base(path)))
		return err
	})
	if err != nil || len(out) < 2 {
		t.Fatalf("%s: %v, %q", dir, err, out)
	}
	return strings.Join(out, "\n")
}
