// Package store keeps records, journal, holds, plans, decisions, evidence and tombstones in one bbolt file, behind the
// port in engine/record.
//
// Its one rule: what a call reported as written is on disk, and what it reported as refused is nowhere.
//
// # The folder
//
//	store.db     everything; 0600, schema-versioned
//	hash.key     key of the keyed hashes of sensitive values (SAFETY S32); 0600
//	store.wait   held shared by whoever waits for the store; empty
//	events/      one NDJSON spool of events per execution, for watchers; not synced; the newest 50, and 64 MiB
//	emergency-*  evidence that could not be written to store.db (SAFETY S36)
//
// # Writing
//
// One goroutine commits. It takes everything that is queued, runs it in one bbolt transaction and makes it durable with
// one commit. The file is locked only around such groups, never for longer than maxLocked while others wait, so a
// stopped process blocks nobody unless it was stopped inside a commit; then the bounded wait names it. The bbolt handle
// stays open in between and is used again when the file's transaction number says that no other process wrote.
//
// # Reading
//
// A reader takes no lock. It notes the newest transaction number N, copies the pages into memory of its own, and
// looks again: bbolt never writes to a page of state N before N+1 is committed, so the copy is whole if the number is
// still N. A suspended reader therefore blocks nobody. A writer that never pauses would starve a reader of a large
// file: after two failed copies the reader takes store.wait, which makes the writer pause for at most maxPause, once
// per pauseEvery, and only once for a reader that never lets go.
//
// A process that holds a stack reads through the open handle instead, under its own lock, because it reads often:
// a copy for each look at its own hold would cost more than the look.
//
// # Damage
//
// Every page that can be reached is checked before bbolt walks it, so that a truncated or altered file is reported as
// record.ErrDamaged and cannot crash or hang the process. Nothing is ever repaired silently.
package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"reclaim/engine/record"
)

// Names in the store's folder.
const (
	folder   = ".reclaim"
	fileName = "store.db"
	keyName  = "hash.key"
	waitName = "store.wait"
	spoolDir = "events"
)

// maxRecord bounds the stored form of one record, step, decision, tombstone or piece of evidence, in bytes.
const maxRecord = 1 << 20

// ErrClosed is returned by every call after Close.
var ErrClosed = errors.New("store was closed")

// Options say what Open may do.
type Options struct {
	// Create lets Open make the folder and the file (SAFETY S35).
	Create bool
	// ReadOnly refuses every write with record.ErrWrite.
	ReadOnly bool
	// LockWait bounds every wait for another process; 0: 5 s.
	LockWait time.Duration
	// Log takes notes for the user, such as "made store …". May be nil.
	Log func(format string, a ...any)
}

// Store is a record.Store in a folder. It is safe for concurrent use.
type Store struct {
	dir  string
	path string // of store.db
	opts Options
	id   string
	made bool

	commits *committer
	live    *session // this process's own handle, for writing and, while it holds a stack, for reading

	copying sync.Mutex // one copy at a time
	mu      sync.Mutex // of the fields below
	snap    *snapshot  // newest private copy, nil when there is none
	holding bool       // this process holds a stack
	closed  bool
}

var _ record.Store = (*Store)(nil)

// Open opens the store in dir, a .reclaim folder. Errors wrap record.ErrNoStore, ErrNewer, ErrDamaged, ErrLocked or
// ErrWrite.
func Open(dir string, o Options) (*Store, error) {
	if o.LockWait <= 0 {
		o.LockWait = 5 * time.Second
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{dir: dir, path: filepath.Join(dir, fileName), opts: o}
	if _, err := os.Lstat(s.path); errors.Is(err, fs.ErrNotExist) {
		if !o.Create || o.ReadOnly {
			return nil, fmt.Errorf("open store: %w at %s; plan or deploy makes one", record.ErrNoStore, dir)
		}
		if s.made, err = create(dir); err != nil {
			return nil, err
		}
		if s.made {
			o.Log("made store %s", s.path)
		}
	}
	s.live = newSession(dir, o.LockWait)
	s.commits = newCommitter(s)
	if err := s.identify(migrations); err != nil {
		s.Close()
		return nil, err
	}
	s.announce()
	return s, nil
}

// identify reads the store's ID and brings an older schema up to date.
func (s *Store) identify(table []migration) error {
	var version int
	read := func(v *view) (err error) {
		if version, err = v.schema(); err == nil {
			s.id, err = v.storeID()
		}
		return err
	}
	if err := s.readCopy(context.Background(), read); err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	switch current := schemaOf(table); {
	case version > current:
		return fmt.Errorf("open store: %w: %s has schema %d, this version knows %d; use a newer reclaim", record.ErrNewer,
			s.path, version, current)
	case version < current && s.opts.ReadOnly:
		return fmt.Errorf("open store: %s has the older schema %d and is open for reading only; a plan brings it up to date",
			s.path, version)
	case version < current:
		return s.migrate(table)
	}
	return nil
}

// Discover returns the nearest .reclaim folder from start upwards; when there is none, start's own and false.
func Discover(start string) (dir string, found bool) {
	if abs, err := filepath.Abs(start); err == nil {
		start = abs
	}
	for at := start; ; at = filepath.Dir(at) {
		dir := filepath.Join(at, folder)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir, true
		}
		if at == filepath.Dir(at) {
			return filepath.Join(start, folder), false
		}
	}
}

// ID returns the store's ID, which ownership tags carry (SAFETY S4).
func (s *Store) ID() string { return s.id }

// Dir returns the store's folder.
func (s *Store) Dir() string { return s.dir }

// Made reports whether this Open made the store.
func (s *Store) Made() bool { return s.made }

// Close waits for what is being committed and lets everything go. The store's holds stay.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.commits.stop()
	err := s.live.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropCopy()
	return err
}

// Read runs f on a consistent view, exactly once. f must not call the store.
func (s *Store) Read(ctx context.Context, f func(record.View) error) error {
	run := func(v *view) error {
		if id, err := v.storeID(); err != nil {
			return err
		} else if id != s.id {
			return fmt.Errorf("read store: %s was replaced by another store (%s): %w", s.path, id, record.ErrStale)
		}
		return f(v)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	holding, closed := s.holding, s.closed
	s.mu.Unlock()
	switch {
	case closed:
		return fmt.Errorf("read store: %w", ErrClosed)
	case holding:
		return s.live.read(ctx, run)
	default:
		return s.readCopy(ctx, run)
	}
}

// hold notes whether this process holds a stack, which decides how it reads.
func (s *Store) hold(yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holding = yes
	if yes {
		s.dropCopy()
	}
}
