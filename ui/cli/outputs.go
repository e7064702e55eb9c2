package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"reclaim/engine/deploy"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/value"
	"reclaim/ui/text"
	"reclaim/ui/text/clean"
)

func (s *session) outputCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "output STACK [NAME]",
		Short: "Show the stack's outputs as the last deploy left them",
		Long: `Reads the store alone: no network, no credentials. With NAME it prints that value and nothing else, for scripts. A value that
is derived from a NoEcho parameter is not there to be shown: the store keeps only a keyed hash of it.`,
		Args: cobra.RangeArgs(1, 2),
		ValidArgsFunction: s.args(stackWords, ofStack(func(v record.View, id record.StackID) ([]string, error) {
			list, err := v.Executions(id)
			var out []string
			if e := lastOutputs(list); err == nil && e != nil {
				for _, o := range e.Outputs {
					out = append(out, word(o.Name, "")...)
				}
			}
			return out, err
		})),
		RunE: s.run(s.output),
	}
}

// outputsJSON is the result of `output STACK`.
type outputsJSON struct {
	Execution string           `json:"execution"` // the deploy that left them
	Outputs   []stackValueJSON `json:"outputs"`
	Since     []string         `json:"since"` // executions after it that changed the stack
}

// stackValueJSON is one output. Why says why there is no value.
type stackValueJSON struct {
	record.Output
	Known bool   `json:"known"`
	Why   string `json:"why,omitempty"`
}

// lastOutputs is the last execution that left outputs, nil when none did.
func lastOutputs(list []record.Execution) *record.Execution {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Outputs != nil {
			return &list[i]
		}
	}
	return nil
}

func (s *session) output(ctx context.Context, args []string) error {
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
		s.rep.stack = id.String()
		list, err := v.Executions(id)
		if err != nil {
			return err
		}
		live, bad, err := v.Records(id)
		if err != nil {
			return err
		}
		e := lastOutputs(list)
		switch {
		case e == nil:
			return fmt.Errorf("%s has no outputs: no deploy of it has ended yet. Next: %s", id, s.line("status", stackArg(v, id)))
		case len(live)+len(bad) == 0:
			return fmt.Errorf("%s has no outputs: nothing of it is recorded any more. Next: %s", id, s.line("history", stackArg(v, id)))
		}
		return s.outputs(e, since(list, e), args[1:])
	})
}

// since are the executions after e that may have changed what its outputs say.
func since(list []record.Execution, e *record.Execution) []string {
	var out []string
	for i := range list {
		if o := &list[i]; o.Began.After(e.Began) && o.ID != e.ID {
			out = append(out, o.Verb+" "+o.ID)
		}
	}
	return out
}

func (s *session) outputs(e *record.Execution, since, names []string) error {
	j := outputsJSON{Execution: e.ID, Outputs: []stackValueJSON{}, Since: emptyNotNull(since)}
	for _, o := range e.Outputs {
		why := text.WhyNotKnown(o.Value)
		j.Outputs = append(j.Outputs, stackValueJSON{o, why == "", why})
	}
	if len(since) > 0 {
		s.note("these are the outputs of %s; since then ran: %s", e.ID, strings.Join(since, ", "))
	}
	if len(names) == 0 {
		s.rep.result, s.rep.text = j, s.page().Outputs(e)
		return nil
	}
	return s.oneOutput(j, names[0])
}

// oneOutput answers with one value alone. A terminal gets it with control characters shown, anything else as it is.
func (s *session) oneOutput(j outputsJSON, name string) error {
	i := slices.IndexFunc(j.Outputs, func(o stackValueJSON) bool { return o.Name == name })
	if i < 0 {
		var known []string
		for _, o := range j.Outputs {
			known = append(known, o.Name)
		}
		if len(known) == 0 {
			return fmt.Errorf("no output %s: as of %s the stack has none", name, j.Execution)
		}
		return fmt.Errorf("no output %s; as of %s there are %s", name, j.Execution, strings.Join(known, ", "))
	}
	o := &j.Outputs[i]
	s.rep.result = o
	if !o.Known {
		return fmt.Errorf("output %s has no value to show: %s", name, o.Why)
	}
	line, ok := o.Value.Str()
	if !ok {
		line = o.Value.String()
	}
	if s.Terminal.Out {
		line = clean.Clean(line)
	}
	s.rep.text = line + "\n"
	return nil
}

// outputsMoved reports whether a deploy that has nothing to do would leave other outputs than are kept: then it runs all the
// same, to keep them.
func outputsMoved(ctx context.Context, w *work, p *plan.Plan) (bool, error) {
	noop := func(it plan.Item) bool { return it.Action == plan.Noop }
	unknown := func(o plan.Output) bool { return o.Value.HasUnknown() }
	if p.Verb != plan.VerbDeploy || slices.ContainsFunc(p.Outputs, unknown) || slices.ContainsFunc(p.Items, func(it plan.Item) bool { return !noop(it) }) {
		return false, nil
	}
	list, err := read(ctx, w.store, func(v record.View) ([]record.Execution, error) { return v.Executions(w.stack) })
	if err != nil {
		return false, err
	}
	var kept []record.Output
	if e := lastOutputs(list); e != nil {
		kept = e.Outputs
	}
	return !sameOutputs(kept, p.Outputs), nil
}

func sameOutputs(a, b []record.Output) bool {
	return slices.EqualFunc(a, b, func(x, y record.Output) bool {
		one, err := json.Marshal(x)
		if err != nil {
			return false
		}
		other, err := json.Marshal(y)
		return err == nil && string(one) == string(other) && value.Equal(x.Value, y.Value)
	})
}

// keepOutputs runs a deploy that changes nothing but the outputs that are kept.
func (s *session) keepOutputs(ctx context.Context, w *work, events string, r deploy.Request, err error) error {
	if err != nil {
		return err
	}
	return s.carryOut(ctx, w, events, func(ctx context.Context, env deploy.Env) (deploy.Outcome, error) {
		return deploy.Run(ctx, env, r)
	})
}
