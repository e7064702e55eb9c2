// Package record is what state says: stacks, records, intents, attempts, holds, decisions, and the port to the store
// that keeps them.
//
// Its one rule: types here only describe. Nothing in this package reads a clock, a file or a cloud.
package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// StackID is name and scope (SAFETY S1).
type StackID struct {
	Name  string         `json:"name"`
	Scope resource.Scope `json:"scope"`
}

// String is the written form: orders-prod@123456789012/eu-west-1.
func (s StackID) String() string { return s.Name + "@" + s.Scope.String() }

// IsZero reports whether s names nothing.
func (s StackID) IsZero() bool { return s.Name == "" }

// Matches reports whether text, NAME or NAME@SCOPE as typed by a user, can mean s.
func (s StackID) Matches(text string) bool {
	name, scope, full := strings.Cut(text, "@")
	return name == s.Name && (!full || scope == s.Scope.String())
}

// Status of a record.
type Status string

const (
	Creating     Status = "creating"     // an intent is written; nothing acknowledged
	Adopting     Status = "adopting"     // an existing object is being made ours; Identity says which
	Acknowledged Status = "acknowledged" // the service gave key and ID; not yet synced or proven ours
	Made         Status = "created"
	Updating     Status = "updating" // Pending is being written
	Deleting     Status = "deleting"
	Retired      Status = "retired" // replaced by a later generation; its policy still applies
)

// Unfinished reports whether a run has to go on with it.
func (s Status) Unfinished() bool { return s != Made && s != Retired }

// Origin says how a record came to have its object.
type Origin string

const (
	ByCreate Origin = "created"
	ByAdopt  Origin = "adopted"  // never removed by a rollback
	Presumed Origin = "presumed" // verdict row 5; destroying or replacing it asks for its own approval
)

// Outcome of an attempt (SAFETY S10).
type Outcome string

const (
	Going     Outcome = "going"     // committed before it was sent; no answer recorded: uncertain
	Refused   Outcome = "rejected"  // definitely not executed
	Exists    Outcome = "exists"    // answered "already exists"
	Unsure    Outcome = "uncertain" // timeout, reset, 5xx, unknown error
	Confirmed Outcome = "acknowledged"
)

// Attempt is one sending of a create.
type Attempt struct {
	N         int       `json:"n"`
	Execution string    `json:"execution"`
	SentAt    time.Time `json:"sentAt"` // local clock, corrected by Intent.Offset for comparison with the service's
	Outcome   Outcome   `json:"outcome"`
	Code      string    `json:"code,omitempty"`
	RequestID string    `json:"requestId,omitempty"`
	Message   string    `json:"message,omitempty"`
}

// MaybeExecuted reports whether the attempt can have made something.
func (a Attempt) MaybeExecuted() bool { return a.Outcome != Refused && a.Outcome != Exists }

// Intent is one intended create, immutable once written but for the attempts.
type Intent struct {
	Nonce     string        `json:"nonce"`
	Token     string        `json:"token,omitempty"`
	Execution string        `json:"execution"`
	At        time.Time     `json:"at"`
	Offset    time.Duration `json:"offset"` // service's clock minus ours, at the preflight
	Name      string        `json:"name,omitempty"`
	Key       resource.Key  `json:"key,omitempty"` // pinned; empty for Assigned
	Params    value.Map     `json:"params"`        // being sent; sealed
	Preflight Preflight     `json:"preflight"`
	Attempts  []Attempt     `json:"attempts"`
	// DeleteFirst is set when this generation replaces one that was deleted for it.
	DeleteFirst bool `json:"deleteFirst,omitempty"`
	// Replaces is the generation that this one was made to replace; 0 for none. A rollback makes it current again (SAFETY S23).
	Replaces int `json:"replaces,omitempty"`
}

// Preflight is what the look before the intent said (SAFETY S5).
type Preflight struct {
	At       time.Time          `json:"at"`                 // service's Date of the look
	Absent   bool               `json:"absent"`             // nothing at the key
	Existing []string           `json:"existing,omitempty"` // Assigned: unique IDs of candidates that were already there
	Identity *resource.Identity `json:"identity,omitempty"` // what was at the key
	Source   string             `json:"source"`             // "GetRole"
}

// Settled is what stays of an intent whose create is done: who, when and how often, but not a second copy of the params.
func (i *Intent) Settled() *Intent {
	if i == nil {
		return nil
	}
	c := *i
	c.Key, c.Params = nil, nil
	return &c
}

