package lambda_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/lambda"
	"reclaim/providers/providertest"
)

// saying answers 200 to everything, with {} or what is in full by the end of the path.
func saying(t *testing.T, full map[string]string) []resource.Provider {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		path := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		if strings.Contains(r.URL.Path, "/tags/") {
			path = "tags"
		}
		body, ok := full[path]
		if !ok {
			body = "{}"
		}
		w.Write([]byte(body))
	}))
	t.Cleanup(srv.Close)
	return lambda.Providers(providertest.OpenAt(t, srv.URL))
}

const arn = `"FunctionName":"orders","FunctionArn":"arn:aws:lambda:eu-west-1:111122223333:function:orders"`

// of is a GetFunction's answer with more members in its configuration.
func of(more string) map[string]string {
	return map[string]string{"orders": `{"Configuration":{` + arn + more + `},"Tags":{"a":"1"}}`}
}

// S2: success that says nothing is no evidence, neither of absence nor of a create.
func TestAnAnswerThatHoldsNothingProvesNothing(t *testing.T) {
	for why, full := range map[string]map[string]string{
		"no fields": nil, "another function": {"orders": `{"Configuration":{"FunctionName":"carts","FunctionArn":"a"}}`}, "no ARN": {"orders": `{"Configuration":{"FunctionName":"orders"}}`},
	} {
		t.Run("read a function: "+why, func(t *testing.T) {
			if o, err := saying(t, full)[0].Read(t.Context(), orders); !resource.Is(err, resource.ReadInvalid) {
				t.Errorf("read: %v, %v; want read invalid", o, err)
			}
		})
	}
	for why, body := range map[string]string{"no list": `{}`, "a function without an ARN": `{"Functions":[{"FunctionName":"a"}]}`, "pages that go round": `{"Functions":[],"NextMarker":"a"}`} {
		t.Run("find: "+why, func(t *testing.T) {
			found, err := saying(t, map[string]string{"functions": body})[0].(resource.Finder).Find(t.Context(), resource.Query{Nonce: "n1"})
			if !resource.Is(err, resource.ReadInvalid) {
				t.Errorf("find: %v, %v; want read invalid", found, err)
			}
		})
	}
	for why, policy := range map[string]string{
		"no policy": `{}`, "no document": `{"Policy":"no"}`, "no statements": `{"Policy":"{}"}`, "two of one ID": `{"Policy":"{\"Statement\":[{\"Sid\":\"reclaim-n1\"},{\"Sid\":\"reclaim-n1\"}]}"}`,
		"a statement that denies":         statement(`"Effect":"Deny","Action":"lambda:InvokeFunction","Principal":{"Service":"s3.amazonaws.com"}`),
		"several actions":                 statement(`"Effect":"Allow","Action":["lambda:InvokeFunction"],"Principal":{"Service":"s3.amazonaws.com"}`),
		"all but one action":              statement(`"Effect":"Allow","NotAction":"lambda:InvokeFunction","Principal":{"Service":"s3.amazonaws.com"}`),
		"several principals":              statement(`"Effect":"Allow","Action":"lambda:InvokeFunction","Principal":{"AWS":["a","b"]}`),
		"a condition that has no param":   statement(`"Effect":"Allow","Action":"lambda:InvokeFunction","Principal":"*","Condition":{"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}}`),
		"a condition with another test":   statement(`"Effect":"Allow","Action":"lambda:InvokeFunction","Principal":"*","Condition":{"ArnNotLike":{"aws:SourceArn":"arn:aws:s3:::b"}}`),
		"a condition with several values": statement(`"Effect":"Allow","Action":"lambda:InvokeFunction","Principal":"*","Condition":{"ArnLike":{"aws:SourceArn":["arn:a","arn:b"]}}`),
	} {
		t.Run("read a permission: "+why, func(t *testing.T) {
			if o, err := saying(t, map[string]string{"policy": policy})[1].Read(t.Context(), ours); !resource.Is(err, resource.ReadInvalid) {
				t.Errorf("read: %v, %v; want read invalid", o, err)
			}
		})
	}
	t.Run("create a function: it says another name", func(t *testing.T) {
		_, err := saying(t, map[string]string{"functions": `{"FunctionName":"carts","FunctionArn":"a"}`})[0].Create(t.Context(), resource.Create{Key: orders,
			Params: value.Map{"FunctionName": value.Of("orders"), "Role": value.Of("r"), "Code": object(map[string]any{"ImageUri": "r:1"})}})
		if !resource.Is(err, resource.Uncertain) || resource.DefinitelyNotExecuted(err) {
			t.Errorf("create: %v, want uncertain", err)
		}
	})
	t.Run("create a permission: it says no statement", func(t *testing.T) {
		_, err := saying(t, nil)[1].Create(t.Context(), resource.Create{Params: ticks("orders"), Tags: resource.Tags{resource.TagNonce: "n1"}})
		if !resource.Is(err, resource.Uncertain) || resource.DefinitelyNotExecuted(err) {
			t.Errorf("create: %v, want uncertain", err)
		}
	})
}

