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

// populate asks for all pages of a mapping at once: a copy is read whole, and a fault for each page costs more.
const populate = unix.MAP_POPULATE
