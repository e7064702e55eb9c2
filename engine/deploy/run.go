package deploy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/schedule"
)

// Run carries a plan out under a hold. The error is non-nil only when nothing was begun: the stack is held
// (*record.HeldError), the plan is of another store, or state cannot be used.
func Run(ctx context.Context, env Env, r Request) (Outcome, error) {
	if err := checkRequest(env, r); err != nil {
		return Outcome{}, err
	}
	hold := record.Hold{Stack: r.Plan.Stack, Execution: NewExecution(), Verb: string(r.Plan.Verb), Owner: env.Owner,
		Since: env.Clock.Now().UTC(), Template: r.Plan.Template.Path, Plan: r.Plan.Fingerprint, Of: r.Plan.Of}
	hold, err := env.Store.Acquire(ctx, hold)
	if err != nil {
		return Outcome{}, err
	}
	sh, err := begin(ctx, env, hold, r.Parallel)
	if err != nil {
		return Outcome{}, release(ctx, env, hold, err)
	}
	sh.only = r.Only
	d := &deployment{shared: sh, req: r, results: map[string]event.Result{}, approvals: map[string][]Approval{}}
	for _, a := range r.Approvals {
		d.approvals[a.ID] = append(d.approvals[a.ID], a)
	}
	o := d.run(ctx)
	if r.OnFailure != nil && d.failed(ctx, &o) {
		o.undone(undo(ctx, env, r, o.Execution))
	}
	return o, nil
}

// inFlight is how many resources may be under way. Only calls take a place: one that waits for the store, for a window or for
// the service to settle leaves its place to another, and commits that are waited for together are made together. One place
// means one resource after another.
func (s *shared) inFlight() int {
	if n := cap(s.places); n > 1 {
		return 4 * n
	}
	return 1
}

// call takes a place for the time of f.
func (s *shared) call(f func()) {
	s.places <- struct{}{}
	defer func() { <-s.places }()
	f()
}

// NewExecution makes the ID of an execution.
func NewExecution() string { return "e-" + random(4) }

func checkRequest(env Env, r Request) error {
	if r.Plan.StoreID != env.Store.ID() {
		return fmt.Errorf("plan %.8s was made with store %s, this is store %s; make the plan again here", r.Plan.Fingerprint, r.Plan.StoreID, env.Store.ID())
	}
	gens := map[string][]int{}
	for i := range r.Plan.Items {
		gens[r.Plan.Items[i].ID] = append(gens[r.Plan.Items[i].ID], r.Plan.Items[i].Gen)
	}
	for _, a := range r.Approvals {
		if g := gens[a.ID]; len(g) == 0 || a.Gen != 0 && !slices.Contains(g, a.Gen) {
			return fmt.Errorf("approval of %s: the plan has no such item", a.ID)
		}
	}
	for i := range r.Plan.Items {
		if it := &r.Plan.Items[i]; !it.Removal && (r.Graph == nil || r.Graph.Resource(it.ID) == nil) {
			return fmt.Errorf("plan %.8s is about %s, which the template does not have; make the plan again", r.Plan.Fingerprint, it.ID)
		}
	}
	for _, id := range r.Only {
		if gens[id] == nil {
			return fmt.Errorf("--only %s: the plan has no such item", id)
		}
	}
	return nil
}

// begin reads state under the hold.
func begin(ctx context.Context, env Env, hold record.Hold, parallel int) (*shared, error) {
	state, err := plan.ReadState(ctx, env.Store, hold.Stack)
	if err != nil {
		return nil, err
	}
	if len(state.Bad) > 0 {
		return nil, fmt.Errorf("%w: %s: %s. Nothing was changed; see: reclaim state check", plan.ErrBadRecords, state.Bad[0].Key, state.Bad[0].Reason)
	}
	return share(env, hold, state, parallel), nil
}

