package text

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"reclaim/engine/event"
)

// Events writes a run's events as NDJSON, one event.Envelope a line. It is an event.Sink.
type Events struct {
	mu  sync.Mutex
	w   *bufio.Writer
	err error
}

// NewEvents writes to w.
func NewEvents(w io.Writer) *Events { return &Events{w: bufio.NewWriter(w)} }

// Emit writes one line. A reader of the file sees it at once; after a failed write nothing more is written.
func (s *Events) Emit(e event.Envelope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	b, err := json.Marshal(e)
	if err == nil {
		_, err = s.w.Write(append(b, '\n'))
	}
	if err == nil {
		err = s.w.Flush()
	}
	if err != nil {
		s.err = fmt.Errorf("write events: %w", err)
	}
}

// Err is the first failure to write, nil when all was written.
func (s *Events) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
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
