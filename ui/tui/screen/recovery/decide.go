package recovery

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/ui/tui/screen"
	"reclaim/ui/tui/screen/execution"
	"reclaim/ui/tui/theme"
	"reclaim/ui/tui/widget"
)

// dialogWidth is the width that a dialog's text is broken at.
const dialogWidth = 70

// choose takes the option under the cursor. What cannot be undone asks for its name first.
func (s *Screen) choose() tea.Cmd {
	f := s.current()
	if f == nil {
		return notice("Nothing is uncertain; there is nothing to choose.")
	}
	list := options(f)
	o := list[min(s.cursor(f).At, len(list)-1)]
	switch o.Choice {
	case record.LookAgain:
		return s.look()
	case record.Later:
		delete(s.decided, refOf(f))
		if s.at == len(s.list)-1 && len(s.decided) > 0 {
			return s.summary()
		}
		s.next(1)
		return notice("%s stays uncertain.", f.ID)
	}
	switch {
	case s.loading != "":
		return notice("Wait for the look to end: %s", s.loading)
	case s.ran:
		return notice("These choices were carried out. l looks again.")
	case o.Choice == record.EnterID:
		return s.openBox()
	case len(f.Looks) == 0 && o.Choice != record.Abandon:
		return notice("%s was not looked at yet. l looks at the cloud; nothing is sent by looking.", f.ID)
	}
	return s.ask(f, o)
}

// ask confirms an option as far as it needs it, then decides.
func (s *Screen) ask(f *recovery.Finding, o recovery.Option) tea.Cmd {
	r, d := refOf(f), decision{option: o, rev: f.Rev, facts: f.Facts, verdict: f.Verdict, looks: f.Looks, at: s.port.Now()}
	take := func() tea.Cmd { return s.decide(r, d) }
	typed := o.Typed
	if typed == "" && (o.Choice == record.DeleteIt || o.Choice == record.Adopt || o.Choice == record.Replace) {
		typed = f.ID
	}
	text := optionText(o)
	confirm := func(title string, typed string, yes func() tea.Cmd) *widget.Dialog {
		return &widget.Dialog{Title: title, Text: text, Confirm: "Choose", Typed: typed, Yes: yes}
	}
	switch {
	case o.Choice == record.Replace: // two approvals in one walk (SAFETY S16)
		s.dialog = confirm("1 of 2: keep it as "+f.ID+" first", "", func() tea.Cmd {
			s.dialog = confirm("2 of 2: then replace "+f.ID, typed, take)
			return nil
		})
	case typed != "":
		s.dialog = confirm(fmt.Sprintf("%s: %s", o.Choice, f.ID), typed, take)
	default:
		return s.decide(r, d)
	}
	return nil
}

func optionText(o recovery.Option) widget.Block {
	var out widget.Block
	for _, l := range []struct{ word, text string }{{"object   ", o.Physical}, {"call     ", o.Call}, {"loss     ", o.Loss}, {"follows  ", o.Follows}} {
		if l.text == "" {
			continue
		}
		for i, t := range widget.Wrap(l.text, dialogWidth-9) {
			word := l.word
			if i > 0 {
				word = strings.Repeat(" ", 9)
			}
			out = append(out, widget.L(widget.T(theme.Dim, word), widget.T(theme.Plain, t)))
		}
	}
	return out
}

// decide keeps a choice on the screen and goes to the next record that has none, or after the last to the summary.
func (s *Screen) decide(r ref, d decision) tea.Cmd {
	s.decided[r] = d
	for n := 1; n < len(s.list); n++ {
		i := (s.at + n) % len(s.list)
		if _, done := s.decided[refOf(&s.list[i])]; !done {
			s.at, s.page, s.scroll = i, pageStep, widget.Scroll{}
			return nil
		}
	}
	return s.summary()
}

