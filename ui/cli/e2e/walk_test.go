package e2e

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"reclaim/providers/awssim"
)

// Names in testdata/stacks/checkout.yaml.
const (
	stack  = "checkout@" + scope + "+sim-e2e"
	groups = "/shop/checkout"
)

// crash deploys the checkout stack and kills it with SIGKILL: the role and the API were executed and never answered, and
// somebody else made the log group just before ours arrived. Then somebody copies the API, tags and all.
func (w *world) crash() (made, copied string) {
	w.t.Helper()
	w.example("checkout.yaml")
	w.late("CreateRole", time.Hour)
	w.late("CreateApi", time.Hour)
	w.cloud.AddFault(awssim.Fault{Operation: "CreateLogGroup", Kind: awssim.AnsweredLate, Delay: time.Hour, Then: []awssim.Action{
		{Op: "CreateLogGroup", Params: map[string]any{"logGroupName": groups}, Tags: map[string]string{"team": "search"}}}})
	p := w.start("deploy", "checkout.yaml", "--yes", "--scope", scope)
	w.until("all three creates have arrived", func() bool {
		return w.sent("CreateRole") == 1 && w.sent("CreateApi") == 1 && w.sent("CreateLogGroup") == 1 && len(w.cloud.State().Apis) == 1
	})
	p.kill()
	w.cloud.ClearFaults()
	api := w.cloud.State().Apis[0]
	if err := w.cloud.Do(awssim.Action{Op: "CreateApi", Tags: api.Tags, Params: map[string]any{"name": "checkout", "protocolType": "HTTP"}}); err != nil {
		w.t.Fatal(err)
	}
	for _, a := range w.cloud.State().Apis {
		if a.ID != api.ID {
			copied = a.ID
		}
	}
	return api.ID, copied
}

// nonces are the nonces of the intents, by logical ID, as the store has them.
func (w *world) nonces() map[string]string {
	w.t.Helper()
	var r struct {
		Records []struct {
			ID     string
			Intent *struct{ Nonce string }
		}
	}
	w.exits(0, "state", "list", "--json").decode(w.t, &r)
	out := map[string]string{}
	for _, rec := range r.Records {
		if rec.Intent != nil {
			out[rec.ID] = rec.Intent.Nonce
		}
	}
	return out
}

// The test of it all: a deploy is killed in the middle of three creates, and an operator recovers it by keys alone. The
// cloud is asked afterwards.
func TestAKilledDeployIsRecoveredByKeys(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		for _, choice := range []string{"abandon", "adopt"} {
			t.Run(fmt.Sprintf("%dx%d, the stranger's group: %s", size[0], size[1], choice), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				s := w.terminal(size[0], size[1])
				made, copied := w.crash()
				nonces, asked := w.nonces(), w.changes()
				if held := w.status(); len(held.Uncertain) != 3 || held.Hold == nil || held.Hold.Alive != "no" {
					t.Fatalf("the crash left %+v, want three uncertain creates and the hold of a dead process", held)
				}
				w.walk(s, made, copied, choice)
				w.recovered(nonces, made, copied, choice)
				if choice == "abandon" && w.changes() != asked+1 {
					t.Errorf("%d changing calls were sent, want the one that completes the role", w.changes()-asked)
				}
				s.press("q")
				s.shows("Nothing is uncertain")
				s.press("q")
				s.shows("0 uncertain creates")
				s.press("q")
				s.restored(0)
			})
		}
	}
}

// walk goes through the three records by keys alone and leaves the result of the run on the screen.
func (w *world) walk(s *screen, made, copied, choice string) {
	w.t.Helper()
	asked := w.changes()
	s.command("reclaim")
	s.shows("3 uncertain", "checkout@"+scope, "1 held")
	s.press("R")
	s.shows("Not looked at yet", "take-hold")
	s.press("l")
	for n := range 3 { // in the order in which the creates were begun
		w.choose(s, s.shows(fmt.Sprintf("decided %d of 3", n), "looked "), made, copied, choice)
	}
	summary := []string{"Carry out in " + stack, "takes the hold of", "reclaim  CheckoutRole", made, "[> Cancel <]"}
	s.shows(summary...) // the last choice opens it
	s.press("Escape")
	s.shows("decided 3 of 3")
	if w.changes() != asked {
		w.t.Errorf("%d changing calls were sent before the summary was confirmed", w.changes()-asked)
	}
	s.press("s")
	s.shows(summary...)
	s.press("Tab")
	s.shows("[> Carry out <]")
	s.press("Enter")
	s.shows("The run has ended", "exit 0")
}

// choose decides the record that is on the screen.
func (w *world) choose(s *screen, text, made, copied, choice string) {
	w.t.Helper()
	switch {
	case strings.Contains(text, "CheckoutRole  IAM::Role"):
		wants(w.t, "the role's record", text, "VERDICT  ours", ">  reclaim")
		s.press("C")
	case strings.Contains(text, "CheckoutApi  ApiGatewayV2::Api"):
		wants(w.t, "the API's record", text, "VERDICT  ambiguous", "reclaim 1", "reclaim 2")
		s.press("d") // the candidates against what was intended
		s.shows("CANDIDATE")
		s.press("d")
		if strings.Contains(text, "reclaim 2 "+made) {
			s.press("Down")
		}
		s.press("C")
	case strings.Contains(text, "CheckoutLogs  Logs::LogGroup"):
		wants(w.t, "the log group's record", text, "VERDICT  unproven", "adopt", "abandon")
		if choice == "abandon" {
			s.press("Down", "Down", "C")
			return
		}
		s.press("C")
		s.shows("Type " + groups)
		s.types(groups)
		s.press("Enter")
	default:
		w.t.Fatalf("no record is on the screen:\n%s", text)
	}
}

