// Package session opens AWS for the providers: configuration, verified scope, and one way to send a call.
//
// Its one rule: every call says what is certain. Whether the request left this machine, and whether the service carried
// it out, is decided here, from the wire and by code, and never from the text of a message.
package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"

	"reclaim/engine/resource"
)

// SimHeader is how a simulated cloud names itself, so that its scope stays the same when its port changes.
const SimHeader = "X-Reclaim-Sim"

// simID is what a simulated cloud may call itself: its name becomes part of keys and of what is shown.
var simID = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// Config selects where calls go. Empty fields leave it to the SDK's own chain (environment, shared files).
type Config struct {
	Region  string // --region
	Profile string // --profile
}

// Session is AWS's configuration, opened. It is safe for use by several goroutines.
type Session struct {
	cfg   aws.Config
	creds *credentials
	sts   *sts.Client
	code  *Service

	mu        sync.Mutex
	endpoints map[string]string // service name to the host of its endpoint, "" when it is AWS's own
	verified  resource.Scope
	key       string // credentials that verified was asked with; "" for none yet
}

// Open reads the configuration. It calls no service; Verify does.
func Open(ctx context.Context, c Config) (*Session, error) {
	var opts []func(*config.LoadOptions) error
	if c.Region != "" {
		opts = append(opts, config.WithRegion(c.Region))
	}
	if c.Profile != "" {
		opts = append(opts, config.WithSharedConfigProfile(c.Profile))
	}
	cfg, err := config.LoadDefaultConfig(ctx, opts...)
	if missing, ok := errors.AsType[config.SharedConfigProfileNotExistError](err); ok {
		return nil, fmt.Errorf("read AWS configuration: %w; give an existing one with --profile or AWS_PROFILE", missing)
	}
	if err != nil {
		return nil, fmt.Errorf("read AWS configuration: %w", err)
	}
	if cfg.Region == "" {
		return nil, errors.New("no AWS region: give --region, set AWS_REGION, or set region in the profile (aws configure)")
	}
	cfg.Logger = logging.Nop{} // the SDK's would write warnings to the terminal, raw, beside what is shown there
	s := &Session{cfg: cfg, endpoints: map[string]string{}}
	s.creds = newCredentials(c, cfg)
	s.cfg.Credentials = s.creds
	next := cfg.HTTPClient
	if next == nil { // set only where the environment asks for one of its own, such as AWS_CA_BUNDLE
		next = awshttp.NewBuildableClient()
	}
	s.cfg.HTTPClient = &client{next: next}
	s.sts = sts.NewFromConfig(s.cfg)
	s.code = s.Service("STS", s.sts.Options().BaseEndpoint, nil)
	return s, nil
}

// AWS returns the configuration that service clients are made from.
func (s *Session) AWS() aws.Config { return s.cfg }

// Region returns the region calls go to.
func (s *Session) Region() string { return s.cfg.Region }

// Service registers a service's endpoint, for Verify, and its error codes, for Call. endpoint is the client's
// Options().BaseEndpoint.
func (s *Session) Service(name string, endpoint *string, codes map[string]resource.Kind) *Service {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoints[name] = customHost(endpoint)
	return &Service{codes: codes, renew: s.creds.renew}
}

// Verify returns the scope that calls go to now. It asks STS, and asks again after each refresh of the credentials
// (SAFETY S2).
func (s *Session) Verify(ctx context.Context) (resource.Scope, error) {
	creds, err := s.creds.Retrieve(ctx)
	if err != nil {
		return resource.Scope{}, s.creds.explain(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := creds.AccessKeyID + "\x00" + creds.SessionToken
	host, err := oneHost(s.endpoints)
	if err != nil {
		return resource.Scope{}, err
	}
	if s.key != key {
		scope, err := s.ask(ctx, host)
		if err != nil {
			return resource.Scope{}, err
		}
		s.key, s.verified = key, scope
	}
	return s.verified, nil
}

// Verified returns the scope that was verified last, without asking; false before the first time.
func (s *Session) Verified() (resource.Scope, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.verified, s.key != ""
}

// Expires returns when the credentials at hand run out; false when they do not say, or there are none.
func (s *Session) Expires(ctx context.Context) (time.Time, bool) {
	creds, err := s.creds.Retrieve(ctx)
	return creds.Expires, err == nil && creds.CanExpire
}

// Renew names the command, or the act, that renews the credentials.
func (s *Session) Renew() string { return s.creds.renew() }

// ask returns the scope as STS says it, at host ("" for AWS's own). A simulated cloud has a stable name instead of a
// host and port.
func (s *Session) ask(ctx context.Context, host string) (resource.Scope, error) {
	out, reply, err := Call(ctx, s.code, s.sts.GetCallerIdentity, &sts.GetCallerIdentityInput{})
	if err != nil {
		return resource.Scope{}, err
	}
	id, err := arn.Parse(aws.ToString(out.Arn))
	if err != nil || id.Partition == "" || id.AccountID == "" || id.AccountID != aws.ToString(out.Account) {
		return resource.Scope{}, Invalid("GetCallerIdentity", "account and ARN do not say who the caller is")
	}
	scope := resource.Scope{Partition: id.Partition, Account: id.AccountID, Region: s.cfg.Region, Endpoint: host}
	if sim := reply.Header.Get(SimHeader); host != "" && simID.MatchString(sim) {
		scope.Endpoint = "sim-" + strings.TrimPrefix(sim, "sim-")
	}
	return scope, nil
}

// oneHost returns the endpoint that all services share. Services that go to different places have no scope that one
// caller identity could verify.
func oneHost(endpoints map[string]string) (string, error) {
	host := endpoints["STS"]
	for _, name := range slices.Sorted(maps.Keys(endpoints)) {
		if endpoints[name] != host {
			return "", fmt.Errorf("verify AWS scope: %s goes to %s but STS to %s; set AWS_ENDPOINT_URL alone, so that all services go to one place",
				name, orAWS(endpoints[name]), orAWS(host))
		}
	}
	return host, nil
}

func orAWS(host string) string {
	if host == "" {
		return "AWS"
	}
	return host
}

// awsDomains end the host names of AWS's own endpoints, VPC endpoints included.
var awsDomains = []string{".amazonaws.com", ".amazonaws.com.cn", ".api.aws", ".amazonaws.eu", ".c2s.ic.gov", ".sc2s.sgov.gov"}

// customHost returns host:port of an endpoint that is not AWS's own, else "".
func customHost(endpoint *string) string {
	if aws.ToString(endpoint) == "" {
		return ""
	}
	u, err := url.Parse(*endpoint)
	if err != nil || u.Host == "" {
		return *endpoint
	}
	name := strings.ToLower(u.Hostname())
	if slices.ContainsFunc(awsDomains, func(d string) bool { return strings.HasSuffix(name, d) }) {
		return ""
	}
	return strings.ToLower(u.Host)
}
