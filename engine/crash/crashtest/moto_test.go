//go:build crash

package crashtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	apitypes "github.com/aws/aws-sdk-go-v2/service/apigatewayv2/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/google/go-cmp/cmp"

	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/providers/providertest"
)

const (
	moments = 20
	redraws = 12 // of one moment, each a tenth earlier
)

// TestMoto kills a deploy against moto at moments spread over a measured run. Unlike at a recorded point, nothing in the
// program says when: requests are on their way, and moto goes on with them. What the last kill left is destroyed at the end.
func TestMoto(t *testing.T) {
	began := time.Now()
	m := startMotoCloud(t)
	took := m.measure(t)
	states, points, uncertain := map[string]int{}, map[string]int{}, map[string]int{}
	for i := range moments {
		at := took * time.Duration(2*i+1) / (2 * moments)
		t.Run(fmt.Sprintf("moment %d of %d", i+1, moments), func(t *testing.T) {
			w, k := m.killAt(t, at)
			t.Logf("killed %s after the hold was taken, at %s: %s %q", k.after.Round(time.Millisecond), k.point, k.state, k.uncertain)
			states[k.state]++
			points[k.point]++
			for _, u := range k.uncertain {
				uncertain[u]++
			}
			w.recover()
			w.finish("first")
			if i == moments-1 {
				w.finish("destroy")
			}
		})
		if t.Failed() {
			return // moto holds what the failure left
		}
	}
	t.Logf("%d kills over a run of %s, in %s; by what was journaled:\n%sby the last point passed:\n%screates left uncertain:\n%s",
		moments, took.Round(time.Millisecond), time.Since(began).Round(time.Second), histogram(states), histogram(points), histogram(uncertain))
	if len(states) < 4 || uncertain["api executed"] == 0 {
		t.Error("the kills were not spread over the run, or none came between the API's create and its answer")
	}
}

// kill is what one kill met.
type kill struct {
	after time.Duration // after the hold was taken
	point string        // kind of the crash point passed last
	state string        // what was journaled
	// uncertain are the creates that were sent, or about to be, and not acknowledged: "api executed", "role not executed".
	uncertain []string
}

// motoCloud is moto, one process for all worlds. The program reaches it through a network, the test past it.
type motoCloud struct {
	moto string // its URL
	at   string // of the network in front of it, where the program is sent
	iam  *iam.Client
	logs *cloudwatchlogs.Client
	api  *apigatewayv2.Client
	fn   *lambda.Client
	rule *eventbridge.Client
	data *dynamodb.Client

	strangerApi string // ID, new with each reset
	before      string // strangers, as they were made
}

func startMotoCloud(t *testing.T) *motoCloud {
	t.Helper()
	b := providertest.Moto(t)
	cfg := b.Session.AWS()
	return &motoCloud{moto: b.URL, at: network(t, b.URL), iam: iam.NewFromConfig(cfg), logs: cloudwatchlogs.NewFromConfig(cfg), api: apigatewayv2.NewFromConfig(cfg),
		fn: lambda.NewFromConfig(cfg), rule: eventbridge.NewFromConfig(cfg), data: dynamodb.NewFromConfig(cfg)}
}

func (m *motoCloud) url() string { return m.at }

func (m *motoCloud) scope() string {
	return account + "/" + region + "+" + strings.TrimPrefix(m.at, "http://")
}

// world empties moto, puts the strangers there, and lays out a folder. Windows and deadlines of half a minute become 1.5 s,
// which is long beside any answer of moto.
func (m *motoCloud) world(t *testing.T) *world {
	t.Helper()
	resp, err := http.Post(m.moto+"/moto-api/reset", "", nil)
	must(t, err)
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("reset moto: %s", resp.Status)
	}
	m.seed(t)
	w := newWorld(t, "0.05", "4")
	w.cloud = m
	w.texts["first"] = w.texts["for moto"]
	w.use("first")
	return w
}

