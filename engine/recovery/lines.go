package recovery

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"reclaim/engine/record"
	"reclaim/engine/resource"
)

// views returns objects as a Finding shows them, numbered from 1.
func views(objects []*object) []Candidate {
	var out []Candidate
	for i, o := range objects {
		var how []string
		for _, h := range []struct {
			word string
			ok   bool
		}{{"nonce", o.nonce || o.ByNonce}, {"tags", o.tagged || o.ByTags}, {"natural key", o.ByKey}, {"name", o.ByName}} {
			if h.ok {
				how = append(how, h.word)
			}
		}
		if len(how) == 0 {
			how = []string{"key"}
		}
		obs := o.Observation
		out = append(out, Candidate{N: i + 1, Physical: o.physical, Identity: o.Identity, CreatedAt: o.CreatedAt, Owner: o.Owner,
			Strike: o.strike, StrikeWhy: o.why, How: how, Fields: o.fields, Observation: &obs})
	}
	return out
}

// lines lists the evidence: of each candidate, of what was sent, of what was looked at. What is missing is said.
func (q *inquiry) lines() []Line {
	var out []Line
	for i, o := range q.objects {
		for _, l := range q.linesOf(o) {
			if len(q.objects) > 1 {
				l.Candidate = i + 1
			}
			out = append(out, l)
		}
	}
	if len(q.objects) == 0 {
		out = append(out, q.absence()...)
	}
	out = append(out, q.sent()...)
	for _, e := range q.Stray {
		out = append(out, Line{Side: For, Text: fmt.Sprintf("execution %s reported %s for it, outside a hold",
			e.Execution, cmp.Or(e.Identity.UniqueID, q.schema.Physical(e.Key), "an object")), Source: e.Source, At: e.At, Seq: e.Seq})
	}
	if q.schema.Identity == resource.Token {
		out = append(out, q.request())
	}
	return out
}

func (q *inquiry) linesOf(o *object) []Line {
	object := Line{Source: cmp.Or(o.Sources["object"], "read of "+q.schema.Type), At: o.ServedAt}
	tags := Line{Source: cmp.Or(o.Sources["tags"], object.Source), At: o.ServedAt}
	var out []Line
	out = append(out, q.tagLines(o, tags)...)
	out = append(out, q.before(o), q.claims(o), q.age(o, object))
	if q.intent.Params != nil {
		out = append(out, sameness(o, object))
	}
	if o.retired != nil {
		out = append(out, object.say(Against, "its unique ID is that of generation %d, replaced since", o.retired.Gen))
	}
	if o.known {
		out = append(out, object.say(For, "its unique ID is the one that was acknowledged"))
	}
	return out
}

func (l Line) say(side Side, format string, a ...any) Line {
	l.Side, l.Text = side, fmt.Sprintf(format, a...)
	return l
}

func (q *inquiry) tagLines(o *object, tags Line) []Line {
	switch {
	case !q.schema.Taggable():
		return []Line{tags.say(Missing, "the type carries no tags, so no nonce can prove it")}
	case o.Owner == nil:
		return []Line{tags.say(Missing, "its tags could not be read")}
	}
	var out []Line
	switch nonce := o.Owner[resource.TagNonce]; {
	case nonce == "":
		out = append(out, tags.say(Missing, "no tag %s", resource.TagNonce))
	case o.nonce:
		out = append(out, tags.say(For, "tag %s is %s", resource.TagNonce, short(nonce)))
	case o.former:
		out = append(out, tags.say(For, "tag %s is %s, of an earlier intent of this resource", resource.TagNonce, short(nonce)))
	case slices.ContainsFunc(q.Tombstones, func(t record.Tombstone) bool { return slices.Contains(t.Nonces, nonce) }):
		out = append(out, tags.say(Neutral, "tag %s is %s, of a record of this resource that was given up", resource.TagNonce, short(nonce)))
	default:
		out = append(out, tags.say(Against, "tag %s is %s, which is not ours", resource.TagNonce, short(nonce)))
	}
	switch store := o.Owner[resource.TagStore]; {
	case store != "" && store != q.StoreID && slices.Contains(q.Ancestors, store):
		out = append(out, tags.say(Neutral, "tagged by store %s, which this one was made from", store))
	case store != "" && store != q.StoreID:
		out = append(out, tags.say(Against, "tagged by another store, %s", store))
	}
	switch stack, id := o.Owner[resource.TagStack], o.Owner[resource.TagResource]; {
	case o.tagged:
		out = append(out, tags.say(For, "tagged for %s of %s", id, stack))
	case stack == "" && id == "":
		out = append(out, tags.say(Missing, "no stack and resource tags"))
	default:
		out = append(out, tags.say(Against, "tagged for %s of %s", cmp.Or(id, "no resource"), cmp.Or(stack, "no stack")))
	}
	for _, mark := range o.Owner.Foreign() {
		out = append(out, tags.say(Against, "marked %s", mark))
	}
	return out
}

