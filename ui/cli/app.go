// Package cli is Reclaim's commands: flags in, one request to the engine, one answer out.
//
// Its one rule: what a command prints as its verdict and the code it exits with come from one value, the reply; and it
// never asks a question unless a person can answer it.
package cli

import (
	"context"
	"io"
	"io/fs"
	"os"
	"time"

	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// Build says what this program is.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Date    string `json:"date,omitempty"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// Store is the store as commands see it: the engine's port, and what only an operator asks.
type Store interface {
	record.Store
	// Dir is the folder that holds the store's file.
	Dir() string
	// ReadAhead prepares a Read of the records of the stacks of this name while the caller does something else.
	ReadAhead(ctx context.Context, stack string) error
	// Sealer makes and compares the keyed hashes of sensitive values; without a key when its file is missing.
	Sealer() (value.Sealer, error)
	// SpoolWriter is where a run leaves its events, a line each, for watchers in other processes.
	SpoolWriter(execution string) (io.WriteCloser, error)
	// Check says what does not fit together; known says which types the program has.
	Check(ctx context.Context, known func(typ string) bool) ([]record.Flaw, error)
	// Backup copies the file to path, or beside the store in a name that says why, and returns the path.
	Backup(ctx context.Context, path, why string) (string, error)
	// Export returns all but plans; bad is how many records could not be taken.
	Export(ctx context.Context) (e record.Export, bad int, err error)
	// Import fills an empty store and gives it a new ID.
	Import(ctx context.Context, e *record.Export) error
	Close() error
}

// StoreOptions say how a store is opened.
type StoreOptions struct {
	Create   bool         // make it when there is none (SAFETY S35)
	ReadOnly bool         // nothing of it is written, not even a lock file
	Note     func(string) // things an operator should read: that it was made, a migration, an emergency file
}

// CloudConfig says which cloud; everything else is the AWS SDK's own chain.
type CloudConfig struct {
	Region, Profile string
	// Machine is this machine's ID, part of the keys of local types.
	Machine string
	// MinWindow raises shorter consistency windows of cloud types.
	MinWindow time.Duration
}

// SimConfig says which simulated cloud to run.
type SimConfig struct {
	State  string // file that keeps its state; "" for memory only
	Region string
}

// Sim is a simulated cloud.
type Sim interface {
	ID() string
	// Listen serves on a loopback address until Close and returns the URL for AWS_ENDPOINT_URL.
	Listen(addr string) (url string, err error)
	Close() error
}

// Terminal says what the program is connected to.
type Terminal struct {
	In, Out, Err bool // stdin, stdout and stderr are terminals
	Width        int  // columns of stdout; 0 when it is none
	// Together: stdout and stderr go to the same place, so that what the one said need not be said again on the other.
	Together bool
}

// App is everything the commands need from outside. main fills it in; tests replace parts of it.
type App struct {
	Build          Build
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Terminal       Terminal
	Getenv         func(string) string
	Getwd          func() (string, error)
	// Signals starts delivery of interrupts; the function ends it.
	Signals func() (<-chan os.Signal, func())

	OpenStore func(dir string, o StoreOptions) (Store, error)
	// Spooled calls line for each event, as a line of NDJSON, that an execution has left so far in the store at dir;
	// Follow goes on with those to come until ctx ends.
	Spooled func(dir, execution string, line func([]byte)) error
	Follow  func(ctx context.Context, dir, execution string, line func([]byte)) error
	// Discover finds the nearest store upwards from a folder.
	Discover func(start string) (dir string, ok bool)

	Schemas   func() []*resource.Schema
	OpenCloud func(ctx context.Context, c CloudConfig, types []string) (resource.Cloud, error)
	Sim       func(c SimConfig) (Sim, error)
	// Stacks holds the example stacks, which the demo deploys.
	Stacks fs.FS

	MachineID func() string
	Owner     func() record.Owner
	Alive     func(record.Owner) resource.Tri
}
