package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/ui/text/clean"
)

// asker asks a person on a terminal. Every question says what to type; anything else means no.
type asker struct {
	lines chan string // closed at the end of the input
	out   io.Writer
}

// newAsker reads lines in the background, so that a signal can end a question.
func newAsker(in io.Reader, out io.Writer) *asker {
	a := &asker{lines: make(chan string), out: out}
	go func() {
		defer close(a.lines)
		sc := bufio.NewScanner(in)
		for sc.Scan() {
			a.lines <- sc.Text()
		}
	}()
	return a
}

// line asks for a line of text. The end of the input reads as an empty line.
func (a *asker) line(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(a.out, prompt)
	select {
	case l := <-a.lines:
		return strings.TrimSpace(l), nil
	case <-ctx.Done():
		fmt.Fprintln(a.out)
		return "", ctx.Err()
	}
}

// typed asks for exactly want.
func (a *asker) typed(ctx context.Context, question, want string) (bool, error) {
	l, err := a.line(ctx, fmt.Sprintf("%s\n  type %s to go on, anything else to leave it: ", clean.Clean(question), clean.Clean(want)))
	return err == nil && l == want, err
}

// some asks for all of several things, or for those whose IDs are typed. A single one takes all only; an ID that is not
// among them gives none, since it may be a typing mistake for another.
func (a *asker) some(ctx context.Context, question, all string, ids []string) ([]string, error) {
	if len(ids) == 1 {
		yes, err := a.typed(ctx, question, all)
		if err != nil || !yes {
			return nil, err
		}
		return ids, nil
	}
	l, err := a.line(ctx, fmt.Sprintf("%s\n  type %s for all, or the IDs of some, anything else to leave it: ", clean.Clean(question), clean.Clean(all)))
	if err != nil {
		return nil, err
	}
	if l == all {
		return ids, nil
	}
	picked := strings.FieldsFunc(l, func(r rune) bool { return r == ',' || r == ' ' })
	for _, id := range picked {
		if !slices.Contains(ids, id) {
			fmt.Fprintf(a.out, "  %s is none of them; nothing of this is approved\n", clean.Clean(id))
			return nil, nil
		}
	}
	return picked, nil
}

// askLoss asks apart for the data that a decision to delete would destroy (SAFETY S25).
func (s *session) askLoss(ctx context.Context, q *asker, o *recoverOptions, f *recovery.Finding, d record.Decision) error {
	schemas, _ := s.schemaOf()
	schema, ok := schemas(f.Type)
	if d.Choice != record.DeleteIt || !ok || !schema.DataBearing || slices.Contains(o.losses, d.ID) {
		return nil
	}
	yes, err := q.typed(ctx, fmt.Sprintf("Destroy the data of %s %s: %s?", d.ID, d.Physical, schema.Data), d.ID)
	if err == nil && yes {
		o.losses = append(o.losses, d.ID)
	}
	return err
}
