package fs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

func wishOf(t *testing.T, text string) wish {
	t.Helper()
	w, err := fileWish(opCreate, value.Map{"Path": value.Of("/f"), "Content": value.Of(text)})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// A file system without unnamed files takes this way.
func TestANamedTemporaryFileKeepsTheSamePromises(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	d := files().disk
	tmp, _, err := d.writeTemp(t.Context(), opCreate, path, true, wishOf(t, "one"))
	if err != nil {
		t.Fatal(err)
	}
	if err := tmp.link(path); err != nil {
		t.Fatal(err)
	}
	if err := failed(opCreate, resource.No, tmp.link(path)); !resource.Is(err, resource.AlreadyExists) {
		t.Errorf("a second link to the same path: %v", err)
	}
	tmp.discard()
	wantOnDisk(t, path, "one")
	wantFiles(t, dir, "f")
}

func TestWhatAKilledWriterLeftIsRemovedByTheNextOne(t *testing.T) {
	for when, next := range map[string]func(t *testing.T, path string, params value.Map){
		"an update": func(t *testing.T, path string, params value.Map) {
			run(t, calls(t, files(), change(t, path, params.With("Content", value.Of("two")), "Content")))
		},
		"a delete and a create": func(t *testing.T, path string, params value.Map) {
			if err := files().Delete(t.Context(), resource.Delete{Key: keyOf(path), Recorded: params}); err != nil {
				t.Fatal(err)
			}
			put(t, tempName(path), "left again")
			make1(t, files(), params)
		},
	} {
		t.Run(when, func(t *testing.T) {
			path, params := made(t)
			put(t, tempName(path), "half a fi")
			put(t, tempName(path+"2"), "another target's")
			next(t, path, params)
			wantFiles(t, filepath.Dir(path), filepath.Base(tempName(path+"2")), "f")
		})
	}
}

func TestTheTemporaryFileOfALivingWriterIsWaitedFor(t *testing.T) {
	path, params := made(t)
	writer := files().disk
	tmp, _, err := writer.writeTemp(t.Context(), opWrite, path, true, wishOf(t, "theirs"))
	if err != nil {
		t.Fatal(err)
	}
	list := calls(t, files(), change(t, path, params.With("Content", value.Of("two")), "Content"))
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err = list[0].Run(short)
	wantKind(t, err, resource.Busy, "another process")
	wantUntouched(t, err)
	wantFiles(t, filepath.Dir(path), filepath.Base(tempName(path)), "f")
	tmp.discard()
	run(t, list)
	wantOnDisk(t, path, "two")
}

func TestAStrangersFileWithATemporaryNameIsNotRemoved(t *testing.T) {
	path, params := made(t)
	if err := unix.Mkfifo(tempName(path), 0o600); err != nil {
		t.Fatal(err)
	}
	err := calls(t, files(), change(t, path, params.With("Content", value.Of("two")), "Content"))[0].Run(t.Context())
	wantKind(t, err, resource.Rejected, "move it away")
	wantUntouched(t, err)
	if _, err := os.Lstat(tempName(path)); err != nil {
		t.Errorf("it is gone: %v", err)
	}
	wantOnDisk(t, path, "one")
}

func TestACreateLeavesNoNameBehindBeforeItIsLinked(t *testing.T) {
	dir := t.TempDir()
	f, err := openUnnamed(dir)
	if errors.Is(err, errors.ErrUnsupported) {
		return // this file system gives every file a name; the tests above hold that way
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	d := files().disk
	tmp, _, err := d.writeTemp(t.Context(), opCreate, filepath.Join(dir, "f"), false, wishOf(t, "one"))
	if err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir) // a kill here leaves nothing
	tmp.discard()
	wantFiles(t, dir)
}
