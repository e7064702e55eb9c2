package logs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/logs"
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
	return sim{b.Sim, logs.Providers(b.Session)[0]}
}

func keyOf(name string) resource.Key { return resource.Key{"LogGroupName": name} }

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
	if err := s.Do(awssim.Action{Service: "logs", Op: op, Params: params}); err != nil {
		t.Fatalf("%s: %v", op, err)
	}
}

// sync plans and runs what brings name to desired, and returns the calls.
func (s sim) sync(t *testing.T, name string, desired value.Map, write ...string) []string {
	t.Helper()
	calls, err := s.p.Sync(resource.Change{Key: keyOf(name), Desired: desired, Observed: s.read(t, name), Write: write})
	if err != nil {
		t.Fatalf("sync: %v", err)
	}
	var names []string
	for _, c := range calls {
		names = append(names, c.Name)
		if err := c.Run(t.Context()); err != nil {
			t.Fatalf("run %s: %v", c.Name, err)
		}
	}
	return names
}

// The service only searches by prefix, page by page: a group whose name merely starts alike is another.
func TestAGroupIsReadByItsExactNameOverAllPages(t *testing.T) {
	s := start(t)
	for n := range 120 {
		s.do(t, "CreateLogGroup", map[string]any{"logGroupName": fmt.Sprintf("/app-%03d", n)})
	}
	if _, err := s.p.Read(t.Context(), keyOf("/app")); !resource.Is(err, resource.NotFound) {
		t.Errorf("read of a prefix: %v, want not found", err)
	}
	s.do(t, "CreateLogGroup", map[string]any{"logGroupName": "/app"})
	if got := s.read(t, "/app").Key["LogGroupName"]; got != "/app" {
		t.Errorf("read %q, want /app", got)
	}
	// A page that fails in the middle is no absence.
	s.AddFault(awssim.Fault{Operation: "DescribeLogGroups", Skip: 1, Kind: awssim.Denied})
	if _, err := s.p.Read(t.Context(), keyOf("/app-")); !resource.Is(err, resource.AccessDenied) {
		t.Errorf("read with a denied second page: %v, want access denied", err)
	}
}

// A group that something else made, Lambda for a function say, carries no mark: it is unproven, and changed in place.
func TestAGroupMadeBySomethingElseIsReadWithoutMarks(t *testing.T) {
	s := start(t)
	s.do(t, "CreateLogGroup", map[string]any{"logGroupName": "/aws/lambda/orders"})
	_, err := s.p.Create(t.Context(), resource.Create{Key: keyOf("/aws/lambda/orders"), Params: value.Map{}})
	if !resource.Is(err, resource.AlreadyExists) || !resource.DefinitelyNotExecuted(err) {
		t.Fatalf("create: %v, want already exists", err)
	}
	o := s.read(t, "/aws/lambda/orders")
	if o.Owner == nil || len(o.Owner) > 0 {
		t.Errorf("marks are %v, want none, and known to be none", o.Owner)
	}
	if d := cmp.Diff([]string{"PutRetentionPolicy"}, s.sync(t, "/aws/lambda/orders", value.Map{"RetentionInDays": value.Of(60)}, "RetentionInDays")); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
}

// Never expiring is the absence of a retention: the service takes no 0.
func TestARetentionOfZeroRemovesIt(t *testing.T) {
	for why, c := range map[string]struct {
		desired value.Map
		want    []string
	}{
		"0 is never":                     {value.Map{"RetentionInDays": value.Of(0)}, []string{"DeleteRetentionPolicy"}},
		"0 written as a string is never": {value.Map{"RetentionInDays": value.Of("0")}, []string{"DeleteRetentionPolicy"}},
		"not set is never":               {value.Map{}, []string{"DeleteRetentionPolicy"}},
		"a number is put":                {value.Map{"RetentionInDays": value.Of("90")}, []string{"PutRetentionPolicy"}},
	} {
		t.Run(why, func(t *testing.T) {
			s := start(t)
			s.do(t, "CreateLogGroup", map[string]any{"logGroupName": "g"})
			s.do(t, "PutRetentionPolicy", map[string]any{"logGroupName": "g", "retentionInDays": 7})
			if d := cmp.Diff(c.want, s.sync(t, "g", c.desired, "RetentionInDays")); d != "" {
				t.Errorf("calls (-want +got):\n%s", d)
			}
			want := c.desired["RetentionInDays"]
			if days, _ := want.Int(); days == 0 {
				if got := s.read(t, "g").Params["RetentionInDays"]; got.IsSet() {
					t.Errorf("retention is %v, want none", got)
				}
			} else if got := s.read(t, "g").Params["RetentionInDays"]; !value.Equal(got, value.Of(90)) {
				t.Errorf("retention is %v, want 90", got)
			}
		})
	}
	t.Run("a create with 0 has nothing left to send", func(t *testing.T) {
		made, err := start(t).p.Create(t.Context(), resource.Create{Key: keyOf("g"), Params: value.Map{"RetentionInDays": value.Of(0)}})
		if err != nil || len(made.Unsent) > 0 {
			t.Errorf("created with %v unsent, %v; want nothing", made.Unsent, err)
		}
	})
}

