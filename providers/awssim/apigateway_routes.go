package awssim

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// RouteSpec is what callers set of a route.
type RouteSpec struct {
	APIKeyRequired           bool                            `json:"apiKeyRequired"`
	AuthorizationScopes      []string                        `json:"authorizationScopes,omitempty"`
	AuthorizationType        string                          `json:"authorizationType"`
	AuthorizerID             string                          `json:"authorizerId,omitempty"`
	ModelSelectionExpression string                          `json:"modelSelectionExpression,omitempty"`
	OperationName            string                          `json:"operationName,omitempty"`
	RequestModels            map[string]string               `json:"requestModels,omitempty"`
	RequestParameters        map[string]ParameterConstraints `json:"requestParameters,omitempty"`
	RouteKey                 string                          `json:"routeKey"`
	ResponseSelection        string                          `json:"routeResponseSelectionExpression,omitempty"`
	Target                   string                          `json:"target,omitempty"`
}

// ParameterConstraints says of a request parameter whether it must be there.
type ParameterConstraints struct {
	Required bool `json:"required"`
}

// Route is what picks the integration of a request.
type Route struct {
	Birth
	ID string `json:"routeId"`
	RouteSpec
}

func (r *Route) key() string  { return r.ID }
func (r *Route) birth() Birth { return r.Birth }

var routes = collection[*Route]{
	what: "Route", member: "routeId", page: childPage, most: maxApiChildren,
	in: func(p *Api) *[]*Route { return &p.Routes },
	show: func(r *Route) any {
		return struct {
			ID string `json:"routeId"`
			RouteSpec
		}{r.ID, r.RouteSpec}
	},
}

// httpRouteKey is a method and a path, whose last part alone may be greedy.
var httpRouteKey = regexp.MustCompile(`^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|ANY) ((/[^/{}+ ]*|/\{[A-Za-z0-9._:-]+\})+(/\{[A-Za-z0-9._:-]+\+\})?|/\{[A-Za-z0-9._:-]+\+\})$`)

const anyRoute = "$default"

func routeOperations() []operation {
	one := []string{"routeId"}
	return []operation{
		{"CreateRoute", []string{"routeKey"}, (*Server).createRoute},
		{"GetRoute", one, routes.readOne},
		{"GetRoutes", []string{"apiId"}, routes.list},
		{"UpdateRoute", one, (*Server).updateRoute},
		{"DeleteRoute", one, (*Server).deleteRoute},
		{"DeleteRouteRequestParameter", one, (*Server).deleteRouteRequestParameter},
	}
}

func (s *Server) createRoute(c *call) (any, *failure) {
	p, f := s.api(c, c.str("apiId"), false)
	if f != nil {
		return nil, f
	}
	r := &Route{Birth: c.born(), ID: randomID(childIDAlphabet, routeIDLen)}
	if r.RouteSpec, f = c.route(p, RouteSpec{AuthorizationType: "NONE"}); f != nil {
		return nil, f
	}
	if f := otherRoute(p, r); f != nil {
		return nil, f
	}
	if f := routes.add(p, r); f != nil {
		return nil, f
	}
	s.autoDeploy(c, p)
	return routes.show(r), nil
}

func (s *Server) updateRoute(c *call) (any, *failure) {
	p, r, f := routes.get(s, c, false)
	if f != nil {
		return nil, f
	}
	if v := c.params["authorizerId"]; v != nil && v != "" && c.params["authorizationType"] == nil {
		return nil, badRequest("Unable to update route. Authorizer type is invalid or null.")
	}
	changed := *r
	if changed.RouteSpec, f = c.route(p, r.RouteSpec); f != nil {
		return nil, f
	}
	if f := otherRoute(p, &changed); f != nil {
		return nil, f
	}
	*r = changed
	s.autoDeploy(c, p)
	return routes.show(r), nil
}

// otherRoute refuses a key that another route of the API has.
func otherRoute(p *Api, r *Route) *failure {
	if slices.ContainsFunc(p.Routes, func(o *Route) bool { return o.ID != r.ID && o.RouteKey == r.RouteKey }) {
		return fail("ConflictException", http.StatusConflict, "Route with key %s already exists for this API", r.RouteKey)
	}
	return nil
}

