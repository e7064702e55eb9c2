package plan

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/template"
	"reclaim/engine/value"
)

var tail = regexp.MustCompile(`^(.*)-[0-9a-f]{8}$`)

func TestGeneratedNamesFitTheirType(t *testing.T) {
	letters := rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._-]{0,127}`)
	rapid.Check(t, func(t *rapid.T) {
		name, id := letters.Draw(t, "stack"), rapid.StringMatching(`[A-Za-z0-9]{1,255}`).Draw(t, "id")
		rule := &resource.NameRule{Max: rapid.IntRange(16, 512).Draw(t, "max"), Lower: rapid.Bool().Draw(t, "lower"),
			Fixed: rapid.SampledFrom([]string{"", "/reclaim/"}).Draw(t, "fixed")}
		got := NewName(name, id, rule)
		m := tail.FindStringSubmatch(got)
		if len(got) > rule.Max || m == nil {
			t.Fatalf("%q does not fit %d bytes, or does not end in 8 hex digits", got, rule.Max)
		}
		want := rule.Fixed + name + "-" + id
		if rule.Lower {
			want = strings.ToLower(want)
		}
		if !strings.HasPrefix(want, m[1]) || len(want)+9 <= rule.Max && m[1] != want {
			t.Fatalf("%q is not made of %q", got, want)
		}
	})
	rule := &resource.NameRule{Max: 64}
	if a, b := NewName("orders", "Role", rule), NewName("orders", "Role", rule); a == b {
		t.Errorf("two names are one: %s", a)
	}
}

func TestANameThatIsPinnedStays(t *testing.T) {
	byIntent := &record.Record{Intent: &record.Intent{Name: "orders-Role-7f3a9c21"}, Key: resource.Key{"Name": "other"}}
	byKey := &record.Record{Intent: &record.Intent{}, Key: resource.Key{"Name": "orders-Role-00000000"}}
	unnamed := *named
	unnamed.Name = nil
	for why, c := range map[string]struct {
		r    *record.Record
		s    *resource.Schema
		want string
	}{
		"by the intent":                     {byIntent, named, "orders-Role-7f3a9c21"},
		"by the key of what was made":       {byKey, named, "orders-Role-00000000"},
		"by nothing yet":                    {nil, named, ""},
		"of a type without generated names": {byIntent, &unnamed, ""},
	} {
		if got := PinnedName(c.r, c.s); got != c.want {
			t.Errorf("%s: %q, want %q", why, got, c.want)
		}
	}
}

func TestFactsAreWhatDependentsMayCountOn(t *testing.T) {
	k := NewKnown()
	k.Set("Named", named, value.Map{"Name": value.Of("orders"), "Note": value.Wait("Api.Arn"), "Label": value.Of("x").AsSensitive()}, nil)
	k.Set("Made", assigned, value.Map{"Name": value.Of("orders")}, value.Map{"Id": value.Of("U1"), "Arn": value.HashOf("aa"), "Name": value.Of("ORDERS")})
	for why, c := range map[string]struct {
		id, attr string
		want     value.Value
		ok       bool
	}{
		"Ref of a name is known before it is made": {"Named", "", value.Of("orders"), true},
		"Ref of an ID is known once it is":         {"Made", "", value.Of("U1"), true},
		"an output of what is not made is not":     {"Named", "Arn", value.Value{}, false},
		"a param that waits is not":                {"Named", "Note", value.Value{}, false},
		"a secret stays one":                       {"Named", "Label", value.Of("x").AsSensitive(), true},
		"an output that only state has is a hash":  {"Made", "Arn", value.HashOf("aa"), true},
		"config's own wins over what was read":     {"Made", "Name", value.Of("orders"), true},
		"what is not set is not known":             {"Made", "Size", value.Value{}, false},
		"nobody is not known":                      {"Nobody", "", value.Value{}, false},
	} {
		t.Run(why, func(t *testing.T) {
			if got, ok := k.Facts(c.id, c.attr); ok != c.ok || !got.Equal(c.want) {
				t.Errorf("%v, %v; want %v, %v", got, ok, c.want, c.ok)
			}
		})
	}
}

// What an item publishes is what stays valid while it is carried out.
func TestOutputThatMayChangeIsNotCountedOn(t *testing.T) {
	for why, c := range map[string]struct {
		of   Subject
		want string // known outputs
	}{
		"nothing changes":                       {recorded(named), "Arn Hash Id"},
		"an update changes a content hash":      {recorded(named, desired("Size", 4)), "Arn Id"},
		"a change of the record changes none":   {recorded(named, func(s *Subject) { s.Policies[0] = record.PolicyRetain }), "Arn Hash Id"},
		"a replacement changes all":             {recorded(named, desired("Name", "other")), ""},
		"what is made anew has none":            {recorded(named, gone), ""},
		"what was not looked at has the record": {recorded(named, failing(resource.Busy), rec(func(r *record.Record) { r.Output = value.Map{"Id": value.Of("U1"), "Arn": value.HashOf("aa")} })), "Id"},
	} {
		t.Run(why, func(t *testing.T) {
			it := Decide(c.of)
			if got := strings.Join(PlannedOutput(&it, c.of).Keys(), " "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// ExpanderFns fills in Label from Note, as a file's hash is from its path, and spells Note its own way.
type ExpanderFns struct{ ProviderFns }

func (ExpanderFns) Expand(_ context.Context, m value.Map) (value.Map, error) {
	return m.With("Note", value.Of(strings.TrimPrefix(m.Text("Note"), "arn:"))).With("Label", value.Of("hash of "+m.Text("Note"))), nil
}

func TestWhatIsComputedFromFilesWaitsForWhoeverWritesThem(t *testing.T) {
	w := &world{t: t}
	tpl, err := template.Parse("/srv/orders.yaml", []byte(resources(thing("B", "Test::Named", "Name: b"), thing("A", "Test::Named", "Note: 'arn:/x'", "DependsOn: B"))))
	if err != nil {
		w.t.Fatal(err)
	}
	g, err := tpl.Bind(template.Binding{Stack: stack.Name, Scope: stack.Scope, Schemas: func(string) (*resource.Schema, bool) { return named, true }})
	if err != nil {
		t.Fatal(err)
	}
	for settled, want := range map[bool]value.Kind{true: value.String, false: value.Unknown} {
		got, err := Resolve(t.Context(), ExpanderFns{ProviderFns{schema: named}}, g.Resource("A"), NewKnown().Facts, "orders", "", settled)
		if err != nil {
			t.Fatal(err)
		}
		if got.Desired["Label"].Kind() != want {
			t.Errorf("settled %v: %v, want %v", settled, got.Desired["Label"], want)
		}
		if got.Desired.Text("Note") != "/x" {
			t.Errorf("settled %v: it is spelled %v", settled, got.Desired["Note"])
		}
		if !got.Generated || !strings.HasPrefix(got.Name, "orders-A-") || got.Desired.Text("Name") != got.Name {
			t.Errorf("name %q of %v", got.Name, got.Desired)
		}
	}
	pinned, err := Resolve(t.Context(), ProviderFns{schema: named}, g.Resource("A"), NewKnown().Facts, "orders", "pinned", true)
	if err != nil || pinned.Name != "pinned" || !pinned.Generated {
		t.Errorf("%+v, %v", pinned, err)
	}
	given, err := Resolve(t.Context(), ProviderFns{schema: named}, g.Resource("B"), NewKnown().Facts, "orders", "pinned", true)
	if err != nil || given.Generated || given.Desired.Text("Name") != "b" {
		t.Errorf("%+v, %v", given, err)
	}
}
