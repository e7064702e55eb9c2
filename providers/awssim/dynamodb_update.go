package awssim

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"time"
)

type updateIn struct {
	AttributeDefinitions        []TableAttr
	GlobalSecondaryIndexUpdates []struct {
		Create, Update, Delete *indexIn
	}
	BillingMode               string
	ProvisionedThroughput     *Units
	OnDemandThroughput        *MaxUnits
	WarmThroughput            *WarmUnits
	TableClass                string
	DeletionProtectionEnabled *bool
	SSESpecification          *sseIn
	StreamSpecification       *streamIn
}

// updateTable makes one kind of change. That AWS also takes some kinds together is nothing that a client may count on.
func (s *Server) updateTable(c *call) (any, *failure) {
	in, f := shaped[updateIn](c)
	if f != nil {
		return nil, f
	}
	t, f := s.idleTable(c)
	if f != nil {
		return nil, f
	}
	next := t.copy()
	changes := map[string]func() *failure{}
	add := func(kind string, asked bool, change func() *failure) {
		if asked {
			changes[kind] = change
		}
	}
	units, come, gone := in.kinds()
	add("throughput", units, func() *failure { return next.updateCapacity(in) })
	add("index", come+gone > 0, func() *failure { return s.updateIndex(c, next, in, come+gone) })
	add("class", in.TableClass != "", func() *failure { return next.takeClass(in.TableClass) })
	add("protection", in.DeletionProtectionEnabled != nil, func() *failure { next.Protected = *in.DeletionProtectionEnabled; return nil })
	add("encryption", in.SSESpecification != nil, func() *failure { return next.takeSSE(*in.SSESpecification) })
	add("stream", in.StreamSpecification != nil, func() *failure { return next.takeStream(c, *in.StreamSpecification) })
	switch len(changes) {
	case 0:
		return nil, badTable("At least one of ProvisionedThroughput, BillingMode, StreamSpecification, GlobalSecondaryIndexUpdates, SSESpecification, TableClass, DeletionProtectionEnabled, OnDemandThroughput or WarmThroughput is required")
	case 1:
	default:
		return nil, badParams("Only one kind of change can be made at once, not %v", sortedKeys(changes))
	}
	for _, change := range changes {
		if f := change(); f != nil {
			return nil, f
		}
	}
	next.UpdatedTill = c.now.Add(s.scaled(tableUpdates))
	*t = *next
	return map[string]any{"TableDescription": s.showTable(t, c.now)}, nil
}

// copy is a table to change before it is known whether the change is taken.
func (t *Table) copy() *Table {
	raw := mustJSON(t)
	var out Table
	if err := json.Unmarshal(raw, &out); err != nil {
		panic("awssim: copy table: " + err.Error()) // it is plain data; this cannot happen
	}
	return &out
}

// kinds says what an update is about: units of any kind, how many indexes come and how many go.
func (in updateIn) kinds() (units bool, come, gone int) {
	units = in.BillingMode != "" || in.ProvisionedThroughput != nil || in.OnDemandThroughput != nil || in.WarmThroughput != nil
	for _, u := range in.GlobalSecondaryIndexUpdates {
		switch {
		case u.Create != nil:
			come++
		case u.Delete != nil:
			gone++
		case u.Update != nil:
			units = true
		}
	}
	return units, come, gone
}

// updateCapacity changes billing mode and units, of the table and its indexes.
func (t *Table) updateCapacity(in updateIn) *failure {
	was := t.copy()
	switch in.BillingMode {
	case "":
	case "PAY_PER_REQUEST":
		t.Billing, t.Provisioned = in.BillingMode, nil
		for _, g := range t.Globals {
			g.Provisioned = nil
		}
	case "PROVISIONED":
		t.Billing = in.BillingMode
		if t.onDemand() != was.onDemand() {
			t.OnDemand = nil
			for _, g := range t.Globals {
				g.OnDemand = nil
			}
		}
	default:
		return badTable("1 validation error detected: Value '%s' at 'billingMode' failed to satisfy constraint: Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]", in.BillingMode)
	}
	if f := t.Capacity.update("table "+t.Name, was.onDemand(), in.ProvisionedThroughput, in.OnDemandThroughput, in.WarmThroughput); f != nil {
		return f
	}
	for _, u := range in.GlobalSecondaryIndexUpdates {
		g := t.global(u.Update.IndexName)
		if g == nil {
			return fail("ResourceNotFoundException", http.StatusBadRequest, "Requested resource not found: Index: %s not found", u.Update.IndexName)
		}
		if f := g.Capacity.update("index "+g.IndexName, was.onDemand(), u.Update.ProvisionedThroughput, u.Update.OnDemandThroughput, u.Update.WarmThroughput); f != nil {
			return f
		}
	}
	return t.checkCapacity()
}

