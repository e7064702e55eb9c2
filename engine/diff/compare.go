package diff

import (
	"cmp"
	"slices"
	"strings"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

const (
	whyWriteOnly = "write-only: the service never returns it"
	whyNotOurs   = "not recorded as ours"
	whyFilled    = "filled in by the service"
	whyOnce      = "config no longer sets it; it cannot be read back, so it is reset once"
)

// Compare compares what config sets with an unmerged read. A nil Observed is a read that returned nothing.
func Compare(in Input) Result {
	obs := in.Observed
	if obs == nil {
		obs = &resource.Observation{}
	}
	read := in.Schema.Conceal(obs.Params, in.Desired, in.Recorded, in.Sending)
	w := &walker{compare: comparer{sealer: in.Sealer, sub: true, principals: obs.Principals}, gaps: obs.Gaps,
		fields: make([]Field, 0, len(in.Schema.Params))}
	for i := range in.Schema.Params {
		f := param(in.Schema, i)
		w.visit(place{path: value.Path("").Child(f.Name), f: f, immutable: f.Mode == resource.Immutable || f.Mode == resource.KeyParam,
			d: in.Desired[f.Name], r: in.Recorded[f.Name], s: in.Sending[f.Name], o: read[f.Name]})
	}
	for _, name := range in.Desired.Keys() {
		if in.Schema.Param(name) == nil {
			w.emit(place{path: value.Path("").Child(name), f: free, d: in.Desired[name]}, Unverified, "the type has no such property")
		}
	}
	slices.SortStableFunc(w.fields, func(a, b Field) int { return cmp.Compare(order(a), order(b)) })
	return Result{Fields: w.fields, Invalid: slices.ContainsFunc(w.fields, func(f Field) bool { return f.Verdict == Invalid })}
}

// param returns the i-th param. A part of a key that the service compares without case is not different in another
// case.
func param(s *resource.Schema, i int) *resource.Field {
	f := &s.Params[i]
	if s.FoldKey && f.Mode == resource.KeyParam && f.Equal == resource.Exact {
		c := *f
		c.Equal = resource.FoldCase
		return &c
	}
	return f
}

// order puts config's own before what the cloud filled in.
func order(f Field) int {
	if f.By == ByCloud {
		return 1
	}
	return 0
}

// place is one position in desired (d), recorded (r), sending (s) and observed (o) at the same time.
type place struct {
	path       value.Path
	f          *resource.Field
	immutable  bool
	sensitive  bool // an outer field is, or a neighbour that this one cannot be told from
	shared     bool // a member of a shared collection
	item       bool // a member of a collection: where it is not there it differs, whatever its parts wait for
	writeOnly  bool // an outer field is
	d, r, s, o value.Value
}

func (p place) hidden() bool {
	return p.sensitive || p.f.Sensitive || p.d.HasSensitive() || p.r.HasSensitive() || p.s.HasSensitive()
}

// secretInside reports whether the schema calls a part of the field sensitive.
func secretInside(f *resource.Field) bool {
	return f.Sensitive || f.Elem != nil && secretInside(f.Elem) ||
		slices.ContainsFunc(f.Fields, func(m resource.Field) bool { return secretInside(&m) })
}

// ours reports whether we recorded it, or an unfinished write was sending it.
func (p place) ours() bool { return !unset(p.r) || !unset(p.s) }

// at returns the place of a member, described by f.
func (p place) at(path value.Path, f *resource.Field, d, r, s, o value.Value) place {
	return place{path: path, f: f, immutable: p.immutable, sensitive: p.sensitive || p.f.Sensitive,
		writeOnly: p.writeOnly || p.f.WriteOnly, d: d, r: r, s: s, o: o}
}

type walker struct {
	compare comparer
	gaps    map[value.Path]resource.Gap
	fields  []Field
}

// emit adds one Field, sealed. Where one side is sensitive, all are.
func (w *walker) emit(p place, v Verdict, reason string) {
	d, o, r := p.d, p.o, p.r
	if unset(r) {
		r = p.s
	}
	if p.hidden() || secretInside(p.f) {
		d, o, r = mark(d), mark(o), mark(r)
	}
	seal := w.compare.sealer.Seal
	w.fields = append(w.fields, Field{Path: p.path, Verdict: v, Desired: seal(d), Observed: seal(o), Recorded: seal(r),
		Reason: reason, By: ByConfig, Immutable: p.immutable})
}

func mark(v value.Value) value.Value {
	if v.IsSet() {
		return v.AsSensitive()
	}
	return v
}

// emitCloud adds a Field that config did not set.
func (w *walker) emitCloud(p place, reason string, folded bool) {
	w.emit(p, Unverified, reason)
	last := &w.fields[len(w.fields)-1]
	last.By, last.Folded = ByCloud, folded
}

func (w *walker) visit(p place) {
	switch {
	case unset(p.d):
		if _, gap := gapFor(w.gaps, p.path); gap || !p.f.Shared || unset(p.o) || !w.descend(p) {
			w.notSet(p)
		}
	case w.gapped(p):
	case p.d.Kind() == value.Unknown:
		w.emit(p, Unknown, waits(p.d))
	case !w.descend(p):
		w.leaf(p)
	}
}

// gapped deals with a place that the read could not give, and reports whether it did.
func (w *walker) gapped(p place) bool {
	g, ok := gapFor(w.gaps, p.path)
	switch {
	case ok:
		w.gap(p, g)
	case p.f.WriteOnly || p.writeOnly:
		w.unread(p, whyWriteOnly)
	default:
		return false
	}
	return true
}

func (w *walker) gap(p place, g resource.Gap) {
	switch g.Kind {
	case resource.GapUndecodable:
		w.emit(p, Invalid, reasonOf(g))
	case resource.GapDenied:
		w.emit(p, Blocked, reasonOf(g))
	default:
		w.unread(p, reasonOf(g))
	}
}

// unread is a field whose value cannot be read or compared: unverified, unless config moved since it was last
// written (SAFETY S29).
func (w *walker) unread(p place, why string) {
	switch {
	case p.d.HasUnknown():
		w.emit(p, Unknown, waits(p.d))
	case unset(p.d):
		w.emit(p, Removed, whyOnce)
	case why == whyNoKey || !w.moved(p):
		w.emit(p, Unverified, why)
	case p.immutable:
		w.emit(p, Unverified, why+"; config differs from what was recorded, but what cannot be read is no reason to replace")
	default:
		w.emit(p, Changed, why+"; config differs from what was recorded")
	}
}

// moved reports whether desired surely differs from what was last written, or may have been.
func (w *walker) moved(p place) bool {
	if !p.ours() {
		return true
	}
	strict := comparer{sealer: w.compare.sealer}
	for _, written := range []value.Value{p.r, p.s} {
		if unset(written) {
			continue
		}
		if a, _ := strict.same(p.f, p.d, written); a == no {
			return true
		}
	}
	return false
}

// leaf compares one value as a whole.
func (w *walker) leaf(p place) {
	if p.hidden() || secretInside(p.f) {
		p.o = mark(p.o)
	}
	if p.d.HasUnknown() && !(p.item && unset(p.o)) {
		w.emit(p, Unknown, waits(p.d))
		return
	}
	if g, ok := gapInside(w.gaps, p.path); ok {
		w.gap(p, g)
		return
	}
	if why := invalid(p.f, p.o); why != "" {
		w.emit(p, Invalid, why)
		return
	}
	switch a, why := w.compare.same(p.f, p.d, p.o); {
	case a == yes:
		w.emit(p, Match, "")
	case a == unsure:
		w.unread(p, why)
	case unset(p.o):
		w.emit(p, Differs, "not there")
	default:
		w.emit(p, Differs, w.compare.unresolved(p.f, p.o))
	}
}

// notSet is a place that config says nothing of: removed when it was ours, else what the cloud filled in.
func (w *walker) notSet(p place) {
	if !w.compare.empty(p.f, p.r) || !w.compare.empty(p.f, p.s) {
		if !w.gapped(p) {
			w.removed(p)
		}
		return
	}
	if g, ok := gapFor(w.gaps, p.path); ok {
		w.emitCloud(p, reasonOf(g), true)
		return
	}
	if unset(p.o) {
		return
	}
	w.filled(p)
}

// removed: observed still holds what config no longer sets and we did (SAFETY S31).
func (w *walker) removed(p place) {
	if w.compare.empty(p.f, p.o) {
		return
	}
	if why := invalid(p.f, p.o); why != "" {
		w.emit(p, Invalid, why)
		return
	}
	if p.f.Default.IsSet() {
		if a, _ := (comparer{sealer: w.compare.sealer}).same(p.f, p.f.Default, p.o); a == yes {
			w.filled(p)
			return
		}
	}
	w.emit(p, Removed, "config no longer sets it")
}

// filled is what the cloud filled in. It is folded, unless it is known to differ from the service's default.
func (w *walker) filled(p place) {
	if p.shared {
		w.emitCloud(p, whyNotOurs, false)
		return
	}
	if why := invalid(p.f, p.o); why != "" {
		w.emitCloud(p, why, false)
		return
	}
	if p.f.Default.IsSet() {
		if a, _ := (comparer{sealer: w.compare.sealer}).same(p.f, p.f.Default, p.o); a == no {
			w.emitCloud(p, "differs from the service's default "+p.f.Default.String(), false)
			return
		}
	}
	w.emitCloud(p, whyFilled, true)
}

func waits(v value.Value) string { return "known after " + strings.Join(v.Waits(), ", ") }

func reasonOf(g resource.Gap) string {
	if g.Reason == "" {
		return string(g.Kind)
	}
	return string(g.Kind) + ": " + g.Reason
}

// gapFor returns the gap that p lies in, the gravest where there are several.
func gapFor(gaps map[value.Path]resource.Gap, p value.Path) (resource.Gap, bool) {
	return gravest(gaps, func(q value.Path) bool { return p.Within(q) })
}

// gapInside returns the gap that lies in p.
func gapInside(gaps map[value.Path]resource.Gap, p value.Path) (resource.Gap, bool) {
	return gravest(gaps, func(q value.Path) bool { return q.Within(p) })
}

func gravest(gaps map[value.Path]resource.Gap, in func(value.Path) bool) (best resource.Gap, ok bool) {
	grave := []resource.GapKind{resource.GapNotReturned, resource.GapWriteOnly, resource.GapDenied, resource.GapUndecodable}
	for q, g := range gaps {
		if in(q) && (!ok || slices.Index(grave, g.Kind) > slices.Index(grave, best.Kind) || g.Kind == best.Kind && g.Reason < best.Reason) {
			best, ok = g, true
		}
	}
	return best, ok
}
