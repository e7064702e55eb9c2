// Package value holds config-shaped data: what a template says, what a record keeps and what a read returned.
//
// Its one rule: a value that must not be shown cannot be shown by accident. Every way of printing or encoding a
// sensitive value writes a marker or a keyed hash; only Reveal gives the text back.
//
// The package imports nothing of ours.
package value

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Kind says which shape a Value has.
type Kind uint8

const (
	// Absent is the zero Value: not set at all. It is different from Null and from an empty string.
	Absent Kind = iota
	Null
	Bool
	Number // decimal text as written; compare with EqualNumber
	String
	List
	Object
	// Unknown waits for something that does not exist yet; Waits names what.
	Unknown
	// Hash is all that is left of a sensitive value after Seal: a keyed hash of it.
	Hash
)

// String returns the kind as a word for messages.
func (k Kind) String() string {
	return [...]string{"absent", "null", "boolean", "number", "string", "list", "object", "unknown", "sensitive"}[k]
}

// Value is immutable: every change makes a new one. The zero Value is Absent.
type Value struct {
	kind      Kind
	sensitive bool
	text      string // Bool: "true"/"false"; Number, String, Hash: the text
	data      any    // List: []Value; Object: Map; Unknown: []string; of a sensitive value: **hidden
}

// hidden is the text or the members of a sensitive value. It is behind two pointers because fmt does not ask a Formatter
// about unexported fields of other structs, nor for %p: it prints what it finds, follows one pointer, and prints the
// address in it.
type hidden struct {
	text string
	data any
}

func (v Value) content() (text string, data any) {
	if h, ok := v.data.(**hidden); ok {
		return (*h).text, (*h).data
	}
	return v.text, v.data
}

// Map is a config-shaped object: property name to value. A key that is missing is Absent.
type Map map[string]Value

// Of makes a Value from plain Go data as encoding/json decodes it (nil, bool, string, float64, json.Number-like
// strings are not guessed), from ints, []string, []any, map[string]any, map[string]string, Value and Map.
// Anything else panics: it is a programming error.
func Of(v any) Value {
	switch v := v.(type) {
	case nil:
		return Value{kind: Null}
	case Value:
		return v
	case Map:
		return OfMap(v)
	case bool:
		return Value{kind: Bool, text: strconv.FormatBool(v)}
	case string:
		return Value{kind: String, text: v}
	case int:
		return Num(strconv.Itoa(v))
	case int32:
		return Num(strconv.FormatInt(int64(v), 10))
	case int64:
		return Num(strconv.FormatInt(v, 10))
	case float64:
		return Num(strconv.FormatFloat(v, 'f', -1, 64))
	case []Value:
		return ListOf(v...)
	case []string:
		l := make([]Value, len(v))
		for i, s := range v {
			l[i] = Of(s)
		}
		return ListOf(l...)
	case []any:
		l := make([]Value, len(v))
		for i, e := range v {
			l[i] = Of(e)
		}
		return ListOf(l...)
	case map[string]string:
		m := make(Map, len(v))
		for k, s := range v {
			m[k] = Of(s)
		}
		return OfMap(m)
	case map[string]any:
		m := make(Map, len(v))
		for k, e := range v {
			m[k] = Of(e)
		}
		return OfMap(m)
	}
	panic("value.Of: unsupported type")
}

// Num makes a Number from decimal text, kept as written.
func Num(text string) Value { return Value{kind: Number, text: text} }

// ListOf makes a List. It keeps v; do not change it afterwards.
func ListOf(v ...Value) Value {
	if v == nil {
		v = []Value{}
	}
	return Value{kind: List, data: v}
}

// OfMap makes an Object. It keeps m; do not change it afterwards.
func OfMap(m Map) Value {
	if m == nil {
		m = Map{}
	}
	return Value{kind: Object, data: m}
}

// Wait makes an Unknown that waits for the named attributes ("OrdersRole.Arn").
func Wait(refs ...string) Value { return Value{kind: Unknown, data: append([]string{}, refs...)} }

// HashOf makes the Hash value that Seal leaves; text is the keyed hash itself.
func HashOf(text string) Value { return Value{kind: Hash, sensitive: true, text: text} }

// Kind returns the shape.
func (v Value) Kind() Kind { return v.kind }

// IsSet reports whether the value is anything but Absent.
func (v Value) IsSet() bool { return v.kind != Absent }

// Sensitive reports whether the value itself is marked; see HasSensitive for what is inside.
func (v Value) Sensitive() bool { return v.sensitive }

// AsSensitive returns v marked sensitive, and everything inside it too. What is Absent stays so: there is nothing to hide.
func (v Value) AsSensitive() Value {
	text, data := v.content()
	switch d := data.(type) {
	case []Value:
		l := make([]Value, len(d))
		for i := range d {
			l[i] = d[i].AsSensitive()
		}
		data = l
	case Map:
		m := make(Map, len(d))
		for k, e := range d {
			m[k] = e.AsSensitive()
		}
		data = m
	}
	switch v.kind {
	case Absent:
		return v
	case Unknown, Hash: // have no text of their own
		v.sensitive = true
		return v
	}
	h := &hidden{text, data}
	return Value{kind: v.kind, sensitive: true, data: &h}
}

