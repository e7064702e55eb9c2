package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/recovery"
	"reclaim/ui/tui/theme"
)

// scene is a screen in a state, and the keys that lead there.
type scene struct {
	name string
	play func(t testing.TB) *operator
}

func at(st Start, set func(*backend), keys ...string) func(testing.TB) *operator {
	return func(t testing.TB) *operator {
		b := newBackend()
		if set != nil {
			set(b)
		}
		o := operate(t, b, Options{Start: st, Stack: orders, Theme: "none"})
		o.press(keys...)
		return o
	}
}

func held(b *backend) { b.held = true }

func harsh(b *backend) { b.plan = harshPlan() }

func policies(b *backend) { b.plan = policyPlan() }

// longIDs makes a command that no short screen holds.
func longIDs(b *backend) {
	b.held = true
	b.findings = func(look bool) []recovery.Finding {
		list := ordersFindings(look)
		for i := range list[:2] {
			list[i].Offered[0].Physical = "arn:aws:service:eu-west-1:123456789012:" + strings.Repeat("long/", 24) + list[i].ID
		}
		return list
	}
}

// scenes are every screen in every state worth looking at; tests of "all screens" go through them.
func scenes() []scene {
	return []scene{
		{"stacks", at(StartStacks, held)},
		{"plan", at(StartPlan, nil)},
		{"plan-update", at(StartPlan, nil, "down", "down", "down", "A", "down", "A")},
		{"plan-create", at(StartPlan, nil, "down", "down", "down", "down", "down")},
		{"plan-fields", at(StartPlan, nil, "down", "down", "down", "down", "x", "enter")},
		{"plan-filter", at(StartPlan, nil, "f", "r", "o", "l", "e")},
		{"plan-deploy", at(StartPlan, nil, "down", "down", "down", "A", "down", "A", "D")},
		{"plan-typed", at(StartPlan, harsh, "down", "A", "T", "a")},
		{"plan-empty", at(StartPlan, func(b *backend) { b.plan = nil })},
		{"recovery-store", at(StartRecovery, held)},
		{"recovery-ours", at(StartRecovery, held, "l")},
		{"recovery-ambiguous", at(StartRecovery, held, "l", "C")},
		{"recovery-foreign", at(StartRecovery, held, "l", "C", "C")},
		{"recovery-diff", at(StartRecovery, held, "l", "C", "d")},
		{"recovery-all", at(StartRecovery, held, "l", "enter")},
		{"recovery-id", at(StartRecovery, held, "l", "n", "E", "a", "1")},
		{"recovery-summary", at(StartRecovery, held, "l", "C", "C", "down", "C", "s")},
		{"recovery-ended", at(StartRecovery, held, "l", "C", "C", "down", "C", "tab", "enter")},
		{"execution-live", liveScene},
		{"execution-ended", at(StartPlan, nil, "down", "down", "down", "A", "down", "A", "D", "tab", "enter")},
		{"help", at(StartPlan, nil, "?")},
		{"copied", at(StartRecovery, longIDs, "l", "C", "C", "y", "y")},
		{"copy", at(StartRecovery, held, "l", "n", "y", "down")},
		{"find", at(StartPlan, nil, "/", "r", "o", "l", "e", "enter", "n")},
		{"palette", at(StartPlan, nil, ":", "a", "p")},
		{"plan-order", at(StartPlan, nil, "w")},
		{"plan-zoom", at(StartPlan, nil, "z")},
		{"plan-replace", at(StartPlan, harsh, "down")},
		{"plan-inside", at(StartPlan, policies)},
		{"plan-policy", at(StartPlan, policies, "enter")},
	}
}

func liveScene(t testing.TB) *operator {
	b := newBackend()
	b.run = func(ctx context.Context, sink event.Sink) (deploy.Outcome, error) {
		half(sink)
		<-ctx.Done()
		return deploy.Outcome{}, nil
	}
	o := at(StartPlan, nil, "down", "down", "down", "A", "D", "tab")(t)
	o.b.run, o.b.clock, o.live = b.run, now.Add(7*time.Second), true
	o.press("enter")
	o.await("not visible yet")
	return o
}

var sizes = [][2]int{{80, 24}, {120, 40}, {200, 50}}

// TestScreens compares every scene, as a terminal shows it, with testdata/screens. RECLAIM_GOLDEN=1 writes them.
func TestScreens(t *testing.T) {
	want := map[string]bool{}
	for _, sc := range scenes() {
		o := sc.play(t)
		for _, size := range sizes {
			o.size(size[0], size[1])
			name := fmt.Sprintf("%s-%dx%d.txt", sc.name, size[0], size[1])
			want[name] = true
			golden(t, name, o.screen())
			for _, th := range []string{"dark", "light", "none", "auto"} {
				o.r.theme, _ = theme.Parse(th)
				if d := cmp.Diff(trimmed(o.text()), trimmed(ansi.Strip(o.r.View().Content))); d != "" {
					t.Errorf("%s: theme %s says other words than no theme: %s", name, th, d)
				}
			}
		}
	}
	for _, name := range []string{"plan-update", "recovery-ours"} {
		i := slices.IndexFunc(scenes(), func(s scene) bool { return s.name == name })
		o := scenes()[i].play(t)
		for _, th := range []string{"dark", "light", "none"} {
			o.r.theme, _ = theme.Parse(th)
			o.send(tea.ColorProfileMsg{Profile: colorprofile.ANSI256})
			file := fmt.Sprintf("%s-80x24-%s.ansi", name, th)
			want[file] = true
			golden(t, file, o.r.View().Content+"\n")
		}
	}
	files, err := os.ReadDir(goldenDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !want[f.Name()] {
			t.Errorf("testdata/screens/%s belongs to no scene", f.Name())
		}
	}
}

const goldenDir = "../../../testdata/screens"

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join(goldenDir, name)
	if os.Getenv("RECLAIM_GOLDEN") == "1" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("%s: %s", name, d)
	}
}

// trimmed drops the spaces that fill the line under the cursor.
func trimmed(s string) []string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}
