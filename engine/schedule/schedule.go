// Package schedule runs work in dependency order, as early as dependencies allow.
//
// Its one rule: it knows nothing of what it runs. A node starts once every node it comes after has ended, however that
// ended; what a failure means is the caller's business.
package schedule

import (
	"context"
	"slices"
	"sync"
)

// Node is one piece of work. After names nodes that must have ended before; names that do not exist are ignored.
type Node struct {
	Name  string
	After []string
}

// Run calls work for every node, at most parallel at once, and returns when all have ended. Ready nodes start in the
// order of nodes. Nodes in a cycle (which only damaged state can have) are started in that order too, one after another,
// once nothing else is left: nobody is left out.
func Run(ctx context.Context, nodes []Node, parallel int, work func(ctx context.Context, name string)) {
	if parallel < 1 {
		parallel = 1
	}
	index := make(map[string]int, len(nodes))
	for i, n := range nodes {
		index[n.Name] = i
	}
	waits := make([]int, len(nodes))
	next := make([][]int, len(nodes))
	var ready queue
	for i, n := range nodes {
		for _, a := range n.After {
			if j, ok := index[a]; ok && j != i {
				waits[i]++
				next[j] = append(next[j], i)
			}
		}
		if waits[i] == 0 {
			ready.push(i)
		}
	}

	start, ended := make(chan int, parallel), make(chan int, parallel)
	var workers sync.WaitGroup
	for range min(parallel, len(nodes)) { // kept workers: a new goroutine for each node would grow its stack again
		workers.Go(func() {
			for i := range start {
				work(ctx, nodes[i].Name)
				ended <- i
			}
		})
	}
	for left, active := len(nodes), 0; left > 0; {
		for active < parallel && ready.len() > 0 {
			start <- ready.pop()
			active++
		}
		if active == 0 {
			ready.push(slices.IndexFunc(waits, func(w int) bool { return w > 0 }))
			waits[ready.heap[0]] = 0
			continue
		}
		i := <-ended
		active--
		left--
		for _, j := range next[i] {
			if waits[j] == 0 {
				continue // was started to break a cycle
			}
			if waits[j]--; waits[j] == 0 {
				ready.push(j)
			}
		}
	}
	close(start)
	workers.Wait()
}

// queue is a min-heap of node positions, so that earlier nodes start first.
type queue struct{ heap []int }

func (q *queue) len() int { return len(q.heap) }

func (q *queue) push(v int) {
	q.heap = append(q.heap, v)
	for i := len(q.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if q.heap[parent] <= q.heap[i] {
			break
		}
		q.heap[parent], q.heap[i] = q.heap[i], q.heap[parent]
		i = parent
	}
}

func (q *queue) pop() int {
	top := q.heap[0]
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap = q.heap[:last]
	for i := 0; ; {
		small := i
		for c := 2*i + 1; c <= 2*i+2 && c < last; c++ {
			if q.heap[c] < q.heap[small] {
				small = c
			}
		}
		if small == i {
			return top
		}
		q.heap[i], q.heap[small] = q.heap[small], q.heap[i]
		i = small
	}
}
