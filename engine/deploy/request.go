// Package deploy carries plans and decisions out. It is the only package that changes anything.
//
// Its one rule: every changing call is committed to the journal before it is sent, under a fence, and what came back
// is committed before anything else is done.
package deploy

import (
	"context"
	"time"

	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/template"
	"reclaim/engine/value"
)

// Clock is the engine's time.
type Clock interface {
	Now() time.Time
	// Sleep returns early with the context's error.
	Sleep(ctx context.Context, d time.Duration) error
}

// Env is what a run needs from outside.
type Env struct {
	Store  record.Store
	Cloud  resource.Cloud
	Clock  Clock
	Sink   event.Sink
	Sealer value.Sealer
	Owner  record.Owner
	// Drain, once closed, lets no new change begin; what has begun goes on. Cancelling the context stops now. May be nil.
	Drain <-chan struct{}
	// Alive reports whether the process that a hold names is still running; Perhaps for another machine.
	Alive func(record.Owner) resource.Tri
}

// Approval gives one item of one plan its grants. IDs and generation must exist in the plan.
type Approval struct {
	ID     string
	Gen    int
	Grants []plan.Grant
}

// Request runs a plan.
type Request struct {
	Plan      *plan.Plan
	Graph     *template.Graph   // nil for destroy
	Approvals []Approval        // items without all the grants they need are not run
	Only      []string          // limits the run to these IDs and what they need; empty: all
	Parallel  int               // calls at once, looks included; 0: 16
	Strict    bool              // S19's set is not carried out by itself
	Adopt     map[string]string // ID → physical ID or "", as the plan was made with
	OnFailure *OnFailure        // nil: a run in which a resource fails stops, and what it made stays
}

// OnFailure rolls back what the run made when a resource of it fails, within what was approved for the run.
type OnFailure struct {
	AllowDataLoss []string // IDs whose data may be destroyed with what the run made (S25)
}

// RecoverRequest resolves the uncertain records of a stack.
type RecoverRequest struct {
	Stack    record.StackID
	TakeHold string            // execution whose hold is taken; "" when there is none
	Auto     bool              // carry out S19's set
	Decide   []record.Decision // bound to revision and facts
	// AllowDataLoss are the IDs for which a decision to delete may destroy data (S25).
	AllowDataLoss []string
	Parallel      int
}

// ItemResult is what became of one item.
type ItemResult struct {
	ID       string       `json:"id"`
	Gen      int          `json:"gen"`
	Type     string       `json:"type"`
	Action   string       `json:"action"`
	Result   event.Result `json:"result"`
	Physical string       `json:"physical,omitempty"`
	Reason   string       `json:"reason,omitempty"`
}

// Outcome of a run. Exit is the one value that both the printed verdict and the exit code come from.
type Outcome struct {
	Execution string        `json:"execution"`
	Items     []ItemResult  `json:"items"`
	Outputs   []plan.Output `json:"outputs,omitempty"`
	Exit      int           `json:"exit"`  // the first that holds of 6, 3, 5, 4, 1, 130, 2, 0
	Exits     []int         `json:"exits"` // all that hold
	Summary   string        `json:"summary"`
	Next      []string      `json:"next,omitempty"`      // commands to run next
	Emergency string        `json:"emergency,omitempty"` // file of S36
	Rollback  *Outcome      `json:"rollback,omitempty"`  // of what the run made, after a failure
}