// share is what a run's tasks have in common, from state read under its hold.
func share(env Env, hold record.Hold, state plan.State, parallel int) *shared {
	out := &emitter{execution: hold.Execution, clock: env.Clock, sink: env.Sink}
	h := &halt{said: func(why string) { out.emit(event.Draining{Why: why}) }}
	j := newJournal(env.Store, env.Clock, h)
	j.fence = record.Fence{Stack: hold.Stack, Execution: hold.Execution, Epoch: hold.Epoch}
	j.load(state.Records, state.Tombs)
	return &shared{env: env, stack: hold.Stack, stores: state.Stores, hold: hold, journal: j, out: out, halt: h, known: plan.NewKnown(), places: make(chan struct{}, cmp.Or(parallel, plan.DefaultParallel))}
}

// release ends a hold under which nothing was begun, and returns why.
func release(ctx context.Context, env Env, hold record.Hold, why error) error {
	fence := record.Fence{Stack: hold.Stack, Execution: hold.Execution, Epoch: hold.Epoch}
	e := hold.Begun()
	e.Ended, e.Result, e.Exit = env.Clock.Now().UTC(), why.Error(), ExitError
	return errors.Join(why, env.Store.Release(context.WithoutCancel(ctx), fence, e))
}

// deployment is one run of a plan.
type deployment struct {
	*shared
	req       Request
	approvals map[string][]Approval // by ID

	mu      sync.Mutex
	results map[string]event.Result // by ID; the worst of its generations
	items   []ItemResult
}

func (d *deployment) run(ctx context.Context) Outcome {
	defer d.watchDrain(ctx)()
	d.began()
	nodes := d.nodes()
	work := map[string]func(context.Context){}
	var order []schedule.Node
	for _, n := range nodes {
		order = append(order, n.Node)
		work[n.Name] = n.work
	}
	schedule.Run(ctx, order, d.inFlight(), func(ctx context.Context, name string) { work[name](ctx) })
	return d.finish(ctx, d.items, d.outputs())
}

// watchDrain drains the run when it is asked to end, until stop is called.
func (s *shared) watchDrain(ctx context.Context) (stop func()) {
	over := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		select {
		case <-s.env.Drain: // a nil channel never is ready
			s.halt.drain("interrupted")
		case <-ctx.Done():
			s.halt.drain("interrupted")
		case <-over:
		}
	})
	return func() { close(over); watcher.Wait() }
}

func (d *deployment) began() {
	b := event.Began{Stack: d.stack, Verb: string(d.req.Plan.Verb), Plan: d.req.Plan.Fingerprint, Owner: d.hold.Owner, Epoch: d.hold.Epoch}
	for i := range d.req.Plan.Items {
		it := &d.req.Plan.Items[i]
		if it.Action != plan.Noop {
			b.Items = append(b.Items, event.Item{ID: it.ID, Gen: it.Gen, Type: it.Type, Action: string(it.Action), Physical: it.Physical})
		}
	}
	d.out.emit(b)
}

type node struct {
	schedule.Node
	work func(context.Context)
}

// nodes are the items of the plan, and one for the old generation of each replacement, which goes after everything that
// depends on it has moved (S22).
func (d *deployment) nodes() []node {
	p := d.req.Plan
	names := map[string][]string{}   // ID → nodes of its items
	current := map[string][]string{} // ID → those that are no removals: what a dependent, or a removal of the same ID, waits for
	for i := range p.Items {
		it, name := &p.Items[i], strconv.Itoa(i)
		names[it.ID] = append(names[it.ID], name)
		if !it.Removal {
			current[it.ID] = append(current[it.ID], name)
		}
	}
	need := d.only()
	var out []node
	for i := range p.Items {
		it := &p.Items[i]
		if need != nil && !need[it.ID] {
			continue
		}
		n := node{Node: schedule.Node{Name: strconv.Itoa(i)}, work: func(ctx context.Context) { d.item(ctx, it) }}
		for _, dep := range it.DependsOn {
			if !it.Removal || dep == it.ID {
				n.After = append(n.After, current[dep]...)
			} else {
				n.After = append(n.After, olds(names[dep])...)
			}
		}
		out = append(out, n)
		if it.Action == plan.Replace || len(it.MaybeReplace) > 0 {
			old := node{Node: schedule.Node{Name: "old " + n.Name, After: []string{n.Name}}, work: func(ctx context.Context) { d.old(ctx, it) }}
			for _, dep := range d.dependents(it.ID) {
				old.After = append(old.After, olds(names[dep])...)
			}
			out = append(out, old)
		}
	}
	return out
}

