package e2e

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Every command of the pages that readers type along with is run as it stands there, in order, in one shell and a new
// folder, and prints what the page says.
func TestEveryCommandOfThePagesDoesWhatTheySay(t *testing.T) {
	for _, name := range []string{"ci.md", "guide.md", "recovery.md"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("../../../docs", name))
			if err != nil {
				t.Fatal(err)
			}
			p, err := parsePage(string(text))
			if err != nil {
				t.Fatal(err)
			}
			if len(p.commands()) < 5 {
				t.Fatalf("only %d commands on the page", len(p.commands()))
			}
			for _, mention := range p.notRun() {
				t.Errorf("the page names `%s`, and does not run it", mention)
			}
			if strings.Contains(string(text), "curl ") {
				if _, err := exec.LookPath("curl"); err != nil {
					t.Skip("skipped: needs curl")
				}
			}
			p.run(t)
		})
	}
}

// docPage is what a test reads of a Markdown page: the steps in order, and the commands that its prose names.
type docPage struct {
	steps    []step
	mentions []string
}

// step is a file that the reader makes (name and text), or a command with the output and exit code that the page shows.
type step struct {
	line    int // in the page, from 1
	name    string
	text    string
	command string
	output  []string
	exit    int
}

var (
	fileComment = regexp.MustCompile(`^<!-- file: (\S+) -->$`)
	exitComment = regexp.MustCompile(`# exit (\d+)$`)
	mention     = regexp.MustCompile("`(reclaim [^`]+)`")
)

// parsePage reads a page. A fenced block is a console block or a file; any other could hold a command that nothing runs.
func parsePage(text string) (docPage, error) {
	var p docPage
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		language, fenced := strings.CutPrefix(lines[i], "```")
		if !fenced {
			for _, m := range mention.FindAllStringSubmatch(lines[i], -1) {
				p.mentions = append(p.mentions, m[1])
			}
			continue
		}
		start := i + 1
		for i++; i < len(lines) && lines[i] != "```"; i++ {
		}
		if i == len(lines) {
			return p, fmt.Errorf("line %d: the block does not end", start)
		}
		block := lines[start:i]
		if start >= 2 {
			if m := fileComment.FindStringSubmatch(lines[start-2]); m != nil {
				p.steps = append(p.steps, step{line: start, name: m[1], text: strings.Join(block, "\n") + "\n"})
				continue
			}
		}
		if language != "console" {
			return p, fmt.Errorf("line %d: a block is ```console, or has <!-- file: NAME --> before it", start)
		}
		commands, err := parseConsole(block, start+1)
		if err != nil {
			return p, err
		}
		p.steps = append(p.steps, commands...)
	}
	return p, nil
}

// parseConsole reads the commands of a console block whose first line is that line of the page.
func parseConsole(block []string, line int) ([]step, error) {
	var steps []step
	for i := 0; i < len(block); i++ {
		command, ok := strings.CutPrefix(block[i], "$ ")
		if !ok {
			if len(steps) == 0 {
				return nil, fmt.Errorf("line %d: output before the first command", line+i)
			}
			last := &steps[len(steps)-1]
			last.output = append(last.output, strings.TrimRight(block[i], " "))
			continue
		}
		s := step{line: line + i}
		for strings.HasSuffix(command, `\`) && i+1 < len(block) {
			i++
			command += "\n" + block[i]
		}
		s.command = command
		if m := exitComment.FindStringSubmatch(command); m != nil {
			s.exit, _ = strconv.Atoi(m[1])
		}
		steps = append(steps, s)
	}
	return steps, nil
}

func (p docPage) commands() []step {
	var list []step
	for _, s := range p.steps {
		if s.command != "" {
			list = append(list, s)
		}
	}
	return list
}

// notRun lists the commands that the prose names and that no command of the page holds.
func (p docPage) notRun() []string {
	var missing []string
	for _, m := range p.mentions {
		run := false
		for _, s := range p.commands() {
			run = run || strings.Contains(" "+s.command+" ", " "+m+" ")
		}
		if !run {
			missing = append(missing, m)
		}
	}
	return missing
}

// run takes a new folder through the page.
func (p docPage) run(t *testing.T) {
	sh := newShell(t)
	for _, s := range p.steps {
		if s.name != "" {
			write(t, sh.dir, s.name, s.text)
			continue
		}
		output, exit := sh.run(s.command)
		t.Logf("$ %s\n%s", s.command, output)
		if exit != s.exit {
			t.Fatalf("line %d: %s\nexit code is %d, the page says %d\n%s", s.line, s.command, exit, s.exit, output)
		}
		if !printed(s.output, output) {
			t.Fatalf("line %d: %s\nthe page says:\n%s\nit printed:\n%s", s.line, s.command, strings.Join(s.output, "\n"), output)
		}
	}
}

// printed reports whether output is what a page shows: … in a line stands for any text, a line of only … for any lines.
func printed(want []string, output string) bool {
	pattern := "^"
	for _, line := range want {
		if line == "…" {
			pattern += `(?:.*\n)*`
			continue
		}
		pattern += strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + `[ ]*\n`
	}
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	return regexp.MustCompile(pattern + "$").MatchString(output)
}

// shell is one sh that runs a page's commands one after the other, so that variables and background processes stay.
type shell struct {
	t       *testing.T
	dir     string // where the reader is
	home    string
	own     string // the runner's files, where the reader does not see them
	stdin   io.Writer
	answers chan string
}

// newShell starts a shell in a new folder, with no account, no store and no settings of whoever runs the tests. It ends
// with the test, and what it started in the background with it.
func newShell(t *testing.T) *shell {
	t.Helper()
	s := &shell{t: t, dir: t.TempDir(), home: t.TempDir(), own: t.TempDir(), answers: make(chan string)}
	c := exec.Command("sh")
	c.Dir, c.Env = s.dir, cleanEnv(s.home)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s.stdin = stdin
	go func() {
		defer close(s.answers)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			s.answers <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // the group that was made for this shell
		for range s.answers {
		}
		c.Wait()
	})
	return s
}

// run runs one command and returns what it printed, on stdout and stderr in the order of printing, and its exit code.
func (s *shell) run(command string) (output string, exit int) {
	s.t.Helper()
	script, printed := write(s.t, s.own, "command", command+"\n"), filepath.Join(s.own, "printed")
	fmt.Fprintf(s.stdin, ". '%s' >'%s' 2>&1 </dev/null; echo $?\n", script, printed)
	select {
	case code, ok := <-s.answers:
		b, err := os.ReadFile(printed)
		if err != nil {
			s.t.Fatal(err)
		}
		if exit, err = strconv.Atoi(code); !ok || err != nil {
			s.t.Fatalf("%s\nended the shell (%q)\n%s", command, code, b)
		}
		return string(b), exit
	case <-time.After(patience):
		b, _ := os.ReadFile(printed)
		s.t.Fatalf("%s\ndoes not end\n%s", command, b)
		return "", 0
	}
}
