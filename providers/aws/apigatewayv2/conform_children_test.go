package apigatewayv2_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	apigw "github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/apigatewayv2"
	"reclaim/providers/providertest"
)

const (
	functionURI = "arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/arn:aws:lambda:eu-west-1:111122223333:function:%s/invocations"
	roleARN     = "arn:aws:iam::111122223333:role/caller"
	logARN      = "arn:aws:logs:eu-west-1:111122223333:log-group:access"
)

// parent is an API for children to be in, and what those may point at. It is made with the service's own client.
type parent struct {
	t      *testing.T
	b      *providertest.Backend
	client *apigw.Client
	id     string
}

func newParent(t *testing.T, b *providertest.Backend, protocol string) *parent {
	t.Helper()
	p := &parent{t: t, b: b, client: apigw.NewFromConfig(b.Session.AWS())}
	in := &apigw.CreateApiInput{Name: aws.String("parent"), ProtocolType: types.ProtocolType(protocol)}
	if protocol == "WEBSOCKET" {
		in.RouteSelectionExpression = aws.String("$request.body.action")
	}
	out, err := p.client.CreateApi(t.Context(), in)
	if err != nil {
		t.Fatalf("create API: %v", err)
	}
	p.id = *out.ApiId
	return p
}

// of returns the provider of one type.
func of(t *testing.T, b *providertest.Backend, typ string) resource.Provider {
	t.Helper()
	for _, p := range apigatewayv2.Providers(b.Session) {
		if p.Schema().Type == typ {
			return p
		}
	}
	t.Fatalf("no provider of %s", typ)
	return nil
}

// integration makes one, and returns the target of routes to it.
func (p *parent) integration() string {
	p.t.Helper()
	out, err := p.client.CreateIntegration(p.t.Context(), &apigw.CreateIntegrationInput{ApiId: &p.id, IntegrationType: types.IntegrationTypeAwsProxy,
		IntegrationUri: aws.String(fmt.Sprintf(functionURI, "f")), PayloadFormatVersion: aws.String("1.0")})
	if err != nil {
		p.t.Fatalf("create integration: %v", err)
	}
	return "integrations/" + *out.IntegrationId
}

// tokens makes an authorizer by tokens, and returns its ID.
func (p *parent) tokens(name string) string {
	p.t.Helper()
	out, err := p.client.CreateAuthorizer(p.t.Context(), &apigw.CreateAuthorizerInput{ApiId: &p.id, Name: &name, AuthorizerType: types.AuthorizerTypeJwt,
		IdentitySource: []string{"$request.header.Authorization"}, JwtConfiguration: &types.JWTConfiguration{Audience: []string{"a"}, Issuer: aws.String("https://issuer.example")}})
	if err != nil {
		p.t.Fatalf("create authorizer: %v", err)
	}
	return *out.AuthorizerId
}

// route makes one.
func (p *parent) route(key string) {
	p.t.Helper()
	if _, err := p.client.CreateRoute(p.t.Context(), &apigw.CreateRouteInput{ApiId: &p.id, RouteKey: &key}); err != nil {
		p.t.Fatalf("create route: %v", err)
	}
}

// deployment makes one, and returns its ID; one of nothing where the backend has none.
func (p *parent) deployment() string {
	p.t.Helper()
	if p.b.Sim == nil {
		return "nothing"
	}
	out, err := p.client.CreateDeployment(p.t.Context(), &apigw.CreateDeploymentInput{ApiId: &p.id})
	if err != nil {
		p.t.Fatalf("create deployment: %v", err)
	}
	return *out.DeploymentId
}

// conforms is what the cases of one type have in common.
func (p *parent) conforms(typ, one, list string, page int) providertest.Case {
	provider := of(p.t, p.b, typ)
	absent := resource.Key{}
	for _, k := range provider.Schema().Key {
		absent[k] = "nobodyhere"
	}
	absent["ApiId"] = p.id
	return providertest.Case{Name: p.b.Name, Provider: provider, Absent: absent, Busy: "ConflictException", CreateOp: "Create" + one, DeleteOp: "Delete" + one, ReadOp: "Get" + one,
		ListOp: list, Page: page, Log: p.b.Log(), Break: p.b.Break()}
}

