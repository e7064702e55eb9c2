package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"reclaim/engine/crash"
	"reclaim/engine/diff"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// Subject is everything the decision about one resource is made from. Plan and deploy fill it in the same way, so that
// both reach the same decision by the same code.
type Subject struct {
	ID       string
	Provider resource.Provider
	Stores   []string // our store ID, then its ancestors (S4)
	Sealer   value.Sealer
	Now      time.Time

	// Wanted says that a template names the resource. Without it the record is to be removed.
	Wanted    bool
	Desired   value.Map // resolved, with explicit unknowns and the generated name filled in
	Generated bool      // config sets no name: Name may be replaced by a new one
	Name      string    // the generated name, when there is one
	NewName   string    // proposed for a replacement
	Preflight bool      // look at a generated name too, although it was only just made up (S5)
	DependsOn []string
	Refs      []record.Ref // dependencies as records would hold them
	Policies  [2]string    // DeletionPolicy, UpdateReplacePolicy of the template

	Stack    record.StackID
	Record   *record.Record    // current generation; nil when nothing is recorded
	Was      resource.Provider // of the record's type, where config names another type by now
	Current  bool              // Record is the current generation of its ID
	LastGen  int               // the highest generation that was ever recorded
	Look     Look
	Next     Look              // at the key that config gives, where the record has another: what a new generation would find (S5)
	Finding  *recovery.Finding // of a record that needs a verdict
	Claimant *record.Record    // live record of another resource with the same physical key
	// AbsentDeps are dependencies without a record that do not exist (S38).
	AbsentDeps []string
	Adopt      *string // the operator opted in; the text is a physical ID or ""

	Undo *Undo // the record is removed because the execution that made it is rolled back; nil otherwise
}

// NeedsVerdict reports whether what a record's object is can only be told by the verdict table.
func NeedsVerdict(r *record.Record, s *resource.Schema) bool {
	return r != nil && (r.Uncertain() || r.Status == record.Acknowledged && s.Identity == resource.Upsert)
}

// recorded is the schema of the object that the record stands for.
func (s Subject) recorded() *resource.Schema {
	if s.Was != nil {
		return s.Was.Schema()
	}
	return s.Provider.Schema()
}

// Decide says what is to be done about one resource, and why.
func Decide(s Subject) Item {
	it := Item{
		ID: s.ID, Type: s.Provider.Schema().Type, Gen: s.LastGen + 1, DependsOn: s.DependsOn, Name: s.Name, Removal: !s.Wanted,
		Desired: s.Sealer.SealMap(s.Desired), ReadAt: s.Look.At,
		PolicyDelete: s.Policies[0], PolicyReplace: s.Policies[1],
	}
	if r := s.Record; r != nil {
		it.Gen, it.Rev, it.Status, it.Physical, it.Key = r.Gen, r.Rev, r.Status, r.Physical, r.Key
		if !s.Wanted {
			it.PolicyDelete, it.PolicyReplace = r.DeletionPolicy, r.UpdateReplacePolicy
		}
	}
	switch {
	case NeedsVerdict(s.Record, s.Provider.Schema()) && s.Finding == nil:
		it.block(ReadFailed, "its unfinished create could not be judged; look again")
	case s.Record != nil && s.Finding == nil && s.Look.Unplaced:
		it.block(ReadFailed, "its record (%s) does not say where the object is, so that nothing can be said of it; nothing is made or given up", s.Record.Status)
	case s.Undo != nil:
		s.undo(&it)
	case !s.Wanted:
		s.removal(&it)
	case s.Record == nil:
		s.fresh(&it)
	case NeedsVerdict(s.Record, s.Provider.Schema()):
		s.unfinished(&it)
	default:
		s.existing(&it)
	}
	it.Facts = facts(&it, s.Look)
	if it.Finding == nil {
		it.Seen = seen(s.Look)
	}
	return it
}

func (it *Item) block(r Reason, format string, a ...any) {
	it.Action, it.Reason, it.Needs, it.Calls = Blocked, r, nil, nil
	it.Detail = fmt.Sprintf(format, a...)
}

