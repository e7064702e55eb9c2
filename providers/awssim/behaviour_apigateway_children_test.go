package awssim

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	apigw "github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2/types"
)

var (
	apiConflict = refusal{"ConflictException", 409}
	apiQuota    = refusal{"ConflictException", 429}
	fnURI       = aws.String("arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/arn:aws:lambda:eu-west-1:123456789012:function:f/invocations")
	noID        = aws.String("none000")
)

// webSocket makes a WebSocket API.
func (k clients) webSocket() (*string, error) {
	out, err := k.api(func(in *apigw.CreateApiInput) {
		in.ProtocolType, in.RouteSelectionExpression = types.ProtocolTypeWebsocket, aws.String("$request.body.action")
	})
	if err != nil {
		return nil, err
	}
	return out.ApiId, nil
}

// toFunction makes an integration of a function in an HTTP API, changed by edit.
func (k clients) toFunction(api *string, edit func(*apigw.CreateIntegrationInput)) (*apigw.CreateIntegrationOutput, error) {
	in := &apigw.CreateIntegrationInput{ApiId: api, IntegrationType: types.IntegrationTypeAwsProxy, IntegrationUri: fnURI, PayloadFormatVersion: aws.String("2.0")}
	if edit != nil {
		edit(in)
	}
	return k.apis.CreateIntegration(k.ctx, in)
}

func (k clients) addRoute(api *string, key string, edit func(*apigw.CreateRouteInput)) (*apigw.CreateRouteOutput, error) {
	in := &apigw.CreateRouteInput{ApiId: api, RouteKey: &key}
	if edit != nil {
		edit(in)
	}
	return k.apis.CreateRoute(k.ctx, in)
}

// routed makes a route to a function and returns both.
func (k clients) routed(api *string, key string) (route, integration *string, err error) {
	i, err := k.toFunction(api, nil)
	if err != nil {
		return nil, nil, err
	}
	r, err := k.addRoute(api, key, func(in *apigw.CreateRouteInput) { in.Target = aws.String("integrations/" + *i.IntegrationId) })
	if err != nil {
		return nil, nil, err
	}
	return r.RouteId, i.IntegrationId, nil
}

func (k clients) tokens(api *string, name string, edit func(*apigw.CreateAuthorizerInput)) (*string, error) {
	in := &apigw.CreateAuthorizerInput{ApiId: api, Name: &name, AuthorizerType: types.AuthorizerTypeJwt, IdentitySource: []string{"$request.header.Authorization"},
		JwtConfiguration: &types.JWTConfiguration{Audience: []string{"a"}, Issuer: aws.String("https://issuer.example")}}
	if edit != nil {
		edit(in)
	}
	out, err := k.apis.CreateAuthorizer(k.ctx, in)
	if err != nil {
		return nil, err
	}
	return out.AuthorizerId, nil
}

func (k clients) stage(api *string, name string, edit func(*apigw.CreateStageInput)) error {
	in := &apigw.CreateStageInput{ApiId: api, StageName: &name}
	if edit != nil {
		edit(in)
	}
	_, err := k.apis.CreateStage(k.ctx, in)
	return err
}

// onSocket runs what comes after a plain WebSocket API was made.
func onSocket(then func(k clients, id *string) error) func(clients) (any, any, error) {
	return func(k clients) (any, any, error) {
		id, err := k.webSocket()
		if err == nil {
			err = then(k, id)
		}
		return nil, nil, err
	}
}

