package events_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/events"
	"reclaim/providers/awssim"
	"reclaim/providers/providertest"
)

// sim is a simulated cloud with the provider under test.
type sim struct {
	*awssim.Server
	p resource.Provider
}

func start(t *testing.T) sim {
	t.Helper()
	b := providertest.Sim(t)
	furnish(t, b.Sim)
	return sim{b.Sim, events.Providers(b.Session)[0]}
}

func keyOf(name string) resource.Key {
	return resource.Key{"EventBusName": "default", "Name": name}
}

func (s sim) put(t *testing.T, params map[string]any) {
	t.Helper()
	act(t, s.Server, "events", "PutRule", params)
}

func (s sim) read(t *testing.T, name string) *resource.Observation {
	t.Helper()
	o, err := s.p.Read(t.Context(), keyOf(name))
	if err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	return o
}

// sync plans what brings tick from recorded to desired, runs it, and returns the calls.
func (s sim) sync(t *testing.T, desired, recorded value.Map, write ...string) ([]string, error) {
	t.Helper()
	calls, err := s.p.Sync(resource.Change{Key: keyOf("tick"), Desired: desired, Recorded: recorded, Observed: s.read(t, "tick"), Write: write})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range calls {
		names = append(names, c.Name+" "+c.Detail)
		if err := c.Run(t.Context()); err != nil {
			return names, err
		}
	}
	return names, nil
}

const everyDay = "cron(0 0 * * ? *)"

// S9, exists-011: a stranger's rule is overwritten, but a create never says that it is ours: its tags stay, and no target
// was sent.
func TestACreateOverARuleThatIsThereDoesNotPretend(t *testing.T) {
	s := start(t)
	s.put(t, map[string]any{"Name": "every-night", "EventPattern": `{"source":["bank"]}`, "Description": "theirs",
		"Tags": []any{map[string]any{"Key": "owner", "Value": "bank"}}})
	act(t, s.Server, "events", "PutTargets", map[string]any{"Rule": "every-night", "Targets": []any{map[string]any{"Id": "a", "Arn": function + "theirs"}}})
	params := value.Map{"Name": value.Of("every-night"), "ScheduleExpression": value.Of(everyDay), "Targets": parse(t, `[{"Id":"ours","Arn":"`+function+`f"}]`)}
	made, err := s.p.Create(t.Context(), resource.Create{Key: keyOf("every-night"), Params: params, Tags: resource.Tags{resource.TagNonce: "n1"}})
	if err != nil || !made.Identity.IsZero() || !slices.Equal(made.Unsent, []string{"Targets"}) {
		t.Fatalf("created %+v, %v; want no identity, and targets unsent", made, err)
	}
	o := s.read(t, "every-night")
	if o.Owner == nil || len(o.Owner) > 0 {
		t.Errorf("marks are %v, want none, and known to be none: the nonce was ignored", o.Owner)
	}
	if o.Params["EventPattern"].IsSet() || len(o.Params["Targets"].Items()) != 1 {
		t.Errorf("the rule reads %v, want the service's reset and the stranger's target", o.Params)
	}
}

// S27: PutRule resets what it is not given, so what is not to be written is sent as observed.
func TestAnUpdateKeepsWhatItDoesNotWrite(t *testing.T) {
	s := start(t)
	s.put(t, map[string]any{"Name": "tick", "EventPattern": `{"source":["ledger"]}`, "ScheduleExpression": everyDay, "Description": "old",
		"State": "DISABLED", "RoleArn": role + "bus-caller"})
	names, err := s.sync(t, value.Map{"Description": value.Of("new")}, nil, "Description")
	if err != nil || !slices.Equal(names, []string{"PutRule Description"}) {
		t.Fatalf("called %v, %v; want one PutRule", names, err)
	}
	r := s.State().Rules[0]
	got := []string{r.Description, r.Pattern, r.Schedule, r.State, r.RoleARN}
	if d := cmp.Diff([]string{"new", `{"source":["ledger"]}`, everyDay, "DISABLED", role + "bus-caller"}, got); d != "" {
		t.Errorf("rule (-want +got):\n%s", d)
	}
}

