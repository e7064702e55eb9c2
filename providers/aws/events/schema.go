package events

import (
	"time"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// RuleType is the CloudFormation name of the type.
const RuleType = "AWS::Events::Rule"

// Bounds of the service.
const (
	ruleNameMax    = 64
	targetsPerRule = 5   // the quota; AWS raises it on request
	targetsPerCall = 100 // of PutTargets and RemoveTargets
)

// defaultBus is the bus of a rule that names none.
const defaultBus = "default"

// Schemas returns the types of this package.
func Schemas() []*resource.Schema { return []*resource.Schema{ruleSchema()} }

func bound(n int64) *int64 { return &n }

func ruleSchema() *resource.Schema {
	return &resource.Schema{
		Type: RuleType,
		Doc: "An EventBridge rule: which events, or which schedule, call which targets. Ref gives the name, on every bus. " +
			"A rule on a bus of another account belongs to that account and is refused.",
		Identity:  resource.Upsert,
		Space:     resource.PerRegion,
		Key:       []string{"EventBusName", "Name"},
		Ref:       "Name",
		Params:    ruleParams(),
		Outputs:   []resource.Output{{Name: "Arn", Doc: "ARN of the rule."}},
		Name:      &resource.NameRule{Param: "Name", Max: ruleNameMax},
		Tags:      resource.TagList,
		TagParam:  "Tags",
		Window:    10 * time.Second,
		Deadlines: resource.Deadlines{Call: 30 * time.Second, Settle: 30 * time.Second, Delete: time.Minute},
	}
}

func ruleParams() []resource.Field {
	return []resource.Field{
		{Name: "Name", Doc: "Name of the rule, unique on its bus.",
			Type: resource.TString, Mode: resource.KeyParam, Min: bound(1), Max: bound(ruleNameMax), Pattern: `[\.\-_A-Za-z0-9]+`},
		{Name: "EventBusName", Doc: "Name or ARN of the bus of this account and region; the default bus when it is left out.",
			Type: resource.TString, Mode: resource.KeyParam, Default: value.Of(defaultBus), Min: bound(1), Max: bound(1600)},
		{Name: "Description", Doc: "Description of the rule.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(""), Max: bound(512)},
		{Name: "EventPattern", Doc: "Which events the rule matches; it needs this, a schedule, or both.",
			Type: resource.TJSON, Mode: resource.Mutable, Equal: resource.JSONDoc},
		{Name: "ScheduleExpression", Doc: "When the rule runs: cron(…) or rate(…), on the default bus only.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(""), Max: bound(256), Equal: resource.EmptyIsNil},
		{Name: "State", Doc: "Whether the rule is enabled; for management events from CloudTrail it has a state of its own.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of("ENABLED"),
			Enum: []string{"ENABLED", "DISABLED", "ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS"}},
		{Name: "RoleArn", Doc: "ARN of the role with which the rule reaches a bus of another account.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(""), Max: bound(1600), Equal: resource.EmptyIsNil},
		{Name: "Targets", Doc: "What the rule calls, by Id; targets that others added stay. A target of ours is written as a whole.",
			Type: resource.TList, Mode: resource.Mutable, ItemKey: "Id", Shared: true, Elem: targetField()},
		{Name: "Tags", Doc: "Tags of the rule; tags that others set stay.",
			Type: resource.TList, Mode: resource.Mutable, ItemKey: "Key", Shared: true, Elem: tagField()},
	}
}

func tagField() *resource.Field {
	return &resource.Field{Type: resource.TObject, Fields: []resource.Field{
		{Name: "Key", Doc: "Name of the tag.", Type: resource.TString, Required: true, Min: bound(1), Max: bound(128)},
		{Name: "Value", Doc: "Value of the tag.", Type: resource.TString, Required: true, Max: bound(256)},
	}}
}
