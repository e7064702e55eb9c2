package template

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"reclaim/engine/value"
)

func TestValuesTakeTheSchemasType(t *testing.T) {
	const role = "AWS::IAM::Role, Properties: {AssumeRolePolicyDocument: "
	tests := map[string]struct {
		resource, param string
		want            value.Value
	}{
		"a number in quotes":                      {`AWS::Logs::LogGroup, Properties: {RetentionInDays: "14"}`, "RetentionInDays", value.Of(14)},
		"a whole number with a fraction":          {`AWS::Logs::LogGroup, Properties: {RetentionInDays: 14.0}`, "RetentionInDays", value.Of(14)},
		"a number for a string":                   {`Test::Any, Properties: {Text: 1.10}`, "Text", value.Of("1.10")},
		"an account ID with a zero in front":      {`Test::Any, Properties: {Text: 012345678901}`, "Text", value.Of("012345678901")},
		"a mode is no octal number":               {`Std::FS::File, Properties: {Path: a, Mode: 0644}`, "Mode", value.Of("0644")},
		"a boolean for a string":                  {`Test::Any, Properties: {Text: true}`, "Text", value.Of("true")},
		"a date is text":                          {`Test::Any, Properties: {Text: 2012-10-17}`, "Text", value.Of("2012-10-17")},
		"yes is text":                             {`Test::Any, Properties: {Text: yes}`, "Text", value.Of("yes")},
		"a string tag makes text":                 {`Test::Any, Properties: {Doc: {a: !!str 5}}`, "Doc", value.Of(map[string]any{"a": "5"})},
		"numbers stay as written":                 {`Test::Any, Properties: {Doc: {a: 1.50, b: 1e3}}`, "Doc", value.OfMap(value.Map{"a": value.Num("1.50"), "b": value.Num("1e3")})},
		"a boolean in quotes":                     {`AWS::ApiGatewayV2::Api, Properties: {Name: a, ProtocolType: HTTP, DisableExecuteApiEndpoint: "true"}`, "DisableExecuteApiEndpoint", value.Of(true)},
		"nested numbers too":                      {`AWS::ApiGatewayV2::Api, Properties: {Name: a, ProtocolType: HTTP, CorsConfiguration: {MaxAge: "60"}}`, "CorsConfiguration", value.Of(map[string]any{"MaxAge": 60})},
		"a schema's sensitive field is sensitive": {`AWS::ApiGatewayV2::Api, Properties: {Name: a, ProtocolType: HTTP, Version: v1}`, "Version", value.Of("v1").AsSensitive()},
		"a document as it is":                     {role + `{Version: 2012-10-17}}`, "AssumeRolePolicyDocument", value.Of(map[string]any{"Version": "2012-10-17"})},
		"a document as a string":                  {role + `'{"Version": "2012-10-17"}'}`, "AssumeRolePolicyDocument", value.Of(map[string]any{"Version": "2012-10-17"})},
		"a path from the template's folder":       {`Std::FS::File, Properties: {Path: ./out/../a}`, "Path", value.Of("/base/a")},
		"an absolute path":                        {`Std::FS::File, Properties: {Path: /x//a}`, "Path", value.Of("/x/a")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			g := bind(t, "Resources: {R: {Type: "+tt.resource+"}}\n")
			if d := cmp.Diff(plain(tt.want), plain(resolve(t, g, "R", nil)[tt.param])); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestASecretPathStaysSecret(t *testing.T) {
	g := bind(t, "Parameters: {K: {Type: String, Default: k, NoEcho: true}}\nResources: {F: {Type: Std::FS::File, Properties: {Path: !Ref K}}}\n")
	if got := resolve(t, g, "F", nil)["Path"]; !got.Sensitive() || got.Reveal() != "/base/k" { // S32
		t.Error(plain(got))
	}
}

func TestResolveChecksWhatFactsMakeKnown(t *testing.T) {
	g := bind(t, "Resources: {A: {Type: Test::Any}, L: {Type: AWS::Logs::LogGroup, Properties: {RetentionInDays: !GetAtt A.Arn}}}\n")
	if got := resolve(t, g, "L", nil)["RetentionInDays"]; got.Kind() != value.Unknown {
		t.Errorf("got %v", got)
	}
	_, err := g.Resource("L").Resolve(func(string, string) (value.Value, bool) { return value.Of("x"), true })
	if err == nil || !strings.Contains(err.Error(), `wants a whole number, found "x"`) {
		t.Error(err)
	}
}

func TestGraphDescribesTheStack(t *testing.T) {
	g := bind(t, `
Conditions: {Never: !Equals [a, b]}
Resources:
  Last: {Type: Test::Any, DependsOn: [Gone, First], Properties: {Text: !Sub "${Mid.Arn}"}}
  Gone: {Type: Test::Any, Condition: Never, DeletionPolicy: Retain}
  Mid:
    Type: Test::Any
    DeletionPolicy: RetainExceptOnCreate
    UpdateReplacePolicy: Retain
    Properties: {Text: !If [Never, !Ref Gone, !Ref First]}
  First: {Type: Test::Any, Metadata: {Any: !Thing [null, {Ref: x}]}}
Outputs:
  Arn: {Value: !GetAtt Last.Arn, Description: of the last}
  None: {Value: !Ref Gone, Condition: Never}
`)
	type row struct {
		ID, DeletionPolicy, UpdateReplacePolicy string
		DependsOn                               []string
		Line, Col                               int
	}
	var got []row
	for _, r := range g.Resources {
		got = append(got, row{r.ID, r.DeletionPolicy, r.UpdateReplacePolicy, r.DependsOn, r.Line, r.Col})
	}
	want := []row{
		{"First", "", "", nil, 11, 3},
		{"Mid", "RetainExceptOnCreate", "Retain", []string{"First"}, 6, 3},
		{"Last", "", "", []string{"First", "Mid"}, 4, 3},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if g.Resource("Gone") != nil || g.Resource("Mid") == nil {
		t.Error("Resource names what exists and nothing else")
	}
	if len(g.Outputs) != 1 || g.Outputs[0].Name != "Arn" || g.Outputs[0].Description != "of the last" {
		t.Errorf("outputs: %+v", g.Outputs)
	}
	out, err := g.ResolveOutputs(func(id, attr string) (value.Value, bool) { return value.Of(id + "/" + attr), true })
	if d := cmp.Diff([]ResolvedOutput{{Name: "Arn", Description: "of the last", Value: value.Of("Last/Arn")}}, out); d != "" || err != nil {
		t.Error(err, d)
	}
	if g.Path != "t.yaml" || g.Stack != "orders" || g.Scope != cloud || g.Base != "/base" || len(g.SHA256) != 64 {
		t.Errorf("header: %q %q %v %q %q", g.Path, g.Stack, g.Scope, g.Base, g.SHA256)
	}
}

func TestAnUnknownConditionCountsAsExistingAndChecksBothBranches(t *testing.T) {
	const src = "Conditions: {C: !Equals [!Ref AWS::Region, x]}\nResources:\n  A: {Type: Test::Any, Condition: C}\n" +
		"  L: {Type: AWS::Logs::LogGroup, Properties: {RetentionInDays: !If [C, %s, !Ref AWS::NoValue], Tags: [!If [C, {Key: a, Value: !Ref A}, !Ref AWS::NoValue]]}}\n"
	noRegion := func(b *Binding) { b.Scope.Region = "" }
	g := bind(t, format(src, "14"), noRegion)
	if g.Resource("A") == nil || !cmp.Equal(g.Resource("L").DependsOn, []string{"A"}) {
		t.Errorf("A left out, or no dependency: %v", g.Resource("L").DependsOn)
	}
	got := resolve(t, g, "L", nil)["RetentionInDays"]
	if d := cmp.Diff([]string{"AWS::Region"}, got.Waits()); d != "" {
		t.Error(d)
	}
	if ps := problems(t, format(src, "15"), noRegion); !strings.Contains(ps.Error(), "RetentionInDays wants one of") {
		t.Error(ps)
	}
}

func TestTypesAreSortedAndUnique(t *testing.T) {
	tpl, err := Parse("t", []byte("Resources: {A: {Type: B::B::B}, B: {Type: A::A::A}, C: {Type: B::B::B}}"))
	if d := cmp.Diff([]string{"A::A::A", "B::B::B"}, tpl.Types()); d != "" || err != nil {
		t.Error(err, d)
	}
}

func TestBaseIsTheTemplatesFolderUnlessSaid(t *testing.T) {
	dir := t.TempDir()
	tpl, err := Parse(filepath.Join(dir, "t.yaml"), []byte("Resources: {F: {Type: Std::FS::File, Properties: {Path: a/b}}}"))
	if err != nil {
		t.Fatal(err)
	}
	in := binding()
	in.Base = ""
	g, err := tpl.Bind(in)
	if err != nil {
		t.Fatal(err)
	}
	if got := resolve(t, g, "F", nil).Text("Path"); got != filepath.Join(dir, "a", "b") {
		t.Error(got)
	}
}

func TestJSONHasPlacesAndAllOfJSON(t *testing.T) {
	src := "{\n\t\"Resources\": {\n\t\t\"R\": {\"Type\": \"Test::Any\", \"Properties\": {\"Text\": \"\\ud83d\\ude00\\/\", \"Doc\": {\"é\": 1, \"Ref\": 2}}}}}"
	ps := problems(t, src)
	if len(ps) != 1 || ps[0].Line != 3 || ps[0].Col != 87 {
		t.Error(ps)
	}
	g := bind(t, strings.Replace(src, `, "Ref": 2`, "", 1))
	if d := cmp.Diff("😀/", resolve(t, g, "R", nil).Text("Text")); d != "" {
		t.Error(d)
	}
}

func TestBrokenJSONIsPlaced(t *testing.T) {
	for src, want := range map[string]string{
		"{\"Resources\": {\n \"A\": ,}}":              "t.json:2:7: not JSON: ",
		"{\"Resources\": {\n \"A\": {}":               "t.json:2:9: not JSON: the file ends in the middle of a value",
		"{\"Resources\": {}}\n{}":                     "t.json:2:1: not JSON: something follows the end of the template",
		strings.Repeat("[", 200):                      "t.json:1:130: not JSON: nested more than 128 levels deep",
		"{\"Resources\": {\n \"A\": tru, \"B\": 1 }}": "t.json:2:7: not JSON: ",
	} {
		if _, err := Parse("t.json", []byte(src)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", src, err, want)
		}
	}
}

func TestTheExampleStacksBind(t *testing.T) {
	for file, want := range map[string][]string{
		"site.yaml":     {"Style", "Page", "Robots", "Bundle", "Checksums"},
		"checkout.yaml": {"CheckoutRole", "CheckoutApi", "CheckoutLogs", "Settings"},
	} {
		tpl, err := ParseFile(filepath.Join("..", "..", "testdata", "stacks", file))
		if err != nil {
			t.Fatal(err)
		}
		g, err := tpl.Bind(binding())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range g.Resources {
			got = append(got, r.ID)
			if _, err := r.Resolve(nil); err != nil {
				t.Error(err)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(file, d)
		}
	}
}

func TestResolveRunsInParallel(t *testing.T) {
	g := bind(t, head+"!Sub '${Key}${A.Arn}'\n")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, r := range g.Resources {
				if _, err := r.Resolve(nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestOrderIsTopologicalAndStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		rank := rapid.Permutation(seq(n)).Draw(t, "rank") // edges go from a higher rank to a lower one
		ids := make([]string, n)
		needs := map[string]map[string]*node{}
		for i := range ids {
			ids[i] = fmt.Sprintf("R%02d", i)
			needs[ids[i]] = map[string]*node{}
		}
		for i := range ids {
			for j := range ids {
				if rank[j] < rank[i] && rapid.IntRange(0, 5).Draw(t, "edge") == 0 {
					needs[ids[i]][ids[j]] = &node{}
				}
			}
		}
		if c := cycles(ids, needs); len(c) > 0 {
			t.Fatalf("found a circle where none is: %v", c)
		}
		got := order(ids, needs)
		if d := cmp.Diff(ids, slices.Sorted(slices.Values(got))); d != "" {
			t.Fatal("not the same resources", d)
		}
		done := map[string]bool{}
		for _, id := range got {
			first := slices.IndexFunc(ids, func(c string) bool { return !done[c] && ready(needs[c], done) })
			if ids[first] != id {
				t.Fatalf("%v: %s came before %s, which was ready and stands first in the file", got, id, ids[first])
			}
			done[id] = true
		}
	})
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func ready(needs map[string]*node, done map[string]bool) bool {
	for id := range needs {
		if !done[id] {
			return false
		}
	}
	return true
}

func TestEveryCircleIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := []string{"A", "B", "C", "D", "E"}
		needs := map[string]map[string]*node{}
		for _, id := range ids {
			needs[id] = map[string]*node{}
			for _, to := range ids {
				if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
					needs[id][to] = &node{}
				}
			}
		}
		found, ordered := cycles(ids, needs), order(ids, needs)
		if (len(found) > 0) != (len(ordered) < len(ids)) {
			t.Fatalf("circles %v, order %v of %v", found, ordered, needs)
		}
		for _, c := range found {
			for i := range c[1:] {
				if needs[c[i]][c[i+1]] == nil || c[0] != c[len(c)-1] {
					t.Fatalf("%v is no circle", c)
				}
			}
		}
	})
}

func TestJoinUndoesSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-c,;{}$: ]{0,20}`).Draw(t, "text")
		by := rapid.SampledFrom([]string{",", ";", "ab", "$"}).Draw(t, "by")
		src := format(`{"Parameters": {"T": {"Type": "String"}}, "Resources": {"R": {"Type": "Test::Any", "Properties": {"Text": {"Fn::Join": [%q, {"Fn::Split": [%q, {"Ref": "T"}]}]}}}}}`, by, by)
		tpl, err := Parse("t.json", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		in := binding()
		in.Parameters = map[string]string{"T": text}
		g, err := tpl.Bind(in)
		if err != nil {
			t.Fatal(err)
		}
		m, err := g.Resource("R").Resolve(nil)
		if err != nil || m.Text("Text") != text {
			t.Fatalf("got %v, %v", m, err)
		}
	})
}

// FuzzParse holds that no input makes Parse, Bind or Resolve panic, and that refusals have places.
func FuzzParse(f *testing.F) {
	for _, file := range []string{"site.yaml", "orders.yaml"} {
		src, err := os.ReadFile(filepath.Join("..", "..", "testdata", "stacks", file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Add([]byte(head + "!Sub '${A.Arn}${Name}'\n"))
	f.Add([]byte(head + "!If [Here, !Select [0, !Split [',', !Ref Key]], !FindInMap [Zones, !Ref AWS::Region, Long]]\n"))
	f.Add([]byte(`{"Resources": {"R": {"Type": "Test::Any", "Properties": {"Text": {"Fn::Join": ["", [{"Ref": "R"}]]}}}}}`))
	f.Add([]byte("a: &a [*a, {<<: *a}]\n? [b]\n: !x c\n---\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		tpl, err := Parse("t.yaml", src)
		if tpl != nil {
			in := binding()
			in.Scope.Region = ""
			var g *Graph
			if g, err = tpl.Bind(in); err == nil {
				for _, r := range g.Resources {
					if _, err := r.Resolve(nil); err != nil {
						t.Fatalf("bound, but cannot resolve: %v", err)
					}
				}
				return
			}
		}
		ps, ok := err.(Problems)
		if !ok || len(ps) == 0 {
			t.Fatalf("refused without Problems: %v", err)
		}
		for _, p := range ps {
			if p.Line < 1 || p.Col < 1 || p.Text == "" || bytes.ContainsFunc([]byte(p.String()), func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Fatalf("bad problem %q", p)
			}
		}
	})
}
