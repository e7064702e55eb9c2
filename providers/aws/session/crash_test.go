//go:build crash

package session_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/crash"
)

// A changing call passes two crash points, in the name of its resource; a read passes none, nor does the SDK's own
// work. Instances are recorded from another process, which reads the environment when it starts.
func TestChangingCallsPassCrashPoints(t *testing.T) {
	if os.Getenv("RECLAIM_CRASH_RECORD") != "" {
		s := serve(t, say(201, "", `{"apiId":"a1"}`))
		ctx := crash.With(t.Context(), "Orders")
		if err := s.read(ctx); err == nil {
			t.Log("read")
		}
		if err := s.create(ctx); err != nil {
			t.Fatalf("create: %v", err)
		}
		return
	}
	record := filepath.Join(t.TempDir(), "points")
	cmd := exec.Command(os.Args[0], "-test.run=^TestChangingCallsPassCrashPoints$")
	cmd.Env = append(os.Environ(), "RECLAIM_CRASH_RECORD="+record)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("run: %v\n%s", err, out)
	}
	got, err := os.ReadFile(record)
	if err != nil {
		t.Fatalf("nothing was recorded: %v", err)
	}
	want := []string{"before-send@Orders#1", "after-executed@Orders#1"}
	if d := cmp.Diff(want, strings.Fields(string(got))); d != "" {
		t.Errorf("points (-want +got):\n%s", d)
	}
}
