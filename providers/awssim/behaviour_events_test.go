package awssim

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	events "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
)

var (
	noRule       = refusal{"ResourceNotFoundException", 400}
	eventBad     = refusal{"ValidationException", 400}
	badPattern   = refusal{"InvalidEventPatternException", 400}
	eventsAssume = strings.Replace(trustJSON, "lambda.", "events.", 1)
	tickARN      = aws.String("arn:aws:lambda:eu-west-1:123456789012:function:tick")
	daily        = aws.String("cron(0 22 * * ? *)")
	byLedger     = aws.String(`{"source":["ledger"]}`)
)

// rule puts a rule with a schedule, changed by edit, and returns its name.
func (k clients) rule(edit func(*events.PutRuleInput)) (string, error) {
	in := &events.PutRuleInput{Name: aws.String(k.name("r")), ScheduleExpression: daily}
	if edit != nil {
		edit(in)
	}
	_, err := k.events.PutRule(k.ctx, in)
	return *in.Name, err
}

func onRule(then func(k clients, rule *string) error) func(clients) (any, any, error) {
	return func(k clients) (any, any, error) {
		name, err := k.rule(nil)
		if err == nil {
			err = then(k, &name)
		}
		return nil, nil, err
	}
}

func putsRule(edit func(*events.PutRuleInput)) func(clients) (any, any, error) {
	return func(k clients) (any, any, error) {
		_, err := k.rule(edit)
		return nil, nil, err
	}
}

func scheduled(text string) func(clients) (any, any, error) {
	return putsRule(func(in *events.PutRuleInput) { in.ScheduleExpression = &text })
}

func matching(text string) func(clients) (any, any, error) {
	return putsRule(func(in *events.PutRuleInput) { in.ScheduleExpression, in.EventPattern = nil, &text })
}

// target puts one target on a rule.
func (k clients) target(rule *string, edit func(*types.Target)) error {
	t := types.Target{Id: aws.String("one"), Arn: tickARN}
	if edit != nil {
		edit(&t)
	}
	_, err := k.events.PutTargets(k.ctx, &events.PutTargetsInput{Rule: rule, Targets: []types.Target{t}})
	return err
}

func targets(edit func(*types.Target)) func(clients) (any, any, error) {
	return onRule(func(k clients, rule *string) error { return k.target(rule, edit) })
}

func ruleARN(name string) *string {
	return aws.String("arn:aws:events:" + region + ":" + account + ":rule/" + name)
}

// caller makes a role that EventBridge can assume and returns its ARN.
func (k clients) caller() (*string, error) {
	name := aws.String(k.name("c"))
	out, err := k.iam.CreateRole(k.ctx, &iam.CreateRoleInput{RoleName: name, AssumeRolePolicyDocument: &eventsAssume})
	if err != nil {
		return nil, err
	}
	return out.Role.Arn, nil
}

