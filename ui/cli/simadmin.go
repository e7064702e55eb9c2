package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// simAdmin speaks to the simulated cloud's own paths, beside those of the services.
type simAdmin struct{ url string }

// simState is what the demo asks of the cloud's state.
type simState struct {
	Roles  []struct{} `json:"roles"`
	Groups []struct{} `json:"logGroups"`
	Apis   []struct {
		Tags map[string]string `json:"tags"`
	} `json:"apis"`
}

func (a simAdmin) state(ctx context.Context) (simState, error) {
	var st simState
	err := a.call(ctx, http.MethodGet, "state", nil, &st)
	return st, err
}

// seen reports whether a request of an operation has been dealt with.
func (a simAdmin) seen(ctx context.Context, operation string) (bool, error) {
	var log []struct {
		Operation string `json:"operation"`
	}
	err := a.call(ctx, http.MethodGet, "log", nil, &log)
	for _, r := range log {
		if r.Operation == operation {
			return true, err
		}
	}
	return false, err
}

func (a simAdmin) post(ctx context.Context, path string, body any) error {
	return a.call(ctx, http.MethodPost, path, body, nil)
}

func (a simAdmin) delete(ctx context.Context, path string) error {
	return a.call(ctx, http.MethodDelete, path, nil, nil)
}

func (a simAdmin) call(ctx context.Context, method, path string, body, into any) error {
	var send io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encode for the simulated cloud: %w", err)
		}
		send = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, a.url+"/_sim/"+path, send)
	if err != nil {
		return fmt.Errorf("ask the simulated cloud: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask the simulated cloud: %w", err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		return fmt.Errorf("ask the simulated cloud: %s %s answered %s: %s", method, path, resp.Status, got)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(got, into); err != nil {
		return fmt.Errorf("read the simulated cloud's %s: %w", path, err)
	}
	return nil
}
