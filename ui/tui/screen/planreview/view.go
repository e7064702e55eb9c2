package planreview

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"reclaim/engine/plan"
	"reclaim/engine/recovery"
	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/screen/fields"
	"reclaim/ui/tui/theme"
	"reclaim/ui/tui/widget"
)

// View draws the plan: the counts, the list, and the item under the cursor below it or beside it.
func (s *Screen) View(f screen.Frame) widget.Block {
	out := s.body(f).Head(f.Height)
	if s.dialog != nil {
		return s.dialog.Over(out, f.Width, f.Height)
	}
	return out
}

func (s *Screen) body(f screen.Frame) widget.Block {
	switch {
	case s.plan == nil && s.loading != "":
		return widget.Block{{}, widget.L(widget.T(theme.Dim, " "+s.loading))}
	case s.plan == nil && s.err != nil:
		return s.failed(f.Width)
	case s.plan == nil:
		return append(widget.Block{{}, widget.L(widget.T(theme.Strong, " No plan is kept of this stack."))},
			widget.Paragraph(theme.Plain, "Next: l looks at the cloud and makes one, if the store knows the template; or run: reclaim plan FILE --stack "+s.stack.Name, 1, f.Width)...)
	}
	head := s.head(f)
	foot := s.foot(f)
	room := max(f.Height-len(head)-len(foot), 1)
	if f.Wide() && !s.zoomed {
		right := s.paneWidth(f)
		left := f.Width - right - 1
		panes := widget.Beside(s.list(f, left, room), s.pane(f, right, room), left, room)
		return append(append(head, panes...), foot...)
	}
	if s.inFields {
		return append(append(head, s.pane(f, f.Width, room)...), foot...)
	}
	if s.zoomed {
		return append(append(head, s.list(f, f.Width, room)...), foot...)
	}
	brief := s.brief(f, room, &s.measured)
	list := min(max(len(s.rows), 1), max(room*2/5, room-1-max(len(brief), 2), 2))
	if room < 8 {
		list = min(max(len(s.rows), 1), room)
	}
	out := append(head, s.list(f, f.Width, list)...)
	if room-list >= 3 {
		out = append(out, widget.RuleLine(f.Width, s.position()))
		out = append(out, s.brief(f, room-list-1, &s.inBrief).Head(room-list-1)...)
	}
	return append(out, foot...)
}

// paneWidth is the width of the fields: beside the list where there is room.
func (s *Screen) paneWidth(f screen.Frame) int {
	if !f.Wide() || s.zoomed {
		return f.Width
	}
	return f.Width - min(max(f.Width*58/100, 64), 100) - 1
}

func (s *Screen) failed(width int) widget.Block {
	return append(widget.Block{{}}, widget.Paragraph(theme.Bad, s.err.Error(), 1, width)...)
}

func (s *Screen) position() string {
	if len(s.rows) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", s.cursor.At+1, len(s.rows))
}

// head is the line of counts, notes of the plan, and a rule.
func (s *Screen) head(f screen.Frame) widget.Block {
	spans := append([]widget.Span{widget.T(theme.Plain, " ")}, s.filterSpans()...)
	if s.byStep {
		spans = append(spans, widget.T(theme.Info, "running order   "))
	}
	counts := s.plan.Counts()
	for _, a := range plan.Actions() {
		if n := counts[a]; n > 0 && a != plan.Noop {
			mark, role := look(a)
			spans = append(spans, widget.T(role, fmt.Sprintf("%s %d %s", mark, n, a)), widget.T(theme.Plain, "  "))
		}
	}
	if n := counts[plan.Noop]; n > 0 {
		word := "same folded"
		if s.unfolded {
			word = "same"
		}
		spans = append(spans, widget.T(theme.Dim, fmt.Sprintf(" = %d %s  ", n, word)))
	}
	if s.filter == "" && !s.filtering {
		spans = append(spans, widget.T(theme.Dim, " no filter"))
	}
	out := widget.Block{widget.L(spans...)}
	for i, n := range s.plan.Notes {
		if i == 2 && f.Height < 30 {
			break
		}
		note := widget.Paragraph(theme.Warn, "note: "+n, 1, f.Width)
		out = append(out, note[:min(len(note), 2)]...)
	}
	if s.err != nil {
		out = append(out, widget.Paragraph(theme.Bad, "the look failed, this is the plan kept before: "+s.err.Error(), 1, f.Width)...)
		out = out[:min(len(out), max(f.Height/3, 2))]
	}
	return append(out, widget.RuleLine(f.Width, ""))
}

