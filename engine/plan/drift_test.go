package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"reclaim/engine/diff"
	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// S29 and what drift says of each kind of look. What is not a difference is not called one.
func TestWhatDriftSays(t *testing.T) {
	reached := map[DriftState]bool{DriftUnfinished: true} // said of records without a look
	for why, c := range map[string]struct {
		of      Subject
		state   DriftState
		says    string
		differs []string
	}{
		"as recorded":              {of: removed(named), state: DriftNone},
		"somebody changed a field": {of: removed(named, there(read("Size", 9))), state: DriftDiffers, says: "1 differ", differs: []string{"Size"}},
		"S29: what is not returned is unverified, and no drift": {of: removed(named, there(unread("Size", resource.GapNotReturned))), state: DriftNone},
		"S29: nor is what is never returned":                    {of: removed(named, rec(func(r *record.Record) { r.Params = r.Params.With("Seed", value.Of("s")) })), state: DriftNone},
		"nor what the service filled in":                        {of: removed(named, there(read("Note", "theirs"))), state: DriftNone},
		"S30: a field that was denied is said":                  {of: removed(named, there(unread("Size", resource.GapDenied))), state: DriftNone, says: "1 could not be read"},
		"an undecodable field is no evidence":                   {of: removed(named, there(unread("Size", resource.GapUndecodable))), state: DriftInvalid},
		"a value that cannot be right is none either":           {of: removed(named, there(read("Shape", "blue"))), state: DriftInvalid},
		"nothing is there":                                      {of: removed(named, gone), state: DriftGone},
		"S12: absence inside the window is not gone":            {of: removed(named, gone, recently), state: DriftWaiting},
		"another object is in its place":                        {of: removed(named, there(identity("U9"))), state: DriftAnother, says: "another object"},
		"S2: a denied look is not gone":                         {of: removed(named, failing(resource.AccessDenied)), state: DriftDenied},
		"an answer nobody understands":                          {of: removed(named, failing(resource.ReadInvalid)), state: DriftInvalid},
		"a look that failed":                                    {of: removed(named, failing(resource.Throttled)), state: DriftFailed},
		"an unfinished update may be why": {of: removed(named, there(read("Size", 9)), rec(func(r *record.Record) { r.Pending = params() })), state: DriftDiffers,
			says: "an update of it was not finished", differs: []string{"Size"}},
	} {
		t.Run(why, func(t *testing.T) {
			s, it := c.of, DriftItem{}
			s.Desired = s.Record.Params
			s.drifted(&it)
			reached[it.State] = true
			if it.State != c.state || !strings.Contains(it.Detail, c.says) {
				t.Fatalf("%s: %s; want %s: …%s…", it.State, it.Detail, c.state, c.says)
			}
			var differs []string
			for _, f := range it.Fields {
				if f.Verdict == diff.Differs {
					differs = append(differs, string(f.Path))
				}
			}
			if !slices.Equal(differs, c.differs) {
				t.Errorf("differ %q, want %q", differs, c.differs)
			}
		})
	}
	for _, st := range DriftStates() {
		if !reached[st] {
			t.Errorf("%q is not reached", st)
		}
	}
	for _, st := range constants(t, "drift.go", "DriftState") {
		if !slices.Contains(DriftStates(), DriftState(st)) {
			t.Errorf("%q is not in DriftStates", st)
		}
	}
}

// S32: a secret is compared by its hash, and neither side of it is shown.
func TestDriftOfASecretShowsNoSide(t *testing.T) {
	for found, want := range map[string]DriftState{"hunter2": DriftNone, "changed": DriftDiffers} {
		s := removed(named, there(read("Note", found)), rec(func(r *record.Record) {
			r.Params = r.Params.With("Note", sealer().Seal(value.Of("hunter2").AsSensitive()))
		}))
		s.Desired = s.Record.Params
		var it DriftItem
		s.drifted(&it)
		if it.State != want {
			t.Errorf("%q: %s, want %s", found, it.State, want)
		}
		for _, f := range it.Fields {
			if strings.Contains(f.Observed.String()+f.Recorded.String(), found) {
				t.Errorf("%s shows %s and %s", f.Path, f.Recorded, f.Observed)
			}
		}
	}
}

// S12: what is not visible yet says when it can be judged.
func TestDriftWindowIsNamed(t *testing.T) {
	s := removed(named, gone, recently)
	var it DriftItem
	s.drifted(&it)
	if until := now.Add(window - time.Second).Format(time.TimeOnly); !strings.Contains(it.Detail, until) {
		t.Errorf("%q does not name %s", it.Detail, until)
	}
}
