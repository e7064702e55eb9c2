package app

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/theme"
	"reclaim/ui/tui/widget"
)

// palette is the box of commands: the rows of the key table that counts on the screen, by what they are called, and
// behind them those of the other screens, to say where they are.
type palette struct {
	box
	rows   []entry
	cursor widget.Cursor
	moved  bool // a row was chosen with the arrows
}

// entry is a row of a key table; on names the screen that has it, "" for the one that is open.
type entry struct {
	widget.Key
	on string
}

func (r *router) openPalette() tea.Cmd {
	p := &palette{}
	for _, k := range r.keymap().Keys {
		p.rows = append(p.rows, entry{Key: k})
	}
	for _, s := range r.all {
		on := kind(s)
		for _, k := range s.Keys().Keys {
			if reflect.TypeOf(s) == reflect.TypeOf(r.top()) || slices.ContainsFunc(p.rows, func(e entry) bool { return e.Help == k.Help }) {
				continue
			}
			k.Do = func() tea.Cmd {
				r.notice = k.Names[0] + " (" + command(k) + ") is a key of the " + on + " screen."
				return nil
			}
			p.rows = append(p.rows, entry{k, on})
		}
	}
	r.palette = p
	return nil
}

// kind is what sort of screen it is: the first word of its title.
func kind(s screen.Screen) string {
	word, _, _ := strings.Cut(s.Title(), " ")
	return word
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
func (p *palette) fitting() []entry {
	var out []entry
	for _, k := range p.rows {
		if widget.Holds(command(k.Key)+"\n"+k.Help+"\n"+strings.Join(k.Names, "\n"), p.text) {
			out = append(out, k)
		}
	}
	rank := func(k entry) int {
		n := 2
		switch {
		case strings.EqualFold(command(k.Key), p.text) || slices.Contains(k.Names, p.text):
			n = 0
		case strings.HasPrefix(strings.ToLower(command(k.Key)), strings.ToLower(p.text)):
			n = 1
		}
		if k.on != "" {
			n += 3
		}
		return n
	}
	slices.SortStableFunc(out, func(a, b entry) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}

// chosen is the row that enter runs. Nothing is chosen before something was typed or an arrow was pressed.
func (p *palette) chosen() (entry, bool) {
	list := p.fitting()
	if len(list) == 0 || p.text == "" && !p.moved {
		return entry{}, false
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
				p.text, p.cursor = command(list[min(p.cursor.At, len(list)-1)].Key), widget.Cursor{}
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
		what := k.Help
		if k.on != "" {
			what = "on the " + k.on + " screen: " + what
		}
		out = append(out, widget.Line{Selected: at != "   ", Spans: []widget.Span{widget.T(theme.Plain, at), widget.Cell(theme.Strong, command(k.Key), name),
			widget.T(theme.Plain, " "), widget.Cell(theme.Key, k.Names[0], 9), widget.T(theme.Plain, " "), widget.T(theme.Dim, what)}})
	}
	return out
}
