package execution

import (
	"fmt"
	"strings"
	"time"

	"reclaim/engine/event"
	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/screen/fields"
	"reclaim/ui/tui/theme"
	"reclaim/ui/tui/widget"
)

// Facts says how long it runs, and what came of it.
func (s *Screen) Facts(time.Time) []string {
	state := "live"
	switch {
	case !s.live && s.err != nil:
		state = "ended with an error"
	case !s.live:
		state = fmt.Sprintf("ended, exit %d", s.outcome.Exit)
	case s.draining != "":
		state = "draining"
	}
	return []string{screen.Span(s.now.Sub(s.began)), state}
}

// View draws the run.
func (s *Screen) View(f screen.Frame) widget.Block {
	out := append(s.progress(f.Width), widget.RuleLine(f.Width, ""))
	foot := s.foot(f)
	if s.zoomed {
		foot = nil
	}
	footHeight := min(len(foot), max((f.Height-len(out))*3/5, 0))
	listHeight := max(f.Height-len(out)-footHeight-1, 0)
	out = append(out, s.list(f.Width, listHeight)...)
	out = append(out, widget.RuleLine(f.Width, s.position()))
	return append(out, foot.Head(footHeight)...).Head(f.Height)
}

func (s *Screen) position() string {
	if len(s.shown) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", s.cursor.At+1, len(s.shown))
}

func (s *Screen) progress(width int) widget.Block {
	settled, counts := 0, map[event.Result]int{}
	for _, it := range s.items {
		if it.result != "" {
			settled++
			counts[it.result]++
		}
	}
	barWidth := min(max(width/4, 4), 30)
	filled := 0
	if len(s.items) > 0 {
		filled = barWidth * settled / len(s.items)
	}
	spans := []widget.Span{
		widget.T(theme.Good, " "+strings.Repeat("█", filled)), widget.T(theme.Rule, strings.Repeat("░", barWidth-filled)),
		widget.T(theme.Strong, fmt.Sprintf("  %d of %d settled", settled, len(s.items))),
	}
	for _, r := range results() {
		if counts[r] > 0 {
			_, role := look(r)
			spans = append(spans, widget.T(theme.Plain, "  "), widget.T(role, fmt.Sprintf("%d %s", counts[r], r)))
		}
	}
	return widget.Block{widget.L(spans...), s.state(width)}
}

func (s *Screen) state(width int) widget.Line {
	line := func(r theme.Role, text string) widget.Line { return widget.L(widget.T(r, " "+text)) }
	switch {
	case !s.live && s.err != nil:
		return line(theme.Bad, "The run ended with an error; the journal holds what was done.")
	case !s.live:
		return line(theme.Strong, "The run has ended.")
	case s.draining != "":
		return line(theme.Warn, fmt.Sprintf("DRAINING (%s): nothing new starts; %d under way; ctrl+c again stops now", s.draining, len(s.Unsettled())))
	case s.waits.After(s.now):
		return line(theme.Warn, "waiting out the former holder's calls, "+screen.Span(s.waits.Sub(s.now))+" left")
	case len(s.items) == 0:
		return line(theme.Dim, "starting")
	}
	return line(theme.Dim, "running. ctrl+c lets what is under way finish and starts nothing new.")
}

func (s *Screen) list(width, height int) widget.Block {
	var out widget.Block
	foldLine := 0
	if s.folded > 0 && height > 1 {
		foldLine = 1
	}
	from, to := s.cursor.Window(len(s.shown), height-foldLine)
	for i := from; i < to; i++ {
		out = append(out, s.row(s.shown[i], i == s.cursor.At, width))
	}
	if foldLine == 1 {
		out = append(out.Head(min(len(out), height-1)), widget.L(widget.T(theme.Dim,
			"   = "+widget.Count(s.folded, "resource")+" finished"), widget.T(theme.Dim, "   x unfolds")))
	}
	return out.Head(height)
}

func (s *Screen) row(it *item, selected bool, width int) widget.Line {
	mark, word, role, note := ".", "waits", theme.Dim, ""
	switch {
	case it.result != "":
		mark, role = look(it.result)
		word, note = string(it.result), it.reason
	case it.phase.Phase != "":
		mark, word, role = "*", it.phase.Phase, theme.Info
		note = s.phaseNote(it)
	}
	at := " "
	if selected {
		at = ">"
	}
	idWidth := min(max(width/4, 8), 28)
	spans := []widget.Span{widget.T(theme.Plain, " "+at+" "), widget.T(role, mark+" "), widget.Cell(role, word, 12),
		widget.Cell(theme.Strong, it.ID, idWidth), widget.T(theme.Plain, "  "), widget.Cell(theme.Dim, it.Action, 8)}
	if width >= 100 {
		spans = append(spans, widget.Cell(theme.Dim, screen.ShortType(it.Type), 22), widget.T(theme.Plain, "  "))
	}
	return widget.Line{Spans: append(spans, widget.T(theme.Plain, note)), Selected: selected}
}

