// Package clean makes text from outside safe to show: from the cloud, from templates, from errors, from file names.
//
// Its one rule: what comes out holds printable characters and spaces only. Everything that could move a cursor, colour
// the screen, change the reading order or hide is shown as a visible escape, never passed on and never dropped.
package clean

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks may follow one character; more of them would be drawn over other lines.
const maxMarks = 4

// Clean returns s as one line. Control characters become \n, \t or \x1b, bytes that are no UTF-8 become \xff, and
// other characters without a shape of their own (bidi overrides, zero width, C1 controls, separators) become <U+202E>.
// Text that is harmless already comes back unchanged.
func Clean(s string) string {
	if harmless(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	marks := maxMarks // a mark needs a character before it
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
			marks = 0
		case unicode.Is(unicode.M, r) && marks >= maxMarks:
			fmt.Fprintf(&b, "<U+%04X>", r)
		case unicode.Is(unicode.M, r):
			b.WriteRune(r)
			marks++
		default:
			b.WriteString(shown(r))
			marks = 0
		}
		i += n
	}
	return b.String()
}

// Lines splits s at its line ends and cleans each line. It returns at least one line.
func Lines(s string) []string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = Clean(lines[i])
	}
	return lines
}

// harmless is the fast way out: Plain characters only.
func harmless(s string) bool {
	for _, r := range s {
		if !Plain(r) {
			return false
		}
	}
	return true
}

// Plain reports the characters that most text of a screen is made of: printable ASCII, lines and blocks, and a few signs.
// Each is harmless and takes one cell.
func Plain(r rune) bool {
	return r >= 0x20 && r < 0x7f || r >= 0x2500 && r < 0x25a0 || r == '…' || r == '›' || r == '·'
}

func shown(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x20 || r == 0x7f:
		return fmt.Sprintf(`\x%02x`, r)
	case !unicode.IsGraphic(r) || invisible(r):
		return fmt.Sprintf("<U+%04X>", r)
	}
	return string(r)
}

// invisible reports letters that Unicode draws as nothing (the Hangul fillers, braille blank).
func invisible(r rune) bool {
	switch r {
	case 0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0:
		return true
	}
	return false
}
