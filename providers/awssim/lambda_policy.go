package awssim

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
)

// Shapes of a permission's members.
var (
	statementShape   = newShape(1, 100, `[a-zA-Z0-9-_]+`)
	grantShape       = newShape(0, 0, `(lambda:[*]|lambda:[a-zA-Z]+|[*])`)
	principalShape   = newShape(1, 2048, `[^\s]+`)
	sourceARNShape   = newShape(0, 0, `arn:(aws[a-zA-Z0-9-]*):([a-zA-Z0-9\-])+:([a-z]{2}(-gov)?-[a-z]+-\d{1})?:(\d{12})?:(.*)`)
	accountIDShape   = newShape(0, 12, `\d{12}`)
	eventTokenShape  = newShape(0, 256, `[a-zA-Z0-9._\-]+`)
	organisationForm = newShape(12, 34, `o-[a-z0-9]{10,32}`)
)

const maxFunctionPolicy = 20 << 10 // bytes

// Permission is one statement of a function's policy, as it was asked for.
type Permission struct {
	Birth
	Sid         string `json:"sid"`
	Action      string `json:"action"`
	Principal   string `json:"principal"` // service, "*", or ARN; an account stands as its root
	SourceARN   string `json:"sourceArn,omitempty"`
	SourceOwner string `json:"sourceAccount,omitempty"`
	EventToken  string `json:"eventSourceToken,omitempty"`
	URLAuth     string `json:"functionUrlAuthType,omitempty"`
	OrgID       string `json:"principalOrgId,omitempty"`
	ViaURL      *bool  `json:"invokedViaFunctionUrl,omitempty"`
}

func permissionOperations() []operation {
	name := []string{"FunctionName"}
	return []operation{
		{"AddPermission", name, (*Server).addPermission},
		{"GetPolicy", name, (*Server).getFunctionPolicy},
		{"RemovePermission", name, (*Server).removePermission},
	}
}

// statementJSON is a statement as the policy spells it.
type statementJSON struct {
	Sid       string
	Effect    string
	Principal any
	Action    string
	Resource  string
	Condition map[string]map[string]string `json:",omitempty"`
}

func (p *Permission) show(resource string) statementJSON {
	out := statementJSON{Sid: p.Sid, Effect: "Allow", Action: p.Action, Resource: resource}
	switch {
	case p.Principal == "*":
		out.Principal = "*"
	case servicePrincipal.MatchString(p.Principal):
		out.Principal = map[string]string{"Service": p.Principal}
	default:
		out.Principal = map[string]string{"AWS": p.Principal}
	}
	condition := map[string]map[string]string{}
	add := func(operator, key, v string) {
		if v == "" {
			return
		}
		if condition[operator] == nil {
			condition[operator] = map[string]string{}
		}
		condition[operator][key] = v
	}
	add("StringEquals", "AWS:SourceAccount", p.SourceOwner)
	add("StringEquals", "lambda:EventSourceToken", p.EventToken)
	add("StringEquals", "lambda:FunctionUrlAuthType", p.URLAuth)
	add("StringEquals", "aws:PrincipalOrgID", p.OrgID)
	add("ArnLike", "AWS:SourceArn", p.SourceARN)
	if p.ViaURL != nil {
		add("Bool", "lambda:InvokedViaFunctionUrl", string(mustJSON(*p.ViaURL)))
	}
	if len(condition) > 0 {
		out.Condition = condition
	}
	return out
}

// policy is the text of a function's policy, of the statements that a read sees.
func (f *Function) policy(c *call) (text string, statements int) {
	list := []statementJSON{}
	for _, p := range f.Policy {
		if c.sees(p.Birth) {
			list = append(list, p.show(f.arn()))
		}
	}
	return string(mustJSON(struct {
		Version, Id string
		Statement   []statementJSON
	}{"2012-10-17", "default", list})), len(list)
}

