package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/diff"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// decision is one case: what is known, and what follows from it.
type decision struct {
	of     Subject
	action Action
	reason Reason
	needs  []Grant
	says   string // part of Detail
	check  func(*testing.T, Item)
}

var (
	change  = []Grant{GrantChange}
	nothing []Grant
)

func calls(want ...string) func(*testing.T, Item) {
	return func(t *testing.T, it Item) {
		if d := cmp.Diff(want, it.Calls); d != "" {
			t.Errorf("calls (-want +got):\n%s", d)
		}
	}
}

// noReplacement holds S28: nothing is said of replacing.
func noReplacement(t *testing.T, it Item) {
	if it.Action == Replace || len(it.Cause) > 0 || it.Order != "" || slices.Contains(it.Needs, GrantReplace) {
		t.Errorf("a replacement: %+v", it)
	}
}

func order(o Order, fate string) func(*testing.T, Item) {
	return func(t *testing.T, it Item) {
		if it.Order != o || !strings.Contains(it.OldFate, fate) || it.Gen != 3 || len(it.Cause) == 0 {
			t.Errorf("order %q, generation %d, cause %v, old one: %q; want %q, 3, one, %q", it.Order, it.Gen, it.Cause, it.OldFate, o, fate)
		}
	}
}

func loses(data string) func(*testing.T, Item) {
	return func(t *testing.T, it Item) {
		if it.Loss != data {
			t.Errorf("loss %q, want %q", it.Loss, data)
		}
	}
}

func together(checks ...func(*testing.T, Item)) func(*testing.T, Item) {
	return func(t *testing.T, it Item) {
		for _, c := range checks {
			c(t, it)
		}
	}
}

// decisions are grouped by what is known of the resource.
func decisions() map[string]map[string]decision {
	return map[string]map[string]decision{
		"nothing is recorded":             fresh(),
		"an object is recorded":           existing(),
		"replacement":                     replacements(),
		"a create is unfinished":          unfinished(),
		"removal":                         removals(),
		"removal of an unfinished create": unfinishedRemovals(),
		"rollback":                        undos(),
	}
}

