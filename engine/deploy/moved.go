package deploy

import (
	"fmt"
	"strings"

	"reclaim/engine/record"
	"reclaim/engine/recovery"
)

// maxMoved is how many facts that moved a message names.
const maxMoved = 5

func movedWords(moved []string) string {
	if n := len(moved); n > maxMoved {
		moved = append(moved[:maxMoved:maxMoved], fmt.Sprintf("and %d more", n-maxMoved))
	}
	if len(moved) == 0 {
		return ""
	}
	return ": " + strings.Join(moved, "; ")
}

// movedSince says what moved since a decision was made (S17).
func movedSince(d *record.Decision, f *recovery.Finding) []string {
	var out []string
	if d.Verdict != string(f.Verdict) {
		out = append(out, fmt.Sprintf("the verdict was %q, is %q", d.Verdict, f.Verdict))
	}
	if d.Rev != f.Rev {
		out = append(out, fmt.Sprintf("the record was revision %d, is %d", d.Rev, f.Rev))
	}
	now := map[string]string{}
	for _, l := range f.Looks {
		now[l.Call] = l.Result
	}
	for _, l := range d.Looks {
		if r, looked := now[l.Call]; looked && r != l.Result {
			out = append(out, fmt.Sprintf("%s said %s, says %s", l.Call, l.Result, r))
		}
	}
	if len(out) == 0 {
		out = append(out, "the object's identity, or a field that was compared, is another now")
	}
	return out
}
