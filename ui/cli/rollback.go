package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"reclaim/engine/deploy"
	"reclaim/engine/plan"
	"reclaim/engine/record"
)

type rollbackOptions struct {
	consent
	only     []string
	parallel int
	events   string
}

func (s *session) rollbackCommand() *cobra.Command {
	var o rollbackOptions
	c := &cobra.Command{
		Use:   "rollback EXECUTION",
		Short: "Delete what one execution made, from records alone",
		Long: `Deletes what the execution made, newest first: found by its nonce, or, where a type has no tags, at the exact key that the
execution had acknowledged. Nothing else: not what was adopted, what is only presumed ours, or what a resource that stays
refers to. Where the execution replaced a resource, the replaced generation becomes current again first; if that is gone, it
refuses. What was changed in place keeps its values, and what was deleted is not made again: for both, deploy the former
template. Data goes only with --allow-data-loss ID. One that was cut off is resumed by running it again.

reclaim history STACK lists executions.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: s.args(executionWords),
		RunE:              s.run(func(ctx context.Context, args []string) error { return s.rollback(ctx, &o, args[0]) }),
	}
	f := c.Flags()
	o.scopeFlags(f)
	f.StringSliceVar(&o.deletes, "allow-delete", nil, "ID whose deletion is allowed; '*' for all of this plan, never their data")
	f.StringSliceVar(&o.losses, "allow-data-loss", nil, "ID whose data may be destroyed")
	f.StringSliceVar(&o.only, "only", nil, "ID to limit the run to, with what must go before it")
	parallelFlag(f, &o.parallel)
	f.StringVar(&o.events, "events", "", "write the event stream to this file as NDJSON")
	return c
}

func (s *session) rollback(ctx context.Context, o *rollbackOptions, execution string) error {
	stack, err := s.stackOfExecution(ctx, execution)
	if err != nil {
		return err
	}
	w, err := s.withRecords(ctx, stack.String(), true)
	if err != nil {
		return err
	}
	defer w.close()
	if held, err := s.refuseHeld(ctx, w); held || err != nil {
		return err
	}
	p, err := plan.MakeRollback(ctx, w.env(o.parallel), w.stack, execution)
	if err != nil {
		return fmt.Errorf("plan the rollback: %w", err)
	}
	if err := plan.Save(ctx, w.store, p); err != nil {
		return fmt.Errorf("keep the plan: %w", err)
	}
	if len(p.Items) == 0 {
		return s.nothingMade(p)
	}
	return s.runPlan(ctx, w, p, &o.consent, runOptions{only: o.only, events: o.events}, deploy.Request{Plan: p, Only: o.only, Parallel: o.parallel})
}

// nothingMade answers where an execution made nothing that is still recorded.
func (s *session) nothingMade(p *plan.Plan) error {
	o := deploy.Outcome{Items: []deploy.ItemResult{}, Exits: []int{}, Summary: "Nothing to roll back: nothing that " + p.Of + " made is recorded any more."}
	s.rep.stack, s.rep.result = p.Stack.String(), &o
	s.rep.text = s.page().Plan(p, nil) + "\n" + s.page().Outcome(&o)
	return nil
}

// dataOf is what deleting an object of a type destroys, "" for nothing.
func (s *session) dataOf(typ string) string {
	lookup, _ := s.schemaOf()
	if sc, ok := lookup(typ); ok && sc.DataBearing {
		return sc.Data
	}
	return ""
}

// stackOfExecution finds the stack of an execution.
func (s *session) stackOfExecution(ctx context.Context, execution string) (record.StackID, error) {
	st, err := s.openStore(false, false)
	if err != nil {
		return record.StackID{}, err
	}
	defer st.Close()
	return read(ctx, st, func(v record.View) (record.StackID, error) {
		ids, err := v.Stacks()
		if err != nil {
			return record.StackID{}, err
		}
		for _, id := range ids {
			all, err := v.Executions(id)
			if err != nil {
				return record.StackID{}, err
			}
			if slices.ContainsFunc(all, func(e record.Execution) bool { return e.ID == execution }) {
				return id, nil
			}
		}
		return record.StackID{}, fmt.Errorf("no execution %s in this store. Next: %s", execution, s.line("history", "STACK"))
	})
}
