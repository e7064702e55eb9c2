package plan

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"reclaim/engine/record"
	"reclaim/engine/resource"
)

// Undo is what is known of a record that is removed because the execution that made it is rolled back (S23, S24).
type Undo struct {
	Execution string
	UsedBy    string         // a resource that stays and refers to it, "" for none
	Later     int            // a later generation that is recorded, 0 for none
	Old       *record.Record // the generation that it replaced; nil where none did, or that is gone
	OldLook   Look           // at Old's object
	OldOf     resource.Provider
}

// look looks at the generation that is to be current again.
func (u *Undo) look(ctx context.Context, env Env, scope resource.Scope) error {
	if u == nil || u.Old == nil {
		return nil
	}
	p, ok := env.Cloud.Provider(u.Old.Type)
	if !ok {
		return fmt.Errorf("%s: the generation it replaced is of type %s, which is not supported", u.Old.ID, u.Old.Type)
	}
	u.OldOf = p
	if key := recordedKey(u.Old); key != nil {
		u.OldLook = At(ctx, env.Cloud, p, scope, key)
	} else {
		u.OldLook = Look{Unplaced: true}
	}
	return nil
}

// undo: the execution that made the record is rolled back. What it made is found by its nonce, or, without tags, at the
// exact key that it had acknowledged; what is only presumed ours is never removed (S24).
func (s Subject) undo(it *Item) {
	r, u := s.Record, s.Undo
	switch in := r.Made(); {
	case in == nil || in.Maker() != u.Execution:
		it.block(NotUndone, "nothing shows that execution %s made it", u.Execution)
		return
	case r.Origin == record.Presumed, !s.Provider.Schema().Taggable() && !r.Uncertain() && !in.Confirmed():
		it.block(NotUndone, "it is only presumed ours, and a rollback never removes that; destroy does, with an approval of its own")
		return
	case u.UsedBy != "":
		it.block(StillUsed, "%s, which stays, refers to it", u.UsedBy)
		return
	case u.Later > 0:
		it.block(NotUndone, "generation %d took its place since; the next deploy removes this one", u.Later)
		return
	}
	if in := r.Made(); in.Replaces > 0 && !s.restores(it) {
		return
	}
	if obs := s.Look.Obs; s.Finding == nil && obs != nil && s.anotherObject(obs) == "" && s.unmarked(it, obs) {
		return
	}
	policy := r.DeletionPolicy
	if policy == record.PolicyRetainOnCreate {
		policy = record.PolicyDelete // the create itself is rolled back
	}
	s.remove(it, policy)
	s.undone(it)
}

// unmarked blocks what does not carry the nonce of the create that is rolled back.
func (s Subject) unmarked(it *Item, obs *resource.Observation) bool {
	nonce := s.Record.Made().Nonce
	switch {
	case !s.Provider.Schema().Taggable() || nonce != "" && obs.Owner[resource.TagNonce] == nonce:
		return false
	case obs.Owner == nil:
		it.block(NotUndone, "whether it carries the nonce of its create could not be read")
	default:
		it.block(NotUndone, "it does not carry the nonce of its create any more, so nothing shows that execution %s made it", s.Undo.Execution)
	}
	return true
}

// anotherObject says why an object of another identity than the recorded one is at the key; "" when that is not known.
func (s Subject) anotherObject(obs *resource.Observation) string {
	if same, known := s.Record.Identity.Same(obs.Identity); known && !same {
		return s.another(obs)
	}
	return ""
}

// restores reports whether the generation that was replaced can be current again, and blocks where it cannot.
func (s Subject) restores(it *Item) bool {
	u, gen := s.Undo, s.Record.Made().Replaces
	if u.Old == nil {
		it.block(NotUndone, "it replaced generation %d, which is gone: without it there would be nothing", gen)
		return false
	}
	old := Subject{ID: s.ID, Provider: u.OldOf, Stores: s.Stores, Stack: s.Stack, Record: u.Old, Look: u.OldLook, Now: s.Now}
	switch obs := u.OldLook.Obs; {
	case u.Old.Status == record.Deleting:
		it.block(NotUndone, "it replaced generation %d, whose deletion was begun: without it there would be nothing", gen)
	case u.OldLook.Unplaced:
		it.block(NotUndone, "it replaced generation %d, whose record does not say where its object is", gen)
	case u.OldLook.Err != nil:
		old.lookFailed(it)
		it.Detail = fmt.Sprintf("it replaced generation %d: %s", gen, it.Detail)
	case obs == nil && old.early():
		old.wait(it, fmt.Sprintf("generation %d, which is to be current again, is not visible yet", gen))
	case obs == nil:
		it.block(NotUndone, "it replaced generation %d, whose object is gone: without it there would be nothing", gen)
	case old.another(obs) != "":
		it.block(NotUndone, "it replaced generation %d, which is gone: %s", gen, old.another(obs))
	default:
		return true
	}
	return false
}

