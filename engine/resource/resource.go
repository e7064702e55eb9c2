// Package resource is the contract between the engine and what manages one type of resource: schemas, providers,
// observations and errors.
//
// Its one rule: a provider has primitives and no memory. It never decides the order of calls, never merges what it
// was asked for into what it read, and makes exactly one changing call per Create, Call or Delete, so that the engine
// can write each down before it is sent.
package resource

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"reclaim/engine/value"
)

// Scope is where a stack lives (SAFETY S1). A stack of local types only has Partition "local" and the machine's ID as
// Account.
type Scope struct {
	Partition string `json:"partition"`          // "aws", "aws-cn", …, "local"
	Account   string `json:"account"`            // 12 digits, or the machine's ID
	Region    string `json:"region,omitempty"`   // "eu-west-1"; empty when local
	Endpoint  string `json:"endpoint,omitempty"` // host:port or a stable ID when it is not AWS's own
}

// LocalPartition is the partition of stacks that need no cloud.
const LocalPartition = "local"

// IsLocal reports whether the scope is a machine.
func (s Scope) IsLocal() bool { return s.Partition == LocalPartition }

// String is the display form: 123456789012/eu-west-1, with +endpoint where it is not AWS's own; local/<machine>.
func (s Scope) String() string {
	if s.IsLocal() {
		return "local/" + s.Account
	}
	t := s.Account + "/" + s.Region
	if s.Endpoint != "" {
		t += "+" + s.Endpoint
	}
	return t
}

// Key addresses one object in its API: param or output name to text.
type Key map[string]string

// Equal reports whether both address the same object.
func (k Key) Equal(o Key) bool { return maps.Equal(k, o) }

// Identity tells one object from another that later has the same key (SAFETY S20). Empty when the type has none.
type Identity struct {
	UniqueID  string    `json:"uniqueId,omitempty"` // RoleId, ApiId
	CreatedAt time.Time `json:"createdAt,omitzero"` // as the service says, where it says it exactly
}

// IsZero reports whether nothing is known.
func (i Identity) IsZero() bool { return i.UniqueID == "" && i.CreatedAt.IsZero() }

// Same compares what both have. known is false when they have nothing in common to compare.
func (i Identity) Same(o Identity) (same, known bool) {
	if i.UniqueID != "" && o.UniqueID != "" {
		return i.UniqueID == o.UniqueID, true
	}
	if !i.CreatedAt.IsZero() && !o.CreatedAt.IsZero() {
		return i.CreatedAt.Equal(o.CreatedAt), true
	}
	return false, false
}

// Ownership tags (SAFETY S4).
const (
	TagStore    = "reclaim:store"
	TagStack    = "reclaim:stack"
	TagResource = "reclaim:resource"
	TagNonce    = "reclaim:nonce"
)

// Tags are ownership and foreign marks found on an object, apart from its params: every reclaim:* and aws:* tag.
type Tags map[string]string

// IsMark reports whether a tag name is an ownership or system tag, which never takes part in a diff.
func IsMark(name string) bool {
	return strings.HasPrefix(name, "reclaim:") || strings.HasPrefix(name, "aws:")
}

// SplitTags divides tags as read into the config's own and the marks.
func SplitTags(all map[string]string) (own map[string]string, marks Tags) {
	own, marks = map[string]string{}, Tags{}
	for k, v := range all {
		if IsMark(k) {
			marks[k] = v
		} else {
			own[k] = v
		}
	}
	return own, marks
}

// Foreign returns the marks of other tools (aws:cloudformation:* and the like), sorted as name=value.
func (t Tags) Foreign() []string {
	var out []string
	for k, v := range t {
		if strings.HasPrefix(k, "aws:") {
			out = append(out, k+"="+v)
		}
	}
	slices.Sort(out)
	return out
}

// Tri is yes, no or unknown.
type Tri string

const (
	Yes     Tri = "yes"
	No      Tri = "no"
	Perhaps Tri = "unknown"
)

// Gap says why a field is absent from a read.
type Gap struct {
	Kind   GapKind `json:"kind"`
	Reason string  `json:"reason,omitempty"` // for a person: the service's own words or ours
}

// GapKind is the kind of a Gap.
type GapKind string

const (
	GapWriteOnly   GapKind = "write-only"
	GapNotReturned GapKind = "not returned"
	GapDenied      GapKind = "denied"      // the field's own call was denied, or the service says it cannot give it: blocked
	GapUndecodable GapKind = "undecodable" // came back in a form that cannot be read: invalid
)

// Observation is what one read returned, in config shape, unmerged. Absent means not returned.
type Observation struct {
	Key       Key
	Params    value.Map // without ownership and system tags
	Output    value.Map
	Identity  Identity
	Owner     Tags
	CreatedAt time.Time // the service's clock; zero when it does not say
	ServedAt  time.Time // the service's Date of the answer; the local clock for local types
	Gaps      map[value.Path]Gap
	Ready     bool
	NotReady  string // why it is not Ready yet, or has failed
	// Principals says whose the unique IDs are that stand in a policy document where config has ARNs; nil: not looked up.
	Principals *Principals
	// Sources names the call that each kind of evidence came from, for "ListRoleTags, 4 s ago": "tags", "object".
	Sources map[string]string
}

