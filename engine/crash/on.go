//go:build crash

package crash

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Enabled reports whether this build can be killed at a named point.
const Enabled = true

var (
	mu     sync.Mutex
	passed = map[string]int{}
	at     = os.Getenv("RECLAIM_CRASH_AT")
	record = os.Getenv("RECLAIM_CRASH_RECORD")
	scale  = factor()
)

func factor() float64 {
	f, err := strconv.ParseFloat(os.Getenv("RECLAIM_TIME_SCALE"), 64)
	if err != nil || f <= 0 {
		return 1
	}
	return f
}

// At records the instance and, if it is the one to die at, kills this process.
func At(ctx context.Context, p Point) {
	mu.Lock()
	defer mu.Unlock()
	name := string(p) + "@" + ID(ctx)
	passed[name]++
	name = fmt.Sprintf("%s#%d", name, passed[name])
	if record != "" {
		f, err := os.OpenFile(record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			fmt.Fprintln(f, name)
			f.Close()
		}
	}
	if name == at {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal is on its way
	}
}

// Scale shortens d by the factor.
func Scale(d time.Duration) time.Duration { return time.Duration(float64(d) * scale) }
