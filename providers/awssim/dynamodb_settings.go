package awssim

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Of an on-demand table and its indexes, what each can take at once without having been asked for.
const (
	warmReads  = 12000
	warmWrites = 4000
)

var (
	streamViews  = []string{"NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY"}
	tableClasses = []string{"STANDARD", "STANDARD_INFREQUENT_ACCESS"}
	tableKMSKey  = regexp.MustCompile(`^(arn:aws:kms:[a-z0-9-]+:\d{12}:)?(key/|alias/)?[A-Za-z0-9/_-]+$`)
)

// takeCapacity takes billing mode and units of a create.
func (t *Table) takeCapacity(in tableIn) *failure {
	switch in.BillingMode {
	case "", "PROVISIONED":
	case "PAY_PER_REQUEST":
		t.Billing = in.BillingMode
	default:
		return badTable("1 validation error detected: Value '%s' at 'billingMode' failed to satisfy constraint: Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]", in.BillingMode)
	}
	t.Capacity = Capacity{in.ProvisionedThroughput, in.OnDemandThroughput, in.WarmThroughput}
	return t.checkCapacity()
}

// checkCapacity: units where capacity is provisioned, bounds where it is not.
func (t *Table) checkCapacity() *failure {
	if f := t.Capacity.check("table", t.onDemand()); f != nil {
		return f
	}
	for _, g := range t.Globals {
		if f := g.Capacity.check("index: "+g.IndexName, t.onDemand()); f != nil {
			return f
		}
	}
	return nil
}

func (x Capacity) check(of string, onDemand bool) *failure {
	switch {
	case onDemand && x.Provisioned != nil:
		return badParams("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST (%s)", of)
	case !onDemand && x.Provisioned == nil:
		return badParams("ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED (%s)", of)
	case !onDemand && x.OnDemand != nil:
		return badParams("OnDemandThroughput can only be specified when BillingMode is PAY_PER_REQUEST (%s)", of)
	case x.Provisioned != nil && (x.Provisioned.ReadCapacityUnits < 1 || x.Provisioned.WriteCapacityUnits < 1):
		return badTable("1 validation error detected: Value at 'provisionedThroughput' failed to satisfy constraint: Member must have value greater than or equal to 1 (%s)", of)
	case x.OnDemand != nil && x.OnDemand.MaxReadRequestUnits == nil && x.OnDemand.MaxWriteRequestUnits == nil:
		return badParams("OnDemandThroughput needs MaxReadRequestUnits or MaxWriteRequestUnits (%s)", of)
	}
	reads, writes := x.base(onDemand)
	if w := x.Warm; w != nil && (w.ReadUnitsPerSecond != nil && *w.ReadUnitsPerSecond < reads || w.WriteUnitsPerSecond != nil && *w.WriteUnitsPerSecond < writes) {
		return badParams("Requested units per second for WarmThroughput for %s are lower than what it has", of)
	}
	return nil
}

// base is what is warm without having been asked for.
func (x Capacity) base(onDemand bool) (reads, writes int64) {
	if onDemand || x.Provisioned == nil {
		return warmReads, warmWrites
	}
	return x.Provisioned.ReadCapacityUnits, x.Provisioned.WriteCapacityUnits
}

// warm is what is warm now: never less than what was asked for.
func (x Capacity) warm(onDemand bool) (reads, writes int64) {
	reads, writes = x.base(onDemand)
	if x.Warm != nil && x.Warm.ReadUnitsPerSecond != nil {
		reads = max(reads, *x.Warm.ReadUnitsPerSecond)
	}
	if x.Warm != nil && x.Warm.WriteUnitsPerSecond != nil {
		writes = max(writes, *x.Warm.WriteUnitsPerSecond)
	}
	return reads, writes
}

// takeSettings takes what a create says besides keys and capacity.
func (t *Table) takeSettings(c *call, in tableIn) *failure {
	if in.TableClass != "" {
		if f := t.takeClass(in.TableClass); f != nil {
			return f
		}
	}
	if in.SSESpecification != nil {
		if f := t.takeSSE(*in.SSESpecification); f != nil {
			return f
		}
	}
	if s := in.StreamSpecification; s != nil && (s.StreamEnabled == nil || *s.StreamEnabled || s.StreamViewType != "") {
		if f := t.takeStream(c, *s); f != nil {
			return f
		}
	}
	if in.ResourcePolicy != nil {
		return t.takePolicy(t.arn(), *in.ResourcePolicy)
	}
	return nil
}