// next goes n records on and stops at the ends.
func (s *Screen) next(n int) {
	s.at = min(max(s.at+n, 0), max(len(s.list)-1, 0))
	s.page, s.scroll = pageStep, widget.Scroll{}
}

// summary asks for the last time, with every call that follows from the choices.
func (s *Screen) summary() tea.Cmd {
	switch {
	case s.loading != "":
		return notice("Wait for the look to end: %s", s.loading)
	case s.ran:
		return notice("These choices were carried out. l looks again.")
	case len(s.decided) == 0 && s.sum.Hold == nil:
		return notice("Nothing is chosen yet. C takes the choice under the cursor.")
	case s.sum.Hold != nil && screen.HolderRuns(s.sum):
		return notice("Execution %s is still running (pid %d on %s). Wait for it; nothing is taken from a live run.",
			s.sum.Hold.Execution, s.sum.Hold.Owner.PID, s.sum.Hold.Owner.Host)
	}
	d := &widget.Dialog{Title: "Carry out in " + s.stack.String() + "?", Text: s.summaryText(), Confirm: "Carry out", Yes: s.start}
	if s.sum.Hold != nil && !screen.HolderDead(s.sum) {
		d.Text = append(d.Text, widget.Paragraph(theme.Bad, "Nobody can tell from here whether the holder still runs: "+screen.HoldLine(s.sum)+
			". If it does, two runs change one stack. Make sure that it has ended.", 0, dialogWidth)...)
		d.Typed = s.sum.Hold.Execution
	}
	s.dialog = d
	return nil
}

// summaryText lists each record with its choice, the call and the loss, and says how the hold is taken.
func (s *Screen) summaryText() widget.Block {
	out := widget.Block{widget.L(widget.T(theme.Strong, fmt.Sprintf("decided %d of %d", len(s.decided), len(s.list))))}
	for i := range s.list {
		f := &s.list[i]
		d, ok := s.decided[refOf(f)]
		if !ok {
			out = append(out, widget.L(widget.T(theme.Dim, ". later    "), widget.T(theme.Strong, f.ID), widget.T(theme.Dim, "  stays uncertain")))
			continue
		}
		object := d.option.Physical
		if len(f.Candidates) > 1 && object != "" {
			object = strings.TrimPrefix(optionName(d.option, f), string(d.option.Choice)+" ")
		}
		out = append(out, widget.L(widget.T(theme.Info, "o "), widget.Cell(theme.Info, string(d.option.Choice), 9), widget.T(theme.Strong, f.ID),
			widget.T(theme.Dim, "  "+object)))
		out = append(out, widget.Paragraph(theme.Plain, sentence(d.option), 4, dialogWidth)...)
	}
	out = append(out, widget.Line{})
	if h := s.sum.Hold; h != nil {
		out = append(out, widget.Paragraph(theme.Warn, fmt.Sprintf("First it takes the hold of %s: %s. The calls of that run are waited out.",
			h.Execution, screen.HolderWord(s.sum)), 0, dialogWidth)...)
	}
	return append(out, widget.Paragraph(theme.Dim, "Each record is looked at again. What moved is void and left as it is.", 0, dialogWidth)...)
}

// decisions are the choices as the engine takes them, in the order of the records.
func (s *Screen) decisions() []record.Decision {
	var out []record.Decision
	for i := range s.list {
		f := &s.list[i]
		if d, ok := s.decided[refOf(f)]; ok {
			out = append(out, record.Decision{Stack: s.stack, ID: f.ID, Gen: f.Gen, Rev: d.rev, Facts: d.facts, Verdict: string(d.verdict),
				Choice: d.option.Choice, Physical: d.option.Physical, At: d.at, Looks: d.looks})
		}
	}
	return out
}

