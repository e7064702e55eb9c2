package awssim

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

var (
	noFunction      = refusal{"ResourceNotFoundException", 404}
	functionBusy    = refusal{"ResourceConflictException", 409}
	badFunctionArg  = refusal{"InvalidParameterValueException", 400}
	outOfBounds     = refusal{"ValidationException", 400}
	nobody          = aws.String("nobody-here")
	nobodyARN       = aws.String("arn:aws:lambda:" + region + ":" + account + ":function:nobody-here")
	archiveOne      = packed("exports.handler = async () => 1")
	archiveTwo      = packed("exports.handler = async () => 2")
	signingARN      = aws.String("arn:aws:lambda:" + region + ":" + account + ":code-signing-config:csc-0123456789abcdef0")
	runtimeVersions = aws.String("arn:aws:lambda:" + region + "::runtime:0123456789abcdef")
)

func packed(source string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, _ := z.Create("index.js")
	w.Write([]byte(source)) //nolint:errcheck // into memory
	z.Close()               //nolint:errcheck // likewise
	return b.Bytes()
}

// claimScale makes the simulated cloud's waits short enough for hundreds of claims, and long enough that a claim about what
// is refused meanwhile comes in time.
const claimScale = 0.05

// runsAs returns a role that Lambda can assume; policies may write logs or nothing.
func (k clients) runsAs(policies ...string) (*string, error) {
	name := "claims-" + strings.ReplaceAll(strings.Join(policies, "-"), "/", "-")[max(0, len(strings.Join(policies, "-"))-40):]
	_, err := k.iam.CreateRole(k.ctx, &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: aws.String(trustJSON)})
	if err != nil && refusalOf(err).Code != "EntityAlreadyExists" {
		return nil, err
	}
	if err == nil {
		time.Sleep(2 * time.Duration(claimScale*float64(roleAssumable)))
	}
	for _, p := range policies {
		if _, err := k.iam.AttachRolePolicy(k.ctx, &iam.AttachRolePolicyInput{RoleName: &name, PolicyArn: &p}); err != nil {
			return nil, err
		}
	}
	return aws.String("arn:aws:iam::" + account + ":role/" + name), nil
}

// function makes a function of an archive, changed by edit, and does not wait for it.
func (k clients) function(edit func(*lambda.CreateFunctionInput)) (*lambda.CreateFunctionOutput, error) {
	in := &lambda.CreateFunctionInput{FunctionName: aws.String(k.functionName()), Runtime: types.RuntimeNodejs22x, Handler: aws.String("index.handler"),
		Code: &types.FunctionCode{ZipFile: archiveOne}}
	var err error
	if in.Role, err = k.runsAs(); err != nil {
		return nil, err
	}
	if edit != nil {
		edit(in)
	}
	return k.fns.CreateFunction(k.ctx, in)
}

func (k clients) functionName() string {
	name := strings.ReplaceAll(k.name("f"), "_", "-")
	keep := func(r rune) rune {
		if r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}
	return strings.Map(keep, name)
}

// settled waits until a function takes changes.
func (k clients) settled(name *string) (*lambda.GetFunctionConfigurationOutput, error) {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		out, err := k.fns.GetFunctionConfiguration(k.ctx, &lambda.GetFunctionConfigurationInput{FunctionName: name})
		if err != nil {
			return nil, err
		}
		if out.State == types.StateActive && out.LastUpdateStatus == types.LastUpdateStatusSuccessful {
			return out, nil
		}
		if time.Now().After(deadline) {
			return nil, errors.New("the function does not settle")
		}
	}
}

// onFunction runs what comes after a function was made and settled.
func onFunction(edit func(*lambda.CreateFunctionInput), then func(k clients, name *string) (any, any, error)) func(clients) (any, any, error) {
	return func(k clients) (any, any, error) {
		out, err := k.function(edit)
		if err != nil {
			return nil, nil, err
		}
		if _, err := k.settled(out.FunctionName); err != nil {
			return nil, nil, err
		}
		return then(k, out.FunctionName)
	}
}

