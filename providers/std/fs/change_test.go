package fs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// made is a file of ours: "one", 0644.
func made(t *testing.T) (path string, params value.Map) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "f")
	params = value.Map{"Path": value.Of(path), "Content": value.Of("one"), "Mode": value.Of("0644")}
	make1(t, files(), params)
	return path, params
}

func calls(t *testing.T, p resource.Provider, c resource.Change) []resource.Call {
	t.Helper()
	list, err := p.Sync(c)
	if err != nil {
		t.Fatalf("sync: %v", err)
	}
	return list
}

func change(t *testing.T, path string, desired value.Map, write ...string) resource.Change {
	t.Helper()
	return resource.Change{Key: keyOf(path), Desired: desired, Observed: read(t, files(), path), Write: write}
}

func TestSyncMakesOneCallOfWhatIsWritten(t *testing.T) {
	for why, c := range map[string]struct {
		set        value.Map
		write      []string
		name       string
		params     []string
		text, mode string
	}{
		"nothing to write is no call": {value.Map{}, nil, "", nil, "one", "0644"},
		"a mode is a call of its own": {value.Map{"Mode": value.Of("0600")}, []string{"Mode"}, "Chmod", []string{"Mode"}, "one", "0600"},
		"bytes leave the mode": {
			value.Map{"Content": value.Of("two")}, []string{"Content"}, "WriteFile", []string{"Content"}, "two", "0644"},
		"a mode that is not to be written stays (S30)": {
			value.Map{"Content": value.Of("two"), "Mode": value.Of("0600")}, []string{"Content"}, "WriteFile", []string{"Content"}, "two", "0644"},
		"both travel in one call": {
			value.Map{"Content": value.Of("two"), "Mode": value.Of("0600")}, []string{"Mode", "Content"}, "WriteFile", []string{"Content", "Mode"}, "two", "0600"},
		"a removed mode goes back to the default (S31)": {
			value.Map{"Mode": value.Value{}}, []string{"Mode"}, "Chmod", []string{"Mode"}, "one", "0644"},
		"the same bytes are not written again": {
			value.Map{"Content": value.Of("one")}, []string{"Content"}, "", nil, "one", "0644"},
	} {
		t.Run(why, func(t *testing.T) {
			path, params := made(t)
			for k, v := range c.set {
				params = params.With(k, v)
			}
			list := calls(t, files(), change(t, path, params, c.write...))
			var names []string
			for _, call := range list {
				names = append(names, call.Name)
				if diff := cmp.Diff(c.params, call.Params); diff != "" {
					t.Errorf("params of the call (-want +got):\n%s", diff)
				}
				if err := call.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if c.name == "" != (len(names) == 0) || len(names) > 1 || len(names) == 1 && names[0] != c.name {
				t.Errorf("calls are %v, want %q", names, c.name)
			}
			wantOnDisk(t, path, c.text)
			if got := read(t, files(), path).Params.Text("Mode"); got != c.mode {
				t.Errorf("mode is %s, want %s", got, c.mode)
			}
			wantFiles(t, filepath.Dir(path), "f")
		})
	}
}

func TestAnUpdateReplacesTheFileAtOnce(t *testing.T) {
	path, params := made(t)
	open, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	run(t, calls(t, files(), change(t, path, params.With("Content", value.Of("two")), "Content")))
	old := make([]byte, 8)
	if n, _ := open.Read(old); string(old[:n]) != "one" {
		t.Errorf("one who had the old file open reads %q; it was written in place", old[:n])
	}
	wantOnDisk(t, path, "two")
}

func run(t *testing.T, list []resource.Call) {
	t.Helper()
	if len(list) == 0 {
		t.Fatal("no call")
	}
	for _, c := range list {
		if err := c.Run(t.Context()); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
	}
}

// strangers are what may have come to our path between the look and the call. ours: the same bytes and mode would
// satisfy anyone, so they are no stranger's.
var strangers = map[string]func(path string) error{
	"other bytes of the same length": func(p string) error { return os.WriteFile(p, []byte("eno"), 0o644) },
	"another file":                   func(p string) error { os.Remove(p); return os.WriteFile(p, []byte("theirs"), 0o644) },
	"another mode":                   func(p string) error { return os.Chmod(p, 0o600) },
	"a link to a file with our bytes": func(p string) error {
		return errors.Join(os.Rename(p, p+".moved"), os.Symlink(p+".moved", p))
	},
	"a folder":  func(p string) error { os.Remove(p); return os.Mkdir(p, 0o755) },
	"a FIFO":    func(p string) error { os.Remove(p); return syscall.Mkfifo(p, 0o644) },
	"a setuid":  func(p string) error { return os.Chmod(p, 0o644|os.ModeSetuid) },
	"long file": func(p string) error { return os.WriteFile(p, make([]byte, MaxContent+1), 0o644) },
}

// S20, and the rule of the package.
func TestWhatChangedSinceItWasLookedAtIsLeftAlone(t *testing.T) {
	for what, come := range strangers {
		for name, write := range map[string][]string{"WriteFile": {"Content"}, "Chmod": {"Mode"}} {
			t.Run(name+" meets "+what, func(t *testing.T) {
				path, params := made(t)
				list := calls(t, files(), change(t, path,
					params.With("Content", value.Of("two")).With("Mode", value.Of("0640")), write...))
				if err := come(path); err != nil {
					t.Fatal(err)
				}
				wantLeftAlone(t, path, func() error { return list[0].Run(t.Context()) })
			})
		}
		t.Run("DeleteFile meets "+what, func(t *testing.T) {
			path, params := made(t)
			if err := come(path); err != nil {
				t.Fatal(err)
			}
			wantLeftAlone(t, path, func() error {
				return files().Delete(t.Context(), resource.Delete{Key: keyOf(path), Recorded: params})
			})
		})
	}
}

// wantLeftAlone runs a change that must refuse and touch nothing.
func wantLeftAlone(t *testing.T, path string, act func() error) {
	t.Helper()
	before, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	err = act()
	if k := resource.KindOf(err); k != resource.IdentityMismatch && k != resource.ReadInvalid {
		t.Errorf("got %v, want it refused as another object", err)
	}
	wantUntouched(t, err)
	after, err := os.Lstat(path)
	if err != nil || !os.SameFile(before, after) || before.Mode() != after.Mode() || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("what came to the path was touched (%v)", err)
	}
}

