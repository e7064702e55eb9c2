package recovery

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"reclaim/engine/record"
	"reclaim/engine/resource"
)

// OrphanKind says why nobody looks after a record or tombstone.
type OrphanKind string

const (
	OrphanUnfinished OrphanKind = "unfinished" // a create or adoption that no run is carrying on
	OrphanDeleting   OrphanKind = "deleting"   // a delete that no run is carrying on
	OrphanReplaced   OrphanKind = "replaced"   // an earlier generation whose object was to go
	OrphanUnnamed    OrphanKind = "unnamed"    // the stack file that was looked at does not name it
	OrphanLeft       OrphanKind = "left"       // a destroy ended and left it
	OrphanTombstone  OrphanKind = "tombstone"  // given up; its object may be there, or may still come
)

// Orphan is a record whose resource no stack file names any more, an unfinished one that no run carries on, or a tombstone.
type Orphan struct {
	Stack    record.StackID `json:"stack"`
	ID       string         `json:"id"`
	Type     string         `json:"type"`
	Gen      int            `json:"gen"`
	Status   string         `json:"status"` // of the record; "tombstone"
	Kind     OrphanKind     `json:"kind"`
	Why      string         `json:"why"`
	Physical string         `json:"physical,omitempty"` // of the record; of a tombstone only its schema can tell
	Since    time.Time      `json:"since"`              // of the last that was written of it, local clock

	Record    *record.Record    `json:"-"`
	Tombstone *record.Tombstone `json:"-"` // one of both
}

// Named is what is known of the names in a stack's file.
type Named struct {
	IDs    map[string]bool
	Source string // "plan 7f3a91c2 of orders.yaml, made 2 h ago"
}

// Orphans lists a stack's orphans, from the store alone, by ID and generation. named is nil where nothing is known of the
// stack's file: then no record is taken to be unnamed. alive says of a hold's process whether it runs; while it does, what
// is unfinished is its business.
func Orphans(v record.View, stack record.StackID, named *Named, alive func(record.Owner) resource.Tri) ([]Orphan, error) {
	records, _, err := v.Records(stack)
	if err != nil {
		return nil, err
	}
	tombs, err := v.Tombstones(stack)
	if err != nil {
		return nil, err
	}
	runs, err := v.Executions(stack)
	if err != nil {
		return nil, err
	}
	hold, held, err := v.Hold(stack)
	if err != nil {
		return nil, err
	}
	f := finder{named: named, runs: held && alive(hold.Owner) == resource.Yes}
	if !held {
		f.destroyed = destroyedBy(runs)
	}
	var out []Orphan
	for i := range records {
		if o, ok := f.orphan(&records[i], records); ok {
			out = append(out, o)
		}
	}
	for i := range tombs {
		t := &tombs[i]
		out = append(out, Orphan{Stack: t.Stack, ID: t.ID, Type: t.Type, Gen: t.Gen, Status: "tombstone", Kind: OrphanTombstone, Tombstone: t,
			Why: gaveUp(t), Since: t.At})
	}
	slices.SortStableFunc(out, func(a, b Orphan) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Gen, b.Gen)) })
	return out, nil
}

// finder is what records of one stack are compared with.
type finder struct {
	named     *Named
	runs      bool   // a run is under way
	destroyed string // the run that ended a destroy last; "" when the last was none
}

// destroyedBy names the last run if it was to destroy the whole stack. One that was limited says nothing of the rest.
func destroyedBy(runs []record.Execution) string {
	if len(runs) == 0 {
		return ""
	}
	last := runs[len(runs)-1]
	if last.Verb != "destroy" || len(last.Only) > 0 {
		return ""
	}
	return last.ID
}

func (f *finder) orphan(r *record.Record, all []record.Record) (Orphan, bool) {
	o := Orphan{Stack: r.Stack, ID: r.ID, Type: r.Type, Gen: r.Gen, Status: string(r.Status), Physical: r.Physical, Since: r.UpdatedAt, Record: r}
	if f.runs {
		return o, false
	}
	later := slices.ContainsFunc(all, func(other record.Record) bool { return other.ID == r.ID && other.Gen > r.Gen })
	switch {
	case r.Uncertain():
		o.Kind, o.Why = OrphanUnfinished, fmt.Sprintf("%s since then, and no run carries it on", r.Status)
	case r.Status == record.Deleting:
		o.Kind, o.Why = OrphanDeleting, "its deletion was begun, and no run carries it on"
	case r.Status == record.Retired || later:
		o.Kind, o.Why = OrphanReplaced, "a later generation took its place, and its object was not removed"
	case f.destroyed != "":
		o.Kind, o.Why = OrphanLeft, "destroy "+f.destroyed+" ended and left it"
	case f.named != nil && !f.named.IDs[r.ID]:
		o.Kind, o.Why = OrphanUnnamed, f.named.Source+" does not name it"
	default:
		return o, false
	}
	return o, true
}

func gaveUp(t *record.Tombstone) string {
	why := cmp.Or(t.Why, "given up")
	if t.Note != "" {
		why += ": " + t.Note
	}
	return why + ", by " + cmp.Or(t.Who, "nobody named")
}
