package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"reclaim/engine/diff"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// seenObject is the fact that says whether there is an object.
const seenObject = "the object"

// seen says in words what a decision used of a look beside the fields that it compared, so that a stale approval can be
// told what moved. nil where nothing was there.
func seen(l Look) map[string]string {
	out := map[string]string{}
	switch {
	case l.Err != nil:
		out[seenObject] = "not readable"
	case l.Obs != nil:
		out[seenObject] = "there"
		if !l.Obs.Identity.IsZero() {
			out["its identity"] = identityWords(l.Obs.Identity)
		}
		if o := tagWords(l.Obs.Owner); o != "" {
			out["its marking"] = o
		}
	}
	var ours []string
	for _, c := range l.Ours {
		ours = append(ours, c.Identity.UniqueID)
	}
	if len(ours) > 0 {
		slices.Sort(ours)
		out["what carries its tags"] = strings.Join(ours, ", ")
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func tagWords(t resource.Tags) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(t)) {
		out = append(out, k+"="+t[k])
	}
	return strings.Join(out, ", ")
}

// Moved says what differs between what a plan was made on and what a later look shows, one fact each: identity, owner,
// verdict, and the fields that were compared. Empty when nothing of it moved.
func Moved(was, now *Item) []string {
	var out []string
	say := func(what, before, after string) {
		if before != after {
			out = append(out, fmt.Sprintf("%s was %s, is %s", what, cmp.Or(before, "none"), cmp.Or(after, "none")))
		}
	}
	say("the verdict", verdictOf(was.Finding), verdictOf(now.Finding))
	if was.Finding != nil && now.Finding != nil {
		say("what was found", candidates(was.Finding), candidates(now.Finding))
	}
	if was.Finding == nil && now.Finding == nil {
		before, after := cmp.Or(was.Seen[seenObject], "absent"), cmp.Or(now.Seen[seenObject], "absent")
		say(seenObject, before, after)
		facts := maps.Clone(now.Seen)
		if before == after && facts != nil {
			maps.Copy(facts, was.Seen)
		}
		delete(facts, seenObject)
		for _, f := range slices.Sorted(maps.Keys(facts)) {
			say(f, was.Seen[f], now.Seen[f])
		}
	}
	if len(was.Fields) > 0 && len(now.Fields) > 0 {
		out = append(out, movedFields(was.Fields, now.Fields)...)
	}
	return out
}

func verdictOf(f *recovery.Finding) string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%q", f.Verdict)
}

func candidates(f *recovery.Finding) string {
	var out []string
	for _, c := range f.Candidates {
		out = append(out, c.Physical)
	}
	return strings.Join(out, ", ")
}

// movedFields compares what was observed of the fields that config sets.
func movedFields(was, now []diff.Field) []string {
	before := map[value.Path]value.Value{}
	for _, f := range was {
		if f.By == diff.ByConfig {
			before[f.Path] = f.Observed
		}
	}
	var out []string
	for _, f := range now {
		old, compared := before[f.Path]
		if f.By != diff.ByConfig || !compared || sameJSON(old, f.Observed) {
			continue
		}
		if f.Observed.HasSensitive() || old.HasSensitive() {
			out = append(out, fmt.Sprintf("%s (sensitive) has another value now", f.Path))
			continue
		}
		out = append(out, fmt.Sprintf("%s was %s, is %s", f.Path, observedWords(old), observedWords(f.Observed)))
	}
	return out
}

// sameJSON compares as stored: Absent comes back from a plan's file as Null.
func sameJSON(a, b value.Value) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// maxMoved is how much of one value a message quotes, in bytes.
const maxMoved = 120

func observedWords(v value.Value) string {
	if !v.IsSet() || v.Kind() == value.Null {
		return "not there"
	}
	s := v.String()
	if len(s) > maxMoved {
		return strings.ToValidUTF8(s[:maxMoved], "") + "…"
	}
	return s
}
