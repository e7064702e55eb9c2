package lambda

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/wire"
)

// Sync implements resource.Provider. Ownership tags come first, so that an adoption is marked before it changes anything
// else; then the configuration, and after it the code, which may count on it.
func (p *function) Sync(c resource.Change) ([]resource.Call, error) {
	if err := wire.Whole("sync function", wire.Pick(c.Desired, needed(c))); err != nil {
		return nil, err
	}
	var calls []resource.Call
	if len(c.Own) > 0 {
		calls = append(calls, p.tag(c, "ownership tags", c.Own, nil))
	}
	for _, plan := range []func(resource.Change) ([]resource.Call, error){p.syncConfiguration, p.syncCode, p.syncSettings} {
		more, err := plan(c)
		if err != nil {
			return nil, err
		}
		calls = append(calls, more...)
	}
	if slices.Contains(c.Write, "Tags") {
		calls = append(calls, p.syncTags(c)...)
	}
	return calls, nil
}

// needed are the params whose values this write takes: another architecture is sent with the code that it is of. A plan
// may be made before what the code hangs on is settled; then the code is not sent yet.
func needed(c resource.Change) []string {
	if c.Desired["CodeSha256"].HasUnknown() || !slices.ContainsFunc(codeParams, func(name string) bool { return slices.Contains(c.Write, name) }) {
		return c.Write
	}
	return append(slices.Clone(c.Write), "Code", "CodeSha256", "Runtime")
}

// change is a Call that sends one operation; sensitive texts are kept out of its errors.
func change[In, Out any](p *function, c resource.Change, detail string, params []string, do func(context.Context, *In, ...func(*lambda.Options)) (*Out, error), name string, in *In) resource.Call {
	return resource.Call{Name: name, Detail: detail, Params: params, Run: func(ctx context.Context) error {
		_, _, err := call(ctx, p.service, do, in)
		return wire.Conceal(roleNotReady(err), c.Desired)
	}}
}

// syncConfiguration returns the one UpdateFunctionConfiguration that writes what is to be written. What config no longer
// sets goes back to what the service fills in; nothing else is mentioned.
func (p *function) syncConfiguration(c resource.Change) ([]resource.Call, error) {
	in := &lambda.UpdateFunctionConfigurationInput{FunctionName: aws.String(c.Key["FunctionName"])}
	var params []string
	for _, f := range configuration {
		if !slices.Contains(c.Write, f.param) {
			continue
		}
		if err := f.set(in, c.Desired[f.param], c); err != nil {
			return nil, refused("UpdateFunctionConfiguration", f.param+" "+err.Error())
		}
		params = append(params, f.param)
	}
	if len(params) == 0 {
		return nil, nil
	}
	return []resource.Call{change(p, c, strings.Join(params, ", "), params, p.api.UpdateFunctionConfiguration, "UpdateFunctionConfiguration", in)}, nil
}

// codeParams travel in UpdateFunctionCode.
var codeParams = []string{"Code", "CodeSha256", "Architectures"}

// syncCode sends the code, unless the archive that config means is there already: where config merely names it another
// way, nothing is to do.
func (p *function) syncCode(c resource.Change) ([]resource.Call, error) {
	var params []string
	for _, name := range codeParams {
		if slices.Contains(c.Write, name) {
			params = append(params, name)
		}
	}
	if len(params) == 0 || !slices.Contains(params, "Architectures") && sameArchive(c) {
		return nil, nil
	}
	if c.Desired["CodeSha256"].HasUnknown() {
		return []resource.Call{{Name: "UpdateFunctionCode", Detail: strings.Join(params, ", "), Params: params, Run: func(context.Context) error {
			return refused("UpdateFunctionCode", "what the code hangs on is not settled yet, so its archive is not read; nothing was sent")
		}}}, nil
	}
	code, err := codeInput("UpdateFunctionCode", c.Desired)
	if err != nil {
		return nil, err
	}
	in := &lambda.UpdateFunctionCodeInput{
		FunctionName: aws.String(c.Key["FunctionName"]),
		ZipFile:      code.ZipFile, ImageUri: code.ImageUri, S3Bucket: code.S3Bucket, S3Key: code.S3Key, S3ObjectVersion: code.S3ObjectVersion,
		S3ObjectStorageMode: code.S3ObjectStorageMode, SourceKMSKeyArn: code.SourceKMSKeyArn,
	}
	if slices.Contains(params, "Architectures") {
		in.Architectures = []types.Architecture{types.ArchitectureX8664}
		if want := architectures(c.Desired["Architectures"]); len(want) > 0 {
			in.Architectures = want
		}
	}
	return []resource.Call{change(p, c, strings.Join(params, ", "), params, p.api.UpdateFunctionCode, "UpdateFunctionCode", in)}, nil
}

