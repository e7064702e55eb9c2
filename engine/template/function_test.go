package template

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/value"
)

// head declares what the expressions of these tests use.
const head = `
Parameters:
  Name: {Type: String, Default: orders}
  Many: {Type: CommaDelimitedList, Default: "a, b,c"}
  Days: {Type: Number, Default: 14}
  Key: {Type: String, Default: s3cret, NoEcho: true}
  Keys: {Type: CommaDelimitedList, Default: "k1,k2", NoEcho: true}
Mappings:
  Zones:
    eu-west-1: {Long: Ireland, List: [a, b]}
    us-east-1: {Long: Virginia, List: [c]}
Conditions:
  Yes: !Equals [!Ref Name, orders]
  No: !Not [!Condition Yes]
  Here: !Equals [!Ref AWS::Region, eu-west-1]
  Secretly: !Equals [!Ref Key, s3cret]
Resources:
  A: {Type: Test::Any}
  R:
    Type: Test::Any
    Properties:
      Doc:
        V: `

// evaluate returns the value of one expression, written as a flow value of YAML.
func evaluate(t *testing.T, expr string, f Facts, change ...func(*Binding)) value.Value {
	t.Helper()
	return resolve(t, bind(t, head+expr+"\n", change...), "R", f)["Doc"].Get("V")
}

func secret(v any) value.Value { return value.Of(v).AsSensitive() }

