package event

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// declared lists the types of this package that say they are events.
func declared(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var out []string
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil && m.Name.Name == "event" {
				out = append(out, m.Recv.List[0].Type.(*ast.Ident).Name)
			}
		}
	}
	slices.Sort(out)
	return out
}

func TestEveryEventIsListed(t *testing.T) {
	var listed []string
	for _, e := range Kinds() {
		listed = append(listed, reflect.TypeOf(e).Name())
	}
	slices.Sort(listed)
	if d := cmp.Diff(declared(t), listed); d != "" {
		t.Errorf("Kinds misses some (-declared +listed):\n%s", d)
	}
}

// fill sets everything that is exported to something that is not empty.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2026, 3, 1, 14, 1, *n%60, 123456789, time.UTC)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d \x1b[2J <&>", *n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint64:
		v.SetUint(1<<63 + uint64(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Map:
		k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(k, n)
		fill(e, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(k, e)
	default:
		panic("nothing is known of " + v.Type().String())
	}
}

func TestEveryEventComesBackFromItsLine(t *testing.T) {
	seen := map[string]bool{}
	for _, empty := range Kinds() {
		t.Run(empty.event(), func(t *testing.T) {
			if seen[empty.event()] {
				t.Error("two events have one kind")
			}
			seen[empty.event()] = true
			full, n := reflect.New(reflect.TypeOf(empty)).Elem(), 0
			fill(full, &n)
			for what, e := range map[string]Event{"empty": empty, "full": full.Interface().(Event)} {
				want := Envelope{N: 7, At: time.Date(2026, 3, 1, 14, 1, 7, 1, time.UTC), Execution: "e-1", Event: e}
				line, err := json.Marshal(want)
				if err != nil {
					t.Fatal(err)
				}
				if strings.ContainsAny(string(line), "\n\x1b") {
					t.Errorf("%s: it is not one line of plain text: %q", what, line)
				}
				var got Envelope
				if err := json.Unmarshal(line, &got); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s (-want +got):\n%s", what, d)
				}
			}
		})
	}
}

func TestALineSaysItsKindFirst(t *testing.T) {
	line, err := json.Marshal(Envelope{N: 3, At: time.Date(2026, 3, 1, 14, 1, 7, 0, time.UTC), Execution: "e-1", Event: Warning{Text: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"n":3,"at":"2026-03-01T14:01:07Z","execution":"e-1","kind":"warning","data":{"text":"x"}}`
	if string(line) != want {
		t.Errorf("got  %s\nwant %s", line, want)
	}
}

func TestWhatIsNoEventIsRefused(t *testing.T) {
	for why, c := range map[string]struct{ line, says string }{
		"an unknown kind is named, with its place": {`{"n":4,"kind":"exploded","data":{}}`, `event 4: unknown kind "exploded"`},
		"no kind at all":                {`{"n":5,"data":{}}`, `event 5: unknown kind ""`},
		"data of another shape":         {`{"n":6,"kind":"phase","data":[]}`, "phase"},
		"a known kind without its data": {`{"n":7,"kind":"ended"}`, "event 7"},
		"half a line":                   {`{"n":8,"kind":"pha`, ""},
	} {
		t.Run(why, func(t *testing.T) {
			var e Envelope
			err := json.Unmarshal([]byte(c.line), &e)
			if err == nil || !strings.Contains(strings.ToLower(err.Error()), c.says) {
				t.Errorf("got %v, %v; want an error with %q", e, err, c.says)
			}
		})
	}
	if _, err := json.Marshal(Envelope{N: 9}); err == nil {
		t.Error("a line without an event is written")
	}
}
