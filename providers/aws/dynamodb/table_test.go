package dynamodb_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/dynamodb"
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
	return sim{b.Sim, dynamodb.Providers(b.Session)[0]}
}

func keyOf(name string) resource.Key { return resource.Key{"TableName": name} }

// plain is a table on demand, with key pk, and more.
func plain(more value.Map) value.Map {
	m := value.Map{"KeySchema": keys("pk"), "AttributeDefinitions": attrs("pk"), "BillingMode": value.Of("PAY_PER_REQUEST")}
	for n, v := range more {
		m[n] = v
	}
	return m
}

// make creates a table and waits until it is ready.
func (s sim) make(t *testing.T, name string, more value.Map) resource.Created {
	t.Helper()
	made, err := s.p.Create(t.Context(), resource.Create{Key: keyOf(name), Params: plain(more), Tags: resource.Tags{resource.TagNonce: "n-" + name}})
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	s.settle(t, name)
	return made
}

func (s sim) settle(t *testing.T, name string) {
	t.Helper()
	for began := time.Now(); !s.read(t, name).Ready; time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatalf("not ready: %s", s.read(t, name).NotReady)
		}
	}
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
	if err := s.Do(awssim.Action{Service: "dynamodb", Op: op, Params: params}); err != nil {
		t.Fatalf("%s: %v", op, err)
	}
}

// sync plans and runs what brings name to desired, one call right after the other, and returns the calls.
func (s sim) sync(t *testing.T, name string, desired value.Map, write ...string) []string {
	t.Helper()
	calls, err := s.p.Sync(resource.Change{Key: keyOf(name), Desired: desired, Observed: s.read(t, name), Write: write})
	if err != nil {
		t.Fatalf("sync: %v", err)
	}
	var names []string
	for _, c := range calls {
		names = append(names, c.Name+": "+c.Detail)
		if err := c.Run(t.Context()); err != nil {
			t.Fatalf("run %s (%s): %v", c.Name, c.Detail, err)
		}
	}
	return names
}

// delete deletes the table as it is there now.
func (s sim) delete(t *testing.T, name string, consent bool) error {
	t.Helper()
	o := s.read(t, name)
	return s.p.Delete(t.Context(), resource.Delete{Key: o.Key, Expect: o.Identity, Consent: consent})
}

// ResourceInUseException says that the table exists, or that its name is not free: only a read tells.
func TestInUseMeansExistsOrBusyAndAReadTells(t *testing.T) {
	for why, c := range map[string]struct {
		prepare func(*testing.T, sim)
		want    resource.Kind
	}{
		"a table that can be read exists": {func(t *testing.T, s sim) { s.make(t, "orders", nil) }, resource.AlreadyExists},
		"one that is still being made exists": {func(t *testing.T, s sim) {
			if _, err := s.p.Create(t.Context(), resource.Create{Key: keyOf("orders"), Params: plain(nil)}); err != nil {
				t.Fatal(err)
			}
		}, resource.AlreadyExists},
		"one that is being deleted leaves its name in a moment": {func(t *testing.T, s sim) {
			s.make(t, "orders", nil)
			s.do(t, "DeleteTable", map[string]any{"TableName": "orders"})
		}, resource.Busy},
		"one that no read shows may be on its way": {func(t *testing.T, s sim) {
			s.make(t, "orders", nil)
			s.AddFault(awssim.Fault{Operation: "DescribeTable", Kind: awssim.Lag, Delay: time.Hour})
		}, resource.Busy},
		"one that may not be read is taken as there": {func(t *testing.T, s sim) {
			s.make(t, "orders", nil)
			s.AddFault(awssim.Fault{Operation: "DescribeTable", Kind: awssim.Denied})
		}, resource.AlreadyExists},
		"too many tables at once is busy": {func(t *testing.T, s sim) {
			s.AddFault(awssim.Fault{Operation: "CreateTable", Kind: awssim.Refused, Code: "LimitExceededException"})
		}, resource.Busy},
	} {
		t.Run(why, func(t *testing.T) {
			s := start(t)
			c.prepare(t, s)
			_, err := s.p.Create(t.Context(), resource.Create{Key: keyOf("orders"), Params: plain(nil)})
			if !resource.Is(err, c.want) || !resource.DefinitelyNotExecuted(err) {
				t.Errorf("create: %v, want %s, and surely not executed", err, c.want)
			}
		})
	}
}

