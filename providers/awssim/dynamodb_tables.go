package awssim

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
)

// Shapes of DynamoDB's model. Wherever a table's name is asked for, its ARN will do.
var (
	tableNameShape = newShape(3, 255, `[a-zA-Z0-9_.-]+`)
	tableRefShape  = shape{min: 1, max: 1024}
)

const (
	maxTableTags    = 50
	maxListTables   = 100
	maxGlobals      = 20
	maxLocals       = 5
	maxProjected    = 100 // NonKeyAttributes over all indexes
	tagsOfTablePage = 10
)

func tableOperations() []operation {
	name := []string{"TableName"}
	return []operation{
		{"CreateTable", name, (*Server).createTable},
		{"DescribeTable", name, (*Server).describeTable},
		{"ListTables", nil, (*Server).listTables},
		{"UpdateTable", name, (*Server).updateTable},
		{"DeleteTable", name, (*Server).deleteTable},
	}
}

// shaped reads a call's params into a struct of the model's member names.
func shaped[T any](c *call) (in T, f *failure) {
	raw, err := json.Marshal(c.params)
	if err == nil {
		err = json.Unmarshal(raw, &in)
	}
	if err != nil {
		return in, fail("SerializationException", http.StatusBadRequest, "a member has another type than the model says")
	}
	return in, nil
}

func noTable(name string) *failure {
	return fail("ResourceNotFoundException", http.StatusBadRequest, "Requested resource not found: Table: %s not found", name)
}

func inUse(format string, args ...any) *failure {
	return fail("ResourceInUseException", http.StatusBadRequest, format, args...)
}

func tooMany(format string, args ...any) *failure {
	return fail("LimitExceededException", http.StatusBadRequest, format, args...)
}

func (s *Server) findTable(c *call, name string) *Table {
	s.passTables(c.now)
	return find(s.state.Tables, func(t *Table) bool { return t.Account == c.account && t.Region == c.region && t.Name == name })
}

// table finds the table that TableName names. A read does not see one that is too young.
func (s *Server) table(c *call, read bool) (*Table, *failure) {
	a := c.args()
	ref := a.need("TableName", tableRefShape)
	if f := a.failure(); f != nil {
		return nil, f
	}
	name := nameOf(ref)
	t := s.findTable(c, name)
	if t == nil || read && !c.sees(t.Birth) {
		return nil, noTable(name)
	}
	return t, nil
}

// idleTable is table for an operation that the service does not take while it works on the table.
func (s *Server) idleTable(c *call) (*Table, *failure) {
	t, f := s.table(c, false)
	if f != nil {
		return nil, f
	}
	return t, t.busy(c.now)
}

func (t *Table) busy(now time.Time) *failure {
	doing := map[string]string{"CREATING": "created", "UPDATING": "updated", "DELETING": "deleted"}[t.status(now)]
	if doing == "" {
		return nil
	}
	return inUse("Attempt to change a resource which is still in use: Table is being %s: %s", doing, t.Name)
}

type tableIn struct {
	AttributeDefinitions      []TableAttr
	KeySchema                 []TableKey
	GlobalSecondaryIndexes    []indexIn
	LocalSecondaryIndexes     []LocalIndex
	BillingMode               string
	ProvisionedThroughput     *Units
	OnDemandThroughput        *MaxUnits
	WarmThroughput            *WarmUnits
	TableClass                string
	DeletionProtectionEnabled *bool
	SSESpecification          *sseIn
	StreamSpecification       *streamIn
	ResourcePolicy            *string
	Tags                      []tagXML
}

type indexIn struct {
	LocalIndex
	ProvisionedThroughput *Units
	OnDemandThroughput    *MaxUnits
	WarmThroughput        *WarmUnits
}

type sseIn struct {
	Enabled                 *bool
	SSEType, KMSMasterKeyID string
}

type streamIn struct {
	StreamEnabled  *bool
	StreamViewType string
}

