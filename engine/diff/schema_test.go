package diff

import (
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

func i64(n int64) *int64 { return &n }

var tagList = resource.Field{Name: "Tags", Type: resource.TList, ItemKey: "Key", Shared: true,
	Elem: &resource.Field{Type: resource.TObject, Fields: []resource.Field{
		{Name: "Key", Type: resource.TString}, {Name: "Value", Type: resource.TString}}}}

// role has the shape of an IAM role.
var role = &resource.Schema{Type: "Test::Role", Identity: resource.Named, Key: []string{"RoleName"}, FoldKey: true,
	Tags: resource.TagList, TagParam: "Tags", Params: []resource.Field{
		{Name: "RoleName", Type: resource.TString, Mode: resource.KeyParam},
		{Name: "Path", Type: resource.TString, Mode: resource.Immutable, Default: value.Of("/"), Pattern: `/|/.+/`},
		{Name: "AssumeRolePolicyDocument", Type: resource.TJSON, Equal: resource.IAMPolicy},
		{Name: "Description", Type: resource.TString, Equal: resource.EmptyIsNil, Max: i64(1000)},
		{Name: "MaxSessionDuration", Type: resource.TInt, Default: value.Of(3600), Min: i64(3600), Max: i64(43200)},
		{Name: "ManagedPolicyArns", Type: resource.TList, Set: true, Shared: true, Elem: &resource.Field{Type: resource.TString}},
		{Name: "Policies", Type: resource.TList, ItemKey: "PolicyName", Shared: true, Elem: &resource.Field{Type: resource.TObject,
			Fields: []resource.Field{{Name: "PolicyName", Type: resource.TString},
				{Name: "PolicyDocument", Type: resource.TJSON, Equal: resource.IAMPolicy}}}},
		tagList,
	}}

// group has the shape of a log group.
var group = &resource.Schema{Type: "Test::Group", Identity: resource.Named, Key: []string{"LogGroupName"}, Params: []resource.Field{
	{Name: "LogGroupName", Type: resource.TString, Mode: resource.KeyParam},
	{Name: "LogGroupClass", Type: resource.TString, Mode: resource.Immutable, Default: value.Of("STANDARD"),
		Enum: []string{"STANDARD", "INFREQUENT_ACCESS", "DELIVERY"}},
	{Name: "RetentionInDays", Type: resource.TInt, Default: value.Of(0), Ints: []int64{0, 1, 3, 5, 7, 14, 30}},
	{Name: "KmsKeyId", Type: resource.TString},
	{Name: "DataProtectionPolicy", Type: resource.TJSON, Equal: resource.JSONDoc},
	tagList,
}}

// api has the shape of an HTTP API.
var api = &resource.Schema{Type: "Test::Api", Identity: resource.Assigned, Key: []string{"ApiId"}, Params: []resource.Field{
	{Name: "Name", Type: resource.TString},
	{Name: "ProtocolType", Type: resource.TString, Mode: resource.Immutable, Enum: []string{"HTTP", "WEBSOCKET"}},
	{Name: "DisableExecuteApiEndpoint", Type: resource.TBool, Default: value.Of(false)},
	{Name: "CorsConfiguration", Type: resource.TObject, Fields: []resource.Field{
		{Name: "AllowHeaders", Type: resource.TList, Set: true, Equal: resource.FoldCase},
		{Name: "AllowMethods", Type: resource.TList, Set: true},
		{Name: "ExposeHeaders", Type: resource.TList, Set: true, Equal: resource.EmptyIsNil},
		{Name: "MaxAge", Type: resource.TInt},
	}},
	{Name: "Tags", Type: resource.TMap, Shared: true, Elem: &resource.Field{Type: resource.TString}},
}}

// thing has what the other types lack.
var thing = &resource.Schema{Type: "Test::Thing", Identity: resource.Upsert, Key: []string{"Name"}, Params: []resource.Field{
	{Name: "Name", Type: resource.TString, Mode: resource.KeyParam},
	{Name: "Code", Type: resource.TObject, Fields: []resource.Field{
		{Name: "Bucket", Type: resource.TString, WriteOnly: true}, {Name: "Sha256", Type: resource.TString}}},
	{Name: "Password", Type: resource.TString, Sensitive: true},
	{Name: "Secret", Type: resource.TString, WriteOnly: true, Sensitive: true},
	{Name: "Seed", Type: resource.TString, WriteOnly: true, Mode: resource.Immutable},
	{Name: "Environment", Type: resource.TObject, Equal: resource.EmptyIsNil, Fields: []resource.Field{
		{Name: "Variables", Type: resource.TMap, Elem: &resource.Field{Type: resource.TString}}}},
	{Name: "Indexes", Type: resource.TList, ItemKey: "IndexName", Elem: &resource.Field{Type: resource.TObject, Fields: []resource.Field{
		{Name: "IndexName", Type: resource.TString},
		{Name: "NonKeyAttributes", Type: resource.TList, Set: true},
		{Name: "Read", Type: resource.TInt, Default: value.Of(5)}}}},
	{Name: "KeySchema", Type: resource.TList, Elem: &resource.Field{Type: resource.TObject, Fields: []resource.Field{
		{Name: "AttributeName", Type: resource.TString}, {Name: "KeyType", Type: resource.TString}}}},
	{Name: "Rules", Type: resource.TList, Set: true, Elem: &resource.Field{Type: resource.TObject, Fields: []resource.Field{
		{Name: "Port", Type: resource.TInt}, {Name: "Cidr", Type: resource.TString}}}},
	{Name: "Arn", Type: resource.TString, Equal: resource.ARNStar},
	{Name: "Pattern", Type: resource.TJSON, Equal: resource.JSONDoc},
	{Name: "Order", Type: resource.TList},
}}

var schemas = []*resource.Schema{role, group, api, thing}