// A create that was answered 500 and "in use" after it: the table there is the one that was made, known by its nonce.
func TestATableThatWasMadeByAFailedCreateIsFoundByItsNonce(t *testing.T) {
	s := start(t)
	create := resource.Create{Key: keyOf("orders"), Params: plain(nil), Tags: resource.Tags{resource.TagNonce: "n1"}}
	s.AddFault(awssim.Fault{Operation: "CreateTable", Kind: awssim.ErrorAfterExecute})
	if _, err := s.p.Create(t.Context(), create); !resource.Is(err, resource.Uncertain) {
		t.Fatalf("create: %v, want uncertain", err)
	}
	s.AddFault(awssim.Fault{Operation: "CreateTable", Kind: awssim.Throttled})
	if _, err := s.p.Create(t.Context(), create); !resource.Is(err, resource.Throttled) {
		t.Fatalf("create: %v, want throttled", err)
	}
	if _, err := s.p.Create(t.Context(), create); !resource.Is(err, resource.AlreadyExists) {
		t.Fatalf("create: %v, want already exists", err)
	}
	found, err := s.p.(resource.Finder).Find(t.Context(), resource.Query{Nonce: "n1", Key: keyOf("orders"), Like: create.Params})
	if err != nil || len(found) != 1 || !found[0].ByNonce || found[0].Identity.UniqueID == "" {
		t.Errorf("found %+v, %v; want the one with our nonce", found, err)
	}
}

// Each index is a call of its own, and each call waits until the one before it is done.
func TestIndexesChangeOneAtATime(t *testing.T) {
	s := start(t)
	s.make(t, "orders", value.Map{"AttributeDefinitions": attrs("pk", "a", "b"), "GlobalSecondaryIndexes": value.ListOf(
		local("by-a", keys("a"), "ALL"), local("by-b", keys("b"), "ALL"))})
	desired := plain(value.Map{"AttributeDefinitions": attrs("pk", "b", "c", "d"), "GlobalSecondaryIndexes": value.ListOf(
		local("by-c", keys("c"), "ALL"), local("by-d", keys("d", "b"), "KEYS_ONLY"))})
	got := s.sync(t, "orders", desired, "AttributeDefinitions", "GlobalSecondaryIndexes")
	want := []string{"UpdateTable: remove index by-a", "UpdateTable: remove index by-b", "UpdateTable: make index by-c", "UpdateTable: make index by-d"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
	s.settle(t, "orders")
	o := s.read(t, "orders")
	if n := len(o.Params["GlobalSecondaryIndexes"].Items()); n != 2 || len(o.Params["AttributeDefinitions"].Items()) != 4 {
		t.Errorf("%d indexes and definitions %v, want 2 and 4", n, o.Params["AttributeDefinitions"])
	}
	for _, r := range s.Log() {
		if r.Operation == "UpdateTable" && r.Outcome != "ok" {
			t.Errorf("an update was sent too early: %s", r.Outcome)
		}
	}
}

// What no call can do is said before anything is sent.
func TestWhatCannotBeChangedInPlaceIsRefusedWithAWayOut(t *testing.T) {
	byA := value.ListOf(local("by-a", keys("a"), "ALL"))
	for why, c := range map[string]struct {
		desired value.Map
		write   []string
		says    string
	}{
		"another key of an index":                  {value.Map{"AttributeDefinitions": attrs("pk", "b"), "GlobalSecondaryIndexes": value.ListOf(local("by-a", keys("b"), "ALL"))}, []string{"AttributeDefinitions", "GlobalSecondaryIndexes"}, "another name"},
		"another projection of an index":           {value.Map{"GlobalSecondaryIndexes": value.ListOf(local("by-a", keys("a"), "KEYS_ONLY"))}, []string{"GlobalSecondaryIndexes"}, "another name"},
		"an attribute that no key uses":            {value.Map{"AttributeDefinitions": attrs("pk", "a", "idle"), "GlobalSecondaryIndexes": byA}, []string{"AttributeDefinitions"}, "take it out"},
		"another type of a key":                    {value.Map{"AttributeDefinitions": value.ListOf(value.Of(map[string]string{"AttributeName": "pk", "AttributeType": "N"}), attrs("a").Items()[0])}, []string{"AttributeDefinitions"}, "type of pk"},
		"provisioned capacity without any":         {value.Map{"BillingMode": value.Value{}}, []string{"BillingMode"}, "needs ProvisionedThroughput"},
		"units of an on-demand table":              {value.Map{"ProvisionedThroughput": capacity(1, 1)}, []string{"ProvisionedThroughput"}, "take it out"},
		"time to live without an attribute":        {value.Map{"TimeToLiveSpecification": value.Of(map[string]any{"Enabled": true})}, []string{"TimeToLiveSpecification"}, "AttributeName"},
		"a value that nobody has at hand any more": {value.Map{"TableClass": value.Wait("Other.Class")}, []string{"TableClass"}, "not at hand"},
	} {
		t.Run(why, func(t *testing.T) {
			s := start(t)
			s.make(t, "orders", value.Map{"AttributeDefinitions": attrs("pk", "a"), "GlobalSecondaryIndexes": byA})
			calls, err := s.p.Sync(resource.Change{Key: keyOf("orders"), Desired: plain(c.desired), Observed: s.read(t, "orders"), Write: c.write})
			if !resource.Is(err, resource.Rejected) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%d calls, %v; want a refusal that says %q", len(calls), err, c.says)
			}
		})
	}
}

