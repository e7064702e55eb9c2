//go:build !crash

package crash

import (
	"context"
	"time"
)

// Enabled reports whether this build can be killed at a named point.
const Enabled = false

// At marks a point. In this build it does nothing.
func At(context.Context, Point) {}

// Scale returns d: only a crash build shortens time.
func Scale(d time.Duration) time.Duration { return d }
