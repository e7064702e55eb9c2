// Package plan says what would be done and why: items made from a template, records, observations and findings.
//
// Its one rule: a plan describes. It is immutable, collects no approvals, and may be more careful than the deploy,
// never less.
package plan

import (
	"time"

	"reclaim/engine/diff"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// Action of an item (DESIGN §6).
type Action string

const (
	Create  Action = "create"
	Update  Action = "update"
	Replace Action = "replace"
	Delete  Action = "delete"
	Noop    Action = "noop"
	Reclaim Action = "reclaim" // an uncertain create of ours, or an object ours by tags, is kept as the record's
	Adopt   Action = "adopt"   // a foreign object that the operator opted in to take over
	Wait    Action = "wait"    // an uncertain create that is not visible yet
	Retain  Action = "retain"  // the record goes, the object stays
	Blocked Action = "blocked"
)

// Actions returns all of them, in the order screens group them: blocked first, noop last.
func Actions() []Action {
	return []Action{Blocked, Reclaim, Adopt, Wait, Replace, Delete, Update, Create, Retain, Noop}
}

// Reason of a blocked item.
type Reason string

const (
	InvalidRead       Reason = "invalid read"
	Foreign           Reason = "foreign"
	Denied            Reason = "access denied"
	Uncertain         Reason = "uncertain"
	DependencyBlocked Reason = "dependency blocked"
	DependencyAbsent  Reason = "dependency absent" // S38
	ClaimedTwice      Reason = "claimed twice"
	NotUndone         Reason = "not rolled back" // S23, S24
	StillUsed         Reason = "still used"      // S24
	Unsupported       Reason = "unsupported"
	ReadFailed        Reason = "read failed"
)

// Order of a replacement.
type Order string

const (
	CreateFirst Order = "create-first"
	DeleteFirst Order = "delete-first" // the name must stay; there is a gap
)

// Grant is one kind of approval. An item runs only when every grant it needs was given.
type Grant string

const (
	GrantChange      Grant = "change"       // creates, updates, S19's set: what --yes gives
	GrantReplace     Grant = "replace"      // --allow-replace ID
	GrantDeleteFirst Grant = "delete-first" // --allow-replace ID=delete-first
	GrantDelete      Grant = "delete"       // --allow-delete ID
	GrantDataLoss    Grant = "data-loss"    // --allow-data-loss ID; never implied by anything
	GrantAdopt       Grant = "adopt"        // --adopt ID
	GrantReclaim     Grant = "reclaim"      // approving a reclaim that is not in S19's set
	GrantPresumed    Grant = "presumed"     // changing what is only presumed ours beyond an update (S19)
)

// Item is one resource generation of the plan.
type Item struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Gen      int    `json:"gen"` // the generation acted on; of a replacement, the new one
	Action   Action `json:"action"`
	Reason   Reason `json:"reason,omitempty"` // when blocked
	Detail   string `json:"detail"`           // why, in one line, and what to do next
	Physical string `json:"physical,omitempty"`
	// Removal: no template names it any more, or a later generation took its place.
	Removal bool `json:"removal,omitempty"`

	Name    string        `json:"name,omitempty"` // generated and proposed
	Key     resource.Key  `json:"key,omitempty"`
	Rev     uint64        `json:"rev,omitempty"` // of the record it was made from
	Status  record.Status `json:"status,omitempty"`
	Fields  []diff.Field  `json:"fields,omitempty"`
	Desired value.Map     `json:"desired,omitempty"` // of a create: sealed; unknown parts explicit
	Calls   []string      `json:"calls,omitempty"`   // changing calls, in order, where they can be told

	Order        Order        `json:"order,omitempty"`        // of a replacement
	Cause        []value.Path `json:"cause,omitempty"`        // fields that force it
	MaybeReplace []value.Path `json:"maybeReplace,omitempty"` // unknown immutable fields: replacement is possible
	OldFate      string       `json:"oldFate,omitempty"`      // what becomes of the old object
	Loss         string       `json:"loss,omitempty"`         // what is destroyed with it

	DependsOn []string `json:"dependsOn,omitempty"` // IDs in the plan
	Needs     []Grant  `json:"needs,omitempty"`

	Finding *recovery.Finding `json:"finding,omitempty"`
	Facts   string            `json:"facts,omitempty"` // hash of the facts used
	Seen    map[string]string `json:"seen,omitempty"`  // what the facts were, in words, beside the fields; see Moved
	ReadAt  time.Time         `json:"readAt,omitzero"` // service's clock
	// PolicyDelete and PolicyReplace are DeletionPolicy and UpdateReplacePolicy as config or record says.
	PolicyDelete  string `json:"deletionPolicy,omitempty"`
	PolicyReplace string `json:"updateReplacePolicy,omitempty"`
}

// CanRun reports whether approving the item leads to anything.
func (i *Item) CanRun() bool { return i.Action != Blocked && i.Action != Noop }

// Verb of a plan.
type Verb string

const (
	VerbDeploy  Verb = "deploy"
	VerbDestroy Verb = "destroy"
	// VerbRollback removes what one execution made (S24).
	VerbRollback Verb = "rollback"
)

// Plan is immutable. Fingerprint is its name.
type Plan struct {
	Schema      int            `json:"schema"` // of this format
	Fingerprint string         `json:"fingerprint"`
	Stack       record.StackID `json:"stack"`
	StoreID     string         `json:"storeId"`
	Verb        Verb           `json:"verb"`
	Of          string         `json:"of,omitempty"` // of a rollback: the execution
	MadeAt      time.Time      `json:"madeAt"`
	Template    TemplateRef    `json:"template,omitzero"`
	Items       []Item         `json:"items"` // in dependency order: what others wait for comes first (destroy: last)
	Outputs     []Output       `json:"outputs,omitempty"`
	// Notes are things to know that belong to no item: a hold, unusable records, another store's evidence.
	Notes []string `json:"notes,omitempty"`
}

// FormatVersion is Plan.Schema of this program.
const FormatVersion = 2

// TemplateRef names the template a plan was made from.
type TemplateRef struct {
	Path       string    `json:"path"` // absolute
	SHA256     string    `json:"sha256"`
	Parameters value.Map `json:"parameters,omitempty"` // sealed
}

// Output is one stack output.
type Output = record.Output

// Item returns the item of an ID and generation (0: the current one, i.e. the highest).
func (p *Plan) Item(id string, gen int) *Item {
	var found *Item
	for i := range p.Items {
		it := &p.Items[i]
		if it.ID == id && (it.Gen == gen || gen == 0 && (found == nil || it.Gen > found.Gen)) {
			found = it
		}
	}
	return found
}

// Counts returns how many items have each action.
func (p *Plan) Counts() map[Action]int {
	c := map[Action]int{}
	for i := range p.Items {
		c[p.Items[i].Action]++
	}
	return c
}