func pairs(kv ...string) value.Value {
	m := value.Map{}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i]] = value.Of(kv[i+1])
	}
	return value.OfMap(m)
}

// changes is one status of ResponseParameters.
func changes(kv ...string) value.Value {
	var list []value.Value
	for i := 0; i < len(kv); i += 2 {
		list = append(list, pairs("Destination", kv[i], "Source", kv[i+1]))
	}
	return value.OfMap(value.Map{"ResponseParameters": value.ListOf(list...)})
}

// Claims that moto does not keep.
const (
	secondCreate = "a second create of the same key is refused and changes nothing, succeeds where the type says Upsert, or makes another object where the service assigns the key"
	lookUp       = "a lookup finds the one with our nonce over all pages"
	noStageTags  = "moto does not tag by a stage's ARN"
	noUpdate     = "moto does not implement UpdateStage"
)

// stays is why params of an integration, an authorizer or a stage cannot be taken away.
const stays = "no update says none"

// integrationCases are a private one, one to a function, one to a service's action, and a WebSocket API's.
func integrationCases(t *testing.T, b *providertest.Backend) []providertest.Case {
	http, ws := newParent(t, b, "HTTP"), newParent(t, b, "WEBSOCKET")
	private := http.conforms(apigatewayv2.IntegrationType, "Integration", "GetIntegrations", 25)
	private.Name += " private"
	private.Sample = func(n int) value.Map {
		return value.Map{
			"ApiId": value.Of(http.id), "IntegrationType": value.Of("HTTP_PROXY"), "IntegrationUri": value.Of(fmt.Sprintf("arn:aws:elasticloadbalancing:listener/%d", n)),
			"IntegrationMethod": value.Of("PATCH"), "Description": value.Of("Counts entries"), "ConnectionType": value.Of("VPC_LINK"), "ConnectionId": value.Of("link1"),
			"PayloadFormatVersion": value.Of("1.0"), "TimeoutInMillis": value.Of(4321), "TlsConfig": pairs("ServerNameToVerify", "ledger.example"),
			"RequestParameters":  pairs("append:header.trace", "$context.requestId", "overwrite:path", "/v7"),
			"ResponseParameters": value.OfMap(value.Map{"200": changes("append:header.seen", "yes", "overwrite:statuscode", "202"), "404": changes("remove:header.why", "''")}),
		}
	}
	private.Changed = value.Map{
		"IntegrationUri": value.Of("arn:aws:elasticloadbalancing:listener/new"), "IntegrationMethod": value.Of("PUT"), "Description": value.Of("Counts all"), "ConnectionType": value.Of("INTERNET"),
		"ConnectionId": value.Of("link2"), "TimeoutInMillis": value.Of(50), "TlsConfig": pairs("ServerNameToVerify", "audit.example"),
		"RequestParameters":  pairs("append:header.trace", "$context.stage", "append:header.more", "1"),
		"ResponseParameters": value.OfMap(value.Map{"200": changes("overwrite:statuscode", "201"), "500": changes("append:header.seen", "no")}),
	}
	private.With = map[string]value.Map{"ConnectionType": {"ConnectionId": {}, "TlsConfig": {}, "IntegrationUri": value.Of("https://public.example/")}}
	private.Needs = map[string]string{"ConnectionId": "a private integration has a connection"}
	private.Keeps = map[string]string{"IntegrationUri": stays, "IntegrationMethod": stays, "PayloadFormatVersion": stays}
	private.FilledIn = value.Map{"TimeoutInMillis": value.Of(30000)}

	function := http.conforms(apigatewayv2.IntegrationType, "Integration", "", 0)
	function.Name += " function"
	function.Sample = func(n int) value.Map {
		return value.Map{"ApiId": value.Of(http.id), "IntegrationType": value.Of("AWS_PROXY"), "IntegrationUri": value.Of(fmt.Sprintf(functionURI, fmt.Sprint("f", n))),
			"CredentialsArn": value.Of(roleARN), "PayloadFormatVersion": value.Of("2.0"), "IntegrationMethod": value.Of("POST")}
	}
	function.Changed = value.Map{"CredentialsArn": value.Of(roleARN + "2"), "PayloadFormatVersion": value.Of("1.0"), "IntegrationUri": value.Of(fmt.Sprintf(functionURI, "g"))}
	function.Keeps = private.Keeps

	action := http.conforms(apigatewayv2.IntegrationType, "Integration", "", 0)
	action.Name += " action of a service"
	action.Sample = func(n int) value.Map {
		return value.Map{"ApiId": value.Of(http.id), "IntegrationType": value.Of("AWS_PROXY"), "IntegrationSubtype": value.Of("SQS-SendMessage"),
			"CredentialsArn": value.Of(roleARN), "PayloadFormatVersion": value.Of("1.0"), "RequestParameters": pairs("QueueUrl", "$request.body.q", "MessageBody", fmt.Sprint("m", n))}
	}
	action.Changed = value.Map{"IntegrationSubtype": value.Of("SQS-PurgeQueue")}
	action.Keeps = map[string]string{"IntegrationSubtype": stays, "PayloadFormatVersion": stays}
	action.Needs = map[string]string{"CredentialsArn": "a service integration has a role"}

	socket := ws.conforms(apigatewayv2.IntegrationType, "Integration", "", 0)
	socket.Name += " WEBSOCKET"
	socket.Sample = func(n int) value.Map {
		return value.Map{"ApiId": value.Of(ws.id), "IntegrationType": value.Of("HTTP"), "IntegrationUri": value.Of(fmt.Sprintf("https://n%d.example/", n)),
			"IntegrationMethod": value.Of("GET"), "ContentHandlingStrategy": value.Of("CONVERT_TO_TEXT"), "PassthroughBehavior": value.Of("NEVER"),
			"RequestTemplates": pairs("application/json", `{"a":1}`, "text/plain", "x"), "TemplateSelectionExpression": value.Of("$request.body.kind"),
			"TimeoutInMillis": value.Of(1234)}
	}
	socket.Changed = value.Map{"IntegrationType": value.Of("AWS"), "ContentHandlingStrategy": value.Of("CONVERT_TO_BINARY"), "PassthroughBehavior": value.Of("WHEN_NO_TEMPLATES"),
		"RequestTemplates": pairs("application/json", `{"a":2}`, "text/xml", "y"), "TemplateSelectionExpression": value.Of("$request.body.sort")}
	socket.Keeps = map[string]string{"IntegrationUri": stays, "IntegrationMethod": stays, "ContentHandlingStrategy": stays}
	socket.FilledIn = value.Map{"TimeoutInMillis": value.Of(29000), "PassthroughBehavior": value.Of("WHEN_NO_MATCH")}
	return []providertest.Case{private, function, action, socket}
}

