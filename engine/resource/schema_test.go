package resource

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"reclaim/engine/value"
)

var (
	ireland   = Scope{Partition: "aws", Account: "123456789012", Region: "eu-west-1"}
	frankfurt = Scope{Partition: "aws", Account: "123456789012", Region: "eu-central-1"}
	other     = Scope{Partition: "aws", Account: "999999999999", Region: "eu-west-1"}
	china     = Scope{Partition: "aws-cn", Account: "123456789012", Region: "eu-west-1"}
	simulated = Scope{Partition: "aws", Account: "123456789012", Region: "eu-west-1", Endpoint: "sim-1"}
	thisPC    = Scope{Partition: LocalPartition, Account: "m1"}

	role   = &Schema{Type: "AWS::IAM::Role", Space: PerAccount, Key: []string{"RoleName"}, FoldKey: true, Params: []Field{{Name: "RoleName"}}}
	group  = &Schema{Type: "AWS::Logs::LogGroup", Space: PerRegion, Key: []string{"LogGroupName"}, Params: []Field{{Name: "LogGroupName"}}}
	bucket = &Schema{Type: "AWS::S3::Bucket", Space: Global, Key: []string{"BucketName"}, Params: []Field{{Name: "BucketName"}}}
	file   = &Schema{Type: "Std::FS::File", Space: PerMachine, Local: true, Key: []string{"Machine", "Path"}, Params: []Field{{Name: "Path"}}}
	stage  = &Schema{Type: "AWS::ApiGatewayV2::Stage", Space: PerRegion, Key: []string{"ApiId", "StageName"}, Params: []Field{{Name: "ApiId"}, {Name: "StageName"}}}
	api    = &Schema{Type: "AWS::ApiGatewayV2::Api", Space: PerRegion, Identity: Assigned, Key: []string{"ApiId"}, Outputs: []Output{{Name: "ApiId"}}}
)

// S3: what is one claim, and what is two.
func TestOnePhysicalObjectIsOneClaim(t *testing.T) {
	type at struct {
		s  *Schema
		sc Scope
		k  Key
	}
	named := func(s *Schema, sc Scope, name string) at { return at{s, sc, Key{s.Key[len(s.Key)-1]: name}} }
	for why, c := range map[string]struct {
		a, b at
		one  bool
	}{
		"a role of one account is one in every region":       {named(role, ireland, "orders"), named(role, frankfurt, "orders"), true},
		"roles have no case":                                 {named(role, ireland, "Orders"), named(role, ireland, "oRDERS"), true},
		"another account has its own roles":                  {named(role, ireland, "orders"), named(role, other, "orders"), false},
		"another partition too":                              {named(role, ireland, "orders"), named(role, china, "orders"), false},
		"another endpoint is another cloud":                  {named(role, ireland, "orders"), named(role, simulated, "orders"), false},
		"a log group of two regions is two":                  {named(group, ireland, "/orders"), named(group, frankfurt, "/orders"), false},
		"log groups have case":                               {named(group, ireland, "/orders"), named(group, ireland, "/Orders"), false},
		"a log group of an emulator is another":              {named(group, ireland, "/orders"), named(group, simulated, "/orders"), false},
		"a bucket is one for all accounts":                   {named(bucket, ireland, "orders"), named(bucket, other, "orders"), true},
		"but not for all partitions":                         {named(bucket, ireland, "orders"), named(bucket, china, "orders"), false},
		"nor in an emulator":                                 {named(bucket, ireland, "orders"), named(bucket, simulated, "orders"), false},
		"a role and a log group of one name are two":         {named(role, ireland, "orders"), named(group, ireland, "orders"), false},
		"a file is one, whatever the stack's scope":          {at{file, ireland, Key{"Machine": "m1", "Path": "/a"}}, at{file, thisPC, Key{"Machine": "m1", "Path": "/a"}}, true},
		"a path of two machines is two":                      {at{file, ireland, Key{"Machine": "m1", "Path": "/a"}}, at{file, ireland, Key{"Machine": "m2", "Path": "/a"}}, false},
		"parts of a key do not run into each other":          {at{stage, ireland, Key{"ApiId": "a", "StageName": "b"}}, at{stage, ireland, Key{"ApiId": "ab", "StageName": ""}}, false},
		"what else the key's map holds takes no part":        {at{role, ireland, Key{"RoleName": "orders", "Path": "/x/"}}, named(role, ireland, "orders"), true},
		"a stage of the same name in another API is another": {at{stage, ireland, Key{"ApiId": "a", "StageName": "v1"}}, at{stage, ireland, Key{"ApiId": "b", "StageName": "v1"}}, false},
	} {
		t.Run(why, func(t *testing.T) {
			a, b := c.a.s.Claim(c.a.sc, c.a.k), c.b.s.Claim(c.b.sc, c.b.k)
			if (a == b) != c.one {
				t.Errorf("%q and %q: want one claim %v", a, b, c.one)
			}
		})
	}
}

