package template

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"reclaim/engine/value"
)

// evaluation computes values of a bound template from what is known now. What went wrong is recorded and becomes an
// Unknown that waits for nothing, so that one error is reported once.
type evaluation struct {
	*bound
	facts    Facts            // nil: nothing is known
	problems *Problems        // filled
	needs    map[string]*node // resources referred to, with the first reference; nil when nobody asks
}

// result is a value with the places its parts came from.
type result struct {
	v      value.Value // of a list or object literal only the kind; see value
	at     *node
	key    string   // in the object around it
	items  []result // parts of a list or object literal
	either []result // both branches, while the condition is unknown
}

var (
	emptyList   = value.ListOf()
	emptyObject = value.OfMap(nil)
)

func (e *evaluation) fail(n *node, hint, format string, args ...any) {
	p := parser{path: e.path, problems: *e.problems}
	p.fail(n, hint, format, args...)
	*e.problems = p.problems
}

// bad records a problem and gives the value that stands for it.
func (e *evaluation) bad(n *node, hint, format string, args ...any) result {
	e.fail(n, hint, format, args...)
	return result{v: value.Wait(), at: n}
}

// value assembles the whole value.
func (r result) value() value.Value {
	if r.items == nil {
		return r.v
	}
	var v value.Value
	if r.v.Kind() == value.List {
		l := make([]value.Value, len(r.items))
		for i, m := range r.items {
			l[i] = m.value()
		}
		v = value.ListOf(l...)
	} else {
		o := make(value.Map, len(r.items))
		for _, m := range r.items {
			o[m.key] = m.value()
		}
		v = value.OfMap(o)
	}
	if r.v.Sensitive() {
		v = v.AsSensitive()
	}
	return v
}

// parts returns the items of a list, or the members of an object in order.
func (r result) parts() []result {
	if r.items != nil {
		return r.items
	}
	var out []result
	for _, v := range r.v.Items() {
		out = append(out, result{v: v, at: r.at})
	}
	for _, k := range r.v.Fields().Keys() {
		out = append(out, result{v: r.v.Get(k), at: r.at, key: k})
	}
	return out
}

// secret marks everything in r sensitive.
func (r result) secret() result {
	if r.v.IsSet() {
		r.v = r.v.AsSensitive()
	}
	if r.items != nil {
		items := make([]result, len(r.items))
		for i, m := range r.items {
			items[i] = m.secret()
		}
		r.items = items
	}
	return r
}

// eval computes n. An Absent result stands for AWS::NoValue.
func (e *evaluation) eval(n *node) result {
	switch n.op {
	case opLiteral:
		return result{v: literal(n), at: n}
	case opList, opObject:
		return e.collection(n)
	case opRef:
		return e.ref(n)
	case opGetAtt:
		return e.fact(n)
	case opIf:
		return e.ifElse(n)
	case opSelect:
		return e.selectItem(n)
	case opFindInMap:
		return e.findInMap(n)
	case opSub:
		return e.sub(n)
	case opJoin:
		return e.join(n)
	case opSplit:
		return e.split(n)
	case opBase64:
		return e.base64(n)
	default:
		return result{v: e.decide(n), at: n}
	}
}

func literal(n *node) value.Value {
	switch n.kind {
	case value.Bool:
		return value.Of(n.text == "true")
	case value.Number:
		return value.Num(n.text)
	case value.Null: // reported already
		return value.Wait()
	default:
		return value.Of(n.text)
	}
}

func (e *evaluation) collection(n *node) result {
	r := result{v: emptyList, at: n, items: make([]result, 0, len(n.items))}
	if n.op == opObject {
		r.v = emptyObject
	}
	for _, m := range n.items {
		if item := e.eval(m); item.v.IsSet() {
			item.key = m.key
			r.items = append(r.items, item)
		}
	}
	return r
}

func (e *evaluation) ref(n *node) result {
	if v, ok := e.params[n.text]; ok {
		return result{v: v, at: n}
	}
	if v, ok := e.pseudo[n.text]; ok {
		return result{v: v, at: n}
	}
	if strings.HasPrefix(n.text, "AWS::") {
		if !slices.Contains(pseudoNames(), n.text) { // reported already
			return result{v: value.Wait(), at: n}
		}
		return e.bad(n, "Pass it as a parameter", "%s has no value: the stack has local types only", n.text)
	}
	return e.fact(n)
}