func fresh() map[string]decision {
	ours := there()
	two := func(s *Subject) {
		s.Look.Ours = []resource.Candidate{{Observation: *observation()}, {Observation: *observation()}}
	}
	oneOfThem := func(s *Subject) { s.Look.Ours = []resource.Candidate{{Observation: *observation()}} }
	return map[string]decision{
		"what is not there is made": {of: wanted(named), action: Create, needs: change, says: "orders", check: calls("create")},
		"what the service names is made too": {of: wanted(assigned), action: Create, needs: change, says: "assigns its ID",
			check: calls("create")},
		"a name that is not known yet is no reason to wait with the plan": {of: wanted(named, func(s *Subject) {
			s.Desired = s.Desired.With("Name", value.Wait("Other.Name"))
		}), action: Create, needs: change},
		"S5: what carries our tags is kept, once that is approved": {of: wanted(named, ours), action: Reclaim, needs: []Grant{GrantReclaim}},
		"and what differs on it is named": {of: wanted(named, ours, desired("Size", 4)), action: Reclaim, needs: []Grant{GrantReclaim},
			says: "then an update: 1 to write", check: calls("Update (size and label)")},
		"what would have to be replaced is kept first": {of: wanted(named, ours, desired("Shape", "square")), action: Reclaim,
			needs: []Grant{GrantReclaim}, says: "then a replacement, approved on its own, because Shape", check: func(t *testing.T, it Item) {
				if d := cmp.Diff([]value.Path{"Shape"}, it.Cause); d != "" || it.Order != "" {
					t.Errorf("cause and order %q: %s", it.Order, d)
				}
			}},
		"an Assigned one is found by its tags": {of: wanted(assigned, oneOfThem), action: Reclaim, needs: []Grant{GrantReclaim}},
		"several of them are for the operator": {of: wanted(assigned, two), action: Blocked, reason: Uncertain, says: "--adopt Orders=PHYSICAL"},
		"a stranger's is left alone": {of: wanted(named, there(owner())), action: Blocked, reason: Foreign,
			says: "nothing shows that we made it (no mark of ours); to take it over: --adopt Orders=orders"},
		"S4: another store's tags are shown, and block": {of: wanted(named, there(owner(resource.TagStore, "store-9", resource.TagStack, "x@y", resource.TagResource, "Theirs"))),
			action: Blocked, reason: Foreign, says: "tagged by store store-9 for Theirs of x@y"},
		"S4: an ancestor's tags are not ours where no ID is recorded": {of: wanted(named, there(owner(resource.TagStore, ancestor,
			resource.TagStack, stack.String(), resource.TagResource, "Orders"))), action: Blocked, reason: Foreign, says: "tagged by store store-0"},
		"our tags for another resource are not for this one": {of: wanted(named, there(owner(resource.TagStore, store,
			resource.TagStack, stack.String(), resource.TagResource, "Else"))), action: Blocked, reason: Foreign, says: "for Else"},
		"another tool's marks are shown": {of: wanted(named, there(owner("aws:cloudformation:stack-name", "old"))), action: Blocked, reason: Foreign,
			says: "marked aws:cloudformation:stack-name=old"},
		"an owner that could not be read is not us": {of: wanted(named, there(func(o *resource.Observation) { o.Owner = nil })), action: Blocked,
			reason: Foreign, says: "whose it is could not be read"},
		"a stranger's is taken over where that was asked": {of: wanted(named, there(owner()), adopt("")), action: Adopt, needs: []Grant{GrantAdopt},
			says: "no mark of ours: take it over as asked"},
		"by its ID":                         {of: wanted(named, there(owner()), adopt("orders")), action: Adopt, needs: []Grant{GrantAdopt}},
		"under another ID it was not asked": {of: wanted(named, there(owner()), adopt("other")), action: Blocked, reason: Foreign},
		"nothing is made where an object was named to be taken over": {of: wanted(named, adopt("ordres")), action: Blocked, reason: ReadFailed,
			says: "--adopt names ordres, and nothing is there"},
		"to take over whatever is there may be nothing": {of: wanted(named, adopt("")), action: Create, needs: change},
		"S3: an object of another record is not taken": {of: wanted(named, ours, func(s *Subject) {
			s.Claimant = &record.Record{Stack: stack, ID: "Else", Gen: 4}
		}), action: Blocked, reason: ClaimedTwice, says: "already Else of stack orders@123456789012/eu-west-1 (generation 4)"},
		"S38: found, while what it depends on is not there": {of: wanted(named, ours, func(s *Subject) { s.AbsentDeps = []string{"Api"} }),
			action: Blocked, reason: DependencyAbsent, says: "while Api, which it depends on, does not"},
		"S38: nor is it taken over then": {of: wanted(named, there(owner()), adopt(""), func(s *Subject) { s.AbsentDeps = []string{"Api"} }),
			action: Blocked, reason: DependencyAbsent},
		"S38: what is not there waits for nothing but its turn": {of: wanted(named, func(s *Subject) { s.AbsentDeps = []string{"Api"} }),
			action: Create, needs: change},
		"a denied look is no absence":              {of: wanted(named, failing(resource.AccessDenied)), action: Blocked, reason: Denied, says: "the look was denied"},
		"nor is an answer nobody understands":      {of: wanted(named, failing(resource.ReadInvalid)), action: Blocked, reason: InvalidRead},
		"nor is a look that failed":                {of: wanted(named, failing(resource.Throttled)), action: Blocked, reason: ReadFailed},
		"nor is one with expired credentials":      {of: wanted(named, failing(resource.Expired)), action: Blocked, reason: ReadFailed},
		"a value that cannot be right is no drift": {of: wanted(named, there(read("Shape", "cubic"))), action: Blocked, reason: InvalidRead},
	}
}

