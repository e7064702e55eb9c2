package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"reclaim/engine/record"
)

// completeWith completes an argument from the store, which it only reads. What cannot be read completes to nothing.
func (s *session) completeWith(names func(v record.View, args []string) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		st, err := s.openStore(false, false)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer st.Close()
		all, err := read(cmd.Context(), st, func(v record.View) ([]string, error) { return names(v, args) })
		var out []string
		for _, name := range all {
			if err == nil && strings.HasPrefix(name, typed) {
				out = append(out, name)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// stackNames are the stacks of the store, for a first argument.
func stackNames(v record.View, args []string) ([]string, error) {
	if len(args) > 0 {
		return nil, nil
	}
	ids, err := v.Stacks()
	var out []string
	for _, id := range ids {
		out = append(out, stackArg(v, id))
	}
	return out, err
}

// executionNames are the executions that can be named, for a first argument, newest first.
func executionNames(v record.View, args []string) ([]string, error) {
	if len(args) > 0 {
		return nil, nil
	}
	ids, err := v.Stacks()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, id := range ids {
		some, err := executionsOf(v, id)
		if err != nil {
			return nil, err
		}
		for _, e := range some {
			out = append(out, e.ID+"\t"+e.Verb+" of "+id.String())
		}
	}
	return out, nil
}

// stackThen completes a stack, then what belongs to it.
func stackThen(then func(v record.View, id record.StackID) ([]string, error)) func(record.View, []string) ([]string, error) {
	return func(v record.View, args []string) ([]string, error) {
		if len(args) == 0 {
			return stackNames(v, args)
		}
		id, err := findStack(v, args[0])
		if err != nil || len(args) > 1 {
			return nil, err
		}
		return then(v, id)
	}
}
