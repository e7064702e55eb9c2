package lambda_test

import (
	"fmt"
	"testing"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/lambda"
	"reclaim/providers/providertest"
)

// plainFunction makes a function with little more than its name, and waits until it takes changes.
func plainFunction(t *testing.T, b *providertest.Backend, runs value.Value, name string) resource.Key {
	t.Helper()
	p := lambda.Providers(b.Session)[0]
	params, err := p.(resource.Expander).Expand(t.Context(), value.Map{"FunctionName": value.Of(name), "Role": runs, "Runtime": value.Of("python3.12"),
		"Handler": value.Of("index.handler"), "Code": object(map[string]any{"ZipFile": sourceCode})})
	if err != nil {
		t.Fatal(err)
	}
	key := resource.Key{"FunctionName": name}
	if _, err := p.Create(t.Context(), resource.Create{Key: key, Params: params}); err != nil {
		t.Fatalf("create function: %v", err)
	}
	settle(t, p, key)
	return key
}

// gatewayCase is a service that may call for one API of an account.
func gatewayCase(b *providertest.Backend) providertest.Case {
	return providertest.Case{
		Name:     b.Name + " service",
		Provider: lambda.Providers(b.Session)[1],
		Sample: func(n int) value.Map {
			return value.Map{
				"FunctionName":     value.Of("ledger"),
				"Action":           value.Of("lambda:InvokeFunction"),
				"Principal":        value.Of("apigateway.amazonaws.com"),
				"SourceArn":        value.Of(fmt.Sprintf("arn:aws:execute-api:eu-west-1:111122223333:api%03d/*/*/entries", n)),
				"SourceAccount":    value.Of("111122223333"),
				"EventSourceToken": value.Of("token.1"),
			}
		},
		Absent:   resource.Key{"FunctionName": "ledger", "Id": "reclaim-nobody"},
		CreateOp: "AddPermission", DeleteOp: "RemovePermission", ReadOp: "GetPolicy", ListOp: "GetPolicy", Page: 3,
		Log: b.Log(), Break: b.Break(),
	}
}

// organisationCase is everybody of an organization.
func organisationCase(b *providertest.Backend) providertest.Case {
	c := gatewayCase(b)
	c.Name, c.ListOp = b.Name+" organization", ""
	c.Sample = func(int) value.Map {
		return value.Map{"FunctionName": value.Of("ledger"), "Action": value.Of("lambda:InvokeFunction"), "Principal": value.Of("*"),
			"PrincipalOrgID": value.Of("o-0a1b2c3d4e"), "InvokedViaFunctionUrl": value.Of(true)}
	}
	return c
}

// urlCase is an account that may call the function's URL, the account named by its root.
func urlCase(b *providertest.Backend) providertest.Case {
	c := gatewayCase(b)
	c.Name, c.ListOp = b.Name+" url", ""
	c.Sample = func(int) value.Map {
		return value.Map{"FunctionName": value.Of("arn:aws:lambda:eu-west-1:111122223333:function:ledger"), "Action": value.Of("lambda:InvokeFunctionUrl"),
			"Principal": value.Of("arn:aws:iam::444455556666:root"), "FunctionUrlAuthType": value.Of("AWS_IAM")}
	}
	return c
}

func TestPermission(t *testing.T) {
	t.Run("awssim", func(t *testing.T) {
		b := providertest.Sim(t)
		plainFunction(t, b, role(t, b, "ledger-worker"), "ledger")
		providertest.Run(t, gatewayCase(b), organisationCase(b), urlCase(b))
	})
	t.Run("moto", func(t *testing.T) {
		b := providertest.Moto(t)
		plainFunction(t, b, role(t, b, "ledger-worker"), "ledger")
		gateway, organisation, url := gatewayCase(b), organisationCase(b), urlCase(b)
		lacks := map[string]string{"EventSourceToken": "moto drops it", "InvokedViaFunctionUrl": "moto writes it as no condition",
			"FunctionUrlAuthType": "moto writes it as no condition"}
		twice := map[string]string{createTwice: "moto takes a statement ID a second time"}
		for _, c := range []*providertest.Case{&gateway, &organisation, &url} {
			c.Lacks, c.Disagrees = lacks, twice
		}
		providertest.Run(t, gateway, organisation, url)
	})
}

const createTwice = "a second create of the same key is refused and changes nothing, succeeds where the type says Upsert, or makes another object where the service assigns the key"
