package store

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"reclaim/engine/record"
)

// upTo opens the store with a table of migrations that this version does not have.
func upTo(dir string, o Options, table []migration) error {
	s, err := Open(dir, o)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.identify(table)
}

func TestMigrationsRunInOrderOnceAndLeaveABackup(t *testing.T) {
	dir := filepath.Join(t.TempDir(), folder)
	var ran []string
	step := func(name string, err error) migration {
		return func(tx *bolt.Tx) error {
			ran = append(ran, name)
			return errors.Join(tx.Bucket([]byte(bucketMeta)).Put([]byte(name), []byte("true")), err)
		}
	}
	full := errors.New("full")
	if err := upTo(dir, Options{Create: true}, []migration{step("one", nil), step("two", full)}); !errors.Is(err, full) ||
		!errors.Is(err, record.ErrWrite) {
		t.Fatalf("got %v, want an error that says why", err)
	}
	if version, marks := look(t, filepath.Join(dir, fileName)); version != "1" || marks != 0 {
		t.Errorf("a migration that failed left schema %s and %d marks", version, marks)
	}
	ran = nil
	if err := upTo(dir, Options{ReadOnly: true}, []migration{step("one", nil)}); err == nil || ran != nil {
		t.Errorf("opened for reading, it ran %v: %v", ran, err)
	}
	if err := upTo(dir, Options{}, []migration{step("one", nil), step("two", nil)}); err != nil {
		t.Fatal(err)
	}
	if strings.Join(ran, " ") != "one two" {
		t.Errorf("ran %v", ran)
	}
	if version, marks := look(t, filepath.Join(dir, fileName)); version != "3" || marks != 2 {
		t.Errorf("schema %s, %d marks", version, marks)
	}
	backups, err := filepath.Glob(filepath.Join(dir, "store.db.schema-1-*.backup"))
	if err != nil || len(backups) != 2 { // the failed try made one too
		t.Fatalf("backups %v, %v", backups, err)
	}
	for _, b := range backups {
		if version, marks := look(t, b); version != "1" || marks != 0 {
			t.Errorf("the backup has schema %s and %d marks", version, marks)
		}
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, record.ErrNewer) {
		t.Errorf("this version opens schema 3: %v", err)
	}
}

func TestThisVersionsSchemaIsTheTables(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), folder), Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.readCopy(context.Background(), func(v *view) error {
		n, err := v.schema()
		if n != schemaOf(migrations) {
			t.Errorf("made with schema %d, want %d", n, schemaOf(migrations))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// look returns the schema of a file and how many migrations left their mark.
func look(t *testing.T, path string) (version string, marks int) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(bucketMeta))
		version = string(b.Get([]byte(metaSchema)))
		for _, m := range []string{"one", "two"} {
			if b.Get([]byte(m)) != nil {
				marks++
			}
		}
		return nil
	})
	return version, marks
}
