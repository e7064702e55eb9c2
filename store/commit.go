package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"

	"reclaim/engine/crash"
	"reclaim/engine/record"
)

// job is one caller's transaction.
type job struct {
	ctx    context.Context
	fence  *record.Fence // nil: only the store's ID is checked
	points bool          // passes crash.BeforeCommit and crash.AfterCommit
	f      func(*tx) error

	taken    atomic.Bool // by the committer, or by the caller who gives up
	done     chan struct{}
	err      error
	panicked any
}

// finish gives the caller its answer.
func (j *job) finish(err error) {
	j.err = err
	close(j.done)
}

// committer runs queued jobs in shared commits.
type committer struct {
	store *Store
	start sync.Once
	wake  chan struct{} // holds one when the queue is not empty or stopped is set
	ended chan struct{}

	mu      sync.Mutex
	queue   []*job
	stopped bool
}

func newCommitter(s *Store) *committer {
	return &committer{store: s, wake: make(chan struct{}, 1), ended: make(chan struct{})}
}

// do queues a job and waits until it is durable or refused. A job whose ctx ends before it was begun is refused; one
// that was begun is waited for, so that the answer is always true.
func (c *committer) do(j *job) error {
	if c.store.opts.ReadOnly {
		return fmt.Errorf("%w: %s is open for reading only", record.ErrWrite, c.store.path)
	}
	if err := j.ctx.Err(); err != nil {
		return err
	}
	j.done = make(chan struct{})
	if !c.add(j) {
		return fmt.Errorf("write store: %w", ErrClosed)
	}
	select {
	case <-j.done:
	case <-j.ctx.Done():
		if j.taken.CompareAndSwap(false, true) {
			return j.ctx.Err()
		}
		<-j.done
	}
	if j.panicked != nil {
		panic(j.panicked)
	}
	return j.err
}

func (c *committer) add(j *job) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return false
	}
	c.start.Do(func() { go c.loop() })
	c.queue = append(c.queue, j)
	c.signal()
	return true
}

func (c *committer) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// take returns what is queued and not given up.
func (c *committer) take() (group []*job, stopped bool) {
	// Those who were just answered are about to ask for more: let them, so that they share the next commit.
	for range 4 {
		runtime.Gosched()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, j := range c.queue {
		if j.taken.CompareAndSwap(false, true) {
			group = append(group, j)
		}
	}
	c.queue = nil
	return group, c.stopped
}

// stop refuses new jobs and waits for the queued ones.
func (c *committer) stop() {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.start.Do(func() { close(c.ended) })
	c.signal()
	<-c.ended
}

func (c *committer) loop() {
	defer close(c.ended)
	defer panicOnFault()()
	for range c.wake {
		group, stopped := c.take()
		for len(group) > 0 {
			group = c.session(group)
		}
		if stopped {
			return
		}
	}
}

// session commits group, and what is queued meanwhile, under one lock of the file until the lock is old. It returns
// what it took and did not commit.
func (c *committer) session(group []*job) (rest []*job) {
	live := c.store.live
	db, err := live.enter()
	if err != nil {
		for _, j := range group {
			j.finish(fmt.Errorf("write store: %w", err))
		}
		return nil
	}
	defer live.leave()
	for len(group) > 0 {
		if err := c.commit(db, group); err != nil {
			live.breakOff(errors.Is(err, record.ErrDamaged))
			return nil
		}
		group, _ = c.take()
		if live.mustLeave() {
			break
		}
	}
	return group
}

// commit runs group in one transaction and makes it durable. Jobs that fail are answered and left out; if one of them
// had already written something, the transaction is begun again without it. The error says that db is unusable.
func (c *committer) commit(db *bolt.DB, group []*job) error {
	for len(group) > 0 {
		btx, err := begin(db, true, c.store.path)
		if err != nil {
			return answer(group, err)
		}
		run := &run{btx: btx}
		kept, spoiler := c.apply(run, group)
		if spoiler != nil || len(kept) == 0 {
			run.undo()
			btx.Rollback()
			if spoiler != nil {
				spoiler.finish(spoiler.err) // its caller has its record back as it was
			}
			group = kept
			continue
		}
		for _, j := range kept {
			if j.points {
				crash.At(j.ctx, crash.BeforeCommit)
			}
		}
		if err := finish(btx, c.store.path); err != nil {
			run.undo()
			return answer(kept, err)
		}
		c.store.live.fill()
		for _, j := range kept {
			if j.points {
				crash.At(j.ctx, crash.AfterCommit)
			}
		}
		return answer(kept, nil)
	}
	return nil
}

// apply runs the jobs in order and returns those to keep. Jobs that fail without having written are answered; at one
// that had written, the spoiler, it stops: its transaction must not be committed, and it is answered after that.
func (c *committer) apply(r *run, group []*job) (kept []*job, spoiler *job) {
	for i, j := range group {
		r.dirty = false
		err := c.call(r, j)
		switch {
		case err == nil:
			kept = append(kept, j)
		case r.dirty:
			j.err = err
			return append(kept, group[i+1:]...), j
		default:
			j.finish(err)
		}
	}
	return kept, nil
}

// call runs one job; a panic of its own is kept for its caller.
func (c *committer) call(r *run, j *job) (err error) {
	defer func() {
		if p := recover(); p != nil {
			j.panicked, err = p, errors.New("panicked")
			r.dirty = true
		}
	}()
	t := &tx{view: view{tx: r.btx, path: c.store.path}, run: r, fence: j.fence}
	if err := t.check(c.store.id); err != nil {
		return err
	}
	return j.f(t)
}

func answer(group []*job, err error) error {
	for _, j := range group {
		j.finish(err)
	}
	return err
}

func begin(db *bolt.DB, writable bool, path string) (t *bolt.Tx, err error) {
	defer guard(path, &err)
	t, err = db.Begin(writable)
	switch {
	case err == nil:
		return t, nil
	case writable:
		return nil, fmt.Errorf("%w: %s: %w", record.ErrWrite, path, err)
	default:
		return nil, fmt.Errorf("read store: %s: %w", path, err)
	}
}

// finish commits. After an error nothing of the transaction is in the file, unless the very last sync failed: then
// the kernel cannot say, and the caller must treat it as not written.
func finish(t *bolt.Tx, path string) (err error) {
	defer guard(path, &err)
	if err := t.Commit(); err != nil {
		return fmt.Errorf("%w: %s: %w", record.ErrWrite, path, err)
	}
	return nil
}
