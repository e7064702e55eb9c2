package widget

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"reclaim/ui/text/clean"
	"reclaim/ui/tui/theme"
)

// Key is one row of the key table. Footer, help and dispatch all read the same row: a key that is not listed cannot be
// handled, and one that is listed cannot be forgotten.
type Key struct {
	Names []string // as tea.KeyPressMsg.String gives them: "up", "k"
	Show  string   // how the footer writes it: "↑↓"
	Word  string   // one or two words for the footer; "" for help only
	Help  string   // a sentence for the help page
	Do    func() tea.Cmd
}

// Keymap is all keys that mean something now.
type Keymap struct {
	Keys []Key
	// Text takes typed characters while a box for them is open; nil otherwise. Pasted text never gets here.
	Text func(text string) tea.Cmd
	// Modal: a dialog or a box is open; no key of the screens below counts.
	Modal bool
}

// Find returns the row for a key press.
func (m Keymap) Find(msg tea.KeyPressMsg) (Key, bool) {
	name := msg.String()
	for _, k := range m.Keys {
		for _, n := range k.Names {
			if n == name {
				return k, true
			}
		}
	}
	return Key{}, false
}

// Press runs the row of a key, or gives its text to the open box.
func (m Keymap) Press(msg tea.KeyPressMsg) tea.Cmd {
	if k, ok := m.Find(msg); ok {
		return k.Do()
	}
	if m.Text != nil && msg.Text != "" && !msg.Mod.Contains(tea.ModCtrl) && !msg.Mod.Contains(tea.ModAlt) {
		return m.Text(msg.Text)
	}
	return nil
}

// Footer returns the line of keys. What does not fit is left to the help page; "? keys" always stays.
func Footer(keys []Key, width int) Line {
	const help = "? keys"
	modal := true
	for _, k := range keys {
		modal = modal && k.Show != "?"
	}
	room := width - 1
	if !modal {
		room -= len(help) + 2
	}
	spans := []Span{T(theme.Plain, " ")}
	used := 1
	for _, k := range keys {
		n := Width(k.Show) + 1 + Width(k.Word) + 2
		if k.Word == "" || k.Show == "?" {
			continue
		}
		if used+n-2 > room {
			break
		}
		spans = append(spans, T(theme.Key, k.Show), T(theme.Plain, " "+k.Word+"  "))
		used += n
	}
	if !modal {
		spans = append(spans, T(theme.Plain, strings.Repeat(" ", max(width-1-len(help)-used, 0))),
			T(theme.Key, "?"), T(theme.Plain, " keys"))
	}
	return L(spans...)
}

// helpNames is the width of the names of keys on the help page.
const helpNames = 10

// Help returns the help page: every row of the table.
func Help(keys []Key, width int) Block {
	out := Block{L(T(theme.Strong, " Keys"), T(theme.Dim, "   capitals act; lower case and arrows only look")), {}}
	for _, k := range keys {
		lines := Wrap(k.Help, max(width-helpNames-3, 10))
		for i, text := range lines {
			names := ""
			if i == 0 {
				names = strings.Join(k.Names, " ")
			}
			out = append(out, L(T(theme.Key, " "), Cell(theme.Key, names, helpNames), T(theme.Plain, "  "+text)))
		}
	}
	return out
}

// Wrap breaks text into lines of at most width cells, at spaces where there are any.
func Wrap(text string, width int) []string {
	width = max(width, 1)
	var out []string
	line, used := "", 0
	flush := func() { out = append(out, line); line, used = "", 0 }
	for _, word := range strings.Fields(text) {
		word = clean.Clean(word)
		w := Width(word)
		if used > 0 && used+1+w > width {
			flush()
		}
		for w > width { // no space to break at
			head, tail := split(word, width)
			if head == "" { // a character wider than the line
				cluster, _ := ansi.FirstGraphemeCluster(word, ansi.GraphemeWidth)
				head, tail = "", word[len(cluster):]
			}
			if joins(tail) && head != "\u00a0" { // a mark at the start of a line needs something to stand on
				tail = "\u00a0" + tail
			}
			line, used = head, Width(head)
			word, w = tail, Width(tail)
			flush()
		}
		if used > 0 {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+w
	}
	if used > 0 || len(out) == 0 {
		flush()
	}
	return out
}

// Paragraph is Wrap as lines of one role behind an indent.
func Paragraph(r theme.Role, text string, indent, width int) Block {
	var out Block
	for _, s := range Wrap(text, width-indent) {
		out = append(out, L(T(theme.Plain, strings.Repeat(" ", indent)), T(r, s)))
	}
	return out
}
