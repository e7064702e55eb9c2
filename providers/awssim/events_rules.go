package awssim

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	ruleNameShape = newShape(1, 64, `[\.\-_A-Za-z0-9]+`)
	rateShape     = regexp.MustCompile(`^rate\(([1-9]\d*) (minute|hour|day)(s?)\)$`)
	cronShape     = regexp.MustCompile(`^cron\((.+)\)$`)
	cronField     = regexp.MustCompile(`^[A-Za-z0-9,\-*/?#]+$`)
	roleARNShape  = regexp.MustCompile(`^arn:aws:iam::(\d{12}):role/(\S+/)?([^/\s]+)$`)
)

const (
	maxRules       = 300 // of one bus
	eventPrincipal = "events.amazonaws.com"
)

var ruleStates = []string{"ENABLED", "DISABLED", "ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS"}

// Rule is an EventBridge rule with its targets. The service keeps no creation time of it; CreatedAt is the simulator's.
type Rule struct {
	Birth
	Account     string            `json:"account"`
	Region      string            `json:"region"`
	Bus         string            `json:"eventBusName"`
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	Pattern     string            `json:"eventPattern,omitempty"` // JSON, as sent
	Schedule    string            `json:"scheduleExpression,omitempty"`
	State       string            `json:"state"`
	RoleARN     string            `json:"roleArn,omitempty"`
	ManagedBy   string            `json:"managedBy,omitempty"` // the service that made it, and alone may change it
	Tags        map[string]string `json:"tags"`
	Targets     []EventTarget     `json:"targets"`
}

func ruleOperations() []operation {
	name, rule := []string{"Name"}, []string{"Rule"}
	return []operation{
		{"PutRule", name, (*Server).putRule},
		{"DescribeRule", name, (*Server).describeRule},
		{"ListRules", []string{"NamePrefix", "EventBusName"}, (*Server).listRules},
		{"DeleteRule", name, (*Server).deleteRule},
		{"EnableRule", name, (*Server).enableRule},
		{"DisableRule", name, (*Server).disableRule},
		{"PutTargets", rule, (*Server).putTargets},
		{"RemoveTargets", rule, (*Server).removeTargets},
		{"ListTargetsByRule", rule, (*Server).listTargets},
		{"ListRuleNamesByTarget", []string{"TargetArn"}, (*Server).listRuleNames},
	}
}

func (s *Server) findRule(c *call, bus, name string) *Rule {
	return find(s.state.Rules, func(r *Rule) bool {
		return r.Account == c.account && r.Region == c.region && r.Bus == bus && r.Name == name
	})
}

func (r *Rule) arn() string {
	path := r.Name
	if r.Bus != defaultBus {
		path = r.Bus + "/" + r.Name
	}
	return "arn:aws:events:" + r.Region + ":" + r.Account + ":rule/" + path
}

// rule finds the rule that param and EventBusName name, once the other params were found good.
func (s *Server) rule(c *call, a *args, param string, read bool) (*Rule, *failure) {
	name, bus := a.need(param, ruleNameShape), a.busOf("EventBusName")
	if f := a.failure(); f != nil {
		return nil, f
	}
	if f := s.bus(c, bus, read); f != nil {
		return nil, f
	}
	r := s.findRule(c, bus, name)
	if r == nil || read && !c.sees(r.Birth) {
		return nil, noEventThing("Rule %s does not exist on EventBus %s.", name, bus)
	}
	return r, nil
}

// managed refuses a change of a rule that another service made. Removing and deleting can be forced.
func (c *call) managed(r *Rule, force *bool) *failure {
	if r.ManagedBy == "" || c.stranger || isTrue(force) {
		return nil
	}
	return fail("ManagedRuleException", http.StatusBadRequest, "The rule %s is managed by %s.", r.Name, r.ManagedBy)
}

