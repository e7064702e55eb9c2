package store

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"reclaim/engine/record"
)

// ahead holds the records of one snapshot that were decoded before anybody asked. They are handed to the first who asks,
// and shared with nobody. The nil ahead has none.
type ahead struct {
	mu sync.Mutex
	of map[record.StackID]decoded
}

type decoded struct {
	list []record.Record
	bad  []record.BadRecord
}

func (a *ahead) take(s record.StackID) (d decoded, ok bool) {
	if a == nil {
		return d, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	d, ok = a.of[s]
	delete(a.of, s)
	return d, ok
}

func (a *ahead) keep(s record.StackID, d decoded) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.of[s] = d
}

// ReadAhead decodes the records of the stacks of this name, for the next Read, while the caller does something else: it
// leaves one processor alone. What it decoded belongs to the copy of the file that it was read from, so that a Read after
// any write decodes anew.
func (s *Store) ReadAhead(ctx context.Context, name string) error {
	err := s.readCopy(ctx, func(v *view) error {
		stacks, err := v.Stacks()
		if err != nil {
			return err
		}
		for _, id := range stacks {
			if id.Name != name {
				continue
			}
			var d decoded
			if d.list, d.bad, err = v.decode(id, max(1, runtime.NumCPU()-1)); err != nil {
				return err
			}
			v.ahead.keep(id, d)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read ahead: %w", err)
	}
	return nil
}
