package iam_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/iam"
	"reclaim/providers/awssim"
	"reclaim/providers/providertest"
)

// policies are AWS's own, which both backends have: as many attachments can be made on one role.
var policies = []string{"ReadOnlyAccess", "SecurityAudit", "PowerUserAccess"}

// attachmentCase attaches each policy to each of many roles, which are made first.
func attachmentCase(t *testing.T, b *providertest.Backend) providertest.Case {
	roles := iam.Providers(b.Session)[0]
	made := map[string]bool{}
	return providertest.Case{
		Name:     b.Name,
		Provider: iam.Providers(b.Session)[1],
		Sample: func(n int) value.Map {
			name := fmt.Sprintf("holder-%03d", n/len(policies))
			if !made[name] {
				made[name] = true
				_, err := roles.Create(t.Context(), resource.Create{Key: keyOf(name), Params: value.Map{"AssumeRolePolicyDocument": trustOf(t, "lambda.amazonaws.com")}})
				if err != nil {
					t.Fatalf("create role: %v", err)
				}
			}
			return value.Map{"RoleName": value.Of(name), "PolicyArn": value.Of(managed + policies[n%len(policies)])}
		},
		Absent:   resource.Key{"RoleName": "holder-000", "PolicyArn": managed + "AdministratorAccess"},
		CreateOp: "AttachRolePolicy", DeleteOp: "DetachRolePolicy", ReadOp: "ListAttachedRolePolicies",
		Log: b.Log(), Break: b.Break(),
	}
}

func TestRolePolicyAttachment(t *testing.T) {
	t.Run("awssim", func(t *testing.T) { providertest.Run(t, attachmentCase(t, providertest.Sim(t))) })
	t.Run("moto", func(t *testing.T) { providertest.Run(t, attachmentCase(t, providertest.Moto(t))) })
}

// pair is a role with ManagedPolicyArns of its own and an attachment on the same role, in one simulated cloud.
type pair struct {
	*awssim.Server
	role, attachment resource.Provider
}

func startPair(t *testing.T) pair {
	t.Helper()
	b := providertest.Sim(t)
	p := iam.Providers(b.Session)
	s := pair{b.Sim, p[0], p[1]}
	params := value.Map{"AssumeRolePolicyDocument": trustOf(t, "lambda.amazonaws.com")}
	if _, err := s.role.Create(t.Context(), resource.Create{Key: keyOf("app"), Params: params}); err != nil {
		t.Fatalf("create role: %v", err)
	}
	return s
}

func on(role, policy string) resource.Key {
	return resource.Key{"RoleName": role, "PolicyArn": managed + policy}
}

func recordedAs(k resource.Key) value.Map {
	return value.Map{"RoleName": value.Of(k["RoleName"]), "PolicyArn": value.Of(k["PolicyArn"])}
}

func (s pair) attach(t *testing.T, policy string) {
	t.Helper()
	if _, err := s.attachment.Create(t.Context(), resource.Create{Key: on("app", policy)}); err != nil {
		t.Fatalf("attach %s: %v", policy, err)
	}
}

// syncRole brings the role's own list from was to now and returns what it holds then.
func (s pair) syncRole(t *testing.T, was, now []string) []string {
	t.Helper()
	list := func(names []string) value.Map {
		var arns []string
		for _, n := range names {
			arns = append(arns, managed+n)
		}
		return value.Map{"ManagedPolicyArns": value.Of(arns)}
	}
	o, err := s.role.Read(t.Context(), keyOf("app"))
	if err != nil {
		t.Fatalf("read role: %v", err)
	}
	calls, err := s.role.Sync(resource.Change{Key: keyOf("app"), Desired: list(now), Recorded: list(was), Observed: o, Write: []string{"ManagedPolicyArns"}})
	if err != nil {
		t.Fatalf("sync role: %v", err)
	}
	for _, c := range calls {
		if err := c.Run(t.Context()); err != nil {
			t.Fatalf("run %s: %v", c.Name, err)
		}
	}
	return s.State().Roles[0].Attached
}

// S26: a role's own list and attachments on the same role do not fight.
func TestARoleAndAnAttachmentLeaveEachOthersPoliciesAlone(t *testing.T) {
	t.Run("a role that changes or drops its own keeps the attachment's", func(t *testing.T) {
		s := startPair(t)
		s.syncRole(t, nil, []string{"ReadOnlyAccess"})
		s.attach(t, "SecurityAudit")
		for _, step := range []struct{ was, now []string }{
			{[]string{"ReadOnlyAccess"}, []string{"PowerUserAccess"}}, {[]string{"PowerUserAccess"}, nil},
		} {
			got := s.syncRole(t, step.was, step.now)
			if !slices.Contains(got, managed+"SecurityAudit") || len(got) != len(step.now)+1 {
				t.Errorf("from %v to %v the role holds %v, want the attachment's beside its own", step.was, step.now, got)
			}
		}
		if _, err := s.attachment.Read(t.Context(), on("app", "SecurityAudit")); err != nil {
			t.Errorf("read the attachment: %v", err)
		}
	})
	t.Run("a detached attachment leaves the role's own", func(t *testing.T) {
		s := startPair(t)
		s.syncRole(t, nil, []string{"ReadOnlyAccess"})
		s.attach(t, "SecurityAudit")
		k := on("app", "SecurityAudit")
		if err := s.attachment.Delete(t.Context(), resource.Delete{Key: k, Recorded: recordedAs(k)}); err != nil {
			t.Fatalf("detach: %v", err)
		}
		if got := s.State().Roles[0].Attached; !slices.Equal(got, []string{managed + "ReadOnlyAccess"}) {
			t.Errorf("the role holds %v, want its own", got)
		}
	})
	t.Run("a role that is to be deleted takes off its own, and is refused for the attachment by name", func(t *testing.T) {
		s := startPair(t)
		s.syncRole(t, nil, []string{"ReadOnlyAccess"})
		s.attach(t, "SecurityAudit")
		o, err := s.role.Read(t.Context(), keyOf("app"))
		if err != nil {
			t.Fatal(err)
		}
		d := resource.Delete{Key: keyOf("app"), Expect: o.Identity, Recorded: value.Map{"ManagedPolicyArns": value.Of([]string{managed + "ReadOnlyAccess"})}}
		calls, err := s.role.Unmake(d, o)
		if err != nil || len(calls) != 1 {
			t.Fatalf("unmake: %d calls, %v; want one", len(calls), err)
		}
		if err := calls[0].Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		err = s.role.Delete(t.Context(), d)
		if e, ok := err.(*resource.Error); !ok || e.Kind != resource.InUse || !slices.Equal(e.Blockers, []string{"attached policy " + managed + "SecurityAudit"}) {
			t.Errorf("delete: %v, want in use by the attachment", err)
		}
	})
}

