package app

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"reclaim/engine/deploy"
	"reclaim/engine/diff"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// now is the moment at which the screens of these tests are looked at.
var now = time.Date(2026, 3, 1, 14, 2, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return now.Add(-d) }

var orders = record.StackID{Name: "orders-prod", Scope: resource.Scope{Partition: "aws", Account: "123456789012", Region: "eu-west-1"}}

func field(path string, v diff.Verdict, desired, observed any, reason string) diff.Field {
	f := diff.Field{Path: value.Path(path), Verdict: v, Reason: reason, By: diff.ByConfig}
	if desired != nil {
		f.Desired = value.Of(desired)
	}
	if observed != nil {
		f.Observed = value.Of(observed)
	}
	return f
}

func filledIn(path string, observed any) diff.Field {
	f := field(path, diff.Unverified, nil, observed, "")
	f.By, f.Folded = diff.ByCloud, true
	return f
}

// ordersPlan is the plan of SCREENS.md: three blocked, one to reclaim, one update, one create, eight unchanged.
func ordersPlan() *plan.Plan {
	read := ago(38 * time.Second)
	findings := ordersFindings(true)
	secret := field("Environment.API_KEY", diff.Unverified, "hunter2", nil, "compared by keyed hash")
	secret.Desired = secret.Desired.AsSensitive()
	p := &plan.Plan{Schema: plan.FormatVersion, Fingerprint: "7f3a91c2d40e5b6a8c1f2e3d4c5b6a798817263544f3e2d1c0b9a8f7e6d5c4b3", Stack: orders,
		StoreID: "st-1", Verb: plan.VerbDeploy, MadeAt: ago(36 * time.Second), Template: plan.TemplateRef{Path: "/srv/orders/orders.yaml"}}
	p.Items = []plan.Item{
		{ID: "OrdersRole", Type: "AWS::IAM::Role", Gen: 1, Action: plan.Reclaim, Physical: "orders-prod-OrdersRole-7f3a9c21", ReadAt: read,
			Detail: "This intent made this role; keep it, then add inline policy table.", Calls: []string{"PutRolePolicy"}, Finding: &findings[0],
			Needs: []plan.Grant{plan.GrantChange}, Fields: []diff.Field{
				field("Policies[PolicyName=table].PolicyDocument", diff.Differs, "{…}", nil, ""),
				field("AssumeRolePolicyDocument", diff.Match, "lambda.amazonaws.com", "lambda.amazonaws.com", "")}},
		{ID: "OrdersLogs", Type: "AWS::Logs::LogGroup", Gen: 1, Action: plan.Blocked, Reason: plan.InvalidRead, Physical: "/aws/lambda/orders", ReadAt: read,
			Detail: "Nothing will be sent to this group. A value that cannot be right is no evidence of drift, and never of replacement. Next: l looks again; or deploy the rest.",
			Fields: []diff.Field{
				field("LogGroupName", diff.Match, "/aws/lambda/orders", "/aws/lambda/orders", ""),
				field("RetentionInDays", diff.Invalid, 14, 15, "not 1, 3, 5, 7, 14, 30 or another step the service has"),
				field("Tags", diff.Match, "2 tags", "2 tags", "")}},
		{ID: "OrdersApi", Type: "AWS::ApiGatewayV2::Api", Gen: 1, Action: plan.Blocked, Reason: plan.Uncertain, ReadAt: read,
			Detail: "Two APIs carry the nonce of this create. Next: R chooses one of them.", Finding: &findings[1]},
		{ID: "OrdersIntegration", Type: "AWS::ApiGatewayV2::Integration", Gen: 1, Action: plan.Blocked, Reason: plan.DependencyBlocked,
			Detail: "waits for OrdersApi", DependsOn: []string{"OrdersApi"}},
		{ID: "OrdersFn", Type: "AWS::Lambda::Function", Gen: 1, Action: plan.Update, Physical: "orders-prod-OrdersFn-1d77ab02", ReadAt: read,
			Detail: "Two fields are not as the template says.", Calls: []string{"UpdateFunctionConfiguration", "wait LastUpdateStatus"},
			DependsOn: []string{"OrdersRole"}, Needs: []plan.Grant{plan.GrantChange}, Fields: []diff.Field{
				field("Timeout", diff.Differs, 30, 10, ""),
				field("Role", diff.Differs, "arn:aws:iam::123456789012:role/orders-prod-OrdersRole-7f3a9c21", "arn:aws:iam::123456789012:role/shared-lambda", "via !GetAtt OrdersRole.Arn, of the role found"),
				secret,
				field("LoggingConfig.LogFormat", diff.Unverified, "JSON", nil, "not returned by this service"),
				field("MemorySize", diff.Match, 256, 256, ""), field("Runtime", diff.Match, "go1.x", "go1.x", ""),
				field("Handler", diff.Match, "bootstrap", "bootstrap", ""), field("Code", diff.Match, "sha256 j3Qx", "sha256 j3Qx", ""),
				filledIn("Architectures", []string{"x86_64"}), filledIn("EphemeralStorage.Size", 512), filledIn("PackageType", "Zip"),
				filledIn("TracingConfig.Mode", "PassThrough"), filledIn("SnapStart.ApplyOn", "None"), filledIn("RuntimeManagementConfig", "Auto")}},
		{ID: "OrdersTick", Type: "AWS::Events::Rule", Gen: 1, Action: plan.Create, Name: "orders-prod-OrdersTick-51c0aa10", Detail: "Nothing is there yet.",
			Calls: []string{"PutRule"}, Needs: []plan.Grant{plan.GrantChange}, ReadAt: read,
			Desired: value.Map{"ScheduleExpression": value.Of("rate(5 minutes)"), "RoleArn": value.Wait("OrdersRole.Arn")}},
	}
	for i := range 8 {
		p.Items = append(p.Items, plan.Item{ID: fmt.Sprintf("Same%d", i+1), Type: "AWS::Logs::LogGroup", Gen: 1, Action: plan.Noop,
			Physical: fmt.Sprintf("/aws/lambda/same-%d", i+1), Detail: "as the template says", ReadAt: read})
	}
	return p
}

