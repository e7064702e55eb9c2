package e2e

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reclaim/engine/record"
	"reclaim/store"
)

// S18: at a terminal, what is forgotten is typed by its ID; anything else leaves it.
func TestARecordIsForgottenOnlyWhenItsIDIsTyped(t *testing.T) {
	dir := t.TempDir()
	if code, _, q := person(t, dir, []string{"yes"}, "deploy", write(t, dir, "site.yaml", page)); code != 0 {
		t.Fatalf("exit %d: %s", code, q)
	}
	for _, typed := range []string{"", "yes", "page"} {
		code, out, questions := person(t, dir, []string{typed}, "state", "forget", "site", "Page")
		if code != 1 || !strings.Contains(questions, "type Page to go on") || !strings.Contains(questions, "nothing was changed") {
			t.Errorf("typed %q: exit %d\n%s", typed, code, questions)
		}
		wants(t, "what is shown first", out, "lost", "page.html", "is ours: it stays")
	}
	code, out, _ := person(t, dir, []string{"Page"}, "state", "forget", "site", "Page")
	if code != 0 || !exists(filepath.Join(dir, "out/page.html")) {
		t.Errorf("exit %d\n%s", code, out)
	}
	if _, list, _ := person(t, dir, nil, "state", "list"); !strings.Contains(list, "No records") {
		t.Errorf("it is still there: %s", list)
	}
}

// A hold whose process may be alive goes only when its execution is typed, after all that is known of it was shown.
func TestALivingHoldIsClearedOnlyWhenItsExecutionIsTyped(t *testing.T) {
	dir := t.TempDir()
	if code, _, q := person(t, dir, []string{"yes"}, "deploy", write(t, dir, "site.yaml", page)); code != 0 {
		t.Fatalf("exit %d: %s", code, q)
	}
	s, err := store.Open(filepath.Join(dir, ".reclaim"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := store.Owner()
	_, err = s.Acquire(context.Background(), record.Hold{Stack: localStack("site"), Execution: "e-live", Verb: "deploy", Owner: o, Since: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	for _, typed := range []string{"", "yes", "site"} {
		code, out, questions := person(t, dir, []string{typed}, "hold", "clear", "e-live")
		if code != 5 || !strings.Contains(questions, "type e-live to go on") {
			t.Errorf("typed %q: exit %d\n%s", typed, code, questions)
		}
		wants(t, "what is shown first", out, o.User, o.Host, o.BootID, o.StartTick, "running")
	}
	if code, out, q := person(t, dir, []string{"e-live"}, "hold", "clear", "e-live"); code != 0 || !strings.Contains(out, "removed the hold of e-live") {
		t.Errorf("exit %d\n%s%s", code, out, q)
	}
}
