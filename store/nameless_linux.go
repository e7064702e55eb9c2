package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// nameless returns a file in memory that goes away when it is closed.
func nameless() (*os.File, error) {
	fd, err := unix.MemfdCreate("store copy", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "store copy"), nil
}
