package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"reclaim/engine/record"
)

// Import fills an empty store with an export, in one transaction: all of it is there afterwards, or nothing. The store
// gets a new ID, and the export's and its own before become ancestors (SAFETY S4), so that no two stores ever have one
// ID. A store that holds anything of a stack but plans, the number of an epoch too, is refused: so nothing can have a hold
// whose fence would count (SAFETY S33). Nothing else may use s meanwhile.
func (s *Store) Import(ctx context.Context, e *record.Export) error {
	next := randomID()
	err := s.commits.do(&job{ctx: ctx, f: func(t *tx) error {
		if err := t.empty(); err != nil {
			return err
		}
		if err := t.importMeta(e, next, s.made); err != nil {
			return err
		}
		for i := range e.Stacks {
			if err := t.importStack(&e.Stacks[i]); err != nil {
				return fmt.Errorf("stack %s: %w", e.Stacks[i].Stack, err)
			}
		}
		return nil
	}})
	if err != nil {
		return fmt.Errorf("import into store %s: %w; nothing was imported", s.path, err)
	}
	s.id, s.made = next, false
	return nil
}

// ErrNotEmpty refuses an import into a store that holds a stack already.
var ErrNotEmpty = errors.New("it holds stacks already")

func (v *view) empty() error {
	stacks, err := v.exported()
	if err != nil || len(stacks) == 0 {
		return err
	}
	var names []string
	for _, id := range stacks {
		names = append(names, id.String())
	}
	return fmt.Errorf("%w (%s), and records of two stores in one could claim one object", ErrNotEmpty, strings.Join(names, ", "))
}

// importMeta gives the store its new ID, its ancestors and the numbers that were given last. The ID of a store that was made for this
// import was never on any object.
func (t *tx) importMeta(e *record.Export, id string, fresh bool) error {
	own, err := t.storeID()
	if err != nil {
		return err
	}
	ancestors := append([]string{e.Store}, e.Ancestors...)
	if !fresh && own != e.Store {
		ancestors = append(append(ancestors, own), t.Ancestors()...)
	}
	for bucket, n := range map[string]uint64{bucketJournal: e.JournalSeq, bucketEvidence: e.EvidenceSeq} {
		if err := t.setSequence(bucket, n); err != nil {
			return err
		}
	}
	return errors.Join(t.put(bucketMeta, metaID, id), t.put(bucketMeta, metaAncestors, ancestors),
		t.put(bucketMeta, metaCreated, time.Now().UTC()))
}

func (t *tx) setSequence(bucket string, n uint64) (err error) {
	defer guard(t.path, &err)
	b, err := t.bucket(bucket)
	if err != nil {
		return err
	}
	t.run.dirty = true
	return b.SetSequence(n)
}

// importStack writes one stack. Claims are made from the records, and two records with one are refused.
func (t *tx) importStack(e *record.StackExport) error {
	if e.Epoch > 0 {
		if err := t.put(bucketEpochs, stackKey(e.Stack), e.Epoch); err != nil {
			return err
		}
	}
	if e.Hold != nil {
		if err := t.put(bucketHolds, stackKey(e.Stack), e.Hold); err != nil {
			return err
		}
	}
	for i := range e.Records {
		r := &e.Records[i]
		key := recordKey(r.Stack, r.ID, r.Gen)
		if err := t.claim(r, key, ""); err != nil {
			return fmt.Errorf("record %s generation %d: %w", r.ID, r.Gen, err)
		}
		if err := t.put(bucketRecords, key, r); err != nil {
			return err
		}
	}
	return errors.Join(
		putAll(t, bucketTombstones, e.Tombstones, tombstoneKey),
		putAll(t, bucketJournal, e.Journal, func(s record.Step) string { return stackKey(s.Stack) + number(s.Seq) }),
		putAll(t, bucketExecutions, e.Executions, func(x record.Execution) string { return stackKey(x.Stack) + x.ID }),
		putAll(t, bucketDecisions, e.Decisions, decisionKey),
		putAll(t, bucketEvidence, e.Evidence, func(x record.Evidence) string { return stackKey(x.Stack) + number(x.Seq) }))
}

// putAll writes a list, each at its key, where nothing may be yet.
func putAll[T any](t *tx, bucket string, list []T, key func(T) string) error {
	for _, one := range list {
		at := key(one)
		if was, err := t.get(bucket, at); err != nil {
			return err
		} else if was != nil {
			return fmt.Errorf("%q in bucket %q is there twice", at, bucket)
		}
		if err := t.put(bucket, at, one); err != nil {
			return err
		}
	}
	return nil
}
