package recovery

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"reclaim/engine/diff"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/value"
	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/screen/fields"
	"reclaim/ui/tui/theme"
	"reclaim/ui/tui/widget"
)

// sideBySideFrom is the width from which candidates stand beside each other.
const sideBySideFrom = 100

// candidates draws what was found against what was intended: side by side where there is room, else one below the other.
func (s *Screen) candidates(f *recovery.Finding, fr screen.Frame) widget.Block {
	var out widget.Block
	switch {
	case len(f.Candidates) == 0:
		out = widget.Paragraph(theme.Dim, "No object was found that may be this one; there is nothing to compare.", 1, fr.Width)
	case fr.Width >= sideBySideFrom && len(f.Candidates) <= fr.Width/30-1:
		out = sideBySide(f, fr)
		for _, c := range f.Candidates {
			if inside := fields.Deltas(c.Fields, fr.Width); inside != nil {
				out = append(append(out, widget.Line{}, widget.L(widget.T(theme.Info, fmt.Sprintf(" CANDIDATE %d  ", c.N)), widget.T(theme.Strong, c.Physical))), inside...)
			}
		}
	default:
		for _, c := range f.Candidates {
			out = append(out, oneBelow(c, fr)...)
		}
	}
	for _, n := range f.Namesakes {
		out = append(out, widget.L(widget.T(theme.Dim, " listed, not judged: "+n.Physical+", made "+screen.Age(fr.Now, n.CreatedAt)+", "+strings.Join(n.How, " and "))))
	}
	return out
}

func oneBelow(c recovery.Candidate, fr screen.Frame) widget.Block {
	out := widget.Block{widget.L(widget.T(theme.Info, fmt.Sprintf(" CANDIDATE %d  ", c.N)), widget.T(theme.Strong, c.Physical),
		widget.T(theme.Dim, "  made "+screen.Age(fr.Now, c.CreatedAt)+", found by "+strings.Join(c.How, " and ")))}
	if c.Strike != "" {
		out = append(out, widget.Paragraph(theme.Bad, "struck out ("+c.Strike+"): "+c.StrikeWhy, 1, fr.Width)...)
	}
	for _, k := range slices.Sorted(maps.Keys(c.Owner)) {
		out = append(out, widget.L(widget.T(theme.Dim, " tag "+k+" = "+c.Owner[k])))
	}
	out = append(append(out, fields.Table(c.Fields, fr.Width, true)...), fields.Deltas(c.Fields, fr.Width)...)
	return append(out, widget.Line{})
}

// sideBySide is a table with a column for each candidate and one for what was intended. What differs is marked.
func sideBySide(f *recovery.Finding, fr screen.Frame) widget.Block {
	n := len(f.Candidates)
	name := min(max(fr.Width/5, 16), 30)
	cell := (fr.Width-name-3)/(n+1) - 2
	line := func(head string, role theme.Role, cells []string, marks []bool, intended string) widget.Line {
		spans := []widget.Span{widget.T(theme.Plain, " "), widget.CellTail(theme.Plain, head, name), widget.T(theme.Plain, " ")}
		for i, c := range cells {
			mark, r := "  ", role
			if marks[i] {
				mark, r = "≠ ", theme.Change
			}
			spans = append(spans, widget.T(theme.Change, mark), widget.CellTail(r, c, cell))
		}
		return widget.L(append(spans, widget.T(theme.Plain, "  "), widget.CellTail(theme.Dim, intended, cell))...)
	}
	row := func(head, intended string, of func(recovery.Candidate) string) widget.Line {
		cells, marks := make([]string, n), make([]bool, n)
		for i, c := range f.Candidates {
			cells[i] = cmp.Or(of(c), "-")
			marks[i] = i > 0 && cells[i] != cells[0]
		}
		return line(head, theme.Plain, cells, marks, intended)
	}
	heads, none := make([]string, n), make([]bool, n)
	for i, c := range f.Candidates {
		heads[i] = fmt.Sprintf("%d  %s", c.N, c.Physical)
	}
	out := widget.Block{line("CANDIDATES  ≠ differs", theme.Strong, heads, none, "intended")}
	var same widget.Block // what does not differ stands last
	for _, p := range fieldPaths(f.Candidates) {
		cells, marks, intended := make([]string, n), make([]bool, n), "-"
		for i, c := range f.Candidates {
			cells[i] = "-"
			if fl, ok := fieldAt(c, p); ok {
				cells[i], marks[i], intended = fields.Fit(fl.Observed, cell), fl.Verdict == diff.Differs || fl.Verdict == diff.Invalid, fields.Fit(fl.Desired, cell)
				if fl.Verdict == diff.Unverified || fl.Verdict == diff.Blocked {
					cells[i] = string(fl.Verdict) + ": " + fl.Reason
				}
			}
		}
		if l := line(string(p), theme.Plain, cells, marks, intended); slices.Contains(marks, true) {
			out = append(out, l)
		} else {
			same = append(same, l)
		}
	}
	out = append(out, row("made", "", func(c recovery.Candidate) string {
		if c.CreatedAt.IsZero() {
			return "the service does not say"
		}
		return c.CreatedAt.UTC().Format("15:04:05") + ", " + screen.Age(fr.Now, c.CreatedAt)
	}))
	out = append(out, row("found by", "", func(c recovery.Candidate) string { return strings.Join(c.How, ", ") }))
	if slices.ContainsFunc(f.Candidates, func(c recovery.Candidate) bool { return c.Strike != "" }) {
		out = append(out, row("struck out", "", func(c recovery.Candidate) string { return strings.TrimSuffix(c.Strike+": "+c.StrikeWhy, ": ") }))
	}
	for _, k := range tagNames(f.Candidates) {
		out = append(out, row("tag "+k, "", func(c recovery.Candidate) string { return c.Owner[k] }))
	}
	return append(out, same...)
}

