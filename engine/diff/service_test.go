package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// table has values that a service spells, raises or switches off by itself.
var table = &resource.Schema{Type: "Test::Table", Identity: resource.Named, Key: []string{"Name"}, Params: []resource.Field{
	{Name: "Expiry", Type: resource.TObject, Equal: resource.OffIsNil, Fields: []resource.Field{
		{Name: "Attribute", Type: resource.TString}, {Name: "Enabled", Type: resource.TBool}}},
	{Name: "Key", Type: resource.TString, Equal: resource.KMSKey},
	{Name: "Warm", Type: resource.TInt, Equal: resource.AtLeast},
}}

func TestWhatAServiceSpellsRaisesOrSwitchesOffByItself(t *testing.T) {
	const key = "arn:aws:kms:eu-west-1:111122223333:key/"
	for why, c := range map[string]struct {
		desired, recorded, observed string
		want                        []string
	}{
		"what is off and what is not there are one":         {desired: `{"Expiry":{"Attribute":"at","Enabled":false}}`, want: []string{"Expiry match"}},
		"also when the read says so itself":                 {desired: `{"Expiry":{"Attribute":"at","Enabled":false}}`, observed: `{"Expiry":{"Enabled":false}}`, want: []string{"Expiry match"}},
		"also when the switch is written as text":           {desired: `{"Expiry":{"Enabled":"false"}}`, want: []string{"Expiry match"}},
		"also without its switch":                           {desired: `{"Expiry":{"Attribute":"at"}}`, want: []string{"Expiry match"}},
		"what is off and recorded as on is off":             {recorded: `{"Expiry":{"Attribute":"at","Enabled":true}}`, observed: `{"Expiry":{"Enabled":false}}`},
		"off is not on":                                     {desired: `{"Expiry":{"Attribute":"at","Enabled":false}}`, observed: `{"Expiry":{"Attribute":"at","Enabled":true}}`, want: []string{"Expiry differs"}},
		"on is not off":                                     {desired: `{"Expiry":{"Attribute":"at","Enabled":true}}`, observed: `{"Expiry":{"Enabled":false}}`, want: []string{"Expiry differs"}},
		"on is compared by its parts":                       {desired: `{"Expiry":{"Attribute":"at","Enabled":true}}`, observed: `{"Expiry":{"Attribute":"until","Enabled":true}}`, want: []string{"Expiry.Attribute differs", "Expiry.Enabled match"}},
		"what config no longer sets and is on is removed":   {recorded: `{"Expiry":{"Attribute":"at","Enabled":true}}`, observed: `{"Expiry":{"Attribute":"at","Enabled":true}}`, want: []string{"Expiry removed (config no longer sets it)"}},
		"a switch that is not known yet is not off":         {desired: `{"Expiry":{"Attribute":"at","Enabled":{"$unknown":["A.B"]}}}`, observed: `{"Expiry":{"Enabled":false}}`, want: []string{"Expiry unknown (known after A.B)"}},
		"a key's ID is its ARN":                             {desired: `{"Key":"a1-b2"}`, observed: `{"Key":"` + key + `a1-b2"}`, want: []string{"Key match"}},
		"another key is not":                                {desired: `{"Key":"a1"}`, observed: `{"Key":"` + key + `a1-b2"}`, want: []string{"Key differs"}},
		"an alias is its ARN":                               {desired: `{"Key":"alias/orders"}`, observed: `{"Key":"arn:aws:kms:eu-west-1:111122223333:alias/orders"}`, want: []string{"Key match"}},
		"an alias proves nothing of a key":                  {desired: `{"Key":"alias/orders"}`, recorded: `{"Key":"alias/orders"}`, observed: `{"Key":"` + key + `a1"}`, want: []string{"Key unverified (" + whyAlias + ")"}},
		"an alias that config changed is written":           {desired: `{"Key":"alias/orders"}`, recorded: `{"Key":"alias/old"}`, observed: `{"Key":"` + key + `a1"}`, want: []string{"Key changed (" + whyAlias + "; config differs from what was recorded)"}},
		"a key that is not there is no key":                 {desired: `{"Key":"a1"}`, observed: `{"Key":""}`, want: []string{"Key differs"}},
		"more than asked for is enough":                     {desired: `{"Warm":4000}`, observed: `{"Warm":12000}`, want: []string{"Warm match"}},
		"as much as asked for is enough, written as text":   {desired: `{"Warm":"4000"}`, observed: `{"Warm":4000}`, want: []string{"Warm match"}},
		"less than asked for differs":                       {desired: `{"Warm":4000}`, observed: `{"Warm":3999}`, want: []string{"Warm differs"}},
		"a number that is not there is less than any":       {desired: `{"Warm":4000}`, want: []string{"Warm differs (not there)"}},
		"a number that is not asked for is nobody's matter": {observed: `{"Warm":12000}`, want: []string{"Warm unverified by cloud folded (filled in by the service)"}},
	} {
		t.Run(why, func(t *testing.T) {
			res := Compare(Input{Schema: table, Desired: obj(t, c.desired), Recorded: obj(t, c.recorded), Sealer: sealer(t),
				Observed: &resource.Observation{Params: obj(t, c.observed)}})
			var got []string
			for _, f := range res.Fields {
				if f.By == ByCloud && f.Path == "Expiry" {
					continue // that it is off by itself is nothing to tell
				}
				got = append(got, told(f))
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	if Equal(&table.Params[2], value.Of(5), value.Of(7), sealer(t)) != true || Equal(&table.Params[2], value.Of(7), value.Of(5), sealer(t)) {
		t.Error("which side is asked for does not count")
	}
}