func existing() map[string]decision {
	return map[string]decision{
		"as config says": {of: recorded(named), action: Noop, needs: nothing, says: "as config says", check: calls()},
		"what differs is written": {of: recorded(named, desired("Size", 4), desired("Note", "x")), action: Update, needs: change, says: "2 to write",
			check: calls("PutNote", "Update (size and label)")},
		"S31: what config no longer sets is written too": {of: recorded(named, undesired("Size")), action: Update, needs: change, says: "1 to write",
			check: calls("Update (size and label)")},
		"S28: an immutable field that was not returned is no evidence": {of: recorded(named, desired("Shape", "square"), there(unread("Shape", resource.GapNotReturned))),
			action: Noop, needs: nothing, check: noReplacement},
		"S28: nor one that is simply absent": {of: recorded(named, desired("Shape", "square"), there(func(o *resource.Observation) { o.Params = o.Params.Without("Shape") })),
			action: Noop, needs: nothing, check: noReplacement},
		"S28: nor one that could not be read": {of: recorded(named, desired("Shape", "square"), there(unread("Shape", resource.GapDenied))),
			action: Noop, needs: nothing, says: "1 blocked", check: noReplacement},
		"S28: nor an invalid one": {of: recorded(named, there(read("Shape", "cubic"))), action: Blocked, reason: InvalidRead, check: noReplacement},
		"S28: nor one that is not decodable": {of: recorded(named, desired("Shape", "square"), there(unread("Shape", resource.GapUndecodable))),
			action: Blocked, reason: InvalidRead, check: noReplacement},
		"S28: an unknown one makes replacement possible, and says so": {of: recorded(named, func(s *Subject) {
			s.Desired = s.Desired.With("Shape", value.Wait("Api.Shape"))
		}), action: Update, needs: change, says: "replacement possible: Shape", check: together(noReplacement, func(t *testing.T, it Item) {
			if d := cmp.Diff([]value.Path{"Shape"}, it.MaybeReplace); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})},
		"S29: what is never returned is no drift": {of: recorded(named, desired("Seed", "a"), rec(func(r *record.Record) {
			r.Params = r.Params.With("Seed", value.Of("a"))
		})), action: Noop, needs: nothing},
		"S29: a changed write-only field that cannot be changed replaces nothing": {of: recorded(named, desired("Seed", "b"), rec(func(r *record.Record) {
			r.Params = r.Params.With("Seed", value.Of("a"))
		})), action: Noop, needs: nothing, check: noReplacement},
		"S29: a field that is not returned is written where config moved": {of: recorded(named, desired("Size", 4), there(unread("Size", resource.GapNotReturned))),
			action: Update, needs: change, says: "1 to write", check: calls("Update (size and label)")},
		"S29: and not where it did not": {of: recorded(named, there(unread("Size", resource.GapNotReturned))), action: Noop, needs: nothing},
		"S30: a call in which a blocked field travels is not made": {of: recorded(named, desired("Size", 4), desired("Label", "x"), desired("Note", "y"),
			there(unread("Size", resource.GapDenied))), action: Update, needs: change, check: calls("PutNote")},
		"S30: where nothing is left to send, that is not as config says": {of: recorded(named, desired("Label", "x"), there(unread("Size", resource.GapDenied))),
			action: Blocked, reason: Denied, says: "Label would be sent in one call"},
		"S30: a blocked field alone changes nothing": {of: recorded(named, there(unread("Size", resource.GapDenied))), action: Noop, needs: nothing,
			says: "as config says; 1 blocked"},
		"an unfinished update is brought to an end": {of: recorded(named, status(record.Updating)), action: Update, needs: change,
			says: "finish what was begun; nothing left to send"},
		"a policy that changed is a change of the record": {of: recorded(named, func(s *Subject) { s.Policies[0] = record.PolicyRetain }), action: Update,
			needs: change, says: "DeletionPolicy changes in the record only", check: calls()},
		"so is the policy of replacements": {of: recorded(named, func(s *Subject) { s.Policies[1] = record.PolicyRetain }), action: Update, needs: change,
			says: "UpdateReplacePolicy changes in the record only"},
		"so is what it depends on": {of: recorded(named, func(s *Subject) { s.Refs = []record.Ref{{ID: "Api", Gen: 1}} }), action: Update, needs: change,
			says: "what it depends on changes in the record only"},
		"S12: absent inside the window is not visible yet": {of: recorded(named, gone, recently), action: Wait, needs: change, says: "15:00:29"},
		"S12: absent outside of it is gone, and made again": {of: recorded(named, gone), action: Create, needs: change, says: "gone since",
			check: func(t *testing.T, it Item) {
				if it.Gen != 3 || it.Rev != 7 {
					t.Errorf("generation %d of revision %d, want the next, 3, of 7", it.Gen, it.Rev)
				}
			}},
		"S12: at the end of the window it has passed": {of: recorded(named, gone, rec(func(r *record.Record) { r.TouchedAt = now.Add(-window) })),
			action: Create, needs: change},
		"a failed look is no absence either": {of: recorded(named, failing(resource.Busy)), action: Blocked, reason: ReadFailed},
		"a denied one is not":                {of: recorded(named, failing(resource.AccessDenied)), action: Blocked, reason: Denied},
		"S20: another object at the key is not ours": {of: recorded(named, there(identity("U9"))), action: Blocked, reason: Foreign,
			says: "ours had ID U1, this one has ID U9; to take it over: --adopt Orders=orders"},
		"S20: told by its creation time": {of: recorded(named, there(func(o *resource.Observation) { o.Identity = resource.Identity{CreatedAt: now} }), rec(func(r *record.Record) {
			r.Identity = resource.Identity{CreatedAt: now.Add(-time.Minute)}
		})), action: Blocked, reason: Foreign, says: "creation time 2026-03-01T14:59:00Z"},
		"another object is taken over where that was asked": {of: recorded(named, there(identity("U9")), adopt("orders")), action: Adopt,
			needs: []Grant{GrantAdopt}, says: "taken over as asked"},
		"S4: another store's tags on our object": {of: recorded(named, there(owner(resource.TagStore, "store-9"))), action: Blocked, reason: Foreign,
			says: "it now carries the tags of store store-9"},
		"S4: an ancestor's tags with the recorded ID are ours": {of: recorded(named, there(owner(resource.TagStore, ancestor))), action: Noop, needs: nothing},
		"S4: an ancestor's tags and our nonce are ours": {of: recorded(named, there(identity(""), owner(resource.TagStore, ancestor, resource.TagNonce, nonce))),
			action: Noop, needs: nothing},
		"S4: an ancestor's tags alone are not": {of: recorded(named, there(identity(""), owner(resource.TagStore, ancestor)), rec(func(r *record.Record) { r.Nonce = "" })),
			action: Blocked, reason: Foreign, says: "it now carries the tags of store store-0"},
		"without an ID, another nonce is another object": {of: recorded(named, there(identity(""), owner(resource.TagNonce, "other"))), action: Blocked,
			reason: Foreign, says: "does not carry the nonce of our create"},
		"without an ID, our nonce is enough": {of: recorded(named, there(identity(""))), action: Noop, needs: nothing},
		"a deletion that was sent may be about to happen": {of: recorded(named, status(record.Deleting), recently), action: Wait, needs: change,
			says: "its deletion was sent"},
		"one that did not happen is taken back":        {of: recorded(named, status(record.Deleting)), action: Update, needs: change, says: "finish what was begun"},
		"one that happened leaves it to be made again": {of: recorded(named, status(record.Deleting), gone), action: Create, needs: change},
		"S23: a retired one whose replacement was given up is made current": {of: recorded(named, status(record.Retired), func(s *Subject) { s.LastGen = 3 }),
			action: Update, needs: change, says: "finish what was begun"},
		"a record that says no place is not judged": {of: recorded(named, func(s *Subject) { s.Look = Look{Unplaced: true} }), action: Blocked,
			reason: ReadFailed, says: "does not say where the object is"},
		"what cannot be written is unsupported": {of: recorded(named, desired("Size", 4), func(s *Subject) {
			s.Provider = ProviderFns{schema: named, sync: func(resource.Change) ([]resource.Call, error) {
				return nil, &resource.Error{Kind: resource.Rejected, Op: "Update"}
			}}
		}), action: Blocked, reason: Unsupported, says: "Update: rejected"},
		"what waits for others is an update": {of: recorded(named, func(s *Subject) { s.Desired = s.Desired.With("Note", value.Wait("Api.Arn")) }), action: Update,
			needs: change, says: "1 unknown until its dependencies are made"},
	}
}

