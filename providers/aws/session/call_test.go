package session_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2/types"
	"github.com/google/go-cmp/cmp"

	"reclaim/engine/resource"
	"reclaim/providers/aws/session"
)

// say answers every request alike.
func say(status int, code, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Amzn-Requestid", "req-1")
		if code != "" {
			w.Header().Set("X-Amzn-Errortype", code)
		}
		w.WriteHeader(status)
		w.Write([]byte(body))
	}
}

// hangUp reads the request and closes the connection.
func hangUp(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }

// service is a client whose calls all go to one handler.
type service struct {
	api *apigatewayv2.Client
	svc *session.Service
	n   atomic.Int32 // requests that arrived
}

func serve(t *testing.T, h http.HandlerFunc) *service {
	t.Helper()
	out := &service{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { out.n.Add(1); h(w, r) }))
	t.Cleanup(srv.Close)
	return out.at(t, srv.URL)
}

func (s *service) at(t *testing.T, url string) *service {
	t.Helper()
	env(t, map[string]string{"AWS_ENDPOINT_URL": url})
	sess := open(t, session.Config{})
	s.api = apigatewayv2.NewFromConfig(sess.AWS())
	s.svc = sess.Service("ApiGatewayV2", s.api.Options().BaseEndpoint, map[string]resource.Kind{
		"NotFoundException": resource.NotFound, "ConflictException": resource.Busy, "ServiceFailure": resource.Uncertain,
		"UnclearException": resource.Uncertain,
	})
	return s
}

func once(o *apigatewayv2.Options) { o.Retryer = aws.NopRetryer{} }

// create sends a changing call, once.
func (s *service) create(ctx context.Context) error {
	in := &apigatewayv2.CreateApiInput{Name: aws.String("orders"), ProtocolType: types.ProtocolTypeHttp}
	_, _, err := session.Call(ctx, s.svc, s.api.CreateApi, in, once)
	return err
}

// read sends a call that changes nothing, once.
func (s *service) read(ctx context.Context) error {
	_, _, err := session.Call(ctx, s.svc, s.api.GetApi, &apigatewayv2.GetApiInput{ApiId: aws.String("a1")}, once)
	return err
}

// S10: what is known of a changing call, by what came back.
func TestAChangingCallSaysWhetherItWasExecuted(t *testing.T) {
	for why, c := range map[string]struct {
		handler  http.HandlerFunc
		kind     resource.Kind
		executed resource.Tri
	}{
		"a refusal by code was not executed":                                   {say(400, "BadRequestException", `{}`), resource.Rejected, resource.No},
		"a code that the SDK does not model was not executed":                  {say(400, "SomethingNewException", `{}`), resource.Rejected, resource.No},
		"denied was not executed":                                              {say(403, "AccessDeniedException", `{}`), resource.AccessDenied, resource.No},
		"throttled was not executed":                                           {say(429, "TooManyRequestsException", `{}`), resource.Throttled, resource.No},
		"throttled was not executed, whatever the status":                      {say(503, "ThrottlingException", `{}`), resource.Throttled, resource.No},
		"expired was not executed":                                             {say(403, "ExpiredTokenException", `{}`), resource.Expired, resource.No},
		"busy is the service's own code":                                       {say(409, "ConflictException", `{}`), resource.Busy, resource.No},
		"a server's failure is uncertain":                                      {say(500, "InternalServerErrorException", `{}`), resource.Uncertain, resource.Perhaps},
		"a code that a service calls uncertain is no refusal":                  {say(400, "UnclearException", `{}`), resource.Uncertain, resource.Perhaps},
		"a gateway's failure without a code is uncertain":                      {say(502, "", `<html>`), resource.Uncertain, resource.Perhaps},
		"a refusal without a code is nobody's word":                            {say(403, "", `<html>proxy</html>`), resource.Uncertain, resource.Perhaps},
		"a refusal in the right form without a code is no word of the service": {say(403, "", `{}`), resource.Uncertain, resource.Perhaps},
		"a timeout told by the service is uncertain":                           {say(408, "RequestTimeoutException", `{}`), resource.Uncertain, resource.Perhaps},
		"a success that cannot be read is uncertain":                           {say(201, "", `{"apiId": [`), resource.Uncertain, resource.Perhaps},
		"a connection that ends without an answer is uncertain":                {hangUp, resource.Uncertain, resource.Perhaps},
	} {
		t.Run(why, func(t *testing.T) {
			s := serve(t, c.handler)
			err := s.create(t.Context())
			e, ok := errors.AsType[*resource.Error](err)
			if !ok {
				t.Fatalf("create: %v, want a typed error", err)
			}
			if e.Kind != c.kind || e.Executed != c.executed || e.Op != "CreateApi" {
				t.Errorf("create: op %s, %s, executed %s; want %s, %s: %v", e.Op, e.Kind, e.Executed, c.kind, c.executed, err)
			}
			if s.n.Load() != 1 {
				t.Errorf("sent %d times, want once", s.n.Load())
			}
		})
	}
}

