package fields

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/value"
)

func TestTreeShowsNestedValuesMemberByMember(t *testing.T) {
	m := value.Map{
		"RoleName": value.Of("orders"),
		"Secret":   value.Of(map[string]any{"Key": "hunter2"}).AsSensitive(),
		"Policies": value.Of([]any{map[string]any{"PolicyName": "table", "Actions": []any{"get", "put"}, "When": []any{map[string]any{"Hour": "1"}}}}),
		"Arn":      value.Wait("Role.Arn"),
	}
	want := []string{
		" Arn       (known after Role.Arn)",
		" RoleName  orders",
		" Secret    (sensitive)",
		" Policies",
		"   - PolicyName  table",
		"     Actions  get, put",
		"     When",
		"       - Hour  1",
		"",
	}
	if d := cmp.Diff(want, strings.Split(Tree(m, 1, 60).Text(), "\n")); d != "" {
		t.Error(d)
	}
}

func TestTreeOfAnythingFitsItsWidthAndEnds(t *testing.T) {
	deep := value.Of("x")
	for range 100 {
		deep = value.Of([]any{deep})
	}
	wide := value.Map{"Deep": deep, "Long": value.Of(strings.Repeat("word ", 100_000)), "Many": value.Of(make([]string, 10_000))}
	for _, width := range []int{40, 80} {
		b := Tree(wide, 3, width)
		if len(b) > maxLines+3 {
			t.Errorf("%d lines", len(b))
		}
		for i, l := range b {
			if l.Width() > width {
				t.Errorf("line %d takes %d of %d cells", i, l.Width(), width)
			}
		}
	}
}
