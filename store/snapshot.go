package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"reclaim/engine/record"
)

// snapshot is a private copy of the file at one transaction.
type snapshot struct {
	db    *bolt.DB
	of    os.FileInfo // of the file it was copied from
	txid  uint64
	ahead *ahead
	refs  int  // reads that are running on it
	old   bool // to be closed by the last of them
}

// readCopy runs f on a private copy of the file that is as new as the file was when readCopy began.
func (s *Store) readCopy(ctx context.Context, f func(*view) error) error {
	snap, err := s.newestCopy(ctx)
	if err != nil {
		return err
	}
	defer s.letGo(snap)
	return viewOf(snap.db, s.path, func(v *view) error {
		v.ahead = snap.ahead
		return f(v)
	})
}

// viewOf runs f in a read transaction of db.
func viewOf(db *bolt.DB, path string, f func(*view) error) error {
	defer panicOnFault()()
	tx, err := begin(db, false, path)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return f(&view{tx: tx, path: path})
}

// newestCopy returns a copy that the caller must letGo.
func (s *Store) newestCopy(ctx context.Context) (*snapshot, error) {
	s.copying.Lock()
	defer s.copying.Unlock()
	s.mu.Lock()
	cached := s.snap
	if cached != nil {
		cached.refs++
	}
	s.mu.Unlock()
	snap, err := copyStore(ctx, s.dir, s.path, s.opts.LockWait, cached)
	if snap == cached && err == nil {
		return snap, nil
	}
	if cached != nil {
		s.letGo(cached)
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropCopy()
	snap.refs = 1
	if snap.old = s.closed; !snap.old {
		s.snap = snap
	}
	return snap, nil
}

// dropCopy forgets the cached copy; s.mu is held.
func (s *Store) dropCopy() {
	if s.snap == nil {
		return
	}
	s.snap.old = true
	if s.snap.refs == 0 {
		s.snap.db.Close()
	}
	s.snap = nil
}

func (s *Store) letGo(snap *snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if snap.refs--; snap.refs == 0 && snap.old {
		snap.db.Close()
	}
}

// errMoved: the file was written to while it was copied.
var errMoved = errors.New("the store is being written to without a pause")

// copyStore returns cached when it is still what the file says, else a new copy. It takes no lock on the file.
func copyStore(ctx context.Context, dir, path string, wait time.Duration, cached *snapshot) (*snapshot, error) {
	var asked *os.File
	defer func() { asked.Close() }()
	deadline := time.Now().Add(wait)
	for try := 1; ; try++ {
		snap, err := tryCopy(path, cached)
		if !errors.Is(err, errMoved) {
			return snap, err
		}
		if time.Now().After(deadline) {
			return nil, lockedError("read store", path, err)
		}
		if try >= 2 && asked == nil {
			asked = ring(dir)
		}
		if err := sleep(ctx, poll); err != nil {
			return nil, err
		}
	}
}

// tryCopy is one attempt of copyStore; errMoved when the file moved meanwhile.
func tryCopy(path string, cached *snapshot) (*snapshot, error) {
	f, info, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read store: %w at %s", record.ErrNoStore, path)
		}
		return nil, fmt.Errorf("read store: %w", err)
	}
	defer f.Close()
	before, err := settledMeta(f)
	if err != nil {
		return nil, damaged(path, err)
	}
	if cached != nil && cached.txid == before.txid && os.SameFile(cached.of, info) {
		return cached, nil
	}
	copied, data, err := copyPages(f, before)
	if err != nil {
		return nil, damaged(path, err)
	}
	after, err := settledMeta(f)
	moved := err != nil || after.txid != before.txid
	if !moved {
		err = checkPages(data, before)
	}
	unix.Munmap(data) // before bbolt maps it again: it would count twice
	if moved || err != nil {
		copied.Close()
		if moved {
			return nil, errMoved
		}
		return nil, damaged(path, err)
	}
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true, PageSize: pageSize, NoStatistics: true,
		OpenFile: func(string, int, os.FileMode) (*os.File, error) { return copied, nil }})
	if err != nil {
		return nil, damaged(path, err)
	}
	return &snapshot{db: db, of: info, txid: before.txid, ahead: &ahead{of: map[record.StackID]decoded{}}}, nil
}

// settledMeta is newestMeta, tried again where both pages were caught half written.
func settledMeta(f io.ReaderAt) (m meta, err error) {
	for range 3 {
		if m, err = newestMeta(f); err == nil {
			return m, nil
		}
		time.Sleep(poll)
	}
	return m, err
}

// copyPages copies the state m of f into a nameless file and returns it with its memory. The other meta page is left
// empty: it may belong to a transaction whose pages are not in the copy.
func copyPages(f *os.File, m meta) (copied *os.File, data []byte, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	size := int64(m.high) * pageSize
	if m.high < 2 || m.high > uint64(info.Size())/pageSize {
		return nil, nil, fmt.Errorf("it is %d bytes long and should be %d: it was cut off", info.Size(), size)
	}
	if copied, err = nameless(); err != nil {
		return nil, nil, fmt.Errorf("make room for a copy: %w", err)
	}
	fail := func(err error) (*os.File, []byte, error) { copied.Close(); return nil, nil, err }
	if err := copied.Truncate(size); err != nil {
		return fail(err)
	}
	data, err = unix.Mmap(int(copied.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|populate)
	if err != nil {
		return fail(err)
	}
	if _, err := f.ReadAt(data[2*pageSize:], 2*pageSize); err != nil {
		unix.Munmap(data)
		return fail(err)
	}
	copy(data[m.txid%2*pageSize:], m.page)
	return copied, data, nil
}

// openRegular opens the store's file without following a link, waiting for a pipe's other end, or making it. What is
// not a regular file is damage.
func openRegular(path string, flag int) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		if info, statErr := os.Lstat(path); statErr == nil && !info.Mode().IsRegular() {
			return nil, nil, notRegular(path, info)
		}
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(path, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func notRegular(path string, info os.FileInfo) error {
	return damaged(path, fmt.Errorf("it is no regular file (%s)", info.Mode().Type()))
}

// damaged says that the file cannot be used, and what to do.
func damaged(path string, why error) error {
	if errors.Is(why, record.ErrDamaged) {
		return why
	}
	return fmt.Errorf("%w: %s: %v; nothing was changed: keep a copy of it and put a backup in its place",
		record.ErrDamaged, path, why)
}

// sleep waits for d or for the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
