package fs

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// asNobody gives up, for this test, what lets root read everything.
func asNobody(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	runtime.LockOSThread()
	if _, err := unix.SetfsuidRetUid(65534); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := unix.SetfsuidRetUid(0); err != nil {
			t.Fatal(err)
		}
		runtime.UnlockOSThread()
	})
}

// S2: what may not be seen is not absent.
func TestDeniedIsNotAbsent(t *testing.T) {
	dir := t.TempDir()
	locked, open := filepath.Join(dir, "locked"), filepath.Join(dir, "open")
	params := value.Map{"Path": value.Of(filepath.Join(locked, "f")), "Content": value.Of("one")}
	make1(t, files(), params)
	put(t, open, "theirs")
	if err := os.Chmod(open, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(locked, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(locked, 0o755) })
	asNobody(t)
	path := params.Text("Path")
	for what, act := range map[string]func() error{
		"read of a locked folder": func() error { _, err := files().Read(t.Context(), keyOf(path)); return err },
		"read of a locked file":   func() error { _, err := files().Read(t.Context(), keyOf(open)); return err },
		"create": func() error {
			_, err := files().Create(t.Context(), resource.Create{Key: keyOf(path + "2"), Params: params})
			return err
		},
		"create in a folder to make": func() error {
			_, err := files().Create(t.Context(), resource.Create{Key: keyOf(filepath.Join(locked, "a", "b")), Params: params})
			return err
		},
		"delete": func() error {
			return files().Delete(t.Context(), resource.Delete{Key: keyOf(path), Recorded: params})
		},
	} {
		err := act()
		if !resource.Is(err, resource.AccessDenied) || !resource.DefinitelyNotExecuted(err) {
			t.Errorf("%s: got %v, want access denied and nothing done", what, err)
		}
	}
}
