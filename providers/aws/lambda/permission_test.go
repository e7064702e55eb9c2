package lambda_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/lambda"
	"reclaim/providers/awssim"
)

// permitted is start with the function "orders" and the provider of permissions.
func permitted(t *testing.T) sim {
	t.Helper()
	s := start(t)
	s.made(t, nil, nil)
	s.p = lambda.Providers(s.b.Session)[1]
	return s
}

func ticks(function string) value.Map {
	return value.Map{"FunctionName": value.Of(function), "Action": value.Of("lambda:InvokeFunction"), "Principal": value.Of("events.amazonaws.com"),
		"SourceArn": value.Of("arn:aws:events:eu-west-1:111122223333:rule/tick")}
}

var ours = resource.Key{"FunctionName": "orders", "Id": "reclaim-n1"}

func (s sim) permit(t *testing.T, params value.Map, nonce string) error {
	t.Helper()
	full, err := s.p.(resource.Expander).Expand(t.Context(), params)
	if err != nil {
		t.Fatalf("expand: %v", err)
	}
	_, err = s.p.Create(t.Context(), resource.Create{Params: full, Tags: resource.Tags{resource.TagStore: "s", resource.TagNonce: nonce}})
	return err
}

// stranger adds a statement that is not ours.
func (s sim) stranger(t *testing.T, params map[string]any) {
	t.Helper()
	all := map[string]any{"FunctionName": "orders", "StatementId": "AllowShop", "Action": "lambda:InvokeFunction", "Principal": "s3.amazonaws.com"}
	for name, v := range params {
		all[name] = v
	}
	if err := s.Do(awssim.Action{Op: "AddPermission", Params: all}); err != nil {
		t.Fatal(err)
	}
}

// One function, named in every way that CloudFormation allows; and those that are not ours to name.
func TestAFunctionIsNamedByItsName(t *testing.T) {
	s := start(t)
	if _, err := s.b.Session.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := lambda.Providers(s.b.Session)[1].(resource.Expander)
	for given, want := range map[string]string{
		"orders":                       "orders",
		"111122223333:function:orders": "orders",
		"function:orders":              "orders",
		"arn:aws:lambda:eu-west-1:111122223333:function:orders":      "orders",
		"arn:aws:lambda:eu-west-1:111122223333:function:orders:live": "orders:live",
		"orders:live": "orders:live",
		"arn:aws:lambda:us-east-2:111122223333:function:orders":           "",
		"arn:aws:lambda:eu-west-1:999988887777:function:orders":           "",
		"999988887777:function:orders":                                    "",
		"arn:aws:sqs:eu-west-1:111122223333:orders":                       "",
		"arn:aws:lambda:eu-west-1:111122223333:function:orders:live:more": "",
	} {
		got, err := p.Expand(t.Context(), value.Map{"FunctionName": value.Of(given)})
		if want == "" {
			if !resource.Is(err, resource.Rejected) {
				t.Errorf("%s: %v, %v; want a refusal", given, got, err)
			}
		} else if err != nil || got.Text("FunctionName") != want {
			t.Errorf("%s: %v, %v; want %s", given, got, err, want)
		}
	}
	wait := value.Map{"FunctionName": value.Wait("Orders"), "Principal": value.Of("arn:aws:iam::999988887777:root")}
	got, err := p.Expand(t.Context(), wait)
	if err != nil || got["FunctionName"].Kind() != value.Unknown || got.Text("Principal") != "999988887777" {
		t.Errorf("what is not known yet: %v, %v", got, err)
	}
}

// The nonce in the statement ID is the proof of a create whose answer was lost.
func TestALostPermissionIsFoundByItsStatementID(t *testing.T) {
	s := permitted(t)
	s.stranger(t, map[string]any{"Principal": "events.amazonaws.com", "SourceArn": "arn:aws:events:eu-west-1:111122223333:rule/tick"}) // equal, and not ours
	s.AddFault(awssim.Fault{Operation: "AddPermission", Kind: awssim.ExecutedUnanswered})
	if err := s.permit(t, ticks("orders"), "n1"); !resource.Is(err, resource.Uncertain) {
		t.Fatalf("create: %v, want uncertain", err)
	}
	place := s.p.Schema().Place(ticks("orders"))
	found, err := s.p.(resource.Finder).Find(t.Context(), resource.Query{Nonce: "n1", Key: place})
	if err != nil || len(found) != 1 || !found[0].Key.Equal(ours) || !found[0].ByNonce {
		t.Fatalf("found %v, %v; want ours alone", found, err)
	}
	if d := cmp.Diff(resource.Tags{resource.TagNonce: "n1"}, found[0].Owner); d != "" {
		t.Errorf("owner (-want +got):\n%s", d)
	}
	for why, q := range map[string]resource.Query{"without the function": {Nonce: "n1"}, "without a nonce": {Key: place}, "by another nonce": {Nonce: "n2", Key: place}} {
		if found, err := s.p.(resource.Finder).Find(t.Context(), q); err != nil || len(found) > 0 {
			t.Errorf("%s: found %v, %v", why, found, err)
		}
	}
}

