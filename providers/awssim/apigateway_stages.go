package awssim

import (
	"maps"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// StageSpec is what callers set of a stage, tags apart.
type StageSpec struct {
	AccessLogSettings    *AccessLogSettings       `json:"accessLogSettings,omitempty"`
	AutoDeploy           *bool                    `json:"autoDeploy,omitempty"` // comes back only where it was sent
	ClientCertificateID  string                   `json:"clientCertificateId,omitempty"`
	DefaultRouteSettings RouteSettings            `json:"defaultRouteSettings"`
	DeploymentID         string                   `json:"deploymentId,omitempty"`
	Description          string                   `json:"description,omitempty"`
	RouteSettings        map[string]RouteSettings `json:"routeSettings"`
	StageVariables       map[string]string        `json:"stageVariables"`
}

// AccessLogSettings is where and how a stage logs requests.
type AccessLogSettings struct {
	DestinationArn string `json:"destinationArn,omitempty"`
	Format         string `json:"format,omitempty"`
}

// RouteSettings is how a stage serves a route. A throttle that was never set is not there; 0 lets nothing through.
type RouteSettings struct {
	DataTraceEnabled       *bool    `json:"dataTraceEnabled,omitempty"`
	DetailedMetricsEnabled *bool    `json:"detailedMetricsEnabled,omitempty"`
	LoggingLevel           string   `json:"loggingLevel,omitempty"`
	ThrottlingBurstLimit   *int     `json:"throttlingBurstLimit,omitempty"`
	ThrottlingRateLimit    *float64 `json:"throttlingRateLimit,omitempty"` // requests a second
}

// Stage is where a deployment of an API is called.
type Stage struct {
	Birth
	Name      string    `json:"stageName"`
	UpdatedAt time.Time `json:"updatedAt"`
	Deployed  string    `json:"lastDeploymentStatusMessage,omitempty"` // of the last automatic deployment
	StageSpec
	Tags map[string]string `json:"tags"`
}

func (st *Stage) key() string  { return st.Name }
func (st *Stage) birth() Birth { return st.Birth }

var stages = collection[*Stage]{
	what: "stage", member: "stageName", page: fewPage, most: maxApiFew,
	in: func(p *Api) *[]*Stage { return &p.Stages },
	show: func(st *Stage) any {
		return struct {
			Name      string `json:"stageName"`
			CreatedAt string `json:"createdDate"`
			UpdatedAt string `json:"lastUpdatedDate"`
			Deployed  string `json:"lastDeploymentStatusMessage,omitempty"`
			StageSpec
			Tags map[string]string `json:"tags"`
		}{st.Name, st.CreatedAt.UTC().Format(time.RFC3339), st.UpdatedAt.UTC().Format(time.RFC3339), st.Deployed, st.StageSpec, st.Tags}
	},
}

var (
	stageNameShape    = newShape(1, 128, `\$default|[A-Za-z0-9_-]+`)
	stageVariable     = regexp.MustCompile(`^[A-Za-z0-9-._~:/?#&=,]*$`)
	stageVariableName = regexp.MustCompile(`^[A-Za-z0-9_]+$`)
	logDestination    = regexp.MustCompile(`^arn:aws:(logs:[a-z0-9-]+:\d{12}:log-group:[^:]+|firehose:[a-z0-9-]+:\d{12}:deliverystream/amazon-apigateway-.+)(:\*)?$`)
)

func stageOperations() []operation {
	one := []string{"stageName"}
	return []operation{
		{"CreateStage", one, (*Server).createStage},
		{"GetStage", one, stages.readOne},
		{"GetStages", []string{"apiId"}, stages.list},
		{"UpdateStage", one, (*Server).updateStage},
		{"DeleteStage", one, (*Server).deleteStage},
		{"DeleteAccessLogSettings", one, (*Server).deleteAccessLogSettings},
		{"DeleteRouteSettings", one, (*Server).deleteRouteSettings},
	}
}

func (s *Server) createStage(c *call) (any, *failure) {
	p, f := s.api(c, c.str("apiId"), false)
	if f != nil {
		return nil, f
	}
	a := c.args()
	name := a.need("stageName", stageNameShape)
	tags := a.apiTags()
	if f := a.failure(); f != nil {
		return nil, f
	}
	if f := c.checkApiTags(tags, tags); f != nil {
		return nil, f
	}
	st := &Stage{Birth: c.born(), Name: name, UpdatedAt: c.now, Tags: tags}
	spec := StageSpec{DefaultRouteSettings: noSettings(p), RouteSettings: map[string]RouteSettings{}, StageVariables: map[string]string{}}
	if st.StageSpec, f = c.stage(p, spec); f != nil {
		return nil, f
	}
	if findChild(p.Stages, name) != nil {
		return nil, fail("ConflictException", http.StatusConflict, "Stage already exists")
	}
	if f := stages.add(p, st); f != nil {
		return nil, f
	}
	s.autoDeployStage(c, p, st)
	return stages.show(st), nil
}

// noSettings are the settings of a stage that was made without any. Only WebSocket APIs have execution logs.
func noSettings(p *Api) RouteSettings {
	out := RouteSettings{DetailedMetricsEnabled: new(bool)}
	if p.Protocol == "WEBSOCKET" {
		out.DataTraceEnabled, out.LoggingLevel = new(bool), "OFF"
	}
	return out
}

func (s *Server) updateStage(c *call) (any, *failure) {
	p, st, f := stages.get(s, c, false)
	if f != nil {
		return nil, f
	}
	changed, f := c.stage(p, st.StageSpec)
	if f != nil {
		return nil, f
	}
	began := isTrue(changed.AutoDeploy) && !isTrue(st.AutoDeploy)
	st.StageSpec, st.UpdatedAt = changed, c.now
	if began {
		s.autoDeployStage(c, p, st)
	}
	return stages.show(st), nil
}

func (s *Server) deleteStage(c *call) (any, *failure) {
	p, st, f := stages.get(s, c, false)
	if f != nil {
		return nil, f
	}
	stages.remove(p, st)
	return nil, nil
}

func (s *Server) deleteAccessLogSettings(c *call) (any, *failure) {
	_, st, f := stages.get(s, c, false)
	if f != nil {
		return nil, f
	}
	st.AccessLogSettings, st.UpdatedAt = nil, c.now
	return nil, nil
}

func (s *Server) deleteRouteSettings(c *call) (any, *failure) {
	_, st, f := stages.get(s, c, false)
	if f != nil {
		return nil, f
	}
	key := c.str("routeKey")
	if _, ok := st.RouteSettings[key]; !ok {
		return nil, notFound("NotFoundException", "Unable to find Route by key %s within the provided RouteSettings", key)
	}
	rest := maps.Clone(st.RouteSettings)
	delete(rest, key)
	st.RouteSettings, st.UpdatedAt = rest, c.now
	return nil, nil
}

// stage returns spec with what was sent, checked. Settings are merged member by member, so what was once set is only taken
// away by its own call, if there is one.
func (c *call) stage(p *Api, spec StageSpec) (StageSpec, *failure) {
	a := c.args()
	a.boolean("autoDeploy")
	a.opt("clientCertificateId", text1024)
	a.opt("deploymentId", text1024)
	a.opt("description", text1024)
	if f := a.failure(); f != nil {
		return spec, f
	}
	old := spec.RouteSettings
	out, f := patched(c, spec)
	if f != nil {
		return spec, f
	}
	for key := range out.RouteSettings {
		if had, ok := old[key]; ok {
			out.RouteSettings[key] = merge(had, out.RouteSettings[key])
		}
	}
	for name, text := range out.StageVariables {
		if !stageVariableName.MatchString(name) || !stageVariable.MatchString(text) {
			return spec, badRequest("Invalid stage variable %s", name)
		}
	}
	dropEmpty(out.StageVariables, isBlank)
	if l := out.AccessLogSettings; l != nil {
		l.DestinationArn = strings.TrimSuffix(l.DestinationArn, ":*")
	}
	return out, c.checkStage(p, out)
}

// merge returns the settings with the members that were sent.
func merge(had, sent RouteSettings) RouteSettings {
	if sent.DataTraceEnabled != nil {
		had.DataTraceEnabled = sent.DataTraceEnabled
	}
	if sent.DetailedMetricsEnabled != nil {
		had.DetailedMetricsEnabled = sent.DetailedMetricsEnabled
	}
	if sent.LoggingLevel != "" {
		had.LoggingLevel = sent.LoggingLevel
	}
	if sent.ThrottlingBurstLimit != nil {
		had.ThrottlingBurstLimit = sent.ThrottlingBurstLimit
	}
	if sent.ThrottlingRateLimit != nil {
		had.ThrottlingRateLimit = sent.ThrottlingRateLimit
	}
	return had
}

func (c *call) checkStage(p *Api, st StageSpec) *failure {
	if f := checkSettings(p, st.DefaultRouteSettings); f != nil {
		return f
	}
	sent, _ := c.params["routeSettings"].(map[string]any)
	for key, settings := range st.RouteSettings {
		if sent[key] != nil && findRoute(p, key) == nil {
			return notFound("NotFoundException", "Unable to find Route by key %s within the provided RouteSettings", key)
		}
		if f := checkSettings(p, settings); f != nil {
			return f
		}
	}
	if l := st.AccessLogSettings; l != nil {
		switch {
		case !logDestination.MatchString(l.DestinationArn):
			return badRequest("Invalid ARN specified for access logs: %s", l.DestinationArn)
		case !strings.Contains(l.Format, "$context.requestId") && !strings.Contains(l.Format, "$context.extendedRequestId"):
			return badRequest("Access log format must contain $context.requestId or $context.extendedRequestId")
		}
	}
	if v := c.params["deploymentId"]; v != nil {
		switch {
		case isTrue(st.AutoDeploy):
			return badRequest("Deployment ID cannot be set while AutoDeploy is enabled")
		case findChild(p.Deployments, st.DeploymentID) == nil:
			return badRequest("Invalid deployment identifier specified: %v", v)
		}
	}
	if p.Protocol == "WEBSOCKET" {
		return c.notFor("WEBSOCKET", "autoDeploy")
	}
	return c.notFor("HTTP", "clientCertificateId")
}

func findRoute(p *Api, key string) *Route {
	return find(p.Routes, func(r *Route) bool { return r.RouteKey == key })
}

func checkSettings(p *Api, r RouteSettings) *failure {
	switch {
	case r.LoggingLevel != "" && r.LoggingLevel != "OFF" && r.LoggingLevel != "ERROR" && r.LoggingLevel != "INFO":
		return badRequest("Invalid logging level %s", r.LoggingLevel)
	case p.Protocol == "HTTP" && (r.LoggingLevel != "" || r.DataTraceEnabled != nil):
		return badRequest("Execution logs are not supported on protocolType HTTP")
	case r.ThrottlingBurstLimit != nil && *r.ThrottlingBurstLimit < 0, r.ThrottlingRateLimit != nil && *r.ThrottlingRateLimit < 0:
		return badRequest("Throttling limits must not be negative")
	}
	return nil
}
