package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"reclaim/engine/deploy"
	"reclaim/engine/record"
	"reclaim/ui/text"
)

type forgetOptions struct {
	gen       int
	tombstone bool
	allow     string
	why       string
}

func (s *session) forgetCommand() *cobra.Command {
	var o forgetOptions
	c := &cobra.Command{
		Use:   "forget STACK ID",
		Short: "Let go of a record or tombstone for good: the last way out",
		Long: `Removes what state says of one resource and changes nothing in the cloud: its object stays, if there is one, and no verb
looks for it again. recover STACK --decide ID=abandon, which keeps a tombstone, and orphans resolve, which looks first, come before
this. It works on records that no other verb can resolve: without a key, or unusable. A backup is made first, and the
journal keeps who, why and what was lost. Without a terminal it wants --allow-forget ID.`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: s.args(stackWords, ofStack(resourceWords)),
		RunE:              s.run(func(ctx context.Context, args []string) error { return s.stateForget(ctx, &o, args[0], args[1]) }),
	}
	f := c.Flags()
	f.IntVar(&o.gen, "gen", 0, "generation; needed where there are several")
	f.BoolVar(&o.tombstone, "tombstone", false, "forget the tombstones of ID, not its record")
	f.StringVar(&o.allow, "allow-forget", "", "ID that may be forgotten, instead of typing it")
	f.StringVar(&o.why, "why", "", "reason that the journal keeps")
	return c
}

// lost is what would be forgotten: the request, and what is known of it.
type lost struct {
	req  deploy.ForgetRequest
	said text.Forgets
}

// forgottenJSON is the result of `state forget`.
type forgottenJSON struct {
	deploy.Outcome
	Forgotten text.Forgets `json:"forgotten"`
	Backup    string       `json:"backup"`
}

func (s *session) stateForget(ctx context.Context, o *forgetOptions, typed, id string) error {
	st, err := s.openStore(false, true)
	if err != nil {
		return err
	}
	defer st.Close()
	w := &work{store: st, word: typed}
	l, err := read(ctx, st, func(v record.View) (*lost, error) {
		stack, err := findStack(v, typed)
		if err != nil {
			return nil, err
		}
		w.stack, w.word = stack, stackArg(v, stack)
		return s.lost(v, stack, id, o)
	})
	if err != nil {
		return err
	}
	if held, err := s.refuseHeld(ctx, w); held || err != nil {
		return err
	}
	s.rep.stack, s.rep.result = w.stack.String(), forgottenJSON{Forgotten: l.said}
	s.rep.text = s.page().Forgets(l.said)
	if err := s.allowForget(ctx, o, l); err != nil {
		return err
	}
	l.req.Who, l.req.Why = who(s.Owner()), o.why
	if l.req.Why == "" {
		l.req.Why = "no reason given"
	}
	return s.forget(ctx, w, l)
}

// allowForget wants the ID typed, or given in words where nobody can be asked.
func (s *session) allowForget(ctx context.Context, o *forgetOptions, l *lost) error {
	id := l.req.ID
	switch {
	case o.allow == id:
		return nil
	case o.allow != "":
		return usage("--allow-forget names %s, and what is to be forgotten is %s; nothing was changed", o.allow, id)
	case !s.asks():
		return usage("there is no terminal to ask on: add --allow-forget %s; nothing was changed", shellWord(id))
	}
	s.flushText()
	yes, err := newAsker(s.Stdin, s.Stderr).typed(ctx, fmt.Sprintf("Forget %s %s for good?", l.said.What, id), id)
	if err == nil && !yes {
		err = withExit(deploy.ExitError, fmt.Errorf("%s was not forgotten, and nothing was changed", id))
	}
	return err
}

// forget makes a backup, has the engine forget, and reads again that it is gone.
func (s *session) forget(ctx context.Context, w *work, l *lost) error {
	backup, err := w.store.Backup(ctx, "", "before-forget")
	if err != nil {
		return fmt.Errorf("make a backup before anything is forgotten: %w; nothing was changed", err)
	}
	s.rep.text += "backup " + backup + "\n"
	s.flushText()
	var out deploy.Outcome
	err = s.carryOut(ctx, w, "", func(ctx context.Context, env deploy.Env) (deploy.Outcome, error) {
		var err error
		out, err = deploy.Forget(ctx, env, l.req)
		return out, err
	})
	if err != nil || out.Execution == "" {
		return err
	}
	s.rep.result = forgottenJSON{out, l.said, backup}
	if out.Exit != deploy.ExitDone {
		return nil
	}
	return w.store.Read(ctx, func(v record.View) error { return l.stillThere(v) })
}

// stillThere is an error when what was forgotten can still be read.
func (l *lost) stillThere(v record.View) error {
	records, bad, err := v.Records(l.req.Stack)
	if err != nil {
		return err
	}
	tombs, err := v.Tombstones(l.req.Stack)
	if err != nil {
		return err
	}
	left := slices.ContainsFunc(bad, func(b record.BadRecord) bool { return b.Key == l.req.Unusable })
	if l.req.Unusable == "" && len(l.req.Tombstones) == 0 {
		left = slices.ContainsFunc(records, func(r record.Record) bool { return r.ID == l.req.ID && r.Gen == l.req.Gen })
	}
	for _, t := range l.req.Tombstones {
		left = left || slices.ContainsFunc(tombs, func(x record.Tombstone) bool { return x.ID == t.ID && x.Gen == t.Gen && x.Seq == t.Seq })
	}
	if left {
		return fmt.Errorf("%w: %s is still there after it was forgotten", record.ErrWrite, l.req.ID)
	}
	return nil
}

