package awssim

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// AuthorizerSpec is what callers set of an authorizer. identityValidationExpression is taken and never given back.
type AuthorizerSpec struct {
	CredentialsArn        string            `json:"authorizerCredentialsArn,omitempty"`
	PayloadFormatVersion  string            `json:"authorizerPayloadFormatVersion,omitempty"`
	ResultTTL             *int              `json:"authorizerResultTtlInSeconds,omitempty"` // seconds
	AuthorizerType        string            `json:"authorizerType"`
	AuthorizerURI         string            `json:"authorizerUri,omitempty"`
	EnableSimpleResponses *bool             `json:"enableSimpleResponses,omitempty"`
	IdentitySource        []string          `json:"identitySource"`
	JwtConfiguration      *JWTConfiguration `json:"jwtConfiguration,omitempty"`
	Name                  string            `json:"name"`
}

// JWTConfiguration is whose tokens are taken, and for whom.
type JWTConfiguration struct {
	Audience []string `json:"audience,omitempty"`
	Issuer   string   `json:"issuer,omitempty"`
}

// Authorizer decides who may call a route.
type Authorizer struct {
	Birth
	ID string `json:"authorizerId"`
	AuthorizerSpec
}

func (z *Authorizer) key() string  { return z.ID }
func (z *Authorizer) birth() Birth { return z.Birth }

var authorizers = collection[*Authorizer]{
	what: "Authorizer", member: "authorizerId", page: fewPage, most: maxApiFew,
	in: func(p *Api) *[]*Authorizer { return &p.Authorizers },
	show: func(z *Authorizer) any {
		return struct {
			ID string `json:"authorizerId"`
			AuthorizerSpec
		}{z.ID, z.AuthorizerSpec}
	},
}

const (
	maxAuthorizerTTL     = 3600
	defaultAuthorizerTTL = 300
)

var (
	authorizerURI = regexp.MustCompile(`^arn:aws:apigateway:[a-z0-9-]+:lambda:path/2015-03-31/functions/arn:aws:lambda:[^/]+/invocations$`)
	tokenSource   = regexp.MustCompile(`^\$request\.(header|querystring)\.[A-Za-z0-9_-]+$`)
)

func authorizerOperations() []operation {
	one := []string{"authorizerId"}
	return []operation{
		{"CreateAuthorizer", []string{"name"}, (*Server).createAuthorizer},
		{"GetAuthorizer", one, authorizers.readOne},
		{"GetAuthorizers", []string{"apiId"}, authorizers.list},
		{"UpdateAuthorizer", one, (*Server).updateAuthorizer},
		{"DeleteAuthorizer", one, (*Server).deleteAuthorizer},
	}
}

func (s *Server) createAuthorizer(c *call) (any, *failure) {
	p, f := s.api(c, c.str("apiId"), false)
	if f != nil {
		return nil, f
	}
	a := c.args()
	for _, name := range []string{"authorizerType", "identitySource", "name"} {
		if !a.has(name) {
			a.missing(name)
		}
	}
	if f := a.failure(); f != nil {
		return nil, f
	}
	z := &Authorizer{Birth: c.born(), ID: randomID(childIDAlphabet, authorizerIDLen)}
	if z.AuthorizerSpec, f = c.authorizer(p, AuthorizerSpec{}); f != nil {
		return nil, f
	}
	if f := otherAuthorizer(p, z); f != nil {
		return nil, f
	}
	if f := authorizers.add(p, z); f != nil {
		return nil, f
	}
	s.autoDeploy(c, p)
	return authorizers.show(z), nil
}

func (s *Server) updateAuthorizer(c *call) (any, *failure) {
	p, z, f := authorizers.get(s, c, false)
	if f != nil {
		return nil, f
	}
	changed := *z
	if changed.AuthorizerSpec, f = c.authorizer(p, z.AuthorizerSpec); f != nil {
		return nil, f
	}
	if f := otherAuthorizer(p, &changed); f != nil {
		return nil, f
	}
	*z = changed
	s.autoDeploy(c, p)
	return authorizers.show(z), nil
}

// otherAuthorizer refuses a name that another authorizer of the API has, with the code of any bad request.
func otherAuthorizer(p *Api, z *Authorizer) *failure {
	if slices.ContainsFunc(p.Authorizers, func(o *Authorizer) bool { return o.ID != z.ID && o.Name == z.Name }) {
		return badRequest("Authorizer name must be unique. Authorizer %s already exists in this RestApi.", z.Name)
	}
	return nil
}