// statement is a GetPolicy's answer with one statement under our ID.
func statement(members string) string {
	return `{"Policy":"{\"Statement\":[{\"Sid\":\"reclaim-n1\",` + strings.ReplaceAll(members, `"`, `\"`) + `}]}"}`
}

// S30: what the service says it cannot give is blocked, and never reads as empty.
func TestWhatCannotBeReadIsAGap(t *testing.T) {
	for why, c := range map[string]struct {
		full  map[string]string
		param value.Path
		want  resource.GapKind
	}{
		"variables that could not be decrypted": {of(`,"Environment":{"Error":{"ErrorCode":"AccessDeniedException","Message":"no key"}}`), "Environment", resource.GapDenied},
		"an image's settings that were refused": {of(`,"PackageType":"Image","ImageConfigResponse":{"Error":{"ErrorCode":"AccessDenied","Message":"no"}}`), "ImageConfig", resource.GapDenied},
		"tags that may not be listed": {map[string]string{"orders": `{"Configuration":{` + arn + `},"TagsError":{"ErrorCode":"AccessDeniedException","Message":"no"}}`},
			"Tags", resource.GapDenied},
		"tags that are left out without a word": {map[string]string{"orders": `{"Configuration":{` + arn + `}}`}, "Tags", resource.GapUndecodable},
		"settings in answers that are empty":    {of(``), "RecursiveLoop", resource.GapUndecodable},
		"an archive's place":                    {of(``), "Code", resource.GapNotReturned},
	} {
		t.Run(why, func(t *testing.T) {
			o, err := saying(t, c.full)[0].Read(t.Context(), orders)
			if err != nil {
				t.Fatalf("read: %v", err)
			}
			if o.Gaps[c.param].Kind != c.want || o.Params[string(c.param)].IsSet() {
				t.Errorf("%s is %v with the gap %v, want %s", c.param, o.Params[string(c.param)], o.Gaps[c.param], c.want)
			}
			if c.param == "Tags" && o.Owner != nil {
				t.Errorf("owner %v, want nil: nobody could look", o.Owner)
			}
		})
	}
	o, err := saying(t, map[string]string{"orders": `{"Configuration":{` + arn + `}}`, "tags": `{"Tags":{}}`})[0].Read(t.Context(), orders)
	if err != nil || o.Owner == nil || !o.Params["Tags"].IsSet() {
		t.Errorf("no tags, asked for apart: owner %v, tags %v, %v; want none, and known", o.Owner, o.Params["Tags"], err)
	}
}

// Only a function that is there to be used and changed is ready, and one that failed says of what.
func TestAFunctionIsReadyWhenItIsSettled(t *testing.T) {
	for state, want := range map[string]string{
		`"State":"Active"`: "",
		`"State":"Active","LastUpdateStatus":"Successful"`:                                                                                  "",
		`"State":"Inactive","StateReasonCode":"Idle"`:                                                                                       "",
		`"State":"Pending","StateReason":"The function is being created.","StateReasonCode":"Creating"`:                                     "the function is Pending: The function is being created. (Creating)",
		`"State":"Failed","StateReason":"no addresses left","StateReasonCode":"SubnetOutOfIPAddresses"`:                                     "the function has failed: no addresses left (SubnetOutOfIPAddresses)",
		`"State":"Active","LastUpdateStatus":"InProgress"`:                                                                                  "an update is in progress",
		`"State":"Active","LastUpdateStatus":"Failed","LastUpdateStatusReason":"image is gone","LastUpdateStatusReasonCode":"ImageDeleted"`: "its last update has failed: image is gone (ImageDeleted)",
		`"State":"Deleting"`: "the function is Deleting",
	} {
		o, err := saying(t, of(","+state))[0].Read(t.Context(), orders)
		if err != nil {
			t.Fatalf("%s: %v", state, err)
		}
		if o.Ready != (want == "") || o.NotReady != want {
			t.Errorf("%s: ready %v, %q; want %q", state, o.Ready, o.NotReady, want)
		}
	}
}

// What stands for nothing is nothing: an environment without variables, a VPC without subnets, no layers.
func TestWhatIsEmptyIsAbsent(t *testing.T) {
	plain := func(more string) any {
		o, err := saying(t, of(more))[0].Read(t.Context(), orders)
		if err != nil {
			t.Fatalf("read: %v", err)
		}
		return value.OfMap(o.Params).Plain()
	}
	want := plain(``)
	for why, more := range map[string]string{
		"no variables": `,"Environment":{"Variables":{}}`, "an environment of nothing": `,"Environment":{}`,
		"a VPC that it was taken out of": `,"VpcConfig":{"SubnetIds":[],"SecurityGroupIds":[],"VpcId":"","Ipv6AllowedForDualStack":false}`,
		"empty lists":                    `,"Layers":[],"FileSystemConfigs":[]`, "no target": `,"DeadLetterConfig":{"TargetArn":""}`, "an image config of nothing": `,"ImageConfigResponse":{"ImageConfig":{}}`,
	} {
		if d := cmp.Diff(want, plain(more)); d != "" {
			t.Errorf("%s (-want +got):\n%s", why, d)
		}
	}
}
