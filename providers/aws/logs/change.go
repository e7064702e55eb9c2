package logs

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
	"reclaim/providers/aws/wire"
)

// Create implements resource.Provider: one CreateLogGroup, with key, class and tags. The service does not say when it
// made the group: the identity comes with the first read.
func (p *group) Create(ctx context.Context, c resource.Create) (resource.Created, error) {
	if err := wire.Whole("CreateLogGroup", c.Params); err != nil {
		return resource.Created{}, err
	}
	in := &cloudwatchlogs.CreateLogGroupInput{
		LogGroupName:  aws.String(c.Key["LogGroupName"]),
		LogGroupClass: types.LogGroupClass(wire.Name(c.Params["LogGroupClass"])),
		Tags:          wire.Join(wire.Tags(c.Params["Tags"]), c.Tags),
	}
	if k := c.Params["KmsKeyId"]; !wire.Empty(k) {
		in.KmsKeyId = wire.Text(k)
	}
	_, reply, err := call(ctx, p, p.api.CreateLogGroup, in, once)
	if err != nil {
		return resource.Created{}, wire.Conceal(dependency(err), c.Params)
	}
	made := resource.Created{Key: maps.Clone(c.Key), ServedAt: reply.ServedAt}
	if keeps(c.Params) {
		made.Unsent = append(made.Unsent, "RetentionInDays")
	}
	if !wire.Empty(c.Params["DataProtectionPolicy"]) {
		made.Unsent = append(made.Unsent, "DataProtectionPolicy")
	}
	return made, nil
}

// dependency types a refusal of CreateLogGroup that is about the key, which must exist before.
func dependency(err error) error {
	e, ok := errors.AsType[*resource.Error](err)
	if ok && e.Kind == resource.NotFound && e.Op == "CreateLogGroup" {
		e.Kind = resource.NotReady
	}
	return err
}

// keeps reports whether params ask for a retention that has to be put: one that is not "never", on a class that
// leaves it to us.
func keeps(params value.Map) bool {
	days, ok := params["RetentionInDays"].Int()
	return ok && days != 0 && wire.Name(params["LogGroupClass"]) != classDelivery
}

// Sync implements resource.Provider. Ownership tags come first, so that an adoption is marked before it changes
// anything else.
func (p *group) Sync(c resource.Change) ([]resource.Call, error) {
	if err := wire.Whole("sync log group", wire.Pick(c.Desired, c.Write)); err != nil {
		return nil, err
	}
	var calls []resource.Call
	if len(c.Own) > 0 {
		calls = append(calls, p.tag(c, "ownership tags", c.Own, nil))
	}
	for _, step := range []struct {
		param string
		plan  func(resource.Change) ([]resource.Call, error)
	}{
		{"KmsKeyId", p.syncKey},
		{"DataProtectionPolicy", p.syncProtection},
		{"RetentionInDays", p.syncRetention},
		{"Tags", p.syncTags},
	} {
		if !slices.Contains(c.Write, step.param) {
			continue
		}
		more, err := step.plan(c)
		if err != nil {
			return nil, err
		}
		calls = append(calls, more...)
	}
	return calls, nil
}

// change is a Call that sends one operation; sensitive texts are kept out of its errors.
func change[In, Out any](p *group, c resource.Change, detail string, params []string, do func(context.Context, *In, ...func(*cloudwatchlogs.Options)) (*Out, error), name string, in *In) resource.Call {
	return resource.Call{Name: name, Detail: detail, Params: params, Run: func(ctx context.Context) error {
		_, _, err := call(ctx, p, do, in)
		return wire.Conceal(err, c.Desired)
	}}
}

func (p *group) syncKey(c resource.Change) ([]resource.Call, error) {
	name, params := aws.String(c.Key["LogGroupName"]), []string{"KmsKeyId"}
	if k := c.Desired["KmsKeyId"]; !wire.Empty(k) {
		in := &cloudwatchlogs.AssociateKmsKeyInput{LogGroupName: name, KmsKeyId: wire.Text(k)}
		return []resource.Call{change(p, c, "KMS key", params, p.api.AssociateKmsKey, "AssociateKmsKey", in)}, nil
	}
	in := &cloudwatchlogs.DisassociateKmsKeyInput{LogGroupName: name}
	return []resource.Call{change(p, c, "KMS key", params, p.api.DisassociateKmsKey, "DisassociateKmsKey", in)}, nil
}

