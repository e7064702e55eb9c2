package cli

import (
	"cmp"
	"context"
	"slices"

	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/ui/text"
)

// summarize says of one stack what the store at dir alone knows. It needs no network.
func (s *session) summarize(v record.View, dir string, id record.StackID) (text.Stack, error) {
	sum := text.Stack{ID: id, Counts: map[record.Status]int{}}
	list, unusable, err := v.Records(id)
	if err != nil {
		return sum, err
	}
	sum.Bad = unusable
	for i := range list {
		r := &list[i]
		sum.Counts[r.Status]++
		if r.Uncertain() {
			sum.Uncertain = append(sum.Uncertain, r.ID)
		}
	}
	tombs, err := v.Tombstones(id)
	if err != nil {
		return sum, err
	}
	sum.Tombs = len(tombs)
	hold, held, err := v.Hold(id)
	if err != nil {
		return sum, err
	}
	if held {
		sum.Hold = s.holdOf(hold)
		if sum.Progress, err = s.progress(dir, hold.Execution); err != nil {
			return sum, err
		}
	}
	if err := lastExecution(v, &sum); err != nil {
		return sum, err
	}
	sum.Next = s.nextOf(v, &sum)
	return sum, nil
}

// lastExecution fills in the last run, and the last template that any run or hold names.
func lastExecution(v record.View, sum *text.Stack) error {
	runs, err := v.Executions(sum.ID)
	if err != nil {
		return err
	}
	slices.SortStableFunc(runs, func(a, b record.Execution) int { return a.Began.Compare(b.Began) })
	for i := range runs {
		sum.Last = &runs[i]
		if t := runs[i].Template; t != "" {
			sum.Template = t
		}
	}
	if sum.Hold != nil && sum.Hold.Template != "" {
		sum.Template = sum.Hold.Template
	}
	return nil
}

// nextOf is what an operator would run next.
func (s *session) nextOf(v record.View, sum *text.Stack) []string {
	word := stackArg(v, sum.ID)
	switch {
	case sum.Hold != nil && sum.Hold.Alive == resource.Yes:
		return []string{s.line("status", word, "--follow")} // it runs; there is nothing to do but watch
	case sum.Hold != nil:
		return []string{s.recoverLine(word, &sum.Hold.Hold)}
	case len(sum.Uncertain) > 0:
		return []string{s.line("recover", word)}
	case sum.Template != "":
		return []string{s.line("plan", sum.Template, "--stack", sum.ID.Name)}
	default:
		return nil
	}
}

// summaries is summarize of every stack, in the order of their names.
func (s *session) summaries(ctx context.Context, st Store) ([]text.Stack, error) {
	dir := st.Dir()
	return read(ctx, st, func(v record.View) ([]text.Stack, error) {
		ids, err := v.Stacks()
		if err != nil {
			return nil, err
		}
		slices.SortFunc(ids, func(a, b record.StackID) int { return cmp.Compare(a.String(), b.String()) })
		var out []text.Stack
		for _, id := range ids {
			sum, err := s.summarize(v, dir, id)
			if err != nil {
				return nil, err
			}
			out = append(out, sum)
		}
		return out, nil
	})
}
