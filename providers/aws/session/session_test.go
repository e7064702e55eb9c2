package session_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/resource"
	"reclaim/providers/aws/session"
)

// env makes the environment the test's own: nothing of this machine's AWS configuration is read.
func env(t *testing.T, more map[string]string) {
	t.Helper()
	all := map[string]string{
		"AWS_REGION": "eu-north-1", "AWS_DEFAULT_REGION": "", "AWS_ACCESS_KEY_ID": "AKIDONE", "AWS_SECRET_ACCESS_KEY": "x", "AWS_SESSION_TOKEN": "",
		"AWS_PROFILE": "", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true", "AWS_ENDPOINT_URL": "",
		"AWS_CA_BUNDLE": "", // with one, the SDK brings an HTTP client of its own
	}
	for name, text := range more {
		all[name] = text
	}
	for name, text := range all {
		t.Setenv(name, text)
		if text == "" {
			os.Unsetenv(name)
		}
	}
}

func open(t *testing.T, c session.Config) *session.Session {
	t.Helper()
	s, err := session.Open(t.Context(), c)
	if err != nil {
		t.Fatalf("open session: %v", err)
	}
	return s
}

// callers answers GetCallerIdentity and counts how often it was asked.
func callers(t *testing.T, account, arn string, header http.Header) (url string, asked *atomic.Int32) {
	t.Helper()
	asked = new(atomic.Int32)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		for name := range header {
			w.Header().Set(name, header.Get(name))
		}
		fmt.Fprintf(w, `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
			<Arn>%s</Arn><UserId>AIDA</UserId><Account>%s</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`, arn, account)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, asked
}

func TestOpenSaysWhatIsMissing(t *testing.T) {
	for why, c := range map[string]struct {
		env    map[string]string
		config session.Config
		names  []string
	}{
		"without a region it names flag and variable":           {map[string]string{"AWS_REGION": ""}, session.Config{}, []string{"--region", "AWS_REGION"}},
		"without the profile it names the profile and the flag": {nil, session.Config{Profile: "ops"}, []string{"ops", "--profile", "AWS_PROFILE"}},
	} {
		t.Run(why, func(t *testing.T) {
			env(t, c.env)
			_, err := session.Open(t.Context(), c.config)
			if err == nil {
				t.Fatal("it was opened")
			}
			for _, name := range c.names {
				if !strings.Contains(err.Error(), name) {
					t.Errorf("%q does not name %s", err, name)
				}
			}
		})
	}
}

func TestVerifyWithoutCredentialsSaysHowToGiveThem(t *testing.T) {
	env(t, map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""})
	_, err := open(t, session.Config{}).Verify(t.Context())
	if err == nil || !strings.Contains(err.Error(), "--profile") || !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") {
		t.Errorf("verify: %v, want the flag and the variables", err)
	}
}

// A sign-in that ended is told with the command that renews it; nothing was sent.
func TestVerifyWithEndedSignInNamesTheLogin(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "config")
	if err := os.WriteFile(path, []byte(`[profile ops]
sso_session = corp
sso_account_id = 111122223333
sso_role_name = Deploy
region = eu-north-1
[sso-session corp]
sso_start_url = https://corp.example/start
sso_region = eu-north-1
`), 0o600); err != nil {
		t.Fatal(err)
	}
	env(t, map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_CONFIG_FILE": path, "HOME": home})
	_, err := open(t, session.Config{Profile: "ops"}).Verify(t.Context())
	if !resource.Is(err, resource.Expired) || !resource.DefinitelyNotExecuted(err) || !strings.Contains(err.Error(), "aws sso login --profile ops") {
		t.Errorf("verify: %v, want expired credentials and the login command", err)
	}
}

// S1
func TestVerifyReturnsTheScopeThatCallsGoTo(t *testing.T) {
	for why, c := range map[string]struct {
		arn    string
		header http.Header
		want   func(host string) resource.Scope
	}{
		"an emulator is named by host and port": {
			"arn:aws:sts::444455556666:assumed-role/Deploy/me", nil,
			func(host string) resource.Scope {
				return resource.Scope{Partition: "aws", Account: "444455556666", Region: "eu-north-1", Endpoint: host}
			},
		},
		"a simulated cloud is named by its stable ID": {
			"arn:aws-cn:iam::444455556666:user/me", http.Header{session.SimHeader: {"blue-7"}},
			func(string) resource.Scope {
				return resource.Scope{Partition: "aws-cn", Account: "444455556666", Region: "eu-north-1", Endpoint: "sim-blue-7"}
			},
		},
		"an ID that could not stand in a key is not taken": {
			"arn:aws:iam::444455556666:user/me", http.Header{session.SimHeader: {"blue/7@x"}},
			func(host string) resource.Scope {
				return resource.Scope{Partition: "aws", Account: "444455556666", Region: "eu-north-1", Endpoint: host}
			},
		},
	} {
		t.Run(why, func(t *testing.T) {
			url, _ := callers(t, "444455556666", c.arn, c.header)
			env(t, map[string]string{"AWS_ENDPOINT_URL": url})
			got, err := open(t, session.Config{}).Verify(t.Context())
			if err != nil {
				t.Fatalf("verify: %v", err)
			}
			if d := cmp.Diff(c.want(strings.TrimPrefix(url, "http://")), got); d != "" {
				t.Errorf("scope (-want +got):\n%s", d)
			}
		})
	}
}