// filterSpans stand first while there is a filter, so that nobody takes a part of the plan for all of it.
func (s *Screen) filterSpans() []widget.Span {
	switch {
	case s.filtering:
		return []widget.Span{widget.T(theme.Key, "filter: "+s.filter), widget.T(theme.Selected, " "), widget.T(theme.Plain, "   ")}
	case s.filter != "":
		return []widget.Span{widget.T(theme.Warn, "filter: "+s.filter+" (esc drops it)   ")}
	}
	return nil
}

// foot says what is approved.
func (s *Screen) foot(f screen.Frame) widget.Block {
	text, role := "", theme.Plain
	switch {
	case s.filtering:
		text, role = "tab completes: "+strings.Join(s.choices(), " ")+" (or type any text; all words must hold)", theme.Info
	case s.loading != "":
		text, role = s.loading, theme.Info
	case s.used == s.plan.Fingerprint:
		text, role = "this plan was run; l looks again and makes a new one", theme.Warn
	case len(s.runnable) == 0 && s.plan.Counts()[plan.Blocked] == 0:
		text, role = "nothing to do: what the cloud holds is what the template says", theme.Good
	case len(s.runnable) == 0:
		text, role = "nothing can run: everything that would change is blocked", theme.Warn
	default:
		text = fmt.Sprintf("approved %d of the %d that can run", len(s.approved), len(s.runnable))
		if names := s.approvedNames(); len(names) > 0 {
			text += ": " + strings.Join(names, ", ")
		} else {
			text += "; A approves one, B all ordinary ones"
		}
	}
	out := widget.Block{widget.L(widget.T(role, " "+text))}
	if f.Height >= 16 {
		at := ""
		if s.zoomed && !s.inFields {
			at = s.position()
		}
		out = append(widget.Block{widget.RuleLine(f.Width, at)}, out...)
	}
	return out
}

func (s *Screen) approvedNames() []string {
	var out []string
	for _, it := range s.runnable {
		if s.approved[refOf(it)] {
			if len(out) == 20 {
				return append(out, "…")
			}
			out = append(out, it.ID)
		}
	}
	return out
}

// list draws the rows in view.
func (s *Screen) list(f screen.Frame, width, height int) widget.Block {
	if len(s.rows) == 0 {
		text := "The plan has no items: the template and the store name no resource."
		if s.filter != "" {
			text = "Nothing matches the filter " + s.filter + ". esc drops it."
		}
		return widget.Paragraph(theme.Dim, text, 1, width).Head(height)
	}
	id, typ, short := s.columns(width)
	return s.lines(height, f.Height >= headingsFrom && s.headed(), func(i int) widget.Line {
		return s.row(s.rows[i], i == s.cursor.At, id, typ, short, f.Now)
	}).Head(height)
}

// columns returns the widths of the ID and the type column, and how a type is written; 0 drops the type.
func (s *Screen) columns(width int) (id, typ int, short func(string) string) {
	id, typ, short = 8, 4, screen.ShortType
	if width < 80 { // a pane stands beside it and says the type in full
		short = func(t string) string { return t[strings.LastIndex(t, ":")+1:] }
	}
	for i, r := range s.rows {
		if i == 500 { // enough to know how wide the names are
			break
		}
		if r.item != nil {
			id, typ = max(id, widget.Width(r.item.ID)), max(typ, widget.Width(short(r.item.Type)))
		}
	}
	id, typ = min(id, max(width/4, 10)), min(typ, max(width*27/100, 8))
	if width < 64 {
		typ = 0
	}
	return id, typ, short
}

