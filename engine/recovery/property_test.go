package recovery

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// drawn is any evidence at all, of any class.
func drawn(t *rapid.T, tb testing.TB) Evidence {
	names := make([]string, 0, len(classes))
	for name := range classes {
		names = append(names, name)
	}
	slices.Sort(names)
	e := evidence(tb, classes[rapid.SampledFrom(names).Draw(t, "class")])
	for _, c := range []struct {
		name  string
		apply func(*Evidence)
	}{
		{"one", func(e *Evidence) { e.Candidates = append(e.Candidates, anyCandidate(t, e.Schema, "X1")) }},
		{"two", func(e *Evidence) {
			c := anyCandidate(t, e.Schema, "X2")
			if e.Schema.KeyByParams() {
				c.Key = resource.Key{"Name": "orders-2"}
			}
			e.Candidates = append(e.Candidates, c)
		}},
		{"outcomes", func(e *Evidence) {
			outcomes(rapid.SliceOfN(rapid.SampledFrom([]record.Outcome{record.Going, record.Refused, record.Exists, record.Unsure, record.Confirmed}), 0, 3).Draw(t, "of")...)(e)
		}},
		{"acknowledged", acknowledged}, {"recorded ID", recordedID}, {"former", former}, {"rival", rival}, {"denied", denied},
		{"claimed", claimed}, {"seen", seen("X1")}, {"retired", retired(record.PolicyDelete, hourLater)},
		{"not looked", func(e *Evidence) { e.Looked = false }},
		{"wrong place", func(e *Evidence) { e.Wrong = "elsewhere" }},
		{"entered", func(e *Evidence) { e.Entered = e.Schema.Physical(resource.Key{"Id": "X1", "Name": "orders"}) }},
		{"running", func(e *Evidence) { e.Request = RequestRunning }},
		{"failed", func(e *Evidence) { e.Request = RequestFailed }},
		{"early", at(t0.Add(time.Second))},
		{"adopting", adopting("X1")}, // last: it drops the intent
	} {
		if rapid.IntRange(0, 3).Draw(t, c.name) == 0 {
			c.apply(&e)
		}
	}
	return e
}

func anyCandidate(t *rapid.T, s *resource.Schema, id string) resource.Candidate {
	c := candidate(s, id)
	for _, f := range []struct {
		name  string
		apply func(*resource.Candidate)
	}{{"our tags", ourTags}, {"our nonce", ourNonce}, {"former nonce", tags(resource.TagNonce, "former")}, {"other store", otherStore},
		{"cfn", cfn}, {"older", older}, {"resized", resized}, {"reshaped", reshaped}, {"no owner", ownerless}} {
		if rapid.IntRange(0, 3).Draw(t, id+" "+f.name) == 0 && (f.name == "no owner" || c.Owner != nil) {
			f.apply(&c)
		}
	}
	return c
}