// fresh: nothing is recorded.
func (s Subject) fresh(it *Item) {
	schema := s.Provider.Schema()
	if key, ok := schema.KeyOf(s.Desired, s.Look.Machine); ok {
		it.Key, it.Physical = key, schema.Physical(key)
	}
	switch {
	case s.Look.Err != nil:
		s.lookFailed(it)
	case s.Claimant != nil:
		it.block(ClaimedTwice, "%s is already %s of stack %s (generation %d); rename one of them", cmp.Or(it.Physical, s.Claimant.Physical), s.Claimant.ID, s.Claimant.Stack, s.Claimant.Gen)
	case len(s.Look.Ours) > 1:
		it.block(Uncertain, "%d objects carry this resource's tags and no record tells them apart; adopt one with --adopt %s=PHYSICAL", len(s.Look.Ours), s.ID)
	case len(s.Look.Ours) == 1:
		s.found(it, &s.Look.Ours[0].Observation)
	case s.Look.Obs != nil:
		s.found(it, s.Look.Obs)
	case s.Adopt != nil && *s.Adopt != "":
		it.block(ReadFailed, "--adopt names %s, and nothing is there; correct the ID, or leave --adopt out to make it", *s.Adopt)
	default:
		it.Action, it.Needs, it.Calls = Create, []Grant{GrantChange}, []string{"create"}
		it.Detail = cmp.Or(it.Physical, "the service assigns its ID")
		if n := len(schema.Natural); n > 0 && it.Physical == "" && s.Desired.Text(schema.Natural[n-1]) != "" {
			it.Detail = s.Desired.Text(schema.Natural[n-1]) + ": " + it.Detail // a route is known by its key
		}
		it.Fields = s.compare(nil).Fields
	}
}

// found: an object is at the key, or carries our tags, and no record says so (S5).
func (s Subject) found(it *Item, obs *resource.Observation) {
	schema := s.Provider.Schema()
	it.Key, it.Physical = obs.Key, schema.Physical(obs.Key)
	ours := s.ownTags(obs.Owner)
	switch {
	case len(s.AbsentDeps) > 0:
		it.block(DependencyAbsent, "%s exists without a record while %s, which it depends on, does not; nothing is changed until that is understood", it.Physical, strings.Join(s.AbsentDeps, ", "))
	case ours:
		it.Action, it.Needs = Reclaim, []Grant{GrantReclaim}
		it.Detail = "exists, ours by its tags, no record: keep it as this resource"
	case s.Adopt != nil && (*s.Adopt == "" || *s.Adopt == it.Physical):
		it.Action, it.Needs = Adopt, []Grant{GrantAdopt}
		it.Detail = "exists, " + ownerWords(obs) + ": take it over as asked"
	default:
		it.block(Foreign, "%s exists and nothing shows that we made it (%s); to take it over: --adopt %s=%s", it.Physical, ownerWords(obs), s.ID, it.Physical)
		it.Fields = s.compare(obs).Fields
		return
	}
	if it.Action != Blocked {
		s.planSync(it, obs)
	}
}

// ownTags reports whether tags name our store, this stack and this resource. An ancestor's do not prove anything without a
// record: it may have gone on by itself (S4).
func (s Subject) ownTags(t resource.Tags) bool {
	return t[resource.TagStore] == s.Stores[0] && t[resource.TagStack] == s.Stack.String() && t[resource.TagResource] == s.ID
}

func ownerWords(o *resource.Observation) string {
	switch {
	case o.Owner == nil:
		return "whose it is could not be read"
	case o.Owner[resource.TagStore] != "":
		return fmt.Sprintf("tagged by store %s for %s of %s", o.Owner[resource.TagStore], o.Owner[resource.TagResource], o.Owner[resource.TagStack])
	case len(o.Owner.Foreign()) > 0:
		return "marked " + strings.Join(o.Owner.Foreign(), ", ")
	default:
		return "no mark of ours"
	}
}

