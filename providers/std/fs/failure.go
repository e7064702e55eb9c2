package fs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"

	"reclaim/engine/resource"
)

// refuse is the error for a request that cannot be carried out as it stands. Nothing was changed.
func refuse(op, format string, args ...any) error {
	return &resource.Error{Kind: resource.Rejected, Op: op, Executed: resource.No, Err: fmt.Errorf(format, args...)}
}

// mismatch says that what is at the path is not what was expected there. Nothing was changed.
func mismatch(op, format string, args ...any) error {
	return &resource.Error{Kind: resource.IdentityMismatch, Op: op, Executed: resource.No, Err: fmt.Errorf(format, args...)}
}

// failed gives an error of the operating system its kind, by code. executed says whether the target was changed
// before it happened. An error that has a kind already keeps it.
func failed(op string, executed resource.Tri, err error) error {
	if e, ok := errors.AsType[*resource.Error](err); ok {
		return e
	}
	e := &resource.Error{Kind: kindOf(err, executed), Op: op, Executed: executed, Err: err}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		e.Code = unix.ErrnoName(errno)
	}
	return e
}

func kindOf(err error, executed resource.Tri) resource.Kind {
	switch {
	case executed != resource.No:
		return resource.Uncertain
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return resource.Uncertain
	case errors.Is(err, fs.ErrExist):
		return resource.AlreadyExists
	case errors.Is(err, fs.ErrPermission):
		return resource.AccessDenied
	default:
		return resource.Rejected // out of space, name too long, read-only file system, a file where a folder is wanted
	}
}

// readFailed is failed for looking: a missing file or folder is the answer that nothing is there.
func readFailed(op string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return &resource.Error{Kind: resource.NotFound, Op: op, Executed: resource.No, Err: err}
	}
	return failed(op, resource.No, err)
}