// changing is onFunction for a change that is to be refused.
func changing(then func(k clients, name *string) error) func(clients) (any, any, error) {
	return onFunction(nil, func(k clients, name *string) (any, any, error) { return nil, nil, then(k, name) })
}

func createsFunction(edit func(*lambda.CreateFunctionInput)) func(clients) (any, any, error) {
	return func(k clients) (any, any, error) {
		_, err := k.function(edit)
		return nil, nil, err
	}
}

// updated changes a function's configuration and returns it, settled.
func updated(k clients, in *lambda.UpdateFunctionConfigurationInput) (*lambda.GetFunctionConfigurationOutput, error) {
	if _, err := k.fns.UpdateFunctionConfiguration(k.ctx, in); err != nil {
		return nil, err
	}
	return k.settled(in.FunctionName)
}

func lambdaBehaviours() []behaviour {
	return slices.Concat(functionBehaviours(), functionRefusals(), functionSettingBehaviours(), permissionBehaviours(), absentFunctionBehaviours())
}

func functionBehaviours() []behaviour {
	return []behaviour{
		{claim: "a function comes back with all that it was created with", do: wholeFunction},
		{claim: "a function without options has the service's defaults and no more", do: bareFunction},
		{claim: "a function is pending first, and says why", do: func(k clients) (any, any, error) {
			out, err := k.function(nil)
			if err != nil {
				return nil, nil, err
			}
			return []any{out.State, out.StateReasonCode}, []any{types.StatePending, types.StateReasonCodeCreating}, nil
		}},
		{claim: "a function that is settled says so", do: onFunction(nil, func(k clients, name *string) (any, any, error) {
			out, err := k.settled(name)
			return err == nil && out.StateReason == nil, true, err
		})},
		{claim: "the code's hash is that of the bytes sent, in base64", do: onFunction(nil, func(k clients, name *string) (any, any, error) {
			if _, err := k.fns.UpdateFunctionCode(k.ctx, &lambda.UpdateFunctionCodeInput{FunctionName: name, ZipFile: archiveTwo}); err != nil {
				return nil, nil, err
			}
			out, err := k.settled(name)
			if err != nil {
				return nil, nil, err
			}
			sum := sha256.Sum256(archiveTwo)
			return *out.CodeSha256, base64.StdEncoding.EncodeToString(sum[:]), nil
		})},
		{claim: "an architecture is changed with the code", do: onFunction(nil, func(k clients, name *string) (any, any, error) {
			_, err := k.fns.UpdateFunctionCode(k.ctx, &lambda.UpdateFunctionCodeInput{FunctionName: name, ZipFile: archiveTwo, Architectures: []types.Architecture{types.ArchitectureArm64}})
			if err != nil {
				return nil, nil, err
			}
			out, err := k.settled(name)
			if err != nil {
				return nil, nil, err
			}
			return out.Architectures, []types.Architecture{types.ArchitectureArm64}, nil
		})},
		{claim: "an image says its URI, and an archive's place is no bucket of the caller's", do: imageFunction},
		{claim: "an update changes what is sent and leaves what is not", do: onFunction(func(in *lambda.CreateFunctionInput) { in.Description, in.Timeout = aws.String("old"), aws.Int32(9) },
			func(k clients, name *string) (any, any, error) {
				out, err := updated(k, &lambda.UpdateFunctionConfigurationInput{FunctionName: name, Timeout: aws.Int32(10)})
				if err != nil {
					return nil, nil, err
				}
				return []any{*out.Description, *out.Timeout}, []any{"old", int32(10)}, nil
			})},
		{claim: "no variables take the environment away", do: onFunction(func(in *lambda.CreateFunctionInput) {
			in.Environment = &types.Environment{Variables: map[string]string{"AA": "1"}}
		},
			func(k clients, name *string) (any, any, error) {
				out, err := updated(k, &lambda.UpdateFunctionConfigurationInput{FunctionName: name, Environment: &types.Environment{Variables: map[string]string{}}})
				if err != nil {
					return nil, nil, err
				}
				return out.Environment == nil || len(out.Environment.Variables) == 0, true, nil
			})},
		{claim: "a function is taken out of its VPC by empty lists, which stay", do: onFunction(
			func(in *lambda.CreateFunctionInput) {
				in.VpcConfig = &types.VpcConfig{SubnetIds: []string{"subnet-01"}, SecurityGroupIds: []string{"sg-01"}}
			},
			func(k clients, name *string) (any, any, error) {
				out, err := updated(k, &lambda.UpdateFunctionConfigurationInput{FunctionName: name, VpcConfig: &types.VpcConfig{SubnetIds: []string{}, SecurityGroupIds: []string{}}})
				if err != nil || out.VpcConfig == nil {
					return nil, "a VpcConfig", err
				}
				return []any{len(out.VpcConfig.SubnetIds), aws.ToString(out.VpcConfig.VpcId)}, []any{0, ""}, nil
			})},
		{claim: "a log in JSON has the level INFO where none is set", do: onFunction(func(in *lambda.CreateFunctionInput) {
			in.LoggingConfig = &types.LoggingConfig{LogFormat: types.LogFormatJson}
		},
			func(k clients, name *string) (any, any, error) {
				out, err := k.settled(name)
				if err != nil || out.LoggingConfig == nil {
					return nil, "a LoggingConfig", err
				}
				l := out.LoggingConfig
				return []any{l.ApplicationLogLevel, l.SystemLogLevel, *l.LogGroup}, []any{types.ApplicationLogLevelInfo, types.SystemLogLevelInfo, "/aws/lambda/" + *name}, nil
			})},
		{claim: "functions are listed page by page, without their state", do: listFunctions},
		{claim: "a function is named by name, by account and name, and by ARN", do: onFunction(nil, func(k clients, name *string) (any, any, error) {
			var got []string
			for _, n := range []string{*name, account + ":function:" + *name, "arn:aws:lambda:" + region + ":" + account + ":function:" + *name, *name + ":$LATEST"} {
				out, err := k.fns.GetFunctionConfiguration(k.ctx, &lambda.GetFunctionConfigurationInput{FunctionName: &n})
				if err != nil {
					return nil, nil, err
				}
				got = append(got, *out.FunctionName)
			}
			return got, []string{*name, *name, *name, *name}, nil
		})},
		{claim: "function tags are set, replaced, removed and read", do: functionTagLife},
		{claim: "the first run of a function makes its log group, untagged, if its role may", do: firstRun},
		{claim: "a function whose role may not write logs makes no log group", do: onFunction(nil, func(k clients, name *string) (any, any, error) {
			_, err := k.fns.Invoke(k.ctx, &lambda.InvokeInput{FunctionName: name})
			if err != nil {
				return nil, nil, err
			}
			out, err := k.logs.DescribeLogGroups(k.ctx, &cloudwatchlogs.DescribeLogGroupsInput{LogGroupNamePrefix: aws.String("/aws/lambda/" + *name)})
			if err != nil {
				return nil, nil, err
			}
			return len(out.LogGroups), 0, nil
		})},
	}
}

