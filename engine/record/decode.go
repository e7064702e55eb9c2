package record

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// Decode reads a record as json.Marshal wrote it: the same record, and the same error, as json.Unmarshal gives. Text as
// this version writes it, which is nearly all there is, is read in a fifth of the time (see the benchmark): members in the
// order of the struct, without spaces. Anything else is left to json.Unmarshal, and so is every error.
//
// Strings of the record share text.
func Decode(text string) (Record, error) {
	var r Record
	s := scanner{text: text}
	if s.record(&r); s.ended() {
		return r, nil
	}
	return decodeAny(text)
}

func decodeAny(text string) (r Record, err error) {
	err = json.Unmarshal([]byte(text), &r)
	return r, err
}

func (s *scanner) record(r *Record) {
	s.want("{")
	if s.has("stack") {
		s.stack(&r.Stack)
	}
	s.strings(member{"id", &r.ID}, member{"type", &r.Type})
	if s.has("gen") {
		r.Gen = int(s.integer())
	}
	if s.has("rev") {
		r.Rev = s.unsigned()
	}
	if s.has("seq") {
		r.Seq = s.unsigned()
	}
	s.strings(member{"status", (*string)(&r.Status)}, member{"origin", (*string)(&r.Origin)})
	if s.has("key") {
		r.Key = members(s, s.str)
	}
	s.strings(member{"physical", &r.Physical}, member{"claim", &r.Claim})
	if s.has("identity") {
		s.identity(&r.Identity)
	}
	s.strings(member{"nonce", &r.Nonce})
	if s.has("output") {
		r.Output = members(s, s.value)
	}
	if s.has("params") {
		r.Params = members(s, s.value)
	}
	if s.has("pending") {
		r.Pending = members(s, s.value)
	}
	if s.has("intent") {
		r.Intent = new(Intent)
		s.intent(r.Intent)
	}
	if s.has("former") {
		r.Former = list(s, func() (i Intent) { s.intent(&i); return i })
	}
	if s.has("inFlight") {
		r.InFlight = new(InFlight)
		s.inFlight(r.InFlight)
	}
	if s.has("dependsOn") {
		r.DependsOn = list(s, s.ref)
	}
	s.strings(member{"deletionPolicy", &r.DeletionPolicy}, member{"updateReplacePolicy", &r.UpdateReplacePolicy}, member{"createdBy", &r.CreatedBy})
	s.times(moment{"ackedAt", &r.AckedAt}, moment{"touchedAt", &r.TouchedAt}, moment{"updatedAt", &r.UpdatedAt}, moment{"deleteSent", &r.DeleteSent})
	if s.has("rolledBack") {
		r.RolledBack = s.boolean()
	}
	s.strings(member{"note", &r.Note})
	s.want("}")
}

func (s *scanner) stack(id *StackID) {
	s.want("{")
	s.strings(member{"name", &id.Name})
	if s.has("scope") {
		sc := &id.Scope
		s.want("{")
		s.strings(member{"partition", &sc.Partition}, member{"account", &sc.Account}, member{"region", &sc.Region}, member{"endpoint", &sc.Endpoint})
		s.want("}")
	}
	s.want("}")
}

func (s *scanner) identity(i *resource.Identity) {
	s.want("{")
	s.strings(member{"uniqueId", &i.UniqueID})
	s.times(moment{"createdAt", &i.CreatedAt})
	s.want("}")
}

func (s *scanner) intent(i *Intent) {
	s.want("{")
	s.strings(member{"nonce", &i.Nonce}, member{"token", &i.Token}, member{"execution", &i.Execution})
	s.times(moment{"at", &i.At})
	if s.has("offset") {
		i.Offset = time.Duration(s.integer())
	}
	s.strings(member{"name", &i.Name})
	if s.has("key") {
		i.Key = members(s, s.str)
	}
	if s.has("params") {
		i.Params = members(s, s.value)
	}
	if s.has("preflight") {
		s.preflight(&i.Preflight)
	}
	if s.has("attempts") {
		i.Attempts = list(s, s.attempt)
	}
	if s.has("deleteFirst") {
		i.DeleteFirst = s.boolean()
	}
	if s.has("replaces") {
		i.Replaces = int(s.integer())
	}
	s.want("}")
}

func (s *scanner) preflight(p *Preflight) {
	s.want("{")
	s.times(moment{"at", &p.At})
	if s.has("absent") {
		p.Absent = s.boolean()
	}
	if s.has("existing") {
		p.Existing = list(s, s.str)
	}
	if s.has("identity") {
		p.Identity = new(resource.Identity)
		s.identity(p.Identity)
	}
	s.strings(member{"source", &p.Source})
	s.want("}")
}

func (s *scanner) attempt() (a Attempt) {
	s.want("{")
	if s.has("n") {
		a.N = int(s.integer())
	}
	s.strings(member{"execution", &a.Execution})
	s.times(moment{"sentAt", &a.SentAt})
	s.strings(member{"outcome", (*string)(&a.Outcome)}, member{"code", &a.Code}, member{"requestId", &a.RequestID}, member{"message", &a.Message})
	s.want("}")
	return a
}

func (s *scanner) inFlight(f *InFlight) {
	s.want("{")
	s.strings(member{"call", &f.Call}, member{"execution", &f.Execution})
	s.times(moment{"sentAt", &f.SentAt})
	if s.has("deadline") {
		f.Deadline = time.Duration(s.integer())
	}
	s.want("}")
}

func (s *scanner) ref() (r Ref) {
	s.want("{")
	s.strings(member{"id", &r.ID})
	if s.has("gen") {
		r.Gen = int(s.integer())
	}
	s.want("}")
	return r
}

