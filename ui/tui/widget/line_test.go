package widget

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"reclaim/ui/text/clean"
	"reclaim/ui/tui/theme"
)

func TestCutSaysThatSomethingIsMissing(t *testing.T) {
	for why, c := range map[string]struct{ got, want string }{
		"what fits stays": {Cut("orders", 6), "orders"},
		"the end goes":    {Cut("orders-prod", 6), "order…"},
		"the start goes where the end tells more":  {CutTail("/aws/lambda/orders", 8), "…/orders"},
		"half a wide character is none":            {Cut("注文表", 4), "注…"},
		"nor at the start":                         {CutTail("注文表", 4), "…表"},
		"no room is no text":                       {Cut("orders", 0), ""},
		"an escape counts as the text it is shown": {Cut("\x1b[31m", 5), `\x1b…`},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", why, c.got, c.want)
		}
	}
}

func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("aé注👨👩\u200d\u0301🇩🇪…─\x1b[m \t\n\u202e"))))
}

// Whatever the texts are, a line never leaves its width, a cell is exactly as wide as asked, and an overlay keeps the
// columns beside it.
func TestLinesKeepTheirWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, w := anyText().Draw(t, "a"), anyText().Draw(t, "b"), rapid.IntRange(0, 60).Draw(t, "width")
		for _, s := range []Span{Cell(theme.Plain, a, w), CellTail(theme.Plain, a, w)} {
			if got := Width(s.Text); got != w {
				t.Fatalf("cell %q: %d cells, want %d", s.Text, got, w)
			}
		}
		line := Line{Spans: []Span{T(theme.Bad, a), T(theme.Good, b)}, Selected: rapid.Bool().Draw(t, "selected")}
		th, _ := theme.Parse("dark")
		for out := range strings.SplitSeq(Block{line}.Render(th, w, 2), "\n") {
			if got := ansi.StringWidth(out); got > w {
				t.Fatalf("line %q: %d cells, want at most %d", out, got, w)
			}
		}
		x, n := rapid.IntRange(0, 30).Draw(t, "x"), rapid.IntRange(1, 30).Draw(t, "n")
		over := Over(Block{line}, Block{L(T(theme.Plain, b))}, x, 0, n, 60)[0]
		if got := over.Width(); got != 60 {
			t.Fatalf("overlay: %d cells, want 60", got)
		}
	})
}

func TestWrapLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, w := anyText().Draw(t, "text"), rapid.IntRange(2, 40).Draw(t, "width")
		lines := Wrap(text, w)
		for _, l := range lines {
			if Width(l) > w {
				t.Fatalf("line %q is wider than %d", l, w)
			}
		}
		words := strings.Fields(text)
		for i := range words {
			words[i] = clean.Clean(words[i])
		}
		if d := cmp.Diff(strings.Join(words, ""), strings.Join(strings.Fields(strings.Join(lines, " ")), "")); d != "" {
			t.Fatal(d)
		}
	})
}

func TestCursorStaysInViewAndScrollsLittle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Cursor
		for range 30 {
			count, height := rapid.IntRange(0, 50).Draw(t, "count"), rapid.IntRange(0, 12).Draw(t, "height")
			c.Move(rapid.IntRange(-60, 60).Draw(t, "move"), count)
			from, to := c.Window(count, height)
			if from < 0 || to > count || to-from > height || to-from < min(count, height) {
				t.Fatalf("window %d to %d of %d on %d lines", from, to, count, height)
			}
			if to > from && (c.At < from || c.At >= to) {
				t.Fatalf("the cursor, %d, is out of view: %d to %d", c.At, from, to)
			}
		}
	})
}

func TestHeaderDropsFactsBeforeThePlace(t *testing.T) {
	place, facts := "plan › orders-prod", []string{"hold none", "read 38s ago", "7f3a91c2"}
	for why, c := range map[string]struct {
		width int
		want  string
	}{
		"all of it":                     {60, " plan › orders-prod      hold none   read 38s ago   7f3a91c2"},
		"the first fact goes first":     {45, " plan › orders-prod   read 38s ago   7f3a91c2"},
		"the place stays to the last":   {22, " plan › orders-prod   "},
		"and is cut when nothing helps": {12, " plan › ord…"},
	} {
		got := Block{Header(place, facts, c.width)}.Text()
		if strings.TrimRight(got, " \n") != strings.TrimRight(c.want, " ") {
			t.Errorf("%s: got %q, want %q", why, got, c.want)
		}
	}
}