func (s *Server) createTable(c *call) (any, *failure) {
	in, f := shaped[tableIn](c)
	a := c.args()
	ref := a.need("TableName", tableRefShape)
	if f == nil {
		f = a.failure()
	}
	if f != nil {
		return nil, f
	}
	t := &Table{Birth: c.born(), Account: c.account, Region: c.region, Name: nameOf(ref), ID: requestID(), Attributes: in.AttributeDefinitions,
		Keys: in.KeySchema, Globals: []*GlobalIndex{}, Locals: in.LocalSecondaryIndexes, Tags: map[string]string{}, Policies: map[string]string{},
		Streaming: []*TableStreaming{}, Items: map[string]ItemOfTable{}, Protected: isTrue(in.DeletionProtectionEnabled)}
	t.CreatedAt = t.CreatedAt.Truncate(time.Millisecond)
	t.CreatedTill = c.now.Add(s.scaled(tableCreates))
	for _, check := range []func() *failure{
		func() *failure { a.check("tableName", t.Name, tableNameShape); return a.failure() },
		func() *failure { return t.takeIndexes(c, in) },
		func() *failure { return t.checkKeys() },
		func() *failure { return t.takeCapacity(in) },
		func() *failure { return t.takeSettings(c, in) },
		func() *failure { return t.takeTags(c, in.Tags) },
	} {
		if f := check(); f != nil {
			return nil, f
		}
	}
	if s.findTable(c, t.Name) != nil {
		return nil, inUse("Table already exists: %s", t.Name)
	}
	s.state.Tables = append(s.state.Tables, t)
	return map[string]any{"TableDescription": s.showTable(t, c.now)}, nil
}

// takeIndexes takes the indexes of a create.
func (t *Table) takeIndexes(c *call, in tableIn) *failure {
	for param, empty := range map[string]bool{
		"GlobalSecondaryIndexes": in.GlobalSecondaryIndexes != nil && len(in.GlobalSecondaryIndexes) == 0,
		"LocalSecondaryIndexes":  in.LocalSecondaryIndexes != nil && len(in.LocalSecondaryIndexes) == 0,
	} {
		if empty {
			return badParams("List of %s is empty", param)
		}
	}
	if len(in.GlobalSecondaryIndexes) > maxGlobals || len(in.LocalSecondaryIndexes) > maxLocals {
		return tooMany("A table can have at most %d global and %d local secondary indexes.", maxGlobals, maxLocals)
	}
	for _, g := range in.GlobalSecondaryIndexes {
		sortProjection(&g.LocalIndex)
		t.Globals = append(t.Globals, &GlobalIndex{LocalIndex: g.LocalIndex, CreatedTill: t.CreatedTill,
			Capacity: Capacity{g.ProvisionedThroughput, g.OnDemandThroughput, g.WarmThroughput}})
	}
	for i := range t.Locals {
		sortProjection(&t.Locals[i])
	}
	return nil
}

// sortProjection: projected attributes come back in an order of the service's.
func sortProjection(i *LocalIndex) { slices.Sort(i.Projection.NonKeyAttributes) }

// checkKeys checks keys, indexes and attribute definitions against each other.
func (t *Table) checkKeys() *failure {
	if f := checkKeySchema(t.Keys, 1, 1); f != nil {
		return f
	}
	seen, projected := map[string]bool{}, 0
	index := func(i LocalIndex) *failure {
		projected += len(i.Projection.NonKeyAttributes)
		if seen[i.IndexName] {
			return badParams("Duplicate index name: %s", i.IndexName)
		}
		seen[i.IndexName] = true
		return checkIndex(i)
	}
	for _, l := range t.Locals {
		if f := index(l); f != nil {
			return f
		}
		if len(t.Keys) != 2 || len(l.KeySchema) != 2 || l.KeySchema[0].AttributeName != t.Keys[0].AttributeName {
			return badParams("Table KeySchema does not have a range key, or index %s does not begin with the table's hash key", l.IndexName)
		}
	}
	for _, g := range t.Globals {
		if f := index(g.LocalIndex); f != nil {
			return f
		}
	}
	if projected > maxProjected {
		return badParams("Number of NonKeyAttributes over all indexes exceeds %d", maxProjected)
	}
	return t.checkAttributes()
}

