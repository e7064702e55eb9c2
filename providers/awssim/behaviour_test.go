package awssim

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// behaviour is one claim about the real services that a client can check: the last call either answers what want says, or is
// refused with code and status. The same claims run against the simulated cloud and against moto.
type behaviour struct {
	claim  string
	do     func(k clients) (got, want any, err error)
	refuse refusal
}

// behaviours is every claim; each service has its own file.
func behaviours() []behaviour {
	var out []behaviour
	for _, part := range [][]behaviour{stsBehaviours(), roleBehaviours(), policyBehaviours(), documentBehaviours(), logBehaviours(), apiBehaviours(),
		integrationBehaviours(), routeBehaviours(), authorizerBehaviours(), stageBehaviours(), deploymentBehaviours(), lambdaBehaviours(),
		eventBehaviours(), tableBehaviours()} {
		out = append(out, part...)
	}
	return out
}

// check returns "" or what is wrong.
func (b behaviour) check(k clients) string {
	got, want, err := b.do(k)
	if r := refusalOf(err); r != b.refuse {
		if err != nil {
			return cmp.Diff(b.refuse, r) + err.Error()
		}
		return cmp.Diff(b.refuse, r)
	}
	if err != nil {
		return ""
	}
	return cmp.Diff(want, got)
}

func TestTheSDKIsAnsweredAsByTheServices(t *testing.T) {
	_, url := newCloud(t, Config{Scale: claimScale})
	for _, b := range behaviours() {
		t.Run(b.claim, func(t *testing.T) {
			if diff := b.check(newClients(t, url, plainKey, region)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEveryOperationIsClaimed enumerates from the code: an operation that no claim carries out fails here.
func TestEveryOperationIsClaimed(t *testing.T) {
	s, url := newCloud(t, Config{Scale: claimScale})
	for _, b := range behaviours() {
		b.do(newClients(t, url, plainKey, region)) //nolint:errcheck // judged above
	}
	executed, refused := map[string]bool{}, map[string]bool{}
	for _, r := range s.Log() {
		executed[r.Service+"."+r.Operation] = executed[r.Service+"."+r.Operation] || r.Executed
		refused[r.Service+"."+r.Operation] = refused[r.Service+"."+r.Operation] || !r.Executed
	}
	cannotFail := map[string]bool{"sts.GetCallerIdentity": true}
	for service, table := range operations {
		for name := range table {
			op := service + "." + name
			if !executed[op] {
				t.Errorf("no claim carries out %s", op)
			}
			if !refused[op] && !cannotFail[op] {
				t.Errorf("no claim has %s refused", op)
			}
		}
	}
}
