// Package template reads stack files: source → positioned tree → graph of one stack.
//
// Its one rule: what it does not fully support is refused by name and place before anything else happens, and a value
// that is not known yet is an explicit Unknown, never nil or empty.
//
// Parse reads a file by itself and knows no types; Bind adds parameters, scope and schemas; Resolve gives one
// resource's params from the facts known at that moment. All three work offline.
//
// Where CloudFormation offers more, the choice is: AWS::StackId, AWS::NotificationARNs and an output's Export are refused,
// since there is no service that would hold the stack; a Number parameter gives text, as in CloudFormation, and takes its
// schema's type when it is used; YAML's true and false are the only booleans, and numbers, dates and octal modes stay as
// written; aliases are copied within bounds, merge keys are refused.
package template

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
)

// Bounds of a template.
const (
	maxBytes     = 64 << 20
	maxResources = 100_000
)

// Template is one parsed file, not bound to a stack.
type Template struct {
	path, sha  string
	root       *node
	parameters []*parameter
	mappings   map[string]*node
	conditions []*node // named by key, compiled, in the order of the file
	resources  []*declared
	outputs    []*outputDecl

	paramByName map[string]*parameter
	condByName  map[string]*node
	byID        map[string]*declared
	refs        []*node  // every reference, also in branches that are not taken
	broken      Problems // of its form; Bind lists them with its own
}

// Parse reads a template in JSON or YAML. path names it in messages. The error is Problems: all that is wrong with its
// form. Where its syntax is right the template comes with them, so that Bind finds what else is wrong, and lists all of it.
func Parse(path string, src []byte) (*Template, error) {
	if len(src) > maxBytes {
		return nil, Problems{tooLarge(path)}
	}
	p := &parser{path: path}
	root := p.read(src)
	if root == nil {
		return nil, p.problems.sorted()
	}
	sum := sha256.Sum256(src)
	t := p.template(root)
	t.path, t.sha, t.broken = path, hex.EncodeToString(sum[:]), p.problems
	return t, t.broken.sorted()
}

// ParseFile is Parse of a file.
func ParseFile(path string) (*Template, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	return Parse(path, src)
}

func tooLarge(path string) Problem {
	return Problem{File: path, Line: 1, Col: 1, Text: "the template is larger than 64 MiB",
		Hint: "Divide it into several stacks"}
}

// Parameters returns the declared parameters in the order of the file.
func (t *Template) Parameters() []Parameter {
	out := make([]Parameter, len(t.parameters))
	for i, p := range t.parameters {
		out[i] = p.Parameter
	}
	return out
}

// Types returns the types that the template names, sorted, each once, whatever their conditions.
func (t *Template) Types() []string {
	var out []string
	for _, r := range t.resources {
		out = append(out, r.typ)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
