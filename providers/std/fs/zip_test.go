package fs

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

func zips() *zipProvider { return Providers(machine)[1].(*zipProvider) }

// tree makes the folder that goldenSha is of. Order, times and modes of making it must not matter.
func tree(t *testing.T, names []string, at time.Time, mode os.FileMode) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "src")
	text := map[string]string{
		"index.js": "exports.handler = async () => 'hello'\n", "lib/a.txt": strings.Repeat("a\n", 1000), "lib.txt": "", "bin/run": "#!/bin/sh\n",
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		m := mode
		if name == "bin/run" {
			m |= 0o100
		}
		if err := os.WriteFile(path, []byte(text[name]), m); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// goldenSha must never change: it would make an update of every archive that anyone has deployed. If a new Go release
// changes it, keep that release's predecessor of compress/flate in this package.
const goldenSha = "207tgKUYfSUmarTsZlhISKfsAWf2sVj281YaZ92RtbU="

func TestTheSameInputGivesTheSameBytesAlways(t *testing.T) {
	order := []string{"index.js", "lib/a.txt", "lib.txt", "bin/run"}
	back := []string{"bin/run", "lib.txt", "lib/a.txt", "index.js"}
	for why, dir := range map[string]string{
		"as it is":                         tree(t, order, time.Unix(1e9, 0), 0o644),
		"made in another order, and later": tree(t, back, time.Unix(1.7e9, 5), 0o644),
		"readable by nobody else":          tree(t, order, time.Unix(0, 0), 0o600),
		"with an empty folder":             withFolder(t, tree(t, order, time.Unix(1e9, 0), 0o644)),
	} {
		path := filepath.Join(t.TempDir(), "out.zip")
		done := make1(t, zips(), value.Map{"Path": value.Of(path), "Source": value.Of(dir)})
		if got := done.Output.Text("Sha256"); got != goldenSha {
			t.Errorf("%s: hash is %s, want %s", why, got, goldenSha)
		}
		wantEntries(t, path, map[string]string{
			"bin/run": "-rwxr-xr-x", "index.js": "-rw-r--r--", "lib.txt": "-rw-r--r--", "lib/a.txt": "-rw-r--r--",
		}, []string{"bin/run", "index.js", "lib.txt", "lib/a.txt"})
	}
}

func withFolder(t *testing.T, dir string) string {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func wantEntries(t *testing.T, path string, modes map[string]string, order []string) {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
		if len(f.Extra) > 0 || f.Modified.Format(time.DateTime) != "1980-01-01 00:00:00" || f.Mode().String() != modes[f.Name] {
			t.Errorf("%s: extra %x, time %s, mode %s", f.Name, f.Extra, f.Modified, f.Mode())
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, r); err != nil { // checks the CRC
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	if diff := cmp.Diff(order, names); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestASingleFileIsPackedUnderItsOwnName(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "real"), "x")
	link := filepath.Join(dir, "index.js")
	os.Symlink("real", link)
	path := filepath.Join(dir, "out.zip")
	make1(t, zips(), value.Map{"Path": value.Of(path), "Source": value.Of(link)})
	wantEntries(t, path, map[string]string{"index.js": "-rw-r--r--"}, []string{"index.js"})
}

func TestAnyChangeOfTheInputIsSeen(t *testing.T) {
	dir := tree(t, []string{"index.js", "bin/run"}, time.Unix(1e9, 0), 0o644)
	params := value.Map{"Path": value.Of(filepath.Join(t.TempDir(), "out.zip")), "Source": value.Of(dir)}
	seen := map[string]string{}
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"nothing", func() error { return nil }},
		{"a byte", func() error { return os.WriteFile(filepath.Join(dir, "index.js"), []byte("x"), 0o644) }},
		{"a new file", func() error { return os.WriteFile(filepath.Join(dir, "b"), nil, 0o644) }},
		{"a new name", func() error { return os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "c")) }},
		{"the right to execute", func() error { return os.Chmod(filepath.Join(dir, "c"), 0o755) }},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		sha := expand(t, zips(), params).Text("SourceSha256")
		if was, twice := seen[sha]; twice || sha == "" {
			t.Errorf("after %s the hash is %q, as after %s", step.what, sha, was)
		}
		seen[sha] = step.what
	}
}

