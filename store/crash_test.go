//go:build crash

package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/crash"
	"reclaim/engine/record"
	"reclaim/store"
)

func init() {
	// whole is a run of one record from hold to release.
	childVerbs["whole"] = func(dir string) error {
		s, f, err := childHold(dir, "child")
		if err != nil {
			return err
		}
		defer s.Close()
		r := benchRecord(f.Stack, 1)
		at := crash.With(ctx, r.ID)
		err = s.Write(at, f, func(t record.Tx) error { return t.PutRecord(&r, record.Step{Name: "s"}) })
		return errors.Join(err, s.Release(ctx, f, record.Execution{ID: "x1", Stack: f.Stack}))
	}
}

// A kill before a commit leaves nothing of it, a kill after it all.
func TestKillsAroundCommits(t *testing.T) {
	of := record.StackID{Name: "child", Scope: stack.Scope}
	for at, want := range map[string]struct{ held, written bool }{
		"hold-taken@-#1":            {held: true},
		"before-commit@File00001#1": {held: true},
		"after-commit@File00001#1":  {held: true, written: true},
		"before-release@-#1":        {held: true, written: true},
		"nowhere":                   {written: true},
	} {
		t.Run(at, func(t *testing.T) {
			s := made(t)
			c := start(t, "whole", s.Dir(), "RECLAIM_CRASH_AT="+at)
			if err := c.cmd.Wait(); (err == nil) != (at == "nowhere") {
				t.Errorf("the child ended with %v", err)
			}
			after := opened(t, s.Dir(), store.Options{})
			if got := countRecords(t, after, of) == 1; got != want.written {
				t.Errorf("written: %v", got)
			}
			err := after.Read(ctx, func(v record.View) error {
				_, found, err := v.Hold(of)
				if found != want.held {
					t.Errorf("held: %v", found)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
			fits(t, after)
		})
	}
}

func TestPointsAreRecordedInOrder(t *testing.T) {
	s := made(t)
	list := filepath.Join(t.TempDir(), "points")
	if err := start(t, "whole", s.Dir(), "RECLAIM_CRASH_RECORD="+list).cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"hold-taken@-#1", "before-commit@File00001#1", "after-commit@File00001#1", "before-release@-#1"}
	if d := cmp.Diff(want, strings.Fields(string(b))); d != "" {
		t.Error(d)
	}
}