// Last returns the last attempt, nil when there is none.
func (i *Intent) Last() *Attempt {
	if i == nil || len(i.Attempts) == 0 {
		return nil
	}
	return &i.Attempts[len(i.Attempts)-1]
}

// InFlight is a changing call that was journaled and whose outcome is not known.
type InFlight struct {
	Call      string        `json:"call"`
	Execution string        `json:"execution"`
	SentAt    time.Time     `json:"sentAt"`
	Deadline  time.Duration `json:"deadline"`
}

// Ref is a dependency.
type Ref struct {
	ID  string `json:"id"`
	Gen int    `json:"gen"`
}

// Policy values of DeletionPolicy and UpdateReplacePolicy. "" means Delete.
const (
	PolicyDelete         = "Delete"
	PolicyRetain         = "Retain"
	PolicyRetainOnCreate = "RetainExceptOnCreate"
	PolicySnapshot       = "Snapshot"
)

// Record is what state says of one generation of one resource. Any field may be empty in any status; a record always
// loads.
type Record struct {
	Stack  StackID `json:"stack"`
	ID     string  `json:"id"`
	Type   string  `json:"type"`
	Gen    int     `json:"gen"` // from 1
	Rev    uint64  `json:"rev"` // grows with each write; decisions bind to it
	Seq    uint64  `json:"seq"` // journal sequence of the last write
	Status Status  `json:"status"`
	Origin Origin  `json:"origin,omitempty"`

	Key      resource.Key      `json:"key,omitempty"`
	Physical string            `json:"physical,omitempty"`
	Claim    string            `json:"claim,omitempty"` // Schema.Claim of Key; unique among live records
	Identity resource.Identity `json:"identity,omitzero"`
	Nonce    string            `json:"nonce,omitempty"` // what the object carries, when we made or proved it
	Output   value.Map         `json:"output,omitempty"`
	// Params are recorded params: of the last acknowledged write, sealed.
	Params value.Map `json:"params,omitempty"`
	// Pending are params an unfinished write is sending, sealed.
	Pending value.Map `json:"pending,omitempty"`

	Intent *Intent `json:"intent,omitempty"` // of the create; kept after it was acknowledged
	// Former are intents that were given up for a new one and stay searchable (SAFETY S15).
	Former   []Intent  `json:"former,omitempty"`
	InFlight *InFlight `json:"inFlight,omitempty"`

	DependsOn           []Ref  `json:"dependsOn,omitempty"`
	DeletionPolicy      string `json:"deletionPolicy,omitempty"`
	UpdateReplacePolicy string `json:"updateReplacePolicy,omitempty"`

	CreatedBy  string    `json:"createdBy,omitempty"` // execution that made or adopted it
	AckedAt    time.Time `json:"ackedAt,omitzero"`    // when the create was acknowledged, local clock
	TouchedAt  time.Time `json:"touchedAt,omitzero"`  // last changing call sent or acknowledged
	UpdatedAt  time.Time `json:"updatedAt"`
	DeleteSent time.Time `json:"deleteSent,omitzero"`
	// RolledBack: the generation that this one replaced is current again, and this one is to go (SAFETY S23).
	RolledBack bool `json:"rolledBack,omitempty"`
	// Retained says why a destroyed stack's record was let go without deleting its object.
	Note string `json:"note,omitempty"`
}

// Uncertain reports whether a create was, or may have been, sent and not acknowledged, or a creating record stands
// without an outcome.
func (r *Record) Uncertain() bool {
	return r.Status == Creating || r.Status == Adopting
}

// Current reports whether the record can be the current generation of its resource: a later one did not take its place, and
// it was not rolled back.
func (r *Record) Current() bool { return r.Status != Retired && !r.RolledBack }

// Made returns the intent that made the record's object, nil when none did: it was adopted, found by its tags, or nobody
// knows.
func (r *Record) Made() *Intent {
	if r.Origin == ByAdopt || r.Intent == nil {
		return nil
	}
	for i := range r.Former {
		if f := &r.Former[i]; r.Nonce != "" && f.Nonce == r.Nonce {
			return f
		}
	}
	return r.Intent
}

