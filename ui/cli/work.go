package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/template"
	"reclaim/engine/value"
)

// stackName is what a stack may be called: it becomes part of names and tags of resources.
var stackName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// source is what the commands that read a template are told about it.
type source struct {
	stack      string
	parameters []string
	parallel   int
}

func (o *source) flags(f *pflag.FlagSet) {
	o.nameFlags(f)
	parallelFlag(f, &o.parallel)
}

// nameFlags are those that say which stack with which parameters.
func (o *source) nameFlags(f *pflag.FlagSet) {
	f.StringVar(&o.stack, "stack", "", "name of the stack (default: the file's stem); without FILE, the stack of reclaim.yaml")
	f.StringArrayVar(&o.parameters, "parameters", nil, "NAME=VALUE … or file://FILE (a JSON object, or CloudFormation's list)")
}

// workers is the value of --parallel: a whole number from 1.
type workers int

func (w *workers) String() string { return strconv.Itoa(int(*w)) }
func (w *workers) Type() string   { return "int" }

// Set reads the number.
func (w *workers) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return errors.New("want a number from 1")
	}
	*w = workers(n)
	return nil
}

func parallelFlag(f *pflag.FlagSet, n *int) {
	*n = plan.DefaultParallel
	f.Var((*workers)(n), "parallel", "calls at once; what waits takes no place")
}

