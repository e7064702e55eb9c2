package text

import (
	"fmt"
	"strings"
	"time"

	"reclaim/engine/record"
	"reclaim/ui/text/clean"
)

// historyFold is how many executions, or steps of one, are listed before the rest is only counted.
const historyFold = 200

// History lists a stack's executions, in the order given. hold is the stack's, nil when nobody has it.
func (pg Page) History(stack record.StackID, list []record.Execution, hold *Hold) string {
	w := pg.open()
	w.line(w.paint(bold, clean.Clean(stack.String())))
	if len(list) == 0 {
		w.line("No executions yet.")
	}
	for i := range list {
		if i == historyFold && !w.All {
			w.linef("and %d older ones, folded; --all lists them", len(list)-i)
			break
		}
		w.ran(&list[i], hold)
	}
	return w.String()
}

// ran is one execution: what, who and when on one line, and how it ended below.
func (w *page) ran(e *record.Execution, hold *Hold) {
	w.line(fit(clean.Clean(e.ID), 12), fit(clean.Clean(verbOf(e)), 10), Stamp(e.Began), "  ", clean.Clean(whoOf(e.Owner)))
	text, t := endOf(e, hold)
	w.labelled(12, 0, "", text, t)
}

func verbOf(e *record.Execution) string {
	if e.Of != "" {
		return e.Verb + " of " + e.Of
	}
	return e.Verb
}

func whoOf(o record.Owner) string { return o.User + " on " + o.Host }

// endOf says how an execution ended, as far as that is known.
func endOf(e *record.Execution, hold *Hold) (string, tone) {
	switch {
	case !e.Ended.IsZero() && e.Exit == 0:
		return fmt.Sprintf("done after %s: %s", took(e), e.Result), good
	case !e.Ended.IsZero():
		return fmt.Sprintf("exit %d after %s: %s", e.Exit, took(e), e.Result), bad
	case hold != nil && hold.Execution == e.ID:
		return "holds the stack; its process is " + hold.Liveness(), warn
	case e.Result != "":
		return "it did not end by itself: " + e.Result, bad
	default:
		return "no end is recorded", bad
	}
}

func took(e *record.Execution) time.Duration {
	return e.Ended.Sub(e.Began).Round(100 * time.Millisecond)
}

// Execution shows one execution: its steps in order, and the decisions that it carried out.
func (pg Page) Execution(e *record.Execution, hold *Hold, steps []record.Step, decisions []record.Decision) string {
	w := pg.open()
	w.line(w.paint(bold, clean.Clean(e.ID+"  "+verbOf(e)+"  "+e.Stack.String())))
	row := func(label, text string) {
		if text != "" {
			w.labelled(2, 10, label, text, plain)
		}
	}
	row("by", fmt.Sprintf("%s, pid %d", whoOf(e.Owner), e.Owner.PID))
	row("began", Stamp(e.Began))
	text, t := endOf(e, hold)
	w.labelled(2, 10, "end", text, t)
	row("template", e.Template)
	row("plan", Short(e.Plan))
	w.decisions(decisions)
	w.steps(steps)
	return w.String()
}

func (w *page) decisions(list []record.Decision) {
	w.line()
	w.line("decisions")
	if len(list) == 0 {
		w.line("  none: nothing was left to an operator")
	}
	for _, d := range list {
		choice := strings.TrimSuffix(string(d.Choice)+":"+d.Physical, ":")
		w.para(2, plain, fmt.Sprintf("%s: %s, by %s at %s, on the verdict %q", d.ID, choice, d.Who, Stamp(d.At), d.Verdict))
		if d.Note != "" {
			w.labelled(4, 9, "note", d.Note, plain)
		}
		if d.Outcome != "" {
			w.labelled(4, 9, "became", d.Outcome, plain)
		}
	}
}

func (w *page) steps(list []record.Step) {
	w.line()
	w.line("steps")
	if len(list) == 0 {
		w.line("  none: nothing was written")
	}
	for i, s := range list {
		if i == historyFold && !w.All {
			w.linef("  and %d more, folded; --all lists them", len(list)-i)
			break
		}
		w.line(fmt.Sprintf("  %-6d", s.Seq), fit(clock(s.At), 14), clean.Clean(s.Name))
		if s.Detail != "" {
			w.para(22, faint, s.Detail)
		}
	}
}
