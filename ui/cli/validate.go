package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
)

func (s *session) validateCommand() *cobra.Command {
	var src source
	c := &cobra.Command{
		Use:   "validate FILE|STACK",
		Short: "Find the problems of a template, offline",
		Long: `Reads the template and checks it against the types it names, without a store, network or credentials. All that is
wrong with it is listed at once, in the order of the file; a file whose syntax is broken has only that listed.`,
		RunE:              s.run(func(_ context.Context, args []string) error { return s.validate(&src, args) }),
		ValidArgsFunction: s.targetArgs,
	}
	src.nameFlags(c.Flags())
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
	at, err := s.target(src, args)
	if err != nil {
		return err
	}
	_, g, _, err := s.bound(at.file, at.name, at.params)
	if err != nil {
		return err
	}
	v := validJSON{File: at.file, SHA256: g.SHA256, Resources: []resourceJSON{}, Outputs: []string{}}
	for _, r := range g.Resources {
		v.Resources = append(v.Resources, resourceJSON{r.ID, r.Type, r.Line, r.Col, emptyNotNull(r.DependsOn)})
	}
	for _, o := range g.Outputs {
		v.Outputs = append(v.Outputs, o.Name)
	}
	s.rep.result = v
	s.rep.text = fmt.Sprintf("valid: %s, %d resources, %d outputs, sha256 %s\n", filepath.Base(at.file), len(v.Resources), len(v.Outputs), g.SHA256[:12])
	return nil
}
