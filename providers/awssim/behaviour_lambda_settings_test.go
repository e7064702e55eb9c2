package awssim

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

func functionSettingBehaviours() []behaviour {
	return []behaviour{
		{claim: "concurrency is reserved, read with the function, and freed", do: onFunction(nil, func(k clients, name *string) (any, any, error) {
			_, err := k.fns.PutFunctionConcurrency(k.ctx, &lambda.PutFunctionConcurrencyInput{FunctionName: name, ReservedConcurrentExecutions: aws.Int32(5)})
			if err != nil {
				return nil, nil, err
			}
			get, err := k.fns.GetFunction(k.ctx, &lambda.GetFunctionInput{FunctionName: name})
			if err != nil || get.Concurrency == nil {
				return nil, "a concurrency", err
			}
			if _, err = k.fns.DeleteFunctionConcurrency(k.ctx, &lambda.DeleteFunctionConcurrencyInput{FunctionName: name}); err != nil {
				return nil, nil, err
			}
			own, err := k.fns.GetFunctionConcurrency(k.ctx, &lambda.GetFunctionConcurrencyInput{FunctionName: name})
			if err != nil {
				return nil, nil, err
			}
			return []any{*get.Concurrency.ReservedConcurrentExecutions, own.ReservedConcurrentExecutions == nil}, []any{int32(5), true}, nil
		})},
		{claim: "the last 100 executions of an account cannot be reserved", refuse: badFunctionArg, do: changing(func(k clients, name *string) error {
			_, err := k.fns.PutFunctionConcurrency(k.ctx, &lambda.PutFunctionConcurrencyInput{FunctionName: name, ReservedConcurrentExecutions: aws.Int32(901)})
			return err
		})},
		{claim: "loops end, unless they are allowed", do: onFunction(nil, func(k clients, name *string) (any, any, error) {
			before, err := k.fns.GetFunctionRecursionConfig(k.ctx, &lambda.GetFunctionRecursionConfigInput{FunctionName: name})
			if err == nil {
				_, err = k.fns.PutFunctionRecursionConfig(k.ctx, &lambda.PutFunctionRecursionConfigInput{FunctionName: name, RecursiveLoop: types.RecursiveLoopAllow})
			}
			if err != nil {
				return nil, nil, err
			}
			after, err := k.fns.GetFunctionRecursionConfig(k.ctx, &lambda.GetFunctionRecursionConfigInput{FunctionName: name})
			if err != nil {
				return nil, nil, err
			}
			return []any{before.RecursiveLoop, after.RecursiveLoop}, []any{types.RecursiveLoopTerminate, types.RecursiveLoopAllow}, nil
		})},
		{claim: "a runtime is updated by itself, unless it is held at a version", do: onFunction(nil, func(k clients, name *string) (any, any, error) {
			before, err := k.fns.GetRuntimeManagementConfig(k.ctx, &lambda.GetRuntimeManagementConfigInput{FunctionName: name})
			if err == nil {
				_, err = k.fns.PutRuntimeManagementConfig(k.ctx, &lambda.PutRuntimeManagementConfigInput{FunctionName: name, UpdateRuntimeOn: types.UpdateRuntimeOnManual, RuntimeVersionArn: runtimeVersions})
			}
			if err != nil {
				return nil, nil, err
			}
			after, err := k.fns.GetRuntimeManagementConfig(k.ctx, &lambda.GetRuntimeManagementConfigInput{FunctionName: name})
			if err != nil {
				return nil, nil, err
			}
			return []any{before.UpdateRuntimeOn, before.RuntimeVersionArn == nil, after.UpdateRuntimeOn, *after.RuntimeVersionArn},
				[]any{types.UpdateRuntimeOnAuto, true, types.UpdateRuntimeOnManual, *runtimeVersions}, nil
		})},
		{claim: "a runtime is held at a version that is named", refuse: badFunctionArg, do: changing(func(k clients, name *string) error {
			_, err := k.fns.PutRuntimeManagementConfig(k.ctx, &lambda.PutRuntimeManagementConfigInput{FunctionName: name, UpdateRuntimeOn: types.UpdateRuntimeOnManual})
			return err
		})},
		{claim: "code signing is set, read and taken away", do: onFunction(nil, func(k clients, name *string) (any, any, error) {
			_, err := k.fns.PutFunctionCodeSigningConfig(k.ctx, &lambda.PutFunctionCodeSigningConfigInput{FunctionName: name, CodeSigningConfigArn: signingARN})
			if err != nil {
				return nil, nil, err
			}
			set, err := k.fns.GetFunctionCodeSigningConfig(k.ctx, &lambda.GetFunctionCodeSigningConfigInput{FunctionName: name})
			if err == nil {
				_, err = k.fns.DeleteFunctionCodeSigningConfig(k.ctx, &lambda.DeleteFunctionCodeSigningConfigInput{FunctionName: name})
			}
			if err != nil {
				return nil, nil, err
			}
			gone, err := k.fns.GetFunctionCodeSigningConfig(k.ctx, &lambda.GetFunctionCodeSigningConfigInput{FunctionName: name})
			if err != nil {
				return nil, nil, err
			}
			return []string{*set.CodeSigningConfigArn, aws.ToString(gone.CodeSigningConfigArn)}, []string{*signingARN, ""}, nil
		})},
	}
}