// olds are nodes, and after each the removal of the generation that it replaces: that one depends on others as well.
func olds(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, n, "old "+n)
	}
	return out
}

// only returns the IDs that --only and what they need leave, nil for all.
func (d *deployment) only() map[string]bool {
	if len(d.req.Only) == 0 {
		return nil
	}
	need := map[string]bool{}
	var add func(string)
	add = func(id string) {
		if need[id] {
			return
		}
		need[id] = true
		if it := d.req.Plan.Item(id, 0); it != nil {
			for _, dep := range it.DependsOn {
				add(dep)
			}
		}
	}
	for _, id := range d.req.Only {
		add(id)
	}
	return need
}

func (d *deployment) dependents(id string) []string {
	var out []string
	for i := range d.req.Plan.Items {
		if it := &d.req.Plan.Items[i]; it.ID != id && slices.Contains(it.DependsOn, id) {
			out = append(out, it.ID)
		}
	}
	return out
}

// item carries one item out and keeps its result.
func (d *deployment) item(ctx context.Context, it *plan.Item) {
	if it.Action == plan.Noop {
		d.keepNoop(ctx, it)
		return
	}
	t, err := d.task(it)
	switch {
	case err != nil:
		d.keep(t.end(failed("%v", err)))
	case d.waitsFor(it) != "":
		d.keep(t.end(ending{event.Skipped, "waits for " + d.waitsFor(it)}))
	case it.Removal && d.journal.user(it.ID, it.Gen) != "":
		d.keep(t.end(ending{event.Skipped, d.journal.user(it.ID, it.Gen) + " still depends on it"}))
	case it.Action == plan.Blocked && it.Finding != nil && it.Reason == plan.Uncertain:
		d.keep(t.end(ending{event.Unsure, it.Detail + " Decide it: reclaim recover " + d.stack.String()}))
	case it.Action == plan.Blocked:
		d.keep(t.end(ending{event.Blocked, it.Detail}))
	case len(t.grants) == 0:
		d.keep(t.end(ending{event.Blocked, "not approved"}))
	default:
		d.keep(t.reconcile(ctx))
	}
}

// keepNoop makes an unchanged resource known to its dependents, without a look unless state holds only the hash of some
// output.
func (d *deployment) keepNoop(ctx context.Context, it *plan.Item) {
	d.keep(ItemResult{ID: it.ID, Gen: it.Gen, Type: it.Type, Action: string(it.Action), Result: event.Unchanged, Physical: it.Physical})
	t, err := d.task(it)
	rec := d.journal.current(it.ID)
	if err != nil || rec == nil || t.wanted == nil {
		return
	}
	res, err := t.wanted.resolve(ctx, rec)
	if err != nil {
		return
	}
	output := plan.Readable(rec.Output)
	if len(output) < len(rec.Output) {
		if s, err := t.observe(ctx); err == nil && s.Look.Obs != nil {
			output = s.Look.Obs.Output
		}
	}
	d.known.Set(it.ID, t.provider.Schema(), res.Desired, output)
}

// waitsFor names a dependency that did not come to its end, "" when all did.
func (d *deployment) waitsFor(it *plan.Item) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range it.DependsOn {
		switch r, ran := d.results[id]; {
		case !ran && id == it.ID, r == event.Done, r == event.Unchanged, r == event.Kept, !ran:
		default:
			return id
		}
	}
	return ""
}

func (d *deployment) keep(r ItemResult) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.items = append(d.items, r)
	if old, ok := d.results[r.ID]; !ok || old == event.Done || old == event.Unchanged {
		d.results[r.ID] = r.Result
	}
	if r.Result == event.Failed {
		d.halt.drain("a resource failed")
	}
}

// task prepares the task of an item.
func (d *deployment) task(it *plan.Item) (*task, error) {
	t := &task{shared: d.shared, planned: it, auto: !d.req.Strict}
	for _, a := range d.approvals[it.ID] {
		if a.Gen == it.Gen || a.Gen == 0 {
			t.grants = append(t.grants, a.Grants...)
		}
	}
	p, ok := d.env.Cloud.Provider(it.Type)
	if !ok {
		return t, fmt.Errorf("type %s is not supported", it.Type)
	}
	t.provider = p
	if physical, ok := d.req.Adopt[it.ID]; ok {
		t.adopt = &physical
	}
	if it.Action == plan.Replace {
		t.newName = it.Name
	}
	if it.Removal {
		t.gen, t.undo = it.Gen, d.req.Plan.Of
		return t, nil
	}
	t.wanted = d.source(it)
	return t, nil
}

