package widget

import (
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"reclaim/ui/text/clean"
	"reclaim/ui/tui/theme"
)

// Dialog asks before something is done. It starts on Cancel, and the key that opened it never confirms it. With Typed,
// the text must be typed: only key presses are taken, so a pasted text does not confirm anything.
type Dialog struct {
	Title   string
	Text    Block  // what would be done, line by line
	Confirm string // the word on the button: "Deploy"
	Typed   string // text to type; "" for none
	Yes     func() tea.Cmd
	No      func() tea.Cmd // may be nil

	onConfirm bool
	typed     string
	refused   string
	scroll    Scroll
}

// Keys returns the dialog's table. close is called before Yes or No.
func (d *Dialog) Keys(close func()) Keymap {
	cancel := func() tea.Cmd {
		close()
		if d.No != nil {
			return d.No()
		}
		return nil
	}
	toggle := func() tea.Cmd { d.onConfirm = !d.onConfirm; d.refused = ""; return nil }
	enter := func() tea.Cmd {
		switch {
		case d.Typed != "" && d.typed != clean.Clean(d.Typed):
			d.refused = "not the same: type it letter by letter, or esc to leave it"
			return nil
		case d.Typed == "" && !d.onConfirm:
			return cancel()
		}
		close()
		return d.Yes()
	}
	m := Keymap{Modal: true, Keys: []Key{
		{Names: []string{"enter"}, Show: "enter", Word: "choose", Help: "press the marked button", Do: enter},
		{Names: []string{"esc"}, Show: "esc", Word: "cancel", Help: "leave without doing anything", Do: cancel},
		{Names: []string{"pgdown"}, Show: "pgdn", Help: "read on", Do: func() tea.Cmd { d.scroll.Move(5); return nil }},
		{Names: []string{"pgup"}, Show: "pgup", Help: "read back", Do: func() tea.Cmd { d.scroll.Move(-5); return nil }},
	}}
	if d.Typed == "" {
		m.Keys = append([]Key{{Names: []string{"tab", "left", "right", "shift+tab"}, Show: "tab ←→", Word: "other button",
			Help: "go to the other button", Do: toggle}}, m.Keys...)
		return m
	}
	m.Keys = append(m.Keys, Key{Names: []string{"backspace"}, Show: "⌫", Word: "correct", Help: "take the last letter back",
		Do: func() tea.Cmd { d.typed = dropLast(d.typed); d.refused = ""; return nil }})
	m.Text = func(s string) tea.Cmd {
		if len(d.typed)+len(s) <= 4*len(d.Typed)+64 {
			d.typed += s
		}
		d.refused = ""
		return nil
	}
	return m
}

func dropLast(s string) string {
	_, n := utf8.DecodeLastRuneInString(s)
	return s[:len(s)-n]
}

// Over draws the dialog over base.
func (d *Dialog) Over(base Block, width, height int) Block {
	inner := max(min(width-4, 76), 1)
	foot := d.buttons(inner)
	head := Block{L(T(theme.Strong, d.Title)), {}}
	room := max(height-2-len(head)-len(foot), 1)
	if height < 8 { // so small that only the question and the buttons fit
		head, room = head[:1], max(height-2-1-len(foot), 0)
	}
	text, above, below := d.scroll.Window(d.Text, room)
	content := append(head, text...)
	if above+below > 0 && len(content) > 0 {
		content[len(content)-1] = L(T(theme.Dim, "… "+Count(above+below, "more line")+": pgdn, pgup"))
	}
	content = append(content, foot...)
	for i := range content {
		content[i] = content[i].Truncate(inner)
	}
	return Panel(base, content, width, height)
}

func (d *Dialog) buttons(width int) Block {
	if d.Typed != "" {
		out := append(Block{{}}, Paragraph(theme.Strong, "Type "+d.Typed+" and press enter; esc cancels.", 0, width)...)
		out = append(out, L(T(theme.Key, "> "), T(theme.Plain, CutTail(d.typed, max(width-4, 1))), T(theme.Selected, " ")))
		if d.refused != "" {
			out = append(out, L(T(theme.Bad, d.refused)))
		}
		return out
	}
	button := func(word string, on bool) Span {
		if on {
			return T(theme.Selected, "[> "+word+" <]")
		}
		return T(theme.Plain, "[  "+word+"  ]")
	}
	return Block{{}, L(button("Cancel", !d.onConfirm), T(theme.Plain, "   "), button(d.Confirm, d.onConfirm))}
}
