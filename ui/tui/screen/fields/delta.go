package fields

import (
	"fmt"
	"strings"

	"reclaim/engine/delta"
	"reclaim/engine/diff"
	"reclaim/engine/value"
	"reclaim/ui/tui/theme"
	"reclaim/ui/tui/widget"
)

// besideFrom is the width in cells from which the two sides of a delta stand beside each other.
const besideFrom = 90

// What a changed part of a text stands between, so that it is also seen without colours.
const opens, closes = "‹", "›"

// nearby is how much of what has not changed is kept beside what has, in bytes.
const nearby = 48

// tallest is how many lines one value takes in a delta.
const tallest = 12

// legend says what the signs of a delta mean.
const legend = "+ desired  - now  ~ changed  ‹what changed›"

// inside counts what would change in a composite that both sides have: "+2 -1 ~1". Two cells of JSON would look the
// same.
func inside(f diff.Field) string {
	if f.Verdict != diff.Differs || !taken(f.Desired) || !taken(f.Observed) {
		return ""
	}
	added, gone, changed := delta.Count(delta.Between("", f.Observed, f.Desired))
	text := ""
	for _, c := range []struct {
		sign string
		n    int
	}{{"+", added}, {"-", gone}, {"~", changed}} {
		if c.n > 0 {
			text += fmt.Sprintf("%s%d ", c.sign, c.n)
		}
	}
	return strings.TrimSuffix(text, " ")
}

// taken reports whether a value is taken apart where it differs: as a composite, or as a text that looks like JSON.
func taken(v value.Value) bool {
	text, _ := v.Str()
	return nested(v) || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
}