// source is what a reference waits for: "ID" or "ID.Attr".
func (n *node) source() string {
	if n.attr == "" {
		return n.text
	}
	return n.text + "." + n.attr
}

// fact asks for what a resource gives.
func (e *evaluation) fact(n *node) result {
	if cond := e.left[n.text]; cond != "" {
		return e.bad(n, "Guard the reference with Fn::If", "%s does not exist: its condition %s is false", n.text, cond)
	}
	if e.byID[n.text] == nil { // reported already
		return result{v: value.Wait(), at: n}
	}
	if e.needs != nil && e.needs[n.text] == nil {
		e.needs[n.text] = n
	}
	if e.facts != nil {
		if v, ok := e.facts(n.text, n.attr); ok {
			if !v.IsSet() || v.Kind() == value.Null {
				return e.bad(n, "Look again: the read did not return it", "%s has no value", n.source())
			}
			return result{v: v, at: n}
		}
	}
	return result{v: value.Wait(n.source()), at: n}
}

// mix gathers what several parts do to the whole: one unknown part makes it unknown, one sensitive part sensitive.
type mix struct {
	waits              []string
	unknown, sensitive bool
}

func (m *mix) add(v value.Value) {
	m.sensitive = m.sensitive || v.Sensitive()
	if v.Kind() == value.Unknown {
		m.unknown, m.waits = true, append(m.waits, v.Waits()...)
	}
}

// give returns v, or what the parts make of it.
func (m *mix) give(v value.Value) value.Value {
	if m.unknown {
		v = value.Wait(value.Wait(m.waits...).Waits()...)
	}
	if m.sensitive {
		v = v.AsSensitive()
	}
	return v
}

// scalar returns the text of a part.
func (e *evaluation) scalar(m *mix, r result, name string) string {
	switch r.v.Kind() {
	case value.Unknown:
		m.add(r.v)
	case value.Hash: // of a sensitive output: nobody can give its text back
		m.add(value.Wait(r.at.source()).AsSensitive())
	case value.String, value.Number, value.Bool:
		m.add(r.v)
		return r.v.Reveal()
	case value.Absent:
		m.add(e.bad(r.at, "AWS::NoValue stands for a property or list item that is left out", "%s takes a text, found AWS::NoValue", name).v)
	default:
		m.add(e.bad(r.at, "", "%s takes a text, found %s", name, show(r.v)).v)
	}
	return ""
}

// list returns the items of a list part. Their own unknowns and secrets are not in m yet.
func (e *evaluation) list(m *mix, n *node, name string) []result {
	r := e.eval(n)
	m.add(r.v)
	if r.v.Kind() == value.List {
		return r.parts()
	}
	if r.v.Kind() != value.Unknown {
		m.add(e.bad(n, "", "%s takes a list, found %s", name, show(r.v)).v)
	}
	return nil
}

func (e *evaluation) sub(n *node) result {
	var m mix
	var b strings.Builder
	for _, part := range n.items {
		b.WriteString(e.scalar(&m, e.eval(part), "Fn::Sub"))
	}
	return result{v: m.give(value.Of(b.String())), at: n}
}

func (e *evaluation) join(n *node) result {
	var m mix
	delimiter := e.scalar(&m, e.eval(n.items[0]), "Fn::Join")
	var texts []string
	for _, item := range e.list(&m, n.items[1], "Fn::Join") {
		texts = append(texts, e.scalar(&m, item, "Fn::Join"))
	}
	return result{v: m.give(value.Of(strings.Join(texts, delimiter))), at: n}
}

func (e *evaluation) split(n *node) result {
	var m mix
	delimiter := e.scalar(&m, e.eval(n.items[0]), "Fn::Split")
	source := e.scalar(&m, e.eval(n.items[1]), "Fn::Split")
	return result{v: m.give(value.Of(strings.Split(source, delimiter))), at: n}
}

func (e *evaluation) base64(n *node) result {
	var m mix
	text := e.scalar(&m, e.eval(n.items[0]), "Fn::Base64")
	return result{v: m.give(value.Of(base64.StdEncoding.EncodeToString([]byte(text)))), at: n}
}

