package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"reclaim/engine/deploy"
	"reclaim/engine/plan"
	"reclaim/engine/value"
)

type deployOptions struct {
	source
	consent
	plan      string
	only      []string
	strict    bool
	onFailure string
	events    string
}

func (s *session) deployCommand() *cobra.Command {
	var o deployOptions
	c := &cobra.Command{
		Use:   "deploy FILE|STACK | --plan P",
		Short: "Make the cloud what a template says",
		Long: `Plans, asks (or, without a terminal, wants --yes and --scope), and carries the plan out. Each create is written to the
store before it is sent. The first Ctrl-C finishes what is under way, the second stops now and says what is uncertain.

--yes allows creates, updates and what recovery may do by itself. Deletes, replacements, adoptions and data have a word of
their own each: --allow-delete, --allow-replace, --adopt, --allow-data-loss.`,
		RunE:              s.run(func(ctx context.Context, args []string) error { return s.deploy(ctx, &o, args) }),
		ValidArgsFunction: s.targetArgs,
	}
	f := c.Flags()
	o.flags(f)
	o.scopeFlags(f)
	o.deleteFlags(f)
	f.StringVar(&o.plan, "plan", "", "carry out this plan: a file, or a fingerprint in the store")
	f.StringSliceVar(&o.only, "only", nil, "ID to limit the run to, with what it needs")
	f.StringSliceVar(&o.replaces, "allow-replace", nil, "ID[=delete-first] whose replacement is allowed")
	f.StringArrayVar(&o.adopt, "adopt", nil, "ID[=PHYSICAL]: take over an object that is not ours")
	f.StringArrayVar(&o.decide, "decide", nil, "ID=reclaim[:PHYSICAL]: approve a reclaim that is to be reviewed")
	f.BoolVar(&o.strict, "strict", false, "carry nothing of an earlier crash out by itself")
	f.StringVar(&o.onFailure, "on-failure", "stop", "what to do when a resource fails: stop, or rollback: delete again what this run made, never its data")
	f.StringVar(&o.events, "events", "", "write the event stream to this file as NDJSON")
	return c
}

func (s *session) deploy(ctx context.Context, o *deployOptions, args []string) error {
	if o.onFailure != "stop" && o.onFailure != "rollback" {
		return usage("--on-failure %s: want stop or rollback", o.onFailure)
	}
	adopt, err := idValues("--adopt", o.adopt)
	if err != nil {
		return err
	}
	w, p, err := s.deployment(ctx, o, args, adopt)
	if w != nil {
		defer w.close()
	}
	if err != nil || p == nil {
		return err
	}
	r := deploy.Request{Plan: p, Graph: w.graph, Only: o.only, Parallel: o.parallel, Strict: o.strict, Adopt: adopt}
	if o.onFailure == "rollback" {
		r.OnFailure = &deploy.OnFailure{AllowDataLoss: o.losses}
	}
	return s.runPlan(ctx, w, p, &o.consent, runOptions{only: o.only, events: o.events}, r)
}

// deployment opens what a deploy needs and returns its plan: a new one, or the one that is named. The plan is nil when
// the stack is held, which is then the reply.
func (s *session) deployment(ctx context.Context, o *deployOptions, args []string, adopt map[string]string) (*work, *plan.Plan, error) {
	if o.plan != "" {
		return s.planned(ctx, o, args)
	}
	at, err := s.target(&o.source, args)
	if err != nil {
		return nil, nil, err
	}
	w, err := s.withTemplate(ctx, at.file, at.name, at.params, true)
	if err != nil {
		return nil, nil, err
	}
	if held, err := s.refuseHeld(ctx, w); held || err != nil {
		return w, nil, err
	}
	p, err := s.makePlan(ctx, w, adopt, o.parallel)
	return w, p, err
}

// refuseHeld makes the reply when the stack is held.
func (s *session) refuseHeld(ctx context.Context, w *work) (bool, error) {
	h, err := heldBy(ctx, w.store, w.stack)
	if h == nil || err != nil {
		return false, err
	}
	s.heldReply(w.word, *h)
	return true, nil
}

// planned reads the plan that --plan names and checks that template, parameters, store and place are the ones it was
// made from. What has moved is named; the code is then 4.
func (s *session) planned(ctx context.Context, o *deployOptions, args []string) (*work, *plan.Plan, error) {
	rest, given := splitParameters(args, o.parameters)
	if len(rest) > 0 {
		return nil, nil, usage("deploy takes FILE or --plan, not both: the plan names its template")
	}
	params, err := readParameters(given)
	if err != nil {
		return nil, nil, err
	}
	p, err := s.findPlan(ctx, o.plan, "")
	if err != nil {
		return nil, nil, err
	}
	if p.Verb != plan.VerbDeploy {
		return nil, nil, usage("plan %s is one of a %s; run reclaim %s instead", o.plan, p.Verb, p.Verb)
	}
	if err := sameTemplate(p); err != nil {
		return nil, nil, err
	}
	n, err := s.namedStack(p.Stack.Name)
	if err != nil {
		return nil, nil, err
	}
	if n != nil && n.template == p.Template.Path { // so that what a plan cannot tell need not be typed again
		all := maps.Clone(n.parameters)
		maps.Copy(all, params)
		params = all
	}
	w, err := s.withTemplate(ctx, p.Template.Path, p.Stack.Name, plannedParameters(p, params), false)
	if err != nil {
		return nil, nil, err
	}
	if err := matchesWork(p, w); err != nil {
		return w, nil, err
	}
	if held, err := s.refuseHeld(ctx, w); held || err != nil {
		return w, nil, err
	}
	return w, p, nil
}

