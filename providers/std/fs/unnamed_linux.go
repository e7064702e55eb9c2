package fs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// procFD reports whether an open file can be named through /proc, which linking it needs.
var procFD = sync.OnceValue(func() bool {
	_, err := os.Stat("/proc/self/fd")
	return err == nil
})

// openUnnamed opens a new file that has no name and vanishes unless it is linked: a killed process leaves nothing.
// It fails with errors.ErrUnsupported where the file system cannot do that.
func openUnnamed(dir string) (*os.File, error) {
	if !procFD() {
		return nil, errors.ErrUnsupported
	}
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	switch {
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EISDIR), errors.Is(err, unix.EINVAL):
		return nil, fmt.Errorf("open an unnamed file in %s: %w", dir, errors.ErrUnsupported)
	case err != nil:
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	return os.NewFile(uintptr(fd), dir), nil
}

// linkUnnamed gives the file its name. It fails when anything is there, a link that leads nowhere too.
func linkUnnamed(f *os.File, target string) error {
	from := "/proc/self/fd/" + strconv.Itoa(int(f.Fd()))
	if err := unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, target, unix.AT_SYMLINK_FOLLOW); err != nil {
		return &fs.PathError{Op: "link", Path: target, Err: err}
	}
	return nil
}
