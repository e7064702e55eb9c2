package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"reclaim/engine/event"
	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/ui/text"
)

// progress is how far the execution that holds a stack is, from the spool of its events; nil when there is none.
func (s *session) progress(dir, execution string) (*text.Progress, error) {
	var failed error
	p := text.ProgressOf(func(yield func(event.Envelope)) {
		failed = s.Spooled(dir, execution, func(line []byte) {
			var e event.Envelope
			if json.Unmarshal(line, &e) == nil { // what a newer version writes is passed over
				yield(e)
			}
		})
	})
	if failed != nil || p.Events == 0 {
		return nil, failed
	}
	return p, nil
}

// aliveEvery is how often a follower looks whether the process that it follows lives.
const aliveEvery = time.Second

// follow prints the events of the execution that holds a stack as lines, from its beginning to its end. It takes no lock
// and reads nothing but the events, so that it costs the run nothing.
func (s *session) follow(ctx context.Context, typed string) error {
	if s.json {
		return usage("--follow prints lines for people; for programs: deploy --events FILE, or status --json again and again")
	}
	st, err := s.openStore(false, false)
	if err != nil {
		return err
	}
	var held *record.Hold
	err = errors.Join(st.Read(ctx, func(v record.View) error {
		id, err := findStack(v, typed)
		if err != nil {
			return err
		}
		s.rep.stack = id.String()
		h, found, err := v.Hold(id)
		if found {
			held = &h
		}
		return err
	}), st.Close())
	switch {
	case err != nil:
		return err
	case held == nil:
		s.rep.text = s.rep.stack + " is not held: nothing runs.\n"
		return nil
	}
	return s.followHold(ctx, st.Dir(), *held)
}

// errOver ends a follow: the execution is over, or its process is.
var errOver = errors.New("over")

func (s *session) followHold(ctx context.Context, dir string, h record.Hold) error {
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	live := text.NewLive(flushed{s.out}, s.page())
	defer live.Close()
	go s.untilDead(running, h, stop)
	ended := false
	err := s.Follow(running, dir, h.Execution, func(line []byte) {
		var e event.Envelope
		if json.Unmarshal(line, &e) != nil || ended {
			return
		}
		live.Emit(e)
		if end, over := e.Event.(event.Ended); over {
			ended = true
			s.rep.text = fmt.Sprintf("%s: %s (exit %d)\n", h.Execution, end.Summary, end.Exit)
			stop(errOver)
		}
	})
	if !errors.Is(context.Cause(running), errOver) {
		return err
	}
	if !ended {
		s.rep.text = fmt.Sprintf("the process of %s is dead, and left its hold. Next: %s\n", h.Execution,
			strings.Join(s.afterHeld(h.Stack.String(), s.holdOf(h)), "; "))
	}
	return nil
}

// flushed is stdout for lines that are read as they come.
type flushed struct{ out *stdout }

func (f flushed) Write(p []byte) (int, error) {
	n, err := f.out.Write(p)
	if err == nil {
		err = f.out.Flush()
	}
	return n, err
}

// untilDead ends a follow when the process that holds the stack is dead for certain.
func (s *session) untilDead(ctx context.Context, h record.Hold, stop context.CancelCauseFunc) {
	tick := time.NewTicker(aliveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if s.Alive(h.Owner) == resource.No {
				stop(errOver)
			}
		}
	}
}