func moved(format string, args ...any) error {
	return withExit(deploy.ExitBlocked, fmt.Errorf("the plan is stale: "+format+". Next: make the plan again", args...))
}

// sameTemplate checks the bytes of the template that a plan names.
func sameTemplate(p *plan.Plan) error {
	b, err := os.ReadFile(p.Template.Path)
	if err != nil {
		return moved("its template cannot be read: %w", err)
	}
	sum := sha256.Sum256(b)
	if hex.EncodeToString(sum[:]) != p.Template.SHA256 {
		return moved("the template %s has changed since", p.Template.Path)
	}
	return nil
}

// plannedParameters are the plan's own parameters, where the plan can tell them, and those that are given again.
func plannedParameters(p *plan.Plan, given map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range p.Template.Parameters {
		if t, err := parameterText(v); err == nil && !v.HasSensitive() {
			out[k] = t
		}
	}
	for k, v := range given {
		out[k] = v
	}
	return out
}

// matchesWork checks store, place and parameters.
func matchesWork(p *plan.Plan, w *work) error {
	if p.StoreID != w.store.ID() {
		return moved("it was made in another store (%s, this is %s)", p.StoreID, w.store.ID())
	}
	if p.Stack != w.stack {
		return moved("it is of %s, calls go to %s", p.Stack, w.stack.Scope)
	}
	now := w.sealer.SealMap(w.graph.Parameters)
	for _, k := range now.Keys() {
		if value.Equal(now[k], p.Template.Parameters[k]) {
			continue
		}
		if now[k].HasSensitive() {
			return moved("parameter %s (NoEcho) is not the one it was made with; it must be given again with --parameters", k)
		}
		return moved("parameter %s was %s, is %s", k, p.Template.Parameters[k], now[k])
	}
	return nil
}

// runOptions are what a run needs beside the engine's request.
type runOptions struct {
	only   []string
	events string
}

// runPlan shows a plan, has it approved, and carries it out.
func (s *session) runPlan(ctx context.Context, w *work, p *plan.Plan, c *consent, o runOptions, r deploy.Request) error {
	part, err := partOf(p, o.only)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(part.Items, func(it plan.Item) bool { return it.CanRun() }) {
		if _, err := c.resolve(part); err != nil {
			return err
		}
		if err := s.checkScope(c, p.Stack.Scope); err != nil && c.scope != "" {
			return err
		}
		if moved, err := outputsMoved(ctx, w, p); moved || err != nil {
			return s.keepOutputs(ctx, w, o.events, r, err)
		}
		out := unchanged(part)
		out.Next = s.afterPlan(part, nil, w.word, "")
		s.outcomeReply(w, &out)
		return nil
	}
	s.rep.stack = p.Stack.String()
	s.rep.text = s.page().Plan(p, nil)
	if r.OnFailure != nil {
		s.rep.text += s.page().OnFailure(part, s.dataOf, r.OnFailure.AllowDataLoss)
	}
	s.rep.text += "\n"
	s.warnLifetime(ctx, w, part, r.Parallel)
	g, err := s.approve(ctx, c, part)
	if err != nil {
		s.rep.result = p
		return err
	}
	if left := g.missing(part); len(left) > 0 {
		s.note("not approved, and left out: add%s", flagWords(left))
	}
	s.flushText()
	r.Approvals = g.approvals(part)
	return s.carryOut(ctx, w, o.events, func(ctx context.Context, env deploy.Env) (deploy.Outcome, error) {
		return deploy.Run(ctx, env, r)
	})
}

func flagWords(flags []string) string {
	out := ""
	for _, f := range flags {
		out += " " + f
	}
	return out
}

// partOf is the plan's part that --only leaves: the named items and what they need.
func partOf(p *plan.Plan, only []string) (*plan.Plan, error) {
	if len(only) == 0 {
		return p, nil
	}
	in := map[string]bool{}
	var add func(id string) error
	add = func(id string) error {
		if in[id] {
			return nil
		}
		it := p.Item(id, 0)
		if it == nil {
			return usage("--only %s: the plan has no such resource", id)
		}
		in[id] = true
		for _, d := range it.DependsOn {
			if p.Item(d, 0) != nil {
				if err := add(d); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, id := range only {
		if err := add(id); err != nil {
			return nil, err
		}
	}
	part := *p
	part.Items = slices.DeleteFunc(slices.Clone(p.Items), func(it plan.Item) bool { return !in[it.ID] })
	return &part, nil
}
