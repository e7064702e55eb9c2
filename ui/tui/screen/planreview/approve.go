package planreview

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/screen/execution"
	"reclaim/ui/tui/theme"
	"reclaim/ui/tui/widget"
)

func notice(format string, args ...any) tea.Cmd {
	return screen.Tell(screen.Notice{Text: fmt.Sprintf(format, args...)})
}

// closed says why nothing can be approved or run now, "" when it can.
func (s *Screen) closed() string {
	switch {
	case s.plan == nil:
		return "There is no plan yet. l looks at the cloud and makes one."
	case s.loading != "":
		return "Wait for the look to end: " + s.loading
	case s.used == s.plan.Fingerprint:
		return "This plan was run. l looks again and makes a new one."
	}
	return ""
}

// approve gives the item under the cursor what it needs; whatever destroys or takes over asks first, each kind apart.
func (s *Screen) approve() tea.Cmd {
	if why := s.closed(); why != "" {
		return notice("%s", why)
	}
	it := s.current()
	switch {
	case it == nil:
		return notice("These are unchanged; there is nothing to approve. x unfolds them.")
	case !it.CanRun():
		return notice("%s is %s; there is nothing to approve. %s", it.ID, it.Action, it.Detail)
	case s.approved[refOf(it)]:
		return notice("%s is approved already. U takes it back.", it.ID)
	}
	asks := s.asks(it)
	s.askNext(it, asks)
	return nil
}

// ask is one confirmation that an item wants.
type ask struct {
	title string
	text  []string
	typed string
}

// asks returns the confirmations, in order. Data is asked about apart from everything else (SAFETY S25).
func (s *Screen) asks(it *plan.Item) []ask {
	var out []ask
	var lines []string
	typed := ""
	for _, g := range it.Needs {
		switch g {
		case plan.GrantChange, plan.GrantDataLoss:
			continue
		case plan.GrantReclaim:
		default:
			typed = it.ID
		}
		lines = append(lines, grantText(g, it))
	}
	if len(lines) > 0 {
		out = append(out, ask{fmt.Sprintf("Approve: %s %s", it.Action, it.ID), lines, typed})
	}
	if slices.Contains(it.Needs, plan.GrantDataLoss) {
		name := it.Physical
		if name == "" {
			name = it.ID
		}
		out = append(out, ask{"Destroy data of " + it.ID, []string{grantText(plan.GrantDataLoss, it)}, name})
	}
	return out
}

func (s *Screen) askNext(it *plan.Item, asks []ask) {
	if len(asks) == 0 {
		s.approved[refOf(it)] = true
		return
	}
	a := asks[0]
	var text widget.Block
	for _, l := range a.text {
		text = append(text, widget.Paragraph(theme.Warn, l, 0, dialogWidth)...)
	}
	s.dialog = &widget.Dialog{Title: a.title, Text: text, Confirm: "Approve", Typed: a.typed,
		Yes: func() tea.Cmd { s.askNext(it, asks[1:]); return nil }}
}

// dialogWidth is the width that a dialog's text is broken at.
const dialogWidth = 70

// grantText says what an approval allows, for this item.
func grantText(g plan.Grant, it *plan.Item) string {
	object := it.Physical
	if object == "" {
		object = it.ID
	}
	fate := func(word, s string) string {
		if s == "" {
			return ""
		}
		return " " + word + ": " + s + "."
	}
	switch g {
	case plan.GrantReplace:
		return fmt.Sprintf("replace: a new %s is made.%s%s", screen.ShortType(it.Type), fate("The old one", it.OldFate), fate("Lost", it.Loss))
	case plan.GrantDeleteFirst:
		return "delete first: the name must stay, so the old one is deleted before the new one exists. There is a gap."
	case plan.GrantDelete:
		return fmt.Sprintf("delete: %s is deleted.%s%s", object, fate("The object", it.OldFate), fate("Lost", it.Loss))
	case plan.GrantDataLoss:
		return fmt.Sprintf("The data in %s is destroyed for good.%s", object, fate("Lost", it.Loss))
	case plan.GrantAdopt:
		return fmt.Sprintf("adopt: %s was made by someone else; it gets our ownership tags and is changed from now on. %s", object, it.Detail)
	case plan.GrantReclaim:
		return fmt.Sprintf("reclaim: the evidence that %s is ours is not complete. %s", object, it.Detail)
	case plan.GrantPresumed:
		return fmt.Sprintf("presumed ours: nothing on %s proves that we made it; only that it fits.", object)
	}
	return string(g) + ": " + it.Detail
}

