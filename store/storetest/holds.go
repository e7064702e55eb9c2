package storetest

import (
	"errors"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/record"
	"reclaim/engine/value"
)

// holds are claims about the exclusive right to change a stack (SAFETY S33).
var holds = map[string]func(*fixture){
	"a held stack refuses a second hold and says who has it": func(f *fixture) {
		f.acquire(orders, "x1")
		_, err := f.other().Acquire(ctx, hold(orders, "x2"))
		var held *record.HeldError
		if !errors.As(err, &held) {
			f.Fatalf("got %v, want a HeldError", err)
		}
		want := hold(orders, "x1")
		want.Epoch = held.Hold.Epoch
		if d := cmp.Diff(want, held.Hold); d != "" {
			f.Error(d)
		}
	},
	"the same name in another scope is another stack": func(f *fixture) { // S1
		f.acquire(orders, "x1")
		f.acquire(abroad, "x2")
		if h, _ := f.holder(abroad); h.Execution != "x2" {
			f.Errorf("abroad is held by %q", h.Execution)
		}
	},
	"every acquisition raises the epoch, after a release, a clear and in another process too": func(f *fixture) {
		var last uint64
		next := func(h record.Hold, err error) record.Hold {
			f.Helper()
			f.must(err)
			if h.Epoch <= last {
				f.Errorf("epoch %d after %d", h.Epoch, last)
			}
			last = h.Epoch
			return h
		}
		h := next(f.s.Acquire(ctx, hold(orders, "x1")))
		f.must(f.s.Release(ctx, record.Fence{Stack: orders, Execution: "x1", Epoch: h.Epoch}, execution("x1")))
		next(f.other().Acquire(ctx, hold(orders, "x2")))
		f.must(f.s.ClearHold(ctx, orders, "x2"))
		next(f.s.Acquire(ctx, hold(orders, "x3")))
		next(f.s.Take(ctx, "x3", hold(orders, "x3")))
	},
	"a hold is taken only from the execution that is named": func(f *fixture) {
		f.acquire(orders, "x1")
		_, err := f.s.Take(ctx, "x0", hold(orders, "x2"))
		var held *record.HeldError
		if !errors.As(err, &held) || held.Hold.Execution != "x1" {
			f.Fatalf("got %v, want a HeldError that names x1", err)
		}
		if h, _ := f.holder(orders); h.Execution != "x1" {
			f.Errorf("the hold is now %q's", h.Execution)
		}
	},
	"a taken hold keeps the former one, and not the one before": func(f *fixture) {
		f.acquire(orders, "x1")
		_, err := f.s.Take(ctx, "x1", hold(orders, "x2"))
		f.must(err)
		_, err = f.s.Take(ctx, "x2", hold(orders, "x3"))
		f.must(err)
		h, _ := f.holder(orders)
		if h.Execution != "x3" || h.Taken == nil || h.Taken.Execution != "x2" || h.Taken.Taken != nil {
			f.Errorf("got %+v", h)
		}
	},
	"what nobody holds can be neither taken nor cleared": func(f *fixture) {
		_, err := f.s.Take(ctx, "x1", hold(orders, "x2"))
		f.refused(err, record.ErrNoHold)
		f.refused(f.s.ClearHold(ctx, orders, "x1"), record.ErrNoHold)
	},
	"clearing names the execution, so that a newer hold is not cleared": func(f *fixture) {
		f.acquire(orders, "x2")
		var held *record.HeldError
		if err := f.s.ClearHold(ctx, orders, "x1"); !errors.As(err, &held) || held.Hold.Execution != "x2" {
			f.Errorf("got %v, want a HeldError that names x2", err)
		}
		if _, found := f.holder(orders); !found {
			f.Error("the hold is gone")
		}
	},
	"a release ends the hold and leaves the summary": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		f.must(f.s.Release(ctx, fence, execution("x1")))
		if _, found := f.holder(orders); found {
			f.Error("the hold is still there")
		}
		f.view(func(v record.View) error {
			got, err := v.Executions(orders)
			if d := cmp.Diff([]record.Execution{execution("x1")}, got); d != "" {
				f.Error(d)
			}
			return err
		})
	},
	"an execution is known from its hold on, and what became of it": func(f *fixture) {
		want := func(what string, want ...record.Execution) {
			f.Helper()
			f.view(func(v record.View) error {
				got, err := v.Executions(orders)
				if d := cmp.Diff(want, got); d != "" {
					f.Errorf("%s: %s", what, d)
				}
				return err
			})
		}
		h := hold(orders, "x1")
		h.Verb, h.Of = "rollback", "x0"
		fence, err := f.s.Acquire(ctx, h)
		f.must(err)
		begun := h.Begun()
		want("while it runs", begun)
		later := hold(orders, "x2")
		later.Since = now.Add(1)
		_, err = f.s.Take(ctx, fence.Execution, later)
		f.must(err)
		begun.Result = "its hold was taken by x2 (deploy)"
		want("after its hold was taken", begun, later.Begun())
		f.must(f.s.ClearHold(ctx, orders, "x2"))
		cleared := later.Begun()
		cleared.Result = "its hold was cleared"
		want("after that was cleared", begun, cleared)
	},
	"a release keeps counts and outputs": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		e := execution("x1")
		e.Exit, e.Counts = 4, map[string]int{"blocked": 1}
		e.Outputs = []record.Output{{Name: "Url", Value: value.Of("https://example.com"), Description: "where"}}
		f.must(f.s.Release(ctx, fence, e))
		f.view(func(v record.View) error {
			got, err := v.Executions(orders)
			if d := cmp.Diff([]record.Execution{e}, got); d != "" {
				f.Error(d)
			}
			return err
		})
	},
	"a hold outlives the process that made it": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		h, found := f.holder(orders)
		if !found || h.Execution != fence.Execution || h.Epoch != fence.Epoch {
			f.Errorf("another process sees %+v, %v", h, found)
		}
	},
}

