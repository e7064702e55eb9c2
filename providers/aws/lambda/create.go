package lambda

import (
	"context"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
	"reclaim/providers/aws/wire"
)

// separate are the params that CreateFunction does not take.
var separate = []string{"ReservedConcurrentExecutions", "RecursiveLoop", "RuntimeManagementConfig"}

// Create implements resource.Provider: one CreateFunction with the code, the configuration and all tags. The service does
// not say when it made the function, and gives it no ID: it is told by its nonce.
func (p *function) Create(ctx context.Context, c resource.Create) (resource.Created, error) {
	if err := wire.Whole("CreateFunction", c.Params); err != nil {
		return resource.Created{}, err
	}
	in, err := createInput(c)
	if err != nil {
		return resource.Created{}, err
	}
	out, reply, err := call(ctx, p.service, p.api.CreateFunction, in, once)
	if err != nil {
		err = conflicting(roleNotReady(dependency(err)), func() error {
			_, _, err := call(ctx, p.service, p.api.GetFunction, &lambda.GetFunctionInput{FunctionName: in.FunctionName})
			return err
		})
		return resource.Created{}, wire.Conceal(err, c.Params)
	}
	if aws.ToString(out.FunctionName) != c.Key["FunctionName"] || aws.ToString(out.FunctionArn) == "" {
		return resource.Created{}, session.Unacknowledged("CreateFunction", reply, "it succeeded, but did not say what it made")
	}
	made := resource.Created{Key: maps.Clone(c.Key), Output: outputs(out.FunctionArn, out.SnapStart), ServedAt: reply.ServedAt}
	for _, param := range separate {
		if wire.Set(c.Params[param]) {
			made.Unsent = append(made.Unsent, param)
		}
	}
	return made, nil
}

func createInput(c resource.Create) (*lambda.CreateFunctionInput, error) {
	m := c.Params
	code, err := codeInput("CreateFunction", m)
	if err != nil {
		return nil, err
	}
	in := &lambda.CreateFunctionInput{
		FunctionName:         aws.String(c.Key["FunctionName"]),
		Code:                 code,
		Role:                 wire.Text(m["Role"]),
		PackageType:          types.PackageType(wire.Name(m["PackageType"])),
		Runtime:              types.Runtime(wire.Name(m["Runtime"])),
		Handler:              wire.Text(m["Handler"]),
		Description:          wire.Text(m["Description"]),
		Timeout:              wire.Int32(m["Timeout"]),
		MemorySize:           wire.Int32(m["MemorySize"]),
		EphemeralStorage:     storage(m["EphemeralStorage"]),
		Architectures:        architectures(m["Architectures"]),
		VpcConfig:            network(m["VpcConfig"]),
		FileSystemConfigs:    mounts(m["FileSystemConfigs"]),
		Layers:               wire.Strings(m["Layers"]),
		ImageConfig:          image(m["ImageConfig"]),
		LoggingConfig:        logging(m["LoggingConfig"]),
		TracingConfig:        tracing(m["TracingConfig"]),
		SnapStart:            snapStart(m["SnapStart"]),
		DurableConfig:        durable(m["DurableConfig"]),
		TenancyConfig:        tenancy(m["TenancyConfig"]),
		DeadLetterConfig:     deadLetter(m["DeadLetterConfig"]),
		CodeSigningConfigArn: nonEmpty(m["CodeSigningConfigArn"]),
		KMSKeyArn:            nonEmpty(m["KmsKeyArn"]),
		Tags:                 wire.Join(wire.Tags(m["Tags"]), c.Tags),
	}
	if vars := variables(m["Environment"]); len(vars) > 0 {
		in.Environment = &types.Environment{Variables: vars}
	}
	return in, nil
}