func TestKeysComeFromParamsOrNotAtAll(t *testing.T) {
	for why, c := range map[string]struct {
		s      *Schema
		params value.Map
		want   Key // nil: there is none yet
	}{
		"a name is a key":                           {role, value.Map{"RoleName": value.Of("orders"), "Path": value.Of("/")}, Key{"RoleName": "orders"}},
		"a number is text in an address":            {role, value.Map{"RoleName": value.Num("7")}, Key{"RoleName": "7"}},
		"the machine is filled in":                  {file, value.Map{"Path": value.Of("/a")}, Key{"Machine": "m1", "Path": "/a"}},
		"an unset part is no key":                   {stage, value.Map{"ApiId": value.Of("a")}, nil},
		"nor is an empty one":                       {role, value.Map{"RoleName": value.Of("")}, nil},
		"nor one that waits for another resource":   {stage, value.Map{"ApiId": value.Wait("Api.ApiId"), "StageName": value.Of("v1")}, nil},
		"nor a secret, which no address may show":   {role, value.Map{"RoleName": value.Of("orders").AsSensitive()}, nil},
		"nor a list":                                {role, value.Map{"RoleName": value.Of([]string{"orders"})}, nil},
		"what the cloud assigns no param says":      {api, value.Map{"Name": value.Of("orders")}, nil},
		"without any params there is no key at all": {role, nil, nil},
	} {
		t.Run(why, func(t *testing.T) {
			key, ok := c.s.KeyOf(c.params, "m1")
			if ok != (c.want != nil) {
				t.Fatalf("ok is %v for %v", ok, key)
			}
			if d := cmp.Diff(c.want, key); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	for s, want := range map[*Schema]bool{role: true, file: true, stage: true, api: false} {
		if s.KeyByParams() != want {
			t.Errorf("%s: the key is told from params %v, want %v", s.Type, s.KeyByParams(), want)
		}
	}
}

// What is shown as a physical ID can be typed, whatever the name is.
func TestAPhysicalIDIsReadBackAsItsKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, s := range []*Schema{role, file, api} {
			name := rapid.StringN(1, 20, -1).Draw(t, "name")
			if !s.Local {
				name = strings.ReplaceAll(name, "|", "/")
			}
			key := Key{s.Key[len(s.Key)-1]: name}
			if s == file {
				key["Machine"] = "m1"
			}
			got, err := s.ParsePhysical(s.Physical(key), "m1")
			if err != nil || !got.Equal(key) {
				t.Fatalf("%s: %v is %q, which is %v, %v", s.Type, key, s.Physical(key), got, err)
			}
		}
	})
	key := Key{"ApiId": "a1b2", "StageName": "v1"}
	if got := stage.Physical(key); got != "a1b2|v1" {
		t.Errorf("a key of two parts is shown as %q", got)
	}
	if got, err := stage.ParsePhysical("a1b2|v1", "m1"); err != nil || !got.Equal(key) {
		t.Errorf("and read as %v, %v", got, err)
	}
	if got := file.Physical(Key{"Machine": "m1", "Path": "/a"}); got != "/a" {
		t.Errorf("a file is shown as %q, want no machine in it", got)
	}
	for why, c := range map[string]struct {
		s          *Schema
		text, says string
	}{
		"nothing typed":            {role, "", `physical ID "": RoleName is missing; want RoleName`},
		"nothing typed for a file": {file, "", `physical ID "": Path is missing; want Path`},
		"a part is missing":        {stage, "a1b2", `physical ID "a1b2": StageName is missing; want ApiId|StageName`},
		"a part is empty":          {stage, "|v1", `physical ID "|v1": ApiId is missing; want ApiId|StageName`},
		"too much for a name":      {role, "a|b", `physical ID "a|b": too many parts; want RoleName`},
		"too much":                 {stage, "a|b|c", `physical ID "a|b|c": too many parts; want ApiId|StageName`},
	} {
		if key, err := c.s.ParsePhysical(c.text, "m1"); err == nil || err.Error() != c.says {
			t.Errorf("%s: %v, %v; want %s", why, key, err, c.says)
		}
	}
}

