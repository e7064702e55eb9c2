package text

import (
	"bufio"
	"fmt"
	"io"
	"sync"
	"time"

	"reclaim/engine/event"
)

// Events writes a run's events as NDJSON, one event.Envelope a line. It is an event.Sink. A reader of the file sees a
// line within flushEvery: thousands of resources make too many events for a write each.
type Events struct {
	mu      sync.Mutex
	w       *bufio.Writer
	line    []byte // used again for each
	waiting bool   // a flush is due
	err     error
}

const flushEvery = 100 * time.Millisecond

// NewEvents writes to w.
func NewEvents(w io.Writer) *Events { return &Events{w: bufio.NewWriter(w)} }

// Emit takes one event; the last of a run is written at once. After a failed write nothing more is written.
func (s *Events) Emit(e event.Envelope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	b, err := e.AppendJSON(s.line[:0])
	if err == nil {
		s.line = append(b, '\n')
		_, err = s.w.Write(s.line)
	}
	if err != nil {
		s.err = fmt.Errorf("write events: %w", err)
		return
	}
	if _, last := e.Event.(event.Ended); last {
		s.flush()
	} else if !s.waiting {
		s.waiting = true
		time.AfterFunc(flushEvery, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.waiting = false
			s.flush()
		})
	}
}

func (s *Events) flush() {
	if err := s.w.Flush(); err != nil && s.err == nil {
		s.err = fmt.Errorf("write events: %w", err)
	}
}

// Close writes what is left and returns the first failure to write. The writer itself stays open.
func (s *Events) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
	return s.err
}

// Sinks gives each event to every sink, in order.
func Sinks(sinks ...event.Sink) event.Sink {
	return event.SinkFunc(func(e event.Envelope) {
		for _, s := range sinks {
			s.Emit(e)
		}
	})
}
