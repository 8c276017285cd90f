# Each command does all set-up on a fresh machine: `make demo` runs the main job, `make test` the tests.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
PYTEST = $(BIN)/pytest --quiet --numprocesses $(JOBS)
LOWEST_EXTRAS = $(addprefix --extra ,kafka lightgbm moa pandas plots polars redis river scikit-learn serve stream-learn vowpal-wabbit)
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

.PHONY: help setup demo test test-lowest test-all lint format bench peers java pictures docs wheel sdist check-release clean

help:  ## Show this help.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.tools: pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is missing: install it (Debian: apt-get install python3 python3-venv), or give PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$$($(PYTHON) --version) is too old: streamgauge needs Python 3.11 or newer; give PYTHON=/path/to/python3.11"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2' --group test --group lint
	touch $@

$(VENV)/.built: $(VENV)/.tools $(RUST_SOURCES)
	@command -v cargo >/dev/null || { echo "cargo is missing: install Rust 1.88 or newer (rustup: https://rustup.rs, or Debian: apt-get install rustup)"; exit 1; }
	@command -v cc >/dev/null || { echo "a C compiler to link with is missing: install one (Debian: apt-get install gcc)"; exit 1; }
	PIP_QUIET=1 VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --quiet
	touch $@

setup: $(VENV)/.built  ## Make .venv, build the kernels in release mode and install the package.

demo: setup  ## Run the main job: three learners, 1,000,000 rows, ten folds; verdict, tables and report.
	$(BIN)/streamgauge compare --stream 'RandomRBF(speed=0.0001)' --rows 1000000 --scheme 'Bootstrap(10)' \
	  --learner HoeffdingTree --learner HoeffdingAdaptiveTree --learner NaiveBayes --out demo

test: setup  ## Run unit tests and the examples of docstrings: two minutes, without processes, JVM, browser or network.
	$(PYTEST) tests/unit src

test-lowest: setup  ## Run `make test` with the lowest declared versions of all dependencies, in an environment of its own.
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1' 'uv>=0.5'
	.venv-lowest/bin/uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct \
	  --only-binary :all: --no-binary wget $(LOWEST_EXTRAS) --group test --requirements pyproject.toml
	PIP_QUIET=1 VIRTUAL_ENV=$(abspath .venv-lowest) $(BIN)/maturin develop --release --quiet
	.venv-lowest/bin/python -m pytest --quiet --numprocesses $(JOBS) -W default::DeprecationWarning tests/unit src

test-all: setup  ## Run all tests, as CI does: kernels, unit, oracle, system, examples of docstrings and documentation.
	cargo test --quiet --package streamgauge-kernels
	$(PYTEST)

lint: setup  ## Check style, types, imports, stubs, spelling, words and layout.
	cargo fmt --check
	cargo clippy --quiet --all-targets -- --deny warnings
	$(BIN)/ruff format --quiet --check .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest streamgauge._native._compiled --allowlist <(echo 'streamgauge._native._compiled.__all__')
	PYTHONPATH=src $(BIN)/lint-imports
	$(BIN)/typos
	$(BIN)/python -m release.rules

format: $(VENV)/.tools  ## Format all code.
	cargo fmt
	$(BIN)/ruff format --quiet .
	$(BIN)/ruff check --quiet --fix .

bench: setup  ## Measure the kernels, and the ratios to MOA and River where they can be had.
	$(BIN)/python -m benchmarks

peers: setup  ## Measure beside MOA, CapyMOA, River, stream-learn and scikit-learn; tables and pictures in docs/performance.
	$(BIN)/python -m benchmarks.performance

java: setup  ## Compile the Java part of the MOA adapter.
	$(BIN)/python -m peers.java

pictures: setup  ## Make the pictures of the documentation, screenshots included, and record what they show.
	$(BIN)/python -m docs.drawing

$(VENV)/.docs: $(VENV)/.tools pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	touch $@

docs: setup $(VENV)/.docs  ## Build the site of the documentation into site/ (its examples run in `make test-all`).
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "site/index.html; with search: $(BIN)/python -m http.server --directory site"

# Zig links against the C library of an older Linux than this one: the wheel runs wherever glibc is 2.28 or newer. It is a
# module of the environment, for which maturin asks the first python3 on the path.
wheel: $(VENV)/.tools  ## Build the wheel for Linux (manylinux_2_28) into dist/.
	@command -v cargo >/dev/null || { echo "cargo is missing: install Rust 1.88 or newer (rustup: https://rustup.rs, or Debian: apt-get install rustup)"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group release
	PATH=$(abspath $(BIN)):$$PATH $(BIN)/maturin build --release --zig --compatibility manylinux_2_28 --out dist

sdist: $(VENV)/.tools  ## Pack the sources into dist/.
	$(BIN)/maturin sdist --out dist

check-release: wheel sdist  ## Check the wheel and the sdist of dist/ in empty environments.
	$(BIN)/python -m release.check dist

clean:  ## Remove everything that was built.
	rm -rf $(VENV) .venv-lowest target dist demo site .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src -name '*.so' -delete
