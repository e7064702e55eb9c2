package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/value"
	"reclaim/ui/text/clean"
	"reclaim/ui/tui/theme"
)

// fits checks that the view has exactly the terminal's lines, none wider than the terminal.
func fits(t testing.TB, o *operator, doing string) {
	t.Helper()
	lines := strings.Split(o.r.View().Content, "\n")
	if len(lines) != o.r.height {
		t.Fatalf("%s at %d×%d: %d lines", doing, o.r.width, o.r.height, len(lines))
	}
	for _, l := range lines {
		if w := ansi.StringWidth(l); w > o.r.width {
			t.Fatalf("%s at %d×%d: a line of %d cells: %q", doing, o.r.width, o.r.height, w, ansi.Strip(l))
		}
	}
}

func TestEveryScreenFitsEverySize(t *testing.T) {
	for _, sc := range scenes() {
		o := sc.play(t)
		for _, w := range []int{1, 39, 40, 41, 63, 64, 79, 80, 99, 100, 109, 110, 121, 300} {
			for _, h := range []int{1, 11, 12, 13, 15, 16, 19, 23, 24, 29, 40, 100} {
				o.size(w, h)
				fits(t, o, sc.name)
			}
		}
	}
}

// A window that is dragged through every width and every height never breaks a screen: no panic, no line too wide, none
// too many.
func TestEveryScreenIsDraggedThroughEverySize(t *testing.T) {
	const widths, heights = 300 - minWidth + 1, 100 - minHeight + 1
	for _, sc := range scenes() {
		o := sc.play(t)
		for i := range widths {
			o.size(minWidth+i, minHeight+i*37%heights)
			fits(t, o, sc.name)
		}
		for i := range heights {
			o.size(minWidth+i*101%widths, minHeight+i)
			fits(t, o, sc.name)
		}
	}
}

// Whatever keys are pressed at whatever size: no panic, no overflow, and nothing is changed but by enter on a marked
// confirmation.
func TestRandomKeys(t *testing.T) {
	keys := append(universe(), "enter", "enter", "enter", "tab", "tab", "D", "D", "A", "A", "A", "B", "C", "C", "C", "s", "s", "l", "n", "down", "down", "R", "esc", "3", "e-9c41")
	confirmed := regexp.MustCompile(`\[> (Deploy|Destroy|Carry out) <\]`)
	changes := 0
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		b := newBackend()
		b.held = seed%2 == 1
		b.enter = func(string) (recovery.Finding, error) { return ordersFindings(true)[rnd.IntN(3)], nil }
		if seed%3 == 0 {
			b.plan = harshPlan()
		}
		o := operate(t, b, Options{Start: []Start{StartStacks, StartPlan, StartRecovery}[seed%3], Stack: orders, Theme: "dark"})
		for range 150 {
			if rnd.IntN(12) == 0 {
				o.size(40+rnd.IntN(261), 12+rnd.IntN(89))
			}
			k := keys[rnd.IntN(len(keys))]
			if k == "ctrl+c" || len(o.r.open) == 1 && (k == "q" || k == "esc") && !o.r.keymap().Modal {
				continue // they end it
			}
			sure := k == "enter" && confirmed.MatchString(o.text())
			before := b.changed()
			if len([]rune(k)) > 1 && !listed(o.r.keymap(), k) && key(k).Text != "" {
				o.write(k)
			} else {
				o.press(k)
			}
			if b.changed() != before && !sure {
				t.Fatalf("seed %d: %s changed something without a confirmation:\n%s", seed, k, o.screen())
			}
			changes += b.changed() - before
			fits(t, o, fmt.Sprintf("seed %d, key %s", seed, k))
		}
	}
	if changes == 0 {
		t.Error("no run of random keys ever confirmed anything: the test proves nothing")
	}
}

const hostile = "\x1b[31mX\x1b]52;c;cm0=\a\x9b2J\u202egpj\u200b\r\n\t\x00注文👨\u200d👩\u200d👧e\u0301\u0301\u0301\u0301\u0301\u0301 "

var (
	aValue = reflect.TypeFor[value.Value]()
	aTime  = reflect.TypeFor[time.Time]()
)

// poison puts the hostile text into every string of v, and into every value; words too makes it change the closed sets
// of words (actions, verdicts) as well.
func poison(v reflect.Value, words bool) {
	switch {
	case v.Type() == aValue:
		if v.Interface().(value.Value).IsSet() {
			v.Set(reflect.ValueOf(value.Of(hostile)))
		}
		return
	case v.Type() == aTime:
		return
	}
	switch v.Kind() {
	case reflect.String:
		if words || v.Type().Name() == "string" || v.Type() == reflect.TypeFor[value.Path]() {
			v.SetString(hostile + v.String())
		}
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), words)
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), words)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				poison(v.Field(i), words)
			}
		}
	case reflect.Map:
		poisonMap(v, words)
	}
}

func poisonMap(v reflect.Value, words bool) {
	if v.IsNil() {
		return
	}
	out := reflect.MakeMap(v.Type())
	for _, k := range v.MapKeys() {
		key, elem := reflect.New(k.Type()).Elem(), reflect.New(v.Type().Elem()).Elem()
		key.Set(k)
		elem.Set(v.MapIndex(k))
		poison(key, words)
		poison(elem, words)
		out.SetMapIndex(key, elem)
	}
	v.Set(out)
}

var ownStyle = regexp.MustCompile("\x1b\\[[0-9;:]*m")

