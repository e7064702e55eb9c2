package awssim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var (
	noSuchTable  = refusal{"ResourceNotFoundException", 400}
	noBackupsOf  = refusal{"TableNotFoundException", 400}
	tableInUse   = refusal{"ResourceInUseException", 400}
	tableLimit   = refusal{"LimitExceededException", 400}
	invalidTable = refusal{"ValidationException", 400}
	noTableName  = aws.String("no-such-table")
	noTableARN   = aws.String("arn:aws:dynamodb:eu-west-1:123456789012:table/no-such-table")
	kinesisARN   = aws.String("arn:aws:kinesis:eu-west-1:123456789012:stream/changes")
	letsRead     = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::444455556666:root"},"Action":"dynamodb:GetItem","Resource":"*"}]}`
)

type (
	tableInput  = dynamodb.CreateTableInput
	updateInput = dynamodb.UpdateTableInput
)

func hash(name string) types.KeySchemaElement {
	return types.KeySchemaElement{AttributeName: &name, KeyType: types.KeyTypeHash}
}

func text(name string) types.AttributeDefinition {
	return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
}

var all = &types.Projection{ProjectionType: types.ProjectionTypeAll}

// newTable makes a table without waiting for it, on demand and with key pk, changed by edit.
func (k clients) newTable(edit func(*tableInput)) (*types.TableDescription, error) {
	in := &tableInput{TableName: aws.String(k.name("t")), KeySchema: []types.KeySchemaElement{hash("pk")},
		AttributeDefinitions: []types.AttributeDefinition{text("pk")}, BillingMode: types.BillingModePayPerRequest}
	if edit != nil {
		edit(in)
	}
	out, err := k.dynamo.CreateTable(k.ctx, in)
	if err != nil {
		return nil, err
	}
	return out.TableDescription, nil
}

// table is newTable, and waits until the table is active.
func (k clients) table(edit func(*tableInput)) (*types.TableDescription, error) {
	t, err := k.newTable(edit)
	if err != nil {
		return nil, err
	}
	return k.active(t.TableName)
}

// active waits until a table and its indexes are active.
func (k clients) active(name *string) (*types.TableDescription, error) {
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		out, err := k.dynamo.DescribeTable(k.ctx, &dynamodb.DescribeTableInput{TableName: name})
		if err != nil {
			return nil, err
		}
		busy := slices.ContainsFunc(out.Table.GlobalSecondaryIndexes, func(g types.GlobalSecondaryIndexDescription) bool { return g.IndexStatus != "ACTIVE" })
		if out.Table.TableStatus == "ACTIVE" && !busy {
			return out.Table, nil
		}
		if time.Since(began) > 10*time.Second {
			return nil, fmt.Errorf("%s is %s for ten seconds", *name, out.Table.TableStatus)
		}
	}
}

func onTable(then func(k clients, t *types.TableDescription) error) func(clients) (any, any, error) {
	return func(k clients) (any, any, error) {
		t, err := k.table(nil)
		if err == nil {
			err = then(k, t)
		}
		return nil, nil, err
	}
}

func makesTable(edit func(*tableInput)) func(clients) (any, any, error) {
	return func(k clients) (any, any, error) {
		_, err := k.newTable(edit)
		return nil, nil, err
	}
}

// updates changes a new table, twice or more where there are several edits, and waits in between.
func updates(edits ...func(*updateInput)) func(clients) (any, any, error) {
	return onTable(func(k clients, t *types.TableDescription) error {
		for _, edit := range edits {
			if _, err := k.active(t.TableName); err != nil {
				return err
			}
			in := &updateInput{TableName: t.TableName}
			edit(in)
			if _, err := k.dynamo.UpdateTable(k.ctx, in); err != nil {
				return err
			}
		}
		return nil
	})
}

func byOwner(in *updateInput) { newIndex("by-owner", "owner")(in) }

func newIndex(name, attribute string) func(*updateInput) {
	return func(in *updateInput) {
		in.AttributeDefinitions = append(in.AttributeDefinitions, text("pk"), text(attribute))
		in.GlobalSecondaryIndexUpdates = append(in.GlobalSecondaryIndexUpdates, types.GlobalSecondaryIndexUpdate{
			Create: &types.CreateGlobalSecondaryIndexAction{IndexName: &name, KeySchema: []types.KeySchemaElement{hash(attribute)}, Projection: all}})
	}
}

func streamOn(in *updateInput) {
	in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewImage}
}

