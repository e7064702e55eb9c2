package providertest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/diff"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// claim is one thing that every provider keeps.
type claim struct {
	name  string
	holds func(*testing.T, *Case)
}

var claims = []claim{
	{"a create makes one object, says its key, and every param comes back as it was set", createReadsBack},
	{"every value that config sets is sent", everythingIsSent},
	{"a second create of the same key is refused and changes nothing, succeeds where the type says Upsert, or makes another object where the service assigns the key", createTwice},
	{"nothing at the key reads as not found", absentIsNotFound},
	{"each mutable param is changed in place and alone", changedInPlace},
	{"no param that cannot be changed leads to a call", immutableIsFlagged},
	{"a param that config no longer sets goes back to what the service fills in", removedIsRestored},
	{"a half-made object is completed, and then needs no call", halfMadeIsCompleted},
	{"members that others added are never removed", strangersStay},
	{"ownership tags are apart from params, and an adoption adds them", ownershipIsApart},
	{"a delete removes the object, and the next one says not found", deleteTwice},
	{"a delete that expects another object is refused and sends nothing", deleteOther},
	{"a delete of data without consent is refused and sends nothing", deleteWithoutConsent},
	{"a lookup finds the one with our nonce over all pages", findOverPages},
	{"a read that fails is typed, and never reads as absent", failedReads},
	{"a part that is denied is a gap of that param", deniedParts},
	{"a create that got no answer is uncertain and was sent once", unansweredCreate},
	{"a delete that got no answer is uncertain and was sent once", unansweredDelete},
	{"a create that was refused was not executed", refusedCreate},
	{"from another region nothing is there, and a delete sends nothing", fromElsewhere},
	{"an object that reads do not see yet is not found, and is not made twice", notVisibleYet},
	{"a delete while another change is under way is busy, and was not executed", busyDelete},
}

// Run holds every claim against every case. Together the cases must set every param of the type.
func Run(t *testing.T, cases ...Case) {
	t.Run("every param of the schema is in a sample", func(t *testing.T) { accountForParams(t, cases) })
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			for _, cl := range claims {
				t.Run(cl.name, func(t *testing.T) {
					if why, ok := c.Disagrees[cl.name]; ok {
						t.Skip("skipped: " + c.Name + " is known to disagree: " + why)
					}
					cl.holds(t, &c)
				})
			}
			for name := range c.Disagrees {
				if !slices.ContainsFunc(claims, func(cl claim) bool { return cl.name == name }) {
					t.Errorf("Disagrees names no claim: %q", name)
				}
			}
		})
	}
}

// accountForParams fails for a param that no sample sets, and for a mutable one that no case changes.
func accountForParams(t *testing.T, cases []Case) {
	for _, f := range cases[0].Provider.Schema().Params {
		set := slices.ContainsFunc(cases, func(c Case) bool { return c.expand(t, c.Sample(0))[f.Name].IsSet() })
		changed := slices.ContainsFunc(cases, func(c Case) bool { return c.Changed[f.Name].IsSet() })
		derived := cases[0].Provider.Schema().Derived[f.Name] != nil
		if !set {
			t.Errorf("no sample sets %s", f.Name)
		}
		if f.Mode == resource.Mutable && !changed && !derived {
			t.Errorf("no case changes %s", f.Name)
		}
		if f.Shared && !slices.ContainsFunc(cases, func(c Case) bool { return c.Stranger[f.Name].IsSet() }) {
			t.Errorf("no case has a stranger's member of %s", f.Name)
		}
	}
}

// check compares what is there with what should be, param by param. A param that the read says it cannot give is left out.
func (c *Case) check(t *testing.T, key resource.Key, want value.Map) {
	t.Helper()
	o := c.read(t, key)
	for name, v := range want {
		f := c.Provider.Schema().Param(name)
		if _, gap := o.Gaps[value.Path(name)]; gap || f.WriteOnly {
			continue
		}
		if !same(f, v, o.Params[name]) {
			t.Errorf("%s is %v, want %v", name, o.Params[name], v)
		}
	}
}

func createReadsBack(t *testing.T, c *Case) {
	before := c.sent(c.CreateOp)
	o := c.make(t)
	if c.Log != nil && c.sent(c.CreateOp) != before+1 {
		t.Errorf("%s was sent %d times, want once", c.CreateOp, c.sent(c.CreateOp)-before)
	}
	got := c.read(t, o.key)
	if !got.Key.Equal(o.key) {
		t.Errorf("read says key %v, create said %v", got.Key, o.key)
	}
	if same, known := got.Identity.Same(o.made.Identity); known && !same {
		t.Errorf("read says identity %v, create said %v", got.Identity, o.made.Identity)
	}
	for name, v := range o.made.Output {
		if !value.Equal(v, got.Output[name]) {
			t.Errorf("read says output %s %v, create said %v", name, got.Output[name], v)
		}
	}
	for _, out := range c.Provider.Schema().Outputs {
		if _, missing := c.Missing[out.Name]; got.Output[out.Name].IsSet() == missing {
			t.Errorf("output %s is %v, and this variant lacks it: %v", out.Name, got.Output[out.Name], missing)
		}
	}
	if !got.Ready || got.ServedAt.IsZero() {
		t.Errorf("ready %v, served at %v: want a ready object and the service's time", got.Ready, got.ServedAt)
	}
	c.check(t, o.key, o.params)
}

