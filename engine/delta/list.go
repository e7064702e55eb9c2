package delta

import (
	"slices"
	"strings"

	"reclaim/engine/value"
)

// items compares two lists: by the identity of their items where they have one, else by their order.
func items(a, b []value.Value) []Node {
	if key := identity(a, b); key != "" {
		return keyed(key, a, b)
	}
	var out []Node
	i, j := 0, 0
	for _, p := range align(len(a), len(b), func(i, j int) bool { return same(a[i], b[j]) }) {
		out = append(out, unlike(a[i:p.a], b[j:p.b])...)
		out = append(out, Node{Item: true, Old: a[p.a], New: b[p.b]})
		i, j = p.a+1, p.b+1
	}
	return append(out, unlike(a[i:], b[j:])...)
}

// unlike compares what lies between two items that are the same: what looks like a changed item is one.
func unlike(a, b []value.Value) []Node {
	var out []Node
	n := min(len(a), len(b))
	for i := range n {
		if alike(a[i], b[i]) {
			out = append(out, between(Node{Item: true}, a[i], b[i])...)
			continue
		}
		out = append(out, side(Node{Item: true}, a[i], Gone), side(Node{Item: true}, b[i], Added))
	}
	for _, v := range a[n:] {
		out = append(out, side(Node{Item: true}, v, Gone))
	}
	for _, v := range b[n:] {
		out = append(out, side(Node{Item: true}, v, Added))
	}
	return out
}

// alike reports whether b is likely what became of a: both are composites of one kind, or texts with much in common.
func alike(a, b value.Value) bool {
	if open(a) || open(b) {
		return open(a) && open(b) && a.Kind() == b.Kind()
	}
	x, ok := a.Str()
	y, also := b.Str()
	if !ok || !also {
		return true
	}
	old, _ := Pieces(x, y)
	return len(old) != 1 || !old[0].Changed
}

// keyed pairs items by their identity, in the new order; what is gone stands last.
func keyed(key string, a, b []value.Value) []Node {
	was := map[string]value.Value{}
	for _, v := range a {
		was[id(v, key)] = v
	}
	var out []Node
	for _, v := range b {
		name := id(v, key)
		out = append(out, between(Node{Name: key + "=" + name, Item: true}, was[name], v)...)
		delete(was, name)
	}
	for _, v := range a {
		if _, gone := was[id(v, key)]; gone {
			out = append(out, side(Node{Name: key + "=" + id(v, key), Item: true}, v, Gone))
		}
	}
	return out
}

// identity is the member that tells the items of both lists apart, "" when there is none: each item has it, and no two
// of a list have the same.
func identity(a, b []value.Value) string {
	all := slices.Concat(a, b)
	if len(a) == 0 || len(b) == 0 {
		return ""
	}
	first := []string{"Sid", "Id", "Key", "Name"}
	for _, k := range all[0].Fields().Keys() {
		if strings.HasSuffix(k, "Name") || strings.HasSuffix(k, "Id") || strings.HasSuffix(k, "Key") {
			first = append(first, k)
		}
	}
	for _, key := range first {
		if apart(a, key) && apart(b, key) {
			return key
		}
	}
	return ""
}

func apart(list []value.Value, key string) bool {
	seen := map[string]bool{}
	for _, v := range list {
		name := id(v, key)
		if v.Sensitive() || name == "" || seen[name] {
			return false
		}
		seen[name] = true
	}
	return true
}

func id(v value.Value, key string) string { return v.Fields().Text(key) }

// pair is an item of each side that are the same.
type pair struct{ a, b int }

// mostEdits bounds how many items align looks for; lists that have less in common are compared from both ends only.
const mostEdits = 1000

// align returns the longest run of items, in order, that are the same on both sides (Myers' algorithm: its cost grows
// with the number of differences).
func align(n, m int, same func(i, j int) bool) []pair {
	head := 0
	for head < n && head < m && same(head, head) {
		head++
	}
	tail := 0
	for tail < n-head && tail < m-head && same(n-1-tail, m-1-tail) {
		tail++
	}
	var out []pair
	for i := range head {
		out = append(out, pair{i, i})
	}
	for _, p := range shortest(n-head-tail, m-head-tail, func(i, j int) bool { return same(head+i, head+j) }) {
		out = append(out, pair{head + p.a, head + p.b})
	}
	for i := tail; i > 0; i-- {
		out = append(out, pair{n - i, m - i})
	}
	return out
}

// shortest is the middle of align: nil when there are more than mostEdits differences.
func shortest(n, m int, same func(i, j int) bool) []pair {
	if n == 0 || m == 0 {
		return nil
	}
	limit := min(n+m, mostEdits)
	reach := make([]int, 2*limit+3) // of each diagonal k, at k+limit+1: how far along a the best path is
	var trail [][]int               // reach after each number of edits, diagonals -d to d
	for d := 0; d <= limit; d++ {
		for k := -d; k <= d; k += 2 {
			at := k + limit + 1
			x := reach[at-1] + 1
			if k == -d || k != d && reach[at-1] < reach[at+1] {
				x = reach[at+1]
			}
			for x < n && x-k < m && same(x, x-k) {
				x++
			}
			reach[at] = x
			if x >= n && x-k >= m {
				return back(trail, n, m)
			}
		}
		trail = append(trail, slices.Clone(reach[limit+1-d:limit+2+d]))
	}
	return nil
}

// back follows the trail from the end and collects the steps on which both sides were the same.
func back(trail [][]int, x, y int) []pair {
	var out []pair
	diagonal := func(toX, toY int) {
		for x > toX && y > toY {
			x, y = x-1, y-1
			out = append(out, pair{x, y})
		}
	}
	for d := len(trail); d > 0; d-- {
		k, last := x-y, trail[d-1]
		at := func(k int) int { return last[k+d-1] } // reach of a diagonal after d-1 edits
		prev := k - 1
		if k == -d || k != d && at(k-1) < at(k+1) {
			prev = k + 1
		}
		px := at(prev)
		diagonal(px, px-prev)
		x, y = px, px-prev
	}
	diagonal(0, 0)
	slices.Reverse(out)
	return out
}
