package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"

	"reclaim/engine/record"
)

// migration brings a store from one schema to the next.
type migration func(*bolt.Tx) error

// migrations[i] leads from schema i+1 to i+2. There is only schema 1 yet.
var migrations []migration

// schemaOf is the schema that a table of migrations leads to.
func schemaOf(table []migration) int { return len(table) + 1 }

// migrate copies the file beside itself and brings it to the newest schema in one transaction.
func (s *Store) migrate(table []migration) error {
	db, err := s.live.enter()
	if err != nil {
		return fmt.Errorf("migrate store: %w", err)
	}
	defer s.live.leave()
	var version int // read again under the lock: another process may have been first
	err = viewOf(db, s.path, func(v *view) (err error) {
		if version, err = v.schema(); err == nil && version < schemaOf(table) {
			err = s.backup(v.tx, version)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("migrate store: %w", err)
	}
	err = db.Update(func(btx *bolt.Tx) error {
		t := &tx{view: view{tx: btx, path: s.path}, run: &run{btx: btx}}
		for ; version < schemaOf(table); version++ {
			if err := table[version-1](btx); err != nil {
				return fmt.Errorf("from schema %d: %w", version, err)
			}
		}
		return t.put(bucketMeta, metaSchema, version)
	})
	if err != nil {
		return fmt.Errorf("migrate store %s: %w: %w; the file is as it was", s.path, record.ErrWrite, err)
	}
	return nil
}

// backup writes the file as tx sees it to a new file beside it.
func (s *Store) backup(tx *bolt.Tx, version int) (err error) {
	path := fmt.Sprintf("%s.schema-%d-%s.backup", s.path, version, time.Now().UTC().Format("20060102T150405.000"))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("%w: make a backup first: %w", record.ErrWrite, err)
	}
	_, err = tx.WriteTo(f)
	if err = errors.Join(err, f.Sync(), f.Close(), syncDir(filepath.Dir(path))); err != nil {
		return fmt.Errorf("%w: make a backup first: %w", record.ErrWrite, err)
	}
	s.opts.Log("copied the store of schema %d to %s", version, path)
	return nil
}
