package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/diff"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

func TestAStaleApprovalIsToldWhatMoved(t *testing.T) { // S17
	secret := func(s string) value.Value { return sealer().Seal(value.Of(s).AsSensitive()) }
	field := func(path string, observed value.Value) diff.Field {
		return diff.Field{Path: value.Path(path), By: diff.ByConfig, Verdict: diff.Differs, Desired: value.Of("want"), Observed: observed}
	}
	there := func(id string) Look {
		return Look{Obs: &resource.Observation{Identity: resource.Identity{UniqueID: id}, Owner: resource.Tags{resource.TagNonce: "n-" + id}}}
	}
	found := func(v recovery.Verdict, physical ...string) *recovery.Finding {
		f := &recovery.Finding{Verdict: v}
		for _, p := range physical {
			f.Candidates = append(f.Candidates, recovery.Candidate{Physical: p})
		}
		return f
	}
	for why, c := range map[string]struct {
		was, now Item
		want     []string
	}{
		"nothing moved": {Item{Seen: seen(there("a")), Fields: []diff.Field{field("Path", value.Of("/"))}},
			Item{Seen: seen(there("a")), Fields: []diff.Field{field("Path", value.Of("/"))}}, nil},
		"a field": {Item{Fields: []diff.Field{field("Path", value.Of("/")), field("Age", value.Of(1))}},
			Item{Fields: []diff.Field{field("Path", value.Of("/x")), field("Age", value.Of(1))}}, []string{`Path was "/", is "/x"`}},
		"a field went": {Item{Fields: []diff.Field{field("Path", value.Of("/"))}}, Item{Fields: []diff.Field{field("Path", value.Value{})}},
			[]string{`Path was "/", is not there`}},
		"a secret is not shown": {Item{Fields: []diff.Field{field("Key", secret("swordfish"))}},
			Item{Fields: []diff.Field{field("Key", secret("marlin"))}}, []string{"Key (sensitive) has another value now"}},
		"another object": {Item{Seen: seen(there("a"))}, Item{Seen: seen(there("b"))},
			[]string{"its identity was ID a, is ID b", "its marking was reclaim:nonce=n-a, is reclaim:nonce=n-b"}},
		"an object came": {Item{Action: Create}, Item{Seen: seen(there("a"))},
			[]string{"the object was absent, is there", "its identity was none, is ID a", "its marking was none, is reclaim:nonce=n-a"}},
		"nobody could look": {Item{Seen: seen(there("a"))}, Item{Seen: seen(Look{Err: &resource.Error{Kind: resource.AccessDenied}})},
			[]string{"the object was there, is not readable"}},
		"the object went": {Item{Seen: seen(there("a"))}, Item{}, []string{"the object was there, is absent"}},
		"the verdict": {Item{Finding: found(recovery.VerdictOurs, "a")}, Item{Finding: found(recovery.VerdictAmbiguous, "a", "b")},
			[]string{`the verdict was "ours", is "ambiguous"`, "what was found was a, is a, b"}},
	} {
		b, err := json.Marshal(c.was) // as it comes back from a plan's file
		if err != nil {
			t.Fatal(err)
		}
		var was Item
		if err := json.Unmarshal(b, &was); err != nil {
			t.Fatal(err)
		}
		got := Moved(&was, &c.now)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", why, d)
		}
		if strings.Contains(strings.Join(got, ""), "swordfish") {
			t.Errorf("%s: a secret is in it", why)
		}
	}
}
