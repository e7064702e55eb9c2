package awssim

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Shapes and defaults of API Gateway v2.
var (
	apiNameShape        = shape{min: 1, max: 128}
	apiDescriptionShape = shape{max: 1024}
	apiVersionShape     = shape{max: 64}
)

const (
	apiIDAlphabet     = "abcdefghijklmnopqrstuvwxyz0123456789"
	apiIDLength       = 10
	maxApis           = 600
	maxApiTags        = 50
	maxApiTagKey      = 128
	maxApiTagValue    = 256
	defaultApiPage    = 25
	maxApiPage        = 500
	httpSelection     = "$request.method $request.path"
	defaultKeySource  = "$request.header.x-api-key"
	maxCorsAgeSeconds = 86400
)

func apiOperations() []operation {
	id, arn := []string{"apiId"}, []string{"resourceArn"}
	return []operation{
		{"CreateApi", []string{"name"}, (*Server).createApi},
		{"GetApi", id, (*Server).getApi},
		{"GetApis", nil, (*Server).getApis},
		{"UpdateApi", id, (*Server).updateApi},
		{"DeleteApi", id, (*Server).deleteApi},
		{"DeleteCorsConfiguration", id, (*Server).deleteCors},
		{"TagResource", arn, (*Server).tagGateway},
		{"UntagResource", arn, (*Server).untagGateway},
		{"GetTags", arn, (*Server).getGatewayTags},
	}
}

// Cors is an API's CORS configuration. Header names are kept in lower case; null and {} differ.
type Cors struct {
	AllowCredentials *bool    `json:"allowCredentials,omitempty"`
	AllowHeaders     []string `json:"allowHeaders,omitempty"`
	AllowMethods     []string `json:"allowMethods,omitempty"`
	AllowOrigins     []string `json:"allowOrigins,omitempty"`
	ExposeHeaders    []string `json:"exposeHeaders,omitempty"`
	MaxAge           *int     `json:"maxAge,omitempty"` // seconds
}

type apiJSON struct {
	ApiEndpoint               string            `json:"apiEndpoint"`
	ApiID                     string            `json:"apiId"`
	ApiKeySelectionExpression string            `json:"apiKeySelectionExpression"`
	CorsConfiguration         *Cors             `json:"corsConfiguration,omitempty"`
	CreatedDate               string            `json:"createdDate"`
	Description               string            `json:"description,omitempty"`
	DisableExecuteApiEndpoint bool              `json:"disableExecuteApiEndpoint"`
	IPAddressType             string            `json:"ipAddressType"`
	Name                      string            `json:"name"`
	ProtocolType              string            `json:"protocolType"`
	RouteSelectionExpression  string            `json:"routeSelectionExpression"`
	Tags                      map[string]string `json:"tags"`
	Version                   string            `json:"version,omitempty"`
}

// showApi is an API as every operation returns it. disableSchemaValidation is taken and never given back.
func showApi(p *Api) apiJSON {
	scheme := "https"
	if p.Protocol == "WEBSOCKET" {
		scheme = "wss"
	}
	return apiJSON{ApiEndpoint: scheme + "://" + p.ID + ".execute-api." + p.Region + ".amazonaws.com", ApiID: p.ID,
		ApiKeySelectionExpression: p.KeySelection, CorsConfiguration: p.Cors, CreatedDate: p.CreatedAt.UTC().Format(time.RFC3339),
		Description: p.Description, DisableExecuteApiEndpoint: p.DisableEndpoint, IPAddressType: p.IPAddressType, Name: p.Name,
		ProtocolType: p.Protocol, RouteSelectionExpression: p.RouteSelection, Tags: p.Tags, Version: p.Version}
}

func badRequest(format string, args ...any) *failure {
	return fail("BadRequestException", http.StatusBadRequest, format, args...)
}

func (s *Server) findApi(account, region, id string) *Api {
	return find(s.state.Apis, func(p *Api) bool { return p.Account == account && p.Region == region && p.ID == id })
}

// api finds the API that a call names.
func (s *Server) api(c *call, id string, read bool) (*Api, *failure) {
	p := s.findApi(c.account, c.region, id)
	if p == nil || read && !c.sees(p.Birth) {
		f := notFound("NotFoundException", "Invalid API identifier specified %s:%s", c.account, id)
		return nil, f
	}
	return p, nil
}

func (s *Server) createApi(c *call) (any, *failure) {
	a := c.args()
	p := &Api{Birth: c.born(), Account: c.account, Region: c.region, IPAddressType: "ipv4", KeySelection: defaultKeySource}
	p.Name = a.need("name", apiNameShape)
	if !a.has("protocolType") {
		a.missing("protocolType")
	}
	p.Protocol = a.enum("protocolType", "", "HTTP", "WEBSOCKET")
	a.setApi(p)
	p.Tags = a.apiTags()
	if f := a.failure(); f != nil {
		return nil, f
	}
	if f := c.checkApiTags(p.Tags, p.Tags); f != nil {
		return nil, f
	}
	if p.Protocol == "HTTP" && p.RouteSelection == "" {
		p.RouteSelection = httpSelection
	}
	if f := c.checkApi(p); f != nil {
		return nil, f
	}
	if len(filter(s.state.Apis, func(o *Api) bool { return o.Account == c.account && o.Region == c.region })) >= maxApis {
		return nil, badRequest("The maximum number of APIs has been reached: %d", maxApis)
	}
	p.ID = randomID(apiIDAlphabet, apiIDLength)
	s.state.Apis = append(s.state.Apis, p)
	return showApi(p), nil
}

