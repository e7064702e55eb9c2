package deploy

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// siblings lets children of one parent that nothing but their params tells apart be created one at a time (S13): the look
// that says what was there before, the call, and the commit of its outcome come before the next one's look. Its zero value
// is ready for use.
type siblings struct {
	mu      sync.Mutex
	parents map[string]*parent
}

// parent is the object that siblings hang on.
type parent struct {
	turn sync.Mutex
	sent bool // a create of this run has gone out
}

// alone waits for the turn of one create and returns what ends it. first says that no sibling was created by this run
// before. Types that carry tags or have a key of their own do not wait.
func (s *siblings) alone(schema *resource.Schema, params value.Map) (first bool, end func()) {
	if schema.Identity != resource.Assigned || schema.Taggable() {
		return true, func() {}
	}
	p := s.parent(schema, params)
	p.turn.Lock()
	first, p.sent = !p.sent, true
	return first, p.turn.Unlock
}

func (s *siblings) parent(schema *resource.Schema, params value.Map) *parent {
	place := schema.Place(params)
	parts := []string{schema.Type}
	for _, name := range slices.Sorted(maps.Keys(place)) {
		parts = append(parts, place[name])
	}
	key := strings.Join(parts, "\x1f")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parents[key] == nil {
		if s.parents == nil {
			s.parents = map[string]*parent{}
		}
		s.parents[key] = &parent{}
	}
	return s.parents[key]
}
