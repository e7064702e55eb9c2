package recovery

import (
	"cmp"
	"fmt"
	"time"

	"reclaim/engine/record"
	"reclaim/engine/resource"
)

// row is one line of the verdict table of SAFETY.md. Rows are tried in order; the first that fits is the verdict.
type row struct {
	name    string
	verdict Verdict
	fits    func(*inquiry) bool
	say     func(*inquiry, *Finding)
}

var table = []row{
	{"0", VerdictUnknown, (*inquiry).unanswered, (*inquiry).sayUnknown},
	{"1", VerdictAdopting, func(q *inquiry) bool { return q.adopting() && q.there() }, (*inquiry).sayAdopting},
	{"1b", VerdictChanged, (*inquiry).adopting, (*inquiry).sayChanged},
	{"a", VerdictForeign, struck("a"), (*inquiry).sayForeign},
	{"b", VerdictForeign, struck("b"), (*inquiry).sayForeign},
	{"c", VerdictForeign, struck("c"), (*inquiry).sayForeign},
	{"d", VerdictDeletion, struck("d"), (*inquiry).sayDeletion},
	{"2", VerdictOurs, func(q *inquiry) bool { return len(q.proven) == 1 }, (*inquiry).sayOurs},
	{"3", VerdictAmbiguous, func(q *inquiry) bool { return len(q.proven) > 1 }, (*inquiry).sayCopied},
	{"4", VerdictOtherAttempt, func(q *inquiry) bool { return len(q.tagged) > 0 }, (*inquiry).sayOtherAttempt},
	{"5", VerdictPresumed, func(q *inquiry) bool { return q.window() <= 0 && len(q.equal) == 1 && len(q.equal[0].rivals) == 0 },
		(*inquiry).sayPresumed},
	{"6", VerdictAmbiguous, func(q *inquiry) bool { return q.window() <= 0 && len(q.equal) > 0 }, (*inquiry).sayAlike},
	{"5w", VerdictNotVisible, func(q *inquiry) bool { return q.window() > 0 && len(q.equal) > 0 && len(q.equal) == len(q.left) }, (*inquiry).sayEarly},
	{"7", VerdictUnproven, func(q *inquiry) bool { return len(q.left) > 0 }, (*inquiry).sayUnproven},
	{"8", VerdictNotCreated, (*inquiry).allRefused, (*inquiry).sayRefused},
	{"9", VerdictUnreadable, func(q *inquiry) bool { return q.answeredExists() != nil }, (*inquiry).sayUnreadable},
	{"10", VerdictNotVisible, func(q *inquiry) bool { return q.window() > 0 || q.Request == RequestRunning }, (*inquiry).sayNotVisible},
	{"11", VerdictGone, (*inquiry).acknowledged, (*inquiry).sayGone},
	{"12", VerdictNotCreated, func(q *inquiry) bool {
		return q.schema.Identity == resource.Named || q.schema.Identity == resource.Upsert
	}, (*inquiry).sayNotCreated},
	{"13", VerdictReplayable, (*inquiry).tokenAlive, (*inquiry).sayReplayable},
	{"14", VerdictUncertain, func(*inquiry) bool { return true }, (*inquiry).sayUncertain},
}

// Judge says what became of an unfinished create. It is a pure function of the evidence.
func Judge(e Evidence) Finding {
	q := inquire(e)
	r := e.Record
	f := Finding{Stack: r.Stack, ID: r.ID, Type: r.Type, Gen: r.Gen, Rev: r.Rev, Class: q.schema.Identity, Status: r.Status,
		Physical: q.physical(), Looks: e.Looks, Timeline: q.timeline(), Lines: q.lines(), Facts: q.facts(),
		Candidates: views(q.objects), Namesakes: views(q.namesakes)}
	for _, row := range table {
		if row.fits(q) {
			f.Row, f.Verdict = row.name, row.verdict
			row.say(q, &f)
			break
		}
	}
	if f.Default == record.Later {
		f.Offered = append([]Option{later()}, f.Offered...)
	} else {
		f.Offered = append(f.Offered, later())
	}
	return f
}

// unanswered: nothing can be said of what is there, or of whose it is.
func (q *inquiry) unanswered() bool {
	if q.Schema == nil || !q.Looked || q.LookErr != nil || q.Wrong != "" {
		return true
	}
	for _, o := range q.objects {
		if q.ownershipUnread(o) {
			return true
		}
	}
	return false
}

func (q *inquiry) adopting() bool { return q.Record.Status == record.Adopting }

func (q *inquiry) there() bool {
	for _, o := range q.objects {
		if q.sameIdentity(o) {
			return true
		}
	}
	return false
}

// struck: every candidate is, the first by that strike. Types without a key of ours go on as absent.
func struck(strike string) func(*inquiry) bool {
	return func(q *inquiry) bool {
		return q.decidesByStrike() && len(q.left) == 0 && len(q.objects) > 0 && q.struckOne().strike == strike
	}
}

// decidesByStrike: an object at our key is in the way of every further create. So is one that an operator named.
func (q *inquiry) decidesByStrike() bool { return q.atKey() || q.Entered != "" }

