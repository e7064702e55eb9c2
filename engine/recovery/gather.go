package recovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// Gatherer collects evidence. It writes nothing and changes nothing.
type Gatherer struct {
	Store  record.Store
	Cloud  resource.Cloud // may be nil where nothing is to be looked at
	Sealer value.Sealer
	Now    func() time.Time
}

// Gather reads what the store knows of an unfinished record and, with look, asks the cloud: at the record's key, or by
// its nonces, tags and params. What the cloud answers, failures too, is evidence; an error means that the store could
// not be read.
func (g *Gatherer) Gather(ctx context.Context, r record.Record, look bool) (Evidence, error) {
	return g.gather(ctx, r, look, "", nil)
}

// Enter is Gather with an ID that an operator typed: its object is looked up too and judged like any other (SAFETY
// S15). A text that is no ID of the type is an error.
func (g *Gatherer) Enter(ctx context.Context, r record.Record, physical string) (Evidence, error) {
	return g.gather(ctx, r, true, physical, nil)
}

// Survey judges every unfinished create of a stack, in the order of the journal.
func (g *Gatherer) Survey(ctx context.Context, stack record.StackID, look bool) ([]Finding, error) {
	var list []record.Record
	var steps []record.Step
	err := g.Store.Read(ctx, func(v record.View) error {
		all, _, err := v.Records(stack)
		if err != nil {
			return err
		}
		list = slices.DeleteFunc(all, func(r record.Record) bool { return !g.needsVerdict(&r) })
		if len(list) == 0 {
			return nil
		}
		steps, err = v.Steps(stack, 0, 0)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read unfinished records of %s: %w", stack, err)
	}
	slices.SortStableFunc(list, func(a, b record.Record) int { return cmp.Compare(a.Seq, b.Seq) })
	var out []Finding
	for _, r := range list {
		own := slices.DeleteFunc(slices.Clone(steps), func(s record.Step) bool { return s.ID != r.ID || s.Gen != r.Gen })
		e, err := g.gather(ctx, r, look, "", own)
		if err != nil {
			return nil, err
		}
		out = append(out, Judge(e))
	}
	return out, nil
}

// needsVerdict: an Upsert that was acknowledged is not yet owned (SAFETY S9).
func (g *Gatherer) needsVerdict(r *record.Record) bool {
	if r.Uncertain() || r.Status != record.Acknowledged {
		return r.Uncertain()
	}
	p, ok := g.provider(r.Type)
	return ok && p.Schema().Identity == resource.Upsert
}

func (g *Gatherer) provider(typ string) (resource.Provider, bool) {
	if g.Cloud == nil {
		return nil, false
	}
	return g.Cloud.Provider(typ)
}

func (g *Gatherer) gather(ctx context.Context, r record.Record, look bool, entered string, steps []record.Step) (Evidence, error) {
	e := Evidence{Record: r, Now: g.Now(), Sealer: g.Sealer, Steps: steps}
	p, ok := g.provider(r.Type)
	if ok {
		e.Schema = p.Schema()
	}
	if err := g.Store.Read(ctx, func(v record.View) error { return recall(v, &e) }); err != nil {
		return Evidence{}, fmt.Errorf("read what is recorded of %s: %w", r.ID, err)
	}
	if !ok || !look {
		return e, nil
	}
	l := looker{cloud: g.Cloud, provider: p, e: &e}
	if entered != "" {
		key, err := e.Schema.ParsePhysical(entered, g.Cloud.Machine())
		if err != nil {
			return Evidence{}, err
		}
		e.Entered = e.Schema.Physical(key)
		l.extra = append(l.extra, key)
	}
	l.look(ctx)
	if err := g.Store.Read(ctx, func(v record.View) error { return claims(v, &e) }); err != nil {
		return Evidence{}, fmt.Errorf("read who claims what was found for %s: %w", r.ID, err)
	}
	return e, nil
}

// recall reads what the store knows. A failed f may be run again, so it sets what it reads.
func recall(v record.View, e *Evidence) error {
	r := &e.Record
	e.StoreID, e.Ancestors = v.StoreID(), v.Ancestors()
	e.Retired, e.Rivals = nil, nil
	for gen := 1; gen < r.Gen; gen++ {
		old, ok, err := v.Record(r.Stack, r.ID, gen)
		if err != nil {
			return err
		}
		if ok {
			e.Retired = append(e.Retired, old)
		}
	}
	tombs, err := v.Tombstones(r.Stack)
	if err != nil {
		return err
	}
	e.Tombstones = slices.DeleteFunc(tombs, func(t record.Tombstone) bool { return t.ID != r.ID || t.Type != r.Type })
	stray, err := v.Evidence(r.Stack)
	if err != nil {
		return err
	}
	e.Stray = slices.DeleteFunc(stray, func(s record.Evidence) bool { return s.ID != r.ID || s.Gen != r.Gen })
	if e.Schema == nil || e.Schema.Taggable() || e.Schema.KeyByParams() {
		return nil
	}
	return rivals(v, e)
}

// rivals are other unfinished records of an untaggable type: what one of them made cannot be told from what this one
// made (SAFETY S13).
func rivals(v record.View, e *Evidence) error {
	stacks, err := v.Stacks()
	if err != nil {
		return err
	}
	for _, s := range stacks {
		list, _, err := v.Records(s)
		if err != nil {
			return err
		}
		for _, o := range list {
			self := o.Stack == e.Record.Stack && o.ID == e.Record.ID && o.Gen == e.Record.Gen
			if o.Type == e.Record.Type && !self && o.Status.Unfinished() && o.Intent != nil && len(o.Key) == 0 && sameParent(e, o) {
				e.Rivals = append(e.Rivals, o)
			}
		}
	}
	return nil
}

func sameParent(e *Evidence, o record.Record) bool {
	if e.Record.Intent == nil {
		return true
	}
	return !slices.ContainsFunc(e.Schema.Parent, func(p string) bool {
		a, b := e.Record.Intent.Params[p], o.Intent.Params[p]
		return a.IsSet() && b.IsSet() && !value.Equal(a, b)
	})
}

// claims finds the live records of other resources that claim what was found.
func claims(v record.View, e *Evidence) error {
	e.Claims = map[string]record.Record{}
	for _, c := range e.Candidates {
		by, ok, err := v.Claimant(e.Schema.Claim(e.Record.Stack.Scope, c.Key))
		if err != nil {
			return err
		}
		if ok && (by.Stack != e.Record.Stack || by.ID != e.Record.ID) {
			e.Claims[e.Schema.Physical(c.Key)] = by
		}
	}
	return nil
}

// looker makes the looks of one record and writes down what they said.
type looker struct {
	cloud    resource.Cloud
	provider resource.Provider
	e        *Evidence
	extra    []resource.Key // to read besides: typed IDs, keys of stray acknowledgements
}

// look asks for the object. Its place is verified before and after: absence counts only in the record's own (S2).
func (l *looker) look(ctx context.Context) {
	l.e.Looked = true
	steps := []func(context.Context) error{l.verify, l.byKey, l.bySearch, l.others, l.request, l.verify}
	for _, step := range steps {
		if l.e.LookErr = step(ctx); l.e.LookErr != nil || l.e.Wrong != "" {
			return
		}
	}
}

func (l *looker) verify(ctx context.Context) error {
	key := l.key()
	if m := key["Machine"]; m != "" && m != l.cloud.Machine() {
		l.e.Wrong = fmt.Sprintf("it lies on machine %s, and this is %s", m, l.cloud.Machine())
		return nil
	}
	if l.e.Schema.Local {
		return nil
	}
	got, err := l.cloud.Verify(ctx)
	if err != nil {
		l.saw("Verify", time.Time{}, string(resource.KindOf(err)))
		return err
	}
	if want := l.e.Record.Stack.Scope; got != want {
		l.e.Wrong = fmt.Sprintf("credentials and endpoint lead to %s, not to %s", got, want)
	}
	return nil
}

// key is where config or an acknowledgement says the object is; nil while only the cloud knows.
func (l *looker) key() resource.Key {
	r := &l.e.Record
	if len(r.Key) > 0 {
		return r.Key
	}
	if r.Intent == nil {
		return nil
	}
	if len(r.Intent.Key) > 0 {
		return r.Intent.Key
	}
	key, _ := l.e.Schema.KeyOf(r.Intent.Params, l.cloud.Machine())
	return key
}

func (l *looker) byKey(ctx context.Context) error {
	if key := l.key(); l.complete(key) {
		return l.read(ctx, key)
	}
	return nil
}

// complete reports whether key addresses one object.
func (l *looker) complete(key resource.Key) bool {
	return len(key) > 0 && !slices.ContainsFunc(l.e.Schema.Key, func(part string) bool { return key[part] == "" })
}

// bySearch finds by nonce, tags and place: always where the service assigns the ID, and where the service said that
// something exists and nothing is at our spelling of the key.
func (l *looker) bySearch(ctx context.Context) error {
	f, ok := l.provider.(resource.Finder)
	if !ok || l.e.Schema.KeyByParams() && !(len(l.e.Candidates) == 0 && answeredExists(l.e.Record.Intent)) {
		return nil
	}
	for _, q := range l.queries() {
		found, err := f.Find(ctx, q)
		if err != nil {
			l.saw(opOf(err, "search"), servedAt(err), string(resource.KindOf(err)))
			return err
		}
		for _, c := range found {
			l.add(c)
		}
		source, at := "search of "+l.e.Schema.Type, time.Time{}
		if len(found) > 0 {
			source, at = cmp.Or(found[0].Sources["object"], source), found[0].ServedAt
		}
		l.saw(source, at, fmt.Sprintf("%d objects by nonce %s, tags or params", len(found), short(q.Nonce)))
	}
	return nil
}

func answeredExists(i *record.Intent) bool {
	return i != nil && slices.ContainsFunc(i.Attempts, func(a record.Attempt) bool { return a.Outcome == record.Exists })
}

// place is what is known of where the object is: from what was sent, or from the part of the key that config gave.
func (l *looker) place() resource.Key {
	r := &l.e.Record
	params := r.Params
	if r.Intent != nil && r.Intent.Params != nil {
		params = r.Intent.Params
	}
	place := l.e.Schema.Place(params)
	for name, text := range l.key() {
		if l.e.Schema.Param(name) != nil {
			place[name] = text
		}
	}
	return place
}

// queries: one for each nonce that this resource ever sent. The first asks for tags and params as well.
func (l *looker) queries() []resource.Query {
	r := &l.e.Record
	first := resource.Query{Stack: r.Stack.String(), Resource: r.ID, Key: l.place()}
	var nonces []string
	if r.Intent != nil {
		first.Nonce, first.Like = r.Intent.Nonce, r.Intent.Params
	}
	for _, f := range r.Former {
		nonces = append(nonces, f.Nonce)
	}
	for _, t := range l.e.Tombstones {
		nonces = append(nonces, t.Nonces...)
	}
	out := []resource.Query{first}
	for _, n := range nonces {
		if n != "" && l.e.Schema.Taggable() {
			out = append(out, resource.Query{Nonce: n, Key: first.Key})
		}
	}
	return out
}

// others reads what an operator typed and what acknowledgements outside a hold named.
func (l *looker) others(ctx context.Context) error {
	for _, s := range l.e.Stray {
		if l.complete(s.Key) {
			l.extra = append(l.extra, s.Key)
		}
	}
	for _, key := range l.extra {
		if l.has(key) {
			continue
		}
		if err := l.read(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

func (l *looker) request(ctx context.Context) error {
	r, ok := l.provider.(Requester)
	if !ok || l.e.Record.Intent == nil || l.e.Record.Intent.Token == "" {
		return nil
	}
	state, err := r.Request(ctx, l.e.Record.Intent.Token)
	l.e.Request = state
	return err
}

// read looks at one key. Not found is an answer.
func (l *looker) read(ctx context.Context, key resource.Key) error {
	obs, err := l.provider.Read(ctx, key)
	physical := l.e.Schema.Physical(key)
	switch {
	case err == nil:
		l.saw(cmp.Or(obs.Sources["object"], "read of "+l.e.Schema.Type), obs.ServedAt, physical+" is there")
		l.add(resource.Candidate{Observation: *obs})
		return nil
	case resource.Is(err, resource.NotFound):
		l.saw(opOf(err, "read of "+l.e.Schema.Type), servedAt(err), physical+" is absent")
		return nil
	}
	l.saw(opOf(err, "read of "+l.e.Schema.Type), servedAt(err), string(resource.KindOf(err)))
	return err
}

// add keeps a candidate; one that was found in several ways is one.
func (l *looker) add(c resource.Candidate) {
	for i := range l.e.Candidates {
		have := &l.e.Candidates[i]
		if have.Key.Equal(c.Key) {
			have.ByNonce, have.ByTags = have.ByNonce || c.ByNonce, have.ByTags || c.ByTags
			have.ByKey, have.ByName = have.ByKey || c.ByKey, have.ByName || c.ByName
			return
		}
	}
	l.e.Candidates = append(l.e.Candidates, c)
}

func (l *looker) has(key resource.Key) bool {
	return slices.ContainsFunc(l.e.Candidates, func(c resource.Candidate) bool { return c.Key.Equal(key) })
}

func (l *looker) saw(call string, at time.Time, result string) {
	l.e.Looks = append(l.e.Looks, record.Look{Call: call, At: at, Result: result})
}

func opOf(err error, otherwise string) string {
	if e, ok := errors.AsType[*resource.Error](err); ok {
		return cmp.Or(e.Op, otherwise)
	}
	return otherwise
}

func servedAt(err error) time.Time {
	if e, ok := errors.AsType[*resource.Error](err); ok {
		return e.ServedAt
	}
	return time.Time{}
}
