// Package engine holds no code; its test holds the directions of imports for the whole module.
package engine

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "reclaim"

// rules says which packages of ours each package may import. "a/..." is a and all below it; the longest rule that fits
// a package is its rule, and a package that no rule fits fails the test. A package may always import what lies below
// it. Test files may wire what they like, but for those of engine/value.
var rules = map[string][]string{
	".": {"..."}, // main alone knows everything

	"engine/value":    nil,
	"engine/crash":    nil,
	"engine/schedule": nil,
	"engine/resource": {"engine/value"},
	"engine/record":   {"engine/value", "engine/resource"},
	"engine/event":    {"engine/value", "engine/resource", "engine/record"},
	"engine/template": {"engine/value", "engine/resource"},
	"engine/delta":    {"engine/value"},
	"engine/diff":     {"engine/value", "engine/resource"},
	"engine/recovery": {"engine/value", "engine/resource", "engine/record", "engine/diff", "engine/crash"},
	"engine/plan": {
		"engine/value", "engine/resource", "engine/record", "engine/template", "engine/diff", "engine/recovery",
		"engine/schedule", "engine/crash",
	},
	"engine/deploy": {
		"engine/value", "engine/resource", "engine/record", "engine/template", "engine/diff", "engine/recovery",
		"engine/plan", "engine/event", "engine/schedule", "engine/crash",
	},

	"providers":              {"engine/resource", "engine/value", "engine/crash", "providers/..."},
	"providers/aws/...":      {"engine/resource", "engine/value", "engine/crash", "providers/aws/..."},
	"providers/std/...":      {"engine/resource", "engine/value", "engine/crash"},
	"providers/awssim/...":   {"providers/awssim/..."}, // a stand-in for the cloud knows nothing of who asks
	"providers/providertest": {"engine/resource", "engine/value", "engine/diff", "engine/crash", "providers/..."},

	"store":           {"engine/record", "engine/resource", "engine/value", "engine/crash"},
	"store/storetest": {"engine/record", "engine/resource", "engine/value"},

	"ui/cli/...":  {"engine/...", "ui/..."}, // gets stores and providers from main
	"ui/text/...": {"engine/...", "ui/text/..."},
	"ui/tui/...":  {"engine/...", "ui/text/...", "ui/tui/..."},

	"engine/bench/...":           {"..."},
	"engine/crash/crashtest/...": {"..."},
}

// forTests are packages that only test files and each other may import.
var forTests = []string{
	"providers/providertest", "store/storetest", "engine/bench/...", "engine/crash/crashtest/...",
}

// others says who may import what is not ours and is heavy, or belongs to one layer.
var others = map[string][]string{
	"github.com/aws/...":     {"providers/aws/...", "providers/providertest"},
	"go.etcd.io/bbolt/...":   {"store/..."},
	"github.com/spf13/...":   {"ui/cli/..."},
	"charm.land/...":         {"ui/..."},
	"go.yaml.in/yaml/v3/...": {"engine/template", "ui/cli/..."},
}

func TestImportsPointOneWay(t *testing.T) {
	packages := parse(t)
	if len(packages) < 10 {
		t.Fatalf("found only %d packages; the test looks in the wrong place", len(packages))
	}
	for pkg, files := range packages {
		allowed, ok := ruleOf(pkg)
		if !ok {
			t.Errorf("package %s has no rule: add one to rules, and to docs/architecture.md if it is a new layer", pkg)
			continue
		}
		for _, f := range files {
			for _, imported := range f.imports {
				for _, why := range complaints(pkg, allowed, f, imported) {
					t.Errorf("%s imports %s: %s", f.name, imported, why)
				}
			}
		}
	}
}

// complaints says what is wrong with one import.
func complaints(pkg string, allowed []string, f file, imported string) (list []string) {
	if f.test && pkg != "engine/value" {
		return nil
	}
	if ours, ok := strings.CutPrefix(imported, module+"/"); ok && ours != pkg {
		if !f.test && !fits(ours, allowed) && !strings.HasPrefix(ours, pkg+"/") {
			list = append(list, "this direction is not allowed")
		}
		if f.test {
			list = append(list, "engine/value imports nothing of ours, not even in tests")
		}
		if fits(ours, forTests) && !fits(pkg, forTests) {
			list = append(list, "that package is for tests")
		}
	}
	for what, who := range others {
		if !f.test && fits(imported, []string{what}) && !fits(pkg, who) {
			list = append(list, "only "+strings.Join(who, ", ")+" may")
		}
	}
	return list
}

