package bench

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
	"fmt"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/template"
	"reclaim/providers"
	"reclaim/store"
)

func TestProf(t *testing.T) {
	n := 10000
	dir := t.TempDir()
	file := filepath.Join(dir, "files.yaml")
	os.WriteFile(file, filesTemplate(n), 0o644)
	st, err := store.Open(filepath.Join(dir, ".reclaim"), store.Options{Create: true})
	if err != nil { t.Fatal(err) }
	sealer, _ := st.Sealer()
	m := store.MachineID()
	cloud, err := providers.Open(context.Background(), providers.Config{Machine: m}, []string{"Std::FS::File"})
	if err != nil { t.Fatal(err) }
	stack := record.StackID{Name: "files", Scope: resource.Scope{Partition: resource.LocalPartition, Account: m}}
	lap := time.Now()
	say := func(what string) { fmt.Println(what, time.Since(lap)); lap = time.Now() }
	doplan := func() (*plan.Plan, *template.Graph) {
		lap = time.Now()
		tt, err := template.ParseFile(file)
		if err != nil { t.Fatal(err) }
		say("parse")
		g, err := tt.Bind(template.Binding{Stack: "files", Base: dir, Scope: stack.Scope, Schemas: providers.Schema})
		if err != nil { t.Fatal(err) }
		say("bind")
		p, err := plan.Make(context.Background(), plan.Env{Store: st, Cloud: cloud, Sealer: sealer, Now: time.Now}, g, stack, plan.Options{})
		if err != nil { t.Fatal(err) }
		say("make")
		if err := plan.Save(context.Background(), st, p); err != nil { t.Fatal(err) }
		say("save")
		return p, g
	}
	p, g := doplan()
	if os.Getenv("PHASE") != "plan" || true {
		var ap []deploy.Approval
		for _, it := range p.Items { ap = append(ap, deploy.Approval{ID: it.ID, Grants: it.Needs}) }
		lap = time.Now()
		o, err := deploy.Run(context.Background(), deploy.Env{Store: st, Cloud: cloud, Clock: deploy.WallClock(), Sealer: sealer, Owner: store.Owner(), Alive: store.Alive, Sink: event.SinkFunc(func(event.Envelope){})}, deploy.Request{Plan: p, Graph: g, Approvals: ap})
		if err != nil { t.Fatal(err) }
		say("deploy "+o.Summary)
	}
	if os.Getenv("PHASE") == "plan" {
		for range 5 { doplan() }
	}
}
