package text

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"reclaim/engine/record"
	"reclaim/ui/text/clean"
)

// Stack is what status says of one stack, from the store alone.
type Stack struct {
	ID        record.StackID
	Hold      *Hold
	Counts    map[record.Status]int // live records
	Uncertain []string              // logical IDs
	Tombs     int
	Bad       []record.BadRecord
	Last      *record.Execution
	Template  string
	Progress  *Progress // of the execution that holds it; nil when nothing is known
	Next      []string  // commands
}

// Status shows each stack: what holds it, what is uncertain, and what to run next.
func (pg Page) Status(stacks []Stack) string {
	w := pg.open()
	if len(stacks) == 0 {
		w.line("No stacks yet. Next: reclaim plan FILE")
	}
	for i := range stacks {
		if i > 0 {
			w.line()
		}
		w.stack(&stacks[i])
	}
	return w.String()
}

func (w *page) stack(s *Stack) {
	w.line(w.paint(bold, clean.Clean(s.ID.String())))
	if s.Hold != nil {
		w.labelled(2, 11, "hold", s.Hold.HoldLine(), warn)
	} else {
		w.line("  hold       none")
	}
	if s.Progress != nil {
		w.progress(s.Progress)
	}
	w.labelled(2, 11, "last", lastRun(w.Page, s.Last), plain)
	w.labelled(2, 11, "records", statusCounts(s.Counts), plain)
	if len(s.Uncertain) > 0 {
		w.labelled(2, 11, "uncertain", strings.Join(s.Uncertain, ", "), bad)
	}
	if s.Tombs > 0 {
		w.labelled(2, 11, "given up", Plural(s.Tombs, "tombstone", "tombstones"), plain)
	}
	for _, b := range s.Bad {
		w.labelled(2, 11, "unusable", b.Key+": "+b.Reason, bad)
	}
	for i, c := range s.Next {
		label := "  next       "
		if i > 0 {
			label = "             "
		}
		w.line(label, clean.Clean(c))
	}
}

func lastRun(pg Page, e *record.Execution) string {
	switch {
	case e == nil:
		return "never run"
	case e.Ended.IsZero():
		return fmt.Sprintf("%s %s began %s, no end recorded", e.Verb, e.ID, Age(pg.Now, e.Began))
	default:
		return fmt.Sprintf("%s %s ended %s: %s", e.Verb, e.ID, Age(pg.Now, e.Ended), e.Result)
	}
}

func statusCounts(n map[record.Status]int) string {
	var parts []string
	for _, s := range slices.Sorted(maps.Keys(n)) {
		parts = append(parts, fmt.Sprintf("%d %s", n[s], s))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// Records lists records, one line each, with what is wrong or unfinished about them.
func (pg Page) Records(list []record.Record, unusable []record.BadRecord) string {
	w := pg.open()
	rows := [][]string{{"ID", "GEN", "STATUS", "TYPE", "PHYSICAL"}}
	for i := range list {
		r := &list[i]
		status := string(r.Status)
		if r.Origin == record.Presumed {
			status += ", presumed"
		}
		if r.RolledBack {
			status += ", rolled back"
		}
		rows = append(rows, []string{clean.Clean(r.ID), fmt.Sprint(r.Gen), clean.Clean(status), clean.Clean(r.Type),
			orDash(clean.Clean(r.Physical))})
	}
	if len(list) == 0 {
		w.line("No records.")
	} else {
		w.table(0, rows)
	}
	for _, b := range unusable {
		w.para(0, bad, "unusable record "+b.Key+": "+b.Reason)
	}
	return w.String()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Record shows all of one generation.
func (pg Page) Record(r *record.Record) string {
	w := pg.open()
	w.line(w.paint(bold, fmt.Sprintf("%s  generation %d", clean.Clean(r.ID), r.Gen)))
	row := func(label, text string) {
		if text != "" {
			w.labelled(2, 16, label, text, plain)
		}
	}
	row("stack", r.Stack.String())
	row("type", r.Type)
	row("status", string(r.Status))
	row("origin", string(r.Origin))
	row("physical", r.Physical)
	row("unique ID", r.Identity.UniqueID)
	row("nonce", r.Nonce)
	row("revision", fmt.Sprintf("%d (seq %d)", r.Rev, r.Seq))
	if !r.UpdatedAt.IsZero() {
		row("updated", Stamp(r.UpdatedAt))
	}
	row("made by", r.CreatedBy)
	row("depends on", refs(r.DependsOn))
	row("on delete", r.DeletionPolicy)
	row("on replace", r.UpdateReplacePolicy)
	row("note", r.Note)
	w.values("params", r.Params.Keys(), func(k string) string { return shown(r.Params[k]) })
	w.values("being written", r.Pending.Keys(), func(k string) string { return shown(r.Pending[k]) })
	w.values("output", r.Output.Keys(), func(k string) string { return shown(r.Output[k]) })
	w.intent(r)
	return w.String()
}

func refs(list []record.Ref) string {
	var s []string
	for _, r := range list {
		s = append(s, fmt.Sprintf("%s (generation %d)", r.ID, r.Gen))
	}
	return strings.Join(s, ", ")
}

func (w *page) values(title string, keys []string, get func(string) string) {
	if len(keys) == 0 {
		return
	}
	w.line("  ", title)
	for _, k := range keys {
		w.labelled(4, 26, k, get(k), plain)
	}
}

func (w *page) intent(r *record.Record) {
	if r.InFlight != nil {
		w.labelled(2, 16, "in flight", fmt.Sprintf("%s, sent %s by %s, no answer recorded", r.InFlight.Call,
			Stamp(r.InFlight.SentAt), r.InFlight.Execution), warn)
	}
	if r.Intent == nil {
		return
	}
	w.labelled(2, 16, "intent", fmt.Sprintf("nonce %s, written %s by %s", r.Intent.Nonce, Stamp(r.Intent.At),
		r.Intent.Execution), plain)
	for _, a := range r.Intent.Attempts {
		text := fmt.Sprintf("%d, sent %s by %s: %s", a.N, Stamp(a.SentAt), a.Execution, a.Outcome)
		if a.Code != "" {
			text += " (" + a.Code + ")"
		}
		w.labelled(2, 16, "attempt", text, plain)
	}
	if len(r.Former) > 0 {
		w.labelled(2, 16, "former intents", fmt.Sprint(len(r.Former)), plain)
	}
}
