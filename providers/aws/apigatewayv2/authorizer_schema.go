package apigatewayv2

import (
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// AuthorizerType is the CloudFormation name of the type.
const AuthorizerType = "AWS::ApiGatewayV2::Authorizer"

const defaultTTL = 300 // seconds; what the service fills in where there is an identity source

func authorizerSchema() *resource.Schema {
	return &resource.Schema{
		Type:      AuthorizerType,
		Doc:       "What decides who may call a route: a function, or the issuer of tokens. The service gives it an ID, and an API has at most one of a name.",
		Identity:  resource.Named,
		Space:     resource.PerRegion,
		Key:       []string{"ApiId", "AuthorizerId"},
		Natural:   []string{"ApiId", "Name"},
		Ref:       "AuthorizerId",
		Params:    authorizerParams(),
		Outputs:   []resource.Output{{Name: "AuthorizerId", Doc: "ID that the service gave the authorizer."}},
		Parent:    []string{"ApiId"},
		Window:    childWindow,
		Deadlines: quick,
	}
}

// authorizerParams has no default for how long answers are kept: 300 seconds with an identity source, 0 without, and none
// for WEBSOCKET.
func authorizerParams() []resource.Field {
	return []resource.Field{
		parentField(),
		{Name: "Name", Doc: "Name of the authorizer.",
			Type: resource.TString, Mode: resource.Mutable, Required: true, Min: bound(1), Max: bound(128)},
		{Name: "AuthorizerType", Doc: "REQUEST asks a function, JWT (HTTP only) checks a token.",
			Type: resource.TString, Mode: resource.Mutable, Required: true, Enum: []string{"REQUEST", "JWT"}},
		{Name: "IdentitySource", Doc: "Where in a request the caller's identity stands; one place for JWT.",
			Type: resource.TList, Mode: resource.Mutable, Set: true, Equal: resource.EmptyIsNil, Elem: &resource.Field{Type: resource.TString, Min: bound(1)}},
		{Name: "JwtConfiguration", Doc: "Whose tokens are taken, and for whom (JWT); stays when it is left out later.",
			Type: resource.TObject, Mode: resource.Mutable, Equal: resource.EmptyIsNil, Fields: []resource.Field{
				{Name: "Audience", Doc: "Recipients of which a token must name one.", Type: resource.TList, Set: true, Elem: &resource.Field{Type: resource.TString}},
				{Name: "Issuer", Doc: "Address of the issuer.", Type: resource.TString},
			}},
		{Name: "AuthorizerUri", Doc: "The function, as a URI of its invocations (REQUEST); stays when it is left out later.",
			Type: resource.TString, Mode: resource.Mutable, Min: bound(1), Max: bound(2048)},
		{Name: "AuthorizerCredentialsArn", Doc: "Role that the API takes to call the function; none for the function's own permissions.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of("")},
		{Name: "AuthorizerPayloadFormatVersion", Doc: "Format of what the function is sent, which an HTTP API needs; stays when it is left out later.",
			Type: resource.TString, Mode: resource.Mutable, Enum: []string{"1.0", "2.0"}},
		{Name: "AuthorizerResultTtlInSeconds", Doc: "Seconds for which an answer of the function is kept, 0 for not at all (HTTP); 300 when it is not set and there is an identity source.",
			Type: resource.TInt, Mode: resource.Mutable, Min: bound(0), Max: bound(3600)},
		{Name: "EnableSimpleResponses", Doc: "Whether the function may answer yes or no instead of a policy (HTTP).",
			Type: resource.TBool, Mode: resource.Mutable, Default: value.Of(false)},
		{Name: "IdentityValidationExpression", Doc: "Taken, and not used by the service.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of("")},
	}
}