func eventBehaviours() []behaviour {
	out := []behaviour{
		{claim: "a rule comes back with its ARN, bus, schedule, pattern, state and role, and its tags by their own call", do: wholeRule},
		{claim: "a put resets what it leaves out, and keeps targets", do: ruleReset},
		{claim: "a put ignores tags on a rule that is there", do: ruleTagsStay},
		{claim: "a rule needs a pattern or a schedule", refuse: eventBad, do: putsRule(func(in *events.PutRuleInput) { in.ScheduleExpression = nil })},
		{claim: "a rule name with a slash is invalid", refuse: eventBad, do: putsRule(func(in *events.PutRuleInput) { in.Name = aws.String("a/b") })},
		{claim: "a rule name of 65 characters is invalid", refuse: eventBad,
			do: putsRule(func(in *events.PutRuleInput) { in.Name = aws.String(strings.Repeat("x", 65)) })},
		{claim: "a rule state that does not exist is invalid", refuse: eventBad, do: putsRule(func(in *events.PutRuleInput) { in.State = "ON" })},
		{claim: "a rule description over 512 characters is invalid", refuse: eventBad,
			do: putsRule(func(in *events.PutRuleInput) { in.Description = aws.String(strings.Repeat("x", 513)) })},
		{claim: "a rate of one has no plural", do: scheduled("rate(1 hour)")},
		{claim: "a rate of one with a plural is invalid", refuse: eventBad, do: scheduled("rate(1 hours)")},
		{claim: "a rate of several without a plural is invalid", refuse: eventBad, do: scheduled("rate(5 minute)")},
		{claim: "a rate of nothing is invalid", refuse: eventBad, do: scheduled("rate(0 minutes)")},
		{claim: "a rate in seconds is invalid", refuse: eventBad, do: scheduled("rate(30 seconds)")},
		{claim: "a cron of five fields is invalid", refuse: eventBad, do: scheduled("cron(0 22 * * ?)")},
		{claim: "a cron that opens both days is invalid", refuse: eventBad, do: scheduled("cron(0 22 * * * *)")},
		{claim: "a schedule on another bus is invalid", refuse: eventBad, do: onBus(func(k clients, bus *string) error {
			_, err := k.rule(func(in *events.PutRuleInput) { in.EventBusName = bus })
			return err
		})},
		{claim: "a pattern that is no JSON is refused", refuse: badPattern, do: matching(`{"source"`)},
		{claim: "a pattern with an empty list is refused", refuse: badPattern, do: matching(`{"source":[]}`)},
		{claim: "a pattern with a bare value is refused", refuse: badPattern, do: matching(`{"source":"ledger"}`)},
		{claim: "a pattern without a field is refused", refuse: badPattern, do: matching(`{}`)},
		{claim: "a caller cannot put a rule with an aws: tag", refuse: eventBad,
			do: putsRule(func(in *events.PutRuleInput) {
				in.Tags = []types.Tag{{Key: aws.String("aws:x"), Value: aws.String("v")}}
			})},
		{claim: "a rule's role must be one that EventBridge can assume", refuse: eventBad, do: onRole(func(k clients, role *string) error {
			_, err := k.rule(func(in *events.PutRuleInput) { in.RoleArn = aws.String("arn:aws:iam::" + account + ":role/" + *role) })
			return err
		})},
		{claim: "a rule's role must be there", refuse: eventBad,
			do: putsRule(func(in *events.PutRuleInput) {
				in.RoleArn = aws.String("arn:aws:iam::" + account + ":role/nobody-here")
			})},
		{claim: "rules are listed page by page in the order of their names", do: listsRules},
		{claim: "rules are listed by the start of their names", do: listsByPrefix},
		{claim: "the state is changed alone", do: ruleStateLife},
		{claim: "a rule with targets is not deleted", refuse: eventBad, do: onRule(func(k clients, rule *string) error {
			if err := k.target(rule, nil); err != nil {
				return err
			}
			_, err := k.events.DeleteRule(k.ctx, &events.DeleteRuleInput{Name: rule})
			return err
		})},
		{claim: "a rule is deleted, and deleting it again succeeds", do: ruleDeletedTwice},
		{claim: "rules of one name on two buses are two, and an ARN names the same bus", do: twoBuses},
		{claim: "a rule on a bus that is not there is not found", refuse: noRule, do: putsRule(func(in *events.PutRuleInput) {
			in.EventBusName, in.ScheduleExpression, in.EventPattern = aws.String("no-such-bus"), nil, byLedger
		})},
		{claim: "a bus that is there already exists", refuse: refusal{"ResourceAlreadyExistsException", 400}, do: onBus(func(k clients, bus *string) error {
			_, err := k.events.CreateEventBus(k.ctx, &events.CreateEventBusInput{Name: bus})
			return err
		})},
		{claim: "a bus with rules is not deleted", refuse: eventBad, do: onBus(func(k clients, bus *string) error {
			_, err := k.rule(func(in *events.PutRuleInput) {
				in.EventBusName, in.ScheduleExpression, in.EventPattern = bus, nil, byLedger
			})
			if err == nil {
				_, err = k.events.DeleteEventBus(k.ctx, &events.DeleteEventBusInput{Name: bus})
			}
			return err
		})},
		{claim: "the default bus is not deleted", refuse: eventBad, do: alone(func(k clients) error {
			_, err := k.events.DeleteEventBus(k.ctx, &events.DeleteEventBusInput{Name: aws.String("default")})
			return err
		})},
		{claim: "buses are listed, the default one with them, and deleted", do: busLife},
		{claim: "a page of more than 100 buses is invalid", refuse: eventBad, do: alone(func(k clients) error {
			_, err := k.events.ListEventBuses(k.ctx, &events.ListEventBusesInput{Limit: aws.Int32(101)})
			return err
		})},
		{claim: "a page of more than 100 rules is invalid", refuse: eventBad, do: alone(func(k clients) error {
			_, err := k.events.ListRules(k.ctx, &events.ListRulesInput{Limit: aws.Int32(101)})
			return err
		})},
		{claim: "rule tags are set, replaced, removed and read", do: ruleTagLife},
		{claim: "an aws: tag cannot be put on a rule", refuse: eventBad, do: onRule(func(k clients, rule *string) error {
			_, err := k.events.TagResource(k.ctx, &events.TagResourceInput{ResourceARN: ruleARN(*rule), Tags: []types.Tag{{Key: aws.String("aws:x"), Value: aws.String("v")}}})
			return err
		})},
	}
	return append(append(out, targetBehaviours()...), noRuleBehaviours()...)
}

