package record

// FlawKind says what of a store does not fit together.
type FlawKind string

const (
	FlawUnusable   FlawKind = "unusable"       // an entry that cannot be decoded, or whose key is none
	FlawScope      FlawKind = "scope"          // key and body name the same stack in two scopes (SAFETY S1)
	FlawKey        FlawKind = "key"            // key and body disagree otherwise
	FlawClaim      FlawKind = "claim"          // the index of claims is broken
	FlawTwice      FlawKind = "claimed twice"  // two records claim one physical object (SAFETY S3)
	FlawNonce      FlawKind = "nonce"          // an unfinished create without intent or nonce: nothing tells its object
	FlawKeyless    FlawKind = "keyless"        // acknowledged, and nothing says where its object is
	FlawDependency FlawKind = "dependency"     // depends on what nothing records any more
	FlawType       FlawKind = "type"           // a type that this program does not know
	FlawJournal    FlawKind = "journal"        // steps missing, given twice, or not those that records name
	FlawHold       FlawKind = "hold"           // a hold that does not fit its stack or its epochs
	FlawPlan       FlawKind = "plan"           // a plan, or its index, that leads nowhere
	FlawDecision   FlawKind = "decision"       // a decision about what was never recorded
	FlawEmergency  FlawKind = "emergency file" // evidence beside the store that was not taken in (SAFETY S36)
	FlawSpool      FlawKind = "spool"          // events of a run that nothing in the store knows
	FlawLeftover   FlawKind = "leftover"       // a file that was being made when its process ended
	FlawSecret     FlawKind = "hash key"       // the key of the keyed hashes is missing or spoilt (SAFETY S32)
	FlawMode       FlawKind = "file mode"      // others can read what only its owner should
	FlawNewer      FlawKind = "newer version"  // written by a newer program
	FlawDamaged    FlawKind = "damaged"        // the file itself cannot be read
)

// Flaw is one thing in a store that does not fit together, and what can be done about it.
type Flaw struct {
	Kind   FlawKind `json:"kind"`
	Stack  string   `json:"stack,omitempty"` // NAME@SCOPE
	ID     string   `json:"id,omitempty"`    // logical ID
	Gen    int      `json:"gen,omitempty"`
	Where  string   `json:"where,omitempty"` // key in the store, or path of a file
	Text   string   `json:"text"`            // what is wrong, one sentence
	Remedy string   `json:"remedy"`          // what can be done, in words
	// Next are commands that do it; they lack the flags that name a store or a cloud.
	Next []string `json:"next,omitempty"`
}