func TestAnAttachmentIsReadByItsExactARNOverAllPages(t *testing.T) {
	s := startPair(t)
	s.attach(t, "SecurityAudit")
	s.attach(t, "ReadOnlyAccess")
	if _, err := s.attachment.Read(t.Context(), on("app", "ReadOnly")); !resource.Is(err, resource.NotFound) {
		t.Errorf("an ARN that merely starts alike: %v, want not found", err)
	}
	for why, c := range map[string]struct {
		pages []string
		arn   string
		want  resource.Kind
	}{
		"on the second page": {[]string{page("a", "m"), page("b", "")}, "b", ""},
		"on none":            {[]string{page("a", "m"), page("b", "")}, "c", resource.NotFound},
		"a page that leads to no next one is invalid": {[]string{`<AttachedPolicies></AttachedPolicies><IsTruncated>true</IsTruncated>`}, "a", resource.ReadInvalid},
		"an answer without its list is invalid":       {[]string{""}, "a", resource.ReadInvalid},
	} {
		t.Run(why, func(t *testing.T) {
			p := paged(t, c.pages)
			if _, err := p.Read(t.Context(), resource.Key{"RoleName": "app", "PolicyArn": c.arn}); resource.KindOf(err) != c.want {
				t.Errorf("read: %v, want %q", err, c.want)
			}
		})
	}
}

// S2: the role's absence is the attachment's.
func TestAnAttachmentOnARoleThatIsNotThereIsNotThere(t *testing.T) {
	s := startPair(t)
	k := on("gone", "ReadOnlyAccess")
	if _, err := s.attachment.Read(t.Context(), k); !resource.Is(err, resource.NotFound) {
		t.Errorf("read: %v, want not found", err)
	}
	if err := s.attachment.Delete(t.Context(), resource.Delete{Key: k, Recorded: recordedAs(k)}); !resource.Is(err, resource.NotFound) {
		t.Errorf("delete: %v, want not found", err)
	}
	for why, key := range map[string]resource.Key{"role": k, "policy": on("app", "NoSuchPolicy")} {
		_, err := s.attachment.Create(t.Context(), resource.Create{Key: key})
		if !resource.Is(err, resource.NotReady) || !resource.DefinitelyNotExecuted(err) {
			t.Errorf("attach without its %s: %v, want not ready, and surely not executed", why, err)
		}
	}
}

// S20: an attachment has no identity, so what was recorded is all there is to tell it by.
func TestAnAttachmentIsDetachedOnlyAsItWasRecorded(t *testing.T) {
	for why, recorded := range map[string]value.Map{
		"nothing is recorded": nil,
		"another policy is":   recordedAs(on("app", "SecurityAudit")),
		"another role is":     recordedAs(on("other", "ReadOnlyAccess")),
	} {
		t.Run(why, func(t *testing.T) {
			s := startPair(t)
			s.attach(t, "ReadOnlyAccess")
			err := s.attachment.Delete(t.Context(), resource.Delete{Key: on("app", "ReadOnlyAccess"), Recorded: recorded})
			if !resource.Is(err, resource.IdentityMismatch) || len(s.State().Roles[0].Attached) != 1 {
				t.Errorf("detach: %v, the role holds %v; want another object, and nothing detached", err, s.State().Roles[0].Attached)
			}
		})
	}
}

func page(arn, marker string) string {
	more := ""
	if marker != "" {
		more = "<Marker>" + marker + "</Marker>"
	}
	return fmt.Sprintf("<AttachedPolicies><member><PolicyArn>%s</PolicyArn></member></AttachedPolicies><IsTruncated>%v</IsTruncated>%s", arn, marker != "", more)
}

// paged answers the n-th list with the n-th page.
func paged(t *testing.T, pages []string) resource.Provider {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `<ListAttachedRolePoliciesResponse xmlns="https://iam.amazonaws.com/doc/2010-05-08/"><ListAttachedRolePoliciesResult>%s</ListAttachedRolePoliciesResult></ListAttachedRolePoliciesResponse>`, pages[0])
		if len(pages) > 1 {
			pages = pages[1:]
		}
	}))
	t.Cleanup(srv.Close)
	return iam.Providers(providertest.OpenAt(t, srv.URL))[1]
}