func TestVerifyTakesTheRegionOfTheFlag(t *testing.T) {
	url, _ := callers(t, "444455556666", "arn:aws:iam::444455556666:user/me", nil)
	env(t, map[string]string{"AWS_ENDPOINT_URL": url})
	got, err := open(t, session.Config{Region: "ap-south-1"}).Verify(t.Context())
	if err != nil || got.Region != "ap-south-1" {
		t.Errorf("region %q, %v; want the flag's", got.Region, err)
	}
}

// S2: an answer that does not say who the caller is verifies nothing.
func TestVerifyRefusesAnAnswerThatContradictsItself(t *testing.T) {
	for why, arn := range map[string]string{
		"another account in the ARN": "arn:aws:iam::999999999999:user/me",
		"no ARN":                     "",
	} {
		t.Run(why, func(t *testing.T) {
			url, _ := callers(t, "444455556666", arn, nil)
			env(t, map[string]string{"AWS_ENDPOINT_URL": url})
			if got, err := open(t, session.Config{}).Verify(t.Context()); !resource.Is(err, resource.ReadInvalid) {
				t.Errorf("verify: %v, %v; want read invalid", got, err)
			}
		})
	}
}

// S2: the caller is asked for again when, and only when, the credentials are others.
func TestVerifyAsksAgainAfterARefresh(t *testing.T) {
	url, asked := callers(t, "444455556666", "arn:aws:iam::444455556666:user/me", nil)
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	script := filepath.Join(dir, "creds")
	// A credential process whose credentials are always about to expire: the SDK runs it for each request.
	if err := os.WriteFile(script, []byte(`#!/bin/sh
printf '{"Version":1,"AccessKeyId":"AKIDONE","SecretAccessKey":"x","SessionToken":"%s","Expiration":"2001-01-01T00:00:00Z"}' "$(cat `+token+`)"
`), 0o700); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "config")
	if err := os.WriteFile(config, []byte("[default]\ncredential_process = "+script+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env(t, map[string]string{"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_CONFIG_FILE": config})
	s := open(t, session.Config{})
	for _, step := range []struct {
		why, token string
		want       int32
	}{
		{"the first look asks", "one", 1},
		{"the same credentials are not asked for again", "one", 1},
		{"another session token is asked for", "two", 2},
	} {
		if err := os.WriteFile(token, []byte(step.token), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Verify(t.Context()); err != nil {
			t.Fatalf("%s: %v", step.why, err)
		}
		if asked.Load() != step.want {
			t.Errorf("%s: asked %d times, want %d", step.why, asked.Load(), step.want)
		}
	}
}

// S2: one caller identity cannot verify services that go to two places.
func TestVerifyRefusesServicesAtTwoPlaces(t *testing.T) {
	url, asked := callers(t, "444455556666", "arn:aws:iam::444455556666:user/me", nil)
	env(t, map[string]string{"AWS_ENDPOINT_URL": url})
	s := open(t, session.Config{})
	elsewhere := "http://127.0.0.1:1"
	s.Service("CloudWatch Logs", &elsewhere, nil)
	if _, err := s.Verify(t.Context()); err == nil || !strings.Contains(err.Error(), "CloudWatch Logs") || !strings.Contains(err.Error(), "AWS_ENDPOINT_URL") {
		t.Errorf("verify: %v, want the service and the variable named", err)
	}
	if asked.Load() != 0 {
		t.Error("STS was asked all the same")
	}
}

func TestVerifyEndsWithItsContext(t *testing.T) {
	url, _ := callers(t, "444455556666", "arn:aws:iam::444455556666:user/me", nil)
	env(t, map[string]string{"AWS_ENDPOINT_URL": url})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open(t, session.Config{}).Verify(ctx); !resource.Interrupted(err) {
		t.Errorf("verify: %v, want the end of our own context", err)
	}
}
