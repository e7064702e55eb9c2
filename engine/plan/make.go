package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"reclaim/engine/diff"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
	"reclaim/engine/schedule"
	"reclaim/engine/template"
	"reclaim/engine/value"
)

// Env is what making a plan needs from outside.
type Env struct {
	Store    record.Store
	Cloud    resource.Cloud
	Sealer   value.Sealer
	Now      func() time.Time
	Parallel int // looks at once; 0: 16
}

// DefaultParallel is how many resources are worked on at once when nothing else is said.
const DefaultParallel = 16

// Options of a plan.
type Options struct {
	Adopt map[string]string // ID → physical ID, or "" for what is at the key
}

// State is what the store says of one stack, read once.
type State struct {
	Stores  []string // our store ID, then its ancestors
	Records []record.Record
	Bad     []record.BadRecord
	Hold    *record.Hold
	Tombs   []record.Tombstone
}

// ReadState reads a stack's state.
func ReadState(ctx context.Context, st record.Store, stack record.StackID) (State, error) {
	var s State
	err := st.Read(ctx, func(v record.View) error {
		s = State{Stores: append([]string{v.StoreID()}, v.Ancestors()...)}
		var err error
		if s.Records, s.Bad, err = v.Records(stack); err != nil {
			return err
		}
		h, held, err := v.Hold(stack)
		if err != nil {
			return err
		}
		if held {
			s.Hold = &h
		}
		s.Tombs, err = v.Tombstones(stack)
		return err
	})
	if err != nil {
		return State{}, fmt.Errorf("read state of %s: %w", stack, err)
	}
	return s, nil
}

// Index finds records and generations by ID.
type Index struct {
	current map[string]*record.Record
	last    map[string]int
}

// Index returns the current generation of each ID and the highest ever recorded. Current is the highest that is not
// retired; where a replacement was given up or is rolled back, the highest retired one is current again (S23).
func (s *State) Index() Index {
	ix := Index{make(map[string]*record.Record, len(s.Records)), make(map[string]int, len(s.Records))}
	for i := range s.Records {
		r := &s.Records[i]
		ix.last[r.ID] = max(ix.last[r.ID], r.Gen)
		c := ix.current[r.ID]
		if c == nil || retired(c) && !retired(r) || retired(c) == retired(r) && c.Gen < r.Gen {
			ix.current[r.ID] = r
		}
	}
	for _, t := range s.Tombs {
		ix.last[t.ID] = max(ix.last[t.ID], t.Gen)
	}
	return ix
}

func retired(r *record.Record) bool { return !r.Current() }

// Current returns the current record of an ID, nil when there is none.
func (x Index) Current(id string) *record.Record { return x.current[id] }

// Last returns the highest generation of an ID ever recorded, 0 when there was none.
func (x Index) Last(id string) int { return x.last[id] }

// maker makes one plan.
type maker struct {
	env   Env
	stack record.StackID
	opts  Options
	state State
	index Index
	known *Known
	graph *template.Graph
	undo  *rollback // of a rollback; nil otherwise

	mu    sync.Mutex
	items map[string]*Item
	err   error
}

