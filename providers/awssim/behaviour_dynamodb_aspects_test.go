package awssim

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// tableAspectBehaviours are about what has calls of its own.
func tableAspectBehaviours() []behaviour {
	return []behaviour{
		{claim: "tags of a table are set, removed and listed ten at a time", do: tagsByTens},
		{claim: "an aws: tag cannot be put on a table", refuse: invalidTable, do: onTable(func(k clients, t *types.TableDescription) error {
			_, err := k.dynamo.TagResource(k.ctx, &dynamodb.TagResourceInput{ResourceArn: t.TableArn, Tags: []types.Tag{{Key: aws.String("aws:x"), Value: aws.String("v")}}})
			return err
		})},
		{claim: "time to live is ENABLING first and cannot be changed until it is ENABLED", refuse: invalidTable, do: onTable(func(k clients, t *types.TableDescription) error {
			if _, err := k.dynamo.UpdateTimeToLive(k.ctx, expiry(t.TableName, "until", true)); err != nil {
				return err
			}
			out, err := k.dynamo.DescribeTimeToLive(k.ctx, &dynamodb.DescribeTimeToLiveInput{TableName: t.TableName})
			if err != nil {
				return err
			}
			if out.TimeToLiveDescription.TimeToLiveStatus != types.TimeToLiveStatusEnabling {
				return fmt.Errorf("it is %s", out.TimeToLiveDescription.TimeToLiveStatus)
			}
			_, err = k.dynamo.UpdateTimeToLive(k.ctx, expiry(t.TableName, "until", false))
			return err
		})},
		{claim: "time to live that is off cannot be turned off", refuse: invalidTable, do: onTable(func(k clients, t *types.TableDescription) error {
			_, err := k.dynamo.UpdateTimeToLive(k.ctx, expiry(t.TableName, "until", false))
			return err
		})},
		{claim: "time to live that is off has no attribute", do: func(k clients) (any, any, error) {
			t, err := k.table(nil)
			if err != nil {
				return nil, nil, err
			}
			out, err := k.dynamo.DescribeTimeToLive(k.ctx, &dynamodb.DescribeTimeToLiveInput{TableName: t.TableName})
			if err != nil {
				return nil, nil, err
			}
			return []any{out.TimeToLiveDescription.TimeToLiveStatus, out.TimeToLiveDescription.AttributeName == nil}, []any{types.TimeToLiveStatusDisabled, true}, nil
		}},
		{claim: "point in time recovery is on for 35 days unless it is asked for less", do: func(k clients) (any, any, error) {
			t, err := k.table(nil)
			if err != nil {
				return nil, nil, err
			}
			out, err := k.dynamo.UpdateContinuousBackups(k.ctx, &dynamodb.UpdateContinuousBackupsInput{TableName: t.TableName,
				PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)}})
			if err != nil {
				return nil, nil, err
			}
			d, err := k.dynamo.DescribeContinuousBackups(k.ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: t.TableName})
			if err != nil {
				return nil, nil, err
			}
			a, b := out.ContinuousBackupsDescription.PointInTimeRecoveryDescription, d.ContinuousBackupsDescription.PointInTimeRecoveryDescription
			return []any{*a.RecoveryPeriodInDays, b.PointInTimeRecoveryStatus}, []any{int32(35), types.PointInTimeRecoveryStatusEnabled}, nil
		}},
		{claim: "36 days are too many to recover", refuse: invalidTable, do: onTable(func(k clients, t *types.TableDescription) error {
			_, err := k.dynamo.UpdateContinuousBackups(k.ctx, &dynamodb.UpdateContinuousBackupsInput{TableName: t.TableName,
				PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true), RecoveryPeriodInDays: aws.Int32(36)}})
			return err
		})},
		{claim: "contributor insights are turned on, in a mode", do: func(k clients) (any, any, error) {
			t, err := k.table(nil)
			if err != nil {
				return nil, nil, err
			}
			_, err = k.dynamo.UpdateContributorInsights(k.ctx, &dynamodb.UpdateContributorInsightsInput{TableName: t.TableName,
				ContributorInsightsAction: types.ContributorInsightsActionEnable, ContributorInsightsMode: types.ContributorInsightsModeThrottledKeys})
			if err != nil {
				return nil, nil, err
			}
			out, err := k.dynamo.DescribeContributorInsights(k.ctx, &dynamodb.DescribeContributorInsightsInput{TableName: t.TableName})
			if err != nil {
				return nil, nil, err
			}
			return []any{out.ContributorInsightsStatus, out.ContributorInsightsMode}, []any{types.ContributorInsightsStatusEnabling, types.ContributorInsightsModeThrottledKeys}, nil
		}},
		{claim: "a policy is put, read, deleted, and then not found", refuse: refusal{"PolicyNotFoundException", 400}, do: onTable(func(k clients, t *types.TableDescription) error {
			if _, err := k.dynamo.PutResourcePolicy(k.ctx, &dynamodb.PutResourcePolicyInput{ResourceArn: t.TableArn, Policy: &letsRead}); err != nil {
				return err
			}
			out, err := k.dynamo.GetResourcePolicy(k.ctx, &dynamodb.GetResourcePolicyInput{ResourceArn: t.TableArn})
			if err != nil {
				return err
			}
			if *out.Policy != letsRead {
				return fmt.Errorf("it reads %s", *out.Policy)
			}
			if _, err := k.dynamo.DeleteResourcePolicy(k.ctx, &dynamodb.DeleteResourcePolicyInput{ResourceArn: t.TableArn}); err != nil {
				return err
			}
			_, err = k.dynamo.GetResourcePolicy(k.ctx, &dynamodb.GetResourcePolicyInput{ResourceArn: t.TableArn})
			return err
		})},
		{claim: "deleting a policy that is not there succeeds", do: onTable(func(k clients, t *types.TableDescription) error {
			_, err := k.dynamo.DeleteResourcePolicy(k.ctx, &dynamodb.DeleteResourcePolicyInput{ResourceArn: t.TableArn})
			return err
		})},
		{claim: "a policy that comes with the create is there", do: func(k clients) (any, any, error) {
			t, err := k.table(func(in *tableInput) { in.ResourcePolicy = &letsRead })
			if err != nil {
				return nil, nil, err
			}
			out, err := k.dynamo.GetResourcePolicy(k.ctx, &dynamodb.GetResourcePolicyInput{ResourceArn: t.TableArn})
			if err != nil {
				return nil, nil, err
			}
			return *out.Policy, letsRead, nil
		}},
		{claim: "a Kinesis stream is written to, in another precision, and no more", do: kinesisComesAndGoes},
	}
}

