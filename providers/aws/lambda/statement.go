package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/session"
)

// statement is one statement of a function's policy.
type statement struct {
	Sid       string
	Effect    string
	Action    string
	Principal json.RawMessage
	Condition map[string]map[string]string
	other     []string // members that a permission cannot say
}

// parseStatement reads a statement; an error says that it has another shape than any that AddPermission makes.
func parseStatement(text string) (*statement, error) {
	s := &statement{}
	if err := json.Unmarshal([]byte(text), s); err != nil {
		return nil, errors.New("the statement is none that AddPermission makes")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		return nil, err
	}
	for _, name := range []string{"NotAction", "NotPrincipal", "NotResource"} {
		if members[name] != nil {
			s.other = append(s.other, name)
		}
	}
	return s, nil
}

// policy returns the statements of a function's policy, by statement ID and undecoded: others' may have any shape. A
// function without a policy is not found, as the service says it.
func (p *permission) policy(ctx context.Context, function string) (map[string]json.RawMessage, session.Reply, error) {
	name, qualifier := split(function)
	out, reply, err := call(ctx, p.service, p.api.GetPolicy, &lambda.GetPolicyInput{FunctionName: name, Qualifier: qualifier})
	if err != nil {
		return nil, reply, err
	}
	var doc struct{ Statement []json.RawMessage }
	if err := json.Unmarshal([]byte(aws.ToString(out.Policy)), &doc); err != nil || doc.Statement == nil {
		return nil, reply, session.Invalid("GetPolicy", "the answer holds no policy with statements")
	}
	all := make(map[string]json.RawMessage, len(doc.Statement))
	for _, raw := range doc.Statement {
		var s struct{ Sid string }
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, reply, session.Invalid("GetPolicy", "the policy has a statement that is none")
		}
		if s.Sid != "" && all[s.Sid] != nil {
			return nil, reply, session.Invalid("GetPolicy", "the policy has two statements with the ID "+s.Sid)
		}
		all[s.Sid] = raw
	}
	return all, reply, nil
}

// split divides a function's normal name from its version or alias.
func split(function string) (name, qualifier *string) {
	base, q, ok := strings.Cut(function, ":")
	if !ok || strings.HasPrefix(function, "arn:") {
		return &function, nil
	}
	return &base, &q
}

// Read implements resource.Provider: the one statement of the function's policy.
func (p *permission) Read(ctx context.Context, key resource.Key) (*resource.Observation, error) {
	all, reply, err := p.policy(ctx, key["FunctionName"])
	if err != nil {
		return nil, err
	}
	raw, ok := all[key["Id"]]
	if !ok || key["Id"] == "" {
		return nil, &resource.Error{Kind: resource.NotFound, Op: "GetPolicy", RequestID: reply.RequestID, Executed: resource.No, ServedAt: reply.ServedAt,
			Err: errors.New("the function's policy has no statement with this ID")}
	}
	return observeStatement(key["FunctionName"], raw, reply.ServedAt)
}

// Find implements resource.Finder: the statement whose ID holds the nonce, in the policy of the function.
func (p *permission) Find(ctx context.Context, q resource.Query) ([]resource.Candidate, error) {
	if q.Key["FunctionName"] == "" || q.Nonce == "" {
		return nil, nil
	}
	o, err := p.Read(ctx, resource.Key{"FunctionName": q.Key["FunctionName"], "Id": sidPrefix + q.Nonce})
	if err != nil {
		return nil, session.SkipGone(err)
	}
	return []resource.Candidate{{Observation: *o, ByNonce: true}}, nil
}

// nonceOf returns the nonce in a statement ID; "" in a stranger's.
func nonceOf(sid string) string {
	nonce, _ := strings.CutPrefix(sid, sidPrefix)
	if nonce == sid {
		return ""
	}
	return nonce
}

// identity of a statement: an ID that holds a nonce is given once. A stranger's can be given again, and tells nothing.
func identity(sid string) resource.Identity {
	if nonceOf(sid) == "" {
		return resource.Identity{}
	}
	return resource.Identity{UniqueID: sid}
}

// observeStatement turns a statement into config shape. One that says more than a permission can say is not understood.
func observeStatement(function string, raw json.RawMessage, served time.Time) (*resource.Observation, error) {
	s, err := parseStatement(string(raw))
	if err == nil && (s.Effect != "Allow" || len(s.other) > 0) {
		err = fmt.Errorf("the statement is a %s with %v, which no permission says", s.Effect, s.other)
	}
	if err != nil {
		return nil, session.Invalid("GetPolicy", err.Error())
	}
	principal, err := s.principal()
	if err != nil {
		return nil, session.Invalid("GetPolicy", err.Error())
	}
	o := &resource.Observation{
		Key:      resource.Key{"FunctionName": function, "Id": s.Sid},
		Params:   value.Map{"FunctionName": value.Of(function), "Action": value.Of(s.Action), "Principal": value.Of(principal)},
		Output:   value.Map{"Id": value.Of(s.Sid)},
		Identity: identity(s.Sid),
		Owner:    resource.Tags{},
		ServedAt: served,
		Gaps:     map[value.Path]resource.Gap{},
		Ready:    true,
		Sources:  map[string]string{"object": "GetPolicy", "tags": "GetPolicy"},
	}
	if nonce := nonceOf(s.Sid); nonce != "" {
		o.Owner[resource.TagNonce] = nonce
	}
	for operator, keys := range s.Condition {
		for name, text := range keys {
			param := conditions[strings.ToLower(operator+" "+name)]
			switch {
			case param == "":
				return nil, session.Invalid("GetPolicy", "the statement has the condition "+operator+" "+name+", which no permission says")
			case param == "InvokedViaFunctionUrl":
				o.Params[param] = value.Of(text == "true")
			default:
				o.Params[param] = value.Of(text)
			}
		}
	}
	return o, nil
}

// conditions are the params by the conditions that stand for them, in lower case as neither part has one.
var conditions = map[string]string{
	"arnlike aws:sourcearn":                   "SourceArn",
	"stringequals aws:sourceaccount":          "SourceAccount",
	"stringequals lambda:eventsourcetoken":    "EventSourceToken",
	"stringequals lambda:functionurlauthtype": "FunctionUrlAuthType",
	"stringequals aws:principalorgid":         "PrincipalOrgID",
	"bool lambda:invokedviafunctionurl":       "InvokedViaFunctionUrl",
}

// principal returns whom a statement is about, an account by its number.
func (s *statement) principal() (string, error) {
	var name string
	if json.Unmarshal(s.Principal, &name) == nil && name != "" {
		return bareAccount(name), nil
	}
	var kinds map[string]string
	if json.Unmarshal(s.Principal, &kinds) == nil && len(kinds) == 1 {
		for kind, name := range kinds {
			if (kind == "Service" || kind == "AWS") && name != "" {
				return bareAccount(name), nil
			}
		}
	}
	return "", errors.New("the statement has a principal that no permission says")
}