// harshPlan destroys things: what every kind of approval is needed for.
func harshPlan() *plan.Plan {
	p := ordersPlan()
	p.Fingerprint = "11aa22bb33cc44dd"
	p.Items = []plan.Item{
		{ID: "Table", Type: "AWS::DynamoDB::Table", Gen: 2, Action: plan.Replace, Physical: "orders", Order: plan.DeleteFirst, Cause: []value.Path{"KeySchema"},
			Detail: "The key schema cannot be changed in place.", OldFate: "the old table is deleted first", Loss: "4120 items",
			Needs: []plan.Grant{plan.GrantReplace, plan.GrantDeleteFirst, plan.GrantDataLoss}, Calls: []string{"DeleteTable", "CreateTable"}},
		{ID: "OldQueue", Type: "AWS::SQS::Queue", Gen: 1, Action: plan.Delete, Physical: "orders-old", Detail: "The template does not name it any more.",
			Needs: []plan.Grant{plan.GrantDelete}, Calls: []string{"DeleteQueue"}},
		{ID: "Role", Type: "AWS::IAM::Role", Gen: 1, Action: plan.Update, Physical: "orders-role", Detail: "The description differs.",
			Needs: []plan.Grant{plan.GrantChange}, Calls: []string{"UpdateRole"}, Fields: []diff.Field{field("Description", diff.Differs, "new", "old", "")}},
		{ID: "Bucket", Type: "AWS::S3::Bucket", Gen: 1, Action: plan.Adopt, Physical: "orders-files", Detail: "Made by another stack.",
			Needs: []plan.Grant{plan.GrantAdopt}},
	}
	return p
}

