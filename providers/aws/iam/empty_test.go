package iam_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/iam"
	"reclaim/providers/providertest"
)

// silent answers 200 to everything, with results that hold nothing but what is in full.
func silent(t *testing.T, full map[string]string) resource.Provider {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		op := r.FormValue("Action")
		fmt.Fprintf(w, `<%sResponse xmlns="https://iam.amazonaws.com/doc/2010-05-08/"><%sResult>%s</%sResult></%sResponse>`, op, op, full[op], op, op)
	}))
	t.Cleanup(srv.Close)
	return iam.Providers(providertest.OpenAt(t, srv.URL))[0]
}

const bare = `<Role><RoleName>app</RoleName><RoleId>AROA1</RoleId><Arn>arn:aws:iam::111122223333:role/app</Arn><Path>/</Path></Role>`

// S2: success that says nothing is no evidence, neither of absence nor of a create.
func TestAnAnswerThatHoldsNothingProvesNothing(t *testing.T) {
	t.Run("a read without a role is invalid", func(t *testing.T) {
		if _, err := silent(t, nil).Read(t.Context(), keyOf("app")); !resource.Is(err, resource.ReadInvalid) {
			t.Errorf("read: %v, want read invalid", err)
		}
	})
	t.Run("a list of roles that is not there is invalid", func(t *testing.T) {
		if got, err := silent(t, nil).(resource.Finder).Find(t.Context(), resource.Query{Key: keyOf("app")}); !resource.Is(err, resource.ReadInvalid) {
			t.Errorf("find: %v, %v; want read invalid", got, err)
		}
	})
	t.Run("a create without an ID is uncertain", func(t *testing.T) {
		_, err := silent(t, nil).Create(t.Context(), resource.Create{Key: keyOf("app"), Params: value.Map{"AssumeRolePolicyDocument": trustOf(t, "lambda.amazonaws.com")}})
		if !resource.Is(err, resource.Uncertain) || resource.DefinitelyNotExecuted(err) {
			t.Errorf("create: %v, want uncertain", err)
		}
	})
	t.Run("parts that are not there are gaps, and the owner is not known", func(t *testing.T) {
		o, err := silent(t, map[string]string{"GetRole": bare}).Read(t.Context(), keyOf("app"))
		if err != nil {
			t.Fatalf("read: %v", err)
		}
		for _, param := range []string{"Tags", "Policies", "ManagedPolicyArns"} {
			if o.Params[param].IsSet() || o.Gaps[value.Path(param)].Kind != resource.GapUndecodable {
				t.Errorf("%s is %v with gap %v, want an undecodable gap", param, o.Params[param], o.Gaps[value.Path(param)])
			}
		}
		if o.Owner != nil {
			t.Errorf("owner is %v, want nil", o.Owner)
		}
		if o.Gaps["AssumeRolePolicyDocument"].Kind != resource.GapNotReturned {
			t.Errorf("trust policy has gap %v, want not returned", o.Gaps["AssumeRolePolicyDocument"])
		}
	})
	t.Run("a page that leads to no next one is invalid", func(t *testing.T) {
		p := silent(t, map[string]string{"ListRoles": `<Roles></Roles><IsTruncated>true</IsTruncated>`})
		if got, err := p.(resource.Finder).Find(t.Context(), resource.Query{Key: keyOf("app")}); !resource.Is(err, resource.ReadInvalid) {
			t.Errorf("find: %v, %v; want read invalid", got, err)
		}
	})
}
