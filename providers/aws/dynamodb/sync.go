package dynamodb

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/wire"
)

// change is one Sync: the calls that it has come to so far.
type change struct {
	resource.Change
	p     *table
	name  string
	calls []resource.Call
}

// Sync implements resource.Provider. Ownership tags come first, so that an adoption is marked before it changes anything
// else; then what goes, then what changes, then what comes, because the service has quotas. Each call waits for those
// before it (idle).
func (p *table) Sync(c resource.Change) ([]resource.Call, error) {
	if err := wire.Whole("sync table", wire.Pick(c.Desired, c.Write)); err != nil {
		return nil, err
	}
	s := &change{Change: c, p: p, name: c.Key["TableName"]}
	if len(c.Own) > 0 {
		s.tag("ownership tags", c.Own, nil)
	}
	if err := s.indexesAndCapacity(); err != nil {
		return nil, err
	}
	for _, step := range []struct {
		param string
		plan  func() error
	}{
		{"TableClass", s.class},
		{"SSESpecification", s.encryption},
		{"StreamSpecification", s.stream},
		{"KinesisStreamSpecification", s.streaming},
		{"TimeToLiveSpecification", s.timeToLive},
		{"PointInTimeRecoverySpecification", s.backups},
		{"ContributorInsightsSpecification", s.insights},
		{"ResourcePolicy", s.policy},
		{"DeletionProtectionEnabled", s.protection},
		{"Tags", s.tags},
	} {
		if !s.writes(step.param) {
			continue
		}
		if err := step.plan(); err != nil {
			return nil, err
		}
	}
	return s.calls, nil
}

func (s *change) writes(param string) bool { return slices.Contains(s.Write, param) }

// have and want are a param as observed and as desired.
func (s *change) have(param string) value.Value { return s.Observed.Params[param] }
func (s *change) want(param string) value.Value { return s.Desired[param] }

// live is what is there of a param: as read, or where the read could not say, as last recorded.
func (s *change) live(param string) value.Value {
	if _, gap := s.Observed.Gaps[value.Path(param)]; gap {
		return s.Recorded[param]
	}
	return s.have(param)
}

// add appends a call that is sent once the table is idle. send is told the table as it is then.
func (s *change) add(operation, detail string, params []string, send func(context.Context, *types.TableDescription) error) {
	s.calls = append(s.calls, resource.Call{Name: operation, Detail: detail, Params: params, Run: func(ctx context.Context) error {
		t, err := s.p.idle(ctx, operation, s.name, s.Observed.Identity)
		if err == nil {
			err = send(ctx, t)
		}
		return wire.Conceal(err, s.Desired)
	}})
}

// update appends one UpdateTable.
func (s *change) update(detail string, params []string, in *dynamodb.UpdateTableInput) {
	in.TableName = &s.name
	s.add("UpdateTable", detail, params, func(ctx context.Context, _ *types.TableDescription) error {
		_, _, err := call(ctx, s.p, s.p.api.UpdateTable, in)
		return err
	})
}

func (s *change) class() error {
	class := wire.Name(s.want("TableClass"))
	if class == "" {
		class = standard
	}
	s.update("table class "+class, []string{"TableClass"}, &dynamodb.UpdateTableInput{TableClass: types.TableClass(class)})
	return nil
}

func (s *change) protection() error {
	protect := s.want("DeletionProtectionEnabled").IsTrue()
	detail := "deletion protection off"
	if protect {
		detail = "deletion protection on"
	}
	s.update(detail, []string{"DeletionProtectionEnabled"}, &dynamodb.UpdateTableInput{DeletionProtectionEnabled: &protect})
	return nil
}

func (s *change) encryption() error {
	s.update("encryption", []string{"SSESpecification"}, &dynamodb.UpdateTableInput{SSESpecification: encryption(s.want("SSESpecification"))})
	return nil
}

// stream turns the stream off and on: the service changes no view in place. Its policy goes with it.
func (s *change) stream() error {
	params := []string{"StreamSpecification"}
	view := func(v value.Value) string { return wire.Name(v.Get("StreamViewType")) }
	had, wanted := view(s.have("StreamSpecification")), view(s.want("StreamSpecification"))
	if had != "" && had != wanted {
		s.update("stream off", params, &dynamodb.UpdateTableInput{StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(false)}})
	}
	if wanted != "" && had != wanted {
		s.update("stream of "+wanted, params, &dynamodb.UpdateTableInput{
			StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewType(wanted)}})
	}
	policy := s.have("StreamSpecification").Get("ResourcePolicy")
	if had != wanted {
		policy = value.Value{}
	}
	return s.putPolicy("policy of the stream", params, policy, s.want("StreamSpecification").Get("ResourcePolicy"),
		func(t *types.TableDescription) *string { return t.LatestStreamArn })
}

func (s *change) policy() error {
	return s.putPolicy("policy of the table", []string{"ResourcePolicy"}, s.have("ResourcePolicy"), s.want("ResourcePolicy"),
		func(t *types.TableDescription) *string { return t.TableArn })
}

