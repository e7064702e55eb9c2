package text

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/event"
)

func run(l *Live, events ...event.Event) {
	for i, e := range events {
		l.Emit(event.Envelope{N: uint64(i + 1), Execution: "e-1", Event: e})
	}
}

func began(n int) event.Began {
	return event.Began{Stack: stack, Verb: "deploy", Items: make([]event.Item, n)}
}

func TestALogOfASmallRunHasALinePerThingThatMatters(t *testing.T) {
	var out strings.Builder
	l := NewLive(&out, Page{})
	run(l, began(3),
		event.Phase{ID: "A", Phase: "look"}, event.Called{ID: "A", Call: "CreateRole", Outcome: "ok"},
		event.Settled{ID: "A", Action: "create", Result: event.Done, Physical: "a-1"},
		event.Called{ID: "B", Call: "CreateApi", Outcome: "uncertain", Code: "RequestTimeout"},
		event.Settled{ID: "B", Action: "create", Result: event.Unsure, Reason: "no answer"},
		event.Settled{ID: "C", Action: "noop", Result: event.Unchanged},
		event.Draining{Why: "interrupted"})
	l.Close()
	want := `deploy orders-prod@123456789012/eu-west-1: 3 resources, execution e-1
  done       create  A  a-1
  call       B CreateApi: uncertain RequestTimeout
  uncertain  create  B: no answer
  draining   no new change is started: interrupted
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}

func TestALogOfALargeRunCountsWhatSucceedsAndListsTrouble(t *testing.T) {
	var out strings.Builder
	l := NewLive(&out, Page{})
	run(l, began(10_000))
	for i := range 9_000 {
		run(l, event.Settled{ID: fmt.Sprint(i), Action: "create", Result: event.Done})
	}
	run(l, event.Settled{ID: "Bad", Action: "create", Result: event.Failed, Reason: "denied"})
	for i := range 900 {
		run(l, event.Settled{ID: fmt.Sprint(i), Action: "create", Result: event.Blocked, Reason: "waits for Bad"})
	}
	l.mu.Lock()
	l.pulse() // the first says nothing: lines were printed since the last
	l.pulse()
	l.mu.Unlock()
	l.Close()
	got := out.String()
	if n := strings.Count(got, "\n"); n > troubleLimit+10 {
		t.Errorf("%d lines for 10,000 resources", n)
	}
	for _, want := range []string{"failed     create  Bad: denied", "more       that are blocked are not listed", "9901 of 10000 settled (900 blocked, 1 failed, 9000 done)"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in the log", want)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestEventsAreOneEnvelopeALine(t *testing.T) {
	var out strings.Builder
	s := NewEvents(&out)
	for i, e := range event.Kinds() {
		s.Emit(event.Envelope{N: uint64(i + 1), Event: e})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != len(event.Kinds()) {
		t.Fatalf("%d lines for %d events", len(lines), len(event.Kinds()))
	}
	for i, line := range lines {
		var e event.Envelope
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.N != uint64(i+1) {
			t.Errorf("line %d: event %d, %v", i+1, e.N, err)
		}
	}
}

func TestALostEventFileIsReported(t *testing.T) {
	s := NewEvents(broken{})
	s.Emit(event.Envelope{Event: event.Warning{}})
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("got %v", err)
	}
}
