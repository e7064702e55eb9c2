package template

import (
	"maps"
	"slices"
	"strings"
)

// noValue is the pseudo parameter that removes a property or list item.
const noValue = "AWS::NoValue"

// pseudoNames are the pseudo parameters that have a value.
func pseudoNames() []string {
	return []string{"AWS::AccountId", "AWS::NoValue", "AWS::Partition", "AWS::Region", "AWS::StackName", "AWS::URLSuffix"}
}

func keys[V any](m map[string]V) []string { return slices.Collect(maps.Keys(m)) }

// resolveNames checks every reference against what is declared.
func (p *parser) resolveNames(t *Template) {
	t.refs = p.refs
	for _, n := range p.refs {
		if p.problems.full() {
			return
		}
		switch n.op {
		case opRef:
			p.checkRef(t, n)
		case opGetAtt:
			p.checkGetAtt(t, n)
		case opFindInMap:
			p.checkMapping(t, n)
		case opIf, opCondition:
			p.checkCondition(t, n)
		}
	}
}

func (p *parser) checkCondition(t *Template, n *node) {
	if t.condByName[n.text] == nil {
		p.fail(n, did(n.text, keys(t.condByName)), "the condition %s is not declared", quote(n.text))
	}
}

func (p *parser) checkRef(t *Template, n *node) {
	switch {
	case t.paramByName[n.text] != nil:
	case strings.HasPrefix(n.text, "AWS::"):
		p.checkPseudo(n)
	case t.byID[n.text] == nil:
		p.fail(n, did(n.text, slices.Concat(keys(t.paramByName), keys(t.byID), pseudoNames())),
			"Ref to %s, which is no parameter or resource", quote(n.text))
	case n.cond:
		p.fail(n, "Conditions may use parameters and mappings", "a condition cannot refer to the resource %s", n.text)
	}
}

func (p *parser) checkPseudo(n *node) {
	switch {
	case n.text == "AWS::StackId":
		p.fail(n, "Use AWS::StackName", "AWS::StackId is not supported: no service has an ID for the stack")
	case n.text == "AWS::NotificationARNs":
		p.fail(n, "Pass the ARNs as a parameter", "AWS::NotificationARNs is not supported")
	case n.text == noValue && n.cond:
		p.fail(n, "It stands for a property or list item that is left out", "AWS::NoValue has no value to use here")
	case !slices.Contains(pseudoNames(), n.text):
		p.fail(n, did(n.text, pseudoNames()), "the pseudo parameter %s is not supported", quote(n.text))
	}
}

func (p *parser) checkGetAtt(t *Template, n *node) {
	switch {
	case t.byID[n.text] == nil:
		p.fail(n, did(n.text, keys(t.byID)), "GetAtt of %s, which is no resource", quote(n.text))
	case n.cond:
		p.fail(n, "Conditions may use parameters and mappings", "a condition cannot refer to the resource %s", n.text)
	}
}

func (p *parser) checkMapping(t *Template, n *node) {
	if name := n.items[0]; name.isText() && t.mappings[name.text] == nil {
		p.fail(name, did(name.text, keys(t.mappings)), "the mapping %s is not declared", quote(name.text))
	}
}
