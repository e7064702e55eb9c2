package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/deploy"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/resource"
)

func TestParametersAreTakenFromWhatFollowsTheFlag(t *testing.T) {
	for why, c := range map[string]struct{ args, given, rest, params []string }{
		"without the flag, an argument with = is a file": {args: []string{"A=1"}, rest: []string{"A=1"}},
		"several after the file":                         {args: []string{"f.yaml", "B=2"}, given: []string{"A=1"}, rest: []string{"f.yaml"}, params: []string{"A=1", "B=2"}},
		"several before the file":                        {args: []string{"B=2", "f.yaml"}, given: []string{"A=1"}, rest: []string{"f.yaml"}, params: []string{"A=1", "B=2"}},
		"a path with = in it stays a path":               {args: []string{"./a=b.yaml"}, given: []string{"A=1"}, rest: []string{"./a=b.yaml"}, params: []string{"A=1"}},
		"a file of parameters":                           {args: []string{"f.yaml", "file://p.json"}, given: []string{"A=1"}, rest: []string{"f.yaml"}, params: []string{"A=1", "file://p.json"}},
	} {
		rest, params := splitParameters(c.args, c.given)
		if d := cmp.Diff([][]string{c.rest, c.params}, [][]string{rest, params}); d != "" {
			t.Errorf("%s: %s", why, d)
		}
	}
}

func TestParameterFiles(t *testing.T) {
	for why, c := range map[string]struct {
		file string
		want map[string]string
		err  string
	}{
		"an object":                          {file: `{"A": "1", "N": 7, "B": true, "L": ["x", "y"]}`, want: map[string]string{"A": "1", "N": "7", "B": "true", "L": "x,y"}},
		"CloudFormation's list":              {file: `[{"ParameterKey": "A", "ParameterValue": "1"}]`, want: map[string]string{"A": "1"}},
		"a value keeps its = and its spaces": {file: `{"A": " a=b "}`, want: map[string]string{"A": " a=b "}},
		"a name twice":                       {file: `[{"ParameterKey": "A", "ParameterValue": "1"}, {"ParameterKey": "A", "ParameterValue": "2"}]`, err: "given twice"},
		"a nested object":                    {file: `{"A": {"b": "swordfish"}}`, err: "found object"},
		"UsePreviousValue":                   {file: `[{"ParameterKey": "A", "UsePreviousValue": true}]`, err: "found absent"},
		"no object and no list":              {file: `"A"`, err: "want an object"},
		"broken":                             {file: `{`, err: "read JSON"},
	} {
		path := filepath.Join(t.TempDir(), "p.json")
		if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readParameters([]string{"file://" + path})
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: error %v, want %q", why, err, c.err)
		case c.err != "" && strings.Contains(err.Error(), "swordfish"):
			t.Errorf("%s: the value is in the error", why)
		case c.err == "":
			if d := cmp.Diff(c.want, got); d != "" || err != nil {
				t.Errorf("%s: %v %s", why, err, d)
			}
		}
	}
}

func TestAnErrorNeverRepeatsAParametersValue(t *testing.T) { // S32
	_, err := readParameters([]string{"swordfish"})
	if err == nil || strings.Contains(err.Error(), "swordfish") {
		t.Errorf("got %v", err)
	}
}

