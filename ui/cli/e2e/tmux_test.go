package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// screen is a terminal in tmux with a shell in it, on a tmux server of its own.
type screen struct {
	w      *world
	socket string
}

// prompt is what the shell writes when it waits for a command.
const prompt = "shell>"

// terminal opens a terminal of a size in the world's folder; without tmux the test is skipped.
func (w *world) terminal(columns, rows int) *screen {
	w.t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		w.t.Skip("skipped: needs tmux")
	}
	s := &screen{w, filepath.Join(w.t.TempDir(), "tmux")}
	w.t.Cleanup(func() { s.tmux("kill-server") }) // ends the server on this socket alone
	s.must("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows),
		"PS1='"+prompt+"' PS2= ENV= exec sh -i")
	s.shows(prompt)
	return s
}

func (s *screen) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...)
	cmd.Dir, cmd.Env = s.w.dir, s.w.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (s *screen) must(args ...string) string {
	s.w.t.Helper()
	out, err := s.tmux(args...)
	if err != nil {
		s.w.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return out
}

// press sends keys by tmux's names for them: "Enter", "C-c", "R".
func (s *screen) press(keys ...string) {
	s.w.t.Helper()
	s.must(append([]string{"send-keys"}, keys...)...)
}

// types types a text letter by letter.
func (s *screen) types(text string) {
	s.w.t.Helper()
	s.must("send-keys", "-l", text)
}

// command types a command at the shell.
func (s *screen) command(line string) {
	s.w.t.Helper()
	s.types(line)
	s.press("Enter")
}

// text is what is on the screen.
func (s *screen) text() string {
	s.w.t.Helper()
	return s.must("capture-pane", "-p")
}

// shows waits until every part is on the screen at once, and returns the screen.
func (s *screen) shows(parts ...string) string {
	s.w.t.Helper()
	var text string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		text = s.text()
		all := true
		for _, p := range parts {
			all = all && strings.Contains(text, p)
		}
		if all {
			return text
		}
	}
	s.w.t.Fatalf("the screen never shows %q:\n%s", parts, text)
	return ""
}

// ask runs a command at the shell and returns what it printed, between marks of its own.
func (s *screen) ask(line string) string {
	s.w.t.Helper()
	s.command("clear; echo be''gin; " + line + "; echo e''nd")
	text := s.shows("begin\n", "\nend")
	_, text, _ = strings.Cut(text, "begin\n")
	text, _, _ = strings.Cut(text, "end\n")
	return text
}

// restored wants the shell's terminal as it was: the prompt is there, keys echo, and the alternate screen is left.
func (s *screen) restored(exit int) {
	s.w.t.Helper()
	s.shows(prompt)
	s.command("echo code=$?=")
	s.shows(fmt.Sprintf("code=%d=", exit))
	if on := strings.TrimSpace(s.must("display-message", "-p", "#{alternate_on}#{mouse_any_flag}#{cursor_flag}")); on != "001" {
		s.w.t.Errorf("alternate screen, mouse and cursor are %q, want 001", on)
	}
	state := s.ask("stty -a")
	for _, want := range []string{" icanon", " echo ", " isig", " icrnl", " opost"} {
		if !strings.Contains(" "+strings.ReplaceAll(state, "\n", " "), want) {
			s.w.t.Errorf("stty lacks%q: %s", want, state)
		}
	}
}

func TestTheTerminalHarnessSeesAnAlternateScreen(t *testing.T) {
	t.Parallel()
	s := newWorld(t).terminal(80, 24)
	s.command(`printf '\033[?1049h'`)
	if on := strings.TrimSpace(s.must("display-message", "-p", "#{alternate_on}")); on != "1" {
		t.Errorf("alternate_on is %q while the alternate screen is on", on)
	}
}
