// Package providertest is the conformance suite of resource.Provider.
//
// Its one rule: a claim is proved from what the service holds, or from what it was sent, and never from the answer of
// the call that is under test. Every claim would fail against a service that does nothing.
package providertest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// Case is one type on one backend.
type Case struct {
	Name     string // of the backend and variant: "awssim", "awssim websocket"
	Provider resource.Provider

	// Sample returns the params of the n-th object: every param that this variant of the type can have, none at the
	// service's default, names distinct by n.
	Sample func(n int) value.Map
	// Changed holds another value for each mutable param.
	Changed value.Map
	// Stranger holds, for each shared collection, one member that somebody else added.
	Stranger value.Map
	// Together lists params that the service takes in one call.
	Together []string
	// FilledIn holds what the service fills in for params whose default the schema cannot know, because it depends on others.
	FilledIn value.Map
	// With holds, by param, others that have to change with it, because neither is valid without the other; an absent value
	// takes one away. Instead holds the same for a param that is taken away; where it is nil, With counts then too.
	With, Instead map[string]value.Map
	// Needs names params that this variant of the type cannot be without, though the type can, with the reason: none is taken
	// away.
	Needs map[string]string
	// Keeps names params that the service cannot take away once they are set, with the reason: leaving one out leads to no
	// call, and it stays.
	Keeps map[string]string
	// Missing names outputs that this variant does not have, with the reason.
	Missing map[string]string
	// Absent is a key at which nothing is.
	Absent resource.Key

	CreateOp string            // the operation that creates
	DeleteOp string            // the operation that deletes
	ReadOp   string            // the operation that reads the object itself
	Parts    map[string]string // operations that read a part: to the param that becomes a gap when it is denied
	ListOp   string            // the operation that Find pages through; "" when the type has no Finder
	Page     int               // objects on one of its pages
	Busy     string            // code by which DeleteOp says that another change is under way; "" when it never does

	Log   func() []Sent         // what the service was sent; nil when it keeps no log
	Break func(op, kind string) // arms a fault for the next call of op; nil when the service has none

	// Disagrees names claims that this backend is known to break, with the reason; they are skipped by name.
	Disagrees map[string]string
	// Unsent names params whose values do not leave this machine as they are written, with the reason.
	Unsent map[string]string
	// Lacks names params that this backend does not keep, with the reason; they are left out of every sample.
	Lacks map[string]string

	next int // number of the next object
}

// Sent is one request as the service saw it.
type Sent struct {
	Operation string
	Changing  bool
	Params    string // JSON of the members as sent
}

// Faults that Break knows.
const (
	Denied     = "denied"
	Throttled  = "throttled"
	Expired    = "expired"
	Malformed  = "malformed"
	Unanswered = "executed-unanswered"
	ServerFail = "error"
	Lag        = "lag" // of a create: reads do not see the new object
)

// tags are the ownership tags of the n-th object.
func tags(n int) resource.Tags {
	id := string(rune('a' + n%26))
	return resource.Tags{
		resource.TagStore: "store-1", resource.TagStack: "stack-1",
		resource.TagResource: "Thing" + id + strings.Repeat("x", n/26), resource.TagNonce: nonce(n),
	}
}

func nonce(n int) string { return "nonce-" + strings.Repeat("n", n+1) }

// object is one that the suite made.
type object struct {
	n      int
	key    resource.Key
	params value.Map
	made   resource.Created
}

// sample returns the params of an object that was never made before, without what the backend lacks.
func (c *Case) sample(t *testing.T) (n int, params value.Map) {
	t.Helper()
	n = c.next
	c.next++
	return n, c.expand(t, c.Sample(n).Without(slices.Collect(maps.Keys(c.Lacks))...))
}

// create makes a new object, half made: with only what its create carries.
func (c *Case) create(t *testing.T) object {
	t.Helper()
	return c.createTagged(t, nil)
}

// createTagged is create with ownership tags that differ.
func (c *Case) createTagged(t *testing.T, differ resource.Tags) object {
	t.Helper()
	n, params := c.sample(t)
	owned := c.owned(n)
	maps.Copy(owned, differ)
	key := c.keyOf(params)
	made, err := c.Provider.Create(t.Context(), resource.Create{Key: key, Params: params, Tags: owned})
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	t.Cleanup(func() { c.remove(made.Key) })
	c.settle(t, made.Key)
	return object{n: n, key: made.Key, params: params, made: made}
}

// settle reads until the object is ready, as the engine does after its changing calls, where the service goes on working.
func (c *Case) settle(t *testing.T, key resource.Key) {
	t.Helper()
	if !c.Provider.Schema().Settles {
		return
	}
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		o := c.read(t, key)
		if o.Ready {
			return
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("%v is not ready after a minute: %s", key, o.NotReady)
		}
	}
}

// owned returns the ownership tags of a taggable type.
func (c *Case) owned(n int) resource.Tags {
	if !c.Provider.Schema().Taggable() {
		return nil
	}
	return tags(n)
}

func (c *Case) expand(t *testing.T, params value.Map) value.Map {
	t.Helper()
	e, ok := c.Provider.(resource.Expander)
	if !ok {
		return params
	}
	out, err := e.Expand(t.Context(), params)
	if err != nil {
		t.Fatalf("expand params: %v", err)
	}
	return out
}

