package iam_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/iam"
	"reclaim/providers/awssim"
	"reclaim/providers/providertest"
)

// sim is a simulated cloud with the provider under test.
type sim struct {
	*awssim.Server
	p resource.Provider
}

func start(t *testing.T) sim {
	t.Helper()
	b := providertest.Sim(t)
	return sim{b.Sim, iam.Providers(b.Session)[0]}
}

func keyOf(name string) resource.Key { return resource.Key{"RoleName": name} }

// role makes a role with nothing but what it needs, and params.
func (s sim) role(t *testing.T, name string, params value.Map) *resource.Observation {
	t.Helper()
	all := value.Map{"RoleName": value.Of(name), "AssumeRolePolicyDocument": trustOf(t, "lambda.amazonaws.com")}
	for n, v := range params {
		all[n] = v
	}
	if _, err := s.p.Create(t.Context(), resource.Create{Key: keyOf(name), Params: all}); err != nil {
		t.Fatalf("create %s: %v", name, err)
	}
	return s.read(t, name)
}

func (s sim) read(t *testing.T, name string) *resource.Observation {
	t.Helper()
	o, err := s.p.Read(t.Context(), keyOf(name))
	if err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	return o
}

// do lets somebody else act on the cloud.
func (s sim) do(t *testing.T, op string, params map[string]any) {
	t.Helper()
	if err := s.Do(awssim.Action{Service: "iam", Op: op, Params: params}); err != nil {
		t.Fatalf("%s: %v", op, err)
	}
}

func (s sim) run(t *testing.T, c resource.Change) []string {
	t.Helper()
	calls, err := s.p.Sync(c)
	if err != nil {
		t.Fatalf("sync: %v", err)
	}
	var names []string
	for _, call := range calls {
		names = append(names, call.Name)
		if err := call.Run(t.Context()); err != nil {
			t.Fatalf("run %s: %v", call.Name, err)
		}
	}
	return names
}

// Documents come URL-encoded and are decoded exactly once, so what looks encoded inside them stays as it is.
func TestDocumentsAreDecodedOnce(t *testing.T) {
	s := start(t)
	for i, res := range map[int]string{
		1: "arn:aws:s3:::ledger/2031%2Fmay", // decoded twice it would read 2031/may
		2: "arn:aws:s3:::ledger/%ZZ",        // decoded twice it would be an error
		3: "arn:aws:s3:::ledger/a+b c",      // a form's decoding would make the plus a space
	} {
		name := fmt.Sprintf("reader-%d", i)
		want := allow(t, "s3:GetObject", res)
		s.role(t, name, nil)
		s.run(t, resource.Change{Key: keyOf(name), Observed: s.read(t, name), Write: []string{"Policies"}, Desired: value.Map{
			"Policies": value.ListOf(value.OfMap(value.Map{"PolicyName": value.Of("p"), "PolicyDocument": want})),
		}})
		got := s.read(t, name).Params["Policies"].Items()[0].Get("PolicyDocument")
		if !value.Equal(want, got) {
			t.Errorf("document is %v, want %v", got, want)
		}
	}
}

// IAM compares names without case, but reads only the exact spelling: an "already exists" is resolved by listing.
func TestARoleUnderAnotherSpellingIsFoundByName(t *testing.T) {
	s := start(t)
	s.role(t, "Ledger-Worker", nil)
	_, err := s.p.Create(t.Context(), resource.Create{Key: keyOf("ledger-worker"), Params: value.Map{"AssumeRolePolicyDocument": trustOf(t, "lambda.amazonaws.com")}})
	if !resource.Is(err, resource.AlreadyExists) {
		t.Fatalf("create under another case: %v, want already exists", err)
	}
	found, err := s.p.(resource.Finder).Find(t.Context(), resource.Query{Key: keyOf("ledger-worker")})
	if err != nil || len(found) != 1 {
		t.Fatalf("find: %d candidates, %v; want one", len(found), err)
	}
	if c := found[0]; !c.ByName || c.ByNonce || c.Key["RoleName"] != "Ledger-Worker" || c.Identity.UniqueID == "" || c.Owner == nil {
		t.Errorf("candidate %+v, want a whole look at Ledger-Worker, by name only", c)
	}
}

