package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"reclaim/engine/deploy"
	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/ui/text"
)

func (s *session) holdCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "hold",
		Short: "Show or clear the exclusive right to change a stack",
		Args:  cobra.NoArgs,
		RunE:  needsSub,
	}
	show := &cobra.Command{
		Use:               "show [EXECUTION|STACK]",
		Short:             "Show who holds a stack, and whether that process lives",
		Args:              cobra.MaximumNArgs(1),
		RunE:              s.run(s.holdShow),
		ValidArgsFunction: s.args(either(holderWords, stackWords)),
	}
	var force bool
	remove := &cobra.Command{
		Use:   "clear EXECUTION",
		Short: "Remove the hold of a dead execution without recovering it",
		Long: `Removes the hold of an execution whose process is dead. Records stay as they are: what is uncertain stays uncertain.
recover STACK --take-hold EXECUTION is what goes on from a crash. A process that lives, or that this machine cannot see,
may still be changing things: then the hold goes only when its execution is typed, or, without a terminal, with --force.
It prints all that is known of the process. For a hold that cannot be read, name its STACK in the place of EXECUTION.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: s.args(holderWords),
		RunE:              s.run(func(ctx context.Context, args []string) error { return s.holdClear(ctx, args[0], force) }),
	}
	remove.Flags().BoolVar(&force, "force", false, "also when the process lives or cannot be seen from here")
	c.AddCommand(show, remove)
	return c
}

// holds returns the holds that a typed execution or stack means; all of them when nothing is typed. One that cannot be
// read is told where its stack is meant, and hides no other.
func holds(v record.View, typed string) ([]record.Hold, error) {
	ids, err := v.Stacks()
	if err != nil {
		return nil, err
	}
	var out []record.Hold
	for _, id := range ids {
		h, held, err := v.Hold(id)
		if err != nil && (typed == "" || id.Matches(typed)) {
			return out, &unreadable{id, err}
		}
		if err != nil {
			continue
		}
		if held && (typed == "" || h.Execution == typed || id.Matches(typed)) {
			out = append(out, h)
		}
	}
	return out, nil
}

// unreadable is a hold that cannot be read.
type unreadable struct {
	stack record.StackID
	err   error
}

func (u *unreadable) Error() string {
	return "the hold of " + u.stack.String() + " cannot be read: " + u.err.Error()
}
func (u *unreadable) Unwrap() error { return u.err }

func (s *session) holdShow(ctx context.Context, args []string) error {
	st, err := s.openStore(false, false)
	if err != nil {
		return err
	}
	defer st.Close()
	typed := strings.Join(args, "")
	return st.Read(ctx, func(v record.View) error {
		list, err := holds(v, typed)
		if u, ok := errors.AsType[*unreadable](err); ok {
			err = withExit(deploy.ExitHeld, fmt.Errorf("%w. Next: %s", u, s.line("hold", "clear", u.stack.String())))
		}
		if err != nil {
			return err
		}
		if typed != "" && len(list) == 0 {
			return s.notHeld(v, typed)
		}
		out := []heldJSON{}
		s.rep.text = ""
		for _, h := range list {
			hold := s.holdOf(h)
			next := []string{s.recoverLine(stackArg(v, h.Stack), &h)}
			out = append(out, heldJSON{Hold: holdJSON{h, hold.Alive}, Next: next})
			s.rep.text += s.page().Held(*hold, next) + s.page().Process(*hold, s.Owner())
		}
		if len(list) == 0 {
			s.rep.text = "No stack is held.\n"
		}
		s.rep.result = out
		return nil
	})
}

// notHeld answers for a stack without a hold, which is no error, and for a name that means nothing, which is.
func (s *session) notHeld(v record.View, typed string) error {
	id, err := findStack(v, typed)
	if err != nil {
		return fmt.Errorf("no hold of an execution or stack %s: it ended, or the name is wrong. Next: %s", typed, s.line("status"))
	}
	s.rep.stack, s.rep.result = id.String(), []heldJSON{}
	s.rep.text = id.String() + " is not held.\n"
	return nil
}

// clearedJSON is the result of `hold clear`: what was removed, as the final read shows.
type clearedJSON struct {
	Removed *holdJSON `json:"removed"`
	Hold    *holdJSON `json:"hold"` // what holds the stack now
}

func (s *session) holdClear(ctx context.Context, execution string, force bool) error {
	st, err := s.openStore(false, true)
	if err != nil {
		return err
	}
	defer st.Close()
	list, err := read(ctx, st, func(v record.View) ([]record.Hold, error) { return holds(v, execution) })
	if u, ok := errors.AsType[*unreadable](err); ok {
		return s.clearUnreadable(ctx, st, u, force)
	}
	if err != nil {
		return err
	}
	for _, h := range list {
		if h.Execution == execution {
			return s.clear(ctx, st, h, force)
		}
	}
	return fmt.Errorf("no hold of execution %s. Next: %s", execution, s.line("hold", "show"))
}

// clearUnreadable removes a hold that cannot be read: nobody can say whose it is, so its stack is typed, or, without a
// terminal, --force is given.
func (s *session) clearUnreadable(ctx context.Context, st Store, u *unreadable, force bool) error {
	stack := u.stack.String()
	s.rep.stack = stack
	kept := withExit(deploy.ExitHeld, fmt.Errorf("%w; nobody can say whose it is. When you know that no run is under way: %s", u, s.line("hold", "clear", stack, "--force")))
	switch {
	case force:
	case !s.asks():
		return kept
	default:
		yes, err := newAsker(s.Stdin, s.Stderr).typed(ctx, u.Error()+"; nobody can say whose it is. Remove it all the same?", stack)
		if err != nil || !yes {
			return errors.Join(err, kept)
		}
	}
	if err := st.ClearHold(ctx, u.stack, ""); err != nil {
		return err
	}
	left, err := heldBy(ctx, st, u.stack)
	if err == nil && left != nil {
		err = &record.HeldError{Hold: *left}
	}
	s.rep.result = clearedJSON{}
	s.rep.text = fmt.Sprintf("removed a hold of %s that could not be read. Its records stay as they are.\nnext: %s\n", stack, s.line("recover", stack))
	return err
}

// clearTyped lets a hold go whose process may be alive only where a person types its execution.
func (s *session) clearTyped(ctx context.Context, h *text.Hold) error {
	kept := withExit(deploy.ExitHeld, fmt.Errorf("hold of %s is kept: its process (pid %d on %s) is %s, and may still be changing things. "+
		"End it first; or, when you know that it is gone: %s", h.Execution, h.Owner.PID, h.Owner.Host, h.Liveness(),
		s.line("hold", "clear", h.Execution, "--force")))
	if !s.asks() {
		return kept
	}
	s.flushText()
	yes, err := newAsker(s.Stdin, s.Stderr).typed(ctx, "Its process is "+h.Liveness()+", and may still be changing things. Remove the hold all the same?", h.Execution)
	if err == nil && !yes {
		err = kept
	}
	return err
}

func (s *session) clear(ctx context.Context, st Store, h record.Hold, force bool) error {
	hold := s.holdOf(h)
	alive := hold.Alive
	s.rep.stack, s.rep.result = h.Stack.String(), clearedJSON{Hold: &holdJSON{h, alive}}
	s.rep.text = s.page().Process(*hold, s.Owner())
	if alive != resource.No && !force {
		if err := s.clearTyped(ctx, hold); err != nil {
			return err
		}
	}
	clearErr := st.ClearHold(ctx, h.Stack, h.Execution)
	now, err := read(ctx, st, func(v record.View) ([]record.Hold, error) { return holds(v, h.Stack.String()) })
	if err != nil {
		return err
	}
	res, removed := clearedJSON{}, clearErr == nil
	for _, other := range now {
		res.Hold = &holdJSON{other, s.Alive(other.Owner)}
		removed = removed && other.Execution != h.Execution
	}
	if removed {
		res.Removed = &holdJSON{h, alive}
		s.rep.text += fmt.Sprintf("removed the hold of %s on %s (%s, pid %d on %s). Its records stay as they are.\nnext: %s\n", h.Execution,
			h.Stack, h.Verb, h.Owner.PID, h.Owner.Host, s.line("recover", h.Stack.String()))
	}
	s.rep.result = res
	if res.Hold != nil {
		s.rep.problem(Problem{Exit: deploy.ExitHeld, Message: fmt.Sprintf("%s is still held, by execution %s", h.Stack, res.Hold.Execution)})
	}
	return clearErr
}
