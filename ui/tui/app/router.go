package app

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/theme"
	"reclaim/ui/tui/widget"
)

// Smallest terminal that the screens are drawn on.
const minWidth, minHeight = 40, 12

// ageEvery is how often ages on an idle screen are brought up to date.
const ageEvery = 10 * time.Second

// router holds the screens that are open, and draws header and footer around the top one. It knows the Screen
// interface and nothing of any screen.
type router struct {
	open   []screen.Screen // the top one last; never empty
	theme  theme.Theme
	auto   bool // the theme follows the terminal's background
	now    func() time.Time
	at     time.Time
	width  int
	height int

	help    bool
	scroll  widget.Scroll
	copied  string // the command that was copied, while its panel is open
	notice  string
	drained screen.Screen // the run that was asked to drain
	stopped *StoppedError // the operator did not wait for a run
	leaving bool          // quit as soon as the live run has ended
}

// ageMsg brings ages up to date; stopMsg asks for the end from outside (a signal).
type (
	ageMsg  struct{}
	stopMsg struct{}
)

func newRouter(first screen.Screen, th theme.Theme, auto bool, now func() time.Time) *router {
	return &router{open: []screen.Screen{first}, theme: th, auto: auto, now: now, at: now(), width: 80, height: 24}
}

func (r *router) top() screen.Screen { return r.open[len(r.open)-1] }

// Init asks for the background and starts the first screen.
func (r *router) Init() tea.Cmd {
	cmds := []tea.Cmd{r.top().Init(), age()}
	if r.auto {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(cmds...)
}

func age() tea.Cmd { return tea.Tick(ageEvery, func(time.Time) tea.Msg { return ageMsg{} }) }

// Update routes: keys to the one table, navigation to the stack of screens, everything else to the screens.
func (r *router) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	r.at = r.now()
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		r.width, r.height = msg.Width, msg.Height
	case tea.BackgroundColorMsg:
		if r.auto {
			r.theme = theme.For(msg.IsDark())
		}
	case tea.KeyPressMsg:
		r.notice = ""
		return r, r.keymap().Press(msg)
	case tea.PasteMsg, tea.PasteStartMsg, tea.PasteEndMsg:
		// Pasted text is no key press: it moves nothing and confirms nothing.
	case ageMsg:
		return r, age()
	case stopMsg:
		return r, r.stop()
	case screen.Notice:
		r.notice = msg.Text
	case screen.Open:
		r.open = append(r.open, msg.Screen)
		return r, msg.Screen.Init()
	case screen.Back:
		return r, r.back()
	case screen.Quit:
		return r, r.quit()
	default:
		return r, r.deliver(msg)
	}
	return r, nil
}

// deliver gives a message to every open screen; each knows its own. A screen below may still be waiting for a look.
func (r *router) deliver(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	for i, s := range r.open {
		next, cmd := s.Update(msg)
		r.open[i] = next
		cmds = append(cmds, cmd)
	}
	if r.leaving && !r.running() {
		return r.quit()
	}
	return tea.Batch(cmds...)
}

func (r *router) runner() (screen.Runner, bool) {
	run, ok := r.top().(screen.Runner)
	return run, ok && run.Running()
}

func (r *router) running() bool { _, ok := r.runner(); return ok }

func (r *router) back() tea.Cmd {
	if r.running() {
		r.notice = "A run is live. ctrl+c lets what is under way finish and starts nothing new."
		return nil
	}
	if len(r.open) == 1 {
		return r.quit()
	}
	r.top().Close()
	r.open = slices.Delete(r.open, len(r.open)-1, len(r.open))
	next, cmd := r.top().Update(screen.Shown{})
	r.open[len(r.open)-1] = next
	return cmd
}

func (r *router) quit() tea.Cmd {
	for _, s := range r.open {
		s.Close()
	}
	return tea.Quit
}

// interrupt is ctrl+c: it quits, or drains a live run first; the second time it stops now.
func (r *router) interrupt() tea.Cmd {
	run, live := r.runner()
	if !live {
		return r.quit()
	}
	if r.drained == run {
		r.stopped = &StoppedError{Underway: run.Unsettled()}
		return tea.Quit
	}
	r.drained = run
	return run.Drain()
}

// suspend is ctrl+z. A live run is not put to sleep: calls under way would run out, and another could take its hold.
func (r *router) suspend() tea.Cmd {
	if r.running() {
		r.notice = "A run is live and is not put to sleep: what is under way would be left uncertain."
		return nil
	}
	return tea.Suspend
}

// stop is the end asked for from outside: a live run is drained, then the UI ends.
func (r *router) stop() tea.Cmd {
	run, live := r.runner()
	if !live {
		return r.quit()
	}
	r.leaving = true
	return run.Drain()
}

