package template

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"reclaim/engine/value"
)

// Parameter is one declared parameter.
type Parameter struct {
	Name, Type, Description string
	Default                 value.Value // String; Absent without a default; sensitive when NoEcho
	NoEcho                  bool
	AllowedValues           []string
	AllowedPattern          string // RE2 that the whole value must match
	MinLength, MaxLength    string // decimal text, "" for none
	MinValue, MaxValue      string // decimal text, "" for none
	ConstraintDescription   string
	Line, Col               int // of its name
}

// IsList reports whether the value is a comma-separated list.
func (p *Parameter) IsList() bool {
	return p.Type == "CommaDelimitedList" || strings.HasPrefix(p.Type, "List<")
}

// parameter is a Parameter with what is needed to check values.
type parameter struct {
	Parameter
	node       *node
	pattern    *regexp.Regexp
	badDefault bool // reported already
}

// parameterTypes are the types besides List<…> of those that AWS names.
var parameterTypes = []string{
	"String", "Number", "CommaDelimitedList", "List<Number>",
	"AWS::EC2::AvailabilityZone::Name", "AWS::EC2::Image::Id", "AWS::EC2::Instance::Id", "AWS::EC2::KeyPair::KeyName",
	"AWS::EC2::SecurityGroup::GroupName", "AWS::EC2::SecurityGroup::Id", "AWS::EC2::Subnet::Id", "AWS::EC2::VPC::Id",
	"AWS::EC2::Volume::Id", "AWS::Route53::HostedZone::Id",
}

// parameterAttributes are what a parameter may have; all are plain text or lists of it.
var parameterAttributes = map[string]string{
	"Type": "", "Default": "", "NoEcho": "", "AllowedValues": "", "AllowedPattern": "", "MinLength": "", "MaxLength": "",
	"MinValue": "", "MaxValue": "", "ConstraintDescription": "", "Description": "",
}

func (p *parser) parameter(n *node) *parameter {
	if !p.isMap(n, "a parameter") {
		return nil
	}
	p.known(n, parameterAttributes, "a parameter")
	d := &parameter{node: n}
	d.Name, d.Line, d.Col = n.key, int(n.keyLine), int(n.keyCol)
	d.Type = p.text(n, "Type")
	p.parameterType(n, d.Type)
	d.Description = p.text(n, "Description")
	d.ConstraintDescription = p.text(n, "ConstraintDescription")
	d.NoEcho = p.noEcho(n)
	d.AllowedValues = p.texts(n, "AllowedValues")
	d.MinLength, d.MaxLength = p.bound(n, "MinLength"), p.bound(n, "MaxLength")
	d.MinValue, d.MaxValue = p.bound(n, "MinValue"), p.bound(n, "MaxValue")
	p.allowedPattern(n, d)
	if def := n.get("Default"); def != nil {
		p.defaultOf(def, d)
	}
	return d
}

func (p *parser) parameterType(n *node, typ string) {
	t := n.get("Type")
	item, list := strings.CutPrefix(typ, "List<")
	item = strings.TrimSuffix(item, ">")
	switch {
	case t == nil:
		p.failKey(n, "Write Type: String", "the parameter has no Type")
	case strings.HasPrefix(typ, "AWS::SSM::"):
		p.fail(t, "Use String and pass the value", "the parameter type %s is not supported: SSM is not read", quote(typ))
	case slices.Contains(parameterTypes, typ):
	case list && strings.HasPrefix(item, "AWS::") && slices.Contains(parameterTypes, item):
	default:
		p.fail(t, did(typ, parameterTypes), "the parameter type %s is not supported", quote(typ))
	}
}

// text returns the text of an attribute, "" when there is none or it is no text.
func (p *parser) text(n *node, key string) string {
	switch m := n.get(key); {
	case m == nil:
		return ""
	case !m.isText():
		p.fail(m, "", "%s takes text, found %s", key, m.what())
		return ""
	default:
		return m.text
	}
}

func (p *parser) texts(n *node, key string) []string {
	m := n.get(key)
	if m == nil {
		return nil
	}
	if m.op != opList || m.tag != "" || len(m.items) == 0 {
		p.fail(m, "", "%s takes a list, found %s", key, describe(m))
		return nil
	}
	out := make([]string, 0, len(m.items))
	for _, e := range m.items {
		if !e.isText() {
			p.fail(e, "", "%s takes a list of texts, found %s", key, e.what())
			continue
		}
		out = append(out, e.text)
	}
	return out
}

