package deploy_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
	"reclaim/engine/template"
	"reclaim/engine/value"
)

// office is a service of a Token type: tickets, whose IDs it assigns and which carry no tags. It remembers tokens for an
// hour and says what became of a request. Its clock is the world's.
type office struct {
	clock *jumpClock

	mu       sync.Mutex
	tickets  map[string]ticket
	requests map[string]*request // by token
	sent     []string            // tokens, in the order of creates that arrived
	next     func(*request) error
}

type ticket struct {
	params value.Map
	at     time.Time
}

type request struct {
	digest string
	id     string
	at     time.Time
	state  recovery.RequestState
}

const tokenLife = time.Hour

var ticketSchema = &resource.Schema{
	Type: "Test::Ticket", Identity: resource.Token, Key: []string{"Id"}, Ref: "Id",
	Params:  []resource.Field{{Name: "Title", Type: resource.TString, Mode: resource.Mutable, Required: true}},
	Outputs: []resource.Output{{Name: "Id"}},
	Window:  10 * time.Second, TokenLife: tokenLife,
	Deadlines: resource.Deadlines{Call: 10 * time.Second, Settle: time.Minute, Delete: time.Minute},
}

func (o *office) Schema() *resource.Schema { return ticketSchema }

func (o *office) Read(_ context.Context, key resource.Key) (*resource.Observation, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t, ok := o.tickets[key["Id"]]
	if !ok {
		return nil, &resource.Error{Kind: resource.NotFound, Op: "GetTicket", Executed: resource.No, ServedAt: o.clock.Now(), Err: errors.New("no such ticket")}
	}
	return &resource.Observation{Key: key, Params: t.params, Output: value.Map{"Id": value.Of(key["Id"])},
		Identity: resource.Identity{UniqueID: key["Id"]}, CreatedAt: t.at, ServedAt: o.clock.Now(), Ready: true}, nil
}

// Create answers the first object for as long as its token is remembered, and refuses other params under it.
func (o *office) Create(_ context.Context, c resource.Create) (resource.Created, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent = append(o.sent, c.Token)
	now, digest := o.clock.Now(), fmt.Sprintf("%x", value.DigestMap(c.Params))
	r := o.requests[c.Token]
	if r != nil && now.Sub(r.at) >= tokenLife {
		r = nil
	}
	if r != nil && r.digest != digest {
		return resource.Created{}, &resource.Error{Kind: resource.Rejected, Code: "ClientTokenConflict", Executed: resource.No, Err: errors.New("other params under this token")}
	}
	if r == nil {
		r = &request{digest: digest, at: now}
		o.requests[c.Token] = r
		if next := o.next; next != nil {
			o.next = nil
			if err := next(r); r.id == "" {
				return resource.Created{}, err
			} else if err != nil {
				o.tickets[r.id] = ticket{c.Params, now}
				return resource.Created{}, err
			}
		}
	}
	if r.id == "" {
		r.id = fmt.Sprintf("t-%d", len(o.tickets)+1)
		o.tickets[r.id] = ticket{c.Params, now}
	}
	return resource.Created{Key: resource.Key{"Id": r.id}, Identity: resource.Identity{UniqueID: r.id}, Output: value.Map{"Id": value.Of(r.id)}, ServedAt: now}, nil
}

// Request implements recovery.Requester.
func (o *office) Request(_ context.Context, token string) (recovery.RequestState, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r := o.requests[token]; r != nil {
		return r.state, nil
	}
	return recovery.RequestUnknown, nil
}

func (o *office) Sync(c resource.Change) ([]resource.Call, error) {
	if !slices.Contains(c.Write, "Title") {
		return nil, nil
	}
	return []resource.Call{{Name: "UpdateTicket", Params: []string{"Title"}, Run: func(context.Context) error {
		o.mu.Lock()
		defer o.mu.Unlock()
		t := o.tickets[c.Key["Id"]]
		t.params = t.params.With("Title", c.Desired["Title"])
		o.tickets[c.Key["Id"]] = t
		return nil
	}}}, nil
}

func (o *office) Unmake(resource.Delete, *resource.Observation) ([]resource.Call, error) {
	return nil, nil
}

func (o *office) Delete(_ context.Context, d resource.Delete) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.tickets, d.Key["Id"])
	return nil
}

// lost is what a caller sees of a request that got no answer.
var lost = &resource.Error{Kind: resource.Uncertain, Op: "CreateTicket", Executed: resource.Perhaps, Err: errors.New("connection reset")}

// officeCloud serves tickets, in the world's scope.
type officeCloud struct {
	resource.Cloud
	*office
}

func (c officeCloud) Provider(typ string) (resource.Provider, bool) {
	if typ == ticketSchema.Type {
		return c.office, true
	}
	return c.Cloud.Provider(typ)
}

// withOffice gives a world the Token type.
func withOffice(t *testing.T) (*world, *office) {
	w := newWorld(t)
	o := &office{clock: w.clock, tickets: map[string]ticket{}, requests: map[string]*request{}}
	w.cloud = officeCloud{w.cloud, o}
	return w, o
}

// bindTicket is a stack of one ticket.
func (w *world) bindTicket(title string) *template.Graph {
	w.t.Helper()
	t, err := template.Parse("stack.yaml", []byte("Resources:\n  Ticket:\n    Type: Test::Ticket\n    Properties: {Title: "+title+"}\n"))
	must(w.t, err)
	g, err := t.Bind(template.Binding{Stack: w.stack.Name, Scope: w.stack.Scope, Base: w.dir, Schemas: func(string) (*resource.Schema, bool) { return ticketSchema, true }})
	must(w.t, err)
	return g
}

