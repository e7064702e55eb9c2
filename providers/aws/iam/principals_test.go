package iam_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/awssim"
)

// A trust policy shows a role that was deleted by its unique ID, also when another has its name since. The read looks up
// who lives under that ID, so that the one is not taken for the other.
func TestUniqueIDsInATrustPolicyAreLookedUp(t *testing.T) {
	s := start(t)
	friend := s.role(t, "friend", nil)
	trust, err := value.ParseJSON([]byte(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":[` +
		friend.Output["Arn"].String() + `]}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if o := s.role(t, "app", value.Map{"AssumeRolePolicyDocument": trust}); o.Principals != nil {
		t.Errorf("%+v was looked up while the policy shows no ID", o.Principals)
	}
	s.do(t, "DeleteRole", map[string]any{"RoleName": "friend"})
	s.role(t, "friend", nil) // another of that name
	gone := &resource.Principals{Account: "111122223333", Live: map[string]string{friend.Identity.UniqueID: ""}}
	if d := cmp.Diff(gone, s.read(t, "app").Principals); d != "" {
		t.Errorf("principals (-want +got):\n%s", d)
	}
	s.AddFault(awssim.Fault{Operation: "ListRoles", Kind: awssim.Denied})
	if o := s.read(t, "app"); o.Principals != nil {
		t.Errorf("a list that was denied says %+v", o.Principals)
	}
	s.AddFault(awssim.Fault{Operation: "ListRoles", Kind: awssim.Throttled, Times: 100})
	if _, err := s.p.Read(t.Context(), keyOf("app")); !resource.Is(err, resource.Throttled) {
		t.Errorf("a list that was throttled: %v", err)
	}
}