func (s *Server) addPermission(c *call) (any, *failure) {
	a := c.args()
	p := &Permission{Birth: c.born(), Sid: a.need("StatementId", statementShape), Action: a.need("Action", grantShape), Principal: a.need("Principal", principalShape)}
	put(&p.SourceARN, a.opt("SourceArn", sourceARNShape))
	put(&p.SourceOwner, a.opt("SourceAccount", accountIDShape))
	put(&p.EventToken, a.opt("EventSourceToken", eventTokenShape))
	put(&p.OrgID, a.opt("PrincipalOrgID", organisationForm))
	p.URLAuth = a.enum("FunctionUrlAuthType", "", "AWS_IAM", "NONE")
	p.ViaURL = a.boolean("InvokedViaFunctionUrl")
	fn, f := s.policyHolder(c, a, false)
	if f != nil {
		return nil, f
	}
	if f := firstFailure(checkRevision(c, fn), s.checkPermission(c, p)); f != nil {
		return nil, f
	}
	if state, _ := fn.status(c.now); state != "Active" {
		return nil, conflict("The operation cannot be performed at this time. The function is currently in the following state: %s", state)
	}
	if find(fn.Policy, func(o *Permission) bool { return o.Sid == p.Sid }) != nil {
		return nil, conflict("The statement id (%s) provided already exists. Please provide a new statement id, or remove the existing statement.", p.Sid)
	}
	changed := *fn
	changed.Policy = append(changed.Policy[:len(changed.Policy):len(changed.Policy)], p)
	if text, _ := changed.policy(&call{now: p.VisibleAt}); len(text) > maxFunctionPolicy {
		return nil, fail("PolicyLengthExceededException", http.StatusBadRequest, "The final policy size (%d) is bigger than the limit (%d).", len(text), maxFunctionPolicy)
	}
	*fn = changed
	fn.Revision = requestID()
	return map[string]string{"Statement": string(mustJSON(p.show(fn.arn())))}, nil
}

// policyHolder finds the function whose policy a call is about. $LATEST has none of its own, and there are no versions.
func (s *Server) policyHolder(c *call, a *args, read bool) (*Function, *failure) {
	if c.str("Qualifier") == "$LATEST" || strings.HasSuffix(c.str("FunctionName"), ":$LATEST") {
		return nil, badFunction("We currently do not support adding policies for $LATEST.")
	}
	return s.function(c, a, read)
}

func (s *Server) checkPermission(c *call, p *Permission) *failure {
	if accountShape.MatchString(p.Principal) {
		p.Principal = "arn:aws:iam::" + p.Principal + ":root"
	}
	switch {
	case p.Principal != "*" && !servicePrincipal.MatchString(p.Principal) && !s.principalExists(c.account, "AWS", p.Principal):
		return badFunction("The provided principal was invalid. Please check the principal and try again.")
	case p.URLAuth != "" && p.Action != "lambda:InvokeFunctionUrl":
		return badFunction("FunctionUrlAuthType is only supported for lambda:InvokeFunctionUrl action")
	case p.ViaURL != nil && p.Action != "lambda:InvokeFunction":
		return badFunction("InvokedViaFunctionUrl is only supported for lambda:InvokeFunction action")
	case p.OrgID != "" && p.Principal != "*":
		return badFunction("PrincipalOrgID is only supported for the principal *")
	}
	return nil
}

func (s *Server) getFunctionPolicy(c *call) (any, *failure) {
	fn, f := s.policyHolder(c, c.args(), true)
	if f != nil {
		return nil, f
	}
	text, n := fn.policy(c)
	if n == 0 {
		return nil, notFound("ResourceNotFoundException", "The resource you requested does not exist.")
	}
	return map[string]string{"Policy": text, "RevisionId": fn.Revision}, nil
}

