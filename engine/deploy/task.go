package deploy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"reclaim/engine/crash"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// shared is what the tasks of one run have in common.
type shared struct {
	env     Env
	stack   record.StackID
	stores  []string // our store ID and its ancestors
	only    []string // what the run is limited to; empty: all
	hold    record.Hold
	journal *journal
	out     *emitter
	halt    *halt
	known   *plan.Known
	places  chan struct{} // for calls under way; its capacity is --parallel

	siblings siblings
}

// source says what a task's resource should be.
type source struct {
	resolve   func(ctx context.Context, rec *record.Record) (plan.Resolved, error)
	dependsOn []string
	policies  [2]string
}

// task brings one resource from observed to desired, or removes it.
type task struct {
	*shared
	planned  *plan.Item
	provider resource.Provider
	wanted   *source // nil: to be removed
	gen      int     // of the record to remove; 0: the current one
	grants   []plan.Grant
	newName  string
	adopt    *string
	undo     string // the execution that made the record to remove, when that is rolled back

	auto     bool             // S19's set may be carried out
	decision *record.Decision // what the operator decided; used once
	dataLoss bool             // consent of a decision to delete
	// follows are the actions that follow from what was approved already, for a task that no plan shows: an old
	// generation to remove, a record to recover.
	follows []plan.Action

	acted    bool // this run changed something here, or waited for it
	attempts int
}

// ending is what a step leads to: the zero ending means look again and decide anew.
type ending struct {
	result event.Result
	reason string
}

func (e ending) ended() bool { return e.result != "" }

var again = ending{}

func done(reason string) ending { return ending{event.Done, reason} }

func failed(format string, a ...any) ending { return ending{event.Failed, fmt.Sprintf(format, a...)} }

// step carries one action out, once.
type step func(t *task, ctx context.Context, s *plan.Subject, it *plan.Item) ending

// steps is the step table. Every action has its row.
var steps = map[plan.Action]step{
	plan.Create:  (*task).create,
	plan.Update:  (*task).update,
	plan.Replace: (*task).replace,
	plan.Delete:  (*task).delete,
	plan.Noop:    (*task).unchanged,
	plan.Reclaim: (*task).reclaim,
	plan.Adopt:   (*task).takeOver,
	plan.Wait:    (*task).wait,
	plan.Retain:  (*task).retain,
	plan.Blocked: (*task).blocked,
}

// maxRounds bounds looks at one resource; each round does something or waits.
const maxRounds = 24

// reconcile looks, decides and acts until nothing is left to do or nothing may be done.
func (t *task) reconcile(ctx context.Context) ItemResult {
	ctx = crash.With(ctx, t.planned.ID)
	for round := range maxRounds {
		if end := t.mayGoOn(ctx, round); end.ended() {
			return t.end(end)
		}
		s, err := t.observe(ctx)
		if err != nil {
			return t.end(failed("%v", err))
		}
		it := plan.Decide(s)
		if end := t.settleVerdict(ctx, &s, &it); end.ended() {
			return t.end(end)
		}
		if end := t.permit(&it); end.ended() {
			return t.end(end)
		}
		if end := steps[it.Action](t, ctx, &s, &it); end.ended() {
			return t.end(end)
		}
	}
	return t.end(failed("it did not settle after %d looks; make a new plan", maxRounds))
}

// mayGoOn stops a task that must not begin, or must not go on.
func (t *task) mayGoOn(ctx context.Context, round int) ending {
	if err := t.halt.stopped(); err != nil {
		return ending{event.Skipped, err.Error()}
	}
	if ctx.Err() != nil {
		return ending{event.Skipped, "stopped"}
	}
	if why := t.halt.draining(); why != "" && round == 0 {
		return ending{event.Skipped, "not begun: " + why}
	}
	if round == 0 {
		return t.waitOut(ctx)
	}
	return again
}

// waitOut lets the deadline of a call pass that a former holder may still have under way (S33).
func (t *task) waitOut(ctx context.Context) ending {
	rec := t.record()
	if rec == nil {
		return again
	}
	until := t.inFlightUntil(rec)
	if !until.After(t.env.Clock.Now()) {
		return again
	}
	t.phase("wait", "a call of an earlier execution may still be carried out", until)
	if err := t.env.Clock.Sleep(ctx, until.Sub(t.env.Clock.Now())); err != nil {
		return ending{event.Skipped, "stopped"}
	}
	return again
}

