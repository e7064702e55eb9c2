package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"reclaim/engine/deploy"
)

func (s *session) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo [FOLDER]",
		Short: "A real crash to practise on, in the simulated cloud",
		Long: `Deploys a small stack to the simulated cloud in a child process, kills that process with SIGKILL after the service
executed its creates and before their answers could be recorded, and opens the full-screen interface on what is left:
a role that is ours, an API that there are two of, and a log group that someone else made in between.
Without a terminal it prints what happened, the status, and the commands that go on. Everything is in FOLDER
(default: reclaim-demo, or reclaim-demo-2 and so on); remove it to be rid of it.`,
		Args: cobra.MaximumNArgs(1),
		RunE: s.run(s.demo),
	}
}

// demoStack is the template that the demo deploys.
const demoStack = "checkout.yaml"

// crashed is what a demo run leaves: a folder, and a simulated cloud that still runs.
type crashed struct {
	dir, self string
	cloud     Sim
	sim       simAdmin
	env       []string
	story     []string
}

func (s *session) demo(ctx context.Context, args []string) error {
	if s.json {
		return usage("demo is for people; the same commands with --json are for programs")
	}
	dir := freeFolder("reclaim-demo")
	if len(args) == 1 {
		dir = args[0]
	}
	c, err := s.prepareDemo(dir)
	if err != nil {
		return err
	}
	if err := c.crash(ctx); err != nil {
		return errors.Join(err, c.cloud.Close())
	}
	if s.asks() {
		return s.practise(c)
	}
	return s.tell(c)
}

// freeFolder is the name, or the name with the first number that makes it one that is not there yet.
func freeFolder(name string) string {
	free := name
	for n := 2; ; n++ {
		if _, err := os.Lstat(free); errors.Is(err, fs.ErrNotExist) {
			return free
		}
		free = fmt.Sprintf("%s-%d", name, n)
	}
}

