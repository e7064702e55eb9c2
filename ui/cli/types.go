package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"reclaim/engine/resource"
	"reclaim/engine/value"
)

func (s *session) typesCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "types [TYPE]",
		Short:             "List the supported types, or show everything about one",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: s.typeWords,
		RunE:              s.run(s.types),
	}
}

func (s *session) types(_ context.Context, args []string) error {
	list := slices.Clone(s.Schemas())
	slices.SortFunc(list, func(a, b *resource.Schema) int { return strings.Compare(a.Type, b.Type) })
	if len(args) == 0 {
		out := []typeJSON{}
		for _, sc := range list {
			out = append(out, typeOf(sc))
		}
		s.rep.result, s.rep.text = out, s.page().Types(list)
		return nil
	}
	sc, err := findType(list, args[0])
	if err != nil {
		return err
	}
	s.rep.result, s.rep.text = typeOf(sc), s.page().Type(sc)
	return nil
}

// findType finds a type whatever the case, and by the end of its name (LogGroup) where that is unique.
func findType(list []*resource.Schema, typed string) (*resource.Schema, error) {
	var near []*resource.Schema
	var names []string
	for _, sc := range list {
		if strings.EqualFold(sc.Type, typed) {
			return sc, nil
		}
		names = append(names, sc.Type)
		if strings.HasSuffix(strings.ToLower(sc.Type), "::"+strings.ToLower(typed)) {
			near = append(near, sc)
		}
	}
	if len(near) == 1 {
		return near[0], nil
	}
	return nil, fmt.Errorf("type %s is not supported; supported are %s", typed, strings.Join(names, ", "))
}

// typeJSON is a schema in `types --json`.
type typeJSON struct {
	Type        string             `json:"type"`
	Doc         string             `json:"doc"`
	Local       bool               `json:"local"`
	Identity    resource.Class     `json:"identity"`
	Key         []string           `json:"key"`
	Space       resource.NameSpace `json:"space"`
	Ref         string             `json:"ref"`
	Tags        resource.TagStyle  `json:"tags"`
	Window      string             `json:"window"` // a Go duration: "30s"
	Data        string             `json:"data,omitempty"`
	Properties  []fieldJSON        `json:"properties"`
	Outputs     []outputJSON       `json:"outputs"`
	Unsupported map[string]string  `json:"unsupported"`
}

type outputJSON struct {
	Name string `json:"name"`
	Doc  string `json:"doc,omitempty"`
}

type fieldJSON struct {
	Name      string               `json:"name,omitempty"`
	Doc       string               `json:"doc,omitempty"`
	Type      resource.ValueType   `json:"type"`
	Mode      resource.Mode        `json:"mode,omitempty"`
	Required  bool                 `json:"required,omitempty"`
	Default   *value.Value         `json:"default,omitempty"`
	Sensitive bool                 `json:"sensitive,omitempty"`
	WriteOnly bool                 `json:"writeOnly,omitempty"`
	Equal     resource.Equivalence `json:"comparedAs,omitempty"`
	Enum      []string             `json:"enum,omitempty"`
	Ints      []int64              `json:"integers,omitempty"`
	Min       *int64               `json:"min,omitempty"`
	Max       *int64               `json:"max,omitempty"`
	Pattern   string               `json:"pattern,omitempty"`
	Set       bool                 `json:"set,omitempty"`
	ItemKey   string               `json:"itemKey,omitempty"`
	Shared    bool                 `json:"shared,omitempty"`
	Items     *fieldJSON           `json:"items,omitempty"`
	Fields    []fieldJSON          `json:"fields,omitempty"`
}

func typeOf(sc *resource.Schema) typeJSON {
	t := typeJSON{Type: sc.Type, Doc: sc.Doc, Local: sc.Local, Identity: sc.Identity, Key: sc.Key, Space: sc.Space, Ref: sc.Ref,
		Tags: sc.Tags, Window: sc.Window.String(), Data: sc.Data, Properties: fieldsOf(sc.Params), Outputs: []outputJSON{},
		Unsupported: sc.Unsupported}
	for _, o := range sc.Outputs {
		t.Outputs = append(t.Outputs, outputJSON{o.Name, o.Doc})
	}
	if t.Unsupported == nil {
		t.Unsupported = map[string]string{}
	}
	return t
}

func fieldsOf(list []resource.Field) []fieldJSON {
	var out []fieldJSON
	for i := range list {
		out = append(out, fieldOf(&list[i]))
	}
	return out
}

func fieldOf(f *resource.Field) fieldJSON {
	j := fieldJSON{Name: f.Name, Doc: f.Doc, Type: f.Type, Mode: f.Mode, Required: f.Required, Sensitive: f.Sensitive,
		WriteOnly: f.WriteOnly, Equal: f.Equal, Enum: f.Enum, Ints: f.Ints, Min: f.Min, Max: f.Max, Pattern: f.Pattern, Set: f.Set,
		ItemKey: f.ItemKey, Shared: f.Shared, Fields: fieldsOf(f.Fields)}
	if f.Default.IsSet() {
		j.Default = &f.Default
	}
	if f.Elem != nil {
		e := fieldOf(f.Elem)
		j.Items = &e
	}
	return j
}