func TestWhateverTheEvidence(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := drawn(rt, t)
		f := Judge(e)
		if d := cmp.Diff(f, Judge(e)); d != "" {
			rt.Fatalf("not deterministic: %s", d)
		}
		auto := map[string]record.Choice{"1": record.GoOn, "2": record.Reclaim, "5": record.Reclaim, "8": record.Retry, "5w": record.Wait, "10": record.Wait,
			"12": record.Retry, "13": record.Retry, "d": record.Wait}
		if f.Auto && auto[f.Row] != f.Default { // S19
			rt.Fatalf("row %s carries out %q by itself", f.Row, f.Default)
		}
		struckOne := map[string]string{}
		for _, c := range f.Candidates {
			struckOne[c.Physical] = c.Strike
			if c.Strike != "" && c.Owner[resource.TagNonce] == nonce && e.Record.Intent != nil {
				rt.Fatalf("%s carries our nonce and is struck (%s)", c.Physical, c.Strike)
			}
		}
		for _, o := range f.Offered {
			strike := struckOne[o.Physical]
			switch o.Choice {
			case record.Adopt:
				if strike == "a" || o.Typed == "" {
					rt.Fatalf("adopt of %s: strike %q, typed %q", o.Physical, strike, o.Typed)
				}
			case record.Reclaim, record.Replace:
				if strike != "" {
					rt.Fatalf("%s of %s, struck %s", o.Choice, o.Physical, strike)
				}
			case record.DeleteIt:
				if strike != "" && strike != "d" {
					rt.Fatalf("delete of %s, struck %s", o.Physical, strike)
				}
			case record.Retry:
				if slices.ContainsFunc(f.Candidates, func(c Candidate) bool {
					return c.Strike == "" && (c.Owner[resource.TagNonce] == nonce || c.Owner[resource.TagStack] == stack.String())
				}) {
					rt.Fatalf("row %s: a retry beside an object of ours", f.Row)
				}
			}
		}
		if f.Auto && (f.Default == record.Reclaim || f.Default == record.GoOn) && (f.Offered[0].Choice != f.Default || f.Offered[0].Physical == "") {
			rt.Fatalf("row %s does not say which object: %+v", f.Row, f.Offered[0])
		}
		if f.Auto && (e.LookErr != nil || !e.Looked || e.Wrong != "") {
			rt.Fatalf("row %s acts by itself on no look", f.Row)
		}
	})
}

// S17
func TestFactsMoveOnlyWithFacts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := drawn(rt, t)
		before := Judge(e).Facts
		by := time.Duration(rapid.IntRange(1, 1e6).Draw(rt, "seconds")) * time.Second
		e.Now = e.Now.Add(by)
		e.Record.Rev, e.Record.Seq, e.Record.UpdatedAt = e.Record.Rev+1, e.Record.Seq+1, e.Now
		e.Looks = []record.Look{{Call: "GetThing", At: e.Now, Result: "again"}}
		for i := range e.Candidates {
			e.Candidates[i].ServedAt = e.Now
		}
		if Judge(e).Facts != before {
			rt.Fatal("the facts moved with time alone")
		}
	})
	for name, changes := range map[string][2][]func(*Evidence){
		"existence":            {nil, change(one(ourTags))},
		"identity":             {change(one()), change(func(e *Evidence) { one()(e); e.Candidates[0].Identity.UniqueID = "X9" })},
		"ownership":            {change(one(ourTags)), change(one(ourTags, ourNonce))},
		"a compared field":     {change(one(ourTags)), change(one(ourTags, resized))},
		"another candidate":    {change(one(ourNonce)), change(one(ourNonce), two(ourNonce))},
		"a claim":              {change(one()), change(one(), claimed)},
		"the answer":           {nil, change(denied)},
		"an attempt's outcome": {nil, change(outcomes(record.Refused))},
	} {
		t.Run(name, func(t *testing.T) {
			s := classes["Named taggable"]
			if Judge(evidence(t, s, changes[0]...)).Facts == Judge(evidence(t, s, changes[1]...)).Facts {
				t.Error("the facts are the same")
			}
		})
	}
}

// S32: sensitive values sent, and what a read shows of them, are in no finding.
func TestFindingsHoldNoSecrets(t *testing.T) {
	e := evidence(t, classes["Named taggable"], one(ourNonce))
	e.Record.Intent.Params = e.Sealer.SealMap(params().With("Parent", value.Of("hunter2").AsSensitive()))
	e.Candidates[0].Params = params().With("Parent", value.Of("hunter2"))
	for _, f := range Judge(e).Candidates[0].Fields {
		if f.Desired.Reveal() == "hunter2" || f.Observed.Reveal() == "hunter2" {
			t.Errorf("%s shows it", f.Path)
		}
		if f.Path == "Parent" && f.Verdict != "match" {
			t.Errorf("the same secret: %s", f.Verdict)
		}
	}
}
