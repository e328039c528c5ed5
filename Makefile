# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0

PYTHON ?= python3
VENV ?= .venv
INTEROP_VENV ?= .venv-interop
BIN := $(VENV)/bin

.PHONY: help install demo example test interop bench soak docs lint audit clean
.DEFAULT_GOAL := help

help:
	@echo "make demo     set up, run the offline demo, show the score and where the files lie"
	@echo "make test     set up, check the style and the types, run all tests"
	@echo "make lint     only the style and the types"
	@echo "make example  make the example rows, rollouts and metrics of the verifier anew"
	@echo "make interop  install NVIDIA NeMo Gym in an environment of its own (once) and run this checkout under it: minutes"
	@echo "make bench    what our own part of a run costs (about ten minutes)"
	@echo "make soak     two hundred conversations at once for ten minutes: whether memory, open files and latency stay as they were"
	@echo "make docs     check the documentation with Fern's own command (needs npx, which fetches it once)"
	@echo "make audit    look the installed packages up in the database of known vulnerabilities (needs a network)"
	@echo "make clean    remove the virtual environment and the caches"

# The demo needs only what a user needs; everything else also wants the tools of development.
install: $(VENV)/.developer

$(VENV)/.developer: $(VENV)/.user
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(VENV)/.user: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed, and $(PYTHON) is $$($(PYTHON) --version 2>&1). Name another: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

demo: $(VENV)/.user
	$(BIN)/gym eval run --benchmark vera_mh_demo --model careful --output results/demo_careful.jsonl --overwrite

example: install
	$(BIN)/python benchmarks/vera_mh_demo/example.py

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: install lint
	$(BIN)/pytest

interop: install
	@$(BIN)/python -m tests.interop.run $(INTEROP_VENV)

bench: install
	$(BIN)/python -m bench

soak: install
	$(BIN)/python -m bench.soak

docs:
	npx --yes fern-api@$$(sed -n 's/.*"version": "\(.*\)".*/\1/p' fern/fern.config.json) check --local

audit: install
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-audit || \
		{ echo "pip-audit cannot be installed here, so nothing was audited"; exit 2; }
	@report="$$($(BIN)/pip-audit --skip-editable --progress-spinner off 2>&1)"; code=$$?; echo "$$report"; \
	case "$$report" in \
		*"could not be audited"*) echo "Some packages above could not be looked up, so they were not audited."; exit 1;; \
	esac; exit $$code

clean:
	rm -rf $(VENV) $(INTEROP_VENV) .mypy_cache .pytest_cache .ruff_cache