// S30: all settings travel in one put; one that could not be read is not taken away by it.
func TestASettingThatCouldNotBeReadStopsThePut(t *testing.T) {
	p := silent(t, map[string]string{"DescribeRule": `{"Name":"tick","Arn":"arn:aws:events:eu-west-1:111122223333:rule/tick","EventPattern":"{"}`,
		"ListTagsForResource": `{"Tags":[]}`, "ListTargetsByRule": `{"Targets":[]}`})
	o, err := p.Read(t.Context(), keyOf("tick"))
	if err != nil || o.Gaps["EventPattern"].Kind != resource.GapUndecodable {
		t.Fatalf("read %+v, %v; want an undecodable pattern", o, err)
	}
	change := resource.Change{Key: keyOf("tick"), Desired: value.Map{"Description": value.Of("new")}, Observed: o, Write: []string{"Description"}}
	if calls, err := p.Sync(change); err == nil || !resource.DefinitelyNotExecuted(err) {
		t.Errorf("%d calls, %v; want a refusal", len(calls), err)
	}
	change = resource.Change{Key: keyOf("tick"), Desired: value.Map{"EventPattern": parse(t, `{"source":["a"]}`)}, Observed: o, Write: []string{"EventPattern"}}
	calls, err := p.Sync(change)
	if err != nil || len(calls) != 1 || len(calls[0].Params) != 5 {
		t.Errorf("%v, %v; want one call in which all five settings travel", calls, err)
	}
}

// The state has calls of its own, which touch nothing else.
func TestTheStateIsChangedAlone(t *testing.T) {
	for why, c := range map[string]struct {
		state value.Value
		want  string
	}{
		"disabled": {value.Of("DISABLED"), "DisableRule "}, "enabled": {value.Of("ENABLED"), "EnableRule "}, "no longer set": {value.Value{}, "EnableRule "},
		"the third state has no call of its own": {value.Of("ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS"), "PutRule State"},
	} {
		t.Run(why, func(t *testing.T) {
			s := start(t)
			s.put(t, map[string]any{"Name": "tick", "ScheduleExpression": everyDay, "Description": "kept"})
			names, err := s.sync(t, value.Map{"State": c.state}, nil, "State")
			if err != nil || !slices.Equal(names, []string{c.want}) {
				t.Errorf("called %v, %v; want %s", names, err, c.want)
			}
			want := "ENABLED"
			if c.state.IsSet() {
				want = c.state.Reveal()
			}
			if r := s.State().Rules[0]; r.State != want || r.Description != "kept" || r.Schedule != everyDay {
				t.Errorf("the rule is %+v, want %s and the rest kept", r, want)
			}
		})
	}
}

func (s sim) targets(t *testing.T, ids ...string) {
	t.Helper()
	var list []any
	for _, id := range ids {
		list = append(list, map[string]any{"Id": id, "Arn": function + id})
	}
	act(t, s.Server, "events", "PutTargets", map[string]any{"Rule": "tick", "Targets": list})
}

func targetList(t *testing.T, ids ...string) value.Map {
	var items []value.Value
	for _, id := range ids {
		items = append(items, value.Of(map[string]string{"Id": id, "Arn": function + id}))
	}
	return value.Map{"Targets": value.ListOf(items...)}
}

// Only what differs is put; new before old, unless the quota has no room for both.
func TestOnlyTargetsThatDifferArePut(t *testing.T) {
	for why, c := range map[string]struct {
		there, recorded, desired []string
		want                     []string
	}{
		"nothing differs":                    {[]string{"a", "b"}, []string{"a", "b"}, []string{"b", "a"}, nil},
		"one is new":                         {[]string{"a"}, []string{"a"}, []string{"a", "b"}, []string{"PutTargets targets b"}},
		"one takes the place of another":     {[]string{"a"}, []string{"a"}, []string{"b"}, []string{"PutTargets targets b", "RemoveTargets targets a"}},
		"a full rule makes room first":       {[]string{"a", "b", "c", "d", "e"}, []string{"a"}, []string{"f"}, []string{"RemoveTargets targets a", "PutTargets targets f"}},
		"a stranger's stays":                 {[]string{"a", "theirs"}, []string{"a"}, nil, []string{"RemoveTargets targets a"}},
		"ours that somebody took stays away": {nil, []string{"a"}, nil, nil},
	} {
		t.Run(why, func(t *testing.T) {
			s := start(t)
			s.put(t, map[string]any{"Name": "tick", "ScheduleExpression": everyDay})
			if len(c.there) > 0 {
				s.targets(t, c.there...)
			}
			names, err := s.sync(t, targetList(t, c.desired...), targetList(t, c.recorded...), "Targets")
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, names); d != "" {
				t.Errorf("calls (-want +got):\n%s", d)
			}
		})
	}
}