func createTwice(t *testing.T, c *Case) {
	o := c.make(t)
	was := c.read(t, o.key)
	again := o.params
	for name, v := range c.Changed {
		if c.Lacks[name] == "" && c.With[name] == nil && !slices.Contains(c.Provider.Schema().Natural, name) {
			again = again.With(name, v)
		}
	}
	owned := c.owned(o.n + 1)
	if c.Provider.Schema().Tags == resource.NonceOnly {
		owned = c.owned(o.n) // the nonce is a part of the key
	}
	made, err := c.Provider.Create(t.Context(), resource.Create{Key: c.keyOf(o.params), Params: c.expand(t, again), Tags: owned})
	if c.Provider.Schema().Identity == resource.Assigned {
		if err != nil {
			t.Fatalf("create again: %v", err)
		}
		t.Cleanup(func() { c.remove(made.Key) })
		if made.Key.Equal(o.key) {
			t.Fatalf("the second create says key %v too", made.Key)
		}
		c.read(t, made.Key)
	} else if c.Provider.Schema().Identity == resource.Upsert {
		if err != nil || !made.Key.Equal(o.key) {
			t.Fatalf("create again: %v, %v, want the same key", made.Key, err)
		}
		if got := c.read(t, o.key).Owner[resource.TagNonce]; c.Provider.Schema().Taggable() && got != was.Owner[resource.TagNonce] {
			t.Errorf("the nonce is %q, want the first one's: a put leaves an existing object's tags", got)
		}
		return // what it overwrote is its own to say
	} else if !resource.Is(err, resource.AlreadyExists) || !resource.DefinitelyNotExecuted(err) {
		t.Fatalf("create again: %v, want already exists, and surely not executed", err)
	}
	if d := cmp.Diff(was.Params, c.read(t, o.key).Params); d != "" {
		t.Errorf("the second create changed the first object (-was +is):\n%s", d)
	}
}

func absentIsNotFound(t *testing.T, c *Case) {
	if _, err := c.Provider.Read(t.Context(), c.Absent); !resource.Is(err, resource.NotFound) {
		t.Errorf("read of nothing: %v, want not found", err)
	}
}

func changedInPlace(t *testing.T, c *Case) {
	for _, f := range c.Provider.Schema().Params {
		v := c.Changed[f.Name]
		if f.Mode != resource.Mutable || !v.IsSet() || c.Lacks[f.Name] != "" {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			o := c.make(t)
			was := c.read(t, o.key)
			desired := c.with(t, o.params, f.Name, v)
			if calls := c.sync(t, o.key, desired, o.params, c.moved(o.params, desired)...); len(calls) == 0 {
				t.Fatal("no call was made")
			}
			c.check(t, o.key, desired)
			if c.Provider.Schema().Local {
				return // replacing a file's bytes makes another file
			}
			if same, _ := c.read(t, o.key).Identity.Same(was.Identity); !same && !was.Identity.IsZero() {
				t.Errorf("another object is at the key now")
			}
		})
	}
}

// moved names the params in which a and b differ.
func (c *Case) moved(a, b value.Map) []string {
	var names []string
	for _, f := range c.Provider.Schema().Params {
		if !value.Equal(a[f.Name], b[f.Name]) && a[f.Name].IsSet() != b[f.Name].IsSet() || a[f.Name].IsSet() && !value.Equal(a[f.Name], b[f.Name]) {
			names = append(names, f.Name)
		}
	}
	return names
}

func immutableIsFlagged(t *testing.T, c *Case) {
	o := c.make(t)
	for _, f := range c.Provider.Schema().Params {
		if f.Mode == resource.Mutable {
			continue
		}
		desired := o.params.With(f.Name, another(o.params[f.Name]))
		c.forcesReplacement(t, &f, o, desired)
		calls, err := c.Provider.Sync(resource.Change{Key: o.key, Desired: desired, Recorded: o.params, Observed: c.read(t, o.key), Write: []string{f.Name}})
		if err == nil && len(calls) > 0 {
			t.Errorf("%s is %s, but writing it led to %s", f.Name, f.Mode, calls[0].Name)
		}
	}
}

