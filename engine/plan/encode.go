package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
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

// perSum is how many items are hashed as one: part of the format.
const perSum = 256

// fingerprint is a SHA-256 over template, params and the facts used of each observation: everything but the fingerprint
// itself and the times at which things were looked at. It is the hash of the plan without items, as JSON, and of the
// hashes of its items, so many together, which all processors make.
func fingerprint(p *Plan) (string, error) {
	c := *p
	c.Fingerprint, c.MadeAt, c.Items = "", time.Time{}, nil
	text, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("fingerprint plan: %w", err)
	}
	sums, errs := make([][sha256.Size]byte, (len(p.Items)+perSum-1)/perSum), make([]error, runtime.NumCPU())
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range errs {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(sums) && errs[w] == nil; i = int(next.Add(1)) - 1 {
				sums[i], errs[w] = hashItems(p.Items[i*perSum : min((i+1)*perSum, len(p.Items))])
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return "", fmt.Errorf("fingerprint plan: %w", err)
	}
	for _, s := range sums {
		text = append(text, s[:]...)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

func hashItems(items []Item) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	enc := json.NewEncoder(h)
	var it Item
	for i := range items {
		it = items[i]
		it.ReadAt, it.Finding = time.Time{}, nil // of a finding, the facts are in Item.Facts
		if err := enc.Encode(&it); err != nil {
			return sum, err
		}
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}
