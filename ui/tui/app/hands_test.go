package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"reclaim/engine/diff"
	"reclaim/engine/plan"
	"reclaim/engine/value"
)

// Every row of the key table is a command of the palette, with its key beside it, on every screen.
func TestPaletteHasEveryCommand(t *testing.T) {
	for _, sc := range scenes() {
		o := sc.play(t)
		if o.r.keymap().Modal {
			continue
		}
		rows := o.r.keymap().Keys
		if o.press(":"); o.r.palette == nil {
			t.Fatalf("%s: no palette", sc.name)
		}
		for _, k := range rows {
			o.r.palette.text = command(k)
			o.size(200, 50)
			if got := o.text(); !strings.Contains(got, command(k)) || !strings.Contains(got, k.Names[0]) {
				t.Errorf("%s: %s (%s) is not shown", sc.name, command(k), k.Names[0])
			}
			if fit := o.r.palette.fitting(); len(fit) == 0 || command(fit[0].Key) != command(k) || fit[0].on != "" {
				t.Errorf("%s: its name does not choose %s", sc.name, command(k))
			}
		}
	}
}

// Whatever screen is open, the palette knows the commands of all of them.
func TestPaletteKnowsEveryScreen(t *testing.T) {
	for _, from := range scenes() {
		o := from.play(t)
		if o.r.keymap().Modal {
			continue
		}
		o.press(":")
		for _, sc := range scenes() {
			other := sc.play(t)
			if m := other.r.top().Keys(); !m.Modal && !other.r.onPage() {
				for _, k := range m.Keys {
					known := func(e entry) bool { return command(e.Key) == command(k) && slices.Equal(e.Names[:1], k.Names[:1]) }
					if (k.Word != "" || unicode.IsUpper([]rune(k.Names[0])[0])) && !slices.ContainsFunc(o.r.palette.rows, known) && len(k.Names[0]) == 1 {
						t.Errorf("from %s: %s of %s is not known", from.name, k.Names[0], sc.name)
					}
				}
			}
		}
	}
}

func TestPaletteDoesWhatTheKeyDoes(t *testing.T) {
	o := at(StartPlan, nil, "down", "down", "down")(t)
	o.press(":", "enter")
	o.sees("Type what to do") // nothing is chosen before something was typed
	o.write("appr")
	o.press("enter")
	o.sees("approved 1 of the 3 that can run: OrdersRole")
	o.press(":")
	o.write("take")
	o.press("tab")
	o.sees(":take back")
	o.press("enter")
	o.sees("approved 0 of the 3")
	o.press(":")
	o.write("xyzzy")
	o.sees("No command is called that")
	o.press("enter", "esc")
	o.press(":")
	o.write("deploy")
	o.press("enter")
	o.sees("Nothing is approved")
	if o.b.changed() != 0 {
		t.Fatal("the palette changed something")
	}
	o.press(":")
	o.write("take the choice")
	o.sees("on the recover screen")
	o.press("enter")
	o.sees("is a key of the recover screen")
	o.press(":", "down", "down", "up", "enter") // the first row: go up
	o.sees(">  ! blocked   OrdersIntegration")
}

func TestFindGoesThroughListsPagesAndHelp(t *testing.T) {
	o := at(StartPlan, nil, "/")(t)
	o.write("lambda")
	o.press("enter")
	o.sees("2 of 2 with lambda", ">  ~ update    OrdersFn")
	o.press("n") // the list goes on from the other end
	o.sees("1 of 2 with lambda", ">  ! blocked   OrdersLogs")
	o.press("N")
	o.sees("2 of 2", ">  ~ update    OrdersFn")
	o.press("esc", "n")
	o.seesNot("of 2 with")

	o.press("enter", "/")
	o.write("logformat")
	o.press("enter")
	o.sees("1 of 1 with logformat", "LoggingConfig.LogFormat")
	o.press("esc", "esc", "?", "/")
	o.write("wheel")
	o.press("enter")
	o.sees("1 of 1 with wheel", "turn the mouse on")
	o.press("/")
	o.write("xyzzy")
	o.press("enter")
	o.sees("Nothing here holds xyzzy")

	o = at(StartRecovery, held, "l", "enter", "/")(t)
	o.write("process killed")
	o.press("enter")
	o.sees("1 of 1 with process killed", "process killed; no answer recorded")
	o.press("esc", "esc", "/")
	o.write("foreign")
	o.press("enter")
	o.sees("record 3 of 3", "VERDICT  foreign")
}