// noRuleBehaviours is each operation on a rule that is not there.
func noRuleBehaviours() []behaviour {
	none := aws.String("none")
	var out []behaviour
	for what, do := range map[string]func(k clients) error{
		"reading": func(k clients) error {
			_, err := k.events.DescribeRule(k.ctx, &events.DescribeRuleInput{Name: none})
			return err
		},
		"enabling": func(k clients) error {
			_, err := k.events.EnableRule(k.ctx, &events.EnableRuleInput{Name: none})
			return err
		},
		"disabling": func(k clients) error {
			_, err := k.events.DisableRule(k.ctx, &events.DisableRuleInput{Name: none})
			return err
		},
		"targeting from": func(k clients) error {
			return k.target(none, nil)
		},
		"removing targets of": func(k clients) error {
			_, err := k.events.RemoveTargets(k.ctx, &events.RemoveTargetsInput{Rule: none, Ids: []string{"a"}})
			return err
		},
		"listing the targets of": func(k clients) error {
			_, err := k.events.ListTargetsByRule(k.ctx, &events.ListTargetsByRuleInput{Rule: none})
			return err
		},
		"tagging": func(k clients) error {
			_, err := k.events.TagResource(k.ctx, &events.TagResourceInput{ResourceARN: ruleARN("none"), Tags: []types.Tag{{Key: none, Value: none}}})
			return err
		},
		"untagging": func(k clients) error {
			_, err := k.events.UntagResource(k.ctx, &events.UntagResourceInput{ResourceARN: ruleARN("none"), TagKeys: []string{"a"}})
			return err
		},
		"reading the tags of": func(k clients) error {
			_, err := k.events.ListTagsForResource(k.ctx, &events.ListTagsForResourceInput{ResourceARN: ruleARN("none")})
			return err
		},
	} {
		out = append(out, behaviour{claim: what + " a rule that is not there", refuse: noRule, do: alone(do)})
	}
	return append(out,
		behaviour{claim: "a bus that is not there is not found", refuse: noRule, do: alone(func(k clients) error {
			_, err := k.events.DescribeEventBus(k.ctx, &events.DescribeEventBusInput{Name: none})
			return err
		})},
		behaviour{claim: "the rules of a target are not listed on a bus that is not there", refuse: noRule, do: alone(func(k clients) error {
			_, err := k.events.ListRuleNamesByTarget(k.ctx, &events.ListRuleNamesByTargetInput{TargetArn: tickARN, EventBusName: none})
			return err
		})},
	)
}

func wholeRule(k clients) (any, any, error) {
	role, err := k.caller()
	if err != nil {
		return nil, nil, err
	}
	name, err := k.rule(func(in *events.PutRuleInput) {
		in.Description, in.EventPattern, in.RoleArn, in.State = aws.String("d"), byLedger, role, types.RuleStateDisabled
		in.Tags = []types.Tag{{Key: aws.String("team"), Value: aws.String("ledger")}}
	})
	if err != nil {
		return nil, nil, err
	}
	r, err := k.events.DescribeRule(k.ctx, &events.DescribeRuleInput{Name: &name})
	if err != nil {
		return nil, nil, err
	}
	tags, err := k.events.ListTagsForResource(k.ctx, &events.ListTagsForResourceInput{ResourceARN: r.Arn})
	if err != nil {
		return nil, nil, err
	}
	got := fmt.Sprint(*r.Name == name, *r.Arn == *ruleARN(name), *r.EventBusName, *r.Description, *r.EventPattern, *r.ScheduleExpression, r.State,
		*r.RoleArn == *role, *r.CreatedBy, *tags.Tags[0].Key, *tags.Tags[0].Value)
	return got, fmt.Sprint(true, true, "default", "d", *byLedger, *daily, types.RuleStateDisabled, true, account, "team", "ledger"), nil
}

