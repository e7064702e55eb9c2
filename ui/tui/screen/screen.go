// Package screen is what the router and the screens agree on: the Screen interface, the messages that open and leave
// screens, and the words that several screens share.
//
// Its one rule: a screen knows its own port to the engine and no other screen's inside; the router knows this
// interface and no screen.
package screen

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"reclaim/engine/record"
	"reclaim/ui/tui/widget"
)

// Frame is the room a screen may draw in, and the time it is.
type Frame struct {
	Width, Height int
	Now           time.Time
}

// WideFrom is the width in cells from which a screen puts its panes side by side.
const WideFrom = 110

// Wide reports whether there is room for panes side by side.
func (f Frame) Wide() bool { return f.Width >= WideFrom }

// Screen is one place of the UI. Update must not block: what reads or writes anything is a tea.Cmd. A screen draws
// its body; the router draws header and footer from Title, Facts, Command and Keys.
type Screen interface {
	Init() tea.Cmd
	Update(tea.Msg) (Screen, tea.Cmd)
	View(Frame) widget.Block
	// Title is the place as a breadcrumb: "plan › orders-prod@123456789012/eu-west-1".
	Title() string
	// Facts stand at the right of the header, the most important last.
	Facts(now time.Time) []string
	// Keys is the screen's key table as it is now.
	Keys() widget.Keymap
	// Command is the shell command that would do the same.
	Command() string
	// Close ends what the screen still has under way; nothing that changes the cloud or the store may be.
	Close()
}

// Runner is a Screen that may carry a run that changes things. It cannot be left while Running.
type Runner interface {
	Screen
	Running() bool
	// Drain asks the run to start no new change and to end.
	Drain() tea.Cmd
	// Unsettled says what was under way, for the message after a forced end.
	Unsettled() []string
}

// Open puts a screen on top; Back leaves it; Shown tells a screen that it is on top again; Quit ends the UI.
type (
	Open  struct{ Screen Screen }
	Back  struct{}
	Shown struct{}
	Quit  struct{}
)

// Notice is a line for the operator that stays until the next key press.
type Notice struct{ Text string }

// Tell returns a command that delivers msg.
func Tell(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }

// StackSummary is one line of the stacks screen, from the store alone.
type StackSummary struct {
	Stack     record.StackID
	Hold      *record.Hold
	HoldAlive string // "dead (boot id, start time checked)", "running", "unknown: another machine"
	Records   int
	Uncertain int
	Tombs     int
	Bad       []record.BadRecord
	Last      *record.Execution
	Template  string // path of the last template, "" when none is known
}

// Summaries is the part of the port that says which stacks there are and who holds them.
type Summaries interface {
	Stacks(ctx context.Context) ([]StackSummary, error)
}

// SummaryOf returns the summary of one stack (a zero one when the store knows nothing of it), and how commands name
// it: by its name alone where no other stack of the store has the same.
func SummaryOf(ctx context.Context, p Summaries, s record.StackID) (sum StackSummary, word string, err error) {
	sum, word = StackSummary{Stack: s}, s.String()
	all, err := p.Stacks(ctx)
	if err != nil {
		return sum, word, err
	}
	same := 0
	for _, other := range all {
		if other.Stack.Name == s.Name {
			same++
		}
		if other.Stack == s {
			sum = other
		}
	}
	if same == 1 {
		word = s.Name
	}
	return sum, word, nil
}
