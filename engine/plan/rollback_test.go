package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
)

// undone is a resource that execution e-1 made as the first of its ID, and that is rolled back.
func undone(s *resource.Schema, changes ...func(*Subject)) Subject {
	return removed(s, append([]func(*Subject){func(sub *Subject) {
		sub.Current, sub.Undo = true, &Undo{Execution: "e-1"}
		sub.Record.Intent = &record.Intent{Nonce: nonce, Execution: "e-1", Attempts: []record.Attempt{{N: 1, Execution: "e-1", Outcome: record.Confirmed}}}
	}}, changes...)...)
}

// replacing is one that e-1 made in the place of generation 1, which is still there.
func replacing(changes ...func(*Subject)) Subject {
	old := recorded(named).Record
	old.Gen, old.Status, old.Physical = 1, record.Retired, "orders-old"
	return undone(named, append([]func(*Subject){func(s *Subject) {
		s.Record.Intent.Replaces = 1
		s.Record.Identity, s.Look.Obs.Identity = resource.Identity{UniqueID: "U2"}, resource.Identity{UniqueID: "U2"}
		s.Undo.Old, s.Undo.OldOf, s.Undo.OldLook = old, s.Provider, Look{Obs: observation(), At: now}
	}}, changes...)...)
}

func attempts(list ...record.Attempt) func(*Subject) {
	return rec(func(r *record.Record) { r.Intent.Attempts = list })
}

func old(f func(u *Undo)) func(*Subject) { return func(s *Subject) { f(s.Undo) } }

// nameless is an object that nothing but its params tells from another.
func nameless(s *Subject) {
	s.Record.Identity, s.Record.Nonce = resource.Identity{}, ""
	s.Look.Obs.Identity, s.Look.Obs.Owner = resource.Identity{}, resource.Tags{}
}

