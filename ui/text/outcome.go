package text

import (
	"fmt"
	"strings"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/ui/text/clean"
)

// resultOrder is the order results are listed in: what wants attention first.
var resultOrder = []event.Result{event.Unsure, event.Stale, event.Blocked, event.Failed, event.Skipped, event.Kept,
	event.Done, event.Unchanged}

// Outcome shows how a run ended. An emergency file comes last, so that nothing scrolls it away.
func (pg Page) Outcome(o *deploy.Outcome) string {
	w := pg.open()
	w.outcome(o)
	if o.Rollback != nil {
		w.line()
		w.line(w.paint(bold, "rollback of "+clean.Clean(o.Execution)))
		w.outcome(o.Rollback)
	}
	w.next("next:", o.Next)
	if o.Emergency != "" {
		w.line(w.paint(bad, "EMERGENCY"), "  the store could not be written; the evidence is in this file, keep it:")
		w.line(clean.Clean(o.Emergency))
	}
	return w.String()
}

func (w *page) outcome(o *deploy.Outcome) {
	n := map[event.Result]int{}
	for i := range o.Items {
		n[o.Items[i].Result]++
	}
	for _, r := range resultOrder {
		w.results(o.Items, r, n[r])
	}
	w.outputs(o.Outputs)
	if len(o.Outputs) > 0 {
		w.line()
	}
	w.para(0, exitTone(o.Exit), o.Summary)
	if o.Execution != "" {
		w.line("execution ", clean.Clean(o.Execution))
	}
}

func exitTone(exit int) tone {
	if exit == 0 {
		return good
	}
	return bad
}

func resultCounts(n map[event.Result]int) string {
	var parts []string
	for _, r := range resultOrder {
		if n[r] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[r], r))
		}
	}
	return strings.Join(parts, ", ")
}

// resultFold is how many items of one result are listed before the rest is only counted; --json has all.
const resultFold = 50

// results lists the items of one result, up to a bound; what is unchanged is only counted.
func (w *page) results(items []deploy.ItemResult, r event.Result, total int) {
	if !w.All && (r == event.Unchanged || r == event.Done && w.Told && total <= liveFold) {
		return
	}
	shown := 0
	for i := range items {
		it := &items[i]
		if it.Result != r {
			continue
		}
		if shown == resultFold && !w.All {
			w.linef("  %s and %d more", fit(string(r), 10), total-shown)
			return
		}
		shown++
		w.line("  ", w.paint(resultTone(r), fit(string(r), 10)), fit(clean.Clean(it.Action), 8), clean.Clean(it.ID), "  ",
			clean.Clean(it.Type), "  ", clean.Clean(it.Physical))
		if it.Reason != "" && r != event.Done {
			w.para(12, plain, it.Reason)
		}
	}
}

func resultTone(r event.Result) tone {
	switch r {
	case event.Done, event.Kept:
		return good
	case event.Unchanged:
		return faint
	case event.Skipped:
		return warn
	default:
		return bad
	}
}
