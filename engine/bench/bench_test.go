// Package bench times the real binary against what its work cannot do without, in the same run: writing and syncing the
// same files, parsing the same template, hashing the same bytes. docs/performance.md says how to read the numbers.
//
// Its one rule: it reports ratios and asserts none; a machine that is busy must not fail a build.
package bench

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"reclaim/engine/resource"
	"reclaim/engine/template"
	"reclaim/providers"
)

const workers = 16

var sizes = []int{1000, 10000}

// rounds of each pair; the median ratio is reported.
const rounds = 5

// buildBinary builds the program once for all benchmarks.
var buildBinary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "reclaim-bench")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "reclaim")
	out, err := exec.Command("go", "build", "-o", bin, "reclaim").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w: %s", err, out)
	}
	return bin, nil
})

func binary(b *testing.B) string {
	bin, err := buildBinary()
	if err != nil {
		b.Fatal(err)
	}
	return bin
}

// filesTemplate is a stack of n small files in folder out.
func filesTemplate(n int) []byte {
	var t bytes.Buffer
	t.WriteString("Resources:\n")
	for i := range n {
		fmt.Fprintf(&t, "  File%05d:\n    Type: Std::FS::File\n    Properties:\n      Path: ./out/file-%05d.txt\n      Content: %q\n", i, i, content(i))
	}
	return t.Bytes()
}

func content(i int) string { return fmt.Sprintf("this is the content of file number %d\n", i) }

// run runs the binary in dir and returns wall time and peak memory in bytes.
func run(b *testing.B, dir string, args ...string) (time.Duration, int64) {
	b.Helper()
	cmd := exec.Command(binary(b), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "RECLAIM_STORE="+filepath.Join(dir, ".reclaim"), "CI=")
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)
	if err != nil {
		tail := string(out[max(0, len(out)-2000):])
		b.Fatalf("reclaim %s: %v\n%s", strings.Join(args, " "), err, tail)
	}
	return took, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss * 1024
}

// writeAndSync writes and syncs the same files and nothing else, with as many workers.
func writeAndSync(b *testing.B, dir string, n int) time.Duration {
	b.Helper()
	began := time.Now()
	next := make(chan int)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range next {
				f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("file-%05d.txt", i)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
				if err == nil {
					_, err = f.WriteString(content(i))
				}
				if err == nil {
					err = f.Sync()
				}
				if err == nil {
					err = f.Close()
				}
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	return time.Since(began)
}

func median(d []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(d))
	return s[len(s)/2]
}

func medianRatio(a, b []time.Duration) float64 {
	var r []float64
	for i := range a {
		r = append(r, float64(a[i])/float64(b[i]))
	}
	slices.Sort(r)
	return r[len(r)/2]
}

// BenchmarkDeployFiles: a durable deploy of n files, whole process, against writing and syncing them. Target: 2.5 times
// at most, and under 200 MB at 10,000.
func BenchmarkDeployFiles(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			binary(b)
			for b.Loop() {
				var deploy, raw []time.Duration
				var peak int64
				for range rounds {
					dir := b.TempDir()
					write(b, filepath.Join(dir, "files.yaml"), filesTemplate(n))
					rawDir := filepath.Join(dir, "raw")
					if err := os.Mkdir(rawDir, 0o755); err != nil {
						b.Fatal(err)
					}
					raw = append(raw, writeAndSync(b, rawDir, n))
					took, mem := run(b, dir, "deploy", "files.yaml", "--yes", "--parallel", fmt.Sprint(workers))
					deploy, peak = append(deploy, took), max(peak, mem)
				}
				b.ReportMetric(median(deploy).Seconds(), "s/deploy")
				b.ReportMetric(median(raw).Seconds(), "s/write+sync")
				b.ReportMetric(medianRatio(deploy, raw), "ratio")
				b.ReportMetric(float64(peak)/1e6, "MB-peak")
			}
		})
	}
}

// BenchmarkPlanUnchanged: a plan of n unchanged files, whole process, against parsing the template and reading and
// hashing the files. Target: twice at most.
func BenchmarkPlanUnchanged(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			file := filepath.Join(dir, "files.yaml")
			write(b, file, filesTemplate(n))
			run(b, dir, "deploy", "files.yaml", "--yes")
			for b.Loop() {
				var plan, raw []time.Duration
				var peak int64
				for range rounds {
					raw = append(raw, parseAndHash(b, file, n))
					took, mem := run(b, dir, "plan", "files.yaml", "--detailed-exitcode")
					plan, peak = append(plan, took), max(peak, mem)
				}
				b.ReportMetric(median(plan).Seconds(), "s/plan")
				b.ReportMetric(median(raw).Seconds(), "s/parse+hash")
				b.ReportMetric(medianRatio(plan, raw), "ratio")
				b.ReportMetric(float64(peak)/1e6, "MB-peak")
			}
		})
	}
}

// parseAndHash parses and binds the template, then reads and hashes each file, one after another.
func parseAndHash(b *testing.B, file string, n int) time.Duration {
	b.Helper()
	runtime.GC()
	began := time.Now()
	t, err := template.ParseFile(file)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := t.Bind(template.Binding{Stack: "files", Base: filepath.Dir(file), Scope: resource.Scope{Partition: resource.LocalPartition, Account: "m"}, Schemas: providers.Schema}); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(file), "out", fmt.Sprintf("file-%05d.txt", i)))
		if err != nil {
			b.Fatal(err)
		}
		sum := sha256.Sum256(data)
		runtime.KeepAlive(sum)
	}
	return time.Since(began)
}

// BenchmarkTerraform: terraform apply of as many terraform_data, for comparison, where terraform is installed.
func BenchmarkTerraform(b *testing.B) {
	tf, err := exec.LookPath("terraform")
	if err != nil {
		b.Skip("skipped: needs terraform")
	}
	for _, n := range []int{1000, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				dir := b.TempDir()
				var t bytes.Buffer
				for i := range n {
					fmt.Fprintf(&t, "resource \"terraform_data\" \"file%05d\" {\n  input = %q\n}\n", i, content(i))
				}
				write(b, filepath.Join(dir, "main.tf"), t.Bytes())
				terraform(b, tf, dir, "init", "-input=false")
				began := time.Now()
				terraform(b, tf, dir, "apply", "-auto-approve", "-input=false", "-no-color")
				b.ReportMetric(time.Since(began).Seconds(), "s/apply")
			}
		})
	}
}

func terraform(b *testing.B, tf, dir string, args ...string) {
	b.Helper()
	cmd := exec.Command(tf, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("terraform %s: %v\n%s", args[0], err, out)
	}
}

func write(b *testing.B, path string, data []byte) {
	b.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		b.Fatal(err)
	}
}