// policyPlan changes what takes more than two cells to show: a policy, a JSON text, and a long name; and a replacement that
// is only possible.
func policyPlan() *plan.Plan {
	p := ordersPlan()
	statement := func(sid, table string, actions ...string) map[string]any {
		return map[string]any{"Sid": sid, "Effect": "Allow", "Action": actions, "Resource": "arn:aws:dynamodb:eu-west-1:123456789012:table/" + table}
	}
	document := func(statements ...any) map[string]any {
		return map[string]any{"Version": "2012-10-17", "Statement": statements}
	}
	stream := field("StreamArn", diff.Unknown, nil, "arn:aws:kinesis:eu-west-1:123456789012:stream/old", "known after OrdersTick.Arn")
	stream.Desired, stream.Immutable = value.Wait("OrdersTick.Arn"), true
	p.Items = []plan.Item{{ID: "OrdersRole", Type: "AWS::IAM::Role", Gen: 1, Action: plan.Update, Physical: "orders-prod-OrdersRole-7f3a9c21", ReadAt: ago(time.Second),
		Detail: "Its policy is not as the template says.", Calls: []string{"PutRolePolicy"}, Needs: []plan.Grant{plan.GrantChange}, MaybeReplace: []value.Path{"StreamArn"},
		Fields: []diff.Field{
			field("Policies[PolicyName=table].PolicyDocument", diff.Differs,
				document(statement("read", "orders", "dynamodb:GetItem", "dynamodb:Query"), statement("write", "orders", "dynamodb:PutItem")),
				document(statement("write", "orders-old", "dynamodb:PutItem"), statement("read", "orders", "dynamodb:GetItem"), statement("admin", "*", "dynamodb:*")), ""),
			field("DefinitionString", diff.Differs, `{"StartAt":"Pay","States":{"Pay":{"Type":"Task","Next":"Ship"}}}`, `{"StartAt":"Pay","States":{"Pay":{"Type":"Task","End":true}}}`, ""),
			field("Role", diff.Differs, "arn:aws:iam::123456789012:role/orders-prod-OrdersRole-7f3a9c21", "arn:aws:iam::123456789012:role/orders-prod-OrdersRole-00aa11bb", ""),
			field("MaxSessionDuration", diff.Differs, 3600, 7200, ""), stream}}, p.Items[5]}
	return p
}

