package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/template"
	"reclaim/engine/value"
	"reclaim/ui/text"
	"reclaim/ui/tui/app"
)

// backend answers the full-screen interface with what the commands do.
type backend struct {
	*session
	st     Store
	sealer value.Sealer
}

func (s *session) backend(st Store) (*backend, error) {
	sealer, err := st.Sealer()
	return &backend{s, st, sealer}, err
}

var _ app.Backend = (*backend)(nil)

// StorePath is the store's folder.
func (b *backend) StorePath() string { return b.st.Dir() }

// Now is the local clock.
func (b *backend) Now() time.Time { return time.Now() }

// Who is the operator's name for decisions.
func (b *backend) Who() string { return who(b.Owner()) }

// Stacks summarises every stack, from the store alone.
func (b *backend) Stacks(ctx context.Context) ([]app.StackSummary, error) {
	sums, err := b.summaries(ctx, b.st)
	if err != nil {
		return nil, err
	}
	var out []app.StackSummary
	for i := range sums {
		out = append(out, summaryOf(&sums[i]))
	}
	return out, nil
}

func summaryOf(sum *text.Stack) app.StackSummary {
	o := app.StackSummary{Stack: sum.ID, Uncertain: len(sum.Uncertain), Tombs: sum.Tombs, Bad: sum.Bad, Last: sum.Last, Template: sum.Template}
	for _, n := range sum.Counts {
		o.Records += n
	}
	if sum.Hold != nil {
		o.Hold, o.HoldAlive = &sum.Hold.Hold, sum.Hold.Liveness()
	}
	return o
}

// LastPlan returns the newest plan kept for the stack, nil when there is none.
func (b *backend) LastPlan(ctx context.Context, id record.StackID) (*plan.Plan, error) {
	return read(ctx, b.st, func(v record.View) (*plan.Plan, error) { return lastPlanOf(v, id) })
}

// Decide keeps a decision.
func (b *backend) Decide(ctx context.Context, d record.Decision) error {
	return b.st.SaveDecision(ctx, d)
}

// Findings judges the stack's uncertain records; with look it looks at the cloud.
func (b *backend) Findings(ctx context.Context, id record.StackID, look bool) ([]recovery.Finding, error) {
	w, err := b.workOf(ctx, id, look)
	if err != nil {
		return nil, err
	}
	return b.survey(ctx, w, look)
}

// Enter judges a record with the object that an operator named.
func (b *backend) Enter(ctx context.Context, id record.StackID, logical string, gen int, physical string) (recovery.Finding, error) {
	w, err := b.workOf(ctx, id, true)
	if err != nil {
		return recovery.Finding{}, err
	}
	return b.enter(ctx, w, logical, gen, physical)
}

// workOf is the open store and the cloud of a recorded stack; with verify, checked to be the stack's. The store stays
// the interface's own and is not closed with it.
func (b *backend) workOf(ctx context.Context, id record.StackID, verify bool) (*work, error) {
	w := &work{store: b.st, sealer: b.sealer, stack: id, word: id.String()}
	if verify {
		return w, b.reach(ctx, w)
	}
	var err error
	w.cloud, err = b.cloudOf(ctx, id)
	return w, err
}

// Replan makes a new plan: of a deploy from the template and the parameters of the last plan, of a destroy from records, and of
// a rollback from records and the execution that the last plan names.
func (b *backend) Replan(ctx context.Context, id record.StackID, verb plan.Verb) (*plan.Plan, error) {
	if verb != plan.VerbDeploy {
		return b.replanRecords(ctx, id, verb)
	}
	last, err := b.lastDeploy(ctx, id)
	if err != nil {
		return nil, err
	}
	w, err := b.rebind(ctx, last)
	if err != nil {
		return nil, err
	}
	return b.makePlan(ctx, w, adoptions(last), 0)
}

func (b *backend) replanRecords(ctx context.Context, id record.StackID, verb plan.Verb) (*plan.Plan, error) {
	w, err := b.workOf(ctx, id, true)
	if err != nil {
		return nil, err
	}
	var p *plan.Plan
	if verb == plan.VerbDestroy {
		p, err = plan.MakeDestroy(ctx, w.env(0), id)
	} else {
		var last *plan.Plan
		if last, err = b.LastPlan(ctx, id); err == nil && last != nil {
			p, err = plan.MakeRollback(ctx, w.env(0), id, last.Of)
		}
	}
	if err != nil || p == nil {
		return nil, err
	}
	return p, plan.Save(ctx, b.st, p)
}

