package widget

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"reclaim/ui/text/clean"
	"reclaim/ui/tui/theme"
)

// Holds reports whether a text, as the screen shows it, holds what is looked for; A and a are one letter.
func Holds(text, part string) bool {
	return strings.Contains(lower(clean.Clean(text)), lower(part))
}

// lower folds the ASCII letters, so that a place in the result is the same place in s.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// Next returns the next of count rows after at (dir 1), or before it (-1), for which match holds, going on from the
// other end; and which of how many it is: 0 of 0 when there is none.
func Next(count, at, dir int, match func(row int) bool) (row, n, of int) {
	row = at
	best := count + 1
	for i := range count {
		if !match(i) {
			continue
		}
		of++
		away := ((i-at)*dir + 2*count) % count // at itself comes last
		if away == 0 {
			away = count
		}
		if away < best {
			best, row, n = away, i, of
		}
	}
	return row, n, of
}

// Find scrolls to the next line that holds text, as Next does.
func (s *Scroll) Find(b Block, text string, dir int) (n, of int) {
	at := s.found - 1
	if s.found == 0 {
		at = s.top - 1
		if dir < 0 {
			at = s.top
		}
	}
	row, n, of := Next(len(b), max(at, -1), dir, func(i int) bool { return Holds(b[i].text(), text) })
	if of > 0 {
		s.top, s.found = max(row-2, 0), row+1 // with a little of what stands before it
	}
	return n, of
}

func (l Line) text() string {
	var b strings.Builder
	for _, s := range l.Spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Highlight returns b with every part that holds text in the look of what is chosen.
func Highlight(b Block, text string) Block {
	if text == "" {
		return b
	}
	out := make(Block, len(b))
	for i, l := range b {
		out[i] = l
		if l.Selected || !Holds(l.text(), text) {
			continue
		}
		out[i].Spans = nil
		for _, s := range l.Spans {
			out[i].Spans = append(out[i].Spans, highlit(s, text)...)
		}
	}
	return out
}

func highlit(s Span, text string) []Span {
	var out []Span
	part, rest := lower(text), clean.Clean(s.Text)
	for from := 0; ; {
		i := strings.Index(lower(rest[from:]), part)
		if i < 0 {
			return append(out, T(s.Role, rest))
		}
		i += from
		end := i + len(part)
		if joins(rest[i:]) || joins(rest[end:]) { // a mark away from its letter would be shown as a character of its own
			from = end
			continue
		}
		out = append(out, T(s.Role, rest[:i]), T(theme.Selected, rest[i:end]))
		rest, from = rest[end:], 0
	}
}

// joins reports whether text begins with what belongs to the letter before it.
func joins(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.Is(unicode.M, r) || r == '\u200d'
}
