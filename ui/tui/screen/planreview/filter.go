package planreview

import (
	"cmp"
	"slices"
	"strings"

	"reclaim/engine/diff"
	"reclaim/engine/plan"
	"reclaim/ui/tui/screen"
)

// The words that a filter may begin with: what the rest is looked for in. A word without one is looked for in what the
// list shows of an item.
const (
	byAction  = "action:"
	byType    = "type:"
	byVerdict = "verdict:"
)

// matches reports whether an item holds every word of the filter. The verdict is of a field that config sets, or of the
// finding.
func (s *Screen) matches(it *plan.Item) bool {
	for _, w := range strings.Fields(strings.ToLower(s.filter)) {
		if !holds(it, w) {
			return false
		}
	}
	return true
}

func holds(it *plan.Item, w string) bool {
	has := func(texts ...string) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), w) })
	}
	for _, key := range []string{byAction, byType, byVerdict} {
		rest, ok := strings.CutPrefix(w, key)
		if !ok {
			continue
		}
		switch w = rest; key {
		case byAction:
			return has(string(it.Action))
		case byType:
			return has(it.Type)
		default:
			return has(verdicts(it)...)
		}
	}
	return has(it.ID, it.Type, string(it.Action), string(it.Reason), it.Physical)
}

// verdicts are the words that verdict: finds an item by; one word each.
func verdicts(it *plan.Item) []string {
	var out []string
	add := func(v string) {
		if v = strings.ReplaceAll(v, " ", "-"); v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	if it.Finding != nil {
		add(string(it.Finding.Verdict))
	}
	for _, f := range it.Fields {
		if f.By != diff.ByCloud {
			add(string(f.Verdict))
		}
	}
	return out
}

// choices are what the last word of the filter could become, from what there is in the plan.
func (s *Screen) choices() []string {
	last := s.filter[strings.LastIndex(s.filter, " ")+1:]
	of := map[string]func(*plan.Item) []string{
		byAction:  func(it *plan.Item) []string { return []string{string(it.Action)} },
		byType:    func(it *plan.Item) []string { return []string{screen.ShortType(it.Type)} },
		byVerdict: verdicts,
	}
	for key, values := range of {
		if !strings.HasPrefix(last, key) || s.plan == nil {
			continue
		}
		var out []string
		for i := range s.plan.Items {
			for _, v := range values(&s.plan.Items[i]) {
				out = append(out, key+v)
			}
		}
		slices.SortFunc(out, cmp.Compare)
		return slices.Compact(out)
	}
	return []string{byAction, byType, byVerdict}
}

// complete puts the next choice in the place of the filter's last word.
func (s *Screen) complete() {
	from := strings.LastIndex(s.filter, " ") + 1
	last, list := s.filter[from:], s.choices()
	if len(list) == 0 {
		return
	}
	i := slices.Index(list, last) + 1
	if i == 0 {
		i = max(slices.IndexFunc(list, func(c string) bool { return strings.HasPrefix(strings.ToLower(c), strings.ToLower(last)) }), 0)
	}
	s.filter = s.filter[:from] + list[i%len(list)]
	s.arrange()
}