func tagNames(list []recovery.Candidate) []string {
	all := map[string]bool{}
	for _, c := range list {
		for k := range c.Owner {
			all[k] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// fieldPaths are the fields of all candidates: those that differ in one of them first.
func fieldPaths(list []recovery.Candidate) []value.Path {
	var out []value.Path
	for _, c := range list {
		for _, f := range fields.Sorted(c.Fields) {
			if !slices.Contains(out, f.Path) {
				out = append(out, f.Path)
			}
		}
	}
	return out
}

func fieldAt(c recovery.Candidate, p value.Path) (diff.Field, bool) {
	for _, f := range c.Fields {
		if f.Path == p {
			return f, true
		}
	}
	return diff.Field{}, false
}

// all is everything that is known of the record, nothing cut.
func (s *Screen) all(f *recovery.Finding, fr screen.Frame) widget.Block {
	head := func(text string) widget.Line { return widget.L(widget.T(theme.Info, " "+text)) }
	out := append(widget.Paragraph(theme.Warn, screen.HoldLine(s.sum), 1, fr.Width), title(f, fr.Width)...)
	out = append(out, widget.Line{}, head("TIMELINE"))
	for _, m := range f.Timeline {
		text := m.Text
		if !m.At.IsZero() {
			text = m.At.UTC().Format("15:04:05.000") + "  " + text
		}
		if m.Seq > 0 {
			text = fmt.Sprintf("seq %d  ", m.Seq) + text
		}
		out = append(out, widget.Paragraph(theme.Plain, text, 3, fr.Width)...)
	}
	out = append(out, widget.Line{}, head("EVIDENCE"))
	out = append(out, allEvidence(f, fr)...)
	out = append(append(out, widget.Line{}), verdict(f, fr)...)
	if f.Row != "" {
		out = append(out, widget.Paragraph(theme.Dim, "row "+f.Row+" of the table in SAFETY.md", 10, fr.Width)...)
	}
	out = append(out, widget.Line{}, head("CHOICES"))
	for _, o := range options(f) {
		out = append(out, widget.L(widget.T(theme.Strong, "   "+optionName(o, f))))
		for _, l := range optionText(recovery.Option{Call: o.Call, Loss: o.Loss, Follows: o.Follows}) {
			out = append(out, widget.L(append([]widget.Span{widget.T(theme.Plain, "     ")}, l.Spans...)...))
		}
	}
	out = append(append(out, widget.Line{}), s.candidates(f, fr)...)
	return append(out, looks(f.Looks, fr)...)
}

// allEvidence is the evidence with nothing cut, for each candidate where there are several.
func allEvidence(f *recovery.Finding, fr screen.Frame) widget.Block {
	if !several(f) {
		return evidenceLines(f, fr, []recovery.Side{recovery.For, recovery.Neutral, recovery.Against, recovery.Missing})
	}
	var out widget.Block
	for _, g := range groups(f) {
		out = append(out, widget.L(widget.T(theme.Strong, "   "+g.name)))
		out = append(out, evidenceLines(g.of, fr, g.dashes)...)
	}
	return out
}

// evidenceLines are all lines side by side; of dashes, a side without one is a dash.
func evidenceLines(f *recovery.Finding, fr screen.Frame, dashes []recovery.Side) widget.Block {
	var out widget.Block
	for _, sd := range sides {
		some := false
		for _, l := range f.Lines {
			if l.Side == sd.side {
				some = true
				text := l.Text + "  (" + strings.TrimSpace(l.Source+" "+when(l, fr.Now)) + ")"
				out = append(out, hanging(sd.role, "   "+string(sd.side), 3+sideWidth, text, fr.Width)...)
			}
		}
		if !some && slices.Contains(dashes, sd.side) {
			out = append(out, hanging(sd.role, "   "+string(sd.side), 3+sideWidth, "-", fr.Width)...)
		}
	}
	return out
}

// hanging is a word and a text that is wrapped beside it.
func hanging(r theme.Role, word string, indent int, text string, width int) widget.Block {
	var out widget.Block
	for _, l := range widget.Wrap(text, width-indent-1) {
		out = append(out, widget.L(widget.Cell(r, word, indent), widget.T(theme.Plain, l)))
		word = ""
	}
	return out
}

func looks(list []record.Look, fr screen.Frame) widget.Block {
	if len(list) == 0 {
		return nil
	}
	out := widget.Block{{}, widget.L(widget.T(theme.Info, " LOOKS"))}
	for _, l := range list {
		out = append(out, widget.Paragraph(theme.Plain, l.Call+": "+l.Result+"  ("+screen.Age(fr.Now, l.At)+")", 3, fr.Width)...)
	}
	return out
}

func join(list []string) string { return strings.Join(list, ", ") }
