package cli

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/ui/text"
	"reclaim/ui/text/clean"
)

// completer gives a shell words that may come next, each with what it is after a tab. Completing reads the store and
// reclaim.yaml and makes and changes nothing; what cannot be read is not offered.
// before holds the arguments that were typed before this one.
type completer func(v record.View, before []string) ([]string, error)

// words makes a completion function of everything that the completers offer.
func (s *session) words(from ...completer) cobra.CompletionFunc {
	return func(c *cobra.Command, before []string, typed string) ([]string, cobra.ShellCompDirective) {
		return s.offer(c.Context(), typed, before, from...), cobra.ShellCompDirectiveNoFileComp
	}
}

// args makes a completion function of one completer for each argument.
func (s *session) args(each ...completer) cobra.CompletionFunc {
	return func(c *cobra.Command, before []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(before) >= len(each) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return s.offer(c.Context(), typed, before, each[len(before)]), cobra.ShellCompDirectiveNoFileComp
	}
}

// either offers what both do, for one argument.
func either(a, b completer) completer {
	return func(v record.View, before []string) ([]string, error) {
		first, err := a(v, before)
		second, err2 := b(v, before)
		return append(first, second...), errors.Join(err, err2)
	}
}

func (s *session) offer(ctx context.Context, typed string, before []string, from ...completer) []string {
	s.Stderr = io.Discard // a shell shows it in the middle of the line
	st, err := s.openStore(false, false)
	if err != nil {
		return nil
	}
	defer st.Close()
	if ctx == nil {
		ctx = context.Background()
	}
	var out []string
	err = st.Read(ctx, func(v record.View) error {
		var failed error
		for _, f := range from {
			words, err := f(v, before)
			out, failed = append(out, words...), errors.Join(failed, err)
		}
		return failed
	})
	if err != nil {
		return nil
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(w string) bool { return !strings.HasPrefix(w, typed) })
}

// word is a completion with what it is. One that a shell would have to quote is left out: so is text from outside that
// could be taken for a command.
func word(w, what string) []string {
	if w == "" || shellWord(w) != w {
		return nil
	}
	return []string{w + "\t" + clean.Clean(what)}
}

func stackWords(v record.View, _ []string) ([]string, error) {
	ids, err := v.Stacks()
	var out []string
	for _, id := range ids {
		out = append(out, word(stackArg(v, id), id.Scope.String())...)
	}
	return out, err
}

// targetArgs completes FILE|STACK: the stacks of reclaim.yaml, and files.
func (s *session) targetArgs(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	f, err := s.stacks()
	if f == nil || err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var out []string
	for _, name := range f.names() {
		if strings.HasPrefix(name, typed) {
			out = append(out, word(name, f.stack[name].template)...)
		}
	}
	return out, cobra.ShellCompDirectiveDefault
}

// holderWords are the executions that hold a stack.
func holderWords(v record.View, _ []string) ([]string, error) {
	list, err := holds(v, "")
	var out []string
	for _, h := range list {
		out = append(out, word(h.Execution, h.Verb+" of "+h.Stack.String())...)
	}
	return out, err
}

// executionWords are the executions of every stack, newest first.
func executionWords(v record.View, _ []string) ([]string, error) {
	ids, err := v.Stacks()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, id := range ids {
		list, err := executionsOf(v, id)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			out = append(out, word(e.ID, e.Verb+" of "+id.String())...)
		}
	}
	return out, nil
}

// ofStack completes what belongs to the stack that was typed as the first argument.
func ofStack(list func(v record.View, id record.StackID) ([]string, error)) completer {
	return func(v record.View, before []string) ([]string, error) {
		id, err := findStack(v, before[0])
		if err != nil {
			return nil, err
		}
		return list(v, id)
	}
}

// resourceWords are the IDs of a stack's records, those that cannot be read too, and of its tombstones.
func resourceWords(v record.View, id record.StackID) ([]string, error) {
	records, bad, err := v.Records(id)
	tombs, terr := v.Tombstones(id)
	var out []string
	for i := range records {
		out = append(out, word(records[i].ID, records[i].Type)...)
	}
	for _, b := range bad {
		out = append(out, word(b.ID, "cannot be read")...)
	}
	for _, t := range tombs {
		out = append(out, word(t.ID, "tombstone: "+t.Why)...)
	}
	return out, errors.Join(err, terr)
}

// resolutionWords are the choices of orphans resolve.
func resolutionWords(record.View, []string) ([]string, error) { return resolvable(), nil }

// planWords are the last plans of the stacks.
func planWords(v record.View, _ []string) ([]string, error) {
	var out []string
	err := eachPlan(v, func(p *plan.Plan) {
		out = append(out, word(text.Short(p.Fingerprint), string(p.Verb)+" of "+p.Stack.String()+", "+text.Stamp(p.MadeAt))...)
	})
	return out, err
}

// planItemWords are the resources of the last plans: what --only and the approvals name.
func planItemWords(v record.View, _ []string) ([]string, error) {
	var out []string
	err := eachPlan(v, func(p *plan.Plan) {
		for i := range p.Items {
			if it := &p.Items[i]; it.CanRun() {
				out = append(out, word(it.ID, string(it.Action)+" "+it.Type)...)
			}
		}
	})
	return out, err
}

func eachPlan(v record.View, visit func(*plan.Plan)) error {
	ids, err := v.Stacks()
	if err != nil {
		return err
	}
	for _, id := range ids {
		p, err := lastPlanOf(v, id)
		if err != nil {
			return err
		}
		if p != nil {
			visit(p)
		}
	}
	return nil
}

func recordWords(v record.View, _ []string) ([]string, error) {
	ids, err := v.Stacks()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, id := range ids {
		list, _, err := v.Records(id)
		if err != nil {
			return nil, err
		}
		for i := range list {
			out = append(out, word(list[i].ID, list[i].Type+" of "+id.String())...)
		}
	}
	return out, nil
}

// typeWords are the supported types.
func (s *session) typeWords(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, sc := range s.Schemas() {
		if len(args) == 0 && strings.HasPrefix(strings.ToLower(sc.Type), strings.ToLower(typed)) {
			out = append(out, word(sc.Type, sc.Doc)...)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeFlags gives flags the completers of what they name; a flag that the command does not have is passed over.
func (s *session) completeFlags(c *cobra.Command) {
	for name, f := range map[string]cobra.CompletionFunc{
		"stack": s.words(stackWords), "take-hold": s.words(holderWords), "only": s.words(planItemWords),
		"allow-delete": s.words(planItemWords), "allow-replace": s.words(planItemWords), "allow-data-loss": s.words(planItemWords),
		"allow-presumed": s.words(planItemWords), "adopt": s.words(planItemWords), "decide": s.words(recordWords),
	} {
		if c.Flags().Lookup(name) != nil {
			_ = c.RegisterFlagCompletionFunc(name, f) // fails only for a flag that is not there, or has one
		}
	}
	if f := c.Flags().Lookup("plan"); f != nil {
		_ = c.RegisterFlagCompletionFunc("plan", func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return s.offer(c.Context(), typed, nil, planWords), cobra.ShellCompDirectiveDefault // or a file
		})
	}
	for _, sub := range c.Commands() {
		s.completeFlags(sub)
	}
}
