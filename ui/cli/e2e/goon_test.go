package e2e

import (
	"slices"
	"strings"
	"testing"
)

// The commands that a reply names can be run as they stand, and none of them chooses for the operator.
func TestTheCommandsThatGoOnChooseNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, copied := w.crash()
	hold := w.status().Hold.Execution
	take := "reclaim recover checkout --take-hold " + hold
	var e struct {
		Next []string
	}
	w.exits(3, "recover", "checkout", "--json").decode(t, &e)
	in := take + " --scope " + scope + "+sim-e2e --decide "
	api := []string{"reclaim:" + made, "reclaim:" + copied}
	slices.Sort(api)
	want := []string{take, take + " --yes --scope " + scope + "+sim-e2e",
		in + "CheckoutApi=CHOICE  # CHOICE: " + strings.Join(api, ", ") + ", abandon",
		in + "CheckoutLogs=CHOICE  # CHOICE: adopt:" + groups + ", abandon"}
	got := slices.Clone(e.Next)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("next is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	r := w.exits(3, "plan", "checkout.yaml")
	_, next, _ := strings.Cut(r.stdout, "next:    ")
	if strings.TrimSpace(next) != take {
		t.Errorf("a plan of a held stack goes on with %q, want %q and nothing that would be refused", next, take)
	}

	changes := w.changes()
	for _, line := range e.Next {
		if strings.Contains(line, "CHOICE") {
			if r := w.startAs("sh", "-c", line).result(); r.code != 4 || !strings.Contains(r.stderr, "offered: ") {
				t.Errorf("%s: exit %d, want 4: CHOICE is none\n%s", line, r.code, r.stderr)
			}
		}
	}
	if w.changes() != changes {
		t.Error("a line without a choice sent something")
	}
	for _, line := range e.Next {
		_, choices, open := strings.Cut(line, "# CHOICE: ")
		first, _, _ := strings.Cut(choices, ", ")
		if open {
			line = strings.Replace(line, "=CHOICE", "="+first, 1)
		}
		if open || strings.Contains(line, "--yes") {
			if r := w.startAs("sh", "-c", line).result(); r.code != 0 && r.code != 3 { // 3 while others are left
				t.Errorf("%s: exit %d\n%s%s", line, r.code, r.stdout, r.stderr)
			}
		}
	}
	if after := w.status(); len(after.Uncertain) > 0 || after.Hold != nil {
		t.Errorf("after all lines: %+v", after)
	}
}

func TestWhatIsDoneIsSaidOnceWhereBothStreamsGo(t *testing.T) {
	t.Parallel()
	for why, redirect := range map[string]string{"both in one log": ">log 2>&1", "stdout alone, which must be whole": ">log 2>notes"} {
		w := newWorld(t)
		w.file("site.yaml", page)
		log := w.startAs("sh", "-c", "reclaim deploy site.yaml --yes "+redirect+"; cat log").result().stdout
		if n := strings.Count(log, "done "); n != 1 {
			t.Errorf("%s: %d lines say that the page is done, want one:\n%s", why, n, log)
		}
		wants(t, why, log, "1 done", "execution e-")
	}
}
