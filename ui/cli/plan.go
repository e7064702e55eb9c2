package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"reclaim/engine/deploy"
	"reclaim/engine/plan"
	"reclaim/ui/text"
)

type planOptions struct {
	source
	adopt    []string
	out      string
	detailed bool
	all      bool
	markdown bool
}

func (s *session) planCommand() *cobra.Command {
	var o planOptions
	c := &cobra.Command{
		Use:   "plan FILE|STACK",
		Short: "Say what a deploy would do, and why; keep the plan in the store",
		Long: `Looks at the cloud and at the store and makes a plan. Nothing is changed but that the plan is kept in the store, which is
made where there is none.

Exit codes: 0 the plan was made, 3 it is blocked by uncertain creates, 4 something in it is blocked;
with --detailed-exitcode also 2: there is something to do.`,
		RunE:              s.run(func(ctx context.Context, args []string) error { return s.plan(ctx, &o, args) }),
		ValidArgsFunction: s.targetArgs,
	}
	o.flags(c.Flags())
	c.Flags().StringArrayVar(&o.adopt, "adopt", nil, "ID[=PHYSICAL]: plan to take over an object that is not ours")
	c.Flags().StringVar(&o.out, "out", "", "write the plan to a file too, for review elsewhere")
	c.Flags().BoolVar(&o.detailed, "detailed-exitcode", false, "exit 2 when there is something to do")
	c.Flags().BoolVar(&o.markdown, "markdown", false, "print a summary for a pull request: what is lost first, the rest folded")
	c.Flags().BoolVar(&o.all, "all", false, "list what is folded")
	return c
}

func (s *session) plan(ctx context.Context, o *planOptions, args []string) error {
	if o.markdown && s.json {
		return usage("--markdown and --json are two forms of one answer; choose one")
	}
	at, err := s.target(&o.source, args)
	if err != nil {
		return err
	}
	adopt, err := idValues("--adopt", o.adopt)
	if err != nil {
		return err
	}
	w, err := s.withTemplate(ctx, at.file, at.name, at.params, true)
	if err != nil {
		return err
	}
	defer w.close()
	hold, err := heldBy(ctx, w.store, w.stack)
	if err != nil {
		return err
	}
	p, err := s.makePlan(ctx, w, adopt, o.parallel)
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := writePlan(o.out, p); err != nil {
			return err
		}
		s.note("wrote the plan to %s", o.out)
	}
	next := s.afterPlan(p, at.again, w.word, o.out)
	if hold != nil { // a deploy would be refused
		next = s.afterHeld(w.word, s.holdOf(*hold))
	}
	s.planReply(p, o.all, next)
	if o.markdown {
		s.rep.text = text.Markdown(p, next)
	}
	s.rep.codes = planCodes(p, o.detailed)
	return nil
}

// makePlan plans the deploy of a template and keeps the plan.
func (s *session) makePlan(ctx context.Context, w *work, adopt map[string]string, parallel int) (*plan.Plan, error) {
	p, err := plan.Make(ctx, w.env(parallel), w.graph, w.stack, plan.Options{Adopt: adopt})
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", w.stack, err)
	}
	if err := plan.Save(ctx, w.store, p); err != nil {
		return nil, fmt.Errorf("keep the plan: %w", err)
	}
	return p, nil
}

// planReply makes the answer of a plan.
func (s *session) planReply(p *plan.Plan, all bool, next []string) {
	pg := s.page()
	pg.All = all
	s.rep.stack, s.rep.result = p.Stack.String(), p
	s.rep.text += pg.Plan(p, next)
	for i := range p.Items {
		it := &p.Items[i]
		if it.Action == plan.Blocked {
			s.rep.problem(Problem{Exit: blockedCode(it), ID: it.ID, shown: true,
				Message: strings.TrimSuffix(string(it.Reason)+": "+it.Detail, ": ")})
		}
	}
}

// blockedCode is the exit code that a blocked item stands for.
func blockedCode(it *plan.Item) int {
	if it.Reason == plan.Uncertain {
		return deploy.ExitUncertain
	}
	return deploy.ExitBlocked
}

// planCodes are the exit codes of a plan beside those of its blocked items.
func planCodes(p *plan.Plan, detailed bool) []int {
	for i := range p.Items {
		if detailed && p.Items[i].CanRun() {
			return []int{deploy.ExitChanges}
		}
	}
	return nil
}

// afterPlan are the commands that carry a plan on. again are the words that mean its template, nil when they are not known.
func (s *session) afterPlan(p *plan.Plan, again []string, word, out string) []string {
	var next []string
	run, uncertain := false, false
	for i := range p.Items {
		it := &p.Items[i]
		run = run || it.CanRun()
		uncertain = uncertain || it.Action == plan.Blocked && it.Reason == plan.Uncertain
	}
	if uncertain {
		next = append(next, s.line("recover", word))
	}
	switch {
	case !run:
	case p.Verb == plan.VerbDestroy:
		next = append(next, s.line("destroy", word))
	case p.Verb == plan.VerbRollback:
		next = append(next, s.line("rollback", p.Of))
	case out != "":
		next = append(next, s.line("deploy", "--plan", out))
	case again != nil:
		next = append(next, s.line(append([]string{"deploy"}, again...)...))
	default:
		next = append(next, s.line("deploy", "--plan", text.Short(p.Fingerprint)))
	}
	return next
}

// writePlan writes a plan for review elsewhere: whole or not at all, and for nobody else to read.
func writePlan(path string, p *plan.Plan) error {
	b, err := plan.Encode(p)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write plan %s: %w", path, err)
	}
	defer os.Remove(f.Name()) // gone already when all went well
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write plan %s: %w", path, err)
	}
	return nil
}

// idValues reads ID or ID=VALUE flags.
func idValues(flag string, given []string) (map[string]string, error) {
	out := map[string]string{}
	for _, g := range given {
		id, v, _ := strings.Cut(g, "=")
		if id == "" {
			return nil, usage("%s %q: want ID or ID=VALUE", flag, g)
		}
		out[id] = v
	}
	return out, nil
}