func integrationBehaviours() []behaviour {
	refusedBy := func(edit func(*apigw.CreateIntegrationInput)) func(clients) (any, any, error) {
		return onApi(func(k clients, id *string) error { _, err := k.toFunction(id, edit); return err })
	}
	return []behaviour{
		{claim: "an integration of an HTTP API is filled in with its timeout, method and connection", do: func(k clients) (any, any, error) {
			api, err := k.api(nil)
			if err != nil {
				return nil, nil, err
			}
			made, err := k.toFunction(api.ApiId, nil)
			if err != nil {
				return nil, nil, err
			}
			i, err := k.apis.GetIntegration(k.ctx, &apigw.GetIntegrationInput{ApiId: api.ApiId, IntegrationId: made.IntegrationId})
			if err != nil {
				return nil, nil, err
			}
			return []any{*i.TimeoutInMillis, *i.IntegrationMethod, string(i.ConnectionType), *i.PayloadFormatVersion, len(i.RequestParameters), i.Description == nil},
				[]any{int32(30000), "POST", "INTERNET", "2.0", 0, true}, nil
		}},
		{claim: "an integration of a WebSocket API is filled in with a shorter timeout and a pass-through", do: func(k clients) (any, any, error) {
			api, err := k.webSocket()
			if err != nil {
				return nil, nil, err
			}
			i, err := k.apis.CreateIntegration(k.ctx, &apigw.CreateIntegrationInput{ApiId: api, IntegrationType: types.IntegrationTypeMock})
			if err != nil {
				return nil, nil, err
			}
			return []any{*i.TimeoutInMillis, string(i.PassthroughBehavior), *i.IntegrationResponseSelectionExpression, aws.ToString(i.PayloadFormatVersion)},
				[]any{int32(29000), "WHEN_NO_MATCH", "${integration.response.statuscode}", "1.0"}, nil
		}},
		{claim: "a repeated integration is a second one", do: func(k clients) (any, any, error) {
			api, err := k.api(nil)
			if err != nil {
				return nil, nil, err
			}
			for range 2 {
				if _, err := k.toFunction(api.ApiId, nil); err != nil {
					return nil, nil, err
				}
			}
			list, err := k.apis.GetIntegrations(k.ctx, &apigw.GetIntegrationsInput{ApiId: api.ApiId})
			if err != nil {
				return nil, nil, err
			}
			return len(list.Items), 2, nil
		}},
		{claim: "children are listed page by page", do: func(k clients) (any, any, error) {
			api, err := k.api(nil)
			if err != nil {
				return nil, nil, err
			}
			for range 3 {
				if _, err := k.toFunction(api.ApiId, nil); err != nil {
					return nil, nil, err
				}
			}
			one, err := k.apis.GetIntegrations(k.ctx, &apigw.GetIntegrationsInput{ApiId: api.ApiId, MaxResults: aws.String("2")})
			if err != nil {
				return nil, nil, err
			}
			two, err := k.apis.GetIntegrations(k.ctx, &apigw.GetIntegrationsInput{ApiId: api.ApiId, MaxResults: aws.String("2"), NextToken: one.NextToken})
			if err != nil {
				return nil, nil, err
			}
			return []int{len(one.Items), len(two.Items)}, []int{2, 1}, nil
		}},
		{claim: "a request parameter that is set to nothing goes, and the others stay", do: func(k clients) (any, any, error) {
			api, err := k.api(nil)
			if err != nil {
				return nil, nil, err
			}
			i, err := k.toFunction(api.ApiId, func(in *apigw.CreateIntegrationInput) {
				in.RequestParameters = map[string]string{"append:header.a": "1", "append:header.b": "2"}
			})
			if err != nil {
				return nil, nil, err
			}
			up, err := k.apis.UpdateIntegration(k.ctx, &apigw.UpdateIntegrationInput{ApiId: api.ApiId, IntegrationId: i.IntegrationId,
				RequestParameters: map[string]string{"append:header.a": "", "append:header.c": "3"}})
			if err != nil {
				return nil, nil, err
			}
			return up.RequestParameters, map[string]string{"append:header.b": "2", "append:header.c": "3"}, nil
		}},
		{claim: "an integration in use is not deleted", refuse: apiConflict, do: onApi(func(k clients, id *string) error {
			_, i, err := k.routed(id, "GET /a")
			if err == nil {
				_, err = k.apis.DeleteIntegration(k.ctx, &apigw.DeleteIntegrationInput{ApiId: id, IntegrationId: i})
			}
			return err
		})},
		{claim: "a second delete of an integration finds nothing", refuse: noApi, do: onApi(func(k clients, id *string) error {
			i, err := k.toFunction(id, nil)
			for range 2 {
				if err == nil {
					_, err = k.apis.DeleteIntegration(k.ctx, &apigw.DeleteIntegrationInput{ApiId: id, IntegrationId: i.IntegrationId})
				}
			}
			return err
		})},
		{claim: "an integration in no API", refuse: noApi, do: alone(func(k clients) error { _, err := k.toFunction(noApiID, nil); return err })},
		{claim: "the integrations of no API", refuse: noApi, do: alone(func(k clients) error {
			_, err := k.apis.GetIntegrations(k.ctx, &apigw.GetIntegrationsInput{ApiId: noApiID})
			return err
		})},
		{claim: "an integration that is not there", refuse: noApi, do: onApi(func(k clients, id *string) error {
			_, err := k.apis.GetIntegration(k.ctx, &apigw.GetIntegrationInput{ApiId: id, IntegrationId: noID})
			return err
		})},
		{claim: "updating an integration that is not there", refuse: noApi, do: onApi(func(k clients, id *string) error {
			_, err := k.apis.UpdateIntegration(k.ctx, &apigw.UpdateIntegrationInput{ApiId: id, IntegrationId: noID})
			return err
		})},
		{claim: "an HTTP API's integration needs a payload format", refuse: badApi, do: refusedBy(func(in *apigw.CreateIntegrationInput) { in.PayloadFormatVersion = nil })},
		{claim: "an HTTP API has no mock integration", refuse: badApi, do: refusedBy(func(in *apigw.CreateIntegrationInput) { in.IntegrationType = types.IntegrationTypeMock })},
		{claim: "an HTTP API has no request templates", refuse: badApi, do: refusedBy(func(in *apigw.CreateIntegrationInput) { in.RequestTemplates = map[string]string{"a/b": "x"} })},
		{claim: "an integration's timeout is at least 50 ms", refuse: badApi, do: refusedBy(func(in *apigw.CreateIntegrationInput) { in.TimeoutInMillis = aws.Int32(49) })},
		{claim: "a private integration needs a link", refuse: badApi, do: refusedBy(func(in *apigw.CreateIntegrationInput) {
			in.IntegrationType, in.ConnectionType, in.PayloadFormatVersion, in.IntegrationMethod = types.IntegrationTypeHttpProxy, types.ConnectionTypeVpcLink, aws.String("1.0"), aws.String("GET")
		})},
		{claim: "a WebSocket API's integration may not take 30 seconds", refuse: badApi, do: onSocket(func(k clients, id *string) error {
			_, err := k.apis.CreateIntegration(k.ctx, &apigw.CreateIntegrationInput{ApiId: id, IntegrationType: types.IntegrationTypeMock, TimeoutInMillis: aws.Int32(30000)})
			return err
		})},
	}
}

