package logs

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
	"reclaim/providers/aws/wire"
)

// Read implements resource.Provider. Tags or a data protection policy that are denied become gaps.
func (p *group) Read(ctx context.Context, key resource.Key) (*resource.Observation, error) {
	g, served, err := p.look(ctx, key["LogGroupName"])
	if err != nil {
		return nil, err
	}
	return p.whole(ctx, g, served)
}

// look finds the group by its exact name: the service only searches by prefix.
func (p *group) look(ctx context.Context, name string) (*types.LogGroup, time.Time, error) {
	var found *types.LogGroup
	served, err := p.list(ctx, name, func(g types.LogGroup) bool {
		if aws.ToString(g.LogGroupName) == name {
			found = &g
		}
		return found == nil
	})
	switch {
	case err != nil:
		return nil, served, err
	case found == nil:
		return nil, served, &resource.Error{Kind: resource.NotFound, Op: "DescribeLogGroups", Executed: resource.No, ServedAt: served,
			Err: errors.New("no log group has exactly this name")}
	case found.CreationTime == nil:
		return nil, served, session.Invalid("DescribeLogGroups", "the group has no creation time")
	}
	return found, served, nil
}

// list visits the groups whose names start with prefix, all pages, until visit returns false. The time is the
// service's, of the last page.
func (p *group) list(ctx context.Context, prefix string, visit func(types.LogGroup) bool) (time.Time, error) {
	var served time.Time
	in := &cloudwatchlogs.DescribeLogGroupsInput{}
	if prefix != "" {
		in.LogGroupNamePrefix = &prefix
	}
	err := session.Pages("DescribeLogGroups", func(token *string) (*string, error) {
		in.NextToken = token
		out, reply, err := call(ctx, p, p.api.DescribeLogGroups, in)
		if err != nil {
			return nil, err
		}
		if out.LogGroups == nil {
			return nil, session.Invalid("DescribeLogGroups", "the answer holds no list")
		}
		served = reply.ServedAt
		for _, g := range out.LogGroups {
			if !visit(g) {
				return nil, nil
			}
		}
		return out.NextToken, nil
	})
	return served, err
}

// whole completes a group that was found with the parts that are calls of their own.
func (p *group) whole(ctx context.Context, g *types.LogGroup, served time.Time) (*resource.Observation, error) {
	o := observe(g, served)
	err := p.readTags(ctx, o)
	if err == nil {
		err = p.readProtection(ctx, g, o)
	}
	if session.Gone(err) {
		return nil, p.vanished(ctx, aws.ToString(g.LogGroupName))
	}
	if err != nil {
		return nil, err
	}
	return o, nil
}

// vanished says what it means that a part of a group which was just there is not: the group is gone only when it is
// not listed either.
func (p *group) vanished(ctx context.Context, name string) error {
	if _, _, err := p.look(ctx, name); err != nil {
		return err
	}
	return &resource.Error{Kind: resource.NotReady, Op: "DescribeLogGroups", Executed: resource.No,
		Err: errors.New("its parts changed while they were read; look again")}
}

func observe(g *types.LogGroup, served time.Time) *resource.Observation {
	created := time.UnixMilli(aws.ToInt64(g.CreationTime)).UTC()
	o := &resource.Observation{
		Key:       resource.Key{"LogGroupName": aws.ToString(g.LogGroupName)},
		Params:    value.Map{"LogGroupName": value.Of(aws.ToString(g.LogGroupName))},
		Output:    value.Map{},
		Identity:  resource.Identity{CreatedAt: created},
		CreatedAt: created,
		ServedAt:  served,
		Gaps:      map[value.Path]resource.Gap{},
		Ready:     true,
		Sources:   map[string]string{"object": "DescribeLogGroups", "tags": "ListTagsForResource"},
	}
	if arn := bareARN(g); arn != "" {
		o.Output["Arn"] = value.Of(arn + ":*")
	}
	if g.LogGroupClass != "" {
		o.Params["LogGroupClass"] = value.Of(string(g.LogGroupClass))
	}
	if g.KmsKeyId != nil {
		o.Params["KmsKeyId"] = value.Of(*g.KmsKeyId)
	}
	switch {
	case g.LogGroupClass == classDelivery:
		o.Gaps["RetentionInDays"] = resource.Gap{Kind: resource.GapNotReturned, Reason: "the service fixes it for class " + classDelivery}
	case g.RetentionInDays != nil:
		o.Params["RetentionInDays"] = value.Of(*g.RetentionInDays)
	}
	return o
}

// bareARN returns the group's ARN without ":*", as the tagging operations take it.
func bareARN(g *types.LogGroup) string {
	if g.LogGroupArn != nil {
		return *g.LogGroupArn
	}
	return strings.TrimSuffix(aws.ToString(g.Arn), ":*")
}

