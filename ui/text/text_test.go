package text

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/deploy"
	"reclaim/engine/diff"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

var (
	noon  = time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)
	stack = record.StackID{Name: "orders-prod", Scope: resource.Scope{Partition: "aws", Account: "123456789012", Region: "eu-west-1"}}
)

// golden compares got with testdata/name. RECLAIM_GOLDEN=1 writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("RECLAIM_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

func samplePlan() *plan.Plan {
	p := &plan.Plan{Schema: 1, Fingerprint: strings.Repeat("7f3a91c2", 8), Stack: stack, Verb: plan.VerbDeploy,
		MadeAt: noon.Add(-38 * time.Second), Template: plan.TemplateRef{Path: "/srv/orders.yaml", SHA256: strings.Repeat("ab12", 16)},
		Notes: []string{"record OrdersOld cannot be used: its key and body disagree on scope"},
		Items: []plan.Item{
			{ID: "OrdersTick", Type: "AWS::Events::Rule", Action: plan.Create, Gen: 1, Name: "orders-prod-OrdersTick-51c0aa01",
				Detail: "not there yet", Needs: []plan.Grant{plan.GrantChange},
				Desired: value.Map{"ScheduleExpression": value.Of("rate(5 minutes)"), "Password": value.Of("hunter2").AsSensitive(),
					"RoleArn": value.Wait("OrdersRole.Arn")}},
			{ID: "OrdersFn", Type: "AWS::Lambda::Function", Action: plan.Update, Gen: 1, Physical: "orders-prod-OrdersFn-1d77ab02",
				Detail: "2 fields differ", Needs: []plan.Grant{plan.GrantChange}, Calls: []string{"UpdateFunctionConfiguration"},
				Fields: []diff.Field{
					{Path: "Timeout", Verdict: diff.Differs, Desired: value.Of(30), Observed: value.Of(10)},
					{Path: "Description", Verdict: diff.Differs, Desired: value.Of("orders intake"), Observed: value.Of("a text that is far too long to stand beside the one that config wants, so each gets a line")},
					{Path: "Environment.API_KEY", Verdict: diff.Unverified, Desired: value.HashOf("aa"), Reason: "not returned by this service"},
					{Path: "Runtime", Verdict: diff.Match, Desired: value.Of("go"), Observed: value.Of("go")},
					{Path: "Layers", Verdict: diff.Unverified, By: diff.ByCloud, Folded: true},
				}},
			{ID: "OrdersLogs", Type: "AWS::Logs::LogGroup", Action: plan.Blocked, Reason: plan.InvalidRead, Gen: 1, Physical: "/aws/lambda/orders",
				Detail: "RetentionInDays cannot be 15; look again, or deploy the rest",
				Fields: []diff.Field{{Path: "RetentionInDays", Verdict: diff.Invalid, Desired: value.Of(14), Observed: value.Of(15), Reason: "not one of 1 3 5 7 14 30"}}},
			{ID: "OrdersTable", Type: "AWS::DynamoDB::Table", Action: plan.Replace, Order: plan.DeleteFirst, Gen: 2, Physical: "orders",
				Detail: "KeySchema differs", Cause: []value.Path{"KeySchema"}, Loss: "all rows of orders", OldFate: "orders is deleted",
				Needs: []plan.Grant{plan.GrantChange, plan.GrantReplace, plan.GrantDeleteFirst, plan.GrantDataLoss}},
			{ID: "OrdersRole", Type: "AWS::IAM::Role", Action: plan.Noop, Gen: 1, Physical: "orders-prod-OrdersRole-7f3a9c21"},
		},
		Outputs: []plan.Output{{Name: "Url", Value: value.Wait("OrdersApi.ApiEndpoint")}},
	}
	return p
}

