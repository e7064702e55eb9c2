package resource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
)

// An error that nobody classified proves nothing (S10).
func TestErrorsAreKnownByTheirKind(t *testing.T) {
	denied := &Error{Kind: AccessDenied, Op: "GetRole", Code: "AccessDenied", Executed: No}
	for why, c := range map[string]struct {
		err         error
		kind        Kind
		notExecuted bool
	}{
		"no error has no kind":                                 {nil, "", false},
		"a provider's error has its own":                       {denied, AccessDenied, true},
		"also inside others":                                   {fmt.Errorf("read OrdersRole: %w", fmt.Errorf("page 2: %w", denied)), AccessDenied, true},
		"also beside others":                                   {errors.Join(io.EOF, denied), AccessDenied, true},
		"a foreign error is uncertain":                         {io.ErrUnexpectedEOF, Uncertain, false},
		"so is one that only reads like ours":                  {errors.New("GetRole: not found (NoSuchEntity)"), Uncertain, false},
		"a call that we gave up is uncertain":                  {context.Canceled, Uncertain, false},
		"and one that took too long":                           {fmt.Errorf("send: %w", context.DeadlineExceeded), Uncertain, false},
		"an answer that says nothing of execution is no proof": {&Error{Kind: Throttled}, Throttled, false},
		"nor is one that does not know":                        {&Error{Kind: Rejected, Executed: Perhaps}, Rejected, false},
		"what was executed was executed":                       {&Error{Kind: Rejected, Executed: Yes}, Rejected, false},
		"the outermost provider's error counts":                {&Error{Kind: Uncertain, Err: denied}, Uncertain, false},
	} {
		t.Run(why, func(t *testing.T) {
			if got := KindOf(c.err); got != c.kind {
				t.Errorf("kind %q, want %q", got, c.kind)
			}
			if got := DefinitelyNotExecuted(c.err); got != c.notExecuted {
				t.Errorf("definitely not executed: %v, want %v", got, c.notExecuted)
			}
			if Is(c.err, c.kind) != (c.err != nil) || Is(c.err, "another") {
				t.Errorf("Is does not agree with the kind %q", c.kind)
			}
		})
	}
}

func TestInterruptedIsTheEndOfOurOwnContext(t *testing.T) {
	for err, want := range map[error]bool{
		context.Canceled: true, &Error{Kind: Uncertain, Err: context.DeadlineExceeded}: true, io.EOF: false, &Error{Kind: Throttled}: false,
	} {
		if Interrupted(err) != want {
			t.Errorf("%v: interrupted %v", err, !want)
		}
	}
	if Interrupted(nil) {
		t.Error("no error is an interruption")
	}
}

func TestAnErrorSaysWhatWasDoneAndWhatIsInTheWay(t *testing.T) {
	for want, err := range map[string]error{
		"DeleteRole: in use (DeleteConflict): it has policies; in the way: policy a, policy b": &Error{Kind: InUse, Op: "DeleteRole",
			Code: "DeleteConflict", Err: errors.New("it has policies"), Blockers: []string{"policy a", "policy b"}},
		"not found": &Error{Kind: NotFound},
	} {
		if err.Error() != want {
			t.Errorf("got  %s\nwant %s", err, want)
		}
	}
}
