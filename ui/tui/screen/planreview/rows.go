package planreview

import (
	"cmp"
	"fmt"
	"slices"

	"reclaim/engine/plan"
	"reclaim/ui/tui/theme"
	"reclaim/ui/tui/widget"
)

// row is one line of the list: an item, or the count of what is folded.
type row struct {
	item   *plan.Item
	folded int
	step   int // in the order of running: 1 starts at once
}

// group is where rows that belong together begin.
type group struct {
	first int // row
	head  widget.Line
}

// arrange makes the rows: grouped by action, blocked first, or in the order of running; what does not change is a count
// unless it is unfolded. The cursor stays on its item where that is still there.
func (s *Screen) arrange() {
	here := s.goTo
	if it := s.current(); it != nil && here == (ref{}) {
		here = refOf(it)
	}
	s.rows, s.groups, s.runnable, s.byRef, s.newest = nil, nil, nil, map[ref]*plan.Item{}, map[string]*plan.Item{}
	s.waiting = map[string][]string{}
	if s.plan == nil {
		return
	}
	var shown []*plan.Item
	folded := 0
	for i := range s.plan.Items {
		it := &s.plan.Items[i]
		s.byRef[refOf(it)] = it
		if old := s.newest[it.ID]; old == nil || it.Gen > old.Gen {
			s.newest[it.ID] = it
		}
		if it.CanRun() {
			s.runnable = append(s.runnable, it)
		}
		for _, id := range it.DependsOn {
			s.waiting[id] = append(s.waiting[id], it.ID)
		}
		switch {
		case !s.matches(it):
		case it.Action == plan.Noop && !s.unfolded:
			folded++
		default:
			shown = append(shown, it)
		}
	}
	if s.byStep {
		s.inSteps(shown)
	} else {
		s.inActions(shown)
	}
	if folded > 0 {
		s.groups = append(s.groups, group{first: len(s.rows)})
		s.rows = append(s.rows, row{folded: folded})
	}
	if i := slices.IndexFunc(s.rows, func(r row) bool { return r.item != nil && refOf(r.item) == here }); i >= 0 {
		s.cursor.At = i
	}
	s.goTo = ref{}
	s.cursor.Move(0, len(s.rows))
}

// inActions groups by action; an action that this program does not know stands last.
func (s *Screen) inActions(shown []*plan.Item) {
	of := map[plan.Action][]*plan.Item{}
	order := plan.Actions()
	for _, it := range shown {
		if of[it.Action] == nil && !slices.Contains(order, it.Action) {
			order = append(order, it.Action)
		}
		of[it.Action] = append(of[it.Action], it)
	}
	for _, a := range order {
		mark, role := look(a)
		s.group(of[a], widget.L(widget.T(role, fmt.Sprintf(" %s %d %s", mark, len(of[a]), a))), 0)
	}
}

// inSteps groups by when an item can start at the earliest: what waits for nothing that changes starts at once.
func (s *Screen) inSteps(shown []*plan.Item) {
	steps := s.steps()
	slices.SortStableFunc(shown, func(a, b *plan.Item) int { return cmp.Compare(steps[a], steps[b]) })
	for len(shown) > 0 {
		step, n := steps[shown[0]], 0
		for n < len(shown) && steps[shown[n]] == step {
			n++
		}
		text := fmt.Sprintf(" step %d   %d after step %d", step, n, step-1)
		switch step {
		case 0:
			text = fmt.Sprintf(" unchanged   %d", n)
		case 1:
			text = fmt.Sprintf(" step 1   %d that wait for nothing", n)
		}
		s.group(shown[:n], widget.L(widget.T(theme.Info, text)), step)
		shown = shown[n:]
	}
}

func (s *Screen) group(items []*plan.Item, head widget.Line, step int) {
	if len(items) == 0 {
		return
	}
	s.groups = append(s.groups, group{first: len(s.rows), head: head})
	for _, it := range items {
		s.rows = append(s.rows, row{item: it, step: step})
	}
}

// steps says of each item in which step it can start; 0 for what does not change.
func (s *Screen) steps() map[*plan.Item]int {
	out, open := map[*plan.Item]int{}, map[*plan.Item]bool{}
	var of func(it *plan.Item) int
	of = func(it *plan.Item) int {
		if n, ok := out[it]; ok || it.Action == plan.Noop || open[it] {
			return n
		}
		open[it] = true
		n := 1
		for _, id := range it.DependsOn {
			if d := s.newest[id]; d != nil {
				n = max(n, of(d)+1)
			}
		}
		out[it] = n
		return n
	}
	for i := range s.plan.Items {
		of(&s.plan.Items[i])
	}
	return out
}

// needs are what an item waits for in this plan.
func (s *Screen) needs(it *plan.Item) []string {
	var out []string
	for _, id := range it.DependsOn {
		if d := s.newest[id]; d != nil && d.Action != plan.Noop {
			out = append(out, id)
		}
	}
	return out
}

// waitNote is what the list says of an item in the order of running.
func (s *Screen) waitNote(it *plan.Item) string {
	if needs := s.needs(it); len(needs) > 0 {
		return "after " + some(needs)
	}
	return "waits for nothing"
}

// headingsFrom is the height from which a screen can lose a few lines to headings.
const headingsFrom = 28

// headed reports whether headings tell more than they cost: the counts stand above the list already.
func (s *Screen) headed() bool { return s.byStep || len(s.rows) > 4*len(s.groups) }

// lines draws the rows in view, with a heading above each group.
func (s *Screen) lines(height int, headings bool, draw func(i int) widget.Line) widget.Block {
	if !headings {
		var out widget.Block
		from, to := s.cursor.Window(len(s.rows), height)
		for i := from; i < to; i++ {
			out = append(out, draw(i))
		}
		return out
	}
	above := func(row int) (n int) { // headings above a row
		for _, g := range s.groups {
			if g.first <= row && len(g.head.Spans) > 0 {
				n++
			}
		}
		return n
	}
	s.window.At = s.cursor.At + above(s.cursor.At)
	from, to := s.window.Window(len(s.rows)+above(len(s.rows)), height)
	var out widget.Block
	line := from
	row := max(from-len(s.groups), 0)
	for row < len(s.rows) && row+above(row) < from {
		row++
	}
	for ; line < to; line++ {
		if row < len(s.rows) && row+above(row) == line {
			out = append(out, draw(row))
			row++
			continue
		}
		i := slices.IndexFunc(s.groups, func(g group) bool { return g.first == row })
		out = append(out, s.groups[i].head)
	}
	return out
}