func sampleFinding() recovery.Finding {
	return recovery.Finding{Stack: stack, ID: "OrdersRole", Type: "AWS::IAM::Role", Gen: 1, Physical: "orders-prod-OrdersRole-7f3a9c21",
		Class: resource.Named, Status: record.Creating, Row: "2", Verdict: recovery.VerdictOurs, Summary: "This intent made this role.",
		Auto: true, Default: record.Reclaim,
		Offered: []recovery.Option{
			{Choice: record.Reclaim, Physical: "orders-prod-OrdersRole-7f3a9c21", Call: "none", Loss: "nothing", Follows: "1 update: add inline policy \"table\""},
			{Choice: record.DeleteIt, Physical: "orders-prod-OrdersRole-7f3a9c21", Call: "DeleteRole", Loss: "the role", Follows: "OrdersFn waits for a new role", Typed: "orders-prod-OrdersRole-7f3a9c21"},
		},
		Timeline: []recovery.Moment{{Seq: 118, At: noon.Add(-time.Hour), Text: "intent written: name, nonce 5f0e…a1; GetRole said absent"}, {At: noon.Add(-59 * time.Minute), Text: "process killed; no answer recorded"}},
		Lines: []recovery.Line{{Side: recovery.For, Text: "tag reclaim:nonce is 5f0e…a1", Source: "ListRoleTags", At: noon.Add(-4 * time.Second)},
			{Side: recovery.For, Text: "absent before the intent", Source: "GetRole", Seq: 118},
			{Side: recovery.Neutral, Text: "created within 5 min of the intent", Source: "GetRole", At: noon.Add(-4 * time.Second)}},
		Candidates: []recovery.Candidate{{N: 1, Physical: "orders-prod-OrdersRole-7f3a9c21", CreatedAt: noon.Add(-time.Hour), How: []string{"nonce", "key"}}},
	}
}

func sampleHold() Hold {
	return Hold{Alive: resource.No, Hold: record.Hold{Stack: stack, Execution: "e-9c41", Epoch: 3, Verb: "deploy", Since: noon.Add(-time.Hour),
		Owner: record.Owner{User: "ops", Host: "ci-7", PID: 48213}, Template: "/srv/orders.yaml"}}
}

func TestPagesLookAsTheyDid(t *testing.T) {
	pg := Page{Now: noon}
	hold := sampleHold()
	for name, got := range map[string]string{
		"plan.golden":       pg.Plan(samplePlan(), []string{"reclaim recover orders-prod", "reclaim deploy /srv/orders.yaml"}),
		"plan-all.golden":   Page{Now: noon, All: true, Width: 120}.Plan(samplePlan(), nil),
		"plan-color.golden": Page{Now: noon, Color: true}.Plan(samplePlan(), nil),
		"findings.golden":   pg.Findings(stack, &hold, []recovery.Finding{sampleFinding()}, []string{"reclaim recover orders-prod --take-hold e-9c41"}),
		"held.golden":       pg.Held(hold, []string{"reclaim recover orders-prod --take-hold e-9c41"}),
		"status.golden": pg.Status([]Stack{{ID: stack, Hold: &hold, Counts: map[record.Status]int{record.Creating: 1, record.Made: 4},
			Uncertain: []string{"OrdersRole"}, Tombs: 1, Bad: []record.BadRecord{{Key: "OrdersOld/1", Reason: "scope"}},
			Last: &record.Execution{ID: "e-9c41", Verb: "deploy", Began: noon.Add(-time.Hour)}, Next: []string{"reclaim recover orders-prod --take-hold e-9c41"}},
			{ID: record.StackID{Name: "site", Scope: resource.Scope{Partition: "local", Account: "m1"}}}}),
		"outcome.golden": pg.Outcome(&deploy.Outcome{Execution: "e-77", Exit: 6, Exits: []int{6, 3}, Summary: "Stopped: the store could not be written.",
			Items: []deploy.ItemResult{{ID: "A", Type: "Std::FS::File", Action: "create", Result: event.Done, Physical: "/tmp/a"},
				{ID: "B", Type: "AWS::IAM::Role", Action: "create", Result: event.Unsure, Reason: "CreateRole was sent, no answer recorded"},
				{ID: "C", Type: "Std::FS::File", Action: "noop", Result: event.Unchanged}},
			Next: []string{"reclaim recover orders-prod"}, Emergency: "/srv/.reclaim/emergency-e-77.json"}),
		"record.golden": pg.Record(&record.Record{Stack: stack, ID: "OrdersRole", Type: "AWS::IAM::Role", Gen: 1, Rev: 4, Seq: 119, Status: record.Creating,
			Intent: &record.Intent{Nonce: "5f0ea1", Execution: "e-9c41", At: noon, Attempts: []record.Attempt{{N: 1, Execution: "e-9c41", SentAt: noon, Outcome: record.Going}}},
			Params: value.Map{"Path": value.Of("/"), "Secret": value.HashOf("ff")}, DependsOn: []record.Ref{{ID: "Bundle", Gen: 2}}}),
		"types.golden": pg.Types([]*resource.Schema{sampleSchema()}),
		"type.golden":  pg.Type(sampleSchema()),
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, got) })
	}
}

