package app

import (
	"fmt"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/widget"
)

// box is one line of text that is being typed: for what to find, or for a command.
type box struct{ text string }

// longestTyped bounds what is typed into a box, in bytes.
const longestTyped = 200

func (b *box) write(text string) {
	if len(b.text)+len(text) <= longestTyped {
		b.text += text
	}
}

func (b *box) correct() {
	_, n := utf8.DecodeLastRuneInString(b.text)
	b.text = b.text[:len(b.text)-n]
}

// onPage reports whether a page of the router's own lies over the screen.
func (r *router) onPage() bool { return r.help || r.copied != "" }

// finder is what can be searched now: the page that is open, or else the screen, if it can.
func (r *router) finder() func(text string, dir int) (n, of int) {
	if r.onPage() {
		return func(text string, dir int) (int, int) { return r.scroll.Find(r.page(r.width), text, dir) }
	}
	if f, ok := r.top().(screen.Finder); ok {
		return func(text string, dir int) (int, int) { return f.Find(r.frame(), text, dir) }
	}
	return nil
}

// sought is what was looked for last, in the page or on the screen; "" for nothing.
func (r *router) sought() string {
	if r.onPage() {
		return r.pageSought
	}
	return r.screenSought[r.top()]
}

func (r *router) seek(text string) {
	if r.onPage() {
		r.pageSought = text
		return
	}
	r.screenSought[r.top()] = text
}

// findKeys open the box, and once something was looked for, go on to the next place.
func (r *router) findKeys() []widget.Key {
	if r.finder() == nil {
		return nil
	}
	keys := []widget.Key{{Names: []string{"/"}, Show: "/", Word: "find", Help: "find a text in the list or page on the screen",
		Do: func() tea.Cmd { r.findBox = &box{}; return nil }}}
	if r.sought() == "" {
		return keys
	}
	return append([]widget.Key{
		{Names: []string{"n"}, Show: "n", Word: "next", Help: "go to the next place that holds what was looked for", Do: func() tea.Cmd { return r.find(1) }},
		{Names: []string{"N"}, Show: "N", Word: "before", Help: "go to the place before it", Do: func() tea.Cmd { return r.find(-1) }},
		{Names: []string{"esc"}, Show: "esc", Word: "stop finding", Help: "forget what was looked for", Do: func() tea.Cmd { r.seek(""); return nil }},
	}, keys...)
}

// find goes to the next place, and says which it is.
func (r *router) find(dir int) tea.Cmd {
	n, of := r.finder()(r.sought(), dir)
	r.notice = fmt.Sprintf("%d of %d with %s; n next, N before, esc stops", n, of, r.sought())
	if of == 0 {
		r.notice = "Nothing here holds " + r.sought() + ". What is folded is not searched."
	}
	return nil
}

func (r *router) findBoxKeys() widget.Keymap {
	return boxKeys(r.findBox, widget.Key{Names: []string{"enter"}, Show: "enter", Word: "find", Help: "go to the first place after this one", Do: func() tea.Cmd {
		text := r.findBox.text
		r.findBox = nil
		r.seek(text)
		if text == "" {
			return nil
		}
		return r.find(1)
	}}, func() { r.findBox = nil })
}

// boxKeys is the table of a box: enter as given, and what every box has.
func boxKeys(b *box, enter widget.Key, leave func()) widget.Keymap {
	return widget.Keymap{Modal: true, Keys: []widget.Key{enter,
		{Names: []string{"esc"}, Show: "esc", Word: "leave", Help: "leave without it", Do: func() tea.Cmd { leave(); return nil }},
		{Names: []string{"backspace"}, Show: "⌫", Word: "correct", Help: "take the last letter back", Do: func() tea.Cmd { b.correct(); return nil }},
	}, Text: func(text string) tea.Cmd { b.write(text); return nil }}
}
