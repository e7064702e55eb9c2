package store_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"reclaim/engine/record"
	"reclaim/engine/value"
	"reclaim/store"
)

// filled makes a store with some of everything and returns its folder and fence.
func filled(t *testing.T) (string, record.Fence) {
	t.Helper()
	s := made(t)
	f := held(t, s)
	parallel(100, func(i int) { create(t, s, f, i) })
	err := errors.Join(
		s.SavePlan(ctx, stack, "plan", bytes.Repeat([]byte("p"), 20000)),
		s.AddEvidence(ctx, record.Evidence{Stack: stack, ID: "A", Gen: 1}),
		s.SaveDecision(ctx, record.Decision{Stack: stack, ID: "File00001", Gen: 1}),
		s.Close())
	if err != nil {
		t.Fatal(err)
	}
	return s.Dir(), f
}

func dbFile(dir string) string { return filepath.Join(dir, "store.db") }

func TestWhatIsNoStoreIsDamagedAndNamed(t *testing.T) {
	for name, spoil := range map[string]func(path string, b []byte) error{
		"empty":                     func(p string, _ []byte) error { return os.WriteFile(p, nil, 0o600) },
		"cut off in the header":     func(p string, _ []byte) error { return os.Truncate(p, 5000) },
		"cut off after the headers": func(p string, _ []byte) error { return os.Truncate(p, 8192) },
		"cut off in its middle":     func(p string, b []byte) error { return os.Truncate(p, used(b)/2) },
		"text":                      func(p string, _ []byte) error { return os.WriteFile(p, bytes.Repeat([]byte("no "), 9000), 0o600) },
		"zeros":                     func(p string, b []byte) error { return os.WriteFile(p, make([]byte, len(b)), 0o600) },
		"a folder":                  func(p string, _ []byte) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o700)) },
		"a pipe":                    func(p string, _ []byte) error { return errors.Join(os.Remove(p), unix.Mkfifo(p, 0o600)) },
		"a link":                    func(p string, _ []byte) error { return errors.Join(os.Rename(p, p+"2"), os.Symlink(p+"2", p)) },
		"a link to nothing":         func(p string, _ []byte) error { return errors.Join(os.Remove(p), os.Symlink("/nowhere", p)) },
		"a bbolt file of somebody else": func(p string, _ []byte) error {
			os.Remove(p)
			db, err := bolt.Open(p, 0o600, nil)
			return errors.Join(err, db.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("x")); return err }), db.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := filled(t)
			path := dbFile(dir)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := spoil(path, b); err != nil {
				t.Fatal(err)
			}
			for _, o := range []store.Options{{}, {ReadOnly: true}, {Create: true}} {
				_, err := store.Open(dir, o)
				if !errors.Is(err, record.ErrDamaged) || !strings.Contains(err.Error(), path) {
					t.Errorf("%+v: got %v, want ErrDamaged that names the file", o, err)
				}
			}
		})
	}
}

func TestDamageThatComesWhileTheStoreIsOpen(t *testing.T) {
	dir, f := filled(t)
	s := opened(t, dir, store.Options{})
	if err := putFile(s, f, 1000); err != nil { // now the handle is open and its pages are mapped
		t.Fatal(err)
	}
	if err := os.Truncate(dbFile(dir), 8192); err != nil {
		t.Fatal(err)
	}
	err := s.Read(ctx, func(v record.View) error { _, _, err := v.Records(stack); return err })
	if !errors.Is(err, record.ErrDamaged) {
		t.Errorf("read: got %v, want ErrDamaged", err)
	}
	if err := putFile(s, f, 1001); !errors.Is(err, record.ErrDamaged) {
		t.Errorf("write: got %v, want ErrDamaged", err)
	}
}

// A flipped bit may go unseen inside a text, but it never ends the process, hangs, or gives a record that is not one.
func TestFlippedBitsNeverCrash(t *testing.T) {
	dir, f := filled(t)
	whole, err := os.ReadFile(dbFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	whole = whole[:(used(whole)/4096+4)*4096]
	rnd := rand.New(rand.NewPCG(1, 2))
	seen := map[string]int{}
	for i := range 600 {
		b := bytes.Clone(whole)
		at := rnd.IntN(int(used(b)))
		if i%2 == 0 { // page headers and elements are where a crash would come from
			at = at/4096*4096 + rnd.IntN(64)
		}
		b[at] ^= 1 << rnd.IntN(8)
		err := useAll(t, b, f, i%15 == 0)
		switch {
		case err == nil:
			seen["unseen"]++
		case errors.Is(err, record.ErrDamaged), errors.Is(err, record.ErrNewer):
			seen["damaged"]++
		case errors.Is(err, record.ErrStale), errors.Is(err, record.ErrConflict):
			seen["refused"]++
		default:
			t.Fatalf("bit at %d: %v", at, err)
		}
	}
	if seen["damaged"] < 50 {
		t.Errorf("hardly any flip was noticed: %v", seen)
	}
}

// used is how many bytes of a store file hold anything.
func used(file []byte) int64 { return int64(len(bytes.TrimRight(file, "\x00"))) }

// useAll reads everything in a store file and, if write is set, writes to it.
func useAll(t *testing.T, file []byte, f record.Fence, write bool) error {
	dir, err := os.MkdirTemp("", "reclaim-flip-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(dbFile(dir), file, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	err = s.Read(ctx, func(v record.View) error {
		stacks, err := v.Stacks()
		for _, s := range append(stacks, stack) {
			_, _, e1 := v.Records(s)
			_, e2 := v.Steps(s, 0, 0)
			_, e3 := v.Evidence(s)
			_, e4 := v.Decisions(s)
			_, e5 := v.LastPlan(s)
			err = errors.Join(err, e1, e2, e3, e4, e5)
		}
		return err
	})
	_, checkErr := s.Check(ctx, nil)
	err = errors.Join(err, checkErr)
	if write {
		err = errors.Join(err, putFile(s, f, 100), s.SavePlan(ctx, stack, "next", nil))
	}
	return err
}

