package template

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// properties evaluates a resource's properties and fits them to its schema.
func (e *evaluation) properties(r *Resource) value.Map {
	m := value.Map{}
	given := map[string]bool{}
	var members []*node
	if r.declared.props != nil {
		members = r.declared.props.items
	}
	for _, n := range members {
		res := e.eval(n)
		given[n.key] = res.v.IsSet()
		if r.Schema == nil {
			continue
		}
		res.key = n.key
		f := e.param(r.Schema, n)
		if f == nil || !res.v.IsSet() {
			continue
		}
		m[n.key] = e.fit(f, res)
		if n.key == r.Schema.TagParam {
			e.ownTags(r.Schema, n, m[n.key])
		}
	}
	if r.Schema != nil {
		e.required(r.declared.at(), r.Schema.Params, given)
	}
	return m
}

// at is where a missing property is reported.
func (d *declared) at() *node {
	if d.props != nil {
		return d.props
	}
	return d.node
}

// param returns the field of a top-level property; nil when the type has none or it is refused.
func (e *evaluation) param(s *resource.Schema, n *node) *resource.Field {
	if f := s.Param(n.key); f != nil {
		return f
	}
	at := n.atKey()
	if reason, ok := s.Unsupported[n.key]; ok {
		e.fail(at, "Take it out", "the property %s of %s is not supported: %s", n.key, s.Type, reason)
		return nil
	}
	hint := did(n.key, slices.Concat(fieldNames(s.Params), slices.Collect(maps.Keys(s.Unsupported))))
	if hint == "" && s.HasOutput(n.key) {
		hint = "It is assigned by the service; read it with Fn::GetAtt"
	}
	e.fail(at, hint, "%s has no property %s", s.Type, quote(n.key))
	return nil
}

func fieldNames(fields []resource.Field) []string {
	out := make([]string, len(fields))
	for i := range fields {
		out[i] = fields[i].Name
	}
	return out
}

// required reports fields that must be given and are not. What is given but unknown counts as given.
func (e *evaluation) required(at *node, fields []resource.Field, given map[string]bool) {
	for i := range fields {
		if fields[i].Required && !given[fields[i].Name] {
			e.fail(at, "Add "+fields[i].Name, "the required property %s is missing", fields[i].Name)
		}
	}
}

// ownTags refuses tags that tell who owns an object: they would be taken for evidence (SAFETY S4).
func (e *evaluation) ownTags(s *resource.Schema, n *node, v value.Value) {
	names := v.Fields().Keys()
	for _, item := range v.Items() {
		names = append(names, item.Fields().Text("Key"))
	}
	for _, name := range names {
		if resource.IsMark(name) {
			e.fail(n, "Choose another name", "the tag %s is reserved: tags of %s must not start with reclaim: or aws:", quote(name), s.Type)
		}
	}
}

// fit checks a value against its field and returns it in the field's type: "30" for an integer becomes 30. Only what is
// known is checked.
func (e *evaluation) fit(f *resource.Field, r result) value.Value {
	for _, branch := range r.either {
		if branch.v.IsSet() {
			e.fit(f, branch)
		}
	}
	v := r.v
	if v.Kind() != value.Unknown && v.Kind() != value.Hash {
		v = e.fitKnown(f, r)
	}
	if f.Sensitive {
		v = v.AsSensitive()
	}
	return v
}

func (e *evaluation) fitKnown(f *resource.Field, r result) value.Value {
	var v value.Value
	switch f.Type {
	case resource.TString:
		v = e.fitString(f, r)
	case resource.TInt:
		v = e.fitInt(f, r)
	case resource.TBool:
		v = e.fitBool(f, r)
	case resource.TList:
		v = e.fitList(f, r)
	case resource.TObject, resource.TMap:
		v = e.fitObject(f, r)
	default:
		v = e.fitJSON(f, r)
	}
	if r.v.Sensitive() {
		v = v.AsSensitive()
	}
	return v
}

// wrong reports a value that does not fit, and stands for it.
func (e *evaluation) wrong(f *resource.Field, r result, hint, want string) value.Value {
	name := f.Name
	if name == "" {
		name = "the value"
	}
	return e.bad(r.at, hint, "%s wants %s, found %s", name, want, show(r.v)).v
}

func (e *evaluation) fitString(f *resource.Field, r result) value.Value {
	if !scalarKind(r.v) {
		return e.wrong(f, r, "", "a string")
	}
	text := r.v.Reveal()
	switch {
	case len(f.Enum) > 0 && !slices.Contains(f.Enum, text):
		hint := ""
		if !r.v.Sensitive() {
			hint = did(text, f.Enum)
		}
		return e.wrong(f, r, hint, "one of "+strings.Join(f.Enum, ", "))
	case f.Pattern != "" && !whole(f.Pattern).MatchString(text):
		return e.wrong(f, r, "", "text that matches "+f.Pattern)
	case f.LocalPath && text == "":
		return e.wrong(f, r, "", "a path")
	case !e.within(f, r, int64(utf8.RuneCountInString(text)), "characters"):
		return value.Wait()
	}
	if f.LocalPath {
		if !filepath.IsAbs(text) {
			text = filepath.Join(e.base, text)
		}
		text = filepath.Clean(text)
	}
	return value.Of(text)
}

// patterns caches the schemas' patterns by text.
var patterns sync.Map

// whole compiles a schema's pattern to match whole strings. A bad one is a programming error.
func whole(pattern string) *regexp.Regexp {
	if re, ok := patterns.Load(pattern); ok {
		return re.(*regexp.Regexp)
	}
	re := regexp.MustCompile("^(?:" + pattern + ")$")
	patterns.Store(pattern, re)
	return re
}

