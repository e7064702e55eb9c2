package iam

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
)

// AttachmentType is the name of the type, which CloudFormation does not have.
const AttachmentType = "Reclaim::IAM::RolePolicyAttachment"

func attachmentSchema() *resource.Schema {
	return &resource.Schema{
		Type: AttachmentType,
		Doc: "One managed policy on one role, also on a role that is not of this stack. A role's own ManagedPolicyArns and an " +
			"attachment leave each other's policies alone; do not name one policy in both.",
		Identity: resource.Upsert,
		Space:    resource.PerAccount,
		Key:      []string{"RoleName", "PolicyArn"},
		FoldKey:  true,
		Ref:      "PolicyArn",
		Params: []resource.Field{
			{Name: "RoleName", Doc: "Name of the role.", Required: true,
				Type: resource.TString, Mode: resource.KeyParam, Min: bound(1), Max: bound(roleNameMax), Pattern: `[\w+=,.@-]+`},
			{Name: "PolicyArn", Doc: "ARN of the managed policy, exactly as the service writes it.", Required: true,
				Type: resource.TString, Mode: resource.KeyParam, Min: bound(20), Max: bound(2048), Pattern: `arn:[^|\s]+`},
		},
		Window:    30 * time.Second,
		Deadlines: resource.Deadlines{Call: 30 * time.Second, Settle: 30 * time.Second, Delete: time.Minute},
	}
}

// attachment implements resource.Provider. Role and policy are all that it is: nothing of it can be changed, and it has
// neither tags nor identity, so two of the same key cannot be told apart.
type attachment struct {
	schema *resource.Schema
	role   *role // whose calls it makes
}

// Schema implements resource.Provider.
func (p *attachment) Schema() *resource.Schema { return p.schema }

// Read implements resource.Provider: all pages of the role's policies, compared by the exact ARN. A role that is not there
// is an attachment that is not there: it cannot outlive its role, and the service's "no such entity" comes from the verified
// account like every absence that counts (SAFETY S2); a role that is merely not visible yet falls under the window, as the
// attachment itself does.
func (p *attachment) Read(ctx context.Context, key resource.Key) (*resource.Observation, error) {
	arns, served, err := p.attached(ctx, key["RoleName"])
	if err != nil {
		return nil, err
	}
	if !slices.Contains(arns, key["PolicyArn"]) {
		return nil, &resource.Error{Kind: resource.NotFound, Op: "ListAttachedRolePolicies", Executed: resource.No, ServedAt: served,
			Err: errors.New("the role has no policy with exactly this ARN")}
	}
	return &resource.Observation{
		Key:      resource.Key{"RoleName": key["RoleName"], "PolicyArn": key["PolicyArn"]},
		Params:   value.Map{"RoleName": value.Of(key["RoleName"]), "PolicyArn": value.Of(key["PolicyArn"])},
		Output:   value.Map{},
		ServedAt: served,
		Gaps:     map[value.Path]resource.Gap{},
		Ready:    true,
		Sources:  map[string]string{"object": "ListAttachedRolePolicies"},
	}, nil
}

// attached returns the ARNs of a role's policies and the service's time of the last page.
func (p *attachment) attached(ctx context.Context, name string) ([]string, time.Time, error) {
	var all []string
	var served time.Time
	err := session.Pages("ListAttachedRolePolicies", func(token *string) (*string, error) {
		out, reply, err := call(ctx, p.role, p.role.api.ListAttachedRolePolicies, &iam.ListAttachedRolePoliciesInput{RoleName: &name, Marker: token})
		if err != nil {
			return nil, err
		}
		served = reply.ServedAt
		for _, a := range out.AttachedPolicies {
			all = append(all, aws.ToString(a.PolicyArn))
		}
		return nextPage("ListAttachedRolePolicies", out.AttachedPolicies == nil, out.IsTruncated, out.Marker)
	})
	return all, served, err
}

// Create implements resource.Provider: one AttachRolePolicy. It succeeds as well where the policy is attached already, so the
// read that follows says no more than that it is (SAFETY S9). A role or policy that is not there may not be there yet.
func (p *attachment) Create(ctx context.Context, c resource.Create) (resource.Created, error) {
	_, reply, err := call(ctx, p.role, p.role.api.AttachRolePolicy, &iam.AttachRolePolicyInput{
		RoleName: aws.String(c.Key["RoleName"]), PolicyArn: aws.String(c.Key["PolicyArn"])}, once)
	if err != nil {
		return resource.Created{}, dependency(err, nil)
	}
	return resource.Created{Key: resource.Key{"RoleName": c.Key["RoleName"], "PolicyArn": c.Key["PolicyArn"]}, ServedAt: reply.ServedAt}, nil
}

// Sync implements resource.Provider: there is nothing to change, and nowhere to put a mark.
func (p *attachment) Sync(resource.Change) ([]resource.Call, error) { return nil, nil }

// Unmake implements resource.Provider: nothing has to go first.
func (p *attachment) Unmake(resource.Delete, *resource.Observation) ([]resource.Call, error) {
	return nil, nil
}

// Delete implements resource.Provider. Without identity, what was recorded must be equal to what is there (SAFETY S20).
func (p *attachment) Delete(ctx context.Context, d resource.Delete) error {
	o, err := p.Read(ctx, d.Key)
	if err != nil {
		return err
	}
	for _, name := range p.schema.Key {
		if !value.Equal(d.Recorded[name], o.Params[name]) {
			return &resource.Error{Kind: resource.IdentityMismatch, Op: "DetachRolePolicy", Executed: resource.No,
				Err: errors.New("what was recorded is not this role and policy; nothing was detached")}
		}
	}
	_, _, err = call(ctx, p.role, p.role.api.DetachRolePolicy, &iam.DetachRolePolicyInput{
		RoleName: aws.String(d.Key["RoleName"]), PolicyArn: aws.String(d.Key["PolicyArn"])}, once)
	return err
}
