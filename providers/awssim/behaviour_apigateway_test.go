package awssim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	apigw "github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2/types"
)

var (
	noApi      = refusal{"NotFoundException", 404}
	badApi     = refusal{"BadRequestException", 400}
	noApiID    = aws.String("none000000")
	noApiARN   = aws.String("arn:aws:apigateway:eu-west-1::/apis/none000000")
	corsSample = &types.Cors{AllowHeaders: []string{"Content-Type", "X-Custom"}, AllowMethods: []string{"GET", "POST"},
		AllowOrigins: []string{"https://example.com"}, ExposeHeaders: []string{"X-Seen"}, MaxAge: aws.Int32(600), AllowCredentials: aws.Bool(true)}
)

// api makes an HTTP API, changed by edit.
func (k clients) api(edit func(*apigw.CreateApiInput)) (*apigw.CreateApiOutput, error) {
	in := &apigw.CreateApiInput{Name: aws.String(k.name("a")), ProtocolType: types.ProtocolTypeHttp}
	if edit != nil {
		edit(in)
	}
	return k.apis.CreateApi(k.ctx, in)
}

func createsApi(edit func(*apigw.CreateApiInput)) func(clients) (any, any, error) {
	return func(k clients) (any, any, error) {
		_, err := k.api(edit)
		return nil, nil, err
	}
}

// onApi runs what comes after a plain API was made.
func onApi(then func(k clients, id *string) error) func(clients) (any, any, error) {
	return func(k clients) (any, any, error) {
		out, err := k.api(nil)
		if err == nil {
			err = then(k, out.ApiId)
		}
		return nil, nil, err
	}
}

func apiARN(id *string) *string {
	return aws.String("arn:aws:apigateway:" + region + "::/apis/" + *id)
}

