package awssim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// node is a member of a nested shape in a service's model: exactly one of its kinds.
type node struct {
	text     *shape
	enum     []string
	whole    *[2]int // bounds of a whole number
	truth    bool
	items    *node // of a list
	values   *node // of a map with free names
	members  map[string]node
	required []string
	most     int // items or entries; 0 is no bound
}

func textNode(min, max int, pattern string) node {
	sh := shape{min: min, max: max}
	if pattern != "" {
		sh = newShape(min, max, pattern)
	}
	return node{text: &sh}
}

func wholeNode(min, max int) node { return node{whole: &[2]int{min, max}} }

func listNode(item node, most int) node { return node{items: &item, most: most} }

func mapNode(v node, most int) node { return node{values: &v, most: most} }

func structNode(required string, members map[string]node) node {
	return node{members: members, required: strings.Fields(required)}
}

const anyNumber = 1 << 31

// targetNode is EventBridge's Target. Booleans and numbers that the model does not box come back as their zero value where
// they were not sent; the SDK shows no difference.
var targetNode = structNode("Id Arn", map[string]node{
	"Id":        textNode(1, 64, `[\.\-_A-Za-z0-9]+`),
	"Arn":       textNode(1, 1600, ""),
	"RoleArn":   textNode(1, 1600, ""),
	"Input":     textNode(0, 8192, ""),
	"InputPath": textNode(0, 256, ""),
	"InputTransformer": structNode("InputTemplate", map[string]node{
		"InputTemplate": textNode(1, 8192, ""), "InputPathsMap": mapNode(textNode(0, 256, ""), 100),
	}),
	"KinesisParameters": structNode("PartitionKeyPath", map[string]node{"PartitionKeyPath": textNode(0, 256, "")}),
	"RunCommandParameters": structNode("RunCommandTargets", map[string]node{
		"RunCommandTargets": listNode(structNode("Key Values", map[string]node{
			"Key": textNode(1, 128, `[\p{L}\p{Z}\p{N}_.:/=\-@]*`), "Values": listNode(textNode(1, 256, ""), 50),
		}), 5),
	}),
	"EcsParameters": ecsNode,
	"BatchParameters": structNode("JobDefinition JobName", map[string]node{
		"JobDefinition": textNode(0, 0, ""), "JobName": textNode(0, 0, ""),
		"ArrayProperties": structNode("", map[string]node{"Size": wholeNode(0, anyNumber)}),
		"RetryStrategy":   structNode("", map[string]node{"Attempts": wholeNode(0, anyNumber)}),
	}),
	"SqsParameters": structNode("", map[string]node{"MessageGroupId": textNode(0, 0, "")}),
	"HttpParameters": structNode("", map[string]node{
		"PathParameterValues": listNode(textNode(0, 0, ""), 0), "HeaderParameters": mapNode(textNode(0, 512, ""), 0),
		"QueryStringParameters": mapNode(textNode(0, 512, ""), 0),
	}),
	"RedshiftDataParameters": structNode("Database", map[string]node{
		"SecretManagerArn": textNode(1, 1600, ""), "Database": textNode(1, 64, ""), "DbUser": textNode(1, 128, ""), "Sql": textNode(1, 100000, ""),
		"StatementName": textNode(1, 500, ""), "WithEvent": {truth: true}, "Sqls": listNode(textNode(1, 100000, ""), 40),
	}),
	"SageMakerPipelineParameters": structNode("", map[string]node{
		"PipelineParameterList": listNode(structNode("Name Value", map[string]node{
			"Name": textNode(1, 256, `[a-zA-Z0-9](-*[a-zA-Z0-9])*`), "Value": textNode(0, 1024, ""),
		}), 200),
	}),
	"DeadLetterConfig": structNode("", map[string]node{"Arn": textNode(1, 1600, "")}),
	"RetryPolicy": structNode("", map[string]node{
		"MaximumRetryAttempts": wholeNode(0, 185), "MaximumEventAgeInSeconds": wholeNode(60, 86400),
	}),
	"AppSyncParameters": structNode("", map[string]node{"GraphQLOperation": textNode(1, 1048576, "")}),
})

