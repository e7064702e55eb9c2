package diff

import (
	"testing"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

var policyField = &resource.Field{Type: resource.TJSON, Equal: resource.IAMPolicy}

func TestPolicyEquivalence(t *testing.T) {
	const role, id = `"arn:aws:iam::111122223333:role/b"`, `"AROADBQP57FF2AEXAMPLE"`
	for name, c := range map[string]struct {
		a, b string
		want answer
	}{
		"a list of one is its item": {`{"Statement":[{"Action":["kms:*"],"Resource":["*"],"Principal":{"Service":["x"]}}]}`,
			`{"Statement":{"Action":"kms:*","Resource":"*","Principal":{"Service":"x"}}}`, yes},
		"actions, resources and principals are sets": {`{"Statement":[{"Action":["a","b"],"NotResource":["x","y","x"],"Principal":{"AWS":["1","2"]}}]}`,
			`{"Statement":[{"Action":["b","a"],"NotResource":["y","x"],"Principal":{"AWS":["2","1"]}}]}`, yes},
		"an action less is a difference":      {`{"Statement":[{"Action":["a","b"]}]}`, `{"Statement":[{"Action":["a"]}]}`, no},
		"an account is its root ARN":          {`{"Statement":{"Principal":{"AWS":"123456789012"}}}`, `{"Statement":{"Principal":{"AWS":"arn:aws:iam::123456789012:root"}}}`, yes},
		"in China too":                        {`{"Statement":{"Principal":{"AWS":"123456789012"}}}`, `{"Statement":{"Principal":{"AWS":"arn:aws-cn:iam::123456789012:root"}}}`, yes},
		"another account is not":              {`{"Statement":{"Principal":{"AWS":"123456789012"}}}`, `{"Statement":{"Principal":{"AWS":"arn:aws:iam::210987654321:root"}}}`, no},
		"a role of the account is not":        {`{"Statement":{"Principal":{"AWS":"123456789012"}}}`, `{"Statement":{"Principal":{"AWS":"arn:aws:iam::123456789012:role/root"}}}`, no},
		"an account in a resource is text":    {`{"Statement":{"Resource":"123456789012"}}`, `{"Statement":{"Resource":"arn:aws:iam::123456789012:root"}}`, no},
		"an empty Sid is none":                {`{"Statement":[{"Effect":"Allow"}]}`, `{"Statement":[{"Sid":"","Effect":"Allow"}]}`, yes},
		"a numeric Sid may be the service's":  {`{"Statement":[{"Effect":"Allow"}]}`, `{"Statement":[{"Sid":"1428","Effect":"Allow"}]}`, yes},
		"a numeric Sid of config is config's": {`{"Statement":[{"Sid":"1"}]}`, `{"Statement":[{"Sid":"2"}]}`, no},
		"another Sid is a difference":         {`{"Statement":[{"Effect":"Allow"}]}`, `{"Statement":[{"Sid":"A","Effect":"Allow"}]}`, no},
		"condition values are quoted or not, one or a list of one": {`{"Statement":{"Condition":{"Bool":{"aws:SecureTransport":false},"NumericLessThan":{"s3:max-keys":10}}}}`,
			`{"Statement":{"Condition":{"Bool":{"aws:SecureTransport":"false"},"NumericLessThan":{"s3:max-keys":["10"]}}}}`, yes},
		"a condition that is gone is a difference": {`{"Statement":{"Condition":{"Bool":{"a":true}}}}`, `{"Statement":{}}`, no},
		"of two statements with one Sid none is lost": {`{"Statement":[{"Sid":"X","Action":"a"},{"Sid":"X","Action":"b"}]}`,
			`{"Statement":[{"Sid":"X","Action":"b"}]}`, no},
		"nor covered by the other":                  {`{"Statement":[{"Sid":"X","Action":"a"},{"Sid":"X","Action":"b"}]}`, `{"Statement":[{"Sid":"X","Action":"b"},{"Sid":"X","Action":"b"}]}`, no},
		"the order of statements is free":           {`{"Statement":[{"Action":"a"},{"Action":"b"}]}`, `{"Statement":[{"Action":"b"},{"Action":"a"}]}`, yes},
		"a literal %2F stays what it is":            {`{"Statement":{"Resource":"arn:aws:s3:::b/a%2Fb"}}`, `{"Statement":{"Resource":"arn:aws:s3:::b/a/b"}}`, no},
		"a plus stays a plus, %ZZ does no harm":     {`{"Statement":{"Resource":"a+b%ZZ"}}`, `{"Statement":{"Resource":["a+b%ZZ"]}}`, yes},
		"a log group's :* counts in a resource":     {`{"Statement":{"Resource":"arn:g"}}`, `{"Statement":{"Resource":"arn:g:*"}}`, no},
		"a principal shown as an ID cannot be told": {`{"Statement":{"Principal":{"AWS":["1",` + role + `]}}}`, `{"Statement":{"Principal":{"AWS":[` + id + `,"1"]}}}`, unsure},
		"but the rest still can":                    {`{"Statement":{"Effect":"Allow","Principal":{"AWS":` + role + `}}}`, `{"Statement":{"Effect":"Deny","Principal":{"AWS":` + id + `}}}`, no},
		"an ID is no user":                          {`{"Statement":{"Principal":{"AWS":"arn:aws:iam::111122223333:user/u"}}}`, `{"Statement":{"Principal":{"AWS":` + id + `}}}`, no},
		"an ID that config names is that ID":        {`{"Statement":{"Principal":{"AWS":` + id + `}}}`, `{"Statement":{"Principal":{"AWS":[` + id + `]}}}`, yes},
		"a document is its text":                    {`"{\"Version\": \"2012-10-17\"}"`, `{"Version":"2012-10-17"}`, yes},
		"another version is a difference":           {`{"Version":"2008-10-17"}`, `{"Version":"2012-10-17"}`, no},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := mustJSON(t, c.a), mustJSON(t, c.b)
			cmp := comparer{sealer: sealer(t)}
			if got, _ := cmp.same(policyField, a, b); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
			if got, _ := cmp.same(policyField, b, a); got != c.want {
				t.Errorf("the other way round: got %d, want %d", got, c.want)
			}
			if Equal(policyField, a, b, sealer(t)) != (c.want == yes) {
				t.Error("Equal says otherwise")
			}
		})
	}
}

