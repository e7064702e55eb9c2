package events_test

import (
	"fmt"
	"testing"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/events"
	"reclaim/providers/awssim"
	"reclaim/providers/providertest"
)

const (
	account  = "111122223333"
	function = "arn:aws:lambda:eu-west-1:" + account + ":function:"
	role     = "arn:aws:iam::" + account + ":role/"
	assumes  = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"events.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
)

func parse(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func tag(name, text string) value.Value {
	return value.Of(map[string]string{"Key": name, "Value": text})
}

// everyTarget has each field of a target, and none of those that exclude each other in one target.
const everyTarget = `[
 {"Id":"input","Arn":"arn:aws:lambda:eu-west-1:111122223333:function:tick","Input":"{\"tick\":1}",
  "DeadLetterConfig":{"Arn":"arn:aws:sqs:eu-west-1:111122223333:dead"},"RetryPolicy":{"MaximumEventAgeInSeconds":600,"MaximumRetryAttempts":0}},
 {"Id":"path","Arn":"arn:aws:kinesis:eu-west-1:111122223333:stream/audit","RoleArn":"arn:aws:iam::111122223333:role/caller",
  "InputPath":"$.detail","KinesisParameters":{"PartitionKeyPath":"$.detail.order"},"SqsParameters":{"MessageGroupId":"orders"}},
 {"Id":"made","Arn":"arn:aws:events:eu-west-1:111122223333:api-destination/hook/1","RoleArn":"arn:aws:iam::111122223333:role/caller",
  "InputTransformer":{"InputPathsMap":{"order":"$.detail.order"},"InputTemplate":"{\"order\": <order>}"},
  "HttpParameters":{"HeaderParameters":{"X-Trace":"on"},"PathParameterValues":["eu","orders"],"QueryStringParameters":{"dry":"no"}},
  "RunCommandParameters":{"RunCommandTargets":[{"Key":"tag:team","Values":["orders","audit"]}]},
  "BatchParameters":{"JobDefinition":"nightly:3","JobName":"nightly","ArrayProperties":{"Size":4},"RetryStrategy":{"Attempts":2}},
  "SageMakerPipelineParameters":{"PipelineParameterList":[{"Name":"depth","Value":"3"}]},
  "RedshiftDataParameters":{"Database":"sales","DbUser":"loader","SecretManagerArn":"arn:aws:secretsmanager:eu-west-1:111122223333:secret:db","Sql":"call load()",
   "Sqls":["call a()","call b()"],"StatementName":"load","WithEvent":true},
  "AppSyncParameters":{"GraphQLOperation":"mutation M { ping }"}},
 {"Id":"task","Arn":"arn:aws:ecs:eu-west-1:111122223333:cluster/jobs","RoleArn":"arn:aws:iam::111122223333:role/caller",
  "EcsParameters":{"TaskDefinitionArn":"arn:aws:ecs:eu-west-1:111122223333:task-definition/sweep:7","TaskCount":2,"LaunchType":"FARGATE",
   "CapacityProviderStrategy":[{"CapacityProvider":"FARGATE_SPOT","Weight":3,"Base":1}],
   "NetworkConfiguration":{"AwsVpcConfiguration":{"Subnets":["subnet-a","subnet-b"],"SecurityGroups":["sg-a"],"AssignPublicIp":"DISABLED"}},
   "EnableECSManagedTags":true,"EnableExecuteCommand":true,"Group":"sweepers",
   "PlacementConstraints":[{"Type":"memberOf","Expression":"attribute:ecs.os-type == linux"}],"PlacementStrategies":[{"Type":"spread","Field":"host"}],
   "PlatformVersion":"1.4.0","PropagateTags":"TASK_DEFINITION","ReferenceId":"sweep-1","TagList":[{"Key":"team","Value":"orders"}]}}]`

// ruleCase sets what a rule on the default bus can have.
func ruleCase(t *testing.T, b *providertest.Backend) providertest.Case {
	return providertest.Case{
		Name:     b.Name,
		Provider: events.Providers(b.Session)[0],
		Sample: func(n int) value.Map {
			return value.Map{
				"Name":               value.Of(fmt.Sprintf("ledger-tick-%03d", n)),
				"EventBusName":       value.Of("default"),
				"Description":        value.Of("Closes the day"),
				"EventPattern":       parse(t, `{"source":["ledger"],"detail":{"kind":[{"prefix":"day"}]}}`),
				"ScheduleExpression": value.Of("cron(0 22 * * ? *)"),
				"State":              value.Of("DISABLED"),
				"RoleArn":            value.Of(role + "bus-caller"),
				"Targets":            parse(t, everyTarget),
				"Tags":               value.ListOf(tag("team", "ledger"), tag("cost", "42")),
			}
		},
		Changed: value.Map{
			"Description":        value.Of("Closes the week"),
			"EventPattern":       parse(t, `{"source":["ledger","bank"]}`),
			"ScheduleExpression": value.Of("rate(7 days)"),
			"State":              value.Of("ENABLED"),
			"RoleArn":            value.Of(role + "other-caller"),
			"Targets": parse(t, `[{"Id":"input","Arn":"`+function+`tock","Input":"{\"tock\":2}"},
			 {"Id":"queue","Arn":"arn:aws:sqs:eu-west-1:111122223333:days.fifo","SqsParameters":{"MessageGroupId":"days"}}]`),
			"Tags": value.ListOf(tag("team", "audit"), tag("stage", "test")),
		},
		Stranger: value.Map{
			"Targets": parse(t, `[{"Id":"theirs","Arn":"`+function+`scan"}]`),
			"Tags":    value.ListOf(tag("scanner", "seen")),
		},
		Together: []string{"Description", "EventPattern", "ScheduleExpression", "State", "RoleArn"},
		Absent:   resource.Key{"EventBusName": "default", "Name": "nobody-here"},
		Busy:     "ConcurrentModificationException", CreateOp: "PutRule", DeleteOp: "DeleteRule", ReadOp: "DescribeRule", ListOp: "ListRules", Page: 50,
		Parts: map[string]string{"ListTagsForResource": "Tags", "ListTargetsByRule": "Targets"},
		Log:   b.Log(), Break: b.Break(),
	}
}

// busCase is a rule on a bus of our own, which has no schedule.
func busCase(t *testing.T, b *providertest.Backend) providertest.Case {
	c := ruleCase(t, b)
	c.Name += " own bus"
	plain := c.Sample
	c.Sample = func(n int) value.Map {
		return plain(n).Without("ScheduleExpression").With("EventBusName", value.Of("ledger")).With("State", value.Of("ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS"))
	}
	c.Changed = c.Changed.Without("ScheduleExpression")
	c.Absent = resource.Key{"EventBusName": "ledger", "Name": "nobody-here"}
	c.ListOp = "" // held by the other case
	c.Disagrees = map[string]string{
		"a param that config no longer sets goes back to what the service fills in": "a rule without schedule cannot lose its pattern; held by the other case",
	}
	return c
}

func act(t *testing.T, s *awssim.Server, service, op string, params map[string]any) {
	t.Helper()
	if err := s.Do(awssim.Action{Service: service, Op: op, Params: params}); err != nil {
		t.Fatalf("%s: %v", op, err)
	}
}

// furnish makes what the samples refer to.
func furnish(t *testing.T, s *awssim.Server) {
	t.Helper()
	for _, name := range []string{"caller", "bus-caller", "other-caller"} {
		act(t, s, "iam", "CreateRole", map[string]any{"RoleName": name, "AssumeRolePolicyDocument": assumes})
	}
	act(t, s, "events", "CreateEventBus", map[string]any{"Name": "ledger"})
}

func TestRule(t *testing.T) {
	t.Run("awssim", func(t *testing.T) {
		b := providertest.Sim(t)
		furnish(t, b.Sim)
		providertest.Run(t, ruleCase(t, b), busCase(t, b))
	})
	t.Run("moto", func(t *testing.T) {
		b := providertest.Moto(t)
		plain := ruleCase(t, b)
		plain.Disagrees = map[string]string{
			"a second create of the same key is refused and changes nothing, succeeds where the type says Upsert, or makes another object where the service assigns the key": "moto's PutRule overwrites the tags of an existing rule",
		}
		plain.Page = 5 // slow: a rule after the other is asked for its tags
		providertest.Run(t, plain)
	})
}
