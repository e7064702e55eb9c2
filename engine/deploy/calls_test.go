package deploy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/template"
	"reclaim/providers"
	"reclaim/providers/awssim"
)

// callsTable is the committed table of API calls; `make golden` writes it.
const callsTable = "../../docs/calls.md"

const callsHead = `# The API calls of each type

What one resource of a type costs, asked of the simulated cloud's log: the calls for a resource with a name of its own and few
properties, without those of what it hangs on; reads while the service is still at work come on top. The templates are in testdata/calls; ` + "`make golden`" + ` writes this page, and a test
holds it. A deploy that finds nothing to do makes no changing call. A plan is part of each deploy.

`

// bindCalls binds the template of one type with the parameters that make, or change, its subject.
func (w *world) bindCalls(file string, params map[string]string) *template.Graph {
	w.t.Helper()
	t, err := template.ParseFile(file)
	must(w.t, err)
	g, err := t.Bind(template.Binding{Stack: w.stack.Name, Scope: w.stack.Scope, Base: w.dir, Schemas: providers.Schema, Parameters: params})
	must(w.t, err)
	return g
}

// during returns the operations that the cloud was sent while do ran, in the order of arrival.
func (w *world) during(do func()) []string {
	before := len(w.sim.Log())
	do()
	var out []string
	for _, r := range w.sim.Log()[before:] {
		out = append(out, r.Operation)
	}
	return out
}

// without takes away, once each, what others called too.
func without(calls, others []string) []string {
	out := slices.Clone(calls)
	for _, o := range others {
		if i := slices.Index(out, o); i >= 0 {
			out = slices.Delete(out, i, i+1)
		}
	}
	return out
}

// written is a list of calls as a cell of the table: each once, with how often.
func written(calls []string) string {
	var names, cells []string
	for _, c := range calls {
		if !slices.Contains(names, c) {
			names = append(names, c)
		}
	}
	for _, name := range names {
		n := 0
		for _, c := range calls {
			if c == name {
				n++
			}
		}
		if n > 1 {
			name = fmt.Sprintf("%s ×%d", name, n)
		}
		cells = append(cells, name)
	}
	if len(cells) == 0 {
		return "–"
	}
	return strings.Join(cells, ", ")
}

// callsOf is the row of one type.
func callsOf(t *testing.T, typ string) string {
	w := newWorld(t, func(c *awssim.Config) { c.Scale = 0.00001 }) // what takes time is over before anybody looks
	file, err := filepath.Abs(filepath.Join("../../testdata/calls", strings.ReplaceAll(typ, "::", "-")+".yaml"))
	must(t, err)
	run := func(params map[string]string) func() {
		return func() {
			g := w.bindCalls(file, params)
			p := w.plan(g)
			o := w.run(deploy.Request{Plan: p, Graph: g, Approvals: approveAll(p), Parallel: 1})
			for _, it := range o.Items {
				if it.Result != event.Done && it.Result != event.Unchanged {
					t.Fatalf("%s %s: %s", it.ID, it.Result, it.Reason)
				}
			}
		}
	}
	planning := func(params map[string]string) func() {
		return func() { w.plan(w.bindCalls(file, params)) }
	}
	made, changed := map[string]string{"Made": "yes"}, map[string]string{"Made": "yes", "Value": "two"}
	run(nil)() // what the subject hangs on
	w.elapse()
	planBase, runBase := w.during(planning(nil)), w.during(run(nil))
	row := []string{"`" + typ + "`",
		written(without(w.during(planning(made)), planBase)),
		written(without(w.during(run(made)), runBase))}
	w.elapse()
	noop := w.during(run(made))
	for _, r := range w.sim.Log()[len(w.sim.Log())-len(noop):] {
		if r.Changing {
			t.Errorf("a deploy of nothing sent %s", r.Operation)
		}
	}
	row = append(row, written(without(noop, runBase)))
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "!Ref Value") {
		return "| " + strings.Join(append(row, "no field can change: it is replaced"), " | ") + " |\n"
	}
	row = append(row, written(without(w.during(run(changed)), runBase)))
	return "| " + strings.Join(row, " | ") + " |\n"
}

// Every type of a cloud has a row, and the table says what is really called.
func TestTheTableOfCallsIsTrue(t *testing.T) {
	text := callsHead + "| type | plan of a create | create | no change | one field changed |\n|---|---|---|---|---|\n"
	for _, s := range providers.Schemas() {
		if !s.Local {
			t.Run(s.Type, func(t *testing.T) { text += callsOf(t, s.Type) })
		}
	}
	if os.Getenv("RECLAIM_GOLDEN") != "" {
		must(t, os.WriteFile(callsTable, []byte(text), 0o644))
		return
	}
	want, err := os.ReadFile(callsTable)
	must(t, err)
	if d := cmp.Diff(string(want), text); d != "" {
		t.Errorf("docs/calls.md is not what is called; `make golden` writes it (-page +called):\n%s", d)
	}
}
