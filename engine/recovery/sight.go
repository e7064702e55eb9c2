package recovery

import (
	"context"
	"fmt"
	"slices"
	"time"

	"reclaim/engine/crash"
	"reclaim/engine/diff"
	"reclaim/engine/record"
	"reclaim/engine/resource"
)

// Sight is what a look for an orphan's object said.
type Sight string

const (
	SightFound   Sight = "found"           // one object, proven by nonce, unique ID or recorded params
	SightSeveral Sight = "several"         // more than one that carries its nonce
	SightClaimed Sight = "claimed"         // a live record has the object
	SightAnother Sight = "another"         // something is at the key, and nothing shows that it is the one
	SightEarly   Sight = "not visible yet" // absent, inside the consistency window (SAFETY S12)
	SightAbsent  Sight = "absent"          // absent, in the verified scope, outside the window (SAFETY S2, S21)
	SightUnknown Sight = "unknown"         // the look failed, was made elsewhere, or there is nothing to look by
)

// Sighting is the answer to a look for an orphan's object.
type Sighting struct {
	State    Sight         `json:"state"`
	Physical string        `json:"physical,omitempty"`
	Summary  string        `json:"summary"`
	Verdict  Verdict       `json:"verdict,omitempty"` // of an unfinished create
	Until    time.Time     `json:"until,omitzero"`    // when absence counts, local clock
	Looks    []record.Look `json:"looks"`

	// Object is the one that was found; nil otherwise.
	Object *resource.Candidate `json:"-"`
}

// Sight looks for an orphan's object: at its key, and by every nonce it ever had. Of an unfinished create it gives the
// verdict of the table. An error means that the store could not be read.
func (g *Gatherer) Sight(ctx context.Context, o *Orphan) (Sighting, error) {
	if o.Record != nil && g.needsVerdict(o.Record) {
		e, err := g.Gather(ctx, *o.Record, true)
		if err != nil {
			return Sighting{}, err
		}
		return sightOf(Judge(e)), nil
	}
	e, err := g.gather(ctx, o.sought(), true, "", nil)
	if err != nil {
		return Sighting{}, err
	}
	s := sight(&e)
	if s.Object == nil {
		return s, nil
	}
	var by record.Record
	var claimed bool
	err = g.Store.Read(ctx, func(v record.View) (err error) {
		by, claimed, err = v.Claimant(e.Schema.Claim(o.Stack.Scope, s.Object.Key))
		return err
	})
	if err != nil {
		return Sighting{}, fmt.Errorf("read who claims what was found for %s: %w", o.ID, err)
	}
	if claimed && (o.Record == nil || by.Stack != o.Stack || by.ID != o.ID || by.Gen != o.Gen) {
		s.State, s.Object = SightClaimed, nil
		s.Summary = fmt.Sprintf("%s is there, and %s generation %d of %s has it: it is looked after", s.Physical, by.ID, by.Gen, by.Stack)
	}
	return s, nil
}

// sought is the record to look for: the orphan's own, or what its tombstone still knows.
func (o *Orphan) sought() record.Record {
	if o.Record != nil {
		return *o.Record
	}
	t := o.Tombstone
	r := record.Record{Stack: t.Stack, ID: t.ID, Type: t.Type, Gen: t.Gen, Status: record.Retired, Key: t.Key, Identity: t.Identity, TouchedAt: t.At}
	for _, n := range t.Nonces {
		r.Former = append(r.Former, record.Intent{Nonce: n})
	}
	return r
}

// sightOf puts a verdict in the words of a sighting.
func sightOf(f Finding) Sighting {
	s := Sighting{Physical: f.Physical, Summary: f.Summary, Verdict: f.Verdict, Until: f.Until, Looks: append([]record.Look{}, f.Looks...)}
	switch f.Verdict {
	case VerdictOurs, VerdictPresumed, VerdictOtherAttempt, VerdictAdopting:
		s.State = SightFound
	case VerdictAmbiguous:
		s.State = SightSeveral
	case VerdictForeign, VerdictUnproven, VerdictChanged, VerdictDeletion:
		s.State = SightAnother
	case VerdictNotVisible:
		s.State = SightEarly
	case VerdictNotCreated, VerdictGone, VerdictReplayable:
		s.State = SightAbsent
	default:
		s.State = SightUnknown
	}
	return s
}

// sight judges what was found for something that was acknowledged, or given up.
func sight(e *Evidence) Sighting {
	r := &e.Record
	s := Sighting{State: SightUnknown, Looks: append([]record.Look{}, e.Looks...)}
	switch {
	case e.Schema == nil:
		s.Summary = "this version does not know its type"
		return s
	case e.Wrong != "":
		s.Summary = e.Wrong
		return s
	case e.LookErr != nil:
		s.Summary = "the look gave no answer: " + e.LookErr.Error()
		return s
	}
	var proven, others []*resource.Candidate
	for i := range e.Candidates {
		c := &e.Candidates[i]
		switch atKey := len(r.Key) > 0 && c.Key.Equal(r.Key); {
		case isSought(e, c):
			proven = append(proven, c)
		case atKey:
			others = append(others, c)
		}
	}
	return s.settle(e, proven, others)
}

func (s Sighting) settle(e *Evidence, proven, others []*resource.Candidate) Sighting {
	visible := latest(e.Record.TouchedAt, e.Record.AckedAt).Add(crash.Scale(e.Schema.Window))
	switch {
	case len(proven) == 1:
		s.State, s.Object, s.Physical = SightFound, proven[0], e.Schema.Physical(proven[0].Key)
		s.Summary = s.Physical + " is there, and it is the one"
	case len(proven) > 1:
		s.State, s.Summary = SightSeveral, fmt.Sprintf("%d objects carry its nonce; one of them is a copy, and nothing tells which", len(proven))
	case len(others) > 0:
		s.State, s.Physical = SightAnother, e.Schema.Physical(others[0].Key)
		s.Summary = s.Physical + " is there, and nothing shows that it is the one"
	case !askable(e):
		s.Summary = "it has no key and no nonce that could be looked for; look by hand"
	case e.Now.Before(visible):
		s.State, s.Until = SightEarly, visible
		s.Summary = "nothing was found; what was written last may not be visible before " + visible.UTC().Format(time.TimeOnly) + " UTC"
	default:
		s.State, s.Summary = SightAbsent, "nothing was found where it was, nor by its nonces"
	}
	return s
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// isSought reports whether an object is proven to be the one that is looked for: by a nonce, by its identity, or, where its type has
// neither, by being as it was recorded.
func isSought(e *Evidence, c *resource.Candidate) bool {
	r := &e.Record
	if n := c.Owner[resource.TagNonce]; n != "" && slices.Contains(r.Nonces(), n) {
		return true
	}
	if same, known := r.Identity.Same(c.Identity); known {
		return same
	}
	if e.Schema.Taggable() || len(r.Params) == 0 || !c.Key.Equal(r.Key) {
		return false
	}
	equal, _ := diff.EqualParams(e.Schema, r.Params, c.Params, c.Gaps, e.Sealer)
	return equal
}

// askable reports whether the look had anything to ask by.
func askable(e *Evidence) bool {
	complete := len(e.Record.Key) > 0 && !slices.ContainsFunc(e.Schema.Key, func(part string) bool { return e.Record.Key[part] == "" })
	return complete || e.Schema.Taggable() && !e.Schema.KeyByParams() && len(e.Record.Nonces()) > 0
}
