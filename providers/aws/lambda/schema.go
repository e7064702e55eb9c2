package lambda

import (
	"time"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// FunctionType is the CloudFormation name of the type.
const FunctionType = "AWS::Lambda::Function"

// What the service fills in.
const (
	defaultMemory    = 128 // MiB
	defaultTimeout   = 3   // seconds
	defaultStorage   = 512 // MiB
	defaultTracing   = "PassThrough"
	defaultFormat    = "Text"
	defaultPackage   = "Zip"
	defaultLoop      = "Terminate"
	defaultUpdateOn  = "Auto"
	defaultSnapStart = "None"
	packageImage     = "Image"
)

const noManagedInstances = "Reclaim does not publish versions, which run on a capacity provider needs; use on-demand functions"

func bound(n int64) *int64 { return &n }

// functionSchema describes a function. It has no unique ID and no creation time: it is told by the nonce among its tags.
func functionSchema() *resource.Schema {
	return &resource.Schema{
		Type:     FunctionType,
		Doc:      "A Lambda function: its code, how it runs, and as which role.",
		Identity: resource.Named,
		Space:    resource.PerRegion,
		Key:      []string{"FunctionName"},
		Ref:      "FunctionName",
		Params:   functionParams(),
		Outputs: []resource.Output{
			{Name: "Arn", Doc: "ARN of the function."},
			{Name: "SnapStartResponse", Doc: "What SnapStart is set to, and whether it works.", Volatile: true},
			{Name: "SnapStartResponse.ApplyOn", Doc: "What SnapStart is set to.", Volatile: true},
			{Name: "SnapStartResponse.OptimizationStatus", Doc: "Whether SnapStart works.", Volatile: true},
		},
		Name: &resource.NameRule{Param: "FunctionName", Max: 64},
		Unsupported: map[string]string{
			"CapacityProviderConfig":   noManagedInstances,
			"FunctionScalingConfig":    noManagedInstances,
			"PublishToLatestPublished": noManagedInstances,
		},
		Tags:      resource.TagList,
		TagParam:  "Tags",
		Settles:   true,
		Derived:   map[string][]string{"CodeSha256": {"Code"}},
		Window:    10 * time.Second,
		Deadlines: resource.Deadlines{Call: time.Minute, Settle: 10 * time.Minute, Delete: time.Minute},
	}
}

func functionParams() []resource.Field {
	return append([]resource.Field{
		{Name: "FunctionName", Doc: "Name of the function, unique in account and region.",
			Type: resource.TString, Mode: resource.KeyParam, Min: bound(1), Max: bound(64), Pattern: `[a-zA-Z0-9_-]+`},
		codeField(),
		{Name: "CodeSha256", Doc: "SHA-256 of the archive that Code gives, in base64. Computed; a template cannot set it.",
			Type: resource.TString, Mode: resource.Mutable},
		{Name: "Role", Doc: "ARN of the role that the function runs as.",
			Type: resource.TString, Mode: resource.Mutable, Required: true, Pattern: `arn:(aws[a-zA-Z-]*)?:iam::\d{12}:role/?[a-zA-Z_0-9+=,.@\-_/]+`},
		{Name: "PackageType", Doc: "Whether the code is an archive (Zip) or a container image (Image).",
			Type: resource.TString, Mode: resource.Immutable, Default: value.Of(defaultPackage), Enum: []string{defaultPackage, packageImage}},
		{Name: "Runtime", Doc: "What runs an archive, such as nodejs22.x or python3.13.", Type: resource.TString, Mode: resource.Mutable},
		{Name: "Handler", Doc: "Method in an archive that Lambda calls, such as index.handler.",
			Type: resource.TString, Mode: resource.Mutable, Max: bound(128), Pattern: `[^\s]+`},
		{Name: "Description", Doc: "Description of the function.",
			Type: resource.TString, Mode: resource.Mutable, Default: value.Of(""), Max: bound(256)},
		{Name: "Timeout", Doc: "Longest run, in seconds.",
			Type: resource.TInt, Mode: resource.Mutable, Default: value.Of(defaultTimeout), Min: bound(1), Max: bound(900)},
		{Name: "MemorySize", Doc: "Memory of the function, in MiB.",
			Type: resource.TInt, Mode: resource.Mutable, Default: value.Of(defaultMemory), Min: bound(128), Max: bound(32768)},
		{Name: "EphemeralStorage", Doc: "The function's /tmp folder.",
			Type: resource.TObject, Mode: resource.Mutable, Default: value.OfMap(value.Map{"Size": value.Of(defaultStorage)}),
			Fields: []resource.Field{{Name: "Size", Doc: "Its size in MiB.", Type: resource.TInt, Required: true, Default: value.Of(defaultStorage), Min: bound(512), Max: bound(10240)}}},
		{Name: "Architectures", Doc: "Instruction set of the code: x86_64 or arm64.",
			Type: resource.TList, Mode: resource.Mutable, Default: value.Of([]string{"x86_64"}), Min: bound(1), Max: bound(1),
			Elem: &resource.Field{Type: resource.TString, Enum: []string{"x86_64", "arm64"}}},
	}, settingFields()...)
}

// codeField lists the sources of code, of which config sets one.
func codeField() resource.Field {
	text := func(name, doc string) resource.Field {
		return resource.Field{Name: name, Doc: doc, Type: resource.TString}
	}
	local := text("LocalPath", "An archive on this machine, such as the Path of a Std::FS::Zip.")
	local.LocalPath = true
	inline := text("ZipFile", "Source text of a function for Node.js or Python, packed as index.js or index.py (mjs is not known).")
	inline.Max = bound(maxInline)
	key := text("SourceKMSKeyArn", "ARN of the key that encrypts the archive; not for images.")
	return resource.Field{Name: "Code", Type: resource.TObject, Mode: resource.Mutable, Required: true,
		Doc: "The function's code: one of LocalPath, ZipFile, S3Bucket with S3Key, and ImageUri. Archives are compared by their hash, code in S3 not at all.",
		Fields: []resource.Field{
			local,
			text("Sha256", "SHA-256 that the archive at LocalPath must have, in base64, such as the Sha256 of a Std::FS::Zip."),
			inline,
			text("S3Bucket", "Bucket of an archive, in the function's region."),
			text("S3Key", "Key of the archive."),
			text("S3ObjectVersion", "Version of the archive."),
			{Name: "S3ObjectStorageMode", Doc: "Whether Lambda copies the archive or refers to it.", Type: resource.TString, Enum: []string{"COPY", "REFERENCE"}},
			text("ImageUri", "URI of a container image in ECR."),
			key,
		}}
}
