package app

import (
	"context"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/vt"

	"reclaim/ui/tui/theme"
)

// operator drives a router by keys, without a terminal: commands run at once, but for clocks. With live, a run goes on
// in the background, as it does in a program, and its events come in when await asks for them.
type operator struct {
	t    testing.TB
	r    *router
	b    *backend
	live bool
	next tea.Cmd // the command that waits for the run's next events
	quit bool
}

func operate(t testing.TB, b *backend, o Options) *operator {
	t.Helper()
	r, err := prepare(context.Background(), b, o)
	if err != nil {
		t.Fatal(err)
	}
	op := &operator{t: t, r: r, b: b}
	op.do(r.Init())
	return op
}

// do runs a command and everything that follows from it.
func (o *operator) do(cmd tea.Cmd) {
	if cmd == nil || isClock(cmd) {
		return
	}
	switch name := funcName(cmd); {
	case o.live && strings.Contains(name, "(*stream).next"):
		o.next = cmd
		return
	case o.live && strings.Contains(name, "execution.(*Screen).Init") && !strings.Contains(name, ".Batch."):
		go cmd()
		return
	}
	o.send(cmd())
}

// await takes events of a live run until text is on the screen.
func (o *operator) await(text string) {
	o.t.Helper()
	for !strings.Contains(o.screen(), text) {
		next, got := o.next, make(chan tea.Msg, 1)
		if next == nil {
			o.t.Fatalf("the run is over and there is no %q:\n%s", text, o.screen())
		}
		o.next = nil
		go func() { got <- next() }()
		select {
		case msg := <-got:
			o.send(msg)
		case <-time.After(20 * time.Second):
			o.t.Fatalf("no more events and no %q:\n%s", text, o.screen())
		}
	}
}

// isClock tells commands that wait for time to pass; a test does not wait.
func isClock(cmd tea.Cmd) bool {
	return strings.Contains(funcName(cmd), ".Tick.")
}

func (o *operator) send(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
	case tea.QuitMsg:
		o.quit = true
	case tea.BatchMsg:
		for _, c := range msg {
			o.do(c)
		}
	default:
		if v := reflect.ValueOf(msg); v.Kind() == reflect.Slice && v.Type().Elem() == reflect.TypeFor[tea.Cmd]() { // tea.Sequence
			for i := range v.Len() {
				o.do(v.Index(i).Interface().(tea.Cmd))
			}
			return
		}
		_, cmd := o.r.Update(msg)
		o.do(cmd)
	}
}

// key makes the press of a key by its name: "A", "enter", "ctrl+c".
func key(name string) tea.KeyPressMsg {
	codes := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft,
		"right": tea.KeyRight, "backspace": tea.KeyBackspace, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "delete": tea.KeyDelete,
		"f1": tea.KeyF1, "insert": tea.KeyInsert}
	if rest, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: []rune(rest)[0], Mod: tea.ModCtrl}
	}
	if rest, ok := strings.CutPrefix(name, "alt+"); ok {
		return tea.KeyPressMsg{Code: []rune(rest)[0], Mod: tea.ModAlt}
	}
	if name == "shift+tab" {
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	}
	if c, ok := codes[name]; ok {
		return tea.KeyPressMsg{Code: c}
	}
	if name == "space" {
		return tea.KeyPressMsg{Code: ' ', Text: " "}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

func (o *operator) press(names ...string) {
	for _, n := range names {
		o.send(key(n))
	}
}

func (o *operator) write(text string) {
	for _, c := range text {
		o.send(tea.KeyPressMsg{Code: c, Text: string(c)})
	}
}

func (o *operator) size(w, h int) { o.send(tea.WindowSizeMsg{Width: w, Height: h}) }

// screen is what a terminal shows of the view.
func (o *operator) screen() string { return onTerminal(o.r.View().Content, o.r.width, o.r.height) }

// text is the view without its looks; cheaper than screen.
func (o *operator) text() string { return o.r.draw().Render(theme.Theme{}, o.r.width, o.r.height) }

func onTerminal(view string, w, h int) string {
	e := vt.NewEmulator(w, h)
	defer e.Close()
	e.WriteString(strings.ReplaceAll(view, "\n", "\r\n"))
	lines := strings.Split(e.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

func (o *operator) sees(parts ...string) {
	o.t.Helper()
	got := o.screen()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			o.t.Fatalf("want %q on the screen:\n%s", p, got)
		}
	}
}

func (o *operator) seesNot(part string) {
	o.t.Helper()
	if got := o.screen(); strings.Contains(got, part) {
		o.t.Fatalf("want no %q on the screen:\n%s", part, got)
	}
}

func funcName(f any) string { return runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name() }
