package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"reclaim/ui/tui/widget"
)

// universe is every key a test presses: printable ASCII, named keys, and both with ctrl or alt.
func universe() []string {
	keys := []string{"enter", "esc", "tab", "shift+tab", "up", "down", "left", "right", "backspace", "delete", "pgup", "pgdown", "home", "end", "insert", "f1", "space"}
	for c := '!'; c <= '~'; c++ {
		keys = append(keys, string(c))
	}
	for c := 'a'; c <= 'z'; c++ {
		keys = append(keys, "ctrl+"+string(c), "alt+"+string(c))
	}
	return keys
}

func listed(m widget.Keymap, name string) bool {
	return slices.ContainsFunc(m.Keys, func(k widget.Key) bool { return slices.Contains(k.Names, name) })
}

// A key that the table does not list does nothing, on every screen and in every dialog.
func TestUnlistedKeysDoNothing(t *testing.T) {
	for _, sc := range scenes() {
		o := sc.play(t)
		for _, name := range universe() {
			m := o.r.keymap()
			if listed(m, name) || m.Text != nil && key(name).Text != "" {
				continue
			}
			before := o.text()
			if _, cmd := o.r.Update(key(name)); cmd != nil {
				t.Errorf("%s: %s is not listed and started something", sc.name, name)
			}
			if o.text() != before {
				t.Errorf("%s: %s is not listed and changed the screen", sc.name, name)
			}
		}
	}
}

// A key that is listed does something, is explained, and means one thing.
func TestListedKeysAreHandled(t *testing.T) {
	acts := map[string]bool{}
	for _, sc := range scenes() {
		o := sc.play(t)
		screenName, _, _ := strings.Cut(sc.name, "-")
		seen := map[string]bool{}
		for _, k := range o.r.keymap().Keys {
			if k.Do == nil || k.Help == "" || k.Show == "" || len(k.Names) == 0 {
				t.Errorf("%s: incomplete row %v", sc.name, k.Names)
			}
			for _, name := range k.Names {
				if got := key(name).String(); got != name {
					t.Errorf("%s: no key press is called %q (%q)", sc.name, name, got)
				}
				if seen[name] {
					t.Errorf("%s: %s is listed twice", sc.name, name)
				}
				seen[name] = true
				again := sc.play(t)
				again.size(40, 12)                                   // so that there is something to scroll
				for _, first := range []string{"", "down", "down"} { // at an end a move has no effect; from the middle it has
					if first != "" && listed(again.r.keymap(), first) {
						again.press(first)
					}
					before := again.text()
					_, cmd := again.r.Update(key(name))
					acts[screenName+" "+name] = acts[screenName+" "+name] || cmd != nil || again.text() != before
				}
			}
		}
	}
	for name, did := range acts {
		if !did {
			t.Errorf("%s is listed and never did anything", name)
		}
	}
}

// What is chosen and approved is part of the command on the screen: lower case and arrows never change it.
func TestOnlyCapitalsAct(t *testing.T) {
	for _, sc := range scenes() {
		o := sc.play(t)
		if o.r.keymap().Modal {
			continue
		}
		for _, name := range universe() {
			if r := []rune(name); len(r) == 1 && unicode.IsUpper(r[0]) || strings.HasPrefix(name, "ctrl+") {
				continue
			}
			before, changes := o.r.top().Command(), o.b.changed()
			top := o.r.top()
			o.press(name)
			if o.r.top() == top && o.r.top().Command() != before || o.b.changed() != changes {
				t.Errorf("%s: %s changed %q to %q", sc.name, name, before, o.r.top().Command())
			}
			if o.r.top() != top || o.r.keymap().Modal || o.quit {
				o = sc.play(t)
			}
		}
	}
}

// The footer and the help page come from the table: each row of it is on the help page.
func TestHelpListsEveryKey(t *testing.T) {
	for _, sc := range scenes() {
		o := sc.play(t)
		if o.r.keymap().Modal {
			continue
		}
		rows := o.r.keymap().Keys
		o.press("?")
		o.size(120, 60)
		got := o.screen()
		for _, k := range rows {
			if !strings.Contains(got, k.Help[:min(len(k.Help), 60)]) || !strings.Contains(got, k.Names[0]) {
				t.Errorf("%s: %v is missing on the help page", sc.name, k.Names)
			}
		}
	}
}

// A dialog starts on Cancel, and the key that opened it does not confirm it.
func TestDialogsStartOnCancel(t *testing.T) {
	for _, opened := range []struct{ scene, by string }{{"plan-deploy", "D"}, {"recovery-summary", "s"}} {
		i := slices.IndexFunc(scenes(), func(s scene) bool { return s.name == opened.scene })
		o := scenes()[i].play(t)
		o.sees("[> Cancel <]")
		o.press(opened.by, opened.by, "enter", "enter", "space", "y", "Y")
		if o.b.changed() != 0 {
			t.Errorf("%s: confirmed without leaving Cancel", opened.scene)
		}
	}
}

func TestCopyShowsTheWholeCommand(t *testing.T) {
	o := at(StartPlan, nil, "down", "down", "down", "A")(t)
	o.press("y")
	_, cmd := o.r.Update(key("y"))
	if cmd == nil || fmt.Sprint(cmd()) != o.r.top().Command() {
		t.Fatalf("copied %v, want %s", cmd, o.r.top().Command())
	}
	o.sees("--only OrdersRole", "7f3a91c2d40e")
	o.press("esc")
	o.seesNot("Copied")
}

func TestPasteIsNoKeyPress(t *testing.T) {
	for _, sc := range scenes() {
		o := sc.play(t)
		before := o.text()
		o.send(tea.PasteMsg{Content: "ADqCTable\r\n"})
		if o.text() != before || o.quit {
			t.Errorf("%s: pasted text did something", sc.name)
		}
	}
}
