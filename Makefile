# make run     build what is missing and start Sayso
# make test    every test, in real windows too
# make check   formatting, lints, types, bindings, licences, docs
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

TARGET := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)
TOOLS := $(TARGET)/tools
export PATH := $(PATH):$(TOOLS)/bin

UI_SOURCES := $(shell find ui -name node_modules -prune -o -path ui/dist -prune -o -type f -print 2>/dev/null)
LIBRARIES := domain store inbox agent host gateway

.PHONY: help run demo setup setup-desktop ui build other-programs test soak bench check fmt lint bindings licences doc release deb measure screens

help:
	@echo "make run      start Sayso: the desktop app where there is a display, else the demo in the terminal"
	@echo "make test     every test, in real windows too"
	@echo "make check    formatting, lints, types, bindings, unused dependencies, licences, docs"
	@echo "make bench    what the loop costs, as ratios to floors measured beside it"
	@echo "make soak     the long versions of the tests"
	@echo "make deb      a Debian package"
	@echo "make screens  the pictures in docs/screens, of the real window"
	@echo "make measure  sizes, times and memory against an empty app, into docs/measurements.md"

## Running

ifneq ($(DISPLAY)$(WAYLAND_DISPLAY),)
run: setup-desktop ui
	cargo build --workspace --bins
	"$(TARGET)/debug/sayso-desktop"
else
run: demo
endif

demo:
	cargo run --quiet --bin sayso -- demo

## Setting up: packages and node modules, only what is missing

setup:
	@.ci/setup test

setup-desktop:
	@.ci/setup desktop

ui: ui/dist/index.html

ui/node_modules/.package-lock.json: ui/package.json ui/package-lock.json
	cd ui
	npm ci --no-audit --no-fund --loglevel=error
	touch node_modules/.package-lock.json

ui/dist/index.html: ui/node_modules/.package-lock.json $(UI_SOURCES)
	cd ui
	npm run --silent build
	touch dist/index.html

# Binaries and tests in one go, so that the features of shared crates are settled once and nothing is built twice.
build: setup ui
	cargo build --workspace --bins --tests

## Testing

# Other people's programs that the tests talk to, in versions that are known: an MCP server, and the Python packages that
# pages of docs/asking name.
EVERYTHING := 2026.8.31
PYTHON := $(TOOLS)/python

other-programs: $(TOOLS)/mcp/.everything-$(EVERYTHING) $(PYTHON)/.packages

$(TOOLS)/mcp/.everything-$(EVERYTHING): | setup
	mkdir -p "$(TOOLS)/mcp"
	npm install --prefix "$(TOOLS)/mcp" --no-audit --no-fund --loglevel=error "@modelcontextprotocol/server-everything@$(EVERYTHING)"
	touch "$@"

$(PYTHON)/.packages: tests/python-packages.txt | setup
	python3 -m venv --clear "$(PYTHON)"
	"$(PYTHON)/bin/pip" install --quiet --disable-pip-version-check --requirement $<
	touch "$@"

test: build other-programs
	cargo test --workspace --doc --quiet
	(cd ui && npm test --silent)
	if command -v cargo-nextest >/dev/null; then
	    cargo nextest run --workspace --run-ignored all
	else
	    cargo test --workspace --lib --bins --tests -- --include-ignored
	fi

soak: build other-programs
	export SAYSO_SOAK=1
	if command -v cargo-nextest >/dev/null; then
	    cargo nextest run --workspace --run-ignored all --profile soak
	else
	    cargo test --workspace --lib --bins --tests -- --include-ignored
	fi

bench:
	cargo bench --quiet --package sayso-bench

## Checking

check: setup ui fmt lint bindings licences doc
	@echo "Formatting, lints, types, bindings, dependencies, licences and docs are in order."

fmt:
	cargo fmt --all --check

lint: setup ui
	cargo clippy --workspace --all-targets -- -D warnings
	(cd ui && npm run --silent check)

bindings: setup ui
	@cargo test --quiet --workspace --lib export_bindings
	git diff --exit-code -- ui/src/bindings Cargo.lock
	untracked=$$(git ls-files --others --exclude-standard -- ui/src/bindings)
	if [ -n "$$untracked" ]; then
	    echo "Generated and not committed: $$untracked" >&2
	    exit 1
	fi

# What is declared is used, and what is used may be.
licences: $(TOOLS)/bin/cargo-machete $(TOOLS)/bin/cargo-deny
	cargo machete
	cargo deny --log-level warn check --hide-inclusion-graph licenses bans sources

$(TOOLS)/bin/cargo-machete:
	cargo install --quiet --locked --root $(TOOLS) cargo-machete --version 0.9.2

$(TOOLS)/bin/cargo-deny:
	cargo install --quiet --locked --root $(TOOLS) cargo-deny --version 0.20.2

doc: setup
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --exclude sayso-desktop --exclude sayso-tests --exclude sayso-bench --no-deps --lib

## Releasing and measuring: the only places that make a release build

RELEASE := $(TARGET)/release
# The bundler is large and only this needs it.
TAURI := npx --yes --package=@tauri-apps/cli@2.12.5 tauri

release: setup-desktop ui
	cargo build --release --package sayso-cli --package sayso-desktop

deb: release
	cd src-tauri
	$(TAURI) bundle --bundles deb

measure: setup release
	cargo build --release --manifest-path tests/empty-tauri/Cargo.toml --target-dir "$(TARGET)"
	cargo build --workspace --bins
	deb=$$(find $(RELEASE)/bundle/deb -name '*.deb' 2>/dev/null | head -n 1 || true)
	page=$$(mktemp)
	"$(TARGET)/debug/measure" $(RELEASE)/sayso-desktop $(RELEASE)/empty-tauri $$deb >"$$page"
	# What follows is of `make bench`, and written by hand.
	sed -n '/^## The loop/,$$p' docs/measurements.md >>"$$page"
	cat "$$page" >docs/measurements.md
	rm "$$page"
	cat docs/measurements.md

## Pictures

screens: build
	"$(TARGET)/debug/screens"