func replacements() map[string]decision {
	reshaped := desired("Shape", "square")
	renamed := desired("Name", "orders-2")
	generated := func(s *Subject) { s.Generated, s.Name, s.NewName = true, "orders", "orders-2" }
	presumed := rec(func(r *record.Record) { r.Origin = record.Presumed })
	replace := []Grant{GrantReplace}
	retyped := func(s *Subject) { s.Was, s.Provider = s.Provider, ProviderFns{schema: upsert} }
	return map[string]decision{
		"a new name is made first": {of: recorded(named, renamed), action: Replace, needs: replace, says: "Name cannot be changed in place",
			check: together(order(CreateFirst, "orders is deleted once the new one is made"), calls("create"))},
		"a generated name makes way for a new one": {of: recorded(named, reshaped, generated), action: Replace, needs: replace,
			check: together(order(CreateFirst, "is deleted once"), func(t *testing.T, it Item) {
				if it.Name != "orders-2" || it.Physical != "orders-2" || it.Desired.Text("Name") != "orders-2" {
					t.Errorf("name %q at %q, desired %v", it.Name, it.Physical, it.Desired)
				}
			})},
		"S22: a name that must stay is given up first, approved on its own": {of: recorded(named, reshaped), action: Replace,
			needs: []Grant{GrantReplace, GrantDeleteFirst}, check: order(DeleteFirst, "deleted first, because the new one needs its name")},
		"what the service names is made first": {of: recorded(assigned, reshaped), action: Replace, needs: replace, check: order(CreateFirst, "U1 is deleted once")},
		"Retain keeps the old one beside the new": {of: recorded(named, renamed, policies("", record.PolicyRetain)), action: Replace, needs: replace,
			check: together(order(CreateFirst, "orders is kept (UpdateReplacePolicy: Retain)"), loses(""))},
		"the record's Retain counts where the template dropped it": {of: recorded(named, renamed, policies("", record.PolicyRetain), func(s *Subject) { s.Policies[1] = "" }),
			action: Replace, needs: replace, check: order(CreateFirst, "is kept")},
		"Retain under a name that must stay is impossible": {of: recorded(named, reshaped, policies("", record.PolicyRetain)), action: Blocked, reason: Unsupported,
			says: "UpdateReplacePolicy keeps the old one under that name; rename it"},
		"a snapshot is refused by name": {of: recorded(named, renamed, policies("", record.PolicySnapshot)), action: Blocked, reason: Unsupported,
			says: "asks for a snapshot, which Test::Named does not have here"},
		"S25: data has an approval of its own": {of: recorded(holding, renamed), action: Replace, needs: []Grant{GrantReplace, GrantDataLoss}, check: loses("log events")},
		"S25: in place too": {of: recorded(holding, reshaped), action: Replace, needs: []Grant{GrantReplace, GrantDeleteFirst, GrantDataLoss},
			check: together(order(DeleteFirst, "until that is made there is none"), loses("log events"))},
		"S25: data that is kept is not lost":                         {of: recorded(holding, renamed, policies("", record.PolicyRetain)), action: Replace, needs: replace, check: loses("")},
		"S19: what is only presumed ours has an approval of its own": {of: recorded(named, renamed, presumed), action: Replace, needs: []Grant{GrantReplace, GrantPresumed}},
		"S19: also where the old one is kept": {of: recorded(named, renamed, presumed, policies("", record.PolicyRetain)), action: Replace,
			needs: []Grant{GrantReplace, GrantPresumed}},
		"another type is another object":                  {of: recorded(named, retyped), action: Replace, needs: replace, says: "Type", check: order(CreateFirst, "orders is deleted once")},
		"S25: the data of the old type counts":            {of: recorded(holding, retyped), action: Replace, needs: []Grant{GrantReplace, GrantDataLoss}, check: loses("log events")},
		"another type is not compared with":               {of: recorded(named, retyped, there(read("Shape", "cubic"))), action: Replace, needs: replace},
		"another type waits for its own window":           {of: recorded(named, retyped, gone, recently), action: Wait, needs: change},
		"another object at the key is replaced by nobody": {of: recorded(named, renamed, there(identity("U9"))), action: Blocked, reason: Foreign},
		"what is taken over is not replaced in one go": {of: recorded(named, renamed, there(identity("U9")), adopt("")), action: Adopt, needs: []Grant{GrantAdopt},
			says: "then a replacement, approved on its own"},
	}
}

