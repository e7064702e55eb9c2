package diff

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

const secretText = "hunter2-hunter2"

// anything draws a value that needs not fit any type.
func anything(depth int) *rapid.Generator[value.Value] {
	return rapid.Custom(func(t *rapid.T) value.Value {
		kinds := []string{"null", "bool", "number", "string", "secret", "unknown", "json"}
		if depth > 0 {
			kinds = append(kinds, "list", "object", "keyed")
		}
		switch rapid.SampledFrom(kinds).Draw(t, "kind") {
		case "null":
			return value.Of(nil)
		case "bool":
			return value.Of(rapid.Bool().Draw(t, "bool"))
		case "number":
			return value.Num(rapid.SampledFrom([]string{"0", "1", "14", "1.0", "1e3", "x"}).Draw(t, "number"))
		case "string":
			return value.Of(rapid.SampledFrom([]string{"", "a", "A", "14", "true", "%ZZ", "arn:x:*", "AROAX"}).Draw(t, "string"))
		case "json":
			return value.Of(`{"Statement":{"Action":"a"}}`)
		case "secret":
			return value.Of(secretText).AsSensitive()
		case "unknown":
			return value.Wait("A.B")
		case "list":
			return value.ListOf(rapid.SliceOfN(anything(depth-1), 0, 3).Draw(t, "items")...)
		case "keyed":
			key := rapid.SampledFrom([]string{"Key", "PolicyName", "IndexName"}).Draw(t, "key")
			return value.ListOf(value.OfMap(value.Map{key: value.Of("k"), "Value": anything(depth-1).Draw(t, "value")}))
		}
		names := rapid.SampledFrom([]string{"Statement", "Principal", "AWS", "Action", "Key", "Value", "Variables", "PolicyName", "Sid", "a"})
		return value.OfMap(rapid.MapOfN(names, anything(depth-1), 0, 3).Draw(t, "members"))
	})
}