// nameOf is the stack's name for a template.
func (o *source) nameOf(file string) (string, error) {
	name := o.stack
	if name == "" {
		base := filepath.Base(file)
		name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	if !stackName.MatchString(name) {
		return "", fmt.Errorf("stack name %q: use letters, digits, '.', '_' and '-'; name it with --stack", name)
	}
	return name, nil
}

// schemaOf finds types for templates.
func (a *App) schemaOf() (lookup func(string) (*resource.Schema, bool), names []string) {
	byType := map[string]*resource.Schema{}
	for _, sc := range a.Schemas() {
		byType[sc.Type] = sc
		names = append(names, sc.Type)
	}
	return func(t string) (*resource.Schema, bool) { sc, ok := byType[t]; return sc, ok }, names
}

// isLocal reports whether every type lives on this machine.
func (a *App) isLocal(types []string) bool {
	lookup, _ := a.schemaOf()
	return !slices.ContainsFunc(types, func(t string) bool {
		sc, ok := lookup(t)
		return !ok || !sc.Local
	})
}

// binding is the template's binding for a stack; an empty scope leaves what depends on it unknown.
func (a *App) binding(name string, sc resource.Scope, params map[string]string) template.Binding {
	lookup, names := a.schemaOf()
	return template.Binding{Stack: name, Scope: sc, Parameters: params, Schemas: lookup, Known: names}
}

// work is an open store, a verified cloud and one stack in it.
type work struct {
	store  Store
	sealer value.Sealer
	cloud  resource.Cloud
	stack  record.StackID
	graph  *template.Graph // nil without a template
	word   string          // shortest text that means the stack
}

func (w *work) close() { w.store.Close() }

// newWork starts work on an open store, which it closes when that fails.
func newWork(st Store, id record.StackID, word string) (*work, error) {
	sealer, err := st.Sealer()
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return &work{store: st, sealer: sealer, stack: id, word: word}, nil
}

// env is what making plans needs.
func (w *work) env(parallel int) plan.Env {
	return plan.Env{Store: w.store, Cloud: w.cloud, Sealer: w.sealer, Now: time.Now, Parallel: parallel}
}

// withTemplate reads and binds a template, opens (or, with create, makes) the store and the cloud, and verifies where calls go.
// Problems of the template are found before anything is made or asked. A store that is there is read meanwhile.
func (s *session) withTemplate(ctx context.Context, file, name string, params map[string]string, create bool) (*work, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	ahead := s.openAhead(ctx, name)
	defer ahead.drop()
	t, graph, guess, err := s.bound(path, name, params)
	if err != nil {
		return nil, err
	}
	st, err := ahead.open(create)
	if err != nil {
		return nil, err
	}
	w, err := newWork(st, record.StackID{Name: name}, name)
	if err != nil {
		return nil, err
	}
	if err := s.place(ctx, w, t.Types()); err != nil {
		w.close()
		return nil, err
	}
	if w.graph = graph; w.stack.Scope != guess {
		if w.graph, err = t.Bind(s.binding(name, w.stack.Scope, params)); err != nil {
			w.close()
			return nil, err
		}
	}
	return w, nil
}

// localScope is the scope of stacks that need no cloud.
func (a *App) localScope() resource.Scope {
	return resource.Scope{Partition: resource.LocalPartition, Account: a.MachineID()}
}

// place decides the stack's scope and opens the cloud for the template's and the recorded types. A stack that has cloud
// records stays where they are, even when its template names only local types now.
func (s *session) place(ctx context.Context, w *work, types []string) error {
	clouds, err := inCloud(ctx, w.store, w.stack.Name)
	if err != nil {
		return err
	}
	if clouds {
		types = append(slices.Clone(types), s.cloudType()...) // to delete what the template no longer names
	}
	n, err := s.namedStack(w.stack.Name)
	if err != nil {
		return err
	}
	if w.cloud, err = s.openCloud(ctx, n, cmp.Or(s.region, n.region()), types); err != nil {
		return err
	}
	if s.isLocal(types) && !clouds {
		w.stack.Scope = s.localScope()
	} else if w.stack.Scope, err = w.cloud.Verify(ctx); err != nil {
		return fmt.Errorf("verify the account and region that calls go to: %w", err)
	}
	return n.check(w.stack.Scope)
}

// cloudOf opens the cloud of a recorded stack. Its region is the recorded one unless --region says otherwise, so that
// nothing needs to be configured to read what is recorded. reclaim.yaml gives the profile where it names this very stack.
func (s *session) cloudOf(ctx context.Context, id record.StackID) (resource.Cloud, error) {
	if id.Scope.IsLocal() {
		return s.openCloud(ctx, nil, s.region, nil)
	}
	n, err := s.namedStack(id.Name)
	if err != nil {
		return nil, err
	}
	if n.check(id.Scope) != nil {
		n = nil
	}
	return s.openCloud(ctx, n, cmp.Or(s.region, id.Scope.Region), s.cloudType())
}

func (s *session) openCloud(ctx context.Context, n *named, region string, types []string) (resource.Cloud, error) {
	profile := s.profile
	if profile == "" && n != nil {
		profile = n.profile
	}
	c, err := s.OpenCloud(ctx, CloudConfig{Region: region, Profile: profile, Machine: s.MachineID(), MinWindow: s.window}, types)
	if err != nil {
		return nil, fmt.Errorf("open the cloud: %w", err)
	}
	return c, nil
}

// inCloud reports whether a stack of this name with an account and region is recorded.
func inCloud(ctx context.Context, st record.Store, name string) (bool, error) {
	return read(ctx, st, func(v record.View) (bool, error) {
		ids, err := v.Stacks()
		return slices.ContainsFunc(ids, func(id record.StackID) bool { return id.Name == name && !id.Scope.IsLocal() }), err
	})
}

// withRecords opens the store and the cloud of a stack that is only known from its records; write opens the store for
// changes.
func (s *session) withRecords(ctx context.Context, typed string, write bool) (*work, error) {
	w, err := s.recordsOf(ctx, typed, write)
	if err != nil {
		return nil, err
	}
	if err := s.reach(ctx, w); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// errElsewhere says that the credentials lead to another place than the stack's (SAFETY S2).
var errElsewhere = errors.New("the credentials lead elsewhere")

// reach opens the cloud of a recorded stack and checks that it is the stack's.
func (s *session) reach(ctx context.Context, w *work) error {
	machine, sc := s.MachineID(), w.stack.Scope
	var err error
	if w.cloud, err = s.cloudOf(ctx, w.stack); err != nil {
		return err
	}
	if sc.IsLocal() {
		if sc.Account != machine {
			return fmt.Errorf("%w: stack %s is of another machine, this is %s", errElsewhere, w.stack, machine)
		}
		return nil
	}
	now, err := w.cloud.Verify(ctx)
	if err != nil {
		return fmt.Errorf("verify the account and region that calls go to: %w", err)
	}
	if now != sc {
		return fmt.Errorf("%w: stack %s, calls go to %s. Next: choose with --profile, --region or AWS_ENDPOINT_URL", errElsewhere, w.stack, now)
	}
	return nil
}

// cloudType is a type that needs an account, so that a cloud is opened for a stack that has none recorded.
func (s *session) cloudType() []string {
	for _, schema := range s.Schemas() {
		if !schema.Local {
			return []string{schema.Type}
		}
	}
	return nil
}

// heldBy returns the hold of a stack, nil when there is none.
func heldBy(ctx context.Context, st record.Store, id record.StackID) (*record.Hold, error) {
	return read(ctx, st, func(v record.View) (*record.Hold, error) {
		h, held, err := v.Hold(id)
		if !held || err != nil {
			return nil, err
		}
		return &h, nil
	})
}
