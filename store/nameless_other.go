//go:build !linux

package store

import "os"

// nameless returns a file without a name that goes away when it is closed.
func nameless() (*os.File, error) {
	f, err := os.CreateTemp("", "reclaim-copy-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// populate is what Linux can do for a mapping that is read whole.
const populate = 0
