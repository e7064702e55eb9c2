package text

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"reclaim/engine/event"
	"reclaim/ui/text/clean"
)

// Progress is how far an execution is, as its events say.
type Progress struct {
	Total    int                  `json:"total"` // items that the run is about
	Settled  map[event.Result]int `json:"settled"`
	UnderWay []Activity           `json:"underWay"` // by ID
	Draining string               `json:"draining,omitempty"`
	Waits    time.Time            `json:"waits,omitzero"` // until when a former holder's calls are waited out
	Events   uint64               `json:"events"`
	At       time.Time            `json:"at"` // of the last event
	Ended    bool                 `json:"ended"`
}

// Activity is a resource that is being worked on.
type Activity struct {
	ID    string    `json:"id"`
	Gen   int       `json:"generation"`
	Phase string    `json:"phase"`
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"` // of a wait
}

// ProgressOf adds events up, in their order.
func ProgressOf(events func(yield func(event.Envelope))) *Progress {
	p := &Progress{Settled: map[event.Result]int{}, UnderWay: []Activity{}}
	busy := map[string]Activity{}
	events(func(e event.Envelope) {
		p.Events, p.At = e.N, e.At
		switch ev := e.Event.(type) {
		case event.Began:
			p.Total, p.Waits = len(ev.Items), ev.Waits
		case event.Phase:
			busy[ev.ID] = Activity{ev.ID, ev.Gen, ev.Phase, e.At, ev.Until}
		case event.Settled:
			delete(busy, ev.ID)
			p.Settled[ev.Result]++
		case event.Draining:
			p.Draining = ev.Why
		case event.Ended:
			p.Ended = true
		}
	})
	for _, id := range slices.Sorted(maps.Keys(busy)) {
		p.UnderWay = append(p.UnderWay, busy[id])
	}
	return p
}

// settledWords is "3 of 10 settled (1 failed, 2 done)".
func settledWords(settled map[event.Result]int, total int) string {
	n := 0
	for _, c := range settled {
		n += c
	}
	text := fmt.Sprintf("%d of %d settled", n, total)
	if c := resultCounts(settled); c != "" {
		text += " (" + c + ")"
	}
	return text
}

// underWayShown is how many activities a line names.
const underWayShown = 3

func (w *page) progress(p *Progress) {
	text := settledWords(p.Settled, p.Total)
	if !p.At.IsZero() {
		text += "; last event " + Age(w.Now, p.At)
	}
	w.labelled(2, 11, "progress", text, plain)
	if p.Draining != "" {
		w.labelled(2, 11, "draining", p.Draining, warn)
	}
	var doing []string
	for _, a := range p.UnderWay[:min(len(p.UnderWay), underWayShown)] {
		t := fmt.Sprintf("%s: %s since %s", clean.Clean(a.ID), clean.Clean(a.Phase), Age(w.Now, a.Since))
		if !a.Until.IsZero() {
			t += ", until " + Stamp(a.Until)
		}
		doing = append(doing, t)
	}
	if n := len(p.UnderWay) - underWayShown; n > 0 {
		doing = append(doing, fmt.Sprintf("and %d more", n))
	}
	if len(doing) > 0 {
		w.labelled(2, 11, "under way", strings.Join(doing, "; "), plain)
	}
}
