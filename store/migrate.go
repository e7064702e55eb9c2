package store

import (
	"fmt"

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

// backup copies the file as tx sees it beside itself.
func (s *Store) backup(tx *bolt.Tx, version int) error {
	path := s.backupPath(fmt.Sprintf("schema-%d", version))
	if err := writeBackup(tx, path); err != nil {
		return fmt.Errorf("%w: make a backup first: %w", record.ErrWrite, err)
	}
	s.opts.Log("copied the store of schema %d to %s", version, path)
	return nil
}