func TestAReadSaysWhyItFailed(t *testing.T) {
	for why, c := range map[string]struct {
		handler http.HandlerFunc
		kind    resource.Kind
	}{
		"not found is the service's own code":      {say(404, "NotFoundException", `{}`), resource.NotFound},
		"a 404 without a code is nobody's word":    {say(404, "", `<html>`), resource.Uncertain},
		"an answer that cannot be read is invalid": {say(200, "", `{"apiId": [`), resource.ReadInvalid},
		"an answer in another shape is invalid":    {say(200, "", `{"apiId": {"a": 1}}`), resource.ReadInvalid},
		"denied is not absent":                     {say(403, "AccessDeniedException", `{}`), resource.AccessDenied},
		"a server's failure is not absent":         {say(500, "", ``), resource.Uncertain},
		"a connection that ends is not absent":     {hangUp, resource.Uncertain},
	} {
		t.Run(why, func(t *testing.T) {
			err := serve(t, c.handler).read(t.Context())
			if !resource.Is(err, c.kind) {
				t.Errorf("read: %v, want %s", err, c.kind)
			}
			if !resource.DefinitelyNotExecuted(err) {
				t.Errorf("read: %v, want surely not executed: a read changes nothing", err)
			}
		})
	}
}

// S10: what never left this machine was not executed.
func TestACallThatWasNeverSentWasNotExecuted(t *testing.T) {
	dead := httptest.NewServer(nil)
	dead.Close()
	for why, url := range map[string]string{
		"connection refused":  dead.URL,
		"a name of no server": "http://nobody.invalid",
	} {
		t.Run(why, func(t *testing.T) {
			s := (&service{}).at(t, url)
			if err := s.create(t.Context()); !resource.DefinitelyNotExecuted(err) {
				t.Errorf("create: %v, want surely not executed", err)
			}
			if err := s.read(t.Context()); resource.Is(err, resource.NotFound) || err == nil {
				t.Errorf("read: %v, want a failure that is not absence", err)
			}
		})
	}
	t.Run("refused by the SDK's own validation", func(t *testing.T) {
		s := serve(t, say(201, "", `{}`))
		_, _, err := session.Call(t.Context(), s.svc, s.api.CreateApi, &apigatewayv2.CreateApiInput{}, once)
		if !resource.Is(err, resource.Rejected) || !resource.DefinitelyNotExecuted(err) || s.n.Load() != 0 {
			t.Errorf("create: %v after %d requests, want a rejection before the first", err, s.n.Load())
		}
	})
	t.Run("cancelled before it left", func(t *testing.T) {
		s := serve(t, say(201, "", `{}`))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.create(ctx); !resource.DefinitelyNotExecuted(err) || !resource.Interrupted(err) || s.n.Load() != 0 {
			t.Errorf("create: %v after %d requests, want our own end before the first", err, s.n.Load())
		}
	})
}

// S10
func TestADeadlineAfterItWasSentIsUncertain(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	s := serve(t, func(http.ResponseWriter, *http.Request) { close(arrived); <-release })
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	err := s.create(ctx)
	close(release)
	if !resource.Is(err, resource.Uncertain) || resource.DefinitelyNotExecuted(err) {
		t.Errorf("create: %v, want uncertain", err)
	}
}

