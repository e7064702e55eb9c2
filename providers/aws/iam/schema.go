package iam

import (
	"time"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// RoleType is the CloudFormation name of the type.
const RoleType = "AWS::IAM::Role"

// Bounds of the service.
const (
	roleNameMax     = 64
	sessionShortest = 3600  // seconds; what the service fills in
	sessionLongest  = 43200 // seconds
)

// Schemas returns the types of this package.
func Schemas() []*resource.Schema { return []*resource.Schema{roleSchema(), attachmentSchema()} }

func bound(n int64) *int64 { return &n }

func roleSchema() *resource.Schema {
	return &resource.Schema{
		Type:     RoleType,
		Doc:      "An IAM role: who may assume it, and what it may do through inline and managed policies.",
		Identity: resource.Named,
		Space:    resource.PerAccount,
		Key:      []string{"RoleName"},
		FoldKey:  true,
		Ref:      "RoleName",
		Params:   roleParams(),
		Outputs: []resource.Output{
			{Name: "Arn", Doc: "ARN of the role."},
			{Name: "RoleId", Doc: "Unique ID of the role; a role created again under the same name has another."},
		},
		Name:      &resource.NameRule{Param: "RoleName", Max: roleNameMax},
		Tags:      resource.TagList,
		TagParam:  "Tags",
		Window:    30 * time.Second,
		Deadlines: resource.Deadlines{Call: 30 * time.Second, Settle: 30 * time.Second, Delete: time.Minute},
	}
}

func roleParams() []resource.Field {
	return []resource.Field{
		{Name: "RoleName", Doc: "Name of the role, unique in the account whatever its case or path.",
			Type: resource.TString, Mode: resource.KeyParam, Min: bound(1), Max: bound(roleNameMax), Pattern: `[\w+=,.@-]+`},
		{Name: "Path", Doc: "Path in front of the name in the ARN; it makes no name space of its own.",
			Type: resource.TString, Mode: resource.Immutable, Default: value.Of("/"), Min: bound(1), Max: bound(512), Pattern: `/|/[!-~]+/`},
		{Name: "AssumeRolePolicyDocument", Doc: "Trust policy: who may assume the role.",
			Type: resource.TJSON, Mode: resource.Mutable, Required: true, Equal: resource.IAMPolicy},
		{Name: "Description", Doc: "Description of the role.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(""), Max: bound(1000)},
		{Name: "MaxSessionDuration", Doc: "Longest session, in seconds.",
			Type: resource.TInt, Mode: resource.Mutable, Default: value.Of(sessionShortest), Min: bound(sessionShortest), Max: bound(sessionLongest)},
		{Name: "ManagedPolicyArns", Doc: "ARNs of managed policies attached to the role; policies that others attached stay.",
			Type: resource.TList, Mode: resource.Mutable, Set: true, Shared: true, Elem: &resource.Field{Type: resource.TString}},
		{Name: "PermissionsBoundary", Doc: "ARN of the managed policy that bounds what the role can be allowed.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(""), Equal: resource.EmptyIsNil},
		{Name: "Policies", Doc: "Inline policies by name; policies that others put on the role stay.",
			Type: resource.TList, Mode: resource.Mutable, ItemKey: "PolicyName", Shared: true,
			Elem: &resource.Field{Type: resource.TObject, Fields: []resource.Field{
				{Name: "PolicyName", Doc: "Name of the inline policy.", Type: resource.TString, Required: true, Min: bound(1), Max: bound(128)},
				{Name: "PolicyDocument", Doc: "What the policy allows and denies.", Type: resource.TJSON, Required: true, Equal: resource.IAMPolicy},
			}}},
		{Name: "Tags", Doc: "Tags of the role; tags that others set stay.",
			Type: resource.TList, Mode: resource.Mutable, ItemKey: "Key", Shared: true,
			Elem: &resource.Field{Type: resource.TObject, Fields: []resource.Field{
				{Name: "Key", Doc: "Name of the tag.", Type: resource.TString, Required: true, Min: bound(1), Max: bound(128)},
				{Name: "Value", Doc: "Value of the tag.", Type: resource.TString, Required: true, Max: bound(256)},
			}}},
	}
}
