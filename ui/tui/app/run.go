// Package app runs the terminal UI: it opens the first screen, routes between screens, and draws what all of them
// share. Backend is what the screens ask of the engine.
//
// Its one rule: the router knows the Screen interface and no screen; keys mean what the table on the screen says and
// nothing else; nothing is read or written outside a command.
package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"

	"reclaim/engine/record"
	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/screen/execution"
	"reclaim/ui/tui/screen/planreview"
	"reclaim/ui/tui/screen/recovery"
	"reclaim/ui/tui/screen/stacks"
	"reclaim/ui/tui/theme"
)

// Start is the screen to open first.
type Start string

const (
	StartStacks   Start = "stacks"
	StartPlan     Start = "plan"     // of Options.Stack
	StartRecovery Start = "recovery" // of Options.Stack
)

// Options of Run.
type Options struct {
	Start   Start // "" is StartStacks
	Stack   record.StackID
	Theme   string // auto, dark, light, none or the name of a file; "" is auto
	NoColor bool   // --no-color
	In, Out *os.File
}

// ErrNoTerminal: one end is no terminal, so there is nothing to draw on or nobody to press keys.
var ErrNoTerminal = errors.New("the UI needs a terminal on stdin and stdout; use the commands: reclaim status, plan, recover --help")

// StoppedError: the operator stopped a live run without waiting for it. What was under way is uncertain.
type StoppedError struct{ Underway []string }

// Error says what was under way and what to do.
func (e *StoppedError) Error() string {
	what := "nothing that was sent"
	if len(e.Underway) > 0 {
		what = strings.Join(e.Underway, ", ")
	}
	return "stopped while a run was live; under way: " + what + "; reclaim status says what is uncertain"
}

// Run shows the UI until it is left. It returns ErrNoTerminal, *StoppedError, or what went wrong with the terminal.
// The end of ctx drains a live run and then ends the UI.
func Run(ctx context.Context, b Backend, o Options) error {
	if o.In == nil || o.Out == nil || !term.IsTerminal(int(o.In.Fd())) || !term.IsTerminal(int(o.Out.Fd())) {
		return ErrNoTerminal
	}
	r, err := prepare(ctx, b, o)
	if err != nil {
		return err
	}
	opts := []tea.ProgramOption{tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithoutSignalHandler()}
	if plainColour(o) {
		opts = append(opts, tea.WithColorProfile(colorprofile.ASCII))
	}
	p := tea.NewProgram(r, opts...)
	unwatch := context.AfterFunc(ctx, func() { p.Send(stopMsg{}) })
	defer unwatch()
	if _, err := p.Run(); err != nil {
		return fmt.Errorf("run terminal UI: %w", err)
	}
	if r.stopped != nil {
		return r.stopped
	}
	return nil
}

// plainColour reports whether colours are unwanted. Any non-empty NO_COLOR counts.
func plainColour(o Options) bool {
	return o.NoColor || os.Getenv("NO_COLOR") != "" || o.Theme == string(theme.None)
}

// prepare makes the router with its first screen.
func prepare(ctx context.Context, b Backend, o Options) (*router, error) {
	if plainColour(o) {
		o.Theme = string(theme.None)
	}
	th, err := theme.Load(o.Theme)
	if err != nil {
		return nil, err
	}
	first, err := firstScreen(ctx, b, o)
	if err != nil {
		return nil, err
	}
	auto := o.Theme == "" || o.Theme == string(theme.Auto)
	r := newRouter(first, th, auto, b.Now)
	r.all = oneOfEach(ctx, b)
	return r, nil
}

// oneOfEach makes a screen of each kind for its key table. None is opened, so none reads anything.
func oneOfEach(ctx context.Context, b Backend) []screen.Screen {
	var s record.StackID
	return []screen.Screen{
		stacks.New(ctx, b, nil, nil),
		planreview.New(ctx, b, s, nil),
		recovery.New(ctx, b, s, "", nil),
		execution.New(ctx, execution.Run{Title: "run"}),
	}
}

// firstScreen wires the screens to each other: each is given the doors it may open.
func firstScreen(ctx context.Context, b Backend, o Options) (screen.Screen, error) {
	var replan func(record.StackID) screen.Screen
	openRecovery := func(s record.StackID, id string) screen.Screen {
		return recovery.New(ctx, b, s, id, func(s record.StackID) screen.Screen { return replan(s) })
	}
	replan = func(s record.StackID) screen.Screen { return planreview.Looking(ctx, b, s, openRecovery) }
	openPlan := func(s record.StackID) screen.Screen { return planreview.New(ctx, b, s, openRecovery) }
	if (o.Start == StartPlan || o.Start == StartRecovery) && o.Stack.IsZero() {
		return nil, fmt.Errorf("open %s: name a stack", o.Start)
	}
	switch o.Start {
	case StartStacks, "":
		return stacks.New(ctx, b, openPlan, openRecovery), nil
	case StartPlan:
		return openPlan(o.Stack), nil
	case StartRecovery:
		return openRecovery(o.Stack, ""), nil
	}
	return nil, fmt.Errorf("open %q: want stacks, plan or recovery", o.Start)
}