// What others added to a target of ours is no reason to write it; what we recorded and dropped is.
func TestATargetIsComparedByWhatConfigSets(t *testing.T) {
	const base = `{"Id":"a","Arn":"arn:aws:lambda:eu-west-1:111122223333:function:a"`
	for why, c := range map[string]struct {
		there, recorded, desired string
		puts                     bool
	}{
		"somebody added a retry policy":                {`,"RetryPolicy":{"MaximumRetryAttempts":3}}`, `}`, `}`, false},
		"ours was dropped from config":                 {`,"RetryPolicy":{"MaximumRetryAttempts":3}}`, `,"RetryPolicy":{"MaximumRetryAttempts":3}}`, `}`, true},
		"no attempts is not the default":               {`}`, `}`, `,"RetryPolicy":{"MaximumRetryAttempts":0}}`, true},
		"input is compared as JSON":                    {`,"Input":"{\"a\": 1, \"b\":2}"}`, `}`, `,"Input":"{\"b\":2,\"a\":1}"}`, false},
		"another input is another":                     {`,"Input":"{\"a\":1}"}`, `}`, `,"Input":"{\"a\":2}"}`, true},
		"parameters with nothing in them are not none": {`}`, `}`, `,"HttpParameters":{"PathParameterValues":[]}}`, true},
		"the order of path parameters counts":          {`,"HttpParameters":{"PathParameterValues":["a","b"]}}`, `}`, `,"HttpParameters":{"PathParameterValues":["b","a"]}}`, true},
		"another function under the same ID is":        {`}`, `}`, `x`, true},
	} {
		t.Run(why, func(t *testing.T) {
			s := start(t)
			s.put(t, map[string]any{"Name": "tick", "ScheduleExpression": everyDay})
			raw := parse(t, base+c.there).Plain()
			act(t, s.Server, "events", "PutTargets", map[string]any{"Rule": "tick", "Targets": []any{raw}})
			one := func(text string) value.Map {
				if text == "x" {
					return targetList(t, "x").With("Targets", parse(t, `[{"Id":"a","Arn":"`+function+`other"}]`))
				}
				return value.Map{"Targets": parse(t, "["+base+text+"]")}
			}
			names, err := s.sync(t, one(c.desired), one(c.recorded), "Targets")
			if err != nil || (len(names) > 0) != c.puts {
				t.Errorf("called %v, %v; want a put %v", names, err, c.puts)
			}
		})
	}
}

