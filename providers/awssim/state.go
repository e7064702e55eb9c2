package awssim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// stateVersion is the version of the state file.
const stateVersion = 1

// State is everything the cloud holds, over all accounts and regions.
type State struct {
	ID         string             `json:"id"`
	Roles      []*Role            `json:"roles"`
	Policies   []*Policy          `json:"policies"`
	Profiles   []*InstanceProfile `json:"instanceProfiles"`
	LogGroups  []*LogGroup        `json:"logGroups"`
	Apis       []*Api             `json:"apis"`
	EventBuses []*EventBus        `json:"eventBuses"`
	Rules      []*Rule            `json:"rules"`
	Tables     []*Table           `json:"tables"`
	Functions  []*Function        `json:"functions"`
}

func emptyState(id string) State {
	return State{ID: id, Roles: []*Role{}, Policies: []*Policy{}, Profiles: []*InstanceProfile{}, LogGroups: []*LogGroup{}, Apis: []*Api{},
		EventBuses: []*EventBus{}, Rules: []*Rule{}, Tables: []*Table{}, Functions: []*Function{}}
}

// Birth says when and by whom an object was made.
type Birth struct {
	CreatedAt time.Time `json:"createdAt"`
	VisibleAt time.Time `json:"visibleAt"` // reads before it do not see the object
	MadeBy    int       `json:"madeBy"`    // Request.N that made it; 0 for a stranger
}

// Role is an IAM role with everything that hangs on it.
type Role struct {
	Birth
	Account     string            `json:"account"`
	Name        string            `json:"name"`
	Path        string            `json:"path"`
	ID          string            `json:"roleId"` // AROA…, new for each create
	ARN         string            `json:"arn"`
	Trust       string            `json:"trust"` // JSON; roles as principals stand in it by unique ID, as IAM keeps them
	Description *string           `json:"description,omitempty"`
	MaxSession  int               `json:"maxSessionDuration"` // seconds
	Boundary    string            `json:"permissionsBoundary,omitempty"`
	Tags        map[string]string `json:"tags"`
	Inline      map[string]string `json:"inlinePolicies"` // name → JSON
	Attached    []string          `json:"attachedPolicies"`
}

// Policy is a customer managed policy.
type Policy struct {
	Birth
	Account     string            `json:"account"`
	Name        string            `json:"name"`
	Path        string            `json:"path"`
	ID          string            `json:"policyId"`
	ARN         string            `json:"arn"`
	Document    string            `json:"document"`
	Description string            `json:"description,omitempty"`
	Tags        map[string]string `json:"tags"`
}

// InstanceProfile holds at most one role; one that does keeps the role from being deleted.
type InstanceProfile struct {
	Birth
	Account string `json:"account"`
	Name    string `json:"name"`
	Path    string `json:"path"`
	ID      string `json:"instanceProfileId"`
	ARN     string `json:"arn"`
	Role    string `json:"role,omitempty"` // role name
}

// LogGroup is a CloudWatch Logs group with its streams.
type LogGroup struct {
	Birth
	Account              string            `json:"account"`
	Region               string            `json:"region"`
	Name                 string            `json:"name"`
	Class                string            `json:"class"`
	RetentionInDays      int               `json:"retentionInDays,omitempty"` // 0: never expires
	KmsKeyID             string            `json:"kmsKeyId,omitempty"`
	DeletionProtection   bool              `json:"deletionProtection"`
	DataProtection       string            `json:"dataProtectionPolicy,omitempty"`
	DataProtectionStatus string            `json:"dataProtectionStatus,omitempty"`
	DataProtectionAt     time.Time         `json:"dataProtectionAt"`
	Tags                 map[string]string `json:"tags"`
	Streams              []*LogStream      `json:"streams"`
}

// LogStream counts the events it holds; their text is not kept.
type LogStream struct {
	Name       string    `json:"name"`
	CreatedAt  time.Time `json:"createdAt"`
	Events     int       `json:"events"`
	Bytes      int64     `json:"bytes"`
	FirstEvent int64     `json:"firstEvent,omitempty"` // milliseconds since 1970
	LastEvent  int64     `json:"lastEvent,omitempty"`
	IngestedAt time.Time `json:"ingestedAt"`
}