func wholeFunction(k clients) (any, any, error) {
	made, err := k.function(func(in *lambda.CreateFunctionInput) {
		in.Description, in.MemorySize, in.Timeout = aws.String("orders"), aws.Int32(256), aws.Int32(7)
		in.Environment = &types.Environment{Variables: map[string]string{"STAGE": "test"}}
		in.LoggingConfig = &types.LoggingConfig{LogFormat: types.LogFormatJson, ApplicationLogLevel: types.ApplicationLogLevelWarn, LogGroup: aws.String("/claims/f")}
		in.TracingConfig = &types.TracingConfig{Mode: types.TracingModeActive}
		in.EphemeralStorage = &types.EphemeralStorage{Size: aws.Int32(1024)}
		in.DeadLetterConfig = &types.DeadLetterConfig{TargetArn: aws.String("arn:aws:sqs:" + region + ":" + account + ":dead")}
		in.Tags = map[string]string{"reclaim:nonce": "n1"}
	})
	if err != nil {
		return nil, nil, err
	}
	out, err := k.fns.GetFunction(k.ctx, &lambda.GetFunctionInput{FunctionName: made.FunctionName})
	if err != nil {
		return nil, nil, err
	}
	c := out.Configuration
	if c.LoggingConfig == nil || c.DeadLetterConfig == nil {
		return nil, "a LoggingConfig and a DeadLetterConfig", nil
	}
	return []any{*c.Description, *c.MemorySize, *c.Timeout, c.Environment.Variables, c.LoggingConfig.ApplicationLogLevel, *c.LoggingConfig.LogGroup, c.TracingConfig.Mode,
			*c.EphemeralStorage.Size, *c.DeadLetterConfig.TargetArn, out.Tags, *c.FunctionArn},
		[]any{"orders", int32(256), int32(7), map[string]string{"STAGE": "test"}, types.ApplicationLogLevelWarn, "/claims/f", types.TracingModeActive,
			int32(1024), "arn:aws:sqs:" + region + ":" + account + ":dead", map[string]string{"reclaim:nonce": "n1"},
			"arn:aws:lambda:" + region + ":" + account + ":function:" + *made.FunctionName}, nil
}

