package value

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// texts are what goes wrong: markers, separators, escape sequences, what looks like another kind.
var texts = rapid.OneOf(rapid.StringN(0, 8, 24), rapid.SampledFrom([]string{
	"", "true", "null", "0", "1e3", "a.b", "[0]", `"`, "\x1b[2J", "é", "$sensitive", "$unknown", "$plain", "(sensitive)", "no-key",
}))

// numbers are JSON's.
var numbers = rapid.OneOf(
	rapid.Map(rapid.Int64(), func(n int64) string { return Of(n).Reveal() }),
	rapid.StringMatching(`-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,6})?([eE][+-]?[0-9]{1,3})?`),
)

// plainValues have nothing in them that JSON cannot say.
func plainValues() *rapid.Generator[Value] {
	return tree(rapid.OneOf(
		rapid.Just(Of(nil)),
		rapid.Map(rapid.Bool(), func(b bool) Value { return Of(b) }),
		rapid.Map(numbers, Num),
		rapid.Map(texts, func(s string) Value { return Of(s) }),
	), 3)
}

// anyValues may be sensitive or unknown, as a whole or in parts.
func anyValues() *rapid.Generator[Value] {
	leaf := rapid.OneOf(plainValues(), rapid.Map(rapid.SliceOfN(texts, 0, 3), func(refs []string) Value { return Wait(refs...) }))
	return tree(rapid.Custom(func(t *rapid.T) Value {
		v := leaf.Draw(t, "leaf")
		if rapid.Bool().Draw(t, "sensitive") {
			v = v.AsSensitive()
		}
		return v
	}), 2)
}

func tree(leaf *rapid.Generator[Value], depth int) *rapid.Generator[Value] {
	if depth == 0 {
		return leaf
	}
	below := tree(leaf, depth-1)
	return rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(below, 0, 3), func(l []Value) Value { return ListOf(l...) }),
		rapid.Map(rapid.MapOfN(texts, below, 0, 3), func(m map[string]Value) Value { return OfMap(m) }))
}

func marshal(t interface{ Fatal(...any) }, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func keyed(t interface{ Fatal(...any) }, key string) Sealer {
	s, err := NewSealer([]byte(strings.Repeat(key, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatIsSealedComesBackFromJSONAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := keyed(t, "k").Seal(anyValues().Draw(t, "value"))
		var back Value
		if err := json.Unmarshal(marshal(t, v), &back); err != nil {
			t.Fatal(err)
		}
		if !alike(v, back) {
			t.Fatalf("%s came back as %s", marshal(t, v), marshal(t, back))
		}
		if Digest(v) != Digest(back) { // decisions and retries compare what was stored with what was not
			t.Fatalf("the digest of %v moved", v)
		}
	})
}

// alike is identity: an Unknown is like one that waits for the same.
func alike(a, b Value) bool {
	if a.Kind() != b.Kind() || a.Sensitive() != b.Sensitive() {
		return false
	}
	switch a.Kind() {
	case Unknown:
		return slices.Equal(a.Waits(), b.Waits())
	case List:
		return slices.EqualFunc(a.Items(), b.Items(), alike)
	case Object:
		return slices.Equal(a.Fields().Keys(), b.Fields().Keys()) &&
			!slices.ContainsFunc(a.Fields().Keys(), func(k string) bool { return !alike(a.Get(k), b.Get(k)) })
	}
	return a.Reveal() == b.Reveal()
}

func TestEqualIsReflexiveAndSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyValues().Draw(t, "a"), anyValues().Draw(t, "b")
		if Equal(a, a) == a.HasUnknown() {
			t.Fatalf("%v equals itself: %v; an unknown equals nothing, everything else itself", a, Equal(a, a))
		}
		if Equal(a, b) != Equal(b, a) {
			t.Fatalf("%v and %v are equal in one order only", a, b)
		}
		if !a.HasUnknown() && !Equal(a, a.AsSensitive()) {
			t.Fatalf("%v does not equal itself marked sensitive", a)
		}
	})
}

func TestNumbersAreEqualWhenTheyAreTheSameNumber(t *testing.T) {
	for why, c := range map[string]struct {
		a, b string
		want bool
	}{
		"a fraction of zeros adds nothing":                {"1.0", "1", true},
		"an exponent is a way to write it":                {"1e3", "1000", true},
		"a negative exponent too":                         {"25E-1", "2.50", true},
		"zero has no sign":                                {"-0", "0.0", true},
		"signs count":                                     {"-1", "1", false},
		"integers that one float stands for are not one":  {"9007199254740993", "9007199254740992", false},
		"integers beyond 64 bits compare exactly":         {"18446744073709551617", "18446744073709551616", false},
		"and are equal to themselves in another spelling": {"18446744073709551617", "18446744073709551617.00", true},
		"text that is no number is compared as text":      {"x", "x", true},
		"and equals no number":                            {"", "0", false},
		"hexadecimal is no number of JSON":                {"0x10", "16", false},
		"an exponent without bound costs nothing":         {"1e999999999999", "1e999999999998", false},
	} {
		t.Run(why, func(t *testing.T) {
			if EqualNumber(c.a, c.b) != c.want || EqualNumber(c.b, c.a) != c.want {
				t.Errorf("%q and %q: want equal %v, in both orders", c.a, c.b, c.want)
			}
		})
	}
}

