package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"reclaim/engine/record"
)

// DropUnusable removes a record that cannot be used, and the claims that lead to it. What it claimed cannot always be
// read from it, so all claims are looked through.
func (t *tx) DropUnusable(key string, step record.Step) error {
	if t.fence == nil || !strings.HasPrefix(key, stackKey(t.fence.Stack)) {
		return fmt.Errorf("drop %q: the hold is another stack's", key)
	}
	value, err := t.get(bucketRecords, key)
	if err != nil {
		return err
	}
	if value == nil {
		return fmt.Errorf("drop %q: it is gone: %w", key, record.ErrConflict)
	}
	if _, bad := decodeRecord(key, string(value)); bad == nil {
		return fmt.Errorf("drop %q as unusable: it can be used: %w", key, record.ErrConflict)
	}
	claims, err := t.claimsOf(key)
	if err != nil {
		return err
	}
	for _, claim := range claims {
		if err := t.remove(bucketClaims, claim); err != nil {
			return err
		}
	}
	if err := t.remove(bucketRecords, key); err != nil {
		return err
	}
	_, err = t.PutStep(step)
	return err
}

// claimsOf returns the claims that are noted for the record at key.
func (v *view) claimsOf(key string) (claims []string, err error) {
	err = v.scan(bucketClaims, "", "", func(claim string, value []byte) error {
		var by string
		if json.Unmarshal(value, &by) == nil && by == key {
			claims = append(claims, claim)
		}
		return nil
	})
	return claims, err
}

// DropTombstone removes one tombstone.
func (t *tx) DropTombstone(tb record.Tombstone, step record.Step) error {
	if err := t.own("tombstone "+tb.ID, tb.Stack); err != nil {
		return err
	}
	if tb.ID == "" {
		return errors.New("drop tombstone: it has no ID")
	}
	key := tombstoneKey(tb)
	value, err := t.get(bucketTombstones, key)
	if err != nil {
		return err
	}
	if value == nil {
		return fmt.Errorf("drop tombstone of %s generation %d: it is gone: %w", tb.ID, tb.Gen, record.ErrConflict)
	}
	if err := t.remove(bucketTombstones, key); err != nil {
		return err
	}
	step.ID, step.Gen = tb.ID, tb.Gen
	_, err = t.PutStep(step)
	return err
}
