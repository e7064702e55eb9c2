package planreview

import (
	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/screen/fields"
	"reclaim/ui/tui/widget"
)

// kept is how the plan was looked at.
type kept struct {
	filter                   string
	unfolded, zoomed, byStep bool
	at                       ref
}

// Keep and Restore: see screen.Keeper.
func (s *Screen) Keep() any {
	k := kept{filter: s.filter, unfolded: s.unfolded, zoomed: s.zoomed, byStep: s.byStep}
	if it := s.current(); it != nil {
		k.at = refOf(it)
	}
	return k
}

func (s *Screen) Restore(was any) {
	if k, ok := was.(kept); ok {
		s.filter, s.unfolded, s.zoomed, s.byStep, s.goTo = k.filter, k.unfolded, k.zoomed, k.byStep, k.at
	}
}

// Find goes to the next line of the list that holds text, or of the fields while they are read.
func (s *Screen) Find(f screen.Frame, text string, dir int) (n, of int) {
	if it := s.current(); s.inFields && it != nil {
		return s.scroll.Find(s.full(it, f, s.paneWidth(f)), text, dir)
	}
	row, n, of := widget.Next(len(s.rows), s.cursor.At, dir, func(i int) bool {
		it := s.rows[i].item
		if it == nil {
			return false
		}
		return widget.Holds(it.ID+"\n"+it.Type+"\n"+string(it.Action)+"\n"+it.Physical+"\n"+note(it, f.Now), text)
	})
	if of > 0 {
		s.cursor.Set(row, len(s.rows))
		s.scroll = widget.Scroll{}
	}
	return n, of
}

// mostCopies bounds the list of what can be copied.
const mostCopies = 400

// Copies are the physical ID, and both sides of each field.
func (s *Screen) Copies() []screen.Copy {
	it := s.current()
	if it == nil {
		return nil
	}
	out := []screen.Copy{{What: "physical ID", Text: it.Physical}, {What: "proposed name", Text: it.Name}, {What: "logical ID", Text: it.ID}}
	return append(out, fields.Copies(it.Fields, mostCopies)...)
}
