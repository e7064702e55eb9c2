package text

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"reclaim/engine/record"
	"reclaim/ui/text/clean"
)

// Flaws lists what does not fit together in a store, each with what can be done.
func (pg Page) Flaws(list []record.Flaw, checked string) string {
	w := pg.open()
	if len(list) == 0 {
		w.para(0, good, "Nothing is wrong: "+checked+".")
		return w.String()
	}
	for _, f := range list {
		about := f.Stack
		if f.ID != "" {
			about = strings.TrimSpace(fmt.Sprintf("%s generation %d  %s", f.ID, f.Gen, f.Stack))
		}
		w.line(w.paint(bad, fit(string(f.Kind), 15)), clean.Clean(cmp.Or(about, f.Where)))
		w.para(2, plain, f.Text)
		if f.Where != "" && about != "" {
			w.labelled(2, 8, "where", f.Where, faint)
		}
		w.labelled(2, 8, "do", f.Remedy, plain)
		for _, c := range f.Next {
			w.line("  ", fit("next", 8), clean.Clean(c))
		}
	}
	w.line(Plural(len(list), "finding", "findings"))
	return w.String()
}

// ticks is how many clock ticks Linux counts in a second, whatever its timer's rate.
const ticks = 100

// Process says all that is known of the process behind a hold, seen from the process that here describes.
func (pg Page) Process(h Hold, here record.Owner) string {
	w := pg.open()
	o := h.Owner
	host := o.Host + ", this machine"
	if o.Host != here.Host {
		host = fmt.Sprintf("%s; this machine is %s", o.Host, here.Host)
	}
	boot := o.BootID + ", which still runs"
	switch {
	case o.BootID == "":
		boot = "not recorded"
	case o.Host != here.Host:
		boot = o.BootID
	case here.BootID == "":
		boot = o.BootID + "; this machine does not say which it runs"
	case o.BootID != here.BootID:
		boot = o.BootID + ", which has ended: the machine was started again since"
	}
	start := "not recorded"
	if o.StartTick != "" {
		start = "tick " + o.StartTick
		var n int64
		if _, err := fmt.Sscan(o.StartTick, &n); err == nil {
			start += ", " + (time.Duration(n) * time.Second / ticks).Round(time.Second).String() + " after that boot"
		}
	}
	w.line("process of the hold")
	for _, row := range [][2]string{{"user", o.User}, {"host", host}, {"pid", fmt.Sprint(o.PID)}, {"boot", boot}, {"started", start}, {"now", h.Liveness()}} {
		w.labelled(2, 11, row[0], row[1], plain)
	}
	return w.String()
}

// Forgets says what a record, or what is left of one, is known by, and what is lost when it is forgotten.
type Forgets struct {
	Stack record.StackID `json:"stack"`
	ID    string         `json:"id"`
	Gen   int            `json:"gen"`
	What  string         `json:"what"` // "record", "unusable record", "2 tombstones"
	Facts []Fact         `json:"facts"`
	Lost  []string       `json:"lost"`
}

// Fact is one thing that is known.
type Fact struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Forgets shows what is about to be forgotten.
func (pg Page) Forgets(f Forgets) string {
	w := pg.open()
	w.line(w.paint(bad, "forget"), "  ", clean.Clean(f.What), "  ", clean.Clean(f.ID), fmt.Sprintf("  generation %d", f.Gen))
	w.labelled(2, 11, "stack", f.Stack.String(), plain)
	for _, fact := range f.Facts {
		w.labelled(2, 11, fact.Name, fact.Text, plain)
	}
	for _, l := range f.Lost {
		w.labelled(2, 11, "lost", l, warn)
	}
	return w.String()
}
