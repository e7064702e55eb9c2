package apigatewayv2_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/diff"
	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/apigatewayv2"
	"reclaim/providers/awssim"
	"reclaim/providers/providertest"
)

// inAPI is a simulated cloud with an API, and the provider of one of its children.
type inAPI struct {
	sim
	*parent
}

func within(t *testing.T, protocol, typ string) inAPI {
	t.Helper()
	b := providertest.Sim(t)
	return inAPI{sim{b.Sim, of(t, b, typ)}, newParent(t, b, protocol)}
}

func (s inAPI) params(kv ...any) value.Map {
	m := value.Map{"ApiId": value.Of(s.id)}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i].(string)] = value.Of(kv[i+1])
	}
	return m
}

// add creates an object.
func (s inAPI) add(t *testing.T, params value.Map) (resource.Created, error) {
	t.Helper()
	key, _ := s.p.Schema().KeyOf(params, "")
	return s.p.Create(t.Context(), resource.Create{Key: key, Params: params})
}

func (s inAPI) mustAdd(t *testing.T, params value.Map) resource.Created {
	t.Helper()
	made, err := s.add(t, params)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return made
}

func (s inAPI) function(t *testing.T) value.Map {
	t.Helper()
	return s.params("IntegrationType", "AWS_PROXY", "IntegrationUri", functionURI, "PayloadFormatVersion", "2.0", "Description", "orders")
}

func (s inAPI) find(t *testing.T, params value.Map) []resource.Candidate {
	t.Helper()
	found, err := s.p.(resource.Finder).Find(t.Context(), resource.Query{Nonce: "n1", Key: s.p.Schema().Place(params), Like: params})
	if err != nil {
		t.Fatalf("find: %v", err)
	}
	return found
}

// equal counts the candidates that are what a create with these params makes.
func (s inAPI) equal(found []resource.Candidate, params value.Map) int {
	n := 0
	for _, c := range found {
		if same, _ := diff.EqualParams(s.p.Schema(), params, c.Params, c.Gaps, value.Sealer{}); same {
			n++
		}
	}
	return n
}

// A create whose answer was lost is found among the integrations of its API: it is equal to what was sent, whatever the
// service filled in. An identical one that a stranger made is a second candidate, and one that differs is none.
func TestALostIntegrationIsAmongTheChildrenOfItsAPI(t *testing.T) {
	s := within(t, "HTTP", apigatewayv2.IntegrationType)
	params := s.function(t)
	if found := s.find(t, params); len(found) != 0 {
		t.Fatalf("found %d before anything was made", len(found))
	}
	s.AddFault(awssim.Fault{Operation: "CreateIntegration", Kind: awssim.ExecutedUnanswered})
	if _, err := s.add(t, params); !resource.Is(err, resource.Uncertain) {
		t.Fatalf("create: %v, want uncertain", err)
	}
	s.mustAdd(t, params.With("Description", value.Of("another")))
	found := s.find(t, params)
	if len(found) != 2 || s.equal(found, params) != 1 {
		t.Fatalf("found %d, %d of them equal; want 2 and 1", len(found), s.equal(found, params))
	}
	s.do(t, "CreateIntegration", map[string]any{"apiId": s.id, "integrationType": "AWS_PROXY", "integrationUri": functionURI, "payloadFormatVersion": "2.0", "description": "orders"})
	if found := s.find(t, params); s.equal(found, params) != 2 {
		t.Errorf("%d are equal, want 2: nobody can tell them apart", s.equal(found, params))
	}
}

// Without the parent there is nothing to find, and an API that is gone has no children.
func TestNoAPIHasNoChildren(t *testing.T) {
	for _, typ := range []string{apigatewayv2.IntegrationType, apigatewayv2.RouteType, apigatewayv2.AuthorizerType} {
		s := within(t, "HTTP", typ)
		gone := value.Map{"ApiId": value.Of("gone000000"), "RouteKey": value.Of("$default"), "Name": value.Of("z")}
		if found := s.find(t, gone); len(found) != 0 {
			t.Errorf("%s: found %d in an API that is not there", typ, len(found))
		}
		before := len(s.Log())
		if found := s.find(t, value.Map{}); len(found) != 0 || len(s.Log()) != before {
			t.Errorf("%s: found %d with %d requests, without a parent", typ, len(found), len(s.Log())-before)
		}
	}
}

