//go:build crash

package crashtest

import (
	"encoding/json"

	"reclaim/engine/record"
	"reclaim/providers/awssim"
)

// lastDeploy is the last execution that was a deploy.
func (w *world) lastDeploy() string {
	w.t.Helper()
	var list []record.Execution
	a := w.reclaim(nil, "history", stack)
	must(w.t, json.Unmarshal(a.Result, &list))
	for _, e := range list {
		if e.Verb == "deploy" {
			return e.ID
		}
	}
	w.t.Fatalf("no deploy in the history:\n%s", a.text)
	return ""
}

// rollbackArgs are the arguments of a rollback, with every approval that it needs.
func (w *world) rollbackArgs(execution string) []string {
	w.t.Helper()
	args := append([]string{"rollback", execution}, append(w.consent(), "--allow-delete", "*")...)
	for _, r := range w.records() {
		if (r.ID == "OrdersLogs" || r.ID == "OrdersTable") && r.CreatedBy == execution {
			args = append(args, "--allow-data-loss", r.ID)
		}
	}
	return args
}

// stick deploys a template that replaces the role while the function may not move: the old role and its attachment stay,
// for the function refers to them.
func (w *simWorld) stick(name string) {
	w.t.Helper()
	w.sim.AddFault(awssim.Fault{Operation: "UpdateFunctionConfiguration", Kind: awssim.Denied})
	if a := w.reclaim(nil, w.verb(name)...); a.Exit != 1 {
		w.t.Fatalf("deploy of %q ended with %d, want 1:\n%s", name, a.Exit, a.text)
	}
	if got := w.cloud.ours(w.t); len(got) != len(w.cloud.whole())+2 {
		w.t.Fatalf("the cloud holds %v, want two roles and two attachments", got)
	}
}

// finishRollback rolls back again, to the end, and holds the world against what was there before the deploy.
func (w *world) finishRollback(sc scenario) {
	w.t.Helper()
	a := w.reclaim(nil, w.verb(sc.verb)...)
	if a.Exit == 4 && a.waited() {
		a = w.reclaim(nil, w.verb(sc.verb)...)
	}
	if a.Exit != 0 {
		w.t.Fatalf("going on ended with %d:\n%s", a.Exit, a.text)
	}
	if sc.stuck == "" {
		if left := w.records(); len(left) != 0 {
			w.t.Fatalf("records are left: %+v", left)
		}
		w.wantDestroyed()
		return
	}
	w.finish(sc.before[len(sc.before)-1]) // the function's update, which was refused, is still on its record
}
