package template

import (
	"path/filepath"
	"slices"
	"strings"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// bound is what evaluation reads: a template with its parameters, scope, conditions and schemas. It does not change
// once Bind has returned.
type bound struct {
	*Template
	base    string
	params  map[string]value.Value
	pseudo  map[string]value.Value
	conds   map[string]value.Value
	left    map[string]string // resources that do not exist: ID to the condition that is false
	schemas map[string]*resource.Schema
}

// binder collects the problems of one Bind.
type binder struct {
	*bound
	Binding
	problems Problems
}

func (b *binder) fail(n *node, hint, format string, args ...any) {
	b.evaluation().fail(n, hint, format, args...)
}

// Bind makes the graph of one stack. Nothing outside is asked: it works without credentials and network. The error is
// Problems: those of the template's form as well, in the order of the file. Where a condition depends on an unknown pseudo parameter, both outcomes are checked and what it guards counts
// as existing.
func (t *Template) Bind(in Binding) (*Graph, error) {
	b := &binder{Binding: in, problems: slices.Clone(t.broken), bound: &bound{Template: t, params: map[string]value.Value{}, conds: map[string]value.Value{},
		left: map[string]string{}, schemas: map[string]*resource.Schema{}}}
	b.folder()
	g := &Graph{Path: t.path, SHA256: t.sha, Base: b.base, Stack: in.Stack, Scope: in.Scope,
		Parameters: b.parameters(), bound: b.bound, byID: map[string]*Resource{}}
	b.pseudo = pseudoValues(in)
	b.types()
	b.attributes()
	b.conditions()
	b.exist()
	b.graph(g)
	if err := b.problems.sorted(); err != nil {
		return nil, err
	}
	return g, nil
}

func (b *binder) folder() {
	base := b.Base
	if base == "" {
		base = filepath.Dir(b.path)
	}
	abs, err := filepath.Abs(base)
	if err != nil {
		b.fail(b.root, "Name the folder that local paths are relative to", "no absolute folder: %s", printable(err.Error()))
	}
	b.base = abs
}

// parameters gives every parameter its value. One that has none, or a bad one, counts as unknown so that the rest of the
// template is still checked.
func (b *binder) parameters() value.Map {
	out := value.Map{}
	for _, name := range slices.Sorted(slices.Values(keys(b.Parameters))) {
		if b.paramByName[name] == nil {
			b.fail(b.at("Parameters").atKey(), did(name, keys(b.paramByName)), "the template has no parameter %s", quote(name))
		}
	}
	var missing []*parameter
	for _, p := range b.Template.parameters {
		text, given := b.Parameters[p.Name]
		switch {
		case given:
		case p.badDefault: // reported already
			b.params[p.Name] = value.Wait(p.Name)
			continue
		case p.Default.IsSet():
			text = p.Default.Reveal()
		default:
			missing = append(missing, p)
			b.params[p.Name] = value.Wait(p.Name)
			continue
		}
		if wrong, hint := p.check(text); wrong != "" {
			b.fail(p.node.atKey(), hint, "the value %s", wrong)
			b.params[p.Name] = value.Wait(p.Name)
			continue
		}
		b.params[p.Name] = p.value(text)
		out[p.Name] = b.params[p.Name]
	}
	b.missing(missing)
	return out
}

// missing reports the parameters without a value, each at its place; the first says how to give all of them.
func (b *binder) missing(all []*parameter) {
	hint := "Give it with --parameters"
	if len(all) > 1 {
		hint = "Give them all with --parameters"
	}
	for _, p := range all {
		hint += " " + p.Name + "=…"
	}
	for _, p := range all {
		b.fail(p.node.atKey(), hint, "the parameter has no value and no default")
		hint = ""
	}
}

// at returns the named section, else the whole template.
func (b *binder) at(section string) *node {
	if n := b.root.get(section); n != nil {
		return n
	}
	return b.root
}

// suffixes are the domains of the partitions other than AWS's main ones.
var suffixes = map[string]string{
	"aws-cn": "amazonaws.com.cn", "aws-iso": "c2s.ic.gov", "aws-iso-b": "sc2s.sgov.gov", "aws-iso-e": "cloud.adc-e.uk",
	"aws-iso-f": "csp.hci.ic.gov", "aws-eusc": "amazonaws.eu",
}

// pseudoValues are the pseudo parameters of a scope; what it leaves empty is unknown. A local stack has none of AWS's.
func pseudoValues(in Binding) map[string]value.Value {
	out := map[string]value.Value{noValue: {}}
	set := func(name, text string) {
		if text == "" {
			out[name] = value.Wait(name)
		} else {
			out[name] = value.Of(text)
		}
	}
	set("AWS::StackName", in.Stack)
	if in.Scope.IsLocal() {
		return out
	}
	set("AWS::AccountId", in.Scope.Account)
	set("AWS::Region", in.Scope.Region)
	set("AWS::Partition", in.Scope.Partition)
	suffix := suffixes[in.Scope.Partition]
	if suffix == "" && in.Scope.Partition != "" {
		suffix = "amazonaws.com"
	}
	set("AWS::URLSuffix", suffix)
	return out
}

// types looks every type up, whether its resources exist or not.
func (b *binder) types() {
	for _, d := range b.Template.resources {
		if d.badType || b.schemas[d.typ] != nil {
			continue
		}
		if b.Schemas != nil {
			if s, ok := b.Schemas(d.typ); ok {
				b.schemas[d.typ] = s
				continue
			}
		}
		hint := did(d.typ, b.Known)
		if hint == "" {
			hint = "See reclaim types"
		}
		b.fail(d.typeNode, hint, "the type %s is not supported", quote(d.typ))
	}
}

// attributes checks every GetAtt against the schema of its resource, also in branches that are not taken.
func (b *binder) attributes() {
	for _, n := range b.refs {
		if n.op != opGetAtt || b.Template.byID[n.text] == nil {
			continue
		}
		s := b.schemas[b.Template.byID[n.text].typ]
		if s == nil || s.HasOutput(n.attr) {
			continue
		}
		var names []string
		for _, o := range s.Outputs {
			names = append(names, o.Name)
		}
		hint := did(n.attr, names)
		if hint == "" && len(names) > 0 {
			hint = "It has " + strings.Join(names, ", ")
		}
		b.fail(n, hint, "%s has no attribute %s", s.Type, quote(n.attr))
	}
}

// conditions evaluates all of them, used or not.
func (b *binder) conditions() {
	b.conditionCycles()
	e := b.evaluation()
	for _, n := range b.Template.conditions {
		e.condition(n.key)
	}
}

// conditionCycles reports conditions that need themselves.
func (b *binder) conditionCycles() {
	needs := map[string]map[string]*node{}
	var names []string
	for _, n := range b.Template.conditions {
		names = append(names, n.key)
		needs[n.key] = map[string]*node{}
		conditionRefs(n, needs[n.key])
	}
	for _, c := range cycles(names, needs) {
		b.fail(needs[c[0]][c[1]], "Take one of these references out", "the conditions need each other: %s", draw(c))
	}
}

// conditionRefs notes the conditions that n refers to.
func conditionRefs(n *node, into map[string]*node) {
	if n.op == opCondition && into[n.text] == nil {
		into[n.text] = n
	}
	for _, m := range n.items {
		conditionRefs(m, into)
	}
}

// exist notes the resources whose condition is false.
func (b *binder) exist() {
	for _, d := range b.Template.resources {
		if d.condition != nil && isFalse(b.conds[d.condition.text]) {
			b.left[d.id] = d.condition.text
		}
	}
}

// evaluation without facts, which collects into the binder's problems.
func (b *binder) evaluation() *evaluation {
	return &evaluation{bound: b.bound, problems: &b.problems}
}

// graph evaluates what exists once, to check it and to learn what waits for what, and puts it in order.
func (b *binder) graph(g *Graph) {
	needs := map[string]map[string]*node{}
	var ids []string
	for _, d := range b.Template.resources {
		if b.left[d.id] != "" {
			continue
		}
		r := &Resource{ID: d.id, Type: d.typ, Schema: b.schemas[d.typ], Line: int(d.line), Col: int(d.col),
			DeletionPolicy: d.deletionPolicy, UpdateReplacePolicy: d.updateReplacePolicy, declared: d, bound: b.bound}
		e := b.evaluation()
		e.needs = b.explicit(d)
		if !d.badProps {
			e.properties(r)
		}
		needs[d.id], ids = e.needs, append(ids, d.id)
		r.DependsOn = slices.Sorted(slices.Values(keys(e.needs)))
		g.byID[d.id] = r
	}
	for _, c := range cycles(ids, needs) {
		b.fail(needs[c[0]][c[1]], "Take one of these references out", "the resources need each other: %s", draw(c))
	}
	for _, id := range order(ids, needs) {
		g.Resources = append(g.Resources, g.byID[id])
	}
	e := b.evaluation()
	for _, o := range b.Template.outputs {
		if o.condition != nil && isFalse(b.conds[o.condition.text]) {
			continue
		}
		g.Outputs = append(g.Outputs, OutputDef{Name: o.name, Description: o.description, Line: int(o.line), Col: int(o.col), value: o.value})
		e.output(o.value)
	}
}

// explicit returns what DependsOn names and exists.
func (b *binder) explicit(d *declared) map[string]*node {
	out := make(map[string]*node, len(d.dependsOn))
	for _, n := range d.dependsOn {
		if b.left[n.text] == "" && b.Template.byID[n.text] != nil {
			out[n.text] = n
		}
	}
	return out
}

func isFalse(v value.Value) bool { return v.Kind() == value.Bool && v.Reveal() == "false" }
