package apigatewayv2

import (
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// StageType is the CloudFormation name of the type.
const StageType = "AWS::ApiGatewayV2::Stage"

const noLogs = "OFF" // the logging level that the service fills in (WEBSOCKET)

func stageSchema() *resource.Schema {
	return &resource.Schema{
		Type:     StageType,
		Doc:      "Where a deployment of an API is called: a name in its address.",
		Identity: resource.Named,
		Space:    resource.PerRegion,
		Key:      []string{"ApiId", "StageName"},
		Ref:      "StageName",
		Params:   stageParams(),
		Unsupported: map[string]string{
			"AccessPolicyId": "not supported by the service: CloudFormation's reference reserves it, and no operation takes it",
		},
		Tags:      resource.TagMap,
		TagParam:  "Tags",
		Parent:    []string{"ApiId"},
		Window:    childWindow,
		Deadlines: quick,
	}
}

func stageParams() []resource.Field {
	return []resource.Field{
		parentField(),
		{Name: "StageName", Doc: "Name of the stage; $default is called without one.",
			Type: resource.TString, Mode: resource.KeyParam, Required: true, Min: bound(1), Max: bound(128), Pattern: `\$default|[A-Za-z0-9_-]+`},
		{Name: "Description", Doc: "Description of the stage.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(""), Max: bound(1024)},
		{Name: "AutoDeploy", Doc: "Deploys the API to the stage whenever it changes (HTTP).",
			Type: resource.TBool, Mode: resource.Mutable, Default: value.Of(false)},
		{Name: "DeploymentId", Doc: "ID of the deployment that the stage serves, not together with AutoDeploy; stays when it is left out later.",
			Type: resource.TString, Mode: resource.Mutable, Min: bound(1)},
		{Name: "ClientCertificateId", Doc: "ID of the certificate that the stage shows to integrations (WEBSOCKET).",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of("")},
		{Name: "AccessLogSettings", Doc: "Where and how requests are logged.",
			Type: resource.TObject, Mode: resource.Mutable, Equal: resource.EmptyIsNil, Fields: []resource.Field{
				{Name: "DestinationArn", Doc: "ARN of a log group or a Firehose stream.", Type: resource.TString, Equal: resource.ARNStar},
				{Name: "Format", Doc: "One line of the log, with $context variables.", Type: resource.TString},
			}},
		{Name: "DefaultRouteSettings", Doc: "How routes are served that have no settings of their own. The service keeps a throttle that was once set: give another one.",
			Type: resource.TObject, Mode: resource.Mutable, Equal: resource.EmptyIsNil, Fields: settingsFields()},
		{Name: "RouteSettings", Doc: "How single routes are served, by route key.",
			Type: resource.TMap, Mode: resource.Mutable, Equal: resource.EmptyIsNil, Elem: &resource.Field{Type: resource.TObject, Fields: settingsFields()}},
		textMap("StageVariables", "Variables that integrations can use.", 2048),
		{Name: "Tags", Doc: "Tags of the stage; tags that others set stay.",
			Type: resource.TMap, Mode: resource.Mutable, Shared: true, Elem: &resource.Field{Type: resource.TString, Max: bound(256)}},
	}
}

// settingsFields has no default for throttles: one that is not set is the account's, and 0 lets nothing through.
func settingsFields() []resource.Field {
	return []resource.Field{
		{Name: "DataTraceEnabled", Doc: "Logs whole requests and responses (WEBSOCKET).", Type: resource.TBool, Default: value.Of(false)},
		{Name: "DetailedMetricsEnabled", Doc: "Counts each route by itself.", Type: resource.TBool, Default: value.Of(false)},
		{Name: "LoggingLevel", Doc: "What the execution log holds (WEBSOCKET).", Type: resource.TString, Default: value.Of(noLogs), Enum: []string{noLogs, "ERROR", "INFO"}},
		{Name: "ThrottlingBurstLimit", Doc: "Requests that may come at once; 0 lets nothing through.", Type: resource.TInt, Min: bound(0)},
		{Name: "ThrottlingRateLimit", Doc: "Requests a second, as a number that may have a fraction; 0 lets nothing through.", Type: resource.TString, Pattern: `\d+(\.\d+)?`},
	}
}
