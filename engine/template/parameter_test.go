package template

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/value"
)

const anyResource = "Resources: {R: {Type: Test::Any}}\n"

func TestParameterValues(t *testing.T) {
	tests := map[string]struct {
		declared, given string
		want            value.Value
	}{
		"a string":                          {`Type: String`, "x, y", value.Of("x, y")},
		"an empty string is a value":        {`Type: String`, "", value.Of("")},
		"a number keeps its text":           {`Type: Number`, "1.50", value.Of("1.50")},
		"a list is trimmed":                 {`Type: CommaDelimitedList`, "a , b", value.Of([]string{"a", "b"})},
		"numbers in a list":                 {`Type: List<Number>`, "1,2", value.Of([]string{"1", "2"})},
		"AWS's own types are strings":       {`Type: AWS::EC2::VPC::Id`, "vpc-1", value.Of("vpc-1")},
		"lists of AWS's own types":          {`Type: List<AWS::EC2::Subnet::Id>`, "s-1,s-2", value.Of([]string{"s-1", "s-2"})},
		"an allowed value":                  {`Type: String, AllowedValues: [a, 7]`, "7", value.Of("7")},
		"a pattern matches the whole":       {`Type: String, AllowedPattern: "a|b+"`, "bb", value.Of("bb")},
		"lengths count characters":          {`Type: String, MinLength: 2, MaxLength: 2`, "éé", value.Of("éé")},
		"bounds include their ends":         {`Type: Number, MinValue: -1, MaxValue: 1`, "-1", value.Of("-1")},
		"NoEcho is sensitive":               {`Type: String, NoEcho: true`, "x", value.Of("x").AsSensitive()},
		"NoEcho as text, of a whole list":   {`Type: CommaDelimitedList, NoEcho: "true"`, "x,y", value.Of([]string{"x", "y"}).AsSensitive()},
		"what is given wins over default":   {`Type: String, Default: a`, "b", value.Of("b")},
		"a default that YAML reads as date": {`Type: String, Default: 2012-10-17, AllowedValues: [2012-10-17, b]`, "2012-10-17", value.Of("2012-10-17")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			g := bind(t, "Parameters: {P: {"+tt.declared+"}}\n"+anyResource, func(b *Binding) { b.Parameters = map[string]string{"P": tt.given} })
			if got := g.Parameters["P"]; plain(got) != plain(tt.want) {
				t.Errorf("got %s, want %s", plain(got), plain(tt.want))
			}
		})
	}
}

