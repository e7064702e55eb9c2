// Package execution shows a run while it is live, and what became of it.
//
// Its one rule: it starts exactly one run, when it is opened, and shows what the run's events say; it decides nothing.
// While the run is live a clock on the screen moves each second, so that a run that waits never looks hung.
package execution

import (
	"cmp"
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/widget"
)

// Run is what to run and how it is called.
type Run struct {
	Title   string // "deploy › orders-prod@123456789012/eu-west-1"
	Command string // the shell command that does the same
	// Start runs until all is done. The end of ctx drains the run.
	Start func(ctx context.Context, sink event.Sink) (deploy.Outcome, error)
	Now   func() time.Time
	Next  Offer // what to go on with once it has ended; none without a key
}

// Offer is a place to go on to from the end of a run.
type Offer struct {
	Key, Word, Help string
	Open            func() screen.Screen
	// When says whether an outcome asks for it; nil: always.
	When func(deploy.Outcome) bool
}

// Screen is the execution screen.
type Screen struct {
	run    Run
	ctx    context.Context
	drain  context.CancelFunc
	stream *stream

	began, now time.Time
	live       bool
	draining   string
	waits      time.Time
	items      []*item
	index      map[ref]*item
	shown      []*item
	unfolded   bool
	zoomed     bool // the list has the screen alone
	folded     int  // finished items that are not shown
	cursor     widget.Cursor
	calls      []event.Called
	warnings   []event.Warning
	end        *event.Ended
	outcome    deploy.Outcome
	err        error
}

type ref struct {
	id  string
	gen int
}

// item is one line of the run.
type item struct {
	event.Item
	place  int // in the plan's order
	phase  event.Phase
	since  time.Time // of the phase
	result event.Result
	reason string
	call   string // the last call and what came back
}

// tick is the heartbeat of a live run.
type tick struct{ of *stream }

// New makes the screen; the run starts with Init. ctx ends the run early by draining it.
func New(ctx context.Context, r Run) *Screen {
	ctx, drain := context.WithCancel(ctx)
	return &Screen{run: r, ctx: ctx, drain: drain, stream: newStream(), index: map[ref]*item{}}
}

// Init starts the run.
func (s *Screen) Init() tea.Cmd {
	s.began, s.now, s.live = s.run.Now(), s.run.Now(), true
	start := func() tea.Msg {
		s.stream.end(s.run.Start(s.ctx, s.stream))
		return nil
	}
	return tea.Batch(start, s.stream.next(), s.beat())
}

func (s *Screen) beat() tea.Cmd {
	of := s.stream
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return tick{of} })
}

// Update takes events and heartbeats.
func (s *Screen) Update(msg tea.Msg) (screen.Screen, tea.Cmd) {
	switch msg := msg.(type) {
	case tick:
		if msg.of != s.stream || !s.live {
			return s, nil
		}
		s.now = s.run.Now()
		return s, s.beat()
	case batch:
		if msg.from != s.stream {
			return s, nil
		}
		return s, s.take(msg)
	}
	return s, nil
}

func (s *Screen) take(b batch) tea.Cmd {
	for _, e := range b.events {
		s.apply(e)
	}
	s.now = s.run.Now()
	if b.ended {
		s.live, s.outcome, s.err = false, b.outcome, b.err
		s.settleFromOutcome()
		s.unfolded = s.unfolded || len(s.items) <= fewItems
	}
	s.arrange()
	if b.ended {
		s.drain() // the context has no more use
		return nil
	}
	return s.stream.next()
}

// settleFromOutcome fills in results that no event told.
func (s *Screen) settleFromOutcome() {
	for _, r := range s.outcome.Items {
		it := s.item(r.ID, r.Gen)
		it.Type, it.Action = cmp.Or(it.Type, r.Type), cmp.Or(it.Action, r.Action)
		it.result, it.reason = cmp.Or(r.Result, it.result), cmp.Or(r.Reason, it.reason)
		it.Physical = cmp.Or(r.Physical, it.Physical)
	}
}

func (s *Screen) item(id string, gen int) *item {
	r := ref{id, gen}
	if it, ok := s.index[r]; ok {
		return it
	}
	it := &item{Item: event.Item{ID: id, Gen: gen}, place: len(s.items)}
	s.items, s.index[r] = append(s.items, it), it
	return it
}

