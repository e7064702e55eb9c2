package dynamodb

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
)

// Read implements resource.Provider. What has a call of its own and is denied becomes a gap.
func (p *table) Read(ctx context.Context, key resource.Key) (*resource.Observation, error) {
	t, served, err := p.look(ctx, key["TableName"])
	if err != nil {
		return nil, err
	}
	return p.whole(ctx, t, served)
}

// whole completes a table that was found with the parts that are calls of their own.
func (p *table) whole(ctx context.Context, t *types.TableDescription, served time.Time) (*resource.Observation, error) {
	o := observe(t, served)
	for _, part := range []func(context.Context, *types.TableDescription, *resource.Observation) error{
		p.readTags, p.readTimeToLive, p.readBackups, p.readInsights, p.readPolicies, p.readStreaming,
	} {
		err := part(ctx, t, o)
		if session.Gone(err) {
			return nil, p.vanished(ctx, aws.ToString(t.TableName))
		}
		if err != nil {
			return nil, err
		}
	}
	return o, nil
}

// vanished says what it means that a part of a table which was just there is not: the table is gone only when it does not
// read either.
func (p *table) vanished(ctx context.Context, name string) error {
	if _, _, err := p.look(ctx, name); err != nil {
		return err
	}
	return &resource.Error{Kind: resource.NotReady, Op: "DescribeTable", Executed: resource.No,
		Err: errors.New("its parts changed while they were read; look again")}
}

func observe(t *types.TableDescription, served time.Time) *resource.Observation {
	o := &resource.Observation{
		Key: resource.Key{"TableName": aws.ToString(t.TableName)},
		Params: value.Map{
			"TableName":            value.Of(aws.ToString(t.TableName)),
			"KeySchema":            keysOf(t.KeySchema),
			"AttributeDefinitions": attributesOf(t.AttributeDefinitions),
			"BillingMode":          value.Of(billing(t)),
		},
		Output:    value.Map{"Arn": value.Of(aws.ToString(t.TableArn))},
		Identity:  identity(t),
		CreatedAt: t.CreationDateTime.UTC(),
		ServedAt:  served,
		Gaps:      map[value.Path]resource.Gap{},
		NotReady:  working(t),
		Sources:   map[string]string{"object": "DescribeTable", "tags": "ListTagsOfResource"},
	}
	o.Ready = o.NotReady == ""
	settings(t, o)
	allCapacity(t, o.Params)
	var globals, locals []value.Value
	for _, g := range t.GlobalSecondaryIndexes {
		if g.IndexStatus != types.IndexStatusDeleting {
			globals = append(globals, globalOf(t, g))
		}
	}
	for _, l := range t.LocalSecondaryIndexes {
		locals = append(locals, value.OfMap(indexOf(l.IndexName, l.KeySchema, l.Projection)))
	}
	if len(globals) > 0 {
		o.Params["GlobalSecondaryIndexes"] = value.ListOf(globals...)
	}
	if len(locals) > 0 {
		o.Params["LocalSecondaryIndexes"] = value.ListOf(locals...)
	}
	return o
}

// billing returns the mode of a table; one without a summary was never anything but provisioned.
func billing(t *types.TableDescription) string {
	if t.BillingModeSummary == nil || t.BillingModeSummary.BillingMode == "" {
		return provisioned
	}
	return string(t.BillingModeSummary.BillingMode)
}

func settings(t *types.TableDescription, o *resource.Observation) {
	if t.TableClassSummary != nil {
		o.Params["TableClass"] = value.Of(string(t.TableClassSummary.TableClass))
	}
	if t.DeletionProtectionEnabled != nil {
		o.Params["DeletionProtectionEnabled"] = value.Of(*t.DeletionProtectionEnabled)
	}
	if s := t.SSEDescription; s != nil && s.Status != types.SSEStatusDisabled && s.Status != types.SSEStatusDisabling {
		m := value.Map{"SSEEnabled": value.Of(true)}
		if s.SSEType != "" {
			m["SSEType"] = value.Of(string(s.SSEType))
		}
		if s.KMSMasterKeyArn != nil {
			m["KMSMasterKeyId"] = value.Of(*s.KMSMasterKeyArn)
		}
		o.Params["SSESpecification"] = value.OfMap(m)
	}
	if streams(t) {
		o.Params["StreamSpecification"] = value.OfMap(value.Map{"StreamViewType": value.Of(string(t.StreamSpecification.StreamViewType))})
		if t.LatestStreamArn != nil {
			o.Output["StreamArn"] = value.Of(*t.LatestStreamArn)
		}
	}
}

// streams reports whether the table has a stream now; the ARN of the latest stays when it is turned off.
func streams(t *types.TableDescription) bool {
	return t.StreamSpecification != nil && aws.ToBool(t.StreamSpecification.StreamEnabled)
}

func allCapacity(t *types.TableDescription, params value.Map) {
	putCapacity(params, billing(t), t.ProvisionedThroughput, t.OnDemandThroughput)
	if w := t.WarmThroughput; w != nil {
		putWarm(params, w.ReadUnitsPerSecond, w.WriteUnitsPerSecond)
	}
}