// struckOne is the object whose strike is the verdict: the one an operator named, else the first.
func (q *inquiry) struckOne() *object {
	for _, o := range q.objects {
		if o.physical == q.Entered {
			return o
		}
	}
	return q.objects[0]
}

func (q *inquiry) physical() string {
	if q.Record.Physical != "" {
		return q.Record.Physical
	}
	if len(q.left) == 1 {
		return q.left[0].physical
	}
	return cmp.Or(q.schema.Physical(q.intent.Key), q.intent.Name)
}

func (q *inquiry) sayUnknown(f *Finding) {
	switch {
	case q.Schema == nil:
		f.Summary = fmt.Sprintf("This program does not know the type %s, so it cannot look.", q.Record.Type)
	case !q.Looked:
		f.Summary = "Not looked at yet. What the store knows is below."
	case q.Wrong != "":
		f.Summary = "The look was made in another place, so it says nothing: " + q.Wrong + "."
	case q.LookErr != nil && resource.Is(q.LookErr, resource.AccessDenied):
		f.Summary = "The look was denied. A denied look is no absence: allow the read, then look again."
	case q.LookErr != nil:
		f.Summary = "The look failed (" + string(resource.KindOf(q.LookErr)) + "), so nothing is known. Look again."
	default:
		f.Summary = "An object is there, but whose it is could not be read. Allow reading its tags, then look again."
	}
	f.Offered = []Option{look(), q.abandon()}
}

func (q *inquiry) sayAdopting(f *Finding) {
	f.Summary = "An adoption was under way and the object it named is still there."
	f.Auto, f.Default = true, record.GoOn
	for _, o := range q.objects {
		if q.sameIdentity(o) {
			f.Physical = o.physical
			f.Offered = []Option{{Choice: record.GoOn, Physical: o.physical, Call: q.tagCall(), Loss: "nothing", Follows: "the ordinary diff decides what is updated"}}
			return
		}
	}
}

func (q *inquiry) sayChanged(f *Finding) {
	f.Summary = "An adoption was under way, and the object it named is no longer there."
	if len(q.objects) > 0 {
		f.Summary = "An adoption was under way, but another object is there now than the one that was approved."
	}
	f.Offered = []Option{look(), q.abandon()}
}

func (q *inquiry) sayForeign(f *Finding) {
	o := q.struckOne()
	f.Physical = o.physical
	f.Summary = fmt.Sprintf("%s is not ours: %s.", o.physical, o.why)
	if o.strike == "a" {
		f.Summary += " It is never adopted here."
		f.Offered = []Option{q.abandon(), look()}
		return
	}
	typed := o.physical
	if o.strike == "b" {
		typed = o.owner
	}
	f.Offered = []Option{q.adopt(o, typed), q.abandon(), look()}
}

func (q *inquiry) sayDeletion(f *Finding) {
	o := q.struckOne()
	f.Physical = o.physical
	left := q.deletionWindow(o.retired)
	switch {
	case o.retired.UpdateReplacePolicy == record.PolicyRetain || o.retired.UpdateReplacePolicy == record.PolicyRetainOnCreate:
		f.Summary = fmt.Sprintf("%s is generation %d of this resource, which is retained; the name is taken.", o.physical, o.retired.Gen)
		give := q.abandon()
		give.Follows += "; or give the resource another name in the stack file"
		f.Offered = []Option{give, look()}
	case left > 0:
		f.Summary = fmt.Sprintf("%s is generation %d of this resource, whose deletion is still under way.", o.physical, o.retired.Gen)
		f.Auto, f.Default, f.Until = true, record.Wait, q.Now.Add(left)
		f.Offered = []Option{wait(f.Until), q.deleteIt(o, ""), look()}
	default:
		f.Summary = fmt.Sprintf("%s is generation %d of this resource; its deletion should be over and it is still there.", o.physical, o.retired.Gen)
		f.Offered = []Option{q.deleteIt(o, ""), q.abandon(), look()}
	}
}

func (q *inquiry) sayOurs(f *Finding) {
	o := q.proven[0]
	f.Physical = o.physical
	f.Summary = "This intent made this object: it carries the nonce."
	if !o.nonce {
		f.Summary = "This is the object that the service acknowledged: it has the recorded unique ID."
	}
	if more := len(q.objects) - 1; more > 0 {
		f.Summary += fmt.Sprintf(" %d more listed beside it; never touched.", more)
	}
	f.Auto, f.Default = true, record.Reclaim
	f.Offered = append(q.keep(o), q.deleteIt(o, ""), q.abandon())
}

func (q *inquiry) sayCopied(f *Finding) {
	f.Summary = fmt.Sprintf("%d objects carry the nonce: one tag was copied, by hand perhaps. Choose one; the others are never touched.", len(q.proven))
	f.Offered = q.chooseFrom(q.proven)
}

