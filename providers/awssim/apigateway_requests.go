package awssim

import (
	"strings"
)

// RouteRequest returns the integration that a request to an HTTP API would be handed to: that of the route that fits best,
// as the stage's deployment has it. path is without the stage and without a query. ok is false where the API would answer
// for itself: no such API or stage, nothing deployed, no route, a route without an integration.
func (s *Server) RouteRequest(apiID, stage, method, path string) (integration Integration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := find(s.state.Apis, func(p *Api) bool { return p.ID == apiID && p.Protocol == "HTTP" })
	if p == nil {
		return Integration{}, false
	}
	st := findChild(p.Stages, stage)
	if st == nil {
		return Integration{}, false
	}
	d := findChild(p.Deployments, st.DeploymentID)
	if d == nil {
		return Integration{}, false
	}
	best, rank := -1, fit{}
	for i, r := range d.Routes {
		if f, fits := fitOf(r.RouteKey, method, path); fits && (best < 0 || f.better(rank)) {
			best, rank = i, f
		}
	}
	if best < 0 || d.Routes[best].Integration == nil {
		return Integration{}, false
	}
	return *d.Routes[best].Integration, true
}

// fit says how closely a route key fits a request, the first that differs deciding: no $default; no greedy variable; the more
// literal from the left; a method of its own.
type fit struct {
	keyed, whole bool
	segments     string // one letter each: b literal, a variable; the later in the alphabet the closer
	method       bool
}

func (f fit) better(o fit) bool {
	switch {
	case f.keyed != o.keyed:
		return f.keyed
	case f.whole != o.whole:
		return f.whole
	case f.segments != o.segments:
		return f.segments > o.segments
	default:
		return f.method && !o.method
	}
}

func fitOf(key, method, path string) (fit, bool) {
	if key == anyRoute {
		return fit{}, true
	}
	verb, pattern, _ := strings.Cut(key, " ")
	if verb != "ANY" && verb != method {
		return fit{}, false
	}
	out := fit{keyed: true, whole: true, method: verb != "ANY"}
	want, have := strings.Split(strings.TrimPrefix(pattern, "/"), "/"), strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, w := range want {
		switch {
		case strings.HasSuffix(w, "+}"):
			out.whole = false
			return out, i < len(have) && have[i] != ""
		case i >= len(have):
			return fit{}, false
		case strings.HasPrefix(w, "{"):
			if have[i] == "" {
				return fit{}, false
			}
			out.segments += "a"
		case w == have[i]:
			out.segments += "b"
		default:
			return fit{}, false
		}
	}
	return out, len(want) == len(have)
}
