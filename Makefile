# Every target makes its own environment: Python 3.11 or newer with venv, and make, are all it needs.

VENV   ?= .venv
PYTHON ?= $(shell for name in python3.11 python3 python3.13 python3.12; do \
	"$$name" -c 'import sys, ensurepip; raise SystemExit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo "$$name" && break; done)
NEWEST  = $(shell for name in python3.13 $(HOME)/.pyenv/versions/3.13.*/bin/python; do \
	"$$name" -c 'import sys, ensurepip; raise SystemExit(sys.version_info[:2] != (3, 13))' >/dev/null 2>&1 && echo "$$name" && break; done)
RUN    := $(VENV)/bin/python
OTHERS := smolagents agno
PEER   := $(or $(STRATA_PEER_TARGET),$(HOME)/.cache/strata-peer)

.PHONY: demo test lint crash fuzz fuzz-tools others bench interop clean

demo: $(VENV)/.demo                 ## the order approval: a pause, a killed process, a resume
	$(RUN) -m strata demo

test: $(VENV)/.dev                  ## all tests
	$(RUN) -m pytest $(PYTEST_ARGS)

lint: $(VENV)/.dev                  ## style, types, rooms
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/pyright
	$(VENV)/bin/lint-imports

crash: $(VENV)/.dev                 ## 10,000 kills of durable runs; hours
	STRATA_KILLS=10000 $(RUN) -m pytest -m crash $(PYTEST_ARGS)

fuzz: fuzz-tools                    ## Hypothesis with its long profile, 1,000 edits under every way to run mypy, and fuzz-tools, on Python 3.13 too
	HYPOTHESIS_PROFILE=fuzz $(RUN) -m pytest -m "not crash and not interop and not checkers" $(PYTEST_ARGS)
	STRATA_MYPY_ROUNDS=1000 $(RUN) -m pytest tests/mypy_plugin/test_fuzz.py $(PYTEST_ARGS)
	$(if $(NEWEST),$(MAKE) fuzz-tools VENV=.venv-3.13 PYTHON="$(NEWEST)",@echo "Python 3.13 is not here: its tools are left out")

fuzz-tools: $(VENV)/.dev            ## 10,000 random tools say the same from source and imported; PYTHON=... VENV=... for another Python
	STRATA_TOOLS=$(or $(STRATA_TOOLS),10000) $(RUN) -m pytest tests/codegen/test_fuzz.py $(PYTEST_ARGS)

others: $(VENV)/.dev                ## tools made of the functions of packages that others wrote, read from source and imported; minutes
	$(RUN) -m pip install --quiet --disable-pip-version-check --upgrade --target build/others $(OTHERS)
	PYTHONPATH="$(CURDIR)/build/others" STRATA_EVERY=$(or $(STRATA_EVERY),10) $(RUN) -m tests.codegen.test_real_sources $(addprefix build/others/,$(OTHERS))

interop:                            ## build the program on the Rust engine that tests run beside ours
	CARGO_TARGET_DIR="$(PEER)" cargo build --release --manifest-path tests/interop/peer/Cargo.toml

bench: $(VENV)/.dev                 ## the table against the limit, LangGraph, Burr and the Rust engine; minutes
	$(RUN) -m bench $(BENCH_ARGS)

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer with venv was found: install python3.11 and python3.11-venv, or say make PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Installed anew only when what is asked for has changed.
$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable '.[cli]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@
