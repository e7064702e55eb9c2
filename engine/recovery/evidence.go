package recovery

import (
	"context"
	"time"

	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// Evidence is all that Judge may use. Gatherer collects it; tests write it by hand.
type Evidence struct {
	Schema    *resource.Schema // nil: the type is not supported by this program
	Record    record.Record
	StoreID   string
	Ancestors []string // stores this one was imported or restored from
	Now       time.Time
	Sealer    value.Sealer

	Looked  bool          // false: opened from the store alone
	LookErr error         // the look gave no answer; never NotFound, which is one
	Wrong   string        // why the look was made in another place than the record's (SAFETY S2); "" when it was not
	Looks   []record.Look // what was asked, and what it said
	Entered string        // physical ID that an operator typed; its object is a candidate however it was found

	// Candidates are all objects found, unjudged. Owner nil on a taggable type: whose it is could not be read.
	Candidates []resource.Candidate
	Claims     map[string]record.Record // by physical ID: the live record of another resource that claims it
	Retired    []record.Record          // earlier generations of this resource
	Rivals     []record.Record          // other unfinished records of the type, which a candidate may fit as well (S13)
	Tombstones []record.Tombstone       // of this resource
	Stray      []record.Evidence        // acknowledgements that came in outside a hold (S34, S36)
	Request    RequestState             // of a Token type's last request, as the service lists it
	Steps      []record.Step            // journal of this resource, for the timeline; may be empty
}

// RequestState is what a service says of the request it got under a token.
type RequestState string

const (
	RequestUnknown RequestState = ""            // not listed, or the service keeps no such list
	RequestRunning RequestState = "in progress" // still being carried out
	RequestFailed  RequestState = "failed"      // ended, made nothing: the token is spent (SAFETY S11)
)

// Requester is the ability of providers of Token types to say what became of a request.
type Requester interface {
	Request(ctx context.Context, token string) (RequestState, error)
}