// before says what the look before the intent says of the object.
func (q *inquiry) before(o *object) Line {
	p := q.intent.Preflight
	l := Line{Source: cmp.Or(p.Source, "preflight"), At: p.At, Seq: q.creatingSeq()}
	switch {
	case q.atPreflight(o):
		return l.say(Against, "it was there before the intent")
	case q.absentBefore() || len(p.Existing) > 0:
		return l.say(For, "absent before the intent")
	}
	return l.say(Missing, "no look before the intent is recorded")
}

func (q *inquiry) claims(o *object) Line {
	l := Line{Source: "store"}
	if o.claim != nil {
		return l.say(Against, "%s of stack %s claims it", o.claim.ID, o.claim.Stack)
	}
	if len(o.rivals) > 0 {
		return l.say(Against, "%d other unfinished records fit it as well", len(o.rivals))
	}
	return l.say(For, "no other record claims it")
}

// age compares the creation time with the intent, both by the service's clock. Within five minutes it says nothing.
func (q *inquiry) age(o *object, l Line) Line {
	if o.CreatedAt.IsZero() {
		return l.say(Missing, "the service does not say when it was created")
	}
	if q.intent.At.IsZero() {
		return l.say(Missing, "no time of an intent to compare its creation with")
	}
	after := o.CreatedAt.Sub(q.intent.At.Add(q.intent.Offset))
	last := q.lastSend()
	switch {
	case after < -noEvidence:
		return l.say(Against, "created %s before the intent", (-after).Round(time.Second))
	case after <= noEvidence:
		return l.say(Neutral, "created within 5 min of the intent")
	case !last.IsZero() && o.CreatedAt.Sub(last) <= noEvidence:
		return l.say(For, "created after the intent, within 5 min of the last send")
	}
	return l.say(Neutral, "created %s after the intent", after.Round(time.Second))
}

func sameness(o *object, l Line) Line {
	if o.equal {
		return l.say(For, "equal to what was sent")
	}
	shown := make([]string, 0, 4)
	for _, p := range o.unequal {
		if len(shown) == 3 {
			shown = append(shown, fmt.Sprintf("%d more", len(o.unequal)-3))
			break
		}
		shown = append(shown, string(p))
	}
	return l.say(Neutral, "not shown equal to what was sent: %s", strings.Join(shown, ", "))
}

// absence says what the looks said, where nothing was found that could be the one.
func (q *inquiry) absence() []Line {
	if !q.Looked {
		return []Line{{Side: Missing, Text: "the cloud was not looked at", Source: "store"}}
	}
	if q.LookErr != nil {
		l := Line{Side: Missing, Text: "no answer: " + string(resource.KindOf(q.LookErr)), Source: "look"}
		if n := len(q.Looks); n > 0 {
			l.Source, l.At = q.Looks[n-1].Call, q.Looks[n-1].At
		}
		return []Line{l}
	}
	var out []Line
	for _, k := range q.Looks {
		out = append(out, Line{Side: Against, Text: k.Result, Source: k.Call, At: k.At})
	}
	if q.schema.Taggable() {
		out = append(out, Line{Side: Missing, Text: "no object with our nonce or tags was found", Source: "look"})
	}
	if left := q.window(); left > 0 {
		out = append(out, Line{Side: Neutral, Text: fmt.Sprintf("the window of %s is open for %s more: it may not be visible yet",
			q.schema.Window, left.Round(time.Second)), Source: "schema"})
	}
	return out
}

