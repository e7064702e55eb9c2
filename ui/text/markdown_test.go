package text

import (
	"fmt"
	"html"
	"strings"
	"testing"
	"time"

	"reclaim/engine/diff"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/value"
)

func TestAPlanAsMarkdownSaysWhatIsLostFirst(t *testing.T) {
	p := &plan.Plan{Fingerprint: strings.Repeat("ab", 32), Stack: stack, Verb: plan.VerbDeploy, MadeAt: time.Unix(0, 0).UTC(), Items: []plan.Item{
		{ID: "Made", Type: "T::A", Action: plan.Create, Desired: value.Map{"Name": value.Of("x")}, Needs: []plan.Grant{plan.GrantChange}},
		{ID: "Stuck", Type: "T::A", Action: plan.Blocked, Reason: plan.Foreign, Detail: "exists; to take it over: --adopt Stuck=s-1"},
		{ID: "Gone", Type: "T::Log", Action: plan.Delete, Physical: "gone-1", Loss: "log events", Needs: []plan.Grant{plan.GrantDelete, plan.GrantDataLoss}},
		{ID: "Swap", Type: "T::B", Action: plan.Replace, Physical: "swap-1", Order: plan.DeleteFirst, Cause: []value.Path{"Name"}, OldFate: "swap-1 is deleted first",
			Needs: []plan.Grant{plan.GrantReplace, plan.GrantDeleteFirst}},
		{ID: "Same", Type: "T::A", Action: plan.Noop, Fields: []diff.Field{{Path: "Secret", Verdict: diff.Unverified, Reason: "write-only"}}},
		{ID: "Edit", Type: "T::A", Action: plan.Update, Fields: []diff.Field{{Path: "Size", Verdict: diff.Differs, Desired: value.Of(2), Observed: value.Of(1)}}},
	}}
	got := Markdown(p, []string{"reclaim deploy --plan ci.plan"})
	at := 0
	for _, want := range []string{"**1 blocked**", "**1 replace**", "**1 delete**", "1 unchanged", "**data of 1 destroyed**", "1 not verified",
		"#### Replacements (1)", "cause: <code>Name</code>", "old: <code>swap-1 is deleted first</code>", "<code>--allow-replace Swap=delete-first</code>",
		"#### Deletions that destroy data (1)", "loss: <code>log events</code>", "<code>--allow-delete Gone --allow-data-loss Gone</code>",
		"#### Blocked (1)", "foreign", "#### Not verified (1)", "<code>Secret</code>: <code>write-only</code>",
		"<details><summary>1 update</summary>", "want <code>2</code>, found <code>1</code>", "</details>", "<details><summary>1 create</summary>", "</details>",
		"next: <code>reclaim deploy --plan ci.plan</code>", "<code>abababababab</code>"} {
		i := strings.Index(got[at:], want)
		if i < 0 {
			t.Fatalf("no %q after byte %d of\n%s", want, at, got)
		}
		at += i
	}
}

func TestTextFromOutsideCannotBreakOutOfThePage(t *testing.T) {
	evil := "|`` ` </details></code> <img src=x onerror=y> @team #12 **b** [l](http://x) ![i](y) ~~s~~ :tada: www.x.org a@b.c &lt; \\| <!-- \x1b[2J\r\n# h\n\n- x\n---\u202e $$"
	p := &plan.Plan{Fingerprint: evil, Verb: plan.Verb(evil), Stack: record.StackID{Name: evil}, Notes: []string{evil}}
	for _, a := range plan.Actions() {
		p.Items = append(p.Items, plan.Item{ID: evil, Type: evil, Action: a, Physical: evil, Detail: evil + " why", Reason: plan.Reason(evil), Loss: evil, OldFate: evil,
			Order: plan.Order(evil), Cause: []value.Path{value.Path(evil)}, Calls: []string{evil}, Needs: []plan.Grant{plan.GrantDelete},
			Fields: []diff.Field{{Path: value.Path(evil), Verdict: diff.Verdict(evil), Desired: value.Of(evil), Observed: value.Of(evil)},
				{Path: value.Path(evil), Verdict: diff.Unverified, Reason: evil}}})
	}
	got := Markdown(p, []string{evil})
	ours := strings.NewReplacer("<details>", "", "</details>", "", "<summary>", "", "</summary>", "", "<code>", "", "</code>", "").Replace(got)
	for i, line := range strings.Split(ours, "\n") {
		line = strings.TrimLeft(line, " ")
		for _, head := range []string{"#### ", "### ", "- ", "> "} {
			line = strings.TrimPrefix(line, head)
		}
		rest := strings.ReplaceAll(strings.NewReplacer("**", "", "&#", "").Replace(line), ";", "")
		if bad := strings.IndexAny(rest, "|`<>@#*[]!~&\\\x1b\r$"); bad >= 0 || strings.Contains(rest, "www.") || strings.Contains(rest, "http:") {
			t.Errorf("line %d has %q raw: %s", i+1, rest[max(bad, 0):max(bad, 0)+1], line)
		}
	}
	if strings.Count(got, "<details>") != strings.Count(got, "</details>") || strings.Count(got, "<code>") != strings.Count(got, "</code>") {
		t.Error("a tag is not closed, or closed twice")
	}
	if !strings.Contains(html.UnescapeString(got), "</details></code> <img src=x onerror=y> @team") {
		t.Error("the text itself is not shown")
	}
}

func TestAPageAsMarkdownHasABound(t *testing.T) {
	p := &plan.Plan{Fingerprint: strings.Repeat("ab", 32), Stack: stack}
	for i := range 10_000 {
		for _, a := range plan.Actions() {
			p.Items = append(p.Items, plan.Item{ID: fmt.Sprint("R", i), Type: "T::A", Action: a, Detail: strings.Repeat("|", 5_000)})
		}
	}
	got := Markdown(p, nil)
	if len(got) > 65_536 || len(got) < markdownBytes/2 {
		t.Errorf("%d bytes", len(got))
	}
	for _, want := range []string{"10000 unchanged", "#### Blocked (10000)", "more, for which there is no room here", "<summary>10000 create</summary>"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Count(got, "<details>") != strings.Count(got, "</details>") {
		t.Error("a fold is not closed")
	}
}
