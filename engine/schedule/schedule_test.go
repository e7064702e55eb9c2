package schedule

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// Whatever the graph, every node runs once, after all it comes after, and never more at once than allowed.
func TestRunKeepsOrderAndBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		parallel := rapid.IntRange(1, 8).Draw(t, "parallel")
		nodes := make([]Node, n)
		for i := range nodes {
			nodes[i].Name = fmt.Sprint(i)
			for j := range i {
				if rapid.IntRange(0, 5).Draw(t, "edge") == 0 {
					nodes[i].After = append(nodes[i].After, fmt.Sprint(j))
				}
			}
		}
		var mu sync.Mutex
		var active, most atomic.Int64
		done := map[string]int{}
		Run(context.Background(), nodes, parallel, func(_ context.Context, name string) {
			now := active.Add(1)
			for {
				m := most.Load()
				if now <= m || most.CompareAndSwap(m, now) {
					break
				}
			}
			mu.Lock()
			i := slices.IndexFunc(nodes, func(n Node) bool { return n.Name == name })
			for _, a := range nodes[i].After {
				if done[a] == 0 {
					t.Fatalf("%s started before %s ended", name, a)
				}
			}
			done[name]++
			mu.Unlock()
			active.Add(-1)
		})
		if len(done) != n || most.Load() > int64(parallel) {
			t.Fatalf("ran %d of %d nodes, %d at once with a bound of %d", len(done), n, most.Load(), parallel)
		}
		for name, times := range done {
			if times != 1 {
				t.Fatalf("%s ran %d times", name, times)
			}
		}
	})
}

// With one at a time the order is the order given, so that a recorded run names the same crash points again.
func TestRunOneAtATimeIsInOrder(t *testing.T) {
	nodes := []Node{{Name: "a", After: []string{"c"}}, {Name: "b"}, {Name: "c"}, {Name: "d", After: []string{"nowhere"}}}
	var got []string
	Run(context.Background(), nodes, 1, func(_ context.Context, name string) { got = append(got, name) })
	if want := []string{"b", "c", "a", "d"}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

// Damaged state can hold records that depend on each other; they must still all be reached.
func TestRunBreaksCycles(t *testing.T) {
	nodes := []Node{{Name: "a", After: []string{"b"}}, {Name: "b", After: []string{"a"}}, {Name: "c", After: []string{"b"}}}
	var got []string
	Run(context.Background(), nodes, 1, func(_ context.Context, name string) { got = append(got, name) })
	if want := []string{"a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}
