package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"reclaim/engine/diff"
	"reclaim/engine/plan"
	"reclaim/engine/value"
	"reclaim/ui/text/clean"
)

// foldAbove is how many harmless items of one action are listed before the rest is only counted.
const foldAbove = 200

// valueLimit is how much of one value is shown, in bytes; --json has all of it.
const valueLimit = 2000

// Symbol is the mark of an action; its word always stands beside it.
func Symbol(it *plan.Item) string {
	switch it.Action {
	case plan.Blocked:
		return "!"
	case plan.Reclaim:
		return "o"
	case plan.Adopt:
		return "@"
	case plan.Wait:
		return "?"
	case plan.Replace:
		if it.Order == plan.DeleteFirst {
			return "-+"
		}
		return "+-"
	case plan.Delete:
		return "-"
	case plan.Update:
		return "~"
	case plan.Create:
		return "+"
	case plan.Retain:
		return "^"
	default:
		return "="
	}
}

func toneOf(a plan.Action) tone {
	switch a {
	case plan.Blocked, plan.Delete, plan.Replace:
		return bad
	case plan.Update, plan.Wait, plan.Adopt, plan.Retain:
		return warn
	case plan.Create, plan.Reclaim:
		return good
	default:
		return faint
	}
}

// Plan shows a plan: blocked first, what destroys before what makes, unchanged resources as a count. same are the
// commands that lead on, as the caller knows them.
func (pg Page) Plan(p *plan.Plan, same []string) string {
	w := pg.open()
	w.planHead(p)
	for _, n := range p.Notes {
		w.para(0, warn, "note: "+n)
	}
	for _, a := range plan.Actions() {
		w.actions(p, a)
	}
	w.outputs(p.Outputs)
	w.verdict(p)
	w.next("next:", same)
	return w.String()
}

func (w *page) planHead(p *plan.Plan) {
	verb := string(p.Verb)
	if p.Of != "" {
		verb += " of " + p.Of
	}
	w.line(w.paint(bold, fmt.Sprintf("plan %s  %s  %s", Short(p.Fingerprint), clean.Clean(p.Stack.String()), clean.Clean(verb))))
	made := "made " + Stamp(p.MadeAt)
	if !w.Now.IsZero() {
		made += " (" + Age(w.Now, p.MadeAt) + ")"
	}
	w.line(made)
	if p.Template.Path != "" {
		w.line("template ", clean.Clean(p.Template.Path), "  sha256 ", Short(p.Template.SHA256))
	}
	if c := w.counts(p.Counts()); c != "" {
		w.line(c)
	}
}

// counts is "! 3 blocked  + 1 create  = 8 same", in the order the items are listed.
func (w *page) counts(n map[plan.Action]int) string {
	var parts []string
	for _, a := range plan.Actions() {
		if n[a] == 0 {
			continue
		}
		word := string(a)
		if a == plan.Noop {
			word = "same"
		}
		parts = append(parts, w.paint(toneOf(a), fmt.Sprintf("%s %d %s", Symbol(&plan.Item{Action: a}), n[a], word)))
	}
	return strings.Join(parts, "  ")
}

func (w *page) actions(p *plan.Plan, a plan.Action) {
	shown, total := 0, 0
	for i := range p.Items {
		it := &p.Items[i]
		if it.Action != a {
			continue
		}
		total++
		if a == plan.Noop && !w.All {
			continue
		}
		if foldable(a) && shown >= foldAbove && !w.All {
			continue
		}
		shown++
		w.item(it, total <= 50 || w.All)
	}
	switch {
	case total == shown:
	case a == plan.Noop:
		w.line()
		w.line(w.paint(faint, fmt.Sprintf("=  %d same, folded; --all lists them", total)))
	default:
		w.line()
		w.linef("%s  and %d more to %s, folded; --all lists them", Symbol(&plan.Item{Action: a}), total-shown, a)
	}
}

// foldable: a long list of these hides nothing that is lost.
func foldable(a plan.Action) bool {
	return a == plan.Create || a == plan.Noop || a == plan.Update || a == plan.Blocked
}

