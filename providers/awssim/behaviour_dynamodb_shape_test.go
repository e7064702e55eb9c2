package awssim

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// tableShapeBehaviours are about what a table can be.
func tableShapeBehaviours() []behaviour {
	index := func(edit func(*types.GlobalSecondaryIndex)) func(*tableInput) {
		return func(in *tableInput) {
			g := types.GlobalSecondaryIndex{IndexName: aws.String("by-owner"), KeySchema: []types.KeySchemaElement{hash("owner")}, Projection: all}
			edit(&g)
			in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{g}
			in.AttributeDefinitions = append(in.AttributeDefinitions, text("owner"))
		}
	}
	provisioned := func(in *tableInput) {
		in.BillingMode, in.ProvisionedThroughput = "", &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(5), WriteCapacityUnits: aws.Int64(4)}
	}
	return []behaviour{
		{claim: "a table that was never on demand has no billing mode summary", do: func(k clients) (any, any, error) {
			t, err := k.table(provisioned)
			if err != nil {
				return nil, nil, err
			}
			return []any{t.BillingModeSummary == nil, *t.ProvisionedThroughput.ReadCapacityUnits}, []any{true, int64(5)}, nil
		}},
		{claim: "attribute definitions and projected attributes come back in the service's order", do: func(k clients) (any, any, error) {
			t, err := k.table(func(in *tableInput) {
				index(func(g *types.GlobalSecondaryIndex) {
					g.Projection = &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"zeta", "alpha"}}
				})(in)
			})
			if err != nil {
				return nil, nil, err
			}
			var names []string
			for _, a := range t.AttributeDefinitions {
				names = append(names, *a.AttributeName)
			}
			return [][]string{names, t.GlobalSecondaryIndexes[0].Projection.NonKeyAttributes}, [][]string{{"owner", "pk"}, {"alpha", "zeta"}}, nil
		}},
		{claim: "a table's name may be given as its ARN", do: func(k clients) (any, any, error) {
			t, err := k.table(nil)
			if err != nil {
				return nil, nil, err
			}
			byARN, err := k.active(t.TableArn)
			if err != nil {
				return nil, nil, err
			}
			return *byARN.TableName, *t.TableName, nil
		}},
		{claim: "a table name of two characters is invalid", refuse: invalidTable, do: makesTable(func(in *tableInput) { in.TableName = aws.String("ab") })},
		{claim: "a table name with a slash is invalid", refuse: invalidTable, do: makesTable(func(in *tableInput) { in.TableName = aws.String("a/bcd") })},
		{claim: "an attribute that no key uses is refused", refuse: invalidTable,
			do: makesTable(func(in *tableInput) { in.AttributeDefinitions = append(in.AttributeDefinitions, text("idle")) })},
		{claim: "a key attribute without a definition is refused", refuse: invalidTable, do: makesTable(func(in *tableInput) { in.KeySchema[0] = hash("other") })},
		{claim: "a key that begins with a sort key is refused", refuse: invalidTable, do: makesTable(func(in *tableInput) { in.KeySchema[0].KeyType = types.KeyTypeRange })},
		{claim: "provisioned capacity needs units", refuse: invalidTable, do: makesTable(func(in *tableInput) { in.BillingMode = "" })},
		{claim: "an on-demand table has no provisioned units", refuse: invalidTable, do: makesTable(func(in *tableInput) {
			provisioned(in)
			in.BillingMode = types.BillingModePayPerRequest
		})},
		{claim: "a provisioned table has no on-demand bounds", refuse: invalidTable, do: makesTable(func(in *tableInput) {
			provisioned(in)
			in.OnDemandThroughput = &types.OnDemandThroughput{MaxReadRequestUnits: aws.Int64(9)}
		})},
		{claim: "an index of a provisioned table needs units too", refuse: invalidTable, do: makesTable(func(in *tableInput) {
			index(func(*types.GlobalSecondaryIndex) {})(in)
			provisioned(in)
		})},
		{claim: "an empty list of indexes is refused", refuse: invalidTable,
			do: makesTable(func(in *tableInput) { in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{} })},
		{claim: "INCLUDE needs attributes to include", refuse: invalidTable,
			do: makesTable(index(func(g *types.GlobalSecondaryIndex) {
				g.Projection = &types.Projection{ProjectionType: types.ProjectionTypeInclude}
			}))},
		{claim: "a local index without a table's sort key is refused", refuse: invalidTable, do: makesTable(func(in *tableInput) {
			in.LocalSecondaryIndexes = []types.LocalSecondaryIndex{{IndexName: aws.String("local"), KeySchema: []types.KeySchemaElement{hash("pk")}, Projection: all}}
		})},
		{claim: "a table class that does not exist is refused", refuse: invalidTable, do: makesTable(func(in *tableInput) { in.TableClass = "GLACIAL" })},
		{claim: "a caller cannot create a table with an aws: tag", refuse: invalidTable,
			do: makesTable(func(in *tableInput) { in.Tags = []types.Tag{{Key: aws.String("aws:x"), Value: aws.String("v")}} })},
		{claim: "a policy that names nobody is refused", refuse: invalidTable, do: makesTable(func(in *tableInput) { in.ResourcePolicy = aws.String(`{"Statement":[]}`) })},

		{claim: "an index is made and removed, and its attribute goes with it", do: func(k clients) (any, any, error) {
			t, err := k.table(nil)
			if err != nil {
				return nil, nil, err
			}
			remove := func(in *updateInput) {
				in.GlobalSecondaryIndexUpdates = []types.GlobalSecondaryIndexUpdate{{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String("by-owner")}}}
			}
			var got []int
			for _, edit := range []func(*updateInput){byOwner, remove} {
				in := &updateInput{TableName: t.TableName}
				edit(in)
				if _, err := k.dynamo.UpdateTable(k.ctx, in); err != nil {
					return nil, nil, err
				}
				now, err := k.active(t.TableName)
				if err != nil {
					return nil, nil, err
				}
				got = append(got, len(now.GlobalSecondaryIndexes), len(now.AttributeDefinitions))
			}
			return got, []int{1, 2, 0, 1}, nil
		}},
		{claim: "two indexes in one update exceed the limit", refuse: tableLimit, do: updates(func(in *updateInput) {
			byOwner(in)
			newIndex("by-kind", "kind")(in)
			in.AttributeDefinitions = []types.AttributeDefinition{text("pk"), text("owner"), text("kind")}
		})},
		{claim: "an index that is there already is refused", refuse: invalidTable, do: updates(byOwner, byOwner)},
		{claim: "removing an index that is not there", refuse: noSuchTable, do: updates(func(in *updateInput) {
			in.GlobalSecondaryIndexUpdates = []types.GlobalSecondaryIndexUpdate{{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String("none")}}}
		})},
		{claim: "an update that changes nothing is refused", refuse: invalidTable, do: updates(func(*updateInput) {})},
		{claim: "units that are the old ones are refused", refuse: invalidTable, do: func(k clients) (any, any, error) {
			t, err := k.table(provisioned)
			if err == nil {
				in := &tableInput{}
				provisioned(in)
				_, err = k.dynamo.UpdateTable(k.ctx, &updateInput{TableName: t.TableName, ProvisionedThroughput: in.ProvisionedThroughput})
			}
			return nil, nil, err
		}},
		{claim: "provisioned capacity without units is refused", refuse: invalidTable, do: updates(func(in *updateInput) { in.BillingMode = types.BillingModeProvisioned })},
		{claim: "a table does not cool down", refuse: invalidTable, do: updates(func(in *updateInput) { in.WarmThroughput = &types.WarmThroughput{ReadUnitsPerSecond: aws.Int64(2)} })},
		{claim: "a second stream is refused while there is one", refuse: invalidTable, do: updates(streamOn, streamOn)},
		{claim: "no stream is turned off where there is none", refuse: invalidTable,
			do: updates(func(in *updateInput) {
				in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(false)}
			})},
		{claim: "each stream has an ARN of its own, which is still told when it is off", do: func(k clients) (any, any, error) {
			t, err := k.table(nil)
			if err != nil {
				return nil, nil, err
			}
			var arns []string
			for _, edit := range []func(*updateInput){streamOn, func(in *updateInput) {
				in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(false)}
			}, streamOn} {
				in := &updateInput{TableName: t.TableName}
				edit(in)
				if _, err := k.dynamo.UpdateTable(k.ctx, in); err != nil {
					return nil, nil, err
				}
				now, err := k.active(t.TableName)
				if err != nil {
					return nil, nil, err
				}
				arns = append(arns, aws.ToString(now.LatestStreamArn))
			}
			return []bool{arns[0] != "", arns[0] == arns[1], arns[1] == arns[2]}, []bool{true, true, false}, nil
		}},
		{claim: "two kinds of change in one update are refused", refuse: invalidTable, do: updates(func(in *updateInput) {
			streamOn(in)
			in.TableClass = types.TableClassStandardInfrequentAccess
		})},
	}
}
