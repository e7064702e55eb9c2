// Package e2e tests the program as people and pipelines run it: a built binary, real processes, real signals, a real
// terminal, and the simulated cloud, which is asked afterwards what it was sent and what it holds.
//
// Its one rule: nothing is replaced but the cloud. Only the questions at a terminal are tested in this process, wired as
// main wires the program.
package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"reclaim/engine/resource"
	"reclaim/providers"
	"reclaim/providers/awssim"
	"reclaim/store"
	"reclaim/ui/cli"
)

// program is the built binary; its folder is first on PATH.
var program string

var buildFlags = []string{"build"}

func TestMain(m *testing.M) { os.Exit(built(m)) }

// built builds the program, runs the tests, and removes it.
func built(m *testing.M) int {
	dir, err := os.MkdirTemp("", "reclaim-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "make a folder for the program:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "reclaim")
	build := exec.Command("go", append(buildFlags, "-o", program, "reclaim")...)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
		return 1
	}
	flag.Parse()
	flag.Set("test.parallel", "12") // most of them wait: for late answers, and for calls of a dead run to run out
	os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return m.Run()
}

// wired is the program in this process, wired as main does it, but for its streams.
func wired() *cli.App {
	return &cli.App{
		Getenv:  os.Getenv,
		Signals: func() (<-chan os.Signal, func()) { return nil, func() {} },
		OpenStore: func(dir string, o cli.StoreOptions) (cli.Store, error) {
			return store.Open(dir, store.Options{Create: o.Create, ReadOnly: o.ReadOnly,
				Log: func(format string, a ...any) { o.Note(fmt.Sprintf(format, a...)) }})
		},
		Discover: store.Discover,
		Spooled:  store.Spooled,
		Follow:   store.Follow,
		Schemas:  providers.Schemas,
		OpenCloud: func(ctx context.Context, c cli.CloudConfig, types []string) (resource.Cloud, error) {
			return providers.Open(ctx, providers.Config{Region: c.Region, Profile: c.Profile, Machine: c.Machine, MinWindow: c.MinWindow}, types)
		},
		Sim: func(c cli.SimConfig) (cli.Sim, error) {
			return awssim.New(awssim.Config{Region: c.Region, StateFile: c.State})
		},
		MachineID: store.MachineID,
		Owner:     store.Owner,
		Alive:     store.Alive,
	}
}