func (q *inquiry) sayOtherAttempt(f *Finding) {
	if len(q.tagged) == 1 {
		f.Physical = q.tagged[0].physical
		f.Summary = "It carries our stack and resource tags, but not the nonce of this intent: another attempt of ours made it, or its tags were changed. Review it."
	} else {
		f.Summary = fmt.Sprintf("%d objects carry our stack and resource tags, none the nonce of this intent. Choose one; the others are never touched.", len(q.tagged))
	}
	f.Offered = q.chooseFrom(q.tagged)
}

func (q *inquiry) sayPresumed(f *Finding) {
	o := q.equal[0]
	f.Physical = o.physical
	f.Summary = "Presumed ours: nothing was there before, a create was sent, and one object equal to what was sent is there. The type carries no tags, so nothing proves it."
	f.Auto, f.Default = true, record.Reclaim
	f.Offered = append(q.keep(o), q.abandon(), q.deleteIt(o, o.physical))
}

// sayEarly: rows 5 and 6 judge only what can be seen as a whole, after the window. To wait for that sends nothing.
func (q *inquiry) sayEarly(f *Finding) {
	f.Summary = "What is there is equal to what was sent, and more may not be visible yet: the window is open. It is judged after that."
	if len(q.equal) == 1 {
		f.Physical = q.equal[0].physical
	}
	f.Auto, f.Default, f.Until = true, record.Wait, q.Now.Add(q.window())
	f.Offered = []Option{wait(f.Until), look(), q.abandon()}
}

func (q *inquiry) sayAlike(f *Finding) {
	f.Summary = fmt.Sprintf("%d equal objects could be the one. Choose one; the others are never touched.", len(q.equal))
	if len(q.equal) == 1 {
		f.Summary = fmt.Sprintf("One object is equal to what was sent, and %d unfinished records fit it. Choose which gets it.", len(q.equal[0].rivals)+1)
	}
	f.Offered = q.chooseFrom(q.equal)
}

func (q *inquiry) sayUnproven(f *Finding) {
	f.Summary = "An object is there and nothing proves that this intent made it."
	if q.acknowledged() && q.schema.Identity == resource.Upsert {
		f.Summary = "The create overwrote an existing object: it succeeded, and what is there does not carry our proof."
	}
	for _, o := range q.left {
		f.Offered = append(f.Offered, q.adopt(o, o.physical))
	}
	if len(q.left) == 1 {
		f.Physical = q.left[0].physical
	}
	f.Offered = append(f.Offered, look(), q.abandon())
}

func (q *inquiry) sayRefused(f *Finding) {
	f.Summary = "Not created: every attempt was refused, and nothing is there."
	q.offerRetry(f)
}

func (q *inquiry) sayUnreadable(f *Finding) {
	f.Summary = fmt.Sprintf("The service answered that it exists (%s), yet nothing is found under our name.", cmp.Or(q.answeredExists().Code, "no code"))
	again := look()
	again.Follows = "it is looked up under the service's own idea of the name too (case, path)"
	f.Offered = []Option{again, q.retry("a second look comes first; a new intent with a new nonce, the old one stays searchable"), q.enterID(), q.abandon()}
}

func (q *inquiry) sayNotVisible(f *Finding) {
	f.Summary = "Nothing is there, and the window in which it may not be visible yet is open."
	left := q.window()
	if q.Request == RequestRunning {
		f.Summary = "Nothing is there yet: the service says that the request is still being carried out."
		left = max(left, time.Second)
	}
	f.Auto, f.Default, f.Until = true, record.Wait, q.Now.Add(left)
	f.Offered = []Option{wait(f.Until), look()}
}

func (q *inquiry) sayGone(f *Finding) {
	f.Summary = "It was acknowledged, and it is gone since. The plan makes it again."
	f.Offered = []Option{look()}
}

func (q *inquiry) sayNotCreated(f *Finding) {
	f.Summary = "Not created: nothing is there, and the window has passed. A second create would be refused if it appeared after all."
	if q.schema.Identity == resource.Upsert {
		f.Summary = "Not created: nothing is there, and the window has passed. A second create writes the same object."
	}
	q.offerRetry(f)
}

func (q *inquiry) sayReplayable(f *Finding) {
	f.Summary = "Nothing is there, and the token is alive: the identical request again returns the first object, if there is one."
	f.Auto, f.Default = true, record.Retry
	f.Offered = []Option{q.retry("the identical request under the same token"), q.abandon()}
}

func (q *inquiry) sayUncertain(f *Finding) {
	f.Summary = "Nothing is found, and that proves nothing: the service assigns the ID, and a second create would make a second object."
	f.Default = record.Later
	again := q.retry("a new intent with a new nonce, the old one stays searchable")
	again.Loss = "a duplicate may be made: if the first create was carried out, there will be two"
	f.Offered = []Option{again, q.enterID(), q.abandon()}
	if q.schema.Identity == resource.Token {
		f.Summary = "Nothing is found, and the token has expired: the service no longer knows whether it made something."
	}
}

func (q *inquiry) offerRetry(f *Finding) {
	f.Auto, f.Default = true, record.Retry
	follows := "another attempt of the same intent while the parameters are the same, else a new intent"
	if q.Request == RequestFailed {
		follows = "a new token: the service says that the request under the old one failed"
	}
	f.Offered = []Option{q.retry(follows), q.abandon()}
}
