// Package widget draws the parts that screens are made of: lines, lists, tables, dialogs, header and footer.
//
// Its one rule: a screen is described as lines of text with roles, and only Block.Render makes terminal output of it.
// Render cleans every text and fits every line, so that no text from outside can leave its place and no screen can
// be wider than the terminal.
package widget

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"reclaim/ui/text/clean"
	"reclaim/ui/tui/theme"
)

// Span is text with one role. The text may come from anywhere.
type Span struct {
	Role theme.Role
	Text string
}

// Line is one line of a screen.
type Line struct {
	Spans    []Span
	Selected bool // the line under the cursor: drawn in one look over the whole width
}

// Block is consecutive lines.
type Block []Line

// L makes a line.
func L(spans ...Span) Line { return Line{Spans: spans} }

// T makes a span.
func T(r theme.Role, text string) Span { return Span{Role: r, Text: text} }

// Width returns how many terminal cells s takes once it is cleaned.
func Width(s string) int {
	if n, ok := narrow(s); ok {
		return n
	}
	return ansi.StringWidth(clean.Clean(s))
}

// narrow returns the number of characters of a text that takes one cell for each, which is most of them.
func narrow(s string) (n int, ok bool) {
	for _, r := range s {
		if !clean.Plain(r) {
			return 0, false
		}
		n++
	}
	return n, true
}

// Cell makes a span of exactly width cells: longer text is cut at its end and marked with an ellipsis.
func Cell(r theme.Role, text string, width int) Span { return T(r, pad(Cut(text, width), width)) }

// CellTail is Cell for text whose end tells more than its start: names, ARNs, paths.
func CellTail(r theme.Role, text string, width int) Span {
	return T(r, pad(CutTail(text, width), width))
}

// Cut returns text cleaned and cut to at most width cells, its end replaced by an ellipsis.
func Cut(text string, width int) string {
	text = bounded(text, width)
	if Width(text) <= width {
		return clean.Clean(text)
	}
	if width <= 0 {
		return ""
	}
	head, _ := split(clean.Clean(text), width-1)
	return head + "…"
}

// CutTail returns text cleaned and cut to at most width cells, its start replaced by an ellipsis.
func CutTail(text string, width int) string {
	text = clean.Clean(text)
	w := Width(text)
	if w <= width {
		return text
	}
	if width <= 0 {
		return ""
	}
	_, tail := split(text, w-width+1)
	for Width(tail) > width-1 { // a wide character lay across the cut
		_, n := ansi.FirstGraphemeCluster(tail, ansi.GraphemeWidth)
		_, tail = split(tail, max(n, 1))
	}
	return "…" + tail
}

