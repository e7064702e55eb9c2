package text

import (
	"slices"
	"strings"

	"reclaim/engine/plan"
	"reclaim/ui/text/clean"
)

// OnFailure says beforehand what a run rolls back by itself when a resource of it fails. dataOf names what deleting an object
// of a type destroys, "" for nothing; losses are the IDs whose data may go.
func (pg Page) OnFailure(p *plan.Plan, dataOf func(typ string) string, losses []string) string {
	w := pg.open()
	var made, kept []string
	for i := range p.Items {
		it := &p.Items[i]
		if it.Action != plan.Create && it.Action != plan.Replace && it.Action != plan.Wait {
			continue
		}
		if data := dataOf(it.Type); data != "" && !slices.Contains(losses, it.ID) {
			kept = append(kept, it.ID+" (holds "+data+": --allow-data-loss "+it.ID+")")
		} else {
			made = append(made, it.ID)
		}
	}
	w.line(w.paint(warn, "if a resource fails: rollback"))
	say := func(label string, list []string) {
		if len(list) > 0 {
			w.labelled(2, 10, label, strings.Join(list, ", "), plain)
		}
	}
	say("deleted", made)
	say("kept", kept)
	if len(made)+len(kept) == 0 {
		w.line("  nothing: this plan makes nothing new")
	}
	w.para(2, plain, clean.Clean("What this run has made by then is deleted again, newest first. What it changed in place or deleted is not restored, but for a replaced generation that is still there."))
	return w.String()
}
