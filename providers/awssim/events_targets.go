package awssim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

const (
	maxTargets     = 5   // of one rule, unless AWS raised it
	maxTargetsCall = 100 // in one request
)

// EventTarget is one target of a rule.
type EventTarget struct {
	ID   string         `json:"id"`
	ARN  string         `json:"arn"`
	Body map[string]any `json:"body"` // the whole Target, as the API writes it
}

// targetServices are the services that a target's ARN can name, and whether a role is wanted for them.
var targetServices = map[string]bool{
	"lambda": false, "sqs": false, "sns": false, "logs": false, "events": false, "execute-api": false, "codebuild": true, "codepipeline": true,
	"kinesis": true, "firehose": true, "ecs": true, "batch": true, "states": true, "sagemaker": true, "redshift": true, "redshift-serverless": true,
	"ssm": false, "inspector": true, "appsync": true, "ec2": false, "ssm-incidents": true, "glue": true,
}

// TargetsOf returns the targets that an event on a rule would go to: none of a rule that is not there or is disabled. rule is
// a name on the default bus, bus/name, or an ARN; a name means the account and region of the configuration.
func (s *Server) TargetsOf(rule string) []EventTarget {
	s.mu.Lock()
	defer s.mu.Unlock()
	bus, name := defaultBus, rule
	if i := strings.LastIndex(rule, "/"); i >= 0 {
		bus, name = rule[:i], rule[i+1:]
	}
	r := find(s.state.Rules, func(r *Rule) bool {
		return r.arn() == rule || r.Account == s.cfg.Account && r.Region == s.cfg.Region && r.Bus == bus && r.Name == name
	})
	if r == nil || r.State == "DISABLED" {
		return nil
	}
	return slices.Clone(r.Targets) // a target is never changed, only replaced
}

type failedEntry struct{ TargetId, ErrorCode, ErrorMessage string }

type entriesJSON struct {
	FailedEntryCount int
	FailedEntries    []failedEntry
}

// putTargets adds targets, or replaces those of the same ID as a whole. One that names what is not there fails for itself,
// in an answer that is a success.
func (s *Server) putTargets(c *call) (any, *failure) {
	a := c.args()
	targets := a.targets()
	r, f := s.rule(c, a, "Rule", false)
	if f != nil {
		return nil, f
	}
	if f := c.managed(r, nil); f != nil {
		return nil, f
	}
	for _, t := range targets {
		if f := s.checkTarget(c, t); f != nil {
			return nil, f
		}
	}
	next := slices.Clone(r.Targets)
	out := entriesJSON{FailedEntries: []failedEntry{}}
	for _, t := range targets {
		if why := s.unreachable(c, t); why != "" {
			out.FailedEntries = append(out.FailedEntries, failedEntry{t.ID, "ResourceNotFoundException", why})
			continue
		}
		if i := slices.IndexFunc(next, func(o EventTarget) bool { return o.ID == t.ID }); i >= 0 {
			next[i] = t
		} else {
			next = append(next, t)
		}
	}
	if len(next) > maxTargets && !c.stranger {
		return nil, fail("LimitExceededException", http.StatusBadRequest, "The requested resource exceeds the maximum number allowed.")
	}
	r.Targets, out.FailedEntryCount = next, len(out.FailedEntries)
	return out, nil
}

// targets reads Targets.
func (a *args) targets() []EventTarget {
	items, _ := a.c.params["Targets"].([]any)
	if len(items) == 0 || len(items) > maxTargetsCall {
		a.broken = append(a.broken, "Value at 'targets' failed to satisfy constraint: Member must have 1 to 100 items")
	}
	var out []EventTarget
	for i, item := range items {
		body, _ := a.checked(fmt.Sprintf("targets.%d.member", i+1), item, targetNode).(map[string]any)
		t := EventTarget{Body: body}
		t.ID, _ = body["Id"].(string)
		t.ARN, _ = body["Arn"].(string)
		if slices.ContainsFunc(out, func(o EventTarget) bool { return o.ID == t.ID }) {
			a.broken = append(a.broken, "Value at 'targets' failed to satisfy constraint: Target IDs must be unique: "+t.ID)
		}
		out = append(out, t)
	}
	return out
}

