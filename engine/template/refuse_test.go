package template

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func format(s string, args ...any) string { return fmt.Sprintf(s, args...) }

// TestRefusals holds that everything unsupported or wrong is refused by name and place. Each want is the start of the
// one message.
func TestRefusals(t *testing.T) {
	inDoc := func(expr string) string { return head + expr + "\n" }
	prop := func(props string) string {
		return "Resources: {L: {Type: AWS::Logs::LogGroup, Properties: " + props + "}}\n"
	}
	res := func(attr string) string {
		return "Resources:\n  A: {Type: Test::Any}\n  R:\n    Type: Test::Any\n    " + attr + "\n"
	}
	tests := map[string]struct{ src, want string }{
		"a transform":              {"Transform: AWS::Serverless-2016-10-31\n" + res(""), `1:1: Transform: Transform is not supported in a template. Write out`},
		"rules":                    {"Rules: {}\n" + res(""), `1:1: Rules: Rules is not supported in a template`},
		"an unknown section":       {"Resource: {}\n" + res(""), `1:1: Resource: "Resource" is not supported in a template. Did you mean Resources?`},
		"a format version":         {"AWSTemplateFormatVersion: 2020-01-01\n" + res(""), `1:27: AWSTemplateFormatVersion: the format version "2020-01-01" is not supported`},
		"no resources":             {"Outputs: {}\n", `1:1: the template has no resources`},
		"empty resources":          {"Resources: {}\n", `1:12: Resources: the template has no resources`},
		"an empty file":            {" \n", `1:1: the file is empty`},
		"a file of comments":       {"# nothing\n", `1:1: the file is empty`},
		"a list":                   {"- a\n", `1:1: a template is a map, found a list`},
		"two documents":            {"Resources: {A: {Type: Test::Any}}\n---\nb: 1\n", `2:1: a second YAML document starts here`},
		"broken YAML":              {"Resources:\n  A: {Type: \n", `2:1: not YAML: `},
		"broken JSON":              {"{\"Resources\": [1,}", `1:1: not YAML: `},
		"a creation policy":        {res("CreationPolicy: {}"), `5:5: Resources.R.CreationPolicy: CreationPolicy is not supported in a resource`},
		"an update policy":         {res("UpdatePolicy: {}"), `5:5: Resources.R.UpdatePolicy: UpdatePolicy is not supported in a resource`},
		"an unknown attribute":     {res("Propertys: {}"), `5:5: Resources.R.Propertys: "Propertys" is not supported in a resource. Did you mean Properties?`},
		"no type":                  {"Resources: {R: {Properties: {}}}\n", `1:13: Resources.R: the resource has no Type`},
		"an empty resource":        {`{"Resources": {"R": {}}}`, `1:16: Resources.R: the resource has no Type`},
		"a nested stack":           {"Resources: {R: {Type: AWS::CloudFormation::Stack}}\n", `1:23: Resources.R.Type: "AWS::CloudFormation::Stack": nested stacks are not supported`},
		"a custom resource":        {"Resources: {R: {Type: Custom::Thing}}\n", `1:23: Resources.R.Type: "Custom::Thing": custom resources are not supported`},
		"a SAM type":               {"Resources: {R: {Type: AWS::Serverless::Api}}\n", `1:23: Resources.R.Type: "AWS::Serverless::Api": SAM types`},
		"an unknown type":          {"Resources: {R: {Type: AWS::IAM::Rolle}}\n", `1:23: Resources.R.Type: the type "AWS::IAM::Rolle" is not supported. Did you mean AWS::IAM::Role?`},
		"an unknown type, no near": {"Resources: {R: {Type: AWS::EC2::VPC}}\n", `1:23: Resources.R.Type: the type "AWS::EC2::VPC" is not supported. See reclaim types`},
		"a name with a dash":       {"Resources: {my-r: {Type: Test::Any}}\n", `1:13: Resources.my-r: "my-r" is no name for a resource`},
		"a long name":              {"Resources: {" + strings.Repeat("a", 256) + ": {Type: Test::Any}}\n", `1:13: Resources.` + strings.Repeat("a", 256) + `: "aaaa`},
		"one name for two":         {"Parameters: {R: {Type: String, Default: a}}\n" + res(""), `4:3: Resources.R: R is the name of a parameter too`},
		"ForEach":                  {"Resources: {'Fn::ForEach::X': [a, [b], {}]}\n", `1:13: Resources.Fn::ForEach::X: the function "Fn::ForEach::X" is not supported here`},
		"a snapshot":               {res("DeletionPolicy: Snapshot"), `5:21: Resources.R.DeletionPolicy: DeletionPolicy: Snapshot is not supported`},
		"a wrong policy":           {res("DeletionPolicy: Keep"), `5:21: Resources.R.DeletionPolicy: "Keep" is no DeletionPolicy. Use Delete, Retain, RetainExceptOnCreate`},
		"a create-only policy on replace": {res("UpdateReplacePolicy: RetainExceptOnCreate"),
			`5:26: Resources.R.UpdateReplacePolicy: "RetainExceptOnCreate" is no UpdateReplacePolicy. Use Delete, Retain`},
		"a computed policy":        {res("DeletionPolicy: !Ref AWS::Region"), `5:21: Resources.R.DeletionPolicy: !Ref is no DeletionPolicy`},
		"DependsOn nothing":        {res("DependsOn: B"), `5:16: Resources.R.DependsOn: DependsOn "B", which is no resource`},
		"DependsOn a map":          {res("DependsOn: {}"), `5:16: Resources.R.DependsOn: DependsOn takes a logical ID or a list of them, found a map`},
		"an undeclared condition":  {res("Condition: Nope"), `5:16: Resources.R.Condition: the condition "Nope" is not declared`},
		"properties that are null": {res("Properties:"), `5:16: Resources.R.Properties: Properties is a map, found nothing`},
		"all properties computed":  {res("Properties: {'Fn::Transform': {}}"), `5:18: Resources.R.Properties.Fn::Transform: the function "Fn::Transform" cannot give all properties`},
		"an export":                {res("") + "Outputs: {O: {Value: a, Export: {Name: x}}}\n", `6:25: Outputs.O.Export: Export is not supported in an output`},
		"an output without value":  {res("") + "Outputs: {O: {Description: a}}\n", `6:11: Outputs.O: the output has no Value`},
		"an output that is absent": {res("") + "Outputs: {O: {Value: !Ref AWS::NoValue}}\n", `6:22: Outputs.O.Value: the output has no value`},

		"Ref to nothing":               {inDoc(`!Ref Nam`), `23:12: Resources.R.Properties.Doc.V: Ref to "Nam", which is no parameter or resource. Did you mean Name?`},
		"Ref to an unknown pseudo":     {inDoc(`!Ref AWS::Regin`), `23:12: Resources.R.Properties.Doc.V: the pseudo parameter "AWS::Regin" is not supported. Did you mean AWS::Region?`},
		"the stack's ID":               {inDoc(`!Ref AWS::StackId`), `23:12: Resources.R.Properties.Doc.V: AWS::StackId is not supported`},
		"notification ARNs":            {inDoc(`!Ref AWS::NotificationARNs`), `23:12: Resources.R.Properties.Doc.V: AWS::NotificationARNs is not supported`},
		"Ref with a list":              {inDoc(`{Ref: [a]}`), `23:12: Resources.R.Properties.Doc.V: Ref takes a name, found a list`},
		"GetAtt of nothing":            {inDoc(`!GetAtt B.Arn`), `23:12: Resources.R.Properties.Doc.V: GetAtt of "B", which is no resource`},
		"GetAtt of a parameter":        {inDoc(`!GetAtt Name.Arn`), `23:12: Resources.R.Properties.Doc.V: GetAtt of "Name", which is no resource`},
		"GetAtt without attribute":     {inDoc(`!GetAtt A`), `23:12: Resources.R.Properties.Doc.V: Fn::GetAtt takes Resource.Attribute`},
		"GetAtt the schema lacks":      {inDoc(`!GetAtt A.Arm`), `23:12: Resources.R.Properties.Doc.V: Test::Any has no attribute "Arm". Did you mean Arn?`},
		"a bad attribute in no branch": {inDoc(`!If [Yes, a, !GetAtt A.Foo]`), `23:25: Resources.R.Properties.Doc.V: Test::Any has no attribute "Foo". It has Arn, Deep.Name, List`},
		"Sub to nothing":               {inDoc(`!Sub "${Nope}"`), `23:12: Resources.R.Properties.Doc.V: Ref to "Nope", which is no parameter or resource`},
		"Sub with a bad name":          {inDoc(`!Sub "${ Name }"`), `23:12: Resources.R.Properties.Doc.V: "${ Name }" in Fn::Sub is not a name. Write ${!…}`},
		"Sub of a list":                {inDoc(`!Sub "${Many}"`), `23:12: Resources.R.Properties.Doc.V: Fn::Sub takes a text, found a list`},
		"Sub of NoValue":               {inDoc(`!Sub "${AWS::NoValue}"`), `23:12: Resources.R.Properties.Doc.V: Fn::Sub takes a text, found AWS::NoValue`},
		"Sub of a map":                 {inDoc(`{"Fn::Sub": {}}`), `23:12: Resources.R.Properties.Doc.V: Fn::Sub takes a text, or`},
		"Join of one":                  {inDoc(`!Join ["-"]`), `23:12: Resources.R.Properties.Doc.V: Fn::Join takes a delimiter and a list, found a list of 1`},
		"Join of a text":               {inDoc(`!Join ["-", a]`), `23:24: Resources.R.Properties.Doc.V: Fn::Join takes a list, found "a"`},
		"Join of a parameter's text":   {inDoc(`!Join ["-", !Ref Name]`), `23:24: Resources.R.Properties.Doc.V: Fn::Join takes a list, found "orders"`},
		"Join does not show a secret":  {inDoc(`!Join ["-", !Ref Key]`), `23:24: Resources.R.Properties.Doc.V: Fn::Join takes a list, found (sensitive)`},
		"Join of maps":                 {inDoc(`!Join ["-", [{a: b}]]`), `23:25: Resources.R.Properties.Doc.V: Fn::Join takes a text, found a map`},
		"a computed delimiter":         {inDoc(`!Join [!Ref Name, [a]]`), `23:19: Resources.R.Properties.Doc.V: the delimiter of Fn::Join must be plain text`},
		"Select out of range":          {inDoc(`!Select [3, !Ref Many]`), `23:12: Resources.R.Properties.Doc.V: Fn::Select has no item 3 in a list of 3`},
		"Select by a word":             {inDoc(`!Select [one, [a]]`), `23:12: Resources.R.Properties.Doc.V: Fn::Select has no item "one" in a list of 1`},
		"Split by nothing":             {inDoc(`!Split ["", abc]`), `23:20: Resources.R.Properties.Doc.V: the delimiter of Fn::Split is empty`},
		"If with an unknown name":      {inDoc(`!If [Yess, a, b]`), `23:12: Resources.R.Properties.Doc.V: the condition "Yess" is not declared. Did you mean Yes?`},
		"If of two":                    {inDoc(`!If [Yes, a]`), `23:12: Resources.R.Properties.Doc.V: Fn::If takes the name of a condition and two values, found a list of 2`},
		"a mapping that is missing":    {inDoc(`!FindInMap [Zone, a, b]`), `23:24: Resources.R.Properties.Doc.V: the mapping "Zone" is not declared. Did you mean Zones?`},
		"a mapping without the key":    {inDoc(`!FindInMap [Zones, eu-west-1, Short]`), `23:12: Resources.R.Properties.Doc.V: the mappings have no entry "Zones", "eu-west-1", "Short"`},
		"a secret key is not shown":    {inDoc(`!FindInMap [Zones, !Ref Key, Short]`), `23:12: Resources.R.Properties.Doc.V: the mappings have no entry (sensitive)`},
		"a default in FindInMap":       {inDoc(`!FindInMap [Zones, a, b, {DefaultValue: c}]`), `23:12: Resources.R.Properties.Doc.V: a default value in Fn::FindInMap is not supported`},
		"Base64 of a list":             {inDoc(`{"Fn::Base64": [a]}`), `23:27: Resources.R.Properties.Doc.V: Fn::Base64 takes a text, found a list`},
		"ImportValue":                  {inDoc(`!ImportValue x`), `23:12: Resources.R.Properties.Doc.V: the function "Fn::ImportValue" is not supported. Pass the value as a parameter`},
		"Cidr":                         {inDoc(`{"Fn::Cidr": [a, 1, 2]}`), `23:12: Resources.R.Properties.Doc.V: the function "Fn::Cidr" is not supported`},
		"GetAZs":                       {inDoc(`!GetAZs ""`), `23:12: Resources.R.Properties.Doc.V: the function "Fn::GetAZs" is not supported`},
		"Transform inside":             {inDoc(`{"Fn::Transform": {Name: x}}`), `23:12: Resources.R.Properties.Doc.V: the function "Fn::Transform" is not supported`},
		"ForEach inside":               {inDoc(`{"Fn::ForEach::X": []}`), `23:13: Resources.R.Properties.Doc.V.Fn::ForEach::X: Fn::ForEach is not supported`},
		"an unknown function":          {inDoc(`{"Fn::Joyn": []}`), `23:12: Resources.R.Properties.Doc.V: the function "Fn::Joyn" is not supported. Did you mean Fn::Join?`},
		"an unknown tag":               {inDoc(`!Rain::Embed x.py`), `23:12: Resources.R.Properties.Doc.V: the tag "!Rain::Embed" is not supported`},
		"a mistyped tag":               {inDoc(`!Reff x`), `23:12: Resources.R.Properties.Doc.V: the tag "!Reff" is not supported. Did you mean !Ref?`},
		"a function with a neighbour":  {inDoc(`{Ref: Name, b: c}`), `23:13: Resources.R.Properties.Doc.V.Ref: "Ref" has other keys beside it`},
		"a condition among values":     {inDoc(`!Equals [a, b]`), `23:12: Resources.R.Properties.Doc.V: Fn::Equals is allowed only in Conditions`},
		"a short Condition in values":  {inDoc(`!Condition Yes`), `23:12: Resources.R.Properties.Doc.V: Condition is allowed only in Conditions`},
		"a dynamic reference":          {inDoc(`"{{resolve:ssm:x}}"`), `23:12: Resources.R.Properties.Doc.V: dynamic references {{resolve:…}} are not supported`},
		"a dynamic reference in Sub":   {inDoc(`!Sub "{{resolve:secretsmanager:${Name}}}"`), `23:12: Resources.R.Properties.Doc.V: dynamic references`},
		"null":                         {inDoc(`{a: null}`), `23:16: Resources.R.Properties.Doc.V.a: null is not a value`},
		"a stored value's mark":        {inDoc(`{$unknown: [a]}`), `23:13: Resources.R.Properties.Doc.V.$unknown: a map whose only key is "$unknown" stands for a stored value`},
		"a sensitive mark":             {inDoc(`[{$sensitive: a}]`), `23:14: Resources.R.Properties.Doc.V[0].$sensitive: a map whose only key is "$sensitive"`},
		"a merge key":                  {inDoc(`{<<: {a: b}}`), `23:13: Resources.R.Properties.Doc.V.<<: YAML merge keys (<<) are not supported`},
		"a binary tag":                 {inDoc(`!!binary aGk=`), `23:12: Resources.R.Properties.Doc.V: the YAML tag "!!binary" is not supported here`},
		"a key that is a list":         {inDoc(`{[a]: b}`), `23:13: Resources.R.Properties.Doc.V[""]: a key must be text`},
		"an anchor inside itself":      {inDoc(`&x [a, *x]`), `23:19: Resources.R.Properties.Doc.V[1][1]: the anchor "x" contains itself`},
		"a YAML key twice":             {inDoc(`{k: 1, k: 2}`), `23:19: Resources.R.Properties.Doc.V.k: the key "k" stands twice: first at line 23, column 13`},
		"a JSON key twice":             {`{"Resources": {"A": {"Type": "Test::Any"},` + "\n" + ` "A": {"Type": "Test::Any"}}}`, `2:2: Resources.A: the key "A" stands twice: first at line 1, column 16`},
		"deep nesting":                 {inDoc(strings.Repeat("[", 200) + strings.Repeat("]", 200)), `23:136: Resources.R.Properties.Doc.V[0]`},

		"a condition on a resource":   {"Conditions: {C: !Equals [!Ref A, x]}\n" + res(""), `1:26: Conditions.C: a condition cannot refer to the resource A`},
		"a condition on an attribute": {"Conditions: {C: !Equals [!GetAtt A.Arn, x]}\n" + res(""), `1:26: Conditions.C: a condition cannot refer to the resource A`},
		"a condition that is a text":  {"Conditions: {C: yes}\n" + res(""), `1:17: Conditions.C: Conditions takes conditions, found "yes"`},
		"And of one":                  {"Conditions: {C: !And [!Equals [a, a]]}\n" + res(""), `1:17: Conditions.C: Fn::And takes 2 to 10 conditions, found a list of 1`},
		"Not of a text":               {"Conditions: {C: !Not [a]}\n" + res(""), `1:23: Conditions.C: Fn::Not takes conditions, found "a"`},
		"If in Conditions":            {"Conditions: {C: !If [a, b, c]}\n" + res(""), `1:17: Conditions.C: Fn::If is not allowed in Conditions`},
		"NoValue in Conditions":       {"Conditions: {C: !Equals [!Ref AWS::NoValue, a]}\n" + res(""), `1:26: Conditions.C: AWS::NoValue has no value to use here`},
		"conditions in a circle":      {"Conditions: {C: !Not [!Condition D], D: !Not [!Condition C]}\n" + res(""), `1:23: Conditions.C: the conditions need each other: C → D → C`},
		"a mapping of one level":      {"Mappings: {M: {a: b}}\n" + res(""), `1:19: Mappings.M.a: the first level of a mapping is a map, found "b"`},
		"a mapping that calls":        {"Mappings: {M: {a: {b: !Ref AWS::Region}}}\n" + res(""), `1:23: Mappings.M.a.b: a mapping gives a text or a list of texts, found !Ref`},
		"a reference to what is left out": {"Conditions: {C: !Equals [a, b]}\nResources:\n  A: {Type: Test::Any, Condition: C}\n  R: {Type: Test::Any, Properties: {Text: !Ref A}}\n",
			`4:43: Resources.R.Properties.Text: A does not exist: its condition C is false`},
		"a circle of resources": {"Resources:\n  A: {Type: Test::Any, Properties: {Text: !Ref B}}\n  B: {Type: Test::Any, DependsOn: C}\n  C: {Type: Test::Any, Properties: {Text: !Sub 'x${A.Arn}'}}\n",
			`2:43: Resources.A.Properties.Text: the resources need each other: A → B → C → A`},
		"a resource that needs itself": {"Resources:\n  A: {Type: Test::Any, Properties: {Text: !Ref A}}\n", `2:43: Resources.A.Properties.Text: the resources need each other: A → A`},

		"an unknown property":       {prop(`{LogGroupNam: a}`), `1:57: Resources.L.Properties.LogGroupNam: AWS::Logs::LogGroup has no property "LogGroupNam". Did you mean LogGroupName?`},
		"an output as property":     {prop(`{Arn: a}`), `1:57: Resources.L.Properties.Arn: AWS::Logs::LogGroup has no property "Arn". It is assigned by the service`},
		"an unsupported property":   {prop(`{DataProtectionPolicy: {}}`), `1:57: Resources.L.Properties.DataProtectionPolicy: the property DataProtectionPolicy of AWS::Logs::LogGroup is not supported: it is a document of its own`},
		"a list for a string":       {prop(`{LogGroupName: [a]}`), `1:71: Resources.L.Properties.LogGroupName: LogGroupName wants a string, found a list`},
		"a word for a number":       {prop(`{RetentionInDays: many}`), `1:74: Resources.L.Properties.RetentionInDays: RetentionInDays wants a whole number, found "many"`},
		"an octal number":           {prop(`{RetentionInDays: 014}`), `1:74: Resources.L.Properties.RetentionInDays: RetentionInDays wants a whole number, found "014"`},
		"a number not allowed":      {prop(`{RetentionInDays: 15}`), `1:74: Resources.L.Properties.RetentionInDays: RetentionInDays wants one of 1, 7, 14, 30, 365, 3653, found 15`},
		"a word not allowed":        {prop(`{LogGroupClass: STANDART}`), `1:72: Resources.L.Properties.LogGroupClass: LogGroupClass wants one of STANDARD, INFREQUENT_ACCESS, found "STANDART". Did you mean STANDARD?`},
		"a text too long":           {prop(`{LogGroupName: abcdefghijklmnopqrstuvwxyz}`), `1:71: Resources.L.Properties.LogGroupName: LogGroupName wants at most 20 characters`},
		"a wrong branch":            {prop(`{RetentionInDays: !Select [0, [x, 14]]}`), `1:87: Resources.L.Properties.RetentionInDays: RetentionInDays wants a whole number, found "x"`},
		"a tag without value":       {prop(`{Tags: [{Key: a}]}`), `1:64: Resources.L.Properties.Tags[0]: the required property Value is missing`},
		"an unknown nested name":    {prop(`{Tags: [{Key: a, Valu: b, Value: c}]}`), `1:73: Resources.L.Properties.Tags[0].Valu: Tags has no property "Valu". Did you mean Value?`},
		"two tags of one key":       {prop(`{Tags: [{Key: a, Value: b}, {Key: a, Value: c}]}`), `1:84: Resources.L.Properties.Tags[1]: two items of Tags have the Key "a"`},
		"an ownership tag":          {prop(`{Tags: [{Key: "reclaim:nonce", Value: b}]}`), `1:63: Resources.L.Properties.Tags: the tag "reclaim:nonce" is reserved`}, // S4
		"a required property":       {"Resources: {F: {Type: Std::FS::File, Properties: {Content: a}}}\n", `1:50: Resources.F.Properties: the required property Path is missing`},
		"required, no Properties":   {"Resources: {F: {Type: Std::FS::File}}\n", `1:16: Resources.F: the required property Path is missing`},
		"a mode that cannot be":     {"Resources: {F: {Type: Std::FS::File, Properties: {Path: a, Mode: 644}}}\n", `1:66: Resources.F.Properties.Mode: Mode wants text that matches 0[0-7]{3}, found 644`},
		"an empty path":             {"Resources: {F: {Type: Std::FS::File, Properties: {Path: ''}}}\n", `1:57: Resources.F.Properties.Path: Path wants a path, found ""`},
		"yes is no boolean":         {"Resources: {A: {Type: AWS::ApiGatewayV2::Api, Properties: {Name: a, ProtocolType: HTTP, DisableExecuteApiEndpoint: yes}}}\n", `1:116: Resources.A.Properties.DisableExecuteApiEndpoint: DisableExecuteApiEndpoint wants true or false, found "yes"`},
		"an ownership tag in a map": {"Resources: {A: {Type: AWS::ApiGatewayV2::Api, Properties: {Name: a, ProtocolType: HTTP, Tags: {'aws:x': b}}}}\n", `1:95: Resources.A.Properties.Tags: the tag "aws:x" is reserved`},
		"one Sid twice": {"Resources: {R: {Type: AWS::IAM::Role, Properties: {AssumeRolePolicyDocument: {Statement: [{Sid: A}, {Sid: A}]}}}}\n",
			`1:78: Resources.R.Properties.AssumeRolePolicyDocument: two statements of AssumeRolePolicyDocument have the Sid "A"`},
		"one Sid twice in a text": {"Resources: {R: {Type: AWS::IAM::Role, Properties: {AssumeRolePolicyDocument: '{\"Statement\": [{\"Sid\": \"A\"}, {\"Sid\": \"A\"}]}'}}}\n",
			`1:78: Resources.R.Properties.AssumeRolePolicyDocument: two statements of AssumeRolePolicyDocument have the Sid "A"`},
		"a policy that is no JSON": {"Resources: {R: {Type: AWS::IAM::Role, Properties: {AssumeRolePolicyDocument: '{'}}}\n",
			`1:78: Resources.R.Properties.AssumeRolePolicyDocument: AssumeRolePolicyDocument wants a JSON document, or one as a string, found "{"`},
		"a mark inside a JSON text": {"Resources: {R: {Type: AWS::IAM::Role, Properties: {AssumeRolePolicyDocument: '{\"a\": {\"$unknown\": []}}'}}}\n",
			`1:78: Resources.R.Properties.AssumeRolePolicyDocument: a map whose only key is "$unknown"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ps := problems(t, tt.src)
			if len(ps) != 1 || !strings.HasPrefix(ps.Error(), "t.yaml:"+tt.want) {
				t.Errorf("got\n%v\nwant one problem\nt.yaml:%s", ps, tt.want)
			}
		})
	}
}

func TestAllProblemsAreFoundAtOnce(t *testing.T) {
	ps := problems(t, "Transform: x\nResources:\n  A: {Type: Test::Any, UpdatePolicy: {}, Properties: {Text: !Ref Nope, Doc: !Foo x}}\nOutputs: {O: {Value: !ImportValue x}}\n")
	var got []string
	for _, p := range ps {
		got = append(got, format("%d:%d %s", p.Line, p.Col, p.Where))
	}
	want := []string{"1:1 Transform", "3:24 Resources.A.UpdatePolicy", "3:61 Resources.A.Properties.Text", "3:77 Resources.A.Properties.Doc", "4:22 Outputs.O.Value"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestProblemsOfFormAndOfTypesComeInOnePassInTheOrderOfTheFile(t *testing.T) {
	ps := problems(t, `Parameters:
  Key: {Type: String}
Resources:
  A:
    Type: AWS::Logs::LogGroup
    Properties: {LogGroupNam: a, RetentionInDays: soon}
  B:
    Type: AWS::IAM::Rolle
    UpdatePolicy: {}
  C:
    Type: AWS::Logs::LogGroup
    DependsOn: [Ghost, D]
    Properties: {LogGroupName: !Sub "${Ghost}", RetentionInDays: !Foo 3}
  D:
    Type: AWS::Logs::LogGroup
    Properties: {LogGroupName: !Ref C}
Outputs:
  O: {Value: !GetAtt A.Arm}
`)
	var got []string
	for _, p := range ps {
		got = append(got, format("%d:%d %s. %s", p.Line, p.Col, p.Text, p.Hint))
	}
	want := []string{
		"2:3 the parameter has no value and no default. Give it with --parameters Key=…",
		`6:18 AWS::Logs::LogGroup has no property "LogGroupNam". Did you mean LogGroupName?`,
		`6:51 RetentionInDays wants a whole number, found "soon". `,
		`8:11 the type "AWS::IAM::Rolle" is not supported. Did you mean AWS::IAM::Role?`,
		"9:5 UpdatePolicy is not supported in a resource. Take it out: the type's own update applies",
		`12:17 DependsOn "Ghost", which is no resource. `,
		"12:24 the resources need each other: C → D → C. Take one of these references out",
		`13:32 Ref to "Ghost", which is no parameter or resource. `,
		`13:66 the tag "!Foo" is not supported. `,
		`18:14 AWS::Logs::LogGroup has no attribute "Arm". Did you mean Arn?`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestLocalStacksHaveNoAccount(t *testing.T) {
	ps := problems(t, head+"!Ref AWS::AccountId\n", func(b *Binding) { b.Scope.Partition = "local" })
	if !strings.Contains(ps.Error(), "AWS::AccountId has no value: the stack has local types only") {
		t.Error(ps)
	}
}

func TestAliasesAreBounded(t *testing.T) {
	src := "Metadata:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 12; i++ {
		src += format("  a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1)
	}
	ps := problems(t, src+"Resources: {A: {Type: Test::Any}}\n")
	if len(ps) != 1 || !strings.Contains(ps[0].Text, "aliases stand for more than 100000 values") {
		t.Error(ps)
	}
}

func TestAliasesAreCopied(t *testing.T) {
	g := bind(t, "Metadata: {T: &t [a, !Ref 'AWS::Region']}\nResources: {A: {Type: Test::Any, Properties: {List: *t, Doc: {L: *t}}}}\n")
	got := resolve(t, g, "A", nil)
	if s := format("%v %v", got["List"], got["Doc"]); s != `["a","eu-west-1"] {"L":["a","eu-west-1"]}` {
		t.Error(s)
	}
}

func TestMessagesNeverCarryControlCharacters(t *testing.T) {
	const esc = "\x1b[31m\u202e"
	for _, src := range []string{
		`{"Resources": {"A": {"Type": "\u001b[31m\u202e"}}}`,
		`{"\u001b[31m\u202e": 1, "Resources": {"A": {"Type": "Test::Any"}}}`,
		`{"Resources": {"A": {"Type": "Test::Any", "Properties": {"Doc": {"\u001b[31m\u202e": {"Ref": "\u001b[31m\u202e"}}}}}}`,
		`{"Resources": {"A": {"Type": "AWS::Logs::LogGroup", "Properties": {"RetentionInDays": "\u001b[31m\u202e", "\u001b[31m\u202e": 1}}}}`,
		`{"Parameters": {"P": {"Type": "String", "Default": "\u001b[31m\u202e", "AllowedPattern": "\u001b[31m\u202e?(", "AllowedValues": ["\u001b[31m\u202e1"], "ConstraintDescription": "\u001b[31m\u202e"}}, "Resources": {"A": {"Type": "Test::Any"}}}`,
		"Resources: {A: {Type: Test::Any, Properties: {Text: !Sub \"${\\e[31m\\u202e}\"}}}\n",
		"a: *x\u202e\n",
	} {
		text := problems(t, src).Error()
		if strings.ContainsAny(text, esc[:1]+"\u202e") {
			t.Errorf("raw control characters in %q", text)
		}
	}
}

func TestParseFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := ParseFile(filepath.Join(dir, "none.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	big := filepath.Join(dir, "big.yaml")
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, maxBytes+1); err != nil {
		t.Fatal(err)
	}
	if _, err := ParseFile(big); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("a large file: %v", err)
	}
}

func TestABrokenFileIsReportedInReasonableLength(t *testing.T) {
	ps := problems(t, "Resources: {A: {Type: Test::Any, Properties: {List: ["+strings.Repeat("~,", 200_000)+"]}}}\n")
	if len(ps) != maxProblems || !strings.Contains(ps[len(ps)-1].Text, "more problems follow") {
		t.Errorf("%d problems, last %v", len(ps), ps[len(ps)-1])
	}
}

func TestTooManyResourcesAreRefused(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"Resources":{`)
	for i := range maxResources + 1 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"R%d":{"Type":"Test::Any"}`, i)
	}
	b.WriteString("}}")
	ps := problems(t, b.String())
	if len(ps) != 1 || !strings.Contains(ps[0].Text, "the template has 100001 resources, more than 100000") {
		t.Error(ps[0])
	}
}
