package template

import (
	"regexp"
	"slices"
	"strings"
)

// declared is a resource as the template declares it.
type declared struct {
	id, typ                             string
	line, col                           int32
	node, typeNode, props               *node
	condition                           *node // literal name; nil without
	dependsOn                           []*node
	deletionPolicy, updateReplacePolicy string
	badType, badProps                   bool // reported already: nothing that follows from it is
}

// outputDecl is an output as the template declares it.
type outputDecl struct {
	name, description string
	line, col         int32
	value, condition  *node
}

// sections of a template, with the reason for those that are refused.
var sections = map[string]string{
	"AWSTemplateFormatVersion": "", "Description": "", "Metadata": "", "Parameters": "", "Mappings": "", "Conditions": "",
	"Resources": "", "Outputs": "",
	"Transform": "Write out what the macro or SAM makes",
	"Rules":     "Use AllowedValues and AllowedPattern of the parameters",
	"Hooks":     "Take the section out",
	"Globals":   "Write the values into the resources: SAM is not supported",
}

// attributes of a resource, with the reason for those that are refused.
var attributes = map[string]string{
	"Type": "", "Properties": "", "DependsOn": "", "Condition": "", "DeletionPolicy": "", "UpdateReplacePolicy": "", "Metadata": "",
	"CreationPolicy": "Take it out: Reclaim waits until a read says that the resource is ready",
	"UpdatePolicy":   "Take it out: the type's own update applies",
}

// refusedTypes are types that are no resources of a service, by name or by prefix with "*".
var refusedTypes = []struct{ name, text, hint string }{
	{"AWS::CloudFormation::Stack", "nested stacks are not supported", "Deploy it as a stack of its own and pass its outputs as parameters"},
	{"AWS::CloudFormation::CustomResource", "custom resources are not supported", "Take it out"},
	{"Custom::*", "custom resources are not supported", "Take it out"},
	{"AWS::CloudFormation::Macro", "macros are not supported", "Write out what the macro makes"},
	{"AWS::Serverless::*", "SAM types need a transform, which is not supported", "Write out the resources that SAM makes"},
}

// template reads the sections of a root object.
func (p *parser) template(root *node) *Template {
	p.known(root, sections, "a template")
	p.formatVersion(root.get("AWSTemplateFormatVersion"))
	p.text(root, "Description")
	t := &Template{root: root, paramByName: map[string]*parameter{}, condByName: map[string]*node{},
		mappings: map[string]*node{}, byID: map[string]*declared{}}
	p.eachNamed(root.get("Parameters"), "parameter", func(n *node) {
		if d := p.parameter(n); d != nil {
			t.parameters = append(t.parameters, d)
			t.paramByName[d.Name] = d
		}
	})
	p.eachNamed(root.get("Mappings"), "mapping", func(n *node) { p.mapping(n); t.mappings[n.key] = n })
	p.eachNamed(root.get("Conditions"), "condition", func(n *node) { p.condition(n); t.add(n) })
	p.resources(t, root)
	p.eachNamed(root.get("Outputs"), "output", func(n *node) {
		if o := p.output(n); o != nil {
			t.outputs = append(t.outputs, o)
		}
	})
	p.resolveNames(t)
	p.resolveResources(t)
	return t
}

func (t *Template) add(cond *node) {
	t.conditions = append(t.conditions, cond)
	t.condByName[cond.key] = cond
}

// known refuses keys that are not in the table, and those that the table gives a next step for.
func (p *parser) known(n *node, table map[string]string, what string) {
	for _, m := range n.items {
		switch hint, ok := table[m.key]; {
		case !ok:
			p.failKey(m, did(m.key, keys(table)), "%s is not supported in %s", quote(m.key), what)
		case hint != "":
			p.failKey(m, hint, "%s is not supported in %s", m.key, what)
		}
	}
}

func (p *parser) formatVersion(n *node) {
	if n != nil && (!n.isText() || n.text != "2010-09-09") {
		p.fail(n, "Write 2010-09-09", "the format version %s is not supported", n.what())
	}
}

// logicalID is CloudFormation's rule for names.
var logicalID = regexp.MustCompile(`^[A-Za-z0-9]{1,255}$`)

// eachNamed calls visit for each member of a section that has a good name.
func (p *parser) eachNamed(section *node, what string, visit func(*node)) {
	if section == nil {
		return
	}
	if !p.isMap(section, section.key) {
		return
	}
	seen := map[string]bool{}
	for _, m := range section.items {
		switch {
		case strings.HasPrefix(m.key, "Fn::"):
			p.failKey(m, "Write it out", "the function %s is not supported here", quote(m.key))
		case !logicalID.MatchString(m.key):
			p.failKey(m, "Use letters and digits, at most 255", "%s is no name for a %s", quote(m.key), what)
		case !seen[m.key]: // the second one was reported when it was read
			seen[m.key] = true
			visit(m)
		}
	}
}

// mapping checks a mapping: two levels of keys, then a text or a list of texts.
func (p *parser) mapping(n *node) {
	p.isMap(n, "a mapping")
	for _, top := range n.items {
		p.isMap(top, "the first level of a mapping")
		for _, second := range top.items {
			p.mapped(second)
		}
	}
}

func (p *parser) mapped(n *node) {
	switch {
	case n.isText():
		p.dynamic(n, n.text)
	case n.op == opList && n.tag == "":
		for _, m := range n.items {
			if !m.isText() {
				p.fail(m, "", "a list in a mapping holds texts, found %s", m.what())
			} else {
				p.dynamic(m, m.text)
			}
		}
	default:
		p.fail(n, "", "a mapping gives a text or a list of texts, found %s", n.what())
	}
}

