package delta

import (
	"slices"
	"strings"

	"reclaim/engine/value"
)

// policy reports whether a value is an IAM policy document: the order of actions, resources and principals says nothing
// there, and one of them alone is a list of one.
func policy(v value.Value) bool {
	if v.Sensitive() {
		return false
	}
	statements := asList(v.Get("Statement"))
	return len(statements) > 0 && !slices.ContainsFunc(statements, func(s value.Value) bool { return !s.Get("Effect").IsSet() })
}

// normal writes a policy in one way: statements as a list, in each everything that is a set sorted. Anything else stays.
func normal(v value.Value) value.Value {
	if !policy(v) {
		return v
	}
	var list []value.Value
	for _, s := range asList(v.Get("Statement")) {
		m := value.Map{}
		for name, e := range s.Fields() {
			if text, ok := e.Str(); name == "Sid" && ok && text == "" {
				continue
			}
			m[name] = element(name, e)
		}
		list = append(list, value.OfMap(m))
	}
	return value.OfMap(v.Fields().With("Statement", value.ListOf(list...)))
}

func element(name string, v value.Value) value.Value {
	switch name {
	case "Action", "NotAction", "Resource", "NotResource":
		return set(v)
	case "Principal", "NotPrincipal":
		return each(v, set)
	case "Condition":
		return each(v, func(e value.Value) value.Value { return each(e, set) })
	}
	return v
}

func each(v value.Value, f func(value.Value) value.Value) value.Value {
	if v.Sensitive() || v.Kind() != value.Object {
		return v
	}
	m := value.Map{}
	for k, e := range v.Fields() {
		m[k] = f(e)
	}
	return value.OfMap(m)
}

// set returns a list in order, repeats left out; of one, that one.
func set(v value.Value) value.Value {
	if v.Sensitive() || v.Kind() == value.Object {
		return v
	}
	list := slices.Clone(asList(v))
	slices.SortStableFunc(list, func(a, b value.Value) int {
		x, _ := a.Str()
		y, _ := b.Str()
		return strings.Compare(x, y)
	})
	if list = slices.CompactFunc(list, same); len(list) == 1 {
		return list[0]
	}
	return value.ListOf(list...)
}

func asList(v value.Value) []value.Value {
	switch v.Kind() {
	case value.List:
		return v.Items()
	case value.Absent, value.Null:
		return nil
	}
	return []value.Value{v}
}
