# Everything a newcomer needs: `make demo` and `make test`. Both set up .venv on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint types imports unit bench stat docs clean help

help:  ## what can be made
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(VENV)/.demo  ## set up, then find the best joint arm of a built-in example
	$(BIN)/edgewise demo

test: lint types imports unit  ## set up, then run every check

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.test
	$(BIN)/mypy

imports: $(VENV)/.test
	$(BIN)/lint-imports --no-cache

unit: $(VENV)/.test
	$(BIN)/pytest -q -n auto --dist worksteal

bench: $(VENV)/.bench  ## measure speed and memory against named references; GSET=folder adds Max-Cut
	$(BIN)/pytest benchmarks/test_kernels.py -q --benchmark-only --benchmark-columns=median,iqr,rounds
	@for name in engine design allocation bounds rounds study wind; do \
		echo; echo "## $$name"; $(BIN)/python benchmarks/bench_$$name.py || exit 1; \
	done
	@if [ -n "$(GSET)" ]; then echo; echo "## gset"; $(BIN)/python benchmarks/bench_gset.py $(GSET); fi

stat: $(VENV)/.test  ## count wrong certificates at near ties, 500 runs per strategy (minutes)
	$(BIN)/python benchmarks/stat_errors.py

docs: $(VENV)/.docs  ## build the documentation into site/
	$(BIN)/mkdocs build --strict

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# One stamp per set of extras, so that the demo need not wait for the test tools.
$(VENV)/.demo $(VENV)/.test $(VENV)/.bench $(VENV)/.docs: $(VENV)/.%: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/pip install -q -e '.[$(if $(filter demo,$*),cli,$*)]'
	@touch $@

clean:  ## remove what was built
	rm -rf $(VENV) site build dist .mypy_cache .ruff_cache .pytest_cache
