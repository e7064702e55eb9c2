package awssim

import (
	"encoding/json"
	"net/http"
	"slices"
)

// What an API holds: its integrations, routes, authorizers, stages and deployments share how they are found, listed,
// patched and counted. They live and go with their API.

const (
	maxApiChildren   = 300 // integrations, routes
	maxApiFew        = 10  // authorizers, stages
	childPage        = 25  // items on a page of integrations, routes and deployments
	fewPage          = 8   // of authorizers and stages
	childIDAlphabet  = "abcdefghijklmnopqrstuvwxyz0123456789"
	integrationIDLen = 7
	routeIDLen       = 7
	authorizerIDLen  = 6
	deploymentIDLen  = 6
)

// Strings of API Gateway's model.
var (
	text64    = shape{max: 64}
	text128   = shape{max: 128}
	text1024  = shape{max: 1024}
	text2048  = shape{max: 2048}
	nameShape = shape{min: 1, max: 128}
)

// child is one object of an API.
type child interface {
	comparable
	key() string  // what addresses it under its API
	birth() Birth // when it was made
}

func findChild[T child](of []T, key string) T {
	var none T
	if i := slices.IndexFunc(of, func(e T) bool { return e.key() == key }); i >= 0 {
		return of[i]
	}
	return none
}

// collection is one kind of children.
type collection[T child] struct {
	what   string // "integration", as messages say it
	member string // the member that addresses one: "integrationId"
	in     func(*Api) *[]T
	page   int // items on a page that asks for no size
	most   int // quota
	show   func(T) any
}

// get finds the child that a call names. A read does not see one that is too young.
func (k collection[T]) get(s *Server, c *call, read bool) (*Api, T, *failure) {
	var none T
	p, f := s.api(c, c.str("apiId"), read)
	if f != nil {
		return nil, none, f
	}
	found := findChild(*k.in(p), c.str(k.member))
	if found == none || read && !c.sees(found.birth()) {
		return nil, none, notFound("NotFoundException", "Invalid %s identifier specified", k.what)
	}
	return p, found, nil
}

// readOne is the operation that reads one child.
func (k collection[T]) readOne(s *Server, c *call) (any, *failure) {
	_, found, f := k.get(s, c, true)
	if f != nil {
		return nil, f
	}
	return k.show(found), nil
}

// list is the operation that reads all children, page by page.
func (k collection[T]) list(s *Server, c *call) (any, *failure) {
	p, f := s.api(c, c.str("apiId"), true)
	if f != nil {
		return nil, f
	}
	limit, f := c.pageSize(k.page)
	if f != nil {
		return nil, f
	}
	seen := filter(*k.in(p), func(e T) bool { return c.sees(e.birth()) })
	items, next, ok := page(seen, T.key, c.str("nextToken"), limit)
	if !ok {
		return nil, badRequest("Invalid nextToken")
	}
	out := struct {
		Items     []any  `json:"items"`
		NextToken string `json:"nextToken,omitempty"`
	}{[]any{}, next}
	for _, e := range items {
		out.Items = append(out.Items, k.show(e))
	}
	return out, nil
}

// add puts a new child into its API. Over the quota the service answers 429 with the code of a conflict.
func (k collection[T]) add(p *Api, e T) *failure {
	if len(*k.in(p)) >= k.most {
		return fail("ConflictException", http.StatusTooManyRequests, "Maximum number of %ss for this API has been reached. Please contact AWS if you need additional %ss.", k.what, k.what)
	}
	*k.in(p) = append(*k.in(p), e)
	return nil
}

func (k collection[T]) remove(p *Api, e T) {
	*k.in(p) = filter(*k.in(p), func(o T) bool { return o != e })
}

// patched returns a copy of spec with the members that were sent: what was not sent stays, and maps take the new members
// and keep the old ones.
func patched[S any](c *call, spec S) (S, *failure) {
	var out S
	if json.Unmarshal(mustJSON(spec), &out) != nil || json.Unmarshal(mustJSON(c.params), &out) != nil {
		return out, badRequest("Invalid request body")
	}
	return out, nil
}

// dropEmpty takes away members that were set to nothing.
func dropEmpty[V any](m map[string]V, empty func(V) bool) {
	for k, v := range m {
		if empty(v) {
			delete(m, k)
		}
	}
}

func isBlank(s string) bool { return s == "" }

// notFor refuses the first member that was sent with a value and that the protocol does not have.
func (c *call) notFor(protocol string, members ...string) *failure {
	for _, m := range members {
		if v := c.params[m]; v != nil && v != "" && v != false {
			return badRequest("%s is not supported for %s APIs", m, protocol)
		}
	}
	return nil
}