func sampleSchema() *resource.Schema {
	least := int64(1)
	return &resource.Schema{Type: "AWS::Logs::LogGroup", Doc: "A log group.", Identity: resource.Named, Space: resource.PerRegion, Key: []string{"LogGroupName"},
		Ref: "LogGroupName", Tags: resource.TagList, DataBearing: true, Data: "log events", Window: 10 * time.Second,
		Name: &resource.NameRule{Param: "LogGroupName", Max: 512},
		Params: []resource.Field{
			{Name: "LogGroupName", Type: resource.TString, Mode: resource.KeyParam, Min: &least, Pattern: "[a-z]+", Doc: "Its name."},
			{Name: "RetentionInDays", Type: resource.TInt, Mode: resource.Mutable, Ints: []int64{1, 3, 5}},
			{Name: "Tags", Type: resource.TList, Mode: resource.Mutable, ItemKey: "Key", Elem: &resource.Field{Type: resource.TObject, Fields: []resource.Field{
				{Name: "Key", Type: resource.TString, Required: true}, {Name: "Value", Type: resource.TString, Default: value.Of("")}}}},
		},
		Outputs: []resource.Output{{Name: "Arn", Doc: "Its ARN."}}, Unsupported: map[string]string{"FieldIndexPolicies": "not supported yet"}}
}

func TestWhatMattersIsNeverFolded(t *testing.T) {
	p := samplePlan()
	for range foldAbove + 30 {
		p.Items = append(p.Items, plan.Item{ID: "F", Type: "Std::FS::File", Action: plan.Create}, plan.Item{ID: "D", Type: "Std::FS::File", Action: plan.Delete})
	}
	got := Page{}.Plan(p, nil)
	if n := strings.Count(got, "-  delete   D"); n != foldAbove+30 {
		t.Errorf("%d of %d deletions are listed", n, foldAbove+30)
	}
	// One create stands before the 230.
	if !strings.Contains(got, "and 31 more to create, folded; --all lists them") {
		t.Errorf("the creates beyond %d are not counted:\n%s", foldAbove, got[len(got)-500:])
	}
	if blocked, replace := strings.Index(got, "!  blocked"), strings.Index(got, "-+ replace"); blocked < 0 || replace < blocked {
		t.Errorf("blocked stands at %d, replace at %d: want blocked first", blocked, replace)
	}
}

func TestASensitiveValueIsNeverShown(t *testing.T) { // S32
	got := Page{All: true}.Plan(samplePlan(), nil)
	if strings.Contains(got, "hunter2") || !strings.Contains(got, "(sensitive)") {
		t.Errorf("want (sensitive) in the place of the password:\n%s", got)
	}
}

