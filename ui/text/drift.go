package text

import (
	"fmt"
	"strings"

	"reclaim/engine/diff"
	"reclaim/engine/plan"
	"reclaim/ui/text/clean"
)

// Drift shows what differs from what is recorded; what is as recorded is only counted, unless all is shown.
func (pg Page) Drift(d *plan.Drift, next []string) string {
	w := pg.open()
	w.line(w.paint(bold, "drift  "+clean.Clean(d.Stack.String())))
	for _, n := range d.Notes {
		w.para(0, warn, "note: "+n)
	}
	counts := map[plan.DriftState]int{}
	for _, st := range plan.DriftStates() {
		for i := range d.Items {
			if it := &d.Items[i]; it.State == st {
				counts[st]++
				w.drifted(it)
			}
		}
	}
	w.line()
	w.line(w.driftCounts(counts, len(d.Items)))
	w.next("next:", next)
	return w.String()
}

func (w *page) driftCounts(n map[plan.DriftState]int, total int) string {
	if total == 0 {
		return "Nothing is recorded."
	}
	if n[plan.DriftNone] == total {
		return fmt.Sprintf("No drift: %s as recorded.", Plural(total, "object is", "objects are"))
	}
	var parts []string
	for _, st := range plan.DriftStates() {
		if n[st] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[st], st))
		}
	}
	return strings.Join(parts, ", ") + "."
}

func driftTone(s plan.DriftState) tone {
	switch {
	case s == plan.DriftNone:
		return faint
	case s == plan.DriftWaiting:
		return warn
	default:
		return bad
	}
}

func (w *page) drifted(it *plan.DriftItem) {
	if it.State == plan.DriftNone && !w.All {
		return
	}
	w.line()
	w.line(w.paint(driftTone(it.State), fit(string(it.State), 16)), clean.Clean(it.ID), "  ", clean.Clean(it.Type), "  ", clean.Clean(it.Physical))
	if it.Detail != "" {
		w.para(3, plain, it.Detail)
	}
	unverified := 0
	for i := range it.Fields {
		f := it.Fields[i]
		if f.Verdict == diff.Unverified && !w.All {
			unverified++
			continue
		}
		w.driftField(&f)
	}
	var folded []string
	if it.Matches > 0 {
		folded = append(folded, fmt.Sprintf("%d match", it.Matches))
	}
	if unverified > 0 {
		folded = append(folded, fmt.Sprintf("%d unverified", unverified))
	}
	if len(folded) > 0 {
		w.para(5, faint, strings.Join(folded, ", ")+", folded")
	}
}

// driftField is one field, both sides on lines of their own, so that nothing is cut away.
func (w *page) driftField(f *diff.Field) {
	verdict := string(f.Verdict)
	if f.Verdict == diff.Invalid || f.Verdict == diff.Blocked {
		verdict = strings.ToUpper(verdict)
	}
	w.line("     ", fit(clean.Clean(string(f.Path)), 24), verdict)
	w.side("recorded", f.Recorded)
	w.side("found", f.Observed)
	if f.Reason != "" {
		w.labelled(7, 10, "why", f.Reason, plain)
	}
}
