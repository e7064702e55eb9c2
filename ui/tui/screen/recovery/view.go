package recovery

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/theme"
	"reclaim/ui/tui/widget"
)

// View draws the stepper or the page that is open, and a dialog over it.
func (s *Screen) View(f screen.Frame) widget.Block {
	out := s.body(f).Head(f.Height)
	switch {
	case s.dialog != nil:
		return s.dialog.Over(out, f.Width, f.Height)
	case s.box != nil:
		text := widget.Block{widget.L(widget.T(theme.Strong, "The ID of the object for "+s.box.ref.id))}
		text = append(text, widget.Paragraph(theme.Plain, "It is looked up and judged before it is accepted.", 0, min(f.Width-4, dialogWidth))...)
		text = append(text, widget.L(widget.T(theme.Key, "> "), widget.T(theme.Plain, widget.CutTail(s.box.text, max(min(f.Width-8, 60), 1))), widget.T(theme.Selected, " ")))
		return widget.Panel(out, text, f.Width, f.Height)
	}
	return out
}

func (s *Screen) body(f screen.Frame) widget.Block {
	cur := s.current()
	switch {
	case !s.loaded:
		return widget.Block{{}, widget.L(widget.T(theme.Dim, " "+s.loading))}
	case cur == nil:
		return s.nothing(f.Width)
	case s.page == pageAll:
		return s.reading(s.all(cur, f), f)
	case s.page == pageDiff:
		return s.reading(append(title(cur, f.Width), s.candidates(cur, f)...), f)
	}
	return s.step(cur, f)
}

func (s *Screen) reading(b widget.Block, f screen.Frame) widget.Block {
	view, _, below := s.scroll.Window(b, f.Height-1)
	note := "the end"
	if below > 0 {
		note = widget.Count(below, "more line") + ", ↓"
	}
	return append(view.Head(f.Height-1), widget.RuleLine(f.Width, note))
}

// nothing says what to do when nothing is uncertain.
func (s *Screen) nothing(width int) widget.Block {
	var out widget.Block
	if s.err != nil {
		out = append(out, widget.Paragraph(theme.Bad, s.err.Error(), 1, width)...)
	}
	out = append(out, widget.L(s.holdSpan()), widget.Line{}, widget.L(widget.T(theme.Good, " Nothing is uncertain in this stack.")))
	next := "Next: reclaim plan FILE says what is left to do."
	switch {
	case s.loading != "":
		next = s.loading
	case s.sum.Hold != nil:
		next = "A run left its hold behind. Next: s takes the hold and finishes what it left; or run: " + s.Command()
	}
	return append(out, widget.Paragraph(theme.Plain, next, 1, width)...)
}

func (s *Screen) holdSpan() widget.Span {
	role := theme.Dim
	if s.sum.Hold != nil {
		role = theme.Warn
	}
	return widget.T(role, " "+screen.HoldLine(s.sum))
}

// step draws the stepper. When the screen is short, each part gives lines up in turn, the choices last; what is cut
// says so, and enter shows all of it.
func (s *Screen) step(cur *recovery.Finding, f screen.Frame) widget.Block {
	rule := widget.Block{widget.RuleLine(f.Width, "")}
	head := append(widget.Block{widget.L(s.holdSpan())}, rule...)
	name := title(cur, f.Width)
	if f.Height < 16 {
		head, rule, name = nil, nil, name[:1]
	}
	if s.err != nil {
		failed := widget.Paragraph(theme.Bad, "the look failed: "+s.err.Error(), 1, f.Width)
		head = append(failed[:min(len(failed), max(f.Height/5, 1))], head...)
	}
	var cands widget.Block
	if f.Height >= 30 && len(cur.Candidates) > 0 {
		cands = append(widget.Block{widget.RuleLine(f.Width, "")}, s.candidates(cur, f)...)
	}
	room := f.Height - (len(head) + len(name) + 2*len(rule) + 1)
	parts := []part{{timeline(cur, f.Width)}, {evidence(cur, f)}, {verdict(cur, f)}, {s.options(cur, f, true)}, {cands}}
	if lines(parts) > room {
		parts[3].block = s.options(cur, f, false)
	}
	share(parts, room)
	out := append(head, name...)
	out = append(append(out, parts[0].cut()...), rule...)
	out = append(append(out, parts[1].cut()...), parts[2].cutShort(f.Width)...)
	out = append(append(out, parts[4].cut()...), rule...)
	out = append(out, parts[3].block...)
	for len(out) < f.Height-1 {
		out = append(out, widget.Line{})
	}
	return append(out[:max(f.Height-1, 0)], s.decidedLine(f.Width))
}

// part is a part of the stepper.
type part struct{ block widget.Block }