func routeBehaviours() []behaviour {
	return []behaviour{
		{claim: "a route without options lets anyone call, and nothing is called", do: func(k clients) (any, any, error) {
			api, err := k.api(nil)
			if err != nil {
				return nil, nil, err
			}
			made, err := k.addRoute(api.ApiId, "$default", nil)
			if err != nil {
				return nil, nil, err
			}
			r, err := k.apis.GetRoute(k.ctx, &apigw.GetRouteInput{ApiId: api.ApiId, RouteId: made.RouteId})
			if err != nil {
				return nil, nil, err
			}
			return []any{*r.RouteKey, string(r.AuthorizationType), aws.ToBool(r.ApiKeyRequired), r.Target == nil, r.AuthorizerId == nil},
				[]any{"$default", "NONE", false, true, true}, nil
		}},
		{claim: "a second route with one key conflicts", refuse: apiConflict, do: onApi(func(k clients, id *string) error {
			_, err := k.addRoute(id, "GET /a", nil)
			if err == nil {
				_, err = k.addRoute(id, "GET /a", nil)
			}
			return err
		})},
		{claim: "a route's key changes in place, not to another route's", refuse: apiConflict, do: onApi(func(k clients, id *string) error {
			_, err := k.addRoute(id, "GET /a", nil)
			if err != nil {
				return err
			}
			b, err := k.addRoute(id, "GET /b", nil)
			if err != nil {
				return err
			}
			for _, key := range []string{"GET /c", "GET /a"} {
				if err == nil {
					_, err = k.apis.UpdateRoute(k.ctx, &apigw.UpdateRouteInput{ApiId: id, RouteId: b.RouteId, RouteKey: &key})
				}
			}
			return err
		})},
		{claim: "an authorizer comes with the type of authorization, or not at all", refuse: badApi, do: onApi(func(k clients, id *string) error {
			z, err := k.tokens(id, "z", nil)
			if err != nil {
				return err
			}
			r, err := k.addRoute(id, "GET /a", func(in *apigw.CreateRouteInput) {
				in.AuthorizationType, in.AuthorizerId = types.AuthorizationTypeJwt, z
			})
			if err == nil {
				_, err = k.apis.UpdateRoute(k.ctx, &apigw.UpdateRouteInput{ApiId: id, RouteId: r.RouteId, AuthorizerId: z})
			}
			return err
		})},
		{claim: "a route that anyone may call has no authorizer any more", do: func(k clients) (any, any, error) {
			api, err := k.api(nil)
			if err != nil {
				return nil, nil, err
			}
			z, err := k.tokens(api.ApiId, "z", nil)
			if err != nil {
				return nil, nil, err
			}
			r, err := k.addRoute(api.ApiId, "GET /a", func(in *apigw.CreateRouteInput) {
				in.AuthorizationType, in.AuthorizerId, in.AuthorizationScopes = types.AuthorizationTypeJwt, z, []string{"s"}
			})
			if err != nil {
				return nil, nil, err
			}
			up, err := k.apis.UpdateRoute(k.ctx, &apigw.UpdateRouteInput{ApiId: api.ApiId, RouteId: r.RouteId, AuthorizationType: types.AuthorizationTypeNone})
			if err != nil {
				return nil, nil, err
			}
			return []any{up.AuthorizerId == nil, len(up.AuthorizationScopes)}, []any{true, 0}, nil
		}},
		{claim: "a route to an integration that is not there is refused", refuse: badApi, do: onApi(func(k clients, id *string) error {
			_, err := k.addRoute(id, "GET /a", func(in *apigw.CreateRouteInput) { in.Target = aws.String("integrations/none000") })
			return err
		})},
		{claim: "a route with an authorizer that is not there is refused", refuse: badApi, do: onApi(func(k clients, id *string) error {
			_, err := k.addRoute(id, "GET /a", func(in *apigw.CreateRouteInput) {
				in.AuthorizationType, in.AuthorizerId = types.AuthorizationTypeJwt, noID
			})
			return err
		})},
		{claim: "an HTTP route's key is a method and a path", refuse: badApi, do: onApi(func(k clients, id *string) error { _, err := k.addRoute(id, "READ /a", nil); return err })},
		{claim: "a greedy variable ends a path", refuse: badApi, do: onApi(func(k clients, id *string) error { _, err := k.addRoute(id, "GET /{all+}/a", nil); return err })},
		{claim: "an HTTP route needs no API key", refuse: badApi, do: onApi(func(k clients, id *string) error {
			_, err := k.addRoute(id, "GET /a", func(in *apigw.CreateRouteInput) { in.ApiKeyRequired = aws.Bool(true) })
			return err
		})},
		{claim: "a request parameter is taken away by its own call", do: func(k clients) (any, any, error) {
			api, err := k.webSocket()
			if err != nil {
				return nil, nil, err
			}
			r, err := k.addRoute(api, "kind", func(in *apigw.CreateRouteInput) {
				in.RequestParameters = map[string]types.ParameterConstraints{"route.request.querystring.a": {Required: aws.Bool(true)}, "route.request.querystring.b": {Required: aws.Bool(false)}}
			})
			if err == nil {
				_, err = k.apis.DeleteRouteRequestParameter(k.ctx, &apigw.DeleteRouteRequestParameterInput{ApiId: api, RouteId: r.RouteId, RequestParameterKey: aws.String("route.request.querystring.a")})
			}
			if err != nil {
				return nil, nil, err
			}
			get, err := k.apis.GetRoute(k.ctx, &apigw.GetRouteInput{ApiId: api, RouteId: r.RouteId})
			if err != nil {
				return nil, nil, err
			}
			_, has := get.RequestParameters["route.request.querystring.b"]
			return []any{len(get.RequestParameters), has}, []any{1, true}, nil
		}},
		{claim: "a request parameter that is not there", refuse: noApi, do: onApi(func(k clients, id *string) error {
			r, err := k.addRoute(id, "GET /a", nil)
			if err == nil {
				_, err = k.apis.DeleteRouteRequestParameter(k.ctx, &apigw.DeleteRouteRequestParameterInput{ApiId: id, RouteId: r.RouteId, RequestParameterKey: aws.String("route.request.querystring.a")})
			}
			return err
		})},
		{claim: "the routes of an API are listed", do: func(k clients) (any, any, error) {
			api, err := k.api(nil)
			if err != nil {
				return nil, nil, err
			}
			if _, _, err := k.routed(api.ApiId, "GET /a"); err != nil {
				return nil, nil, err
			}
			list, err := k.apis.GetRoutes(k.ctx, &apigw.GetRoutesInput{ApiId: api.ApiId})
			if err != nil || len(list.Items) != 1 {
				return nil, "one route", err
			}
			return []any{*list.Items[0].RouteKey, strings.HasPrefix(*list.Items[0].Target, "integrations/")}, []any{"GET /a", true}, nil
		}},
		{claim: "a second delete of a route finds nothing", refuse: noApi, do: onApi(func(k clients, id *string) error {
			r, err := k.addRoute(id, "GET /a", nil)
			for range 2 {
				if err == nil {
					_, err = k.apis.DeleteRoute(k.ctx, &apigw.DeleteRouteInput{ApiId: id, RouteId: r.RouteId})
				}
			}
			return err
		})},
		{claim: "the routes of no API", refuse: noApi, do: alone(func(k clients) error {
			_, err := k.apis.GetRoutes(k.ctx, &apigw.GetRoutesInput{ApiId: noApiID})
			return err
		})},
		{claim: "a route that is not there", refuse: noApi, do: onApi(func(k clients, id *string) error {
			_, err := k.apis.GetRoute(k.ctx, &apigw.GetRouteInput{ApiId: id, RouteId: noID})
			return err
		})},
	}
}

