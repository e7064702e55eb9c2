package providers

import (
	"time"

	"reclaim/engine/resource"
)

// raise returns p with a consistency window of at least atLeast (SAFETY S12). Local types have none. Of the optional
// abilities it keeps those that cloud types have, resource.Finder and resource.Expander.
func raise(p resource.Provider, atLeast time.Duration) resource.Provider {
	s := p.Schema()
	if s.Local || s.Window >= atLeast {
		return p
	}
	c := *s // schemas are shared
	c.Window = atLeast
	w := raised{p, &c}
	f, finds := p.(resource.Finder)
	e, expands := p.(resource.Expander)
	switch {
	case finds && expands:
		return raisedBoth{w, f, e}
	case finds:
		return raisedFinder{w, f}
	case expands:
		return raisedExpander{w, e}
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

type raisedExpander struct {
	raised
	resource.Expander
}

type raisedBoth struct {
	raised
	resource.Finder
	resource.Expander
}
