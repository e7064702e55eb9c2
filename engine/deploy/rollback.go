package deploy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
)

// restored is the change that makes the generation current again which the record of a rollback replaced; none where it
// replaced nothing, or that was done already.
func (t *task) restored(s *plan.Subject) []change {
	if s.Undo == nil || s.Undo.Old == nil || s.Undo.Old.Status != record.Retired {
		return nil
	}
	old := *s.Undo.Old
	old.Status = record.Made
	if old.Pending != nil || old.InFlight != nil {
		old.Status = record.Updating // as it was when it was replaced
	}
	return []change{{rec: &old, step: record.StepPersist(old.ID), why: fmt.Sprintf("current again: generation %d is rolled back", s.Record.Gen)}}
}

// restore commits that the replaced generation is current again, before anything of the new one is removed (S23).
func (t *task) restore(ctx context.Context, rec *record.Record, with []change) ending {
	if len(with) == 0 {
		return again
	}
	rec.RolledBack = true
	why := fmt.Sprintf("rolled back: generation %d is current again", with[0].rec.Gen)
	if err := t.journal.commit(ctx, append(with, change{rec: rec, step: record.StepPersist(rec.ID), why: why})...); err != nil {
		return t.notCommitted(err)
	}
	t.acted = true
	return again
}

// madeHere reports whether the run made something that is still recorded.
func (j *journal) madeHere() bool {
	return len(j.find(func(r *record.Record) bool {
		in := r.Made()
		return in != nil && in.Maker() == j.fence.Execution
	})) > 0
}

// failed reports whether what the run made is to be rolled back: a resource failed, and nothing else ended the run.
func (d *deployment) failed(ctx context.Context, o *Outcome) bool {
	if !slices.ContainsFunc(o.Items, func(it ItemResult) bool { return it.Result == event.Failed }) || !d.journal.madeHere() {
		return false
	}
	if ctx.Err() != nil || d.halt.stopped() != nil || d.halt.draining() != "a resource failed" {
		o.Summary += "; what it made was not rolled back"
		return false
	}
	return true
}

// undo rolls back what an execution made, under a hold of its own. Deleting what the run itself made is what was approved
// with its plan; the data that is in it is not (S25).
func undo(ctx context.Context, env Env, r Request, execution string) Outcome {
	penv := plan.Env{Store: env.Store, Cloud: env.Cloud, Sealer: env.Sealer, Now: env.Clock.Now, Parallel: r.Parallel}
	p, err := plan.MakeRollback(ctx, penv, r.Plan.Stack, execution)
	if err == nil {
		err = plan.Save(ctx, env.Store, p)
	}
	if err != nil {
		return notUndone(execution, err)
	}
	req := Request{Plan: p, Parallel: r.Parallel, Strict: r.Strict}
	for i := range p.Items {
		if it := &p.Items[i]; it.CanRun() && r.OnFailure.covers(it) {
			req.Approvals = append(req.Approvals, Approval{ID: it.ID, Gen: it.Gen, Grants: it.Needs})
		}
	}
	o, err := Run(ctx, env, req)
	if err != nil {
		return notUndone(execution, err)
	}
	return o
}

// covers reports whether an item of the rollback may run.
func (f *OnFailure) covers(it *plan.Item) bool {
	return !slices.ContainsFunc(it.Needs, func(g plan.Grant) bool {
		return g != plan.GrantChange && g != plan.GrantDelete && (g != plan.GrantDataLoss || !slices.Contains(f.AllowDataLoss, it.ID))
	})
}

func notUndone(execution string, why error) Outcome {
	o := Outcome{Items: []ItemResult{}, Exit: ExitError, Summary: "what " + execution + " made was not rolled back: " + why.Error(), Next: []string{"reclaim rollback " + execution}}
	if _, held := errors.AsType[*record.HeldError](why); held {
		o.Exit = ExitHeld
	}
	o.Exits = []int{o.Exit}
	return o
}

// undone adds a rollback to the outcome of the run that it followed.
func (o *Outcome) undone(r Outcome) {
	o.Rollback = &r
	for _, c := range r.Exits {
		if !slices.Contains(o.Exits, c) {
			o.Exits = append(o.Exits, c)
		}
	}
	o.Exit = FirstExit(o.Exits)
	o.Emergency = cmp.Or(r.Emergency, o.Emergency)
	o.Next = slices.DeleteFunc(o.Next, func(n string) bool { return n == "reclaim rollback "+o.Execution })
	for _, n := range r.Next {
		if !slices.Contains(o.Next, n) {
			o.Next = append(o.Next, n)
		}
	}
}

// maxOutputs bounds the outputs that an execution keeps, in bytes of JSON; its summary has to fit into the store's 1 MiB.
const maxOutputs = 768 << 10

// keptOutputs are the outputs that the store keeps: none where they are too large.
func (s *shared) keptOutputs(outputs []plan.Output) []plan.Output {
	b, err := json.Marshal(outputs)
	if err == nil && len(b) <= maxOutputs {
		return outputs
	}
	s.out.emit(event.Warning{Text: fmt.Sprintf("the outputs are %d bytes and are not kept; the bound is %d", len(b), maxOutputs)})
	return nil
}
