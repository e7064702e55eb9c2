// Package recovery collects the evidence about an unfinished create and judges it by the table of SAFETY.md.
//
// Its one rule: it only looks. Gather reads the store and the cloud, Judge is pure; engine/deploy carries decisions out.
package recovery

import (
	"time"

	"reclaim/engine/diff"
	"reclaim/engine/record"
	"reclaim/engine/resource"
)

// Verdict of the table.
type Verdict string

const (
	VerdictUnknown      Verdict = "unknown"               // row 0
	VerdictAdopting     Verdict = "adopting"              // row 1
	VerdictChanged      Verdict = "changed"               // row 1b
	VerdictOurs         Verdict = "ours"                  // row 2
	VerdictAmbiguous    Verdict = "ambiguous"             // rows 3, 6
	VerdictOtherAttempt Verdict = "ours, other attempt"   // row 4
	VerdictPresumed     Verdict = "presumed ours"         // row 5
	VerdictUnproven     Verdict = "unproven"              // row 7
	VerdictNotCreated   Verdict = "not created"           // rows 8, 12
	VerdictUnreadable   Verdict = "exists but unreadable" // row 9
	VerdictNotVisible   Verdict = "not visible yet"       // row 10
	VerdictGone         Verdict = "gone since"            // row 11
	VerdictReplayable   Verdict = "replayable"            // row 13
	VerdictUncertain    Verdict = "uncertain"             // row 14
	VerdictForeign      Verdict = "foreign"               // strikes a, b, c
	VerdictDeletion     Verdict = "deletion pending"      // strike d
)

// Side of a line of evidence.
type Side string

const (
	For     Side = "for"
	Against Side = "against"
	Neutral Side = "neutral"
	Missing Side = "missing"
)

// Line is one piece of evidence, for or against the object being ours.
type Line struct {
	Side   Side      `json:"side"`
	Text   string    `json:"text"`
	Source string    `json:"source"`        // "ListRoleTags", "store", "journal"
	At     time.Time `json:"at,omitzero"`   // the service's clock
	Seq    uint64    `json:"seq,omitempty"` // when the source is the journal
	// Candidate is the number of the candidate it is about, where there are several; 0: the record.
	Candidate int `json:"candidate,omitempty"`
}

// Moment is one line of the timeline.
type Moment struct {
	Seq  uint64    `json:"seq,omitempty"`
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Option is one thing that can be done.
type Option struct {
	Choice   record.Choice `json:"choice"`
	Physical string        `json:"physical,omitempty"` // of the candidate it is about
	Call     string        `json:"call"`               // "none", "DeleteRole"
	Loss     string        `json:"loss"`               // what is lost; "nothing"
	Follows  string        `json:"follows"`            // what follows
	Typed    string        `json:"typed,omitempty"`    // text that must be typed to confirm; "" for none
}

// Candidate is one object that may be the one, as judged.
type Candidate struct {
	N           int                   `json:"n"` // from 1
	Physical    string                `json:"physical"`
	Identity    resource.Identity     `json:"identity,omitzero"`
	CreatedAt   time.Time             `json:"createdAt,omitzero"`
	Owner       resource.Tags         `json:"owner,omitempty"`
	Strike      string                `json:"strike,omitempty"` // a, b, c, d
	StrikeWhy   string                `json:"strikeWhy,omitempty"`
	How         []string              `json:"how"`              // "nonce", "tags", "equal", "key"
	Fields      []diff.Field          `json:"fields,omitempty"` // intended against this one
	Observation *resource.Observation `json:"-"`
}

// Finding is what judge says of one record.
type Finding struct {
	Stack    record.StackID `json:"stack"`
	ID       string         `json:"id"`
	Type     string         `json:"type"`
	Gen      int            `json:"gen"`
	Rev      uint64         `json:"rev"`
	Physical string         `json:"physical,omitempty"` // of the record, or of the only candidate
	Class    resource.Class `json:"class"`
	Status   record.Status  `json:"status"`

	Row     string  `json:"row"` // "2", "1b", "a"
	Verdict Verdict `json:"verdict"`
	Summary string  `json:"summary"` // one or two sentences for an operator
	// Auto: SAFETY S19 lets deploy and `recover --yes` carry Default out without asking.
	Auto bool `json:"auto"`
	// Default is the table's default; "" when it is blocked or must be chosen.
	Default    record.Choice `json:"default,omitempty"`
	Offered    []Option      `json:"offered"` // default first
	Candidates []Candidate   `json:"candidates,omitempty"`
	Namesakes  []Candidate   `json:"namesakes,omitempty"` // listed, not judged
	Lines      []Line        `json:"evidence"`
	Timeline   []Moment      `json:"timeline"`
	Until      time.Time     `json:"until,omitzero"` // of a wait, local clock
	Facts      string        `json:"facts"`          // SHA-256 of the facts used (SAFETY S17)
	Looks      []record.Look `json:"looks"`
}

// Option returns the offered option for a choice (and physical ID, where several candidates are offered).
func (f *Finding) Option(c record.Choice, physical string) (Option, bool) {
	for _, o := range f.Offered {
		if o.Choice == c && (physical == "" || o.Physical == physical) {
			return o, true
		}
	}
	return Option{}, false
}
