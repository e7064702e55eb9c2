package deploy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reclaim/engine/deploy"
	"reclaim/engine/event"
	"reclaim/engine/plan"
	"reclaim/engine/record"
	"reclaim/providers/awssim"
)

// A permission has no tags, but its statement ID holds the nonce: a lost answer is found by it.
func TestAPermissionIsFoundByItsStatementID(t *testing.T) {
	base, text := stack(role, code), stack(role, code, permission)
	statements := func(w *world) []*awssim.Permission { return w.sim.State().Functions[0].Policy }
	t.Run("carried out: ours by the nonce", func(t *testing.T) {
		w := newWorld(t)
		wantDone(t, w.deploy(base))
		w.killed(text, sending("Permission"))
		w.wantRow("Permission", "2")
		wantDone(t, w.deploy(text))
		if len(statements(w)) != 1 || w.executed("AddPermission") != 1 {
			t.Errorf("%d statements, %d calls", len(statements(w)), w.executed("AddPermission"))
		}
		w.wantNoop(text)
	})
	t.Run("an equal statement of a stranger is listed, and never ours", func(t *testing.T) {
		w := newWorld(t)
		wantDone(t, w.deploy(base))
		w.sim.AddFault(awssim.Fault{Operation: "AddPermission", Kind: awssim.NotExecutedUnanswered})
		w.killed(text, sending("Permission"))
		w.stranger("AddPermission", map[string]any{"FunctionName": "orders", "StatementId": "theirs", "Action": "lambda:InvokeFunction", "Principal": "events.amazonaws.com"})
		w.wantRow("Permission", "12")
		wantDone(t, w.deploy(text))
		if len(statements(w)) != 2 || !strings.HasPrefix(w.records()["Permission"].Physical, "orders|reclaim-") {
			t.Errorf("%d statements; ours is %s", len(statements(w)), w.records()["Permission"].Physical)
		}
		w.wantNoop(text)
		w.deploy(base)
		if left := statements(w); len(left) != 1 || left[0].Sid != "theirs" {
			t.Errorf("%d statements are left", len(left))
		}
	})
	t.Run("its function is gone with it: nothing is left to judge, and it is made on the new one", func(t *testing.T) {
		w := newWorld(t)
		wantDone(t, w.deploy(base))
		w.killed(text, sending("Permission"))
		w.stranger("DeleteFunction", map[string]any{"FunctionName": "orders"})
		w.elapse()
		w.wantRow("Permission", "12")
		w.deploy(text)
		w.elapse()
		wantDone(t, w.deploy(text))
		if len(statements(w)) != 1 {
			t.Errorf("%d statements", len(statements(w)))
		}
		w.wantNoop(text)
	})
}

// Rows 2 and 9: a table that the service says is in use, or that it failed on, is ours by its nonce, and is one.
func TestATableThatIsInUseAfterAFailureIsOurs(t *testing.T) {
	text := stack(table)
	for name, faults := range map[string][]awssim.Fault{
		"a failure after the execution":          {{Operation: "CreateTable", Kind: awssim.ErrorAfterExecute}},
		"in use after the execution":             {{Operation: "CreateTable", Kind: awssim.ErrorAfterExecute, Code: "ResourceInUseException"}},
		"a failure, and not visible for a while": {{Operation: "CreateTable", Kind: awssim.ErrorAfterExecute}, {Operation: "CreateTable", Kind: awssim.Lag, Delay: 5 * time.Second}},
		"a failure, and not visible past the window: the second attempt says in use": {{Operation: "CreateTable", Kind: awssim.ErrorAfterExecute},
			{Operation: "CreateTable", Kind: awssim.Lag, Delay: 10 * time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.deploy(stack(logs))
			for i := len(faults) - 1; i >= 0; i-- { // what only lags comes first
				w.sim.AddFault(faults[i])
			}
			w.deploy(text)
			w.elapse()
			o := w.deploy(text)
			wantDone(t, o)
			if n := w.executed("CreateTable"); n != 1 || len(w.sim.State().Tables) != 1 {
				t.Errorf("%d creates carried out, %d tables", n, len(w.sim.State().Tables))
			}
			if r := w.records()["Table"]; r.Origin != record.ByCreate || r.Status != record.Made {
				t.Errorf("the record is %s by %s", r.Status, r.Origin)
			}
			w.wantNoop(text)
		})
	}
}