// arnOf returns what bareARN returned when o was read.
func arnOf(o *resource.Observation) string { return strings.TrimSuffix(o.Output.Text("Arn"), ":*") }

// readTags sets Tags and Owner; both stay nil when the tags cannot be read.
func (p *group) readTags(ctx context.Context, o *resource.Observation) error {
	all, err := p.tagsOf(ctx, arnOf(o))
	if err != nil {
		return gapOr(o, "Tags", err)
	}
	own, marks := resource.SplitTags(all)
	o.Params["Tags"], o.Owner = wire.TagList(own), marks
	return nil
}

func (p *group) tagsOf(ctx context.Context, arn string) (map[string]string, error) {
	if arn == "" {
		return nil, session.Invalid("DescribeLogGroups", "the group has no ARN to ask for its tags")
	}
	out, _, err := call(ctx, p, p.api.ListTagsForResource, &cloudwatchlogs.ListTagsForResourceInput{ResourceArn: &arn})
	if err != nil {
		return nil, err
	}
	if out.Tags == nil {
		return nil, session.Invalid("ListTagsForResource", "the answer holds no tags, not even none")
	}
	return out.Tags, nil
}

// readProtection asks for the policy where the group says that it has one.
func (p *group) readProtection(ctx context.Context, g *types.LogGroup, o *resource.Observation) error {
	if g.DataProtectionStatus == "" || g.DataProtectionStatus == types.DataProtectionStatusDeleted {
		return nil
	}
	out, _, err := call(ctx, p, p.api.GetDataProtectionPolicy, &cloudwatchlogs.GetDataProtectionPolicyInput{LogGroupIdentifier: g.LogGroupName})
	if err != nil {
		return gapOr(o, "DataProtectionPolicy", err)
	}
	if aws.ToString(out.PolicyDocument) == "" {
		return nil
	}
	doc, err := value.ParseJSON([]byte(*out.PolicyDocument))
	if err != nil {
		o.Gaps["DataProtectionPolicy"] = resource.Gap{Kind: resource.GapUndecodable, Reason: "not a JSON document"}
		return nil
	}
	o.Params["DataProtectionPolicy"] = doc
	return nil
}

// gapOr turns what a part's own call could not give into a gap of that param; other errors stay errors.
func gapOr(o *resource.Observation, param value.Path, err error) error {
	switch {
	case resource.Is(err, resource.AccessDenied):
		o.Gaps[param] = resource.Gap{Kind: resource.GapDenied, Reason: err.Error()}
	case resource.Is(err, resource.ReadInvalid):
		o.Gaps[param] = resource.Gap{Kind: resource.GapUndecodable, Reason: err.Error()}
	default:
		return err
	}
	return nil
}

// Find implements resource.Finder. With a name it looks at that name only: the key of a group is pinned, so nothing of
// ours has another. Without one it looks at the tags of every group.
func (p *group) Find(ctx context.Context, q resource.Query) ([]resource.Candidate, error) {
	name := q.Key["LogGroupName"]
	if name == "" {
		name = q.Like.Text("LogGroupName")
	}
	if name != "" {
		o, err := p.Read(ctx, resource.Key{"LogGroupName": name})
		if err != nil {
			return nil, session.SkipGone(err)
		}
		return []resource.Candidate{candidate(q, o, true)}, nil
	}
	if q.Nonce == "" && q.Resource == "" {
		return nil, nil
	}
	var groups []types.LogGroup
	served, err := p.list(ctx, "", func(g types.LogGroup) bool { groups = append(groups, g); return true })
	if err != nil {
		return nil, err
	}
	return p.tagged(ctx, q, groups, served)
}

func candidate(q resource.Query, o *resource.Observation, byName bool) resource.Candidate {
	c := resource.Candidate{Observation: *o, ByName: byName}
	c.ByNonce, c.ByTags = session.Match(q, o.Owner)
	return c
}

// tagged returns those of groups whose tags match.
func (p *group) tagged(ctx context.Context, q resource.Query, groups []types.LogGroup, served time.Time) ([]resource.Candidate, error) {
	var found []resource.Candidate
	for i := range groups {
		tags, err := p.tagsOf(ctx, bareARN(&groups[i]))
		if session.Gone(err) {
			continue // since it was listed
		}
		if err != nil {
			return nil, err
		}
		if byNonce, byTags := session.Match(q, tags); !byNonce && !byTags {
			continue
		}
		o, err := p.whole(ctx, &groups[i], served)
		switch {
		case session.Gone(err):
		case err != nil:
			return nil, err
		default:
			found = append(found, candidate(q, o, false))
		}
	}
	return found, nil
}
