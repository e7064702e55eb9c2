package store

import (
	"context"
	"fmt"
	"slices"

	"reclaim/engine/record"
)

// leftOut is what no export holds, in words.
var leftOut = []string{
	"hash.key, the key of the keyed hashes: without it sensitive values count as changed; copy it beside the new store by hand, in private",
	"plans: they name the store they were made in; make them again",
	"events of runs, emergency files and backups, which lie beside the store's file",
}

// Export returns all the store holds but for its plans, at one moment. What cannot be used cannot be exported: it is named
// in LeftOut, and bad is how many entries that are.
func (s *Store) Export(ctx context.Context) (e record.Export, bad int, err error) {
	e = record.Export{Format: record.ExportFormat, Store: s.id, LeftOut: slices.Clone(leftOut), Stacks: []record.StackExport{}}
	err = s.readCopy(ctx, func(v *view) error {
		e.Ancestors = emptyNotNil(v.Ancestors())
		for bucket, into := range map[string]*uint64{bucketJournal: &e.JournalSeq, bucketEvidence: &e.EvidenceSeq} {
			b, err := v.bucket(bucket)
			if err != nil {
				return err
			}
			*into = b.Sequence()
		}
		stacks, err := v.exported()
		if err != nil {
			return err
		}
		for _, id := range stacks {
			one, unusable, err := v.exportStack(id)
			if err != nil {
				return fmt.Errorf("stack %s: %w", id, err)
			}
			for _, u := range unusable {
				e.LeftOut = append(e.LeftOut, fmt.Sprintf("record %q, which cannot be used: %s", u.Key, u.Reason))
			}
			bad += len(unusable)
			e.Stacks = append(e.Stacks, one)
		}
		return nil
	})
	if err != nil {
		return e, bad, fmt.Errorf("export store: %w", err)
	}
	return e, bad, nil
}

// exported are the stacks that have anything but plans, the number of their epoch too: it must not be given again.
func (v *view) exported() ([]record.StackID, error) {
	var out []record.StackID
	for _, bucket := range []string{bucketRecords, bucketHolds, bucketExecutions, bucketTombstones, bucketEvidence, bucketJournal,
		bucketDecisions, bucketEpochs} {
		some, err := v.stacksIn(bucket)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	slices.SortFunc(out, byStackKey)
	return slices.Compact(out), nil
}

// exportStack returns one stack, and the records of it that cannot be used.
func (v *view) exportStack(id record.StackID) (out record.StackExport, bad []record.BadRecord, err error) {
	out.Stack = id
	if _, err = v.read(bucketEpochs, stackKey(id), &out.Epoch); err != nil {
		return out, nil, err
	}
	hold, held, err := v.Hold(id)
	if err != nil {
		return out, nil, err
	}
	if held {
		out.Hold = &hold
	}
	records, bad, err := v.Records(id)
	if err != nil {
		return out, bad, err
	}
	out.Records = emptyNotNil(records)
	if out.Tombstones, err = listed(v.Tombstones(id)); err != nil {
		return out, bad, err
	}
	if out.Journal, err = listed(v.Steps(id, 0, 0)); err != nil {
		return out, bad, err
	}
	if out.Executions, err = listed(v.Executions(id)); err != nil {
		return out, bad, err
	}
	if out.Decisions, err = listed(v.Decisions(id)); err != nil {
		return out, bad, err
	}
	out.Evidence, err = listed(v.Evidence(id))
	return out, bad, err
}

func listed[T any](list []T, err error) ([]T, error) { return emptyNotNil(list), err }

// emptyNotNil makes a nil slice an empty one, so that an export always has a list.
func emptyNotNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
