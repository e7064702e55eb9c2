package fs

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"reclaim/engine/resource"
)

func TestASharedSyncAnswersEveryoneWhoAsked(t *testing.T) {
	var s folderSyncs
	dirs := []string{t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "gone")}
	var wg sync.WaitGroup
	for i := range 96 {
		wg.Go(func() {
			dir := dirs[i%3]
			if err := s.sync(dir); (err != nil) != (i%3 == 2) {
				t.Errorf("sync of %s: %v", dir, err)
			}
		})
	}
	wg.Wait()
	if len(s.turns) != 0 {
		t.Errorf("%d folders are still waited for", len(s.turns))
	}
}

func TestWhoAsksAfterASyncBeganGetsTheNext(t *testing.T) {
	var s folderSyncs
	dir := t.TempDir()
	turn, first := s.join(dir)
	s.mu.Lock()
	turn.next = nil // the first began
	s.mu.Unlock()
	_, second := s.join(dir)
	_, third := s.join(dir)
	if first == second {
		t.Error("the second was given a sync that had begun before it asked")
	}
	if second != third {
		t.Error("two that asked before a sync began do not share it")
	}
}

func TestMissingFoldersAreMadeByManyAtOnce(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a", "b")
	var wg sync.WaitGroup
	for _, name := range []string{"1", "2", "c/3", "c/4", "c/d/5"} {
		wg.Go(func() {
			d := files().disk
			if _, err := d.create(t.Context(), filepath.Join(root, name), wishOf(t, name)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	wantFiles(t, root, "1", "2", "c")
	wantFiles(t, filepath.Join(root, "c", "d"), "5")
}

func TestAFileInTheWayOfAFolderIsSaid(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a"), "")
	os.Symlink("nowhere", filepath.Join(dir, "l"))
	d := files().disk
	for _, below := range []string{"a/b/f", "a/f", "l/f"} {
		_, err := d.create(t.Context(), filepath.Join(dir, below), wishOf(t, "x"))
		wantKind(t, err, resource.Rejected)
		wantUntouched(t, err)
	}
	wantFiles(t, dir, "a", "l")
}
