package deploy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"reclaim/engine/deploy"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/providers/awssim"
)

// thing is one object in the cloud.
type thing struct {
	name, kind, unique, json string
	tags                     map[string]string
	stranger                 bool
}

// things are all objects in the cloud.
func (w *world) things() []thing {
	var out []thing
	add := func(kind, name, unique string, madeBy int, tags map[string]string, v any) {
		b, err := json.Marshal(v)
		must(w.t, err)
		out = append(out, thing{name, kind, unique, string(b), tags, madeBy == 0})
	}
	s := w.sim.State()
	for _, r := range s.Roles {
		add("Role", r.Name, r.ID, r.MadeBy, r.Tags, r)
	}
	for _, a := range s.Apis {
		add("Api", a.ID, a.ID, a.MadeBy, a.Tags, a)
	}
	for _, g := range s.LogGroups {
		add("Logs", g.Name, g.CreatedAt.UTC().String(), g.MadeBy, g.Tags, g)
	}
	return out
}

// foreign is what strangers made, as it is, and what they put on ours.
func (x *explorer) foreign() map[string]string {
	out := map[string]string{}
	for _, o := range x.things() {
		if o.stranger {
			out[o.kind+" "+o.unique] = o.json
		}
	}
	for _, r := range x.sim.State().Roles {
		if doc := r.Inline["theirs"]; doc != "" {
			out["policy on "+r.Name] = doc
		}
	}
	for path := range x.strangers {
		b, _ := os.ReadFile(path)
		out[path] = string(b)
	}
	return out
}

// check holds the promises after a run of ours.
func (x *explorer) check(before map[string]string) {
	after := x.foreign()
	for k, was := range before {
		if now := after[k]; now != was {
			x.rt.Errorf("a stranger's %s was\n%s\nand is\n%s", k, was, now)
		}
	}
	for path := range x.edited {
		if b, err := os.ReadFile(path); err == nil {
			if !strings.HasSuffix(string(b), "!") { // a deploy whose plan showed it has restored it
				delete(x.edited, path)
			}
			continue
		}
		x.rt.Errorf("%s was deleted, though a stranger had edited it", path)
		delete(x.edited, path)
	}
	x.known()
	if x.rt.Failed() {
		x.rt.Fatal("broken after:\n" + strings.Join(x.log, "\n"))
	}
}

// known: every live object that we made is in a record or a tombstone, and none twice under one nonce.
func (x *explorer) known() {
	s := x.state()
	nonces, keys := map[string]string{}, map[string]string{}
	for _, r := range s.Records {
		at := fmt.Sprintf("%s/%d", r.ID, r.Gen)
		nonces[r.Nonce], keys[r.ID+" "+r.Physical] = at, at
		if r.Intent != nil {
			nonces[r.Intent.Nonce] = at
		}
		for _, f := range r.Former {
			nonces[f.Nonce] = at
		}
	}
	for _, tomb := range s.Tombs {
		at := fmt.Sprintf("tombstone %s/%d", tomb.ID, tomb.Gen)
		for _, n := range tomb.Nonces {
			nonces[n] = at
		}
		keys[tomb.ID+" "+anyPart(tomb.Key)] = at
	}
	delete(nonces, "")
	seen := map[string]string{}
	for _, o := range x.things() {
		nonce := o.tags[resource.TagNonce]
		if o.stranger {
			continue
		}
		if nonces[nonce] == "" && keys[o.kind+" "+o.name] == "" {
			x.rt.Errorf("%s %s (nonce %q) is in no record and no tombstone", o.kind, o.name, nonce)
		}
		if other := seen[nonce]; nonce != "" && other != "" {
			x.rt.Errorf("%s and %s carry one nonce", o.name, other)
		}
		seen[nonce] = o.name
	}
}

// anyPart is the name in a key of a cloud type, each of which has one part.
func anyPart(k resource.Key) string {
	for _, v := range k {
		return v
	}
	return ""
}

// converge ends all trouble and brings everything to its end, as an operator with the cloud's truth would.
func (x *explorer) converge() {
	x.note("converge")
	x.sim.ClearFaults()
	x.dying = nil
	for _, r := range x.res {
		r.policy = ""
	}
	time.Sleep(5 * time.Millisecond) // what is executed late is executed by then
	for round := range 12 {
		x.tidy()
		x.elapse()
		if x.state().Hold != nil || len(x.findings()) > 0 {
			x.ours(x.resolve)
		}
		x.ours(func(e deploy.Env) { x.deployAll(e, nil) })
		if x.settled() {
			break
		}
		if round == 11 {
			x.rt.Fatal("it does not converge:\n" + strings.Join(x.log, "\n"))
		}
	}
	x.once()
}

