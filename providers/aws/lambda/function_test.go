package lambda_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reclaim/engine/resource"
	"reclaim/engine/value"
	"reclaim/providers/aws/lambda"
	"reclaim/providers/awssim"
	"reclaim/providers/providertest"
)

// sim is a simulated cloud with a provider under test and a role for functions.
type sim struct {
	*awssim.Server
	b    *providertest.Backend
	p    resource.Provider
	role value.Value
}

func start(t *testing.T) sim {
	t.Helper()
	b := providertest.Sim(t)
	return sim{b.Sim, b, lambda.Providers(b.Session)[0], role(t, b, "ledger-worker")}
}

var orders = resource.Key{"FunctionName": "orders"}

// params are those of a small function, with more, expanded.
func (s sim) params(t *testing.T, more value.Map) value.Map {
	t.Helper()
	m := value.Map{"FunctionName": value.Of("orders"), "Role": s.role, "Runtime": value.Of("python3.12"), "Handler": value.Of("index.handler"),
		"Code": object(map[string]any{"ZipFile": sourceCode})}
	for name, v := range more {
		m[name] = v
	}
	out, err := s.p.(resource.Expander).Expand(t.Context(), m)
	if err != nil {
		t.Fatalf("expand: %v", err)
	}
	return out
}

func (s sim) create(t *testing.T, more value.Map, tags resource.Tags) error {
	t.Helper()
	_, err := s.p.Create(t.Context(), resource.Create{Key: orders, Params: s.params(t, more), Tags: tags})
	return err
}

// made creates the function and waits for it.
func (s sim) made(t *testing.T, more value.Map, tags resource.Tags) *resource.Observation {
	t.Helper()
	if err := s.create(t, more, tags); err != nil {
		t.Fatalf("create: %v", err)
	}
	return settle(t, s.p, orders)
}

// sync runs the calls that write params of desired, and returns their names.
func (s sim) sync(t *testing.T, desired, recorded value.Map, write ...string) []string {
	t.Helper()
	calls, err := s.p.Sync(resource.Change{Key: orders, Desired: desired, Recorded: recorded, Observed: settle(t, s.p, orders), Write: write})
	if err != nil {
		t.Fatalf("sync: %v", err)
	}
	var names []string
	for _, c := range calls {
		names = append(names, c.Name)
		if err := c.Run(t.Context()); err != nil {
			t.Fatalf("run %s: %v", c.Name, err)
		}
		settle(t, s.p, orders)
	}
	return names
}

// last returns the params of the last request of op; fails when there was none.
func (s sim) last(t *testing.T, op string) map[string]any {
	t.Helper()
	for _, r := range slices.Backward(s.Log()) {
		if r.Operation == op {
			return r.Params
		}
	}
	t.Fatalf("%s was not sent", op)
	return nil
}

// settle reads until the object is ready.
func settle(t *testing.T, p resource.Provider, key resource.Key) *resource.Observation {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		o, err := p.Read(t.Context(), key)
		if err != nil {
			t.Fatalf("read: %v", err)
		}
		if o.Ready {
			return o
		}
		if time.Since(began) > 10*time.Second {
			t.Fatalf("%v is not ready: %s", key, o.NotReady)
		}
	}
}

// One code for two things: a look tells them apart.
func TestAConflictIsExistsOnlyWhereTheLookFindsIt(t *testing.T) {
	for why, c := range map[string]struct {
		there bool
		fault []awssim.Fault
		kind  resource.Kind
	}{
		"there is a function":                        {true, nil, resource.AlreadyExists},
		"there is none, so the name is busy":         {false, []awssim.Fault{{Operation: "CreateFunction", Kind: awssim.Refused, Code: "ResourceConflictException"}}, resource.Busy},
		"the look is denied, so nothing is sent on":  {true, []awssim.Fault{{Operation: "GetFunction", Kind: awssim.Denied}}, resource.AlreadyExists},
		"the look fails, so nothing is sent on":      {true, []awssim.Fault{{Operation: "GetFunction", Kind: awssim.Malformed}}, resource.AlreadyExists},
		"another's function says it the same way":    {true, []awssim.Fault{{Operation: "CreateFunction", Kind: awssim.Refused, Code: "ResourceConflictException"}}, resource.AlreadyExists},
		"a failure that was not executed is neither": {false, []awssim.Fault{{Operation: "CreateFunction", Kind: awssim.Refused}}, resource.Uncertain},
	} {
		t.Run(why, func(t *testing.T) {
			s := start(t)
			if c.there {
				s.made(t, nil, nil)
			}
			for _, f := range c.fault {
				s.AddFault(f)
			}
			err := s.create(t, nil, nil)
			if !resource.Is(err, c.kind) || resource.DefinitelyNotExecuted(err) != (c.kind != resource.Uncertain) {
				t.Errorf("create: %v, want %s", err, c.kind)
			}
		})
	}
}