func (w *page) item(it *plan.Item, full bool) {
	if full {
		w.line()
	}
	w.line(w.paint(toneOf(it.Action), fit(Symbol(it), 3)+fit(string(it.Action), 9)), clean.Clean(it.ID), "  ",
		clean.Clean(it.Type), "  ", clean.Clean(physicalOf(it)))
	if it.Action == plan.Noop {
		return
	}
	w.why(it)
	if !full {
		return
	}
	if it.Action == plan.Create {
		w.desired(it) // nothing to compare with
	} else {
		w.fields(it.Fields)
	}
	if len(it.Calls) > 0 {
		w.labelled(3, 9, "calls", strings.Join(it.Calls, ", "), plain)
	}
	w.needs(it)
}

func physicalOf(it *plan.Item) string {
	switch {
	case it.Physical != "":
		return it.Physical
	case it.Name != "":
		return it.Name
	default:
		return ""
	}
}

// why says the reason, then for a replacement its cause and loss before any field.
func (w *page) why(it *plan.Item) {
	reason := it.Detail
	if it.Reason != "" && !strings.HasPrefix(reason, string(it.Reason)) {
		reason = strings.TrimSuffix(string(it.Reason)+": "+reason, ": ")
	}
	if reason != "" && reason != it.Physical {
		w.para(3, toneOf(it.Action), reason)
	}
	if len(it.Cause) > 0 {
		w.labelled(3, 9, "cause", paths(it.Cause), plain)
	}
	if it.Loss != "" {
		w.labelled(3, 9, "loss", it.Loss, bad)
	}
	if it.Order != "" {
		w.labelled(3, 9, "order", orderWords(it.Order), plain)
	}
	if it.OldFate != "" {
		w.labelled(3, 9, "old", it.OldFate, plain)
	}
	if len(it.MaybeReplace) > 0 {
		w.labelled(3, 9, "perhaps", "replacement is possible: "+paths(it.MaybeReplace)+" is not known yet", warn)
	}
	if f := it.Finding; f != nil {
		w.labelled(3, 9, "verdict", fmt.Sprintf("%s (row %s). %s", f.Verdict, f.Row, f.Summary), plain)
	}
}

func orderWords(o plan.Order) string {
	if o == plan.DeleteFirst {
		return "delete-first: the name must stay, so there is a gap without it"
	}
	return "create-first: the new one is made before the old one goes"
}

func paths(p []value.Path) string {
	var s []string
	for _, x := range p {
		s = append(s, string(x))
	}
	return strings.Join(s, ", ")
}

func (w *page) desired(it *plan.Item) {
	for _, k := range it.Desired.Keys() {
		w.labelled(5, 26, k, shown(it.Desired[k]), plain)
	}
}

// isShown reports whether there is a value to show. A stored Absent comes back as Null, which config cannot say.
func isShown(v value.Value) bool { return v.IsSet() && v.Kind() != value.Null }

// shown is a value as a line of text.
func shown(v value.Value) string {
	if !isShown(v) {
		return "-"
	}
	s, ok := v.Str()
	if !ok || v.Kind() != value.String {
		s = v.String()
	}
	if len(s) > valueLimit {
		return fmt.Sprintf("%s… (%d bytes; --json shows all)", strings.ToValidUTF8(s[:valueLimit], ""), len(s))
	}
	return s
}

// fields lists what matters and folds the rest into a count.
func (w *page) fields(fields []diff.Field) {
	folded := map[string]int{}
	var order []string
	for i := range fields {
		f := &fields[i]
		if word := foldWord(f); word != "" && !w.All {
			if folded[word] == 0 {
				order = append(order, word)
			}
			folded[word]++
			continue
		}
		w.field(f)
	}
	var parts []string
	slices.Sort(order)
	for _, word := range order {
		parts = append(parts, fmt.Sprintf("%d %s", folded[word], word))
	}
	if len(parts) > 0 {
		w.para(5, faint, strings.Join(parts, ", ")+", folded")
	}
}

