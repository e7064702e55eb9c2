package awssim

import (
	"net/http"
	"strings"
	"time"
)

var streamNameShape = newShape(1, 512, `[^:*]*`)

// What PutLogEvents takes: not more than two hours ahead and not older than 14 days; 26 bytes are counted on top of each message.
const (
	maxEvents     = 10000
	eventOverhead = 26
	eventsAhead   = 2 * time.Hour
	eventsBehind  = 14 * 24 * time.Hour
)

func logDataOperations() []operation {
	name := []string{"logGroupName", "logGroupIdentifier"}
	return []operation{
		{"CreateLogStream", name, (*Server).createLogStream},
		{"PutLogEvents", name, (*Server).putLogEvents},
		{"DescribeLogStreams", name, (*Server).describeLogStreams},
	}
}

func (g *LogGroup) stream(name string) *LogStream {
	return find(g.Streams, func(st *LogStream) bool { return st.Name == name })
}

func (s *Server) createLogStream(c *call) (any, *failure) {
	a := c.args()
	name := a.need("logStreamName", streamNameShape)
	g, f := s.group(c, a, a.need("logGroupName", groupNameShape), false)
	if f != nil {
		return nil, f
	}
	if g.stream(name) != nil {
		return nil, fail("ResourceAlreadyExistsException", http.StatusBadRequest, "The specified log stream already exists")
	}
	g.Streams = append(g.Streams, &LogStream{Name: name, CreatedAt: c.now})
	return nil, nil
}

// event is one log event that arrived, with what counts of it.
type event struct{ at, bytes int64 }

// events reads logEvents: in the order of time, each with a message.
func (a *args) events() []event {
	items, _ := a.c.params["logEvents"].([]any)
	if len(items) == 0 || len(items) > maxEvents {
		a.broken = append(a.broken, "Value at 'logEvents' failed to satisfy constraint: Member must have 1 to 10000 items")
	}
	var out []event
	for _, item := range items {
		m, _ := item.(map[string]any)
		at, ok := milliseconds(m["timestamp"])
		message, _ := m["message"].(string)
		if !ok || at < 0 || message == "" {
			a.broken = append(a.broken, "Value at 'logEvents' failed to satisfy constraint: each event needs timestamp and message")
			return nil
		}
		if len(out) > 0 && at < out[len(out)-1].at {
			a.broken = append(a.broken, "Log events in a single PutLogEvents request must be in chronological order.")
			return nil
		}
		out = append(out, event{at, int64(len(message)) + eventOverhead})
	}
	return out
}

type rejectedJSON struct {
	TooNewStart *int `json:"tooNewLogEventStartIndex,omitempty"`
	TooOldEnd   *int `json:"tooOldLogEventEndIndex,omitempty"`
}

// putLogEvents takes what lies in the service's time range, and says what it did not take; that is a success all the same.
func (s *Server) putLogEvents(c *call) (any, *failure) {
	a := c.args()
	name := a.need("logStreamName", streamNameShape)
	events := a.events()
	g, f := s.group(c, a, a.need("logGroupName", groupNameShape), false)
	if f != nil {
		return nil, f
	}
	st := g.stream(name)
	if st == nil {
		return nil, fail("ResourceNotFoundException", http.StatusBadRequest, "The specified log stream does not exist.")
	}
	var rejected rejectedJSON
	for i, e := range events {
		switch {
		case e.at > c.now.Add(eventsAhead).UnixMilli():
			if rejected.TooNewStart == nil {
				rejected.TooNewStart = &i
			}
		case e.at < c.now.Add(-eventsBehind).UnixMilli():
			end := i + 1
			rejected.TooOldEnd = &end
		default:
			st.take(e, c.now)
		}
	}
	out := map[string]any{"nextSequenceToken": "49590302000000000000000000000000000000000000000000000000"}
	if rejected != (rejectedJSON{}) {
		out["rejectedLogEventsInfo"] = rejected
	}
	return out, nil
}

func (st *LogStream) take(e event, now time.Time) {
	if st.Events == 0 || e.at < st.FirstEvent {
		st.FirstEvent = e.at
	}
	st.LastEvent = max(st.LastEvent, e.at)
	st.Events++
	st.Bytes += e.bytes
	st.IngestedAt = now
}

type streamJSON struct {
	LogStreamName       string `json:"logStreamName"`
	CreationTime        int64  `json:"creationTime"`
	FirstEventTimestamp int64  `json:"firstEventTimestamp,omitempty"`
	LastEventTimestamp  int64  `json:"lastEventTimestamp,omitempty"`
	LastIngestionTime   int64  `json:"lastIngestionTime,omitempty"`
	Arn                 string `json:"arn"`
	StoredBytes         int64  `json:"storedBytes"` // 0 for every stream since 2019
}

func (g *LogGroup) showStream(st *LogStream) streamJSON {
	x := streamJSON{LogStreamName: st.Name, CreationTime: st.CreatedAt.UnixMilli(), Arn: g.arn() + ":log-stream:" + st.Name,
		FirstEventTimestamp: st.FirstEvent, LastEventTimestamp: st.LastEvent}
	if st.Events > 0 {
		x.LastIngestionTime = st.IngestedAt.UnixMilli()
	}
	return x
}

func (s *Server) describeLogStreams(c *call) (any, *failure) {
	a := c.args()
	var name string
	if a.has("logGroupIdentifier") {
		name = a.identified()
	} else {
		name = a.need("logGroupName", groupNameShape)
	}
	prefix := a.opt("logStreamNamePrefix", streamNameShape)
	order := a.enum("orderBy", "LogStreamName", "LogStreamName", "LastEventTime")
	descending := isTrue(a.boolean("descending"))
	token, limit := a.tokenArgs()
	g, f := s.group(c, a, name, true)
	if f != nil {
		return nil, f
	}
	if a.has("logGroupIdentifier") && a.has("logGroupName") {
		return nil, badParameter("LogGroup name and LogGroup ARN are mutually exclusive parameters.")
	}
	if order == "LastEventTime" && prefix != nil {
		return nil, badParameter("Cannot order by LastEventTime with a logStreamNamePrefix.")
	}
	streams := filter(g.Streams, func(st *LogStream) bool { return prefix == nil || strings.HasPrefix(st.Name, *prefix) })
	streams, next, ok := page(streams, streamKey(order, descending), token, limit)
	if !ok {
		return nil, badParameter("The specified nextToken is invalid.")
	}
	out := struct {
		LogStreams []streamJSON `json:"logStreams"`
		NextToken  string       `json:"nextToken,omitempty"`
	}{[]streamJSON{}, next}
	for _, st := range streams {
		out.LogStreams = append(out.LogStreams, g.showStream(st))
	}
	return out, nil
}
