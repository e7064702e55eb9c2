package apigatewayv2

import (
	"time"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// APIType is the CloudFormation name of the type.
const APIType = "AWS::ApiGatewayV2::Api"

// What the service fills in.
const (
	defaultRouteSelection  = "$request.method $request.path" // HTTP; WEBSOCKET has none, it must be given
	defaultAPIKeySelection = "$request.header.x-api-key"
	defaultIPAddressType   = "ipv4"
)

func bound(n int64) *int64 { return &n }

func apiSchema() *resource.Schema {
	const quick = "part of quick create, which makes integrations, routes and stages that no record would know; write them as resources of their own"
	const imported = "part of an import, which makes integrations and routes that no record would know; write them as resources of their own"
	return &resource.Schema{
		Type:     APIType,
		Doc:      "An HTTP or WebSocket API of API Gateway. Names are not unique: a second create makes a second API.",
		Identity: resource.Assigned,
		Space:    resource.PerRegion,
		Key:      []string{"ApiId"},
		Ref:      "ApiId",
		Params:   apiParams(),
		Outputs: []resource.Output{
			{Name: "ApiId", Doc: "ID that the service gave the API."},
			{Name: "ApiEndpoint", Doc: "Address of the API's default endpoint."},
		},
		Unsupported: map[string]string{
			"BasePath":       imported,
			"Body":           imported,
			"BodyS3Location": imported,
			"CredentialsArn": quick,
			"FailOnWarnings": imported,
			"RouteKey":       quick,
			"Target":         quick,
		},
		Tags:      resource.TagMap,
		TagParam:  "Tags",
		Window:    30 * time.Second,
		Deadlines: resource.Deadlines{Call: 30 * time.Second, Settle: 2 * time.Minute, Delete: 2 * time.Minute},
	}
}

func apiParams() []resource.Field {
	return []resource.Field{
		{Name: "Name", Doc: "Name of the API; several may have the same.",
			Type: resource.TString, Mode: resource.Mutable, Required: true, Min: bound(1), Max: bound(128)},
		{Name: "ProtocolType", Doc: "Protocol that the API speaks.",
			Type: resource.TString, Mode: resource.Immutable, Required: true, Enum: []string{"HTTP", "WEBSOCKET"}},
		{Name: "Description", Doc: "Description of the API.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(""), Max: bound(1024)},
		{Name: "Version", Doc: "Version of the API, for people.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(""), Max: bound(64)},
		corsField(),
		{Name: "DisableExecuteApiEndpoint", Doc: "Closes the default endpoint, so that clients use a domain name of the account.",
			Type: resource.TBool, Mode: resource.Mutable, Default: value.Of(false)},
		{Name: "DisableSchemaValidation", Doc: "Skips the validation of models at a deployment (WEBSOCKET).",
			Type: resource.TBool, Mode: resource.Mutable, Default: value.Of(false)},
		{Name: "RouteSelectionExpression", Doc: "How the route of a request is found; WEBSOCKET needs it.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(defaultRouteSelection)},
		{Name: "ApiKeySelectionExpression", Doc: "Where the API key of a request is found (WEBSOCKET).",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(defaultAPIKeySelection)},
		{Name: "IpAddressType", Doc: "Kinds of addresses that can call the API.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(defaultIPAddressType), Enum: []string{defaultIPAddressType, "dualstack"}},
		{Name: "Tags", Doc: "Tags of the API; tags that others set stay.",
			Type: resource.TMap, Mode: resource.Mutable, Shared: true, Elem: &resource.Field{Type: resource.TString, Max: bound(256)}},
	}
}

func corsField() resource.Field {
	names := func(name, doc string, equal resource.Equivalence) resource.Field {
		return resource.Field{Name: name, Doc: doc, Type: resource.TList, Set: true, Equal: resource.EmptyIsNil,
			Elem: &resource.Field{Type: resource.TString, Equal: equal}}
	}
	return resource.Field{Name: "CorsConfiguration", Doc: "What browsers may ask of the API from other origins (HTTP); an empty one is not the same as none.",
		Type: resource.TObject, Mode: resource.Mutable, Fields: []resource.Field{
			{Name: "AllowCredentials", Doc: "Whether requests may carry credentials.", Type: resource.TBool, Default: value.Of(false)},
			names("AllowHeaders", "Headers that requests may carry.", resource.FoldCase),
			names("AllowMethods", "Methods that requests may use.", resource.Exact),
			names("AllowOrigins", "Origins that may call.", resource.Exact),
			names("ExposeHeaders", "Headers of answers that scripts may see.", resource.FoldCase),
			{Name: "MaxAge", Doc: "Seconds for which a browser may keep the answer to a preflight.", Type: resource.TInt, Default: value.Of(0), Min: bound(-1), Max: bound(86400)},
		}}
}
