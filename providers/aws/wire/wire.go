// Package wire turns config-shaped values into the fields of requests and answers back into values.
//
// Its one rule: what is absent stays absent. Nothing here fills in a default or sends a zero that config did not say.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// Set reports whether v says anything: neither absent nor null.
func Set(v value.Value) bool { return v.IsSet() && v.Kind() != value.Null }

// Empty reports whether v says nothing, or only "", [] or {}.
func Empty(v value.Value) bool {
	switch v.Kind() {
	case value.String:
		return v.Reveal() == ""
	case value.List:
		return len(v.Items()) == 0
	case value.Object:
		return len(v.Fields()) == 0
	default:
		return !Set(v)
	}
}

// Text returns the text of a scalar, sensitive or not; nil when it is absent. For requests only.
func Text(v value.Value) *string {
	switch v.Kind() {
	case value.String, value.Number, value.Bool:
		s := v.Reveal()
		return &s
	default:
		return nil
	}
}

// Name is Text where an empty name means none.
func Name(v value.Value) string {
	if s := Text(v); s != nil {
		return *s
	}
	return ""
}

// Int32 returns a number, also one written as a string; nil when it is absent or none.
func Int32(v value.Value) *int32 {
	n, ok := v.Int()
	if !ok || n > math.MaxInt32 || n < math.MinInt32 {
		return nil
	}
	i := int32(n)
	return &i
}

// Bool returns a boolean, also one written as a string; nil when it is absent.
func Bool(v value.Value) *bool {
	if v.Kind() != value.Bool && v.Kind() != value.String {
		return nil
	}
	b := v.IsTrue()
	return &b
}

// Strings returns the texts of a list; nil when it is absent, empty but not nil when it is [].
func Strings(v value.Value) []string {
	if v.Kind() != value.List {
		return nil
	}
	out := make([]string, 0, len(v.Items()))
	for _, e := range v.Items() {
		out = append(out, Name(e))
	}
	return out
}

// Texts returns the texts of a map; nil when it is absent or empty.
func Texts(v value.Value) map[string]string {
	if len(v.Fields()) == 0 {
		return nil
	}
	out := make(map[string]string, len(v.Fields()))
	for name, e := range v.Fields() {
		out[name] = Name(e)
	}
	return out
}

// Document returns a TJSON param as the text to send: a string as it is, else JSON without HTML escapes, which would
// count against the size limits of policies.
func Document(v value.Value) (string, error) {
	if v.Kind() == value.String {
		return v.Reveal(), nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v.Plain()); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// SameDocument reports whether two TJSON values are the same JSON, whichever way each is written.
func SameDocument(a, b value.Value) bool { return value.Equal(Parsed(a), Parsed(b)) }

// Parsed returns a TJSON value as what it says; text that is no JSON as it is.
func Parsed(v value.Value) value.Value {
	if v.Kind() != value.String {
		return v
	}
	if doc, err := value.ParseJSON([]byte(v.Reveal())); err == nil {
		return doc
	}
	return v
}

// Shown returns a name for a person: the text, or the marker of a sensitive one.
func Shown(v value.Value) string {
	if s, ok := v.Str(); ok {
		return s
	}
	return v.String()
}

// Tags returns the tags of a list of {Key, Value} or of a map. A tag whose name is only a hash is left out.
func Tags(v value.Value) map[string]string {
	tags := map[string]string{}
	for name, e := range v.Fields() {
		tags[name] = Name(e)
	}
	for _, e := range v.Items() {
		if name := Text(e.Get("Key")); name != nil {
			tags[*name] = Name(e.Get("Value"))
		}
	}
	return tags
}

// TagList is the reverse of Tags for types that write tags as a list, sorted by name.
func TagList(tags map[string]string) value.Value {
	list := make([]value.Value, 0, len(tags))
	for _, name := range value.Of(tags).Fields().Keys() {
		list = append(list, value.OfMap(value.Map{"Key": value.Of(name), "Value": value.Of(tags[name])}))
	}
	return value.ListOf(list...)
}

// TagChange returns what to set and what to remove so that the tags named in desired are as it says. Only members
// that recorded names are removed, and only while they are there; ownership and system tags are left alone (SAFETY
// S4, S26). observed is nil when the tags could not be read.
func TagChange(desired, recorded, observed map[string]string) (set map[string]string, remove []string) {
	set = map[string]string{}
	for name, text := range desired {
		have, ok := observed[name]
		if !resource.IsMark(name) && (!ok || have != text) {
			set[name] = text
		}
	}
	for _, name := range value.Of(recorded).Fields().Keys() {
		_, wanted := desired[name]
		_, there := observed[name]
		if !wanted && !resource.IsMark(name) && (there || observed == nil) {
			remove = append(remove, name)
		}
	}
	return set, remove
}

// Observed returns the tags as read; nil when they could not be read.
func Observed(o *resource.Observation, param string) map[string]string {
	v, ok := o.Params[param]
	if !ok {
		return nil
	}
	return Tags(v)
}

// Join returns the tags of a create: the config's own and the ownership tags, which win. It is nil when there are
// none: services refuse an empty list.
func Join(own map[string]string, marks resource.Tags) map[string]string {
	if len(own)+len(marks) == 0 {
		return nil
	}
	all := map[string]string{}
	for name, text := range own {
		all[name] = text
	}
	for name, text := range marks {
		all[name] = text
	}
	return all
}

// Pick returns the named params.
func Pick(params value.Map, names []string) value.Map {
	out := value.Map{}
	for _, n := range names {
		out[n] = params[n]
	}
	return out
}

// Whole refuses params that hold a keyed hash or an unknown: nobody can give their text back (SAFETY S15).
func Whole(operation string, params value.Map) error {
	v := value.OfMap(params)
	if !v.HasHash() && !v.HasUnknown() {
		return nil
	}
	return &resource.Error{Kind: resource.Rejected, Op: operation, Executed: resource.No,
		Err: errors.New("a sensitive or unknown value is not at hand; give the stack file and its parameters again")}
}

// Conceal returns err without the sensitive texts of params: services repeat what they refuse (SAFETY S32).
func Conceal(err error, params value.Map) error {
	e, ok := errors.AsType[*resource.Error](err)
	if !ok || e.Err == nil || resource.Interrupted(err) {
		return err
	}
	text := e.Err.Error()
	value.OfMap(params).Walk("", func(_ value.Path, v value.Value) bool {
		if v.Sensitive() && v.Reveal() != "" {
			text = strings.ReplaceAll(text, v.Reveal(), "(sensitive)")
		}
		return true
	})
	if text == e.Err.Error() {
		return err
	}
	c := *e
	c.Err = errors.New(text)
	return &c
}
