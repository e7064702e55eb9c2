package recovery

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"reclaim/engine/crash"
	"reclaim/engine/diff"
	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// noEvidence is the difference between two clocks' times that says nothing (SAFETY S12).
const noEvidence = 5 * time.Minute

// object is one candidate with what was found out about it.
type object struct {
	resource.Candidate
	physical string
	nonce    bool // carries the nonce of the current intent
	former   bool // carries the nonce of an intent that was given up for a later one
	known    bool // has the unique ID that the acknowledgement gave
	tagged   bool // carries our stack and resource tags
	equal    bool // is equal to what was sent
	unequal  []value.Path
	rivals   []record.Record // other unfinished records that it is equal to as well
	claim    *record.Record  // of another resource
	strike   string
	why      string
	owner    string // of strike b: who has to be named
	retired  *record.Record
	fields   []diff.Field
}

// proven reports whether the object is of the current intent beyond doubt.
func (o *object) proven() bool { return o.nonce || o.known }

// inquiry is the evidence with everything that follows from it, before a row is chosen.
type inquiry struct {
	Evidence
	schema    *resource.Schema // never nil
	intent    record.Intent    // zero when the record has none
	objects   []*object        // candidates
	namesakes []*object        // listed, not judged
	left      []*object        // candidates without a strike
	proven    []*object        // of left
	tagged    []*object        // of left
	equal     []*object        // of left, untaggable and fitting row 5 but for number and window
}

func inquire(e Evidence) *inquiry {
	q := &inquiry{Evidence: e, schema: e.Schema}
	if q.schema == nil {
		q.schema = &resource.Schema{Type: e.Record.Type}
	}
	if e.Record.Intent != nil {
		q.intent = *e.Record.Intent
	}
	for _, c := range e.Candidates {
		o := q.examine(c)
		if q.isCandidate(o) {
			q.objects = append(q.objects, o)
		} else if o.ByName || !q.atPreflight(o) { // a parent's other children are no news
			q.namesakes = append(q.namesakes, o)
		}
	}
	byPhysical := func(a, b *object) int { return strings.Compare(a.physical, b.physical) }
	slices.SortStableFunc(q.objects, byPhysical)
	slices.SortStableFunc(q.namesakes, byPhysical)
	for _, o := range q.objects {
		q.strike(o)
		if o.strike != "" {
			continue
		}
		q.left = append(q.left, o)
		if o.proven() {
			q.proven = append(q.proven, o)
		}
		if o.tagged || o.former {
			q.tagged = append(q.tagged, o)
		}
		if q.presumable(o) {
			q.equal = append(q.equal, o)
		}
	}
	return q
}

func (q *inquiry) examine(c resource.Candidate) *object {
	o := &object{Candidate: c, physical: q.schema.Physical(c.Key)}
	if o.CreatedAt.IsZero() {
		o.CreatedAt = o.Identity.CreatedAt
	}
	nonce := c.Owner[resource.TagNonce]
	o.nonce = nonce != "" && nonce == q.intent.Nonce
	o.former = nonce != "" && slices.ContainsFunc(q.Record.Former, func(i record.Intent) bool { return i.Nonce == nonce })
	same, known := q.Record.Identity.Same(c.Identity)
	o.known = known && same && q.acknowledged() && q.schema.Identity != resource.Upsert
	o.tagged = c.Owner[resource.TagStack] == q.Record.Stack.String() && c.Owner[resource.TagResource] == q.Record.ID
	if claim, ok := q.Claims[o.physical]; ok {
		o.claim = &claim
	}
	q.compare(o)
	return o
}

// compare sets the object against what was sent; without an intent there is nothing to compare with.
func (q *inquiry) compare(o *object) {
	if q.intent.Params == nil || q.Schema == nil {
		return
	}
	o.fields = diff.Compare(diff.Input{Schema: q.schema, Desired: q.intent.Params, Recorded: q.intent.Params,
		Observed: &o.Observation, Sealer: q.Sealer}).Fields
	o.equal, o.unequal = diff.EqualParams(q.schema, q.intent.Params, o.Params, o.Gaps, q.Sealer)
	for _, r := range q.Rivals {
		if r.Intent == nil {
			continue
		}
		if fits, _ := diff.EqualParams(q.schema, r.Intent.Params, o.Params, o.Gaps, q.Sealer); fits {
			o.rivals = append(o.rivals, r)
		}
	}
}

// isCandidate: the object at the key; for types without a key of ours, what carries our nonce or tags, or is an equal
// sibling. A name alone makes no candidate.
func (q *inquiry) isCandidate(o *object) bool {
	switch {
	case q.atKey() || q.Entered != "" && o.physical == q.Entered || o.known:
		return true
	case q.schema.Taggable():
		return o.nonce || o.former || o.tagged || o.Owner == nil
	}
	return o.equal
}

