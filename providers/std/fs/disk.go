package fs

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// disk is what both providers do to a path. It remembers nothing of what is on it.
type disk struct {
	machine string
	folders folderSyncs
}

// locate returns the path that a key addresses. A key of another machine is denied, never absent: what is there cannot
// be seen from here (SAFETY S2).
func (d *disk) locate(op string, key resource.Key) (string, error) {
	if key[keyMachine] != d.machine {
		return "", &resource.Error{
			Kind: resource.AccessDenied, Op: op, Executed: resource.No,
			Err: fmt.Errorf("%q is on machine %q, this is %q; run the command there", key[pPath], key[keyMachine], d.machine),
		}
	}
	return key[pPath], checkPath(op, key[pPath])
}

func checkPath(op, path string) error {
	switch {
	case !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl):
		return refuse(op, "Path %q holds control characters or is not UTF-8; choose another", path)
	case !filepath.IsAbs(path):
		return refuse(op, "Path %q is not absolute", path)
	case path != filepath.Clean(path) || path == "/":
		return refuse(op, "Path %q is not the plain path of a file; write %q", path, filepath.Clean(path))
	case strings.HasPrefix(filepath.Base(path), tempPrefix):
		return refuse(op, "Path %q has the name of a temporary file of ours; choose another", path)
	}
	return nil
}

// seen is what one look at a path found: a plain file.
type seen struct {
	info os.FileInfo
	sha  string // base64
	text []byte // nil when longer than MaxContent
}

// look reads the file at path. It follows no link and never waits for the other end of a FIFO.
func (d *disk) look(ctx context.Context, op, path string) (*seen, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, readFailed(op, err)
	}
	if !info.Mode().IsRegular() { // opening a device can do something
		return nil, notPlain(op, path, info)
	}
	f, err := openPlain(path)
	if errors.Is(err, unix.ELOOP) {
		return nil, mismatch(op, "%s became a symbolic link while it was looked at; look again", path)
	}
	if err != nil {
		return nil, readFailed(op, err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, readFailed(op, err)
	}
	if !info.Mode().IsRegular() {
		return nil, notPlain(op, path, info)
	}
	return readAll(ctx, op, f, info)
}

// openPlain opens for reading without following a link at the end, and without waiting for a FIFO's writer.
func openPlain(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}

// readAll hashes f, and keeps its bytes when they are few enough.
func readAll(ctx context.Context, op string, f *os.File, info os.FileInfo) (*seen, error) {
	s := &seen{info: info}
	var err error
	if size := info.Size(); size <= MaxContent {
		buf := make([]byte, size+1) // one more than there is, so that what was added is seen
		var n int
		if n, err = io.ReadAtLeast(f, buf, int(max(size, 1))); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		s.text = buf[:n]
		sum := sha256.Sum256(s.text)
		s.sha = encode(sum[:])
	} else {
		h := sha256.New()
		_, err = io.Copy(h, patient{ctx, f})
		s.sha = encode(h.Sum(nil))
	}
	if err != nil {
		return nil, readFailed(op, err)
	}
	after, err := f.Stat()
	if err != nil {
		return nil, readFailed(op, err)
	}
	if after.Size() != info.Size() || !after.ModTime().Equal(info.ModTime()) {
		return nil, &resource.Error{
			Kind: resource.Busy, Op: op, Executed: resource.No,
			Err: fmt.Errorf("%s was written to while it was read; look again", f.Name()),
		}
	}
	return s, nil
}

func notPlain(op, path string, info os.FileInfo) error {
	return &resource.Error{
		Kind: resource.ReadInvalid, Op: op, Executed: resource.No,
		Err: fmt.Errorf("%s is %s and not a plain file; it is left alone. Move it away, or choose another Path",
			path, kindOfFile(info)),
	}
}

func kindOfFile(info os.FileInfo) string {
	switch m := info.Mode(); {
	case m.IsDir():
		return "a folder"
	case m&os.ModeSymlink != 0:
		return "a symbolic link"
	case m&os.ModeNamedPipe != 0:
		return "a FIFO"
	case m&os.ModeSocket != 0:
		return "a socket"
	case m&os.ModeDevice != 0:
		return "a device"
	default:
		return "something special"
	}
}

// What every look says alike; nobody changes them.
var (
	gaps = map[value.Path]resource.Gap{
		pSource: {Kind: resource.GapWriteOnly, Reason: "a file does not say where its bytes came from"},
	}
	sources = map[string]string{"object": "lstat and read"}
)

// observation is what both types report of a look. It keeps params.
func (s *seen) observation(key resource.Key, params value.Map) *resource.Observation {
	params[pPath] = value.Of(key[pPath])
	return &resource.Observation{
		Key:      key,
		Params:   params,
		Output:   output(key[pPath], s.sha, s.info.Size()),
		Gaps:     gaps,
		ServedAt: time.Now(),
		Ready:    true,
		Sources:  sources,
	}
}

func output(path, sha string, size int64) value.Map {
	return value.Map{pPath: value.Of(path), oSha256: value.Of(sha), oSize: value.Of(size)}
}

// octal is the written form of permissions, as it is compared: four digits.
func octal(m os.FileMode) string {
	n := uint32(m.Perm())
	for _, special := range [...]struct {
		bit  os.FileMode
		flag uint32
	}{{os.ModeSetuid, 0o4000}, {os.ModeSetgid, 0o2000}, {os.ModeSticky, 0o1000}} {
		if m&special.bit != 0 {
			n |= special.flag
		}
	}
	return fmt.Sprintf("%04o", n)
}

func encode(sum []byte) string { return base64.StdEncoding.EncodeToString(sum) }

// patient is a reader that ends with its context.
type patient struct {
	ctx context.Context
	r   io.Reader
}

func (p patient) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.r.Read(b)
}