// prepareDemo makes the folder and starts the simulated cloud.
func (s *session) prepareDemo(dir string) (*crashed, error) {
	if left, err := os.ReadDir(dir); err == nil && len(left) > 0 {
		return nil, usage("folder %s is not empty; remove it or name another: reclaim demo FOLDER", dir)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the demo's folder: %w", err)
	}
	text, err := fs.ReadFile(s.Stacks, demoStack)
	if err != nil {
		return nil, fmt.Errorf("read the demo's stack: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, demoStack), text, 0o644); err != nil {
		return nil, fmt.Errorf("write the demo's stack: %w", err)
	}
	const region = "eu-west-1"
	cloud, err := s.Sim(SimConfig{State: filepath.Join(dir, "cloud.json"), Region: region})
	if err != nil {
		return nil, err
	}
	url, err := cloud.Listen("127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, cloud.Close())
	}
	return &crashed{dir: dir, self: self, cloud: cloud, sim: simAdmin{url}, env: simEnv(url, region)}, nil
}

// crash deploys in a child process and kills it while the service has executed three creates and answered none.
func (c *crashed) crash(ctx context.Context) error {
	stranger := map[string]any{"op": "CreateLogGroup", "region": "eu-west-1", "params": map[string]any{"logGroupName": "/shop/checkout"},
		"tags": map[string]string{"team": "search"}}
	for _, f := range []map[string]any{
		{"operation": "CreateRole", "kind": "answered-late", "delay": "1h"},
		{"operation": "CreateApi", "kind": "answered-late", "delay": "1h"},
		{"operation": "CreateLogGroup", "kind": "answered-late", "delay": "1h", "then": []any{stranger}},
	} {
		if err := c.sim.post(ctx, "faults", f); err != nil {
			return err
		}
	}
	log, err := os.Create(filepath.Join(c.dir, "deploy.log"))
	if err != nil {
		return fmt.Errorf("write the demo's log: %w", err)
	}
	defer log.Close()
	child := c.command("deploy", demoStack, "--yes", "--scope", "123456789012/eu-west-1")
	child.Stdout, child.Stderr = log, log
	if err := child.Start(); err != nil {
		return fmt.Errorf("start the demo's deploy: %w", err)
	}
	err = c.awaitCreates(ctx)
	child.Process.Kill()
	child.Wait()
	if err != nil {
		return fmt.Errorf("%w; what the deploy said is in %s", err, log.Name())
	}
	c.story = append(c.story, fmt.Sprintf("deployed %s to the simulated cloud, in process %d", demoStack, child.Process.Pid),
		"the cloud executed CreateRole and CreateApi, and answered neither",
		"someone else made the log group /shop/checkout just before CreateLogGroup arrived",
		fmt.Sprintf("killed process %d with SIGKILL: no answer was recorded", child.Process.Pid))
	return c.copyByHand(ctx)
}

// copyByHand makes a second API with the tags of the first, as someone does who clones one to try something.
func (c *crashed) copyByHand(ctx context.Context) error {
	state, err := c.sim.state(ctx)
	if err != nil {
		return err
	}
	if len(state.Apis) != 1 {
		return fmt.Errorf("the simulated cloud holds %d APIs, want 1", len(state.Apis))
	}
	err = c.sim.post(ctx, "actions", map[string]any{"op": "CreateApi", "region": "eu-west-1", "tags": state.Apis[0].Tags,
		"params": map[string]any{"name": "checkout", "protocolType": "HTTP"}})
	c.story = append(c.story, "someone copied the new API, tags and all: there are two now")
	return errors.Join(err, c.sim.delete(ctx, "faults"))
}

// awaitCreates waits until the cloud has dealt with all three creates.
func (c *crashed) awaitCreates(ctx context.Context) error {
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		state, err := c.sim.state(ctx)
		if err != nil {
			return err
		}
		if len(state.Roles) == 1 && len(state.Apis) == 1 && len(state.Groups) == 1 {
			seen, err := c.sim.seen(ctx, "CreateLogGroup")
			if seen || err != nil {
				return err
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	return errors.New("the demo's deploy did not get as far as its creates within a minute")
}

// command is this program, in the demo's folder and against its cloud.
func (c *crashed) command(args ...string) *exec.Cmd {
	cmd := exec.Command(c.self, args...)
	cmd.Dir = c.dir
	cmd.Env = append(withoutAWS(os.Environ()), c.env...)
	cmd.Env = append(cmd.Env, "RECLAIM_STORE=")
	return cmd
}

// practise opens the interface on what the crash left, in a process of its own, as the user would.
func (s *session) practise(c *crashed) error {
	cmd := c.command()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Stdin, s.Stdout, s.Stderr
	s.interrupt.deal(func(os.Signal) bool { return true }) // the terminal sends it to the interface itself
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		s.rep.codes = append(s.rep.codes, exit.ExitCode())
		err = nil
	}
	s.rep.text = c.goOn("To come back:")
	return errors.Join(err, c.cloud.Close())
}

// tell prints what happened, the status, and the commands that go on.
func (s *session) tell(c *crashed) error {
	status := c.command("status", "checkout")
	out, err := status.Output()
	if err != nil {
		return errors.Join(fmt.Errorf("status of the demo: %w", err), c.cloud.Close())
	}
	s.rep.result, s.rep.text = nil, "What happened:\n"
	for i, line := range c.story {
		s.rep.text += fmt.Sprintf("  %d. %s\n", i+1, line)
	}
	s.rep.text += "\nWhat the store knows, without asking the cloud:\n\n" + string(out) + "\n" + c.goOn("Go on with:")
	s.rep.codes = append(s.rep.codes, deploy.ExitDone)
	return c.cloud.Close()
}

// goOn lists the commands that take it from here. Each brings the simulated cloud back for as long as it runs.
func (c *crashed) goOn(title string) string {
	self := c.self
	if found, err := exec.LookPath("reclaim"); err == nil && found == self {
		self = "reclaim"
	}
	self = shellWord(self)
	text := title + "\n\n  cd " + shellWord(c.dir) + "\n"
	for _, l := range []struct{ args, what string }{
		{"", "the interface: R recovers"},
		{"recover checkout", "the evidence and the verdicts, as text"},
		{"plan " + demoStack, "what a deploy would do now"},
	} {
		text += fmt.Sprintf("  %-58s # %s\n", self+" sim --state cloud.json -- "+self+" "+l.args, l.what)
	}
	return text
}
