package store_test

import (
	"testing"

	"reclaim/engine/record"
	"reclaim/store"
)

// recordsOf reads the records of stack.
func recordsOf(t *testing.T, s record.Store) (list []record.Record) {
	t.Helper()
	err := s.Read(ctx, func(v record.View) (err error) {
		list, _, err = v.Records(stack)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestWhatWasReadAheadIsNeverOld(t *testing.T) {
	writer := made(t)
	fence := held(t, writer)
	reader := opened(t, writer.Dir(), store.Options{})
	for n := 1; n <= 4; n++ {
		if err := putFile(writer, fence, n); err != nil {
			t.Fatal(err)
		}
		if n%2 == 0 { // what is read ahead at an odd number is old by the time of the Read
			if got := len(recordsOf(t, reader)); got != n {
				t.Errorf("%d of %d records are read", got, n)
			}
		}
		if err := reader.ReadAhead(ctx, stack.Name); err != nil {
			t.Fatal(err)
		}
	}
	list := recordsOf(t, reader)
	if len(list) != 4 {
		t.Fatalf("%d of 4 records are read", len(list))
	}
	list[0].Pending["Path"], list[0].Intent.Nonce = list[1].Pending["Path"], "changed"
	if again := recordsOf(t, reader); again[0].Intent.Nonce == "changed" || again[0].Pending["Path"].Equal(list[1].Pending["Path"]) {
		t.Error("two readers were given the same record")
	}
}

func TestReadingAheadOfNothing(t *testing.T) {
	s := made(t)
	if err := s.ReadAhead(ctx, "nobody"); err != nil {
		t.Error(err)
	}
	if list := recordsOf(t, s); len(list) != 0 {
		t.Errorf("got %v", list)
	}
}
