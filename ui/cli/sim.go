package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"reclaim/engine/deploy"
)

type simOptions struct{ listen, state string }

func (s *session) simCommand() *cobra.Command {
	var o simOptions
	c := &cobra.Command{
		Use:   "sim [-- COMMAND ARGS…]",
		Short: "Run the simulated cloud",
		Long: `Serves a simulated cloud on this machine: what of STS, IAM, CloudWatch Logs, API Gateway v2, Lambda, DynamoDB and EventBridge Reclaim uses, with the
services' own error codes.
It is a stand-in, not AWS. With a COMMAND it serves while that runs, with AWS_ENDPOINT_URL and credentials set for it, and
exits with its code. Without one it prints what to export, and serves until it is interrupted.`,
		RunE: s.run(func(ctx context.Context, args []string) error { return s.sim(ctx, &o, args) }),
	}
	c.Flags().StringVar(&o.listen, "listen", "127.0.0.1:0", "loopback address to serve on; port 0 picks a free one")
	c.Flags().StringVar(&o.state, "state", "", "file that keeps the simulated cloud between runs")
	return c
}

func (s *session) sim(ctx context.Context, o *simOptions, args []string) error {
	if s.json && len(args) > 0 {
		return usage("sim --json takes no COMMAND: its output would mix with the answer")
	}
	region := s.region
	if region == "" {
		region = "eu-west-1"
	}
	cloud, err := s.Sim(SimConfig{State: o.state, Region: region})
	if err != nil {
		return err
	}
	url, err := cloud.Listen(o.listen)
	if err != nil {
		return errors.Join(err, cloud.Close())
	}
	s.note("this is a SIMULATED cloud (%s), not AWS; it serves on %s", cloud.ID(), url)
	env := simEnv(url, region)
	if len(args) > 0 {
		code, err := s.under(env, args)
		if err = errors.Join(err, cloud.Close()); err == nil {
			s.exit = &code
		}
		return err
	}
	s.rep.result = map[string]any{"simulated": true, "id": cloud.ID(), "url": url, "env": env}
	s.rep.text = ""
	for _, kv := range env {
		s.rep.text += "export " + kv + "\n"
	}
	if err := s.announce(); err != nil {
		return errors.Join(err, cloud.Close())
	}
	<-ctx.Done()
	return cloud.Close()
}

// announce prints the reply now: what follows runs until it is interrupted, which is how it ends well.
func (s *session) announce() error {
	done := deploy.ExitDone
	s.exit = &done
	if s.json {
		if err := s.rep.printJSON(s.out, s.command); err != nil {
			return err
		}
	} else {
		fmt.Fprint(s.out, s.rep.text)
	}
	return s.out.Flush()
}

// simEnv is what makes the AWS SDKs and CLI use the simulated cloud.
func simEnv(url, region string) []string {
	return []string{"AWS_ENDPOINT_URL=" + url, "AWS_ACCESS_KEY_ID=simulated", "AWS_SECRET_ACCESS_KEY=simulated",
		"AWS_REGION=" + region, "AWS_DEFAULT_REGION=" + region, "AWS_EC2_METADATA_DISABLED=true"}
}

// withoutAWS is an environment without any of the caller's own AWS settings: a profile or a service's own endpoint could
// lead to the real cloud.
func withoutAWS(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool { return strings.HasPrefix(kv, "AWS_") })
}

// under runs a command with env, and nothing of the caller's own AWS settings, and returns its exit code.
func (s *session) under(env, args []string) (int, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Stdin, s.Stdout, s.Stderr
	cmd.Env = append(withoutAWS(os.Environ()), env...)
	if err := cmd.Start(); err != nil {
		return deploy.ExitError, fmt.Errorf("run %s: %w", args[0], err)
	}
	s.interrupt.deal(func(sig os.Signal) bool {
		if sig != os.Interrupt { // the terminal sends Ctrl-C to the command itself
			cmd.Process.Signal(sig)
		}
		return true
	})
	err := cmd.Wait()
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return deploy.ExitDone, nil
	case !failed:
		return deploy.ExitError, fmt.Errorf("run %s: %w", args[0], err)
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return exit.ExitCode(), nil
}
