package logs_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"reclaim/engine/resource"
	"reclaim/providers/aws/logs"
	"reclaim/providers/providertest"
)

// silent answers 200 to everything, with {} or what is in full.
func silent(t *testing.T, full map[string]string) resource.Provider {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		body := full[op]
		if body == "" {
			body = "{}"
		}
		w.Write([]byte(body))
	}))
	t.Cleanup(srv.Close)
	return logs.Providers(providertest.OpenAt(t, srv.URL))[0]
}

// S2: success that says nothing is no evidence of absence.
func TestAnAnswerThatHoldsNothingProvesNothing(t *testing.T) {
	for why, c := range map[string]struct {
		full map[string]string
		want resource.Kind
	}{
		"an answer without its list is invalid":        {nil, resource.ReadInvalid},
		"an empty list is absence":                     {map[string]string{"DescribeLogGroups": `{"logGroups":[]}`}, resource.NotFound},
		"a group without its creation time is invalid": {map[string]string{"DescribeLogGroups": `{"logGroups":[{"logGroupName":"g"}]}`}, resource.ReadInvalid},
		"pages that go round are invalid":              {map[string]string{"DescribeLogGroups": `{"logGroups":[],"nextToken":"a"}`}, resource.ReadInvalid},
	} {
		t.Run(why, func(t *testing.T) {
			if _, err := silent(t, c.full).Read(t.Context(), keyOf("g")); !resource.Is(err, c.want) {
				t.Errorf("read: %v, want %s", err, c.want)
			}
		})
	}
	t.Run("tags that are not there leave the owner unknown", func(t *testing.T) {
		o, err := silent(t, map[string]string{"DescribeLogGroups": `{"logGroups":[{"logGroupName":"g","creationTime":1900000000000,"arn":"arn:aws:logs:eu-west-1:111122223333:log-group:g:*"}]}`}).Read(t.Context(), keyOf("g"))
		if err != nil {
			t.Fatalf("read: %v", err)
		}
		if o.Owner != nil || o.Params["Tags"].IsSet() || o.Gaps["Tags"].Kind != resource.GapUndecodable {
			t.Errorf("owner %v, tags %v, gap %v; want unknown", o.Owner, o.Params["Tags"], o.Gaps["Tags"])
		}
	})
}
