package planreview

import (
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/widget"
)

// Keys is the key table: of the dialog, of the filter box, of the fields pane, or of the list.
func (s *Screen) Keys() widget.Keymap {
	switch {
	case s.dialog != nil:
		return s.dialog.Keys(func() { s.dialog = nil })
	case s.filtering:
		return s.filterKeys()
	case s.inFields:
		return widget.Keymap{Keys: append(s.fieldKeys(), s.actKeys()...)}
	}
	return widget.Keymap{Keys: append(s.listKeys(), s.actKeys()...)}
}

func (s *Screen) listKeys() []widget.Key {
	move := func(n int) func() tea.Cmd {
		return func() tea.Cmd { s.cursor.Move(n, len(s.rows)); s.scroll = widget.Scroll{}; return nil }
	}
	keys := []widget.Key{
		{Names: []string{"up", "k"}, Show: "↑↓", Word: "move", Help: "go up one line", Do: move(-1)},
		{Names: []string{"down", "j"}, Show: "↓", Help: "go down one line", Do: move(1)},
		{Names: []string{"pgup"}, Show: "pgup", Help: "go up ten lines", Do: move(-10)},
		{Names: []string{"pgdown"}, Show: "pgdn", Help: "go down ten lines", Do: move(10)},
		{Names: []string{"home"}, Show: "home", Help: "go to the first line", Do: move(-1 << 30)},
		{Names: []string{"end"}, Show: "end", Help: "go to the last line", Do: move(1 << 30)},
		{Names: []string{"enter"}, Show: "enter", Word: "fields", Help: "read all fields of the item; on the folded line, unfold it", Do: s.enter},
	}
	away := []string{"esc", "q"}
	if s.filter != "" {
		away = away[1:]
		keys = append(keys, widget.Key{Names: []string{"esc"}, Show: "esc", Help: "drop the filter",
			Do: func() tea.Cmd { s.filter = ""; s.arrange(); return nil }})
	}
	if len(s.approved) > 0 {
		keys = append(keys, widget.Key{Names: away, Show: away[0], Help: "go back; asks first, because approvals would be dropped", Do: s.leave})
	}
	return keys
}

func (s *Screen) fieldKeys() []widget.Key {
	move := func(n int) func() tea.Cmd { return func() tea.Cmd { s.scroll.Move(n); return nil } }
	return []widget.Key{
		{Names: []string{"up", "k"}, Show: "↑↓", Word: "read", Help: "go up one line", Do: move(-1)},
		{Names: []string{"down", "j"}, Show: "↓", Help: "go down one line", Do: move(1)},
		{Names: []string{"pgup"}, Show: "pgup", Help: "go up ten lines", Do: move(-10)},
		{Names: []string{"pgdown"}, Show: "pgdn", Help: "go down ten lines", Do: move(10)},
		{Names: []string{"esc", "enter", "q"}, Show: "esc", Word: "list", Help: "back to the list",
			Do: func() tea.Cmd { s.inFields = false; return nil }},
	}
}

func (s *Screen) actKeys() []widget.Key {
	return []widget.Key{
		{Names: []string{"A"}, Show: "A", Word: "approve", Help: "approve the item under the cursor; deletes, replaces, adoptions and data ask for their name first", Do: s.approve},
		{Names: []string{"U"}, Show: "U", Word: "take back", Help: "take the approval back", Do: s.takeBack},
		{Names: []string{"R"}, Show: "R", Word: "recover", Help: "step through the uncertain creates, from the item under the cursor", Do: s.recover},
		{Names: []string{"D"}, Show: "D", Word: "deploy…", Help: "show what would be sent, and ask", Do: s.deploy},
		{Names: []string{"B"}, Show: "B", Word: "all…", Help: "approve together what needs no word of its own; asks for the count", Do: s.approveAll},
		{Names: []string{"l"}, Show: "l", Word: "look again", Help: "look at the cloud and make a new plan; reads only", Do: s.look},
		{Names: []string{"x"}, Show: "x", Word: "unfold", Help: "unfold or fold what is the same, and fields that nobody has to read",
			Do: func() tea.Cmd { s.unfolded = !s.unfolded; s.arrange(); return nil }},
		{Names: []string{"f"}, Show: "f", Word: "filter", Help: "show only some lines: by action:, type:, verdict: or any text",
			Do: func() tea.Cmd { s.filtering = true; s.inFields = false; return nil }},
		{Names: []string{"w"}, Show: "w", Word: "order", Help: "list in the order of running, each with what it waits for, or by action again",
			Do: func() tea.Cmd { s.byStep = !s.byStep; s.arrange(); return nil }},
		{Names: []string{"z"}, Show: "z", Word: "zoom", Help: "give the list, or the fields while they are read, the screen alone", Do: func() tea.Cmd { s.zoomed = !s.zoomed; return nil }},
	}
}

func (s *Screen) filterKeys() widget.Keymap {
	set := func(f string) tea.Cmd { s.filter = f; s.arrange(); return nil }
	return widget.Keymap{Modal: true, Keys: []widget.Key{
		{Names: []string{"enter"}, Show: "enter", Word: "keep filter", Help: "keep the filter and go back to the list",
			Do: func() tea.Cmd { s.filtering = false; return nil }},
		{Names: []string{"esc"}, Show: "esc", Word: "drop filter", Help: "drop the filter",
			Do: func() tea.Cmd { s.filtering = false; return set("") }},
		{Names: []string{"tab"}, Show: "tab", Word: "complete", Help: "complete the last word from what there is in the plan; again for the next", Do: func() tea.Cmd { s.complete(); return nil }},
		{Names: []string{"backspace"}, Show: "⌫", Word: "correct", Help: "take the last letter back", Do: func() tea.Cmd {
			_, n := utf8.DecodeLastRuneInString(s.filter)
			return set(s.filter[:len(s.filter)-n])
		}},
	}, Text: func(text string) tea.Cmd {
		if len(s.filter) > 100 {
			return nil
		}
		return set(s.filter + text)
	}}
}

func (s *Screen) enter() tea.Cmd {
	if s.cursor.At < len(s.rows) && s.rows[s.cursor.At].item == nil {
		s.unfolded = true
		s.arrange()
		return nil
	}
	if s.current() != nil {
		s.inFields, s.scroll = true, widget.Scroll{}
	}
	return nil
}

// recover opens the recovery at the item under the cursor.
func (s *Screen) recover() tea.Cmd {
	id := ""
	if it := s.current(); it != nil {
		id = it.ID
	}
	return screen.Tell(screen.Open{Screen: s.recovery(s.stack, id)})
}

func (s *Screen) leave() tea.Cmd {
	s.dialog = &widget.Dialog{Title: "Leave and drop " + widget.Count(len(s.approved), "approval") + "?", Confirm: "Leave",
		Yes: func() tea.Cmd { s.approved = map[ref]bool{}; return screen.Tell(screen.Back{}) }}
	return nil
}
