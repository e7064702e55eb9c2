package template

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"reclaim/engine/value"
)

// Problem is one error of a template, with its place. Text from the template is quoted in it, never raw, and the text
// of a sensitive value is never in it.
type Problem struct {
	File  string `json:"file"`
	Line  int    `json:"line"`            // from 1
	Col   int    `json:"col"`             // from 1, in characters
	Where string `json:"where,omitempty"` // Resources.OrdersRole.Properties.Path
	Text  string `json:"text"`            // what is wrong
	Hint  string `json:"hint,omitempty"`  // the next step
}

// String is "file:line:col: Where: text. hint".
func (p Problem) String() string {
	s := fmt.Sprintf("%s:%d:%d: ", printable(p.File), p.Line, p.Col)
	if p.Where != "" {
		s += p.Where + ": "
	}
	s += p.Text
	if p.Hint != "" {
		s += ". " + p.Hint
	}
	return s
}

// Problems are all the errors that were found, in the order of the file.
type Problems []Problem

// Error prints every problem on a line of its own.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// maxProblems is how many problems are collected; a broken file can have millions.
const maxProblems = 1000

// full reports whether there is no point in collecting more.
func (ps Problems) full() bool { return len(ps) >= maxProblems }

// sorted returns the problems in the order of the file without repeats, nil when there are none.
func (ps Problems) sorted() error {
	if len(ps) == 0 {
		return nil
	}
	if ps.full() {
		last := ps[len(ps)-1]
		last.Text, last.Hint = "more problems follow and are not listed", "Correct these first"
		ps = append(ps[:maxProblems-1:maxProblems-1], last)
	}
	ps = slices.Clone(ps)
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return slices.Compact(ps)
}

// longest is how much of a text from outside a message quotes, in characters.
const longest = 80

// quote shows text from outside.
func quote(s string) string {
	if utf8.RuneCountInString(s) > longest {
		return strconv.Quote(string([]rune(s)[:longest])) + "…"
	}
	return strconv.Quote(s)
}

// show is quote for a value: never the text of a sensitive one.
func show(v value.Value) string {
	if v.HasSensitive() {
		return "(sensitive)"
	}
	switch v.Kind() {
	case value.String:
		return quote(v.Reveal())
	case value.Absent:
		return "AWS::NoValue"
	case value.List, value.Object:
		return "a " + strings.Replace(v.Kind().String(), "object", "map", 1)
	default:
		return printable(v.String())
	}
}

// printable escapes what a terminal would act on.
func printable(s string) string {
	q := strconv.Quote(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

// did offers the name nearest to what was written, "" when none is near.
func did(name string, names []string) string {
	if n := Nearest(name, names); n != "" {
		return "Did you mean " + n + "?"
	}
	return ""
}

// maxCompared is how many names are compared with one that is unknown: comparing takes time.
const maxCompared = 2000

// Nearest returns the known name at most three edits, and a third of its length, from what was written, ignoring case;
// "" when none is.
func Nearest(name string, names []string) string {
	best, found := min(len(name)/3, 3), ""
	if len(name) > 255 || len(names) > maxCompared {
		return ""
	}
	for _, n := range slices.Sorted(slices.Values(names)) {
		if d := distance(strings.ToLower(name), strings.ToLower(n)); d < best || d == best && found == "" {
			best, found = d, n
		}
	}
	return found
}

// distance is the number of insertions, deletions, substitutions and swaps of neighbours between a and b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, prev, cur := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		cur[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(y)]
}
