package dynamodb_test

import (
	"fmt"
	"testing"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/dynamodb"
	"reclaim/providers/providertest"
)

func tag(name, text string) value.Value {
	return value.Of(map[string]string{"Key": name, "Value": text})
}

func key(n int) string {
	return fmt.Sprintf("arn:aws:kms:eu-west-1:111122223333:key/0f0e0d0c-0000-4000-8000-%012d", n)
}

func kinesis(name string) string { return "arn:aws:kinesis:eu-west-1:111122223333:stream/" + name }

func attrs(names ...string) value.Value {
	var list []value.Value
	for _, n := range names {
		list = append(list, value.Of(map[string]string{"AttributeName": n, "AttributeType": "S"}))
	}
	return value.ListOf(list...)
}

func keys(hash string, ranges ...string) value.Value {
	list := []value.Value{value.Of(map[string]string{"AttributeName": hash, "KeyType": "HASH"})}
	for _, r := range ranges {
		list = append(list, value.Of(map[string]string{"AttributeName": r, "KeyType": "RANGE"}))
	}
	return value.ListOf(list...)
}

// index says everything that a global index has, so that a read can be compared with it as a whole.
func index(name string, key value.Value, projection string, more value.Map) value.Value {
	m := local(name, key, projection).Fields()
	m["WarmThroughput"] = warm(13000, 5000)
	m["ContributorInsightsSpecification"] = value.Of(map[string]any{"Enabled": false})
	for n, v := range more {
		m[n] = v
	}
	return value.OfMap(m)
}

func local(name string, key value.Value, projection string) value.Value {
	m := value.Map{"IndexName": value.Of(name), "KeySchema": key, "Projection": value.OfMap(value.Map{"ProjectionType": value.Of(projection)})}
	if projection == "INCLUDE" {
		m["Projection"] = value.OfMap(value.Map{"ProjectionType": value.Of(projection), "NonKeyAttributes": value.Of([]string{"zeta", "alpha"})})
	}
	return value.OfMap(m)
}

func units(read, write string, r, w int) value.Value {
	return value.OfMap(value.Map{read: value.Of(r), write: value.Of(w)})
}

func capacity(r, w int) value.Value { return units("ReadCapacityUnits", "WriteCapacityUnits", r, w) }
func most(r, w int) value.Value     { return units("MaxReadRequestUnits", "MaxWriteRequestUnits", r, w) }
func warm(r, w int) value.Value     { return units("ReadUnitsPerSecond", "WriteUnitsPerSecond", r, w) }

func lets(action, account string) value.Value {
	return value.OfMap(value.Map{"PolicyDocument": value.Of(map[string]any{"Version": "2012-10-17", "Statement": []any{map[string]any{
		"Effect": "Allow", "Principal": map[string]any{"AWS": "arn:aws:iam::" + account + ":root"}, "Action": action, "Resource": "*"}}})})
}

func insights(mode string) value.Value {
	return value.Of(map[string]any{"Enabled": true, "Mode": mode})
}

func expires(attribute string) value.Value {
	return value.Of(map[string]any{"AttributeName": attribute, "Enabled": true})
}

func recovers(days int) value.Value {
	return value.Of(map[string]any{"PointInTimeRecoveryEnabled": true, "RecoveryPeriodInDays": days})
}

func writesTo(name, precision string) value.Value {
	return value.Of(map[string]any{"StreamArn": kinesis(name), "ApproximateCreationDateTimePrecision": precision})
}

func streamOf(view string, policy value.Value) value.Value {
	m := value.Map{"StreamViewType": value.Of(view)}
	if policy.IsSet() {
		m["ResourcePolicy"] = policy
	}
	return value.OfMap(m)
}

func encrypted(n int) value.Value {
	return value.Of(map[string]any{"SSEEnabled": true, "SSEType": "KMS", "KMSMasterKeyId": key(n)})
}