func (s *Screen) apply(env event.Envelope) {
	switch e := env.Event.(type) {
	case event.Began:
		s.began, s.waits = env.At, e.Waits
		for _, i := range e.Items {
			s.item(i.ID, i.Gen).Item = i
		}
	case event.Phase:
		it := s.item(e.ID, e.Gen)
		it.phase, it.since = e, env.At
	case event.Called:
		it := s.item(e.ID, e.Gen)
		it.call = calledText(e)
		s.calls = append(s.calls, e)
		if len(s.calls) > maxCalls {
			s.calls = slices.Delete(s.calls, 0, len(s.calls)-maxCalls)
		}
	case event.Settled:
		it := s.item(e.ID, e.Gen)
		it.result, it.reason = e.Result, e.Reason
		it.Action, it.Physical = cmp.Or(e.Action, it.Action), cmp.Or(e.Physical, it.Physical)
	case event.Judged:
		it := s.item(e.ID, e.Gen)
		it.phase, it.since = event.Phase{ID: e.ID, Gen: e.Gen, Phase: "judge", Detail: judgedText(e)}, env.At
	case event.Warning:
		s.warnings = append(s.warnings, e)
	case event.Draining:
		s.draining = e.Why
	case event.Ended:
		s.end = &e
	}
}

// fewItems is up to how many lines a run that has ended shows without being asked to unfold.
const fewItems = 50

// maxCalls is how many of the last calls are kept for the screen; the store keeps all.
const maxCalls = 100

// arrange orders the lines: what is going on first, then what went wrong, then what waits. What is finished is a
// count, unless it is unfolded: no line scrolls away that somebody may be waiting for.
func (s *Screen) arrange() {
	s.shown, s.folded = s.shown[:0], 0
	for _, it := range s.items {
		if finished(it.result) && !s.unfolded {
			s.folded++
			continue
		}
		s.shown = append(s.shown, it)
	}
	slices.SortStableFunc(s.shown, func(a, b *item) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.place, b.place))
	})
	s.cursor.Move(0, len(s.shown))
}

func finished(r event.Result) bool {
	return r == event.Done || r == event.Unchanged || r == event.Kept
}

func rank(it *item) int {
	switch {
	case it.result == "" && it.phase.Phase != "":
		return 0
	case it.result == event.Unsure:
		return 1
	case it.result != "" && !finished(it.result):
		return 2
	case it.result == "":
		return 3
	}
	return 4
}

// Running reports whether the run is live.
func (s *Screen) Running() bool { return s.live }

// Drain lets the calls under way finish and starts no new one.
func (s *Screen) Drain() tea.Cmd {
	s.draining = cmp.Or(s.draining, "interrupted")
	s.drain()
	return nil
}

// Unsettled lists what was under way.
func (s *Screen) Unsettled() []string {
	var out []string
	for _, it := range s.items {
		if it.result == "" && it.phase.Phase != "" {
			out = append(out, it.ID+" ("+it.phase.Phase+")")
		}
	}
	return out
}

// Title is the place.
func (s *Screen) Title() string { return s.run.Title }

// Command is the command that does the same.
func (s *Screen) Command() string { return s.run.Command }

// Close does nothing while the run is live: a run is drained, never dropped.
func (s *Screen) Close() {}

// Keys is the key table.
func (s *Screen) Keys() widget.Keymap {
	move := func(n int) func() tea.Cmd {
		return func() tea.Cmd { s.cursor.Move(n, len(s.shown)); return nil }
	}
	keys := []widget.Key{
		{Names: []string{"up", "k"}, Show: "↑↓", Word: "move", Help: "go up one line", Do: move(-1)},
		{Names: []string{"down", "j"}, Show: "↓", Help: "go down one line", Do: move(1)},
		{Names: []string{"pgup"}, Show: "pgup", Help: "go up ten lines", Do: move(-10)},
		{Names: []string{"pgdown"}, Show: "pgdn", Help: "go down ten lines", Do: move(10)},
		{Names: []string{"x"}, Show: "x", Word: "finished", Help: "show or fold what is finished",
			Do: func() tea.Cmd { s.unfolded = !s.unfolded; s.arrange(); return nil }},
		{Names: []string{"z"}, Show: "z", Help: "give the list the screen alone, or share it again", Do: func() tea.Cmd { s.zoomed = !s.zoomed; return nil }},
	}
	if n, ok := s.next(); ok {
		keys = append([]widget.Key{{Names: []string{n.Key}, Show: n.Key, Word: n.Word, Help: n.Help,
			Do: func() tea.Cmd { return screen.Tell(screen.Open{Screen: n.Open()}) }}}, keys...)
	}
	return widget.Keymap{Keys: keys}
}

// next is what to go on with, once the run has ended.
func (s *Screen) next() (Offer, bool) {
	n := s.run.Next
	return n, !s.live && n.Key != "" && (n.When == nil || n.When(s.outcome))
}
