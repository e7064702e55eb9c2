package app

import (
	tea "charm.land/bubbletea/v2"

	"reclaim/ui/text/clean"
	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/theme"
	"reclaim/ui/tui/widget"
)

// chooser is the list of what can be copied from the screen.
type chooser struct {
	list   []screen.Copy
	cursor widget.Cursor
}

// copies are the command, and what else the screen has.
func (r *router) copies() []screen.Copy {
	var out []screen.Copy
	if c := r.top().Command(); c != "" {
		out = append(out, screen.Copy{What: "command", Text: c})
	}
	if s, ok := r.top().(screen.Copier); ok {
		for _, c := range s.Copies() {
			if c.Text != "" {
				out = append(out, c)
			}
		}
	}
	return out
}

// openCopy copies the only thing there is, or asks which.
func (r *router) openCopy() tea.Cmd {
	switch list := r.copies(); len(list) {
	case 0:
		r.notice = "There is nothing to copy yet."
		return nil
	case 1:
		return r.copyText(list[0])
	default:
		r.chooser = &chooser{list: list}
		return nil
	}
}

// copyText sends a text to the terminal's clipboard. It is shown too, since many terminals do not take it: on the
// status line, or on a page where it is longer than that.
func (r *router) copyText(c screen.Copy) tea.Cmd {
	text := clean.Clean(c.Text)
	r.chooser = nil
	r.notice = "Copied " + c.What + ": " + text
	if widget.Width(r.notice)+3 > r.width {
		r.notice, r.copied = "", text
	}
	return tea.SetClipboard(text)
}

func (r *router) chooserKeys() widget.Keymap {
	c := r.chooser
	move := func(n int) func() tea.Cmd { return func() tea.Cmd { c.cursor.Move(n, len(c.list)); return nil } }
	return widget.Keymap{Modal: true, Keys: []widget.Key{
		{Names: []string{"y", "enter"}, Show: "y", Word: "copy it", Help: "copy what is marked (OSC 52), and show it", Do: func() tea.Cmd { return r.copyText(c.list[c.cursor.At]) }},
		{Names: []string{"up", "k"}, Show: "↑↓", Word: "choose", Help: "go up one line", Do: move(-1)},
		{Names: []string{"down", "j"}, Show: "↓", Help: "go down one line", Do: move(1)},
		{Names: []string{"esc", "q"}, Show: "esc", Word: "leave", Help: "leave without copying", Do: func() tea.Cmd { r.chooser = nil; return nil }},
	}}
}

// view draws the list, and below it all of the text that is marked, so that it can also be selected with the mouse.
func (c *chooser) view(f screen.Frame) widget.Block {
	out := widget.Block{widget.L(widget.T(theme.Strong, " Copy what?"))}
	room := min(len(c.list), max(f.Height/2-2, 1))
	from, to := c.cursor.Window(len(c.list), room)
	for i := from; i < to; i++ {
		e := c.list[i]
		at := " "
		if i == c.cursor.At {
			at = ">"
		}
		out = append(out, widget.Line{Selected: i == c.cursor.At, Spans: []widget.Span{widget.T(theme.Plain, " "+at+" "),
			widget.CellTail(theme.Strong, e.What, min(max(f.Width/3, 12), 40)), widget.T(theme.Plain, "  "+e.Text)}})
	}
	out = append(out, widget.RuleLine(f.Width, widget.Count(len(c.list), "text")))
	for _, l := range widget.Flow([]widget.Span{widget.T(theme.Info, c.list[c.cursor.At].Text)}, f.Width) {
		out = append(out, l)
	}
	return out.Head(f.Height)
}

// copiedPage shows a text without a frame, so that it can also be selected with the mouse.
func copiedPage(text string, width int) widget.Block {
	out := append(widget.Paragraph(theme.Strong, "Copied, if the terminal takes OSC 52; else select it here:", 0, width), widget.Line{})
	for _, l := range widget.Wrap(text, width) {
		out = append(out, widget.L(widget.T(theme.Info, l)))
	}
	return out
}