// unfinished: a create was intended and not brought to an end; the finding says what is known.
func (s Subject) unfinished(it *Item) {
	f := s.Finding
	it.Finding, it.Physical = f, cmp.Or(f.Physical, it.Physical)
	if moved := s.movedIntent(); moved != "" && f.Verdict != recovery.VerdictOurs {
		it.block(Uncertain, "its %s changed while a create of generation %d is unresolved; resolve that first: reclaim recover", moved, s.Record.Gen)
		return
	}
	switch f.Verdict {
	case recovery.VerdictOurs, recovery.VerdictPresumed, recovery.VerdictAdopting:
		it.Action, it.Needs, it.Detail = Reclaim, []Grant{GrantChange}, string(f.Verdict)
		if c := only(f.Candidates); c != nil && c.Observation != nil {
			s.planSync(it, c.Observation)
		}
	case recovery.VerdictNotCreated, recovery.VerdictReplayable:
		it.Action, it.Needs, it.Calls = Create, []Grant{GrantChange}, []string{"create"}
		it.Detail = f.Summary
	case recovery.VerdictGone:
		it.Action, it.Needs, it.Calls, it.Gen = Create, []Grant{GrantChange}, []string{"create"}, s.LastGen+1
		it.Detail = f.Summary
	case recovery.VerdictNotVisible:
		it.Action, it.Needs, it.Detail = Wait, []Grant{GrantChange}, f.Summary
	case recovery.VerdictDeletion:
		if !f.Auto {
			it.block(Uncertain, "%s", f.Summary)
			return
		}
		it.Action, it.Needs, it.Detail = Wait, []Grant{GrantChange}, f.Summary
	default:
		it.block(Uncertain, "%s", f.Summary)
	}
}

func only(cs []recovery.Candidate) *recovery.Candidate {
	var found *recovery.Candidate
	for i := range cs {
		if cs[i].Strike != "" {
			continue
		}
		if found != nil {
			return nil
		}
		found = &cs[i]
	}
	return found
}

// movedIntent names what config changed under an unresolved intent: "type" or "key" (S7).
func (s Subject) movedIntent() string {
	r := s.Record
	schema := s.Provider.Schema()
	if r.Type != schema.Type {
		return "type"
	}
	if key, ok := schema.KeyOf(s.Desired, s.Look.Machine); ok && r.Intent != nil && len(r.Intent.Key) > 0 && !key.Equal(r.Intent.Key) {
		return "key"
	}
	return ""
}

// existing: a record with a known object.
func (s Subject) existing(it *Item) {
	r, obs := s.Record, s.Look.Obs
	schema := s.Provider.Schema()
	switch {
	case s.Look.Err != nil:
		s.lookFailed(it)
	case obs == nil && s.early():
		s.wait(it, "not visible yet")
	case obs == nil:
		it.Action, it.Needs, it.Calls, it.Gen = Create, []Grant{GrantChange}, []string{"create"}, s.LastGen+1
		it.Detail = "recorded, and gone since; made again"
		if key, ok := schema.KeyOf(s.Desired, s.Look.Machine); ok {
			it.Key, it.Physical = key, schema.Physical(key)
		}
		it.Fields = s.compare(nil).Fields
		s.taken(it)
	case s.another(obs) != "":
		if s.Adopt != nil && (*s.Adopt == "" || *s.Adopt == it.Physical) {
			it.Action, it.Needs, it.Detail = Adopt, []Grant{GrantAdopt}, s.another(obs)+"; taken over as asked"
			s.planSync(it, obs)
			return
		}
		it.block(Foreign, "%s; to take it over: --adopt %s=%s", s.another(obs), s.ID, it.Physical)
	case r.Status == record.Deleting && s.early():
		s.wait(it, "its deletion was sent, and what is still there may be about to go")
	default:
		s.planSync(it, obs)
	}
}

// early reports whether the consistency window after the last send or acknowledgement is still open (S12).
func (s Subject) early() bool { return s.Now.Before(s.visibleFrom()) }

func (s Subject) visibleFrom() time.Time {
	return s.Record.TouchedAt.Add(crash.Scale(s.recorded().Window))
}

