package awssim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"time"
)

// FaultKind names what goes wrong. The empty kind breaks nothing: only the fault's Then happens.
type FaultKind string

// The kinds of faults.
const (
	ExecutedUnanswered    FaultKind = "executed-unanswered"     // executes, then closes the connection without an answer
	NotExecutedUnanswered FaultKind = "not-executed-unanswered" // closes the connection and never executes
	ExecutedLate          FaultKind = "executed-late"           // closes the connection now, executes after Delay
	AnsweredLate          FaultKind = "answered-late"           // executes now, answers after Delay
	Refused               FaultKind = "error"                   // answers Code and Status (default: the service's internal failure), executes nothing
	ErrorAfterExecute     FaultKind = "error-after-execute"     // executes, then answers Code and Status all the same
	Throttled             FaultKind = "throttled"               // the service's throttling code, executes nothing
	Denied                FaultKind = "denied"                  // the service's access-denied code, executes nothing
	Expired               FaultKind = "expired"                 // the service's expired-credentials code, executes nothing
	Malformed             FaultKind = "malformed"               // executes, answers 200 with a body that cannot be decoded
	Lag                   FaultKind = "lag"                     // the consistency window: see Fault.Delay
)

// FaultKinds lists every kind that breaks something.
func FaultKinds() []FaultKind {
	return []FaultKind{ExecutedUnanswered, NotExecutedUnanswered, ExecutedLate, AnsweredLate, Refused, ErrorAfterExecute,
		Throttled, Denied, Expired, Malformed, Lag}
}

// Fault says what goes wrong, for which requests, and how often.
type Fault struct {
	Service   string        `json:"service,omitempty"` // as in the credential scope: iam, dynamodb, …; "" any
	Operation string        `json:"operation"`         // "CreateRole"; "*" any
	Target    string        `json:"target,omitempty"`  // "" any; else equal to Request.Target (or an existing API's name), or a path.Match pattern
	Skip      int           `json:"skip,omitempty"`    // let that many matching requests pass first
	Times     int           `json:"times,omitempty"`   // how many it hits; 0 is once, -1 is all
	Kind      FaultKind     `json:"kind,omitempty"`
	Delay     time.Duration `json:"delay,omitempty"` // in JSON a string such as "3s", or nanoseconds. Of Lag: on a create, how long reads do not see the new object; on a read, objects younger than this are not seen
	Code      string        `json:"code,omitempty"`
	Status    int           `json:"status,omitempty"` // 0: the status that the service gives the code
	Message   string        `json:"message,omitempty"`
	Then      []Action      `json:"then,omitempty"` // what a stranger does first, when the fault hits
}

// UnmarshalJSON reads Delay as a Go duration ("3s") or as nanoseconds, and refuses an unknown kind.
func (f *Fault) UnmarshalJSON(b []byte) error {
	type plain Fault
	in := struct {
		*plain
		Delay json.RawMessage `json:"delay"`
	}{plain: (*plain)(f)}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	if f.Kind != "" && !slices.Contains(FaultKinds(), f.Kind) {
		return fmt.Errorf("unknown fault kind %q: one of %v", f.Kind, FaultKinds())
	}
	if len(in.Delay) == 0 {
		return nil
	}
	var text string
	if json.Unmarshal(in.Delay, &text) != nil {
		return json.Unmarshal(in.Delay, &f.Delay)
	}
	d, err := time.ParseDuration(text)
	f.Delay = d
	return err
}

// armed is a fault with what is left of it.
type armed struct {
	Fault
	skip, times int
}

// AddFault arms a fault. Of several that match a request, the first added that breaks something decides; those that only
// lag, or only let a stranger act, apply together with it.
func (s *Server) AddFault(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	times := f.Times
	if times == 0 {
		times = 1
	}
	s.faults = append(s.faults, &armed{Fault: f, skip: f.Skip, times: times})
}

// ClearFaults disarms all faults. What one of them still holds back stays under way.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// outcome lets the faults decide how a request ends. The caller holds the lock.
func (s *Server) outcome(x *exchange) answer {
	fault, lag := s.hit(x)
	x.call.lag = max(s.scaled(lag), s.scaled(s.cfg.Lag[x.call.service]))
	if !x.op.changing() {
		x.call.lag = s.scaled(lag) // a configured lag is marked on the object already
	}
	x.entry.Fault = fault.Kind
	switch fault.Kind {
	case ExecutedUnanswered:
		s.execute(x) //nolint:errcheck // nobody is told
		return answer{drop: true}
	case NotExecutedUnanswered:
		return answer{drop: true}
	case ExecutedLate:
		s.executeLate(x, s.scaled(fault.Delay))
		return answer{drop: true}
	case AnsweredLate:
		a := s.answer(x)
		a.wait = s.scaled(fault.Delay)
		return a
	case ErrorAfterExecute:
		s.execute(x) //nolint:errcheck // the fault's error is told instead
		return x.wire.encodeFailure(fault.failure(x), x.entry.RequestID)
	case Malformed:
		a := s.answer(x)
		a.status, a.body = http.StatusOK, []byte("<<{ not an answer")
		delete(a.header, "X-Amz-Crc32") // it is of another body
		return a
	case Refused, Throttled, Denied, Expired:
		x.refused = fault.failure(x)
	}
	return s.answer(x)
}

