package events

import (
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

func text(name, doc string, max int64) resource.Field {
	f := resource.Field{Name: name, Doc: doc, Type: resource.TString}
	if max > 0 {
		f.Max = bound(max)
	}
	return f
}

// needed is f, which must be given.
func needed(f resource.Field) resource.Field { f.Required = true; return f }

func oneOf(name, doc string, values ...string) resource.Field {
	return resource.Field{Name: name, Doc: doc, Type: resource.TString, Enum: values}
}

func whole(name, doc string, min, max int64) resource.Field {
	return resource.Field{Name: name, Doc: doc, Type: resource.TInt, Min: bound(min), Max: bound(max)}
}

// orZero is f of a member that an answer gives as its zero value where it was not set: the two cannot be told apart.
func orZero(f resource.Field) resource.Field {
	f.Default = value.Of(0)
	if f.Type == resource.TBool {
		f.Default = value.Of(false)
	}
	return f
}

func truth(name, doc string) resource.Field {
	return orZero(resource.Field{Name: name, Doc: doc, Type: resource.TBool})
}

func object(name, doc string, fields ...resource.Field) resource.Field {
	return resource.Field{Name: name, Doc: doc, Type: resource.TObject, Fields: fields}
}

func texts(name, doc string) resource.Field {
	return resource.Field{Name: name, Doc: doc, Type: resource.TList, Equal: resource.EmptyIsNil, Elem: &resource.Field{Type: resource.TString}}
}

func set(f resource.Field) resource.Field { f.Set = true; return f }

func objects(name, doc string, fields ...resource.Field) resource.Field {
	return resource.Field{Name: name, Doc: doc, Type: resource.TList, Equal: resource.EmptyIsNil, Elem: &resource.Field{Type: resource.TObject, Fields: fields}}
}

func named(name, doc string) resource.Field {
	return resource.Field{Name: name, Doc: doc, Type: resource.TMap, Equal: resource.EmptyIsNil, Elem: &resource.Field{Type: resource.TString}}
}

// document is text that is compared as the JSON it holds.
func document(name, doc string, max int64) resource.Field {
	f := text(name, doc, max)
	f.Equal = resource.JSONDoc
	return f
}

const longest = 1<<31 - 1

// targetField is one target: the whole of CloudFormation's AWS::Events::Rule.Target.
func targetField() *resource.Field {
	id := needed(text("Id", "ID of the target within the rule.", 64))
	id.Min, id.Pattern = bound(1), `[\.\-_A-Za-z0-9]+`
	return &resource.Field{Type: resource.TObject, Fields: []resource.Field{
		id,
		needed(text("Arn", "ARN of what is called.", 1600)),
		text("RoleArn", "ARN of the role with which the target is called, where it needs one.", 1600),
		document("Input", "JSON text that the target gets instead of the event.", 8192),
		text("InputPath", "JSONPath of the part of the event that the target gets.", 256),
		object("InputTransformer", "Makes the target's input from parts of the event.",
			named("InputPathsMap", "JSONPaths of the parts, by the name that the template gives them."),
			needed(text("InputTemplate", "The input, with the parts' names in angle brackets.", 8192))),
		object("DeadLetterConfig", "Where events go that could not be delivered.", text("Arn", "ARN of the SQS queue.", 1600)),
		object("RetryPolicy", "How long delivery is tried again.",
			whole("MaximumEventAgeInSeconds", "Oldest event that is still tried, in seconds.", 60, 86400),
			whole("MaximumRetryAttempts", "Most attempts after the first.", 0, 185)),
		object("SqsParameters", "For a FIFO queue.", text("MessageGroupId", "Message group of the events.", 0)),
		object("KinesisParameters", "For a stream.", needed(text("PartitionKeyPath", "JSONPath of the partition key; the event's ID otherwise.", 256))),
		object("HttpParameters", "For an API Gateway endpoint or an API destination.",
			named("HeaderParameters", "Headers to send, by name."),
			texts("PathParameterValues", "What the asterisks in the path stand for, in order."),
			named("QueryStringParameters", "Query parameters to send, by name.")),
		object("RunCommandParameters", "For a Systems Manager command.",
			needed(objects("RunCommandTargets", "Which instances run it.",
				needed(text("Key", "tag:NAME, or InstanceIds.", 128)), needed(texts("Values", "Tag values or instance IDs."))))),
		object("BatchParameters", "For a Batch job queue.",
			needed(text("JobDefinition", "ARN or name of the job definition.", 0)), needed(text("JobName", "Name of the job.", 0)),
			object("ArrayProperties", "Makes the job an array.", orZero(whole("Size", "Size of the array.", 0, longest))),
			object("RetryStrategy", "How often a job is tried.", orZero(whole("Attempts", "Attempts, from 1 to 10.", 0, longest)))),
		ecsField(),
		object("SageMakerPipelineParameters", "For a SageMaker pipeline.",
			objects("PipelineParameterList", "Parameters of the run.",
				needed(text("Name", "Name of the parameter.", 256)), needed(text("Value", "Value of the parameter.", 1024)))),
		object("RedshiftDataParameters", "For a Redshift cluster or workgroup.",
			needed(text("Database", "Name of the database.", 64)), text("DbUser", "Database user, for temporary credentials.", 128),
			text("SecretManagerArn", "ARN or JSONPath of the secret with the credentials.", 1600), text("Sql", "The statement to run.", 100000),
			texts("Sqls", "The statements to run, in order."), text("StatementName", "Name of the statement.", 500),
			truth("WithEvent", "Whether an event is sent when the statement is done.")),
		object("AppSyncParameters", "For an AppSync API.", needed(text("GraphQLOperation", "The operation to run.", 1048576))),
	}}
}

func ecsField() resource.Field {
	return object("EcsParameters", "For an ECS cluster: the task to run.",
		needed(text("TaskDefinitionArn", "ARN of the task definition.", 1600)),
		whole("TaskCount", "Number of tasks.", 1, longest),
		oneOf("LaunchType", "Where tasks run.", "EC2", "FARGATE", "EXTERNAL"),
		objects("CapacityProviderStrategy", "Capacity providers, instead of a launch type.",
			needed(text("CapacityProvider", "Name of the provider.", 255)),
			orZero(whole("Weight", "Share of the tasks.", 0, 1000)), orZero(whole("Base", "Tasks that it runs at least.", 0, 100000))),
		object("NetworkConfiguration", "Network of tasks in awsvpc mode.",
			object("AwsVpcConfiguration", "Subnets and security groups of the tasks.",
				needed(set(texts("Subnets", "Subnets of the tasks."))), set(texts("SecurityGroups", "Security groups of the tasks.")),
				oneOf("AssignPublicIp", "Whether tasks get a public address.", "ENABLED", "DISABLED"))),
		truth("EnableECSManagedTags", "Whether ECS tags the tasks."),
		truth("EnableExecuteCommand", "Whether commands can be run in the tasks' containers."),
		text("Group", "Task group.", 255),
		objects("PlacementConstraints", "Constraints on where tasks are placed.",
			oneOf("Type", "Kind of the constraint.", "distinctInstance", "memberOf"), text("Expression", "Expression of memberOf.", 2000)),
		objects("PlacementStrategies", "How tasks are placed, in order.",
			oneOf("Type", "Kind of the strategy.", "random", "spread", "binpack"), text("Field", "What it goes by.", 255)),
		text("PlatformVersion", "Version of the Fargate platform.", 0),
		oneOf("PropagateTags", "Whether tasks get the task definition's tags.", "TASK_DEFINITION"),
		text("ReferenceId", "Reference ID of the tasks.", 1024),
		resource.Field{Name: "TagList", Doc: "Tags of the tasks.", Type: resource.TList, ItemKey: "Key", Equal: resource.EmptyIsNil, Elem: tagField()})
}
