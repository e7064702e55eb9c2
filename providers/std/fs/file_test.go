package fs

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

const machine = "machine-1"

func files() *fileProvider { return Providers(machine)[0].(*fileProvider) }

func keyOf(path string) resource.Key { return resource.Key{"Machine": machine, "Path": path} }

// make1 creates a file through the provider and fails the test when that fails.
func make1(t *testing.T, p resource.Provider, params value.Map) resource.Created {
	t.Helper()
	params = expand(t, p, params)
	done, err := p.Create(t.Context(), resource.Create{Key: keyOf(params.Text("Path")), Params: params})
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return done
}

func expand(t *testing.T, p resource.Provider, params value.Map) value.Map {
	t.Helper()
	out, err := p.(resource.Expander).Expand(t.Context(), params)
	if err != nil {
		t.Fatalf("expand: %v", err)
	}
	return out
}

func read(t *testing.T, p resource.Provider, path string) *resource.Observation {
	t.Helper()
	o, err := p.Read(t.Context(), keyOf(path))
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return o
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func wantOnDisk(t *testing.T, path, text string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func wantFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if diff := cmp.Diff(names, got); diff != "" {
		t.Errorf("files in the folder (-want +got):\n%s", diff)
	}
}

func wantKind(t *testing.T, err error, k resource.Kind, words ...string) {
	t.Helper()
	if resource.KindOf(err) != k {
		t.Fatalf("error is %q (%v), want %q", resource.KindOf(err), err, k)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

func wantUntouched(t *testing.T, err error) {
	t.Helper()
	if !resource.DefinitelyNotExecuted(err) {
		t.Errorf("%v does not say that nothing was changed", err)
	}
}

// The SHA-256 of "hello\n", in base64, as `openssl dgst -sha256 -binary | base64` gives it.
const helloSha = "WJG1tSLV3whtD/CxEPvZ0hu0/HFjrzTQgoai6Eb2vgM="

func TestACreatedFileReadsBackAsConfigSaysIt(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "made", "on the way", "hello.txt")
	params := value.Map{"Path": value.Of(path), "Content": value.Of("hello\n"), "Mode": value.Of("640")}
	done := make1(t, files(), params)
	wantOut := value.Map{"Path": value.Of(path), "Sha256": value.Of(helloSha), "Size": value.Of(6)}
	if diff := cmp.Diff(resource.Created{Key: keyOf(path), Output: wantOut, ServedAt: done.ServedAt}, done); diff != "" {
		t.Errorf("acknowledgement (-want +got):\n%s", diff)
	}
	o := read(t, files(), path)
	want := &resource.Observation{
		Key: keyOf(path),
		Params: value.Map{
			"Path": value.Of(path), "Content": value.Of("hello\n"), "Mode": value.Of("0640"), "SourceSha256": value.Of(helloSha),
		},
		Output:   wantOut,
		ServedAt: o.ServedAt, Ready: true,
		Gaps:    map[value.Path]resource.Gap{"Source": {Kind: resource.GapWriteOnly, Reason: "a file does not say where its bytes came from"}},
		Sources: map[string]string{"object": "lstat and read"},
	}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Errorf("observation (-want +got):\n%s", diff)
	}
	wantFiles(t, filepath.Dir(path), "hello.txt")
}

func TestModeIsExactWhateverTheUmask(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	path := filepath.Join(t.TempDir(), "f")
	make1(t, files(), value.Map{"Path": value.Of(path), "Content": value.Of("")})
	if got := read(t, files(), path).Params.Text("Mode"); got != "0644" {
		t.Errorf("mode is %s, want the default 0644", got)
	}
}

// S3, and the rule of the package: never over a stranger's.
func TestCreateRefusesWhateverIsAtThePath(t *testing.T) {
	for what, place := range map[string]func(path string) error{
		"a file":                       func(p string) error { return os.WriteFile(p, []byte("theirs"), 0o600) },
		"a folder":                     func(p string) error { return os.Mkdir(p, 0o700) },
		"a link to a file":             func(p string) error { return os.Symlink("/etc/hosts", p) },
		"a link that leads nowhere":    func(p string) error { return os.Symlink(p+".gone", p) },
		"a FIFO that nobody writes to": func(p string) error { return unix.Mkfifo(p, 0o600) },
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			if err := place(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(path)
			_, err := files().Create(t.Context(), resource.Create{
				Key: keyOf(path), Params: value.Map{"Path": value.Of(path), "Content": value.Of("ours")},
			})
			wantKind(t, err, resource.AlreadyExists)
			wantUntouched(t, err)
			after, err := os.Lstat(path)
			if err != nil || !os.SameFile(before, after) || before.Size() != after.Size() {
				t.Errorf("what was there was touched (%v)", err)
			}
			wantFiles(t, dir, "f")
		})
	}
}

