package awssim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// shape is a string member's constraint in a service's model. Lengths are in characters; a max of 0 is none.
type shape struct {
	min, max int
	pattern  string // as the service writes it
	re       *regexp.Regexp
}

func newShape(min, max int, pattern string) shape {
	return shape{min: min, max: max, pattern: pattern, re: regexp.MustCompile(`^(?s:` + pattern + `)$`)}
}

// args reads a call's params and collects what breaks their constraints, so that all of it is told at once as the services do.
type args struct {
	c      *call
	broken []string
}

func (c *call) args() *args { return &args{c: c} }

// failure is nil when every param that was read keeps its constraint.
func (a *args) failure() *failure {
	if len(a.broken) == 0 {
		return nil
	}
	plural := ""
	if len(a.broken) > 1 {
		plural = "s"
	}
	return invalid(a.c.service, "%d validation error%s detected: %s", len(a.broken), plural, strings.Join(a.broken, "; "))
}

// invalid is the code that a service gives to a value that breaks its constraint.
func invalid(service, format string, args ...any) *failure {
	code := "ValidationError"
	switch service {
	case "events":
		code = "ValidationException"
	case "logs":
		code = "InvalidParameterException"
	case "apigateway":
		code = "BadRequestException"
	case "dynamodb", "lambda":
		code = "ValidationException"
	}
	return fail(code, http.StatusBadRequest, format, args...)
}

func (a *args) breaks(name string, value any, constraint string) {
	a.broken = append(a.broken, fmt.Sprintf("Value '%v' at '%s' failed to satisfy constraint: %s", value, lowerFirst(name), constraint))
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// has reports whether a param was sent, and not as null.
func (a *args) has(name string) bool { return a.c.params[name] != nil }

func (a *args) missing(name string) {
	a.broken = append(a.broken, fmt.Sprintf("Value null at '%s' failed to satisfy constraint: Member must not be null", lowerFirst(name)))
}

// need reads a required string.
func (a *args) need(name string, sh shape) string {
	if !a.has(name) {
		a.missing(name)
		return ""
	}
	return a.str(name, sh)
}

// opt reads an optional string; nil when it was not sent.
func (a *args) opt(name string, sh shape) *string {
	if !a.has(name) {
		return nil
	}
	s := a.str(name, sh)
	return &s
}

func (a *args) str(name string, sh shape) string {
	s, ok := a.c.params[name].(string)
	if !ok {
		a.breaks(name, a.c.params[name], "Member must be a string")
		return ""
	}
	a.check(name, s, sh)
	return s
}

func (a *args) check(name, s string, sh shape) {
	n := utf8.RuneCountInString(s)
	switch {
	case n < sh.min:
		a.breaks(name, s, fmt.Sprintf("Member must have length greater than or equal to %d", sh.min))
	case sh.max > 0 && n > sh.max:
		a.breaks(name, s, fmt.Sprintf("Member must have length less than or equal to %d", sh.max))
	case sh.re != nil && !sh.re.MatchString(s):
		a.breaks(name, s, "Member must satisfy regular expression pattern: "+sh.pattern)
	}
}

// enum reads an optional string out of a fixed set.
func (a *args) enum(name, absent string, values ...string) string {
	v := a.opt(name, shape{})
	if v == nil {
		return absent
	}
	if !slices.Contains(values, *v) {
		a.breaks(name, *v, "Member must satisfy enum value set: ["+strings.Join(values, ", ")+"]")
	}
	return *v
}

// integer reads an optional whole number within bounds.
func (a *args) integer(name string, absent, min, max int) int {
	if !a.has(name) {
		return absent
	}
	n, err := strconv.Atoi(fmt.Sprint(a.c.params[name]))
	switch {
	case err != nil:
		a.breaks(name, a.c.params[name], "Member must be a whole number")
	case n < min:
		a.breaks(name, n, fmt.Sprintf("Member must have value greater than or equal to %d", min))
	case n > max:
		a.breaks(name, n, fmt.Sprintf("Member must have value less than or equal to %d", max))
	}
	return n
}

// boolean reads an optional truth value.
func (a *args) boolean(name string) *bool {
	if !a.has(name) {
		return nil
	}
	b, err := strconv.ParseBool(fmt.Sprint(a.c.params[name]))
	if err != nil {
		a.breaks(name, a.c.params[name], "Member must be a boolean")
	}
	return &b
}

// list reads a list of strings, each of a shape; nil when it was not sent.
func (a *args) list(name string, sh shape) []string {
	if !a.has(name) {
		return nil
	}
	items, ok := a.c.params[name].([]any)
	if !ok && a.c.params[name] != "" { // Query writes an empty list as an empty string
		a.breaks(name, a.c.params[name], "Member must be a list")
	}
	out := make([]string, 0, len(items))
	for i, item := range items {
		s, ok := item.(string)
		if !ok {
			a.breaks(name, item, "Member must be a string")
			continue
		}
		a.check(fmt.Sprintf("%s.%d.member", name, i+1), s, sh)
		out = append(out, s)
	}
	return out
}

// tagMap reads a map of tags; nil when it was not sent.
func (a *args) tagMap(name string, key, value shape) map[string]string {
	if !a.has(name) {
		return nil
	}
	in, ok := a.c.params[name].(map[string]any)
	if !ok {
		a.breaks(name, a.c.params[name], "Member must be a map")
	}
	out := make(map[string]string, len(in))
	for _, k := range sortedKeys(in) {
		v, ok := in[k].(string)
		if !ok {
			a.breaks(name, in[k], "Member must be a string")
		}
		a.check(name, k, key)
		a.check(name, v, value)
		out[k] = v
	}
	return out
}

// str reads a param that the path or the query string gives; "" when it is not there.
func (c *call) str(name string) string {
	s, _ := c.params[name].(string)
	return s
}

// milliseconds reads a point in time out of a JSON number.
func milliseconds(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	ms, err := n.Int64()
	return ms, err == nil
}