// isMap refuses what must be a plain object and is not.
func (p *parser) isMap(n *node, what string) bool {
	if n.op == opObject && n.tag == "" {
		return true
	}
	p.fail(n, "", "%s is a map, found %s", what, n.what())
	return false
}

func (p *parser) condition(n *node) {
	p.compile(n, inCondition)
	p.wantConditions([]*node{n}, "Conditions")
}

func (p *parser) resources(t *Template, root *node) {
	n := root.get("Resources")
	switch {
	case n == nil:
		p.fail(root, "Write a Resources section", "the template has no resources")
		return
	case n.op == opObject && n.tag == "" && len(n.items) == 0:
		p.fail(n, "Declare one", "the template has no resources")
	case len(n.items) > maxResources:
		p.fail(n, "Divide it into several stacks", "the template has %d resources, more than %d", len(n.items), maxResources)
		return
	}
	t.resources = make([]*declared, 0, len(n.items))
	p.eachNamed(n, "resource", func(m *node) {
		if d := p.resource(m); d != nil {
			t.resources = append(t.resources, d)
			t.byID[d.id] = d
		}
	})
}

func (p *parser) resource(n *node) *declared {
	if !p.isMap(n, "a resource") {
		return nil
	}
	p.known(n, attributes, "a resource")
	d := &declared{id: n.key, line: n.keyLine, col: n.keyCol, node: n, typeNode: n.get("Type"), props: n.get("Properties")}
	p.resourceType(d)
	if d.props != nil {
		d.badProps = !p.isMap(d.props, "Properties") || !p.properties(d.props)
	}
	d.condition = n.get("Condition")
	d.dependsOn = p.dependsOn(n.get("DependsOn"))
	d.deletionPolicy = p.policy(n.get("DeletionPolicy"), "Delete", "Retain", "RetainExceptOnCreate")
	d.updateReplacePolicy = p.policy(n.get("UpdateReplacePolicy"), "Delete", "Retain")
	return d
}

// properties compiles the members: the object itself is never a function. False says that it would be one.
func (p *parser) properties(n *node) bool {
	members := true
	for _, m := range n.items {
		if strings.HasPrefix(m.key, "Fn::") {
			p.failKey(m, "Use functions in the single properties", "the function %s cannot give all properties", quote(m.key))
			members = false
			continue
		}
		p.compile(m, inValue)
	}
	return members
}

func (p *parser) resourceType(d *declared) {
	switch {
	case d.typeNode == nil:
		d.badType = true
		p.failKey(d.node, "Write Type: and the name of a type", "the resource has no Type")
		return
	case !d.typeNode.isText() || d.typeNode.text == "":
		d.badType = true
		p.fail(d.typeNode, "", "Type takes the name of a type, found %s", d.typeNode.what())
		return
	}
	d.typ = d.typeNode.text
	for _, r := range refusedTypes {
		prefix, wild := strings.CutSuffix(r.name, "*")
		if d.typ == r.name || wild && strings.HasPrefix(d.typ, prefix) {
			d.badType = true
			p.fail(d.typeNode, r.hint, "%s: %s", quote(d.typ), r.text)
		}
	}
}

func (p *parser) dependsOn(n *node) []*node {
	switch {
	case n == nil:
		return nil
	case n.isText():
		return []*node{n}
	case n.op == opList && n.tag == "" && !slices.ContainsFunc(n.items, func(m *node) bool { return !m.isText() }):
		return n.items
	}
	p.fail(n, "", "DependsOn takes a logical ID or a list of them, found %s", n.what())
	return nil
}

func (p *parser) policy(n *node, allowed ...string) string {
	switch {
	case n == nil:
		return ""
	case n.isText() && slices.Contains(allowed, n.text):
		return n.text
	case n.isText() && n.text == "Snapshot":
		p.fail(n, "Use Retain, and take the snapshot yourself", "%s: Snapshot is not supported for this type", n.key)
	default:
		p.fail(n, "Use "+strings.Join(allowed, ", "), "%s is no %s", n.what(), n.key)
	}
	return ""
}

func (p *parser) output(n *node) *outputDecl {
	if !p.isMap(n, "an output") {
		return nil
	}
	p.known(n, map[string]string{"Value": "", "Description": "", "Condition": "",
		"Export": "Take it out, and pass the value to the other stack as a parameter"}, "an output")
	o := &outputDecl{name: n.key, line: n.keyLine, col: n.keyCol, value: n.get("Value"), condition: n.get("Condition")}
	o.description = p.text(n, "Description")
	if o.value == nil {
		p.failKey(n, "Write Value:", "the output has no Value")
		return nil
	}
	p.compile(o.value, inValue)
	return o
}

// resolveResources checks what resources and outputs name besides their values.
func (p *parser) resolveResources(t *Template) {
	known := func(n *node) {
		switch {
		case n == nil:
		case !n.isText():
			p.fail(n, "", "Condition takes the name of a condition, found %s", n.what())
		default:
			p.checkCondition(t, n)
		}
	}
	for _, d := range t.resources {
		known(d.condition)
		if t.paramByName[d.id] != nil {
			p.failKey(d.node, "Rename one of them", "%s is the name of a parameter too", d.id)
		}
		for _, n := range d.dependsOn {
			if t.byID[n.text] == nil {
				p.fail(n, did(n.text, keys(t.byID)), "DependsOn %s, which is no resource", quote(n.text))
			}
		}
	}
	for _, o := range t.outputs {
		known(o.condition)
	}
}
