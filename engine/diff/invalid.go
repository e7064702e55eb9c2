package diff

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// invalid says why a value that was read breaks its value type; "" when it does not. The reason never holds the value.
func invalid(f *resource.Field, v value.Value) string {
	if unset(v) || v.Kind() == value.Hash || v.Kind() == value.Unknown {
		return ""
	}
	if f.Equal == resource.IAMPolicy {
		if document(v).Kind() != value.Object {
			return "not a policy document"
		}
		return ""
	}
	if f.Equal == resource.EmptyIsNil && hollow(v) {
		return ""
	}
	switch f.Type {
	case resource.TString:
		return invalidString(f, v)
	case resource.TInt:
		return invalidInt(f, v)
	case resource.TBool:
		if v.Kind() != value.Bool && v.Reveal() != "true" && v.Reveal() != "false" {
			return "not a boolean"
		}
	case resource.TList:
		return invalidList(f, v)
	case resource.TObject, resource.TMap:
		return invalidObject(f, v)
	case resource.TJSON:
		if document(v).Kind() == value.String {
			return "not a JSON document"
		}
	}
	return ""
}

func invalidString(f *resource.Field, v value.Value) string {
	if !isScalar(v) {
		return "not a string but " + article(v.Kind())
	}
	text := v.Reveal()
	if len(f.Enum) > 0 && !slices.ContainsFunc(f.Enum, func(e string) bool {
		return e == text || f.Equal == resource.FoldCase && strings.EqualFold(e, text)
	}) {
		return "not " + some(f.Enum)
	}
	if why := outside(f, int64(utf8.RuneCountInString(text)), "length"); why != "" {
		return why
	}
	if f.Pattern != "" && !pattern(f.Pattern).MatchString(text) {
		return "does not match " + f.Pattern
	}
	return ""
}

func invalidInt(f *resource.Field, v value.Value) string {
	n, ok := v.Int()
	if !ok {
		return "not an integer"
	}
	if len(f.Ints) > 0 && !slices.Contains(f.Ints, n) {
		words := make([]string, len(f.Ints))
		for i, a := range f.Ints {
			words[i] = strconv.FormatInt(a, 10)
		}
		return "not " + some(words)
	}
	return outside(f, n, "value")
}

func invalidList(f *resource.Field, v value.Value) string {
	if v.Kind() != value.List {
		return "not a list but " + article(v.Kind())
	}
	if why := outside(f, int64(len(v.Items())), "length"); why != "" {
		return why
	}
	for i, e := range v.Items() {
		if f.ItemKey != "" && !isScalar(e.Get(f.ItemKey)) {
			return fmt.Sprintf("item %d has no %s", i, f.ItemKey)
		}
		if why := invalid(elem(f), e); why != "" {
			return fmt.Sprintf("item %d: %s", i, why)
		}
	}
	return ""
}

func invalidObject(f *resource.Field, v value.Value) string {
	if v.Kind() != value.Object {
		return "not an object but " + article(v.Kind())
	}
	for _, k := range v.Fields().Keys() {
		if why := invalid(member(f, k), v.Get(k)); why != "" {
			return k + ": " + why
		}
	}
	return ""
}

func outside(f *resource.Field, n int64, what string) string {
	switch {
	case f.Min != nil && n < *f.Min:
		return fmt.Sprintf("%s below %d", what, *f.Min)
	case f.Max != nil && n > *f.Max:
		return fmt.Sprintf("%s above %d", what, *f.Max)
	}
	return ""
}

// some lists what is allowed, cut after six.
func some(allowed []string) string {
	if len(allowed) > 6 {
		return strings.Join(allowed[:6], ",") + "…"
	}
	return strings.Join(allowed, ",")
}

func article(k value.Kind) string {
	if k == value.Object {
		return "an " + k.String()
	}
	return "a " + k.String()
}

var patterns sync.Map // of a Schema's patterns: text to *regexp.Regexp

func pattern(text string) *regexp.Regexp {
	if re, ok := patterns.Load(text); ok {
		return re.(*regexp.Regexp)
	}
	re := regexp.MustCompile(`^(?:` + text + `)$`)
	patterns.Store(text, re)
	return re
}