func (s *Server) answer(x *exchange) answer {
	out, f := s.execute(x)
	if f != nil {
		return x.wire.encodeFailure(f, x.entry.RequestID)
	}
	return x.wire.encode(x.op, out, x.entry.RequestID)
}

// hit finds the fault that decides over a request, and the lag of those that only hide.
func (s *Server) hit(x *exchange) (decides Fault, lag time.Duration) {
	if x.refused != nil {
		return Fault{}, 0 // it never reaches the service
	}
	for _, f := range s.faults {
		if f.times == 0 || !s.matches(f.Fault, x) {
			continue
		}
		if f.skip > 0 {
			f.skip--
			continue
		}
		if f.times > 0 {
			f.times--
		}
		for _, a := range f.Then {
			s.act(a, x.call) //nolint:errcheck // a stranger may come too late; the state shows it
		}
		switch f.Kind {
		case "":
		case Lag:
			lag = max(lag, f.Delay)
		default:
			return f.Fault, lag
		}
	}
	return Fault{}, lag
}

func (s *Server) matches(f Fault, x *exchange) bool {
	if f.Operation != "*" && f.Operation != x.op.name || f.Service != "" && f.Service != x.call.service {
		return false
	}
	if f.Target == "" || matchesTarget(f.Target, x.entry.Target) {
		return true
	}
	a := s.findApi(x.call.account, x.call.region, x.entry.Target)
	return x.call.service == "apigateway" && a != nil && matchesTarget(f.Target, a.Name)
}

func matchesTarget(pattern, target string) bool {
	ok, err := path.Match(pattern, target)
	return pattern == target || err == nil && ok
}

// executeLate executes after d, or when the server closes; not when it was reset in between.
func (s *Server) executeLate(x *exchange, d time.Duration) {
	life := s.life
	s.late.Add(1)
	go func() {
		defer s.late.Done()
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-s.closing:
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.life != life {
			return
		}
		x.call.now = s.cfg.Now()
		s.execute(x) //nolint:errcheck // nobody is told
		s.put(x.entry)
	}()
}

// failure is the refusal that a fault answers with.
func (f Fault) failure(x *exchange) *failure {
	var out *failure
	switch f.Kind {
	case Throttled:
		out = common(x.call.service, "throttled")
	case Expired:
		out = common(x.call.service, "expired")
	case Denied:
		out = denied(x.call, x.op)
	default:
		out = common(x.call.service, "internal")
	}
	if f.Code != "" {
		out.Code, out.Status = f.Code, statusOf(x.call.service, f.Code)
	}
	if f.Status != 0 {
		out.Status = f.Status
	}
	if f.Message != "" {
		out.Message = f.Message
	}
	return out
}

// statuses are those of the service models; what is not listed is a 400.
var statuses = map[string]map[string]int{
	"iam": {
		"ConcurrentModification": 409, "DeleteConflict": 409, "EntityAlreadyExists": 409, "LimitExceeded": 409, "NoSuchEntity": 404,
		"ServiceFailure": 500, "InternalFailure": 500, "ServiceUnavailable": 503, "AccessDenied": 403, "ExpiredToken": 403,
	},
	"events": {"InternalException": 500},
	"logs":   {"ServiceUnavailableException": 503, "InternalFailure": 500},
	"apigateway": {
		"ConflictException": 409, "NotFoundException": 404, "TooManyRequestsException": 429, "AccessDeniedException": 403,
		"ExpiredTokenException": 403, "InternalServerErrorException": 500, "ServiceUnavailableException": 503,
	},
	"dynamodb": {"InternalServerError": 500, "ServiceUnavailable": 503},
	"lambda": {
		"ResourceConflictException": 409, "ResourceNotFoundException": 404, "PreconditionFailedException": 412, "TooManyRequestsException": 429,
		"AccessDeniedException": 403, "ExpiredTokenException": 403, "ServiceException": 500, "ResourceNotReadyException": 502,
	},
}

func statusOf(service, code string) int {
	if service == "sts" {
		service = "iam"
	}
	if status, ok := statuses[service][code]; ok {
		return status
	}
	return http.StatusBadRequest
}