func execution(id string) record.Execution {
	return record.Execution{ID: id, Stack: orders, Verb: "deploy", Began: now, Ended: now.Add(1), Result: "done"}
}

// fences are claims about transactions whose hold is gone (SAFETY S33, S34).
var fences = map[string]func(*fixture){
	"nothing is written without a hold": func(f *fixture) {
		r := role(orders, "A", 1, "")
		f.refused(f.put(record.Fence{Stack: orders, Execution: "x1", Epoch: 1}, &r), record.ErrStale)
		if got := f.records(orders); got != nil {
			f.Errorf("got %v", got)
		}
	},
	"a holder whose hold was taken writes nothing of any kind": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		r := role(orders, "A", 1, "k")
		f.must(f.put(fence, &r))
		_, err := f.other().Take(ctx, "x1", hold(orders, "x2"))
		f.must(err)
		before := f.steps(orders, 0, 0)
		for name, write := range map[string]func(record.Tx) error{
			"record":    func(t record.Tx) error { return t.PutRecord(&r, record.Step{Name: "s"}) },
			"drop":      func(t record.Tx) error { return t.DropRecord(&r, nil, record.Step{Name: "s"}) },
			"step":      func(t record.Tx) error { _, err := t.PutStep(record.Step{Name: "s"}); return err },
			"decision":  func(t record.Tx) error { return t.PutDecision(record.Decision{Stack: orders, ID: "A", Gen: 1}) },
			"execution": func(t record.Tx) error { return t.PutExecution(execution("x1")) },
			"nothing":   func(record.Tx) error { return nil },
		} {
			if err := f.s.Write(ctx, fence, write); !errors.Is(err, record.ErrStale) {
				f.Errorf("%s: got %v, want ErrStale", name, err)
			}
		}
		if d := cmp.Diff(before, f.steps(orders, 0, 0)); d != "" {
			f.Error(d)
		}
	},
	"an old epoch of the same execution does not hold": func(f *fixture) {
		old := f.acquire(orders, "x1")
		_, err := f.s.Take(ctx, "x1", hold(orders, "x1"))
		f.must(err)
		r := role(orders, "A", 1, "")
		f.refused(f.put(old, &r), record.ErrStale)
	},
	"a cleared hold is lost for good": func(f *fixture) {
		old := f.acquire(orders, "x1")
		f.must(f.s.ClearHold(ctx, orders, "x1"))
		r := role(orders, "A", 1, "")
		f.refused(f.put(old, &r), record.ErrStale)
		f.acquire(orders, "x1")
		f.refused(f.put(old, &r), record.ErrStale)
	},
	"a release under a lost hold leaves the new one": func(f *fixture) {
		old := f.acquire(orders, "x1")
		_, err := f.s.Take(ctx, "x1", hold(orders, "x2"))
		f.must(err)
		f.refused(f.s.Release(ctx, old, execution("x1")), record.ErrStale)
		if h, _ := f.holder(orders); h.Execution != "x2" {
			f.Errorf("the hold is %q's", h.Execution)
		}
	},
	"what a stale holder learned is kept as evidence": func(f *fixture) { // S34
		f.acquire(orders, "x1")
		_, err := f.other().Take(ctx, "x1", hold(orders, "x2"))
		f.must(err)
		for _, id := range []string{"B", "A"} {
			f.must(f.s.AddEvidence(ctx, record.Evidence{At: now, Stack: orders, ID: id, Gen: 1, Nonce: "n", Execution: "x1",
				Epoch: 1, Source: "stale holder"}))
		}
		f.view(func(v record.View) error {
			got, err := v.Evidence(orders)
			if len(got) != 2 || got[0].ID != "B" || got[1].ID != "A" || got[0].Seq >= got[1].Seq || got[0].Nonce != "n" {
				f.Errorf("got %+v, want B before A", got)
			}
			return err
		})
		if got := f.records(orders); got != nil {
			f.Errorf("evidence became records: %v", got)
		}
	},
	"a hold writes its own stack only": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		r := role(abroad, "A", 1, "")
		if err := f.put(fence, &r); err == nil {
			f.Error("a record of another stack was written")
		}
		err := f.s.Write(ctx, fence, func(t record.Tx) error {
			_, err := t.PutStep(record.Step{Stack: abroad, Name: "s"})
			return err
		})
		if err == nil {
			f.Error("a step of another stack was written")
		}
	},
}