func (s *Screen) row(r row, selected bool, id, typ int, short func(string) string, now time.Time) widget.Line {
	at := " "
	if selected {
		at = ">"
	}
	if r.item == nil {
		return widget.Line{Selected: selected, Spans: []widget.Span{widget.T(theme.Dim, fmt.Sprintf(" %s  = %d same", at, r.folded)),
			widget.T(theme.Dim, "   x unfolds")}}
	}
	it := r.item
	given := " "
	if s.approved[refOf(it)] {
		given = "a"
	}
	mark, role := look(it.Action)
	spans := []widget.Span{widget.T(theme.Plain, " "+at), widget.T(theme.Good, given+" "), widget.T(role, mark+" "),
		widget.Cell(role, string(it.Action), 8), widget.T(theme.Plain, "  "), widget.Cell(theme.Strong, it.ID, id), widget.T(theme.Plain, "  ")}
	if typ > 0 {
		spans = append(spans, widget.Cell(theme.Dim, short(it.Type), typ), widget.T(theme.Plain, "  "))
	}
	said := note(it, now)
	if s.byStep {
		said = s.waitNote(it)
	}
	return widget.Line{Spans: append(spans, widget.T(theme.Plain, said)), Selected: selected}
}

// note is the one thing to know of an item in the list.
func note(it *plan.Item, now time.Time) string {
	sum := fields.Summary(it.Fields)
	switch it.Action {
	case plan.Blocked:
		if it.Reason == plan.Uncertain && it.Finding != nil {
			return uncertainNote(it.Finding)
		}
		if it.Reason == plan.DependencyBlocked || it.Reason == plan.DependencyAbsent {
			return cmp.Or(it.Detail, string(it.Reason))
		}
		return cmp.Or(string(it.Reason), it.Detail)
	case plan.Reclaim, plan.Adopt:
		text := it.Detail
		if it.Finding != nil {
			text = string(it.Finding.Verdict) + how(it.Finding)
		}
		if sum != "" {
			text += ", " + sum
		}
		return text
	case plan.Update:
		return cmp.Or(sum, it.Detail)
	case plan.Create:
		return cmp.Or(it.Physical, it.Name, it.Detail)
	case plan.Wait:
		if it.Finding != nil && it.Finding.Until.After(now) {
			return screen.Span(it.Finding.Until.Sub(now)) + " left, then judged again"
		}
	case plan.Replace:
		if len(it.Cause) > 0 {
			return strings.TrimSuffix(fmt.Sprintf("%s forces it, %s; %s", it.Cause[0], it.Order, it.OldFate), "; ")
		}
	case plan.Delete, plan.Retain:
		return cmp.Or(it.Loss, it.OldFate, it.Detail)
	}
	return it.Detail
}

func uncertainNote(f *recovery.Finding) string {
	if n := len(f.Candidates); n > 0 {
		return "uncertain, " + widget.Count(n, "candidate")
	}
	return "uncertain: " + string(f.Verdict)
}

// how is what ties the only candidate to the record: " (nonce)".
func how(f *recovery.Finding) string {
	if len(f.Candidates) == 1 && len(f.Candidates[0].How) > 0 {
		return " (" + f.Candidates[0].How[0] + ")"
	}
	return ""
}

// look is the symbol and the role of an action. The word always stands beside it.
func look(a plan.Action) (mark string, role theme.Role) {
	switch a {
	case plan.Blocked:
		return "!", theme.Bad
	case plan.Reclaim:
		return "o", theme.Info
	case plan.Adopt:
		return "&", theme.Warn
	case plan.Wait:
		return ".", theme.Dim
	case plan.Replace:
		return "%", theme.Bad
	case plan.Delete:
		return "-", theme.Bad
	case plan.Update:
		return "~", theme.Change
	case plan.Create:
		return "+", theme.Good
	case plan.Retain:
		return "^", theme.Plain
	case plan.Noop:
		return "=", theme.Dim
	}
	return "?", theme.Warn
}