func TestDeleteRemovesWhatIsAsRecorded(t *testing.T) {
	sealer, err := value.NewSealer(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	secret := sealer.Seal(value.Of("one").AsSensitive())
	hash := value.Of("dpLDrTVAu4A8AgAMn69sZLBgfgPc0iudfwPxhaKCP54=")
	for why, c := range map[string]struct {
		recorded value.Map
		kind     resource.Kind
	}{
		"text and mode are equal":                  {value.Map{"Content": value.Of("one"), "Mode": value.Of("0644")}, ""},
		"a mode spelled otherwise is equal":        {value.Map{"Content": value.Of("one"), "Mode": value.Of("644")}, ""},
		"the engine compared the secret":           {value.Map{"Content": secret, "Mode": value.Of("0644")}, ""},
		"a secret's mode still counts":             {value.Map{"Content": secret, "Mode": value.Of("0600")}, resource.IdentityMismatch},
		"a source is compared by its bytes, wrong": {value.Map{"Source": value.Of("/s"), "SourceSha256": hash}, resource.IdentityMismatch},
		"a source without a hash proves nothing":   {value.Map{"Source": value.Of("/s")}, resource.IdentityMismatch},
		"nothing recorded proves nothing":          {nil, resource.IdentityMismatch},
	} {
		t.Run(why, func(t *testing.T) {
			path, _ := made(t)
			err := files().Delete(t.Context(), resource.Delete{Key: keyOf(path), Recorded: c.recorded})
			if resource.KindOf(err) != c.kind {
				t.Fatalf("got %v, want kind %q", err, c.kind)
			}
			_, there := os.Lstat(path)
			if gone := errors.Is(there, fs.ErrNotExist); gone != (c.kind == "") {
				t.Errorf("gone is %t after %v", gone, err)
			}
			if _, err := os.Lstat(filepath.Dir(path)); err != nil {
				t.Errorf("the folder went too: %v", err)
			}
		})
	}
}

// S20: success on nothing would be no evidence.
func TestDeletingNothingSaysSo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	err := files().Delete(t.Context(), resource.Delete{Key: keyOf(path), Recorded: value.Map{"Content": value.Of("")}})
	wantKind(t, err, resource.NotFound)
	// S2: from another machine, it says that it cannot see.
	err = files().Delete(t.Context(), resource.Delete{Key: resource.Key{"Machine": "other", "Path": path}})
	wantKind(t, err, resource.AccessDenied)
	wantUntouched(t, err)
}

func TestFromContentToSourceAndBack(t *testing.T) {
	path, params := made(t)
	src := filepath.Join(t.TempDir(), "src")
	put(t, src, "from a file")
	toSource := expand(t, files(), params.Without("Content").With("Source", value.Of(src)))
	run(t, calls(t, files(), change(t, path, toSource, "Content", "Source", "SourceSha256")))
	wantOnDisk(t, path, "from a file")
	// The path of the source changed, its bytes did not: there is nothing to write.
	if list := calls(t, files(), change(t, path, toSource, "Source")); len(list) != 0 {
		t.Errorf("calls are %v, want none", list)
	}
	run(t, calls(t, files(), change(t, path, params, "Content", "Source", "SourceSha256")))
	wantOnDisk(t, path, "one")
}

// What the system says, by code and never by text.
func TestErrorsOfTheSystemHaveAKind(t *testing.T) {
	for errno, want := range map[syscall.Errno]resource.Kind{
		syscall.EACCES: resource.AccessDenied, syscall.EPERM: resource.AccessDenied,
		syscall.EEXIST: resource.AlreadyExists,
		syscall.ENOSPC: resource.Rejected, syscall.EDQUOT: resource.Rejected, syscall.EROFS: resource.Rejected,
		syscall.ENAMETOOLONG: resource.Rejected, syscall.EIO: resource.Rejected, syscall.ENOENT: resource.Rejected,
	} {
		err := failed(opCreate, resource.No, &fs.PathError{Op: "write", Path: "/f", Err: errno})
		wantKind(t, err, want)
		wantUntouched(t, err)
		if e, _ := errors.AsType[*resource.Error](err); e.Code == "" || e.Code[0] != 'E' {
			t.Errorf("%v has code %q", errno, e.Code)
		}
		if after := failed(opCreate, resource.Yes, errno); !resource.Is(after, resource.Uncertain) || resource.DefinitelyNotExecuted(after) {
			t.Errorf("%v after the change is %v, want it uncertain", errno, after)
		}
	}
	wantKind(t, readFailed(opRead, syscall.ENOENT), resource.NotFound)
	wantKind(t, readFailed(opRead, syscall.EACCES), resource.AccessDenied)
}
