package diff

import (
	"regexp"
	"strconv"
	"strings"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// IAM policy equivalence: a scalar and a list of one are equal, a single statement and a list of one too; actions,
// resources, principals and condition values are sets; statements are a multiset, so that of two with one Sid none
// is lost; an account ID is its :root ARN; an empty Sid is none, and a numeric one may be the service's own.

var (
	rootARN = regexp.MustCompile(`^arn:[a-z0-9-]+:iam::(\d{12}):root$`)
	roleARN = regexp.MustCompile(`^arn:[a-z0-9-]+:(iam::\d{12}:role|sts::\d{12}:assumed-role)/`)
	userARN = regexp.MustCompile(`^arn:[a-z0-9-]+:iam::\d{12}:user/`)
	numeric = regexp.MustCompile(`^\d+$`)
)

const (
	whyPrincipalID   = "a principal is shown as an ID; whether it is the one named was not looked up"
	whyPrincipalGone = "a principal no longer resolves: the service shows the ID of a role that is gone"
)

type itemsEqual func(x, y value.Value) (answer, string)

func (c comparer) samePolicy(a, b value.Value) (answer, string) {
	if !both(a, b, value.Object) {
		return c.sameJSON(a, b)
	}
	all, why := yes, ""
	for _, k := range keys(a.Fields(), b.Fields()) {
		if k == "Statement" {
			all, why = and(all, why)(pair(asList(a.Get(k)), asList(b.Get(k)), c.sameStatement))
			continue
		}
		all, why = and(all, why)(c.sameJSON(a.Get(k), b.Get(k)))
	}
	return all, why
}

func (c comparer) sameStatement(a, b value.Value) (answer, string) {
	if !both(a, b, value.Object) {
		return c.sameJSON(a, b)
	}
	all, why := yes, ""
	for _, k := range keys(a.Fields(), b.Fields()) {
		all, why = and(all, why)(c.sameElement(k, a.Get(k), b.Get(k)))
		if all == no {
			return no, ""
		}
	}
	return all, why
}

func (c comparer) sameElement(name string, a, b value.Value) (answer, string) {
	switch name {
	case "Sid":
		return c.sameSid(a, b)
	case "Action", "NotAction", "Resource", "NotResource":
		return c.sameScalars(a, b, c.sameJSON)
	case "Principal", "NotPrincipal":
		return c.sameMembers(a, b, func(kind string, x, y value.Value) (answer, string) {
			if kind == "AWS" {
				return c.sameScalars(x, y, c.samePrincipal)
			}
			return c.sameScalars(x, y, c.sameJSON)
		})
	case "Condition":
		return c.sameMembers(a, b, func(_ string, x, y value.Value) (answer, string) {
			return c.sameMembers(x, y, func(_ string, x, y value.Value) (answer, string) {
				return c.sameScalars(x, y, c.sameQuoted)
			})
		})
	}
	return c.sameJSON(a, b)
}

func (c comparer) sameSid(a, b value.Value) (answer, string) {
	if noSid(a) && noSid(b) {
		return yes, ""
	}
	if noSid(a) && numeric.MatchString(b.Reveal()) || noSid(b) && numeric.MatchString(a.Reveal()) {
		return yes, ""
	}
	return c.sameJSON(a, b)
}

func noSid(v value.Value) bool {
	return unset(v) || v.Kind() == value.String && v.Reveal() == ""
}

// sameMembers compares two objects of the same member names; anything else as written ("*" for all principals).
func (c comparer) sameMembers(a, b value.Value, eq func(name string, x, y value.Value) (answer, string)) (answer, string) {
	if !both(a, b, value.Object) {
		return c.sameJSON(a, b)
	}
	all, why := yes, ""
	for _, k := range keys(a.Fields(), b.Fields()) {
		x, inA := a.Fields()[k]
		y, inB := b.Fields()[k]
		if inA != inB {
			return no, ""
		}
		all, why = and(all, why)(eq(k, x, y))
	}
	return all, why
}

// sameScalars compares a value or a list of values as sets. A list that was hashed as a whole cannot be taken apart.
func (c comparer) sameScalars(a, b value.Value, eq itemsEqual) (answer, string) {
	if unset(a) != unset(b) {
		return no, ""
	}
	if a.Kind() == value.Hash && b.Kind() == value.List || a.Kind() == value.List && b.Kind() == value.Hash {
		if res, why := c.sameHash(&resource.Field{}, a, b); res == yes || len(a.Items())+len(b.Items()) != 1 {
			return res, why
		}
	}
	return c.sameSet(asList(a), asList(b), eq)
}

// sameQuoted compares condition values: false and "false", 10 and "10" are equal.
func (c comparer) sameQuoted(a, b value.Value) (answer, string) {
	if isScalar(a) && isScalar(b) {
		return of(sameScalar(&resource.Field{Type: resource.TString}, a, b)), ""
	}
	return c.sameJSON(a, b)
}

// samePrincipal compares AWS principals. An AROA… or AIDA… ID is how the service shows a role or user that was
// deleted, perhaps re-created since: never equal to an ARN by its looks, only by the live ID of what the ARN names.
func (c comparer) samePrincipal(a, b value.Value) (answer, string) {
	if !isScalar(a) || !isScalar(b) {
		return c.sameJSON(a, b)
	}
	x, y := account(a.Reveal()), account(b.Reveal())
	switch {
	case x == y:
		return yes, ""
	case shownAsID(x, y):
		return c.sameLive(x, y)
	case shownAsID(y, x):
		return c.sameLive(y, x)
	}
	return no, ""
}

// sameLive compares an ARN with a unique ID by what the read found under that. Roles of other accounts cannot be looked up.
func (c comparer) sameLive(arn, id string) (answer, string) {
	p := c.principals
	if p == nil || !strings.Contains(arn, ":iam::"+p.Account+":role/") {
		return unsure, whyPrincipalID
	}
	switch live, ok := p.Live[id]; {
	case !ok:
		return unsure, whyPrincipalID
	case live == arn:
		return yes, ""
	}
	return no, ""
}

// unresolved says of a policy that differs that it shows the ID of a role which lives no more.
func (c comparer) unresolved(f *resource.Field, observed value.Value) string {
	if f.Equal != resource.IAMPolicy || c.principals == nil {
		return ""
	}
	for id, arn := range c.principals.Live {
		if arn == "" && strings.Contains(observed.String(), strconv.Quote(id)) {
			return whyPrincipalGone
		}
	}
	return ""
}

func shownAsID(arn, id string) bool {
	return strings.HasPrefix(id, "AROA") && roleARN.MatchString(arn) ||
		strings.HasPrefix(id, "AIDA") && userARN.MatchString(arn)
}

// account returns the account ID of a :root ARN; anything else as it is.
func account(principal string) string {
	if m := rootARN.FindStringSubmatch(principal); m != nil {
		return m[1]
	}
	return principal
}

func asList(v value.Value) []value.Value {
	switch v.Kind() {
	case value.List:
		return v.Items()
	case value.Absent, value.Null:
		return nil
	}
	return []value.Value{v}
}
