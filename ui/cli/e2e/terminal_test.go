package e2e

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"reclaim/providers/awssim"
	"reclaim/ui/cli"
)

// person runs one command line at a terminal, in dir, with a person who types lines. It returns the exit code, stdout,
// and stderr with the questions.
func person(t *testing.T, dir string, lines []string, args ...string) (code int, out, questions string) {
	t.Helper()
	a, stdout, stderr := inDir(dir)
	a.Stdin = strings.NewReader(strings.Join(lines, "\n"))
	a.Terminal = cli.Terminal{In: true, Out: true, Width: 80}
	code = a.Run(context.Background(), append(args, "--no-color"))
	return code, stdout.String(), stderr.String()
}

// inDir is the program, but for its streams and its folder.
func inDir(dir string) (a *cli.App, stdout, stderr *strings.Builder) {
	a, stdout, stderr = wired(), &strings.Builder{}, &strings.Builder{}
	a.Stdout, a.Stderr, a.Stdin = stdout, stderr, strings.NewReader("")
	a.Terminal = cli.Terminal{}
	a.Getwd = func() (string, error) { return dir, nil }
	return a, stdout, stderr
}

func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

const page = `Resources:
  Page:
    Type: Std::FS::File
    Properties: {Path: ./out/page.html, Content: hello}
`

func TestADeployAtATerminalRunsOnlyWhenYesIsTyped(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "site.yaml", page)
	for _, typed := range [][]string{nil, {""}, {"y"}, {"YES"}, {"Page"}} {
		code, _, questions := person(t, dir, typed, "deploy", file)
		if code != 1 || exists(filepath.Join(dir, "out")) {
			t.Errorf("typed %q: exit %d, made: %v", typed, code, exists(filepath.Join(dir, "out")))
		}
		if !strings.Contains(questions, "type yes to go on") || !strings.Contains(questions, "nothing was approved, and nothing was changed") {
			t.Errorf("typed %q: stderr says\n%s", typed, questions)
		}
	}
	code, out, _ := person(t, dir, []string{"yes"}, "deploy", file)
	if code != 0 || !exists(filepath.Join(dir, "out/page.html")) {
		t.Errorf("typed yes: exit %d\n%s", code, out)
	}
	if plan, outcome := strings.Index(out, "+  create   Page"), strings.Index(out, "done      create"); plan < 0 || outcome < plan {
		t.Errorf("the plan stands at %d, the outcome at %d:\n%s", plan, outcome, out)
	}
}

func TestADeletionIsApprovedApartFromTheOtherChanges(t *testing.T) {
	dir := t.TempDir()
	if code, _, q := person(t, dir, []string{"yes"}, "deploy", write(t, dir, "site.yaml", page)); code != 0 {
		t.Fatalf("exit %d: %s", code, q)
	}
	other := write(t, dir, "other.yaml", strings.NewReplacer("Page", "Other", "page.html", "other.html").Replace(page))
	code, _, questions := person(t, dir, []string{"yes", "no"}, "deploy", other, "--stack", "site")
	if code != 4 || !exists(filepath.Join(dir, "out/other.html")) || !exists(filepath.Join(dir, "out/page.html")) {
		t.Errorf("yes, no: exit %d, created %v, kept %v", code, exists(filepath.Join(dir, "out/other.html")), exists(filepath.Join(dir, "out/page.html")))
	}
	for _, want := range []string{"Carry out 1 change?", "Delete 1 resource (Page)? It cannot be undone.", "type Page to go on"} {
		if !strings.Contains(questions, want) {
			t.Errorf("no question %q in\n%s", want, questions)
		}
	}
	code, _, _ = person(t, dir, []string{"Page"}, "deploy", other, "--stack", "site")
	if code != 0 || exists(filepath.Join(dir, "out/page.html")) {
		t.Errorf("the ID typed: exit %d, page still there: %v", code, exists(filepath.Join(dir, "out/page.html")))
	}
}

