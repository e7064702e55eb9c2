package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/record"
)

// journal are claims about steps and their numbers.
var journal = map[string]func(*fixture){
	"numbers of committed steps have no gaps, over all stacks": func(f *fixture) {
		one, two := f.acquire(orders, "x1"), f.acquire(abroad, "x2")
		stop := errors.New("stop")
		var seqs []uint64
		for i := range 6 {
			fence := []record.Fence{one, two}[i%2]
			step := func(t record.Tx) error {
				seq, err := t.PutStep(record.Step{Name: fmt.Sprint("step ", i)})
				seqs = append(seqs, seq)
				return err
			}
			f.must(f.s.Write(ctx, fence, step))
			f.refused(f.s.Write(ctx, fence, func(t record.Tx) error { return errors.Join(step(t), stop) }), stop)
			seqs = seqs[:i+1]
		}
		if d := cmp.Diff([]uint64{1, 2, 3, 4, 5, 6}, seqs); d != "" {
			f.Error(d)
		}
	},
	"steps are read from a number on, and at most as many as asked": func(f *fixture) {
		one, two := f.acquire(orders, "x1"), f.acquire(abroad, "x2")
		for range 5 {
			for _, fence := range []record.Fence{one, two} {
				f.must(f.s.Write(ctx, fence, func(t record.Tx) error {
					_, err := t.PutStep(record.Step{Name: "s"})
					return err
				}))
			}
		}
		var got []uint64
		for _, step := range f.steps(orders, 4, 2) {
			got = append(got, step.Seq)
		}
		if d := cmp.Diff([]uint64{5, 7}, got); d != "" {
			f.Error(d)
		}
		if n := len(f.steps(orders, 0, 0)); n != 5 {
			f.Errorf("%d steps in all, want 5", n)
		}
	},
}

// kept are claims about what needs no hold, and about the list of stacks.
var kept = map[string]func(*fixture){
	"a plan comes back byte by byte, and the last one is known": func(f *fixture) {
		for _, p := range []string{"p1", "p2"} {
			f.must(f.s.SavePlan(ctx, orders, p, []byte("{ \"plan\":  \""+p+"\" }\n")))
		}
		f.view(func(v record.View) error {
			got, found, err := v.Plan("p1")
			if string(got) != "{ \"plan\":  \"p1\" }\n" || !found {
				f.Errorf("got %q, %v", got, found)
			}
			if _, found, _ := v.Plan("p3"); found {
				f.Error("a plan nobody saved was found")
			}
			last, lastErr := v.LastPlan(orders)
			if last != "p2" {
				f.Errorf("the last plan is %q", last)
			}
			none, noneErr := v.LastPlan(abroad)
			if none != "" {
				f.Errorf("the last plan of another stack is %q", none)
			}
			return errors.Join(err, lastErr, noneErr)
		})
	},
	"a plan that is saved again is the last": func(f *fixture) {
		for _, p := range []string{"p1", "p2", "p1"} {
			f.must(f.s.SavePlan(ctx, orders, p, []byte(p)))
		}
		f.view(func(v record.View) error {
			if last, _ := v.LastPlan(orders); last != "p1" {
				f.Errorf("the last plan is %q", last)
			}
			_, found, err := v.Plan("p2")
			if !found {
				f.Error("the other one is gone")
			}
			return err
		})
	},
	"the last twenty plans of a stack are kept": func(f *fixture) {
		f.must(f.s.SavePlan(ctx, abroad, "other", []byte("x")))
		for i := range 22 {
			f.must(f.s.SavePlan(ctx, orders, fmt.Sprint("p", i), []byte("x")))
		}
		f.view(func(v record.View) error {
			for plan, want := range map[string]bool{"p0": false, "p1": false, "p2": true, "p21": true, "other": true} {
				if _, found, _ := v.Plan(plan); found != want {
					f.Errorf("plan %s found: %v", plan, found)
				}
			}
			return nil
		})
	},
	"a decision is kept without a hold, and its outcome with one": func(f *fixture) { // S17
		d := record.Decision{Stack: orders, ID: "A", Gen: 1, Rev: 3, Facts: "f", Verdict: "ours", Choice: record.Reclaim,
			Who: "ann", At: now, Looks: []record.Look{{Call: "GetRole", At: now, Result: "found"}}}
		f.must(f.s.SaveDecision(ctx, d))
		later := d
		later.At, later.Choice = now.Add(1), record.Abandon
		f.must(f.s.SaveDecision(ctx, later))
		d.Execution, d.Outcome = "x1", "reclaimed"
		f.must(f.s.Write(ctx, f.acquire(orders, "x1"), func(t record.Tx) error { return t.PutDecision(d) }))
		f.view(func(v record.View) error {
			got, err := v.Decisions(orders)
			if diff := cmp.Diff([]record.Decision{d, later}, got); diff != "" {
				f.Error(diff)
			}
			return err
		})
	},
	"every stack that something is known of is listed once": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		r := role(orders, "A", 1, "")
		f.must(f.put(fence, &r))
		f.must(f.s.SavePlan(ctx, abroad, "p", []byte("x")))
		f.must(f.s.AddEvidence(ctx, record.Evidence{Stack: site, ID: "A", Gen: 1}))
		f.view(func(v record.View) error {
			got, err := v.Stacks()
			if d := cmp.Diff([]record.StackID{orders, abroad, site}, got); d != "" {
				f.Error(d)
			}
			return err
		})
	},
	"emergency evidence is in a private file that names the store": func(f *fixture) { // S36
		path, err := f.s.Emergency([]record.Evidence{{Stack: orders, ID: "A", Gen: 1, Nonce: "n-A"}})
		f.must(err)
		f.Cleanup(func() { os.Remove(path) })
		info, err := os.Stat(path)
		f.must(err)
		text, err := os.ReadFile(path)
		f.must(err)
		if info.Mode().Perm() != 0o600 || !strings.Contains(string(text), f.s.ID()) || !strings.Contains(string(text), "n-A") {
			f.Errorf("mode %v: %s", info.Mode(), text)
		}
	},
}

