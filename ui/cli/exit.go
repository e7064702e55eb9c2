package cli

import (
	"context"
	"errors"

	"reclaim/engine/deploy"
	"reclaim/engine/record"
	"reclaim/ui/tui/app"
)

// exitTerminated is the code of a run that SIGTERM or SIGHUP interrupted; the other codes are the engine's.
const exitTerminated = 143

// Problem is one thing that went wrong or stands in the way, with the exit code it stands for.
type Problem struct {
	Exit    int    `json:"exit"`
	Message string `json:"message"`
	ID      string `json:"id,omitempty"` // logical ID
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	shown   bool   // the text on stdout says it
}

// exitError is an error with an exit code of its own.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func withExit(code int, err error) error { return &exitError{code: code, err: err} }

// exitOf is the exit code of an error; interrupted is the code of the signal, if one came.
func exitOf(err error, interrupted int) int {
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	if _, ok := errors.AsType[*record.HeldError](err); ok {
		return deploy.ExitHeld
	}
	if _, ok := errors.AsType[*app.StoppedError](err); ok {
		return deploy.ExitInterrupted
	}
	switch {
	case errors.Is(err, record.ErrWrite):
		return deploy.ExitStore
	case errors.Is(err, record.ErrStale), errors.Is(err, record.ErrConflict):
		return deploy.ExitBlocked
	case interrupted != 0 && errors.Is(err, context.Canceled):
		return interrupted
	default:
		return deploy.ExitError
	}
}
