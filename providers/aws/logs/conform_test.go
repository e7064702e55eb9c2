package logs_test

import (
	"fmt"
	"testing"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/logs"
	"reclaim/providers/providertest"
)

func tag(name, text string) value.Value {
	return value.Of(map[string]string{"Key": name, "Value": text})
}

func key(n int) string {
	return fmt.Sprintf("arn:aws:kms:eu-west-1:111122223333:key/0f0e0d0c-0000-4000-8000-%012d", n)
}

func masks(identifier string) value.Value {
	arn := "arn:aws:dataprotection::aws:data-identifier/" + identifier
	return value.Of(map[string]any{"Name": "mask", "Version": "2021-06-01", "Statement": []any{
		map[string]any{"Sid": "audit", "DataIdentifier": []any{arn}, "Operation": map[string]any{"Audit": map[string]any{"FindingsDestination": map[string]any{}}}},
		map[string]any{"Sid": "redact", "DataIdentifier": []any{arn}, "Operation": map[string]any{"Deidentify": map[string]any{"MaskConfig": map[string]any{}}}},
	}})
}

// groupCase sets what a group of the standard class can have.
func groupCase(b *providertest.Backend) providertest.Case {
	return providertest.Case{
		Name:     b.Name,
		Provider: logs.Providers(b.Session)[0],
		Sample: func(n int) value.Map {
			return value.Map{
				"LogGroupName":         value.Of(fmt.Sprintf("/ledger/worker-%03d", n)),
				"RetentionInDays":      value.Of(14),
				"KmsKeyId":             value.Of(key(1)),
				"DataProtectionPolicy": masks("EmailAddress"),
				"Tags":                 value.ListOf(tag("team", "ledger"), tag("cost", "42")),
			}
		},
		Changed: value.Map{
			"RetentionInDays":      value.Of(30),
			"KmsKeyId":             value.Of(key(2)),
			"DataProtectionPolicy": masks("Address"),
			"Tags":                 value.ListOf(tag("team", "audit"), tag("stage", "test")),
		},
		Stranger: value.Map{"Tags": value.ListOf(tag("scanner", "seen"))},
		Absent:   resource.Key{"LogGroupName": "/ledger/worker"},
		Busy:     "OperationAbortedException", CreateOp: "CreateLogGroup", DeleteOp: "DeleteLogGroup", ReadOp: "DescribeLogGroups", ListOp: "DescribeLogGroups", Page: 50,
		Parts: map[string]string{"ListTagsForResource": "Tags", "GetDataProtectionPolicy": "DataProtectionPolicy"},
		Log:   b.Log(), Break: b.Break(),
	}
}

// rareCase is a group of another class, which has no data protection.
func rareCase(b *providertest.Backend) providertest.Case {
	c := groupCase(b)
	c.Name += " infrequent access"
	c.Sample = func(n int) value.Map {
		return groupCase(b).Sample(n).Without("DataProtectionPolicy").With("LogGroupClass", value.Of("INFREQUENT_ACCESS"))
	}
	c.Changed = c.Changed.Without("DataProtectionPolicy")
	c.Parts = map[string]string{"ListTagsForResource": "Tags"}
	c.ListOp = "" // held by the other case
	return c
}

func TestLogGroup(t *testing.T) {
	t.Run("awssim", func(t *testing.T) {
		b := providertest.Sim(t)
		providertest.Run(t, groupCase(b), rareCase(b))
	})
	t.Run("moto", func(t *testing.T) {
		b := providertest.Moto(t)
		plain, rare := groupCase(b), rareCase(b)
		plain.Lacks = map[string]string{
			"DataProtectionPolicy": "moto has no PutDataProtectionPolicy",
			"KmsKeyId":             "moto has no AssociateKmsKey",
			"LogGroupClass":        "moto does not return it",
		}
		rare.Lacks = plain.Lacks
		providertest.Run(t, plain, rare)
	})
}
