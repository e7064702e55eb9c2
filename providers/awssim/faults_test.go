package awssim

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/google/go-cmp/cmp"
)

// end is how a faulty create ended: what the client saw, and what the cloud's log and state say of it.
type end struct {
	Seen     refusal
	Outcome  string
	Executed bool
	Answered bool
	Roles    int
}

func TestEachFaultEndsACreateAsItSays(t *testing.T) {
	noAnswer := refusal{Code: "no answer"}
	cases := map[FaultKind]struct {
		fault Fault
		want  end
	}{
		ExecutedUnanswered:    {Fault{}, end{noAnswer, "ok", true, false, 1}},
		NotExecutedUnanswered: {Fault{}, end{noAnswer, "", false, false, 0}},
		ExecutedLate:          {Fault{Delay: time.Hour}, end{noAnswer, "", false, false, 0}},
		AnsweredLate:          {Fault{Delay: time.Millisecond}, end{refusal{}, "ok", true, true, 1}},
		Refused:               {Fault{Code: "ConcurrentModification"}, end{refusal{"ConcurrentModification", 409}, "ConcurrentModification", false, true, 0}},
		ErrorAfterExecute:     {Fault{}, end{refusal{"InternalFailure", 500}, "ok", true, true, 1}},
		Throttled:             {Fault{}, end{refusal{"Throttling", 400}, "Throttling", false, true, 0}},
		Denied:                {Fault{}, end{refusal{"AccessDenied", 403}, "AccessDenied", false, true, 0}},
		Expired:               {Fault{}, end{refusal{"ExpiredToken", 403}, "ExpiredToken", false, true, 0}},
		Malformed:             {Fault{}, end{refusal{"no answer", 200}, "ok", true, true, 1}},
		Lag:                   {Fault{Delay: time.Hour}, end{refusal{}, "ok", true, true, 1}},
	}
	for _, kind := range FaultKinds() {
		c, ok := cases[kind]
		if !ok {
			t.Errorf("no case for %s", kind)
			continue
		}
		t.Run(string(kind), func(t *testing.T) {
			s, url := newCloud(t, Config{})
			k := newClients(t, url, plainKey, region)
			c.fault.Kind, c.fault.Operation = kind, "CreateRole"
			s.AddFault(c.fault)
			_, err := k.role(nil)
			r := s.Log()[0]
			got := end{refusalOf(err), r.Outcome, r.Executed, r.Answered, len(s.State().Roles)}
			if got.Seen.Status == 200 {
				got.Seen.Code = "no answer" // an undecodable answer has no code of the service's
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if _, err := k.role(nil); err != nil {
				t.Errorf("the fault hits once, but the next create fails too: %v", err)
			}
		})
	}
}

func TestEachServiceHasItsOwnCodesForCommonFaults(t *testing.T) {
	calls := map[string]func(clients) error{
		"iam":    func(k clients) error { _, err := k.iam.ListRoles(k.ctx, &iam.ListRolesInput{}); return err },
		"logs":   func(k clients) error { _, err := k.describe("x"); return err },
		"events": func(k clients) error { _, err := k.events.ListRules(k.ctx, &eventbridge.ListRulesInput{}); return err },
		"apigateway": func(k clients) error {
			_, err := k.apis.GetApis(k.ctx, &apigatewayv2.GetApisInput{})
			return err
		},
	}
	calls["lambda"] = func(k clients) error { _, err := k.fns.ListFunctions(k.ctx, &lambda.ListFunctionsInput{}); return err }
	want := map[string]map[FaultKind]refusal{
		"lambda": {Throttled: {"TooManyRequestsException", 429}, Denied: {"AccessDeniedException", 403}, Expired: {"ExpiredTokenException", 403},
			Refused: {"ServiceException", 500}},
		"iam": {Throttled: {"Throttling", 400}, Denied: {"AccessDenied", 403}, Expired: {"ExpiredToken", 403}, Refused: {"InternalFailure", 500}},
		"events": {Throttled: {"ThrottlingException", 400}, Denied: {"AccessDeniedException", 400}, Expired: {"ExpiredTokenException", 400},
			Refused: {"InternalException", 500}},
		"logs": {Throttled: {"ThrottlingException", 400}, Denied: {"AccessDeniedException", 400}, Expired: {"ExpiredTokenException", 400},
			Refused: {"InternalFailure", 500}},
		"apigateway": {Throttled: {"TooManyRequestsException", 429}, Denied: {"AccessDeniedException", 403}, Expired: {"ExpiredTokenException", 403},
			Refused: {"InternalServerErrorException", 500}},
	}
	s, url := newCloud(t, Config{})
	k := newClients(t, url, plainKey, region)
	for service, call := range calls {
		for kind, refuse := range want[service] {
			s.AddFault(Fault{Service: service, Operation: "*", Kind: kind})
			if diff := cmp.Diff(refuse, refusalOf(call(k))); diff != "" {
				t.Errorf("%s %s: %s", service, kind, diff)
			}
		}
	}
}

func TestALateRequestIsExecutedAfterItsDelayOrAtTheEnd(t *testing.T) {
	s, url := newCloud(t, Config{Scale: 0.001})
	k := newClients(t, url, plainKey, region)
	s.AddFault(Fault{Operation: "CreateRole", Kind: ExecutedLate, Delay: 20 * time.Second}) // 20 ms
	if _, err := k.role(nil); err == nil {
		t.Fatal("an answer came")
	}
	for deadline := time.Now().Add(10 * time.Second); len(s.State().Roles) == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never executed")
		}
	}
	if r := s.Log()[0]; r.Outcome != "ok" || !r.Executed || r.Answered {
		t.Errorf("log says %+v", r)
	}

	s.AddFault(Fault{Operation: "CreateRole", Kind: ExecutedLate, Delay: 24 * time.Hour})
	k.role(nil) //nolint:errcheck // not answered
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(s.State().Roles); n != 2 {
		t.Errorf("%d roles after Close, want 2", n)
	}
}

