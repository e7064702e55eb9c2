package template

import (
	"maps"
	"slices"
	"testing"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

func at(n int64) *int64 { return &n }

var tagList = resource.Field{Name: "Tags", Type: resource.TList, ItemKey: "Key", Elem: &resource.Field{Type: resource.TObject, Name: "Tags",
	Fields: []resource.Field{{Name: "Key", Type: resource.TString, Required: true}, {Name: "Value", Type: resource.TString, Required: true}}}}

// schemas are small types of the tests' own.
var schemas = map[string]*resource.Schema{
	"Std::FS::File": {
		Type: "Std::FS::File", Local: true, Ref: "Path",
		Params: []resource.Field{
			{Name: "Path", Type: resource.TString, Mode: resource.KeyParam, Required: true, LocalPath: true},
			{Name: "Content", Type: resource.TString},
			{Name: "Source", Type: resource.TString, LocalPath: true},
			{Name: "Mode", Type: resource.TString, Pattern: "0[0-7]{3}"},
		},
		Outputs: []resource.Output{{Name: "Path"}, {Name: "Sha256"}, {Name: "Size"}},
	},
	"Std::FS::Zip": {
		Type: "Std::FS::Zip", Local: true, Ref: "Path",
		Params: []resource.Field{
			{Name: "Path", Type: resource.TString, Mode: resource.KeyParam, Required: true, LocalPath: true},
			{Name: "Source", Type: resource.TString, Required: true, LocalPath: true},
		},
		Outputs: []resource.Output{{Name: "Path"}, {Name: "Sha256"}, {Name: "Size"}},
	},
	"AWS::Logs::LogGroup": {
		Type: "AWS::Logs::LogGroup", Ref: "LogGroupName",
		Params: []resource.Field{
			{Name: "LogGroupName", Type: resource.TString, Min: at(1), Max: at(20)},
			{Name: "RetentionInDays", Type: resource.TInt, Ints: []int64{1, 7, 14, 30, 365, 3653}},
			{Name: "LogGroupClass", Type: resource.TString, Enum: []string{"STANDARD", "INFREQUENT_ACCESS"}},
			tagList,
		},
		Outputs: []resource.Output{{Name: "Arn"}}, Tags: resource.TagList, TagParam: "Tags",
		Unsupported: map[string]string{"DataProtectionPolicy": "it is a document of its own"},
	},
	"AWS::IAM::Role": {
		Type: "AWS::IAM::Role", Ref: "RoleName",
		Params: []resource.Field{
			{Name: "RoleName", Type: resource.TString},
			{Name: "Path", Type: resource.TString},
			{Name: "Description", Type: resource.TString},
			{Name: "AssumeRolePolicyDocument", Type: resource.TJSON, Required: true, Equal: resource.IAMPolicy},
			{Name: "MaxSessionDuration", Type: resource.TInt, Min: at(3600), Max: at(43200)},
			{Name: "ManagedPolicyArns", Type: resource.TList, Elem: &resource.Field{Type: resource.TString}, Max: at(20)},
			{Name: "PermissionsBoundary", Type: resource.TString},
			{Name: "Policies", Type: resource.TList, ItemKey: "PolicyName", Elem: &resource.Field{Name: "Policies", Type: resource.TObject, Fields: []resource.Field{
				{Name: "PolicyName", Type: resource.TString, Required: true},
				{Name: "PolicyDocument", Type: resource.TJSON, Required: true, Equal: resource.IAMPolicy},
			}}},
			tagList,
		},
		Outputs: []resource.Output{{Name: "Arn"}, {Name: "RoleId"}}, Tags: resource.TagList, TagParam: "Tags",
	},
	"AWS::ApiGatewayV2::Api": {
		Type: "AWS::ApiGatewayV2::Api", Ref: "ApiId",
		Params: []resource.Field{
			{Name: "Name", Type: resource.TString, Required: true},
			{Name: "ProtocolType", Type: resource.TString, Required: true, Enum: []string{"HTTP", "WEBSOCKET"}},
			{Name: "Description", Type: resource.TString},
			{Name: "DisableExecuteApiEndpoint", Type: resource.TBool},
			{Name: "Version", Type: resource.TString, Sensitive: true},
			{Name: "CorsConfiguration", Type: resource.TObject, Fields: []resource.Field{
				{Name: "AllowOrigins", Type: resource.TList, Elem: &resource.Field{Type: resource.TString}},
				{Name: "AllowMethods", Type: resource.TList, Elem: &resource.Field{Type: resource.TString}},
				{Name: "AllowHeaders", Type: resource.TList, Elem: &resource.Field{Type: resource.TString}},
				{Name: "MaxAge", Type: resource.TInt},
			}},
			{Name: "Tags", Type: resource.TMap, Elem: &resource.Field{Type: resource.TString}},
		},
		Outputs: []resource.Output{{Name: "ApiId"}, {Name: "ApiEndpoint"}}, Tags: resource.TagMap, TagParam: "Tags",
		Unsupported: map[string]string{"Body": "it makes routes that no record would know"},
	},
	// Test::Any takes any value in Doc and any list in List.
	"Test::Any": {
		Type:    "Test::Any",
		Params:  []resource.Field{{Name: "Doc", Type: resource.TMap}, {Name: "List", Type: resource.TList}, {Name: "Text", Type: resource.TString}},
		Outputs: []resource.Output{{Name: "Arn"}, {Name: "Deep.Name"}, {Name: "List"}},
	},
}

func lookup(typ string) (*resource.Schema, bool) {
	s, ok := schemas[typ]
	return s, ok
}

var cloud = resource.Scope{Partition: "aws", Account: "123456789012", Region: "eu-west-1"}

// binding is complete: scope known, no parameters.
func binding() Binding {
	return Binding{Stack: "orders", Scope: cloud, Base: "/base", Schemas: lookup, Known: slices.Collect(maps.Keys(schemas))}
}

// bind parses and binds a template that must be good.
func bind(t *testing.T, src string, change ...func(*Binding)) *Graph {
	t.Helper()
	tpl, err := Parse("t.yaml", []byte(src))
	if err != nil {
		t.Fatalf("parse:\n%v", err)
	}
	in := binding()
	for _, c := range change {
		c(&in)
	}
	g, err := tpl.Bind(in)
	if err != nil {
		t.Fatalf("bind:\n%v", err)
	}
	return g
}

// problems parses and binds a template that must be refused, and returns the messages.
func problems(t *testing.T, src string, change ...func(*Binding)) Problems {
	t.Helper()
	tpl, err := Parse("t.yaml", []byte(src))
	if tpl != nil {
		in := binding()
		for _, c := range change {
			c(&in)
		}
		_, err = tpl.Bind(in)
	}
	ps, ok := err.(Problems)
	if !ok || len(ps) == 0 {
		t.Fatalf("not refused with Problems: %v\n%s", err, src)
	}
	return ps
}

// resolve returns the params of one resource.
func resolve(t *testing.T, g *Graph, id string, f Facts) value.Map {
	t.Helper()
	m, err := g.Resource(id).Resolve(f)
	if err != nil {
		t.Fatalf("resolve %s: %v", id, err)
	}
	return m
}