func (s *Screen) takeBack() tea.Cmd {
	it := s.current()
	if it == nil || !s.approved[refOf(it)] {
		return notice("Nothing to take back here: this line is not approved.")
	}
	delete(s.approved, refOf(it))
	return nil
}

// ordinary are the items in view that need no word of their own and are not approved yet.
func (s *Screen) ordinary() []*plan.Item {
	var out []*plan.Item
	for _, r := range s.rows {
		if r.item != nil && r.item.CanRun() && len(s.asks(r.item)) == 0 && !s.approved[refOf(r.item)] {
			out = append(out, r.item)
		}
	}
	return out
}

// approveAll approves what needs no word of its own; the count must be typed.
func (s *Screen) approveAll() tea.Cmd {
	if why := s.closed(); why != "" {
		return notice("%s", why)
	}
	list := s.ordinary()
	if len(list) == 0 {
		return notice("Nothing is left that can be approved together; A approves one line.")
	}
	text := widget.Paragraph(theme.Plain, "These need no word of their own. Deletes, replaces, adoptions and data stay with A, one by one.", 0, dialogWidth)
	if s.filter != "" {
		text = append(text, widget.Paragraph(theme.Warn, "Only what the filter "+s.filter+" shows.", 0, dialogWidth)...)
	}
	for _, it := range list {
		mark, role := look(it.Action)
		text = append(text, widget.L(widget.T(role, mark+" "+string(it.Action)+" "), widget.T(theme.Plain, it.ID)))
	}
	s.dialog = &widget.Dialog{Title: "Approve " + widget.Count(len(list), "item"), Text: text, Confirm: "Approve", Typed: fmt.Sprint(len(list)),
		Yes: func() tea.Cmd {
			for _, it := range list {
				s.approved[refOf(it)] = true
			}
			return nil
		}}
	return nil
}

// approvals are what Deploy gets: the approved items, in plan order, each with the grants it needs.
func (s *Screen) approvals() []deploy.Approval {
	var out []deploy.Approval
	for _, it := range s.runnable {
		if s.approved[refOf(it)] {
			out = append(out, deploy.Approval{ID: it.ID, Gen: it.Gen, Grants: slices.Clone(it.Needs)})
		}
	}
	return out
}

// deploy asks for the last time, with everything that will be sent.
func (s *Screen) deploy() tea.Cmd {
	if why := s.closed(); why != "" {
		return notice("%s", why)
	}
	if s.sum.Hold != nil {
		return notice("Held by execution %s. R steps through what it left, and takes the hold.", s.sum.Hold.Execution)
	}
	given := s.approvals()
	if len(given) == 0 {
		if len(s.runnable) == 0 {
			return notice("Nothing in this plan can run.")
		}
		return notice("Nothing is approved. A approves the line under the cursor, B all %d that need no word of their own.", len(s.ordinary()))
	}
	s.dialog = &widget.Dialog{Title: s.verb() + " " + s.stack.String() + "?", Text: s.summary(given), Confirm: s.verb(),
		Yes: func() tea.Cmd { return s.start(given) }}
	return nil
}

func (s *Screen) verb() string {
	switch s.plan.Verb {
	case plan.VerbDestroy:
		return "Destroy"
	case plan.VerbRollback:
		return "Roll back"
	default:
		return "Deploy"
	}
}

// summary lists exactly what is approved, its calls and its grants, and what stays as it is.
func (s *Screen) summary(given []deploy.Approval) widget.Block {
	var out widget.Block
	for _, a := range given {
		it := s.byRef[ref{a.ID, a.Gen}]
		mark, role := look(it.Action)
		out = append(out, widget.L(widget.T(role, mark+" "+string(it.Action)+" "), widget.T(theme.Strong, it.ID),
			widget.T(theme.Dim, "  "+screen.ShortType(it.Type))))
		calls := "the calls are told by the look before each"
		if len(it.Calls) > 0 {
			calls = strings.Join(it.Calls, ", ")
		}
		out = append(out, widget.Paragraph(theme.Plain, "sends "+calls, 4, dialogWidth)...)
		if special := specialGrants(a.Grants); special != "" {
			out = append(out, widget.Paragraph(theme.Warn, "allowed: "+special, 4, dialogWidth)...)
		}
		if w := s.unapprovedNeeds(it); len(w) > 0 {
			out = append(out, widget.Paragraph(theme.Warn, "waits for "+strings.Join(w, ", ")+", which is not approved: it will be skipped", 4, dialogWidth)...)
		}
	}
	out = append(out, widget.Line{})
	text := "Each resource is looked at again before it is changed; what moved stops as stale."
	if left, blocked := len(s.runnable)-len(given), s.plan.Counts()[plan.Blocked]; left+blocked > 0 {
		text = fmt.Sprintf("%d not approved and %d blocked stay as they are. ", left, blocked) + text
	}
	return append(out, widget.Paragraph(theme.Dim, text, 0, dialogWidth)...)
}