// Text from outside that would drive a terminal comes out as text, on every page.
func TestNothingFromOutsideReachesTheTerminalRaw(t *testing.T) {
	const evil = "a\x1b[2Jb\u202ec\u009b1m"
	p := samplePlan()
	p.Notes, p.Template.Path = []string{evil}, evil
	for i := range p.Items {
		it := &p.Items[i]
		it.ID, it.Type, it.Physical, it.Name, it.Detail, it.Loss, it.OldFate = evil, evil, evil, evil, evil, evil, evil
		it.Calls, it.Cause = []string{evil}, []value.Path{evil}
		it.Desired = value.Map{evil: value.Of(evil)}
		for j := range it.Fields {
			f := &it.Fields[j]
			f.Path, f.Reason, f.Desired, f.Observed = evil, evil, value.Of(evil), value.Of(evil)
		}
	}
	f := sampleFinding()
	f.ID, f.Type, f.Physical, f.Summary = evil, evil, evil, evil
	f.Lines[0].Text, f.Lines[0].Source, f.Timeline[0].Text, f.Candidates[0].Physical, f.Offered[0].Follows = evil, evil, evil, evil, evil
	h := sampleHold()
	h.Owner.User, h.Owner.Host, h.Template, h.Verb, h.Execution = evil, evil, evil, evil, evil
	rec := record.Record{ID: evil, Type: evil, Physical: evil, Note: evil, Nonce: evil, Params: value.Map{evil: value.Of(evil)}}
	var live strings.Builder
	l := NewLive(&live, Page{})
	for _, e := range []event.Event{event.Began{Verb: evil}, event.Phase{ID: evil, Phase: "wait", Detail: evil}, event.Called{ID: evil, Outcome: evil},
		event.Settled{ID: evil, Result: event.Failed, Reason: evil}, event.Judged{ID: evil}, event.Warning{Text: evil}, event.Draining{Why: evil}} {
		l.Emit(event.Envelope{Event: e})
	}
	l.Close()
	pg := Page{All: true, Now: noon}
	for page, got := range map[string]string{
		"plan": pg.Plan(p, []string{evil}), "findings": pg.Findings(stack, &h, []recovery.Finding{f}, []string{evil}),
		"held": pg.Held(h, nil), "record": pg.Record(&rec), "records": pg.Records([]record.Record{rec}, []record.BadRecord{{Key: evil, Reason: evil}}),
		"status":  pg.Status([]Stack{{ID: stack, Hold: &h, Uncertain: []string{evil}, Template: evil}}),
		"outcome": pg.Outcome(&deploy.Outcome{Summary: evil, Emergency: evil, Items: []deploy.ItemResult{{ID: evil, Reason: evil, Result: event.Failed}}}),
		"live":    live.String(),
		"flaws":   pg.Flaws([]record.Flaw{{Kind: record.FlawKey, Stack: evil, ID: evil, Where: evil, Text: evil, Remedy: evil, Next: []string{evil}}}, ""),
		"process": pg.Process(h, record.Owner{Host: evil}), "forgets": pg.Forgets(Forgets{ID: evil, What: evil, Facts: []Fact{{evil, evil}}, Lost: []string{evil}}),
		"orphans": pg.Orphans([]Orphan{{Orphan: recovery.Orphan{ID: evil, Type: evil, Why: evil, Physical: evil}, Seen: &recovery.Sighting{Summary: evil}, Next: []string{evil}}}, 1, nil),
	} {
		if strings.ContainsAny(got, "\x1b\u202e\u009b") {
			t.Errorf("%s lets raw text through: %q", page, got)
		}
		if !strings.Contains(got, `\x1b[2J`) {
			t.Errorf("%s does not show the text at all:\n%s", page, got)
		}
	}
}

func TestAgesAreSaidInOneUnit(t *testing.T) {
	for want, ago := range map[string]time.Duration{"just now": -time.Second, "0s ago": 0, "59s ago": 59 * time.Second, "1m ago": 61 * time.Second,
		"23h ago": 23*time.Hour + 59*time.Minute, "2d ago": 49 * time.Hour} {
		if got := Age(noon, noon.Add(-ago)); got != want {
			t.Errorf("%s: got %q, want %q", ago, got, want)
		}
	}
	if got := Age(noon, time.Time{}); got != "never" {
		t.Errorf("no time: got %q", got)
	}
}