// y copies what the operator chooses; the text is on the screen too, since many terminals take no OSC 52.
func TestCopyOffersIDsFieldsAndTheCommand(t *testing.T) {
	o := at(StartPlan, nil, "down", "down", "down", "down", "y")(t)
	o.sees("Copy what?", "command", "physical ID", "Timeout desired", "Timeout observed")
	o.seesNot("hunter2")
	o.press("down")
	_, cmd := o.r.Update(key("y"))
	if cmd == nil || fmt.Sprint(cmd()) != "orders-prod-OrdersFn-1d77ab02" {
		t.Fatalf("copied %v", cmd)
	}
	o.sees("Copied physical ID: orders-prod-OrdersFn-1d77ab02", "~ update    OrdersFn")
	o.press("down", "y", "down", "down", "down")
	o.press("esc")
	o.seesNot("Copy what?")
}

// A copied text holds no control character, whatever the cloud called its object.
func TestCopiedTextIsClean(t *testing.T) {
	b := newBackend()
	b.plan.Items[1].Physical = "a\x1b]52;c;x\a\nrm -rf"
	o := operate(t, b, Options{Start: StartPlan, Stack: orders, Theme: "none"})
	o.press("y", "down")
	_, cmd := o.r.Update(key("enter"))
	if got := fmt.Sprint(cmd()); strings.ContainsAny(got, "\x1b\a\n") || !strings.Contains(got, "rm -rf") {
		t.Fatalf("copied %q", got)
	}
}

