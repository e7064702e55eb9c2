package apigatewayv2

import (
	"slices"
	"strconv"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/wire"
)

// setter puts one param into the input of an update. Its value is absent where config no longer sets it.
type setter struct {
	param string
	set   func(value.Value)
}

// written runs the setters of the params that are to be written, and returns their names: what travels in the call. Nothing
// else is mentioned, above all no zeros.
func written(c resource.Change, setters []setter) []string {
	var params []string
	for _, s := range setters {
		if slices.Contains(c.Write, s.param) {
			s.set(c.Desired[s.param])
			params = append(params, s.param)
		}
	}
	return params
}

// or returns the text of v, or what the service fills in.
func or(v value.Value, otherwise string) *string {
	if text := wire.Text(v); text != nil {
		return text
	}
	return &otherwise
}

func orFalse(v value.Value) *bool {
	b := wire.Bool(v)
	if b == nil {
		b = new(bool)
	}
	return b
}

// removed returns the members of a map that were recorded as ours and are not wanted any more, sorted.
func removed(desired, recorded value.Value) []string {
	var out []string
	for _, name := range recorded.Fields().Keys() {
		if !wire.Set(desired.Get(name)) {
			out = append(out, name)
		}
	}
	return out
}

// changedTexts returns the members of a map of texts for an update, which merges: what goes is set to "".
func changedTexts(desired, recorded value.Value) map[string]string {
	out := texts(desired)
	if out == nil {
		out = map[string]string{}
	}
	for _, name := range removed(desired, recorded) {
		out[name] = ""
	}
	return out
}

// texts returns the members of a map of texts; nil when it is absent.
func texts(v value.Value) map[string]string {
	if v.Kind() != value.Object {
		return nil
	}
	out := map[string]string{}
	for name, e := range v.Fields() {
		if text := wire.Text(e); text != nil {
			out[name] = *text
		}
	}
	return out
}

// number returns a number with a fraction, also one written as a string; nil when it is absent or none.
func number(v value.Value) *float64 {
	text := wire.Text(v)
	if text == nil {
		return nil
	}
	f, err := strconv.ParseFloat(*text, 64)
	if err != nil {
		return nil
	}
	return &f
}

// observeTexts puts those that were returned into params.
func observeTexts(params value.Map, texts map[string]*string) {
	for name, text := range texts {
		if text != nil {
			params[name] = value.Of(*text)
		}
	}
}

func observeBools(params value.Map, bools map[string]*bool) {
	for name, b := range bools {
		if b != nil {
			params[name] = value.Of(*b)
		}
	}
}

func observeMaps(params value.Map, maps map[string]map[string]string) {
	for name, m := range maps {
		if m != nil {
			params[name] = value.Of(m)
		}
	}
}

func enum[E ~string](e E) *string {
	if e == "" {
		return nil
	}
	s := string(e)
	return &s
}