// putRule makes a rule, or replaces all of one but its targets and tags: what the request leaves out is reset, and its tags
// are ignored.
func (s *Server) putRule(c *call) (any, *failure) {
	a := c.args()
	next := Rule{Birth: c.born(), Account: c.account, Region: c.region, Name: a.need("Name", ruleNameShape), Bus: a.busOf("EventBusName"),
		Targets: []EventTarget{}}
	for param, to := range map[string]*string{"Description": &next.Description, "EventPattern": &next.Pattern,
		"ScheduleExpression": &next.Schedule, "RoleArn": &next.RoleARN} {
		if v := a.opt(param, shape{max: map[string]int{"Description": 512, "EventPattern": 4096, "ScheduleExpression": 256, "RoleArn": 1600}[param]}); v != nil {
			*to = *v
		}
	}
	next.State = a.enum("State", "ENABLED", ruleStates...)
	if by := a.opt("ManagedBy", shape{}); by != nil && c.stranger {
		next.ManagedBy = *by
	}
	tags := a.tagList("Tags")
	if f := a.failure(); f != nil {
		return nil, f
	}
	if f := s.bus(c, next.Bus, false); f != nil {
		return nil, f
	}
	if f := s.checkRule(c, &next); f != nil {
		return nil, f
	}
	if old := s.findRule(c, next.Bus, next.Name); old != nil {
		if f := c.managed(old, nil); f != nil {
			return nil, f
		}
		next.Birth, next.Tags, next.Targets, next.ManagedBy = old.Birth, old.Tags, old.Targets, old.ManagedBy
		*old = next
		return map[string]string{"RuleArn": next.arn()}, nil
	}
	return s.newRule(c, &next, tags)
}

func (s *Server) newRule(c *call, r *Rule, tags []tagXML) (any, *failure) {
	if len(filter(s.state.Rules, func(o *Rule) bool { return o.Account == c.account && o.Region == c.region && o.Bus == r.Bus })) >= maxRules {
		return nil, fail("LimitExceededException", http.StatusBadRequest, "The requested resource exceeds the maximum number allowed.")
	}
	var f *failure
	if r.Tags, f = c.withEventTags(nil, tags); f != nil {
		return nil, f
	}
	s.state.Rules = append(s.state.Rules, r)
	return map[string]string{"RuleArn": r.arn()}, nil
}

// checkRule refuses what the service refuses once the shapes are good.
func (s *Server) checkRule(c *call, r *Rule) *failure {
	if r.Pattern == "" && r.Schedule == "" {
		return eventInvalid("Parameter(s) EventPattern or ScheduleExpression must be specified.")
	}
	if r.Pattern != "" {
		if why := wrongPattern(r.Pattern); why != "" {
			return fail("InvalidEventPatternException", http.StatusBadRequest, "Event pattern is not valid. Reason: %s", why)
		}
	}
	if r.Schedule != "" && r.Bus != defaultBus {
		return eventInvalid("ScheduleExpression is supported only on the default event bus.")
	}
	if r.Schedule != "" && !goodSchedule(r.Schedule) {
		return eventInvalid("Parameter ScheduleExpression is not valid.")
	}
	if r.RoleARN != "" {
		return s.checkEventRole(c, r.RoleARN)
	}
	return nil
}

// checkEventRole refuses a role that EventBridge cannot assume: of this account, a role that is there, or there yet, and
// trusts it. What another account holds cannot be known and is refused.
func (s *Server) checkEventRole(c *call, arn string) *failure {
	if m := roleARNShape.FindStringSubmatch(arn); m != nil && m[1] == c.account {
		r := find(s.state.Roles, func(r *Role) bool { return r.ARN == arn })
		if r != nil && !c.now.Before(r.VisibleAt) && assumable(r.Trust, eventPrincipal) {
			return nil
		}
	}
	return eventInvalid("Provided role '%s' cannot be assumed by principal '%s'.", arn, eventPrincipal)
}

// assumable reports whether a trust policy allows a service to assume its role.
func assumable(policy, service string) bool {
	_, statements, f := parsePolicy(policy)
	return f == nil && slices.ContainsFunc(statements, func(st statement) bool {
		var effect string
		var who struct{ Service any }
		if json.Unmarshal(st["Effect"], &effect) != nil || effect != "Allow" || json.Unmarshal(st["Principal"], &who) != nil {
			return false
		}
		if list, ok := who.Service.([]any); ok {
			return slices.Contains(list, any(service))
		}
		return who.Service == service
	})
}

// wrongPattern says what is wrong with an event pattern; "" for nothing. Leaves are lists of values and filters.
func wrongPattern(text string) string {
	var doc map[string]any
	if json.Unmarshal([]byte(text), &doc) != nil || doc == nil {
		return "Filter is not an object"
	}
	if len(doc) == 0 {
		return "At least one field must be given"
	}
	return wrongFilters(doc)
}

