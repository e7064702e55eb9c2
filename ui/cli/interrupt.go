package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"reclaim/engine/deploy"
)

// interrupts turns signals into what a command understands. A command that changes nothing stops at the first one: its
// context ends. A run drains at the first and stops at the second.
type interrupts struct {
	code   atomic.Int32
	stderr io.Writer
	// take, when it is set, gets each signal first and says whether it dealt with it. Called by one goroutine.
	take atomic.Pointer[func(os.Signal) bool]
}

// watch follows signals until ctx ends.
func watch(ctx context.Context, signals <-chan os.Signal, stderr io.Writer) (context.Context, *interrupts, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	in := &interrupts{stderr: stderr}
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case sig := <-signals:
				in.signal(sig, cancel)
			}
		}
	}()
	return ctx, in, cancel
}

func (in *interrupts) signal(sig os.Signal, stop context.CancelFunc) {
	code := int32(exitTerminated)
	if sig == os.Interrupt {
		code = deploy.ExitInterrupted
	}
	in.code.CompareAndSwap(0, code)
	if take := in.take.Load(); take != nil && (*take)(sig) {
		return
	}
	stop()
}

// Code is the exit code of the first signal, 0 when there was none.
func (in *interrupts) Code() int { return int(in.code.Load()) }

// drains makes the first signal from now on close the channel that it returns, which asks a run to start nothing new.
// The second ends the context: the run stops now.
func (in *interrupts) drains() <-chan struct{} {
	drain := make(chan struct{})
	once := false
	in.deal(func(sig os.Signal) bool {
		if once {
			return false
		}
		once = true
		fmt.Fprintf(in.stderr, "reclaim: %s: what is under way is finished, nothing new is started; once more stops now\n", sig)
		close(drain)
		return true
	})
	return drain
}

func (in *interrupts) deal(f func(os.Signal) bool) { in.take.Store(&f) }
