package dynamodb

import (
	"context"
	"errors"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
	"reclaim/providers/aws/wire"
)

// gapOr turns what a part's own call could not give into a gap of that param; other errors stay errors. What is there
// only once the table is made, or no more while it goes, is a gap too.
func gapOr(t *types.TableDescription, o *resource.Observation, param value.Path, err error) error {
	gap := func(kind resource.GapKind, reason string) { o.Gaps[param] = resource.Gap{Kind: kind, Reason: reason} }
	switch {
	case resource.Is(err, resource.AccessDenied):
		gap(resource.GapDenied, err.Error())
	case resource.Is(err, resource.ReadInvalid):
		gap(resource.GapUndecodable, err.Error())
	case resource.Is(err, resource.Busy), session.Gone(err) && (t.TableStatus == types.TableStatusCreating || t.TableStatus == types.TableStatusDeleting):
		gap(resource.GapNotReturned, "the table is "+string(t.TableStatus))
	case unserved(err):
		gap(resource.GapNotReturned, "this endpoint does not serve the call: "+err.Error())
	default:
		return err
	}
	return nil
}

// callPart sends a read that some endpoints do not serve: AWS's own answer is worth the SDK's retries, another is not.
func callPart[In, Out any](ctx context.Context, p *table, do func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error), in *In) (*Out, error) {
	out, _, err := call(ctx, p, do, in, once)
	if !resource.Is(err, resource.Throttled) && !resource.Is(err, resource.Uncertain) || unserved(err) {
		return out, err
	}
	out, _, err = call(ctx, p, do, in)
	return out, err
}

// unserved reports whether an endpoint answered, and not as the service does: an emulator that lacks the operation.
func unserved(err error) bool {
	e, ok := errors.AsType[*resource.Error](err)
	return ok && (e.Code == "UnknownOperationException" || e.Kind == resource.Uncertain && e.Code == "" && !e.ServedAt.IsZero() && !resource.Interrupted(err))
}

// readTags sets Tags and Owner; both stay nil when the tags cannot be read.
func (p *table) readTags(ctx context.Context, t *types.TableDescription, o *resource.Observation) error {
	all, err := p.tagsOf(ctx, aws.ToString(t.TableArn))
	if err != nil {
		return gapOr(t, o, "Tags", err)
	}
	own, marks := resource.SplitTags(all)
	o.Params["Tags"], o.Owner = wire.TagList(own), marks
	return nil
}

func (p *table) tagsOf(ctx context.Context, arn string) (map[string]string, error) {
	tags := map[string]string{}
	err := session.Pages("ListTagsOfResource", func(token *string) (*string, error) {
		out, _, err := call(ctx, p, p.api.ListTagsOfResource, &dynamodb.ListTagsOfResourceInput{ResourceArn: &arn, NextToken: token})
		if err != nil {
			return nil, err
		}
		if out.Tags == nil {
			return nil, session.Invalid("ListTagsOfResource", "the answer holds no tags, not even none")
		}
		for _, tag := range out.Tags {
			tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
		}
		return out.NextToken, nil
	})
	return tags, err
}

// readTimeToLive: what is being turned on is on, and what is being turned off is off.
func (p *table) readTimeToLive(ctx context.Context, t *types.TableDescription, o *resource.Observation) error {
	const param = "TimeToLiveSpecification"
	d, err := p.timeToLive(ctx, aws.ToString(t.TableName))
	if err != nil {
		return gapOr(t, o, param, err)
	}
	m := value.Map{"Enabled": value.Of(lives(d))}
	if lives(d) {
		m["AttributeName"] = value.Of(aws.ToString(d.AttributeName))
	}
	o.Params[param] = value.OfMap(m)
	return nil
}

func lives(d *types.TimeToLiveDescription) bool {
	return d.TimeToLiveStatus == types.TimeToLiveStatusEnabled || d.TimeToLiveStatus == types.TimeToLiveStatusEnabling
}