// TestTheRulesRefuse shows that the rules are not empty words.
func TestTheRulesRefuse(t *testing.T) {
	for why, c := range map[string]struct {
		pkg, imported string
		test, refused bool
	}{
		"the engine knows no provider":                  {"engine/deploy", "reclaim/providers/std/fs", false, true},
		"the engine knows no store":                     {"engine/plan", "reclaim/store", false, true},
		"the engine knows no screen":                    {"engine/event", "reclaim/ui/text", false, true},
		"values know nothing of ours":                   {"engine/value", "reclaim/engine/resource", false, true},
		"values know nothing of ours in tests either":   {"engine/value", "reclaim/engine/resource", true, true},
		"the commands get providers, they know none":    {"ui/cli", "reclaim/providers", false, true},
		"the commands get a store, they know none":      {"ui/cli", "reclaim/store", false, true},
		"the simulated cloud knows no engine":           {"providers/awssim", "reclaim/engine/crash", false, true},
		"providers know no record":                      {"providers/aws/iam", "reclaim/engine/record", false, true},
		"the store knows no plan":                       {"store", "reclaim/engine/plan", false, true},
		"a conformance suite is for tests":              {"store", "reclaim/store/storetest", false, true},
		"the AWS SDK stays with its providers":          {"engine/recovery", "github.com/aws/smithy-go", false, true},
		"the terminal library stays in the UI":          {"engine/event", "charm.land/lipgloss/v2", false, true},
		"bbolt stays in the store":                      {"engine/record", "go.etcd.io/bbolt", false, true},
		"screens ask the engine":                        {"ui/tui/screen/stacks", "reclaim/engine/deploy", false, false},
		"providers fulfil the engine's contract":        {"providers/std/fs", "reclaim/engine/resource", false, false},
		"the store fulfils the engine's port":           {"store", "reclaim/engine/record", false, false},
		"main wires":                                    {".", "reclaim/providers", false, false},
		"tests wire":                                    {"ui/cli", "reclaim/providers", true, false},
		"a name that only begins alike is not the same": {"providers/std/fs", "reclaim/engine/resourceful", false, true},
	} {
		allowed, ok := ruleOf(c.pkg)
		if !ok {
			t.Errorf("%s: %s has no rule", why, c.pkg)
		}
		if got := complaints(c.pkg, allowed, file{test: c.test}, c.imported); len(got) > 0 != c.refused {
			t.Errorf("%s: %s imports %s: complaints %q, want refused to be %t", why, c.pkg, c.imported, got, c.refused)
		}
	}
	if _, ok := ruleOf("engine/new"); ok {
		t.Error("a package that nobody thought of has a rule")
	}
}

// ruleOf returns the longest rule that fits.
func ruleOf(pkg string) (allowed []string, ok bool) {
	best := ""
	for pattern, list := range rules {
		if fits(pkg, []string{pattern}) && (!ok || len(pattern) > len(best)) {
			best, allowed, ok = pattern, list, true
		}
	}
	return allowed, ok
}

func fits(pkg string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		root, below := strings.CutSuffix(p, "...")
		if !below {
			return pkg == p
		}
		return root == "" || strings.HasPrefix(pkg+"/", root)
	})
}

type file struct {
	name    string
	test    bool
	imports []string
}

// parse reads every Go file of the module, whatever its build tags, by the package's path below the module.
func parse(t *testing.T) map[string][]file {
	t.Helper()
	root := os.DirFS("..")
	packages := map[string][]file{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "bin" || len(d.Name()) > 1 && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		src, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		tree, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		f := file{name: name, test: strings.HasSuffix(name, "_test.go")}
		for _, i := range tree.Imports {
			imported, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, imported)
		}
		if pkg := path.Dir(name); pkg != "engine" || !f.test {
			packages[pkg] = append(packages[pkg], f)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("read the module's files: %v", err)
	}
	return packages
}
