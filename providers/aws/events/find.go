package events

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"reclaim/engine/resource"
	"reclaim/providers/aws/session"
)

// busARN parses a reference to a bus. A name is no ARN: its Resource is "".
func busARN(ref string) (arn.ARN, error) {
	if !arn.IsARN(ref) {
		return arn.ARN{}, nil
	}
	id, err := arn.Parse(ref)
	if err != nil || id.Service != "events" || busName(id) == "" {
		return arn.ARN{}, errors.New("it is an ARN, but not of an event bus (arn:aws:events:REGION:ACCOUNT:event-bus/NAME)")
	}
	return id, nil
}

// busName returns the name of the bus that an ARN names; "" when it names something else.
func busName(id arn.ARN) string {
	name, ok := strings.CutPrefix(id.Resource, "event-bus/")
	if !ok {
		return ""
	}
	return name
}

// Find implements resource.Finder. With a whole key it looks at that rule only: the key of a rule is pinned, so nothing of
// ours has another. Without one it looks at the tags of every rule, of the bus that is known or of all.
func (p *rule) Find(ctx context.Context, q resource.Query) ([]resource.Candidate, error) {
	if q.Key["Name"] != "" && q.Key["EventBusName"] != "" {
		o, err := p.Read(ctx, q.Key)
		if err != nil {
			return nil, session.SkipGone(err)
		}
		return []resource.Candidate{candidate(q, o, true)}, nil
	}
	if q.Nonce == "" && q.Resource == "" {
		return nil, nil
	}
	buses, err := p.buses(ctx, q.Key["EventBusName"])
	if err != nil {
		return nil, err
	}
	var found []resource.Candidate
	for _, bus := range buses {
		more, err := p.tagged(ctx, q, bus)
		if err != nil && !session.Gone(err) { // a bus that went meanwhile took its rules along
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

func candidate(q resource.Query, o *resource.Observation, byName bool) resource.Candidate {
	c := resource.Candidate{Observation: *o, ByName: byName}
	c.ByNonce, c.ByTags = session.Match(q, o.Owner)
	return c
}

// buses returns the bus that is known, or all of them.
func (p *rule) buses(ctx context.Context, known string) ([]string, error) {
	if known != "" {
		return []string{known}, nil
	}
	var all []string
	err := session.Pages("ListEventBuses", func(token *string) (*string, error) {
		out, _, err := call(ctx, p, p.api.ListEventBuses, &eventbridge.ListEventBusesInput{NextToken: token})
		if err != nil {
			return nil, err
		}
		if out.EventBuses == nil {
			return nil, session.Invalid("ListEventBuses", "the answer holds no list")
		}
		for _, b := range out.EventBuses {
			all = append(all, aws.ToString(b.Name))
		}
		return out.NextToken, nil
	})
	return all, err
}

// tagged returns the rules of one bus whose tags match.
func (p *rule) tagged(ctx context.Context, q resource.Query, bus string) ([]resource.Candidate, error) {
	var rules []types.Rule
	err := session.Pages("ListRules", func(token *string) (*string, error) {
		out, _, err := call(ctx, p, p.api.ListRules, &eventbridge.ListRulesInput{EventBusName: &bus, NextToken: token})
		if err != nil {
			return nil, err
		}
		if out.Rules == nil {
			return nil, session.Invalid("ListRules", "the answer holds no list")
		}
		rules = append(rules, out.Rules...)
		return out.NextToken, nil
	})
	if err != nil {
		return nil, err
	}
	var found []resource.Candidate
	for _, r := range rules {
		c, err := p.matching(ctx, q, resource.Key{"EventBusName": bus, "Name": aws.ToString(r.Name)}, aws.ToString(r.Arn))
		if err != nil && !session.Gone(err) { // since it was listed
			return nil, err
		}
		if c != nil {
			found = append(found, *c)
		}
	}
	return found, nil
}

// matching reads a rule that was listed. It is nil when its tags do not match.
func (p *rule) matching(ctx context.Context, q resource.Query, key resource.Key, arn string) (*resource.Candidate, error) {
	tags, err := p.tagsOf(ctx, arn)
	if err != nil {
		return nil, err
	}
	if byNonce, byTags := session.Match(q, tags); !byNonce && !byTags {
		return nil, nil
	}
	o, err := p.Read(ctx, key)
	if err != nil {
		return nil, err
	}
	c := candidate(q, o, false)
	return &c, nil
}
