package awssim

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	logs "github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
)

var (
	noLogGroup   = refusal{"ResourceNotFoundException", 400}
	groupExists  = refusal{"ResourceAlreadyExistsException", 400}
	badParam     = refusal{"InvalidParameterException", 400}
	keyARN       = aws.String("arn:aws:kms:eu-west-1:123456789012:key/11111111-2222-3333-4444-555555555555")
	noGroupName  = aws.String("none")
	noGroupARN   = aws.String("arn:aws:logs:eu-west-1:123456789012:log-group:none")
	protectsData = `{"Name":"p","Version":"2021-06-01","Statement":[` +
		`{"Sid":"audit","DataIdentifier":["arn:aws:dataprotection::aws:data-identifier/EmailAddress"],"Operation":{"Audit":{"FindingsDestination":{}}}},` +
		`{"Sid":"mask","DataIdentifier":["arn:aws:dataprotection::aws:data-identifier/EmailAddress"],"Operation":{"Deidentify":{"MaskConfig":{}}}}]}`
)

// group makes a log group, changed by edit, and returns its name.
func (k clients) group(edit func(*logs.CreateLogGroupInput)) (string, error) {
	in := &logs.CreateLogGroupInput{LogGroupName: aws.String("/reclaim/" + k.name("g"))}
	if edit != nil {
		edit(in)
	}
	_, err := k.logs.CreateLogGroup(k.ctx, in)
	return *in.LogGroupName, err
}

// describe reads one group by its whole name, nil when there is none.
func (k clients) describe(name string) (*types.LogGroup, error) {
	out, err := k.logs.DescribeLogGroups(k.ctx, &logs.DescribeLogGroupsInput{LogGroupNamePrefix: &name})
	if err != nil {
		return nil, err
	}
	for _, g := range out.LogGroups {
		if *g.LogGroupName == name {
			return &g, nil
		}
	}
	return nil, nil
}

func onGroup(then func(k clients, group *string) error) func(clients) (any, any, error) {
	return func(k clients) (any, any, error) {
		name, err := k.group(nil)
		if err == nil {
			err = then(k, &name)
		}
		return nil, nil, err
	}
}

func createsGroup(edit func(*logs.CreateLogGroupInput)) func(clients) (any, any, error) {
	return func(k clients) (any, any, error) {
		_, err := k.group(edit)
		return nil, nil, err
	}
}

func groupARN(name string) *string {
	return aws.String("arn:aws:logs:" + region + ":" + account + ":log-group:" + name)
}

// alone runs a call that needs nothing before it.
func alone(do func(k clients) error) func(clients) (any, any, error) {
	return func(k clients) (any, any, error) { return nil, nil, do(k) }
}

