package record

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// filled returns a Record in which every field, of every depth, has a value that is not its zero.
func filled(t *testing.T) Record {
	var r Record
	fill(t, reflect.ValueOf(&r).Elem(), "Record")
	return r
}

func fill(t *testing.T, v reflect.Value, at string) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2031, 2, 3, 4, 5, 6, 789, time.UTC)))
		return
	case value.Value:
		v.Set(reflect.ValueOf(value.Of(map[string]any{"a": []any{1.5, "x", true, nil}, "b": value.HashOf("h"), "c": value.Wait("A.Arn")})))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), at)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), at+"."+v.Type().Field(i).Name)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), at)
		fill(t, v.Index(1), at)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, k := range []string{"One", "two \n"} {
			e := reflect.New(v.Type().Elem()).Elem()
			fill(t, e, at)
			v.SetMapIndex(reflect.ValueOf(k), e)
		}
	case reflect.String:
		v.SetString(at + " \"\\\n\u001f<é\U0001F600")
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(-len(at)))
	case reflect.Uint64:
		v.SetUint(1<<64 - 1)
	case reflect.Bool:
		v.SetBool(true)
	default:
		t.Fatalf("%s is a %s, which this test cannot fill", at, v.Kind())
	}
}

// encode holds that Encode gives what json.Marshal gives.
func encode(t rapid.TB, r Record) string {
	t.Helper()
	want, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Encode(&r)
	if err != nil || string(got) != string(want) {
		t.Fatalf("Encode gives\n%s, %v; want\n%s", got, err, want)
	}
	return string(want)
}

func TestEncodeIsMarshal(t *testing.T) {
	empty := Record{Intent: &Intent{Preflight: Preflight{Identity: &resource.Identity{}}}, InFlight: &InFlight{}, Former: []Intent{{}, {}},
		DependsOn: []Ref{{}}, Output: value.Map{"": value.Value{}}}
	nothing := Record{Key: resource.Key{}, Output: value.Map{}, Params: value.Map{}, Former: []Intent{}, DependsOn: []Ref{},
		Intent: &Intent{Params: value.Map{}, Attempts: []Attempt{}, Preflight: Preflight{Existing: []string{}}}}
	elsewhere := Record{UpdatedAt: time.Date(2031, 2, 3, 4, 5, 6, 7, time.FixedZone("", 3600)), Identity: resource.Identity{CreatedAt: time.Unix(9, 0)}}
	for _, r := range []Record{filled(t), {}, empty, nothing, elsewhere} {
		encode(t, r)
	}
	if _, err := Encode(&Record{UpdatedAt: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}); err == nil {
		t.Error("a time that JSON does not have is written")
	}
}

// A new field of Record has to be added to Decode, or every record that has it is read the slow way.
func TestEveryFieldIsReadTheFastWay(t *testing.T) {
	for why, r := range map[string]Record{"all fields": filled(t), "none": {}} {
		text := encode(t, r)
		s := scanner{text: text}
		var got Record
		if s.record(&got); !s.ended() {
			t.Errorf("%s: it stops before %q", why, text[s.at:])
		}
	}
}

// same holds that Decode gives what json.Unmarshal gives.
func same(t rapid.TB, text string) {
	t.Helper()
	got, err := Decode(text)
	want, wantErr := decodeAny(text)
	if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() || err == nil && !reflect.DeepEqual(got, want) {
		t.Fatalf("%s\n got %+v, %v\nwant %+v, %v", text, got, err, want, wantErr)
	}
}