// onDemandCase sets what a table that is paid for by request can have. It is not protected: a protected one could not be
// deleted.
func onDemandCase(b *providertest.Backend) providertest.Case {
	watch := value.Map{"OnDemandThroughput": most(40, 20), "ContributorInsightsSpecification": insights("THROTTLED_KEYS")}
	return providertest.Case{
		Name:     b.Name + " on demand",
		Provider: dynamodb.Providers(b.Session)[0],
		Sample: func(n int) value.Map {
			return value.Map{
				"TableName":                        value.Of(fmt.Sprintf("ledger-%03d", n)),
				"KeySchema":                        keys("pk", "sk"),
				"AttributeDefinitions":             attrs("at", "owner", "pk", "sk"),
				"GlobalSecondaryIndexes":           value.ListOf(index("by-owner", keys("owner", "sk"), "INCLUDE", watch)),
				"LocalSecondaryIndexes":            value.ListOf(local("by-time", keys("pk", "at"), "KEYS_ONLY")),
				"BillingMode":                      value.Of("PAY_PER_REQUEST"),
				"OnDemandThroughput":               most(50, 25),
				"WarmThroughput":                   warm(14000, 6000),
				"TableClass":                       value.Of("STANDARD_INFREQUENT_ACCESS"),
				"DeletionProtectionEnabled":        value.Of(false),
				"SSESpecification":                 encrypted(1),
				"StreamSpecification":              streamOf("NEW_IMAGE", lets("dynamodb:GetRecords", "444455556666")),
				"KinesisStreamSpecification":       writesTo("audit", "MICROSECOND"),
				"TimeToLiveSpecification":          expires("until"),
				"PointInTimeRecoverySpecification": recovers(7),
				"ContributorInsightsSpecification": insights("THROTTLED_KEYS"),
				"ResourcePolicy":                   lets("dynamodb:GetItem", "444455556666"),
				"Tags":                             value.ListOf(tag("team", "ledger"), tag("cost", "42")),
			}
		},
		Changed: value.Map{
			"AttributeDefinitions": attrs("at", "kind", "pk", "sk"),
			"GlobalSecondaryIndexes": value.ListOf(index("by-kind", keys("kind"), "ALL", nil),
				index("by-sk", keys("sk"), "KEYS_ONLY", value.Map{"ContributorInsightsSpecification": insights("THROTTLED_KEYS")})),
			"OnDemandThroughput":               most(60, 30),
			"WarmThroughput":                   warm(15000, 7000),
			"TableClass":                       value.Of("STANDARD"),
			"DeletionProtectionEnabled":        value.Of(true),
			"SSESpecification":                 encrypted(2),
			"StreamSpecification":              streamOf("NEW_AND_OLD_IMAGES", lets("dynamodb:GetShardIterator", "777788889999")),
			"KinesisStreamSpecification":       writesTo("archive", "MILLISECOND"),
			"TimeToLiveSpecification":          expires("forgotten"),
			"PointInTimeRecoverySpecification": recovers(14),
			"ContributorInsightsSpecification": insights("ACCESSED_AND_THROTTLED_KEYS"),
			"ResourcePolicy":                   lets("dynamodb:Query", "777788889999"),
			"Tags":                             value.ListOf(tag("team", "audit"), tag("stage", "test")),
		},
		With: map[string]value.Map{
			"AttributeDefinitions":   {"GlobalSecondaryIndexes": value.ListOf(index("by-kind", keys("kind"), "ALL", nil))},
			"GlobalSecondaryIndexes": {"AttributeDefinitions": attrs("at", "kind", "pk", "sk")},
		},
		Instead:  map[string]value.Map{"GlobalSecondaryIndexes": {"AttributeDefinitions": attrs("at", "pk", "sk")}, "BillingMode": provisionedInstead},
		Keeps:    map[string]string{"WarmThroughput": "nothing cools a table down"},
		Together: []string{"AttributeDefinitions", "GlobalSecondaryIndexes", "BillingMode", "ProvisionedThroughput", "OnDemandThroughput"},
		Stranger: value.Map{"Tags": value.ListOf(tag("scanner", "seen"))},
		Absent:   resource.Key{"TableName": "nobody-here"},
		Busy:     "ResourceInUseException", CreateOp: "CreateTable", DeleteOp: "DeleteTable", ReadOp: "DescribeTable",
		Parts: map[string]string{"ListTagsOfResource": "Tags", "DescribeTimeToLive": "TimeToLiveSpecification",
			"DescribeContinuousBackups": "PointInTimeRecoverySpecification", "DescribeContributorInsights": "ContributorInsightsSpecification",
			"GetResourcePolicy": "ResourcePolicy", "DescribeKinesisStreamingDestination": "KinesisStreamSpecification"},
		Log: b.Log(), Break: b.Break(),
	}
}

// provisionedInstead is what takes the place of PAY_PER_REQUEST.
var provisionedInstead = value.Map{
	"ProvisionedThroughput": capacity(3, 2), "OnDemandThroughput": {},
	"GlobalSecondaryIndexes": value.ListOf(index("by-owner", keys("owner", "sk"), "INCLUDE", value.Map{
		"ProvisionedThroughput": capacity(2, 1), "ContributorInsightsSpecification": insights("THROTTLED_KEYS")})),
}

var noStream = map[string]string{"StreamArn": "there is no stream without StreamSpecification"}

