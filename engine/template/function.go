package template

import (
	"regexp"
	"strconv"
	"strings"

	"reclaim/engine/value"
)

// function describes one intrinsic function: how its argument is checked and turned into the node's op.
type function struct {
	condition bool // gives a condition: only in Conditions
	compile   func(p *parser, n, arg *node, in context)
}

// context is where a value stands.
type context uint8

const (
	inValue     context = iota // Properties and Outputs
	inCondition                // Conditions: no resources
)

// functions by long name. Filled by init, since compiling is recursive.
var functions map[string]function

func init() {
	functions = map[string]function{
		"Ref":             {compile: (*parser).ref},
		"Fn::GetAtt":      {compile: (*parser).getAtt},
		"Fn::Sub":         {compile: (*parser).sub},
		"Fn::Join":        {compile: (*parser).join},
		"Fn::Select":      {compile: (*parser).selectItem},
		"Fn::Split":       {compile: (*parser).split},
		"Fn::If":          {compile: (*parser).ifElse},
		"Fn::FindInMap":   {compile: (*parser).findInMap},
		"Fn::Base64":      {compile: (*parser).base64},
		"Fn::And":         {condition: true, compile: connective(opAnd)},
		"Fn::Or":          {condition: true, compile: connective(opOr)},
		"Fn::Not":         {condition: true, compile: (*parser).not},
		"Fn::Equals":      {condition: true, compile: (*parser).equals},
		conditionFunction: {condition: true, compile: (*parser).conditionRef},
	}
}

// conditionFunction is a function only inside Conditions; elsewhere it is an ordinary key.
const conditionFunction = "Condition"

// unsupported names functions that are refused, with what to do instead.
var unsupported = map[string]string{
	"Fn::ImportValue":  "Pass the value as a parameter",
	"Fn::Cidr":         "Write the ranges out, or pass them as a parameter",
	"Fn::GetAZs":       "Pass the zones as a parameter",
	"Fn::Transform":    "Write out what the macro makes",
	"Fn::ToJsonString": "Write the JSON as text, with Fn::Sub",
	"Fn::Length":       "Write the number out",
}

// compile turns n and everything inside it from read data into functions, in place.
func (p *parser) compile(n *node, in context) {
	name, arg := p.call(n, in)
	if arg == nil {
		p.plain(n, in)
		return
	}
	n.op = opCall
	f, ok := functions[name]
	switch {
	case name == "": // refused
	case !ok:
		hint := unsupported[name]
		if hint == "" {
			hint = did(name, keys(functions))
		}
		p.fail(n, hint, "the function %s is not supported", quote(name))
	case f.condition && in != inCondition:
		p.fail(n, "Name a condition in Conditions and use Fn::If", "%s is allowed only in Conditions", name)
	default:
		f.compile(p, n, arg, in)
	}
}

// call returns the long name of the function that n calls and its argument. The argument is nil when n is plain data;
// the name is empty when the call was refused.
func (p *parser) call(n *node, in context) (string, *node) {
	if n.tag != "" {
		return p.short(n)
	}
	if n.op != opObject {
		return "", nil
	}
	for _, m := range n.items {
		switch {
		case !strings.HasPrefix(m.key, "Fn::") && m.key != "Ref" && (m.key != conditionFunction || in != inCondition):
			continue
		case strings.HasPrefix(m.key, "Fn::ForEach"):
			p.failKey(m, "Write the copies out", "Fn::ForEach is not supported")
			return "", m
		case len(n.items) > 1:
			p.failKey(m, "A function is a map with one key", "%s has other keys beside it", quote(m.key))
			return "", m
		}
		return m.key, m
	}
	return "", nil
}

// short divides a tagged value into function and argument.
func (p *parser) short(n *node) (string, *node) {
	arg := *n
	arg.tag, arg.up = "", n
	for _, m := range arg.items {
		m.up = &arg
	}
	name := strings.TrimPrefix(n.tag, "!")
	n.tag = ""
	if name == "Ref" || name == conditionFunction {
		return name, &arg
	}
	long := "Fn::" + name
	_, known := functions[long]
	if _, refused := unsupported[long]; !known && !refused {
		p.fail(n, did("!"+name, shortNames()), "the tag %s is not supported", quote("!"+name))
		return "", &arg
	}
	return long, &arg
}

func shortNames() []string {
	names := keys(functions)
	for i, n := range names {
		names[i] = "!" + strings.TrimPrefix(n, "Fn::")
	}
	return names
}