// Make looks at everything a template names and everything recorded for the stack, and says what a deploy would do.
func Make(ctx context.Context, env Env, g *template.Graph, stack record.StackID, o Options) (*Plan, error) {
	m, err := newMaker(ctx, env, stack)
	if err != nil {
		return nil, err
	}
	m.graph, m.opts = g, o
	for id := range o.Adopt {
		if g.Resource(id) == nil {
			return nil, fmt.Errorf("--adopt %s: the template has no such resource", id)
		}
	}
	nodes := make([]schedule.Node, 0, len(g.Resources))
	m.items = make(map[string]*Item, len(g.Resources))
	for _, r := range g.Resources {
		nodes = append(nodes, schedule.Node{Name: r.ID, After: r.DependsOn})
	}
	schedule.Run(ctx, nodes, m.parallel(), func(ctx context.Context, id string) {
		m.keep(m.wanted(ctx, g.Resource(id)))
	})
	items := make([]Item, 0, len(g.Resources))
	for _, r := range g.Resources {
		if it := m.items[r.ID]; it != nil {
			items = append(items, *it)
		}
	}
	items = append(items, m.removals(ctx, m.unwanted())...)
	if m.err != nil {
		return nil, m.err
	}
	if err := m.claimedTwice(ctx, items); err != nil {
		return nil, err
	}
	blockDependents(items)
	outputs, err := g.ResolveOutputs(m.known.Facts)
	if err != nil {
		return nil, err
	}
	p := m.plan(VerbDeploy, items)
	p.Template = TemplateRef{Path: g.Path, SHA256: g.SHA256, Parameters: env.Sealer.SealMap(g.Parameters)}
	for _, o := range outputs {
		p.Outputs = append(p.Outputs, Output{Name: o.Name, Value: env.Sealer.Seal(o.Value), Description: o.Description})
	}
	return finish(p)
}

// MakeDestroy says what destroying the stack would do, from records alone.
func MakeDestroy(ctx context.Context, env Env, stack record.StackID) (*Plan, error) {
	return makeRemovals(ctx, env, stack, func(*record.Record) bool { return true })
}

// MakeRemoval says what removing one recorded generation would do, from records alone, and nothing of the others.
func MakeRemoval(ctx context.Context, env Env, stack record.StackID, ref record.Ref) (*Plan, error) {
	return makeRemovals(ctx, env, stack, func(r *record.Record) bool { return r.Ref() == ref })
}

func makeRemovals(ctx context.Context, env Env, stack record.StackID, which func(*record.Record) bool) (*Plan, error) {
	m, err := newMaker(ctx, env, stack)
	if err != nil {
		return nil, err
	}
	var some []*record.Record
	for i := range m.state.Records {
		if r := &m.state.Records[i]; which(r) {
			some = append(some, r)
		}
	}
	items := m.removals(ctx, some)
	if m.err != nil {
		return nil, m.err
	}
	blockDependents(items)
	return finish(m.plan(VerbDestroy, items))
}

func newMaker(ctx context.Context, env Env, stack record.StackID) (*maker, error) {
	state, err := ReadState(ctx, env.Store, stack)
	if err != nil {
		return nil, err
	}
	return &maker{env: env, stack: stack, state: state, index: state.Index(), known: NewKnown(), items: map[string]*Item{}}, nil
}

func (m *maker) parallel() int { return cmp.Or(m.env.Parallel, DefaultParallel) }

func (m *maker) keep(it *Item, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil && m.err == nil {
		m.err = err
	}
	if it != nil {
		m.items[it.ID] = it
	}
}

func (m *maker) item(id string) *Item {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.items[id]
}

// wanted decides about one resource of the template.
func (m *maker) wanted(ctx context.Context, r *template.Resource) (*Item, error) {
	p, ok := m.env.Cloud.Provider(r.Type)
	if !ok {
		return nil, fmt.Errorf("%s (line %d): type %s is not supported", r.ID, r.Line, r.Type)
	}
	rec := m.index.Current(r.ID)
	res, err := Resolve(ctx, p, r, m.known.Facts, m.stack.Name, PinnedName(rec, r.Schema), m.settled(r.DependsOn))
	if err != nil {
		return nil, err
	}
	s := Subject{
		ID: r.ID, Provider: p, Stores: m.state.Stores, Sealer: m.env.Sealer, Now: m.env.Now(), Stack: m.stack,
		Wanted: true, Desired: res.Desired, Generated: res.Generated, Name: res.Name, DependsOn: r.DependsOn,
		Policies: [2]string{r.DeletionPolicy, r.UpdateReplacePolicy}, Record: rec, LastGen: m.index.Last(r.ID),
		Refs: m.refs(r.DependsOn), AbsentDeps: m.absent(r.DependsOn),
	}
	if res.Generated {
		s.NewName = NewName(m.stack.Name, r.ID, r.Schema.Name)
	}
	if physical, ok := m.opts.Adopt[r.ID]; ok {
		s.Adopt = &physical
	}
	if err := Observe(ctx, m.env, &s); err != nil {
		return nil, err
	}
	it := Decide(s)
	m.dependOn(&it)
	m.publish(&it, s)
	return &it, nil
}

