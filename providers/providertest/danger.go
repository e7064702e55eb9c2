package providertest

import (
	"crypto/rand"
	"maps"
	"slices"
	"testing"
	"time"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// sent counts how often the service was sent an operation.
func (c *Case) sent(op string) int {
	if c.Log == nil {
		return 0
	}
	n := 0
	for _, r := range c.Log() {
		if r.Operation == op {
			n++
		}
	}
	return n
}

// changes counts the changing requests that the service was sent.
func (c *Case) changes() int {
	if c.Log == nil {
		return 0
	}
	n := 0
	for _, r := range c.Log() {
		if r.Changing {
			n++
		}
	}
	return n
}

func deleteTwice(t *testing.T, c *Case) {
	o := c.make(t)
	was := c.read(t, o.key)
	if err := c.delete(t, o.key, o.params); err != nil {
		t.Fatalf("delete: %v", err)
	}
	if !c.gone(t, o.key) {
		t.Error("it is still there after its delete")
	}
	err := c.Provider.Delete(t.Context(), resource.Delete{Key: o.key, Expect: was.Identity, Nonce: c.owned(o.n)[resource.TagNonce], Recorded: o.params, Consent: true})
	if !resource.Is(err, resource.NotFound) {
		t.Errorf("delete again: %v, want not found", err)
	}
}

// S20
func deleteOther(t *testing.T, c *Case) {
	o := c.make(t)
	found := c.read(t, o.key).Identity
	wrong := map[string]resource.Delete{
		"the unique ID of another object":     {Expect: resource.Identity{UniqueID: "another"}},
		"the creation time of another object": {Expect: resource.Identity{CreatedAt: found.CreatedAt.Add(-time.Hour)}},
		"the nonce of another object":         {Nonce: "another"},
		"nothing to tell it by":               {},
	}
	for _, why := range slices.Sorted(maps.Keys(wrong)) {
		d := wrong[why]
		if _, known := d.Expect.Same(found); !d.Expect.IsZero() && !known || d.Nonce != "" && !c.Provider.Schema().Taggable() {
			continue // this type has no such thing
		}
		t.Run(why, func(t *testing.T) {
			d.Key, d.Recorded, d.Consent = o.key, value.Map{}, true
			before := c.changes()
			if err := c.Provider.Delete(t.Context(), d); !resource.Is(err, resource.IdentityMismatch) || !resource.DefinitelyNotExecuted(err) {
				t.Errorf("delete: %v, want another object, and surely not executed", err)
			}
			if c.changes() != before {
				t.Error("a changing request was sent")
			}
			c.check(t, o.key, o.params)
		})
	}
}

// S25
func deleteWithoutConsent(t *testing.T, c *Case) {
	if !c.Provider.Schema().DataBearing {
		return
	}
	o := c.make(t)
	before := c.changes()
	err := c.Provider.Delete(t.Context(), resource.Delete{Key: o.key, Expect: c.read(t, o.key).Identity, Recorded: o.params})
	if err == nil || !resource.DefinitelyNotExecuted(err) {
		t.Errorf("delete: %v, want a refusal", err)
	}
	if c.changes() != before {
		t.Error("a changing request was sent")
	}
	c.check(t, o.key, o.params)
}

func findOverPages(t *testing.T, c *Case) {
	finder, ok := c.Provider.(resource.Finder)
	if c.ListOp == "" || !ok {
		if c.ListOp != "" {
			t.Errorf("%T is no Finder", c.Provider)
		}
		return
	}
	if !c.Provider.Schema().Taggable() {
		findChildren(t, c, finder)
		return
	}
	if c.Provider.Schema().Tags == resource.NonceOnly {
		findByNonceOnly(t, c, finder)
		return
	}
	crowd := resource.Tags{resource.TagResource: "Crowd"}
	var last object
	for range c.Page + 2 {
		last = c.createTagged(t, crowd)
	}
	byNonce, err := finder.Find(t.Context(), resource.Query{Nonce: nonce(last.n)})
	if err != nil {
		t.Fatalf("find by nonce: %v", err)
	}
	if len(byNonce) != 1 || !byNonce[0].Key.Equal(last.key) || !byNonce[0].ByNonce || byNonce[0].ByTags {
		t.Fatalf("found %d by nonce, want only %v", len(byNonce), last.key)
	}
	byTags, err := finder.Find(t.Context(), resource.Query{Stack: tags(last.n)[resource.TagStack], Resource: "Crowd"})
	if err != nil {
		t.Fatalf("find by tags: %v", err)
	}
	identity := c.read(t, last.key).Identity // some types have none
	if len(byTags) != c.Page+2 {
		t.Errorf("found %d by tags, want %d: a page and two more", len(byTags), c.Page+2)
	}
	for _, found := range byTags {
		if !found.ByTags || found.ByNonce || found.Identity.IsZero() != identity.IsZero() || found.Owner == nil || !found.Params[c.Provider.Schema().TagParam].IsSet() {
			t.Errorf("candidate %v is not a whole look, found by its tags", found.Key)
		}
	}
	if none, err := finder.Find(t.Context(), resource.Query{Nonce: "nobody's"}); err != nil || len(none) > 0 {
		t.Errorf("found %d by nobody's nonce, %v; want none", len(none), err)
	}
	if c.Break == nil {
		return
	}
	c.Break(c.ListOp, Denied)
	if got, err := finder.Find(t.Context(), resource.Query{Nonce: nonce(last.n)}); !resource.Is(err, resource.AccessDenied) {
		t.Errorf("find, denied: %d candidates, %v; want access denied", len(got), err)
	}
	c.Break(c.ListOp, Malformed)
	if got, err := finder.Find(t.Context(), resource.Query{Nonce: nonce(last.n)}); !resource.Is(err, resource.ReadInvalid) {
		t.Errorf("find, malformed: %d candidates, %v; want read invalid", len(got), err)
	}
}

// findByNonceOnly: where only the ID holds the nonce, one object is found under its parent, and nothing by tags.
func findByNonceOnly(t *testing.T, c *Case, finder resource.Finder) {
	schema := c.Provider.Schema()
	var made []object
	for range c.Page + 2 {
		made = append(made, c.create(t))
	}
	for _, o := range []object{made[0], made[len(made)-1]} {
		found, err := finder.Find(t.Context(), resource.Query{Nonce: nonce(o.n), Stack: "stack-1", Resource: "Thing", Key: schema.Place(o.params), Like: o.params})
		if err != nil {
			t.Fatalf("find by nonce: %v", err)
		}
		if len(found) != 1 || !found[0].Key.Equal(o.key) || !found[0].ByNonce || found[0].ByTags || found[0].ServedAt.IsZero() || found[0].Identity.IsZero() {
			t.Errorf("found %d by nonce, want only %v, as a whole", len(found), o.key)
		}
	}
	place := schema.Place(made[0].params)
	if none, err := finder.Find(t.Context(), resource.Query{Nonce: "nobody's", Key: place}); err != nil || len(none) > 0 {
		t.Errorf("found %d by nobody's nonce, %v; want none", len(none), err)
	}
	if c.Break == nil {
		return
	}
	for kind, want := range map[string]resource.Kind{Denied: resource.AccessDenied, Malformed: resource.ReadInvalid} {
		c.Break(c.ListOp, kind)
		if got, err := finder.Find(t.Context(), resource.Query{Nonce: nonce(made[0].n), Key: place}); !resource.Is(err, want) {
			t.Errorf("find, %s: %d candidates, %v; want %s", kind, len(got), err, want)
		}
	}
}

// findChildren: an untaggable type is found under its parent, or by its natural key.
func findChildren(t *testing.T, c *Case, finder resource.Finder) {
	schema := c.Provider.Schema()
	var made []object
	for range c.Page + 2 {
		made = append(made, c.create(t))
	}
	for _, o := range []object{made[0], made[len(made)-1]} {
		place := schema.Place(o.params)
		found, err := finder.Find(t.Context(), resource.Query{Key: place, Like: o.params})
		if err != nil {
			t.Fatalf("find under %v: %v", place, err)
		}
		i := slices.IndexFunc(found, func(f resource.Candidate) bool { return f.Key.Equal(o.key) })
		if i < 0 || found[i].ByKey != (len(schema.Natural) > 0) || found[i].ServedAt.IsZero() || found[i].Identity.IsZero() {
			t.Errorf("%v is not found as a whole among %d under %v", o.key, len(found), place)
		}
		if len(schema.Natural) > 0 && len(found) != 1 {
			t.Errorf("found %d with the natural key %v, want one", len(found), place)
		}
		if len(schema.Natural) == 0 && len(found) < c.Page+2 {
			t.Errorf("found %d under %v, want all %d", len(found), place, c.Page+2)
		}
	}
	if c.Break == nil {
		return
	}
	for kind, want := range map[string]resource.Kind{Denied: resource.AccessDenied, Malformed: resource.ReadInvalid} {
		c.Break(c.ListOp, kind)
		if got, err := finder.Find(t.Context(), resource.Query{Key: schema.Place(made[0].params), Like: made[0].params}); !resource.Is(err, want) {
			t.Errorf("find, %s: %d candidates, %v; want %s", kind, len(got), err, want)
		}
	}
}

// S2: only the service's own "not found" is one.
func failedReads(t *testing.T, c *Case) {
	if c.Break == nil {
		return
	}
	o := c.make(t)
	for kind, want := range map[string]resource.Kind{Denied: resource.AccessDenied, Expired: resource.Expired, Malformed: resource.ReadInvalid} {
		t.Run(kind, func(t *testing.T) {
			c.Break(c.ReadOp, kind)
			if _, err := c.Provider.Read(t.Context(), o.key); !resource.Is(err, want) {
				t.Errorf("read: %v, want %s", err, want)
			}
		})
	}
	t.Run("throttled once is tried again", func(t *testing.T) {
		c.Break(c.ReadOp, Throttled)
		c.check(t, o.key, o.params)
	})
}

// S30: what a part's own call could not give is not absent, and does not spoil the rest.
func deniedParts(t *testing.T, c *Case) {
	if c.Break == nil {
		return
	}
	o := c.make(t)
	for op, param := range c.Parts {
		for kind, want := range map[string]resource.GapKind{Denied: resource.GapDenied, Malformed: resource.GapUndecodable} {
			t.Run(op+" "+kind, func(t *testing.T) {
				c.Break(op, kind)
				got := c.read(t, o.key)
				if !slices.ContainsFunc(slices.Collect(maps.Keys(got.Gaps)), func(p value.Path) bool { return p.Top() == param && got.Gaps[p].Kind == want }) {
					t.Errorf("gaps are %v, want %s for %s", got.Gaps, want, param)
				}
				if param == c.Provider.Schema().TagParam && got.Owner != nil {
					t.Errorf("ownership tags are %v, want nil: nobody could look", got.Owner)
				}
				c.check(t, o.key, o.params.Without(param))
			})
		}
	}
}

// S10
func unansweredCreate(t *testing.T, c *Case) {
	if c.Break == nil {
		return
	}
	for _, kind := range []string{Unanswered, ServerFail} {
		t.Run(kind, func(t *testing.T) {
			n, params := c.sample(t)
			before := c.sent(c.CreateOp)
			c.Break(c.CreateOp, kind)
			_, err := c.Provider.Create(t.Context(), resource.Create{Key: c.keyOf(params), Params: params, Tags: c.owned(n)})
			if !resource.Is(err, resource.Uncertain) || resource.DefinitelyNotExecuted(err) {
				t.Errorf("create: %v, want uncertain", err)
			}
			if got := c.sent(c.CreateOp) - before; got != 1 {
				t.Errorf("%s was sent %d times, want once", c.CreateOp, got)
			}
			if key := c.keyOf(params); len(key) > 0 {
				c.remove(key)
			}
		})
	}
}

// S20: a delete is sent right after the look that allows it, and never again by itself.
func unansweredDelete(t *testing.T, c *Case) {
	if c.Break == nil {
		return
	}
	for _, kind := range []string{Unanswered, ServerFail} {
		t.Run(kind, func(t *testing.T) {
			o := c.make(t)
			before := c.sent(c.DeleteOp)
			c.Break(c.DeleteOp, kind)
			if err := c.delete(t, o.key, o.params); !resource.Is(err, resource.Uncertain) || resource.DefinitelyNotExecuted(err) {
				t.Errorf("delete: %v, want uncertain", err)
			}
			if got := c.sent(c.DeleteOp) - before; got != 1 {
				t.Errorf("%s was sent %d times, want once", c.DeleteOp, got)
			}
		})
	}
}

// S10
func refusedCreate(t *testing.T, c *Case) {
	if c.Break == nil {
		return
	}
	for kind, want := range map[string]resource.Kind{Denied: resource.AccessDenied, Throttled: resource.Throttled, Expired: resource.Expired} {
		t.Run(kind, func(t *testing.T) {
			n, params := c.sample(t)
			before := c.sent(c.CreateOp)
			c.Break(c.CreateOp, kind)
			_, err := c.Provider.Create(t.Context(), resource.Create{Key: c.keyOf(params), Params: params, Tags: c.owned(n)})
			if !resource.Is(err, want) || !resource.DefinitelyNotExecuted(err) {
				t.Errorf("create: %v, want %s, and surely not executed", err, want)
			}
			if got := c.sent(c.CreateOp) - before; got != 1 {
				t.Errorf("%s was sent %d times, want once", c.CreateOp, got)
			}
		})
	}
}

// S2: the keys of another region's objects mean nothing here.
func fromElsewhere(t *testing.T, c *Case) {
	if c.Provider.Schema().Space != resource.PerRegion || c.Provider.Schema().Local {
		return
	}
	o := c.make(t)
	was := c.read(t, o.key)
	away := inRegion(t, c.Provider.Schema().Type, "us-west-2")
	if _, err := away.Read(t.Context(), o.key); !resource.Is(err, resource.NotFound) {
		t.Errorf("read: %v, want not found", err)
	}
	before := c.changes()
	err := away.Delete(t.Context(), resource.Delete{Key: o.key, Expect: was.Identity, Nonce: was.Owner[resource.TagNonce], Recorded: o.params, Consent: true})
	if !resource.Is(err, resource.NotFound) || c.changes() != before {
		t.Errorf("delete: %v, %d changing requests; want not found and none", err, c.changes()-before)
	}
	c.check(t, o.key, o.params)
}

// S12: absence inside the window is "not visible yet".
func notVisibleYet(t *testing.T, c *Case) {
	schema := c.Provider.Schema()
	if c.Break == nil || schema.Window == 0 || schema.Identity == resource.Upsert && !schema.Taggable() {
		return // what is no object, but a member of another, is seen with that
	}
	n, params := c.sample(t)
	owned := c.owned(n)
	if owned != nil {
		owned[resource.TagNonce] += "-" + rand.Text() // nobody can see it to take it away
	}
	c.Break(c.CreateOp, Lag)
	made, err := c.Provider.Create(t.Context(), resource.Create{Key: c.keyOf(params), Params: params, Tags: owned})
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	if _, err := c.Provider.Read(t.Context(), made.Key); !resource.Is(err, resource.NotFound) {
		t.Errorf("read: %v, want not found", err)
	}
	if schema.Identity != resource.Named || schema.Tags == resource.NonceOnly {
		return // a second create overwrites, or makes another
	}
	_, err = c.Provider.Create(t.Context(), resource.Create{Key: c.keyOf(params), Params: params, Tags: c.owned(n + 1)})
	if err == nil || !resource.DefinitelyNotExecuted(err) {
		t.Errorf("create again: %v, want a refusal, and surely not executed", err)
	}
}

func busyDelete(t *testing.T, c *Case) {
	if c.Break == nil || c.Busy == "" {
		return
	}
	o := c.make(t)
	c.Break(c.DeleteOp, ServerFail+":"+c.Busy)
	if err := c.delete(t, o.key, o.params); !resource.Is(err, resource.Busy) || !resource.DefinitelyNotExecuted(err) {
		t.Errorf("delete: %v, want busy, and surely not executed", err)
	}
	if err := c.delete(t, o.key, o.params); err != nil {
		t.Errorf("delete again: %v", err)
	}
}
