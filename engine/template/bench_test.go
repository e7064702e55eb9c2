package template

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// files is a template of n files, each of which names the one before.
func files(n int) []byte {
	var b strings.Builder
	b.WriteString("Parameters: {OutDir: {Type: String, Default: ./out}}\nResources:\n")
	for i := range n {
		fmt.Fprintf(&b, "  F%d:\n    Type: Std::FS::File\n    Properties:\n      Path: !Sub ${OutDir}/f%d\n      Content: number %d\n", i, i, i)
		if i%10 != 0 {
			fmt.Fprintf(&b, "    DependsOn: F%d\n", i-1)
		}
	}
	return []byte(b.String())
}

func BenchmarkParserAlone(b *testing.B) {
	src := files(10_000)
	b.ReportAllocs()
	for b.Loop() {
		var n yaml.Node
		if err := yaml.Unmarshal(src, &n); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	src := files(10_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("t.yaml", src); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBindAndResolve(b *testing.B) {
	tpl, err := Parse("t.yaml", files(10_000))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		g, err := tpl.Bind(binding())
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range g.Resources {
			if _, err := r.Resolve(nil); err != nil {
				b.Fatal(err)
			}
		}
	}
}
