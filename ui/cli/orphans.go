package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"reclaim/engine/deploy"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/engine/template"
	"reclaim/ui/text"
)

// orphanOptions say which orphans, and what their stack's file is.
type orphanOptions struct {
	source
	file        string
	typ, status string
	age         time.Duration
	look        bool
}

func (s *session) orphansCommand() *cobra.Command {
	var o orphanOptions
	c := &cobra.Command{
		Use:   "orphans",
		Short: "List what nobody looks after: unfinished creates, leftovers, tombstones",
		Long: `Lists, over all stacks and from the store alone: creates, adoptions and deletes that no run carries on; generations that were replaced
and not removed; what a destroy left; records that the last plan of their stack did not name, or that --file does not name;
and tombstones of what was given up. With --look it asks the cloud for each, at its key and by every nonce it ever had.
orphans resolve deals with one.`,
		Args: cobra.NoArgs,
		RunE: s.run(func(ctx context.Context, _ []string) error { return s.orphans(ctx, &o) }),
	}
	f := c.Flags()
	o.fileFlags(f)
	f.StringVar(&o.typ, "type", "", "only those of this type")
	f.StringVar(&o.status, "status", "", "only those with this status or kind: creating, retired, tombstone, unnamed and so on")
	f.DurationVar(&o.age, "age", 0, "only those that nothing was written of for this long, such as 72h")
	f.BoolVar(&o.look, "look", false, "ask the cloud what became of each")
	c.AddCommand(s.resolveCommand())
	return c
}

// orphanJSON is one of the result of `orphans`.
type orphanJSON struct {
	recovery.Orphan
	Stack string             `json:"stack"`
	Seen  *recovery.Sighting `json:"seen"` // null: the cloud was not asked
	Next  []string           `json:"next"`
}

// orphansJSON is the result of `orphans`.
type orphansJSON struct {
	Looked  bool         `json:"looked"`
	Orphans []orphanJSON `json:"orphans"`
	Hidden  int          `json:"hidden"` // left out by filters
}

func (s *session) orphans(ctx context.Context, o *orphanOptions) error {
	st, err := s.openStore(false, false)
	if err != nil {
		return err
	}
	defer st.Close()
	list, hidden, err := s.orphansOf(ctx, st, o)
	if err != nil {
		return err
	}
	shown := make([]text.Orphan, len(list))
	for i := range list {
		shown[i].Orphan = list[i]
	}
	if o.look {
		if err := s.lookAll(ctx, st, shown, o.parallel); err != nil {
			return err
		}
	}
	res := orphansJSON{Looked: o.look, Orphans: []orphanJSON{}, Hidden: hidden}
	for i := range shown {
		one := &shown[i]
		one.Next = s.afterSight(one)
		res.Orphans = append(res.Orphans, orphanJSON{one.Orphan, one.Stack.String(), one.Seen, emptyNotNull(one.Next)})
		if one.Seen != nil && one.Seen.State == recovery.SightUnknown {
			s.rep.problem(Problem{Exit: deploy.ExitError, ID: one.ID, Message: one.ID + ": " + one.Seen.Summary, shown: true})
		}
	}
	var next []string
	if !o.look && len(shown) > 0 {
		next = []string{s.line("orphans", "--look")}
	}
	s.rep.result = res
	s.rep.text = s.page().Orphans(shown, hidden, next)
	return nil
}

// orphansOf lists the orphans that the filters leave, and how many they do not.
func (s *session) orphansOf(ctx context.Context, st Store, o *orphanOptions) (list []recovery.Orphan, hidden int, err error) {
	lookup, _ := s.schemaOf()
	err = st.Read(ctx, func(v record.View) error {
		list, hidden = nil, 0
		ids, err := s.stacksOf(v, o.stackWord())
		if err != nil {
			return err
		}
		for _, id := range ids {
			named, err := s.named(v, id, o)
			if err != nil {
				return err
			}
			some, err := recovery.Orphans(v, id, named, s.Alive)
			if err != nil {
				return err
			}
			for _, one := range some {
				if schema, ok := lookup(one.Type); ok && one.Tombstone != nil && len(one.Tombstone.Key) > 0 {
					one.Physical = schema.Physical(one.Tombstone.Key)
				}
				if o.wants(&one) {
					list = append(list, one)
				} else {
					hidden++
				}
			}
		}
		return nil
	})
	return list, hidden, err
}

// stackWord is the stack that is asked about: with a file, the one that it is of.
func (o *orphanOptions) stackWord() string {
	if o.stack == "" && o.file != "" {
		if name, err := o.nameOf(o.file); err == nil {
			return name
		}
	}
	return o.stack
}

func (o *orphanOptions) wants(one *recovery.Orphan) bool {
	return (o.typ == "" || one.Type == o.typ) && (o.status == "" || one.Status == o.status || string(one.Kind) == o.status) &&
		(o.age == 0 || time.Since(one.Since) >= o.age)
}

