package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	bolt "go.etcd.io/bbolt"

	"reclaim/engine/record"
)

// view is a record.View on one bbolt transaction. Every touch of bbolt goes through bucket, get and scan, which turn
// its panics into record.ErrDamaged.
type view struct {
	tx    *bolt.Tx
	path  string
	ahead *ahead // nil but on a snapshot
}

var _ record.View = (*view)(nil)

func (v *view) bucket(name string) (b *bolt.Bucket, err error) {
	defer guard(v.path, &err)
	if b = v.tx.Bucket([]byte(name)); b == nil {
		return nil, damaged(v.path, fmt.Errorf("it has no bucket %q", name))
	}
	return b, nil
}

// get returns the value at key, nil when there is none. It is valid until the transaction ends.
func (v *view) get(bucket, key string) (value []byte, err error) {
	defer guard(v.path, &err)
	b, err := v.bucket(bucket)
	if err != nil {
		return nil, err
	}
	return b.Get([]byte(key)), nil
}

// read decodes the value at key into into; false when there is none.
func (v *view) read(bucket, key string, into any) (bool, error) {
	value, err := v.get(bucket, key)
	if err != nil || value == nil {
		return false, err
	}
	if err := json.Unmarshal(value, into); err != nil {
		return false, v.undecodable(bucket, key, err)
	}
	return true, nil
}

func (v *view) undecodable(bucket, key string, err error) error {
	return damaged(v.path, fmt.Errorf("%q in bucket %q cannot be read: %w", key, bucket, err))
}

// errStop ends a scan early.
var errStop = errors.New("stop")

// scan calls visit for every key that begins with prefix and is not below from, in order.
func (v *view) scan(bucket, prefix, from string, visit func(key string, value []byte) error) (err error) {
	defer guard(v.path, &err)
	b, err := v.bucket(bucket)
	if err != nil {
		return err
	}
	c, begins := b.Cursor(), []byte(prefix)
	for k, value := c.Seek([]byte(max(prefix, from))); k != nil && bytes.HasPrefix(k, begins); k, value = c.Next() {
		if err := visit(string(k), value); err != nil {
			if errors.Is(err, errStop) {
				return nil
			}
			return err
		}
	}
	return nil
}

// list decodes all values of a stack in a bucket, in order of their keys. A value that cannot be decoded, or is of
// another stack than its key, is an error: only records can be used one by one.
func list[T any](v *view, bucket string, s record.StackID, from string, limit int, stack func(*T) record.StackID) ([]T, error) {
	var out []T
	prefix := stackKey(s)
	err := v.scan(bucket, prefix, prefix+from, func(key string, value []byte) error {
		var one T
		if err := json.Unmarshal(value, &one); err != nil {
			return v.undecodable(bucket, key, err)
		}
		if in := stack(&one); in != s {
			return v.undecodable(bucket, key, fmt.Errorf("it is of stack %s", in))
		}
		out = append(out, one)
		if len(out) == limit {
			return errStop
		}
		return nil
	})
	return out, err
}

func (v *view) storeID() (id string, err error) {
	ok, err := v.read(bucketMeta, metaID, &id)
	if err == nil && (!ok || id == "") {
		err = damaged(v.path, errors.New("it has no store ID"))
	}
	return id, err
}

func (v *view) schema() (n int, err error) {
	ok, err := v.read(bucketMeta, metaSchema, &n)
	if err == nil && !ok {
		err = damaged(v.path, errors.New("it has no schema version"))
	}
	return n, err
}

// StoreID returns the store's ID; empty only if it cannot be read, which Open and Read have ruled out.
func (v *view) StoreID() string { id, _ := v.storeID(); return id }

// Ancestors returns the IDs of the stores this one came from.
func (v *view) Ancestors() []string {
	var ids []string
	if _, err := v.read(bucketMeta, metaAncestors, &ids); err != nil {
		return nil // none is the careful answer: nothing is taken for an ancestor's
	}
	return ids
}

