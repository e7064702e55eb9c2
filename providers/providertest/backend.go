package providertest

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"reclaim/engine/resource"
	"reclaim/providers"
	"reclaim/providers/aws/session"
	"reclaim/providers/awssim"
)

// Backend is a service that speaks AWS's protocols, with a session that goes there.
type Backend struct {
	Name    string // "awssim", "moto"
	URL     string // where it listens
	Session *session.Session
	Sim     *awssim.Server // nil for moto
}

// Sim starts a simulated cloud. The environment is the test's own until it ends.
func Sim(t *testing.T) *Backend {
	t.Helper()
	s, err := awssim.New(awssim.Config{Account: "111122223333", Region: "eu-west-1", ID: "providertest", Scale: 0.01})
	if err != nil {
		t.Fatalf("start simulated cloud: %v", err)
	}
	url, err := s.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatalf("start simulated cloud: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return &Backend{Name: "awssim", URL: url, Sim: s, Session: OpenAt(t, url)}
}

// OpenAt opens a session that goes to url and reads nothing of this machine's AWS configuration.
func OpenAt(t *testing.T, url string) *session.Session {
	t.Helper()
	for name, text := range map[string]string{
		"AWS_ENDPOINT_URL": url, "AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_SESSION_TOKEN": "",
		"AWS_PROFILE": "", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true", "AWS_CA_BUNDLE": "",
	} {
		t.Setenv(name, text)
	}
	s, err := session.Open(t.Context(), session.Config{})
	if err != nil {
		t.Fatalf("open session: %v", err)
	}
	return s
}

// Moto starts moto_server, or skips the test where it is not installed.
func Moto(t *testing.T) *Backend {
	t.Helper()
	path, err := exec.LookPath("moto_server")
	if err != nil {
		t.Skip("skipped: needs moto_server")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	host, port, _ := strings.Cut(addr, ":")
	cmd := exec.Command(path, "-H", host, "-p", port)
	cmd.Env = append(os.Environ(), "MOTO_IAM_LOAD_MANAGED_POLICIES=true")
	if err := cmd.Start(); err != nil {
		t.Fatalf("start moto_server: %v", err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	awaitServer(t, "http://"+addr)
	return &Backend{Name: "moto", URL: "http://" + addr, Session: OpenAt(t, "http://"+addr)}
}

// awaitServer waits until url answers; starting takes moto some seconds.
func awaitServer(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		resp, err := http.Get(url + "/moto-api/")
		if err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("moto_server did not start at %s", url)
}

// Log returns what the backend was sent, for Case.Log; nil where it keeps no log.
func (b *Backend) Log() func() []Sent {
	if b.Sim == nil {
		return nil
	}
	return func() []Sent {
		var out []Sent
		for _, r := range b.Sim.Log() {
			params, _ := json.Marshal(r.Params) // plain data, as it was decoded
			out = append(out, Sent{Operation: r.Operation, Changing: r.Changing, Params: string(params)})
		}
		return out
	}
}

// Break arms one fault, for Case.Break; nil where the backend has none. "error:CODE" answers that code.
func (b *Backend) Break() func(op, kind string) {
	if b.Sim == nil {
		return nil
	}
	return func(op, kind string) {
		kind, code, _ := strings.Cut(kind, ":")
		b.Sim.AddFault(awssim.Fault{Operation: op, Kind: awssim.FaultKind(kind), Code: code, Delay: time.Hour}) // of a lag: it outlives the test
	}
}

// inRegion opens the provider of a type on the same backend, in another region.
func inRegion(t *testing.T, typ, region string) resource.Provider {
	t.Helper()
	c, err := providers.Open(t.Context(), providers.Config{Region: region}, []string{typ})
	if err != nil {
		t.Fatalf("open %s: %v", region, err)
	}
	p, ok := c.Provider(typ)
	if !ok {
		t.Fatalf("no provider of %s", typ)
	}
	return p
}

// InRegion opens another session to the same backend, in another region.
func (b *Backend) InRegion(t *testing.T, region string) *session.Session {
	t.Helper()
	s, err := session.Open(t.Context(), session.Config{Region: region})
	if err != nil {
		t.Fatalf("open session: %v", err)
	}
	return s
}
