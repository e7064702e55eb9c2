package recovery

import (
	tea "charm.land/bubbletea/v2"

	"reclaim/engine/recovery"
	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/screen/fields"
	"reclaim/ui/tui/widget"
)

// kept is the record that was looked at.
type kept struct{ id string }

// Keep and Restore: see screen.Keeper. A record that the screen is opened for goes before the one that was looked at.
func (s *Screen) Keep() any {
	if f := s.current(); f != nil {
		return kept{f.ID}
	}
	return kept{}
}

func (s *Screen) Restore(was any) {
	if k, ok := was.(kept); ok && s.first == "" {
		s.first = k.id
	}
}

// takeBack drops the choice of the record on the screen.
func (s *Screen) takeBack() tea.Cmd {
	f := s.current()
	if f == nil {
		return notice("Nothing is uncertain; there is nothing to take back.")
	}
	d, ok := s.decided[refOf(f)]
	if !ok {
		return notice("Nothing to take back here: nothing is chosen for %s.", f.ID)
	}
	delete(s.decided, refOf(f))
	return notice("Taken back: %s of %s.", d.option.Choice, f.ID)
}

// Find goes to the next line of the page that holds text; in the stepper, to the next record.
func (s *Screen) Find(fr screen.Frame, text string, dir int) (n, of int) {
	cur := s.current()
	if cur != nil && s.page != pageStep {
		return s.scroll.Find(s.pageOf(cur, fr), text, dir)
	}
	row, n, of := widget.Next(len(s.list), s.at, dir, func(i int) bool {
		f := &s.list[i]
		return widget.Holds(f.ID+"\n"+f.Type+"\n"+f.Physical+"\n"+string(f.Verdict)+"\n"+f.Summary, text)
	})
	s.at = row
	return n, of
}

// pageOf is the page to read that is open.
func (s *Screen) pageOf(cur *recovery.Finding, f screen.Frame) widget.Block {
	if s.page == pageAll {
		return s.all(cur, f)
	}
	return append(title(cur, f.Width), s.candidates(cur, f)...)
}

// mostCopies bounds the list of what can be copied.
const mostCopies = 400

// Copies are what names the record and each candidate, and both sides of the fields of these.
func (s *Screen) Copies() []screen.Copy {
	f := s.current()
	if f == nil {
		return nil
	}
	out := []screen.Copy{{What: "physical ID", Text: f.Physical}, {What: "logical ID", Text: f.ID}}
	for _, c := range f.Candidates {
		if c.Physical != f.Physical {
			out = append(out, screen.Copy{What: "candidate", Text: c.Physical})
		}
	}
	for _, c := range f.Candidates {
		out = append(out, fields.Copies(c.Fields, mostCopies-len(out))...)
	}
	return out
}
