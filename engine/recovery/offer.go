package recovery

import (
	"fmt"
	"time"

	"reclaim/engine/diff"
	"reclaim/engine/record"
	"reclaim/engine/value"
)

const nothing = "nothing"

// keep offers an object as the record's, and where the diff would replace it, that as two approvals in one walk (S16).
func (q *inquiry) keep(o *object) []Option {
	out := []Option{{Choice: record.Reclaim, Physical: o.physical, Call: "none", Loss: nothing,
		Follows: q.kept()}}
	if replaces(o.fields) {
		out = append(out, Option{Choice: record.Replace, Physical: o.physical, Call: "Create and Delete " + q.schema.Type,
			Loss: q.loss(o), Follows: "it is kept, then replaced: two approvals, in that order"})
	}
	return out
}

// kept is what follows from keeping an object (S16).
func (q *inquiry) kept() string {
	return "kept as " + q.Record.ID + "; then the diff decides: nothing, update or replace"
}

func replaces(fields []diff.Field) bool {
	for _, f := range fields {
		if f.Immutable && f.Verdict == diff.Differs {
			return true
		}
	}
	return false
}

func (q *inquiry) chooseFrom(objects []*object) []Option {
	var out []Option
	for _, o := range objects {
		out = append(out, q.keep(o)...)
	}
	return append(out, q.abandon())
}

// adopt is always typed: nothing proves the object ours.
func (q *inquiry) adopt(o *object, typed string) Option {
	return Option{Choice: record.Adopt, Physical: o.physical, Call: q.tagCall(), Typed: typed,
		Loss:    "nothing now; whoever made it may change it back, and no rollback of ours removes it",
		Follows: q.kept()}
}

func (q *inquiry) tagCall() string {
	if q.schema.Taggable() {
		return "Tag " + q.schema.Type
	}
	return "none"
}

// deleteIt asks to type where only a presumption says that it is ours, or where data goes with it.
func (q *inquiry) deleteIt(o *object, typed string) Option {
	if q.schema.DataBearing {
		typed = o.physical
	}
	return Option{Choice: record.DeleteIt, Physical: o.physical, Call: "Delete " + q.schema.Type, Loss: q.loss(o), Typed: typed,
		Follows: "its identity is read again first; the record goes, and what depends on it waits for a new one"}
}

func (q *inquiry) loss(o *object) string {
	if q.schema.DataBearing {
		return fmt.Sprintf("%s and all %s in it; cannot be undone", o.physical, q.schema.Data)
	}
	return o.physical + "; cannot be undone"
}

func (q *inquiry) abandon() Option {
	return Option{Choice: record.Abandon, Call: "none", Loss: "nothing; what was made stays in the cloud, unmanaged",
		Follows: "the record becomes a tombstone, still searched for orphans"}
}

func (q *inquiry) retry(follows string) Option {
	if value.OfMap(q.intent.Params).HasHash() {
		follows += "; the store keeps sensitive values only as hashes, so the stack file and its parameters are needed"
	}
	return Option{Choice: record.Retry, Call: "Create " + q.schema.Type, Loss: nothing, Follows: follows}
}

func (q *inquiry) enterID() Option {
	return Option{Choice: record.EnterID, Call: "none", Loss: nothing, Follows: "the ID is looked up and judged by the same table before it is accepted"}
}

func look() Option {
	return Option{Choice: record.LookAgain, Call: "none", Loss: nothing, Follows: "judged again by what the look says"}
}

func wait(until time.Time) Option {
	return Option{Choice: record.Wait, Call: "none", Loss: nothing, Follows: "it is looked at and judged again after " + until.UTC().Format(time.TimeOnly) + " UTC"}
}

// later leaves a record uncertain; that can always be done.
func later() Option {
	return Option{Choice: record.Later, Call: "none", Loss: nothing, Follows: "stays uncertain, and blocks what depends on it"}
}
