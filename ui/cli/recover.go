package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"reclaim/engine/deploy"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
	"reclaim/ui/text"
	"reclaim/ui/text/clean"
)

type recoverOptions struct {
	consent
	takeHold string
	parallel int
	events   string
}

func (s *session) recoverCommand() *cobra.Command {
	var o recoverOptions
	c := &cobra.Command{
		Use:   "recover STACK",
		Short: "Judge what a crash left uncertain, and carry decisions out",
		Long: `Looks at the cloud and shows, for each uncertain create, what was sent, what is seen, the verdict and the choices.
With a terminal it steps through them. Without one it prints the evidence and exits 3 (0 when nothing is uncertain and
the stack is not held), unless --yes or --decide say what to do.

--yes carries out what is beyond doubt: going on with an adoption, reclaiming what carries our nonce, sending again what
certainly was not executed, waiting for what cannot be visible yet.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: s.args(stackWords),
		RunE:              s.run(func(ctx context.Context, args []string) error { return s.recover(ctx, &o, args[0]) }),
	}
	f := c.Flags()
	o.scopeFlags(f)
	f.StringVar(&o.takeHold, "take-hold", "", "execution whose hold is taken over; its process must be dead")
	f.StringArrayVar(&o.decide, "decide", nil, "ID=CHOICE[:PHYSICAL], as the evidence offers it")
	f.StringSliceVar(&o.losses, "allow-data-loss", nil, "ID whose data a decision to delete may destroy")
	parallelFlag(f, &o.parallel)
	f.StringVar(&o.events, "events", "", "write the event stream to this file as NDJSON")
	return c
}

// evidence is what recover knows before anything is decided.
type evidence struct {
	work     *work
	hold     *record.Hold
	findings []recovery.Finding
	far      error // why the cloud could not be looked at; nil when it was
}

func (s *session) recover(ctx context.Context, o *recoverOptions, typed string) error {
	w, err := s.recordsOf(ctx, typed, true)
	if err != nil {
		return err
	}
	defer w.close()
	e := &evidence{work: w, far: s.reach(ctx, w)}
	if w.cloud == nil {
		return e.far
	}
	if e.hold, err = heldBy(ctx, w.store, w.stack); err != nil {
		return err
	}
	if e.findings, err = s.survey(ctx, w, e.far == nil); err != nil {
		return err
	}
	acts := o.yes || len(o.decide) > 0
	switch {
	case len(e.findings) == 0 && e.hold == nil:
		e.far = nil // there was nothing to look at
		s.evidenceReply(e)
		return nil
	case e.far != nil, !acts && !s.asks():
		s.evidenceReply(e)
		return nil
	}
	return s.resolve(ctx, o, e, acts)
}

// recordsOf opens the store for a stack, without a cloud; write opens it for changes.
func (s *session) recordsOf(ctx context.Context, typed string, write bool) (*work, error) {
	st, err := s.openStore(false, write)
	if err != nil {
		return nil, err
	}
	w, err := newWork(st, record.StackID{}, typed)
	if err != nil {
		return nil, err
	}
	err = st.Read(ctx, func(v record.View) error {
		var err error
		w.stack, err = findStack(v, typed)
		w.word = stackArg(v, w.stack)
		return err
	})
	if err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (s *session) survey(ctx context.Context, w *work, look bool) ([]recovery.Finding, error) {
	g := s.gatherer(w)
	list, err := g.Survey(ctx, w.stack, look)
	if err != nil {
		return nil, fmt.Errorf("gather evidence on %s: %w", w.stack, err)
	}
	return list, nil
}

func (s *session) gatherer(w *work) *recovery.Gatherer {
	return &recovery.Gatherer{Store: w.store, Cloud: w.cloud, Sealer: w.sealer, Now: time.Now}
}

// evidenceJSON is the result of recover when nothing is carried out.
type evidenceJSON struct {
	Hold     *holdJSON          `json:"hold"`
	Looked   bool               `json:"looked"` // false: from the store alone
	Findings []recovery.Finding `json:"findings"`
	Next     []string           `json:"next"`
}

// evidenceReply prints the evidence. Its code is 3 while anything is uncertain and 5 while the stack is held.
func (s *session) evidenceReply(e *evidence) {
	w := e.work
	j := evidenceJSON{Findings: emptyNotNull(e.findings), Looked: e.far == nil, Next: emptyNotNull(s.afterEvidence(e))}
	var hold *text.Hold
	if e.hold != nil {
		hold = s.holdOf(*e.hold)
		j.Hold = &holdJSON{*e.hold, hold.Alive}
		s.rep.problem(Problem{Exit: deploy.ExitHeld, Message: (&record.HeldError{Hold: *e.hold}).Error() + "; its process is " + hold.Liveness(), shown: true})
	}
	for i := range e.findings {
		f := &e.findings[i]
		s.rep.problem(Problem{Exit: deploy.ExitUncertain, ID: f.ID, Message: fmt.Sprintf("%s: %s", f.Verdict, f.Summary), shown: true})
	}
	if e.far != nil {
		s.rep.problem(Problem{Exit: exitOf(e.far, s.interrupt.Code()), Message: "the cloud was not looked at: " + e.far.Error()})
	}
	s.rep.stack, s.rep.result = w.stack.String(), j
	s.rep.text += s.page().Findings(w.stack, hold, e.findings, j.Next)
}

// afterEvidence are the commands that go on: the one that steps through, the one that carries out what is beyond doubt,
// and for each record that an operator must speak for, the choices there are. None of them chooses for the operator.
func (s *session) afterEvidence(e *evidence) []string {
	if len(e.findings) == 0 && e.hold == nil {
		return nil
	}
	words := []string{"recover", e.work.word}
	if e.hold != nil {
		words = append(words, "--take-hold", e.hold.Execution)
	}
	next := []string{s.line(words...)}
	var where []string
	if !e.work.stack.Scope.IsLocal() {
		where = []string{"--scope", e.work.stack.Scope.String()}
	}
	auto := len(e.findings) == 0 // then a hold is all there is
	var decide []string
	for i := range e.findings {
		f := &e.findings[i]
		auto = auto || f.Auto
		if choices := decidable(f); !f.Auto && len(choices) > 0 {
			decide = append(decide, s.line(slices.Concat(words, where, []string{"--decide", f.ID + "=CHOICE"})...)+"  # CHOICE: "+
				strings.Join(choices, ", "))
		}
	}
	if auto {
		next = append(next, s.line(slices.Concat(words, []string{"--yes"}, where)...))
	}
	return append(next, decide...)
}

// decidable are the choices of a finding in the words of --decide.
func decidable(f *recovery.Finding) []string {
	var out []string
	for _, o := range f.Offered {
		switch {
		case o.Choice == record.LookAgain, o.Choice == record.Later:
		case o.Choice == record.EnterID:
			out = append(out, string(o.Choice)+":ID")
		default:
			out = append(out, clean.Clean(strings.TrimSuffix(string(o.Choice)+":"+o.Physical, ":")))
		}
	}
	return out
}

// resolve takes the hold, has decisions made, and hands both to the engine.
func (s *session) resolve(ctx context.Context, o *recoverOptions, e *evidence, acts bool) error {
	take, ok, err := s.holdToTake(o, e)
	if err != nil || !ok {
		return err
	}
	if err := s.checkScope(&o.consent, e.work.stack.Scope); err != nil {
		return err
	}
	var decisions []record.Decision
	if acts {
		decisions, err = s.decided(ctx, o, e)
	} else {
		take, decisions, err = s.walk(ctx, o, e, take)
	}
	if err != nil {
		return err
	}
	for _, d := range decisions {
		if err := e.work.store.SaveDecision(ctx, d); err != nil {
			return fmt.Errorf("keep the decision on %s: %w", d.ID, err)
		}
	}
	return s.carryOut(ctx, e.work, o.events, func(ctx context.Context, env deploy.Env) (deploy.Outcome, error) {
		return deploy.Recover(ctx, env, deploy.RecoverRequest{Stack: e.work.stack, TakeHold: take, Auto: o.yes, Decide: decisions,
			AllowDataLoss: o.losses, Parallel: o.parallel})
	})
}

// holdToTake checks --take-hold against the hold there is. ok is false when the stack is held by a process that lives,
// or, with nobody to ask, when the hold was not named: the reply then says so.
func (s *session) holdToTake(o *recoverOptions, e *evidence) (take string, ok bool, err error) {
	switch {
	case e.hold == nil && o.takeHold != "":
		s.note("the hold of %s is gone already; going on without it", o.takeHold)
		return "", true, nil
	case e.hold == nil:
		return "", true, nil
	case o.takeHold != "" && o.takeHold != e.hold.Execution:
		s.heldReply(e.work.word, *e.hold)
		s.note("--take-hold names %s, but the stack is held by %s", o.takeHold, e.hold.Execution)
		return "", false, nil
	case s.Alive(e.hold.Owner) == resource.Yes, o.takeHold == "" && !s.asks():
		s.heldReply(e.work.word, *e.hold)
		return "", false, nil
	default:
		return o.takeHold, true, nil
	}
}

// decided binds the --decide flags to what the evidence says now.
func (s *session) decided(ctx context.Context, o *recoverOptions, e *evidence) ([]record.Decision, error) {
	var out []record.Decision
	for _, d := range o.decide {
		id, choice, physical, err := parseDecision(d)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(e.findings, func(f recovery.Finding) bool { return f.ID == id })
		if i < 0 {
			return nil, usage("--decide %s: nothing about it is uncertain", id)
		}
		f, err := s.entered(ctx, e, &e.findings[i], choice, physical)
		if err != nil {
			return nil, err
		}
		dec, ok, err := s.bind(f, choice, physical)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, dec)
		}
	}
	return out, nil
}

// entered looks an ID up that an operator typed and returns the record judged with it; other choices leave the finding as
// it is.
func (s *session) entered(ctx context.Context, e *evidence, f *recovery.Finding, choice record.Choice, physical string) (*recovery.Finding, error) {
	if choice != record.EnterID {
		return f, nil
	}
	if physical == "" {
		return nil, usage("--decide %s=%s: name the object: %s=%s:PHYSICAL", f.ID, choice, f.ID, choice)
	}
	judged, err := s.enter(ctx, e.work, f.ID, f.Gen, physical)
	return &judged, err
}

// enter judges a record with the object at an ID that an operator typed (SAFETY S15).
func (s *session) enter(ctx context.Context, w *work, id string, gen int, physical string) (recovery.Finding, error) {
	rec, err := read(ctx, w.store, func(v record.View) (record.Record, error) {
		r, ok, err := v.Record(w.stack, id, gen)
		if err == nil && !ok {
			err = fmt.Errorf("no record %s of generation %d", id, gen)
		}
		return r, err
	})
	if err != nil {
		return recovery.Finding{}, err
	}
	e, err := s.gatherer(w).Enter(ctx, rec, physical)
	if err != nil {
		return recovery.Finding{}, fmt.Errorf("look up %s for %s: %w", physical, id, err)
	}
	return recovery.Judge(e), nil
}

// bind makes a decision of a choice that the finding offers. A choice that must be typed must name its object. ok is
// false for "later", which decides nothing.
func (s *session) bind(f *recovery.Finding, choice record.Choice, physical string) (d record.Decision, ok bool, err error) {
	if choice == record.Later || choice == record.LookAgain {
		return d, false, nil
	}
	if choice == record.EnterID {
		choice = enteredChoice(f)
	}
	opt, offered := f.Option(choice, physical)
	switch {
	case !offered:
		return d, false, withExit(deploy.ExitBlocked, fmt.Errorf("%s: %s is not offered for the verdict %q; offered: %s", f.ID,
			strings.TrimSuffix(string(choice)+":"+physical, ":"), f.Verdict, offers(f)))
	case physical == "" && severalFor(f, choice):
		return d, false, withExit(deploy.ExitBlocked, fmt.Errorf("%s: there are several objects to %s; name one: %s", f.ID, choice, offers(f)))
	case physical == "" && opt.Typed != "":
		return d, false, usage("%s: %s must name its object: %s=%s:%s", f.ID, choice, f.ID, choice, opt.Physical)
	}
	o := s.Owner()
	return record.Decision{Stack: f.Stack, ID: f.ID, Gen: f.Gen, Rev: f.Rev, Facts: f.Facts, Verdict: string(f.Verdict),
		Choice: choice, Physical: opt.Physical, Who: who(o), At: time.Now().UTC(), Looks: f.Looks}, true, nil
}

// enteredChoice is what a typed ID leads to: what the table offers first for it.
func enteredChoice(f *recovery.Finding) record.Choice {
	if f.Default != "" {
		return f.Default
	}
	for _, o := range f.Offered {
		if o.Choice == record.Reclaim || o.Choice == record.Adopt {
			return o.Choice
		}
	}
	return record.EnterID
}

func severalFor(f *recovery.Finding, c record.Choice) bool {
	n := 0
	for _, o := range f.Offered {
		if o.Choice == c {
			n++
		}
	}
	return n > 1
}

func offers(f *recovery.Finding) string {
	var out []string
	for _, o := range f.Offered {
		out = append(out, strings.TrimSuffix(string(o.Choice)+":"+o.Physical, ":"))
	}
	return strings.Join(out, ", ")
}

// who is the operator's name for decisions.
func who(o record.Owner) string { return o.User + "@" + o.Host }

// errLeft says that the operator decided nothing.
var errLeft = errors.New("nothing was decided, and nothing was changed")

// walk steps a person through the findings and confirms the whole before anything is sent.
func (s *session) walk(ctx context.Context, o *recoverOptions, e *evidence, take string) (string, []record.Decision, error) {
	q := newAsker(s.Stdin, s.Stderr)
	var hold *text.Hold
	if e.hold != nil {
		hold = s.holdOf(*e.hold)
	}
	s.rep.text = s.page().Findings(e.work.stack, hold, nil, nil)
	if len(e.findings) > 0 {
		s.rep.text = ""
	}
	s.flushText()
	var decisions []record.Decision
	for i := range e.findings {
		d, ok, err := s.step(ctx, q, e, i)
		if err != nil {
			return "", nil, err
		}
		if ok {
			decisions = append(decisions, d)
			if err := s.askLoss(ctx, q, o, &e.findings[i], d); err != nil {
				return "", nil, err
			}
		}
	}
	if len(decisions) == 0 && (e.hold == nil || len(e.findings) > 0) {
		return "", nil, withExit(deploy.ExitUncertain, errLeft)
	}
	if e.hold != nil && take == "" {
		yes, err := q.typed(ctx, "The stack is held: "+hold.HoldLine()+". Take the hold over?", e.hold.Execution)
		if err != nil || !yes {
			return "", nil, errors.Join(err, withExit(deploy.ExitHeld, errLeft))
		}
		take = e.hold.Execution
	}
	return take, decisions, s.confirm(ctx, q, decisions)
}

// step shows one finding and takes one choice. Nothing typed leaves it for later.
func (s *session) step(ctx context.Context, q *asker, e *evidence, i int) (record.Decision, bool, error) {
	for {
		f := &e.findings[i]
		s.rep.text = s.page().Finding(f, i+1, len(e.findings))
		s.flushText()
		l, err := q.line(ctx, fmt.Sprintf("choice for %s (%s; nothing: later): ", f.ID, offers(f)))
		if err != nil || l == "" || l == string(record.Later) {
			return record.Decision{}, false, err
		}
		word, physical, _ := strings.Cut(l, ":")
		if record.Choice(word) == record.LookAgain {
			if err := s.lookAgain(ctx, e, f.ID); err != nil {
				return record.Decision{}, false, err
			}
			continue
		}
		judged, err := s.entered(ctx, e, f, record.Choice(word), physical)
		if err == nil {
			var d record.Decision
			var ok bool
			if d, ok, err = s.chosen(ctx, q, judged, record.Choice(word), physical); ok {
				return d, true, nil
			}
		}
		if ctx.Err() != nil {
			return record.Decision{}, false, ctx.Err()
		}
		if err != nil {
			s.note("%v", err)
		}
	}
}

// chosen binds a choice and has it typed where it must be.
func (s *session) chosen(ctx context.Context, q *asker, f *recovery.Finding, choice record.Choice, physical string) (record.Decision, bool, error) {
	if o, ok := f.Option(choice, physical); ok && o.Typed != "" && !severalFor(f, choice) {
		physical = o.Physical
	}
	d, ok, err := s.bind(f, choice, physical)
	if err != nil || !ok {
		return d, false, err
	}
	if o, _ := f.Option(d.Choice, d.Physical); o.Typed != "" {
		ok, err = q.typed(ctx, fmt.Sprintf("%s %s: calls %s. Loss: %s.", d.Choice, d.Physical, o.Call, o.Loss), o.Typed)
	}
	return d, ok, err
}

// lookAgain surveys again and puts the record's new finding in the place of the old one.
func (s *session) lookAgain(ctx context.Context, e *evidence, id string) error {
	list, err := s.survey(ctx, e.work, true)
	if err != nil {
		return err
	}
	for i := range list {
		for j := range e.findings {
			if list[i].ID == id && e.findings[j].ID == id && list[i].Gen == e.findings[j].Gen {
				e.findings[j] = list[i]
			}
		}
	}
	return nil
}

// confirm is the summary: nothing was sent before it.
func (s *session) confirm(ctx context.Context, q *asker, decisions []record.Decision) error {
	summary := "Nothing was sent yet. Carry out:"
	for _, d := range decisions {
		summary += fmt.Sprintf(" %s=%s;", d.ID, strings.TrimSuffix(string(d.Choice)+":"+d.Physical, ":"))
	}
	if len(decisions) == 0 {
		summary = "Nothing is uncertain. Take the hold over and release it?"
	}
	yes, err := q.typed(ctx, summary, "yes")
	if err == nil && !yes {
		err = withExit(deploy.ExitUncertain, errLeft)
	}
	return err
}
