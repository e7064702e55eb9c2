package fs

import (
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// fileProvider manages Std::FS::File.
type fileProvider struct{ disk *disk }

func (p *fileProvider) Schema() *resource.Schema { return fileSchema }

// Read returns the file as it is: both its text and its hash, since a file does not say where its bytes came from.
func (p *fileProvider) Read(ctx context.Context, key resource.Key) (*resource.Observation, error) {
	path, err := p.disk.locate(opRead, key)
	if err != nil {
		return nil, err
	}
	s, err := p.disk.look(ctx, opRead, path)
	if err != nil {
		return nil, err
	}
	return s.observation(key, fileParams(s)), nil
}

func fileParams(s *seen) value.Map {
	return value.Map{
		pContent:      s.asContent(),
		pSourceSha256: value.Of(s.sha),
		pMode:         value.Of(octal(s.info.Mode())),
	}
}

// Create makes the file where nothing is.
func (p *fileProvider) Create(ctx context.Context, c resource.Create) (resource.Created, error) {
	path, err := p.disk.locate(opCreate, c.Key)
	if err != nil {
		return resource.Created{}, err
	}
	w, err := fileWish(opCreate, c.Params)
	if err != nil {
		return resource.Created{}, err
	}
	return p.disk.created(ctx, fileSchema, c, path, w)
}

// created runs a create and acknowledges it.
func (d *disk) created(ctx context.Context, schema *resource.Schema, c resource.Create, path string, w wish) (resource.Created, error) {
	done, err := d.create(ctx, path, w)
	if done.sha == "" {
		return resource.Created{}, err
	}
	out := schema.Conceal(output(path, done.sha, done.size), c.Params)
	return resource.Created{Key: c.Key, Output: out, ServedAt: time.Now()}, err
}

// Sync writes the file anew when its bytes are to change, and the mode with it; a mode alone is one call of its own.
func (p *fileProvider) Sync(c resource.Change) ([]resource.Call, error) {
	path, err := p.disk.locate(opWrite, c.Key)
	if err != nil {
		return nil, err
	}
	w, err := fileWish(opWrite, c.Desired)
	if err != nil {
		return nil, err
	}
	modeToo := slices.Contains(c.Write, pMode)
	if !modeToo {
		w.mode = permissions(c.Observed.Params[pMode])
	}
	switch {
	case w.changesBytes(c):
		return []resource.Call{p.disk.rewriting(opWrite, path, c, w)}, nil
	case modeToo:
		return []resource.Call{{
			Name: opChmod, Detail: "mode " + octal(w.mode), Params: []string{pMode},
			Run: func(ctx context.Context) error {
				return p.disk.chmod(ctx, path, expectObserved(opChmod, path, c.Observed), w.mode)
			},
		}}, nil
	}
	return nil, nil
}

// changesBytes reports whether the params to write leave the file with other bytes.
func (w wish) changesBytes(c resource.Change) bool {
	return slices.ContainsFunc(sourceParams(), func(name string) bool { return slices.Contains(c.Write, name) }) &&
		(w.want == "" || w.want != c.Observed.Output[oSha256].Reveal())
}

// rewriting is the call that puts the wanted bytes in the place of those observed.
func (d *disk) rewriting(name, path string, c resource.Change, w wish) resource.Call {
	var params []string
	for _, p := range append(sourceParams(), pMode) {
		if slices.Contains(c.Write, p) {
			params = append(params, p)
		}
	}
	return resource.Call{
		Name: name, Detail: "content, mode " + octal(w.mode), Params: params,
		Run: func(ctx context.Context) error {
			return d.replace(ctx, name, path, expectObserved(name, path, c.Observed), w)
		},
	}
}

// Unmake has nothing to do before a file is deleted.
func (p *fileProvider) Unmake(resource.Delete, *resource.Observation) ([]resource.Call, error) {
	return nil, nil
}

// Delete removes the file if it is as recorded. The folders above it stay.
func (p *fileProvider) Delete(ctx context.Context, d resource.Delete) error {
	path, err := p.disk.locate(opDelete, d.Key)
	if err != nil {
		return err
	}
	return p.disk.remove(ctx, path, expectRecorded(path, normalFile(d.Recorded), fileParams))
}

// Expand adds the hash of what Source names, and spells Mode as a read does.
func (p *fileProvider) Expand(ctx context.Context, params value.Map) (value.Map, error) {
	params = normalFile(params)
	if params[pSourceSha256].IsSet() {
		params = params.Without(pSourceSha256)
	}
	source := params[pSource]
	if params[pContent].HasUnknown() || source.HasUnknown() || params[pMode].HasUnknown() {
		if source.IsSet() {
			params = params.With(pSourceSha256, value.Wait(source.Waits()...))
		}
		return params, nil
	}
	if err := checkFile(opExpand, params); err != nil {
		return params, err
	}
	if _, err := parseMode(opExpand, params[pMode]); err != nil || !source.IsSet() {
		return params, err
	}
	return withSourceSha256(ctx, params, copyOf(opExpand, source.Reveal()))
}

// withSourceSha256 hashes what would be written.
func withSourceSha256(ctx context.Context, params value.Map, write content) (value.Map, error) {
	h := sha256.New()
	if err := write(ctx, h); err != nil {
		return nil, failed(opExpand, resource.No, err)
	}
	return params.With(pSourceSha256, value.Of(encode(h.Sum(nil)))), nil
}
