package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"reclaim/engine/deploy"
	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/ui/text"
)

// openStore opens the store that the flags, the environment or the folder name. create makes one where there is none
// (SAFETY S35) and says so; write opens it for changes.
func (s *session) openStore(create, write bool) (Store, error) {
	dir, found, err := s.storeDir()
	if err != nil {
		return nil, err
	}
	if create {
		s.warnInCI(dir)
	}
	if !create && !found {
		return nil, noStore(dir)
	}
	st, err := s.OpenStore(dir, StoreOptions{Create: create, ReadOnly: !create && !write, Note: func(m string) { s.note("%s", m) }})
	switch {
	case errors.Is(err, record.ErrNoStore):
		return nil, noStore(dir)
	case err != nil:
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	}
	return st, nil
}

// ahead is the opening of a store that is already there, while something else goes on.
type ahead struct {
	session *session
	done    chan struct{}
	store   Store // once done; nil when there is none, it cannot be opened, or open has given it away
}

// openAhead begins to open the store for changes, and to read the stacks of this name. Why it fails is for open to say.
func (s *session) openAhead(ctx context.Context, stack string) *ahead {
	a := &ahead{session: s, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		st, err := s.openStore(false, true)
		if err != nil {
			return
		}
		_ = st.ReadAhead(ctx, stack) // what cannot be read is met again, and said, where it is needed
		a.store = st
	}()
	return a
}

// open returns the store that was opened ahead; else it is openStore.
func (a *ahead) open(create bool) (Store, error) {
	<-a.done
	st := a.store
	if st == nil {
		return a.session.openStore(create, true)
	}
	a.store = nil
	if create {
		a.session.warnInCI(st.Dir())
	}
	return st, nil
}

// drop closes the store unless open has given it away.
func (a *ahead) drop() {
	<-a.done
	if a.store != nil {
		a.store.Close()
	}
}

func noStore(dir string) error {
	return fmt.Errorf("no store at %s nor in a folder above it. Next: reclaim plan FILE makes one, or name one with --store or RECLAIM_STORE", dir)
}

// storeDir is where the store is or would be made; found says that it was named or discovered.
func (s *session) storeDir() (dir string, found bool, err error) {
	if s.store != "" {
		dir, err = filepath.Abs(s.store)
		return dir, true, err
	}
	if env := s.Getenv("RECLAIM_STORE"); env != "" {
		dir, err = filepath.Abs(env)
		return dir, true, err
	}
	wd, err := s.Getwd()
	if err != nil {
		return "", false, err
	}
	if dir, ok := s.Discover(wd); ok {
		return dir, true, nil
	}
	return filepath.Join(wd, ".reclaim"), false, nil
}

// warnInCI says that a runner's workspace goes away with the runner. A store that was not named is in the workspace.
func (s *session) warnInCI(dir string) {
	if s.Getenv("CI") == "" {
		return
	}
	if s.store != "" || s.Getenv("RECLAIM_STORE") != "" {
		wd, err := s.Getwd()
		if err != nil {
			return
		}
		if rel, err := filepath.Rel(wd, dir); err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
			return
		}
	}
	s.note("warning: CI is set and the store %s is inside the workspace. A dead runner takes it along, and with it the only "+
		"note of what was being created. Keep it elsewhere: --store or RECLAIM_STORE", dir)
}

// findStack resolves NAME or NAME@SCOPE as typed to the one stack of the store that it means.
func findStack(v record.View, typed string) (record.StackID, error) {
	all, err := v.Stacks()
	if err != nil {
		return record.StackID{}, err
	}
	var hits []string
	var hit record.StackID
	for _, id := range all {
		if id.Matches(typed) {
			hits, hit = append(hits, id.String()), id
		}
	}
	switch len(hits) {
	case 1:
		return hit, nil
	case 0:
		var known []string
		for _, id := range all {
			known = append(known, id.String())
		}
		if len(known) == 0 {
			return hit, fmt.Errorf("no stack %s: the store holds none yet. Next: reclaim plan FILE", typed)
		}
		return hit, fmt.Errorf("no stack %s in this store; it holds %s", typed, strings.Join(known, ", "))
	default:
		slices.Sort(hits)
		return hit, fmt.Errorf("stack %s is ambiguous; name one of: %s", typed, strings.Join(hits, ", "))
	}
}

// stackArg is the shortest text that means id in this store.
func stackArg(v record.View, id record.StackID) string {
	if one, err := findStack(v, id.Name); err == nil && one == id {
		return id.Name
	}
	return id.String()
}

// holdOf adds to a hold whether its process lives.
func (s *session) holdOf(h record.Hold) *text.Hold {
	return &text.Hold{Hold: h, Alive: s.Alive(h.Owner)}
}

// line writes a command for a person to copy: program, words, and the flags that name store and cloud, as they were
// given to this call.
func (s *session) line(words ...string) string {
	for _, f := range []struct{ flag, value string }{{"--store", s.store}, {"--region", s.region}, {"--profile", s.profile}} {
		if f.value != "" {
			words = append(words, f.flag, f.value)
		}
	}
	if s.window != 0 {
		words = append(words, "--window", s.window.String())
	}
	out := "reclaim"
	for _, w := range words {
		out += " " + shellWord(w)
	}
	return out
}

// shellWord quotes a word for a POSIX shell where it needs it.
func shellWord(w string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:@,+%", r)
	}
	if w != "" && strings.IndexFunc(w, func(r rune) bool { return !plain(r) }) < 0 {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// recoverLine is the command that goes on after a crash.
func (s *session) recoverLine(stack string, h *record.Hold) string {
	if h == nil {
		return s.line("recover", stack)
	}
	return s.line("recover", stack, "--take-hold", h.Execution)
}

// afterHeld are the commands that go on from a hold: the one that takes it, after a look while its process lives.
func (s *session) afterHeld(stackWord string, hold *text.Hold) []string {
	take := s.recoverLine(stackWord, &hold.Hold)
	if hold.Alive == resource.Yes {
		return []string{s.line("status", stackWord), take}
	}
	return []string{take}
}

// heldReply says who holds the stack and how to go on; its code is 5.
func (s *session) heldReply(stackWord string, h record.Hold) {
	hold := s.holdOf(h)
	next := s.afterHeld(stackWord, hold)
	advice := "Next: " + strings.Join(next, "; once that process is gone: ")
	s.rep.stack = h.Stack.String()
	s.rep.text += s.page().Held(*hold, next)
	s.rep.result = heldJSON{Hold: holdJSON{h, hold.Alive}, Next: next}
	s.rep.problem(Problem{Exit: deploy.ExitHeld, Message: fmt.Sprintf("%s since %s; its process is %s. %s",
		(&record.HeldError{Hold: h}).Error(), text.Stamp(h.Since), hold.Liveness(), advice)})
}

// holdJSON is a hold with the liveness of its owner.
type holdJSON struct {
	record.Hold
	Alive resource.Tri `json:"alive"`
}

type heldJSON struct {
	Hold holdJSON `json:"hold"`
	Next []string `json:"next"`
}

// read runs f on a view of the store.
func read[T any](ctx context.Context, st record.Store, f func(record.View) (T, error)) (T, error) {
	var out T
	err := st.Read(ctx, func(v record.View) error {
		var err error
		out, err = f(v)
		return err
	})
	return out, err
}
