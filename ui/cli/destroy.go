package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"reclaim/engine/deploy"
	"reclaim/engine/plan"
)

type destroyOptions struct {
	consent
	only     []string
	parallel int
	events   string
}

func (s *session) destroyCommand() *cobra.Command {
	var o destroyOptions
	c := &cobra.Command{
		Use:   "destroy STACK",
		Short: "Delete what a stack has made, from its records alone",
		Long: `Deletes what the records name, newest first, as their DeletionPolicy says. The template is not needed. Each object is read
again before its delete, and one that is not the recorded one is left alone. Data goes only with --allow-data-loss ID.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: s.args(stackWords),
		RunE:              s.run(func(ctx context.Context, args []string) error { return s.destroy(ctx, &o, args[0]) }),
	}
	f := c.Flags()
	o.scopeFlags(f)
	o.deleteFlags(f)
	f.StringSliceVar(&o.only, "only", nil, "ID to limit the run to, with what must go before it")
	parallelFlag(f, &o.parallel)
	f.StringVar(&o.events, "events", "", "write the event stream to this file as NDJSON")
	return c
}

func (s *session) destroy(ctx context.Context, o *destroyOptions, typed string) error {
	w, err := s.withRecords(ctx, typed, true)
	if err != nil {
		return err
	}
	defer w.close()
	if held, err := s.refuseHeld(ctx, w); held || err != nil {
		return err
	}
	p, err := plan.MakeDestroy(ctx, w.env(o.parallel), w.stack)
	if err != nil {
		return fmt.Errorf("plan to destroy %s: %w", w.stack, err)
	}
	if err := plan.Save(ctx, w.store, p); err != nil {
		return fmt.Errorf("keep the plan: %w", err)
	}
	return s.runPlan(ctx, w, p, &o.consent, runOptions{only: o.only, events: o.events}, deploy.Request{Plan: p, Only: o.only, Parallel: o.parallel})
}
