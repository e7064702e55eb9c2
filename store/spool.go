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
	"strings"
	"time"
)

// followEvery is how often Follow looks for new lines.
const followEvery = 100 * time.Millisecond

// spoolPath is the file of an execution's events.
func spoolPath(dir, execution string) (string, error) {
	if execution == "" || strings.HasPrefix(execution, ".") || strings.ContainsAny(execution, "/\\\x00") {
		return "", fmt.Errorf("open spool: %q is no execution ID", execution)
	}
	return filepath.Join(dir, spoolDir, execution+".ndjson"), nil
}

// SpoolWriter returns a writer that appends to the execution's event spool. Each Write is one write to the file, so a
// caller that writes whole lines is followed in whole lines. It is not synced: the journal is what lasts.
func (s *Store) SpoolWriter(execution string) (io.WriteCloser, error) {
	path, err := spoolPath(s.dir, execution)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	return f, nil
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
	buf := make([]byte, 64<<10)
	for {
		if f == nil {
			if f, err = os.Open(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("follow spool: %w", err)
			}
		}
		for f != nil && ctx.Err() == nil {
			n, err := f.Read(buf)
			rest = eachLine(append(rest, buf[:n]...), line)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
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
