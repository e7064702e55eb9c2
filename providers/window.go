package providers

import (
	"time"

	"reclaim/engine/resource"
)

// raise returns p with a consistency window of at least atLeast (SAFETY S12). Local types have none. Of the optional
// abilities it keeps the one that cloud types have, resource.Finder.
func raise(p resource.Provider, atLeast time.Duration) resource.Provider {
	s := p.Schema()
	if s.Local || s.Window >= atLeast {
		return p
	}
	c := *s // schemas are shared
	c.Window = atLeast
	w := raised{p, &c}
	if f, ok := p.(resource.Finder); ok {
		return raisedFinder{w, f}
	}
	return w
}

type raised struct {
	resource.Provider
	schema *resource.Schema
}

// Schema implements resource.Provider.
func (r raised) Schema() *resource.Schema { return r.schema }

type raisedFinder struct {
	raised
	resource.Finder
}