// recovered asks the cloud and the store what became of the three records.
func (w *world) recovered(nonces map[string]string, made, copied, choice string) {
	w.t.Helper()
	state := w.cloud.State()
	if w.sent("CreateRole") != 1 || len(state.Roles) != 1 {
		w.t.Errorf("%d CreateRole were sent and there are %d roles, want one of each", w.sent("CreateRole"), len(state.Roles))
	}
	for _, r := range state.Roles {
		if r.Tags["reclaim:nonce"] != nonces["CheckoutRole"] || len(r.Inline) != 1 {
			w.t.Errorf("the role has the nonce %q and %d inline policies, want %q and the one of the template", r.Tags["reclaim:nonce"], len(r.Inline), nonces["CheckoutRole"])
		}
	}
	var ids []string
	for _, a := range state.Apis {
		ids = append(ids, a.ID)
	}
	slices.Sort(ids)
	if want := slices.Sorted(slices.Values([]string{made, copied})); w.sent("CreateApi") != 1 || !slices.Equal(ids, want) {
		w.t.Errorf("%d CreateApi were sent and the APIs are %q, want 1 and %q", w.sent("CreateApi"), ids, want)
	}
	touched := map[string]int{}
	for _, r := range w.cloud.Log() {
		if r.Changing && strings.Contains(r.Target+fmt.Sprint(r.Params), copied) {
			touched["the copy of the API: "+r.Operation]++
		}
		if r.Changing && choice == "abandon" && strings.Contains(fmt.Sprint(r.Params), groups) && r.Operation != "CreateLogGroup" {
			touched["the stranger's group: "+r.Operation]++
		}
	}
	if len(touched) > 0 {
		w.t.Errorf("these were changed and are not ours: %v", slices.Sorted(maps.Keys(touched)))
	}
	w.group(choice)
	after := w.status()
	if len(after.Uncertain) != 0 || after.Hold != nil {
		w.t.Errorf("status says %v is uncertain and the hold is %+v, want neither", after.Uncertain, after.Hold)
	}
	if want := map[string]int{"abandon": 1}[choice]; after.Tombs != want {
		w.t.Errorf("%d tombstones, want %d", after.Tombs, want)
	}
}

// group asks the cloud what became of the stranger's log group.
func (w *world) group(choice string) {
	w.t.Helper()
	list := w.cloud.State().LogGroups
	if len(list) != 1 {
		w.t.Fatalf("there are %d log groups, want the stranger's", len(list))
	}
	g := list[0]
	want := map[string]string{"team": "search"}
	if choice == "adopt" {
		want["reclaim:stack"], want["reclaim:resource"], want["reclaim:store"] = stack, "CheckoutLogs", g.Tags["reclaim:store"]
		if g.RetentionInDays != 30 || g.Tags["reclaim:store"] == "" {
			w.t.Errorf("the adopted group keeps its events %d days and has the tags %v, want 30 and the store's", g.RetentionInDays, g.Tags)
		}
	}
	if !maps.Equal(g.Tags, want) { // S4: an adoption writes no nonce
		w.t.Errorf("the group's tags are %v, want %v", g.Tags, want)
	}
}

func TestAPlanIsReviewedApprovedAndDeployedByKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.terminal(80, 24)
	w.example("checkout.yaml")
	w.exits(0, "plan", "checkout.yaml")
	s.command("reclaim")
	s.shows("checkout@" + scope)
	s.press("Enter")
	s.shows("4 create", "approved 0 of the 4")
	s.press("D") // nothing is approved: nothing may run
	s.press("A")
	s.shows("approved 1 of the 4")
	s.press("B")
	s.shows("Type 3 ")
	s.types("3")
	s.press("Enter")
	s.shows("approved 4 of the 4")
	s.press("D")
	s.shows("[> Cancel <]")
	s.press("Enter") // on Cancel
	s.shows("approved 4 of the 4")
	if w.changes() != 0 {
		t.Fatalf("%d changing calls were sent before the deploy was confirmed", w.changes())
	}
	s.press("D")
	s.shows("[> Cancel <]")
	s.press("Tab")
	s.shows("[> Deploy <]")
	s.press("Enter")
	s.shows("The run has ended", "exit 0", "4 of 4 settled")
	if b, err := os.ReadFile(w.path("out/checkout.env")); err != nil || !strings.Contains(string(b), "CHECKOUT_ROLE=arn:aws:iam::123456789012:role/checkout-CheckoutRole-") {
		t.Errorf("the file of the stack is %q, %v", b, err)
	}
	s.press("q")
	s.press("q")
	s.press("q")
	s.restored(0)
	r := w.exits(0, "plan", "checkout.yaml", "--detailed-exitcode")
	wants(t, "the next plan", r.stdout, "No changes")
}