// A call that waits sends nothing before the service is done, and says so when its time is over.
func TestACallThatWaitsInVainSendsNothing(t *testing.T) {
	s := start(t)
	s.make(t, "orders", nil)
	calls, err := s.p.Sync(resource.Change{Key: keyOf("orders"), Desired: plain(value.Map{"TableClass": value.Of("STANDARD_INFREQUENT_ACCESS")}),
		Observed: s.read(t, "orders"), Write: []string{"TableClass"}})
	if err != nil || len(calls) != 1 {
		t.Fatalf("%d calls, %v", len(calls), err)
	}
	s.do(t, "DeleteTable", map[string]any{"TableName": "orders"})
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Millisecond)
	defer cancel()
	if err := calls[0].Run(ctx); !resource.Is(err, resource.Busy) || !resource.DefinitelyNotExecuted(err) || !strings.Contains(err.Error(), "DELETING") {
		t.Errorf("run: %v, want busy, because the table is DELETING", err)
	}
	for _, r := range s.Log() {
		if r.Operation == "UpdateTable" {
			t.Error("an update was sent")
		}
	}
}

// A change is for the table that was looked at, not for another that has its name by now.
func TestAChangeIsNotSentToAnotherTableOfTheName(t *testing.T) {
	s := start(t)
	s.make(t, "orders", nil)
	o := s.read(t, "orders")
	o.Identity.UniqueID = "another"
	calls, err := s.p.Sync(resource.Change{Key: o.Key, Desired: plain(nil), Observed: o, Write: []string{"TableClass"}})
	if err != nil || len(calls) != 1 {
		t.Fatalf("%d calls, %v", len(calls), err)
	}
	if err := calls[0].Run(t.Context()); !resource.Is(err, resource.IdentityMismatch) || !resource.DefinitelyNotExecuted(err) {
		t.Errorf("run: %v, want another object", err)
	}
}