// checkTarget refuses what the service refuses for the whole request.
func (s *Server) checkTarget(c *call, t EventTarget) *failure {
	parts := strings.SplitN(t.ARN, ":", 6)
	if len(parts) < 6 || parts[0] != "arn" || parts[5] == "" {
		return eventInvalid("Parameter %s is not valid. Reason: Provided Arn is not in correct format.", t.ARN)
	}
	needsRole, known := targetServices[parts[2]]
	role, _ := t.Body["RoleArn"].(string)
	inputs := 0
	for _, k := range []string{"Input", "InputPath", "InputTransformer"} {
		if t.Body[k] != nil {
			inputs++
		}
	}
	input, hasInput := t.Body["Input"].(string)
	switch {
	case !known:
		return eventInvalid("Parameter %s is not valid. Reason: The service of the ARN cannot be a target.", t.ARN)
	case inputs > 1:
		return eventInvalid("Only one of Input, InputPath, or InputTransformer must be provided for target %s.", t.ID)
	case hasInput && !json.Valid([]byte(input)):
		return eventInvalid("JSON syntax error in input for target %s", t.ID)
	case parts[2] == "sqs" && strings.HasSuffix(t.ARN, ".fifo") && t.Body["SqsParameters"] == nil:
		return eventInvalid("Parameter(s) SqsParameters must be specified for target: %s.", t.ID)
	case parts[2] == "ecs" && t.Body["EcsParameters"] == nil:
		return eventInvalid("Parameter(s) EcsParameters must be specified for target: %s.", t.ID)
	case needsRole && role == "":
		return eventInvalid("RoleArn is required for target %s.", t.ARN)
	case role != "":
		return s.checkEventRole(c, role)
	}
	return nil
}

// unreachable says why a target can be known not to be there: a bus of this account that does not exist. Whether a function
// or a queue exists is not looked at, at AWS neither.
func (s *Server) unreachable(c *call, t EventTarget) string {
	name, ok := strings.CutPrefix(t.ARN, c.eventARN("event-bus/"))
	if ok && name != defaultBus && s.findBus(c, name) == nil {
		return "Event bus " + name + " does not exist."
	}
	return ""
}

// removeTargets takes away the targets that are there; the others are no failures.
func (s *Server) removeTargets(c *call) (any, *failure) {
	a := c.args()
	ids, force := a.list("Ids", newShape(1, 64, `[\.\-_A-Za-z0-9]+`)), a.boolean("Force")
	if len(ids) == 0 || len(ids) > maxTargetsCall {
		a.broken = append(a.broken, "Value at 'ids' failed to satisfy constraint: Member must have 1 to 100 items")
	}
	r, f := s.rule(c, a, "Rule", false)
	if f != nil {
		return nil, f
	}
	if f := c.managed(r, force); f != nil {
		return nil, f
	}
	r.Targets = filter(r.Targets, func(t EventTarget) bool { return !slices.Contains(ids, t.ID) })
	return entriesJSON{FailedEntries: []failedEntry{}}, nil
}

func (s *Server) listTargets(c *call) (any, *failure) {
	a := c.args()
	token, limit := a.eventPage()
	r, f := s.rule(c, a, "Rule", true)
	if f != nil {
		return nil, f
	}
	targets, next, ok := page(r.Targets, func(t EventTarget) string { return t.ID }, token, limit)
	if !ok {
		return nil, badEventToken()
	}
	out := struct {
		Targets   []map[string]any
		NextToken string `json:",omitempty"`
	}{[]map[string]any{}, next}
	for _, t := range targets {
		out.Targets = append(out.Targets, t.Body)
	}
	return out, nil
}

func (s *Server) listRuleNames(c *call) (any, *failure) {
	a := c.args()
	arn, bus := a.need("TargetArn", eventARNShape), a.busOf("EventBusName")
	token, limit := a.eventPage()
	if f := a.failure(); f != nil {
		return nil, f
	}
	if f := s.bus(c, bus, true); f != nil {
		return nil, f
	}
	rules, next, ok := page(s.rulesOn(c, bus, func(r *Rule) bool {
		return slices.ContainsFunc(r.Targets, func(t EventTarget) bool { return t.ARN == arn })
	}), func(r *Rule) string { return r.Name }, token, limit)
	if !ok {
		return nil, badEventToken()
	}
	out := struct {
		RuleNames []string
		NextToken string `json:",omitempty"`
	}{[]string{}, next}
	for _, r := range rules {
		out.RuleNames = append(out.RuleNames, r.Name)
	}
	return out, nil
}