// errNoTemplate says that the store knows no template of the stack.
var errNoTemplate = errors.New("no template of this stack is known yet")

// rebind binds the template that a plan names again, as it is now, with the plan's parameters.
func (b *backend) rebind(ctx context.Context, p *plan.Plan) (*work, error) {
	t, err := template.ParseFile(p.Template.Path)
	if err != nil {
		return nil, err
	}
	id := p.Stack
	w := &work{store: b.st, sealer: b.sealer, stack: record.StackID{Name: id.Name}, word: id.String()}
	if err := b.place(ctx, w, t.Types()); err != nil {
		return nil, err
	}
	if w.stack != id {
		return nil, fmt.Errorf("%w: stack %s, calls go to %s", errElsewhere, id, w.stack.Scope)
	}
	w.graph, err = t.Bind(b.binding(id.Name, id.Scope, plannedParameters(p, nil)))
	return w, err
}

// lastDeploy is the last plan kept of a stack. After a destroy it knows no template; then the last run's is used, without
// parameters.
func (b *backend) lastDeploy(ctx context.Context, id record.StackID) (*plan.Plan, error) {
	last, err := b.LastPlan(ctx, id)
	if err != nil {
		return nil, err
	}
	if last != nil && last.Template.Path != "" {
		return last, nil
	}
	sum, err := read(ctx, b.st, func(v record.View) (text.Stack, error) { return b.summarize(v, b.st.Dir(), id) })
	if err != nil {
		return nil, err
	}
	if sum.Template == "" {
		return nil, fmt.Errorf("%w. Next: %s", errNoTemplate, b.line("plan", "FILE", "--stack", id.Name))
	}
	return &plan.Plan{Stack: id, Template: plan.TemplateRef{Path: sum.Template}}, nil
}

// adoptions are the objects that a plan was made to take over.
func adoptions(p *plan.Plan) map[string]string {
	out := map[string]string{}
	for i := range p.Items {
		if it := &p.Items[i]; it.Action == plan.Adopt {
			out[it.ID] = it.Physical
		}
	}
	return out
}

// Deploy runs a plan. The end of ctx drains it.
func (b *backend) Deploy(ctx context.Context, p *plan.Plan, approvals []deploy.Approval, sink event.Sink) (deploy.Outcome, error) {
	r := deploy.Request{Plan: p, Approvals: approvals, Adopt: adoptions(p)}
	var w *work
	var err error
	if p.Verb != plan.VerbDeploy {
		w, err = b.workOf(ctx, p.Stack, true)
	} else if err = sameTemplate(p); err == nil {
		if w, err = b.rebind(ctx, p); err == nil {
			r.Graph, err = w.graph, matchesWork(p, w)
		}
	}
	if err != nil {
		return deploy.Outcome{}, err
	}
	return b.runDrained(ctx, w, sink, func(ctx context.Context, env deploy.Env) (deploy.Outcome, error) { return deploy.Run(ctx, env, r) })
}

// Recover carries decisions out. The end of ctx drains it.
func (b *backend) Recover(ctx context.Context, r deploy.RecoverRequest, sink event.Sink) (deploy.Outcome, error) {
	w, err := b.workOf(ctx, r.Stack, true)
	if err != nil {
		return deploy.Outcome{}, err
	}
	return b.runDrained(ctx, w, sink, func(ctx context.Context, env deploy.Env) (deploy.Outcome, error) { return deploy.Recover(ctx, env, r) })
}

// runDrained runs with a context that does not end with the screen's: the screen's end drains.
func (b *backend) runDrained(ctx context.Context, w *work, sink event.Sink, run func(context.Context, deploy.Env) (deploy.Outcome, error)) (deploy.Outcome, error) {
	sp := &spool{store: b.st, note: func(string, ...any) {}}
	defer sp.close()
	env := b.engine(w, ctx.Done())
	env.Sink = text.Sinks(sink, sp)
	return run(context.WithoutCancel(ctx), env)
}
