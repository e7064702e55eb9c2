package recovery

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// all stands for every class; the others are substrings of class names.
const all = ""

// told writes what a Finding lets anyone do: row, verdict, default, auto, and what is offered (typed ones marked).
func told(f Finding) string {
	s := f.Row + " " + string(f.Verdict)
	if f.Default != "" {
		s += " | " + string(f.Default)
	} else {
		s += " | -"
	}
	if f.Auto {
		s += " auto"
	}
	s += " |"
	for _, o := range f.Offered {
		s += " " + string(o.Choice)
		if o.Typed != "" {
			s += "!"
		}
	}
	return s
}

type claim struct {
	classes []string // names that have one of these in them
	but     []string // and none of these
	changes []func(*Evidence)
	want    string // as told writes it
}

func (c claim) covers(class string) bool {
	has := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(class, w) })
	}
	return has(c.classes) && !has(c.but)
}

func change(c ...func(*Evidence)) []func(*Evidence) { return c }

var taggable = []string{" taggable", "natural key", "Token"}

// keyed are the classes with an object at their key; ours to choose or natural.
var keyed = []string{"Named", "Upsert", "natural key"}

const (
	unknown  = "0 unknown | - | look abandon later"
	ours     = "2 ours | reclaim auto | reclaim delete abandon later"
	presumed = "5 presumed ours | reclaim auto | reclaim abandon delete! later"
	unproven = "7 unproven | - | adopt! look abandon later"
	refused  = "8 not created | retry auto | retry abandon later"
	waiting  = "10 not visible yet | wait auto | wait look later"
	stays    = "14 uncertain | later | later retry enter-id abandon"
)

