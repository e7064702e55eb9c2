package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/record"
	"reclaim/store"
)

// spooled leaves a spool of some size, changed so many hours ago.
func spooled(t *testing.T, s *store.Store, name string, size int64, hours int) {
	t.Helper()
	dir := filepath.Join(s.Dir(), "events")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil { // sparse
		t.Fatal(err)
	}
	at := time.Now().Add(-time.Duration(hours) * time.Hour)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func spools(t *testing.T, s *store.Store) []string {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(s.Dir(), "events"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		out = append(out, f.Name())
	}
	return out
}

// begin opens the spool of a new execution, which is when old ones go.
func begin(t *testing.T, s *store.Store, execution string) {
	t.Helper()
	w, err := s.SpoolWriter(execution)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
}

func TestOldSpoolsGoBeyondABound(t *testing.T) {
	s := made(t)
	held(t, s) // of execution x1, which may be watched
	spooled(t, s, "x1.ndjson", 100, 1000)
	spooled(t, s, "notes.txt", 100, 2000) // not ours
	for i := range 80 {
		spooled(t, s, fmt.Sprintf("e-%02d.ndjson", i), 100, i+1)
	}
	begin(t, s, "new")
	got := spools(t, s)
	want := []string{"new.ndjson", "notes.txt", "x1.ndjson"}
	for i := range 49 {
		want = append(want, fmt.Sprintf("e-%02d.ndjson", i))
	}
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestLargeSpoolsGoEarlierButNeverThatOfAHold(t *testing.T) {
	s := made(t)
	held(t, s)
	spooled(t, s, "x1.ndjson", 200<<20, 500)
	spooled(t, s, "e-1.ndjson", 40<<20, 1)
	spooled(t, s, "e-2.ndjson", 20<<20, 2)
	spooled(t, s, "e-3.ndjson", 20<<20, 3)
	begin(t, s, "new")
	if d := cmp.Diff([]string{"e-1.ndjson", "e-2.ndjson", "new.ndjson", "x1.ndjson"}, spools(t, s)); d != "" {
		t.Error(d)
	}
}

func TestASpoolIsReadAsFarAsItGoes(t *testing.T) {
	s := made(t)
	var got []string
	read := func(name string) error {
		got = nil
		return store.Spooled(s.Dir(), name, func(b []byte) { got = append(got, string(b)) })
	}
	if err := read("x1"); err != nil || got != nil {
		t.Errorf("a spool that is not there: %v, %q", err, got)
	}
	w, err := s.SpoolWriter("x1")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	fmt.Fprint(w, "one\ntwo\nhal")
	if err := read("x1"); err != nil || !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("got %q, %v", got, err)
	}
	if err := read("../x"); err == nil {
		t.Error("a path was read")
	}
}

// A watcher in another process sees what a run wrote within a second.
func TestAnotherProcessFollowsWithinASecond(t *testing.T) {
	s := made(t)
	c := start(t, "follow", s.Dir())
	w, err := s.SpoolWriter("x1")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for range 10 {
		fmt.Fprintln(w, time.Now().UnixNano())
		if !c.next() {
			t.Fatal("the follower ended")
		}
		if late := time.Duration(c.at) * time.Microsecond; late > time.Second {
			t.Errorf("a line came %s late", late)
		}
	}
}

// BenchmarkWatched measures what watchers in other processes cost a run: 10,000 creates by 16 workers, whose durable
// commits are timed one by one, alone, while another process follows the events, and while another asks for the status
// once a second. late is how long the slowest line took to the follower.
func BenchmarkWatched(b *testing.B) {
	for _, watcher := range []string{"nobody", "follow", "status"} {
		b.Run(watcher, func(b *testing.B) {
			for b.Loop() {
				s, f := benchStore(b)
				late := make(chan int, 1)
				if watcher != "nobody" {
					c := start(b, watcher, s.Dir())
					go func() { late <- slowest(c, 20_000) }()
				}
				took := timedCreates(b, s, f, 10_000)
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "ms-slowest")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
				if watcher == "follow" {
					b.ReportMetric(float64(<-late)/1000, "ms-late")
				}
			}
		})
	}
}

// timedCreates makes n creates as a run does, a line in the spool for each commit, and returns how long each commit took.
func timedCreates(b *testing.B, s *store.Store, f record.Fence, n int) []time.Duration {
	w, err := s.SpoolWriter(f.Execution)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	took := make([]time.Duration, 2*n)
	parallel(n, func(i int) {
		r := benchRecord(f.Stack, i)
		for k, name := range []string{record.StepCreating(r.ID, r.Gen), record.StepPersist(r.ID)} {
			began := time.Now()
			step := record.Step{Name: name, At: began}
			if err := s.Write(context.Background(), f, func(t record.Tx) error { return t.PutRecord(&r, step) }); err != nil {
				b.Error(err)
			}
			took[2*i+k] = time.Since(began)
			fmt.Fprint(w, time.Now().UnixNano(), "\n"+strings.Repeat("x", 300)+"\n")
		}
	})
	return took
}

// slowest reads n numbers of a child, or all of them, and returns the highest.
func slowest(c *child, n int) int {
	most := 0
	for range n {
		if !c.out.Scan() {
			break
		}
		us, _ := strconv.Atoi(c.out.Text())
		most = max(most, us)
	}
	return most
}