func TestOfManyCreatorsExactlyOneWins(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	errs := make([]error, 16)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { // a provider each, as processes have
			_, errs[i] = files().Create(t.Context(), resource.Create{
				Key: keyOf(path), Params: value.Map{"Path": value.Of(path), "Content": value.Of(strings.Repeat("x", i+1))},
			})
		})
	}
	wg.Wait()
	winner := -1
	for i, err := range errs {
		switch {
		case err == nil && winner < 0:
			winner = i
		case err == nil:
			t.Fatalf("both %d and %d were told that they made it", winner, i)
		default:
			wantKind(t, err, resource.AlreadyExists)
		}
	}
	if winner < 0 {
		t.Fatal("nobody won")
	}
	wantOnDisk(t, path, strings.Repeat("x", winner+1))
	wantFiles(t, dir, "f")
}

func TestReadSaysAbsentOnlyWhenNothingIsThere(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "")
	link := filepath.Join(dir, "link")
	os.Symlink("nowhere", link)
	fifo := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for why, c := range map[string]struct {
		key  resource.Key
		kind resource.Kind
		word string
	}{
		"no such file":                             {keyOf(filepath.Join(dir, "none")), resource.NotFound, ""},
		"no such folder":                           {keyOf(filepath.Join(dir, "no", "ne")), resource.NotFound, ""},
		"below a file nothing can be":              {keyOf(filepath.Join(dir, "file", "none")), resource.NotFound, ""},
		"a link is not followed":                   {keyOf(link), resource.ReadInvalid, "a symbolic link"},
		"a FIFO is not waited for":                 {keyOf(fifo), resource.ReadInvalid, "a FIFO"},
		"a folder is no file":                      {keyOf(dir), resource.ReadInvalid, "a folder"},
		"a device is not opened":                   {keyOf("/dev/null"), resource.ReadInvalid, "a device"},
		"another machine's path is denied (S2)":    {resource.Key{"Machine": "other", "Path": filepath.Join(dir, "none")}, resource.AccessDenied, `machine "other"`},
		"a key without a machine is not ours (S2)": {resource.Key{"Path": filepath.Join(dir, "none")}, resource.AccessDenied, "machine"},
		"a relative path has no place":             {keyOf("none"), resource.Rejected, "not absolute"},
		"a path that is not plain":                 {keyOf(dir + "/../x"), resource.Rejected, "plain path"},
		"the root":                                 {keyOf("/"), resource.Rejected, "plain path"},
		"a NUL ends no path":                       {keyOf(dir + "/a\x00b"), resource.Rejected, "control"},
		"an escape sequence is no name":            {keyOf(dir + "/a\x1b[2Jb"), resource.Rejected, "control"},
		"not UTF-8":                                {keyOf(dir + "/a\xffb"), resource.Rejected, "UTF-8"},
		"a name of our temporary files":            {keyOf(tempName(filepath.Join(dir, "f"))), resource.Rejected, "temporary"},
		"a name longer than the system takes":      {keyOf(filepath.Join(dir, strings.Repeat("n", 300))), resource.Rejected, "ENAMETOOLONG"},
	} {
		t.Run(why, func(t *testing.T) {
			_, err := files().Read(t.Context(), c.key)
			wantKind(t, err, c.kind, c.word)
			if strings.ContainsAny(err.Error(), "\x00\x1b") {
				t.Errorf("the message emits what it should show: %q", err)
			}
			if c.kind == resource.NotFound {
				return
			}
			_, err = files().Create(t.Context(), resource.Create{
				Key: c.key, Params: value.Map{"Path": value.Of(c.key["Path"]), "Content": value.Of("")},
			})
			if resource.KindOf(err) != resource.AlreadyExists {
				wantKind(t, err, c.kind)
			}
			wantUntouched(t, err)
		})
	}
	_, err := files().Create(t.Context(), resource.Create{
		Key: keyOf(dir + "/file/none"), Params: value.Map{"Path": value.Of(dir + "/file/none"), "Content": value.Of("")},
	})
	wantKind(t, err, resource.Rejected, "ENOTDIR")
	wantUntouched(t, err)
}

