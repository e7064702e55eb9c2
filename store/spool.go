package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"reclaim/engine/record"
)

// What is kept of spools: the newest ones, and not more bytes than this unless the newest alone has more. That of an
// execution that holds a stack stays whatever its age.
const (
	maxSpools     = 50
	maxSpoolBytes = 64 << 20
)

// followEvery is how often Follow looks for new lines.
const followEvery = 100 * time.Millisecond

// spoolExt ends the names of spools.
const spoolExt = ".ndjson"

// spoolPath is the file of an execution's events.
func spoolPath(dir, execution string) (string, error) {
	if execution == "" || strings.HasPrefix(execution, ".") || strings.ContainsAny(execution, "/\\\x00") {
		return "", fmt.Errorf("open spool: %q is no execution ID", execution)
	}
	return filepath.Join(dir, spoolDir, execution+spoolExt), nil
}

// pruneSpools removes the oldest spools beyond the bounds. newest is about to be written and counts as one of them.
func (s *Store) pruneSpools(newest string) error {
	held := map[string]bool{newest: true}
	err := s.Read(context.Background(), func(v record.View) error {
		stacks, err := v.Stacks()
		if err != nil {
			return err
		}
		for _, id := range stacks {
			if h, ok, err := v.Hold(id); err != nil {
				return err
			} else if ok {
				held[h.Execution] = true
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	files, err := os.ReadDir(filepath.Join(s.dir, spoolDir))
	if err != nil {
		return err
	}
	var all []fs.FileInfo
	for _, f := range files {
		info, err := f.Info()
		if name, ours := strings.CutSuffix(f.Name(), spoolExt); err == nil && ours && !held[name] && info.Mode().IsRegular() {
			all = append(all, info)
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	count, size := 1, int64(0)
	for _, info := range all {
		count, size = count+1, size+info.Size()
		if count <= maxSpools && size <= maxSpoolBytes {
			continue
		}
		if err := os.Remove(filepath.Join(s.dir, spoolDir, info.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// SpoolWriter returns a writer that appends to the execution's event spool. Each Write is one write to the file, so a
// caller that writes whole lines is followed in whole lines. It is not synced: the journal is what lasts. Spools of older
// executions that are over go beyond a bound.
func (s *Store) SpoolWriter(execution string) (io.WriteCloser, error) {
	path, err := spoolPath(s.dir, execution)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	if err := s.pruneSpools(execution); err != nil {
		s.opts.Log("spools of old executions were not removed: %v", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	return f, nil
}

// Spooled calls line for each whole line that an execution's spool has now; for none when there is no spool. dir is the
// store's folder. line must not keep the slice.
func Spooled(dir, execution string, line func([]byte)) error {
	path, err := spoolPath(dir, execution)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read spool: %w", err)
	}
	defer f.Close()
	if _, err := spoolLines(f, nil, line); err != nil {
		return fmt.Errorf("read spool: %w", err)
	}
	return nil
}

// spoolLines reads to the end of what is there, calls line for each whole one after rest, and returns what is left.
func spoolLines(f io.Reader, rest []byte, line func([]byte)) ([]byte, error) {
	buf := make([]byte, 64<<10)
	for {
		n, err := f.Read(buf)
		rest = eachLine(append(rest, buf[:n]...), line)
		if errors.Is(err, io.EOF) {
			return rest, nil
		}
		if err != nil {
			return rest, err
		}
	}
}

// Follow calls line for each whole line of an execution's spool from its beginning, without the newline, as lines are
// added, until ctx ends; it then returns ctx's error. dir is the store's folder. A spool that is not there yet is
// waited for. line must not keep the slice.
func Follow(ctx context.Context, dir, execution string, line func([]byte)) error {
	path, err := spoolPath(dir, execution)
	if err != nil {
		return err
	}
	var f *os.File
	defer func() { f.Close() }()
	var rest []byte
	for {
		if f == nil {
			if f, err = os.Open(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("follow spool: %w", err)
			}
		}
		if f != nil {
			if rest, err = spoolLines(f, rest, line); err != nil {
				return fmt.Errorf("follow spool: %w", err)
			}
		}
		if err := sleep(ctx, followEvery); err != nil {
			return err
		}
	}
}

// eachLine calls line for every whole line in b and returns what is left.
func eachLine(b []byte, line func([]byte)) []byte {
	for {
		at := bytes.IndexByte(b, '\n')
		if at < 0 {
			return b
		}
		line(b[:at])
		b = b[at+1:]
	}
}
