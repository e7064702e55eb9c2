package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Encode writes a plan as JSON. Sensitive values are keyed hashes in it.
func Encode(p *Plan) ([]byte, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode plan: %w", err)
	}
	return append(b, '\n'), nil
}

// Decode reads what Encode wrote. A plan of another format version, and one whose content does not have its
// fingerprint, is refused by name.
func Decode(b []byte) (*Plan, error) {
	var head struct {
		Schema      int    `json:"schema"`
		Fingerprint string `json:"fingerprint"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("read plan: this is no plan file: %w", err)
	}
	if head.Schema != FormatVersion || head.Fingerprint == "" {
		return nil, fmt.Errorf("read plan: format version %d, this program reads %d; make the plan again", head.Schema, FormatVersion)
	}
	var p Plan
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, fmt.Errorf("read plan %s: %w", head.Fingerprint, err)
	}
	sum, err := fingerprint(&p)
	if err != nil {
		return nil, err
	}
	if sum != p.Fingerprint {
		return nil, fmt.Errorf("read plan %s: its content has fingerprint %s; it was changed or damaged, make the plan again", p.Fingerprint, sum)
	}
	return &p, nil
}

// fingerprint is the SHA-256 over template, params and the facts used of each observation: everything but the
// fingerprint itself and the times at which things were looked at.
func fingerprint(p *Plan) (string, error) {
	c := *p
	c.Fingerprint, c.MadeAt = "", time.Time{}
	c.Items = make([]Item, len(p.Items))
	copy(c.Items, p.Items)
	for i := range c.Items {
		c.Items[i].ReadAt = time.Time{}
		c.Items[i].Finding = nil // its facts are in Item.Facts
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	if err := enc.Encode(c); err != nil {
		return "", fmt.Errorf("fingerprint plan: %w", err)
	}
	sum := sha256.Sum256(buf.Bytes())
	return hex.EncodeToString(sum[:]), nil
}