// A role is known to Lambda some seconds after its create. Until then nothing is made, and to come again is right.
func TestARoleThatCannotBeAssumedYetIsADependencyThatIsNotReady(t *testing.T) {
	b := providertest.Sim(t)
	s := sim{b.Sim, b, lambda.Providers(b.Session)[0], value.Of("arn:aws:iam::111122223333:role/fresh")}
	s.AddFault(awssim.Fault{Operation: "CreateFunction", Then: []awssim.Action{ // the role is made in the very moment of the request
		{Op: "CreateRole", Params: map[string]any{"RoleName": "fresh", "AssumeRolePolicyDocument": trust}}}})
	if err := s.create(t, nil, nil); !resource.Is(err, resource.NotReady) || !resource.DefinitelyNotExecuted(err) {
		t.Errorf("create with a new role: %v, want not ready, and surely not executed", err)
	}
	if _, err := s.p.Read(t.Context(), orders); !resource.Is(err, resource.NotFound) {
		t.Errorf("read: %v, want not found: nothing was made", err)
	}
	time.Sleep(assumable)
	s.made(t, nil, nil)
	if err := s.create(t, value.Map{"FunctionName": value.Of("orders"), "MemorySize": value.Of(64)}, nil); !resource.Is(err, resource.Rejected) {
		t.Errorf("create with a bad value: %v, want rejected: it is no matter of roles", err)
	}
	calls, err := s.p.Sync(resource.Change{Key: orders, Desired: s.params(t, value.Map{"Role": value.Of("arn:aws:iam::111122223333:role/nobody")}),
		Observed: settle(t, s.p, orders), Write: []string{"Role"}})
	if err != nil || len(calls) != 1 {
		t.Fatalf("sync: %d calls, %v", len(calls), err)
	}
	if err := calls[0].Run(t.Context()); !resource.Is(err, resource.NotReady) {
		t.Errorf("update to a role that is not there: %v, want not ready", err)
	}
}

// While Lambda works, an update is busy; that is no conflict of names.
func TestAFunctionThatIsWorkedOnIsBusy(t *testing.T) {
	s := start(t)
	s.made(t, nil, nil)
	o := settle(t, s.p, orders)
	change := resource.Change{Key: orders, Desired: s.params(t, value.Map{"Timeout": value.Of(9), "Code": object(map[string]any{"ZipFile": "x = 1"})}), Observed: o,
		Write: []string{"Timeout", "Code", "CodeSha256"}}
	calls, err := s.p.Sync(change)
	if err != nil || len(calls) != 2 {
		t.Fatalf("sync: %d calls, %v; want configuration and code", len(calls), err)
	}
	if err := calls[0].Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.AddFault(awssim.Fault{Operation: "UpdateFunctionCode", Kind: awssim.Refused, Code: "ResourceConflictException"}) // however fast this machine is
	if err := calls[1].Run(t.Context()); !resource.Is(err, resource.Busy) || !resource.DefinitelyNotExecuted(err) {
		t.Errorf("the second update: %v, want busy", err)
	}
	settle(t, s.p, orders)
	if err := calls[1].Run(t.Context()); err != nil {
		t.Errorf("once it is settled: %v", err)
	}
}

// A plan may be made before what the code hangs on is settled: it names the call, also where the archive is not built
// yet, and that call sends nothing.
func TestCodeIsPlannedBeforeItCanBeRead(t *testing.T) {
	s := start(t)
	o := s.made(t, nil, nil)
	was := s.params(t, nil)
	desired := was.With("Code", object(map[string]any{"LocalPath": filepath.Join(t.TempDir(), "later.zip")})).With("CodeSha256", value.Wait("Bundle"))
	calls, err := s.p.Sync(resource.Change{Key: orders, Desired: desired, Recorded: was, Observed: o, Write: []string{"Code"}})
	if err != nil || len(calls) != 1 || calls[0].Name != "UpdateFunctionCode" {
		t.Fatalf("sync: %v, %v; want one UpdateFunctionCode", calls, err)
	}
	if err := calls[0].Run(t.Context()); !resource.Is(err, resource.Rejected) || !resource.DefinitelyNotExecuted(err) {
		t.Errorf("the call: %v, want that nothing was sent", err)
	}
}

