# Everything a fresh machine needs: Python 3.11 with its venv module, and make.
.DEFAULT_GOAL := help
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell command -v python3.11 || command -v python3)
STAMP := $(VENV)/.installed
RUN ?= runs/bench

help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

install: $(STAMP)  ## .venv with the pinned set of requirements.lock

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if v == (3, 11) else "xebench needs Python 3.11 (numba-dpex 0.23.0 has no wheels for %d.%d): install it and run make PYTHON=/path/to/python3.11" % v)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q harness benchmarks  # some shells forbid Python to do this by itself, and list must be instant
	-@$(BIN)/xebench list >/dev/null  # likewise: it keeps what the pattern files declare
	@touch $@

bench: install  ## the main job: every family, on the best device here; under ten minutes
	$(BIN)/xebench run --preset default --run-budget 9m --output $(RUN) --overwrite

study: install  ## the noise study: xebench beside its peers; leave the machine alone for 20 minutes
	$(BIN)/python -m harness.studies.noise

study-placement: install  ## equal kernels in one instance and in several; five quiet minutes
	$(BIN)/python -m harness.studies.placement

roofline-check: install  ## the measured roofs beside probes in OpenCL C, and clpeak if installed; ten quiet minutes
	$(BIN)/python tools/roofline_vs_clpeak.py --rounds 6

test: install  ## the tests
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist worksteal

docs: install  ## pages that are generated from the code
	$(BIN)/python -m harness.pages.coverage > docs/coverage.md
	$(BIN)/python -m harness.pages.claims > docs/claims.md
	$(BIN)/python -m harness.pages.guide_claims > docs/guide-claims-in-assembly.md
	$(BIN)/python -m harness.pages.generated_code > docs/generated-code.md
	$(BIN)/python -m harness.pages.projection > docs/projection.md
	$(BIN)/python -m harness.pages.readme README.md results/cpu-epyc-2-cores

pack: install  ## the kernels that stacks without numba-dpex launch; run it when a kernel has changed
	$(BIN)/python -m harness.packing

isa: install  ## generated code of the whole suite for Max and Arc, with the installed compiler; needs ocloc, no GPU
	$(BIN)/xebench isa --gpu pvc,dg2

isa-current: install  ## generated code with the current Intel GPU compiler (needs root and debootstrap)
	PYTHON=$(BIN)/python tools/isa-current.sh

lint: install  ## ruff, ruff format, mypy, the rooms' imports, codespell
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/codespell

lock:  ## requirements.lock again, from pyproject.toml (needs uv)
	uv lock --quiet
	uv export --quiet --all-extras --all-groups --no-emit-project --no-emit-index-url --no-header --no-annotate --output-file requirements.lock >/dev/null
	rm -f uv.lock

clean:  ## remove the environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis

.PHONY: help install bench study study-placement roofline-check test docs pack isa isa-current lint lock clean
