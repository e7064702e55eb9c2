package providertest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/providertest"
	"reclaim/providers/std/fs"
)

const machine = "machine-1"

// fileIn writes a source file and returns its path.
func fileIn(t *testing.T, name, text string) value.Value {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return value.Of(path)
}

// local is the case of a local type, whose n-th object has params and a path of its own.
func local(t *testing.T, name string, p resource.Provider, params, changed value.Map) providertest.Case {
	dir := t.TempDir()
	return providertest.Case{
		Name:     name,
		Provider: p,
		Sample: func(n int) value.Map {
			return params.With("Path", value.Of(filepath.Join(dir, fmt.Sprintf("out-%03d", n))))
		},
		Changed: changed,
		Absent:  resource.Key{"Machine": machine, "Path": filepath.Join(dir, "nothing")},
	}
}

// A local write is one step: what changes a file writes all of it.
var whole = []string{"Content", "Source", "SourceSha256", "Mode"}

func TestFile(t *testing.T) {
	p := fs.Providers(machine)[0]
	text := local(t, "content", p,
		value.Map{"Content": value.Of("one\n"), "Mode": value.Of("0640")},
		value.Map{"Content": value.Of("two\n"), "Mode": value.Of("0600")})
	source := local(t, "source", p,
		value.Map{"Source": fileIn(t, "a", "one\n"), "Mode": value.Of("0640")},
		value.Map{"Source": fileIn(t, "b", "two\n")})
	text.Together, source.Together = whole, whole
	providertest.Run(t, text, source)
}

func TestZip(t *testing.T) {
	c := local(t, "zip", fs.Providers(machine)[1],
		value.Map{"Source": fileIn(t, "a", "one\n")},
		value.Map{"Source": fileIn(t, "b", "two\n")})
	c.Together = whole
	providertest.Run(t, c)
}
