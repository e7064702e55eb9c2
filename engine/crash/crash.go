// Package crash names the points at which a run may be killed. They are compiled in only with the build tag "crash";
// in an ordinary build every function here is empty.
//
// Its one rule: kinds stand in this file, instances are recorded from a run. An instance is written point@ID#n: the
// n-th time that point was passed for that resource ("-" for the run as a whole).
//
// With the tag, RECLAIM_CRASH_AT names the instance at which the process kills itself with SIGKILL,
// RECLAIM_CRASH_RECORD a file to which every instance that is passed is appended, and RECLAIM_TIME_SCALE a factor
// (0.01) for windows, deadlines and delays.
package crash

import "context"

// Point is a kind of crash point.
type Point string

// Every kind there is. Points lists them for tests.
const (
	HoldTaken     Point = "hold-taken"     // the hold is committed, nothing else
	BeforeCommit  Point = "before-commit"  // a transaction is ready, not committed
	AfterCommit   Point = "after-commit"   // a transaction is durable
	BeforeSend    Point = "before-send"    // a changing call is about to leave
	AfterExecuted Point = "after-executed" // the service executed it; the answer is not yet recorded
	FileStep      Point = "file-step"      // between the steps of a local write
	BeforeRelease Point = "before-release" // all is done, the hold not yet released
)

// Points returns every kind.
func Points() []Point {
	return []Point{HoldTaken, BeforeCommit, AfterCommit, BeforeSend, AfterExecuted, FileStep, BeforeRelease}
}

type key struct{}

// With says which resource the work under ctx belongs to.
func With(ctx context.Context, id string) context.Context { return context.WithValue(ctx, key{}, id) }

// ID returns what With said, "-" for the run as a whole.
func ID(ctx context.Context) string {
	if id, ok := ctx.Value(key{}).(string); ok && id != "" {
		return id
	}
	return "-"
}
