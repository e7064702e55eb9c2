package events

import (
	"encoding/json"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/wire"
)

// renamed are the fields that CloudFormation calls otherwise than the API does; every other name is the same but for case.
var renamed = map[string]string{"TagList": "Tags", "PlacementStrategies": "PlacementStrategy"}

// encode returns a target as the API takes it. Its members have the SDK's names, which encoding/json matches without case.
func encode(target value.Value) (types.Target, error) {
	var out types.Target
	raw, err := json.Marshal(apiShape(targetField(), target).Plain())
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	return out, err
}

// apiShape gives members the API's names.
func apiShape(f *resource.Field, v value.Value) value.Value {
	switch {
	case f.Type == resource.TObject && v.Kind() == value.Object:
		out := value.Map{}
		for name, e := range v.Fields() {
			member := f.Lookup(name)
			if member == nil || !wire.Set(e) {
				continue
			}
			if api := renamed[name]; api != "" {
				name = api
			}
			out[name] = apiShape(member, e)
		}
		return value.OfMap(out)
	case f.Type == resource.TList && v.Kind() == value.List:
		items := make([]value.Value, 0, len(v.Items()))
		for _, e := range v.Items() {
			items = append(items, apiShape(f.Elem, e))
		}
		return value.ListOf(items...)
	case !wire.Set(v):
	case f.Type == resource.TString:
		return value.Of(wire.Name(v)) // a number written without quotes is text to the API
	case f.Type == resource.TInt && v.Kind() == value.String:
		return value.Num(v.Reveal())
	case f.Type == resource.TBool:
		return value.Of(v.IsTrue())
	}
	return v
}

// decode returns a target as config writes it.
func decode(target types.Target) (value.Value, error) {
	raw, err := json.Marshal(target)
	if err != nil {
		return value.Value{}, err
	}
	v, err := value.ParseJSON(raw)
	if err != nil {
		return value.Value{}, err
	}
	return configShape(targetField(), v), nil
}

// configShape gives members config's names, and leaves out what is null or, where that is the same, at its zero value.
func configShape(f *resource.Field, v value.Value) value.Value {
	switch {
	case f.Type == resource.TObject && v.Kind() == value.Object:
		out := value.Map{}
		for i := range f.Fields {
			member := &f.Fields[i]
			if e := configShape(member, apiMember(v, member.Name)); !unsaid(member, e) {
				out[member.Name] = e
			}
		}
		return value.OfMap(out)
	case f.Type == resource.TList && v.Kind() == value.List:
		items := make([]value.Value, 0, len(v.Items()))
		for _, e := range v.Items() {
			items = append(items, configShape(f.Elem, e))
		}
		return value.ListOf(items...)
	}
	return v
}

// apiMember returns the member that the API has for a field of config.
func apiMember(v value.Value, name string) value.Value {
	if api := renamed[name]; api != "" {
		name = api
	}
	for k, e := range v.Fields() {
		if strings.EqualFold(k, name) {
			return e
		}
	}
	return value.Value{}
}

// unsaid reports whether a member of an answer says nothing: null, the zero of what is never null, or no enum at all.
func unsaid(f *resource.Field, v value.Value) bool {
	return !wire.Set(v) || f.Default.IsSet() && value.Equal(v, f.Default) || len(f.Enum) > 0 && wire.Empty(v)
}

// differs reports whether a target has to be put so that every field config sets (d) is as it says, and every field that
// was recorded (r) and that config no longer sets is away. What the service or somebody else added to it (o) does not count:
// that is no reason to write.
func differs(f *resource.Field, d, r, o value.Value) bool {
	switch {
	case !wire.Set(d):
		return wire.Set(r) && !same(f, value.Value{}, o)
	case f.Type == resource.TObject && d.Kind() == value.Object && o.Kind() == value.Object:
		for i := range f.Fields {
			name := f.Fields[i].Name
			if differs(&f.Fields[i], d.Get(name), r.Get(name), o.Get(name)) {
				return true
			}
		}
		return false
	}
	return !same(f, d, o)
}

// same reports whether two values of a field mean the same to the service.
func same(f *resource.Field, a, b value.Value) bool {
	if f.Equal == resource.JSONDoc && wire.Set(a) && wire.Set(b) {
		return wire.SameDocument(a, b)
	}
	a, b = plain(f, a), plain(f, b)
	if !f.Set && f.ItemKey == "" || a.Kind() != value.List || b.Kind() != value.List {
		return value.Equal(a, b)
	}
	return within(a.Items(), b.Items()) && within(b.Items(), a.Items())
}

func within(a, b []value.Value) bool {
	for _, x := range a {
		found := false
		for _, y := range b {
			found = found || value.Equal(x, y)
		}
		if !found {
			return false
		}
	}
	return true
}

// plain returns a value without what says nothing, as a read of it would look.
func plain(f *resource.Field, v value.Value) value.Value {
	v = configShape(f, apiShape(f, v))
	if !wire.Set(v) || f.Equal == resource.EmptyIsNil && wire.Empty(v) || f.Default.IsSet() && value.Equal(v, f.Default) {
		return value.Value{}
	}
	return v
}