var verdicts = map[string]claim{
	// Row 0.
	"0: nothing is known before a look":                                 {[]string{all}, nil, change(func(e *Evidence) { e.Looked = false }), unknown},
	"0: a denied look is no absence":                                    {[]string{all}, nil, change(denied), unknown},
	"0: a denied look proves nothing about what else was found":         {[]string{all}, nil, change(one(ourTags, ourNonce), denied), unknown},
	"0: a malformed answer is no absence":                               {[]string{all}, nil, change(func(e *Evidence) { e.LookErr = &resource.Error{Kind: resource.ReadInvalid} }), unknown},
	"0: S2: absence in another account is no absence":                   {[]string{all}, nil, change(func(e *Evidence) { e.Wrong = "other account" }), unknown},
	"0: an object whose tags cannot be read":                            {taggable, nil, change(one(ownerless)), unknown},
	"0: a second one whose tags cannot be read may carry the nonce too": {[]string{"Assigned taggable", "Token"}, nil, change(one(ourTags, ourNonce), two(ownerless)), unknown},

	// Adopting.
	"1: the adopted object is there": {[]string{"Named", "Upsert"}, nil, change(adopting("X1"), one(older, cfn)), "1 adopting | continue auto | continue later"},
	"1b: another object is there":    {[]string{"Named", "Upsert"}, nil, change(adopting("X0"), one()), "1b changed | - | look abandon later"},
	"1b: nothing is there":           {[]string{"Named", "Upsert"}, nil, change(adopting("X1")), "1b changed | - | look abandon later"},

	// Strikes, where the key is ours.
	"a: claimed by another resource, never adopted":     {keyed, nil, change(one(), claimed), "a foreign | - | abandon look later"},
	"a: wins over other strikes":                        {keyed, nil, change(one(older, cfn), claimed), "a foreign | - | abandon look later"},
	"b: another store's tags":                           {[]string{"Named taggable", "Upsert taggable", "natural key"}, nil, change(one(otherStore)), "b foreign | - | adopt! abandon look later"},
	"b: CloudFormation's marks":                         {[]string{"Named taggable", "Upsert taggable", "natural key"}, nil, change(one(cfn)), "b foreign | - | adopt! abandon look later"},
	"b: S4: an ancestor's tags alone are not ours":      {[]string{"Named taggable", "Upsert taggable", "natural key"}, nil, change(one(ourTags, tags(resource.TagStore, "store-0"))), "b foreign | - | adopt! abandon look later"},
	"b: our tags do not undo another tool's marks":      {[]string{"Named taggable"}, nil, change(one(ourTags, cfn)), "b foreign | - | adopt! abandon look later"},
	"c: there at the preflight":                         {keyed, nil, change(one(), seen("X1")), "c foreign | - | adopt! abandon look later"},
	"c: older than the intent":                          {keyed, nil, change(one(older)), "c foreign | - | adopt! abandon look later"},
	"d: the retired generation, its deletion under way": {keyed, nil, change(one(older), retired("", hourLater.Add(-time.Second))), "d deletion pending | wait auto | wait delete look later"},
	"d: past its window":                                {keyed, nil, change(one(older), retired("", t0)), "d deletion pending | - | delete abandon look later"},
	"d: retained":                                       {keyed, nil, change(one(older), retired(record.PolicyRetain, time.Time{})), "d deletion pending | - | abandon look later"},
	// Strikes, where the cloud assigns the ID: it goes on as absent.
	"a struck API leaves the create uncertain":      {[]string{"Assigned"}, nil, change(one(ourTags), claimed), stays},
	"an older one too":                              {[]string{"Assigned"}, nil, change(one(ourTags, older)), stays},
	"one that was there at the preflight too":       {[]string{"Assigned"}, nil, change(one(ourTags), seen("X1")), stays},
	"and with an open window it is not visible yet": {[]string{"Assigned"}, nil, change(one(ourTags, older), at(t0.Add(time.Second))), waiting},
	"and a token goes on to be replayed":            {[]string{"Token"}, nil, change(one(ourTags, older)), "13 replayable | retry auto | retry abandon later"},
	// The nonce is stronger than any strike.
	"2: never struck: claimed, marked, old, there before, retired": {taggable, nil,
		change(one(ourNonce, otherStore, cfn, older), claimed, seen("X1"), retired("", t0)), ours},

	"2: our nonce":                                            {taggable, nil, change(one(ourTags, ourNonce)), ours},
	"2: our nonce inside the window":                          {taggable, nil, change(one(ourNonce), at(t0)), ours},
	"2: our nonce, though every attempt was refused":          {taggable, nil, change(one(ourNonce), outcomes(record.Refused)), ours},
	"2: our nonce, though it was answered that it exists":     {taggable, nil, change(one(ourNonce), outcomes(record.Unsure, record.Exists)), ours},
	"2: our nonce beside strangers":                           {[]string{"Assigned taggable", "Token"}, nil, change(one(ourNonce), two(ourTags)), ours},
	"2: our nonce beside a struck one":                        {[]string{"Assigned taggable", "Token"}, nil, change(one(ourNonce), two(ourTags, older)), ours},
	"2: our nonce on one that a replacement will follow":      {taggable, nil, change(one(ourNonce, reshaped)), "2 ours | reclaim auto | reclaim replace delete abandon later"},
	"2: an acknowledged object with the recorded ID is known": {[]string{"Named taggable"}, nil, change(acknowledged, one(older), recordedID), ours},
	"3: our nonce on two":                                     {taggable, nil, change(one(ourNonce), two(ourNonce)), "3 ambiguous | - | reclaim reclaim abandon later"},
	"4: our tags, no nonce":                                   {taggable, nil, change(one(ourTags)), "4 ours, other attempt | - | reclaim abandon later"},
	"4: our tags, another nonce":                              {taggable, nil, change(one(ourTags, tags(resource.TagNonce, "other"))), "4 ours, other attempt | - | reclaim abandon later"},
	"4: our tags on two":                                      {[]string{"Assigned taggable", "Token"}, nil, change(one(ourTags), two(ourTags)), "4 ours, other attempt | - | reclaim reclaim abandon later"},
	"4: the nonce of an earlier intent, however old":          {taggable, nil, change(former, one(tags(resource.TagNonce, "former"), older)), "4 ours, other attempt | - | reclaim abandon later"},
	"5: untaggable, absent before, sent, equal, alone":        {[]string{"untaggable"}, nil, change(one()), presumed},
	"5: acknowledged":                                         {[]string{"untaggable"}, []string{"Named"}, change(acknowledged, one()), presumed},
	"6: two equal objects":                                    {[]string{"Assigned untaggable"}, nil, change(one(), two()), "6 ambiguous | - | reclaim reclaim abandon later"},
	"6: S13: two records that one object fits":                {[]string{"Assigned untaggable"}, nil, change(one(), rival), "6 ambiguous | - | reclaim abandon later"},
	"5: of two, the struck one does not count":                {[]string{"Assigned untaggable"}, nil, change(one(), two(older)), presumed},
	"5w: untaggable inside the window is waited for":          {[]string{"untaggable"}, nil, change(one(), at(t0.Add(time.Second))), "5w not visible yet | wait auto | wait look abandon later"},
	"7: untaggable, not equal":                                {[]string{"Named untaggable", "Upsert untaggable"}, nil, change(one(resized)), unproven},
	"7: untaggable, every attempt refused":                    {[]string{"untaggable"}, nil, change(one(), outcomes(record.Refused)), unproven},
	"7: untaggable, no look before":                           {[]string{"untaggable"}, nil, change(one(), func(e *Evidence) { e.Record.Intent.Preflight = record.Preflight{} }), unproven},
	"7: taggable without tags":                                {[]string{"Named taggable", "Upsert taggable", "natural key"}, nil, change(one()), unproven},
	"7: equality proves nothing of a taggable type":           {[]string{"Named taggable", "Upsert taggable"}, nil, change(one(), outcomes(record.Unsure, record.Exists)), unproven},
	"7: S9: an acknowledged Upsert without our nonce":         {[]string{"Upsert taggable"}, nil, change(acknowledged, one()), unproven},
	"8: absent, every attempt refused":                        {[]string{all}, nil, change(outcomes(record.Refused, record.Refused)), refused},
	"8: also inside the window":                               {[]string{all}, nil, change(outcomes(record.Refused), at(t0)), refused},
	"not 8: an earlier intent may have been carried out":      {[]string{"Assigned"}, nil, change(former, outcomes(record.Refused)), stays},
	"8: S11: the service says that the request failed":        {[]string{"Token"}, nil, change(func(e *Evidence) { e.Request = RequestFailed }), refused},
	"9: absent, answered that it exists":                      {[]string{all}, nil, change(outcomes(record.Unsure, record.Exists)), "9 exists but unreadable | - | look retry enter-id abandon later"},
	"9: not without such an answer":                           {[]string{"Named"}, nil, change(outcomes(record.Unsure, record.Refused)), "12 not created | retry auto | retry abandon later"},
	"10: absent inside the window":                            {[]string{all}, nil, change(at(t0.Add(window - time.Second))), waiting},
	"10: S12: also when it was acknowledged":                  {[]string{all}, nil, change(acknowledged, at(t0.Add(time.Second))), waiting},
	"10: the request is still running":                        {[]string{"Token"}, nil, change(func(e *Evidence) { e.Request = RequestRunning }), waiting},
	"11: absent, acknowledged before":                         {[]string{all}, nil, change(acknowledged), "11 gone since | - | look later"},
	"not 11: a success without an ID is uncertain":            {[]string{"Assigned"}, nil, change(outcomes(record.Confirmed), func(e *Evidence) { e.Record.AckedAt = t0 }), stays},
	"12: absent, the name is ours to choose":                  {keyed, nil, nil, "12 not created | retry auto | retry abandon later"},
	"13: absent, the token alive":                             {[]string{"Token"}, nil, nil, "13 replayable | retry auto | retry abandon later"},
	"14: absent, the token expired":                           {[]string{"Token"}, nil, change(at(t0.Add(37 * time.Hour))), stays},
	"14: S11: a definite failure spends the token":            {[]string{"Token"}, nil, change(outcomes(record.Unsure, record.Refused)), stays},
	"14: absent, the cloud assigns the ID":                    {[]string{"Assigned"}, nil, nil, stays},
	"14: a name alone makes no candidate":                     {[]string{"Assigned taggable"}, nil, change(one()), stays},
	"14: an unequal sibling is none":                          {[]string{"Assigned untaggable"}, nil, change(one(resized)), stays},
	// S15: an ID that was typed is judged by the same table.
	"S15: typed, and nothing proves it": {[]string{"Assigned", "Token"}, []string{"untaggable"}, change(one(), entered), unproven},
	"S15: typed, unequal":               {[]string{"Assigned untaggable"}, nil, change(one(resized), entered), unproven},
	"S15: typed, and ours":              {[]string{"Assigned taggable", "Token"}, nil, change(one(ourNonce), entered), ours},
	"S15: typed, another store's":       {[]string{"Assigned taggable", "Token"}, nil, change(one(otherStore), entered), "b foreign | - | adopt! abandon look later"},
	"S15: typed, another record's":      {[]string{"Assigned", "Token"}, nil, change(one(), entered, claimed), "a foreign | - | abandon look later"},
}