func (s Subject) wait(it *Item, why string) {
	it.Action, it.Needs = Wait, []Grant{GrantChange}
	it.Detail = fmt.Sprintf("%s; judged again after %s", why, s.visibleFrom().UTC().Format(time.TimeOnly))
}

// another says why what is at the key is not the recorded object; "" when it is.
func (s Subject) another(obs *resource.Observation) string {
	same, known := s.Record.Identity.Same(obs.Identity)
	if known && !same {
		return "another object is at the recorded key: ours had " + identityWords(s.Record.Identity) + ", this one has " + identityWords(obs.Identity)
	}
	nonce := s.Record.Nonce
	proven := known || nonce != "" && obs.Owner[resource.TagNonce] == nonce
	store := obs.Owner[resource.TagStore]
	if store != "" && store != s.Stores[0] && !(proven && slices.Contains(s.Stores, store)) {
		return "it now carries the tags of store " + store
	}
	if !proven && nonce != "" && s.recorded().Taggable() && obs.Owner != nil {
		return "nothing shows that what is at the recorded key is ours: it does not carry the nonce of our create"
	}
	return ""
}

func identityWords(i resource.Identity) string {
	if i.UniqueID != "" {
		return "ID " + i.UniqueID
	}
	return "creation time " + i.CreatedAt.UTC().Format(time.RFC3339Nano)
}

func (s Subject) lookFailed(it *Item) {
	switch resource.KindOf(s.Look.Err) {
	case resource.AccessDenied:
		it.block(Denied, "the look was denied: %v", s.Look.Err)
	case resource.ReadInvalid:
		it.block(InvalidRead, "the answer could not be understood: %v", s.Look.Err)
	default:
		it.block(ReadFailed, "it could not be looked at: %v", s.Look.Err)
	}
}

func (s Subject) compare(obs *resource.Observation) diff.Result {
	in := diff.Input{Schema: s.Provider.Schema(), Desired: s.Desired, Observed: obs, Sealer: s.Sealer}
	if r := s.Record; r != nil {
		in.Recorded, in.Sending = r.Params, r.Pending
	}
	if in.Observed == nil {
		in.Observed = &resource.Observation{}
	}
	return diff.Compare(in)
}

// planSync compares desired with obs and fills in update, replace or noop. An action that is already set (reclaim,
// adopt) stays and gets the calls that follow.
func (s Subject) planSync(it *Item, obs *resource.Observation) {
	if s.Record != nil && s.Record.Type != it.Type { // it cannot be compared with params of another type
		s.planReplace(it, []value.Path{"Type"})
		return
	}
	res := s.compare(obs)
	it.Fields = res.Fields
	if res.Invalid {
		it.block(InvalidRead, "a value that cannot be right is no evidence of drift, and never of replacement; nothing will be sent")
		return
	}
	write, cause, maybe := Sort(res.Fields)
	it.MaybeReplace = maybe
	if len(cause) > 0 {
		s.planReplace(it, cause)
		return
	}
	calls, held, err := SyncCalls(s.Provider, s.Change(obs, write), res.Fields)
	if err != nil {
		it.block(Unsupported, "%v", err)
		return
	}
	if len(held) > 0 && len(calls) == 0 && it.Action == "" {
		it.block(Denied, "nothing can be written: %s would be sent in one call with what the service does not let us read", strings.Join(held, ", "))
		return
	}
	it.Calls = append(it.Calls, callNames(calls)...)
	s.settleAction(it, calls, maybe)
}