func (p *parser) noEcho(n *node) bool {
	text := p.text(n, "NoEcho")
	if text != "" && text != "true" && text != "false" {
		p.fail(n.get("NoEcho"), "Write true or false", "NoEcho is true or false, found %s", quote(text))
	}
	return text == "true"
}

// bound returns the decimal text of a limit.
func (p *parser) bound(n *node, key string) string {
	text := p.text(n, key)
	if _, ok := decimal(text); text != "" && !ok {
		p.fail(n.get(key), "Write a number", "%s is a number, found %s", key, quote(text))
		return ""
	}
	return text
}

func (p *parser) allowedPattern(n *node, d *parameter) {
	d.AllowedPattern = p.text(n, "AllowedPattern")
	if d.AllowedPattern == "" {
		return
	}
	re, err := regexp.Compile("^(?:" + d.AllowedPattern + ")$")
	if err != nil {
		p.fail(n.get("AllowedPattern"), "Write it without lookaround and back references", "AllowedPattern cannot be used: %s", printable(err.Error()))
		return
	}
	d.pattern = re
}

func (p *parser) defaultOf(n *node, d *parameter) {
	if !n.isText() {
		d.badDefault = true
		p.fail(n, "A list is written as text, with commas", "Default takes text, found %s", n.what())
		return
	}
	p.dynamic(n, n.text)
	if text, hint := d.check(n.text); text != "" {
		d.badDefault = true
		p.fail(n, hint, "the default %s", text)
	}
	d.Default = value.Of(n.text)
	if d.NoEcho {
		d.Default = d.Default.AsSensitive()
	}
}

// decimal reads a number as JSON writes it.
func decimal(text string) (float64, bool) {
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && number.MatchString(text)
}

// check returns what is wrong with a value, as the end of a sentence, and the next step; "" when it is good. The text of
// a NoEcho parameter is not in it.
func (p *parameter) check(text string) (wrong, hint string) {
	for _, item := range p.split(text) {
		if wrong, hint := p.checkItem(item); wrong != "" {
			if p.ConstraintDescription != "" {
				hint = printable(p.ConstraintDescription)
			}
			return p.shown(item) + " " + wrong, hint
		}
	}
	return "", ""
}

func (p *parameter) checkItem(item string) (wrong, hint string) {
	f, isNumber := decimal(item)
	length := float64(utf8.RuneCountInString(item))
	switch {
	case strings.Contains(item, "{{resolve:"):
		return "is a dynamic reference, which is not supported", "Pass the value itself"
	case (p.Type == "Number" || p.Type == "List<Number>") && !isNumber:
		return "is no number", "Give a number"
	case len(p.AllowedValues) > 0 && !slices.Contains(p.AllowedValues, item):
		return "is not one of the allowed values", p.allowed()
	case p.pattern != nil && !p.pattern.MatchString(item):
		return "does not match " + quote(p.AllowedPattern), ""
	case p.MinLength != "" && length < limit(p.MinLength):
		return "is shorter than " + p.MinLength + " characters", ""
	case p.MaxLength != "" && length > limit(p.MaxLength):
		return "is longer than " + p.MaxLength + " characters", ""
	case p.MinValue != "" && isNumber && f < limit(p.MinValue):
		return "is less than " + p.MinValue, ""
	case p.MaxValue != "" && isNumber && f > limit(p.MaxValue):
		return "is more than " + p.MaxValue, ""
	}
	return "", ""
}

func limit(text string) float64 { f, _ := decimal(text); return f }

func (p *parameter) shown(text string) string {
	if p.NoEcho {
		return "(sensitive)"
	}
	return quote(text)
}

// allowed lists the allowed values, but not of a NoEcho parameter.
func (p *parameter) allowed() string {
	if p.NoEcho {
		return ""
	}
	quoted := make([]string, 0, len(p.AllowedValues))
	for _, v := range p.AllowedValues[:min(len(p.AllowedValues), 20)] {
		quoted = append(quoted, quote(v))
	}
	return "Use " + strings.Join(quoted, ", ")
}

func (p *parameter) split(text string) []string {
	if !p.IsList() {
		return []string{text}
	}
	items := strings.Split(text, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return items
}

// value returns what Ref gives: a String, as CloudFormation does for numbers too, or a List of them.
func (p *parameter) value(text string) value.Value {
	v := value.Of(text)
	if p.IsList() {
		v = value.Of(p.split(text))
	}
	if p.NoEcho {
		v = v.AsSensitive()
	}
	return v
}
