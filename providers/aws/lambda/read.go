package lambda

import (
	"context"
	"errors"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
	"reclaim/providers/aws/wire"
)

// function implements resource.Provider, resource.Finder and resource.Expander.
type function struct {
	service
	schema *resource.Schema
}

// Schema implements resource.Provider.
func (p *function) Schema() *resource.Schema { return p.schema }

// Read implements resource.Provider. A setting that is denied becomes a gap; the function itself being denied is the error.
func (p *function) Read(ctx context.Context, key resource.Key) (*resource.Observation, error) {
	name := key["FunctionName"]
	o, err := p.look(ctx, name)
	if err != nil {
		return nil, err
	}
	parts := []func(context.Context, string, *resource.Observation) error{p.readLoop}
	if o.Params.Text("PackageType") != packageImage { // images have neither
		parts = append(parts, p.readRuntimeManagement, p.readSigning)
	}
	for _, part := range parts {
		err := part(ctx, name, o)
		if session.Gone(err) {
			return nil, p.vanished(ctx, name)
		}
		if err != nil {
			return nil, err
		}
	}
	return o, nil
}

// look reads the function itself with its tags, and none of the settings that have calls of their own.
func (p *function) look(ctx context.Context, name string) (*resource.Observation, error) {
	out, reply, err := call(ctx, p.service, p.api.GetFunction, &lambda.GetFunctionInput{FunctionName: &name})
	if err != nil {
		return nil, err
	}
	c := out.Configuration
	if c == nil || aws.ToString(c.FunctionName) != name || aws.ToString(c.FunctionArn) == "" {
		return nil, session.Invalid("GetFunction", "the answer is not the function that was asked for")
	}
	o := observe(c)
	o.ServedAt = reply.ServedAt
	o.observeCode(out.Code)
	if out.Concurrency != nil && out.Concurrency.ReservedConcurrentExecutions != nil {
		o.Params["ReservedConcurrentExecutions"] = value.Of(*out.Concurrency.ReservedConcurrentExecutions)
	}
	if err := p.readTags(ctx, out, o.Observation); err != nil {
		if session.Gone(err) {
			return nil, p.vanished(ctx, name)
		}
		return nil, err
	}
	return o.Observation, nil
}

// vanished says what it means that a part of a function which was just there is not: the function is gone only when
// GetFunction says so too.
func (p *function) vanished(ctx context.Context, name string) error {
	if _, _, err := call(ctx, p.service, p.api.GetFunction, &lambda.GetFunctionInput{FunctionName: &name}); err != nil {
		return err
	}
	return &resource.Error{Kind: resource.NotReady, Op: "GetFunction", Executed: resource.No,
		Err: errors.New("its parts changed while they were read; look again")}
}

// readTags sets Tags and Owner; both stay nil when the tags cannot be read. GetFunction leaves tags out where the caller
// may not list them, with or without saying so, so none there are asked for again.
func (p *function) readTags(ctx context.Context, out *lambda.GetFunctionOutput, o *resource.Observation) error {
	all := out.Tags
	if e := out.TagsError; e != nil {
		o.Gaps["Tags"] = resource.Gap{Kind: resource.GapDenied, Reason: aws.ToString(e.ErrorCode) + ": " + aws.ToString(e.Message)}
		return nil
	}
	if len(all) == 0 {
		var err error
		if all, err = p.listTags(ctx, aws.ToString(out.Configuration.FunctionArn)); err != nil {
			return gapOr(o, "Tags", session.Reply{}, err)
		}
		o.Sources["tags"] = "ListTags"
	}
	own, marks := resource.SplitTags(all)
	o.Params["Tags"], o.Owner = wire.TagList(own), marks
	return nil
}

func (p *function) listTags(ctx context.Context, arn string) (map[string]string, error) {
	out, _, err := call(ctx, p.service, p.api.ListTags, &lambda.ListTagsInput{Resource: &arn})
	if err != nil {
		return nil, err
	}
	if out.Tags == nil {
		return nil, session.Invalid("ListTags", "the answer holds no tags, not even none")
	}
	return out.Tags, nil
}

