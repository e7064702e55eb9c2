package iam

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
	"reclaim/providers/aws/wire"
)

// Create implements resource.Provider: one CreateRole, tags and boundary with it. Policies are calls of their own.
func (p *role) Create(ctx context.Context, c resource.Create) (resource.Created, error) {
	in, err := createInput(c)
	if err != nil {
		return resource.Created{}, err
	}
	out, reply, err := call(ctx, p, p.api.CreateRole, in, once)
	if err != nil {
		return resource.Created{}, wire.Conceal(dependency(err, c.Params), c.Params)
	}
	if out.Role == nil || aws.ToString(out.Role.RoleId) == "" {
		return resource.Created{}, session.Unacknowledged("CreateRole", reply, "it succeeded, but did not say what it made")
	}
	o := observe(out.Role, reply.ServedAt)
	made := resource.Created{Key: o.Key, Identity: o.Identity, Output: o.Output, ServedAt: o.ServedAt}
	for _, param := range []string{"Policies", "ManagedPolicyArns"} {
		if !wire.Empty(c.Params[param]) {
			made.Unsent = append(made.Unsent, param)
		}
	}
	return made, nil
}

func createInput(c resource.Create) (*iam.CreateRoleInput, error) {
	if err := wire.Whole("CreateRole", c.Params); err != nil {
		return nil, err
	}
	trust, err := wire.Document(c.Params["AssumeRolePolicyDocument"])
	if err != nil {
		return nil, refused("CreateRole", err)
	}
	in := &iam.CreateRoleInput{
		RoleName:                 aws.String(c.Key["RoleName"]),
		AssumeRolePolicyDocument: &trust,
		Path:                     wire.Text(c.Params["Path"]),
		Description:              wire.Text(c.Params["Description"]),
		MaxSessionDuration:       wire.Int32(c.Params["MaxSessionDuration"]),
		Tags:                     tagList(wire.Join(wire.Tags(c.Params["Tags"]), c.Tags)),
	}
	if b := c.Params["PermissionsBoundary"]; !wire.Empty(b) {
		in.PermissionsBoundary = wire.Text(b)
	}
	return in, nil
}

// dependency types the refusals that are about something else than the role: the policy that the call names, or a
// principal of the trust policy, does not exist, or not yet everywhere. The service gives a missing principal the code
// of a malformed document, so only a document that names one can mean it.
func dependency(err error, params value.Map) error {
	e, ok := errors.AsType[*resource.Error](err)
	if !ok {
		return err
	}
	switch {
	case e.Kind == resource.NotFound && slices.Contains([]string{"CreateRole", "PutRolePermissionsBoundary", "AttachRolePolicy"}, e.Op),
		e.Code == "MalformedPolicyDocument" && e.Op != "PutRolePolicy" && namesPrincipal(params["AssumeRolePolicyDocument"]):
		e.Kind = resource.NotReady
	}
	return err
}

// namesPrincipal reports whether a trust policy names a role, a user or an account.
func namesPrincipal(trust value.Value) bool {
	found := false
	wire.Parsed(trust).Walk("", func(_ value.Path, v value.Value) bool {
		found = found || v.Get("Principal").Get("AWS").IsSet()
		return !found
	})
	return found
}

func refused(operation string, err error) error {
	return &resource.Error{Kind: resource.Rejected, Op: operation, Executed: resource.No, Err: err}
}

func tagList(tags map[string]string) []types.Tag {
	var list []types.Tag // nil for none: an empty list is refused
	for _, name := range value.Of(tags).Fields().Keys() {
		list = append(list, types.Tag{Key: aws.String(name), Value: aws.String(tags[name])})
	}
	return list
}

// Unmake implements resource.Provider: what we recorded as ours and is still there comes off first. What others put
// on the role stays, and makes DeleteRole answer InUse.
func (p *role) Unmake(d resource.Delete, observed *resource.Observation) ([]resource.Call, error) {
	if observed == nil {
		return nil, nil
	}
	name := d.Key["RoleName"]
	var calls []resource.Call
	ours := policyNames(d.Recorded["Policies"])
	for _, policy := range policyNames(observed.Params["Policies"]) {
		if slices.Contains(ours, policy) {
			calls = append(calls, p.deletePolicy(name, policy))
		}
	}
	ours = wire.Strings(d.Recorded["ManagedPolicyArns"])
	for _, arn := range wire.Strings(observed.Params["ManagedPolicyArns"]) {
		if slices.Contains(ours, arn) {
			calls = append(calls, p.detach(name, arn))
		}
	}
	return calls, nil
}

// policyNames returns the names of inline policies that can be told.
func policyNames(list value.Value) []string {
	var names []string
	for _, e := range list.Items() {
		if name, ok := e.Get("PolicyName").Str(); ok {
			names = append(names, name)
		}
	}
	return names
}

// Delete implements resource.Provider.
func (p *role) Delete(ctx context.Context, d resource.Delete) error {
	name := d.Key["RoleName"]
	o, err := p.look(ctx, name)
	if err != nil {
		return err
	}
	if _, known := d.Expect.Same(o.Identity); !known && d.Nonce != "" {
		if err := p.readTags(ctx, name, o); err != nil {
			return err
		}
	}
	if err := session.Confirm("DeleteRole", d, o); err != nil {
		return err
	}
	_, _, err = call(ctx, p, p.api.DeleteRole, &iam.DeleteRoleInput{RoleName: &name}, once)
	if e, ok := errors.AsType[*resource.Error](err); ok && e.Kind == resource.InUse {
		e.Blockers = p.blockers(ctx, name)
	}
	return err
}

// blockers names what keeps a role from being deleted, and what of it could not be listed.
func (p *role) blockers(ctx context.Context, name string) []string {
	var all []string
	for _, kind := range []struct {
		what string
		list func(context.Context, string) ([]string, error)
	}{
		{"attached policy", p.listAttached},
		{"inline policy", p.listInline},
		{"instance profile", p.listProfiles},
	} {
		names, err := kind.list(ctx, name)
		for _, n := range names {
			all = append(all, kind.what+" "+n)
		}
		if err != nil {
			all = append(all, "perhaps an "+kind.what+": the list failed with "+string(resource.KindOf(err)))
		}
	}
	return all
}

func (p *role) listProfiles(ctx context.Context, name string) ([]string, error) {
	var all []string
	err := session.Pages("ListInstanceProfilesForRole", func(token *string) (*string, error) {
		out, _, err := call(ctx, p, p.api.ListInstanceProfilesForRole, &iam.ListInstanceProfilesForRoleInput{RoleName: &name, Marker: token})
		if err != nil {
			return nil, err
		}
		for _, profile := range out.InstanceProfiles {
			all = append(all, aws.ToString(profile.InstanceProfileName))
		}
		return nextPage("ListInstanceProfilesForRole", out.InstanceProfiles == nil, out.IsTruncated, out.Marker)
	})
	return all, err
}