// within checks a number, length or count against the field's bounds.
func (e *evaluation) within(f *resource.Field, r result, n int64, unit string) bool {
	if unit != "" {
		unit = " " + unit
	}
	switch {
	case f.Min != nil && n < *f.Min:
		e.wrong(f, r, "", "at least "+strconv.FormatInt(*f.Min, 10)+unit)
		return false
	case f.Max != nil && n > *f.Max:
		e.wrong(f, r, "", "at most "+strconv.FormatInt(*f.Max, 10)+unit)
		return false
	}
	return true
}

func (e *evaluation) fitInt(f *resource.Field, r result) value.Value {
	n, ok := r.v.Int()
	if !ok || !number.MatchString(r.v.Reveal()) {
		return e.wrong(f, r, "", "a whole number")
	}
	if len(f.Ints) > 0 && !slices.Contains(f.Ints, n) {
		allowed := make([]string, len(f.Ints))
		for i, a := range f.Ints {
			allowed[i] = strconv.FormatInt(a, 10)
		}
		return e.wrong(f, r, "", "one of "+strings.Join(allowed, ", "))
	}
	if !e.within(f, r, n, "") {
		return value.Wait()
	}
	return value.Of(n)
}

func (e *evaluation) fitBool(f *resource.Field, r result) value.Value {
	text := r.v.Reveal()
	if (r.v.Kind() != value.Bool && r.v.Kind() != value.String) || text != "true" && text != "false" {
		return e.wrong(f, r, "", "true or false")
	}
	return value.Of(text == "true")
}

func (e *evaluation) fitList(f *resource.Field, r result) value.Value {
	if r.v.Kind() != value.List {
		return e.wrong(f, r, "Write a list", "a list")
	}
	parts := r.parts()
	if !e.within(f, r, int64(len(parts)), "items") {
		return value.Wait()
	}
	out := make([]value.Value, len(parts))
	for i, part := range parts {
		out[i] = part.value()
		if f.Elem != nil {
			out[i] = e.fit(f.Elem, part)
		}
	}
	if f.ItemKey != "" {
		e.distinct(f, parts, out)
	}
	return value.ListOf(out...)
}

// distinct refuses two items that cannot be told apart.
func (e *evaluation) distinct(f *resource.Field, parts []result, items []value.Value) {
	seen := make(map[string]bool, len(items))
	for i, item := range items {
		id := item.Get(f.ItemKey)
		if !scalarKind(id) {
			continue
		}
		if seen[id.Reveal()] {
			e.fail(parts[i].at, "Keep one of them", "two items of %s have the %s %s", f.Name, f.ItemKey, show(id))
		}
		seen[id.Reveal()] = true
	}
}

func (e *evaluation) fitObject(f *resource.Field, r result) value.Value {
	if r.v.Kind() != value.Object {
		return e.wrong(f, r, "Write a map", "a map")
	}
	parts := r.parts()
	if !e.within(f, r, int64(len(parts)), "members") {
		return value.Wait()
	}
	out := make(value.Map, len(parts))
	given := make(map[string]bool, len(parts))
	for _, part := range parts {
		given[part.key] = true
		member := f.Elem
		if f.Type == resource.TObject && len(f.Fields) > 0 {
			if member = f.Lookup(part.key); member == nil {
				e.fail(part.at.atKey(), did(part.key, fieldNames(f.Fields)), "%s has no property %s", f.Name, quote(part.key))
				continue
			}
		}
		out[part.key] = part.value()
		if member != nil {
			out[part.key] = e.fit(member, part)
		}
	}
	e.required(r.at, f.Fields, given)
	return value.OfMap(out)
}

// fitJSON takes a document as it is, or as a string of JSON, and returns it as data.
func (e *evaluation) fitJSON(f *resource.Field, r result) value.Value {
	doc := r.value()
	if doc.Kind() == value.String {
		parsed, err := value.ParseJSON([]byte(doc.Reveal()))
		if err != nil {
			return e.wrong(f, r, "", "a JSON document, or one as a string")
		}
		doc = parsed
	}
	if doc.Kind() != value.Object && doc.Kind() != value.List || f.Equal == resource.IAMPolicy && doc.Kind() != value.Object {
		return e.wrong(f, r, "", "a JSON document, or one as a string")
	}
	if mark := marked(doc); mark != "" {
		return e.bad(r.at, "Rename the key, or put another beside it", "a map whose only key is %q stands for a stored value", mark).v
	}
	if f.Equal == resource.IAMPolicy {
		e.distinctSids(f, r, doc)
	}
	return doc
}

// marked returns the key of an object that would be read back as a sensitive or unknown value.
func marked(doc value.Value) (mark string) {
	doc.Walk("", func(_ value.Path, v value.Value) bool {
		if len(v.Fields()) == 1 && (v.Get("$sensitive").IsSet() || v.Get("$unknown").IsSet()) {
			mark = v.Fields().Keys()[0]
		}
		return true
	})
	return mark
}

// distinctSids refuses two statements with one Sid: the service keeps one of them.
func (e *evaluation) distinctSids(f *resource.Field, r result, doc value.Value) {
	seen := map[string]bool{}
	for _, st := range doc.Get("Statement").Items() {
		sid := st.Get("Sid")
		if sid.Kind() != value.String || sid.Reveal() == "" {
			continue
		}
		if seen[sid.Reveal()] {
			e.fail(r.at, "Rename one of them", "two statements of %s have the Sid %s", f.Name, show(sid))
		}
		seen[sid.Reveal()] = true
	}
}
