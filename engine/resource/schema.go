package resource

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"reclaim/engine/value"
)

// Class says what a second create of the same thing would do (DESIGN §3).
type Class string

const (
	Named    Class = "Named"    // refused by the service; types with a natural key count as Named
	Upsert   Class = "Upsert"   // succeeds silently or overwrites
	Token    Class = "Token"    // returns the first, while the token lives
	Assigned Class = "Assigned" // makes a duplicate
)

// NameSpace is where a key is unique (SAFETY S3).
type NameSpace string

const (
	PerRegion  NameSpace = "account and region"
	PerAccount NameSpace = "account"
	Global     NameSpace = "global"
	PerMachine NameSpace = "machine"
)

// TagStyle says how a type carries tags, if at all.
type TagStyle string

const (
	NoTags  TagStyle = ""
	TagList TagStyle = "list" // [{Key, Value}]
	TagMap  TagStyle = "map"  // {name: value}
	// NonceOnly: the type has no tags, but its ID has room for the nonce. A read gives that in Observation.Owner, and
	// nothing else: stack and resource cannot be told from it, and an adoption leaves no mark.
	NonceOnly TagStyle = "nonce"
)

// Mode says what may be done with a param after creation.
type Mode string

const (
	Mutable   Mode = "mutable"
	Immutable Mode = "immutable" // a change means replacement
	KeyParam  Mode = "key"       // immutable, and part of the address
)

// ValueType is the shape of a param.
type ValueType string

const (
	TString ValueType = "string"
	TInt    ValueType = "integer"
	TBool   ValueType = "boolean"
	TList   ValueType = "list"
	TObject ValueType = "object" // fixed fields: Fields
	TMap    ValueType = "map"    // free names; Elem is the value's field
	TJSON   ValueType = "json"   // a free document: object, or the same as a string
)

// Equivalence names a normalisation that engine/diff applies before it compares (docs: types command).
type Equivalence string

const (
	Exact      Equivalence = ""
	IAMPolicy  Equivalence = "iam-policy"       // AWS.md "IAM policy equivalence"
	JSONDoc    Equivalence = "json"             // compared as JSON documents
	FoldCase   Equivalence = "case-insensitive" // strings, or a list's items
	EmptyIsNil Equivalence = "empty-is-absent"  // {} and [] and "" equal absent
	ARNStar    Equivalence = "arn-star"         // one trailing ":*" does not count
	AtLeast    Equivalence = "at-least"         // a number that the service raises by itself and never lowers: more is enough
	KMSKey     Equivalence = "kms-key"          // a key's ID and its ARN are one; an alias cannot be told from the key behind it
	OffIsNil   Equivalence = "off-is-absent"    // an object whose own switch, its first boolean field, is not on equals absent
)

// Field describes one param or one nested field of it.
type Field struct {
	Name      string
	Doc       string // one sentence for `reclaim types`
	Type      ValueType
	Mode      Mode // of top-level params; nested fields follow their parent
	Required  bool
	Default   value.Value // what the service fills in when config says nothing; Absent when it fills in nothing or we do not know
	Sensitive bool
	WriteOnly bool // never returned by a read
	LocalPath bool // a path on this machine, made absolute against the template's folder
	Equal     Equivalence

	Enum     []string // allowed strings
	Ints     []int64  // allowed integers
	Min, Max *int64   // bounds of an integer, or of a string's or list's length
	Pattern  string   // RE2 that the whole string must match

	Set     bool    // list order does not count
	ItemKey string  // items are told apart by this field (Tags: Key)
	Shared  bool    // a collection others may add members to (SAFETY S26)
	Elem    *Field  // item of a list, value of a map
	Fields  []Field // of TObject
}

// Lookup returns the nested field, nil when there is none.
func (f *Field) Lookup(name string) *Field {
	for i := range f.Fields {
		if f.Fields[i].Name == name {
			return &f.Fields[i]
		}
	}
	return nil
}

// Output is one attribute only the cloud knows.
type Output struct {
	Name, Doc string
	// Volatile: an update of the resource may change it (a content hash), so dependents cannot count on it before.
	Volatile bool
}

// NameRule says how a name is generated for a resource that sets none (DESIGN §2).
type NameRule struct {
	Param string
	Max   int    // longest name, in bytes
	Lower bool   // lower case only
	Fixed string // template for types whose name has a fixed head; "" otherwise
}

// Schema is everything the engine knows of a type. One Schema serves validation, diff, `reclaim types` and the docs.
type Schema struct {
	Type     string
	Doc      string
	Local    bool // lives on this machine; needs no cloud, account or region
	Identity Class
	Space    NameSpace
	// Key lists the address: names of params (Named, Upsert), or of outputs (Assigned), in display order. "Machine"
	// is filled in with the ID of the machine for local types.
	Key []string
	// Natural names params that the service keeps unique although it assigns the ID (a route's API and route key). The
	// type is Named and Key holds the assigned ID: until that is known, a Finder looks the object up by these params.
	Natural []string
	// FoldKey: the service compares keys without case.
	FoldKey bool
	// Ref names the param or output that Ref gives.
	Ref     string
	Params  []Field
	Outputs []Output
	Name    *NameRule
	// Unsupported names properties of the CloudFormation type that are refused, with the reason.
	Unsupported map[string]string

	Tags     TagStyle
	TagParam string // the param that holds them, "Tags"

	// Settles: the service goes on working after its answer; the engine reads until the observation is Ready.
	Settles bool

	// Derived names outputs and params that are computed from params: by name, what from. They are sensitive whenever
	// one of those is (SAFETY S32, see Conceal). A param in here is filled in by an Expander; a template cannot set it.
	Derived map[string][]string

	DataBearing bool   // deleting destroys what users put in (SAFETY S25)
	Data        string // what that is: "log events"

	// Parent names the params that must be the same for siblings to be confused (SAFETY S13); empty for none.
	Parent []string

	Window    time.Duration // consistency window W (SAFETY S12)
	TokenLife time.Duration // how long a token is remembered; 0 without tokens
	Deadlines Deadlines
}

