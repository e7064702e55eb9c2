package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"reclaim/engine/deploy"
	"reclaim/engine/record"
	"reclaim/ui/text"
)

func (s *session) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Find and explain what does not fit together in the store",
		Long: `Reads everything in the store and beside it, and says of each thing that does not fit what it is, where, and what can be
done. It changes nothing. Exit code 0: nothing was found; 1: something was.`,
		Args: cobra.NoArgs,
		RunE: s.run(s.stateCheck),
	}
}

// checkJSON is the result of `state check`.
type checkJSON struct {
	Store    string        `json:"store"` // its folder
	Findings []record.Flaw `json:"findings"`
}

func (s *session) stateCheck(ctx context.Context, _ []string) error {
	dir, _, err := s.storeDir()
	if err != nil {
		return err
	}
	found, checked, err := s.flaws(ctx)
	if err != nil {
		return err
	}
	for i := range found {
		f := &found[i]
		for j, c := range f.Next {
			f.Next[j] = s.complete(c)
		}
		s.rep.problem(Problem{Exit: deploy.ExitError, ID: f.ID, Message: string(f.Kind) + ": " + f.Text, shown: true})
	}
	s.rep.result = checkJSON{Store: dir, Findings: emptyNotNull(found)}
	s.rep.text = "store " + dir + "\n" + s.page().Flaws(found, checked)
	return nil
}

// flaws are those of the store, and of the plans it keeps. A store that cannot be opened has one that says so.
func (s *session) flaws(ctx context.Context) (found []record.Flaw, checked string, err error) {
	st, err := s.openStore(false, false)
	switch {
	case errors.Is(err, record.ErrNewer):
		return []record.Flaw{{Kind: record.FlawNewer, Text: err.Error(), Remedy: "use the version of reclaim that wrote it"}}, "", nil
	case errors.Is(err, record.ErrDamaged):
		return []record.Flaw{{Kind: record.FlawDamaged, Text: err.Error(), Remedy: "keep a copy of the file, and put a backup in its place"}}, "", nil
	case err != nil:
		return nil, "", err
	}
	defer st.Close()
	lookup, _ := s.schemaOf()
	found, err = st.Check(ctx, func(typ string) bool { _, known := lookup(typ); return known })
	if err != nil {
		return nil, "", err
	}
	err = st.Read(ctx, func(v record.View) error {
		ids, err := v.Stacks()
		if err != nil {
			return err
		}
		records := 0
		for _, id := range ids {
			list, _, err := v.Records(id)
			if err != nil {
				return err
			}
			records += len(list)
			if f := planFlaw(v, id); f != nil {
				found = append(found, *f)
			}
		}
		checked = fmt.Sprintf("%s, %s, with journal, claims, holds, plans and decisions", text.Plural(len(ids), "stack", "stacks"),
			text.Plural(records, "record", "records"))
		return nil
	})
	return found, checked, err
}

// planFlaw looks at the last plan of a stack.
func planFlaw(v record.View, id record.StackID) *record.Flaw {
	f := &record.Flaw{Kind: record.FlawPlan, Stack: id.String(), Remedy: "nothing is lost but the plan; make a new one"}
	p, err := lastPlanOf(v, id)
	switch {
	case err != nil:
		f.Text = fmt.Sprintf("its last plan cannot be read: %v", err)
	case p == nil || p.Stack == id:
		return nil
	default:
		f.Where, f.Text = p.Fingerprint, fmt.Sprintf("its last plan is of stack %s", p.Stack)
	}
	return f
}
