package iam_test

import (
	"fmt"
	"testing"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/iam"
	"reclaim/providers/providertest"
)

func doc(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func trustOf(t testing.TB, service string) value.Value {
	return doc(t, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"`+service+`"},"Action":"sts:AssumeRole"}]}`)
}

func allow(t testing.TB, action, res string) value.Value {
	return doc(t, `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"`+action+`","Resource":"`+res+`"}]}`)
}

func inline(t testing.TB, name, action string) value.Value {
	return value.OfMap(value.Map{"PolicyName": value.Of(name), "PolicyDocument": allow(t, action, "arn:aws:s3:::ledger/*")})
}

func tag(name, text string) value.Value {
	return value.Of(map[string]string{"Key": name, "Value": text})
}

const managed = "arn:aws:iam::aws:policy/"

// roleCase sets every param of a role.
func roleCase(t *testing.T, b *providertest.Backend) providertest.Case {
	return providertest.Case{
		Name:     b.Name,
		Provider: iam.Providers(b.Session)[0],
		Sample: func(n int) value.Map {
			return value.Map{
				"RoleName":                 value.Of(fmt.Sprintf("ledger-worker-%03d", n)),
				"Path":                     value.Of("/ledger/"),
				"AssumeRolePolicyDocument": trustOf(t, "lambda.amazonaws.com"),
				"Description":              value.Of("Writes the ledger"),
				"MaxSessionDuration":       value.Of(7200),
				"ManagedPolicyArns":        value.Of([]string{managed + "ReadOnlyAccess"}),
				"PermissionsBoundary":      value.Of(managed + "PowerUserAccess"),
				"Policies":                 value.ListOf(inline(t, "write", "s3:PutObject"), inline(t, "read", "s3:GetObject")),
				"Tags":                     value.ListOf(tag("team", "ledger"), tag("cost", "42")),
			}
		},
		Changed: value.Map{
			"AssumeRolePolicyDocument": trustOf(t, "ecs-tasks.amazonaws.com"),
			"Description":              value.Of("Writes and reads the ledger"),
			"MaxSessionDuration":       value.Of(10800),
			"ManagedPolicyArns":        value.Of([]string{managed + "SecurityAudit"}),
			"PermissionsBoundary":      value.Of(managed + "ReadOnlyAccess"),
			"Policies":                 value.ListOf(inline(t, "write", "s3:DeleteObject"), inline(t, "list", "s3:ListBucket")),
			"Tags":                     value.ListOf(tag("team", "audit"), tag("stage", "test")),
		},
		Stranger: value.Map{
			"ManagedPolicyArns": value.Of([]string{managed + "SecurityAudit"}),
			"Policies":          value.ListOf(inline(t, "theirs", "s3:GetBucketAcl")),
			"Tags":              value.ListOf(tag("scanner", "seen")),
		},
		Together: []string{"Description", "MaxSessionDuration"},
		Absent:   resource.Key{"RoleName": "nobody-here"},
		Busy:     "ConcurrentModification", CreateOp: "CreateRole", DeleteOp: "DeleteRole", ReadOp: "GetRole", ListOp: "ListRoles", Page: 100,
		Parts: map[string]string{
			"ListRoleTags": "Tags", "ListRolePolicies": "Policies", "GetRolePolicy": "Policies", "ListAttachedRolePolicies": "ManagedPolicyArns",
		},
		Log: b.Log(), Break: b.Break(),
	}
}

func TestRole(t *testing.T) {
	t.Run("awssim", func(t *testing.T) { providertest.Run(t, roleCase(t, providertest.Sim(t))) })
	t.Run("moto", func(t *testing.T) {
		c := roleCase(t, providertest.Moto(t))
		c.Page = 5 // slow: a full page takes moto ten seconds
		providertest.Run(t, c)
	})
}