// harmless checks that nothing but our own colours and line ends reaches the terminal.
func harmless(t *testing.T, o *operator, doing string) {
	t.Helper()
	out := strings.ReplaceAll(ownStyle.ReplaceAllString(o.r.View().Content, ""), "\n", "")
	if i := strings.IndexFunc(out, func(r rune) bool { return !unicode.IsGraphic(r) }); i >= 0 {
		t.Fatalf("%s: %q reaches the terminal", doing, out[i:min(i+40, len(out))])
	}
	if c := o.r.top().Command(); clean.Clean(c) != c {
		t.Fatalf("%s: the command to copy holds controls: %q", doing, c)
	}
}

// Hostile text in every field of plan, findings, stacks, events and outcome is shown as text (DESIGN §9).
func TestHostileTextIsShownNotEmitted(t *testing.T) {
	walks := [][]string{
		{}, {"down"}, {"enter"}, {"x", "enter"}, {"A"}, {"D"}, {"B"}, {"A", "D"}, {"?"}, {"y"}, {"y", "down", "y"}, {"/", "x", "enter", "n"}, {"f", "x", "tab"}, {":", "x"}, {"w"}, {"z", "enter"}, {"enter", "/", "e", "enter", "N"},
		{"l"}, {"l", "C", "s"}, {"l", "d"}, {"l", "enter"}, {"l", "n", "d"}, {"l", "n", "n", "enter"}, {"l", "C", "C", "s", "tab", "enter"},
		{"down", "down", "down", "A", "D", "tab", "enter"},
	}
	for _, words := range []bool{false, true} {
		for _, st := range []Start{StartStacks, StartPlan, StartRecovery} {
			for _, walk := range walks {
				b := hostileBackend(words)
				o := operate(t, b, Options{Start: st, Stack: orders, Theme: "dark"})
				for i, k := range append([]string{""}, walk...) {
					if k != "" {
						o.press(k)
					}
					for _, size := range [][2]int{{80, 24}, {131, 50}, {40, 12}} {
						o.size(size[0], size[1])
						doing := fmt.Sprintf("words %v, %s %v step %d", words, st, walk, i)
						harmless(t, o, doing)
						fits(t, o, doing)
					}
				}
			}
		}
	}
}

// hostileBackend answers with the fixture, every text of it poisoned.
func hostileBackend(words bool) *backend {
	b := newBackend()
	b.held = true
	b.summaries = func() []StackSummary {
		list := ordersSummaries(true, "")
		list[1].Bad = []record.BadRecord{{Key: "k", Reason: "r"}}
		poison(reflect.ValueOf(&list), words)
		list[1].Stack = orders
		return list
	}
	b.plan = ordersPlan()
	b.plan.Items = append(b.plan.Items, harshPlan().Items...)
	b.plan.Notes = []string{"a note"}
	poison(reflect.ValueOf(b.plan), words)
	b.findings = func(look bool) []recovery.Finding {
		list := ordersFindings(look)
		poison(reflect.ValueOf(&list), words)
		return list
	}
	b.run = func(_ context.Context, sink event.Sink) (deploy.Outcome, error) {
		outcome, err := shortRun(context.Background(), event.SinkFunc(func(e event.Envelope) {
			fresh := reflect.New(reflect.TypeOf(e.Event)).Elem()
			fresh.Set(reflect.ValueOf(e.Event))
			poison(fresh, words)
			e.Event = fresh.Interface().(event.Event)
			sink.Emit(e)
		}))
		outcome.Outputs = []plan.Output{{Name: "Url", Value: value.Of("x")}}
		outcome.Emergency = "file"
		poison(reflect.ValueOf(&outcome), words)
		return outcome, err
	}
	return b
}

// A screen of a plan of ten thousand draws only what is in view.
func TestLongPlanIsWindowed(t *testing.T) {
	b := newBackend()
	for i := range 10_000 {
		b.plan.Items = append(b.plan.Items, plan.Item{ID: fmt.Sprintf("File%05d", i), Type: "Std::FS::File", Gen: 1, Action: plan.Create, Needs: []plan.Grant{plan.GrantChange}})
	}
	o := operate(t, b, Options{Start: StartPlan, Stack: orders, Theme: "none"})
	o.press("end")
	o.sees("8 same", "10007 of 10007")
	o.press("home", "pgdown")
	o.sees("File00004", "11 of 10007")
}

func BenchmarkView(b *testing.B) {
	o := at(StartPlan, nil, "down", "down", "down", "down")(b)
	o.r.theme, _ = theme.Parse("dark")
	o.size(200, 50)
	for b.Loop() {
		o.r.View()
	}
}

// A real program on a terminal emulator takes keys, draws, and ends.
func TestProgramOnATerminal(t *testing.T) {
	b := newBackend()
	r, err := prepare(context.Background(), b, Options{Start: StartPlan, Stack: orders, Theme: "none"})
	if err != nil {
		t.Fatal(err)
	}
	term := newTerminal(80, 24)
	defer term.close()
	p := tea.NewProgram(r, tea.WithInput(term.input()), tea.WithOutput(term), tea.WithWindowSize(80, 24), tea.WithoutSignalHandler(), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
	done := make(chan error, 1)
	go func() { _, err := p.Run(); done <- err }()
	term.until(t, "3 blocked")
	for _, step := range []struct{ key, then string }{{"jjj", "OrdersRole  orders-prod-OrdersRole"}, {"A", "approved 1 of the 3"}, {"D", "[> Cancel <]"},
		{"\t", "[> Deploy <]"}, {"\r", "ended, exit 3"}, {"q", "this plan was run"}} {
		term.typed(step.key)
		term.until(t, step.then)
	}
	term.typed("q")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if len(b.deploys) != 1 {
		t.Fatalf("deployed %d times", len(b.deploys))
	}
}
