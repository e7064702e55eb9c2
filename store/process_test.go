package store_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"reclaim/engine/record"
	"reclaim/engine/resource"
	"reclaim/store"
)

// The test binary runs itself as another process that uses a store; childVerb says what it does, childDir where.
const (
	childVerb = "RECLAIM_STORE_TEST_CHILD"
	childDir  = "RECLAIM_STORE_TEST_DIR"
)

func TestMain(m *testing.M) {
	if verb := os.Getenv(childVerb); verb != "" {
		if err := childVerbs[verb](os.Getenv(childDir)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var childVerbs = map[string]func(dir string) error{
	// write commits records until it is killed, and prints the number of each after it is durable.
	"write": func(dir string) error {
		s, f, err := childHold(dir, "writer")
		if err != nil {
			return err
		}
		defer s.Close()
		for i := 0; ; i++ {
			if err := putFile(s, f, i); err != nil {
				return err
			}
			fmt.Println(i)
		}
	},
	// some commits 300 records of its own stack.
	"some": func(dir string) error {
		s, f, err := childHold(dir, "child")
		if err != nil {
			return err
		}
		defer s.Close()
		for i := range 300 {
			r := benchRecord(f.Stack, i)
			r.Claim = ""
			if err := s.Write(ctx, f, func(t record.Tx) error { return t.PutRecord(&r, record.Step{Name: "s"}) }); err != nil {
				return err
			}
		}
		return nil
	},
	// read reads until it is killed.
	"read": func(dir string) error {
		s, err := store.Open(dir, store.Options{ReadOnly: true})
		if err != nil {
			return err
		}
		defer s.Close()
		for i := 0; ; i++ {
			err := s.Read(ctx, func(v record.View) error { _, _, err := v.Records(stack); return err })
			if err != nil {
				return err
			}
			fmt.Println(i)
		}
	},
	// inside stays inside a read until it is killed.
	"inside": func(dir string) error {
		s, err := store.Open(dir, store.Options{ReadOnly: true})
		if err != nil {
			return err
		}
		return s.Read(ctx, func(record.View) error { fmt.Println(0); select {} })
	},
	// follow follows the spool of x1 until it is killed, and prints how late each line came, in microseconds.
	"follow": func(dir string) error {
		return store.Follow(ctx, dir, "x1", func(line []byte) {
			if sent, err := strconv.ParseInt(string(line), 10, 64); err == nil {
				fmt.Println(time.Since(time.Unix(0, sent)).Microseconds())
			}
		})
	},
	// status reads what status reads, once a second until it is killed.
	"status": func(dir string) error {
		for i := 0; ; i++ {
			s, err := store.Open(dir, store.Options{ReadOnly: true})
			if err != nil {
				return err
			}
			err = s.Read(ctx, func(v record.View) error { _, _, err := v.Records(stack); return err })
			if err := errors.Join(err, s.Close()); err != nil {
				return err
			}
			fmt.Println(i)
			time.Sleep(time.Second)
		}
	},
	"full disk":   fullAt(400 << 10),  // the file is larger already, and sparse: writing a page fails
	"full growth": fullAt(4400 << 10), // growing the file fails
	// locked keeps the file locked until it is killed.
	"locked": func(dir string) error {
		f, err := os.Open(dbFile(dir))
		if err != nil {
			return err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			return err
		}
		fmt.Println(0)
		select {}
	},
}

// fullAt writes until the file may not be written beyond limited bytes, then goes on when it may again. It prints how
// many records there are to be.
func fullAt(limited uint64) func(dir string) error {
	return func(dir string) error {
		signal.Ignore(syscall.SIGXFSZ)
		s, f, err := childHold(dir, "child")
		if err != nil {
			return err
		}
		defer s.Close()
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			return err
		}
		full := syscall.Rlimit{Cur: limited, Max: limit.Max}
		for n := range 5 {
			if err := putFile(s, f, n); err != nil {
				return err
			}
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
			return err
		}
		n := 5
		for ; err == nil && n < 10_000; n++ {
			err = putFile(s, f, n)
		}
		again := putFile(s, f, n)
		if !errors.Is(err, record.ErrWrite) || !errors.Is(again, record.ErrWrite) {
			return fmt.Errorf("record %d: got %v, then %v, want ErrWrite", n, err, again)
		}
		if _, err := s.Emergency(evidence("A")); err != nil {
			return err
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			return err
		}
		fmt.Println(n) // n-1 are written; the next is again the n-th
		return putFile(s, f, n-1)
	}
}

func childHold(dir, name string) (*store.Store, record.Fence, error) {
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		return nil, record.Fence{}, err
	}
	of := record.StackID{Name: name, Scope: stack.Scope}
	h, err := s.Acquire(ctx, record.Hold{Stack: of, Execution: "x1", Owner: store.Owner()})
	return s, record.Fence{Stack: of, Execution: "x1", Epoch: h.Epoch}, err
}

// child is another process on a store.
type child struct {
	t   testing.TB
	cmd *exec.Cmd
	out *bufio.Scanner
	at  int // last number it printed
}

func start(t testing.TB, verb, dir string, env ...string) *child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(append(os.Environ(), childVerb+"="+verb, childDir+"="+dir), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{t: t, cmd: cmd, out: bufio.NewScanner(out)}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return c
}

// next reads the child's next number; false when it has ended.
func (c *child) next() bool {
	c.t.Helper()
	if !c.out.Scan() {
		return false
	}
	var err error
	if c.at, err = strconv.Atoi(c.out.Text()); err != nil {
		c.t.Fatalf("child said %s", c.out.Text())
	}
	return true
}

// count waits until the child has printed n.
func (c *child) count(n int) {
	c.t.Helper()
	for c.next() {
		if c.at >= n {
			return
		}
	}
	c.t.Fatal("child ended")
}

// kill kills the child and returns the last number it printed.
func (c *child) kill() int {
	c.t.Helper()
	c.cmd.Process.Kill()
	for c.next() {
	}
	c.cmd.Wait()
	return c.at
}

func TestTwoProcessesWriteOneStore(t *testing.T) {
	s := made(t)
	f := held(t, s)
	c := start(t, "some", s.Dir())
	for i := range 300 {
		if err := putFile(s, f, i); err != nil {
			t.Fatal(err)
		}
	}
	for c.next() {
	}
	if err := c.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	other := opened(t, s.Dir(), store.Options{})
	for _, of := range []record.StackID{stack, {Name: "child", Scope: stack.Scope}} {
		if n := countRecords(t, other, of); n != 300 {
			t.Errorf("%s has %d records, want 300", of, n)
		}
	}
	fits(t, other)
}

func countRecords(t *testing.T, s record.Store, of record.StackID) (n int) {
	t.Helper()
	err := s.Read(ctx, func(v record.View) error {
		list, bad, err := v.Records(of)
		n = len(list)
		if len(bad) > 0 {
			t.Errorf("bad: %v", bad)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// fits fails unless Check finds nothing in the store; evidence may wait beside it.
func fits(t *testing.T, s *store.Store) {
	t.Helper()
	found, err := s.Check(ctx, nil)
	found = slices.DeleteFunc(found, func(f record.Flaw) bool { return f.Kind == record.FlawEmergency })
	if err != nil || len(found) > 0 {
		t.Errorf("check: %v, %+v", err, found)
	}
}

func TestAKilledWriterLosesNothingItReported(t *testing.T) {
	s := made(t)
	for round := range 8 {
		c := start(t, "write", s.Dir())
		c.count(20 + 13*round)
		last := c.kill()
		of := record.StackID{Name: "writer", Scope: stack.Scope}
		if n := countRecords(t, s, of); n < last+1 || n > last+2 {
			t.Errorf("%d records after %d was reported", n, last)
		}
		fits(t, s)
		if err := s.ClearHold(ctx, of, "x1"); err != nil {
			t.Fatal(err)
		}
		f, err := s.Acquire(ctx, record.Hold{Stack: of, Execution: "clean"})
		if err != nil {
			t.Fatal(err)
		}
		fence := record.Fence{Stack: of, Execution: "clean", Epoch: f.Epoch}
		err = s.Write(ctx, fence, func(tx record.Tx) error {
			list, _, err := tx.Records(of)
			for i := range list {
				err = errors.Join(err, tx.DropRecord(&list[i], nil, record.Step{Name: "s"}))
			}
			return err
		})
		if err := errors.Join(err, s.Release(ctx, fence, record.Execution{ID: "clean", Stack: of})); err != nil {
			t.Fatal(err)
		}
	}
}

func TestASuspendedReaderBlocksNobody(t *testing.T) {
	for _, verb := range []string{"inside", "read"} {
		t.Run(verb, func(t *testing.T) {
			s := made(t)
			f := held(t, s)
			parallel(300, func(i int) { create(t, s, f, i) })
			next := 1000
			for range 10 {
				c := start(t, verb, s.Dir())
				c.count(0)
				if err := c.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
				// A write that had to wait for the reader would end in ErrLocked.
				patient := opened(t, s.Dir(), store.Options{LockWait: 300 * time.Millisecond})
				if err := errors.Join(putFile(s, f, next), putFile(patient, f, next+1)); err != nil {
					t.Error(err)
				}
				next += 2
				c.kill()
				if verb == "inside" {
					return
				}
			}
		})
	}
}

func TestAReaderGetsInBetweenTheCommitsOfABusyWriter(t *testing.T) {
	s := made(t)
	c := start(t, "write", s.Dir())
	c.count(10)
	r := opened(t, s.Dir(), store.Options{ReadOnly: true})
	of := record.StackID{Name: "writer", Scope: stack.Scope}
	seen := 0
	for range 30 {
		n := countRecords(t, r, of)
		if n < seen {
			t.Errorf("%d records after %d", n, seen)
		}
		seen = n
		time.Sleep(5 * time.Millisecond)
	}
	if last := c.kill(); seen < 10 || seen > last+2 {
		t.Errorf("saw %d of %d", seen, last)
	}
}

func TestAFullDiskRefusesTheWriteAndLosesNothing(t *testing.T) { // S36
	for _, verb := range []string{"full disk", "full growth"} {
		t.Run(verb, func(t *testing.T) {
			s := made(t)
			c := start(t, verb, s.Dir())
			c.count(1)
			if err := c.cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			if n := countRecords(t, s, record.StackID{Name: "child", Scope: stack.Scope}); n != c.at {
				t.Errorf("%d records, want %d", n, c.at)
			}
			fits(t, s)
		})
	}
}

func TestALockedStoreNamesWhoKeepsIt(t *testing.T) { // S35
	s := made(t)
	f := held(t, s)
	c := start(t, "locked", s.Dir())
	c.count(0)
	w := opened(t, s.Dir(), store.Options{LockWait: 20 * time.Millisecond})
	err := putFile(w, f, 1)
	if !errors.Is(err, record.ErrLocked) {
		t.Fatalf("got %v, want ErrLocked", err)
	}
	if _, statErr := os.Stat("/proc/locks"); statErr == nil && !strings.Contains(err.Error(), fmt.Sprintf("process %d ", c.cmd.Process.Pid)) {
		t.Errorf("%q does not name process %d", err, c.cmd.Process.Pid)
	}
	if n := countRecords(t, w, stack); n != 0 {
		t.Errorf("a reader, who needs no lock, saw %d records", n)
	}
	c.kill()
	if err := putFile(w, f, 1); err != nil {
		t.Errorf("after the lock was let go: %v", err)
	}
}

func TestOwnersAreTold(t *testing.T) {
	me := store.Owner()
	if me.PID != os.Getpid() || me.Host == "" {
		t.Errorf("got %+v", me)
	}
	if me.BootID == "" || me.StartTick == "" {
		t.Skip("skipped: needs /proc")
	}
	s := made(t)
	c := start(t, "locked", s.Dir())
	c.count(0)
	gone := me
	gone.PID = c.cmd.Process.Pid
	gone.StartTick = startTickOf(t, gone.PID)
	with := func(change func(*record.Owner)) record.Owner { o := me; change(&o); return o }
	for name, x := range map[string]struct {
		owner record.Owner
		want  resource.Tri
	}{
		"this process":                         {me, resource.Yes},
		"another that runs":                    {gone, resource.Yes},
		"a number that another process has":    {with(func(o *record.Owner) { o.StartTick += "1" }), resource.No},
		"a number nobody has":                  {with(func(o *record.Owner) { o.PID = 1 << 30 }), resource.No},
		"a boot before this one":               {with(func(o *record.Owner) { o.BootID = "x" }), resource.No},
		"another host":                         {with(func(o *record.Owner) { o.Host += "x" }), resource.Perhaps},
		"a host that says nothing of boots":    {with(func(o *record.Owner) { o.BootID = "" }), resource.Perhaps},
		"a host that says nothing of starts":   {with(func(o *record.Owner) { o.StartTick = "" }), resource.Perhaps},
		"an owner of whom nothing was written": {record.Owner{}, resource.Perhaps},
	} {
		if got := store.Alive(x.owner); got != x.want {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
	}
	c.kill()
	if got := store.Alive(gone); got != resource.No {
		t.Errorf("a process that was killed: %s", got)
	}
}

func startTickOf(t *testing.T, pid int) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.Fields(rest)[19]
}

func TestTheMachineIDIsStableAndNotTheSystemsOwn(t *testing.T) {
	id := store.MachineID()
	if id == "" || id != store.MachineID() {
		t.Errorf("%q, then %q", id, store.MachineID())
	}
	if raw, err := os.ReadFile("/etc/machine-id"); err == nil && len(raw) > 0 && strings.Contains(string(raw), id) {
		t.Error("it is part of the system's")
	}
}
