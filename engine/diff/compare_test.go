package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

func sealer(t testing.TB) value.Sealer {
	t.Helper()
	s, err := value.NewSealer([]byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// obj reads a JSON object; {"$unknown": […]} is an unknown and "secret:x" a sensitive string x.
func obj(t testing.TB, text string) value.Map {
	t.Helper()
	if text == "" {
		return nil
	}
	var v value.Value
	if err := v.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return reveal(v).Fields()
}

func reveal(v value.Value) value.Value {
	switch v.Kind() {
	case value.String:
		if s, ok := strings.CutPrefix(v.Reveal(), "secret:"); ok {
			return value.Of(s).AsSensitive()
		}
	case value.List:
		l := make([]value.Value, len(v.Items()))
		for i, e := range v.Items() {
			l[i] = reveal(e)
		}
		return value.ListOf(l...)
	case value.Object:
		m := value.Map{}
		for k, e := range v.Fields() {
			m[k] = reveal(e)
		}
		return value.OfMap(m)
	}
	return v
}

// told writes a Field on one line: path verdict [by cloud] [folded] [immutable] (reason).
func told(f Field) string {
	s := fmt.Sprintf("%s %s", f.Path, f.Verdict)
	if f.By == ByCloud {
		s += " by cloud"
	}
	if f.Folded {
		s += " folded"
	}
	if f.Immutable {
		s += " immutable"
	}
	if f.Reason != "" {
		s += " (" + f.Reason + ")"
	}
	return s
}

type caseOf struct {
	schema                               *resource.Schema
	desired, recorded, sending, observed string
	gaps                                 map[value.Path]resource.Gap
	noKey                                bool
	want                                 []string
}

func check(t *testing.T, cases map[string]caseOf) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := sealer(t)
			in := Input{Schema: c.schema, Desired: obj(t, c.desired), Recorded: s.SealMap(obj(t, c.recorded)),
				Sending: s.SealMap(obj(t, c.sending)), Sealer: s,
				Observed: &resource.Observation{Params: obj(t, c.observed), Gaps: c.gaps}}
			if c.noKey {
				in.Sealer = value.Sealer{}
			}
			var got []string
			for _, f := range Compare(in).Fields {
				got = append(got, told(f))
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

func TestVerdicts(t *testing.T) {
	check(t, map[string]caseOf{
		"what is equal matches, across the spellings of its type": {schema: group,
			desired: `{"LogGroupName":"g","RetentionInDays":"14"}`, observed: `{"LogGroupName":"g","RetentionInDays":14}`,
			want: []string{"LogGroupName match immutable", "RetentionInDays match"}},
		"what is not equal differs": {schema: group,
			desired: `{"RetentionInDays":14}`, observed: `{"RetentionInDays":30}`, want: []string{"RetentionInDays differs"}},
		"S28: only a present, valid, different immutable field is marked as evidence for replacement": {schema: group,
			desired: `{"LogGroupClass":"DELIVERY"}`, observed: `{"LogGroupClass":"STANDARD"}`,
			want: []string{"LogGroupClass differs immutable"}},
		"an absent field that reads return differs": {schema: group,
			desired: `{"RetentionInDays":14}`, observed: `{}`, want: []string{"RetentionInDays differs (not there)"}},
		"absent equals the service's default; 0 retention is never": {schema: group,
			desired: `{"RetentionInDays":0,"LogGroupClass":"STANDARD"}`, observed: `{}`,
			want: []string{"LogGroupClass match immutable", "RetentionInDays match"}},
		"an unknown says what it waits for": {schema: group,
			desired: `{"KmsKeyId":{"$unknown":["Key.Arn"]},"LogGroupClass":{"$unknown":["A.B"]}}`, observed: `{"LogGroupClass":"STANDARD"}`,
			want: []string{"LogGroupClass unknown immutable (known after A.B)", "KmsKeyId unknown (known after Key.Arn)"}},
		"a value that breaks its type is invalid, and says why": {schema: group,
			desired: `{"RetentionInDays":14}`, observed: `{"RetentionInDays":15}`,
			want: []string{"RetentionInDays invalid (not 0,1,3,5,7,14…)"}},
		"a value outside its bounds, enum or pattern is invalid": {schema: role,
			desired: `{"Path":"/a/","MaxSessionDuration":3600,"AssumeRolePolicyDocument":{}}`, observed: `{"Path":"a","MaxSessionDuration":1,"AssumeRolePolicyDocument":"%7B"}`,
			want: []string{"Path invalid immutable (does not match /|/.+/)", "AssumeRolePolicyDocument invalid (not a policy document)",
				"MaxSessionDuration invalid (value below 3600)"}},
		"a list read as something else is invalid": {schema: role, desired: `{"Tags":[{"Key":"a","Value":"b"}]}`, observed: `{"Tags":"x"}`,
			want: []string{"Tags invalid (not a list but a string)"}},
		"S28: an undecodable immutable field is invalid, not different": {schema: group, desired: `{"LogGroupClass":"DELIVERY"}`, observed: `{}`,
			gaps: map[value.Path]resource.Gap{"LogGroupClass": {Kind: resource.GapUndecodable, Reason: "bad UTF-8"}},
			want: []string{"LogGroupClass invalid immutable (undecodable: bad UTF-8)"}},
		"S29: write-only and equal to what was recorded is unverified": {schema: thing, desired: `{"Code":{"Bucket":"b"}}`,
			recorded: `{"Code":{"Bucket":"b"}}`, observed: `{"Code":{"Sha256":"x"}}`,
			want: []string{"Code.Bucket unverified (write-only: the service never returns it)", "Code.Sha256 unverified by cloud folded (filled in by the service)"}},
		"S29: write-only and moved since is changed": {schema: thing, desired: `{"Code":{"Bucket":"b2"}}`, recorded: `{"Code":{"Bucket":"b"}}`, observed: `{}`,
			want: []string{"Code.Bucket changed (write-only: the service never returns it; config differs from what was recorded)"}},
		"S29: an unfinished write of another value makes it changed": {schema: thing, desired: `{"Code":{"Bucket":"b"}}`, recorded: `{"Code":{"Bucket":"b"}}`,
			sending: `{"Code":{"Bucket":"c"}}`, observed: `{}`,
			want: []string{"Code.Bucket changed (write-only: the service never returns it; config differs from what was recorded)"}},
		"S29: what the unfinished create sent counts while nothing is recorded": {schema: thing, desired: `{"Code":{"Bucket":"b"}}`,
			sending: `{"Code":{"Bucket":"b"}}`, observed: `{}`,
			want: []string{"Code.Bucket unverified (write-only: the service never returns it)"}},
		"S29: an immutable field that cannot be read never changes and never replaces": {schema: thing, desired: `{"Seed":"b"}`, recorded: `{"Seed":"a"}`, observed: `{}`,
			want: []string{"Seed unverified immutable (write-only: the service never returns it; config differs from what was recorded, but what cannot be read is no reason to replace)"}},
		"S30: denied is blocked, whatever was recorded": {schema: role, desired: `{"Tags":[{"Key":"a","Value":"b"}]}`, recorded: `{"Tags":[{"Key":"a","Value":"b"}]}`, observed: `{}`,
			gaps: map[value.Path]resource.Gap{"Tags": {Kind: resource.GapDenied, Reason: "ListRoleTags: AccessDenied"}},
			want: []string{"Tags blocked (denied: ListRoleTags: AccessDenied)"}},
		"S30: what the service cannot give is blocked, not empty": {schema: thing, desired: `{"Environment":{"Variables":{"K":"v"}}}`, observed: `{}`,
			gaps: map[value.Path]resource.Gap{"Environment": {Kind: resource.GapDenied, Reason: "AccessDeniedException"}},
			want: []string{"Environment blocked (denied: AccessDeniedException)"}},
		"a declared property that the reader does not return is unverified, not removed": {schema: group, desired: `{"KmsKeyId":"k"}`, recorded: `{"KmsKeyId":"k"}`, observed: `{}`,
			gaps: map[value.Path]resource.Gap{"KmsKeyId": {Kind: resource.GapNotReturned}}, want: []string{"KmsKeyId unverified (not returned)"}},
		"S31: what we recorded and config dropped is removed": {schema: group, desired: `{}`, recorded: `{"KmsKeyId":"k"}`, observed: `{"KmsKeyId":"k"}`,
			want: []string{"KmsKeyId removed (config no longer sets it)"}},
		"S31: what an unfinished write sent and config dropped is removed": {schema: group, desired: `{}`, sending: `{"KmsKeyId":"k"}`, observed: `{"KmsKeyId":"k"}`,
			want: []string{"KmsKeyId removed (config no longer sets it)"}},
		"S31: what is gone already needs no removal": {schema: group, desired: `{}`, recorded: `{"KmsKeyId":"k","RetentionInDays":14}`, observed: `{"RetentionInDays":0}`,
			want: []string{"RetentionInDays unverified by cloud folded (filled in by the service)"}},
		"S31: what cannot be read back is reset while it is recorded": {schema: thing, desired: `{}`, recorded: `{"Secret":"secret:x"}`, observed: `{}`,
			want: []string{"Secret removed (config no longer sets it; it cannot be read back, so it is reset once)"}},
		"S31: and once only": {schema: thing, desired: `{}`, recorded: `{}`, observed: `{}`, want: nil},
		"what the cloud filled in is folded, unless it is not the default": {schema: group, desired: `{"RetentionInDays":1}`,
			observed: `{"RetentionInDays":1,"LogGroupClass":"DELIVERY","KmsKeyId":"k"}`,
			want: []string{"RetentionInDays match", `LogGroupClass unverified by cloud immutable (differs from the service's default "STANDARD")`,
				"KmsKeyId unverified by cloud folded (filled in by the service)"}},
		"a property the type does not have is never silently dropped": {schema: group, desired: `{"Nope":1}`, observed: `{}`,
			want: []string{"Nope unverified (the type has no such property)"}},
	})
}

func TestCollections(t *testing.T) {
	const doc = `{"Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}`
	check(t, map[string]caseOf{
		"S26: members that nobody recorded as ours are unverified": {schema: role,
			desired: `{"ManagedPolicyArns":["arn:a","arn:b"]}`, recorded: `{"ManagedPolicyArns":["arn:a","arn:old"]}`,
			observed: `{"ManagedPolicyArns":["arn:old","arn:c","arn:a"]}`,
			want: []string{`ManagedPolicyArns["arn:a"] match`, `ManagedPolicyArns["arn:b"] differs (not there)`,
				`ManagedPolicyArns["arn:old"] removed (config no longer sets it)`, `ManagedPolicyArns["arn:c"] unverified by cloud (not recorded as ours)`}},
		"S26: so are tags, by name": {schema: role,
			desired:  `{"Tags":[{"Key":"env","Value":"dev"},{"Key":"team","Value":"x"}]}`,
			observed: `{"Tags":[{"Key":"cost","Value":"7"},{"Key":"team","Value":"y"},{"Key":"env","Value":"dev"}]}`,
			want:     []string{"Tags[Key=env].Value match", "Tags[Key=team].Value differs", "Tags[Key=cost] unverified by cloud (not recorded as ours)"}},
		"S26: also where config sets none": {schema: api, desired: `{}`, recorded: `{"Tags":{"mine":"1"}}`, observed: `{"Tags":{"mine":"1","theirs":"2"}}`,
			want: []string{"Tags.mine removed (config no longer sets it)", "Tags.theirs unverified by cloud (not recorded as ours)"}},
		"an inline policy that is not there is one line": {schema: role,
			desired:  `{"Policies":[{"PolicyName":"t","PolicyDocument":` + doc + `},{"PolicyName":"u","PolicyDocument":` + doc + `}]}`,
			observed: `{"Policies":[{"PolicyName":"u","PolicyDocument":` + doc + `}]}`,
			want:     []string{"Policies[PolicyName=t] differs (not there)", "Policies[PolicyName=u].PolicyDocument match"}},
		"an item that is not there differs even while a part of it is unknown": {schema: role,
			desired:  `{"Policies":[{"PolicyName":"t","PolicyDocument":{"Statement":[{"Resource":{"$unknown":["T.Arn"]}}]}}]}`,
			observed: `{"Policies":[]}`, want: []string{"Policies[PolicyName=t] differs (not there)"}},
		"an unknown member of a set is unknown alone": {schema: role,
			desired: `{"ManagedPolicyArns":["arn:a",{"$unknown":["P"]}]}`, observed: `{"ManagedPolicyArns":["arn:a"]}`,
			want: []string{`ManagedPolicyArns["arn:a"] match`, `ManagedPolicyArns[1] unknown (known after P)`}},
		"an empty shared list asks for nothing": {schema: role, desired: `{"ManagedPolicyArns":[]}`, observed: `{}`, want: []string{"ManagedPolicyArns match"}},
		"an empty shared list leaves others' members": {schema: role, desired: `{"ManagedPolicyArns":[]}`, observed: `{"ManagedPolicyArns":["arn:x"]}`,
			want: []string{"ManagedPolicyArns match", `ManagedPolicyArns["arn:x"] unverified by cloud (not recorded as ours)`}},
		"lists go by item identity, sets without order, nested values for the keys config sets": {schema: thing,
			desired:  `{"Indexes":[{"IndexName":"a","NonKeyAttributes":["z","b"]},{"IndexName":"b"}]}`,
			observed: `{"Indexes":[{"IndexName":"b","Read":5},{"IndexName":"a","NonKeyAttributes":["b","z"],"Read":6}]}`,
			want: []string{"Indexes[IndexName=a].NonKeyAttributes match", "Indexes[IndexName=b] match",
				"Indexes[IndexName=a].Read unverified by cloud (differs from the service's default 5)",
				"Indexes[IndexName=b].Read unverified by cloud folded (filled in by the service)"}},
		"a list that is config's as a whole has no room for more": {schema: thing, desired: `{"Indexes":[{"IndexName":"a"}]}`,
			observed: `{"Indexes":[{"IndexName":"a"},{"IndexName":"x"}]}`,
			want:     []string{"Indexes[IndexName=a] match", "Indexes[IndexName=x] differs (not in config)"}},
		"ordered lists go by index": {schema: thing,
			desired:  `{"KeySchema":[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"s","KeyType":"RANGE"}],"Order":[1,2]}`,
			observed: `{"KeySchema":[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"t","KeyType":"RANGE"}],"Order":[2,1]}`,
			want: []string{"KeySchema[0].AttributeName match", "KeySchema[0].KeyType match", "KeySchema[1].AttributeName differs",
				"KeySchema[1].KeyType match", "Order differs"}},
		"a set of objects ignores what the cloud added to each": {schema: thing, desired: `{"Rules":[{"Port":1},{"Port":2}]}`,
			observed: `{"Rules":[{"Port":"2","Cidr":"x"},{"Port":1,"Cidr":"y"}]}`, want: []string{"Rules match"}},
		"a variable that config does not set is listed": {schema: thing, desired: `{"Environment":{"Variables":{"A":"1"}}}`,
			observed: `{"Environment":{"Variables":{"A":"1","B":"2"}}}`,
			want:     []string{"Environment.Variables.A match", "Environment.Variables.B unverified by cloud (config does not set it)"}},
	})
}

func TestKnownServiceSpellings(t *testing.T) {
	check(t, map[string]caseOf{
		"CORS header names are sets without case, empty is absent, methods are exact": {schema: api,
			desired:  `{"CorsConfiguration":{"AllowHeaders":["Content-Type","Authorization"],"AllowMethods":["GET","POST"],"MaxAge":86400}}`,
			observed: `{"CorsConfiguration":{"AllowHeaders":["authorization","content-type"],"AllowMethods":["get","POST"],"MaxAge":86400,"ExposeHeaders":[]}}`,
			want: []string{"CorsConfiguration.AllowHeaders match", "CorsConfiguration.AllowMethods differs", "CorsConfiguration.MaxAge match",
				"CorsConfiguration.ExposeHeaders unverified by cloud folded (filled in by the service)"}},
		"an empty CORS configuration is not the absence of one": {schema: api, desired: `{"CorsConfiguration":{}}`, observed: `{}`,
			want: []string{"CorsConfiguration differs (not there)"}},
		"Environment absent, {} and {Variables:{}} are one": {schema: thing, desired: `{"Environment":{"Variables":{}}}`, observed: `{}`,
			want: []string{"Environment.Variables match"}},
		"S28: another case is no other key where the service compares without case": {schema: role, desired: `{"RoleName":"Orders"}`, observed: `{"RoleName":"orders"}`,
			want: []string{"RoleName match immutable"}},
		"S28: it is where the service tells them apart": {schema: group, desired: `{"LogGroupName":"G"}`, observed: `{"LogGroupName":"g"}`,
			want: []string{"LogGroupName differs immutable"}},
		"a name the service changed is a difference": {schema: api, desired: `{"Name":"example"}`, observed: `{"Name":"Imported on 2024-12-10"}`,
			want: []string{"Name differs"}},
		"one trailing :* does not count where the type says so": {schema: thing, desired: `{"Arn":"arn:x:g"}`, observed: `{"Arn":"arn:x:g:*"}`,
			want: []string{"Arn match"}},
		"a log group is as the service fills it in": {schema: group, desired: `{"RetentionInDays":1}`,
			observed: `{"RetentionInDays":1,"LogGroupClass":"STANDARD","DataProtectionPolicy":{}}`,
			want: []string{"RetentionInDays match", "LogGroupClass unverified by cloud folded immutable (filled in by the service)",
				"DataProtectionPolicy unverified by cloud folded (filled in by the service)"}},
		"JSON documents compare as what they say": {schema: thing, desired: `{"Pattern":"{\"b\": 1.0, \"a\": []}"}`, observed: `{"Pattern":{"a":[],"b":1}}`,
			want: []string{"Pattern match"}},
	})
}

// S32
func TestSensitive(t *testing.T) {
	check(t, map[string]caseOf{
		"compared by keyed hash": {schema: thing, desired: `{"Password":"secret:hunter2","Environment":{"Variables":{"K":"secret:v"}}}`,
			recorded: `{"Password":"secret:hunter2"}`, observed: `{"Password":"hunter2","Environment":{"Variables":{"K":"w"}}}`,
			want: []string{"Password match", "Environment.Variables.K differs"}},
		"without the key, unverified": {schema: thing, noKey: true, desired: `{"Password":"secret:hunter2"}`, recorded: `{"Password":"secret:x"}`,
			observed: `{"Password":"hunter2"}`, want: []string{"Password unverified (sensitive, and the key of the keyed hashes is missing)"}},
		"a write-only secret that moved is changed": {schema: thing, desired: `{"Secret":"secret:new"}`, recorded: `{"Secret":"secret:old"}`, observed: `{}`,
			want: []string{"Secret changed (write-only: the service never returns it; config differs from what was recorded)"}},
		"a write-only secret that did not is unverified": {schema: thing, desired: `{"Secret":"secret:old"}`, recorded: `{"Secret":"secret:old"}`, observed: `{}`,
			want: []string{"Secret unverified (write-only: the service never returns it)"}},
	})
}

// S32: a plan and a record hold sealed params; they compare like readable ones.
func TestSealedDesired(t *testing.T) {
	s := sealer(t)
	in := Input{Schema: thing, Sealer: s,
		Desired:  s.SealMap(obj(t, `{"Password":"secret:14","Pattern":{"a":"secret:x"},"Environment":{"Variables":{"K":"secret:v"}}}`)),
		Observed: &resource.Observation{Params: obj(t, `{"Password":14,"Pattern":"{\"a\":\"x\"}","Environment":{"Variables":{"K":"w"}}}`)}}
	var got []string
	for _, f := range Compare(in).Fields {
		got = append(got, told(f))
	}
	want := []string{"Password match", "Environment.Variables.K differs", "Pattern match"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestInvalidMarksTheWholeResource(t *testing.T) {
	in := Input{Schema: group, Desired: obj(t, `{"RetentionInDays":14}`), Observed: &resource.Observation{Params: obj(t, `{"RetentionInDays":15}`)}}
	if !Compare(in).Invalid {
		t.Error("a retention of 15 days was taken as a valid read")
	}
	in.Observed.Params = obj(t, `{"RetentionInDays":30}`)
	if Compare(in).Invalid {
		t.Error("a retention of 30 days was taken as an invalid read")
	}
}

func TestReadThatReturnedNothing(t *testing.T) {
	res := Compare(Input{Schema: group, Desired: obj(t, `{"LogGroupName":"g"}`)})
	if len(res.Fields) != 1 || res.Fields[0].Verdict != Differs {
		t.Errorf("nothing read: %v", res.Fields)
	}
}

func TestEqualParams(t *testing.T) {
	s := sealer(t)
	for name, c := range map[string]struct {
		sent, observed string
		gaps           map[value.Path]resource.Gap
		because        []value.Path
	}{
		"what was sent is there": {sent: `{"Name":"n","Rules":[{"Port":1}]}`, observed: `{"Name":"n","Rules":[{"Port":1,"Cidr":"x"}],"Order":[1]}`},
		"one value is another":   {sent: `{"Name":"n","Order":[1]}`, observed: `{"Name":"n","Order":[2]}`, because: []value.Path{"Order"}},
		"half made":              {sent: `{"Name":"n","Order":[1]}`, observed: `{"Name":"n"}`, because: []value.Path{"Order"}},
		"nothing returned":       {sent: `{"Name":"n"}`, observed: `{}`, because: []value.Path{"Name"}},
		"write-only values do not count, secrets do": {sent: `{"Name":"n","Secret":"secret:a","Password":"secret:b"}`,
			observed: `{"Name":"n","Password":"c"}`, because: []value.Path{"Password"}},
		"a denied field proves nothing": {sent: `{"Name":"n","Order":[1]}`, observed: `{"Name":"n"}`,
			gaps: map[value.Path]resource.Gap{"Order": {Kind: resource.GapDenied}}, because: []value.Path{"Order"}},
	} {
		t.Run(name, func(t *testing.T) {
			equal, because := EqualParams(thing, s.SealMap(obj(t, c.sent)), obj(t, c.observed), c.gaps, s)
			if d := cmp.Diff(c.because, because); d != "" || equal != (len(c.because) == 0) {
				t.Errorf("equal %v\n%s", equal, d)
			}
		})
	}
}
