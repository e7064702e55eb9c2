package fs

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"unicode/utf8"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// wish is what params ask to be at the path.
type wish struct {
	mode  os.FileMode
	want  string // SHA-256 that the bytes must have, in base64; "" when nobody read them before
	write content
}

// fileWish reads the params of a Std::FS::File.
func fileWish(op string, params value.Map) (wish, error) {
	if err := checkFile(op, params); err != nil {
		return wish{}, err
	}
	mode, err := parseMode(op, params[pMode])
	if err != nil {
		return wish{}, err
	}
	if src := params[pSource]; src.IsSet() {
		return wish{mode: mode, want: params.Text(pSourceSha256), write: copyOf(op, src.Reveal())}, nil
	}
	text := params[pContent].Reveal()
	sum := sha256.Sum256([]byte(text))
	return wish{mode: mode, want: encode(sum[:]), write: func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}}, nil
}

// checkFile holds what the schema cannot say.
func checkFile(op string, params value.Map) error {
	content, source := params[pContent], params[pSource]
	at := params.Text(pPath)
	switch {
	case content.IsSet() && source.IsSet():
		return refuse(op, "%s of %s sets both Content and Source; keep one of them", FileType, at)
	case !content.IsSet() && !source.IsSet():
		return refuse(op, "%s of %s sets neither Content nor Source; add one of them", FileType, at)
	case content.IsSet() && !isText(content):
		return refuse(op, "Content of %s is a %s that cannot be written; it must be text that is known now", at, content.Kind())
	case len(content.Reveal()) > MaxContent:
		return refuse(op, "Content of %s has %d bytes, at most %d are kept in the template; use Source", at, len(content.Reveal()), MaxContent)
	}
	return checkSource(op, params)
}

// checkSource holds what is true of every Source.
func checkSource(op string, params value.Map) error {
	source := params[pSource]
	if !source.IsSet() {
		return nil
	}
	at := params.Text(pPath)
	path, ok := source.Str()
	switch {
	case source.Sensitive():
		return refuse(op, "Source of %s comes from a NoEcho parameter; a path is shown and cannot be secret", at)
	case !ok || !filepath.IsAbs(path):
		return refuse(op, "Source of %s is %s, not an absolute path", at, source)
	}
	return nil
}

func isText(v value.Value) bool {
	return v.Kind() == value.String || v.Kind() == value.Number || v.Kind() == value.Bool
}

func parseMode(op string, v value.Value) (os.FileMode, error) {
	text := DefaultMode
	if v.IsSet() {
		text = v.Reveal()
	}
	n, err := strconv.ParseUint(text, 8, 32)
	if err != nil || n > 0o777 || n&0o400 == 0 || !isMode(v) {
		return 0, refuse(op, "Mode %s is not three octal digits that let the owner read, like %s", v, DefaultMode)
	}
	return os.FileMode(n), nil
}

func isMode(v value.Value) bool {
	return !v.IsSet() || isText(v) && !v.Sensitive() && len(v.Reveal()) <= 4
}

// permissions reads a mode as observed, less the bits that Mode cannot say.
func permissions(observed value.Value) os.FileMode {
	n, err := strconv.ParseUint(observed.Reveal(), 8, 32)
	if err != nil {
		return 0o600
	}
	return os.FileMode(n) & 0o777
}

// normalFile returns params as a read spells them.
func normalFile(params value.Map) value.Map {
	if m, err := parseMode("", params[pMode]); err == nil && params[pMode].IsSet() {
		params = params.With(pMode, value.Of(octal(m)))
	}
	if c := params[pContent]; isText(c) && c.Kind() != value.String {
		text := value.Of(c.Reveal())
		if c.Sensitive() {
			text = text.AsSensitive()
		}
		params = params.With(pContent, text)
	}
	return params
}

// asContent is the Content of a file as observed. Bytes that no template can hold are shown as what they are, behind a
// byte that no template can hold either: they never equal a config's text.
func (s *seen) asContent() value.Value {
	if int64(len(s.text)) == s.info.Size() && utf8.Valid(s.text) && len(s.text) <= MaxContent {
		return value.Of(string(s.text))
	}
	return value.Of(fmt.Sprintf("\xff(no text: %d bytes, SHA-256 %s)", s.info.Size(), s.sha))
}

// expectObserved refuses a file that is not the one of the observation.
func expectObserved(op, path string, o *resource.Observation) func(*seen) error {
	return func(s *seen) error {
		mode := o.Params[pMode]
		if o.Output[oSha256].Reveal() != s.sha || mode.IsSet() && mode.Reveal() != octal(s.info.Mode()) {
			return mismatch(op, "%s changed since it was looked at; plan again", path)
		}
		return nil
	}
}

// expectRecorded refuses a file that is not as recorded (SAFETY S20). Sensitive params are only a keyed hash here; the
// engine has the key and compared them.
func expectRecorded(path string, recorded value.Map, params func(*seen) value.Map) func(*seen) error {
	return func(s *seen) error {
		found := params(s)
		if !recorded[pContent].IsSet() && !recorded[pSourceSha256].IsSet() {
			return mismatch(opDelete, "nothing is recorded of the bytes of %s, so nothing proves that it is ours; remove it by hand", path)
		}
		for _, name := range recorded.Keys() {
			was, is := recorded[name], found[name]
			if is.IsSet() && was.Kind() != value.Hash && !value.Equal(was, is) {
				return mismatch(opDelete, "%s is not as recorded: %s differs; nothing was deleted", path, name)
			}
		}
		return nil
	}
}

// sourceParams lists the params that give a file its bytes.
func sourceParams() []string { return []string{pContent, pSource, pSourceSha256} }
