package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"reclaim/engine/record"
)

const (
	emergencyPrefix  = "emergency-"         // in the store's folder
	elsewherePrefix  = "reclaim-emergency-" // in the folder for temporary files or the current one
	importedSuffix   = ".imported"
	emergencyFormat  = 1
	sourceEmergency  = "emergency file"
	maxEmergencyFile = 64 << 20 // bytes that are read
)

// emergencyFile is what Emergency writes: evidence, never records (SAFETY S36).
type emergencyFile struct {
	Format   int               `json:"reclaimEmergency"`
	Store    string            `json:"store"`
	At       time.Time         `json:"at"`
	Evidence []record.Evidence `json:"evidence"`
}

// Emergency writes evidence to a synced file of mode 0600 in the store's folder, else in the folder for temporary
// files, else in the current one, and returns its path.
func (s *Store) Emergency(e []record.Evidence) (string, error) {
	now := time.Now().UTC()
	b, err := json.MarshalIndent(emergencyFile{Format: emergencyFormat, Store: s.id, At: now, Evidence: e}, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write emergency file: %w", err)
	}
	var failed error
	for _, at := range s.emergencyPlaces() {
		path := at + now.Format("20060102T150405.000000000") + ".json"
		err := writeSynced(path, append(b, '\n'))
		if err == nil {
			err = syncDir(filepath.Dir(path))
		}
		if err == nil {
			return path, nil
		}
		failed = errors.Join(failed, err)
	}
	return "", fmt.Errorf("write emergency file: %w", failed)
}

// emergencyPlaces are where emergency files are written and looked for: folder and beginning of the name.
func (s *Store) emergencyPlaces() []string {
	places := []string{filepath.Join(s.dir, emergencyPrefix), filepath.Join(os.TempDir(), elsewherePrefix)}
	if here, err := os.Getwd(); err == nil {
		places = append(places, filepath.Join(here, elsewherePrefix))
	}
	return places
}

// pending returns the emergency files of this store that were not imported, by path. What cannot be read is told in
// notes.
func (s *Store) pending() (files map[string]emergencyFile, notes []error) {
	files = map[string]emergencyFile{}
	for i, at := range s.emergencyPlaces() {
		dir, prefix := filepath.Split(at)
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // a place that is not there holds nothing
		}
		for _, entry := range entries {
			name := entry.Name()
			if !strings.HasPrefix(name, prefix) || !strings.HasSuffix(name, ".json") {
				continue
			}
			file, err := readEmergency(filepath.Join(dir, name))
			switch {
			case err == nil && file.Store == s.id:
				files[filepath.Join(dir, name)] = file
			case i == 0 && err != nil:
				notes = append(notes, err)
			case i == 0:
				notes = append(notes, fmt.Errorf("emergency file %s is of another store (%s)", filepath.Join(dir, name), file.Store))
			}
		}
	}
	return files, notes
}

// readEmergency reads a file that this user wrote. In a folder that is everybody's, another's file is no evidence.
func readEmergency(path string) (file emergencyFile, err error) {
	f, info, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return file, fmt.Errorf("read emergency file %s: it is not a regular file that can be read", path)
	}
	defer f.Close()
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Getuid() {
		return file, fmt.Errorf("read emergency file %s: it is another user's", path)
	}
	if info.Size() > maxEmergencyFile {
		return file, fmt.Errorf("read emergency file %s: it is larger than %d bytes", path, maxEmergencyFile)
	}
	b := make([]byte, info.Size())
	if _, err := f.ReadAt(b, 0); err != nil {
		return file, fmt.Errorf("read emergency file %s: %w", path, err)
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return file, fmt.Errorf("read emergency file %s: %w", path, err)
	}
	if file.Format != emergencyFormat {
		return file, fmt.Errorf("read emergency file %s: its format %d is not known", path, file.Format)
	}
	return file, nil
}

// announce says which emergency files wait.
func (s *Store) announce() {
	files, notes := s.pending()
	for path, file := range files {
		s.opts.Log("emergency file %s holds evidence of %d calls; the next run that changes the stack imports it", path,
			len(file.Evidence))
	}
	for _, err := range notes {
		s.opts.Log("%v", err)
	}
}

// ImportEmergency appends what waiting emergency files hold to the evidence, once each, and renames them to
// ….imported. Acquire and Take call it. Files that cannot be read stay where they are and are named in the error.
func (s *Store) ImportEmergency(ctx context.Context) error {
	files, notes := s.pending()
	for path, file := range files {
		if err := s.importFile(ctx, filepath.Base(path), file); err != nil {
			notes = append(notes, fmt.Errorf("import %s: %w", path, err))
			continue
		}
		if err := os.Rename(path, path+importedSuffix); err != nil {
			notes = append(notes, fmt.Errorf("import %s: %w", path, err))
		}
	}
	return errors.Join(notes...)
}

// importFile appends a file's evidence and notes its name in the same transaction, so that a crash before the rename
// does not import it twice.
func (s *Store) importFile(ctx context.Context, name string, file emergencyFile) error {
	return s.commits.do(&job{ctx: ctx, f: func(t *tx) error {
		if was, err := t.get(bucketMeta, metaImported+name); err != nil || was != nil {
			return err
		}
		for _, e := range file.Evidence {
			if e.Stack.IsZero() {
				return errors.New("it has evidence without a stack")
			}
			e.Source = sourceEmergency
			if err := t.addEvidence(e); err != nil {
				return err
			}
		}
		return t.put(bucketMeta, metaImported+name, time.Now().UTC())
	}})
}