// ordersFindings are three different verdicts: ours, ambiguous, foreign. Without a look there are no looks.
func ordersFindings(look bool) []recovery.Finding {
	four := ago(4 * time.Second)
	list := []recovery.Finding{
		{Stack: orders, ID: "OrdersRole", Type: "AWS::IAM::Role", Gen: 1, Rev: 7, Physical: "orders-prod-OrdersRole-7f3a9c21", Class: resource.Named,
			Status: record.Creating, Row: "2", Verdict: recovery.VerdictOurs, Summary: "This intent made this role.", Auto: true, Default: record.Reclaim, Facts: "facts-role",
			Offered: []recovery.Option{
				{Choice: record.Reclaim, Call: "none", Loss: "nothing", Follows: "keep it as OrdersRole, then 1 update: add inline policy \"table\""},
				{Choice: record.DeleteIt, Call: "DeleteRole", Loss: "the role, for good", Follows: "OrdersFn then waits for a new role"},
				{Choice: record.Abandon, Call: "none", Loss: "our record", Follows: "AWS keeps the role; it stays listed under orphans"}},
			Candidates: []recovery.Candidate{{N: 1, Physical: "orders-prod-OrdersRole-7f3a9c21", CreatedAt: ago(53 * time.Second), How: []string{"nonce"},
				Owner:  resource.Tags{resource.TagNonce: "5f0e27a1", resource.TagStack: orders.String()},
				Fields: []diff.Field{field("Policies[PolicyName=table]", diff.Differs, "{…}", nil, ""), field("RoleName", diff.Match, "orders-prod-OrdersRole-7f3a9c21", "orders-prod-OrdersRole-7f3a9c21", "")}}},
			Lines: []recovery.Line{
				{Side: recovery.For, Text: "tag reclaim:nonce is 5f0e…a1", Source: "ListRoleTags", At: four},
				{Side: recovery.For, Text: "absent before the intent", Source: "GetRole", Seq: 118},
				{Side: recovery.For, Text: "no other record claims it", Source: "store, 3 stacks"},
				{Side: recovery.Neutral, Text: "created within 5 min of the intent", Source: "GetRole", At: four}},
			Timeline: []recovery.Moment{
				{Seq: 118, At: ago(53 * time.Second).Add(412 * time.Millisecond), Text: "intent written: name, nonce 5f0e…a1; GetRole said absent"},
				{Seq: 119, At: ago(53 * time.Second).Add(455 * time.Millisecond), Text: "CreateRole going out"},
				{At: ago(53 * time.Second).Add(900 * time.Millisecond), Text: "process killed; no answer recorded"}},
			Looks: []record.Look{{Call: "GetRole", At: four, Result: "found"}, {Call: "ListRoleTags", At: four, Result: "4 tags"}}},
		{Stack: orders, ID: "OrdersApi", Type: "AWS::ApiGatewayV2::Api", Gen: 1, Rev: 3, Class: resource.Assigned, Status: record.Creating, Row: "3",
			Verdict: recovery.VerdictAmbiguous, Summary: "One of these is probably a copy made by hand. You choose; the other is never touched.", Facts: "facts-api",
			Offered: []recovery.Option{
				{Choice: record.Reclaim, Physical: "a1b2c3", Call: "none", Loss: "nothing", Follows: "keep a1b2c3 as OrdersApi; d4e5f6 is not touched"},
				{Choice: record.Reclaim, Physical: "d4e5f6", Call: "none", Loss: "nothing", Follows: "keep d4e5f6 as OrdersApi; a1b2c3 is not touched"},
				{Choice: record.EnterID, Call: "GetApi", Loss: "nothing", Follows: "the ID is looked up and judged first"},
				{Choice: record.Abandon, Call: "none", Loss: "our record", Follows: "both stay; they are listed under orphans"}},
			Candidates: []recovery.Candidate{
				{N: 1, Physical: "a1b2c3", CreatedAt: ago(53 * time.Second), How: []string{"nonce"}, Owner: resource.Tags{resource.TagNonce: "c2b8279d"},
					Fields: []diff.Field{field("Name", diff.Match, "orders", "orders", ""), field("CorsConfiguration.AllowMethods", diff.Match, "GET", "GET", "")}},
				{N: 2, Physical: "d4e5f6", CreatedAt: ago(5 * time.Second), How: []string{"nonce"}, Owner: resource.Tags{resource.TagNonce: "c2b8279d"},
					Fields: []diff.Field{field("Name", diff.Match, "orders", "orders", ""), field("CorsConfiguration.AllowMethods", diff.Differs, "GET", "GET, POST", "")}}},
			Lines: []recovery.Line{
				{Candidate: 1, Side: recovery.For, Text: "tag reclaim:nonce is c2b8…9d", Source: "GetApis", At: four},
				{Candidate: 1, Side: recovery.For, Text: "tagged for OrdersApi of " + orders.String(), Source: "GetApis", At: four},
				{Candidate: 1, Side: recovery.For, Text: "equal to what was sent", Source: "GetApis", At: four},
				{Candidate: 1, Side: recovery.Neutral, Text: "created within 5 min of the intent", Source: "GetApis", At: four},
				{Candidate: 2, Side: recovery.For, Text: "tag reclaim:nonce is c2b8…9d", Source: "GetApis", At: four},
				{Candidate: 2, Side: recovery.For, Text: "tagged for OrdersApi of " + orders.String(), Source: "GetApis", At: four},
				{Candidate: 2, Side: recovery.Neutral, Text: "created within 5 min of the intent", Source: "GetApis", At: four},
				{Candidate: 2, Side: recovery.Neutral, Text: "not shown equal to what was sent: CorsConfiguration.AllowMethods", Source: "GetApis", At: four},
				{Candidate: 2, Side: recovery.Against, Text: "2 integrations were made for it, and none is ours", Source: "GetIntegrations", At: four},
				{Side: recovery.Neutral, Text: "attempt 1 was about to be sent; no answer is recorded", Source: "journal", At: ago(52 * time.Second)}},
			Timeline: []recovery.Moment{{Seq: 121, At: ago(53 * time.Second), Text: "intent written: nonce c2b8…9d; 0 APIs of that name before"},
				{Seq: 122, At: ago(52 * time.Second), Text: "CreateApi going out"}},
			Looks: []record.Look{{Call: "GetApis", At: four, Result: "14 APIs, 2 with the nonce"}}},
		{Stack: orders, ID: "OrdersLogs", Type: "AWS::Logs::LogGroup", Gen: 1, Rev: 4, Physical: "/aws/lambda/orders", Class: resource.Named, Status: record.Creating,
			Row: "c", Verdict: recovery.VerdictForeign, Summary: "Someone else made this group before the intent was written.", Facts: "facts-logs",
			Offered: []recovery.Option{
				{Choice: record.Adopt, Physical: "/aws/lambda/orders", Call: "TagResource", Loss: "nothing", Follows: "it gets our tags and is managed from now on", Typed: "made by payments"},
				{Choice: record.Abandon, Call: "none", Loss: "our record", Follows: "the group stays as it is"},
				{Choice: record.LookAgain, Call: "DescribeLogGroups", Loss: "nothing", Follows: "judged again"}},
			Candidates: []recovery.Candidate{{N: 1, Physical: "/aws/lambda/orders", CreatedAt: ago(50 * time.Minute), How: []string{"key"}, Strike: "c", StrikeWhy: "older than the intent beyond doubt",
				Fields: []diff.Field{field("RetentionInDays", diff.Differs, 14, 90, "")}}},
			Lines: []recovery.Line{{Side: recovery.Against, Text: "made 49 minutes before the intent", Source: "DescribeLogGroups", At: four},
				{Side: recovery.Missing, Text: "no reclaim:nonce tag", Source: "ListTagsForResource", At: four}},
			Looks: []record.Look{{Call: "DescribeLogGroups", At: four, Result: "found"}}},
	}
	if !look {
		for i := range list {
			list[i].Looks = nil
		}
	}
	return list
}

