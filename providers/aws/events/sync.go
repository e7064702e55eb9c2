package events

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
	"reclaim/providers/aws/wire"
)

// Sync implements resource.Provider. Ownership tags come first, so that an adoption is marked before it changes anything
// else.
func (p *rule) Sync(c resource.Change) ([]resource.Call, error) {
	if err := wire.Whole("sync rule", wire.Pick(c.Desired, c.Write)); err != nil {
		return nil, err
	}
	var calls []resource.Call
	if len(c.Own) > 0 {
		calls = append(calls, p.tag(c, "ownership tags", c.Own, nil))
	}
	for _, step := range []struct {
		params []string
		plan   func(resource.Change) ([]resource.Call, error)
	}{
		{settings, p.syncSettings},
		{[]string{"Targets"}, p.syncTargets},
		{[]string{"Tags"}, p.syncTags},
	} {
		if !slices.ContainsFunc(step.params, func(name string) bool { return slices.Contains(c.Write, name) }) {
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
func change[In, Out any](p *rule, c resource.Change, detail string, params []string, do func(context.Context, *In, ...func(*eventbridge.Options)) (*Out, error), name string, in *In) resource.Call {
	return resource.Call{Name: name, Detail: detail, Params: params, Run: func(ctx context.Context) error {
		_, _, err := call(ctx, p, do, in)
		return wire.Conceal(err, c.Desired)
	}}
}

// syncSettings puts the rule again. PutRule resets every setting that it is not given, so each of them travels: as config
// says where it is to be written, else exactly as it was observed. This is the one place where the two meet, and only side
// by side: no value is made of both, nothing recorded takes part, and what is sent is not taken for what was read (SAFETY
// S27). For the same reason all settings are Params of the call: one that is blocked cannot be sent as it is and stops
// the call (S30), and one that config does not set and that could not be read refuses it here, because leaving it out
// would take it away.
func (p *rule) syncSettings(c resource.Change) ([]resource.Call, error) {
	written := slices.DeleteFunc(slices.Clone(settings), func(name string) bool { return !slices.Contains(c.Write, name) })
	if state := stateOf(c.Desired); slices.Equal(written, []string{"State"}) && state != types.RuleStateEnabledWithAllCloudtrailManagementEvents {
		return p.syncState(c, state)
	}
	set := value.Map{}
	for _, name := range settings {
		if slices.Contains(written, name) {
			set[name] = c.Desired[name]
			continue
		}
		if gap, ok := c.Observed.Gaps[value.Path(name)]; ok {
			return nil, refused("PutRule", fmt.Errorf("%s could not be read (%s), and putting the rule without it would take it away; nothing was sent", name, gap.Kind))
		}
		set[name] = c.Observed.Params[name]
	}
	in, err := putInput(c.Key, set)
	if err != nil {
		return nil, err
	}
	return []resource.Call{{Name: "PutRule", Detail: strings.Join(written, ", "), Params: settings, Run: func(ctx context.Context) error {
		_, _, err := call(ctx, p, p.api.PutRule, in)
		return wire.Conceal(dependency(err, in.RoleArn), c.Desired)
	}}}, nil
}

func stateOf(params value.Map) types.RuleState {
	if s := wire.Name(params["State"]); s != "" {
		return types.RuleState(s)
	}
	return types.RuleStateEnabled
}

// syncState changes the state alone, with a call that touches nothing else.
func (p *rule) syncState(c resource.Change, state types.RuleState) ([]resource.Call, error) {
	name, bus, params := aws.String(c.Key["Name"]), aws.String(c.Key["EventBusName"]), []string{"State"}
	if state == types.RuleStateDisabled {
		in := &eventbridge.DisableRuleInput{Name: name, EventBusName: bus}
		return []resource.Call{change(p, c, "", params, p.api.DisableRule, "DisableRule", in)}, nil
	}
	in := &eventbridge.EnableRuleInput{Name: name, EventBusName: bus}
	return []resource.Call{change(p, c, "", params, p.api.EnableRule, "EnableRule", in)}, nil
}

// syncTargets puts the targets that are not as config says, each as a whole, since that is how the service takes them, and
// removes those that we recorded and config no longer has. New ones come before old ones go, so that no event is lost,
// unless the quota has no room for both.
func (p *rule) syncTargets(c resource.Change) ([]resource.Call, error) {
	have, was := byID(c.Observed.Params["Targets"]), byID(c.Recorded["Targets"])
	var put []types.Target
	added := 0
	wanted := c.Desired["Targets"].Items()
	for _, t := range wanted {
		id := wire.Name(t.Get("Id"))
		there, ok := have[id]
		if ok && !differs(targetField(), t, was[id], there) {
			continue
		}
		target, err := encode(t)
		if err != nil {
			return nil, refused("PutTargets", err)
		}
		put = append(put, target)
		if !ok {
			added++
		}
	}
	gone := slices.DeleteFunc(ids(c.Recorded["Targets"]), func(id string) bool {
		_, there := have[id]
		return byID(c.Desired["Targets"])[id].IsSet() || !there && c.Observed.Params["Targets"].IsSet()
	})
	puts, removes := p.putTargets(c, put), p.removeTargets(c.Key, gone)
	if len(have)+added > targetsPerRule {
		return slices.Concat(removes, puts), nil
	}
	return slices.Concat(puts, removes), nil
}

// byID returns targets by their ID.
func byID(list value.Value) map[string]value.Value {
	out := map[string]value.Value{}
	for _, e := range list.Items() {
		out[wire.Name(e.Get("Id"))] = e
	}
	return out
}

func (p *rule) putTargets(c resource.Change, targets []types.Target) []resource.Call {
	var calls []resource.Call
	for batch := range slices.Chunk(targets, targetsPerCall) {
		in := &eventbridge.PutTargetsInput{Rule: aws.String(c.Key["Name"]), EventBusName: aws.String(c.Key["EventBusName"]), Targets: batch}
		var names []string
		var roles []*string
		for _, t := range batch {
			names, roles = append(names, aws.ToString(t.Id)), append(roles, t.RoleArn)
		}
		calls = append(calls, resource.Call{Name: "PutTargets", Detail: "targets " + strings.Join(names, ", "), Params: []string{"Targets"}, Run: func(ctx context.Context) error {
			out, reply, err := call(ctx, p, p.api.PutTargets, in)
			if err == nil {
				err = p.entries("PutTargets", reply, len(batch), out.FailedEntryCount, out.FailedEntries)
			}
			return wire.Conceal(dependency(err, roles...), c.Desired)
		}})
	}
	return calls
}

func (p *rule) removeTargets(key resource.Key, targets []string) []resource.Call {
	var calls []resource.Call
	for batch := range slices.Chunk(targets, targetsPerCall) {
		in := &eventbridge.RemoveTargetsInput{Rule: aws.String(key["Name"]), EventBusName: aws.String(key["EventBusName"]), Ids: batch}
		calls = append(calls, resource.Call{Name: "RemoveTargets", Detail: "targets " + strings.Join(batch, ", "), Params: []string{"Targets"}, Run: func(ctx context.Context) error {
			out, reply, err := call(ctx, p, p.api.RemoveTargets, in)
			if err != nil {
				return session.SkipGone(err)
			}
			var failed []types.PutTargetsResultEntry
			for _, e := range out.FailedEntries {
				failed = append(failed, types.PutTargetsResultEntry(e))
			}
			return p.entries("RemoveTargets", reply, len(batch), out.FailedEntryCount, failed)
		}})
	}
	return calls
}

// entries types the failed entries of an answer that was a success as a whole: by the code of the first. What of the request
// was carried out beside them is known by their number. A count without entries says that something failed, not what.
func (p *rule) entries(operation string, r session.Reply, sent int, count int32, failed []types.PutTargetsResultEntry) error {
	count = max(count, int32(len(failed)))
	if count == 0 {
		return nil
	}
	executed := resource.No
	if int(count) < sent {
		executed = resource.Yes
	}
	if len(failed) == 0 {
		e := session.Unacknowledged(operation, r, fmt.Sprintf("%d of %d targets failed, and the answer does not say which", count, sent))
		return e
	}
	var texts []string
	for _, f := range failed {
		texts = append(texts, fmt.Sprintf("target %s: %s: %s", aws.ToString(f.TargetId), aws.ToString(f.ErrorCode), aws.ToString(f.ErrorMessage)))
	}
	return p.svc.Entry(operation, aws.ToString(failed[0].ErrorCode), r, executed, errors.New(strings.Join(texts, "; ")))
}

func (p *rule) syncTags(c resource.Change) ([]resource.Call, error) {
	set, remove := wire.TagChange(wire.Tags(c.Desired["Tags"]), wire.Tags(c.Recorded["Tags"]), wire.Observed(c.Observed, "Tags"))
	var calls []resource.Call
	if len(set) > 0 {
		calls = append(calls, p.tag(c, "tags", set, []string{"Tags"}))
	}
	if len(remove) > 0 {
		in := &eventbridge.UntagResourceInput{ResourceARN: arnOf(c.Observed), TagKeys: remove}
		calls = append(calls, change(p, c, "tags "+strings.Join(remove, ", "), []string{"Tags"}, p.api.UntagResource, "UntagResource", in))
	}
	return calls, nil
}

func (p *rule) tag(c resource.Change, detail string, tags map[string]string, params []string) resource.Call {
	in := &eventbridge.TagResourceInput{ResourceARN: arnOf(c.Observed), Tags: tagList(tags)}
	return change(p, c, detail, params, p.api.TagResource, "TagResource", in)
}

func arnOf(o *resource.Observation) *string { return aws.String(o.Output.Text("Arn")) }
