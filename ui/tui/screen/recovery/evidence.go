package recovery

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"reclaim/engine/recovery"
	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/theme"
	"reclaim/ui/tui/widget"
)

// sides are the sides of evidence in reading order; each is shown, with a dash when there is none.
var sides = []struct {
	side recovery.Side
	role theme.Role
}{{recovery.For, theme.Good}, {recovery.Neutral, theme.Plain}, {recovery.Against, theme.Bad}, {recovery.Missing, theme.Warn}}

// sideWidth is the column that names the side.
const sideWidth = 9

// fact is one line of evidence on the screen.
type fact struct {
	side   int // index of sides
	about  string
	text   string
	source string
	when   string
	count  int  // lines of evidence it stands for; 0: a dash
	apart  bool // it holds for one candidate and not for the others
	rank   int  // what is kept longest first
}

// Ranks of facts. What speaks against an object and what is missing goes last, even when there is none of it.
const (
	rankKept  = iota // the first against and the first missing
	rankFor          // the strongest for, and what is for one candidate only
	rankDoubt        // more against and missing, and what else sets candidates apart
	rankRest
	rankNeutral
	rankNone // a dash that says nothing of weight
)

// evidence draws the evidence on at most height lines. What is left out is counted for each side.
func evidence(f *recovery.Finding, fr screen.Frame, height int) widget.Block {
	if full := wholeEvidence(f, fr); len(full) <= height {
		return full
	}
	list := facts(f, fr, several(f))
	if height < 4 && len(list) > height {
		return counts(f, fr, list, height)
	}
	list = slices.DeleteFunc(list, func(x fact) bool { return x.rank == rankNone && len(list) > height })
	hidden := map[int]int{}
	if len(list) > height {
		slices.SortStableFunc(list, func(a, b fact) int { return cmp.Compare(a.rank, b.rank) })
		for _, x := range list[height-1:] {
			hidden[x.side] += x.count
		}
		list = list[:height-1]
		slices.SortStableFunc(list, func(a, b fact) int { return cmp.Compare(a.side, b.side) })
	}
	out := draw(list, fr)
	var more []string
	for i, sd := range sides {
		if hidden[i] > 0 {
			more = append(more, fmt.Sprintf("+%d %s", hidden[i], sd.side))
		}
	}
	if len(more) > 0 {
		out = append(out, widget.L(widget.T(theme.Dim, " … "+join(more)+"; enter shows all")))
	}
	return out
}

// counts is all that fits where there is next to no room: what weighs most, then how much there is on each side.
func counts(f *recovery.Finding, fr screen.Frame, list []fact, height int) widget.Block {
	if height <= 0 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b fact) int { return cmp.Compare(a.rank, b.rank) })
	list = slices.DeleteFunc(list, func(x fact) bool { return x.count == 0 || x.rank > rankFor })
	out := draw(list[:min(len(list), height-1)], fr)
	spans := []widget.Span{widget.T(theme.Plain, " ")}
	for _, sd := range sides {
		n := 0
		for _, l := range f.Lines {
			if l.Side == sd.side {
				n++
			}
		}
		word := "-"
		if n > 0 {
			word = fmt.Sprint(n)
		}
		spans = append(spans, widget.T(sd.role, string(sd.side)+" "+word+"  "))
	}
	return append(out, widget.L(append(spans, widget.T(theme.Dim, "enter shows all"))...))
}

// several reports whether the evidence is about more than one candidate.
func several(f *recovery.Finding) bool {
	return len(f.Candidates) > 1 && slices.ContainsFunc(f.Lines, func(l recovery.Line) bool { return l.Candidate > 1 })
}

// candidateName is the number and the ID of a candidate, the same wherever one is named.
func candidateName(f *recovery.Finding, n int) string {
	for _, c := range f.Candidates {
		if c.N == n {
			return fmt.Sprintf("%d %s", n, c.Physical)
		}
	}
	return fmt.Sprint(n)
}

// wholeEvidence is every line. With several candidates, what holds for all of them stands once, then each one's own.
func wholeEvidence(f *recovery.Finding, fr screen.Frame) widget.Block {
	if !several(f) {
		return draw(facts(f, fr, false), fr)
	}
	var out widget.Block
	for _, g := range groups(f) {
		out = append(out, widget.L(widget.T(theme.Strong, " "+g.name)))
		out = append(out, draw(slices.DeleteFunc(facts(g.of, fr, false), func(x fact) bool {
			return x.count == 0 && !slices.Contains(g.dashes, sides[x.side].side)
		}), fr)...)
	}
	return out
}

// group is the evidence of one candidate, of all of them, or of the create; dashes are sides it says nothing on.
type group struct {
	name   string
	of     *recovery.Finding
	dashes []recovery.Side
}

// groups are the parts of the evidence of several candidates.
func groups(f *recovery.Finding) []group {
	var out []group
	shared := map[recovery.Line]bool{}
	part := func(name string, dashes []recovery.Side, in func(recovery.Line) bool) {
		of := *f
		of.Lines = slices.DeleteFunc(slices.Clone(f.Lines), func(l recovery.Line) bool { return !in(l) })
		if len(of.Lines) > 0 || len(dashes) > 0 {
			out = append(out, group{name, &of, dashes})
		}
	}
	for _, l := range f.Lines {
		if l.Candidate > 0 && everyCandidate(f, l) {
			shared[l] = true
		}
	}
	none := []recovery.Side{recovery.Against, recovery.Missing}
	none = slices.DeleteFunc(none, func(sd recovery.Side) bool {
		return slices.ContainsFunc(f.Lines, func(l recovery.Line) bool { return shared[l] && l.Side == sd })
	})
	part(everyone(f), nil, func(l recovery.Line) bool { return shared[l] && l.Candidate == f.Candidates[0].N })
	for _, c := range f.Candidates {
		part(candidateName(f, c.N), none, func(l recovery.Line) bool { return l.Candidate == c.N && !shared[l] })
	}
	part("the create itself", nil, func(l recovery.Line) bool { return l.Candidate == 0 })
	return out
}