// deleteRoute takes the route's settings from the stages with it.
func (s *Server) deleteRoute(c *call) (any, *failure) {
	p, r, f := routes.get(s, c, false)
	if f != nil {
		return nil, f
	}
	routes.remove(p, r)
	for _, st := range p.Stages {
		delete(st.RouteSettings, r.RouteKey)
	}
	s.autoDeploy(c, p)
	return nil, nil
}

func (s *Server) deleteRouteRequestParameter(c *call) (any, *failure) {
	p, r, f := routes.get(s, c, false)
	if f != nil {
		return nil, f
	}
	name := c.str("requestParameterKey")
	if _, ok := r.RequestParameters[name]; !ok {
		return nil, notFound("NotFoundException", "Invalid request parameter key specified")
	}
	rest := maps.Clone(r.RequestParameters)
	delete(rest, name)
	r.RequestParameters = rest
	s.autoDeploy(c, p)
	return nil, nil
}

// route returns spec with what was sent, checked.
func (c *call) route(p *Api, spec RouteSpec) (RouteSpec, *failure) {
	a := c.args()
	a.boolean("apiKeyRequired")
	a.list("authorizationScopes", text64)
	a.enum("authorizationType", "", "NONE", "AWS_IAM", "CUSTOM", "JWT")
	a.opt("authorizerId", text1024)
	a.opt("modelSelectionExpression", text128)
	a.opt("operationName", text64)
	a.opt("routeKey", shape{min: 1, max: 1024})
	a.opt("routeResponseSelectionExpression", text128)
	a.opt("target", text128)
	if f := a.failure(); f != nil {
		return spec, f
	}
	out, f := patched(c, spec)
	if f != nil {
		return spec, f
	}
	dropEmpty(out.RequestModels, isBlank)
	if out.AuthorizationType == "NONE" || out.AuthorizationType == "AWS_IAM" {
		if v := c.params["authorizerId"]; v != nil && v != "" {
			return spec, badRequest("AuthorizerId is not supported for authorization type %s", out.AuthorizationType)
		}
		out.AuthorizerID, out.AuthorizationScopes = "", nil
	}
	return out, c.checkRoute(p, out)
}

// checkRoute refuses what the protocol does not have, and what points at nothing.
func (c *call) checkRoute(p *Api, r RouteSpec) *failure {
	if r.RouteKey == "" {
		return badRequest("RouteKey is required")
	}
	if f := c.checkAuthorization(p, r); f != nil {
		return f
	}
	if r.Target != "" {
		id, ok := strings.CutPrefix(r.Target, "integrations/")
		if !ok || findChild(p.Integrations, id) == nil {
			return badRequest("Invalid integration target specified: %s", r.Target)
		}
	}
	if p.Protocol == "WEBSOCKET" {
		return nil
	}
	if r.RouteKey != anyRoute && !httpRouteKey.MatchString(r.RouteKey) {
		return badRequest("The provided route key is not formatted properly for HTTP protocol. Format should be \"<HTTP METHOD> /<RESOURCE PATH>\" or \"$default\"")
	}
	return c.notFor("HTTP", "apiKeyRequired", "modelSelectionExpression", "requestModels", "requestParameters", "routeResponseSelectionExpression")
}

func (c *call) checkAuthorization(p *Api, r RouteSpec) *failure {
	if r.AuthorizationType == "JWT" && p.Protocol == "WEBSOCKET" {
		return badRequest("Authorization type JWT is not supported for WEBSOCKET APIs")
	}
	if len(r.AuthorizationScopes) > 0 && r.AuthorizationType != "JWT" {
		return badRequest("Authorization scopes are supported for JWT authorization only")
	}
	want, needs := map[string]string{"JWT": "JWT", "CUSTOM": "REQUEST"}[r.AuthorizationType]
	if !needs {
		return nil
	}
	z := findChild(p.Authorizers, r.AuthorizerID)
	if z == nil || z.AuthorizerType != want {
		return badRequest("Invalid authorizer ID specified. Setting the authorization type to %s requires a valid authorizer.", r.AuthorizationType)
	}
	return nil
}
