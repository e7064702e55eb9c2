package text

import (
	"strings"

	"reclaim/engine/record"
	"reclaim/engine/value"
	"reclaim/ui/text/clean"
)

// WhyNotKnown says why an output has no value to show; "" when it has one.
func WhyNotKnown(v value.Value) string {
	switch {
	case v.HasUnknown():
		return "it was not known at the end of that deploy; it waits for " + strings.Join(v.Waits(), ", ")
	case v.HasSensitive():
		return "it is derived from a NoEcho parameter, or the type says that it is secret: the store keeps only a keyed hash of it"
	default:
		return ""
	}
}

// Outputs shows the outputs that a deploy left.
func (pg Page) Outputs(e *record.Execution) string {
	w := pg.open()
	w.line(w.paint(bold, clean.Clean(e.Stack.String())), "  as of ", clean.Clean(e.ID), ", ", Stamp(e.Ended))
	if len(e.Outputs) == 0 {
		w.line("No outputs.")
	}
	for _, o := range e.Outputs {
		shownAs := shown(o.Value)
		why := WhyNotKnown(o.Value)
		if why != "" {
			shownAs = "(not shown)"
		}
		w.labelled(2, 26, o.Name, shownAs, plain)
		if why != "" {
			w.labelled(4, 24, "why", why, faint)
		}
		if o.Description != "" {
			w.para(28, faint, o.Description)
		}
	}
	return w.String()
}
