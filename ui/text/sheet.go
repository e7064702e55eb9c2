// Package text writes plans, evidence, status and outcomes as lines of text, for terminals without the full-screen UI,
// for logs and for screen readers.
//
// Its one rule: it only shows. It compares nothing, decides nothing, and everything that came from outside the program
// passes through clean.Clean before it is written.
package text

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"reclaim/ui/text/clean"
)

// DefaultWidth is the width of a page when the output is no terminal.
const DefaultWidth = 80

// Page says how text is laid out. The zero Page is plain, 80 columns wide and folds noise.
type Page struct {
	Width int       // columns; 0: DefaultWidth
	Color bool      // SGR colours; every colour also has its word or symbol
	All   bool      // unfold what is unchanged or filled in by the cloud
	Told  bool      // progress on the same terminal has listed what was done
	Now   time.Time // for ages; zero leaves ages out
}

func (p Page) width() int {
	if p.Width <= 0 {
		return DefaultWidth
	}
	return max(p.Width, 40)
}

// tone is a colour by meaning.
type tone string

const (
	plain tone = ""
	good  tone = "32"
	warn  tone = "33"
	bad   tone = "31"
	faint tone = "2"
	bold  tone = "1"
)

func (p Page) paint(t tone, s string) string {
	if !p.Color || t == plain || s == "" {
		return s
	}
	return "\x1b[" + string(t) + "m" + s + "\x1b[0m"
}

// page is a Page being written.
type page struct {
	Page
	b strings.Builder
}

func (p Page) open() *page { return &page{Page: p} }

func (p *page) String() string { return p.b.String() }

// line writes text made by this package, already clean.
func (p *page) line(parts ...string) {
	p.b.WriteString(strings.TrimRight(strings.Join(parts, ""), " "))
	p.b.WriteByte('\n')
}

func (p *page) linef(format string, args ...any) { p.line(fmt.Sprintf(format, args...)) }

// para writes outside text wrapped to the page, each line indented by indent columns.
func (p *page) para(indent int, t tone, text string) {
	pad := strings.Repeat(" ", indent)
	for l := range strings.SplitSeq(p.wrap(clean.Clean(text), indent), "\n") {
		p.line(pad, p.paint(t, strings.TrimRight(l, " ")))
	}
}

// wrap breaks text at spaces, and after commas of compact JSON. A longer word stays whole, so that an ARN, a path or a
// URL can be copied.
func (p *page) wrap(text string, indent int) string {
	room := max(p.width()-indent, 20)
	var b strings.Builder
	col := 0
	for text != "" {
		word, rest := firstWord(text)
		text = rest
		if w := ansi.StringWidth(strings.TrimRight(word, " ")); col > 0 && col+w > room {
			b.WriteByte('\n')
			col = 0
		}
		b.WriteString(word)
		col += ansi.StringWidth(word)
	}
	return b.String()
}

// firstWord cuts text after the first place where a line may end.
func firstWord(text string) (word, rest string) {
	for i := range len(text) - 1 {
		if text[i] == ' ' && text[i+1] != ' ' || text[i] == ',' && text[i+1] == '"' {
			return text[:i+1], text[i+1:]
		}
	}
	return text, ""
}

// labelled writes "label  text" with the text wrapped in a column of its own.
func (p *page) labelled(indent, column int, label, text string, t tone) {
	pad := strings.Repeat(" ", indent)
	head := fit(clean.Clean(label), column)
	for i, l := range strings.Split(p.wrap(clean.Clean(text), indent+column), "\n") {
		if i > 0 {
			head = strings.Repeat(" ", column)
		}
		p.line(pad, head, p.paint(t, strings.TrimRight(l, " ")))
	}
}

// fit pads s to width columns, with at least one space after it.
func fit(s string, width int) string {
	w := ansi.StringWidth(s)
	return s + strings.Repeat(" ", max(width-w, 1))
}

// table writes rows in aligned columns, two spaces apart. Cells must be clean; the last column is not padded.
func (p *page) table(indent int, rows [][]string) {
	var widths []int
	for _, r := range rows {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(c))
		}
	}
	for _, r := range rows {
		var b strings.Builder
		b.WriteString(strings.Repeat(" ", indent))
		for i, c := range r {
			if i == len(r)-1 {
				b.WriteString(c)
				break
			}
			b.WriteString(c + strings.Repeat(" ", widths[i]-ansi.StringWidth(c)+2))
		}
		p.line(b.String())
	}
}

// Age says how long ago t was, in one unit: "38s ago". A time after now, and no time, are said as they are.
func Age(now, t time.Time) string {
	switch d := now.Sub(t); {
	case t.IsZero():
		return "never"
	case now.IsZero():
		return Stamp(t)
	case d < 0:
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd ago", int(d.Hours()/24))
	}
}

// Stamp is a time as it is printed: UTC, to the second.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// Plural is "1 resource", "2 resources".
func Plural(n int, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", one)
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Short is the part of a fingerprint that screens show.
func Short(fingerprint string) string {
	if len(fingerprint) > 12 {
		return fingerprint[:12]
	}
	return fingerprint
}

// next writes the commands that go on from here.
func (p *page) next(label string, commands []string) {
	for i, c := range commands {
		if i > 0 {
			label = ""
		}
		// A command stays on one line, so that it can be copied.
		p.line(fit(label, 9), clean.Clean(c))
	}
}
