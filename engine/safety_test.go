package engine

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// notBuilt says of rules what of them cannot be tested on real types yet, and why. A rule that no test names at all must
// stand here.
var notBuilt = map[string]string{}

// Every rule of docs/safety.md is named by a comment of a test, so that a rule nobody tests cannot hide.
func TestEverySafetyRuleIsNamedByATest(t *testing.T) {
	rules := safetyRules(t)
	if len(rules) < 38 {
		t.Fatalf("docs/safety.md has %d rules, want at least 38: %v", len(rules), rules)
	}
	named := namedInTests(t)
	for _, r := range rules {
		if len(named[r]) == 0 && notBuilt[r] == "" {
			t.Errorf("%s is named by no test", r)
		}
	}
	for r := range named {
		if !slices.Contains(rules, r) {
			t.Errorf("%s is named by %s and is no rule", r, named[r][0])
		}
	}
	for r := range notBuilt {
		if !slices.Contains(rules, r) {
			t.Errorf("%s is said to be not built and is no rule", r)
		}
	}
}

// safetyRules reads the rules, which must be numbered from S1 without a gap.
func safetyRules(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile("../docs/safety.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^- \*\*(S\d+)\b`).FindAllStringSubmatch(string(b), -1) {
		if want := fmt.Sprintf("S%d", len(out)+1); m[1] != want {
			t.Errorf("docs/safety.md has %s where %s should be", m[1], want)
		}
		out = append(out, m[1])
	}
	return out
}

var ruleName = regexp.MustCompile(`\bS[1-9]\d?\b`)

// namedInTests returns, by rule, the test files of the module with a comment or a case name that names it.
func namedInTests(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "safety_test.go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		texts := []string{}
		for _, group := range file.Comments {
			texts = append(texts, group.Text())
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok { // the name of a table's case
				if lit, ok := kv.Key.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					texts = append(texts, lit.Value)
				}
			}
			return true
		})
		for _, r := range ruleName.FindAllString(strings.Join(texts, "\n"), -1) {
			out[r] = append(out[r], path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
