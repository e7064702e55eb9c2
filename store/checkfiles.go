package store

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reclaim/engine/record"
)

// checkFiles looks at what lies beside the store's file. runs are the executions that the store knows.
func (s *Store) checkFiles(runs map[string]bool) []record.Flaw {
	found := s.checkEmergencies()
	found = append(found, s.checkModes()...)
	found = append(found, s.checkSpools(runs)...)
	entries, _ := os.ReadDir(s.dir)
	for _, e := range entries {
		if strings.Contains(e.Name(), makingInfix) {
			found = append(found, record.Flaw{Kind: record.FlawLeftover, Where: filepath.Join(s.dir, e.Name()),
				Text: "a process ended while it made this file", Remedy: "remove it once no reclaim runs here"})
		}
	}
	return found
}

func (s *Store) checkEmergencies() (found []record.Flaw) {
	files, notes := s.pending()
	for path, file := range files {
		found = append(found, record.Flaw{Kind: record.FlawEmergency, Where: path,
			Text:   fmt.Sprintf("it holds evidence of %d calls that the store could not be told", len(file.Evidence)),
			Remedy: "keep it: the next run that changes the stack takes it in"})
	}
	slices.SortFunc(found, func(a, b record.Flaw) int { return cmp.Compare(a.Where, b.Where) })
	for _, err := range notes {
		found = append(found, record.Flaw{Kind: record.FlawEmergency, Where: s.dir, Text: err.Error(),
			Remedy: "read it by hand, keep what it says, and move it away"})
	}
	return found
}

// checkModes looks at the permissions of what is private, and whether the key of the keyed hashes is there.
func (s *Store) checkModes() (found []record.Flaw) {
	for _, name := range []string{fileName, keyName} {
		path := filepath.Join(s.dir, name)
		info, err := os.Stat(path)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			found = append(found, record.Flaw{Kind: record.FlawMode, Where: path,
				Text: fmt.Sprintf("its mode is %04o: others can read or change it", info.Mode().Perm()), Remedy: "chmod 600 " + path})
		}
	}
	path := filepath.Join(s.dir, keyName)
	text, err := os.ReadFile(path)
	if err == nil {
		var key []byte
		if key, err = hex.DecodeString(strings.TrimSpace(string(text))); err == nil && len(key) != keyBytes {
			err = fmt.Errorf("it holds %d bytes, not %d", len(key), keyBytes)
		}
	}
	if err != nil {
		found = append(found, record.Flaw{Kind: record.FlawSecret, Where: path,
			Text:   fmt.Sprintf("the key of the hashes of sensitive values cannot be used (%v): such values are unverified", err),
			Remedy: "put its backup in its place"})
	}
	return found
}

// checkSpools looks for events of runs that the store knows nothing of.
func (s *Store) checkSpools(runs map[string]bool) (found []record.Flaw) {
	entries, err := os.ReadDir(filepath.Join(s.dir, spoolDir))
	if err != nil {
		return nil // no run has left any
	}
	for _, e := range entries {
		run, ok := strings.CutSuffix(e.Name(), ".ndjson")
		if !ok || !runs[run] {
			found = append(found, record.Flaw{Kind: record.FlawSpool, Where: filepath.Join(s.dir, spoolDir, e.Name()),
				Text: "it belongs to no run that the store knows", Remedy: "read it: a run that a backup put back later does not know of can have changed things; then it can be removed"})
		}
	}
	return found
}
