package template

import (
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// Binding is what turns a template into the graph of one stack.
type Binding struct {
	Stack string // the stack's name, AWS::StackName
	// Scope gives the pseudo parameters. What it leaves empty is unknown and waits for "AWS::AccountId" and the like.
	Scope      resource.Scope
	Parameters map[string]string // by name; defaults fill the rest
	Base       string            // folder that local paths are relative to; empty: the template's own
	Schemas    func(typ string) (*resource.Schema, bool)
	Known      []string // type names to offer when a type is unknown; may be empty
}

// Graph is a template bound to one stack: what exists under its conditions, in dependency order. It does not change
// and may be used by several goroutines.
type Graph struct {
	Path, SHA256 string // the template's path as given, and the hex digest of its bytes
	Base, Stack  string // Base is absolute
	Scope        resource.Scope
	Parameters   value.Map   // every parameter's value; NoEcho ones are sensitive
	Resources    []*Resource // what others wait for comes first; otherwise in the order of the file
	Outputs      []OutputDef // sorted by place in the file

	bound *bound
	byID  map[string]*Resource
}

// Resource is one resource of the graph.
type Resource struct {
	ID, Type  string
	Schema    *resource.Schema
	Line, Col int // of its logical ID in the template
	// DependsOn are the IDs it waits for, by DependsOn, Ref, GetAtt or Sub: sorted, only those that exist.
	DependsOn []string
	// DeletionPolicy and UpdateReplacePolicy are as written: "", Delete, Retain or (deletion) RetainExceptOnCreate.
	DeletionPolicy, UpdateReplacePolicy string

	declared *declared
	bound    *bound
}

// OutputDef is one output that exists under the conditions.
type OutputDef struct {
	Name, Description string
	Line, Col         int

	value *node
}

// ResolvedOutput is an output with its value, Unknown while it waits for a resource.
type ResolvedOutput struct {
	Name, Description string
	Value             value.Value
}

// Facts answers what is known of a resource: its attribute, or what Ref gives when attr is "". With ok false the result
// holds an Unknown that waits for "ID.Attr", or "ID" for Ref.
type Facts func(id, attr string) (v value.Value, ok bool)

// Resource returns the resource of a logical ID, nil when there is none.
func (g *Graph) Resource(id string) *Resource { return g.byID[id] }

// Resolve returns the resource's params in config shape and in the schema's types. What AWS::NoValue removes is absent,
// what waits for other resources is Unknown, what derives from a NoEcho parameter is sensitive, and local paths are
// absolute. The error is Problems: a fact made a value that breaks the schema.
func (r *Resource) Resolve(f Facts) (value.Map, error) {
	var ps Problems
	e := &evaluation{bound: r.bound, facts: f, problems: &ps}
	m := e.properties(r)
	if err := ps.sorted(); err != nil {
		return nil, err
	}
	return m, nil
}

// ResolveOutputs returns the outputs' values, in the order of Outputs. The error is Problems.
func (g *Graph) ResolveOutputs(f Facts) ([]ResolvedOutput, error) {
	var ps Problems
	e := &evaluation{bound: g.bound, facts: f, problems: &ps}
	out := make([]ResolvedOutput, 0, len(g.Outputs))
	for _, o := range g.Outputs {
		out = append(out, ResolvedOutput{Name: o.Name, Description: o.Description, Value: e.output(o.value)})
	}
	if err := ps.sorted(); err != nil {
		return nil, err
	}
	return out, nil
}
