package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"reclaim/providers/awssim"
)

func TestAClosedPipeEndsWithoutPanicAndWithoutHanging(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.crash()
	for _, args := range []string{"status --json", "recover checkout --json", "types", "state list", "plan checkout.yaml", "validate checkout.yaml --json"} {
		r := w.startAs("sh", "-c", `{ reclaim `+args+`; echo code=$? >&2; } | { head -c1 >/dev/null; }`).result()
		if strings.Contains(r.stderr, "panic") || !strings.Contains(r.stderr, "code=") {
			t.Errorf("%s: %s", args, r.stderr)
		}
		r = w.startAs("sh", "-c", `{ sleep 0.3; reclaim `+args+`; echo code=$? >&2; } | true`).result()
		if strings.Contains(r.stderr, "panic") || !strings.Contains(r.stderr, "code=1") && !strings.Contains(r.stderr, "code=3") {
			t.Errorf("%s into a pipe that nobody reads: %s", args, r.stderr)
		}
	}
}

// hostile tries to move the cursor, to recolour, to set the title, and to turn the reading direction.
const hostile = "\x1b[2J\x1b[31mred\x1b]0;title\x07\u202e\u2066back\u009b1A\r\n\x7f"

func TestTextFromOutsideNeverReachesATerminalRaw(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.example("checkout.yaml")
	b, err := os.ReadFile(w.path("checkout.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	// In YAML's own escapes, for a template may not hold the characters themselves.
	quoted := `"\e[2J\e[31mred\e]0;title\a\u202e\u2066back\u009b1A\r\n\x7f"`
	text := strings.Replace(string(b), "Description: Runs the checkout's code", "Description: "+quoted, 1)
	text = strings.Replace(text, "CHECKOUT_URL", "HOSTILE=\u202e", 1)
	w.file("checkout.yaml", text)
	w.cloud.AddFault(awssim.Fault{Operation: "CreateLogGroup", Kind: awssim.ExecutedUnanswered, Then: []awssim.Action{
		{Op: "CreateLogGroup", Params: map[string]any{"logGroupName": groups}, Tags: map[string]string{"team": hostile, "x\x1b[5m": "y"}}}})
	w.cloud.AddFault(awssim.Fault{Operation: "CreateApi", Kind: awssim.Refused, Code: "BadRequestException", Status: 400, Message: hostile})
	calls := [][]string{
		{"validate", "checkout.yaml"}, {"plan", "checkout.yaml"}, {"show", "--all"}, {"deploy", "checkout.yaml", "--yes", "--scope", scope, "--strict"},
		{"status"}, {"status", "checkout"}, {"recover", "checkout"}, {"plan", "checkout.yaml"}, {"show"}, {"state", "list"}, {"state", "show", "CheckoutRole"},
		{"state", "show", "CheckoutLogs"}, {"recover", "checkout", "--decide", "CheckoutLogs=adopt:" + hostile, "--scope", scope},
		{"drift", "checkout"}, {"drift", "checkout", "--all"}, {"output", "checkout"}, {"output", "checkout", hostile}, {"history", "checkout"},
		{"history", "checkout", hostile}, {"rollback", hostile},
		{"status", hostile}, {"deploy", hostile}, {"state", "show", hostile}, {hostile},
	}
	for _, call := range calls {
		for _, args := range [][]string{call, append(slices.Clone(call), "--json")} {
			r := w.run(args...)
			for stream, out := range map[string]string{"stdout": r.stdout, "stderr": r.stderr} {
				for i, c := range out {
					if c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c)) {
						t.Errorf("%q: %s holds a raw %U: %q", args, stream, c, out[max(i-40, 0):min(i+20, len(out))])
						break
					}
				}
			}
		}
	}
	if w.sent("CreateLogGroup") == 0 || w.sent("CreateApi") == 0 {
		t.Error("the deploy did not meet the hostile answers")
	}
}

func TestNoColorMeansNoColour(t *testing.T) {
	t.Parallel()
	s := newWorld(t).terminal(80, 24)
	s.w.example("checkout.yaml")
	n := 0
	for command, coloured := range map[string]bool{
		"reclaim plan checkout.yaml": true, "NO_COLOR=1 reclaim plan checkout.yaml": false, "NO_COLOR=false reclaim plan checkout.yaml": false,
		"reclaim plan checkout.yaml --no-color": false, "TERM=dumb reclaim plan checkout.yaml": false,
	} {
		n++
		s.command(fmt.Sprintf("clear; %s; echo e''nd %d", command, n))
		s.shows(fmt.Sprintf("\nend %d", n))
		if got := strings.Contains(s.must("capture-pane", "-p", "-e"), "\x1b["); got != coloured {
			t.Errorf("%s: colours %t, want %t", command, got, coloured)
		}
	}
}