// codeInput is where the code comes from, with the bytes of an archive.
func codeInput(op string, params value.Map) (*types.FunctionCode, error) {
	content, err := send(op, params)
	if err != nil {
		return nil, err
	}
	c := params["Code"]
	return &types.FunctionCode{
		ZipFile:             content,
		ImageUri:            wire.Text(c.Get("ImageUri")),
		S3Bucket:            wire.Text(c.Get("S3Bucket")),
		S3Key:               wire.Text(c.Get("S3Key")),
		S3ObjectVersion:     wire.Text(c.Get("S3ObjectVersion")),
		S3ObjectStorageMode: types.S3ObjectStorageMode(wire.Name(c.Get("S3ObjectStorageMode"))),
		SourceKMSKeyArn:     wire.Text(c.Get("SourceKMSKeyArn")),
	}, nil
}

// nonEmpty is wire.Text where "" is none.
func nonEmpty(v value.Value) *string {
	if wire.Empty(v) {
		return nil
	}
	return wire.Text(v)
}

// variables returns the environment variables; nil for none.
func variables(environment value.Value) map[string]string {
	return wire.Texts(environment.Get("Variables"))
}

func architectures(v value.Value) []types.Architecture {
	var list []types.Architecture
	for _, a := range wire.Strings(v) {
		list = append(list, types.Architecture(a))
	}
	return list
}

func storage(v value.Value) *types.EphemeralStorage {
	if !wire.Set(v) {
		return nil
	}
	return &types.EphemeralStorage{Size: wire.Int32(v.Get("Size"))}
}

func network(v value.Value) *types.VpcConfig {
	if wire.Empty(v) {
		return nil
	}
	return &types.VpcConfig{
		SubnetIds:               wire.Strings(v.Get("SubnetIds")),
		SecurityGroupIds:        wire.Strings(v.Get("SecurityGroupIds")),
		Ipv6AllowedForDualStack: wire.Bool(v.Get("Ipv6AllowedForDualStack")),
	}
}

func mounts(v value.Value) []types.FileSystemConfig {
	var list []types.FileSystemConfig
	for _, m := range v.Items() {
		list = append(list, types.FileSystemConfig{Arn: wire.Text(m.Get("Arn")), LocalMountPath: wire.Text(m.Get("LocalMountPath"))})
	}
	return list
}

func image(v value.Value) *types.ImageConfig {
	if wire.Empty(v) {
		return nil
	}
	return &types.ImageConfig{Command: wire.Strings(v.Get("Command")), EntryPoint: wire.Strings(v.Get("EntryPoint")), WorkingDirectory: wire.Text(v.Get("WorkingDirectory"))}
}

func logging(v value.Value) *types.LoggingConfig {
	if wire.Empty(v) {
		return nil
	}
	return &types.LoggingConfig{
		LogFormat:           types.LogFormat(wire.Name(v.Get("LogFormat"))),
		ApplicationLogLevel: types.ApplicationLogLevel(wire.Name(v.Get("ApplicationLogLevel"))),
		SystemLogLevel:      types.SystemLogLevel(wire.Name(v.Get("SystemLogLevel"))),
		LogGroup:            wire.Text(v.Get("LogGroup")),
	}
}

func tracing(v value.Value) *types.TracingConfig {
	if !wire.Set(v) {
		return nil
	}
	return &types.TracingConfig{Mode: types.TracingMode(wire.Name(v.Get("Mode")))}
}

func snapStart(v value.Value) *types.SnapStart {
	if !wire.Set(v) {
		return nil
	}
	return &types.SnapStart{ApplyOn: types.SnapStartApplyOn(wire.Name(v.Get("ApplyOn")))}
}

func durable(v value.Value) *types.DurableConfig {
	if !wire.Set(v) {
		return nil
	}
	return &types.DurableConfig{ExecutionTimeout: wire.Int32(v.Get("ExecutionTimeout")), RetentionPeriodInDays: wire.Int32(v.Get("RetentionPeriodInDays"))}
}

func tenancy(v value.Value) *types.TenancyConfig {
	if !wire.Set(v) {
		return nil
	}
	return &types.TenancyConfig{TenantIsolationMode: types.TenantIsolationMode(wire.Name(v.Get("TenantIsolationMode")))}
}

func deadLetter(v value.Value) *types.DeadLetterConfig {
	if wire.Empty(v) || wire.Empty(v.Get("TargetArn")) {
		return nil
	}
	return &types.DeadLetterConfig{TargetArn: wire.Text(v.Get("TargetArn"))}
}
