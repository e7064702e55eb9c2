package record

import (
	"context"
	"errors"
	"fmt"
)

// Fence is what every transaction on records, journal and tombstones is checked against (SAFETY S33).
type Fence struct {
	Stack     StackID
	Execution string
	Epoch     uint64
}

// Errors of the store that callers branch on.
var (
	// ErrStale: the hold was taken by someone else. The process must stop changing anything.
	ErrStale = errors.New("hold lost: another execution took it")
	// ErrNoHold: the execution that was named holds nothing, and nobody else does.
	ErrNoHold = errors.New("no such hold")
	// ErrConflict: the record is not at the revision the caller saw.
	ErrConflict = errors.New("record changed since it was read")
	// ErrNoStore: there is no store here, and this verb may not make one (SAFETY S35).
	ErrNoStore = errors.New("no store")
	// ErrNewer: the store was written by a newer version.
	ErrNewer = errors.New("store is from a newer version")
	// ErrDamaged: the store's file, or a bucket of it, cannot be read.
	ErrDamaged = errors.New("store is damaged")
	// ErrLocked: another process kept the file locked for the whole bounded wait.
	ErrLocked = errors.New("store is locked")
	// ErrWrite: the store could not be written; nothing of the transaction was (SAFETY S36).
	ErrWrite = errors.New("store could not be written")
)

// HeldError says who holds a stack.
type HeldError struct{ Hold Hold }

// Error names the holder and the line that takes the hold.
func (e *HeldError) Error() string {
	return fmt.Sprintf("%s is held by execution %s (%s, %s on %s, pid %d)", e.Hold.Stack, e.Hold.Execution,
		e.Hold.Verb, e.Hold.Owner.User, e.Hold.Owner.Host, e.Hold.Owner.PID)
}

// ClaimedError says that another live record has the physical key (SAFETY S3).
type ClaimedError struct {
	Claim string
	By    StackID
	ID    string
	Gen   int
}

// Error names the other record.
func (e *ClaimedError) Error() string {
	return fmt.Sprintf("the same physical object is claimed by %s of stack %s (generation %d)", e.ID, e.By, e.Gen)
}

// View is a consistent read of the store. What it returns is copied and stays valid.
type View interface {
	StoreID() string
	Ancestors() []string // IDs of the stores this one was imported or restored from
	Stacks() ([]StackID, error)
	// Records returns all generations of a stack, ordered by ID and generation. A record that cannot be decoded, or
	// whose key and body disagree on scope, is in bad and not in the list.
	Records(StackID) (list []Record, bad []BadRecord, err error)
	Record(s StackID, id string, gen int) (Record, bool, error)
	// Claimant returns the live record that has the claim.
	Claimant(claim string) (Record, bool, error)
	Tombstones(StackID) ([]Tombstone, error)
	// Steps returns the journal of a stack from sequence number from on, at most limit (0: all).
	Steps(s StackID, from uint64, limit int) ([]Step, error)
	Hold(StackID) (Hold, bool, error)
	Executions(StackID) ([]Execution, error)
	Decisions(StackID) ([]Decision, error)
	Evidence(StackID) ([]Evidence, error)
	Plan(fingerprint string) ([]byte, bool, error)
	// LastPlan returns the fingerprint of the last plan made of a stack, "" when there is none.
	LastPlan(StackID) (string, error)
}

// BadRecord is a record that could not be used: which, and why.
type BadRecord struct {
	Key    string
	Reason string
	// ID and Gen are what the key says, where it says them; the body may say otherwise.
	ID  string `json:",omitempty"`
	Gen int    `json:",omitempty"`
}

// Tx is a transaction under a Fence. All of it is committed, or nothing.
type Tx interface {
	View
	// PutRecord writes r. r.Rev must be the revision that was read (0 for a new one); the record gets the next, and the
	// step's sequence. A record with a Claim that another live record has is refused with *ClaimedError.
	// Retired, adopted and abandoned: claims of tombstones do not count.
	PutRecord(r *Record, step Step) error
	// DropRecord removes a record and, unless t is nil, leaves a tombstone.
	DropRecord(r *Record, t *Tombstone, step Step) error
	// DropUnusable removes what is at the key of a BadRecord of the fence's stack, and every claim that leads to it.
	// A record that can be used is refused with ErrConflict.
	DropUnusable(key string, step Step) error
	// DropTombstone removes the tombstone with t's ID, generation and Seq; ErrConflict when it is gone.
	DropTombstone(t Tombstone, step Step) error
	PutStep(Step) (uint64, error)
	PutDecision(Decision) error
	PutExecution(Execution) error
}

// Store is the port. Implementations: store (bbolt). storetest is its conformance suite.
type Store interface {
	ID() string
	// Read runs f on a consistent view. It never waits longer than a bounded time for a writer (ErrLocked).
	Read(ctx context.Context, f func(View) error) error
	// Write runs f in a durable transaction under the fence; ErrStale when the fence no longer holds. Transactions of
	// concurrent callers may share one commit; f may run more than once and must be free of other effects.
	Write(ctx context.Context, fence Fence, f func(Tx) error) error

	// Acquire makes a hold for h.Execution, *HeldError when there is one. It returns the hold with its epoch.
	Acquire(ctx context.Context, h Hold) (Hold, error)
	// Take replaces the hold of execution from by h and raises the epoch.
	Take(ctx context.Context, from string, h Hold) (Hold, error)
	// Release ends the hold if it is still the fence's.
	Release(ctx context.Context, fence Fence, e Execution) error
	// ClearHold removes the hold of a dead execution, without an execution of its own. With no execution it removes a
	// hold that cannot be read, and only that.
	ClearHold(ctx context.Context, s StackID, execution string) error

	// SavePlan keeps a plan; the only thing a reading verb writes (SAFETY S37).
	SavePlan(ctx context.Context, s StackID, fingerprint string, plan []byte) error
	// AddEvidence appends what a stale holder learned; it needs no hold (SAFETY S34).
	AddEvidence(ctx context.Context, e Evidence) error
	// Emergency writes evidence beside the store when the store itself cannot be written, and returns the file's path.
	Emergency(e []Evidence) (string, error)
	// SaveDecision keeps a decision before it is carried out; it needs no hold (SAFETY S17).
	SaveDecision(ctx context.Context, d Decision) error
}