// The delivery class keeps its retention to itself: it is no drift, and never written.
func TestTheRetentionOfADeliveryGroupIsLeftAlone(t *testing.T) {
	s := start(t)
	made, err := s.p.Create(t.Context(), resource.Create{Key: keyOf("d"), Params: value.Map{"LogGroupClass": value.Of("DELIVERY"), "RetentionInDays": value.Of(30)}})
	if err != nil || slices.Contains(made.Unsent, "RetentionInDays") {
		t.Fatalf("create: %v unsent, %v; want no retention to send", made.Unsent, err)
	}
	o := s.read(t, "d")
	if got := o.Gaps["RetentionInDays"].Kind; got != resource.GapNotReturned || o.Params["RetentionInDays"].IsSet() {
		t.Errorf("retention reads %v with gap %q, want a gap", o.Params["RetentionInDays"], got)
	}
	if calls := s.sync(t, "d", value.Map{"LogGroupClass": value.Of("DELIVERY"), "RetentionInDays": value.Of(30)}, "RetentionInDays"); len(calls) > 0 {
		t.Errorf("called %v, want nothing", calls)
	}
}

// GetAtt's Arn ends in ":*"; the tagging operations take it without.
func TestTheArnEndsAsGetAttGivesIt(t *testing.T) {
	s := start(t)
	s.do(t, "CreateLogGroup", map[string]any{"logGroupName": "g"})
	got := s.read(t, "g").Output.Text("Arn")
	if !strings.HasSuffix(got, ":log-group:g:*") || strings.HasSuffix(got, ":*:*") {
		t.Errorf("Arn is %q, want one :* at its end", got)
	}
}

// S20: a group that was deleted and made again has another creation time.
func TestAGroupMadeAgainIsNotDeleted(t *testing.T) {
	s := start(t)
	s.do(t, "CreateLogGroup", map[string]any{"logGroupName": "g"})
	old := s.read(t, "g").Identity
	old.CreatedAt = old.CreatedAt.Add(-1e6) // a millisecond, the service's precision
	if err := s.p.Delete(t.Context(), resource.Delete{Key: keyOf("g"), Expect: old, Consent: true}); !resource.Is(err, resource.IdentityMismatch) {
		t.Errorf("delete: %v, want another object", err)
	}
	s.read(t, "g")
}

// S2: a group of another region is not there, and the scope says why.
func TestAnotherRegionHoldsOtherGroups(t *testing.T) {
	b := providertest.Sim(t)
	s := sim{b.Sim, logs.Providers(b.Session)[0]}
	s.do(t, "CreateLogGroup", map[string]any{"logGroupName": "g"})
	s.read(t, "g")
	home, err := b.Session.Verify(t.Context())
	if err != nil {
		t.Fatalf("verify: %v", err)
	}
	away := b.InRegion(t, "us-west-2")
	if _, err := logs.Providers(away)[0].Read(t.Context(), keyOf("g")); !resource.Is(err, resource.NotFound) {
		t.Errorf("read from another region: %v, want not found", err)
	}
	if scope, err := away.Verify(t.Context()); err != nil || scope == home || scope.Region != "us-west-2" {
		t.Errorf("scope of the other region is %v, %v; want another than %v", scope, err, home)
	}
}
