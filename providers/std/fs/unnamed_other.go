//go:build !linux

package fs

import (
	"errors"
	"os"
)

// openUnnamed is Linux's alone; elsewhere temporary files have a name.
func openUnnamed(string) (*os.File, error) { return nil, errors.ErrUnsupported }

func linkUnnamed(*os.File, string) error { return errors.ErrUnsupported }
