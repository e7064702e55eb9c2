package app

import (
	"context"
	"time"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/ui/tui/screen"
)

// StackSummary is one line of the stacks screen, from the store alone.
type StackSummary = screen.StackSummary

// Backend is what the screens ask for. Methods that look at the cloud say so; the others read the store alone and need
// no network and no credentials. All that read or write are called from commands, never from Update.
type Backend interface {
	StorePath() string
	// Now is the local clock. It is the only method that Update calls itself.
	Now() time.Time
	Stacks(ctx context.Context) ([]StackSummary, error)
	// LastPlan returns the newest plan kept for the stack, nil when there is none.
	LastPlan(ctx context.Context, s record.StackID) (*plan.Plan, error)
	// Findings judges the stack's uncertain records. look false: from the store alone (a record then reads as not looked
	// at); true: looks at the cloud.
	Findings(ctx context.Context, s record.StackID, look bool) ([]recovery.Finding, error)
	// Enter looks an ID up that an operator typed for an uncertain record, and judges the record with that object as the
	// candidate (SAFETY S15). It changes nothing.
	Enter(ctx context.Context, s record.StackID, id string, gen int, physical string) (recovery.Finding, error)
	// Replan looks at the cloud and makes a new plan from the stack's template (deploy), or from its records (destroy).
	Replan(ctx context.Context, s record.StackID, verb plan.Verb) (*plan.Plan, error)
	// Deploy runs a plan with the approvals given. The end of ctx drains the run: no new change is started, and it returns
	// once the calls under way have come back and are recorded.
	Deploy(ctx context.Context, p *plan.Plan, approvals []deploy.Approval, sink event.Sink) (deploy.Outcome, error)
	// Recover carries decisions out; the hold of a dead execution is taken as the request says. The end of ctx drains.
	Recover(ctx context.Context, r deploy.RecoverRequest, sink event.Sink) (deploy.Outcome, error)
	// Decide keeps a decision in the store before it is carried out.
	Decide(ctx context.Context, d record.Decision) error
	// Who is the operator's name for decisions.
	Who() string
}
