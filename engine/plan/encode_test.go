package plan

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/record"
	"reclaim/engine/resource"
)

const secret = "hunter2-7f3a9c21"

// secretive has a NoEcho parameter in every place where a template can put one.
func secretive() string {
	return "Parameters:\n  Key: {Type: String, NoEcho: true, Default: " + secret + "}\n" + resources(
		thing("A", "Test::Named", "Name: a, Note: !Ref Key, Label: !Sub 'x-${Key}'"),
		thing("B", "Test::Named", "Name: b, Note: !Ref Key"),
		thing("C", "Test::Named", "Name: c, Note: !GetAtt A.Arn, Label: !Ref Key")) +
		"Outputs:\n  Key: {Value: !Ref Key}\n  Both: {Value: !Sub '${Key} ${A.Arn}'}\n"
}

func secretPlan(t *testing.T) *Plan {
	t.Helper()
	b := made("B", named, "b")
	there := object("b")
	there.Params = there.Params.With("Note", observation().Params["Name"]) // differs from what is secret
	w := &world{t: t, there: map[string]*resource.Observation{"Test::Named b": there}, view: memoryView{records: []record.Record{b}}}
	return w.plan(secretive())
}

func encode(t *testing.T, p *Plan) []byte {
	t.Helper()
	b, err := Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// S32.
func TestAPlanHoldsNoSecret(t *testing.T) {
	p := secretPlan(t)
	b := encode(t, p)
	if bytes.Contains(b, []byte(secret)) {
		t.Errorf("the secret is in the plan:\n%s", b)
	}
	if n := bytes.Count(b, []byte("$sensitive")); n < 6 {
		t.Errorf("%d values are marked sensitive, want one for each use:\n%s", n, b)
	}
	if d := cmp.Diff([]string{"A 1 create", "B 1 update", "C 1 create"}, summary(p)); d != "" {
		t.Errorf("the secrets are not where the test wants them (-want +got):\n%s", d)
	}
}

func TestAPlanComesBackAsItWas(t *testing.T) {
	p := secretPlan(t)
	b := encode(t, p)
	back, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if again := encode(t, back); !bytes.Equal(b, again) {
		t.Errorf("written again it is another:\n%s\n%s", b, again)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, b, "", "    "); err != nil {
		t.Fatal(err)
	}
	if back, err = Decode(pretty.Bytes()); err != nil || back.Fingerprint != p.Fingerprint {
		t.Errorf("its layout counts: %v", err)
	}
	if !bytes.Equal(b, encode(t, secretPlan(t))) {
		t.Error("the same plan, made again, is another")
	}
}

func TestTheFingerprintIsOfWhatWasApproved(t *testing.T) {
	base := secretPlan(t)
	for why, c := range map[string]struct {
		change func(*Plan)
		same   bool
	}{
		"when it was made":         {func(p *Plan) { p.MadeAt = now.Add(time.Hour) }, true},
		"when it was looked":       {func(p *Plan) { p.Items[1].ReadAt = now.Add(time.Hour) }, true},
		"the stack":                {func(p *Plan) { p.Stack.Name = "other" }, false},
		"the account":              {func(p *Plan) { p.Stack.Scope.Account = "999999999999" }, false},
		"the store":                {func(p *Plan) { p.StoreID = "store-9" }, false},
		"the verb":                 {func(p *Plan) { p.Verb = VerbDestroy }, false},
		"the template":             {func(p *Plan) { p.Template.SHA256 = "00" }, false},
		"a parameter":              {func(p *Plan) { p.Template.Parameters = nil }, false},
		"an action":                {func(p *Plan) { p.Items[0].Action = Delete }, false},
		"what an item needs":       {func(p *Plan) { p.Items[0].Needs = nil }, false},
		"facts of an observation":  {func(p *Plan) { p.Items[1].Facts = "00" }, false},
		"the revision of a record": {func(p *Plan) { p.Items[1].Rev++ }, false},
		"one item less":            {func(p *Plan) { p.Items = p.Items[:1] }, false},
		"the order of items":       {func(p *Plan) { p.Items[0], p.Items[1] = p.Items[1], p.Items[0] }, false},
	} {
		t.Run(why, func(t *testing.T) {
			p, err := Decode(encode(t, base))
			if err != nil {
				t.Fatal(err)
			}
			c.change(p)
			sum, err := fingerprint(p)
			if err != nil {
				t.Fatal(err)
			}
			if (sum == base.Fingerprint) != c.same {
				t.Errorf("the fingerprint is the same: %v, want %v", !c.same, c.same)
			}
		})
	}
}

// Items are hashed in parts: each part counts, and so does their order.
func TestTheFingerprintIsOfEveryItemOfALongPlan(t *testing.T) {
	p := secretPlan(t)
	one := p.Items[0]
	p.Items = nil
	for i := range 2*perSum + 1 {
		it := one
		it.Gen = i + 1
		p.Items = append(p.Items, it)
	}
	seen := map[string]string{}
	for why, change := range map[string]func(){
		"as it is":                 func() {},
		"the first item":           func() { p.Items[0].Rev++ },
		"one in the middle":        func() { p.Items[perSum].Rev++ },
		"the last one":             func() { p.Items[2*perSum].Rev++ },
		"the last one is missing":  func() { p.Items = p.Items[:2*perSum] },
		"two parts change places":  func() { p.Items = append(p.Items[perSum:2*perSum:2*perSum], p.Items[:perSum]...) },
		"the last part is missing": func() { p.Items = p.Items[:perSum] },
	} {
		all := slices.Clone(p.Items)
		change()
		sum, err := fingerprint(p)
		if err != nil {
			t.Fatal(err)
		}
		if other, twice := seen[sum]; twice {
			t.Errorf("%q and %q have one fingerprint", why, other)
		}
		seen[sum], p.Items = why, all
	}
}

func TestAPlanThatCannotBeTrustedIsRefused(t *testing.T) {
	p := secretPlan(t)
	whole := string(encode(t, p))
	for why, c := range map[string]struct{ text, says string }{
		"an action was edited":          {strings.Replace(whole, `"action":"update"`, `"action":"noop"`, 1), "it was changed or damaged, make the plan again"},
		"a name was edited":             {strings.Replace(whole, `"physical":"a"`, `"physical":"z"`, 1), "read plan " + p.Fingerprint},
		"its fingerprint was":           {strings.Replace(whole, p.Fingerprint, strings.Repeat("0", 64), 1), "changed or damaged"},
		"it is from another version":    {strings.Replace(whole, `{"schema":2,`, `{"schema":3,`, 1), "format version 3, this program reads 2; make the plan again"},
		"another version's other shape": {`{"schema":3,"fingerprint":"ab","items":{"A":1}}`, "format version 3, this program reads 2"},
		"it has no fingerprint":         {`{"schema":2}`, "format version 2"},
		"it is cut off":                 {whole[:len(whole)/2], "this is no plan file"},
		"it is something else":          {"Resources:\n", "this is no plan file"},
		"it is nothing":                 {"", "this is no plan file"},
	} {
		t.Run(why, func(t *testing.T) {
			if c.text == whole {
				t.Fatal("nothing was changed")
			}
			got, err := Decode([]byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.says) || got != nil {
				t.Errorf("got %v, want an error with %q", err, c.says)
			}
		})
	}
}
