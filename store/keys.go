package store

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"reclaim/engine/record"
	"reclaim/engine/resource"
)

// Buckets. All are at the top level; every key but those of meta, claims and planIndex begins with the stack's key.
const (
	bucketMeta       = "meta"       // schema, id, ancestors, created, imported/<emergency file>
	bucketRecords    = "records"    // stack, ID, generation → Record
	bucketJournal    = "journal"    // stack, sequence → Step; its bbolt sequence is the store's
	bucketPlans      = "plans"      // stack, number, fingerprint → plan, as it was given
	bucketPlanIndex  = "planIndex"  // fingerprint → key in plans of the newest with it
	bucketDecisions  = "decisions"  // stack, ID, generation, revision, time → Decision
	bucketHolds      = "holds"      // stack → Hold
	bucketEpochs     = "epochs"     // stack → last epoch given; never removed (SAFETY S33)
	bucketEvidence   = "evidence"   // stack, number → Evidence
	bucketTombstones = "tombstones" // stack, ID, generation, sequence → Tombstone
	bucketExecutions = "executions" // stack, ID → Execution
	bucketClaims     = "claims"     // claim → key in records (SAFETY S3)
)

var buckets = []string{bucketMeta, bucketRecords, bucketJournal, bucketPlans, bucketPlanIndex, bucketDecisions,
	bucketHolds, bucketEpochs, bucketEvidence, bucketTombstones, bucketExecutions, bucketClaims}

// stackKey is the beginning of every key of a stack: its name and the parts of its scope, escaped, each ended by a
// slash. Readable, and no stack's key begins another's.
func stackKey(s record.StackID) string {
	var b strings.Builder
	for _, part := range []string{s.Name, s.Scope.Partition, s.Scope.Account, s.Scope.Region, s.Scope.Endpoint} {
		b.WriteString(url.PathEscape(part))
		b.WriteByte('/')
	}
	return b.String()
}

// splitKey returns the stack that a key names, and the rest of the key.
func splitKey(key string) (s record.StackID, rest string, err error) {
	parts := strings.SplitN(key, "/", 6)
	if len(parts) != 6 {
		return s, "", errors.New("the key names no stack")
	}
	for i := range parts[:5] {
		if parts[i], err = url.PathUnescape(parts[i]); err != nil {
			return s, "", errors.New("the key names no stack")
		}
	}
	s = record.StackID{Name: parts[0], Scope: resource.Scope{Partition: parts[1], Account: parts[2], Region: parts[3],
		Endpoint: parts[4]}}
	if !strings.HasPrefix(key, stackKey(s)) {
		return s, "", errors.New("the key names no stack")
	}
	return s, parts[5], nil
}

func recordKey(s record.StackID, id string, gen int) string {
	return stackKey(s) + resourceKey(id, gen)
}

func tombstoneKey(t record.Tombstone) string {
	return recordKey(t.Stack, t.ID, t.Gen) + "/" + number(t.Seq)
}

func decisionKey(d record.Decision) string {
	return recordKey(d.Stack, d.ID, d.Gen) + "/" + number(d.Rev) + "/" + number(uint64(d.At.UnixNano()))
}

func resourceKey(id string, gen int) string { return fmt.Sprintf("%s/%08d", url.PathEscape(id), gen) }

func executionKey(s record.StackID, id string) string { return stackKey(s) + id }

// splitRecordKey is the reverse of recordKey.
func splitRecordKey(key string) (s record.StackID, id string, gen int, err error) {
	s, rest, err := splitKey(key)
	if err != nil {
		return s, "", 0, err
	}
	id, number, _ := strings.Cut(rest, "/")
	gen, genErr := strconv.Atoi(number)
	id, idErr := url.PathUnescape(id)
	if genErr != nil || idErr != nil || gen < 1 {
		return s, id, gen, errors.New("the key names no generation of a resource")
	}
	return s, id, gen, nil
}

// number is the form of sequence numbers in keys: sorts as the number does.
func number(n uint64) string { return fmt.Sprintf("%016x", n) }
