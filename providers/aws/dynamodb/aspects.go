package dynamodb

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"reclaim/engine/value"
	"reclaim/providers/aws/wire"
)

// timeToLive never turns off what is off: the service refuses that. Another attribute needs one call to turn the first
// off and one to turn the second on.
func (s *change) timeToLive() error {
	const param = "TimeToLiveSpecification"
	attribute := func(v value.Value) string {
		if !on(v, "Enabled") {
			return ""
		}
		return wire.Name(v.Get("AttributeName"))
	}
	had, wanted := attribute(s.live(param)), attribute(s.want(param))
	if wanted == "" && on(s.want(param), "Enabled") {
		return rejected("UpdateTimeToLive", "TimeToLiveSpecification is enabled without an AttributeName; say which attribute holds the time")
	}
	if had != "" && had != wanted {
		s.turnTimeToLive("off, by "+had, had, false)
	}
	if wanted != "" && had != wanted {
		s.turnTimeToLive("on, by "+wanted, wanted, true)
	}
	return nil
}

func (s *change) turnTimeToLive(detail, attribute string, to bool) {
	in := &dynamodb.UpdateTimeToLiveInput{TableName: &s.name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &attribute, Enabled: &to}}
	s.add("UpdateTimeToLive", detail, []string{"TimeToLiveSpecification"}, func(ctx context.Context, _ *types.TableDescription) error {
		_, err := await(ctx, "UpdateTimeToLive", func() (struct{}, string, error) {
			d, err := s.p.timeToLive(ctx, s.name)
			if err != nil {
				return struct{}{}, "", err
			}
			switch d.TimeToLiveStatus {
			case types.TimeToLiveStatusEnabling, types.TimeToLiveStatusDisabling:
				return struct{}{}, "time to live is " + string(d.TimeToLiveStatus) + ", which takes up to an hour", nil
			}
			return struct{}{}, "", nil
		})
		if err == nil {
			_, _, err = call(ctx, s.p, s.p.api.UpdateTimeToLive, in)
		}
		return err
	})
}

func (s *change) backups() error {
	const param = "PointInTimeRecoverySpecification"
	want, to := s.want(param), on(s.want(param), "PointInTimeRecoveryEnabled")
	spec := &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: &to}
	detail := "point in time recovery off"
	if to {
		detail = "point in time recovery on"
		spec.RecoveryPeriodInDays = wire.Int32(want.Get("RecoveryPeriodInDays"))
		if spec.RecoveryPeriodInDays == nil && wire.Set(s.have(param).Get("RecoveryPeriodInDays")) {
			spec.RecoveryPeriodInDays = aws.Int32(longestRecovery)
		}
	}
	in := &dynamodb.UpdateContinuousBackupsInput{TableName: &s.name, PointInTimeRecoverySpecification: spec}
	s.add("UpdateContinuousBackups", detail, []string{param}, func(ctx context.Context, _ *types.TableDescription) error {
		_, _, err := call(ctx, s.p, s.p.api.UpdateContinuousBackups, in)
		return err
	})
	return nil
}

// longestRecovery is the period, in days, that the service gives to who asks for none.
const longestRecovery = 35

func (s *change) insights() error {
	const param = "ContributorInsightsSpecification"
	s.turnInsights(nil, []string{param}, s.live(param), s.want(param))
	return nil
}

// turnInsights writes the contributor insights of the table, or of an index.
func (s *change) turnInsights(index *string, params []string, had, wanted value.Value) {
	in := &dynamodb.UpdateContributorInsightsInput{TableName: &s.name, IndexName: index, ContributorInsightsAction: types.ContributorInsightsActionDisable}
	detail := "contributor insights off"
	if on(wanted, "Enabled") {
		detail = "contributor insights on"
		in.ContributorInsightsAction = types.ContributorInsightsActionEnable
		in.ContributorInsightsMode = types.ContributorInsightsMode(wire.Name(wanted.Get("Mode")))
		if in.ContributorInsightsMode == "" && wire.Set(had.Get("Mode")) {
			in.ContributorInsightsMode = allKeys
		}
	}
	if index != nil {
		detail += ", index " + *index
	}
	s.add("UpdateContributorInsights", detail, params, func(ctx context.Context, _ *types.TableDescription) error {
		_, err := await(ctx, "UpdateContributorInsights", func() (struct{}, string, error) {
			out, _, err := call(ctx, s.p, s.p.api.DescribeContributorInsights, &dynamodb.DescribeContributorInsightsInput{TableName: &s.name, IndexName: index})
			if err != nil {
				return struct{}{}, "", err
			}
			switch out.ContributorInsightsStatus {
			case types.ContributorInsightsStatusEnabling, types.ContributorInsightsStatusDisabling:
				return struct{}{}, "contributor insights are " + string(out.ContributorInsightsStatus), nil
			}
			return struct{}{}, "", nil
		})
		if err == nil {
			_, _, err = call(ctx, s.p, s.p.api.UpdateContributorInsights, in)
		}
		return err
	})
}

// indexInsights writes the contributor insights of the indexes, where they differ.
func (s *change) indexInsights(wanted []value.Value, had map[string]value.Value) {
	const param = "ContributorInsightsSpecification"
	for _, w := range wanted {
		name := wire.Name(w.Get("IndexName"))
		is, want := had[name].Get(param), w.Get(param)
		if _, gap := s.Observed.Gaps[indexPath(name).Child(param)]; gap {
			is = byName(s.Recorded[indexes])[name].Get(param)
		}
		mode := func(v value.Value) string {
			if m := wire.Name(v.Get("Mode")); m != "" {
				return m
			}
			return allKeys
		}
		if on(is, "Enabled") != on(want, "Enabled") || on(want, "Enabled") && mode(is) != mode(want) {
			s.turnInsights(&name, []string{indexes}, is, want)
		}
	}
}
