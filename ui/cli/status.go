package cli

import (
	"context"

	"github.com/spf13/cobra"

	"reclaim/engine/record"
	"reclaim/ui/text"
)

// stackJSON is one stack of `status --json`.
type stackJSON struct {
	Stack     string                `json:"stack"`
	Hold      *holdJSON             `json:"hold"`
	Last      *record.Execution     `json:"last"`
	Counts    map[record.Status]int `json:"counts"`
	Uncertain []string              `json:"uncertain"`
	Tombs     int                   `json:"tombstones"`
	Unusable  []record.BadRecord    `json:"unusable"`
	Template  string                `json:"template,omitempty"`
	Progress  *text.Progress        `json:"progress"` // of the execution that holds the stack
	Next      []string              `json:"next"`
	Records   []record.Record       `json:"records,omitempty"` // of `status STACK`
}

func jsonOf(sum *text.Stack) stackJSON {
	j := stackJSON{Stack: sum.ID.String(), Last: sum.Last, Counts: sum.Counts, Uncertain: emptyNotNull(sum.Uncertain),
		Tombs: sum.Tombs, Unusable: emptyNotNull(sum.Bad), Template: sum.Template, Progress: sum.Progress, Next: emptyNotNull(sum.Next)}
	if sum.Hold != nil {
		j.Hold = &holdJSON{sum.Hold.Hold, sum.Hold.Alive}
	}
	return j
}

// emptyNotNull makes a nil slice an empty one, so that JSON readers always find a list.
func emptyNotNull[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func (s *session) statusCommand() *cobra.Command {
	var follow bool
	c := &cobra.Command{
		Use:   "status [STACK]",
		Short: "What the store knows of each stack: hold, last run, uncertain creates, what to run next",
		Long: `Reads the store alone: no network, no credentials. It exits 0 when it could say how things are, however they are;
recover STACK is the command whose exit code says that creates are uncertain.

With --follow it prints what the execution that holds the stack does, from its beginning, until that ends.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: s.args(stackWords),
		RunE: s.run(func(ctx context.Context, args []string) error {
			if !follow {
				return s.status(ctx, args)
			}
			if len(args) == 0 {
				return usage("--follow wants a STACK")
			}
			return s.follow(ctx, args[0])
		}),
	}
	c.Flags().BoolVar(&follow, "follow", false, "follow the execution that holds the stack")
	return c
}

func (s *session) status(ctx context.Context, args []string) error {
	st, err := s.openStore(false, false)
	if err != nil {
		return err
	}
	defer st.Close()
	if len(args) == 1 {
		return st.Read(ctx, func(v record.View) error { return s.statusOf(v, st.Dir(), args[0]) })
	}
	sums, err := s.summaries(ctx, st)
	if err != nil {
		return err
	}
	list := []stackJSON{}
	for i := range sums {
		list = append(list, jsonOf(&sums[i]))
	}
	s.rep.result = list
	s.rep.text = "store " + st.Dir() + "\n\n" + s.page().Status(sums)
	return nil
}

func (s *session) statusOf(v record.View, dir, typed string) error {
	id, err := findStack(v, typed)
	if err != nil {
		return err
	}
	sum, err := s.summarize(v, dir, id)
	if err != nil {
		return err
	}
	list, unusable, err := v.Records(id)
	if err != nil {
		return err
	}
	j := jsonOf(&sum)
	j.Records = list
	s.rep.stack, s.rep.result = id.String(), j
	s.rep.text = s.page().Status([]text.Stack{sum}) + "\n" + s.page().Records(list, unusable)
	return nil
}
