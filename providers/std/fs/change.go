package fs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"reclaim/engine/crash"
	"reclaim/engine/resource"
)

// Names of calls.
const (
	opCreate = "CreateFile"
	opRead   = "ReadFile"
	opWrite  = "WriteFile"
	opChmod  = "Chmod"
	opDelete = "DeleteFile"
	opExpand = "read source" // changes nothing: no call, but the place in an error
)

// create puts a new file at path, where nothing may be: the whole file, durable, or nothing.
func (d *disk) create(ctx context.Context, path string, w wish) (written, error) {
	crash.At(ctx, crash.BeforeSend)
	t, done, err := d.writeTemp(ctx, opCreate, path, false, w)
	if err != nil {
		return written{}, err
	}
	defer t.discard()
	crash.At(ctx, crash.FileStep)
	if err := t.link(path); err != nil {
		return written{}, failed(opCreate, resource.No, err)
	}
	crash.At(ctx, crash.FileStep)
	if err := d.folders.sync(filepath.Dir(path)); err != nil {
		return done, failed(opCreate, resource.Yes, fmt.Errorf("%s is there, but may not survive a power cut: %w", path, err))
	}
	crash.At(ctx, crash.AfterExecuted)
	return done, nil
}

// replace puts a new file in the place of the one that was observed, at once, if it is still that one.
func (d *disk) replace(ctx context.Context, op, path string, expect func(*seen) error, w wish) error {
	crash.At(ctx, crash.BeforeSend)
	before, err := d.expected(ctx, op, path, expect)
	if err != nil {
		return err
	}
	t, _, err := d.writeTemp(ctx, op, path, true, w)
	if err != nil {
		return err
	}
	defer t.discard()
	crash.At(ctx, crash.FileStep)
	if err := unmoved(op, path, before); err != nil {
		return err
	}
	if err := os.Rename(t.name, path); err != nil {
		return failed(op, resource.No, err)
	}
	t.name = "" // it is the target now
	crash.At(ctx, crash.FileStep)
	return d.finish(ctx, op, path)
}

// chmod changes the mode of the file that was observed, if it is still that one.
func (d *disk) chmod(ctx context.Context, path string, expect func(*seen) error, mode os.FileMode) error {
	crash.At(ctx, crash.BeforeSend)
	before, err := d.expected(ctx, opChmod, path, expect)
	if err != nil {
		return err
	}
	f, err := openPlain(path)
	if err != nil {
		return failed(opChmod, resource.No, err)
	}
	defer f.Close()
	now, err := f.Stat()
	if err != nil {
		return failed(opChmod, resource.No, err)
	}
	if !os.SameFile(now, before.info) {
		return moved(opChmod, path)
	}
	if err := f.Chmod(mode); err != nil {
		return failed(opChmod, resource.No, err)
	}
	crash.At(ctx, crash.FileStep)
	if err := f.Sync(); err != nil {
		return failed(opChmod, resource.Yes, err)
	}
	crash.At(ctx, crash.AfterExecuted)
	return nil
}

// remove deletes the file at path, if it is the one expected.
func (d *disk) remove(ctx context.Context, path string, expect func(*seen) error) error {
	crash.At(ctx, crash.BeforeSend)
	before, err := d.expected(ctx, opDelete, path, expect)
	if err != nil {
		return err
	}
	sweep(opDelete, path)
	if err := unmoved(opDelete, path, before); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return readFailed(opDelete, err)
	}
	crash.At(ctx, crash.FileStep)
	return d.finish(ctx, opDelete, path)
}

// finish makes a change of the folder durable.
func (d *disk) finish(ctx context.Context, op, path string) error {
	if err := d.folders.sync(filepath.Dir(path)); err != nil {
		return failed(op, resource.Yes, fmt.Errorf("%s was changed, but the change may not survive a power cut: %w", path, err))
	}
	crash.At(ctx, crash.AfterExecuted)
	return nil
}

// expected looks at path and returns what is there if expect agrees (SAFETY S20).
func (d *disk) expected(ctx context.Context, op, path string, expect func(*seen) error) (*seen, error) {
	s, err := d.look(ctx, op, path)
	if err != nil {
		return nil, err
	}
	return s, expect(s)
}

// unmoved looks once more, as late as can be: the same file, not written to since.
func unmoved(op, path string, before *seen) error {
	now, err := os.Lstat(path)
	if err != nil {
		return readFailed(op, err)
	}
	was := before.info
	if !os.SameFile(now, was) || now.Size() != was.Size() || !now.ModTime().Equal(was.ModTime()) || now.Mode() != was.Mode() {
		return moved(op, path)
	}
	return nil
}

func moved(op, path string) error {
	return mismatch(op, "%s changed while it was looked at; plan again", path)
}
