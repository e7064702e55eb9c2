package fs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"reclaim/engine/resource"
)

// copyOf writes the bytes of the file at path. Unlike a target, a source may be a link to a file.
func copyOf(op, path string) content {
	return func(ctx context.Context, w io.Writer) error {
		f, err := openSource(op, path)
		if err != nil {
			return err
		}
		defer f.Close()
		n, err := io.Copy(w, io.LimitReader(patient{ctx, f}, MaxSource+1))
		if err != nil {
			return failed(op, resource.No, err)
		}
		if n > MaxSource {
			return tooLong(op, path)
		}
		return nil
	}
}

// openSource opens a plain file, and nothing that could block or act on being opened.
func openSource(op, path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, sourceFailed(op, path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, refuse(op, "Source %s is %s, not a plain file", path, kindOfFile(info))
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, sourceFailed(op, path, err)
	}
	return f, nil
}

func sourceFailed(op, path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return refuse(op, "Source %s is not there: %w", path, err)
	}
	return failed(op, resource.No, err)
}

func tooLong(op, path string) error {
	return refuse(op, "Source %s has more than %d MiB", path, MaxSource>>20)
}