// Api is an API Gateway v2 API.
type Api struct {
	Birth
	Account         string            `json:"account"`
	Region          string            `json:"region"`
	ID              string            `json:"apiId"`
	Name            string            `json:"name"`
	Protocol        string            `json:"protocolType"`
	Description     string            `json:"description,omitempty"`
	Version         string            `json:"version,omitempty"`
	RouteSelection  string            `json:"routeSelectionExpression"`
	KeySelection    string            `json:"apiKeySelectionExpression"`
	DisableEndpoint bool              `json:"disableExecuteApiEndpoint"`
	IPAddressType   string            `json:"ipAddressType"`
	Cors            *Cors             `json:"corsConfiguration,omitempty"`
	Tags            map[string]string `json:"tags"`
	Authorizers     []*Authorizer     `json:"authorizers,omitempty"`
	Deployments     []*Deployment     `json:"deployments,omitempty"`
	Integrations    []*Integration    `json:"integrations,omitempty"`
	Routes          []*Route          `json:"routes,omitempty"`
	Stages          []*Stage          `json:"stages,omitempty"`
}

// State returns a copy of everything the cloud holds.
func (s *Server) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out State
	if err := json.Unmarshal(s.encodeState(), &out); err != nil {
		panic(fmt.Sprintf("awssim: copy state: %v", err)) // State is plain data; this cannot happen
	}
	return out
}

func (s *Server) encodeState() []byte {
	b, err := json.Marshal(s.state)
	if err != nil {
		panic(fmt.Sprintf("awssim: encode state: %v", err)) // State is plain data; this cannot happen
	}
	return b
}

// save writes the state file, if one is configured.
func (s *Server) save() {
	if s.states.path != "" {
		s.keep(s.states.save(s.encodeState()))
	}
}

func (s *Server) keep(err error) {
	if s.saveErr == nil {
		s.saveErr = err
	}
}

// stateFiles is the state's file and, beside it, the log's: one JSON value per line, where the last line with an N counts.
type stateFiles struct{ path string }

type savedState struct {
	Version int             `json:"version"`
	State   json.RawMessage `json:"state"`
}

func (f stateFiles) logPath() string { return f.path + ".log" }

func (f stateFiles) load() (State, []Request, error) {
	if f.path == "" {
		return State{}, nil, nil
	}
	raw, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil, nil
	}
	if err != nil {
		return State{}, nil, fmt.Errorf("read state: %w", err)
	}
	var saved savedState
	if err := json.Unmarshal(raw, &saved); err != nil {
		return State{}, nil, fmt.Errorf("read state %s: %w", f.path, err)
	}
	if saved.Version != stateVersion {
		return State{}, nil, fmt.Errorf("read state %s: version %d, want %d; start with another file", f.path, saved.Version, stateVersion)
	}
	var state State
	if err := json.Unmarshal(saved.State, &state); err != nil {
		return State{}, nil, fmt.Errorf("read state %s: %w", f.path, err)
	}
	log, err := f.loadLog()
	return state, log, err
}

func (f stateFiles) loadLog() ([]Request, error) {
	raw, err := os.ReadFile(f.logPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	var log []Request
	r := bufio.NewReader(bytes.NewReader(raw))
	for line := 1; ; line++ {
		text, err := r.ReadBytes('\n')
		if err != nil {
			return log, nil // the end, or a last line that was cut off while it was written
		}
		var e Request
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("read log %s:%d: %w", f.logPath(), line, err)
		}
		switch {
		case e.N == len(log)+1:
			log = append(log, e)
		case e.N >= 1 && e.N <= len(log):
			log[e.N-1] = e
		default:
			return nil, fmt.Errorf("read log %s:%d: request %d follows %d", f.logPath(), line, e.N, len(log))
		}
	}
}

// save replaces the state file in one step.
func (f stateFiles) save(state []byte) error {
	raw, err := json.Marshal(savedState{Version: stateVersion, State: state})
	if err != nil {
		return fmt.Errorf("save state: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(f.path), filepath.Base(f.path)+".*.tmp") // mode 0600
	if err != nil {
		return fmt.Errorf("save state: %w", err)
	}
	_, err = tmp.Write(raw)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), f.path)
	}
	if err != nil {
		return fmt.Errorf("save state: %w", errors.Join(err, os.Remove(tmp.Name())))
	}
	return nil
}

func (f stateFiles) appendLog(e Request) error {
	if f.path == "" {
		return nil
	}
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("save log: %w", err)
	}
	file, err := os.OpenFile(f.logPath(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("save log: %w", err)
	}
	_, err = file.Write(append(line, '\n'))
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("save log: %w", err)
	}
	return nil
}

func (f stateFiles) dropLog() error {
	if f.path == "" {
		return nil
	}
	if err := os.Remove(f.logPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drop log: %w", err)
	}
	return nil
}
