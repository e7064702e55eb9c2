package resource

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind classifies an error by wire code.
type Kind string

const (
	NotFound      Kind = "not found"
	AlreadyExists Kind = "already exists"
	ReadInvalid   Kind = "read invalid" // the answer could not be understood
	AccessDenied  Kind = "access denied"
	Expired       Kind = "credentials expired"
	Throttled     Kind = "throttled"
	Busy          Kind = "busy"
	Cooldown      Kind = "cooldown"
	InUse         Kind = "in use"
	NotReady      Kind = "dependency not ready"
	Rejected      Kind = "rejected"  // the service refused the request: it was not executed
	Uncertain     Kind = "uncertain" // nobody knows whether it was executed
	// IdentityMismatch: another object than the expected one is at the key (SAFETY S20). Nothing was changed.
	IdentityMismatch Kind = "another object"
)

// Error is what providers return.
type Error struct {
	Kind      Kind
	Op        string    // the operation: "CreateRole"
	Code      string    // the service's code: "EntityAlreadyExists"
	RequestID string    // as the service gave it
	Executed  Tri       // was the request carried out
	Blockers  []string  // for InUse: what is in the way
	ServedAt  time.Time // the service's Date of the answer, where there was one
	Err       error     // cause; its text is data, not to be matched on
}

// Error says what was done, what came back and its code.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	b.WriteString(string(e.Kind))
	if e.Code != "" {
		fmt.Fprintf(&b, " (%s)", e.Code)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	if len(e.Blockers) > 0 {
		b.WriteString("; in the way: " + strings.Join(e.Blockers, ", "))
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the Kind of err. An error that is no *Error, and a cancelled or timed out call, is Uncertain; nil is "".
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Uncertain
}

// Is reports whether err is of kind k.
func Is(err error, k Kind) bool { return err != nil && KindOf(err) == k }

// DefinitelyNotExecuted reports whether err proves that the request changed nothing (SAFETY S10 "rejected").
func DefinitelyNotExecuted(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Executed == No
}

// Interrupted reports whether err is the end of our own context.
func Interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
