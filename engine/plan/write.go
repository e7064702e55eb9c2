package plan

import (
	"slices"
	"strings"

	"reclaim/engine/diff"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// JoinMembers tells which members are ours after an unfinished write: those recorded and those being sent, of lists the
// members of both (S26).
func JoinMembers(recorded, pending value.Map) value.Map {
	out := value.Map{}
	for k, v := range recorded {
		out[k] = v
	}
	for k, v := range pending {
		if old, ok := out[k]; ok && old.Kind() == value.List && v.Kind() == value.List {
			all := slices.Clone(old.Items())
			for _, member := range v.Items() {
				if !slices.ContainsFunc(all, member.Equal) {
					all = append(all, member)
				}
			}
			v = value.ListOf(all...)
		}
		out[k] = v
	}
	return out
}

// Sort divides the fields of a comparison: top-level params to write, fields that force a replacement (S28), and
// immutable fields that may turn out to.
func Sort(fields []diff.Field) (write []string, cause, maybe []value.Path) {
	for _, f := range fields {
		top := f.Path.Top()
		switch f.Verdict {
		case diff.Differs:
			switch {
			case f.Immutable && f.Observed.IsSet():
				cause = append(cause, f.Path)
			case !f.Immutable:
				write = append(write, top)
			}
		case diff.Changed, diff.Removed:
			if !f.Immutable {
				write = append(write, top)
			}
		case diff.Unknown:
			if f.Immutable {
				maybe = append(maybe, f.Path)
			}
		}
	}
	slices.Sort(write)
	return slices.Compact(write), cause, maybe
}

// SyncCalls asks for the calls of a change and drops each in which a blocked param travels (S30). held are the params
// that are not written for it.
func SyncCalls(p resource.Provider, c resource.Change, fields []diff.Field) (calls []resource.Call, held []string, err error) {
	if len(c.Write) == 0 && len(c.Own) == 0 {
		return nil, nil, nil
	}
	all, err := p.Sync(c)
	if err != nil {
		return nil, nil, err
	}
	var blocked []string
	for _, f := range fields {
		if f.Verdict == diff.Blocked {
			blocked = append(blocked, f.Path.Top())
		}
	}
	for _, call := range all {
		if slices.ContainsFunc(call.Params, func(p string) bool { return slices.Contains(blocked, p) }) {
			held = append(held, call.Params...)
		} else {
			calls = append(calls, call)
		}
	}
	held = slices.DeleteFunc(held, func(p string) bool { return !slices.Contains(c.Write, p) })
	slices.Sort(held)
	return calls, slices.Compact(held), nil
}

func callNames(calls []resource.Call) []string {
	var out []string
	for _, c := range calls {
		name := c.Name
		if c.Detail != "" {
			name += " (" + c.Detail + ")"
		}
		out = append(out, name)
	}
	return out
}

func count(fields []diff.Field, v diff.Verdict) int {
	n := 0
	for _, f := range fields {
		if f.Verdict == v {
			n++
		}
	}
	return n
}

func paths(ps []value.Path) string {
	var out []string
	for _, p := range ps {
		out = append(out, string(p))
	}
	return strings.Join(out, ", ")
}