func unfinished() map[string]decision {
	out := map[string]decision{
		"ours is kept": {of: recorded(named, judged(recovery.VerdictOurs, observation())), action: Reclaim, needs: change, says: "ours"},
		"and brought to what config says": {of: recorded(named, judged(recovery.VerdictOurs, observation()), desired("Size", 4)), action: Reclaim, needs: change,
			says: "then an update", check: calls("Update (size and label)")},
		"S16: ours that must be replaced is kept first": {of: recorded(named, judged(recovery.VerdictOurs, observation()), desired("Shape", "square")),
			action: Reclaim, needs: change, says: "then a replacement, approved on its own"},
		"presumed ours is kept": {of: recorded(named, judged(recovery.VerdictPresumed, observation())), action: Reclaim, needs: change},
		"an adoption goes on":   {of: recorded(named, judged(recovery.VerdictAdopting, observation())), action: Reclaim, needs: change},
		"what was not created is sent again": {of: recorded(named, judged(recovery.VerdictNotCreated)), action: Create, needs: change, says: "Summary",
			check: func(t *testing.T, it Item) {
				if it.Gen != 2 { // S7, S15: another attempt of the same intent
					t.Errorf("generation %d, want the same, 2", it.Gen)
				}
			}},
		"what can be replayed is sent again": {of: recorded(named, judged(recovery.VerdictReplayable)), action: Create, needs: change},
		"what is gone since is made anew": {of: recorded(named, judged(recovery.VerdictGone)), action: Create, needs: change, check: func(t *testing.T, it Item) {
			if it.Gen != 3 {
				t.Errorf("generation %d, want the next, 3", it.Gen)
			}
		}},
		"what is not visible yet is waited for":    {of: recorded(named, judged(recovery.VerdictNotVisible)), action: Wait, needs: change},
		"a deletion under way is waited for":       {of: recorded(named, judged(recovery.VerdictDeletion)), action: Wait, needs: change},
		"one that should be over is for a person":  {of: recorded(named, judged(recovery.VerdictDeletion), func(s *Subject) { s.Finding.Auto = false }), action: Blocked, reason: Uncertain},
		"S9: an acknowledged Upsert is judged too": {of: recorded(upsert, judged(recovery.VerdictUnproven), status(record.Acknowledged)), action: Blocked, reason: Uncertain},
		"an acknowledged Named is not":             {of: recorded(named, status(record.Acknowledged)), action: Update, needs: change},
		"without a verdict nothing is done": {of: recorded(named, judged(""), func(s *Subject) { s.Finding = nil }), action: Blocked, reason: ReadFailed,
			says: "could not be judged; look again"},
		"S7: a new name waits for the old create": {of: recorded(named, judged(recovery.VerdictNotCreated), desired("Name", "orders-2")), action: Blocked,
			reason: Uncertain, says: "its key changed while a create of generation 2 is unresolved"},
		"S7: a new type too": {of: recorded(named, judged(recovery.VerdictNotCreated), func(s *Subject) { s.Provider = ProviderFns{schema: holding} }),
			action: Blocked, reason: Uncertain, says: "its type changed"},
		"S7: what is proven ours can move on": {of: recorded(named, judged(recovery.VerdictOurs, observation()), func(s *Subject) {
			s.Was, s.Provider = s.Provider, ProviderFns{schema: holding}
		}), action: Reclaim, needs: change, says: "because Type cannot be changed"},
	}
	for _, v := range []recovery.Verdict{recovery.VerdictUnknown, recovery.VerdictChanged, recovery.VerdictAmbiguous, recovery.VerdictOtherAttempt,
		recovery.VerdictUnproven, recovery.VerdictUnreadable, recovery.VerdictUncertain, recovery.VerdictForeign} {
		out["for a person to decide: "+string(v)] = decision{of: recorded(named, judged(v)), action: Blocked, reason: Uncertain, says: "Summary"}
	}
	return out
}

