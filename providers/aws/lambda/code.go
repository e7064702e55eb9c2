package lambda

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"reclaim/engine/value"
	"reclaim/providers/aws/wire"
)

// Bounds of code that is sent along: the service takes 50 MB, and CloudFormation 4 MiB of inline source.
const (
	maxArchive = 50 << 20 // bytes
	maxInline  = 4 << 20  // characters
)

// zipDate is the one date in an archive of inline source: 1980-01-01, the first day that MS-DOS can say.
const zipDate = 0x0021

// Expand implements resource.Expander: it adds the hash of the archive that Code gives. Code in S3 and images have none
// that could be told without them.
func (p *function) Expand(_ context.Context, params value.Map) (value.Map, error) {
	params = params.Without("CodeSha256")
	code := params["Code"]
	if waits := append(code.Waits(), params["Runtime"].Waits()...); len(waits) > 0 {
		return params.With("CodeSha256", value.Wait(waits...)), nil
	}
	if err := oneSource("read code", code); err != nil {
		return nil, err
	}
	bytes, err := archive("read code", params)
	if err != nil { // perhaps a dependency has still to build it: what cannot be read has a hash that is not known
		return params.With("CodeSha256", value.Wait("Code")), err
	}
	if bytes == nil {
		return params, nil
	}
	sum := value.Of(hash(bytes))
	if code.HasSensitive() {
		sum = sum.AsSensitive()
	}
	return params.With("CodeSha256", sum), nil
}

// oneSource holds what the schema cannot say of Code.
func oneSource(op string, code value.Value) error {
	var set []string
	for _, name := range []string{"LocalPath", "ZipFile", "S3Bucket", "ImageUri"} {
		if wire.Set(code.Get(name)) {
			set = append(set, name)
		}
	}
	switch {
	case len(set) != 1:
		return refused(op, fmt.Sprintf("Code sets %d of LocalPath, ZipFile, S3Bucket and ImageUri; keep one of them", len(set)))
	case set[0] == "S3Bucket" && !wire.Set(code.Get("S3Key")):
		return refused(op, "Code sets S3Bucket and no S3Key; add the key of the archive")
	case wire.Set(code.Get("Sha256")) && set[0] != "LocalPath":
		return refused(op, "Code sets Sha256, which only goes with LocalPath; take it out")
	}
	return nil
}

// archive returns the bytes that Code sends along; nil when it names what is elsewhere.
func archive(op string, params value.Map) ([]byte, error) {
	code := params["Code"]
	switch {
	case wire.Set(code.Get("ZipFile")):
		return inline(op, wire.Name(code.Get("ZipFile")), wire.Name(params["Runtime"]))
	case wire.Set(code.Get("LocalPath")):
		return local(op, code)
	}
	return nil, nil
}

// local reads an archive from this machine, and refuses one that is not the one that config means.
func local(op string, code value.Value) ([]byte, error) {
	path := wire.Name(code.Get("LocalPath"))
	f, err := os.Open(path)
	if err != nil {
		return nil, refused(op, fmt.Sprintf("the archive at %s: %v; build it, or correct Code.LocalPath", wire.Shown(code.Get("LocalPath")), cause(err)))
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxArchive+1))
	switch want := wire.Name(code.Get("Sha256")); {
	case err != nil:
		return nil, refused(op, fmt.Sprintf("the archive at %s: %v", wire.Shown(code.Get("LocalPath")), cause(err)))
	case len(content) > maxArchive:
		return nil, refused(op, fmt.Sprintf("the archive at %s has more than 50 MB, the most that can be sent; put it into S3", wire.Shown(code.Get("LocalPath"))))
	case want != "" && want != hash(content):
		return nil, refused(op, fmt.Sprintf("the archive at %s is not the one that Code.Sha256 names; something else wrote it", wire.Shown(code.Get("LocalPath"))))
	}
	return content, nil
}

// cause is what went wrong, without the path, which may not be ours to show.
func cause(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// inline packs source text as CloudFormation does, into index.js or index.py: stored, with a fixed date, so that the
// bytes never depend on when or with what they were packed.
func inline(op, source, runtime string) ([]byte, error) {
	var name string
	switch {
	case strings.HasPrefix(runtime, "nodejs"):
		name = "index.js"
	case strings.HasPrefix(runtime, "python"):
		name = "index.py"
	default:
		return nil, refused(op, "inline code (Code.ZipFile) is for Node.js and Python only; use LocalPath with a Std::FS::Zip")
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	h := &zip.FileHeader{Name: name, Method: zip.Store}
	//lint:ignore SA1019 Modified, the field to use instead, would add an extra field to the entry.
	h.ModifiedDate = zipDate
	h.SetMode(0o644)
	w, err := z.CreateHeader(h)
	if err == nil {
		_, err = io.WriteString(w, source)
	}
	if err = errors.Join(err, z.Close()); err != nil {
		return nil, refused(op, err.Error())
	}
	return b.Bytes(), nil
}

// hash is how the service writes the SHA-256 of an archive.
func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// send returns the bytes to send, which must be those whose hash Expand computed.
func send(op string, params value.Map) ([]byte, error) {
	if err := oneSource(op, params["Code"]); err != nil {
		return nil, err
	}
	content, err := archive(op, params)
	if err != nil || content == nil {
		return nil, err
	}
	if want := wire.Name(params["CodeSha256"]); want != "" && want != hash(content) {
		return nil, refused(op, "the code changed on disk since it was looked at; plan again")
	}
	return content, nil
}
