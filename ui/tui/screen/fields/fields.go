// Package fields draws a comparison field by field, for every screen that shows one.
//
// Its one rule: it never compares. It shows what engine/diff and engine/delta said, with the reason beside everything that is not a
// plain match, and folds what nobody has to read into counts.
package fields

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"reclaim/engine/diff"
	"reclaim/engine/value"
	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/theme"
	"reclaim/ui/tui/widget"
)

// Text is a value as a cell shows it: bare text, (sensitive), (known after X), compact JSON, or - for nothing. A plan
// that comes from the store has null where nothing was returned.
func Text(v value.Value) string {
	if v.Kind() == value.Null {
		return "-"
	}
	if s, ok := v.Str(); ok {
		if s == "" {
			return `""`
		}
		return s
	}
	return v.String()
}

// Fit is Text cut to a width: a nested value at its end, any other at its start, since the end of a name tells more.
func Fit(v value.Value, width int) string {
	if nested(v) {
		return widget.Cut(Text(v), width)
	}
	return widget.CutTail(Text(v), width)
}

// Sorted returns the fields in the order of reading: what is wrong, what changes, what is not known, what matches,
// what the cloud filled in.
func Sorted(list []diff.Field) []diff.Field {
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b diff.Field) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}

func rank(f diff.Field) int {
	order := []diff.Verdict{diff.Invalid, diff.Blocked, diff.Differs, diff.Changed, diff.Removed, diff.Unknown, diff.Unverified, diff.Match}
	if filledIn(f) {
		return len(order) + 1
	}
	if i := slices.Index(order, f.Verdict); i >= 0 {
		return i
	}
	return len(order)
}

func filledIn(f diff.Field) bool { return f.By == diff.ByCloud || f.Folded }

// Count returns how many fields have a verdict.
func Count(list []diff.Field, v diff.Verdict) int {
	n := 0
	for _, f := range list {
		if f.Verdict == v {
			n++
		}
	}
	return n
}

// Summary is "2 differ, 9 unverified": the counts that are not nought, matches left out.
func Summary(list []diff.Field) string {
	var parts []string
	for _, c := range []struct {
		v    diff.Verdict
		word string
	}{{diff.Invalid, "invalid"}, {diff.Blocked, "blocked"}, {diff.Differs, "differ"}, {diff.Changed, "changed"},
		{diff.Removed, "removed"}, {diff.Unknown, "unknown"}, {diff.Unverified, "unverified"}} {
		if n := Count(list, c.v); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, c.word))
		}
	}
	return strings.Join(parts, ", ")
}

func role(v diff.Verdict) theme.Role {
	switch v {
	case diff.Invalid, diff.Blocked:
		return theme.Bad
	case diff.Differs, diff.Changed, diff.Removed:
		return theme.Change
	case diff.Unknown, diff.Unverified:
		return theme.Warn
	}
	return theme.Dim
}

// verdict is the word of a field and why.
func verdict(f diff.Field) string {
	word := string(f.Verdict)
	if rank(f) < rank(diff.Field{Verdict: diff.Unknown}) {
		word = strings.ToUpper(word)
	}
	if f.Immutable && (f.Verdict == diff.Differs || f.Verdict == diff.Unknown) {
		word += ", immutable"
	}
	if f.By == diff.ByCloud && f.Verdict == diff.Unverified {
		word = "filled in by the cloud"
	}
	if f.Reason != "" {
		word += ": " + f.Reason
	}
	return word
}

func withoutReason(f diff.Field) diff.Field {
	f.Reason = ""
	return f
}

