package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"reclaim/engine/record"
)

// run is one bbolt transaction that several jobs share.
type run struct {
	btx   *bolt.Tx
	dirty bool     // the job that runs has written something
	undos []func() // put back what PutRecord changed in its callers' records

	// held is the hold that the last job's fence was compared with, as it stood in the file: jobs of one run share it.
	held     []byte
	heldHold record.Hold
}

func (r *run) undo() {
	for i := len(r.undos) - 1; i >= 0; i-- {
		r.undos[i]()
	}
	r.undos = nil
}

// tx is a record.Tx: one job's part of a run.
type tx struct {
	view
	run   *run
	fence *record.Fence // nil for what needs no hold
}

var _ record.Tx = (*tx)(nil)

// Write runs f in a durable transaction under the fence (SAFETY S33). f must not call the store. A ctx that ends
// before f was begun refuses the write.
func (s *Store) Write(ctx context.Context, fence record.Fence, f func(record.Tx) error) error {
	err := s.commits.do(&job{ctx: ctx, fence: &fence, points: true, f: func(t *tx) error { return f(t) }})
	switch {
	case err == nil:
		s.hold(true)
	case errors.Is(err, record.ErrStale):
		s.hold(false)
	}
	return err
}

// check refuses a transaction on another store than was opened, or one whose hold is no longer there.
func (t *tx) check(store string) error {
	id, err := t.storeID()
	if err != nil {
		return err
	}
	version, err := t.schema()
	if err != nil {
		return err
	}
	switch {
	case id != store:
		return fmt.Errorf("write store: %s was replaced by another store (%s): %w", t.path, id, record.ErrStale)
	case version > schemaOf(migrations):
		return fmt.Errorf("write store: %w: another process brought it to schema %d", record.ErrNewer, version)
	case t.fence == nil:
		return nil
	}
	return t.checkFence(*t.fence)
}

func (t *tx) checkFence(f record.Fence) error {
	h, found, err := t.holdOf(f.Stack)
	switch {
	case err != nil:
		return err
	case !found:
		return fmt.Errorf("write %s: execution %s: %w (nobody holds it now)", f.Stack, f.Execution, record.ErrStale)
	case h.Execution != f.Execution || h.Epoch != f.Epoch:
		return fmt.Errorf("write %s: execution %s at epoch %d: %w (%s at epoch %d)", f.Stack, f.Execution, f.Epoch,
			record.ErrStale, h.Execution, h.Epoch)
	}
	return nil
}

// holdOf is Hold, decoded once for all jobs of a run that find the same bytes.
func (t *tx) holdOf(s record.StackID) (record.Hold, bool, error) {
	raw, err := t.get(bucketHolds, stackKey(s))
	if err != nil || raw == nil {
		return record.Hold{}, false, err
	}
	if t.run.heldHold.Stack == s && bytes.Equal(raw, t.run.held) {
		return t.run.heldHold, true, nil
	}
	h, found, err := t.Hold(s)
	if found && err == nil {
		t.run.held, t.run.heldHold = bytes.Clone(raw), h
	}
	return h, found, err
}

// put writes a value as JSON.
func (t *tx) put(bucket, key string, value any) error {
	b, err := json.Marshal(value)
	return t.putEncoded(bucket, key, b, err)
}

// putEncoded writes what was encoded, unless that failed.
func (t *tx) putEncoded(bucket, key string, b []byte, err error) error {
	if err != nil {
		return fmt.Errorf("encode %q in bucket %q: %w", key, bucket, err)
	}
	if len(b) > maxRecord {
		return fmt.Errorf("write %q in bucket %q: it is %d bytes, the bound is %d", key, bucket, len(b), maxRecord)
	}
	return t.putRaw(bucket, key, b)
}

// sequential are the buckets whose keys come nearly in order: their pages are filled before they are split, which makes the
// file, and every copy that a reader makes of it, a third smaller.
var sequential = map[string]bool{bucketJournal: true, bucketRecords: true, bucketClaims: true}

func (t *tx) putRaw(bucket, key string, value []byte) (err error) {
	defer guard(t.path, &err)
	b, err := t.bucket(bucket)
	if err != nil {
		return err
	}
	t.run.dirty = true
	if sequential[bucket] {
		b.FillPercent = 0.9
	}
	if err := b.Put([]byte(key), value); err != nil {
		return fmt.Errorf("write %q in bucket %q: %w", key, bucket, err)
	}
	return nil
}

func (t *tx) remove(bucket, key string) (err error) {
	defer guard(t.path, &err)
	b, err := t.bucket(bucket)
	if err != nil {
		return err
	}
	t.run.dirty = true
	return b.Delete([]byte(key))
}

// next returns the next number of a bucket. It is given back when the transaction is not committed, so that committed
// numbers have no gaps.
func (t *tx) next(bucket string) (n uint64, err error) {
	defer guard(t.path, &err)
	b, err := t.bucket(bucket)
	if err != nil {
		return 0, err
	}
	t.run.dirty = true
	return b.NextSequence()
}

// own refuses what is not of the fence's stack.
func (t *tx) own(what string, s record.StackID) error {
	if t.fence == nil || s != t.fence.Stack {
		return fmt.Errorf("write %s of stack %s: the hold is another stack's", what, s)
	}
	return nil
}