// provisionedCase sets what a table with provisioned capacity has instead.
func provisionedCase(b *providertest.Backend) providertest.Case {
	c := onDemandCase(b)
	c.Name = b.Name + " provisioned"
	c.Sample = func(n int) value.Map {
		return value.Map{
			"TableName":              value.Of(fmt.Sprintf("stock-%03d", n)),
			"KeySchema":              keys("pk"),
			"AttributeDefinitions":   attrs("owner", "pk"),
			"ProvisionedThroughput":  capacity(5, 4),
			"GlobalSecondaryIndexes": value.ListOf(index("by-owner", keys("owner"), "ALL", value.Map{"ProvisionedThroughput": capacity(3, 2)})),
		}
	}
	c.Changed = value.Map{
		"ProvisionedThroughput":  capacity(7, 6),
		"GlobalSecondaryIndexes": value.ListOf(index("by-owner", keys("owner"), "ALL", value.Map{"ProvisionedThroughput": capacity(4, 3)})),
	}
	c.With = nil
	c.Instead = map[string]value.Map{
		"ProvisionedThroughput":  {"BillingMode": value.Of("PAY_PER_REQUEST"), "GlobalSecondaryIndexes": value.ListOf(index("by-owner", keys("owner"), "ALL", nil))},
		"GlobalSecondaryIndexes": {"AttributeDefinitions": attrs("pk")},
	}
	c.Stranger, c.Parts, c.Missing = nil, nil, noStream
	return c
}

// plainCase is a table with nothing but what it needs; it changes its billing mode.
func plainCase(b *providertest.Backend) providertest.Case {
	c := onDemandCase(b)
	c.Name = b.Name + " plain"
	c.Sample = func(n int) value.Map {
		return value.Map{"TableName": value.Of(fmt.Sprintf("plain-%03d", n)), "KeySchema": keys("pk"), "AttributeDefinitions": attrs("pk"),
			"BillingMode": value.Of("PAY_PER_REQUEST")}
	}
	c.Changed = value.Map{"BillingMode": value.Of("PROVISIONED"), "ProvisionedThroughput": capacity(3, 2)}
	c.With = map[string]value.Map{"BillingMode": {"ProvisionedThroughput": capacity(3, 2)}, "ProvisionedThroughput": {"BillingMode": value.Of("PROVISIONED")}}
	c.Instead = map[string]value.Map{"BillingMode": {"ProvisionedThroughput": capacity(3, 2)}}
	c.Stranger, c.Parts, c.Missing = nil, nil, noStream
	c.ListOp, c.Page = "ListTables", 100
	return c
}

// motoLacks is what moto does not keep of a table.
var motoLacks = map[string]string{
	"ContributorInsightsSpecification": "moto has no UpdateContributorInsights",
	"KinesisStreamSpecification":       "moto has no EnableKinesisStreamingDestination",
	"OnDemandThroughput":               "moto drops it",
	"ResourcePolicy":                   "moto's CreateTable drops it",
	"SSESpecification":                 "moto's UpdateTable drops it",
	"StreamSpecification":              "moto enables no stream a second time",
	"TableClass":                       "moto drops it",
}

// forMoto takes out what moto does not keep of indexes. Their definitions stay when they go, and a hundred tables take moto
// half a minute.
func forMoto(c providertest.Case) providertest.Case {
	strip := func(m value.Map) value.Map {
		out := value.Map{}
		for name, v := range m {
			if name == "GlobalSecondaryIndexes" {
				var list []value.Value
				for _, g := range v.Items() {
					list = append(list, value.OfMap(g.Fields().Without("ContributorInsightsSpecification", "OnDemandThroughput")))
				}
				v = value.ListOf(list...)
			}
			out[name] = v
		}
		return out
	}
	sample := c.Sample
	c.Sample = func(n int) value.Map { return strip(sample(n)) }
	c.Changed, c.Lacks, c.Missing, c.ListOp = strip(c.Changed), motoLacks, noStream, ""
	delete(c.Instead, "GlobalSecondaryIndexes")
	for _, all := range []map[string]value.Map{c.With, c.Instead} {
		for name, others := range all {
			all[name] = strip(others)
		}
	}
	return c
}

func TestTable(t *testing.T) {
	t.Run("awssim", func(t *testing.T) {
		b := providertest.Sim(t)
		providertest.Run(t, onDemandCase(b), provisionedCase(b), plainCase(b))
	})
	t.Run("moto", func(t *testing.T) {
		b := providertest.Moto(t)
		providertest.Run(t, forMoto(onDemandCase(b)), forMoto(provisionedCase(b)), forMoto(plainCase(b)))
	})
}