func (t *Table) takeClass(class string) *failure {
	if !slices.Contains(tableClasses, class) {
		return badTable("1 validation error detected: Value '%s' at 'tableClass' failed to satisfy constraint: Member must satisfy enum value set: %v", class, tableClasses)
	}
	t.Class = class
	return nil
}

// takeSSE keeps the ARN of the key that is behind what was given: an ID, an ARN, an alias, or nothing.
func (t *Table) takeSSE(in sseIn) *failure {
	on := in.Enabled == nil || *in.Enabled
	switch {
	case !on && (in.SSEType != "" || in.KMSMasterKeyID != ""):
		return badParams("SSESpecification: neither SSEType nor KMSMasterKeyId can be given when it is not enabled")
	case !on:
		t.KMSKey = ""
		return nil
	case in.SSEType != "" && in.SSEType != "KMS":
		return badParams("Unsupported SSE type: %s", in.SSEType)
	case in.KMSMasterKeyID != "" && !tableKMSKey.MatchString(in.KMSMasterKeyID):
		return badParams("KMSMasterKeyId is not valid: %s", in.KMSMasterKeyID)
	}
	id := in.KMSMasterKeyID[strings.LastIndex(in.KMSMasterKeyID, ":")+1:]
	id = strings.TrimPrefix(id, "key/")
	if id == "" {
		id = "alias/aws/dynamodb"
	}
	if strings.HasPrefix(id, "alias/") {
		sum := sha256.Sum256([]byte(t.Account + t.Region + id))
		id = fmt.Sprintf("%x-%x-4000-8000-%x", sum[:4], sum[4:6], sum[6:12])
	}
	t.KMSKey = "arn:aws:kms:" + t.Region + ":" + t.Account + ":key/" + id
	return nil
}

// takeStream turns the stream on or off; each time on is another stream.
func (t *Table) takeStream(c *call, in streamIn) *failure {
	switch {
	case in.StreamEnabled == nil:
		return badTable("1 validation error detected: Value null at 'streamSpecification.streamEnabled' failed to satisfy constraint: Member must not be null")
	case !*in.StreamEnabled && in.StreamViewType != "":
		return badParams("StreamViewType cannot be given when StreamEnabled is false")
	case !*in.StreamEnabled && t.StreamView == "":
		return badTable("Table is already without a stream: %s", t.Name)
	case !*in.StreamEnabled:
		t.StreamView = ""
		return nil
	case t.StreamView != "":
		return badTable("Table already has an enabled stream: %s", t.Name)
	case !slices.Contains(streamViews, in.StreamViewType):
		return badParams("StreamViewType must be one of %v", streamViews)
	}
	t.StreamView, t.StreamLabel = in.StreamViewType, c.now.UTC().Format("2006-01-02T15:04:05.000")
	return nil
}

// takePolicy keeps a policy as it was written. It is not evaluated.
func (t *Table) takePolicy(arn, text string) *failure {
	var doc struct{ Statement any }
	if json.Unmarshal([]byte(text), &doc) != nil || doc.Statement == nil || !strings.Contains(text, `"Principal"`) {
		return badTable("Invalid policy document: it needs a Statement with a Principal")
	}
	if len(text) > 20<<10 {
		return tooMany("A resource-based policy can have at most 20 KB.")
	}
	t.Policies[arn] = text
	return nil
}

func (t *Table) takeTags(c *call, tags []tagXML) *failure {
	seen := map[string]bool{}
	a := c.args()
	for _, tag := range tags {
		a.check("tags.member.key", tag.Key, tagKeyShape)
		a.check("tags.member.value", tag.Value, tagValueShape)
		if f := a.failure(); f != nil {
			return f
		}
		if reserved(tag.Key) && !c.stranger {
			return badParams("Tag keys that start with aws: are reserved: %s", tag.Key)
		}
		if seen[tag.Key] {
			return badParams("Duplicate tag key: %s", tag.Key)
		}
		seen[tag.Key] = true
		t.Tags[tag.Key] = tag.Value
	}
	if countTags(t.Tags) > maxTableTags {
		return badParams("Too many tags: a table can have at most %d", maxTableTags)
	}
	return nil
}

