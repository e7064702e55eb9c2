package text

import (
	"fmt"

	"reclaim/engine/recovery"
	"reclaim/ui/text/clean"
)

// Orphan is one line of the list of orphans.
type Orphan struct {
	recovery.Orphan
	Seen *recovery.Sighting // nil: the cloud was not asked
	Next []string           // commands
}

// sightTone says which answers want attention.
var sightTone = map[recovery.Sight]tone{
	recovery.SightFound: warn, recovery.SightSeveral: bad, recovery.SightAnother: bad, recovery.SightUnknown: bad, recovery.SightAbsent: good, recovery.SightClaimed: good,
}

// Orphans lists orphans, and below each why it is one and, after a look, what the cloud says. hidden are those that the
// filters leave out.
func (pg Page) Orphans(list []Orphan, hidden int, next []string) string {
	w := pg.open()
	if len(list) == 0 {
		w.line("No orphans.")
	}
	for i := range list {
		o := &list[i]
		w.line(w.paint(bold, clean.Clean(o.ID)), fmt.Sprintf("  generation %d  ", o.Gen), clean.Clean(o.Status), "  ", clean.Clean(o.Type), "  ", clean.Clean(o.Stack.String()))
		w.labelled(2, 10, "why", o.Why, plain)
		w.labelled(2, 10, "since", Age(pg.Now, o.Since), plain)
		if o.Physical != "" {
			w.labelled(2, 10, "object", o.Physical, plain)
		}
		if o.Seen == nil {
			continue
		}
		w.labelled(2, 10, string(o.Seen.State), o.Seen.Summary, sightTone[o.Seen.State])
		for _, c := range o.Next {
			w.line("  ", fit("next", 10), clean.Clean(c))
		}
	}
	if hidden > 0 {
		w.linef("%s left out by the filters", Plural(hidden, "orphan is", "orphans are"))
	}
	w.next("next:", next)
	return w.String()
}