// foldWord names the heap a field is folded into; "" when it gets a line.
func foldWord(f *diff.Field) string {
	switch {
	case f.Folded:
		return "filled in by the cloud"
	case f.Verdict == diff.Match:
		return "match"
	default:
		return ""
	}
}

// field is one line where it fits, else one line per side, so that no difference is cut away.
func (w *page) field(f *diff.Field) {
	verdict := string(f.Verdict)
	t := plain
	switch f.Verdict {
	case diff.Invalid, diff.Blocked:
		verdict, t = strings.ToUpper(verdict), bad
	case diff.Differs, diff.Changed, diff.Removed:
		t = warn
	}
	if f.Immutable && f.Verdict == diff.Differs {
		verdict += ", immutable"
	}
	path := clean.Clean(string(f.Path))
	d, o := clean.Clean(shown(f.Desired)), clean.Clean(shown(f.Observed))
	one := fmt.Sprintf("     %s%s%s", fit(path, 24), fit("want "+d, 22), fit("found "+o, 22))
	if ansi.StringWidth(one)+ansi.StringWidth(verdict) <= w.width() && f.Verdict != diff.Unverified {
		w.line(one, w.paint(t, verdict))
	} else {
		w.line("     ", fit(path, 24), w.paint(t, verdict))
		w.side("want", f.Desired)
		w.side("found", f.Observed)
		if f.Verdict == diff.Changed || f.Verdict == diff.Removed {
			w.side("recorded", f.Recorded)
		}
	}
	if f.Reason != "" {
		w.labelled(7, 10, "why", f.Reason, plain)
	}
}

func (w *page) side(label string, v value.Value) {
	if isShown(v) {
		w.labelled(7, 10, label, shown(v), plain)
	}
}

// needs names the flag that each approval beyond --yes wants.
func (w *page) needs(it *plan.Item) {
	if flags := NeedFlags(it, nil); len(flags) > 0 {
		w.labelled(3, 9, "needs", strings.Join(flags, " "), plain)
	}
}

// NeedFlags are the command-line flags for the grants that an item needs beyond --yes and that are not in given.
func NeedFlags(it *plan.Item, given map[plan.Grant]bool) []string {
	var flags []string
	for _, g := range it.Needs {
		if g == plan.GrantReplace && slices.Contains(it.Needs, plan.GrantDeleteFirst) && !given[plan.GrantDeleteFirst] {
			continue // the flag of delete-first gives both
		}
		if f := grantFlag(g, it); f != "" && !given[g] {
			flags = append(flags, f)
		}
	}
	return flags
}

func grantFlag(g plan.Grant, it *plan.Item) string {
	switch g {
	case plan.GrantReplace:
		return "--allow-replace " + it.ID
	case plan.GrantDeleteFirst:
		return "--allow-replace " + it.ID + "=delete-first"
	case plan.GrantDelete:
		return "--allow-delete " + it.ID
	case plan.GrantDataLoss:
		return "--allow-data-loss " + it.ID
	case plan.GrantPresumed:
		return "--allow-presumed " + it.ID
	case plan.GrantAdopt:
		return strings.TrimSuffix("--adopt "+it.ID+"="+it.Physical, "=")
	case plan.GrantReclaim:
		return strings.TrimSuffix("--decide "+it.ID+"=reclaim:"+it.Physical, ":")
	default:
		return ""
	}
}

func (w *page) outputs(outs []plan.Output) {
	if len(outs) == 0 {
		return
	}
	w.line()
	w.line("outputs")
	for _, o := range outs {
		w.labelled(2, 26, o.Name, shown(o.Value), plain)
	}
}

func (w *page) verdict(p *plan.Plan) {
	run := 0
	for i := range p.Items {
		if p.Items[i].CanRun() {
			run++
		}
	}
	w.line()
	switch n := p.Counts()[plan.Blocked]; {
	case run == 0 && n == 0:
		w.line("No changes.")
	case run == 0:
		w.linef("Nothing can run: %s blocked.", Plural(n, "resource is", "resources are"))
	case n > 0:
		w.linef("%s can run, %d blocked.", Plural(run, "change", "changes"), n)
	default:
		w.linef("%s.", Plural(run, "change", "changes"))
	}
}