func apiBehaviours() []behaviour {
	return []behaviour{
		{claim: "an API comes back with all that it was created with", do: wholeApi},
		{claim: "an API without options has the service's defaults and no more", do: bareApi},
		{claim: "a second API of the same name is another API", do: func(k clients) (any, any, error) {
			name := aws.String(k.name("twin"))
			ids := map[string]bool{}
			for range 2 {
				out, err := k.api(func(in *apigw.CreateApiInput) { in.Name = name })
				if err != nil {
					return nil, nil, err
				}
				ids[*out.ApiId] = true
			}
			return len(ids), 2, nil
		}},
		{claim: "an API's ID is ten lower-case letters and digits", do: func(k clients) (any, any, error) {
			out, err := k.api(nil)
			if err != nil {
				return nil, nil, err
			}
			return []any{len(*out.ApiId), strings.Trim(*out.ApiId, "abcdefghijklmnopqrstuvwxyz0123456789")}, []any{10, ""}, nil
		}},
		{claim: "CORS header names come back in lower case, methods as sent", do: corsAsRead},
		{claim: "an empty CORS configuration is not the same as none", do: func(k clients) (any, any, error) {
			with, err := k.api(func(in *apigw.CreateApiInput) { in.CorsConfiguration = &types.Cors{} })
			if err != nil {
				return nil, nil, err
			}
			without, err := k.api(nil)
			if err != nil {
				return nil, nil, err
			}
			return []bool{with.CorsConfiguration != nil, without.CorsConfiguration != nil}, []bool{true, false}, nil
		}},
		{claim: "a WebSocket API has a wss endpoint and its own selection expression", do: func(k clients) (any, any, error) {
			out, err := k.api(func(in *apigw.CreateApiInput) {
				in.ProtocolType, in.RouteSelectionExpression = types.ProtocolTypeWebsocket, aws.String("$request.body.action")
			})
			if err != nil {
				return nil, nil, err
			}
			return []string{*out.ApiEndpoint, *out.RouteSelectionExpression},
				[]string{"wss://" + *out.ApiId + ".execute-api.eu-west-1.amazonaws.com", "$request.body.action"}, nil
		}},
		{claim: "a WebSocket API without a selection expression is refused", refuse: badApi,
			do: createsApi(func(in *apigw.CreateApiInput) { in.ProtocolType = types.ProtocolTypeWebsocket })},
		{claim: "a WebSocket API has no CORS", refuse: badApi, do: createsApi(func(in *apigw.CreateApiInput) {
			in.ProtocolType, in.RouteSelectionExpression, in.CorsConfiguration = types.ProtocolTypeWebsocket, aws.String("$request.body.action"), corsSample
		})},
		{claim: "an HTTP API selects by method and path only", refuse: badApi,
			do: createsApi(func(in *apigw.CreateApiInput) { in.RouteSelectionExpression = aws.String("$request.body.action") })},
		{claim: "an unknown protocol is refused", refuse: badApi, do: createsApi(func(in *apigw.CreateApiInput) { in.ProtocolType = "SMTP" })},
		{claim: "a name of 129 characters is refused", refuse: badApi,
			do: createsApi(func(in *apigw.CreateApiInput) { in.Name = aws.String(strings.Repeat("x", 129)) })},
		{claim: "a CORS age over a day is refused", refuse: badApi,
			do: createsApi(func(in *apigw.CreateApiInput) { in.CorsConfiguration = &types.Cors{MaxAge: aws.Int32(86401)} })},
		{claim: "CORS with credentials for every origin is refused", refuse: badApi, do: createsApi(func(in *apigw.CreateApiInput) {
			in.CorsConfiguration = &types.Cors{AllowCredentials: aws.Bool(true), AllowOrigins: []string{"*"}}
		})},
		{claim: "a CORS origin without a scheme is refused", refuse: badApi,
			do: createsApi(func(in *apigw.CreateApiInput) {
				in.CorsConfiguration = &types.Cors{AllowOrigins: []string{"example.com"}}
			})},
		{claim: "a caller cannot create an API with an aws: tag", refuse: badApi,
			do: createsApi(func(in *apigw.CreateApiInput) { in.Tags = map[string]string{"aws:x": "v"} })},
		{claim: "APIs are listed page by page, twins too", do: listApis},
		{claim: "a token that no page gave is refused", refuse: badApi, do: alone(func(k clients) error {
			_, err := k.apis.GetApis(k.ctx, &apigw.GetApisInput{NextToken: aws.String("guessed")})
			return err
		})},
		{claim: "an update changes what is sent, leaves what is not, and takes away what is empty", do: updateApi},
		{claim: "an update replaces the whole CORS configuration", do: func(k clients) (any, any, error) {
			out, err := k.api(func(in *apigw.CreateApiInput) { in.CorsConfiguration = corsSample })
			if err != nil {
				return nil, nil, err
			}
			up, err := k.apis.UpdateApi(k.ctx, &apigw.UpdateApiInput{ApiId: out.ApiId, CorsConfiguration: &types.Cors{AllowMethods: []string{"PUT"}}})
			if err != nil || up.CorsConfiguration == nil {
				return nil, "a CORS configuration", err
			}
			return []any{up.CorsConfiguration.AllowMethods, len(up.CorsConfiguration.AllowHeaders)}, []any{[]string{"PUT"}, 0}, nil
		}},
		{claim: "an update with a bad value changes nothing", refuse: badApi, do: onApi(func(k clients, id *string) error {
			_, err := k.apis.UpdateApi(k.ctx, &apigw.UpdateApiInput{ApiId: id, CorsConfiguration: &types.Cors{MaxAge: aws.Int32(-2)}})
			return err
		})},
		{claim: "CORS is taken away by its own call", do: func(k clients) (any, any, error) {
			out, err := k.api(func(in *apigw.CreateApiInput) { in.CorsConfiguration = corsSample })
			if err == nil {
				_, err = k.apis.DeleteCorsConfiguration(k.ctx, &apigw.DeleteCorsConfigurationInput{ApiId: out.ApiId})
			}
			if err != nil {
				return nil, nil, err
			}
			get, err := k.apis.GetApi(k.ctx, &apigw.GetApiInput{ApiId: out.ApiId})
			if err != nil {
				return nil, nil, err
			}
			return get.CorsConfiguration == nil, true, nil
		}},
		{claim: "API tags are set, replaced, removed and read", do: apiTagLife},
		{claim: "an aws: tag cannot be put on an API", refuse: badApi, do: onApi(func(k clients, id *string) error {
			_, err := k.apis.TagResource(k.ctx, &apigw.TagResourceInput{ResourceArn: apiARN(id), Tags: map[string]string{"aws:x": "v"}})
			return err
		})},
		{claim: "what is no API Gateway ARN cannot be tagged", refuse: badApi, do: alone(func(k clients) error {
			_, err := k.apis.TagResource(k.ctx, &apigw.TagResourceInput{ResourceArn: aws.String("arn:aws:s3:::b"), Tags: map[string]string{"k": "v"}})
			return err
		})},
		{claim: "a second delete of an API finds nothing", refuse: noApi, do: onApi(func(k clients, id *string) error {
			_, err := k.apis.DeleteApi(k.ctx, &apigw.DeleteApiInput{ApiId: id})
			if err == nil {
				_, err = k.apis.DeleteApi(k.ctx, &apigw.DeleteApiInput{ApiId: id})
			}
			return err
		})},
		{claim: "an API that is not there", refuse: noApi, do: alone(func(k clients) error {
			_, err := k.apis.GetApi(k.ctx, &apigw.GetApiInput{ApiId: noApiID})
			return err
		})},
		{claim: "updating an API that is not there", refuse: noApi, do: alone(func(k clients) error {
			_, err := k.apis.UpdateApi(k.ctx, &apigw.UpdateApiInput{ApiId: noApiID})
			return err
		})},
		{claim: "taking CORS from an API that is not there", refuse: noApi, do: alone(func(k clients) error {
			_, err := k.apis.DeleteCorsConfiguration(k.ctx, &apigw.DeleteCorsConfigurationInput{ApiId: noApiID})
			return err
		})},
		{claim: "reading the tags of an API that is not there", refuse: noApi, do: alone(func(k clients) error {
			_, err := k.apis.GetTags(k.ctx, &apigw.GetTagsInput{ResourceArn: noApiARN})
			return err
		})},
		{claim: "untagging an API that is not there", refuse: noApi, do: alone(func(k clients) error {
			_, err := k.apis.UntagResource(k.ctx, &apigw.UntagResourceInput{ResourceArn: noApiARN, TagKeys: []string{"k"}})
			return err
		})},
	}
}

