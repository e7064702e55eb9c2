package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"reclaim/engine/value"
)

// read makes the tree of a file, nil when its syntax is broken. A file that starts with "{" and is JSON is read as
// JSON, since YAML refuses some of it (surrogate pairs in strings).
func (p *parser) read(src []byte) *node {
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	head := bytes.TrimLeft(src, " \t\r\n")
	if len(head) == 0 {
		p.failAt(1, 1, "", "Write at least a Resources section", "the file is empty")
		return nil
	}
	var root *node
	if strings.HasSuffix(p.path, ".json") || head[0] == '{' && json.Valid(src) {
		root = p.readJSON(src)
	} else {
		root = p.readYAML(src)
	}
	if root != nil && root.op != opObject {
		p.fail(root, "Write sections: Parameters, Resources, Outputs", "a template is a map, found %s", root.what())
		return nil
	}
	return root
}

func (p *parser) readYAML(src []byte) *node {
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			p.failAt(1, 1, "", "Write at least a Resources section", "the file is empty")
		} else {
			p.yamlSyntax(err)
		}
		return nil
	}
	if err := dec.Decode(&more); err == nil {
		p.failAt(more.Line, more.Column, "", "Keep one template per file", "a second YAML document starts here")
	} else if !errors.Is(err, io.EOF) {
		p.yamlSyntax(err)
	}
	y, root := &yamlReader{parser: p}, &node{}
	if !y.fill(root, doc.Content[0], 0) {
		return nil
	}
	return root
}

// yamlLine finds the line in an error of the YAML library, which has it only in the text.
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func (p *parser) yamlSyntax(err error) {
	m := yamlLine.FindStringSubmatch(err.Error())
	line, text := 1, err.Error()
	if m != nil {
		text = text[len(m[0]):]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
	}
	p.failAt(line, 1, "", "Correct the file's syntax", "not YAML: "+printable(text))
}

// yamlReader copies the library's nodes into the tree.
type yamlReader struct {
	*parser
	open    []*yaml.Node // anchors whose content is being read
	aliased int          // values made through aliases
	stopped bool
}

// fill copies y into n, whose place above is set. It returns false when y was refused.
func (r *yamlReader) fill(n *node, y *yaml.Node, depth int) bool {
	n.line, n.col = int32(y.Line), int32(y.Column)
	if depth > maxDepth {
		r.fail(n, "Flatten it", "nested more than %d levels deep", maxDepth)
		return false
	}
	if len(r.open) > 0 {
		r.aliased++
	}
	switch y.Kind {
	case yaml.AliasNode:
		return r.alias(n, y, depth)
	case yaml.ScalarNode:
		r.scalar(n, y)
	case yaml.SequenceNode:
		n.op = opList
		n.tag = r.tag(n, y, "!!seq")
		n.items = make([]*node, 0, len(y.Content))
		for _, c := range y.Content {
			r.add(n, &node{up: n}, c, depth)
		}
	case yaml.MappingNode:
		n.op = opObject
		n.tag = r.tag(n, y, "!!map")
		r.members(n, y, depth)
	}
	return true
}

// add makes m, filled from y, the next item of n, unless y is refused.
func (r *yamlReader) add(n, m *node, y *yaml.Node, depth int) {
	n.items = append(n.items, m)
	if !r.fill(m, y, depth+1) {
		n.items = n.items[:len(n.items)-1]
	}
}

// alias copies what an alias stands for, within bounds: a few lines of nested aliases can stand for millions of values.
func (r *yamlReader) alias(n *node, y *yaml.Node, depth int) bool {
	if r.stopped {
		return false
	}
	if slices.Contains(r.open, y.Alias) {
		r.fail(n, "Write the value out", "the anchor %s contains itself", quote(y.Value))
		return false
	}
	if r.aliased > maxAliased {
		r.stopped = true
		r.fail(n, "Write the values out", "aliases stand for more than %d values", maxAliased)
		return false
	}
	r.open = append(r.open, y.Alias)
	ok := r.fill(n, y.Alias, depth)
	r.open = r.open[:len(r.open)-1]
	return ok
}

func (r *yamlReader) members(n *node, y *yaml.Node, depth int) {
	n.items = make([]*node, 0, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		k := y.Content[i]
		m := &node{line: int32(k.Line), col: int32(k.Column), up: n, keyLine: int32(k.Line), keyCol: int32(k.Column)}
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		m.key = k.Value
		switch {
		case k.Kind != yaml.ScalarNode:
			r.fail(m, "Write a plain name", "a key must be text")
		case k.Tag == "!!merge":
			r.fail(m, "Write the keys out", "YAML merge keys (<<) are not supported")
		case k.Style&yaml.TaggedStyle != 0 && k.Tag != "!!str":
			r.fail(m, "Write a plain name", "the tag %s on a key is not supported", quote(k.Tag))
		default:
			r.add(n, m, y.Content[i+1], depth)
		}
	}
	r.object(n)
}

// tag returns the function's short form of a collection, and refuses YAML's other tags.
func (r *yamlReader) tag(n *node, y *yaml.Node, usual string) string {
	switch {
	case y.Style&yaml.TaggedStyle == 0 || y.Tag == usual:
		return ""
	case strings.HasPrefix(y.Tag, "!!"):
		r.fail(n, "Leave the tag out", "the YAML tag %s is not supported here", quote(y.Tag))
		return ""
	default:
		return y.Tag
	}
}

// number is JSON's grammar: what else YAML reads as a number (0644, 0x1f, 1_000, .inf) stays text as written.
var number = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// scalar reads one scalar. Only true and false are booleans; dates and versions stay text.
func (r *yamlReader) scalar(n *node, y *yaml.Node) {
	n.text, n.kind = y.Value, value.String
	if y.Style&yaml.TaggedStyle != 0 {
		switch y.Tag {
		case "!!str":
		case "!!int", "!!float", "!!bool", "!!null":
			n.kind = plainKind(y.Value)
		default:
			n.tag = r.tag(n, y, "!!str")
		}
		return
	}
	if y.Style == 0 {
		n.kind = plainKind(y.Value)
	}
}

func plainKind(text string) value.Kind {
	switch {
	case text == "true" || text == "false":
		return value.Bool
	case text == "" || text == "~" || text == "null":
		return value.Null
	case number.MatchString(text):
		return value.Number
	default:
		return value.String
	}
}