func (c *Case) keyOf(params value.Map) resource.Key {
	if !c.Provider.Schema().KeyByParams() {
		return resource.Key{}
	}
	key, _ := c.Provider.Schema().KeyOf(params, c.Absent["Machine"])
	return key
}

// make creates a new object, whole.
func (c *Case) make(t *testing.T) object {
	t.Helper()
	o := c.create(t)
	c.sync(t, o.key, o.params, nil, o.made.Unsent...)
	return o
}

// with returns params with one of them set to v, and with what must change along.
func (c *Case) with(t *testing.T, params value.Map, name string, v value.Value) value.Map {
	t.Helper()
	params = params.With(name, v)
	for along, v := range c.along(name, v) {
		params = params.With(along, v)
	}
	return c.expand(t, params)
}

// along are the params that change when the named one becomes v.
func (c *Case) along(name string, v value.Value) value.Map {
	if !v.IsSet() && c.Instead != nil {
		return c.Instead[name]
	}
	return c.With[name]
}

// sync writes params as desired and returns the names of the calls.
func (c *Case) sync(t *testing.T, key resource.Key, desired, recorded value.Map, write ...string) []string {
	t.Helper()
	calls, err := c.Provider.Sync(resource.Change{Key: key, Desired: desired, Recorded: recorded, Observed: c.read(t, key), Write: write})
	if err != nil {
		t.Fatalf("sync %v: %v", write, err)
	}
	var names []string
	for _, call := range calls {
		for _, param := range call.Params {
			if !slices.Contains(write, param) && !slices.Contains(c.Together, param) {
				t.Errorf("call %s carries %s, which was not to be written", call.Name, param)
			}
		}
		if err := call.Run(t.Context()); err != nil {
			t.Fatalf("run %s: %v", call.Name, err)
		}
		names = append(names, call.Name)
		c.settle(t, key)
	}
	return names
}

func (c *Case) read(t *testing.T, key resource.Key) *resource.Observation {
	t.Helper()
	o, err := c.Provider.Read(t.Context(), key)
	if err != nil {
		t.Fatalf("read %v: %v", key, err)
	}
	return o
}

// delete deletes the object at key as it is there now, its own parts first.
func (c *Case) delete(t *testing.T, key resource.Key, recorded value.Map) error {
	t.Helper()
	o := c.read(t, key)
	d := resource.Delete{Key: key, Expect: o.Identity, Nonce: o.Owner[resource.TagNonce], Recorded: recorded, Consent: true}
	calls, err := c.Provider.Unmake(d, o)
	if err != nil {
		t.Fatalf("unmake: %v", err)
	}
	for _, call := range calls {
		if err := call.Run(t.Context()); err != nil {
			t.Fatalf("run %s: %v", call.Name, err)
		}
	}
	return c.Provider.Delete(t.Context(), d)
}

// remove cleans up, as far as the provider can: what a claim left on purpose goes with its backend.
func (c *Case) remove(key resource.Key) {
	ctx := context.Background() // the test's own has ended when cleanups run
	o, err := c.Provider.Read(ctx, key)
	if err != nil {
		return
	}
	d := resource.Delete{Key: key, Expect: o.Identity, Nonce: o.Owner[resource.TagNonce], Recorded: o.Params, Consent: true}
	calls, _ := c.Provider.Unmake(d, o)
	for _, call := range calls {
		_ = call.Run(ctx)
	}
	_ = c.Provider.Delete(ctx, d)
}

// gone waits until nothing is at key, as the engine does after a delete, and reports whether that was reached.
func (c *Case) gone(t *testing.T, key resource.Key) bool {
	t.Helper()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		_, err := c.Provider.Read(t.Context(), key)
		if resource.Is(err, resource.NotFound) || !c.Provider.Schema().Settles || time.Since(began) > time.Minute {
			return resource.Is(err, resource.NotFound)
		}
	}
}

// same reports whether two params mean the same by their schema, and nothing more lenient than that.
func same(f *resource.Field, a, b value.Value) bool {
	return value.Equal(canonical(f, a), canonical(f, b))
}

// canonical orders what has no order and parses what is a document.
func canonical(f *resource.Field, v value.Value) value.Value {
	if f == nil {
		return v
	}
	switch {
	case f.Type == resource.TJSON && v.Kind() == value.String:
		if doc, err := value.ParseJSON([]byte(v.Reveal())); err == nil {
			return doc
		}
	case f.Type == resource.TObject && v.Kind() == value.Object:
		m := value.Map{}
		for name, e := range v.Fields() {
			m[name] = canonical(f.Lookup(name), e)
		}
		return value.OfMap(m)
	case f.Type == resource.TList && v.Kind() == value.List:
		items := make([]value.Value, 0, len(v.Items()))
		for _, e := range v.Items() {
			items = append(items, canonical(f.Elem, e))
		}
		if f.Set || f.ItemKey != "" {
			slices.SortFunc(items, func(x, y value.Value) int { return strings.Compare(x.String(), y.String()) })
		}
		return value.ListOf(items...)
	}
	if f.Type == resource.TString && f.Equal == resource.FoldCase && v.Kind() == value.String {
		return value.Of(strings.ToLower(v.Reveal()))
	}
	return v
}
