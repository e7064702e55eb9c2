package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatAPageShowsIsComparedWithWhatIsPrinted(t *testing.T) {
	for name, c := range map[string]struct {
		want   string
		output string
		same   bool
	}{
		"the same":                               {"one\ntwo", "one\ntwo\n", true},
		"nothing and nothing":                    {"", "", true},
		"a last line without an end":             {"one", "one", true},
		"another word":                           {"one", "two\n", false},
		"a line more than the page shows":        {"one", "one\ntwo\n", false},
		"a line less than the page shows":        {"one\ntwo", "one\n", false},
		"output where the page shows none":       {"", "one\n", false},
		"an ellipsis is any text of one line":    {"plan … made", "plan 1 was made\n", true},
		"an ellipsis does not cross a line":      {"plan … made", "plan\nmade\n", false},
		"a line of it is any lines":              {"one\n…\nfour", "one\ntwo\nthree\nfour\n", true},
		"a line of it is no line, too":           {"one\n…\ntwo", "one\ntwo\n", true},
		"what comes after it must come":          {"one\n…\nfour", "one\ntwo\n", false},
		"the characters of patterns are literal": {"a.c (1)", "abc (1)\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			if c.want != "" {
				want = strings.Split(c.want, "\n")
			}
			if got := printed(want, c.output); got != c.same {
				t.Errorf("the same is %v, want %v", got, c.same)
			}
		})
	}
}

func TestAPageIsReadAsStepsInOrder(t *testing.T) {
	p, err := parsePage(strings.ReplaceAll(`# Page
It names 'reclaim plan' and 'reclaim fly'.
<!-- file: a.yaml -->
'''yaml
A: 1
'''
'''console
$ reclaim plan a.yaml \
    --all  # exit 2
two changes
$ true
'''
`, "'", "`"))
	if err != nil {
		t.Fatal(err)
	}
	want := []step{
		{line: 4, name: "a.yaml", text: "A: 1\n"},
		{line: 8, command: "reclaim plan a.yaml \\\n    --all  # exit 2", output: []string{"two changes"}, exit: 2},
		{line: 11, command: "true"},
	}
	if d := cmp.Diff(want, p.steps, cmp.AllowUnexported(step{})); d != "" {
		t.Errorf("steps (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"reclaim fly"}, p.notRun()); d != "" {
		t.Errorf("named and not run (-want +got):\n%s", d)
	}
}

func TestAPageCannotHideACommandFromTheRunner(t *testing.T) {
	for name, page := range map[string]string{
		"a block that is neither console nor file": "'''sh\nreclaim plan\n'''\n",
		"a block that does not end":                "'''console\n$ reclaim plan\n",
		"output before any command":                "'''console\nreclaim plan\n'''\n",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parsePage(strings.ReplaceAll(page, "'", "`")); err == nil {
				t.Error("the page is accepted")
			}
		})
	}
}

// A command that fails, or prints something else, is noticed; variables stay from one command to the next.
func TestTheShellOfAPage(t *testing.T) {
	sh := newShell(t)
	for _, c := range []struct {
		command, output string
		exit            int
	}{
		{"export A=1", "", 0},
		{"echo $A; echo $HOME >&2; (exit 3)", "1\n" + sh.home + "\n", 3},
		{"sleep 600 & B=$!", "", 0},
		{"kill -0 $B && echo runs", "runs\n", 0},
		{"echo ${AWS_PROFILE-none} ${RECLAIM_STORE-none} ${CI-none}", "none none none\n", 0},
	} {
		if output, exit := sh.run(c.command); output != c.output || exit != c.exit {
			t.Errorf("%s: printed %q and exits %d, want %q and %d", c.command, output, exit, c.output, c.exit)
		}
	}
}
