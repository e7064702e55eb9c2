package fs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// benchText is the size of a small configuration file.
var benchText = strings.Repeat("key = value\n", 16)

// BenchmarkWriteSync writes 1,000 small files into one folder with 16 workers: as the provider creates them, and as a
// program would that neither minds what is there nor what a power cut leaves of the folder.
func BenchmarkWriteSync(b *testing.B) {
	provider := files()
	for name, one := range map[string]func(path string) error{
		"create": func(path string) error {
			_, err := provider.Create(b.Context(), resource.Create{
				Key: keyOf(path), Params: value.Map{"Path": value.Of(path), "Content": value.Of(benchText)},
			})
			return err
		},
		"plain": plainWrite,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				dir := b.TempDir()
				b.StartTimer()
				eachOf(b, 1000, 16, func(i int) error { return one(filepath.Join(dir, fmt.Sprint(i))) })
			}
		})
	}
}

func plainWrite(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteString(benchText); err != nil {
		return err
	}
	return f.Sync()
}

// BenchmarkRead looks at 1,000 small files, one after the other.
func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	provider := files()
	eachOf(b, 1000, 16, func(i int) error { return plainWrite(filepath.Join(dir, fmt.Sprint(i))) })
	for b.Loop() {
		eachOf(b, 1000, 1, func(i int) error {
			_, err := provider.Read(b.Context(), keyOf(filepath.Join(dir, fmt.Sprint(i))))
			return err
		})
	}
}

func eachOf(b *testing.B, n, workers int, do func(i int) error) {
	b.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
				if err := do(i); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