func TestIntegers(t *testing.T) {
	for why, c := range map[string]struct {
		v    Value
		want int64
		ok   bool
	}{
		"a number":                         {Num("14"), 14, true},
		"a number written as text":         {Of("14"), 14, true},
		"a sensitive one":                  {Num("14").AsSensitive(), 14, true},
		"a number with an exponent":        {Num("1e2"), 100, true},
		"a fraction of zeros":              {Num("3600.0"), 3600, true},
		"zero in another spelling":         {Num("0.0"), 0, true},
		"the largest":                      {Num("9223372036854775807"), 9223372036854775807, true},
		"one beyond it is none":            {Num("9223372036854775808"), 0, false},
		"far beyond it is none":            {Num("1e300"), 0, false},
		"a fraction is none":               {Num("1.5"), 0, false},
		"infinity is none":                 {Of("Inf"), 0, false},
		"a boolean is none":                {Of(true), 0, false},
		"the hash of a secret number none": {HashOf("14"), 0, false},
	} {
		t.Run(why, func(t *testing.T) {
			if n, ok := c.v.Int(); n != c.want || ok != c.ok {
				t.Errorf("%d, %v; want %d, %v", n, ok, c.want, c.ok)
			}
		})
	}
}

// ParseJSON reads documents of others, in which our markers mean nothing.
func TestParsedDocumentsHaveNoMarkers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := plainValues().Draw(t, "document")
		text := string(marshalData(t, v))
		got, err := ParseJSON([]byte(text))
		if err != nil || !alike(got, v) {
			t.Fatalf("%s was read as %v, %v", text, got, err)
		}
	})
	for why, text := range map[string]string{
		"nothing":             ``,
		"half a document":     `{"a":`,
		"two documents":       `{} {}`,
		"words after a value": `1 x`,
	} {
		if _, err := ParseJSON([]byte(text)); err == nil {
			t.Errorf("%s is accepted", why)
		}
		var v Value
		if err := v.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s is accepted from a store", why)
		}
	}
}

// marshalData writes v as a service would: an object is an object, whatever its keys.
func marshalData(t *rapid.T, v Value) []byte { return marshal(t, v.Plain()) }

func TestWalkVisitsEverythingOnceInOrder(t *testing.T) {
	v := OfMap(Map{"b": ListOf(Of(1), Wait("R.Arn")), "a": Of("x").AsSensitive(), "c d": OfMap(Map{"e": Of(nil)}).AsSensitive()})
	var got []string
	v.Walk("P", func(p Path, e Value) bool { got = append(got, string(p)+" "+e.Kind().String()); return true })
	want := []string{"P object", "P.a string", "P.b list", "P.b[0] number", "P.b[1] unknown", `P["c d"] object`, `P["c d"].e null`}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	got = nil
	v.Walk("", func(p Path, _ Value) bool { got = append(got, string(p)); return p == "" })
	if d := cmp.Diff([]string{"", "a", "b", `["c d"]`}, got); d != "" {
		t.Errorf("where visit says no, it does not go on inside (-want +got):\n%s", d)
	}
}

func TestWhatIsInsideIsSeenFromOutside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValues().Draw(t, "value")
		var unknown, sensitive bool
		waits := map[string]bool{}
		v.Walk("", func(_ Path, e Value) bool {
			unknown, sensitive = unknown || e.Kind() == Unknown, sensitive || e.Sensitive()
			if e.Kind() == Unknown {
				for _, w := range e.Waits() {
					waits[w] = true
				}
			}
			return true
		})
		if v.HasUnknown() != unknown || v.HasSensitive() != sensitive || v.HasHash() {
			t.Fatalf("unknown %v, sensitive %v, hash %v of %v", v.HasUnknown(), v.HasSensitive(), v.HasHash(), v)
		}
		if got := v.Waits(); len(got) != len(waits) || !slices.IsSorted(got) {
			t.Fatalf("waits for %q, want %v sorted", got, waits)
		}
		if !slices.Equal(v.Waits(), v.AsSensitive().Waits()) || v.HasUnknown() != v.AsSensitive().HasUnknown() {
			t.Fatalf("marked sensitive, %v waits for %q", v, v.AsSensitive().Waits())
		}
		v.AsSensitive().Walk("", func(p Path, e Value) bool {
			if !e.Sensitive() {
				t.Fatalf("%s is not sensitive though the whole is", p)
			}
			return true
		})
	})
}

func TestWhatIsNotThereCannotBeSensitive(t *testing.T) {
	if v := (Value{}).AsSensitive(); v.Sensitive() || v.IsSet() || keyed(t, "k").Seal(v).IsSet() {
		t.Errorf("absent became %v", v)
	}
}

func TestMapsAreCopiedOnChange(t *testing.T) {
	m := Map{"a": Of(1), "b": Of(2)}
	if d := cmp.Diff(Map{"a": Of(3), "b": Of(2)}, m.With("a", Of(3))); d != "" {
		t.Errorf("with (-want +got):\n%s", d)
	}
	if d := cmp.Diff(Map{"b": Of(2)}, m.With("a", Value{})); d != "" {
		t.Errorf("with absent (-want +got):\n%s", d)
	}
	if d := cmp.Diff(Map{"b": Of(2)}, m.Without("a", "x")); d != "" {
		t.Errorf("without (-want +got):\n%s", d)
	}
	if d := cmp.Diff(Map{"a": Of(1), "b": Of(2)}, m); d != "" {
		t.Errorf("the first map changed (-want +got):\n%s", d)
	}
	if m.Text("a") != "1" || m.Text("x") != "" || (Map{"s": Of("x").AsSensitive()}).Text("s") != "" {
		t.Error("Text gives what is plain and set, and nothing else")
	}
}
