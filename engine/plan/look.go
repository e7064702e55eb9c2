package plan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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
	var f struct {
		Exists, Failed bool
		Identity       string
		Owner          resource.Tags
		Fields         map[value.Path]string
		Ours           []string
	}
	f.Failed = l.Err != nil
	if l.Obs != nil {
		f.Exists, f.Owner = true, l.Obs.Owner
		if !l.Obs.Identity.IsZero() {
			f.Identity = identityWords(l.Obs.Identity)
		}
		f.Fields = map[value.Path]string{}
		for _, fd := range it.Fields {
			if fd.By == diff.ByConfig {
				b, _ := json.Marshal(fd.Observed)
				f.Fields[fd.Path] = string(b)
			}
		}
	}
	for _, c := range l.Ours {
		f.Ours = append(f.Ours, c.Identity.UniqueID)
	}
	b, _ := json.Marshal(f)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
