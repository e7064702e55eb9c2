package store

import (
	"context"
	"errors"
	"fmt"

	"reclaim/engine/crash"
	"reclaim/engine/record"
)

// Acquire makes a hold, and imports emergency files that wait beside the store.
func (s *Store) Acquire(ctx context.Context, h record.Hold) (record.Hold, error) {
	return s.holdFor(ctx, h, func(t *tx) (*record.Hold, error) {
		now, found, err := t.Hold(h.Stack)
		if err == nil && found {
			err = fmt.Errorf("hold %s: %w", h.Stack, &record.HeldError{Hold: now})
		}
		return nil, err
	})
}

// Take replaces the hold of execution from. The hold it was taken from is kept in Taken, one level deep.
func (s *Store) Take(ctx context.Context, from string, h record.Hold) (record.Hold, error) {
	return s.holdFor(ctx, h, func(t *tx) (*record.Hold, error) {
		now, err := t.heldBy(h.Stack, from)
		if err != nil {
			return nil, fmt.Errorf("take hold of %s: %w", h.Stack, err)
		}
		now.Taken = nil
		return now, nil
	})
}

// heldBy returns the hold of a stack if it is the execution's.
func (t *tx) heldBy(s record.StackID, execution string) (*record.Hold, error) {
	now, found, err := t.Hold(s)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, fmt.Errorf("execution %s: %w", execution, record.ErrNoHold)
	case now.Execution != execution:
		return nil, &record.HeldError{Hold: now}
	}
	return &now, nil
}

// holdFor writes h with the next epoch, unless allow refuses; allow returns the hold that h replaces.
func (s *Store) holdFor(ctx context.Context, h record.Hold, allow func(*tx) (*record.Hold, error)) (record.Hold, error) {
	if h.Stack.IsZero() || h.Execution == "" {
		return record.Hold{}, errors.New("hold stack: it needs a stack and an execution")
	}
	err := s.commits.do(&job{ctx: ctx, f: func(t *tx) (err error) {
		if h.Taken, err = allow(t); err != nil {
			return err
		}
		h.Epoch, err = t.raiseEpoch(h.Stack)
		if err != nil {
			return err
		}
		if err := t.begins(h); err != nil {
			return err
		}
		return t.put(bucketHolds, stackKey(h.Stack), h)
	}})
	if err != nil {
		return record.Hold{}, err
	}
	crash.At(ctx, crash.HoldTaken)
	s.hold(true)
	if err := s.ImportEmergency(ctx); err != nil {
		s.opts.Log("%v", err) // it waits for the next hold; this one is good without it
	}
	return h, nil
}

// begins writes the summary of the hold's execution, and says in that of the execution it was taken from what became of it.
func (t *tx) begins(h record.Hold) error {
	if h.Taken != nil {
		if err := t.cutOff(*h.Taken, "its hold was taken by "+h.Execution+" ("+h.Verb+")"); err != nil {
			return err
		}
	}
	return t.putExecution(h.Begun())
}

// cutOff says in the summary of an execution that never released its hold why it has no end.
func (t *tx) cutOff(h record.Hold, why string) error {
	e := h.Begun()
	if _, err := t.read(bucketExecutions, executionKey(h.Stack, h.Execution), &e); err != nil {
		return err
	}
	e.Result = why
	return t.putExecution(e)
}

// raiseEpoch gives the next epoch of a stack. The counter outlives holds, so that no epoch is given twice.
func (t *tx) raiseEpoch(s record.StackID) (epoch uint64, err error) {
	key := stackKey(s)
	if _, err = t.read(bucketEpochs, key, &epoch); err != nil {
		return 0, err
	}
	epoch++
	return epoch, t.put(bucketEpochs, key, epoch)
}

// Release ends the fence's hold and writes the execution's summary with it, then reads both again.
func (s *Store) Release(ctx context.Context, fence record.Fence, e record.Execution) error {
	crash.At(ctx, crash.BeforeRelease)
	err := s.commits.do(&job{ctx: ctx, fence: &fence, f: func(t *tx) error {
		if err := t.PutExecution(e); err != nil {
			return err
		}
		return t.remove(bucketHolds, stackKey(fence.Stack))
	}})
	if err == nil || errors.Is(err, record.ErrStale) {
		s.hold(false)
	}
	if err != nil {
		return err
	}
	return s.Read(context.WithoutCancel(ctx), func(v record.View) error {
		h, found, err := v.Hold(fence.Stack)
		if err == nil && found && h.Execution == fence.Execution && h.Epoch == fence.Epoch {
			err = fmt.Errorf("%w: %s: the hold of %s is still there after it was released", record.ErrWrite, s.path, fence.Stack)
		}
		return err
	})
}

// ClearHold removes the hold of an execution that the caller knows is dead. The epoch stays, so that the execution's
// fence never holds again. No execution means a hold that cannot be read, and only that.
func (s *Store) ClearHold(ctx context.Context, stack record.StackID, execution string) error {
	return s.commits.do(&job{ctx: ctx, f: func(t *tx) error {
		h, err := t.heldBy(stack, execution)
		switch {
		case execution == "" && errors.Is(err, record.ErrDamaged): // whose it was cannot be said, nor that it was cut off
			return t.remove(bucketHolds, stackKey(stack))
		case err != nil:
			return fmt.Errorf("clear hold of %s: %w", stack, err)
		}
		if err := t.cutOff(*h, "its hold was cleared"); err != nil {
			return err
		}
		return t.remove(bucketHolds, stackKey(stack))
	}})
}
