//go:build crash

package fs

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"reclaim/engine/crash"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// What the child process does, and to which file.
const envDo, envPath = "FS_TEST_DO", "FS_TEST_PATH"

func TestMain(m *testing.M) {
	if act := changes[os.Getenv(envDo)]; act != nil {
		if err := act(crash.With(context.Background(), "File"), os.Getenv(envPath)); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func textParams(path, text string) value.Map {
	return value.Map{"Path": value.Of(path), "Content": value.Of(text), "Mode": value.Of("0644")}
}

var changes = map[string]func(ctx context.Context, path string) error{
	"create": func(ctx context.Context, path string) error {
		_, err := files().Create(ctx, resource.Create{Key: keyOf(path), Params: textParams(path, "new")})
		return err
	},
	"update": func(ctx context.Context, path string) error {
		o, err := files().Read(ctx, keyOf(path))
		if err != nil {
			return err
		}
		list, err := files().Sync(resource.Change{
			Key: keyOf(path), Desired: textParams(path, "new"), Observed: o, Write: []string{"Content"},
		})
		if err != nil {
			return err
		}
		return list[0].Run(ctx)
	},
	"delete": func(ctx context.Context, path string) error {
		return files().Delete(ctx, resource.Delete{Key: keyOf(path), Recorded: textParams(path, "old")})
	},
}

// A kill at any point leaves what was there or what was wanted, whole; and the same change again, where it is still
// to be made, leaves nothing else behind.
func TestAKillLeavesTheOldOrTheNewNeverHalf(t *testing.T) {
	before := map[string]string{"create": "", "update": "old", "delete": "old"} // "" is no file
	after := map[string]string{"create": "new", "update": "new", "delete": ""}
	for do := range changes {
		points := child(t, do, before[do], "").points
		for _, kind := range []crash.Point{crash.BeforeSend, crash.FileStep, crash.AfterExecuted} {
			if !slices.ContainsFunc(points, func(p string) bool { return strings.HasPrefix(p, string(kind)+"@File#") }) {
				t.Errorf("%s passes no point %s; it passes %q", do, kind, points)
			}
		}
		for _, at := range points {
			t.Run(do+" killed "+at, func(t *testing.T) {
				got := child(t, do, before[do], at)
				if !got.killed {
					t.Fatal("it was not killed")
				}
				found := content1(t, got.path)
				if found != before[do] && found != after[do] {
					t.Fatalf("found %q, want %q or %q", found, before[do], after[do])
				}
				if found != after[do] {
					if err := changes[do](t.Context(), got.path); err != nil {
						t.Fatalf("the same change again: %v", err)
					}
				}
				if found := content1(t, got.path); found != after[do] {
					t.Errorf("in the end found %q, want %q", found, after[do])
				}
				if after[do] == "" {
					wantFiles(t, filepath.Dir(got.path))
				} else {
					wantFiles(t, filepath.Dir(got.path), "f")
				}
			})
		}
	}
}

func content1(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(b)
}

type outcome struct {
	path   string
	killed bool
	points []string
}

// child makes one change in a process of its own, which dies at the point named; with none it records the points.
func child(t *testing.T, do, before, at string) outcome {
	t.Helper()
	dir := t.TempDir()
	o := outcome{path: filepath.Join(dir, "f")}
	if before != "" {
		put(t, o.path, before)
	}
	record := filepath.Join(t.TempDir(), "points")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envDo+"="+do, envPath+"="+o.path, "RECLAIM_CRASH_AT="+at, "RECLAIM_CRASH_RECORD="+record)
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		status, _ := exit.Sys().(syscall.WaitStatus)
		o.killed = status.Signaled() && status.Signal() == syscall.SIGKILL
	}
	if !o.killed && err != nil {
		t.Fatalf("%s: %v: %s", do, err, out)
	}
	o.points = strings.Fields(content1(t, record))
	return o
}