func TestParametersRefused(t *testing.T) {
	tests := map[string]struct{ declared, given, want string }{
		"not allowed": {`Type: String, AllowedValues: [dev, prod]`, "test",
			`1:14: Parameters.P: the value "test" is not one of the allowed values. Use "dev", "prod"`},
		"a secret is not shown":       {`Type: String, NoEcho: true, AllowedValues: [k1, k2]`, "hunter2", `Parameters.P: the value (sensitive) is not one of the allowed values`},
		"the author's own words":      {`Type: String, AllowedPattern: "a+", ConstraintDescription: only a`, "aab", `the value "aab" does not match "a+". only a`},
		"too short":                   {`Type: String, MinLength: 3`, "ab", `the value "ab" is shorter than 3 characters`},
		"too long":                    {`Type: String, MaxLength: 3`, "abcd", `the value "abcd" is longer than 3 characters`},
		"too small":                   {`Type: Number, MinValue: 3`, "2.9", `the value "2.9" is less than 3`},
		"too large":                   {`Type: Number, MaxValue: 3`, "4", `the value "4" is more than 3`},
		"no number":                   {`Type: Number`, "many", `the value "many" is no number`},
		"one item of a list":          {`Type: List<Number>`, "1,b", `the value "b" is no number`},
		"an item not allowed":         {`Type: CommaDelimitedList, AllowedValues: [a, b]`, "a,c", `the value "c" is not one of the allowed values`},
		"a dynamic reference":         {`Type: String`, "{{resolve:ssm:x}}", `is a dynamic reference, which is not supported`},
		"a bad default":               {`Type: String, Default: c, AllowedValues: [a, b]`, "a", `1:41: Parameters.P.Default: the default "c" is not one of the allowed values`},
		"a list as default":           {`Type: CommaDelimitedList, Default: [a]`, "a", `Parameters.P.Default: Default takes text, found a list. A list is written as text, with commas`},
		"an SSM type":                 {`Type: AWS::SSM::Parameter::Value<String>`, "a", `1:24: Parameters.P.Type: the parameter type "AWS::SSM::Parameter::Value<String>" is not supported: SSM is not read`},
		"an SSM type in a list":       {`Type: List<AWS::SSM::Parameter::Name>`, "a", `the parameter type "List<AWS::SSM::Parameter::Name>" is not supported`},
		"an unknown type":             {`Type: Strin`, "a", `the parameter type "Strin" is not supported. Did you mean String?`},
		"no type":                     {`Default: a`, "a", `1:14: Parameters.P: the parameter has no Type`},
		"an unknown attribute":        {`Type: String, Defalt: a`, "a", `1:32: Parameters.P.Defalt: "Defalt" is not supported in a parameter. Did you mean Default?`},
		"a pattern with lookahead":    {`Type: String, AllowedPattern: "(?=a)a"`, "a", `AllowedPattern cannot be used: `},
		"a bound that is no number":   {`Type: Number, MinValue: few`, "1", `MinValue is a number, found "few"`},
		"NoEcho that is neither":      {`Type: String, NoEcho: maybe`, "1", `NoEcho is true or false, found "maybe"`},
		"a computed default":          {`Type: String, Default: !Ref AWS::Region`, "1", `Default takes text, found !Ref`},
		"allowed values without list": {`Type: String, AllowedValues: a`, "a", `AllowedValues takes a list, found "a"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ps := problems(t, "Parameters: {P: {"+tt.declared+"}}\n"+anyResource, func(b *Binding) { b.Parameters = map[string]string{"P": tt.given} })
			if len(ps) != 1 || !strings.Contains(ps.Error(), tt.want) || strings.Contains(ps.Error(), "hunter2") || strings.Contains(ps.Error(), "k1") {
				t.Errorf("got\n%v\nwant one problem with\n%s", ps, tt.want)
			}
		})
	}
}

func TestMissingParametersAreAllNamed(t *testing.T) {
	ps := problems(t, "Parameters:\n  A: {Type: String}\n  B: {Type: Number}\n  C: {Type: String, Default: c}\n"+
		"Conditions: {X: !Equals [!Ref A, a]}\n"+
		"Resources: {R: {Type: Test::Any, Condition: X, Properties: {Text: !Sub '${A}${B}', Txt: x}}}\n",
		func(b *Binding) { b.Parameters = map[string]string{"BB": "1"} })
	want := []string{
		"1:1: Parameters: the template has no parameter \"BB\"",
		"2:3: Parameters.A: the parameter has no value and no default. Give them all with --parameters A=… B=…",
		"3:3: Parameters.B: the parameter has no value and no default",
		"6:84: Resources.R.Properties.Txt: Test::Any has no property \"Txt\". Did you mean Text?",
	}
	got := strings.Split(strings.ReplaceAll(ps.Error(), "t.yaml:", ""), "\n")
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestDeclaredParametersAreListed(t *testing.T) {
	tpl, err := Parse("t.yaml", []byte("Parameters:\n  B: {Type: String, Default: x, NoEcho: true, Description: d}\n  A: {Type: Number, MinValue: 1}\n"+anyResource))
	if err != nil {
		t.Fatal(err)
	}
	want := []Parameter{
		{Name: "B", Type: "String", Default: value.Of("x").AsSensitive(), NoEcho: true, Description: "d", Line: 2, Col: 3},
		{Name: "A", Type: "Number", MinValue: "1", Line: 3, Col: 3},
	}
	if d := cmp.Diff(want, tpl.Parameters()); d != "" {
		t.Error(d)
	}
	if strings.Contains(format("%+v", tpl.Parameters()), "Default:\"x\"") { // S32
		t.Error("printing the parameters shows a NoEcho default")
	}
}
