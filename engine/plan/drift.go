package plan

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"reclaim/engine/diff"
	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/schedule"
)

// DriftState says how an object compares with its record.
type DriftState string

const (
	DriftNone       DriftState = "as recorded"
	DriftDiffers    DriftState = "differs"
	DriftGone       DriftState = "gone"
	DriftAnother    DriftState = "another object" // something else is at the recorded key
	DriftWaiting    DriftState = "not visible yet"
	DriftDenied     DriftState = "access denied"
	DriftInvalid    DriftState = "invalid read" // a value that cannot be right is no evidence of drift
	DriftFailed     DriftState = "read failed"
	DriftUnfinished DriftState = "unfinished" // its create is uncertain: for recover to judge
)

// DriftStates returns all of them, in the order screens group them.
func DriftStates() []DriftState {
	return []DriftState{DriftUnfinished, DriftDenied, DriftInvalid, DriftFailed, DriftGone, DriftAnother, DriftDiffers, DriftWaiting, DriftNone}
}

// Drifted reports whether the state is a difference from what is recorded.
func (d DriftState) Drifted() bool {
	return d == DriftDiffers || d == DriftGone || d == DriftAnother
}

// Unknown reports whether nothing could be said.
func (d DriftState) Unknown() bool {
	return d == DriftDenied || d == DriftInvalid || d == DriftFailed
}

// DriftItem is one record compared with its object.
type DriftItem struct {
	ID       string        `json:"id"`
	Type     string        `json:"type"`
	Gen      int           `json:"gen"`
	Status   record.Status `json:"status"`
	Physical string        `json:"physical,omitempty"`
	State    DriftState    `json:"state"`
	Detail   string        `json:"detail,omitempty"`
	// Fields are those that differ or could not be compared: Recorded is what was last written. What matches is left out.
	Fields  []diff.Field `json:"fields,omitempty"`
	Matches int          `json:"matches"` // how many fields do
	ReadAt  time.Time    `json:"readAt,omitzero"`
}

// Drift compares every record of a stack with its object. Unverified fields are no drift (S29); they are listed.
type Drift struct {
	Stack record.StackID `json:"stack"`
	Items []DriftItem    `json:"items"` // in the order of the records
	Notes []string       `json:"notes,omitempty"`
}

// Drifted reports whether any object differs from its record.
func (d *Drift) Drifted() bool {
	for i := range d.Items {
		if d.Items[i].State.Drifted() {
			return true
		}
	}
	return false
}

// FindDrift looks at the object of every record. It needs no template, and writes nothing.
func FindDrift(ctx context.Context, env Env, stack record.StackID) (*Drift, error) {
	m, err := newMaker(ctx, env, stack)
	if err != nil {
		return nil, err
	}
	d := &Drift{Stack: stack, Items: make([]DriftItem, len(m.state.Records))}
	nodes := make([]schedule.Node, len(m.state.Records))
	for i := range nodes {
		nodes[i].Name = strconv.Itoa(i)
	}
	var mu sync.Mutex
	schedule.Run(ctx, nodes, m.parallel(), func(ctx context.Context, name string) {
		i, _ := strconv.Atoi(name)
		it := m.drift(ctx, &m.state.Records[i])
		mu.Lock()
		defer mu.Unlock()
		d.Items[i] = it
	})
	d.Notes = m.plan("", nil).Notes
	return d, ctx.Err()
}

// drift compares one record with its object.
func (m *maker) drift(ctx context.Context, r *record.Record) DriftItem {
	it := DriftItem{ID: r.ID, Type: r.Type, Gen: r.Gen, Status: r.Status, Physical: r.Physical}
	p, ok := m.env.Cloud.Provider(r.Type)
	switch {
	case !ok:
		it.State, it.Detail = DriftFailed, fmt.Sprintf("type %s is not supported by this version", r.Type)
		return it
	case NeedsVerdict(r, p.Schema()):
		it.State, it.Detail = DriftUnfinished, fmt.Sprintf("its create is %s; judge it: reclaim recover %s", r.Status, m.stack)
		return it
	case recordedKey(r) == nil:
		it.State, it.Detail = DriftFailed, "its record does not say where the object is"
		return it
	}
	s := Subject{ID: r.ID, Provider: p, Stores: m.state.Stores, Sealer: m.env.Sealer, Now: m.env.Now(), Stack: m.stack, Record: r,
		Desired: r.Params, Look: At(ctx, m.env.Cloud, p, m.stack.Scope, recordedKey(r))}
	it.ReadAt = s.Look.At
	s.drifted(&it)
	return it
}

// drifted says what the look means.
func (s Subject) drifted(it *DriftItem) {
	switch obs := s.Look.Obs; {
	case s.Look.Err != nil:
		it.State, it.Detail = lookState(s.Look.Err), s.Look.Err.Error()
	case obs == nil && s.early():
		it.State, it.Detail = DriftWaiting, "absent, and its window is open until "+s.visibleFrom().UTC().Format(time.TimeOnly)
	case obs == nil:
		it.State, it.Detail = DriftGone, "nothing is at the recorded key; the next deploy makes it again"
	case s.another(obs) != "":
		it.State, it.Detail = DriftAnother, s.another(obs)
	default:
		s.differing(it, obs)
	}
}

func lookState(err error) DriftState {
	switch resource.KindOf(err) {
	case resource.AccessDenied:
		return DriftDenied
	case resource.ReadInvalid:
		return DriftInvalid
	default:
		return DriftFailed
	}
}

// differing compares field by field with the params of the last acknowledged write.
func (s Subject) differing(it *DriftItem, obs *resource.Observation) {
	r := s.Record
	res := diff.Compare(diff.Input{Schema: s.Provider.Schema(), Desired: r.Params, Recorded: r.Params, Observed: obs, Sealer: s.Sealer})
	for _, f := range res.Fields {
		if f.Verdict == diff.Match {
			it.Matches++
		} else {
			it.Fields = append(it.Fields, f)
		}
	}
	n := count(it.Fields, diff.Differs)
	switch {
	case res.Invalid:
		it.State, it.Detail = DriftInvalid, "a value that cannot be right is no evidence of drift"
	case n > 0:
		it.State, it.Detail = DriftDiffers, fmt.Sprintf("%d differ from what was written", n)
	default:
		it.State = DriftNone
	}
	if r.Pending != nil && it.State != DriftNone {
		it.Detail += "; an update of it was not finished, which may be why"
	}
	if b := count(it.Fields, diff.Blocked); b > 0 {
		it.Detail = join(it.Detail, fmt.Sprintf("%d could not be read", b))
	}
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
