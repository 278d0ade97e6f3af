# Holdfast. `make` alone lists the targets.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

# Knobs, to be set on the command line.
TESTFLAGS ?=
BENCHTIME ?= 1s
FUZZTIME ?= 20s
CHAOS_SEEDS ?= 2000

FUNCTIONS := $(patsubst functions/%/main.go,%,$(wildcard functions/*/main.go))
# Modules of their own below this one: peers that the product must not depend on.
NESTED = $(shell find . -mindepth 2 -name go.mod -not -path './build/*' -not -path '*/node_modules/*' -not -path '*/testdata/*' -printf '%h ')
GOFILES = $(shell find . -name '*.go' -not -path './build/*' -not -path '*/node_modules/*' -not -path './cdk.out/*')
# Packages of test files that match a pattern: $(call having,PATTERN).
having = $(shell grep -rlE --include='*_test.go' '$(1)' cmd functions infra localstack shared 2>/dev/null | xargs -r -n1 dirname | sort -u | sed 's|^|./|')

.PHONY: help
help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: $(FUNCTIONS:%=build/%/bootstrap) build/heartbeat/holdfast-heartbeat ## build every Lambda's bootstrap and the agent for arm64 into build/

# Always asked of go, which knows by itself what has changed.
build/%/bootstrap: FORCE
	@mkdir -p $(@D)
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go build -tags lambda.norpc -trimpath -ldflags '-s -w' -o $@ ./functions/$*
	@printf '%s: %s bytes\n' $@ "$$(stat -c %s $@)"

# The agent of the example's instances.
build/heartbeat/holdfast-heartbeat: FORCE
	@mkdir -p $(@D)
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go build -trimpath -ldflags '-s -w' -o $@ ./cmd/heartbeat
	@printf '%s: %s bytes\n' $@ "$$(stat -c %s $@)"

.PHONY: FORCE
FORCE:

# The CDK app as a program; cdk.json tells CDK's command line to build and run it.
build/infra: FORCE
	go build -o $@ ./infra

node_modules/.package-lock.json: package-lock.json
	npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

# Node 20 runs it; the CDK's notice about that version's age is not about this project.
synth: export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION = 20
synth: export CDK_DISABLE_CLI_TELEMETRY = true
.PHONY: synth
synth: build build/infra node_modules/.package-lock.json ## synthesize infra by itself and by CDK's command line, into cdk.out; both must be the same
	@rm -rf cdk.out build/cdk-bare
	CDK_OUTDIR=build/cdk-bare build/infra
	npx --no-install cdk synth --quiet --build true
	@for template in build/cdk-bare/*.template.json; do cmp "$$template" "cdk.out/$${template##*/}"; echo "$${template##*/}: the same both ways"; done

.PHONY: deploy-local
deploy-local: node_modules/.package-lock.json ## deploy the Guardian into a ministack that runs at HOLDFAST_DEPLOY_MINISTACK and watch it work; about five minutes
	$(if $(HOLDFAST_DEPLOY_MINISTACK),,$(error start ministack from PyPI and set HOLDFAST_DEPLOY_MINISTACK to its address))
	go test -count=1 -timeout 20m -v ./infra/deploy

COMPOSE = docker compose -f localstack/compose.yaml
PROFILE ?= localstack
# Another name selects no container, and the targets that start none would not notice.
ifneq ($(filter localstack-%,$(MAKECMDGOALS)),)
ifneq ($(words $(PROFILE)) $(filter-out localstack community,$(PROFILE)),1 )
$(error PROFILE is "$(PROFILE)", want localstack or community)
endif
endif
ENDPOINT ?= http://127.0.0.1:4566
# Where the embedded AWS of the smoke test listens, and how the deployed functions reach it. Docker on Linux has no way to a loopback
# address of the host; there, WORLD is the bridge's address: 172.17.0.1:4599.
WORLD ?= 127.0.0.1:4599
WORLD_URL ?= http://host.docker.internal:4599
# The functions' own AWS_ENDPOINT_URL; LocalStack tells its functions, so it is for other emulators only.
FUNCTIONS_ENDPOINT ?=
WORLD_SERVICES = AUTO_SCALING ELASTIC_LOAD_BALANCING_V2 EC2 CLOUDWATCH
LOCAL_APP = build/infra -code build/local $(WORLD_SERVICES:%=-env AWS_ENDPOINT_URL_%=$(WORLD_URL)) $(if $(FUNCTIONS_ENDPOINT),-env AWS_ENDPOINT_URL=$(FUNCTIONS_ENDPOINT))
.PHONY: localstack-up localstack-deploy localstack-smoke localstack-down
localstack-up: ## start LocalStack in a container; PROFILE=localstack needs a token, PROFILE=community does not
	@if [ "$(PROFILE)" = localstack ] && [ -z "$${LOCALSTACK_AUTH_TOKEN:-}" ]; then \
		echo "LOCALSTACK_AUTH_TOKEN is not set. LocalStack has needed one since March 2026; PROFILE=community needs none."; exit 1; fi
	$(COMPOSE) --profile $(PROFILE) up --detach --wait

# The functions as they ship, but for this machine's processor.
build/local/%/bootstrap: FORCE
	@mkdir -p $(@D)
	CGO_ENABLED=0 GOOS=linux go build -tags lambda.norpc -trimpath -ldflags '-s -w' -o $@ ./functions/$*

# LocalStack's own addresses are cdklocal's preset.
ifneq ($(ENDPOINT),http://127.0.0.1:4566)
localstack-deploy: export AWS_ENDPOINT_URL = $(ENDPOINT)
localstack-deploy: export AWS_ENDPOINT_URL_S3 = $(ENDPOINT)
endif
localstack-deploy: export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION = 20
localstack-deploy: export CDK_DISABLE_CLI_TELEMETRY = true
localstack-deploy: $(FUNCTIONS:%=build/local/%/bootstrap) build/heartbeat/holdfast-heartbeat build/infra node_modules/.package-lock.json ## deploy the Guardian into what runs at ENDPOINT, groups and alarms from the embedded AWS
	@mkdir -p build/local/heartbeat && cp build/heartbeat/holdfast-heartbeat build/local/heartbeat/
	npx --no-install cdklocal bootstrap aws://000000000000/us-east-1 --app '$(LOCAL_APP)' --output build/cdk-local --build true
	npx --no-install cdklocal deploy Guardian --require-approval never --app '$(LOCAL_APP)' --output build/cdk-local --build true

localstack-smoke: ## let the deployed Guardian mark one broken member of eight; some minutes, in real time
	HOLDFAST_SMOKE_ENDPOINT=$(ENDPOINT) HOLDFAST_SMOKE_WORLD=$(WORLD) go test -count=1 -timeout 15m -v -run '^TestSmoke$$' ./infra/deploy

localstack-down: ## end it
	$(COMPOSE) --profile localstack --profile community down

# It is the only target that spends money. See localstack/README.md.
.PHONY: contract-aws
contract-aws: ## ask a real account the rules that only look and the open points; makes three t4g.nano and ends them; see localstack/README.md
	$(if $(HOLDFAST_CONTRACT_AWS_CONFIRM),,$(error this makes instances in the account whose credentials are there, at most 0.25 USD; read localstack/README.md and set HOLDFAST_CONTRACT_AWS_CONFIRM))
	HOLDFAST_CONTRACT_AWS=1 HOLDFAST_CONTRACT_ANSWERS="$(CURDIR)/build/contract-aws.md" go test -count=1 -timeout 3h -v -run '^TestTheOpenPointsOfTheRealAccount$$' ./localstack/contract

.PHONY: test
test: ## run all tests; a peer that is not there is skipped with the reason (see it with TESTFLAGS=-v)
	go test -timeout 20m $(TESTFLAGS) ./... ./.ci/mutate
	@for module in $(NESTED); do echo "go test in $$module"; (cd "$$module" && go test $(TESTFLAGS) ./...); done

.PHONY: race
race: ## run the tests under the race detector, the long enumerations cut short; without infra, which has no goroutines
	CGO_ENABLED=1 go test -race -short -timeout 20m $(TESTFLAGS) $$(go list ./... | grep -v '/infra')

.PHONY: bench
bench: ## run the benchmarks; BENCHTIME=1s
	$(if $(call having,^func Benchmark),,$(error no benchmark found))
	go test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) $(call having,^func Benchmark)

.PHONY: chaos
chaos: ## run the chaos tests; CHAOS_SEEDS=2000
	$(if $(call having,^func TestChaos),,$(error no chaos test found))
	HOLDFAST_CHAOS_SEEDS=$(CHAOS_SEEDS) go test -count=1 -v -run '^TestChaos' $(call having,^func TestChaos)

.PHONY: fuzz
fuzz: ## run every fuzz test for FUZZTIME=20s
	$(if $(call having,^func Fuzz),,$(error no fuzz test found))
	@for package in $(call having,^func Fuzz); do \
		for name in $$(grep -ohE '^func Fuzz[A-Za-z0-9_]*' $$package/*_test.go | sed 's/^func //'); do \
			echo "$$package $$name"; \
			go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) $$package; \
		done; \
	done

MUTATEFLAGS ?=
.PHONY: mutate
mutate: ## change the decision core in thousands of small ways and see that a test notices; MUTATEFLAGS='-sample 200', or an hour and more
	@mkdir -p build
	go run ./.ci/mutate -survivors shared/guard/testdata/survivors.txt -record build/mutants.txt $(MUTATEFLAGS)

.PHONY: cover
cover: ## measure which lines the tests run; build/cover.html shows them
	@mkdir -p build
	go test -coverprofile build/cover.out -coverpkg "$$(go list ./shared/... ./functions/... ./cmd/... | paste -sd,)" ./...
	go tool cover -html build/cover.out -o build/cover.html
	go tool cover -func build/cover.out | tail -1

.PHONY: lint
lint: ## gofmt, go vet, staticcheck and golangci-lint at the versions of go.tools.mod
	@bad=$$(gofmt -l $(GOFILES)); if [ -n "$$bad" ]; then echo "not gofmt: $$bad"; exit 1; fi
	go vet ./... ./.ci/mutate
	@bin=$$(.ci/tools); set -x; "$$bin/staticcheck" ./... ./.ci/mutate; "$$bin/golangci-lint" config verify; "$$bin/golangci-lint" run ./... ./.ci/mutate

.PHONY: vuln
vuln: ## look for known vulnerabilities in what is really called
	@.ci/vuln

.PHONY: golden
golden: ## write the golden files anew; look at the diff before you keep it
	$(if $(call having,flag\.Bool."update"),,$(error no golden file test found))
	go test -count=1 $(call having,flag\.Bool."update") -update

.PHONY: replay
replay: ## judge every case file by the real decision core
	go run ./cmd/holdfast replay --quiet shared/scenario/testdata/cases/*.yaml

GAMEDAY_SEEDS ?= 1000
.PHONY: gameday
gameday: ## play every game day with Holdfast, the rules of other systems and the oracles; GAMEDAY_SEEDS=1000; writes build/gameday.md, .json and .html
	@mkdir -p build
	go run ./cmd/holdfast gameday --seeds $(GAMEDAY_SEEDS) --markdown build/gameday.md --json build/gameday.json --html build/gameday.html

.PHONY: defaults
defaults: ## play the game days with one policy key at a time set to other values; writes docs/defaults.md; some minutes
	go run ./cmd/holdfast defaults --markdown docs/defaults.md

.PHONY: demo
demo: ## one broken instance and one brownout, with and without Holdfast, on the embedded AWS; writes build/demo.html
	@mkdir -p build
	go run ./cmd/holdfast demo --html build/demo.html

.PHONY: verify
verify: ## fail if formatting or the modules' files would change
	@bad=$$(gofmt -l $(GOFILES)); if [ -n "$$bad" ]; then echo "not gofmt: $$bad"; exit 1; fi
	go mod tidy -diff
	@for module in $(NESTED); do (cd "$$module" && go mod tidy -diff); done
	go mod verify

.PHONY: ci
ci: ## everything that continuous integration runs
	@.ci/run

.PHONY: clean
clean: ## remove what was built
	rm -rf build cdk.out node_modules
