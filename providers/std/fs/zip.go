package fs

import (
	"context"
	"path/filepath"
	"strings"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// opZip is the call that packs an archive anew.
const opZip = "WriteZip"

// zipProvider manages Std::FS::Zip.
type zipProvider struct{ disk *disk }

func (p *zipProvider) Schema() *resource.Schema { return zipSchema }

// Read returns the archive's hash; what was packed is compared by it.
func (p *zipProvider) Read(ctx context.Context, key resource.Key) (*resource.Observation, error) {
	path, err := p.disk.locate(opRead, key)
	if err != nil {
		return nil, err
	}
	s, err := p.disk.look(ctx, opRead, path)
	if err != nil {
		return nil, err
	}
	return s.observation(key, zipParams(s)), nil
}

func zipParams(s *seen) value.Map { return value.Map{pSourceSha256: value.Of(s.sha)} }

// Create packs the archive where nothing is.
func (p *zipProvider) Create(ctx context.Context, c resource.Create) (resource.Created, error) {
	path, err := p.disk.locate(opCreate, c.Key)
	if err != nil {
		return resource.Created{}, err
	}
	w, err := zipWish(opCreate, c.Params)
	if err != nil {
		return resource.Created{}, err
	}
	return p.disk.created(ctx, zipSchema, c, path, w)
}

// Sync packs it anew when its bytes are to change.
func (p *zipProvider) Sync(c resource.Change) ([]resource.Call, error) {
	path, err := p.disk.locate(opZip, c.Key)
	if err != nil {
		return nil, err
	}
	w, err := zipWish(opZip, c.Desired)
	if err != nil || !w.changesBytes(c) {
		return nil, err
	}
	return []resource.Call{p.disk.rewriting(opZip, path, c, w)}, nil
}

// Unmake has nothing to do before an archive is deleted.
func (p *zipProvider) Unmake(resource.Delete, *resource.Observation) ([]resource.Call, error) {
	return nil, nil
}

// Delete removes the archive if it is as recorded. The folders above it stay.
func (p *zipProvider) Delete(ctx context.Context, d resource.Delete) error {
	path, err := p.disk.locate(opDelete, d.Key)
	if err != nil {
		return err
	}
	return p.disk.remove(ctx, path, expectRecorded(path, d.Recorded, zipParams))
}

// Expand adds the hash of the archive that Source gives.
func (p *zipProvider) Expand(ctx context.Context, params value.Map) (value.Map, error) {
	params = params.Without(pSourceSha256)
	if source := params[pSource]; source.HasUnknown() {
		return params.With(pSourceSha256, value.Wait(source.Waits()...)), nil
	}
	w, err := zipWish(opExpand, params)
	if err != nil {
		return nil, err
	}
	return withSourceSha256(ctx, params, w.write)
}

// zipWish reads the params of a Std::FS::Zip.
func zipWish(op string, params value.Map) (wish, error) {
	if err := checkSource(op, params); err != nil {
		return wish{}, err
	}
	source := params.Text(pSource)
	if source == "" {
		return wish{}, refuse(op, "%s of %s sets no Source; add the file or folder to pack", ZipType, params.Text(pPath))
	}
	if within(params.Text(pPath), source) {
		return wish{}, refuse(op, "Path %s is inside of Source %s, so the archive would pack itself; move it out", params.Text(pPath), source)
	}
	return wish{mode: modePlain, want: params.Text(pSourceSha256), write: archiveOf(op, source)}, nil
}

// within reports whether path is dir or lies in it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}
