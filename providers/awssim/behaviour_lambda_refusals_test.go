package awssim

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

// newRole makes a role that nobody waited for.
func (k clients) newRole(trust string) (*string, error) {
	out, err := k.iam.CreateRole(k.ctx, &iam.CreateRoleInput{RoleName: aws.String(k.name("r")), AssumeRolePolicyDocument: &trust})
	if err != nil {
		return nil, err
	}
	return out.Role.Arn, nil
}

func functionRefusals() []behaviour {
	sized := func(n int32) func(*lambda.CreateFunctionInput) {
		return func(in *lambda.CreateFunctionInput) { in.MemorySize = &n }
	}
	vars := func(name, text string) func(*lambda.CreateFunctionInput) {
		return func(in *lambda.CreateFunctionInput) {
			in.Environment = &types.Environment{Variables: map[string]string{name: text}}
		}
	}
	return []behaviour{
		{claim: "a second function of the same name conflicts", refuse: functionBusy, do: func(k clients) (any, any, error) {
			name := aws.String(k.functionName())
			for range 2 {
				if _, err := k.function(func(in *lambda.CreateFunctionInput) { in.FunctionName = name }); err != nil {
					return nil, nil, err
				}
			}
			return nil, nil, nil
		}},
		{claim: "a function that is pending takes no update: a conflict too", refuse: functionBusy, do: func(k clients) (any, any, error) {
			out, err := k.function(nil)
			if err == nil {
				_, err = k.fns.UpdateFunctionConfiguration(k.ctx, &lambda.UpdateFunctionConfigurationInput{FunctionName: out.FunctionName, Timeout: aws.Int32(4)})
			}
			return nil, nil, err
		}},
		{claim: "a function takes one update at a time", refuse: functionBusy, do: changing(func(k clients, name *string) error {
			if _, err := k.fns.UpdateFunctionConfiguration(k.ctx, &lambda.UpdateFunctionConfigurationInput{FunctionName: name, Timeout: aws.Int32(4)}); err != nil {
				return err
			}
			_, err := k.fns.UpdateFunctionCode(k.ctx, &lambda.UpdateFunctionCodeInput{FunctionName: name, ZipFile: archiveTwo})
			return err
		})},
		{claim: "an update of an old revision is refused", refuse: refusal{"PreconditionFailedException", 412}, do: changing(func(k clients, name *string) error {
			_, err := k.fns.UpdateFunctionConfiguration(k.ctx, &lambda.UpdateFunctionConfigurationInput{FunctionName: name, Timeout: aws.Int32(4), RevisionId: aws.String("old")})
			return err
		})},
		{claim: "a role that is not there cannot be assumed", refuse: badFunctionArg,
			do: createsFunction(func(in *lambda.CreateFunctionInput) { in.Role = aws.String("arn:aws:iam::" + account + ":role/nobody") })},
		{claim: "a role that trusts somebody else cannot be assumed", refuse: badFunctionArg, do: func(k clients) (any, any, error) {
			role, err := k.newRole(strings.ReplaceAll(trustJSON, "lambda.", "ec2."))
			if err != nil {
				return nil, nil, err
			}
			return createsFunction(func(in *lambda.CreateFunctionInput) { in.Role = role })(k)
		}},
		{claim: "a role that was made a moment ago cannot be assumed yet, and nothing is made", refuse: badFunctionArg, do: func(k clients) (any, any, error) {
			if _, err := k.runsAs(); err != nil { // once slept for, it takes no time
				return nil, nil, err
			}
			role, err := k.newRole(trustJSON)
			if err != nil {
				return nil, nil, err
			}
			return createsFunction(func(in *lambda.CreateFunctionInput) { in.Role = role })(k)
		}},
		{claim: "a role of another account cannot be passed", refuse: refusal{"AccessDeniedException", 403},
			do: createsFunction(func(in *lambda.CreateFunctionInput) { in.Role = aws.String("arn:aws:iam::999988887777:role/r") })},
		{claim: "what is no role's ARN is out of bounds", refuse: outOfBounds, do: createsFunction(func(in *lambda.CreateFunctionInput) { in.Role = aws.String("worker") })},
		{claim: "a memory of 64 MB is out of bounds", refuse: outOfBounds, do: createsFunction(sized(64))},
		{claim: "a timeout of 901 seconds is out of bounds", refuse: outOfBounds, do: createsFunction(func(in *lambda.CreateFunctionInput) { in.Timeout = aws.Int32(901) })},
		{claim: "a function name with a dot is out of bounds", refuse: outOfBounds, do: createsFunction(func(in *lambda.CreateFunctionInput) { in.FunctionName = aws.String("a.b") })},
		{claim: "two architectures are out of bounds", refuse: outOfBounds,
			do: createsFunction(func(in *lambda.CreateFunctionInput) { in.Architectures = []types.Architecture{"x86_64", "arm64"} })},
		{claim: "a function of an archive needs a handler", refuse: badFunctionArg, do: createsFunction(func(in *lambda.CreateFunctionInput) { in.Handler = nil })},
		{claim: "a runtime that there is not is refused", refuse: badFunctionArg, do: createsFunction(func(in *lambda.CreateFunctionInput) { in.Runtime = "cobol68" })},
		{claim: "an image has no handler", refuse: badFunctionArg, do: createsFunction(func(in *lambda.CreateFunctionInput) {
			in.PackageType, in.Code = types.PackageTypeImage, &types.FunctionCode{ImageUri: aws.String(account + ".dkr.ecr." + region + ".amazonaws.com/o:v1")}
		})},
		{claim: "code that is no archive is refused", refuse: badFunctionArg, do: createsFunction(func(in *lambda.CreateFunctionInput) { in.Code.ZipFile = []byte("no archive") })},
		{claim: "code from two places is refused", refuse: badFunctionArg, do: createsFunction(func(in *lambda.CreateFunctionInput) {
			in.Code.ImageUri = aws.String(account + ".dkr.ecr." + region + ".amazonaws.com/o:v1")
		})},
		{claim: "code in a bucket that is not there is refused", refuse: badFunctionArg, do: createsFunction(func(in *lambda.CreateFunctionInput) {
			in.Code = &types.FunctionCode{S3Bucket: aws.String("no-such-bucket-of-ours"), S3Key: aws.String("k")}
		})},
		{claim: "SnapStart of a runtime that has none is refused", refuse: badFunctionArg, do: createsFunction(func(in *lambda.CreateFunctionInput) {
			in.SnapStart = &types.SnapStart{ApplyOn: types.SnapStartApplyOnPublishedVersions}
		})},
		{claim: "subnets without security groups are refused", refuse: badFunctionArg, do: createsFunction(func(in *lambda.CreateFunctionInput) {
			in.VpcConfig = &types.VpcConfig{SubnetIds: []string{"subnet-01"}, SecurityGroupIds: []string{}}
		})},
		{claim: "a file system outside of a VPC is refused", refuse: badFunctionArg, do: createsFunction(func(in *lambda.CreateFunctionInput) {
			in.FileSystemConfigs = []types.FileSystemConfig{{Arn: aws.String("arn:aws:elasticfilesystem:" + region + ":" + account + ":access-point/fsap-1"), LocalMountPath: aws.String("/mnt/a")}}
		})},
		{claim: "a log level of a log in plain text is refused", refuse: badFunctionArg, do: createsFunction(func(in *lambda.CreateFunctionInput) {
			in.LoggingConfig = &types.LoggingConfig{LogFormat: types.LogFormatText, ApplicationLogLevel: types.ApplicationLogLevelDebug}
		})},
		{claim: "a variable that Lambda sets itself is refused", refuse: badFunctionArg, do: createsFunction(vars("AWS_REGION", "x"))},
		{claim: "a variable's name with a dash is out of bounds", refuse: outOfBounds, do: createsFunction(vars("A-B", "x"))},
		{claim: "variables over 4 KB are refused", refuse: badFunctionArg, do: createsFunction(vars("BIG", strings.Repeat("x", 4096)))},
		{claim: "a function that was not made for it never gets durable", refuse: badFunctionArg, do: changing(func(k clients, name *string) error {
			_, err := k.fns.UpdateFunctionConfiguration(k.ctx, &lambda.UpdateFunctionConfigurationInput{FunctionName: name, DurableConfig: &types.DurableConfig{ExecutionTimeout: aws.Int32(60)}})
			return err
		})},
		{claim: "a caller cannot create a function with an aws: tag", refuse: badFunctionArg,
			do: createsFunction(func(in *lambda.CreateFunctionInput) { in.Tags = map[string]string{"aws:x": "v"} })},
		{claim: "an aws: tag cannot be put on a function", refuse: badFunctionArg, do: func(k clients) (any, any, error) {
			out, err := k.function(nil)
			if err == nil {
				_, err = k.fns.TagResource(k.ctx, &lambda.TagResourceInput{Resource: out.FunctionArn, Tags: map[string]string{"aws:x": "v"}})
			}
			return nil, nil, err
		}},
		{claim: "a marker of functions that no page gave is refused", refuse: badFunctionArg, do: alone(func(k clients) error {
			_, err := k.fns.ListFunctions(k.ctx, &lambda.ListFunctionsInput{Marker: aws.String("guessed")})
			return err
		})},
		{claim: "a second delete of a function finds nothing", refuse: noFunction, do: changing(func(k clients, name *string) error {
			_, err := k.fns.DeleteFunction(k.ctx, &lambda.DeleteFunctionInput{FunctionName: name})
			if err == nil {
				_, err = k.fns.DeleteFunction(k.ctx, &lambda.DeleteFunctionInput{FunctionName: name})
			}
			return err
		})},
		{claim: "a function of another region is not found by its ARN", refuse: noFunction, do: changing(func(k clients, name *string) error {
			_, err := k.fns.GetFunction(k.ctx, &lambda.GetFunctionInput{FunctionName: aws.String("arn:aws:lambda:us-east-2:" + account + ":function:" + *name)})
			return err
		})},
	}
}

