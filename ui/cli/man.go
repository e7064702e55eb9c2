package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"reclaim/engine/deploy"
)

func (s *session) manCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "man [COMMAND…]",
		Short: "Write manual pages, for man(1)",
		Long: `Prints the page of the program, or of one command, in the form that man reads. With --dir all of them are written into a
folder, one file each, such as share/man/man1.`,
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return subcommands(c.Root(), args), cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		return s.run(func(context.Context, []string) error { return s.man(cmd.Root(), dir, args) })(cmd, args)
	}
	c.Flags().StringVar(&dir, "dir", "", "folder to write all pages into; it is made where there is none")
	return c
}

// subcommands are the names below the command that args lead to.
func subcommands(root *cobra.Command, args []string) []string {
	at, rest, err := root.Find(args)
	if err != nil || len(rest) > 0 {
		return nil
	}
	var out []string
	for _, c := range at.Commands() {
		if c.IsAvailableCommand() {
			out = append(out, c.Name()+"\t"+c.Short)
		}
	}
	return out
}

func (s *session) man(root *cobra.Command, dir string, args []string) error {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(args...)
	if dir != "" {
		if len(args) > 0 {
			return usage("--dir writes all pages; name no command")
		}
		return s.manDir(root, dir)
	}
	c, rest, err := root.Find(args)
	if err != nil || len(rest) > 0 {
		return usage("no command %s", strings.Join(args, " "))
	}
	s.rep.text, s.rep.result = s.manPage(c), manName(c)
	return nil
}

func (s *session) manDir(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of the manual: %w", err)
	}
	names := []string{}
	for _, c := range commandsOf(root) {
		name := manName(c) + ".1"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s.manPage(c)), 0o644); err != nil {
			return fmt.Errorf("write manual page: %w", err)
		}
		names = append(names, name)
	}
	s.rep.result = names
	s.rep.text = fmt.Sprintf("wrote %d pages to %s\n", len(names), dir)
	return nil
}

// commandsOf is a command and all below it that can be seen.
func commandsOf(c *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			out = append(out, commandsOf(sub)...)
		}
	}
	return out
}

// manName is "reclaim-hold-show".
func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage is one page in the macros of man(7).
func (s *session) manPage(c *cobra.Command) string {
	c.InitDefaultHelpFlag()
	r := &roff{}
	r.macro("TH", strings.ToUpper(manName(c)), "1", s.Build.Date, "reclaim "+s.Build.Version, "Reclaim")
	r.macro("SH", "NAME")
	r.text(manName(c) + " - " + c.Short)
	r.macro("SH", "SYNOPSIS")
	r.text(c.UseLine())
	r.macro("SH", "DESCRIPTION")
	about := c.Long
	if about == "" {
		about = c.Short + "."
	}
	r.text(about)
	r.flags("OPTIONS", c.NonInheritedFlags())
	r.flags("OPTIONS OF EVERY COMMAND", c.InheritedFlags())
	r.related(c)
	r.macro("SH", "EXIT STATUS")
	for _, e := range exitWords {
		r.macro("TP")
		r.text(e.code)
		r.text(e.means)
	}
	r.macro("PP")
	r.text(exitOrder)
	return r.b.String()
}

// exitWords are the exit codes of every command (DESIGN §10), in the words of the help.
var exitWords = []struct{ code, means string }{
	{fmt.Sprint(deploy.ExitDone), "done"},
	{fmt.Sprint(deploy.ExitError), "error"},
	{fmt.Sprint(deploy.ExitChanges), "changes (plan --detailed-exitcode)"},
	{fmt.Sprint(deploy.ExitUncertain), "uncertain creates remain"},
	{fmt.Sprint(deploy.ExitBlocked), "blocked or stale"},
	{fmt.Sprint(deploy.ExitHeld), "held"},
	{fmt.Sprint(deploy.ExitStore), "state could not be written"},
	{fmt.Sprintf("%d/%d", deploy.ExitInterrupted, exitTerminated), "interrupted"},
}

// exitOrder is which of several counts.
const exitOrder = "Several at once: the first of 6, 3, 5, 4, 1, 130/143, 2."

func exitTable() string {
	out := ""
	for _, e := range exitWords {
		out += fmt.Sprintf("  %-9s%s\n", e.code, e.means)
	}
	return out
}

// roff writes the form that man reads.
type roff struct{ b strings.Builder }

// macro writes a request with its arguments quoted.
func (r *roff) macro(name string, args ...string) {
	r.b.WriteString("." + name)
	for _, a := range args {
		r.b.WriteString(` "` + strings.ReplaceAll(roffText(a), `"`, `\(dq`) + `"`)
	}
	r.b.WriteString("\n")
}

// text writes lines; an empty one begins a paragraph, and an indented one stands as it is.
func (r *roff) text(s string) {
	literal := false
	for line := range strings.SplitSeq(strings.TrimRight(s, "\n"), "\n") {
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		switch {
		case indented && !literal:
			r.b.WriteString(".nf\n")
		case !indented && literal:
			r.b.WriteString(".fi\n")
		}
		literal = indented
		switch {
		case line == "":
			r.b.WriteString(".PP\n")
		case strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'"):
			r.b.WriteString(`\&` + roffText(line) + "\n")
		default:
			r.b.WriteString(roffText(line) + "\n")
		}
	}
	if literal {
		r.b.WriteString(".fi\n")
	}
}

// roffText escapes what roff would act on or set as another character.
func roffText(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
}

func (r *roff) flags(title string, set *pflag.FlagSet) {
	if !set.HasAvailableFlags() {
		return
	}
	r.macro("SH", title)
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, about := pflag.UnquoteUsage(f)
		head := "--" + f.Name
		if f.Shorthand != "" {
			head = "-" + f.Shorthand + ", " + head
		}
		if value != "" {
			head += " " + value
		}
		switch f.DefValue {
		case "", "false", "0", "[]", "0s":
		default:
			about += " (default: " + f.DefValue + ")"
		}
		r.macro("TP")
		r.text(head)
		r.text(about)
	})
}

// related names the pages above and below.
func (r *roff) related(c *cobra.Command) {
	var names []string
	if c.HasParent() {
		names = append(names, manName(c.Parent())+"(1)")
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			names = append(names, manName(sub)+"(1)")
		}
	}
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	r.macro("SH", "SEE ALSO")
	r.text(strings.Join(names, ", "))
}
