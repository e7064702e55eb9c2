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
	const group, role, api, rule = "AWS::Logs::LogGroup", "AWS::IAM::Role", "AWS::ApiGatewayV2::Api", "AWS::Events::Rule"
	const table, integration, stage = "AWS::DynamoDB::Table", "AWS::ApiGatewayV2::Integration", "AWS::ApiGatewayV2::Stage"
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
		"a pattern is compared as JSON":                       {typ: rule, desired: `{"EventPattern":{"source":["a"],"detail":{"n":[1]}}}`, observed: `{"EventPattern":{"detail":{"n":[1.0]},"source":["a"]}}`},
		"another order of a pattern's values is drift":        {typ: rule, desired: `{"EventPattern":{"source":["a","b"]}}`, observed: `{"EventPattern":{"source":["b","a"]}}`, changes: []value.Path{"EventPattern"}},
		"a rule's defaults are no drift":                      {typ: rule, desired: `{"State":"ENABLED","Description":"","ScheduleExpression":"","EventBusName":"default"}`, observed: `{"State":"ENABLED","EventBusName":"default"}`},
		"a rule that somebody disabled is drift":              {typ: rule, desired: `{"State":"ENABLED"}`, observed: `{"State":"DISABLED"}`, changes: []value.Path{"State"}},
		"a target that others added is not config's":          {typ: rule, desired: `{"Targets":[{"Id":"a","Arn":"arn:a"}]}`, observed: `{"Targets":[{"Id":"b","Arn":"arn:b"},{"Id":"a","Arn":"arn:a"}]}`},
		"a target of ours that is gone is drift":              {typ: rule, desired: `{"Targets":[{"Id":"a","Arn":"arn:a"}]}`, observed: `{"Targets":[]}`, changes: []value.Path{`Targets[Id=a]`}},
		"a target's input is compared as JSON":                {typ: rule, desired: `{"Targets":[{"Id":"a","Arn":"arn:a","Input":"{\"x\": 1}"}]}`, observed: `{"Targets":[{"Id":"a","Arn":"arn:a","Input":"{\"x\":1}"}]}`},
		"a switch that is off reads as not there":             {typ: rule, desired: `{"Targets":[{"Id":"a","Arn":"arn:a","EcsParameters":{"TaskDefinitionArn":"arn:t","EnableExecuteCommand":false}}]}`, observed: `{"Targets":[{"Id":"a","Arn":"arn:a","EcsParameters":{"TaskDefinitionArn":"arn:t"}}]}`},
		"subnets are a set":                                   {typ: rule, desired: `{"Targets":[{"Id":"a","Arn":"arn:a","EcsParameters":{"TaskDefinitionArn":"arn:t","NetworkConfiguration":{"AwsVpcConfiguration":{"Subnets":["s1","s2"],"SecurityGroups":[]}}}}]}`, observed: `{"Targets":[{"Id":"a","Arn":"arn:a","EcsParameters":{"TaskDefinitionArn":"arn:t","NetworkConfiguration":{"AwsVpcConfiguration":{"Subnets":["s2","s1"]}}}}]}`},
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

		"attribute definitions have no order":                  {typ: table, desired: `{"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"kind","AttributeType":"N"}]}`, observed: `{"AttributeDefinitions":[{"AttributeName":"kind","AttributeType":"N"},{"AttributeName":"pk","AttributeType":"S"}]}`},
		"the keys of a table do":                               {typ: table, desired: `{"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]}`, observed: `{"KeySchema":[{"AttributeName":"sk","KeyType":"HASH"},{"AttributeName":"pk","KeyType":"RANGE"}]}`, changes: []value.Path{"KeySchema", "KeySchema"}},
		"indexes are told apart by name, projections are sets": {typ: table, desired: `{"GlobalSecondaryIndexes":[{"IndexName":"a-b","Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["y","x"]}},{"IndexName":"c-d"}]}`, observed: `{"GlobalSecondaryIndexes":[{"IndexName":"c-d","WarmThroughput":{"ReadUnitsPerSecond":12000}},{"IndexName":"a-b","Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["x","y"]}}]}`},
		"local indexes too":                                    {typ: table, desired: `{"LocalSecondaryIndexes":[{"IndexName":"l-1","Projection":{"NonKeyAttributes":["y","x"]}}]}`, observed: `{"LocalSecondaryIndexes":[{"IndexName":"l-1","Projection":{"NonKeyAttributes":["x","y"]}}]}`},
		"an index that config does not have is drift":          {typ: table, desired: `{"GlobalSecondaryIndexes":[{"IndexName":"a-b"}]}`, observed: `{"GlobalSecondaryIndexes":[{"IndexName":"a-b"},{"IndexName":"c-d"}]}`, changes: []value.Path{"GlobalSecondaryIndexes"}},
		"a table is provisioned unless it says otherwise":      {typ: table, desired: `{"ProvisionedThroughput":{"ReadCapacityUnits":"5","WriteCapacityUnits":5}}`, observed: `{"BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":5}}`},
		"time to live that is off is none":                     {typ: table, desired: `{"TimeToLiveSpecification":{"AttributeName":"until","Enabled":false}}`, observed: `{"TimeToLiveSpecification":{"Enabled":false}}`},
		"also where config never had any":                      {typ: table, desired: `{"TableName":"orders"}`, observed: `{"TableName":"orders","TimeToLiveSpecification":{"Enabled":false},"PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":false}}`},
		"time to live that somebody turned off is drift":       {typ: table, desired: `{"TimeToLiveSpecification":{"AttributeName":"until","Enabled":true}}`, observed: `{"TimeToLiveSpecification":{"Enabled":false}}`, changes: []value.Path{"TimeToLiveSpecification"}},
		"recovery for 35 days is recovery":                     {typ: table, desired: `{"PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`, observed: `{"PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true,"RecoveryPeriodInDays":35}}`},
		"a key's ID is its ARN":                                {typ: table, desired: `{"SSESpecification":{"SSEEnabled":true,"KMSMasterKeyId":"a1-b2"}}`, observed: `{"SSESpecification":{"SSEEnabled":true,"SSEType":"KMS","KMSMasterKeyId":"arn:aws:kms:eu-west-1:111122223333:key/a1-b2"}}`},
		"no bound is no bound":                                 {typ: table, desired: `{"OnDemandThroughput":{"MaxReadRequestUnits":-1}}`, observed: `{}`},
		"a table that is warmer than asked for is warm enough": {typ: table, desired: `{"WarmThroughput":{"ReadUnitsPerSecond":13000}}`, observed: `{"WarmThroughput":{"ReadUnitsPerSecond":15000,"WriteUnitsPerSecond":4000}}`},
		"a stream that somebody turned off is drift":           {typ: table, desired: `{"StreamSpecification":{"StreamViewType":"NEW_IMAGE"}}`, observed: `{}`, changes: []value.Path{"StreamSpecification"}},
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
		"a rule's state that there is not":   {"AWS::Events::Rule", `{"State":"ENABLED"}`, `{"State":"PAUSED"}`},
		"a protocol that there is not":       {"AWS::ApiGatewayV2::Api", `{"ProtocolType":"HTTP"}`, `{"ProtocolType":"FTP"}`},
	} {
		t.Run(why, func(t *testing.T) {
			if !compare(t, c.typ, c.desired, c.observed, nil).Invalid {
				t.Error("the read is taken as valid")
			}
		})
	}
}
