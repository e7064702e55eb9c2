package apigatewayv2_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/apigatewayv2"
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
	return sim{b.Sim, apigatewayv2.Providers(b.Session)[0]}
}

func (s sim) create(t *testing.T, params value.Map, tags resource.Tags) resource.Key {
	t.Helper()
	all := value.Map{"Name": value.Of("orders"), "ProtocolType": value.Of("HTTP")}
	for n, v := range params {
		all[n] = v
	}
	made, err := s.p.Create(t.Context(), resource.Create{Params: all, Tags: tags})
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return made.Key
}

func (s sim) read(t *testing.T, key resource.Key) *resource.Observation {
	t.Helper()
	o, err := s.p.Read(t.Context(), key)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return o
}

// do lets somebody else act on the cloud.
func (s sim) do(t *testing.T, op string, params map[string]any) {
	t.Helper()
	if err := s.Do(awssim.Action{Service: "apigateway", Op: op, Params: params}); err != nil {
		t.Fatalf("%s: %v", op, err)
	}
}

func (s sim) sync(t *testing.T, key resource.Key, desired value.Map, write ...string) []string {
	t.Helper()
	calls, err := s.p.Sync(resource.Change{Key: key, Desired: desired, Observed: s.read(t, key), Write: write})
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

// An API that was made by a create whose answer was lost is found by its nonce alone. Another of the same name is
// listed, and is no candidate.
func TestALostCreateIsFoundByItsNonceAndNamesakesAreListed(t *testing.T) {
	s := start(t)
	s.create(t, nil, nil) // a stranger's, of the same name
	s.AddFault(awssim.Fault{Operation: "CreateApi", Kind: awssim.ExecutedUnanswered})
	params := value.Map{"Name": value.Of("orders"), "ProtocolType": value.Of("HTTP")}
	_, err := s.p.Create(t.Context(), resource.Create{Params: params, Tags: resource.Tags{resource.TagNonce: "n1"}})
	if !resource.Is(err, resource.Uncertain) {
		t.Fatalf("create: %v, want uncertain", err)
	}
	found, err := s.p.(resource.Finder).Find(t.Context(), resource.Query{Nonce: "n1", Stack: "shop", Resource: "Orders", Like: params})
	if err != nil {
		t.Fatalf("find: %v", err)
	}
	var ours, namesakes int
	for _, c := range found {
		switch {
		case c.ByNonce:
			ours++
		case c.ByName && !c.ByTags:
			namesakes++
		}
		if c.Identity.UniqueID == "" || c.CreatedAt.IsZero() || c.ServedAt.IsZero() || c.Owner == nil {
			t.Errorf("candidate %v is not whole", c.Key)
		}
	}
	if ours != 1 || namesakes != 1 {
		t.Errorf("found %d by nonce and %d by name only, want 1 and 1", ours, namesakes)
	}
}

// No CORS and an empty CORS configuration are two things to the service, and stay two.
func TestNoCORSAndEmptyCORSDiffer(t *testing.T) {
	for why, c := range map[string]struct {
		before, after value.Value
		calls         []string
		want          value.Value
	}{
		"from some to none":  {cors("https://a.example", 5), value.Value{}, []string{"DeleteCorsConfiguration"}, value.Value{}},
		"null is none":       {cors("https://a.example", 5), value.Of(nil), []string{"DeleteCorsConfiguration"}, value.Value{}},
		"from some to empty": {cors("https://a.example", 5), value.OfMap(nil), []string{"UpdateApi"}, value.OfMap(nil)},
		"from none to empty": {value.Value{}, value.OfMap(nil), []string{"UpdateApi"}, value.OfMap(nil)},
	} {
		t.Run(why, func(t *testing.T) {
			s := start(t)
			key := s.create(t, value.Map{"CorsConfiguration": c.before}, nil)
			if d := cmp.Diff(c.calls, s.sync(t, key, value.Map{"CorsConfiguration": c.after}, "CorsConfiguration")); d != "" {
				t.Errorf("calls (-want +got):\n%s", d)
			}
			if got := s.read(t, key).Params["CorsConfiguration"]; !value.Equal(c.want, got) {
				t.Errorf("CORS is %v, want %v", got, c.want)
			}
		})
	}
}

// An update mentions what is written and nothing else, above all no zeros.
func TestAnUpdateMentionsOnlyWhatIsWritten(t *testing.T) {
	s := start(t)
	key := s.create(t, value.Map{"Description": value.Of("old"), "DisableExecuteApiEndpoint": value.Of(true)}, nil)
	s.sync(t, key, value.Map{"Name": value.Of("orders"), "Version": value.Of("2")}, "Version")
	sent := s.last(t, "UpdateApi")
	delete(sent, "apiId")
	if d := cmp.Diff(map[string]any{"version": "2"}, sent); d != "" {
		t.Errorf("sent (-want +got):\n%s", d)
	}
}

// last returns the params of the last request of op.
func (s sim) last(t *testing.T, op string) map[string]any {
	t.Helper()
	log := s.Log()
	for i := range slices.Backward(log) {
		if log[i].Operation == op {
			out := map[string]any{}
			for k, v := range log[i].Params {
				out[k] = v
			}
			return out
		}
	}
	t.Fatalf("%s was not sent", op)
	return nil
}

// The service takes this setting and never gives it back, so only what was sent can show it.
func TestASettingThatIsNeverReturnedIsSentAndReadsAsAGap(t *testing.T) {
	s := start(t)
	key := s.create(t, value.Map{"ProtocolType": value.Of("WEBSOCKET"), "RouteSelectionExpression": value.Of("$request.body.a"),
		"DisableSchemaValidation": value.Of("true")}, nil)
	if got := s.last(t, "CreateApi")["disableSchemaValidation"]; got != true {
		t.Errorf("the create sent %v, want true", got)
	}
	if got := s.read(t, key).Gaps["DisableSchemaValidation"].Kind; got != resource.GapNotReturned {
		t.Errorf("gap is %q, want not returned", got)
	}
	s.sync(t, key, value.Map{}, "DisableSchemaValidation")
	if got := s.last(t, "UpdateApi")["disableSchemaValidation"]; got != false {
		t.Errorf("the update sent %v, want false", got)
	}
}

// Somebody else's import renames an API: that is a difference of its name, and it is still the same API.
func TestARenamedAPIIsStillTheSame(t *testing.T) {
	s := start(t)
	key := s.create(t, nil, resource.Tags{resource.TagNonce: "n1"})
	was := s.read(t, key).Identity
	s.do(t, "UpdateApi", map[string]any{"apiId": key["ApiId"], "name": "Imported on 2031-01-01"})
	o := s.read(t, key)
	if same, known := o.Identity.Same(was); !same || !known || o.Params.Text("Name") != "Imported on 2031-01-01" {
		t.Errorf("read %v named %q, want %v under its new name", o.Identity, o.Params.Text("Name"), was)
	}
	s.sync(t, key, value.Map{"Name": value.Of("orders")}, "Name")
	if got := s.read(t, key).Params.Text("Name"); got != "orders" {
		t.Errorf("name is %q, want orders", got)
	}
}