// settled reports whether nothing that the resource depends on changes in this plan.
func (m *maker) settled(ids []string) bool {
	return !slices.ContainsFunc(ids, func(id string) bool {
		it := m.item(id)
		return it != nil && it.Action != Noop
	})
}

// refs are dependencies as records hold them: with the generation they will have.
func (m *maker) refs(ids []string) []record.Ref {
	var out []record.Ref
	for _, id := range ids {
		if it := m.item(id); it != nil {
			out = append(out, record.Ref{ID: id, Gen: it.Gen})
		}
	}
	return out
}

// absent returns the dependencies that are not there and were never recorded.
func (m *maker) absent(ids []string) []string {
	var out []string
	for _, id := range ids {
		if it := m.item(id); it != nil && it.Action == Create && m.index.Current(id) == nil {
			out = append(out, id)
		}
	}
	return out
}

// Observe makes the looks that the decision about s needs: at the key, by tags, or for a verdict. It fills in Look,
// Finding and Claimant. An error means that state could not be read; what the cloud answers is in the Subject.
func Observe(ctx context.Context, env Env, s *Subject) error {
	schema, rec := s.Provider.Schema(), s.Record
	s.Look, s.Was = Look{Machine: env.Cloud.Machine()}, nil
	if err := s.Undo.look(ctx, env, s.Stack.Scope); err != nil {
		return err
	}
	if NeedsVerdict(rec, schema) {
		g := recovery.Gatherer{Store: env.Store, Cloud: env.Cloud, Sealer: env.Sealer, Now: env.Now}
		e, err := g.Gather(ctx, *rec, true)
		if err != nil {
			return fmt.Errorf("gather evidence on %s: %w", s.ID, err)
		}
		f := recovery.Judge(e)
		s.Finding = &f
		return nil
	}
	p := s.Provider
	if rec != nil && rec.Type != schema.Type {
		var ok bool
		if p, ok = env.Cloud.Provider(rec.Type); !ok {
			return fmt.Errorf("%s: its record is of type %s, which is not supported", s.ID, rec.Type)
		}
		s.Was = p
	}
	key, err := lookKey(*s)
	if err != nil {
		return err
	}
	switch {
	case key == nil && rec != nil:
		s.Look.Unplaced = true
	case key != nil:
		s.Look = At(ctx, env.Cloud, p, s.Stack.Scope, key)
		s.conceal()
		s.lookNext(ctx, env, key)
	case !schema.KeyByParams():
		s.Look = s.search(ctx, env)
	}
	if s.Look.Obs != nil && rec == nil {
		s.Claimant, err = claimant(ctx, env.Store, schema.Claim(s.Stack.Scope, s.Look.Obs.Key))
		return err
	}
	return nil
}

// lookNext looks at where a next generation would be, when that is not where the record's object is.
func (s *Subject) lookNext(ctx context.Context, env Env, key resource.Key) {
	schema, rec := s.Provider.Schema(), s.Record
	if rec == nil || !s.Wanted || s.Generated {
		return
	}
	if next, ok := schema.KeyOf(s.Desired, s.Look.Machine); ok && (rec.Type != schema.Type || !next.Equal(key)) {
		s.Next = At(ctx, env.Cloud, s.Provider, s.Stack.Scope, next)
	}
	if len(schema.Natural) > 0 && s.Look.Err == nil && (s.Look.Obs == nil || rec.Type != schema.Type || !schema.Place(s.Desired).Equal(schema.Place(rec.Params))) {
		s.Next = s.search(ctx, env)
	}
}

