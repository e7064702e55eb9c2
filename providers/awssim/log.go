package awssim

import (
	"slices"
	"time"
)

// Request is one line of the log: what was asked, and what became of it.
type Request struct {
	N         int            `json:"n"`         // order of arrival, from 1
	At        time.Time      `json:"at"`        // arrival, by the cloud's clock
	RequestID string         `json:"requestId"` // as in the response's header
	Account   string         `json:"account"`
	Region    string         `json:"region"`
	Service   string         `json:"service"`          // as in the credential scope: iam, dynamodb, …
	Operation string         `json:"operation"`        // as the service names it; "" when unknown
	Changing  bool           `json:"changing"`         // whether the operation may change anything
	Target    string         `json:"target,omitempty"` // role name, policy ARN, log group name, rule name, API ID (its name for CreateApi)
	Params    map[string]any `json:"params,omitempty"` // as sent, by the service's member names
	Fault     FaultKind      `json:"fault,omitempty"`  // the fault that decided the answer
	Outcome   string         `json:"outcome"`          // "ok", a code, or "" while it is still to be executed
	Status    int            `json:"status"`           // HTTP status of the answer; 0 for none
	Executed  bool           `json:"executed"`         // the service carried it out; false for one that was refused
	Answered  bool           `json:"answered"`         // an answer was sent
	UserAgent string         `json:"userAgent,omitempty"`
}

// Log returns every request in the order of arrival, also those that were refused.
func (s *Server) Log() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log) // Params are never changed once logged
}

// put writes an entry back into the log, and to the log's file.
func (s *Server) put(e Request) {
	s.log[e.N-1] = e
	s.keep(s.states.appendLog(e))
}

// unanswered notes that nobody was there to take the answer.
func (s *Server) unanswered(x *exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.life != s.life {
		return
	}
	e := s.log[x.entry.N-1]
	e.Answered, e.Status = false, 0
	s.put(e)
}
