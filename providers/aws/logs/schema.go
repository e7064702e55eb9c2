package logs

import (
	"time"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// LogGroupType is the CloudFormation name of the type.
const LogGroupType = "AWS::Logs::LogGroup"

// retentions are the days that the service takes; 0 means never, which the service writes as no retention at all.
var retentions = []int64{0, 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653}

// Schemas returns the types of this package.
func Schemas() []*resource.Schema { return []*resource.Schema{groupSchema()} }

func bound(n int64) *int64 { return &n }

func groupSchema() *resource.Schema {
	return &resource.Schema{
		Type:     LogGroupType,
		Doc:      "A CloudWatch log group: where log events are kept, how long, and under which key.",
		Identity: resource.Named,
		Space:    resource.PerRegion,
		Key:      []string{"LogGroupName"},
		Ref:      "LogGroupName",
		Params:   groupParams(),
		Outputs:  []resource.Output{{Name: "Arn", Doc: `ARN of the group, ending in ":*", as GetAtt gives it.`}},
		Name:     &resource.NameRule{Param: "LogGroupName", Max: 512},
		Unsupported: map[string]string{
			"BearerTokenAuthenticationEnabled": "set by a call of its own that is not made yet; leave it out",
			"DeletionProtectionEnabled":        "a protected group could not be replaced or destroyed; leave it out",
			"FieldIndexPolicies":               "index policies are objects of their own that are not managed yet; leave it out",
			"ResourcePolicyDocument":           "resource policies are objects of their own that are not managed yet; leave it out",
		},
		Tags:        resource.TagList,
		TagParam:    "Tags",
		DataBearing: true,
		Data:        "log events",
		Window:      10 * time.Second,
		Deadlines:   resource.Deadlines{Call: 30 * time.Second, Settle: 30 * time.Second, Delete: time.Minute},
	}
}

func groupParams() []resource.Field {
	return []resource.Field{
		{Name: "LogGroupName", Doc: "Name of the log group, unique in account and region.",
			Type: resource.TString, Mode: resource.KeyParam, Min: bound(1), Max: bound(512), Pattern: `[.\-_/#A-Za-z0-9]+`},
		{Name: "LogGroupClass", Doc: "Class of the group, which fixes its price and what can be done with its events.",
			Type: resource.TString, Mode: resource.Immutable, Default: value.Of("STANDARD"),
			Enum: []string{"STANDARD", "INFREQUENT_ACCESS", classDelivery, "ESSENTIALS"}},
		{Name: "RetentionInDays", Doc: "Days after which events expire; 0, as leaving it out, means never.",
			Type: resource.TInt, Mode: resource.Mutable, Default: value.Of(0), Ints: retentions},
		{Name: "KmsKeyId", Doc: "ARN of the KMS key that encrypts the events.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(""), Equal: resource.EmptyIsNil},
		{Name: "DataProtectionPolicy", Doc: "Document that says which data is masked in the events.",
			Type: resource.TJSON, Mode: resource.Mutable, Default: value.OfMap(nil), Equal: resource.JSONDoc},
		{Name: "Tags", Doc: "Tags of the group; tags that others set stay.",
			Type: resource.TList, Mode: resource.Mutable, ItemKey: "Key", Shared: true,
			Elem: &resource.Field{Type: resource.TObject, Fields: []resource.Field{
				{Name: "Key", Doc: "Name of the tag.", Type: resource.TString, Required: true, Min: bound(1), Max: bound(128)},
				{Name: "Value", Doc: "Value of the tag.", Type: resource.TString, Required: true, Max: bound(256)},
			}}},
	}
}
