package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"reclaim/engine/deploy"
	"reclaim/engine/plan"
	"reclaim/engine/record"
)

type driftOptions struct {
	detailed, all bool
	parallel      int
}

func (s *session) driftCommand() *cobra.Command {
	var o driftOptions
	c := &cobra.Command{
		Use:   "drift STACK",
		Short: "Compare what is there with what was last written, without a template",
		Long: `Looks at the object of every record and compares it, field by field, with what the last acknowledged write set. Nothing is
changed, in the cloud or in the store. What a service does not return is unverified: it is counted, and is no drift.

Exit codes: 0 everything could be looked at, 3 creates are uncertain, 4 something could not be read;
with --detailed-exitcode also 2: something differs, is gone, or is another object now.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: s.args(stackWords),
		RunE:              s.run(func(ctx context.Context, args []string) error { return s.drift(ctx, &o, args[0]) }),
	}
	f := c.Flags()
	f.BoolVar(&o.detailed, "detailed-exitcode", false, "exit 2 when something differs")
	f.BoolVar(&o.all, "all", false, "list what is folded")
	parallelFlag(f, &o.parallel)
	return c
}

func (s *session) drift(ctx context.Context, o *driftOptions, typed string) error {
	w, err := s.withRecords(ctx, typed, false)
	if err != nil {
		return err
	}
	defer w.close()
	d, err := plan.FindDrift(ctx, w.env(o.parallel), w.stack)
	if err != nil {
		return fmt.Errorf("look at %s: %w", w.stack, err)
	}
	uncertain := false
	for i := range d.Items {
		it := &d.Items[i]
		code := deploy.ExitDone
		switch {
		case it.State == plan.DriftUnfinished:
			code, uncertain = deploy.ExitUncertain, true
		case it.State.Unknown():
			code = deploy.ExitBlocked
		}
		if code != deploy.ExitDone {
			s.rep.problem(Problem{Exit: code, ID: it.ID, Message: fmt.Sprintf("%s: %s", it.State, it.Detail), shown: true})
		}
	}
	if o.detailed && d.Drifted() {
		s.rep.codes = []int{deploy.ExitChanges}
	}
	next, err := s.afterDrift(ctx, w, d, uncertain)
	if err != nil {
		return err
	}
	pg := s.page()
	pg.All = o.all
	s.rep.stack, s.rep.result, s.rep.text = w.stack.String(), d, pg.Drift(d, next)
	return nil
}

// afterDrift are the commands that go on: recover for what is uncertain, a plan for what differs.
func (s *session) afterDrift(ctx context.Context, w *work, d *plan.Drift, uncertain bool) ([]string, error) {
	var next []string
	if uncertain {
		next = append(next, s.line("recover", w.word))
	}
	if !d.Drifted() {
		return next, nil
	}
	sum, err := read(ctx, w.store, func(v record.View) (string, error) {
		sum, err := s.summarize(v, w.store.Dir(), w.stack)
		return sum.Template, err
	})
	if err == nil && sum != "" {
		next = append(next, s.line("plan", sum, "--stack", w.stack.Name))
	}
	return next, err
}
