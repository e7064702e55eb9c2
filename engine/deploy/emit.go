package deploy

import (
	"context"
	"sync"
	"time"

	"reclaim/engine/event"
)

// emitter numbers events and hands them to the sink in order.
type emitter struct {
	mu        sync.Mutex
	n         uint64
	execution string
	clock     Clock
	sink      event.Sink
}

func (e *emitter) emit(ev event.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.n++
	if e.sink != nil {
		e.sink.Emit(event.Envelope{N: e.n, At: e.clock.Now().UTC(), Execution: e.execution, Event: ev})
	}
}

// WallClock is the real clock.
func WallClock() Clock { return wall{} }

type wall struct{}

func (wall) Now() time.Time { return time.Now() }

func (wall) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