func TestIntegration(t *testing.T) {
	t.Run("awssim", func(t *testing.T) { providertest.Run(t, integrationCases(t, providertest.Sim(t))...) })
	t.Run("moto", func(t *testing.T) {
		cases := integrationCases(t, providertest.Moto(t))
		cases[0].Lacks = map[string]string{"ResponseParameters": "moto keeps a status whose parameters were taken away"}
		cases[3].Lacks = map[string]string{"RequestTemplates": "moto keeps a template that was taken away"}
		providertest.Run(t, cases...)
	})
}

// routeCases are one that takes tokens, and a WebSocket API's.
func routeCases(t *testing.T, b *providertest.Backend) []providertest.Case {
	http, ws := newParent(t, b, "HTTP"), newParent(t, b, "WEBSOCKET")
	target, other := http.integration(), http.integration()
	first, second := http.tokens("first"), http.tokens("second")
	token := http.conforms(apigatewayv2.RouteType, "Route", "GetRoutes", 25)
	token.Name += " HTTP"
	token.Sample = func(n int) value.Map {
		return value.Map{"ApiId": value.Of(http.id), "RouteKey": value.Of(fmt.Sprintf("GET /entries/%d/{id}", n)), "Target": value.Of(target),
			"AuthorizationType": value.Of("JWT"), "AuthorizerId": value.Of(first), "AuthorizationScopes": value.Of([]string{"entries.read", "entries.list"}),
			"OperationName": value.Of("ListEntries")}
	}
	token.Changed = value.Map{"RouteKey": value.Of("ANY /moved/{rest+}"), "Target": value.Of(other), "AuthorizerId": value.Of(second),
		"AuthorizationScopes": value.Of([]string{"entries.all"}), "OperationName": value.Of("AnyEntry"), "AuthorizationType": value.Of("AWS_IAM")}
	token.Together = []string{"AuthorizationType", "AuthorizerId"}
	token.With = map[string]value.Map{"AuthorizationType": {"AuthorizerId": {}, "AuthorizationScopes": {}}}
	token.Needs = map[string]string{"AuthorizerId": "a route with an authorization has an authorizer"}

	target2, other2 := ws.integration(), ws.integration()
	socket := ws.conforms(apigatewayv2.RouteType, "Route", "", 0)
	socket.Name += " WEBSOCKET"
	required := func(yes bool) value.Value { return value.OfMap(value.Map{"Required": value.Of(yes)}) }
	socket.Sample = func(n int) value.Map {
		return value.Map{"ApiId": value.Of(ws.id), "RouteKey": value.Of(fmt.Sprintf("kind%d", n)), "Target": value.Of(target2), "AuthorizationType": value.Of("AWS_IAM"),
			"ApiKeyRequired": value.Of(true), "ModelSelectionExpression": value.Of("$request.body.kind"), "RequestModels": pairs("entry", "Entry", "line", "Line"),
			"RequestParameters":                value.OfMap(value.Map{"route.request.querystring.q": required(true), "route.request.header.x": required(false)}),
			"RouteResponseSelectionExpression": value.Of("$default")}
	}
	socket.Changed = value.Map{"Target": value.Of(other2), "AuthorizationType": value.Of("NONE"), "ApiKeyRequired": value.Of(false),
		"ModelSelectionExpression": value.Of("$request.body.sort"), "RequestModels": pairs("entry", "Entry2", "page", "Page"),
		"RequestParameters":                value.OfMap(value.Map{"route.request.querystring.q": required(false), "route.request.querystring.r": required(true)}),
		"RouteResponseSelectionExpression": value.Of("$default2")}
	socket.Together = token.Together
	return []providertest.Case{token, socket}
}

