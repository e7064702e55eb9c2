package providers_test

import (
	"testing"

	"reclaim/engine/diff"
	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers"
)

// compare diffs desired JSON with what a read returned. Nothing was recorded.
func compare(t *testing.T, typ, desired, observed string, gaps map[value.Path]resource.Gap) diff.Result {
	t.Helper()
	parse := func(text string) value.Map {
		v, err := value.ParseJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v.Fields()
	}
	s, ok := providers.Schema(typ)
	if !ok {
		t.Fatalf("no type %s", typ)
	}
	return diff.Compare(diff.Input{Schema: s, Desired: parse(desired), Observed: &resource.Observation{Params: parse(observed), Gaps: gaps}})
}

// What config says, and what the services really return for it, are the same to the schemas; and what is not the same
// is seen.
func TestSchemasKnowWhatIsEqualToTheirService(t *testing.T) {
	const group, role, api = "AWS::Logs::LogGroup", "AWS::IAM::Role", "AWS::ApiGatewayV2::Api"
	const integration, stage = "AWS::ApiGatewayV2::Integration", "AWS::ApiGatewayV2::Stage"
	for why, c := range map[string]struct {
		typ, desired, observed string
		gaps                   map[value.Path]resource.Gap
		changes                []value.Path
	}{
		"no retention is no retention":                    {typ: group, desired: `{"LogGroupName":"g"}`, observed: `{"LogGroupName":"g"}`},
		"a retention of 0 is none":                        {typ: group, desired: `{"RetentionInDays":0}`, observed: `{}`},
		"a retention that somebody removed is drift":      {typ: group, desired: `{"RetentionInDays":90}`, observed: `{}`, changes: []value.Path{"RetentionInDays"}},
		"a class that config leaves out is no drift":      {typ: group, desired: `{"LogGroupName":"g"}`, observed: `{"LogGroupName":"g","LogGroupClass":"STANDARD"}`},
		"a class is not replaced where the read has none": {typ: group, desired: `{"LogGroupClass":"STANDARD"}`, observed: `{}`},
		"the retention of a delivery group is not compared": {typ: group, desired: `{"LogGroupClass":"DELIVERY"}`, observed: `{"LogGroupClass":"DELIVERY"}`,
			gaps: map[value.Path]resource.Gap{"RetentionInDays": {Kind: resource.GapNotReturned}}},
		"an empty data protection policy is none":             {typ: group, desired: `{"DataProtectionPolicy":{}}`, observed: `{}`},
		"a key that somebody took away is drift":              {typ: group, desired: `{"KmsKeyId":"arn:aws:kms:eu-west-1:111122223333:key/a"}`, observed: `{}`, changes: []value.Path{"KmsKeyId"}},
		"tags that others set are not config's":               {typ: group, desired: `{"Tags":[{"Key":"a","Value":"1"}]}`, observed: `{"Tags":[{"Key":"b","Value":"2"},{"Key":"a","Value":"1"}]}`},
		"a role's defaults are no drift":                      {typ: role, desired: `{"Path":"/","Description":"","MaxSessionDuration":3600}`, observed: `{"Path":"/","MaxSessionDuration":3600}`},
		"managed policies are a set":                          {typ: role, desired: `{"ManagedPolicyArns":["arn:b","arn:a"]}`, observed: `{"ManagedPolicyArns":["arn:a","arn:b"]}`},
		"a policy that others attached is not config's":       {typ: role, desired: `{"ManagedPolicyArns":["arn:a"]}`, observed: `{"ManagedPolicyArns":["arn:a","arn:b"]}`},
		"a boundary that somebody took away is drift":         {typ: role, desired: `{"PermissionsBoundary":"arn:a"}`, observed: `{}`, changes: []value.Path{"PermissionsBoundary"}},
		"an inline policy is found by its name":               {typ: role, desired: `{"Policies":[{"PolicyName":"p","PolicyDocument":{"Statement":{"Effect":"Allow","Action":"s3:GetObject","Resource":"*"}}}]}`, observed: `{"Policies":[{"PolicyName":"q","PolicyDocument":{"Statement":[]}},{"PolicyName":"p","PolicyDocument":{"Statement":[{"Effect":"Allow","Action":["s3:GetObject"],"Resource":["*"]}]}}]}`},
		"header names have no case":                           {typ: api, desired: `{"CorsConfiguration":{"AllowHeaders":["X-Trace","Accept"]}}`, observed: `{"CorsConfiguration":{"AllowHeaders":["accept","x-trace"]}}`},
		"an empty list of headers is none":                    {typ: api, desired: `{"CorsConfiguration":{"MaxAge":60}}`, observed: `{"CorsConfiguration":{"MaxAge":60,"ExposeHeaders":[]}}`},
		"an empty list in config is none":                     {typ: api, desired: `{"CorsConfiguration":{"MaxAge":60,"ExposeHeaders":[]}}`, observed: `{"CorsConfiguration":{"MaxAge":60}}`},
		"methods have case":                                   {typ: api, desired: `{"CorsConfiguration":{"AllowMethods":["GET"]}}`, observed: `{"CorsConfiguration":{"AllowMethods":["get"]}}`, changes: []value.Path{"CorsConfiguration.AllowMethods"}},
		"an empty CORS configuration is not none":             {typ: api, desired: `{"CorsConfiguration":{}}`, observed: `{}`, changes: []value.Path{"CorsConfiguration"}},
		"a CORS configuration that somebody deleted is drift": {typ: api, desired: `{"CorsConfiguration":{"MaxAge":60}}`, observed: `{}`, changes: []value.Path{"CorsConfiguration"}},
		"an API's defaults are no drift":                      {typ: api, desired: `{"Description":"","DisableExecuteApiEndpoint":false,"IpAddressType":"ipv4"}`, observed: `{"IpAddressType":"ipv4","DisableExecuteApiEndpoint":false}`},
		"an API renamed by an import is drift":                {typ: api, desired: `{"Name":"orders"}`, observed: `{"Name":"Imported on 2031-01-01"}`, changes: []value.Path{"Name"}},
		"what an integration is filled in with is no drift":   {typ: integration, desired: `{"IntegrationType":"HTTP_PROXY","PayloadFormatVersion":"1.0"}`, observed: `{"IntegrationType":"HTTP_PROXY","PayloadFormatVersion":"1.0","TimeoutInMillis":30000,"ConnectionType":"INTERNET","RequestTemplates":{},"ResponseParameters":{}}`},
		"a WebSocket API's timeout is no drift either":        {typ: integration, desired: `{"IntegrationType":"MOCK"}`, observed: `{"IntegrationType":"MOCK","TimeoutInMillis":29000,"RequestParameters":{}}`},
		"a timeout that somebody changed is drift":            {typ: integration, desired: `{"TimeoutInMillis":"5000"}`, observed: `{"TimeoutInMillis":29000}`, changes: []value.Path{"TimeoutInMillis"}},
		"response parameters have no order": {typ: integration, desired: `{"ResponseParameters":{"200":{"ResponseParameters":[{"Destination":"b","Source":"2"},{"Destination":"a","Source":"1"}]}}}`,
			observed: `{"ResponseParameters":{"200":{"ResponseParameters":[{"Destination":"a","Source":"1"},{"Destination":"b","Source":"2"}]}}}`},
		"empty TLS is none":                                    {typ: integration, desired: `{"TlsConfig":{}}`, observed: `{}`},
		"a route's defaults are no drift":                      {typ: "AWS::ApiGatewayV2::Route", desired: `{"RouteKey":"$default","AuthorizationType":"NONE","ApiKeyRequired":false,"AuthorizationScopes":[]}`, observed: `{"RouteKey":"$default","AuthorizationType":"NONE"}`},
		"a route's scopes are a set":                           {typ: "AWS::ApiGatewayV2::Route", desired: `{"AuthorizationScopes":["b","a"]}`, observed: `{"AuthorizationScopes":["a","b"]}`},
		"an authorizer's sources are a set":                    {typ: "AWS::ApiGatewayV2::Authorizer", desired: `{"IdentitySource":["b","a"]}`, observed: `{"IdentitySource":["a","b"],"AuthorizerResultTtlInSeconds":300}`},
		"a log's :* does not count":                            {typ: stage, desired: `{"AccessLogSettings":{"DestinationArn":"arn:aws:logs:eu-west-1:111122223333:log-group:l:*"}}`, observed: `{"AccessLogSettings":{"DestinationArn":"arn:aws:logs:eu-west-1:111122223333:log-group:l"}}`},
		"a stage's defaults are no drift":                      {typ: stage, desired: `{"AutoDeploy":false,"StageVariables":{}}`, observed: `{"DefaultRouteSettings":{"DetailedMetricsEnabled":false},"RouteSettings":{},"StageVariables":{}}`},
		"a throttle is a number, however written":              {typ: stage, desired: `{"DefaultRouteSettings":{"ThrottlingRateLimit":"100.50","ThrottlingBurstLimit":"7"}}`, observed: `{"DefaultRouteSettings":{"ThrottlingRateLimit":100.5,"ThrottlingBurstLimit":7}}`},
		"a throttle that somebody changed is drift":            {typ: stage, desired: `{"DefaultRouteSettings":{"ThrottlingRateLimit":"100"}}`, observed: `{"DefaultRouteSettings":{"ThrottlingRateLimit":0}}`, changes: []value.Path{"DefaultRouteSettings.ThrottlingRateLimit"}},
		"a setting that is not returned is no drift by itself": {typ: api, desired: `{"Name":"orders"}`, observed: `{"Name":"orders"}`, gaps: map[value.Path]resource.Gap{"DisableSchemaValidation": {Kind: resource.GapNotReturned}}},
	} {
		t.Run(why, func(t *testing.T) {
			res := compare(t, c.typ, c.desired, c.observed, c.gaps)
			if res.Invalid {
				t.Error("the read is called invalid")
			}
			var got []value.Path
			for _, f := range res.Fields {
				if f.Verdict != diff.Match && f.Verdict != diff.Unverified {
					got = append(got, f.Path)
				}
			}
			if len(got) != len(c.changes) || len(got) > 0 && !got[0].Within(c.changes[0]) {
				t.Errorf("changes are %v, want %v", got, c.changes)
			}
		})
	}
}

// A value that the service cannot have is an invalid read, no drift.
func TestSchemasRefuseWhatTheServiceCannotReturn(t *testing.T) {
	for why, c := range map[string]struct{ typ, desired, observed string }{
		"a retention that there is not":      {"AWS::Logs::LogGroup", `{"RetentionInDays":14}`, `{"RetentionInDays":15}`},
		"a class that there is not":          {"AWS::Logs::LogGroup", `{"LogGroupClass":"STANDARD"}`, `{"LogGroupClass":"GOLD"}`},
		"a session that is too short":        {"AWS::IAM::Role", `{"MaxSessionDuration":3600}`, `{"MaxSessionDuration":60}`},
		"a trust policy that is no document": {"AWS::IAM::Role", `{"AssumeRolePolicyDocument":{}}`, `{"AssumeRolePolicyDocument":"%7B"}`},
		"a protocol that there is not":       {"AWS::ApiGatewayV2::Api", `{"ProtocolType":"HTTP"}`, `{"ProtocolType":"FTP"}`},
	} {
		t.Run(why, func(t *testing.T) {
			if !compare(t, c.typ, c.desired, c.observed, nil).Invalid {
				t.Error("the read is taken as valid")
			}
		})
	}
}