func (s Subject) settleAction(it *Item, calls []resource.Call, maybe []value.Path) {
	n := count(it.Fields, diff.Differs) + count(it.Fields, diff.Changed) + count(it.Fields, diff.Removed)
	what := fmt.Sprintf("%d to write", n)
	unknown := count(it.Fields, diff.Unknown)
	if unknown > 0 {
		what += fmt.Sprintf(", %d unknown until its dependencies are made", unknown)
	}
	if len(maybe) > 0 {
		what += "; replacement possible: " + paths(maybe) + " cannot be changed in place"
	}
	recordOnly := s.recordOnly()
	switch {
	case it.Action == Reclaim || it.Action == Adopt:
		if len(calls) > 0 || unknown > 0 {
			it.Detail += ", then an update: " + what
		}
	case len(calls) > 0 || unknown > 0:
		it.Action, it.Needs, it.Detail = Update, []Grant{GrantChange}, what
	case s.Record.Status != record.Made:
		it.Action, it.Needs, it.Detail = Update, []Grant{GrantChange}, "finish what was begun; nothing left to send"
	case recordOnly != "":
		it.Action, it.Needs, it.Detail = Update, []Grant{GrantChange}, recordOnly+" changes in the record only"
	default:
		it.Action, it.Detail = Noop, "as config says"
		if b := count(it.Fields, diff.Blocked); b > 0 {
			it.Detail += fmt.Sprintf("; %d blocked", b)
		}
	}
}

// recordOnly names what changes in the record without any call: destroy works from records alone (S6).
func (s Subject) recordOnly() string {
	r := s.Record
	switch {
	case r == nil:
		return ""
	case r.DeletionPolicy != s.Policies[0]:
		return "DeletionPolicy"
	case r.UpdateReplacePolicy != s.Policies[1]:
		return "UpdateReplacePolicy"
	case !slices.Equal(r.DependsOn, s.Refs):
		return "what it depends on"
	case s.Look.Obs != nil && !value.Equal(value.OfMap(r.Output), value.OfMap(s.Sealer.SealMap(s.Look.Obs.Output))):
		return "its output"
	}
	return ""
}

// planReplace fills in a replacement: order, what becomes of the old object, and every approval it needs.
func (s Subject) planReplace(it *Item, cause []value.Path) {
	schema, r := s.Provider.Schema(), s.Record
	if r != nil && (r.UpdateReplacePolicy == record.PolicySnapshot || it.PolicyReplace == record.PolicySnapshot) {
		it.block(Unsupported, "it must be replaced (%s), and its UpdateReplacePolicy asks for a snapshot, which %s does not have here", paths(cause), it.Type)
		return
	}
	if r == nil || it.Action == Reclaim || it.Action == Adopt {
		it.Cause = cause
		it.Detail += "; then a replacement, approved on its own, because " + paths(cause) + " cannot be changed in place"
		return
	}
	it.Action, it.Cause, it.Order, it.Gen = Replace, cause, CreateFirst, s.LastGen+1
	it.Needs, it.Calls = []Grant{GrantReplace}, []string{"create"}
	keep := Keeps(r.UpdateReplacePolicy) || Keeps(it.PolicyReplace)
	desired := s.Desired
	if s.Generated && s.NewName != "" {
		it.Name = s.NewName
		desired = desired.With(schema.Name.Param, value.Of(s.NewName))
		it.Desired = s.Sealer.SealMap(desired)
	}
	it.Key, it.Physical = nil, ""
	if key, ok := schema.KeyOf(desired, s.Look.Machine); ok {
		it.Key, it.Physical = key, schema.Physical(key)
		if r.Claim != "" && schema.Claim(s.Stack.Scope, key) == r.Claim {
			it.Order = DeleteFirst
		}
	}
	if s.taken(it) {
		return
	}
	it.Detail = paths(cause) + " cannot be changed in place"
	it.OldFate = r.Physical + " is deleted once the new one is made and its dependents have moved"
	switch {
	case keep && it.Order == DeleteFirst:
		it.block(Unsupported, "it must be replaced (%s) under the name it has, and UpdateReplacePolicy keeps the old one under that name; rename it", paths(cause))
		return
	case keep:
		it.OldFate = r.Physical + " is kept (UpdateReplacePolicy: Retain)"
	case it.Order == DeleteFirst:
		it.Needs = append(it.Needs, GrantDeleteFirst)
		it.OldFate = r.Physical + " is deleted first, because the new one needs its name; until that is made there is none"
	}
	s.guard(it, !keep)
}