// deleteAuthorizer refuses while a route asks it.
func (s *Server) deleteAuthorizer(c *call) (any, *failure) {
	p, z, f := authorizers.get(s, c, false)
	if f != nil {
		return nil, f
	}
	for _, r := range p.Routes {
		if r.AuthorizerID == z.ID {
			return nil, fail("ConflictException", http.StatusConflict, "Cannot delete authorizer '%s', is referenced in route: %s", z.Name, r.RouteKey)
		}
	}
	authorizers.remove(p, z)
	s.autoDeploy(c, p)
	return nil, nil
}

// authorizer returns spec with what was sent, checked and filled in.
func (c *call) authorizer(p *Api, spec AuthorizerSpec) (AuthorizerSpec, *failure) {
	a := c.args()
	a.opt("authorizerCredentialsArn", text2048)
	a.enum("authorizerPayloadFormatVersion", "", "1.0", "2.0")
	a.integer("authorizerResultTtlInSeconds", 0, 0, maxAuthorizerTTL)
	a.enum("authorizerType", "", "REQUEST", "JWT")
	a.opt("authorizerUri", text2048)
	a.boolean("enableSimpleResponses")
	a.list("identitySource", shape{min: 1})
	a.opt("identityValidationExpression", text1024)
	a.opt("name", nameShape)
	if f := a.failure(); f != nil {
		return spec, f
	}
	out, f := patched(c, spec)
	if f != nil {
		return spec, f
	}
	switch { // what only the other kind has goes with it
	case out.AuthorizerType == "JWT":
		out = AuthorizerSpec{AuthorizerType: "JWT", IdentitySource: out.IdentitySource, JwtConfiguration: out.JwtConfiguration, Name: out.Name}
	case c.params["jwtConfiguration"] == nil:
		out.JwtConfiguration = nil
	}
	if out.AuthorizerType == "REQUEST" && p.Protocol == "HTTP" {
		fillAuthorizer(&out)
	}
	return out, c.checkAuthorizer(p, out)
}

// fillAuthorizer sets what the service fills in for a function that authorizes an HTTP API.
func fillAuthorizer(z *AuthorizerSpec) {
	if z.ResultTTL == nil {
		ttl := 0
		if len(z.IdentitySource) > 0 {
			ttl = defaultAuthorizerTTL
		}
		z.ResultTTL = &ttl
	}
	if z.EnableSimpleResponses == nil {
		z.EnableSimpleResponses = new(bool)
	}
}

// checkAuthorizer refuses what the protocol or the kind of authorizer does not have.
func (c *call) checkAuthorizer(p *Api, z AuthorizerSpec) *failure {
	if z.AuthorizerType == "JWT" {
		return c.checkJWT(p, z)
	}
	if z.JwtConfiguration != nil {
		return badRequest("JwtConfiguration is supported for JWT authorizers only")
	}
	if !authorizerURI.MatchString(z.AuthorizerURI) {
		return badRequest("Invalid Authorizer URI: it must be a well-formed Lambda function URI")
	}
	if p.Protocol == "WEBSOCKET" {
		return c.notFor("WEBSOCKET", "authorizerPayloadFormatVersion", "authorizerResultTtlInSeconds", "enableSimpleResponses")
	}
	switch {
	case z.PayloadFormatVersion == "":
		return badRequest("AuthorizerPayloadFormatVersion is a required parameter for REQUEST authorizer of an HTTP API")
	case isTrue(z.EnableSimpleResponses) && z.PayloadFormatVersion != "2.0":
		return badRequest("EnableSimpleResponses is supported for payload format version 2.0 only")
	case *z.ResultTTL > 0 && len(z.IdentitySource) == 0:
		return badRequest("Caching needs an identity source")
	}
	return nil
}

func (c *call) checkJWT(p *Api, z AuthorizerSpec) *failure {
	switch {
	case p.Protocol == "WEBSOCKET":
		return badRequest("JWT authorizers are supported for HTTP APIs only")
	case z.JwtConfiguration == nil || len(z.JwtConfiguration.Audience) == 0 || !strings.HasPrefix(z.JwtConfiguration.Issuer, "https://"):
		return badRequest("JwtConfiguration needs an issuer with https and at least one audience")
	case len(z.IdentitySource) != 1 || !tokenSource.MatchString(z.IdentitySource[0]):
		return badRequest("A JWT authorizer needs one identity source, a header or a query parameter")
	}
	return c.notFor("JWT authorizers of HTTP", "authorizerUri", "authorizerCredentialsArn", "authorizerPayloadFormatVersion", "authorizerResultTtlInSeconds", "enableSimpleResponses")
}
