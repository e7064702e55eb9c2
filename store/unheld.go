package store

import (
	"context"
	"errors"
	"strings"

	"reclaim/engine/record"
)

// What a stack keeps of its plans: the last ones, and not more bytes than this unless the last alone has more.
const (
	maxPlans     = 20
	maxPlanBytes = 8 << 20
)

// unheld commits what needs no hold. A copy that was read before is out of date afterwards: it is let go now, so that two
// are never in memory at once.
func (s *Store) unheld(j *job) error {
	s.mu.Lock()
	s.dropCopy()
	s.mu.Unlock()
	return s.commits.do(j)
}

// SavePlan keeps a plan as it is given, and lets the stack's oldest go.
func (s *Store) SavePlan(ctx context.Context, stack record.StackID, fingerprint string, plan []byte) error {
	if stack.IsZero() || fingerprint == "" || strings.Contains(fingerprint, "/") {
		return errors.New("save plan: it needs a stack and a fingerprint")
	}
	return s.unheld(&job{ctx: ctx, f: func(t *tx) error {
		n, err := t.next(bucketPlans)
		if err != nil {
			return err
		}
		key := stackKey(stack) + number(n) + "/" + fingerprint
		if err := t.putRaw(bucketPlans, key, plan); err != nil {
			return err
		}
		if err := t.put(bucketPlanIndex, fingerprint, key); err != nil {
			return err
		}
		return t.letPlansGo(stack, fingerprint, key)
	}})
}

// letPlansGo removes the stack's plans beyond the bounds, and older copies of the one just saved at key.
func (t *tx) letPlansGo(stack record.StackID, fingerprint, key string) error {
	type kept struct {
		key, fingerprint string
		size             int
	}
	var all []kept
	err := t.scan(bucketPlans, stackKey(stack), "", func(k string, value []byte) error {
		_, f, err := splitPlanKey(k)
		all = append(all, kept{k, f, len(value)})
		return err
	})
	if err != nil {
		return err
	}
	count, bytes := 0, 0
	for i := len(all) - 1; i >= 0; i-- {
		p := all[i]
		again := p.fingerprint == fingerprint && p.key != key
		if !again {
			count, bytes = count+1, bytes+p.size
		}
		if !again && (count == 1 || count <= maxPlans && bytes <= maxPlanBytes) {
			continue
		}
		if err := t.removePlan(p.key, p.fingerprint); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) removePlan(key, fingerprint string) error {
	if err := t.remove(bucketPlans, key); err != nil {
		return err
	}
	var indexed string
	if _, err := t.read(bucketPlanIndex, fingerprint, &indexed); err != nil || indexed != key {
		return err
	}
	return t.remove(bucketPlanIndex, fingerprint)
}

// splitPlanKey returns the stack and fingerprint in a key of the plans bucket.
func splitPlanKey(key string) (record.StackID, string, error) {
	s, rest, err := splitKey(key)
	if err != nil {
		return s, "", err
	}
	_, fingerprint, _ := strings.Cut(rest, "/")
	return s, fingerprint, nil
}

// SaveDecision keeps a decision before it is carried out.
func (s *Store) SaveDecision(ctx context.Context, d record.Decision) error {
	if d.Stack.IsZero() || d.ID == "" {
		return errors.New("save decision: it needs a stack and a resource")
	}
	return s.unheld(&job{ctx: ctx, f: func(t *tx) error { return t.putDecision(d) }})
}

// AddEvidence appends evidence. Its Seq is the evidence's own count, not the journal's.
func (s *Store) AddEvidence(ctx context.Context, e record.Evidence) error {
	if e.Stack.IsZero() {
		return errors.New("add evidence: it needs a stack")
	}
	return s.unheld(&job{ctx: ctx, f: func(t *tx) error { return t.addEvidence(e) }})
}

func (t *tx) addEvidence(e record.Evidence) (err error) {
	if e.Seq, err = t.next(bucketEvidence); err != nil {
		return err
	}
	return t.put(bucketEvidence, stackKey(e.Stack)+number(e.Seq), e)
}
