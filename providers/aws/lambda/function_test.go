package lambda_test

import (
	"testing"
	"time"

	"reclaim/engine/resource"
)

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