// scanner reads JSON of a known form. After the first thing that it does not know it is bad, and what it returns counts
// for nothing.
type scanner struct {
	text string
	at   int
	bad  bool
}

// ended reports whether everything was read and known.
func (s *scanner) ended() bool { return !s.bad && s.at == len(s.text) }

// take skips literal if it is what comes next.
func (s *scanner) take(literal string) bool {
	if !strings.HasPrefix(s.text[s.at:], literal) {
		return false
	}
	s.at += len(literal)
	return true
}

func (s *scanner) want(literal string) {
	if !s.take(literal) {
		s.bad = true
	}
}

// has skips a member's name if it is what comes next in an object.
func (s *scanner) has(name string) bool {
	at := s.at
	first := at > 0 && s.text[at-1] == '{' // no value ends in it
	if (first || s.take(",")) && s.take(`"`) && s.take(name) && s.take(`":`) {
		return true
	}
	s.at = at
	return false
}

type member struct {
	name string
	into *string
}

// strings reads members that are strings; each may be missing.
func (s *scanner) strings(all ...member) {
	for _, m := range all {
		if s.has(m.name) {
			*m.into = s.str()
		}
	}
}

type moment struct {
	name string
	into *time.Time
}

// times reads members that are times; each may be missing.
func (s *scanner) times(all ...moment) {
	for _, m := range all {
		if s.has(m.name) && m.into.UnmarshalText([]byte(s.str())) != nil {
			s.bad = true
		}
	}
}

// members reads an object of values that one reads.
func members[V any](s *scanner, one func() V) map[string]V {
	if s.take("null") {
		return nil
	}
	m := map[string]V{}
	s.want("{")
	for !s.bad && !s.take("}") {
		if len(m) > 0 {
			s.want(",")
		}
		k := s.str()
		s.want(":")
		m[k] = one()
	}
	return m
}

// list reads an array of what one reads.
func list[V any](s *scanner, one func() V) []V {
	if s.take("null") {
		return nil
	}
	l := []V{}
	s.want("[")
	for !s.bad && !s.take("]") {
		if len(l) > 0 {
			s.want(",")
		}
		l = append(l, one())
	}
	return l
}

// value reads any value. What is inside an array or object is value's own business.
func (s *scanner) value() (v value.Value) {
	switch rest := s.text[s.at:]; {
	case strings.HasPrefix(rest, `"`):
		return value.Of(s.str())
	case strings.HasPrefix(rest, "{"), strings.HasPrefix(rest, "["):
		if v.UnmarshalJSON([]byte(s.nested())) != nil {
			s.bad = true
		}
		return v
	case s.take("true"):
		return value.Of(true)
	case s.take("false"):
		return value.Of(false)
	case s.take("null"):
		return value.Of(nil)
	}
	return value.Num(s.digits())
}

// nested skips an array or object and returns its text, which nobody has checked.
func (s *scanner) nested() string {
	from, depth := s.at, 0
	for !s.bad && s.at < len(s.text) {
		switch s.text[s.at] {
		case '"':
			s.str()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.at++
		if depth == 0 {
			return s.text[from:s.at]
		}
	}
	s.bad = true
	return ""
}

func (s *scanner) boolean() bool {
	if s.take("true") {
		return true
	}
	s.want("false")
	return false
}

func (s *scanner) integer() int64 {
	n, err := strconv.ParseInt(s.digits(), 10, 64)
	s.bad = s.bad || err != nil
	return n
}

func (s *scanner) unsigned() uint64 {
	n, err := strconv.ParseUint(s.digits(), 10, 64)
	s.bad = s.bad || err != nil
	return n
}

// digits reads a whole number.
func (s *scanner) digits() string {
	from := s.at
	s.take("-")
	first := s.at
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		s.at++
	}
	if n := s.at - first; n == 0 || n > 1 && s.text[first] == '0' {
		s.bad = true
	}
	return s.text[from:s.at]
}

// str reads a string. One without escapes is a part of the text.
func (s *scanner) str() string {
	if !s.take(`"`) {
		s.bad = true
		return ""
	}
	from, plain := s.at, true
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			inside := s.text[from:s.at]
			s.at++
			return s.unescape(inside, plain)
		case c < ' ':
			s.bad = true
			return ""
		case c == '\\':
			plain = false
			s.at++
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	s.at, s.bad = len(s.text), true // an escape may have led past the end
	return ""
}

// unescape returns what a string says. What encoding/json writes of plain text is read here, the rest, such as text that may
// not be UTF-8, by encoding/json.
func (s *scanner) unescape(inside string, plain bool) string {
	if plain {
		return inside
	}
	out := make([]byte, 0, len(inside))
	for i := 0; i < len(inside); i++ {
		c := inside[i]
		if c == '\\' {
			i++
			switch e := inside[i]; {
			case e == '"' || e == '\\':
				c = e
			case e == 'n':
				c = '\n'
			case e == 't':
				c = '\t'
			case e == 'u' && strings.HasPrefix(inside[i+1:], "00") && i+4 < len(inside):
				n, err := strconv.ParseUint(inside[i+3:i+5], 16, 7)
				if err != nil {
					return s.anyString(inside)
				}
				c, i = byte(n), i+4
			default:
				return s.anyString(inside)
			}
		} else if c >= utf8.RuneSelf {
			return s.anyString(inside)
		}
		out = append(out, c)
	}
	return string(out)
}

func (s *scanner) anyString(inside string) (out string) {
	if json.Unmarshal([]byte(`"`+inside+`"`), &out) != nil {
		s.bad = true
	}
	return out
}
