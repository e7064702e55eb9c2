package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reclaim/providers/awssim"
)

const (
	roles    = 200
	callTime = 50 * time.Millisecond // how long the simulated cloud takes to answer any call
)

// rolesTemplate is a stack of n roles, each with an inline policy and a tag, so that each is half made by its create.
func rolesTemplate(n int) []byte {
	var t bytes.Buffer
	t.WriteString("Resources:\n")
	for i := range n {
		fmt.Fprintf(&t, `  Role%03d:
    Type: AWS::IAM::Role
    Properties:
      RoleName: bench-%03d
      AssumeRolePolicyDocument:
        Statement: [{Effect: Allow, Principal: {Service: lambda.amazonaws.com}, Action: sts:AssumeRole}]
      Policies:
        - PolicyName: logs
          PolicyDocument:
            Statement: [{Effect: Allow, Action: logs:PutLogEvents, Resource: "*"}]
      Tags: [{Key: n, Value: "%d"}]
`, i, i, i)
	}
	return t.Bytes()
}

// BenchmarkDeployRoles: a deploy of 200 roles, and one that finds nothing to do, against what their calls take when 16
// are under way all the time. Target: 1.3 times at most.
func BenchmarkDeployRoles(b *testing.B) {
	binary(b)
	for b.Loop() {
		var deploy, noop []float64
		var calls, noopCalls int
		var took time.Duration
		for range rounds {
			c := newSlowCloud(b)
			dir := b.TempDir()
			write(b, filepath.Join(dir, "roles.yaml"), rolesTemplate(roles))
			var ratio float64
			took, calls, ratio = c.deploy(b, dir)
			deploy = append(deploy, ratio)
			_, noopCalls, ratio = c.deploy(b, dir)
			noop = append(noop, ratio)
			c.sim.Close()
		}
		slices.Sort(deploy)
		slices.Sort(noop)
		b.ReportMetric(took.Seconds(), "s/deploy")
		b.ReportMetric(float64(calls)/roles, "calls/role")
		b.ReportMetric(deploy[rounds/2], "x/calls")
		b.ReportMetric(float64(noopCalls)/roles, "noop-calls/role")
		b.ReportMetric(noop[rounds/2], "noop-x/calls")
	}
}

// slowCloud is a simulated cloud that takes callTime for each answer.
type slowCloud struct {
	sim *awssim.Server
	url string
}

func newSlowCloud(b *testing.B) *slowCloud {
	b.Helper()
	sim, err := awssim.New(awssim.Config{ID: "sim-bench"})
	if err != nil {
		b.Fatal(err)
	}
	url, err := sim.Listen("127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	sim.AddFault(awssim.Fault{Operation: "*", Times: -1, Kind: awssim.AnsweredLate, Delay: callTime})
	return &slowCloud{sim, url}
}

// deploy runs a deploy in dir and returns its time, the number of calls that it made, and its time as a multiple of what
// these take with every worker always waiting for one.
func (c *slowCloud) deploy(b *testing.B, dir string) (took time.Duration, calls int, ratio float64) {
	b.Helper()
	before := len(c.sim.Log())
	cmd := exec.Command(binary(b), "deploy", "roles.yaml", "--yes", "--scope", "123456789012/eu-west-1+sim-bench", "--parallel", fmt.Sprint(workers))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "RECLAIM_STORE="+filepath.Join(dir, ".reclaim"), "CI=", "AWS_ENDPOINT_URL="+c.url, "AWS_REGION=eu-west-1",
		"AWS_ACCESS_KEY_ID=bench", "AWS_SECRET_ACCESS_KEY=bench", "AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took = time.Since(began)
	if err != nil {
		b.Fatalf("deploy: %v\n%s", err, strings.TrimSpace(string(out[max(0, len(out)-2000):])))
	}
	calls = len(c.sim.Log()) - before
	return took, calls, took.Seconds() / (float64(calls) * callTime.Seconds() / workers)
}
