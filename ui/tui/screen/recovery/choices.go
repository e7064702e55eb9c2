package recovery

import (
	"cmp"
	"fmt"
	"strings"

	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/theme"
	"reclaim/ui/tui/widget"
)

// choiceIndent is where the text of a choice goes on below its first line.
const choiceIndent = 6

// choices draws what can be chosen, on at most height lines: call, loss and what follows. The one under the cursor is
// wrapped, so that all of it can be read; the others are one line each.
func (s *Screen) choices(f *recovery.Finding, fr screen.Frame, height int) widget.Block {
	list := options(f)
	cur := s.cursor(f)
	cur.Move(0, len(list))
	name := nameWidth(f, fr.Width)
	text := wrapChoice(sentence(list[cur.At]), fr.Width, name)
	if most := max(height-min(len(list), max(height-1, 1))+1, 1); len(text) > most {
		text = text[:most:most]
		text[most-1] = widget.Cut(text[most-1], fr.Width-choiceIndent-3) + " …"
	}
	from, to := cur.Window(len(list), max(height-len(text)+1, 1))
	taken, isTaken := s.decided[refOf(f)]
	var out widget.Block
	for i := from; i < to; i++ {
		o := list[i]
		at, mark, role := " ", " ", theme.Plain
		if isTaken && taken.option.Choice == o.Choice && taken.option.Physical == o.Physical {
			mark = "c"
		}
		if o.Choice == record.DeleteIt || o.Choice == record.Adopt || o.Choice == record.Replace {
			role = theme.Warn
		}
		words := []string{sentence(o)}
		if i == cur.At {
			at, words = ">", text
		}
		out = append(out, widget.Line{Selected: i == cur.At, Spans: []widget.Span{widget.T(theme.Plain, " "+at), widget.T(theme.Good, mark+" "),
			widget.Cell(role, optionName(o, f), name), widget.T(theme.Plain, "  "+words[0])}})
		for _, rest := range words[1:] {
			out = append(out, widget.Line{Selected: true, Spans: []widget.Span{widget.T(theme.Plain, strings.Repeat(" ", choiceIndent)+rest)}})
		}
	}
	return out
}

// choicesHeight is the room that the choices take with the longest of them under the cursor: it is the same wherever
// the cursor is, so that nothing moves when it does.
func choicesHeight(f *recovery.Finding, width int) int {
	most, name := 1, nameWidth(f, width)
	list := options(f)
	for _, o := range list {
		most = max(most, len(wrapChoice(sentence(o), width, name)))
	}
	return len(list) - 1 + most
}

// wrapChoice breaks a choice's text: the first line stands beside the name, the others below it.
func wrapChoice(text string, width, name int) []string {
	first := widget.Wrap(text, width-name-7)
	if len(first) == 1 {
		return first
	}
	return append(first[:1], widget.Wrap(strings.Join(first[1:], " "), width-choiceIndent-1)...)
}

// nameWidth is the column of the choices' names.
func nameWidth(f *recovery.Finding, width int) int {
	n := 7
	for _, o := range options(f) {
		n = max(n, widget.Width(optionName(o, f)))
	}
	return min(n, max(width/3, 8))
}

// optionName is the choice, and of which candidate where there are several.
func optionName(o recovery.Option, f *recovery.Finding) string {
	name := string(o.Choice)
	if len(f.Candidates) > 1 && o.Physical != "" {
		for _, c := range f.Candidates {
			if c.Physical == o.Physical {
				return name + " " + candidateName(f, c.N)
			}
		}
	}
	return name
}

// sentence is call, loss and what follows in one line, in this order.
func sentence(o recovery.Option) string {
	call, loss := "no call", "no loss"
	if c := cmp.Or(o.Call, "none"); c != "none" {
		call = strings.ReplaceAll(c, "AWS::", "")
	}
	if rest, ok := strings.CutPrefix(cmp.Or(o.Loss, "nothing"), "nothing"); ok {
		loss += rest
	} else {
		loss = "loses " + o.Loss
	}
	return strings.TrimSuffix(fmt.Sprintf("%s, %s; %s", call, loss, o.Follows), "; ")
}
