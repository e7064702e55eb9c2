package iam

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"reclaim/engine/resource"
	"reclaim/providers/aws/session"
)

// Find implements resource.Finder. With a key it looks for the name as the service compares it, whatever its case: the
// key of a role is pinned, so nothing of ours has another. Without one it looks at the tags of every role.
func (p *role) Find(ctx context.Context, q resource.Query) ([]resource.Candidate, error) {
	name := q.Key["RoleName"]
	if name == "" {
		name = q.Like.Text("RoleName")
	}
	if name == "" && q.Nonce == "" && q.Resource == "" {
		return nil, nil
	}
	roles, err := p.listRoles(ctx)
	if err != nil {
		return nil, err
	}
	var found []resource.Candidate
	for _, r := range roles {
		n := aws.ToString(r.RoleName)
		if name != "" && !strings.EqualFold(n, name) {
			continue
		}
		c, err := p.candidate(ctx, n, q, name != "")
		switch {
		case session.Gone(err): // since it was listed
		case err != nil:
			return nil, err
		case c != nil:
			found = append(found, *c)
		}
	}
	return found, nil
}

// candidate reads a role that was listed. It is nil when neither its name nor its tags match.
func (p *role) candidate(ctx context.Context, name string, q resource.Query, byName bool) (*resource.Candidate, error) {
	if !byName {
		tags, err := p.listTags(ctx, name)
		if err != nil {
			return nil, err
		}
		if byNonce, byTags := session.Match(q, tags); !byNonce && !byTags {
			return nil, nil
		}
	}
	o, err := p.Read(ctx, resource.Key{"RoleName": name})
	if err != nil {
		return nil, err
	}
	c := &resource.Candidate{Observation: *o, ByName: byName}
	c.ByNonce, c.ByTags = session.Match(q, o.Owner)
	return c, nil
}

// listRoles returns every role of the account, as far as a list tells of them.
func (p *role) listRoles(ctx context.Context) ([]types.Role, error) {
	var all []types.Role
	err := session.Pages("ListRoles", func(token *string) (*string, error) {
		out, _, err := call(ctx, p, p.api.ListRoles, &iam.ListRolesInput{Marker: token})
		if err != nil {
			return nil, err
		}
		all = append(all, out.Roles...)
		return nextPage("ListRoles", out.Roles == nil, out.IsTruncated, out.Marker)
	})
	return all, err
}