// tidy lets strangers take away what is in our way.
func (x *explorer) tidy() {
	do := func(op string, params map[string]any) {
		must(x.rt, x.sim.Do(awssim.Action{Op: op, Region: "eu-west-1", Params: params}))
	}
	s := x.sim.State()
	for _, g := range s.LogGroups {
		if g.MadeBy == 0 {
			do("DeleteLogGroup", map[string]any{"logGroupName": g.Name})
		}
	}
	for _, a := range s.Apis {
		if a.MadeBy == 0 {
			do("DeleteApi", map[string]any{"apiId": a.ID})
		}
	}
	for _, r := range s.Roles {
		if r.Inline["theirs"] != "" {
			do("DeleteRolePolicy", map[string]any{"RoleName": r.Name, "PolicyName": "theirs"})
		}
	}
	for path := range x.strangers {
		must(x.rt, os.Remove(path))
		delete(x.strangers, path)
	}
	for path := range x.edited { // the operator is content with a deploy that restores it, or takes it away himself
		must(x.rt, os.Remove(path))
		delete(x.edited, path)
	}
}

// resolve decides by the cloud's truth.
func (x *explorer) resolve(e deploy.Env) {
	var ds []record.Decision
	for _, f := range x.sorted() {
		for _, c := range []record.Choice{record.Reclaim, record.Retry, record.DeleteIt, record.Abandon} {
			o, ok := f.Option(c, "")
			if f.Auto || !ok {
				continue
			}
			x.note("  %s row %s %s: %s %s", f.ID, f.Row, f.Verdict, c, o.Physical)
			ds = append(ds, decide(f, c, o.Physical))
			break
		}
	}
	x.recovering(e, deploy.RecoverRequest{Auto: true, Decide: ds, AllowDataLoss: allIDs})
}

// settled reports whether the next plan is all noop.
func (x *explorer) settled() bool {
	p := x.plan(x.graph(x.text()))
	for _, it := range p.Items {
		if it.Action != plan.Noop {
			x.note("  next: %s %d %s: %s", it.ID, it.Gen, it.Action, it.Detail)
			x.unblock(it)
			return false
		}
	}
	return x.state().Hold == nil
}

// unblock does what an operator has to do himself: rename what a policy keeps under its name, say which of several kept
// objects is meant, and take away a file that was given up or kept, whose owner nothing tells.
func (x *explorer) unblock(it plan.Item) {
	switch {
	case it.Action == plan.Blocked && (strings.Contains(it.Detail, "rename it") || strings.Contains(it.Detail, "choose another name")):
		x.res[it.ID].place += 2
	case it.Action == plan.Blocked && it.Reason == plan.Uncertain && strings.Contains(it.Detail, "carry this resource's tags"):
		for _, a := range x.sim.State().Apis {
			if a.Tags[resource.TagResource] == it.ID {
				x.adopt = map[string]string{it.ID: a.ID}
			}
		}
	case it.Action == plan.Blocked && it.Reason == plan.Foreign && strings.HasPrefix(it.Type, "Std::FS::"):
		must(x.rt, os.Remove(it.Physical))
	case it.Action == plan.Blocked && it.Reason == plan.Foreign: // strangers' objects are gone by now: it is ours, without its tags
		x.adopt = map[string]string{it.ID: it.Physical}
	}
}

// once: the cloud holds what the template names, each once, and nothing else of ours that no tombstone or former intent
// accounts for.
func (x *explorer) once() {
	s := x.state()
	spare := map[string]bool{}
	for _, tomb := range s.Tombs {
		for _, n := range tomb.Nonces {
			spare[n] = true
		}
		spare[tomb.ID+" "+anyPart(tomb.Key)] = true
	}
	current := map[string]record.Record{}
	for _, r := range s.Records {
		current[r.ID] = r
		for _, f := range r.Former {
			spare[f.Nonce] = true
		}
	}
	count := map[string]int{}
	for _, o := range x.things() {
		r, ok := current[o.kind]
		switch {
		case ok && r.Physical == o.name:
			count[o.kind]++
		case !spare[o.tags[resource.TagNonce]] && !spare[o.kind+" "+o.name]:
			x.rt.Errorf("%s %s is left over, and nothing accounts for it", o.kind, o.name)
		}
	}
	for _, path := range []string{current["File"].Key["Path"], current["Zip"].Key["Path"]} {
		if _, err := os.Lstat(path); err == nil {
			count[map[bool]string{true: "File", false: "Zip"}[path == current["File"].Key["Path"]]]++
		}
	}
	for id, r := range x.res {
		if want := map[bool]int{true: 1}[r.in]; count[id] != want {
			x.rt.Errorf("%d objects of %s, want %d", count[id], id, want)
		}
	}
	if x.rt.Failed() {
		x.rt.Fatal("broken after:\n" + strings.Join(x.log, "\n"))
	}
}
