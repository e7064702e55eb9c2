package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/store"
)

// benchRecord is a creating record of about 1 KB in JSON.
func benchRecord(s record.StackID, i int) record.Record {
	id := fmt.Sprintf("File%05d", i)
	path := fmt.Sprintf("/srv/site/content/section-%02d/page-%05d.html", i%40, i)
	params := value.Map{"Path": value.Of(path), "Mode": value.Of("0644"), "Content": value.Of(fmt.Sprintf("%0300d", i))}
	return record.Record{Stack: s, ID: id, Type: "Std::FS::File", Gen: 1, Status: record.Creating, Origin: record.ByCreate,
		Key: resource.Key{"Machine": "0123456789abcdef", "Path": path}, Physical: path, Claim: "local/0123456789abcdef/" + path,
		Pending: params, DeletionPolicy: record.PolicyDelete, UpdateReplacePolicy: record.PolicyDelete,
		Intent: &record.Intent{Nonce: "0011223344556677", Execution: "x1", At: time.Now(), Name: path,
			Params: params, Preflight: record.Preflight{Absent: true, Source: "lstat", At: time.Now()},
			Attempts: []record.Attempt{{N: 1, Execution: "x1", SentAt: time.Now(), Outcome: record.Going}}},
		UpdatedAt: time.Now()}
}

// create is the store's part of one create: intent, then acknowledgement, each durable.
func create(tb testing.TB, s *store.Store, f record.Fence, i int) {
	r := benchRecord(f.Stack, i)
	step := record.Step{Name: record.StepCreating(r.ID, r.Gen), At: r.UpdatedAt}
	put := func(t record.Tx) error { return t.PutRecord(&r, step) }
	if err := s.Write(context.Background(), f, put); err != nil {
		tb.Error(err)
	}
	r.Status, r.Params, r.Pending = record.Acknowledged, r.Pending, nil
	r.Intent.Attempts[0].Outcome = record.Confirmed
	step.Name = record.StepPersist(r.ID)
	if err := s.Write(context.Background(), f, put); err != nil {
		tb.Error(err)
	}
}

// parallel runs do(0) … do(n-1) on 16 workers, as a deploy does.
func parallel(n int, do func(i int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// BenchmarkCreates measures what a deploy of n files costs: their two durable writes each alone, the synced files
// alone, and both together.
func BenchmarkCreates(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("store/%d", n), func(b *testing.B) {
			for b.Loop() {
				s, f := benchStore(b)
				parallel(n, func(i int) { create(b, s, f, i) })
			}
		})
		b.Run(fmt.Sprintf("files/%d", n), func(b *testing.B) {
			for b.Loop() {
				dir := b.TempDir()
				parallel(n, func(i int) { syncedFile(b, dir, i) })
			}
		})
		b.Run(fmt.Sprintf("both/%d", n), func(b *testing.B) {
			for b.Loop() {
				s, f := benchStore(b)
				dir := b.TempDir()
				parallel(n, func(i int) { syncedFile(b, dir, i); create(b, s, f, i) })
			}
		})
	}
}

func syncedFile(b *testing.B, dir string, i int) {
	f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
	if err != nil {
		b.Fatal(err)
	}
	fmt.Fprintf(f, "%01000d", i)
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
	f.Close()
}

// BenchmarkReads measures a look at the own hold by the process that has it, and reads by another of a store of 10,000
// records: of its hold when nothing moved, when the file moved before each, and of all its records.
func BenchmarkReads(b *testing.B) {
	s, f := benchStore(b)
	parallel(10000, func(i int) { create(b, s, f, i) })
	other, err := store.Open(s.Dir(), store.Options{ReadOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	hold := func(v record.View) error { _, _, err := v.Hold(f.Stack); return err }
	read := func(b *testing.B, s *store.Store, f func(record.View) error) {
		if err := s.Read(context.Background(), f); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("holder", func(b *testing.B) {
		for b.Loop() {
			read(b, s, hold)
		}
	})
	b.Run("other/still", func(b *testing.B) {
		for b.Loop() {
			read(b, other, hold)
		}
	})
	b.Run("other/moved", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			create(b, s, f, 10000+i)
			read(b, other, hold)
		}
	})
	b.Run("other/records", func(b *testing.B) {
		for b.Loop() {
			read(b, other, func(v record.View) error { _, _, err := v.Records(f.Stack); return err })
		}
	})
}

func benchStore(b *testing.B) (*store.Store, record.Fence) {
	b.Helper()
	s, err := store.Open(filepath.Join(b.TempDir(), ".reclaim"), store.Options{Create: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	stack := record.StackID{Name: "bench", Scope: resource.Scope{Partition: resource.LocalPartition, Account: "m"}}
	h, err := s.Acquire(context.Background(), record.Hold{Stack: stack, Execution: "x1", Verb: "deploy"})
	if err != nil {
		b.Fatal(err)
	}
	return s, record.Fence{Stack: stack, Execution: "x1", Epoch: h.Epoch}
}
