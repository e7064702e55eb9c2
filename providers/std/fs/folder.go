package fs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// folderSyncs makes the entries of folders durable. Resources that are written at the same time into one folder share
// its sync: it costs about as much as writing a small file. The zero value is ready.
type folderSyncs struct {
	mu    sync.Mutex
	turns map[string]*turn
	// making is held while folders are made and synced, so that nobody acknowledges a file below a folder whose own
	// entry is not durable yet.
	making sync.RWMutex
}

// turn is the queue of one folder.
type turn struct {
	run   sync.Mutex // held by the one that syncs
	next  *round     // of those who wait for the next sync; under folderSyncs.mu
	users int        // under folderSyncs.mu
}

// round is one sync, for all who asked before it began.
type round struct {
	done bool // under turn.run
	err  error
}

// sync returns when a sync of dir that began after this call has ended.
func (s *folderSyncs) sync(dir string) error {
	t, r := s.join(dir)
	defer s.leave(dir, t)
	t.run.Lock()
	defer t.run.Unlock()
	if !r.done { // nobody did it for us: it is still the next one
		s.mu.Lock()
		t.next = nil
		s.mu.Unlock()
		r.err = syncFolder(dir)
		r.done = true
	}
	return r.err
}

func (s *folderSyncs) join(dir string) (*turn, *round) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turns == nil {
		s.turns = map[string]*turn{}
	}
	t := s.turns[dir]
	if t == nil {
		t = &turn{}
		s.turns[dir] = t
	}
	t.users++
	if t.next == nil {
		t.next = &round{}
	}
	return t, t.next
}

func (s *folderSyncs) leave(dir string, t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.users--; t.users == 0 {
		delete(s.turns, dir)
	}
}

// settled waits for folders that are being made. Call what it returns when done.
func (s *folderSyncs) settled() (done func()) {
	s.making.RLock()
	return s.making.RUnlock
}

// make makes dir and the folders above it that are missing, 0755 less the umask, each durable before the next.
func (s *folderSyncs) make(dir string) error {
	s.making.Lock()
	defer s.making.Unlock()
	return makeFolder(dir)
}

func makeFolder(dir string) error {
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeFolder(filepath.Dir(dir)); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o755)
	}
	if errors.Is(err, fs.ErrExist) {
		// Made by somebody else meanwhile; what is no folder fails when the file is opened in it.
		return nil
	}
	if err != nil {
		return err
	}
	return syncFolder(filepath.Dir(dir))
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