// A conflict is a statement of that ID, or another change of the function.
func TestAConflictOfPermissionsIsLookedInto(t *testing.T) {
	s := permitted(t)
	if err := s.permit(t, ticks("orders"), "n1"); err != nil {
		t.Fatal(err)
	}
	if err := s.permit(t, ticks("orders"), "n1"); !resource.Is(err, resource.AlreadyExists) {
		t.Errorf("create again: %v, want already exists", err)
	}
	s.AddFault(awssim.Fault{Operation: "AddPermission", Kind: awssim.Refused, Code: "ResourceConflictException"})
	if err := s.permit(t, ticks("orders"), "n2"); !resource.Is(err, resource.Busy) || !resource.DefinitelyNotExecuted(err) {
		t.Errorf("create while it is worked on: %v, want busy", err)
	}
	if err := s.permit(t, ticks("carts"), "n3"); !resource.Is(err, resource.NotReady) {
		t.Errorf("create for a function that is not there: %v, want not ready", err)
	}
	if err := s.permit(t, ticks("orders"), ""); !resource.Is(err, resource.Rejected) {
		t.Errorf("create without a nonce: %v, want rejected", err)
	}
}

// A stranger's statement can be read and adopted, and is told by what it says.
func TestAStrangersStatementIsReadAsItIs(t *testing.T) {
	s := permitted(t)
	s.stranger(t, map[string]any{"SourceArn": "arn:aws:s3:::shop", "SourceAccount": "111122223333"})
	key := resource.Key{"FunctionName": "orders", "Id": "AllowShop"}
	o, err := s.p.Read(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	want := value.Map{"FunctionName": value.Of("orders"), "Action": value.Of("lambda:InvokeFunction"), "Principal": value.Of("s3.amazonaws.com"),
		"SourceArn": value.Of("arn:aws:s3:::shop"), "SourceAccount": value.Of("111122223333")}
	if d := cmp.Diff(value.OfMap(want).Plain(), value.OfMap(o.Params).Plain()); d != "" {
		t.Errorf("params (-want +got):\n%s", d)
	}
	if len(o.Owner) > 0 || o.Owner == nil || !o.Identity.IsZero() {
		t.Errorf("owner %v, identity %v; want nobody, and none: the ID can be given again", o.Owner, o.Identity)
	}
	if err := s.p.Delete(t.Context(), resource.Delete{Key: key, Nonce: "n1"}); !resource.Is(err, resource.IdentityMismatch) {
		t.Errorf("delete as ours: %v, want another object", err)
	}
	if err := s.p.Delete(t.Context(), resource.Delete{Key: key, Recorded: want.With("SourceArn", value.Of("arn:aws:s3:::old"))}); !resource.Is(err, resource.IdentityMismatch) {
		t.Errorf("delete of another statement under the ID: %v, want another object", err)
	}
	if err := s.p.Delete(t.Context(), resource.Delete{Key: key, Recorded: want}); err != nil {
		t.Errorf("delete as recorded: %v", err)
	}
}

// The last statement takes the policy with it, and a function its statements: both read as not found.
func TestAPolicyThatIsGoneIsNotFound(t *testing.T) {
	s := permitted(t)
	if err := s.permit(t, ticks("orders"), "n1"); err != nil {
		t.Fatal(err)
	}
	if err := s.p.Delete(t.Context(), resource.Delete{Key: ours, Nonce: "n1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.p.Read(t.Context(), ours); !resource.Is(err, resource.NotFound) {
		t.Errorf("read after the last went: %v, want not found", err)
	}
	if err := s.permit(t, ticks("orders"), "n1"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * time.Millisecond)
	if err := s.Do(awssim.Action{Op: "DeleteFunction", Params: map[string]any{"FunctionName": "orders"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.p.Read(t.Context(), ours); !resource.Is(err, resource.NotFound) {
		t.Errorf("read after the function went: %v, want not found", err)
	}
}
