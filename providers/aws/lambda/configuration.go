package lambda

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/wire"
)

// update is the request that changes a configuration.
type update = lambda.UpdateFunctionConfigurationInput

var (
	errNeeded  = errors.New("cannot be taken from a function whose code is an archive; set it")
	errDurable = errors.New("is decided when a function is made; give the function another name to replace it, or leave this as it was")
)

// configuration are the params that travel in UpdateFunctionConfiguration.
var configuration = []struct {
	param string
	set   func(*update, value.Value, resource.Change) error
}{
	{"Role", func(in *update, v value.Value, _ resource.Change) error {
		in.Role = wire.Text(v)
		return nil
	}},
	{"Runtime", func(in *update, v value.Value, _ resource.Change) error {
		in.Runtime = types.Runtime(wire.Name(v))
		return need(v)
	}},
	{"Handler", func(in *update, v value.Value, _ resource.Change) error {
		in.Handler = wire.Text(v)
		return need(v)
	}},
	{"Description", func(in *update, v value.Value, _ resource.Change) error {
		in.Description = aws.String(wire.Name(v))
		return nil
	}},
	{"Timeout", func(in *update, v value.Value, _ resource.Change) error {
		in.Timeout = or(wire.Int32(v), defaultTimeout)
		return nil
	}},
	{"MemorySize", func(in *update, v value.Value, _ resource.Change) error {
		in.MemorySize = or(wire.Int32(v), defaultMemory)
		return nil
	}},
	{"EphemeralStorage", func(in *update, v value.Value, _ resource.Change) error {
		in.EphemeralStorage = &types.EphemeralStorage{Size: or(wire.Int32(v.Get("Size")), defaultStorage)}
		return nil
	}},
	{"Environment", func(in *update, v value.Value, _ resource.Change) error {
		in.Environment = &types.Environment{Variables: map[string]string{}}
		if vars := variables(v); vars != nil {
			in.Environment.Variables = vars
		}
		return nil
	}},
	{"KmsKeyArn", func(in *update, v value.Value, _ resource.Change) error {
		in.KMSKeyArn = aws.String(wire.Name(v))
		return nil
	}},
	{"VpcConfig", func(in *update, v value.Value, _ resource.Change) error {
		in.VpcConfig = &types.VpcConfig{SubnetIds: list(v.Get("SubnetIds")), SecurityGroupIds: list(v.Get("SecurityGroupIds")),
			Ipv6AllowedForDualStack: wire.Bool(v.Get("Ipv6AllowedForDualStack"))}
		return nil
	}},
	{"FileSystemConfigs", func(in *update, v value.Value, _ resource.Change) error {
		in.FileSystemConfigs = append([]types.FileSystemConfig{}, mounts(v)...)
		return nil
	}},
	{"Layers", func(in *update, v value.Value, _ resource.Change) error {
		in.Layers = list(v)
		return nil
	}},
	{"ImageConfig", func(in *update, v value.Value, _ resource.Change) error {
		in.ImageConfig = &types.ImageConfig{Command: list(v.Get("Command")), EntryPoint: list(v.Get("EntryPoint")), WorkingDirectory: aws.String(wire.Name(v.Get("WorkingDirectory")))}
		return nil
	}},
	{"LoggingConfig", setLogging},
	{"TracingConfig", func(in *update, v value.Value, _ resource.Change) error {
		in.TracingConfig = &types.TracingConfig{Mode: types.TracingMode(orText(v.Get("Mode"), defaultTracing))}
		return nil
	}},
	{"SnapStart", func(in *update, v value.Value, _ resource.Change) error {
		in.SnapStart = &types.SnapStart{ApplyOn: types.SnapStartApplyOn(orText(v.Get("ApplyOn"), defaultSnapStart))}
		return nil
	}},
	{"DeadLetterConfig", func(in *update, v value.Value, _ resource.Change) error {
		in.DeadLetterConfig = &types.DeadLetterConfig{TargetArn: aws.String(wire.Name(v.Get("TargetArn")))}
		return nil
	}},
	{"DurableConfig", func(in *update, v value.Value, c resource.Change) error {
		if wire.Set(v) != c.Observed.Params["DurableConfig"].IsSet() {
			return errDurable
		}
		in.DurableConfig = durable(v)
		return nil
	}},
}

func need(v value.Value) error {
	if wire.Empty(v) {
		return errNeeded
	}
	return nil
}

// setLogging sends the whole of the logging: what config leaves out goes back to what the service fills in, and levels go
// only with JSON.
func setLogging(in *update, v value.Value, c resource.Change) error {
	l := &types.LoggingConfig{
		LogFormat: types.LogFormat(orText(v.Get("LogFormat"), defaultFormat)),
		LogGroup:  aws.String(orText(v.Get("LogGroup"), "/aws/lambda/"+c.Key["FunctionName"])),
	}
	if l.LogFormat == types.LogFormatJson {
		l.ApplicationLogLevel = types.ApplicationLogLevel(orText(v.Get("ApplicationLogLevel"), "INFO"))
		l.SystemLogLevel = types.SystemLogLevel(orText(v.Get("SystemLogLevel"), "INFO"))
	}
	in.LoggingConfig = l
	return nil
}

func or(n *int32, otherwise int32) *int32 {
	if n != nil {
		return n
	}
	return &otherwise
}

func orText(v value.Value, otherwise string) string {
	if text := wire.Name(v); text != "" {
		return text
	}
	return otherwise
}

// list is wire.Strings where none is sent as [].
func list(v value.Value) []string {
	if l := wire.Strings(v); l != nil {
		return l
	}
	return []string{}
}