// atKey reports whether the config addresses the object: by its key, or by a natural key.
func (q *inquiry) atKey() bool {
	return q.schema.Identity == resource.Named || q.schema.Identity == resource.Upsert ||
		q.schema.Identity == resource.Token && len(q.schema.Key) > 0 && q.schema.KeyByParams()
}

// strike says why an object cannot be the one. What carries our nonce is never struck, and an adoption under way is
// judged by the identity it names.
func (q *inquiry) strike(o *object) {
	if o.proven() || o.former || q.Record.Status == record.Adopting || q.ownershipUnread(o) {
		return
	}
	set := func(s, format string, a ...any) { o.strike, o.why = s, fmt.Sprintf(format, a...) }
	switch older, by := q.older(o); {
	case o.claim != nil:
		set("a", "%s of stack %s (generation %d, %s) claims it", o.claim.ID, o.claim.Stack, o.claim.Gen, o.claim.Status)
	case q.foreignOwner(o) != "":
		o.owner = q.foreignOwner(o)
		set("b", "it carries the marks of %s", o.owner)
	case q.retiredWith(o) != nil:
		o.retired = q.retiredWith(o)
		set("d", "it has the unique ID of generation %d, which was replaced", o.retired.Gen)
	case q.atPreflight(o):
		set("c", "it was there before the intent was written")
	case older:
		set("c", "it is %s older than the intent", by.Round(time.Second))
	}
}

func (q *inquiry) ownershipUnread(o *object) bool { return q.schema.Taggable() && o.Owner == nil }

// foreignOwner names another store or tool whose marks the object carries. An ancestor's tags are ours only together
// with the recorded unique ID (SAFETY S4).
func (q *inquiry) foreignOwner(o *object) string {
	switch store := o.Owner[resource.TagStore]; {
	case store == "" || store == q.StoreID:
	case slices.Contains(q.Ancestors, store) && q.recordedID(o):
	default:
		return "store " + store
	}
	if marks := o.Owner.Foreign(); len(marks) > 0 {
		return marks[0]
	}
	return ""
}

func (q *inquiry) recordedID(o *object) bool {
	same, known := q.Record.Identity.Same(o.Identity)
	return known && same
}

func (q *inquiry) atPreflight(o *object) bool {
	p := q.intent.Preflight
	if o.Identity.UniqueID != "" && slices.Contains(p.Existing, o.Identity.UniqueID) {
		return true
	}
	if p.Identity == nil {
		return false
	}
	same, known := p.Identity.Same(o.Identity)
	return known && same || !known && q.atKey() // nothing tells them apart: what was there is what is there
}

// older reports whether the object is older than the intent beyond doubt, by the service's clock.
func (q *inquiry) older(o *object) (bool, time.Duration) {
	if o.CreatedAt.IsZero() || q.intent.At.IsZero() {
		return false, 0
	}
	by := q.intent.At.Add(q.intent.Offset).Sub(o.CreatedAt)
	return by > noEvidence, by
}

func (q *inquiry) retiredWith(o *object) *record.Record {
	for i := range q.Retired {
		r := &q.Retired[i]
		if same, known := r.Identity.Same(o.Identity); known && same && o.Identity.UniqueID != "" {
			return r
		}
	}
	return nil
}

// presumable: what row 5 asks of one object, but for its number and the window.
func (q *inquiry) presumable(o *object) bool {
	return !q.schema.Taggable() && o.equal && q.absentBefore() && (q.acknowledged() || q.maybeSent())
}

// absentBefore reports whether the preflight said that nothing was there. For Assigned types, what was there is struck.
func (q *inquiry) absentBefore() bool {
	p := q.intent.Preflight
	return p.Absent || q.schema.Identity == resource.Assigned && !p.At.IsZero() && p.Identity == nil
}

// acknowledged reports whether the service named the object. A success without an ID is none.
func (q *inquiry) acknowledged() bool {
	return q.Record.Status == record.Acknowledged || !q.Record.AckedAt.IsZero() && len(q.Record.Key) > 0
}

// attempts are all sendings, those of former intents too.
func (q *inquiry) attempts() []record.Attempt {
	var all []record.Attempt
	for _, i := range q.Record.Former {
		all = append(all, i.Attempts...)
	}
	return append(all, q.intent.Attempts...)
}

func (q *inquiry) maybeSent() bool {
	return slices.ContainsFunc(q.attempts(), record.Attempt.MaybeExecuted)
}

