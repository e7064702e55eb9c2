package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"

	"github.com/spf13/cobra"

	"reclaim/engine/deploy"
	"reclaim/engine/plan"
	"reclaim/engine/record"
)

func (s *session) showCommand() *cobra.Command {
	var stack string
	var all bool
	c := &cobra.Command{
		Use:               "show [FINGERPRINT|FILE]",
		Short:             "Show a plan again; without a name, the last one that was made",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: s.args(planWords),
		RunE: s.run(func(ctx context.Context, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			return s.show(ctx, name, stack, all)
		}),
	}
	c.Flags().StringVar(&stack, "stack", "", "stack whose last plan is shown")
	c.Flags().BoolVar(&all, "all", false, "list what is folded")
	return c
}

func (s *session) show(ctx context.Context, name, stack string, all bool) error {
	p, err := s.findPlan(ctx, name, stack)
	if err != nil {
		return err
	}
	s.planReply(p, all, s.afterPlan(p, nil, p.Stack.String(), fileOnly(name)))
	// Showing what a plan says is no failure, whatever it says.
	for i := range s.rep.problems {
		s.rep.problems[i].Exit = deploy.ExitDone
	}
	return nil
}

// fingerprintShape tells a fingerprint, or the first digits of one, from a path.
var fingerprintShape = regexp.MustCompile(`^[0-9a-f]{4,64}$`)

// fileOnly is name when it means a file.
func fileOnly(name string) string {
	if fingerprintShape.MatchString(name) {
		return ""
	}
	return name
}

// findPlan reads a plan from a file, or from the store by its fingerprint or the first digits of it; without a name, the
// last plan of the stack, or of all stacks.
func (s *session) findPlan(ctx context.Context, name, stack string) (*plan.Plan, error) {
	if name != "" {
		b, err := os.ReadFile(name)
		if err == nil {
			return plan.Decode(b)
		}
		if !errors.Is(err, fs.ErrNotExist) || !fingerprintShape.MatchString(name) {
			return nil, fmt.Errorf("read plan: %w", err)
		}
	}
	st, err := s.openStore(false, false)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	return read(ctx, st, func(v record.View) (*plan.Plan, error) {
		if name != "" {
			return planByFingerprint(v, name)
		}
		return lastPlan(v, stack)
	})
}

// planByFingerprint finds a kept plan. First digits find the last plan of a stack.
func planByFingerprint(v record.View, name string) (*plan.Plan, error) {
	ids, err := v.Stacks()
	if err != nil {
		return nil, err
	}
	full := name
	for _, id := range ids {
		last, err := v.LastPlan(id)
		if err != nil {
			return nil, err
		}
		if len(name) < len(last) && last[:len(name)] == name {
			full = last
		}
	}
	b, ok, err := v.Plan(full)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("no plan %s in this store: give all 64 digits of an older one's fingerprint, or make a new one", name)
	}
	return plan.Decode(b)
}

// lastPlan is the newest plan of a stack, or of all stacks when none is named.
func lastPlan(v record.View, stack string) (*plan.Plan, error) {
	ids, err := v.Stacks()
	if err != nil {
		return nil, err
	}
	if stack != "" {
		id, err := findStack(v, stack)
		if err != nil {
			return nil, err
		}
		ids = []record.StackID{id}
	}
	var newest *plan.Plan
	for _, id := range ids {
		p, err := lastPlanOf(v, id)
		if err != nil {
			return nil, err
		}
		if p != nil && (newest == nil || p.MadeAt.After(newest.MadeAt)) {
			newest = p
		}
	}
	if newest == nil {
		return nil, errors.New("no plan was made yet. Next: reclaim plan FILE")
	}
	return newest, nil
}

// lastPlanOf is the last plan kept of one stack, nil when there is none.
func lastPlanOf(v record.View, id record.StackID) (*plan.Plan, error) {
	fp, err := v.LastPlan(id)
	if err != nil || fp == "" {
		return nil, err
	}
	b, ok, err := v.Plan(fp)
	if err != nil || !ok {
		return nil, err
	}
	return plan.Decode(b)
}