// Reveal returns the text of a String, Number, Bool or Hash, sensitive or not. It is the only way to a sensitive
// text, so that every use can be found.
func (v Value) Reveal() string { text, _ := v.content(); return text }

// Str returns the text of a String, Number or Bool that is not sensitive, and whether there was one.
func (v Value) Str() (string, bool) {
	if v.sensitive || (v.kind != String && v.kind != Number && v.kind != Bool) {
		return "", false
	}
	return v.text, true
}

// IsTrue reports whether the value is true, as a boolean or as the string CloudFormation also takes.
func (v Value) IsTrue() bool { return (v.kind == Bool || v.kind == String) && v.Reveal() == "true" }

// Int returns a Number or numeric String as an integer.
func (v Value) Int() (int64, bool) {
	if v.kind != Number && v.kind != String {
		return 0, false
	}
	text := v.Reveal()
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	d, ok := parseDecimal(text)
	if !ok || d.exp < 0 || len(d.digits)+d.exp > 19 { // no int64 is longer
		return 0, false
	}
	n, err := strconv.ParseInt(d.sign+"0"+d.digits+strings.Repeat("0", d.exp), 10, 64)
	if err != nil {
		return 0, false
	}
	return n, true
}

// Items returns the elements of a List, else nil. Do not change them.
func (v Value) Items() []Value { _, data := v.content(); l, _ := data.([]Value); return l }

// Fields returns the members of an Object, else nil. Do not change them.
func (v Value) Fields() Map { _, data := v.content(); m, _ := data.(Map); return m }

// Get returns the member of an Object, Absent when there is none.
func (v Value) Get(key string) Value { return v.Fields()[key] }

// Waits returns what the Unknowns in v wait for, sorted, without repeats.
func (v Value) Waits() []string {
	var out []string
	v.Walk("", func(_ Path, e Value) bool {
		if e.kind == Unknown {
			out = append(out, e.data.([]string)...)
		}
		return true
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// HasUnknown reports whether v or anything inside it is Unknown.
func (v Value) HasUnknown() bool { return v.any(func(e Value) bool { return e.kind == Unknown }) }

// HasSensitive reports whether v or anything inside it is sensitive.
func (v Value) HasSensitive() bool { return v.any(func(e Value) bool { return e.sensitive }) }

// HasHash reports whether v or anything inside it is a Hash, whose text nobody can give back.
func (v Value) HasHash() bool { return v.any(func(e Value) bool { return e.kind == Hash }) }

func (v Value) any(ok func(Value) bool) bool {
	if ok(v) {
		return true
	}
	_, data := v.content()
	switch d := data.(type) {
	case []Value:
		return slices.ContainsFunc(d, func(e Value) bool { return e.any(ok) })
	case Map:
		for _, e := range d {
			if e.any(ok) {
				return true
			}
		}
	}
	return false
}

// Walk calls visit for v and, where visit returns true, for everything inside it, in sorted order.
func (v Value) Walk(at Path, visit func(Path, Value) bool) {
	if !visit(at, v) {
		return
	}
	_, data := v.content()
	switch d := data.(type) {
	case []Value:
		for i, e := range d {
			e.Walk(at.At(i), visit)
		}
	case Map:
		for _, k := range d.Keys() {
			d[k].Walk(at.Child(k), visit)
		}
	}
}

// Equal reports whether both have the same shape and text. Sensitivity takes no part; a Hash equals only the same
// Hash; an Unknown equals nothing, not even itself. Numbers are equal when they are the same number.
func Equal(a, b Value) bool {
	if a.kind != b.kind || a.kind == Unknown {
		return false
	}
	switch a.kind {
	case Absent, Null:
		return true
	case Number:
		return EqualNumber(a.Reveal(), b.Reveal())
	case List:
		return slices.EqualFunc(a.Items(), b.Items(), Equal)
	case Object:
		return maps.EqualFunc(a.Fields(), b.Fields(), Equal)
	default:
		return a.Reveal() == b.Reveal()
	}
}

// Equal lets cmp.Equal and cmp.Diff compare Values in tests.
func (v Value) Equal(o Value) bool { return v.sensitive == o.sensitive && Equal(v, o) }

// Keys returns the names in m, sorted.
func (m Map) Keys() []string { return slices.Sorted(maps.Keys(m)) }

// Text returns the text of member key where it is a plain String, Number or Bool; otherwise "".
func (m Map) Text(key string) string { s, _ := m[key].Str(); return s }

// With returns a copy of m with key set to v; an Absent v removes it.
func (m Map) With(key string, v Value) Map {
	c := make(Map, len(m)+1)
	maps.Copy(c, m)
	if v.IsSet() {
		c[key] = v
	} else {
		delete(c, key)
	}
	return c
}

// Without returns a copy of m without the named keys.
func (m Map) Without(keys ...string) Map {
	c := maps.Clone(m)
	for _, k := range keys {
		delete(c, k)
	}
	return c
}
