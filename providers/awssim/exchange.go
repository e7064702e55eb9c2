package awssim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// exchange is one HTTP request on its way to an operation.
type exchange struct {
	wire    wire
	op      operation
	call    *call
	refused *failure // set when the request never reaches its operation
	entry   Request
	life    int // Server.life when it arrived
}

// answer is what goes back, or does not.
type answer struct {
	status int
	header map[string]string
	body   []byte
	wait   time.Duration // before it is sent
	drop   bool          // close the connection instead
}

// call is what an operation is told.
type call struct {
	service, account, region string
	params                   map[string]any
	now                      time.Time
	lag                      time.Duration // what is younger is not seen by a read, or not yet shown by a create
	n                        int           // Request.N; 0 for a stranger
	stranger                 bool          // may do what callers may not: aws: tags, service-linked roles
}

// operation is one entry of a service's table.
type operation struct {
	name   string
	target []string // the params that name what it is about; the first that is there counts
	run    func(*Server, *call) (any, *failure)
}

// changing reports whether the operation may change anything.
func (o operation) changing() bool {
	for _, verb := range []string{"Get", "List", "Describe", "Scan"} {
		if strings.HasPrefix(o.name, verb) {
			return false
		}
	}
	return o.name != ""
}

// failure is a service's refusal.
type failure struct {
	Code    string
	Status  int
	Message string
	Fields  map[string]string // further members of the error's shape
}

func fail(code string, status int, format string, args ...any) *failure {
	return &failure{Code: code, Status: status, Message: fmt.Sprintf(format, args...)}
}

// wire is a protocol: how a service's requests and answers look.
type wire interface {
	// decode finds the operation and its params.
	decode(r *http.Request, body []byte) (operation, map[string]any, *failure)
	// encode writes a result; out is nil where an operation returns nothing.
	encode(o operation, out any, requestID string) answer
	encodeFailure(f *failure, requestID string) answer
}

