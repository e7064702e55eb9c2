package deploy

import (
	"context"
	"fmt"
	"slices"
	"time"

	"reclaim/engine/crash"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
)

// delete removes a record and, where it still has one, its object.
func (t *task) delete(ctx context.Context, s *plan.Subject, it *plan.Item) ending {
	rec, with := s.Record, t.restored(s)
	if f := s.Finding; f != nil {
		if f.Verdict == recovery.VerdictOurs || f.Verdict == recovery.VerdictPresumed {
			return t.reclaim(ctx, s, it)
		}
		tomb := t.tombstone(rec, "not found when given up", f.Summary)
		return t.dropped(ctx, rec, tomb, "nothing was found", event.Done, with...)
	}
	if len(it.Calls) == 0 && s.Look.Obs != nil {
		return t.dropped(ctx, rec, t.tombstone(rec, "not ours any more", it.Detail), it.Detail, event.Done, with...)
	}
	if len(it.Calls) == 0 {
		return t.dropped(ctx, rec, t.remains(rec), it.Detail, event.Done, with...)
	}
	if end := t.restore(ctx, rec, with); end.ended() {
		return end
	}
	if end := t.deleteObject(ctx, s); end.ended() {
		return end
	}
	return t.dropped(ctx, rec, t.remains(rec), "deleted", event.Done)
}

// remains is the tombstone for a record whose object is gone while another attempt of its create may still be carried out,
// or may have made a second object that was never found (S18, S21); nil when nothing of the kind was sent.
func (t *shared) remains(rec *record.Record) *record.Tombstone {
	maybe := func(i record.Intent) bool {
		return slices.ContainsFunc(i.Attempts, func(a record.Attempt) bool {
			return a.MaybeExecuted() && a.Outcome != record.Confirmed
		})
	}
	if !slices.ContainsFunc(rec.Former, maybe) && (rec.Intent == nil || !maybe(*rec.Intent)) {
		return nil
	}
	return t.tombstone(rec, "deleted", "an earlier attempt of its create was never answered")
}

// dropped ends a record, with what must not be separate from it.
func (t *task) dropped(ctx context.Context, rec *record.Record, tomb *record.Tombstone, why string, r event.Result, with ...change) ending {
	if err := t.journal.drop(after(ctx, rec.ID), rec, tomb, why, with...); err != nil {
		return t.notCommitted(err)
	}
	t.acted = true
	return ending{r, why}
}

// retain lets the record go and leaves the object, with a tombstone.
func (t *task) retain(ctx context.Context, s *plan.Subject, it *plan.Item) ending {
	return t.dropped(ctx, s.Record, t.tombstone(s.Record, "retained", it.Detail), it.Detail, event.Kept, t.restored(s)...)
}

func (t *shared) tombstone(rec *record.Record, why, note string) *record.Tombstone {
	tomb := &record.Tombstone{Stack: t.stack, ID: rec.ID, Type: rec.Type, Gen: rec.Gen, Key: rec.Key, Identity: rec.Identity,
		Nonces: rec.Nonces(), Why: why, Note: note, Who: t.env.Owner.User, At: t.env.Clock.Now().UTC()}
	return tomb
}

// deleteObject deletes exactly the object that was read (S20), and returns once its absence is confirmed (S21). The
// record is left at deleting, for the caller to end in one transaction with what comes next.
func (t *task) deleteObject(ctx context.Context, s *plan.Subject) ending {
	rec, obs := s.Record, s.Look.Obs
	seen := visibleAgain(rec, t.provider.Schema())
	d := s.DeleteOf(obs, t.consented())
	if end := t.guardData(); end.ended() {
		return end
	}
	rec.Status = record.Deleting
	before, err := t.provider.Unmake(d, obs)
	if err != nil {
		return failed("%v", err)
	}
	if end := t.runCalls(ctx, rec, before); end.ended() {
		return end
	}
	del := resource.Call{Name: "delete", Run: func(ctx context.Context) error {
		err := t.provider.Delete(ctx, d)
		if resource.Is(err, resource.NotFound) {
			return nil // whether that is the truth is for confirm to say
		}
		return err
	}}
	if end := t.runCall(ctx, rec, del); end.ended() {
		return end
	}
	return t.confirmGone(ctx, rec, seen)
}

func (t *task) consented() bool {
	return t.dataLoss || slices.Contains(t.grants, plan.GrantDataLoss)
}

// guardData lets no data be destroyed without a consent that names the resource (S25).
func (t *task) guardData() ending {
	if schema := t.provider.Schema(); schema.DataBearing && !t.consented() {
		return ending{event.Blocked, "it holds " + schema.Data + "; deleting it needs --allow-data-loss " + t.planned.ID}
	}
	return again
}

func visibleAgain(rec *record.Record, s *resource.Schema) time.Time {
	return rec.TouchedAt.Add(crash.Scale(s.Window))
}

// confirmGone reads until the object is not there, and does not believe that inside the window of its last write.
func (t *task) confirmGone(ctx context.Context, rec *record.Record, visible time.Time) ending {
	deadline := later(visible, t.env.Clock.Now()).Add(crash.Scale(t.provider.Schema().Deadlines.Delete))
	for n := 0; ; n++ {
		l := t.read(ctx, rec.Key)
		now := t.env.Clock.Now()
		switch {
		case l.Err != nil && !now.Before(deadline):
			return failed("its deletion was sent and could not be confirmed: %v", l.Err)
		case l.Err == nil && l.Obs == nil && !now.Before(visible):
			return again
		case l.Obs != nil && isAnother(rec.Identity, l.Obs.Identity):
			return again
		case l.Obs != nil && !now.Before(deadline):
			return failed("its deletion was accepted and it is still there; the next run looks again")
		}
		t.phase("confirm", "until it is gone", deadline)
		if t.env.Clock.Sleep(ctx, crash.Scale(min(5*time.Second, 200*time.Millisecond<<min(n, 5)))) != nil {
			return ending{event.Skipped, "stopped before its deletion was confirmed"}
		}
	}
}

func isAnother(ours, theirs resource.Identity) bool {
	same, known := ours.Same(theirs)
	return known && !same
}

// abandon gives a record up and keeps a tombstone (S18).
func (t *task) abandon(ctx context.Context, s *plan.Subject, d *record.Decision) ending {
	tomb := t.tombstone(s.Record, "abandoned", d.Note)
	tomb.Who = d.Who
	return t.dropped(ctx, s.Record, tomb, fmt.Sprintf("abandoned by %s", d.Who), event.Done)
}

// deleteFound deletes the object that an operator chose to delete: reclaimed first, so that a crash leaves a record that
// says what is being deleted.
func (t *task) deleteFound(ctx context.Context, s *plan.Subject) ending {
	c := unstruck(s.Finding)
	if c == nil {
		return ending{event.Blocked, "there is nothing that may be deleted"}
	}
	if end := t.guardData(); end.ended() {
		return end // before anything is written: the decision can be made again
	}
	rec := s.Record
	t.own(rec, c.Observation)
	rec.Pending = sent(rec)
	if end := t.committed(ctx, rec, "reclaimed, to be deleted as decided"); end.ended() {
		return end
	}
	s.Look.Obs = c.Observation
	if end := t.deleteObject(ctx, s); end.ended() {
		return end
	}
	return t.dropped(ctx, rec, t.tombstone(rec, "deleted as decided", ""), "deleted as decided", event.Done)
}