func item(pk string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: pk}, "n": &types.AttributeValueMemberN{Value: "1"}}
}

func expiry(name *string, attribute string, on bool) *dynamodb.UpdateTimeToLiveInput {
	return &dynamodb.UpdateTimeToLiveInput{TableName: name, TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &attribute, Enabled: &on}}
}

func tableBehaviours() []behaviour {
	return slices.Concat(tableLifeBehaviours(), tableShapeBehaviours(), tableAspectBehaviours(), noTableBehaviours())
}

func tableLifeBehaviours() []behaviour {
	return []behaviour{
		{claim: "a table is CREATING first, says its ARN and its ID, and is ACTIVE a moment later", do: func(k clients) (any, any, error) {
			t, err := k.newTable(nil)
			if err != nil {
				return nil, nil, err
			}
			now, err := k.active(t.TableName)
			if err != nil {
				return nil, nil, err
			}
			return []any{t.TableStatus, aws.ToString(t.TableId) != "", *t.TableArn, now.TableStatus, *now.TableId == *t.TableId, now.CreationDateTime.Equal(*t.CreationDateTime)},
				[]any{types.TableStatusCreating, true, "arn:aws:dynamodb:" + region + ":" + account + ":table/" + *t.TableName, types.TableStatusActive, true, true}, nil
		}},
		{claim: "a second table of the same name is in use", refuse: tableInUse, do: onTable(func(k clients, t *types.TableDescription) error {
			_, err := k.newTable(func(in *tableInput) { in.TableName = t.TableName })
			return err
		})},
		{claim: "a table made again is another: its ID differs", do: func(k clients) (any, any, error) {
			t, err := k.table(nil)
			if err != nil {
				return nil, nil, err
			}
			if _, err := k.dynamo.DeleteTable(k.ctx, &dynamodb.DeleteTableInput{TableName: t.TableName}); err != nil {
				return nil, nil, err
			}
			for err == nil {
				_, err = k.dynamo.DescribeTable(k.ctx, &dynamodb.DescribeTableInput{TableName: t.TableName})
			}
			again, err := k.newTable(func(in *tableInput) { in.TableName = t.TableName })
			if err != nil {
				return nil, nil, err
			}
			return *again.TableId != *t.TableId, true, nil
		}},
		{claim: "a deleted table is DELETING for a while, to its name and to a second delete", do: func(k clients) (any, any, error) {
			t, err := k.table(nil)
			if err != nil {
				return nil, nil, err
			}
			var got []any
			for range 2 {
				out, err := k.dynamo.DeleteTable(k.ctx, &dynamodb.DeleteTableInput{TableName: t.TableName})
				if err != nil {
					return nil, nil, err
				}
				got = append(got, out.TableDescription.TableStatus)
			}
			out, err := k.dynamo.DescribeTable(k.ctx, &dynamodb.DescribeTableInput{TableName: t.TableName})
			if err != nil {
				return nil, nil, err
			}
			return append(got, out.Table.TableStatus), []any{types.TableStatusDeleting, types.TableStatusDeleting, types.TableStatusDeleting}, nil
		}},
		{claim: "the name of a table that is being deleted is in use", refuse: tableInUse, do: onTable(func(k clients, t *types.TableDescription) error {
			if _, err := k.dynamo.DeleteTable(k.ctx, &dynamodb.DeleteTableInput{TableName: t.TableName}); err != nil {
				return err
			}
			_, err := k.newTable(func(in *tableInput) { in.TableName = t.TableName })
			return err
		})},
		{claim: "a table that is being made is not deleted", refuse: tableInUse, do: func(k clients) (any, any, error) {
			t, err := k.newTable(nil)
			if err == nil {
				_, err = k.dynamo.DeleteTable(k.ctx, &dynamodb.DeleteTableInput{TableName: t.TableName})
			}
			return nil, nil, err
		}},
		{claim: "a table that is being made is not updated", refuse: tableInUse, do: func(k clients) (any, any, error) {
			t, err := k.newTable(nil)
			if err == nil {
				in := &updateInput{TableName: t.TableName}
				byOwner(in)
				_, err = k.dynamo.UpdateTable(k.ctx, in)
			}
			return nil, nil, err
		}},
		{claim: "a protected table is not deleted", refuse: invalidTable, do: func(k clients) (any, any, error) {
			t, err := k.table(func(in *tableInput) { in.DeletionProtectionEnabled = aws.Bool(true) })
			if err == nil {
				_, err = k.dynamo.DeleteTable(k.ctx, &dynamodb.DeleteTableInput{TableName: t.TableName})
			}
			return nil, nil, err
		}},
		{claim: "tables are listed page by page in the order of their names", do: func(k clients) (any, any, error) {
			prefix := k.name("list")
			var want, got []string
			for n := range 3 {
				want = append(want, fmt.Sprintf("%s-%d", prefix, n))
				if _, err := k.newTable(func(in *tableInput) { in.TableName = &want[n] }); err != nil {
					return nil, nil, err
				}
			}
			in := &dynamodb.ListTablesInput{Limit: aws.Int32(1)}
			for {
				out, err := k.dynamo.ListTables(k.ctx, in)
				if err != nil {
					return nil, nil, err
				}
				got = append(got, slices.DeleteFunc(out.TableNames, func(n string) bool { return !strings.HasPrefix(n, prefix) })...)
				if in.ExclusiveStartTableName = out.LastEvaluatedTableName; in.ExclusiveStartTableName == nil {
					return got, want, nil
				}
			}
		}},
		{claim: "a page of 101 tables is too long", refuse: invalidTable, do: alone(func(k clients) error {
			_, err := k.dynamo.ListTables(k.ctx, &dynamodb.ListTablesInput{Limit: aws.Int32(101)})
			return err
		})},
		{claim: "items are put, got, scanned and deleted by their key", do: itemsComeAndGo},
		{claim: "an item without its key is refused", refuse: invalidTable, do: onTable(func(k clients, t *types.TableDescription) error {
			_, err := k.dynamo.PutItem(k.ctx, &dynamodb.PutItemInput{TableName: t.TableName, Item: map[string]types.AttributeValue{"a": &types.AttributeValueMemberS{Value: "b"}}})
			return err
		})},
		{claim: "the count of items trails, so 0 means nothing", do: func(k clients) (any, any, error) {
			t, err := k.table(nil)
			if err == nil {
				_, err = k.dynamo.PutItem(k.ctx, &dynamodb.PutItemInput{TableName: t.TableName, Item: item("a")})
			}
			if err != nil {
				return nil, nil, err
			}
			now, err := k.active(t.TableName)
			if err != nil {
				return nil, nil, err
			}
			return *now.ItemCount, int64(0), nil
		}},
	}
}