func logBehaviours() []behaviour {
	out := []behaviour{
		{claim: "a log group comes back with its ARNs, class, key and tags", do: wholeGroup},
		{claim: "a second log group of the same name exists", refuse: groupExists, do: onGroup(func(k clients, group *string) error {
			_, err := k.group(func(in *logs.CreateLogGroupInput) { in.LogGroupName = group })
			return err
		})},
		{claim: "log group names differ by case", do: func(k clients) (any, any, error) {
			name, err := k.group(nil)
			if err == nil {
				_, err = k.group(func(in *logs.CreateLogGroupInput) { in.LogGroupName = aws.String(strings.ToUpper(name)) })
			}
			return nil, nil, err
		}},
		{claim: "a log group name with a colon is invalid", refuse: badParam,
			do: createsGroup(func(in *logs.CreateLogGroupInput) { in.LogGroupName = aws.String("a:b") })},
		{claim: "a log group name of 513 characters is invalid", refuse: badParam,
			do: createsGroup(func(in *logs.CreateLogGroupInput) { in.LogGroupName = aws.String(strings.Repeat("x", 513)) })},
		{claim: "a log group name cannot start with aws/", refuse: badParam,
			do: createsGroup(func(in *logs.CreateLogGroupInput) { in.LogGroupName = aws.String("aws/x") })},
		{claim: "a log group class that does not exist is invalid", refuse: badParam,
			do: createsGroup(func(in *logs.CreateLogGroupInput) { in.LogGroupClass = "GLACIAL" })},
		{claim: "a key that is no KMS ARN is invalid", refuse: badParam,
			do: createsGroup(func(in *logs.CreateLogGroupInput) { in.KmsKeyId = aws.String("my-key") })},
		{claim: "a caller cannot create a log group with an aws: tag", refuse: badParam,
			do: createsGroup(func(in *logs.CreateLogGroupInput) { in.Tags = map[string]string{"aws:x": "v"} })},
		{claim: "log groups are listed page by page in the order of their names", do: listGroups},
		{claim: "a prefix finds what is longer too, so a reader must compare the whole name", do: func(k clients) (any, any, error) {
			name, err := k.group(nil)
			if err == nil {
				_, err = k.group(func(in *logs.CreateLogGroupInput) { in.LogGroupName = aws.String(name + "-more") })
			}
			if err != nil {
				return nil, nil, err
			}
			out, err := k.logs.DescribeLogGroups(k.ctx, &logs.DescribeLogGroupsInput{LogGroupNamePrefix: &name})
			if err != nil {
				return nil, nil, err
			}
			return len(out.LogGroups), 2, nil
		}},
		{claim: "a page of more than 50 log groups is invalid", refuse: badParam, do: alone(func(k clients) error {
			_, err := k.logs.DescribeLogGroups(k.ctx, &logs.DescribeLogGroupsInput{Limit: aws.Int32(51)})
			return err
		})},
		{claim: "prefix and pattern exclude each other", refuse: badParam, do: alone(func(k clients) error {
			_, err := k.logs.DescribeLogGroups(k.ctx, &logs.DescribeLogGroupsInput{LogGroupNamePrefix: noGroupName, LogGroupNamePattern: noGroupName})
			return err
		})},
		{claim: "retention is set, changed and taken away", do: retentionLife},
		{claim: "a retention outside the fixed set is invalid", refuse: badParam, do: onGroup(func(k clients, group *string) error {
			_, err := k.logs.PutRetentionPolicy(k.ctx, &logs.PutRetentionPolicyInput{LogGroupName: group, RetentionInDays: aws.Int32(2)})
			return err
		})},
		{claim: "a retention of 0 is invalid: it is taken away by its own call", refuse: badParam, do: onGroup(func(k clients, group *string) error {
			_, err := k.logs.PutRetentionPolicy(k.ctx, &logs.PutRetentionPolicyInput{LogGroupName: group, RetentionInDays: aws.Int32(0)})
			return err
		})},
		{claim: "log group tags are set, replaced, removed and read", do: groupTagLife},
		{claim: "an ARN with :* cannot be tagged", refuse: badParam, do: onGroup(func(k clients, group *string) error {
			_, err := k.logs.TagResource(k.ctx, &logs.TagResourceInput{ResourceArn: aws.String(*groupARN(*group) + ":*"), Tags: map[string]string{"k": "v"}})
			return err
		})},
		{claim: "an aws: tag cannot be put on a log group", refuse: badParam, do: onGroup(func(k clients, group *string) error {
			_, err := k.logs.TagResource(k.ctx, &logs.TagResourceInput{ResourceArn: groupARN(*group), Tags: map[string]string{"aws:x": "v"}})
			return err
		})},
		{claim: "more than 50 tags on a log group are too many", refuse: refusal{"TooManyTagsException", 400}, do: onGroup(func(k clients, group *string) error {
			for _, from := range []int{0, 30} {
				tags := map[string]string{}
				for i := range 30 {
					tags[fmt.Sprint("k", from+i)] = "v"
				}
				if _, err := k.logs.TagResource(k.ctx, &logs.TagResourceInput{ResourceArn: groupARN(*group), Tags: tags}); err != nil {
					return err
				}
			}
			return nil
		})},
		{claim: "a KMS key is associated and taken away", do: keyLife},
		{claim: "a data protection policy is put, read, deleted, and stays known as deleted", do: protectionLife},
		{claim: "a data protection policy of one statement is invalid", refuse: badParam, do: onGroup(func(k clients, group *string) error {
			_, err := k.logs.PutDataProtectionPolicy(k.ctx, &logs.PutDataProtectionPolicyInput{LogGroupIdentifier: group,
				PolicyDocument: aws.String(`{"Name":"p","Version":"2021-06-01","Statement":[{}]}`)})
			return err
		})},
		{claim: "a log group under deletion protection is not deleted", refuse: refusal{"ValidationException", 400}, do: onGroup(func(k clients, group *string) error {
			_, err := k.logs.PutLogGroupDeletionProtection(k.ctx, &logs.PutLogGroupDeletionProtectionInput{LogGroupIdentifier: group,
				DeletionProtectionEnabled: aws.Bool(true)})
			if err == nil {
				_, err = k.logs.DeleteLogGroup(k.ctx, &logs.DeleteLogGroupInput{LogGroupName: group})
			}
			return err
		})},
		{claim: "a deleted log group takes its streams along", do: deleteGroup},
		{claim: "events in a stream show in its times, and not in storedBytes before a day", do: eventLife},
		{claim: "a second stream of the same name exists", refuse: groupExists, do: onGroup(func(k clients, group *string) error {
			in := &logs.CreateLogStreamInput{LogGroupName: group, LogStreamName: aws.String("s")}
			_, err := k.logs.CreateLogStream(k.ctx, in)
			if err == nil {
				_, err = k.logs.CreateLogStream(k.ctx, in)
			}
			return err
		})},
		{claim: "events for a stream that is not there", refuse: noLogGroup, do: onGroup(func(k clients, group *string) error {
			return k.put(*group, "none", time.Now())
		})},
		{claim: "events out of order are invalid", refuse: badParam, do: onGroup(func(k clients, group *string) error {
			_, err := k.logs.CreateLogStream(k.ctx, &logs.CreateLogStreamInput{LogGroupName: group, LogStreamName: aws.String("s")})
			if err == nil {
				err = k.put(*group, "s", time.Now(), time.Now().Add(-time.Minute))
			}
			return err
		})},
		{claim: "streams are listed page by page", do: listStreams},
	}
	return append(out, absentGroupBehaviours()...)
}

