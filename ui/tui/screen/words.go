package screen

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"reclaim/engine/record"
)

// Age says how long before now at was: "4s ago", "12m ago", "3h ago", "5d ago". A zero time is "never". A time that
// the service's clock puts after ours is "just now".
func Age(now, at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	d := now.Sub(at)
	switch {
	case d < time.Second:
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(d.Hours())/24)
}

// Span says a duration as a watch would: "0:07", "12:31", "1:02:03".
func Span(d time.Duration) string {
	s := int(max(d, 0) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// ShortType drops the vendor of a CloudFormation type: "IAM::Role".
func ShortType(typ string) string { return strings.TrimPrefix(typ, "AWS::") }

// ShortPrint is a fingerprint as screens show it; CommandPrint as commands take it for the last plan of a stack.
func ShortPrint(fingerprint string) string   { return fingerprint[:min(len(fingerprint), 8)] }
func CommandPrint(fingerprint string) string { return fingerprint[:min(len(fingerprint), 12)] }

// LastRun says when the stack was last worked on: "deploy 3h ago", "deploy died, began 5s ago", "never run".
func LastRun(sum StackSummary, now time.Time) string {
	switch h := sum.Hold; {
	case h != nil && HolderRuns(sum):
		return h.Verb + " running, began " + Age(now, h.Since)
	case h != nil && HolderDead(sum):
		return h.Verb + " died, began " + Age(now, h.Since)
	case h != nil:
		return h.Verb + " unknown, began " + Age(now, h.Since)
	case sum.Last == nil:
		return "never run"
	case sum.Last.Ended.IsZero():
		return sum.Last.Verb + " did not end"
	}
	return sum.Last.Verb + " " + Age(now, sum.Last.Ended)
}

// HoldWord says in a few words who holds a stack: "hold none", "held by e-9c41".
func HoldWord(sum StackSummary) string {
	if sum.Hold == nil {
		return "hold none"
	}
	return "held by " + sum.Hold.Execution
}

// HoldLine says all of it: "hold: e-9c41, ops on ci-7, pid 48213 is dead (boot id, start time checked)".
func HoldLine(sum StackSummary) string {
	h := sum.Hold
	if h == nil {
		return "hold: none. Nobody is changing this stack."
	}
	return fmt.Sprintf("hold: %s, %s on %s, %s", h.Execution, h.Owner.User, h.Owner.Host, HolderWord(sum))
}

// HolderWord says whether the holder lives: "pid 48213 is dead (boot id, start time checked)".
func HolderWord(sum StackSummary) string {
	return fmt.Sprintf("pid %d is %s", sum.Hold.Owner.PID, cmp.Or(sum.HoldAlive, "unknown"))
}

// HolderDead reports whether the hold's process is known to have ended.
func HolderDead(sum StackSummary) bool { return strings.HasPrefix(sum.HoldAlive, "dead") }

// HolderRuns reports whether the hold's process is known to be running.
func HolderRuns(sum StackSummary) bool { return strings.HasPrefix(sum.HoldAlive, "running") }

// ScopeFlag is the part of a command that names the stack's scope; nothing for a stack of this machine only.
func ScopeFlag(s record.StackID) []string {
	if s.Scope.IsLocal() {
		return nil
	}
	return []string{"--scope", s.Scope.String()}
}

// Shell joins words into a command line that a POSIX shell with $'…' reads back as exactly these words. No control
// character is ever part of it.
func Shell(words ...string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quote(w)
	}
	return strings.Join(out, " ")
}

func quote(w string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("@%+=:,./_-", r)
	}
	if w != "" && strings.IndexFunc(w, func(r rune) bool { return !safe(r) }) < 0 {
		return w
	}
	plain := func(r rune) bool { return r >= 0x20 && r < 0x7f }
	if strings.IndexFunc(w, func(r rune) bool { return !plain(r) }) < 0 {
		return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(w) {
		switch c := w[i]; {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c >= 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + "'"
}