// A 200 with failed entries is a failure, of the kind that their code says.
func TestFailedEntriesAreAFailure(t *testing.T) {
	entry := func(code string) string {
		return `{"FailedEntryCount":1,"FailedEntries":[{"TargetId":"a","ErrorCode":"` + code + `","ErrorMessage":"no"}]}`
	}
	for why, c := range map[string]struct {
		ids      []string
		answer   string
		kind     resource.Kind
		executed resource.Tri
	}{
		"busy, and nothing was done":                 {[]string{"a"}, entry("ConcurrentModificationException"), resource.Busy, resource.No},
		"busy, but the other target was put":         {[]string{"a", "b"}, entry("ConcurrentModificationException"), resource.Busy, resource.Yes},
		"what it refers to is not there":             {[]string{"a"}, entry("ResourceNotFoundException"), resource.NotFound, resource.No},
		"managed by another service":                 {[]string{"a"}, entry("ManagedRuleException"), resource.Rejected, resource.No},
		"throttled":                                  {[]string{"a"}, entry("ThrottlingException"), resource.Throttled, resource.No},
		"an internal failure leaves it open":         {[]string{"a"}, entry("InternalFailure"), resource.Uncertain, resource.Perhaps},
		"a count without entries leaves it open":     {[]string{"a"}, `{"FailedEntryCount":1}`, resource.Uncertain, resource.Perhaps},
		"entries without a count are failures too":   {[]string{"a"}, `{"FailedEntries":[{"TargetId":"a","ErrorCode":"LimitExceededException"}]}`, resource.Rejected, resource.No},
		"an answer without failed ones is a success": {[]string{"a"}, `{"FailedEntryCount":0,"FailedEntries":[]}`, "", ""},
	} {
		t.Run(why, func(t *testing.T) {
			p := silent(t, map[string]string{"PutTargets": c.answer, "RemoveTargets": c.answer})
			empty := &resource.Observation{Params: value.Map{"Targets": value.ListOf()}}
			both := &resource.Observation{Params: targetList(t, c.ids...)}
			for op, change := range map[string]resource.Change{
				"PutTargets":    {Key: keyOf("tick"), Desired: targetList(t, c.ids...), Observed: empty, Write: []string{"Targets"}},
				"RemoveTargets": {Key: keyOf("tick"), Recorded: targetList(t, c.ids...), Observed: both, Write: []string{"Targets"}},
			} {
				calls, err := p.Sync(change)
				if err != nil || len(calls) != 1 || calls[0].Name != op {
					t.Fatalf("%v, %v; want one %s", calls, err, op)
				}
				err = calls[0].Run(t.Context())
				if resource.KindOf(err) != c.kind {
					t.Fatalf("%s: %v, want %q", op, err, c.kind)
				}
				if e, ok := errors.AsType[*resource.Error](err); ok && e.Executed != c.executed {
					t.Errorf("%s: executed %s, want %s", op, e.Executed, c.executed)
				}
			}
		})
	}
	t.Run("met in the simulated cloud, beside one that was put", func(t *testing.T) {
		s := start(t)
		s.put(t, map[string]any{"Name": "tick", "ScheduleExpression": everyDay})
		_, err := s.sync(t, value.Map{"Targets": parse(t, `[{"Id":"ok","Arn":"`+function+`f"},{"Id":"none","Arn":"arn:aws:events:eu-west-1:111122223333:event-bus/none"}]`)}, nil, "Targets")
		if !resource.Is(err, resource.NotFound) || resource.DefinitelyNotExecuted(err) || !strings.Contains(err.Error(), "none") {
			t.Errorf("put: %v, want a failure that names the target and is no proof of nothing", err)
		}
	})
}

// A role that EventBridge cannot assume yet, and a bus that is not there, are about something else than the rule.
func TestWhatARuleDependsOnMayNotBeReady(t *testing.T) {
	s := start(t)
	for why, c := range map[string]struct {
		key    resource.Key
		params value.Map
		want   resource.Kind
	}{
		"a role that is not there":          {keyOf("a"), value.Map{"ScheduleExpression": value.Of(everyDay), "RoleArn": value.Of(role + "later")}, resource.NotReady},
		"a bus that is not there":           {resource.Key{"EventBusName": "later", "Name": "a"}, value.Map{"EventPattern": parse(t, `{"source":["a"]}`)}, resource.NotReady},
		"a schedule that there is not":      {keyOf("a"), value.Map{"ScheduleExpression": value.Of("rate(often)")}, resource.Rejected},
		"a pattern that matches no grammar": {keyOf("a"), value.Map{"EventPattern": parse(t, `{"source":"a"}`)}, resource.Rejected},
	} {
		t.Run(why, func(t *testing.T) {
			_, err := s.p.Create(t.Context(), resource.Create{Key: c.key, Params: c.params})
			if !resource.Is(err, c.want) || !resource.DefinitelyNotExecuted(err) {
				t.Errorf("create: %v, want %s, and surely not executed", err, c.want)
			}
		})
	}
	t.Run("a target's role", func(t *testing.T) {
		s.put(t, map[string]any{"Name": "tick", "ScheduleExpression": everyDay})
		_, err := s.sync(t, value.Map{"Targets": parse(t, `[{"Id":"a","Arn":"`+function+`a","RoleArn":"`+role+`later"}]`)}, nil, "Targets")
		if !resource.Is(err, resource.NotReady) {
			t.Errorf("put targets: %v, want not ready", err)
		}
	})
}