func entered(e *Evidence) { e.Entered = e.Schema.Physical(e.Candidates[0].Key) }

func recordedID(e *Evidence) { e.Record.Identity = resource.Identity{UniqueID: "X1"} }

func former(e *Evidence) {
	e.Record.Former = []record.Intent{{Nonce: "former", At: t0.Add(-time.Hour), Attempts: []record.Attempt{{N: 1, SentAt: t0.Add(-time.Hour), Outcome: record.Unsure}}}}
}

func TestVerdictTable(t *testing.T) {
	rows, met := map[string]bool{}, map[string]bool{}
	for name, c := range verdicts {
		some := false
		for class, schema := range classes {
			if !c.covers(class) {
				continue
			}
			some, met[class] = true, true
			t.Run(name+"/"+class, func(t *testing.T) {
				f := Judge(evidence(t, schema, c.changes...))
				rows[f.Row] = true
				if d := cmp.Diff(c.want, told(f)); d != "" {
					t.Errorf("-want +got\n%s\n%s", d, f.Summary)
				}
				if f.Summary == "" || len(f.Lines) == 0 || f.Facts == "" || f.Rev != 7 {
					t.Errorf("a finding without summary, evidence, facts or revision: %+v", f)
				}
				for _, o := range f.Offered {
					if o.Call == "" || o.Loss == "" || o.Follows == "" {
						t.Errorf("%s does not say its call, loss and what follows", o.Choice)
					}
				}
			})
		}
		if !some {
			t.Errorf("%q covers no class", name)
		}
	}
	for _, r := range table {
		if !rows[r.name] {
			t.Errorf("row %s is never reached", r.name)
		}
	}
	if len(met) != len(classes) {
		t.Errorf("classes met: %v", met)
	}
}

