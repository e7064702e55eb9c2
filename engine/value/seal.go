package value

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Sealer turns sensitive values into keyed hashes (SAFETY S32). The zero Sealer has no key: what it seals can never
// be compared again.
type Sealer struct{ key []byte }

// NewSealer returns a Sealer with a key of at least 32 bytes.
func NewSealer(key []byte) (Sealer, error) {
	if len(key) < 32 {
		return Sealer{}, errors.New("hash key: want at least 32 bytes")
	}
	return Sealer{key: bytes.Clone(key)}, nil
}

// HasKey reports whether hashes made by s can be compared.
func (s Sealer) HasKey() bool { return len(s.key) > 0 }

// Seal returns v with every sensitive part replaced by its Hash. What is not sensitive stays as it is. What is Unknown
// has no text yet: it stays, and a sensitive whole that waits for something becomes one sensitive Unknown.
func (s Sealer) Seal(v Value) Value {
	if !v.HasSensitive() {
		return v
	}
	if v.sensitive {
		switch {
		case v.kind == Hash || v.kind == Unknown:
			return v
		case v.HasUnknown():
			return Wait(v.Waits()...).AsSensitive()
		}
		return HashOf(s.hash(v))
	}
	switch d := v.data.(type) {
	case []Value:
		l := make([]Value, len(d))
		for i := range d {
			l[i] = s.Seal(d[i])
		}
		v.data = l
	case Map:
		v.data = s.SealMap(d)
	}
	return v
}

// SealMap seals every member of m. A map without sensitive parts is returned as it is, nil too.
func (s Sealer) SealMap(m Map) Map {
	if !OfMap(m).HasSensitive() {
		return m
	}
	out := make(Map, len(m))
	for k, e := range m {
		out[k] = s.Seal(e)
	}
	return out
}

// noKey is the text of a Hash that was made without a key.
const noKey = "no-key"

func (s Sealer) hash(v Value) string {
	if !s.HasKey() {
		return noKey
	}
	mac := hmac.New(sha256.New, s.key)
	mac.Write(appendCanonical(nil, v, true))
	return hex.EncodeToString(mac.Sum(nil))
}

// Matches compares a Hash with a plain value under the key. ok is false when there is no key to compare with, or a value
// that was never hashed with one.
func (s Sealer) Matches(h, plain Value) (equal, ok bool) {
	if !s.HasKey() || !h.keyed() {
		return false, false
	}
	if plain.kind == Hash {
		return hmac.Equal([]byte(h.text), []byte(plain.text)), plain.keyed()
	}
	return hmac.Equal([]byte(h.text), []byte(s.hash(plain))), true
}

// keyed reports whether v is a keyed hash: not one made without a key, nor the marker of a value stored unsealed.
func (v Value) keyed() bool { return v.kind == Hash && v.text != "" && v.text != noKey }

// Digest returns the SHA-256 over v with sorted keys, numbers as written. Seal first: sensitive parts enter only as the
// marker they are stored as.
func Digest(v Value) [32]byte {
	return sha256.Sum256(appendCanonical(nil, v, false))
}

// DigestMap is Digest of an object.
func DigestMap(m Map) [32]byte { return Digest(OfMap(m)) }

// appendCanonical appends one text for one value. With reveal it writes sensitive texts, and one text for equal numbers, so
// that what is Equal has the same keyed hash. Markers begin with $, which nothing else does.
func appendCanonical(b []byte, v Value, reveal bool) []byte {
	switch {
	case v.sensitive && !reveal || v.kind == Unknown || v.kind == Hash:
		mark, _ := json.Marshal(v)
		return append(append(b, '$'), mark...)
	case v.kind == List:
		b = append(b, '[')
		for i, e := range v.Items() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanonical(b, e, reveal)
		}
		return append(b, ']')
	case v.kind == Object:
		b = append(b, '{')
		for i, k := range v.Fields().Keys() {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(strconv.AppendQuote(b, k), ':')
			b = appendCanonical(b, v.Fields()[k], reveal)
		}
		return append(b, '}')
	case v.kind == String:
		return strconv.AppendQuote(b, v.Reveal()) // bytes that are not UTF-8 stay apart, as they do not in JSON
	case v.kind == Number && reveal:
		return append(b, canonicalNumber(v.Reveal())...)
	case v.kind == Number || v.kind == Bool:
		return append(b, v.Reveal()...)
	default:
		return append(b, "null"...)
	}
}

// String shows v as compact JSON; sensitive parts as (sensitive), unknown ones as (known after X).
func (v Value) String() string {
	var b bytes.Buffer
	v.show(&b)
	return b.String()
}

// GoString and Format keep %#v and %+v from reaching into the text of a sensitive value.
func (v Value) GoString() string { return v.String() }

// Format implements fmt.Formatter for every verb.
func (v Value) Format(f fmt.State, _ rune) { io.WriteString(f, v.String()) }

func (v Value) show(b *bytes.Buffer) {
	switch {
	case v.sensitive:
		b.WriteString("(sensitive)")
	case v.kind == Absent:
		b.WriteString("-")
	case v.kind == Unknown:
		b.WriteString("(known after ")
		for i, r := range v.data.([]string) {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(r)
		}
		b.WriteString(")")
	case v.kind == List:
		b.WriteByte('[')
		for i, e := range v.Items() {
			if i > 0 {
				b.WriteByte(',')
			}
			e.show(b)
		}
		b.WriteByte(']')
	case v.kind == Object:
		b.WriteByte('{')
		for i, k := range v.Fields().Keys() {
			if i > 0 {
				b.WriteByte(',')
			}
			j, _ := json.Marshal(k)
			b.Write(j)
			b.WriteByte(':')
			v.Fields()[k].show(b)
		}
		b.WriteByte('}')
	default:
		j, _ := marshalPlain(v)
		b.Write(j)
	}
}