// emptyZip is an archive without a file.
var emptyZip = append([]byte("PK\x05\x06"), make([]byte, 18)...)

// A function has one code for "exists" and for "busy". Busy is come back to, and never taken for "exists".
func TestABusyFunctionDoesNotExist(t *testing.T) {
	text := stack(role, code)
	t.Run("a create that met a conflict and made nothing is sent again", func(t *testing.T) {
		w := newWorld(t)
		w.sim.AddFault(awssim.Fault{Operation: "CreateFunction", Kind: awssim.Refused, Code: "ResourceConflictException", Times: 2})
		wantDone(t, w.deploy(text))
		if w.executed("CreateFunction") != 1 {
			t.Errorf("%d creates", w.executed("CreateFunction"))
		}
		for _, e := range w.events {
			if c, ok := e.Event.(event.Called); ok && c.Outcome == "AlreadyExists" {
				t.Errorf("a call ended as %s", c.Outcome)
			}
		}
		w.wantNoop(text)
	})
	t.Run("updates of code and configuration do not get into each other's way", func(t *testing.T) {
		w := newWorld(t)
		wantDone(t, w.deploy(text))
		changed := strings.NewReplacer("=> null", "=> 1", "Runtime:", "MemorySize: 512\n      Timeout: 9\n      Runtime:").Replace(text)
		before := len(w.sim.Log())
		w.sim.AddFault(awssim.Fault{Operation: "UpdateFunctionConfiguration", Kind: awssim.Refused, Code: "ResourceConflictException"})
		wantDone(t, w.deploy(changed))
		for _, r := range w.sim.Log()[before:] {
			if r.Operation == "CreateFunction" || r.Operation == "DeleteFunction" {
				t.Errorf("sent %s", r.Operation)
			}
		}
		f := w.sim.State().Functions
		if len(f) != 1 || f[0].MemorySize != 512 || w.executed("UpdateFunctionCode") != 1 {
			t.Errorf("%d functions; %d updates of code", len(f), w.executed("UpdateFunctionCode"))
		}
		w.wantNoop(changed)
	})
	t.Run("one of a stranger exists", func(t *testing.T) {
		w := newWorld(t)
		wantDone(t, w.deploy(stack(role)))
		w.elapse()
		w.sim.AddFault(awssim.Fault{Operation: "CreateFunction", Then: []awssim.Action{{Op: "CreateFunction", Params: map[string]any{
			"FunctionName": "orders", "Role": w.sim.State().Roles[0].ARN, "Runtime": "nodejs22.x", "Handler": "theirs.handler",
			"Code": map[string]any{"ZipFile": emptyZip}}}}})
		o := w.deploy(text)
		if o.Exit == 0 || w.executed("CreateFunction") != 0 {
			t.Errorf("exit %d: %s", o.Exit, told(o))
		}
		w.wantRow("Code", "7")
		before := len(w.sim.Log())
		w.elapse()
		w.deploy(text)
		w.destroy()
		for _, c := range w.changing(before) {
			if strings.Contains(c, "Function") {
				t.Errorf("sent %s", c)
			}
		}
	})
}