var ecsNode = structNode("TaskDefinitionArn", map[string]node{
	"TaskDefinitionArn": textNode(1, 1600, ""), "TaskCount": wholeNode(1, anyNumber),
	"LaunchType": {enum: []string{"EC2", "FARGATE", "EXTERNAL"}}, "PlatformVersion": textNode(0, 0, ""), "Group": textNode(0, 0, ""),
	"NetworkConfiguration": structNode("", map[string]node{"awsvpcConfiguration": structNode("Subnets", map[string]node{
		"Subnets": listNode(textNode(0, 0, ""), 0), "SecurityGroups": listNode(textNode(0, 0, ""), 0),
		"AssignPublicIp": {enum: []string{"ENABLED", "DISABLED"}},
	})}),
	"CapacityProviderStrategy": listNode(structNode("capacityProvider", map[string]node{
		"capacityProvider": textNode(1, 255, ""), "weight": wholeNode(0, 1000), "base": wholeNode(0, 100000),
	}), 6),
	"EnableECSManagedTags": {truth: true}, "EnableExecuteCommand": {truth: true},
	"PlacementConstraints": listNode(structNode("", map[string]node{
		"type": {enum: []string{"distinctInstance", "memberOf"}}, "expression": textNode(0, 2000, ""),
	}), 10),
	"PlacementStrategy": listNode(structNode("", map[string]node{
		"type": {enum: []string{"random", "spread", "binpack"}}, "field": textNode(0, 255, ""),
	}), 5),
	"PropagateTags": {enum: []string{"TASK_DEFINITION"}}, "ReferenceId": textNode(0, 1024, ""),
	"Tags": listNode(structNode("Key Value", map[string]node{"Key": textNode(1, 128, ""), "Value": textNode(0, 256, "")}), 0),
})

// checked returns v as its shape keeps it, without members that the model does not have; what breaks it is noted.
func (a *args) checked(at string, v any, n node) any {
	switch {
	case n.members != nil:
		return a.checkedStruct(at, v, n)
	case n.items != nil:
		return a.checkedList(at, v, n)
	case n.values != nil:
		return a.checkedMap(at, v, n)
	case n.whole != nil:
		number, _ := v.(json.Number)
		i, err := number.Int64()
		if err != nil || i < int64(n.whole[0]) || i > int64(n.whole[1]) {
			a.breaks(at, v, fmt.Sprintf("Member must be a whole number from %d to %d", n.whole[0], n.whole[1]))
		}
		return v
	case n.truth:
		if _, ok := v.(bool); !ok {
			a.breaks(at, v, "Member must be a boolean")
		}
		return v
	}
	text, ok := v.(string)
	switch {
	case !ok:
		a.breaks(at, v, "Member must be a string")
	case n.enum != nil && !slices.Contains(n.enum, text):
		a.breaks(at, v, "Member must satisfy enum value set: ["+strings.Join(n.enum, ", ")+"]")
	case n.text != nil:
		a.check(at, text, *n.text)
	}
	return v
}

func (a *args) checkedStruct(at string, v any, n node) any {
	in, ok := v.(map[string]any)
	if !ok {
		a.breaks(at, v, "Member must be a structure")
	}
	for _, k := range n.required {
		if in[k] == nil {
			a.missing(at + "." + lowerFirst(k))
		}
	}
	out := map[string]any{}
	for _, k := range sortedKeys(in) {
		if m, known := n.members[k]; known && in[k] != nil {
			out[k] = a.checked(at+"."+lowerFirst(k), in[k], m)
		}
	}
	return out
}

func (a *args) checkedList(at string, v any, n node) any {
	in, ok := v.([]any)
	if !ok || n.most > 0 && len(in) > n.most {
		a.breaks(at, fmt.Sprintf("%d items", len(in)), fmt.Sprintf("Member must be a list of at most %d items", n.most))
	}
	out := make([]any, 0, len(in))
	for i, e := range in {
		out = append(out, a.checked(fmt.Sprintf("%s.%d.member", at, i+1), e, *n.items))
	}
	return out
}

func (a *args) checkedMap(at string, v any, n node) any {
	in, ok := v.(map[string]any)
	if !ok || n.most > 0 && len(in) > n.most {
		a.breaks(at, fmt.Sprintf("%d entries", len(in)), fmt.Sprintf("Member must be a map of at most %d entries", n.most))
	}
	out := map[string]any{}
	for _, k := range sortedKeys(in) {
		out[k] = a.checked(at+"."+k, in[k], *n.values)
	}
	return out
}
