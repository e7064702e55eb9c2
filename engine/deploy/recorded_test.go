package deploy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/diff"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/value"
)

// S27, S30: what was blocked, or held back because it travels with what is, was not written and is not recorded as such.
func TestOnlyWhatWasWrittenIsRecorded(t *testing.T) {
	s := &plan.Subject{
		Desired: value.Map{"Size": value.Of(4), "Label": value.Of("new"), "Note": value.Of("new"), "Extra": value.Of("new")},
		Record:  &record.Record{Params: value.Map{"Size": value.Of(3), "Label": value.Of("old"), "Note": value.Of("old"), "Gone": value.Of("old")}},
	}
	it := &plan.Item{Fields: []diff.Field{{Path: "Size.Deep", Verdict: diff.Blocked}, {Path: "Note", Verdict: diff.Differs}}}
	got := (&task{shared: &shared{}}).recorded(s, it, []string{"Label", "Extra", "Gone"})
	want := value.Map{"Size": value.Of(3), "Label": value.Of("old"), "Note": value.Of("new"), "Gone": value.Of("old")}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