func (s *Subject) search(ctx context.Context, env Env) Look {
	return Search(ctx, env.Cloud, s.Provider, s.Stack.Scope, resource.Query{Stack: s.Stack.String(), Resource: s.ID,
		Key: s.Provider.Schema().Place(s.Desired), Like: s.Desired})
}

// conceal marks output as sensitive that was computed from sensitive params: a read alone cannot know (S32).
func (s *Subject) conceal() {
	if s.Look.Obs == nil {
		return
	}
	known := []value.Map{s.Desired}
	if s.Record != nil {
		known = append(known, s.Record.Params, s.Record.Pending)
	}
	obs := *s.Look.Obs
	obs.Output = s.Provider.Schema().Conceal(obs.Output, known...)
	s.Look.Obs = &obs
}

// lookKey returns the key to look at: the recorded one, the one typed for an adoption, or the one config gives; nil when
// it is not known, or was only just made up.
func lookKey(s Subject) (resource.Key, error) {
	schema := s.Provider.Schema()
	if s.Record != nil {
		return recordedKey(s.Record), nil
	}
	if s.Adopt != nil && *s.Adopt != "" {
		return schema.ParsePhysical(*s.Adopt, s.Look.Machine)
	}
	if s.Generated && !s.Preflight {
		return nil, nil
	}
	key, ok := schema.KeyOf(s.Desired, s.Look.Machine)
	if !ok {
		return nil, nil
	}
	return key, nil
}

// recordedKey is where a record says its object is, nil when it does not. Config is not asked: it may name another place
// by now.
func recordedKey(r *record.Record) resource.Key {
	if len(r.Key) == 0 && r.Intent != nil && len(r.Intent.Key) > 0 {
		return r.Intent.Key
	}
	if len(r.Key) == 0 {
		return nil
	}
	return r.Key
}

// claimant returns the record that has the claim, nil when none does.
func claimant(ctx context.Context, st record.Store, claim string) (found *record.Record, err error) {
	err = st.Read(ctx, func(v record.View) error {
		r, ok, err := v.Claimant(claim)
		if ok && err == nil {
			found = &r
		}
		return err
	})
	return found, err
}

// dependOn blocks what would change while something it depends on is blocked.
func (m *maker) dependOn(it *Item) {
	if it.Action == Noop || it.Action == Blocked {
		return
	}
	for _, id := range it.DependsOn {
		if d := m.item(id); d != nil && d.Action == Blocked {
			it.block(DependencyBlocked, "waits for %s, which is blocked", id)
			return
		}
	}
}

// blockDependents blocks what waits for an item that was blocked after it was decided. Items come after those that they
// wait for.
func blockDependents(items []Item) {
	blocked := map[string]bool{}
	for i := range items {
		it := &items[i]
		if j := slices.IndexFunc(it.DependsOn, func(id string) bool { return blocked[id] }); j >= 0 && it.CanRun() {
			it.block(DependencyBlocked, "waits for %s, which is blocked", it.DependsOn[j])
		}
		if it.Action == Blocked {
			blocked[it.ID] = true
		}
	}
}

// publish says what dependents may count on.
func (m *maker) publish(it *Item, s Subject) {
	desired := s.Desired
	if it.Name != s.Name && it.Name != "" {
		desired = desired.With(s.Provider.Schema().Name.Param, value.Of(it.Name))
	}
	m.known.Set(it.ID, s.Provider.Schema(), desired, PlannedOutput(it, s))
	trim(it)
}

// PlannedOutput is the output that stays valid while the item is carried out; nil where a new object is made.
func PlannedOutput(it *Item, s Subject) value.Map {
	var out value.Map
	switch {
	case it.Action == Create || it.Action == Replace:
		return nil
	case s.Look.Obs != nil:
		out = s.Look.Obs.Output
	case s.Finding != nil:
		if c := only(s.Finding.Candidates); c != nil && c.Observation != nil {
			out = c.Observation.Output
		}
	case s.Record != nil:
		out = Readable(s.Record.Output)
	}
	if it.Action == Noop || len(it.Calls) == 0 {
		return out
	}
	for _, o := range s.Provider.Schema().Outputs {
		if o.Volatile {
			out = out.Without(o.Name)
		}
	}
	return out
}

