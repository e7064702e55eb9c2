package dynamodb

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
	"reclaim/providers/aws/wire"
)

// Create implements resource.Provider: one CreateTable, with all that it can carry, tags included.
func (p *table) Create(ctx context.Context, c resource.Create) (resource.Created, error) {
	if err := wire.Whole("CreateTable", c.Params); err != nil {
		return resource.Created{}, err
	}
	in, err := createInput(c)
	if err != nil {
		return resource.Created{}, rejected("CreateTable", "%v", err)
	}
	out, reply, err := call(ctx, p, p.api.CreateTable, in, once)
	if err != nil {
		return resource.Created{}, wire.Conceal(p.existing(ctx, err, *in.TableName), c.Params)
	}
	t := out.TableDescription
	if t == nil || aws.ToString(t.TableName) != *in.TableName || aws.ToString(t.TableArn) == "" || t.CreationDateTime == nil {
		return resource.Created{}, session.Unacknowledged("CreateTable", reply, "it succeeded, but did not say what it made")
	}
	made := resource.Created{Key: resource.Key{"TableName": *in.TableName}, Identity: identity(t), ServedAt: reply.ServedAt,
		Output: value.Map{"Arn": value.Of(*t.TableArn)}, Unsent: unsentParams(c.Params)}
	if streams(t) && t.LatestStreamArn != nil {
		made.Output["StreamArn"] = value.Of(*t.LatestStreamArn)
	}
	return made, nil
}

// existing types a ResourceInUseException of CreateTable, which says that the table exists, or that the name is not free
// yet: only a read can tell. What cannot be read is taken as existing.
func (p *table) existing(ctx context.Context, err error, name string) error {
	e, ok := errors.AsType[*resource.Error](err)
	if !ok || e.Code != "ResourceInUseException" {
		return err
	}
	t, _, looked := p.look(ctx, name)
	switch {
	case session.Gone(looked):
		e.Err = fmt.Errorf("%w; no table of this name can be read, so it may be on its way in or out", e.Err)
	case looked == nil && t.TableStatus == types.TableStatusDeleting:
		e.Err = fmt.Errorf("%w; another table of this name is being deleted", e.Err)
	default:
		e.Kind = resource.AlreadyExists
	}
	return e
}

func rejected(operation, format string, args ...any) error {
	return &resource.Error{Kind: resource.Rejected, Op: operation, Executed: resource.No, Err: fmt.Errorf(format, args...)}
}

// on reports whether a specification with a switch of its own asks for something.
func on(v value.Value, name string) bool { return v.Get(name).IsTrue() }

// unsentParams are the params that have calls of their own, where they ask for something.
func unsentParams(m value.Map) []string {
	var unsent []string
	for name, asks := range map[string]bool{
		"TimeToLiveSpecification":          on(m["TimeToLiveSpecification"], "Enabled"),
		"PointInTimeRecoverySpecification": on(m["PointInTimeRecoverySpecification"], "PointInTimeRecoveryEnabled"),
		"ContributorInsightsSpecification": on(m["ContributorInsightsSpecification"], "Enabled"),
		"KinesisStreamSpecification":       wire.Set(m["KinesisStreamSpecification"]),
		"StreamSpecification":              !wire.Empty(m["StreamSpecification"].Get("ResourcePolicy")),
		"GlobalSecondaryIndexes":           watched(m["GlobalSecondaryIndexes"]),
	} {
		if asks {
			unsent = append(unsent, name)
		}
	}
	return unsent
}

// watched reports whether one of the indexes asks for contributor insights.
func watched(indexes value.Value) bool {
	for _, g := range indexes.Items() {
		if on(g.Get("ContributorInsightsSpecification"), "Enabled") {
			return true
		}
	}
	return false
}

func createInput(c resource.Create) (*dynamodb.CreateTableInput, error) {
	m := c.Params
	in := &dynamodb.CreateTableInput{
		TableName:                 aws.String(c.Key["TableName"]),
		KeySchema:                 keys(m["KeySchema"]),
		AttributeDefinitions:      attributes(m["AttributeDefinitions"]),
		BillingMode:               types.BillingMode(wire.Name(m["BillingMode"])),
		ProvisionedThroughput:     provisionedUnits(m["ProvisionedThroughput"]),
		OnDemandThroughput:        bounds(m["OnDemandThroughput"]),
		WarmThroughput:            warmUnits(m["WarmThroughput"]),
		TableClass:                types.TableClass(wire.Name(m["TableClass"])),
		DeletionProtectionEnabled: wire.Bool(m["DeletionProtectionEnabled"]),
		Tags:                      tagList(wire.Join(wire.Tags(m["Tags"]), c.Tags)),
	}
	for _, g := range m["GlobalSecondaryIndexes"].Items() {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: wire.Text(g.Get("IndexName")), KeySchema: keys(g.Get("KeySchema")), Projection: projected(g.Get("Projection")),
			ProvisionedThroughput: provisionedUnits(g.Get("ProvisionedThroughput")), OnDemandThroughput: bounds(g.Get("OnDemandThroughput")),
			WarmThroughput: warmUnits(g.Get("WarmThroughput"))})
	}
	for _, l := range m["LocalSecondaryIndexes"].Items() {
		in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes, types.LocalSecondaryIndex{
			IndexName: wire.Text(l.Get("IndexName")), KeySchema: keys(l.Get("KeySchema")), Projection: projected(l.Get("Projection"))})
	}
	if on(m["SSESpecification"], "SSEEnabled") {
		in.SSESpecification = encryption(m["SSESpecification"])
	}
	if view := wire.Name(m["StreamSpecification"].Get("StreamViewType")); view != "" {
		in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewType(view)}
	}
	if doc := m["ResourcePolicy"].Get("PolicyDocument"); !wire.Empty(doc) {
		text, err := wire.Document(doc)
		if err != nil {
			return nil, err
		}
		in.ResourcePolicy = &text
	}
	return in, nil
}