func itemsComeAndGo(k clients) (any, any, error) {
	t, err := k.table(nil)
	if err != nil {
		return nil, nil, err
	}
	for _, pk := range []string{"a", "b", "a"} {
		if _, err := k.dynamo.PutItem(k.ctx, &dynamodb.PutItemInput{TableName: t.TableName, Item: item(pk)}); err != nil {
			return nil, nil, err
		}
	}
	key := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}}
	one, err := k.dynamo.GetItem(k.ctx, &dynamodb.GetItemInput{TableName: t.TableName, Key: key})
	if err != nil {
		return nil, nil, err
	}
	first, err := k.dynamo.Scan(k.ctx, &dynamodb.ScanInput{TableName: t.TableName, Limit: aws.Int32(1)})
	if err != nil {
		return nil, nil, err
	}
	rest, err := k.dynamo.Scan(k.ctx, &dynamodb.ScanInput{TableName: t.TableName, ExclusiveStartKey: first.LastEvaluatedKey})
	if err != nil {
		return nil, nil, err
	}
	if _, err := k.dynamo.DeleteItem(k.ctx, &dynamodb.DeleteItemInput{TableName: t.TableName, Key: key}); err != nil {
		return nil, nil, err
	}
	left, err := k.dynamo.Scan(k.ctx, &dynamodb.ScanInput{TableName: t.TableName})
	if err != nil {
		return nil, nil, err
	}
	return []int{len(one.Item), int(first.Count), int(rest.Count), int(left.Count)}, []int{2, 1, 1, 1}, nil
}

