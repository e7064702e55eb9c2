package widget

import (
	"fmt"
	"strings"

	"reclaim/ui/tui/theme"
)

// RuleLine is a line between two parts of a screen. note stands near its right end.
func RuleLine(width int, note string) Line {
	if note == "" {
		return L(T(theme.Rule, strings.Repeat("─", max(width, 0))))
	}
	note = " " + Cut(note, max(width-4, 0)) + " "
	return L(T(theme.Rule, strings.Repeat("─", max(width-1-Width(note), 0))), T(theme.Dim, note), T(theme.Rule, "─"))
}

// CommandLine is the rule above the footer. It holds the command that would do the same as the screen.
func CommandLine(command string, width int) Line {
	if command == "" || width < 12 {
		return RuleLine(width, "")
	}
	label := " same as: "
	text := Cut(command, max(width-3-Width(label), 0)) + " "
	fill := max(width-1-Width(label)-Width(text), 0)
	return L(T(theme.Rule, "─"), T(theme.Dim, label), T(theme.Info, text), T(theme.Rule, strings.Repeat("─", fill)))
}

// leastPlace is how much of the place stays while there are facts to show.
const leastPlace = 40

// Header is the first line: where we are on the left, what must be known on the right. When there is no room for all
// of it, the place is cut to half of a usual line; then facts go, from the left; the place is cut further last.
func Header(place string, facts []string, width int) Line {
	room := width - 1
	least := min(Width(place), max(room/2, leastPlace))
	for len(facts) > 0 && least+2+factsWidth(facts) > room {
		facts = facts[1:]
	}
	if len(facts) > 0 {
		place = Cut(place, room-2-factsWidth(facts))
	}
	right := strings.Join(facts, "   ")
	place = Cut(place, max(room, 0))
	gap := max(room-Width(place)-Width(right), 0)
	return L(T(theme.Plain, " "), T(theme.Title, place), T(theme.Plain, strings.Repeat(" ", gap)), T(theme.Dim, right))
}

func factsWidth(facts []string) int {
	n := 3 * (len(facts) - 1)
	for _, f := range facts {
		n += Width(f)
	}
	return n
}

// Count is "1 record", "3 records"; the plural is made with an s.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Panel lays a framed text over the middle of base.
func Panel(base, content Block, width, height int) Block {
	w := 0
	for _, l := range content {
		w = max(w, l.Width())
	}
	w = min(w+4, width)
	inner := max(w-4, 0)
	framed := Block{L(T(theme.Rule, "╭"+strings.Repeat("─", max(w-2, 0))+"╮"))}
	for _, l := range content {
		l = l.Truncate(inner).fit(0, inner)
		spans := append([]Span{T(theme.Rule, "│ ")}, l.Spans...)
		framed = append(framed, L(append(spans, T(theme.Rule, " │"))...))
	}
	framed = append(framed, L(T(theme.Rule, "╰"+strings.Repeat("─", max(w-2, 0))+"╯")))
	return Over(base.Head(height), framed, max((width-w)/2, 0), max((height-len(framed))/2, 0), w, width)
}
