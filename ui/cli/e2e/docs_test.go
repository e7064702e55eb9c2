package e2e

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every command of the page about pipelines is run by its script, as it stands.
func TestEveryCommandOfTheCIPageIsRun(t *testing.T) {
	page, err := os.ReadFile("../../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("../../../testdata/scripts/ci.txtar")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^reclaim .*$`).FindAllString(string(page), -1)
	if len(commands) < 3 {
		t.Fatalf("only %d commands on the page", len(commands))
	}
	for _, c := range commands {
		if !strings.Contains(string(script), " "+c+"\n") {
			t.Errorf("no script runs %s", c)
		}
	}
}
