package cli

import (
	"context"
	"time"

	"reclaim/engine/plan"
	"reclaim/engine/resource"
	"reclaim/ui/text"
)

// warnLifetime says, before the first change, when the credentials at hand run out earlier than the plan is likely to be
// done. It refuses nothing: whatever gave them may give new ones in time, which cannot be seen from here.
func (s *session) warnLifetime(ctx context.Context, w *work, p *plan.Plan, parallel int) {
	cloud, ok := w.cloud.(resource.Expirer)
	if !ok {
		return
	}
	at, known := cloud.Expires(ctx)
	if !known {
		return
	}
	schemas, _ := s.schemaOf()
	left, span := time.Until(at), plan.Estimate(p, schemas, parallel)
	const then = "The SDK renews them where it can; where it cannot, what is under way then is finished and recorded, and the rest is left. To renew them first: %s"
	switch {
	case left < span.Least:
		s.note("warning: the credentials run out at %s, in %s, and this plan takes hardly less than %s. "+then, text.Stamp(at),
			rounded(left), rounded(span.Least), cloud.Renew())
	case left < span.Most:
		s.note("the credentials run out at %s, in %s, and this plan may take up to %s if services take all the time they are given. "+then,
			text.Stamp(at), rounded(left), rounded(span.Most), cloud.Renew())
	}
}

func rounded(d time.Duration) time.Duration { return max(0, d.Round(time.Second)) }
