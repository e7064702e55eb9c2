package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"reclaim/engine/record"
)

// completion answers a shell's question for an argument, with the arguments before it.
type completion func(v record.View, before []string) []string

// completes makes a cobra completion of one for each argument. It reads the store alone and says nothing when it cannot.
func (s *session) completes(args ...completion) cobra.CompletionFunc {
	return func(cmd *cobra.Command, before []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(before) >= len(args) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		dir, found, err := s.storeDir()
		if err != nil || !found {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		st, err := s.OpenStore(dir, StoreOptions{ReadOnly: true, Note: func(string) {}})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer st.Close()
		out, _ := read(context.WithoutCancel(cmd.Context()), st, func(v record.View) ([]string, error) { return args[len(before)](v, before), nil })
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// stackWords are the shortest words for the stacks there are.
func stackWords(v record.View, _ []string) []string {
	ids, err := v.Stacks()
	if err != nil {
		return nil
	}
	var out []string
	for _, id := range ids {
		out = append(out, stackArg(v, id))
	}
	return out
}

// resourceWords are the IDs of a stack's records and tombstones.
func resourceWords(v record.View, before []string) []string {
	id, err := findStack(v, before[0])
	if err != nil {
		return nil
	}
	records, bad, _ := v.Records(id)
	tombs, _ := v.Tombstones(id)
	var out []string
	for i := range records {
		out = append(out, records[i].ID)
	}
	for _, b := range bad {
		out = append(out, b.ID)
	}
	for _, t := range tombs {
		out = append(out, t.ID)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// heldWords are the executions that hold a stack.
func heldWords(v record.View, _ []string) []string {
	list, err := holds(v, "")
	if err != nil {
		return nil
	}
	var out []string
	for _, h := range list {
		out = append(out, h.Execution)
	}
	return out
}

// resolutionWords are the choices of orphans resolve.
func resolutionWords(record.View, []string) []string { return resolvable() }