func TestPrintedCommandsCanBePasted(t *testing.T) {
	for word, want := range map[string]string{
		"orders-prod@123/eu-west-1+sim": "orders-prod@123/eu-west-1+sim",
		"my file.yaml":                  "'my file.yaml'",
		"it's":                          `'it'\''s'`,
		"$(rm -rf)":                     "'$(rm -rf)'",
		"":                              "''",
		"*":                             "'*'",
	} {
		if got := shellWord(word); got != want {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
	s := &session{App: &App{}, globals: globals{store: "/a b", region: "eu-west-1"}}
	want := "reclaim recover orders --store '/a b' --region eu-west-1"
	if got := s.line("recover", "orders"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// The engine does not know the flags; a command that has them does not get them twice.
	if got := s.complete("reclaim recover orders"); got != want || s.complete(want) != want {
		t.Errorf("completed to %s, then to %s", got, s.complete(want))
	}
}

func TestJSONCarriesNothingThatATerminalActsOn(t *testing.T) {
	r := reply{result: map[string]string{"text": "a\x1b[2J\u009b1m\u202e\U000E0001\x7f<&"}}
	var out strings.Builder
	if err := r.printJSON(&out, "show"); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsFunc(strings.TrimSuffix(out.String(), "\n"), wild) {
		t.Errorf("raw text in %q", out.String())
	}
	var a struct{ Result map[string]string }
	if err := json.Unmarshal([]byte(out.String()), &a); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r.result, any(a.Result)); d != "" {
		t.Errorf("the value changed: %s", d)
	}
}

func TestTheFirstSignalDrainsAndTheSecondStops(t *testing.T) {
	var said strings.Builder
	stopped := false
	in := &interrupts{stderr: &said}
	drain := in.drains()
	in.signal(syscall.SIGTERM, func() { stopped = true })
	select {
	case <-drain:
	default:
		t.Fatal("the first signal did not drain")
	}
	if stopped || !strings.Contains(said.String(), "once more stops now") {
		t.Errorf("stopped %v, said %q", stopped, &said)
	}
	in.signal(os.Interrupt, func() { stopped = true })
	if !stopped || in.Code() != exitTerminated {
		t.Errorf("after the second: stopped %v, code %d; the code is the first signal's", stopped, in.Code())
	}
}

func TestOnlyThePlansOwnResourcesCanBeAllowed(t *testing.T) {
	p := &plan.Plan{Items: []plan.Item{
		{ID: "Old", Action: plan.Delete, Gen: 1, Needs: []plan.Grant{plan.GrantDelete, plan.GrantDataLoss}, Physical: "old"},
		{ID: "New", Action: plan.Create, Gen: 1, Needs: []plan.Grant{plan.GrantChange}},
		{ID: "Swap", Action: plan.Replace, Gen: 2, Needs: []plan.Grant{plan.GrantReplace, plan.GrantDeleteFirst}},
		{ID: "Found", Action: plan.Reclaim, Gen: 1, Needs: []plan.Grant{plan.GrantReclaim}, Physical: "found-1"},
		{ID: "Stuck", Action: plan.Blocked, Gen: 1},
	}}
	for why, c := range map[string]struct {
		consent consent
		covers  []string
		missing []string
		err     string
	}{
		"nothing":                              {missing: []string{"--allow-data-loss Old", "--allow-delete Old", "--allow-replace Swap=delete-first", "--decide Found=reclaim:found-1"}},
		"all deletes, never their data":        {consent: consent{deletes: []string{"*"}}, missing: []string{"--allow-data-loss Old", "--allow-replace Swap=delete-first", "--decide Found=reclaim:found-1"}},
		"the delete and its data":              {consent: consent{deletes: []string{"Old"}, losses: []string{"Old"}}, covers: []string{"Old"}, missing: []string{"--allow-replace Swap=delete-first", "--decide Found=reclaim:found-1"}},
		"replace alone is not delete-first":    {consent: consent{replaces: []string{"Swap"}}, missing: []string{"--allow-data-loss Old", "--allow-delete Old", "--allow-replace Swap=delete-first", "--decide Found=reclaim:found-1"}},
		"delete-first gives replace too":       {consent: consent{replaces: []string{"Swap=delete-first"}}, covers: []string{"Swap"}, missing: []string{"--allow-data-loss Old", "--allow-delete Old", "--decide Found=reclaim:found-1"}},
		"a reclaim by its physical ID":         {consent: consent{decide: []string{"Found=reclaim:found-1"}}, covers: []string{"Found"}, missing: []string{"--allow-data-loss Old", "--allow-delete Old", "--allow-replace Swap=delete-first"}},
		"a reclaim of another object":          {consent: consent{decide: []string{"Found=reclaim:found-2"}}, err: "would reclaim found-1, not found-2"},
		"an ID that is not there":              {consent: consent{deletes: []string{"Odl"}}, err: "no such resource"},
		"data of everything":                   {consent: consent{losses: []string{"*"}}, err: "no such resource"},
		"a choice that is recover's":           {consent: consent{decide: []string{"Found=abandon"}}, err: "belong to reclaim recover"},
		"a replacement in an order unheard of": {consent: consent{replaces: []string{"Swap=later"}}, err: "want delete-first"},
		"an empty ID":                          {consent: consent{adopt: []string{"=x"}}, err: "want ID or ID=VALUE"},
	} {
		g, err := c.consent.resolve(p)
		if c.err != "" || err != nil {
			if err == nil || c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %q", why, err, c.err)
			}
			continue
		}
		var covers []string
		for i := range p.Items {
			if it := &p.Items[i]; it.CanRun() && len(it.Needs) > 0 && g.covers(it) {
				covers = append(covers, it.ID)
			}
		}
		if d := cmp.Diff([][]string{c.covers, c.missing}, [][]string{covers, g.missing(p)}); d != "" {
			t.Errorf("%s (-want +got): %s", why, d)
		}
		for _, a := range g.approvals(p) {
			if a.ID == "Stuck" {
				t.Errorf("%s: what is blocked is approved", why)
			}
		}
	}
}

func TestAnErrorEndsWithTheCodeOfWhatItSays(t *testing.T) {
	for want, err := range map[int]error{
		deploy.ExitHeld: &record.HeldError{}, deploy.ExitStore: record.ErrWrite, deploy.ExitBlocked: record.ErrConflict, deploy.ExitError: record.ErrNoStore,
	} {
		if got := exitOf(err, 0); got != want {
			t.Errorf("%v: code %d, want %d", err, got, want)
		}
	}
}

func TestEveryCommandSaysWhatItIsFor(t *testing.T) {
	s := &session{App: &App{}, out: newStdout(&strings.Builder{}), interrupt: &interrupts{}}
	want := []string{"deploy", "destroy", "hold", "orphans", "plan", "recover", "show", "sim", "state", "status", "types", "validate", "version"}
	have := map[string]bool{}
	for _, c := range s.root().Commands() {
		have[c.Name()] = true
		if c.Short == "" || c.RunE == nil && !c.HasSubCommands() {
			t.Errorf("%s has no short text, or does nothing", c.Name())
		}
	}
	for _, name := range want {
		if !have[name] {
			t.Errorf("no command %s", name)
		}
	}
}

func TestASectionOfAPlanTakesWhatItNeeds(t *testing.T) {
	p := &plan.Plan{Items: []plan.Item{{ID: "A"}, {ID: "B", DependsOn: []string{"A", "Elsewhere"}}, {ID: "C"}}}
	part, err := partOf(p, []string{"B"})
	if err != nil || len(part.Items) != 2 || part.Items[0].ID != "A" || part.Items[1].ID != "B" || len(p.Items) != 3 {
		t.Errorf("got %v, %v", part, err)
	}
	if _, err := partOf(p, []string{"D"}); err == nil {
		t.Error("an ID that is not there was taken")
	}
}

func TestAScopeIsTakenWithAndWithoutItsEndpoint(t *testing.T) {
	sc := resource.Scope{Partition: "aws", Account: "123456789012", Region: "eu-west-1", Endpoint: "sim-1"}
	local := resource.Scope{Partition: resource.LocalPartition, Account: "m1"}
	for why, c := range map[string]struct {
		flag string
		sc   resource.Scope
		ok   bool
	}{
		"in full":               {"123456789012/eu-west-1+sim-1", sc, true},
		"without the endpoint":  {"123456789012/eu-west-1", sc, true},
		"another endpoint":      {"123456789012/eu-west-1+sim-2", sc, false},
		"another region":        {"123456789012/eu-west-2", sc, false},
		"none, in a cloud":      {"", sc, false},
		"none, on this machine": {"", local, true},
		"another machine":       {"local/m2", local, false},
		"the account alone":     {"123456789012", sc, false},
	} {
		s := &session{App: &App{}}
		if err := s.checkScope(&consent{scope: c.flag}, c.sc); (err == nil) != c.ok {
			t.Errorf("%s: %v", why, err)
		}
	}
}
