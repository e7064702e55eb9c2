package awssim

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// IntegrationSpec is what callers set of an integration.
type IntegrationSpec struct {
	ConnectionID                string                       `json:"connectionId,omitempty"`
	ConnectionType              string                       `json:"connectionType"`
	ContentHandlingStrategy     string                       `json:"contentHandlingStrategy,omitempty"`
	CredentialsArn              string                       `json:"credentialsArn,omitempty"`
	Description                 string                       `json:"description,omitempty"`
	IntegrationMethod           string                       `json:"integrationMethod,omitempty"`
	IntegrationSubtype          string                       `json:"integrationSubtype,omitempty"`
	IntegrationType             string                       `json:"integrationType"`
	IntegrationURI              string                       `json:"integrationUri,omitempty"`
	PassthroughBehavior         string                       `json:"passthroughBehavior,omitempty"`
	PayloadFormatVersion        string                       `json:"payloadFormatVersion"`
	RequestParameters           map[string]string            `json:"requestParameters,omitempty"`
	RequestTemplates            map[string]string            `json:"requestTemplates,omitempty"`
	ResponseParameters          map[string]map[string]string `json:"responseParameters,omitempty"`
	TemplateSelectionExpression string                       `json:"templateSelectionExpression,omitempty"`
	TimeoutInMillis             int                          `json:"timeoutInMillis"`
	TLSConfig                   *TLSConfig                   `json:"tlsConfig,omitempty"`
}

// TLSConfig is how an integration's private connection is checked.
type TLSConfig struct {
	ServerNameToVerify string `json:"serverNameToVerify,omitempty"`
}

// Integration is what an API hands requests to.
type Integration struct {
	Birth
	ID string `json:"integrationId"`
	IntegrationSpec
}

func (i *Integration) key() string  { return i.ID }
func (i *Integration) birth() Birth { return i.Birth }

var integrations = collection[*Integration]{
	what: "Integration", member: "integrationId", page: childPage, most: maxApiChildren,
	in: func(p *Api) *[]*Integration { return &p.Integrations },
	show: func(i *Integration) any {
		return struct {
			ID        string `json:"integrationId"`
			Selection string `json:"integrationResponseSelectionExpression,omitempty"`
			IntegrationSpec
		}{i.ID, responseSelection[i.IntegrationType], i.IntegrationSpec}
	},
}

// responseSelection is how the response of an integration that is no proxy is chosen; WebSocket only.
var responseSelection = map[string]string{
	"MOCK": "${integration.response.statuscode}", "HTTP": "${integration.response.statuscode}",
	"AWS": "${integration.response.body.errorMessage}",
}

var statusKey = regexp.MustCompile(`^[2-5]\d\d$`)

func integrationOperations() []operation {
	one := []string{"integrationId"}
	return []operation{
		{"CreateIntegration", []string{"apiId"}, (*Server).createIntegration},
		{"GetIntegration", one, integrations.readOne},
		{"GetIntegrations", []string{"apiId"}, integrations.list},
		{"UpdateIntegration", one, (*Server).updateIntegration},
		{"DeleteIntegration", one, (*Server).deleteIntegration},
	}
}

func (s *Server) createIntegration(c *call) (any, *failure) {
	p, f := s.api(c, c.str("apiId"), false)
	if f != nil {
		return nil, f
	}
	if c.params["integrationType"] == nil {
		return nil, badRequest("IntegrationType is required")
	}
	i := &Integration{Birth: c.born(), ID: randomID(childIDAlphabet, integrationIDLen)}
	if i.IntegrationSpec, f = c.integration(p, IntegrationSpec{ConnectionType: "INTERNET"}); f != nil {
		return nil, f
	}
	if f := integrations.add(p, i); f != nil {
		return nil, f
	}
	s.autoDeploy(c, p)
	return integrations.show(i), nil
}

func (s *Server) updateIntegration(c *call) (any, *failure) {
	p, i, f := integrations.get(s, c, false)
	if f != nil {
		return nil, f
	}
	changed, f := c.integration(p, i.IntegrationSpec)
	if f != nil {
		return nil, f
	}
	i.IntegrationSpec = changed
	s.autoDeploy(c, p)
	return integrations.show(i), nil
}

// deleteIntegration refuses while a route points at it.
func (s *Server) deleteIntegration(c *call) (any, *failure) {
	p, i, f := integrations.get(s, c, false)
	if f != nil {
		return nil, f
	}
	var users []string
	for _, r := range p.Routes {
		if r.Target == "integrations/"+i.ID {
			users = append(users, r.ID)
		}
	}
	if len(users) > 0 {
		return nil, fail("ConflictException", http.StatusConflict, "Cannot delete Integration because it is referenced by the following Routes with Ids: [%s]", strings.Join(users, ", "))
	}
	integrations.remove(p, i)
	s.autoDeploy(c, p)
	return nil, nil
}