// bounded drops what can never be shown, so that a megabyte of policy costs no more than a line of it.
func bounded(text string, width int) string {
	limit := 32*max(width, 0) + 64
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// split divides clean text after at most width cells.
func split(text string, width int) (head, tail string) {
	if width <= 0 {
		return "", text
	}
	if n, ok := narrow(text); ok {
		if n <= width {
			return text, ""
		}
		if n == len(text) {
			return text[:width], text[width:]
		}
	}
	used, at := 0, 0
	for at < len(text) {
		cluster, n := ansi.FirstGraphemeCluster(text[at:], ansi.GraphemeWidth)
		if used+n > width || cluster == "" {
			break
		}
		used, at = used+n, at+len(cluster)
	}
	return text[:at], text[at:]
}

// Flow breaks spans into lines of at most width cells, wherever the width ends. It returns at least one line.
func Flow(spans []Span, width int) []Line {
	width = max(width, 2) // the widest character
	out, used := []Line{{}}, 0
	for _, s := range spans {
		for rest := clean.Clean(s.Text); rest != ""; {
			head, tail := split(rest, width-used)
			if head == "" && used == 0 { // a cluster wider than any line
				cluster, _ := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
				head, tail = cluster, rest[len(cluster):]
			}
			if head != "" {
				last := &out[len(out)-1]
				last.Spans, used = append(last.Spans, T(s.Role, head)), used+Width(head)
			}
			if rest = tail; rest != "" {
				out, used = append(out, Line{}), 0
			}
		}
	}
	return out
}

func pad(text string, width int) string {
	if n := width - Width(text); n > 0 {
		return text + strings.Repeat(" ", n)
	}
	return text
}

// Width returns how many cells the line takes.
func (l Line) Width() int {
	n := 0
	for _, s := range l.Spans {
		n += Width(s.Text)
	}
	return n
}

// fit returns the line's cells from from to to, exactly that many: wide characters at the edges become spaces.
func (l Line) fit(from, to int) Line {
	out := Line{Selected: l.Selected}
	at := 0
	for _, s := range l.Spans {
		text := clean.Clean(s.Text)
		w := Width(text)
		if at+w <= from || at >= to {
			at += w
			continue
		}
		rest := text
		if skip := from - at; skip > 0 {
			var head string
			head, rest = split(text, skip)
			if short := skip - Width(head); short > 0 {
				cluster, n := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
				rest = strings.Repeat(" ", max(n-short, 0)) + rest[len(cluster):]
			}
		}
		head, _ := split(rest, to-max(at, from))
		out.Spans = append(out.Spans, T(s.Role, head))
		at += w
	}
	if n := (to - from) - out.Width(); n > 0 {
		out.Spans = append(out.Spans, T(theme.Plain, strings.Repeat(" ", n)))
	}
	return out
}

// Truncate returns the line cut to at most width cells, marked with an ellipsis where something is missing.
func (l Line) Truncate(width int) Line {
	if l.Width() <= width {
		return l
	}
	if width <= 0 {
		return Line{Selected: l.Selected}
	}
	out := l.fit(0, width-1)
	out.Spans = append(out.Spans, T(theme.Dim, "…"))
	return out
}

// render returns the line as terminal output of at most width cells.
func (l Line) render(t theme.Theme, width int) string {
	l = l.Truncate(width)
	if l.Selected {
		l = l.fit(0, width).marked()
	}
	var b strings.Builder
	for _, s := range l.Spans {
		b.WriteString(t.Style(s.Role, clean.Clean(s.Text)))
	}
	return b.String()
}

// marked returns the line with the look of the selected line on every part.
func (l Line) marked() Line {
	out := Line{Spans: make([]Span, len(l.Spans))}
	for i, s := range l.Spans {
		out.Spans[i] = T(theme.Selected, s.Text)
	}
	return out
}

// Render returns terminal output of exactly height lines, none wider than width.
func (b Block) Render(t theme.Theme, width, height int) string {
	var out strings.Builder
	for i := range height {
		if i > 0 {
			out.WriteByte('\n')
		}
		if i < len(b) {
			out.WriteString(b[i].render(t, width))
		}
	}
	return out.String()
}

// Text returns the block as plain text, for tests and for copying.
func (b Block) Text() string {
	var out strings.Builder
	for _, l := range b {
		for _, s := range l.Spans {
			out.WriteString(clean.Clean(s.Text))
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// Head returns the first n lines, filled up with empty ones to exactly n.
func (b Block) Head(n int) Block {
	n = max(n, 0)
	out := make(Block, n)
	copy(out, b)
	return out
}

// Over returns base with top laid over it at column x and line y; top is drawn width cells wide.
func Over(base, top Block, x, y, width, total int) Block {
	out := append(Block(nil), base...)
	for i, l := range top {
		if y+i < 0 || y+i >= len(out) {
			continue
		}
		below := out[y+i]
		var spans []Span
		spans = append(spans, below.fit(0, x).Spans...)
		spans = append(spans, l.Truncate(width).fit(0, width).Spans...)
		spans = append(spans, below.fit(x+width, max(total, x+width)).Spans...)
		out[y+i] = Line{Spans: spans}
	}
	return out
}

// Beside puts two blocks side by side: left is left cells wide, a vertical rule between them.
func Beside(a, b Block, left, height int) Block {
	out := make(Block, height)
	for i := range out {
		var l, r Line
		if i < len(a) {
			l = a[i]
		}
		if i < len(b) {
			r = b[i]
		}
		l = l.Truncate(left).fit(0, left)
		if l.Selected {
			l = l.marked()
		}
		l.Spans = append(l.Spans, T(theme.Rule, "│"))
		out[i] = L(append(l.Spans, r.Spans...)...)
	}
	return out
}
