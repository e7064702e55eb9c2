package execution

import (
	"sync"

	tea "charm.land/bubbletea/v2"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
)

// stream carries events from the run's goroutines to Update. Emit never blocks; events that arrive between two
// updates are delivered together, so that a run of ten thousand items costs a redraw per frame and not per event.
type stream struct {
	mu      sync.Mutex
	waiting []event.Envelope
	ended   bool
	outcome deploy.Outcome
	err     error
	ready   chan struct{}
}

func newStream() *stream { return &stream{ready: make(chan struct{}, 1)} }

// Emit implements event.Sink.
func (s *stream) Emit(e event.Envelope) {
	s.mu.Lock()
	s.waiting = append(s.waiting, e)
	s.mu.Unlock()
	s.wake()
}

func (s *stream) end(o deploy.Outcome, err error) {
	s.mu.Lock()
	s.ended, s.outcome, s.err = true, o, err
	s.mu.Unlock()
	s.wake()
}

func (s *stream) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// batch is what arrived since the last one.
type batch struct {
	from    *stream
	events  []event.Envelope
	ended   bool
	outcome deploy.Outcome
	err     error
}

// next waits until something arrived.
func (s *stream) next() tea.Cmd {
	return func() tea.Msg {
		<-s.ready
		s.mu.Lock()
		defer s.mu.Unlock()
		b := batch{from: s, events: s.waiting, ended: s.ended, outcome: s.outcome, err: s.err}
		s.waiting = nil
		return b
	}
}