func bareFunction(k clients) (any, any, error) {
	made, err := k.function(nil)
	if err != nil {
		return nil, nil, err
	}
	out, err := k.fns.GetFunction(k.ctx, &lambda.GetFunctionInput{FunctionName: made.FunctionName})
	if err != nil {
		return nil, nil, err
	}
	c := out.Configuration
	if c.LoggingConfig == nil {
		return nil, "a LoggingConfig", nil
	}
	return []any{*c.MemorySize, *c.Timeout, c.Architectures, c.PackageType, *c.EphemeralStorage.Size, c.TracingConfig.Mode, aws.ToString(c.Description), c.LoggingConfig.LogFormat,
			c.Environment == nil, c.VpcConfig == nil, c.SnapStart.ApplyOn, len(out.Tags), out.Concurrency == nil},
		[]any{int32(128), int32(3), []types.Architecture{types.ArchitectureX8664}, types.PackageTypeZip, int32(512), types.TracingModePassThrough, "", types.LogFormatText,
			true, true, types.SnapStartApplyOnNone, 0, true}, nil
}

func imageFunction(k clients) (any, any, error) {
	uri := account + ".dkr.ecr." + region + ".amazonaws.com/orders:v1"
	made, err := k.function(func(in *lambda.CreateFunctionInput) {
		in.Runtime, in.Handler, in.PackageType, in.Code = "", nil, types.PackageTypeImage, &types.FunctionCode{ImageUri: &uri}
	})
	if err != nil {
		return nil, nil, err
	}
	image, err := k.fns.GetFunction(k.ctx, &lambda.GetFunctionInput{FunctionName: made.FunctionName})
	if err == nil {
		made, err = k.function(nil)
	}
	if err != nil {
		return nil, nil, err
	}
	archive, err := k.fns.GetFunction(k.ctx, &lambda.GetFunctionInput{FunctionName: made.FunctionName})
	if err != nil {
		return nil, nil, err
	}
	return []any{*image.Code.ImageUri, *archive.Code.RepositoryType, archive.Code.ImageUri == nil, archive.Code.ResolvedS3Object == nil}, []any{uri, "S3", true, true}, nil
}

