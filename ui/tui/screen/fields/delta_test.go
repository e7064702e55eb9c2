package fields

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"reclaim/engine/diff"
	"reclaim/engine/value"
)

func policyField() diff.Field {
	statement := func(sid, resource string, actions ...string) any {
		return map[string]any{"Sid": sid, "Effect": "Allow", "Action": actions, "Resource": resource}
	}
	return diff.Field{Path: "PolicyDocument", Verdict: diff.Differs, By: diff.ByConfig,
		Desired: value.Of(map[string]any{"Version": "2012-10-17", "Statement": []any{
			statement("read", "arn:aws:dynamodb:eu-west-1:123456789012:table/orders", "dynamodb:GetItem", "dynamodb:Query"),
			map[string]any{"Sid": "logs", "Effect": "Allow", "Action": "logs:PutLogEvents", "Resource": value.Wait("OrdersLogs.Arn")}}}),
		Observed: value.Of(map[string]any{"Version": "2012-10-17", "Statement": []any{
			statement("read", "arn:aws:dynamodb:eu-west-1:123456789012:table/orders-old", "dynamodb:GetItem"),
			statement("admin", "*", "iam:*")}})}
}

func TestDeltaOfAPolicy(t *testing.T) {
	for why, c := range map[string]struct {
		width int
		want  string
	}{
		"one below the other where it is narrow": {66, `
   ~ PolicyDocument
     ~ Statement
       ~ [Sid=read]
         ~ Action
           = 1 the same
           + dynamodb:Query
         ~ Resource
             - arn:aws:dynamodb:eu-west-1:123456789012:table/order
               s‹-old›
             + arn:aws:dynamodb:eu-west-1:123456789012:table/order
               s
         = 2 the same
       + [Sid=logs]
         + Action  logs:PutLogEvents
         + Effect  Allow
         ? Resource  (known after OrdersLogs.Arn)
         + Sid  logs
       - [Sid=admin]
         - Action  iam:*
         - Effect  Allow
         - Resource  *
         - Sid  admin
     = 1 the same
`},
		"side by side where there is room": {110, `
   ~ PolicyDocument
     ~ Statement
       ~ [Sid=read]
         ~ Action
           = 1 the same
           +                          dynamodb:Query                     │
         ~ Resource                   arn:aws:dynamodb:eu-west-1:1234567 │ arn:aws:dynamodb:eu-west-1:1234567
                                      89012:table/orders                 │ 89012:table/orders‹-old›
         = 2 the same
       + [Sid=logs]
         + Action                     logs:PutLogEvents                  │
         + Effect                     Allow                              │
         ? Resource                   (known after OrdersLogs.Arn)       │
         + Sid                        logs                               │
       - [Sid=admin]
         - Action                                                        │ iam:*
         - Effect                                                        │ Allow
         - Resource                                                      │ *
         - Sid                                                           │ admin
     = 1 the same
`},
	} {
		t.Run(why, func(t *testing.T) {
			var got []string
			for l := range strings.SplitSeq(Delta(policyField(), c.width, false).Text(), "\n") {
				got = append(got, strings.TrimRight(l, " "))
			}
			if d := cmp.Diff(strings.Split(c.want[1:], "\n"), got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestSectionsTakeApartWhatCellsCannotHold(t *testing.T) {
	list := []diff.Field{policyField(),
		{Path: "Timeout", Verdict: diff.Differs, Desired: value.Of(30), Observed: value.Of(10)},
		{Path: "Secret", Verdict: diff.Differs, Desired: value.Of(strings.Repeat("s", 200)).AsSensitive(), Observed: value.Of("x").AsSensitive()},
		{Path: "Code", Verdict: diff.Unknown, Desired: value.Wait("Bundle.Sha256"), Observed: value.Of("j3Qx"), Reason: "known after Bundle.Sha256"},
		{Path: "Filled", Verdict: diff.Unverified, By: diff.ByCloud, Observed: value.Of(map[string]any{"Mode": "Active"})}}
	for _, width := range []int{60, 120} {
		got := Sections(list, width, true).Text()
		for _, want := range []string{"Timeout", "(sensitive)", "known after Bundle.Sha256", "+ [Sid=logs]", "Filled", "Mode  Active"} {
			if !strings.Contains(got, want) {
				t.Errorf("at %d: no %q in\n%s", width, want, got)
			}
		}
		if strings.Contains(got, "sss") {
			t.Errorf("at %d: a sensitive value is shown", width)
		}
	}
}

// Two cells of JSON look the same: the table counts what is different inside, and Deltas shows it.
func TestTableCountsWhatIsDifferentInside(t *testing.T) {
	f := policyField()
	if got := Table([]diff.Field{f}, 80, true).Text(); !strings.Contains(got, "+4 -4 ~2") || !strings.Contains(got, "DIFFERS inside") {
		t.Errorf("no count in\n%s", got)
	}
	got := Deltas([]diff.Field{f, {Path: "Timeout", Verdict: diff.Differs, Desired: value.Of(30), Observed: value.Of(10)}}, 80).Text()
	if !strings.Contains(got, "+ [Sid=logs]") || strings.Contains(got, "Timeout") {
		t.Errorf("got\n%s", got)
	}
	f.Desired = f.Desired.AsSensitive()
	if got := Table([]diff.Field{f}, 80, true).Text(); strings.Contains(got, "inside") {
		t.Errorf("a sensitive value was taken apart:\n%s", got)
	}
}

func TestDeltaOfAnythingFitsItsWidth(t *testing.T) {
	text := rapid.StringOf(rapid.RuneFrom([]rune("ab é注👨\u200d\u0301\x1b\n\u202e{}:\"")))
	rapid.Check(t, func(t *rapid.T) {
		deep := func(label string) value.Value {
			v := value.Of(strings.Repeat(text.Draw(t, label), rapid.IntRange(1, 40).Draw(t, "times")))
			for range rapid.IntRange(0, 20).Draw(t, "depth") {
				v = value.Of(map[string]any{"K": v, text.Draw(t, "key"): []any{v}})
				if len(v.String()) > 20_000 {
					break
				}
			}
			return v
		}
		f, width := diff.Field{Path: value.Path(text.Draw(t, "path")), Desired: deep("desired"), Observed: deep("observed")}, rapid.IntRange(40, 200).Draw(t, "width")
		for _, l := range Delta(f, width, rapid.Bool().Draw(t, "all")) {
			if got := l.Width(); got > width {
				t.Fatalf("a line of %d cells at %d: %v", got, width, l.Spans)
			}
		}
	})
}
