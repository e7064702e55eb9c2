package apigatewayv2

import (
	"time"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// IntegrationType is the CloudFormation name of the type.
const IntegrationType = "AWS::ApiGatewayV2::Integration"

// What the service fills in.
const (
	defaultConnection  = "INTERNET"
	defaultPassthrough = "WHEN_NO_MATCH"
	httpTimeout        = 30000 // milliseconds
	webSocketTimeout   = 29000
)

// parentField is the param that says which API an object is part of.
func parentField() resource.Field {
	return resource.Field{Name: "ApiId", Doc: "ID of the API that this is part of.", Type: resource.TString, Mode: resource.KeyParam, Required: true, Min: bound(1)}
}

// quick are the deadlines of what the service makes at once.
var quick = resource.Deadlines{Call: 30 * time.Second, Settle: 2 * time.Minute, Delete: 2 * time.Minute}

// childWindow is the consistency window of what is in an API.
const childWindow = 10 * time.Second

func textMap(name, doc string, max int64) resource.Field {
	return resource.Field{Name: name, Doc: doc, Type: resource.TMap, Mode: resource.Mutable, Equal: resource.EmptyIsNil,
		Elem: &resource.Field{Type: resource.TString, Max: bound(max)}}
}

func integrationSchema() *resource.Schema {
	return &resource.Schema{
		Type:      IntegrationType,
		Doc:       "What an API hands requests to: a function, an HTTP endpoint, a service. It has neither name nor tags, and a second create makes a second one.",
		Identity:  resource.Assigned,
		Space:     resource.PerRegion,
		Key:       []string{"ApiId", "IntegrationId"},
		Ref:       "IntegrationId",
		Params:    integrationParams(),
		Outputs:   []resource.Output{{Name: "IntegrationId", Doc: "ID that the service gave the integration."}},
		Parent:    []string{"ApiId"},
		Window:    childWindow,
		Deadlines: quick,
	}
}

// integrationParams has no default for what depends on the API's protocol or on the kind of integration: the timeout
// (30,000 ms for HTTP, 29,000 for WEBSOCKET), the method, the payload format, the pass-through.
func integrationParams() []resource.Field {
	return []resource.Field{
		parentField(),
		{Name: "IntegrationType", Doc: "Kind of integration; an HTTP API has AWS_PROXY and HTTP_PROXY.",
			Type: resource.TString, Mode: resource.Mutable, Required: true, Enum: []string{"AWS", "AWS_PROXY", "HTTP", "HTTP_PROXY", "MOCK"}},
		{Name: "IntegrationSubtype", Doc: "Action of an AWS service that is called (AWS_PROXY of an HTTP API); stays when it is left out later.",
			Type: resource.TString, Mode: resource.Mutable, Min: bound(1), Max: bound(128)},
		{Name: "IntegrationUri", Doc: "Function, URL, or load balancer listener that is called; stays when it is left out later.",
			Type: resource.TString, Mode: resource.Mutable, Min: bound(1), Max: bound(2048)},
		{Name: "IntegrationMethod", Doc: "HTTP method of the call; stays when it is left out later.",
			Type: resource.TString, Mode: resource.Mutable, Min: bound(1), Max: bound(64)},
		{Name: "Description", Doc: "Description of the integration.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(""), Max: bound(1024)},
		{Name: "ConnectionType", Doc: "Whether the endpoint is called through the internet or a VPC link.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(defaultConnection), Enum: []string{defaultConnection, "VPC_LINK"}},
		{Name: "ConnectionId", Doc: "ID of the VPC link (HTTP).",
			Type: resource.TString, Mode: resource.Mutable, Min: bound(1), Max: bound(1024)},
		{Name: "CredentialsArn", Doc: "Role that the API takes for the call; none for the permissions of what is called.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of("")},
		{Name: "PayloadFormatVersion", Doc: "Format of what is sent to the integration, which an HTTP API needs; stays when it is left out later.",
			Type: resource.TString, Mode: resource.Mutable, Enum: []string{"1.0", "2.0"}},
		{Name: "TimeoutInMillis", Doc: "Milliseconds until a call is given up; 30000 for HTTP and 29000 for WEBSOCKET when it is not set, which are also the most.",
			Type: resource.TInt, Mode: resource.Mutable, Min: bound(50), Max: bound(httpTimeout)},
		{Name: "TlsConfig", Doc: "Calls a private endpoint by HTTPS (HTTP).",
			Type: resource.TObject, Mode: resource.Mutable, Equal: resource.EmptyIsNil, Fields: []resource.Field{
				{Name: "ServerNameToVerify", Doc: "Name that the endpoint's certificate must have.", Type: resource.TString},
			}},
		textMap("RequestParameters", "How the request is changed before it is sent on, or the parameters of a service's action.", 2048),
		responseParametersField(),
		textMap("RequestTemplates", "Templates of the request's body, by content type (WEBSOCKET).", 32768),
		{Name: "TemplateSelectionExpression", Doc: "How the template of a request is chosen (WEBSOCKET).",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of("")},
		{Name: "PassthroughBehavior", Doc: "What happens to content types without a template (WEBSOCKET); WHEN_NO_MATCH when it is left out later.",
			Type: resource.TString, Mode: resource.Mutable, Enum: []string{defaultPassthrough, "NEVER", "WHEN_NO_TEMPLATES"}},
		{Name: "ContentHandlingStrategy", Doc: "How the body of the response is converted (WEBSOCKET); stays when it is left out later.",
			Type: resource.TString, Mode: resource.Mutable, Enum: []string{"CONVERT_TO_BINARY", "CONVERT_TO_TEXT"}},
	}
}

// responseParametersField has CloudFormation's shape: by status code a list, where the API has a map.
func responseParametersField() resource.Field {
	return resource.Field{Name: "ResponseParameters", Doc: "How the response is changed before it goes back, by status code (HTTP).",
		Type: resource.TMap, Mode: resource.Mutable, Equal: resource.EmptyIsNil,
		Elem: &resource.Field{Type: resource.TObject, Fields: []resource.Field{
			{Name: "ResponseParameters", Doc: "The changes.", Type: resource.TList, ItemKey: "Destination", Elem: &resource.Field{Type: resource.TObject, Fields: []resource.Field{
				{Name: "Destination", Doc: "What is changed, and how: append:header.x, overwrite:statuscode.", Type: resource.TString, Required: true},
				{Name: "Source", Doc: "The new value.", Type: resource.TString, Required: true},
			}}},
		}}}
}
