package dynamodb

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// TableType is the CloudFormation name of the type.
const TableType = "AWS::DynamoDB::Table"

const (
	provisioned = "PROVISIONED" // also what a table is of which the service says nothing
	onDemand    = "PAY_PER_REQUEST"
)

// Schemas returns the types of this package.
func Schemas() []*resource.Schema { return []*resource.Schema{tableSchema()} }

func bound(n int64) *int64 { return &n }

func tableSchema() *resource.Schema {
	return &resource.Schema{
		Type:     TableType,
		Doc:      "A DynamoDB table: its keys and indexes, what it can take, how it is kept, and where its changes go.",
		Identity: resource.Named,
		Space:    resource.PerRegion,
		Key:      []string{"TableName"},
		Ref:      "TableName",
		Params:   append(append(keyParams(), capacityParams()...), settingParams()...),
		Outputs: []resource.Output{
			{Name: "Arn", Doc: "ARN of the table."},
			{Name: "StreamArn", Doc: "ARN of the table's stream; there is none without StreamSpecification, and another each time that is turned on."},
		},
		Name: &resource.NameRule{Param: "TableName", Max: 255},
		Unsupported: map[string]string{
			"ImportSourceSpecification": "an import from S3 makes the table by another, long request, after which nobody can tell imported items from others; import with the service's own tools, then adopt the table",
		},
		Tags:        resource.TagList,
		TagParam:    "Tags",
		Settles:     true,
		DataBearing: true,
		Data:        "items",
		Window:      30 * time.Second,
		Deadlines:   resource.Deadlines{Call: time.Minute, Settle: 30 * time.Minute, Delete: 10 * time.Minute},
	}
}

func attributeName(doc string) resource.Field {
	return resource.Field{Name: "AttributeName", Doc: doc, Type: resource.TString, Required: true, Min: bound(1), Max: bound(255)}
}

func keySchema(doc string, most int64) resource.Field {
	return resource.Field{Name: "KeySchema", Doc: doc, Type: resource.TList, Required: true, Min: bound(1), Max: bound(most),
		Elem: &resource.Field{Type: resource.TObject, Fields: []resource.Field{
			attributeName("Attribute that is part of the key."),
			{Name: "KeyType", Doc: "HASH for a partition key, RANGE for a sort key.", Type: resource.TString, Required: true, Enum: []string{"HASH", "RANGE"}},
		}}}
}

func indexName() resource.Field {
	return resource.Field{Name: "IndexName", Doc: "Name of the index, unique in its table.",
		Type: resource.TString, Required: true, Min: bound(3), Max: bound(255), Pattern: `[a-zA-Z0-9_.\-]+`}
}

func projection() resource.Field {
	return resource.Field{Name: "Projection", Doc: "What the index holds besides keys.", Type: resource.TObject, Required: true, Fields: []resource.Field{
		{Name: "ProjectionType", Doc: "Everything, only keys, or keys and NonKeyAttributes.", Type: resource.TString, Enum: []string{"ALL", "KEYS_ONLY", "INCLUDE"}},
		{Name: "NonKeyAttributes", Doc: "Attributes that are projected with INCLUDE.", Type: resource.TList, Set: true, Equal: resource.EmptyIsNil, Max: bound(20),
			Elem: &resource.Field{Type: resource.TString, Min: bound(1), Max: bound(255)}},
	}}
}

