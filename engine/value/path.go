package value

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Path is the place of a value inside an object, as it is shown: Policies[0].PolicyName, Tags[Key=team].Value,
// Variables["a.b"]. The empty Path is the whole.
type Path string

// Child returns the path of member key.
func (p Path) Child(key string) Path {
	if !plain(key) {
		return p + Path("["+strconv.Quote(key)+"]")
	}
	if p == "" {
		return Path(key)
	}
	return p + "." + Path(key)
}

// At returns the path of list item i.
func (p Path) At(i int) Path { return p + Path("["+strconv.Itoa(i)+"]") }

// Item returns the path of the list item whose identity field is id: Tags[Key=team].
func (p Path) Item(field, id string) Path {
	if !plain(id) {
		id = strconv.Quote(id)
	}
	return p + Path("["+field+"="+id+"]")
}

// Top returns the first step: the property the path lies in.
func (p Path) Top() string {
	if quoted, err := strconv.QuotedPrefix(strings.TrimPrefix(string(p), "[")); err == nil && p[0] == '[' {
		name, _ := strconv.Unquote(quoted)
		return name
	}
	if i := strings.IndexAny(string(p), ".["); i > 0 {
		return string(p[:i])
	}
	return string(p)
}

// Within reports whether p is q or lies inside it.
func (p Path) Within(q Path) bool {
	rest, ok := strings.CutPrefix(string(p), string(q))
	return ok && (q == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

// plain reports whether s can stand in a Path as it is: it has no separators and nothing that a terminal would act on.
func plain(s string) bool {
	return s != "" && utf8.ValidString(s) && !strings.ContainsAny(s, ".[]=\" ") && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