// undone puts what was decided in the words of a rollback.
func (s Subject) undone(it *Item) {
	if f := s.Finding; f != nil && it.Action == Delete && slices.Contains(it.Needs, GrantPresumed) {
		it.Loss = ""
		it.block(NotUndone, "%s A rollback never removes what is only presumed ours", f.Summary)
		return
	}
	if it.Action == Delete && s.Finding == nil && len(it.Calls) > 0 {
		it.Detail = "made by " + s.Undo.Execution + "; deleted"
		if it.Loss != "" {
			it.Detail += ", and with it " + it.Loss
		}
	}
	if old := s.Undo.Old; old != nil && (it.Action == Delete || it.Action == Retain) {
		it.OldFate = fmt.Sprintf("generation %d (%s) becomes current again first", old.Gen, old.Physical)
	}
}

// rollback is the rollback of one execution, as it is planned.
type rollback struct {
	execution string
	made      map[record.Ref]bool // what it made
}

// of says what is known of a record of the rollback.
func (b *rollback) of(state *State, r *record.Record) *Undo {
	u := &Undo{Execution: b.execution}
	for i := range state.Records {
		o := &state.Records[i]
		switch {
		case o.ID == r.ID:
			u.see(o, r)
		case state.Uses(o, r.Ref()) && !b.made[o.Ref()]:
			u.UsedBy = o.ID
		}
	}
	return u
}

// see takes note of another generation of the same resource.
func (u *Undo) see(o, r *record.Record) {
	if in := r.Made(); in != nil && in.Replaces == o.Gen && o.Gen != r.Gen {
		u.Old = o
	}
	if o.Gen > r.Gen {
		u.Later = max(u.Later, o.Gen)
	}
}

// UndoOf says what is known of a record under the run that rolls its execution back.
func UndoOf(execution string, r *record.Record, others []record.Record) *Undo {
	u := &Undo{Execution: execution}
	for i := range others {
		if others[i].ID == r.ID {
			u.see(&others[i], r)
		}
	}
	return u
}

// Uses reports whether o depends on a generation. A reference to a generation that is no longer recorded may mean it.
func (s *State) Uses(o *record.Record, gen record.Ref) bool {
	return slices.ContainsFunc(o.DependsOn, func(d record.Ref) bool {
		return d.ID == gen.ID && (d == gen || !slices.ContainsFunc(s.Records, func(r record.Record) bool { return r.Ref() == d }))
	})
}