// forcesReplacement checks that a present, valid, different value of a param that cannot be changed is found to differ,
// which is what a plan replaces an object for (SAFETY S28).
func (c *Case) forcesReplacement(t *testing.T, f *resource.Field, o object, desired value.Map) {
	t.Helper()
	was := c.read(t, o.key)
	if !o.params[f.Name].IsSet() || !was.Params[f.Name].IsSet() {
		return
	}
	res := diff.Compare(diff.Input{Schema: c.Provider.Schema(), Desired: desired, Recorded: o.params, Observed: was})
	if !slices.ContainsFunc(res.Fields, func(d diff.Field) bool { return d.Path.Top() == f.Name && d.Verdict == diff.Differs }) {
		t.Errorf("%s is %s and asked to be %v where it is %v, and nothing differs", f.Name, f.Mode, desired[f.Name], was.Params[f.Name])
	}
}

// another is a value of the same shape that is not v.
func another(v value.Value) value.Value {
	switch v.Kind() {
	case value.Bool:
		return value.Of(v.Reveal() != "true")
	case value.Number:
		return value.Num("4" + v.Reveal())
	case value.List:
		if items := v.Items(); len(items) > 0 {
			return value.ListOf(append([]value.Value{another(items[0])}, items[1:]...)...)
		}
	case value.Object:
		for _, name := range slices.Sorted(maps.Keys(v.Fields())) {
			return value.OfMap(v.Fields().With(name, another(v.Fields()[name])))
		}
	}
	return value.Of(v.Reveal() + "x")
}

// everythingIsSent looks for each text and number of a whole sample in what the service was sent.
func everythingIsSent(t *testing.T, c *Case) {
	if c.Log == nil {
		return
	}
	before := len(c.Log())
	o := c.make(t)
	var sent strings.Builder
	for _, r := range c.Log()[before:] {
		sent.WriteString(r.Params)
	}
	for name, v := range o.params {
		if c.Unsent[name] != "" || c.Provider.Schema().Derived[name] != nil {
			continue
		}
		for _, leaf := range leaves(v) {
			if !strings.Contains(sent.String(), leaf) {
				t.Errorf("%s sets %q, which is in no request", name, leaf)
			}
		}
	}
}

// leaves are the texts and numbers of a value, and the names in its maps, as they stand in JSON.
func leaves(v value.Value) (out []string) {
	switch v.Kind() {
	case value.List:
		for _, e := range v.Items() {
			out = append(out, leaves(e)...)
		}
	case value.Object:
		for _, e := range v.Fields() {
			out = append(out, leaves(e)...)
		}
	case value.String, value.Number:
		text, _ := json.Marshal(v.Reveal())
		out = append(out, strings.Trim(string(text), `"`))
	}
	return out
}

func removedIsRestored(t *testing.T, c *Case) {
	for _, f := range c.Provider.Schema().Params {
		if f.Mode != resource.Mutable || f.Required || !c.Sample(0)[f.Name].IsSet() || c.Lacks[f.Name]+c.Needs[f.Name] != "" || c.Provider.Schema().Local && !f.Default.IsSet() {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			o := c.make(t)
			if c.Keeps[f.Name] != "" {
				if calls := c.sync(t, o.key, o.params.Without(f.Name), o.params, f.Name); len(calls) > 0 {
					t.Errorf("%v was called, though the service cannot take it away", calls)
				}
				c.check(t, o.key, o.params)
				return
			}
			desired := c.with(t, o.params, f.Name, value.Value{})
			calls := c.sync(t, o.key, desired, o.params, append(slices.Collect(maps.Keys(c.along(f.Name, value.Value{}))), f.Name)...)
			if len(calls) == 0 {
				t.Fatal("no call was made")
			}
			got := c.read(t, o.key)
			if _, gap := got.Gaps[value.Path(f.Name)]; gap {
				return
			}
			filledIn := f.Default
			if v := c.FilledIn[f.Name]; v.IsSet() {
				filledIn = v
			}
			if v := got.Params[f.Name]; !restored(&f, v, filledIn) {
				t.Errorf("%s is %v, want the service's default %v", f.Name, v, filledIn)
			}
			c.check(t, o.key, desired)
		})
	}
}

// restored reports whether v is what the service fills in. Of an object without a default it is that of each member; where
// a member has none, the service's choice is not known here.
func restored(f *resource.Field, v, filledIn value.Value) bool {
	if hollow(v) || same(f, v, filledIn) {
		return true
	}
	if f.Type != resource.TObject || filledIn.IsSet() {
		return false
	}
	for name, e := range v.Fields() {
		if m := f.Lookup(name); m == nil || m.Default.IsSet() && !same(m, e, m.Default) {
			return false
		}
	}
	return true
}

