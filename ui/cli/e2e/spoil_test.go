package e2e

import (
	"context"
	"errors"

	"github.com/rogpeppe/go-internal/testscript"
	bolt "go.etcd.io/bbolt"

	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/store"
)

// localStack is the stack of a name on this machine.
func localStack(name string) record.StackID {
	return record.StackID{Name: name, Scope: resource.Scope{Partition: resource.LocalPartition, Account: store.MachineID()}}
}

// keyless NAME ID writes a record of the local stack NAME that says it was made and not where its object is, as an
// older version or a bug could have left it.
func makeKeyless(ts *testscript.TestScript, _ bool, args []string) {
	s, err := store.Open(ts.MkAbs(".reclaim"), store.Options{})
	ts.Check(err)
	defer s.Close()
	id := localStack(args[0])
	h, err := s.Acquire(context.Background(), record.Hold{Stack: id, Execution: "e-keyless", Verb: "deploy", Owner: store.Owner()})
	ts.Check(err)
	fence := record.Fence{Stack: id, Execution: h.Execution, Epoch: h.Epoch}
	r := record.Record{Stack: id, ID: args[1], Type: "Std::FS::File", Gen: 1, Status: record.Made}
	ts.Check(s.Write(context.Background(), fence, func(tx record.Tx) error { return tx.PutRecord(&r, record.Step{Name: record.StepPersist(r.ID)}) }))
	ts.Check(s.Release(context.Background(), fence, record.Execution{ID: h.Execution, Stack: id, Verb: "deploy"}))
}

// unusable NAME ID puts a record of the local stack NAME into the file that cannot be decoded.
func makeUnusable(ts *testscript.TestScript, _ bool, args []string) {
	db, err := bolt.Open(ts.MkAbs(".reclaim/store.db"), 0o600, nil)
	ts.Check(err)
	key := args[0] + "/local/" + store.MachineID() + "///" + args[1] + "/00000001"
	err = db.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte("records")).Put([]byte(key), []byte(`{"stack":{`)) })
	ts.Check(errors.Join(err, db.Close()))
}

// torn NAME cuts the hold of the local stack NAME off, as a failing disk could have.
func makeTornHold(ts *testscript.TestScript, _ bool, args []string) {
	db, err := bolt.Open(ts.MkAbs(".reclaim/store.db"), 0o600, nil)
	ts.Check(err)
	key := args[0] + "/local/" + store.MachineID() + "///"
	err = db.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte("holds")).Put([]byte(key), []byte(`{"execution":`)) })
	ts.Check(errors.Join(err, db.Close()))
}