// absentGroupBehaviours: every operation on one group says that it is not there.
func absentGroupBehaviours() []behaviour {
	calls := map[string]func(k clients) error{
		"deleting": func(k clients) error {
			_, err := k.logs.DeleteLogGroup(k.ctx, &logs.DeleteLogGroupInput{LogGroupName: noGroupName})
			return err
		},
		"setting the retention of": func(k clients) error {
			_, err := k.logs.PutRetentionPolicy(k.ctx, &logs.PutRetentionPolicyInput{LogGroupName: noGroupName, RetentionInDays: aws.Int32(7)})
			return err
		},
		"taking the retention of": func(k clients) error {
			_, err := k.logs.DeleteRetentionPolicy(k.ctx, &logs.DeleteRetentionPolicyInput{LogGroupName: noGroupName})
			return err
		},
		"tagging": func(k clients) error {
			_, err := k.logs.TagResource(k.ctx, &logs.TagResourceInput{ResourceArn: noGroupARN, Tags: map[string]string{"k": "v"}})
			return err
		},
		"untagging": func(k clients) error {
			_, err := k.logs.UntagResource(k.ctx, &logs.UntagResourceInput{ResourceArn: noGroupARN, TagKeys: []string{"k"}})
			return err
		},
		"reading the tags of": func(k clients) error {
			_, err := k.logs.ListTagsForResource(k.ctx, &logs.ListTagsForResourceInput{ResourceArn: noGroupARN})
			return err
		},
		"encrypting": func(k clients) error {
			_, err := k.logs.AssociateKmsKey(k.ctx, &logs.AssociateKmsKeyInput{LogGroupName: noGroupName, KmsKeyId: keyARN})
			return err
		},
		"no longer encrypting": func(k clients) error {
			_, err := k.logs.DisassociateKmsKey(k.ctx, &logs.DisassociateKmsKeyInput{LogGroupName: noGroupName})
			return err
		},
		"protecting the data of": func(k clients) error {
			_, err := k.logs.PutDataProtectionPolicy(k.ctx, &logs.PutDataProtectionPolicyInput{LogGroupIdentifier: noGroupName, PolicyDocument: &protectsData})
			return err
		},
		"reading the data protection of": func(k clients) error {
			_, err := k.logs.GetDataProtectionPolicy(k.ctx, &logs.GetDataProtectionPolicyInput{LogGroupIdentifier: noGroupName})
			return err
		},
		"no longer protecting the data of": func(k clients) error {
			_, err := k.logs.DeleteDataProtectionPolicy(k.ctx, &logs.DeleteDataProtectionPolicyInput{LogGroupIdentifier: noGroupName})
			return err
		},
		"protecting from deletion": func(k clients) error {
			_, err := k.logs.PutLogGroupDeletionProtection(k.ctx, &logs.PutLogGroupDeletionProtectionInput{LogGroupIdentifier: noGroupName,
				DeletionProtectionEnabled: aws.Bool(true)})
			return err
		},
		"making a stream in": func(k clients) error {
			_, err := k.logs.CreateLogStream(k.ctx, &logs.CreateLogStreamInput{LogGroupName: noGroupName, LogStreamName: aws.String("s")})
			return err
		},
		"listing the streams of": func(k clients) error {
			_, err := k.logs.DescribeLogStreams(k.ctx, &logs.DescribeLogStreamsInput{LogGroupName: noGroupName})
			return err
		},
	}
	var out []behaviour
	for _, what := range sortedKeys(calls) {
		out = append(out, behaviour{claim: what + " a log group that is not there", refuse: noLogGroup, do: alone(calls[what])})
	}
	return out
}

