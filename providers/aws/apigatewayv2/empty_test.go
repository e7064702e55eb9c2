package apigatewayv2_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/apigatewayv2"
	"reclaim/providers/providertest"
)

// answering returns the provider of APIs against a service that answers everything with body.
func answering(t *testing.T, body string) resource.Provider {
	t.Helper()
	return answeringAll(t, body)[0]
}

func answeringAll(t *testing.T, body string) []resource.Provider {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(body))
	}))
	t.Cleanup(srv.Close)
	return apigatewayv2.Providers(providertest.OpenAt(t, srv.URL))
}

// S2: success that says nothing is no evidence, neither of absence nor of a create.
func TestAnAnswerThatHoldsNothingProvesNothing(t *testing.T) {
	for why, body := range map[string]string{"no fields": `{}`, "no body": ``, "another API": `{"apiId":"b2","name":"orders"}`} {
		t.Run("read: "+why, func(t *testing.T) {
			if o, err := answering(t, body).Read(t.Context(), resource.Key{"ApiId": "a1"}); !resource.Is(err, resource.ReadInvalid) {
				t.Errorf("read: %v, %v; want read invalid", o, err)
			}
		})
	}
	for why, body := range map[string]string{"no list": `{}`, "an API without an ID": `{"items":[{"name":"orders"}]}`, "pages that go round": `{"items":[],"nextToken":"a"}`} {
		t.Run("find: "+why, func(t *testing.T) {
			if got, err := answering(t, body).(resource.Finder).Find(t.Context(), resource.Query{Nonce: "n1"}); !resource.Is(err, resource.ReadInvalid) {
				t.Errorf("find: %v, %v; want read invalid", got, err)
			}
		})
	}
	t.Run("create: no ID", func(t *testing.T) {
		_, err := answering(t, `{}`).Create(t.Context(), resource.Create{Params: value.Map{"Name": value.Of("orders"), "ProtocolType": value.Of("HTTP")}})
		if !resource.Is(err, resource.Uncertain) || resource.DefinitelyNotExecuted(err) {
			t.Errorf("create: %v, want uncertain", err)
		}
	})
}

// The same of what an API is made of.
func TestAnAnswerAboutAChildThatHoldsNothingProvesNothing(t *testing.T) {
	create := value.Map{"ApiId": value.Of("a1"), "RouteKey": value.Of("$default"), "Name": value.Of("z"), "StageName": value.Of("s"),
		"IntegrationType": value.Of("MOCK"), "AuthorizerType": value.Of("JWT")}
	for i, typ := range []string{apigatewayv2.AuthorizerType, apigatewayv2.IntegrationType, apigatewayv2.RouteType, apigatewayv2.StageType} {
		child := func(body string) resource.Provider { return answeringAll(t, body)[i+1] }
		key := resource.Key{"ApiId": "a1"}
		for _, k := range child(`{}`).Schema().Key[1:] {
			key[k] = "c1"
		}
		for why, body := range map[string]string{"no fields": `{}`, "no body": ``, "another object": `{"routeId":"c2","integrationId":"c2","authorizerId":"c2","stageName":"c2"}`} {
			if o, err := child(body).Read(t.Context(), key); !resource.Is(err, resource.ReadInvalid) {
				t.Errorf("%s, read, %s: %v, %v; want read invalid", typ, why, o, err)
			}
		}
		p := child(`{}`)
		for why, body := range map[string]string{"no list": `{}`, "an item without an ID": `{"items":[{}]}`, "pages that go round": `{"items":[],"nextToken":"a"}`} {
			if got, err := child(body).(resource.Finder).Find(t.Context(), resource.Query{Nonce: "n1", Key: p.Schema().Place(create)}); !resource.Is(err, resource.ReadInvalid) {
				t.Errorf("%s, find, %s: %v, %v; want read invalid", typ, why, got, err)
			}
		}
		created, _ := p.Schema().KeyOf(create, "")
		if _, err := p.Create(t.Context(), resource.Create{Key: created, Params: create}); !resource.Is(err, resource.Uncertain) || resource.DefinitelyNotExecuted(err) {
			t.Errorf("%s, create: %v, want uncertain", typ, err)
		}
	}
}