func (p *table) timeToLive(ctx context.Context, name string) (*types.TimeToLiveDescription, error) {
	out, _, err := call(ctx, p, p.api.DescribeTimeToLive, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	switch {
	case err != nil:
		return nil, err
	case out.TimeToLiveDescription == nil || out.TimeToLiveDescription.TimeToLiveStatus == "":
		return nil, session.Invalid("DescribeTimeToLive", "the answer says nothing of time to live")
	}
	return out.TimeToLiveDescription, nil
}

func (p *table) readBackups(ctx context.Context, t *types.TableDescription, o *resource.Observation) error {
	const param = "PointInTimeRecoverySpecification"
	out, _, err := call(ctx, p, p.api.DescribeContinuousBackups, &dynamodb.DescribeContinuousBackupsInput{TableName: t.TableName})
	if err == nil && (out.ContinuousBackupsDescription == nil || out.ContinuousBackupsDescription.PointInTimeRecoveryDescription == nil) {
		err = session.Invalid("DescribeContinuousBackups", "the answer says nothing of point in time recovery")
	}
	if err != nil {
		return gapOr(t, o, param, err)
	}
	d := out.ContinuousBackupsDescription.PointInTimeRecoveryDescription
	on := d.PointInTimeRecoveryStatus == types.PointInTimeRecoveryStatusEnabled
	m := value.Map{"PointInTimeRecoveryEnabled": value.Of(on)}
	if on && d.RecoveryPeriodInDays != nil {
		m["RecoveryPeriodInDays"] = value.Of(*d.RecoveryPeriodInDays)
	}
	o.Params[param] = value.OfMap(m)
	return nil
}

// readInsights asks for the table and for each index that is not on its way out.
func (p *table) readInsights(ctx context.Context, t *types.TableDescription, o *resource.Observation) error {
	const param = "ContributorInsightsSpecification"
	v, err := p.insights(ctx, t, nil)
	if err == nil {
		o.Params[param] = v
	} else if err := gapOr(t, o, param, err); err != nil {
		return err
	}
	indexes := o.Params["GlobalSecondaryIndexes"].Items()
	if len(indexes) == 0 {
		return nil
	}
	list := make([]value.Value, 0, len(indexes))
	for _, index := range indexes {
		name := wire.Name(index.Get("IndexName"))
		v, err := p.insights(ctx, t, &name)
		if err == nil {
			index = value.OfMap(index.Fields().With(param, v))
		} else if err := gapOr(t, o, indexPath(name).Child(param), err); err != nil {
			return err
		}
		list = append(list, index)
	}
	o.Params["GlobalSecondaryIndexes"] = value.ListOf(list...)
	return nil
}

// indexPath is where a global index stands in params.
func indexPath(name string) value.Path {
	return value.Path("").Child("GlobalSecondaryIndexes").Item("IndexName", name)
}

func (p *table) insights(ctx context.Context, t *types.TableDescription, index *string) (value.Value, error) {
	out, err := callPart(ctx, p, p.api.DescribeContributorInsights, &dynamodb.DescribeContributorInsightsInput{TableName: t.TableName, IndexName: index})
	if err != nil {
		return value.Value{}, err
	}
	on := out.ContributorInsightsStatus == types.ContributorInsightsStatusEnabled || out.ContributorInsightsStatus == types.ContributorInsightsStatusEnabling
	if out.ContributorInsightsStatus == "" {
		return value.Value{}, session.Invalid("DescribeContributorInsights", "the answer says nothing of contributor insights")
	}
	m := value.Map{"Enabled": value.Of(on)}
	if on && out.ContributorInsightsMode != "" {
		m["Mode"] = value.Of(string(out.ContributorInsightsMode))
	}
	return value.OfMap(m), nil
}

// readPolicies reads the policy of the table, and that of its stream.
func (p *table) readPolicies(ctx context.Context, t *types.TableDescription, o *resource.Observation) error {
	const param = "ResourcePolicy"
	doc, err := p.policy(ctx, t.TableArn)
	if err != nil {
		if err := gapOr(t, o, param, err); err != nil {
			return err
		}
	} else if doc.IsSet() {
		o.Params[param] = value.OfMap(value.Map{"PolicyDocument": doc})
	}
	if !streams(t) || t.LatestStreamArn == nil {
		return nil
	}
	stream := o.Params["StreamSpecification"].Fields()
	doc, err = p.policy(ctx, t.LatestStreamArn)
	path := value.Path("StreamSpecification").Child(param)
	switch {
	case session.Gone(err):
		o.Gaps[path] = resource.Gap{Kind: resource.GapNotReturned, Reason: "the stream is not visible yet"}
	case err != nil:
		return gapOr(t, o, path, err)
	case doc.IsSet():
		o.Params["StreamSpecification"] = value.OfMap(stream.With(param, value.OfMap(value.Map{"PolicyDocument": doc})))
	}
	return nil
}

// policy returns a resource policy; absent where the service says that there is none.
func (p *table) policy(ctx context.Context, arn *string) (value.Value, error) {
	out, _, err := call(ctx, p, p.api.GetResourcePolicy, &dynamodb.GetResourcePolicyInput{ResourceArn: arn})
	if e, ok := errors.AsType[*resource.Error](err); ok && e.Code == codeNoPolicy {
		return value.Value{}, nil
	}
	if err != nil {
		return value.Value{}, err
	}
	doc, err := value.ParseJSON([]byte(aws.ToString(out.Policy)))
	if err != nil {
		return value.Value{}, session.Invalid("GetResourcePolicy", "the policy is no JSON document")
	}
	return doc, nil
}

// readStreaming reads the Kinesis stream that changes go to. A table with two, of which config can only say one, shows
// the second as a gap.
func (p *table) readStreaming(ctx context.Context, t *types.TableDescription, o *resource.Observation) error {
	const param = "KinesisStreamSpecification"
	all, err := p.streaming(ctx, aws.ToString(t.TableName))
	if err != nil {
		return gapOr(t, o, param, err)
	}
	if o.NotReady == "" && changing(all) != "" {
		o.Ready, o.NotReady = false, changing(all)
	}
	on := written(all)
	if len(on) > 1 {
		o.Gaps[param] = resource.Gap{Kind: resource.GapDenied, Reason: "the table writes to " + strconv.Itoa(len(on)) + " Kinesis streams, and config can name one; disable the other first"}
	} else if len(on) == 1 {
		m := value.Map{"StreamArn": value.Of(aws.ToString(on[0].StreamArn))}
		if on[0].ApproximateCreationDateTimePrecision != "" {
			m["ApproximateCreationDateTimePrecision"] = value.Of(string(on[0].ApproximateCreationDateTimePrecision))
		}
		o.Params[param] = value.OfMap(m)
	}
	return nil
}

func (p *table) streaming(ctx context.Context, name string) ([]types.KinesisDataStreamDestination, error) {
	out, err := callPart(ctx, p, p.api.DescribeKinesisStreamingDestination, &dynamodb.DescribeKinesisStreamingDestinationInput{TableName: &name})
	if err == nil && out.KinesisDataStreamDestinations == nil {
		err = session.Invalid("DescribeKinesisStreamingDestination", "the answer holds no list")
	}
	if err != nil {
		return nil, err
	}
	return out.KinesisDataStreamDestinations, nil
}

// written are the streams that are written to, or will be in a moment.
func written(all []types.KinesisDataStreamDestination) []types.KinesisDataStreamDestination {
	var on []types.KinesisDataStreamDestination
	for _, d := range all {
		switch d.DestinationStatus {
		case types.DestinationStatusActive, types.DestinationStatusEnabling, types.DestinationStatusUpdating:
			on = append(on, d)
		}
	}
	return on
}

// changing says which stream the service is still turning on or off.
func changing(all []types.KinesisDataStreamDestination) string {
	for _, d := range all {
		switch d.DestinationStatus {
		case types.DestinationStatusEnabling, types.DestinationStatusDisabling, types.DestinationStatusUpdating:
			return "its Kinesis stream is " + string(d.DestinationStatus)
		}
	}
	return ""
}
