//go:build crash

package crashtest

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"reclaim/engine/resource"
	"reclaim/providers/awssim"
)

const (
	account = "123456789012" // moto's too
	region  = "eu-west-1"
	simID   = "crash"
	// simScale makes what the services take their time for be over before anybody can look: how often a run waits would
	// else differ from run to run, and with it its points.
	simScale = 0.00001
)

// strangers are objects of someone else, beside ours; nothing of them may ever change.
var strangers = []awssim.Action{
	{Op: "CreateRole", Params: map[string]any{"RoleName": "someone-else", "AssumeRolePolicyDocument": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`}},
	{Op: "CreateLogGroup", Region: region, Params: map[string]any{"logGroupName": "/someone/else"}},
	{Op: "CreateApi", Region: region, Params: map[string]any{"name": "orders-dev", "protocolType": "HTTP"}},
	{Op: "PutRule", Region: region, Params: map[string]any{"Name": "someone-else", "ScheduleExpression": "rate(1 day)"}},
}

// simCloud is the simulated cloud. Its state is a file of the world's folder, so that it is saved and restored with it.
type simCloud struct {
	*awssim.Server
	at string
}

func (c *simCloud) url() string   { return c.at }
func (c *simCloud) scope() string { return account + "/" + region + "+sim-" + simID }

func (c *simCloud) whole() []string { return whole }

func (c *simCloud) ours(*testing.T) []string {
	var out []string
	s := c.State()
	for _, r := range s.Roles {
		if r.Name != "someone-else" {
			out = append(out, "role")
		}
	}
	for _, g := range s.LogGroups {
		if g.Name != "/someone/else" {
			out = append(out, "log group")
		}
	}
	for _, r := range s.Roles {
		if r.Name != "someone-else" {
			out = append(out, repeat("attachment", len(r.Attached))...)
		}
	}
	for _, a := range ourAPIs(s) {
		out = append(out, "api")
		out = append(out, repeat("integration", len(a.Integrations))...)
		out = append(out, repeat("authorizer", len(a.Authorizers))...)
		out = append(out, repeat("route", len(a.Routes))...)
		out = append(out, repeat("stage", len(a.Stages))...)
	}
	for _, f := range s.Functions {
		out = append(out, "function")
		out = append(out, repeat("permission", len(f.Policy))...)
	}
	for _, r := range s.Rules {
		if r.Name != "someone-else" {
			out = append(out, "rule")
		}
	}
	out = append(out, repeat("table", len(s.Tables))...)
	slices.Sort(out)
	return out
}

func repeat(kind string, n int) []string { return slices.Repeat([]string{kind}, n) }

// ourAPIs are those with tags: the stranger's has none.
func ourAPIs(s awssim.State) []*awssim.Api {
	return slices.DeleteFunc(slices.Clone(s.Apis), func(a *awssim.Api) bool { return len(a.Tags) == 0 })
}

func (c *simCloud) made(_ *testing.T, id string) []string {
	var out []string
	for _, a := range ourAPIs(c.State()) {
		if a.Tags[resource.TagResource] == id {
			out = append(out, a.ID)
		}
		for _, i := range a.Integrations {
			if id == "OrdersIntegration" {
				out = append(out, i.ID)
			}
		}
	}
	return out
}

// assigned counts what was sent, executed or not.
func (c *simCloud) assigned(*testing.T) int {
	n := 0
	for _, r := range c.Log() {
		if r.Changing && (r.Operation == "CreateApi" || r.Operation == "CreateIntegration") {
			n++
		}
	}
	return n
}

func (c *simCloud) wantStrangersUntouched(t *testing.T) {
	t.Helper()
	s := c.State()
	foreign := 0
	for _, a := range s.Apis {
		if len(a.Tags) == 0 {
			foreign++
		}
	}
	if foreign != 1 || len(s.Roles) == 0 || len(s.LogGroups) == 0 || len(s.Rules) == 0 {
		t.Fatalf("a stranger's object is gone: %+v", s)
	}
	for _, r := range c.Log() {
		if r.Changing && (r.Target == "someone-else" || r.Target == "/someone/else") {
			t.Fatalf("a changing call went to a stranger's object: %+v", r)
		}
	}
}

// simWorld is a world whose cloud is simulated, and which can be set back to an earlier state.
type simWorld struct {
	*world
	sim *awssim.Server
}

func newSimWorld(t *testing.T) *simWorld {
	t.Helper()
	w := &simWorld{world: newWorld(t, "0.02", "1")} // one at a time, so that the order of points is that of the recorded run
	w.openCloud()
	t.Cleanup(func() { w.sim.Close() })
	for _, a := range strangers {
		must(t, w.sim.Do(a))
	}
	return w
}

func (w *simWorld) openCloud() {
	w.t.Helper()
	sim, err := awssim.New(awssim.Config{Account: account, Region: region, ID: simID, StateFile: w.path("cloud.json"), Scale: simScale})
	must(w.t, err)
	url, err := sim.Listen("127.0.0.1:0")
	must(w.t, err)
	w.sim, w.cloud = sim, &simCloud{Server: sim, at: url}
}

// save and restore keep the whole world, cloud included, at the same paths: local keys are absolute.
func (w *simWorld) save(to string) {
	w.t.Helper()
	must(w.t, w.sim.Close())
	w.copy(w.dir, to)
	w.openCloud()
}

func (w *simWorld) restore(from string) {
	w.t.Helper()
	must(w.t, w.sim.Close())
	must(w.t, os.RemoveAll(w.dir))
	w.copy(from, w.dir)
	w.openCloud()
}

// copy copies what is in a folder with its modes, which are params of files.
func (w *simWorld) copy(from, to string) {
	w.t.Helper()
	must(w.t, os.MkdirAll(to, 0o755))
	if out, err := exec.Command("cp", "-a", from+"/.", to).CombinedOutput(); err != nil {
		w.t.Fatalf("cp: %v: %s", err, out)
	}
}
