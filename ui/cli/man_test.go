package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func tree() (*session, *cobra.Command) {
	s := &session{App: &App{Build: Build{Version: "1.2.3", Date: "2026-01-02"}}, out: newStdout(&strings.Builder{}), interrupt: &interrupts{}}
	root := s.root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("completion")
	return s, root
}

// everyCommand is the tree, from cobra itself.
func everyCommand(c *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			out = append(out, everyCommand(sub)...)
		}
	}
	return out
}

func TestEveryCommandAndFlagHasItsPlaceInTheManual(t *testing.T) {
	s, root := tree()
	pages := map[string]string{}
	for _, c := range commandsOf(root) {
		pages[c.CommandPath()] = s.manPage(c)
	}
	all := everyCommand(root)
	if len(all) < 15 {
		t.Fatalf("only %d commands", len(all))
	}
	for _, c := range all {
		page, ok := pages[c.CommandPath()]
		if !ok {
			t.Errorf("%s has no page", c.CommandPath())
			continue
		}
		want := []string{".TH ", ".SH \"NAME\"", ".SH \"SYNOPSIS\"", ".SH \"EXIT STATUS\"", roffText(c.Short), roffText(manName(c))}
		flag := func(f *pflag.Flag) {
			if !f.Hidden {
				want = append(want, roffText("--"+f.Name))
			}
		}
		c.NonInheritedFlags().VisitAll(flag)
		c.InheritedFlags().VisitAll(flag)
		if c.HasParent() {
			want = append(want, roffText(manName(c.Parent()))+"(1)")
		}
		for _, w := range want {
			if !strings.Contains(page, w) {
				t.Errorf("the page of %s does not have %q", c.CommandPath(), w)
			}
		}
		for i, line := range strings.Split(page, "\n") {
			if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !strings.Contains(".TH .SH .TP .PP .nf .fi", strings.Fields(line)[0]) {
				t.Errorf("line %d of the page of %s is taken for a request: %s", i+1, c.CommandPath(), line)
			}
		}
	}
}

func TestTheManualShowsTextAsItIs(t *testing.T) {
	r := &roff{}
	r.text("plain\n\n.dots 'quotes' a\\b --flag\n  $ indented\n'x\n")
	want := "plain\n.PP\n\\&.dots 'quotes' a\\eb \\-\\-flag\n.nf\n  $ indented\n.fi\n\\&'x\n"
	if r.b.String() != want {
		t.Errorf("got %q, want %q", r.b.String(), want)
	}
}

func TestOnlyHarmlessWordsAreOfferedToAShell(t *testing.T) {
	for w, want := range map[string]bool{"orders-prod": true, "a@123456789012/eu-west-1+x": true, "": false, "$(rm)": false, "a b": false, "`x`": false, "a\x1b": false} {
		if got := len(word(w, "what\x1b\n")) > 0; got != want {
			t.Errorf("%q is offered: %v", w, got)
		}
	}
	if got := word("a", "\x1b[2J\n"); strings.ContainsAny(got[0], "\x1b\n") {
		t.Errorf("raw text in %q", got)
	}
}
