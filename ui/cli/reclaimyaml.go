package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"reclaim/engine/resource"
	"reclaim/engine/template"
	"reclaim/engine/value"
)

// stacksName is the file that names stacks, in the current folder or the nearest one above it.
const stacksName = "reclaim.yaml"

// maxStacksFile bounds it, in bytes.
const maxStacksFile = 1 << 20

// stacksFile is a reclaim.yaml: stacks by name.
type stacksFile struct {
	path  string // absolute
	stack map[string]*named
}

// named is one stack of a reclaim.yaml. Flags win over what it says; its scope is checked, never assumed.
type named struct {
	name       string
	template   string // absolute path
	scope      string // ACCOUNT/REGION, with +ENDPOINT where it is not AWS's own; "local"; "" for no check
	profile    string
	parameters map[string]string

	file                string // the reclaim.yaml
	scopeLine, scopeCol int
}

// region is the one that the scope names, "" when it names none.
func (n *named) region() string {
	if n == nil || strings.HasPrefix(n.scope, resource.LocalPartition) {
		return ""
	}
	_, rest, _ := strings.Cut(n.scope, "/")
	region, _, _ := strings.Cut(rest, "+")
	return region
}

// check compares the scope that reclaim.yaml names with where calls really go.
func (n *named) check(sc resource.Scope) error {
	if n == nil || n.scope == "" || n.scope == sc.String() || n.scope == shortScope(sc) || n.scope == resource.LocalPartition && sc.IsLocal() {
		return nil
	}
	return template.Problems{{File: n.file, Line: n.scopeLine, Col: n.scopeCol, Where: "stacks." + n.name + ".scope",
		Text: fmt.Sprintf("the stack belongs to %s, but calls go to %s; nothing was changed", n.scope, sc),
		Hint: "Choose with --profile, --region or AWS_ENDPOINT_URL"}}
}

// shortScope is a scope as --scope takes it: without the endpoint.
func shortScope(sc resource.Scope) string {
	if sc.IsLocal() {
		return sc.String()
	}
	return sc.Account + "/" + sc.Region
}

// stacks reads the reclaim.yaml that is nearest upwards; nil when there is none.
func (s *session) stacks() (*stacksFile, error) {
	wd, err := s.Getwd()
	if err != nil {
		return nil, err
	}
	for at := wd; ; at = filepath.Dir(at) {
		f, err := readStacks(filepath.Join(at, stacksName))
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		if at == filepath.Dir(at) {
			return nil, nil
		}
	}
}

// namedStack is the stack of that name in reclaim.yaml; nil when there is no such file, or it does not name it.
func (s *session) namedStack(name string) (*named, error) {
	f, err := s.stacks()
	if f == nil || err != nil {
		return nil, err
	}
	return f.stack[name], nil
}

// names are its stacks, sorted.
func (f *stacksFile) names() []string {
	var out []string
	for name := range f.stack {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// readStacks reads one file. The error is template.Problems for all that is wrong with it.
func readStacks(path string) (*stacksFile, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	src, err := io.ReadAll(io.LimitReader(file, maxStacksFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	r := &stacksReader{path: path}
	if len(src) > maxStacksFile {
		r.fail(&yaml.Node{}, "", "", "the file is larger than 1 MiB")
		return nil, r.problems
	}
	return r.read(src)
}

// stacksReader collects what is wrong with one reclaim.yaml.
type stacksReader struct {
	path     string
	problems template.Problems
}

func (r *stacksReader) fail(n *yaml.Node, where, hint, format string, a ...any) {
	r.problems = append(r.problems, template.Problem{File: r.path, Line: max(n.Line, 1), Col: max(n.Column, 1), Where: where,
		Text: fmt.Sprintf(format, a...), Hint: hint})
}

// yamlLine is where the parser says that the syntax broke.
var yamlLine = regexp.MustCompile(`line (\d+)`)

func (r *stacksReader) read(src []byte) (*stacksFile, error) {
	f := &stacksFile{path: r.path, stack: map[string]*named{}}
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		at := &yaml.Node{}
		if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
			fmt.Sscan(m[1], &at.Line)
		}
		r.fail(at, "", "", "not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		return nil, r.problems
	}
	if len(doc.Content) == 0 {
		r.fail(&doc, "", "Write stacks:, and below it a name with its template", "the file is empty")
		return nil, r.problems
	}
	r.members(doc.Content[0], "", []string{"stacks"}, func(_ string, key, v *yaml.Node) {
		r.members(v, "stacks", nil, func(name string, key, v *yaml.Node) {
			if !stackName.MatchString(name) {
				r.fail(key, "stacks", "Use letters, digits, '.', '_' and '-'", "%q is no name for a stack", name)
				return
			}
			f.stack[name] = r.one(name, key, v)
		})
	})
	if len(r.problems) == 0 && len(f.stack) == 0 {
		r.fail(doc.Content[0], "", "Write stacks:, and below it a name with its template", "it names no stacks")
	}
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b template.Problem) int { return cmp.Or(a.Line-b.Line, a.Col-b.Col) })
		return nil, r.problems
	}
	return f, nil
}

