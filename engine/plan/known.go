package plan

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/template"
	"reclaim/engine/value"
)

// Known is what Ref and GetAtt may give: of each resource its desired params and what is known of its output. It is safe
// for concurrent use.
type Known struct {
	mu sync.Mutex
	m  map[string]known
}

type known struct {
	schema *resource.Schema
	params value.Map
	output value.Map
}

// NewKnown returns an empty Known.
func NewKnown() *Known { return &Known{m: map[string]known{}} }

// Set says what is known of a resource; output nil: nothing yet.
func (k *Known) Set(id string, s *resource.Schema, params, output value.Map) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.m[id] = known{s, params, output}
}

// Facts is a template.Facts.
func (k *Known) Facts(id, attr string) (value.Value, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, ok := k.m[id]
	if !ok {
		return value.Value{}, false
	}
	if attr == "" {
		attr = e.schema.Ref
	}
	if e.schema.Param(attr) != nil {
		if v, ok := e.params[attr]; ok && !v.HasUnknown() {
			return v, true
		}
	}
	v, ok := e.output[attr]
	return v, ok
}

// Resolved is one resource of a template with its params as far as they can be told.
type Resolved struct {
	Desired   value.Map
	Generated bool
	Name      string
}

// Resolve resolves a template resource: expands computed params, and fills in the generated name, which is name where
// there is one already (pinned by an intent or proposed by a plan) and a new one otherwise. settled false says that a
// dependency still changes: what is computed from files may change with it, and is unknown.
func Resolve(ctx context.Context, p resource.Provider, r *template.Resource, f template.Facts, stack, name string, settled bool) (Resolved, error) {
	params, err := r.Resolve(f)
	if err != nil {
		return Resolved{}, err
	}
	if e, ok := p.(resource.Expander); ok {
		if params, err = expand(ctx, e, r, params, settled); err != nil {
			return Resolved{}, fmt.Errorf("%s (line %d): %w", r.ID, r.Line, err)
		}
	}
	out := Resolved{Desired: params}
	if rule := r.Schema.Name; rule != nil {
		if _, set := params[rule.Param]; !set {
			out.Generated, out.Name = true, name
			if name == "" {
				out.Name = NewName(stack, r.ID, rule)
			}
			out.Desired = params.With(rule.Param, value.Of(out.Name))
		}
	}
	return out, nil
}

func expand(ctx context.Context, e resource.Expander, r *template.Resource, params value.Map, settled bool) (value.Map, error) {
	full, err := e.Expand(ctx, params)
	if settled {
		return full, err
	}
	out := params
	if err == nil {
		out = full // what is only spelled another way does not change with the files
	}
	for k := range full {
		if _, set := params[k]; !set {
			out = out.With(k, value.Wait(r.DependsOn...))
		}
	}
	return out, nil
}

// NewName makes a name: stack, logical ID and 8 random hex digits, cut to the type's limit.
func NewName(stack, id string, rule *resource.NameRule) string {
	var b [4]byte
	rand.Read(b[:])
	tail := "-" + hex.EncodeToString(b[:])
	head := rule.Fixed + stack + "-" + id
	if rule.Max > 0 && len(head)+len(tail) > rule.Max {
		head = head[:rule.Max-len(tail)]
	}
	if rule.Lower {
		head = strings.ToLower(head)
	}
	return head + tail
}

// PinnedName is the generated name that a record already stands for.
func PinnedName(r *record.Record, s *resource.Schema) string {
	if r == nil || s.Name == nil {
		return ""
	}
	if r.Intent != nil && r.Intent.Name != "" {
		return r.Intent.Name
	}
	return r.Key[s.Name.Param]
}
