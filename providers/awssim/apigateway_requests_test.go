package awssim

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// servedAPI is a cloud with an API that has these routes, each to an integration whose URI is the route's key, at the stage
// "live", which deploys by itself.
func servedAPI(t *testing.T, cfg Config, keys ...string) (*Server, string) {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // tests of Close call it themselves
	do(t, s, "CreateApi", map[string]any{"name": "a", "protocolType": "HTTP"})
	api := s.State().Apis[0].ID
	do(t, s, "CreateStage", map[string]any{"apiId": api, "stageName": "live", "autoDeploy": true})
	for _, key := range keys {
		addServed(t, s, api, key)
	}
	return s, api
}

func addServed(t *testing.T, s *Server, api, key string) {
	t.Helper()
	do(t, s, "CreateIntegration", map[string]any{"apiId": api, "integrationType": "AWS_PROXY", "integrationUri": key, "payloadFormatVersion": "2.0"})
	all := s.State().Apis[0].Integrations
	do(t, s, "CreateRoute", map[string]any{"apiId": api, "routeKey": key, "target": "integrations/" + all[len(all)-1].ID})
}

func do(t *testing.T, s *Server, op string, params map[string]any) {
	t.Helper()
	if err := s.Do(Action{Service: "apigateway", Op: op, Params: params}); err != nil {
		t.Fatalf("%s: %v", op, err)
	}
}

func TestARequestGoesToTheRouteThatFitsBest(t *testing.T) {
	all := []string{"$default", "ANY /{all+}", "ANY /pets", "GET /pets", "GET /pets/{id}", "GET /pets/dogs", "GET /pets/{more+}", "GET /{kind}/dogs"}
	for why, c := range map[string]struct {
		routes       []string
		method, path string
		want         string // "" for none
	}{
		"the very key":                                   {all, "GET", "/pets", "GET /pets"},
		"any method, where there's no own":               {all, "PUT", "/pets", "ANY /pets"},
		"a variable":                                     {all, "GET", "/pets/7", "GET /pets/{id}"},
		"literal before variable":                        {all, "GET", "/pets/dogs", "GET /pets/dogs"},
		"literal from the left":                          {all[:len(all)-3], "GET", "/pets/dogs", "GET /pets/{id}"},
		"the closer greedy one":                          {all, "GET", "/pets/7/toys", "GET /pets/{more+}"},
		"a greedy one of any method":                     {all, "PUT", "/pets/7", "ANY /{all+}"},
		"what nothing else takes":                        {all, "GET", "/", "$default"},
		"a variable takes one part only":                 {[]string{"GET /pets/{id}"}, "GET", "/pets/7/toys", ""},
		"a variable takes something":                     {[]string{"GET /pets/{id}"}, "GET", "/pets/", ""},
		"a greedy one takes something":                   {[]string{"GET /{all+}"}, "GET", "/", ""},
		"another method is another route":                {[]string{"GET /pets"}, "PUT", "/pets", ""},
		"a longer key does not fit a shorter path":       {[]string{"GET /pets/dogs"}, "GET", "/pets", ""},
		"the root is a path":                             {[]string{"GET /"}, "GET", "/", "GET /"},
		"a path's case counts":                           {[]string{"GET /Pets"}, "GET", "/pets", ""},
		"an own method of a greedy one comes before any": {[]string{"ANY /{all+}", "GET /{all+}"}, "GET", "/x/y", "GET /{all+}"},
	} {
		t.Run(why, func(t *testing.T) {
			s, api := servedAPI(t, Config{}, c.routes...)
			got, ok := s.RouteRequest(api, "live", c.method, c.path)
			if got.IntegrationURI != c.want || ok != (c.want != "") {
				t.Errorf("%s %s goes to %q, %v; want %q", c.method, c.path, got.IntegrationURI, ok, c.want)
			}
		})
	}
}

// A stage serves what was deployed to it, and nothing else.
func TestAStageServesItsDeployment(t *testing.T) {
	s, api := servedAPI(t, Config{}, "GET /a")
	do(t, s, "CreateStage", map[string]any{"apiId": api, "stageName": "byhand"})
	answers := func(stage, path string) bool { _, ok := s.RouteRequest(api, stage, "GET", path); return ok }
	if answers("byhand", "/a") || answers("nowhere", "/a") {
		t.Error("a stage without a deployment answers, or one that is not there")
	}
	do(t, s, "CreateDeployment", map[string]any{"apiId": api, "stageName": "byhand"})
	addServed(t, s, api, "GET /b")
	got := []bool{answers("byhand", "/a"), answers("byhand", "/b"), answers("live", "/b")}
	if d := cmp.Diff([]bool{true, false, true}, got); d != "" {
		t.Errorf("answers of byhand /a, byhand /b, live /b (-want +got):\n%s", d)
	}
	do(t, s, "CreateRoute", map[string]any{"apiId": api, "routeKey": "GET /nothing"})
	if answers("live", "/nothing") {
		t.Error("a route without an integration answers")
	}
}

func TestWhatAnAPIIsMadeOfSurvivesTheStateFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cloud.json")
	s, api := servedAPI(t, Config{StateFile: file}, "GET /a")
	do(t, s, "CreateAuthorizer", map[string]any{"apiId": api, "name": "z", "authorizerType": "JWT", "identitySource": []any{"$request.header.A"},
		"jwtConfiguration": map[string]any{"audience": []any{"a"}, "issuer": "https://issuer.example"}})
	want := s.State()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := New(Config{StateFile: file})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close() //nolint:errcheck // nothing was changed
	if d := cmp.Diff(want, again.State()); d != "" {
		t.Errorf("state (-before +after):\n%s", d)
	}
	if p := want.Apis[0]; len(p.Routes) != 1 || len(p.Integrations) != 1 || len(p.Authorizers) != 1 || len(p.Stages) != 1 || len(p.Deployments) != 1 {
		t.Errorf("state holds %+v, want one of each", p)
	}
	if got, ok := again.RouteRequest(api, "live", "GET", "/a"); !ok || got.IntegrationURI != "GET /a" {
		t.Errorf("the request goes to %q, %v", got.IntegrationURI, ok)
	}
}