// putCapacity leaves out the zeros that the service shows where capacity is not provisioned.
func putCapacity(params value.Map, mode string, units *types.ProvisionedThroughputDescription, bounds *types.OnDemandThroughput) {
	if mode == provisioned && units != nil {
		putNumbers(params, "ProvisionedThroughput", map[string]*int64{
			"ReadCapacityUnits": units.ReadCapacityUnits, "WriteCapacityUnits": units.WriteCapacityUnits})
	}
	if bounds != nil {
		putNumbers(params, "OnDemandThroughput", map[string]*int64{
			"MaxReadRequestUnits": bounds.MaxReadRequestUnits, "MaxWriteRequestUnits": bounds.MaxWriteRequestUnits})
	}
}

func putWarm(params value.Map, reads, writes *int64) {
	putNumbers(params, "WarmThroughput", map[string]*int64{"ReadUnitsPerSecond": reads, "WriteUnitsPerSecond": writes})
}

// putNumbers sets an object of the numbers that are there; none at all is no object.
func putNumbers(params value.Map, name string, numbers map[string]*int64) {
	m := value.Map{}
	for k, n := range numbers {
		if n != nil {
			m[k] = value.Of(*n)
		}
	}
	if len(m) > 0 {
		params[name] = value.OfMap(m)
	}
}

func keysOf(keys []types.KeySchemaElement) value.Value {
	list := make([]value.Value, 0, len(keys))
	for _, k := range keys {
		list = append(list, value.OfMap(value.Map{"AttributeName": value.Of(aws.ToString(k.AttributeName)), "KeyType": value.Of(string(k.KeyType))}))
	}
	return value.ListOf(list...)
}

func attributesOf(attrs []types.AttributeDefinition) value.Value {
	list := make([]value.Value, 0, len(attrs))
	for _, a := range attrs {
		list = append(list, value.OfMap(value.Map{
			"AttributeName": value.Of(aws.ToString(a.AttributeName)), "AttributeType": value.Of(string(a.AttributeType))}))
	}
	return value.ListOf(list...)
}

func indexOf(name *string, keys []types.KeySchemaElement, p *types.Projection) value.Map {
	m := value.Map{"IndexName": value.Of(aws.ToString(name)), "KeySchema": keysOf(keys)}
	if p == nil {
		return m
	}
	projected := value.Map{"ProjectionType": value.Of(string(p.ProjectionType))}
	if len(p.NonKeyAttributes) > 0 {
		projected["NonKeyAttributes"] = value.Of(p.NonKeyAttributes)
	}
	m["Projection"] = value.OfMap(projected)
	return m
}

func globalOf(t *types.TableDescription, g types.GlobalSecondaryIndexDescription) value.Value {
	m := indexOf(g.IndexName, g.KeySchema, g.Projection)
	putCapacity(m, billing(t), g.ProvisionedThroughput, g.OnDemandThroughput)
	if w := g.WarmThroughput; w != nil {
		putWarm(m, w.ReadUnitsPerSecond, w.WriteUnitsPerSecond)
	}
	return value.OfMap(m)
}

// Find implements resource.Finder. With a name it looks at that name only: the key of a table is pinned, so nothing of
// ours has another. Without one it looks at the tags of every table.
func (p *table) Find(ctx context.Context, q resource.Query) ([]resource.Candidate, error) {
	name := q.Key["TableName"]
	if name == "" {
		name = q.Like.Text("TableName")
	}
	if name != "" {
		return p.candidate(ctx, q, name)
	}
	if q.Nonce == "" && q.Resource == "" {
		return nil, nil
	}
	names, err := p.names(ctx)
	if err != nil {
		return nil, err
	}
	var found []resource.Candidate
	for _, name := range names {
		more, err := p.candidate(ctx, q, name)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// candidate returns the table of a name: always when it was asked for by name, else when its tags match.
func (p *table) candidate(ctx context.Context, q resource.Query, name string) ([]resource.Candidate, error) {
	byName := len(q.Key) > 0 || q.Like.Text("TableName") != ""
	t, served, err := p.look(ctx, name)
	if err != nil {
		return nil, session.SkipGone(err)
	}
	if !byName {
		tags, err := p.tagsOf(ctx, aws.ToString(t.TableArn))
		if err != nil {
			return nil, session.SkipGone(err)
		}
		if byNonce, byTags := session.Match(q, tags); !byNonce && !byTags {
			return nil, nil
		}
	}
	o, err := p.whole(ctx, t, served)
	if err != nil {
		return nil, session.SkipGone(err)
	}
	c := resource.Candidate{Observation: *o, ByName: byName}
	c.ByNonce, c.ByTags = session.Match(q, o.Owner)
	return []resource.Candidate{c}, nil
}

// names lists every table, all pages.
func (p *table) names(ctx context.Context) ([]string, error) {
	var names []string
	err := session.Pages("ListTables", func(token *string) (*string, error) {
		out, _, err := call(ctx, p, p.api.ListTables, &dynamodb.ListTablesInput{ExclusiveStartTableName: token})
		if err != nil {
			return nil, err
		}
		if out.TableNames == nil {
			return nil, session.Invalid("ListTables", "the answer holds no list")
		}
		names = append(names, out.TableNames...)
		return out.LastEvaluatedTableName, nil
	})
	return names, err
}
