package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"reclaim/engine/deploy"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/ui/text"
)

// resolution is what is done about an orphan.
type resolution string

const (
	resolveReclaim resolution = "reclaim" // keep its object as the record's
	resolveDelete  resolution = "delete"  // delete its object, and the record
	resolveForget  resolution = "forget"  // drop a tombstone whose object is gone
)

// fileFlags are the flags that say which stack, and what its file names.
func (o *orphanOptions) fileFlags(f *pflag.FlagSet) {
	f.StringVar(&o.stack, "stack", "", "only those of this stack")
	f.StringVar(&o.file, "file", "", "template that says what the stack names; without it, its last plan does")
	f.StringArrayVar(&o.parameters, "parameters", nil, "NAME=VALUE or file://FILE, for --file")
	parallelFlag(f, &o.parallel)
}

type resolveOptions struct {
	orphanOptions
	consent
	gen int
}

func (s *session) resolveCommand() *cobra.Command {
	var o resolveOptions
	c := &cobra.Command{
		Use:   "resolve STACK ID reclaim|delete|forget",
		Short: "Deal with one orphan, after a look at the cloud",
		Long: `Looks for the orphan's object, in the verified account and region, and then
  reclaim  keeps it: an unfinished create goes through recover, a tombstone becomes a record again
  delete   deletes it as destroy does, with the same approvals; where it is gone, only the record or tombstone goes
  forget   drops a tombstone, once the look says that nothing is there and the consistency window has passed
Without a terminal it wants --yes, and for a delete --allow-delete ID.`,
		Args:              cobra.ExactArgs(3),
		ValidArgsFunction: s.args(stackWords, ofStack(resourceWords), resolutionWords),
		RunE: s.run(func(ctx context.Context, args []string) error {
			return s.resolveOrphan(ctx, &o, args[0], args[1], resolution(args[2]))
		}),
	}
	f := c.Flags()
	f.IntVar(&o.gen, "gen", 0, "generation; needed where there are several")
	f.StringVar(&o.file, "file", "", "template that says what the stack names; without it, its last plan does")
	f.StringArrayVar(&o.parameters, "parameters", nil, "NAME=VALUE or file://FILE, for --file")
	parallelFlag(f, &o.parallel)
	o.scopeFlags(f)
	o.deleteFlags(f)
	return c
}

func (s *session) resolveOrphan(ctx context.Context, o *resolveOptions, typed, id string, choice resolution) error {
	if !slices.Contains(resolvable(), string(choice)) {
		return usage("orphans resolve: %q is no choice: reclaim, delete or forget", choice)
	}
	w, err := s.withRecords(ctx, typed, true)
	if err != nil {
		return err
	}
	defer w.close()
	if held, err := s.refuseHeld(ctx, w); held || err != nil {
		return err
	}
	o.stack = w.stack.String()
	list, err := s.orphan(ctx, w, o, id)
	if err != nil {
		return err
	}
	s.rep.stack = w.stack.String()
	if areTombstones(list) {
		return s.resolveTombstones(ctx, w, o, list, choice)
	}
	return s.resolveRecord(ctx, w, o, &list[0], choice)
}

// orphan finds what an ID means: one record, or the tombstones of one generation.
func (s *session) orphan(ctx context.Context, w *work, o *resolveOptions, id string) ([]recovery.Orphan, error) {
	all, _, err := s.orphansOf(ctx, w.store, &o.orphanOptions)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(one recovery.Orphan) bool { return one.ID != id || o.gen > 0 && one.Gen != o.gen })
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("%s is no orphan of %s: its stack file may name it, or nothing records it. Next: %s", id, w.stack, s.line("orphans", "--stack", w.stack.String()))
	case slices.ContainsFunc(all, func(one recovery.Orphan) bool { return one.Gen != all[0].Gen }):
		return nil, usage("%s is there in several generations; say which with --gen", id)
	case len(all) > 1 && !areTombstones(all):
		all = slices.DeleteFunc(all, func(one recovery.Orphan) bool { return one.Tombstone != nil }) // the record first
	}
	return all, nil
}

// resolveRecord deletes a record's object, or has recover keep it.
func (s *session) resolveRecord(ctx context.Context, w *work, o *resolveOptions, one *recovery.Orphan, choice resolution) error {
	switch {
	case choice == resolveForget:
		return usage("%s has a record, not a tombstone: delete it, or, as the last way out: %s", one.ID,
			s.line("state", "forget", w.stack.String(), one.ID, "--gen", fmt.Sprint(one.Gen)))
	case choice == resolveReclaim && one.Kind == recovery.OrphanUnfinished:
		c := o.consent
		c.decide = []string{one.ID + "=" + string(record.Reclaim)}
		return s.recover(ctx, &recoverOptions{consent: c, parallel: o.parallel}, w.stack.String())
	case choice == resolveReclaim:
		return usage("%s is a record already: name it in the stack file and plan, or delete it", one.ID)
	}
	return s.remove(ctx, w, o, record.Ref{ID: one.ID, Gen: one.Gen})
}

// remove deletes one recorded generation by the rules of a destroy.
func (s *session) remove(ctx context.Context, w *work, o *resolveOptions, ref record.Ref) error {
	p, err := plan.MakeRemoval(ctx, w.env(o.parallel), w.stack, ref)
	if err != nil {
		return fmt.Errorf("plan to remove %s: %w", ref.ID, err)
	}
	return s.runPlan(ctx, w, p, &o.consent, runOptions{}, deploy.Request{Plan: p, Only: []string{ref.ID}, Parallel: o.parallel})
}