func (p *function) readLoop(ctx context.Context, name string, o *resource.Observation) error {
	out, reply, err := call(ctx, p.service, p.api.GetFunctionRecursionConfig, &lambda.GetFunctionRecursionConfigInput{FunctionName: &name})
	if err == nil && out.RecursiveLoop == "" {
		err = session.Invalid("GetFunctionRecursionConfig", "the answer does not say what happens to loops")
	}
	if err != nil {
		return gapOr(o, "RecursiveLoop", reply, err)
	}
	o.Params["RecursiveLoop"] = value.Of(string(out.RecursiveLoop))
	return nil
}

func (p *function) readRuntimeManagement(ctx context.Context, name string, o *resource.Observation) error {
	out, reply, err := call(ctx, p.service, p.api.GetRuntimeManagementConfig, &lambda.GetRuntimeManagementConfigInput{FunctionName: &name})
	if err == nil && out.UpdateRuntimeOn == "" {
		err = session.Invalid("GetRuntimeManagementConfig", "the answer does not say when the runtime is updated")
	}
	if err != nil {
		return gapOr(o, "RuntimeManagementConfig", reply, err)
	}
	m := value.Map{"UpdateRuntimeOn": value.Of(string(out.UpdateRuntimeOn))}
	if arn := aws.ToString(out.RuntimeVersionArn); arn != "" && out.UpdateRuntimeOn == types.UpdateRuntimeOnManual {
		m["RuntimeVersionArn"] = value.Of(arn)
	}
	o.Params["RuntimeManagementConfig"] = value.OfMap(m)
	return nil
}

func (p *function) readSigning(ctx context.Context, name string, o *resource.Observation) error {
	out, reply, err := call(ctx, p.service, p.api.GetFunctionCodeSigningConfig, &lambda.GetFunctionCodeSigningConfigInput{FunctionName: &name})
	if err == nil && aws.ToString(out.FunctionName) == "" {
		err = session.Invalid("GetFunctionCodeSigningConfig", "the answer is about no function")
	}
	if err != nil {
		return gapOr(o, "CodeSigningConfigArn", reply, err)
	}
	if arn := aws.ToString(out.CodeSigningConfigArn); arn != "" {
		o.Params["CodeSigningConfigArn"] = value.Of(arn)
	}
	return nil
}

// gapOr turns what a part's own call could not give into a gap of that param; other errors stay errors. A path that is
// not found, without a code of the service, is an operation that this endpoint does not serve.
func gapOr(o *resource.Observation, param value.Path, reply session.Reply, err error) error {
	e, ok := errors.AsType[*resource.Error](err)
	switch {
	case ok && e.Code == "" && reply.Status == http.StatusNotFound:
		o.Gaps[param] = resource.Gap{Kind: resource.GapNotReturned, Reason: "this endpoint does not serve " + e.Op}
	case resource.Is(err, resource.AccessDenied):
		o.Gaps[param] = resource.Gap{Kind: resource.GapDenied, Reason: err.Error()}
	case resource.Is(err, resource.ReadInvalid):
		o.Gaps[param] = resource.Gap{Kind: resource.GapUndecodable, Reason: err.Error()}
	default:
		return err
	}
	return nil
}

// observation is an Observation that is being put together.
type observation struct{ *resource.Observation }

