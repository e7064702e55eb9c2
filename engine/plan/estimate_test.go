package plan

import (
	"testing"
	"time"

	"reclaim/engine/resource"
)

func TestAnEstimateFollowsTheLongestChain(t *testing.T) {
	slow := &resource.Schema{Type: "Slow", Settles: true, Window: 30 * time.Second, Deadlines: resource.Deadlines{Settle: time.Minute, Delete: 2 * time.Minute}}
	fast, local := &resource.Schema{Type: "Fast", Deadlines: slow.Deadlines}, &resource.Schema{Type: "Local", Local: true}
	schema := func(typ string) (*resource.Schema, bool) {
		s, ok := map[string]*resource.Schema{"Slow": slow, "Fast": fast, "Local": local}[typ]
		return s, ok
	}
	one, two := []string{"create"}, []string{"a", "b"}
	var wide []Item
	for i := range 64 {
		wide = append(wide, Item{ID: string(rune('A' + i)), Type: "Fast", Action: Create, Calls: one})
	}
	for why, c := range map[string]struct {
		items    []Item
		parallel int
		want     Span
	}{
		"nothing":                      {nil, 0, Span{}},
		"what is local or cannot run":  {[]Item{{ID: "A", Type: "Local", Action: Create}, {ID: "B", Type: "Fast", Action: Blocked}, {ID: "C", Type: "Fast", Action: Noop}}, 0, Span{}},
		"one call":                     {[]Item{{ID: "A", Type: "Fast", Action: Create, Calls: one}}, 0, Span{perCall, perCall}},
		"a type that settles":          {[]Item{{ID: "A", Type: "Slow", Action: Create, Calls: one}}, 0, Span{perCall, perCall + time.Minute}},
		"a delete":                     {[]Item{{ID: "A", Type: "Fast", Action: Delete, Calls: two}}, 0, Span{2 * perCall, 2*perCall + 2*time.Minute}},
		"a wait":                       {[]Item{{ID: "A", Type: "Slow", Action: Wait}}, 0, Span{perCall, perCall + 30*time.Second}},
		"a chain adds up":              {[]Item{{ID: "A", Type: "Slow", Action: Create, Calls: one}, {ID: "B", Type: "Slow", Action: Create, Calls: two, DependsOn: []string{"A"}}}, 0, Span{3 * perCall, 3*perCall + 2*time.Minute}},
		"side by side does not":        {[]Item{{ID: "A", Type: "Slow", Action: Create, Calls: one}, {ID: "B", Type: "Slow", Action: Create, Calls: one}}, 0, Span{perCall, perCall + time.Minute}},
		"a generation that waits":      {[]Item{{ID: "A", Gen: 2, Type: "Fast", Action: Create, Calls: one}, {ID: "A", Gen: 1, Type: "Fast", Action: Delete, Calls: one, DependsOn: []string{"A"}}}, 0, Span{2 * perCall, 2*perCall + 2*time.Minute}},
		"many calls share the places":  {wide, 0, Span{4 * perCall, 4 * perCall}},
		"with one place they take all": {wide, 1, Span{64 * perCall, 64 * perCall}},
	} {
		if got := Estimate(&Plan{Items: c.items}, schema, c.parallel); got != c.want {
			t.Errorf("%s: got %v, want %v", why, got, c.want)
		}
	}
}