// S20.
func TestIdentitiesAreComparedByWhatBothHave(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for why, c := range map[string]struct {
		a, b        Identity
		same, known bool
	}{
		"one unique ID":                    {Identity{UniqueID: "A"}, Identity{UniqueID: "A"}, true, true},
		"two":                              {Identity{UniqueID: "A"}, Identity{UniqueID: "B"}, false, true},
		"the unique ID wins over the time": {Identity{"A", noon}, Identity{"A", noon.Add(1)}, true, true},
		"and over an equal time":           {Identity{"A", noon}, Identity{"B", noon}, false, true},
		"one time, in two zones":           {Identity{CreatedAt: noon}, Identity{CreatedAt: noon.In(time.FixedZone("", 3600))}, true, true},
		"two times":                        {Identity{CreatedAt: noon}, Identity{CreatedAt: noon.Add(time.Millisecond)}, false, true},
		"an ID says nothing about a time":  {Identity{UniqueID: "A"}, Identity{CreatedAt: noon}, false, false},
		"nothing says nothing":             {Identity{}, Identity{UniqueID: "A", CreatedAt: noon}, false, false},
		"two that are not known are not known to be one":     {Identity{}, Identity{}, false, false},
		"where one has no ID the times of both are left":     {Identity{"A", noon}, Identity{CreatedAt: noon}, true, true},
		"and they tell two objects apart, if they can be so": {Identity{"A", noon}, Identity{CreatedAt: noon.Add(1)}, false, true},
	} {
		t.Run(why, func(t *testing.T) {
			for _, in := range [][2]Identity{{c.a, c.b}, {c.b, c.a}} {
				if same, known := in[0].Same(in[1]); same != c.same || known != c.known {
					t.Errorf("same %v, known %v; want %v, %v", same, known, c.same, c.known)
				}
			}
		})
	}
}

// S4: marks never take part in a diff.
func TestTagsAreConfigsOrMarks(t *testing.T) {
	own, marks := SplitTags(map[string]string{
		"team": "orders", "Reclaim:store": "x", "awsome": "y", "aws": "z", "": "empty",
		TagStore: "s1", TagNonce: "n1", "reclaim:future": "1", "aws:cloudformation:stack-name": "cfn", "aws:autoscaling:groupName": "g",
	})
	if d := cmp.Diff(map[string]string{"team": "orders", "Reclaim:store": "x", "awsome": "y", "aws": "z", "": "empty"}, own); d != "" {
		t.Errorf("config's (-want +got):\n%s", d)
	}
	want := Tags{TagStore: "s1", TagNonce: "n1", "reclaim:future": "1", "aws:cloudformation:stack-name": "cfn", "aws:autoscaling:groupName": "g"}
	if d := cmp.Diff(want, marks); d != "" {
		t.Errorf("marks (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"aws:autoscaling:groupName=g", "aws:cloudformation:stack-name=cfn"}, marks.Foreign()); d != "" {
		t.Errorf("other tools' (-want +got):\n%s", d)
	}
	if own, marks := SplitTags(nil); own == nil || marks == nil {
		t.Error("an object without tags has tags that are not known")
	}
}

// S32: what is computed from a secret is one.
func TestDerivedMembersAreAsSecretAsTheirOrigin(t *testing.T) {
	s := &Schema{Derived: map[string][]string{"Sha256": {"Content", "Source"}, "Size": {"Content"}}}
	read := value.Map{"Sha256": value.Of("ab12"), "Path": value.Of("/a")}
	secret, plain := value.Map{"Source": value.OfMap(value.Map{"Deep": value.Of("x").AsSensitive()})}, value.Map{"Source": value.Of("x")}
	for why, c := range map[string]struct {
		known []value.Map
		want  bool
	}{
		"nothing is known of its origin":          {nil, false},
		"its origin is plain":                     {[]value.Map{plain}, false},
		"a part of its origin is secret":          {[]value.Map{secret}, true},
		"it was secret when it was recorded":      {[]value.Map{plain, secret}, true},
		"state holds only the hash of its origin": {[]value.Map{nil, {"Content": value.HashOf("aa")}}, true},
		"another param is secret":                 {[]value.Map{{"Mode": value.Of("x").AsSensitive()}}, false},
	} {
		t.Run(why, func(t *testing.T) {
			got := s.Conceal(read, c.known...)
			if got["Sha256"].Sensitive() != c.want {
				t.Errorf("it is %v, want sensitive %v", got, c.want)
			}
			if _, made := got["Size"]; made || got["Path"].Sensitive() || len(got) != len(read) {
				t.Errorf("more changed than that: %v", got)
			}
		})
	}
	if read["Sha256"].Sensitive() {
		t.Error("the read itself was changed")
	}
	if s.Conceal(nil, secret) != nil {
		t.Error("something was made of nothing")
	}
}

func TestScopesAreWrittenForPeople(t *testing.T) {
	for want, sc := range map[string]Scope{
		"123456789012/eu-west-1": ireland, "123456789012/eu-west-1+sim-1": simulated, "local/m1": thisPC,
	} {
		if sc.String() != want {
			t.Errorf("%s is written %s", want, sc)
		}
	}
}
