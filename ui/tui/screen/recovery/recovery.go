// Package recovery steps an operator through uncertain creates: the evidence, the verdict, what can be chosen, and a
// summary that carries the choices out.
//
// Its one rule: a choice is bound to the revision and the facts it was made on; when they move, it is dropped and
// said so. Nothing is kept or sent before the summary is confirmed.
package recovery

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/widget"
)

// Port is what this screen asks for.
type Port interface {
	screen.Summaries
	Now() time.Time
	Findings(ctx context.Context, s record.StackID, look bool) ([]recovery.Finding, error)
	Enter(ctx context.Context, s record.StackID, id string, gen int, physical string) (recovery.Finding, error)
	Recover(ctx context.Context, r deploy.RecoverRequest, sink event.Sink) (deploy.Outcome, error)
	Decide(ctx context.Context, d record.Decision) error
	Who() string
}

// Screen is the recovery of one stack.
type Screen struct {
	parent context.Context // of runs
	ctx    context.Context // of looks
	cancel context.CancelFunc
	port   Port
	stack  record.StackID
	replan func(record.StackID) screen.Screen // opens a new plan of what is left

	sum     screen.StackSummary
	word    string // how commands name the stack
	list    []recovery.Finding
	at      int
	first   string // ID to open at
	loaded  bool
	loading string
	err     error
	ran     bool // the choices were carried out; a new look is needed

	cursors map[ref]*widget.Cursor
	decided map[ref]decision
	page    page
	scroll  widget.Scroll
	dialog  *widget.Dialog
	box     *entry // for an ID
}

// page is what the body shows.
type page uint8

const (
	pageStep page = iota // the stepper
	pageAll              // everything of the record, to read
	pageDiff             // the candidates against what was intended
)

type ref struct {
	id  string
	gen int
}

func refOf(f *recovery.Finding) ref { return ref{f.ID, f.Gen} }

// decision is a choice made on the screen, with what it is bound to.
type decision struct {
	option  recovery.Option
	rev     uint64
	facts   string
	verdict recovery.Verdict
	looks   []record.Look
	at      time.Time
}

// found is the answer of a look at the store or the cloud; entered that of a look at one typed ID.
type (
	found struct {
		of   *Screen
		list []recovery.Finding
		sum  screen.StackSummary
		word string
		err  error
		look bool
	}
	entered struct {
		of      *Screen
		ref     ref
		finding recovery.Finding
		err     error
	}
)

// New makes the screen of a stack, opened at the record of id ("" for the first). replan opens a plan that looks again.
func New(ctx context.Context, p Port, s record.StackID, id string, replan func(record.StackID) screen.Screen) *Screen {
	own, cancel := context.WithCancel(ctx)
	return &Screen{parent: ctx, ctx: own, cancel: cancel, port: p, stack: s, replan: replan, word: s.String(), first: id,
		cursors: map[ref]*widget.Cursor{}, decided: map[ref]decision{}}
}

// Init reads the store; the cloud is looked at only when asked.
func (s *Screen) Init() tea.Cmd { return s.read(false, "reading the store…") }

func (s *Screen) look() tea.Cmd {
	if s.loading != "" {
		return nil
	}
	return s.read(true, "looking at the cloud…")
}

func (s *Screen) read(look bool, loading string) tea.Cmd {
	s.loading = loading
	return func() tea.Msg {
		list, err := s.port.Findings(s.ctx, s.stack, look)
		sum, word, sumErr := screen.SummaryOf(s.ctx, s.port, s.stack)
		if err == nil {
			err = sumErr
		}
		return found{of: s, list: list, sum: sum, word: word, err: err, look: look}
	}
}

// Update takes what was read.
func (s *Screen) Update(msg tea.Msg) (screen.Screen, tea.Cmd) {
	switch msg := msg.(type) {
	case found:
		if msg.of == s {
			return s, s.take(msg)
		}
	case entered:
		if msg.of == s {
			return s, s.takeEntered(msg)
		}
	case screen.Shown:
		return s, s.Init()
	}
	return s, nil
}

func (s *Screen) take(m found) tea.Cmd {
	s.loading, s.err, s.loaded = "", m.err, true
	if m.err != nil {
		return nil
	}
	s.sum, s.word = m.sum, m.word
	if m.look {
		s.ran = false
	}
	here := ref{}
	if f := s.current(); f != nil {
		here = refOf(f)
	}
	s.list = slices.Clone(m.list)
	s.at = 0
	for i := range s.list {
		if refOf(&s.list[i]) == here || here == (ref{}) && s.list[i].ID == s.first {
			s.at = i
		}
	}
	return s.dropMoved()
}

// dropMoved voids the choices whose record or facts are not what they were made on (SAFETY S17).
func (s *Screen) dropMoved() tea.Cmd {
	var gone []string
	for r, d := range s.decided {
		i := slices.IndexFunc(s.list, func(f recovery.Finding) bool { return refOf(&f) == r })
		if i < 0 || s.list[i].Rev != d.rev || s.list[i].Facts != d.facts {
			delete(s.decided, r)
			gone = append(gone, r.id)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	s.dialog = nil
	slices.Sort(gone)
	return notice("Moved since you chose, choice dropped: %s. Read the evidence again.", join(gone))
}

func (s *Screen) takeEntered(m entered) tea.Cmd {
	s.loading = ""
	if m.err != nil {
		return notice("%s", m.err.Error())
	}
	i := slices.IndexFunc(s.list, func(f recovery.Finding) bool { return refOf(&f) == m.ref })
	if i < 0 {
		return nil
	}
	s.list[i] = m.finding
	delete(s.cursors, m.ref)
	return tea.Batch(s.dropMoved(), notice("Looked up and judged: %s.", m.finding.Verdict))
}

func notice(format string, args ...any) tea.Cmd {
	return screen.Tell(screen.Notice{Text: fmt.Sprintf(format, args...)})
}

// current is the finding on the screen, nil when nothing is uncertain.
func (s *Screen) current() *recovery.Finding {
	if s.at < len(s.list) {
		return &s.list[s.at]
	}
	return nil
}

// options are what the finding offers, and always to leave it for later.
func options(f *recovery.Finding) []recovery.Option {
	out := slices.Clone(f.Offered)
	if _, ok := f.Option(record.Later, ""); !ok {
		out = append(out, recovery.Option{Choice: record.Later, Call: "none", Loss: "nothing", Follows: "leave it uncertain"})
	}
	return out
}

// cursor is the place over a finding's options.
func (s *Screen) cursor(f *recovery.Finding) *widget.Cursor {
	c := s.cursors[refOf(f)]
	if c == nil {
		c = &widget.Cursor{}
		s.cursors[refOf(f)] = c
	}
	return c
}

// Title is the place.
func (s *Screen) Title() string { return "recover › " + s.stack.String() }

// Facts say which record it is and how old the look is.
func (s *Screen) Facts(now time.Time) []string {
	f := s.current()
	if f == nil {
		return nil
	}
	looked := "not looked at yet"
	if at := lookedAt(f); !at.IsZero() {
		looked = "looked " + screen.Age(now, at)
	}
	return []string{fmt.Sprintf("record %d of %d", s.at+1, len(s.list)), looked}
}

// lookedAt is the oldest look that the verdict rests on.
func lookedAt(f *recovery.Finding) time.Time {
	var at time.Time
	for _, l := range f.Looks {
		if at.IsZero() || l.At.Before(at) {
			at = l.At
		}
	}
	return at
}

// Close ends a look that is under way.
func (s *Screen) Close() { s.cancel() }