// S4
func TestAncestorsTagsWithTheRecordedIDAreOurs(t *testing.T) {
	e := evidence(t, classes["Named taggable"], one(ourTags, tags(resource.TagStore, "store-0")), recordedID)
	if f := Judge(e); f.Row != "4" {
		t.Errorf("row %s: %s", f.Row, f.Summary)
	}
}

func TestAdoptionNamesTheOwner(t *testing.T) {
	f := Judge(evidence(t, classes["Named taggable"], one(otherStore)))
	o, _ := f.Option(record.Adopt, "orders")
	if o.Typed != "store store-9" {
		t.Errorf("typed %q", o.Typed)
	}
}

func TestDeletingDataIsTyped(t *testing.T) {
	s := *classes["Named taggable"]
	s.DataBearing, s.Data = true, "log events"
	o, _ := (func() *Finding { f := Judge(evidence(t, &s, one(ourNonce))); return &f }()).Option(record.DeleteIt, "")
	if o.Typed != "orders" || !strings.Contains(o.Loss, "log events") {
		t.Errorf("delete: %+v", o)
	}
}

// S12: five minutes either way is no evidence; order between the clocks is by the service's.
func TestCreationTime(t *testing.T) {
	for name, c := range map[string]struct {
		created time.Duration
		offset  time.Duration
		side    Side
		row     string
	}{
		"just before the intent says nothing":             {-4 * time.Minute, 0, Neutral, "7"},
		"just after it says nothing":                      {4 * time.Minute, 0, Neutral, "7"},
		"six minutes before is a strike":                  {-6 * time.Minute, 0, Against, "c"},
		"our clock was ahead: corrected, it says nothing": {-12 * time.Minute, -10 * time.Minute, Neutral, "7"},
		"our clock was behind: corrected, it is older":    {2 * time.Minute, 10 * time.Minute, Against, "c"},
	} {
		t.Run(name, func(t *testing.T) {
			e := evidence(t, classes["Named taggable"], one(func(o *resource.Candidate) { o.CreatedAt = t0.Add(c.created) }))
			e.Record.Intent.Offset = c.offset
			f := Judge(e)
			i := slices.IndexFunc(f.Lines, func(l Line) bool { return strings.HasPrefix(l.Text, "created ") })
			if f.Row != c.row || i < 0 || f.Lines[i].Side != c.side {
				t.Errorf("row %s, lines %+v", f.Row, f.Lines)
			}
		})
	}
}

// S12: the window runs on the service's clock.
func TestWindowOnTheServicesClock(t *testing.T) {
	e := evidence(t, classes["Named taggable"], at(t0.Add(10*time.Minute+10*time.Second)))
	e.Record.Intent.Offset = 10 * time.Minute // ours is behind
	e.Now = t0.Add(10 * time.Second)
	f := Judge(e)
	if f.Row != "10" || !f.Until.Equal(t0.Add(window)) {
		t.Errorf("row %s until %s", f.Row, f.Until)
	}
	e.Now = t0.Add(-time.Hour) // recovered on another machine, whose clock is wrong
	e.Looks[0].At = t0.Add(10*time.Minute + window)
	if f := Judge(e); f.Row != "12" {
		t.Errorf("row %s after the window", f.Row)
	}
}

