package store_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"

	"reclaim/engine/record"
	"reclaim/store"
)

// prefix begins every key of the stack of these tests.
const prefix = "site/local/0123456789abcdef///"

// put writes a value behind the store's back.
func put(bucket, key, value string) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error { return tx.Bucket([]byte(bucket)).Put([]byte(key), []byte(value)) }
}

// first replaces text in the first value of a bucket.
func first(bucket, old, new string) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error {
		k, v := tx.Bucket([]byte(bucket)).Cursor().First()
		changed := bytes.Replace(v, []byte(old), []byte(new), 1)
		if bytes.Equal(v, changed) {
			return fmt.Errorf("%q is not in %s", old, v)
		}
		return tx.Bucket([]byte(bucket)).Put(bytes.Clone(k), changed)
	}
}

func remove(bucket string) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error {
		k, _ := tx.Bucket([]byte(bucket)).Cursor().First()
		return tx.Bucket([]byte(bucket)).Delete(k)
	}
}

// edit changes the record File00001 behind the store's back.
func edit(change func(*record.Record)) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error {
		key := []byte(prefix + "File00001/00000001")
		var r record.Record
		if err := json.Unmarshal(tx.Bucket([]byte("records")).Get(key), &r); err != nil {
			return err
		}
		change(&r)
		b, err := json.Marshal(r)
		if err != nil {
			return err
		}
		return tx.Bucket([]byte("records")).Put(key, b)
	}
}