func specialGrants(grants []plan.Grant) string {
	var out []string
	for _, g := range grants {
		if g != plan.GrantChange {
			out = append(out, string(g))
		}
	}
	return strings.Join(out, ", ")
}

// unapprovedNeeds are dependencies that could run but were not approved.
func (s *Screen) unapprovedNeeds(it *plan.Item) []string {
	var out []string
	for _, id := range it.DependsOn {
		if d := s.newest[id]; d != nil && (d.Action == plan.Blocked || d.CanRun() && !s.approved[refOf(d)]) {
			out = append(out, id)
		}
	}
	return out
}

// start opens the run. The plan is used up from here on.
func (s *Screen) start(given []deploy.Approval) tea.Cmd {
	p, command := s.plan, s.Command()
	s.used = p.Fingerprint
	s.approved = map[ref]bool{}
	return screen.Tell(screen.Open{Screen: execution.New(s.parent, execution.Run{
		Title: strings.ToLower(s.verb()) + " › " + s.stack.String(), Command: command, Now: s.port.Now,
		Start: func(ctx context.Context, sink event.Sink) (deploy.Outcome, error) {
			return s.port.Deploy(ctx, p, given, sink)
		},
		Next: execution.Offer{Key: "R", Word: "recover", Help: "step through what this run left uncertain; nothing is sent by looking",
			Open: func() screen.Screen { return s.recovery(s.stack, "") },
			When: func(o deploy.Outcome) bool { return slices.Contains(o.Exits, deploy.ExitUncertain) }}})})
}

// Command is the command with the same approvals.
func (s *Screen) Command() string {
	if s.plan == nil {
		return screen.Shell("reclaim", "status", s.word)
	}
	words := []string{"reclaim", "deploy"}
	switch s.plan.Verb {
	case plan.VerbDestroy:
		words = []string{"reclaim", "destroy", s.word}
	case plan.VerbRollback:
		words = []string{"reclaim", "rollback", s.plan.Of}
	}
	given := s.approvals()
	if len(given) == 0 {
		return screen.Shell("reclaim", "show", screen.CommandPrint(s.plan.Fingerprint))
	}
	words = append(append(words, "--yes"), screen.ScopeFlag(s.stack)...)
	if len(given) < len(s.runnable) {
		for _, a := range given {
			words = append(words, "--only", a.ID)
		}
	}
	for _, a := range given {
		words = append(words, grantFlags(a)...)
	}
	if s.plan.Verb == plan.VerbDeploy {
		words = append(words, "--plan", screen.CommandPrint(s.plan.Fingerprint))
	}
	return screen.Shell(words...)
}

// grantFlags are the words of DESIGN §10 for what --yes leaves out.
func grantFlags(a deploy.Approval) []string {
	var out []string
	deleteFirst := slices.Contains(a.Grants, plan.GrantDeleteFirst)
	for _, g := range a.Grants {
		switch g {
		case plan.GrantReplace:
			if !deleteFirst {
				out = append(out, "--allow-replace", a.ID)
			}
		case plan.GrantDeleteFirst:
			out = append(out, "--allow-replace", a.ID+"=delete-first")
		case plan.GrantDelete:
			out = append(out, "--allow-delete", a.ID)
		case plan.GrantDataLoss:
			out = append(out, "--allow-data-loss", a.ID)
		case plan.GrantAdopt:
			out = append(out, "--adopt", a.ID)
		case plan.GrantReclaim:
			out = append(out, "--decide", a.ID+"=reclaim")
		case plan.GrantPresumed:
			out = append(out, "--allow-presumed", a.ID)
		}
	}
	return out
}
