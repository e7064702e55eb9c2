package recovery

import (
	"cmp"
	"fmt"
	"strings"

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
	case s.page != pageStep:
		return s.reading(s.pageOf(cur, f), f)
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

// The parts of the stepper that give lines up when the screen is short.
const (
	partTimeline = iota
	partEvidence
	partVerdict
	partChoices
	partCandidates
	parts
)

// step draws the stepper. When the screen is short, each part gives lines up in turn; what is cut says so, and enter
// shows all of it.
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
	said := verdict(cur, f)
	room := f.Height - (len(head) + len(name) + 2*len(rule) + 1)
	want := [parts]int{max(len(cur.Timeline), 1), len(wholeEvidence(cur, f)), len(said), choicesHeight(cur, f.Width), len(cands)}
	if want[partTimeline]+want[partEvidence]+want[partVerdict]+want[partChoices]+want[partCandidates] > room {
		want[partEvidence] = min(want[partEvidence], len(facts(cur, f, several(cur))))
	}
	got := share(want, room)
	out := append(head, name...)
	out = append(append(out, timeline(cur, f.Width, got[partTimeline])...), rule...)
	out = append(append(out, evidence(cur, f, got[partEvidence])...), cutShort(said, got[partVerdict], f.Width)...)
	out = append(append(out, cut(cands, got[partCandidates])...), rule...)
	out = append(out, s.choices(cur, f, got[partChoices])...)
	return append(out.Head(f.Height-1), s.decidedLine(f.Width))
}

// share gives the parts lines until the room is used up: each loses a little in turn, the verdict and the choices last.
func share(want [parts]int, room int) [parts]int {
	total := 0
	for _, n := range want {
		total += n
	}
	for _, t := range []struct{ part, least int }{{partCandidates, 6}, {partTimeline, 3}, {partEvidence, 6}, {partCandidates, 0}, {partTimeline, 1},
		{partEvidence, 4}, {partVerdict, 2}, {partChoices, 4}, {partEvidence, 2}, {partChoices, 3}, {partTimeline, 0}, {partVerdict, 1},
		{partEvidence, 1}, {partChoices, 1}} {
		less := min(max(want[t.part]-t.least, 0), max(total-room, 0))
		want[t.part] -= less
		total -= less
	}
	return want
}

// cut takes the first lines; the last says how many are left out.
func cut(b widget.Block, height int) widget.Block {
	if len(b) <= height || height <= 0 {
		return b[:min(len(b), max(height, 0))]
	}
	more := widget.L(widget.T(theme.Dim, fmt.Sprintf(" … %s; enter shows all", widget.Count(len(b)-height+1, "more line"))))
	return append(b[:height-1:height-1], more)
}

// cutShort marks the end of the last line and keeps the rest of it: a verdict is never hidden behind a count.
func cutShort(b widget.Block, height, width int) widget.Block {
	if len(b) <= height || height <= 0 {
		return b[:min(len(b), max(height, 0))]
	}
	last := b[height-1].Truncate(width - 2)
	return append(b[:height-1:height-1], widget.L(append(last.Spans[:len(last.Spans):len(last.Spans)], widget.T(theme.Strong, " …"))...))
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

// timeline is what happened, on at most height lines: the last moments, and how many came before them.
func timeline(f *recovery.Finding, width, height int) widget.Block {
	if len(f.Timeline) == 0 {
		return widget.Block{widget.L(widget.T(theme.Dim, " no step is journaled of this create"))}.Head(min(height, 1))
	}
	var out widget.Block
	earlier := max(len(f.Timeline)-height, 0)
	for i, m := range f.Timeline[earlier:] {
		seq := ""
		switch {
		case i == 0 && earlier > 0:
			seq = fmt.Sprintf("+%d more", earlier)
		case m.Seq > 0:
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
	return out
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
	done := fmt.Sprintf(" decided %d of %d ", len(s.decided), len(s.list))
	rest := "  Nothing is sent before the summary is confirmed."
	if len(s.decided) > 0 {
		rest = "  s shows the summary; nothing is sent before it is confirmed."
	}
	return widget.L(widget.T(theme.Selected, done), widget.T(theme.Dim, rest)).Truncate(width)
}
