package deploy

import (
	"context"
	"fmt"
	"time"

	"reclaim/engine/crash"
	"reclaim/engine/diff"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// update brings the object from observed to desired, settles, and commits recorded params.
func (t *task) update(ctx context.Context, s *plan.Subject, it *plan.Item) ending {
	if waits := value.OfMap(s.Desired).Waits(); len(waits) > 0 {
		return failed("it still waits for %v", waits)
	}
	rec, obs := s.Record, s.Look.Obs
	write, _, _ := plan.Sort(it.Fields)
	calls, held, err := plan.SyncCalls(t.provider, s.Change(obs, write), it.Fields)
	if err != nil {
		return failed("%v", err)
	}
	if len(calls) > 0 && value.OfMap(s.Desired).HasHash() {
		return done("kept; to finish it needs sensitive values that state does not hold: deploy from the stack file")
	}
	if len(calls) > 0 { // what an earlier unfinished write was sending may be there too (S31)
		rec.Pending = plan.JoinMembers(rec.Pending, t.env.Sealer.SealMap(s.Desired))
	}
	if end := t.runCalls(ctx, rec, calls); end.ended() {
		return end
	}
	output, end := t.settle(ctx, s, len(calls) > 0)
	if end.ended() {
		return end
	}
	rec.Output = t.env.Sealer.SealMap(output)
	if rec.Identity.IsZero() {
		rec.Identity = obs.Identity // not every create answers it
	}
	rec.Params, rec.Pending, rec.InFlight = t.recorded(s, it, held), nil, nil
	rec.DependsOn, rec.DeletionPolicy, rec.UpdateReplacePolicy = s.Refs, s.Policies[0], s.Policies[1]
	rec.Status, rec.Intent = record.Made, rec.Intent.Settled()
	if end := t.committed(after(ctx, rec.ID), rec, "as config says"); end.ended() {
		return end
	}
	t.publish(s.Desired, output)
	return done("")
}

// recorded are the params of the last acknowledged write: desired, but for what was blocked, or held back with it, and so
// not written.
func (t *task) recorded(s *plan.Subject, it *plan.Item, held []string) value.Map {
	out := t.env.Sealer.SealMap(s.Desired)
	for _, name := range held {
		out = out.With(name, s.Record.Params[name])
	}
	for _, f := range it.Fields {
		if top := f.Path.Top(); f.Verdict == diff.Blocked {
			out = out.With(top, s.Record.Params[top])
		}
	}
	return out
}

// runCalls sends changing calls one by one, each journaled before, and the last outcome with the next commit.
func (t *task) runCalls(ctx context.Context, rec *record.Record, calls []resource.Call) ending {
	for _, c := range calls {
		if err := t.halt.stopped(); err != nil {
			return ending{event.Skipped, err.Error()}
		}
		if rec.Status == record.Made || rec.Status == record.Retired { // a retired one that is current again
			rec.Status = record.Updating
		}
		if end := t.runCall(ctx, rec, c); end.ended() {
			return end
		}
	}
	return again
}

func (t *task) runCall(ctx context.Context, rec *record.Record, c resource.Call) ending {
	for try := 1; ; try++ {
		var end ending
		var err error
		t.call(func() {
			if end = t.announce(ctx, rec, c.Name); !end.ended() {
				err = t.sendCall(ctx, rec, c)
			}
		})
		if end.ended() {
			return end
		}
		if err == nil {
			rec.InFlight = nil
			return again
		}
		if !resource.DefinitelyNotExecuted(err) {
			return failed("%v. It may have been executed; the next deploy looks and goes on", err)
		}
		rec.InFlight = nil
		t.attempts = try
		if !t.comeAgain(err, rec) || !t.backOff(ctx, try) {
			if werr := t.journal.put(after(ctx, rec.ID), rec, record.StepCall(rec.ID, c.Name, "rejected"), err.Error()); werr != nil {
				return t.notCommitted(werr)
			}
			return failed("%v", err)
		}
	}
}

// sendCall makes one journaled call within its deadline.
func (t *task) sendCall(ctx context.Context, rec *record.Record, c resource.Call) error {
	t.phase("sync", c.Name+" "+c.Detail, time.Time{})
	began := t.env.Clock.Now()
	callCtx, cancel := context.WithTimeout(ctx, rec.InFlight.Deadline)
	defer cancel()
	err := c.Run(callCtx)
	t.called(c.Name, c.Detail, began, err)
	return err
}

// announce commits that a changing call is about to be sent. The fence is checked in the same transaction (S33).
func (t *task) announce(ctx context.Context, rec *record.Record, call string) ending {
	now := t.env.Clock.Now().UTC()
	rec.TouchedAt = now
	rec.InFlight = &record.InFlight{Call: call, Execution: t.hold.Execution, SentAt: now, Deadline: crash.Scale(t.provider.Schema().Deadlines.Call)}
	if err := t.journal.put(ctx, rec, record.StepCall(rec.ID, call, "before"), ""); err != nil {
		return t.notCommitted(err)
	}
	t.acted = true
	return again
}

// settle waits until the read says Ready, where the type goes on working after its answer, and returns the output. Types
// whose output an update changes are read once.
func (t *task) settle(ctx context.Context, s *plan.Subject, changed bool) (value.Map, ending) {
	schema, rec := t.provider.Schema(), s.Record
	volatile := false
	for _, o := range schema.Outputs {
		volatile = volatile || o.Volatile
	}
	if !schema.Settles && !(changed && volatile) {
		return s.Look.Obs.Output, again
	}
	deadline := t.env.Clock.Now().Add(crash.Scale(schema.Deadlines.Settle))
	for n := 1; ; n++ {
		l := t.read(ctx, rec.Key)
		if l.Err == nil && l.Obs != nil && l.Obs.Ready {
			return schema.Conceal(l.Obs.Output, s.Desired, rec.Params), again
		}
		if !t.env.Clock.Now().Before(deadline) {
			return nil, failed("it was not ready in time (%s); the next deploy goes on", notReady(l))
		}
		t.phase("settle", notReady(l), deadline)
		if err := t.journal.put(ctx, rec, record.StepSettle(rec.ID, n), notReady(l)); err != nil {
			return nil, t.notCommitted(err)
		}
		if t.env.Clock.Sleep(ctx, crash.Scale(time.Second)) != nil {
			return nil, ending{event.Skipped, "stopped while waiting until it is ready"}
		}
	}
}

// read looks at a key of the task's type.
func (t *task) read(ctx context.Context, key resource.Key) (l plan.Look) {
	t.call(func() { l = plan.At(ctx, t.env.Cloud, t.provider, t.stack.Scope, key) })
	return l
}

func notReady(l plan.Look) string {
	switch {
	case l.Err != nil:
		return l.Err.Error()
	case l.Obs == nil:
		return "not visible"
	default:
		return l.Obs.NotReady
	}
}

// replace makes the next generation, create-first or delete-first as was approved.
func (t *task) replace(ctx context.Context, s *plan.Subject, it *plan.Item) ending {
	if it.Order == plan.DeleteFirst {
		return t.replaceInPlace(ctx, s, it)
	}
	if waits := value.OfMap(s.Desired).Waits(); len(waits) > 0 {
		return failed("it still waits for %v", waits)
	}
	old := s.Record
	_, over := t.siblings.alone(t.provider.Schema(), s.Desired)
	defer over()
	next, end := t.nextGeneration(ctx, s, it)
	if end.ended() {
		return end
	}
	old.Status = record.Retired
	if !plan.Keeps(old.UpdateReplacePolicy) { // the plan said that the old one is kept when either policy says so
		old.UpdateReplacePolicy = s.Policies[1]
	}
	next.Intent.Replaces = old.Gen
	why := fmt.Sprintf("replaced by generation %d because of %v", it.Gen, it.Cause)
	return t.send(ctx, s, next, change{rec: old, step: record.StepRetired(old.ID, old.Gen), why: why})
}

// nextGeneration looks at where the new object will be (S5) and makes its record. s is changed to ask for the new one.
func (t *task) nextGeneration(ctx context.Context, s *plan.Subject, it *plan.Item) (*record.Record, ending) {
	if s.Generated && it.Name != "" {
		s.Name = it.Name
		s.Desired = s.Desired.With(t.provider.Schema().Name.Param, value.Of(it.Name))
	}
	if end := t.lookFirst(ctx, s); end.ended() {
		return nil, end
	}
	return t.newRecord(s, it.Gen), again
}

// replaceInPlace deletes first, because the name must stay. That the old one is gone and the intent of the next
// generation are one transaction (S22).
func (t *task) replaceInPlace(ctx context.Context, s *plan.Subject, it *plan.Item) ending {
	old := s.Record
	if end := t.deleteObject(ctx, s); end.ended() {
		return end
	}
	next, end := t.nextGeneration(ctx, s, it)
	if end.ended() {
		return end
	}
	next.Intent.DeleteFirst, next.Intent.Replaces = true, old.Gen
	return t.send(ctx, s, next, t.dropping(old, fmt.Sprintf("deleted for generation %d", it.Gen)))
}