// A log group that Lambda made by itself between our look and our create carries nothing of ours: it is not proven, and
// nobody's to take without a word.
func TestALogGroupThatLambdaMadeIsNotOurs(t *testing.T) {
	may := strings.Replace(role, "dynamodb:GetItem", "logs:*", 1)
	group := strings.Replace(logs, "/orders/app", "/aws/lambda/orders", 1)
	base, text := stack(may, code), stack(may, code, group)
	w := newWorld(t)
	wantDone(t, w.deploy(base))
	w.sim.AddFault(awssim.Fault{Operation: "CreateLogGroup", Then: []awssim.Action{{Op: "Invoke", Params: map[string]any{"FunctionName": "orders"}}}})
	o := w.deploy(text)
	if groups := w.sim.State().LogGroups; len(groups) != 1 || len(groups[0].Tags) != 0 || o.Exit != deploy.ExitUncertain {
		t.Fatalf("exit %d, %d groups: %s", o.Exit, len(groups), told(o))
	}
	w.wantRow("Logs", "7")
	w.elapse()
	before := len(w.sim.Log())
	w.recover(deploy.RecoverRequest{Auto: true})
	w.deploy(text)
	if sent := w.changing(before); len(sent) != 0 {
		t.Errorf("sent %v", sent)
	}
	w.decideAs("Logs", record.Adopt, "/aws/lambda/orders")
	wantDone(t, w.deploy(text))
	if r := w.records()["Logs"]; r.Origin != record.ByAdopt {
		t.Errorf("the record is by %s", r.Origin)
	}
	w.wantNoop(text)
	if it := w.planDestroy().Item("Logs", 0); it.Action != plan.Delete || len(it.Needs) < 2 {
		t.Errorf("destroying it is %s and needs %v", it.Action, it.Needs)
	}
}

// New code and whatever else changes with it are one plan and one run, in whichever way config says where the code is.
func TestNewCodeIsOneRun(t *testing.T) {
	zip := "  Bundle:\n    Type: Std::FS::Zip\n    Properties: {Path: ./out/PATH.zip, Source: ./code}\n"
	from := func(where string) string {
		return strings.Replace(code, `Code: {ZipFile: "exports.handler = async () => null"}`, "Code: "+where, 1)
	}
	for name, c := range map[string]struct {
		text    string
		replace []string // what changes in the template, besides the source
	}{
		"the bundle's own attributes": {stack(role, zip, from("{LocalPath: !GetAtt Bundle.Path, Sha256: !GetAtt Bundle.Sha256}")), nil},
		"the bundle moves too":        {stack(role, zip, from("{LocalPath: !GetAtt Bundle.Path, Sha256: !GetAtt Bundle.Sha256}")), []string{"PATH", "two"}},
		"a path that is written out": {stack(role, zip, strings.Replace(from("{LocalPath: ./out/PATH.zip}"), "    Properties", "    DependsOn: Bundle\n    Properties", 1)),
			[]string{"PATH", "two"}},
		"inline, and what it is told changes": {stack(role, table, strings.Replace(code, "      Code:", "      Environment: {Variables: {TABLE: !GetAtt Table.Arn}}\n      Code:", 1)),
			[]string{"=> null", "=> 1", "PAY_PER_REQUEST", "PROVISIONED\n      ProvisionedThroughput: {ReadCapacityUnits: 1, WriteCapacityUnits: 1}"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			source := func(text string) {
				must(t, os.MkdirAll(filepath.Join(w.dir, "code"), 0o755))
				must(t, os.WriteFile(filepath.Join(w.dir, "code", "index.js"), []byte(text), 0o644))
			}
			source("exports.handler = async () => 1")
			wantDone(t, w.deploy(c.text))
			w.elapse()
			was := w.sim.State().Functions[0].CodeSha256
			source("exports.handler = async () => 2")
			next := strings.NewReplacer(c.replace...).Replace(c.text)
			if it := w.plan(w.graph(next)).Item("Code", 0); it.Action != plan.Update {
				t.Errorf("planned %s: %s", it.Action, it.Detail)
			}
			wantDone(t, w.deploy(next))
			if f := w.sim.State().Functions; len(f) != 1 || f[0].CodeSha256 == was || w.executed("UpdateFunctionCode") != 1 {
				t.Errorf("%d functions, %d updates of code; the hash is %s and was %s", len(f), w.executed("UpdateFunctionCode"), f[0].CodeSha256, was)
			}
			w.elapse()
			w.wantNoop(next)
		})
	}
}