// plain compiles what is inside plain data.
func (p *parser) plain(n *node, in context) {
	switch {
	case n.op == opLiteral && n.kind == value.Null:
		p.fail(n, "Give a value, or leave the key out", "null is not a value")
	case n.op == opLiteral:
		p.dynamic(n, n.text)
	default:
		for _, m := range n.items {
			p.compile(m, in)
		}
	}
}

// dynamic refuses references that CloudFormation resolves in the services: they would be written as they stand.
func (p *parser) dynamic(n *node, text string) {
	if strings.Contains(text, "{{resolve:") {
		p.fail(n, "Pass the value as a NoEcho parameter", "dynamic references {{resolve:…}} are not supported")
	}
}

// become makes n a function with the given arguments.
func (n *node) become(o op, args ...*node) {
	n.op, n.kind, n.text, n.items = o, 0, "", args
	for _, a := range args {
		a.up = n
	}
}

// args compiles the items of a list argument, whose count must lie in a range; nil when it does not.
func (p *parser) args(n, arg *node, in context, name string, least, most int, shape string) []*node {
	if arg.tag != "" || arg.op != opList || len(arg.items) < least || len(arg.items) > most {
		p.fail(n, "", "%s takes %s, found %s", name, shape, describe(arg))
		return nil
	}
	items := arg.items
	for _, m := range items {
		p.compile(m, in)
	}
	return items
}

func describe(arg *node) string {
	if arg.tag == "" && arg.op == opList {
		return "a list of " + strconv.Itoa(len(arg.items))
	}
	return arg.what()
}

func (p *parser) ref(n, arg *node, in context) {
	if !arg.isText() {
		p.fail(n, "", "Ref takes a name, found %s", arg.what())
		return
	}
	text := arg.text
	n.become(opRef)
	n.text = text
	p.refTo(n, in)
}

// refTo notes a Ref or GetAtt to be checked once everything is declared.
func (p *parser) refTo(n *node, in context) {
	n.cond = in == inCondition
	p.refs = append(p.refs, n)
}

func (p *parser) getAtt(n, arg *node, in context) {
	var id, attr string
	switch {
	case arg.isText():
		id, attr, _ = strings.Cut(arg.text, ".")
	case arg.tag == "" && arg.op == opList && len(arg.items) == 2 && arg.items[0].isText() && arg.items[1].isText():
		id, attr = arg.items[0].text, arg.items[1].text
	}
	if id == "" || attr == "" {
		p.fail(n, "", "Fn::GetAtt takes Resource.Attribute or [Resource, Attribute] as plain text, found %s", describe(arg))
		return
	}
	n.become(opGetAtt)
	n.text, n.attr = id, attr
	p.refTo(n, in)
}

func (p *parser) join(n, arg *node, in context) {
	if a := p.args(n, arg, in, "Fn::Join", 2, 2, "a delimiter and a list"); a != nil {
		p.literalText(a[0], "the delimiter of Fn::Join")
		p.wantList(a[1], "Fn::Join")
		n.become(opJoin, a...)
	}
}

func (p *parser) selectItem(n, arg *node, in context) {
	if a := p.args(n, arg, in, "Fn::Select", 2, 2, "an index and a list"); a != nil {
		p.wantList(a[1], "Fn::Select")
		n.become(opSelect, a...)
	}
}

func (p *parser) split(n, arg *node, in context) {
	if a := p.args(n, arg, in, "Fn::Split", 2, 2, "a delimiter and a text"); a != nil {
		p.literalText(a[0], "the delimiter of Fn::Split")
		if a[0].isText() && a[0].text == "" {
			p.fail(a[0], "Name what stands between the parts", "the delimiter of Fn::Split is empty")
		}
		n.become(opSplit, a...)
	}
}

func (p *parser) literalText(n *node, what string) {
	if !n.isText() {
		p.fail(n, "", "%s must be plain text", what)
	}
}

// wantList refuses what can never be a list.
func (p *parser) wantList(n *node, name string) {
	if n.op == opLiteral || n.op == opObject || n.op == opJoin || n.op == opSub || n.op == opBase64 {
		p.fail(n, "", "%s takes a list, found %s", name, n.what())
	}
}

func (p *parser) ifElse(n, arg *node, in context) {
	if in == inCondition {
		p.fail(n, "Combine conditions with Fn::And, Fn::Or and Fn::Not", "Fn::If is not allowed in Conditions")
		return
	}
	const shape = "the name of a condition and two values"
	if arg.tag != "" || arg.op != opList || len(arg.items) != 3 || !arg.items[0].isText() {
		p.fail(n, "", "Fn::If takes %s, found %s", shape, describe(arg))
		return
	}
	name, branches := arg.items[0], arg.items[1:]
	for _, b := range branches {
		p.compile(b, in)
	}
	n.become(opIf, branches...)
	n.text = name.text
	p.refs = append(p.refs, n)
}