func TestRoute(t *testing.T) {
	t.Run("awssim", func(t *testing.T) { providertest.Run(t, routeCases(t, providertest.Sim(t))...) })
	t.Run("moto", func(t *testing.T) {
		cases := routeCases(t, providertest.Moto(t))
		const keeps = "moto does not take an empty value for it"
		cases[0].Lacks = map[string]string{"Target": keeps, "AuthorizationScopes": keeps}
		cases[1].Lacks = map[string]string{"Target": keeps, "ModelSelectionExpression": keeps, "RequestModels": "moto keeps a model that was taken away"}
		for i := range cases {
			cases[i].Disagrees = map[string]string{secondCreate: "moto has as many routes with one key as were made"}
		}
		providertest.Run(t, cases...)
	})
}

// authorizerCases are a function's and one by tokens.
func authorizerCases(t *testing.T, b *providertest.Backend) []providertest.Case {
	http, second := newParent(t, b, "HTTP"), newParent(t, b, "HTTP")
	function := http.conforms(apigatewayv2.AuthorizerType, "Authorizer", "GetAuthorizers", 8)
	function.Name += " REQUEST"
	function.Sample = func(n int) value.Map {
		return value.Map{"ApiId": value.Of(http.id), "Name": value.Of(fmt.Sprintf("gate-%d", n)), "AuthorizerType": value.Of("REQUEST"),
			"AuthorizerUri": value.Of(fmt.Sprintf(functionURI, "gate")), "AuthorizerCredentialsArn": value.Of(roleARN), "AuthorizerPayloadFormatVersion": value.Of("2.0"),
			"AuthorizerResultTtlInSeconds": value.Of(77), "EnableSimpleResponses": value.Of(true), "IdentitySource": value.Of([]string{"$request.header.Auth", "$request.querystring.k"}),
			"IdentityValidationExpression": value.Of("[a-z]+")}
	}
	function.Changed = value.Map{"Name": value.Of("gate-renamed"), "AuthorizerUri": value.Of(fmt.Sprintf(functionURI, "door")), "AuthorizerCredentialsArn": value.Of(roleARN + "2"),
		"AuthorizerResultTtlInSeconds": value.Of(5), "EnableSimpleResponses": value.Of(false), "AuthorizerPayloadFormatVersion": value.Of("1.0"),
		"IdentitySource": value.Of([]string{"$request.header.Other"}), "IdentityValidationExpression": value.Of("[0-9]+")}
	function.With = map[string]value.Map{"AuthorizerPayloadFormatVersion": {"EnableSimpleResponses": value.Of(false)}}
	function.Needs = map[string]string{"IdentitySource": "answers are kept by it"}
	function.Keeps = map[string]string{"AuthorizerUri": stays, "AuthorizerPayloadFormatVersion": stays}
	function.FilledIn = value.Map{"AuthorizerResultTtlInSeconds": value.Of(300)}

	jwt := func(audience, issuer string) value.Value {
		return value.OfMap(value.Map{"Audience": value.Of([]string{audience}), "Issuer": value.Of(issuer)})
	}
	token := second.conforms(apigatewayv2.AuthorizerType, "Authorizer", "", 0)
	token.Name += " JWT"
	token.Sample = func(n int) value.Map {
		return value.Map{"ApiId": value.Of(second.id), "Name": value.Of(fmt.Sprintf("token-%d", n)), "AuthorizerType": value.Of("JWT"),
			"IdentitySource": value.Of([]string{"$request.header.Authorization"}), "JwtConfiguration": jwt("ledger", "https://issuer.example/a")}
	}
	token.Changed = value.Map{"JwtConfiguration": jwt("audit", "https://issuer.example/b"), "AuthorizerType": value.Of("REQUEST")}
	token.With = map[string]value.Map{"AuthorizerType": {"JwtConfiguration": {}, "AuthorizerUri": value.Of(fmt.Sprintf(functionURI, "gate")),
		"AuthorizerPayloadFormatVersion": value.Of("1.0")}}
	token.Keeps = map[string]string{"JwtConfiguration": stays}
	token.Needs = map[string]string{"IdentitySource": "a token stands somewhere"}
	return []providertest.Case{function, token}
}

