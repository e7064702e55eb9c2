package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"reclaim/engine/crash"
	"reclaim/engine/record"
)

// journal is the run's own view of its records, and the only way it writes them: every write is fenced, and a write
// that fails halts the run.
type journal struct {
	st    record.Store
	fence record.Fence
	clock Clock
	halt  *halt

	mu      sync.Mutex
	records map[record.Ref]*record.Record
	last    map[string]int
	retired map[string]int // ID → generation that this run retired
}

func newJournal(st record.Store, clock Clock, h *halt) *journal {
	return &journal{st: st, clock: clock, halt: h, records: map[record.Ref]*record.Record{}, last: map[string]int{}, retired: map[string]int{}}
}

// load fills the journal from state read under the hold.
func (j *journal) load(records []record.Record, tombs []record.Tombstone) {
	for i := range records {
		j.keep(&records[i])
	}
	for _, t := range tombs {
		j.last[t.ID] = max(j.last[t.ID], t.Gen)
	}
}

func (j *journal) keep(r *record.Record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.records[r.Ref()] = r
	j.last[r.ID] = max(j.last[r.ID], r.Gen)
}

// current returns a copy of the record of the highest generation that is not retired, else of the highest retired one;
// nil when there is none. It says what plan.Index says.
func (j *journal) current(id string) *record.Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	var retired *record.Record
	for gen := j.last[id]; gen > 0; gen-- {
		r := j.records[record.Ref{ID: id, Gen: gen}]
		if r == nil {
			continue
		}
		c := *r
		if r.Current() {
			return &c
		}
		if retired == nil {
			retired = &c
		}
	}
	return retired
}

// generation returns a copy of one generation's record, nil when there is none.
func (j *journal) generation(id string, gen int) *record.Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.records[record.Ref{ID: id, Gen: gen}]
	if r == nil {
		return nil
	}
	c := *r
	return &c
}

// retiredHere returns the generation of an ID that this run retired, nil when it retired none. One that an earlier run
// left is another matter: it is an item of the plan, with an approval of its own.
func (j *journal) retiredHere(id string) *record.Record {
	j.mu.Lock()
	gen := j.retired[id]
	j.mu.Unlock()
	return j.generation(id, gen)
}

// user names a resource whose record still depends on a generation, "" when there is none: what it refers to is not
// deleted before it has moved or gone (S22). A reference to a generation that is no longer recorded may mean this one.
func (j *journal) user(id string, gen int) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var found string
	uses := func(d record.Ref) bool { return d.ID == id && (d.Gen == gen || j.records[d] == nil) }
	for _, r := range j.records {
		if r.ID != id && slices.ContainsFunc(r.DependsOn, uses) && (found == "" || r.ID < found) {
			found = r.ID
		}
	}
	return found
}

// lastGen is the highest generation of an ID that was ever recorded.
func (j *journal) lastGen(id string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.last[id]
}

// uncertain lists the records whose create stands without an outcome.
func (j *journal) uncertain() []record.Record { return j.find((*record.Record).Uncertain) }

// find lists the records for which fits, in no order.
func (j *journal) find(fits func(*record.Record) bool) []record.Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []record.Record
	for _, r := range j.records {
		if fits(r) {
			out = append(out, *r)
		}
	}
	return out
}

// change is one record of a transaction: written, or dropped with or without a tombstone.
type change struct {
	rec  *record.Record
	step string
	why  string // step detail
	drop bool
	tomb *record.Tombstone
}

// put commits one record and its step.
func (j *journal) put(ctx context.Context, r *record.Record, step, why string) error {
	return j.commit(ctx, change{rec: r, step: step, why: why})
}

// drop commits the end of a record, with what must not be separate from it.
func (j *journal) drop(ctx context.Context, r *record.Record, tomb *record.Tombstone, why string, with ...change) error {
	return j.commit(ctx, append(with, change{rec: r, step: record.StepPersist(r.ID) + ":dropped", why: why, drop: true, tomb: tomb})...)
}

// commit writes all changes in one transaction. On success the records carry their new revisions.
func (j *journal) commit(ctx context.Context, changes ...change) error {
	written := make([]record.Record, len(changes))
	err := j.st.Write(ctx, j.fence, func(tx record.Tx) error {
		for i, c := range changes {
			written[i] = *c.rec
			now := j.clock.Now().UTC()
			step := record.Step{At: now, Execution: j.fence.Execution, Epoch: j.fence.Epoch, Stack: j.fence.Stack,
				ID: c.rec.ID, Gen: c.rec.Gen, Name: c.step, Detail: c.why}
			if c.drop {
				if err := tx.DropRecord(&written[i], c.tomb, step); err != nil {
					return err
				}
				continue
			}
			written[i].UpdatedAt = now
			if err := tx.PutRecord(&written[i], step); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		j.halt.onWrite(err)
		return fmt.Errorf("write %s: %w", changes[0].step, err)
	}
	for i, c := range changes {
		*c.rec = written[i]
		if c.drop {
			j.mu.Lock()
			delete(j.records, c.rec.Ref())
			j.mu.Unlock()
			continue
		}
		kept := written[i]
		j.keep(&kept)
		if kept.Status == record.Retired {
			j.mu.Lock()
			j.retired[kept.ID] = kept.Gen
			j.mu.Unlock()
		}
	}
	return nil
}

// after is the context for committing what a call answered: it outlives "stop now", so that what is known is kept.
func after(ctx context.Context, id string) context.Context {
	return crash.With(context.WithoutCancel(ctx), id)
}

// halt says whether, and why, the run starts nothing new, and whether it must not even go on.
type halt struct {
	mu    sync.Mutex
	why   string // "" while all is well
	fatal error  // hold lost or store failed: no further changing call at all
	lost  []record.Evidence
	said  func(why string)
}

// onWrite sorts an error of the store. A lost claim or revision concerns one resource; the rest ends the run.
func (h *halt) onWrite(err error) {
	if _, ok := errors.AsType[*record.ClaimedError](err); ok || errors.Is(err, record.ErrConflict) || errors.Is(err, context.Canceled) {
		return
	}
	why := "store failed"
	if errors.Is(err, record.ErrStale) {
		why = "hold lost"
	}
	h.mu.Lock()
	if h.fatal == nil {
		h.fatal = err
	}
	h.mu.Unlock()
	h.drain(why)
}

// drain lets no new change begin; the first reason stays.
func (h *halt) drain(why string) {
	h.mu.Lock()
	first := h.why == ""
	if first {
		h.why = why
	}
	h.mu.Unlock()
	if first && h.said != nil {
		h.said(why)
	}
}

func (h *halt) draining() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.why
}

func (h *halt) stopped() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.fatal
}

// lose keeps an acknowledgement that could not be committed.
func (h *halt) lose(e record.Evidence) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = append(h.lost, e)
}

func (h *halt) lostEvidence() []record.Evidence {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost
}