func wholeGroup(k clients) (any, any, error) {
	name, err := k.group(func(in *logs.CreateLogGroupInput) {
		in.LogGroupClass, in.KmsKeyId, in.Tags = "INFREQUENT_ACCESS", keyARN, map[string]string{"a": "1"}
	})
	if err != nil {
		return nil, nil, err
	}
	g, err := k.describe(name)
	if err != nil || g == nil {
		return g, "a group", err
	}
	tags, err := k.logs.ListTagsForResource(k.ctx, &logs.ListTagsForResourceInput{ResourceArn: groupARN(name)})
	if err != nil {
		return nil, nil, err
	}
	return []any{*g.Arn, *g.LogGroupArn, string(g.LogGroupClass), *g.KmsKeyId, g.RetentionInDays == nil, *g.StoredBytes, tags.Tags,
			aws.ToInt64(g.CreationTime) > 1e12},
		[]any{*groupARN(name) + ":*", *groupARN(name), "INFREQUENT_ACCESS", *keyARN, true, int64(0), map[string]string{"a": "1"}, true}, nil
}

func listGroups(k clients) (any, any, error) {
	prefix := "/reclaim/" + k.name("list")
	var want []string
	for i := range 5 {
		name := fmt.Sprint(prefix, "/", 4-i)
		want = append([]string{name}, want...)
		if _, err := k.group(func(in *logs.CreateLogGroupInput) { in.LogGroupName = &name }); err != nil {
			return nil, nil, err
		}
	}
	var got []string
	pages := 0
	p := logs.NewDescribeLogGroupsPaginator(k.logs, &logs.DescribeLogGroupsInput{LogGroupNamePrefix: &prefix, Limit: aws.Int32(2)})
	for p.HasMorePages() {
		out, err := p.NextPage(k.ctx)
		if err != nil {
			return nil, nil, err
		}
		pages++
		for _, g := range out.LogGroups {
			got = append(got, *g.LogGroupName)
		}
	}
	return []any{got, pages}, []any{want, 3}, nil
}

