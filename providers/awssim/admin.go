package awssim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"
)

const adminPrefix = "/_sim/"

// Action is what a stranger does in the same cloud: an operation that no client of the tool sent. It is carried out like a
// request but stands in the state (MadeBy 0), not in the log, and it may set aws: tags.
type Action struct {
	Service string            `json:"service,omitempty"` // needed only where several services have the operation (TagResource, UntagResource)
	Op      string            `json:"op"`
	Account string            `json:"account,omitempty"` // default: Config.Account, or that of the request that set it off
	Region  string            `json:"region,omitempty"`  // likewise
	Params  map[string]any    `json:"params,omitempty"`  // the service's member names; their first letter in either case
	Tags    map[string]string `json:"tags,omitempty"`    // in any service's own shape, added to Params
}

// Do lets a stranger act. The error is the service's refusal, or says that there is no such operation.
func (s *Server) Do(a Action) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.act(a, &call{account: s.cfg.Account, region: s.cfg.Region})
}

// act carries an action out. The caller holds the lock.
func (s *Server) act(a Action, at *call) error {
	service, op, err := findOperation(a.Service, a.Op)
	if err != nil {
		return err
	}
	params, err := actionParams(service, a)
	if err != nil {
		return fmt.Errorf("act %s: %w", a.Op, err)
	}
	c := &call{service: service, account: at.account, region: at.region, params: params, now: s.cfg.Now(), stranger: true}
	if a.Account != "" {
		c.account = a.Account
	}
	if a.Region != "" {
		c.region = a.Region
	}
	if _, f := op.run(s, c); f != nil {
		return fmt.Errorf("act %s: %s: %s", a.Op, f.Code, f.Message)
	}
	s.save()
	return nil
}

func findOperation(service, name string) (string, operation, error) {
	var found string
	for candidate, table := range operations {
		if _, ok := table[name]; !ok || service != "" && service != candidate {
			continue
		}
		if found != "" {
			return "", operation{}, fmt.Errorf("act %s: several services have it; set service", name)
		}
		found = candidate
	}
	if found == "" {
		return "", operation{}, fmt.Errorf("act %s: no such operation", name)
	}
	return found, operations[found][name], nil
}

// actionParams brings an action's params into the shape that the service's wire gives.
func actionParams(service string, a Action) (map[string]any, error) {
	raw, err := json.Marshal(a.Params)
	if err != nil {
		return nil, err
	}
	in := map[string]any{}
	if a.Params != nil {
		if in, err = decodeObject(raw); err != nil {
			return nil, err
		}
	}
	first := unicode.ToLower
	if service == "iam" || service == "sts" || service == "events" || service == "dynamodb" || service == "lambda" {
		first = unicode.ToUpper
	}
	out := make(map[string]any, len(in)+1)
	for k, v := range in {
		r, n := utf8.DecodeRuneInString(k)
		out[string(first(r))+k[n:]] = v
	}
	if len(a.Tags) == 0 {
		return out, nil
	}
	if service != "iam" && service != "events" && service != "dynamodb" {
		tags := map[string]any{}
		for k, v := range a.Tags {
			tags[k] = v
		}
		out[string(first('t'))+"ags"] = tags
		return out, nil
	}
	var tags []any
	for _, k := range sortedKeys(a.Tags) {
		tags = append(tags, map[string]any{"Key": k, "Value": a.Tags[k]})
	}
	out["Tags"] = tags
	return out, nil
}

// Reset empties state, log and faults, and forgets what is still held back. The ID stays.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = emptyState(s.state.ID)
	s.log, s.faults = nil, nil
	s.life++
	s.keep(s.states.dropLog())
	s.save()
}

func isAdmin(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, adminPrefix) }

// adminHandler serves the paths under /_sim/. A browser's cross-site request carries an Origin and is refused.
func (s *Server) adminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_sim/log", func(w http.ResponseWriter, r *http.Request) {
		log := s.Log()
		if log == nil {
			log = []Request{}
		}
		writeAdmin(w, http.StatusOK, log)
	})
	mux.HandleFunc("GET /_sim/state", func(w http.ResponseWriter, r *http.Request) { writeAdmin(w, http.StatusOK, s.State()) })
	mux.HandleFunc("POST /_sim/faults", func(w http.ResponseWriter, r *http.Request) {
		adminEach(w, r, func(f Fault) error { s.AddFault(f); return nil })
	})
	mux.HandleFunc("DELETE /_sim/faults", func(w http.ResponseWriter, r *http.Request) {
		s.ClearFaults()
		writeAdmin(w, http.StatusOK, map[string]bool{"ok": true})
	})
	mux.HandleFunc("POST /_sim/reset", func(w http.ResponseWriter, r *http.Request) {
		s.Reset()
		writeAdmin(w, http.StatusOK, map[string]bool{"ok": true})
	})
	mux.HandleFunc("POST /_sim/actions", func(w http.ResponseWriter, r *http.Request) { adminEach(w, r, s.Do) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "" {
			writeAdmin(w, http.StatusForbidden, map[string]string{"error": "requests from a web page are not served"})
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// adminEach decodes one value or a list of them, strictly, and applies each. The first error ends it.
func adminEach[T any](w http.ResponseWriter, r *http.Request, apply func(T) error) {
	items, err := decodeEach[T](http.MaxBytesReader(w, r.Body, maxBody))
	for i := 0; err == nil && i < len(items); i++ {
		err = apply(items[i])
	}
	if err != nil {
		writeAdmin(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	writeAdmin(w, http.StatusOK, map[string]bool{"ok": true})
}

func decodeEach[T any](body io.Reader) ([]T, error) {
	var raw json.RawMessage
	if err := json.NewDecoder(body).Decode(&raw); err != nil {
		return nil, fmt.Errorf("decode body: %w", err)
	}
	var items []T
	if json.Unmarshal(raw, &items) == nil {
		return items, nil
	}
	var one T
	if err := json.Unmarshal(raw, &one); err != nil {
		return nil, errors.Join(errors.New("decode body: neither one value nor a list"), err)
	}
	return []T{one}, nil
}

func writeAdmin(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(mustJSON(v), '\n')) //nolint:errcheck // the client may be gone
}
