package deploy

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"reclaim/engine/crash"
	"reclaim/engine/diff"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// maxAttempts bounds the attempts of one intent, and the tries of one call, that one run makes because the service said to
// come again.
const maxAttempts = 6

// create writes an intent and sends it, or sends another attempt of one that is known to have made nothing.
func (t *task) create(ctx context.Context, s *plan.Subject, it *plan.Item) ending {
	if waits := value.OfMap(s.Desired).Waits(); len(waits) > 0 {
		return failed("it still waits for %v", waits)
	}
	rec := s.Record
	first, end := t.siblings.alone(t.provider.Schema(), s.Desired)
	defer end()
	if plan.NeedsVerdict(rec, t.provider.Schema()) && s.Finding.Verdict != recovery.VerdictGone {
		return t.retry(ctx, s)
	}
	if rec == nil {
		if !first { // what a sibling of this run has made was not there at the look
			if end := t.lookFirst(ctx, s); end.ended() {
				return end
			}
		}
		return t.send(ctx, s, t.newRecord(s, it.Gen))
	}
	if end := t.lookFirst(ctx, s); end.ended() {
		return end
	}
	next := t.newRecord(s, it.Gen)
	return t.send(ctx, s, next, t.dropping(rec, "gone since"))
}

// lookFirst looks at where a new intent will make its object, as if nothing were recorded (S5). s keeps the look. What is
// there already is nobody's to overwrite: nothing is sent.
func (t *task) lookFirst(ctx context.Context, s *plan.Subject) ending {
	look := *s
	look.Record, look.Adopt = nil, nil
	var err error
	if t.call(func() { err = plan.Observe(ctx, t.lookEnv(), &look) }); err != nil {
		return failed("%v", err)
	}
	s.Look = look.Look
	switch {
	case look.Look.Err != nil:
		return failed("look before the create: %v", look.Look.Err)
	case look.Look.Obs != nil:
		physical := t.provider.Schema().Physical(look.Look.Obs.Key)
		return ending{event.Blocked, physical + " is there already, and nothing shows it to be ours; nothing was sent for it. Choose another name, or make a new plan to take it over"}
	}
	return again
}

// dropping ends a record in the transaction that begins the next.
func (t *task) dropping(rec *record.Record, why string) change {
	return change{rec: rec, drop: true, tomb: t.remains(rec), step: record.StepPersist(rec.ID) + ":dropped", why: why}
}

// newRecord is a creating record with its intent: generated name, nonce, token, preflight and params being sent (S6).
func (t *task) newRecord(s *plan.Subject, gen int) *record.Record {
	schema := t.provider.Schema()
	r := &record.Record{
		Stack: t.stack, ID: t.planned.ID, Type: schema.Type, Gen: gen, Status: record.Creating, Origin: record.ByCreate,
		DependsOn: s.Refs, DeletionPolicy: s.Policies[0], UpdateReplacePolicy: s.Policies[1], CreatedBy: t.hold.Execution,
	}
	r.Intent = t.newIntent(s)
	r.Key = r.Intent.Key
	if len(r.Key) > 0 {
		r.Physical, r.Claim = schema.Physical(r.Key), schema.Claim(t.stack.Scope, r.Key)
	} else {
		r.Claim = schema.ClaimNatural(t.stack.Scope, schema.Place(s.Desired))
	}
	return r
}

func (t *task) newIntent(s *plan.Subject) *record.Intent {
	schema := t.provider.Schema()
	now := t.env.Clock.Now().UTC()
	in := &record.Intent{
		Nonce: random(16), Execution: t.hold.Execution, At: now, Params: t.env.Sealer.SealMap(s.Desired),
		Preflight: record.Preflight{At: s.Look.At, Absent: s.Look.Obs == nil, Existing: s.Look.Existing, Source: s.Look.Source},
	}
	if s.Generated {
		in.Name = s.Name
	}
	if !s.Look.At.IsZero() {
		in.Offset = s.Look.At.Sub(now)
	}
	if schema.Identity == resource.Token {
		in.Token = random(16)
	}
	if key, ok := schema.KeyOf(s.Desired, t.env.Cloud.Machine()); ok {
		in.Key = key
	}
	return in
}

