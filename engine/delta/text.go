package delta

import (
	"unicode"
	"unicode/utf8"
)

// Piece is a part of a text that the other side has too, or has not.
type Piece struct {
	Text    string
	Changed bool
}

// longestText is how much of a text is compared word by word, in bytes; of longer ones only what both sides begin and end
// with is told apart.
const longestText = 16 << 10

// Pieces compares two texts word by word. Texts that have little in common are one changed piece each. The pieces of a
// side put together are that side.
func Pieces(old, new string) (was, is []Piece) {
	if len(old) > longestText || len(new) > longestText {
		return ends(old, new)
	}
	a, b := words(old), words(new)
	pairs := align(len(a), len(b), func(i, j int) bool { return a[i] == b[j] })
	common := 0
	for _, p := range pairs {
		common += len(a[p.a])
	}
	if 3*common < max(len(old), len(new)) {
		return whole(old), whole(new)
	}
	keepA, keepB := make([]bool, len(a)), make([]bool, len(b))
	for _, p := range pairs {
		keepA[p.a], keepB[p.b] = true, true
	}
	return joined(a, keepA), joined(b, keepB)
}

func whole(s string) []Piece {
	if s == "" {
		return nil
	}
	return []Piece{{s, true}}
}

// joined makes pieces of words, as few as possible. A lone separator between two changed words has changed with them.
func joined(words []string, keep []bool) []Piece {
	for i := 1; i+1 < len(words); i++ {
		if keep[i] && !keep[i-1] && !keep[i+1] && !wordy(words[i]) {
			keep[i] = false
		}
	}
	var out []Piece
	for i, w := range words {
		if n := len(out); n > 0 && out[n-1].Changed == !keep[i] {
			out[n-1].Text += w
			continue
		}
		out = append(out, Piece{w, !keep[i]})
	}
	return out
}

func wordy(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return letter(r)
}

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// words splits a text into runs of letters and digits, and single other characters.
func words(s string) []string {
	var out []string
	from := 0
	for i, r := range s {
		if letter(r) {
			continue
		}
		if from < i {
			out = append(out, s[from:i])
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		out = append(out, s[i:i+n])
		from = i + n
	}
	if from < len(s) {
		out = append(out, s[from:])
	}
	return out
}

// ends tells apart what both texts begin with, what they end with, and what lies between.
func ends(old, new string) (was, is []Piece) {
	head := 0
	for head < len(old) && head < len(new) && old[head] == new[head] {
		head++
	}
	for head > 0 && (!starts(old, head) || !starts(new, head)) {
		head--
	}
	tail := 0
	for tail < min(len(old), len(new))-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	for tail > 0 && (!starts(old, len(old)-tail) || !starts(new, len(new)-tail)) {
		tail--
	}
	cut := func(s string) []Piece {
		if head+tail == len(s) && s != "" {
			return joined([]string{s}, []bool{true})
		}
		var out []Piece
		for _, p := range []Piece{{s[:head], false}, {s[head : len(s)-tail], true}, {s[len(s)-tail:], false}} {
			if p.Text != "" {
				out = append(out, p)
			}
		}
		return out
	}
	return cut(old), cut(new)
}

// starts reports whether a character starts at i, or the text ends there.
func starts(s string, i int) bool { return i >= len(s) || utf8.RuneStart(s[i]) }