func TestAnArchiveIsPackedAnewOnlyFromWhatWasPlanned(t *testing.T) {
	dir := tree(t, []string{"index.js"}, time.Unix(1e9, 0), 0o644)
	path := filepath.Join(t.TempDir(), "out.zip")
	params := value.Map{"Path": value.Of(path), "Source": value.Of(dir)}
	make1(t, zips(), params)
	before := read(t, zips(), path).Params.Text("SourceSha256")
	if list := calls(t, zips(), change(t, path, expand(t, zips(), params), "Source")); len(list) != 0 {
		t.Errorf("calls are %v for the same bytes, want none", list)
	}

	put(t, filepath.Join(dir, "index.js"), "two")
	planned := expand(t, zips(), params)
	list := calls(t, zips(), change(t, path, planned, "SourceSha256"))
	if len(list) != 1 || list[0].Name != "WriteZip" {
		t.Fatalf("calls are %v, want WriteZip", list)
	}
	put(t, filepath.Join(dir, "index.js"), "three")
	err := list[0].Run(t.Context())
	wantKind(t, err, resource.Rejected, "plan again")
	wantUntouched(t, err)
	if got := read(t, zips(), path).Params.Text("SourceSha256"); got != before {
		t.Error("the archive was written although its source had changed")
	}
	put(t, filepath.Join(dir, "index.js"), "two")
	run(t, list)
	if got := read(t, zips(), path).Params.Text("SourceSha256"); got != planned.Text("SourceSha256") {
		t.Errorf("the archive has hash %s, planned was %s", got, planned["SourceSha256"])
	}
	if err := zips().Delete(t.Context(), resource.Delete{Key: keyOf(path), Recorded: planned}); err != nil {
		t.Errorf("delete: %v", err)
	}
	wantFiles(t, filepath.Dir(path))
}

func TestSourcesThatCannotBePackedAreRefusedByName(t *testing.T) {
	for why, c := range map[string]struct {
		place func(dir string) error
		word  string
	}{
		"a link in it, even to a file": {func(d string) error { return os.Symlink("index.js", filepath.Join(d, "ln")) }, "/ln is a symbolic link"},
		"a FIFO in it":                 {func(d string) error { return unix.Mkfifo(filepath.Join(d, "pipe"), 0o600) }, "/pipe is a FIFO"},
		"a store in it":                {func(d string) error { return os.Mkdir(filepath.Join(d, ".reclaim"), 0o700) }, "/.reclaim"},
		"a name with a backslash":      {func(d string) error { return os.WriteFile(filepath.Join(d, `a\b`), nil, 0o600) }, "backslash"},
		"a name that is not UTF-8":     {func(d string) error { return os.WriteFile(filepath.Join(d, "a\xff"), nil, 0o600) }, "UTF-8"},
		"more than the bound":          {func(d string) error { return os.Truncate(filepath.Join(d, "index.js"), MaxSource+1) }, "more than 256 MiB"},
		"not there":                    {os.RemoveAll, "not there"},
	} {
		t.Run(why, func(t *testing.T) {
			dir := tree(t, []string{"index.js"}, time.Unix(1e9, 0), 0o644)
			if err := c.place(dir); err != nil {
				t.Fatal(err)
			}
			out := t.TempDir()
			params := value.Map{"Path": value.Of(filepath.Join(out, "out.zip")), "Source": value.Of(dir)}
			_, err := zips().Expand(t.Context(), params)
			wantKind(t, err, resource.Rejected, c.word)
			_, err = zips().Create(t.Context(), resource.Create{Key: keyOf(params.Text("Path")), Params: params})
			wantKind(t, err, resource.Rejected, c.word)
			wantUntouched(t, err)
			wantFiles(t, out)
		})
	}
	dir := tree(t, []string{"index.js"}, time.Unix(1e9, 0), 0o644)
	_, err := zips().Expand(t.Context(), value.Map{"Path": value.Of(filepath.Join(dir, "out.zip")), "Source": value.Of(dir)})
	wantKind(t, err, resource.Rejected, "pack itself")
	_, err = zips().Expand(t.Context(), value.Map{"Path": value.Of("/out.zip")})
	wantKind(t, err, resource.Rejected, "no Source")
	got := expand(t, zips(), value.Map{"Path": value.Of("/out.zip"), "Source": value.Wait("Site.Path")})
	if !got["SourceSha256"].HasUnknown() {
		t.Errorf("the hash of an unknown source is %s, want it unknown", got["SourceSha256"])
	}
}

// What a killed writer left in a folder that is packed is no part of it.
func TestTemporaryFilesAreNotPacked(t *testing.T) {
	dir := tree(t, []string{"index.js"}, time.Unix(1e9, 0), 0o644)
	params := value.Map{"Path": value.Of("/out.zip"), "Source": value.Of(dir)}
	before := expand(t, zips(), params)
	put(t, tempName(filepath.Join(dir, "index.js")), "half")
	if diff := cmp.Diff(before, expand(t, zips(), params)); diff != "" {
		t.Errorf("a leftover changed the archive:\n%s", diff)
	}
}