func TestAuthorizer(t *testing.T) {
	t.Run("awssim", func(t *testing.T) { providertest.Run(t, authorizerCases(t, providertest.Sim(t))...) })
	t.Run("moto", func(t *testing.T) {
		cases := authorizerCases(t, providertest.Moto(t))
		for i := range cases {
			cases[i].Disagrees = map[string]string{secondCreate: "moto has as many authorizers with one name as were made",
				lookUp: "moto does not implement GetAuthorizers"}
		}
		providertest.Run(t, cases...)
	})
}

func served(kv ...any) value.Value {
	m := value.Map{}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i].(string)] = value.Of(kv[i+1])
	}
	return value.OfMap(m)
}

// stageCases are one that is deployed by hand, one by itself, and a WebSocket API's.
func stageCases(t *testing.T, b *providertest.Backend) []providertest.Case {
	http, ws := newParent(t, b, "HTTP"), newParent(t, b, "WEBSOCKET")
	http.route("GET /a")
	http.route("GET /b")
	first, second := http.deployment(), http.deployment()
	log := func(arn string) value.Value {
		return pairs("DestinationArn", arn, "Format", "$context.requestId $context.status")
	}
	tags := value.Of(map[string]string{"team": "ledger", "cost": "42"})
	byHand := http.conforms(apigatewayv2.StageType, "Stage", "GetStages", 8)
	byHand.Name += " by hand"
	byHand.Sample = func(n int) value.Map {
		return value.Map{"ApiId": value.Of(http.id), "StageName": value.Of(fmt.Sprintf("st-%03d", n)), "Description": value.Of("Takes entries"), "DeploymentId": value.Of(first),
			"AccessLogSettings": log(logARN), "DefaultRouteSettings": served("DetailedMetricsEnabled", true),
			"RouteSettings": value.OfMap(value.Map{
				"GET /a": served("DetailedMetricsEnabled", true, "ThrottlingBurstLimit", 7, "ThrottlingRateLimit", value.Num("12.5")),
				"GET /b": served("ThrottlingBurstLimit", 0)}),
			"StageVariables": pairs("table", "entries", "flag", "on"), "Tags": tags}
	}
	byHand.Changed = value.Map{"Description": value.Of("Gives entries"), "DeploymentId": value.Of(second), "AccessLogSettings": log(logARN + "-2"),
		"DefaultRouteSettings": served("DetailedMetricsEnabled", false, "ThrottlingBurstLimit", 3),
		"RouteSettings":        value.OfMap(value.Map{"GET /a": served("ThrottlingBurstLimit", 9)}),
		"StageVariables":       pairs("table", "lines", "mode", "fast"), "Tags": value.Of(map[string]string{"team": "audit", "stage": "test"})}
	byHand.Stranger = value.Map{"Tags": value.Of(map[string]string{"scanner": "seen"})}
	byHand.Keeps = map[string]string{"DeploymentId": "a stage keeps what was deployed"}
	byHand.FilledIn = value.Map{"DefaultRouteSettings": served("DetailedMetricsEnabled", false)}

	byItself := newParent(t, b, "HTTP").conforms(apigatewayv2.StageType, "Stage", "", 0)
	byItself.Name += " AutoDeploy"
	byItself.Sample = func(n int) value.Map {
		return value.Map{"ApiId": value.Of(byItself.Absent["ApiId"]), "StageName": value.Of(fmt.Sprintf("au-%03d", n)), "AutoDeploy": value.Of(true)}
	}
	byItself.Changed = value.Map{"AutoDeploy": value.Of(false)}

	socket := ws.conforms(apigatewayv2.StageType, "Stage", "", 0)
	socket.Name += " WEBSOCKET"
	socket.Sample = func(n int) value.Map {
		return value.Map{"ApiId": value.Of(ws.id), "StageName": value.Of(fmt.Sprintf("ws-%03d", n)), "ClientCertificateId": value.Of("cert1"),
			"DefaultRouteSettings": served("DataTraceEnabled", true, "DetailedMetricsEnabled", true, "LoggingLevel", "INFO")}
	}
	socket.Changed = value.Map{"ClientCertificateId": value.Of("cert2"),
		"DefaultRouteSettings": served("DataTraceEnabled", true, "DetailedMetricsEnabled", false, "LoggingLevel", "ERROR")}
	socket.FilledIn = value.Map{"DefaultRouteSettings": served("DataTraceEnabled", false, "DetailedMetricsEnabled", false, "LoggingLevel", "OFF")}
	return []providertest.Case{byHand, byItself, socket}
}

func TestStage(t *testing.T) {
	const noTags = "moto does not tag a stage by its ARN"
	t.Run("awssim", func(t *testing.T) { providertest.Run(t, stageCases(t, providertest.Sim(t))...) })
	t.Run("moto", func(t *testing.T) {
		cases := stageCases(t, providertest.Moto(t))
		cases[0].Lacks = map[string]string{"DeploymentId": "moto has no deployments, and drops it"}
		for i := range cases {
			cases[i].Disagrees = map[string]string{
				secondCreate: "moto overwrites a stage of the same name",
				"members that others added are never removed":                               noTags,
				"ownership tags are apart from params, and an adoption adds them":           noTags,
				"each mutable param is changed in place and alone":                          noUpdate,
				"a param that config no longer sets goes back to what the service fills in": noUpdate,
			}
		}
		providertest.Run(t, cases...)
	})
}
