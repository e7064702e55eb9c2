package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"reclaim/engine/record"
)

// Check explains what does not fit together in the store and beside it; nothing when all is well. known says which types
// the program knows; nil: all. It changes nothing, and one flaw hides no other.
func (s *Store) Check(ctx context.Context, known func(typ string) bool) ([]record.Flaw, error) {
	c := &checker{known: known, records: map[string]record.Record{}, live: map[string]bool{}, ids: map[string]bool{},
		steps: map[uint64]bool{}, runs: map[string]bool{}}
	err := s.readCopy(ctx, func(v *view) error {
		c.view = v
		for _, check := range []func() error{c.checkRecords, c.checkClaims, c.checkTombstones, c.checkJournal, c.checkReferences,
			c.checkHolds, c.checkExecutions, c.checkPlans, c.checkDecisions, c.checkEvidence} {
			if err := check(); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("check store: %w", err)
	}
	return append(c.found, s.checkFiles(c.runs)...), nil
}

// checker collects flaws, and what later checks compare with.
type checker struct {
	*view
	known func(string) bool
	found []record.Flaw

	records map[string]record.Record // usable ones by key, without what they hold
	live    map[string]bool          // names of what has a record, usable or not
	ids     map[string]bool          // names of what ever had one
	steps   map[uint64]bool          // numbers of the journal
	runs    map[string]bool          // executions that anything names
}

// name is a resource in the maps of a checker.
func name(s record.StackID, id string) string { return stackKey(s) + id }

func (c *checker) add(f record.Flaw) { c.found = append(c.found, f) }

// of begins a flaw of what is at a key of a bucket.
func of(kind record.FlawKind, bucket, key string) record.Flaw {
	f := record.Flaw{Kind: kind, Where: bucket + " " + key}
	s, rest, err := splitKey(key)
	if err != nil {
		return f
	}
	f.Stack = s.String()
	if bucket == bucketRecords || bucket == bucketTombstones || bucket == bucketDecisions {
		if parts := strings.SplitN(rest, "/", 3); len(parts) >= 2 {
			_, f.ID, f.Gen, _ = splitRecordKey(stackKey(s) + parts[0] + "/" + parts[1])
		}
	}
	return f
}

func (c *checker) checkRecords() error {
	return c.scan(bucketRecords, "", "", func(key string, value []byte) error {
		f := of(record.FlawUnusable, bucketRecords, key)
		if s, _, err := splitKey(key); err == nil && f.ID != "" {
			c.live[name(s, f.ID)], c.ids[name(s, f.ID)] = true, true
		}
		r, err := decodeRecord(key, string(value))
		if err != nil {
			f.Kind, f.Text = disagreement(key, r), err.Error()
			f.Remedy = "every verb that changes the stack refuses until it is gone: put a backup back, or give it up"
			f.Next = []string{forgetLine(f)}
			c.add(f)
			return nil
		}
		c.checkRecord(f, &r)
		r.Params, r.Pending, r.Output, r.Former = nil, nil, nil, nil
		c.records[key] = r
		return nil
	})
}

// disagreement tells what is wrong with a record that cannot be used.
func disagreement(key string, r record.Record) record.FlawKind {
	s, _, _, err := splitRecordKey(key)
	switch {
	case err != nil || r.ID == "" || r.Stack.IsZero():
		return record.FlawUnusable
	case r.Stack.Name == s.Name && r.Stack.Scope != s.Scope:
		return record.FlawScope
	default:
		return record.FlawKey
	}
}

func forgetLine(f record.Flaw) string {
	line := "reclaim state forget " + f.Stack + " "
	if f.ID == "" {
		return line + "'" + strings.TrimPrefix(f.Where, bucketRecords+" ") + "'"
	}
	return line + f.ID + fmt.Sprintf(" --gen %d", f.Gen)
}

// checkRecord looks at one record by itself.
func (c *checker) checkRecord(f record.Flaw, r *record.Record) {
	say := func(kind record.FlawKind, next []string, remedy, format string, a ...any) {
		f.Kind, f.Text, f.Remedy, f.Next = kind, fmt.Sprintf(format, a...), remedy, next
		c.add(f)
	}
	decide := []string{"reclaim recover " + f.Stack, forgetLine(f)}
	switch {
	case r.Status == record.Creating && r.Intent == nil:
		say(record.FlawNonce, decide, "look and decide, or give it up", "it is %s and holds no intent: nobody knows what was sent", r.Status)
	case r.Status == record.Creating && r.Intent.Nonce == "":
		say(record.FlawNonce, decide, "look and decide, or give it up", "its intent has no nonce: nothing on an object can prove it ours")
	case !r.Uncertain() && len(r.Key) == 0:
		say(record.FlawKeyless, []string{forgetLine(f)}, "find the object by hand, then give the record up",
			"it is %s and has no key: no verb can find its object", r.Status)
	}
	if c.known != nil && !c.known(r.Type) {
		say(record.FlawType, nil, "use the version of reclaim that wrote it; until then the record stays as it is", "this version does not know its type %s", r.Type)
	}
}

func (c *checker) checkClaims() error {
	first := map[string]string{} // claim → key of the record
	for key, r := range c.records {
		if r.Claim == "" {
			continue
		}
		by, err := c.claimed(r.Claim)
		if err != nil {
			return err
		}
		if by == key {
			first[r.Claim] = key
		}
	}
	err := c.scan(bucketRecords, "", "", func(key string, _ []byte) error {
		r, usable := c.records[key]
		if !usable || r.Claim == "" || first[r.Claim] == key {
			return nil
		}
		f := of(record.FlawClaim, bucketRecords, key)
		f.Text = fmt.Sprintf("its claim %q is not in the index of claims", r.Claim)
		f.Remedy = "deploy the stack, which notes the claim again"
		if other := first[r.Claim]; other != "" {
			f.Kind = record.FlawTwice
			f.Text = fmt.Sprintf("%s claims the same object, %s", describe(other), r.Physical)
			f.Remedy, f.Next = "find out whose it is, then give the other record up", []string{forgetLine(f)}
		}
		c.add(f)
		return nil
	})
	if err != nil {
		return err
	}
	return c.scan(bucketClaims, "", "", func(claim string, value []byte) error {
		f := record.Flaw{Kind: record.FlawClaim, Where: bucketClaims + " " + claim, Remedy: "put a backup back; as it is, the object can be given to no record"}
		var key string
		if err := json.Unmarshal(value, &key); err != nil {
			f.Text = err.Error()
			c.add(f)
			return nil
		}
		if r, usable := c.records[key]; usable && r.Claim == claim {
			return nil
		}
		body, err := c.get(bucketRecords, key)
		if err != nil {
			return err
		}
		if _, usable := c.records[key]; !usable && body != nil {
			return nil // the record cannot be used, which is told already; it claims all the same
		}
		f.Text = fmt.Sprintf("claim %q is noted for record %q, which does not claim it", claim, key)
		if body == nil {
			f.Remedy = "nothing: the next record that claims the object takes it over"
		}
		c.add(f)
		return nil
	})
}

// describe names a record by its key.
func describe(key string) string {
	s, id, gen, err := splitRecordKey(key)
	if err != nil {
		return fmt.Sprintf("record %q", key)
	}
	return fmt.Sprintf("%s generation %d of stack %s", id, gen, s)
}

// checkReferences looks at what records say of others: dependencies, and the step that wrote them.
func (c *checker) checkReferences() error {
	return c.scan(bucketRecords, "", "", func(key string, _ []byte) error {
		r, usable := c.records[key]
		if !usable {
			return nil
		}
		for _, d := range r.DependsOn {
			if c.live[name(r.Stack, d.ID)] {
				continue
			}
			f := of(record.FlawDependency, bucketRecords, key)
			f.Text = fmt.Sprintf("it depends on %s generation %d, which nothing records any more", d.ID, d.Gen)
			f.Remedy = "make a plan: it shows what " + d.ID + " is to be"
			c.add(f)
		}
		if r.Seq > 0 && !c.steps[r.Seq] {
			f := of(record.FlawJournal, bucketRecords, key)
			f.Text = fmt.Sprintf("the journal does not hold step %d, which wrote it", r.Seq)
			f.Remedy = "nothing is lost of the record itself; put a backup back if the history matters"
			c.add(f)
		}
		return nil
	})
}