func retentionLife(k clients) (any, any, error) {
	name, err := k.group(nil)
	var seen []int32
	for _, days := range []int32{7, 3653, 0} {
		if err == nil && days > 0 {
			_, err = k.logs.PutRetentionPolicy(k.ctx, &logs.PutRetentionPolicyInput{LogGroupName: &name, RetentionInDays: &days})
		} else if err == nil {
			_, err = k.logs.DeleteRetentionPolicy(k.ctx, &logs.DeleteRetentionPolicyInput{LogGroupName: &name})
		}
		if err != nil {
			return nil, nil, err
		}
		g, err := k.describe(name)
		if err != nil || g == nil {
			return g, "a group", err
		}
		seen = append(seen, aws.ToInt32(g.RetentionInDays))
	}
	return seen, []int32{7, 3653, 0}, nil
}

func groupTagLife(k clients) (any, any, error) {
	name, err := k.group(func(in *logs.CreateLogGroupInput) { in.Tags = map[string]string{"a": "old", "gone": "x", "Case": "1"} })
	if err == nil {
		_, err = k.logs.TagResource(k.ctx, &logs.TagResourceInput{ResourceArn: groupARN(name), Tags: map[string]string{"a": "new", "case": "2"}})
	}
	if err == nil {
		_, err = k.logs.UntagResource(k.ctx, &logs.UntagResourceInput{ResourceArn: groupARN(name), TagKeys: []string{"gone", "never-there"}})
	}
	if err != nil {
		return nil, nil, err
	}
	out, err := k.logs.ListTagsForResource(k.ctx, &logs.ListTagsForResourceInput{ResourceArn: groupARN(name)})
	if err != nil {
		return nil, nil, err
	}
	return out.Tags, map[string]string{"a": "new", "Case": "1", "case": "2"}, nil
}

func keyLife(k clients) (any, any, error) {
	name, err := k.group(nil)
	if err == nil {
		_, err = k.logs.AssociateKmsKey(k.ctx, &logs.AssociateKmsKeyInput{LogGroupName: &name, KmsKeyId: keyARN})
	}
	if err != nil {
		return nil, nil, err
	}
	with, err := k.describe(name)
	if err == nil {
		_, err = k.logs.DisassociateKmsKey(k.ctx, &logs.DisassociateKmsKeyInput{ResourceIdentifier: groupARN(name)})
	}
	if err != nil {
		return nil, nil, err
	}
	without, err := k.describe(name)
	if err != nil || with == nil || without == nil {
		return nil, "a group", err
	}
	return []any{aws.ToString(with.KmsKeyId), without.KmsKeyId == nil}, []any{*keyARN, true}, nil
}

func protectionLife(k clients) (any, any, error) {
	name, err := k.group(nil)
	if err != nil {
		return nil, nil, err
	}
	read := func() (string, error) {
		out, err := k.logs.GetDataProtectionPolicy(k.ctx, &logs.GetDataProtectionPolicyInput{LogGroupIdentifier: &name})
		if err != nil {
			return "", err
		}
		g, err := k.describe(name)
		if err != nil || g == nil {
			return "", err
		}
		return aws.ToString(out.PolicyDocument) + string(g.DataProtectionStatus), nil
	}
	before, err := read()
	if err == nil {
		_, err = k.logs.PutDataProtectionPolicy(k.ctx, &logs.PutDataProtectionPolicyInput{LogGroupIdentifier: groupARN(name), PolicyDocument: &protectsData})
	}
	if err != nil {
		return nil, nil, err
	}
	with, err := read()
	if err == nil {
		_, err = k.logs.DeleteDataProtectionPolicy(k.ctx, &logs.DeleteDataProtectionPolicyInput{LogGroupIdentifier: &name})
	}
	if err != nil {
		return nil, nil, err
	}
	after, err := read()
	return []string{before, with, after}, []string{"", protectsData + "ACTIVATED", "DELETED"}, err
}

