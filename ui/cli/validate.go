package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"reclaim/engine/resource"
	"reclaim/engine/template"
)

func (s *session) validateCommand() *cobra.Command {
	var src source
	c := &cobra.Command{
		Use:   "validate FILE",
		Short: "Find the problems of a template, offline",
		Long: `Reads the template and checks it against the types it names, without a store, network or credentials. All problems of its
form are listed at once (syntax, functions, references); once there are none, all of its types, properties and values.`,
		Args: cobra.MinimumNArgs(1),
		RunE: s.run(func(_ context.Context, args []string) error { return s.validate(&src, args) }),
	}
	c.Flags().StringVar(&src.stack, "stack", "", "name of the stack (default: the file's stem)")
	c.Flags().StringArrayVar(&src.parameters, "parameters", nil, "NAME=VALUE … or file://FILE (a JSON object, or CloudFormation's list)")
	return c
}

// validJSON is the result of validate.
type validJSON struct {
	File      string         `json:"file"`
	SHA256    string         `json:"sha256"`
	Resources []resourceJSON `json:"resources"` // what others wait for comes first
	Outputs   []string       `json:"outputs"`
}

type resourceJSON struct {
	ID        string   `json:"id"`
	Type      string   `json:"type"`
	Line      int      `json:"line"`
	Column    int      `json:"column"`
	DependsOn []string `json:"dependsOn"`
}

func (s *session) validate(src *source, args []string) error {
	file, params, err := src.oneFile(args)
	if err != nil {
		return err
	}
	name, err := src.nameOf(file)
	if err != nil {
		return err
	}
	t, err := template.ParseFile(file)
	if err != nil {
		return err
	}
	g, err := t.Bind(s.binding(name, resource.Scope{}, params))
	if err != nil {
		return err
	}
	v := validJSON{File: file, SHA256: g.SHA256, Resources: []resourceJSON{}, Outputs: []string{}}
	for _, r := range g.Resources {
		v.Resources = append(v.Resources, resourceJSON{r.ID, r.Type, r.Line, r.Col, emptyNotNull(r.DependsOn)})
	}
	for _, o := range g.Outputs {
		v.Outputs = append(v.Outputs, o.Name)
	}
	s.rep.result = v
	s.rep.text = fmt.Sprintf("valid: %s, %d resources, %d outputs, sha256 %s\n", filepath.Base(file), len(v.Resources), len(v.Outputs), g.SHA256[:12])
	return nil
}
