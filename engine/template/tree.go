package template

import (
	"fmt"
	"slices"

	"reclaim/engine/value"
)

// Bounds of the tree. CloudFormation's own limits are far below.
const (
	maxDepth   = 128     // levels of nesting
	maxAliased = 100_000 // values that YAML aliases may add
)

// op is what a node stands for.
type op uint8

const (
	opLiteral op = iota // a scalar: kind and text
	opList
	opObject
	opRef       // text names a parameter, pseudo parameter or resource
	opGetAtt    // text is the resource, attr the attribute
	opSub       // items are concatenated
	opJoin      // delimiter, list
	opSelect    // index, list
	opSplit     // delimiter, source
	opIf        // text is the condition; then, else
	opFindInMap // map name, two keys
	opBase64    // one scalar
	opAnd       // conditions
	opOr        // conditions
	opNot       // one condition
	opEquals    // two values
	opCondition // text names a condition
	opCall      // a function that is being compiled, or was refused
)

// node is one value of the positioned tree. Reading makes literals, lists and objects; compile turns those that are
// functions into their op, in place.
type node struct {
	op        op
	kind      value.Kind // of a literal
	line, col int32
	text      string
	attr      string
	tag       string // short form of a function ("!Ref") until it is compiled
	items     []*node
	up        *node
	// key is the name in the object above, with its own place.
	key             string
	keyLine, keyCol int32
	cond            bool // of a reference: stands in Conditions
}

// get returns the member of an object, nil when there is none.
func (n *node) get(key string) *node {
	if n == nil || n.op != opObject {
		return nil
	}
	for _, m := range n.items {
		if m.key == key {
			return m
		}
	}
	return nil
}

// isText reports whether n is a literal string, number or boolean.
func (n *node) isText() bool {
	return n.op == opLiteral && n.tag == "" && n.kind != value.Null
}

// where is the place of n in the template: Resources.OrdersRole.Properties.Policies[0]. Places inside a function are
// shown as the function's own.
func (n *node) where() string { return string(n.path()) }

func (n *node) path() value.Path {
	for a := n.up; a != nil; a = a.up {
		if a.op >= opRef {
			n = a
		}
	}
	return n.plainPath()
}

func (n *node) plainPath() value.Path {
	switch {
	case n.up == nil:
		return ""
	case n.up.op == opList:
		return n.up.plainPath().At(slices.Index(n.up.items, n))
	default:
		return n.up.plainPath().Child(n.key)
	}
}

// what names the shape of n for messages.
func (n *node) what() string {
	switch {
	case n.tag != "":
		return printable(n.tag)
	case n.op == opList:
		return "a list"
	case n.op == opObject:
		return "a map"
	case n.op == opLiteral && n.kind == value.Null:
		return "nothing"
	case n.op == opLiteral:
		return quote(n.text)
	default:
		return "a function"
	}
}

// atKey is n placed at its key, where it has one.
func (n *node) atKey() *node {
	if n.keyLine == 0 {
		return n
	}
	k := *n
	k.line, k.col = n.keyLine, n.keyCol
	return &k
}

// parser collects the problems of one file.
type parser struct {
	path     string
	problems Problems
	refs     []*node // Ref, GetAtt, FindInMap and condition names, checked once everything is declared
}

// fail records a problem at n.
func (p *parser) fail(n *node, hint, format string, args ...any) {
	if p.problems.full() {
		return
	}
	p.failAt(int(n.line), int(n.col), n.where(), hint, fmt.Sprintf(format, args...))
}

// failKey records a problem at the key of n.
func (p *parser) failKey(n *node, hint, format string, args ...any) {
	p.fail(n.atKey(), hint, format, args...)
}

func (p *parser) failAt(line, col int, where, hint, text string) {
	p.problems = append(p.problems, Problem{File: p.path, Line: max(line, 1), Col: max(col, 1), Where: where, Text: text, Hint: hint})
}

// object checks a freshly read object: keys once, no merge keys, none of the marks of stored values.
func (p *parser) object(n *node) {
	if len(n.items) == 1 && (n.items[0].key == "$sensitive" || n.items[0].key == "$unknown") {
		p.failKey(n.items[0], "Rename the key, or put another beside it", "a map whose only key is %q stands for a stored value", n.items[0].key)
	}
	if len(n.items) <= 8 {
		for i, m := range n.items {
			for _, first := range n.items[:i] {
				if first.key == m.key {
					p.duplicate(m, first)
					break
				}
			}
		}
		return
	}
	seen := make(map[string]*node, len(n.items))
	for _, m := range n.items {
		if first, ok := seen[m.key]; ok {
			p.duplicate(m, first)
		} else {
			seen[m.key] = m
		}
	}
}

func (p *parser) duplicate(again, first *node) {
	p.failKey(again, "Keep one of the two", "the key %s stands twice: first at line %d, column %d",
		quote(again.key), first.keyLine, first.keyCol)
}
