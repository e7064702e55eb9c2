package plan

import (
	"cmp"
	"time"

	"reclaim/engine/resource"
)

// perCall is what a changing call takes with the look before it, when nothing is slow. It is an assumption, made to be too
// small rather than too large.
const perCall = 500 * time.Millisecond

// Span is how long a plan may take in a cloud: hardly less than Least, and no more than Most unless the service is slower
// than it is given time for, or throttles.
type Span struct{ Least, Most time.Duration }

// Estimate counts the calls of a plan along its longest chain, and all of them shared out among parallel ones. Most adds,
// for each resource of that chain, the time that its type is given to settle, to be gone, or to be visible. Local types
// need no credentials and count as nothing.
func Estimate(p *Plan, schema func(typ string) (*resource.Schema, bool), parallel int) Span {
	e := estimate{plan: p, schema: schema, done: map[string]Span{}}
	var longest Span
	var calls time.Duration
	for i := range p.Items {
		it := &p.Items[i]
		own := e.item(it)
		calls += own.Least
		chain := e.chain(it.ID)
		longest = Span{max(longest.Least, chain.Least), max(longest.Most, chain.Most)}
	}
	shared := calls / time.Duration(cmp.Or(parallel, DefaultParallel))
	return Span{max(longest.Least, shared), max(longest.Most, shared)}
}

type estimate struct {
	plan   *Plan
	schema func(string) (*resource.Schema, bool)
	done   map[string]Span // by ID, with all that it waits for
}

// chain is an ID with the longest of what it waits for.
func (e estimate) chain(id string) Span {
	if s, ok := e.done[id]; ok {
		return s
	}
	e.done[id] = Span{} // the old generation of a replacement waits for the new one, which has the same ID
	var before, own Span
	for i := range e.plan.Items {
		it := &e.plan.Items[i]
		if it.ID != id {
			continue
		}
		s := e.item(it)
		own = Span{own.Least + s.Least, own.Most + s.Most}
		for _, d := range it.DependsOn {
			s := e.chain(d)
			before = Span{max(before.Least, s.Least), max(before.Most, s.Most)}
		}
	}
	e.done[id] = Span{before.Least + own.Least, before.Most + own.Most}
	return e.done[id]
}

func (e estimate) item(it *Item) Span {
	s, ok := e.schema(it.Type)
	if !ok || s.Local || !it.CanRun() {
		return Span{}
	}
	least := perCall * time.Duration(max(1, len(it.Calls)))
	most := least
	switch it.Action {
	case Wait:
		most += s.Window
	case Delete:
		most += s.Deadlines.Delete
	case Replace:
		most += s.Deadlines.Settle + s.Deadlines.Delete
	default:
		if s.Settles {
			most += s.Deadlines.Settle
		}
	}
	return Span{least, most}
}