// Table draws fields in columns. Unless all, matches beyond the third and what the cloud filled in are a count.
func Table(list []diff.Field, width int, all bool) widget.Block {
	if len(list) == 0 {
		return nil
	}
	sorted := Sorted(list)
	path := 8
	for _, f := range sorted {
		path = max(path, widget.Width(string(f.Path)))
	}
	path = min(path, max(width*3/10, 8))
	cell := max((width-path-6)*28/100, 6)
	row := func(r theme.Role, p, desired, observed string, last widget.Span) widget.Line {
		return widget.L(widget.T(theme.Plain, " "), widget.CellTail(r, p, path), widget.T(theme.Plain, "  "), widget.CellTail(r, desired, cell),
			widget.T(theme.Plain, "  "), widget.CellTail(r, observed, cell), widget.T(theme.Plain, "  "), last)
	}
	out := widget.Block{row(theme.Dim, "field", "desired", "observed", widget.T(theme.Dim, "verdict"))}
	matches, folded := 0, 0
	for _, f := range sorted {
		if f.Verdict == diff.Match {
			matches++
		}
		if !all && (filledIn(f) || f.Verdict == diff.Match && matches > 3) {
			folded++
			continue
		}
		within := inside(f)
		word := verdict(f)
		if within != "" {
			word += " inside"
		}
		room := width - path - 2*cell - 7
		if f.Reason != "" && widget.Width(word) > room {
			word = verdict(withoutReason(f))
		}
		out = append(out, row(theme.Plain, string(f.Path), cmp.Or(within, Fit(f.Desired, cell)), Fit(f.Observed, cell), widget.T(role(f.Verdict), word)))
		if f.Reason != "" && widget.Width(verdict(f)) > room {
			out = append(out, widget.Paragraph(theme.Dim, f.Reason, 3, width)...)
		}
	}
	return append(out, fold(folded, "match or are filled in by the cloud")...)
}

func fold(n int, what string) widget.Block {
	if n == 0 {
		return nil
	}
	return widget.Block{widget.L(widget.T(theme.Dim, fmt.Sprintf(" = %d %s; x unfolds", n, what)))}
}

// Sections draws fields grouped by verdict, for a pane of their own.
func Sections(list []diff.Field, width int, all bool) widget.Block {
	var out widget.Block
	sorted := Sorted(list)
	for _, g := range []struct {
		v    diff.Verdict
		head string
	}{{diff.Invalid, "INVALID"}, {diff.Blocked, "BLOCKED"}, {diff.Differs, "DIFFERS"},
		{diff.Changed, "CHANGED"}, {diff.Removed, "REMOVED"}, {diff.Unknown, "UNKNOWN"}} {
		out = append(out, pairs(sorted, g.v, g.head, width, all)...)
	}
	out = append(out, whys(sorted, width)...)
	out = append(out, rest(sorted, "UNVERIFIED, filled in by the cloud", width, all, filledIn)...)
	out = append(out, rest(sorted, "MATCH", width, all, func(f diff.Field) bool { return f.Verdict == diff.Match && !filledIn(f) })...)
	return out
}

// pairs lists desired against observed: in two cells, or as a delta what is more than fits there.
func pairs(list []diff.Field, v diff.Verdict, head string, width int, all bool) widget.Block {
	path := max(width*36/100, 8)
	cell := max((width-path-6)/2, 4)
	var out, cells, deltas widget.Block
	in := func(f diff.Field) bool { return f.Verdict == v && !filledIn(f) }
	together := width >= besideFrom && slices.ContainsFunc(list, func(f diff.Field) bool { return in(f) && deep(f, cell) })
	for _, f := range list {
		if !in(f) {
			continue
		}
		to := &cells
		if together || deep(f, cell) {
			to = &deltas
			deltas = append(deltas, Delta(f, width, all)...)
		} else {
			cells = append(cells, widget.L(widget.T(theme.Plain, "   "), widget.CellTail(theme.Plain, string(f.Path), path), widget.T(theme.Plain, " "),
				widget.CellTail(theme.Strong, Fit(f.Desired, cell), cell), widget.T(theme.Plain, " "), widget.CellTail(theme.Plain, Fit(f.Observed, cell), cell)))
		}
		why := f.Reason
		if f.Immutable && v == diff.Differs {
			why = strings.TrimPrefix(why+"; immutable", "; ")
		}
		if why != "" {
			*to = append(*to, widget.Paragraph(theme.Dim, why, 5, width)...)
		}
	}
	if len(cells) > 0 {
		out = append(widget.Block{widget.L(widget.Cell(role(v), " "+head, path+4), widget.Cell(theme.Dim, "desired", cell), widget.T(theme.Plain, " "),
			widget.Cell(theme.Dim, "observed", cell))}, cells...)
	}
	if len(deltas) > 0 {
		out = append(append(out, deltaHead(role(v), head, len(cells) == 0, width)...), deltas...)
	}
	return spaced(out)
}

