package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"reclaim/engine/record"
	"reclaim/ui/text"
)

func (s *session) historyCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "history STACK [EXECUTION]",
		Short: "List the executions of a stack, or the steps and decisions of one",
		Long: `Reads the store alone: no network, no credentials. Executions are listed newest first: who ran what, when, and how it ended.
With EXECUTION it lists the steps of its journal in order, and the decisions that it carried out, with who made them.`,
		Args: cobra.RangeArgs(1, 2),
		ValidArgsFunction: s.args(stackWords, ofStack(func(v record.View, id record.StackID) ([]string, error) {
			list, err := executionsOf(v, id)
			var out []string
			for _, e := range list {
				out = append(out, word(e.ID, e.Verb)...)
			}
			return out, err
		})),
		RunE: s.run(func(ctx context.Context, args []string) error { return s.history(ctx, args, all) }),
	}
	c.Flags().BoolVar(&all, "all", false, "list what is folded")
	return c
}

// executionJSON is one execution of `history --json`.
type executionJSON struct {
	record.Execution
	Held bool `json:"held"` // it still holds the stack
}

// executionHistoryJSON is the result of `history STACK EXECUTION`.
type executionHistoryJSON struct {
	Execution executionJSON     `json:"execution"`
	Steps     []record.Step     `json:"steps"`
	Decisions []record.Decision `json:"decisions"`
}

// executionsOf are a stack's executions, newest first.
func executionsOf(v record.View, id record.StackID) ([]record.Execution, error) {
	list, err := v.Executions(id)
	slices.Reverse(list)
	return list, err
}

func (s *session) history(ctx context.Context, args []string, all bool) error {
	st, err := s.openStore(false, false)
	if err != nil {
		return err
	}
	defer st.Close()
	return st.Read(ctx, func(v record.View) error {
		id, err := findStack(v, args[0])
		if err != nil {
			return err
		}
		list, err := executionsOf(v, id)
		if err != nil {
			return err
		}
		var hold *text.Hold
		if h, held, err := v.Hold(id); err != nil {
			return err
		} else if held {
			hold = s.holdOf(h)
		}
		s.rep.stack = id.String()
		pg := s.page()
		pg.All = all
		if len(args) == 1 {
			s.executions(pg, id, list, hold)
			return nil
		}
		return s.execution(v, pg, id, list, hold, args[1])
	})
}

func (s *session) executions(pg text.Page, id record.StackID, list []record.Execution, hold *text.Hold) {
	out := []executionJSON{}
	for _, e := range list {
		out = append(out, executionJSON{e, hold != nil && hold.Execution == e.ID})
	}
	s.rep.result, s.rep.text = out, pg.History(id, list, hold)
}

func (s *session) execution(v record.View, pg text.Page, id record.StackID, list []record.Execution, hold *text.Hold, name string) error {
	i := slices.IndexFunc(list, func(e record.Execution) bool { return e.ID == name })
	if i < 0 {
		return fmt.Errorf("no execution %s of %s. Next: %s", name, id, s.line("history", stackArg(v, id)))
	}
	steps, err := v.Steps(id, 0, 0)
	if err != nil {
		return err
	}
	steps = slices.DeleteFunc(steps, func(st record.Step) bool { return st.Execution != name })
	decisions, err := v.Decisions(id)
	if err != nil {
		return err
	}
	decisions = slices.DeleteFunc(decisions, func(d record.Decision) bool { return d.Execution != name })
	s.rep.result = executionHistoryJSON{Execution: executionJSON{list[i], hold != nil && hold.Execution == name},
		Steps: emptyNotNull(steps), Decisions: emptyNotNull(decisions)}
	s.rep.text = pg.Execution(&list[i], hold, steps, decisions)
	return nil
}