func wholeApi(k clients) (any, any, error) {
	name := k.name("whole")
	made, err := k.api(func(in *apigw.CreateApiInput) {
		in.Name, in.Description, in.Version, in.DisableExecuteApiEndpoint = &name, aws.String("orders"), aws.String("1"), aws.Bool(true)
		in.IpAddressType, in.Tags = types.IpAddressTypeDualstack, map[string]string{"reclaim:nonce": "n1"}
	})
	if err != nil {
		return nil, nil, err
	}
	out, err := k.apis.GetApi(k.ctx, &apigw.GetApiInput{ApiId: made.ApiId})
	if err != nil {
		return nil, nil, err
	}
	return []any{*out.Name, *out.Description, *out.Version, aws.ToBool(out.DisableExecuteApiEndpoint), string(out.IpAddressType), out.Tags, *out.ApiEndpoint,
			string(out.ProtocolType), out.CreatedDate.IsZero()},
		[]any{name, "orders", "1", true, "dualstack", map[string]string{"reclaim:nonce": "n1"},
			"https://" + *made.ApiId + ".execute-api.eu-west-1.amazonaws.com", "HTTP", false}, nil
}

func bareApi(k clients) (any, any, error) {
	made, err := k.api(nil)
	if err != nil {
		return nil, nil, err
	}
	out, err := k.apis.GetApi(k.ctx, &apigw.GetApiInput{ApiId: made.ApiId})
	if err != nil {
		return nil, nil, err
	}
	return []any{*out.ApiKeySelectionExpression, *out.RouteSelectionExpression, aws.ToBool(out.DisableExecuteApiEndpoint), string(out.IpAddressType),
			out.Description == nil, out.Version == nil, out.CorsConfiguration == nil, out.DisableSchemaValidation == nil, len(out.Tags)},
		[]any{"$request.header.x-api-key", "$request.method $request.path", false, "ipv4", true, true, true, true, 0}, nil
}

