package value

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const secret = "hunter2-7f3a9c21"

// secrets are values that hold the secret, in every shape.
func secrets() map[string]Value {
	return map[string]Value{
		"text":                Of(secret).AsSensitive(),
		"list":                Of([]string{"a", secret}).AsSensitive(),
		"item":                ListOf(Of("a"), Of(secret).AsSensitive()),
		"object":              Of(map[string]string{"Password": secret}).AsSensitive(),
		"key of an object":    Of(map[string]string{secret: "x"}).AsSensitive(),
		"member":              OfMap(Map{"Deep": OfMap(Map{"Password": Of(secret).AsSensitive()})}),
		"number":              Num(strings.Repeat("7", 16)).AsSensitive(),
		"beside what unknown": ListOf(Of(secret), Wait("R.Arn")).AsSensitive(),
	}
}

// ways are all ways in which a value may be written down by accident.
func ways(v Value) map[string]string {
	out := map[string]string{"String": v.String(), "GoString": v.GoString()}
	type inside struct {
		exported struct{ V Value }
		V        Value
		v        Value
		m        Map
		l        []Value
		p        *Value
		a        any
	}
	in := inside{V: v, v: v, m: Map{"k": v}, l: []Value{v}, p: &v, a: v}
	in.exported.V = v
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%p", "%t", "%10v"} {
		for what, x := range map[string]any{
			"value": v, "pointer": &v, "map": Map{"k": v}, "list": []Value{v}, "any": []any{v}, "struct": in, "pointer to struct": &in,
			"error": fmt.Errorf("write %v: %w", v, errors.New("refused")), "joined": errors.Join(fmt.Errorf(verb, v)),
		} {
			out[verb+" of a "+what] = fmt.Sprintf(verb, x)
		}
	}
	out["Sprint"], out["Sprintln"] = fmt.Sprint(v), fmt.Sprintln(v, Map{"k": v})
	for what, x := range map[string]any{"value": v, "map": Map{"k": v}, "struct": in, "pointer": &v} {
		b, _ := json.Marshal(x)
		out["JSON of a "+what] = string(b)
		b, _ = json.MarshalIndent(x, "", " ")
		out["indented JSON of a "+what] = string(b)
		b, _ = xml.Marshal(x)
		out["XML of a "+what] = string(b)
		var g, log bytes.Buffer
		gob.NewEncoder(&g).Encode(x)
		out["gob of a "+what] = g.String()
		slog.New(slog.NewTextHandler(&log, nil)).Info("m", "x", x)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "x", x)
		out["log of a "+what] = log.String()
	}
	return out
}

// S32. Neither before nor after it was sealed.
func TestASecretIsNeverWrittenDown(t *testing.T) {
	for what, v := range secrets() {
		sealed := keyed(t, "k").Seal(v)
		for when, v := range map[string]Value{"unsealed": v, "sealed": sealed, "sealed without a key": (Sealer{}).Seal(v)} {
			for way, text := range ways(v) {
				if strings.Contains(text, secret) || strings.Contains(text, strings.Repeat("7", 16)) ||
					strings.Contains(text, fmt.Sprintf("%x", secret)) {
					t.Errorf("%s, %s: %s writes %s", what, when, way, text)
				}
			}
		}
		sealed.Walk("", func(p Path, e Value) bool {
			if strings.Contains(e.Reveal(), secret) || strings.Contains(string(p), secret) {
				t.Errorf("%s: after sealing, the secret is at %s", what, p)
			}
			return true
		})
	}
}

// The test above would pass if nothing were ever written.
func TestWhatIsNotSecretIsWrittenDown(t *testing.T) {
	v := OfMap(Map{"Name": Of("orders"), "Arn": Wait("R.Arn", "S.Arn"), "Key": Of(secret).AsSensitive(), "N": Num("1.50"), "L": ListOf(Of(true), Of(nil))})
	const want = `{"Arn":(known after R.Arn, S.Arn),"Key":(sensitive),"L":[true,null],"N":1.50,"Name":"orders"}`
	for _, way := range []string{"String", "GoString", "%v of a value", "%+v of a value", "%#v of a value", "%s of a value", "%q of a value"} {
		if got := ways(v)[way]; got != want {
			t.Errorf("%s gives %s, want %s", way, got, want)
		}
	}
	const stored = `{"Arn":{"$unknown":["R.Arn","S.Arn"]},"Key":{"$sensitive":""},"L":[true,null],"N":1.50,"Name":"orders"}`
	if got := ways(v)["JSON of a value"]; got != stored {
		t.Errorf("JSON is %s, want %s", got, stored)
	}
	if (Value{}).String() != "-" {
		t.Errorf("absent is shown as %s", Value{})
	}
}