func checkIndex(i LocalIndex) *failure {
	a := (&call{service: "dynamodb"}).args()
	a.check("indexName", i.IndexName, tableNameShape)
	if f := a.failure(); f != nil {
		return f
	}
	if f := checkKeySchema(i.KeySchema, 4, 4); f != nil {
		return f
	}
	some := len(i.Projection.NonKeyAttributes) > 0
	switch i.Projection.ProjectionType {
	case "ALL", "KEYS_ONLY":
		if some {
			return badParams("ProjectionType is %s, but NonKeyAttributes is specified", i.Projection.ProjectionType)
		}
	case "INCLUDE":
		if !some {
			return badParams("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
		}
	default:
		return badParams("Unknown ProjectionType: %s", i.Projection.ProjectionType)
	}
	return nil
}

// checkKeySchema: hash keys first, then range keys, at most so many of each.
func checkKeySchema(keys []TableKey, hashes, ranges int) *failure {
	var h, r int
	seen := map[string]bool{}
	for _, k := range keys {
		switch {
		case k.KeyType == "HASH" && r == 0:
			h++
		case k.KeyType == "RANGE" && h > 0:
			r++
		case k.KeyType != "HASH" && k.KeyType != "RANGE":
			return badTable("1 validation error detected: Value '%s' at 'keySchema.member.keyType' failed to satisfy constraint: Member must satisfy enum value set: [HASH, RANGE]", k.KeyType)
		default:
			return badTable("Invalid KeySchema: The first KeySchemaElement is not a HASH key type, or a HASH follows a RANGE")
		}
		if seen[k.AttributeName] {
			return badParams("Both the Hash Key and the Range Key element in the KeySchema have the same name")
		}
		seen[k.AttributeName] = true
	}
	if h == 0 || h > hashes || r > ranges {
		return badTable("1 validation error detected: Value at 'keySchema' failed to satisfy constraint: Member must have length between 1 and %d", hashes+ranges)
	}
	return nil
}

// checkAttributes: each key attribute is defined once, and nothing else is.
func (t *Table) checkAttributes() *failure {
	used, defined := t.keyNames(), map[string]bool{}
	for _, d := range t.Attributes {
		if !slices.Contains([]string{"S", "N", "B"}, d.AttributeType) {
			return badTable("1 validation error detected: Value '%s' at 'attributeDefinitions.member.attributeType' failed to satisfy constraint: Member must satisfy enum value set: [B, N, S]", d.AttributeType)
		}
		if defined[d.AttributeName] {
			return badParams("Cannot redefine attribute '%s'", d.AttributeName)
		}
		defined[d.AttributeName] = true
	}
	if !maps.Equal(used, defined) {
		return badParams("Some index key attributes are not defined, or some AttributeDefinitions are not used. Keys: %v, AttributeDefinitions: %v",
			sortedKeys(used), sortedKeys(defined))
	}
	sortAttributes(t.Attributes)
	return nil
}

func (s *Server) describeTable(c *call) (any, *failure) {
	t, f := s.table(c, true)
	if f != nil {
		return nil, f
	}
	return map[string]any{"Table": s.showTable(t, c.now)}, nil
}

func (s *Server) listTables(c *call) (any, *failure) {
	a := c.args()
	after := a.opt("ExclusiveStartTableName", shape{min: 3, max: 255})
	limit := a.integer("Limit", maxListTables, 1, maxListTables)
	if f := a.failure(); f != nil {
		return nil, f
	}
	s.passTables(c.now)
	names := []string{}
	for _, t := range s.state.Tables {
		if t.Account == c.account && t.Region == c.region && c.sees(t.Birth) && (after == nil || t.Name > *after) {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	out := map[string]any{"TableNames": names}
	if len(names) > limit {
		out["TableNames"], out["LastEvaluatedTableName"] = names[:limit], names[limit-1]
	}
	return out, nil
}

func (s *Server) deleteTable(c *call) (any, *failure) {
	t, f := s.table(c, false)
	if f != nil {
		return nil, f
	}
	switch status := t.status(c.now); {
	case status == "CREATING" || status == "UPDATING":
		return nil, t.busy(c.now)
	case t.Protected:
		return nil, badTable("Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	case status == "ACTIVE":
		t.DeletedTill = c.now.Add(s.scaled(tableDeletes))
	}
	return map[string]any{"TableDescription": map[string]any{"TableName": t.Name, "TableArn": t.arn(), "TableId": t.ID, "TableStatus": "DELETING"}}, nil
}

// epoch is how awsJson writes a time: seconds, to the millisecond.
func epoch(t time.Time) json.Number {
	ms := t.UnixMilli()
	return json.Number(fmt.Sprintf("%d.%03d", ms/1000, ms%1000))
}
