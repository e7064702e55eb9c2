package cli

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"reclaim/engine/value"
)

// assignment is KEY=VALUE with a parameter's name as CloudFormation allows it.
var assignment = regexp.MustCompile(`^[A-Za-z0-9]+=`)

const filePrefix = "file://"

// splitParameters takes from args what belongs to --parameters, which may be followed by several K=V.
func splitParameters(args, given []string) (rest, params []string) {
	if len(given) == 0 {
		return args, nil
	}
	params = append(params, given...)
	for _, a := range args {
		if assignment.MatchString(a) || strings.HasPrefix(a, filePrefix) {
			params = append(params, a)
		} else {
			rest = append(rest, a)
		}
	}
	return rest, params
}

// readParameters reads K=V and file://F. A name that is given twice is refused. Values are not named in errors: they
// may be secrets.
func readParameters(given []string) (map[string]string, error) {
	out := map[string]string{}
	add := func(k, v string) error {
		if _, twice := out[k]; twice {
			return fmt.Errorf("parameter %s is given twice", k)
		}
		out[k] = v
		return nil
	}
	for i, g := range given {
		if path, ok := strings.CutPrefix(g, filePrefix); ok {
			if err := parametersFile(path, add); err != nil {
				return nil, fmt.Errorf("read parameters from %s: %w", path, err)
			}
			continue
		}
		if !assignment.MatchString(g) {
			return nil, fmt.Errorf("--parameters: argument %d is neither NAME=VALUE nor file://FILE", i+1)
		}
		k, v, _ := strings.Cut(g, "=")
		if err := add(k, v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// parametersFile reads a JSON object of names and values, or CloudFormation's list of ParameterKey and ParameterValue.
func parametersFile(path string, add func(k, v string) error) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	v, err := value.ParseJSON(b)
	if err != nil {
		return err
	}
	switch v.Kind() {
	case value.Object:
		for _, k := range v.Fields().Keys() {
			t, err := parameterText(v.Get(k))
			if err != nil {
				return fmt.Errorf("%s: %w", k, err)
			}
			if err := add(k, t); err != nil {
				return err
			}
		}
		return nil
	case value.List:
		for i, e := range v.Items() {
			k, ok := e.Get("ParameterKey").Str()
			if !ok {
				return fmt.Errorf("item %d has no ParameterKey", i)
			}
			t, err := parameterText(e.Get("ParameterValue"))
			if err != nil {
				return fmt.Errorf("%s: %w", k, err)
			}
			if err := add(k, t); err != nil {
				return err
			}
		}
		return nil
	default:
		return errors.New("want an object of names and values, or a list of ParameterKey and ParameterValue")
	}
}

// parameterText is a parameter's text; a list is joined with commas, as CommaDelimitedList wants it.
func parameterText(v value.Value) (string, error) {
	if t, ok := v.Str(); ok {
		return t, nil
	}
	if v.Kind() != value.List {
		return "", fmt.Errorf("want text, a number, true or false, or a list of them, found %s", v.Kind())
	}
	var parts []string
	for _, e := range v.Items() {
		t, ok := e.Str()
		if !ok {
			return "", fmt.Errorf("want a list of text, found %s in it", e.Kind())
		}
		parts = append(parts, t)
	}
	return strings.Join(parts, ","), nil
}