// taken blocks what would make an object where one is already, or where nobody could look.
func (s Subject) taken(it *Item) bool {
	switch {
	case s.Next.Err != nil:
		it.block(ReadFailed, "the place of the new one could not be looked at: %v", s.Next.Err)
	case s.Next.Obs != nil:
		physical, why := s.Provider.Schema().Physical(s.Next.Obs.Key), "nothing shows that we made it ("+ownerWords(s.Next.Obs)+")"
		if s.ownTags(s.Next.Obs.Owner) {
			why = "carries this resource's tags, and no record says so: it was given up or kept"
		}
		it.block(Foreign, "%s exists and %s; choose another name, or take it away", physical, why)
	default:
		return false
	}
	return true
}

// guard adds the approvals that giving up the record's object needs of its own: one for the data that is destroyed with it
// (S25), and one where it was only ever presumed ours (S19).
func (s Subject) guard(it *Item, destroyed bool) {
	if schema := s.recorded(); destroyed && schema.DataBearing {
		it.Needs = append(it.Needs, GrantDataLoss)
		it.Loss = schema.Data
	}
	if s.Record.Origin == record.Presumed {
		it.Needs = append(it.Needs, GrantPresumed)
	}
}

// removal: no template names the resource any more, its generation was replaced, or the stack is destroyed.
func (s Subject) removal(it *Item) {
	policy := s.Record.DeletionPolicy
	if s.replaced() && !NeedsVerdict(s.Record, s.Provider.Schema()) {
		policy = s.Record.UpdateReplacePolicy
	}
	s.remove(it, policy)
}

// remove takes the record's object away, as the policy says.
func (s Subject) remove(it *Item, policy string) {
	if NeedsVerdict(s.Record, s.Provider.Schema()) {
		s.removeUnfinished(it, policy)
		return
	}
	obs := s.Look.Obs
	switch {
	case Keeps(policy):
		it.Action, it.Needs = Retain, []Grant{GrantChange}
		it.Detail = "kept by its policy; the record goes, a tombstone stays"
	case policy == record.PolicySnapshot:
		it.block(Unsupported, "its policy asks for a snapshot, which %s does not have here", it.Type)
	case s.Look.Err != nil:
		s.lookFailed(it)
	case obs == nil && s.early():
		s.wait(it, "not visible yet")
	case obs == nil:
		it.Action, it.Needs, it.Detail = Delete, []Grant{GrantChange}, "gone already; only the record goes"
	case s.another(obs) != "":
		it.Action, it.Needs, it.Detail = Delete, []Grant{GrantChange}, s.another(obs)+"; it is left alone, only the record goes"
	case s.edited(obs) != "":
		it.block(Foreign, "it has no identity of its own and %s is not as we left it; it will not be deleted. Deploy to restore it first, or keep it with DeletionPolicy: Retain", s.edited(obs))
	default:
		s.planDelete(it, obs)
	}
}

// replaced reports whether a later generation took the record's place. Where that was given up, none did.
func (s Subject) replaced() bool {
	return !s.Current && (s.Record.Status == record.Retired || s.LastGen > s.Record.Gen)
}

// edited names what differs from the recorded params on an object without identity, which is all there is to tell it by
// (S20). An unfinished update counts with what it was sending.
func (s Subject) edited(obs *resource.Observation) string {
	r := s.Record
	if !r.Identity.IsZero() || r.Nonce != "" && obs.Owner[resource.TagNonce] == r.Nonce {
		return ""
	}
	schema := s.Provider.Schema()
	equal, because := diff.EqualParams(schema, r.Params, obs.Params, obs.Gaps, s.Sealer)
	if !equal && r.Pending != nil {
		equal, because = diff.EqualParams(schema, r.Pending, obs.Params, obs.Gaps, s.Sealer)
	}
	if equal {
		return ""
	}
	return paths(because)
}