// putPolicy puts or deletes a resource policy; of is told the table as it is when the call is sent.
func (s *change) putPolicy(detail string, params []string, had, wanted value.Value, of func(*types.TableDescription) *string) error {
	doc := wanted.Get("PolicyDocument")
	switch {
	case wire.Empty(doc) && wire.Empty(had):
		return nil
	case wire.Empty(doc):
		s.add("DeleteResourcePolicy", detail, params, func(ctx context.Context, t *types.TableDescription) error {
			_, _, err := call(ctx, s.p, s.p.api.DeleteResourcePolicy, &dynamodb.DeleteResourcePolicyInput{ResourceArn: of(t)})
			return err
		})
		return nil
	case wire.SameDocument(doc, had.Get("PolicyDocument")):
		return nil
	}
	text, err := wire.Document(doc)
	if err != nil {
		return rejected("PutResourcePolicy", "%v", err)
	}
	s.add("PutResourcePolicy", detail, params, func(ctx context.Context, t *types.TableDescription) error {
		_, _, err := call(ctx, s.p, s.p.api.PutResourcePolicy, &dynamodb.PutResourcePolicyInput{ResourceArn: of(t), Policy: &text})
		return err
	})
	return nil
}

// streaming moves the changes of items to another Kinesis stream, or to none.
func (s *change) streaming() error {
	const param = "KinesisStreamSpecification"
	stream := func(v value.Value) string { return wire.Name(v.Get("StreamArn")) }
	precision := func(v value.Value) types.ApproximateCreationDateTimePrecision {
		return types.ApproximateCreationDateTimePrecision(wire.Name(v.Get("ApproximateCreationDateTimePrecision")))
	}
	live, want := s.live(param), s.want(param)
	had, wanted := stream(live), stream(want)
	if had != "" && had != wanted {
		in := &dynamodb.DisableKinesisStreamingDestinationInput{TableName: &s.name, StreamArn: &had}
		s.addStreaming("DisableKinesisStreamingDestination", "no longer to "+had, func(ctx context.Context) error {
			_, _, err := call(ctx, s.p, s.p.api.DisableKinesisStreamingDestination, in)
			return err
		})
	}
	switch to := precision(want); {
	case wanted != "" && had != wanted:
		in := &dynamodb.EnableKinesisStreamingDestinationInput{TableName: &s.name, StreamArn: &wanted}
		if to != "" {
			in.EnableKinesisStreamingConfiguration = &types.EnableKinesisStreamingConfiguration{ApproximateCreationDateTimePrecision: to}
		}
		s.addStreaming("EnableKinesisStreamingDestination", "to "+wanted, func(ctx context.Context) error {
			_, _, err := call(ctx, s.p, s.p.api.EnableKinesisStreamingDestination, in)
			return err
		})
	case wanted != "" && to != precision(live):
		if to == "" {
			to = types.ApproximateCreationDateTimePrecisionMillisecond
		}
		in := &dynamodb.UpdateKinesisStreamingDestinationInput{TableName: &s.name, StreamArn: &wanted,
			UpdateKinesisStreamingConfiguration: &types.UpdateKinesisStreamingConfiguration{ApproximateCreationDateTimePrecision: to}}
		s.addStreaming("UpdateKinesisStreamingDestination", "precision "+string(to), func(ctx context.Context) error {
			_, _, err := call(ctx, s.p, s.p.api.UpdateKinesisStreamingDestination, in)
			return err
		})
	}
	return nil
}

// addStreaming is add for a call on Kinesis destinations, which the service changes one at a time.
func (s *change) addStreaming(operation, detail string, send func(context.Context) error) {
	s.add(operation, detail, []string{"KinesisStreamSpecification"}, func(ctx context.Context, _ *types.TableDescription) error {
		_, err := await(ctx, operation, func() (struct{}, string, error) {
			all, err := s.p.streaming(ctx, s.name)
			return struct{}{}, changing(all), err
		})
		if err != nil {
			return err
		}
		return send(ctx)
	})
}

func (s *change) tags() error {
	set, remove := wire.TagChange(wire.Tags(s.want("Tags")), wire.Tags(s.Recorded["Tags"]), wire.Observed(s.Observed, "Tags"))
	if len(set) > 0 {
		s.tag("tags", set, []string{"Tags"})
	}
	if len(remove) > 0 {
		s.add("UntagResource", "tags "+strings.Join(remove, ", "), []string{"Tags"}, func(ctx context.Context, t *types.TableDescription) error {
			_, _, err := call(ctx, s.p, s.p.api.UntagResource, &dynamodb.UntagResourceInput{ResourceArn: t.TableArn, TagKeys: remove})
			return err
		})
	}
	return nil
}

func (s *change) tag(detail string, tags map[string]string, params []string) {
	s.add("TagResource", detail, params, func(ctx context.Context, t *types.TableDescription) error {
		_, _, err := call(ctx, s.p, s.p.api.TagResource, &dynamodb.TagResourceInput{ResourceArn: t.TableArn, Tags: tagList(tags)})
		return err
	})
}
