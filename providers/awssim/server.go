// Package awssim is a simulated cloud: one loopback HTTP server that speaks the wire protocols of STS and IAM (AWS Query),
// CloudWatch Logs and EventBridge (awsJson 1.1), DynamoDB (awsJson 1.0), API Gateway v2 and Lambda (restJson1) for the
// operations Reclaim uses.
//
// Its one rule: it must not flatter. Codes, statuses, pages and refusals are the real services', what a service does not
// return is not returned, and what the simulator cannot know it refuses rather than grants. Everything it was asked stands in
// its log, with what became of it, so a test can ask the cloud instead of the client. It is a stand-in, and says so in a
// header (X-Reclaim-Sim) of every response.
package awssim

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// SimHeader names the response header that carries the simulator's stable ID.
const SimHeader = "X-Reclaim-Sim"

// maxBody is the largest request body that is read, in bytes.
const maxBody = 10 << 20

// Config says which cloud to simulate. Its zero value is a usable, in-memory one.
type Config struct {
	Account   string                   // 12 digits; default 123456789012
	Region    string                   // for requests whose credential scope names none; default eu-west-1
	ID        string                   // stable ID in SimHeader; default: the state file's, else random
	Scale     float64                  // factor on every Delay and Lag; 0 is 1
	Lag       map[string]time.Duration // service, as in the credential scope → how long reads do not see a new object; default none
	Now       func() time.Time         // the cloud's clock; default time.Now
	StateFile string                   // when set, state is loaded from it and saved after each change; the log stands beside it in StateFile+".log"
}

// Server is the simulated cloud, an http.Handler. Its methods may be called from any goroutine.
type Server struct {
	cfg    Config
	admin  http.Handler
	states stateFiles

	mu      sync.Mutex
	state   State
	log     []Request
	faults  []*armed
	life    int   // counts resets: what was pending before one never executes
	saveErr error // the first failure to save, returned by Close

	closing chan struct{}
	once    sync.Once
	late    sync.WaitGroup
	http    *http.Server
}

// New makes a simulated cloud and loads its state file, if there is one. A state file of another version is an error.
func New(cfg Config) (*Server, error) {
	if cfg.Account == "" {
		cfg.Account = "123456789012"
	}
	if !accountShape.MatchString(cfg.Account) {
		return nil, fmt.Errorf("start simulated cloud: account %q is not 12 digits", cfg.Account)
	}
	if cfg.Region == "" {
		cfg.Region = "eu-west-1"
	}
	if cfg.Scale == 0 {
		cfg.Scale = 1
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Server{cfg: cfg, states: stateFiles{path: cfg.StateFile}, closing: make(chan struct{})}
	s.admin = s.adminHandler()
	state, log, err := s.states.load()
	if err != nil {
		return nil, fmt.Errorf("start simulated cloud: %w", err)
	}
	s.state, s.log = state, log
	if s.state.Roles == nil {
		s.state = emptyState(s.state.ID)
	}
	switch {
	case cfg.ID != "":
		s.state.ID = cfg.ID
	case s.state.ID == "":
		s.state.ID = "sim-" + randomHex(8)
	}
	s.save()
	if s.saveErr != nil {
		return nil, fmt.Errorf("start simulated cloud: %w", s.saveErr)
	}
	return s, nil
}

// ID returns the stable ID that every response carries in SimHeader.
func (s *Server) ID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.ID
}

// Listen serves on addr in a goroutine and returns the URL to use as AWS_ENDPOINT_URL. The host must be 127.0.0.1: the
// simulator accepts every credential, so no other machine may reach it. Port 0 picks a free one.
func (s *Server) Listen(addr string) (url string, err error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("listen on %q: %w", addr, err)
	}
	if ip, err := netip.ParseAddr(host); err != nil || ip != netip.AddrFrom4([4]byte{127, 0, 0, 1}) {
		return "", fmt.Errorf("listen on %q: the simulated cloud accepts any credential, so it serves on 127.0.0.1 only", addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("listen on %q: %w", addr, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.http != nil {
		l.Close()
		return "", fmt.Errorf("listen on %q: already serving on another address", addr)
	}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	go s.http.Serve(l) //nolint:errcheck // ends with ErrServerClosed when Close is called
	return "http://" + l.Addr().String(), nil
}

// Close stops serving, executes what an executed-late fault still holds back (an accepted request does not depend on how
// long the simulator lives), saves, and returns the first error met while saving.
func (s *Server) Close() error {
	var err error
	s.once.Do(func() {
		close(s.closing)
		s.mu.Lock()
		server := s.http
		s.mu.Unlock()
		if server != nil {
			// Every handler ends at once when closing; what is left is connections that were dialled and never used, which
			// Shutdown would wait 5 s for.
			ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
			defer cancel()
			if err = server.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
				err = server.Close()
			}
		}
		s.late.Wait()
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.save()
	return errors.Join(err, s.saveErr)
}

// ServeHTTP answers the services' operations, and the admin paths under /_sim/.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(SimHeader, s.ID())
	w.Header().Set("Date", s.cfg.Now().UTC().Format(http.TimeFormat))
	if isAdmin(r) {
		s.admin.ServeHTTP(w, r)
		return
	}
	x := s.readExchange(w, r)
	a := s.handle(x)
	if a.wait > 0 && !s.sleep(r.Context(), a.wait) {
		s.unanswered(x)
		panic(http.ErrAbortHandler)
	}
	if a.drop {
		panic(http.ErrAbortHandler) // net/http closes the connection without a byte of answer
	}
	for k, v := range a.header {
		w.Header().Set(k, v)
	}
	w.Header().Set("Date", s.cfg.Now().UTC().Format(http.TimeFormat))
	w.WriteHeader(a.status)
	w.Write(a.body) //nolint:errcheck // the client may be gone; the log says what was executed
}

// sleep waits for d, and reports whether the client and the server were still there at its end.
func (s *Server) sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-s.closing:
	}
	return false
}

func (s *Server) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) * s.cfg.Scale)
}

// handle logs one request, lets the faults have their say, executes it and encodes the answer.
func (s *Server) handle(x *exchange) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.entry.N = len(s.log) + 1
	x.entry.At = s.cfg.Now()
	x.life = s.life
	x.call.n, x.call.now = x.entry.N, x.entry.At
	s.log = append(s.log, x.entry)
	a := s.outcome(x)
	x.entry.Answered = !a.drop
	x.entry.Status = a.status
	s.put(x.entry)
	return a
}

// execute runs the operation, unless the request was refused before it reached one, and records what came of it.
func (s *Server) execute(x *exchange) (any, *failure) {
	if x.refused != nil {
		x.entry.Outcome = x.refused.Code
		return nil, x.refused
	}
	out, f := x.op.run(s, x.call)
	if f != nil {
		x.entry.Outcome = f.Code
		return nil, f
	}
	x.entry.Outcome, x.entry.Executed = "ok", true
	if x.op.changing() {
		s.save()
	}
	return out, nil
}

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b) //nolint:errcheck // never fails since Go 1.24
	return hex.EncodeToString(b)
}

// randomID returns n characters of the alphabet, as the services' assigned IDs are made of.
func randomID(alphabet string, n int) string {
	b := make([]byte, n)
	rand.Read(b) //nolint:errcheck // never fails since Go 1.24
	for i := range b {
		b[i] = alphabet[int(b[i])%len(alphabet)]
	}
	return string(b)
}
