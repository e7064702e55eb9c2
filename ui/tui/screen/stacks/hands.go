package stacks

import (
	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/widget"
)

// Find goes to the next stack whose line holds text.
func (s *Screen) Find(f screen.Frame, text string, dir int) (n, of int) {
	row, n, of := widget.Next(len(s.list), s.cursor.At, dir, func(i int) bool {
		sum := s.list[i]
		return widget.Holds(sum.Stack.String()+"\n"+sum.Template+"\n"+screen.LastRun(sum, f.Now), text)
	})
	s.cursor.Set(row, len(s.list))
	return n, of
}

// Copies are what names the stack and its last run.
func (s *Screen) Copies() []screen.Copy {
	sum, ok := s.current()
	if !ok {
		return nil
	}
	out := []screen.Copy{{What: "stack", Text: sum.Stack.String()}, {What: "template", Text: sum.Template}}
	switch {
	case sum.Hold != nil:
		out = append(out, screen.Copy{What: "execution", Text: sum.Hold.Execution})
	case sum.Last != nil:
		out = append(out, screen.Copy{What: "execution", Text: sum.Last.ID})
	}
	return out
}
