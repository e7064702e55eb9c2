package iam

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
	"reclaim/providers/aws/wire"
)

// Sync implements resource.Provider. Ownership tags come first, so that an adoption is marked before it changes
// anything else.
func (p *role) Sync(c resource.Change) ([]resource.Call, error) {
	if err := wire.Whole("sync role", wire.Pick(c.Desired, c.Write)); err != nil {
		return nil, err
	}
	var calls []resource.Call
	if len(c.Own) > 0 {
		calls = append(calls, p.tag(c, "ownership tags", c.Own, nil))
	}
	written := func(params ...string) bool {
		return slices.ContainsFunc(params, func(name string) bool { return slices.Contains(c.Write, name) })
	}
	for _, step := range []struct {
		params []string
		plan   func(resource.Change) ([]resource.Call, error)
	}{
		{[]string{"AssumeRolePolicyDocument"}, p.syncTrust},
		{[]string{"PermissionsBoundary"}, p.syncBoundary},
		{[]string{"Description", "MaxSessionDuration"}, p.syncSettings},
		{[]string{"Policies"}, p.syncInline},
		{[]string{"ManagedPolicyArns"}, p.syncAttached},
		{[]string{"Tags"}, p.syncTags},
	} {
		if !written(step.params...) {
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
func change[In, Out any](p *role, c resource.Change, detail string, params []string, do func(context.Context, *In, ...func(*iam.Options)) (*Out, error), name string, in *In) resource.Call {
	return resource.Call{Name: name, Detail: detail, Params: params, Run: func(ctx context.Context) error {
		_, _, err := call(ctx, p, do, in)
		return wire.Conceal(dependency(err, c.Desired), c.Desired)
	}}
}

func (p *role) syncTrust(c resource.Change) ([]resource.Call, error) {
	trust, err := wire.Document(c.Desired["AssumeRolePolicyDocument"])
	if err != nil {
		return nil, refused("UpdateAssumeRolePolicy", err)
	}
	in := &iam.UpdateAssumeRolePolicyInput{RoleName: aws.String(c.Key["RoleName"]), PolicyDocument: &trust}
	return []resource.Call{change(p, c, "trust policy", []string{"AssumeRolePolicyDocument"}, p.api.UpdateAssumeRolePolicy, "UpdateAssumeRolePolicy", in)}, nil
}

func (p *role) syncBoundary(c resource.Change) ([]resource.Call, error) {
	name, params := aws.String(c.Key["RoleName"]), []string{"PermissionsBoundary"}
	if b := c.Desired["PermissionsBoundary"]; !wire.Empty(b) {
		in := &iam.PutRolePermissionsBoundaryInput{RoleName: name, PermissionsBoundary: wire.Text(b)}
		return []resource.Call{change(p, c, "permissions boundary", params, p.api.PutRolePermissionsBoundary, "PutRolePermissionsBoundary", in)}, nil
	}
	in := &iam.DeleteRolePermissionsBoundaryInput{RoleName: name}
	return []resource.Call{{Name: "DeleteRolePermissionsBoundary", Detail: "permissions boundary", Params: params, Run: func(ctx context.Context) error {
		_, _, err := call(ctx, p, p.api.DeleteRolePermissionsBoundary, in)
		return session.SkipGone(err)
	}}}, nil
}

// syncSettings sends both settings together: UpdateRole resets the one that it is not given. What is not to be written
// is sent as observed.
func (p *role) syncSettings(c resource.Change) ([]resource.Call, error) {
	want := func(param string) value.Value {
		if slices.Contains(c.Write, param) {
			return c.Desired[param]
		}
		return c.Observed.Params[param]
	}
	in := &iam.UpdateRoleInput{
		RoleName:           aws.String(c.Key["RoleName"]),
		Description:        aws.String(wire.Name(want("Description"))),
		MaxSessionDuration: wire.Int32(want("MaxSessionDuration")),
	}
	if in.MaxSessionDuration == nil {
		in.MaxSessionDuration = aws.Int32(sessionShortest)
	}
	return []resource.Call{change(p, c, "description and session duration", []string{"Description", "MaxSessionDuration"}, p.api.UpdateRole, "UpdateRole", in)}, nil
}

func (p *role) syncInline(c resource.Change) ([]resource.Call, error) {
	have := map[string]value.Value{}
	for _, e := range c.Observed.Params["Policies"].Items() {
		have[wire.Name(e.Get("PolicyName"))] = e.Get("PolicyDocument")
	}
	var calls []resource.Call
	var wanted []string
	for _, e := range c.Desired["Policies"].Items() {
		policy := wire.Name(e.Get("PolicyName"))
		wanted = append(wanted, policy)
		if doc, ok := have[policy]; ok && wire.SameDocument(doc, e.Get("PolicyDocument")) {
			continue
		}
		put, err := p.putPolicy(c, e)
		if err != nil {
			return nil, err
		}
		calls = append(calls, put)
	}
	for _, policy := range policyNames(c.Recorded["Policies"]) {
		if _, there := have[policy]; !slices.Contains(wanted, policy) && (there || !c.Observed.Params["Policies"].IsSet()) {
			calls = append(calls, p.deletePolicy(c.Key["RoleName"], policy))
		}
	}
	return calls, nil
}

func (p *role) putPolicy(c resource.Change, policy value.Value) (resource.Call, error) {
	text, err := wire.Document(policy.Get("PolicyDocument"))
	if err != nil {
		return resource.Call{}, refused("PutRolePolicy", err)
	}
	in := &iam.PutRolePolicyInput{RoleName: aws.String(c.Key["RoleName"]), PolicyName: wire.Text(policy.Get("PolicyName")), PolicyDocument: &text}
	return change(p, c, "inline policy "+wire.Shown(policy.Get("PolicyName")), []string{"Policies"}, p.api.PutRolePolicy, "PutRolePolicy", in), nil
}

func (p *role) deletePolicy(role, policy string) resource.Call {
	in := &iam.DeleteRolePolicyInput{RoleName: &role, PolicyName: &policy}
	return resource.Call{Name: "DeleteRolePolicy", Detail: "inline policy " + policy, Params: []string{"Policies"}, Run: func(ctx context.Context) error {
		_, _, err := call(ctx, p, p.api.DeleteRolePolicy, in)
		return session.SkipGone(err)
	}}
}

func (p *role) syncAttached(c resource.Change) ([]resource.Call, error) {
	have, wanted := wire.Strings(c.Observed.Params["ManagedPolicyArns"]), wire.Strings(c.Desired["ManagedPolicyArns"])
	var calls []resource.Call
	for i, e := range c.Desired["ManagedPolicyArns"].Items() {
		arn := wanted[i]
		if slices.Contains(have, arn) || slices.Contains(wanted[:i], arn) {
			continue
		}
		in := &iam.AttachRolePolicyInput{RoleName: aws.String(c.Key["RoleName"]), PolicyArn: aws.String(arn)}
		calls = append(calls, change(p, c, "managed policy "+wire.Shown(e), []string{"ManagedPolicyArns"}, p.api.AttachRolePolicy, "AttachRolePolicy", in))
	}
	for _, e := range c.Recorded["ManagedPolicyArns"].Items() {
		arn, ok := e.Str()
		if ok && !slices.Contains(wanted, arn) && (have == nil || slices.Contains(have, arn)) {
			calls = append(calls, p.detach(c.Key["RoleName"], arn))
		}
	}
	return calls, nil
}

func (p *role) detach(role, arn string) resource.Call {
	in := &iam.DetachRolePolicyInput{RoleName: &role, PolicyArn: &arn}
	return resource.Call{Name: "DetachRolePolicy", Detail: "managed policy " + arn, Params: []string{"ManagedPolicyArns"}, Run: func(ctx context.Context) error {
		_, _, err := call(ctx, p, p.api.DetachRolePolicy, in)
		return session.SkipGone(err)
	}}
}

func (p *role) syncTags(c resource.Change) ([]resource.Call, error) {
	set, remove := wire.TagChange(wire.Tags(c.Desired["Tags"]), wire.Tags(c.Recorded["Tags"]), wire.Observed(c.Observed, "Tags"))
	var calls []resource.Call
	if len(set) > 0 {
		calls = append(calls, p.tag(c, "tags", set, []string{"Tags"}))
	}
	if len(remove) > 0 {
		in := &iam.UntagRoleInput{RoleName: aws.String(c.Key["RoleName"]), TagKeys: remove}
		calls = append(calls, change(p, c, "tags "+strings.Join(remove, ", "), []string{"Tags"}, p.api.UntagRole, "UntagRole", in))
	}
	return calls, nil
}

func (p *role) tag(c resource.Change, detail string, tags map[string]string, params []string) resource.Call {
	in := &iam.TagRoleInput{RoleName: aws.String(c.Key["RoleName"]), Tags: tagList(tags)}
	return change(p, c, detail, params, p.api.TagRole, "TagRole", in)
}