// seed makes the strangers' objects. The attached policy also makes moto load its managed policies, which takes it most of
// a second after each reset and belongs to no measured run.
func (m *motoCloud) seed(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	_, err := m.iam.CreateRole(ctx, &iam.CreateRoleInput{RoleName: aws.String("someone-else"), Tags: []iamtypes.Tag{{Key: aws.String("team"), Value: aws.String("other")}},
		AssumeRolePolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`)})
	must(t, err)
	_, err = m.iam.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: aws.String("someone-else"), PolicyArn: aws.String("arn:aws:iam::aws:policy/ReadOnlyAccess")})
	must(t, err)
	_, err = m.logs.CreateLogGroup(ctx, &cloudwatchlogs.CreateLogGroupInput{LogGroupName: aws.String("/someone/else"), Tags: map[string]string{"team": "other"}})
	must(t, err)
	a, err := m.api.CreateApi(ctx, &apigatewayv2.CreateApiInput{Name: aws.String("orders-dev"), ProtocolType: apitypes.ProtocolTypeHttp, Tags: map[string]string{"team": "other"}})
	must(t, err)
	m.strangerApi = *a.ApiId
	m.before = m.strangers(t)
}

// start starts the deploy and waits until it has its hold, or has ended without.
func (m *motoCloud) start(t *testing.T, w *world) (*run, time.Time) {
	t.Helper()
	r := w.start([]string{"RECLAIM_CRASH_RECORD=" + w.path("points")}, w.verb("first")...)
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		if len(w.passed()) > 0 { // the first point is the hold's
			return r, time.Now()
		}
		time.Sleep(200 * time.Microsecond)
	}
	r.cmd.Process.Kill()
	t.Fatalf("the deploy did not begin in half a minute:\n%s", r.wait().text)
	return nil, time.Time{}
}

// passed are the points that the recorded run has passed so far.
func (w *world) passed() []string {
	b, _ := os.ReadFile(w.path("points"))
	return strings.Fields(string(b))
}

// measure returns how long an uncrashed deploy takes from its hold to its last point, where the hold is let go: the median
// of three.
func (m *motoCloud) measure(t *testing.T) time.Duration {
	t.Helper()
	var took []time.Duration
	for range 3 {
		w := m.world(t)
		r, began := m.start(t, w)
		if a := r.wait(); a.Exit != 0 {
			t.Fatalf("the uncrashed run ended with %d:\n%s", a.Exit, a.text)
		}
		last, err := os.Stat(w.path("points"))
		must(t, err)
		took = append(took, last.ModTime().Sub(began))
		w.wantOnce()
	}
	slices.Sort(took)
	return took[1]
}

// killAt kills a deploy that long after it took its hold, in a world of its own. Where the deploy had already ended, or let
// its hold go, the moment is drawn again, a little earlier.
func (m *motoCloud) killAt(t *testing.T, after time.Duration) (*world, kill) {
	t.Helper()
	for range redraws {
		w := m.world(t)
		r, began := m.start(t, w)
		time.Sleep(time.Until(began.Add(after)))
		r.cmd.Process.Kill()
		killed := r.wait().killed
		points := w.passed()
		if records, hold := w.status(); killed && hold != nil {
			kind, _, _ := strings.Cut(points[len(points)-1], "@")
			return w, kill{after: after, point: kind, state: journaled(records), uncertain: m.uncertain(t, records)}
		}
		after = after * 9 / 10
	}
	t.Fatalf("in %d runs the deploy had always ended", redraws)
	return nil, kill{}
}

// journaled says in a line how far the records of a killed deploy had come.
func journaled(records []record.Record) string {
	n := map[record.Status]int{}
	for _, r := range records {
		n[r.Status]++
	}
	return fmt.Sprintf("%d created, %d acknowledged, %d creating", n[record.Made], n[record.Acknowledged]+n[record.Updating], n[record.Creating])
}

// uncertain asks moto what became of the creates without an acknowledgement.
func (m *motoCloud) uncertain(t *testing.T, records []record.Record) []string {
	t.Helper()
	kinds := map[string]string{"AWS::IAM::Role": "role", "AWS::Logs::LogGroup": "log group", "AWS::ApiGatewayV2::Api": "api", "AWS::Lambda::Function": "function",
		"AWS::Events::Rule": "rule", "AWS::DynamoDB::Table": "table", "AWS::ApiGatewayV2::Integration": "integration"}
	held := m.ours(t)
	var out []string
	for _, r := range records {
		kind := kinds[r.Type]
		switch {
		case kind == "" || r.Status != record.Creating:
		case slices.Contains(held, kind):
			out = append(out, kind+" executed")
		default:
			out = append(out, kind+" not executed")
		}
	}
	return out
}

func histogram(n map[string]int) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(n)) {
		fmt.Fprintf(&b, "  %-40s %2d %s\n", k, n[k], strings.Repeat("#", n[k]))
	}
	return b.String()
}

// whole: moto does not serve GetAuthorizers.
func (m *motoCloud) whole() []string {
	return slices.DeleteFunc(slices.Clone(whole), func(kind string) bool { return kind == "authorizer" })
}

func (m *motoCloud) ours(t *testing.T) []string {
	t.Helper()
	var out []string
	roles, err := m.iam.ListRoles(t.Context(), &iam.ListRolesInput{})
	must(t, err)
	for _, r := range roles.Roles {
		if *r.RoleName == "someone-else" {
			continue
		}
		out = append(out, "role")
		attached, err := m.iam.ListAttachedRolePolicies(t.Context(), &iam.ListAttachedRolePoliciesInput{RoleName: r.RoleName})
		must(t, err)
		out = append(out, repeat("attachment", len(attached.AttachedPolicies))...)
	}
	groups, err := m.logs.DescribeLogGroups(t.Context(), &cloudwatchlogs.DescribeLogGroupsInput{})
	must(t, err)
	for _, g := range groups.LogGroups {
		if *g.LogGroupName != "/someone/else" {
			out = append(out, "log group")
		}
	}
	out = append(out, m.ourAPI(t)...)
	out = append(out, m.ourFunction(t)...)
	rules, err := m.rule.ListRules(t.Context(), &eventbridge.ListRulesInput{})
	must(t, err)
	for _, r := range rules.Rules {
		if *r.Name != "someone-else" {
			out = append(out, "rule")
		}
	}
	tables, err := m.data.ListTables(t.Context(), &dynamodb.ListTablesInput{})
	must(t, err)
	out = append(out, repeat("table", len(tables.TableNames))...)
	slices.Sort(out)
	return out
}

// ourAPI lists the kinds of our API and of what it is made of.
func (m *motoCloud) ourAPI(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, a := range m.list(t) {
		if *a.ApiId == m.strangerApi {
			continue
		}
		out = append(out, "api")
		out = append(out, repeat("integration", len(m.integrations(t, *a.ApiId)))...)
		routes, err := m.api.GetRoutes(t.Context(), &apigatewayv2.GetRoutesInput{ApiId: a.ApiId})
		must(t, err)
		stages, err := m.api.GetStages(t.Context(), &apigatewayv2.GetStagesInput{ApiId: a.ApiId})
		must(t, err)
		out = append(out, repeat("route", len(routes.Items))...)
		out = append(out, repeat("stage", len(stages.Items))...)
	}
	return out
}

func (m *motoCloud) integrations(t *testing.T, api string) []apitypes.Integration {
	t.Helper()
	out, err := m.api.GetIntegrations(t.Context(), &apigatewayv2.GetIntegrationsInput{ApiId: aws.String(api)})
	must(t, err)
	return out.Items
}

// ourFunction lists the kinds of our functions and of the statements of their policies.
func (m *motoCloud) ourFunction(t *testing.T) []string {
	t.Helper()
	list, err := m.fn.ListFunctions(t.Context(), &lambda.ListFunctionsInput{})
	must(t, err)
	var out []string
	for _, f := range list.Functions {
		out = append(out, "function")
		policy, err := m.fn.GetPolicy(t.Context(), &lambda.GetPolicyInput{FunctionName: f.FunctionName})
		if err != nil {
			continue // it has none
		}
		var doc struct{ Statement []json.RawMessage }
		must(t, json.Unmarshal([]byte(*policy.Policy), &doc))
		out = append(out, repeat("permission", len(doc.Statement))...)
	}
	return out
}

func (m *motoCloud) list(t *testing.T) []apitypes.Api {
	t.Helper()
	apis, err := m.api.GetApis(t.Context(), &apigatewayv2.GetApisInput{})
	must(t, err)
	return apis.Items
}

func (m *motoCloud) made(t *testing.T, id string) []string {
	t.Helper()
	var out []string
	for _, a := range m.list(t) {
		if a.Tags[resource.TagResource] == id {
			out = append(out, *a.ApiId)
		}
		if *a.ApiId == m.strangerApi || id != "OrdersIntegration" {
			continue
		}
		for _, i := range m.integrations(t, *a.ApiId) {
			out = append(out, *i.IntegrationId)
		}
	}
	return out
}

// assigned counts the APIs and integrations there are: no test deletes one before it has asked.
func (m *motoCloud) assigned(t *testing.T) int {
	t.Helper()
	n := 0
	for _, a := range m.list(t) {
		n += 1 + len(m.integrations(t, *a.ApiId))
	}
	return n
}

func (m *motoCloud) wantStrangersUntouched(t *testing.T) {
	t.Helper()
	if diff := cmp.Diff(m.before, m.strangers(t)); diff != "" {
		t.Fatalf("a stranger's object changed (-before +after):\n%s", diff)
	}
}

// strangers writes out all that moto says of the strangers' objects.
func (m *motoCloud) strangers(t *testing.T) string {
	t.Helper()
	ctx, name := t.Context(), aws.String("someone-else")
	role, err := m.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: name})
	must(t, err)
	attached, err := m.iam.ListAttachedRolePolicies(ctx, &iam.ListAttachedRolePoliciesInput{RoleName: name})
	must(t, err)
	inline, err := m.iam.ListRolePolicies(ctx, &iam.ListRolePoliciesInput{RoleName: name})
	must(t, err)
	groups, err := m.logs.DescribeLogGroups(ctx, &cloudwatchlogs.DescribeLogGroupsInput{LogGroupNamePrefix: aws.String("/someone/else")})
	must(t, err)
	if len(groups.LogGroups) != 1 {
		t.Fatalf("moto holds %d log groups of the stranger, want 1", len(groups.LogGroups))
	}
	arn := strings.TrimSuffix(aws.ToString(groups.LogGroups[0].Arn), ":*")
	tags, err := m.logs.ListTagsForResource(ctx, &cloudwatchlogs.ListTagsForResourceInput{ResourceArn: aws.String(arn)})
	must(t, err)
	api, err := m.api.GetApi(ctx, &apigatewayv2.GetApiInput{ApiId: aws.String(m.strangerApi)})
	must(t, err)
	b, err := json.MarshalIndent([]any{role.Role, attached.AttachedPolicies, inline.PolicyNames, groups.LogGroups, tags.Tags,
		api.ApiId, api.Name, api.Description, api.CorsConfiguration, api.Tags, api.CreatedDate}, "", " ")
	must(t, err)
	return string(b)
}
