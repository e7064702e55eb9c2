package delta

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"reclaim/engine/value"
)

// told writes rows as a screen might: one line each.
func told(rows []Row) []string {
	signs := map[Op]string{Same: " ", Changed: "~", Added: "+", Gone: "-", Waits: "?"}
	marked := func(list []Piece) string {
		var b strings.Builder
		for _, p := range list {
			if p.Changed {
				b.WriteString("<" + p.Text + ">")
			} else {
				b.WriteString(p.Text)
			}
		}
		return b.String()
	}
	var out []string
	for _, r := range rows {
		line := strings.Repeat("  ", r.Depth) + signs[r.Op] + " " + r.Name
		switch {
		case r.Folded > 0:
			line = fmt.Sprintf("%s= %d", strings.Repeat("  ", r.Depth), r.Folded)
		case r.Head && r.Text:
			line += " (text)"
		case r.Head:
		case r.Was != nil || r.Is != nil:
			line += " " + marked(r.Was) + " -> " + marked(r.Is)
		default:
			line += " " + r.Old.String() + " -> " + r.New.String()
		}
		out = append(out, line)
	}
	return out
}

func policyOf(statements ...any) map[string]any {
	return map[string]any{"Version": "2012-10-17", "Statement": statements}
}

func TestDeltaSaysWhereTwoValuesPart(t *testing.T) {
	type m = map[string]any
	table := func(actions any) m {
		return m{"Sid": "table", "Effect": "Allow", "Action": actions, "Resource": "*"}
	}
	for why, c := range map[string]struct {
		old, new any
		want     []string
	}{
		"what is the same is a count": {m{"A": 1, "B": 2, "C": 3}, m{"A": 1, "B": 2, "C": 4},
			[]string{"~ P", "  ~ C 3 -> 4", "  = 2"}},
		"a member comes and one goes": {m{"A": "x", "B": "y"}, m{"B": "y", "C": []any{"z"}},
			[]string{"~ P", "  - A \"x\" -> -", "  + C", "    +  - -> \"z\"", "  = 1"}},
		"items are told apart by their name, wherever they stand": {
			[]any{m{"Name": "a", "V": 1}, m{"Name": "b", "V": 2}}, []any{m{"Name": "b", "V": 3}, m{"Name": "a", "V": 1}},
			[]string{"~ P", "  ~ Name=b", "    ~ V 2 -> 3", "    = 1", "  = 1"}},
		"items without one keep their order": {[]any{"a", "b", "c"}, []any{"b", "c", "d"},
			[]string{"~ P", "  -  \"a\" -> -", "  = 2", "  +  - -> \"d\""}},
		"of a policy, order and a list of one say nothing": {policyOf(table([]any{"s3:Put", "s3:Get"})), policyOf(table([]any{"s3:Get", "s3:Put", "s3:List"})),
			[]string{"~ P", "  ~ Statement", "    ~ Sid=table", "      ~ Action", "        = 1", "        +  - -> \"s3:List\"", "        = 1", "      = 3", "  = 1"}},
		"nor does a statement that stands alone": {m{"Statement": table("s3:Get")}, policyOf(table([]any{"s3:Get"})),
			[]string{"~ P", "  + Version - -> \"2012-10-17\"", "  = 1"}},
		"a text that holds JSON is taken apart": {`{"a":1,"b":[1,2]}`, "{ \"b\": [1, 3],\n \"a\": 1 }",
			[]string{"~ P (text)", "  ~ b", "    = 1", "    -  2 -> -", "    +  - -> 3", "  = 1"}},
		"a text of lines is compared by lines": {"one\ntwo words here\nthree\n", "one\ntwo words there\nthree\n",
			[]string{"~ P (text)", "  = 1", "  ~  two words <here> -> two words <there>", "  = 1"}},
		"of a long text the part that changed is marked": {"arn:aws:iam::123456789012:role/orders", "arn:aws:iam::123456789012:role/shared-lambda",
			[]string{"~ P arn:aws:iam::123456789012:role/<orders> -> arn:aws:iam::123456789012:role/<shared-lambda>"}},
		"texts with nothing in common are shown whole": {"go1.x", "provided.al2023", []string{"~ P \"go1.x\" -> \"provided.al2023\""}},
		"an object in the place of a text":             {"x", m{"A": 1}, []string{"- P \"x\" -> -", "+ P", "  + A - -> 1"}},
		"what is not known yet says what it waits for": {m{"Role": "old"}, m{"Role": value.Wait("Role.Arn")},
			[]string{"~ P", "  ? Role \"old\" -> (known after Role.Arn)"}},
		"nothing was there yet":               {nil, m{"A": value.Wait("X.Arn"), "B": 1}, []string{"+ P", "  ? A - -> (known after X.Arn)", "  + B - -> 1"}},
		"a number and its text are the same":  {m{"A": "10", "B": true}, m{"A": 10, "B": "true"}, []string{"= 1"}},
		"a sensitive value shows nothing":     {m{"A": value.Of("hunter2").AsSensitive()}, m{"A": value.Of("hunter3").AsSensitive()}, []string{"~ P", "  ~ A (sensitive) -> (sensitive)"}},
		"nor does a sensitive value's inside": {value.Of(m{"K": "a"}).AsSensitive(), value.Of(m{"K": "b"}).AsSensitive(), []string{"~ P (sensitive) -> (sensitive)"}},
		"a name that must not be shown is none": {
			[]any{m{"Name": value.Of("a").AsSensitive(), "V": 1}}, []any{m{"Name": value.Of("a").AsSensitive(), "V": 2}},
			[]string{"~ P", "  ~ ", "    ~ V 1 -> 2", "    = 1"}},
		"a text that only looks like JSON": {"{{name}} a", "{{name}} b", []string{"~ P {{name}} <a> -> {{name}} <b>"}},
	} {
		t.Run(why, func(t *testing.T) {
			if d := cmp.Diff(c.want, told(Rows(Between("P", value.Of(c.old), value.Of(c.new)), false))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAllShowsWhatIsTheSameToo(t *testing.T) {
	old, new := value.Of(map[string]any{"A": 1, "B": "x"}), value.Of(map[string]any{"A": 1, "B": "y"})
	want := []string{"~ P", "    A 1 -> 1", `  ~ B "x" -> "y"`}
	if d := cmp.Diff(want, told(Rows(Between("P", old, new), true))); d != "" {
		t.Error(d)
	}
}

func TestCountIsOfPlaces(t *testing.T) {
	old := value.Of(map[string]any{"A": 1, "B": []any{"x", "y"}, "C": map[string]any{"D": "gone", "E": "gone"}})
	new := value.Of(map[string]any{"A": 2, "B": []any{"x", "z"}, "F": "new", "G": value.Wait("X.Arn"), "H": 1, "A2": value.Wait("X.Arn")})
	added, gone, changed := Count(Between("P", old, new))
	if added != 3 || gone != 3 || changed != 3 {
		t.Errorf("got +%d -%d ~%d, want 3 of each", added, gone, changed)
	}
}

func anyValue(depth int) *rapid.Generator[value.Value] {
	leaf := rapid.Custom(func(t *rapid.T) value.Value {
		return value.Of(rapid.SampledFrom([]string{"a", "b", "c d", "e"}).Draw(t, "text"))
	})
	if depth == 0 {
		return leaf
	}
	return rapid.OneOf(leaf,
		rapid.Custom(func(t *rapid.T) value.Value {
			return value.ListOf(rapid.SliceOfN(anyValue(depth-1), 1, 4).Draw(t, "list")...)
		}),
		rapid.Custom(func(t *rapid.T) value.Value {
			return value.OfMap(rapid.MapOfN(rapid.SampledFrom([]string{"A", "B", "Name", "D"}), anyValue(depth-1), 1, 3).Draw(t, "map"))
		}))
}

// sideOf puts one side together again from its nodes.
func sideOf(n Node, other Op) (value.Value, bool) {
	if n.Op == other {
		return value.Value{}, false
	}
	if len(n.Kids) == 0 {
		if other == Added {
			return n.Old, true
		}
		return n.New, true
	}
	var list []value.Value
	m := value.Map{}
	for _, k := range n.Kids {
		v, ok := sideOf(k, other)
		switch {
		case !ok:
		case k.Item:
			list = append(list, v)
		default:
			m[k.Name] = v
		}
	}
	if n.Kids[0].Item {
		return value.ListOf(list...), true
	}
	return value.OfMap(m), true
}

// Nothing is lost and nothing is made up: both sides can be put together again. Items that have a name may have moved.
func TestBothSidesAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, new := anyValue(3).Draw(t, "old"), anyValue(3).Draw(t, "new")
		for _, side := range []struct {
			other Op
			want  value.Value
		}{{Added, old}, {Gone, new}} {
			var got value.Value
			for _, n := range Between("", old, new) {
				if v, ok := sideOf(n, side.other); ok {
					got = v
				}
			}
			if a, b := sorted(got), sorted(side.want); a != b {
				t.Fatalf("got %s, want %s", a, b)
			}
		}
	})
}

func sortedStrings(s []string) []string { slices.Sort(s); return s }

// sorted writes a value with the items of its lists in order; a list of one as that one.
func sorted(v value.Value) string {
	if items := v.Items(); len(items) == 1 {
		return sorted(items[0])
	} else if items != nil {
		var parts []string
		for _, e := range items {
			parts = append(parts, sorted(e))
		}
		return "[" + strings.Join(sortedStrings(parts), ",") + "]"
	}
	if m := v.Fields(); m != nil {
		var parts []string
		for _, k := range m.Keys() {
			parts = append(parts, k+":"+sorted(m[k]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return v.String()
}

func TestPiecesAreTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("ab é注-: ")))).Draw
		old, new := text(t, "old"), text(t, "new")
		if rapid.Bool().Draw(t, "long") {
			long := strings.Repeat("ab-注 ", longestText/6)
			old, new = long+old, long+new
		}
		was, is := Pieces(old, new)
		for _, side := range []struct {
			pieces []Piece
			want   string
		}{{was, old}, {is, new}} {
			got := ""
			for i, p := range side.pieces {
				got += p.Text
				if p.Text == "" || i > 0 && side.pieces[i-1].Changed == p.Changed {
					t.Fatalf("piece %d of %d is empty or could be one with its neighbour", i, len(side.pieces))
				}
			}
			if got != side.want {
				t.Fatalf("%d pieces are not the text they were made of", len(side.pieces))
			}
		}
	})
}

func TestAlignIsTheLongestRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 12)
		a, b := draw.Draw(t, "a"), draw.Draw(t, "b")
		got := align(len(a), len(b), func(i, j int) bool { return a[i] == b[j] })
		last := pair{-1, -1}
		for _, p := range got {
			if p.a <= last.a || p.b <= last.b || a[p.a] != b[p.b] {
				t.Fatalf("pair %v after %v of %v and %v", p, last, a, b)
			}
			last = p
		}
		if want := longestRun(a, b); len(got) != want {
			t.Fatalf("%d pairs of %v and %v, want %d", len(got), a, b, want)
		}
	})
}

func longestRun(a, b []int) int {
	best := make([][]int, len(a)+1)
	for i := range best {
		best[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for j := range b {
			best[i+1][j+1] = max(best[i][j+1], best[i+1][j])
			if a[i] == b[j] {
				best[i+1][j+1] = best[i][j] + 1
			}
		}
	}
	return best[len(a)][len(b)]
}

func TestDocumentsWithNothingInCommonEndSoon(t *testing.T) {
	a, b := make([]string, 20_000), make([]string, 20_000)
	for i := range a {
		a[i], b[i] = fmt.Sprint("a", i), fmt.Sprint("b", i)
	}
	began := time.Now()
	rows := Rows(Between("P", value.Of(a), value.Of(b)), false)
	if took := time.Since(began); len(rows) != 40_001 || took > 5*time.Second {
		t.Errorf("%d rows in %s", len(rows), took)
	}
}
