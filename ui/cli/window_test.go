package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"reclaim/engine/resource"
)

// S12: --window reaches the cloud, and the lines that a person copies.
func TestTheWindowOfACallReachesTheCloud(t *testing.T) {
	for why, c := range map[string]struct {
		args []string
		want time.Duration
		line string
	}{
		"not given":        {nil, 0, "reclaim recover orders"},
		"given":            {[]string{"--window", "2m"}, 2 * time.Minute, "reclaim recover orders --window 2m0s"},
		"given with store": {[]string{"--window=45s", "--store", "x"}, 45 * time.Second, "reclaim recover orders --store x --window 45s"},
	} {
		t.Run(why, func(t *testing.T) {
			var got CloudConfig
			s := &session{out: newStdout(&strings.Builder{}), App: &App{MachineID: func() string { return "m1" },
				OpenCloud: func(_ context.Context, c CloudConfig, _ []string) (resource.Cloud, error) { got = c; return nil, nil }}}
			if err := s.root().ParseFlags(c.args); err != nil {
				t.Fatal(err)
			}
			if _, err := s.openCloud(t.Context(), nil, "eu-west-1", nil); err != nil {
				t.Fatal(err)
			}
			if want := (CloudConfig{Region: "eu-west-1", Machine: "m1", MinWindow: c.want}); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if line := s.line("recover", "orders"); line != c.line {
				t.Errorf("line %q, want %q", line, c.line)
			}
		})
	}
	if err := (&session{out: newStdout(&strings.Builder{}), App: &App{}}).root().ParseFlags([]string{"--window", "soon"}); err == nil {
		t.Error("a window that is no duration is accepted")
	}
}
