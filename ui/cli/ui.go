package cli

import (
	"context"
	"os"

	"reclaim/ui/tui/app"
)

// ui opens the full-screen interface, from the store alone. --plain is the screen-reader path: the same as status.
func (s *session) ui(ctx context.Context, _ []string) error {
	if s.json {
		return usage("--json wants a command, for example: reclaim status --json")
	}
	if s.plain {
		return s.status(ctx, nil)
	}
	in, _ := s.Stdin.(*os.File)
	out, _ := s.Stdout.(*os.File)
	if !s.asks() || in == nil || out == nil {
		return app.ErrNoTerminal
	}
	st, err := s.openStore(false, true)
	if err != nil {
		return err
	}
	defer st.Close()
	b, err := s.backend(st)
	if err != nil {
		return err
	}
	err = app.Run(ctx, b, app.Options{Theme: s.theme, NoColor: s.noColor, In: in, Out: out})
	s.rep.codes = append(s.rep.codes, s.interrupt.Code())
	return err
}