// Readable is recorded output without what state holds only as a keyed hash.
func Readable(recorded value.Map) value.Map {
	out := recorded
	for k, v := range recorded {
		if v.HasHash() {
			out = out.Without(k)
		}
	}
	return out
}

// trim drops what an item says twice: a create is shown by what is desired, everything else by its fields, of which an
// unchanged item keeps those that are worth a look.
func trim(it *Item) {
	if it.Action == Create {
		it.Fields = nil
		return
	}
	it.Desired = nil
	if it.Action != Noop {
		return
	}
	it.Seen = nil // nothing is approved of it
	var worth []diff.Field
	for _, f := range it.Fields {
		if f.Verdict != diff.Match && !f.Folded {
			worth = append(worth, f)
		}
	}
	it.Fields = worth
}

// unwanted returns the records that no template resource stands for: removed ones and replaced generations.
func (m *maker) unwanted() []*record.Record {
	var out []*record.Record
	for i := range m.state.Records {
		r := &m.state.Records[i]
		if m.graph.Resource(r.ID) == nil || m.index.Current(r.ID) != r {
			out = append(out, r)
		}
	}
	return out
}

// removals decides about records to be removed, in an order in which what others depend on goes last.
func (m *maker) removals(ctx context.Context, records []*record.Record) []Item {
	items := make([]*Item, len(records))
	nodes := make([]schedule.Node, len(records))
	for i := range records {
		nodes[i].Name = strconv.Itoa(i)
	}
	schedule.Run(ctx, nodes, m.parallel(), func(ctx context.Context, name string) {
		i, _ := strconv.Atoi(name)
		it, err := m.remove(ctx, records[i])
		m.keep(nil, err)
		items[i] = it
	})
	var out []Item
	for _, it := range items {
		if it != nil {
			out = append(out, *it)
		}
	}
	return afterDependents(out)
}

func (m *maker) remove(ctx context.Context, r *record.Record) (*Item, error) {
	it := Item{ID: r.ID, Type: r.Type, Gen: r.Gen, Rev: r.Rev, Status: r.Status, Physical: r.Physical, Removal: true, DependsOn: m.dependents(r)}
	p, ok := m.env.Cloud.Provider(r.Type)
	if !ok {
		it.block(Unsupported, "type %s is not supported by this version", r.Type)
		return &it, nil
	}
	s := Subject{ID: r.ID, Provider: p, Stores: m.state.Stores, Sealer: m.env.Sealer, Now: m.env.Now(), Stack: m.stack,
		Record: r, Current: m.index.Current(r.ID) == r, LastGen: m.index.Last(r.ID), DependsOn: it.DependsOn}
	if m.undo != nil {
		s.Undo = m.undo.of(&m.state, r)
		s.DependsOn = m.undo.inside(&m.state, r)
	}
	if err := Observe(ctx, m.env, &s); err != nil {
		return nil, err
	}
	it = Decide(s)
	return &it, nil
}