func removals() map[string]decision {
	del := []Grant{GrantDelete}
	replaced := func(s *Subject) { s.Record.Status, s.LastGen = record.Retired, 3 }
	return map[string]decision{
		"what no template names is deleted": {of: removed(named), action: Delete, needs: del, says: "deleted", check: calls("delete")},
		"what is in the way of that goes first": {of: removed(named, func(s *Subject) {
			s.Provider = ProviderFns{schema: named, unmake: func() ([]resource.Call, error) {
				return []resource.Call{{Name: "DetachPolicy", Detail: "arn:a"}}, nil
			}}
		}), action: Delete, needs: del, check: calls("DetachPolicy (arn:a)", "delete")},
		"what cannot be unmade is not deleted": {of: removed(named, func(s *Subject) {
			s.Provider = ProviderFns{schema: named, unmake: func() ([]resource.Call, error) {
				return nil, &resource.Error{Kind: resource.Rejected, Op: "Detach"}
			}}
		}), action: Blocked, reason: Unsupported},
		"S25: data has an approval of its own": {of: removed(holding), action: Delete, needs: []Grant{GrantDelete, GrantDataLoss}, says: "and with it log events",
			check: loses("log events")},
		"S19: so has what is only presumed ours": {of: removed(named, rec(func(r *record.Record) { r.Origin = record.Presumed })), action: Delete,
			needs: []Grant{GrantDelete, GrantPresumed}},
		"Retain keeps it":                                   {of: removed(named, policies(record.PolicyRetain, "")), action: Retain, needs: change, says: "kept by its policy", check: calls()},
		"RetainExceptOnCreate keeps it":                     {of: removed(named, policies(record.PolicyRetainOnCreate, "")), action: Retain, needs: change},
		"Retain keeps what is gone":                         {of: removed(named, policies(record.PolicyRetain, ""), failing(resource.AccessDenied)), action: Retain, needs: change},
		"a snapshot is refused by name":                     {of: removed(named, policies(record.PolicySnapshot, "")), action: Blocked, reason: Unsupported, says: "Test::Named does not have"},
		"S23: a replaced generation goes by its own policy": {of: removed(named, replaced, policies("", record.PolicyRetain)), action: Retain, needs: change},
		"S23: and not by that of deletions":                 {of: removed(named, replaced, policies(record.PolicyRetain, "")), action: Delete, needs: del, says: "generation 2, replaced"},
		"S21: gone outside the window is gone":              {of: removed(named, gone), action: Delete, needs: change, says: "gone already; only the record goes", check: calls()},
		"S21: absent inside of it is not":                   {of: removed(named, gone, recently), action: Wait, needs: change, says: "15:00:29"},
		"S21: nor after a deletion":                         {of: removed(named, status(record.Deleting), gone, recently), action: Wait, needs: change},
		"a deletion that did not happen is sent again":      {of: removed(named, status(record.Deleting)), action: Delete, needs: del, check: calls("delete")},
		"S20: another object is left alone": {of: removed(named, there(identity("U9"))), action: Delete, needs: change, says: "it is left alone, only the record goes",
			check: calls()},
		"S4: so is one with another store's tags": {of: removed(named, there(owner(resource.TagStore, "store-9"))), action: Delete, needs: change, says: "left alone",
			check: calls()},
		"S20: without identity it is deleted as it was left": {of: removed(holding, nameless), action: Delete, needs: []Grant{GrantDelete, GrantDataLoss}},
		"S20: and not when it was edited": {of: removed(holding, nameless, func(s *Subject) { s.Look.Obs.Params = s.Look.Obs.Params.With("Size", value.Of(9)) }),
			action: Blocked, reason: Foreign, says: "Size is not as we left it"},
		"S20: an unfinished write counts as left": {of: removed(holding, nameless, func(s *Subject) {
			s.Look.Obs.Params = s.Look.Obs.Params.With("Size", value.Of(9))
			s.Record.Pending = s.Look.Obs.Params
		}), action: Delete, needs: []Grant{GrantDelete, GrantDataLoss}},
		"a denied look deletes nothing":               {of: removed(named, failing(resource.AccessDenied)), action: Blocked, reason: Denied},
		"a failed one neither":                        {of: removed(named, failing(resource.Uncertain)), action: Blocked, reason: ReadFailed},
		"a record that says no place deletes nothing": {of: removed(named, func(s *Subject) { s.Look = Look{Unplaced: true} }), action: Blocked, reason: ReadFailed},
	}
}

