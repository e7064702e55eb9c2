// Package stacks lists the stacks that the store knows.
//
// Its one rule: it reads the store alone; no network and no credentials are needed to see what is uncertain.
package stacks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"reclaim/engine/record"
	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/theme"
	"reclaim/ui/tui/widget"
)

// Port is what this screen asks for.
type Port interface {
	screen.Summaries
	StorePath() string
}

// Screen is the stacks screen.
type Screen struct {
	ctx      context.Context
	port     Port
	plan     func(record.StackID) screen.Screen
	recovery func(record.StackID, string) screen.Screen

	store  string
	loaded bool
	list   []screen.StackSummary
	err    error
	cursor widget.Cursor
	zoomed bool // the list has the screen alone
}

type loaded struct {
	of    *Screen
	store string
	list  []screen.StackSummary
	err   error
}

// New makes the screen; plan and recovery open the screens of a stack.
func New(ctx context.Context, p Port, plan func(record.StackID) screen.Screen,
	recovery func(record.StackID, string) screen.Screen) *Screen {
	return &Screen{ctx: ctx, port: p, plan: plan, recovery: recovery}
}

// Init reads the store.
func (s *Screen) Init() tea.Cmd {
	return func() tea.Msg {
		list, err := s.port.Stacks(s.ctx)
		return loaded{s, s.port.StorePath(), list, err}
	}
}

// Update takes what was read.
func (s *Screen) Update(msg tea.Msg) (screen.Screen, tea.Cmd) {
	switch msg := msg.(type) {
	case loaded:
		if msg.of != s {
			return s, nil
		}
		s.loaded, s.store, s.list, s.err = true, msg.store, slices.Clone(msg.list), msg.err
		slices.SortStableFunc(s.list, func(a, b screen.StackSummary) int { return cmp.Compare(urgency(a), urgency(b)) })
		s.cursor.Move(0, len(s.list))
	case screen.Shown:
		return s, s.Init()
	}
	return s, nil
}

// urgency puts first what somebody has to look at.
func urgency(sum screen.StackSummary) int {
	switch {
	case sum.Uncertain > 0:
		return 0
	case sum.Hold != nil || len(sum.Bad) > 0:
		return 1
	}
	return 2
}

func (s *Screen) current() (screen.StackSummary, bool) {
	if s.cursor.At < len(s.list) {
		return s.list[s.cursor.At], true
	}
	return screen.StackSummary{}, false
}

// Title is the place.
func (s *Screen) Title() string { return "stacks" }

// Facts names the store.
func (s *Screen) Facts(time.Time) []string {
	if s.store == "" {
		return nil
	}
	return []string{"store " + s.store}
}

// Command is the command that does the same.
func (s *Screen) Command() string { return "reclaim status" }

// Close has nothing to end.
func (s *Screen) Close() {}

// Keys is the key table.
func (s *Screen) Keys() widget.Keymap {
	move := func(n int) func() tea.Cmd {
		return func() tea.Cmd { s.cursor.Move(n, len(s.list)); return nil }
	}
	open := func(f func(screen.StackSummary) screen.Screen) func() tea.Cmd {
		return func() tea.Cmd {
			sum, ok := s.current()
			if !ok {
				return screen.Tell(screen.Notice{Text: "There is no stack to open."})
			}
			return screen.Tell(screen.Open{Screen: f(sum)})
		}
	}
	return widget.Keymap{Keys: []widget.Key{
		{Names: []string{"up", "k"}, Show: "↑↓", Word: "move", Help: "go up one stack", Do: move(-1)},
		{Names: []string{"down", "j"}, Show: "↓", Help: "go down one stack", Do: move(1)},
		{Names: []string{"enter"}, Show: "enter", Word: "plan", Help: "review the last plan of the stack",
			Do: open(func(sum screen.StackSummary) screen.Screen { return s.plan(sum.Stack) })},
		{Names: []string{"R"}, Show: "R", Word: "recover", Help: "step through the uncertain creates of the stack",
			Do: open(func(sum screen.StackSummary) screen.Screen { return s.recovery(sum.Stack, "") })},
		{Names: []string{"z"}, Show: "z", Help: "give the list the screen alone, or share it again", Do: func() tea.Cmd { s.zoomed = !s.zoomed; return nil }},
		{Names: []string{"l"}, Show: "l", Word: "read again", Help: "read the store again", Do: s.Init},
	}}
}

