package awssim

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"
)

// S1, S2: the scope is the caller's own account and region.
func TestStateBelongsToAccountAndRegion(t *testing.T) {
	_, url := newCloud(t, Config{})
	home, elsewhere := newClients(t, url, plainKey, region), newClients(t, url, plainKey, "us-east-1")
	other := newClients(t, url, "AKIA999999999999", region)
	role, err := home.role(nil)
	if err != nil {
		t.Fatal(err)
	}
	group, err := home.group(nil)
	if err != nil {
		t.Fatal(err)
	}
	api, err := home.api(nil)
	if err != nil {
		t.Fatal(err)
	}
	sees := func(k clients) []bool {
		id, err := k.sts.GetCallerIdentity(k.ctx, &sts.GetCallerIdentityInput{})
		if err != nil {
			t.Fatal(err)
		}
		_, noRole := k.iam.GetRole(k.ctx, &iam.GetRoleInput{RoleName: &role})
		g, _ := k.describe(group)
		_, noApi := k.apis.GetApi(k.ctx, &apigatewayv2.GetApiInput{ApiId: api.ApiId})
		return []bool{*id.Account == account, noRole == nil, g != nil, noApi == nil}
	}
	got := [][]bool{sees(home), sees(elsewhere), sees(other)}
	want := [][]bool{{true, true, true, true}, {true, true, false, false}, {false, false, false, false}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAccessKeysChooseHowTheCallerIsRefused(t *testing.T) {
	s, url := newCloud(t, Config{})
	for key, want := range map[string][]refusal{
		"EXPIREDKEY": {{"ExpiredToken", 403}, {"ExpiredToken", 403}, {"ExpiredTokenException", 400}, {"ExpiredTokenException", 403}},
		"DENIEDKEY":  {{}, {"AccessDenied", 403}, {"AccessDeniedException", 400}, {"AccessDeniedException", 403}}, // GetCallerIdentity needs no permission
	} {
		k := newClients(t, url, key, region)
		_, identity := k.sts.GetCallerIdentity(k.ctx, &sts.GetCallerIdentityInput{})
		_, role := k.role(nil)
		_, group := k.group(nil)
		_, api := k.api(nil)
		if diff := cmp.Diff(want, []refusal{refusalOf(identity), refusalOf(role), refusalOf(group), refusalOf(api)}); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
	if st := s.State(); len(st.Roles)+len(st.LogGroups)+len(st.Apis) != 0 {
		t.Errorf("something was made: %+v", st)
	}
	for _, r := range s.Log() {
		if r.Executed && r.Operation != "GetCallerIdentity" {
			t.Errorf("executed: %+v", r)
		}
	}
}

// send sends a request without a client library and returns status, headers and body.
func send(t *testing.T, r *http.Request) (int, http.Header, string) {
	t.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

func TestWhatReachesNoOperationIsRefusedInTheServicesOwnWords(t *testing.T) {
	s, url := newCloud(t, Config{})
	form := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	target := func(op string) map[string]string { return map[string]string{"X-Amz-Target": "Logs_20140328." + op} }
	cases := map[string]struct {
		request *http.Request
		status  int
		has     string
	}{
		"no credentials, IAM":          {testRequest(t, "POST", url+"/", "", "Action=ListRoles&Version=2010-05-08", form), 403, "<Code>MissingAuthenticationToken</Code>"},
		"no credentials, Logs":         {testRequest(t, "POST", url+"/", "", "{}", target("DescribeLogGroups")), 400, `"__type":"MissingAuthenticationTokenException"`},
		"no credentials, API Gateway":  {testRequest(t, "GET", url+"/v2/apis", "", "", nil), 403, "Missing Authentication Token"},
		"another scheme":               {testRequest(t, "POST", url+"/", "", "", map[string]string{"Authorization": "Bearer x"}), 400, "IncompleteSignature"},
		"an unknown service":           {testRequest(t, "POST", url+"/", "s3", "", nil), 400, "InvalidAction"},
		"an unknown IAM action":        {testRequest(t, "POST", url+"/", "iam", "Action=Explode&Version=2010-05-08", form), 400, "<Code>InvalidAction</Code>"},
		"another version of IAM":       {testRequest(t, "POST", url+"/", "iam", "Action=ListRoles&Version=1999-01-01", form), 400, "<Code>InvalidAction</Code>"},
		"an unknown Logs operation":    {testRequest(t, "POST", url+"/", "logs", "{}", target("Explode")), 400, `"__type":"UnknownOperationException"`},
		"an unknown path":              {testRequest(t, "GET", url+"/v2/apis/x/explode", "apigateway", "", nil), 404, "No operation"},
		"Logs with a body of no JSON":  {testRequest(t, "POST", url+"/", "logs", "<x>", target("CreateLogGroup")), 400, `"__type":"SerializationException"`},
		"an API with a body of a list": {testRequest(t, "POST", url+"/v2/apis", "apigateway", "[]", nil), 400, "Invalid request body"},
		"a body over 10 MiB":           {testRequest(t, "POST", url+"/", "logs", strings.Repeat("x", maxBody+1), target("CreateLogGroup")), 413, "RequestEntityTooLarge"},
		"a form nested without end":    {testRequest(t, "POST", url+"/", "iam", "Action=GetRole&Version=2010-05-08&"+strings.Repeat("a.", 9)+"b=c", form), 400, "ValidationError"},
		"a required member missing":    {testRequest(t, "POST", url+"/", "logs", "{}", target("CreateLogGroup")), 400, "Member must not be null"},
		"a member of another type":     {testRequest(t, "POST", url+"/", "logs", `{"logGroupName":7}`, target("CreateLogGroup")), 400, "InvalidParameterException"},
	}
	for claim, c := range cases {
		t.Run(claim, func(t *testing.T) {
			status, header, body := send(t, c.request)
			if status != c.status || !strings.Contains(body+header.Get("X-Amzn-Errortype"), c.has) {
				t.Errorf("got %d %s, want %d with %s", status, body, c.status, c.has)
			}
			if header.Get("X-Amzn-Requestid") == "" || header.Get("Date") == "" || header.Get(SimHeader) != s.ID() {
				t.Errorf("headers: %v", header)
			}
		})
	}
	for _, r := range s.Log() {
		if r.Executed || !r.Answered || r.Outcome == "" || r.Status == 0 {
			t.Errorf("log: %+v", r)
		}
	}
	if len(s.Log()) != len(cases) {
		t.Errorf("%d requests in the log, want %d", len(s.Log()), len(cases))
	}
}

func TestTheDateIsTheCloudsOwn(t *testing.T) {
	now := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	_, url := newCloud(t, Config{Now: func() time.Time { return now }})
	_, header, _ := send(t, testRequest(t, "GET", url+"/v2/apis", "apigateway", "", nil))
	if got := header.Get("Date"); got != "Tue, 06 May 2031 07:08:09 GMT" {
		t.Errorf("Date: %s", got)
	}
}

func TestTheLogSaysWhatWasSent(t *testing.T) {
	s, url := newCloud(t, Config{})
	k := newClients(t, url, plainKey, region)
	role, err := k.role(func(in *iam.CreateRoleInput) { in.Tags = tags("reclaim:nonce", "n1") })
	if err != nil {
		t.Fatal(err)
	}
	api, err := k.api(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.apis.GetTags(k.ctx, &apigatewayv2.GetTagsInput{ResourceArn: apiARN(api.ApiId)}); err != nil {
		t.Fatal(err)
	}
	var got []any
	for i, r := range s.Log() {
		if r.N != i+1 || r.At.IsZero() || r.RequestID == "" || !strings.Contains(r.UserAgent, "aws-sdk-go-v2") {
			t.Errorf("log: %+v", r)
		}
		got = append(got, r.Service, r.Operation, r.Target, r.Changing, r.Region, r.Account, r.Outcome, r.Executed, r.Answered, r.Status)
	}
	want := []any{
		"iam", "CreateRole", role, true, region, account, "ok", true, true, 200,
		"apigateway", "CreateApi", *api.Name, true, region, account, "ok", true, true, 201,
		"apigateway", "GetTags", *api.ApiId, false, region, account, "ok", true, true, 200,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	params := s.Log()[0].Params
	if diff := cmp.Diff(map[string]any{"RoleName": role, "AssumeRolePolicyDocument": trustJSON,
		"Tags": []any{map[string]any{"Key": "reclaim:nonce", "Value": "n1"}}}, params); diff != "" {
		t.Error(diff)
	}
}

func TestStateAndLogOutliveTheServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cloud.json")
	s, url := newCloud(t, Config{StateFile: file, ID: "sim-fixed"})
	k := newClients(t, url, plainKey, region)
	role, err := k.role(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.group(nil); err != nil {
		t.Fatal(err)
	}
	s.AddFault(Fault{Operation: "CreateApi", Kind: ExecutedUnanswered})
	k.api(nil) //nolint:errcheck // not answered
	state, log := s.State(), s.Log()
	second, _ := newCloud(t, Config{StateFile: file}) // the first may be dead: nothing waits for its Close
	if diff := cmp.Diff(state, second.State()); diff != "" {
		t.Errorf("state: %s", diff)
	}
	a, _ := json.Marshal(log)
	b, _ := json.Marshal(second.Log())
	if diff := cmp.Diff(string(a), string(b)); diff != "" {
		t.Errorf("log: %s", diff)
	}
	if second.ID() != "sim-fixed" || len(state.Apis) != 1 || state.Roles[0].Name != role {
		t.Errorf("loaded %+v", second.State())
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	second.Reset()
	third, _ := newCloud(t, Config{StateFile: file})
	if len(third.Log()) != 0 || len(third.State().Roles) != 0 || third.ID() != "sim-fixed" {
		t.Errorf("after a reset: %+v", third.State())
	}
}

func TestADamagedStateFileIsNotStartedFrom(t *testing.T) {
	for claim, c := range map[string]struct{ state, log string }{
		"no JSON":          {"{", ""},
		"another version":  {`{"version":99,"state":{}}`, ""},
		"a damaged log":    {`{"version":1,"state":{}}`, "{\n"},
		"a log with a gap": {`{"version":1,"state":{}}`, `{"n":2}` + "\n"},
	} {
		file := filepath.Join(t.TempDir(), "cloud.json")
		os.WriteFile(file, []byte(c.state), 0o600)      //nolint:errcheck // New fails then too
		os.WriteFile(file+".log", []byte(c.log), 0o600) //nolint:errcheck // likewise
		if _, err := New(Config{StateFile: file}); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", claim, err)
		}
	}
	file := filepath.Join(t.TempDir(), "cloud.json")
	os.WriteFile(file, []byte(`{"version":1,"state":{}}`), 0o600) //nolint:errcheck // New fails then
	os.WriteFile(file+".log", []byte(`{"n":1}`+"\n"+`{"n":2,"ta`), 0o600)
	s, err := New(Config{StateFile: file})
	if err != nil || len(s.Log()) != 1 {
		t.Errorf("a last line that was cut off is left out: %v", err)
	}
}

func TestListenServesLoopbackOnly(t *testing.T) {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "localhost:0", "nonsense"} {
		if url, err := s.Listen(addr); err == nil {
			t.Errorf("%s: serves on %s", addr, url)
		}
	}
	if _, err := s.Listen("127.0.0.1:0"); err != nil {
		t.Error(err)
	}
	if _, err := s.Listen("127.0.0.1:0"); err == nil {
		t.Error("serves twice")
	}
	if _, err := New(Config{Account: "12"}); err == nil {
		t.Error("an account of two digits")
	}
}

func TestStoredBytesTrailIngestionByADay(t *testing.T) {
	now := time.Now()
	_, url := newCloud(t, Config{Now: func() time.Time { return now }})
	k := newClients(t, url, plainKey, region)
	if _, _, err := eventLife(k); err != nil {
		t.Fatal(err)
	}
	now = now.Add(24 * time.Hour)
	out, err := k.logs.DescribeLogGroups(k.ctx, &cloudwatchlogs.DescribeLogGroupsInput{})
	if err != nil || len(out.LogGroups) != 1 || *out.LogGroups[0].StoredBytes != 2*(5+eventOverhead) {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestEventsOutsideTheServicesTimeRangeAreRejectedInASuccess(t *testing.T) {
	s, url := newCloud(t, Config{})
	k := newClients(t, url, plainKey, region)
	name, err := k.group(nil)
	if err == nil {
		_, err = k.logs.CreateLogStream(k.ctx, &cloudwatchlogs.CreateLogStreamInput{LogGroupName: &name, LogStreamName: aws.String("s")})
	}
	if err == nil {
		err = k.put(name, "s", time.Now().Add(-15*24*time.Hour), time.Now(), time.Now().Add(3*time.Hour))
	}
	if err != nil {
		t.Fatal(err)
	}
	if n := s.State().LogGroups[0].Streams[0].Events; n != 1 {
		t.Errorf("%d events were taken, want 1", n)
	}
}

func TestTheAdminPathsTellAndSteer(t *testing.T) {
	s, url := newCloud(t, Config{})
	k := newClients(t, url, plainKey, region)
	post := func(path, body string) (int, string) {
		status, _, out := send(t, testRequest(t, "POST", url+path, "", body, nil))
		return status, out
	}
	for path, body := range map[string]string{
		"/_sim/actions": `[{"op":"CreateLogGroup","params":{"logGroupName":"theirs"},"tags":{"aws:x":"y"}}]`,
		"/_sim/faults":  `{"operation":"CreateRole","kind":"executed-unanswered","delay":"1s"}`,
	} {
		if status, out := post(path, body); status != 200 {
			t.Errorf("%s: %d %s", path, status, out)
		}
	}
	if _, err := k.role(nil); err == nil {
		t.Error("the posted fault did not hit")
	}
	_, header, body := send(t, testRequest(t, "GET", url+"/_sim/log", "", "", nil))
	var log []Request
	if err := json.Unmarshal([]byte(body), &log); err != nil || len(log) != 1 || log[0].Fault != ExecutedUnanswered || header.Get(SimHeader) != s.ID() {
		t.Errorf("log: %s, %v", body, err)
	}
	_, _, body = send(t, testRequest(t, "GET", url+"/_sim/state", "", "", nil))
	var state State
	if err := json.Unmarshal([]byte(body), &state); err != nil || len(state.Roles) != 1 || state.LogGroups[0].Tags["aws:x"] != "y" {
		t.Errorf("state: %s, %v", body, err)
	}
	s.AddFault(Fault{Operation: "*", Kind: Denied, Times: -1})
	send(t, testRequest(t, "DELETE", url+"/_sim/faults", "", "", nil))
	if _, err := k.role(nil); err != nil {
		t.Errorf("the faults were not cleared: %v", err)
	}
	for path, body := range map[string]string{
		"/_sim/actions": `{"op":"Explode"}`,
		"/_sim/faults":  `{"operation":"*","kind":"explode"}`,
	} {
		if status, out := post(path, body); status != 400 {
			t.Errorf("%s: %d %s", path, status, out)
		}
	}
	if status, _, _ := send(t, testRequest(t, "POST", url+"/_sim/reset", "", "", map[string]string{"Origin": "https://example.com"})); status != 403 {
		t.Errorf("a web page resets the cloud: %d", status)
	}
	if status, _ := post("/_sim/reset", ""); status != 200 || len(s.Log()) != 0 || len(s.State().Roles) != 0 {
		t.Errorf("reset: %d, %+v", status, s.State())
	}
	if status, _, _ := send(t, testRequest(t, "GET", url+"/_sim/nothing", "", "", nil)); status != 404 {
		t.Errorf("an unknown admin path: %d", status)
	}
}

func TestManyCallersAtOnce(t *testing.T) {
	s, url := newCloud(t, Config{StateFile: filepath.Join(t.TempDir(), "cloud.json")})
	var wg sync.WaitGroup
	made := make([]int, 16)
	for i := range made {
		wg.Go(func() {
			k := newClients(t, url, plainKey, region)
			for n := range 4 {
				if _, err := k.role(func(in *iam.CreateRoleInput) { in.RoleName = aws.String(fmt.Sprint("same-", n)) }); err == nil {
					made[i]++
				}
				s.State()
				s.Log()
			}
		})
	}
	wg.Wait()
	total := 0
	for _, n := range made {
		total += n
	}
	if total != 4 || len(s.State().Roles) != 4 || len(s.Log()) != 64 {
		t.Errorf("%d creates succeeded and %d roles are there, want 4; %d requests", total, len(s.State().Roles), len(s.Log()))
	}
}

// TestNoParamBringsAnOperationDown sends every operation params of every wrong type, under every name that any of them reads.
func TestNoParamBringsAnOperationDown(t *testing.T) {
	names := []string{"RoleName", "PolicyName", "PolicyArn", "PolicyDocument", "AssumeRolePolicyDocument", "Tags", "TagKeys", "MaxItems", "Marker",
		"Description", "PermissionsBoundary", "InstanceProfileName", "logGroupName", "logGroupIdentifier", "logGroupIdentifiers", "resourceArn",
		"resourceIdentifier", "tags", "tagKeys", "limit", "nextToken", "kmsKeyId", "retentionInDays", "policyDocument", "logStreamName", "logEvents",
		"deletionProtectionEnabled", "Name", "Rule", "EventBusName", "EventPattern", "ScheduleExpression", "RoleArn", "State", "Targets", "Ids",
		"ResourceARN", "TargetArn", "NextToken", "Limit", "Force", "apiId", "name", "protocolType", "corsConfiguration", "maxResults", "description"}
	for _, junk := range []any{nil, "", "x", 7, true, []any{}, []any{nil, 1}, map[string]any{}, map[string]any{"a": nil, "b": []any{1}}} {
		params := map[string]any{}
		for _, n := range names {
			params[n] = junk
		}
		s, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		for service, table := range operations {
			for op := range table {
				s.Do(Action{Service: service, Op: op, Params: params}) //nolint:errcheck // it must only return
			}
		}
	}
}
