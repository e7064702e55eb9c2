//go:build crash

package crashtest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"
)

// How long a changing call is on its way there and its answer on its way back. A service on the same machine answers in a
// millisecond or two, and hardly a kill would ever come between a create and its acknowledgement.
const (
	there = 10 * time.Millisecond
	back  = 40 * time.Millisecond
)

// network starts a network in front of a service and returns its URL. A request whose sender dies on the way there is lost;
// one that arrived is executed, whether its sender lives or not.
func network(t *testing.T, service string) string {
	t.Helper()
	to, err := url.Parse(service)
	must(t, err)
	proxy := httputil.NewSingleHostReverseProxy(to)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler) // its sender died while it wrote
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer := &late{ResponseWriter: w}
		if changes(r, body) {
			time.Sleep(there)
			if r.Context().Err() != nil {
				panic(http.ErrAbortHandler)
			}
			answer.hold = back
		}
		proxy.ServeHTTP(answer, r.WithContext(context.WithoutCancel(r.Context())))
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// late holds an answer back. It hides the other faces of its writer, by which a proxy would learn that the sender died.
type late struct {
	http.ResponseWriter
	hold time.Duration
}

func (l *late) WriteHeader(status int) {
	time.Sleep(l.hold)
	l.hold = 0
	l.ResponseWriter.WriteHeader(status)
}

// changes reports whether a request changes something: by its operation's name where the protocol sends one, else by its method.
func changes(r *http.Request, body []byte) bool {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if form, err := url.ParseQuery(string(body)); operation == "" && err == nil {
		operation = form.Get("Action")
	}
	if operation == "" {
		return r.Method != http.MethodGet
	}
	for _, verb := range []string{"Get", "List", "Describe"} {
		if strings.HasPrefix(operation, verb) {
			return false
		}
	}
	return true
}