// View draws the list and, below it, the stack under the cursor.
func (s *Screen) View(f screen.Frame) widget.Block {
	switch {
	case s.err != nil:
		return append(widget.Block{{}}, widget.Paragraph(theme.Bad, "The store could not be read: "+s.err.Error()+". l reads it again.", 1, f.Width)...)
	case !s.loaded:
		return widget.Block{{}, widget.L(widget.T(theme.Dim, " reading the store…"))}
	case len(s.list) == 0:
		return s.empty(f.Width)
	}
	about := s.about(f)
	if s.zoomed {
		about = nil
	}
	aboutHeight := min(len(about), f.Height/2)
	height := max(f.Height-4-aboutHeight, 1)
	out := widget.Block{s.counts(), widget.RuleLine(f.Width, "")}
	from, to := s.cursor.Window(len(s.list), height)
	var rows widget.Block
	for i := from; i < to; i++ {
		rows = append(rows, s.row(s.list[i], i == s.cursor.At, f))
	}
	out = append(out, rows.Head(height)...)
	out = append(out, widget.RuleLine(f.Width, fmt.Sprintf("%d of %d", s.cursor.At+1, len(s.list))))
	return append(out, about...)
}

func (s *Screen) empty(width int) widget.Block {
	out := widget.Block{{}, widget.L(widget.T(theme.Strong, " No stack yet."))}
	out = append(out, widget.Paragraph(theme.Plain, "A stack appears here once it was planned. Next: reclaim plan FILE makes a plan of a template; "+
		"reclaim demo leaves a crashed deploy to practise on.", 1, width)...)
	return out
}

func (s *Screen) counts() widget.Line {
	uncertain, held := 0, 0
	for _, sum := range s.list {
		uncertain += sum.Uncertain
		if sum.Hold != nil {
			held++
		}
	}
	role := theme.Dim
	if uncertain > 0 {
		role = theme.Bad
	}
	return widget.L(widget.T(theme.Plain, " "+widget.Count(len(s.list), "stack")+"   "),
		widget.T(role, "? "+widget.Count(uncertain, "uncertain create")), widget.T(theme.Plain, fmt.Sprintf("   %d held", held)))
}

func (s *Screen) row(sum screen.StackSummary, selected bool, f screen.Frame) widget.Line {
	at, mark, word, role := " ", "=", "settled", theme.Dim
	if selected {
		at = ">"
	}
	switch {
	case sum.Uncertain > 0:
		mark, word, role = "?", fmt.Sprintf("%d uncertain", sum.Uncertain), theme.Bad
	case len(sum.Bad) > 0:
		mark, word, role = "!", fmt.Sprintf("%d unreadable", len(sum.Bad)), theme.Bad
	case sum.Hold != nil:
		mark, word, role = "*", "held", theme.Warn
	}
	name := min(max(f.Width/2-8, 16), 60)
	spans := []widget.Span{widget.T(theme.Plain, " "+at+" "), widget.T(role, mark+" "), widget.Cell(role, word, 14),
		widget.Cell(theme.Strong, sum.Stack.String(), name), widget.T(theme.Plain, "  ")}
	if f.Width >= 100 {
		spans = append(spans, widget.Cell(theme.Plain, widget.Count(sum.Records, "record"), 13))
	}
	return widget.Line{Spans: append(spans, widget.T(theme.Dim, screen.LastRun(sum, f.Now))), Selected: selected}
}

func (s *Screen) about(f screen.Frame) widget.Block {
	sum, ok := s.current()
	if !ok {
		return nil
	}
	out := widget.Block{widget.L(widget.T(theme.Strong, " "+sum.Stack.String()))}
	out = append(out, widget.Paragraph(theme.Plain, screen.HoldLine(sum), 1, f.Width)...)
	if sum.Last != nil {
		result := cmp.Or(sum.Last.Result, "no result recorded")
		out = append(out, widget.Paragraph(theme.Dim, fmt.Sprintf("last run: %s %s, began %s: %s", sum.Last.Verb, sum.Last.ID,
			screen.Age(f.Now, sum.Last.Began), result), 1, f.Width)...)
	}
	if sum.Template != "" {
		out = append(out, widget.L(widget.T(theme.Dim, " template "+sum.Template)))
	}
	if sum.Tombs > 0 {
		out = append(out, widget.L(widget.T(theme.Dim, " "+widget.Count(sum.Tombs, "tombstone")+" of what was given up")))
	}
	for _, b := range sum.Bad {
		out = append(out, widget.Paragraph(theme.Bad, "unreadable record "+b.Key+": "+b.Reason, 1, f.Width)...)
	}
	return append(out, widget.Paragraph(theme.Info, "Next: "+next(sum), 1, f.Width)...)
}

func next(sum screen.StackSummary) string {
	switch {
	case sum.Uncertain > 0:
		return "R steps through what is uncertain, from what the store knows; nothing is sent by opening it."
	case sum.Hold != nil && screen.HolderRuns(sum):
		return "a run is live; wait for it."
	case sum.Hold != nil:
		return "R takes the hold and finishes what the crash left."
	}
	return "enter reviews the last plan."
}