func tagsByTens(k clients) (any, any, error) {
	t, err := k.table(func(in *tableInput) {
		for n := range 12 {
			in.Tags = append(in.Tags, types.Tag{Key: aws.String(fmt.Sprintf("k%02d", n)), Value: aws.String("v")})
		}
	})
	if err != nil {
		return nil, nil, err
	}
	if _, err := k.dynamo.TagResource(k.ctx, &dynamodb.TagResourceInput{ResourceArn: t.TableArn, Tags: []types.Tag{{Key: aws.String("new"), Value: aws.String("1")}}}); err != nil {
		return nil, nil, err
	}
	if _, err := k.dynamo.UntagResource(k.ctx, &dynamodb.UntagResourceInput{ResourceArn: t.TableArn, TagKeys: []string{"k00", "none"}}); err != nil {
		return nil, nil, err
	}
	var pages []int
	in := &dynamodb.ListTagsOfResourceInput{ResourceArn: t.TableArn}
	for {
		out, err := k.dynamo.ListTagsOfResource(k.ctx, in)
		if err != nil {
			return nil, nil, err
		}
		pages = append(pages, len(out.Tags))
		if in.NextToken = out.NextToken; in.NextToken == nil {
			return pages, []int{10, 2}, nil
		}
	}
}

func kinesisComesAndGoes(k clients) (any, any, error) {
	t, err := k.table(nil)
	if err != nil {
		return nil, nil, err
	}
	var got []string
	rest := func() error { // until the service is done with the destination
		for {
			out, err := k.dynamo.DescribeKinesisStreamingDestination(k.ctx, &dynamodb.DescribeKinesisStreamingDestinationInput{TableName: t.TableName})
			if err != nil {
				return err
			}
			state := "none"
			for _, d := range out.KinesisDataStreamDestinations {
				state = string(d.DestinationStatus) + " " + string(d.ApproximateCreationDateTimePrecision)
			}
			if state == "none" || strings.HasPrefix(state, "ACTIVE") {
				got = append(got, state)
				return nil
			}
		}
	}
	for _, do := range []func() error{
		func() error {
			_, err := k.dynamo.EnableKinesisStreamingDestination(k.ctx, &dynamodb.EnableKinesisStreamingDestinationInput{TableName: t.TableName, StreamArn: kinesisARN,
				EnableKinesisStreamingConfiguration: &types.EnableKinesisStreamingConfiguration{ApproximateCreationDateTimePrecision: "MILLISECOND"}})
			return err
		}, rest,
		func() error {
			_, err := k.dynamo.UpdateKinesisStreamingDestination(k.ctx, &dynamodb.UpdateKinesisStreamingDestinationInput{TableName: t.TableName, StreamArn: kinesisARN,
				UpdateKinesisStreamingConfiguration: &types.UpdateKinesisStreamingConfiguration{ApproximateCreationDateTimePrecision: "MICROSECOND"}})
			return err
		}, rest,
		func() error {
			_, err := k.dynamo.DisableKinesisStreamingDestination(k.ctx, &dynamodb.DisableKinesisStreamingDestinationInput{TableName: t.TableName, StreamArn: kinesisARN})
			return err
		}, rest,
	} {
		if err := do(); err != nil {
			return nil, nil, err
		}
	}
	return got, []string{"ACTIVE MILLISECOND", "ACTIVE MICROSECOND", "none"}, nil
}
