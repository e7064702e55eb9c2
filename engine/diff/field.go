// Package diff compares what config asks for with what a read returned, field by field.
//
// Its one rule: it is pure, and it merges nothing. Desired, recorded and observed come in apart and stay apart.
package diff

import (
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// Verdict of one field (DESIGN §5).
type Verdict string

const (
	Match      Verdict = "match"
	Differs    Verdict = "differs"
	Unknown    Verdict = "unknown"    // desired waits for something that does not exist yet
	Unverified Verdict = "unverified" // not returned; Reason says why
	Changed    Verdict = "changed"    // unverified, and desired differs from recorded: a mutable update (S29)
	Removed    Verdict = "removed"    // config no longer sets it, we did (S31)
	Blocked    Verdict = "blocked"    // denied, or the service says that it cannot give it (S30)
	Invalid    Verdict = "invalid"    // the value read breaks its value type
)

// Setter says who set a field.
type Setter string

const (
	ByConfig Setter = "config"
	ByCloud  Setter = "cloud" // filled in by the service; listed as unverified and folded, unless it differs from the default
)

// Field is the comparison of one place.
type Field struct {
	Path     value.Path  `json:"path"`
	Verdict  Verdict     `json:"verdict"`
	Desired  value.Value `json:"desired"` // Absent marshals as null
	Observed value.Value `json:"observed"`
	Recorded value.Value `json:"recorded"`
	Reason   string      `json:"reason,omitempty"` // why it is unverified, blocked, invalid; what it waits for
	By       Setter      `json:"by"`
	// Immutable: the top-level param cannot be changed in place. With Differs it is evidence for replacement (S28); with
	// Unknown, replacement is possible.
	Immutable bool `json:"immutable,omitempty"`
	// Folded: not worth a line unless asked for (filled in by the cloud, at its default or without one).
	Folded bool `json:"folded,omitempty"`
}

// Input of a comparison. Params are top-level maps in config shape.
type Input struct {
	Schema   *resource.Schema
	Desired  value.Map // resolved; sensitive values still readable, or sealed
	Recorded value.Map // sealed; nil when nothing was acknowledged
	Sending  value.Map // sealed; what an unfinished write was sending
	Observed *resource.Observation
	Sealer   value.Sealer // compares sensitive values; without a key they are unverified
}

// Result of a comparison.
type Result struct {
	Fields  []Field // config's own first, in schema order; then what the cloud filled in
	Invalid bool    // some field is Invalid: the whole resource is left as it is
}