// allow adds a permission with the statement ID "s", changed by edit.
func allow(k clients, name *string, edit func(*lambda.AddPermissionInput)) error {
	in := &lambda.AddPermissionInput{FunctionName: name, StatementId: aws.String("s"), Action: aws.String("lambda:InvokeFunction"), Principal: aws.String("events.amazonaws.com")}
	if edit != nil {
		edit(in)
	}
	_, err := k.fns.AddPermission(k.ctx, in)
	return err
}

func permissionBehaviours() []behaviour {
	return []behaviour{
		{claim: "a permission for a service is a statement with its conditions", do: onFunction(nil, func(k clients, name *string) (any, any, error) {
			err := allow(k, name, func(in *lambda.AddPermissionInput) {
				in.SourceArn = aws.String("arn:aws:events:" + region + ":" + account + ":rule/tick")
				in.SourceAccount, in.EventSourceToken = aws.String(account), aws.String("token")
			})
			if err != nil {
				return nil, nil, err
			}
			st, err := policyOf(k, name)
			return st, map[string]any{"Sid": "s", "Effect": "Allow", "Action": "lambda:InvokeFunction", "Principal": map[string]any{"Service": "events.amazonaws.com"},
				"Resource": "arn:aws:lambda:" + region + ":" + account + ":function:" + *name, "Condition": map[string]any{
					"ArnLike":      map[string]any{"AWS:SourceArn": "arn:aws:events:" + region + ":" + account + ":rule/tick"},
					"StringEquals": map[string]any{"AWS:SourceAccount": account, "lambda:EventSourceToken": "token"}}}, err
		})},
		{claim: "an account that may call comes back as its root's ARN", do: onFunction(nil, func(k clients, name *string) (any, any, error) {
			if err := allow(k, name, func(in *lambda.AddPermissionInput) { in.Principal = aws.String("999988887777") }); err != nil {
				return nil, nil, err
			}
			st, err := policyOf(k, name)
			if err != nil {
				return nil, nil, err
			}
			return st["Principal"], map[string]any{"AWS": "arn:aws:iam::999988887777:root"}, nil
		})},
		{claim: "a second permission of the same statement ID conflicts", refuse: functionBusy, do: changing(func(k clients, name *string) error {
			if err := allow(k, name, nil); err != nil {
				return err
			}
			return allow(k, name, func(in *lambda.AddPermissionInput) { in.Principal = aws.String("s3.amazonaws.com") })
		})},
		{claim: "a policy whose last statement goes is not found", refuse: noFunction, do: changing(func(k clients, name *string) error {
			err := allow(k, name, nil)
			if err == nil {
				_, err = k.fns.RemovePermission(k.ctx, &lambda.RemovePermissionInput{FunctionName: name, StatementId: aws.String("s")})
			}
			if err == nil {
				_, err = k.fns.GetPolicy(k.ctx, &lambda.GetPolicyInput{FunctionName: name})
			}
			return err
		})},
		{claim: "removing a statement that is not there", refuse: noFunction, do: changing(func(k clients, name *string) error {
			_, err := k.fns.RemovePermission(k.ctx, &lambda.RemovePermissionInput{FunctionName: name, StatementId: aws.String("s")})
			return err
		})},
		{claim: "a permission for nobody that there is is refused", refuse: badFunctionArg, do: changing(func(k clients, name *string) error {
			return allow(k, name, func(in *lambda.AddPermissionInput) {
				in.Principal = aws.String("arn:aws:iam::" + account + ":role/nobody")
			})
		})},
		{claim: "a function URL's kind of callers goes with its own action only", refuse: badFunctionArg, do: changing(func(k clients, name *string) error {
			return allow(k, name, func(in *lambda.AddPermissionInput) { in.FunctionUrlAuthType = types.FunctionUrlAuthTypeNone })
		})},
		{claim: "a statement ID with a dot is out of bounds", refuse: outOfBounds, do: changing(func(k clients, name *string) error {
			return allow(k, name, func(in *lambda.AddPermissionInput) { in.StatementId = aws.String("a.b") })
		})},
		{claim: "$LATEST has no policy of its own", refuse: badFunctionArg, do: changing(func(k clients, name *string) error {
			return allow(k, name, func(in *lambda.AddPermissionInput) { in.Qualifier = aws.String("$LATEST") })
		})},
	}
}