// resolveTombstones looks for what each tombstone of one generation stands for, and does what was chosen.
func (s *session) resolveTombstones(ctx context.Context, w *work, o *resolveOptions, list []recovery.Orphan, choice resolution) error {
	shown := make([]text.Orphan, len(list))
	var found *recovery.Orphan
	var tombs []record.Tombstone
	gone := true
	for i := range list {
		seen, err := s.lookFor(ctx, w, nil, &list[i])
		if err != nil {
			return err
		}
		shown[i] = text.Orphan{Orphan: list[i], Seen: &seen}
		shown[i].Next = s.afterSight(&shown[i])
		tombs = append(tombs, *list[i].Tombstone)
		if seen.State == recovery.SightFound {
			found = &list[i]
		}
		gone = gone && (seen.State == recovery.SightAbsent || seen.State == recovery.SightClaimed)
	}
	s.rep.text = s.page().Orphans(shown, 0, nil)
	seen := shown[0].Seen
	switch {
	case gone && choice != resolveReclaim:
		return s.forgetGone(ctx, w, o, tombs)
	case found != nil && choice == resolveReclaim:
		return s.restore(ctx, w, o, found)
	case found != nil && choice == resolveDelete:
		return s.deleteAgain(ctx, w, o, found)
	}
	var advice string
	if len(shown[0].Next) > 0 {
		advice = ". Next: " + shown[0].Next[0]
	}
	return withExit(deploy.ExitBlocked, fmt.Errorf("%s cannot be resolved by %s: %s: %s; nothing was changed%s", list[0].ID, choice, seen.State, seen.Summary, advice))
}

// approveOne asks for one thing that --yes gives.
func (s *session) approveOne(ctx context.Context, w *work, o *resolveOptions, question, id string) error {
	if err := s.checkScope(&o.consent, w.stack.Scope); err != nil {
		return err
	}
	switch {
	case o.yes:
		return nil
	case !s.asks():
		return usage("there is no terminal to ask on: add --yes; nothing was changed")
	}
	s.flushText()
	yes, err := newAsker(s.Stdin, s.Stderr).typed(ctx, question, id)
	if err == nil && !yes {
		err = withExit(deploy.ExitError, fmt.Errorf("nothing was approved, and nothing was changed"))
	}
	return err
}

// forgetGone drops tombstones whose objects are gone.
func (s *session) forgetGone(ctx context.Context, w *work, o *resolveOptions, tombs []record.Tombstone) error {
	id := tombs[0].ID
	if err := s.approveOne(ctx, w, o, "Nothing is there. Forget the tombstone of "+id+"?", id); err != nil {
		return err
	}
	l, err := s.lostTombstones(w.stack, id, tombs)
	if err != nil {
		return err
	}
	l.req.Who, l.req.Why = who(s.Owner()), "looked for, and gone"
	return s.forget(ctx, w, l)
}

// restore makes a record of a tombstone whose object was found. A live record of the same resource has the place.
func (s *session) restore(ctx context.Context, w *work, o *resolveOptions, one *recovery.Orphan) error {
	state, err := plan.ReadState(ctx, w.store, w.stack)
	if err != nil {
		return err
	}
	if r := state.Index().Current(one.ID); r != nil {
		return withExit(deploy.ExitBlocked, fmt.Errorf("%s has a record of generation %d by now, so that this object can only be deleted; nothing was changed", one.ID, r.Gen))
	}
	if err := s.approveOne(ctx, w, o, "Keep the object as "+one.ID+"?", one.ID); err != nil {
		return err
	}
	_, err = s.restored(ctx, w, one)
	return err
}

func (s *session) restored(ctx context.Context, w *work, one *recovery.Orphan) (deploy.Outcome, error) {
	s.flushText()
	var out deploy.Outcome
	err := s.carryOut(ctx, w, "", func(ctx context.Context, env deploy.Env) (deploy.Outcome, error) {
		var err error
		out, err = deploy.Restore(ctx, env, deploy.RestoreRequest{Tombstone: *one.Tombstone, Who: who(s.Owner())})
		return out, err
	})
	return out, err
}

// deleteAgain deletes what a tombstone stands for: it becomes a record again, which is then removed as any other. What the
// delete needs is asked for before, so that a no leaves the tombstone as it is.
func (s *session) deleteAgain(ctx context.Context, w *work, o *resolveOptions, one *recovery.Orphan) error {
	p, _ := w.cloud.Provider(one.Type)
	schema := p.Schema()
	if err := s.checkScope(&o.consent, w.stack.Scope); err != nil {
		return err
	}
	switch allowed := slices.Contains(o.deletes, one.ID) || slices.Contains(o.deletes, "*"); {
	case s.asks() && !allowed:
		s.flushText()
		yes, err := newAsker(s.Stdin, s.Stderr).typed(ctx, "Delete the object of "+one.ID+"? It cannot be undone.", one.ID)
		if err != nil || !yes {
			return withExit(deploy.ExitError, fmt.Errorf("nothing was approved, and nothing was changed"))
		}
		o.deletes = append(o.deletes, one.ID)
	case !s.asks() && (!o.yes || !allowed):
		return usage("there is no terminal to ask on: add --yes --allow-delete %s; nothing was changed", one.ID)
	}
	if schema.DataBearing && !slices.Contains(o.losses, one.ID) && !s.asks() {
		return withExit(deploy.ExitBlocked, fmt.Errorf("%s holds %s: add --allow-data-loss %s; nothing was changed", one.ID, schema.Data, one.ID))
	}
	out, err := s.restored(ctx, w, one)
	if err != nil || out.Exit != deploy.ExitDone || len(out.Items) == 0 {
		return err
	}
	s.flushText()
	s.rep.codes, s.rep.result = nil, nil
	return s.remove(ctx, w, o, record.Ref{ID: one.ID, Gen: out.Items[0].Gen})
}