// The service refuses to turn off what is off, and wants the live attribute's name to turn it off.
func TestTimeToLiveIsTurnedOffOnceByItsLiveAttribute(t *testing.T) {
	off := func(attribute string) value.Map {
		return value.Map{"TimeToLiveSpecification": value.Of(map[string]any{"AttributeName": attribute, "Enabled": false})}
	}
	s := start(t)
	s.make(t, "orders", nil)
	if got := s.sync(t, "orders", plain(off("until")), "TimeToLiveSpecification"); len(got) > 0 {
		t.Errorf("called %v, want nothing: it is off", got)
	}
	on := plain(value.Map{"TimeToLiveSpecification": expires("until")})
	if d := cmp.Diff([]string{"UpdateTimeToLive: on, by until"}, s.sync(t, "orders", on, "TimeToLiveSpecification")); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
	if got := s.read(t, "orders").Params["TimeToLiveSpecification"]; !value.Equal(got, expires("until")) {
		t.Errorf("while it is turned on it reads %v, want on", got)
	}
	if d := cmp.Diff([]string{"UpdateTimeToLive: off, by until"}, s.sync(t, "orders", plain(off("renamed")), "TimeToLiveSpecification")); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
	if got := s.read(t, "orders").Params["TimeToLiveSpecification"]; got.Get("Enabled").IsTrue() {
		t.Errorf("while it is turned off it reads %v, want off", got)
	}
}

// S25: items are there until somebody consents to their loss by name.
func TestItemsAreLostOnlyWithConsent(t *testing.T) {
	s := start(t)
	s.make(t, "orders", nil)
	s.do(t, "PutItem", map[string]any{"TableName": "orders", "Item": map[string]any{"pk": map[string]any{"S": "order-1"}}})
	items := func() (n int) {
		for _, table := range s.State().Tables {
			n += len(table.Items)
		}
		return n
	}
	if err := s.delete(t, "orders", false); !resource.Is(err, resource.Rejected) || !resource.DefinitelyNotExecuted(err) {
		t.Errorf("delete without consent: %v, want a refusal", err)
	}
	s.sync(t, "orders", plain(value.Map{"StreamSpecification": streamOf("NEW_IMAGE", value.Value{})}), "StreamSpecification")
	if items() != 1 {
		t.Fatalf("%d items, want the one", items())
	}
	if err := s.delete(t, "orders", true); err != nil {
		t.Fatalf("delete: %v", err)
	}
	o := s.read(t, "orders")
	if o.Ready || !strings.Contains(o.NotReady, "DELETING") {
		t.Errorf("while it is deleted it is ready %v (%s), want not", o.Ready, o.NotReady)
	}
	if err := s.p.Delete(t.Context(), resource.Delete{Key: o.Key, Expect: o.Identity, Consent: true}); err != nil {
		t.Errorf("delete of one that is being deleted: %v, want it left to that", err)
	}
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if _, err := s.p.Read(t.Context(), keyOf("orders")); resource.Is(err, resource.NotFound) {
			break
		}
		if time.Since(began) > 10*time.Second {
			t.Fatal("it is never gone")
		}
	}
	if items() != 0 {
		t.Errorf("%d items are left of a table that is gone", items())
	}
}

// A protection against deletion is for its owner to lift.
func TestAProtectedTableIsNotDeletedAndSaysWhatToDo(t *testing.T) {
	s := start(t)
	s.make(t, "orders", value.Map{"DeletionProtectionEnabled": value.Of(true)})
	o := s.read(t, "orders")
	if calls, err := s.p.Unmake(resource.Delete{Key: o.Key, Expect: o.Identity, Consent: true}, o); err != nil || len(calls) > 0 {
		t.Errorf("%d calls before the delete, %v; want none", len(calls), err)
	}
	err := s.delete(t, "orders", true)
	if !resource.Is(err, resource.InUse) || !resource.DefinitelyNotExecuted(err) || !strings.Contains(err.Error(), "set DeletionProtectionEnabled to false, deploy") {
		t.Errorf("delete: %v, want it to say what to do first", err)
	}
	s.sync(t, "orders", plain(nil), "DeletionProtectionEnabled")
	s.settle(t, "orders")
	if err := s.delete(t, "orders", true); err != nil {
		t.Errorf("delete, unprotected: %v", err)
	}
}

