package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
)

// ForgetRequest lets go of what state says of one resource. Nothing is asked of the cloud and nothing in it is changed,
// so it works on what no other verb can resolve (SAFETY S18). What is forgotten is either the record at revision Rev, or
// the record that cannot be used at the key Unusable, or Tombstones.
type ForgetRequest struct {
	Stack record.StackID
	ID    string
	Gen   int

	Rev        uint64
	Unusable   string
	Tombstones []record.Tombstone

	Who, Why string // kept in the journal with what was lost
}

// Forget carries a ForgetRequest out under a hold, in one transaction with its step. The error is non-nil only when
// nothing was begun.
func Forget(ctx context.Context, env Env, r ForgetRequest) (Outcome, error) {
	item := event.Item{ID: r.ID, Gen: r.Gen, Action: "forget"}
	return errand(ctx, env, r.Stack, "forget", item, func(ctx context.Context, s *shared) (ending, event.Item) {
		err := s.env.Store.Write(ctx, s.journal.fence, func(tx record.Tx) (err error) {
			item, err = r.forget(tx, s.step)
			return err
		})
		if err != nil {
			return s.unwritten(err), item
		}
		return done("forgotten; nothing in the cloud was changed"), item
	})
}

// forget drops what the request names, as it was seen.
func (r *ForgetRequest) forget(tx record.Tx, step func(name, detail string) record.Step) (event.Item, error) {
	item := event.Item{ID: r.ID, Gen: r.Gen, Action: "forget"}
	say := func(what string) record.Step {
		s := step(record.StepForget(r.ID, r.Gen), fmt.Sprintf("%s by %s: %s", what, r.Who, r.Why))
		s.ID, s.Gen = r.ID, r.Gen
		return s
	}
	switch {
	case r.Unusable != "":
		return item, tx.DropUnusable(r.Unusable, say("unusable record "+r.Unusable))
	case len(r.Tombstones) > 0:
		for _, t := range r.Tombstones {
			item.Type = t.Type
			if err := tx.DropTombstone(t, say("tombstone ("+t.Why+"; "+trail(t.Key, t.Identity.UniqueID, t.Nonces)+")")); err != nil {
				return item, err
			}
		}
		return item, nil
	}
	rec, found, err := tx.Record(r.Stack, r.ID, r.Gen)
	switch {
	case err != nil:
		return item, err
	case !found || rec.Rev != r.Rev:
		return item, fmt.Errorf("forget %s generation %d: %w", r.ID, r.Gen, record.ErrConflict)
	}
	item.Type, item.Physical = rec.Type, rec.Physical
	return item, tx.DropRecord(&rec, nil, say("record ("+string(rec.Status)+"; "+trail(rec.Key, rec.Identity.UniqueID, rec.Nonces())+")"))
}

// trail is what history keeps of a forgotten object, so that it can be searched for by hand.
func trail(key map[string]string, unique string, nonces []string) string {
	var parts []string
	for k, v := range key {
		parts = append(parts, k+"="+v)
	}
	slices.Sort(parts)
	if unique != "" {
		parts = append(parts, "unique ID "+unique)
	}
	for _, n := range nonces {
		parts = append(parts, "nonce "+n)
	}
	if len(parts) == 0 {
		return "no key, no nonce"
	}
	return strings.Join(parts, ", ")
}

// errand is a run about one thing that changes state alone: it takes the hold, does it, and says how it went. Records that
// cannot be used do not stop it, for it may be about one of them.
func errand(ctx context.Context, env Env, stack record.StackID, verb string, item event.Item, do func(context.Context, *shared) (ending, event.Item)) (Outcome, error) {
	hold, err := env.Store.Acquire(ctx, record.Hold{Stack: stack, Execution: NewExecution(), Verb: verb, Owner: env.Owner, Since: env.Clock.Now().UTC()})
	if err != nil {
		return Outcome{}, err
	}
	state, err := plan.ReadState(ctx, env.Store, stack)
	if err != nil {
		return Outcome{}, release(ctx, env, hold, err)
	}
	s := share(env, hold, state, 1)
	s.out.emit(event.Began{Stack: stack, Verb: verb, Owner: hold.Owner, Epoch: hold.Epoch, Items: []event.Item{item}})
	end, item := do(ctx, s)
	s.out.emit(event.Settled{ID: item.ID, Gen: item.Gen, Action: item.Action, Result: end.result, Physical: item.Physical, Reason: end.reason})
	counts := map[event.Result]int{end.result: 1}
	o := Outcome{Execution: hold.Execution, Summary: summary(counts, s.halt.draining()), Items: []ItemResult{{ID: item.ID, Gen: item.Gen, Type: item.Type, Action: item.Action,
		Result: end.result, Physical: item.Physical, Reason: end.reason}}}
	o.Exits = s.exits(counts, nil)
	o.Exit = FirstExit(o.Exits)
	released := s.end(context.WithoutCancel(ctx), &o, counts)
	s.out.emit(event.Ended{Counts: counts, Exit: o.Exit, Exits: o.Exits, Summary: o.Summary, Released: released})
	return o, nil
}

// step is a step of this run.
func (s *shared) step(name, detail string) record.Step {
	return record.Step{At: s.env.Clock.Now().UTC(), Stack: s.stack, Name: name, Detail: detail}
}

// unwritten sorts an error of a transaction that changed nothing.
func (s *shared) unwritten(err error) ending {
	s.halt.onWrite(err)
	switch {
	case errors.Is(err, record.ErrConflict):
		return ending{event.Stale, "it changed since it was looked at (" + err.Error() + "); look again"}
	default:
		if c, ok := errors.AsType[*record.ClaimedError](err); ok {
			return ending{event.Blocked, c.Error()}
		}
		return failed("%v", err)
	}
}