func TestMouseIsOffUntilAskedFor(t *testing.T) {
	o := at(StartPlan, nil)(t)
	if o.r.View().MouseMode != tea.MouseModeNone {
		t.Fatal("the mouse is on, so the terminal selects no text")
	}
	o.press("m")
	if o.r.View().MouseMode == tea.MouseModeNone {
		t.Fatal("m turns the mouse on")
	}
	o.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	o.sees("4 of 7")
	o.send(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	o.sees("1 of 7")
	o.send(tea.MouseClickMsg{Button: tea.MouseLeft, X: 3, Y: 6})
	o.sees("1 of 7")
	o.press("m")
	if o.r.View().MouseMode != tea.MouseModeNone {
		t.Fatal("m turns it off again")
	}
}

func TestFilterByActionTypeAndVerdict(t *testing.T) {
	for filter, want := range map[string][]string{
		"action:update":        {"OrdersFn"},
		"type:logs":            {"OrdersLogs"},
		"type:logs action:upd": nil,
		"verdict:invalid":      {"OrdersLogs"},
		"verdict:ours":         {"OrdersRole"},
		"verdict:unverified":   {"OrdersFn"}, // by config; what the cloud filled in is no verdict to look for
		"VERDICT:Differs role": {"OrdersRole"},
		"api integration":      {"OrdersIntegration"},
		"verdict:nonsense":     nil,
	} {
		o := at(StartPlan, nil, "f")(t)
		o.write(filter)
		var got []string
		for _, id := range []string{"OrdersLogs", "OrdersApi", "OrdersIntegration", "OrdersRole", "OrdersFn", "OrdersTick"} {
			if strings.Contains(o.list(), id+" ") {
				got = append(got, id)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: shows %v, want %v:\n%s", filter, got, want, o.screen())
		}
	}
	o := at(StartPlan, nil, "f")(t)
	o.write("verd")
	o.press("tab")
	o.sees("filter: verdict:", "verdict:ambiguous verdict:differs")
	o.press("tab", "tab")
	o.sees("filter: verdict:differs")
}

// list is the lines between the first two rules of the screen.
func (o *operator) list() string {
	parts := strings.SplitN(o.screen(), "───", 2)
	body, _, _ := strings.Cut(strings.TrimLeft(parts[1], "─"), "───")
	return body
}

// The cursor stays on its item when the list is sorted or folded in another way.
func TestRunningOrderSaysWhatWaitsForWhat(t *testing.T) {
	o := at(StartPlan, nil, "end", "up", "up")(t)
	o.sees(">  ~ update    OrdersFn")
	o.press("w")
	o.sees("running order", ">  ~ update    OrdersFn", "after OrdersRole", "waits for nothing", "after OrdersApi")
	o.size(120, 40)
	o.sees("step 1   4 that wait for nothing", "step 2   2 after step 1", "waits for: OrdersRole")
	o.press("home")
	o.sees("waited for by: OrdersFn")
	o.press("w")
	o.seesNot("running order")
}

// A screen that is left and opened again is as it was; what was approved belongs to the visit that was left.
func TestScreensKeepTheirState(t *testing.T) {
	o := at(StartStacks, nil, "enter", "w", "end", "up", "f", "o", "r", "d", "enter")(t)
	o.sees("running order", "filter: ord", ">  ~ update    OrdersFn")
	o.press("A", "q")
	o.sees("Leave and drop 1 approval?")
	o.press("tab", "enter")
	o.sees("2 stacks")
	o.press("enter")
	o.sees("running order", "filter: ord", ">  ~ update    OrdersFn", "approved 0 of the 3")

	o = at(StartStacks, nil, "R", "l", "n", "esc")(t)
	o.press("R")
	o.sees("record 2 of 3")
}

func TestZoomGivesOnePaneTheScreen(t *testing.T) {
	o := at(StartPlan, nil)(t)
	o.size(200, 50)
	o.sees("BLOCKED: invalid read")
	o.press("z")
	o.seesNot("BLOCKED: invalid read")
	o.press("enter")
	o.sees("BLOCKED: invalid read")
	o.seesNot("OrdersTick")
	o.press("esc", "z")
	o.sees("BLOCKED: invalid read", "OrdersTick")
}

func TestChoicesAreTakenBack(t *testing.T) {
	o := at(StartRecovery, held, "l", "U")(t)
	o.sees("Nothing to take back here")
	o.press("C", "p")
	o.sees("decided 1 of 3", "record 1 of 3")
	o.press("U")
	o.sees("Taken back: reclaim of OrdersRole", "decided 0 of 3")
	if strings.Contains(o.r.top().Command(), "--decide") {
		t.Errorf("the command still decides: %s", o.r.top().Command())
	}
}

// The first line about a replacement names the field, the order, and what becomes of the old object.
func TestReplacementSaysWhyAndHow(t *testing.T) {
	o := at(StartPlan, harsh, "down")(t)
	o.sees("KeySchema forces it, delete-first; t…", "KeySchema cannot be changed in place: it is replaced, delete-first", "Old: the old table is", "Lost: 4120 items")
	o.b.plan.Items[0].Order = plan.CreateFirst
	o.size(200, 50)
	o.sees("create-first: the new one is there before", "calls: DeleteTable, CreateTable")
	o = at(StartPlan, policies)(t)
	o.size(120, 40)
	o.sees("replacement is possible: StreamArn", "it waits for OrdersTick.Arn")
}

// A failed look and a notice do not hide what is typed.
func TestNoticeGoesWithTheNextKey(t *testing.T) {
	o := at(StartPlan, nil, "A")(t)
	o.sees("there is nothing to approve")
	o.press(":")
	o.seesNot("there is nothing to approve")
	o.press("esc")
	o.b.replan = func() (*plan.Plan, error) { return nil, errors.New("no network") }
	o.press("l", "f", "x")
	o.sees("filter: x")
}

// A policy of thousands of lines is drawn once, not for every key.
func TestLongPolicyIsDrawnOnce(t *testing.T) {
	b := newBackend()
	lines := func(word string) value.Value {
		list := make([]any, 2500)
		for i := range list {
			list[i] = map[string]any{"Sid": fmt.Sprint("s", i), "Effect": "Allow", "Action": fmt.Sprintf("s3:%s%d", word, i%7), "Resource": "*"}
		}
		return value.Of(map[string]any{"Statement": list})
	}
	b.plan.Items[4].Fields = []diff.Field{{Path: "Policy", Verdict: diff.Differs, By: diff.ByConfig, Desired: lines("Get"), Observed: lines("Put")}}
	o := operate(t, b, Options{Start: StartPlan, Stack: orders, Theme: "none"})
	o.press("down", "down", "down", "down", "enter")
	o.text()
	began := time.Now()
	for range 100 {
		o.press("down")
		o.text()
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("100 keys took %s", took)
	}
	o.sees("more lines")
}