func random(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// retry sends another attempt: of the same intent where that is proven to have made nothing and the params are
// identical, else of a new intent with the old one kept searchable (S15).
func (t *task) retry(ctx context.Context, s *plan.Subject) ending {
	rec := s.Record
	if rec.Intent == nil {
		return ending{event.Blocked, "its record holds no intent, so nobody knows what was sent; give it up: reclaim recover " + t.stack.String() + " --decide " + rec.ID + "=abandon"}
	}
	if t.attempts >= maxAttempts {
		return ending{event.Unsure, fmt.Sprintf("given up for now after %d attempts: %s", t.attempts, s.Finding.Summary)}
	}
	if value.OfMap(s.Desired).HasHash() {
		return ending{event.Blocked, "a retry needs the sensitive values that were sent, which state does not hold; deploy from the stack file"}
	}
	same := value.DigestMap(rec.Intent.Params) == value.DigestMap(t.env.Sealer.SealMap(s.Desired))
	switch s.Finding.Verdict {
	case recovery.VerdictReplayable:
		if !same {
			return t.replay(ctx, s)
		}
	case recovery.VerdictNotCreated:
		same = same && t.provider.Schema().Identity != resource.Token // a definite failure ends the token (S11)
	default:
		same = false
	}
	if !same {
		rec.Former = append(slices.Clone(rec.Former), *rec.Intent)
		if end := t.lookFirst(ctx, s); end.ended() {
			return end
		}
		if c := t.appeared(s.Finding, s.Look.Ours); c != "" {
			return ending{event.Unsure, c + " carries this resource's tags and was not there a moment ago; nothing was sent. Look again: reclaim recover " + t.stack.String()}
		}
		former := rec.Intent
		rec.Intent = t.newIntent(s)
		rec.Intent.DeleteFirst, rec.Intent.Replaces = former.DeleteFirst, former.Replaces
		if len(rec.Intent.Key) > 0 {
			rec.Key, rec.Physical = rec.Intent.Key, t.provider.Schema().Physical(rec.Intent.Key)
			rec.Claim = t.provider.Schema().Claim(t.stack.Scope, rec.Key)
		}
	}
	return t.send(ctx, s, rec)
}

// replay sends what was sent before once more under its token, though config says something else by now: if the first
// request was carried out, new params under a new token would make a second object (S11). The ordinary diff comes after.
func (t *task) replay(ctx context.Context, s *plan.Subject) ending {
	rec := s.Record
	if value.OfMap(rec.Intent.Params).HasHash() {
		return ending{event.Blocked, "only the identical request can be sent again under its token, and state does not hold the sensitive values that were in it; decide it: reclaim recover " + t.stack.String()}
	}
	first := *s
	first.Desired = rec.Intent.Params
	if end := t.send(ctx, &first, rec); end.result != event.Done {
		return end
	}
	return again
}

// appeared names an object with our tags that the verdict did not know: it may be what was sent.
func (t *task) appeared(f *recovery.Finding, ours []resource.Candidate) string {
	for _, c := range ours {
		physical := t.provider.Schema().Physical(c.Key)
		if !slices.ContainsFunc(f.Candidates, func(judged recovery.Candidate) bool { return judged.Physical == physical }) {
			return physical
		}
	}
	return ""
}

// send commits an attempt, together with what must not be separate from it, sends it, and commits what came back.
func (t *task) send(ctx context.Context, s *plan.Subject, rec *record.Record, with ...change) ending {
	for {
		t.attempts++
		var created resource.Created
		var committed, err error
		t.call(func() { // the place is there before the commit: nothing comes between that and the call (S33)
			t.goingOut(rec)
			if committed = t.journal.commit(ctx, append(with, change{rec: rec, step: record.StepCreating(rec.ID, rec.Gen)})...); committed == nil {
				created, err = t.callCreate(ctx, s, rec)
			}
		})
		if committed != nil {
			return t.notCommitted(committed)
		}
		with, t.acted = nil, true
		end, retry := t.answered(ctx, s, rec, created, err)
		if !retry {
			return end
		}
		if !t.backOff(ctx, t.attempts) {
			return end
		}
	}
}

// goingOut adds the attempt that is about to be committed and sent.
func (t *task) goingOut(rec *record.Record) {
	now := t.env.Clock.Now().UTC()
	rec.Intent.Attempts = append(slices.Clone(rec.Intent.Attempts), record.Attempt{
		N: len(rec.Intent.Attempts) + 1, Execution: t.hold.Execution, SentAt: now, Outcome: record.Going})
	rec.TouchedAt = now
}

func (t *task) notCommitted(err error) ending {
	if c, ok := errors.AsType[*record.ClaimedError](err); ok {
		return ending{event.Blocked, c.Error() + "; rename one of them"}
	}
	if errors.Is(err, record.ErrConflict) {
		return ending{event.Stale, "its record changed under the run; make a new plan"}
	}
	return ending{event.Skipped, err.Error()}
}

func (t *task) callCreate(ctx context.Context, s *plan.Subject, rec *record.Record) (resource.Created, error) {
	t.phase("create", "", time.Time{})
	began := t.env.Clock.Now()
	callCtx, cancel := context.WithTimeout(ctx, crash.Scale(t.provider.Schema().Deadlines.Call))
	defer cancel()
	created, err := t.provider.Create(callCtx, resource.Create{
		Key: rec.Intent.Key, Params: s.Desired, Token: rec.Intent.Token, Tags: t.tags(rec.Intent.Nonce)})
	t.called("create", "", began, err)
	return created, err
}

// tags are the ownership tags of S4.
func (t *task) tags(nonce string) resource.Tags {
	tags := resource.Tags{resource.TagStore: t.stores[0], resource.TagStack: t.stack.String(), resource.TagResource: t.planned.ID}
	if nonce != "" {
		tags[resource.TagNonce] = nonce
	}
	return tags
}

// called reports a changing call that came back, or did not.
func (t *task) called(call, detail string, began time.Time, err error) {
	t.drainExpired(err)
	c := event.Called{ID: t.planned.ID, Gen: t.planned.Gen, Call: call, Detail: detail, Outcome: "ok", Took: t.env.Clock.Now().Sub(began)}
	if err != nil {
		c.Outcome = string(resource.KindOf(err))
		if e, ok := errors.AsType[*resource.Error](err); ok {
			c.Code, c.RequestID = e.Code, e.RequestID
			c.Call = cmp.Or(e.Op, call)
		}
	}
	t.out.emit(c)
}

// drainExpired drains the run when its credentials ran out: every further call would be refused.
func (s *shared) drainExpired(err error) {
	if resource.Is(err, resource.Expired) {
		s.halt.drain(whyExpired)
	}
}

// answered commits the outcome of an attempt. retry: the service said that nothing was executed and to come again.
func (t *task) answered(ctx context.Context, s *plan.Subject, rec *record.Record, created resource.Created, err error) (end ending, retry bool) {
	if err == nil || len(created.Key) > 0 {
		if key := orKey(created.Key, rec.Intent.Key); len(key) > 0 {
			created.Key = key
			return t.acknowledge(ctx, s, rec, created), false
		}
		err = &resource.Error{Kind: resource.Uncertain, Op: "create", Executed: resource.Perhaps,
			Err: errors.New("the service answered success without an ID")} // S8
	}
	last := &rec.Intent.Attempts[len(rec.Intent.Attempts)-1]
	last.Outcome, last.Message = outcomeOf(err), err.Error()
	if e, ok := errors.AsType[*resource.Error](err); ok {
		last.Code, last.RequestID = e.Code, e.RequestID
	}
	detail := fmt.Sprintf("attempt %d: %s %s", last.N, last.Outcome, last.Code)
	if werr := t.journal.put(after(ctx, rec.ID), rec, record.StepCreating(rec.ID, rec.Gen), detail); werr != nil {
		return ending{event.Unsure, werr.Error()}, false
	}
	switch {
	case ctx.Err() != nil && last.Outcome == record.Unsure:
		return ending{event.Unsure, "stopped while the create was under way: it may have been executed"}, false
	case last.Outcome != record.Refused:
		return again, false
	}
	end = failed("%v", err)
	return end, t.comeAgain(err, rec)
}

func orKey(a, b resource.Key) resource.Key {
	if len(a) > 0 {
		return a
	}
	return b
}

// outcomeOf sorts an error of a create by S10.
func outcomeOf(err error) record.Outcome {
	switch {
	case resource.Is(err, resource.AlreadyExists):
		return record.Exists
	case resource.DefinitelyNotExecuted(err):
		return record.Refused
	default:
		return record.Unsure
	}
}

// comeAgain reports whether a refused call is worth sending again by itself.
func (t *task) comeAgain(err error, rec *record.Record) bool {
	if t.halt.draining() != "" {
		return false
	}
	switch resource.KindOf(err) {
	case resource.Throttled, resource.Busy, resource.Cooldown:
		return t.attempts < maxAttempts
	case resource.NotReady:
		return t.freshParent(rec) // which bounds it: the parent's window ends
	}
	return false
}

// freshParent reports whether a dependency was acknowledged inside its consistency window, by any execution (S14).
func (t *task) freshParent(rec *record.Record) bool {
	depends := rec.DependsOn
	if t.wanted != nil { // config may depend on what is newer than the record
		depends = append(slices.Clone(depends), t.refs(t.wanted.dependsOn)...)
	}
	for _, d := range depends {
		parent := t.journal.generation(d.ID, d.Gen)
		if parent == nil {
			continue
		}
		p, ok := t.env.Cloud.Provider(parent.Type)
		if ok && t.env.Clock.Now().Before(parent.TouchedAt.Add(crash.Scale(p.Schema().Window))) {
			return true
		}
	}
	return false
}

// backOff sleeps 0.25 s, doubled each time up to 8 s; false when the run was stopped.
func (t *task) backOff(ctx context.Context, n int) bool {
	d := crash.Scale(min(8*time.Second, 250*time.Millisecond<<min(n-1, 5)))
	t.phase("wait", "the service said to come again", t.env.Clock.Now().Add(d))
	return t.env.Clock.Sleep(ctx, d) == nil
}

// acknowledge commits key, identity and output before any further call (S8).
func (t *task) acknowledge(ctx context.Context, s *plan.Subject, rec *record.Record, created resource.Created) ending {
	schema := t.provider.Schema()
	now := t.env.Clock.Now().UTC()
	rec.Key, rec.Identity, rec.Output = created.Key, created.Identity, t.env.Sealer.SealMap(created.Output)
	rec.Physical, rec.Claim = schema.Physical(rec.Key), schema.Claim(t.stack.Scope, rec.Key)
	rec.AckedAt, rec.TouchedAt, rec.Nonce = now, now, rec.Intent.Nonce
	rec.Intent.Attempts[len(rec.Intent.Attempts)-1].Outcome = record.Confirmed
	rec.Params = rec.Intent.Params.Without(created.Unsent...)
	rec.Status, rec.Pending = record.Acknowledged, rec.Intent.Params
	whole := len(created.Unsent) == 0 && schema.Identity != resource.Upsert && !schema.Settles && answers(schema, created.Output)
	if whole {
		rec.Status, rec.Pending, rec.Intent = record.Made, nil, rec.Intent.Settled()
	}
	if err := t.journal.put(after(ctx, rec.ID), rec, record.StepPersist(rec.ID), "acknowledged"); err != nil {
		t.keepEvidence(ctx, rec, err)
		return ending{event.Unsure, "created, and the acknowledgement could not be recorded: " + err.Error()}
	}
	switch {
	case whole:
		t.publish(s.Desired, created.Output)
		return done("")
	case schema.Identity == resource.Upsert:
		return t.prove(ctx, rec)
	}
	return again
}

// prove reads what a put that was just answered has written, until its window is over. The record becomes ours once our
// nonce is seen or, where the type has no tags, the params that were sent (S9). Without that the verdict table speaks.
func (t *task) prove(ctx context.Context, rec *record.Record) ending {
	schema := t.provider.Schema()
	for {
		l := t.read(ctx, rec.Key)
		if l.Err != nil {
			return again
		}
		if l.Obs != nil {
			if !t.shown(schema, rec, l.Obs) {
				return again
			}
			rec.Identity, rec.Status = l.Obs.Identity, record.Updating
			return t.committed(ctx, rec, "a read shows that it is ours")
		}
		until := rec.TouchedAt.Add(crash.Scale(schema.Window))
		if !t.env.Clock.Now().Before(until) {
			return again
		}
		t.phase("wait", "not visible yet", until)
		if t.env.Clock.Sleep(ctx, crash.Scale(time.Second)) != nil {
			return ending{event.Unsure, "stopped before a read showed that it is ours"}
		}
	}
}

func (t *task) shown(schema *resource.Schema, rec *record.Record, obs *resource.Observation) bool {
	if schema.Taggable() {
		return obs.Owner[resource.TagNonce] == rec.Intent.Nonce
	}
	equal, _ := diff.EqualParams(schema, rec.Intent.Params, obs.Params, obs.Gaps, t.env.Sealer)
	return equal && rec.Intent.Preflight.Absent
}

// answers reports whether a create's answer has every output; where it does not, a read follows before dependents go on.
func answers(s *resource.Schema, output value.Map) bool {
	return !slices.ContainsFunc(s.Outputs, func(o resource.Output) bool { return !output[o.Name].IsSet() })
}

// keepEvidence saves an acknowledgement that could not be committed: a stale holder's goes to the evidence bucket (S34),
// one that the store cannot take to the emergency file (S36).
func (t *task) keepEvidence(ctx context.Context, rec *record.Record, why error) {
	e := record.Evidence{At: t.env.Clock.Now().UTC(), Stack: t.stack, ID: rec.ID, Type: rec.Type, Gen: rec.Gen, Nonce: rec.Intent.Nonce,
		Key: rec.Key, Identity: rec.Identity, Execution: t.hold.Execution, Epoch: t.hold.Epoch, Source: "stale holder"}
	if errors.Is(why, record.ErrStale) && t.env.Store.AddEvidence(after(ctx, rec.ID), e) == nil {
		return
	}
	t.halt.lose(e)
}

// reclaim makes an object that the evidence says is ours the record's own (S16).
func (t *task) reclaim(ctx context.Context, s *plan.Subject, it *plan.Item) ending {
	if s.Finding == nil {
		return t.reclaimByTags(ctx, s, it)
	}
	c := unstruck(s.Finding)
	if c == nil {
		return ending{event.Unsure, s.Finding.Summary}
	}
	if s.Finding.Verdict == recovery.VerdictAdopting {
		return t.adoptObject(ctx, s.Record, c.Observation)
	}
	rec := s.Record
	t.own(rec, c.Observation)
	if s.Finding.Verdict == recovery.VerdictPresumed || s.Finding.Row == "6" {
		rec.Origin = record.Presumed
	}
	rec.AckedAt = t.env.Clock.Now().UTC()
	rec.Pending = sent(rec)
	why := fmt.Sprintf("reclaimed: verdict %q, row %s", s.Finding.Verdict, s.Finding.Row)
	return t.committed(ctx, rec, why)
}

// reclaimByTags records an object that carries our tags and has no record (S5).
func (t *task) reclaimByTags(ctx context.Context, s *plan.Subject, it *plan.Item) ending {
	obs := s.Look.Obs
	if len(s.Look.Ours) == 1 {
		obs = &s.Look.Ours[0].Observation
	}
	rec := t.found(s, it, obs)
	rec.Origin, rec.Status = record.ByCreate, record.Updating
	return t.committed(ctx, rec, "reclaimed by its tags; there was no record")
}

// takeOver adopts a foreign object that the operator opted in for (S4): it gets ownership tags and no create nonce.
func (t *task) takeOver(ctx context.Context, s *plan.Subject, it *plan.Item) ending {
	if s.Finding != nil {
		c := unstruck(s.Finding)
		if c == nil {
			c = &s.Finding.Candidates[0]
		}
		return t.adoptObject(ctx, s.Record, c.Observation)
	}
	obs := s.Look.Obs
	if s.Record == nil {
		return t.adoptObject(ctx, t.found(s, it, obs), obs)
	}
	return t.adoptObject(ctx, s.Record, obs)
}

// found is a new record for an object that is there already.
func (t *task) found(s *plan.Subject, it *plan.Item, obs *resource.Observation) *record.Record {
	rec := &record.Record{Stack: t.stack, ID: it.ID, Type: it.Type, Gen: it.Gen, DependsOn: s.Refs,
		DeletionPolicy: s.Policies[0], UpdateReplacePolicy: s.Policies[1], CreatedBy: t.hold.Execution}
	t.own(rec, obs)
	return rec
}

// own fills in a record from the object that it now stands for.
func (t *task) own(rec *record.Record, obs *resource.Observation) {
	schema := t.provider.Schema()
	if p, ok := t.env.Cloud.Provider(rec.Type); ok {
		schema = p.Schema() // config may name another type by now
	}
	rec.Key, rec.Identity = obs.Key, obs.Identity
	known := []value.Map{rec.Params, rec.Pending}
	if rec.Intent != nil {
		known = append(known, rec.Intent.Params)
	}
	rec.Output = t.env.Sealer.SealMap(schema.Conceal(obs.Output, known...))
	rec.Physical, rec.Claim = schema.Physical(obs.Key), schema.Claim(t.stack.Scope, obs.Key)
	rec.Nonce = obs.Owner[resource.TagNonce]
	rec.Status = record.Acknowledged
	if schema.Identity == resource.Upsert {
		rec.Status = record.Updating // its owner was proven by the verdict; it is not judged again
	}
}

// sent are the params of a record's create; nil when it holds no intent.
func sent(rec *record.Record) value.Map {
	if rec.Intent == nil {
		return nil
	}
	return rec.Intent.Params
}

// adoptObject writes the adopting record, then the tags, then hands over to the ordinary diff.
func (t *task) adoptObject(ctx context.Context, rec *record.Record, obs *resource.Observation) ending {
	t.own(rec, obs)
	rec.Status, rec.Origin, rec.Nonce, rec.InFlight = record.Adopting, record.ByAdopt, "", nil
	rec.Params = nil // of what was there before, if anything: no member of the adopted object is recorded as ours (S26)
	if end := t.committed(ctx, rec, "adopting"); end.ended() {
		return end
	}
	calls, err := t.provider.Sync(resource.Change{Key: obs.Key, Desired: obs.Params, Observed: obs, Own: t.tags("")})
	if err != nil {
		return failed("tag it as ours: %v", err)
	}
	if end := t.runCalls(ctx, rec, calls); end.ended() {
		return end
	}
	rec.Status, rec.Pending = record.Updating, nil
	return t.committed(ctx, rec, "adopted")
}

// committed writes a record and goes on.
func (t *task) committed(ctx context.Context, rec *record.Record, why string) ending {
	if err := t.journal.put(ctx, rec, record.StepPersist(rec.ID), why); err != nil {
		return t.notCommitted(err)
	}
	t.acted = true
	return again
}

func unstruck(f *recovery.Finding) *recovery.Candidate {
	for i := range f.Candidates {
		if f.Candidates[i].Strike == "" && f.Candidates[i].Observation != nil {
			return &f.Candidates[i]
		}
	}
	return nil
}
