package awssim

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// How long DynamoDB works on a change, times Config.Scale. The real ones are minutes, up to hours for an index of a large
// table and for time to live; what matters to a client is that they are not over with the answer.
const (
	tableCreates = 4 * time.Second
	tableUpdates = 3 * time.Second
	tableDeletes = 3 * time.Second
	indexBuilds  = 6 * time.Second
	indexDeletes = 3 * time.Second
	aspectTurns  = 3 * time.Second // time to live, contributor insights, Kinesis destinations
	itemsTrail   = 6 * time.Hour   // ItemCount trails by about that much, unscaled: 0 never means empty
)

// Table is a DynamoDB table with everything that hangs on it. Times say until when the service is busy with it.
type Table struct {
	Birth
	Account    string         `json:"account"`
	Region     string         `json:"region"`
	Name       string         `json:"tableName"`
	ID         string         `json:"tableId"` // a UUID, new for each create
	Attributes []TableAttr    `json:"attributeDefinitions"`
	Keys       []TableKey     `json:"keySchema"`
	Globals    []*GlobalIndex `json:"globalSecondaryIndexes"`
	Locals     []LocalIndex   `json:"localSecondaryIndexes"`
	Capacity
	Billing     string                 `json:"billingMode,omitempty"` // "" for one that was never on demand: its summary is not returned
	Class       string                 `json:"tableClass,omitempty"`  // "" where nobody ever set it
	Protected   bool                   `json:"deletionProtection"`
	KMSKey      string                 `json:"kmsKeyArn,omitempty"` // "" for a key that DynamoDB owns
	StreamView  string                 `json:"streamViewType,omitempty"`
	StreamLabel string                 `json:"latestStreamLabel,omitempty"` // stays when the stream is disabled
	Tags        map[string]string      `json:"tags"`
	Policies    map[string]string      `json:"resourcePolicies"` // by ARN, of the table and of its streams
	TTL         TableTTL               `json:"timeToLive"`
	PITRDays    int                    `json:"pointInTimeRecoveryDays,omitempty"` // 0: off
	Insights    TableInsights          `json:"contributorInsights"`
	Streaming   []*TableStreaming      `json:"kinesisDestinations"`
	Items       map[string]ItemOfTable `json:"items"` // by primary key
	CreatedTill time.Time              `json:"createdTill"`
	UpdatedTill time.Time              `json:"updatedTill"`
	DeletedTill time.Time              `json:"deletedTill,omitzero"` // zero while nobody deleted it
}

// TableAttr is one attribute definition.
type TableAttr struct {
	AttributeName, AttributeType string
}

// TableKey is one element of a key schema.
type TableKey struct {
	AttributeName, KeyType string
}

// Projection says what an index holds besides keys.
type Projection struct {
	ProjectionType   string
	NonKeyAttributes []string `json:",omitempty"`
}

// Units are capacity units, provisioned.
type Units struct {
	ReadCapacityUnits, WriteCapacityUnits int64
}

// MaxUnits are the bounds of an on-demand table; -1 is none.
type MaxUnits struct {
	MaxReadRequestUnits  *int64 `json:",omitempty"`
	MaxWriteRequestUnits *int64 `json:",omitempty"`
}

// WarmUnits are what a table or an index can take at once.
type WarmUnits struct {
	ReadUnitsPerSecond  *int64 `json:",omitempty"`
	WriteUnitsPerSecond *int64 `json:",omitempty"`
}

// Capacity is what tables and global indexes have alike.
type Capacity struct {
	Provisioned *Units     `json:"provisioned,omitempty"`
	OnDemand    *MaxUnits  `json:"onDemand,omitempty"`
	Warm        *WarmUnits `json:"warm,omitempty"`
}

// LocalIndex is made with its table and never changes.
type LocalIndex struct {
	IndexName  string
	KeySchema  []TableKey
	Projection Projection
}

// GlobalIndex comes and goes on its own.
type GlobalIndex struct {
	LocalIndex
	Capacity
	Insights    TableInsights `json:"contributorInsights"`
	CreatedTill time.Time     `json:"createdTill"`
	UpdatedTill time.Time     `json:"updatedTill"`
	DeletedTill time.Time     `json:"deletedTill,omitzero"`
}

// TableTTL is a table's time to live.
type TableTTL struct {
	Attribute string    `json:"attribute,omitempty"`
	On        bool      `json:"on"`
	Till      time.Time `json:"till"` // ENABLING or DISABLING until then
}

// TableInsights are the contributor insights of a table or an index.
type TableInsights struct {
	Mode string    `json:"mode,omitempty"` // "" when off
	Till time.Time `json:"till"`
}

// TableStreaming is a Kinesis stream that a table writes to.
type TableStreaming struct {
	StreamARN string    `json:"streamArn"`
	Precision string    `json:"precision,omitempty"`
	On        bool      `json:"on"`
	Updating  bool      `json:"updating"`
	Till      time.Time `json:"till"`
}

// ItemOfTable is one item, attribute by attribute, as it was put.
type ItemOfTable map[string]json.RawMessage

func (t *Table) arn() string {
	return "arn:aws:dynamodb:" + t.Region + ":" + t.Account + ":table/" + t.Name
}

func (t *Table) streamARN() string { return t.arn() + "/stream/" + t.StreamLabel }

func (t *Table) onDemand() bool { return t.Billing == "PAY_PER_REQUEST" }

// status is what the cloud's clock says of the table now.
func (t *Table) status(now time.Time) string {
	switch {
	case !t.DeletedTill.IsZero():
		return "DELETING"
	case now.Before(t.CreatedTill):
		return "CREATING"
	case now.Before(t.UpdatedTill):
		return "UPDATING"
	}
	return "ACTIVE"
}

func (g *GlobalIndex) status(now time.Time) string {
	switch {
	case !g.DeletedTill.IsZero():
		return "DELETING"
	case now.Before(g.CreatedTill):
		return "CREATING"
	case now.Before(g.UpdatedTill):
		return "UPDATING"
	}
	return "ACTIVE"
}

// passTables lets time pass: what was deleted long enough ago is gone.
func (s *Server) passTables(now time.Time) {
	past := func(till time.Time) bool { return !till.IsZero() && !now.Before(till) }
	s.state.Tables = slices.DeleteFunc(s.state.Tables, func(t *Table) bool { return past(t.DeletedTill) })
	for _, t := range s.state.Tables {
		t.Globals = slices.DeleteFunc(t.Globals, func(g *GlobalIndex) bool { return past(g.DeletedTill) })
		t.Streaming = slices.DeleteFunc(t.Streaming, func(k *TableStreaming) bool { return !k.On && past(k.Till) })
	}
}

func (t *Table) global(name string) *GlobalIndex {
	return find(t.Globals, func(g *GlobalIndex) bool { return g.IndexName == name })
}

// keyNames are the attributes that the table and its indexes have in their keys.
func (t *Table) keyNames() map[string]bool {
	used := map[string]bool{}
	add := func(keys []TableKey) {
		for _, k := range keys {
			used[k.AttributeName] = true
		}
	}
	add(t.Keys)
	for _, l := range t.Locals {
		add(l.KeySchema)
	}
	for _, g := range t.Globals {
		if g.DeletedTill.IsZero() {
			add(g.KeySchema)
		}
	}
	return used
}

// sortAttributes brings definitions into the order in which the service returns them.
func sortAttributes(attrs []TableAttr) {
	slices.SortFunc(attrs, func(a, b TableAttr) int { return strings.Compare(a.AttributeName, b.AttributeName) })
}