func deadHold() *record.Hold {
	return &record.Hold{Stack: orders, Execution: "e-9c41", Epoch: 4, Verb: "deploy", Since: ago(time.Minute),
		Owner: record.Owner{User: "ops", Host: "ci-7", PID: 48213}}
}

func ordersSummaries(held bool, alive string) []StackSummary {
	web := record.StackID{Name: "web", Scope: resource.Scope{Partition: resource.LocalPartition, Account: "m-51ab"}}
	o := StackSummary{Stack: orders, Records: 14, Uncertain: 3, Tombs: 1, Template: "/srv/orders/orders.yaml",
		Last: &record.Execution{ID: "e-9c41", Stack: orders, Verb: "deploy", Began: ago(58 * time.Second)}}
	if held {
		o.Hold, o.HoldAlive = deadHold(), cmp.Or(alive, "dead (boot id, start time checked)")
	}
	return []StackSummary{{Stack: web, Records: 3, Last: &record.Execution{ID: "e-01aa", Stack: web, Verb: "deploy", Began: ago(3 * time.Hour), Ended: ago(3 * time.Hour), Result: "done"}}, o}
}

// backend is a Backend of functions; nil ones answer from the fixture. It counts what would change anything.
type backend struct {
	mu        sync.Mutex
	clock     time.Time
	held      bool
	alive     string // of the holder; "" is dead
	summaries func() []StackSummary
	plan      *plan.Plan
	findings  func(look bool) []recovery.Finding
	looks     func() error // of a look at findings that fails
	replan    func() (*plan.Plan, error)
	run       func(ctx context.Context, sink event.Sink) (deploy.Outcome, error)
	enter     func(physical string) (recovery.Finding, error)
	deploys   [][]deploy.Approval
	recovers  []deploy.RecoverRequest
	decisions []record.Decision
}

func newBackend() *backend {
	return &backend{clock: now, plan: ordersPlan(), findings: ordersFindings, run: shortRun}
}