// The service has one code for "exists", "in use", and "somebody else is changing this", and the code of any bad request
// for a name that is taken and for what is not there yet. A look tells.
func TestALookTellsWhatARefusalMeans(t *testing.T) {
	route := func(s inAPI) value.Map { return s.params("RouteKey", "GET /a") }
	stage := func(s inAPI) value.Map { return s.params("StageName", "live") }
	authorizer := func(s inAPI) value.Map {
		return s.params("Name", "gate", "AuthorizerType", "JWT", "IdentitySource", []string{"$request.header.A"},
			"JwtConfiguration", value.Map{"Audience": value.Of([]string{"a"}), "Issuer": value.Of("https://issuer.example")})
	}
	busy := awssim.Fault{Kind: awssim.Refused, Code: "ConflictException"}
	for why, c := range map[string]struct {
		typ    string
		first  func(inAPI) value.Map // made before
		params func(inAPI) value.Map
		faults []awssim.Fault
		want   resource.Kind
	}{
		"a route key that is taken":                {typ: apigatewayv2.RouteType, first: route, params: route, want: resource.AlreadyExists},
		"a concurrent change while a route's made": {typ: apigatewayv2.RouteType, params: route, faults: []awssim.Fault{on("CreateRoute", busy)}, want: resource.Busy},
		"a look that is denied changes nothing":    {typ: apigatewayv2.RouteType, first: route, params: route, faults: []awssim.Fault{on("GetRoutes", awssim.Fault{Kind: awssim.Denied})}, want: resource.Busy},
		"a target that is not there yet": {typ: apigatewayv2.RouteType, params: func(s inAPI) value.Map { return route(s).With("Target", value.Of("integrations/soon000")) },
			want: resource.NotReady},
		"an authorizer that is not there yet": {typ: apigatewayv2.RouteType, params: func(s inAPI) value.Map {
			return route(s).With("AuthorizationType", value.Of("JWT")).With("AuthorizerId", value.Of("soon00"))
		}, want: resource.NotReady},
		"a route key that is none": {typ: apigatewayv2.RouteType, params: func(s inAPI) value.Map { return s.params("RouteKey", "READ a") }, want: resource.Rejected},
		"an API that is not there yet": {typ: apigatewayv2.IntegrationType, params: func(s inAPI) value.Map {
			return s.function(s.parent.t).With("ApiId", value.Of("soon000000"))
		}, want: resource.NotReady},
		"a conflict of an integration is never its existence": {typ: apigatewayv2.IntegrationType, params: func(s inAPI) value.Map { return s.function(s.parent.t) },
			faults: []awssim.Fault{on("CreateIntegration", busy)}, want: resource.Busy},
		"a name that is taken":                      {typ: apigatewayv2.AuthorizerType, first: authorizer, params: authorizer, want: resource.AlreadyExists},
		"an authorizer without an issuer":           {typ: apigatewayv2.AuthorizerType, params: func(s inAPI) value.Map { return authorizer(s).Without("JwtConfiguration") }, want: resource.Rejected},
		"a quota":                                   {typ: apigatewayv2.AuthorizerType, params: authorizer, faults: []awssim.Fault{on("CreateAuthorizer", awssim.Fault{Kind: awssim.Refused, Code: "ConflictException", Status: 429})}, want: resource.Rejected},
		"a stage that is there":                     {typ: apigatewayv2.StageType, first: stage, params: stage, want: resource.AlreadyExists},
		"a concurrent change while a stage is made": {typ: apigatewayv2.StageType, params: stage, faults: []awssim.Fault{on("CreateStage", busy)}, want: resource.Busy},
		"settings of a route that is not there yet": {typ: apigatewayv2.StageType, params: func(s inAPI) value.Map {
			return stage(s).With("RouteSettings", value.OfMap(value.Map{"GET /soon": served("ThrottlingBurstLimit", 1)}))
		}, want: resource.NotReady},
	} {
		t.Run(why, func(t *testing.T) {
			s := within(t, "HTTP", c.typ)
			if c.first != nil {
				s.mustAdd(t, c.first(s))
			}
			for _, f := range c.faults {
				s.AddFault(f)
			}
			if _, err := s.add(t, c.params(s)); !resource.Is(err, c.want) || !resource.DefinitelyNotExecuted(err) {
				t.Errorf("create: %v, want %s, and surely not executed", err, c.want)
			}
		})
	}
}