// S20, S26: what keeps a role is named; only what was recorded as ours is taken off.
func TestADeleteThatIsBlockedNamesWhatIsInTheWay(t *testing.T) {
	s := start(t)
	ours := value.Map{"ManagedPolicyArns": value.Of([]string{managed + "ReadOnlyAccess"}), "Policies": value.ListOf(inline(t, "ours", "s3:GetObject"))}
	s.role(t, "app", nil)
	s.run(t, resource.Change{Key: keyOf("app"), Observed: s.read(t, "app"), Write: []string{"Policies", "ManagedPolicyArns"}, Desired: ours})
	s.do(t, "AttachRolePolicy", map[string]any{"RoleName": "app", "PolicyArn": managed + "SecurityAudit"})
	text := `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":"*","Resource":"*"}]}`
	s.do(t, "PutRolePolicy", map[string]any{"RoleName": "app", "PolicyName": "theirs", "PolicyDocument": text})
	s.do(t, "CreateInstanceProfile", map[string]any{"InstanceProfileName": "fleet"})
	s.do(t, "AddRoleToInstanceProfile", map[string]any{"InstanceProfileName": "fleet", "RoleName": "app"})

	o := s.read(t, "app")
	d := resource.Delete{Key: keyOf("app"), Expect: o.Identity, Recorded: ours}
	calls, err := s.p.Unmake(d, o)
	if err != nil {
		t.Fatalf("unmake: %v", err)
	}
	var before []string
	for _, call := range calls {
		before = append(before, call.Detail)
		if err := call.Run(t.Context()); err != nil {
			t.Fatalf("run %s: %v", call.Name, err)
		}
	}
	if d := cmp.Diff([]string{"inline policy ours", "managed policy " + managed + "ReadOnlyAccess"}, before); d != "" {
		t.Errorf("taken off first (-want +got):\n%s", d)
	}
	err = s.p.Delete(t.Context(), d)
	e, ok := err.(*resource.Error)
	if !ok || e.Kind != resource.InUse || e.Executed != resource.No {
		t.Fatalf("delete: %v, want in use", err)
	}
	if d := cmp.Diff([]string{"attached policy " + managed + "SecurityAudit", "inline policy theirs", "instance profile fleet"}, e.Blockers); d != "" {
		t.Errorf("in the way (-want +got):\n%s", d)
	}
}

// Absence counts only when the role itself is not there: its parts may lag behind, or change while they are read.
func TestAPartThatIsMissingIsNoMissingRole(t *testing.T) {
	s := start(t)
	s.role(t, "app", nil)
	for _, op := range []string{"ListRoleTags", "ListRolePolicies", "ListAttachedRolePolicies"} {
		t.Run(op, func(t *testing.T) {
			s.AddFault(awssim.Fault{Operation: op, Kind: awssim.Refused, Code: "NoSuchEntity"})
			if _, err := s.p.Read(t.Context(), keyOf("app")); !resource.Is(err, resource.NotReady) {
				t.Errorf("read: %v, want not ready", err)
			}
		})
	}
	t.Run("a role that goes while it is read is gone", func(t *testing.T) {
		s.AddFault(awssim.Fault{Operation: "ListRoleTags", Then: []awssim.Action{{Service: "iam", Op: "DeleteRole", Params: map[string]any{"RoleName": "app"}}}})
		if _, err := s.p.Read(t.Context(), keyOf("app")); !resource.Is(err, resource.NotFound) {
			t.Errorf("read: %v, want not found", err)
		}
	})
}

// UpdateRole resets what it is not given, so the setting that is not written travels along as it is.
func TestASettingThatIsNotWrittenStaysAsItIs(t *testing.T) {
	s := start(t)
	s.role(t, "app", value.Map{"MaxSessionDuration": value.Of(7200), "Description": value.Of("old")})
	s.run(t, resource.Change{Key: keyOf("app"), Observed: s.read(t, "app"), Write: []string{"Description"}, Desired: value.Map{"Description": value.Of("new")}})
	got := s.read(t, "app").Params
	if d := cmp.Diff(value.Map{"d": value.Of("new"), "m": value.Of(7200)}, value.Map{"d": got["Description"], "m": got["MaxSessionDuration"]}); d != "" {
		t.Errorf("settings (-want +got):\n%s", d)
	}
}

// S4, S26: system and ownership tags are neither written nor removed as the config's own.
func TestMarksAreNeverWrittenAsTags(t *testing.T) {
	s := start(t)
	if _, err := s.p.Create(t.Context(), resource.Create{Key: keyOf("app"), Tags: resource.Tags{resource.TagNonce: "n1"},
		Params: value.Map{"AssumeRolePolicyDocument": trustOf(t, "lambda.amazonaws.com")}}); err != nil {
		t.Fatalf("create: %v", err)
	}
	calls := s.run(t, resource.Change{Key: keyOf("app"), Observed: s.read(t, "app"), Write: []string{"Tags"},
		Desired:  value.Map{"Tags": value.ListOf(tag("aws:cloudformation:stack-name", "x"), tag("reclaim:nonce", "forged"))},
		Recorded: value.Map{"Tags": value.ListOf(tag("reclaim:nonce", "n1"))}})
	if len(calls) > 0 {
		t.Errorf("called %v, want nothing", calls)
	}
	if got := s.read(t, "app").Owner[resource.TagNonce]; got != "n1" {
		t.Errorf("nonce is %q, want n1", got)
	}
}

