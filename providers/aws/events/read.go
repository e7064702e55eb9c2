package events

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
	"reclaim/providers/aws/wire"
)

// managedBy is the mark of a rule that another service made and manages. It is no tag: DescribeRule says it.
const managedBy = "aws:events:managed-by"

// Expand implements resource.Expander: it spells the bus in one way, by its name, so that one rule has one key. An ARN is
// cut to the name only where it is a bus of the account and region that calls go to; that scope was asked for when the run
// began and is at hand.
func (p *rule) Expand(ctx context.Context, params value.Map) (value.Map, error) {
	bus := params["EventBusName"]
	if bus.HasUnknown() || bus.HasHash() {
		return params, nil
	}
	if wire.Empty(bus) {
		return params.With("EventBusName", value.Of(defaultBus)), nil
	}
	id, err := busARN(wire.Name(bus))
	if err != nil {
		return nil, refused("expand EventBusName", err)
	}
	if id.Resource == "" {
		return params, nil
	}
	here, err := p.scope(ctx)
	if err != nil {
		return nil, err
	}
	if id.AccountID != here.Account || id.Region != here.Region || id.Partition != here.Partition {
		return nil, refused("expand EventBusName", errors.New("the bus is of "+id.AccountID+"/"+id.Region+
			": its rules belong to that account and region; deploy them there, and send events to it with a target instead"))
	}
	name := value.Of(busName(id))
	if bus.Sensitive() {
		name = name.AsSensitive()
	}
	return params.With("EventBusName", name), nil
}

// Read implements resource.Provider. Tags or targets that are denied become gaps. A bus that is not there has no rules:
// the service gives both the same code, and both mean that there is no such rule.
func (p *rule) Read(ctx context.Context, key resource.Key) (*resource.Observation, error) {
	o, by, err := p.look(ctx, key)
	if err != nil {
		return nil, err
	}
	if err := p.readTags(ctx, o, by); err != nil {
		return nil, p.orVanished(ctx, key, err)
	}
	if err := p.readTargets(ctx, o); err != nil {
		return nil, p.orVanished(ctx, key, err)
	}
	return o, nil
}

// look reads the rule itself. by is the service that manages it.
func (p *rule) look(ctx context.Context, key resource.Key) (o *resource.Observation, by string, err error) {
	out, reply, err := call(ctx, p, p.api.DescribeRule, &eventbridge.DescribeRuleInput{Name: aws.String(key["Name"]), EventBusName: aws.String(key["EventBusName"])})
	if err != nil {
		return nil, "", err
	}
	if aws.ToString(out.Name) == "" || aws.ToString(out.Arn) == "" {
		return nil, "", session.Invalid("DescribeRule", "the answer holds no rule")
	}
	return observe(out, key, reply.ServedAt), aws.ToString(out.ManagedBy), nil
}

// orVanished says what it means that a part of a rule which was just there is not: the rule is gone only when DescribeRule
// says so too.
func (p *rule) orVanished(ctx context.Context, key resource.Key, err error) error {
	if !session.Gone(err) {
		return err
	}
	if _, _, err := p.look(ctx, key); err != nil {
		return err
	}
	return &resource.Error{Kind: resource.NotReady, Op: "DescribeRule", Executed: resource.No,
		Err: errors.New("its parts changed while they were read; look again")}
}

// observe has neither identity nor creation time: the service keeps none of a rule.
func observe(r *eventbridge.DescribeRuleOutput, key resource.Key, served time.Time) *resource.Observation {
	bus := key["EventBusName"]
	if r.EventBusName != nil {
		bus = *r.EventBusName
		if id, err := busARN(bus); err == nil && id.Resource != "" {
			bus = busName(id)
		}
	}
	o := &resource.Observation{
		Key:      resource.Key{"EventBusName": bus, "Name": aws.ToString(r.Name)},
		Params:   value.Map{"EventBusName": value.Of(bus), "Name": value.Of(aws.ToString(r.Name))},
		Output:   value.Map{"Arn": value.Of(aws.ToString(r.Arn))},
		ServedAt: served,
		Gaps:     map[value.Path]resource.Gap{},
		Ready:    true,
		Sources:  map[string]string{"object": "DescribeRule", "tags": "ListTagsForResource"},
	}
	for name, text := range map[string]*string{"Description": r.Description, "ScheduleExpression": r.ScheduleExpression, "RoleArn": r.RoleArn} {
		if text != nil {
			o.Params[name] = value.Of(*text)
		}
	}
	if r.State != "" {
		o.Params["State"] = value.Of(string(r.State))
	}
	if aws.ToString(r.EventPattern) == "" {
		return o
	}
	if pattern, err := value.ParseJSON([]byte(*r.EventPattern)); err == nil {
		o.Params["EventPattern"] = pattern
	} else {
		o.Gaps["EventPattern"] = resource.Gap{Kind: resource.GapUndecodable, Reason: "not a JSON document"}
	}
	return o
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

// readTags sets Tags and Owner; both stay nil when the tags cannot be read, whoever manages the rule.
func (p *rule) readTags(ctx context.Context, o *resource.Observation, by string) error {
	all, err := p.tagsOf(ctx, o.Output.Text("Arn"))
	if err != nil {
		return gapOr(o, "Tags", err)
	}
	own, marks := resource.SplitTags(all)
	if by != "" {
		marks[managedBy] = by
	}
	o.Params["Tags"], o.Owner = wire.TagList(own), marks
	return nil
}

func (p *rule) tagsOf(ctx context.Context, arn string) (map[string]string, error) {
	out, _, err := call(ctx, p, p.api.ListTagsForResource, &eventbridge.ListTagsForResourceInput{ResourceARN: &arn})
	if err != nil {
		return nil, err
	}
	if out.Tags == nil {
		return nil, session.Invalid("ListTagsForResource", "the answer holds no tags, not even none")
	}
	tags := make(map[string]string, len(out.Tags))
	for _, t := range out.Tags {
		tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return tags, nil
}

// readTargets sets Targets.
func (p *rule) readTargets(ctx context.Context, o *resource.Observation) error {
	targets, err := p.listTargets(ctx, o.Key)
	if err != nil {
		return gapOr(o, "Targets", err)
	}
	items := make([]value.Value, 0, len(targets))
	for _, t := range targets {
		item, err := decode(t)
		if err != nil || aws.ToString(t.Id) == "" {
			o.Gaps["Targets"] = resource.Gap{Kind: resource.GapUndecodable, Reason: "a target cannot be read"}
			return nil
		}
		items = append(items, item)
	}
	o.Params["Targets"] = value.ListOf(items...)
	return nil
}

func (p *rule) listTargets(ctx context.Context, key resource.Key) ([]types.Target, error) {
	var all []types.Target
	in := &eventbridge.ListTargetsByRuleInput{Rule: aws.String(key["Name"]), EventBusName: aws.String(key["EventBusName"])}
	err := session.Pages("ListTargetsByRule", func(token *string) (*string, error) {
		in.NextToken = token
		out, _, err := call(ctx, p, p.api.ListTargetsByRule, in)
		if err != nil {
			return nil, err
		}
		if out.Targets == nil {
			return nil, session.Invalid("ListTargetsByRule", "the answer holds no list")
		}
		all = append(all, out.Targets...)
		return out.NextToken, nil
	})
	return all, err
}
