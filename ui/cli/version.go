package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func (s *session) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which build this is",
		Args:  cobra.NoArgs,
		RunE: s.run(func(context.Context, []string) error {
			b := s.Build
			s.rep.result = b
			s.rep.text = fmt.Sprintf("reclaim %s (%s/%s, %s)\n", b.Version, b.OS, b.Arch, b.Go)
			if b.Commit != "" {
				s.rep.text += fmt.Sprintf("commit %s %s\n", b.Commit, b.Date)
			}
			return nil
		}),
	}
}