func TestPrincipalShownAsAnIDIsToldByWhatLives(t *testing.T) {
	const id, arn = "AROADBQP57FF2AEXAMPLE", "arn:aws:iam::111122223333:role/b"
	desired := obj(t, `{"AssumeRolePolicyDocument":{"Statement":{"Principal":{"AWS":"`+arn+`"}}}}`)
	live := func(account, id, arn string) *resource.Principals {
		return &resource.Principals{Account: account, Live: map[string]string{id: arn}}
	}
	for why, c := range map[string]struct {
		looked  *resource.Principals
		verdict Verdict
		reason  string
	}{
		"not looked up":                   {nil, Unverified, whyPrincipalID},
		"the role named has that ID":      {live("111122223333", id, arn), Match, ""},
		"another role has it":             {live("111122223333", id, arn+"2"), Differs, ""},
		"no role has it":                  {live("111122223333", id, ""), Differs, whyPrincipalGone},
		"the role is of another account":  {live("999999999999", id, ""), Unverified, whyPrincipalID},
		"that ID was not among the asked": {live("111122223333", id+"X", arn), Unverified, whyPrincipalID},
	} {
		t.Run(why, func(t *testing.T) {
			in := Input{Schema: role, Desired: desired, Recorded: desired, Sealer: sealer(t), Observed: &resource.Observation{Principals: c.looked,
				Params: obj(t, `{"AssumeRolePolicyDocument":{"Statement":[{"Principal":{"AWS":"`+id+`"}}]}}`)}}
			if f := Compare(in).Fields[0]; f.Verdict != c.verdict || f.Reason != c.reason {
				t.Errorf("got %s (%s), want %s (%s)", f.Verdict, f.Reason, c.verdict, c.reason)
			}
		})
	}
}

func TestSealedPartOfAPolicy(t *testing.T) {
	s := sealer(t)
	doc := func(text string) value.Value { return s.Seal(reveal(mustJSON(t, text))) }
	sealed := doc(`{"Statement":[{"Action":"a","Resource":"secret:arn:x"},{"Action":"b"}]}`)
	if !Equal(policyField, sealed, mustJSON(t, `{"Statement":[{"Action":"b"},{"Action":["a"],"Resource":["arn:x"]}]}`), s) {
		t.Error("the same document is not equal once it is sealed")
	}
	if Equal(policyField, sealed, mustJSON(t, `{"Statement":[{"Action":"b"},{"Action":["a"],"Resource":["arn:y"]}]}`), s) {
		t.Error("another resource is equal once it is sealed")
	}
}

func mustJSON(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.ParseJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}
