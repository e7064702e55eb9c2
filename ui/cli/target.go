package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reclaim/engine/resource"
	"reclaim/engine/template"
)

// target is what a command that reads a template is about: which file, which stack, which parameters.
type target struct {
	file, name string
	params     map[string]string
	again      []string // the words that mean it on a command line
}

// target finds out what the arguments mean: a template FILE, or a STACK of reclaim.yaml, which --stack alone picks too.
func (s *session) target(o *source, args []string) (target, error) {
	rest, given := splitParameters(args, o.parameters)
	if len(rest) > 1 || len(rest) == 0 && o.stack == "" {
		return target{}, usage("want one template FILE, or one STACK of %s, got %d arguments", stacksName, len(rest))
	}
	params, err := readParameters(given)
	if err != nil {
		return target{}, err
	}
	stacks, err := s.stacks()
	if err != nil {
		return target{}, err
	}
	n, err := stacks.pick(slices.Concat(rest, []string{""})[0], o.stack)
	if err != nil {
		return target{}, err
	}
	if n != nil {
		return s.ofNamed(n, params), nil
	}
	t := target{file: rest[0], params: params}
	if t.name, err = o.nameOf(t.file); err != nil || stacks == nil || stacks.stack[t.name] == nil {
		t.again = []string{t.file, "--stack", t.name}
		return t, err
	}
	n = stacks.stack[t.name]
	if abs, err := filepath.Abs(t.file); err != nil || filepath.Clean(n.template) != abs {
		return target{}, fmt.Errorf("%s names the stack %s with the template %s, not %s; name another stack with --stack", stacks.path, t.name,
			n.template, t.file)
	}
	return s.ofNamed(n, params), nil
}

// ofNamed is the target that a stack of reclaim.yaml is; parameters of the command line win.
func (s *session) ofNamed(n *named, params map[string]string) target {
	s.note("stack %s as %s says", n.name, n.file)
	all := maps.Clone(n.parameters)
	maps.Copy(all, params)
	return target{file: n.template, name: n.name, params: all, again: []string{n.name}}
}

// pick returns the stack that an argument, or --stack without one, means; nil when the argument means a file. One that
// may mean both is refused.
func (f *stacksFile) pick(arg, stack string) (*named, error) {
	if arg == "" {
		if f == nil {
			return nil, fmt.Errorf("--stack %s without a FILE wants a %s that names it, and there is none here nor in a folder above", stack, stacksName)
		}
		if f.stack[stack] == nil {
			return nil, f.unknown(stack)
		}
		return f.stack[stack], nil
	}
	switch {
	case f == nil || strings.ContainsRune(arg, '/'):
		return nil, nil
	case f.stack[arg] == nil && !isFile(arg) && filepath.Ext(arg) == "":
		return nil, f.unknown(arg)
	case f.stack[arg] == nil:
		return nil, nil
	case isFile(arg):
		return nil, fmt.Errorf("%s is a file here and a stack of %s; write ./%s for the file", arg, f.path, arg)
	case stack != "" && stack != arg:
		return nil, usage("%s is a stack of %s; --stack cannot give it another name", arg, f.path)
	default:
		return f.stack[arg], nil
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func (f *stacksFile) unknown(name string) error {
	names := f.names()
	if near := template.Nearest(name, names); near != "" {
		return fmt.Errorf("%s names no stack %s. Did you mean %s?", f.path, name, near)
	}
	return fmt.Errorf("%s names no stack %s; it names %s", f.path, name, strings.Join(names, ", "))
}

// bound reads a template and binds it to a stack in a scope. The error is all that is wrong with the template, in one
// list; the template comes with the graph to be bound again once the scope is known.
func (a *App) bound(path, name string, params map[string]string) (*template.Template, *template.Graph, resource.Scope, error) {
	var guess resource.Scope
	t, err := template.ParseFile(path)
	if t == nil {
		return nil, nil, guess, err
	}
	if a.isLocal(t.Types()) {
		guess = a.localScope()
	}
	g, err := t.Bind(a.binding(name, guess, params))
	return t, g, guess, err
}