func (b *backend) StorePath() string { return "/srv/orders/.reclaim" }
func (b *backend) Now() time.Time    { b.mu.Lock(); defer b.mu.Unlock(); return b.clock }
func (b *backend) Who() string       { return "ops" }
func (b *backend) Stacks(context.Context) ([]StackSummary, error) {
	if b.summaries != nil {
		return b.summaries(), nil
	}
	return ordersSummaries(b.held, b.alive), nil
}
func (b *backend) LastPlan(context.Context, record.StackID) (*plan.Plan, error) { return b.plan, nil }
func (b *backend) Findings(_ context.Context, _ record.StackID, look bool) ([]recovery.Finding, error) {
	if look && b.looks != nil {
		return nil, b.looks()
	}
	return b.findings(look), nil
}
func (b *backend) Enter(_ context.Context, _ record.StackID, _ string, _ int, physical string) (recovery.Finding, error) {
	return b.enter(physical)
}
func (b *backend) Replan(context.Context, record.StackID, plan.Verb) (*plan.Plan, error) {
	if b.replan == nil {
		return b.plan, nil
	}
	return b.replan()
}
func (b *backend) Deploy(ctx context.Context, _ *plan.Plan, a []deploy.Approval, sink event.Sink) (deploy.Outcome, error) {
	b.mu.Lock()
	b.deploys = append(b.deploys, a)
	b.mu.Unlock()
	return b.run(ctx, sink)
}
func (b *backend) Recover(ctx context.Context, r deploy.RecoverRequest, sink event.Sink) (deploy.Outcome, error) {
	b.mu.Lock()
	b.recovers = append(b.recovers, r)
	b.mu.Unlock()
	return b.run(ctx, sink)
}
func (b *backend) Decide(_ context.Context, d record.Decision) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.decisions = append(b.decisions, d)
	return nil
}

// changed is how often something was asked that changes the store or the cloud.
func (b *backend) changed() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.deploys) + len(b.recovers) + len(b.decisions)
}

// emitter numbers events as an engine does.
func emitter(sink event.Sink) func(after time.Duration, e event.Event) {
	n := uint64(0)
	return func(after time.Duration, e event.Event) {
		n++
		sink.Emit(event.Envelope{N: n, At: now.Add(after), Execution: "e-a001", Event: e})
	}
}

func runItems() []event.Item {
	return []event.Item{{ID: "OrdersRole", Gen: 1, Type: "AWS::IAM::Role", Action: "reclaim"}, {ID: "OrdersFn", Gen: 1, Type: "AWS::Lambda::Function", Action: "update"},
		{ID: "OrdersTick", Gen: 1, Type: "AWS::Events::Rule", Action: "create"}}
}

// half emits the first part of a run: one item done, one in its call, one waiting.
func half(sink event.Sink) func(time.Duration, event.Event) {
	emit := emitter(sink)
	emit(0, event.Began{Stack: orders, Verb: "deploy", Items: runItems()})
	emit(0, event.Phase{ID: "OrdersRole", Gen: 1, Phase: "look"})
	emit(time.Second, event.Called{ID: "OrdersRole", Gen: 1, Call: "PutRolePolicy", Detail: "inline policy table", Outcome: "ok", Took: 212 * time.Millisecond})
	emit(time.Second, event.Settled{ID: "OrdersRole", Gen: 1, Action: "reclaim", Result: event.Done})
	emit(time.Second, event.Phase{ID: "OrdersFn", Gen: 1, Phase: "settle", Detail: "LastUpdateStatus is InProgress"})
	emit(2*time.Second, event.Phase{ID: "OrdersTick", Gen: 1, Phase: "wait", Detail: "not visible yet", Until: now.Add(15 * time.Second)})
	return emit
}

func shortRun(_ context.Context, sink event.Sink) (deploy.Outcome, error) {
	emit := half(sink)
	emit(3*time.Second, event.Settled{ID: "OrdersFn", Gen: 1, Action: "update", Result: event.Done})
	emit(4*time.Second, event.Settled{ID: "OrdersTick", Gen: 1, Action: "create", Result: event.Unsure, Reason: "PutRule was sent and not answered. Next: reclaim recover orders-prod"})
	emit(4*time.Second, event.Ended{Exit: 3, Summary: "2 done, 1 uncertain"})
	return deploy.Outcome{Execution: "e-a001", Exit: 3, Exits: []int{3}, Summary: "2 done, 1 uncertain. The create of OrdersTick may have been executed.", Next: []string{"reclaim recover orders-prod"},
		Items: []deploy.ItemResult{{ID: "OrdersTick", Gen: 1, Type: "AWS::Events::Rule", Action: "create", Result: event.Unsure}}}, nil
}
