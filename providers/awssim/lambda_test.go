package awssim

import (
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
)

// A service may call a function only as its policy says.
func TestAServiceMayInvokeWhatThePolicySays(t *testing.T) {
	s, url := newCloud(t, Config{Scale: claimScale})
	k := newClients(t, url, plainKey, region)
	out, err := k.function(func(in *lambda.CreateFunctionInput) { in.FunctionName = aws.String("orders") })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.settled(out.FunctionName); err != nil {
		t.Fatal(err)
	}
	const gateway, events = "apigateway.amazonaws.com", "events.amazonaws.com"
	const api, rule = "arn:aws:execute-api:eu-west-1:123456789012:a1b2/", "arn:aws:events:eu-west-1:123456789012:rule/"
	if s.MayInvoke("orders", gateway, api+"$default/GET/orders") {
		t.Error("without a policy it may be invoked")
	}
	for sid, edit := range map[string]func(*lambda.AddPermissionInput){
		"gateway": func(in *lambda.AddPermissionInput) {
			in.Principal, in.SourceArn = aws.String(gateway), aws.String(api+"*/*/orders")
		},
		"tick": func(in *lambda.AddPermissionInput) {
			in.SourceArn, in.SourceAccount = aws.String(rule+"tic?"), aws.String(account)
		},
		"other": func(in *lambda.AddPermissionInput) {
			in.SourceArn, in.SourceAccount = aws.String(rule+"foreign"), aws.String("999988887777")
		},
		"read": func(in *lambda.AddPermissionInput) { in.Action = aws.String("lambda:GetFunction") },
		"token": func(in *lambda.AddPermissionInput) {
			in.Principal, in.EventSourceToken = aws.String("alexa-appkit.amazon.com.amazonaws.com"), aws.String("t")
		},
	} {
		err := allow(k, out.FunctionName, func(in *lambda.AddPermissionInput) { edit(in); in.StatementId = &sid })
		if err != nil {
			t.Fatalf("%s: %v", sid, err)
		}
	}
	for why, c := range map[string]struct {
		function, principal, source string
		may                         bool
	}{
		"a source that the pattern matches":          {"orders", gateway, api + "$default/GET/orders", true},
		"the function by its ARN":                    {*out.FunctionArn, gateway, api + "prod/POST/orders", true},
		"a question mark is one character":           {"orders", events, rule + "tick", true},
		"and not two":                                {"orders", events, rule + "tickk", false},
		"another path":                               {"orders", gateway, api + "$default/GET/carts", false},
		"another API":                                {"orders", gateway, "arn:aws:execute-api:eu-west-1:123456789012:zzzz/x/GET/orders", false},
		"a star does not reach over a colon":         {"orders", gateway, "arn:aws:execute-api:eu-west-1:999988887777:a1b2/x/GET/orders", false},
		"another service with the source of the one": {"orders", "s3.amazonaws.com", rule + "tick", false},
		"a source in another account than is said":   {"orders", events, rule + "foreign", false},
		"a token that nobody sent":                   {"orders", "alexa-appkit.amazon.com.amazonaws.com", "arn:aws:x:::y", false},
		"no source":                                  {"orders", events, "", false},
		"another function":                           {"carts", gateway, api + "$default/GET/orders", false},
		"a function of another region":               {"arn:aws:lambda:us-east-2:123456789012:function:orders", gateway, api + "$default/GET/orders", false},
		"a version":                                  {"orders:1", gateway, api + "$default/GET/orders", false},
		"what names no function":                     {"arn:aws:s3:::b", gateway, api + "$default/GET/orders", false},
	} {
		t.Run(why, func(t *testing.T) {
			if got := s.MayInvoke(c.function, c.principal, c.source); got != c.may {
				t.Errorf("may %v, want %v", got, c.may)
			}
		})
	}
}

// A role that is deleted after its function was made does not keep the function from running; it only writes no logs.
func TestAFunctionOutlivesItsRole(t *testing.T) {
	s, url := newCloud(t, Config{Scale: claimScale})
	k := newClients(t, url, plainKey, region)
	out, err := k.function(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.settled(out.FunctionName); err != nil {
		t.Fatal(err)
	}
	if err := s.Do(Action{Op: "DeleteRole", Params: map[string]any{"RoleName": s.State().Roles[0].Name}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Do(Action{Op: "Invoke", Params: map[string]any{"FunctionName": *out.FunctionName}}); err != nil {
		t.Errorf("invoke: %v", err)
	}
	if st := s.State(); st.Functions[0].Invoked != 1 || len(st.LogGroups) != 0 {
		t.Errorf("invoked %d times, %d log groups; want one and none", st.Functions[0].Invoked, len(st.LogGroups))
	}
	if _, err := k.fns.UpdateFunctionConfiguration(k.ctx, &lambda.UpdateFunctionConfigurationInput{FunctionName: out.FunctionName, Timeout: aws.Int32(4)}); err != nil {
		t.Errorf("update of something else than the role: %v", err)
	}
}

// Everything of a function is in the state file.
func TestAFunctionOutlivesTheServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	s, url := newCloud(t, Config{Scale: claimScale, StateFile: file})
	k := newClients(t, url, plainKey, region)
	out, err := k.function(func(in *lambda.CreateFunctionInput) { in.Tags = map[string]string{"a": "1"} })
	if err == nil {
		if _, err = k.settled(out.FunctionName); err == nil {
			err = allow(k, out.FunctionName, nil)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, _ := newCloud(t, Config{StateFile: file})
	if !again.MayInvoke(*out.FunctionArn, "events.amazonaws.com", "arn:aws:events:eu-west-1:123456789012:rule/any") {
		t.Error("the policy is gone")
	}
	if f := again.State().Functions[0]; f.Tags["a"] != "1" || f.CodeSha256 != *out.CodeSha256 || f.Handler != "index.handler" {
		t.Errorf("read back %+v", f)
	}
}
