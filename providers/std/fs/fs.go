// Package fs manages files on the local disk: Std::FS::File and Std::FS::Zip.
//
// Its one rule: nothing that somebody else put at a path is ever overwritten, followed or removed. A create links a
// finished, synced file to a path where nothing is; an update and a delete look at what is there immediately before
// they touch it, and do nothing when it is not what was looked at.
package fs

import (
	"time"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// Types of this package.
const (
	FileType = "Std::FS::File"
	ZipType  = "Std::FS::Zip"
)

// Bounds. A file whose text is in the template is kept in records, of which each may have 1 MiB; what a Source names is
// copied within one call's deadline.
const (
	MaxContent = 256 << 10 // bytes of Content
	MaxSource  = 256 << 20 // bytes behind Source, all files of a folder together
	MaxEntries = 50_000    // files in an archive
)

// DefaultMode is what a file gets when config sets no Mode.
const DefaultMode = "0644"

// Names of params and outputs.
const (
	pPath         = "Path"
	pContent      = "Content"
	pSource       = "Source"
	pSourceSha256 = "SourceSha256"
	pMode         = "Mode"
	oSha256       = "Sha256"
	oSize         = "Size"
	keyMachine    = "Machine"
)

// Providers returns the provider of each type, for paths on the machine with this ID.
func Providers(machine string) []resource.Provider {
	d := &disk{machine: machine}
	return []resource.Provider{&fileProvider{disk: d}, &zipProvider{disk: d}}
}

// Schemas returns the schema of each type.
func Schemas() []*resource.Schema { return []*resource.Schema{fileSchema, zipSchema} }

var fileSchema = local(resource.Schema{
	Type: FileType,
	Doc:  "A file on this machine, with content from the template or from another file.",
	Params: []resource.Field{
		pathField("Where the file is; missing folders above it are made and never removed."),
		{
			Name: pContent, Type: resource.TString, Mode: resource.Mutable, Max: bound(MaxContent),
			Doc: "The file's text, at most 256 KiB. Set either Content or Source.",
		},
		{
			Name: pSource, Type: resource.TString, Mode: resource.Mutable, WriteOnly: true, LocalPath: true,
			Doc: "A file whose bytes are copied, at most 256 MiB. Set either Content or Source.",
		},
		sourceSha256Field("the file that Source names"),
		{
			Name: pMode, Type: resource.TString, Mode: resource.Mutable, Default: value.Of(DefaultMode),
			Pattern: `0?[4-7][0-7][0-7]`,
			Doc:     "Permissions as three octal digits, a leading 0 allowed. The owner must be able to read.",
		},
	},
	Derived: map[string][]string{
		pSourceSha256: {pContent, pSource},
		oSha256:       {pContent, pSource},
		oSize:         {pContent, pSource},
	},
})

var zipSchema = local(resource.Schema{
	Type: ZipType,
	Doc:  "A zip archive of a file or folder on this machine: the same bytes for the same input, always.",
	Params: []resource.Field{
		pathField("Where the archive is; outside of Source. Missing folders above it are made and never removed."),
		{
			Name: pSource, Type: resource.TString, Mode: resource.Mutable, Required: true, WriteOnly: true, LocalPath: true,
			Doc: "The file or folder to pack. Empty folders are left out; symbolic links are refused.",
		},
		sourceSha256Field("the archive that Source gives"),
	},
	Derived: map[string][]string{
		pSourceSha256: {pSource},
		oSha256:       {pSource},
		oSize:         {pSource},
	},
})

// local fills in what both types have in common.
func local(s resource.Schema) *resource.Schema {
	s.Local = true
	s.Identity = resource.Named
	s.Space = resource.PerMachine
	s.Key = []string{keyMachine, pPath}
	s.Ref = pPath
	s.Outputs = []resource.Output{
		{Name: pPath, Doc: "The absolute path."},
		{Name: oSha256, Doc: "The SHA-256 of the bytes, in base64.", Volatile: true},
		{Name: oSize, Doc: "The size in bytes.", Volatile: true},
	}
	s.Deadlines = resource.Deadlines{Call: 5 * time.Second, Settle: 5 * time.Second, Delete: 5 * time.Second}
	return &s
}

func pathField(doc string) resource.Field {
	return resource.Field{
		Name: pPath, Type: resource.TString, Mode: resource.KeyParam, Required: true, LocalPath: true, Doc: doc,
	}
}

func sourceSha256Field(of string) resource.Field {
	return resource.Field{
		Name: pSourceSha256, Type: resource.TString, Mode: resource.Mutable,
		Doc: "The SHA-256 of " + of + ", in base64. Computed; a template cannot set it.",
	}
}

func bound(n int64) *int64 { return &n }