// put sends one event for each time.
func (k clients) put(group, stream string, at ...time.Time) error {
	in := &logs.PutLogEventsInput{LogGroupName: &group, LogStreamName: &stream}
	for _, t := range at {
		in.LogEvents = append(in.LogEvents, types.InputLogEvent{Message: aws.String("hello"), Timestamp: aws.Int64(t.UnixMilli())})
	}
	_, err := k.logs.PutLogEvents(k.ctx, in)
	return err
}

func deleteGroup(k clients) (any, any, error) {
	name, err := k.group(nil)
	if err == nil {
		_, err = k.logs.CreateLogStream(k.ctx, &logs.CreateLogStreamInput{LogGroupName: &name, LogStreamName: aws.String("s")})
	}
	if err == nil {
		_, err = k.logs.DeleteLogGroup(k.ctx, &logs.DeleteLogGroupInput{LogGroupName: &name})
	}
	if err != nil {
		return nil, nil, err
	}
	gone, err := k.describe(name)
	if err == nil {
		_, err = k.group(func(in *logs.CreateLogGroupInput) { in.LogGroupName = &name })
	}
	if err != nil {
		return nil, nil, err
	}
	streams, err := k.logs.DescribeLogStreams(k.ctx, &logs.DescribeLogStreamsInput{LogGroupName: &name})
	if err != nil {
		return nil, nil, err
	}
	return []any{gone == nil, len(streams.LogStreams)}, []any{true, 0}, nil
}

func eventLife(k clients) (any, any, error) {
	name, err := k.group(nil)
	if err == nil {
		_, err = k.logs.CreateLogStream(k.ctx, &logs.CreateLogStreamInput{LogGroupName: &name, LogStreamName: aws.String("s")})
	}
	first, last := time.Now().Add(-time.Minute), time.Now()
	if err == nil {
		err = k.put(name, "s", first, last)
	}
	if err != nil {
		return nil, nil, err
	}
	streams, err := k.logs.DescribeLogStreams(k.ctx, &logs.DescribeLogStreamsInput{LogGroupName: &name})
	if err != nil || len(streams.LogStreams) != 1 {
		return nil, "a stream", err
	}
	g, err := k.describe(name)
	if err != nil || g == nil {
		return g, "a group", err
	}
	st := streams.LogStreams[0]
	return []any{*st.Arn, aws.ToInt64(st.FirstEventTimestamp), aws.ToInt64(st.LastEventTimestamp), aws.ToInt64(st.LastIngestionTime) > 0, *g.StoredBytes},
		[]any{*groupARN(name) + ":log-stream:s", first.UnixMilli(), last.UnixMilli(), true, int64(0)}, nil
}

func listStreams(k clients) (any, any, error) {
	name, err := k.group(nil)
	want := map[string]bool{}
	for i := range 5 {
		stream := fmt.Sprint("s", i)
		want[stream] = true
		if err == nil {
			_, err = k.logs.CreateLogStream(k.ctx, &logs.CreateLogStreamInput{LogGroupName: &name, LogStreamName: &stream})
		}
	}
	if err != nil {
		return nil, nil, err
	}
	got := map[string]bool{}
	pages := 0
	p := logs.NewDescribeLogStreamsPaginator(k.logs, &logs.DescribeLogStreamsInput{LogGroupName: &name, Limit: aws.Int32(2), Descending: aws.Bool(true)})
	var first string
	for p.HasMorePages() {
		out, err := p.NextPage(k.ctx)
		if err != nil {
			return nil, nil, err
		}
		if pages++; pages == 1 {
			first = *out.LogStreams[0].LogStreamName
		}
		for _, st := range out.LogStreams {
			got[*st.LogStreamName] = true
		}
	}
	return []any{maps.Equal(got, want), pages, first}, []any{true, 3, "s4"}, nil
}