// update takes new units. Provisioned ones that are the old ones are refused, and what is warm never cools.
func (x *Capacity) update(of string, wasOnDemand bool, units *Units, most *MaxUnits, warm *WarmUnits) *failure {
	if units != nil {
		if x.Provisioned != nil && *x.Provisioned == *units {
			return badTable("The provisioned throughput for the %s will not change. The requested value equals the current value.", of)
		}
		x.Provisioned = units
	}
	if most != nil {
		x.OnDemand = most
	}
	if warm == nil {
		return nil
	}
	reads, writes := x.warm(wasOnDemand)
	if warm.ReadUnitsPerSecond != nil && *warm.ReadUnitsPerSecond < reads || warm.WriteUnitsPerSecond != nil && *warm.WriteUnitsPerSecond < writes {
		return badParams("WarmThroughput of the %s can only be increased, from %d and %d", of, reads, writes)
	}
	x.Warm = warm
	return nil
}

// updateIndex makes or removes one global index.
func (s *Server) updateIndex(c *call, t *Table, in updateIn, changes int) *failure {
	for _, g := range t.Globals {
		if status := g.status(c.now); status == "CREATING" || status == "DELETING" {
			changes++
		}
	}
	if changes > 1 {
		return tooMany("Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table")
	}
	for _, u := range in.GlobalSecondaryIndexUpdates {
		switch {
		case u.Create != nil:
			return s.makeIndex(c, t, *u.Create, in.AttributeDefinitions)
		case u.Delete != nil:
			return s.dropIndex(c, t, u.Delete.IndexName)
		}
	}
	return nil
}

func (s *Server) makeIndex(c *call, t *Table, in indexIn, attrs []TableAttr) *failure {
	if t.global(in.IndexName) != nil || slices.ContainsFunc(t.Locals, func(l LocalIndex) bool { return l.IndexName == in.IndexName }) {
		return badParams("Attempting to create an index which already exists: %s", in.IndexName)
	}
	if len(t.Globals) == maxGlobals {
		return tooMany("A table can have at most %d global secondary indexes.", maxGlobals)
	}
	sortProjection(&in.LocalIndex)
	g := &GlobalIndex{LocalIndex: in.LocalIndex, Capacity: Capacity{in.ProvisionedThroughput, in.OnDemandThroughput, in.WarmThroughput},
		CreatedTill: c.now.Add(s.scaled(indexBuilds))}
	for _, d := range attrs {
		i := slices.IndexFunc(t.Attributes, func(o TableAttr) bool { return o.AttributeName == d.AttributeName })
		switch {
		case i < 0:
			t.Attributes = append(t.Attributes, d)
		case t.Attributes[i] != d:
			return badParams("Cannot redefine attribute '%s'", d.AttributeName)
		}
	}
	t.Globals = append(t.Globals, g)
	slices.SortFunc(t.Globals, func(a, b *GlobalIndex) int { return -compareText(a.IndexName, b.IndexName) })
	if f := t.checkKeys(); f != nil {
		return f
	}
	return t.checkCapacity()
}

// dropIndex removes an index, and with it the definitions that no other key uses.
func (s *Server) dropIndex(c *call, t *Table, name string) *failure {
	g := t.global(name)
	if g == nil || !g.DeletedTill.IsZero() {
		return fail("ResourceNotFoundException", http.StatusBadRequest, "Requested resource not found: Index: %s not found", name)
	}
	g.DeletedTill = c.now.Add(s.scaled(indexDeletes))
	used := t.keyNames()
	t.Attributes = slices.DeleteFunc(t.Attributes, func(d TableAttr) bool { return !used[d.AttributeName] })
	return nil
}

func compareText(a, b string) int {
	if a < b {
		return -1
	}
	return 1
}