// members visits the members of a map. With known, others are refused by name.
func (r *stacksReader) members(n *yaml.Node, where string, known []string, visit func(name string, key, v *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, where, "Write a map", "%s is a map, found %s", cmp.Or(where, "the file"), found(n))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, v := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode:
			r.fail(key, where, "", "a name is text, found %s", found(key))
		case seen[key.Value]:
			r.fail(key, where, "Keep one of the two", "%q stands twice", key.Value)
		case known != nil && !slices.Contains(known, key.Value):
			hint := "It takes " + strings.Join(known, ", ")
			if near := template.Nearest(key.Value, known); near != "" {
				hint = "Did you mean " + near + "?"
			}
			r.fail(key, where, hint, "%q is not supported here", key.Value)
		default:
			seen[key.Value] = true
			visit(key.Value, key, v)
		}
	}
}

func found(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a map"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.AliasNode:
		return "an alias"
	case n.Tag == "!!null":
		return "nothing"
	default:
		return fmt.Sprintf("%q", n.Value)
	}
}

// scopeShape is ACCOUNT/REGION, ACCOUNT/REGION+ENDPOINT or local.
var scopeShape = regexp.MustCompile(`^([0-9]{12}/[a-z0-9-]+(\+\S+)?|local(/\S+)?)$`)

func (r *stacksReader) one(name string, at, n *yaml.Node) *named {
	where := "stacks." + name
	out := &named{name: name, file: r.path, parameters: map[string]string{}}
	r.members(n, where, []string{"template", "scope", "profile", "parameters"}, func(key string, at, v *yaml.Node) {
		in := where + "." + key
		switch key {
		case "template":
			if out.template = r.text(v, in); out.template != "" && !filepath.IsAbs(out.template) {
				out.template = filepath.Join(filepath.Dir(r.path), out.template)
			}
		case "scope":
			out.scope, out.scopeLine, out.scopeCol = r.text(v, in), v.Line, v.Column
			if out.scope != "" && !scopeShape.MatchString(out.scope) {
				r.fail(v, in, "Write ACCOUNT/REGION, such as 123456789012/eu-west-1, or local", "%q is no scope", out.scope)
			}
		case "profile":
			out.profile = r.text(v, in)
		case "parameters":
			r.members(v, in, nil, func(p string, at, v *yaml.Node) { r.parameter(out, p, v, in+"."+p) })
		}
	})
	if n.Kind == yaml.MappingNode && out.template == "" {
		r.fail(at, where, "Write template: and the path of its file", "the stack has no template")
	}
	return out
}

func (r *stacksReader) text(n *yaml.Node, where string) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		r.fail(n, where, "", "want text, found %s", found(n))
		return ""
	}
	return n.Value
}

// parameter reads a value as it is written: text, or a list of texts, which is joined as CommaDelimitedList wants it. A
// value is not named in an error: it may be a secret.
func (r *stacksReader) parameter(into *named, name string, n *yaml.Node, where string) {
	list := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		list = n.Content
	}
	var parts []value.Value
	for _, e := range list {
		if e.Kind != yaml.ScalarNode || e.Tag == "!!null" {
			r.fail(e, where, "", "want text, a number, true or false, or a list of them")
			return
		}
		parts = append(parts, value.Of(e.Value))
	}
	text, err := parameterText(value.ListOf(parts...))
	if err != nil {
		r.fail(n, where, "", "%v", err)
		return
	}
	into.parameters[name] = text
}