func TestAResetForgetsWhatIsStillHeldBack(t *testing.T) {
	s, url := newCloud(t, Config{})
	k := newClients(t, url, plainKey, region)
	s.AddFault(Fault{Operation: "CreateRole", Kind: ExecutedLate, Delay: time.Hour})
	k.role(nil) //nolint:errcheck // not answered
	s.Reset()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if st := s.State(); len(st.Roles) != 0 || len(s.Log()) != 0 || st.ID != s.ID() {
		t.Errorf("after a reset: %+v, log %v", st, s.Log())
	}
}

// S12: absence inside the window is "not visible yet".
func TestReadsDoNotSeeAnObjectInsideTheWindowButTheNameIsTaken(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	s, url := newCloud(t, Config{Now: clock})
	k := newClients(t, url, plainKey, region)
	for _, op := range []string{"CreateRole", "CreateLogGroup", "CreateApi"} {
		s.AddFault(Fault{Operation: op, Kind: Lag, Delay: time.Minute, Times: -1})
	}
	role, err := k.role(nil)
	if err != nil {
		t.Fatal(err)
	}
	group, err := k.group(nil)
	if err != nil {
		t.Fatal(err)
	}
	api, err := k.api(nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := func() []any {
		_, byName := k.iam.GetRole(k.ctx, &iam.GetRoleInput{RoleName: &role})
		roles, _ := k.iam.ListRoles(k.ctx, &iam.ListRolesInput{})
		g, _ := k.describe(group)
		_, tags := k.logs.ListTagsForResource(k.ctx, &cloudwatchlogs.ListTagsForResourceInput{ResourceArn: groupARN(group)})
		_, byID := k.apis.GetApi(k.ctx, &apigatewayv2.GetApiInput{ApiId: api.ApiId})
		apis, _ := k.apis.GetApis(k.ctx, &apigatewayv2.GetApisInput{})
		return []any{refusalOf(byName).Code, len(roles.Roles), g != nil, refusalOf(tags).Code, refusalOf(byID).Code, len(apis.Items)}
	}
	if diff := cmp.Diff([]any{"NoSuchEntity", 0, false, "ResourceNotFoundException", "NotFoundException", 0}, seen()); diff != "" {
		t.Errorf("inside the window: %s", diff)
	}
	if _, err := k.role(func(in *iam.CreateRoleInput) { in.RoleName = &role }); refusalOf(err) != exists {
		t.Errorf("the name is not taken inside the window: %v", err)
	}
	if _, err := k.iam.TagRole(k.ctx, &iam.TagRoleInput{RoleName: &role, Tags: tags("k", "v")}); err != nil {
		t.Errorf("a change inside the window: %v", err)
	}
	now = now.Add(time.Minute)
	if diff := cmp.Diff([]any{"", 1, true, "", "", 1}, seen()); diff != "" {
		t.Errorf("after the window: %s", diff)
	}
	s.AddFault(Fault{Operation: "GetRole", Kind: Lag, Delay: time.Hour})
	if _, err := k.iam.GetRole(k.ctx, &iam.GetRoleInput{RoleName: &role}); refusalOf(err) != noEntity {
		t.Errorf("a lag on a read hides what is younger: %v", err)
	}
}

func TestAConfiguredLagHoldsForEveryCreateOfItsService(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	_, url := newCloud(t, Config{Now: func() time.Time { return now }, Lag: map[string]time.Duration{"iam": time.Minute}, Scale: 0.5})
	k := newClients(t, url, plainKey, region)
	role, err := k.role(nil)
	if err != nil {
		t.Fatal(err)
	}
	group, err := k.group(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.iam.GetRole(k.ctx, &iam.GetRoleInput{RoleName: &role}); refusalOf(err) != noEntity {
		t.Errorf("the role is seen at once: %v", err)
	}
	if g, err := k.describe(group); g == nil {
		t.Errorf("the lag of IAM hides a log group: %v", err)
	}
	now = now.Add(30 * time.Second) // a minute, scaled by a half
	if _, err := k.iam.GetRole(k.ctx, &iam.GetRoleInput{RoleName: &role}); err != nil {
		t.Error(err)
	}
}

func TestAFaultPicksItsRequests(t *testing.T) {
	s, url := newCloud(t, Config{})
	k := newClients(t, url, plainKey, region)
	named := func(name string) error {
		_, err := k.role(func(in *iam.CreateRoleInput) { in.RoleName = &name })
		return err
	}
	s.AddFault(Fault{Operation: "CreateRole", Target: "orders-*", Kind: Refused, Skip: 1, Times: 2})
	var got []bool
	for _, name := range []string{"other", "orders-1", "orders-2", "orders-3", "orders-4"} {
		got = append(got, named(name) == nil)
	}
	if diff := cmp.Diff([]bool{true, true, false, false, true}, got); diff != "" {
		t.Errorf("skip one, then two of the pattern: %s", diff)
	}
	api, err := k.api(func(in *apigatewayv2.CreateApiInput) { in.Name = aws.String("orders") })
	if err != nil {
		t.Fatal(err)
	}
	s.AddFault(Fault{Operation: "DeleteApi", Target: "orders", Kind: Denied, Times: -1})
	for range 2 {
		if _, err := k.apis.DeleteApi(k.ctx, &apigatewayv2.DeleteApiInput{ApiId: api.ApiId}); refusalOf(err).Code != "AccessDeniedException" {
			t.Errorf("an API's name picks it too: %v", err)
		}
	}
	s.ClearFaults()
	if _, err := k.apis.DeleteApi(k.ctx, &apigatewayv2.DeleteApiInput{ApiId: api.ApiId}); err != nil {
		t.Errorf("after ClearFaults: %v", err)
	}
}

// S5, strike b: a stranger takes the name between the look and the create.
func TestAStrangerActsJustBeforeARequest(t *testing.T) {
	s, url := newCloud(t, Config{})
	k := newClients(t, url, plainKey, region)
	s.AddFault(Fault{Operation: "CreateLogGroup", Target: "/app", Then: []Action{{Op: "CreateLogGroup",
		Params: map[string]any{"logGroupName": "/app"}, Tags: map[string]string{"aws:cloudformation:stack-name": "theirs"}}}})
	_, err := k.group(func(in *cloudwatchlogs.CreateLogGroupInput) { in.LogGroupName = aws.String("/app") })
	if refusalOf(err) != groupExists {
		t.Errorf("the stranger was not first: %v", err)
	}
	groups := s.State().LogGroups
	if len(groups) != 1 || groups[0].MadeBy != 0 || groups[0].Tags["aws:cloudformation:stack-name"] != "theirs" {
		t.Errorf("state: %+v", groups)
	}
	if log := s.Log(); len(log) != 1 || log[0].Executed || log[0].Outcome != groupExists.Code {
		t.Errorf("a stranger stands in the state, not in the log: %+v", log)
	}
}

func TestAStrangerMayDoWhatCallersMayNot(t *testing.T) {
	s, url := newCloud(t, Config{})
	k := newClients(t, url, plainKey, region)
	for _, a := range []Action{
		{Op: "CreateRole", Params: map[string]any{"roleName": "svc", "assumeRolePolicyDocument": trustJSON, "path": "/aws-service-role/x/"},
			Tags: map[string]string{"aws:cloudformation:stack-id": "x"}},
		{Op: "CreateApi", Region: "us-east-1", Params: map[string]any{"Name": "a", "protocolType": "HTTP"}, Tags: map[string]string{"aws:x": "y"}},
		{Op: "CreateLogGroup", Account: "999999999999", Params: map[string]any{"logGroupName": "g"}},
	} {
		if err := s.Do(a); err != nil {
			t.Fatal(err)
		}
	}
	st := s.State()
	got := []any{st.Roles[0].Tags, st.Apis[0].Tags, st.Apis[0].Region, st.LogGroups[0].Account}
	want := []any{map[string]string{"aws:cloudformation:stack-id": "x"}, map[string]string{"aws:x": "y"}, "us-east-1", "999999999999"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := k.iam.DeleteRole(k.ctx, &iam.DeleteRoleInput{RoleName: aws.String("svc")}); refusalOf(err) != (refusal{"UnmodifiableEntity", 400}) {
		t.Errorf("a caller deletes a service-linked role: %v", err)
	}
	if _, err := k.iam.UntagRole(k.ctx, &iam.UntagRoleInput{RoleName: aws.String("svc"), TagKeys: []string{"aws:cloudformation:stack-id"}}); err == nil {
		t.Error("a caller removes a service's tag")
	}
	for name, a := range map[string]Action{
		"unknown":   {Op: "Explode"},
		"ambiguous": {Op: "TagResource"},
		"refused":   {Op: "DeleteLogGroup", Params: map[string]any{"logGroupName": "none"}},
		"empty":     {Op: "DeleteApi"},
	} {
		if err := s.Do(a); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestAnAbsentClientIsLoggedAsUnanswered(t *testing.T) {
	s, url := newCloud(t, Config{})
	k := newClients(t, url, plainKey, region)
	s.AddFault(Fault{Operation: "CreateRole", Kind: AnsweredLate, Delay: time.Hour})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for len(s.State().Roles) == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	k.ctx = ctx
	if _, err := k.role(nil); err == nil {
		t.Fatal("an answer came")
	}
	for deadline := time.Now().Add(10 * time.Second); s.Log()[0].Answered; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("logged as answered")
		}
	}
	if r := s.Log()[0]; !r.Executed || r.Outcome != "ok" {
		t.Errorf("log: %+v", r)
	}
}

func TestAFaultReadsItsDelayAsTextOrNanoseconds(t *testing.T) {
	for text, want := range map[string]time.Duration{`"3s"`: 3 * time.Second, `1000`: time.Microsecond} {
		var f Fault
		if err := json.Unmarshal([]byte(`{"operation":"*","kind":"lag","delay":`+text+`}`), &f); err != nil || f.Delay != want || f.Kind != Lag {
			t.Errorf("%s: %+v, %v", text, f, err)
		}
	}
	for _, bad := range []string{`{"operation":"*","kind":"explode"}`, `{"operation":"*","delay":"soon"}`} {
		if err := json.Unmarshal([]byte(bad), &Fault{}); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}