// absentFunctionBehaviours: every operation says of a function that is not there that it is not.
func absentFunctionBehaviours() []behaviour {
	var out []behaviour
	for claim, do := range map[string]func(clients) error{
		"a function that is not there": func(k clients) error {
			_, err := k.fns.GetFunction(k.ctx, &lambda.GetFunctionInput{FunctionName: nobody})
			return err
		},
		"the configuration of a function that is not there": func(k clients) error {
			_, err := k.fns.GetFunctionConfiguration(k.ctx, &lambda.GetFunctionConfigurationInput{FunctionName: nobody})
			return err
		},
		"updating the code of a function that is not there": func(k clients) error {
			_, err := k.fns.UpdateFunctionCode(k.ctx, &lambda.UpdateFunctionCodeInput{FunctionName: nobody, ZipFile: archiveOne})
			return err
		},
		"invoking a function that is not there": func(k clients) error {
			_, err := k.fns.Invoke(k.ctx, &lambda.InvokeInput{FunctionName: nobody})
			return err
		},
		"reading the tags of a function that is not there": func(k clients) error {
			_, err := k.fns.ListTags(k.ctx, &lambda.ListTagsInput{Resource: nobodyARN})
			return err
		},
		"untagging a function that is not there": func(k clients) error {
			_, err := k.fns.UntagResource(k.ctx, &lambda.UntagResourceInput{Resource: nobodyARN, TagKeys: []string{"k"}})
			return err
		},
		"the concurrency of a function that is not there": func(k clients) error {
			_, err := k.fns.GetFunctionConcurrency(k.ctx, &lambda.GetFunctionConcurrencyInput{FunctionName: nobody})
			return err
		},
		"freeing the concurrency of a function that is not there": func(k clients) error {
			_, err := k.fns.DeleteFunctionConcurrency(k.ctx, &lambda.DeleteFunctionConcurrencyInput{FunctionName: nobody})
			return err
		},
		"the loops of a function that is not there": func(k clients) error {
			_, err := k.fns.GetFunctionRecursionConfig(k.ctx, &lambda.GetFunctionRecursionConfigInput{FunctionName: nobody})
			return err
		},
		"allowing the loops of a function that is not there": func(k clients) error {
			_, err := k.fns.PutFunctionRecursionConfig(k.ctx, &lambda.PutFunctionRecursionConfigInput{FunctionName: nobody, RecursiveLoop: types.RecursiveLoopAllow})
			return err
		},
		"the runtime updates of a function that is not there": func(k clients) error {
			_, err := k.fns.GetRuntimeManagementConfig(k.ctx, &lambda.GetRuntimeManagementConfigInput{FunctionName: nobody})
			return err
		},
		"the code signing of a function that is not there": func(k clients) error {
			_, err := k.fns.GetFunctionCodeSigningConfig(k.ctx, &lambda.GetFunctionCodeSigningConfigInput{FunctionName: nobody})
			return err
		},
		"signing the code of a function that is not there": func(k clients) error {
			_, err := k.fns.PutFunctionCodeSigningConfig(k.ctx, &lambda.PutFunctionCodeSigningConfigInput{FunctionName: nobody, CodeSigningConfigArn: signingARN})
			return err
		},
		"no longer signing the code of a function that is not there": func(k clients) error {
			_, err := k.fns.DeleteFunctionCodeSigningConfig(k.ctx, &lambda.DeleteFunctionCodeSigningConfigInput{FunctionName: nobody})
			return err
		},
		"permitting to call a function that is not there": func(k clients) error {
			_, err := k.fns.AddPermission(k.ctx, &lambda.AddPermissionInput{FunctionName: nobody, StatementId: aws.String("s"), Action: aws.String("lambda:InvokeFunction"),
				Principal: aws.String("events.amazonaws.com")})
			return err
		},
	} {
		out = append(out, behaviour{claim: claim, refuse: noFunction, do: alone(do)})
	}
	return out
}