// dependents are the IDs of what depends on r and must be gone, or have moved, before it.
func (m *maker) dependents(r *record.Record) []string {
	var out []string
	for i := range m.state.Records {
		o := &m.state.Records[i]
		if o.ID != r.ID && slices.ContainsFunc(o.DependsOn, func(d record.Ref) bool { return d.ID == r.ID }) {
			out = append(out, o.ID)
		}
	}
	if m.graph != nil {
		for _, g := range m.graph.Resources {
			if slices.Contains(g.DependsOn, r.ID) {
				out = append(out, g.ID)
			}
		}
		if m.graph.Resource(r.ID) != nil {
			out = append(out, r.ID) // the generation that replaced it
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// afterDependents sorts removals so that each comes after the ones it waits for; ties keep the newest first.
func afterDependents(items []Item) []Item {
	byID := map[string][]int{}
	for i, it := range items {
		byID[it.ID] = append(byID[it.ID], i)
	}
	var out []Item
	seen := make([]bool, len(items))
	var visit func(int)
	visit = func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		for _, d := range items[i].DependsOn {
			for _, j := range byID[d] {
				visit(j)
			}
		}
		out = append(out, items[i])
	}
	for i := len(items) - 1; i >= 0; i-- {
		visit(i)
	}
	return out
}

// claimedTwice blocks creates of a physical key that another live record, or another item of this plan, has.
func (m *maker) claimedTwice(ctx context.Context, items []Item) error {
	first := map[string]int{}
	err := m.env.Store.Read(ctx, func(v record.View) error {
		clear(first)
		for i := range items {
			it := &items[i]
			p, ok := m.env.Cloud.Provider(it.Type)
			if !ok || it.Action == Blocked || it.Action == Delete || it.Action == Retain {
				continue
			}
			claim := m.claim(p.Schema(), it)
			if claim == "" {
				continue
			}
			if j, twice := first[claim]; twice {
				it.collide(&items[j])
				continue
			}
			first[claim] = i
			if !it.claims() {
				continue
			}
			r, claimed, err := v.Claimant(claim)
			if err != nil {
				return err
			}
			if claimed && !(r.Stack == m.stack && r.ID == it.ID) {
				it.block(ClaimedTwice, "%s is already %s of stack %s (generation %d); rename one of them", it.Physical, r.ID, r.Stack, r.Gen)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("check claims: %w", err)
	}
	return nil
}

// claim is what a record of the item will claim: its key, or the natural key of what has no ID yet; "" while neither is
// known.
func (m *maker) claim(schema *resource.Schema, it *Item) string {
	if len(it.Key) > 0 {
		return schema.Claim(m.stack.Scope, it.Key)
	}
	return schema.ClaimNatural(m.stack.Scope, schema.Place(it.Desired))
}

// collide blocks those of two items of one key that would take it; what has it already goes on.
func (it *Item) collide(other *Item) {
	mine, theirs := it.claims() || !other.claims(), other.claims() || !it.claims()
	if mine {
		it.block(ClaimedTwice, "%s is also %s in this template; rename one of them", cmp.Or(it.Physical, "what it names"), other.ID)
	}
	if theirs {
		other.block(ClaimedTwice, "%s is also %s in this template; rename one of them", cmp.Or(other.Physical, "what it names"), it.ID)
	}
}

// claims reports whether the item would take a key that it does not have.
func (it *Item) claims() bool {
	return it.Action == Create || it.Action == Adopt || it.Action == Replace && it.Order == CreateFirst
}

func (m *maker) plan(v Verb, items []Item) *Plan {
	p := &Plan{Schema: FormatVersion, Stack: m.stack, StoreID: m.state.Stores[0], Verb: v, MadeAt: m.env.Now().UTC(), Items: items}
	for _, b := range m.state.Bad {
		p.Notes = append(p.Notes, fmt.Sprintf("record %s cannot be used: %s", b.Key, b.Reason))
	}
	if h := m.state.Hold; h != nil {
		p.Notes = append(p.Notes, (&record.HeldError{Hold: *h}).Error())
	}
	return p
}

func finish(p *Plan) (*Plan, error) {
	var err error
	p.Fingerprint, err = fingerprint(p)
	return p, err
}

// ErrBadRecords refuses a changing verb while records cannot be used (S1).
var ErrBadRecords = errors.New("records that cannot be used")

// Save keeps a plan in the store.
func Save(ctx context.Context, st record.Store, p *Plan) error {
	b, err := Encode(p)
	if err != nil {
		return err
	}
	return st.SavePlan(ctx, p.Stack, p.Fingerprint, b)
}
