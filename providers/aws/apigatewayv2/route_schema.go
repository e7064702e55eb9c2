package apigatewayv2

import (
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// RouteType is the CloudFormation name of the type.
const RouteType = "AWS::ApiGatewayV2::Route"

const defaultAuthorization = "NONE" // what the service fills in

func routeSchema() *resource.Schema {
	return &resource.Schema{
		Type:      RouteType,
		Doc:       "What picks the integration of a request. The service gives it an ID, and an API has at most one with the same route key.",
		Identity:  resource.Named,
		Space:     resource.PerRegion,
		Key:       []string{"ApiId", "RouteId"},
		Natural:   []string{"ApiId", "RouteKey"},
		Ref:       "RouteId",
		Params:    routeParams(),
		Outputs:   []resource.Output{{Name: "RouteId", Doc: "ID that the service gave the route."}},
		Parent:    []string{"ApiId"},
		Window:    childWindow,
		Deadlines: quick,
	}
}

func routeParams() []resource.Field {
	return []resource.Field{
		parentField(),
		{Name: "RouteKey", Doc: "Requests that take the route: a method and a path, $default, or for WEBSOCKET what the selection expression gives.",
			Type: resource.TString, Mode: resource.Mutable, Required: true, Min: bound(1)},
		{Name: "Target", Doc: "Where requests go: integrations/ and the ID of an integration.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(""), Max: bound(128)},
		{Name: "AuthorizationType", Doc: "Who may call: anyone, or whom IAM, an authorizer's function (CUSTOM) or a token (JWT, HTTP only) lets.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(defaultAuthorization), Enum: []string{defaultAuthorization, "AWS_IAM", "CUSTOM", "JWT"}},
		{Name: "AuthorizerId", Doc: "ID of the authorizer, for CUSTOM and JWT.",
			Type: resource.TString, Mode: resource.Mutable, Min: bound(1)},
		{Name: "AuthorizationScopes", Doc: "Scopes of which a token must have one (JWT).",
			Type: resource.TList, Mode: resource.Mutable, Set: true, Equal: resource.EmptyIsNil, Elem: &resource.Field{Type: resource.TString, Min: bound(1), Max: bound(64)}},
		{Name: "ApiKeyRequired", Doc: "Whether callers need an API key (WEBSOCKET).",
			Type: resource.TBool, Mode: resource.Mutable, Default: value.Of(false)},
		{Name: "ModelSelectionExpression", Doc: "How the model of a request is chosen (WEBSOCKET).",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of("")},
		{Name: "OperationName", Doc: "Name of the operation, for people.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(""), Max: bound(64)},
		textMap("RequestModels", "Models of the request, by what the selection expression gives (WEBSOCKET).", 128),
		{Name: "RequestParameters", Doc: "Parameters of the request, and whether they must be there (WEBSOCKET).",
			Type: resource.TMap, Mode: resource.Mutable, Equal: resource.EmptyIsNil, Elem: &resource.Field{Type: resource.TObject, Fields: []resource.Field{
				{Name: "Required", Doc: "Whether it must be there.", Type: resource.TBool, Default: value.Of(false)},
			}}},
		{Name: "RouteResponseSelectionExpression", Doc: "How the response of the route is chosen (WEBSOCKET).",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of("")},
	}
}