// PutRecord writes r, its claim and its step. r.Rev and r.Seq are set in r itself, and put back if the transaction is
// not committed.
func (t *tx) PutRecord(r *record.Record, step record.Step) error {
	if err := t.own("record "+r.ID, r.Stack); err != nil {
		return err
	}
	if r.ID == "" || r.Gen < 1 || r.Type == "" || r.Status == "" {
		return fmt.Errorf("write record %q: it needs an ID, a generation from 1, a type and a status", r.ID)
	}
	key := recordKey(r.Stack, r.ID, r.Gen)
	old, found, err := t.headAt(key)
	if err != nil {
		return err
	}
	if err := sameRevision(r, old, found); err != nil {
		return err
	}
	if err := t.claim(r, key, old.Claim); err != nil {
		return err
	}
	step.ID, step.Gen = r.ID, r.Gen
	seq, err := t.PutStep(step)
	if err != nil {
		return err
	}
	rev, was := r.Rev, r.Seq
	t.run.undos = append(t.run.undos, func() { r.Rev, r.Seq = rev, was })
	r.Rev, r.Seq = rev+1, seq
	b, err := record.Encode(r)
	return t.putEncoded(bucketRecords, key, b, err)
}

// sameRevision refuses a record that is not what its caller read.
func sameRevision(r *record.Record, old head, found bool) error {
	switch {
	case !found && r.Rev != 0:
		return fmt.Errorf("write record %s generation %d at revision %d: it is gone: %w", r.ID, r.Gen, r.Rev, record.ErrConflict)
	case found && old.Rev != r.Rev:
		return fmt.Errorf("write record %s generation %d at revision %d: it is at %d: %w", r.ID, r.Gen, r.Rev, old.Rev,
			record.ErrConflict)
	}
	return nil
}

// claim moves the claim of the record at key from old to r's, unless another record has it (SAFETY S3). Every record
// claims, a retired one and one that is being deleted too; only dropping it ends the claim.
func (t *tx) claim(r *record.Record, key, old string) error {
	if r.Claim != "" {
		by, err := t.claimed(r.Claim)
		if err != nil {
			return err
		}
		if by != "" && by != key {
			if err := t.claimedBy(r.Claim, by); err != nil {
				return err
			}
		}
		if by != key {
			if err := t.put(bucketClaims, r.Claim, key); err != nil {
				return err
			}
		}
	}
	if old == "" || old == r.Claim {
		return nil
	}
	return t.unclaim(old, key)
}

// claimedBy returns the *ClaimedError for the record at key by, nil when there is no such record.
func (t *tx) claimedBy(claim, by string) error {
	value, err := t.get(bucketRecords, by)
	if err != nil || value == nil {
		return err
	}
	// What it is stands in its key: a record that cannot be decoded claims too.
	s, id, gen, err := splitRecordKey(by)
	if err != nil {
		return t.undecodable(bucketClaims, claim, err)
	}
	return &record.ClaimedError{Claim: claim, By: s, ID: id, Gen: gen}
}

// unclaim ends a claim if it is the record's at key.
func (t *tx) unclaim(claim, key string) error {
	by, err := t.claimed(claim)
	if err != nil || by != key {
		return err
	}
	return t.remove(bucketClaims, claim)
}

// DropRecord removes r and its claim and leaves tb, unless it is nil.
func (t *tx) DropRecord(r *record.Record, tb *record.Tombstone, step record.Step) error {
	if err := t.own("record "+r.ID, r.Stack); err != nil {
		return err
	}
	key := recordKey(r.Stack, r.ID, r.Gen)
	old, found, err := t.headAt(key)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("drop record %s generation %d: it is gone: %w", r.ID, r.Gen, record.ErrConflict)
	}
	if err := sameRevision(r, old, true); err != nil {
		return err
	}
	if old.Claim != "" {
		if err := t.unclaim(old.Claim, key); err != nil {
			return err
		}
	}
	if err := t.remove(bucketRecords, key); err != nil {
		return err
	}
	step.ID, step.Gen = r.ID, r.Gen
	seq, err := t.PutStep(step)
	if err != nil || tb == nil {
		return err
	}
	left := *tb
	left.Seq = seq
	if err := t.own("tombstone "+left.ID, left.Stack); err != nil {
		return err
	}
	return t.put(bucketTombstones, tombstoneKey(left), left)
}

// PutStep appends a step of the fence's execution and returns its sequence number.
func (t *tx) PutStep(step record.Step) (uint64, error) {
	if step.Stack.IsZero() {
		step.Stack = t.fence.Stack
	}
	if err := t.own("step "+step.Name, step.Stack); err != nil {
		return 0, err
	}
	if step.Name == "" {
		return 0, errors.New("write step: it has no name")
	}
	step.Execution, step.Epoch = t.fence.Execution, t.fence.Epoch
	var err error
	if step.Seq, err = t.next(bucketJournal); err != nil {
		return 0, err
	}
	return step.Seq, t.put(bucketJournal, stackKey(step.Stack)+number(step.Seq), step)
}

// PutDecision writes a decision of the fence's stack; one with the same record, revision and time is replaced.
func (t *tx) PutDecision(d record.Decision) error {
	if err := t.own("decision on "+d.ID, d.Stack); err != nil {
		return err
	}
	return t.putDecision(d)
}

func (t *tx) putDecision(d record.Decision) error {
	return t.put(bucketDecisions, decisionKey(d), d)
}

// PutExecution writes the summary of an execution of the fence's stack.
func (t *tx) PutExecution(e record.Execution) error {
	if err := t.own("execution "+e.ID, e.Stack); err != nil {
		return err
	}
	if e.ID == "" {
		return errors.New("write execution: it has no ID")
	}
	return t.putExecution(e)
}

func (t *tx) putExecution(e record.Execution) error {
	return t.put(bucketExecutions, executionKey(e.Stack, e.ID), e)
}
