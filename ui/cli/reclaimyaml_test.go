package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/resource"
)

func stacksOf(t *testing.T, text string) (*stacksFile, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), stacksName)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return readStacks(path)
}

func TestValuesOfReclaimYAMLAreTakenAsWritten(t *testing.T) {
	f, err := stacksOf(t, "stacks:\n  a:\n    template: /t.yaml\n    parameters: {Mode: 0644, Big: 1e3, On: yes, List: [a, 2], Empty: ''}\n")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"Mode": "0644", "Big": "1e3", "On": "yes", "List": "a,2", "Empty": ""}
	if d := cmp.Diff(want, f.stack["a"].parameters); d != "" || f.stack["a"].template != "/t.yaml" {
		t.Errorf("template %s, parameters (-want +got): %s", f.stack["a"].template, d)
	}
}

func TestReclaimYAMLIsRefusedByNameAndPlace(t *testing.T) {
	for why, c := range map[string]struct{ text, want string }{
		"empty":              {"", "1:1: the file is empty"},
		"a list":             {"- a\n", "1:1: the file is a map, found a list"},
		"another key":        {"stack: {}\n", `1:1: "stack" is not supported here. Did you mean stacks?`},
		"no stacks":          {"stacks: {}\n", "1:1: it names no stacks"},
		"one twice":          {"stacks:\n  a: {template: x}\n  a: {template: y}\n", `3:3: stacks: "a" stands twice`},
		"no template":        {"stacks:\n  a: {profile: x}\n", "2:3: stacks.a: the stack has no template"},
		"nothing":            {"stacks:\n  a:\n", `2:5: stacks.a: stacks.a is a map, found nothing`},
		"an alias":           {"stacks:\n  a: &a {template: x}\n  b: *a\n", "3:6: stacks.b: stacks.b is a map, found an alias"},
		"a region alone":     {"stacks:\n  a: {template: x, scope: eu-west-1}\n", `2:27: stacks.a.scope: "eu-west-1" is no scope`},
		"a map as a value":   {"stacks:\n  a: {template: x, parameters: {K: {b: swordfish}}}\n", "2:36: stacks.a.parameters.K: want text"},
		"control characters": {"stacks:\n  \"a\\e\": {template: x}\n", `2:3: stacks: "a\x1b" is no name`},
	} {
		_, err := stacksOf(t, c.text)
		if err == nil {
			t.Errorf("%s: taken", why)
			continue
		}
		_, at, _ := strings.Cut(err.Error(), stacksName+":")
		if !strings.HasPrefix(at, c.want) || strings.Contains(at, "swordfish") {
			t.Errorf("%s: got %q, want %q", why, at, c.want)
		}
	}
}

func TestTheNearestReclaimYAMLCounts(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	s := &session{App: &App{Getwd: func() (string, error) { return deep, nil }}}
	for _, at := range []string{dir, filepath.Join(dir, "a")} {
		if err := os.WriteFile(filepath.Join(at, stacksName), []byte("stacks: {x: {template: t.yaml}}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := s.namedStack("x")
		if err != nil || n == nil || n.template != filepath.Join(at, "t.yaml") {
			t.Errorf("got %+v, %v; want the template beside %s", n, err, at)
		}
	}
	if n, err := s.namedStack("y"); n != nil || err != nil {
		t.Errorf("a name that is not there: %v, %v", n, err)
	}
}

func TestTheScopeOfReclaimYAMLIsChecked(t *testing.T) {
	sim := resource.Scope{Partition: "aws", Account: "123456789012", Region: "eu-west-1", Endpoint: "sim-1"}
	local := resource.Scope{Partition: resource.LocalPartition, Account: "m1"}
	for why, c := range map[string]struct {
		scope string
		sc    resource.Scope
		ok    bool
	}{
		"none": {"", sim, true}, "in full": {"123456789012/eu-west-1+sim-1", sim, true}, "without the endpoint": {"123456789012/eu-west-1", sim, true},
		"another endpoint": {"123456789012/eu-west-1+sim-2", sim, false}, "another account": {"999999999999/eu-west-1", sim, false},
		"local": {"local", local, true}, "this machine": {"local/m1", local, true}, "another machine": {"local/m2", local, false},
		"local, and it is a cloud": {"local", sim, false}, "a cloud, and it is local": {"123456789012/eu-west-1", local, false},
	} {
		if err := (&named{name: "x", scope: c.scope}).check(c.sc); (err == nil) != c.ok {
			t.Errorf("%s: %v", why, err)
		}
	}
	if err := (*named)(nil).check(sim); err != nil || (*named)(nil).region() != "" {
		t.Errorf("a stack that no file names: %v", err)
	}
	if r := (&named{scope: "123456789012/eu-west-1+sim-1"}).region(); r != "eu-west-1" {
		t.Errorf("region %q", r)
	}
	if r := (&named{scope: "local/m1"}).region(); r != "" {
		t.Errorf("region %q of a local stack", r)
	}
}
