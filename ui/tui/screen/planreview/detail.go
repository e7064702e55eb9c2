package planreview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"reclaim/engine/diff"
	"reclaim/engine/plan"
	"reclaim/engine/value"
	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/screen/fields"
	"reclaim/ui/tui/theme"
	"reclaim/ui/tui/widget"
)

// brief is the item under the cursor in the few lines below the list: its fields in a table, and why. was is how it was
// drawn last at such a height.
func (s *Screen) brief(f screen.Frame, height int, was *drawn) widget.Block {
	it := s.current()
	if it == nil {
		return widget.Paragraph(theme.Dim, "These are as the template says. x unfolds them.", 1, f.Width)
	}
	return was.as(drawn{of: it, width: f.Width, height: height, unfolded: s.unfolded}, func() widget.Block { return s.drawBrief(it, f, height) })
}

func (s *Screen) drawBrief(it *plan.Item, f screen.Frame, height int) widget.Block {
	word := strings.ToUpper(string(it.Action))
	if it.Reason != "" {
		word += ": " + string(it.Reason)
	}
	mark, role := look(it.Action)
	left := " " + it.ID + "  " + cmp.Or(it.Physical, it.Name)
	room := max(f.Width-widget.Width(word)-5, 8)
	out := widget.Block{widget.L(widget.Cell(theme.Strong, left, room), widget.T(role, " "+mark+" "+word))}
	out = append(out, replacement(it, f.Width)...)
	why := s.why(it, f.Width)
	if len(why) > 4 && height < 16 {
		why = why[:4]
	}
	table := fields.Table(it.Fields, f.Width, s.unfolded)
	if it.Action == plan.Create && len(it.Desired) > 0 {
		table = params(it, f.Width)
	}
	if room := max(height-len(out)-len(why), 0); len(table) > room {
		hidden := len(table) - room + 1
		table = append(table[:max(room-1, 0):max(room-1, 0)], widget.L(widget.T(theme.Dim, fmt.Sprintf(" … %s; enter shows all", widget.Count(hidden, "more line")))))
	}
	out = append(out, table...)
	return append(out, why...)
}

// why is the reason of the item in words, and what approving it needs.
func (s *Screen) why(it *plan.Item, width int) widget.Block {
	var out widget.Block
	if !told(it) {
		out = widget.Paragraph(theme.Plain, it.Detail, 1, width)
	}
	if len(it.MaybeReplace) > 0 {
		out = append(out, widget.Paragraph(theme.Warn, "replacement is possible: "+paths(it.MaybeReplace)+" is not known yet"+waitsFor(it), 1, width)...)
	}
	if fate := strings.TrimSpace(it.OldFate + " " + it.Loss); fate != "" && it.Action != plan.Replace {
		out = append(out, widget.Paragraph(theme.Bad, fate, 1, width)...)
	}
	if special := specialGrants(it.Needs); special != "" {
		out = append(out, widget.Paragraph(theme.Warn, "needs its own approval: "+special, 1, width)...)
	}
	if it.Finding != nil {
		out = append(out, widget.Paragraph(theme.Plain, "Verdict: "+string(it.Finding.Verdict)+". "+it.Finding.Summary, 1, width)...)
		next := "R shows the evidence."
		if it.Action == plan.Blocked {
			next = "Next: R steps through the evidence and decides it."
		}
		out = append(out, widget.Paragraph(theme.Info, next, 1, width)...)
	}
	return out
}

// replacement says of one what forces it, in which order it goes, what becomes of the old object, and what is lost.
func replacement(it *plan.Item, width int) widget.Block {
	if it.Action != plan.Replace {
		return nil
	}
	text := "It is replaced"
	if len(it.Cause) > 0 {
		text = paths(it.Cause) + " cannot be changed in place: it is replaced"
	}
	switch it.Order {
	case plan.CreateFirst:
		text += ", create-first: the new one is there before the old one goes"
	case plan.DeleteFirst:
		text += ", delete-first: the old one goes before the new one exists, and there is a gap"
	}
	for _, part := range []struct{ head, text string }{{". Old: ", it.OldFate}, {". Lost: ", it.Loss}} {
		if part.text != "" {
			text += part.head + part.text
		}
	}
	return widget.Paragraph(theme.Bad, text, 1, width)
}

// waitsFor is what the fields that may force a replacement wait for.
func waitsFor(it *plan.Item) string {
	var ids []string
	for _, f := range it.Fields {
		if slices.ContainsFunc(it.MaybeReplace, func(p value.Path) bool { return f.Path.Within(p) }) {
			ids = append(ids, f.Desired.Waits()...)
		}
	}
	if slices.Sort(ids); len(ids) == 0 {
		return ""
	}
	return "; it waits for " + strings.Join(slices.Compact(ids), ", ")
}

// told reports whether the item's reason is also said elsewhere: by its verdict, or by its name.
func told(it *plan.Item) bool {
	return it.Finding != nil && strings.Contains(it.Finding.Summary, it.Detail) || it.Detail == cmp.Or(it.Physical, it.Name)
}

func paths(list []value.Path) string {
	var out []string
	for _, p := range list {
		out = append(out, string(p))
	}
	return strings.Join(out, ", ")
}