// blockers is what an error says is in the way.
func blockers(err error) []string {
	e, _ := errors.AsType[*resource.Error](err)
	return e.Blockers
}

func on(op string, f awssim.Fault) awssim.Fault { f.Operation = op; return f }

// A delete that routes are in the way of names them; one that met another change is tried again.
func TestADeleteSaysWhichRoutesAreInTheWay(t *testing.T) {
	for typ, uses := range map[string]func(inAPI, resource.Key) map[string]any{
		apigatewayv2.IntegrationType: func(s inAPI, k resource.Key) map[string]any {
			return map[string]any{"target": "integrations/" + k["IntegrationId"]}
		},
		apigatewayv2.AuthorizerType: func(s inAPI, k resource.Key) map[string]any {
			return map[string]any{"authorizationType": "JWT", "authorizerId": k["AuthorizerId"]}
		},
	} {
		t.Run(typ, func(t *testing.T) {
			s := within(t, "HTTP", typ)
			var key resource.Key
			if typ == apigatewayv2.IntegrationType {
				key = s.mustAdd(t, s.function(t)).Key
			} else {
				key = resource.Key{"ApiId": s.id, "AuthorizerId": s.tokens("gate")}
			}
			d := resource.Delete{Key: key, Expect: s.read(t, key).Identity}
			s.AddFault(awssim.Fault{Operation: "Delete" + strings.TrimPrefix(typ, "AWS::ApiGatewayV2::"), Kind: awssim.Refused, Code: "ConflictException"})
			if err := s.p.Delete(t.Context(), d); !resource.Is(err, resource.Busy) {
				t.Errorf("delete beside a concurrent change: %v, want busy", err)
			}
			route := uses(s, key)
			route["apiId"], route["routeKey"] = s.id, "GET /a"
			s.do(t, "CreateRoute", route)
			err := s.p.Delete(t.Context(), d)
			if !resource.Is(err, resource.InUse) || !resource.DefinitelyNotExecuted(err) {
				t.Fatalf("delete in use: %v, want in use", err)
			}
			if got := blockers(err); len(got) != 1 || got[0] != "route GET /a" {
				t.Errorf("in the way: %v, want the route", got)
			}
			s.read(t, key)
		})
	}
}

// CloudFormation lists response parameters by status; the API has a map.
func TestResponseParametersTravelAsAMap(t *testing.T) {
	s := within(t, "HTTP", apigatewayv2.IntegrationType)
	s.mustAdd(t, s.function(t).With("ResponseParameters", value.OfMap(value.Map{"200": changes("append:header.a", "1")})))
	want := map[string]any{"200": map[string]any{"append:header.a": "1"}}
	if d := cmp.Diff(any(want), s.last(t, "CreateIntegration")["responseParameters"]); d != "" {
		t.Errorf("sent (-want +got):\n%s", d)
	}
}

// A throttle that config does not set is not mentioned: 0 would let nothing through. One that it sets to 0 is.
func TestAThrottleThatIsNotSetIsNeverSent(t *testing.T) {
	s := within(t, "HTTP", apigatewayv2.StageType)
	s.route("GET /a")
	made := s.mustAdd(t, s.params("StageName", "live", "DefaultRouteSettings", served("DetailedMetricsEnabled", true)))
	if d := cmp.Diff(any(map[string]any{"detailedMetricsEnabled": true}), s.last(t, "CreateStage")["defaultRouteSettings"]); d != "" {
		t.Errorf("create sent (-want +got):\n%s", d)
	}
	desired := s.params("DefaultRouteSettings", served("DetailedMetricsEnabled", false), "RouteSettings", value.Map{"GET /a": served("ThrottlingBurstLimit", 0)})
	s.sync(t, made.Key, desired, "DefaultRouteSettings", "RouteSettings")
	sent := s.last(t, "UpdateStage")
	if d := cmp.Diff(any(map[string]any{"detailedMetricsEnabled": false}), sent["defaultRouteSettings"]); d != "" {
		t.Errorf("update sent (-want +got):\n%s", d)
	}
	got := s.read(t, made.Key).Params
	if v := got["RouteSettings"].Get("GET /a"); !value.Equal(served("ThrottlingBurstLimit", 0), v) {
		t.Errorf("settings of the route are %v", v)
	}
	if v := got["DefaultRouteSettings"]; !value.Equal(served("DetailedMetricsEnabled", false), v) {
		t.Errorf("default settings are %v", v)
	}
}

