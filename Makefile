# Everything a newcomer needs: `make demo` and `make test`. Both set up .venv on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest
PYTHONS := 3.11 3.12 3.13
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint types imports unit chromium screenshots docs test-lowest bench bench-compare bench-record stat dist clean help

help:  ## what can be made
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 15

demo: $(VENV)/.demo $(VENV)/.kernels  ## set up, then three acts: the paper, a network, a world that is not the model
	$(BIN)/edgewise demo

# Part of the set-up: otherwise the demo would stand still for a minute while kernels are compiled.
$(VENV)/.kernels: $(VENV)/.demo
	$(BIN)/edgewise compile
	@touch $@

test: lint types imports docs unit  ## set up, then run every check

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.test
	$(BIN)/mypy

imports: $(VENV)/.test
	$(BIN)/lint-imports --no-cache

unit: $(VENV)/.test chromium
	$(BIN)/pytest -q -n auto --dist worksteal --durations=15

# Pages are tested in a real browser: found on this machine, or else installed where we may.
chromium:
	@command -v chromium > /dev/null || command -v chromium-browser > /dev/null || \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && \
			apt-get update -q && apt-get install -y -q --no-install-recommends chromium; } || \
		{ echo "Chromium is not on this machine and could not be installed; install it with" \
			"'apt-get install -y chromium' as root, and repeat" >&2; exit 1; }

screenshots: $(VENV)/.test chromium  ## make the pictures of docs/serve.md and docs/gallery.md anew
	EDGEWISE_SCREENSHOTS=docs/img $(BIN)/pytest -q tests/unit/service/test_browser.py tests/unit/plots/test_gallery.py

docs: $(VENV)/.test  ## build the documentation into site/; every warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# FLORIS needs a newer numpy than edgewise does, and the pinned versions of FLORIS and CRRM are the
# oldest promised: what needs them is left to `make test`. The server is tested with the versions of every day as well. So is the page of the command line, which shows typer's own layout.
test-lowest: $(LOWEST)/.done  ## run the unit tests with the oldest versions that pyproject.toml promises
	NUMBA_CACHE_DIR=$(LOWEST)/numba $(LOWEST)/bin/pytest tests/unit -q -n auto --dist worksteal \
		-o cache_dir=$(LOWEST)/pytest --ignore=tests/unit/service --ignore=tests/unit/integrations/cells -k 'not floris and not wind or window' \
		--deselect tests/unit/cli/test_documentation.py::test_the_reference_is_current \
		--deselect tests/unit/core/local/test_reml.py::test_the_same_as_mixedlm

bench: $(VENV)/.bench  ## measure speed and memory against named references; GSET=folder adds Max-Cut
	$(BIN)/pytest benchmarks/test_kernels.py -q --benchmark-only --benchmark-columns=median,iqr,rounds
	@for name in engine design allocation bounds rounds local earning study serve wind cells; do \
		echo; echo "## $$name"; $(BIN)/python benchmarks/bench_$$name.py || exit 1; \
	done
	@if [ -n "$(GSET)" ]; then echo; echo "## gset"; $(BIN)/python benchmarks/bench_gset.py $(GSET); fi

bench-compare: $(VENV)/.bench  ## time the kernels against the last release; twice as slow is an error
	$(BIN)/python benchmarks/compare.py $(OLD) $(NEW)

bench-record: $(VENV)/.bench  ## write the figures of this version to benchmarks/history/ (per release)
	$(BIN)/python benchmarks/history.py

stat: $(VENV)/.test  ## count wrong certificates at near ties, 500 runs per strategy (minutes)
	$(BIN)/python benchmarks/stat_errors.py
	$(BIN)/python benchmarks/stat_edges.py
	$(BIN)/python benchmarks/stat_trial.py
	$(BIN)/python benchmarks/stat_intervals.py
	$(BIN)/python benchmarks/stat_gate.py

# The README runs from an empty folder, so that the wheel is used and not the sources.
dist: $(VENV)/.dist  ## build wheel and sdist; run the README from the wheel, in clean environments
	rm -rf dist build
	$(BIN)/python -m build --outdir dist . > /dev/null
	@mkdir build; for version in $(PYTHONS); do \
		command -v python$$version > /dev/null && python$$version -c '' 2> /dev/null || \
			{ echo "python$$version is not on this machine: not run"; continue; }; \
		python$$version -m venv build/$$version && \
		build/$$version/bin/pip install -q "$$(ls dist/*.whl)[cli]" && \
		(cd build && $$version/bin/python -m doctest -o ELLIPSIS -o NORMALIZE_WHITESPACE ../README.md && \
		$$version/bin/edgewise doctor > /dev/null) && \
		echo "python$$version: the README's examples run from the wheel" || exit 1; \
	done
	@ls -l dist

fuzz: $(VENV)/.test  ## 10^5 damaged inputs to every reader and codec (INPUTS=, minutes)
	$(BIN)/python -m tests.fuzz.run --inputs $(or $(INPUTS),100000)

chaos: $(VENV)/.test  ## kill, fork, cut, delete and fill under running studies (KILLS=, minutes)
	$(BIN)/python -m tests.chaos.run --kills $(or $(KILLS),200)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# One stamp per set of extras, so that the demo need not wait for the test tools.
EXTRAS_demo := cli,plot,study
EXTRAS_test := test,docs
EXTRAS_bench := bench
EXTRAS_dist := dist
$(VENV)/.demo $(VENV)/.test $(VENV)/.bench $(VENV)/.dist: $(VENV)/.%: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/pip install -q -e '.[$(EXTRAS_$*)]'
	@touch $@

$(LOWEST)/.done: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv --clear $(LOWEST)
	PIP_CONSTRAINT=$(CURDIR)/constraints-lowest.txt $(LOWEST)/bin/pip install -q -e '.[unit]'
	@touch $@

clean:  ## remove what was built
	rm -rf $(VENV) $(LOWEST) site build dist .mypy_cache .ruff_cache .pytest_cache