// A rule that another service manages says so among its marks, and refuses changes for good.
func TestARuleThatAnotherServiceManagesIsForeign(t *testing.T) {
	s := start(t)
	s.put(t, map[string]any{"Name": "tick", "ScheduleExpression": everyDay, "ManagedBy": "states.amazonaws.com"})
	if got := s.read(t, "tick").Owner.Foreign(); !slices.Equal(got, []string{"aws:events:managed-by=states.amazonaws.com"}) {
		t.Errorf("foreign marks are %v", got)
	}
	_, err := s.sync(t, value.Map{"Description": value.Of("ours")}, nil, "Description")
	if e, ok := errors.AsType[*resource.Error](err); !ok || e.Kind != resource.Rejected || e.Code != "ManagedRuleException" {
		t.Errorf("update: %v, want refused", err)
	}
	err = s.p.Delete(t.Context(), resource.Delete{Key: keyOf("tick"), Recorded: value.Map{"ScheduleExpression": value.Of(everyDay)}})
	if e, ok := errors.AsType[*resource.Error](err); !ok || e.Code != "ManagedRuleException" {
		t.Errorf("delete: %v, want refused: it is never forced", err)
	}
}

// S26: ours come off first; what others added makes the delete refused, by name.
func TestStrangersTargetsKeepARuleFromBeingDeleted(t *testing.T) {
	s := start(t)
	params := value.Map{"Name": value.Of("tick"), "ScheduleExpression": value.Of(everyDay)}
	if _, err := s.p.Create(t.Context(), resource.Create{Key: keyOf("tick"), Params: params, Tags: resource.Tags{resource.TagNonce: "n1"}}); err != nil {
		t.Fatal(err)
	}
	s.targets(t, "ours", "theirs")
	d := resource.Delete{Key: keyOf("tick"), Nonce: "n1", Recorded: targetList(t, "ours", "long-gone")}
	calls, err := s.p.Unmake(d, s.read(t, "tick"))
	if err != nil || len(calls) != 1 || calls[0].Detail != "targets ours" {
		t.Fatalf("unmake: %v, %v; want ours alone", calls, err)
	}
	if err := calls[0].Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = s.p.Delete(t.Context(), d)
	if e, ok := errors.AsType[*resource.Error](err); !ok || e.Kind != resource.InUse || !slices.Equal(e.Blockers, []string{"target theirs (" + function + "theirs)"}) {
		t.Errorf("delete: %v, want in use by the stranger's target", err)
	}
	if got := s.TargetsOf("tick"); len(got) != 1 || got[0].ID != "theirs" {
		t.Errorf("an event would go to %v, want the stranger's alone", got)
	}
}

// S20: a rule has no identity. Adopted, and so without our nonce, it is ours by what was recorded.
func TestAnAdoptedRuleIsDeletedOnlyAsItWasRecorded(t *testing.T) {
	asIs := value.Map{"EventPattern": value.Of(`{"source": ["ledger"]}`), "Description": value.Of("closes"), "Tags": value.ListOf(tag("team", "ledger"))}
	for why, c := range map[string]struct {
		recorded value.Map
		nonce    string
		deleted  bool
	}{
		"as it was recorded":                {asIs, "", true},
		"another description":               {asIs.With("Description", value.Of("opens")), "", false},
		"a description that was not there":  {asIs.Without("Description"), "", false},
		"another state":                     {asIs.With("State", value.Of("DISABLED")), "", false},
		"a tag that is gone":                {asIs.With("Tags", value.ListOf(tag("team", "audit"))), "", false},
		"a secret that state holds no more": {asIs.With("Description", value.HashOf("aa")), "", false},
		"nothing recorded":                  {nil, "", false},
		"equal, but not with our nonce":     {asIs, "n1", false},
	} {
		t.Run(why, func(t *testing.T) {
			s := start(t)
			s.put(t, map[string]any{"Name": "tick", "EventPattern": `{"source":["ledger"]}`, "Description": "closes",
				"Tags": []any{map[string]any{"Key": "team", "Value": "ledger"}, map[string]any{"Key": "scanner", "Value": "seen"}}})
			err := s.p.Delete(t.Context(), resource.Delete{Key: keyOf("tick"), Recorded: c.recorded, Nonce: c.nonce})
			if gone := len(s.State().Rules) == 0; gone != c.deleted || c.deleted != (err == nil) {
				t.Errorf("delete: %v, gone %v; want deleted %v", err, gone, c.deleted)
			}
			if !c.deleted && !resource.Is(err, resource.IdentityMismatch) {
				t.Errorf("delete: %v, want another object", err)
			}
		})
	}
}