// hollow reports whether v is not there, or an empty collection or text.
func hollow(v value.Value) bool {
	return v.Kind() == value.Absent || v.Kind() == value.Null ||
		v.Kind() == value.String && v.Reveal() == "" || v.Kind() == value.List && len(v.Items()) == 0 || v.Kind() == value.Object && len(v.Fields()) == 0
}

func halfMadeIsCompleted(t *testing.T, c *Case) {
	o := c.create(t)
	half := c.read(t, o.key)
	for _, name := range o.made.Unsent {
		if same(c.Provider.Schema().Param(name), o.params[name], half.Params[name]) {
			t.Errorf("the create says it did not carry %s, but it is there", name)
		}
	}
	c.sync(t, o.key, o.params, nil, o.made.Unsent...)
	c.check(t, o.key, o.params)
	var shared []string
	for _, f := range c.Provider.Schema().Params {
		if f.Shared {
			shared = append(shared, f.Name)
		}
	}
	if calls := c.sync(t, o.key, o.params, o.params, shared...); len(calls) > 0 {
		t.Errorf("nothing differs, but %v was called", calls)
	}
}

// S26
func strangersStay(t *testing.T, c *Case) {
	for _, name := range slices.Sorted(maps.Keys(c.Stranger)) {
		t.Run(name, func(t *testing.T) {
			o := c.make(t)
			both := o.params.With(name, join(o.params[name], c.Stranger[name]))
			c.sync(t, o.key, both, o.params, name) // the stranger's hand: nothing of it is recorded
			c.check(t, o.key, both)

			c.sync(t, o.key, o.params, o.params, name)
			c.check(t, o.key, both)
			gone := o.params.With(name, value.Value{})
			c.sync(t, o.key, gone, o.params, name)
			c.check(t, o.key, gone.With(name, c.Stranger[name]))
			c.unmakesNone(t, o.key, o.params, name)

			c.sync(t, o.key, gone, gone.With(name, c.Stranger[name]), name) // cleans up as the stranger
		})
	}
}

// unmakesNone checks that what stands on the object now is not touched before a delete.
func (c *Case) unmakesNone(t *testing.T, key resource.Key, recorded value.Map, param string) {
	t.Helper()
	o := c.read(t, key)
	calls, err := c.Provider.Unmake(resource.Delete{Key: key, Expect: o.Identity, Recorded: recorded}, o)
	if err != nil {
		t.Fatalf("unmake: %v", err)
	}
	for _, call := range calls {
		if slices.Contains(call.Params, param) {
			t.Errorf("before a delete, %s (%s) would take away what others added", call.Name, call.Detail)
		}
	}
}

func join(a, b value.Value) value.Value {
	if a.Kind() == value.List {
		return value.ListOf(slices.Concat(a.Items(), b.Items())...)
	}
	m := maps.Clone(a.Fields())
	maps.Copy(m, b.Fields())
	return value.OfMap(m)
}

// S4
func ownershipIsApart(t *testing.T, c *Case) {
	if !c.Provider.Schema().Taggable() {
		return
	}
	o := c.make(t)
	if c.Provider.Schema().Tags == resource.NonceOnly {
		if d := cmp.Diff(resource.Tags{resource.TagNonce: nonce(o.n)}, c.read(t, o.key).Owner); d != "" {
			t.Errorf("ownership (-want +got):\n%s", d)
		}
		return
	}
	if d := cmp.Diff(tags(o.n), c.read(t, o.key).Owner); d != "" {
		t.Errorf("ownership tags (-want +got):\n%s", d)
	}
	adopted := tags(o.n + 1)
	delete(adopted, resource.TagNonce)
	calls, err := c.Provider.Sync(resource.Change{Key: o.key, Desired: o.params, Recorded: o.params, Observed: c.read(t, o.key), Own: adopted})
	if err != nil || len(calls) != 1 {
		t.Fatalf("adopt: %d calls, %v; want one", len(calls), err)
	}
	if err := calls[0].Run(t.Context()); err != nil {
		t.Fatalf("run %s: %v", calls[0].Name, err)
	}
	adopted[resource.TagNonce] = nonce(o.n)
	if d := cmp.Diff(adopted, c.read(t, o.key).Owner); d != "" {
		t.Errorf("ownership tags after adoption (-want +got):\n%s", d)
	}
	tagParam := c.Provider.Schema().TagParam
	c.sync(t, o.key, o.params.With(tagParam, value.Value{}), o.params, tagParam)
	if d := cmp.Diff(adopted, c.read(t, o.key).Owner); d != "" {
		t.Errorf("ownership tags after the config's own were removed (-want +got):\n%s", d)
	}
}