// lost finds what an ID means: one record, one that cannot be used, or tombstones of one generation.
func (s *session) lost(v record.View, stack record.StackID, id string, o *forgetOptions) (*lost, error) {
	records, bad, err := v.Records(stack)
	if err != nil {
		return nil, err
	}
	tombs, err := v.Tombstones(stack)
	if err != nil {
		return nil, err
	}
	tombs = slices.DeleteFunc(tombs, func(t record.Tombstone) bool { return t.ID != id || o.gen > 0 && t.Gen != o.gen })
	if o.tombstone {
		return s.lostTombstones(stack, id, tombs)
	}
	var found []*lost
	for i := range records {
		if r := &records[i]; r.ID == id && (o.gen == 0 || r.Gen == o.gen) {
			found = append(found, lostRecord(r, records))
		}
	}
	for _, b := range bad {
		if b.Key == id || b.ID == id && (o.gen == 0 || b.Gen == o.gen) {
			found = append(found, lostUnusable(stack, id, b))
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, usage("%s has %d generations; say which with --gen: %s", id, len(found), gens(found))
	case len(tombs) > 0:
		return nil, fmt.Errorf("no record %s, only a tombstone. Next: %s", id, s.line("state", "forget", stack.String(), id, "--tombstone"))
	default:
		return nil, fmt.Errorf("no record %s in %s. Next: %s", id, stack, s.line("state", "list", stack.String()))
	}
}

func gens(list []*lost) string {
	var out []string
	for _, l := range list {
		out = append(out, fmt.Sprint(l.req.Gen))
	}
	return strings.Join(out, ", ")
}

func lostRecord(r *record.Record, all []record.Record) *lost {
	l := &lost{req: deploy.ForgetRequest{Stack: r.Stack, ID: r.ID, Gen: r.Gen, Rev: r.Rev},
		said: text.Forgets{Stack: r.Stack, ID: r.ID, Gen: r.Gen, What: "record"}}
	l.fact("type", r.Type)
	l.fact("status", string(r.Status))
	l.fact("object", r.Physical)
	l.fact("unique ID", r.Identity.UniqueID)
	l.fact("nonces", strings.Join(r.Nonces(), ", "))
	if r.Physical != "" {
		l.lose("that " + r.Physical + " is ours: it stays as it is, and no verb looks for it again")
	} else {
		l.lose("where to look: if a create of it was executed, its object stays, and no verb looks for it again")
	}
	if len(r.Params) > 0 {
		l.lose("what was last written to it: a later deploy cannot tell what somebody changed")
	}
	if r.Claim != "" {
		l.lose("its claim: another record may take the same object")
	}
	for i := range all {
		if slices.ContainsFunc(all[i].DependsOn, func(d record.Ref) bool { return d.ID == r.ID }) && all[i].ID != r.ID {
			l.lose(fmt.Sprintf("what %s depends on", all[i].ID))
		}
	}
	return l
}

func lostUnusable(stack record.StackID, id string, b record.BadRecord) *lost {
	l := &lost{req: deploy.ForgetRequest{Stack: stack, ID: id, Gen: b.Gen, Unusable: b.Key},
		said: text.Forgets{Stack: stack, ID: id, Gen: b.Gen, What: "unusable record"}}
	l.fact("key", b.Key)
	l.fact("because", b.Reason)
	l.lose("all that it said, which cannot be read here: the backup keeps its bytes")
	return l
}

func (s *session) lostTombstones(stack record.StackID, id string, tombs []record.Tombstone) (*lost, error) {
	if len(tombs) == 0 {
		return nil, fmt.Errorf("no tombstone of %s in %s. Next: %s", id, stack, s.line("orphans", "--stack", stack.String()))
	}
	l := &lost{req: deploy.ForgetRequest{Stack: stack, ID: id, Gen: tombs[0].Gen, Tombstones: tombs},
		said: text.Forgets{Stack: stack, ID: id, Gen: tombs[0].Gen, What: text.Plural(len(tombs), "tombstone", "tombstones")}}
	for _, t := range tombs {
		if t.Gen != tombs[0].Gen {
			return nil, usage("%s has tombstones of several generations; say which with --gen", id)
		}
		l.fact("type", t.Type)
		l.fact("given up", fmt.Sprintf("%s, by %s, %s", t.Why, t.Who, text.Stamp(t.At)))
		l.fact("nonces", strings.Join(t.Nonces, ", "))
	}
	l.lose("the nonces to find its object by: if it is there, or comes late, nothing shows any more that it is ours")
	return l, nil
}

func (l *lost) fact(name, what string) {
	if what != "" {
		l.said.Facts = append(l.said.Facts, text.Fact{Name: name, Text: what})
	}
}

func (l *lost) lose(what string) { l.said.Lost = append(l.said.Lost, what) }
