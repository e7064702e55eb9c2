package widget

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"reclaim/ui/text/clean"
	"reclaim/ui/tui/theme"
)

func TestNextGoesRoundAllThatMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Bool(), 1, 20).Draw(t, "rows")
		start, dir := rapid.IntRange(0, len(rows)-1).Draw(t, "at"), rapid.SampledFrom([]int{1, -1}).Draw(t, "dir")
		want := 0
		for _, m := range rows {
			if m {
				want++
			}
		}
		seen, at := map[int]bool{}, start
		for range want {
			row, n, of := Next(len(rows), at, dir, func(i int) bool { return rows[i] })
			if of != want || !rows[row] || n < 1 || n > of || seen[row] {
				t.Fatalf("from %d: row %d, %d of %d; %d match", at, row, n, of, want)
			}
			seen[row], at = true, row
		}
		if row, n, of := Next(len(rows), start, dir, func(int) bool { return false }); row != start || n != 0 || of != 0 {
			t.Fatalf("nothing matches: row %d, %d of %d", row, n, of)
		}
	})
}

func TestScrollFindsEveryLineOnce(t *testing.T) {
	var page Block
	for _, text := range []string{"a role", "b", "c", "another Role", "d", "e", "the last role"} {
		page = append(page, L(T(theme.Plain, text[:1]), T(theme.Strong, text[1:])))
	}
	var s Scroll
	for i, want := range []int{1, 2, 3, 1} { // at its end a page scrolls no further, and still the next one is another
		n, of := s.Find(page, "ROLE", 1)
		s.Window(page, 3)
		if n != want || of != 3 {
			t.Errorf("step %d: %d of %d, want %d of 3", i, n, of, want)
		}
	}
	if n, _ := s.Find(page, "role", -1); n != 3 {
		t.Errorf("before the first is the last, not %d", n)
	}
	if n, of := s.Find(page, "xyzzy", 1); n != 0 || of != 0 {
		t.Errorf("got %d of %d", n, of)
	}
}

// Marking what was found changes no letter, whatever the texts are.
func TestHighlightKeepsTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, part := anyText().Draw(t, "text"), anyText().Draw(t, "part")
		b := Block{L(T(theme.Plain, text), T(theme.Bad, text))}
		got := Highlight(b, part)
		if clean.Clean(got.Text()) != clean.Clean(b.Text()) {
			t.Fatalf("%q became %q", b.Text(), got.Text())
		}
	})
	marked := Highlight(Block{L(T(theme.Dim, "IAM::Role of orders"))}, "role")[0].Spans
	if len(marked) != 3 || marked[1] != T(theme.Selected, "Role") || marked[0].Role != theme.Dim {
		t.Errorf("got %v", marked)
	}
}

func TestFlowLosesNothingAndFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, width := anyText().Draw(t, "a"), anyText().Draw(t, "b"), rapid.IntRange(12, 40).Draw(t, "width")
		var got strings.Builder
		for _, l := range Flow([]Span{T(theme.Plain, a), T(theme.Bad, b)}, width) {
			if l.Width() > width {
				t.Fatalf("a line of %d cells, want at most %d", l.Width(), width)
			}
			got.WriteString(l.text())
		}
		if got.String() != clean.Clean(a)+clean.Clean(b) {
			t.Fatalf("%q and %q became %q", a, b, got.String())
		}
	})
}
