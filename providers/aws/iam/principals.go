package iam

import (
	"context"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// uniqueID is how a trust policy shows a role that was deleted, or, for a moment, one that was just made.
var uniqueID = regexp.MustCompile(`\bAROA[A-Z0-9]{12,}\b`)

// readPrincipals looks up whose the unique IDs in the trust policy are. The role that an ARN names may have been made
// again since, with another ID, so only what lives now can tell. A list that is denied leaves them unknown. Users' IDs
// (AIDA…) are not looked up.
func (p *role) readPrincipals(ctx context.Context, _ string, o *resource.Observation) error {
	ids := uniqueID.FindAllString(principalsIn(o.Params["AssumeRolePolicyDocument"]), -1)
	if len(ids) == 0 {
		return nil
	}
	roles, err := p.listRoles(ctx)
	switch {
	case resource.Is(err, resource.AccessDenied) || resource.Is(err, resource.ReadInvalid):
		return nil
	case err != nil:
		return err
	}
	found := &resource.Principals{Live: map[string]string{}}
	if parts := strings.Split(o.Output.Text("Arn"), ":"); len(parts) > 4 {
		found.Account = parts[4]
	}
	for _, id := range ids {
		found.Live[id] = ""
	}
	for _, r := range roles {
		if _, asked := found.Live[aws.ToString(r.RoleId)]; asked {
			found.Live[aws.ToString(r.RoleId)] = aws.ToString(r.Arn)
		}
	}
	o.Principals = found
	return nil
}

// principalsIn is the text of the principals of a trust policy.
func principalsIn(doc value.Value) string {
	var text strings.Builder
	statements := doc.Get("Statement")
	list := statements.Items()
	if statements.Kind() == value.Object {
		list = []value.Value{statements}
	}
	for _, s := range list {
		text.WriteString(s.Get("Principal").String() + " " + s.Get("NotPrincipal").String() + " ")
	}
	return text.String()
}
