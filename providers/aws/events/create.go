package events

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
	"reclaim/providers/aws/wire"
)

// settings are the params that travel in one PutRule.
var settings = []string{"Description", "EventPattern", "ScheduleExpression", "State", "RoleArn"}

// Create implements resource.Provider: one PutRule, tags with it. Its success does not say that it made the rule: where one
// was there it was overwritten, and kept its tags. Whether our nonce is on it is for the read that follows to tell (SAFETY
// S9); targets are a call of their own, after that.
func (p *rule) Create(ctx context.Context, c resource.Create) (resource.Created, error) {
	if err := wire.Whole("PutRule", c.Params); err != nil {
		return resource.Created{}, err
	}
	in, err := putInput(c.Key, wire.Pick(c.Params, settings))
	if err != nil {
		return resource.Created{}, err
	}
	in.Tags = tagList(wire.Join(wire.Tags(c.Params["Tags"]), c.Tags))
	out, reply, err := call(ctx, p, p.api.PutRule, in, once)
	if err != nil {
		return resource.Created{}, wire.Conceal(dependency(err, in.RoleArn), c.Params)
	}
	if aws.ToString(out.RuleArn) == "" {
		return resource.Created{}, session.Unacknowledged("PutRule", reply, "it succeeded, but did not say what it made")
	}
	made := resource.Created{
		Key:    resource.Key{"EventBusName": c.Key["EventBusName"], "Name": c.Key["Name"]},
		Output: value.Map{"Arn": value.Of(*out.RuleArn)}, ServedAt: reply.ServedAt,
	}
	if !wire.Empty(c.Params["Targets"]) {
		made.Unsent = []string{"Targets"}
	}
	return made, nil
}

// putInput writes a rule's settings; what is not among them, the service resets.
func putInput(key resource.Key, set value.Map) (*eventbridge.PutRuleInput, error) {
	in := &eventbridge.PutRuleInput{
		Name: aws.String(key["Name"]), EventBusName: aws.String(key["EventBusName"]),
		State: types.RuleState(wire.Name(set["State"])),
	}
	for param, to := range map[string]**string{"Description": &in.Description, "ScheduleExpression": &in.ScheduleExpression, "RoleArn": &in.RoleArn} {
		if !wire.Empty(set[param]) {
			*to = wire.Text(set[param])
		}
	}
	if pattern := set["EventPattern"]; !wire.Empty(pattern) {
		text, err := wire.Document(pattern)
		if err != nil {
			return nil, refused("PutRule", err)
		}
		in.EventPattern = &text
	}
	return in, nil
}

func tagList(tags map[string]string) []types.Tag {
	var list []types.Tag
	for _, name := range value.Of(tags).Fields().Keys() {
		list = append(list, types.Tag{Key: aws.String(name), Value: aws.String(tags[name])})
	}
	return list
}

func refused(operation string, err error) error {
	return &resource.Error{Kind: resource.Rejected, Op: operation, Executed: resource.No, Err: err}
}

// dependency types the refusals that are about something else than the rule: its bus does not exist, or a role that the
// request names cannot be assumed, perhaps not yet. The service gives that the code of any bad value, so only a request
// that names a role can mean it.
func dependency(err error, roles ...*string) error {
	e, ok := errors.AsType[*resource.Error](err)
	if !ok {
		return err
	}
	names := slices.ContainsFunc(roles, func(r *string) bool { return r != nil })
	if e.Kind == resource.NotFound && e.Op == "PutRule" || e.Code == "ValidationException" && names {
		e.Kind = resource.NotReady
	}
	return err
}

// Unmake implements resource.Provider: the targets that we recorded as ours and that are still there come off first. Those
// of others stay, and DeleteRule is then refused (SAFETY S26).
func (p *rule) Unmake(d resource.Delete, observed *resource.Observation) ([]resource.Call, error) {
	if observed == nil {
		return nil, nil
	}
	there, ours := ids(observed.Params["Targets"]), ids(d.Recorded["Targets"])
	return p.removeTargets(d.Key, slices.DeleteFunc(ours, func(id string) bool { return !slices.Contains(there, id) })), nil
}

// ids returns the IDs of targets that can be told.
func ids(list value.Value) []string {
	var out []string
	for _, e := range list.Items() {
		if id, ok := e.Get("Id").Str(); ok {
			out = append(out, id)
		}
	}
	return out
}

// Delete implements resource.Provider. Deleting nothing succeeds, so it is read first. A rule has no identity: it is ours by
// its nonce, or, adopted and so without one, by the settings and tags that we recorded.
func (p *rule) Delete(ctx context.Context, d resource.Delete) error {
	o, by, err := p.look(ctx, d.Key)
	if err != nil {
		return err
	}
	if err := p.readTags(ctx, o, by); err != nil {
		return p.orVanished(ctx, d.Key, err)
	}
	if d.Nonce != "" || !recorded(d.Recorded, o) {
		if err := session.Confirm("DeleteRule", d, o); err != nil {
			return err
		}
	}
	_, _, err = call(ctx, p, p.api.DeleteRule, &eventbridge.DeleteRuleInput{Name: aws.String(d.Key["Name"]), EventBusName: aws.String(d.Key["EventBusName"])}, once)
	return p.inTheWay(ctx, d.Key, err)
}

// recorded reports whether a rule is as it was recorded: its settings, and each of the config's own tags. Targets do not
// count, ours came off before. With nothing recorded, or only keyed hashes, nothing is proven.
func recorded(params value.Map, o *resource.Observation) bool {
	if wire.Empty(params["EventPattern"]) && wire.Empty(params["ScheduleExpression"]) || o.Owner == nil {
		return false
	}
	for _, name := range settings {
		f := ruleField(name)
		want := params[name]
		if wire.Empty(want) {
			want = f.Default
		}
		if want.HasHash() || !same(f, want, o.Params[name]) {
			return false
		}
	}
	have := wire.Tags(o.Params["Tags"])
	for name, text := range wire.Tags(params["Tags"]) {
		if got, ok := have[name]; !ok || got != text {
			return false
		}
	}
	return true
}

func ruleField(name string) *resource.Field {
	params := ruleParams()
	return &params[slices.IndexFunc(params, func(f resource.Field) bool { return f.Name == name })]
}

// inTheWay types the refusal to delete a rule that still has targets, and names them: the service gives it the code of any
// bad value. Where they cannot be listed, it stays what it was.
func (p *rule) inTheWay(ctx context.Context, key resource.Key, err error) error {
	e, ok := errors.AsType[*resource.Error](err)
	if !ok || e.Code != "ValidationException" {
		return err
	}
	targets, listErr := p.listTargets(ctx, key)
	if listErr != nil {
		e.Blockers = []string{"perhaps a target: the list failed with " + string(resource.KindOf(listErr))}
		return err
	}
	for _, t := range targets {
		e.Kind = resource.InUse
		e.Blockers = append(e.Blockers, "target "+aws.ToString(t.Id)+" ("+aws.ToString(t.Arn)+")")
	}
	return err
}