// sameArchive reports whether the function has the very bytes that config means, under the same key.
func sameArchive(c resource.Change) bool {
	want := wire.Name(c.Desired["CodeSha256"])
	const key = "SourceKMSKeyArn"
	return want != "" && want == wire.Name(c.Observed.Params["CodeSha256"]) && value.Equal(c.Desired["Code"].Get(key), c.Recorded["Code"].Get(key))
}

// syncSettings returns the calls of the settings that have their own.
func (p *function) syncSettings(c resource.Change) ([]resource.Call, error) {
	var calls []resource.Call
	name := aws.String(c.Key["FunctionName"])
	for _, param := range []string{"CodeSigningConfigArn", "RuntimeManagementConfig", "RecursiveLoop", "ReservedConcurrentExecutions"} {
		if !slices.Contains(c.Write, param) {
			continue
		}
		v, params := c.Desired[param], []string{param}
		switch {
		case param == "CodeSigningConfigArn" && !wire.Empty(v):
			in := &lambda.PutFunctionCodeSigningConfigInput{FunctionName: name, CodeSigningConfigArn: wire.Text(v)}
			calls = append(calls, change(p, c, "code signing", params, p.api.PutFunctionCodeSigningConfig, "PutFunctionCodeSigningConfig", in))
		case param == "CodeSigningConfigArn":
			in := &lambda.DeleteFunctionCodeSigningConfigInput{FunctionName: name}
			calls = append(calls, change(p, c, "code signing: none", params, p.api.DeleteFunctionCodeSigningConfig, "DeleteFunctionCodeSigningConfig", in))
		case param == "RuntimeManagementConfig":
			in := &lambda.PutRuntimeManagementConfigInput{FunctionName: name, RuntimeVersionArn: nonEmpty(v.Get("RuntimeVersionArn")),
				UpdateRuntimeOn: types.UpdateRuntimeOn(orText(v.Get("UpdateRuntimeOn"), defaultUpdateOn))}
			calls = append(calls, change(p, c, "runtime updates", params, p.api.PutRuntimeManagementConfig, "PutRuntimeManagementConfig", in))
		case param == "RecursiveLoop":
			in := &lambda.PutFunctionRecursionConfigInput{FunctionName: name, RecursiveLoop: types.RecursiveLoop(orText(v, defaultLoop))}
			calls = append(calls, change(p, c, "recursive loops", params, p.api.PutFunctionRecursionConfig, "PutFunctionRecursionConfig", in))
		case wire.Set(v):
			in := &lambda.PutFunctionConcurrencyInput{FunctionName: name, ReservedConcurrentExecutions: wire.Int32(v)}
			calls = append(calls, change(p, c, "reserved concurrency", params, p.api.PutFunctionConcurrency, "PutFunctionConcurrency", in))
		default:
			in := &lambda.DeleteFunctionConcurrencyInput{FunctionName: name}
			calls = append(calls, change(p, c, "reserved concurrency: none", params, p.api.DeleteFunctionConcurrency, "DeleteFunctionConcurrency", in))
		}
	}
	return calls, nil
}

func (p *function) syncTags(c resource.Change) []resource.Call {
	set, remove := wire.TagChange(wire.Tags(c.Desired["Tags"]), wire.Tags(c.Recorded["Tags"]), wire.Observed(c.Observed, "Tags"))
	var calls []resource.Call
	if len(set) > 0 {
		calls = append(calls, p.tag(c, "tags", set, []string{"Tags"}))
	}
	if len(remove) > 0 {
		in := &lambda.UntagResourceInput{Resource: aws.String(c.Observed.Output.Text("Arn")), TagKeys: remove}
		calls = append(calls, change(p, c, "tags "+strings.Join(remove, ", "), []string{"Tags"}, p.api.UntagResource, "UntagResource", in))
	}
	return calls
}

func (p *function) tag(c resource.Change, detail string, tags map[string]string, params []string) resource.Call {
	in := &lambda.TagResourceInput{Resource: aws.String(c.Observed.Output.Text("Arn")), Tags: tags}
	return change(p, c, detail, params, p.api.TagResource, "TagResource", in)
}

// Unmake implements resource.Provider: nothing has to go first.
func (p *function) Unmake(resource.Delete, *resource.Observation) ([]resource.Call, error) {
	return nil, nil
}

// Delete implements resource.Provider. The log group that Lambda made for the function stays.
func (p *function) Delete(ctx context.Context, d resource.Delete) error {
	o, err := p.look(ctx, d.Key["FunctionName"])
	if err != nil {
		return err
	}
	if err := confirm("DeleteFunction", d, o); err != nil {
		return err
	}
	_, _, err = call(ctx, p.service, p.api.DeleteFunction, &lambda.DeleteFunctionInput{FunctionName: aws.String(d.Key["FunctionName"])}, once)
	return err
}
