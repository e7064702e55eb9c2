package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// The parts of bbolt's file format (version 2) that a lock-free copy and a check before use need. Numbers are in the
// machine's byte order, as bbolt writes them. A page starts with id (8 bytes), flags (2), count (2), overflow (4);
// elements of 16 bytes follow.
const (
	pageSize   = 4096 // every store is made with it, whatever the machine's own is
	headerSize = 16
	elemSize   = 16

	metaMagic   = 0xED0CDAED
	metaVersion = 2

	flagBranch   = 0x01
	flagLeaf     = 0x02
	flagFreelist = 0x10
	elemBucket   = 0x01 // the leaf element is a bucket

	noFreelist = ^uint64(0)
)

var native = binary.NativeEndian

// meta is what a meta page says: the state of the file after one transaction.
type meta struct {
	txid     uint64
	root     uint64 // page of the bucket of buckets
	freelist uint64
	high     uint64 // first page number that was never used
	page     []byte // the whole page
}

// parseMeta reads a meta page; false when it is not one, or is half written.
func parseMeta(page []byte) (meta, bool) {
	b := page[headerSize:]
	sum := fnv.New64a()
	sum.Write(b[:56])
	if native.Uint32(b) != metaMagic || native.Uint32(b[4:]) != metaVersion || native.Uint32(b[8:]) != pageSize ||
		native.Uint64(b[56:]) != sum.Sum64() {
		return meta{}, false
	}
	return meta{root: native.Uint64(b[16:]), freelist: native.Uint64(b[32:]), high: native.Uint64(b[40:]),
		txid: native.Uint64(b[48:]), page: page}, true
}

// newestMeta returns the newer of the two meta pages that is valid.
func newestMeta(f io.ReaderAt) (meta, error) {
	b := make([]byte, 2*pageSize)
	if _, err := f.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return meta{}, err
	}
	first, ok0 := parseMeta(b[:pageSize])
	second, ok1 := parseMeta(b[pageSize:])
	switch {
	case !ok0 && !ok1:
		return meta{}, errors.New("neither of its two header pages is valid")
	case !ok0 || ok1 && second.txid > first.txid:
		return second, nil
	default:
		return first, nil
	}
}

// checkPages reports whether every page that can be reached from m lies inside data, is what it says it is, is
// reached once, and holds its elements in order. bbolt itself trusts its pages and would crash, loop, or miss keys.
func checkPages(data []byte, m meta) error {
	if m.high < 2 || m.high > uint64(len(data))/pageSize {
		return fmt.Errorf("it is %d bytes long and should be at least %d", len(data), m.high*pageSize)
	}
	w := walker{data: data, seen: make([]bool, m.high)}
	w.seen[0], w.seen[1] = true, true
	if err := w.tree(m.root, true); err != nil {
		return err
	}
	return w.freelist(m.freelist)
}

type walker struct {
	data []byte
	seen []bool
	keys order // of the tree that is walked
}

// order checks that keys ascend over a whole tree: those of leaves strictly, and each branch's key between the leaves
// before it and the first leaf below it.
type order struct {
	last []byte
	leaf bool // last was a leaf's
}

func (o *order) next(key []byte, leaf bool) bool {
	c := bytes.Compare(key, o.last)
	if o.last != nil && (c < 0 || c == 0 && o.leaf) {
		return false
	}
	o.last, o.leaf = key, leaf
	return true
}

// extent returns the bytes of page id with its overflow and marks them as seen.
func (w *walker) extent(id uint64) ([]byte, error) {
	if id < 2 || id >= uint64(len(w.seen)) {
		return nil, fmt.Errorf("page %d is outside the file", id)
	}
	p := w.data[id*pageSize:]
	pages := uint64(native.Uint32(p[12:])) + 1
	if native.Uint64(p) != id || pages > uint64(len(w.seen))-id {
		return nil, fmt.Errorf("page %d has a wrong header", id)
	}
	for i := id; i < id+pages; i++ {
		if w.seen[i] {
			return nil, fmt.Errorf("page %d is used twice", i)
		}
		w.seen[i] = true
	}
	return p[:pages*pageSize], nil
}

func (w *walker) tree(id uint64, top bool) error {
	p, err := w.extent(id)
	if err != nil {
		return err
	}
	visit := func(flags uint32, value []byte, child uint64) error {
		switch {
		case child != 0:
			return w.tree(child, top)
		case flags&elemBucket == 0:
			return nil
		case !top:
			return errors.New("a bucket inside a bucket")
		default:
			outer := w.keys
			defer func() { w.keys = outer }()
			w.keys = order{}
			return w.bucket(value)
		}
	}
	if err := elements(p, &w.keys, visit); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

// bucket follows a bucket's value: its root page, or, with root 0, the small page that follows in the value itself.
func (w *walker) bucket(value []byte) error {
	if len(value) < 16 {
		return errors.New("a bucket without a header")
	}
	if root := native.Uint64(value); root != 0 {
		return w.tree(root, false)
	}
	return elements(value[16:], &w.keys, func(flags uint32, _ []byte, child uint64) error {
		if child != 0 || flags&elemBucket != 0 {
			return errors.New("an inline bucket with pages")
		}
		return nil
	})
}

// elements calls visit for each element of a branch page (child) or leaf page (flags and value).
func elements(p []byte, keys *order, visit func(flags uint32, value []byte, child uint64) error) error {
	if len(p) < headerSize {
		return errors.New("it is cut off")
	}
	flags, count := native.Uint16(p[8:]), uint64(native.Uint16(p[10:]))
	if flags != flagBranch && flags != flagLeaf || flags == flagBranch && count == 0 ||
		headerSize+count*elemSize > uint64(len(p)) {
		return errors.New("wrong header")
	}
	for i := range count {
		at := headerSize + i*elemSize
		e := p[at:]
		var kind uint32
		var pos, ksize, vsize, child uint64
		if flags == flagBranch {
			pos, ksize, child = uint64(native.Uint32(e)), uint64(native.Uint32(e[4:])), native.Uint64(e[8:])
			if child == 0 {
				return fmt.Errorf("element %d leads nowhere", i)
			}
		} else {
			kind, pos = native.Uint32(e), uint64(native.Uint32(e[4:]))
			ksize, vsize = uint64(native.Uint32(e[8:])), uint64(native.Uint32(e[12:]))
		}
		if at+pos+ksize+vsize > uint64(len(p)) {
			return fmt.Errorf("element %d is outside the page", i)
		}
		if !keys.next(e[pos:pos+ksize], flags == flagLeaf) {
			return fmt.Errorf("element %d is out of order", i)
		}
		if err := visit(kind, e[pos+ksize:pos+ksize+vsize], child); err != nil {
			return err
		}
	}
	return nil
}

// freelist checks that the pages that bbolt may write to next are not in use.
func (w *walker) freelist(id uint64) error {
	if id == noFreelist {
		return nil
	}
	p, err := w.extent(id)
	if err != nil {
		return err
	}
	ids, count := p[headerSize:], uint64(native.Uint16(p[10:]))
	if count == 0xFFFF { // too many for the header: the first entry is the count
		count, ids = native.Uint64(ids), ids[8:]
	}
	if native.Uint16(p[8:]) != flagFreelist || count > uint64(len(ids))/8 {
		return fmt.Errorf("page %d: wrong header of the list of free pages", id)
	}
	for i := range count {
		free := native.Uint64(ids[i*8:])
		if free >= uint64(len(w.seen)) || w.seen[free] {
			return fmt.Errorf("page %d is listed as free and is not", free)
		}
		w.seen[free] = true
	}
	return nil
}