// No operation takes a default throttle away. The update says so instead of leaving the API slower than its config says.
func TestADefaultThrottleThatStaysIsToldLoudly(t *testing.T) {
	s := within(t, "HTTP", apigatewayv2.StageType)
	before := s.params("StageName", "live", "DefaultRouteSettings", served("ThrottlingBurstLimit", 5))
	key := s.mustAdd(t, before).Key
	calls, err := s.p.Sync(resource.Change{Key: key, Desired: before.Without("DefaultRouteSettings"), Recorded: before, Observed: s.read(t, key), Write: []string{"DefaultRouteSettings"}})
	if err != nil || len(calls) != 1 {
		t.Fatalf("sync: %d calls, %v; want one", len(calls), err)
	}
	if err := calls[0].Run(t.Context()); !resource.Is(err, resource.Rejected) {
		t.Errorf("update: %v, want an error that names the throttle", err)
	}
}

// AutoDeploy owns the deployment: config cannot name one beside it, and a read shows none to compare with.
func TestAutoDeployOwnsTheDeployment(t *testing.T) {
	s := within(t, "HTTP", apigatewayv2.StageType)
	s.route("GET /a")
	both := s.params("StageName", "live", "AutoDeploy", true, "DeploymentId", s.deployment())
	before := len(s.Log())
	if _, err := s.add(t, both); !resource.Is(err, resource.Rejected) || !resource.DefinitelyNotExecuted(err) || len(s.Log()) != before {
		t.Errorf("create with both: %v after %d requests, want a refusal before any", err, len(s.Log())-before)
	}
	key := s.mustAdd(t, both.Without("DeploymentId")).Key
	if _, err := s.p.Sync(resource.Change{Key: key, Desired: both, Observed: s.read(t, key), Write: []string{"DeploymentId"}}); !resource.Is(err, resource.Rejected) {
		t.Errorf("sync with both: %v, want a refusal", err)
	}
	was := s.read(t, key)
	if was.Params["DeploymentId"].IsSet() || was.Gaps["DeploymentId"].Kind != resource.GapNotReturned {
		t.Errorf("deployment is %v, gap %v; want a gap", was.Params["DeploymentId"], was.Gaps["DeploymentId"])
	}
	s.do(t, "CreateRoute", map[string]any{"apiId": s.id, "routeKey": "GET /b"})
	if d := cmp.Diff(was.Params, s.read(t, key).Params); d != "" {
		t.Errorf("a change of the API shows in its stage (-was +is):\n%s", d)
	}
}

// One setting of a route goes: what the service merges is taken away as a whole first, and nothing of it is lost.
func TestOneSettingOfARouteIsTakenAway(t *testing.T) {
	s := within(t, "HTTP", apigatewayv2.StageType)
	s.route("GET /a")
	settings := func(v value.Value) value.Value { return value.OfMap(value.Map{"GET /a": v}) }
	before := s.params("StageName", "live", "RouteSettings", settings(served("ThrottlingBurstLimit", 5, "DetailedMetricsEnabled", true)))
	key := s.mustAdd(t, before).Key
	after := before.With("RouteSettings", settings(served("DetailedMetricsEnabled", true)))
	calls, err := s.p.Sync(resource.Change{Key: key, Desired: after, Recorded: before, Observed: s.read(t, key), Write: []string{"RouteSettings"}})
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
	if d := cmp.Diff([]string{"DeleteRouteSettings", "UpdateStage"}, names); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
	if got := s.read(t, key).Params["RouteSettings"]; !value.Equal(after["RouteSettings"], got) {
		t.Errorf("settings are %v, want %v", got, after["RouteSettings"])
	}
}

// What is in an API goes with it.
func TestChildrenGoWithTheirAPI(t *testing.T) {
	s := within(t, "HTTP", apigatewayv2.IntegrationType)
	key := s.mustAdd(t, s.function(t)).Key
	s.do(t, "DeleteApi", map[string]any{"apiId": s.id})
	if _, err := s.p.Read(t.Context(), key); !resource.Is(err, resource.NotFound) {
		t.Errorf("read: %v, want not found", err)
	}
}