func (p *parser) findInMap(n, arg *node, in context) {
	if arg.tag == "" && arg.op == opList && len(arg.items) == 4 {
		p.fail(n, "Add the key to the mapping", "a default value in Fn::FindInMap is not supported")
		return
	}
	if a := p.args(n, arg, in, "Fn::FindInMap", 3, 3, "a mapping and two keys"); a != nil {
		n.become(opFindInMap, a...)
		p.refs = append(p.refs, n)
	}
}

func (p *parser) base64(n, arg *node, in context) {
	p.compile(arg, in)
	n.become(opBase64, arg)
}

func connective(o op) func(*parser, *node, *node, context) {
	name := map[op]string{opAnd: "Fn::And", opOr: "Fn::Or"}[o]
	return func(p *parser, n, arg *node, in context) {
		if a := p.args(n, arg, in, name, 2, 10, "2 to 10 conditions"); a != nil {
			p.wantConditions(a, name)
			n.become(o, a...)
		}
	}
}

func (p *parser) not(n, arg *node, in context) {
	if a := p.args(n, arg, in, "Fn::Not", 1, 1, "a list of one condition"); a != nil {
		p.wantConditions(a, "Fn::Not")
		n.become(opNot, a...)
	}
}

func (p *parser) equals(n, arg *node, in context) {
	if a := p.args(n, arg, in, "Fn::Equals", 2, 2, "two values"); a != nil {
		n.become(opEquals, a...)
	}
}

func (p *parser) conditionRef(n, arg *node, _ context) {
	if !arg.isText() {
		p.fail(n, "", "Condition takes the name of a condition, found %s", arg.what())
		return
	}
	text := arg.text
	n.become(opCondition)
	n.text = text
	p.refs = append(p.refs, n)
}

// isCondition includes what was refused already, so that it is not reported twice.
func (n *node) isCondition() bool { return n.op >= opAnd }

func (p *parser) wantConditions(items []*node, name string) {
	for _, m := range items {
		if !m.isCondition() {
			p.fail(m, "Use Fn::Equals, Fn::And, Fn::Or, Fn::Not or Condition", "%s takes conditions, found %s", name, m.what())
		}
	}
}

// subName is what may stand between ${ and }.
var subName = regexp.MustCompile(`^[A-Za-z0-9_:.]+$`)

// sub compiles Fn::Sub into the parts that are joined: literals, references and the variables' values.
func (p *parser) sub(n, arg *node, in context) {
	text, vars := arg, (*node)(nil)
	if arg.tag == "" && arg.op == opList && len(arg.items) == 2 {
		text, vars = arg.items[0], arg.items[1]
	}
	if !text.isText() || vars != nil && (vars.op != opObject || vars.tag != "") {
		p.fail(n, "", "Fn::Sub takes a text, or a list of a text and a map of variables, found %s", describe(arg))
		return
	}
	p.dynamic(text, text.text)
	if vars != nil {
		for _, v := range vars.items {
			p.compile(v, in)
		}
	}
	parts := p.subParts(n, text, vars, in)
	n.op, n.kind, n.text, n.items = opSub, 0, "", parts
}

func (p *parser) subParts(n, text, vars *node, in context) []*node {
	var parts []*node
	part := func(o op, s string) *node {
		m := &node{op: o, kind: value.String, text: s, line: text.line, col: text.col, up: n}
		parts = append(parts, m)
		return m
	}
	rest := text.text
	for {
		before, after, ok := strings.Cut(rest, "${")
		name, next, closed := strings.Cut(after, "}")
		if !ok || !closed {
			break
		}
		if before != "" {
			part(opLiteral, before)
		}
		rest = next
		switch v := vars.get(name); {
		case strings.HasPrefix(name, "!"):
			part(opLiteral, "${"+name[1:]+"}")
		case v != nil:
			parts = append(parts, v)
		case !subName.MatchString(name):
			p.fail(text, "Write ${!…} for a literal ${…}", "%s in Fn::Sub is not a name", quote("${"+name+"}"))
		default:
			id, attr, dotted := strings.Cut(name, ".")
			m := part(opRef, id)
			if dotted {
				m.op, m.attr = opGetAtt, attr
			}
			p.refTo(m, in)
		}
	}
	if rest != "" || len(parts) == 0 {
		part(opLiteral, rest)
	}
	return parts
}