func tableAspectOperations() []operation {
	name, arn := []string{"TableName"}, []string{"ResourceArn"}
	return []operation{
		{"TagResource", arn, (*Server).tagTable},
		{"UntagResource", arn, (*Server).untagTable},
		{"ListTagsOfResource", arn, (*Server).listTableTags},
		{"DescribeTimeToLive", name, (*Server).describeTimeToLive},
		{"UpdateTimeToLive", name, (*Server).updateTimeToLive},
		{"DescribeContinuousBackups", name, (*Server).describeBackups},
		{"UpdateContinuousBackups", name, (*Server).updateBackups},
		{"DescribeContributorInsights", name, (*Server).describeInsights},
		{"UpdateContributorInsights", name, (*Server).updateInsights},
		{"GetResourcePolicy", arn, (*Server).getTablePolicy},
		{"PutResourcePolicy", arn, (*Server).putTablePolicy},
		{"DeleteResourcePolicy", arn, (*Server).deleteTablePolicy},
		{"DescribeKinesisStreamingDestination", name, (*Server).describeStreaming},
		{"EnableKinesisStreamingDestination", name, (*Server).enableStreaming},
		{"DisableKinesisStreamingDestination", name, (*Server).disableStreaming},
		{"UpdateKinesisStreamingDestination", name, (*Server).updateStreaming},
	}
}

// turning is the status of what was turned on or off and takes its time.
func turning(on bool, till, now time.Time, doing, done map[bool]string) string {
	if now.Before(till) {
		return doing[on]
	}
	return done[on]
}

var (
	switching = map[bool]string{true: "ENABLING", false: "DISABLING"}
	switched  = map[bool]string{true: "ENABLED", false: "DISABLED"}
	streaming = map[bool]string{true: "ACTIVE", false: "DISABLED"}
)

// arnTable finds the table that ResourceArn names: its own ARN, or where streams count also that of its latest stream.
func (s *Server) arnTable(c *call, a *args, read bool) (*Table, string, *failure) {
	arn := a.need("ResourceArn", shape{min: 1, max: 1283})
	if f := a.failure(); f != nil {
		return nil, "", f
	}
	name := nameOf(arn)
	t := s.findTable(c, name)
	if t == nil || read && !c.sees(t.Birth) || arn != t.arn() && (t.StreamLabel == "" || arn != t.streamARN()) {
		return nil, "", fail("ResourceNotFoundException", http.StatusBadRequest, "Requested resource not found: ResourcArn: %s not found", arn)
	}
	return t, arn, nil
}

func (s *Server) tagTable(c *call) (any, *failure) {
	in, f := shaped[struct{ Tags []tagXML }](c)
	if f != nil {
		return nil, f
	}
	a := c.args()
	if !a.has("Tags") {
		a.missing("Tags")
	}
	t, _, f := s.arnTable(c, a, false)
	if f != nil {
		return nil, f
	}
	next := &Table{Tags: maps.Clone(t.Tags)}
	if f := next.takeTags(c, in.Tags); f != nil {
		return nil, f
	}
	t.Tags = next.Tags
	return nil, nil
}

func (s *Server) untagTable(c *call) (any, *failure) {
	a := c.args()
	if !a.has("TagKeys") {
		a.missing("TagKeys")
	}
	keys := a.list("TagKeys", tagKeyShape)
	t, _, f := s.arnTable(c, a, false)
	if f != nil {
		return nil, f
	}
	for _, k := range keys {
		if reserved(k) && !c.stranger {
			return nil, badParams("Tag keys that start with aws: are reserved: %s", k)
		}
	}
	for _, k := range keys {
		delete(t.Tags, k)
	}
	return nil, nil
}

func (s *Server) listTableTags(c *call) (any, *failure) {
	a := c.args()
	token := a.opt("NextToken", tokenShape)
	t, _, f := s.arnTable(c, a, true)
	if f != nil {
		return nil, f
	}
	after := ""
	if token != nil {
		after = *token
	}
	keys, next, ok := page(sortedKeys(t.Tags), itself, after, tagsOfTablePage)
	if !ok {
		return nil, badTable("The specified NextToken is invalid.")
	}
	out := struct {
		Tags      []tagXML
		NextToken string `json:",omitempty"`
	}{[]tagXML{}, next}
	for _, k := range keys {
		out.Tags = append(out.Tags, tagXML{k, t.Tags[k]})
	}
	return out, nil
}
