package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"reclaim/engine/deploy"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/ui/text"
)

// consent is what the command line allows. --yes allows creates, updates and what SAFETY S19 lets a run do by itself;
// everything else has a word of its own.
type consent struct {
	yes                                        bool
	scope                                      string
	replaces, deletes, losses, presumed, adopt []string
	decide                                     []string
}

// scopeFlags are the flags of every changing verb.
func (c *consent) scopeFlags(f *pflag.FlagSet) {
	f.BoolVar(&c.yes, "yes", false, "go on without asking; never gives deletes, replacements, adoptions or data away")
	f.StringVar(&c.scope, "scope", "", "ACCOUNT/REGION that the change must go to; required with --yes and no terminal, but for local stacks")
}

func (c *consent) deleteFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&c.deletes, "allow-delete", nil, "ID whose deletion is allowed; '*' for all of this plan, never their data")
	f.StringSliceVar(&c.losses, "allow-data-loss", nil, "ID whose data may be destroyed")
	f.StringSliceVar(&c.presumed, "allow-presumed", nil, "ID that is only presumed ours and may be deleted or replaced")
}

// grants is consent resolved against one plan.
type grants map[string]map[plan.Grant]bool

func (g grants) give(id string, gr plan.Grant) {
	if g[id] == nil {
		g[id] = map[plan.Grant]bool{}
	}
	g[id][gr] = true
}

// resolve turns flags into grants. An ID that the plan does not have is an error: it may be a typing mistake for another.
func (c *consent) resolve(p *plan.Plan) (grants, error) {
	g := grants{}
	for _, f := range []struct {
		flag  string
		ids   []string
		grant plan.Grant
	}{
		{"--allow-data-loss", c.losses, plan.GrantDataLoss}, {"--allow-presumed", c.presumed, plan.GrantPresumed},
		{"--allow-delete", c.deletes, plan.GrantDelete},
	} {
		for _, id := range f.ids {
			if id == "*" && f.grant == plan.GrantDelete {
				g.giveAll(p, f.grant)
				continue
			}
			if p.Item(id, 0) == nil {
				return nil, usage("%s %s: the plan has no such resource", f.flag, id)
			}
			g.give(id, f.grant)
		}
	}
	return g, c.resolveValues(p, g)
}

func (g grants) giveAll(p *plan.Plan, gr plan.Grant) {
	for i := range p.Items {
		if slices.Contains(p.Items[i].Needs, gr) {
			g.give(p.Items[i].ID, gr)
		}
	}
}

// resolveValues reads the flags of the form ID=VALUE.
func (c *consent) resolveValues(p *plan.Plan, g grants) error {
	replaces, err := idValues("--allow-replace", c.replaces)
	if err != nil {
		return err
	}
	for id, how := range replaces {
		switch {
		case p.Item(id, 0) == nil:
			return usage("--allow-replace %s: the plan has no such resource", id)
		case how == "":
		case how == string(plan.DeleteFirst):
			g.give(id, plan.GrantDeleteFirst)
		default:
			return usage("--allow-replace %s=%s: want %s or nothing after the ID", id, how, plan.DeleteFirst)
		}
		g.give(id, plan.GrantReplace)
	}
	adopts, err := idValues("--adopt", c.adopt)
	if err != nil {
		return err
	}
	for id := range adopts {
		g.give(id, plan.GrantAdopt)
	}
	return c.resolveDecisions(p, g)
}

// resolveDecisions reads --decide of deploy: only a reclaim that is to be reviewed can be approved there.
func (c *consent) resolveDecisions(p *plan.Plan, g grants) error {
	for _, d := range c.decide {
		id, choice, physical, err := parseDecision(d)
		if err != nil {
			return err
		}
		it := p.Item(id, 0)
		switch {
		case it == nil:
			return usage("--decide %s: the plan has no such resource", id)
		case choice != record.Reclaim:
			return usage("--decide %s=%s: deploy takes reclaim only; the other choices belong to reclaim recover", id, choice)
		case physical != "" && physical != it.Physical:
			return withExit(deploy.ExitBlocked, fmt.Errorf("--decide %s: the plan would reclaim %s, not %s", id, it.Physical, physical))
		}
		g.give(id, plan.GrantReclaim)
	}
	return nil
}

// parseDecision reads ID=CHOICE[:PHYSICAL].
func parseDecision(s string) (id string, choice record.Choice, physical string, err error) {
	id, rest, ok := strings.Cut(s, "=")
	if !ok || id == "" || rest == "" {
		return "", "", "", usage("--decide %q: want ID=CHOICE or ID=CHOICE:PHYSICAL", s)
	}
	word, physical, _ := strings.Cut(rest, ":")
	return id, record.Choice(word), physical, nil
}

// covers reports whether the item has every grant it needs.
func (g grants) covers(it *plan.Item) bool {
	for _, n := range it.Needs {
		if !g[it.ID][n] {
			return false
		}
	}
	return true
}

// approvals are the grants in the engine's words.
func (g grants) approvals(p *plan.Plan) []deploy.Approval {
	var out []deploy.Approval
	for i := range p.Items {
		it := &p.Items[i]
		if !it.CanRun() {
			continue
		}
		a := deploy.Approval{ID: it.ID, Gen: it.Gen}
		for _, n := range it.Needs {
			if g[it.ID][n] {
				a.Grants = append(a.Grants, n)
			}
		}
		out = append(out, a)
	}
	return out
}