// One rule has one key, however its bus is written. A bus of another account or region is another's.
func TestTheBusIsSpelledInOneWay(t *testing.T) {
	s := start(t)
	const mine = "arn:aws:events:eu-west-1:" + account + ":event-bus/"
	for why, c := range map[string]struct {
		bus  value.Value
		want string // "" for refused
	}{
		"left out is the default one": {value.Value{}, "default"},
		"null too":                    {value.Of(nil), "default"},
		"a name is a name":            {value.Of("ledger"), "ledger"},
		"an ARN names the same":       {value.Of(mine + "ledger"), "ledger"},
		"a partner's bus has slashes": {value.Of(mine + "aws.partner/example.com/1"), "aws.partner/example.com/1"},
		"another account":             {value.Of("arn:aws:events:eu-west-1:999999999999:event-bus/default"), ""},
		"another region":              {value.Of("arn:aws:events:us-east-1:" + account + ":event-bus/ledger"), ""},
		"an ARN of something else":    {value.Of("arn:aws:sqs:eu-west-1:" + account + ":ledger"), ""},
		"an ARN of a rule is no bus":  {value.Of("arn:aws:events:eu-west-1:" + account + ":rule/ledger"), ""},
	} {
		t.Run(why, func(t *testing.T) {
			got, err := s.p.(resource.Expander).Expand(t.Context(), value.Map{"Name": value.Of("a"), "EventBusName": c.bus})
			if (err == nil) != (c.want != "") || got.Text("EventBusName") != c.want {
				t.Errorf("%v, %v; want %q", got, err, c.want)
			}
		})
	}
	t.Run("one that waits stays unknown", func(t *testing.T) {
		got, err := s.p.(resource.Expander).Expand(t.Context(), value.Map{"EventBusName": value.Wait("Bus.Arn")})
		if err != nil || !got["EventBusName"].HasUnknown() {
			t.Errorf("%v, %v; want unknown", got, err)
		}
	})
	t.Run("a rule of one name on another bus is another", func(t *testing.T) {
		s.put(t, map[string]any{"Name": "tick", "EventBusName": "ledger", "EventPattern": `{"source":["a"]}`})
		if _, err := s.p.Read(t.Context(), keyOf("tick")); !resource.Is(err, resource.NotFound) {
			t.Errorf("read on the default bus: %v, want not found", err)
		}
		o, err := s.p.Read(t.Context(), resource.Key{"EventBusName": "ledger", "Name": "tick"})
		if err != nil || o.Output.Text("Arn") != "arn:aws:events:eu-west-1:"+account+":rule/ledger/tick" {
			t.Errorf("read on its own: %v, %v", o, err)
		}
	})
}

// A lookup by tags goes over the rules of every bus, and a failure on one of them is none found.
func TestALookupGoesOverEveryBus(t *testing.T) {
	s := start(t)
	nonce := []any{map[string]any{"Key": resource.TagNonce, "Value": "n7"}}
	s.put(t, map[string]any{"Name": "a", "EventBusName": "ledger", "EventPattern": `{"source":["a"]}`, "Tags": nonce})
	s.put(t, map[string]any{"Name": "b", "ScheduleExpression": everyDay})
	finder := s.p.(resource.Finder)
	found, err := finder.Find(t.Context(), resource.Query{Nonce: "n7"})
	if err != nil || len(found) != 1 || found[0].Key["EventBusName"] != "ledger" || !found[0].ByNonce {
		t.Errorf("found %v, %v; want the one on the other bus", found, err)
	}
	for _, op := range []string{"ListEventBuses", "ListRules", "ListTagsForResource"} {
		s.AddFault(awssim.Fault{Service: "events", Operation: op, Kind: awssim.Denied})
		if got, err := finder.Find(t.Context(), resource.Query{Nonce: "n7"}); !resource.Is(err, resource.AccessDenied) {
			t.Errorf("%s denied: found %v, %v; want access denied", op, got, err)
		}
	}
	byKey, err := finder.Find(t.Context(), resource.Query{Key: keyOf("b"), Nonce: "n7"})
	if err != nil || len(byKey) != 1 || !byKey[0].ByName || byKey[0].ByNonce {
		t.Errorf("found %v by its key, %v; want it, by its name alone", byKey, err)
	}
}