// Stacks returns every stack the store has anything of, ordered by name and scope.
func (v *view) Stacks() ([]record.StackID, error) {
	var out []record.StackID
	for _, bucket := range []string{bucketRecords, bucketHolds, bucketExecutions, bucketTombstones, bucketEvidence, bucketPlans} {
		some, err := v.stacksIn(bucket)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	slices.SortFunc(out, byStackKey)
	return slices.Compact(out), nil
}

func byStackKey(a, b record.StackID) int { return strings.Compare(stackKey(a), stackKey(b)) }

// stacksIn returns the stacks that keys of a bucket name, in order.
func (v *view) stacksIn(bucket string) (out []record.StackID, err error) {
	for from, more := "", true; more; {
		more = false
		err := v.scan(bucket, "", from, func(key string, _ []byte) error {
			more = true
			from = key + "\x00" // a key that names no stack is passed over: Check speaks of it
			if s, rest, err := splitKey(key); err == nil {
				out = append(out, s)
				from = max(from, strings.TrimSuffix(key, rest)+"\xff") // past all keys of the stack
			}
			return errStop
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// head is what a record is told by, without what it holds.
type head struct {
	Stack  record.StackID `json:"stack"`
	ID     string         `json:"id"`
	Type   string         `json:"type"`
	Gen    int            `json:"gen"`
	Rev    uint64         `json:"rev"`
	Status record.Status  `json:"status"`
	Claim  string         `json:"claim"`
}

func headOf(r *record.Record) head {
	return head{r.Stack, r.ID, r.Type, r.Gen, r.Rev, r.Status, r.Claim}
}

// agrees compares a record with its key (SAFETY S1).
func (h head) agrees(key string) error {
	s, id, gen, err := splitRecordKey(key)
	switch {
	case err != nil:
		return err
	case h.Stack != s:
		return fmt.Errorf("its key says stack %s, its body %s", s, h.Stack)
	case h.ID != id || h.Gen != gen:
		return fmt.Errorf("its key says %s generation %d, its body %s generation %d", id, gen, h.ID, h.Gen)
	case h.Type == "" || h.Status == "":
		return errors.New("it has no type or no status")
	}
	return nil
}

// decodeRecord decodes a record and compares it with its key.
func decodeRecord(key, value string) (record.Record, error) {
	r, err := record.Decode(value)
	if err != nil {
		return r, fmt.Errorf("it cannot be decoded: %w", err)
	}
	if r.Gen > 0 && r.Type != "" && r.Status != "" && key == recordKey(r.Stack, r.ID, r.Gen) {
		return r, nil
	}
	return r, headOf(&r).agrees(key)
}

// Records returns the stack's records that can be used, and those that cannot.
func (v *view) Records(s record.StackID) (list []record.Record, bad []record.BadRecord, err error) {
	if d, ok := v.ahead.take(s); ok {
		return d.list, d.bad, nil
	}
	return v.decode(s, runtime.GOMAXPROCS(0))
}

// decode is Records with so many workers.
func (v *view) decode(s record.StackID, workers int) (list []record.Record, bad []record.BadRecord, err error) {
	var found []encoded
	err = v.scan(bucketRecords, stackKey(s), "", func(key string, value []byte) error {
		found = append(found, encoded{key, string(value)})
		return nil
	})
	if err != nil || len(found) == 0 {
		return nil, nil, err
	}
	all, errs := decodeAll(found, workers)
	list = all[:0]
	for i, err := range errs {
		if err != nil {
			_, id, gen, _ := splitRecordKey(found[i].key)
			bad = append(bad, record.BadRecord{Key: found[i].key, Reason: err.Error(), ID: id, Gen: gen})
		} else {
			list = append(list, all[i])
		}
	}
	slices.SortFunc(list, func(a, b record.Record) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), cmp.Compare(a.Gen, b.Gen))
	})
	return list, bad, nil
}

// encoded is a record's key and value.
type encoded struct{ key, value string }

// decodeAll decodes with several workers: of reading 10,000 records, decoding is nearly all the time. It returns as many
// records and errors as it was given.
func decodeAll(all []encoded, workers int) ([]record.Record, []error) {
	records, errs := make([]record.Record, len(all)), make([]error, len(all))
	share := max(len(all)/workers+1, 128)
	var wg sync.WaitGroup
	for from := 0; from < len(all); from += share {
		wg.Go(func() {
			for i := from; i < min(from+share, len(all)); i++ {
				records[i], errs[i] = decodeRecord(all[i].key, all[i].value)
			}
		})
	}
	wg.Wait()
	return records, errs
}

// Record returns one generation of one resource; false when there is none.
func (v *view) Record(s record.StackID, id string, gen int) (record.Record, bool, error) {
	return v.recordAt(recordKey(s, id, gen))
}

func (v *view) recordAt(key string) (r record.Record, found bool, err error) {
	value, err := v.get(bucketRecords, key)
	if err != nil || value == nil {
		return r, false, err
	}
	if r, err = decodeRecord(key, string(value)); err != nil {
		return record.Record{}, false, v.undecodable(bucketRecords, key, err)
	}
	return r, true, nil
}

// headAt is recordAt for a writer, who needs to know only which record is there.
func (v *view) headAt(key string) (h head, found bool, err error) {
	value, err := v.get(bucketRecords, key)
	if err != nil || value == nil {
		return h, false, err
	}
	if r, err := decodeRecord(key, string(value)); err == nil { // nearly always, and less work than what follows
		return headOf(&r), true, nil
	}
	if err = json.Unmarshal(value, &h); err == nil {
		err = h.agrees(key)
	}
	if err != nil {
		return head{}, false, v.undecodable(bucketRecords, key, err)
	}
	return h, true, nil
}

// Claimant returns the record that claims a physical object.
func (v *view) Claimant(claim string) (record.Record, bool, error) {
	key, err := v.claimed(claim)
	if err != nil || key == "" {
		return record.Record{}, false, err
	}
	return v.recordAt(key)
}

// claimed returns the key of the record that claims claim; empty when none does.
func (v *view) claimed(claim string) (key string, err error) {
	_, err = v.read(bucketClaims, claim, &key)
	return key, err
}

// Tombstones returns what was given up in a stack.
func (v *view) Tombstones(s record.StackID) ([]record.Tombstone, error) {
	return list(v, bucketTombstones, s, "", 0, func(t *record.Tombstone) record.StackID { return t.Stack })
}

// Steps returns the stack's journal.
func (v *view) Steps(s record.StackID, from uint64, limit int) ([]record.Step, error) {
	return list(v, bucketJournal, s, number(from), limit, func(t *record.Step) record.StackID { return t.Stack })
}

// Hold returns the stack's hold; false when nobody has it.
func (v *view) Hold(s record.StackID) (h record.Hold, found bool, err error) {
	key := stackKey(s)
	found, err = v.read(bucketHolds, key, &h)
	if found && h.Stack != s {
		return record.Hold{}, false, v.undecodable(bucketHolds, key, fmt.Errorf("it is of stack %s", h.Stack))
	}
	return h, found, err
}

// Executions returns the stack's executions, oldest first.
func (v *view) Executions(s record.StackID) ([]record.Execution, error) {
	out, err := list(v, bucketExecutions, s, "", 0, func(e *record.Execution) record.StackID { return e.Stack })
	slices.SortStableFunc(out, func(a, b record.Execution) int { return a.Began.Compare(b.Began) })
	return out, err
}

// Decisions returns the stack's decisions, oldest first.
func (v *view) Decisions(s record.StackID) ([]record.Decision, error) {
	out, err := list(v, bucketDecisions, s, "", 0, func(d *record.Decision) record.StackID { return d.Stack })
	slices.SortStableFunc(out, func(a, b record.Decision) int { return a.At.Compare(b.At) })
	return out, err
}

// Evidence returns the stack's evidence, in the order it arrived.
func (v *view) Evidence(s record.StackID) ([]record.Evidence, error) {
	return list(v, bucketEvidence, s, "", 0, func(e *record.Evidence) record.StackID { return e.Stack })
}

// Plan returns a plan as it was saved.
func (v *view) Plan(fingerprint string) (plan []byte, found bool, err error) {
	var key string
	if found, err = v.read(bucketPlanIndex, fingerprint, &key); err != nil || !found {
		return nil, false, err
	}
	if plan, err = v.get(bucketPlans, key); err != nil || plan == nil {
		return nil, false, err
	}
	return bytes.Clone(plan), true, nil
}

// LastPlan returns the fingerprint of the stack's newest plan.
func (v *view) LastPlan(s record.StackID) (fingerprint string, err error) {
	err = v.scan(bucketPlans, stackKey(s), "", func(key string, _ []byte) (err error) {
		_, fingerprint, err = splitPlanKey(key)
		return err
	})
	return fingerprint, err
}
