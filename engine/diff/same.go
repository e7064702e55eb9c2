package diff

import (
	"slices"
	"strconv"
	"strings"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// answer of a comparison. What cannot be told is never guessed.
type answer int

const (
	no answer = iota
	unsure
	yes
)

const (
	whyNoKey    = "sensitive, and the key of the keyed hashes is missing"
	whyHashOnly = "sensitive, kept as a keyed hash: equal values may be spelled differently"
)

// comparer compares two values under a Field. With sub, members of objects that only b has do not count.
type comparer struct {
	sealer     value.Sealer
	sub        bool
	principals *resource.Principals // nil: unique IDs in policies are not known
}

// Equal reports whether both values mean the same to the type that f describes. What cannot be told is not equal.
func Equal(f *resource.Field, desired, observed value.Value, s value.Sealer) bool {
	a, _ := comparer{sealer: s}.same(f, desired, observed)
	return a == yes
}

// EqualParams reports whether observed is what a create that sent these params makes. Fields that the type never
// returns do not count; everything else that is not shown to be equal is named in because, and so are values that
// were not sent and are not the service's default.
func EqualParams(schema *resource.Schema, sent, observed value.Map, gaps map[value.Path]resource.Gap, s value.Sealer) (equal bool, because []value.Path) {
	res := Compare(Input{Schema: schema, Desired: sent, Recorded: sent, Sealer: s,
		Observed: &resource.Observation{Params: observed, Gaps: gaps}})
	for _, f := range res.Fields {
		if f.Verdict != Match && !f.Folded && !neverReturned(schema, gaps, f) {
			because = append(because, f.Path)
		}
	}
	return len(because) == 0, because
}

func neverReturned(schema *resource.Schema, gaps map[value.Path]resource.Gap, f Field) bool {
	if f.Verdict != Unverified || f.By != ByConfig {
		return false
	}
	if g, ok := gapFor(gaps, f.Path); ok {
		return g.Kind == resource.GapWriteOnly || g.Kind == resource.GapNotReturned
	}
	return f.Reason == whyWriteOnly
}

// same compares a (desired) with b (observed). why explains unsure.
func (c comparer) same(f *resource.Field, a, b value.Value) (res answer, why string) {
	switch {
	case a.Kind() == value.Unknown || b.Kind() == value.Unknown:
		return no, ""
	case unset(a) || unset(b):
		return c.sameUnset(f, a, b)
	case !c.sealer.HasKey() && (a.HasSensitive() || b.HasSensitive()):
		return unsure, whyNoKey
	case a.Kind() == value.Hash || b.Kind() == value.Hash:
		return c.sameHash(f, a, b)
	}
	switch {
	case off(f, a) || off(f, b):
		return of(off(f, a) && off(f, b)), ""
	case f.Equal == resource.KMSKey && isScalar(a) && isScalar(b):
		return sameKey(a.Reveal(), b.Reveal())
	case f.Equal == resource.IAMPolicy:
		return c.samePolicy(document(a), document(b))
	case f.Type == resource.TJSON || f.Equal == resource.JSONDoc:
		return c.sameJSON(document(a), document(b))
	case f.Type == "":
		return c.sameJSON(a, b)
	case f.Type == resource.TList && both(a, b, value.List):
		return c.sameList(f, a.Items(), b.Items())
	case (f.Type == resource.TObject || f.Type == resource.TMap) && both(a, b, value.Object):
		return c.sameObject(f, a.Fields(), b.Fields())
	case isScalar(a) && isScalar(b):
		return of(sameScalar(f, a, b)), ""
	}
	return of(c.empty(f, a) && c.empty(f, b)), ""
}

// sameUnset compares where at least one side is not set: with the service's default, where it is known.
func (c comparer) sameUnset(f *resource.Field, a, b value.Value) (answer, string) {
	if c.empty(f, a) && c.empty(f, b) {
		return yes, ""
	}
	set := a
	if unset(a) {
		set = b
	}
	if unset(set) || unset(f.Default) {
		return no, ""
	}
	return c.same(f, f.Default, set)
}

// sameHash compares where at least one side is all that is left of a sensitive value.
func (c comparer) sameHash(f *resource.Field, a, b value.Value) (answer, string) {
	h, other := a, b
	if h.Kind() != value.Hash {
		h, other = b, a
	}
	ok := false
	for _, spelled := range spellings(other) {
		eq, known := c.sealer.Matches(h, spelled)
		if eq && known {
			return yes, ""
		}
		ok = ok || known
	}
	switch {
	case !ok:
		return unsure, "sensitive, and its hash was made without a key"
	case other.Kind() == value.Hash || isScalar(other) && f.Type != resource.TJSON &&
		(f.Equal == resource.Exact || f.Equal == resource.EmptyIsNil):
		return no, ""
	}
	return unsure, whyHashOnly
}

// spellings are the ways in which config may have written the value before it was hashed.
func spellings(v value.Value) []value.Value {
	if !isScalar(v) {
		return []value.Value{v}
	}
	text := v.Reveal()
	out := []value.Value{v, value.Of(text), value.Num(text)}
	if text == "true" || text == "false" {
		out = append(out, value.Of(text == "true"))
	}
	return out
}

func (c comparer) sameList(f *resource.Field, a, b []value.Value) (answer, string) {
	el := elem(f)
	switch {
	case f.ItemKey != "":
		return pair(a, b, func(x, y value.Value) (answer, string) {
			if x.Get(f.ItemKey).Reveal() != y.Get(f.ItemKey).Reveal() && !hashed(x, y) {
				return no, ""
			}
			return c.same(el, x, y)
		})
	case f.Set:
		return c.sameSet(a, b, func(x, y value.Value) (answer, string) { return c.same(el, x, y) })
	case len(a) != len(b):
		return no, ""
	}
	all, why := yes, ""
	for i := range a {
		all, why = and(all, why)(c.same(el, a[i], b[i]))
	}
	return all, why
}

func (c comparer) sameObject(f *resource.Field, a, b value.Map) (answer, string) {
	all, why := yes, ""
	for _, k := range keys(a, b) {
		if _, ok := a[k]; !ok && c.sub {
			continue
		}
		all, why = and(all, why)(c.same(member(f, k), a[k], b[k]))
	}
	return all, why
}

// sameSet compares without order and without repeats.
func (c comparer) sameSet(a, b []value.Value, eq func(x, y value.Value) (answer, string)) (answer, string) {
	return pair(distinct(a, eq), distinct(b, eq), eq)
}

func distinct(l []value.Value, eq func(x, y value.Value) (answer, string)) []value.Value {
	var out []value.Value
	for _, e := range l {
		if !slices.ContainsFunc(out, func(o value.Value) bool { a, _ := eq(o, e); return a == yes }) {
			out = append(out, e)
		}
	}
	return out
}

// pair compares as multisets: surely equal items are paired off first, then those that cannot be told.
func pair(a, b []value.Value, eq func(x, y value.Value) (answer, string)) (answer, string) {
	if len(a) != len(b) {
		return no, ""
	}
	a, b = unpaired(a, b, func(x, y value.Value) bool { got, _ := eq(x, y); return got == yes })
	if len(a) == 0 {
		return yes, ""
	}
	var why string
	a, _ = unpaired(a, b, func(x, y value.Value) bool {
		got, reason := eq(x, y)
		if got == unsure {
			why = reason
		}
		return got == unsure
	})
	if len(a) == 0 {
		return unsure, why
	}
	return no, ""
}

// unpaired returns what is left of both when fitting items are paired off.
func unpaired(a, b []value.Value, fits func(x, y value.Value) bool) (restA, restB []value.Value) {
	restB = slices.Clone(b)
	for _, x := range a {
		i := slices.IndexFunc(restB, func(y value.Value) bool { return fits(x, y) })
		if i < 0 {
			restA = append(restA, x)
			continue
		}
		restB = slices.Delete(restB, i, i+1)
	}
	return restA, restB
}

// sameJSON compares documents exactly, but for the order of members, the spelling of numbers, and hashed parts.
func (c comparer) sameJSON(a, b value.Value) (answer, string) {
	switch {
	case a.Kind() == value.Hash || b.Kind() == value.Hash:
		return c.sameHash(&resource.Field{}, a, b)
	case both(a, b, value.List):
		if len(a.Items()) != len(b.Items()) {
			return no, ""
		}
		all, why := yes, ""
		for i, e := range a.Items() {
			all, why = and(all, why)(c.sameJSON(e, b.Items()[i]))
		}
		return all, why
	case both(a, b, value.Object):
		all, why := yes, ""
		for _, k := range keys(a.Fields(), b.Fields()) {
			x, inA := a.Fields()[k]
			y, inB := b.Fields()[k]
			if inA != inB {
				return no, ""
			}
			all, why = and(all, why)(c.sameJSON(x, y))
		}
		return all, why
	}
	return of(value.Equal(a, b)), ""
}

func sameScalar(f *resource.Field, a, b value.Value) bool {
	x, y := a.Reveal(), b.Reveal()
	switch {
	case x == y:
		return true
	case f.Equal == resource.AtLeast:
		want, ok := a.Int()
		have, known := b.Int()
		return ok && known && have >= want
	case f.Type == resource.TInt || a.Kind() == value.Number || b.Kind() == value.Number:
		return value.EqualNumber(x, y)
	case f.Equal == resource.FoldCase:
		return strings.EqualFold(x, y)
	case f.Equal == resource.ARNStar:
		return strings.TrimSuffix(x, ":*") == strings.TrimSuffix(y, ":*")
	}
	return false
}

// empty reports whether v says nothing: absent, under EmptyIsNil also "", [], {} and objects of such, under OffIsNil
// also what is switched off.
func (c comparer) empty(f *resource.Field, v value.Value) bool {
	if unset(v) || off(f, v) {
		return true
	}
	return f.Equal == resource.EmptyIsNil && hollow(v)
}

func hollow(v value.Value) bool {
	switch v.Kind() {
	case value.Absent, value.Null:
		return true
	case value.String:
		return v.Reveal() == ""
	case value.List:
		return len(v.Items()) == 0
	case value.Object:
		for _, e := range v.Fields() {
			if !hollow(e) {
				return false
			}
		}
		return true
	}
	return false
}

// document returns a JSON text as what it says; anything else as it is.
func document(v value.Value) value.Value {
	if v.Kind() != value.String {
		return v
	}
	d, err := value.ParseJSON([]byte(v.Reveal()))
	if err != nil {
		return v
	}
	if v.Sensitive() {
		d = d.AsSensitive()
	}
	return d
}

// elem describes the items of a list or the values of a map. Items inherit the list's equivalence.
func elem(f *resource.Field) *resource.Field {
	if f.Elem == nil {
		return &resource.Field{Type: resource.TString, Equal: itemEqual(f.Equal)}
	}
	if f.Elem.Equal != resource.Exact || itemEqual(f.Equal) == resource.Exact {
		return f.Elem
	}
	e := *f.Elem
	e.Equal = f.Equal
	return &e
}

func itemEqual(e resource.Equivalence) resource.Equivalence {
	if e == resource.FoldCase || e == resource.ARNStar {
		return e
	}
	return resource.Exact
}

// free describes what the schema does not: compared as written.
var free = &resource.Field{}

func member(f *resource.Field, key string) *resource.Field {
	if f.Type == resource.TMap {
		return elem(f)
	}
	if m := f.Lookup(key); m != nil {
		return m
	}
	return free
}

// off reports whether v is an object that its own switch turns off (resource.OffIsNil). A switch that is not known yet,
// or of which only a hash is left, says nothing.
func off(f *resource.Field, v value.Value) bool {
	if f.Equal != resource.OffIsNil || v.Kind() != value.Object {
		return false
	}
	for _, m := range f.Fields {
		if m.Type == resource.TBool {
			on := v.Get(m.Name)
			return !on.IsTrue() && on.Kind() != value.Unknown && on.Kind() != value.Hash
		}
	}
	return false
}

const whyAlias = "an alias, and the service returns the key behind it"

// sameKey compares two names of KMS keys: key ID, key ARN, alias or alias ARN.
func sameKey(a, b string) (answer, string) {
	a, b = a[strings.LastIndex(a, ":")+1:], b[strings.LastIndex(b, ":")+1:]
	aliased := strings.HasPrefix(a, "alias/") != strings.HasPrefix(b, "alias/")
	switch {
	case strings.TrimPrefix(a, "key/") == strings.TrimPrefix(b, "key/"):
		return yes, ""
	case aliased && a != "" && b != "":
		return unsure, whyAlias
	}
	return no, ""
}

func unset(v value.Value) bool { return v.Kind() == value.Absent || v.Kind() == value.Null }

func isScalar(v value.Value) bool {
	return v.Kind() == value.String || v.Kind() == value.Number || v.Kind() == value.Bool
}

func both(a, b value.Value, k value.Kind) bool { return a.Kind() == k && b.Kind() == k }

func hashed(a, b value.Value) bool { return a.HasHash() || b.HasHash() }

func of(b bool) answer {
	if b {
		return yes
	}
	return no
}

// and joins answers: the weaker one counts, with its reason.
func and(a answer, why string) func(answer, string) (answer, string) {
	return func(b answer, whyB string) (answer, string) {
		if b < a {
			return b, whyB
		}
		return a, why
	}
}

func keys(maps ...value.Map) []string {
	var out []string
	for _, m := range maps {
		out = append(out, m.Keys()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func quoteItem(p value.Path, text string) value.Path {
	return p + value.Path("["+strconv.Quote(text)+"]")
}
