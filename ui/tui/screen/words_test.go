package screen_test

import (
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"reclaim/engine/record"
	"reclaim/ui/text/clean"
	"reclaim/ui/tui/screen"
)

func TestAgeIsNeverNegative(t *testing.T) {
	now := time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC)
	for why, c := range map[string]struct {
		at   time.Time
		want string
	}{
		"a read that never was":                  {time.Time{}, "never"},
		"a service whose clock is ahead of ours": {now.Add(3 * time.Second), "just now"},
		"seconds":                                {now.Add(-38 * time.Second), "38s ago"},
		"minutes":                                {now.Add(-12 * time.Minute), "12m ago"},
		"hours, also of yesterday":               {now.Add(-26 * time.Hour), "26h ago"},
		"days":                                   {now.Add(-73 * time.Hour), "3d ago"},
	} {
		if got := screen.Age(now, c.at); got != c.want {
			t.Errorf("%s: got %q, want %q", why, got, c.want)
		}
	}
}

// A copied command must mean what it says, whatever the names in it are.
func TestShellWordsComeBackAsTheyWere(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("skipped: needs bash")
	}
	for _, word := range []string{"orders-prod", "a b", "it's", "$(reboot)", "`id`", "", "a\x1b[31m", "role\u202egpj", "größe", "a\nb", `\x41`} {
		line := screen.Shell("printf", "%s", word)
		if d := cmp.Diff(line, clean.Clean(line)); d != "" {
			t.Errorf("%q: the line holds control characters: %s", word, d)
		}
		out, err := exec.Command(bash, "-c", line).Output()
		if err != nil || string(out) != word {
			t.Errorf("%s: got %q, %v; want %q", line, out, err, word)
		}
	}
}

func TestShellNeverHoldsControls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := string(rapid.SliceOf(rapid.Byte()).Draw(t, "word"))
		if line := screen.Shell("reclaim", word); clean.Clean(line) != line {
			t.Fatalf("%q", line)
		}
	})
}

func TestLastRunSaysWhatBecameOfTheRunThatHolds(t *testing.T) {
	now := time.Date(2026, 3, 1, 14, 2, 0, 0, time.UTC)
	hold := &record.Hold{Verb: "deploy", Since: now.Add(-5 * time.Second)}
	for want, sum := range map[string]screen.StackSummary{
		"never run":                    {},
		"deploy 3h ago":                {Last: &record.Execution{Verb: "deploy", Ended: now.Add(-3 * time.Hour)}},
		"deploy did not end":           {Last: &record.Execution{Verb: "deploy"}},
		"deploy died, began 5s ago":    {Hold: hold, HoldAlive: "dead (boot id, start time checked)"},
		"deploy running, began 5s ago": {Hold: hold, HoldAlive: "running"},
		"deploy unknown, began 5s ago": {Hold: hold, HoldAlive: "unknown: another machine"},
	} {
		if got := screen.LastRun(sum, now); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
