package deploy_test

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"reclaim/engine/record"
	"reclaim/engine/resource"
)

// mortal is a process that dies at its n-th act: a commit or a changing call, before or after it. A dead process
// changes nothing any more, neither in the store nor in the cloud.
type mortal struct {
	mu   sync.Mutex
	left int
}

var errDead = errors.New("the process is dead")

// act counts one act, and reports whether the process is dead.
func (m *mortal) act() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left--; m.left < 0 {
		return errDead
	}
	return nil
}

func (m *mortal) cloud(c resource.Cloud) resource.Cloud {
	return &hookedCloud{Cloud: c,
		changing: func(string, string) error { return m.act() },
		answered: func(_, _ string, err error) error { return cmp.Or(m.act(), err) }}
}

type mortalStore struct {
	record.Store
	m *mortal
}

func (s mortalStore) Write(ctx context.Context, f record.Fence, fn func(record.Tx) error) error {
	if err := s.m.act(); err != nil {
		return err
	}
	if err := s.Store.Write(ctx, f, fn); err != nil {
		return err
	}
	return s.m.act()
}

func (s mortalStore) Read(ctx context.Context, f func(record.View) error) error {
	s.m.mu.Lock()
	dead := s.m.left < 0
	s.m.mu.Unlock()
	if dead {
		return errDead
	}
	return s.Store.Read(ctx, f)
}

func (s mortalStore) Release(ctx context.Context, f record.Fence, e record.Execution) error {
	if err := s.m.act(); err != nil {
		return err
	}
	return s.Store.Release(ctx, f, e)
}

func (s mortalStore) AddEvidence(context.Context, record.Evidence) error {
	return s.m.act()
}

func (s mortalStore) Emergency([]record.Evidence) (string, error) { return "", errDead }