// S20: a table that was deleted and made again has another ID.
func TestATableMadeAgainIsNotDeleted(t *testing.T) {
	s := start(t)
	s.make(t, "orders", nil)
	old := s.read(t, "orders").Identity
	if err := s.delete(t, "orders", true); err != nil {
		t.Fatalf("delete: %v", err)
	}
	for {
		if _, err := s.p.Read(t.Context(), keyOf("orders")); resource.Is(err, resource.NotFound) {
			break
		}
	}
	s.make(t, "orders", nil)
	if err := s.p.Delete(t.Context(), resource.Delete{Key: keyOf("orders"), Expect: old, Consent: true}); !resource.Is(err, resource.IdentityMismatch) {
		t.Errorf("delete: %v, want another object", err)
	}
	s.read(t, "orders")
}

// A stream's ARN is there while the stream is, and another one when it is turned on again.
func TestTheStreamARNComesAndGoesWithTheStream(t *testing.T) {
	s := start(t)
	made := s.make(t, "orders", nil)
	arn := func() string { return s.read(t, "orders").Output.Text("StreamArn") }
	stream := func(view string) value.Map {
		return plain(value.Map{"StreamSpecification": streamOf(view, value.Value{})})
	}
	if made.Output["StreamArn"].IsSet() || arn() != "" {
		t.Errorf("without a stream its ARN is %v, then %q", made.Output["StreamArn"], arn())
	}
	s.sync(t, "orders", stream("NEW_IMAGE"), "StreamSpecification")
	first := arn()
	got := s.sync(t, "orders", stream("KEYS_ONLY"), "StreamSpecification")
	if d := cmp.Diff([]string{"UpdateTable: stream off", "UpdateTable: stream of KEYS_ONLY"}, got); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
	if first == "" || arn() == "" || arn() == first {
		t.Errorf("the streams' ARNs are %q and %q, want two", first, arn())
	}
	s.sync(t, "orders", plain(nil), "StreamSpecification")
	if arn() != "" {
		t.Errorf("with the stream off its ARN is %q, want none", arn())
	}
}

// Config names one Kinesis stream: a table that writes to two is blocked there, and only there.
func TestTwoKinesisStreamsAreAGap(t *testing.T) {
	s := start(t)
	s.make(t, "orders", nil)
	for _, name := range []string{"audit", "archive"} {
		s.do(t, "EnableKinesisStreamingDestination", map[string]any{"TableName": "orders", "StreamArn": kinesis(name)})
	}
	o := s.read(t, "orders")
	if o.Gaps["KinesisStreamSpecification"].Kind != resource.GapDenied || o.Params["KinesisStreamSpecification"].IsSet() || len(o.Gaps) != 1 {
		t.Errorf("gaps are %v, want one for the Kinesis stream", o.Gaps)
	}
}

// S29: the contributor insights of one index that cannot be read are a gap of that index.
func TestADeniedPartOfOneIndexIsAGapOfThatIndex(t *testing.T) {
	s := start(t)
	s.make(t, "orders", value.Map{"AttributeDefinitions": attrs("pk", "a", "b"), "GlobalSecondaryIndexes": value.ListOf(
		local("by-a", keys("a"), "ALL"), local("by-b", keys("b"), "ALL"))})
	s.AddFault(awssim.Fault{Operation: "DescribeContributorInsights", Skip: 1, Kind: awssim.Denied})
	o := s.read(t, "orders")
	var gaps []string
	for p := range o.Gaps {
		gaps = append(gaps, string(p))
	}
	if len(gaps) != 1 || !slices.ContainsFunc(gaps, func(p string) bool {
		return strings.Contains(p, "by-") && strings.Contains(p, "ContributorInsightsSpecification")
	}) {
		t.Errorf("gaps are %v, want one, of one index", gaps)
	}
	if n := len(o.Params["GlobalSecondaryIndexes"].Items()); n != 2 {
		t.Errorf("%d indexes are read, want both", n)
	}
}