// Each case breaks one thing; check must name that, and nothing besides.
func TestCheckExplainsWhatDoesNotFit(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*bolt.Tx) error
		kind   record.FlawKind // "": nothing is wrong
		text   string
	}{
		"nothing is wrong": {change: func(*bolt.Tx) error { return nil }},
		"a record is in two scopes, by key and by body (S1)": {first("records", `"0123456789abcdef"}}`, `"fedcba9876543210"}}`), record.FlawScope, "its body site@local/fedcba9876543210"},
		"a record is another's by its body":                  {first("records", `"id":"File00000"`, `"id":"File99999"`), record.FlawKey, "its body File99999"},
		"a record cannot be decoded":                         {put("records", prefix+"Bad/00000001", "{"), record.FlawUnusable, "cannot be decoded"},
		"a key is no record's":                               {put("records", prefix+"Bad", "{}"), record.FlawUnusable, "names no generation"},
		"a claim is noted for another":                       {put("claims", "c", `"`+prefix+`File00001/00000001"`), record.FlawClaim, `claim "c" is noted for record`},
		"a claim is noted for nobody":                        {put("claims", "c", `"`+prefix+`Gone/00000001"`), record.FlawClaim, "does not claim it"},
		"a claim is not noted":                               {remove("claims"), record.FlawClaim, "is not in the index"},
		"a claim leads nowhere":                              {put("claims", "c", `7`), record.FlawClaim, "cannot unmarshal"},
		"two records claim one object (S3)": {func(tx *bolt.Tx) error {
			var other record.Record
			if err := json.Unmarshal(tx.Bucket([]byte("records")).Get([]byte(prefix+"File00002/00000001")), &other); err != nil {
				return err
			}
			return edit(func(r *record.Record) { r.Claim = other.Claim })(tx)
		}, record.FlawTwice, "File00002 generation 1"},
		"a create has an intent without a nonce":  {edit(func(r *record.Record) { r.Status, r.Intent.Nonce = record.Creating, "" }), record.FlawNonce, "has no nonce"},
		"a create has no intent":                  {edit(func(r *record.Record) { r.Status, r.Intent = record.Creating, nil }), record.FlawNonce, "holds no intent"},
		"what was made has no key":                {edit(func(r *record.Record) { r.Status, r.Key = record.Made, nil }), record.FlawKeyless, "has no key"},
		"a dependency is recorded nowhere":        {edit(func(r *record.Record) { r.DependsOn = []record.Ref{{ID: "Role", Gen: 2}} }), record.FlawDependency, "depends on Role generation 2"},
		"a dependency was replaced":               {change: edit(func(r *record.Record) { r.DependsOn = []record.Ref{{ID: "File00002", Gen: 7}} })},
		"a type is not known":                     {edit(func(r *record.Record) { r.Type = "AWS::Not::Yet" }), record.FlawType, "AWS::Not::Yet"},
		"a record names a step that is not there": {edit(func(r *record.Record) { r.Seq = 4000 }), record.FlawJournal, "does not hold step 4000"},
		"steps are missing": {func(tx *bolt.Tx) error {
			if err := remove("journal")(tx); err != nil {
				return err
			}
			return remove("journal")(tx)
		}, record.FlawJournal, "steps 1 to 2 are missing"},
		"a step is not its key's":         {first("journal", `"seq":1,`, `"seq":7,`), record.FlawJournal, "its body says number 7"},
		"a step cannot be decoded":        {put("journal", prefix+"00000000000000c9", "["), record.FlawUnusable, "unexpected end"},
		"a hold has an epoch nobody gave": {remove("epochs"), record.FlawHold, "only 0 were given"},
		"a hold is of another stack":      {first("holds", `"site"`, `"sute"`), record.FlawKey, "its body sute@local"},
		"a hold cannot be decoded":        {put("holds", prefix, `{"execution":`), record.FlawUnusable, "unexpected end"},
		"a tombstone is another's":        {put("tombstones", prefix+"A/00000001/0000000000000001", `{"stack":{"name":"site","scope":{"partition":"local","account":"0123456789abcdef"}},"id":"B","gen":1,"seq":1}`), record.FlawKey, "its body says B"},
		"the index leads to no plan":      {remove("plans"), record.FlawPlan, "which is not there"},
		"no index leads to a plan":        {remove("planIndex"), record.FlawPlan, "no index entry leads to plan"},
		"a decision is about nothing": {put("decisions", prefix+"Never/00000001/0000000000000001/0000000000000001", `{"stack":{"name":"site","scope":{"partition":"local","account":"0123456789abcdef"}},"id":"Never","gen":1,"choice":"reclaim","who":"ops"}`),
			record.FlawDecision, `ops decided "reclaim" about Never`},
		"evidence has another's number": {first("evidence", `"seq":1`, `"seq":9`), record.FlawKey, "its body says number 9"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := filled(t)
			tamper(t, dir, c.change)
			found := flaws(t, dir)
			if c.kind == "" {
				if len(found) > 0 {
					t.Errorf("found %+v", found)
				}
				return
			}
			if len(found) == 0 {
				t.Fatal("found nothing")
			}
			var seen bool
			for _, f := range found {
				seen = seen || f.Kind == c.kind && strings.Contains(f.Text, c.text)
				if f.Text == "" || f.Remedy == "" || f.Where == "" {
					t.Errorf("a flaw leaves open what, where or what to do: %+v", f)
				}
			}
			if !seen || len(found) > 3 {
				t.Errorf("got %+v, want kind %q with %q", found, c.kind, c.text)
			}
		})
	}
}

// flaws checks a store as a reading verb does.
func flaws(t *testing.T, dir string) []record.Flaw {
	t.Helper()
	found, err := opened(t, dir, store.Options{ReadOnly: true}).Check(ctx, func(typ string) bool { return typ == "Std::FS::File" })
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestCheckFindsWhatWasLeftBesideTheStore(t *testing.T) {
	dir, _ := filled(t)
	s := opened(t, dir, store.Options{})
	path, err := s.Emergency([]record.Evidence{{Stack: stack, ID: "File00001", Gen: 1}})
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("emergency-torn.json", "{")
	write("events/x1.ndjson", "{}\n") // of a run that the journal knows
	spool, making := write("events/e-nobody.ndjson", "{}\n"), write("store.db.making-0123", "")
	key := write("hash.key", "short")
	if err := os.Chmod(dbFile(dir), 0o644); err != nil {
		t.Fatal(err)
	}
	got := map[record.FlawKind][]string{}
	for _, f := range flaws(t, dir) {
		got[f.Kind] = append(got[f.Kind], f.Where)
	}
	want := map[record.FlawKind][]string{record.FlawEmergency: {path, dir}, record.FlawSpool: {spool}, record.FlawLeftover: {making},
		record.FlawSecret: {key}, record.FlawMode: {dbFile(dir)}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