// A create that waits for what it names made nothing, and is no conflict of the role; one that is simply wrong is
// rejected.
func TestWhatIsNotThereYetIsADependency(t *testing.T) {
	trust := func(principal string) value.Value {
		return doc(t, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":`+principal+`,"Action":"sts:AssumeRole"}]}`)
	}
	for why, c := range map[string]struct {
		params value.Map
		want   resource.Kind
	}{
		"a boundary that does not exist": {value.Map{"AssumeRolePolicyDocument": trust(`{"Service":"lambda.amazonaws.com"}`),
			"PermissionsBoundary": value.Of("arn:aws:iam::111122223333:policy/not-yet")}, resource.NotReady},
		"a principal that does not exist": {value.Map{"AssumeRolePolicyDocument": trust(`{"AWS":"arn:aws:iam::111122223333:role/not-yet"}`)}, resource.NotReady},
		"a document that is wrong":        {value.Map{"AssumeRolePolicyDocument": doc(t, `{"Version":"2012-10-17","Statement":[{"Effect":"Perhaps"}]}`)}, resource.Rejected},
	} {
		t.Run(why, func(t *testing.T) {
			_, err := start(t).p.Create(t.Context(), resource.Create{Key: keyOf("app"), Params: c.params})
			if !resource.Is(err, c.want) || !resource.DefinitelyNotExecuted(err) {
				t.Errorf("create: %v, want %s, and surely not executed", err, c.want)
			}
		})
	}
}

// S32: services repeat what they refuse.
func TestASensitiveTextIsNotRepeatedInErrors(t *testing.T) {
	s := start(t)
	secret := "hunter-" + strings.Repeat("2", 1000)
	params := value.Map{"AssumeRolePolicyDocument": trustOf(t, "lambda.amazonaws.com"), "Description": value.Of(secret).AsSensitive()}
	s.AddFault(awssim.Fault{Operation: "CreateRole", Kind: awssim.Refused, Code: "ValidationError", Message: "Value '" + secret + "' at 'description' is too long"})
	_, err := s.p.Create(t.Context(), resource.Create{Key: keyOf("app"), Params: params})
	if err == nil || strings.Contains(err.Error(), "hunter") || !strings.Contains(err.Error(), "ValidationError") {
		t.Errorf("create: %v, want the refusal without the text", err)
	}
}

// S15, S32: a value of which only its hash is left cannot be sent.
func TestAHashIsNeverSent(t *testing.T) {
	s := start(t)
	params := value.Map{"AssumeRolePolicyDocument": trustOf(t, "lambda.amazonaws.com"), "Description": value.HashOf("00ff")}
	before := len(s.Log())
	_, err := s.p.Create(t.Context(), resource.Create{Key: keyOf("app"), Params: params})
	if !resource.DefinitelyNotExecuted(err) {
		t.Errorf("create: %v, want a refusal", err)
	}
	if len(s.Log()) != before {
		t.Error("a request was sent")
	}
	if _, err := s.p.Sync(resource.Change{Key: keyOf("app"), Desired: params, Observed: &resource.Observation{}, Write: []string{"Description"}}); err == nil {
		t.Error("sync of a hash was planned")
	}
}

// S26: what could not be read is written anew and removed by what was recorded, and nothing else is touched.
func TestCollectionsThatCannotBeReadAreWrittenFromTheRecord(t *testing.T) {
	s := start(t)
	blind := &resource.Observation{Params: value.Map{}}
	calls, err := s.p.Sync(resource.Change{Key: keyOf("app"), Observed: blind, Write: []string{"Policies", "ManagedPolicyArns", "Tags"},
		Desired:  value.Map{"Policies": value.ListOf(inline(t, "new", "s3:GetObject")), "Tags": value.ListOf(tag("team", "ledger"))},
		Recorded: value.Map{"Policies": value.ListOf(inline(t, "old", "s3:GetObject")), "ManagedPolicyArns": value.Of([]string{managed + "ReadOnlyAccess"})}})
	if err != nil {
		t.Fatalf("sync: %v", err)
	}
	var got []string
	for _, c := range calls {
		got = append(got, c.Name+": "+c.Detail)
	}
	want := []string{"PutRolePolicy: inline policy new", "DeleteRolePolicy: inline policy old", "DetachRolePolicy: managed policy " + managed + "ReadOnlyAccess", "TagRole: tags"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
}
