package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"reclaim/engine/deploy"
	"reclaim/engine/record"
	"reclaim/ui/text"
)

func (s *session) backupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup [FILE]",
		Short: "Copy the store's file as it is at one moment",
		Long: `Writes a whole, synced copy of store.db with mode 0600, to FILE or beside the store, also while a deploy runs. A file that
is there already is never written over. To go back, stop what uses the store and put the copy in the place of store.db:
it is the same store, with the same ID. hash.key and emergency files are not in it.`,
		Args: cobra.MaximumNArgs(1),
		RunE: s.run(s.stateBackup),
	}
}

// copyJSON is the result of `state backup`, and of `state export --out`.
type copyJSON struct {
	Path    string   `json:"path"`
	Bytes   int64    `json:"bytes"`
	Store   string   `json:"store"` // its ID
	LeftOut []string `json:"leftOut"`
}

func (s *session) stateBackup(ctx context.Context, args []string) error {
	st, err := s.openStore(false, false)
	if err != nil {
		return err
	}
	defer st.Close()
	path := ""
	if len(args) == 1 {
		if path, err = filepath.Abs(args[0]); err != nil {
			return err
		}
	}
	if path, err = st.Backup(ctx, path, "manual"); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("look at the backup: %w", err)
	}
	s.rep.result = copyJSON{path, info.Size(), st.ID(), []string{"hash.key", "events of runs and emergency files beside the store"}}
	s.rep.text = fmt.Sprintf("copied the store to %s (%d bytes). hash.key is not in it: keep a copy of that too.\n", path, info.Size())
	return nil
}

func (s *session) exportCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "export",
		Short: "Write all records, tombstones, journals and holds as one JSON document",
		Long: `Prints one JSON document, or writes it to a new file with --out. The same state always gives the same bytes. Sensitive values
are in it as keyed hashes only; the key, plans and events are left out, and the document says so. state import reads it.`,
		Args: cobra.NoArgs,
		RunE: s.run(func(ctx context.Context, _ []string) error { return s.stateExport(ctx, out) }),
	}
	c.Flags().StringVar(&out, "out", "", "write to this new file, with mode 0600")
	return c
}

func (s *session) stateExport(ctx context.Context, out string) error {
	st, err := s.openStore(false, false)
	if err != nil {
		return err
	}
	defer st.Close()
	doc, bad, err := st.Export(ctx)
	if err != nil {
		return err
	}
	b, err := doc.Encode()
	if err != nil {
		return err
	}
	if bad > 0 {
		s.rep.problem(Problem{Exit: deploy.ExitError, Message: fmt.Sprintf("%s could not be exported, which leftOut names. Next: %s",
			text.Plural(bad, "record", "records"), s.line("state", "check"))})
	}
	safe := tameLines(string(b))
	if out == "" {
		s.rep.result, s.rep.text = doc, safe
		return nil
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	if err := writeNew(out, []byte(safe)); err != nil {
		return fmt.Errorf("write export: %w", err)
	}
	s.rep.result = copyJSON{out, int64(len(safe)), doc.Store, doc.LeftOut}
	s.rep.text = fmt.Sprintf("exported %s to %s (%d bytes). Left out:\n", text.Plural(len(doc.Stacks), "stack", "stacks"), out, len(safe))
	for _, l := range doc.LeftOut {
		s.rep.text += "  " + tame(l) + "\n"
	}
	return nil
}

// tameLines is tame of each line: the line feeds of a document stay.
func tameLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = tame(lines[i])
	}
	return strings.Join(lines, "\n")
}

// writeNew writes a new file of mode 0600: whole and synced, or not at all.
func writeNew(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(path)
	}
	return err
}

func (s *session) importCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Fill an empty or new store from an export",
		Long: `Reads what state export wrote, checks all of it, and only then makes the store, where there is none, and fills it in one
transaction. The store gets an ID of its own and keeps the exported one as its ancestor. A store that holds a stack is
refused: name another with --store. Copy hash.key by hand before, or sensitive values count as changed.`,
		Args: cobra.ExactArgs(1),
		RunE: s.run(func(ctx context.Context, args []string) error { return s.stateImport(ctx, args[0]) }),
	}
}

// importedJSON is the result of `state import`.
type importedJSON struct {
	Store     string   `json:"store"` // the new ID
	Ancestors []string `json:"ancestors"`
	Stacks    []string `json:"stacks"`
	Records   int      `json:"records"`
	Held      []string `json:"held"` // stacks with a hold
	Next      []string `json:"next"`
}

func (s *session) stateImport(ctx context.Context, file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read export: %w", err)
	}
	if bytes.IndexByte(b, 0) >= 0 {
		return fmt.Errorf("import %s: it is no JSON document; if it is a backup, put it in the place of the store's store.db. Nothing was changed", file)
	}
	doc, err := record.DecodeExport(b)
	if err != nil {
		return fmt.Errorf("import %s: %w. Nothing was changed", file, err)
	}
	st, err := s.openStore(true, true)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := st.Import(ctx, doc); err != nil {
		return fmt.Errorf("%w. Next: name an empty or new store with --store", err)
	}
	res := importedJSON{Store: st.ID(), Stacks: []string{}, Held: []string{}, Next: []string{s.line("state", "check"), s.line("status")}}
	err = st.Read(ctx, func(v record.View) error {
		res.Ancestors = v.Ancestors()
		ids, err := v.Stacks()
		for _, id := range ids {
			res.Stacks = append(res.Stacks, id.String())
			list, _, lerr := v.Records(id)
			_, held, herr := v.Hold(id)
			if res.Records += len(list); held {
				res.Held = append(res.Held, id.String())
			}
			err = errors.Join(err, lerr, herr)
		}
		return err
	})
	if err != nil {
		return err
	}
	s.importReply(st.Dir(), res)
	return nil
}

func (s *session) importReply(dir string, res importedJSON) {
	s.rep.result = res
	s.rep.text = fmt.Sprintf("imported %s with %s into %s\nstore ID %s; ancestor %s\n", text.Plural(len(res.Stacks), "stack", "stacks"),
		text.Plural(res.Records, "record", "records"), dir, res.Store, res.Ancestors[0])
	for _, h := range res.Held {
		s.rep.text += tame(h) + " was held when it was exported, and is: see hold show\n"
	}
	for _, n := range res.Next {
		s.rep.text += "next: " + n + "\n"
	}
}