func wrongFilters(doc map[string]any) string {
	for _, k := range sortedKeys(doc) {
		switch v := doc[k].(type) {
		case map[string]any:
			if len(v) == 0 {
				return "Empty objects are not allowed"
			}
			if why := wrongFilters(v); why != "" {
				return why
			}
		case []any:
			if len(v) == 0 {
				return "Empty arrays are not allowed"
			}
		default:
			return strconv.Quote(k) + " must be an object or an array"
		}
	}
	return ""
}

// goodSchedule reports whether the service takes a schedule: a rate with the right number, or a cron of six fields of which
// exactly one of the days is open.
func goodSchedule(text string) bool {
	if m := rateShape.FindStringSubmatch(text); m != nil {
		return (m[1] == "1") == (m[3] == "")
	}
	m := cronShape.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	fields := strings.Fields(m[1])
	if len(fields) != 6 || slices.ContainsFunc(fields, func(f string) bool { return !cronField.MatchString(f) }) {
		return false
	}
	return (fields[2] == "?") != (fields[4] == "?")
}

type ruleJSON struct {
	Name               string
	Arn                string
	EventPattern       string `json:",omitempty"`
	State              string
	Description        string `json:",omitempty"`
	ScheduleExpression string `json:",omitempty"`
	RoleArn            string `json:",omitempty"`
	ManagedBy          string `json:",omitempty"`
	EventBusName       string
	CreatedBy          string `json:",omitempty"` // not in lists
}

func (r *Rule) show() ruleJSON {
	return ruleJSON{Name: r.Name, Arn: r.arn(), EventPattern: r.Pattern, State: r.State, Description: r.Description,
		ScheduleExpression: r.Schedule, RoleArn: r.RoleARN, ManagedBy: r.ManagedBy, EventBusName: r.Bus}
}

func (s *Server) describeRule(c *call) (any, *failure) {
	r, f := s.rule(c, c.args(), "Name", true)
	if f != nil {
		return nil, f
	}
	out := r.show()
	out.CreatedBy = r.Account
	return out, nil
}

func (s *Server) listRules(c *call) (any, *failure) {
	a := c.args()
	prefix, bus := a.opt("NamePrefix", ruleNameShape), a.busOf("EventBusName")
	token, limit := a.eventPage()
	if f := a.failure(); f != nil {
		return nil, f
	}
	if f := s.bus(c, bus, true); f != nil {
		return nil, f
	}
	rules, next, ok := page(s.rulesOn(c, bus, func(r *Rule) bool { return prefix == nil || strings.HasPrefix(r.Name, *prefix) }),
		func(r *Rule) string { return r.Name }, token, limit)
	if !ok {
		return nil, badEventToken()
	}
	out := struct {
		Rules     []ruleJSON
		NextToken string `json:",omitempty"`
	}{[]ruleJSON{}, next}
	for _, r := range rules {
		out.Rules = append(out.Rules, r.show())
	}
	return out, nil
}

// rulesOn returns the rules of a bus that the caller sees and keep accepts.
func (s *Server) rulesOn(c *call, bus string, keep func(*Rule) bool) []*Rule {
	return filter(s.state.Rules, func(r *Rule) bool {
		return r.Account == c.account && r.Region == c.region && r.Bus == bus && c.sees(r.Birth) && keep(r)
	})
}

// deleteRule succeeds on nothing.
func (s *Server) deleteRule(c *call) (any, *failure) {
	a := c.args()
	force := a.boolean("Force")
	r, f := s.rule(c, a, "Name", false)
	if f != nil && f.Code == "ResourceNotFoundException" {
		return nil, nil
	}
	if f != nil {
		return nil, f
	}
	if f := c.managed(r, force); f != nil {
		return nil, f
	}
	if len(r.Targets) > 0 {
		return nil, eventInvalid("Rule can't be deleted since it has targets.")
	}
	s.state.Rules = filter(s.state.Rules, func(o *Rule) bool { return o != r })
	return nil, nil
}

func (s *Server) enableRule(c *call) (any, *failure) { return s.setRuleState(c, "ENABLED") }

func (s *Server) disableRule(c *call) (any, *failure) { return s.setRuleState(c, "DISABLED") }

func (s *Server) setRuleState(c *call, state string) (any, *failure) {
	r, f := s.rule(c, c.args(), "Name", false)
	if f != nil {
		return nil, f
	}
	if f := c.managed(r, nil); f != nil {
		return nil, f
	}
	r.State = state
	return nil, nil
}
