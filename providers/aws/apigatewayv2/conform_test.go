package apigatewayv2_test

import (
	"fmt"
	"testing"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/apigatewayv2"
	"reclaim/providers/providertest"
)

func cors(origin string, age int) value.Value {
	return value.OfMap(value.Map{
		"AllowCredentials": value.Of(true),
		"AllowHeaders":     value.Of([]string{"X-Trace", "Content-Type"}),
		"AllowMethods":     value.Of([]string{"GET", "PUT"}),
		"AllowOrigins":     value.Of([]string{origin}),
		"ExposeHeaders":    value.Of([]string{"X-Next"}),
		"MaxAge":           value.Of(age),
	})
}

// httpCase sets what an HTTP API can have.
func httpCase(b *providertest.Backend) providertest.Case {
	return providertest.Case{
		Name:     b.Name + " HTTP",
		Provider: apigatewayv2.Providers(b.Session)[0],
		Sample: func(n int) value.Map {
			return value.Map{
				"Name":                      value.Of(fmt.Sprintf("ledger-%03d", n)),
				"ProtocolType":              value.Of("HTTP"),
				"Description":               value.Of("Takes entries"),
				"Version":                   value.Of("v7"),
				"CorsConfiguration":         cors("https://ledger.example", 300),
				"DisableExecuteApiEndpoint": value.Of(true),
				"IpAddressType":             value.Of("dualstack"),
				"Tags":                      value.Of(map[string]string{"team": "ledger", "cost": "42"}),
			}
		},
		Changed: value.Map{
			"Name":                      value.Of("ledger-renamed"),
			"Description":               value.Of("Takes and gives entries"),
			"Version":                   value.Of("v8"),
			"CorsConfiguration":         cors("https://audit.example", 0),
			"DisableExecuteApiEndpoint": value.Of(false),
			"IpAddressType":             value.Of("ipv4"),
			"Tags":                      value.Of(map[string]string{"team": "audit", "stage": "test"}),
		},
		Stranger: value.Map{"Tags": value.Of(map[string]string{"scanner": "seen"})},
		Absent:   resource.Key{"ApiId": "nobodyhere"},
		Busy:     "ConflictException", CreateOp: "CreateApi", DeleteOp: "DeleteApi", ReadOp: "GetApi", ListOp: "GetApis", Page: 25,
		Log: b.Log(), Break: b.Break(),
	}
}

// webSocketCase sets what a WebSocket API can have besides.
func webSocketCase(b *providertest.Backend) providertest.Case {
	c := httpCase(b)
	c.Name = b.Name + " WEBSOCKET"
	c.Sample = func(n int) value.Map {
		m := httpCase(b).Sample(n).Without("CorsConfiguration", "DisableExecuteApiEndpoint", "IpAddressType")
		m["ProtocolType"] = value.Of("WEBSOCKET")
		m["RouteSelectionExpression"] = value.Of("$request.body.action")
		m["ApiKeySelectionExpression"] = value.Of("$context.authorizer.usageIdentifierKey")
		m["DisableSchemaValidation"] = value.Of(true)
		return m
	}
	c.Changed = value.Map{
		"RouteSelectionExpression":  value.Of("$request.body.kind"),
		"ApiKeySelectionExpression": value.Of("$request.header.x-api-key"),
		"DisableSchemaValidation":   value.Of(false),
	}
	c.ListOp = "" // held by the other case
	return c
}

func TestAPI(t *testing.T) {
	t.Run("awssim", func(t *testing.T) {
		b := providertest.Sim(t)
		providertest.Run(t, httpCase(b), webSocketCase(b))
	})
	t.Run("moto", func(t *testing.T) {
		b := providertest.Moto(t)
		http, ws := httpCase(b), webSocketCase(b)
		http.Lacks = map[string]string{"IpAddressType": "moto does not keep it"}
		providertest.Run(t, http, ws)
	})
}
