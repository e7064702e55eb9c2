package template

import (
	"container/heap"
	"slices"
	"strconv"
	"strings"
)

// maxCycles is how many circles are reported at once.
const maxCycles = 10

// cycles returns circles among ids as A, B, A: at least one of each group whose members need each other, up to
// maxCycles. They are found from the first id on.
func cycles(ids []string, needs map[string]map[string]*node) [][]string {
	const (
		open = 1
		done = 2
	)
	state, place := make(map[string]uint8, len(ids)), places(ids)
	var out [][]string
	var trail []string
	var visit func(string)
	visit = func(id string) {
		state[id] = open
		trail = append(trail, id)
		next := keys(needs[id])
		slices.SortFunc(next, func(a, b string) int { return place[a] - place[b] })
		for _, to := range next {
			switch {
			case state[to] == 0:
				visit(to)
			case state[to] == open && len(out) < maxCycles:
				circle := trail[slices.Index(trail, to):]
				out = append(out, append(slices.Clone(circle), to))
			}
		}
		trail = trail[:len(trail)-1]
		state[id] = done
	}
	for _, id := range ids {
		if state[id] == 0 {
			visit(id)
		}
	}
	return out
}

// draw writes a circle as A → B → A; a long one without its middle.
func draw(circle []string) string {
	if n := len(circle); n > 12 {
		circle = append(append(slices.Clone(circle[:6]), "… "+strconv.Itoa(n-9)+" more …"), circle[n-3:]...)
	}
	return strings.Join(circle, " → ")
}

func places(ids []string) map[string]int {
	place := make(map[string]int, len(ids))
	for i, id := range ids {
		place[id] = i
	}
	return place
}

// order sorts ids so that each comes after what it needs, and otherwise keeps their order: of those that could come
// next, the first in ids does. What is in a circle is left out.
func order(ids []string, needs map[string]map[string]*node) []string {
	place := places(ids)
	waiting := make([]int, len(ids))
	wakes := make([][]int, len(ids))
	ready := &positions{}
	for i, id := range ids {
		waiting[i] = len(needs[id])
		for to := range needs[id] {
			wakes[place[to]] = append(wakes[place[to]], i)
		}
		if waiting[i] == 0 {
			*ready = append(*ready, i) // ascending: already a heap
		}
	}
	out := make([]string, 0, len(ids))
	for ready.Len() > 0 {
		i := heap.Pop(ready).(int)
		out = append(out, ids[i])
		for _, w := range wakes[i] {
			if waiting[w]--; waiting[w] == 0 {
				heap.Push(ready, w)
			}
		}
	}
	return out
}

// positions is a heap of positions, smallest first.
type positions []int

func (p positions) Len() int           { return len(p) }
func (p positions) Less(i, j int) bool { return p[i] < p[j] }
func (p positions) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *positions) Push(x any)        { *p = append(*p, x.(int)) }
func (p *positions) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}
