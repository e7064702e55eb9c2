package awssim

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
)

const (
	account   = "123456789012"
	region    = "eu-west-1"
	plainKey  = "AKIAEXAMPLE"
	trustJSON = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"lambda.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
	allowJSON = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"*"}]}`
	basicARN  = "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
	readARN   = "arn:aws:iam::aws:policy/ReadOnlyAccess"
)

// newCloud starts a simulated cloud on a free port and returns its URL.
func newCloud(t *testing.T, cfg Config) (*Server, string) {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	url, err := s.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // tests of Close call it themselves
	return s, url
}

// clients are the SDK's own, unmodified, without retries.
type clients struct {
	ctx    context.Context
	iam    *iam.Client
	logs   *cloudwatchlogs.Client
	apis   *apigatewayv2.Client
	fns    *lambda.Client
	sts    *sts.Client
	events *eventbridge.Client
	dynamo *dynamodb.Client
	// name makes a name that no other test uses.
	name func(string) string
}

func newClients(t *testing.T, url, key, region string) clients {
	t.Helper()
	cfg := aws.Config{
		Logger:       logging.Nop{},
		Region:       region,
		BaseEndpoint: aws.String(url),
		Credentials:  credentials.NewStaticCredentialsProvider(key, "secret", ""),
		Retryer:      func() aws.Retryer { return aws.NopRetryer{} },
		HTTPClient: awshttp.NewBuildableClient().WithTransportOptions(func(tr *http.Transport) {
			tr.DisableKeepAlives = true // else net/http itself repeats a GET on a connection that was closed under it
		}),
	}
	n := 0
	prefix := strings.NewReplacer("/", "-", " ", "-", ",", "", "'", "", ":", "").Replace(t.Name())
	if len(prefix) > 40 {
		prefix = prefix[:40]
	}
	return clients{context.Background(), iam.NewFromConfig(cfg), cloudwatchlogs.NewFromConfig(cfg), apigatewayv2.NewFromConfig(cfg), lambda.NewFromConfig(cfg),
		sts.NewFromConfig(cfg), eventbridge.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg), func(s string) string {
			n++
			return fmt.Sprintf("%s-%s-%s-%d", s, prefix, randomHex(2), n)
		}}
}

// refusal is how a call ended: the wire's code and the HTTP status.
type refusal struct {
	Code   string
	Status int
}

func refusalOf(err error) refusal {
	var out refusal
	var api smithy.APIError
	if errors.As(err, &api) {
		out.Code = api.ErrorCode()
	}
	var resp *awshttp.ResponseError
	if errors.As(err, &resp) {
		out.Status = resp.HTTPStatusCode()
	}
	if err != nil && out == (refusal{}) {
		out.Code = "no answer"
	}
	return out
}

// testRequest is a signed-looking request without a client library.
func testRequest(t *testing.T, method, url, service, body string, header map[string]string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if service != "" {
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+plainKey+"/20260101/"+region+"/"+service+
			"/aws4_request, SignedHeaders=host;x-amz-date, Signature=abcdef0123")
	}
	for k, v := range header {
		r.Header.Set(k, v)
	}
	return r
}