// Markers in stored JSON. Templates refuse config objects that have one of the first two as their only key; an object that
// was read and consists of nothing but such keys is written inside the third.
const (
	markSensitive = "$sensitive" // keyed hash, or "" when the value was never sealed
	markUnknown   = "$unknown"   // what it waits for
	markPlain     = "$plain"     // the object itself
)

// MarshalJSON writes plain JSON, {"$sensitive": "<keyed hash or empty>"} for sensitive parts and {"$unknown": […]}, or
// both for what is sensitive and not known yet. The text of a sensitive value is never written; seal before storing to
// keep its hash.
func (v Value) MarshalJSON() ([]byte, error) {
	switch {
	case v.kind == Hash:
		return json.Marshal(map[string]string{markSensitive: v.text})
	case v.kind == Unknown && v.sensitive:
		return json.Marshal(map[string]any{markSensitive: "", markUnknown: v.data})
	case v.kind == Unknown:
		return json.Marshal(map[string]any{markUnknown: v.data})
	case v.sensitive:
		return json.Marshal(map[string]string{markSensitive: ""})
	case v.kind == List:
		return json.Marshal(v.Items())
	case v.kind == Object && marksOnly(v.Fields()):
		return json.Marshal(map[string]Map{markPlain: v.Fields()})
	case v.kind == Object:
		return json.Marshal(v.Fields())
	default:
		return marshalPlain(v)
	}
}

// marksOnly reports whether an object would be taken for a marker.
func marksOnly(m Map) bool {
	for k := range m {
		if k != markSensitive && k != markUnknown && k != markPlain {
			return false
		}
	}
	return len(m) > 0
}

func marshalPlain(v Value) ([]byte, error) {
	switch v.kind {
	case Bool:
		return []byte(v.text), nil
	case Number:
		if json.Valid([]byte(v.text)) {
			return []byte(v.text), nil
		}
		return json.Marshal(v.text)
	case String, Hash:
		return json.Marshal(v.text)
	default:
		return []byte("null"), nil
	}
}

// UnmarshalJSON reads what MarshalJSON writes. Sensitive parts come back as Hash values.
func (v *Value) UnmarshalJSON(b []byte) error {
	if plain, ok := parseScalar(b); ok {
		*v = plain
		return nil
	}
	raw, err := decode(b)
	if err != nil {
		return fmt.Errorf("read value: %w", err)
	}
	*v = build(raw, true)
	return nil
}

// decode reads one JSON document.
func decode(b []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var raw any
	if err := dec.Decode(&raw); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("more than one value")
	}
	return raw, nil
}

// parseScalar reads a JSON string or number. Most values are one, and a decoder for each would be the largest cost of
// loading records.
func parseScalar(b []byte) (Value, bool) {
	switch {
	case len(b) == 0:
		return Value{}, false
	case b[0] == '"':
		var s string
		err := json.Unmarshal(b, &s)
		return Value{kind: String, text: s}, err == nil
	case b[0] == '-' || b[0] >= '0' && b[0] <= '9':
		return Num(string(bytes.TrimSpace(b))), json.Valid(b)
	}
	return Value{}, false
}

// ParseJSON reads one JSON document as a Value; markers are not interpreted.
func ParseJSON(b []byte) (Value, error) {
	raw, err := decode(b)
	if err != nil {
		return Value{}, fmt.Errorf("read JSON: %w", err)
	}
	return build(raw, false), nil
}

func build(raw any, marks bool) Value {
	switch r := raw.(type) {
	case json.Number:
		return Num(r.String())
	case []any:
		l := make([]Value, len(r))
		for i, e := range r {
			l[i] = build(e, marks)
		}
		return ListOf(l...)
	case map[string]any:
		if marks {
			if v, ok := fromMarker(r); ok {
				return v
			}
		}
		m := make(Map, len(r))
		for k, e := range r {
			m[k] = build(e, marks)
		}
		return OfMap(m)
	default:
		return Of(raw)
	}
}

// fromMarker reads what stands for a value that JSON cannot say.
func fromMarker(r map[string]any) (Value, bool) {
	hash, sensitive := r[markSensitive].(string)
	waits, unknown := r[markUnknown].([]any)
	plain, object := r[markPlain].(map[string]any)
	switch {
	case len(r) == 1 && sensitive:
		return HashOf(hash), true
	case len(r) == 1 && object:
		m := make(Map, len(plain))
		for k, e := range plain {
			m[k] = build(e, true)
		}
		return OfMap(m), true
	case unknown && (len(r) == 1 || len(r) == 2 && sensitive):
		refs := make([]string, len(waits))
		for i, e := range waits {
			refs[i], _ = e.(string)
		}
		v := Wait(refs...)
		if sensitive {
			v = v.AsSensitive()
		}
		return v, true
	}
	return Value{}, false
}

// Plain returns v as plain Go data for encoding/json and templates of request bodies: sensitive text included. Use it
// only where the result goes to the service.
func (v Value) Plain() any {
	switch v.kind {
	case Bool:
		return v.Reveal() == "true"
	case Number:
		return json.Number(v.Reveal())
	case String, Hash:
		return v.Reveal()
	case List:
		l := make([]any, len(v.Items()))
		for i, e := range v.Items() {
			l[i] = e.Plain()
		}
		return l
	case Object:
		m := make(map[string]any, len(v.Fields()))
		for k, e := range v.Fields() {
			m[k] = e.Plain()
		}
		return m
	default:
		return nil
	}
}