// pane is the item under the cursor with everything that is known of it, scrolled.
func (s *Screen) pane(f screen.Frame, width, height int) widget.Block {
	it := s.current()
	if it == nil {
		return widget.Paragraph(theme.Dim, "These are as the template says. x unfolds them.", 1, width).Head(height)
	}
	view, _, below := s.scroll.Window(s.full(it, f, width), height)
	out := append(widget.Block(nil), view...)
	if below > 0 && len(out) > 0 {
		what := "; enter reads on"
		if s.inFields {
			what = "; ↓ reads on"
		}
		out[len(out)-1] = widget.L(widget.T(theme.Dim, " … "+widget.Count(below+1, "more line")+what))
	}
	return out.Head(height)
}

// drawn is one item as it was drawn last: a policy of thousands of lines is not drawn again for every key.
type drawn struct {
	of            *plan.Item
	width, height int
	unfolded      bool
	read          string // its age in words
	block         widget.Block
}

// as returns what was drawn, if it was drawn as now, and else draws it.
func (d *drawn) as(now drawn, draw func() widget.Block) widget.Block {
	if d.of != now.of || d.width != now.width || d.height != now.height || d.unfolded != now.unfolded || d.read != now.read {
		*d = now
		d.block = draw()
	}
	return d.block
}

// full is everything that is known of an item.
func (s *Screen) full(it *plan.Item, f screen.Frame, width int) widget.Block {
	read := readWord(it, f.Now)
	return s.inFull.as(drawn{of: it, width: width, unfolded: s.unfolded, read: read}, func() widget.Block { return s.draw(it, read, width) })
}

func (s *Screen) draw(it *plan.Item, read string, width int) widget.Block {
	mark, role := look(it.Action)
	word := mark + " " + string(it.Action)
	left := " " + it.ID + "   " + it.Type
	out := widget.Block{widget.L(widget.Cell(theme.Strong, left, max(width-widget.Width(word)-2, 8)), widget.T(role, " "+word))}
	out = append(out, replacement(it, width)...)
	out = append(out,
		widget.L(widget.Cell(theme.Plain, " "+cmp.Or(it.Physical, it.Name, "no name yet"), max(width-16, 8)), widget.T(theme.Dim, " "+read)))
	if it.Reason != "" {
		out = append(out, widget.L(widget.T(theme.Bad, " BLOCKED: "+string(it.Reason))))
	}
	if len(it.Fields) > 0 && it.Action != plan.Create {
		out = append(out, widget.L(widget.T(theme.Dim, fmt.Sprintf(" %d differ · %d match · %d unverified · %d unknown", fields.Count(it.Fields, diff.Differs),
			fields.Count(it.Fields, diff.Match), fields.Count(it.Fields, diff.Unverified), fields.Count(it.Fields, diff.Unknown)))))
	}
	switch {
	case len(it.Calls) > 0:
		out = append(out, widget.Paragraph(theme.Plain, "calls: "+strings.Join(it.Calls, ", "), 1, width)...)
	case it.CanRun() && it.Action != plan.Wait && it.Action != plan.Retain:
		out = append(out, widget.Paragraph(theme.Dim, "calls: told by the look before each", 1, width)...)
	}
	if len(it.DependsOn) > 0 {
		out = append(out, widget.Paragraph(theme.Dim, "waits for: "+some(it.DependsOn), 1, width)...)
	}
	if after := s.waiting[it.ID]; len(after) > 0 {
		out = append(out, widget.Paragraph(theme.Dim, "waited for by: "+some(after), 1, width)...)
	}
	out = append(out, widget.Line{})
	out = append(out, s.why(it, width)...)
	out = append(out, widget.Line{})
	return append(out, s.fieldsOf(it, width)...)
}

// fieldsOf is what would be sent, or the comparison field by field.
func (s *Screen) fieldsOf(it *plan.Item, width int) widget.Block {
	sections := fields.Sections(it.Fields, width, s.unfolded)
	switch {
	case it.Action == plan.Create && len(it.Desired) > 0:
		return params(it, width)
	case len(sections) > 0:
		return append(append(sections, widget.Line{}), noReplacement(it, width)...)
	}
	return noReplacement(it, width)
}

// some are the first names of a list, and how many more there are.
func some(names []string) string {
	const most = 12
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func readWord(it *plan.Item, now time.Time) string {
	if it.ReadAt.IsZero() {
		return "not read"
	}
	return "read " + screen.Age(now, it.ReadAt)
}

// params lists what a create would send: there is nothing yet to compare it with.
func params(it *plan.Item, width int) widget.Block {
	return append(widget.Block{widget.L(widget.T(theme.Good, " TO BE SENT"))}, fields.Tree(it.Desired, 3, width)...)
}

// noReplacement says why nothing here can destroy the object, where that is so.
func noReplacement(it *plan.Item, width int) widget.Block {
	if !slices.Contains([]plan.Action{plan.Update, plan.Reclaim, plan.Noop}, it.Action) || len(it.Cause)+len(it.MaybeReplace) > 0 {
		return nil
	}
	return widget.Paragraph(theme.Dim, "Nothing here can force a replacement: no immutable field was returned, valid and different.", 1, width)
}
