package text

import (
	"fmt"
	"io"
	"sync"
	"time"

	"reclaim/engine/event"
	"reclaim/ui/text/clean"
)

// liveFold is how many items a run may have before the lines of those that simply succeed are folded into counts.
const liveFold = 50

// troubleLimit is how many lines of one kind are printed one by one.
const troubleLimit = 50

// heartbeat is how often a run that prints nothing else says that it goes on.
const heartbeat = 10 * time.Second

// Live writes a run's events as lines for a log: one for each thing that matters, and a heartbeat with counts. It is an
// event.Sink.
type Live struct {
	mu      sync.Mutex
	w       io.Writer
	page    Page
	total   int
	settled map[event.Result]int
	said    map[string]int    // lines by what they are about
	busy    map[string]string // ID to phase, of what is under way
	quiet   bool              // nothing was printed since the last beat
	stop    chan struct{}
	stopped sync.WaitGroup
}

// NewLive starts writing to w; Close ends the heartbeat.
func NewLive(w io.Writer, pg Page) *Live {
	l := &Live{w: w, page: pg, settled: map[event.Result]int{}, said: map[string]int{}, busy: map[string]string{},
		stop: make(chan struct{})}
	l.stopped.Go(l.beat)
	return l
}

// Close stops the heartbeat.
func (l *Live) Close() {
	close(l.stop)
	l.stopped.Wait()
}

func (l *Live) beat() {
	t := time.NewTicker(heartbeat)
	defer t.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-t.C:
			l.mu.Lock()
			l.pulse()
			l.mu.Unlock()
		}
	}
}

// pulse says how far the run is, unless a line said so since the last one. Called with mu held.
func (l *Live) pulse() {
	if !l.quiet {
		l.quiet = true
		return
	}
	text := "  … " + settledWords(l.settled, l.total)
	for id, phase := range l.busy {
		text += fmt.Sprintf("; %s: %s", clean.Clean(id), clean.Clean(phase))
		if len(l.busy) > 1 {
			text += fmt.Sprintf(" and %d more", len(l.busy)-1)
		}
		break
	}
	fmt.Fprintln(l.w, text)
}

// Emit writes the line of an event, if it has one.
func (l *Live) Emit(e event.Envelope) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch ev := e.Event.(type) {
	case event.Began:
		l.began(e, ev)
	case event.Phase:
		l.busy[ev.ID] = ev.Phase
		if ev.Phase == "wait" {
			l.limited("waits", warn, fmt.Sprintf("  wait       %s until %s: %s", ev.ID, Stamp(ev.Until), ev.Detail))
		}
	case event.Called:
		if ev.Outcome != "ok" {
			l.limited("calls that did not succeed", warn, fmt.Sprintf("  call       %s %s: %s %s", ev.ID, ev.Call, ev.Outcome, ev.Code))
		}
	case event.Judged:
		l.limited("judged creates", plain, fmt.Sprintf("  judged     %s: %s (row %s), %s by %s", ev.ID, ev.Verdict, ev.Row, orNone(string(ev.Choice)), ev.By))
	case event.Settled:
		l.settle(ev)
	case event.Warning:
		l.limited("warnings", warn, "  warning    "+join(ev.ID, ev.Text))
	case event.Draining:
		l.say(warn, "  draining   no new change is started: "+ev.Why)
	}
}

func join(id, text string) string {
	if id == "" {
		return text
	}
	return id + ": " + text
}

func (l *Live) began(e event.Envelope, b event.Began) {
	l.total = len(b.Items)
	l.say(bold, fmt.Sprintf("%s %s: %s, execution %s", b.Verb, b.Stack, Plural(l.total, "resource", "resources"), e.Execution))
	if !b.Waits.IsZero() {
		l.say(warn, "  waiting until "+Stamp(b.Waits)+" for calls that the former holder may still have under way")
	}
}

func (l *Live) settle(ev event.Settled) {
	delete(l.busy, ev.ID)
	l.settled[ev.Result]++
	switch ev.Result {
	case event.Unchanged:
		return
	case event.Done, event.Kept, event.Skipped:
		if l.total > liveFold {
			return
		}
	default:
	}
	text := fmt.Sprintf("  %s%s%s", fit(string(ev.Result), 11), fit(ev.Action, 8), ev.ID)
	if ev.Physical != "" {
		text += "  " + ev.Physical
	}
	if ev.Reason != "" && ev.Result != event.Done {
		text += ": " + ev.Reason
	}
	l.limited("that are "+string(ev.Result), resultTone(ev.Result), text)
}

// limited is say for what may come thousands of times: from some number on, lines of a kind are only counted.
func (l *Live) limited(kind string, t tone, text string) {
	l.said[kind]++
	switch n := l.said[kind]; {
	case n <= troubleLimit:
		l.say(t, text)
	case n == troubleLimit+1:
		l.say(warn, fmt.Sprintf("  more       %s are not listed one by one from here on", kind))
	}
}

func (l *Live) say(t tone, text string) {
	l.quiet = false
	fmt.Fprintln(l.w, l.page.paint(t, clean.Clean(text)))
}