func unfinishedRemovals() map[string]decision {
	out := map[string]decision{
		"ours is reclaimed, then deleted": {of: removed(named, judged(recovery.VerdictOurs, observation())), action: Delete, needs: []Grant{GrantDelete}, check: calls("delete")},
		"presumed ours has an approval of its own": {of: removed(named, judged(recovery.VerdictPresumed, observation())), action: Delete,
			needs: []Grant{GrantDelete, GrantPresumed}},
		"S25: so has its data": {of: removed(holding, judged(recovery.VerdictPresumed, observation())), action: Delete,
			needs: []Grant{GrantDelete, GrantPresumed, GrantDataLoss}, check: loses("log events")},
		"ours is kept by Retain":                  {of: removed(named, judged(recovery.VerdictOurs, observation()), policies(record.PolicyRetain, "")), action: Retain, needs: change},
		"a snapshot is refused":                   {of: removed(named, judged(recovery.VerdictOurs, observation()), policies(record.PolicySnapshot, "")), action: Blocked, reason: Unsupported},
		"of what was not created the record goes": {of: removed(named, judged(recovery.VerdictNotCreated)), action: Delete, needs: change, says: "a tombstone stays", check: calls()},
		"so of what is gone":                      {of: removed(named, judged(recovery.VerdictGone)), action: Delete, needs: change, check: calls()},
		"S4: what was being adopted stays":        {of: removed(named, judged(recovery.VerdictAdopting, observation())), action: Retain, needs: change, says: "the object stays"},
		"what is not visible yet is waited for":   {of: removed(named, judged(recovery.VerdictNotVisible)), action: Wait, needs: change},
		"a deletion under way is waited for":      {of: removed(named, judged(recovery.VerdictDeletion)), action: Wait, needs: change},
	}
	for _, v := range []recovery.Verdict{recovery.VerdictUnknown, recovery.VerdictChanged, recovery.VerdictAmbiguous, recovery.VerdictOtherAttempt,
		recovery.VerdictUnproven, recovery.VerdictUnreadable, recovery.VerdictUncertain, recovery.VerdictForeign, recovery.VerdictReplayable} {
		out["for a person to decide: "+string(v)] = decision{of: removed(named, judged(v)), action: Blocked, reason: Uncertain, says: "Summary"}
	}
	return out
}

func TestDecisions(t *testing.T) {
	for known, list := range decisions() {
		for why, c := range list {
			t.Run(known+"/"+why, func(t *testing.T) {
				it := Decide(c.of)
				if it.Action != c.action || it.Reason != c.reason || !strings.Contains(it.Detail, c.says) {
					t.Fatalf("%s %s: %s\nwant %s %s: …%s…", it.Action, it.Reason, it.Detail, c.action, c.reason, c.says)
				}
				if d := cmp.Diff(c.needs, it.Needs); d != "" {
					t.Errorf("needs (-want +got):\n%s", d)
				}
				if c.check != nil {
					c.check(t, it)
				}
			})
		}
	}
}

// Whatever is decided, these hold.
func TestEveryDecisionIsWhole(t *testing.T) {
	for known, list := range decisions() {
		for why, c := range list {
			t.Run(known+"/"+why, func(t *testing.T) {
				it := Decide(c.of)
				if it.Detail == "" || it.Facts == "" || it.ID != "Orders" || it.Gen < 1 {
					t.Errorf("not whole: %+v", it)
				}
				if it.CanRun() != (len(it.Needs) > 0) {
					t.Errorf("%s needs %v: what changes something is approved, what changes nothing is not", it.Action, it.Needs)
				}
				if (it.Action == Blocked) != (it.Reason != "") || it.Action == Blocked && len(it.Calls) > 0 {
					t.Errorf("%s, reason %q, calls %v", it.Action, it.Reason, it.Calls)
				}
				if it.Loss != "" != slices.Contains(it.Needs, GrantDataLoss) { // S25
					t.Errorf("loss %q, needs %v", it.Loss, it.Needs)
				}
				if it.Order == DeleteFirst != slices.Contains(it.Needs, GrantDeleteFirst) { // S22
					if it.Action != Blocked {
						t.Errorf("order %q, needs %v", it.Order, it.Needs)
					}
				}
				if again := Decide(c.of); cmp.Diff(it, again) != "" && !value.OfMap(c.of.Desired).HasUnknown() {
					t.Error("it is decided in another way the second time")
				}
			})
		}
	}
}