func (s Subject) planDelete(it *Item, obs *resource.Observation) {
	it.Action, it.Needs = Delete, []Grant{GrantDelete}
	it.Detail = "deleted"
	if s.replaced() {
		it.Detail = fmt.Sprintf("generation %d, replaced; deleted", s.Record.Gen)
	}
	calls, err := s.Provider.Unmake(s.DeleteOf(obs, false), obs)
	if err != nil {
		it.block(Unsupported, "%v", err)
		return
	}
	it.Calls = append(callNames(calls), "delete")
	s.guard(it, true)
	if it.Loss != "" {
		it.Detail += ", and with it " + it.Loss
	}
}

func (s Subject) removeUnfinished(it *Item, policy string) {
	f := s.Finding
	it.Finding, it.Physical = f, cmp.Or(f.Physical, it.Physical)
	ours := f.Verdict == recovery.VerdictOurs || f.Verdict == recovery.VerdictPresumed
	switch {
	case ours && Keeps(policy):
		it.Action, it.Needs, it.Detail = Retain, []Grant{GrantChange}, f.Summary+" It is kept by its policy; the record goes, a tombstone stays"
		return
	case ours && policy == record.PolicySnapshot:
		it.block(Unsupported, "its policy asks for a snapshot, which %s does not have here", it.Type)
		return
	}
	switch f.Verdict {
	case recovery.VerdictOurs, recovery.VerdictPresumed:
		it.Action, it.Needs, it.Calls = Delete, []Grant{GrantDelete}, []string{"delete"}
		it.Detail = f.Summary + " It is reclaimed, then deleted"
		if f.Verdict == recovery.VerdictPresumed {
			it.Needs = append(it.Needs, GrantPresumed)
		}
		if schema := s.Provider.Schema(); schema.DataBearing {
			it.Needs, it.Loss = append(it.Needs, GrantDataLoss), schema.Data
		}
	case recovery.VerdictNotCreated, recovery.VerdictGone:
		it.Action, it.Needs, it.Detail = Delete, []Grant{GrantChange}, f.Summary+" Only the record goes; a tombstone stays"
	case recovery.VerdictAdopting:
		it.Action, it.Needs, it.Detail = Retain, []Grant{GrantChange}, "its adoption was not finished; the object stays, the record goes"
	case recovery.VerdictNotVisible, recovery.VerdictDeletion:
		it.Action, it.Needs, it.Detail = Wait, []Grant{GrantChange}, f.Summary
	default:
		it.block(Uncertain, "%s", f.Summary)
	}
}

// Keeps reports whether a policy keeps the object. RetainExceptOnCreate deletes only when a create is rolled back.
func Keeps(policy string) bool {
	return policy == record.PolicyRetain || policy == record.PolicyRetainOnCreate
}

// DeleteOf is the deletion of the record's object as it was read.
func (s Subject) DeleteOf(obs *resource.Observation, consent bool) resource.Delete {
	r := s.Record
	d := resource.Delete{Key: r.Key, Expect: r.Identity, Nonce: r.Nonce, Recorded: r.Params, Consent: consent}
	if d.Expect.IsZero() && obs != nil {
		d.Expect = obs.Identity
	}
	switch {
	case r.Pending == nil:
	case d.Expect.IsZero() && !s.Provider.Schema().Taggable(): // told by its params alone: it holds the one or the other
		if len(r.Params) == 0 || obs == nil || !s.equals(r.Params, obs) {
			d.Recorded = r.Pending
		}
	default: // members of both are ours, and in the way
		d.Recorded = JoinMembers(r.Params, r.Pending)
	}
	return d
}

// equals reports whether what is there is what params say.
func (s Subject) equals(params value.Map, obs *resource.Observation) bool {
	equal, _ := diff.EqualParams(s.Provider.Schema(), params, obs.Params, obs.Gaps, s.Sealer)
	return equal
}

// Change is what Sync is asked for.
func (s Subject) Change(obs *resource.Observation, write []string) resource.Change {
	c := resource.Change{Key: obs.Key, Desired: s.Desired, Observed: obs, Write: write}
	if r := s.Record; r != nil {
		c.Recorded = r.Params
		if r.Pending != nil {
			c.Recorded = JoinMembers(r.Params, r.Pending)
		}
	}
	return c
}