// More targets than a page holds, as a raised quota allows.
func TestTargetsAreReadOverAllPages(t *testing.T) {
	s := start(t)
	s.put(t, map[string]any{"Name": "tick", "ScheduleExpression": everyDay})
	var all []string
	for n := range 60 {
		all = append(all, fmt.Sprintf("t-%02d", n))
	}
	s.targets(t, all...)
	if got := len(s.read(t, "tick").Params["Targets"].Items()); got != 60 {
		t.Errorf("read %d targets, want 60", got)
	}
	s.AddFault(awssim.Fault{Service: "events", Operation: "ListTargetsByRule", Skip: 1, Kind: awssim.Denied})
	if o := s.read(t, "tick"); o.Params["Targets"].IsSet() || o.Gaps["Targets"].Kind != resource.GapDenied {
		t.Errorf("with a denied second page: %v with gap %v, want a gap", o.Params["Targets"], o.Gaps["Targets"])
	}
}

// silent answers 200 to everything, with {} or what is in full.
func silent(t *testing.T, full map[string]string) resource.Provider {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		body := full[op]
		if body == "" {
			body = "{}"
		}
		w.Write([]byte(body))
	}))
	t.Cleanup(srv.Close)
	return events.Providers(providertest.OpenAt(t, srv.URL))[0]
}

// S2: success that says nothing is no evidence, neither of absence nor of a create.
func TestAnAnswerThatHoldsNothingProvesNothing(t *testing.T) {
	const bare = `{"Name":"tick","Arn":"arn:aws:events:eu-west-1:111122223333:rule/tick"}`
	t.Run("a read without a rule is invalid", func(t *testing.T) {
		for _, answer := range []string{"", `{"Name":"tick"}`, `{"Arn":"arn:aws:events:eu-west-1:111122223333:rule/tick"}`} {
			if _, err := silent(t, map[string]string{"DescribeRule": answer}).Read(t.Context(), keyOf("tick")); !resource.Is(err, resource.ReadInvalid) {
				t.Errorf("read of %q: %v, want read invalid", answer, err)
			}
		}
	})
	t.Run("a create without an ARN is uncertain", func(t *testing.T) {
		_, err := silent(t, nil).Create(t.Context(), resource.Create{Key: keyOf("tick"), Params: value.Map{"ScheduleExpression": value.Of(everyDay)}})
		if !resource.Is(err, resource.Uncertain) || resource.DefinitelyNotExecuted(err) {
			t.Errorf("create: %v, want uncertain", err)
		}
	})
	t.Run("parts that are not there are gaps, and the owner is not known", func(t *testing.T) {
		o, err := silent(t, map[string]string{"DescribeRule": bare}).Read(t.Context(), keyOf("tick"))
		if err != nil {
			t.Fatalf("read: %v", err)
		}
		if o.Owner != nil || o.Params["Targets"].IsSet() || o.Gaps["Tags"].Kind != resource.GapUndecodable || o.Gaps["Targets"].Kind != resource.GapUndecodable {
			t.Errorf("owner %v, targets %v, gaps %v; want unknown", o.Owner, o.Params["Targets"], o.Gaps)
		}
	})
	t.Run("a delete that cannot see whose it is sends nothing", func(t *testing.T) {
		err := silent(t, map[string]string{"DescribeRule": bare}).Delete(t.Context(), resource.Delete{Key: keyOf("tick"), Nonce: "n1"})
		if !resource.Is(err, resource.AccessDenied) || !resource.DefinitelyNotExecuted(err) {
			t.Errorf("delete: %v, want a refusal", err)
		}
	})
	t.Run("lists that are not there are invalid", func(t *testing.T) {
		for _, full := range []map[string]string{nil, {"ListEventBuses": `{"EventBuses":[{"Name":"default"}]}`}} {
			if got, err := silent(t, full).(resource.Finder).Find(t.Context(), resource.Query{Nonce: "n"}); !resource.Is(err, resource.ReadInvalid) {
				t.Errorf("find: %v, %v; want read invalid", got, err)
			}
		}
	})
	t.Run("pages that go round are invalid", func(t *testing.T) {
		o, err := silent(t, map[string]string{"DescribeRule": bare, "ListTagsForResource": `{"Tags":[]}`, "ListTargetsByRule": `{"Targets":[],"NextToken":"a"}`}).Read(t.Context(), keyOf("tick"))
		if err != nil || o.Gaps["Targets"].Kind != resource.GapUndecodable {
			t.Errorf("read %v, %v; want an undecodable gap", o, err)
		}
	})
}