func TestYesAtATerminalAsksNothing(t *testing.T) {
	dir := t.TempDir()
	code, _, questions := person(t, dir, nil, "deploy", write(t, dir, "site.yaml", page), "--yes")
	if code != 0 || strings.Contains(questions, "type ") {
		t.Errorf("exit %d, stderr\n%s", code, questions)
	}
}

// uncertain leaves the create of an API uncertain in a simulated cloud: sent, executed, never answered.
func uncertain(t *testing.T, dir string) *awssim.Server {
	t.Helper()
	cloud, err := awssim.New(awssim.Config{ID: "sim-terminal"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cloud.Close() })
	url, err := cloud.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "simulated", "AWS_SECRET_ACCESS_KEY": "simulated",
		"AWS_REGION": "eu-west-1", "AWS_EC2_METADATA_DISABLED": "true", "HOME": dir} {
		t.Setenv(k, v)
	}
	cloud.AddFault(awssim.Fault{Operation: "CreateApi", Kind: awssim.ExecutedUnanswered})
	file := write(t, dir, "api.yaml", "Resources:\n  Api:\n    Type: AWS::ApiGatewayV2::Api\n    Properties: {Name: orders, ProtocolType: HTTP}\n")
	if code, out, q := person(t, dir, nil, "deploy", file, "--yes", "--strict"); code != 3 {
		t.Fatalf("exit %d, want 3\n%s\n%s", code, out, q)
	}
	return cloud
}

func apis(cloud *awssim.Server) (made, deleted int) {
	for _, r := range cloud.Log() {
		switch r.Operation {
		case "CreateApi":
			made++
		case "DeleteApi":
			deleted++
		}
	}
	return made, deleted
}

func TestRecoverAtATerminalStepsThroughAndSendsNothingBeforeTheSummary(t *testing.T) {
	dir := t.TempDir()
	cloud := uncertain(t, dir)
	for why, typed := range map[string][]string{
		"nothing typed leaves it for later":     {""},
		"later":                                 {"later"},
		"the summary not confirmed":             {"reclaim", "no"},
		"a choice that is not offered, then on": {"retry", ""},
		"looked at again, then left":            {"look", ""},
	} {
		code, out, questions := person(t, dir, typed, "recover", "api")
		if code != 3 || !strings.Contains(out, "VERDICT  ours") || !strings.Contains(questions, "nothing was changed") {
			t.Errorf("%s: exit %d\n%s\n%s", why, code, out, questions)
		}
	}
	if made, deleted := apis(cloud); made != 1 || deleted != 0 {
		t.Errorf("%d creates and %d deletes were sent, want 1 and 0", made, deleted)
	}
	code, _, questions := person(t, dir, []string{"reclaim", "yes"}, "recover", "api")
	if code != 0 {
		t.Errorf("reclaim, yes: exit %d\n%s", code, questions)
	}
	if made, _ := apis(cloud); made != 1 {
		t.Errorf("%d creates were sent, want 1", made)
	}
}

