# The commands of this repository. Each works on a fresh clone. Missing Debian packages are installed if that
# is permitted, and listed otherwise.

# Tests are selected by target and not by package, so that every command builds with the same features, and
# builds each dependency once.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := run
# Finds a Rust toolchain from rustup even if the shell profile was not read.
export PATH := $(PATH):$(HOME)/.cargo/bin

.PHONY: run cluster ha test check lint bless bench soak faults fuzz tools help

# Release binaries contain no paths of the build machine. Both commands that build them use the same flags, so
# that neither causes a rebuild for the other.
CARGO_HOME ?= $(HOME)/.cargo
run cluster ha bench: export RUSTFLAGS := $(RUSTFLAGS) --remap-path-prefix=$(CARGO_HOME)=/cargo --remap-path-prefix=$(CURDIR)=/quorate
run cluster ha bench: export CFLAGS := $(CFLAGS) -ffile-prefix-map=$(CARGO_HOME)=/cargo -ffile-prefix-map=$(CURDIR)=/quorate

## run    build what users install, then open the console on a throwaway organization
run:
	@.ci/packages build
	cargo build --locked --release -p quorated -p quorate
	@if [ -t 0 ] && [ -t 1 ]; then \
		exec target/release/quorate dev; \
	else \
		printf '%s\n' \
			'' \
			'Built: target/release/quorated (daemon) and target/release/quorate (console).' \
			'There is no terminal, so the console was not opened. Continue with' \
			'' \
			'  target/release/quorate dev                      daemon and console, in a terminal' \
			'' \
			'or, in two shells without a terminal,' \
			'' \
			'  target/release/quorated dev --data-dir quorate-dev' \
			'  target/release/quorate --credentials quorate-dev/credentials.json --user jo approvals ls'; \
	fi

## cluster  build what users install, then start three daemons on one PostgreSQL database and open the console on one of them
cluster:
	@.ci/packages build
	@.ci/packages cluster
	cargo build --locked --release -p quorated -p quorate
	@assets/cluster/start.sh target/release

## ha     the same with three PostgreSQL servers, Patroni and etcd, and commands that end the primary and start it again
ha:
	@.ci/packages build
	@.ci/packages ha
	cargo build --locked --release -p quorated -p quorate
	@assets/ha/start.sh target/release

## test   build, check, all tests, third-party clients
test: tools
	cargo build --locked --workspace --all-targets
	@if [ -x tests/clients/setup.sh ]; then tests/clients/setup.sh; fi
	@$(MAKE) --no-print-directory lint
	@.ci/tests

# Checks licences and sources of dependencies. Built once, and kept until `cargo clean`.
DENY := target/tools/bin/cargo-deny
$(DENY):
	cargo install --debug --locked --root target/tools --version 0.20.2 cargo-deny

## check  all checks without a running daemon: format, lints, docs, source tree rules, golden files, licences
check: lint
	cargo test --locked --workspace --test tidy --test core

# The checks that are no tests.
lint: $(DENY)
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --locked --workspace --no-deps --document-private-items
	# The crates of all platforms are checked, also those that are not built here.
	cargo fetch --locked
	$(DENY) --locked --offline check --hide-inclusion-graph --allow duplicate licenses bans sources

## bless  rewrite the golden files; review the difference before committing it
bless:
	cargo build --locked --workspace --all-targets
	BLESS=1 cargo test --locked --workspace --test core --test tidy
	BLESS=1 cargo test --locked --workspace --test e2e -- book::generated
	INSTA_UPDATE=always cargo test --locked --workspace --bin quorate

## bench  measure against minimal servers and peers, and print ratios
bench:
	@.ci/packages build
	tests/bench/run.sh

## soak   repeat the crash and power-cut scenarios: make soak ROUNDS=10
ROUNDS ?= 10
soak: tools
	cargo build --locked --workspace --all-targets
	@for round in $$(seq $(ROUNDS)); do \
		echo "round $$round of $(ROUNDS)"; \
		for engine in sled redb; do \
			ENGINE=$$engine cargo test --locked --workspace --test e2e -- --nocapture crashes power_cuts races; \
		done; \
	done

## faults kills, power cuts, failing and full disks, damage, clocks, upgrades, failovers, in their long form: make faults ONLY=f6 ROUNDS=50 ENGINE=redb
ENGINE ?= sled redb
ONLY ?= f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f13 f17 f19 f20 f22 f24 f25 f26
# The previous release, which upgrades start from: version 0.1.
RELEASE ?= f4fabbab
PREVIOUS = $(CURDIR)/target/previous
# Speed is measured with the release build.
PACED = $(filter f17 f19,$(ONLY))
# Need PostgreSQL, whatever the engine of the other scenarios; failovers also need Patroni.
SHARED = $(filter f9 f25 f26,$(ONLY))
UNPACED = $(filter-out f9 f17 f19 f25 f26,$(ONLY))
define previous-release
rm -rf $(PREVIOUS)/source && git worktree prune && git worktree add --detach $(PREVIOUS)/source $(RELEASE)
cargo build --locked --manifest-path $(PREVIOUS)/source/Cargo.toml --target-dir $(PREVIOUS) -p quorated
endef
faults: tools
	cargo build --locked --workspace --all-targets
	$(if $(filter f20,$(ONLY)),$(previous-release))
	$(if $(UNPACED),$(foreach engine,$(ENGINE),FAULTS=full ENGINE=$(engine) PREVIOUS=$(PREVIOUS)/debug \
		cargo test --locked --workspace --test faults --test e2e --no-fail-fast -- \
		--nocapture --test-threads=1 $(UNPACED:%=::%_);))
	$(if $(filter f26,$(ONLY)),@.ci/packages ha)
	$(if $(SHARED),FAULTS=full cargo test --locked --workspace --test e2e --no-fail-fast -- \
		--nocapture --test-threads=1 $(SHARED:%=::%_))
	$(if $(PACED),cargo build --locked --release -p quorated)
	$(if $(PACED),$(foreach engine,$(ENGINE),FAULTS=full ENGINE=$(engine) PROGRAMS=$(CURDIR)/target/release \
		cargo test --locked --workspace --test e2e -- --nocapture --test-threads=1 $(PACED:%=::%_);))

## fuzz   every parser of untrusted bytes under libFuzzer, guided by coverage: make fuzz MINUTES=5 TARGETS=policy_parse
MINUTES ?= 5
TARGETS ?=
fuzz:
	@.ci/packages fuzz
	@MINUTES=$(MINUTES) tests/fuzz/run.sh $(TARGETS)

## tools  install what the tests need in addition to Rust
tools:
	@.ci/packages build
	@.ci/packages test
	cargo fetch --locked

help:
	@sed -n 's/^## /make /p' $(MAKEFILE_LIST)
