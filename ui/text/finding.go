package text

import (
	"fmt"
	"strings"
	"time"

	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
	"reclaim/ui/text/clean"
)

// Hold is what is known of a hold: who has it, and whether that process lives.
type Hold struct {
	record.Hold
	Alive resource.Tri
}

// Liveness says whether the holder lives, and how that was found out.
func (h Hold) Liveness() string {
	switch h.Alive {
	case resource.Yes:
		return "running"
	case resource.No:
		return "dead (boot id, start time checked)"
	default:
		return "unknown: it ran on another machine, or this one cannot say"
	}
}

// HoldLine is one line about a hold.
func (h Hold) HoldLine() string {
	o := h.Owner
	return clean.Clean(fmt.Sprintf("%s, %s on %s, pid %d, %s since %s: %s", h.Execution, o.User, o.Host, o.PID, h.Verb,
		Stamp(h.Since), h.Liveness()))
}

// Held says who holds a stack and how to go on.
func (pg Page) Held(h Hold, next []string) string {
	w := pg.open()
	w.line(w.paint(bad, "held  "+clean.Clean(h.Stack.String())))
	rows := [][]string{
		{"execution", clean.Clean(h.Execution)},
		{"verb", clean.Clean(h.Verb)},
		{"owner", clean.Clean(fmt.Sprintf("%s on %s, pid %d", h.Owner.User, h.Owner.Host, h.Owner.PID))},
		{"since", Stamp(h.Since)},
		{"process", h.Liveness()},
		{"epoch", fmt.Sprint(h.Epoch)},
	}
	if h.Template != "" {
		rows = append(rows, []string{"template", clean.Clean(h.Template)})
	}
	w.table(2, rows)
	w.next("next:", next)
	return w.String()
}

// Findings shows each judged record: what was sent, what was seen, the verdict, and what can be done. hold may be nil.
func (pg Page) Findings(stack record.StackID, hold *Hold, list []recovery.Finding, next []string) string {
	w := pg.open()
	w.line(w.paint(bold, "recover  "+clean.Clean(stack.String())))
	if hold != nil {
		w.para(0, warn, "hold: "+hold.HoldLine())
	} else {
		w.line("hold: none")
	}
	if len(list) == 0 {
		w.line("No uncertain records.")
	}
	for i := range list {
		w.line(strings.Repeat("-", w.width()))
		w.finding(&list[i], i+1, len(list))
	}
	w.next("next:", next)
	return w.String()
}

// Finding shows one judged record, as number n of total.
func (pg Page) Finding(f *recovery.Finding, n, total int) string {
	w := pg.open()
	w.finding(f, n, total)
	return w.String()
}

func (w *page) finding(f *recovery.Finding, n, total int) {
	w.line(w.paint(bold, clean.Clean(f.ID)), "  ", clean.Clean(f.Type), fmt.Sprintf("  record %d of %d, %s, generation %d", n, total, f.Status, f.Gen))
	w.line(string(f.Class), ": ", secondCreate(f.Class))
	if f.Physical != "" {
		w.line(clean.Clean(f.Physical))
	}
	for _, m := range f.Timeline {
		w.moment(m)
	}
	w.line()
	w.sides(f)
	for i := range f.Candidates {
		w.candidate(&f.Candidates[i])
	}
	for i := range f.Namesakes {
		c := &f.Namesakes[i]
		w.para(2, faint, fmt.Sprintf("same name, not judged: %s", c.Physical))
	}
	w.line()
	w.labelled(0, 9, "VERDICT", strings.TrimSpace(fmt.Sprintf("%s. %s", f.Verdict, f.Summary)), bold)
	if !f.Until.IsZero() {
		w.line("         judged again after ", Stamp(f.Until))
	}
	for i := range f.Offered {
		w.option(f, &f.Offered[i])
	}
}

func secondCreate(c resource.Class) string {
	switch c {
	case resource.Named:
		return "a second create would be refused"
	case resource.Upsert:
		return "a second create would overwrite"
	case resource.Token:
		return "the same token returns the first"
	default:
		return "a second create would make a duplicate"
	}
}

func (w *page) moment(m recovery.Moment) {
	seq := ""
	if m.Seq > 0 {
		seq = fmt.Sprintf("seq %d", m.Seq)
	}
	w.labelled(1, 24, fit(seq, 10)+clock(m.At), m.Text, plain)
}

func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("15:04:05.000")
}

// sides lists evidence for, neutral, against and missing; a side without a line says "-", so that its absence is seen.
func (w *page) sides(f *recovery.Finding) {
	for _, side := range []recovery.Side{recovery.For, recovery.Neutral, recovery.Against, recovery.Missing} {
		found := false
		for _, l := range f.Lines {
			if l.Side != side {
				continue
			}
			found = true
			about := ""
			if l.Candidate > 0 {
				about = fmt.Sprintf("candidate %d: ", l.Candidate)
			}
			w.labelled(1, 9, string(side), about+l.Text+"  ["+w.source(l)+"]", sideTone(side))
		}
		if !found && side != recovery.Neutral {
			w.labelled(1, 9, string(side), "-", plain)
		}
	}
}

func sideTone(s recovery.Side) tone {
	switch s {
	case recovery.For:
		return good
	case recovery.Against:
		return bad
	default:
		return plain
	}
}

func (w *page) source(l recovery.Line) string {
	switch {
	case l.Seq > 0:
		return fmt.Sprintf("%s, seq %d", l.Source, l.Seq)
	case !l.At.IsZero():
		return l.Source + ", " + Age(w.Now, l.At)
	default:
		return l.Source
	}
}

func (w *page) candidate(c *recovery.Candidate) {
	head := fmt.Sprintf("candidate %d: %s", c.N, c.Physical)
	if len(c.How) > 0 {
		head += ", found by " + strings.Join(c.How, " and ")
	}
	if !c.CreatedAt.IsZero() {
		head += ", created " + Stamp(c.CreatedAt)
	}
	w.para(1, plain, head)
	if c.Strike != "" {
		w.para(3, bad, fmt.Sprintf("struck (%s): %s", c.Strike, c.StrikeWhy))
	}
	w.fields(c.Fields)
}

func (w *page) option(f *recovery.Finding, o *recovery.Option) {
	mark := "  "
	if o.Choice == f.Default {
		mark = "> "
	}
	word := string(o.Choice)
	if o.Physical != "" {
		word += ":" + o.Physical
	}
	w.line(mark, w.paint(bold, clean.Clean(word)))
	detail := "calls " + orNone(o.Call) + ". Loss: " + orNone(o.Loss) + ". Then: " + orNone(o.Follows)
	if o.Typed != "" {
		detail += ". Typed: " + o.Typed
	}
	w.para(4, plain, detail)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return strings.TrimRight(s, ".")
}