// tableJSON is TableDescription. What was never set, the service does not mention.
type tableJSON struct {
	TableName, TableArn, TableId, TableStatus string
	CreationDateTime                          json.Number
	AttributeDefinitions                      []TableAttr
	KeySchema                                 []TableKey
	ProvisionedThroughput                     unitsJSON
	BillingModeSummary                        map[string]any   `json:",omitempty"`
	OnDemandThroughput                        *MaxUnits        `json:",omitempty"`
	WarmThroughput                            map[string]any   `json:",omitempty"`
	TableClassSummary                         map[string]any   `json:",omitempty"`
	DeletionProtectionEnabled                 bool             `json:"DeletionProtectionEnabled"`
	SSEDescription                            map[string]any   `json:",omitempty"`
	StreamSpecification                       map[string]any   `json:",omitempty"`
	LatestStreamArn, LatestStreamLabel        string           `json:",omitempty"`
	GlobalSecondaryIndexes                    []map[string]any `json:",omitempty"`
	LocalSecondaryIndexes                     []map[string]any `json:",omitempty"`
	ItemCount, TableSizeBytes                 int
}

type unitsJSON struct {
	NumberOfDecreasesToday, ReadCapacityUnits, WriteCapacityUnits int64
}

func showUnits(u *Units) unitsJSON {
	if u == nil {
		return unitsJSON{}
	}
	return unitsJSON{0, u.ReadCapacityUnits, u.WriteCapacityUnits}
}

func (x Capacity) showWarm(onDemand bool, status string) map[string]any {
	reads, writes := x.warm(onDemand)
	return map[string]any{"ReadUnitsPerSecond": reads, "WriteUnitsPerSecond": writes, "Status": status}
}

func (s *Server) showTable(t *Table, now time.Time) tableJSON {
	x := tableJSON{TableName: t.Name, TableArn: t.arn(), TableId: t.ID, TableStatus: t.status(now), CreationDateTime: epoch(t.CreatedAt),
		AttributeDefinitions: t.Attributes, KeySchema: t.Keys, ProvisionedThroughput: showUnits(t.Provisioned), OnDemandThroughput: t.OnDemand,
		WarmThroughput: t.showWarm(t.onDemand(), "ACTIVE"), DeletionProtectionEnabled: t.Protected}
	if t.Billing != "" {
		x.BillingModeSummary = map[string]any{"BillingMode": t.Billing, "LastUpdateToPayPerRequestDateTime": epoch(t.CreatedAt)}
	}
	if t.Class != "" {
		x.TableClassSummary = map[string]any{"TableClass": t.Class}
	}
	if t.KMSKey != "" {
		x.SSEDescription = map[string]any{"Status": "ENABLED", "SSEType": "KMS", "KMSMasterKeyArn": t.KMSKey}
	}
	if t.StreamView != "" {
		x.StreamSpecification = map[string]any{"StreamEnabled": true, "StreamViewType": t.StreamView}
	}
	if t.StreamLabel != "" {
		x.LatestStreamArn, x.LatestStreamLabel = t.streamARN(), t.StreamLabel
	}
	for _, g := range t.Globals {
		x.GlobalSecondaryIndexes = append(x.GlobalSecondaryIndexes, t.showGlobal(g, now))
	}
	for _, l := range t.Locals {
		x.LocalSecondaryIndexes = append(x.LocalSecondaryIndexes, t.showIndex(l))
	}
	if now.Sub(t.CreatedAt) >= itemsTrail {
		x.ItemCount = len(t.Items)
	}
	return x
}

func (t *Table) showIndex(i LocalIndex) map[string]any {
	return map[string]any{"IndexName": i.IndexName, "KeySchema": i.KeySchema, "Projection": i.Projection, "IndexArn": t.arn() + "/index/" + i.IndexName,
		"ItemCount": 0, "IndexSizeBytes": 0}
}

func (t *Table) showGlobal(g *GlobalIndex, now time.Time) map[string]any {
	x := t.showIndex(g.LocalIndex)
	x["IndexStatus"], x["ProvisionedThroughput"] = g.status(now), showUnits(g.Provisioned)
	x["WarmThroughput"] = g.showWarm(t.onDemand(), "ACTIVE")
	if g.OnDemand != nil {
		x["OnDemandThroughput"] = g.OnDemand
	}
	if g.status(now) == "CREATING" {
		x["Backfilling"] = t.status(now) == "ACTIVE"
	}
	return x
}