func (w *world) deployTicket(title string) deploy.Outcome {
	w.t.Helper()
	g := w.bindTicket(title)
	p := w.plan(g)
	return w.run(deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p)})
}

// crashed leaves a record as a process leaves it that was killed while its create was under way: what the office did with
// the request stands, and no outcome is recorded.
func (w *world) crashedTicket(o *office, executed bool) {
	w.t.Helper()
	o.next = func(r *request) error {
		if executed {
			r.id = "t-1"
		} else {
			delete(o.requests, o.sent[len(o.sent)-1])
		}
		return lost
	}
	h := &halted{Store: w.store}
	e := w.env()
	e.Store = h
	g := w.bindTicket("first")
	p := w.plan(g)
	_, err := deploy.Run(w.t.Context(), e, deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p)})
	_ = err // a run that cannot write ends somehow; what counts is what is left
	if r := w.records()["Ticket"]; r.Status != record.Creating || r.Intent.Last().Outcome != record.Going {
		w.t.Errorf("left at %s, %+v", r.Status, r.Intent.Last())
	}
}

// halted is a store that takes what comes before and with the first attempt, and nothing after.
type halted struct {
	record.Store
	mu   sync.Mutex
	sent bool
}

func (h *halted) Write(ctx context.Context, f record.Fence, fn func(record.Tx) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sent {
		return errors.New("killed")
	}
	err := h.Store.Write(ctx, f, fn)
	_ = h.Store.Read(ctx, func(v record.View) error {
		list, _, err := v.Records(f.Stack)
		h.sent = slices.ContainsFunc(list, func(r record.Record) bool { return r.Intent.Last() != nil })
		return err
	})
	return err
}

// S11: row 13. The identical request under the same token gives the first object, whether or not it was carried out; a
// changed config waits until that is known, and is an update then.
func TestATokenIsReplayedWithTheIdenticalRequestOnly(t *testing.T) {
	for why, c := range map[string]struct {
		executed bool
		title    string
		after    time.Duration
		want     string // row, once the window has passed
		tokens   int    // different ones that were sent
		tickets  int
		result   event.Result
	}{
		"carried out, config the same":     {true, "first", time.Minute, "13", 1, 1, event.Done},
		"not carried out, config the same": {false, "first", time.Minute, "13", 1, 1, event.Done},
		"carried out, config changed":      {true, "second", time.Minute, "13", 1, 1, event.Done},
		"not carried out, config changed":  {false, "second", time.Minute, "13", 1, 1, event.Done},
		"the token has expired":            {true, "first", 2 * time.Hour, "14", 1, 1, event.Unsure},
	} {
		t.Run(why, func(t *testing.T) {
			w, o := withOffice(t)
			w.crashedTicket(o, c.executed)
			must(t, w.clock.Sleep(t.Context(), c.after))
			if f := w.findings()["Ticket"]; f.Row != c.want {
				t.Fatalf("row %s, want %s: %s", f.Row, c.want, f.Summary)
			}
			w.recover(deploy.RecoverRequest{TakeHold: w.heldBy()})
			out := w.deployTicket(c.title)
			if got := result(out, "Ticket"); got != c.result {
				t.Errorf("%s: %s", got, reason(out, "Ticket"))
			}
			if n := len(slices.Compact(slices.Sorted(slices.Values(o.sent)))); n != c.tokens || len(o.tickets) != c.tickets {
				t.Errorf("%d tokens sent (%s) and %d tickets there, want %d and %d", n, strings.Join(o.sent, " "), len(o.tickets), c.tokens, c.tickets)
			}
			if c.result != event.Done {
				return
			}
			for id, made := range o.tickets {
				if made.params.Text("Title") != c.title {
					t.Errorf("%s is %v", id, made.params)
				}
			}
			if it := w.plan(w.bindTicket(c.title)).Item("Ticket", 0); it.Action != plan.Noop {
				t.Errorf("the next plan: %s %s", it.Action, it.Detail)
			}
		})
	}
}

// S11: a definite failure ends the token; the service is asked for its own word on the request before anything is sent.
func TestAFailedRequestEndsItsToken(t *testing.T) {
	for why, c := range map[string]struct {
		state recovery.RequestState
		row   string
	}{
		"it says the request failed":        {recovery.RequestFailed, "8"},
		"it says the request still runs on": {recovery.RequestRunning, "10"},
	} {
		t.Run(why, func(t *testing.T) {
			w, o := withOffice(t)
			w.crashedTicket(o, false)
			o.requests[o.sent[0]] = &request{digest: "x", at: w.clock.Now(), state: c.state}
			must(t, w.clock.Sleep(t.Context(), time.Minute))
			if f := w.findings()["Ticket"]; f.Row != c.row {
				t.Fatalf("row %s, want %s: %s", f.Row, c.row, f.Summary)
			}
			if c.state == recovery.RequestRunning {
				return
			}
			w.recover(deploy.RecoverRequest{TakeHold: w.heldBy()})
			w.deployTicket("first")
			if len(o.sent) != 2 || o.sent[0] == o.sent[1] || len(o.tickets) != 1 {
				t.Errorf("tokens %v, %d tickets: want a second token and one ticket", o.sent, len(o.tickets))
			}
		})
	}
}

// heldBy is the execution that a killed run left holding the stack.
func (w *world) heldBy() string {
	w.t.Helper()
	var held string
	must(w.t, w.store.Read(w.t.Context(), func(v record.View) error {
		h, _, err := v.Hold(w.stack)
		held = h.Execution
		return err
	}))
	return held
}