func authorizerBehaviours() []behaviour {
	asksFunction := func(in *apigw.CreateAuthorizerInput) {
		in.AuthorizerType, in.JwtConfiguration, in.AuthorizerUri, in.AuthorizerPayloadFormatVersion = types.AuthorizerTypeRequest, nil, fnURI, aws.String("2.0")
	}
	return []behaviour{
		{claim: "an authorizer by tokens comes back with its issuer", do: func(k clients) (any, any, error) {
			api, err := k.api(nil)
			if err != nil {
				return nil, nil, err
			}
			id, err := k.tokens(api.ApiId, "z", nil)
			if err != nil {
				return nil, nil, err
			}
			z, err := k.apis.GetAuthorizer(k.ctx, &apigw.GetAuthorizerInput{ApiId: api.ApiId, AuthorizerId: id})
			if err != nil {
				return nil, nil, err
			}
			return []any{*z.Name, string(z.AuthorizerType), z.IdentitySource, z.JwtConfiguration.Audience, *z.JwtConfiguration.Issuer, z.AuthorizerUri == nil},
				[]any{"z", "JWT", []string{"$request.header.Authorization"}, []string{"a"}, "https://issuer.example", true}, nil
		}},
		{claim: "a function's answers are kept for 300 s where an identity source is given, and its URI comes back", do: func(k clients) (any, any, error) {
			api, err := k.api(nil)
			if err != nil {
				return nil, nil, err
			}
			id, err := k.tokens(api.ApiId, "z", asksFunction)
			if err != nil {
				return nil, nil, err
			}
			z, err := k.apis.GetAuthorizer(k.ctx, &apigw.GetAuthorizerInput{ApiId: api.ApiId, AuthorizerId: id})
			if err != nil {
				return nil, nil, err
			}
			return []any{*z.AuthorizerUri, *z.AuthorizerResultTtlInSeconds, aws.ToBool(z.EnableSimpleResponses)}, []any{*fnURI, int32(300), false}, nil
		}},
		{claim: "a second authorizer of one name is a bad request", refuse: badApi, do: onApi(func(k clients, id *string) error {
			_, err := k.tokens(id, "z", nil)
			if err == nil {
				_, err = k.tokens(id, "z", nil)
			}
			return err
		})},
		{claim: "an authorizer in use is not deleted", refuse: apiConflict, do: onApi(func(k clients, id *string) error {
			z, err := k.tokens(id, "z", nil)
			if err == nil {
				_, err = k.addRoute(id, "GET /a", func(in *apigw.CreateRouteInput) {
					in.AuthorizationType, in.AuthorizerId = types.AuthorizationTypeJwt, z
				})
			}
			if err == nil {
				_, err = k.apis.DeleteAuthorizer(k.ctx, &apigw.DeleteAuthorizerInput{ApiId: id, AuthorizerId: z})
			}
			return err
		})},
		{claim: "an authorizer is updated, listed and deleted", do: func(k clients) (any, any, error) {
			api, err := k.api(nil)
			if err != nil {
				return nil, nil, err
			}
			id, err := k.tokens(api.ApiId, "z", nil)
			if err == nil {
				_, err = k.apis.UpdateAuthorizer(k.ctx, &apigw.UpdateAuthorizerInput{ApiId: api.ApiId, AuthorizerId: id, Name: aws.String("y")})
			}
			if err != nil {
				return nil, nil, err
			}
			list, err := k.apis.GetAuthorizers(k.ctx, &apigw.GetAuthorizersInput{ApiId: api.ApiId})
			if err != nil {
				return nil, nil, err
			}
			if _, err = k.apis.DeleteAuthorizer(k.ctx, &apigw.DeleteAuthorizerInput{ApiId: api.ApiId, AuthorizerId: id}); err != nil {
				return nil, nil, err
			}
			after, err := k.apis.GetAuthorizers(k.ctx, &apigw.GetAuthorizersInput{ApiId: api.ApiId})
			if err != nil {
				return nil, nil, err
			}
			return []any{*list.Items[0].Name, len(after.Items)}, []any{"y", 0}, nil
		}},
		{claim: "an eleventh authorizer exceeds the quota", refuse: apiQuota, do: onApi(func(k clients, id *string) error {
			for n := range 11 {
				if _, err := k.tokens(id, fmt.Sprint("z", n), nil); err != nil {
					return err
				}
			}
			return nil
		})},
		{claim: "an authorizer by tokens without an issuer is refused", refuse: badApi, do: onApi(func(k clients, id *string) error {
			_, err := k.tokens(id, "z", func(in *apigw.CreateAuthorizerInput) { in.JwtConfiguration = nil })
			return err
		})},
		{claim: "a WebSocket API takes no tokens", refuse: badApi, do: onSocket(func(k clients, id *string) error { _, err := k.tokens(id, "z", nil); return err })},
		{claim: "a function that authorizes an HTTP API needs a payload format", refuse: badApi, do: onApi(func(k clients, id *string) error {
			_, err := k.tokens(id, "z", func(in *apigw.CreateAuthorizerInput) { asksFunction(in); in.AuthorizerPayloadFormatVersion = nil })
			return err
		})},
		{claim: "the authorizers of no API", refuse: noApi, do: alone(func(k clients) error {
			_, err := k.apis.GetAuthorizers(k.ctx, &apigw.GetAuthorizersInput{ApiId: noApiID})
			return err
		})},
		{claim: "an authorizer that is not there", refuse: noApi, do: onApi(func(k clients, id *string) error {
			_, err := k.apis.GetAuthorizer(k.ctx, &apigw.GetAuthorizerInput{ApiId: id, AuthorizerId: noID})
			return err
		})},
		{claim: "updating an authorizer that is not there", refuse: noApi, do: onApi(func(k clients, id *string) error {
			_, err := k.apis.UpdateAuthorizer(k.ctx, &apigw.UpdateAuthorizerInput{ApiId: id, AuthorizerId: noID})
			return err
		})},
	}
}