// observe turns a function's configuration into config shape.
func observe(c *types.FunctionConfiguration) observation {
	name := aws.ToString(c.FunctionName)
	o := observation{&resource.Observation{
		Key:     resource.Key{"FunctionName": name},
		Params:  value.Map{"FunctionName": value.Of(name)},
		Output:  outputs(c.FunctionArn, c.SnapStart),
		Gaps:    map[value.Path]resource.Gap{},
		Sources: map[string]string{"object": "GetFunction", "tags": "GetFunction"},
	}}
	o.NotReady = notReady(c)
	o.Ready = o.NotReady == ""
	for param, text := range map[string]*string{
		"Role": c.Role, "Handler": c.Handler, "Description": c.Description, "CodeSha256": c.CodeSha256, "KmsKeyArn": c.KMSKeyArn,
		"Runtime": enum(c.Runtime), "PackageType": enum(c.PackageType),
	} {
		if text != nil {
			o.Params[param] = value.Of(*text)
		}
	}
	for param, n := range map[string]*int32{"Timeout": c.Timeout, "MemorySize": c.MemorySize} {
		if n != nil {
			o.Params[param] = value.Of(*n)
		}
	}
	if len(c.Architectures) > 0 {
		o.Params["Architectures"] = value.Of(texts(c.Architectures))
	}
	o.observeEnvironment(c.Environment)
	o.observeNetwork(c)
	o.observeParts(c)
	return o
}

// outputs is what GetAtt can name.
func outputs(arn *string, snap *types.SnapStartResponse) value.Map {
	out := value.Map{"Arn": value.Of(aws.ToString(arn))}
	if snap == nil {
		return out
	}
	m := value.Map{"ApplyOn": value.Of(string(snap.ApplyOn)), "OptimizationStatus": value.Of(string(snap.OptimizationStatus))}
	out["SnapStartResponse"] = value.OfMap(m)
	for name, v := range m {
		out["SnapStartResponse."+name] = v
	}
	return out
}

// notReady says why a function cannot be used or changed yet, or what it failed of; "" when it can.
func notReady(c *types.FunctionConfiguration) string {
	because := func(what string, why, code *string) string {
		if aws.ToString(why) != "" {
			what += ": " + *why
		}
		if aws.ToString(code) != "" {
			what += " (" + *code + ")"
		}
		return what
	}
	switch c.State {
	case "", types.StateActive, types.StateInactive, types.StateActiveNonInvocable: // idle functions wake up by themselves
	case types.StateFailed:
		return because("the function has failed", c.StateReason, enum(c.StateReasonCode))
	default:
		return because("the function is "+string(c.State), c.StateReason, enum(c.StateReasonCode))
	}
	switch c.LastUpdateStatus {
	case types.LastUpdateStatusInProgress:
		return because("an update is in progress", c.LastUpdateStatusReason, enum(c.LastUpdateStatusReasonCode))
	case types.LastUpdateStatusFailed:
		return because("its last update has failed", c.LastUpdateStatusReason, enum(c.LastUpdateStatusReasonCode))
	}
	return ""
}

// observeCode says what is known of where the code came from: of archives nothing but their hash.
func (o observation) observeCode(c *types.FunctionCodeLocation) {
	if c == nil || aws.ToString(c.ImageUri) == "" {
		o.Gaps["Code"] = resource.Gap{Kind: resource.GapNotReturned, Reason: "the service says only the hash of an archive"}
		return
	}
	o.Params["Code"] = value.OfMap(value.Map{"ImageUri": value.Of(*c.ImageUri)})
}

// observeEnvironment tells none from what could not be decrypted.
func (o observation) observeEnvironment(e *types.EnvironmentResponse) {
	switch {
	case e == nil:
	case e.Error != nil:
		o.Gaps["Environment"] = resource.Gap{Kind: resource.GapDenied, Reason: aws.ToString(e.Error.ErrorCode) + ": " + aws.ToString(e.Error.Message)}
	case len(e.Variables) > 0:
		o.Params["Environment"] = value.OfMap(value.Map{"Variables": value.Of(e.Variables)})
	}
}