func (e *evaluation) selectItem(n *node) result {
	var m mix
	at := e.eval(n.items[0])
	index := e.scalar(&m, at, "Fn::Select")
	items := e.list(&m, n.items[1], "Fn::Select")
	if m.unknown {
		return result{v: m.give(value.Value{}), at: n}
	}
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= len(items) {
		return e.bad(n, "", "Fn::Select has no item %s in a list of %d", show(at.v), len(items))
	}
	for _, item := range items[:i+1] {
		if item.either != nil { // it may be left out, and move the others
			m.add(item.v)
		}
	}
	switch {
	case m.unknown:
		return result{v: m.give(value.Value{}), at: n}
	case m.sensitive:
		return items[i].secret()
	default:
		return items[i]
	}
}

func (e *evaluation) findInMap(n *node) result {
	var m mix
	var keys [3]string
	for i, k := range n.items {
		keys[i] = e.scalar(&m, e.eval(k), "Fn::FindInMap")
	}
	if m.unknown {
		return result{v: m.give(value.Value{}), at: n}
	}
	found := e.mappings[keys[0]]
	if found == nil && n.items[0].isText() { // reported already
		return result{v: value.Wait(), at: n}
	}
	for _, k := range keys[1:] {
		found = found.get(k)
	}
	if found == nil {
		path := "(sensitive)"
		if !m.sensitive {
			path = fmt.Sprintf("%s, %s, %s", quote(keys[0]), quote(keys[1]), quote(keys[2]))
		}
		return e.bad(n, "Add it to Mappings", "the mappings have no entry %s", path)
	}
	r := e.eval(found)
	if m.sensitive {
		r = r.secret()
	}
	return result{v: r.value(), at: n}
}

func (e *evaluation) ifElse(n *node) result {
	cond := e.condition(n.text)
	if cond.Kind() == value.Unknown {
		branches := []result{e.eval(n.items[0]), e.eval(n.items[1])}
		if branches[0].value().HasSensitive() || branches[1].value().HasSensitive() {
			cond = cond.AsSensitive()
		}
		return result{v: cond, at: n, either: branches}
	}
	branch := n.items[0]
	if isFalse(cond) {
		branch = n.items[1]
	}
	r := e.eval(branch)
	if cond.Sensitive() {
		r = r.secret()
	}
	return r
}

// condition returns a named condition's value: a boolean, or Unknown. Bind fills them all in before anything else reads;
// one that needs itself ends as Unknown.
func (e *evaluation) condition(name string) value.Value {
	if v, ok := e.conds[name]; ok {
		return v
	}
	e.conds[name] = value.Wait()
	n := e.condByName[name]
	if n == nil { // reported already
		return e.conds[name]
	}
	v := e.decide(n)
	e.conds[name] = v
	return v
}

// decide computes a condition.
func (e *evaluation) decide(n *node) value.Value {
	var m mix
	switch n.op {
	case opCondition:
		return e.condition(n.text)
	case opNot:
		v := e.decide(n.items[0])
		m.add(v)
		return m.give(value.Of(isFalse(v)))
	case opEquals:
		a, b := e.eval(n.items[0]).value(), e.eval(n.items[1]).value()
		for _, v := range []value.Value{a, b} {
			m.sensitive = m.sensitive || v.HasSensitive()
			if v.HasUnknown() {
				m.unknown, m.waits = true, append(m.waits, v.Waits()...)
			}
		}
		return m.give(value.Of(same(a, b)))
	case opAnd, opOr:
		return e.connective(n)
	default: // refused when it was read
		return value.Wait()
	}
}

// connective decides And and Or: one part that settles it is enough, whatever the others wait for.
func (e *evaluation) connective(n *node) value.Value {
	var m mix
	settled := false
	for _, part := range n.items {
		v := e.decide(part)
		m.add(v)
		settled = settled || v.Kind() == value.Bool && isFalse(v) == (n.op == opAnd)
	}
	if settled {
		m.unknown = false
	}
	return m.give(value.Of(settled == (n.op == opOr)))
}

// same compares as CloudFormation does: scalars by their text.
func same(a, b value.Value) bool {
	if scalarKind(a) && scalarKind(b) {
		return a.Reveal() == b.Reveal()
	}
	return value.Equal(a, b)
}

func scalarKind(v value.Value) bool {
	return v.Kind() == value.String || v.Kind() == value.Number || v.Kind() == value.Bool
}

// output computes the value of an output.
func (e *evaluation) output(n *node) value.Value {
	r := e.eval(n)
	if !r.v.IsSet() {
		e.fail(n, "Give the output a condition", "the output has no value")
	}
	return r.value()
}