func TestFunctions(t *testing.T) {
	tests := map[string]struct {
		expr string
		want value.Value
	}{
		"Ref gives a parameter's text":                    {`!Ref Name`, value.Of("orders")},
		"Ref in long form":                                {`{Ref: Name}`, value.Of("orders")},
		"Ref gives a number parameter as text":            {`!Ref Days`, value.Of("14")},
		"Ref gives a list parameter trimmed":              {`!Ref Many`, value.Of([]string{"a", "b", "c"})},
		"Ref gives the stack's name":                      {`!Ref AWS::StackName`, value.Of("orders")},
		"Ref gives the account":                           {`!Ref AWS::AccountId`, value.Of("123456789012")},
		"Ref gives the partition's domain":                {`!Ref AWS::URLSuffix`, value.Of("amazonaws.com")},
		"Ref to a resource waits for it":                  {`!Ref A`, value.Wait("A")},
		"GetAtt waits for the attribute":                  {`!GetAtt A.Arn`, value.Wait("A.Arn")},
		"GetAtt as a list":                                {`!GetAtt [A, Arn]`, value.Wait("A.Arn")},
		"GetAtt in long form":                             {`{"Fn::GetAtt": [A, Arn]}`, value.Wait("A.Arn")},
		"GetAtt of an attribute with dots":                {`!GetAtt A.Deep.Name`, value.Wait("A.Deep.Name")},
		"GetAtt of an attribute with dots, as a list":     {`{"Fn::GetAtt": [A, Deep.Name]}`, value.Wait("A.Deep.Name")},
		"Sub puts parameters in":                          {`!Sub "${Name}-${AWS::Region}"`, value.Of("orders-eu-west-1")},
		"Sub with variables, which win":                   {`!Sub ["${Name}/${X}", {X: !Ref Days, Name: n}]`, value.Of("n/14")},
		"Sub keeps an escaped name":                       {`!Sub "${!Name} is ${Name}"`, value.Of("${Name} is orders")},
		"Sub keeps dollars and what is not closed":        {`!Sub "$5 ${Name} ${"`, value.Of("$5 orders ${")},
		"Sub of nothing":                                  {`!Sub ""`, value.Of("")},
		"Sub waits for an attribute":                      {`!Sub "x ${A.Arn} ${A}"`, value.Wait("A", "A.Arn")},
		"Join of texts":                                   {`!Join ["-", [a, !Ref Name, 3, true]]`, value.Of("a-orders-3-true")},
		"Join of a list parameter":                        {`!Join [":", !Ref Many]`, value.Of("a:b:c")},
		"Join of a split":                                 {`{"Fn::Join": ["", {"Fn::Split": [".", a.b.c]}]}`, value.Of("abc")},
		"Join leaves out NoValue":                         {`!Join ["-", [a, !Ref "AWS::NoValue", b]]`, value.Of("a-b")},
		"Join with one unknown item is a whole unknown":   {`!Join ["-", [a, !GetAtt A.Arn, !Ref A]]`, value.Wait("A", "A.Arn")},
		"Join of an unknown list":                         {`!Join ["-", !GetAtt A.List]`, value.Wait("A.List")},
		"Select by number":                                {`!Select [1, [a, b]]`, value.Of("b")},
		"Select by text":                                  {`!Select ["2", !Ref Many]`, value.Of("c")},
		"Select does not wait for other items":            {`!Select [0, [a, !GetAtt A.Arn]]`, value.Of("a")},
		"Select waits for its own item":                   {`!Select [1, [a, !GetAtt A.Arn]]`, value.Wait("A.Arn")},
		"Select counts what NoValue left":                 {`!Select [0, [!Ref "AWS::NoValue", b]]`, value.Of("b")},
		"Split":                                           {`!Split [",", "a,b,,c"]`, value.Of([]string{"a", "b", "", "c"})},
		"Split of an unknown":                             {`!Split [":", !GetAtt A.Arn]`, value.Wait("A.Arn")},
		"Select of a split unknown":                       {`!Select [4, !Split [":", !GetAtt A.Arn]]`, value.Wait("A.Arn")},
		"If takes the first when true":                    {`!If [Yes, a, !GetAtt A.Arn]`, value.Of("a")},
		"If takes the second when false":                  {`!If [No, a, [b]]`, value.Of([]string{"b"})},
		"If with NoValue leaves the key out":              {`!If [No, a, !Ref "AWS::NoValue"]`, value.Value{}},
		"FindInMap":                                       {`!FindInMap [Zones, !Ref AWS::Region, Long]`, value.Of("Ireland")},
		"FindInMap of a list":                             {`!FindInMap [Zones, eu-west-1, List]`, value.Of([]string{"a", "b"})},
		"FindInMap in long form":                          {`{"Fn::FindInMap": [Zones, us-east-1, Long]}`, value.Of("Virginia")},
		"Base64":                                          {`{"Fn::Base64": !Sub "${Name}!"}`, value.Of("b3JkZXJzIQ==")},
		"Base64 of an unknown":                            {`!Base64 {Ref: A}`, value.Wait("A")},
		"a map with the key Condition is data":            {`{Condition: x}`, value.Of(map[string]any{"Condition": "x"})},
		"NoValue leaves list items out":                   {`[a, !Ref "AWS::NoValue"]`, value.Of([]string{"a"})},
		"a NoEcho parameter is sensitive":                 {`!Ref Key`, secret("s3cret")},
		"a NoEcho list is sensitive at every level":       {`!Ref Keys`, secret([]string{"k1", "k2"})},
		"Sub carries sensitivity":                         {`!Sub "x${Key}"`, secret("xs3cret")},
		"Join carries sensitivity":                        {`!Join ["", [a, !Ref Key]]`, secret("as3cret")},
		"Join carries the sensitivity of a list":          {`!Join ["", !Ref Keys]`, secret("k1k2")},
		"Split carries sensitivity to each item":          {`!Split ["c", !Ref Key]`, secret([]string{"s3", "ret"})},
		"Select carries sensitivity":                      {`!Select [0, !Split ["c", !Ref Key]]`, secret("s3")},
		"Select of a plain item beside a secret is plain": {`!Select [0, [a, !Ref Key]]`, value.Of("a")},
		"Base64 carries sensitivity":                      {`{"Fn::Base64": !Ref Key}`, secret("czNjcmV0")},
		"If carries sensitivity of the branch":            {`!If [Yes, !Ref Key, a]`, secret("s3cret")},
		"If carries sensitivity of the condition":         {`!If [Secretly, [a], b]`, secret([]string{"a"})},
		"an unknown joined with a secret stays sensitive": {`!Sub "${Key}${A.Arn}"`, value.Wait("A.Arn").AsSensitive()},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := evaluate(t, tt.expr, nil)
			if tt.want.Kind() == value.Unknown { // equal to nothing by design
				if got.Kind() != value.Unknown || got.Sensitive() != tt.want.Sensitive() || !cmp.Equal(got.Waits(), tt.want.Waits()) {
					t.Errorf("got %v, sensitive %v, want %v", got, got.Sensitive(), tt.want)
				}
				return
			}
			if !got.Equal(tt.want) || plain(got) != plain(tt.want) {
				t.Errorf("got %s, want %s", plain(got), plain(tt.want))
			}
		})
	}
}

// plain shows a value with its sensitive text and the marks of every level.
func plain(v value.Value) string {
	s := ""
	v.Walk("", func(p value.Path, e value.Value) bool {
		s += string(p) + "=" + e.Kind().String() + ":" + e.Reveal()
		if e.Sensitive() {
			s += " (sensitive)"
		}
		s += "\n"
		return true
	})
	return s
}