// keyParams are the table's keys and indexes. An attribute definition comes and goes with the keys that use it.
func keyParams() []resource.Field {
	key := keySchema("Primary key: one HASH element, then at most one RANGE element.", 2)
	key.Mode = resource.Immutable
	return []resource.Field{
		{Name: "TableName", Doc: "Name of the table, unique in account and region.",
			Type: resource.TString, Mode: resource.KeyParam, Min: bound(3), Max: bound(255), Pattern: `[a-zA-Z0-9_.\-]+`},
		key,
		{Name: "AttributeDefinitions", Doc: "Types of exactly the attributes that are in a key of the table or of an index.",
			Type: resource.TList, Mode: resource.Mutable, Required: true, ItemKey: "AttributeName",
			Elem: &resource.Field{Type: resource.TObject, Fields: []resource.Field{
				attributeName("Attribute that is in a key."),
				{Name: "AttributeType", Doc: "String, number or binary.", Type: resource.TString, Required: true, Enum: []string{"S", "N", "B"}},
			}}},
		{Name: "GlobalSecondaryIndexes", Doc: "Indexes with keys of their own, made and removed one at a time.",
			Type: resource.TList, Mode: resource.Mutable, ItemKey: "IndexName", Default: value.ListOf(), Equal: resource.EmptyIsNil, Max: bound(20),
			Elem: &resource.Field{Type: resource.TObject, Fields: []resource.Field{
				indexName(), keySchema("Key of the index; another key needs another index name.", 8), projection(),
				units(""), most(""), warm(""), insights("Whether the index reports who reads and writes it most."),
			}}},
		{Name: "LocalSecondaryIndexes", Doc: "Indexes with the table's partition key, made with the table.",
			Type: resource.TList, Mode: resource.Immutable, ItemKey: "IndexName", Default: value.ListOf(), Equal: resource.EmptyIsNil, Max: bound(5),
			Elem: &resource.Field{Type: resource.TObject, Fields: []resource.Field{
				indexName(), keySchema("The table's HASH element, then one RANGE element.", 2), projection(),
			}}},
	}
}

// units, most and warm are the same of a table and of an index; mode is "" for an index.
func units(mode resource.Mode) resource.Field {
	return resource.Field{Name: "ProvisionedThroughput", Doc: "Capacity units per second, where BillingMode is PROVISIONED.", Mode: mode,
		Type: resource.TObject, Fields: []resource.Field{
			{Name: "ReadCapacityUnits", Doc: "Read units per second.", Type: resource.TInt, Required: true, Min: bound(1)},
			{Name: "WriteCapacityUnits", Doc: "Write units per second.", Type: resource.TInt, Required: true, Min: bound(1)},
		}}
}

func most(mode resource.Mode) resource.Field {
	none := value.Of(unlimited)
	return resource.Field{Name: "OnDemandThroughput", Doc: "Bounds of an on-demand table; -1 is no bound.", Mode: mode,
		Type: resource.TObject, Default: value.OfMap(value.Map{"MaxReadRequestUnits": none, "MaxWriteRequestUnits": none}), Fields: []resource.Field{
			{Name: "MaxReadRequestUnits", Doc: "Most read units per second.", Type: resource.TInt, Default: none, Min: bound(unlimited)},
			{Name: "MaxWriteRequestUnits", Doc: "Most write units per second.", Type: resource.TInt, Default: none, Min: bound(unlimited)},
		}}
}

// unlimited is how a bound is taken away.
const unlimited = -1

func warm(mode resource.Mode) resource.Field {
	return resource.Field{Name: "WarmThroughput", Doc: "What can be taken at once; it is raised by use too, and never lowered.", Mode: mode,
		Type: resource.TObject, Fields: []resource.Field{
			{Name: "ReadUnitsPerSecond", Doc: "Read units at once.", Type: resource.TInt, Min: bound(1), Equal: resource.AtLeast},
			{Name: "WriteUnitsPerSecond", Doc: "Write units at once.", Type: resource.TInt, Min: bound(1), Equal: resource.AtLeast},
		}}
}

func insights(doc string) resource.Field {
	return resource.Field{Name: "ContributorInsightsSpecification", Doc: doc, Type: resource.TObject, Equal: resource.OffIsNil,
		Default: value.OfMap(value.Map{"Enabled": value.Of(false)}), Fields: []resource.Field{
			{Name: "Enabled", Doc: "Whether it does.", Type: resource.TBool, Required: true},
			{Name: "Mode", Doc: "Which keys are reported.", Type: resource.TString, Default: value.Of(allKeys), Enum: []string{allKeys, "THROTTLED_KEYS"}},
		}}
}

const allKeys = "ACCESSED_AND_THROTTLED_KEYS"