// sent says what is known of each sending.
func (q *inquiry) sent() []Line {
	if q.Record.Intent == nil {
		return []Line{{Side: Missing, Text: "the record has no intent", Source: "journal"}}
	}
	if len(q.intent.Attempts) == 0 {
		return []Line{{Side: Missing, Text: "no sending is recorded", Source: "journal", Seq: q.creatingSeq()}}
	}
	var out []Line
	for _, a := range q.intent.Attempts {
		l := Line{Source: "journal", At: a.SentAt.Add(q.intent.Offset)}
		switch a.Outcome {
		case record.Refused:
			l = l.say(Against, "attempt %d was refused%s: nothing was made", a.N, code(a))
		case record.Exists:
			l = l.say(Against, "attempt %d was answered: it exists%s", a.N, code(a))
		case record.Confirmed:
			l = l.say(For, "attempt %d was acknowledged", a.N)
			if len(q.Record.Key) == 0 {
				l = l.say(Neutral, "attempt %d succeeded, but no ID was recorded", a.N)
			}
		case record.Unsure:
			l = l.say(Neutral, "attempt %d may have been carried out%s", a.N, code(a))
		default:
			l = l.say(Neutral, "attempt %d was about to be sent; no answer is recorded", a.N)
		}
		out = append(out, l)
	}
	return out
}

func code(a record.Attempt) string {
	if a.Code == "" {
		return ""
	}
	return " (" + a.Code + ")"
}

func (q *inquiry) request() Line {
	l := Line{Source: "request status"}
	switch q.Request {
	case RequestRunning:
		return l.say(Neutral, "the service is still carrying the request out")
	case RequestFailed:
		return l.say(Against, "the service says that the request failed")
	}
	return l.say(Missing, "the service does not list the request")
}

// timeline tells what happened, from the record and, where it is given, the journal.
func (q *inquiry) timeline() []Moment {
	var out []Moment
	if i := q.Record.Intent; i != nil {
		out = append(out, Moment{Seq: q.creatingSeq(), At: i.At, Text: "intent written: " + intentWords(*i)})
		for _, a := range i.Attempts {
			text := fmt.Sprintf("attempt %d going out", a.N)
			if a.Outcome == record.Going {
				text += "; no answer recorded"
			} else {
				text += ": " + string(a.Outcome) + code(a)
			}
			out = append(out, Moment{At: a.SentAt, Text: text})
		}
	}
	for _, f := range q.Record.Former {
		out = append(out, Moment{At: f.At, Text: fmt.Sprintf("an earlier intent, nonce %s, given up after %d attempts", short(f.Nonce), len(f.Attempts))})
	}
	if !q.Record.AckedAt.IsZero() {
		out = append(out, Moment{At: q.Record.AckedAt, Text: "acknowledged as " + cmp.Or(q.Record.Physical, "an object without an ID")})
	}
	for _, s := range q.Steps {
		if s.Gen == q.Record.Gen && s.Detail != "" && s.Name != record.StepCreating(q.Record.ID, q.Record.Gen) {
			out = append(out, Moment{Seq: s.Seq, At: s.At, Text: s.Detail})
		}
	}
	slices.SortStableFunc(out, func(a, b Moment) int { return a.At.Compare(b.At) })
	return out
}

func intentWords(i record.Intent) string {
	text := "nonce " + short(i.Nonce)
	if i.Name != "" {
		text = "name " + i.Name + ", " + text
	}
	switch p := i.Preflight; {
	case p.Absent:
		text += "; " + cmp.Or(p.Source, "the look before it") + " said absent"
	case p.Identity != nil:
		text += "; " + cmp.Or(p.Source, "the look before it") + " saw an object there"
	case len(p.Existing) > 0:
		text += fmt.Sprintf("; %d others were there already", len(p.Existing))
	}
	return text
}

// creatingSeq is the journal's number of the intent: of its step, or, while nothing was written since, of the record.
func (q *inquiry) creatingSeq() uint64 {
	for _, s := range q.Steps {
		if s.Name == record.StepCreating(q.Record.ID, q.Record.Gen) {
			return s.Seq
		}
	}
	if last := q.intent.Last(); q.Record.Status == record.Creating && len(q.intent.Attempts) == 1 && last.Outcome == record.Going {
		return q.Record.Seq
	}
	return 0
}

// short shows the two ends of a nonce.
func short(nonce string) string {
	if len(nonce) <= 8 {
		return nonce
	}
	return nonce[:4] + "…" + nonce[len(nonce)-2:]
}
