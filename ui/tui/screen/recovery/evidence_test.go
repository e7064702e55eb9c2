package recovery

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"reclaim/engine/record"
	"reclaim/engine/recovery"
	"reclaim/ui/tui/screen"
)

func lines(side recovery.Side, candidate, n int) []recovery.Line {
	var out []recovery.Line
	for i := range n {
		out = append(out, recovery.Line{Side: side, Candidate: candidate, Text: fmt.Sprintf("%s reason %d", side, i+1), Source: "GetThing"})
	}
	return out
}

func finding(l ...[]recovery.Line) *recovery.Finding {
	f := &recovery.Finding{ID: "Thing"}
	for _, some := range l {
		f.Lines = append(f.Lines, some...)
	}
	return f
}

// S15: however short the screen is, what is against and what is missing is said, and so is how much is not shown.
func TestEvidenceAgainstAndMissingIsSaidAtEveryHeight(t *testing.T) {
	for why, f := range map[string]*recovery.Finding{
		"a dash where there is none":   finding(lines(recovery.For, 0, 5), lines(recovery.Neutral, 0, 3)),
		"the lines where there are":    finding(lines(recovery.For, 0, 5), lines(recovery.Against, 0, 2), lines(recovery.Missing, 0, 3)),
		"no evidence at all is dashes": finding(),
	} {
		for _, width := range []int{40, 80, 200} {
			for height := 1; height <= 16; height++ {
				got := evidence(f, screen.Frame{Width: width, Now: time.Unix(0, 0)}, height)
				text := got.Text()
				if len(got) > height || !strings.Contains(text, "against") || !strings.Contains(text, "missing") {
					t.Errorf("%s: %d×%d:\n%s", why, width, height, text)
				}
			}
		}
	}
}

func TestFoldedEvidenceIsCountedBySide(t *testing.T) {
	f := finding(lines(recovery.For, 0, 4), lines(recovery.Neutral, 0, 2), lines(recovery.Missing, 0, 1))
	text := evidence(f, screen.Frame{Width: 80}, 5).Text()
	for _, want := range []string{"for      for reason 1", "for      for reason 2", "against  -", "missing  missing reason 1", "… +2 for, +2 neutral; enter shows all"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
}

// What sets candidates apart is what an operator chooses by: it stands alone, and what holds for all of them only once.
func TestEvidenceOfCandidatesSaysWhatSetsThemApart(t *testing.T) {
	f := finding(lines(recovery.For, 1, 1), lines(recovery.For, 2, 2), lines(recovery.Neutral, 0, 1))
	f.Candidates = []recovery.Candidate{{N: 1, Physical: "a1"}, {N: 2, Physical: "b2"}}
	short := evidence(f, screen.Frame{Width: 80}, 5).Text()
	whole := evidence(f, screen.Frame{Width: 80}, 40).Text()
	for _, want := range []string{"for      both: for reason 1\n", "for      2 b2: for reason 2\n", "against  -", "missing  -"} {
		if !strings.Contains(short, want) {
			t.Errorf("want %q in\n%s", want, short)
		}
	}
	if n := strings.Count(whole, "for reason 1"); n != 1 {
		t.Errorf("what both have is said %d times:\n%s", n, whole)
	}
	if got, want := optionName(recovery.Option{Choice: record.Reclaim, Physical: "b2"}, f), "reclaim 2 b2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestChoiceSaysCallAndLossFirst(t *testing.T) {
	for want, o := range map[string]recovery.Option{
		"no call, no loss; kept":                                   {Call: "none", Loss: "nothing", Follows: "kept"},
		"no call, no loss; it stays in the cloud; a tombstone":     {Call: "none", Loss: "nothing; it stays in the cloud", Follows: "a tombstone"},
		"Delete IAM::Role, loses the role; the record goes":        {Call: "Delete AWS::IAM::Role", Loss: "the role", Follows: "the record goes"},
		"Tag IAM::Role, no loss now; no rollback removes it; kept": {Call: "Tag AWS::IAM::Role", Loss: "nothing now; no rollback removes it", Follows: "kept"},
	} {
		if got := sentence(o); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
