package dynamodb_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/dynamodb"
	"reclaim/providers/providertest"
)

const tableAnswer = `"TableName":"orders","TableArn":"arn:aws:dynamodb:eu-west-1:111122223333:table/orders","TableStatus":"ACTIVE","CreationDateTime":1900000000.5`

// silent answers 200 to everything, with {} or what is in full; "500" is a page of something that is no AWS.
func silent(t *testing.T, full map[string]string) resource.Provider {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		body := full[op]
		switch body {
		case "500":
			w.WriteHeader(http.StatusInternalServerError)
			body = "<html>no such thing</html>"
		case "":
			body = "{}"
		}
		w.Write([]byte(body))
	}))
	t.Cleanup(srv.Close)
	return dynamodb.Providers(providertest.OpenAt(t, srv.URL))[0]
}

// S2: success that says nothing is no evidence, neither of absence nor of a create.
func TestAnAnswerThatHoldsNothingProvesNothing(t *testing.T) {
	for why, body := range map[string]string{
		"an answer without a table":           `{}`,
		"another table":                       `{"Table":{"TableName":"other"}}`,
		"a table without its creation time":   `{"Table":{"TableName":"orders","TableArn":"arn","TableStatus":"ACTIVE"}}`,
		"a table that does not say its state": `{"Table":{"TableName":"orders","TableArn":"arn","CreationDateTime":1}}`,
	} {
		t.Run("read: "+why, func(t *testing.T) {
			if o, err := silent(t, map[string]string{"DescribeTable": body}).Read(t.Context(), keyOf("orders")); !resource.Is(err, resource.ReadInvalid) {
				t.Errorf("read: %v, %v; want read invalid", o, err)
			}
		})
	}
	t.Run("create: nothing that was made", func(t *testing.T) {
		_, err := silent(t, nil).Create(t.Context(), resource.Create{Key: keyOf("orders"), Params: plain(nil)})
		if !resource.Is(err, resource.Uncertain) || resource.DefinitelyNotExecuted(err) {
			t.Errorf("create: %v, want uncertain", err)
		}
	})
	for why, body := range map[string]string{"no list": `{}`, "pages that go round": `{"TableNames":[],"LastEvaluatedTableName":"a"}`} {
		t.Run("find: "+why, func(t *testing.T) {
			if got, err := silent(t, map[string]string{"ListTables": body}).(resource.Finder).Find(t.Context(), resource.Query{Nonce: "n1"}); !resource.Is(err, resource.ReadInvalid) {
				t.Errorf("find: %v, %v; want read invalid", got, err)
			}
		})
	}
}

// A part that says nothing is not absent.
func TestPartsThatSayNothingAreGaps(t *testing.T) {
	o, err := silent(t, map[string]string{"DescribeTable": `{"Table":{` + tableAnswer + `}}`}).Read(t.Context(), keyOf("orders"))
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	for _, param := range []value.Path{"Tags", "TimeToLiveSpecification", "PointInTimeRecoverySpecification", "ContributorInsightsSpecification",
		"ResourcePolicy", "KinesisStreamSpecification"} {
		if o.Params[string(param)].IsSet() || o.Gaps[param].Kind != resource.GapUndecodable {
			t.Errorf("%s is %v with gap %v, want unknown", param, o.Params[string(param)], o.Gaps[param])
		}
	}
	if o.Owner != nil {
		t.Errorf("the owner is %v, want unknown", o.Owner)
	}
}

// An emulator lacks a part's operation: that part is not returned, and everything else is.
func TestAnOperationThatAnEndpointDoesNotServeIsAGap(t *testing.T) {
	o, err := silent(t, map[string]string{"DescribeTable": `{"Table":{` + tableAnswer + `}}`, "DescribeContributorInsights": "500",
		"DescribeKinesisStreamingDestination": "500"}).Read(t.Context(), keyOf("orders"))
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	for _, param := range []value.Path{"ContributorInsightsSpecification", "KinesisStreamSpecification"} {
		if o.Gaps[param].Kind != resource.GapNotReturned {
			t.Errorf("the gap of %s is %v, want not returned", param, o.Gaps[param])
		}
	}
}