func undos() map[string]decision {
	deletes := []Grant{GrantDelete}
	unsure, sure := record.Attempt{Execution: "e-1", Outcome: record.Unsure}, record.Attempt{Execution: "e-2", Outcome: record.Confirmed}
	out := map[string]decision{
		"S24: what the execution made is deleted": {of: undone(named), action: Delete, needs: deletes, says: "made by e-1; deleted", check: calls("delete")},
		"S25: its data has its own consent": {of: undone(holding, nameless), action: Delete, needs: []Grant{GrantDelete, GrantDataLoss}, says: "log events",
			check: loses("log events")},
		"S24: what another execution made is not": {of: undone(named, attempts(sure)), action: Blocked, reason: NotUndone, says: "nothing shows that execution e-1 made it"},
		"S24: nor what one of two may have made":  {of: undone(named, attempts(unsure, record.Attempt{Execution: "e-2", Outcome: record.Unsure})), action: Blocked, reason: NotUndone},
		"S24: what another execution sent again is its": {of: undone(named, attempts(record.Attempt{Execution: "e-1", Outcome: record.Refused}, sure)), action: Blocked,
			reason: NotUndone},
		"S4: what was adopted is never removed":              {of: undone(named, rec(func(r *record.Record) { r.Origin = record.ByAdopt })), action: Blocked, reason: NotUndone},
		"what was found by its tags was not made":            {of: undone(named, rec(func(r *record.Record) { r.Intent = nil })), action: Blocked, reason: NotUndone},
		"S24: what is only presumed ours is never removed":   {of: undone(holding, nameless, rec(func(r *record.Record) { r.Origin = record.Presumed })), action: Blocked, reason: NotUndone, says: "presumed ours"},
		"S24: without tags it takes an acknowledged key":     {of: undone(holding, nameless, attempts(unsure)), action: Blocked, reason: NotUndone, says: "presumed ours"},
		"S24: with tags it takes the nonce":                  {of: undone(named, there(owner(resource.TagStore, store))), action: Blocked, reason: NotUndone, says: "does not carry the nonce"},
		"and to see whether it has it":                       {of: undone(named, there(func(o *resource.Observation) { o.Owner = nil })), action: Blocked, reason: NotUndone, says: "could not be read"},
		"S24: what something outside refers to stays":        {of: undone(named, old(func(u *Undo) { u.UsedBy = "Site" })), action: Blocked, reason: StillUsed, says: "Site, which stays, refers to it"},
		"what was replaced since is left to a deploy":        {of: undone(named, old(func(u *Undo) { u.Later = 3 })), action: Blocked, reason: NotUndone, says: "generation 3 took its place"},
		"S20: another object at the key is left alone":       {of: undone(named, there(identity("U9"))), action: Delete, needs: change, says: "left alone", check: calls()},
		"what is gone already goes from the records":         {of: undone(named, gone), action: Delete, needs: change, check: calls()},
		"S21: but not inside the window":                     {of: undone(named, gone, recently), action: Wait, needs: change},
		"an edited object without identity is not deleted":   {of: undone(holding, nameless, there(identity(""), read("Size", 9))), action: Blocked, reason: Foreign},
		"a denied look deletes nothing":                      {of: undone(named, failing(resource.AccessDenied)), action: Blocked, reason: Denied},
		"Retain keeps it":                                    {of: undone(named, policies(record.PolicyRetain, "")), action: Retain, needs: change},
		"RetainExceptOnCreate does not":                      {of: undone(named, policies(record.PolicyRetainOnCreate, "")), action: Delete, needs: deletes},
		"Snapshot is refused":                                {of: undone(named, policies(record.PolicySnapshot, "")), action: Blocked, reason: Unsupported},
		"S23: after a replacement the old one is current":    {of: replacing(), action: Delete, needs: deletes, check: fate("generation 1 (orders-old) becomes current again first")},
		"S23: also when the new one is kept":                 {of: replacing(policies(record.PolicyRetain, "")), action: Retain, needs: change, check: fate("becomes current again")},
		"S23: its UpdateReplacePolicy is not asked":          {of: replacing(policies("", record.PolicyRetain)), action: Delete, needs: deletes},
		"S23: with the old record gone it refuses":           {of: replacing(old(func(u *Undo) { u.Old = nil })), action: Blocked, reason: NotUndone, says: "generation 1, which is gone"},
		"S23: with the old object gone too":                  {of: replacing(old(func(u *Undo) { u.OldLook.Obs = nil })), action: Blocked, reason: NotUndone, says: "whose object is gone"},
		"S23: or with another object in its place":           {of: replacing(old(func(u *Undo) { identity("U9")(u.OldLook.Obs) })), action: Blocked, reason: NotUndone, says: "another object"},
		"S23: or while its deletion may still be executed":   {of: replacing(old(func(u *Undo) { u.Old.Status = record.Deleting })), action: Blocked, reason: NotUndone, says: "deletion was begun"},
		"S23: absence inside the window is waited for":       {of: replacing(old(func(u *Undo) { u.OldLook.Obs, u.Old.TouchedAt = nil, now.Add(-time.Second) })), action: Wait, needs: change},
		"S23: a denied look at the old one deletes nothing":  {of: replacing(old(func(u *Undo) { u.OldLook = Look{Err: &resource.Error{Kind: resource.AccessDenied}} })), action: Blocked, reason: Denied, says: "it replaced generation 1"},
		"S23: nor a record that does not say where it is":    {of: replacing(old(func(u *Undo) { u.OldLook = Look{Unplaced: true} })), action: Blocked, reason: NotUndone, says: "does not say where"},
		"S23: what was restored already goes on":             {of: replacing(old(func(u *Undo) { u.Old.Status = record.Made }), status(record.Deleting)), action: Delete, needs: deletes},
		"an unfinished create with its nonce is deleted":     {of: undone(named, asked(recovery.VerdictOurs, observation())), action: Delete, needs: deletes},
		"S24: an unfinished one that is presumed ours stays": {of: undone(holding, asked(recovery.VerdictPresumed, observation())), action: Blocked, reason: NotUndone, says: "presumed ours"},
		"of what was not created the record goes":            {of: undone(named, asked(recovery.VerdictNotCreated)), action: Delete, needs: change, check: calls()},
		"what is not visible yet is waited for":              {of: undone(named, asked(recovery.VerdictNotVisible)), action: Wait, needs: change},
		"what nobody can judge is for a person":              {of: undone(named, asked(recovery.VerdictUncertain)), action: Blocked, reason: Uncertain},
	}
	return out
}

// asked is judged, for an intent of e-1.
func asked(v recovery.Verdict, candidates ...*resource.Observation) func(*Subject) {
	return func(s *Subject) {
		judged(v, candidates...)(s)
		s.Record.Intent.Execution = "e-1"
		s.Record.Intent.Attempts = []record.Attempt{{N: 1, Execution: "e-1", Outcome: record.Going}}
	}
}

func fate(want string) func(*testing.T, Item) {
	return func(t *testing.T, it Item) {
		if !strings.Contains(it.OldFate, want) {
			t.Errorf("the old one: %q, want %q", it.OldFate, want)
		}
	}
}

// S24: what a kept object refers to is kept, and what that needs is blocked with it.
func TestWhatAKeptObjectRefersToIsNotRolledBack(t *testing.T) {
	items := []Item{{ID: "Kept", Action: Retain}, {ID: "Role", Action: Delete, DependsOn: []string{"Kept"}, Needs: []Grant{GrantDelete}},
		{ID: "Key", Action: Delete, DependsOn: []string{"Role"}}, {ID: "Free", Action: Delete}}
	keepUsed(items)
	blockDependents(items)
	var got []string
	for _, it := range items {
		got = append(got, it.ID+" "+string(it.Action)+" "+string(it.Reason))
	}
	want := []string{"Kept retain ", "Role blocked still used", "Key blocked dependency blocked", "Free delete "}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