func TestParamsThatCannotBeWrittenAreRefusedBeforeAnything(t *testing.T) {
	src := filepath.Join(t.TempDir(), "src")
	put(t, src, "source")
	for why, params := range map[string]value.Map{
		"both":                   {"Content": value.Of("x"), "Source": value.Of(src)},
		"neither":                {},
		"null is no text":        {"Content": value.Of(nil)},
		"an unknown text":        {"Content": value.Wait("Other.Path")},
		"only a hash is left":    {"Content": value.HashOf("abc")},
		"longer than a record":   {"Content": value.Of(strings.Repeat("x", MaxContent+1))},
		"a source not there":     {"Source": value.Of(src + ".none")},
		"a source that is a dir": {"Source": value.Of(filepath.Dir(src))},
		"a relative source":      {"Source": value.Of("src")},
		"a secret source":        {"Source": value.Of(src).AsSensitive()},
		"another source than it was when planned": {"Source": value.Of(src), "SourceSha256": value.Of(helloSha)},
		"a mode that is not octal":                {"Content": value.Of("x"), "Mode": value.Of("0999")},
		"a mode the owner cannot read":            {"Content": value.Of("x"), "Mode": value.Of("0200")},
		"a mode with setuid":                      {"Content": value.Of("x"), "Mode": value.Of("4755")},
	} {
		t.Run(why, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			_, err := files().Create(t.Context(), resource.Create{Key: keyOf(path), Params: params.With("Path", value.Of(path))})
			wantKind(t, err, resource.Rejected)
			wantUntouched(t, err)
			wantFiles(t, dir)
		})
	}
}

// S32: the hash of a secret is a way to it.
func TestWhatIsDerivedFromASecretIsSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	params := value.Map{"Path": value.Of(path), "Content": value.Of("hunter2").AsSensitive()}
	done := make1(t, files(), params)
	wantOnDisk(t, path, "hunter2")
	o := read(t, files(), path)
	for _, m := range []value.Map{done.Output, fileSchema.Conceal(o.Output, params), fileSchema.Conceal(o.Params, nil, params)} {
		for name, v := range m {
			want := name != "Path" && name != "Content" && name != "Mode" // Content and Mode are the diff's to mark
			if v.Sensitive() != want {
				t.Errorf("%s: sensitive is %t, want %t", name, v.Sensitive(), want)
			}
		}
	}
	if o.Params["SourceSha256"].Sensitive() {
		t.Error("Conceal changed the map that it was given")
	}
}

func TestContentThatNoTemplateCanHoldNeverEqualsAny(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for why, bytes := range map[string]string{"not UTF-8": "a\xffb", "too long": strings.Repeat("x", MaxContent+1)} {
		put(t, path, bytes)
		o := read(t, files(), path)
		shown := o.Params.Text("Content")
		if !strings.Contains(shown, o.Output.Text("Sha256")) {
			t.Errorf("%s: %q does not say which bytes they are", why, shown)
		}
		again := strings.ToValidUTF8(shown, "\uFFFD")
		if value.Equal(o.Params["Content"], value.Of(again)) {
			t.Errorf("%s: a template could hold %q", why, shown)
		}
	}
}

func TestALongSourceIsCopiedWhole(t *testing.T) {
	dir := t.TempDir()
	src, path := filepath.Join(dir, "src"), filepath.Join(dir, "f")
	long := bytes.Repeat([]byte("0123456789abcdef"), 1<<19) // 8 MiB
	put(t, src, string(long))
	link := filepath.Join(dir, "link")
	os.Symlink(src, link)
	params := expand(t, files(), value.Map{"Path": value.Of(path), "Source": value.Of(link)})
	done := make1(t, files(), params)
	if got, _ := os.ReadFile(path); !bytes.Equal(got, long) {
		t.Errorf("copied %d bytes, want the %d of the source", len(got), len(long))
	}
	o := read(t, files(), path)
	if o.Params.Text("SourceSha256") != params.Text("SourceSha256") || done.Output.Text("Sha256") != params.Text("SourceSha256") {
		t.Errorf("hashes differ: source %s, target %s, output %s", params["SourceSha256"], o.Params["SourceSha256"], done.Output["Sha256"])
	}
}

func TestACallThatRanOutOfTimeChangedNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := files().Create(ctx, resource.Create{Key: keyOf(path), Params: value.Map{"Path": value.Of(path), "Content": value.Of("x")}})
	if !resource.Interrupted(err) {
		t.Errorf("error %v does not say that it was interrupted", err)
	}
	wantUntouched(t, err)
	wantFiles(t, dir)
}

func TestExpandSpellsParamsAsAReadDoes(t *testing.T) {
	src := filepath.Join(t.TempDir(), "src")
	put(t, src, "hello\n")
	for why, c := range map[string]struct{ in, want value.Map }{
		"a mode gets its four digits": {
			value.Map{"Content": value.Of("x"), "Mode": value.Of("755")}, value.Map{"Content": value.Of("x"), "Mode": value.Of("0755")}},
		"a number is the text it was written as": {
			value.Map{"Content": value.Num("1.50")}, value.Map{"Content": value.Of("1.50")}},
		"a secret stays one": {
			value.Map{"Content": value.Num("42").AsSensitive()}, value.Map{"Content": value.Of("42").AsSensitive()}},
		"a source gets the hash of its bytes": {
			value.Map{"Source": value.Of(src)}, value.Map{"Source": value.Of(src), "SourceSha256": value.Of(helloSha)}},
		"an old hash is computed anew": {
			value.Map{"Source": value.Of(src), "SourceSha256": value.Of("old")}, value.Map{"Source": value.Of(src), "SourceSha256": value.Of(helloSha)}},
		"the hash of an unknown source is unknown": {
			value.Map{"Source": value.Wait("Bundle.Path")}, value.Map{"Source": value.Wait("Bundle.Path"), "SourceSha256": value.Wait("Bundle.Path")}},
		"an unknown text has no hash": {
			value.Map{"Content": value.Wait("Role.Arn")}, value.Map{"Content": value.Wait("Role.Arn")}},
	} {
		t.Run(why, func(t *testing.T) {
			got := expand(t, files(), c.in.With("Path", value.Of("/f")))
			if diff := cmp.Diff(c.want.With("Path", value.Of("/f")), got, cmp.Comparer(same)); diff != "" {
				t.Errorf("expanded (-want +got):\n%s", diff)
			}
		})
	}
	for why, in := range map[string]value.Map{
		"both":            {"Content": value.Of("x"), "Source": value.Of(src)},
		"source is gone":  {"Source": value.Of(src + ".gone")},
		"source is a dir": {"Source": value.Of(filepath.Dir(src))},
	} {
		_, err := files().Expand(t.Context(), in.With("Path", value.Of("/f")))
		if resource.KindOf(err) != resource.Rejected {
			t.Errorf("%s: got %v, want it refused", why, err)
		}
	}
}

// same is Equal, and two unknowns that wait for the same are the same.
func same(a, b value.Value) bool {
	unknown := a.Kind() == value.Unknown && b.Kind() == value.Unknown
	return a.Equal(b) || unknown && slices.Equal(a.Waits(), b.Waits())
}

func TestEveryParamAndOutputIsInTheSchema(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "src")
	put(t, src, "x")
	for i, p := range Providers(machine) {
		s := p.Schema()
		if s != Schemas()[i] {
			t.Errorf("provider %d has another schema than Schemas lists", i)
		}
		path := filepath.Join(dir, "f"+s.Type[9:])
		done := make1(t, p, value.Map{"Path": value.Of(path), "Source": value.Of(src)})
		o := read(t, p, path)
		for name := range o.Params {
			if s.Param(name) == nil {
				t.Errorf("%s: a read has param %s that the schema lacks", s.Type, name)
			}
		}
		if diff := cmp.Diff(done.Output, o.Output); diff != "" {
			t.Errorf("%s: a read has other output than the create (-create +read):\n%s", s.Type, diff)
		}
		for _, out := range s.Outputs {
			if !o.Output[out.Name].IsSet() {
				t.Errorf("%s: no read has output %s", s.Type, out.Name)
			}
		}
		key, ok := s.KeyOf(o.Params, machine)
		if !ok || !key.Equal(keyOf(path)) || s.Ref != "Path" || s.Taggable() || !o.Identity.IsZero() {
			t.Errorf("%s: key %v, ref %s, taggable %t, identity %v", s.Type, key, s.Ref, s.Taggable(), o.Identity)
		}
		if !slices.Equal(s.Key, []string{"Machine", "Path"}) {
			t.Errorf("%s: key is %v", s.Type, s.Key)
		}
	}
}
