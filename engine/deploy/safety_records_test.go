package deploy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"reclaim/engine/deploy"
	"reclaim/engine/record"
	"reclaim/engine/resource"
)

const plainFile = `  File:
    Type: Std::FS::File
    Properties: {Path: ./out/plain.env, Content: "a=b"}
`

var apart = stack(role, api, logs, plainFile)

// blanks are fields that a record may have lost.
var blanks = map[string]func(*record.Record){
	"nothing":  func(*record.Record) {},
	"key":      func(r *record.Record) { r.Key, r.Physical, r.Claim = nil, "", "" },
	"intent":   func(r *record.Record) { r.Intent = nil },
	"identity": func(r *record.Record) { r.Identity = resource.Identity{} },
	"nonce":    func(r *record.Record) { r.Nonce = "" },
	"params":   func(r *record.Record) { r.Params, r.Pending = nil, nil },
	"everything": func(r *record.Record) {
		*r = record.Record{Stack: r.Stack, ID: r.ID, Type: r.Type, Gen: r.Gen, Rev: r.Rev, Status: r.Status}
	},
}

// S6, S18: a record in any status, with any field empty, loads in every verb. No verb panics on it, none makes a second
// object, and none drops a record while its object lives, unless a tombstone is left to search for it.
func TestARecordInAnyStatusWithAnyFieldEmptyLosesNothing(t *testing.T) {
	for _, status := range []record.Status{record.Creating, record.Adopting, record.Acknowledged, record.Made, record.Updating, record.Deleting, record.Retired} {
		for name, blank := range blanks {
			t.Run(fmt.Sprintf("%s without %s", status, name), func(t *testing.T) {
				w := newWorld(t)
				if o := w.deploy(apart); o.Exit != 0 {
					t.Fatalf("exit %d %+v", o.Exit, o.Items)
				}
				w.tamper(func(r *record.Record) { r.Status = status; blank(r) })
				w.elapse()
				w.recover(deploy.RecoverRequest{Auto: true})
				w.nothingLost("recover")
				w.deploy(apart)
				w.nothingLost("deploy")
				w.destroy()
				w.nothingLost("destroy")
			})
		}
	}
}

// nothingLost asks the cloud what there is, and the store whether it knows.
func (w *world) nothingLost(after string) {
	w.t.Helper()
	s := w.state()
	known := map[string]int{}
	for _, r := range s.Records {
		known[r.ID]++
	}
	for _, tomb := range s.Tombs {
		known[tomb.ID]++
	}
	cloud := w.sim.State()
	_, err := os.Stat(filepath.Join(w.dir, "out", "plain.env"))
	for id, n := range map[string]int{"Role": len(cloud.Roles), "Api": len(cloud.Apis), "Logs": len(cloud.LogGroups), "File": map[bool]int{true: 1}[err == nil]} {
		if n > known[id] {
			w.t.Errorf("after %s there are %d objects of %s, and records and tombstones of %d", after, n, id, known[id])
		}
	}
}