// everyCandidate reports whether a line is said of each candidate.
func everyCandidate(f *recovery.Finding, l recovery.Line) bool {
	for _, c := range f.Candidates {
		if !slices.ContainsFunc(f.Lines, func(o recovery.Line) bool { return o.Candidate == c.N && o.Side == l.Side && o.Text == l.Text }) {
			return false
		}
	}
	return true
}

// everyone names all candidates.
func everyone(f *recovery.Finding) string {
	if n := len(f.Candidates); n > 2 {
		return fmt.Sprintf("all %d", n)
	}
	return "both"
}

// facts are the lines of evidence by side. With joined, all that one side says of one candidate is one line.
func facts(f *recovery.Finding, fr screen.Frame, joined bool) []fact {
	var out []fact
	for i, sd := range sides {
		var own []fact
		if joined {
			own = perCandidate(f, fr, i)
		}
		for _, l := range f.Lines {
			if l.Side == sd.side && !(joined && l.Candidate > 0) {
				own = append(own, fact{side: i, text: l.Text, source: l.Source, when: when(l, fr.Now), count: 1})
			}
		}
		if own == nil {
			own = []fact{{side: i, text: "-"}}
		}
		for n := range own {
			own[n].rank = rank(sd.side, own[n], n)
		}
		out = append(out, own...)
	}
	return out
}

func rank(side recovery.Side, x fact, n int) int {
	switch {
	case side == recovery.Neutral && x.count == 0:
		return rankNone
	case side == recovery.For && (n == 0 || x.apart):
		return rankFor
	case side == recovery.Neutral && x.apart:
		return rankDoubt
	case side == recovery.Neutral:
		return rankNeutral
	case side == recovery.For:
		return rankRest
	case n == 0:
		return rankKept
	}
	return rankDoubt
}

// perCandidate says once what holds for every candidate, and then what sets each apart. A line holds as many reasons
// as fit, and the count of the others.
func perCandidate(f *recovery.Finding, fr screen.Frame, side int) []fact {
	var out []fact
	for i, g := range groups(f) {
		var own []string
		for _, l := range g.of.Lines {
			if l.Candidate > 0 && l.Side == sides[side].side {
				own = append(own, l.Text)
			}
		}
		if len(own) == 0 {
			continue
		}
		about := g.name + ": "
		x := fact{side: side, about: about, text: fitting(own, fr.Width-sideWidth-2-widget.Width(about)), count: len(own), apart: true}
		if i == 0 && g.name == everyone(f) {
			x.count, x.apart = len(own)*len(f.Candidates), false
		}
		out = append(out, x)
	}
	return out
}

// fitting joins the texts that fit a width, in their order; the others are a count.
func fitting(texts []string, width int) string {
	all := strings.Join(texts, "; ")
	if widget.Width(all) <= width || len(texts) == 1 {
		return all
	}
	width -= len("; +99")
	text, left := "", 0
	for _, t := range texts {
		switch more := strings.TrimPrefix(text+"; "+t, "; "); {
		case widget.Width(more) <= width:
			text = more
		default:
			left++
		}
	}
	if text == "" {
		text, left = widget.Cut(texts[0], max(width, 1)), left-1
	}
	return fmt.Sprintf("%s; +%d", text, left)
}

// leastSource is how far the sources are cut before the evidence itself is.
const leastSource = 12

// draw lays facts out: side, what it says, where that comes from, and how old it is.
func draw(list []fact, fr screen.Frame) widget.Block {
	text, source, age := 0, 0, 0
	for _, x := range list {
		if x.about != "" || x.count == 0 {
			continue
		}
		text, source, age = max(text, widget.Width(x.text)), max(source, widget.Width(x.source)), max(age, widget.Width(x.when))
	}
	if fr.Width < 64 {
		source = 0
	}
	room := fr.Width - 2 - sideWidth
	source = min(source, max(room-text-age-4, leastSource))
	text = max(min(text, room-source-age-4), 8)
	var out widget.Block
	for _, x := range list {
		sd := sides[x.side]
		spans := []widget.Span{widget.T(theme.Plain, " "), widget.Cell(sd.role, string(sd.side), sideWidth)}
		switch {
		case x.count == 0:
			spans = append(spans, widget.T(theme.Dim, "-"))
		case x.about != "":
			spans = append(spans, widget.T(theme.Strong, x.about), widget.T(theme.Plain, x.text))
		default:
			spans = append(spans, widget.Cell(theme.Plain, x.text, text), widget.T(theme.Plain, "  "))
			if source > 0 {
				spans = append(spans, widget.Cell(theme.Dim, x.source, source), widget.T(theme.Plain, "  "))
			}
			spans = append(spans, widget.T(theme.Dim, x.when))
		}
		out = append(out, widget.L(spans...))
	}
	return out
}

func when(l recovery.Line, now time.Time) string {
	switch {
	case l.Seq > 0:
		return fmt.Sprintf("seq %d", l.Seq)
	case l.At.IsZero():
		return ""
	}
	return screen.Age(now, l.At)
}