// inFlightUntil is when the last call of another execution on the record is over for certain. A process known to be dead
// on this machine sends nothing any more, which is all that matters for local types.
func (t *shared) inFlightUntil(rec *record.Record) time.Time {
	p, ok := t.env.Cloud.Provider(rec.Type)
	if !ok {
		return time.Time{}
	}
	schema := p.Schema()
	if schema.Local && t.hold.Taken != nil && t.env.Alive(t.hold.Taken.Owner) == resource.No {
		return time.Time{}
	}
	var until time.Time
	if c := rec.InFlight; c != nil && c.Execution != t.hold.Execution {
		until = c.SentAt.Add(c.Deadline)
	}
	if a := rec.Intent.Last(); a != nil && a.Outcome == record.Going && a.Execution != t.hold.Execution {
		until = later(until, a.SentAt.Add(crash.Scale(schema.Deadlines.Call)))
	}
	return until
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (t *task) record() *record.Record {
	if t.gen > 0 {
		return t.journal.generation(t.planned.ID, t.gen)
	}
	return t.journal.current(t.planned.ID)
}

// observe resolves what is wanted and looks at what is there.
func (t *task) observe(ctx context.Context) (plan.Subject, error) {
	rec := t.record()
	s := plan.Subject{
		ID: t.planned.ID, Provider: t.provider, Stores: t.stores, Sealer: t.env.Sealer, Now: t.env.Clock.Now(),
		Stack: t.stack, Record: rec, LastGen: t.journal.lastGen(t.planned.ID), Preflight: true,
		NewName: t.newName, Adopt: t.adopt,
	}
	if c := t.journal.current(t.planned.ID); c != nil && rec != nil {
		s.Current = c.Gen == rec.Gen
	}
	if t.undo != "" && rec != nil {
		s.Undo = plan.UndoOf(t.undo, rec, t.journal.find(func(r *record.Record) bool { return r.ID == rec.ID }))
	}
	if t.wanted != nil {
		res, err := t.wanted.resolve(ctx, rec)
		if err != nil {
			return s, err
		}
		s.Wanted, s.Desired, s.Generated, s.Name = true, res.Desired, res.Generated, res.Name
		s.DependsOn, s.Policies, s.Refs = t.wanted.dependsOn, t.wanted.policies, t.refs(t.wanted.dependsOn)
	}
	t.phase("look", "", time.Time{})
	var err error
	t.call(func() { err = plan.Observe(ctx, t.lookEnv(), &s) })
	t.drainExpired(s.Look.Err)
	return s, err
}

func (t *shared) lookEnv() plan.Env {
	return plan.Env{Store: t.env.Store, Cloud: t.env.Cloud, Sealer: t.env.Sealer, Now: t.env.Clock.Now}
}

func (t *task) refs(ids []string) []record.Ref {
	var out []record.Ref
	for _, id := range ids {
		if r := t.journal.current(id); r != nil {
			out = append(out, r.Ref())
		}
	}
	return out
}

// settleVerdict turns a verdict into what this run may do about it: the operator's decision, S19's set, or nothing.
func (t *task) settleVerdict(ctx context.Context, s *plan.Subject, it *plan.Item) ending {
	f := s.Finding
	if f == nil {
		return again
	}
	if d := t.decision; d != nil {
		t.decision = nil
		return t.decided(ctx, s, it, d)
	}
	if it.Action == plan.Blocked {
		t.judged(f, "", "verdict table")
		return again
	}
	if !f.Auto || !t.auto {
		t.judged(f, "", "verdict table")
		return ending{event.Unsure, cmp.Or(f.Summary, string(f.Verdict)) + " Decide it: reclaim recover " + t.stack.String()}
	}
	t.judged(f, f.Default, "S19")
	return again
}

// decided carries an operator's decision into the item. A decision whose facts or revision moved is void (S17).
func (t *task) decided(ctx context.Context, s *plan.Subject, it *plan.Item, d *record.Decision) ending {
	f := s.Finding
	if d.Rev != f.Rev || d.Facts != f.Facts || d.Verdict != string(f.Verdict) {
		return ending{event.Stale, fmt.Sprintf("the decision %q is void%s. Look again and decide anew; now: %s", d.Choice, movedWords(movedSince(d, f)), f.Summary)}
	}
	if _, ok := f.Option(d.Choice, d.Physical); !ok {
		return ending{event.Blocked, fmt.Sprintf("%q is not offered for the verdict %q", d.Choice, f.Verdict)}
	}
	t.judged(f, d.Choice, "decision of "+d.Who)
	it.Reason, it.Needs = "", nil
	switch d.Choice {
	case record.Reclaim, record.GoOn:
		it.Action = plan.Reclaim
		return t.choose(f, d.Physical)
	case record.Adopt:
		it.Action = plan.Adopt
		return t.choose(f, d.Physical)
	case record.Retry:
		it.Action = plan.Create
	case record.Wait:
		it.Action = plan.Wait
	case record.Abandon:
		return t.abandon(ctx, s, d)
	case record.DeleteIt:
		if end := t.choose(f, d.Physical); end.ended() {
			return end
		}
		return t.deleteFound(ctx, s)
	default:
		return ending{event.Unsure, "left as it is: " + f.Summary}
	}
	return again
}

// choose strikes every candidate but the chosen one from what the steps see.
func (t *task) choose(f *recovery.Finding, physical string) ending {
	var kept []recovery.Candidate
	for _, c := range f.Candidates {
		if physical == "" || c.Physical == physical {
			kept = append(kept, c)
		}
	}
	if len(kept) != 1 || kept[0].Observation == nil {
		return ending{event.Blocked, "say which object is meant: --decide " + t.planned.ID + "=CHOICE:PHYSICAL"}
	}
	f.Candidates = kept
	return again
}

// permit lets through what was approved, or less.
func (t *task) permit(it *plan.Item) ending {
	switch it.Action {
	case plan.Noop, plan.Blocked, plan.Wait:
		return again
	}
	if end := fits(it); end.ended() {
		return end
	}
	if t.follows != nil {
		return t.permitFollowing(it)
	}
	if t.planned.Action == plan.Wait && !t.sameOrLess(it) {
		return ending{event.Stale, fmt.Sprintf("the wait is over, and what is to be done now was no part of the plan: %s (%s); run it again", it.Action, it.Detail)}
	}
	var missing []string
	for _, g := range it.Needs {
		if g == plan.GrantChange && t.acted {
			continue // bringing to an end what was approved and begun
		}
		if !slices.Contains(t.grants, g) {
			missing = append(missing, grantWords(g, it.ID))
		}
	}
	if len(missing) > 0 {
		return ending{event.Blocked, fmt.Sprintf("%s was not approved; it needs %s", it.Action, strings.Join(missing, " and "))}
	}
	if t.acted || t.sameOrLess(it) {
		return t.permitFields(it)
	}
	return ending{event.Stale, fmt.Sprintf("what the plan was made on has moved%s. It planned %s (%s), now %s (%s); make a new plan",
		movedWords(plan.Moved(t.planned, it)), t.planned.Action, t.planned.Detail, it.Action, it.Detail)}
}

// maxParams bounds the params of a resource, in bytes of JSON. A record holds them up to three times, as sent by the
// create, by the last write, and by the one under way, and has to fit into the store's 1 MiB: an acknowledgement that
// does not fit would be lost (S8).
const maxParams = 320 << 10

// fits refuses params that could not be recorded, before anything is sent or deleted for them.
func fits(it *plan.Item) ending {
	switch it.Action {
	case plan.Create, plan.Update, plan.Replace:
	default:
		return again
	}
	b, err := json.Marshal(it.Desired)
	if err != nil {
		return failed("encode params: %v", err)
	}
	if len(b) > maxParams {
		return failed("its params are %d bytes as a record holds them, and the bound is %d; nothing was sent. Make them smaller, or give a local path where the type takes one", len(b), maxParams)
	}
	return again
}

// permitFollowing lets a task without a plan do what its approval implies, and leaves the rest for a plan to show. A
// recovery creates only what the verdict table says was not created.
func (t *task) permitFollowing(it *plan.Item) ending {
	if slices.Contains(t.follows, it.Action) && (it.Action != plan.Create || it.Finding != nil) {
		return again
	}
	return done(fmt.Sprintf("kept; what comes next (%s: %s) is for a plan to show", it.Action, it.Detail))
}

// sameOrLess compares a first decision with the plan's.
func (t *task) sameOrLess(it *plan.Item) bool {
	p := t.planned
	switch {
	case p.Action == plan.Wait:
		return it.Action == plan.Create || it.Action == plan.Reclaim || it.Action == plan.Update || it.Action == plan.Delete
	case it.Action == plan.Delete && len(it.Calls) == 0:
		return p.Action == plan.Delete
	case it.Action == plan.Replace && len(p.MaybeReplace) > 0:
		return it.Facts == p.Facts
	default:
		return it.Action == p.Action && it.Facts == p.Facts
	}
}

// permitFields refuses to write what the plan did not show. What this run made itself it may bring to an end.
func (t *task) permitFields(it *plan.Item) ending {
	switch t.planned.Action {
	case plan.Create, plan.Replace, plan.Wait:
		return again
	}
	if it.Action == plan.Replace && t.planned.Action != plan.Replace && len(t.planned.MaybeReplace) == 0 {
		return ending{event.Blocked, "it has to be replaced (" + it.Detail + "), which the plan did not show; make a new plan"}
	}
	shown := map[string]bool{}
	for _, f := range t.planned.Fields {
		shown[f.Path.Top()] = true
	}
	write, _, _ := plan.Sort(it.Fields)
	for _, w := range write {
		if !shown[w] {
			return ending{event.Stale, w + " differs now, and did not when the plan was made; make a new plan"}
		}
	}
	return again
}

func grantWords(g plan.Grant, id string) string {
	switch g {
	case plan.GrantReplace:
		return "--allow-replace " + id
	case plan.GrantDeleteFirst:
		return "--allow-replace " + id + "=delete-first"
	case plan.GrantDelete:
		return "--allow-delete " + id
	case plan.GrantDataLoss:
		return "--allow-data-loss " + id
	case plan.GrantAdopt:
		return "--adopt " + id
	case plan.GrantPresumed:
		return "an approval of its own, because it is only presumed ours: --allow-presumed " + id
	case plan.GrantReclaim:
		return "--decide " + id + "=reclaim"
	default:
		return "--yes"
	}
}

// blocked ends a task that may not change anything.
func (t *task) blocked(_ context.Context, s *plan.Subject, it *plan.Item) ending {
	if s.Finding != nil {
		return ending{event.Unsure, it.Detail + " Decide it: reclaim recover " + t.stack.String()}
	}
	return ending{event.Blocked, it.Detail}
}

// leastWait is how long a wait is at least. A service's Date has whole seconds: less would be looks that see no later time.
// At the scale of crash tests it is still long enough for maxRounds waits to pass a whole second.
func leastWait() time.Duration { return max(crash.Scale(time.Second), 100*time.Millisecond) }

// wait sleeps until the resource can be judged again.
func (t *task) wait(ctx context.Context, s *plan.Subject, it *plan.Item) ending {
	until := t.env.Clock.Now().Add(leastWait())
	if f := s.Finding; f != nil {
		until = later(until, f.Until)
	} else if r := s.Record; r != nil && s.Finding == nil {
		until = later(until, r.TouchedAt.Add(crash.Scale(t.provider.Schema().Window)))
	}
	t.phase("wait", it.Detail, until)
	if err := t.env.Clock.Sleep(ctx, until.Sub(t.env.Clock.Now())); err != nil {
		return ending{event.Unsure, "stopped while waiting: " + it.Detail}
	}
	return again
}

// unchanged ends a task whose resource is as it should be. A record that was not finished is.
func (t *task) unchanged(_ context.Context, s *plan.Subject, _ *plan.Item) ending {
	t.publish(s.Desired, s.Look.Obs.Output)
	if t.acted {
		return done("")
	}
	return ending{event.Unchanged, ""}
}

func (t *task) publish(desired, output value.Map) {
	t.known.Set(t.planned.ID, t.provider.Schema(), desired, output)
}

func (t *task) phase(name, detail string, until time.Time) {
	t.out.emit(event.Phase{ID: t.planned.ID, Gen: t.planned.Gen, Phase: name, Detail: detail, Until: until})
}

func (t *task) judged(f *recovery.Finding, c record.Choice, by string) {
	t.out.emit(event.Judged{ID: f.ID, Gen: f.Gen, Row: f.Row, Verdict: string(f.Verdict), Choice: c, By: by})
}

// end reports the result of the task.
func (t *task) end(e ending) ItemResult {
	r := ItemResult{ID: t.planned.ID, Gen: t.planned.Gen, Type: t.planned.Type, Action: string(t.planned.Action),
		Result: e.result, Physical: t.planned.Physical, Reason: e.reason}
	if rec := t.record(); rec != nil && rec.Physical != "" {
		r.Physical, r.Gen = rec.Physical, rec.Gen
	}
	t.out.emit(event.Settled{ID: r.ID, Gen: r.Gen, Action: r.Action, Result: r.Result, Physical: r.Physical, Reason: r.Reason})
	return r
}
