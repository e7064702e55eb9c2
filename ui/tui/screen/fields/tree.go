package fields

import (
	"strings"

	"reclaim/engine/value"
	"reclaim/ui/tui/theme"
	"reclaim/ui/tui/widget"
)

// Bounds of a tree. What is beyond them is said, and shown by the commands.
const (
	maxLines = 400
	maxDepth = 12
)

// Tree draws an object member by member: plain members first, then nested ones, each level two cells further in.
func Tree(m value.Map, indent, width int) widget.Block {
	t := &tree{width: width}
	t.object(m, indent, 0)
	if t.more {
		t.out = append(t.out, widget.Paragraph(theme.Dim, "… too long for a screen; reclaim show prints all of it", indent, width)...)
	}
	return t.out
}

type tree struct {
	width int
	out   widget.Block
	more  bool
}

// nested reports whether a value takes lines of its own. A sensitive one shows nothing of its inside.
func nested(v value.Value) bool {
	return !v.Sensitive() && (len(v.Fields()) > 0 || len(v.Items()) > 0)
}

func (t *tree) object(m value.Map, indent, depth int) {
	keys := m.Keys()
	name := 0
	for _, k := range keys {
		if !nested(m[k]) {
			name = max(name, widget.Width(k))
		}
	}
	name = min(name, max(t.width*36/100, 8))
	for _, k := range keys {
		if !nested(m[k]) {
			t.leaf(widget.CellTail(theme.Plain, k, name), m[k], indent)
		}
	}
	for _, k := range keys {
		switch {
		case nested(m[k]) && depth < maxDepth:
			t.branch(k, m[k], indent, depth)
		case nested(m[k]):
			t.leaf(widget.T(theme.Plain, k), m[k], indent)
		}
	}
}

// leaf is a name and a value, wrapped beside the name.
func (t *tree) leaf(name widget.Span, v value.Value, indent int) {
	at := indent + widget.Width(name.Text) + 2
	for _, l := range widget.Wrap(short(Text(v)), max(t.width-at-1, 8)) {
		if !t.add(widget.L(widget.T(theme.Plain, strings.Repeat(" ", indent)), name, widget.T(theme.Plain, "  "), widget.T(theme.Strong, l))) {
			return
		}
		name.Text = strings.Repeat(" ", widget.Width(name.Text))
	}
}

// branch is a nested member below its name, or beside it where it is a short list of plain values.
func (t *tree) branch(name string, v value.Value, indent, depth int) {
	label := widget.T(theme.Plain, name)
	if text, ok := inline(v); ok && indent+widget.Width(name)+2+widget.Width(text) < t.width {
		t.add(widget.L(widget.T(theme.Plain, strings.Repeat(" ", indent)), label, widget.T(theme.Plain, "  "), widget.T(theme.Strong, text)))
		return
	}
	if !t.add(widget.L(widget.T(theme.Plain, strings.Repeat(" ", indent)), label)) {
		return
	}
	t.inside(v, indent+2, depth+1)
}

func (t *tree) inside(v value.Value, indent, depth int) {
	if m := v.Fields(); len(m) > 0 {
		t.object(m, indent, depth)
		return
	}
	for _, e := range v.Items() {
		if t.more {
			return
		}
		if !nested(e) || depth >= maxDepth {
			t.leaf(widget.T(theme.Dim, "-"), e, indent)
			continue
		}
		from := len(t.out)
		t.inside(e, indent+2, depth+1)
		if from < len(t.out) { // the item's mark stands in the indent of its first line
			first := t.out[from]
			t.out[from] = widget.L(append([]widget.Span{widget.T(theme.Plain, strings.Repeat(" ", indent)), widget.T(theme.Dim, "- ")}, first.Spans[1:]...)...)
		}
	}
}

func (t *tree) add(l widget.Line) bool {
	if len(t.out) >= maxLines {
		t.more = true
		return false
	}
	t.out = append(t.out, l)
	return true
}

// inline is a list of plain values in one line: "a, b, c".
func inline(v value.Value) (string, bool) {
	var parts []string
	for _, e := range v.Items() {
		if nested(e) || len(parts) == 8 {
			return "", false
		}
		parts = append(parts, short(Text(e)))
	}
	return strings.Join(parts, ", "), len(parts) > 0
}

// longest is how much of one text is shown, in bytes.
const longest = 4096

func short(text string) string {
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + " …"
}
