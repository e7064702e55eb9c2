package store

import (
	"encoding/json"
	"fmt"
	"strings"

	"reclaim/engine/record"
)

// each decodes every value of a bucket whose keys begin with a stack, and calls visit for those that are of the stack
// their key names. The others are flaws.
func each[T any](c *checker, bucket string, stack func(*T) record.StackID, visit func(f record.Flaw, s record.StackID, rest string, one *T)) error {
	return c.scan(bucket, "", "", func(key string, value []byte) error {
		f := of(record.FlawUnusable, bucket, key)
		f.Remedy = "verbs that read it refuse; put a backup back"
		s, rest, err := splitKey(key)
		var one T
		if err == nil {
			err = json.Unmarshal(value, &one)
		}
		if bucket == bucketHolds {
			f.Remedy, f.Next = "verbs that change the stack refuse; make sure that no run is under way, then clear it", []string{"reclaim hold clear " + f.Stack}
		}
		if err != nil {
			f.Text = err.Error()
			c.add(f)
			return nil
		}
		if in := stack(&one); in != s {
			f.Kind, f.Text = record.FlawKey, fmt.Sprintf("its key says stack %s, its body %s", s, in)
			if in.Name == s.Name {
				f.Kind = record.FlawScope
			}
			c.add(f)
			return nil
		}
		visit(f, s, rest, &one)
		return nil
	})
}

func (c *checker) checkTombstones() error {
	return each(c, bucketTombstones, func(t *record.Tombstone) record.StackID { return t.Stack },
		func(f record.Flaw, s record.StackID, _ string, t *record.Tombstone) {
			c.ids[name(s, t.ID)] = true
			if t.ID != f.ID || t.Gen != f.Gen || tombstoneKey(*t) != strings.TrimPrefix(f.Where, bucketTombstones+" ") {
				f.Kind, f.Text = record.FlawKey, fmt.Sprintf("its body says %s generation %d, step %d", t.ID, t.Gen, t.Seq)
				c.add(f)
			}
		})
}

// checkJournal looks for steps that cannot be read and for numbers that are missing or given twice.
func (c *checker) checkJournal() error {
	err := each(c, bucketJournal, func(s *record.Step) record.StackID { return s.Stack },
		func(f record.Flaw, s record.StackID, rest string, step *record.Step) {
			c.runs[step.Execution], c.ids[name(s, step.ID)] = true, true
			f.Kind, f.ID, f.Gen = record.FlawJournal, step.ID, step.Gen
			switch {
			case number(step.Seq) != rest:
				f.Text = fmt.Sprintf("its body says number %d", step.Seq)
				c.add(f)
			case c.steps[step.Seq]:
				f.Text = "its number was given twice"
				c.add(f)
			}
			c.steps[step.Seq] = true
		})
	if err != nil {
		return err
	}
	journal, err := c.bucket(bucketJournal)
	if err != nil {
		return err
	}
	for n := uint64(1); n <= journal.Sequence(); n++ {
		if c.steps[n] {
			continue
		}
		from := n
		for n < journal.Sequence() && !c.steps[n+1] {
			n++
		}
		f := record.Flaw{Kind: record.FlawJournal, Where: bucketJournal, Text: fmt.Sprintf("step %d is missing in the journal", from),
			Remedy: "records are what counts, and they are not changed by it; put a backup back if the history matters"}
		if n > from {
			f.Text = fmt.Sprintf("steps %d to %d are missing in the journal", from, n)
		}
		c.add(f)
	}
	return nil
}

func (c *checker) checkHolds() error {
	return each(c, bucketHolds, func(h *record.Hold) record.StackID { return h.Stack },
		func(f record.Flaw, s record.StackID, _ string, h *record.Hold) {
			for from := h; from != nil; from = from.Taken {
				c.runs[from.Execution] = true
			}
			f.Kind, f.Remedy, f.Next = record.FlawHold, "see whose it is, then clear it", []string{"reclaim hold show " + f.Stack}
			var last uint64
			if _, err := c.read(bucketEpochs, stackKey(s), &last); err != nil {
				f.Text = err.Error()
				c.add(f)
			} else if h.Epoch > last {
				f.Text = fmt.Sprintf("it has epoch %d; only %d were given", h.Epoch, last)
				c.add(f)
			}
			if h.Execution == "" {
				f.Text = "it names no execution"
				c.add(f)
			}
		})
}

func (c *checker) checkExecutions() error {
	return each(c, bucketExecutions, func(e *record.Execution) record.StackID { return e.Stack },
		func(f record.Flaw, _ record.StackID, rest string, e *record.Execution) {
			c.runs[rest], c.runs[e.ID] = true, true
			if e.ID != rest {
				f.Kind, f.Text = record.FlawKey, fmt.Sprintf("its body says execution %s", e.ID)
				c.add(f)
			}
		})
}

// checkPlans looks for index entries without a plan and for plans that no index entry finds.
func (c *checker) checkPlans() error {
	remedy := "nothing is lost but the plan; make a new one"
	err := c.scan(bucketPlanIndex, "", "", func(fingerprint string, value []byte) error {
		var key string
		err := json.Unmarshal(value, &key)
		var plan []byte
		if err == nil {
			plan, err = c.get(bucketPlans, key)
		}
		if err != nil || plan == nil {
			c.add(record.Flaw{Kind: record.FlawPlan, Where: bucketPlanIndex + " " + fingerprint, Remedy: remedy,
				Text: fmt.Sprintf("the index leads to plan %q, which is not there", key)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.scan(bucketPlans, "", "", func(key string, _ []byte) error {
		f := of(record.FlawPlan, bucketPlans, key)
		f.Remedy = remedy
		_, fingerprint, err := splitPlanKey(key)
		if err != nil {
			f.Text = err.Error()
			c.add(f)
			return nil
		}
		var at string
		if _, err := c.read(bucketPlanIndex, fingerprint, &at); err != nil || at != key {
			f.Text = fmt.Sprintf("no index entry leads to plan %.12s", fingerprint)
			c.add(f)
		}
		return nil
	})
}

// checkDecisions looks for decisions about what was never recorded. One about a record that has gone since is history.
func (c *checker) checkDecisions() error {
	return each(c, bucketDecisions, func(d *record.Decision) record.StackID { return d.Stack },
		func(f record.Flaw, s record.StackID, _ string, d *record.Decision) {
			if c.ids[name(s, d.ID)] {
				return
			}
			f.Kind, f.Text = record.FlawDecision, fmt.Sprintf("%s decided %q about %s generation %d, which nothing in the store ever recorded", d.Who, d.Choice, d.ID, d.Gen)
			f.Remedy = "it is carried out for no record; nothing needs doing"
			c.add(f)
		})
}

func (c *checker) checkEvidence() error {
	return each(c, bucketEvidence, func(e *record.Evidence) record.StackID { return e.Stack },
		func(f record.Flaw, _ record.StackID, rest string, e *record.Evidence) {
			if number(e.Seq) != rest {
				f.Kind, f.Text = record.FlawKey, fmt.Sprintf("its body says number %d", e.Seq)
				c.add(f)
			}
		})
}
