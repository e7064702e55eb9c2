package text

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"reclaim/engine/diff"
	"reclaim/engine/plan"
	"reclaim/ui/text/clean"
)

// Bounds of a plan as Markdown. Comments of the usual forges end at 65,536 characters.
const (
	markdownBytes = 60_000 // of the whole
	markdownTail  = 2_000  // of it, kept for what closes the page
	inertRunes    = 300    // of one text from outside
)

// Markdown is a plan for a pull request: counts first, then what is lost (replacements with their cause, deletions), what is
// blocked and what could not be verified; everything else is folded. Text from outside is inert in Markdown and in HTML.
// same are the commands that lead on.
func Markdown(p *plan.Plan, same []string) string {
	m := &markdown{}
	m.linef("### reclaim %s: %s", inert(string(p.Verb)), code(p.Stack.String()))
	m.linef("")
	m.linef("%s", strings.Join(m.counts(p), " · "))
	for _, n := range p.Notes {
		m.linef("")
		m.linef("> note: %s", code(n))
	}
	is := func(a plan.Action, loss bool) func(*plan.Item) bool {
		return func(it *plan.Item) bool { return it.Action == a && (it.Loss != "") == loss }
	}
	m.section(p, "Replacements that destroy data", is(plan.Replace, true), m.item)
	m.section(p, "Replacements", is(plan.Replace, false), m.item)
	m.section(p, "Deletions that destroy data", is(plan.Delete, true), m.item)
	m.section(p, "Deletions", is(plan.Delete, false), m.item)
	m.section(p, "Blocked", func(it *plan.Item) bool { return it.Action == plan.Blocked }, m.item)
	m.section(p, "Not verified", func(it *plan.Item) bool { return len(unverified(it)) > 0 }, m.unverified)
	for _, a := range []plan.Action{plan.Reclaim, plan.Adopt, plan.Wait, plan.Update, plan.Create, plan.Retain} {
		m.fold(p, a)
	}
	m.linef("")
	for _, c := range same {
		m.linef("next: %s", code(c))
		m.linef("")
	}
	m.linef("plan %s, made %s", code(Short(p.Fingerprint)), inert(Stamp(p.MadeAt)))
	return m.b.String()
}

type markdown struct{ b strings.Builder }

func (m *markdown) linef(format string, a ...any) { fmt.Fprintf(&m.b, format+"\n", a...) }

// counts are the plan's, blocked first, with the words of the actions.
func (m *markdown) counts(p *plan.Plan) []string {
	var out []string
	n, loss, open := p.Counts(), 0, 0
	for i := range p.Items {
		if p.Items[i].Loss != "" {
			loss++
		}
		if len(unverified(&p.Items[i])) > 0 {
			open++
		}
	}
	for _, a := range plan.Actions() {
		switch {
		case n[a] == 0:
		case a == plan.Noop:
			out = append(out, fmt.Sprintf("%d unchanged", n[a]))
		default:
			out = append(out, fmt.Sprintf("**%d %s**", n[a], a))
		}
	}
	if loss > 0 {
		out = append(out, fmt.Sprintf("**data of %d destroyed**", loss))
	}
	if open > 0 {
		out = append(out, fmt.Sprintf("%d not verified", open))
	}
	if len(out) == 0 {
		out = []string{"No resources."}
	}
	return out
}

// section lists the items of a kind under a title, as far as there is room.
func (m *markdown) section(p *plan.Plan, title string, is func(*plan.Item) bool, show func(*plan.Item) string) {
	items := pick(p, is)
	if len(items) == 0 {
		return
	}
	m.linef("\n#### %s (%d)\n", title, len(items))
	m.list(p, items, show)
}

// fold is section, folded.
func (m *markdown) fold(p *plan.Plan, a plan.Action) {
	items := pick(p, func(it *plan.Item) bool { return it.Action == a })
	if len(items) == 0 {
		return
	}
	m.linef("\n<details><summary>%d %s</summary>\n", len(items), a)
	m.list(p, items, m.item)
	m.linef("\n</details>")
}

func pick(p *plan.Plan, is func(*plan.Item) bool) []*plan.Item {
	var out []*plan.Item
	for i := range p.Items {
		if is(&p.Items[i]) {
			out = append(out, &p.Items[i])
		}
	}
	return out
}

func (m *markdown) list(p *plan.Plan, items []*plan.Item, show func(*plan.Item) string) {
	for i, it := range items {
		text := show(it)
		if m.b.Len()+len(text) > markdownBytes-markdownTail {
			m.linef("- and %d more, for which there is no room here: %s lists them", len(items)-i, code("reclaim show "+Short(p.Fingerprint)+" --all"))
			return
		}
		m.b.WriteString(text)
	}
}

// item is a list item with what matters below it.
func (m *markdown) item(it *plan.Item) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- %s %s", code(it.ID), code(it.Type))
	if ph := physicalOf(it); ph != "" {
		fmt.Fprintf(&b, " %s", code(ph))
	}
	b.WriteString("\n")
	row := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  - %s: %s\n", label, code(text))
		}
	}
	if it.Reason != "" || it.Detail != it.Physical {
		row("why", strings.TrimPrefix(string(it.Reason)+": "+it.Detail, ": "))
	}
	row("cause", paths(it.Cause))
	row("loss", it.Loss)
	if it.Order != "" {
		row("order", orderWords(it.Order))
	}
	row("old", it.OldFate)
	row("replacement is possible", paths(it.MaybeReplace))
	for i := range it.Fields {
		if f := &it.Fields[i]; foldWord(f) == "" && f.Verdict != diff.Unverified {
			fmt.Fprintf(&b, "  - %s %s: want %s, found %s\n", code(string(f.Path)), inert(string(f.Verdict)), code(shown(f.Desired)), code(shown(f.Observed)))
		}
	}
	row("calls", strings.Join(it.Calls, ", "))
	row("needs", strings.Join(NeedFlags(it, nil), " "))
	return b.String()
}

// unverified are the fields that config sets and no read could confirm.
func unverified(it *plan.Item) []*diff.Field {
	var out []*diff.Field
	for i := range it.Fields {
		if f := &it.Fields[i]; f.Verdict == diff.Unverified && foldWord(f) == "" {
			out = append(out, f)
		}
	}
	return out
}

func (m *markdown) unverified(it *plan.Item) string {
	var b strings.Builder
	for _, f := range unverified(it) {
		fmt.Fprintf(&b, "- %s %s: %s\n", code(it.ID), code(string(f.Path)), code(f.Reason))
	}
	return b.String()
}

// code shows text from outside: as code, in which neither mentions nor references are looked for.
func code(s string) string { return "<code>" + inert(s) + "</code>" }

// inert writes text so that it means nothing but itself: everything that Markdown or HTML could act on is a character
// reference, which both show as the character and neither reads as syntax. Control characters are shown, as on a screen.
// A long text is cut.
func inert(s string) string {
	runes := []rune(clean.Clean(s))
	cut := ""
	if len(runes) > inertRunes {
		cut = fmt.Sprintf("… (%d characters)", len(runes))
		runes = runes[:inertRunes]
	}
	var b strings.Builder
	for i, r := range runes {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == ' ', slices.Contains([]rune("-/,()=…"), r):
			b.WriteRune(r)
		case r == '.' && !strings.EqualFold(string(runes[max(0, i-3):i]), "www"): // a link without a scheme
			b.WriteRune(r)
		case r == ':' && (i > 0 && runes[i-1] == ':' || i+1 < len(runes) && runes[i+1] == ':'): // of a type, and of no link
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "&#%d;", r)
		}
	}
	return b.String() + cut
}
