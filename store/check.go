package store

import (
	"context"
	"encoding/json"
	"fmt"

	"reclaim/engine/record"
)

// Check explains what does not fit together in the store, one sentence each; none when all is well. It changes
// nothing.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	var found []string
	err := s.readCopy(ctx, func(v *view) error {
		for _, check := range []func() ([]string, error){v.checkRecords, v.checkClaims, v.checkJournal, v.checkHolds} {
			lines, err := check()
			if err != nil {
				return err
			}
			found = append(found, lines...)
		}
		return ctx.Err()
	})
	return found, err
}

func (v *view) checkRecords() (found []string, err error) {
	err = v.scan(bucketRecords, "", "", func(key string, value []byte) error {
		r, err := decodeRecord(key, string(value))
		if err != nil {
			found = append(found, fmt.Sprintf("record %q: %v", key, err))
			return nil
		}
		if r.Claim == "" {
			return nil
		}
		by, err := v.claimed(r.Claim)
		if err == nil && by != key {
			found = append(found, fmt.Sprintf("record %q: its claim %q is noted as %q's", key, r.Claim, by))
		}
		return err
	})
	return found, err
}

func (v *view) checkClaims() (found []string, err error) {
	err = v.scan(bucketClaims, "", "", func(claim string, value []byte) error {
		var key string
		if err := json.Unmarshal(value, &key); err != nil {
			return v.undecodable(bucketClaims, claim, err)
		}
		body, err := v.get(bucketRecords, key)
		if err != nil {
			return err
		}
		if r, bad := decodeRecord(key, string(body)); body == nil || bad == nil && r.Claim != claim {
			found = append(found, fmt.Sprintf("claim %q is noted for record %q, which does not claim it", claim, key))
		}
		return nil
	})
	return found, err
}

// checkJournal looks for steps that cannot be read and for numbers that are missing or given twice.
func (v *view) checkJournal() (found []string, err error) {
	seen := map[uint64]bool{}
	err = v.scan(bucketJournal, "", "", func(key string, value []byte) error {
		var step record.Step
		s, rest, err := splitKey(key)
		if err == nil {
			err = json.Unmarshal(value, &step)
		}
		switch {
		case err != nil:
			found = append(found, fmt.Sprintf("step %q: %v", key, err))
		case step.Stack != s || number(step.Seq) != rest:
			found = append(found, fmt.Sprintf("step %q: its body says stack %s, number %d", key, step.Stack, step.Seq))
		case seen[step.Seq]:
			found = append(found, fmt.Sprintf("step %q: its number was given twice", key))
		}
		seen[step.Seq] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	journal, err := v.bucket(bucketJournal)
	if err != nil {
		return nil, err
	}
	for n := uint64(1); n <= journal.Sequence(); n++ {
		if !seen[n] {
			found = append(found, fmt.Sprintf("step %d is missing in the journal", n))
		}
	}
	return found, nil
}

func (v *view) checkHolds() (found []string, err error) {
	err = v.scan(bucketHolds, "", "", func(key string, value []byte) error {
		var h record.Hold
		var last uint64
		s, _, err := splitKey(key)
		if err == nil {
			err = json.Unmarshal(value, &h)
		}
		if err != nil {
			found = append(found, fmt.Sprintf("hold %q: %v", key, err))
			return nil
		}
		if h.Stack != s {
			found = append(found, fmt.Sprintf("hold %q: its body says stack %s", key, h.Stack))
		}
		if _, err := v.read(bucketEpochs, key, &last); err != nil {
			return err
		}
		if h.Epoch > last {
			found = append(found, fmt.Sprintf("hold %q has epoch %d; only %d were given", key, h.Epoch, last))
		}
		return nil
	})
	return found, err
}
