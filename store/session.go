package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"reclaim/engine/record"
)

// Times that decide how processes share the file.
const (
	poll       = time.Millisecond       // between looks at a lock somebody else holds; bbolt's own 50 ms is too slow
	maxLocked  = 20 * time.Millisecond  // that the file stays locked while more is queued
	maxPause   = 50 * time.Millisecond  // that one commit waits for a reader or another writer
	pauseEvery = 200 * time.Millisecond // between two pauses, so that many readers cannot stop a writer
)

// reserved is the address space mapped for the file, so that bbolt need not map it again, which would wait for reads
// in this process. It costs no memory.
const reserved = 1 << 28

// growBy is how much the file grows at a time, in bytes; each growth costs a sync.
const growBy = 4 << 20

// session is this process's own handle on the file: locked while somebody is in it, kept open in between.
type session struct {
	dir, path string
	wait      time.Duration

	mu     sync.Mutex
	left   sync.Cond // signalled when the last one left
	in     int       // how many are in it
	since  time.Time // when the first of them came in
	db     *bolt.DB
	file   *os.File // db's; the lock is on it
	txid   uint64   // of the file when it was unlocked
	filled int64    // bytes of the file, from its start, that the file system has blocks for
	broken bool     // a commit failed: do not use db again
	stuck  bool     // bbolt panicked, perhaps with its own locks held: do not even close db

	paused  time.Time // last pause for others
	ignored bool      // the last one paused for did not let go
}

func newSession(dir string, wait time.Duration) *session {
	s := &session{dir: dir, path: filepath.Join(dir, fileName), wait: wait}
	s.left.L = &s.mu
	return s
}

// enter locks the file, or joins those who have it locked unless they must leave. leave must follow.
func (s *session) enter() (*bolt.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.in > 0 && s.over() {
		s.left.Wait()
	}
	if s.in == 0 {
		if err := s.lock(); err != nil {
			return nil, err
		}
		s.since = time.Now()
	}
	s.in++
	return s.db, nil
}

// leave unlocks the file after the last one.
func (s *session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.in--; s.in > 0 {
		return
	}
	if m, err := newestMeta(s.file); err != nil || s.broken {
		s.discard()
	} else {
		s.txid = m.txid
		unix.Flock(int(s.file.Fd()), unix.LOCK_UN)
	}
	s.left.Broadcast()
}

// breakOff makes leave close the handle: after a failed commit, what bbolt has in memory cannot be trusted. stuck says
// that bbolt panicked.
func (s *session) breakOff(stuck bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken, s.stuck = true, stuck
}

// mustLeave reports whether those who are in it must unlock the file before they go on.
func (s *session) mustLeave() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over()
}

func (s *session) over() bool { return time.Since(s.since) > maxLocked || !s.inPlace(s.file) }

// fill writes zeros where the file has grown and nothing was written yet. A sync of a file whose blocks are all there has
// less to write. It is called by the committer, with the file locked; pages from the newest meta's high mark on belong to
// nobody. A failure costs nothing but time.
func (s *session) fill() {
	info, err := s.file.Stat()
	if err != nil || info.Size() <= max(s.filled, 2*growBy) {
		return
	}
	m, err := newestMeta(s.file)
	if err != nil {
		return
	}
	zeros := make([]byte, 1<<20)
	for at := max(s.filled, int64(m.high)*pageSize); at < info.Size(); at += int64(len(zeros)) {
		if _, err := s.file.WriteAt(zeros[:min(int64(len(zeros)), info.Size()-at)], at); err != nil {
			return
		}
	}
	s.filled = info.Size()
}

// read runs f on the open handle.
func (s *session) read(ctx context.Context, f func(*view) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	db, err := s.enter()
	if err != nil {
		return err
	}
	defer s.leave()
	return viewOf(db, s.path, f)
}

func (s *session) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.in > 0 {
		s.left.Wait()
	}
	return s.discard()
}

// discard closes the handle, which unlocks the file. Of a stuck one only the file is closed: closing the rest would
// wait for bbolt's locks. Its mapping stays and would keep the lock, hence the unlock.
func (s *session) discard() (err error) {
	if s.db == nil {
		return nil
	}
	if s.stuck {
		err = errors.Join(unix.Flock(int(s.file.Fd()), unix.LOCK_UN), s.file.Close())
	} else {
		err = s.db.Close()
	}
	s.db, s.file, s.broken, s.stuck = nil, nil, false, false
	return err
}

