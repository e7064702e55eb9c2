package deploy

import (
	"context"
	"errors"
	"fmt"

	"reclaim/engine/event"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
)

// RestoreRequest makes a record of a tombstone again, so that every verb that works on records works on its object: a plan
// can bring it to what is wanted, and a removal can delete it.
type RestoreRequest struct {
	Tombstone record.Tombstone // as it was seen
	Who       string
}

// Restore looks for the tombstone's object under a hold and, where exactly one is proven to be it, writes its record and
// drops the tombstone in one transaction. Nothing in the cloud is changed. The error is non-nil only when nothing was
// begun.
func Restore(ctx context.Context, env Env, r RestoreRequest) (Outcome, error) {
	tomb := r.Tombstone
	item := event.Item{ID: tomb.ID, Gen: tomb.Gen, Type: tomb.Type, Action: "restore"}
	return errand(ctx, env, tomb.Stack, "restore", item, func(ctx context.Context, s *shared) (ending, event.Item) {
		rec, end := s.found(ctx, &tomb)
		if end.ended() {
			return end, item
		}
		item.Gen, item.Physical = rec.Gen, rec.Physical
		err := s.env.Store.Write(ctx, s.journal.fence, func(tx record.Tx) error {
			step := s.step(record.StepRestore(tomb.ID, rec.Gen), fmt.Sprintf("tombstone (%s) became a record again, by %s", tomb.Why, r.Who))
			again := *rec
			return errors.Join(tx.DropTombstone(tomb, step), tx.PutRecord(&again, step))
		})
		if err != nil {
			return s.unwritten(err), item
		}
		return done("kept as " + tomb.ID + " again"), item
	})
}

// found looks for the object and returns the record it would have. Where another record stands for the resource by now, it
// is a replaced generation of it.
func (s *shared) found(ctx context.Context, tomb *record.Tombstone) (*record.Record, ending) {
	p, ok := s.env.Cloud.Provider(tomb.Type)
	if !ok {
		return nil, ending{event.Blocked, fmt.Sprintf("type %s is not supported by this version", tomb.Type)}
	}
	g := recovery.Gatherer{Store: s.env.Store, Cloud: s.env.Cloud, Sealer: s.env.Sealer, Now: s.env.Clock.Now}
	seen, err := g.Sight(ctx, &recovery.Orphan{Stack: s.stack, ID: tomb.ID, Gen: tomb.Gen, Type: tomb.Type, Tombstone: tomb})
	switch {
	case err != nil:
		return nil, failed("%v", err)
	case seen.Object == nil:
		return nil, ending{event.Blocked, seen.Summary}
	}
	gen := tomb.Gen
	if s.journal.generation(tomb.ID, gen) != nil {
		gen = s.journal.lastGen(tomb.ID) + 1
	}
	rec := &record.Record{Stack: s.stack, ID: tomb.ID, Type: tomb.Type, Gen: gen, Status: record.Made, Origin: record.ByAdopt, TouchedAt: tomb.At, UpdatedAt: s.env.Clock.Now().UTC()}
	s.keep(rec, p.Schema(), seen.Object)
	if now := s.journal.current(tomb.ID); now != nil && now.Status != record.Retired {
		rec.Status = record.Retired
	}
	return rec, again
}

// keep fills in a record whose object was proven, from the look that proved it. That an object was ours before says nothing
// of who made it, unless it carries the nonce of our create.
func (s *shared) keep(rec *record.Record, schema *resource.Schema, c *resource.Candidate) {
	rec.Key, rec.Identity, rec.Nonce = c.Key, c.Identity, c.Owner[resource.TagNonce]
	rec.Physical, rec.Claim = schema.Physical(c.Key), schema.Claim(s.stack.Scope, c.Key)
	rec.Output = s.env.Sealer.SealMap(schema.Conceal(c.Output))
	rec.CreatedBy = s.hold.Execution
	if rec.Nonce != "" {
		rec.Origin = record.ByCreate
	}
}
