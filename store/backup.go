package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
)

// backupSuffix ends the name of every backup beside the store.
const backupSuffix = ".backup"

// Backup copies the store's file, as it is at one moment, to a new file of mode 0600 at path, and returns the path. An
// empty path is beside the store, in a name that says why and when. It takes no lock that a run would wait for. A file
// that is there already is never written over. The copy is a store: put in the place of store.db it is this one, with
// the same ID; hash.key and what is beside the file are not in it.
func (s *Store) Backup(ctx context.Context, path, why string) (string, error) {
	if path == "" {
		path = s.backupPath(why)
	}
	snap, err := s.newestCopy(ctx)
	if err != nil {
		return "", fmt.Errorf("back up store: %w", err)
	}
	defer s.letGo(snap)
	err = viewOf(snap.db, s.path, func(v *view) error { return writeBackup(v.tx, path) })
	if err != nil {
		return "", fmt.Errorf("back up store: %w", err)
	}
	return path, nil
}

// backupPath is the name of a backup that is made beside the store now.
func (s *Store) backupPath(why string) string {
	return fmt.Sprintf("%s.%s-%s%s", s.path, why, time.Now().UTC().Format("20060102T150405.000"), backupSuffix)
}

// writeBackup writes the file as tx sees it: whole, synced and read again, or not at all.
func writeBackup(tx *bolt.Tx, path string) error {
	made, err := place(path, func(tmp string) error {
		f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = tx.WriteTo(f)
		if err = errors.Join(err, f.Sync()); err == nil {
			err = checkFile(f)
		}
		return errors.Join(err, f.Close())
	})
	switch {
	case err != nil:
		return err
	case !made:
		return fmt.Errorf("%s is there already; name another file", path)
	}
	return syncDir(filepath.Dir(path))
}