// source resolves the item's resource from the template, with what is known by then.
func (d *deployment) source(it *plan.Item) *source {
	r := d.req.Graph.Resource(it.ID)
	return &source{dependsOn: r.DependsOn, policies: [2]string{r.DeletionPolicy, r.UpdateReplacePolicy},
		resolve: func(ctx context.Context, rec *record.Record) (plan.Resolved, error) {
			name := plan.PinnedName(rec, r.Schema)
			if name == "" {
				name = it.Name
			}
			p, _ := d.env.Cloud.Provider(r.Type)
			return plan.Resolve(ctx, p, r, d.known.Facts, d.stack.Name, name, true)
		}}
}

// old removes the generation that a replacement of this run retired, as its policy says.
func (d *deployment) old(ctx context.Context, it *plan.Item) {
	next, old := d.journal.current(it.ID), d.journal.retiredHere(it.ID)
	if old == nil || next == nil {
		return
	}
	p, ok := d.env.Cloud.Provider(old.Type)
	if !ok {
		return
	}
	item := &plan.Item{ID: old.ID, Type: old.Type, Gen: old.Gen, Action: plan.Delete, Physical: old.Physical, DependsOn: append(d.dependents(it.ID), it.ID)}
	t := &task{shared: d.shared, planned: item, provider: p, gen: old.Gen, follows: []plan.Action{plan.Delete, plan.Retain}, auto: !d.req.Strict}
	for _, a := range d.approvals[it.ID] {
		t.grants = append(t.grants, a.Grants...)
	}
	switch waits := cmp.Or(d.waitsFor(item), d.journal.user(old.ID, old.Gen)); {
	case waits != "":
		d.keep(t.end(ending{event.Skipped, "the replaced generation stays until " + waits + " has moved"}))
	case next.Status != record.Made:
		d.keep(t.end(ending{event.Skipped, "the replaced generation stays until the new one is made"}))
	case sameObject(old, next):
		d.keep(t.end(ending{event.Blocked, "the replacement turned out to be the same object; nothing is deleted"}))
	default:
		d.keep(t.reconcile(ctx))
	}
}

// sameObject reports whether a replacement gave back the object it was to replace (S22).
func sameObject(old, next *record.Record) bool {
	if same, known := old.Identity.Same(next.Identity); known {
		return same
	}
	return old.Claim == next.Claim
}

// outputs are the template's, with what is known by now; nil where there is no template, or they cannot be resolved.
func (d *deployment) outputs() []plan.Output {
	if d.req.Graph == nil {
		return nil
	}
	d.knowRecorded()
	resolved, err := d.req.Graph.ResolveOutputs(d.known.Facts)
	if err != nil {
		d.out.emit(event.Warning{Text: "outputs: " + err.Error()})
		return nil
	}
	out := []plan.Output{}
	for _, o := range resolved {
		out = append(out, plan.Output{Name: o.Name, Value: d.env.Sealer.Seal(o.Value), Description: o.Description})
	}
	return out
}

// knowRecorded makes known, from its record, what the run did not come to: outputs may name it all the same.
func (d *deployment) knowRecorded() {
	for _, r := range d.req.Graph.Resources {
		rec := d.journal.current(r.ID)
		if rec == nil || rec.Status != record.Made || rec.Type != r.Type || d.known.Has(r.ID) {
			continue
		}
		d.known.Set(r.ID, r.Schema, plan.Readable(rec.Params), plan.Readable(rec.Output))
	}
}

// waits is until when former holders' calls on any record may still be under way.
func (s *shared) waits(records []record.Record) time.Time {
	var until time.Time
	for i := range records {
		until = later(until, s.inFlightUntil(&records[i]))
	}
	if until.After(s.env.Clock.Now()) {
		return until
	}
	return time.Time{}
}