// deltaHead stands above deltas: the verdict, unless it was said already, and what signs or columns mean.
func deltaHead(r theme.Role, head string, first bool, width int) widget.Block {
	if !first {
		head = ""
	}
	var out widget.Block
	if width >= besideFrom {
		name, cell := sidesOf(width)
		return append(out, widget.L(widget.Cell(r, " "+head, name), widget.T(theme.Plain, " "), widget.Cell(theme.Dim, "desired", cell+3), widget.T(theme.Dim, "observed")))
	}
	if first {
		out = append(out, widget.L(widget.T(r, " "+head)))
	}
	return append(out, widget.L(widget.T(theme.Dim, "   "+legend)))
}

// whys lists what config sets and no read can show, with the reason.
func whys(list []diff.Field, width int) widget.Block {
	path := max(width*40/100, 8)
	var out widget.Block
	for _, f := range list {
		if f.Verdict != diff.Unverified || filledIn(f) {
			continue
		}
		if out == nil {
			out = widget.Block{widget.L(widget.T(theme.Warn, " UNVERIFIED, set by the config"))}
		}
		why := cmp.Or(f.Reason, "not returned")
		line := widget.L(widget.T(theme.Plain, "   "), widget.CellTail(theme.Plain, string(f.Path), path), widget.T(theme.Plain, " "))
		if widget.Width(why) > width-path-4 {
			out = append(append(out, line), widget.Paragraph(theme.Dim, why, 5, width)...)
			continue
		}
		line.Spans = append(line.Spans, widget.T(theme.Dim, why))
		out = append(out, line)
	}
	return spaced(out)
}

// rest is a count, or with all every line.
func rest(list []diff.Field, head string, width int, all bool, in func(diff.Field) bool) widget.Block {
	var some []diff.Field
	for _, f := range list {
		if in(f) {
			some = append(some, f)
		}
	}
	if len(some) == 0 {
		return nil
	}
	if !all {
		return widget.Block{widget.L(widget.T(theme.Dim, fmt.Sprintf(" %s   %d folded, x", head, len(some))))}
	}
	out := widget.Block{widget.L(widget.T(theme.Dim, " "+head))}
	path := max(width*36/100, 8)
	for _, f := range some {
		text := Text(f.Observed)
		list, flat := inline(f.Observed)
		switch {
		case nested(f.Observed) && flat:
			text = list
		case nested(f.Observed):
			out = append(out, Tree(value.Map{string(f.Path): f.Observed}, 3, width)...)
			if f.Reason != "" {
				out = append(out, widget.Paragraph(theme.Dim, f.Reason, 5, width)...)
			}
			continue
		}
		out = append(out, widget.L(widget.T(theme.Plain, "   "), widget.CellTail(theme.Plain, string(f.Path), path), widget.T(theme.Plain, " "),
			widget.T(theme.Dim, text), widget.T(theme.Dim, strings.TrimSuffix("   "+f.Reason, "   "))))
	}
	return out
}

func spaced(b widget.Block) widget.Block {
	if b == nil {
		return nil
	}
	return append(b, widget.Line{})
}

// Copies are both sides of each field, in the order of reading, at most most of them. What is sensitive is none.
func Copies(list []diff.Field, most int) []screen.Copy {
	var out []screen.Copy
	for _, f := range Sorted(list) {
		for _, side := range []struct {
			word string
			v    value.Value
		}{{"desired", f.Desired}, {"observed", f.Observed}} {
			if k := side.v.Kind(); k == value.Absent || k == value.Null || k == value.Unknown || side.v.HasSensitive() || len(out) >= most {
				continue
			}
			out = append(out, screen.Copy{What: string(f.Path) + " " + side.word, Text: Text(side.v)})
		}
	}
	return out
}
