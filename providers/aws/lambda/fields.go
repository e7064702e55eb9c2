package lambda

import (
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// settingFields are the params that say how a function runs and what it reaches.
func settingFields() []resource.Field {
	return []resource.Field{
		{Name: "Environment", Doc: "Environment variables; none, {} and no variables are one.",
			Type: resource.TObject, Mode: resource.Mutable, Equal: resource.EmptyIsNil, Fields: []resource.Field{
				{Name: "Variables", Doc: "Values by name, 4 KB in all.", Type: resource.TMap, Elem: &resource.Field{Type: resource.TString}}}},
		{Name: "KmsKeyArn", Doc: "ARN of the key that encrypts the environment variables.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(""), Equal: resource.EmptyIsNil},
		vpcField(),
		{Name: "FileSystemConfigs", Doc: "File systems that the function mounts.",
			Type: resource.TList, Mode: resource.Mutable, Equal: resource.EmptyIsNil, ItemKey: "LocalMountPath",
			Elem: &resource.Field{Type: resource.TObject, Fields: []resource.Field{
				{Name: "Arn", Doc: "ARN of the access point.", Type: resource.TString, Required: true},
				{Name: "LocalMountPath", Doc: "Where it is mounted, under /mnt.", Type: resource.TString, Required: true, Pattern: `/mnt/[a-zA-Z0-9-_.]+`},
			}}},
		{Name: "Layers", Doc: "ARNs of layer versions, in the order in which they are unpacked.",
			Type: resource.TList, Mode: resource.Mutable, Equal: resource.EmptyIsNil, Elem: &resource.Field{Type: resource.TString}},
		{Name: "ImageConfig", Doc: "What overrides the settings of a container image.",
			Type: resource.TObject, Mode: resource.Mutable, Equal: resource.EmptyIsNil, Fields: []resource.Field{
				{Name: "Command", Doc: "Arguments of the entry point.", Type: resource.TList, Elem: &resource.Field{Type: resource.TString}},
				{Name: "EntryPoint", Doc: "What is run, with its first arguments.", Type: resource.TList, Elem: &resource.Field{Type: resource.TString}},
				{Name: "WorkingDirectory", Doc: "Where it is run.", Type: resource.TString, Max: bound(1000)},
			}},
		loggingField(),
		one("TracingConfig", "Tracing with X-Ray.", "Mode", "Whether requests are sampled.", resource.Mutable, defaultTracing, "Active", "PassThrough"),
		one("SnapStart", "Start from a snapshot, for published versions.", "ApplyOn", "What it is applied to.", resource.Mutable, defaultSnapStart, "PublishedVersions", "None"),
		{Name: "DeadLetterConfig", Doc: "Where asynchronous events go that could not be processed.",
			Type: resource.TObject, Mode: resource.Mutable, Equal: resource.EmptyIsNil, Fields: []resource.Field{
				{Name: "TargetArn", Doc: "ARN of a queue or topic.", Type: resource.TString}}},
		{Name: "DurableConfig", Doc: "Durable executions; a function is made for them or not, and their settings can change.",
			Type: resource.TObject, Mode: resource.Mutable, Fields: []resource.Field{
				{Name: "ExecutionTimeout", Doc: "Longest execution, in seconds.", Type: resource.TInt, Required: true, Min: bound(1), Max: bound(31622400)},
				{Name: "RetentionPeriodInDays", Doc: "Days for which its history is kept.", Type: resource.TInt, Min: bound(1), Max: bound(90)},
			}},
		one("TenancyConfig", "Isolation of tenants.", "TenantIsolationMode", "How they are isolated.", resource.Immutable, "", "PER_TENANT"),
		{Name: "ReservedConcurrentExecutions", Doc: "Executions reserved for the function, and the most there are; 0 stops it.",
			Type: resource.TInt, Mode: resource.Mutable, Min: bound(0)},
		{Name: "RecursiveLoop", Doc: "What happens to events that the function sends to itself.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(defaultLoop), Enum: []string{"Allow", "Terminate"}},
		{Name: "RuntimeManagementConfig", Doc: "When the function moves to a new version of its runtime.",
			Type: resource.TObject, Mode: resource.Mutable, Default: value.OfMap(value.Map{"UpdateRuntimeOn": value.Of(defaultUpdateOn)}), Fields: []resource.Field{
				{Name: "UpdateRuntimeOn", Doc: "When it moves.", Type: resource.TString, Required: true, Default: value.Of(defaultUpdateOn), Enum: []string{"Auto", "FunctionUpdate", "Manual"}},
				{Name: "RuntimeVersionArn", Doc: "ARN of the version that it stays at (Manual only).", Type: resource.TString, Equal: resource.EmptyIsNil},
			}},
		{Name: "CodeSigningConfigArn", Doc: "ARN of the configuration that says whose signatures code must have.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(""), Equal: resource.EmptyIsNil},
		{Name: "Tags", Doc: "Tags of the function; tags that others set stay.",
			Type: resource.TList, Mode: resource.Mutable, ItemKey: "Key", Shared: true,
			Elem: &resource.Field{Type: resource.TObject, Fields: []resource.Field{
				{Name: "Key", Doc: "Name of the tag.", Type: resource.TString, Required: true, Min: bound(1), Max: bound(128)},
				{Name: "Value", Doc: "Value of the tag.", Type: resource.TString, Max: bound(256)},
			}}},
	}
}

// one is an object with one field out of a fixed set. An empty standard is none.
func one(name, doc, field, fieldDoc string, mode resource.Mode, standard string, allowed ...string) resource.Field {
	f := resource.Field{Name: name, Doc: doc, Type: resource.TObject, Mode: mode, Fields: []resource.Field{
		{Name: field, Doc: fieldDoc, Type: resource.TString, Required: true, Enum: allowed}}}
	if standard != "" {
		f.Default, f.Fields[0].Default = value.OfMap(value.Map{field: value.Of(standard)}), value.Of(standard)
	}
	return f
}

func vpcField() resource.Field {
	ids := func(name, doc string) resource.Field {
		return resource.Field{Name: name, Doc: doc, Type: resource.TList, Set: true, Elem: &resource.Field{Type: resource.TString}}
	}
	return resource.Field{Name: "VpcConfig", Doc: "The VPC that the function reaches into; empty lists are none.",
		Type: resource.TObject, Mode: resource.Mutable, Equal: resource.EmptyIsNil, Fields: []resource.Field{
			ids("SubnetIds", "Subnets of the VPC."),
			ids("SecurityGroupIds", "Security groups of the VPC."),
			{Name: "Ipv6AllowedForDualStack", Doc: "Whether it may use IPv6 where the subnets have it.", Type: resource.TBool, Default: value.Of(false)},
		}}
}

func loggingField() resource.Field {
	return resource.Field{Name: "LoggingConfig", Doc: "Where logs go, and in which form.",
		Type: resource.TObject, Mode: resource.Mutable, Fields: []resource.Field{
			{Name: "LogFormat", Doc: "Form of the log.", Type: resource.TString, Default: value.Of(defaultFormat), Enum: []string{"JSON", "Text"}},
			{Name: "ApplicationLogLevel", Doc: "Least level of the function's own messages (JSON only).", Type: resource.TString, Default: value.Of("INFO"),
				Enum: []string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"}},
			{Name: "SystemLogLevel", Doc: "Least level of Lambda's messages (JSON only).", Type: resource.TString, Default: value.Of("INFO"), Enum: []string{"DEBUG", "INFO", "WARN"}},
			{Name: "LogGroup", Doc: "Log group; /aws/lambda/ and the function's name when config does not say.", Type: resource.TString,
				Min: bound(1), Max: bound(512), Pattern: `[\.\-_/#A-Za-z0-9]+`},
		}}
}
