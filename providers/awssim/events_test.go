package awssim

import (
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	events "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/google/go-cmp/cmp"
)

func ids(targets []EventTarget) []string {
	var out []string
	for _, t := range targets {
		out = append(out, t.ID)
	}
	return out
}

// What an event would call is what stands in the state, also after it was saved and loaded; a disabled rule calls nothing.
func TestTargetsOfARuleAreWhatItWouldCall(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cloud.json")
	s, url := newCloud(t, Config{StateFile: file})
	k := newClients(t, url, plainKey, region)
	if _, err := k.events.CreateEventBus(k.ctx, &events.CreateEventBusInput{Name: aws.String("ledger")}); err != nil {
		t.Fatal(err)
	}
	for bus, id := range map[string]string{"default": "here", "ledger": "there"} {
		if _, err := k.rule(func(in *events.PutRuleInput) {
			in.Name, in.EventBusName, in.ScheduleExpression, in.EventPattern = aws.String("tick"), &bus, nil, byLedger
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := k.events.PutTargets(k.ctx, &events.PutTargetsInput{Rule: aws.String("tick"), EventBusName: &bus,
			Targets: []types.Target{{Id: &id, Arn: tickARN, Input: aws.String("1")}}}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(s *Server, rule string, want ...string) {
		t.Helper()
		if d := cmp.Diff(want, ids(s.TargetsOf(rule))); d != "" {
			t.Errorf("%s (-want +got):\n%s", rule, d)
		}
	}
	check(s, "tick", "here")
	check(s, "default/tick", "here")
	check(s, "ledger/tick", "there")
	check(s, *ruleARN("ledger/tick"), "there")
	check(s, "tock")
	if got := s.TargetsOf("tick")[0]; got.ARN != *tickARN || got.Body["Input"] != "1" {
		t.Errorf("the target is %+v", got)
	}
	if _, err := k.events.DisableRule(k.ctx, &events.DisableRuleInput{Name: aws.String("tick")}); err != nil {
		t.Fatal(err)
	}
	check(s, "tick")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := New(Config{StateFile: file})
	if err != nil {
		t.Fatal(err)
	}
	check(again, "ledger/tick", "there")
}

// A rule that a service made for itself refuses its callers, but for what they force.
func TestAManagedRuleRefusesItsCallers(t *testing.T) {
	s, url := newCloud(t, Config{})
	k := newClients(t, url, plainKey, region)
	if err := s.Do(Action{Service: "events", Op: "PutRule", Params: map[string]any{"Name": "tick", "ScheduleExpression": *daily, "ManagedBy": "states.amazonaws.com"}}); err != nil {
		t.Fatal(err)
	}
	tick, managed := aws.String("tick"), refusal{"ManagedRuleException", 400}
	for what, err := range map[string]error{
		"put":     func() error { _, err := k.rule(func(in *events.PutRuleInput) { in.Name = tick }); return err }(),
		"disable": func() error { _, err := k.events.DisableRule(k.ctx, &events.DisableRuleInput{Name: tick}); return err }(),
		"target":  k.target(tick, nil),
		"remove": func() error {
			_, err := k.events.RemoveTargets(k.ctx, &events.RemoveTargetsInput{Rule: tick, Ids: []string{"a"}})
			return err
		}(),
		"delete": func() error { _, err := k.events.DeleteRule(k.ctx, &events.DeleteRuleInput{Name: tick}); return err }(),
	} {
		if d := cmp.Diff(managed, refusalOf(err)); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	r, err := k.events.DescribeRule(k.ctx, &events.DescribeRuleInput{Name: tick})
	if err != nil || aws.ToString(r.ManagedBy) != "states.amazonaws.com" {
		t.Errorf("it reads %+v, %v", r, err)
	}
	if _, err := k.events.DeleteRule(k.ctx, &events.DeleteRuleInput{Name: tick, Force: true}); err != nil || len(s.State().Rules) != 0 {
		t.Errorf("forced: %v, %d rules left", err, len(s.State().Rules))
	}
}

// The consistency window: a rule that was just put is not read yet, while changes reach it.
func TestANewRuleIsNotReadWhileItLags(t *testing.T) {
	s, url := newCloud(t, Config{})
	k := newClients(t, url, plainKey, region)
	s.AddFault(Fault{Service: "events", Operation: "PutRule", Kind: Lag, Delay: 3600e9})
	name, err := k.rule(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.events.DescribeRule(k.ctx, &events.DescribeRuleInput{Name: &name}); refusalOf(err) != noRule {
		t.Errorf("describe: %v, want not found", err)
	}
	if out, err := k.events.ListRules(k.ctx, &events.ListRulesInput{}); err != nil || len(out.Rules) != 0 {
		t.Errorf("list: %v, %v; want none", out, err)
	}
	if err := k.target(&name, nil); err != nil {
		t.Errorf("put targets: %v", err)
	}
}