func listFunctions(k clients) (any, any, error) {
	want := map[string]bool{}
	for range 5 {
		out, err := k.function(nil)
		if err != nil {
			return nil, nil, err
		}
		want[*out.FunctionName] = true
	}
	got := map[string]bool{}
	var marker *string
	largest, states := 0, 0
	for {
		out, err := k.fns.ListFunctions(k.ctx, &lambda.ListFunctionsInput{MaxItems: aws.Int32(2), Marker: marker})
		if err != nil {
			return nil, nil, err
		}
		largest = max(largest, len(out.Functions))
		for _, f := range out.Functions {
			if want[*f.FunctionName] {
				got[*f.FunctionName] = true
			}
			states += len(f.State) + len(f.LastUpdateStatus)
		}
		if marker = out.NextMarker; marker == nil {
			break
		}
	}
	return []any{maps.Equal(got, want), largest, states}, []any{true, 2, 0}, nil
}

func functionTagLife(k clients) (any, any, error) {
	made, err := k.function(func(in *lambda.CreateFunctionInput) {
		in.Tags = map[string]string{"a": "old", "gone": "x", "also gone": "y"}
	})
	if err == nil {
		_, err = k.fns.TagResource(k.ctx, &lambda.TagResourceInput{Resource: made.FunctionArn, Tags: map[string]string{"a": "new"}})
	}
	if err == nil {
		_, err = k.fns.UntagResource(k.ctx, &lambda.UntagResourceInput{Resource: made.FunctionArn, TagKeys: []string{"gone", "also gone"}})
	}
	if err != nil {
		return nil, nil, err
	}
	out, err := k.fns.ListTags(k.ctx, &lambda.ListTagsInput{Resource: made.FunctionArn})
	if err != nil {
		return nil, nil, err
	}
	return out.Tags, map[string]string{"a": "new"}, nil
}

func firstRun(k clients) (any, any, error) {
	role, err := k.runsAs(basicARN)
	if err != nil {
		return nil, nil, err
	}
	return onFunction(func(in *lambda.CreateFunctionInput) { in.Role = role }, func(k clients, name *string) (any, any, error) {
		var statuses []int32
		for _, kind := range []types.InvocationType{types.InvocationTypeDryRun, types.InvocationTypeRequestResponse, types.InvocationTypeEvent} {
			out, err := k.fns.Invoke(k.ctx, &lambda.InvokeInput{FunctionName: name, InvocationType: kind, Payload: []byte(`{"id":1}`)})
			if err != nil {
				return nil, nil, err
			}
			statuses = append(statuses, out.StatusCode)
		}
		out, err := k.logs.DescribeLogGroups(k.ctx, &cloudwatchlogs.DescribeLogGroupsInput{LogGroupNamePrefix: aws.String("/aws/lambda/" + *name)})
		if err != nil || len(out.LogGroups) != 1 {
			return nil, "one log group", err
		}
		tags, err := k.logs.ListTagsForResource(k.ctx, &cloudwatchlogs.ListTagsForResourceInput{ResourceArn: out.LogGroups[0].LogGroupArn})
		if err != nil {
			return nil, nil, err
		}
		return []any{statuses, *out.LogGroups[0].LogGroupName, len(tags.Tags), out.LogGroups[0].RetentionInDays == nil},
			[]any{[]int32{204, 200, 202}, "/aws/lambda/" + *name, 0, true}, nil
	})(k)
}

// policyOf parses the policy's only statement.
func policyOf(k clients, name *string) (map[string]any, error) {
	out, err := k.fns.GetPolicy(k.ctx, &lambda.GetPolicyInput{FunctionName: name})
	if err != nil {
		return nil, err
	}
	var doc struct{ Statement []map[string]any }
	if err := json.Unmarshal([]byte(*out.Policy), &doc); err != nil || len(doc.Statement) != 1 {
		return nil, errors.New("the policy has not one statement: " + *out.Policy)
	}
	return doc.Statement[0], nil
}