// cut marks the last line when lines were taken away; share keeps the count in cap.
func (p part) cut() widget.Block {
	if hidden := cap(p.block) - len(p.block); hidden > 0 && len(p.block) > 0 {
		out := append(widget.Block(nil), p.block...)
		out[len(out)-1] = widget.L(widget.T(theme.Dim, fmt.Sprintf(" … %s; enter shows all", widget.Count(hidden+1, "more line"))))
		return out
	}
	return p.block
}

func lines(parts []part) int {
	n := 0
	for _, p := range parts {
		n += len(p.block)
	}
	return n
}

// cutShort marks the end of the last line and keeps the rest of it: a verdict is never hidden behind a count.
func (p part) cutShort(width int) widget.Block {
	if cap(p.block) == len(p.block) || len(p.block) == 0 {
		return p.block
	}
	out := append(widget.Block(nil), p.block...)
	last := out[len(out)-1].Truncate(width - 2)
	out[len(out)-1] = widget.L(append(append([]widget.Span(nil), last.Spans...), widget.T(theme.Strong, " …"))...)
	return out
}

// share takes lines away until all parts fit, a little of each in turn; the verdict and the choices keep theirs longest.
func share(parts []part, room int) {
	total := lines(parts)
	for i := range parts {
		parts[i].block = parts[i].block[:len(parts[i].block):len(parts[i].block)]
	}
	take := func(i, least int) {
		for total > room && len(parts[i].block) > least {
			parts[i].block = parts[i].block[:len(parts[i].block)-1]
			total--
		}
	}
	for _, t := range []struct{ part, least int }{{4, 6}, {0, 3}, {1, 6}, {2, 2}, {4, 0}, {0, 1}, {1, 2}, {3, 3}, {2, 1}, {1, 1}, {0, 0}, {3, 1}} {
		take(t.part, t.least)
	}
}

func title(f *recovery.Finding, width int) widget.Block {
	class := classWords(f.Class)
	left := " " + f.ID + "  " + screen.ShortType(f.Type)
	if f.Gen > 1 {
		left += fmt.Sprintf("  generation %d", f.Gen)
	}
	first := widget.L(widget.T(theme.Strong, left))
	if room := width - widget.Width(class) - 2; room >= widget.Width(left) {
		first = widget.L(widget.Cell(theme.Strong, left, room), widget.T(theme.Dim, " "+class))
	}
	return widget.Block{first, widget.L(widget.T(theme.Plain, " "+cmp.Or(f.Physical, "no ID known"+soFar(f))))}
}

func soFar(f *recovery.Finding) string {
	if n := len(f.Candidates); n > 1 {
		return ": " + widget.Count(n, "candidate")
	}
	return ""
}

func classWords(c resource.Class) string {
	switch c {
	case resource.Named:
		return "a second create would be refused: Named"
	case resource.Upsert:
		return "a second create would overwrite: Upsert"
	case resource.Token:
		return "a second create would return the first: Token"
	case resource.Assigned:
		return "a second create would be a duplicate: Assigned"
	}
	return string(c)
}

func timeline(f *recovery.Finding, width int) widget.Block {
	var out widget.Block
	for _, m := range f.Timeline {
		seq := ""
		if m.Seq > 0 {
			seq = fmt.Sprintf("seq %d", m.Seq)
		}
		spans := []widget.Span{widget.T(theme.Plain, " ")}
		if width >= 60 {
			spans = append(spans, widget.Cell(theme.Dim, seq, 8), widget.T(theme.Plain, " "))
		}
		at := ""
		if !m.At.IsZero() {
			at = m.At.UTC().Format("15:04:05.000")
		}
		out = append(out, widget.L(append(spans, widget.Cell(theme.Dim, at, 12), widget.T(theme.Plain, "  "+m.Text))...))
	}
	if out == nil {
		return widget.Block{widget.L(widget.T(theme.Dim, " no step is journaled of this create"))}
	}
	return out
}

// sides are the sides of evidence in reading order; each is shown, with a dash when there is none.
var sides = []struct {
	side recovery.Side
	role theme.Role
}{{recovery.For, theme.Good}, {recovery.Neutral, theme.Plain}, {recovery.Against, theme.Bad}, {recovery.Missing, theme.Warn}}

func evidence(f *recovery.Finding, fr screen.Frame) widget.Block {
	source := min(max(fr.Width/4, 12), 24)
	if fr.Width < 64 {
		source = 0
	}
	text := max(fr.Width-9-source-2-10, 8)
	var out widget.Block
	for _, sd := range sides {
		some := false
		for _, l := range f.Lines {
			if l.Side != sd.side {
				continue
			}
			some = true
			spans := []widget.Span{widget.T(theme.Plain, " "), widget.Cell(sd.role, string(l.Side), 9), widget.Cell(theme.Plain, l.Text, text), widget.T(theme.Plain, " ")}
			if source > 0 {
				spans = append(spans, widget.Cell(theme.Dim, l.Source, source), widget.T(theme.Plain, " "))
			}
			out = append(out, widget.L(append(spans, widget.T(theme.Dim, when(l, fr.Now)))...))
		}
		if !some {
			out = append(out, widget.L(widget.T(theme.Plain, " "), widget.Cell(sd.role, string(sd.side), 9), widget.T(theme.Dim, "-")))
		}
	}
	return out
}