func (o observation) observeNetwork(c *types.FunctionConfiguration) {
	if v := c.VpcConfig; v != nil && len(v.SubnetIds)+len(v.SecurityGroupIds) > 0 {
		m := value.Map{"SubnetIds": value.Of(v.SubnetIds), "SecurityGroupIds": value.Of(v.SecurityGroupIds)}
		if v.Ipv6AllowedForDualStack != nil {
			m["Ipv6AllowedForDualStack"] = value.Of(*v.Ipv6AllowedForDualStack)
		}
		o.Params["VpcConfig"] = value.OfMap(m)
	}
	var mounts []value.Value
	for _, f := range c.FileSystemConfigs {
		mounts = append(mounts, value.OfMap(value.Map{"Arn": value.Of(aws.ToString(f.Arn)), "LocalMountPath": value.Of(aws.ToString(f.LocalMountPath))}))
	}
	if len(mounts) > 0 {
		o.Params["FileSystemConfigs"] = value.ListOf(mounts...)
	}
}

func (o observation) observeParts(c *types.FunctionConfiguration) {
	if len(c.Layers) > 0 {
		var arns []string
		for _, l := range c.Layers {
			arns = append(arns, aws.ToString(l.Arn))
		}
		o.Params["Layers"] = value.Of(arns)
	}
	o.observeImage(c.ImageConfigResponse)
	if l := c.LoggingConfig; l != nil {
		o.Params["LoggingConfig"] = object(map[string]*string{"LogFormat": enum(l.LogFormat), "LogGroup": l.LogGroup,
			"ApplicationLogLevel": enum(l.ApplicationLogLevel), "SystemLogLevel": enum(l.SystemLogLevel)})
	}
	if t := c.TracingConfig; t != nil {
		o.Params["TracingConfig"] = object(map[string]*string{"Mode": enum(t.Mode)})
	}
	if s := c.SnapStart; s != nil {
		o.Params["SnapStart"] = object(map[string]*string{"ApplyOn": enum(s.ApplyOn)})
	}
	if d := c.DeadLetterConfig; d != nil && aws.ToString(d.TargetArn) != "" {
		o.Params["DeadLetterConfig"] = object(map[string]*string{"TargetArn": d.TargetArn})
	}
	if e := c.EphemeralStorage; e != nil && e.Size != nil {
		o.Params["EphemeralStorage"] = value.OfMap(value.Map{"Size": value.Of(*e.Size)})
	}
	if t := c.TenancyConfig; t != nil {
		o.Params["TenancyConfig"] = object(map[string]*string{"TenantIsolationMode": enum(t.TenantIsolationMode)})
	}
	if d := c.DurableConfig; d != nil {
		m := value.Map{}
		for name, n := range map[string]*int32{"ExecutionTimeout": d.ExecutionTimeout, "RetentionPeriodInDays": d.RetentionPeriodInDays} {
			if n != nil {
				m[name] = value.Of(*n)
			}
		}
		o.Params["DurableConfig"] = value.OfMap(m)
	}
}

// observeImage tells no overrides from those that could not be read.
func (o observation) observeImage(r *types.ImageConfigResponse) {
	switch {
	case r == nil:
	case r.Error != nil:
		o.Gaps["ImageConfig"] = resource.Gap{Kind: resource.GapDenied, Reason: aws.ToString(r.Error.ErrorCode) + ": " + aws.ToString(r.Error.Message)}
	case r.ImageConfig != nil:
		m := value.Map{}
		for name, list := range map[string][]string{"Command": r.ImageConfig.Command, "EntryPoint": r.ImageConfig.EntryPoint} {
			if len(list) > 0 {
				m[name] = value.Of(list)
			}
		}
		if dir := aws.ToString(r.ImageConfig.WorkingDirectory); dir != "" {
			m["WorkingDirectory"] = value.Of(dir)
		}
		if len(m) > 0 {
			o.Params["ImageConfig"] = value.OfMap(m)
		}
	}
}

// object holds the texts that are there.
func object(texts map[string]*string) value.Value {
	m := value.Map{}
	for name, text := range texts {
		if text != nil {
			m[name] = value.Of(*text)
		}
	}
	return value.OfMap(m)
}

func enum[E ~string](e E) *string {
	if e == "" {
		return nil
	}
	s := string(e)
	return &s
}

func texts[E ~string](list []E) []string {
	out := make([]string, 0, len(list))
	for _, e := range list {
		out = append(out, string(e))
	}
	return out
}