func TestEveryActionReasonAndVerdictIsReached(t *testing.T) {
	reached, verdicts := map[string]bool{}, map[string]map[string]bool{"wanted": {}, "removed": {}}
	note := func(it Item) { reached[string(it.Action)], reached[string(it.Reason)] = true, true }
	for _, list := range decisions() {
		for _, c := range list {
			it := Decide(c.of)
			note(it)
			if c.of.Finding != nil {
				verdicts[map[bool]string{true: "wanted", false: "removed"}[c.of.Wanted]][string(c.of.Finding.Verdict)] = true
			}
		}
	}
	items := []Item{{ID: "A", Action: Blocked, Reason: Foreign}, {ID: "B", Action: Create, DependsOn: []string{"A"}}}
	blockDependents(items) // the one reason that no resource has by itself
	note(items[1])
	for _, a := range constants(t, "item.go", "Action") {
		if !reached[a] || !slices.Contains(Actions(), Action(a)) {
			t.Errorf("action %q is not reached, or not in Actions", a)
		}
	}
	for _, r := range constants(t, "item.go", "Reason") {
		if !reached[r] {
			t.Errorf("reason %q is not reached", r)
		}
	}
	for _, v := range constants(t, "../recovery/finding.go", "Verdict") {
		if !verdicts["wanted"][v] || !verdicts["removed"][v] {
			t.Errorf("nothing follows from the verdict %q, for a wanted or for a removed resource", v)
		}
	}
}

// S17: facts are existence, identity and what was compared; not what moves by itself.
func TestFactsMoveWithWhatWasUsed(t *testing.T) {
	base := Decide(recorded(named)).Facts
	for why, c := range map[string]struct {
		of    Subject
		moves bool
	}{
		"a later look":             {recorded(named, func(s *Subject) { s.Look.At = now.Add(time.Hour) }), false},
		"a later service's date":   {recorded(named, there(func(o *resource.Observation) { o.ServedAt = now.Add(time.Hour) })), false},
		"an output":                {recorded(named, there(func(o *resource.Observation) { o.Output = nil })), false},
		"what config does not set": {recorded(named, there(read("Note", "x"))), false},
		"a field that config sets": {recorded(named, there(read("Size", 4))), true},
		"another object":           {recorded(named, there(identity("U9"))), true},
		"another owner":            {recorded(named, there(owner(resource.TagStore, "store-9"))), true},
		"nothing there":            {recorded(named, gone), true},
		"a look that failed":       {recorded(named, failing(resource.Busy)), true},
	} {
		if moved := Decide(c.of).Facts != base; moved != c.moves {
			t.Errorf("%s: the facts moved: %v, want %v", why, moved, c.moves)
		}
	}
}

// S30, and what is recorded afterwards: what was held back is named.
func TestCallsWithABlockedParamAreHeldBack(t *testing.T) {
	change := resource.Change{Write: []string{"Label", "Note", "Shape"}, Desired: params()}
	fields := []diff.Field{{Path: "Size.Deep", Verdict: diff.Blocked}, {Path: "Label", Verdict: diff.Differs}}
	calls, held, err := SyncCalls(ProviderFns{schema: named}, change, fields)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"PutNote", "PutShape"}, callNames(calls)); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"Label"}, held); d != "" {
		t.Errorf("held back (-want +got):\n%s", d)
	}
	asked := ProviderFns{schema: named, sync: func(resource.Change) ([]resource.Call, error) { panic("asked though nothing is to be written") }}
	if calls, _, err := SyncCalls(asked, resource.Change{}, fields); err != nil || calls != nil {
		t.Errorf("calls %v, %v for nothing", calls, err)
	}
}

// S26: after an unfinished write, the members of both are ours.
func TestMembersOfAnUnfinishedWriteAreOursToo(t *testing.T) {
	got := JoinMembers(
		value.Map{"Tags": value.Of([]string{"a", "b"}), "Size": value.Of(1), "Old": value.Of("x")},
		value.Map{"Tags": value.Of([]string{"b", "c"}), "Size": value.Of(2), "New": value.Of("y")})
	want := value.Map{"Tags": value.Of([]string{"a", "b", "c"}), "Size": value.Of(2), "Old": value.Of("x"), "New": value.Of("y")}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
