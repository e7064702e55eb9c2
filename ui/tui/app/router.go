package app

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

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
	open    []screen.Screen // the top one last; never empty
	all     []screen.Screen // one of each kind, never opened: the palette says what they can do
	theme   theme.Theme
	auto    bool                 // the theme follows the terminal's background
	colours colorprofile.Profile // that the terminal has
	now     func() time.Time
	at      time.Time
	width   int
	height  int

	help    bool
	scroll  widget.Scroll
	copied  string // the text that was copied, while its page is open
	notice  string
	chooser *chooser // of what to copy, while it is open
	palette *palette // of commands, while it is open
	mouse   bool     // asked for: the terminal's own selection is off meanwhile

	findBox      *box // for what to find, while it is open
	pageSought   string
	screenSought map[screen.Screen]string
	kept         map[string]any // of screens that were left, by title

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
	return &router{open: []screen.Screen{first}, theme: th, auto: auto, now: now, at: now(), width: 80, height: 24,
		screenSought: map[screen.Screen]string{}, kept: map[string]any{}}
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
			r.theme = theme.For(msg.IsDark()).At(r.colours)
		}
	case tea.ColorProfileMsg:
		r.colours, r.theme = msg.Profile, r.theme.At(msg.Profile)
	case tea.KeyPressMsg:
		return r, r.press(msg)
	case tea.MouseWheelMsg:
		return r, r.wheel(msg)
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
		if k, ok := msg.Screen.(screen.Keeper); ok && r.kept[k.Title()] != nil {
			k.Restore(r.kept[k.Title()])
		}
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