func TestConditions(t *testing.T) {
	const params = "Parameters: {P: {Type: String, Default: x}, N: {Type: Number, Default: 5}, S: {Type: String, Default: k, NoEcho: true}}\n" +
		"Conditions: {T: !Equals [a, a], F: !Equals [a, b], U: !Equals [!Ref AWS::Region, x], C: %s}\n" +
		"Resources: {R: {Type: Test::Any, Properties: {Doc: {V: !If [C, yes it is, no it is not]}}}}\n"
	yes, no, wait := value.Of("yes it is"), value.Of("no it is not"), value.Wait("AWS::Region")
	tests := map[string]struct {
		cond string
		want value.Value
	}{
		"equal texts":                         {`!Equals [!Ref P, x]`, yes},
		"texts differ by case":                {`!Equals [!Ref P, X]`, no},
		"a number equals its text":            {`!Equals [!Ref N, 5]`, yes},
		"true equals its text":                {`!Equals ["true", true]`, yes},
		"lists by their items":                {`!Equals [!Split [",", "a,b"], [a, b]]`, yes},
		"and of true ones":                    {`!And [!Condition T, {Condition: T}]`, yes},
		"and with one false":                  {`!And [!Condition T, !Condition F]`, no},
		"or with one true":                    {`!Or [!Condition F, !Condition T]`, yes},
		"or of false ones":                    {`{"Fn::Or": [{Condition: F}, {Condition: F}]}`, no},
		"not":                                 {`!Not [!Condition F]`, yes},
		"nested":                              {`!Not [!And [!Condition T, !Not [!Condition F]]]`, no},
		"a reference to another":              {`!Condition T`, yes},
		"an unknown region is unknown":        {`!Condition U`, wait},
		"not unknown is unknown":              {`!Not [!Condition U]`, wait},
		"false settles and":                   {`!And [!Condition U, !Condition F]`, no},
		"true settles or":                     {`!Or [!Condition U, !Condition T]`, yes},
		"true does not settle and":            {`!And [!Condition U, !Condition T]`, wait},
		"false does not settle or":            {`!Or [!Condition U, !Condition F]`, wait},
		"a secret makes the choice sensitive": {`!Or [!Equals [!Ref S, k], !Condition F]`, yes.AsSensitive()},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			g := bind(t, format(params, tt.cond), func(b *Binding) { b.Scope.Region = "" })
			got := resolve(t, g, "R", nil)["Doc"].Get("V")
			if got.String() != tt.want.String() || got.Reveal() != tt.want.Reveal() {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestUnknownScopeWaitsForPseudoParameters(t *testing.T) {
	for name, expr := range map[string]string{
		"AWS::AccountId": `!Ref AWS::AccountId`, "AWS::Region": `!Sub "x${AWS::Region}"`, "AWS::Partition": `!Ref AWS::Partition`,
		"AWS::URLSuffix": `!Join [".", [s3, !Ref AWS::URLSuffix]]`, "AWS::StackName": `!Ref AWS::StackName`,
	} {
		got := evaluate(t, expr, nil, func(b *Binding) { b.Scope, b.Stack = Binding{}.Scope, "" })
		if d := cmp.Diff([]string{name}, got.Waits()); d != "" || got.Kind() != value.Unknown {
			t.Errorf("%s: %v\n%s", expr, got, d)
		}
	}
}

func TestFactsTakeThePlaceOfUnknowns(t *testing.T) {
	facts := func(id, attr string) (value.Value, bool) {
		switch id + "." + attr {
		case "A.":
			return value.Of("a-1"), true
		case "A.Arn":
			return value.Of("arn:a"), true
		case "A.List":
			return value.Of([]string{"x", "y"}).AsSensitive(), true
		case "A.Deep.Name":
			return value.HashOf("abc"), true
		}
		return value.Value{}, false
	}
	tests := map[string]struct {
		expr string
		want string
	}{
		"Ref asks with an empty attribute":              {`!Ref A`, plain(value.Of("a-1"))},
		"Sub puts both in":                              {`!Sub "${A} ${A.Arn}"`, plain(value.Of("a-1 arn:a"))},
		"a sensitive output stays sensitive":            {`!Join ["", !GetAtt A.List]`, plain(secret("xy"))},
		"a hash passes through":                         {`!GetAtt A.Deep.Name`, plain(value.HashOf("abc"))},
		"a hash inside a text makes it unknown, secret": {`!Sub "x${A.Deep.Name}"`, plain(value.Wait("A.Deep.Name").AsSensitive())},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, plain(evaluate(t, tt.expr, facts))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAFactWithoutValueIsAnErrorAndNeverEmpty(t *testing.T) {
	g := bind(t, head+"!GetAtt A.Arn\n")
	for _, v := range []value.Value{{}, value.Of(nil)} {
		_, err := g.Resource("R").Resolve(func(string, string) (value.Value, bool) { return v, true })
		if err == nil {
			t.Errorf("a fact without value (%v) was taken", v)
		}
	}
}

func TestNoValueRemovesProperties(t *testing.T) {
	g := bind(t, "Conditions: {Never: !Equals [a, b]}\nResources: {L: {Type: AWS::Logs::LogGroup, Properties: {LogGroupName: x, "+
		"RetentionInDays: !If [Never, 14, !Ref AWS::NoValue], LogGroupClass: !Ref AWS::NoValue}}}\n")
	want := value.Map{"LogGroupName": value.Of("x")}
	if d := cmp.Diff(want, resolve(t, g, "L", nil)); d != "" {
		t.Error(d)
	}
}