func (s *Server) removePermission(c *call) (any, *failure) {
	a := c.args()
	sid := a.need("StatementId", statementShape)
	fn, f := s.policyHolder(c, a, false)
	if f == nil {
		f = checkRevision(c, fn)
	}
	if f != nil {
		return nil, f
	}
	left := filter(fn.Policy, func(p *Permission) bool { return p.Sid != sid })
	if len(left) == len(fn.Policy) {
		return nil, notFound("ResourceNotFoundException", "Statement %s is not found in resource policy.", sid)
	}
	fn.Policy, fn.Revision = left, requestID()
	return nil, nil
}

// MayInvoke reports whether a service may call a function for what has sourceARN, by the function's policy. function is
// an ARN, or the name of a function of the server's own account and region.
func (s *Server) MayInvoke(function, principal, sourceARN string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mayInvoke(function, principal, sourceARN)
}

// mayInvoke is MayInvoke for callers who hold the lock.
func (s *Server) mayInvoke(function, principal, sourceARN string) bool {
	m := functionReference.FindStringSubmatch(function)
	if m == nil || m[5] != "" && m[5] != "$LATEST" {
		return false
	}
	account, region := s.cfg.Account, s.cfg.Region
	if m[1] != "" {
		region = m[1]
	}
	if m[2]+m[3] != "" {
		account = m[2] + m[3]
	}
	fn := s.findFunction(account, region, m[4])
	return fn != nil && find(fn.Policy, func(p *Permission) bool { return p.allows(principal, sourceARN) }) != nil
}

// allows reports whether a permission lets a service invoke the function for a source. What only the caller could
// know (tokens, function URLs, organisations) is not granted.
func (p *Permission) allows(principal, sourceARN string) bool {
	invokes := p.Action == "*" || p.Action == "lambda:*" || strings.EqualFold(p.Action, "lambda:InvokeFunction")
	if !invokes || p.Principal != "*" && p.Principal != principal || p.EventToken+p.URLAuth+p.OrgID != "" || p.ViaURL != nil {
		return false
	}
	if p.SourceARN != "" && !arnLike(p.SourceARN, sourceARN) {
		return false
	}
	parts := strings.SplitN(sourceARN, ":", 6)
	return p.SourceOwner == "" || len(parts) == 6 && parts[4] == p.SourceOwner
}

// arnLike is the condition operator: each of the six parts of an ARN is matched by itself, * and ? standing for anything.
func arnLike(pattern, arn string) bool {
	want, have := strings.SplitN(pattern, ":", 6), strings.SplitN(arn, ":", 6)
	if len(want) != 6 || len(have) != 6 {
		return false
	}
	for i := range want {
		if !wild(want[i], have[i]) {
			return false
		}
	}
	return true
}

// wild matches a text with a pattern of * and ?.
func wild(pattern, text string) bool {
	quoted := regexp.QuoteMeta(pattern)
	quoted = strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(quoted)
	return regexp.MustCompile(`^(?s:` + quoted + `)$`).MatchString(text)
}

// trustsService reports whether a trust policy lets a service assume the role. A condition is not known to hold.
func trustsService(document, service string) bool {
	_, statements, f := parsePolicy(document)
	if f != nil {
		return false
	}
	allowed := false
	for _, st := range statements {
		var effect string
		var kinds map[string]json.RawMessage
		json.Unmarshal(st["Effect"], &effect)   //nolint:errcheck // it was checked when the policy was accepted
		json.Unmarshal(st["Principal"], &kinds) //nolint:errcheck // a bare * names no service
		services, _ := oneOrMore(kinds["Service"])
		actions, _ := oneOrMore(st["Action"])
		if !anyOf(services, service) || !anyWild(actions, "sts:AssumeRole") {
			continue
		}
		if effect == "Deny" {
			return false
		}
		allowed = allowed || st["Condition"] == nil
	}
	return allowed
}

func anyOf(list []string, v string) bool {
	for _, e := range list {
		if e == v {
			return true
		}
	}
	return false
}

// anyWild reports whether one of the patterns matches, whatever the case, as actions are compared.
func anyWild(patterns []string, v string) bool {
	for _, p := range patterns {
		if wild(strings.ToLower(p), strings.ToLower(v)) {
			return true
		}
	}
	return false
}
