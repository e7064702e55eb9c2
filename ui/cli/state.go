package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"reclaim/engine/record"
)

func (s *session) stateCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "state",
		Short: "Look at the records of a stack; check, copy and move the store",
		Args:  cobra.NoArgs,
		RunE:  needsSub,
	}
	var stack string
	list := &cobra.Command{
		Use:               "list [STACK]",
		Short:             "List records, all generations",
		Args:              cobra.MaximumNArgs(1),
		RunE:              s.run(s.stateList),
		ValidArgsFunction: s.args(stackWords),
	}
	show := &cobra.Command{
		Use:               "show [STACK] ID",
		Short:             "Show every generation of one record, whatever its status",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: s.words(recordWords, stackWords),
		RunE: s.run(func(ctx context.Context, args []string) error {
			if len(args) == 2 {
				stack = args[0]
			}
			return s.stateShow(ctx, stack, args[len(args)-1])
		}),
	}
	show.Flags().StringVar(&stack, "stack", "", "stack that has the record")
	c.AddCommand(list, show, s.checkCommand(), s.backupCommand(), s.exportCommand(), s.importCommand(), s.forgetCommand())
	return c
}

// needsSub is the RunE of a command that only groups others.
func needsSub(cmd *cobra.Command, _ []string) error {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return usage("%s wants a subcommand: %s", cmd.CommandPath(), strings.Join(names, ", "))
}

// recordsJSON is the result of `state list` and `state show`.
type recordsJSON struct {
	Records  []record.Record    `json:"records"`
	Unusable []record.BadRecord `json:"unusable"`
}

func (s *session) stateList(ctx context.Context, args []string) error {
	st, err := s.openStore(false, false)
	if err != nil {
		return err
	}
	defer st.Close()
	return st.Read(ctx, func(v record.View) error {
		ids, err := s.stacksOf(v, slices.Concat(args, []string{""})[0])
		if err != nil {
			return err
		}
		all := recordsJSON{Records: []record.Record{}, Unusable: []record.BadRecord{}}
		s.rep.text = ""
		for _, id := range ids {
			list, unusable, err := v.Records(id)
			if err != nil {
				return err
			}
			all.Records, all.Unusable = append(all.Records, list...), append(all.Unusable, unusable...)
			s.rep.text += id.String() + "\n" + s.page().Records(list, unusable)
		}
		if len(ids) == 0 {
			s.rep.text = "No stacks yet. Next: reclaim plan FILE\n"
		}
		s.rep.result = all
		return nil
	})
}

// stacksOf is the stack that is typed, or all of them; the reply is about it when it is one.
func (s *session) stacksOf(v record.View, typed string) ([]record.StackID, error) {
	if typed == "" {
		return v.Stacks()
	}
	id, err := findStack(v, typed)
	s.rep.stack = id.String()
	if err != nil {
		s.rep.stack = ""
	}
	return []record.StackID{id}, err
}

func (s *session) stateShow(ctx context.Context, stack, id string) error {
	st, err := s.openStore(false, false)
	if err != nil {
		return err
	}
	defer st.Close()
	return st.Read(ctx, func(v record.View) error {
		ids, err := s.stacksOf(v, stack)
		if err != nil {
			return err
		}
		found := map[record.StackID][]record.Record{}
		var in []string
		var bad []record.BadRecord
		for _, sid := range ids {
			list, unusable, err := v.Records(sid)
			if err != nil {
				return err
			}
			bad = append(bad, unusable...)
			for i := range list {
				if list[i].ID == id {
					found[sid] = append(found[sid], list[i])
				}
			}
			if len(found[sid]) > 0 {
				in = append(in, sid.String())
			}
		}
		return s.showRecords(found, in, bad, id)
	})
}

func (s *session) showRecords(found map[record.StackID][]record.Record, in []string, bad []record.BadRecord, id string) error {
	switch {
	case len(in) == 0 && len(bad) > 0:
		return fmt.Errorf("no usable record %s; %d cannot be used, %s among them: %s. Next: %s", id, len(bad), bad[0].Key, bad[0].Reason,
			s.line("state", "list"))
	case len(in) == 0:
		return fmt.Errorf("no record %s. Next: %s", id, s.line("state", "list"))
	case len(in) > 1:
		return fmt.Errorf("record %s is in several stacks; name one with --stack: %s", id, strings.Join(in, ", "))
	}
	s.rep.text = ""
	for sid, list := range found {
		s.rep.stack = sid.String()
		s.rep.result = recordsJSON{Records: list, Unusable: emptyNotNull(bad)}
		for i := range list {
			s.rep.text += s.page().Record(&list[i])
		}
	}
	return nil
}
