package record

// ExportFormat is Export.Format of this program.
const ExportFormat = 1

// Export is everything a store holds of its stacks but its plans, as one value. The same state always gives the same
// value. Sensitive values in it are keyed hashes.
type Export struct {
	Format    int      `json:"reclaimExport"`
	Store     string   `json:"store"`     // ID of the store it was taken from
	Ancestors []string `json:"ancestors"` // of that store
	// LeftOut says in words what a store has that is not in here.
	LeftOut []string `json:"leftOut"`
	// JournalSeq and EvidenceSeq are the numbers given last.
	JournalSeq  uint64        `json:"journalSeq"`
	EvidenceSeq uint64        `json:"evidenceSeq"`
	Stacks      []StackExport `json:"stacks"` // in the order of the store
}

// StackExport is one stack of an Export.
type StackExport struct {
	Stack      StackID     `json:"stack"`
	Epoch      uint64      `json:"epoch"` // given last; no lower one may ever be given again (SAFETY S33)
	Hold       *Hold       `json:"hold,omitempty"`
	Records    []Record    `json:"records"`
	Tombstones []Tombstone `json:"tombstones"`
	Journal    []Step      `json:"journal"`
	Executions []Execution `json:"executions"`
	Decisions  []Decision  `json:"decisions"`
	Evidence   []Evidence  `json:"evidence"`
}