func TestAHashMatchesWhatItWasMadeFromAndNothingElse(t *testing.T) {
	s := keyed(t, "k")
	rapid.Check(t, func(t *rapid.T) {
		a, b := plainValues().Draw(t, "a"), plainValues().Draw(t, "b")
		h := s.Seal(a.AsSensitive())
		for _, other := range []Value{a, b, a.AsSensitive(), b.AsSensitive(), s.Seal(b.AsSensitive())} {
			want := Equal(a, other) || other.Kind() == Hash && Equal(a, b)
			if equal, ok := s.Matches(h, other); equal != want || !ok {
				t.Fatalf("hash of %v and %v: equal %v, comparable %v; want %v", a, other, equal, ok, want)
			}
		}
		if equal, _ := keyed(t, "z").Matches(h, a); equal {
			t.Fatalf("another key makes the same hash of %v", a)
		}
	})
	if equal, _ := s.Matches(s.Seal(Of("a\xff").AsSensitive()), Of("a\xfe")); equal {
		t.Error("bytes that are not UTF-8 are all one")
	}
}

// What cannot be compared is said to be so, never equal and never different.
func TestAHashWithoutAKeyCannotBeCompared(t *testing.T) {
	s, v := keyed(t, "k"), Of(secret).AsSensitive()
	var unsealed Value
	if err := json.Unmarshal(marshal(t, v), &unsealed); err != nil {
		t.Fatal(err)
	}
	for why, c := range map[string]struct {
		s    Sealer
		h, p Value
	}{
		"the key is gone":                   {Sealer{}, s.Seal(v), v},
		"it was sealed without a key":       {s, Sealer{}.Seal(v), v},
		"both were sealed without a key":    {s, Sealer{}.Seal(v), Sealer{}.Seal(v)},
		"the other was":                     {s, s.Seal(v), Sealer{}.Seal(v)},
		"it was stored and never sealed":    {s, unsealed, v},
		"the other was stored and not":      {s, s.Seal(v), unsealed},
		"it is no hash":                     {s, v, v},
		"neither hash nor anything at hand": {s, Value{}, v},
	} {
		if equal, ok := c.s.Matches(c.h, c.p); ok {
			t.Errorf("%s: equal %v is taken for an answer", why, equal)
		}
	}
	if _, err := NewSealer([]byte("too short")); err == nil {
		t.Error("a short key is accepted")
	}
}

func TestSealingKeepsWhatIsNotSecret(t *testing.T) {
	s := keyed(t, "k")
	rapid.Check(t, func(t *rapid.T) {
		v := anyValues().Draw(t, "value")
		sealed := s.Seal(v)
		if !v.HasSensitive() && !v.HasUnknown() && !Equal(v, sealed) {
			t.Fatalf("%v became %v", v, sealed)
		}
		if !slices.Equal(v.Waits(), sealed.Waits()) || v.HasUnknown() != sealed.HasUnknown() || v.HasSensitive() != sealed.HasSensitive() {
			t.Fatalf("%v waits for %q; sealed, for %q", v, v.Waits(), sealed.Waits())
		}
		if !alike(s.Seal(sealed), sealed) {
			t.Fatalf("sealed again, %v is %v", sealed, s.Seal(sealed))
		}
	})
	if s.SealMap(nil) != nil {
		t.Error("a nil map became another")
	}
}

func TestADigestDoesNotDependOnTheOrderOfAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.MapOfN(texts, anyValues(), 0, 20).Draw(t, "map")
		keys := rapid.Permutation(slices.Sorted(maps.Keys(m))).Draw(t, "order")
		again := Map{}
		for _, k := range keys {
			again[k] = m[k]
		}
		if DigestMap(m) != DigestMap(again) {
			t.Fatalf("%v has two digests", Map(m))
		}
	})
}

func TestADigestTellsValuesApart(t *testing.T) {
	list := []Value{
		{}, Of(true), Of("true"), Num("1"), Of("1"), Num("1.0"), ListOf(), ListOf(ListOf()), OfMap(nil), Of([]string{"a", "b"}),
		Of([]string{"a,b"}), Of([]string{`a","b`}), Of(map[string]string{"a": "b"}), Of(map[string]string{`a":"b`: ""}), Wait("R"), Wait("S"),
		HashOf("aa"), HashOf("bb"), Of("aa"), Of(map[string]string{"$sensitive": "aa"}), Of(map[string]any{"$unknown": []any{"R"}}), Of("null"),
		Of("\xff"), Of("\xfe"),
	}
	for i, a := range list {
		for _, b := range list[:i] {
			if Digest(a) == Digest(b) {
				t.Errorf("%s and %s have one digest", a, b)
			}
		}
	}
}
