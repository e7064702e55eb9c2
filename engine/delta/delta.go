// Package delta lays two values over each other, so that a screen can show how one becomes the other: member by member,
// item by item, and inside a text.
//
// Its one rule: it describes and decides nothing. Whether a field matches is the word of engine/diff; delta says where
// the two sides of a field that differs part. It is pure, and formats nothing.
package delta

import (
	"slices"
	"strings"

	"reclaim/engine/value"
)

// Op is what becomes of one place.
type Op uint8

const (
	Same    Op = iota
	Changed    // both sides have it, and it is not the same
	Added      // only the new side has it
	Gone       // only the old side has it
	Waits      // the new side is not known yet; its value says what it waits for
)

// Node is one place of two values laid over each other.
type Node struct {
	// Name is a member's name, or the identity of a list item: "Sid=table". An item without one has none.
	Name string
	Item bool // of a list; of a text of several lines: a line
	Op   Op
	Old  value.Value // of a place without Kids, and of one that is the same on both sides
	New  value.Value
	Kids []Node // what a composite holds, where not all of it is the same
	// Text: Old and New are texts, taken apart: as a JSON document, or line by line.
	Text bool
}

// Between returns how old becomes new: one node, or two where an object or list takes the place of something else.
// name is the place's own. Absent and Null are nothing.
func Between(name string, old, new value.Value) []Node { return between(Node{Name: name}, old, new) }

func between(at Node, old, new value.Value) []Node {
	x, y := taken(old), taken(new)
	at.Text = x.text && none(y.Value) || y.text && none(x.Value) || x.text && y.text
	a, b := x.Value, y.Value
	if policy(a) || policy(b) {
		a, b = normal(a), normal(b)
	}
	switch {
	case none(old) && none(new):
		return nil
	case none(old):
		return []Node{side(at, b, Added)}
	case new.Kind() == value.Unknown:
		at.Op, at.Old, at.New, at.Text = Waits, old, new, false
		return []Node{at}
	case none(new):
		return []Node{side(at, a, Gone)}
	case same(a, b):
		at.Old, at.New = a, b
		return []Node{at}
	case open(a) && open(b) && a.Kind() == b.Kind():
		return []Node{inside(at, a, b)}
	case a.Kind() == value.List && b.Kind() != value.Object:
		return []Node{inside(at, a, value.ListOf(b))} // one alone is a list of one
	case b.Kind() == value.List && a.Kind() != value.Object:
		return []Node{inside(at, value.ListOf(a), b)}
	case open(a) || open(b): // one shape takes the place of another
		return []Node{side(at, old, Gone), side(at, new, Added)}
	case lines(old) && lines(new):
		at.Text = true
		return []Node{inside(at, split(old), split(new))}
	}
	at.Op, at.Old, at.New, at.Text = Changed, old, new, false
	return []Node{at}
}

// inside compares two objects or two lists.
func inside(at Node, a, b value.Value) Node {
	at.Op = Changed
	if a.Kind() == value.Object {
		at.Kids = members(a.Fields(), b.Fields())
	} else {
		at.Kids = items(a.Items(), b.Items())
	}
	if !slices.ContainsFunc(at.Kids, func(n Node) bool { return n.Op != Same }) { // a policy written in another way
		at.Op, at.Kids, at.Old, at.New = Same, nil, a, b
	}
	return at
}

// side is a place that one side alone has, with everything in it.
func side(at Node, v value.Value, op Op) Node {
	at.Op = op
	if op == Added && v.Kind() == value.Unknown {
		at.Op = Waits
	}
	if !open(v) {
		at.Text = false
		if op == Added {
			at.New = v
		} else {
			at.Old = v
		}
		return at
	}
	for _, k := range v.Fields().Keys() {
		at.Kids = append(at.Kids, side(Node{Name: k}, v.Get(k), op))
	}
	for _, e := range v.Items() {
		at.Kids = append(at.Kids, side(Node{Item: true}, e, op))
	}
	return at
}

func members(a, b value.Map) []Node {
	names := slices.Concat(a.Keys(), b.Keys())
	slices.Sort(names)
	var out []Node
	for _, k := range slices.Compact(names) {
		out = append(out, between(Node{Name: k}, a[k], b[k])...)
	}
	return out
}

// same reports whether two values are the same to read: a number or a truth value and its text are.
func same(a, b value.Value) bool {
	if value.Equal(a, b) {
		return true
	}
	x, ok := a.Str()
	y, also := b.Str()
	return ok && also && x == y
}

// none reports what counts as nothing there. A plan that comes from the store has null where nothing was returned.
func none(v value.Value) bool { return v.Kind() == value.Absent || v.Kind() == value.Null }

// open reports whether a value has an inside that may be shown.
func open(v value.Value) bool {
	return !v.Sensitive() && (len(v.Fields()) > 0 || len(v.Items()) > 0)
}

// document is a value, or what a JSON text holds.
type document struct {
	value.Value
	text bool
}

// taken returns what a JSON text holds; any other value as it is.
func taken(v value.Value) document {
	text, ok := v.Str()
	text = strings.TrimSpace(text)
	if !ok || v.Kind() != value.String || !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return document{v, false}
	}
	if doc, err := value.ParseJSON([]byte(text)); err == nil && open(doc) {
		return document{doc, true}
	}
	return document{v, false}
}

func lines(v value.Value) bool {
	text, ok := v.Str()
	return ok && v.Kind() == value.String && strings.Contains(strings.TrimSuffix(text, "\n"), "\n")
}

func split(v value.Value) value.Value {
	text, _ := v.Str()
	return value.Of(strings.Split(strings.TrimSuffix(text, "\n"), "\n"))
}