// together are claims about many callers at once.
var together = map[string]func(*fixture){
	"concurrent transactions are all kept, and one that fails fails alone": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		const n = 200
		bad := func(i int) bool { return i%7 == 3 }
		stop := errors.New("stop")
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				r := role(orders, fmt.Sprintf("R%03d", i), 1, fmt.Sprint("k", i))
				err := f.s.Write(ctx, fence, func(t record.Tx) error {
					if err := t.PutRecord(&r, record.Step{Name: "s"}); err != nil || !bad(i) {
						return err
					}
					return stop
				})
				if bad(i) != errors.Is(err, stop) || !bad(i) && (err != nil || r.Rev != 1) {
					f.Errorf("%d: error %v, revision %d", i, err, r.Rev)
				}
			})
		}
		wg.Wait()
		kept := map[string]bool{}
		for _, r := range f.records(orders) {
			kept[r.ID] = true
		}
		for i := range n {
			if id := fmt.Sprintf("R%03d", i); kept[id] == bad(i) {
				f.Errorf("%s kept: %v", id, kept[id])
			}
		}
		for i, step := range f.steps(orders, 0, 0) {
			if step.Seq != uint64(i+1) {
				f.Fatalf("step %d has number %d", i+1, step.Seq)
			}
		}
	},
	"of many that write one revision, one wins": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		r := role(orders, "A", 1, "")
		f.must(f.put(fence, &r))
		won := make(chan bool, 20)
		var wg sync.WaitGroup
		for range cap(won) {
			wg.Go(func() {
				mine := r
				err := f.put(fence, &mine)
				if err != nil && !errors.Is(err, record.ErrConflict) {
					f.Error(err)
				}
				won <- err == nil
			})
		}
		wg.Wait()
		close(won)
		n := 0
		for w := range won {
			if w {
				n++
			}
		}
		if n != 1 {
			f.Errorf("%d won", n)
		}
	},
	"of many that acquire one stack, one holds it": func(f *fixture) { // S33
		got := make(chan error, 10)
		var wg sync.WaitGroup
		for i := range cap(got) {
			s := f.s
			if i%2 == 0 {
				s = f.other()
			}
			wg.Go(func() {
				_, err := s.Acquire(ctx, hold(orders, fmt.Sprint("x", i)))
				got <- err
			})
		}
		wg.Wait()
		close(got)
		n := 0
		for err := range got {
			var held *record.HeldError
			if err == nil {
				n++
			} else if !errors.As(err, &held) {
				f.Error(err)
			}
		}
		if n != 1 {
			f.Errorf("%d hold it", n)
		}
	},
	"a reader sees all of a transaction or nothing": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		done := make(chan error, 1)
		go func() {
			for i := range 100 {
				if err := f.s.Write(ctx, fence, func(t record.Tx) error {
					a, b := role(orders, fmt.Sprintf("A%d", i), 1, ""), role(orders, fmt.Sprintf("B%d", i), 1, "")
					return errors.Join(t.PutRecord(&a, record.Step{Name: "s"}), t.PutRecord(&b, record.Step{Name: "s"}))
				}); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		other := f.other()
		for running := true; running; {
			select {
			case err := <-done:
				f.must(err)
				running = false
			default:
			}
			f.must(other.Read(ctx, func(v record.View) error {
				list, bad, err := v.Records(orders)
				steps, stepsErr := v.Steps(orders, 0, 0)
				if len(list)%2 != 0 || len(steps) != len(list) || len(bad) > 0 {
					f.Errorf("saw %d records, %d steps, %v", len(list), len(steps), bad)
				}
				return errors.Join(err, stepsErr)
			}))
		}
		if n := len(f.records(orders)); n != 200 {
			f.Errorf("%d records in the end", n)
		}
	},
	"a context that has ended refuses": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		ended, cancel := context.WithCancel(ctx)
		cancel()
		f.refused(f.s.Write(ended, fence, func(record.Tx) error { f.Error("it ran"); return nil }), context.Canceled)
		f.refused(f.s.Read(ended, func(record.View) error { f.Error("it ran"); return nil }), context.Canceled)
	},
	"a panic reaches the caller that panicked and leaves nothing": func(f *fixture) {
		fence := f.acquire(orders, "x1")
		r := role(orders, "A", 1, "")
		func() {
			defer func() {
				if p := recover(); p != "oops" {
					f.Errorf("recovered %v", p)
				}
			}()
			f.s.Write(ctx, fence, func(t record.Tx) error {
				if err := t.PutRecord(&r, record.Step{Name: "s"}); err != nil {
					return err
				}
				panic("oops")
			})
		}()
		f.must(f.put(fence, &r))
		if n := len(f.steps(orders, 0, 0)); n != 1 {
			f.Errorf("%d steps", n)
		}
	},
}