// Principals are the roles that live in one account under unique IDs which a policy document shows.
type Principals struct {
	Account string
	Live    map[string]string // unique ID to ARN; "": no role of the account has it
}

// Create is one create. Params are resolved: nothing unknown. Tags are the ownership tags to set with it.
type Create struct {
	Key    Key // empty for Assigned types
	Params value.Map
	Tags   Tags
	Token  string
}

// Created is the acknowledgement of a create. It may come with an error when the service made something and then
// failed.
type Created struct {
	Key      Key
	Identity Identity
	Output   value.Map
	ServedAt time.Time
	// Unsent names top-level params of the Create that this call could not carry and Sync must add.
	Unsent []string
}

// Change asks Sync for the calls that bring an object from observed to desired.
type Change struct {
	Key      Key
	Desired  value.Map
	Recorded value.Map    // what we last wrote, or were writing; members of shared collections not in here are not ours
	Observed *Observation // never nil
	// Write names the top-level params to write, as the diff decided. Sync touches no other.
	Write []string
	// Own are ownership tags to add (adoption); nil to leave them.
	Own Tags
}

// Call is one changing call, run by the engine after it was shown and journaled.
type Call struct {
	Name   string   // the operation: "PutRolePolicy"
	Detail string   // what it is about: "inline policy table"
	Params []string // top-level params that travel in it; a blocked one stops the call (SAFETY S30)
	Run    func(context.Context) error
}

// Delete asks for the deletion of exactly the object that Expect names (SAFETY S20).
type Delete struct {
	Key      Key
	Expect   Identity
	Nonce    string    // our nonce, when the object is known to carry it
	Recorded value.Map // for objects without identity: must equal what is there; and what members are ours
	Consent  bool      // data may be destroyed (SAFETY S25)
}

// Query asks a Finder for candidates. Nonce, tags and name each widen the search; Key narrows it to a parent.
type Query struct {
	Nonce    string
	Stack    string // with Resource: our stack and resource tags
	Resource string
	// Key is Schema.Place of the params: the parent's key and the natural key, as far as they are known. A type with a
	// Natural key answers the object that has it. An untaggable Assigned type answers every child of the parent: which
	// of them is equal to what was sent is for the engine to say. Without the parent there is nothing to find.
	Key  Key
	Like value.Map // the params that were, or will be, sent; of a taggable type its name is used for the list of namesakes
}

// Candidate is an object that may be the one.
type Candidate struct {
	Observation
	ByNonce, ByTags, ByName bool // how it was found
	ByKey                   bool // has the natural key
}

// Provider manages one type. Errors are *Error.
type Provider interface {
	Schema() *Schema
	// Read returns the object at key. NotFound means that the service said so, after all pages.
	Read(ctx context.Context, key Key) (*Observation, error)
	// Create makes exactly one changing call.
	Create(ctx context.Context, c Create) (Created, error)
	// Sync returns the calls, in order; none when nothing is to do. It calls nothing itself.
	Sync(c Change) ([]Call, error)
	// Unmake returns the calls that must come before Delete (detaching our own policies), in order; often none.
	Unmake(d Delete, observed *Observation) ([]Call, error)
	// Delete reads the identity again and makes one deleting call. Gone already is NotFound.
	Delete(ctx context.Context, d Delete) error
}

// Finder is the ability to look objects up by something else than their key: all pages, or an error.
type Finder interface {
	Find(ctx context.Context, q Query) ([]Candidate, error)
}

// Expander is the ability to compute params from others: what the bytes behind a local path are, how a value is
// spelled. The engine calls Expand once params are resolved, before it compares, records or sends them, so that
// desired, recorded and observed hold the same things.
//
// Expand reads local files and nothing else, changes nothing, and gives the same result for what it gave before. A
// param that waits for an unknown one becomes unknown itself. While a dependency of the resource is still to be
// changed by the same run, what Expand computes may change with it: a plan shows those params as unknown, and deploy
// expands again when the dependency is done.
type Expander interface {
	Expand(ctx context.Context, params value.Map) (value.Map, error)
}

// Cloud is a set of providers bound to one verified place.
type Cloud interface {
	// Provider returns the provider of a type; false when the type is not supported.
	Provider(typ string) (Provider, bool)
	// Verify returns the account, region and endpoint that calls go to now. It asks the service again after each
	// refresh of the credentials and is cheap otherwise (SAFETY S2).
	Verify(ctx context.Context) (Scope, error)
	// Machine is the ID of this machine, part of the keys of local types.
	Machine() string
}

// Expirer is the ability of a Cloud to say how long its credentials last.
type Expirer interface {
	// Expires returns when the credentials at hand run out; false when nothing says so. Whatever gave them may give new
	// ones then, or not: a role's are renewed while the sign-in behind it lasts, which nothing here can see.
	Expires(ctx context.Context) (at time.Time, known bool)
	// Renew names the command, or the act, that renews the credentials; "" when there are none.
	Renew() string
}
