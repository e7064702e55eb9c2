package diff

import (
	"slices"
	"strings"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// descend compares a composite member by member, and reports whether it did. It does not where the value is one
// document, is sensitive as a whole, or was read in another shape than its type says.
func (w *walker) descend(p place) bool {
	if p.f.Equal == resource.IAMPolicy || p.f.Equal == resource.JSONDoc || p.sensitive || p.f.Sensitive ||
		p.d.Sensitive() || p.r.Sensitive() || p.s.Sensitive() || off(p.f, p.d) || off(p.f, p.o) {
		return false
	}
	switch p.f.Type {
	case resource.TObject, resource.TMap:
		return w.object(p)
	case resource.TList:
		switch {
		case p.f.ItemKey != "":
			return w.keyed(p)
		case p.f.Shared:
			return w.members(p)
		case !p.f.Set && !unset(p.d):
			return w.indexed(p)
		}
	}
	return false
}

func fits(k value.Kind, v ...value.Value) bool {
	return !slices.ContainsFunc(v, func(v value.Value) bool { return !unset(v) && v.Kind() != k })
}

func (w *walker) object(p place) bool {
	if !fits(value.Object, p.d, p.o) || len(p.d.Fields()) == 0 && unset(p.o) && !p.f.Shared {
		return false
	}
	before := len(w.fields)
	for _, k := range memberNames(p) {
		c := p.at(p.path.Child(k), member(p.f, k), p.d.Get(k), p.r.Get(k), p.s.Get(k), p.o.Get(k))
		c.f = under(p.f, c.f)
		if unset(c.d) && (p.f.Type == resource.TMap || p.f.Lookup(k) == nil) {
			c.shared = p.f.Shared
			c.sensitive = c.sensitive || p.hidden() && !c.ours()
			if !p.f.Shared && !c.ours() && c.o.IsSet() {
				w.emitCloud(c, "config does not set it", false)
				continue
			}
		}
		w.visit(c)
	}
	w.whole(p, before)
	return true
}

// under gives members of an object whose emptiness is absence the same meaning.
func under(parent, f *resource.Field) *resource.Field {
	if parent.Equal != resource.EmptyIsNil || f.Equal != resource.Exact {
		return f
	}
	c := *f
	c.Equal = resource.EmptyIsNil
	return &c
}

// memberNames returns the fields of the schema in its order, then what it does not know.
func memberNames(p place) []string {
	var out []string
	for i := range p.f.Fields {
		out = append(out, p.f.Fields[i].Name)
	}
	for _, k := range keys(p.d.Fields(), p.r.Fields(), p.s.Fields(), p.o.Fields()) {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// whole says that a collection config sets matches, where none of its members had a line.
func (w *walker) whole(p place, before int) {
	if unset(p.d) || slices.ContainsFunc(w.fields[before:], func(f Field) bool { return f.By == ByConfig }) {
		return
	}
	w.emit(p, Match, "")
}

// keyed compares lists whose items have an identity.
func (w *walker) keyed(p place) bool {
	if !fits(value.List, p.d, p.o) || invalidKeys(p.f, p.o) || unclearKeys(p.f, p.d) {
		return false
	}
	if len(p.d.Items()) == 0 && !p.f.Shared && len(p.o.Items()) == 0 {
		return false
	}
	before, el := len(w.fields), elem(p.f)
	rec, sent, obs := byID(p.f, p.r), byID(p.f, p.s), byID(p.f, p.o)
	wanted := map[string]bool{}
	for i, d := range p.d.Items() {
		id, ok := itemID(p.f, d)
		if !ok {
			w.leaf(p.at(p.path.At(i), el, d, value.Value{}, value.Value{}, value.Value{}))
			continue
		}
		wanted[id] = true
		w.item(p.at(p.path.Item(p.f.ItemKey, id), el, d, rec.first(id), sent.first(id), obs.take(id)), p.f.ItemKey)
	}
	for _, id := range names(rec, sent, obs) {
		for o := obs.take(id); !unset(o) || !wanted[id]; o = obs.take(id) {
			w.extra(p, p.at(p.path.Item(p.f.ItemKey, id), el, value.Value{}, rec.first(id), sent.first(id), o))
			wanted[id] = true
		}
	}
	w.whole(p, before)
	return true
}

// item compares one item that config wants with the one of the same identity.
func (w *walker) item(p place, key string) {
	if w.gapped(p) {
		return
	}
	if unset(p.o) || p.d.Kind() != value.Object || p.o.Kind() != value.Object || len(p.f.Fields) == 0 {
		p.item = true
		w.leaf(p)
		return
	}
	before := len(w.fields)
	for _, k := range memberNames(p) {
		if k != key {
			w.visit(p.at(p.path.Child(k), member(p.f, k), p.d.Get(k), p.r.Get(k), p.s.Get(k), p.o.Get(k)))
		}
	}
	w.whole(p, before)
}

// extra is an item that config does not want: removed when it was ours; of a shared collection not ours to judge;
// else a difference, because the list is config's as a whole.
func (w *walker) extra(list, p place) {
	p.shared = list.f.Shared
	p.sensitive = p.sensitive || list.hidden() && !p.ours()
	switch {
	case p.ours() || p.shared || unset(p.o):
		w.notSet(p)
	default:
		w.emit(p, Differs, "not in config")
	}
}

// members compares a shared set of scalars: each member for itself.
func (w *walker) members(p place) bool {
	if !fits(value.List, p.d, p.o, p.r, p.s) {
		return false
	}
	before, el := len(w.fields), elem(p.f)
	rest, hidden := p.o.Items(), p.hidden()
	find := func(l []value.Value, v value.Value) int {
		return slices.IndexFunc(l, func(e value.Value) bool { a, _ := w.compare.same(el, v, e); return a == yes })
	}
	for i, d := range p.d.Items() {
		c := p.at(memberPath(p.path, i, d, hidden), el, d, value.Value{}, value.Value{}, value.Value{})
		c.item, c.sensitive = true, c.sensitive || hidden
		if j := find(p.r.Items(), d); j >= 0 {
			c.r = p.r.Items()[j]
		}
		if d.Kind() == value.Unknown {
			w.emit(c, Unknown, waits(d))
			continue
		}
		if j := find(rest, d); j >= 0 {
			c.o = rest[j]
			rest = slices.Delete(slices.Clone(rest), j, j+1)
		}
		w.leaf(c)
	}
	for i, o := range rest {
		if find(p.d.Items(), o) >= 0 {
			continue // a repeat of what config wants
		}
		c := p.at(memberPath(p.path, i, o, hidden), el, value.Value{}, value.Value{}, value.Value{}, o)
		c.shared, c.sensitive = true, c.sensitive || hidden
		if j := find(p.r.Items(), o); j >= 0 {
			c.r = p.r.Items()[j]
		}
		if j := find(p.s.Items(), o); j >= 0 {
			c.s = p.s.Items()[j]
		}
		w.notSet(c)
	}
	w.whole(p, before)
	return true
}

func memberPath(list value.Path, i int, v value.Value, hidden bool) value.Path {
	if text, ok := v.Str(); ok && !hidden {
		return quoteItem(list, text)
	}
	return list.At(i)
}

// indexed compares an ordered list of objects item by item; of another length, or of scalars, it is one value.
func (w *walker) indexed(p place) bool {
	el := elem(p.f)
	if el.Type != resource.TObject || p.d.Kind() != value.List || p.o.Kind() != value.List ||
		len(p.d.Items()) != len(p.o.Items()) || len(p.d.Items()) == 0 {
		return false
	}
	at := func(v value.Value, i int) value.Value {
		if len(v.Items()) != len(p.d.Items()) {
			return value.Value{}
		}
		return v.Items()[i]
	}
	hidden := p.hidden()
	for i, d := range p.d.Items() {
		c := p.at(p.path.At(i), el, d, at(p.r, i), at(p.s, i), p.o.Items()[i])
		c.sensitive = c.sensitive || hidden // items may have moved
		w.visit(c)
	}
	return true
}

// index is a keyed list by identity; items of one identity keep their order.
type index map[string][]value.Value

func byID(f *resource.Field, list value.Value) index {
	x := index{}
	for _, e := range list.Items() {
		if id, ok := itemID(f, e); ok {
			x[id] = append(x[id], e)
		}
	}
	return x
}

func (x index) first(id string) value.Value {
	if l := x[id]; len(l) > 0 {
		return l[0]
	}
	return value.Value{}
}

func (x index) take(id string) value.Value {
	l := x[id]
	if len(l) == 0 {
		return value.Value{}
	}
	x[id] = l[1:]
	return l[0]
}

func names(xs ...index) []string {
	var out []string
	for _, x := range xs {
		for id := range x {
			out = append(out, id)
		}
	}
	slices.SortFunc(out, strings.Compare)
	return slices.Compact(out)
}

func itemID(f *resource.Field, item value.Value) (string, bool) {
	return item.Get(f.ItemKey).Str()
}

// invalidKeys reports whether an item that was read has no identity.
func invalidKeys(f *resource.Field, list value.Value) bool {
	return slices.ContainsFunc(list.Items(), func(e value.Value) bool { _, ok := itemID(f, e); return !ok })
}

// unclearKeys reports whether an item of config has an identity that must not be shown: the list is then one value.
func unclearKeys(f *resource.Field, list value.Value) bool {
	return slices.ContainsFunc(list.Items(), func(e value.Value) bool {
		k := e.Get(f.ItemKey)
		return k.Sensitive() || e.Kind() == value.Hash || !isScalar(k) && !e.HasUnknown()
	})
}