func capacityParams() []resource.Field {
	return []resource.Field{
		{Name: "BillingMode", Doc: "Whether capacity is provisioned or paid for by request.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(provisioned), Enum: []string{provisioned, onDemand}},
		units(resource.Mutable), most(resource.Mutable), warm(resource.Mutable),
	}
}

func policyDocument() resource.Field {
	return resource.Field{Name: "PolicyDocument", Doc: "IAM policy with principals.", Type: resource.TJSON, Required: true, Equal: resource.IAMPolicy}
}

func settingParams() []resource.Field {
	contributors := insights("Whether the table reports who reads and writes it most.")
	contributors.Mode = resource.Mutable
	off := func(name string) value.Value { return value.OfMap(value.Map{name: value.Of(false)}) }
	return []resource.Field{
		{Name: "TableClass", Doc: "Price class, by whether storage or access costs more.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(standard), Enum: []string{standard, "STANDARD_INFREQUENT_ACCESS"}},
		{Name: "DeletionProtectionEnabled", Doc: "Whether the service refuses to delete the table.",
			Type: resource.TBool, Mode: resource.Mutable, Default: value.Of(false)},
		{Name: "SSESpecification", Doc: "Encryption with a KMS key instead of one that DynamoDB owns.",
			Type: resource.TObject, Mode: resource.Mutable, Default: off("SSEEnabled"), Equal: resource.OffIsNil, Fields: []resource.Field{
				{Name: "SSEEnabled", Doc: "Whether a KMS key is used.", Type: resource.TBool, Required: true},
				{Name: "SSEType", Doc: "KMS is the only one.", Type: resource.TString, Default: value.Of("KMS"), Enum: []string{"KMS"}},
				{Name: "KMSMasterKeyId", Doc: "ID, ARN or alias of the key; without it AWS's own key for DynamoDB.", Type: resource.TString, Equal: resource.KMSKey},
			}},
		{Name: "StreamSpecification", Doc: "A stream of the changes of items; another view of them needs another stream.",
			Type: resource.TObject, Mode: resource.Mutable, Fields: []resource.Field{
				{Name: "StreamViewType", Doc: "What of a changed item is in the stream.", Type: resource.TString, Required: true,
					Enum: []string{"NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY"}},
				{Name: "ResourcePolicy", Doc: "Who else may read the stream.", Type: resource.TObject, Equal: resource.EmptyIsNil, Fields: []resource.Field{policyDocument()}},
			}},
		{Name: "KinesisStreamSpecification", Doc: "A Kinesis stream that changes of items go to.",
			Type: resource.TObject, Mode: resource.Mutable, Fields: []resource.Field{
				{Name: "StreamArn", Doc: "ARN of the Kinesis stream.", Type: resource.TString, Required: true, Min: bound(37), Max: bound(1024)},
				{Name: "ApproximateCreationDateTimePrecision", Doc: "Precision of the times in the stream.",
					Type: resource.TString, Default: value.Of(string(types.ApproximateCreationDateTimePrecisionMillisecond)), Enum: []string{"MICROSECOND", "MILLISECOND"}},
			}},
		{Name: "TimeToLiveSpecification", Doc: "The attribute that says when an item expires; the service takes up to an hour to change it.",
			Type: resource.TObject, Mode: resource.Mutable, Default: off("Enabled"), Equal: resource.OffIsNil, Fields: []resource.Field{
				{Name: "Enabled", Doc: "Whether items expire.", Type: resource.TBool, Required: true},
				{Name: "AttributeName", Doc: "Attribute that holds the time, in seconds since 1970.", Type: resource.TString, Min: bound(1), Max: bound(255)},
			}},
		{Name: "PointInTimeRecoverySpecification", Doc: "Whether the table can be restored as it was at a time.",
			Type: resource.TObject, Mode: resource.Mutable, Default: off("PointInTimeRecoveryEnabled"), Equal: resource.OffIsNil, Fields: []resource.Field{
				{Name: "PointInTimeRecoveryEnabled", Doc: "Whether it can.", Type: resource.TBool},
				{Name: "RecoveryPeriodInDays", Doc: "How far back, in days.", Type: resource.TInt, Default: value.Of(35), Min: bound(1), Max: bound(35)},
			}},
		contributors,
		{Name: "ResourcePolicy", Doc: "Who else may use the table.",
			Type: resource.TObject, Mode: resource.Mutable, Equal: resource.EmptyIsNil, Fields: []resource.Field{policyDocument()}},
		{Name: "Tags", Doc: "Tags of the table; tags that others set stay.",
			Type: resource.TList, Mode: resource.Mutable, ItemKey: "Key", Shared: true,
			Elem: &resource.Field{Type: resource.TObject, Fields: []resource.Field{
				{Name: "Key", Doc: "Name of the tag.", Type: resource.TString, Required: true, Min: bound(1), Max: bound(128)},
				{Name: "Value", Doc: "Value of the tag.", Type: resource.TString, Required: true, Max: bound(256)},
			}}},
	}
}

const standard = "STANDARD"