func when(l recovery.Line, now time.Time) string {
	switch {
	case l.Seq > 0:
		return fmt.Sprintf("seq %d", l.Seq)
	case l.At.IsZero():
		return ""
	}
	return screen.Age(now, l.At)
}

func verdict(f *recovery.Finding, fr screen.Frame) widget.Block {
	text := string(f.Verdict) + ". " + f.Summary
	if f.Until.After(fr.Now) {
		text += " " + screen.Span(f.Until.Sub(fr.Now)) + " left to wait."
	}
	var out widget.Block
	for i, l := range widget.Wrap(text, fr.Width-11) {
		head := " VERDICT  "
		if i > 0 {
			head = strings.Repeat(" ", 10)
		}
		out = append(out, widget.L(widget.T(theme.Info, head), widget.T(theme.Strong, l)))
	}
	return out
}

// options draws the choices; each says its call, its loss and what follows. With whole, the one under the cursor is
// wrapped and not cut.
func (s *Screen) options(f *recovery.Finding, fr screen.Frame, whole bool) widget.Block {
	list := options(f)
	cur := s.choice(f)
	cur.Move(0, len(list))
	taken, isTaken := s.decided[refOf(f)]
	from, to := cur.Window(len(list), max(fr.Height-8, 2))
	var out widget.Block
	for i := from; i < to; i++ {
		o := list[i]
		at, mark := " ", " "
		if i == cur.At {
			at = ">"
		}
		if isTaken && taken.option.Choice == o.Choice && taken.option.Physical == o.Physical {
			mark = "c"
		}
		role := theme.Plain
		if o.Choice == record.DeleteIt || o.Choice == record.Adopt || o.Choice == record.Replace {
			role = theme.Warn
		}
		text := []string{sentence(o)}
		if whole && i == cur.At {
			text = widget.Wrap(text[0], fr.Width-15)
		}
		out = append(out, widget.Line{Selected: i == cur.At, Spans: []widget.Span{widget.T(theme.Plain, " "+at), widget.T(theme.Good, mark+" "),
			widget.Cell(role, optionName(o, f), 10), widget.T(theme.Plain, text[0])}})
		for _, rest := range text[1:] {
			out = append(out, widget.Line{Selected: true, Spans: []widget.Span{widget.T(theme.Plain, strings.Repeat(" ", 14)+rest)}})
		}
	}
	return out
}

// optionName is the choice, with the number of the candidate where there are several.
func optionName(o recovery.Option, f *recovery.Finding) string {
	name := string(o.Choice)
	if len(f.Candidates) > 1 && o.Physical != "" {
		for _, c := range f.Candidates {
			if c.Physical == o.Physical {
				return fmt.Sprintf("%s %d", name, c.N)
			}
		}
	}
	return name
}

// sentence is call, loss and consequence in one line. Where there is neither call nor loss, that is said last.
func sentence(o recovery.Option) string {
	call, loss := cmp.Or(o.Call, "none"), cmp.Or(o.Loss, "nothing")
	switch {
	case call == "none" && loss == "nothing":
		return o.Follows + "; no call, no loss"
	case call == "none":
		return "loses " + loss + "; " + o.Follows + "; no call"
	case loss == "nothing":
		return call + "; " + o.Follows + "; no loss"
	}
	return call + "; loses " + loss + "; " + o.Follows
}

func (s *Screen) decidedLine(width int) widget.Line {
	f := s.current()
	switch {
	case s.loading != "":
		return widget.L(widget.T(theme.Info, " "+s.loading))
	case s.ran:
		return widget.L(widget.T(theme.Warn, " The choices were carried out. l looks again."))
	case f != nil && len(f.Looks) == 0:
		return widget.L(widget.T(theme.Warn, " From the store alone. l looks at the cloud; nothing is sent by looking."))
	}
	text := fmt.Sprintf(" decided %d of %d. Nothing is sent before the summary is confirmed.", len(s.decided), len(s.list))
	if len(s.decided) > 0 && len(s.decided) == len(s.list) {
		text = fmt.Sprintf(" decided %d of %d. Nothing is sent before the summary (s) is confirmed.", len(s.decided), len(s.list))
	}
	return widget.L(widget.T(theme.Strong, text)).Truncate(width)
}