// tamper changes the file behind the store's back.
func tamper(t *testing.T, dir string, change func(*bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(dbFile(dir), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(change), db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestOneBadRecordIsToldAndDoesNotHideTheOthers(t *testing.T) { // S1
	const first = "site/local/0123456789abcdef///"
	for name, c := range map[string]struct{ key, body string }{
		"its key and body disagree on scope": {"Bad/00000001",
			`{"stack":{"name":"site","scope":{"partition":"aws","account":"1","region":"r"}},"id":"Bad","type":"T","gen":1,"status":"created"}`},
		"its key and body disagree on the ID": {"Bad/00000001",
			`{"stack":{"name":"site","scope":{"partition":"local","account":"0123456789abcdef"}},"id":"B","type":"T","gen":1,"status":"created"}`},
		"it is cut off":          {"Bad/00000001", `{"stack":{"name":"si`},
		"it has another shape":   {"Bad/00000001", `[1]`},
		"a field has":            {"Bad/00000001", `{"stack":7}`},
		"it is null":             {"Bad/00000001", `null`},
		"its key is no record's": {"Bad", `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			dir, f := filled(t)
			tamper(t, dir, func(tx *bolt.Tx) error { return tx.Bucket([]byte("records")).Put([]byte(first+c.key), []byte(c.body)) })
			s := opened(t, dir, store.Options{})
			err := s.Read(ctx, func(v record.View) error {
				list, bad, err := v.Records(stack)
				if len(list) != 100 || len(bad) != 1 || bad[0].Key != first+c.key || bad[0].Reason == "" {
					t.Errorf("%d records, bad %v", len(list), bad)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			found, err := s.Check(ctx, nil)
			if err != nil || len(found) != 1 || !strings.Contains(found[0].Where, "Bad") || found[0].Remedy == "" {
				t.Errorf("check says %+v, %v", found, err)
			}
			bad := record.Record{Stack: stack, ID: "Bad", Type: "T", Gen: 1, Status: record.Made}
			err = s.Write(ctx, f, func(t record.Tx) error { return t.PutRecord(&bad, record.Step{Name: "s"}) })
			if strings.Contains(c.key, "/") && !errors.Is(err, record.ErrDamaged) {
				t.Errorf("it was written over: %v", err)
			}
		})
	}
}

func TestANewerStoreIsRefused(t *testing.T) {
	dir, f := filled(t)
	running := opened(t, dir, store.Options{})
	tamper(t, dir, func(tx *bolt.Tx) error { return tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte("99")) })
	for _, o := range []store.Options{{}, {ReadOnly: true}, {Create: true}} {
		if _, err := store.Open(dir, o); !errors.Is(err, record.ErrNewer) {
			t.Errorf("%+v: got %v, want ErrNewer", o, err)
		}
	}
	if err := putFile(running, f, 1000); !errors.Is(err, record.ErrNewer) {
		t.Errorf("a process that had it open: got %v, want ErrNewer", err)
	}
}

func TestReadingLeavesTheFolderAsItIs(t *testing.T) { // S37
	dir, _ := filled(t)
	before := fingerprints(t, dir)
	for _, o := range []store.Options{{}, {ReadOnly: true}} {
		s := opened(t, dir, o)
		err := s.Read(ctx, func(v record.View) error { _, _, err := v.Records(stack); return err })
		_, checkErr := s.Check(ctx, nil)
		_, sealErr := s.Sealer()
		if err := errors.Join(err, checkErr, sealErr, s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if after := fingerprints(t, dir); after != before {
		t.Errorf("before:\n%safter:\n%s", before, after)
	}
}

// fingerprints lists a folder's files with size, time of change and hash.
func fingerprints(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		info, infoErr := e.Info()
		if err := errors.Join(err, infoErr); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s %d %s %x\n", e.Name(), len(b), info.ModTime(), sha256.Sum256(b))
	}
	return out.String()
}

func TestNoFileHoldsTheTextOfASensitiveValue(t *testing.T) { // S32
	const secret = "hunter2hunter2"
	s := made(t)
	f := held(t, s)
	sealer, err := s.Sealer()
	if err != nil {
		t.Fatal(err)
	}
	plain := value.Map{"Password": value.Of(secret).AsSensitive(), "Users": value.Of([]any{
		value.Of(map[string]any{"Token": value.Of("token-" + secret).AsSensitive()})})}
	for i, params := range []value.Map{plain, sealer.SealMap(plain)} {
		r := benchRecord(stack, i)
		r.Params, r.Pending, r.Output, r.Intent.Params = params, params, params, params
		r.Former = []record.Intent{*r.Intent}
		if err := s.Write(ctx, f, func(t record.Tx) error { return t.PutRecord(&r, record.Step{Name: "s"}) }); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := json.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.SavePlan(ctx, stack, "p", plan), s.Close()); err != nil {
		t.Fatal(err)
	}
	all := 0
	err = filepath.WalkDir(s.Dir(), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all += bytes.Count(b, []byte("Password"))
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("%s holds it", path)
		}
		return err
	})
	if err != nil || all == 0 {
		t.Errorf("%v; the records were found %d times", err, all)
	}
}