// inside are the IDs of what the same execution made and depends on r: they go first.
func (b *rollback) inside(state *State, r *record.Record) []string {
	var out []string
	for i := range state.Records {
		if o := &state.Records[i]; o.ID != r.ID && b.made[o.Ref()] && state.Uses(o, r.Ref()) {
			out = append(out, o.ID)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// MakeRollback says what rolling an execution back would do, from records and journal alone: it removes what the execution
// made, newest first, and restores nothing but a generation that it replaced (S23, S24).
func MakeRollback(ctx context.Context, env Env, stack record.StackID, execution string) (*Plan, error) {
	m, err := newMaker(ctx, env, stack)
	if err != nil {
		return nil, err
	}
	if err := canUndo(ctx, env.Store, stack, execution); err != nil {
		return nil, err
	}
	steps, err := stepsOf(ctx, env.Store, stack, execution)
	if err != nil {
		return nil, err
	}
	m.undo = &rollback{execution, map[record.Ref]bool{}}
	var made []*record.Record
	for i := range m.state.Records {
		r := &m.state.Records[i]
		if in := r.Made(); in != nil && in.Maker() == execution {
			made, m.undo.made[r.Ref()] = append(made, r), true
		}
	}
	slices.SortFunc(made, func(a, b *record.Record) int {
		return cmp.Or(cmp.Compare(begun(steps, a), begun(steps, b)), cmp.Compare(a.ID, b.ID))
	})
	items := m.removals(ctx, made)
	if m.err != nil {
		return nil, m.err
	}
	keepUsed(items)
	blockDependents(items)
	p := m.plan(VerbRollback, items)
	p.Of = execution
	p.Notes = append(p.Notes, m.undo.stays(&m.state, steps)...)
	return finish(p)
}

// canUndo refuses an execution that the store does not know, and one that made nothing by what it is.
func canUndo(ctx context.Context, st record.Store, stack record.StackID, execution string) error {
	var all []record.Execution
	err := st.Read(ctx, func(v record.View) (err error) { all, err = v.Executions(stack); return err })
	if err != nil {
		return fmt.Errorf("read the executions of %s: %w", stack, err)
	}
	i := slices.IndexFunc(all, func(e record.Execution) bool { return e.ID == execution })
	switch {
	case i < 0:
		return fmt.Errorf("no execution %s of %s. Next: reclaim history %s", execution, stack, stack)
	case all[i].Verb == string(VerbDestroy):
		return fmt.Errorf("%s is a destroy, which can be resumed but not rolled back: what it deleted is gone. Next: reclaim destroy %s", execution, stack)
	case all[i].Of != "":
		return fmt.Errorf("%s is itself a rollback, which can be resumed but not rolled back. Next: reclaim rollback %s", execution, all[i].Of)
	}
	return nil
}

func stepsOf(ctx context.Context, st record.Store, stack record.StackID, execution string) ([]record.Step, error) {
	var out []record.Step
	err := st.Read(ctx, func(v record.View) error {
		all, err := v.Steps(stack, 0, 0)
		out = slices.DeleteFunc(all, func(s record.Step) bool { return s.Execution != execution })
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the journal of %s: %w", stack, err)
	}
	return out, nil
}

// begun is the journal's number of a record's first step in the execution.
func begun(steps []record.Step, r *record.Record) uint64 {
	for _, s := range steps {
		if s.ID == r.ID && s.Gen == r.Gen {
			return s.Seq
		}
	}
	return 0
}

// keepUsed blocks what something refers to that its policy keeps.
func keepUsed(items []Item) {
	kept := map[string]bool{}
	for i := range items {
		if items[i].Action == Retain {
			kept[items[i].ID] = true
		}
	}
	for i := range items {
		it := &items[i]
		if j := slices.IndexFunc(it.DependsOn, func(id string) bool { return kept[id] }); j >= 0 && it.CanRun() {
			it.block(StillUsed, "%s, which its policy keeps, refers to it", it.DependsOn[j])
		}
	}
}

// stays says what else the execution did: none of it is taken back.
func (b *rollback) stays(state *State, steps []record.Step) []string {
	const adopted = "adopted or reclaimed by %[1]s, not made by it; kept"
	const changed = "changed in place by %[1]s; a rollback restores no former values. Deploy the former template for that"
	const removed = "removed by %[1]s; not made again"
	what, recorded := map[string]string{}, map[record.Ref]bool{}
	ids := map[string]bool{}
	for i := range state.Records {
		r := &state.Records[i]
		recorded[r.Ref()], ids[r.ID] = true, true
		if in := r.Made(); r.CreatedBy == b.execution && in == nil {
			what[r.ID] = adopted
		} else if r.CreatedBy == b.execution && !b.made[r.Ref()] {
			what[r.ID] = "begun by %[1]s, made by " + cmp.Or(in.Maker(), "nobody knows which execution") + "; kept"
		}
	}
	for _, s := range steps {
		switch ref := (record.Ref{ID: s.ID, Gen: s.Gen}); {
		case what[s.ID] != "" || b.made[ref]:
		case strings.HasSuffix(s.Name, ":dropped") && !ids[s.ID]:
			what[s.ID] = removed
		case recorded[ref] && (s.Name == record.StepPersist(s.ID) || strings.HasPrefix(s.Name, "call:")):
			what[s.ID] = changed
		}
	}
	by := map[string][]string{}
	for _, id := range slices.Sorted(maps.Keys(what)) {
		by[what[id]] = append(by[what[id]], id)
	}
	var notes []string
	for _, why := range slices.Sorted(maps.Keys(by)) {
		notes = append(notes, strings.Join(by[why], ", ")+": "+fmt.Sprintf(why, b.execution))
	}
	return notes
}