// fitting draws a value of the field's type.
func fitting(f *resource.Field) *rapid.Generator[value.Value] {
	return rapid.Custom(func(t *rapid.T) value.Value {
		switch {
		case f.Equal == resource.IAMPolicy:
			return rapid.SampledFrom([]value.Value{
				mustJSONRapid(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["a","b"],"Principal":{"AWS":"123456789012"}}]}`),
				mustJSONRapid(`{"Statement":{"Action":"a"}}`)}).Draw(t, "policy")
		case f.Type == resource.TJSON:
			return value.OfMap(value.Map{"a": value.Of(rapid.IntRange(0, 3).Draw(t, "n"))})
		case f.Type == resource.TInt && len(f.Ints) > 0:
			return value.Of(rapid.SampledFrom(f.Ints).Draw(t, "int"))
		case f.Type == resource.TInt:
			return value.Of(rapid.IntRange(3600, 43200).Draw(t, "int"))
		case f.Type == resource.TBool:
			return value.Of(rapid.Bool().Draw(t, "bool"))
		case f.Type == resource.TList && f.ItemKey != "":
			it := fitting(elem(f)).Draw(t, "item").Fields()
			return value.ListOf(value.OfMap(it.With(f.ItemKey, value.Of("one"))), value.OfMap(it.With(f.ItemKey, value.Of("two"))))
		case f.Type == resource.TList:
			return value.ListOf(rapid.SliceOfN(fitting(elem(f)), 0, 3).Draw(t, "items")...)
		case f.Type == resource.TMap:
			return value.OfMap(rapid.MapOfN(rapid.SampledFrom([]string{"A", "B", "c.d"}), fitting(elem(f)), 0, 3).Draw(t, "members"))
		case f.Type == resource.TObject:
			m := value.Map{}
			for i := range f.Fields {
				if rapid.Bool().Draw(t, "set") {
					m[f.Fields[i].Name] = fitting(&f.Fields[i]).Draw(t, "member")
				}
			}
			return value.OfMap(m)
		case len(f.Enum) > 0:
			return value.Of(rapid.SampledFrom(f.Enum).Draw(t, "enum"))
		}
		return value.Of(rapid.SampledFrom([]string{"/", "/a/"}).Draw(t, "string"))
	})
}

func mustJSONRapid(text string) value.Value {
	v, err := value.ParseJSON([]byte(text))
	if err != nil {
		panic(err)
	}
	return v
}

func drawParams(t *rapid.T, s *resource.Schema, of func(*resource.Field) *rapid.Generator[value.Value], what string) value.Map {
	m := value.Map{}
	for i := range s.Params {
		if rapid.Bool().Draw(t, what+" sets "+s.Params[i].Name) {
			m[s.Params[i].Name] = of(&s.Params[i]).Draw(t, what)
		}
	}
	return m
}

func TestComparedWithItselfEverythingMatches(t *testing.T) {
	s := sealer(t)
	rapid.Check(t, func(t *rapid.T) {
		schema := rapid.SampledFrom(schemas).Draw(t, "schema")
		x := drawParams(t, schema, fitting, "params")
		res := Compare(Input{Schema: schema, Desired: x, Recorded: s.SealMap(x), Sealer: s, Observed: &resource.Observation{Params: x}})
		seen := map[string]bool{}
		for _, f := range res.Fields {
			seen[f.Path.Top()] = true
			if f.Verdict != Match && f.Reason != whyWriteOnly {
				t.Fatalf("%s", told(f))
			}
		}
		for name := range x {
			if !seen[name] {
				t.Fatalf("%s has no line", name)
			}
		}
	})
}

func TestEqualIsSymmetric(t *testing.T) {
	s := sealer(t)
	rapid.Check(t, func(t *rapid.T) {
		schema := rapid.SampledFrom(schemas).Draw(t, "schema")
		f := rapid.SampledFrom(schema.Params).Draw(t, "field")
		either := rapid.OneOf(anything(3), fitting(&f))
		a, b := either.Draw(t, "a"), either.Draw(t, "b")
		if rapid.Bool().Draw(t, "sealed") {
			a = s.Seal(a)
		}
		if Equal(&f, a, b, s) != Equal(&f, b, a, s) {
			t.Fatalf("%s: %v and %v", f.Name, a, b)
		}
	})
}

// S32, and never a panic: whatever comes in, the text of a sensitive value is in no Field.
func TestNothingSensitiveIsShown(t *testing.T) {
	s := sealer(t)
	rapid.Check(t, func(t *rapid.T) {
		schema := rapid.SampledFrom(schemas).Draw(t, "schema")
		mixed := func(f *resource.Field) *rapid.Generator[value.Value] { return rapid.OneOf(anything(3), fitting(f)) }
		desired := drawParams(t, schema, mixed, "desired")
		in := Input{Schema: schema, Desired: desired, Sealer: s, Recorded: s.SealMap(drawParams(t, schema, mixed, "recorded")),
			Observed: &resource.Observation{Params: drawParams(t, schema, mixed, "observed")}}
		if rapid.Bool().Draw(t, "observed is what config asks for, readable") {
			in.Observed.Params = value.Map{}
			for k, v := range desired {
				in.Observed.Params[k] = bare(v)
			}
		}
		if rapid.Bool().Draw(t, "without the key") {
			in.Sealer = value.Sealer{}
		}
		res := Compare(in)
		text, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		for _, shown := range []string{string(text), fmt.Sprintf("%+v", res), fmt.Sprint(res)} {
			if strings.Contains(shown, secretText) {
				t.Fatalf("shown: %s", shown)
			}
		}
		for _, f := range res.Fields {
			for _, v := range []value.Value{f.Desired, f.Observed, f.Recorded} {
				v.Walk("", func(_ value.Path, e value.Value) bool {
					if e.Reveal() == secretText {
						t.Fatalf("%s keeps a readable secret", f.Path)
					}
					return true
				})
			}
		}
	})
}

// bare is what a service returns for v: the same, readable and unmarked.
func bare(v value.Value) value.Value {
	switch v.Kind() {
	case value.List:
		l := make([]value.Value, len(v.Items()))
		for i, e := range v.Items() {
			l[i] = bare(e)
		}
		return value.ListOf(l...)
	case value.Object:
		m := value.Map{}
		for k, e := range v.Fields() {
			m[k] = bare(e)
		}
		return value.OfMap(m)
	case value.String:
		return value.Of(v.Reveal())
	}
	return v
}