func keys(v value.Value) []types.KeySchemaElement {
	var out []types.KeySchemaElement
	for _, k := range v.Items() {
		out = append(out, types.KeySchemaElement{AttributeName: wire.Text(k.Get("AttributeName")), KeyType: types.KeyType(wire.Name(k.Get("KeyType")))})
	}
	return out
}

func attributes(v value.Value) []types.AttributeDefinition {
	var out []types.AttributeDefinition
	for _, a := range v.Items() {
		out = append(out, types.AttributeDefinition{AttributeName: wire.Text(a.Get("AttributeName")),
			AttributeType: types.ScalarAttributeType(wire.Name(a.Get("AttributeType")))})
	}
	return out
}

func projected(v value.Value) *types.Projection {
	p := &types.Projection{ProjectionType: types.ProjectionType(wire.Name(v.Get("ProjectionType")))}
	if names := v.Get("NonKeyAttributes"); !wire.Empty(names) {
		p.NonKeyAttributes = wire.Strings(names)
	}
	return p
}

func number(v value.Value) *int64 {
	if n, ok := v.Int(); ok {
		return &n
	}
	return nil
}

func provisionedUnits(v value.Value) *types.ProvisionedThroughput {
	if wire.Empty(v) {
		return nil
	}
	return &types.ProvisionedThroughput{ReadCapacityUnits: number(v.Get("ReadCapacityUnits")), WriteCapacityUnits: number(v.Get("WriteCapacityUnits"))}
}

func bounds(v value.Value) *types.OnDemandThroughput {
	if wire.Empty(v) {
		return nil
	}
	return &types.OnDemandThroughput{MaxReadRequestUnits: number(v.Get("MaxReadRequestUnits")), MaxWriteRequestUnits: number(v.Get("MaxWriteRequestUnits"))}
}

func warmUnits(v value.Value) *types.WarmThroughput {
	if wire.Empty(v) {
		return nil
	}
	return &types.WarmThroughput{ReadUnitsPerSecond: number(v.Get("ReadUnitsPerSecond")), WriteUnitsPerSecond: number(v.Get("WriteUnitsPerSecond"))}
}

// encryption is what to send for an SSESpecification; nothing but "off" goes with one that is off.
func encryption(v value.Value) *types.SSESpecification {
	if !on(v, "SSEEnabled") {
		return &types.SSESpecification{Enabled: aws.Bool(false)}
	}
	s := &types.SSESpecification{Enabled: aws.Bool(true), SSEType: types.SSEType(wire.Name(v.Get("SSEType")))}
	if key := v.Get("KMSMasterKeyId"); !wire.Empty(key) {
		s.KMSMasterKeyId = wire.Text(key)
	}
	return s
}

func tagList(tags map[string]string) []types.Tag {
	var out []types.Tag
	for _, name := range value.Of(tags).Fields().Keys() {
		out = append(out, types.Tag{Key: aws.String(name), Value: aws.String(tags[name])})
	}
	return out
}

// Unmake implements resource.Provider: nothing has to go first. A protection against deletion is for its owner to lift.
func (p *table) Unmake(resource.Delete, *resource.Observation) ([]resource.Call, error) {
	return nil, nil
}

// Delete implements resource.Provider. Without consent nothing is even looked at (SAFETY S25). One that is being deleted
// already is left to it.
func (p *table) Delete(ctx context.Context, d resource.Delete) error {
	if !d.Consent {
		return rejected("DeleteTable", "it deletes the items in the table, and nobody consented to that; allow it by name")
	}
	t, served, err := p.look(ctx, d.Key["TableName"])
	if err != nil {
		return err
	}
	o := observe(t, served)
	if _, known := d.Expect.Same(o.Identity); !known && d.Nonce != "" {
		if err := p.readTags(ctx, t, o); err != nil {
			return err
		}
	}
	if err := session.Confirm("DeleteTable", d, o); err != nil {
		return err
	}
	if t.TableStatus == types.TableStatusDeleting {
		return nil
	}
	if aws.ToBool(t.DeletionProtectionEnabled) {
		return &resource.Error{Kind: resource.InUse, Op: "DeleteTable", Executed: resource.No, Blockers: []string{"DeletionProtectionEnabled"},
			Err: errors.New("the table is protected against deletion and nothing was sent; set DeletionProtectionEnabled to false, deploy, then delete it")}
	}
	if _, err := p.idle(ctx, "DeleteTable", *t.TableName, o.Identity); err != nil {
		return err
	}
	_, _, err = call(ctx, p, p.api.DeleteTable, &dynamodb.DeleteTableInput{TableName: t.TableName}, once)
	return err
}
