# Needs Go, git and make. race needs a C compiler too; tests that need tmux, moto or the aws CLI say so when they skip.

GO          ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
VERSION     := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

.PHONY: build test race lint golden crash bench demo check

build:
	$(GO) build -trimpath -ldflags '-X main.version=$(VERSION)' -o bin/reclaim .

test:
	$(GO) test ./...

# What only drives moto or the aws CLI was run by test, and has nothing to race with.
race:
	$(GO) test -race -timeout 15m -skip 'TestMoto|CommandLine|/^moto$$' ./...

# Format, vet with and without crash points, staticcheck, and the directions of imports.
lint:
	@unformatted=$$(gofmt -l .); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -tags crash ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) test -count=1 ./engine

# The one writer of golden files.
golden:
	RECLAIM_GOLDEN=1 $(GO) test -count=1 ./ui/...
	RECLAIM_GOLDEN=1 $(GO) test -count=1 -run TableOfCalls ./engine/deploy

# Kills a deploy, update, replace, rollback, recover and destroy at every recorded point, the steps of a local write by themselves, and,
# where moto is installed, a deploy against it at 20 moments.
crash:
	$(GO) test -tags crash -count=1 -timeout 15m ./providers/std/fs ./engine/crash/...

bench:
	$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 30m ./engine/bench/...

demo: build
	./bin/reclaim demo

check: test race lint crash