// setApi sets what was sent and leaves what was not. An empty description or version takes it away; a CORS configuration
// replaces the whole of the old one.
func (a *args) setApi(p *Api) {
	set := func(name string, sh shape, to *string) {
		if v := a.opt(name, sh); v != nil {
			*to = *v
		}
	}
	set("description", apiDescriptionShape, &p.Description)
	set("version", apiVersionShape, &p.Version)
	set("apiKeySelectionExpression", shape{min: 1}, &p.KeySelection)
	set("routeSelectionExpression", shape{min: 1}, &p.RouteSelection)
	p.IPAddressType = a.enum("ipAddressType", p.IPAddressType, "ipv4", "dualstack")
	a.boolean("disableSchemaValidation")
	if b := a.boolean("disableExecuteApiEndpoint"); b != nil {
		p.DisableEndpoint = *b
	}
	if a.has("corsConfiguration") {
		p.Cors = a.cors()
	}
}

func (a *args) cors() *Cors {
	out := &Cors{}
	if json.Unmarshal(mustJSON(a.c.params["corsConfiguration"]), out) != nil {
		a.broken = append(a.broken, "Value at 'corsConfiguration' failed to satisfy constraint: it is not a CORS configuration")
		return nil
	}
	if out.MaxAge != nil && (*out.MaxAge < -1 || *out.MaxAge > maxCorsAgeSeconds) {
		a.breaks("corsConfiguration.maxAge", *out.MaxAge, "Member must be between -1 and 86400")
	}
	lower := func(names []string) {
		for i, n := range names {
			names[i] = strings.ToLower(n)
		}
	}
	lower(out.AllowHeaders)
	lower(out.ExposeHeaders)
	return out
}

// checkApi refuses what the protocol does not have.
func (c *call) checkApi(p *Api) *failure {
	for _, name := range []string{"routeKey", "target", "credentialsArn"} {
		if c.params[name] != nil {
			return badRequest("The simulated cloud has no quick create: create the API without %s", name)
		}
	}
	if p.Protocol == "WEBSOCKET" {
		switch {
		case p.RouteSelection == "":
			return badRequest("RouteSelectionExpression is required for a WEBSOCKET API")
		case p.Cors != nil:
			return badRequest("CORS configuration is supported for HTTP APIs only")
		}
		return nil
	}
	if p.RouteSelection != httpSelection {
		return badRequest("RouteSelectionExpression of an HTTP API must be %s", httpSelection)
	}
	return checkCors(p.Cors)
}

func checkCors(cors *Cors) *failure {
	if cors == nil {
		return nil
	}
	for _, origin := range cors.AllowOrigins {
		if origin != "*" && !strings.Contains(origin, "://") {
			return badRequest("Invalid format for origin %s: it needs a scheme", origin)
		}
	}
	if isTrue(cors.AllowCredentials) && slices.Contains(cors.AllowOrigins, "*") {
		return badRequest("AllowCredentials cannot be true while AllowOrigins is *")
	}
	return nil
}

func (s *Server) getApi(c *call) (any, *failure) {
	p, f := s.api(c, c.str("apiId"), true)
	if f != nil {
		return nil, f
	}
	return showApi(p), nil
}

func (s *Server) getApis(c *call) (any, *failure) {
	limit, f := c.pageSize(defaultApiPage)
	if f != nil {
		return nil, f
	}
	apis := filter(s.state.Apis, func(p *Api) bool { return p.Account == c.account && p.Region == c.region && c.sees(p.Birth) })
	apis, next, ok := page(apis, func(p *Api) string { return p.ID }, c.str("nextToken"), limit)
	if !ok {
		return nil, badRequest("Invalid nextToken")
	}
	out := struct {
		Items     []apiJSON `json:"items"`
		NextToken string    `json:"nextToken,omitempty"`
	}{[]apiJSON{}, next}
	for _, p := range apis {
		out.Items = append(out.Items, showApi(p))
	}
	return out, nil
}

// pageSize reads maxResults.
func (c *call) pageSize(absent int) (int, *failure) {
	v, sent := c.params["maxResults"].(string)
	if !sent {
		return absent, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > maxApiPage {
		return 0, badRequest("Invalid value for maxResults: it must be between 1 and %d", maxApiPage)
	}
	return n, nil
}

func (s *Server) updateApi(c *call) (any, *failure) {
	a := c.args()
	p, f := s.api(c, c.str("apiId"), false)
	if f != nil {
		return nil, f
	}
	changed := *p
	if name := a.opt("name", apiNameShape); name != nil {
		changed.Name = *name
	}
	a.setApi(&changed)
	if f := a.failure(); f != nil {
		return nil, f
	}
	if f := c.checkApi(&changed); f != nil {
		return nil, f
	}
	*p = changed
	return showApi(p), nil
}

func (s *Server) deleteApi(c *call) (any, *failure) {
	p, f := s.api(c, c.str("apiId"), false)
	if f != nil {
		return nil, f
	}
	s.state.Apis = filter(s.state.Apis, func(o *Api) bool { return o != p })
	return nil, nil
}

func (s *Server) deleteCors(c *call) (any, *failure) {
	p, f := s.api(c, c.str("apiId"), false)
	if f != nil {
		return nil, f
	}
	p.Cors = nil
	return nil, nil
}