// Maker returns the execution that made what the intent stands for: the one whose attempt was acknowledged, else the only
// one whose attempts may have been executed. Where none may have, it is the one that wrote the intent; of several nobody can
// tell, and it is "".
func (i *Intent) Maker() string {
	maker := ""
	for _, a := range i.Attempts {
		switch {
		case a.Outcome == Confirmed:
			return a.Execution
		case !a.MaybeExecuted():
		case maker != "" && maker != a.Execution:
			return ""
		default:
			maker = a.Execution
		}
	}
	if maker == "" {
		return i.Execution
	}
	return maker
}

// Confirmed reports whether an attempt of the intent was acknowledged.
func (i *Intent) Confirmed() bool {
	return slices.ContainsFunc(i.Attempts, func(a Attempt) bool { return a.Outcome == Confirmed })
}

// Ref returns the record's own reference.
func (r *Record) Ref() Ref { return Ref{ID: r.ID, Gen: r.Gen} }

// Nonces are all that the resource's creates ever carried, the current one first.
func (r *Record) Nonces() []string {
	var out []string
	add := func(n string) {
		if n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	if r.Intent != nil {
		add(r.Intent.Nonce)
	}
	for _, f := range r.Former {
		add(f.Nonce)
	}
	add(r.Nonce)
	return out
}

// Tombstone is what is left of a record that was given up; orphan look-ups still search it (SAFETY S18).
type Tombstone struct {
	Stack    StackID           `json:"stack"`
	ID       string            `json:"id"`
	Type     string            `json:"type"`
	Gen      int               `json:"gen"`
	Nonces   []string          `json:"nonces"`
	Key      resource.Key      `json:"key,omitempty"`
	Identity resource.Identity `json:"identity,omitzero"`
	Why      string            `json:"why"` // "abandoned", "not found when given up", "retained"
	Note     string            `json:"note,omitempty"`
	Who      string            `json:"who"`
	At       time.Time         `json:"at"`
	Seq      uint64            `json:"seq"`
}

// Step is one journal entry. Steps are never changed.
type Step struct {
	Seq       uint64    `json:"seq"`
	At        time.Time `json:"at"`
	Execution string    `json:"execution"`
	Epoch     uint64    `json:"epoch"`
	Stack     StackID   `json:"stack"`
	ID        string    `json:"id,omitempty"`
	Gen       int       `json:"gen,omitempty"`
	Name      string    `json:"name"` // state:persist:<id>:creating:<gen> and the like
	Detail    string    `json:"detail,omitempty"`
}

// Names of steps.
func StepCreating(id string, gen int) string {
	return fmt.Sprintf("state:persist:%s:creating:%d", id, gen)
}

// StepPersist is the acknowledgement and every later state of the current generation.
func StepPersist(id string) string { return "state:persist:" + id }

// StepRetired is the step that retires a generation.
func StepRetired(id string, gen int) string {
	return fmt.Sprintf("state:persist:%s:retired:%d", id, gen)
}

// StepForget is the step that forgets a generation, or its tombstones; nothing else is left of them (SAFETY S18).
func StepForget(id string, gen int) string { return fmt.Sprintf("state:forget:%s:%d", id, gen) }

// StepRestore is the step that makes a record of a tombstone again.
func StepRestore(id string, gen int) string { return fmt.Sprintf("state:restore:%s:%d", id, gen) }

// StepSettle is the n-th wait for readiness.
func StepSettle(id string, n int) string { return fmt.Sprintf("state:persist:%s:settle:%d", id, n) }

// StepCall is a changing call other than a create, before and after.
func StepCall(id, call, when string) string { return fmt.Sprintf("call:%s:%s:%s", id, call, when) }

// Owner says which process runs an execution.
type Owner struct {
	User      string `json:"user"`
	Host      string `json:"host"`
	PID       int    `json:"pid"`
	BootID    string `json:"bootId,omitempty"`    // of the running kernel
	StartTick string `json:"startTick,omitempty"` // start time of the process, as the kernel says
}

// Hold is the exclusive right to change a stack. It survives a crash and never expires on its own.
type Hold struct {
	Stack     StackID   `json:"stack"`
	Execution string    `json:"execution"`
	Epoch     uint64    `json:"epoch"` // raised by every acquisition, a resume too (SAFETY S33)
	Verb      string    `json:"verb"`
	Owner     Owner     `json:"owner"`
	Since     time.Time `json:"since"`
	Template  string    `json:"template,omitempty"` // path, to say what to run next
	Plan      string    `json:"plan,omitempty"`     // fingerprint
	Of        string    `json:"of,omitempty"`       // of a rollback: the execution that is rolled back
	// Taken is the hold this one was taken from; its owner may still be changing things until its deadline.
	Taken *Hold `json:"taken,omitempty"`
}

// Begun is the summary of the hold's execution before it has ended.
func (h Hold) Begun() Execution {
	return Execution{ID: h.Execution, Stack: h.Stack, Verb: h.Verb, Of: h.Of, Plan: h.Plan, Template: h.Template, Owner: h.Owner, Began: h.Since}
}

// Decision is what an operator approved for one uncertain record. It is bound to the record's revision and the facts
// its verdict used (SAFETY S17).
type Decision struct {
	Stack     StackID   `json:"stack"`
	ID        string    `json:"id"`
	Gen       int       `json:"gen"`
	Rev       uint64    `json:"rev"`
	Facts     string    `json:"facts"` // hash of Finding.Facts
	Verdict   string    `json:"verdict"`
	Choice    Choice    `json:"choice"`
	Physical  string    `json:"physical,omitempty"` // which candidate
	Note      string    `json:"note,omitempty"`
	Who       string    `json:"who"`
	At        time.Time `json:"at"`
	Looks     []Look    `json:"looks"`
	Execution string    `json:"execution,omitempty"` // that carried it out
	Outcome   string    `json:"outcome,omitempty"`
}

// Look is one look at the cloud: what it was and what it said.
type Look struct {
	Call   string    `json:"call"`
	At     time.Time `json:"at"` // the service's clock
	Result string    `json:"result"`
}

// Choice is what can be done about an uncertain record.
type Choice string

const (
	Reclaim   Choice = "reclaim"  // keep the object as this record's
	Adopt     Choice = "adopt"    // typed: take over an object that nothing proves ours
	Replace   Choice = "replace"  // reclaim, then replace: two approvals in one walk
	Retry     Choice = "retry"    // send the create again
	DeleteIt  Choice = "delete"   // delete the object found
	Abandon   Choice = "abandon"  // give the record up; a tombstone stays
	Wait      Choice = "wait"     // wait, then judge again
	GoOn      Choice = "continue" // an adoption that was under way
	Later     Choice = "later"    // leave it
	LookAgain Choice = "look"     // look again
	EnterID   Choice = "enter-id" // name the object; it is looked up and judged first
)

// Evidence is an acknowledgement or an emergency entry that arrived outside a hold (SAFETY S34, S36). It is read by
// recovery and never changes a record by itself.
type Evidence struct {
	Seq       uint64            `json:"seq"`
	At        time.Time         `json:"at"`
	Stack     StackID           `json:"stack"`
	ID        string            `json:"id"`
	Type      string            `json:"type"`
	Gen       int               `json:"gen"`
	Nonce     string            `json:"nonce,omitempty"`
	Key       resource.Key      `json:"key,omitempty"`
	Identity  resource.Identity `json:"identity,omitzero"`
	Execution string            `json:"execution"`
	Epoch     uint64            `json:"epoch"`
	Source    string            `json:"source"` // "stale holder", "emergency file"
}

// Execution is the summary of one run, kept in the store for status, history and output. It is written with the hold and again
// with its release; one that died keeps no end.
type Execution struct {
	ID       string    `json:"id"`
	Stack    StackID   `json:"stack"`
	Verb     string    `json:"verb"`
	Of       string    `json:"of,omitempty"` // of a rollback: the execution that was rolled back
	Plan     string    `json:"plan,omitempty"`
	Template string    `json:"template,omitempty"` // absolute path
	Owner    Owner     `json:"owner"`
	Began    time.Time `json:"began"`
	Ended    time.Time `json:"ended,omitzero"`
	Result   string    `json:"result,omitempty"` // for a person
	Exit     int       `json:"exit"`             // once it has ended
	Only     []string  `json:"only,omitempty"`   // IDs that it was limited to; empty: all
	// Counts says how many items had each result, by the result's word.
	Counts map[string]int `json:"counts,omitempty"`
	// Outputs are the stack's outputs as a deploy left them, sealed. Nil: the run resolved none, and those of an earlier one stand.
	Outputs []Output `json:"outputs"`
}

// Output is one stack output.
type Output struct {
	Name        string      `json:"name"`
	Value       value.Value `json:"value"`
	Description string      `json:"description,omitempty"`
}