// named is what is known of the names in a stack's file: those of --file, else those of the last plan of a deploy; nil when there is
// neither.
func (s *session) named(v record.View, id record.StackID, o *orphanOptions) (*recovery.Named, error) {
	if o.file != "" {
		return s.namedIn(id, o)
	}
	p, err := lastPlanOf(v, id)
	if err != nil || p == nil || p.Verb != plan.VerbDeploy {
		return nil, nil // a plan that cannot be read is for state check to tell
	}
	n := &recovery.Named{IDs: map[string]bool{}, Source: fmt.Sprintf("plan %s of %s, made %s,", text.Short(p.Fingerprint),
		filepath.Base(p.Template.Path), text.Age(time.Now(), p.MadeAt))}
	for i := range p.Items {
		if !p.Items[i].Removal {
			n.IDs[p.Items[i].ID] = true
		}
	}
	return n, nil
}

func (s *session) namedIn(id record.StackID, o *orphanOptions) (*recovery.Named, error) {
	t, err := template.ParseFile(o.file)
	if err != nil {
		return nil, err
	}
	params, err := readParameters(o.parameters)
	if err != nil {
		return nil, err
	}
	g, err := t.Bind(s.binding(id.Name, id.Scope, params))
	if err != nil {
		return nil, err
	}
	n := &recovery.Named{IDs: map[string]bool{}, Source: o.file}
	for i := range g.Resources {
		n.IDs[g.Resources[i].ID] = true
	}
	return n, nil
}

// progressEvery is the time between two notes on how far many looks have come.
const progressEvery = 5 * time.Second

// lookAll asks the cloud about each orphan, several at once, and says on stderr how far it is. Where the credentials lead
// elsewhere, nothing is asked and nothing reads as gone (SAFETY S2).
func (s *session) lookAll(ctx context.Context, st Store, list []text.Orphan, parallel int) error {
	works := map[record.StackID]*work{}
	far := map[record.StackID]error{}
	for i := range list {
		id := list[i].Stack
		if works[id] != nil {
			continue
		}
		w, err := newWork(st, id, id.String())
		if err != nil {
			return err
		}
		works[id], far[id] = w, s.reach(ctx, w)
	}
	s.note("looking for %s", text.Plural(len(list), "orphan", "orphans"))
	var mu sync.Mutex
	var failed error
	done, said := 0, time.Now()
	var looks sync.WaitGroup
	places := make(chan struct{}, parallel)
	for i := range list {
		one := &list[i]
		places <- struct{}{}
		looks.Go(func() {
			defer func() { <-places }()
			seen, err := s.lookFor(ctx, works[one.Stack], far[one.Stack], &one.Orphan)
			mu.Lock()
			defer mu.Unlock()
			one.Seen, done = &seen, done+1
			if failed == nil {
				failed = err
			}
			if time.Since(said) >= progressEvery {
				s.note("looked for %d of %d", done, len(list))
				said = time.Now()
			}
		})
	}
	looks.Wait()
	return failed
}

// lookFor asks the cloud about one orphan; far is why that cannot be done from here.
func (s *session) lookFor(ctx context.Context, w *work, far error, o *recovery.Orphan) (recovery.Sighting, error) {
	if far != nil {
		return recovery.Sighting{State: recovery.SightUnknown, Summary: far.Error(), Looks: []record.Look{}}, nil
	}
	seen, err := s.gatherer(w).Sight(ctx, o)
	if err != nil {
		return seen, fmt.Errorf("look for %s of %s: %w", o.ID, o.Stack, err)
	}
	return seen, nil
}

// afterSight are the commands that deal with an orphan, by what the look said.
func (s *session) afterSight(o *text.Orphan) []string {
	if o.Seen == nil {
		return nil
	}
	resolve := func(choice resolution) string {
		return s.line("orphans", "resolve", o.Stack.String(), o.ID, string(choice), "--gen", fmt.Sprint(o.Gen))
	}
	tomb, unfinished := o.Kind == recovery.OrphanTombstone, o.Kind == recovery.OrphanUnfinished
	switch o.Seen.State {
	case recovery.SightFound, recovery.SightSeveral, recovery.SightAnother:
		switch {
		case unfinished:
			return []string{s.line("recover", o.Stack.String())}
		case o.Seen.State != recovery.SightFound:
			return nil
		case tomb:
			return []string{resolve(resolveReclaim), resolve(resolveDelete)}
		}
		return []string{resolve(resolveDelete)}
	case recovery.SightAbsent, recovery.SightClaimed:
		if tomb {
			return []string{resolve(resolveForget)}
		}
		return []string{resolve(resolveDelete)}
	default:
		return nil
	}
}

// resolvable are the words of orphans resolve.
func resolvable() []string {
	return []string{string(resolveReclaim), string(resolveDelete), string(resolveForget)}
}

// areTombstones reports whether all of a list are tombstones.
func areTombstones(list []recovery.Orphan) bool {
	return !slices.ContainsFunc(list, func(o recovery.Orphan) bool { return o.Tombstone == nil })
}
