package delta

import "reclaim/engine/value"

// Row is one line of a delta that is read from top to bottom.
type Row struct {
	Depth int
	Name  string // as in Node
	Item  bool
	Op    Op
	Head  bool // a composite or a text; what it holds follows, one deeper
	Text  bool // as in Node
	Old   value.Value
	New   value.Value
	// Was and Is are the pieces of two texts of which a part has changed; nil where the values are shown whole.
	Was, Is []Piece
	// Folded is how many places that are the same this row stands for; it then has nothing else but its depth.
	Folded int
}

// Rows lists nodes line by line. Unless all, what is the same is a count: of items in their place, of members at the end.
func Rows(nodes []Node, all bool) []Row { return rows(nil, nodes, 0, all) }

func rows(out []Row, nodes []Node, depth int, all bool) []Row {
	folded := 0
	flush := func() {
		if folded > 0 {
			out = append(out, Row{Depth: depth, Folded: folded})
			folded = 0
		}
	}
	for _, n := range nodes {
		if n.Op == Same && !all {
			folded++
			continue
		}
		if n.Item {
			flush()
		}
		row := Row{Depth: depth, Name: n.Name, Item: n.Item, Op: n.Op, Head: len(n.Kids) > 0, Text: n.Text, Old: n.Old, New: n.New}
		if n.Op == Changed && !row.Head {
			row.Was, row.Is = within(n.Old, n.New)
		}
		out = append(out, row)
		out = rows(out, n.Kids, depth+1, all)
	}
	flush()
	return out
}

// within returns the pieces of two texts that have much in common.
func within(old, new value.Value) (was, is []Piece) {
	a, ok := old.Str()
	b, also := new.Str()
	if !ok || !also || old.Kind() != value.String || new.Kind() != value.String {
		return nil, nil
	}
	was, is = Pieces(a, b)
	if len(was) == 1 && was[0].Changed || len(is) == 1 && is[0].Changed {
		return nil, nil
	}
	return was, is
}

// Count says how many places come, go and change; what waits changes.
func Count(nodes []Node) (added, gone, changed int) {
	for _, n := range nodes {
		switch a, g, c := Count(n.Kids); {
		case len(n.Kids) > 0:
			added, gone, changed = added+a, gone+g, changed+c
		case n.Op == Added:
			added++
		case n.Op == Gone:
			gone++
		case n.Op != Same:
			changed++
		}
	}
	return added, gone, changed
}
