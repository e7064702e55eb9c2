package deploy_test

import (
	"context"
	"sync"
	"time"

	"reclaim/engine/deploy"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/providers/awssim"
	"reclaim/store"
)

// hookedCloud is the world's cloud with something said or done at its edges.
type hookedCloud struct {
	resource.Cloud
	verify   func() (resource.Scope, error)          // instead of asking; nil: ask
	changing func(typ, call string) (stop error)     // before each changing call, Sync's too; nil: nothing
	answered func(typ, call string, err error) error // after each: what the engine gets to see; nil: the truth
	now      func() time.Time                        // the clock of local types, which otherwise is the machine's; nil: that
}

func (c *hookedCloud) Verify(ctx context.Context) (resource.Scope, error) {
	if c.verify != nil {
		return c.verify()
	}
	return c.Cloud.Verify(ctx)
}

func (c *hookedCloud) Provider(typ string) (resource.Provider, bool) {
	p, ok := c.Cloud.Provider(typ)
	if !ok {
		return nil, false
	}
	h := hookedProvider{p, c}
	f, finds := p.(resource.Finder)
	e, expands := p.(resource.Expander)
	switch {
	case finds && expands:
		return findingExpanding{h, f, e}, true
	case finds:
		return finding{h, f}, true
	case expands:
		return expanding{h, e}, true
	}
	return h, true
}

type hookedProvider struct {
	resource.Provider
	c *hookedCloud
}

type finding struct {
	hookedProvider
	resource.Finder
}

type expanding struct {
	hookedProvider
	resource.Expander
}

type findingExpanding struct {
	hookedProvider
	resource.Finder
	resource.Expander
}

func (p hookedProvider) before(call string) error {
	if p.c.changing == nil {
		return nil
	}
	return p.c.changing(p.Schema().Type, call)
}

func (p hookedProvider) Read(ctx context.Context, key resource.Key) (*resource.Observation, error) {
	obs, err := p.Provider.Read(ctx, key)
	if err == nil && p.c.now != nil && p.Schema().Local {
		obs.ServedAt = p.c.now()
	}
	return obs, err
}

func (p hookedProvider) after(call string, err error) error {
	if p.c.answered == nil {
		return err
	}
	return p.c.answered(p.Schema().Type, call, err)
}

func (p hookedProvider) Create(ctx context.Context, c resource.Create) (resource.Created, error) {
	if err := p.before("create"); err != nil {
		return resource.Created{}, err
	}
	out, err := p.Provider.Create(ctx, c)
	if err = p.after("create", err); err != nil {
		return resource.Created{}, err
	}
	return out, nil
}

func (p hookedProvider) Sync(c resource.Change) ([]resource.Call, error) {
	calls, err := p.Provider.Sync(c)
	return p.hook(calls), err
}

func (p hookedProvider) Unmake(d resource.Delete, obs *resource.Observation) ([]resource.Call, error) {
	calls, err := p.Provider.Unmake(d, obs)
	return p.hook(calls), err
}

func (p hookedProvider) hook(calls []resource.Call) []resource.Call {
	for i := range calls {
		run, name := calls[i].Run, calls[i].Name
		calls[i].Run = func(ctx context.Context) error {
			if err := p.before(name); err != nil {
				return err
			}
			return p.after(name, run(ctx))
		}
	}
	return calls
}

func (p hookedProvider) Delete(ctx context.Context, d resource.Delete) error {
	if err := p.before("delete"); err != nil {
		return err
	}
	return p.after("delete", p.Provider.Delete(ctx, d))
}

// hook puts hooks around the world's cloud for the rest of the test.
func (w *world) hook() *hookedCloud {
	h := &hookedCloud{Cloud: w.cloud}
	w.cloud = h
	return h
}

// failingStore refuses every write once it is told to.
type failingStore struct {
	*store.Store
	mu  sync.Mutex
	err error
}

func (s *failingStore) fails(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *failingStore) Write(ctx context.Context, f record.Fence, fn func(record.Tx) error) error {
	s.mu.Lock()
	err := s.err
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return s.Store.Write(ctx, f, fn)
}

// tamper changes records behind the engine's back, as an older version or a crash could have left them.
func (w *world) tamper(change func(*record.Record)) {
	w.t.Helper()
	hold, err := w.store.Acquire(w.t.Context(), record.Hold{Stack: w.stack, Execution: deploy.NewExecution(), Verb: "tamper", Owner: store.Owner()})
	must(w.t, err)
	fence := record.Fence{Stack: w.stack, Execution: hold.Execution, Epoch: hold.Epoch}
	must(w.t, w.store.Write(w.t.Context(), fence, func(tx record.Tx) error {
		list, _, err := tx.Records(w.stack)
		if err != nil {
			return err
		}
		for i := range list {
			change(&list[i])
			if err := tx.PutRecord(&list[i], record.Step{Name: "tamper"}); err != nil {
				return err
			}
		}
		return nil
	}))
	must(w.t, w.store.Release(w.t.Context(), fence, record.Execution{ID: hold.Execution, Stack: w.stack, Verb: "tamper"}))
}

func (w *world) state() plan.State {
	w.t.Helper()
	s, err := plan.ReadState(w.t.Context(), w.store, w.stack)
	must(w.t, err)
	return s
}

// stranger acts in the cloud as somebody else.
func (w *world) stranger(op string, params map[string]any) {
	w.t.Helper()
	must(w.t, w.sim.Do(awssim.Action{Op: op, Region: "eu-west-1", Params: params}))
}

func (w *world) planDestroy() *plan.Plan {
	w.t.Helper()
	p, err := plan.MakeDestroy(w.t.Context(), w.planEnv(), w.stack)
	must(w.t, err)
	return p
}

// elapse lets every consistency window and deadline pass.
func (w *world) elapse() {
	w.t.Helper()
	must(w.t, w.clock.Sleep(w.t.Context(), 20*time.Minute))
}
