# `make` or `make help` lists what there is.
SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

# Arguments for the program: make run ARGS='--port 9000', make bench ARGS='--quick'.
ARGS ?=
PROGRAM := .build/release/concierge
IMAGE ?= concierge

# The Swift runtime is linked into the release build when the toolchain carries it as static libraries: one file
# that starts faster and runs on a machine without Swift. Only the targets that build it look it up.
STATIC = $(shell resources=$$(swift -print-target-info 2>/dev/null | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p'); \
	[[ -n $$resources && -d $${resources}_static ]] && echo --static-swift-stdlib)

# Warnings fail the tests, not a newcomer's `make run` with a newer compiler.
STRICT := -Xswiftc -warnings-as-errors -Xcc -Werror -Xcxx -Werror

.PHONY: help run build test test-quick torture fuzz sanitize bench lint format package image clean build-tests

help: ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

run: ## build, then serve on http://localhost:8080, for this machine alone (ARGS='--port 9000' …)
	@MAKE='$(MAKE)' exec scripts/run $(ARGS)

build: ## the release build: .build/release/concierge
	@scripts/setup build
	@# When it began. The program's own time says less: it stays as it is when a change of the sources changes nothing in it.
	@mkdir -p .build && touch .build/release.begun
	@# In a folder of its own, so that the tests can be built at the same time.
	@set -o pipefail; swift build --configuration release --scratch-path .build/program --product concierge $(STATIC) 2>&1 \
		| scripts/progress
	@ln -sfn program/release .build/release
	@mv .build/release.begun .build/release.built

# Its modules wait less for each other than those of the program, which goes first where both are built.
build-tests:
	@nice swift build --build-tests $(STRICT)

# The last line that is printed is the test runner's own verdict, after a failure too: what failed is then said again.
# What the tests start is the release build, since that is what users run.
test: ## format check, build without warnings, all tests, on the release build
	@scripts/setup test
	@$(MAKE) lint
	@$(MAKE) --jobs=2 build build-tests
	@# With all tests at once, each would wait longer for the processor than the timeouts that some of them test.
	@# After a crash, its reason is near the end of what is printed.
	@log=$$(mktemp); trap 'rm -f "$$log"' EXIT; set -o pipefail; \
	SWIFT_BACKTRACE=threads=crashed,registers=none,images=none swift test --skip-build --disable-xctest \
		--experimental-maximum-parallelization-width 12 $(STRICT) 2>&1 | tee "$$log" \
		|| { grep -E '✘|↳' "$$log"; exit 1; }

# The modules' own tests, without the suites that start a server program or a Redis.
test-quick: ## tests that need no program, no Redis and no browser: before each commit
	@scripts/setup test
	@$(MAKE) build-tests
	@swift test --skip-build --disable-xctest --experimental-maximum-parallelization-width 12 $(STRICT) \
		--filter '^(JSONDocument|Navigation|ServiceLocator|HTTPServer|Sessions|Storage|ConciergeApp)Tests\.' \
		--skip '\.(Redis|FaultProxyTests|SessionStoreContract|OpenAPITests|FileSchemaTests)'

# ARGS is the duration of the kills in seconds; TORTURE_SEED=… repeats the choices of a run.
torture: ## kill the program again and again and look for lost writes: ten minutes (ARGS='60': one)
	@scripts/setup test
	@$(MAKE) --jobs=2 build build-tests
	@TORTURE_SECONDS=$(or $(ARGS),500) swift test --skip-build --disable-xctest --filter '^Durability\.' \
		--experimental-maximum-parallelization-width 4 $(STRICT)

fuzz: ## look for crashes, hangs and leaks with libFuzzer: ten minutes (ARGS='60': one; ARGS='60 json': of one target)
	@scripts/setup test
	@scripts/fuzz $(ARGS)

sanitize: ## all tests under the sanitizers (ARGS='address' or 'thread': one of them)
	@scripts/setup test
	@scripts/sanitize $(ARGS)

bench: ## measure against a bare libmicrohttpd server (ARGS='--quick', '--rows get,patch')
	@scripts/setup bench
	@$(MAKE) build
	@python3 Benchmarks/bench.py $(ARGS)

lint: ## check the formatting
	@swift format lint --strict --parallel --recursive Package.swift Sources Tests Examples

format: ## format the sources in place
	@swift format --in-place --parallel --recursive Package.swift Sources Tests Examples

package: ## a tarball and a .deb for this Debian, in .build/package
	@scripts/setup package
	@$(MAKE) build
	@scripts/package

image: ## build the container image (IMAGE=name:tag, ARGS='--build-arg GRAPHVIZ=graphviz' to draw flows)
	@docker build --tag $(IMAGE) --build-arg REVISION=$$(git rev-parse HEAD 2>/dev/null) $(ARGS) .

clean: ## remove everything that was built
	@rm -rf .build
