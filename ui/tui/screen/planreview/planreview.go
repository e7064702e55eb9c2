// Package planreview shows a plan, collects approvals for exactly that plan, and starts its deploy.
//
// Its one rule: an approval binds to the plan on the screen. Another plan, or a run of this one, voids all of them.
package planreview

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/widget"
)

// Port is what this screen asks for.
type Port interface {
	screen.Summaries
	Now() time.Time
	LastPlan(ctx context.Context, s record.StackID) (*plan.Plan, error)
	Replan(ctx context.Context, s record.StackID, verb plan.Verb) (*plan.Plan, error)
	Deploy(ctx context.Context, p *plan.Plan, approvals []deploy.Approval, sink event.Sink) (deploy.Outcome, error)
}

// Screen is the plan review.
type Screen struct {
	parent   context.Context // of runs: a run outlives the looks of this screen
	ctx      context.Context // of looks
	cancel   context.CancelFunc
	port     Port
	stack    record.StackID
	recovery func(record.StackID, string) screen.Screen

	sum      screen.StackSummary
	word     string // how commands name the stack
	plan     *plan.Plan
	loading  string // what is being waited for; "" for nothing
	err      error
	used     string // fingerprint of the plan that was run
	fresh    bool   // the first plan is made by a look, not read from the store
	approved map[ref]bool

	rows      []row
	runnable  []*plan.Item
	byRef     map[ref]*plan.Item
	newest    map[string]*plan.Item // of each ID, the highest generation
	filter    string
	filtering bool
	unfolded  bool // unchanged items and folded fields are shown
	inFields  bool // the fields pane has the keys
	zoomed    bool // the list or the fields have the screen alone
	byStep    bool // in the order of running, not by action
	groups    []group
	waiting   map[string][]string // by ID, what waits for it
	goTo      ref                 // the item to go to once the plan is there
	cursor    widget.Cursor
	window    widget.Cursor // of the lines that rows and headings take
	scroll    widget.Scroll
	measured  drawn // below the list, with all the room there is
	inBrief   drawn
	inFull    drawn
	dialog    *widget.Dialog
}

type ref struct {
	id  string
	gen int
}

func refOf(i *plan.Item) ref { return ref{i.ID, i.Gen} }

// loaded is the answer of a look at the store or the cloud.
type loaded struct {
	of     *Screen
	plan   *plan.Plan
	sum    screen.StackSummary
	word   string
	err    error
	looked bool
}

// New makes the screen of a stack; recovery opens the recovery of one of its records.
func New(ctx context.Context, p Port, s record.StackID, recovery func(record.StackID, string) screen.Screen) *Screen {
	own, cancel := context.WithCancel(ctx)
	return &Screen{parent: ctx, ctx: own, cancel: cancel, port: p, stack: s, word: s.String(), recovery: recovery, approved: map[ref]bool{}}
}

// Looking makes the screen of a stack that looks at the cloud when it is opened, and shows the plan of that.
func Looking(ctx context.Context, p Port, s record.StackID, recovery func(record.StackID, string) screen.Screen) *Screen {
	out := New(ctx, p, s, recovery)
	out.fresh = true
	return out
}

// Init reads the last plan from the store, or makes one.
func (s *Screen) Init() tea.Cmd {
	if s.fresh {
		s.fresh = false
		return s.look()
	}
	s.loading = "reading the store…"
	return func() tea.Msg {
		p, err := s.port.LastPlan(s.ctx, s.stack)
		sum, word, sumErr := screen.SummaryOf(s.ctx, s.port, s.stack)
		if err == nil {
			err = sumErr
		}
		return loaded{of: s, plan: p, sum: sum, word: word, err: err}
	}
}

// look makes a new plan from a look at the cloud. It only reads.
func (s *Screen) look() tea.Cmd {
	if s.loading != "" {
		return nil
	}
	s.loading = "looking at the cloud…"
	verb := plan.VerbDeploy
	if s.plan != nil {
		verb = s.plan.Verb
	}
	return func() tea.Msg {
		p, err := s.port.Replan(s.ctx, s.stack, verb)
		sum, word, sumErr := screen.SummaryOf(s.ctx, s.port, s.stack)
		if err == nil {
			err = sumErr
		}
		return loaded{of: s, plan: p, sum: sum, word: word, err: err, looked: true}
	}
}

// Update takes what was read.
func (s *Screen) Update(msg tea.Msg) (screen.Screen, tea.Cmd) {
	switch msg := msg.(type) {
	case loaded:
		if msg.of == s {
			return s, s.take(msg)
		}
	case screen.Shown:
		return s, s.Init()
	}
	return s, nil
}

func (s *Screen) take(m loaded) tea.Cmd {
	s.loading, s.err = "", m.err
	if m.err != nil {
		return nil
	}
	s.sum, s.word = m.sum, m.word
	if m.plan == nil {
		s.plan = nil
		s.arrange()
		return nil
	}
	moved := s.plan != nil && s.plan.Fingerprint != m.plan.Fingerprint
	dropped := len(s.approved)
	s.plan = m.plan
	if moved {
		s.approved = map[ref]bool{}
		s.dialog = nil
	}
	if m.looked {
		s.used = ""
	}
	top := s.cursor.At == 0 && s.goTo == (ref{})
	s.arrange()
	if top { // who has not moved yet reads from the start
		s.cursor.Set(0, len(s.rows))
	}
	if moved && dropped > 0 {
		return screen.Tell(screen.Notice{Text: "The plan is another one now: " + widget.Count(dropped, "approval") + " dropped. Review again."})
	}
	return nil
}

// current is the item under the cursor, nil on the folded line.
func (s *Screen) current() *plan.Item {
	if s.cursor.At < len(s.rows) {
		return s.rows[s.cursor.At].item
	}
	return nil
}

// Title is the place.
func (s *Screen) Title() string { return "plan › " + s.stack.String() }

// Facts are the hold, the age of the oldest look, and the plan's name.
func (s *Screen) Facts(now time.Time) []string {
	hold := screen.HoldWord(s.sum)
	if s.plan == nil {
		return []string{hold}
	}
	read, name := "read "+screen.Age(now, s.oldestRead()), screen.ShortPrint(s.plan.Fingerprint)
	if s.plan.Verb != plan.VerbDeploy {
		name = string(s.plan.Verb) + " " + name
	}
	if s.sum.Hold != nil {
		return []string{name, read, hold}
	}
	return []string{hold, read, name}
}

// oldestRead is the age that counts: a plan is as old as the oldest look in it.
func (s *Screen) oldestRead() time.Time {
	at := s.plan.MadeAt
	for i := range s.plan.Items {
		if r := s.plan.Items[i].ReadAt; !r.IsZero() && r.Before(at) {
			at = r
		}
	}
	return at
}

// Close ends a look that is under way.
func (s *Screen) Close() { s.cancel() }
