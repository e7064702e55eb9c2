package execution

import (
	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/widget"
)

// Find goes to the next line that holds text.
func (s *Screen) Find(_ screen.Frame, text string, dir int) (n, of int) {
	row, n, of := widget.Next(len(s.shown), s.cursor.At, dir, func(i int) bool {
		it := s.shown[i]
		return widget.Holds(it.ID+"\n"+it.Type+"\n"+it.Action+"\n"+string(it.result)+"\n"+it.phase.Phase+"\n"+it.reason+"\n"+it.Physical, text)
	})
	s.cursor.Set(row, len(s.shown))
	return n, of
}

// Copies are what names the resource under the cursor and the run, and what the run printed.
func (s *Screen) Copies() []screen.Copy {
	var out []screen.Copy
	if s.cursor.At < len(s.shown) {
		it := s.shown[s.cursor.At]
		out = append(out, screen.Copy{What: "physical ID", Text: it.Physical}, screen.Copy{What: "logical ID", Text: it.ID},
			screen.Copy{What: "reason", Text: it.reason}, screen.Copy{What: "last call", Text: it.call})
	}
	out = append(out, screen.Copy{What: "execution", Text: s.outcome.Execution})
	for _, o := range s.outcome.Outputs {
		if text, ok := o.Value.Str(); ok {
			out = append(out, screen.Copy{What: "output " + o.Name, Text: text})
		}
	}
	for _, n := range s.outcome.Next {
		out = append(out, screen.Copy{What: "next", Text: n})
	}
	return out
}
