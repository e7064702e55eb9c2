package awssim

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// invocation is the answer of Invoke, whose body is the function's own.
type invocation struct {
	status  int
	payload string
}

// invoke runs nothing: a function answers null. Its first run makes its log group, if its role may do that.
func (s *Server) invoke(c *call) (any, *failure) {
	a := c.args()
	kind := a.enum("InvocationType", "RequestResponse", "RequestResponse", "Event", "DryRun")
	fn, f := s.function(c, a, false)
	if f != nil {
		return nil, f
	}
	if state, _ := fn.status(c.now); state != "Active" {
		return nil, conflict("The operation cannot be performed at this time. The function is currently in the following state: %s", state)
	}
	if kind == "DryRun" {
		return invocation{status: http.StatusNoContent}, nil
	}
	if p := c.str("Payload"); p != "" && !json.Valid([]byte(p)) {
		return nil, fail("InvalidRequestContentException", http.StatusBadRequest, "Could not parse request body into json")
	}
	if fn.Reserved != nil && *fn.Reserved == 0 {
		return nil, fail("TooManyRequestsException", http.StatusTooManyRequests, "Rate Exceeded.")
	}
	s.run(c, fn)
	if kind == "Event" {
		return invocation{status: http.StatusAccepted}, nil
	}
	return invocation{status: http.StatusOK, payload: "null"}, nil
}

// run is one run of a function, with what it leaves in its logs: a group that nobody tagged, and a stream.
func (s *Server) run(c *call, fn *Function) {
	fn.Invoked++
	group := fn.LoggingConfig.LogGroup
	at := &call{account: fn.Account, region: fn.Region, now: c.now}
	g := s.findGroup(at, group)
	if g == nil {
		if !s.roleMay(fn, "logs:CreateLogGroup", group) {
			return
		}
		g = &LogGroup{Birth: Birth{CreatedAt: c.now.Truncate(time.Millisecond), VisibleAt: c.now}, Account: fn.Account, Region: fn.Region,
			Name: group, Class: "STANDARD", Tags: map[string]string{}, Streams: []*LogStream{}}
		s.state.LogGroups = append(s.state.LogGroups, g)
	}
	if !s.roleMay(fn, "logs:PutLogEvents", group) {
		return
	}
	name := c.now.UTC().Format("2006/01/02") + "/[$LATEST]" + strings.ReplaceAll(fn.Revision, "-", "")
	st := g.stream(name)
	if st == nil {
		st = &LogStream{Name: name, CreatedAt: c.now}
		g.Streams = append(g.Streams, st)
	}
	st.take(event{c.now.UnixMilli(), eventOverhead}, c.now)
}

// logWriters are the AWS managed policies that let a function write its logs.
var logWriters = []string{"/AdministratorAccess", "/PowerUserAccess", "/CloudWatchLogsFullAccess", "/service-role/AWSLambdaBasicExecutionRole",
	"/service-role/AWSLambdaVPCAccessExecutionRole", "/service-role/AWSLambdaSQSQueueExecutionRole",
	"/service-role/AWSLambdaDynamoDBExecutionRole", "/service-role/AWSLambdaKinesisExecutionRole"}

// roleMay reports whether a function's role may do something to its log group. A role that is gone may nothing.
func (s *Server) roleMay(fn *Function, action, group string) bool {
	r := find(s.state.Roles, func(r *Role) bool { return r.ARN == fn.Role })
	if r == nil {
		return false
	}
	var documents []string
	allowed := false
	for _, name := range sortedKeys(r.Inline) {
		documents = append(documents, r.Inline[name])
	}
	for _, arn := range r.Attached {
		if p := find(s.state.Policies, func(p *Policy) bool { return p.ARN == arn }); p != nil {
			documents = append(documents, p.Document)
		}
		allowed = allowed || slices.Contains(logWriters, strings.TrimPrefix(arn, "arn:aws:iam::aws:policy"))
	}
	resource := (&LogGroup{Account: fn.Account, Region: fn.Region, Name: group}).arn() + ":log-stream:x"
	for _, document := range documents {
		grants, denies := grantsOf(document, action, resource)
		if denies {
			return false
		}
		allowed = allowed || grants
	}
	return allowed
}

// grantsOf reports what an identity policy says of an action on a resource. A condition is not known to hold, so it grants
// nothing; NotAction and NotResource are not looked into.
func grantsOf(document, action, resource string) (grants, denies bool) {
	_, statements, f := parsePolicy(document)
	if f != nil {
		return false, false
	}
	for _, st := range statements {
		var effect string
		json.Unmarshal(st["Effect"], &effect) //nolint:errcheck // it was checked when the policy was accepted
		actions, _ := oneOrMore(st["Action"])
		resources, _ := oneOrMore(st["Resource"])
		about := slices.ContainsFunc(resources, func(p string) bool {
			return wild(p, resource) || wild(p, strings.TrimSuffix(resource, ":log-stream:x"))
		})
		if !anyWild(actions, action) || !about {
			continue
		}
		grants = grants || effect == "Allow" && st["Condition"] == nil
		denies = denies || effect == "Deny"
	}
	return grants, denies
}