func (p *group) syncProtection(c resource.Change) ([]resource.Call, error) {
	name, params := aws.String(c.Key["LogGroupName"]), []string{"DataProtectionPolicy"}
	policy := c.Desired["DataProtectionPolicy"]
	if wire.Empty(policy) {
		in := &cloudwatchlogs.DeleteDataProtectionPolicyInput{LogGroupIdentifier: name}
		return []resource.Call{change(p, c, "data protection policy", params, p.api.DeleteDataProtectionPolicy, "DeleteDataProtectionPolicy", in)}, nil
	}
	text, err := wire.Document(policy)
	if err != nil {
		return nil, &resource.Error{Kind: resource.Rejected, Op: "PutDataProtectionPolicy", Executed: resource.No, Err: err}
	}
	in := &cloudwatchlogs.PutDataProtectionPolicyInput{LogGroupIdentifier: name, PolicyDocument: &text}
	return []resource.Call{change(p, c, "data protection policy", params, p.api.PutDataProtectionPolicy, "PutDataProtectionPolicy", in)}, nil
}

// syncRetention puts a number or removes the retention; never as 0, which the service does not take. A class that
// fixes its retention is left alone.
func (p *group) syncRetention(c resource.Change) ([]resource.Call, error) {
	name, params := aws.String(c.Key["LogGroupName"]), []string{"RetentionInDays"}
	if c.Observed.Params.Text("LogGroupClass") == classDelivery {
		return nil, nil
	}
	if keeps(c.Desired) {
		in := &cloudwatchlogs.PutRetentionPolicyInput{LogGroupName: name, RetentionInDays: wire.Int32(c.Desired["RetentionInDays"])}
		return []resource.Call{change(p, c, "retention", params, p.api.PutRetentionPolicy, "PutRetentionPolicy", in)}, nil
	}
	in := &cloudwatchlogs.DeleteRetentionPolicyInput{LogGroupName: name}
	return []resource.Call{change(p, c, "retention: never expire", params, p.api.DeleteRetentionPolicy, "DeleteRetentionPolicy", in)}, nil
}

func (p *group) syncTags(c resource.Change) ([]resource.Call, error) {
	set, remove := wire.TagChange(wire.Tags(c.Desired["Tags"]), wire.Tags(c.Recorded["Tags"]), wire.Observed(c.Observed, "Tags"))
	var calls []resource.Call
	if len(set) > 0 {
		calls = append(calls, p.tag(c, "tags", set, []string{"Tags"}))
	}
	if len(remove) > 0 {
		in := &cloudwatchlogs.UntagResourceInput{ResourceArn: aws.String(arnOf(c.Observed)), TagKeys: remove}
		calls = append(calls, change(p, c, "tags "+strings.Join(remove, ", "), []string{"Tags"}, p.api.UntagResource, "UntagResource", in))
	}
	return calls, nil
}

func (p *group) tag(c resource.Change, detail string, tags map[string]string, params []string) resource.Call {
	in := &cloudwatchlogs.TagResourceInput{ResourceArn: aws.String(arnOf(c.Observed)), Tags: tags}
	return change(p, c, detail, params, p.api.TagResource, "TagResource", in)
}

// Unmake implements resource.Provider: nothing has to go first.
func (p *group) Unmake(resource.Delete, *resource.Observation) ([]resource.Call, error) {
	return nil, nil
}

// Delete implements resource.Provider. Without consent nothing is even looked at (SAFETY S25).
func (p *group) Delete(ctx context.Context, d resource.Delete) error {
	if !d.Consent {
		return &resource.Error{Kind: resource.Rejected, Op: "DeleteLogGroup", Executed: resource.No,
			Err: errors.New("it deletes the log events in the group, and nobody consented to that; allow it by name")}
	}
	g, served, err := p.look(ctx, d.Key["LogGroupName"])
	if err != nil {
		return err
	}
	o := observe(g, served)
	if _, known := d.Expect.Same(o.Identity); !known && d.Nonce != "" {
		if err := p.readTags(ctx, o); err != nil {
			return err
		}
	}
	if err := session.Confirm("DeleteLogGroup", d, o); err != nil {
		return err
	}
	_, _, err = call(ctx, p, p.api.DeleteLogGroup, &cloudwatchlogs.DeleteLogGroupInput{LogGroupName: g.LogGroupName}, once)
	return err
}