func TestDecodeIsUnmarshal(t *testing.T) {
	full := encode(t, filled(t))
	for why, text := range map[string]string{
		"all fields":                   full,
		"nothing":                      "",
		"an empty object":              "{}",
		"null":                         "null",
		"spaces":                       ` { "id" : "A" } `,
		"more after it":                `{"id":"A"}{}`,
		"another order":                `{"type":"T","id":"A"}`,
		"a member twice":               `{"id":"A","id":"B"}`,
		"another case":                 `{"ID":"A"}`,
		"a member nobody knows":        `{"id":"A","new":{"a":[1]}}`,
		"a null string":                `{"id":null}`,
		"a null object":                `{"stack":null,"id":"A"}`,
		"null maps, lists and intents": `{"key":null,"output":null,"intent":null,"former":null,"dependsOn":null}`,
		"empty maps and lists":         `{"key":{},"output":{},"former":[],"dependsOn":[]}`,
		"values of every kind":         `{"params":{"a":null,"b":true,"c":false,"d":-0,"e":12,"f":"x","g":[],"h":{},"i":[{"$sensitive":"s"}]}}`,
		"numbers that are not whole":   `{"params":{"a":1.5,"b":1e3,"c":-2E-7}}`,
		"a number with a zero before":  `{"params":{"a":01}}`,
		"a lone minus":                 `{"gen":-}`,
		"a fraction for a whole":       `{"gen":1.0}`,
		"a number too large":           `{"rev":18446744073709551616}`,
		"a negative revision":          `{"rev":-1}`,
		"a member twice in a map":      `{"params":{"a":1,"a":{"b":2}}}`,
		"a comma too many":             `{"params":{"a":1,}}`,
		"a comma too early":            `{,"id":"A"}`,
		"a comma in a list":            `{"dependsOn":[{"id":"A","gen":1},]}`,
		"a nested value that is none":  `{"params":{"a":{"b":x}}}`,
		"a nested value without end":   `{"params":{"a":{"b":[1}}`,
		"brackets that do not match":   `{"params":{"a":[1}}}`,
		"braces in strings":            `{"params":{"a":{"}]\"":"{["}},"note":"}"}`,
		"escapes that JSON has":        `{"id":"\"\\\/\b\f\n\r\t\u0041\ud83d\ude00"}`,
		"escapes that only Go has":     `{"id":"\a\x41"}`,
		"half a surrogate":             `{"id":"\ud83d"}`,
		"a control character":          "{\"id\":\"a\nb\"}",
		"bytes that are not UTF-8":     "{\"id\":\"a\xffb\"}",
		"an escape at the end":         `{"id":"\`,
		"a string without end":         `{"id":"A`,
		"a time in another zone":       `{"ackedAt":"2031-02-03T04:05:06+02:00"}`,
		"a time that is none":          `{"ackedAt":"2031-02-30T04:05:06Z"}`,
		"a time with a one-digit hour": `{"ackedAt":"2031-02-03T4:05:06Z"}`,
		"a null time":                  `{"ackedAt":null}`,
		"a boolean that is none":       `{"intent":{"deleteFirst":1}}`,
	} {
		t.Run(why, func(t *testing.T) { same(t, text) })
	}
}

// Whatever damage does to the text of a record: it is refused where json.Unmarshal refuses it, and else read as that does.
func TestDecodeIsUnmarshalOfDamagedText(t *testing.T) {
	full := encode(t, filled(t))
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(full)
		for range rapid.IntRange(1, 3).Draw(t, "damages") {
			at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
			switch rapid.IntRange(0, 3).Draw(t, "how") {
			case 0:
				text[at] = rapid.Byte().Draw(t, "byte")
			case 1:
				text[at] = rapid.SampledFrom([]byte(`{}[]",:\ n0-1u`)).Draw(t, "byte")
			case 2:
				text = text[:at+1]
			case 3:
				text = append(text[:at], text[min(len(text)-1, at+rapid.IntRange(1, 40).Draw(t, "cut")):]...)
			}
		}
		same(t, string(text))
	})
}

func TestDecodeIsUnmarshalOfAnyValues(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\u2028", "a/b", "<&>", strings.Repeat("é", 40)}))
	rapid.Check(t, func(t *rapid.T) {
		r := Record{ID: text.Draw(t, "id"), Claim: text.Draw(t, "claim"), Params: value.Map{}}
		for i := range rapid.IntRange(0, 9).Draw(t, "params") {
			r.Params[text.Draw(t, "name")] = rapid.OneOf(
				rapid.Map(text, func(s string) value.Value { return value.Of(s) }),
				rapid.Map(rapid.Float64Range(-1e9, 1e9), func(f float64) value.Value { return value.Of(f) }),
				rapid.Map(rapid.SliceOf(text), func(l []string) value.Value { return value.Of(l) }),
				rapid.Just(value.Of(nil)), rapid.Just(value.OfMap(nil)), rapid.Just(value.Of(fmt.Sprint(i)).AsSensitive()),
			).Draw(t, "value")
		}
		same(t, encode(t, r))
	})
}

// BenchmarkRecord reads and writes one record of a small file, by hand and with encoding/json.
func BenchmarkRecord(b *testing.B) {
	path, at := "/srv/site/out/file-00007.txt", time.Date(2031, 2, 3, 4, 5, 6, 789, time.UTC)
	r := Record{Stack: StackID{Name: "site", Scope: resource.Scope{Partition: resource.LocalPartition, Account: "0123456789abcdef"}}, ID: "File00007",
		Type: "Std::FS::File", Gen: 1, Rev: 2, Seq: 22, Status: Made, Origin: ByCreate, Key: resource.Key{"Machine": "0123456789abcdef", "Path": path},
		Physical: path, Claim: "Std::FS::File\x1fmachine\x1f" + path, Nonce: "0011223344556677", Output: value.Map{"Path": value.Of(path), "Size": value.Of(37)},
		Params: value.Map{"Path": value.Of(path), "Content": value.Of("some text\n")}, CreatedBy: "e-1", AckedAt: at, TouchedAt: at, UpdatedAt: at,
		Intent: &Intent{Nonce: "0011223344556677", Execution: "e-1", At: at, Attempts: []Attempt{{N: 1, Execution: "e-1", SentAt: at, Outcome: Confirmed}}}}
	text, err := Encode(&r)
	if err != nil {
		b.Fatal(err)
	}
	for name, one := range map[string]func() error{
		"Decode":    func() error { _, err := Decode(string(text)); return err },
		"Unmarshal": func() error { _, err := decodeAny(string(text)); return err },
		"Encode":    func() error { _, err := Encode(&r); return err },
		"Marshal":   func() error { _, err := json.Marshal(&r); return err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := one(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
