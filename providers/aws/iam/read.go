package iam

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
	"reclaim/providers/aws/wire"
)

// Read implements resource.Provider. A part that is denied becomes a gap; the role itself being denied is the error.
func (p *role) Read(ctx context.Context, key resource.Key) (*resource.Observation, error) {
	name := key["RoleName"]
	o, err := p.look(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, part := range []func(context.Context, string, *resource.Observation) error{p.readTags, p.readInline, p.readAttached, p.readPrincipals} {
		if err := part(ctx, name, o); err != nil {
			if session.Gone(err) {
				return nil, p.vanished(ctx, name)
			}
			return nil, err
		}
	}
	return o, nil
}

// look reads the role itself, without its parts.
func (p *role) look(ctx context.Context, name string) (*resource.Observation, error) {
	out, reply, err := call(ctx, p, p.api.GetRole, &iam.GetRoleInput{RoleName: &name})
	if err != nil {
		return nil, err
	}
	if out.Role == nil || aws.ToString(out.Role.RoleId) == "" || aws.ToString(out.Role.RoleName) == "" {
		return nil, session.Invalid("GetRole", "the answer holds no role")
	}
	return observe(out.Role, reply.ServedAt), nil
}

// vanished says what it means that a part of a role which was just there is not: the role is gone only when GetRole
// says so too.
func (p *role) vanished(ctx context.Context, name string) error {
	if _, err := p.look(ctx, name); err != nil {
		return err
	}
	return &resource.Error{Kind: resource.NotReady, Op: "GetRole", Executed: resource.No,
		Err: errors.New("its parts changed while they were read; look again")}
}

func observe(r *types.Role, served time.Time) *resource.Observation {
	o := &resource.Observation{
		Key: resource.Key{"RoleName": aws.ToString(r.RoleName)},
		Params: value.Map{
			"RoleName": value.Of(aws.ToString(r.RoleName)),
		},
		Output:   value.Map{"Arn": value.Of(aws.ToString(r.Arn)), "RoleId": value.Of(aws.ToString(r.RoleId))},
		Identity: resource.Identity{UniqueID: aws.ToString(r.RoleId)},
		ServedAt: served,
		Gaps:     map[value.Path]resource.Gap{},
		Ready:    true,
		Sources:  map[string]string{"object": "GetRole", "tags": "ListRoleTags"},
	}
	if r.CreateDate != nil {
		o.CreatedAt = r.CreateDate.UTC()
		o.Identity.CreatedAt = o.CreatedAt
	}
	if r.Path != nil {
		o.Params["Path"] = value.Of(*r.Path)
	}
	if r.Description != nil {
		o.Params["Description"] = value.Of(*r.Description)
	}
	if r.MaxSessionDuration != nil {
		o.Params["MaxSessionDuration"] = value.Of(*r.MaxSessionDuration)
	}
	if b := r.PermissionsBoundary; b != nil && b.PermissionsBoundaryArn != nil {
		o.Params["PermissionsBoundary"] = value.Of(*b.PermissionsBoundaryArn)
	}
	putDocument(o, o.Params, "AssumeRolePolicyDocument", "AssumeRolePolicyDocument", r.AssumeRolePolicyDocument)
	return o
}

// putDocument decodes a policy document, once, and sets it as m[name], or the gap at that path.
func putDocument(o *resource.Observation, m value.Map, name string, at value.Path, encoded *string) {
	if encoded == nil {
		o.Gaps[at] = resource.Gap{Kind: resource.GapNotReturned}
		return
	}
	doc, err := decodeDocument(*encoded)
	if err != nil {
		o.Gaps[at] = resource.Gap{Kind: resource.GapUndecodable, Reason: "not a URL-encoded JSON document"}
		return
	}
	m[name] = doc
}

// decodeDocument reads a document as the service writes it: RFC 3986 encoded, where "+" is a plus sign.
func decodeDocument(encoded string) (value.Value, error) {
	text, err := url.PathUnescape(encoded)
	if err != nil {
		return value.Value{}, err
	}
	return value.ParseJSON([]byte(text))
}

// gapOr turns what a part's own call could not give into a gap of that param; other errors stay errors.
func gapOr(o *resource.Observation, param string, err error) error {
	switch {
	case resource.Is(err, resource.AccessDenied):
		o.Gaps[value.Path(param)] = resource.Gap{Kind: resource.GapDenied, Reason: err.Error()}
	case resource.Is(err, resource.ReadInvalid):
		o.Gaps[value.Path(param)] = resource.Gap{Kind: resource.GapUndecodable, Reason: err.Error()}
	default:
		return err
	}
	return nil
}

// readTags sets Tags and Owner; both stay nil when the tags cannot be read.
func (p *role) readTags(ctx context.Context, name string, o *resource.Observation) error {
	all, err := p.listTags(ctx, name)
	if err != nil {
		return gapOr(o, "Tags", err)
	}
	own, marks := resource.SplitTags(all)
	o.Params["Tags"], o.Owner = wire.TagList(own), marks
	return nil
}

func (p *role) listTags(ctx context.Context, name string) (map[string]string, error) {
	all := map[string]string{}
	err := session.Pages("ListRoleTags", func(token *string) (*string, error) {
		out, _, err := call(ctx, p, p.api.ListRoleTags, &iam.ListRoleTagsInput{RoleName: &name, Marker: token})
		if err != nil {
			return nil, err
		}
		maps.Copy(all, tagMap(out.Tags))
		return nextPage("ListRoleTags", out.Tags == nil, out.IsTruncated, out.Marker)
	})
	return all, err
}

func tagMap(tags []types.Tag) map[string]string {
	m := make(map[string]string, len(tags))
	for _, t := range tags {
		m[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return m
}

// readInline sets Policies, each with its document.
func (p *role) readInline(ctx context.Context, name string, o *resource.Observation) error {
	names, err := p.listInline(ctx, name)
	if err != nil {
		return gapOr(o, "Policies", err)
	}
	items := make([]value.Value, 0, len(names))
	for _, policy := range names {
		out, _, err := call(ctx, p, p.api.GetRolePolicy, &iam.GetRolePolicyInput{RoleName: &name, PolicyName: &policy})
		at := value.Path("Policies").Item("PolicyName", policy).Child("PolicyDocument")
		item := value.Map{"PolicyName": value.Of(policy)}
		switch {
		case err == nil:
			putDocument(o, item, "PolicyDocument", at, out.PolicyDocument)
		case session.Gone(err):
			return err
		default:
			if err := gapOr(o, string(at), err); err != nil {
				return err
			}
		}
		items = append(items, value.OfMap(item))
	}
	o.Params["Policies"] = value.ListOf(items...)
	return nil
}

func (p *role) listInline(ctx context.Context, name string) ([]string, error) {
	var all []string
	err := session.Pages("ListRolePolicies", func(token *string) (*string, error) {
		out, _, err := call(ctx, p, p.api.ListRolePolicies, &iam.ListRolePoliciesInput{RoleName: &name, Marker: token})
		if err != nil {
			return nil, err
		}
		all = append(all, out.PolicyNames...)
		return nextPage("ListRolePolicies", out.PolicyNames == nil, out.IsTruncated, out.Marker)
	})
	return all, err
}

// readAttached sets ManagedPolicyArns.
func (p *role) readAttached(ctx context.Context, name string, o *resource.Observation) error {
	arns, err := p.listAttached(ctx, name)
	if err != nil {
		return gapOr(o, "ManagedPolicyArns", err)
	}
	o.Params["ManagedPolicyArns"] = value.Of(arns)
	return nil
}

func (p *role) listAttached(ctx context.Context, name string) ([]string, error) {
	var all []string
	err := session.Pages("ListAttachedRolePolicies", func(token *string) (*string, error) {
		out, _, err := call(ctx, p, p.api.ListAttachedRolePolicies, &iam.ListAttachedRolePoliciesInput{RoleName: &name, Marker: token})
		if err != nil {
			return nil, err
		}
		for _, a := range out.AttachedPolicies {
			all = append(all, aws.ToString(a.PolicyArn))
		}
		return nextPage("ListAttachedRolePolicies", out.AttachedPolicies == nil, out.IsTruncated, out.Marker)
	})
	return all, err
}

// nextPage reads the end of one page. A page without its list, or with more to come and no way to it, is an answer
// that cannot be understood, not an empty one.
func nextPage(operation string, noList, truncated bool, marker *string) (*string, error) {
	switch {
	case noList:
		return nil, session.Invalid(operation, "the answer holds no list")
	case truncated && aws.ToString(marker) == "":
		return nil, session.Invalid(operation, "there is another page, but no marker to ask for it")
	case truncated:
		return marker, nil
	}
	return nil, nil
}
