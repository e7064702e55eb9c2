package awssim

import (
	"net/http"
	"strings"
	"time"
)

// Shapes of EventBridge's model.
var (
	busNameShape  = newShape(1, 256, `[/\.\-_A-Za-z0-9]+`)
	busRefShape   = newShape(1, 1600, `(arn:aws[\w-]*:events:[a-z]+-[a-z]+-[\w-]+:[0-9]{12}:event-bus/)?[/\.\-_A-Za-z0-9]+`)
	eventARNShape = shape{min: 1, max: 1600}
	eventToken    = newShape(1, 2048, `(?s).*`)
)

const (
	defaultBus    = "default"
	maxEventTags  = 50
	eventPage     = 50 // of every list; the reference names only the bound of Limit, 100
	eventPageMost = 100
)

// EventBus is an EventBridge bus that somebody made. The default bus is always there and not in the state.
type EventBus struct {
	Birth
	Account     string            `json:"account"`
	Region      string            `json:"region"`
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	Tags        map[string]string `json:"tags"`
}

func eventBusOperations() []operation {
	name, arn := []string{"Name"}, []string{"ResourceARN"}
	return []operation{
		{"CreateEventBus", name, (*Server).createEventBus},
		{"DescribeEventBus", name, (*Server).describeEventBus},
		{"ListEventBuses", []string{"NamePrefix"}, (*Server).listEventBuses},
		{"DeleteEventBus", name, (*Server).deleteEventBus},
		{"TagResource", arn, (*Server).tagEvents},
		{"UntagResource", arn, (*Server).untagEvents},
		{"ListTagsForResource", arn, (*Server).listEventTags},
	}
}

func eventInvalid(format string, args ...any) *failure {
	return fail("ValidationException", http.StatusBadRequest, format, args...)
}

func noEventThing(format string, args ...any) *failure {
	return fail("ResourceNotFoundException", http.StatusBadRequest, format, args...)
}

func (c *call) eventARN(kind string) string {
	return "arn:aws:events:" + c.region + ":" + c.account + ":" + kind
}

func (s *Server) findBus(c *call, name string) *EventBus {
	return find(s.state.EventBuses, func(b *EventBus) bool { return b.Account == c.account && b.Region == c.region && b.Name == name })
}

// busOf reads a param that names a bus: by name, by ARN, or the default one when it is not there.
func (a *args) busOf(param string) string {
	ref := a.opt(param, busRefShape)
	if ref == nil {
		return defaultBus
	}
	return strings.TrimPrefix(*ref, a.c.eventARN("event-bus/"))
}

// bus finds the bus that a request is about. An ARN of another account or region is a bus that nobody opened to this caller.
func (s *Server) bus(c *call, name string, read bool) *failure {
	if name == defaultBus {
		return nil
	}
	if strings.HasPrefix(name, "arn:") {
		return fail("AccessDeniedException", http.StatusBadRequest, "User: %s is not authorized to use the event bus %s", callerARN(c.account), name)
	}
	if b := s.findBus(c, name); b == nil || read && !c.sees(b.Birth) {
		return noEventThing("Event bus %s does not exist.", name)
	}
	return nil
}

func (s *Server) createEventBus(c *call) (any, *failure) {
	a := c.args()
	b := &EventBus{Birth: c.born(), Account: c.account, Region: c.region, Name: a.need("Name", busNameShape)}
	if d := a.opt("Description", shape{max: 512}); d != nil {
		b.Description = *d
	}
	tags := a.tagList("Tags")
	if f := a.failure(); f != nil {
		return nil, f
	}
	if strings.Contains(b.Name, "/") {
		return nil, eventInvalid("Event bus name must not contain '/'.")
	}
	if b.Name == defaultBus || s.findBus(c, b.Name) != nil {
		return nil, fail("ResourceAlreadyExistsException", http.StatusBadRequest, "Event bus %s already exists.", b.Name)
	}
	var f *failure
	if b.Tags, f = c.withEventTags(nil, tags); f != nil {
		return nil, f
	}
	s.state.EventBuses = append(s.state.EventBuses, b)
	return map[string]string{"EventBusArn": c.eventARN("event-bus/" + b.Name)}, nil
}

type busJSON struct {
	Name             string  `json:"Name"`
	Arn              string  `json:"Arn"`
	Description      string  `json:"Description,omitempty"`
	CreationTime     float64 `json:"CreationTime,omitempty"` // seconds since 1970
	LastModifiedTime float64 `json:"LastModifiedTime,omitempty"`
}

func (c *call) showBus(b *EventBus) busJSON {
	at := float64(b.CreatedAt.Truncate(time.Second).Unix())
	return busJSON{Name: b.Name, Arn: c.eventARN("event-bus/" + b.Name), Description: b.Description, CreationTime: at, LastModifiedTime: at}
}

func (c *call) showDefaultBus() busJSON {
	return busJSON{Name: defaultBus, Arn: c.eventARN("event-bus/" + defaultBus)}
}

func (s *Server) describeEventBus(c *call) (any, *failure) {
	a := c.args()
	name := a.busOf("Name")
	if f := a.failure(); f != nil {
		return nil, f
	}
	if f := s.bus(c, name, true); f != nil {
		return nil, f
	}
	if name == defaultBus {
		return c.showDefaultBus(), nil
	}
	return c.showBus(s.findBus(c, name)), nil
}

