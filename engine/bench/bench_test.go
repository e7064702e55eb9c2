// Package bench times the real binary against what its work cannot do without, in the same run: writing and syncing the
// same files, parsing the same template, hashing the same bytes. docs/performance.md says how to read the numbers.
//
// Its one rule: it reports ratios and asserts none; a machine that is busy must not fail a build. What is compared is
// whole processes, each as cold as the other: the baselines are this test binary, run again (see TestMain).
package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"reclaim/engine/resource"
	"reclaim/engine/template"
	"reclaim/engine/value"
	"reclaim/providers"
	"reclaim/providers/std/fs"
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

// Baselines, by the name that the environment gives a process of this binary.
const (
	envBaseline = "RECLAIM_BENCH_BASELINE"
	plainFiles  = "write+sync" // create, write, sync, close: the least that can be called written and synced
	safeFiles   = "safe"       // as Std::FS::File must: unnamed file, sync, link, sync of the folder; nothing recorded
	parseHash   = "parse+hash"
)

// TestMain is a baseline where the environment asks for one: NAME FOLDER N.
func TestMain(m *testing.M) {
	words := strings.Fields(os.Getenv(envBaseline))
	if len(words) != 3 {
		os.Exit(m.Run())
	}
	n, err := strconv.Atoi(words[2])
	if err == nil {
		err = map[string]func(string, int) error{plainFiles: writeAndSync, safeFiles: writeSafely, parseHash: parseAndHash}[words[0]](words[1], n)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// baseline runs one in a process of its own, with as many slots for system calls as the program takes.
func baseline(b *testing.B, name, dir string, n int) time.Duration {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d", envBaseline, name, dir, n), "GOMAXPROCS=16")
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("baseline %s: %v\n%s", name, err, out)
	}
	return time.Since(began)
}

// eachFile calls write for n files with as many workers as the deploy has.
func eachFile(n int, write func(i int) error) error {
	next := make(chan int)
	var wg sync.WaitGroup
	var failed atomic.Value
	for range workers {
		wg.Go(func() {
			for i := range next {
				if err := write(i); err != nil {
					failed.Store(err)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	err, _ := failed.Load().(error)
	return err
}

func name(dir string, i int) string { return filepath.Join(dir, fmt.Sprintf("file-%05d.txt", i)) }

// writeAndSync writes and syncs the same files and nothing else.
func writeAndSync(dir string, n int) error {
	return eachFile(n, func(i int) error {
		f, err := os.OpenFile(name(dir, i), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = f.WriteString(content(i))
		return errors.Join(err, f.Sync(), f.Close())
	})
}

// writeSafely makes the same files as the provider does, and nothing else.
func writeSafely(dir string, n int) error {
	p := fs.Providers("bench")[0]
	return eachFile(n, func(i int) error {
		_, err := p.Create(context.Background(), resource.Create{
			Key:    resource.Key{"Machine": "bench", "Path": name(dir, i)},
			Params: value.Map{"Path": value.Of(name(dir, i)), "Content": value.Of(content(i))}})
		return err
	})
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

// BenchmarkDeployFiles: a durable deploy of n files against writing the same files, plainly and as they must be. Target:
// 2.5 times at most, and under 200 MB at 10,000.
func BenchmarkDeployFiles(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			binary(b)
			for b.Loop() {
				var deploy, plain, safe []time.Duration
				var peak int64
				for range rounds {
					dir := b.TempDir()
					write(b, filepath.Join(dir, "files.yaml"), filesTemplate(n))
					plain = append(plain, baseline(b, plainFiles, folder(b, dir, "plain"), n))
					safe = append(safe, baseline(b, safeFiles, folder(b, dir, "safe"), n))
					took, mem := run(b, dir, "deploy", "files.yaml", "--yes", "--parallel", fmt.Sprint(workers))
					deploy, peak = append(deploy, took), max(peak, mem)
				}
				b.ReportMetric(median(deploy).Seconds(), "s/deploy")
				b.ReportMetric(median(plain).Seconds(), "s/write+sync")
				b.ReportMetric(median(safe).Seconds(), "s/safe")
				b.ReportMetric(medianRatio(deploy, plain), "x/write+sync")
				b.ReportMetric(medianRatio(deploy, safe), "x/safe")
				b.ReportMetric(float64(peak)/1e6, "MB-peak")
			}
		})
	}
}

func folder(b *testing.B, dir, name string) string {
	b.Helper()
	path := filepath.Join(dir, name)
	if err := os.Mkdir(path, 0o755); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkPlanUnchanged: a plan of n unchanged files against parsing the template and reading and hashing the files.
// Target: twice at most.
func BenchmarkPlanUnchanged(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			write(b, filepath.Join(dir, "files.yaml"), filesTemplate(n))
			run(b, dir, "deploy", "files.yaml", "--yes")
			for b.Loop() {
				var plan, raw []time.Duration
				var peak int64
				for range rounds {
					raw = append(raw, baseline(b, parseHash, dir, n))
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
func parseAndHash(dir string, n int) error {
	file := filepath.Join(dir, "files.yaml")
	t, err := template.ParseFile(file)
	if err != nil {
		return err
	}
	if _, err := t.Bind(template.Binding{Stack: "files", Base: dir, Scope: resource.Scope{Partition: resource.LocalPartition, Account: "m"}, Schemas: providers.Schema}); err != nil {
		return err
	}
	for i := range n {
		data, err := os.ReadFile(name(filepath.Join(dir, "out"), i))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		runtime.KeepAlive(sum)
	}
	return nil
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
