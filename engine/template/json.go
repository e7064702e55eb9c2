package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"reclaim/engine/value"
)

// jsonReader reads JSON with the place of every value. Columns count characters.
type jsonReader struct {
	*parser
	src       []byte
	dec       *json.Decoder
	off       int // of the place below
	line, col int32
}

func (p *parser) readJSON(src []byte) *node {
	r := &jsonReader{parser: p, src: src, dec: json.NewDecoder(bytes.NewReader(src)), line: 1, col: 1}
	r.dec.UseNumber()
	n := &node{}
	err := r.fill(n, 0)
	if err == nil {
		if _, more := r.token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows the end of the template")
		}
	}
	if err != nil {
		r.syntax(err)
		return nil
	}
	return n
}

// syntax records an error at the place, or further on where the decoder says so.
func (r *jsonReader) syntax(err error) {
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		r.advance(int(s.Offset) - 1)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		r.advance(len(r.src))
		err = errors.New("the file ends in the middle of a value")
	}
	r.failAt(int(r.line), int(r.col), "", "Correct the file's syntax", "not JSON: "+printable(err.Error()))
}

// advance moves the place forward to an offset.
func (r *jsonReader) advance(to int) {
	to = min(to, len(r.src))
	for r.off < to {
		c, size := utf8.DecodeRune(r.src[r.off:])
		r.off += size
		if c == '\n' {
			r.line, r.col = r.line+1, 1
		} else {
			r.col++
		}
	}
}

// token returns the next token; the place is then its first byte.
func (r *jsonReader) token() (json.Token, error) {
	at := r.blank(int(r.dec.InputOffset()))
	if at < len(r.src) && (r.src[at] == ',' || r.src[at] == ':') {
		at = r.blank(at + 1)
	}
	r.advance(at)
	return r.dec.Token()
}

// blank returns the offset of the first byte from at on that is no white space.
func (r *jsonReader) blank(at int) int {
	for at < len(r.src) && strings.IndexByte(" \t\r\n", r.src[at]) >= 0 {
		at++
	}
	return at
}

// fill reads the next value into n, whose place above is set.
func (r *jsonReader) fill(n *node, depth int) error {
	t, err := r.token()
	if err != nil {
		return err
	}
	n.line, n.col = r.line, r.col
	if depth > maxDepth {
		return fmt.Errorf("nested more than %d levels deep", maxDepth)
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '[' {
			return r.list(n, depth)
		}
		return r.members(n, depth)
	case string:
		n.kind, n.text = value.String, t
	case json.Number:
		n.kind, n.text = value.Number, t.String()
	case bool:
		n.kind, n.text = value.Bool, strconv.FormatBool(t)
	default:
		n.kind = value.Null
	}
	return nil
}

func (r *jsonReader) list(n *node, depth int) error {
	n.op = opList
	for r.dec.More() {
		m := &node{up: n}
		n.items = append(n.items, m)
		if err := r.fill(m, depth+1); err != nil {
			return err
		}
	}
	_, err := r.dec.Token()
	return err
}

func (r *jsonReader) members(n *node, depth int) error {
	n.op = opObject
	for r.dec.More() {
		t, err := r.token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		m := &node{up: n, key: key, keyLine: r.line, keyCol: r.col}
		n.items = append(n.items, m)
		if err := r.fill(m, depth+1); err != nil {
			return err
		}
	}
	if _, err := r.dec.Token(); err != nil {
		return err
	}
	r.object(n)
	return nil
}