func ruleReset(k clients) (any, any, error) {
	name, err := k.rule(func(in *events.PutRuleInput) {
		in.Description, in.EventPattern, in.State = aws.String("d"), byLedger, types.RuleStateDisabled
	})
	if err == nil {
		err = k.target(&name, nil)
	}
	if err == nil {
		_, err = k.rule(func(in *events.PutRuleInput) { in.Name = &name })
	}
	if err != nil {
		return nil, nil, err
	}
	r, err := k.events.DescribeRule(k.ctx, &events.DescribeRuleInput{Name: &name})
	if err != nil {
		return nil, nil, err
	}
	targets, err := k.events.ListTargetsByRule(k.ctx, &events.ListTargetsByRuleInput{Rule: &name})
	if err != nil {
		return nil, nil, err
	}
	return []any{r.Description == nil, aws.ToString(r.EventPattern), r.State, len(targets.Targets)}, []any{true, "", types.RuleStateEnabled, 1}, nil
}

func (k clients) ruleTags(name string) (map[string]string, error) {
	out, err := k.events.ListTagsForResource(k.ctx, &events.ListTagsForResourceInput{ResourceARN: ruleARN(name)})
	if err != nil {
		return nil, err
	}
	tags := map[string]string{}
	for _, t := range out.Tags {
		tags[*t.Key] = *t.Value
	}
	return tags, nil
}

func ruleTagsStay(k clients) (any, any, error) {
	tagged := func(name *string, v string) func(*events.PutRuleInput) {
		return func(in *events.PutRuleInput) {
			if name != nil {
				in.Name = name
			}
			in.Tags = []types.Tag{{Key: aws.String("owner"), Value: &v}}
		}
	}
	name, err := k.rule(tagged(nil, "first"))
	if err == nil {
		_, err = k.rule(tagged(&name, "second"))
	}
	if err != nil {
		return nil, nil, err
	}
	tags, err := k.ruleTags(name)
	return tags["owner"], "first", err
}

func ruleTagLife(k clients) (any, any, error) {
	name, err := k.rule(func(in *events.PutRuleInput) {
		in.Tags = []types.Tag{{Key: aws.String("a"), Value: aws.String("old")}, {Key: aws.String("gone"), Value: aws.String("x")}}
	})
	if err == nil {
		_, err = k.events.TagResource(k.ctx, &events.TagResourceInput{ResourceARN: ruleARN(name), Tags: []types.Tag{{Key: aws.String("a"), Value: aws.String("new")}}})
	}
	if err == nil {
		_, err = k.events.UntagResource(k.ctx, &events.UntagResourceInput{ResourceARN: ruleARN(name), TagKeys: []string{"gone", "never"}})
	}
	if err != nil {
		return nil, nil, err
	}
	tags, err := k.ruleTags(name)
	return tags, map[string]string{"a": "new"}, err
}

func ruleStateLife(k clients) (any, any, error) {
	name, err := k.rule(func(in *events.PutRuleInput) { in.Description = aws.String("d") })
	var states []string
	look := func() {
		if err != nil {
			return
		}
		var r *events.DescribeRuleOutput
		if r, err = k.events.DescribeRule(k.ctx, &events.DescribeRuleInput{Name: &name}); err == nil {
			states = append(states, string(r.State)+" "+aws.ToString(r.Description))
		}
	}
	look()
	if err == nil {
		_, err = k.events.DisableRule(k.ctx, &events.DisableRuleInput{Name: &name})
	}
	look()
	if err == nil {
		_, err = k.events.EnableRule(k.ctx, &events.EnableRuleInput{Name: &name})
	}
	look()
	return states, []string{"ENABLED d", "DISABLED d", "ENABLED d"}, err
}

func ruleDeletedTwice(k clients) (any, any, error) {
	name, err := k.rule(nil)
	for range 2 {
		if err == nil {
			_, err = k.events.DeleteRule(k.ctx, &events.DeleteRuleInput{Name: &name})
		}
	}
	if err != nil {
		return nil, nil, err
	}
	_, err = k.events.DescribeRule(k.ctx, &events.DescribeRuleInput{Name: &name})
	return refusalOf(err), noRule, nil
}