func (s *Server) listEventBuses(c *call) (any, *failure) {
	a := c.args()
	prefix := a.opt("NamePrefix", busNameShape)
	token, limit := a.eventPage()
	if f := a.failure(); f != nil {
		return nil, f
	}
	all := []busJSON{c.showDefaultBus()}
	for _, b := range s.state.EventBuses {
		if b.Account == c.account && b.Region == c.region && c.sees(b.Birth) {
			all = append(all, c.showBus(b))
		}
	}
	all = filter(all, func(b busJSON) bool { return prefix == nil || strings.HasPrefix(b.Name, *prefix) })
	all, next, ok := page(all, func(b busJSON) string { return b.Name }, token, limit)
	if !ok {
		return nil, badEventToken()
	}
	return struct {
		EventBuses []busJSON
		NextToken  string `json:",omitempty"`
	}{all, next}, nil
}

func (a *args) eventPage() (token string, limit int) {
	if t := a.opt("NextToken", eventToken); t != nil {
		token = *t
	}
	return token, a.integer("Limit", eventPage, 1, eventPageMost)
}

func badEventToken() *failure { return eventInvalid("Parameter NextToken is not valid.") }

// deleteEventBus succeeds on nothing. A bus that still has rules stays.
func (s *Server) deleteEventBus(c *call) (any, *failure) {
	a := c.args()
	name := a.need("Name", busNameShape)
	if f := a.failure(); f != nil {
		return nil, f
	}
	if name == defaultBus {
		return nil, eventInvalid("Cannot delete event bus default.")
	}
	for _, r := range s.state.Rules {
		if r.Account == c.account && r.Region == c.region && r.Bus == name {
			return nil, eventInvalid("Event bus %s can't be deleted since it has rules.", name)
		}
	}
	b := s.findBus(c, name)
	s.state.EventBuses = filter(s.state.EventBuses, func(o *EventBus) bool { return o != b })
	return nil, nil
}

// eventTags finds the tags of the rule or bus that a ResourceARN names. The default bus has none here.
func (s *Server) eventTags(c *call, read bool) (*map[string]string, *failure) {
	a := c.args()
	arn := a.need("ResourceARN", eventARNShape)
	if f := a.failure(); f != nil {
		return nil, f
	}
	if path, ok := strings.CutPrefix(arn, c.eventARN("rule/")); ok {
		bus, name := defaultBus, path
		if i := strings.LastIndex(path, "/"); i >= 0 {
			bus, name = path[:i], path[i+1:]
		}
		if r := s.findRule(c, bus, name); r != nil && (!read || c.sees(r.Birth)) {
			return &r.Tags, nil
		}
		return nil, noEventThing("Rule %s does not exist on EventBus %s.", name, bus)
	}
	if name, ok := strings.CutPrefix(arn, c.eventARN("event-bus/")); ok {
		if b := s.findBus(c, name); b != nil && (!read || c.sees(b.Birth)) {
			return &b.Tags, nil
		}
		return nil, noEventThing("Event bus %s does not exist.", name)
	}
	return nil, eventInvalid("Parameter ResourceARN is not valid: %s", arn)
}

// withEventTags returns tags with more; callers cannot set reserved ones.
func (c *call) withEventTags(tags map[string]string, more []tagXML) (map[string]string, *failure) {
	out := map[string]string{}
	for k, v := range tags {
		out[k] = v
	}
	for _, t := range more {
		if reserved(t.Key) && !c.stranger {
			return nil, eventInvalid("Tag keys that start with aws: are reserved: %s", t.Key)
		}
		out[t.Key] = t.Value
	}
	if countTags(out) > maxEventTags {
		return nil, fail("LimitExceededException", http.StatusBadRequest, "A resource can have at most %d tags.", maxEventTags)
	}
	return out, nil
}

func (s *Server) tagEvents(c *call) (any, *failure) {
	a := c.args()
	if !a.has("Tags") {
		a.missing("Tags")
	}
	more := a.tagList("Tags")
	if f := a.failure(); f != nil {
		return nil, f
	}
	tags, f := s.eventTags(c, false)
	if f != nil {
		return nil, f
	}
	merged, f := c.withEventTags(*tags, more)
	if f != nil {
		return nil, f
	}
	*tags = merged
	return nil, nil
}

func (s *Server) untagEvents(c *call) (any, *failure) {
	a := c.args()
	if !a.has("TagKeys") {
		a.missing("TagKeys")
	}
	keys := a.list("TagKeys", tagKeyShape)
	if f := a.failure(); f != nil {
		return nil, f
	}
	tags, f := s.eventTags(c, false)
	if f != nil {
		return nil, f
	}
	for _, k := range keys {
		if reserved(k) && !c.stranger {
			return nil, eventInvalid("Tag keys that start with aws: are reserved: %s", k)
		}
	}
	for _, k := range keys {
		delete(*tags, k)
	}
	return nil, nil
}

func (s *Server) listEventTags(c *call) (any, *failure) {
	tags, f := s.eventTags(c, true)
	if f != nil {
		return nil, f
	}
	list := []tagXML{}
	for _, k := range sortedKeys(*tags) {
		list = append(list, tagXML{k, (*tags)[k]})
	}
	return map[string]any{"Tags": list}, nil
}
