package value

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestPathsAreWrittenAsTheyAreShown(t *testing.T) {
	for want, got := range map[Path]Path{
		"Policies[0].PolicyName": Path("").Child("Policies").At(0).Child("PolicyName"),
		"Tags[Key=team].Value":   Path("Tags").Item("Key", "team").Child("Value"),
		`Tags[Key="a]b"]`:        Path("Tags").Item("Key", "a]b"),
		`Tags[Key=""]`:           Path("Tags").Item("Key", ""),
		`Variables["a.b"]`:       Path("Variables").Child("a.b"),
		`["a b"].c`:              Path("").Child("a b").Child("c"),
		`A["\x1b[2J"]`:           Path("A").Child("\x1b[2J"),
		`A["\u202e"]`:            Path("A").Child("\u202e"), // turns the direction of writing
		`A["\xff"]`:              Path("A").Child("\xff"),
		"A.é":                    Path("A").Child("é"),
	} {
		if got != want {
			t.Errorf("%s is written %s", want, got)
		}
	}
}

// steps makes a path of steps drawn, and what its first step is called.
func steps(t *rapid.T) (p Path, top string) {
	top = texts.Draw(t, "property")
	p = Path("").Child(top)
	for range rapid.IntRange(0, 3).Draw(t, "depth") {
		switch rapid.IntRange(0, 2).Draw(t, "step") {
		case 0:
			p = p.Child(texts.Draw(t, "key"))
		case 1:
			p = p.At(rapid.IntRange(0, 12).Draw(t, "index"))
		default:
			p = p.Item("Key", texts.Draw(t, "id"))
		}
	}
	return p, top
}

func TestPathsSayWhereTheyLie(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, top := steps(t)
		if p.Top() != top {
			t.Fatalf("the top of %s is %q, want %q", p, p.Top(), top)
		}
		inner := []Path{p, p.Child(texts.Draw(t, "key")), p.At(3), p.Item("Key", texts.Draw(t, "id"))}
		for i, in := range inner {
			if !in.Within(p) || !in.Within("") || !in.Within(Path("").Child(top)) {
				t.Fatalf("%s is not within %s", in, p)
			}
			if i > 0 && p.Within(in) {
				t.Fatalf("%s is within %s", p, in)
			}
		}
	})
	for _, c := range [][2]Path{{"Tags2", "Tags"}, {"Tags", "Tag"}, {"Tags[10]", "Tags[1]"}, {"A.Bc", "A.B"}} {
		if c[0].Within(c[1]) {
			t.Errorf("%s is within %s", c[0], c[1])
		}
	}
}

func TestTwoPlacesHaveTwoPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts.Draw(t, "a"), texts.Draw(t, "b")
		all := map[Path]string{}
		for _, s := range []string{a, b} {
			for how, p := range map[string]Path{"child": Path("P").Child(s), "item": Path("P").Item("Key", s), "grandchild": Path("P").Child(s).Child("x")} {
				if other, taken := all[p]; taken && other != how+" "+s {
					t.Fatalf("%s is %s and %s", p, other, how+" "+s)
				}
				all[p] = how + " " + s
			}
		}
	})
}

// A path is shown as it is: nothing in it may act on a terminal.
func TestPathsHoldOnlyWhatCanBePrinted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "key"))
		p := string(Path("").Child(s).Item("Key", s))
		if !utf8.ValidString(p) || strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("%q", p)
		}
	})
}
