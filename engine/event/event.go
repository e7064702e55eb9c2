// Package event is what a run says while it runs: immutable, numbered events. The terminal UI, plain text, --events
// and a watcher in another process are consumers of the same stream.
//
// Its one rule: an event carries facts, already sealed and in words of the domain; it never carries a colour, a
// width, or the text of a sensitive value.
package event

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"reclaim/engine/record"
)

// Event is one of the types of this file; the set is closed.
type Event interface{ event() string }

// Envelope is an event with its place in the stream, as it is written to NDJSON and given to sinks.
type Envelope struct {
	N         uint64    // from 1, without gaps, per execution
	At        time.Time // local clock
	Execution string
	Event     Event
}

// Sink takes events. Emit is called from many goroutines, in order of N, and must not block for long.
type Sink interface{ Emit(Envelope) }

// SinkFunc makes a function a Sink.
type SinkFunc func(Envelope)

// Emit calls f.
func (f SinkFunc) Emit(e Envelope) { f(e) }

// Began is the first event of an execution.
type Began struct {
	Stack record.StackID `json:"stack"`
	Verb  string         `json:"verb"`
	Plan  string         `json:"plan,omitempty"`
	Owner record.Owner   `json:"owner"`
	Epoch uint64         `json:"epoch"`
	Items []Item         `json:"items"`          // what the run is about, in plan order
	Waits time.Time      `json:"waits,omitzero"` // until when a former holder's calls are waited out
}

// Item is one line of the run's list.
type Item struct {
	ID       string `json:"id"`
	Gen      int    `json:"gen"`
	Type     string `json:"type"`
	Action   string `json:"action"`
	Physical string `json:"physical,omitempty"`
}

// Phase says what a resource's step table does now.
type Phase struct {
	ID     string    `json:"id"`
	Gen    int       `json:"gen"`
	Phase  string    `json:"phase"` // look, create, sync, settle, delete, confirm, wait, judge
	Detail string    `json:"detail,omitempty"`
	Until  time.Time `json:"until,omitzero"` // for wait
}

// Called is a changing call that came back, or did not.
type Called struct {
	ID        string        `json:"id"`
	Gen       int           `json:"gen"`
	Call      string        `json:"call"`
	Detail    string        `json:"detail,omitempty"`
	Outcome   string        `json:"outcome"` // ok, or the error's kind
	Code      string        `json:"code,omitempty"`
	RequestID string        `json:"requestId,omitempty"`
	Took      time.Duration `json:"took"`
}

// Result of one item.
type Result string

const (
	Done      Result = "done"
	Unchanged Result = "unchanged"
	Failed    Result = "failed"
	Unsure    Result = "uncertain" // a create that may have been executed remains
	Blocked   Result = "blocked"
	Stale     Result = "stale"   // what the plan was made on has moved
	Skipped   Result = "skipped" // not reached, or waits for something that did not succeed
	Kept      Result = "kept"    // record let go, object stays
)

// Settled is the end of one item.
type Settled struct {
	ID       string `json:"id"`
	Gen      int    `json:"gen"`
	Action   string `json:"action"`
	Result   Result `json:"result"`
	Physical string `json:"physical,omitempty"`
	Reason   string `json:"reason,omitempty"` // for a person: what happened and what to do next
}

// Judged is a verdict reached during a run.
type Judged struct {
	ID      string        `json:"id"`
	Gen     int           `json:"gen"`
	Row     string        `json:"row"`
	Verdict string        `json:"verdict"`
	Choice  record.Choice `json:"choice,omitempty"` // what the run does about it
	By      string        `json:"by"`               // "S19", "decision of ops"
}

// Warning is something an operator should read.
type Warning struct {
	ID   string `json:"id,omitempty"`
	Text string `json:"text"`
}

// Draining says that no new change is started.
type Draining struct {
	Why string `json:"why"` // "interrupted", "credentials expired", "a resource failed", "hold lost", "store failed"
}

// Ended is the last event.
type Ended struct {
	Counts   map[Result]int `json:"counts"`
	Exit     int            `json:"exit"`
	Exits    []int          `json:"exits,omitempty"` // all that hold
	Summary  string         `json:"summary"`
	Next     []string       `json:"next,omitempty"` // commands to run next
	Released bool           `json:"released"`       // the hold
}

func (Began) event() string    { return "began" }
func (Phase) event() string    { return "phase" }
func (Called) event() string   { return "called" }
func (Settled) event() string  { return "settled" }
func (Judged) event() string   { return "judged" }
func (Warning) event() string  { return "warning" }
func (Draining) event() string { return "draining" }
func (Ended) event() string    { return "ended" }

// Kinds returns an empty event of each kind, for decoding and for tests that must not miss one.
func Kinds() []Event {
	return []Event{Began{}, Phase{}, Called{}, Settled{}, Judged{}, Warning{}, Draining{}, Ended{}}
}

type wire struct {
	N         uint64          `json:"n"`
	At        time.Time       `json:"at"`
	Execution string          `json:"execution"`
	Kind      string          `json:"kind"`
	Data      json.RawMessage `json:"data"`
}

// MarshalJSON writes one NDJSON line's value: n, at, execution, kind, data.
func (e Envelope) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil) }

// AppendJSON appends what MarshalJSON writes. Encoders that call it themselves save encoding/json's second look at it.
func (e Envelope) AppendJSON(b []byte) ([]byte, error) {
	if e.Event == nil {
		return nil, fmt.Errorf("write event %d: there is none in it", e.N)
	}
	data, err := json.Marshal(e.Event)
	if err != nil {
		return nil, err
	}
	execution, err := json.Marshal(e.Execution)
	if err != nil {
		return nil, err
	}
	b = strconv.AppendUint(append(b, `{"n":`...), e.N, 10)
	b = e.At.AppendFormat(append(b, `,"at":"`...), time.RFC3339Nano)
	b = append(append(b, `","execution":`...), execution...)
	b = append(append(b, `,"kind":"`...), e.Event.event()...)
	return append(append(append(b, `","data":`...), data...), '}'), nil
}

// UnmarshalJSON reads what MarshalJSON writes. An unknown kind is an error that names it.
func (e *Envelope) UnmarshalJSON(b []byte) error {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	e.N, e.At, e.Execution = w.N, w.At, w.Execution
	var err error
	switch w.Kind {
	case "began":
		e.Event, err = decode[Began](w.Data)
	case "phase":
		e.Event, err = decode[Phase](w.Data)
	case "called":
		e.Event, err = decode[Called](w.Data)
	case "settled":
		e.Event, err = decode[Settled](w.Data)
	case "judged":
		e.Event, err = decode[Judged](w.Data)
	case "warning":
		e.Event, err = decode[Warning](w.Data)
	case "draining":
		e.Event, err = decode[Draining](w.Data)
	case "ended":
		e.Event, err = decode[Ended](w.Data)
	default:
		return fmt.Errorf("event %d: unknown kind %q", w.N, w.Kind)
	}
	if err != nil {
		return fmt.Errorf("read event %d (%s): %w", w.N, w.Kind, err)
	}
	return nil
}

func decode[T Event](b []byte) (Event, error) {
	var t T
	err := json.Unmarshal(b, &t)
	return t, err
}
