package session

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/middleware"

	"reclaim/engine/crash"
	"reclaim/engine/resource"
)

// Service is what Call needs to know of a service.
type Service struct {
	codes map[string]resource.Kind // the service's own error codes, before the common ones
	renew func() string            // what renews the credentials
}

// Reply is what is known of a call besides its output.
type Reply struct {
	ServedAt  time.Time // the service's Date header; zero when there was no answer
	RequestID string
	Status    int // HTTP status of the last answer; 0 for none
	Header    http.Header
}

// Call sends one operation and types its error. Its ctx says how long it may take, retries included. Changing calls
// that must be sent only once pass the SDK's option that turns retries off.
func Call[In, Out, Opt any](ctx context.Context, s *Service, do func(context.Context, *In, ...func(*Opt)) (*Out, error), in *In, opts ...func(*Opt)) (*Out, Reply, error) {
	w := &watch{}
	out, err := do(context.WithValue(ctx, watchKey{}, w), in, opts...)
	reply := w.reply()
	if err != nil {
		return nil, reply, s.classify(err, w)
	}
	return out, reply, nil
}

// watch sees one call on the wire, all of its attempts.
type watch struct {
	mu       sync.Mutex
	last     Reply
	answered bool // the last attempt got an answer
	left     bool // some attempt may have reached the service and got no answer
}

type watchKey struct{}

func (w *watch) reply() Reply {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// attempt records one attempt: whether a connection was there to write to, and what came back.
func (w *watch) attempt(connected bool, resp *http.Response) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answered = resp != nil
	if resp == nil {
		w.left = w.left || connected
		return
	}
	if w.last.Status >= 500 {
		w.left = true // an earlier attempt of this call ended with nobody knowing
	}
	w.last = Reply{Status: resp.StatusCode, Header: resp.Header, RequestID: requestID(resp.Header)}
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		w.last.ServedAt = at.UTC()
	}
}

func requestID(h http.Header) string {
	for _, name := range []string{"X-Amzn-Requestid", "X-Amz-Request-Id", "Apigw-Requestid"} {
		if id := h.Get(name); id != "" {
			return id
		}
	}
	return ""
}

// client wraps the SDK's HTTP client: it sees each attempt, and is where a run can be killed around a changing call.
type client struct{ next aws.HTTPClient }

// Do implements aws.HTTPClient.
func (c *client) Do(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	changing := !reads(middleware.GetOperationName(ctx))
	var connected atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	if changing {
		crash.At(ctx, crash.BeforeSend)
	}
	resp, err := c.next.Do(r.WithContext(traced))
	if changing && resp != nil {
		crash.At(ctx, crash.AfterExecuted)
	}
	if w, ok := ctx.Value(watchKey{}).(*watch); ok {
		w.attempt(connected.Load(), resp)
	}
	return resp, err
}

// reads reports whether an operation changes nothing, by its name.
func reads(operation string) bool {
	for _, verb := range []string{"Get", "List", "Describe"} {
		if strings.HasPrefix(operation, verb) {
			return true
		}
	}
	return false
}

// Pages calls page with each continuation token until there is none. A token that comes back is an answer that cannot
// be understood: going on would never end, and stopping would read as absence.
func Pages(operation string, page func(token *string) (next *string, err error)) error {
	seen := map[string]bool{}
	var token *string
	for {
		next, err := page(token)
		if err != nil {
			return err
		}
		if aws.ToString(next) == "" {
			return nil
		}
		if seen[*next] {
			return Invalid(operation, "the same page token came back twice")
		}
		seen[*next] = true
		token = next
	}
}