// integration returns spec with what was sent, checked and filled in.
func (c *call) integration(p *Api, spec IntegrationSpec) (IntegrationSpec, *failure) {
	a := c.args()
	a.opt("connectionId", text1024)
	a.enum("connectionType", "", "INTERNET", "VPC_LINK")
	a.enum("contentHandlingStrategy", "", "CONVERT_TO_BINARY", "CONVERT_TO_TEXT")
	a.opt("credentialsArn", text2048)
	a.opt("description", text1024)
	a.opt("integrationMethod", text64)
	a.opt("integrationSubtype", text128)
	a.enum("integrationType", "", "AWS", "AWS_PROXY", "HTTP", "HTTP_PROXY", "MOCK")
	a.opt("integrationUri", text2048)
	a.enum("passthroughBehavior", "", "WHEN_NO_MATCH", "NEVER", "WHEN_NO_TEMPLATES")
	a.enum("payloadFormatVersion", "", "1.0", "2.0")
	a.integer("timeoutInMillis", 0, 50, longestTimeout(p))
	if f := a.failure(); f != nil {
		return spec, f
	}
	out, f := patched(c, spec)
	if f != nil {
		return spec, f
	}
	dropEmpty(out.RequestParameters, isBlank)
	dropEmpty(out.RequestTemplates, isBlank)
	dropEmpty(out.ResponseParameters, func(m map[string]string) bool { return len(m) == 0 }) // one status is replaced as a whole
	if sent, ok := c.params["tlsConfig"].(map[string]any); ok && len(sent) == 0 {
		out.TLSConfig = nil
	}
	if c.params["connectionType"] == "INTERNET" {
		out.ConnectionID, out.TLSConfig = "", nil
	}
	fillIntegration(p, &out)
	return out, c.checkIntegration(p, out)
}

func longestTimeout(p *Api) int {
	if p.Protocol == "WEBSOCKET" {
		return 29000
	}
	return 30000
}

// fillIntegration sets what the service fills in.
func fillIntegration(p *Api, i *IntegrationSpec) {
	if i.TimeoutInMillis == 0 {
		i.TimeoutInMillis = longestTimeout(p)
	}
	if i.IntegrationMethod == "" && i.IntegrationType == "AWS_PROXY" && i.IntegrationSubtype == "" {
		i.IntegrationMethod = "POST"
	}
	if p.Protocol != "WEBSOCKET" {
		return
	}
	if i.PayloadFormatVersion == "" {
		i.PayloadFormatVersion = "1.0"
	}
	if i.PassthroughBehavior == "" && responseSelection[i.IntegrationType] != "" {
		i.PassthroughBehavior = "WHEN_NO_MATCH"
	}
}

// checkIntegration refuses what the protocol or the kind of integration does not have.
func (c *call) checkIntegration(p *Api, i IntegrationSpec) *failure {
	for status := range i.ResponseParameters {
		if !statusKey.MatchString(status) {
			return badRequest("Invalid selection key %s: it must be a status code between 200 and 599", status)
		}
	}
	if p.Protocol == "WEBSOCKET" {
		return c.checkSocketIntegration(i)
	}
	if f := c.notFor("HTTP", "contentHandlingStrategy", "passthroughBehavior", "requestTemplates", "templateSelectionExpression"); f != nil {
		return f
	}
	switch {
	case i.IntegrationType != "AWS_PROXY" && i.IntegrationType != "HTTP_PROXY":
		return badRequest("Integration type %s is not supported for HTTP APIs", i.IntegrationType)
	case i.PayloadFormatVersion == "":
		return badRequest("PayloadFormatVersion is a required parameter for integration of an HTTP API")
	case i.PayloadFormatVersion == "2.0" && (i.IntegrationType != "AWS_PROXY" || i.IntegrationSubtype != ""):
		return badRequest("PayloadFormatVersion 2.0 is supported for Lambda proxy integrations only")
	case i.IntegrationSubtype != "" && i.IntegrationType != "AWS_PROXY":
		return badRequest("IntegrationSubtype is supported for AWS_PROXY integrations only")
	case i.IntegrationSubtype != "" && i.CredentialsArn == "":
		return badRequest("CredentialsArn is required for an integration with a subtype")
	case i.IntegrationSubtype == "" && i.IntegrationURI == "":
		return badRequest("IntegrationUri is required")
	case i.IntegrationType == "HTTP_PROXY" && i.IntegrationMethod == "":
		return badRequest("IntegrationMethod is required for an HTTP_PROXY integration")
	case (i.ConnectionType == "VPC_LINK") != (i.ConnectionID != ""):
		return badRequest("ConnectionId goes with connection type VPC_LINK, and VPC_LINK with a ConnectionId")
	case i.ConnectionType == "VPC_LINK" && i.IntegrationType != "HTTP_PROXY":
		return badRequest("VPC_LINK is supported for HTTP_PROXY integrations only")
	case i.TLSConfig != nil && i.ConnectionType != "VPC_LINK":
		return badRequest("TlsConfig is supported for private integrations only")
	case i.ConnectionType == "INTERNET" && i.IntegrationType == "HTTP_PROXY" && !strings.HasPrefix(i.IntegrationURI, "http"):
		return badRequest("Invalid HTTP endpoint specified for URI")
	}
	return nil
}

func (c *call) checkSocketIntegration(i IntegrationSpec) *failure {
	if f := c.notFor("WEBSOCKET", "connectionId", "integrationSubtype", "responseParameters", "tlsConfig"); f != nil {
		return f
	}
	switch {
	case i.ConnectionType == "VPC_LINK":
		return badRequest("VPC_LINK is not supported for WEBSOCKET APIs")
	case i.PayloadFormatVersion != "1.0":
		return badRequest("PayloadFormatVersion %s is not supported for WEBSOCKET APIs", strconv.Quote(i.PayloadFormatVersion))
	case i.IntegrationType != "MOCK" && i.IntegrationURI == "":
		return badRequest("IntegrationUri is required")
	case i.IntegrationType != "MOCK" && i.IntegrationType != "AWS_PROXY" && i.IntegrationMethod == "":
		return badRequest("IntegrationMethod is required")
	}
	return nil
}
