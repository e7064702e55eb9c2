package deploy_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ordersApp is the example stack with its code, laid out in the world's folder.
func (w *world) ordersApp() string {
	w.t.Helper()
	must(w.t, os.CopyFS(filepath.Join(w.dir, "src"), os.DirFS("../../testdata/stacks/src")))
	text, err := os.ReadFile("../../testdata/stacks/orders.yaml")
	must(w.t, err)
	return string(text)
}

// The example app is wired as it would have to be to answer: a request reaches the route's integration, which is the
// function, which lets this API call it and nobody else, runs the code of the bundle and knows its table; the rule's target
// is the function, which lets the rule call it. Right after its deploy there is nothing to do.
func TestTheOrdersAppAnswers(t *testing.T) {
	w := newWorld(t)
	text := w.ordersApp()
	if out := w.deploy(text); out.Exit != 0 {
		t.Fatalf("deploy: %s %+v", out.Summary, out.Items)
	}
	w.wantNoop(text)

	s := w.sim.State()
	if len(s.Apis) != 1 || len(s.Functions) != 1 || len(s.Tables) != 1 || len(s.Rules) != 1 {
		t.Fatalf("%d APIs, %d functions, %d tables, %d rules; want one of each", len(s.Apis), len(s.Functions), len(s.Tables), len(s.Rules))
	}
	api, fn, rule := s.Apis[0], s.Functions[0], s.Rules[0]
	here := "123456789012"
	arn := "arn:aws:lambda:eu-west-1:" + here + ":function:" + fn.Name
	for _, request := range []string{"GET /orders", "POST /orders"} {
		method, path, _ := strings.Cut(request, " ")
		to, ok := w.sim.RouteRequest(api.ID, "$default", method, path)
		if !ok || to.IntegrationURI != arn {
			t.Errorf("%s reaches %q, want the function", request, to.IntegrationURI)
		}
		if source := "arn:aws:execute-api:eu-west-1:" + here + ":" + api.ID + "/$default/" + method + path; !w.sim.MayInvoke(arn, "apigateway.amazonaws.com", source) {
			t.Errorf("the API may not call the function for %s", source)
		}
	}
	if to, ok := w.sim.RouteRequest(api.ID, "$default", "DELETE", "/orders"); ok {
		t.Errorf("DELETE /orders reaches %q", to.IntegrationURI)
	}
	if w.sim.MayInvoke(arn, "apigateway.amazonaws.com", "arn:aws:execute-api:eu-west-1:"+here+":another/$default/GET/orders") {
		t.Error("another API may call the function")
	}
	targets := w.sim.TargetsOf(rule.Name)
	if len(targets) != 1 || !strings.Contains(heldAs(targets), arn) {
		t.Errorf("the rule calls %s, want the function", heldAs(targets))
	}
	if !w.sim.MayInvoke(arn, "events.amazonaws.com", "arn:aws:events:eu-west-1:"+here+":rule/"+rule.Name) {
		t.Error("the rule may not call the function")
	}
	bundle, err := os.ReadFile(filepath.Join(w.dir, "out/orders.zip"))
	must(t, err)
	if sum := sha256.Sum256(bundle); fn.CodeSha256 != base64.StdEncoding.EncodeToString(sum[:]) {
		t.Errorf("the function runs %s, which is not the bundle", fn.CodeSha256)
	}
	if !strings.Contains(heldAs(fn), s.Tables[0].Name) {
		t.Errorf("the function does not know its table: %s", heldAs(fn))
	}
}

// heldAs is what the cloud holds of an object, as text.
func heldAs(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