func listsRules(k clients) (any, any, error) {
	prefix := "list" + randomHex(3)
	for _, n := range []string{"-a", "-b", "-c"} {
		if _, err := k.rule(func(in *events.PutRuleInput) { in.Name = aws.String(prefix + n) }); err != nil {
			return nil, nil, err
		}
	}
	var pages []int
	var names []string
	in := &events.ListRulesInput{NamePrefix: &prefix, Limit: aws.Int32(2)}
	for {
		out, err := k.events.ListRules(k.ctx, in)
		if err != nil {
			return nil, nil, err
		}
		pages = append(pages, len(out.Rules))
		for _, r := range out.Rules {
			names = append(names, strings.TrimPrefix(*r.Name, prefix))
		}
		if in.NextToken = out.NextToken; aws.ToString(in.NextToken) == "" {
			return fmt.Sprint(pages, names), "[2 1] [-a -b -c]", nil
		}
	}
}

func listsByPrefix(k clients) (any, any, error) {
	prefix := "pre" + randomHex(3)
	for _, n := range []string{"", ".x", "y"} {
		if _, err := k.rule(func(in *events.PutRuleInput) { in.Name = aws.String(prefix + n) }); err != nil {
			return nil, nil, err
		}
	}
	out, err := k.events.ListRules(k.ctx, &events.ListRulesInput{NamePrefix: aws.String(prefix + ".")})
	if err != nil {
		return nil, nil, err
	}
	return len(out.Rules), 1, nil
}

// bus makes a bus and returns its name and ARN.
func (k clients) bus() (name, arn *string, err error) {
	name = aws.String("bus-" + randomHex(4))
	out, err := k.events.CreateEventBus(k.ctx, &events.CreateEventBusInput{Name: name})
	if err != nil {
		return nil, nil, err
	}
	return name, out.EventBusArn, nil
}

func onBus(then func(k clients, bus *string) error) func(clients) (any, any, error) {
	return func(k clients) (any, any, error) {
		name, _, err := k.bus()
		if err == nil {
			err = then(k, name)
		}
		return nil, nil, err
	}
}

func twoBuses(k clients) (any, any, error) {
	bus, arn, err := k.bus()
	if err != nil {
		return nil, nil, err
	}
	name, err := k.rule(nil)
	if err == nil {
		_, err = k.rule(func(in *events.PutRuleInput) {
			in.Name, in.EventBusName, in.ScheduleExpression, in.EventPattern = &name, arn, nil, byLedger
		})
	}
	if err != nil {
		return nil, nil, err
	}
	there, err := k.events.DescribeRule(k.ctx, &events.DescribeRuleInput{Name: &name, EventBusName: bus})
	if err != nil {
		return nil, nil, err
	}
	here, err := k.events.DescribeRule(k.ctx, &events.DescribeRuleInput{Name: &name, EventBusName: aws.String("default")})
	if err != nil {
		return nil, nil, err
	}
	return []string{*there.Arn, *there.EventBusName, *here.Arn}, []string{*ruleARN(*bus + "/" + name), *bus, *ruleARN(name)}, nil
}

func busLife(k clients) (any, any, error) {
	name, arn, err := k.bus()
	if err != nil {
		return nil, nil, err
	}
	one, err := k.events.DescribeEventBus(k.ctx, &events.DescribeEventBusInput{Name: name})
	if err != nil {
		return nil, nil, err
	}
	listed := func() (string, error) {
		var names []string
		out, err := k.events.ListEventBuses(k.ctx, &events.ListEventBusesInput{})
		if err != nil {
			return "", err
		}
		for _, b := range out.EventBuses {
			if *b.Name == *name || *b.Name == "default" {
				names = append(names, strings.Replace(*b.Name, *name, "bus", 1))
			}
		}
		return strings.Join(names, " "), nil
	}
	before, err := listed()
	if err == nil {
		_, err = k.events.DeleteEventBus(k.ctx, &events.DeleteEventBusInput{Name: name})
	}
	if err != nil {
		return nil, nil, err
	}
	after, err := listed()
	sorted := strings.Contains(before, "default") && strings.Contains(before, "bus")
	return []any{*one.Arn == *arn, sorted, after}, []any{true, true, "default"}, err
}
