package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"reclaim/engine/deploy"
	"reclaim/ui/text/clean"
)

// reply is what a command has to say. The text, the JSON and the exit code all come from it.
type reply struct {
	stack    string // NAME@SCOPE; "" when the command is about none
	result   any    // of --json
	text     string // of stdout without --json
	codes    []int
	problems []Problem
}

// answer is the one value that --json prints.
type answer struct {
	Schema   int       `json:"schema"`
	Command  string    `json:"command"`
	Exit     int       `json:"exit"`
	Stack    *string   `json:"stack"`
	Result   any       `json:"result"`
	Problems []Problem `json:"problems"`
}

// answerSchema is answer.Schema of this program.
const answerSchema = 1

// problem adds a problem and its exit code.
func (r *reply) problem(p Problem) { r.problems = append(r.problems, p) }

// exits returns every code that holds.
func (r *reply) exits() []int {
	codes := append([]int(nil), r.codes...)
	for _, p := range r.problems {
		codes = append(codes, p.Exit)
	}
	return codes
}

// printJSON writes the reply as one value on one line.
func (r *reply) printJSON(w io.Writer, command string) error {
	a := answer{Schema: answerSchema, Command: command, Exit: deploy.FirstExit(r.exits()), Result: r.result, Problems: r.problems}
	if r.stack != "" {
		a.Stack = &r.stack
	}
	if a.Problems == nil {
		a.Problems = []Problem{}
	}
	b, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	_, err = io.WriteString(w, tame(string(b))+"\n")
	return err
}

// tame escapes what a terminal would act on. Such characters occur in JSON only inside strings, so the value stays the
// same.
func tame(s string) string {
	if !strings.ContainsFunc(s, wild) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !wild(r):
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func wild(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }

// printProblems writes one line per problem to stderr, but for those that the text on stdout says already.
func (r *reply) printProblems(w io.Writer) {
	for _, p := range r.problems {
		if p.shown {
			continue
		}
		where := ""
		if p.File != "" {
			where = fmt.Sprintf("%s:%d:%d: ", p.File, p.Line, p.Column)
		}
		for i, l := range clean.Lines(where + p.Message) {
			if i == 0 {
				l = "reclaim: " + l
			}
			fmt.Fprintln(w, l)
		}
	}
}

// stdout is a buffered stdout that remembers its first failure: a closed pipe must not end a run, and must not look
// like success either.
type stdout struct {
	b   *bufio.Writer
	err error
}

func newStdout(w io.Writer) *stdout { return &stdout{b: bufio.NewWriter(w)} }

func (o *stdout) Write(p []byte) (int, error) {
	if o.err == nil {
		_, o.err = o.b.Write(p)
	}
	if o.err != nil {
		return 0, o.err
	}
	return len(p), nil
}

// Flush returns the first failure of any write.
func (o *stdout) Flush() error {
	if err := o.b.Flush(); o.err == nil {
		o.err = err
	}
	return o.err
}
