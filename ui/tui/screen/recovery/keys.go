package recovery

import (
	tea "charm.land/bubbletea/v2"

	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/widget"
)

// Keys is the key table: of the dialog, of the box for an ID, of a page to read, or of the stepper.
func (s *Screen) Keys() widget.Keymap {
	switch {
	case s.dialog != nil:
		return s.dialog.Keys(func() { s.dialog = nil })
	case s.box != nil:
		return s.boxKeys()
	case s.page != pageStep:
		return widget.Keymap{Keys: append(s.readKeys(), s.actKeys()...)}
	}
	return widget.Keymap{Keys: append(s.stepKeys(), s.actKeys()...)}
}

func (s *Screen) stepKeys() []widget.Key {
	move := func(n int) func() tea.Cmd {
		return func() tea.Cmd {
			if f := s.current(); f != nil {
				s.cursor(f).Move(n, len(options(f)))
			}
			return nil
		}
	}
	keys := []widget.Key{
		{Names: []string{"up", "k"}, Show: "↑↓", Word: "choice", Help: "go to the choice above", Do: move(-1)},
		{Names: []string{"down", "j"}, Show: "↓", Help: "go to the choice below", Do: move(1)},
	}
	if len(s.decided) > 0 {
		keys = append(keys, widget.Key{Names: []string{"esc", "q"}, Show: "esc", Help: "go back; asks first, because choices would be dropped", Do: s.leave})
	}
	return keys
}

func (s *Screen) readKeys() []widget.Key {
	move := func(n int) func() tea.Cmd { return func() tea.Cmd { s.scroll.Move(n); return nil } }
	return []widget.Key{
		{Names: []string{"up", "k"}, Show: "↑↓", Word: "read", Help: "go up one line", Do: move(-1)},
		{Names: []string{"down", "j"}, Show: "↓", Help: "go down one line", Do: move(1)},
		{Names: []string{"pgup"}, Show: "pgup", Help: "go up ten lines", Do: move(-10)},
		{Names: []string{"pgdown"}, Show: "pgdn", Help: "go down ten lines", Do: move(10)},
		{Names: []string{"esc", "q"}, Show: "esc", Word: "choices", Help: "back to the choices", Do: s.show(pageStep)},
	}
}

func (s *Screen) show(p page) func() tea.Cmd {
	return func() tea.Cmd {
		if s.page == p {
			p = pageStep
		}
		s.page, s.scroll = p, widget.Scroll{}
		return nil
	}
}

func (s *Screen) actKeys() []widget.Key {
	step := func(n int) func() tea.Cmd { return func() tea.Cmd { s.next(n); return nil } }
	return []widget.Key{
		{Names: []string{"C"}, Show: "C", Word: "choose", Help: "take the choice under the cursor; nothing is sent yet", Do: s.choose},
		{Names: []string{"U"}, Show: "U", Help: "take the choice of this record back", Do: s.takeBack},
		{Names: []string{"d"}, Show: "d", Word: "diff", Help: "show the candidates against what was intended", Do: s.show(pageDiff)},
		{Names: []string{"n"}, Show: "n", Word: "next", Help: "go to the next record", Do: step(1)},
		{Names: []string{"p"}, Show: "p", Help: "go to the record before", Do: step(-1)},
		{Names: []string{"l"}, Show: "l", Word: "look", Help: "look at the cloud and judge again; reads only", Do: s.look},
		{Names: []string{"s"}, Show: "s", Word: "summary…", Help: "show what the choices would do, and ask", Do: s.summary},
		{Names: []string{"enter"}, Show: "enter", Word: "all", Help: "read all there is about the record", Do: s.show(pageAll)},
		{Names: []string{"E"}, Show: "E", Word: "ID…", Help: "enter the ID of the object, where one may be named; it is looked up and judged first", Do: s.openBox},
	}
}

func (s *Screen) leave() tea.Cmd {
	s.dialog = &widget.Dialog{Title: "Leave and drop " + widget.Count(len(s.decided), "choice") + "?", Confirm: "Leave",
		Yes: func() tea.Cmd { s.decided = map[ref]decision{}; return screen.Tell(screen.Back{}) }}
	return nil
}
