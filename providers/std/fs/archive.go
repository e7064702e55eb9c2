package fs

import (
	"archive/zip"
	"compress/flate"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"reclaim/engine/resource"
)

// The fixed parts of an archive. Changing one changes the hash of every archive there is.
const (
	zipLevel    = 6      // of DEFLATE
	zipDate     = 0x0021 // 1980-01-01, the first day that MS-DOS can say; the time is 0
	modePlain   = 0o644
	modeProgram = 0o755
)

// storeFolder is where state is kept; it holds a key and never belongs into an archive.
const storeFolder = ".reclaim"

// entry is one file of an archive.
type entry struct {
	name string // slashes, relative
	path string
	mode os.FileMode
}

// archiveOf writes a zip of the file or folder at source: sorted by name, fixed times, and of the modes only whether
// the owner may execute.
func archiveOf(op, source string) content {
	return func(ctx context.Context, w io.Writer) error {
		entries, err := list(ctx, op, source)
		if err != nil {
			return err
		}
		z := zip.NewWriter(w)
		var deflate *flate.Writer // one for all: each would take about 1 MB
		z.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
			if deflate == nil {
				deflate, err = flate.NewWriter(out, zipLevel)
				return deflate, err
			}
			deflate.Reset(out)
			return deflate, nil
		})
		left := int64(MaxSource)
		for _, e := range entries {
			n, err := add(ctx, op, z, e, left)
			if err != nil {
				return err
			}
			if left -= n; left < 0 {
				return tooLong(op, source) // it grew
			}
		}
		return z.Close()
	}
}

// add writes one entry and returns its size, at most one byte more than left.
func add(ctx context.Context, op string, z *zip.Writer, e entry, left int64) (int64, error) {
	f, err := openPlain(e.path)
	if err != nil {
		return 0, sourceFailed(op, e.path, err)
	}
	defer f.Close()
	h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
	//lint:ignore SA1019 Modified, the field to use instead, would add an extra field to each entry.
	h.ModifiedDate = zipDate
	h.SetMode(e.mode)
	out, err := z.CreateHeader(h)
	if err != nil {
		return 0, failed(op, resource.No, err)
	}
	n, err := io.Copy(out, io.LimitReader(patient{ctx, f}, left+1))
	if err != nil {
		return n, failed(op, resource.No, err)
	}
	return n, nil
}

// list returns the files of source, sorted by name.
func list(ctx context.Context, op, source string) ([]entry, error) {
	root, err := filepath.EvalSymlinks(source) // the source itself may be a link; what is in it may not
	if err != nil {
		return nil, sourceFailed(op, source, err)
	}
	info, err := os.Stat(root)
	if err != nil {
		return nil, sourceFailed(op, source, err)
	}
	if !info.IsDir() {
		e, err := entryOf(op, root, info)
		e.name = filepath.Base(source)
		return []entry{e}, err
	}
	var entries []entry
	var size int64
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return sourceFailed(op, path, err)
		}
		if d.IsDir() || strings.HasPrefix(d.Name(), tempPrefix) {
			return checkFolder(op, path, d)
		}
		info, err := d.Info()
		if err != nil {
			return sourceFailed(op, path, err)
		}
		e, err := entryOf(op, path, info)
		if err == nil {
			e.name, err = nameIn(op, root, path)
		}
		if err != nil {
			return err
		}
		entries, size = append(entries, e), size+info.Size()
		if len(entries) > MaxEntries {
			return refuse(op, "Source %s has more than %d files", source, MaxEntries)
		}
		if size > MaxSource {
			return tooLong(op, source)
		}
		return nil
	})
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return entries, err
}

// checkFolder refuses to go into a folder that holds state.
func checkFolder(op, path string, d fs.DirEntry) error {
	if d.IsDir() && d.Name() == storeFolder {
		return refuse(op, "Source holds %s, Reclaim's own state; name a folder without it", path)
	}
	return nil
}

// entryOf says what of a file is packed, but for its name.
func entryOf(op, path string, info os.FileInfo) (entry, error) {
	if !info.Mode().IsRegular() {
		return entry{}, refuse(op, "%s is %s; only plain files and folders are packed", path, kindOfFile(info))
	}
	e := entry{path: path, mode: modePlain}
	if info.Mode()&0o100 != 0 {
		e.mode = modeProgram
	}
	return e, nil
}

// nameIn is the name of an entry: one that every unpacker reads alike.
func nameIn(op, root, path string) (string, error) {
	name, err := filepath.Rel(root, path)
	if err != nil {
		return "", failed(op, resource.No, err)
	}
	if !utf8.ValidString(name) || strings.Contains(name, `\`) {
		return "", refuse(op, "%q has a name that is not UTF-8 or holds a backslash; rename it", path)
	}
	return filepath.ToSlash(name), nil
}