// start keeps the decisions and opens the run that carries them out.
func (s *Screen) start() tea.Cmd {
	request := deploy.RecoverRequest{Stack: s.stack, Decide: s.decisions()}
	if s.sum.Hold != nil {
		request.TakeHold = s.sum.Hold.Execution
	}
	command := s.Command()
	s.decided, s.ran = map[ref]decision{}, true
	return screen.Tell(screen.Open{Screen: execution.New(s.parent, execution.Run{
		Title: "recover › " + s.stack.String(), Command: command, Now: s.port.Now,
		Start: func(ctx context.Context, sink event.Sink) (deploy.Outcome, error) {
			return s.carryOut(ctx, request, sink)
		},
		Next: execution.Offer{Key: "D", Word: "deploy…", Help: "look at the cloud, plan what is left, and review it for the deploy that finishes; nothing is sent yet",
			Open: func() screen.Screen { return s.replan(s.stack) }}})})
}

// carryOut keeps the decisions, then has them carried out. A decision that cannot be kept stops it before anything is sent.
func (s *Screen) carryOut(ctx context.Context, r deploy.RecoverRequest, sink event.Sink) (deploy.Outcome, error) {
	for i := range r.Decide {
		r.Decide[i].Who = s.port.Who()
		if err := s.port.Decide(ctx, r.Decide[i]); err != nil {
			return deploy.Outcome{Exit: 1}, fmt.Errorf("keep decision of %s: %w; nothing was sent", r.Decide[i].ID, err)
		}
	}
	return s.port.Recover(ctx, r, sink)
}

// Command is the command with the same choices.
func (s *Screen) Command() string {
	words := []string{"reclaim", "recover", s.word}
	if s.sum.Hold != nil {
		words = append(words, "--take-hold", s.sum.Hold.Execution)
	}
	for _, d := range s.decisions() {
		choice := d.ID + "=" + string(d.Choice)
		if d.Physical != "" {
			choice += ":" + d.Physical
		}
		words = append(words, "--decide", choice)
	}
	return screen.Shell(words...)
}

// entry is the box that an ID is typed into.
type entry struct {
	ref  ref
	text string
}

// openBox opens the box for an ID, where the finding offers it.
func (s *Screen) openBox() tea.Cmd {
	f := s.current()
	if f == nil {
		return notice("Nothing is uncertain; there is no ID to enter.")
	}
	if s.loading != "" {
		return notice("Wait for the look to end: %s", s.loading)
	}
	if _, ok := f.Option(record.EnterID, ""); !ok {
		return notice("For %s no ID has to be entered: the look found what there is.", f.ID)
	}
	s.box = &entry{ref: refOf(f)}
	return nil
}

func (s *Screen) boxKeys() widget.Keymap {
	return widget.Keymap{Modal: true, Keys: []widget.Key{
		{Names: []string{"enter"}, Show: "enter", Word: "look it up", Help: "look the ID up and judge it; nothing is accepted before", Do: s.enterID},
		{Names: []string{"esc"}, Show: "esc", Word: "cancel", Help: "leave without an ID", Do: func() tea.Cmd { s.box = nil; return nil }},
		{Names: []string{"backspace"}, Show: "⌫", Word: "correct", Help: "take the last letter back", Do: func() tea.Cmd {
			_, n := utf8.DecodeLastRuneInString(s.box.text)
			s.box.text = s.box.text[:len(s.box.text)-n]
			return nil
		}},
	}, Text: func(t string) tea.Cmd {
		if len(s.box.text)+len(t) <= 2048 {
			s.box.text += t
		}
		return nil
	}}
}

// enterID looks the typed ID up; it becomes a candidate only by being judged (SAFETY S15).
func (s *Screen) enterID() tea.Cmd {
	e := s.box
	s.box = nil
	physical := strings.TrimSpace(e.text)
	if physical == "" {
		return notice("No ID was typed.")
	}
	s.loading = "looking " + physical + " up…"
	return func() tea.Msg {
		f, err := s.port.Enter(s.ctx, s.stack, e.ref.id, e.ref.gen, physical)
		return entered{of: s, ref: e.ref, finding: f, err: err}
	}
}
