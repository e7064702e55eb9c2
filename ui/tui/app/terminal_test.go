package app

import (
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"

	"reclaim/engine/record"
)

// terminal is an emulator that a real program draws on. What the program asks the terminal comes back as input.
type terminal struct {
	mu    sync.Mutex
	emu   *vt.SafeEmulator
	in    *io.PipeReader
	keys  *io.PipeWriter
	drawn chan struct{}
}

func newTerminal(w, h int) *terminal {
	t := &terminal{emu: vt.NewSafeEmulator(w, h), drawn: make(chan struct{}, 1)}
	t.in, t.keys = io.Pipe()
	t.emu.Write([]byte("\x1b[20h")) // a line feed also returns the carriage
	go io.Copy(t.keys, t.emu)
	return t
}

func (t *terminal) Write(p []byte) (int, error) {
	n, err := t.emu.Write(p)
	select {
	case t.drawn <- struct{}{}:
	default:
	}
	return n, err
}

func (t *terminal) input() io.Reader { return t.in }

func (t *terminal) typed(keys string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	io.WriteString(t.keys, keys)
}

func (t *terminal) close() { t.keys.Close(); t.in.Close() }

// until waits for text on the screen.
func (t *terminal) until(tb testing.TB, text string) {
	tb.Helper()
	limit := time.After(20 * time.Second)
	for {
		screen := t.emu.Render()
		if strings.Contains(screen, text) {
			return
		}
		select {
		case <-t.drawn:
		case <-limit:
			tb.Fatalf("no %q on the screen:\n%s", text, screen)
		}
	}
}

func TestRunWantsATerminalOnBothEnds(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for why, o := range map[string]Options{"no files": {}, "a file that is no terminal": {In: null, Out: null}} {
		if err := Run(t.Context(), newBackend(), o); err != ErrNoTerminal {
			t.Errorf("%s: got %v, want ErrNoTerminal", why, err)
		}
	}
}

func TestPrepareNamesWhatIsWrong(t *testing.T) {
	for why, c := range map[string]struct {
		o    Options
		want string
	}{
		"a theme that does not exist": {Options{Theme: "pink"}, "auto, dark, light, none or the name of a file"},
		"a plan of no stack":          {Options{Start: StartPlan}, "name a stack"},
		"a start that does not exist": {Options{Start: "orphans", Stack: record.StackID{Name: "x"}}, "stacks, plan or recovery"},
	} {
		if _, err := prepare(t.Context(), newBackend(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", why, err, c.want)
		}
	}
}

func TestAnyNoColorCounts(t *testing.T) {
	for _, v := range []string{"1", "0", "false", "yes"} {
		t.Setenv("NO_COLOR", v)
		r, err := prepare(t.Context(), newBackend(), Options{Theme: "dark"})
		if err != nil {
			t.Fatal(err)
		}
		if r.auto || strings.Contains(r.View().Content, "38;2") {
			t.Errorf("NO_COLOR=%s: colours on the screen", v)
		}
	}
}