// Deadlines bound what the engine waits for, at full scale (see crash.Scale).
type Deadlines struct {
	Call   time.Duration // one API call, its retries included
	Settle time.Duration // from the last changing call until the read says Ready
	Delete time.Duration // from the delete call until the object is gone
}

// Taggable reports whether objects can carry our nonce.
func (s *Schema) Taggable() bool { return s.Tags != NoTags }

// Param returns the named top-level param, nil when the type has none of that name.
func (s *Schema) Param(name string) *Field {
	for i := range s.Params {
		if s.Params[i].Name == name {
			return &s.Params[i]
		}
	}
	return nil
}

// HasOutput reports whether GetAtt can name it.
func (s *Schema) HasOutput(name string) bool {
	return slices.ContainsFunc(s.Outputs, func(o Output) bool { return o.Name == name })
}

// Conceal returns params or output as read, with every Derived member marked sensitive whose origin is sensitive in one
// of the known params (desired, recorded). A read alone cannot know: it sees bytes, not where they came from.
func (s *Schema) Conceal(read value.Map, known ...value.Map) value.Map {
	if !slices.ContainsFunc(known, func(m value.Map) bool { return value.OfMap(m).HasSensitive() }) {
		return read
	}
	for name, from := range s.Derived {
		v, ok := read[name]
		secret := slices.ContainsFunc(from, func(param string) bool {
			return slices.ContainsFunc(known, func(m value.Map) bool { return m[param].HasSensitive() })
		})
		if ok && secret {
			read = read.With(name, v.AsSensitive())
		}
	}
	return read
}

// KeyByParams reports whether the key can be told from params alone, before anything is created.
func (s *Schema) KeyByParams() bool {
	for _, k := range s.Key {
		if k != "Machine" && s.Param(k) == nil {
			return false
		}
	}
	return true
}

// KeyOf returns the key that params address. ok is false while a part is unknown, unset, or assigned by the cloud.
func (s *Schema) KeyOf(params value.Map, machine string) (key Key, ok bool) {
	key = Key{}
	for _, k := range s.Key {
		if k == "Machine" {
			key[k] = machine
			continue
		}
		text := params.Text(k)
		if text == "" {
			return nil, false
		}
		key[k] = text
	}
	return key, true
}

// Place returns what params say of where an object is or will be: those of Key, Natural and Parent that are set. It is
// what a Finder is told in Query.Key.
func (s *Schema) Place(params value.Map) Key {
	place := Key{}
	for _, name := range slices.Concat(s.Key, s.Natural, s.Parent) {
		if text := params.Text(name); s.Param(name) != nil && text != "" {
			place[name] = text
		}
	}
	return place
}

// Physical returns the display form of a key: its parts joined by "|", without the machine.
func (s *Schema) Physical(k Key) string {
	var parts []string
	for _, name := range s.Key {
		if name != "Machine" && k[name] != "" {
			parts = append(parts, k[name])
		}
	}
	return strings.Join(parts, "|")
}

// ParsePhysical is the reverse of Physical, for an ID that an operator types. Of a local type the whole text is the path,
// which may hold a "|"; no service has it in a name.
func (s *Schema) ParsePhysical(text, machine string) (Key, error) {
	key := Key{}
	var names []string
	for _, name := range s.Key {
		if name == "Machine" {
			key[name] = machine
			continue
		}
		names = append(names, name)
	}
	parts := []string{text}
	if len(names) > 1 || !s.Local {
		parts = strings.Split(text, "|")
	}
	for i, name := range names {
		if i >= len(parts) || parts[i] == "" {
			return nil, fmt.Errorf("physical ID %q: %s is missing; want %s", text, name, strings.Join(names, "|"))
		}
		key[name] = parts[i]
	}
	if len(parts) > len(names) {
		return nil, fmt.Errorf("physical ID %q: too many parts; want %s", text, strings.Join(names, "|"))
	}
	return key, nil
}

// Claim returns the one text under which a physical key is unique in a store (SAFETY S3).
func (s *Schema) Claim(sc Scope, k Key) string { return s.claim(s.Type, sc, s.Key, k) }

// ClaimNatural is Claim of a natural key, for an object whose ID is not known yet; "" while a part of it is not known.
func (s *Schema) ClaimNatural(sc Scope, place Key) string {
	if len(s.Natural) == 0 || slices.ContainsFunc(s.Natural, func(name string) bool { return place[name] == "" }) {
		return ""
	}
	return s.claim(s.Type+" natural key", sc, s.Natural, place)
}

func (s *Schema) claim(kind string, sc Scope, names []string, k Key) string {
	var space string
	switch s.Space {
	case PerMachine:
		space = "machine"
	case Global:
		space = strings.Join([]string{sc.Partition, sc.Endpoint}, "/")
	case PerAccount:
		space = strings.Join([]string{sc.Partition, sc.Account, sc.Endpoint}, "/")
	default:
		space = strings.Join([]string{sc.Partition, sc.Account, sc.Region, sc.Endpoint}, "/")
	}
	parts := []string{kind, space}
	for _, name := range names {
		part := k[name]
		if s.FoldKey {
			part = strings.ToLower(part)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "\x1f")
}