func TestASignalEndsAQuestion(t *testing.T) {
	for sig, want := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		dir := t.TempDir()
		a, _, stderr := inDir(dir)
		in, _ := io.Pipe() // nobody ever types
		a.Stdin, a.Terminal = in, cli.Terminal{In: true, Out: true}
		ch := make(chan os.Signal, 1)
		a.Signals = func() (<-chan os.Signal, func()) { return ch, func() {} }
		a.Stderr = writer(func(b []byte) (int, error) {
			if strings.Contains(string(b), "type yes") {
				ch <- sig
			}
			return stderr.Write(b)
		})
		if code := a.Run(context.Background(), []string{"deploy", write(t, dir, "site.yaml", page)}); code != want {
			t.Errorf("%s: exit %d, want %d\n%s", sig, code, want, stderr)
		}
		if exists(filepath.Join(dir, "out")) {
			t.Errorf("%s: something was made", sig)
		}
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

func TestAClosedPipeEndsNoRunAndIsNoSuccess(t *testing.T) {
	dir := t.TempDir()
	a, _, stderr := inDir(dir)
	a.Stdout = writer(func([]byte) (int, error) { return 0, syscall.EPIPE })
	code := a.Run(context.Background(), []string{"deploy", write(t, dir, "site.yaml", page), "--yes"})
	if code != 1 || !exists(filepath.Join(dir, "out/page.html")) {
		t.Errorf("exit %d, deployed: %v", code, exists(filepath.Join(dir, "out/page.html")))
	}
	if !strings.Contains(stderr.String(), "broken pipe") {
		t.Errorf("stderr does not say why:\n%s", stderr)
	}
}

func TestColoursAreOnlyForTerminalsThatWantThem(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "site.yaml", page)
	coloured := func(env string, terminal bool, args ...string) bool {
		a, out, _ := inDir(dir)
		a.Terminal.Out = terminal
		a.Getenv = func(k string) string {
			if k == "NO_COLOR" {
				return env
			}
			return ""
		}
		if code := a.Run(context.Background(), append([]string{"plan", file}, args...)); code != 0 {
			t.Fatalf("exit %d", code)
		}
		return strings.Contains(out.String(), "\x1b[")
	}
	for why, got := range map[string]bool{
		"a file": coloured("", false), "NO_COLOR=0, which is not empty": coloured("0", true), "--no-color": coloured("", true, "--no-color"),
		"--plain": coloured("", true, "--plain"), "--json": coloured("", true, "--json"),
	} {
		if got {
			t.Errorf("%s: there are colours", why)
		}
	}
	if !coloured("", true) {
		t.Error("a terminal gets no colours")
	}
}

func TestSomeOfSeveralChangesAreApprovedByTheirIDs(t *testing.T) {
	for why, c := range map[string]struct {
		typed string
		made  []string
		says  string
	}{
		"all":                  {"yes", []string{"a", "b", "c"}, "type yes for all, or the IDs of some"},
		"two of three":         {"A, C", []string{"a", "c"}, "3 changes"},
		"a mistake gives none": {"A D", nil, "D is none of them; nothing of this is approved"},
		"nothing":              {"", nil, "nothing was approved, and nothing was changed"},
	} {
		dir := t.TempDir()
		file := write(t, dir, "site.yaml", `Resources:
  A: {Type: Std::FS::File, Properties: {Path: ./a, Content: x}}
  B: {Type: Std::FS::File, Properties: {Path: ./b, Content: x}}
  C: {Type: Std::FS::File, Properties: {Path: ./c, Content: x}}
`)
		_, _, questions := person(t, dir, []string{c.typed}, "deploy", file)
		var made []string
		for _, f := range []string{"a", "b", "c"} {
			if exists(filepath.Join(dir, f)) {
				made = append(made, f)
			}
		}
		if !slices.Equal(made, c.made) || !strings.Contains(questions, c.says) {
			t.Errorf("%s: made %v, want %v; stderr:\n%s", why, made, c.made, questions)
		}
	}
}

// S25: at a terminal, too, data is asked for apart from the deletion that would destroy it.
func TestADecisionToDeleteAsksForTheDataApart(t *testing.T) {
	w := newWorld(t)
	for _, v := range w.env {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, value)
		}
	}
	w.file("logs.yaml", "Resources:\n  Logs:\n    Type: AWS::Logs::LogGroup\n    Properties: {LogGroupName: /orders}\n")
	w.cloud.AddFault(awssim.Fault{Operation: "CreateLogGroup", Kind: awssim.ExecutedUnanswered})
	w.exits(3, "deploy", "logs.yaml", "--yes", "--scope", scope, "--strict")
	code, _, questions := person(t, w.dir, []string{"delete", "/orders", "", "yes"}, "recover", "logs")
	if code != 3 || w.sent("DeleteLogGroup") != 0 || !strings.Contains(questions, "Destroy the data of Logs /orders: log events?") {
		t.Fatalf("without consent: exit %d, deleted %d times\n%s", code, w.sent("DeleteLogGroup"), questions)
	}
	code, _, questions = person(t, w.dir, []string{"delete", "/orders", "Logs", "yes"}, "recover", "logs")
	if code != 0 || w.sent("DeleteLogGroup") != 1 {
		t.Errorf("with consent: exit %d, deleted %d times\n%s", code, w.sent("DeleteLogGroup"), questions)
	}
}
