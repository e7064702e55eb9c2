package session

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/logincreds"
	"github.com/aws/aws-sdk-go-v2/credentials/ssocreds"

	"reclaim/engine/resource"
)

// credentials wraps the SDK's chain, so that a failure of it can be told from every other error of a call.
type credentials struct {
	next    aws.CredentialsProvider
	profile string // as far as it is known: only messages need it
	signIn  string // the command that signs in, when the profile is one for people: "aws sso login"

	mu     sync.Mutex
	source string // provider that gave the last credentials; "" before the first
}

func newCredentials(c Config, cfg aws.Config) *credentials {
	out := &credentials{next: cfg.Credentials, profile: c.Profile}
	for _, src := range cfg.ConfigSources {
		switch src := src.(type) {
		case config.EnvConfig:
			out.profile = cmp.Or(out.profile, src.SharedConfigProfile)
		case config.SharedConfig:
			out.profile = cmp.Or(out.profile, src.Profile)
			switch {
			case src.SSOSessionName != "" || src.SSOStartURL != "":
				out.signIn = "aws sso login"
			case src.LoginSession != "":
				out.signIn = "aws login"
			}
		}
	}
	return out
}

// credentialsError is a failure to get credentials: nothing was sent.
type credentialsError struct{ err error }

func (e *credentialsError) Error() string { return "get credentials: " + e.err.Error() }
func (e *credentialsError) Unwrap() error { return e.err }

// Retrieve implements aws.CredentialsProvider.
func (c *credentials) Retrieve(ctx context.Context) (aws.Credentials, error) {
	creds, err := c.next.Retrieve(ctx)
	if err != nil {
		return creds, &credentialsError{err}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.source = creds.Source
	return creds, nil
}

// explain turns a failed Retrieve into what the operator can do. Credentials that were there before, and a sign-in
// that ended or was never made, are Expired; never having had any is a matter of configuration.
func (c *credentials) explain(err error) error {
	if resource.Interrupted(err) {
		return err
	}
	c.mu.Lock()
	had := c.source != ""
	c.mu.Unlock()
	if had || c.signIn != "" {
		return &resource.Error{Kind: resource.Expired, Executed: resource.No, Err: fmt.Errorf("%w; next: %s", err, c.renew())}
	}
	return fmt.Errorf("no AWS credentials: give --profile, set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run %q: %w",
		"aws configure", err)
}

// renew names the command, or the act, that renews the credentials.
func (c *credentials) renew() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	signIn := c.signIn
	switch c.source {
	case ssocreds.ProviderName:
		signIn = "aws sso login"
	case logincreds.ProviderName:
		signIn = "aws login"
	case "":
	default:
		signIn = "" // the profile's sign-in is not what gave them
	}
	switch {
	case signIn != "" && c.profile != "":
		return signIn + " --profile " + c.profile
	case signIn != "":
		return signIn
	case c.profile != "":
		return "renew the credentials of profile " + c.profile
	default:
		return "renew the credentials (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN)"
	}
}