var (
	accountShape    = regexp.MustCompile(`^\d{12}$`)
	keyWithAccount  = regexp.MustCompile(`^AKIA(\d{12})`)
	credentialShape = regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=([^/,\s]+)/\d{8}/([^/,\s]+)/([^/,\s]+)/aws4_request, ?SignedHeaders=[^,\s]+, ?Signature=[0-9a-f]+$`)
)

// wires by the service's name in the credential scope.
var wires = map[string]wire{
	"sts":        queryWire{service: "sts", namespace: "https://sts.amazonaws.com/doc/2011-06-15/", version: "2011-06-15"},
	"iam":        queryWire{service: "iam", namespace: "https://iam.amazonaws.com/doc/2010-05-08/", version: "2010-05-08"},
	"events":     jsonWire{service: "events", prefix: eventsTarget},
	"logs":       jsonWire{service: "logs", prefix: "Logs_20140328."},
	"apigateway": restWire{},
	"dynamodb":   dynamoWire{},
	"lambda":     lambdaWire{},
}

// readExchange reads, authenticates and decodes one request. What is wrong with it stands in refused.
func (s *Server) readExchange(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{call: &call{account: s.cfg.Account, region: s.cfg.Region}}
	x.entry = Request{RequestID: requestID(), UserAgent: r.UserAgent()}
	body, tooLarge := readBody(w, r)
	key, auth := s.authenticate(r, x.call)
	x.wire = wires[x.call.service]
	op, params, f := x.wire.decode(r, body)
	x.op, x.call.params = op, params
	switch {
	case tooLarge != nil:
		x.refused = tooLarge
	case auth != nil:
		x.refused = auth
	case f != nil:
		x.refused = f
	default:
		x.refused = refuseKey(key, x.call, op)
	}
	x.entry.Account, x.entry.Region, x.entry.Service = x.call.account, x.call.region, x.call.service
	x.entry.Operation, x.entry.Changing = op.name, op.changing()
	x.entry.Params, x.entry.Target = params, targetOf(op, params)
	return x
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *failure) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, fail("RequestEntityTooLarge", http.StatusRequestEntityTooLarge, "Request body exceeds %d bytes.", maxBody)
	case err != nil:
		return nil, fail("RequestTimeout", http.StatusBadRequest, "The request body ended early.")
	}
	return body, nil
}

// authenticate takes service, region and account from the SigV4 header. Any signature is accepted.
func (s *Server) authenticate(r *http.Request, c *call) (key string, f *failure) {
	c.service = guessService(r)
	header := r.Header.Get("Authorization")
	if header == "" {
		return "", common(c.service, "missing")
	}
	m := credentialShape.FindStringSubmatch(header)
	if m == nil {
		return "", common(c.service, "unsigned")
	}
	if _, known := wires[m[3]]; !known {
		return "", fail("InvalidAction", http.StatusBadRequest, "The simulated cloud does not serve %s.", m[3])
	}
	key, c.region, c.service = m[1], m[2], m[3]
	if a := keyWithAccount.FindStringSubmatch(key); a != nil {
		c.account = a[1]
	}
	return key, nil
}

// guessService tells from a request without a credential scope which service it was meant for.
func guessService(r *http.Request) string {
	switch {
	case strings.HasPrefix(r.Header.Get("X-Amz-Target"), eventsTarget):
		return "events"
	case strings.HasPrefix(r.Header.Get("X-Amz-Target"), dynamoTarget):
		return "dynamodb"
	case r.Header.Get("X-Amz-Target") != "":
		return "logs"
	case strings.HasPrefix(r.URL.Path, "/v2/"):
		return "apigateway"
	case strings.HasPrefix(r.URL.Path, "/20"): // every path begins with a date
		return "lambda"
	}
	return "iam"
}

// refuseKey carries out what the access key asks for: EXPIRED… is expired, DENIED… may do nothing. GetCallerIdentity needs
// no permission, at AWS too.
func refuseKey(key string, c *call, o operation) *failure {
	switch {
	case strings.HasPrefix(key, "EXPIRED"):
		return common(c.service, "expired")
	case strings.HasPrefix(key, "DENIED") && o.name != "GetCallerIdentity":
		return denied(c, o)
	}
	return nil
}

func denied(c *call, o operation) *failure {
	f := common(c.service, "denied")
	f.Message = fmt.Sprintf("User: %s is not authorized to perform: %s:%s on resource: %s", callerARN(c.account), c.service, o.name,
		orAny(targetOf(o, c.params)))
	return f
}

func orAny(s string) string {
	if s == "" {
		return "*"
	}
	return s
}

func callerARN(account string) string { return "arn:aws:iam::" + account + ":user/simulated" }

// commonFailures are the refusals that a service gives before, or instead of, its operations' own.
var commonFailures = map[string]map[string]failure{
	"query": {
		"missing":   {Code: "MissingAuthenticationToken", Status: 403, Message: "Request is missing Authentication Token"},
		"unsigned":  {Code: "IncompleteSignature", Status: 400, Message: "The request signature does not conform to AWS standards."},
		"expired":   {Code: "ExpiredToken", Status: 403, Message: "The security token included in the request is expired"},
		"denied":    {Code: "AccessDenied", Status: 403},
		"throttled": {Code: "Throttling", Status: 400, Message: "Rate exceeded"},
		"internal":  {Code: "InternalFailure", Status: 500, Message: "The request processing has failed because of an unknown error, exception or failure."},
	},
	"events": {
		"missing":   {Code: "MissingAuthenticationTokenException", Status: 400, Message: "Missing Authentication Token"},
		"unsigned":  {Code: "IncompleteSignatureException", Status: 400, Message: "The request signature does not conform to AWS standards."},
		"expired":   {Code: "ExpiredTokenException", Status: 400, Message: "The security token included in the request is expired"},
		"denied":    {Code: "AccessDeniedException", Status: 400},
		"throttled": {Code: "ThrottlingException", Status: 400, Message: "Rate exceeded"},
		"internal":  {Code: "InternalException", Status: 500, Message: "This exception occurs due to unexpected causes."},
	},
	"logs": {
		"missing":   {Code: "MissingAuthenticationTokenException", Status: 400, Message: "Missing Authentication Token"},
		"unsigned":  {Code: "IncompleteSignatureException", Status: 400, Message: "The request signature does not conform to AWS standards."},
		"expired":   {Code: "ExpiredTokenException", Status: 400, Message: "The security token included in the request is expired"},
		"denied":    {Code: "AccessDeniedException", Status: 400},
		"throttled": {Code: "ThrottlingException", Status: 400, Message: "Rate exceeded"},
		"internal":  {Code: "InternalFailure", Status: 500, Message: "Internal failure."},
	},
	"apigateway": {
		"missing":   {Code: "MissingAuthenticationTokenException", Status: 403, Message: "Missing Authentication Token"},
		"unsigned":  {Code: "IncompleteSignatureException", Status: 403, Message: "The request signature does not conform to AWS standards."},
		"expired":   {Code: "ExpiredTokenException", Status: 403, Message: "The security token included in the request is expired"},
		"denied":    {Code: "AccessDeniedException", Status: 403},
		"throttled": {Code: "TooManyRequestsException", Status: 429, Message: "Too Many Requests"},
		"internal":  {Code: "InternalServerErrorException", Status: 500, Message: "Internal server error"},
	},
	"dynamodb": {
		"missing":   {Code: "MissingAuthenticationTokenException", Status: 400, Message: "Request must contain either a valid (registered) AWS access key ID or X.509 certificate."},
		"unsigned":  {Code: "IncompleteSignatureException", Status: 400, Message: "The request signature does not conform to AWS standards."},
		"expired":   {Code: "ExpiredTokenException", Status: 400, Message: "The security token included in the request is expired"},
		"denied":    {Code: "AccessDeniedException", Status: 400},
		"throttled": {Code: "ThrottlingException", Status: 400, Message: "Rate of requests exceeds the allowed throughput."},
		"internal":  {Code: "InternalServerError", Status: 500, Message: "The request processing has failed because of an unknown error, exception or failure."},
	},
	"lambda": {
		"missing":   {Code: "MissingAuthenticationTokenException", Status: 403, Message: "Missing Authentication Token"},
		"unsigned":  {Code: "IncompleteSignatureException", Status: 403, Message: "The request signature does not conform to AWS standards."},
		"expired":   {Code: "ExpiredTokenException", Status: 403, Message: "The security token included in the request is expired"},
		"denied":    {Code: "AccessDeniedException", Status: 403},
		"throttled": {Code: "TooManyRequestsException", Status: 429, Message: "Rate exceeded"},
		"internal":  {Code: "ServiceException", Status: 500, Message: "Service encountered an internal error."},
	},
}

func common(service, kind string) *failure {
	table := commonFailures["query"]
	if t, ok := commonFailures[service]; ok {
		table = t
	}
	f := table[kind]
	return &f
}

// targetOf names what an operation is about, for the log and the faults.
func targetOf(o operation, params map[string]any) string {
	for _, name := range o.target {
		if v, ok := params[name].(string); ok && v != "" {
			return nameOf(v)
		}
	}
	return ""
}

// nameOf shortens the ARN of a log group, an API, a rule, a bus, a function or a table (or of its stream) to its name;
// everything else stays.
func nameOf(v string) string {
	if _, name, ok := strings.Cut(v, ":log-group:"); ok && strings.HasPrefix(v, "arn:") {
		return strings.TrimSuffix(name, ":*")
	}
	if strings.HasPrefix(v, "arn:aws:events:") && strings.Contains(v, "/") {
		return v[strings.LastIndex(v, "/")+1:]
	}
	if _, name, ok := strings.Cut(v, ":function:"); ok {
		return name
	}
	if _, id, ok := strings.Cut(v, "::/apis/"); ok && strings.HasPrefix(v, "arn:") {
		return id
	}
	if _, rest, ok := strings.Cut(v, ":table/"); ok && strings.HasPrefix(v, "arn:") {
		name, _, _ := strings.Cut(rest, "/")
		return name
	}
	return v
}

func requestID() string {
	h := randomHex(16)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// decodeObject reads a JSON object, numbers kept as written. An empty body is an empty object.
func decodeObject(body []byte) (map[string]any, error) {
	if len(strings.TrimSpace(string(body))) == 0 {
		return map[string]any{}, nil
	}
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.UseNumber()
	var out map[string]any
	if err := d.Decode(&out); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("more than one value")
	}
	if out == nil {
		return nil, errors.New("not an object")
	}
	return out, nil
}

// pathSegment decodes one segment of a request's path as it was sent.
func pathSegment(s string) string {
	if out, err := url.PathUnescape(s); err == nil {
		return out
	}
	return s
}