// lock locks the file and opens it, or uses the open handle if it is still the file at the path and nobody else wrote
// to it.
func (s *session) lock() error {
	s.pause()
	deadline := time.Now().Add(s.wait)
	for {
		if s.db == nil {
			if err := s.open(deadline); err != nil || s.db != nil {
				return err
			}
			continue // another file was put in its place
		}
		if err := s.flock(s.file, deadline); err != nil {
			return err
		}
		if m, err := newestMeta(s.file); err == nil && m.txid == s.txid && s.inPlace(s.file) {
			return nil
		}
		s.discard()
	}
}

// inPlace reports whether f is still what the path names.
func (s *session) inPlace(f *os.File) bool {
	info, err := f.Stat()
	at, atErr := os.Lstat(s.path)
	return err == nil && atErr == nil && os.SameFile(info, at)
}

// open locks and opens the file for writing. Both results nil: the file was replaced while open waited.
func (s *session) open(deadline time.Time) error {
	f, _, err := openRegular(s.path, os.O_RDWR)
	switch {
	case errors.Is(err, record.ErrDamaged):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w: %s is gone; what happened is in the cloud and in the emergency file", record.ErrWrite,
			record.ErrNoStore, s.path)
	case err != nil:
		return fmt.Errorf("%w: %w", record.ErrWrite, err)
	}
	if err := s.flock(f, deadline); err != nil {
		f.Close()
		return err
	}
	if !s.inPlace(f) {
		f.Close()
		return nil
	}
	if err := checkFile(f); err != nil {
		f.Close()
		return damaged(s.path, err)
	}
	return s.bolt(f)
}

// bolt opens f, which is locked and checked.
func (s *session) bolt(f *os.File) (err error) {
	defer panicOnFault()()
	defer guard(s.path, &err)
	db, err := bolt.Open(s.path, 0o600, &bolt.Options{PageSize: pageSize, FreelistType: bolt.FreelistMapType,
		InitialMmapSize: reserved, NoStatistics: true, Timeout: poll,
		OpenFile: func(string, int, os.FileMode) (*os.File, error) { return f, nil }})
	if err != nil {
		f.Close()
		return damaged(s.path, err)
	}
	db.AllocSize = growBy
	s.db, s.file = db, f
	return nil
}

// checkFile is checkPages of a locked file.
func checkFile(f *os.File) (err error) {
	m, err := newestMeta(f)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	defer panicOnFault()()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it was cut off: %v", p)
		}
	}()
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	defer unix.Munmap(data)
	return checkPages(data, m)
}

// flock locks f exclusively, asking the others to pause when it does not get it at once.
func (s *session) flock(f *os.File, deadline time.Time) error {
	var asked *os.File
	defer func() { asked.Close() }()
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case !errors.Is(err, unix.EWOULDBLOCK):
			return fmt.Errorf("%w: lock %s: %w", record.ErrWrite, s.path, err)
		case time.Now().After(deadline):
			return lockedError("lock store", s.path, nil)
		default:
			if asked == nil {
				asked = ring(s.dir)
			}
			time.Sleep(poll)
		}
	}
}

// ring asks writers to pause by holding store.wait shared until the file is closed; nil when that cannot be done.
func ring(dir string) *os.File {
	f, err := os.OpenFile(filepath.Join(dir, waitName), os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil {
		f.Close() // a writer is looking at it; ask again at the next poll
		return nil
	}
	return f
}

// pause waits, before the file is locked again, until nobody holds store.wait: at most maxPause, at most once per
// pauseEvery, and not again for one who did not let go.
func (s *session) pause() {
	if time.Since(s.paused) < pauseEvery {
		return
	}
	f, err := os.OpenFile(filepath.Join(s.dir, waitName), os.O_RDONLY|os.O_CREATE|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	for end := time.Now().Add(maxPause); ; {
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			s.ignored = false
			return
		}
		s.paused = time.Now()
		if s.ignored {
			return
		}
		if s.paused.After(end) {
			s.ignored = true
			return
		}
		time.Sleep(poll)
	}
}

// panicOnFault makes a fault in mapped memory, where somebody cut the file off, a panic that guard can turn into an
// error, until the returned function is called.
func panicOnFault() func() {
	before := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(before) }
}

// guard turns a panic of bbolt into an error.
func guard(path string, err *error) {
	if p := recover(); p != nil {
		*err = damaged(path, fmt.Errorf("%v", p))
	}
}
