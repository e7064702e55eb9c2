package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"reclaim/engine/crash"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/resource"
)

// whyExpired is why a run drains whose credentials ran out.
const whyExpired = "credentials expired"

// Exit codes (DESIGN §10).
const (
	ExitDone        = 0
	ExitError       = 1
	ExitChanges     = 2
	ExitUncertain   = 3
	ExitBlocked     = 4
	ExitHeld        = 5
	ExitStore       = 6
	ExitInterrupted = 130
)

// exitOrder is which of several codes a process ends with.
var exitOrder = []int{ExitStore, ExitUncertain, ExitHeld, ExitBlocked, ExitError, ExitInterrupted, 143, ExitChanges}

// FirstExit returns the code that a process with all of these ends with; 0 for none.
func FirstExit(codes []int) int {
	for _, c := range exitOrder {
		if slices.Contains(codes, c) {
			return c
		}
	}
	return ExitDone
}

// finish releases the hold, saves what could not be recorded, and says how it went.
func (s *shared) finish(ctx context.Context, items []ItemResult, outputs []plan.Output) Outcome {
	ctx = context.WithoutCancel(ctx)
	o := Outcome{Execution: s.hold.Execution, Items: items, Outputs: outputs}
	counts := map[event.Result]int{}
	for _, it := range items {
		counts[it.Result]++
	}
	uncertain := s.journal.uncertain()
	o.Exits = s.exits(counts, uncertain)
	o.Exit = FirstExit(o.Exits)
	o.Summary = summary(counts, s.halt.draining())
	o.Next = s.next(o.Exits, counts, uncertain)
	released := s.end(ctx, &o, counts)
	s.out.emit(event.Ended{Counts: counts, Exit: o.Exit, Exits: o.Exits, Summary: o.Summary, Next: o.Next, Released: released})
	return o
}

func (s *shared) exits(counts map[event.Result]int, uncertain []record.Record) []int {
	var codes []int
	add := func(hold bool, code int) {
		if hold && !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	fatal := s.halt.stopped()
	stale := errors.Is(fatal, record.ErrStale)
	add(fatal != nil && !stale, ExitStore)
	maybe := slices.ContainsFunc(uncertain, func(r record.Record) bool {
		return r.Intent == nil || slices.ContainsFunc(r.Intent.Attempts, record.Attempt.MaybeExecuted)
	})
	add(maybe || counts[event.Unsure] > 0, ExitUncertain)
	add(stale, ExitHeld)
	add(counts[event.Blocked]+counts[event.Stale] > 0, ExitBlocked)
	add(counts[event.Failed] > 0, ExitError)
	add(s.halt.draining() == whyExpired, ExitError)
	add(s.halt.draining() == "interrupted", ExitInterrupted)
	add(len(codes) == 0 && counts[event.Skipped] > 0, ExitBlocked)
	return codes
}

func summary(counts map[event.Result]int, why string) string {
	var parts []string
	for _, r := range []event.Result{event.Done, event.Kept, event.Unchanged, event.Failed, event.Unsure, event.Blocked, event.Stale, event.Skipped} {
		if counts[r] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[r], r))
		}
	}
	text := strings.Join(parts, ", ")
	if text == "" {
		text = "nothing to do"
	}
	if why != "" {
		text += "; stopped early: " + why
	}
	return text
}

func (s *shared) next(codes []int, counts map[event.Result]int, uncertain []record.Record) []string {
	var out []string
	if cloud, ok := s.env.Cloud.(resource.Expirer); ok && s.halt.draining() == whyExpired {
		out = append(out, cloud.Renew())
	}
	login := len(out)
	if slices.Contains(codes, ExitUncertain) && len(uncertain) > 0 {
		out = append(out, "reclaim recover "+s.stack.String())
	}
	if slices.Contains(codes, ExitHeld) {
		out = append(out, "reclaim status "+s.stack.String())
	}
	switch {
	case len(codes) == 0:
	case s.hold.Of != "":
		out = append(out, "reclaim rollback "+s.hold.Of)
	case len(out) == login && s.hold.Template != "":
		out = append(out, "reclaim plan "+s.hold.Template+" --stack "+s.stack.Name)
	}
	if was := s.hold.Taken; was != nil && was.Of != "" { // a rollback that was cut off
		out = append(out, "reclaim rollback "+was.Of)
	}
	if s.hold.Of == "" && counts[event.Failed] > 0 && s.journal.madeHere() {
		out = append(out, "reclaim rollback "+s.hold.Execution)
	}
	return out
}

// end writes the emergency file where something could not be recorded, and releases the hold; false when it stays.
func (s *shared) end(ctx context.Context, o *Outcome, counts map[event.Result]int) bool {
	if lost := s.halt.lostEvidence(); len(lost) > 0 {
		path, err := s.env.Store.Emergency(lost)
		if err != nil {
			o.Summary += fmt.Sprintf("; the emergency file could not be written either: %v; lost: %v", err, physicals(lost))
		}
		o.Emergency = path
	}
	if s.halt.stopped() != nil {
		return false
	}
	e := s.hold.Begun()
	e.Ended, e.Result, e.Exit, e.Outputs = s.env.Clock.Now().UTC(), o.Summary, o.Exit, s.keptOutputs(o.Outputs)
	e.Only, e.Counts = s.only, map[string]int{}
	for r, n := range counts {
		e.Counts[string(r)] = n
	}
	crash.At(ctx, crash.BeforeRelease)
	if err := s.env.Store.Release(ctx, s.journal.fence, e); err != nil {
		o.Summary += "; the hold could not be released: " + err.Error()
		s.halt.onWrite(err)
		o.Exits = append(o.Exits, ExitStore)
		o.Exit = FirstExit(o.Exits)
		return false
	}
	return true
}

func physicals(lost []record.Evidence) []string {
	var out []string
	for _, e := range lost {
		out = append(out, fmt.Sprintf("%s %s nonce %s key %v", e.Type, e.ID, e.Nonce, e.Key))
	}
	return out
}
