package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/ui/text"
)

// engine is what a run needs from outside, but for where its events go.
func (s *session) engine(w *work, drain <-chan struct{}) deploy.Env {
	return deploy.Env{Store: w.store, Cloud: w.cloud, Clock: deploy.WallClock(), Sealer: w.sealer, Owner: s.Owner(),
		Drain: drain, Alive: s.Alive}
}

// spool appends a run's events to its spool in the store's folder. It opens with the first event, which names the
// execution. A failure is noted once and ends it: the journal is what lasts.
type spool struct {
	store     Store
	note      func(format string, args ...any)
	file      io.WriteCloser
	execution string // that the file is of
	events    *text.Events
	failed    bool
}

// Emit appends one event.
func (p *spool) Emit(e event.Envelope) {
	if p.failed {
		return
	}
	if p.file != nil && p.execution != e.Execution { // a rollback that follows a failed run
		p.close()
		p.file = nil
	}
	if p.file == nil {
		f, err := p.store.SpoolWriter(e.Execution)
		if err != nil {
			p.fail(err)
			return
		}
		p.file, p.events, p.execution = f, text.NewEvents(f), e.Execution
	}
	p.events.Emit(e)
}

func (p *spool) fail(err error) {
	p.failed = true
	p.note("watchers in other processes will not see this run: %v", err)
}

func (p *spool) close() {
	if p.file == nil {
		return
	}
	if err := errors.Join(p.events.Close(), p.file.Close()); err != nil {
		p.fail(err)
	}
}

// carryOut runs what changes things: with progress on stderr, events in the file that was asked for and in the spool,
// and signals that drain. The reply is the outcome.
func (s *session) carryOut(ctx context.Context, w *work, eventsFile string, run func(context.Context, deploy.Env) (deploy.Outcome, error)) error {
	live := text.NewLive(s.Stderr, s.stderrPage())
	sp := &spool{store: w.store, note: s.note}
	defer sp.close()
	sinks := []event.Sink{live, sp}
	var events *text.Events
	if eventsFile != "" {
		f, err := os.OpenFile(eventsFile, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			live.Close()
			return fmt.Errorf("open events file: %w", err)
		}
		defer f.Close()
		events = text.NewEvents(f)
		sinks = append(sinks, events)
	}
	env := s.engine(w, s.interrupt.drains())
	env.Sink = text.Sinks(sinks...)
	o, err := run(ctx, env)
	live.Close()
	if events != nil {
		if err := events.Close(); err != nil {
			s.rep.problem(Problem{Exit: deploy.ExitError, Message: err.Error()})
		}
	}
	if held, ok := errors.AsType[*record.HeldError](err); ok {
		s.heldReply(w.word, held.Hold)
		return nil
	}
	if err != nil {
		return err
	}
	s.outcomeReply(w, &o)
	return nil
}

// stderrPage is the layout of progress.
func (s *session) stderrPage() text.Page {
	pg := s.page()
	pg.Color = pg.Color && s.Terminal.Err
	return pg
}

// outcomeReply makes the answer of a run from its outcome, and from nothing else.
func (s *session) outcomeReply(w *work, o *deploy.Outcome) {
	s.finished(o)
	if o.Rollback != nil {
		s.finished(o.Rollback)
	}
	s.rep.stack, s.rep.result = w.stack.String(), o
	pg := s.page()
	pg.Told = s.Terminal.Together
	s.rep.text += pg.Outcome(o)
	s.rep.codes = append(slices.Clone(o.Exits), o.Exit)
	items := o.Items
	if o.Rollback != nil {
		items = slices.Concat(items, o.Rollback.Items)
	}
	for i := range items {
		if it := &items[i]; it.Reason != "" && resultCode(it.Result) != deploy.ExitDone {
			s.rep.problem(Problem{Exit: resultCode(it.Result), ID: it.ID, Message: it.Reason, shown: true})
		}
	}
	if o.Emergency != "" {
		s.rep.problem(Problem{Exit: deploy.ExitStore, Message: "the store could not be written; the evidence is in " + o.Emergency, shown: true})
	}
}

// finished puts what only the command line knows into an outcome: which signal came, and the flags of this call.
func (s *session) finished(o *deploy.Outcome) {
	if code := s.interrupt.Code(); code != 0 {
		for i := range o.Exits {
			if o.Exits[i] == deploy.ExitInterrupted {
				o.Exits[i] = code
			}
		}
		if o.Exit == deploy.ExitInterrupted {
			o.Exit = code
		}
	}
	for i, c := range o.Next {
		o.Next[i] = s.complete(c)
	}
}

// resultCode is the exit code that an item's result stands for.
func resultCode(r event.Result) int {
	switch r {
	case event.Unsure:
		return deploy.ExitUncertain
	case event.Blocked, event.Stale:
		return deploy.ExitBlocked
	case event.Failed:
		return deploy.ExitError
	default:
		return deploy.ExitDone
	}
}

// complete adds to a command that the engine names the flags of this call that it cannot know.
func (s *session) complete(command string) string {
	if !strings.HasPrefix(command, "reclaim ") {
		return command
	}
	flags := strings.TrimPrefix(s.line(), "reclaim")
	return strings.TrimSuffix(command, flags) + flags
}

// unchanged is the outcome of a plan in which nothing can run.
func unchanged(p *plan.Plan) deploy.Outcome {
	o := deploy.Outcome{Items: []deploy.ItemResult{}, Outputs: p.Outputs, Summary: "No changes."}
	blocked := 0
	for i := range p.Items {
		it := &p.Items[i]
		r := deploy.ItemResult{ID: it.ID, Gen: it.Gen, Type: it.Type, Action: string(it.Action), Result: event.Unchanged, Physical: it.Physical}
		if it.Action == plan.Blocked {
			blocked++
			r.Result, r.Reason = event.Blocked, strings.TrimSuffix(string(it.Reason)+": "+it.Detail, ": ")
			o.Exits = append(o.Exits, blockedCode(it))
		}
		o.Items = append(o.Items, r)
	}
	if blocked > 0 {
		o.Summary = fmt.Sprintf("Nothing was changed: %s blocked.", text.Plural(blocked, "resource is", "resources are"))
	}
	o.Exit = deploy.FirstExit(o.Exits)
	slices.Sort(o.Exits)
	o.Exits = slices.Compact(o.Exits)
	return o
}
