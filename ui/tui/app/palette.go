package app

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"reclaim/ui/tui/theme"
	"reclaim/ui/tui/widget"
)

// palette is the box of commands: the rows of the key table that counts on the screen, by what they are called.
type palette struct {
	box
	rows   []widget.Key
	cursor widget.Cursor
	moved  bool // a row was chosen with the arrows
}

func (r *router) openPalette() tea.Cmd {
	r.palette = &palette{rows: r.keymap().Keys}
	return nil
}

// command is what a row of the key table is called: its word, or for a row without one, what it does.
func command(k widget.Key) string {
	if k.Word != "" {
		return strings.TrimSuffix(k.Word, "…")
	}
	name, _, _ := strings.Cut(k.Help, ";")
	return name
}

// fitting are the rows that a text may mean: those it begins, then those it is part of.
func (p *palette) fitting() []widget.Key {
	var out []widget.Key
	for _, k := range p.rows {
		if widget.Holds(command(k)+"\n"+k.Help+"\n"+strings.Join(k.Names, "\n"), p.text) {
			out = append(out, k)
		}
	}
	rank := func(k widget.Key) int {
		switch {
		case strings.EqualFold(command(k), p.text) || slices.Contains(k.Names, p.text):
			return 0
		case strings.HasPrefix(strings.ToLower(command(k)), strings.ToLower(p.text)):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(out, func(a, b widget.Key) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}

// chosen is the row that enter runs. Nothing is chosen before something was typed or an arrow was pressed.
func (p *palette) chosen() (widget.Key, bool) {
	list := p.fitting()
	if len(list) == 0 || p.text == "" && !p.moved {
		return widget.Key{}, false
	}
	return list[min(p.cursor.At, len(list)-1)], true
}

func (r *router) paletteKeys() widget.Keymap {
	p := r.palette
	move := func(n int) func() tea.Cmd {
		return func() tea.Cmd {
			if p.moved || p.text != "" {
				p.cursor.Move(n, len(p.fitting()))
			}
			p.moved = true
			return nil
		}
	}
	m := boxKeys(&p.box, widget.Key{Names: []string{"enter"}, Show: "enter", Word: "do it", Help: "do what the marked line says, as its key would", Do: func() tea.Cmd {
		k, ok := p.chosen()
		if !ok {
			r.notice = "Type what to do, or choose it with the arrows."
			return nil
		}
		r.palette = nil
		return k.Do()
	}}, func() { r.palette = nil })
	text := m.Text
	m.Text = func(t string) tea.Cmd { p.cursor = widget.Cursor{}; return text(t) }
	m.Keys = append(m.Keys,
		widget.Key{Names: []string{"up"}, Show: "↑↓", Word: "choose", Help: "go up one line", Do: move(-1)},
		widget.Key{Names: []string{"down"}, Show: "↓", Help: "go down one line", Do: move(1)},
		widget.Key{Names: []string{"tab"}, Show: "tab", Word: "complete", Help: "complete what was typed to the marked line's name", Do: func() tea.Cmd {
			if list := p.fitting(); len(list) > 0 {
				p.text, p.cursor = command(list[min(p.cursor.At, len(list)-1)]), widget.Cursor{}
			}
			return nil
		}})
	return m
}

// mostCommands is how many commands are in view at once.
const mostCommands = 10

// over draws the commands over the end of the screen's body.
func (p *palette) over(body widget.Block, width, height int) widget.Block {
	list := p.fitting()
	rows := min(max(len(list), 1), mostCommands, max(height-2, 1))
	out := append(body.Head(max(height-rows-1, 0)), widget.RuleLine(width, widget.Count(len(list), "command")))
	if len(list) == 0 {
		return append(out, widget.L(widget.T(theme.Dim, " No command is called that.")))
	}
	from, to := p.cursor.Window(len(list), rows)
	name := min(max(width/3, 14), 30)
	_, marked := p.chosen()
	for i := from; i < to; i++ {
		k, at := list[i], "   "
		if marked && i == p.cursor.At {
			at = " > "
		}
		out = append(out, widget.Line{Selected: at != "   ", Spans: []widget.Span{widget.T(theme.Plain, at), widget.Cell(theme.Strong, command(k), name),
			widget.T(theme.Plain, " "), widget.Cell(theme.Key, k.Names[0], 9), widget.T(theme.Plain, " "), widget.T(theme.Dim, k.Help)}})
	}
	return out
}
