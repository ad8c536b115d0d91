# Everything a fresh machine needs: Python 3.11 or later with its venv module, and make.
.DEFAULT_GOAL := help
VENV := .venv
BIN := $(VENV)/bin
RUN ?= runs/bench
# The Python that .venv has, else 3.11, which alone can have the pinned stack, else a later one: its path and version.
DESCRIBE := import ensurepip, os, sys; v = sys.version_info; \
  print(os.path.realpath(sys.executable), "%d.%d" % v[:2]) if v >= (3, 11) else exit(1)
FOUND := $(shell for python in $(or $(PYTHON),$(BIN)/python python3.11 python3 python3.13 python3.12 python3.14); do \
  $$python -c '$(DESCRIBE)' 2>/dev/null && break; done)
VERSION := $(lastword $(FOUND))
STAMP := $(VENV)/.installed-$(VERSION)
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
ifeq ($(VERSION),3.11)
STACK := pinned stack (requirements.lock: numba-dpex compiles kernels), as $(VENV) has Python 3.11
else
STACK := current stack (dpctl, dpnp and numba of today: our own target of numba compiles kernels), as $(VENV) has Python $(VERSION), not 3.11
endif

help:  ## this list (ARGS='...': more arguments of bench, study, study-placement, study-versions, test and isa)
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

install: $(STAMP)  ## .venv: with Python 3.11 the pinned stack, with a later one the current stack
	@echo "$(STACK)" >&2

$(STAMP): requirements.lock requirements-dev.lock pyproject.toml
	@test -n "$(FOUND)" || { echo "xebench needs Python 3.11 or later with its venv module: install it, or run make PYTHON=/path/to/python3.13" >&2; exit 1; }
	@test -e $(VENV)/lib/python$(VERSION) || rm -rf $(VENV)  # another Python's
	$(firstword $(FOUND)) -m venv $(VENV)
ifeq ($(VERSION),3.11)
	$(PIP) --no-deps --require-hashes -r requirements.lock -r requirements-dev.lock
	$(PIP) --no-deps --no-build-isolation -e .
else
	$(PIP) --upgrade 'pip>=25.1'  # the first that knows dependency groups
	$(PIP) --upgrade -e . --group dev
endif
	$(BIN)/python -m compileall -q harness benchmarks  # some shells forbid Python to do this by itself, and list must be instant
	-@$(BIN)/xebench list >/dev/null  # list must be instant: it keeps what the pattern files declare
	@touch $@

bench: install  ## the main job: every family, on the best device here; under ten minutes
	@$(BIN)/xebench run --preset default --run-budget 9m --output $(RUN) --overwrite $(ARGS) || { status=$$?; echo \
	  "make bench: xebench ended with status $$status, where 1 means that a variant was wrong, crashed or hung, or a worker was killed (its row says why); docs/runs.md has the others" >&2; exit $$status; }

study: install  ## the noise study: xebench beside its peers; leave the machine alone for 25 minutes
	$(BIN)/python -m tools.studies.noise $(ARGS)

study-placement: install  ## equal kernels in one instance and in several; ten quiet minutes
	$(BIN)/python -m tools.studies.placement $(ARGS)

study-versions: install  ## 20 runs of ab of equal code and of a variant 3 % slower, quiet and under load; 50 quiet minutes
	$(BIN)/python -m tools.studies.versions $(ARGS)

# Files stay whole, since their tests share runs. One more than there are cores: tests often wait for a process. Bytecode
# is written first, since some shells forbid Python to do so, and tests start a thousand processes.
PYTEST = $(BIN)/python -m compileall -q harness benchmarks tests tools; \
  $(BIN)/python -m pytest -n $$(($$(nproc) < 4 ? $$(nproc) + 1 : 4)) --dist loadfile

test: install  ## the tests that need nothing beside the environment; ARGS="-m nightly": the dear ones; ARGS="-m optional": those that need a program
	$(PYTEST) -m "not optional and not nightly" $(ARGS)

test-fast: install  ## the tests that need no device and little time: under two minutes
	$(PYTEST) -m "not device and not slow and not nightly" $(ARGS)

fuzz: install  ## random kernels against plain Python and numba; ARGS='--kernels 10000 --kernels-seed 7': how many, which
	$(BIN)/python -m pytest tests/numba_sycl/numba_target/test_random_kernels.py tests/numba_sycl/numba_target/test_njit_kernels.py -s $(or $(ARGS),--kernels 1000)

docs: install  ## pages that have generated parts; make site makes those of claims, coverage and tables
	$(BIN)/python -m tools.pages.generated_code
	$(BIN)/python -m tools.pages.native_twins > docs/native-twins.md
	$(BIN)/python -m tools.pages.kernel_functions > harness/numba_sycl/API.md
	$(BIN)/python -m tools.pages.measured readme README.md results/cpu-epyc-2-cores
	$(BIN)/python -m tools.pages.measured noise
	$(BIN)/python -m tools.pages.atlas results

site: install  ## the documentation as a site in build/site, by mkdocs-material; nothing of it is fetched when it is read
ifeq ($(VERSION),3.11)
	$(PIP) --no-deps --require-hashes -r requirements-site.lock
else
	$(PIP) --group site
endif
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

vega:  ## the script that draws the charts of pages, from a wheel of vl-convert-python; its versions are in its first lines
	python3 -m venv build/vega
	build/vega/bin/pip install -q vl-convert-python==1.9.0
	build/vega/bin/python -m tools.vega harness/xebench/results/vega.js

opencl-kernels: install  ## SPIR-V of our kernels in OpenCL C, for Level Zero; run it when one has changed (needs ocloc)
	$(BIN)/python -m tools.compilers.opencl_archive

isa: install  ## generated code of the whole suite for Max and Arc, with the installed compiler; needs ocloc, no GPU
	$(BIN)/xebench isa --gpu pvc,dg2 $(ARGS)

isa-current: install  ## generated code with the current Intel GPU compiler (needs root and debootstrap)
	PYTHON=$(BIN)/python tools/isa-current.sh

level-zero: install  ## every pattern submitted to Intel GPUs that are not there (needs root and debootstrap)
	tools/intel-root.sh
	$(BIN)/python -m pytest tests/no_hardware -rPs -n auto --maxprocesses 4

lint: install  ## ruff, ruff format, mypy, the rooms' imports, codespell
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/codespell

EXPORT := uv export --quiet --no-emit-project --no-emit-index-url --no-header --no-annotate
lock:  ## all locks again, from pyproject.toml (needs uv)
	@command -v uv >/dev/null || { echo "make lock needs uv: pip install uv" >&2; exit 1; }
	uv lock --quiet
	$(EXPORT) --no-dev --group pinned --output-file requirements.lock >/dev/null
	$(EXPORT) --only-group dev --output-file requirements-dev.lock >/dev/null
	$(EXPORT) --only-group site --output-file requirements-site.lock >/dev/null
	rm -f uv.lock

clean:  ## remove the environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis

.PHONY: help install bench study study-placement study-versions test test-fast fuzz docs site vega opencl-kernels isa isa-current level-zero lint lock clean
