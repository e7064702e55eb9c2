package plan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"reclaim/engine/diff"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// Look is what one look at a resource said. Nothing in it is merged with what config or state say.
type Look struct {
	Obs      *resource.Observation // the object at the key or natural key; nil: absent, failed, or not made
	Ours     []resource.Candidate  // where the service assigns the ID and nothing is recorded: what carries our tags
	Existing []string              // where the service assigns the ID: unique IDs of candidates that are there already
	Err      error                 // a look that gave no answer; never NotFound
	Unplaced bool                  // nothing was looked at: a record is there and does not say where its object is
	At       time.Time             // the service's clock
	Machine  string
	Source   string
}

// At looks at the object that key addresses. Absence counts only from a client verified against scope before and after
// the look (S2).
func At(ctx context.Context, cloud resource.Cloud, p resource.Provider, scope resource.Scope, key resource.Key) Look {
	l := Look{Machine: cloud.Machine(), Source: "read of " + p.Schema().Type}
	if l.Err = InScope(ctx, cloud, p.Schema(), scope); l.Err != nil {
		return l
	}
	obs, err := p.Read(ctx, key)
	switch {
	case err == nil:
		l.Obs, l.At = obs, obs.ServedAt
		if src := obs.Sources["object"]; src != "" {
			l.Source = src
		}
	case resource.Is(err, resource.NotFound):
		l.At, l.Source = servedAt(err), opOf(err, l.Source)
		l.Err = InScope(ctx, cloud, p.Schema(), scope)
	default:
		l.Err = err
	}
	return l
}

// Search looks, where the service assigns the ID, for the object that has our natural key and for what carries our tags,
// and lists what already exists (S5).
func Search(ctx context.Context, cloud resource.Cloud, p resource.Provider, scope resource.Scope, q resource.Query) Look {
	l := Look{Machine: cloud.Machine(), Source: "list of " + p.Schema().Type}
	f, ok := p.(resource.Finder)
	if !ok {
		return l
	}
	if l.Err = InScope(ctx, cloud, p.Schema(), scope); l.Err != nil {
		return l
	}
	found, err := f.Find(ctx, q)
	if err != nil {
		l.Err = err
		return l
	}
	for _, c := range found {
		l.At = c.ServedAt
		if c.Identity.UniqueID != "" {
			l.Existing = append(l.Existing, c.Identity.UniqueID)
		}
		switch {
		case c.ByKey:
			l.Obs = &c.Observation
		case c.ByTags:
			l.Ours = append(l.Ours, c)
		}
	}
	return l
}

// InScope verifies that calls go to the scope that a record or stack names. Local types need no cloud.
func InScope(ctx context.Context, cloud resource.Cloud, s *resource.Schema, scope resource.Scope) error {
	if s.Local {
		return nil
	}
	got, err := cloud.Verify(ctx)
	if err != nil {
		return err
	}
	if got != scope {
		return &resource.Error{Kind: resource.AccessDenied, Op: "Verify", Executed: resource.No,
			Err: fmt.Errorf("credentials and endpoint lead to %s, not to %s; use --region, --profile or AWS_ENDPOINT_URL", got, scope)}
	}
	return nil
}

func servedAt(err error) time.Time {
	if e, ok := errors.AsType[*resource.Error](err); ok {
		return e.ServedAt
	}
	return time.Time{}
}

func opOf(err error, otherwise string) string {
	if e, ok := errors.AsType[*resource.Error](err); ok && e.Op != "" {
		return e.Op
	}
	return otherwise
}

// facts hashes what a decision used of the look: existence, identity and the fields that were compared; not times or
// counters that move by themselves (S17).
func facts(it *Item, l Look) string {
	if it.Finding != nil {
		return it.Finding.Facts
	}
	b := tell(make([]byte, 0, 1024), strconv.FormatBool(l.Err != nil), strconv.FormatBool(l.Obs != nil))
	if l.Obs != nil {
		b = tellObject(b, l.Obs, it.Fields)
	}
	for _, c := range l.Ours {
		b = tell(b, c.Identity.UniqueID)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// tell appends texts, each after its length, so that two lists end as the same bytes only where all their texts are the
// same.
func tell(b []byte, texts ...string) []byte {
	for _, t := range texts {
		b = append(append(strconv.AppendInt(b, int64(len(t)), 10), ':'), t...)
	}
	return b
}

// tellObject appends what an object is and whose, and those of its fields that config sets, whatever order they came in.
func tellObject(b []byte, o *resource.Observation, fields []diff.Field) []byte {
	identity := ""
	if !o.Identity.IsZero() {
		identity = identityWords(o.Identity)
	}
	b = tell(b, identity, strconv.FormatBool(o.Owner != nil), strconv.Itoa(len(o.Owner)))
	for _, name := range slices.Sorted(maps.Keys(o.Owner)) {
		b = tell(b, name, o.Owner[name])
	}
	seen := make([]string, 0, len(fields))
	for i := range fields {
		if f := &fields[i]; f.By == diff.ByConfig {
			digest := value.Digest(f.Observed)
			seen = append(seen, string(f.Path)+"="+string(digest[:]))
		}
	}
	slices.Sort(seen)
	return tell(tell(b, strconv.Itoa(len(seen))), seen...)
}
