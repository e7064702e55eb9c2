// Package storetest is the conformance suite of record.Store.
//
// Its one rule: it knows the port alone, so that every implementation, a shared one on a service too, passes the same
// claims.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/engine/value"
)

// Run runs the suite. open makes an empty store; again opens the same store once more, as another process would. Both
// close what they open when the test ends.
func Run(t *testing.T, open func(t *testing.T) record.Store, again func(t *testing.T, s record.Store) record.Store) {
	for _, group := range []map[string]func(*fixture){holds, fences, records, forgotten, claims, journal, kept, together} {
		for name, claim := range group {
			t.Run(name, func(t *testing.T) {
				s := open(t)
				claim(&fixture{T: t, s: s, other: func() record.Store { return again(t, s) }})
			})
		}
	}
}

// fixture is an empty store and what claims are made with. Its methods end the test on errors.
type fixture struct {
	*testing.T
	s     record.Store
	other func() record.Store // the same store, opened once more
}

var (
	ctx    = context.Background()
	now    = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	orders = record.StackID{Name: "orders", Scope: resource.Scope{Partition: "aws", Account: "111111111111", Region: "eu-west-1"}}
	// abroad has the name of orders and another scope: it is another stack (SAFETY S1).
	abroad = record.StackID{Name: "orders", Scope: resource.Scope{Partition: "aws", Account: "111111111111", Region: "eu-west-2"}}
	site   = record.StackID{Name: "site", Scope: resource.Scope{Partition: resource.LocalPartition, Account: "0123456789abcdef"}}
)

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// refused ends the test unless err wraps want.
func (f *fixture) refused(err, want error) {
	f.Helper()
	if !errors.Is(err, want) {
		f.Fatalf("got error %v, want one that wraps %q", err, want)
	}
}

// acquire holds a stack and returns its fence.
func (f *fixture) acquire(s record.StackID, execution string) record.Fence {
	f.Helper()
	h, err := f.s.Acquire(ctx, hold(s, execution))
	f.must(err)
	return record.Fence{Stack: s, Execution: execution, Epoch: h.Epoch}
}

func hold(s record.StackID, execution string) record.Hold {
	return record.Hold{Stack: s, Execution: execution, Verb: "deploy", Since: now, Template: "/srv/" + s.Name + ".yaml",
		Owner: record.Owner{User: "ann", Host: "build-1", PID: 4711}}
}

// role is a record that was never written.
func role(s record.StackID, id string, gen int, claim string) record.Record {
	return record.Record{Stack: s, ID: id, Type: "AWS::IAM::Role", Gen: gen, Status: record.Creating, Origin: record.ByCreate,
		Key: resource.Key{"RoleName": id}, Physical: id, Claim: claim, UpdatedAt: now,
		Intent: &record.Intent{Nonce: "n-" + id, At: now, Key: resource.Key{"RoleName": id},
			Attempts: []record.Attempt{{N: 1, SentAt: now, Outcome: record.Going}}},
		Pending: value.Map{"RoleName": value.Of(id), "MaxSessionDuration": value.Of(3600)}}
}

// put writes r under the fence in a transaction of its own.
func (f *fixture) put(fence record.Fence, r *record.Record) error {
	return f.s.Write(ctx, fence, func(t record.Tx) error {
		return t.PutRecord(r, record.Step{Name: record.StepPersist(r.ID), At: now})
	})
}

// view runs look on the store as another process sees it.
func (f *fixture) view(look func(record.View) error) {
	f.Helper()
	f.must(f.other().Read(ctx, look))
}

// records returns the stack's records, of which none may be bad.
func (f *fixture) records(s record.StackID) (list []record.Record) {
	f.Helper()
	f.view(func(v record.View) error {
		l, bad, err := v.Records(s)
		if len(bad) > 0 {
			return fmt.Errorf("bad records: %v", bad)
		}
		list = l
		return err
	})
	return list
}

func (f *fixture) steps(s record.StackID, from uint64, limit int) (list []record.Step) {
	f.Helper()
	f.view(func(v record.View) (err error) { list, err = v.Steps(s, from, limit); return err })
	return list
}

func (f *fixture) holder(s record.StackID) (h record.Hold, found bool) {
	f.Helper()
	f.view(func(v record.View) (err error) { h, found, err = v.Hold(s); return err })
	return h, found
}