// S10: a refusal of the second attempt says nothing about the first, which got no answer.
func TestARefusalAfterAnUnansweredAttemptIsNoProof(t *testing.T) {
	for why, first := range map[string]http.HandlerFunc{
		"after a connection that ended": hangUp,
		"after a server's failure":      say(500, "", ``),
	} {
		t.Run(why, func(t *testing.T) {
			var s *service
			s = serve(t, func(w http.ResponseWriter, r *http.Request) {
				if s.n.Load() == 1 {
					first(w, r)
					return
				}
				say(400, "BadRequestException", `{}`)(w, r)
			})
			_, _, err := session.Call(t.Context(), s.svc, s.api.UpdateApi, &apigatewayv2.UpdateApiInput{ApiId: aws.String("a1")})
			if err == nil || resource.DefinitelyNotExecuted(err) || s.n.Load() != 2 {
				t.Errorf("update: %v after %d requests, want an error that proves nothing, after 2", err, s.n.Load())
			}
		})
	}
}

func TestAReplyHoldsTheServicesTimeAndRequestID(t *testing.T) {
	at := time.Date(2031, 5, 4, 3, 2, 1, 0, time.UTC)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", at.Format(http.TimeFormat))
		say(200, "", `{"apiId":"a1"}`)(w, r)
	})
	_, reply, err := session.Call(t.Context(), s.svc, s.api.GetApi, &apigatewayv2.GetApiInput{ApiId: aws.String("a1")})
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	if d := cmp.Diff(session.Reply{ServedAt: at, RequestID: "req-1", Status: 200}, session.Reply{ServedAt: reply.ServedAt, RequestID: reply.RequestID, Status: reply.Status}); d != "" {
		t.Errorf("reply (-want +got):\n%s", d)
	}
}

func TestExpiredCredentialsNameTheNextStep(t *testing.T) {
	err := serve(t, say(403, "ExpiredTokenException", `{}`)).create(t.Context())
	if !strings.Contains(err.Error(), "renew the credentials") {
		t.Errorf("create: %v, want what to do next", err)
	}
}

func TestPagesThatGoRoundAreNoList(t *testing.T) {
	calls := 0
	err := session.Pages("ListThings", func(*string) (*string, error) {
		calls++
		return aws.String([]string{"b", "c", "b"}[calls-1]), nil
	})
	if !resource.Is(err, resource.ReadInvalid) || calls != 3 {
		t.Errorf("pages: %v after %d calls, want read invalid after 3", err, calls)
	}
}

// S10: entries that failed inside an answer of success are typed by their code; what leaves it open stays open.
func TestAFailedEntryIsTypedByItsCode(t *testing.T) {
	s := serve(t, say(200, "", "{}"))
	for why, c := range map[string]struct {
		code     string
		done     resource.Tri
		kind     resource.Kind
		executed resource.Tri
	}{
		"the service's own":                       {"ConflictException", resource.No, resource.Busy, resource.No},
		"where others were carried out":           {"ConflictException", resource.Yes, resource.Busy, resource.Yes},
		"one that means the same everywhere":      {"ThrottlingException", resource.No, resource.Throttled, resource.No},
		"one that nobody knows is a refusal":      {"LimitExceededException", resource.No, resource.Rejected, resource.No},
		"an internal failure proves nothing":      {"InternalException", resource.No, resource.Uncertain, resource.Perhaps},
		"nor does one that is called uncertain":   {"ServiceFailure", resource.No, resource.Uncertain, resource.Perhaps},
		"nor does one without a code, said apart": {"", resource.No, resource.Uncertain, resource.Perhaps},
	} {
		t.Run(why, func(t *testing.T) {
			err := s.svc.Entry("PutTargets", c.code, session.Reply{RequestID: "req-1"}, c.done, errors.New("no"))
			e, ok := errors.AsType[*resource.Error](err)
			if !ok || e.Kind != c.kind || e.Executed != c.executed || e.RequestID != "req-1" || e.Op != "PutTargets" {
				t.Errorf("%v, executed %s; want %s, %s", err, e.Executed, c.kind, c.executed)
			}
		})
	}
}

// S10: a 5xx that the service has a name for is a 5xx all the same.
func TestACodeThatMeansUncertainIsNoRefusal(t *testing.T) {
	err := serve(t, say(500, "ServiceFailure", "{}")).create(t.Context())
	if !resource.Is(err, resource.Uncertain) || resource.DefinitelyNotExecuted(err) {
		t.Errorf("create: %v, want uncertain, and no proof", err)
	}
}
