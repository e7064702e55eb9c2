package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"reclaim/engine/deploy"
	"reclaim/engine/template"
	"reclaim/ui/text"
)

// globals are the flags that every command takes.
type globals struct {
	store, region, profile string
	window                 time.Duration
	theme                  string
	json, plain, noColor   bool
}

// session is one call of the program.
type session struct {
	*App
	globals
	out       *stdout
	command   string // as --json names it: "hold show"
	ran       bool   // a command ran, so its reply counts
	rep       reply
	interrupt *interrupts
	exit      *int // set by a command that has answered already: the code to end with
}

// Run runs one command line and returns its exit code.
func (a *App) Run(ctx context.Context, args []string) int {
	s := &session{App: a, out: newStdout(a.Stdout)}
	signals, stop := a.Signals()
	defer stop()
	ctx, in, cancel := watch(ctx, signals, a.Stderr)
	defer cancel()
	s.interrupt = in
	root := s.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if !s.ran {
		s.command = commandName(cmd)
		// Flags after the mistake were not read.
		s.json = s.json || slices.Contains(args, "--json")
	}
	return s.finish(err)
}

// commandName is the name without the program's: "hold show".
func commandName(cmd *cobra.Command) string {
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	return name
}

// finish prints the reply and returns the code that it says.
func (s *session) finish(err error) int {
	if s.exit != nil {
		if err != nil {
			s.note("%v", err)
			return deploy.ExitError
		}
		return *s.exit
	}
	if err != nil {
		s.rep.fail(err, s.interrupt.Code())
	}
	switch {
	case s.json && (s.ran || err != nil):
		if err := s.rep.printJSON(s.out, s.command); err != nil && s.out.err == nil {
			s.rep.fail(err, 0)
		}
	case s.ran:
		io.WriteString(s.out, s.rep.text)
	}
	if !s.json {
		s.rep.printProblems(s.Stderr)
	}
	if err := s.out.Flush(); err != nil {
		s.rep.problem(Problem{Exit: deploy.ExitError, Message: err.Error()})
		fmt.Fprintf(s.Stderr, "reclaim: write the answer: %v\n", err)
	}
	return deploy.FirstExit(s.rep.exits())
}

// fail adds what err says: each problem of a template for itself.
func (r *reply) fail(err error, interrupted int) {
	if ps, ok := errors.AsType[template.Problems](err); ok {
		for _, p := range ps {
			r.problem(problemOf(p))
		}
		return
	}
	r.problem(Problem{Exit: exitOf(err, interrupted), Message: err.Error()})
}

func problemOf(p template.Problem) Problem {
	msg := p.Text
	if p.Where != "" {
		msg = p.Where + ": " + msg
	}
	if p.Hint != "" {
		msg += ". " + p.Hint
	}
	return Problem{Exit: deploy.ExitError, Message: msg, File: p.File, Line: p.Line, Column: p.Col}
}

// run makes a cobra RunE of a command's body.
func (s *session) run(body func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s.command, s.ran = commandName(cmd), true
		return body(cmd.Context(), args)
	}
}

func (s *session) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "reclaim",
		Short: "Deploy a stack of cloud resources, and find out what became of a deploy that was killed",
		Long: `Reclaim deploys a stack of cloud resources and writes each create down before it is sent.
After a crash it says what was tried, what the cloud really holds, and what can be done.

Without a command it opens the full-screen interface. STACK is NAME or NAME@ACCOUNT/REGION.

Exit codes:
` + exitTable() + exitOrder,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          s.run(s.ui),
	}
	root.SetIn(s.Stdin)
	root.SetOut(s.out)
	root.SetErr(s.Stderr)
	f := root.PersistentFlags()
	f.StringVar(&s.store, "store", "", "folder of the store (default: RECLAIM_STORE, or the nearest .reclaim upwards)")
	f.StringVar(&s.region, "region", "", "AWS region")
	f.StringVar(&s.profile, "profile", "", "AWS profile")
	f.DurationVar(&s.window, "window", 0, "least consistency window of cloud types, such as 2m: before it has passed, absent means not visible yet; it raises their own (see types), never lowers it")
	f.BoolVar(&s.json, "json", false, "print one JSON value on stdout, notes on stderr")
	f.BoolVar(&s.plain, "plain", false, "plain lines: no colours, no full-screen interface (for screen readers)")
	f.BoolVar(&s.noColor, "no-color", false, "no colours (also: any non-empty NO_COLOR)")
	root.Flags().StringVar(&s.theme, "theme", "auto", "colours of the full-screen interface: auto, dark, light, none or the name of a theme file")
	root.AddCommand(s.validateCommand(), s.planCommand(), s.showCommand(), s.deployCommand(), s.recoverCommand(),
		s.rollbackCommand(), s.driftCommand(), s.outputCommand(), s.historyCommand(), s.destroyCommand(), s.statusCommand(), s.orphansCommand(),
		s.holdCommand(), s.stateCommand(), s.typesCommand(), s.simCommand(), s.demoCommand(), s.manCommand(), s.versionCommand())
	s.completeFlags(root)
	return root
}

// page is the layout of this call's text.
func (s *session) page() text.Page {
	pg := text.Page{Width: s.Terminal.Width, Now: time.Now()}
	pg.Color = s.Terminal.Out && !s.json && !s.plain && !s.noColor && s.Getenv("NO_COLOR") == "" && s.Getenv("TERM") != "dumb"
	return pg
}

// asks reports whether a person is there to be asked.
func (s *session) asks() bool { return s.Terminal.In && s.Terminal.Out && !s.json }

// note writes a line for a person to stderr.
func (s *session) note(format string, args ...any) {
	fmt.Fprintf(s.Stderr, "reclaim: "+format+"\n", args...)
}

// usage is an error in how a command was called.
func usage(format string, args ...any) error { return fmt.Errorf(format, args...) }
