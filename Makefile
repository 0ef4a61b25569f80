# The commands of this repository. Each works on a fresh clone; what is missing on a Debian machine is
# installed, if that is allowed, or named.

# Tests are picked by target and not by package, so that every command builds with the same features, and
# so each dependency once.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := run
# A Rust installed by rustup is found even where the shell profile was not read.
export PATH := $(PATH):$(HOME)/.cargo/bin

.PHONY: run test check bless bench soak faults fuzz tools help

# What users install names no folder of the machine that built it. Both commands that build it use the same flags, so
# that neither makes the other build again.
CARGO_HOME ?= $(HOME)/.cargo
run bench: export RUSTFLAGS := $(RUSTFLAGS) --remap-path-prefix=$(CARGO_HOME)=/cargo --remap-path-prefix=$(CURDIR)=/quorate
run bench: export CFLAGS := $(CFLAGS) -ffile-prefix-map=$(CARGO_HOME)=/cargo -ffile-prefix-map=$(CURDIR)=/quorate

## run    build what users install, then open the console on a throw-away organization
run:
	@.ci/packages build
	cargo build --locked --release -p quorated -p quorate
	@if [ -t 0 ] && [ -t 1 ]; then \
		exec target/release/quorate dev; \
	else \
		printf '%s\n' \
			'' \
			'Built: target/release/quorated (daemon) and target/release/quorate (console).' \
			'There is no terminal here, so the console was not opened. Go on with' \
			'' \
			'  target/release/quorate dev                      daemon and console, in a terminal' \
			'' \
			'or, from two shells without one,' \
			'' \
			'  target/release/quorated dev --data-dir quorate-dev' \
			'  target/release/quorate --credentials quorate-dev/credentials.json --user jo approvals ls'; \
	fi

## test   everything that must hold: build, check, all tests, clients of other makers
test: tools
	cargo build --locked --workspace --all-targets
	@if [ -x tests/clients/setup.sh ]; then tests/clients/setup.sh; fi
	@$(MAKE) --no-print-directory check
	@.ci/tests

## check  all that needs no running daemon: format, lints, docs, rules of the tree, goldens, licences
check:
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --locked --workspace --no-deps --document-private-items
	cargo test --locked --workspace --test tidy --test core

## bless  write the golden files anew; read the difference before committing it
bless:
	BLESS=1 cargo test --locked --workspace --test core --test tidy
	INSTA_UPDATE=always cargo test --locked --workspace --bin quorate

## bench  measure against bare twins and peers; prints ratios
bench:
	@.ci/packages build
	tests/bench/run.sh

## soak   the crash and power-cut stories again and again: make soak ROUNDS=10
ROUNDS ?= 10
soak: tools
	cargo build --locked --workspace --all-targets
	@for round in $$(seq $(ROUNDS)); do \
		echo "round $$round of $(ROUNDS)"; \
		cargo test --locked --workspace --test stories -- --nocapture crashes power_cuts races; \
	done

## faults kills, power cuts, failing and full disks, damage, clocks; each until its figure: make faults ONLY=f6 ROUNDS=50
ONLY ?= f1 f2 f3 f4 f5 f6 f7 f8 f10 f13 f17 f19
# Speed is judged with what users install.
PACED = $(filter f17 f19,$(ONLY))
UNPACED = $(filter-out f17 f19,$(ONLY))
faults: tools
	cargo build --locked --workspace --all-targets
	$(if $(UNPACED),FAULTS=full cargo test --locked --workspace --test faults --test stories --no-fail-fast -- \
		--nocapture --test-threads=1 $(UNPACED:%=::%_))
	$(if $(PACED),cargo build --locked --release -p quorated)
	$(if $(PACED),FAULTS=full PROGRAMS=$(CURDIR)/target/release cargo test --locked --workspace --test stories -- \
		--nocapture --test-threads=1 $(PACED:%=::%_))

## fuzz   every reader of foreign bytes under libFuzzer, guided by coverage: make fuzz MINUTES=5 TARGETS=policy_parse
MINUTES ?= 5
TARGETS ?=
fuzz:
	@.ci/packages fuzz
	@MINUTES=$(MINUTES) tests/fuzz/run.sh $(TARGETS)

## tools  what the tests need beside Rust
tools:
	@.ci/packages build
	@.ci/packages test
	cargo fetch --locked

help:
	@sed -n 's/^## /make /p' $(MAKEFILE_LIST)