// allRefused: nothing that was sent can have been executed.
func (q *inquiry) allRefused() bool {
	if q.Record.Intent == nil || q.acknowledged() {
		return false
	}
	if q.Request == RequestFailed && len(q.Record.Former) == 0 {
		return true
	}
	return !slices.ContainsFunc(q.attempts(), func(a record.Attempt) bool { return a.Outcome != record.Refused })
}

func (q *inquiry) answeredExists() *record.Attempt {
	for i := range q.intent.Attempts {
		if q.intent.Attempts[i].Outcome == record.Exists {
			return &q.intent.Attempts[i]
		}
	}
	return nil
}

// serviceNow is the service's Date of the last look; without one, the local clock corrected by the preflight's offset.
func (q *inquiry) serviceNow() time.Time {
	var last time.Time
	for _, l := range q.Looks {
		if l.At.After(last) {
			last = l.At
		}
	}
	if last.IsZero() {
		return q.Now.Add(q.intent.Offset)
	}
	return last
}

// lastSend is the last send or acknowledgement by the service's clock; zero when nothing can have been executed.
func (q *inquiry) lastSend() time.Time {
	last := q.Record.AckedAt
	for _, a := range q.attempts() {
		if a.MaybeExecuted() && a.SentAt.After(last) {
			last = a.SentAt
		}
	}
	if last.IsZero() {
		return last
	}
	return last.Add(q.intent.Offset)
}

// window returns how much longer absence may be "not visible yet" (SAFETY S12); zero or less: it has passed.
func (q *inquiry) window() time.Duration {
	sent := q.lastSend()
	if sent.IsZero() {
		return 0
	}
	return sent.Add(crash.Scale(q.schema.Window)).Sub(q.serviceNow())
}

// deletionWindow is the same after the deletion of a retired generation was sent.
func (q *inquiry) deletionWindow(r *record.Record) time.Duration {
	if r.DeleteSent.IsZero() {
		return 0
	}
	return r.DeleteSent.Add(q.intent.Offset + crash.Scale(q.schema.Window)).Sub(q.serviceNow())
}

// tokenAlive: the service still remembers the token of the current intent, and no definite failure has spent it.
func (q *inquiry) tokenAlive() bool {
	if q.schema.Identity != resource.Token || q.intent.Token == "" || q.Request == RequestFailed || len(q.intent.Attempts) == 0 {
		return false
	}
	if slices.ContainsFunc(q.intent.Attempts, func(a record.Attempt) bool { return a.Outcome == record.Refused }) {
		return false
	}
	first := q.intent.Attempts[0].SentAt.Add(q.intent.Offset)
	return q.serviceNow().Before(first.Add(crash.Scale(q.schema.TokenLife)))
}

// sameIdentity: what an adoption named is there. An object of a type without identity is told by its key alone.
func (q *inquiry) sameIdentity(o *object) bool {
	same, known := q.Record.Identity.Same(o.Identity)
	return same || !known && q.Record.Identity.IsZero() && o.Identity.IsZero()
}

// facts hashes existence, identity, ownership and the compared fields; nothing that moves with time alone (SAFETY S17).
func (q *inquiry) facts() string {
	type fact struct {
		Physical, UniqueID, Strike, Claim string
		CreatedAt                         time.Time
		Owner                             resource.Tags
		Equal                             bool
		Rivals                            []string
		Fields                            map[value.Path]string
	}
	all := struct {
		Answered bool
		Kind     resource.Kind
		Wrong    string
		Nonce    string
		Request  RequestState
		Outcomes []record.Outcome
		Objects  []fact
	}{Answered: q.Looked && q.LookErr == nil, Kind: resource.KindOf(q.LookErr), Wrong: q.Wrong, Nonce: q.intent.Nonce, Request: q.Request}
	for _, a := range q.attempts() {
		all.Outcomes = append(all.Outcomes, a.Outcome)
	}
	for _, o := range q.objects {
		f := fact{Physical: o.physical, UniqueID: o.Identity.UniqueID, CreatedAt: o.Identity.CreatedAt.UTC(), Owner: o.Owner, Strike: o.strike,
			Equal: o.equal, Fields: map[value.Path]string{}}
		if o.claim != nil {
			f.Claim = o.claim.Claim
		}
		for _, r := range o.rivals {
			f.Rivals = append(f.Rivals, r.Stack.String()+"/"+r.ID)
		}
		for _, d := range o.fields {
			if d.By == diff.ByConfig {
				seen, _ := json.Marshal(d.Observed)
				f.Fields[d.Path] = string(d.Verdict) + " " + string(seen)
			}
		}
		all.Objects = append(all.Objects, f)
	}
	text, _ := json.Marshal(all)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