func TestAcknowledgementInsideTheWindow(t *testing.T) {
	e := evidence(t, classes["Named taggable"], acknowledged, at(t0.Add(time.Minute)))
	e.Record.AckedAt = t0.Add(45 * time.Second)
	if f := Judge(e); f.Row != "10" {
		t.Errorf("row %s", f.Row)
	}
}

func TestRetrySaysWhatItNeeds(t *testing.T) {
	e := evidence(t, classes["Named taggable"])
	e.Record.Intent.Params = e.Sealer.SealMap(value.Map{"Name": value.Of("orders"), "Size": value.Of(1).AsSensitive()})
	f := Judge(e)
	o, _ := f.Option(record.Retry, "")
	if !strings.Contains(o.Follows, "stack file and its parameters are needed") {
		t.Errorf("follows: %s", o.Follows)
	}
}

func TestUnknownType(t *testing.T) {
	e := evidence(t, classes["Named taggable"], one(ourNonce))
	e.Schema = nil
	if f := Judge(e); f.Row != "0" || f.Auto {
		t.Errorf("row %s", f.Row)
	}
}

// Any field of a record may be empty in any status.
func TestEmptyRecord(t *testing.T) {
	for class, s := range classes {
		for _, status := range []record.Status{"", record.Creating, record.Adopting, record.Acknowledged} {
			f := Judge(Evidence{Schema: s, Record: record.Record{Status: status}, Looked: true, Candidates: []resource.Candidate{{}}})
			if f.Row == "" || f.Auto && f.Row != "1" {
				t.Errorf("%s %q: row %s auto %v", class, status, f.Row, f.Auto)
			}
		}
	}
}

func TestEvidenceIsListedForAgainstAndMissing(t *testing.T) {
	f := Judge(evidence(t, classes["Named taggable"], one(ourTags, ourNonce)))
	want := []string{
		"for: tag reclaim:nonce is 5f0e…a1 [ListThingTags]",
		"for: tagged for Orders of orders-prod@123456789012/eu-west-1 [ListThingTags]",
		"for: absent before the intent [GetThing seq 118]",
		"for: no other record claims it [store]",
		"neutral: created within 5 min of the intent [GetThing]",
		"for: equal to what was sent [GetThing]",
		"neutral: attempt 1 was about to be sent; no answer is recorded [journal]",
	}
	if d := cmp.Diff(want, shown(f.Lines)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	f = Judge(evidence(t, classes["Assigned taggable"]))
	want = []string{
		"against: orders is absent [GetThing]",
		"missing: no object with our nonce or tags was found [look]",
		"neutral: attempt 1 was about to be sent; no answer is recorded [journal]",
	}
	if d := cmp.Diff(want, shown(f.Lines)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func shown(lines []Line) []string {
	var out []string
	for _, l := range lines {
		s := string(l.Side) + ": " + l.Text + " [" + l.Source
		if l.Seq > 0 {
			s += " seq 118"
		}
		out = append(out, s+"]")
	}
	return out
}

func TestTimeline(t *testing.T) {
	e := evidence(t, classes["Named taggable"])
	e.Record.Intent.Name = "orders-1a2b3c4d"
	e.Steps = []record.Step{{Seq: 40, ID: "Orders", Gen: 2, Name: record.StepCreating("Orders", 2), At: t0}}
	want := []Moment{{Seq: 40, At: t0, Text: "intent written: name orders-1a2b3c4d, nonce 5f0e…a1; GetThing said absent"},
		{At: t0, Text: "attempt 1 going out; no answer recorded"}}
	if d := cmp.Diff(want, Judge(e).Timeline); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestNamesakesAreListed(t *testing.T) {
	f := Judge(evidence(t, classes["Assigned taggable"], one(), two(ourNonce)))
	if len(f.Candidates) != 1 || f.Candidates[0].Physical != "X2" || len(f.Namesakes) != 1 || f.Namesakes[0].Physical != "X1" {
		t.Errorf("candidates %+v, namesakes %+v", f.Candidates, f.Namesakes)
	}
}