// press runs the row of a key. What was said to the operator stays until then.
func (r *router) press(msg tea.KeyPressMsg) tea.Cmd {
	m := r.keymap()
	if _, ok := m.Find(msg); ok || m.Text != nil {
		r.notice = ""
	}
	return m.Press(msg)
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
	if k, ok := r.top().(screen.Keeper); ok {
		r.kept[k.Title()] = k.Keep()
	}
	r.top().Close()
	delete(r.screenSought, r.top())
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

// keymap is the table that counts now: of a page, a box or a dialog alone, or the screen's followed by the keys that
// every screen has.
func (r *router) keymap() widget.Keymap {
	ends := []widget.Key{
		{Names: []string{"ctrl+c"}, Show: "ctrl+c", Help: "quit; a live run is drained first, and stopped the second time", Do: r.interrupt},
		{Names: []string{"ctrl+z"}, Show: "ctrl+z", Help: "put it to sleep, and fg wakes it; not while a run is live", Do: r.suspend},
	}
	m := r.own()
	if m.Modal {
		m.Keys = append(m.Keys, ends...)
		return m
	}
	m.Keys = slices.Clone(m.Keys)
	for _, k := range append(append(r.sharedKeys(), ends...),
		widget.Key{Names: []string{"?"}, Show: "?", Help: "show or leave this page", Do: func() tea.Cmd { r.help = true; return nil }}) {
		m.Keys = append(m.Keys, unclaimedRows([]widget.Key{k}, m.Keys)...)
	}
	return m
}

// own is the table of what lies on top: a box or page of the router's, or the screen. Where something was looked for,
// the keys that go on with it come first.
func (r *router) own() widget.Keymap {
	switch {
	case r.findBox != nil:
		return r.findBoxKeys()
	case r.palette != nil:
		return r.paletteKeys()
	case r.chooser != nil:
		return r.chooserKeys()
	case r.onPage():
		return r.withFind(widget.Keymap{Modal: true, Keys: r.pageKeys()})
	}
	m := r.top().Keys()
	if m.Modal {
		return m
	}
	return r.withFind(m)
}

// withFind puts the keys of finding before a table's while something is looked for, and else behind it.
func (r *router) withFind(m widget.Keymap) widget.Keymap {
	keys := r.findKeys()
	if r.sought() != "" {
		m.Keys = append(keys, unclaimedRows(m.Keys, keys)...)
		return m
	}
	m.Keys = append(m.Keys, unclaimedRows(keys, m.Keys)...)
	return m
}

// sharedKeys are what every screen has, unless it gives the key a meaning of its own.
func (r *router) sharedKeys() []widget.Key {
	return []widget.Key{
		{Names: []string{"y"}, Show: "y", Word: "copy", Help: "copy the command that does the same, the physical ID or a field (OSC 52), and show it", Do: r.openCopy},
		{Names: []string{":"}, Show: ":", Word: "commands", Help: "type what to do instead of its key", Do: r.openPalette},
		{Names: []string{"q", "esc"}, Show: "q", Word: "back", Help: "go back; from the first screen, quit", Do: func() tea.Cmd { return r.back() }},
		{Names: []string{"m"}, Show: "m", Help: "turn the mouse on, so that its wheel scrolls, or off, so that the terminal selects text", Do: r.toggleMouse},
	}
}

// unclaimedRows are rows without the names that others have: a screen may give a shared key a meaning of its own.
func unclaimedRows(rows, others []widget.Key) []widget.Key {
	var out []widget.Key
	for _, row := range rows {
		row.Names = slices.DeleteFunc(slices.Clone(row.Names), func(n string) bool {
			return slices.ContainsFunc(others, func(k widget.Key) bool { return slices.Contains(k.Names, n) })
		})
		if len(row.Names) > 0 {
			out = append(out, row)
		}
	}
	return out
}

func (r *router) pageKeys() []widget.Key {
	leave := func() tea.Cmd {
		r.help, r.copied, r.scroll, r.pageSought = false, "", widget.Scroll{}, ""
		return nil
	}
	move := func(n int) func() tea.Cmd { return func() tea.Cmd { r.scroll.Move(n); return nil } }
	return []widget.Key{
		{Names: []string{"esc", "q", "?", "y", "enter"}, Show: "esc", Word: "leave", Help: "leave this page", Do: leave},
		{Names: []string{"down", "pgdown", "j"}, Show: "↓", Word: "read on", Help: "read on", Do: move(5)},
		{Names: []string{"up", "pgup", "k"}, Show: "↑", Word: "read back", Help: "read back", Do: move(-5)},
	}
}

// View draws the frame.
func (r *router) View() tea.View {
	v := tea.NewView(r.draw().Render(r.theme, r.width, r.height))
	v.AltScreen = true
	if r.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.WindowTitle = "reclaim"
	return v
}

func (r *router) draw() widget.Block {
	if r.width < minWidth || r.height < minHeight {
		return widget.Block{widget.L(widget.T(theme.Warn, "needs 40×12 cells")), widget.L(widget.T(theme.Plain, "ctrl+c quits"))}
	}
	top, keys := r.top(), r.keymap()
	body := r.frame()
	out := widget.Block{widget.Header(top.Title(), top.Facts(r.at), r.width)}
	out = append(out, widget.Highlight(r.body(top, body).Head(body.Height), r.sought())...)
	out = append(out, r.aboveFooter(top), widget.Footer(keys.Keys, r.width))
	return out
}

// frame is the room between header and footer.
func (r *router) frame() screen.Frame {
	return screen.Frame{Width: r.width, Height: r.height - 3, Now: r.at}
}

func (r *router) aboveFooter(top screen.Screen) widget.Line {
	typing := func(mark, text string) widget.Line {
		return widget.L(widget.T(theme.Rule, "─ "), widget.T(theme.Key, mark+widget.CutTail(text, max(r.width-6, 1))), widget.T(theme.Selected, " "))
	}
	switch {
	case r.notice != "":
		return widget.L(widget.T(theme.Rule, "─ "), widget.T(theme.Warn, r.notice+" "))
	case r.findBox != nil:
		return typing("/", r.findBox.text)
	case r.palette != nil:
		return typing(":", r.palette.text)
	}
	return widget.CommandLine(top.Command(), r.width)
}

func (r *router) body(top screen.Screen, f screen.Frame) widget.Block {
	switch {
	case r.chooser != nil:
		return r.chooser.view(f)
	case r.onPage():
		return r.reading(r.page(f.Width), f)
	case r.palette != nil:
		return r.palette.over(top.View(f), f.Width, f.Height)
	}
	return top.View(f)
}

// page is the page that is open.
func (r *router) page(width int) widget.Block {
	if r.help {
		return widget.Help(r.helpKeys(), width)
	}
	return copiedPage(r.copied, width)
}

// reading draws a page that is read and left.
func (r *router) reading(page widget.Block, f screen.Frame) widget.Block {
	view, _, below := r.scroll.Window(page, f.Height-1)
	if below == 0 {
		return view
	}
	return append(view.Head(len(view)), widget.L(widget.T(theme.Dim, " … "+widget.Count(below, "more line")+", ↓")))
}

// helpKeys is the table that the help page is about: the screen's, not the page's own.
func (r *router) helpKeys() []widget.Key {
	below := *r
	below.help, below.findBox = false, nil
	return below.keymap().Keys
}
