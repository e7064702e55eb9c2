package record

import "testing"

// S24: which execution made an object is what attempts say, and where they do not, it is nobody's.
func TestWhoMadeAnObject(t *testing.T) {
	by := func(execution string, o Outcome) Attempt { return Attempt{Execution: execution, Outcome: o} }
	for why, c := range map[string]struct {
		attempts []Attempt
		want     string
	}{
		"what was acknowledged is its sender's":               {[]Attempt{by("e-1", Unsure), by("e-2", Confirmed)}, "e-2"},
		"one unanswered attempt is its sender's":              {[]Attempt{by("e-2", Going)}, "e-2"},
		"several of one execution are too":                    {[]Attempt{by("e-2", Unsure), by("e-2", Going)}, "e-2"},
		"a refused one made nothing":                          {[]Attempt{by("e-1", Refused), by("e-2", Unsure)}, "e-2"},
		"nor one that was answered exists":                    {[]Attempt{by("e-1", Exists), by("e-2", Unsure)}, "e-2"},
		"of two that may have been executed nobody can tell":  {[]Attempt{by("e-1", Unsure), by("e-2", Unsure)}, ""},
		"where nothing was made it is who wrote the intent's": {[]Attempt{by("e-2", Refused)}, "e-1"},
		"so it is before the first attempt":                   {nil, "e-1"},
	} {
		if got := (&Intent{Execution: "e-1", Attempts: c.attempts}).Maker(); got != c.want {
			t.Errorf("%s: %q, want %q", why, got, c.want)
		}
	}
}

// S4, S15: what was adopted was made by no intent; an object that carries a former intent's nonce was made by that one.
func TestWhichIntentMadeAnObject(t *testing.T) {
	now, before := &Intent{Nonce: "n2"}, Intent{Nonce: "n1"}
	for why, c := range map[string]struct {
		r    Record
		want string
	}{
		"the record's own":           {Record{Nonce: "n2", Intent: now, Former: []Intent{before}}, "n2"},
		"a former one":               {Record{Nonce: "n1", Intent: now, Former: []Intent{before}}, "n1"},
		"before anything was proven": {Record{Intent: now, Former: []Intent{before}}, "n2"},
		"none: it was adopted":       {Record{Origin: ByAdopt, Intent: now}, ""},
		"none: found by its tags":    {Record{Nonce: "n1"}, ""},
	} {
		got := ""
		if in := c.r.Made(); in != nil {
			got = in.Nonce
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", why, got, c.want)
		}
	}
}
