// Command reclaim deploys stacks of cloud resources, and finds out what became of a deploy that was killed.
//
// This package only wires: it knows the store and the providers, hands them to ui/cli, and delivers signals.
package main

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"syscall"

	"golang.org/x/term"

	"reclaim/engine/resource"
	"reclaim/providers"
	"reclaim/providers/awssim"
	"reclaim/store"
	"reclaim/ui/cli"
)

// Set by the linker: -X main.version=1.2.3.
var version, commit, date string

// threads is how many goroutines may run or be in a short system call at once. A run mostly syncs files, and a sync keeps
// its processor's slot until the runtime takes it away: with a slot per CPU only, the CPUs wait (docs/performance.md).
const threads = 16

// Below freeHeap bytes nothing is collected: most commands end before that. Above it the heap may grow by collectAt percent
// of what was in use before it is collected again: with 10,000 resources memory is worth more than the time
// (docs/performance.md).
const (
	freeHeap  = 90 << 20
	collectAt = 20
)

func main() {
	tune()
	os.Exit(app().Run(context.Background(), os.Args[1:]))
}

// tune sets what the Go runtime cannot know, unless the environment says otherwise.
func tune() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(max(runtime.NumCPU(), threads))
	}
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(freeHeap)
	afterCollection(func() { debug.SetMemoryLimit(math.MaxInt64) })
}

// afterCollection lets the heap grow to freeHeap, or by collectAt percent if that is more, after this collection and each
// later one. The runtime knows only percents.
func afterCollection(first func()) {
	type sentinel struct{ _ [16]byte }
	runtime.SetFinalizer(new(sentinel), func(*sentinel) {
		inUse := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(inUse)
		if live := inUse[0].Value.Uint64(); live > 0 {
			debug.SetGCPercent(max(collectAt, int(freeHeap*100/live)-100))
		}
		first()
		afterCollection(func() {})
	})
}

// app wires the commands to this process, the store and the providers.
func app() *cli.App {
	// A closed pipe is an error of a write, not the end of a run half way.
	signal.Ignore(syscall.SIGPIPE)
	return &cli.App{
		Build: build(),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Terminal: terminal(),
		Getenv:   os.Getenv,
		Getwd:    os.Getwd,
		Signals:  signals,

		OpenStore: openStore,
		Discover:  store.Discover,
		Spooled:   store.Spooled,
		Follow:    store.Follow,
		Schemas:   providers.Schemas,
		OpenCloud: openCloud,
		Sim:       newSim,
		Stacks:    exampleStacks(),
		MachineID: store.MachineID,
		Owner:     store.Owner,
		Alive:     store.Alive,
	}
}

func build() cli.Build {
	b := cli.Build{Version: version, Commit: commit, Date: date, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && b.Commit == "":
			b.Commit = s.Value
		case s.Key == "vcs.time" && b.Date == "":
			b.Date = s.Value
		}
	}
	if b.Version == "" {
		b.Version = info.Main.Version
	}
	return b
}

func terminal() cli.Terminal {
	t := cli.Terminal{In: term.IsTerminal(int(os.Stdin.Fd())), Out: term.IsTerminal(int(os.Stdout.Fd())), Err: term.IsTerminal(int(os.Stderr.Fd()))}
	if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		t.Width = w
	}
	if out, err := os.Stdout.Stat(); err == nil {
		if notes, err := os.Stderr.Stat(); err == nil {
			t.Together = os.SameFile(out, notes)
		}
	}
	return t
}

// signals delivers what asks a run to end, but for what the caller had ignored (nohup).
func signals() (<-chan os.Signal, func()) {
	ch := make(chan os.Signal, 4)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(ch, s)
		}
	}
	return ch, func() { signal.Stop(ch) }
}

func openStore(dir string, o cli.StoreOptions) (cli.Store, error) {
	s, err := store.Open(dir, store.Options{Create: o.Create, ReadOnly: o.ReadOnly,
		Log: func(format string, a ...any) { o.Note(fmt.Sprintf(format, a...)) }})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func openCloud(ctx context.Context, c cli.CloudConfig, types []string) (resource.Cloud, error) {
	return providers.Open(ctx, providers.Config{Region: c.Region, Profile: c.Profile, Machine: c.Machine, MinWindow: c.MinWindow}, types)
}

// The example stacks are also what the demo deploys.
//
//go:embed testdata/stacks/*.yaml
var examples embed.FS

func exampleStacks() fs.FS {
	sub, err := fs.Sub(examples, "testdata/stacks")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	return sub
}

func newSim(c cli.SimConfig) (cli.Sim, error) {
	return awssim.New(awssim.Config{Region: c.Region, StateFile: c.State})
}