// Deltas draws what a table of cells cannot show of the fields that differ.
func Deltas(list []diff.Field, width int) widget.Block {
	var out widget.Block
	for _, f := range list {
		if inside(f) != "" {
			out = append(out, Delta(f, width, false)...)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return append(deltaHead(role(diff.Differs), "DIFFERS INSIDE", true, width), out...)
}

// Delta draws how what was observed would become what is desired. Unless all, what is the same is a count.
func Delta(f diff.Field, width int, all bool) widget.Block {
	rows := delta.Rows(delta.Between(string(f.Path), f.Observed, f.Desired), all)
	d := drawing{width: width, beside: width >= besideFrom}
	d.name, d.cell = sidesOf(width)
	for _, r := range rows {
		d.row(r)
	}
	return d.out
}

// deep reports whether a field takes more to show than two cells of a width.
func deep(f diff.Field, cell int) bool {
	if f.Desired.Sensitive() || f.Observed.Sensitive() {
		return false
	}
	for _, v := range []value.Value{f.Desired, f.Observed} {
		text, _ := v.Str()
		if nested(v) || strings.Contains(text, "\n") || widget.Width(short(text)) > cell {
			return true
		}
	}
	return false
}

// sidesOf are the widths of the column of names and of each side.
func sidesOf(width int) (name, cell int) {
	name = min(max(width*34/100, 12), 44)
	return name, max((width-name-4)/2, 8)
}

type drawing struct {
	width  int
	name   int // width of the column of names, where the sides stand beside each other
	cell   int // and of each side
	beside bool
	out    widget.Block
}

func sign(op delta.Op) (string, theme.Role) {
	switch op {
	case delta.Added:
		return "+", theme.Good
	case delta.Gone:
		return "-", theme.Bad
	case delta.Changed:
		return "~", theme.Change
	case delta.Waits:
		return "?", theme.Warn
	}
	return " ", theme.Dim
}

// indent of a row; deep values do not push what they hold out of the screen.
func (d *drawing) indent(r delta.Row) string {
	most := d.width / 4
	if d.beside {
		most = d.name - 8
	}
	return strings.Repeat(" ", min(3+2*r.Depth, most))
}

func (d *drawing) add(spans ...widget.Span) { d.out = append(d.out, widget.L(spans...)) }

func (d *drawing) row(r delta.Row) {
	mark, role := sign(r.Op)
	lead := widget.T(theme.Plain, d.indent(r))
	switch {
	case r.Folded > 0:
		d.add(lead, widget.T(theme.Dim, fmt.Sprintf("= %d the same", r.Folded)))
	case r.Head:
		d.add(lead, widget.T(role, mark+" "), widget.T(theme.Strong, widget.CutTail(label(r), d.width-widget.Width(lead.Text)-2)))
	case d.beside:
		d.sides(r)
	default:
		d.unified(r)
	}
}

// label is the name of a row: an item without a name of its own has a dash.
func label(r delta.Row) string {
	name := r.Name
	switch {
	case r.Item && r.Text: // a line of a text
	case r.Item && name == "":
		name = "item"
	case r.Item:
		name = "[" + name + "]"
	}
	if r.Head && r.Text {
		name += "  (text)"
	}
	return name
}

// unified draws a leaf below the one before it: in one line where there is room, else the old side above the new.
func (d *drawing) unified(r delta.Row) {
	mark, role := sign(r.Op)
	lead := d.indent(r)
	name := widget.CutTail(r.Name, d.width-len(lead)-4)
	was, is := sideSpans(r, false), sideSpans(r, true)
	head := []widget.Span{widget.T(theme.Plain, lead), widget.T(role, mark+" ")}
	if name != "" {
		head = append(head, widget.T(theme.Plain, name+"  "))
	}
	one := append(append([]widget.Span(nil), head...), was...)
	switch r.Op {
	case delta.Same, delta.Added:
		one = append(append([]widget.Span(nil), head...), is...)
	case delta.Changed, delta.Waits:
		if r.Old.Kind() == value.Absent {
			one = append(append([]widget.Span(nil), head...), is...)
		} else {
			one = append(append(one, widget.T(theme.Dim, " → ")), is...)
		}
	}
	if widget.L(one...).Width() <= d.width {
		d.add(one...)
		return
	}
	if name != "" {
		d.add(head...)
		lead += "    "
	}
	sides := []struct {
		mark  string
		role  theme.Role
		spans []widget.Span
		has   bool
	}{{"- ", theme.Bad, was, r.Op != delta.Same && r.Op != delta.Added && r.Old.IsSet()}, {"+ ", theme.Good, is, r.Op != delta.Gone}}
	for _, s := range sides {
		if !s.has {
			continue
		}
		if r.Op == delta.Same || r.Op == delta.Waits && s.role == theme.Good {
			s.mark, s.role = mark+" ", role
		}
		for _, l := range flow(s.spans, d.width-len(lead)-2) {
			d.add(append([]widget.Span{widget.T(theme.Plain, lead), widget.T(s.role, s.mark)}, l.Spans...)...)
			s.mark = "  "
		}
	}
}

// sides draws a leaf as its name, what is desired, and what was observed.
func (d *drawing) sides(r delta.Row) {
	mark, role := sign(r.Op)
	was, is := flow(sideSpans(r, false), d.cell), flow(sideSpans(r, true), d.cell)
	for i := range max(len(was), len(is), 1) {
		name := widget.Cell(theme.Plain, "", d.name)
		spans := []widget.Span{name}
		if i == 0 {
			lead := d.indent(r)
			spans = []widget.Span{widget.T(theme.Plain, lead), widget.T(role, mark+" "), widget.CellTail(theme.Plain, r.Name, max(d.name-len(lead)-2, 4))}
		}
		spans = append(append(spans, widget.T(theme.Plain, " ")), filled(is, i, d.cell)...)
		spans = append(append(spans, widget.T(theme.Rule, " │ ")), filled(was, i, d.cell)...)
		d.add(spans...)
	}
}

// filled is line i of a cell, filled up to its width.
func filled(lines []widget.Line, i, width int) []widget.Span {
	if i >= len(lines) {
		return []widget.Span{widget.Cell(theme.Plain, "", width)}
	}
	l := lines[i]
	return append(l.Spans[:len(l.Spans):len(l.Spans)], widget.Cell(theme.Plain, "", max(width-l.Width(), 0)))
}

// flow breaks a value into lines, and says when it is too long for that.
func flow(spans []widget.Span, width int) []widget.Line {
	lines := widget.Flow(spans, max(width, 4))
	if len(lines) > tallest {
		more := widget.L(widget.T(theme.Dim, "… "+widget.Count(len(lines)-tallest+1, "more line")))
		lines = append(lines[:tallest-1:tallest-1], more.Truncate(max(width, 4)))
	}
	return lines
}

// sideSpans is one side of a row as text, what has changed in it marked.
func sideSpans(r delta.Row, new bool) []widget.Span {
	v, pieces, changed := r.Old, r.Was, theme.Bad
	if new {
		v, pieces, changed = r.New, r.Is, theme.Good
	}
	switch {
	case pieces != nil:
		return pieceSpans(pieces, changed)
	case !v.IsSet():
		return nil
	case r.Op == delta.Same:
		return []widget.Span{widget.T(theme.Dim, short(Text(v)))}
	case v.Kind() == value.Unknown:
		return []widget.Span{widget.T(theme.Warn, Text(v))}
	}
	return []widget.Span{widget.T(changed, short(Text(v)))}
}

// pieceSpans shows a text with its changed parts marked; of long parts that are the same, what lies beside those.
func pieceSpans(pieces []delta.Piece, changed theme.Role) []widget.Span {
	if len(pieces) == 1 { // something came or went on the other side
		return []widget.Span{widget.T(theme.Plain, short(pieces[0].Text))}
	}
	var out []widget.Span
	for i, p := range pieces {
		if p.Changed {
			out = append(out, widget.T(changed, opens+short(p.Text)+closes))
			continue
		}
		out = append(out, widget.T(theme.Plain, beside(p.Text, i > 0, i < len(pieces)-1)))
	}
	return out
}

// beside cuts what has not changed to what lies near a change before and after it.
func beside(text string, before, after bool) string {
	keep := 0
	if before {
		keep += nearby
	}
	if after {
		keep += nearby
	}
	if len(text) <= keep+nearby {
		return text
	}
	head, tail := "", ""
	if before {
		head = strings.ToValidUTF8(text[:nearby], "")
	}
	if after {
		tail = strings.ToValidUTF8(text[len(text)-nearby:], "")
	}
	return head + "…" + tail
}