// keymap is the table that counts now: a panel's or a dialog's alone, or the screen's followed by the keys that every
// screen has.
func (r *router) keymap() widget.Keymap {
	ctrlC := widget.Key{Names: []string{"ctrl+c"}, Show: "ctrl+c", Help: "quit; a live run is drained first, and stopped the second time", Do: r.interrupt}
	ctrlZ := widget.Key{Names: []string{"ctrl+z"}, Show: "ctrl+z", Help: "put it to sleep, and fg wakes it; not while a run is live", Do: r.suspend}
	if r.help || r.copied != "" {
		return widget.Keymap{Modal: true, Keys: append(r.panelKeys(), ctrlC, ctrlZ)}
	}
	m := r.top().Keys()
	if m.Modal {
		m.Keys = append(m.Keys, ctrlC, ctrlZ)
		return m
	}
	own := m.Keys
	shared := []widget.Key{
		{Names: []string{"y"}, Show: "y", Word: "copy command", Help: "copy the command that does the same (OSC 52), and show it", Do: r.copyCommand},
		{Names: []string{"q", "esc"}, Show: "q", Word: "back", Help: "go back; from the first screen, quit",
			Do: func() tea.Cmd { return r.back() }},
		ctrlC, ctrlZ,
		{Names: []string{"?"}, Show: "?", Help: "show or leave this page", Do: func() tea.Cmd { r.help = true; return nil }},
	}
	for _, k := range shared {
		if k.Names = unclaimed(k.Names, own); len(k.Names) > 0 {
			m.Keys = append(m.Keys, k)
		}
	}
	return m
}

// unclaimed are the names that no row of own has: a screen may give a shared key a meaning of its own.
func unclaimed(names []string, own []widget.Key) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return slices.ContainsFunc(own, func(k widget.Key) bool { return slices.Contains(k.Names, n) })
	})
}

func (r *router) panelKeys() []widget.Key {
	leave := func() tea.Cmd { r.help, r.copied, r.scroll = false, "", widget.Scroll{}; return nil }
	move := func(n int) func() tea.Cmd { return func() tea.Cmd { r.scroll.Move(n); return nil } }
	return []widget.Key{
		{Names: []string{"esc", "q", "?", "y", "enter"}, Show: "esc", Word: "leave", Help: "leave this page", Do: leave},
		{Names: []string{"down", "pgdown", "j"}, Show: "↓", Word: "read on", Help: "read on", Do: move(5)},
		{Names: []string{"up", "pgup", "k"}, Show: "↑", Word: "read back", Help: "read back", Do: move(-5)},
	}
}

func (r *router) copyCommand() tea.Cmd {
	command := r.top().Command()
	if command == "" {
		r.notice = "There is no command for this yet."
		return nil
	}
	r.copied = command
	return tea.SetClipboard(command)
}

// View draws the frame.
func (r *router) View() tea.View {
	v := tea.NewView(r.draw().Render(r.theme, r.width, r.height))
	v.AltScreen = true
	v.WindowTitle = "reclaim"
	return v
}

func (r *router) draw() widget.Block {
	if r.width < minWidth || r.height < minHeight {
		return widget.Block{widget.L(widget.T(theme.Warn, "needs 40×12 cells")), widget.L(widget.T(theme.Plain, "ctrl+c quits"))}
	}
	top, keys := r.top(), r.keymap()
	body := screen.Frame{Width: r.width, Height: r.height - 3, Now: r.at}
	out := widget.Block{widget.Header(top.Title(), top.Facts(r.at), r.width)}
	out = append(out, r.body(top, body).Head(body.Height)...)
	out = append(out, r.aboveFooter(top), widget.Footer(keys.Keys, r.width))
	return out
}

func (r *router) aboveFooter(top screen.Screen) widget.Line {
	if r.notice != "" {
		return widget.L(widget.T(theme.Rule, "─ "), widget.T(theme.Warn, r.notice+" "))
	}
	return widget.CommandLine(top.Command(), r.width)
}

func (r *router) body(top screen.Screen, f screen.Frame) widget.Block {
	switch {
	case r.help:
		return r.reading(widget.Help(r.helpKeys(), f.Width), f)
	case r.copied != "":
		return r.reading(copiedPage(r.copied, f.Width), f)
	}
	return top.View(f)
}

// reading draws a page that is read and left.
func (r *router) reading(page widget.Block, f screen.Frame) widget.Block {
	view, _, below := r.scroll.Window(page, f.Height-1)
	if below == 0 {
		return view
	}
	return append(view.Head(len(view)), widget.L(widget.T(theme.Dim, " … "+widget.Count(below, "more line")+", ↓")))
}

// copiedPage shows a command without a frame, so that it can also be selected with the mouse.
func copiedPage(command string, width int) widget.Block {
	out := append(widget.Paragraph(theme.Strong, "Copied, if the terminal takes OSC 52; else select it here:", 0, width), widget.Line{})
	for _, l := range widget.Wrap(command, width) {
		out = append(out, widget.L(widget.T(theme.Info, l)))
	}
	return out
}

// helpKeys is the table that the help page is about: the screen's, not the page's own.
func (r *router) helpKeys() []widget.Key {
	r.help = false
	defer func() { r.help = true }()
	return r.keymap().Keys
}