func corsAsRead(k clients) (any, any, error) {
	made, err := k.api(func(in *apigw.CreateApiInput) { in.CorsConfiguration = corsSample })
	if err != nil {
		return nil, nil, err
	}
	out, err := k.apis.GetApi(k.ctx, &apigw.GetApiInput{ApiId: made.ApiId})
	if err != nil || out.CorsConfiguration == nil {
		return nil, "a CORS configuration", err
	}
	c := out.CorsConfiguration
	return []any{c.AllowHeaders, c.AllowMethods, c.AllowOrigins, c.ExposeHeaders, *c.MaxAge, *c.AllowCredentials},
		[]any{[]string{"content-type", "x-custom"}, []string{"GET", "POST"}, []string{"https://example.com"}, []string{"x-seen"}, int32(600), true}, nil
}

func listApis(k clients) (any, any, error) {
	name := k.name("listed")
	want := map[string]bool{}
	for range 5 {
		out, err := k.api(func(in *apigw.CreateApiInput) { in.Name = &name })
		if err != nil {
			return nil, nil, err
		}
		want[*out.ApiId] = true
	}
	got := map[string]bool{}
	var token *string
	largest := 0
	for {
		out, err := k.apis.GetApis(k.ctx, &apigw.GetApisInput{MaxResults: aws.String("2"), NextToken: token})
		if err != nil {
			return nil, nil, err
		}
		largest = max(largest, len(out.Items))
		for _, a := range out.Items {
			if *a.Name == name {
				got[*a.ApiId] = true
			}
		}
		if token = out.NextToken; token == nil {
			break
		}
	}
	return []any{maps.Equal(got, want), largest}, []any{true, 2}, nil
}

func updateApi(k clients) (any, any, error) {
	made, err := k.api(func(in *apigw.CreateApiInput) {
		in.Description, in.Version, in.CorsConfiguration = aws.String("old"), aws.String("1"), corsSample
	})
	if err == nil {
		_, err = k.apis.UpdateApi(k.ctx, &apigw.UpdateApiInput{ApiId: made.ApiId, Name: aws.String("renamed"), Description: aws.String("")})
	}
	if err != nil {
		return nil, nil, err
	}
	out, err := k.apis.GetApi(k.ctx, &apigw.GetApiInput{ApiId: made.ApiId})
	if err != nil {
		return nil, nil, err
	}
	return []any{*out.Name, aws.ToString(out.Description), aws.ToString(out.Version), out.CorsConfiguration != nil}, []any{"renamed", "", "1", true}, nil
}

func apiTagLife(k clients) (any, any, error) {
	made, err := k.api(func(in *apigw.CreateApiInput) { in.Tags = map[string]string{"a": "old", "gone": "x", "also gone": "y"} })
	if err == nil {
		_, err = k.apis.TagResource(k.ctx, &apigw.TagResourceInput{ResourceArn: apiARN(made.ApiId), Tags: map[string]string{"a": "new"}})
	}
	if err == nil {
		_, err = k.apis.UntagResource(k.ctx, &apigw.UntagResourceInput{ResourceArn: apiARN(made.ApiId), TagKeys: []string{"gone", "also gone"}})
	}
	if err != nil {
		return nil, nil, err
	}
	tags, err := k.apis.GetTags(k.ctx, &apigw.GetTagsInput{ResourceArn: apiARN(made.ApiId)})
	if err != nil {
		return nil, nil, err
	}
	get, err := k.apis.GetApi(k.ctx, &apigw.GetApiInput{ApiId: made.ApiId})
	if err != nil {
		return nil, nil, err
	}
	return fmt.Sprint(tags.Tags, slices.Sorted(maps.Keys(get.Tags))), "map[a:new] [a]", nil
}
