package awssim

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	events "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
)

func targetBehaviours() []behaviour {
	return []behaviour{
		{claim: "targets are put, replaced as a whole, listed and removed", do: targetLife},
		{claim: "targets are listed page by page", do: listsTargets},
		{claim: "removing a target that is not there succeeds", do: onRule(func(k clients, rule *string) error {
			out, err := k.events.RemoveTargets(k.ctx, &events.RemoveTargetsInput{Rule: rule, Ids: []string{"never"}})
			if err == nil && out.FailedEntryCount != 0 {
				err = fmt.Errorf("%d failed", out.FailedEntryCount)
			}
			return err
		})},
		{claim: "the rules of a target are listed by its ARN", do: namesByTarget},
		{claim: "a target that is no ARN is invalid", refuse: eventBad, do: targets(func(t *types.Target) { t.Arn = aws.String("tick") })},
		{claim: "a target of a service that has none is invalid", refuse: eventBad,
			do: targets(func(t *types.Target) { t.Arn = aws.String("arn:aws:dynamodb:eu-west-1:123456789012:table/t") })},
		{claim: "a target ID with a space is invalid", refuse: eventBad, do: targets(func(t *types.Target) { t.Id = aws.String("a b") })},
		{claim: "a target has one input at most", refuse: eventBad,
			do: targets(func(t *types.Target) { t.Input, t.InputPath = aws.String("{}"), aws.String("$") })},
		{claim: "a target's input is JSON", refuse: eventBad, do: targets(func(t *types.Target) { t.Input = aws.String("{") })},
		{claim: "events older than a day are not tried again", refuse: eventBad,
			do: targets(func(t *types.Target) { t.RetryPolicy = &types.RetryPolicy{MaximumEventAgeInSeconds: aws.Int32(86401)} })},
		{claim: "a FIFO queue needs its parameters", refuse: eventBad,
			do: targets(func(t *types.Target) { t.Arn = aws.String("arn:aws:sqs:eu-west-1:123456789012:q.fifo") })},
		{claim: "a cluster needs its parameters", refuse: eventBad,
			do: targets(func(t *types.Target) { t.Arn = aws.String("arn:aws:ecs:eu-west-1:123456789012:cluster/c") })},
		{claim: "a stream needs a role", refuse: eventBad,
			do: targets(func(t *types.Target) { t.Arn = aws.String("arn:aws:kinesis:eu-west-1:123456789012:stream/s") })},
		{claim: "a target's role must be there", refuse: eventBad,
			do: targets(func(t *types.Target) { t.RoleArn = aws.String("arn:aws:iam::123456789012:role/nobody-here") })},
		{claim: "a sixth target exceeds the quota", refuse: refusal{"LimitExceededException", 400}, do: onRule(func(k clients, rule *string) error {
			for n := range 6 {
				if err := k.target(rule, func(t *types.Target) { t.Id = aws.String(fmt.Sprint("t", n)) }); err != nil {
					return err
				}
			}
			return nil
		})},
		{claim: "a bus that is not there fails for itself, in an answer of success", do: failedTarget},
	}
}

func targetLife(k clients) (any, any, error) {
	name, err := k.rule(nil)
	if err != nil {
		return nil, nil, err
	}
	err = k.target(&name, func(t *types.Target) {
		t.Input, t.RetryPolicy = aws.String(`{"a": 1}`), &types.RetryPolicy{MaximumRetryAttempts: aws.Int32(0)}
	})
	if err == nil {
		err = k.target(&name, func(t *types.Target) { t.Id = aws.String("two") })
	}
	var seen []string
	look := func() {
		if err != nil {
			return
		}
		var out *events.ListTargetsByRuleOutput
		if out, err = k.events.ListTargetsByRule(k.ctx, &events.ListTargetsByRuleInput{Rule: &name}); err != nil {
			return
		}
		for _, t := range out.Targets {
			seen = append(seen, fmt.Sprint(*t.Id, aws.ToString(t.Input), t.RetryPolicy != nil && *t.RetryPolicy.MaximumRetryAttempts == 0, *t.Arn == *tickARN))
		}
		seen = append(seen, "|")
	}
	look()
	if err == nil {
		err = k.target(&name, nil)
	}
	look()
	if err == nil {
		_, err = k.events.RemoveTargets(k.ctx, &events.RemoveTargetsInput{Rule: &name, Ids: []string{"one"}})
	}
	look()
	want := `[one{"a": 1}true true twofalse true | onefalse true twofalse true | twofalse true |]`
	return fmt.Sprint(seen), want, err
}

func listsTargets(k clients) (any, any, error) {
	name, err := k.rule(nil)
	for _, id := range []string{"a", "b", "c"} {
		if err == nil {
			err = k.target(&name, func(t *types.Target) {
				t.Id, t.Arn = &id, aws.String(*tickARN+id)
			})
		}
	}
	if err != nil {
		return nil, nil, err
	}
	var got []string
	in := &events.ListTargetsByRuleInput{Rule: &name, Limit: aws.Int32(2)}
	for {
		out, err := k.events.ListTargetsByRule(k.ctx, in)
		if err != nil {
			return nil, nil, err
		}
		for _, t := range out.Targets {
			got = append(got, *t.Id)
		}
		if in.NextToken = out.NextToken; aws.ToString(in.NextToken) == "" {
			return got, []string{"a", "b", "|", "c"}, nil
		}
		got = append(got, "|")
	}
}

func namesByTarget(k clients) (any, any, error) {
	name, err := k.rule(nil)
	arn := aws.String(*tickARN + randomHex(4))
	if err == nil {
		err = k.target(&name, func(t *types.Target) { t.Arn = arn })
	}
	if err != nil {
		return nil, nil, err
	}
	out, err := k.events.ListRuleNamesByTarget(k.ctx, &events.ListRuleNamesByTargetInput{TargetArn: arn})
	if err != nil {
		return nil, nil, err
	}
	return out.RuleNames, []string{name}, nil
}

func failedTarget(k clients) (any, any, error) {
	name, err := k.rule(nil)
	if err != nil {
		return nil, nil, err
	}
	out, err := k.events.PutTargets(k.ctx, &events.PutTargetsInput{Rule: &name, Targets: []types.Target{
		{Id: aws.String("good"), Arn: tickARN}, {Id: aws.String("bad"), Arn: aws.String("arn:aws:events:eu-west-1:123456789012:event-bus/none")},
	}})
	if err != nil {
		return nil, nil, err
	}
	left, err := k.events.ListTargetsByRule(k.ctx, &events.ListTargetsByRuleInput{Rule: &name})
	if err != nil {
		return nil, nil, err
	}
	f := out.FailedEntries[0]
	return fmt.Sprint(out.FailedEntryCount, " ", *f.TargetId, " ", *f.ErrorCode, " ", len(left.Targets)), "1 bad ResourceNotFoundException 1", nil
}
