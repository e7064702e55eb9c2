package store

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"reclaim/engine/record"
	"reclaim/engine/value"
)

// Keys of the meta bucket.
const (
	metaSchema    = "schema"    // number
	metaID        = "id"        // text
	metaAncestors = "ancestors" // list of text
	metaCreated   = "created"   // time
	metaImported  = "imported/" // + name of an emergency file: time
)

const keyBytes = 32

// makingInfix is in the names of files that are being made.
const makingInfix = ".making-"

// create makes the folder, the key and the file; false when another process made the file first. The file appears
// whole or not at all.
func create(dir string) (made bool, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("make store in %s: %w: %w", dir, record.ErrWrite, err)
		}
	}()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	key := make([]byte, keyBytes)
	rand.Read(key) // never fails
	if _, err := place(filepath.Join(dir, keyName), func(tmp string) error {
		return writeSynced(tmp, []byte(hex.EncodeToString(key)+"\n"))
	}); err != nil {
		return false, err
	}
	if made, err = place(filepath.Join(dir, fileName), makeFile); err != nil {
		return false, err
	}
	if err := syncDir(dir); err != nil {
		return false, err
	}
	return made, syncDir(filepath.Dir(dir))
}

// place makes a file under another name and links it to path, so that it is never seen unfinished; false when path
// already exists.
func place(path string, write func(tmp string) error) (bool, error) {
	if _, err := os.Lstat(path); err == nil {
		return false, nil
	}
	tmp := path + makingInfix + randomID()
	defer os.Remove(tmp)
	if err := write(tmp); err != nil {
		return false, err
	}
	err := os.Link(tmp, path)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// makeFile makes an empty store with an ID of its own.
func makeFile(path string) error {
	db, err := bolt.Open(path, 0o600, &bolt.Options{PageSize: pageSize})
	if err != nil {
		return err
	}
	err = db.Update(func(btx *bolt.Tx) error {
		for _, name := range buckets {
			if _, err := btx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		t := &tx{view: view{tx: btx, path: path}, run: &run{btx: btx}}
		return errors.Join(
			t.put(bucketMeta, metaSchema, schemaOf(migrations)),
			t.put(bucketMeta, metaID, randomID()),
			t.put(bucketMeta, metaAncestors, []string{}),
			t.put(bucketMeta, metaCreated, time.Now().UTC()))
	})
	return errors.Join(err, db.Close())
}

// randomID returns 20 hexadecimal digits.
func randomID() string {
	b := make([]byte, 10)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// writeSynced makes a new file of mode 0600 and syncs it.
func writeSynced(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Sealer returns the Sealer with the store's key. Without the key file it returns the zero Sealer and says so: then
// sensitive fields are unverified (SAFETY S32).
func (s *Store) Sealer() (value.Sealer, error) {
	path := filepath.Join(s.dir, keyName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		s.opts.Log("%s is missing: sensitive values cannot be compared and are unverified", path)
		return value.Sealer{}, nil
	}
	if err != nil {
		return value.Sealer{}, fmt.Errorf("read hash key: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != keyBytes {
		return value.Sealer{}, fmt.Errorf("read hash key: %s is not %d bytes in hexadecimal; put its backup in its place, "+
			"or move it away to go on with sensitive values unverified", path, keyBytes)
	}
	return value.NewSealer(key)
}
