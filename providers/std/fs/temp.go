package fs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"reclaim/engine/resource"
)

// tempPrefix begins the name of every temporary file. What follows is derived from the target's name, so that what a
// killed process left is found again by name alone, and nothing else is ever taken for it.
const tempPrefix = ".reclaim-tmp-"

func tempName(target string) string {
	sum := sha256.Sum256([]byte(filepath.Base(target)))
	return filepath.Join(filepath.Dir(target), tempPrefix+hex.EncodeToString(sum[:12]))
}

// content writes the wanted bytes.
type content func(ctx context.Context, w io.Writer) error

// temp is a file in the target's folder that is not at the target yet.
type temp struct {
	f    *os.File
	name string // "" while it has no name at all
}

// writeTemp makes a synced temporary file with the bytes and mode wished for. The file has no name where the system can do that, unless it is needed for a rename.
func (d *disk) writeTemp(ctx context.Context, op, target string, named bool, w wish) (*temp, written, error) {
	t, err := d.openTemp(ctx, op, target, named)
	if err != nil {
		return nil, written{}, failed(op, resource.No, err)
	}
	done, err := t.fill(ctx, w)
	if err == nil && w.want != "" && done.sha != w.want {
		err = refuse(op, "the source of %s changed since it was last read; plan again", target)
	}
	if err != nil {
		t.discard()
		return nil, written{}, failed(op, resource.No, err)
	}
	return t, done, nil
}

// written says what went into a file.
type written struct {
	sha  string // base64
	size int64
}

func (t *temp) fill(ctx context.Context, w wish) (written, error) {
	m := &meter{ctx: ctx, f: t.f, h: sha256.New()}
	if err := w.write(ctx, m); err != nil {
		return written{}, err
	}
	if err := t.f.Chmod(w.mode); err != nil { // the umask has no say in it
		return written{}, err
	}
	if err := t.f.Sync(); err != nil {
		return written{}, err
	}
	return written{encode(m.h.Sum(nil)), m.n}, ctx.Err()
}

// link puts the file at the target, where nothing may be.
func (t *temp) link(target string) error {
	if t.name == "" {
		return linkUnnamed(t.f, target)
	}
	return os.Link(t.name, target)
}

// discard removes what is left of it. Its lock is given up last, so nobody takes a file in use for a leftover.
func (t *temp) discard() {
	if t.name != "" {
		os.Remove(t.name)
	}
	t.f.Close()
}

func (d *disk) openTemp(ctx context.Context, op, target string, named bool) (*temp, error) {
	dir := filepath.Dir(target)
	t, err := d.tryTemp(ctx, op, target, named)
	if !errors.Is(err, fs.ErrNotExist) {
		return t, err
	}
	if err := d.folders.make(dir); err != nil {
		return nil, err
	}
	return d.tryTemp(ctx, op, target, named)
}

func (d *disk) tryTemp(ctx context.Context, op, target string, named bool) (*temp, error) {
	defer d.folders.settled()()
	if !named {
		f, err := openUnnamed(filepath.Dir(target))
		if err == nil {
			sweep(op, target)
			return &temp{f: f}, nil
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			return nil, err
		}
	}
	return openNamed(ctx, op, target)
}

// openNamed makes the target's temporary file and locks it. The system drops the lock when its process dies, so a file
// that can be locked is a leftover, and one that cannot is another process at work, which is waited for.
func openNamed(ctx context.Context, op, target string) (*temp, error) {
	name := tempName(target)
	for {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
		if err == nil {
			own, err := lock(f)
			if own {
				return &temp{f: f, name: name}, nil
			}
			f.Close()
			if err != nil {
				os.Remove(name)
				return nil, err
			}
			continue // somebody swept it before it was locked
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		busy, err := sweepNamed(op, name)
		if err != nil {
			return nil, err
		}
		if busy && !pause(ctx) {
			return nil, &resource.Error{
				Kind: resource.Busy, Op: op, Executed: resource.No,
				Err: fmt.Errorf("another process is writing %s: %w", target, ctx.Err()),
			}
		}
	}
}

// lock reports whether f is locked and still the file that its name leads to.
func lock(f *os.File) (own bool, err error) {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			return false, nil
		}
		return false, &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(mine, there), nil
}

// sweep removes the temporary file that a killed process left for the same target, if there is one. It hinders nothing
// when that fails: the file keeps its name and is met again.
func sweep(op, target string) { _, _ = sweepNamed(op, tempName(target)) }

// sweepNamed removes a leftover. busy: it belongs to a process that is alive.
func sweepNamed(op, name string) (busy bool, err error) {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !info.Mode().IsRegular() || !ok || int(st.Uid) != os.Geteuid() {
		return false, refuse(op, "%s has the name of our temporary file but is not ours; move it away", name)
	}
	f, err := openPlain(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	own, err := lock(f)
	if err != nil || !own {
		return !own, err
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return false, nil
}

// pause waits a moment; false when the context ended.
func pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(2 * time.Millisecond):
		return true
	}
}

// meter writes to a file, counts and hashes, and ends with its context.
type meter struct {
	ctx context.Context
	f   *os.File
	h   hash.Hash
	n   int64
}

func (m *meter) Write(b []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.f.Write(b)
	m.h.Write(b[:n])
	m.n += int64(n)
	return n, err
}
