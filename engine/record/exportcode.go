package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Encode writes an export as indented JSON. Equal exports give equal bytes.
func (e *Export) Encode() ([]byte, error) {
	b, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode export: %w", err)
	}
	return append(b, '\n'), nil
}

// DecodeExport reads what Encode writes and checks that it fits together. A newer format is ErrNewer; damage is told with
// its line and column, or with the place in the document.
func DecodeExport(b []byte) (*Export, error) {
	var head struct {
		Format *int `json:"reclaimExport"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, placed(b, err)
	}
	switch {
	case head.Format == nil:
		return nil, errors.New(`it is no export of reclaim: it does not say "reclaimExport"`)
	case *head.Format > ExportFormat:
		return nil, fmt.Errorf("%w: it is an export of format %d, this version knows %d; use a newer reclaim", ErrNewer, *head.Format, ExportFormat)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	var e Export
	if err := dec.Decode(&e); err != nil {
		return nil, placed(b, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: there is more after its end", lineOf(b, dec.InputOffset()))
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	return &e, nil
}

// placed adds line and column to an error of the decoder.
func placed(b []byte, err error) error {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%s: %w", lineOf(b, e.Offset), err)
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: %w", lineOf(b, e.Offset), err)
	}
	if _, name, ok := strings.Cut(err.Error(), "unknown field "); ok {
		return fmt.Errorf("%s: %w", lineOf(b, int64(bytes.Index(b, []byte(name)))), err)
	}
	return err
}

// lineOf says where a byte offset is.
func lineOf(b []byte, offset int64) string {
	before := b[:min(max(offset, 0), int64(len(b)))]
	return fmt.Sprintf("line %d, column %d", 1+bytes.Count(before, []byte("\n")), 1+len(before)-(1+bytes.LastIndexByte(before, '\n')))
}

// check reports the first thing in an export that does not fit together.
func (e *Export) check() error {
	if e.Store == "" {
		return errors.New("store: it does not say which store it was taken from")
	}
	c := exportCheck{export: e, stacks: map[StackID]bool{}, steps: map[uint64]bool{}, evidence: map[uint64]bool{}, claims: map[string]string{}}
	for i := range e.Stacks {
		if err := c.stack(fmt.Sprintf("stacks[%d]", i), &e.Stacks[i]); err != nil {
			return err
		}
	}
	return nil
}

// exportCheck is what entries of all stacks are compared with.
type exportCheck struct {
	export          *Export
	stacks          map[StackID]bool
	steps, evidence map[uint64]bool
	claims          map[string]string
}

func (c *exportCheck) stack(at string, s *StackExport) error {
	switch {
	case s.Stack.IsZero() || s.Stack.Scope.Partition == "" || s.Stack.Scope.Account == "":
		return fmt.Errorf("%s: it names no stack with a scope", at)
	case c.stacks[s.Stack]:
		return fmt.Errorf("%s: stack %s is there twice", at, s.Stack)
	case s.Hold != nil && (s.Hold.Stack != s.Stack || s.Hold.Execution == "" || s.Hold.Epoch > s.Epoch):
		return fmt.Errorf("%s.hold: it does not fit stack %s at epoch %d", at, s.Stack, s.Epoch)
	}
	c.stacks[s.Stack] = true
	if err := c.records(at, s); err != nil {
		return err
	}
	if err := c.history(at, s); err != nil {
		return err
	}
	for i, d := range s.Decisions {
		if d.Stack != s.Stack || d.ID == "" {
			return fmt.Errorf("%s.decisions[%d]: it is of %s, resource %q", at, i, d.Stack, d.ID)
		}
	}
	for i, x := range s.Executions {
		if x.Stack != s.Stack || x.ID == "" {
			return fmt.Errorf("%s.executions[%d]: it is of %s, ID %q", at, i, x.Stack, x.ID)
		}
	}
	return nil
}

// statuses are all there are.
var statuses = []Status{Creating, Adopting, Acknowledged, Made, Updating, Deleting, Retired}

func (c *exportCheck) records(at string, s *StackExport) error {
	seen := map[Ref]bool{}
	for i := range s.Records {
		r := &s.Records[i]
		at := fmt.Sprintf("%s.records[%d] (%s generation %d)", at, i, r.ID, r.Gen)
		switch {
		case r.ID == "" || r.Gen < 1 || r.Type == "":
			return fmt.Errorf("%s: it needs an ID, a generation from 1 and a type", at)
		case r.Stack != s.Stack:
			return fmt.Errorf("%s: it says stack %s and stands under %s", at, r.Stack, s.Stack)
		case !slices.Contains(statuses, r.Status):
			return fmt.Errorf("%s: no status is %q", at, r.Status)
		case seen[r.Ref()]:
			return fmt.Errorf("%s: it is there twice", at)
		case r.Seq > c.export.JournalSeq:
			return fmt.Errorf("%s: step %d wrote it, and only %d were written", at, r.Seq, c.export.JournalSeq)
		case r.Claim != "" && c.claims[r.Claim] != "":
			return fmt.Errorf("%s: it claims the same object as %s", at, c.claims[r.Claim])
		}
		seen[r.Ref()], c.claims[r.Claim] = true, at
	}
	return nil
}

// history checks what is numbered.
func (c *exportCheck) history(at string, s *StackExport) error {
	for i, t := range s.Tombstones {
		if t.Stack != s.Stack || t.ID == "" || t.Gen < 1 || t.Seq > c.export.JournalSeq {
			return fmt.Errorf("%s.tombstones[%d]: it is of %s, resource %q generation %d, step %d", at, i, t.Stack, t.ID, t.Gen, t.Seq)
		}
	}
	for i, x := range s.Journal {
		if x.Stack != s.Stack || x.Seq < 1 || x.Seq > c.export.JournalSeq || c.steps[x.Seq] {
			return fmt.Errorf("%s.journal[%d]: step %d of %s is of another stack, there twice, or beyond the last, %d", at, i, x.Seq, x.Stack, c.export.JournalSeq)
		}
		c.steps[x.Seq] = true
	}
	for i, x := range s.Evidence {
		if x.Stack != s.Stack || x.Seq < 1 || x.Seq > c.export.EvidenceSeq || c.evidence[x.Seq] {
			return fmt.Errorf("%s.evidence[%d]: number %d of %s is of another stack, there twice, or beyond the last, %d", at, i, x.Seq, x.Stack, c.export.EvidenceSeq)
		}
		c.evidence[x.Seq] = true
	}
	return nil
}
