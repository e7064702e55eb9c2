package deploy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/schedule"
	"reclaim/engine/value"
)

// Recover resolves the uncertain records of a stack, from records alone: S19's set where the request lets it, and the
// decisions given. It takes the hold of a dead execution, or acquires one. What it leaves half made is for the next
// deploy to finish. The error is non-nil only when nothing was begun.
func Recover(ctx context.Context, env Env, r RecoverRequest) (Outcome, error) {
	hold := record.Hold{Stack: r.Stack, Execution: NewExecution(), Verb: "recover", Owner: env.Owner, Since: env.Clock.Now().UTC()}
	var err error
	if r.TakeHold != "" {
		hold, err = env.Store.Take(ctx, r.TakeHold, hold)
	} else {
		hold, err = env.Store.Acquire(ctx, hold)
	}
	if err != nil {
		return Outcome{}, err
	}
	if hold.Taken != nil {
		hold.Template = hold.Taken.Template
	}
	sh, err := begin(ctx, env, hold, r.Parallel)
	if err != nil {
		return Outcome{}, release(ctx, env, hold, err)
	}
	return (&salvage{shared: sh, req: r}).run(ctx), nil
}

// salvage is one run of recover.
type salvage struct {
	*shared
	req RecoverRequest

	mu    sync.Mutex
	items []ItemResult
}

func (c *salvage) run(ctx context.Context) Outcome {
	defer c.watchDrain(ctx)()
	records := c.unjudged()
	slices.SortFunc(records, func(a, b record.Record) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.ID, b.ID)) })
	began := event.Began{Stack: c.stack, Verb: "recover", Owner: c.hold.Owner, Epoch: c.hold.Epoch, Waits: c.waits(records)}
	var nodes []schedule.Node
	byName := map[string]*record.Record{}
	for i := range records {
		rec := &records[i]
		n := schedule.Node{Name: nodeName(rec.Ref())}
		byName[n.Name] = rec
		for _, d := range rec.DependsOn {
			n.After = append(n.After, nodeName(d))
		}
		nodes = append(nodes, n)
		began.Items = append(began.Items, event.Item{ID: rec.ID, Gen: rec.Gen, Type: rec.Type, Action: "recover", Physical: rec.Physical})
	}
	c.out.emit(began)
	schedule.Run(ctx, nodes, c.inFlight(), func(ctx context.Context, name string) {
		res := c.resolve(ctx, byName[name])
		c.mu.Lock()
		c.items = append(c.items, res)
		c.mu.Unlock()
	})
	c.keepDecisions(ctx)
	return c.finish(ctx, c.items, nil)
}

// keepDecisions says of each decision which run carried it out, and what became of it. Its words are the item's result.
func (c *salvage) keepDecisions(ctx context.Context) {
	if len(c.req.Decide) == 0 || c.halt.stopped() != nil {
		return
	}
	err := c.journal.st.Write(context.WithoutCancel(ctx), c.journal.fence, func(tx record.Tx) error {
		for _, d := range c.req.Decide {
			d.Execution = c.hold.Execution
			for _, it := range c.items {
				if it.ID == d.ID {
					d.Outcome = strings.TrimSuffix(string(it.Result)+": "+it.Reason, ": ")
				}
			}
			if err := tx.PutDecision(d); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		c.halt.onWrite(err)
	}
}

func nodeName(r record.Ref) string { return fmt.Sprintf("%s %d", r.ID, r.Gen) }

// unjudged are the records that only a verdict can bring to an end.
func (c *salvage) unjudged() []record.Record {
	return c.journal.find(func(r *record.Record) bool {
		p, ok := c.env.Cloud.Provider(r.Type)
		return r.Uncertain() || ok && plan.NeedsVerdict(r, p.Schema())
	})
}

// resolve brings one uncertain record to an end, as far as evidence and decisions go.
func (c *salvage) resolve(ctx context.Context, rec *record.Record) ItemResult {
	item := &plan.Item{ID: rec.ID, Type: rec.Type, Gen: rec.Gen, Action: plan.Reclaim, Physical: rec.Physical}
	t := &task{shared: c.shared, planned: item, follows: []plan.Action{plan.Create, plan.Update, plan.Reclaim, plan.Adopt}, auto: c.req.Auto, decision: c.decision(rec),
		dataLoss: slices.Contains(c.req.AllowDataLoss, rec.ID)}
	p, ok := c.env.Cloud.Provider(rec.Type)
	if !ok {
		return t.end(ending{event.Blocked, fmt.Sprintf("type %s is not supported by this version", rec.Type)})
	}
	t.provider, t.gen = p, rec.Gen
	t.wanted = fromIntent(rec)
	return t.reconcile(ctx)
}

func (c *salvage) decision(rec *record.Record) *record.Decision {
	for i := range c.req.Decide {
		if d := &c.req.Decide[i]; d.ID == rec.ID && (d.Gen == rec.Gen || d.Gen == 0) {
			return d
		}
	}
	return nil
}

// fromIntent wants what the intent was sending: there may be no stack file any more. Sensitive values are only hashes, so
// such a resource is reclaimed and left for a deploy to finish.
func fromIntent(rec *record.Record) *source {
	var deps []string
	for _, d := range rec.DependsOn {
		deps = append(deps, d.ID)
	}
	return &source{dependsOn: deps, policies: [2]string{rec.DeletionPolicy, rec.UpdateReplacePolicy},
		resolve: func(_ context.Context, now *record.Record) (plan.Resolved, error) {
			if now == nil {
				now = rec
			}
			res := plan.Resolved{Desired: value.Map{}}
			if now.Intent != nil {
				res.Desired, res.Name, res.Generated = now.Intent.Params, now.Intent.Name, now.Intent.Name != ""
			}
			return res, nil
		}}
}