func (s *Screen) phaseNote(it *item) string {
	if it.phase.Until.After(s.now) {
		return strings.TrimSpace(screen.Span(it.phase.Until.Sub(s.now)) + " left  " + it.phase.Detail)
	}
	note := it.phase.Detail
	if s.live && !it.since.IsZero() {
		note = strings.TrimSpace(screen.Span(s.now.Sub(it.since)) + "  " + note)
	}
	return note
}

// foot is the part below the list: what the line under the cursor is about, warnings, and at the end what to do next.
func (s *Screen) foot(f screen.Frame) widget.Block {
	var out widget.Block
	if !s.live {
		out = append(out, s.result(f.Width)...)
	}
	if len(s.shown) > 0 {
		out = append(out, s.about(s.shown[min(s.cursor.At, len(s.shown)-1)], f.Width)...)
	}
	for _, w := range s.warnings {
		out = append(out, widget.Paragraph(theme.Warn, "warning: "+strings.TrimPrefix(w.ID+": ", ": ")+w.Text, 1, f.Width)...)
	}
	if s.live {
		for i := len(s.calls) - 1; i >= 0 && len(out) < f.Height; i-- {
			c := s.calls[i]
			out = append(out, widget.L(widget.T(theme.Dim, " "+c.ID+": "+calledText(c))))
		}
	}
	return out
}

func (s *Screen) about(it *item, width int) widget.Block {
	out := widget.Block{widget.L(widget.T(theme.Strong, " "+it.ID), widget.T(theme.Dim, "  "+it.Type+"  "+it.Physical))}
	if it.reason != "" {
		out = append(out, widget.Paragraph(theme.Plain, it.reason, 1, width)...)
	}
	if it.call != "" {
		out = append(out, widget.L(widget.T(theme.Dim, " last call: "+it.call)))
	}
	return out
}

func (s *Screen) result(width int) widget.Block {
	var out widget.Block
	if s.err != nil {
		out = append(out, widget.Paragraph(theme.Bad, s.err.Error(), 1, width)...)
	}
	summary, next := s.outcome.Summary, s.outcome.Next
	if s.end != nil && summary == "" {
		summary, next = s.end.Summary, s.end.Next
	}
	role := theme.Good
	if s.outcome.Exit != 0 {
		role = theme.Warn
	}
	if summary != "" {
		out = append(out, widget.Paragraph(role, summary, 1, width)...)
	}
	for _, o := range s.outcome.Outputs {
		out = append(out, widget.L(widget.T(theme.Dim, " output "), widget.T(theme.Strong, o.Name), widget.T(theme.Plain, " "+fields.Text(o.Value))))
	}
	if s.outcome.Emergency != "" {
		out = append(out, widget.Paragraph(theme.Bad, "The store could not be written. What was learned is in "+s.outcome.Emergency, 1, width)...)
	}
	if n, ok := s.next(); ok {
		out = append(out, hint(n, width)...)
	}
	for _, n := range next {
		out = append(out, widget.L(widget.T(theme.Dim, " next: "), widget.T(theme.Info, n)))
	}
	return append(out, widget.L(widget.T(theme.Dim, " esc goes back; the store keeps this run")), widget.Line{})
}

// hint says where a key leads.
func hint(n Offer, width int) widget.Block {
	var out widget.Block
	key := n.Key
	for _, l := range widget.Wrap(n.Help, width-9) {
		out = append(out, widget.L(widget.T(theme.Key, " "), widget.Cell(theme.Key, key, 6), widget.T(theme.Plain, " "+l)))
		key = ""
	}
	return out
}

func results() []event.Result {
	return []event.Result{event.Done, event.Unchanged, event.Kept, event.Unsure, event.Failed, event.Blocked, event.Stale, event.Skipped}
}

func look(r event.Result) (mark string, role theme.Role) {
	switch r {
	case event.Done:
		return "+", theme.Good
	case event.Unchanged, event.Kept:
		return "=", theme.Dim
	case event.Unsure:
		return "?", theme.Bad
	case event.Failed, event.Blocked, event.Stale:
		return "!", theme.Bad
	}
	return "-", theme.Dim
}

func calledText(c event.Called) string {
	text := c.Call + " " + c.Outcome
	if c.Code != "" {
		text += " " + c.Code
	}
	if c.Detail != "" {
		text += " (" + c.Detail + ")"
	}
	return fmt.Sprintf("%s, %s", text, c.Took.Round(time.Millisecond))
}

func judgedText(e event.Judged) string {
	text := e.Verdict
	if e.Choice != "" {
		text += ": " + string(e.Choice)
	}
	if e.By != "" {
		text += " by " + e.By
	}
	return text
}