// Code is what its bytes are, whichever way config names them.
func TestCodeIsToldByItsBytes(t *testing.T) {
	s := start(t)
	first := bundle(t, "one")
	s.made(t, value.Map{"Code": first}, nil)
	was := s.params(t, value.Map{"Code": first})
	t.Run("another path to the same bytes sends nothing", func(t *testing.T) {
		moved := filepath.Join(t.TempDir(), "moved.zip")
		content, err := os.ReadFile(wireText(first.Get("LocalPath")))
		if err == nil {
			err = os.WriteFile(moved, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		desired := s.params(t, value.Map{"Code": object(map[string]any{"LocalPath": moved})})
		if calls := s.sync(t, desired, was, "Code"); len(calls) > 0 {
			t.Errorf("called %v", calls)
		}
	})
	t.Run("other bytes are sent, and are what is read then", func(t *testing.T) {
		desired := s.params(t, value.Map{"Code": bundle(t, "two")})
		if d := cmp.Diff([]string{"UpdateFunctionCode"}, s.sync(t, desired, was, "Code", "CodeSha256")); d != "" {
			t.Errorf("calls (-want +got):\n%s", d)
		}
		if got := settle(t, s.p, orders).Params["CodeSha256"]; !value.Equal(got, desired["CodeSha256"]) {
			t.Errorf("hash is %v, want %v", got, desired["CodeSha256"])
		}
	})
	t.Run("bytes that changed since they were looked at are not sent", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "app.zip")
		if err := os.WriteFile(path, []byte("PK one"), 0o600); err != nil {
			t.Fatal(err)
		}
		desired := s.params(t, value.Map{"Code": object(map[string]any{"LocalPath": path})})
		if err := os.WriteFile(path, []byte("PK two"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := s.p.Sync(resource.Change{Key: orders, Desired: desired, Recorded: was, Observed: settle(t, s.p, orders), Write: []string{"Code", "CodeSha256"}})
		if !resource.Is(err, resource.Rejected) || !resource.DefinitelyNotExecuted(err) {
			t.Errorf("sync: %v, want rejected", err)
		}
	})
	t.Run("code in S3 is sent by its place", func(t *testing.T) {
		desired := s.params(t, value.Map{"Code": object(map[string]any{"S3Bucket": "builds", "S3Key": "orders.zip", "S3ObjectVersion": "v7"})})
		if desired["CodeSha256"].IsSet() {
			t.Errorf("the hash of what is in S3 is %v, which nobody can know", desired["CodeSha256"])
		}
		calls, err := s.p.Sync(resource.Change{Key: orders, Desired: desired, Recorded: was, Observed: settle(t, s.p, orders), Write: []string{"Code", "CodeSha256"}})
		if err != nil || len(calls) != 1 {
			t.Fatalf("sync: %d calls, %v", len(calls), err)
		}
		if err := calls[0].Run(t.Context()); !resource.Is(err, resource.Rejected) {
			t.Errorf("run: %v, want rejected: the simulated cloud has no code in S3", err)
		}
		sent := s.last(t, "UpdateFunctionCode")
		if d := cmp.Diff(map[string]any{"FunctionName": "orders", "S3Bucket": "builds", "S3Key": "orders.zip", "S3ObjectVersion": "v7"}, sent); d != "" {
			t.Errorf("sent (-want +got):\n%s", d)
		}
	})
	t.Run("a read says only the hash", func(t *testing.T) {
		o := settle(t, s.p, orders)
		if o.Params["Code"].IsSet() || o.Gaps["Code"].Kind != resource.GapNotReturned {
			t.Errorf("code %v, gap %v", o.Params["Code"], o.Gaps["Code"])
		}
	})
}

func wireText(v value.Value) string { return v.Reveal() }

// The rules of Code that a schema cannot say, and what Expand makes of it.
func TestExpandComputesTheHashOfCode(t *testing.T) {
	s := start(t)
	zip := bundle(t, "one")
	same := s.params(t, nil)["CodeSha256"]
	for why, c := range map[string]struct {
		code    value.Value
		runtime string
		want    func(value.Value) bool
		refused bool
	}{
		"inline code always packs to the same bytes": {code: object(map[string]any{"ZipFile": sourceCode}), want: func(v value.Value) bool { return value.Equal(v, same) }},
		"the file's name goes by the runtime":        {code: object(map[string]any{"ZipFile": sourceCode}), runtime: "nodejs22.x", want: func(v value.Value) bool { return v.IsSet() && !value.Equal(v, same) }},
		"an archive has the hash that its zip says":  {code: zip, want: func(v value.Value) bool { return value.Equal(v, zip.Get("Sha256")) }},
		"what is not known yet is not guessed":       {code: value.OfMap(value.Map{"LocalPath": value.Wait("Bundle")}), want: func(v value.Value) bool { return v.Kind() == value.Unknown }},
		"secret source has a secret hash":            {code: value.OfMap(value.Map{"ZipFile": value.Of("k = 1").AsSensitive()}), want: func(v value.Value) bool { return v.Sensitive() }},
		"an image has none":                          {code: object(map[string]any{"ImageUri": "r:1"}), want: func(v value.Value) bool { return !v.IsSet() }},
		"nothing is no code":                         {code: object(map[string]any{}), refused: true},
		"two places are one too many":                {code: object(map[string]any{"ImageUri": "r:1", "ZipFile": "x"}), refused: true},
		"a bucket without a key":                     {code: object(map[string]any{"S3Bucket": "b"}), refused: true},
		"inline Java":                                {code: object(map[string]any{"ZipFile": "class X {}"}), runtime: "java21", refused: true},
		"an archive that is not there":               {code: object(map[string]any{"LocalPath": "/nowhere/app.zip"}), refused: true},
		"an archive that is not the one meant":       {code: value.OfMap(zip.Fields().With("Sha256", value.Of("AAAA"))), refused: true},
		"a hash without an archive":                  {code: object(map[string]any{"ZipFile": "x", "Sha256": "AAAA"}), refused: true},
	} {
		t.Run(why, func(t *testing.T) {
			runtime := c.runtime
			if runtime == "" {
				runtime = "python3.12"
			}
			got, err := s.p.(resource.Expander).Expand(t.Context(), value.Map{"Code": c.code, "Runtime": value.Of(runtime), "CodeSha256": value.Of("from a template")})
			if c.refused {
				if !resource.Is(err, resource.Rejected) || !resource.DefinitelyNotExecuted(err) {
					t.Errorf("expand: %v, %v; want a refusal", got, err)
				}
				return
			}
			if err != nil || !c.want(got["CodeSha256"]) {
				t.Errorf("hash is %v, %v", got["CodeSha256"], err)
			}
		})
	}
}

// An update mentions what is written and nothing else; what config no longer says goes back to the service's own.
func TestAnUpdateMentionsOnlyWhatIsWritten(t *testing.T) {
	s := start(t)
	s.made(t, value.Map{"Timeout": value.Of(9), "MemorySize": value.Of(256), "Environment": object(map[string]any{"Variables": map[string]any{"STAGE": "test"}})}, nil)
	s.sync(t, s.params(t, value.Map{"MemorySize": value.Of(256)}), nil, "Timeout", "Environment")
	want := map[string]any{"FunctionName": "orders", "Timeout": "3", "Environment": map[string]any{"Variables": map[string]any{}}}
	sent := s.last(t, "UpdateFunctionConfiguration")
	sent["Timeout"] = text(sent["Timeout"])
	if d := cmp.Diff(want, sent); d != "" {
		t.Errorf("sent (-want +got):\n%s", d)
	}
	if o := settle(t, s.p, orders); o.Params["Environment"].IsSet() || o.Params.Text("MemorySize") != "256" {
		t.Errorf("environment %v, memory %v", o.Params["Environment"], o.Params["MemorySize"])
	}
}

func text(v any) string { s, _ := v.(interface{ String() string }); return s.String() }

// An empty environment or VPC is never sent with a create: the service takes neither for none.
func TestNothingEmptyIsSentWithACreate(t *testing.T) {
	s := start(t)
	s.made(t, value.Map{"Environment": object(map[string]any{"Variables": map[string]any{}}), "KmsKeyArn": value.Of(""), "VpcConfig": object(map[string]any{}),
		"DeadLetterConfig": object(map[string]any{}), "CodeSigningConfigArn": value.Of("")}, nil)
	sent := s.last(t, "CreateFunction")
	for _, name := range []string{"Environment", "KMSKeyArn", "VpcConfig", "DeadLetterConfig", "CodeSigningConfigArn", "Tags"} {
		if v, ok := sent[name]; ok {
			t.Errorf("%s was sent as %v", name, v)
		}
	}
}

// Secrets in the environment are not in the errors of calls that carry them.
func TestAnErrorHoldsNoSecret(t *testing.T) {
	s := start(t)
	secret := value.OfMap(value.Map{"Variables": value.OfMap(value.Map{"AWS_REGION": value.Of("hunter2-region").AsSensitive()})})
	s.AddFault(awssim.Fault{Operation: "CreateFunction", Kind: awssim.Refused, Code: "InvalidParameterValueException", Message: "bad value hunter2-region"})
	if err := s.create(t, value.Map{"Environment": secret}, nil); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("create: %v", err)
	}
}

// The group that Lambda makes is nobody's of ours, and a delete of the function leaves it.
func TestADeleteLeavesTheLogs(t *testing.T) {
	s := start(t)
	o := s.made(t, nil, resource.Tags{resource.TagNonce: "n1"})
	for _, a := range []awssim.Action{
		{Op: "AttachRolePolicy", Params: map[string]any{"RoleName": "ledger-worker", "PolicyArn": "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"}},
		{Op: "Invoke", Params: map[string]any{"FunctionName": "orders"}},
	} {
		if err := s.Do(a); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.p.Delete(t.Context(), resource.Delete{Key: orders, Expect: o.Identity, Nonce: "n1"}); err != nil {
		t.Fatalf("delete: %v", err)
	}
	groups := s.State().LogGroups
	if len(groups) != 1 || groups[0].Name != "/aws/lambda/orders" || len(groups[0].Tags) > 0 {
		t.Errorf("log groups: %v, want one without tags", groups)
	}
}

// What was adopted carries no nonce of ours: it is told by its recorded params.
func TestAnAdoptedFunctionIsToldByItsParams(t *testing.T) {
	s := start(t)
	s.made(t, value.Map{"Timeout": value.Of(9)}, nil)
	recorded := s.params(t, value.Map{"Timeout": value.Of(9)})
	if err := s.p.Delete(t.Context(), resource.Delete{Key: orders, Recorded: recorded.With("Timeout", value.Of(10))}); !resource.Is(err, resource.IdentityMismatch) {
		t.Errorf("delete of what differs: %v, want another object", err)
	}
	if err := s.p.Delete(t.Context(), resource.Delete{Key: orders, Recorded: value.Map{"Tags": value.ListOf()}}); !resource.Is(err, resource.IdentityMismatch) {
		t.Errorf("delete with nothing to compare: %v, want another object", err)
	}
	if err := s.p.Delete(t.Context(), resource.Delete{Key: orders, Recorded: recorded}); err != nil {
		t.Errorf("delete: %v", err)
	}
}

// The existence of a function is never told from the first page of a list.
func TestAFunctionBehindManyIsFoundByItsName(t *testing.T) {
	s := start(t)
	for n := range 55 {
		params := s.params(t, value.Map{"FunctionName": value.Of("a-" + strings.Repeat("x", n+1))})
		if _, err := s.p.Create(t.Context(), resource.Create{Key: resource.Key{"FunctionName": params.Text("FunctionName")}, Params: params}); err != nil {
			t.Fatal(err)
		}
	}
	s.made(t, nil, resource.Tags{resource.TagNonce: "n1"})
	for why, q := range map[string]resource.Query{"by name": {Key: orders}, "by params": {Like: value.Map{"FunctionName": value.Of("orders")}}, "by nonce": {Nonce: "n1"}} {
		found, err := s.p.(resource.Finder).Find(t.Context(), q)
		if err != nil || len(found) != 1 || !found[0].Key.Equal(orders) || found[0].ByName != (q.Nonce == "") {
			t.Errorf("%s: %d found, %v", why, len(found), err)
		}
	}
}

// Being durable cannot be changed, and an archive has a handler: nothing is sent.
func TestWhatCannotBeChangedIsRefusedBeforeItIsSent(t *testing.T) {
	s := start(t)
	s.made(t, nil, nil)
	for param, v := range map[string]value.Value{"DurableConfig": object(map[string]any{"ExecutionTimeout": 60}), "Handler": {}, "Runtime": {}} {
		calls, err := s.p.Sync(resource.Change{Key: orders, Desired: s.params(t, nil).With(param, v), Observed: settle(t, s.p, orders), Write: []string{param}})
		if len(calls) > 0 || !resource.Is(err, resource.Rejected) || !strings.Contains(err.Error(), param) {
			t.Errorf("%s: %d calls, %v; want a refusal that names it", param, len(calls), err)
		}
	}
}
