package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

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
