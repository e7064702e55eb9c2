package app

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// toggleMouse: the mouse is off until it is asked for, since a terminal selects no text while it is on.
func (r *router) toggleMouse() tea.Cmd {
	r.mouse = !r.mouse
	r.notice = "Mouse off: the terminal selects text again."
	if r.mouse {
		r.notice = "Mouse on: the wheel scrolls. m turns it off, so that the terminal selects text again."
	}
	return nil
}

// wheel scrolls as the arrows do, three lines at once; it never does anything else.
func (r *router) wheel(msg tea.MouseWheelMsg) tea.Cmd {
	name := map[tea.MouseButton]string{tea.MouseWheelUp: "up", tea.MouseWheelDown: "down"}[msg.Button]
	for range 3 {
		for _, k := range r.keymap().Keys {
			if name != "" && slices.Contains(k.Names, name) {
				k.Do()
			}
		}
	}
	return nil
}