// noTableBehaviours ask every operation for a table that is not there.
func noTableBehaviours() []behaviour {
	key := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}}
	type call struct {
		what   string
		refuse refusal
		do     func(k clients) error
	}
	var out []behaviour
	for _, c := range []call{
		{"reading", noSuchTable, func(k clients) error {
			_, err := k.dynamo.DescribeTable(k.ctx, &dynamodb.DescribeTableInput{TableName: noTableName})
			return err
		}},
		{"deleting", noSuchTable, func(k clients) error {
			_, err := k.dynamo.DeleteTable(k.ctx, &dynamodb.DeleteTableInput{TableName: noTableName})
			return err
		}},
		{"tagging", noSuchTable, func(k clients) error {
			_, err := k.dynamo.TagResource(k.ctx, &dynamodb.TagResourceInput{ResourceArn: noTableARN, Tags: []types.Tag{{Key: aws.String("a"), Value: aws.String("b")}}})
			return err
		}},
		{"untagging", noSuchTable, func(k clients) error {
			_, err := k.dynamo.UntagResource(k.ctx, &dynamodb.UntagResourceInput{ResourceArn: noTableARN, TagKeys: []string{"a"}})
			return err
		}},
		{"listing the tags of", noSuchTable, func(k clients) error {
			_, err := k.dynamo.ListTagsOfResource(k.ctx, &dynamodb.ListTagsOfResourceInput{ResourceArn: noTableARN})
			return err
		}},
		{"reading time to live of", noSuchTable, func(k clients) error {
			_, err := k.dynamo.DescribeTimeToLive(k.ctx, &dynamodb.DescribeTimeToLiveInput{TableName: noTableName})
			return err
		}},
		{"reading the backups of", noBackupsOf, func(k clients) error {
			_, err := k.dynamo.DescribeContinuousBackups(k.ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: noTableName})
			return err
		}},
		{"reading the contributor insights of", noSuchTable, func(k clients) error {
			_, err := k.dynamo.DescribeContributorInsights(k.ctx, &dynamodb.DescribeContributorInsightsInput{TableName: noTableName})
			return err
		}},
		{"turning on the contributor insights of", noSuchTable, func(k clients) error {
			_, err := k.dynamo.UpdateContributorInsights(k.ctx, &dynamodb.UpdateContributorInsightsInput{TableName: noTableName, ContributorInsightsAction: "ENABLE"})
			return err
		}},
		{"putting a policy on", noSuchTable, func(k clients) error {
			_, err := k.dynamo.PutResourcePolicy(k.ctx, &dynamodb.PutResourcePolicyInput{ResourceArn: noTableARN, Policy: &letsRead})
			return err
		}},
		{"deleting the policy of", noSuchTable, func(k clients) error {
			_, err := k.dynamo.DeleteResourcePolicy(k.ctx, &dynamodb.DeleteResourcePolicyInput{ResourceArn: noTableARN})
			return err
		}},
		{"reading the Kinesis streams of", noSuchTable, func(k clients) error {
			_, err := k.dynamo.DescribeKinesisStreamingDestination(k.ctx, &dynamodb.DescribeKinesisStreamingDestinationInput{TableName: noTableName})
			return err
		}},
		{"turning on a Kinesis stream of", noSuchTable, func(k clients) error {
			_, err := k.dynamo.EnableKinesisStreamingDestination(k.ctx, &dynamodb.EnableKinesisStreamingDestinationInput{TableName: noTableName, StreamArn: kinesisARN})
			return err
		}},
		{"turning off a Kinesis stream of", noSuchTable, func(k clients) error {
			_, err := k.dynamo.DisableKinesisStreamingDestination(k.ctx, &dynamodb.DisableKinesisStreamingDestinationInput{TableName: noTableName, StreamArn: kinesisARN})
			return err
		}},
		{"changing a Kinesis stream of", noSuchTable, func(k clients) error {
			_, err := k.dynamo.UpdateKinesisStreamingDestination(k.ctx, &dynamodb.UpdateKinesisStreamingDestinationInput{TableName: noTableName, StreamArn: kinesisARN})
			return err
		}},
		{"getting an item of", noSuchTable, func(k clients) error {
			_, err := k.dynamo.GetItem(k.ctx, &dynamodb.GetItemInput{TableName: noTableName, Key: key})
			return err
		}},
		{"deleting an item of", noSuchTable, func(k clients) error {
			_, err := k.dynamo.DeleteItem(k.ctx, &dynamodb.DeleteItemInput{TableName: noTableName, Key: key})
			return err
		}},
		{"scanning", noSuchTable, func(k clients) error {
			_, err := k.dynamo.Scan(k.ctx, &dynamodb.ScanInput{TableName: noTableName})
			return err
		}},
	} {
		out = append(out, behaviour{claim: c.what + " a table that is not there", refuse: c.refuse, do: alone(c.do)})
	}
	return out
}