// missing are the flags that would let the rest of the plan run.
func (g grants) missing(p *plan.Plan) []string {
	var out []string
	for i := range p.Items {
		it := &p.Items[i]
		if !it.CanRun() {
			continue
		}
		out = append(out, text.NeedFlags(it, g[it.ID])...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// checkScope compares --scope with where calls really go. Without a terminal a stack in a cloud needs it.
func (s *session) checkScope(c *consent, sc resource.Scope) error {
	switch {
	case c.scope == sc.String() || c.scope == shortScope(sc):
		return nil
	case c.scope != "":
		return withExit(deploy.ExitError, fmt.Errorf("--scope says %s, but calls go to %s; nothing was changed", c.scope, sc))
	case sc.IsLocal() || s.asks():
		return nil
	default:
		return usage("there is no terminal to ask on: add --scope %s to say where the change may go", sc)
	}
}

// approve asks for what the flags do not give, or, without a terminal, says which flag is missing. It is an error when
// nothing is left to run.
func (s *session) approve(ctx context.Context, c *consent, p *plan.Plan) (grants, error) {
	g, err := c.resolve(p)
	if err != nil {
		return nil, err
	}
	if err := s.checkScope(c, p.Stack.Scope); err != nil {
		return nil, err
	}
	if c.yes {
		g.giveAll(p, plan.GrantChange)
	}
	if !s.asks() {
		if !c.yes {
			return nil, usage("there is no terminal to ask on: add --yes%s", flagList(g.missing(p)))
		}
		return g, g.some(p, deploy.ExitBlocked)
	}
	s.flushText()
	if !c.yes {
		if err := s.askAll(ctx, newAsker(s.Stdin, s.Stderr), p, g); err != nil {
			return nil, err
		}
	}
	return g, g.some(p, deploy.ExitError)
}

// some is an error with the code unless something of the plan can run with these grants.
func (g grants) some(p *plan.Plan, code int) error {
	if slices.ContainsFunc(p.Items, func(it plan.Item) bool { return it.CanRun() && g.covers(&it) }) {
		return nil
	}
	return withExit(code, fmt.Errorf("nothing was approved, and nothing was changed%s", flagList(g.missing(p))))
}

func flagList(flags []string) string {
	if len(flags) == 0 {
		return ""
	}
	return "; what --yes leaves out: " + strings.Join(flags, " ")
}

// flushText prints the text so far, so that it stands before a question or a run.
func (s *session) flushText() {
	if s.json {
		return
	}
	fmt.Fprint(s.out, s.rep.text)
	s.out.Flush()
	s.rep.text = ""
}

// askAll asks once for ordinary changes, once for all deletions (either way for all of them, or for some by ID), and for each
// replacement, adoption and loss apart.
func (s *session) askAll(ctx context.Context, q *asker, p *plan.Plan, g grants) error {
	if n := g.without(p, plan.GrantChange); len(n) > 0 {
		picked, err := q.some(ctx, fmt.Sprintf("Carry out %s?", text.Plural(len(n), "change", "changes")), "yes", idsOf(n))
		if err != nil {
			return err
		}
		for _, id := range picked {
			g.give(id, plan.GrantChange)
		}
	}
	if err := askDeletes(ctx, q, p, g); err != nil {
		return err
	}
	for _, gr := range []plan.Grant{plan.GrantReplace, plan.GrantDeleteFirst, plan.GrantAdopt, plan.GrantReclaim, plan.GrantPresumed,
		plan.GrantDataLoss} {
		for _, it := range g.without(p, gr) {
			yes, err := q.typed(ctx, grantQuestion(gr, it), it.ID)
			if err != nil {
				return err
			}
			if yes {
				g.give(it.ID, gr)
			}
		}
	}
	return nil
}

// without are the items that need a grant and do not have it.
func (g grants) without(p *plan.Plan, gr plan.Grant) []*plan.Item {
	var out []*plan.Item
	for i := range p.Items {
		it := &p.Items[i]
		if it.CanRun() && slices.Contains(it.Needs, gr) && !g[it.ID][gr] {
			out = append(out, it)
		}
	}
	return out
}

func idsOf(items []*plan.Item) []string {
	ids := map[string]bool{}
	for _, it := range items {
		ids[it.ID] = true
	}
	return slices.Sorted(maps.Keys(ids))
}

// askDeletes asks for all deletions at once: for one by its ID, for several by their number, or for some of them by ID.
func askDeletes(ctx context.Context, q *asker, p *plan.Plan, g grants) error {
	list := g.without(p, plan.GrantDelete)
	if len(list) == 0 {
		return nil
	}
	ids := idsOf(list)
	want := list[0].ID
	if len(list) > 1 {
		want = strconv.Itoa(len(list))
	}
	picked, err := q.some(ctx, fmt.Sprintf("Delete %s (%s)? It cannot be undone.", text.Plural(len(list), "resource", "resources"),
		strings.Join(ids, ", ")), want, ids)
	for _, id := range picked {
		g.give(id, plan.GrantDelete)
	}
	return err
}

func grantQuestion(gr plan.Grant, it *plan.Item) string {
	name := it.ID + " " + it.Physical
	switch gr {
	case plan.GrantReplace:
		return fmt.Sprintf("Replace %s? %s", name, it.OldFate)
	case plan.GrantDeleteFirst:
		return fmt.Sprintf("Delete %s before the new one is made? There is a gap without it.", name)
	case plan.GrantAdopt:
		return fmt.Sprintf("Adopt %s, which nothing proves to be ours?", name)
	case plan.GrantReclaim:
		return fmt.Sprintf("Reclaim %s? %s", name, it.Detail)
	case plan.GrantPresumed:
		return fmt.Sprintf("%s is only presumed ours. Go on all the same?", name)
	default:
		return fmt.Sprintf("Destroy the data of %s: %s?", name, it.Loss)
	}
}
